"""
Errors for clients of every wire: what the suite cannot ask of a plug, because it speaks of Python, of secrets or of streams.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from odd import ODD

import interlingua
from interlingua import adapters, apply, registry, translate
from interlingua.canonical import json
from interlingua.canonical.errors import (
    Cancelled,
    CannotAdapt,
    InterlinguaError,
    InvalidAnswer,
    InvalidRequest,
    InvalidWire,
    LossRefused,
    NoCandidate,
    ProviderError,
)
from interlingua.canonical.loss import same_answer

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
STREAMS = sorted(CASES.glob("*/*/stream.wire.*"))
CATEGORIES = registry.data("vocabularies")["error_categories"]["words"]
READ = sorted(
    set(CATEGORIES) - {"internal", "loss_refused", "no_candidate", "network", "invalid_response", "stream_truncated"}
)
"""Those that a reader of some wire gives for a provider's answer."""
SEEN = ("category", "retryable", "retry_after", "path", "request_id")
"""What a client can see of an error."""
RETRIED = {"rate_limit", "timeout", "network", "overloaded", "server_error", "stream_truncated"}
KEY = "sk-proj-" + "0123456789abcdefghij"


def canonical(category: str, **more: Any) -> dict[str, Any]:
    return {"category": category, "message": "it went wrong", "retryable": category in RETRIED, **more}


def read_back(wire: dict[str, Any], adapter: str) -> dict[str, Any]:
    body = wire["body"] if isinstance(wire["body"], str) else json.dumps(wire["body"])
    return interlingua.read_error(wire["status"], wire["headers"], body, adapter)


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("category", READ)
def test_every_category_that_is_read_can_be_written(adapter: str, category: str) -> None:
    """The law, for categories: what any wire can tell, every wire can tell."""
    error = canonical(category)
    wire, loss = interlingua.write_error(error, adapter)
    assert read_back(wire, adapter)["category"] == category
    assert not [entry for entry in loss if entry["path"] == "/category"]


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("retryable", [True, False])
def test_the_report_says_what_is_read_back(adapter: str, category: str, retryable: bool) -> None:
    """The law, for every category of the contract and every member that a client can see."""
    error = canonical(category, retry_after=2.5, request_id="req_7", path="/messages/3/content/0")
    error["retryable"] = retryable
    wire, loss = interlingua.write_error(error, adapter)
    back = read_back(wire, adapter)
    seen = {name: error[name] for name in ("category", "retryable", "retry_after", "request_id", "path")}
    for entry in loss:
        name = entry["path"][1:]
        if entry["op"] == "drop":
            assert name not in back
            del seen[name]
        else:
            assert seen[name] != entry["value"]
            seen[name] = entry["value"]
    assert {name: back[name] for name in seen} == seen
    assert 400 <= wire["status"] <= 599


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("category", sorted(RETRIED))
def test_what_a_gateway_names_is_tried_again(adapter: str, category: str) -> None:
    """Where a wire has a word for the category, it says as well that the call may be tried again."""
    wire, loss = interlingua.write_error(canonical(category), adapter)
    found = read_back(wire, adapter)
    assert found["retryable"]
    assert found["category"] == category or [entry["path"] for entry in loss] == ["/category"]


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize(
    "failure",
    [
        InvalidRequest("must be text", path="/messages/0"),
        InvalidWire("a member is missing", path="/model"),
        InvalidAnswer("the answer cannot be read"),
        CannotAdapt("a critical block cannot be carried", path="/messages/0/content/0", adapter="ollama_chat"),
        LossRefused("too much would be lost", [], path="/tools"),
        NoCandidate("no model can serve the turn", []),
        Cancelled("the caller went away"),
        InterlinguaError("a defect"),
        ProviderError({"category": "timeout", "message": "the deadline passed", "retryable": True}),
    ],
)
def test_failures_of_our_own_have_a_form_on_every_wire(adapter: str, failure: InterlinguaError) -> None:
    """A gateway tells its clients of its own failures with the same function."""
    wire, _ = interlingua.write_error(failure, adapter)
    assert 400 <= wire["status"] <= 599
    assert failure.message in json.dumps(wire["body"]).decode()


def test_what_is_no_error_is_refused() -> None:
    """The door checks what it is given."""
    for value in ({}, {"category": "timeout"}, {"category": 1, "message": "x"}, b"[]", "no JSON"):
        with pytest.raises(InvalidRequest):
            interlingua.write_error(value, "openai_chat")


@pytest.mark.parametrize("adapter", adapters.names())
def test_raw_is_given_on_request(adapter: str) -> None:
    """An error holds what the provider said only when that was asked for; the same for the error of a stream."""
    wire, _ = interlingua.write_error(canonical("overloaded"), adapter)
    body = json.dumps(wire["body"])
    assert "raw" not in interlingua.read_error(wire["status"], wire["headers"], body, adapter)
    assert interlingua.read_error(wire["status"], wire["headers"], body, adapter, raw=True)["raw"] == wire["body"]
    chunks = list(interlingua.write_stream([{"type": "error", "error": canonical("overloaded")}], adapter))
    assert "raw" not in list(interlingua.read_stream(chunks, adapter))[-1]["error"]
    assert list(interlingua.read_stream(chunks, adapter, raw=True))[-1]["error"]["raw"]


