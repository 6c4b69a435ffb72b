"""
The transport over httptools: HTTP/1.1 on the transports of the event loop, for servers, where httpx costs more than
all other parts of a call (spec/decisions/0034-speed-of-the-service.md).

It does the same as `HttpxTransport` with the parser of Node.js (llhttp), without a task, a lock or a timer for each
chunk. It passes a call through a proxy to `HttpxTransport`, which supports proxies.
"""

import asyncio
import re
import select
import socket
import ssl
from collections import deque
from collections.abc import AsyncIterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple, Self

import aiohappyeyeballs
import httptools
import httpx

from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.inflating import inflated
from interlingua.client.transport import Answer, TransportFailed

_HEAD_LIMIT = 256 << 10
"""The most bytes of the head of a response, and of its trailers."""

_READ_AHEAD = 64 << 10
"""Bytes of a response that may wait for the consumer; beyond them reading from the provider pauses."""

_PIECE = 64 << 10
"""Bytes of a request that are written at a time."""

_IDLE_CONNECTIONS = 256
_IDLE_S = 30.0
_FRESH_S = 0.5
"""The time after its last use in which no server has closed a connection."""

_NEXT_ADDRESS_S = 0.25
"""The time after which the next address of a host is tried concurrently (RFC 8305)."""

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NO_VALUE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")


