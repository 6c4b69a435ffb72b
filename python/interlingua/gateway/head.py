"""
Connections of clients: how long the heads of requests may be and take (spec/11-gateway.md#request-head), and how long a
client may let an answer wait (#slow-reader). The server itself waits for ever and keeps whatever comes.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from interlingua.gateway.certificates import subject_of

LIMIT = 256 << 10
"""Bytes of a head: its line and its headers."""

PATIENCE_S = 30.0
"""How long a client may take for the whole head, and for the first byte of a connection."""

READER_PATIENCE_S = 120.0
"""How long a client may read nothing of an answer for which the buffers are full."""

_TOO_LONG = b"431 Request Header Fields Too Large"
_TOO_SLOW = b"408 Request Timeout"


class LimitedConnection(HttpToolsProtocol):
    """A connection whose heads have a limit of bytes and of time, and whose client reads what it is sent."""

    _tls: dict[object, object] | None = None
    """What the certificate of the client says, where there is one."""
    _timer: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _received: int | None = 0
    """Bytes of the head that is coming in; None while there is none."""

    def connection_made(self, transport: Any) -> None:
        """The first head may come."""
        super().connection_made(transport)
        proved = transport.get_extra_info("peercert")
        if proved:
            # https://asgi.readthedocs.io/en/latest/specs/tls.html
            self._tls = {"client_cert_name": subject_of(proved)}
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._end()
        self._read()
        super().connection_lost(exc)
        # uvicorn leaves this timer to a connection that was reset, which holds it and its last call until then
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Takes what came, unless the head becomes too long by it."""
        if self._received is not None:
            self._received += len(data)
        super().data_received(data)
        if self._received is not None and self._received > LIMIT:
            self._refuse(_TOO_LONG)

    def on_message_begin(self) -> None:
        """A head begins, the first one or the next on the same connection."""
        super().on_message_begin()
        if self._tls is not None:
            self.scope["extensions"] = {"tls": self._tls}
        if self._received is None:
            self._begin()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._end()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """The buffers are full: the client has its time to read."""
        super().pause_writing()
        self._watch_reading()

    def resume_writing(self) -> None:
        """The client has read."""
        self._read()
        super().resume_writing()

    def _watch_reading(self, before: int | None = None) -> None:
        """Looks from time to time whether less waits for the client; ends the connection when it does not."""
        waits = self.transport.get_write_buffer_size()
        if before is not None and waits >= before:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(READER_PATIENCE_S, self._watch_reading, waits)

    def _read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _begin(self) -> None:
        self._received = 0
        self._timer = self.loop.call_later(PATIENCE_S, self._refuse, _TOO_SLOW)

    def _end(self) -> None:
        self._received = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        self._end()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()
