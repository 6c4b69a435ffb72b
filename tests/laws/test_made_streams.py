"""
Streams of answers that nobody gave: any blocks in any order, whatever wire they are of.

The recorded streams of the suite hold what providers say together; a gateway may be asked to stream anything else.
"""

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import answers
from test_answers import is_sound, without_fields

from interlingua import adapters, apply
from interlingua.canonical import json
from interlingua.canonical.loss import same_answer
from interlingua.translate import read_stream, write_stream

Data = dict[str, Any]


def told(answer: Data) -> Iterator[Data]:
    """The events of an answer that is told block by block."""
    yield {"type": "message_start"}
    for index, block in enumerate(answer["message"]["content"]):
        kind = block["type"]
        if kind == "tool_use":
            begun = {name: value for name, value in block.items() if name != "input_raw"} | {"input": {}}
            call = {name: block[name] for name in ("id", "name", "input", "input_raw") if name in block}
            yield {"type": "block_start", "index": index, "block": begun}
            yield {"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]}
            if "input_raw" in block:
                yield {"type": "tool_use_input_delta", "index": index, "id": block["id"], "text": block["input_raw"]}
            yield {"type": "tool_use_end", "index": index, **call}
        elif kind in ("text", "thinking"):
            begun = {name: block[name] for name in ("type", "refusal") if name in block}
            yield {"type": "block_start", "index": index, "block": {**begun, "text": ""}}
            yield {"type": f"{kind}_delta", "index": index, "text": block["text"]}
        else:
            yield {"type": "block_start", "index": index, "block": block}
        yield {"type": "block_stop", "index": index, "block": block}
    yield {"type": "message_complete", "response": answer}


@pytest.mark.parametrize("adapter", adapters.names())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
@given(answer=answers())
def test_what_a_client_reads_is_what_was_reported(adapter: str, answer: Data) -> None:
    answer.pop("alternatives", None)
    if not is_sound(answer["message"]):
        return
    loss: list[Data] = []
    last = list(read_stream(list(write_stream(told(answer), adapter, loss=loss)), adapter))[-1]
    reported, read = (without_fields(one) for one in (apply(answer, loss), last["response"]))
    assert same_answer(reported, read) is None


def pieces(block: Data, index: int) -> list[Data]:
    """The events of one block, what it says in two pieces."""
    events: list[Data] = []
    for event in told({"message": {"content": [block]}}):
        if "index" not in event:
            continue
        event["index"] = index
        if event["type"] == "tool_use_end" and event["input"] and "input_raw" not in event:
            said = {"type": "tool_use_input_delta", "index": index, "id": event["id"]}
            events += halves(said, json.dumps(event["input"]).decode())
        events += halves(event, event["text"]) if "text" in event else [event]
    return events


def halves(event: Data, text: str) -> list[Data]:
    cut = len(text) // 2
    return [{**event, "text": part} for part in (text[:cut], text[cut:]) if part] or [{**event, "text": text}]


def at_once(answer: Data, rng: random.Random, choice: int = 0) -> Iterator[Data]:
    """The events of an answer of which many blocks are open at once: they begin in their order, and go on in any."""
    blocks = [pieces(block, index) for index, block in enumerate(answer["message"]["content"])]
    begun = 0
    while any(blocks):
        going = [events for events in blocks[:begun] if events]
        if begun < len(blocks) and (not going or rng.random() < 0.5):
            going, begun = [blocks[begun]], begun + 1
        events = rng.choice(going)
        together = 2 if events[0]["type"] in ("block_start", "tool_use_end") and len(events) > 1 else 1
        together = 1 if together == 2 and events[1]["type"] not in ("tool_use_start", "block_stop") else together
        for event in [events.pop(0) for _ in range(together)]:
            yield event | {"choice": choice} if choice else event


def interleaved(answer: Data, rng: random.Random) -> Iterator[Data]:
    """The events of an answer and its alternatives, all of them at once."""
    choices = [answer, *answer.get("alternatives", [])]
    going = [at_once(one, rng, number) for number, one in enumerate(choices)]
    yield {"type": "message_start"}
    while going:
        one = rng.choice(going)
        if (event := next(one, None)) is None:
            going.remove(one)
        else:
            yield event
    yield {"type": "message_complete", "response": answer}


@pytest.mark.parametrize("adapter", adapters.names())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
@given(answer=answers(), rng=st.randoms(use_true_random=False))
def test_blocks_and_answers_that_interleave_keep_their_order(adapter: str, answer: Data, rng: random.Random) -> None:
    if not all(is_sound(one["message"]) for one in [answer, *answer.get("alternatives", [])]):
        return
    loss: list[Data] = []
    last = list(read_stream(list(write_stream(interleaved(answer, rng), adapter, loss=loss)), adapter))[-1]
    if last["type"] == "error":
        assert answer["finish_reason"] == "error"
        return
    reported, read = (without_fields(one) for one in (apply(answer, loss), last["response"]))
    assert same_answer(reported, read) is None


def broken_off(events: list[Data], answer: Data) -> list[Data]:
    """The events with an error behind them, and what had arrived."""
    content: dict[int, Data] = {}
    arguments: dict[int, str] = {}
    for event in events:
        match event["type"]:
            case _ if event.get("choice") or "index" not in event:
                pass
            case "block_start" | "block_stop":
                content[event["index"]] = copy.deepcopy(event["block"])
                arguments.pop(event["index"], None)
            case "tool_use_input_delta":
                arguments[event["index"]] = arguments.get(event["index"], "") + event["text"]
            case "text_delta" | "thinking_delta":
                content[event["index"]]["text"] += event["text"]
            case _:
                pass
    for index, text in arguments.items():
        content[index]["input_raw"] = text
    message = {"role": "assistant", "content": [content[index] for index in sorted(content)]}
    error = {"category": "server_error", "message": "it failed", "retryable": True}
    response = {"message": {**message, "metadata": {"status": "error"}}, "finish_reason": "error"}
    return [*events, {"type": "error", "error": error, "response": response}]


@pytest.mark.parametrize("adapter", adapters.names())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
@given(answer=answers(), rng=st.randoms(use_true_random=False))
def test_what_is_cut_off_is_reported_as_it_came(adapter: str, answer: Data, rng: random.Random) -> None:
    """Blocks that are open at once are cut off together."""
    if not all(is_sound(one["message"]) for one in [answer, *answer.get("alternatives", [])]):
        return
    whole = list(interleaved(answer, rng))[:-1]
    events = broken_off(whole[: rng.randint(1, len(whole))], answer)
    loss: list[Data] = []
    last = list(read_stream(list(write_stream(events, adapter, loss=loss)), adapter))[-1]
    assert last["type"] == "error"
    reported, read = (
        arrived(one) for one in (apply(events[-1]["response"], in_the_message(loss)), last.get("response"))
    )
    assert same_answer(reported, read) is None


def arrived(response: Data | None) -> Data:
    content = response["message"]["content"] if response else []
    return {"message": {"role": "assistant", "content": content}, "finish_reason": "error"}


def in_the_message(loss: list[Data]) -> list[Data]:
    return [entry for entry in loss if entry["path"].startswith("/message")]


@pytest.mark.parametrize(
    ("picture", "lost"),
    [
        ({"source": {"kind": "base64", "data": "iVBORw0KGgo="}, "media_type": "image/png"}, []),
        ({"source": {"kind": "url", "data": "https://example.com/a.png"}}, ["/message/content/0"]),
    ],
)
def test_a_picture_from_elsewhere_is_streamed_where_the_wire_has_a_form_for_it(picture: Data, lost: list[str]) -> None:
    answer = {"message": {"role": "assistant", "content": [{"type": "image", **picture}]}, "finish_reason": "stop"}
    loss: list[Data] = []
    chunks = list(write_stream(told(answer), "bedrock_converse", loss=loss))
    content = list(read_stream(chunks, "bedrock_converse"))[-1]["response"]["message"]["content"]
    assert content == ([] if lost else answer["message"]["content"])
    assert [entry["path"] for entry in loss] == lost
