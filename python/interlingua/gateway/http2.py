"""
HTTP/2 (RFC 9113), with the library `h2`: the streams of one connection as calls of the ASGI application
(spec/11-gateway.md#http-2). The library frames, compresses and checks. This module adds the decisions of a server: the
windows of both directions, limits, patience, and the end of a connection.

The bytes of a body are acknowledged when the application has consumed them, so that a client sends at most one window
ahead. A response waits for the window of its stream and for the write buffers of the connection.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast
from urllib.parse import unquote

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    PingReceived,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import H2Error
from h2.settings import SettingCodes, Settings
from hyperframe.frame import Frame, GoAwayFrame
from starlette.types import ASGIApp, Message, Scope
from uvicorn.config import Config
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from interlingua.gateway import slow_readers
from interlingua.gateway.slow_readers import WatchesReader

_LOG = logging.getLogger("interlingua.gateway")

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""The beginning of a connection of HTTP/2."""

STREAMS = 100
"""How many calls a connection runs at a time."""

_WINDOW = 256 << 10
"""Bytes of one body that may have arrived without being consumed."""

_CONNECTION_WINDOW = 1 << 20
"""The same for all bodies of a connection."""

_BUFFERED = 1 << 20
"""Bytes in the write buffers above which nothing more is read. Responses wait for room, but replies such as those to
pings do not."""

_LINGER_S = 1.0
"""How long the gateway discards what a client still sends before it closes the connection: else the client may not see
the reason."""

_HEADERS_OF_A_CONNECTION = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade")
)

_HIGHEST_STREAM = 2**31 - 1


class _Allowance:
    """How often an event may happen: a number at once, and then a number per second."""

    def __init__(self, at_once: int, per_second: float, now: float) -> None:
        self._capacity = at_once
        self._available = float(at_once)
        self._per_second = per_second
        self._at = now

    def used_up(self, now: float) -> bool:
        """Count one more event, and return whether that is too often."""
        self._available = min(self._capacity, self._available + (now - self._at) * self._per_second) - 1
        self._at = now
        return self._available < 0


class _Library(H2Connection):
    """The library, with one difference: when a client opens no more streams, its open streams are still answered."""

    MAX_CLOSED_STREAMS = 1000  # streams whose end it remembers; by default 65,536

    def _receive_goaway_frame(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Event]]:  # noqa: ARG002
        return [], [ConnectionTerminated()]  # the event of the library would stop all sending


