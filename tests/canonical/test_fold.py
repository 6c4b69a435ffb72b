"""Events add up to the answer; narrower views show less of the same."""

from typing import Any

import pytest

from interlingua import ProviderError, StreamTruncated, buffered, fold, strict_004

EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "model": "a:b"},
    {"type": "block_start", "index": 0, "block": {"type": "text", "text": ""}},
    {"type": "text_delta", "index": 0, "text": "Hel"},
    {"type": "text_delta", "index": 0, "text": "lo"},
    {"type": "block_stop", "index": 0, "block": {"type": "text", "text": "Hello"}},
    {"type": "block_start", "index": 1, "block": {"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}},
    {"type": "tool_use_start", "index": 1, "id": "tu_1", "name": "f"},
    {"type": "tool_use_input_delta", "index": 1, "id": "tu_1", "text": '{"a"'},
    {"type": "later_event"},
    {"type": "tool_use_input_delta", "index": 1, "id": "tu_1", "text": ":1}"},
    {"type": "tool_use_end", "index": 1, "id": "tu_1", "name": "f", "input": {"a": 1}},
    {"type": "block_stop", "index": 1, "block": {"type": "tool_use", "id": "tu_1", "name": "f", "input": {"a": 1}}},
    {"type": "usage_update", "usage": {"input_tokens": 1, "output_tokens": 2}},
]
ANSWER = {
    "message": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Hello"},
            {"type": "tool_use", "id": "tu_1", "name": "f", "input": {"a": 1}},
        ],
    },
    "finish_reason": "tool_calls",
}
COMPLETE = {"type": "message_complete", "response": ANSWER}


def test_the_fold_is_the_answer() -> None:
    """Built from the parts, equal to the whole; unknown events are passed over."""
    assert ANSWER == fold([*EVENTS, COMPLETE])


def test_the_fold_puts_blocks_where_the_answer_has_them() -> None:
    """What came late stands in its place; what came in pieces is one, and the last piece tells the rest."""
    cited = [{"type": "url_citation", "url": "https://example.org"}]
    told = [{"type": "text", "text": "Hel"}, {"type": "thinking", "text": "hm"}, {"type": "text", "text": "lo"}]
    events: list[dict[str, Any]] = [{"type": "message_start"}]
    for index, block in enumerate(told):
        kind = "thinking_delta" if block["type"] == "thinking" else "text_delta"
        final = block | {"citations": cited} if index == 2 else block
        events += [
            {"type": "block_start", "index": index, "block": block | {"text": ""}},
            {"type": kind, "index": index, "text": block["text"]},
            {"type": "block_stop", "index": index, "block": final},
        ]
    content = [told[1], {"type": "text", "text": "Hello", "citations": cited}]
    answer = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    assert answer == fold([*events, {"type": "message_complete", "response": answer, "places": [1, 0, 1]}])


def test_the_fold_trusts_the_deltas() -> None:
    """A delta that went missing shows, because the fold does not copy the last event."""
    short = [event for event in EVENTS if event.get("text") != "lo"]

    assert ANSWER != fold([*short, COMPLETE])


@pytest.mark.parametrize("length", range(len(EVENTS) + 1))
def test_a_stream_without_its_end_is_no_answer(length: int) -> None:
    """At every length."""
    with pytest.raises(StreamTruncated):
        fold(EVENTS[:length])


def test_the_buffered_view_never_shows_a_fragment() -> None:
    """Text at once, calls whole, the response last."""
    seen = [event["type"] for event in buffered([*EVENTS, COMPLETE])]

    assert ["text_delta", "text_delta", "tool_use_end", "message_complete"] == seen


def test_the_strict_view_has_the_eight_types_of_the_seed() -> None:
    """And nothing else."""
    seen = {event["type"] for event in strict_004([*EVENTS, COMPLETE])}

    assert {
        "text_delta",
        "tool_use_start",
        "tool_use_input_delta",
        "tool_use_end",
        "usage_update",
        "message_complete",
    } == seen


def test_an_error_before_anything_arrived_is_no_stream_that_was_cut() -> None:
    error = {"category": "overloaded", "message": "busy"}
    with pytest.raises(ProviderError) as caught:
        fold([{"type": "error", "error": error}])
    assert type(caught.value) is ProviderError
    with pytest.raises(StreamTruncated):
        fold([*EVENTS[:3], {"type": "error", "error": error, "response": ANSWER}])
