"""A stream of any length takes the memory of the message that it tells, and of nothing else (spec/4-streams.md#memory)."""

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from interlingua import adapters, registry
from interlingua.translate import StreamReader, encode_stream

PIECE = "a piece of what is said, "
SLACK = 50_000
"""Bytes: tables that are filled when something is first asked for."""
TIMES = {"openai_responses": 25}
"""The text in memory, in parts of its own size: this wire tells it again when it ends, three times."""


def told(pieces: int) -> Iterator[dict[str, Any]]:
    """A text in pieces, as canonical events."""
    yield {"type": "message_start", "model": "any:model", "message_id": "01JD0000000000000000000000"}
    yield {"type": "block_start", "index": 0, "block": {"type": "text", "text": ""}}
    for _ in range(pieces):
        yield {"type": "text_delta", "index": 0, "text": PIECE}
    block = {"type": "text", "text": PIECE * pieces}
    yield {"type": "block_stop", "index": 0, "block": block}
    message = {"role": "assistant", "content": [block]}
    yield {"type": "message_complete", "response": {"message": message, "finish_reason": "stop"}}


def peak(pieces: int, wire: str) -> int:
    """The most memory that writing and reading a text takes, in bytes: what was read is thrown away at once."""
    endpoint = registry.endpoint(adapter=wire)
    tracemalloc.start()
    reader, last = StreamReader(endpoint), ""
    for chunk in encode_stream(told(pieces), endpoint):
        for event in reader.feed(chunk):
            last = event["type"]
    assert last == "message_complete" or reader.end()[-1]["type"] == "message_complete"
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


@pytest.mark.parametrize("wire", adapters.names())
def test_a_stream_takes_the_memory_of_its_message(wire: str) -> None:
    peak(10, wire)
    few, many = peak(200, wire), peak(4_000, wire)
    grown = 3_800 * len(PIECE)
    # pieces of a few letters are objects of their own; whoever kept the events too would need twice as much and more
    assert many - few < TIMES.get(wire, 10) * grown + SLACK


def idle(frames: int) -> Iterable[bytes]:
    """A stream that says nothing for long: pings and comments."""
    yield b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","content":[],"role":"assistant"}}\n\n'
    for _ in range(frames):
        yield b": keep-alive\n\n"
        yield b'event: ping\ndata: {"type": "ping"}\n\n'


def test_a_stream_that_says_nothing_takes_no_memory() -> None:
    endpoint = registry.endpoint(adapter="anthropic_messages")

    def most(frames: int) -> int:
        reader = StreamReader(endpoint)
        tracemalloc.start()
        for chunk in idle(frames):
            reader.feed(chunk)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    most(10)
    assert most(20_000) - most(200) < 10_000


def test_data_without_an_end_does_not_pile_up_twice() -> None:
    """Half a frame is kept once, however many pieces it comes in."""
    reader = StreamReader(registry.endpoint(adapter="anthropic_messages"))
    piece = json.dumps("x" * 1_000).encode()
    tracemalloc.start()
    reader.feed(b"data: ")
    for _ in range(1_000):
        reader.feed(piece)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found < 4 * 1_000 * len(piece)
