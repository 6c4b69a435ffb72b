"""Objects that a running server makes from files, and makes again when the files have changed: its certificates
(spec/9-service.md#tls-renewal) and its keys (spec/11-gateway.md#keys-renewal)."""

import logging
import ssl
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from interlingua.canonical.errors import InvalidRequest

_LOG = logging.getLogger("interlingua.renewal")

T = TypeVar("T")
_Stamp = tuple[int, int, int, int]


class Unreadable(InvalidRequest):
    """A file could not be read: it is not there, may not be read, or its reading failed."""


def check_certificate(certificate: Path, key: Path, client_authority: Path | None) -> None:
    """Raise `InvalidRequest` for PEM files that cannot be read, that hold something else, or that do not belong
    together. Without an authority of clients, that file is None."""
    for file in (certificate, key, client_authority):
        if file is not None:
            read_file(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # a key with a password is refused; without this argument, OpenSSL would ask for the password at the terminal
        context.load_cert_chain(certificate, key, password="")
    except ssl.SSLError:
        raise InvalidRequest(
            f"{certificate} and {key} are not a certificate and its key; both must be PEM, the key without a password"
        ) from None
    try:
        if client_authority is not None:
            context.load_verify_locations(client_authority)
    except ssl.SSLError:
        raise InvalidRequest(f"{client_authority} holds no certificates in PEM") from None


def read_file(file: Path) -> bytes:
    """Return the content of a file. Raises `InvalidRequest` when it cannot be read."""
    try:
        return file.read_bytes()
    except OSError as problem:
        raise Unreadable(f"cannot read {file}: {problem.strerror or type(problem).__name__}") from None


class Renewed(Generic[T]):
    """The object that `make` makes from files. The constructor raises what the first `make` raises."""

    def __init__(self, files: Sequence[Path], make: Callable[[], T]) -> None:
        self._files = files
        self._make = make
        self._lock = threading.Lock()  # gRPC calls on threads of its own
        self._stamps_seen = self._stamps()
        self._unread = False
        self._object = make()

    def latest(self) -> T:
        """Return the object, made again if a file has changed. If that fails, return the previous object, and log the
        reason once for each change, so that a certificate may be written before its key. A file that could not be read,
        because of something else than its content, is read again at the next call."""
        with self._lock:
            stamps = self._stamps()
            changed = stamps != self._stamps_seen
            if changed or self._unread:
                self._stamps_seen = stamps
                try:
                    self._object = self._make()
                except (InvalidRequest, OSError) as problem:
                    self._unread = isinstance(problem, (OSError, Unreadable))
                    if changed:
                        _LOG.warning("what was read before stays in use: %s", problem)
                else:
                    self._unread = False
                    _LOG.info("read again, for they have changed: %s", ", ".join(map(str, self._files)))
            return self._object

    def _stamps(self) -> list[_Stamp | None]:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> _Stamp | None:
    """A stamp that changes with the content of a file, or when a link leads to another file; None for a file that does
    not exist."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
