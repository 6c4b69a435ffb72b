"""Clients of the service's benchmark, over HTTP and over gRPC: so many calls, so many at a time."""

import asyncio
import re
import struct
import time
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from interlingua.gateway.http2 import PREFACE
from interlingua.service.server import CLIENT_OPTIONS

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_PATIENCE_S = 60.0


@dataclass
class Loaded:
    """What calls took: seconds from each begin to the first text, and to the end."""

    first: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Asked:
    """A call over HTTP/2: when its first text came."""

    first: float | None = None


_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _GOAWAY, _WINDOW_UPDATE = 0, 1, 3, 4, 7, 8
_END, _END_HEADERS = 1, 4
_INITIAL_WINDOW, _WINDOW = 4, 1 << 30
_FRAME, _FRAME_HEAD = 16384, 9
_CONNECTIONS = 4


def _frame(kind: int, flags: int, id: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + id.to_bytes(4) + payload


class _Connection(asyncio.Protocol):
    """A client of HTTP that looks only for the first text and for the end."""

    def __init__(self, first: bytes) -> None:
        self._first_text = first
        self.transport: Any = None
        self._done: asyncio.Future[None] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self._done is not None and not self._done.done():
            self._done.set_exception(ConnectionError(f"no answer, but {bytes(self._received)!r}"))

    def ask(self, request: bytes) -> "asyncio.Future[None]":
        self._received = bytearray()
        self._end: int | None = None
        self.first: float | None = None
        self._done = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._done

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        if self.first is None and self._first_text in received:
            self.first = time.perf_counter()
        if self._end is None:
            at = received.find(b"\r\n\r\n")
            if at < 0:
                return
            length = _LENGTH.search(received, 0, at + 2)
            self._end = at + 4 + int(length[1]) if length else 0
            if not received.startswith(b"HTTP/1.1 200 "):
                self.transport.abort()  # the measure ends
                return
        if (self._end and len(received) >= self._end) or (not self._end and received.endswith(b"\r\n0\r\n\r\n")):
            assert self._done is not None
            self._done.set_result(None)


class Http:
    """Posts one body over connections that are kept."""

    def __init__(self, port: int, path: str, body: bytes, first: bytes = b"\r\n\r\n") -> None:
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nx-api-key: none\r\n"
        self._request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
        self._port = port
        self._first = first
        self._idle: list[_Connection] = []

    async def call(self, loaded: Loaded) -> None:
        """One call."""
        loop = asyncio.get_running_loop()
        while self._idle and self._idle[-1].transport.is_closing():
            self._idle.pop()
        kept = bool(self._idle)
        if kept:
            connection = self._idle.pop()
        else:
            _, connection = await loop.create_connection(lambda: _Connection(self._first), "127.0.0.1", self._port)
        began = time.perf_counter()
        try:
            await connection.ask(self._request)
        except ConnectionError:
            if not kept:
                raise
            await self.call(loaded)  # the server closed the connection, which had been idle, as the request left
            return
        loaded.took.append(time.perf_counter() - began)
        loaded.first.append((connection.first or time.perf_counter()) - began)
        self._idle.append(connection)

    async def aclose(self) -> None:
        """Closes the connections."""
        for connection in self._idle:
            connection.transport.close()
        self._idle.clear()


class _Multiplexed(asyncio.Protocol):
    """A client of HTTP/2 that looks only at frames: for the first text and for the ends of streams."""

    def __init__(self, head: bytes, body: bytes, first: bytes) -> None:
        self._head, self._body, self._first_text = head, body, first
        self._next = 1
        self._received = b""
        self._waiting: dict[int, tuple[asyncio.Future[None], Asked]] = {}
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        settings = struct.pack(">HI", _INITIAL_WINDOW, _WINDOW)
        window = struct.pack(">I", _WINDOW)
        transport.write(PREFACE + _frame(_SETTINGS, 0, 0, settings) + _frame(_WINDOW_UPDATE, 0, 0, window))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        for done, _ in self._waiting.values():
            done.set_exception(ConnectionError("the connection ended"))

    def ask(self) -> "tuple[asyncio.Future[None], Asked]":
        id, self._next = self._next, self._next + 2
        waiting = self._waiting[id] = asyncio.get_running_loop().create_future(), Asked()
        body = b"".join(
            _frame(_DATA, at + _FRAME >= len(self._body), id, self._body[at : at + _FRAME])
            for at in range(0, len(self._body), _FRAME)
        )
        self.transport.write(_frame(_HEADERS, _END_HEADERS, id, self._head) + body)
        return waiting

    def data_received(self, data: bytes) -> None:
        received, at = self._received + data, 0
        while len(received) - at >= _FRAME_HEAD:
            length = int.from_bytes(received[at : at + 3])
            if len(received) - at < _FRAME_HEAD + length:
                break
            kind, flags, id = received[at + 3], received[at + 4], int.from_bytes(received[at + 5 : at + 9])
            payload = received[at + _FRAME_HEAD : at + _FRAME_HEAD + length]
            at += _FRAME_HEAD + length
            if kind == _SETTINGS and not flags & _END:
                self.transport.write(_frame(_SETTINGS, _END, 0, b""))
            elif kind in (_RST_STREAM, _GOAWAY):
                self.transport.abort()  # the measure ends
            elif kind in (_DATA, _HEADERS) and id in self._waiting:
                done, asked = self._waiting[id]
                if asked.first is None and self._first_text in payload:
                    asked.first = time.perf_counter()
                if flags & _END:
                    del self._waiting[id]
                    done.set_result(None)
        self._received = received[at:]


class Http2:
    """Posts one body over four connections of HTTP/2, each of which carries many calls."""

    def __init__(self, port: int, path: str, body: bytes, first: bytes = b"{") -> None:
        said = {":method": "POST", ":scheme": "http", ":authority": "localhost", ":path": path, "x-api-key": "none"}
        said |= {"content-type": "application/json", "content-length": str(len(body))}
        # each as a new name that is not kept: no table of the compression has to be told
        head = b"".join(
            b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
            for name, value in said.items()
        )
        self._made = head, body, first
        self._port = port
        self._connections: list[_Multiplexed] = []
        self._turn = 0

    async def call(self, loaded: Loaded) -> None:
        """One call."""
        if len(self._connections) < _CONNECTIONS:
            loop = asyncio.get_running_loop()
            _, made = await loop.create_connection(lambda: _Multiplexed(*self._made), "127.0.0.1", self._port)
            self._connections.append(made)
        self._turn += 1
        began = time.perf_counter()
        done, asked = self._connections[self._turn % len(self._connections)].ask()
        await done
        loaded.took.append(time.perf_counter() - began)
        loaded.first.append((asked.first or time.perf_counter()) - began)

    async def aclose(self) -> None:
        """Closes the connections."""
        for connection in self._connections:
            connection.transport.close()
        self._connections.clear()


class Grpc:
    """Calls one method with one message, over one channel."""

    def __init__(self, port: int, method: str, message: bytes, *, streamed: bool, first: bytes = b"") -> None:
        self._channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CLIENT_OPTIONS)
        kind = self._channel.unary_stream if streamed else self._channel.unary_unary
        self._method: Any = kind(method)
        self._message = message
        self._streamed = streamed
        self._first = first

    async def call(self, loaded: Loaded) -> None:
        """One call."""
        began = time.perf_counter()
        first: float | None = None
        if self._streamed:
            async for message in self._method(self._message):
                if first is None and self._first in message:
                    first = time.perf_counter()
        else:
            await self._method(self._message)
        loaded.took.append(time.perf_counter() - began)
        loaded.first.append((first or time.perf_counter()) - began)

    async def aclose(self) -> None:
        """Closes the channel."""
        await self._channel.close()


Caller = Http | Http2 | Grpc


async def load(caller: Caller, calls: int, at_a_time: int) -> Loaded:
    """So many calls, so many of them at a time."""
    loaded = Loaded()
    left = calls

    async def one_after_another() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            await caller.call(loaded)

    async with asyncio.timeout(_PATIENCE_S + calls * 0.05):
        await asyncio.gather(*(one_after_another() for _ in range(min(calls, at_a_time))))
    return loaded
