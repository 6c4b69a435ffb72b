"""Clients of the service's benchmark, over HTTP and over gRPC: so many calls, so many at a time."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import Any

import grpc.aio

from interlingua.service.server import CLIENT_OPTIONS

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)
_PATIENCE_S = 60.0


@dataclass
class Loaded:
    """What calls took: seconds from each begin to the first text, and to the end."""

    first: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)


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


Caller = Http | Grpc


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