class HttptoolsTransport:
    """Calls over HTTP/1.1 with connections that are kept and used again, in one event loop.

    `verify` is the TLS context; by default it has the certificates that httpx trusts. `connections` limits the open
    connections, `connect_timeout` the wait for one, in seconds.
    """

    def __init__(
        self, *, verify: ssl.SSLContext | None = None, connections: int = 1_000, connect_timeout: float = 10.0
    ) -> None:
        self._verify = verify
        self._connections = connections
        self._connect_timeout = connect_timeout
        self._by_proxy = HttpxTransport(verify=verify, connections=connections, connect_timeout=connect_timeout)
        self._open: set[_Connection] = set()
        self._opening = 0
        self._idle: dict[_Origin, list[_Connection]] = {}
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._sweeper: asyncio.TimerHandle | None = None

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, idle: float | None) -> Answer:
        """Post a body (see `Transport`)."""
        target = _target(url)
        if self._by_proxy.proxy_for(url) is not None:
            return await self._by_proxy.send(url, headers, body, idle)
        head = _head(target, headers, len(body))
        patience = self._connect_timeout if idle is None else min(idle, self._connect_timeout)
        connection = self._idle_connection(target.origin) or await self._connection_for(target.origin, patience)
        try:
            await connection.request(head, body, idle)
        except BaseException:
            connection.close()
            raise
        return HttptoolsAnswer(connection)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        for connection in tuple(self._open):
            connection.close()
        await self._by_proxy.aclose()

    # ------------------------------------------------------------------------------------------------ connections

    @property
    def idle(self) -> int:
        """The number of idle connections."""
        return sum(map(len, self._idle.values()))

    def release(self, connection: "_Connection") -> None:
        """Keep a connection for the next call."""
        if self.idle >= _IDLE_CONNECTIONS:
            connection.close()
            return
        self._idle.setdefault(connection.origin, []).append(connection)
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(_IDLE_S, self._sweep)
        self._wake()

    def forget(self, connection: "_Connection") -> None:
        """Remove a connection that is closed."""
        self._open.discard(connection)
        idle = self._idle.get(connection.origin)
        if idle and connection in idle:
            idle.remove(connection)
        self._wake()

    def _idle_connection(self, origin: "_Origin") -> "_Connection | None":
        """The idle connection that was used last, so that surplus connections expire."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable():
                return connection
            connection.close()
        return None

    async def _connection_for(self, origin: "_Origin", patience: float) -> "_Connection":
        """An idle connection, or a new one as soon as the limit allows it. Raises `TransportFailed`."""
        try:
            async with asyncio.timeout(patience):
                while len(self._open) + self._opening >= self._connections:
                    if (other := next((idle for idle in self._idle.values() if idle), None)) is not None:
                        other[0].close()
                        continue
                    await self._wait_for_place()
                    if (idle := self._idle_connection(origin)) is not None:
                        return idle
                self._opening += 1
                try:
                    connection = await self._connect(origin)
                finally:
                    self._opening -= 1
                    self._wake()
        except TimeoutError:
            raise TransportFailed("timeout", "the provider did not answer in time (connecting)", sent=False) from None
        except (OSError, UnicodeError, ValueError) as problem:  # their texts may quote the arguments
            raise TransportFailed("network", _failure_text(problem), sent=False) from None
        self._open.add(connection)
        return connection

    async def _connect(self, origin: "_Origin") -> "_Connection":
        loop = asyncio.get_running_loop()
        addresses = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        connected = await aiohappyeyeballs.start_connection(
            addresses, happy_eyeballs_delay=_NEXT_ADDRESS_S, interleave=1
        )
        try:
            tls: dict[str, Any] = {"ssl": self._tls, "server_hostname": origin.host} if origin.tls else {}
            _, connection = await loop.create_connection(lambda: _Connection(self, origin), sock=connected, **tls)
        except BaseException:
            connected.close()
            raise
        return connection

    async def _wait_for_place(self) -> None:
        """Wait until a connection is closed or released."""
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                self._wake()  # the free place is for the next waiter
            raise

    def _wake(self) -> None:
        while self._waiting:
            waiting = self._waiting.popleft()
            if not waiting.done():
                waiting.set_result(None)
                return

    def _sweep(self) -> None:
        """Close the connections that were idle for a long time."""
        now = asyncio.get_running_loop().time()
        for origin, idle in tuple(self._idle.items()):
            for connection in [connection for connection in idle if now - connection.idle_since >= _IDLE_S]:
                connection.close()
            if not idle:
                del self._idle[origin]
        again = asyncio.get_running_loop().call_later(_IDLE_S, self._sweep) if self._idle else None
        self._sweeper = again

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        # to load the certificates takes tens of milliseconds: once, and only when there is a call
        context = self._verify or httpx.create_ssl_context()
        context.set_alpn_protocols(["http/1.1"])
        return context


class HttptoolsAnswer:
    """A response on a connection, which it holds until it is read to its end or closed."""

    def __init__(self, connection: "_Connection") -> None:
        self.status = connection.status
        self.headers: Mapping[str, str] = connection.headers
        self._connection: _Connection | None = connection
        encoding = self.headers.get("content-encoding", "identity").strip().lower() or "identity"
        self._chunks = self if encoding == "identity" else inflated(self, encoding)

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, as it arrives."""
        return aiter(self._chunks)

    async def aclose(self) -> None:
        """End the call without a wait. A connection with an incomplete response is closed."""
        self._end()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        connection = self._connection
        if connection is None:
            raise StopAsyncIteration
        try:
            piece = connection.take_buffered() or await connection.take()
        except TransportFailed:
            self._end()
            raise
        if not piece:
            self._end()
            raise StopAsyncIteration
        return piece

    def _end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.end()