def test_an_exception_keeps_what_the_provider_said_to_itself() -> None:
    """`error` has it, for a gateway of the same wire; `to_dict`, which goes into logs and answers, does not."""
    problem = ProviderError(canonical("overloaded", raw={"error": "said"}, adapter="ollama_chat", status=503))
    assert "raw" not in problem.to_dict()
    assert interlingua.write_error(problem, "ollama_chat")[0]["body"] == {"error": "said"}


@pytest.mark.parametrize("source", adapters.names())
@pytest.mark.parametrize("target", adapters.names())
def test_a_key_that_a_provider_repeats_does_not_reach_a_client_of_another_wire(source: str, target: str) -> None:
    """Neither where the provider speaks of the key nor where it slips into another text."""
    if source == target:
        return
    for category in ("authentication", "permission", "billing", "invalid_request", "rate_limit"):
        wire, _ = interlingua.write_error({**canonical(category), "message": f"no good: {KEY}"}, source)
        body = json.dumps(wire["body"])
        error = interlingua.read_error(wire["status"], wire["headers"], body, source, raw=True)
        assert KEY in json.dumps(error).decode()
        assert KEY not in json.dumps(interlingua.write_error(error, target)[0]).decode()


@pytest.mark.parametrize("adapter", sorted(set(adapters.names()) - {"cohere_chat", "ollama_chat"}))
@pytest.mark.parametrize(
    "category", ["invalid_request", "rate_limit", "overloaded", "server_error", "context_overflow", "timeout"]
)
def test_an_error_in_a_stream_is_written_from_the_same_table(adapter: str, category: str) -> None:
    """The category survives inside a stream too. (Ollama and Cohere have one form for all that can happen there.)"""
    chunks = list(interlingua.write_stream([{"type": "error", "error": canonical(category)}], adapter))
    assert list(interlingua.read_stream(chunks, adapter))[-1]["error"]["category"] == category