class Http2Connection(WatchesReader, asyncio.Protocol):
    """A connection of HTTP/2. `extensions` are those of each scope, `limit` the bytes of a decompressed head.
    `patience` is in seconds: for the first call, and between calls.

    It replaces a protocol of uvicorn, which uses `shutdown` and `transport`.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        extensions: dict[str, Any],
        limit: int,
        patience: tuple[float, float],
    ) -> None:
        self.app = cast("ASGIApp", config.loaded_app)
        self.loop = asyncio.get_running_loop()
        self.server_state = server_state
        self.transport: Any = None
        self.writable = asyncio.Event()
        self.writable.set()
        self._app_state = app_state
        self._extensions = extensions
        self._patience = patience
        self._streams: dict[int, _Stream] = {}
        self._library = _Library(
            H2Configuration(
                client_side=False,
                header_encoding=None,
                validate_outbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        codes = {
            SettingCodes.MAX_CONCURRENT_STREAMS: STREAMS,
            SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW,
            SettingCodes.MAX_HEADER_LIST_SIZE: limit,
        }
        self._library.local_settings = Settings(client=False, initial_values=codes)
        self._library.decoder.max_header_list_size = limit
        now = self.loop.time()
        self._resets = _Allowance(200, 20, now)
        self._empty_frames = _Allowance(1000, 100, now)
        self._idle: asyncio.TimerHandle | None = None
        self._reading_paused = False
        self._broken_off = False
        self._ending = False
        self._highest = 0

    # ------------------------------------------------------------------------------------------------ the connection

    def connection_made(self, transport: Any) -> None:
        """Begin the connection, and wait for calls."""
        self.transport = transport
        self.server_state.connections.add(self)  # type: ignore[arg-type]  # its type names uvicorn's protocols
        self._scope_base = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "2",
            "server": get_local_addr(transport),
            "client": get_remote_addr(transport),
            "scheme": "https" if is_ssl(transport) else "http",
            "root_path": "",
        }
        self._library.initiate_connection()
        self._library.increment_flow_control_window(_CONNECTION_WINDOW - 65_535)
        self._flush()
        self._wait_for_calls(self._patience[0])

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """End all calls of the connection."""
        self.server_state.connections.discard(self)
        if self._idle is not None:
            self._idle.cancel()
        self.has_read()
        self.writable.set()
        for stream in tuple(self._streams.values()):
            stream.lost()

    def eof_received(self) -> None:
        """Let the transport close: a client that sends nothing more does not read either."""

    def pause_writing(self) -> None:
        """The write buffers are full: give the client limited time to read."""
        self.writable.clear()
        self.watch_reading()

    def resume_writing(self) -> None:
        """The client has read."""
        self.has_read()
        self.writable.set()
        if self._reading_paused:
            self._reading_paused = False
            self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Process bytes that arrived."""
        if self._broken_off:
            return
        try:
            events = self._library.receive_data(data)
        except H2Error as problem:
            # the library's GOAWAY states the reason
            _LOG.debug("a connection of HTTP/2 ends: %s", type(problem).__name__)
            self._flush()
            self._break_off()
            return
        for event in events:
            self._handle(event)
            if self._broken_off:
                return
        self._flush()
        if self.transport.get_write_buffer_size() > _BUFFERED and not self.transport.is_closing():
            self._reading_paused = True
            self.transport.pause_reading()

    def _handle(self, event: Event) -> None:
        match event:
            case RequestReceived():
                self._begin_request(event)
            case DataReceived(stream_id=id):
                stream = self._streams.get(id or 0)
                if stream is None:
                    self.acknowledge(event.flow_controlled_length or 0, id or 0)
                else:
                    stream.received(event.data or b"", event.flow_controlled_length or 0)
                if not event.data and event.stream_ended is None:
                    self._count(self._empty_frames)
            case StreamEnded(stream_id=id):
                if (stream := self._streams.get(id or 0)) is not None:
                    stream.ended()
            case WindowUpdated(stream_id=0) | RemoteSettingsChanged():
                for stream in self._streams.values():
                    stream.window.set()
                if isinstance(event, RemoteSettingsChanged):
                    self._count(self._empty_frames)
            case WindowUpdated(stream_id=id):
                if (stream := self._streams.get(id or 0)) is not None:
                    stream.window.set()
            case StreamReset(stream_id=id):
                if (stream := self._streams.pop(id or 0, None)) is not None:
                    stream.lost()
                    self.acknowledge(stream.not_taken, id or 0)
                    self._wait_or_close()
                self._count(self._resets)
            case PingReceived():
                self._count(self._empty_frames)
            case ConnectionTerminated():
                self.shutdown()
            case _:
                pass

    def _count(self, allowance: _Allowance) -> None:
        """Count an event, and end a connection that only makes work (CVE-2023-44487 and similar attacks)."""
        if allowance.used_up(self.loop.time()):
            self._go_away(ErrorCodes.ENHANCE_YOUR_CALM, self._highest)
            self._break_off()

    def _break_off(self) -> None:
        """End the connection with all its calls."""
        self._broken_off = True
        for stream in tuple(self._streams.values()):
            stream.lost()
        self.loop.call_later(_LINGER_S, self.transport.close)

    def _begin_request(self, event: RequestReceived) -> None:
        id = event.stream_id or 0
        self._highest = max(self._highest, id)
        scope = self._scope(event.headers or [])
        if self._ending or scope is None:
            # when a call is refused in this way, its client knows that it was not processed
            self.reset(id, ErrorCodes.PROTOCOL_ERROR if scope is None else ErrorCodes.REFUSED_STREAM)
            return
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        stream = self._streams[id] = _Stream(self, id, scope)
        task = self.loop.create_task(stream.run(self.app))
        self.server_state.tasks.add(task)
        task.add_done_callback(self.server_state.tasks.discard)

    def _scope(self, headers: Sequence[Any]) -> Scope | None:
        """The scope of a call; None for a head that is not one of an ordinary request."""
        pseudo = {bytes(name): bytes(value) for name, value in headers if name[:1] == b":"}
        path = pseudo.get(b":path", b"")
        if not path.startswith(b"/") or not path.isascii():
            return None
        raw, _, query = path.partition(b"?")
        fields = [(bytes(name), bytes(value)) for name, value in headers if name[:1] != b":"]
        if (authority := pseudo.get(b":authority")) is not None:
            host = (b"host", authority)
            fields = [host, *(pair for pair in fields if pair != host)]
        return {
            **self._scope_base,
            "method": pseudo[b":method"].decode("latin-1"),
            "path": unquote(raw.decode()),
            "raw_path": raw,
            "query_string": query,
            "headers": fields,
            "state": self._app_state.copy(),
            "extensions": dict(self._extensions),
        }

    # ------------------------------------------------------------------------------------------------ the end

    def shutdown(self) -> None:
        """Take no new calls, and close the connection when the running ones have ended."""
        if not (self._ending or self._broken_off):
            self._ending = True
            self._go_away(ErrorCodes.NO_ERROR, _HIGHEST_STREAM)
        self._wait_or_close()

    def _go_away(self, code: ErrorCodes, last: int) -> None:
        # the library sends nothing more after a GOAWAY of its own
        self._flush()
        self.transport.write(GoAwayFrame(0, last_stream_id=last, error_code=code).serialize())

    def _wait_or_close(self) -> None:
        """When no call runs: wait for the next one for a limited time, or close the connection if it takes no more."""
        if self._streams or self._broken_off or self.transport.is_closing():
            return
        if self._ending:
            self._go_away(ErrorCodes.NO_ERROR, self._highest)
            self.transport.close()
        else:
            self._wait_for_calls(self._patience[1])

    def _wait_for_calls(self, seconds: float) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self.loop.call_later(seconds, self.shutdown)

    # ------------------------------------------------------------------------------------------------ used by the streams

    def _flush(self) -> None:
        if data := self._library.data_to_send():
            self.transport.write(data)

    def acknowledge(self, size: int, id: int) -> None:
        """Let the client send as many bytes again."""
        if size:
            self._library.acknowledge_received_data(size, id)
            self._flush()

    def send_head(self, id: int, headers: list[tuple[bytes, bytes]]) -> None:
        """Send the head of a response. It is sent together with the beginning of the body when that follows at once."""
        self._library.send_headers(id, headers)
        self.loop.call_soon(self._flush)

    def room(self, id: int) -> int:
        """How many bytes of a response may be sent now."""
        return self._library.local_flow_control_window(id)

    def send_body(self, id: int, body: memoryview, *, last: bool) -> None:
        """Send bytes of a body for which there is room."""
        frame_size = self._library.max_outbound_frame_size
        for at in range(0, len(body) or 1, frame_size):
            self._library.send_data(
                id, bytes(body[at : at + frame_size]), end_stream=last and at + frame_size >= len(body)
            )
        self._flush()

    def reset(self, id: int, code: ErrorCodes) -> None:
        """End one stream, unless the client has just done so."""
        with suppress(H2Error):
            self._library.reset_stream(id, code)
        self._flush()

    def done(self, id: int) -> None:
        """Remove the stream of a call that has ended."""
        if self._streams.pop(id, None) is not None:
            self.server_state.total_requests += 1
            self._wait_or_close()


