"""
The loss law on answers: what a client reads of an answer that is written for it is what the report says.

`EDIT_ROUNDS=n` takes more edits of each answer.
"""

import copy
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from edits import edited
from hypothesis import HealthCheck, given, settings
from strategies import answers

from interlingua import adapters, apply, registry
from interlingua.canonical import json
from interlingua.canonical.errors import CannotAdapt, InvalidRequest, LossRefused
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import SEVERITIES, same_answer
from interlingua.translate import load, read_stream, to_wire_response, write_response, write_stream

Data = dict[str, Any]

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
FOLDERS = [path.parent for path in sorted(CASES.glob("*/*/response.wire.json"))]
ROUNDS = int(os.environ.get("EDIT_ROUNDS", "3"))
ENDS = ("stop", "stop_sequence", "length", "tool_calls", "content_filter", "refusal", "pause", "error", "other")
COUNTS = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_creation_input_tokens", "reasoning_tokens")


def place_where_the_law_breaks(response: Data, adapter: str, provider: str | None = None) -> str | None:
    endpoint = registry.endpoint(adapter=adapter, provider=provider)
    body, loss = to_wire_response(response, endpoint)
    read, _ = adapters.get(adapter).from_wire_response(json.loads(json.dumps(body)), endpoint, DERIVED_IDS)
    load(read, "Response")
    return same_answer(apply(response, loss), read)


@pytest.mark.parametrize("adapter", adapters.names())
@given(response=answers())
@settings(suppress_health_check=list(HealthCheck), print_blob=True)
def test_what_a_client_reads_is_what_was_reported(adapter: str, response: Data) -> None:
    load(response, "Response")
    assert place_where_the_law_breaks(response, adapter) is None


def answer_of(folder: Path) -> tuple[Data, str | None]:
    provider = json.loads((folder / "case.json").read_bytes()).get("provider")
    endpoint = registry.endpoint(adapter=folder.parent.name, provider=provider)
    body = json.loads((folder / "response.wire.json").read_bytes())
    return adapters.get(endpoint.adapter).from_wire_response(body, endpoint, DERIVED_IDS)[0], provider


def changed(answer: Data, rng: random.Random) -> Data:
    """The answer as somebody in between might give it on: other words, another end, other counts, less state."""
    answer = copy.deepcopy(answer)
    if rng.random() < 0.5:
        message = edited({"messages": [answer["message"]]}, rng)[0]["messages"]
        if message and message[0]["role"] == "assistant" and is_sound(message[0]):
            answer["message"] = message[0]
    match rng.randrange(6):
        case 0:
            answer["finish_reason"] = rng.choice(ENDS)
        case 1 if "usage" in answer:
            usage = {name: answer["usage"][name] for name in COUNTS if name in answer["usage"]}
            answer["usage"] = usage | {"output_tokens": 5000, rng.choice(COUNTS[:-1]): rng.randrange(4000, 5000)}
        case 2 if "usage" in answer:
            answer["usage"].pop("raw", None)
        case 3:
            answer.pop(rng.choice(("finish_reason_raw", "provider_state", "usage", "model", "id")), None)
        case 4:
            (answer.get("provider_state") or {}).pop(rng.choice(("encoding", "fields")), None)
        case _:
            answer["stop_sequence"] = "END"
    return answer


def is_sound(message: Data) -> bool:
    calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    results = any(block["type"] == "tool_result" for block in message["content"])
    return len(set(calls)) == len(calls) and not results


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_changed_answers_obey_the_law(folder: Path) -> None:
    answer, provider = answer_of(folder)
    for seed in range(ROUNDS):
        one = changed(answer, random.Random(f"{folder.name} {seed}"))
        for adapter in adapters.names():
            try:
                broken = place_where_the_law_breaks(one, adapter, provider if adapter == folder.parent.name else None)
            except InvalidRequest:
                continue  # a state that an edit left in pieces
            assert broken is None, f"seed {seed} on {adapter}: {broken}"


# ---------------------------------------------------------------------------------------------------- streams

STREAMS = sorted(CASES.glob("*/*/stream.wire.*"))
SERVED = [
    pytest.param(path, adapter, id=f"{path.parent.parent.name}/{path.parent.name}-{adapter}")
    for path in STREAMS
    for adapter in adapters.names()
]


def events_of(path: Path) -> list[Data]:
    provider = json.loads((path.parent / "case.json").read_bytes()).get("provider")
    return list(read_stream([path.read_bytes()], path.parent.parent.name, provider=provider))


