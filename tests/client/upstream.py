"""A tiny HTTP server on loopback that plays a provider: each request is answered by the next script; and what to ask."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from interlingua.canonical import json
from interlingua.client.replay import exchanges

Script = Callable[["Connection"], Awaitable[None]]


@dataclass
class Connection:
    """One request on its connection, and ways to answer it."""

    head: str
    body: bytes
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader

    def header(self, name: str) -> str | None:
        """A header of the request."""
        for line in self.head.split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.strip().lower() == name:
                return value.strip()
        return None

    async def answer(self, body: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        """A whole answer."""
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
        self.writer.write(head.encode() + body)
        await self.writer.drain()

    async def begin(self, kind: str = "text/event-stream") -> None:
        """The head of a streamed answer."""
        self.writer.write(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        await self.writer.drain()

    async def chunk(self, data: bytes) -> None:
        """A piece of a streamed answer; waits while the client does not read."""
        self.writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self.writer.drain()

    async def end(self) -> None:
        """The end of a streamed answer."""
        self.writer.write(b"0\r\n\r\n")
        await self.writer.drain()

    def reset(self) -> None:
        """Breaks the connection."""
        self.writer.transport.abort()

    async def gone(self, seconds: float = 5.0) -> bool:
        """Whether the client closes the connection within some seconds."""
        try:
            return await asyncio.wait_for(self.reader.read(1), seconds) == b""
        except TimeoutError:
            return False
        except ConnectionError:
            return True


@dataclass
class Upstream:
    """The server: where it is, and what it was asked."""

    url: str
    scripts: list[Script] = field(default_factory=list)
    seen: list[Connection] = field(default_factory=list)
    connections: int = 0

    def then(self, *scripts: Script) -> None:
        """Adds scripts for the next requests; the last one stays for all that follow."""
        self.scripts += scripts


@asynccontextmanager
async def serve(*scripts: Script) -> AsyncIterator[Upstream]:
    """A server that lives as long as the block."""
    upstream = Upstream("", list(scripts))
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        upstream.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                connection = Connection(head, b"", writer, reader)
                connection.body = await reader.readexactly(int(connection.header("content-length") or 0))
                upstream.seen.append(connection)
                script = upstream.scripts.pop(0) if len(upstream.scripts) > 1 else upstream.scripts[0]
                await script(connection)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    upstream.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield upstream
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Flood:
    """A script that sends without end; `sent` counts what the connection has taken."""

    def __init__(self, model: str) -> None:
        self.sent = 0
        self._begin = recorded(model)[0]

    async def __call__(self, connection: Connection) -> None:
        """Sends until the connection is closed."""
        await connection.begin()
        await connection.chunk(self._begin)
        word = {"choices": [{"index": 0, "delta": {"content": "x" * 10_000}, "finish_reason": None}]}
        frame = b"data: " + json.dumps(word) + b"\n\n"
        while True:
            await connection.chunk(frame)
            self.sent += len(frame)

    async def settled(self) -> int:
        """What was sent when no more is taken: all buffers are full, however slow the machine."""
        before = -1
        while self.sent != before:
            before = self.sent
            assert before < 16 << 20, "more is taken than buffers hold"
            await asyncio.sleep(0.5)
        return before


def ask(text: str = "hello", **members: Any) -> dict[str, Any]:
    """A request of one user message."""
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}], **members}


def recorded(model: str) -> list[bytes]:
    """A recorded stream, in frames."""
    wire = "anthropic_messages" if model.startswith("anthropic") else "openai_chat"
    stream = exchanges()[0].answer(wire, stream=True)
    assert stream is not None
    return [frame + b"\n\n" for frame in stream.split(b"\n\n") if frame]