class _Connection(asyncio.Protocol):
    """One connection. It sends a request, reads one response, and can be used again when that has ended."""

    def __init__(self, pool: HttptoolsTransport, origin: "_Origin") -> None:
        self.origin = origin
        self.idle_since = 0.0
        self.status = 0
        self.headers: dict[str, str] = {}
        self._pool = pool
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._parser: Any = None
        self._in_use = False
        self._reset(None)

    def _reset(self, idle: float | None) -> None:
        self._idle = idle
        self._received_headers: list[tuple[bytes, bytes]] = []  # headers as received
        self._head_bytes = 0
        self._buffered: list[bytes] = []
        self._buffered_bytes = 0
        self._begun = self._ended = self._reusable = self._sent = False
        self._failure: TransportFailed | None = None
        self._since = 0.0
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._paused_reading = self._paused_writing = False

    # ------------------------------------------------------------------------------------------------ one call

    async def request(self, head: bytes, body: bytes, idle: float | None) -> None:
        """Send a request and wait for the head of its response. Raises `TransportFailed`."""
        self._reset(idle)
        self._parser = httptools.HttpResponseParser(self)
        self._in_use = True
        if len(body) <= _PIECE:
            self._transport.write(head + body)
        else:
            await self._write(head, memoryview(body))
        # from here on the provider may have the complete call
        self._sent = True
        while not self._begun:
            await self._wait()

    async def _write(self, head: bytes, body: memoryview) -> None:
        """Write a long body at the pace of the connection, until its end or until the provider responds early."""
        self._transport.write(head)
        for at in range(0, len(body), _PIECE):
            while self._paused_writing and not self._begun:
                await self._wait()
            if self._failure is not None:
                raise self._failure
            if self._begun:
                return
            self._transport.write(body[at : at + _PIECE])

    def take_buffered(self) -> bytes:
        """The part of the body that has arrived and was not taken yet; empty when there is none."""
        parts = self._buffered
        if not parts:
            return b""
        self._buffered, self._buffered_bytes = [], 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def take(self) -> bytes:
        """Wait for the next part of the body; empty at its end. Raises `TransportFailed`."""
        while not self._buffered:
            if self._ended:
                return b""
            if self._paused_reading:
                self._paused_reading = False
                self._transport.resume_reading()
            await self._wait()
        return self.take_buffered()

    def usable(self) -> bool:
        """Whether the other side keeps the connection open too, as far as can be known."""
        if self._transport.is_closing():
            return False
        if self._loop.time() - self.idle_since < _FRESH_S:
            return True
        # a busy loop may not have noticed yet that the connection was closed
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not poll.poll(0)

    def end(self) -> None:
        """End the response. The connection is kept for the next call when that is possible."""
        if not (self._ended and self._reusable and self._in_use) or self._transport.is_closing():
            self.close()
            return
        self._in_use = False
        self._stop_timer()
        self._parser = None
        self._buffered = []
        self.idle_since = self._loop.time()
        if self._paused_reading:
            self._transport.resume_reading()
        self._pool.release(self)

    def close(self) -> None:
        """Close the connection at once. May be called any number of times."""
        self._in_use = False
        self._stop_timer()
        if self._transport is not None:
            self._transport.abort()
        self._pool.forget(self)

    # ------------------------------------------------------------------------------------------------ waiting

    async def _wait(self) -> None:
        """Wait until an event of the connection. Raises `TransportFailed` when the network has failed, or when nothing
        happens for `idle` seconds."""
        if self._failure is not None:
            raise self._failure
        if self._idle is not None:
            # one timer for all waits of a call; when it fires it checks how long the current wait takes
            self._since = self._loop.time()
            if self._timer is None:
                self._timer = self._loop.call_later(self._idle, self._check_idle)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self._failure is not None and not self._buffered:
            raise self._failure

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _check_idle(self) -> None:
        self._timer = None
        if self._waiter is None or self._idle is None:
            return
        remaining = self._since + self._idle - self._loop.time()
        if remaining > 0:
            self._timer = self._loop.call_later(remaining, self._check_idle)
        else:
            self._fail("timeout", "the provider did not answer in time")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fail(self, category: Literal["timeout", "network"], text: str) -> None:
        if self._failure is None and not self._ended:
            self._failure = TransportFailed(category, text, sent=self._sent)
        self._wake()

    # ------------------------------------------------------------------------------------------------ the event loop

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._in_use and not self._ended:
            if exc is None and self._begun and not self._has_length():
                self._ended = True  # the end of the connection is the end of the response
                self._wake()
            else:
                self._fail("network", _failure_text(exc or ConnectionError()))
        self._pool.forget(self)

    def pause_writing(self) -> None:
        self._paused_writing = True

    def resume_writing(self) -> None:
        self._paused_writing = False
        self._wake()

    def data_received(self, data: bytes) -> None:
        if not self._in_use:
            self.close()  # there was no request
            return
        if not self._begun:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._reject()
            return
        if self._head_bytes > _HEAD_LIMIT:
            self._reject()
        elif self._buffered_bytes > _READ_AHEAD and not self._paused_reading and not self._ended:
            self._paused_reading = True
            self._transport.pause_reading()

    def _reject(self) -> None:
        self._reusable = False
        self._fail("network", "the provider's answer is not valid HTTP/1.1")
        self._transport.abort()

    def _has_length(self) -> bool:
        """Whether the head determines the end of the body."""
        return "content-length" in self.headers or self.headers.get("transfer-encoding", "").lower().endswith("chunked")

    # ------------------------------------------------------------------------------------------------ the parser

    def on_message_begin(self) -> None:
        """A response begins. A second one has no request."""
        if self._ended:
            self._reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which is ignored."""
        if self._begun:
            self._head_bytes += len(name) + len(value)
        else:
            self._received_headers.append((name, value))

    def on_headers_complete(self) -> None:
        """A head is complete. One with a status below 200 announces another."""
        status: int = self._parser.get_status_code()
        received, self._received_headers = self._received_headers, []
        if status < 200 or self._ended:
            return
        self.status = status
        self.headers = headers = {}
        for name, value in received:
            key, text = name.lower().decode("latin-1"), _text(value)
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        self._begun = True
        self._head_bytes = 0
        self._wake()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if not self._ended:
            self._buffered.append(body)
            self._buffered_bytes += len(body)
            self._wake()

    def on_message_complete(self) -> None:
        """The response is complete."""
        if self._begun and not self._ended:
            self._ended = True
            self._reusable = self._sent and self._parser.should_keep_alive()
            self._wake()


# ---------------------------------------------------------------------------------------------------- requests


class _Origin(NamedTuple):
    host: str
    port: int
    tls: bool


class _Target(NamedTuple):
    """The target of a URL: the connection, and the first lines of the request."""

    origin: _Origin
    lines: str
    host: str


@lru_cache(maxsize=1024)
def _target(url: str) -> _Target:
    """The target of a URL. Raises `TransportFailed` for a URL that cannot be used."""
    try:
        parsed = httpx.URL(url)
        host, target = parsed.raw_host.decode("ascii"), parsed.raw_path.decode("ascii")
    except (httpx.InvalidURL, ValueError):
        host, target, parsed = "", "", None
    if parsed is None or not host or parsed.scheme not in ("http", "https"):
        text = "the base URL cannot be used; it must begin with http:// or https://"
        raise TransportFailed("network", text, sent=False, retryable=False)
    tls = parsed.scheme == "https"
    origin = _Origin(host, parsed.port or (443 if tls else 80), tls)
    return _Target(origin, f"POST {target} HTTP/1.1\r\n", f"host: {parsed.netloc.decode('ascii')}\r\n")


def _head(target: _Target, headers: Mapping[str, str], length: int) -> bytes:
    lines, has_length = _head_lines(target, tuple(headers.items()))
    return lines + (b"\r\n" if has_length else b"content-length: %d\r\n\r\n" % length)


@lru_cache(maxsize=256)
def _head_lines(target: _Target, headers: tuple[tuple[str, str], ...]) -> tuple[bytes, bool]:
    """The lines of a head without the length of the body, and whether they have that length already.

    They are cached, because most calls to a provider have the same."""
    lines = [target.lines]
    names = {name.lower() for name, _ in headers}
    if "host" not in names:
        lines.append(target.host)
    for name, value in headers:
        if not _NAME.fullmatch(name) or _NO_VALUE.search(value):
            # the error names neither the header nor its value, which may be a key
            raise TransportFailed("network", "a header of the call cannot be sent", sent=False, retryable=False)
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines).encode("latin-1"), "content-length" in names


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _failure_text(problem: Exception) -> str:
    """The text of a failure. It has only the name of a foreign error, whose text can quote the request."""
    return f"the connection to the provider failed ({type(problem).__name__})"
