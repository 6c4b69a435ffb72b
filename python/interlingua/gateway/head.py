"""
Connections of clients, with limits for the length and the time of request heads (spec/11-gateway.md#request-head);
uvicorn itself has no such limits. A connection that begins with HTTP/2 is handed on (`http2.py`).
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from interlingua.gateway.certificates import subject_of
from interlingua.gateway.guard import HEAD_LIMIT
from interlingua.gateway.http2 import PREFACE, Http2Connection
from interlingua.gateway.slow_readers import WatchesReader
from interlingua.gateway.writing import BatchedWrites

PATIENCE_S = 30.0
"""How long a client may take for the whole head, and for the first byte of a connection."""

_TOO_LONG = b"431 Request Header Fields Too Large"
_TOO_SLOW = b"408 Request Timeout"


class LimitedConnection(WatchesReader, HttpToolsProtocol):
    """A connection with limits of bytes and time for request heads, and of time for a client that does not read."""

    _tls: dict[object, object] | None = None
    """The ASGI extension for the client's certificate; None where there is none."""
    _timer: asyncio.TimerHandle | None = None
    _received: int | None = 0
    """Bytes of the head that is arriving; None while there is none."""
    _first_bytes: bytes | None = b""
    """The first bytes of a connection, while they may still begin HTTP/2; None when it is known whether they do."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self.transport: Any = BatchedWrites(transport, self.loop)
        certificate = transport.get_extra_info("peercert")
        if certificate:
            # https://asgi.readthedocs.io/en/latest/specs/tls.html
            self._tls = {"client_cert_name": subject_of(certificate)}
        self._begin_head()
        ssl_object = transport.get_extra_info("ssl_object")
        if ssl_object is not None and ssl_object.selected_alpn_protocol() == "h2":
            self._hand_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all waiting."""
        self._end_head()
        self.has_read()
        super().connection_lost(exc)
        # uvicorn does not stop this timer for a connection that was reset; it would keep the connection and its last
        # call in memory
        self._unset_keepalive_if_required()

    def data_received(self, data: bytes) -> None:
        """Process bytes that arrived. When the head has become too long, the connection is refused."""
        if self._first_bytes is not None:
            data = self._first_bytes + data
            if data.startswith(PREFACE):
                self._hand_on().data_received(data)
                return
            if PREFACE.startswith(data):
                self._first_bytes = data
                return
            self._first_bytes = None
        if self._received is not None:
            self._received += len(data)
        super().data_received(data)
        if self._received is not None and self._received > HEAD_LIMIT:
            self._refuse(_TOO_LONG)

    def on_message_begin(self) -> None:
        """Begin a head, the first one or the next on the same connection."""
        super().on_message_begin()
        if self._tls is not None:
            self.scope["extensions"] = {"tls": self._tls}
        if self._received is None:
            self._begin_head()

    def on_headers_complete(self) -> None:
        """End a head."""
        self._end_head()
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """The write buffers are full: give the client limited time to read."""
        super().pause_writing()
        self.watch_reading()

    def resume_writing(self) -> None:
        """The client has read."""
        self.has_read()
        super().resume_writing()

    def _hand_on(self) -> Http2Connection:
        """Hand the connection on to the protocol for HTTP/2."""
        self._end_head()
        self.connections.discard(self)
        http2 = Http2Connection(
            self.config,
            self.server_state,
            self.app_state,
            extensions={} if self._tls is None else {"tls": self._tls},
            limit=HEAD_LIMIT,
            patience=(PATIENCE_S, self.timeout_keep_alive),
        )
        self.transport.inner.set_protocol(http2)
        http2.connection_made(self.transport.inner)
        return http2

    def _begin_head(self) -> None:
        self._received = 0
        self._timer = self.loop.call_later(PATIENCE_S, self._refuse, _TOO_SLOW)

    def _end_head(self) -> None:
        self._received = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        self._end_head()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            self.transport.close()
