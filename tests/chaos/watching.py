"""What a process holds and logs while it is under way: the log without secrets and tracebacks, and what must stay flat."""

import asyncio
import contextlib
import ctypes
import gc
import io
import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from chaos.faults import KEY


class Records(logging.Handler):
    """Keeps what is wrong in a log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.wrong: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{record.getMessage()} {vars(record)}"
        if KEY in text or "confidential-" in text:
            self.wrong[f"a secret or content in the log of {record.name}"] += 1
        if record.levelno >= logging.ERROR or record.exc_info:
            self.wrong[f"{record.levelname} in the log of {record.name}: {record.getMessage()[:200]}"] += 1


@contextlib.contextmanager
def watched_log() -> Iterator[Records]:
    """Looks at what is logged, and at standard error, while the block runs."""
    records, stderr = Records(), io.StringIO()
    root, ours = logging.getLogger(), logging.getLogger("interlingua")
    before = root.level, ours.level
    root.addHandler(records)
    root.setLevel(logging.WARNING)
    ours.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stderr(stderr):
            yield records
    finally:
        root.removeHandler(records)
        root.setLevel(before[0])
        ours.setLevel(before[1])
        if "Traceback" in stderr.getvalue():
            records.wrong["a traceback on standard error"] += stderr.getvalue().count("Traceback")


@dataclass(frozen=True)
class Resources:
    """What this process holds."""

    tasks: int
    threads: int
    descriptors: int
    memory_mib: float

    @classmethod
    async def now(cls) -> "Resources":
        """Counted when nothing is left to do and all garbage is gone."""
        gc.collect()
        # sockets close on a thread of gRPC, and what a generator of httpx has left to do at its end runs in the loop
        await asyncio.sleep(0.05)
        gc.collect()
        _trim()
        return cls(len(asyncio.all_tasks()), threading.active_count(), len(os.listdir("/proc/self/fd")), _resident())


def _resident() -> float:
    with open("/proc/self/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def _trim() -> None:
    """Gives back what the allocator of glibc keeps of the largest moment: that is some 10 MiB more or less from one round
    to the next, of which nobody holds anything."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
