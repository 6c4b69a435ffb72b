"""
Group writes for an engine that has one writer: one transaction, one wait for the disk.

SQLite has one writer at a time for the whole file. The works that arrive while it waits for the disk are run in the
next transaction, each under a savepoint of its own, so that one that fails does not affect the others.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, NamedTuple

from interlingua.sessions.errors import StorageFailed
from interlingua.sessions.storage import Outcome, Transaction

Work = Callable[[Transaction], Any]


class _Waiting(NamedTuple):
    work: Work
    future: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Together:
    """Run works in the order in which they arrive, as many at a time as are waiting. Any number of event loops may
    share one."""

    def __init__(self, threads: Executor, write_all: Callable[[Sequence[Work]], list[Outcome]]) -> None:
        self._threads = threads
        self._write_all = write_all
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._busy = False

    async def do(self, work: Work) -> Any:
        """Return the result of a work, or raise its exception. Its changes are on the disk when this returns."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            self._waiting.append(_Waiting(work, future, loop))
            idle, self._busy = not self._busy, True
        if idle:
            try:
                self._threads.submit(self._serve)
            except RuntimeError:
                with self._lock:
                    self._waiting, self._busy = [], False
                raise StorageFailed("these sessions are closed", retryable=False) from None
        return await future

    def _serve(self) -> None:
        while True:
            with self._lock:
                served, self._waiting = [one for one in self._waiting if not one.future.cancelled()], []
                if not served:
                    self._busy = False
                    return
            try:
                outcomes = self._write_all([one.work for one in served])
            except BaseException as problem:  # noqa: BLE001 the futures of the waiting callers report it
                outcomes = [Outcome(None, problem)] * len(served)
            if later := served[len(outcomes) :]:
                with self._lock:
                    self._waiting[:0] = later
            done = [*zip(served, outcomes, strict=False)]
            for loop in {one.loop for one, _ in done}:
                with suppress(RuntimeError):  # the loop is closed: nothing waits in it any more
                    loop.call_soon_threadsafe(_resolve, [pair for pair in done if pair[0].loop is loop])


def _resolve(done: list[tuple[_Waiting, Outcome]]) -> None:
    for (_, future, _), (value, problem) in done:
        if future.done():
            continue
        if problem is None:
            future.set_result(value)
        else:
            future.set_exception(problem)
