"""What a running server has read from files, and reads again when they have changed: its certificates
(spec/9-service.md#tls-renewal)."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from interlingua.canonical.errors import InvalidRequest

_LOG = logging.getLogger("interlingua.renewal")

T = TypeVar("T")
_Stamp = tuple[int, int, int]


class Renewed(Generic[T]):
    """What `make` makes of files. Raises what `make` raises, when it is made for the first time."""

    def __init__(self, files: Sequence[Path], make: Callable[[], T]) -> None:
        self._files = files
        self._make = make
        self._lock = threading.Lock()  # gRPC asks on threads of its own
        self._seen = self._stamps()
        self._made = make()

    def latest(self) -> T:
        """Made again if a file has changed. If that cannot be done, what was made before; the log says why, once for each
        change, so that a certificate may come before its key."""
        with self._lock:
            seen = self._stamps()
            if seen != self._seen:
                self._seen = seen
                try:
                    self._made = self._make()
                except (InvalidRequest, OSError) as problem:
                    _LOG.warning("what was read before stays in use: %s", problem)
                else:
                    _LOG.info("read again, for they have changed: %s", ", ".join(map(str, self._files)))
            return self._made

    def _stamps(self) -> list[_Stamp | None]:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> _Stamp | None:
    """What changes with the content of a file, or when a link leads to another one; None for one that is not there."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
