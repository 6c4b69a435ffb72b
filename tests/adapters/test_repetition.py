"""Frames that differ in one text alone are read as if each were decoded."""

import json

import pytest

from interlingua.adapters import anthropic_messages
from interlingua.adapters._answers.repetition import Repetition
from interlingua.canonical.endpoint import Endpoint
from interlingua.wire.sse import Frame

TEXTS = [
    "the ", "river", " ", "text", "index", "text_delta", "content_block_delta", "another text", "delta", "0", "", "}", '"}}',
    "a\\nb", 'say "so"', "\n", "\t", "\\", "ü", "😀", "\u2028", "\u00a0", "\x7f", "{}", ":", '","type":"x', "the ",
]  # fmt: skip


def data(text: str, index: int = 0) -> str:
    delta = {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}
    return json.dumps(delta, separators=(",", ":"), ensure_ascii=False)


@pytest.mark.parametrize("first", TEXTS)
@pytest.mark.parametrize("spelling", [data, lambda text: json.dumps({"delta": {"text": text, "type": "text_delta"}, "more": text})])  # fmt: skip
def test_a_text_is_read_or_left_to_the_decoder(first: str, spelling: object) -> None:
    """Never another text than the one that decoding gives."""
    assert callable(spelling)
    repetition = Repetition(spelling(first), "delta", "text")

    for text in TEXTS:
        assert repetition.text(spelling(text)) in (None, text)
        assert repetition.text(spelling(text) + " ") is None
        assert repetition.text(data(text, index=1)) is None


def test_plain_texts_are_read() -> None:
    """What it is for."""
    repetition = Repetition(data("the "), "delta", "text")

    assert [repetition.text(data(text)) for text in ("river", "carries ", "ü", "😀")] == [
        "river",
        "carries ",
        "ü",
        "😀",
    ]


@pytest.mark.parametrize("first", TEXTS)
def test_a_stream_gives_every_text(first: str) -> None:
    """In its block, whatever the first one was, and with a second block of the same shape after it."""
    decoder = anthropic_messages.stream_decoder(Endpoint("anthropic_messages", "anthropic", "claude-x"))
    next(decoder)
    texts = [first, *TEXTS]
    frames = [json.dumps({"type": "message_start", "message": {"content": []}})]
    for index in (0, 1):
        start = {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
        frames += [json.dumps(start), *(data(text, index) for text in texts)]
        frames += [json.dumps({"type": "content_block_stop", "index": index})]
        frames += [data("late", index)] if index else []

    events = [event for frame in frames for event in decoder.send(Frame(None, frame))]

    for index in (0, 1):
        told = [event["text"] for event in events if event["type"] == "text_delta" and event["index"] == index]
        stops = [event for event in events if event["type"] == "block_stop" and event["index"] == index]
        assert told == [text for text in texts if text]
        assert stops[0]["block"]["text"] == "".join(texts)
    assert events[-1]["type"] == "error"  # a text of a block that has ended
