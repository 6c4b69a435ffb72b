"""Anthropic's events on Amazon Bedrock: chunks of an event stream, or server-sent events; the first byte tells."""

import base64
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlingua import StreamReader
from interlingua.canonical.endpoint import Endpoint
from interlingua.wire import eventstream, sse
from interlingua.wire.sse import Frame
from interlingua.wire.sse_or_chunks import Decoder, encode

CLOUD = Endpoint("anthropic_messages", "bedrock", dialect={"framing": "sse_or_chunks"})
EVENTS = [
    {
        "type": "message_start",
        "message": {"id": "msg_bdrk_1", "type": "message", "role": "assistant", "model": "claude-x", "content": []},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "P\u00e5 \ud83c\udfd4"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 3}},
]
FRAMES = [Frame(None, json.dumps(event)) for event in EVENTS]
CHUNKS = b"".join(encode(frame) for frame in FRAMES)
LINES = b"".join(sse.encode(Frame(None, json.dumps(event))) for event in EVENTS)
THROTTLED = eventstream.encode(
    eventstream.Frame("throttlingException", '{"message":"Too many requests"}', eventstream.EXCEPTION)
)


def read(*chunks: bytes) -> list[Frame]:
    decoder = Decoder()
    return [frame for chunk in chunks for frame in decoder.feed(chunk)] + decoder.end()


def events(*chunks: bytes) -> list[dict[str, object]]:
    reader = StreamReader(CLOUD)
    return [event for chunk in chunks for event in reader.feed(chunk)] + reader.end()


def test_a_chunk_is_what_the_cloud_sends() -> None:
    """An event named chunk whose payload holds base64 text; padding beside it is passed over."""
    (message,) = eventstream.Decoder().feed(encode(FRAMES[0]))
    padded = json.dumps({**json.loads(message.data), "p": "abcdef"})

    assert "chunk" == message.event
    assert FRAMES[0].data == base64.b64decode(json.loads(message.data)["bytes"]).decode()
    assert FRAMES[:1] == read(eventstream.encode(eventstream.Frame("chunk", padded)))


@given(st.lists(st.integers(0, len(CHUNKS)), max_size=12).map(sorted))
def test_cuts_do_not_matter(cuts: list[int]) -> None:
    edges = [0, *cuts, len(CHUNKS)]
    assert FRAMES == read(*(CHUNKS[a:b] for a, b in itertools.pairwise(edges)))


def test_both_say_the_same() -> None:
    assert FRAMES == read(CHUNKS) == read(LINES)
    assert events(CHUNKS) == events(LINES)
    assert "message_complete" == events(CHUNKS)[-1]["type"]
    assert [] == read()


def test_an_exception_is_an_error_of_the_stream() -> None:
    *_, error = events(*(encode(frame) for frame in FRAMES[:3]), THROTTLED)

    assert "error" == error["type"]
    assert ("rate_limit", True) == (error["error"]["category"], error["error"]["retryable"])  # type: ignore[index]
    assert "response" in error


@pytest.mark.parametrize(
    "payload", ["", "[]", "{}", '{"bytes": 4}', '{"bytes": "\u00e9"}', '{"bytes": "/w=="}', "{" * 5000]
)
def test_what_is_no_chunk_is_an_error_and_no_exception(payload: str) -> None:
    (*_, error) = events(encode(FRAMES[0]), eventstream.encode(eventstream.Frame("chunk", payload)))

    assert "invalid_response" == error["error"]["category"]  # type: ignore[index]
    assert "invalid_response" == events(encode(FRAMES[0]), b"\0" * 40)[-1]["error"]["category"]  # type: ignore[index]