class _Stream:
    """One call."""

    def __init__(self, connection: Http2Connection, id: int, scope: Scope) -> None:
        self._connection = connection
        self._id = id
        self._scope = scope
        self._parts: list[bytes] = []
        self.not_taken = 0
        """Bytes that have arrived and are not acknowledged."""
        self._body_ended = False
        self._body_taken = False
        self._changed = asyncio.Event()
        self._lost = False
        self._head: list[tuple[bytes, bytes]] | None = None
        self._response_ended = False
        self._bodiless = scope["method"] == "HEAD"
        self._expects_continue = any(
            name == b"expect" and value.lower() == b"100-continue" for name, value in scope["headers"]
        )
        self.window = asyncio.Event()
        """Set when more of the response may be sent."""

    # ---- called by the connection

    def received(self, data: bytes, size: int) -> None:
        """Take a part of the body; `size` is how much of the windows it uses."""
        self._parts.append(data)
        self.not_taken += size
        self._changed.set()

    def ended(self) -> None:
        """The body is complete."""
        self._body_ended = True
        self._changed.set()

    def lost(self) -> None:
        """The client has gone away."""
        self._lost = True
        self._changed.set()
        self.window.set()

    # ---- called by the application

    async def run(self, app: ASGIApp) -> None:
        """Let the application respond."""
        try:
            await app(self._scope, self._receive, self._send)
        except Exception as problem:  # noqa: BLE001 one call fails, not the connection
            _LOG.error("%s in the application", type(problem).__name__, exc_info=problem)
            if self._head is None:
                await self._send({"type": "http.response.start", "status": 500, "headers": []})
                await self._send({"type": "http.response.body"})
        finally:
            self._end()

    def _end(self) -> None:
        connection = self._connection
        if not (self._lost or connection.transport.is_closing()):
            connection.acknowledge(self.not_taken, self._id)
            if not self._response_ended:
                connection.reset(self._id, ErrorCodes.INTERNAL_ERROR)
            elif not self._body_ended:
                connection.reset(self._id, ErrorCodes.NO_ERROR)  # the client need not send the rest (RFC 9113, 8.1)
        connection.done(self._id)

    async def _receive(self) -> Message:
        while not (self._lost or self._response_ended):
            if self._parts or (self._body_ended and not self._body_taken):
                body, size = b"".join(self._parts), self.not_taken
                self._parts, self.not_taken = [], 0
                self._body_taken = self._body_ended
                self._connection.acknowledge(size, self._id)
                return {"type": "http.request", "body": body, "more_body": not self._body_ended}
            if self._expects_continue and self._head is None:
                self._expects_continue = False
                self._connection.send_head(self._id, [(b":status", b"100")])
            self._changed.clear()
            await self._changed.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._begin(message)
        elif message["type"] == "http.response.body":
            await self._write(message.get("body", b""), last=not message.get("more_body", False))

    def _begin(self, message: Message) -> None:
        headers = [*self._connection.server_state.default_headers, *message.get("headers", ())]
        in_lower_case = [(name.lower(), value) for name, value in headers]
        status: int = message["status"]
        self._head = [
            (b":status", str(status).encode()),
            *((name, value) for name, value in in_lower_case if name not in _HEADERS_OF_A_CONNECTION),
        ]
        self._bodiless = self._bodiless or status in (204, 304)
        if not self._is_gone():
            self._connection.send_head(self._id, self._head)

    async def _write(self, body: bytes, *, last: bool) -> None:
        remaining = memoryview(b"" if self._bodiless else body)
        while remaining or last:
            await self._connection.writable.wait()
            if self._is_gone():
                # lets the task that waits for the disconnect run before the application sends more
                await asyncio.sleep(0)
                return
            room = self._connection.room(self._id)
            if remaining and room <= 0:
                await self._wait_for_room()
                continue
            piece, remaining = remaining[:room], remaining[room:]
            is_end = last and not remaining
            self._connection.send_body(self._id, piece, last=is_end)
            if is_end:
                self._response_ended = True
                self._changed.set()
                return

    async def _wait_for_room(self) -> None:
        """Wait until the client reads. A client that does not read loses this call."""
        self.window.clear()
        try:
            async with asyncio.timeout(slow_readers.PATIENCE_S):
                await self.window.wait()
        except TimeoutError:
            if not self._is_gone():
                self._connection.reset(self._id, ErrorCodes.CANCEL)
            self.lost()

    def _is_gone(self) -> bool:
        return self._lost or self._connection.transport.is_closing()
