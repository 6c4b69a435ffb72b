"""A whole answer as events, and a stream as a whole answer: each provider is read in the form that it chose."""

from pathlib import Path
from typing import Any

import pytest

from interlingua import adapters
from interlingua.canonical import json
from interlingua.canonical.errors import ProviderError
from interlingua.canonical.fold import fold
from interlingua.canonical.validate import violations
from interlingua.client import Bytes, FakeTransport
from interlingua.client.unfold import unfold
from interlingua.translate import read_response, read_stream, write_stream

from .six import every_wire
from .test_client import CLAUDE, GPT, KEY, client_over, events_of
from .upstream import ask, recorded

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
ANSWERS = sorted(CASES.glob("*/*/response.wire.json"))
JSON = {"content-type": "application/json"}
IN_BOTH_FORMS = {
    "anthropic_messages": "citations-answer",
    "bedrock_converse": "citations-answer",
    "cohere_chat": "citations-answer",
    "gemini_generate": "server-tools",
    "ollama_chat": "finish-length",
    "openai_chat": "annotations",
    "openai_responses": "answer-messages",
}
EVERY = pytest.mark.parametrize("adapter", sorted(IN_BOTH_FORMS))


def both_forms(adapter: str) -> tuple[bytes, bytes]:
    """One answer, whole and streamed."""
    folder = CASES / adapter / IN_BOTH_FORMS[adapter]
    return (folder / "response.wire.json").read_bytes(), next(folder.glob("stream.wire.*")).read_bytes()


def ordered(events: list[dict[str, Any]]) -> None:
    """What holds for the order of the events of any stream."""
    assert (events[0]["type"], events[-1]["type"]) == ("message_start", "message_complete")
    open_block: tuple[int, int] | None = None
    calls: dict[str, str] = {}
    for event in events:
        at = (event.get("choice", 0), event.get("index", -1))
        match event["type"]:
            case "block_start":
                assert open_block is None
                open_block = at
            case "block_stop":
                assert open_block == at
                open_block = None
            case "text_delta" | "thinking_delta" | "tool_use_start" | "tool_use_input_delta" | "tool_use_end":
                assert open_block == at
                if event["type"] == "tool_use_input_delta":
                    calls[event["id"]] = calls.get(event["id"], "") + event["text"]
                if event["type"] == "tool_use_end" and "input_raw" not in event:
                    assert json.loads(calls.get(event["id"]) or "{}") == event["input"]
            case _:
                assert open_block is None


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: f"{path.parent.parent.name}/{path.parent.name}")
def test_events_of_every_answer_fold_to_it(path: Path) -> None:
    """In order, of the schema, and complete, for every answer of the suite."""
    case = json.loads((path.parent / "case.json").read_bytes())
    try:
        response, _ = read_response(path.read_bytes(), path.parent.parent.name, provider=case.get("provider"))
    except Exception:  # noqa: BLE001
        pytest.skip("an answer that cannot be read")
    events = unfold(response)
    ordered(events)
    assert fold(events) == response
    for event in events:
        assert not violations(event, "StreamEvent")


@pytest.mark.asyncio
@EVERY
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain"])
async def test_a_whole_answer_to_a_request_for_a_stream(adapter: str, kind: str) -> None:
    """The bytes tell, whatever the content type says, in any cuts, a blank line first."""
    body, _ = both_forms(adapter)
    if adapter == "ollama_chat":
        body = json.dumps(json.loads(body))  # one line, as a server of this wire writes it
    chunks = [b"\r\n", body[:1], body[1:40], body[40:]]
    fakes = [FakeTransport(Bytes(chunks, headers={"content-type": kind})), FakeTransport(Bytes([body], headers=JSON))]
    members = {"registry": every_wire()}
    async with client_over(fakes[0], **members) as client, client_over(fakes[1], **members) as other:
        stream = client.stream(ask(), model=f"every:{adapter}")
        events, problem = await events_of(stream)
        whole = await other.generate(ask(), model=f"every:{adapter}")
    assert problem is None
    ordered(events)
    assert fold(events)["message"]["content"] == whole["message"]["content"]
    assert stream.response is not None
    assert stream.response["usage"]["cost_usd"] == whole["usage"]["cost_usd"]
    assert stream.response["finish_reason"] == whole["finish_reason"]
    assert fakes[0].answers[0].closed


@pytest.mark.asyncio
@EVERY
async def test_a_stream_in_answer_to_a_request_for_a_whole_answer(adapter: str) -> None:
    """Read to its end and folded; without its end it is no answer."""
    _, data = both_forms(adapter)
    kind = {"content-type": "text/event-stream"}
    fake = FakeTransport(Bytes([data], headers=kind), Bytes([data[: len(data) // 2]], headers=kind), Bytes([data]))
    async with client_over(fake, registry=every_wire()) as client:
        whole = await client.generate(ask(), model=f"every:{adapter}", raw=True)
        with pytest.raises(ProviderError) as cut:
            await client.generate(ask(), model=f"every:{adapter}")
        events, _ = await events_of(client.stream(ask(), model=f"every:{adapter}"))
    # a frame that was cut in two cannot be read
    assert cut.value.error["category"] in ("stream_truncated", "invalid_response")
    assert "raw" not in whole
    assert fold(events)["message"]["content"] == whole["message"]["content"]


@pytest.mark.asyncio
async def test_an_error_in_the_other_form() -> None:
    """A body of status 200 that is an error, and a stream whose only event is one; without the key."""
    body = json.dumps({"error": {"message": f"bad {KEY}", "type": "invalid_request_error", "code": "model_not_found"}})
    async with client_over(FakeTransport(Bytes([body], headers=JSON))) as client:
        events, problem = await events_of(client.stream(ask(), model=GPT))
    assert events == []
    assert isinstance(problem, ProviderError)
    assert problem.error["category"] == "not_found"
    told = {"type": "error", "error": {"type": "overloaded_error", "message": KEY}}
    frame = b"event: error\ndata: " + json.dumps(told) + b"\n\n"
    async with client_over(FakeTransport(Bytes([frame]), Bytes([*recorded(CLAUDE)[:4], frame]))) as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model=CLAUDE)
        events, _ = await events_of(client.stream(ask(), model=CLAUDE))
    assert failure.value.error["category"] == events[-1]["error"]["category"] == "overloaded"
    assert KEY not in str((failure.value.to_dict(), events[-1]["error"]))


def test_every_wire_is_looked_at() -> None:
    """A wire that is new has to say how its two forms differ."""
    assert {adapters.get(name).FRAMING for name in adapters.names()} == {"sse", "sse_or_array", "jsonl", "eventstream"}
    assert sorted(adapters.names()) == sorted(IN_BOTH_FORMS)


def test_a_refusal_is_one_from_its_first_word() -> None:
    answer = {
        "message": {"role": "assistant", "content": [{"type": "text", "text": "No.", "refusal": True}]},
        "finish_reason": "refusal",
    }
    read = list(read_stream(write_stream(unfold(answer), "openai_chat"), "openai_chat"))[-1]["response"]
    assert read["finish_reason"] == "refusal"
    assert read["message"]["content"][0]["refusal"] is True