@pytest.mark.share(5)
@pytest.mark.parametrize(("path", "adapter"), SERVED)
def test_what_a_client_reads_of_a_stream_is_what_was_reported(path: Path, adapter: str) -> None:
    """The report is complete when the stream has ended, and none is made where nobody asks for it."""
    events = events_of(path)
    loss: list[Data] = []
    chunks = list(write_stream(events, adapter, loss=loss))
    assert chunks == list(write_stream(events, adapter))
    last = list(read_stream(chunks, adapter))[-1]
    if events[-1]["type"] == "error":
        assert last["type"] == "error"
        return
    if last["type"] == "error":
        assert events[-1]["response"]["finish_reason"] == "error"  # a failed answer is an error here
        return
    reported, read = (without_fields(one) for one in (apply(events[-1]["response"], loss), last["response"]))
    assert same_answer(reported, read) is None


def without_fields(response: Data) -> Data:
    """An answer without the members around it, most of which a stream tells before they are known."""
    choices = [{k: v for k, v in one.items() if k != "provider_state"} for one in response.get("alternatives", [])]
    return {k: v for k, v in response.items() if k != "provider_state"} | {"alternatives": choices}


@pytest.mark.share(5)
@pytest.mark.parametrize(("path", "adapter"), SERVED)
def test_a_stream_is_refused_when_its_report_says_so(path: Path, adapter: str) -> None:
    """At every severity, and before the first frame of a block of which nothing can be said."""
    events = events_of(path)
    loss: list[Data] = []
    list(write_stream(events, adapter, loss=loss))
    gravest = max((SEVERITIES.index(entry["severity"]) for entry in loss), default=-1)
    for level, strict in enumerate(SEVERITIES):
        report: list[Data] = []
        refused = refusal_of(write_stream(events, adapter, strict=strict, loss=report))
        if refused is None:
            assert report == loss
            assert gravest < level or events[-1]["type"] == "error"
        else:
            assert gravest >= level, f"refused at {strict}: {refused}"
            assert any(SEVERITIES.index(entry["severity"]) >= level for entry in refused.loss)


def refusal_of(chunks: Iterator[bytes]) -> LossRefused | None:
    try:
        list(chunks)
    except LossRefused as refusal:
        return refusal
    return None


def test_a_block_of_which_nothing_can_be_said_is_refused_before_its_first_frame() -> None:
    path = CASES / "anthropic_messages" / "thinking-signature" / "stream.wire.sse"
    said: list[bytes] = []
    chunks = write_stream(events_of(path), "openai_chat", strict="lost")
    with pytest.raises(LossRefused, match="/message/content/0"):
        said.extend(chunks)
    assert b"content" not in b"".join(said).replace(b'"content":""', b"")


def test_answers_are_refused_like_requests() -> None:
    answer, _ = answer_of(CASES / "anthropic_messages" / "thinking-signature")
    with pytest.raises(LossRefused) as refused:
        write_response(answer, "openai_chat", strict="lost")
    assert refused.value.loss == write_response(answer, "openai_chat")[1]
    with pytest.raises(InvalidRequest, match="placeholders"):
        to_wire_response(answer, registry.endpoint(adapter="openai_chat"), {"on_drop": "placeholder"})
    with pytest.raises(LossRefused):
        to_wire_response(answer, registry.endpoint(adapter="openai_chat"), {"on_drop": "error"})
    answer["message"]["content"][0]["critical"] = True
    with pytest.raises(CannotAdapt):
        write_response(answer, "openai_chat")


OF_TOKENS = {"content": [{"token": "Hi", "logprob": -0.25}]}
OF_PIECES = {"content": [{"text": "Hi", "token_ids": [11], "logprobs": [-0.25]}]}
TELLS_TOKENS = {"openai_chat", "ollama_chat"}


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("logprobs", [OF_TOKENS, OF_PIECES], ids=["of tokens", "of pieces"])
def test_log_probabilities_are_written_in_the_shape_of_the_wire_or_dropped(adapter: str, logprobs: Data) -> None:
    """A client that was written for a wire reads no other's."""
    message = {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}
    response = {"message": message, "finish_reason": "stop", "logprobs": logprobs}
    assert place_where_the_law_breaks(response, adapter) is None
    _, loss = to_wire_response(response, registry.endpoint(adapter=adapter))
    dropped = [entry["severity"] for entry in loss if entry["path"] == "/logprobs" and entry["op"] == "drop"]
    fits = adapter in TELLS_TOKENS if logprobs is OF_TOKENS else adapter == "cohere_chat"
    assert dropped == ([] if fits else ["lost"])
