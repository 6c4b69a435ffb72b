"""Streams that are written event by event: `StreamWriter` beside the `write_stream` that pulls."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from interlingua import InvalidRequest, LossRefused, StreamReader, StreamWriter, adapters, registry, write_stream
from interlingua.translate import encode_stream

Data = dict[str, Any]

THINKING = {"type": "thinking", "text": "hm", "signature": "c2ln", "provider_state": {"adapter": "elsewhere"}}
CALL = {"type": "tool_use", "id": "tu_01JD3V5Q6M8H2N4R7T9WAXCZE0", "name": "look", "input": {"a": 1}}
WIRES = adapters.names()


def text(words: str) -> Data:
    return {"type": "text", "text": words}


def told(*content: Data, ends: bool = True) -> list[Data]:
    """An answer whose blocks interleave: all begin, then all go on, then all end."""
    events: list[Data] = [{"type": "message_start", "model": "any:model", "message_id": "01JD0000000000000000000000"}]
    for index, block in enumerate(content):
        empty = {**block, "text": ""} if "text" in block else {**block, "input": {}}
        events.append({"type": "block_start", "index": index, "block": empty})
        if block["type"] == "tool_use":
            events.append({"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]})
    for index, block in enumerate(content):
        if block["type"] != "tool_use":
            events.append({"type": f"{block['type']}_delta", "index": index, "text": block["text"][:2]})
    for index, block in enumerate(content):
        if block["type"] == "tool_use":
            called = {"index": index, "id": block["id"]}
            events.append({"type": "tool_use_input_delta", **called, "text": '{"a":1}'})
            events.append({"type": "tool_use_end", **called, "name": block["name"], "input": block["input"]})
        events.append({"type": "block_stop", "index": index, "block": block})
    message = {"role": "assistant", "content": list(content)}
    last = {"type": "message_complete", "response": {"message": message, "finish_reason": "stop"}}
    return [*events, last] if ends else events


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("state_in_ids", [True, False])
@pytest.mark.parametrize("wire", WIRES)
def test_what_is_pushed_is_what_is_pulled(wire: str, state_in_ids: bool, ends: bool) -> None:
    """The same chunks and the same report, and each chunk as soon as its event is there."""
    endpoint = replace(registry.endpoint(adapter=wire), state_in_ids=state_in_ids)
    events = told(THINKING, text("hello there"), CALL, text("and more"), ends=ends)
    loss: list[Any] = []
    pulled = list(encode_stream(iter(events), endpoint, loss=loss))
    writer = StreamWriter(endpoint)
    threads = threading.active_count()
    pushed = [writer.feed(event) for event in events]
    assert threading.active_count() == threads
    pushed.append(writer.end())
    assert [chunk for chunks in pushed for chunk in chunks] == pulled
    assert writer.loss == loss
    assert writer.done
    assert writer.end() == writer.feed(events[0]) == []


@pytest.mark.parametrize("wire", WIRES)
def test_a_delta_goes_out_at_once(wire: str) -> None:
    """Nothing waits for an event that is still to come."""
    writer = StreamWriter(wire)
    events = told(text("hello there"))
    chunks = [b"".join(writer.feed(event)) for event in events]
    delta = next(number for number, event in enumerate(events) if event["type"] == "text_delta")
    assert b"he" in chunks[delta]


@pytest.mark.parametrize("wire", WIRES)
def test_a_reader_understands_a_writer(wire: str) -> None:
    reader, writer = StreamReader(wire), StreamWriter(wire)
    read: list[Data] = []
    for event in told(text("hello there")):
        for chunk in writer.feed(event):
            read += reader.feed(chunk)
    for chunk in writer.end():
        read += reader.feed(chunk)
    read += reader.end()
    assert read[-1]["response"]["message"]["content"][0]["text"] == "hello there"


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("malformed", [{"type": "block_stop", "index": 0}, {"type": 3}, {"type": None}, {}])
def test_a_malformed_event_is_refused_and_ends_the_stream(wire: str, malformed: Data) -> None:
    writer = StreamWriter(wire)
    first, begun, *_ = told(text("hello"))
    writer.feed(first)
    writer.feed(begun)
    with pytest.raises(InvalidRequest) as caught:
        writer.feed(malformed)
    assert "an event is malformed" in caught.value.message
    assert writer.done
    assert writer.feed(begun) == []


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("begins", [True, False])
def test_a_delta_outside_of_its_block_is_refused(wire: str, begins: bool) -> None:
    """Before the block has begun, and after it has ended (spec/4-streams.md#order): nothing is lost silently."""
    first, *of_block, _ = told(text("hello"))
    writer = StreamWriter(wire, report=False)
    for event in [first, *(of_block if begins else ())]:
        writer.feed(event)
    with pytest.raises(InvalidRequest, match="has not begun"):
        writer.feed({"type": "text_delta", "index": 0, "text": "more"})
    assert writer.done


def test_a_loss_that_is_refused_ends_the_stream() -> None:
    events = told({"type": "redacted_thinking", "text": "", "data": "x"})
    writer = StreamWriter("openai_chat", strict="lost")
    writer.feed(events[0])
    with pytest.raises(LossRefused):
        writer.feed(events[1])
    assert writer.done
    with pytest.raises(InvalidRequest):
        StreamWriter("openai_chat", strict="gravely")


def test_a_report_that_nobody_wants_is_not_made() -> None:
    events = told({"type": "redacted_thinking", "text": "", "data": "x"})
    asked, not_asked = StreamWriter("openai_chat"), StreamWriter("openai_chat", report=False)
    for event in events:
        assert asked.feed(event) == not_asked.feed(event)
    assert [entry["path"] for entry in asked.loss] == ["/message/content/0"]
    assert not_asked.loss == []


def test_an_error_of_whoever_gives_the_events_is_theirs() -> None:
    """Also one of a kind that malformed events raise."""

    def broken() -> Any:
        yield told()[0]
        raise KeyError("theirs")

    with pytest.raises(KeyError, match="theirs"):
        list(write_stream(broken(), "openai_chat", loss=[]))
