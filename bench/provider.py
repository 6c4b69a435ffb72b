"""
The provider of the service's benchmark: speaks the Anthropic wire from bytes that are made beforehand, so that it costs
next to nothing. `max_tokens` of a request says how it is answered.
"""

import asyncio
import re
from typing import Any, ClassVar

import orjson
from workload import anthropic_stream, text

CHUNKS = 500
UNARY, BURST, PACED, SLOW = 1001, 1002, 1003, 1004
"""Whole; as a stream as fast as it is read; as one with 200 chunks a second; as one with 20."""

FIRST_WORD = b"the "
"""What the first chunk of every stream says."""

_PER_PACKET = 4
_PACED_CHUNKS = 200
_SLOW_CHUNKS = 100
_ASKED = re.compile(rb'"max_tokens":\s*(\d+)')
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


def _answer() -> bytes:
    body = orjson.dumps(
        {
            "id": "msg_01BenchAnswer",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-6",
            "content": [{"type": "text", "text": text(3, 60)}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 40, "output_tokens": 94},
        }
    )
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_LAST = b"0\r\n\r\n"


def _burst(chunks: int) -> bytes:
    """A stream as a socket gives it that is read late: several events in a packet."""
    events = anthropic_stream(chunks)
    packets = [b"".join(events[at : at + _PER_PACKET]) for at in range(0, len(events), _PER_PACKET)]
    return _HEAD + b"".join(map(_chunked, packets)) + _LAST


def _paced(chunks: int) -> list[bytes]:
    """A stream in the pieces in which it is sent: the head with the first chunk, the others, the last with the end."""
    events = anthropic_stream(chunks)
    first, *others = events[2:-3]
    begin = _HEAD + _chunked(b"".join(events[:2]) + first)
    return [begin, *map(_chunked, others), _chunked(b"".join(events[-3:])) + _LAST]


class Provider(asyncio.Protocol):
    """One connection."""

    unary = _answer()
    burst = _burst(CHUNKS)
    paced: ClassVar = {PACED: (_paced(_PACED_CHUNKS), 0.005), SLOW: (_paced(_SLOW_CHUNKS), 0.05)}

    def __init__(self) -> None:
        self._received = b""
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """A caller has come."""
        self._transport = transport
        self._loop = asyncio.get_running_loop()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """A caller has gone."""
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Answers when a request is whole."""
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not end or len(body) < int(length[1] if length else 0):
            return
        self._received = b""
        asked = int(_ASKED.search(body)[1])  # type: ignore[index]
        if asked in self.paced:
            pieces, pause = self.paced[asked]
            self._next(iter(pieces), pause, self._loop.time())
        else:
            self._transport.write(self.burst if asked == BURST else self.unary)

    def _next(self, pieces: Any, pause: float, due: float) -> None:
        piece = next(pieces, None)
        if piece is not None:
            self._transport.write(piece)
            self._timer = self._loop.call_at(due + pause, self._next, pieces, pause, due + pause)


async def serve(ports: Any) -> None:
    """Serves until it is ended; puts its port into a queue."""
    server = await asyncio.get_running_loop().create_server(Provider, "127.0.0.1", 0, backlog=2048)
    ports.put(server.sockets[0].getsockname()[1])
    await server.serve_forever()
