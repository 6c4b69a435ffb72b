"""
The other worker processes of a server (spec/9-service.md#workers): every worker can report what any of them knows of
its calls.

Each worker answers the others on a Unix socket in a folder that only the user of the server may enter. A question is
one line of JSON. It names the tenant, which the asking worker has verified. The answer is a sequence of pieces, each
after its length.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from interlingua.canonical import json

Question = Mapping[str, Any]
Answer = Callable[[Question], AsyncIterator[bytes]]

_PATIENCE_S = 2.0
"""How long another worker may take to answer. A worker that is starting, ending or dead is left out."""
_AGAIN_S = 1.0
"""How long to wait before another attempt at a worker that could not be watched."""
_LENGTH = 4
"""Bytes of the length before a piece."""


class Peers:
    """The other workers. `count` is the number of all workers, `number` that of this one, counted from 0."""

    def __init__(self, folder: Path, number: int, count: int) -> None:
        self._folder = folder
        self._number = number
        self._others = [other for other in range(count) if other != number]
        self._server: asyncio.Server | None = None

    def _socket(self, number: int) -> Path:
        return self._folder / f"worker-{number}"

    async def serve(self, answer: Answer) -> None:
        """Answer the questions of the others from now on."""

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    question = json.loads(await reader.readline())
                answering = asyncio.ensure_future(_write(answer(question), writer))
                gone = asyncio.ensure_future(reader.read())
                try:
                    await asyncio.wait((answering, gone), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    answering.cancel()
                    gone.cancel()
                    await asyncio.gather(answering, gone, return_exceptions=True)
            writer.close()

        socket = self._socket(self._number)
        socket.unlink(missing_ok=True)  # a worker that was killed leaves its socket
        self._server = await asyncio.start_unix_server(handle, socket)

    async def aclose(self) -> None:
        """Stop answering."""
        if self._server is not None:
            self._server.close()

    async def ask(self, question: Question) -> list[bytes]:
        """The answers of the others. A worker that cannot answer is left out."""
        answers = await asyncio.gather(*(self._read_answer(other, question) for other in self._others))
        return [answer for answer in answers if answer]

    async def _read_answer(self, other: int, question: Question) -> bytes:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return b"".join([piece async for piece in self._pieces(other, question)])
        except (OSError, EOFError, TimeoutError):
            return b""

    async def first_answer(self, question: Question) -> AsyncIterator[bytes] | None:
        """The answer of the first worker that has one, while it arrives; None where no worker has one."""
        for other in self._others:
            pieces = self._pieces(other, question)
            with suppress(OSError, EOFError, TimeoutError, StopAsyncIteration):
                async with asyncio.timeout(_PATIENCE_S):
                    first_piece = await anext(pieces)
                return _chained(first_piece, pieces)
        return None

    async def with_others(self, own_pieces: AsyncIterator[bytes], question: Question) -> AsyncIterator[bytes]:
        """The pieces of this worker and of all others, as they arrive. The stream ends when that of this worker
        does."""
        # full while the consumer does not read, which stops the reading
        pieces: asyncio.Queue[bytes | None] = asyncio.Queue(1)

        async def take(source: AsyncIterator[bytes]) -> None:
            async for piece in source:
                await pieces.put(piece)

        async def take_own() -> None:
            await take(own_pieces)
            await pieces.put(None)

        async def follow(other: int) -> None:
            while True:
                with suppress(OSError, EOFError):
                    await take(self._pieces(other, question))
                await asyncio.sleep(_AGAIN_S)

        tasks = [asyncio.ensure_future(work) for work in (take_own(), *map(follow, self._others))]
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pieces(self, other: int, question: Question) -> AsyncIterator[bytes]:
        reader, writer = await asyncio.open_unix_connection(self._socket(other))
        try:
            writer.write(json.dumps(question) + b"\n")
            # the end between two pieces is the end of the answer; an end inside a piece raises EOFError
            while length := await reader.read(1):
                length += await reader.readexactly(_LENGTH - 1)
                yield await reader.readexactly(int.from_bytes(length))
        finally:
            writer.close()


async def _write(pieces: AsyncIterator[bytes], writer: asyncio.StreamWriter) -> None:
    async for piece in pieces:
        writer.write(len(piece).to_bytes(_LENGTH) + piece)
        await writer.drain()


async def _chained(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece
