"""
Heads of requests: how long they may be, and how long they may take (spec/11-gateway.md#request-head). The server itself
waits for them for ever and keeps whatever comes.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LIMIT = 256 << 10
"""Bytes of a head: its line and its headers."""

PATIENCE_S = 30.0
"""How long a client may take for the whole head, and for the first byte of a connection."""

_TOO_LONG = b"431 Request Header Fields Too Large"
_TOO_SLOW = b"408 Request Timeout"


class LimitedHeads(HttpToolsProtocol):
    """A connection whose heads have a limit of bytes and of time."""

    _timer: asyncio.TimerHandle | None = None
    _received: int | None = 0
    """Bytes of the head that is coming in; None while there is none."""

    def connection_made(self, transport: Any) -> None:
        """The first head may come."""
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._end()
        super().connection_lost(exc)

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
        if self._received is None:
            self._begin()

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._end()
        super().on_headers_complete()

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