def failed_streams(path: Path) -> Iterable[list[dict[str, Any]]]:
    """The events of a stream of the suite that is cut off at each sixth of its bytes."""
    provider = json.loads((path.parent / "case.json").read_bytes()).get("provider")
    data = path.read_bytes()
    for part in range(1, 6):
        events = list(
            interlingua.read_stream([data[: len(data) * part // 6]], path.parent.parent.name, provider=provider)
        )
        if events[-1]["type"] == "error" and "response" in events[-1]:
            yield events


@pytest.mark.share(5)
@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_a_stream_that_fails_comes_with_the_report_of_what_had_arrived_and_of_its_error(
    path: Path, adapter: str
) -> None:
    """The law of streams that end with an error: wherever they are cut, also inside of blocks."""
    for events in failed_streams(path):
        loss: list[dict[str, Any]] = []
        data = b"".join(interlingua.write_stream(events, adapter, loss=loss))
        back = list(interlingua.read_stream([data], adapter))[-1]
        assert back["type"] == "error"
        assert {entry["path"].split("/")[1] for entry in loss} <= {"error", "message"}
        told = apply({"error": events[-1]["error"], **arrived(events[-1])}, loss)
        assert seen_of(told["error"]) == seen_of(back["error"])
        assert same_answer({name: told[name] for name in ("message", "finish_reason")}, arrived(back)) is None


def arrived(end: dict[str, Any]) -> dict[str, Any]:
    """What had arrived of an answer that failed: its content."""
    message = end.get("response", {}).get("message", {"content": []})
    return {"message": {"role": "assistant", "content": message["content"]}, "finish_reason": "error"}


def seen_of(error: dict[str, Any]) -> dict[str, Any]:
    return {name: error[name] for name in SEEN if name in error}


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("category", CATEGORIES)
def test_an_error_in_a_stream_is_accounted_for(adapter: str, category: str) -> None:
    """What its frame does not say stands in the report of the stream; no header travels there."""
    error = canonical(category, retry_after=2.5, request_id="req_7", path="/messages/3/content/0", violations=[])
    loss: list[dict[str, Any]] = []
    chunks = list(interlingua.write_stream([{"type": "error", "error": error}], adapter, loss=loss))
    back = list(interlingua.read_stream(chunks, adapter))[-1]["error"]
    assert seen_of(apply({"error": error}, loss)["error"]) == seen_of(back)
    assert {entry["path"] for entry in loss} <= {f"/error/{name}" for name in SEEN}


@pytest.mark.parametrize("adapter", adapters.names())
def test_strict_refuses_an_error_that_would_lose_too_much(adapter: str) -> None:
    """Alone and at the end of a stream, with the report; a word that there is not is refused before anything else."""
    error = canonical("rate_limit", attempts=[{"model": "a:b", "category": "timeout"}])
    events = [{"type": "message_start"}, {"type": "error", "error": error}]
    for write in (
        lambda strict: interlingua.write_error(error, adapter, strict=strict),
        lambda strict: list(interlingua.write_stream(events, adapter, strict=strict)),
    ):
        write("lost")
        with pytest.raises(LossRefused) as caught:
            write("weakened")
        assert any(entry["path"].endswith("/attempts") for entry in caught.value.loss)
        with pytest.raises(InvalidRequest):
            write("very")


@pytest.mark.parametrize("adapter", adapters.names())
def test_words_that_would_mislead_are_not_passed_on(adapter: str) -> None:
    """A text of another provider that a reader takes for something else gives way to the canonical one."""
    misleading = "prompt is too long: context length, context window, input token count, Input is too long"
    raw = {"type": "error", "error": {"type": "x", "message": misleading}, "message": misleading}
    error = canonical("invalid_request", raw=raw, adapter="another_wire", status=400)
    wire, loss = interlingua.write_error(error, adapter)
    assert (read_back(wire, adapter)["category"], loss) == ("invalid_request", [])


ODD_WORDS = ["a\r\nx-odd: 1", "/~", "/a//b", "no pointer", {"error": 7}]


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("own", [True, False])
def test_any_error_is_written_or_refused(adapter: str, own: bool) -> None:
    """Whatever stands in its members; and nothing that stands there becomes a header of its own."""
    base = canonical("rate_limit", status=429, adapter=adapter if own else "another", code="x", raw={"error": "said"})
    for name in (
        "category",
        "message",
        "retryable",
        "retry_after",
        "path",
        "request_id",
        "status",
        "code",
        "raw",
        "loss",
    ):
        for odd in [*ODD, *ODD_WORDS]:
            try:
                wire, _ = interlingua.write_error({**base, name: odd}, adapter)
            except InvalidRequest:
                continue
            assert 400 <= wire["status"] <= 599
            assert all(value.isprintable() for pair in wire["headers"].items() for value in pair)
            assert list(interlingua.write_stream([{"type": "error", "error": {**base, name: odd}}], adapter))


TOLD = [
    {"type": "message_start"},
    {"type": "block_start", "index": 0, "block": {"type": "text", "text": ""}},
    {"type": "text_delta", "index": 0, "text": "Hello."},
    {"type": "block_stop", "index": 0, "block": {"type": "text", "text": "Hello."}},
]
MADE_BY_HAND = [
    (1, {"type": "block_start", "index": 0}, "/1"),
    (1, {"type": "block_start", "index": 0, "block": {"text": ""}}, "/1/block"),
    (1, {"index": 0}, "/1"),
    (1, "block_start", "/1"),
    (2, {"type": "text_delta", "index": 0, "text": 7}, "/2/text"),
    (2, {"type": "text_delta", "index": [], "text": "Hello."}, "/2/index"),
]


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("report", [True, False])
@pytest.mark.parametrize(("place", "event", "path"), MADE_BY_HAND)
def test_an_event_that_is_malformed_is_refused_by_its_place(
    adapter: str, report: bool, place: int, event: Any, path: str
) -> None:
    """What can be written of it all the same is; nothing else is raised than a typed error."""
    events = [*TOLD[:place], event, *TOLD[place + 1 :]]
    refusal = refusal_of(events, adapter, report)
    assert refusal is None or (refusal.path or "").startswith(path)
    refusal = refusal_of(iter(events), adapter, report)
    assert refusal is None or refusal.path in ("", path.removeprefix(f"/{place}"))


def refusal_of(events: Iterable[Any], adapter: str, report: bool) -> InvalidRequest | None:
    try:
        list(interlingua.write_stream(events, adapter, loss=[] if report else None))
    except InvalidRequest as refusal:
        return refusal
    return None


def test_events_that_belong_nowhere_are_refused_and_an_error_of_their_source_is_its_own() -> None:
    with pytest.raises(InvalidRequest, match="not one stream"):
        list(interlingua.write_stream(iter(TOLD[2:3]), "ollama_chat"))

    def broken() -> Iterable[dict[str, Any]]:
        yield TOLD[0]
        raise KeyError("mine")

    for adapter in adapters.names():
        with pytest.raises(KeyError, match="mine"):
            list(interlingua.write_stream(broken(), adapter))


def test_an_adapter_may_write_none() -> None:
    """An adapter from outside that writes no errors says so."""
    endpoint = registry.endpoint(adapter="openai_chat")
    names = vars(adapters.get("openai_chat"))
    kept = names.pop("to_wire_error")
    try:
        with pytest.raises(CannotAdapt):
            translate.to_wire_error(canonical("timeout"), endpoint)
    finally:
        names["to_wire_error"] = kept


@pytest.mark.parametrize("adapter", adapters.names())
def test_a_stream_that_cannot_be_read_is_not_to_be_asked_for_again(adapter: str) -> None:
    """As a whole answer that cannot be read is not (8.2), on every wire."""
    broken = {"bedrock_converse": b"\0" * 64, "ollama_chat": b"{7}\n", "gemini_generate": b"[{7}]"}
    chunk = broken.get(adapter, b"data: {7}\n\n")
    error = list(interlingua.read_stream([chunk], adapter))[-1]["error"]
    assert (error["category"], error["retryable"]) == ("invalid_response", False)
