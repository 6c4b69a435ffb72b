"""The service, as its clients see it: a real server on loopback."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from client.upstream import Connection, Flood, ask, recorded, serve
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

from interlingua import registry
from interlingua.canonical import json
from interlingua.canonical.fold import fold
from interlingua.client import Bytes, Fail, Refuse, Say
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.service.server import SERVICE
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import convert

pytestmark = pytest.mark.asyncio

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
TO_OPENAI = service.Side(adapter="openai_chat")
TO_ANTHROPIC = service.Side(adapter="anthropic_messages")

RICH: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache": {"ttl": "1h"}}]},
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "thinking",
                    "text": "hm",
                    "signature": "c2ln",
                    "provider_state": {"adapter": "anthropic_messages", "provider": None},
                },
                {"type": "tool_use", "id": "tu_01", "name": "look", "input": {"n": 2**63, "x": 1.5}},
            ],
        },
        {
            "role": "tool",
            "content": [{"type": "tool_result", "tool_use_id": "tu_01", "content": [{"type": "text", "text": "seen"}]}],
            "metadata": {"parent_tool_use_id": "tu_01"},
        },
    ],
    "tools": [{"name": "look", "input_schema": {"type": "object"}}],
    "max_output_tokens": 100,
}


def details(
    error: grpc.aio.AioRpcError,
) -> tuple[error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, types.Error]:
    """What the details of a failed call say."""
    info, bad, canonical = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), types.Error()
    status = rpc_status.from_call(error)
    assert status is not None
    for detail in status.details:
        for kind in (info, bad, canonical):
            if detail.Is(kind.DESCRIPTOR):
                detail.Unpack(kind)
    return info, bad, canonical


async def failure(call: Any) -> grpc.aio.AioRpcError:
    """The error that a call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return failed.value


async def read_all(call: Any) -> tuple[list[str | None], grpc.aio.AioRpcError | None]:
    """The kinds of events of a stream, and the error that it ends with."""
    kinds: list[str | None] = []
    try:
        async for piece in call:
            kinds += [event.WhichOneof("event") for event in piece.events.events or [piece.event]]
    except grpc.aio.AioRpcError as problem:
        return kinds, problem
    return kinds, None


# ---------------------------------------------------------------------------------------------------- adapt


async def test_typed_and_text_are_the_same(start: Any) -> None:
    """A message and its JSON text give the same wire and the same report."""
    async with start() as served:
        typed = await served.stub.Adapt(
            service.AdaptRequest(request=convert.to_proto(types.Request, RICH), target=TO_OPENAI)
        )
        text = await served.stub.Adapt(
            service.AdaptRequest(request_json=json.dumps(RICH).decode(), target=TO_OPENAI, json_output=True)
        )
    assert json.loads(typed.wire_json) == json.loads(text.wire_json)
    report = [convert.from_proto(entry) for entry in typed.loss]
    assert report == json.loads(text.loss_json)
    assert {"/messages/0/content/0/cache", "/messages/2/content/0"} <= {entry["path"] for entry in report}


@pytest.mark.parametrize("side", [TO_OPENAI, TO_ANTHROPIC], ids=["openai", "anthropic"])
async def test_there_and_back(start: Any, side: service.Side) -> None:
    """A wire that is read and written again is the same wire, through the service too."""
    async with start() as served:
        there = await served.stub.Adapt(service.AdaptRequest(request_json=json.dumps(RICH).decode(), target=side))
        read = await served.stub.Adapt(
            service.AdaptRequest(wire_json=there.wire_json, kind=service.KIND_REQUEST, source=side)
        )
        again = await served.stub.Adapt(service.AdaptRequest(request=read.request, target=side))
        straight = await served.stub.Adapt(service.AdaptRequest(wire_json=there.wire_json, source=side, target=side))
    assert json.loads(again.wire_json)["body"] == json.loads(there.wire_json)["body"]
    assert json.loads(straight.wire_json)["body"] == json.loads(there.wire_json)["body"]


async def test_answers_streams_and_failures(start: Any) -> None:
    """All kinds of input, to all kinds of output."""
    frames = recorded(CLAUDE)
    async with start() as served:
        events = await served.stub.Adapt(
            service.AdaptRequest(chunks=service.Chunks(chunks=frames), source=TO_ANTHROPIC, json_output=True)
        )
        found = [json.loads(text) for text in events.events.events_json]
        assert len(events.events.completed_by) == len(found)
        assert list(events.events.completed_by) == sorted(events.events.completed_by)
        typed = await served.stub.Adapt(service.AdaptRequest(chunks=service.Chunks(chunks=frames), source=TO_ANTHROPIC))
        assert [convert.from_proto(event) for event in typed.events.events] == found
        chunks = await served.stub.Adapt(service.AdaptRequest(events=typed.events, target=TO_OPENAI))
        back = await served.stub.Adapt(service.AdaptRequest(chunks=chunks.chunks, source=TO_OPENAI, json_output=True))
        folded = fold([json.loads(text) for text in back.events.events_json])
        assert [b["type"] for b in folded["message"]["content"] if b["type"] != "thinking"] == [
            "text",
            "tool_use",
            "tool_use",
        ]
        response = found[-1]["response"]
        body = await served.stub.Adapt(
            service.AdaptRequest(response_json=json.dumps(response).decode(), target=TO_ANTHROPIC)
        )
        read = await served.stub.Adapt(
            service.AdaptRequest(
                wire_json=body.wire_json, kind=service.KIND_RESPONSE, source=TO_ANTHROPIC, json_output=True
            )
        )
        assert json.loads(read.response_json)["message"]["content"] == response["message"]["content"]
        error = await served.stub.Adapt(
            service.AdaptRequest(
                error_answer=service.ErrorAnswer(status=429, headers={"Retry-After": "3"}, body="{}"), source=TO_OPENAI
            )
        )
        assert error.error.category == types.ERROR_CATEGORY_RATE_LIMIT
        assert error.error.retry_after == 3


async def test_errors_go_from_wire_to_wire(start: Any) -> None:
    """A provider's failure for a client of another wire, of the same wire, and a failure of the gateway's own."""
    body = '{"error":{"message":"Slow down.","type":"requests","param":null,"code":"rate_limit_exceeded","odd":1}}'
    answer = service.ErrorAnswer(status=429, headers={"Retry-After": "3", "x-request-id": "req_1"}, body=body)
    async with start() as served:
        adapt = served.stub.Adapt
        there = await adapt(service.AdaptRequest(error_answer=answer, source=TO_OPENAI, target=TO_ANTHROPIC))
        assert there.error_answer.status == 429
        assert there.error_answer.headers["retry-after"] == "3"
        assert json.loads(there.error_answer.body) == {
            "type": "error",
            "error": {"type": "rate_limit_error", "message": "Slow down."},
            "request_id": "req_1",
        }
        back = await adapt(service.AdaptRequest(error_answer=answer, source=TO_OPENAI, target=TO_OPENAI))
        assert (back.error_answer.status, back.error_answer.body) == (429, body)
        own = types.Error(category=types.ERROR_CATEGORY_LOSS_REFUSED, message="too much would be lost", path="/tools/0")
        refused = await adapt(service.AdaptRequest(error=own, target=service.Side(adapter="ollama_chat")))
        assert refused.error_answer.status == 400
        assert {entry.path for entry in refused.loss} == {"/category", "/path"}
        text = await adapt(service.AdaptRequest(error_json='{"category":"timeout","message":"late"}', target=TO_OPENAI))
        assert text.error_answer.status == 408
        bad = await failure(adapt(service.AdaptRequest(error_json='{"category":7}', target=TO_OPENAI)))
        assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_what_a_provider_said_is_given_on_request(start: Any) -> None:
    """`raw` stands in no error unless it is asked for, alone or at the end of a stream."""
    answer = service.ErrorAnswer(status=400, body='{"error":{"message":"said"}}')
    chunk = b'data: {"error":{"message":"said","code":"server_error"}}\n\n'
    async with start() as served:
        for wanted in (False, True):
            alone = await served.stub.Adapt(
                service.AdaptRequest(error_answer=answer, source=TO_OPENAI, include_raw=wanted)
            )
            assert (alone.error.raw_json != "") is wanted
            stream = await served.stub.Adapt(
                service.AdaptRequest(chunks=service.Chunks(chunks=[chunk]), source=TO_OPENAI, include_raw=wanted)
            )
            assert (stream.events.events[-1].error.error.raw_json != "") is wanted
            begun = service.AdaptStreamRequest.Start(source=TO_OPENAI, include_raw=wanted)
            pieces = [service.AdaptStreamRequest(start=begun), service.AdaptStreamRequest(chunk=chunk)]
            while_it_arrives = [answer async for answer in served.stub.AdaptStream(iter(pieces))]
            assert (while_it_arrives[-1].events[-1].error.error.raw_json != "") is wanted


OFFERED = Path(__file__).parents[2] / "conformance/cases/anthropic_messages/custom-tool-called"


def offered_by(form: str) -> dict[str, Any]:
    """The request that is answered, as a message or as text."""
    text = (OFFERED / "request.canonical.json").read_text("utf-8")
    if form == "message":
        return {"answered_request": convert.to_proto(types.Request, json.loads(text))}
    return {"answered_request_json": text}


@pytest.mark.parametrize("form", ["message", "text"])
async def test_an_answer_calls_the_tools_as_its_request_offered_them(start: Any, form: str) -> None:
    """Whole, streamed, and streamed while it arrives; without the request a call is what the provider said."""
    answered = offered_by(form)
    body = (OFFERED / "response.wire.json").read_text("utf-8")
    whole: dict[str, Any] = {"wire_json": body, "kind": service.KIND_RESPONSE, "source": TO_ANTHROPIC}
    chunks = [(OFFERED / "stream.wire.sse").read_bytes()]
    begun = service.AdaptStreamRequest.Start(source=TO_ANTHROPIC, **answered)
    pieces = [service.AdaptStreamRequest(start=begun), *(service.AdaptStreamRequest(chunk=one) for one in chunks)]
    async with start() as served:
        alone = await served.stub.Adapt(service.AdaptRequest(**whole))
        beside = await served.stub.Adapt(service.AdaptRequest(**whole, **answered))
        streamed = await served.stub.Adapt(
            service.AdaptRequest(chunks=service.Chunks(chunks=chunks), source=TO_ANTHROPIC, **answered)
        )
        arrived = [event async for answer in served.stub.AdaptStream(iter(pieces)) for event in answer.events]
    names = [block.tool_use.name for block in alone.response.message.content[1:]]
    assert names == ["apply_patch", "a_b"]
    for found in (
        beside.response,
        streamed.events.events[-1].message_complete.response,
        arrived[-1].message_complete.response,
    ):
        _, patch, other = (block.tool_use for block in found.message.content)
        assert (patch.kind, patch.input_raw) == (types.TOOL_KIND_CUSTOM, '*** Begin Patch\n"é"\n*** End Patch')
        assert other.name == "a.b"


async def test_an_answer_is_spelt_as_its_client_spelt_the_tools(start: Any) -> None:
    """A client of Responses that offered a tool in a namespace is called back there."""
    side = service.Side(adapter="openai_responses")
    tool = {"type": "function", "name": "find", "parameters": {"type": "object"}}
    asked = {
        "model": "gpt-5",
        "input": "x",
        "tools": [{"type": "namespace", "name": "crm", "description": "", "tools": [tool]}],
    }
    async with start() as served:
        read = await served.stub.Adapt(
            service.AdaptRequest(wire_json=json.dumps(asked).decode(), kind=service.KIND_REQUEST, source=side)
        )
        (offered,) = read.request.tools
        called = types.ToolUseBlock(id="tu_01", name=offered.name, input_json="{}")
        message = types.Message(role=types.ROLE_ASSISTANT, content=[types.ContentBlock(tool_use=called)])
        response = types.Response(model=GPT, message=message, finish_reason=types.FINISH_REASON_TOOL_CALLS)
        written = await served.stub.Adapt(
            service.AdaptRequest(response=response, target=side, answered_request=read.request)
        )
    (item,) = json.loads(written.wire_json)["output"]
    assert (item["name"], item["namespace"]) == ("find", "crm")


async def test_what_is_no_answer_answers_no_request(start: Any) -> None:
    """A request, an error, and a request of the source's wire; a broken request is broken at its own field."""
    answered = offered_by("text")
    problem = types.Error(category=types.ERROR_CATEGORY_TIMEOUT, message="late")
    async with start() as served:
        for given in (
            service.AdaptRequest(request=convert.to_proto(types.Request, RICH), target=TO_OPENAI, **answered),
            service.AdaptRequest(error=problem, target=TO_OPENAI, **answered),
            service.AdaptRequest(wire_json="{}", kind=service.KIND_REQUEST, source=TO_OPENAI, **answered),
        ):
            info, *_ = details(await failure(served.stub.Adapt(given)))
            assert (info.reason, info.metadata["path"]) == ("invalid_request", "/answered_request")
        broken = service.AdaptRequest(
            wire_json="{}", kind=service.KIND_RESPONSE, source=TO_OPENAI, answered_request_json="[]"
        )
        info, *_ = details(await failure(served.stub.Adapt(broken)))
        assert info.reason == "invalid_request"


async def test_a_refused_loss_is_told_whole(start: Any) -> None:
    """The loss policy of the call stands over the request's; the report comes along."""
    async with start() as served:
        policy = types.LossPolicy(strict=types.LOSS_SEVERITY_LOST)
        error = await failure(
            served.stub.Adapt(
                service.AdaptRequest(request_json=json.dumps(RICH).decode(), target=TO_OPENAI, loss_policy=policy)
            )
        )
    info, _, canonical = details(error)
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert (info.reason, info.domain) == ("loss_refused", "interlingua")
    assert int(info.metadata["loss_entries"]) == len(canonical.loss) > 0


async def test_a_call_that_nobody_answered_is_closed_by_the_policy_of_the_call(start: Any) -> None:
    call = {"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}
    hello = {"role": "user", "content": [{"type": "text", "text": "Hello."}]}
    asked = json.dumps({"messages": [hello, {"role": "assistant", "content": [call]}]}).decode()
    policy = types.LossPolicy(unanswered=types.UNANSWERED_PLACEHOLDER)
    async with start() as served:
        error = await failure(served.stub.Adapt(service.AdaptRequest(request_json=asked, target=TO_OPENAI)))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        closed = await served.stub.Adapt(service.AdaptRequest(request_json=asked, target=TO_OPENAI, loss_policy=policy))
    assert [entry.code for entry in closed.loss][:1] == ["unanswered"]


async def test_a_huge_report_still_fits_the_trailer(start: Any) -> None:
    """Clients refuse metadata beyond 8 KiB: what is too long is cut, and counted."""
    message = {
        "role": "user",
        "content": [{"type": "text", "text": "x", "cache": {}}, {"type": "opaque", "adapter": "other", "value": {}}],
    }
    request = {"messages": [message] * 500, "loss_policy": {"strict": "weakened"}}
    async with start() as served:
        error = await failure(
            served.stub.Adapt(service.AdaptRequest(request_json=json.dumps(request).decode(), target=TO_OPENAI))
        )
    info, _, canonical = details(error)
    assert info.reason == "loss_refused"
    assert int(info.metadata["loss_entries"]) >= 1000 > len(canonical.loss) > 5


async def test_adapt_a_stream_while_it_arrives(start: Any) -> None:
    """Each piece is answered with what it completed, before the next is sent."""
    frames = recorded(CLAUDE)
    async with start() as served:
        call = served.stub.AdaptStream()
        await call.write(
            service.AdaptStreamRequest(
                start=service.AdaptStreamRequest.Start(source=TO_ANTHROPIC, target=TO_OPENAI, json_output=True)
            )
        )
        await call.write(service.AdaptStreamRequest(chunk=frames[0]))
        first = await asyncio.wait_for(call.read(), 5)
        assert first.completed_by == 0
        assert first.chunks
        for frame in frames[1:]:
            await call.write(service.AdaptStreamRequest(chunk=frame))
        await call.done_writing()
        chunks = list(first.chunks)
        while (piece := await call.read()) is not grpc.aio.EOF:
            chunks += piece.chunks
        at_once = await served.stub.Adapt(
            service.AdaptRequest(chunks=service.Chunks(chunks=frames), source=TO_ANTHROPIC, target=TO_OPENAI)
        )
    assert chunks == list(at_once.chunks.chunks)
    assert chunks[-1] == b"data: [DONE]\n\n"


def case_of(name: str) -> Path:
    return Path(__file__).resolve().parents[2] / "conformance" / "cases" / "anthropic_messages" / name


async def pieces_of(stream: bytes, size: int = 200, **start: Any) -> Any:
    sides = {"source": TO_ANTHROPIC, "target": TO_OPENAI, **start}
    begun = service.AdaptStreamRequest.Start(json_output=True, **sides)
    yield service.AdaptStreamRequest(start=begun)
    for place in range(0, len(stream), size):
        yield service.AdaptStreamRequest(chunk=stream[place : place + size])


@pytest.mark.parametrize("name", ["thinking-signature", "server-tool-search", "citations-answer"])
async def test_a_stream_tells_what_the_whole_answer_loses(start: Any, name: str) -> None:
    """The same report whole, streamed and while it arrives, and the same refusal."""
    stream = (case_of(name) / "stream.wire.sse").read_bytes()
    sides: dict[str, Any] = {"source": TO_ANTHROPIC, "target": TO_OPENAI, "json_output": True}
    body = (case_of(name) / "response.wire.json").read_text()
    whole = service.AdaptRequest(wire_json=body, kind=service.KIND_RESPONSE, **sides)
    at_once = service.AdaptRequest(chunks=service.Chunks(chunks=[stream]), **sides)
    policy = types.LossPolicy(strict=types.LOSS_SEVERITY_WEAKENED)
    async with start() as served:
        wanted = json.loads((await served.stub.Adapt(whole)).loss_json)
        assert wanted
        assert [entry["path"] for entry in json.loads((await served.stub.Adapt(at_once)).loss_json)] == [
            entry["path"] for entry in wanted
        ]
        answers = [answer async for answer in served.stub.AdaptStream(pieces_of(stream))]
        assert [bool(answer.loss_json) for answer in answers] == [False] * (len(answers) - 1) + [True]
        assert [entry["path"] for entry in json.loads(answers[-1].loss_json)] == [entry["path"] for entry in wanted]
        for one in (whole, at_once):
            one.loss_policy.CopyFrom(policy)
            info, _, _ = details(await failure(served.stub.Adapt(one)))
            assert (info.reason, info.metadata["adapter"]) == ("loss_refused", "openai_chat")
        call = served.stub.AdaptStream(pieces_of(stream, len(stream), loss_policy=policy))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            _ = [answer async for answer in call]
        info, _, canonical = details(refused.value)
        assert (info.reason, refused.value.code()) == ("loss_refused", grpc.StatusCode.FAILED_PRECONDITION)
        assert canonical.loss


@pytest.mark.parametrize("name", ["stream-error-midway", "stream-cut-off"])
async def test_a_stream_that_fails_tells_what_its_error_loses(start: Any, name: str) -> None:
    """With the message that holds the error, and refused by a policy that forbids it; the same for an error alone."""
    stream = (case_of(name) / "stream.wire.sse").read_bytes()
    sides: dict[str, Any] = {"source": TO_ANTHROPIC, "target": service.Side(adapter="ollama_chat"), "json_output": True}
    error = '{"category": "overloaded", "message": "no room", "request_id": "req_7"}'
    alone = service.AdaptRequest(error_json=error, target=sides["target"], json_output=True)
    policy = types.LossPolicy(strict=types.LOSS_SEVERITY_WEAKENED)
    async with start() as served:
        answers = [answer async for answer in served.stub.AdaptStream(pieces_of(stream, target=sides["target"]))]
        paths = [entry["path"] for entry in json.loads(answers[-1].loss_json)]
        assert "/error/category" in paths
        at_once = service.AdaptRequest(chunks=service.Chunks(chunks=[stream]), **sides)
        assert [entry["path"] for entry in json.loads((await served.stub.Adapt(at_once)).loss_json)] == paths
        assert "/request_id" in (await served.stub.Adapt(alone)).loss_json
        for one in (at_once, alone):
            one.loss_policy.CopyFrom(policy)
            assert details(await failure(served.stub.Adapt(one)))[0].reason == "loss_refused"


@pytest.mark.parametrize("count", [1, 500])
async def test_a_client_that_is_still_sending_gets_the_refusal(
    start: Any, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that writes while the status arrives loses it (grpc#36066): what it is just sending is taken first.

    On a busy machine a client may be stopped between two pieces for longer than the pause that the server waits for."""
    monkeypatch.setattr("interlingua.service.methods._PAUSE_S", 60)
    monkeypatch.setattr("interlingua.service.methods._PATIENCE_S", 60)
    stream = (case_of("thinking-signature") / "stream.wire.sse").read_bytes()
    policy = types.LossPolicy(strict=types.LOSS_SEVERITY_WEAKENED)

    async def pieces() -> Any:
        async for piece in pieces_of(stream, 20, loss_policy=policy):
            yield piece
        for _ in range(count):
            yield service.AdaptStreamRequest(chunk=b": ping\n\n" * 200)

    async def no_start() -> Any:
        for _ in range(count):
            yield service.AdaptStreamRequest(chunk=b": ping\n\n")

    async with start() as served:
        for _ in range(10):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                _ = [answer async for answer in served.stub.AdaptStream(pieces())]
            assert details(refused.value)[0].reason == "loss_refused"
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                _ = [answer async for answer in served.stub.AdaptStream(no_start())]
            assert details(refused.value)[0].reason == "invalid_request"


async def test_a_client_that_never_stops_sending_is_refused_all_the_same(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlingua.service.methods._PATIENCE_S", 0.2)

    async def pieces() -> Any:
        while True:
            yield service.AdaptStreamRequest(chunk=b": ping\n\n" * 200)

    async with start() as served:
        with pytest.raises(grpc.aio.AioRpcError):
            async with asyncio.timeout(10):
                _ = [answer async for answer in served.stub.AdaptStream(pieces())]


async def test_a_stream_that_breaks_off_says_so(start: Any) -> None:
    """Closing the sending side too early gives an error event with what had arrived."""

    async def pieces() -> Any:
        yield service.AdaptStreamRequest(start=service.AdaptStreamRequest.Start(source=TO_ANTHROPIC))
        for frame in recorded(CLAUDE)[:8]:
            yield service.AdaptStreamRequest(chunk=frame)

    async with start() as served:
        answers = [answer async for answer in served.stub.AdaptStream(pieces())]
    last = answers[-1].events[-1]
    assert last.WhichOneof("event") == "error"
    assert last.error.error.category == types.ERROR_CATEGORY_STREAM_TRUNCATED
    assert last.error.response.message.content
    assert answers[-1].completed_by == 8


# ---------------------------------------------------------------------------------------------------- bad input

DEEP = "[" * 1_000 + "]" * 1_000
BAD_REQUESTS = {
    "no input": service.AdaptRequest(),
    "no json": service.AdaptRequest(request_json="{"),
    "a list": service.AdaptRequest(request_json="[]"),
    "nan": service.AdaptRequest(request_json='{"messages": [], "temperature": NaN}'),
    "1e400": service.AdaptRequest(request_json='{"messages": [], "temperature": 1e400}'),
    "lone surrogate": service.AdaptRequest(request_json='{"messages": [], "model": "\\ud800"}'),
    "nested": service.AdaptRequest(request_json=DEEP),
    "typed nan": service.AdaptRequest(request=types.Request(temperature=float("nan"))),
    "typed bad json": service.AdaptRequest(request=types.Request(metadata_json="{")),
    "no role": service.AdaptRequest(request=types.Request(messages=[types.Message()])),
    "no arm": service.AdaptRequest(
        request=types.Request(messages=[types.Message(role=types.ROLE_USER, content=[types.ContentBlock()])])
    ),
    "unknown adapter": service.AdaptRequest(request_json='{"messages": []}', target=service.Side(adapter="none")),
    "unknown provider": service.AdaptRequest(request_json='{"messages": []}', target=service.Side(provider="none")),
    "source for canonical": service.AdaptRequest(request_json='{"messages": []}', source=TO_OPENAI),
    "wire without source": service.AdaptRequest(wire_json="{}"),
    "wire of a list": service.AdaptRequest(wire_json="[]", source=TO_OPENAI),
    "empty wire": service.AdaptRequest(wire_json="{}", source=TO_OPENAI),
    "wrong wire": service.AdaptRequest(wire_json='{"messages": {"a": 1}}', source=TO_ANTHROPIC),
    "kind of a later version": service.AdaptRequest(wire_json="{}", source=TO_OPENAI, kind=99),
    "bad base64": service.AdaptRequest(
        request_json='{"messages":[{"role":"user","content":[{"type":"image","source":{"kind":"base64","data":"%%"}}]}]}'
    ),
    "bad event": service.AdaptRequest(events=service.Events(events_json=['{"type": "text_delta"}'])),
    "bad policy": service.AdaptRequest(request_json='{"messages": []}', loss_policy=types.LossPolicy(strict=77)),
}


@pytest.mark.parametrize("name", BAD_REQUESTS)
async def test_bad_input_is_the_callers_fault(start: Any, name: str) -> None:
    """INVALID_ARGUMENT with details, and the server goes on."""
    async with start() as served:
        error = await failure(served.stub.Adapt(BAD_REQUESTS[name]))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, (error.code(), error.details())
        info, bad, _ = details(error)
        assert info.reason == "invalid_request"
        assert bad.field_violations
        assert (await served.stub.ListModels(service.ListModelsRequest())).models


async def test_deep_nesting_where_it_is_allowed(start: Any) -> None:
    """A result or a typed error, however the value comes in."""
    deep = '{"a": ' * 1_000 + "1" + "}" * 1_000
    block = '{"type": "tool_use", "id": "tu_01", "name": "t", "input": ' + deep + "}"
    messages = '"messages": [{"role": "assistant", "content": [' + block + "]}]"
    request = "{" + messages + "}"
    typed = types.Request(
        messages=[
            types.Message(
                role=types.ROLE_ASSISTANT,
                content=[types.ContentBlock(tool_use=types.ToolUseBlock(id="tu_01", name="t", input_json=deep))],
            )
        ]
    )
    wire = '{"model": "m", "max_tokens": 1, ' + messages + "}"
    function = {"name": "t", "arguments": deep}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    openai = json.dumps({"model": "m", "messages": [call]}).decode()
    async with start() as served:
        for side in (TO_OPENAI, TO_ANTHROPIC):
            for given in (
                service.AdaptRequest(request_json=request, target=side),
                service.AdaptRequest(request=typed, target=side),
                service.AdaptRequest(request=typed),
                service.AdaptRequest(wire_json=wire, source=TO_ANTHROPIC, target=side),
                service.AdaptRequest(wire_json=openai, source=TO_OPENAI, target=side),
                service.AdaptRequest(wire_json=openai, source=TO_OPENAI, json_output=True),
                service.AdaptRequest(wire_json=openai, source=TO_OPENAI),
            ):
                try:
                    await served.stub.Adapt(given)
                except grpc.aio.AioRpcError as problem:
                    assert problem.code() is grpc.StatusCode.INVALID_ARGUMENT, problem.details()  # noqa: PT017


async def test_a_message_is_checked_like_its_text(start: Any) -> None:
    async with start() as served:
        typed = await served.stub.Check(service.CheckRequest(message=types.Message(role=types.ROLE_USER)))
        text = await served.stub.Check(
            service.CheckRequest(value_json='{"role": "user", "content": []}', type="Message")
        )
    assert [one.rule for one in typed.violations] == [one.rule for one in text.violations] == ["content_not_empty"]


async def test_a_field_that_a_client_sets_is_what_is_carried(start: Any) -> None:
    """A message that was read with a null, edited and sent back; and one that says two things (spec 9.1, rest-json)."""
    answer = (
        '{"message": {"role": "assistant", "content": []}, "finish_reason": "stop_sequence", "stop_sequence": null}'
    )
    async with start() as served:
        read = await served.stub.Adapt(service.AdaptRequest(response_json=answer))
        edited = read.response
        assert edited.rest_json == '{"stop_sequence":null}'
        edited.stop_sequence = "END"
        carried = await served.stub.Adapt(service.AdaptRequest(response=edited, target=TO_ANTHROPIC))
        assert json.loads(carried.wire_json)["stop_sequence"] == "END"
        edited.rest_json = '{"stop_sequence": "STOP"}'
        refused = await failure(served.stub.Adapt(service.AdaptRequest(response=edited, target=TO_ANTHROPIC)))
    assert refused.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert details(refused)[0].metadata["path"] == "/rest_json/stop_sequence"


async def test_a_body_may_have_a_member_that_a_wire_request_has(start: Any) -> None:
    """`wire_json` is a whole request only when it holds both, path and body."""
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "body": 1}
    given = service.AdaptRequest(wire_json=json.dumps(body).decode(), source=TO_OPENAI, json_output=True)
    async with start() as served:
        read = json.loads((await served.stub.Adapt(given)).request_json)
    assert read["options"] == {"openai_chat": {"body": 1}}


async def test_a_moment_out_of_range_is_refused(start: Any) -> None:
    given = service.EstimateRequest(usage_json='{"input_tokens": 1, "output_tokens": 1}', model=GPT)
    given.at.seconds = -(1 << 40)
    async with start() as served:
        assert details(await failure(served.stub.Estimate(given)))[0].metadata["path"] == "/at"


async def test_models_are_listed_with_their_aliases(start: Any) -> None:
    async with start() as served:
        models = (await served.stub.ListModels(service.ListModelsRequest())).models
    aliases = {alias: spec for alias, spec in registry.default().aliases.items() if "," not in spec}
    named = {alias: model.id for model in models for alias in model.aliases}
    assert named and named.items() <= aliases.items()


async def test_violations_have_pointers(start: Any) -> None:
    """Where it is wrong, for text and for messages."""
    async with start() as served:
        error = await failure(
            served.stub.Adapt(
                service.AdaptRequest(request_json='{"messages":[{"role":"user","content":[{"type":"text"}]}]}')
            )
        )
        assert [v.field for v in details(error)[1].field_violations] == ["/messages/0/content/0"]
        error = await failure(served.stub.Adapt(BAD_REQUESTS["no arm"]))
        assert [v.field for v in details(error)[1].field_violations] == ["/messages/0/content/0"]


async def test_a_wrong_field_of_a_call_is_named(start: Any) -> None:
    """Also one that is not looked at before all else is read."""
    empty, nobody = '{"messages": []}', service.Side(provider="nobody")
    nowhere = service.AdaptStreamRequest.Start(source=TO_OPENAI, target=service.Side(adapter="none"))
    usage = '{"input_tokens": 1, "output_tokens": 1}'
    async with start() as served:
        stub = served.stub
        calls: list[tuple[str, Any]] = [
            ("/source", stub.Adapt(service.AdaptRequest(wire_json="{}", source=nobody))),
            ("/target", stub.Adapt(service.AdaptRequest(request_json=empty, target=nobody))),
            ("/wire_json", stub.Adapt(service.AdaptRequest(wire_json="{", source=TO_OPENAI))),
            ("/request_json", stub.Adapt(service.AdaptRequest(request_json="{"))),
            ("/response_json", stub.Adapt(service.AdaptRequest(response_json="{"))),
            ("/error_json", stub.Adapt(service.AdaptRequest(error_json="{"))),
            ("/event_json", stub.Adapt(service.AdaptRequest(events=service.Events(events_json=["{"])))),
            ("/target", stub.AdaptStream(iter([service.AdaptStreamRequest(start=nowhere)])).read()),
            ("/target", stub.Generate(service.GenerateRequest(request_json=empty, target="nobody:x"))),
            ("/model", stub.Generate(service.GenerateRequest(request_json='{"messages": [], "model": "gpt"}'))),
            ("/adapter", stub.Generate(service.GenerateRequest(request_json=empty, target=GPT, adapter="none"))),
            ("/adapter", stub.Estimate(service.EstimateRequest(request_json=empty, model=GPT, adapter="none"))),
            ("/model", stub.Estimate(service.EstimateRequest(request_json=empty, model="nobody:x"))),
            ("/model", stub.Estimate(service.EstimateRequest(usage_json=usage, model="nobody:x"))),
            ("/usage_json", stub.Estimate(service.EstimateRequest(usage_json="{", model=GPT))),
            ("/value_json", stub.Check(service.CheckRequest(value_json="{"))),
            ("/profile", stub.Check(service.CheckRequest(value_json=empty, profile="none"))),
            ("/provider", stub.ListModels(service.ListModelsRequest(provider="nobody"))),
        ]
        for field, call in calls:
            info, bad, _ = details(await failure(call))
            assert (info.metadata["path"], [one.field for one in bad.field_violations]) == (field, [field])


async def test_bad_input_on_every_method(start: Any) -> None:
    """No method answers nonsense with UNKNOWN."""
    nonsense = "[" * 70_000
    async with start() as served:
        calls = [
            served.stub.Route(service.RouteRequest()),
            served.stub.Route(service.RouteRequest(request_json=nonsense)),
            served.stub.Route(service.RouteRequest(request_json='{"messages": []}', policy_json="[]")),
            served.stub.Route(service.RouteRequest(request_json='{"messages": []}', registry_json='{"providers": 3}')),
            served.stub.Route(service.RouteRequest(request_json='{"messages": []}', health_json='"x"')),
            served.stub.Generate(service.GenerateRequest()),
            served.stub.Generate(service.GenerateRequest(request_json="null")),
            served.stub.Generate(service.GenerateRequest(request_json='{"messages": []}', target="a,,b")),
            served.stub.GenerateStream(service.GenerateStreamRequest()).read(),
            served.stub.GenerateStream(service.GenerateStreamRequest(request_json="{}", target=GPT)).read(),
            served.stub.AdaptStream(iter([])).read(),
            served.stub.AdaptStream(iter([service.AdaptStreamRequest(chunk=b"x")])).read(),
            served.stub.Estimate(service.EstimateRequest()),
            served.stub.Estimate(service.EstimateRequest(request_json='{"messages": []}')),
            served.stub.Estimate(service.EstimateRequest(usage_json='{"input_tokens": -1}', model=GPT)),
            served.stub.Estimate(
                service.EstimateRequest(usage_json='{"input_tokens":1,"output_tokens":1}', price_json="3")
            ),
            served.stub.Check(service.CheckRequest()),
            served.stub.Check(service.CheckRequest(value_json="{}", type="Nothing")),
            served.stub.Check(service.CheckRequest(value_json='{"messages": []}', profile="none")),
            served.stub.ListModels(service.ListModelsRequest(provider="none")),
        ]
        for position, call in enumerate(calls):
            error = await failure(call)
            assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, (position, error.code(), error.details())


async def test_what_is_missing_is_named(start: Any) -> None:
    """Where one of several fields has to be set, the error lists them."""
    async with start() as served:
        adapt = await failure(served.stub.Adapt(service.AdaptRequest()))
        estimate = await failure(served.stub.Estimate(service.EstimateRequest()))
        check = await failure(served.stub.Check(service.CheckRequest()))
    assert "set one of request, response, request_json" in (adapt.details() or "")
    assert "usage_json" in (estimate.details() or "")
    assert "value_json" in (check.details() or "")


async def test_bytes_that_are_no_message(start: Any) -> None:
    """Even what cannot be parsed at all leaves the server standing."""
    async with start() as served:
        call = served.channel.unary_unary(f"/{SERVICE}/Adapt")
        error = await failure(call(b"\xff\xff\xff\xff"))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        stream = served.channel.stream_stream(f"/{SERVICE}/AdaptStream")
        error = await failure(stream(iter([b"\xff"])).read())
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert (await served.stub.ListModels(service.ListModelsRequest())).models


async def test_large_messages(start: Any) -> None:
    """Ten megabytes pass; beyond the limit the call is refused, and the server goes on."""
    picture = {"type": "image", "source": {"kind": "base64", "data": "AAAA" * 2_600_000}, "media_type": "image/png"}
    request = json.dumps({"messages": [{"role": "user", "content": [picture]}]}).decode()
    async with start(max_message_bytes=12 << 20) as served:
        answer = await served.stub.Adapt(service.AdaptRequest(request_json=request, target=TO_OPENAI))
        assert len(answer.wire_json) > 10_000_000
        error = await failure(served.stub.Adapt(service.AdaptRequest(request_json=request + " " * (3 << 20))))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert (await served.stub.ListModels(service.ListModelsRequest())).models


# ---------------------------------------------------------------------------------------------------- generate


@pytest.mark.parametrize("model", [CLAUDE, GPT])
async def test_generate(start: Any, model: str) -> None:
    """A priced answer, typed or as text, with the model that was named."""
    async with start(Say("Hello"), Say("Hello")) as served:
        request = json.dumps(ask()).decode()
        typed = await served.stub.Generate(service.GenerateRequest(request_json=request, target=model))
        text = await served.stub.Generate(
            service.GenerateRequest(request_json=request, target=model, json_output=True, include_raw=True)
        )
    assert typed.response.message.content[0].text.text == "Hello"
    assert typed.response.usage.cost_usd
    assert not typed.HasField("decision")
    response = json.loads(text.response_json)
    assert response["raw"]["model"] == model.partition(":")[2]
    assert response["message"]["metadata"]["routing"]["mode"] == "manual"


async def test_generate_routes(start: Any) -> None:
    """Without a model the policy decides, says so, and the chain is the fail-over."""
    async with start(Refuse(503), Say("Hello"), Say("Hi")) as served:
        request = json.dumps(ask("@openai:gpt-4.1 hello")).decode()
        plain = json.dumps(ask()).decode()
        first = await served.stub.Generate(service.GenerateRequest(request_json=plain))
        pieces = [
            piece async for piece in served.stub.GenerateStream(service.GenerateStreamRequest(request_json=request))
        ]
        sent = served.fake.sent[-1].request["messages"][-1]["content"][0]["text"]
    assert first.decision.chosen_model == CLAUDE
    assert [target.model for target in first.response.skipped] == [CLAUDE]
    assert first.response.model == GPT
    assert first.response.message.metadata.routing.chosen_model == GPT
    assert pieces[0].decision.chosen_model == GPT
    assert pieces[0].decision.mode == types.ROUTING_MODE_OVERRIDE
    assert sent == "hello"


async def test_generate_by_a_chain_in_the_request(start: Any) -> None:
    """`request.model` may be a chain, like `target`; a name in it that is not known is the one that the error names."""
    async with start(Refuse(503), Say("Hello"), Refuse(503), Say("Hello")) as served:
        chain = json.dumps(ask(model=f"{GPT},{CLAUDE}")).decode()
        first = await served.stub.Generate(service.GenerateRequest(request_json=chain))
        stream = served.stub.GenerateStream(service.GenerateStreamRequest(request_json=chain))
        last = [piece async for piece in stream][-1]
        unknown = json.dumps(ask(model=f"{GPT},nope")).decode()
        error = await failure(served.stub.Generate(service.GenerateRequest(request_json=unknown)))
    assert first.response.requested_model == last.event.message_complete.response.requested_model == CLAUDE
    assert "'nope'" in (error.details() or "")
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_refusal_leads_on_when_the_policy_says_so(start: Any) -> None:
    """With `fail_over_on`, for models that the policy chose and for those that the caller named."""
    policy = json.dumps({"fail_over_on": ["refusal"], "global": {"default": f"{GPT},{CLAUDE}"}}).decode()
    no = Say("No.", finish_reason="content_filter")
    async with start(no, Say("Hello"), no, Say("Hello"), no) as served:
        request = json.dumps(ask()).decode()
        for target in ("", f"{GPT},{CLAUDE}"):
            answer = await served.stub.Generate(
                service.GenerateRequest(request_json=request, target=target, policy_json=policy)
            )
            assert answer.response.requested_model == CLAUDE
            assert [skipped.reason for skipped in answer.response.skipped] == ["refusal"]
        answer = await served.stub.Generate(service.GenerateRequest(request_json=request, target=f"{GPT},{CLAUDE}"))
        assert answer.response.requested_model == GPT


async def test_each_generate_publishes_one_decision(start: Any) -> None:
    """Routed or named, unary or streamed, well ended or not; and the other methods none."""
    seen: list[Any] = []
    async with start(Say("x"), Say("x"), Refuse(400)) as served:
        served.running.events.subscribe(seen.append)
        request = json.dumps(ask()).decode()
        await served.stub.Generate(service.GenerateRequest(request_json=request))
        stream = served.stub.GenerateStream(service.GenerateStreamRequest(request_json=request, target=GPT))
        assert [piece async for piece in stream]
        await failure(served.stub.Generate(service.GenerateRequest(request_json=request, target=GPT)))
        await served.stub.Route(service.RouteRequest(request_json=request))
        with_unknown = service.GenerateRequest(request_json=request, target="nope")
        await failure(served.stub.Generate(with_unknown))
    assert [event["payload"]["chosen_model"] for event in seen] == [CLAUDE, GPT, GPT]
    assert {event["type"] for event in seen} == {"route.decided"}


async def test_generate_stream(start: Any) -> None:
    """Events one by one; the buffered view shows no fragment of JSON."""
    step = Say("one two", calls=[("look", {"at": "it"})])
    async with start(step, step) as served:
        request = json.dumps(ask()).decode()
        typed = [
            piece.event.WhichOneof("event")
            async for piece in served.stub.GenerateStream(
                service.GenerateStreamRequest(request_json=request, target=GPT)
            )
        ]
        buffered = [
            json.loads(piece.event_json)["type"]
            async for piece in served.stub.GenerateStream(
                service.GenerateStreamRequest(request_json=request, target=GPT, buffered=True, json_output=True)
            )
        ]
    assert (typed[0], typed[-1]) == ("message_start", "message_complete")
    assert {"text_delta", "tool_use_start", "tool_use_input_delta", "tool_use_end"} <= set(typed)
    assert buffered == ["text_delta", "text_delta", "tool_use_end", "message_complete"]


async def test_a_batched_stream(start: Any) -> None:
    """The same events, those that arrived together in one message; as text and in the buffered view as well."""
    frames = recorded(CLAUDE)
    packets = [b"".join(frames[at : at + 4]) for at in range(0, len(frames), 4)]
    request = json.dumps(ask()).decode()

    async with start(*[Bytes(packets)] * 5) as served:

        async def pieces(**members: Any) -> list[service.GenerateStreamResponse]:
            asked = service.GenerateStreamRequest(request_json=request, target=CLAUDE, **members)
            return [piece async for piece in served.stub.GenerateStream(asked)]

        def plain(events: Any) -> list[Any]:
            data = [convert.from_proto(event) for event in events]
            for event in data:
                event.pop("message_id", None)
                if "response" in event:  # ids and times differ
                    event["response"] = event["response"]["message"]["content"]
            return data

        alone = await pieces()
        together = await pieces(batched=True)
        texts = await pieces(batched=True, json_output=True)
        view = await pieces(buffered=True)
        view_together = await pieces(buffered=True, batched=True)
    assert plain(event for piece in together for event in piece.events.events) == plain(piece.event for piece in alone)
    assert plain(event for piece in view_together for event in piece.events.events) == plain(
        piece.event for piece in view
    )
    assert {piece.WhichOneof("piece") for piece in [*together, *texts, *view_together]} == {"events"}
    assert len(together) <= len(packets) < len(alone)
    assert [len(piece.events.events_json) for piece in texts] == [len(piece.events.events) for piece in together]
    assert json.loads(texts[0].events.events_json[0])["type"] == "message_start"
    assert all(piece.events.events for piece in view_together)


async def test_a_batched_stream_that_breaks_off(start: Any) -> None:
    """What had arrived comes first, then the error, then the status of the call."""
    frames = recorded(CLAUDE)
    async with start(Bytes([b"".join(frames[:6])], breaks="network")) as served:
        asked = service.GenerateStreamRequest(request_json=json.dumps(ask()).decode(), target=CLAUDE, batched=True)
        events, problem = await read_all(served.stub.GenerateStream(asked))
    assert (events[0], events[-1], events.count("error")) == ("message_start", "error", 1)
    assert problem is not None
    assert problem.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_model_that_fails_is_put_into_cooldown(start: Any) -> None:
    """The server remembers who failed, routes around it, says so, and tells every attempt."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    members = {"retry": "standard", "sleep": sleep}
    request = json.dumps(ask()).decode()
    async with start(Refuse(503), Refuse(503), Say("Hello"), Say("Hi"), members=members) as served:
        first = await served.stub.Generate(service.GenerateRequest(request_json=request))
        asked = await served.stub.Route(service.RouteRequest(request_json=request))
        well = await served.stub.Route(service.RouteRequest(request_json=request, health_json='{"models": {}}'))
        second = await served.stub.Generate(service.GenerateRequest(request_json=request))
    assert [attempt.model for attempt in first.response.attempts] == [CLAUDE, CLAUDE]
    assert [attempt.category for attempt in first.response.attempts] == [types.ERROR_CATEGORY_OVERLOADED] * 2
    assert first.response.attempts[0].waited == slept[0]
    assert (asked.decision.chosen_model, well.decision.chosen_model) == (GPT, CLAUDE)
    assert asked.decision.chain[-2].validation_failure == "provider_unavailable"
    assert second.decision.chosen_model == GPT
    assert not second.response.skipped


@pytest.mark.parametrize(
    ("step", "code", "reason"),
    [
        (Refuse(429, {}, {"retry-after": "2"}), grpc.StatusCode.RESOURCE_EXHAUSTED, "rate_limit"),
        (Refuse(401, {}), grpc.StatusCode.UNAUTHENTICATED, "authentication"),
        (Refuse(404, {}), grpc.StatusCode.NOT_FOUND, "not_found"),
        (Refuse(503, b"<html>", {"content-type": "text/html"}), grpc.StatusCode.UNAVAILABLE, None),
        (Fail("network"), grpc.StatusCode.UNAVAILABLE, "network"),
        (Fail("timeout"), grpc.StatusCode.DEADLINE_EXCEEDED, "timeout"),
        (Bytes([b"<html>"], headers={"content-type": "text/html"}), grpc.StatusCode.INTERNAL, "invalid_response"),
    ],
)
async def test_failures_of_providers(start: Any, step: Any, code: grpc.StatusCode, reason: str | None) -> None:
    """Each category has its status, and names the provider."""
    async with start(step, step) as served:
        request = json.dumps(ask()).decode()
        unary = await failure(served.stub.Generate(service.GenerateRequest(request_json=request, target=GPT)))
        stream = await failure(
            served.stub.GenerateStream(service.GenerateStreamRequest(request_json=request, target=GPT)).read()
        )
    for error in (unary, stream):
        info, _, canonical = details(error)
        assert error.code() is code
        assert reason in (info.reason, None)
        assert info.metadata["provider"] == canonical.provider == "openai"
        if reason == "rate_limit":
            assert (info.metadata["retryable"], canonical.retry_after) == ("true", 2)


def refusal(status: int, message: str, **more: Any) -> Refuse:
    return Refuse(status, {"error": {"message": message, "type": "invalid_request_error", "code": "no", **more}})


async def refused(served: Any, **more: Any) -> list[types.Error]:
    """The canonical errors in the details of a refused call, whole and streamed."""
    request = json.dumps(ask()).decode()
    unary = served.stub.Generate(service.GenerateRequest(request_json=request, target=GPT, **more))
    stream = served.stub.GenerateStream(service.GenerateStreamRequest(request_json=request, target=GPT, **more)).read()
    errors = [await failure(unary), await failure(stream)]
    assert all("no" in (error.details() or "") for error in errors)
    assert not any("diary" in (error.details() or "") for error in errors), "the text of a status ends in logs"
    return [details(error)[2] for error in errors]


async def test_what_a_provider_said_comes_to_whoever_asked(start: Any) -> None:
    """Its words by default, its body on request; words about the key of the server on request alone."""
    words, about_the_key = "cannot parse my diary", "key of the account of my diary"
    step, operators = refusal(400, words), refusal(401, about_the_key)
    async with start(*[step] * 4, *[operators] * 4) as served:
        for canonical in await refused(served):
            assert (canonical.provider_message, canonical.raw_json) == (words, "")
        for canonical in await refused(served, include_raw=True):
            assert (canonical.provider_message, json.loads(canonical.raw_json)) == (words, step.body)
        for canonical in await refused(served):
            assert (canonical.HasField("provider_message"), canonical.raw_json) == (False, "")
        for canonical in await refused(served, include_raw=True):
            assert (canonical.provider_message, json.loads(canonical.raw_json)) == (about_the_key, operators.body)


@pytest.mark.parametrize(("length", "most"), [(1_500, 1_500), (1_900, 500), (100_000, 500)])
async def test_long_words_are_cut_to_the_room_there_is(start: Any, length: int, most: int) -> None:
    """The canonical error comes whatever its provider said; what has no room is left out, the body first."""
    step = refusal(400, "ж" * length, param="messages[0]", notes="x" * 9_000)
    async with start(step, step) as served:
        for canonical in await refused(served, include_raw=True):
            assert canonical.raw_json == ""
            assert most <= len(canonical.provider_message) <= length
            assert canonical.path == "/messages/0"


@pytest.mark.parametrize("after", ["1e20", "99999999999999999999"])
async def test_a_wait_beyond_all_clocks_is_told(start: Any, after: str) -> None:
    """What a provider says of its rest never makes a status of no category."""
    async with start(Refuse(429, {}, {"retry-after": after})) as served:
        request = json.dumps(ask()).decode()
        error = await failure(served.stub.Generate(service.GenerateRequest(request_json=request, target=GPT)))
    info, _, canonical = details(error)
    assert (error.code(), info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "rate_limit")
    assert canonical.retry_after == 1e20


async def test_a_truncated_stream_ends_with_an_error_event_and_its_status(start: Any) -> None:
    """Never a clean finish."""
    async with start(Bytes(recorded(CLAUDE)[:9])) as served:
        call = served.stub.GenerateStream(
            service.GenerateStreamRequest(request_json=json.dumps(ask()).decode(), target=CLAUDE)
        )
        kinds, error = await read_all(call)
    assert kinds[-1] == "error"
    assert error is not None
    assert error.code() is grpc.StatusCode.ABORTED
    assert details(error)[0].reason == "stream_truncated"


async def test_cancel_and_deadline_reach_the_provider(start: Any) -> None:
    """A client that goes away, or has no more time, closes the connection to the provider."""
    gone: asyncio.Queue[bool] = asyncio.Queue()

    async def dripping(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(recorded(GPT)[0])
        await gone.put(await connection.gone())

    async with (
        serve(dripping) as upstream,
        start(transport=HttpxTransport(), base_urls={"openai": upstream.url}) as served,
    ):
        request = service.GenerateStreamRequest(request_json=json.dumps(ask()).decode(), target=GPT)
        call = served.stub.GenerateStream(request)
        await call.read()
        call.cancel()
        assert await asyncio.wait_for(gone.get(), 5)
        call = served.stub.GenerateStream(request, timeout=0.4)
        _, error = await read_all(call)
        assert error is not None
        assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert await asyncio.wait_for(gone.get(), 5)
        unary = served.stub.Generate(
            service.GenerateRequest(request_json=request.request_json, target=GPT), timeout=0.4
        )
        assert (await failure(unary)).code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert await asyncio.wait_for(gone.get(), 5)


async def test_a_stalled_client_stalls_the_provider(start: Any) -> None:
    """Back-pressure from end to end."""
    flood = Flood(GPT)
    async with (
        serve(flood) as upstream,
        start(transport=HttpxTransport(), base_urls={"openai": upstream.url}) as served,
    ):
        call = served.stub.GenerateStream(
            service.GenerateStreamRequest(request_json=json.dumps(ask()).decode(), target=GPT)
        )
        await call.read()
        assert await flood.settled()
        call.cancel()


# ---------------------------------------------------------------------------------------------------- the rest


async def test_route(start: Any) -> None:
    """The decision, its chain, the candidates with loss, tokens and cost; and it can be replayed."""
    async with start() as served:
        request = service.RouteRequest(request_json=json.dumps(RICH).decode(), with_candidates=True)
        request.now.FromJsonString("2026-11-21T12:00:00Z")
        answer = await served.stub.Route(request)
        again = await served.stub.Route(request)
        none = await failure(
            served.stub.Route(
                service.RouteRequest(request_json=json.dumps(RICH).decode(), policy_json='{"version": 1}')
            )
        )
    assert answer.decision.chosen_model == CLAUDE
    assert list(answer.decision.fallbacks) == [GPT]
    assert [entry.slot for entry in answer.decision.chain] == list(range(1, 8))
    assert answer.decision.chain[-1].verdict == service.VERDICT_CHOSE
    assert again.decision_json == answer.decision_json
    by_model = {candidate.model: candidate for candidate in answer.candidates}
    assert list(by_model) == [CLAUDE, GPT]
    assert by_model[GPT].worst_loss == types.LOSS_SEVERITY_LOST
    assert by_model[CLAUDE].worst_loss < types.LOSS_SEVERITY_LOST
    assert by_model[GPT].cost.likely_usd
    assert none.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert details(none)[0].reason == "no_candidate"


async def test_estimate(start: Any) -> None:
    """Tokens and money before, exact money after; unpriced is absent, never 0."""
    async with start() as served:
        before = await served.stub.Estimate(
            service.EstimateRequest(request_json=json.dumps(RICH).decode(), model=CLAUDE)
        )
        usage = types.Usage(input_tokens=8, output_tokens=42)
        request = service.EstimateRequest(usage=usage, model=CLAUDE)
        request.at.FromJsonString("2026-06-01T00:00:00Z")
        after = await served.stub.Estimate(request)
        unpriced = await served.stub.Estimate(service.EstimateRequest(usage=usage, model="openrouter:something"))
        given = await served.stub.Estimate(
            service.EstimateRequest(usage=usage, price_json='{"input_per_mtok_usd": "1", "output_per_mtok_usd": "0.5"}')
        )
    assert before.tokens.low <= before.tokens.likely <= before.tokens.high
    assert before.cost.high_usd
    assert (after.cost.likely_usd, after.cost.pricing_version) == ("0.000654", "2026-05-08")
    assert not unpriced.HasField("cost")
    assert given.cost.low_usd == "0.000029"


async def test_check_and_models(start: Any) -> None:
    """Broken rules are an answer; models are sorted and priced."""
    orphan = {"messages": [RICH["messages"][3]]}
    async with start() as served:
        fine = await served.stub.Check(service.CheckRequest(request=convert.to_proto(types.Request, RICH)))
        broken = await served.stub.Check(service.CheckRequest(value_json=json.dumps(orphan).decode()))
        models = (await served.stub.ListModels(service.ListModelsRequest(provider="openai"))).models
    assert not fine.violations
    assert broken.violations[0].path.startswith("/messages/0")
    assert [model.id for model in models] == sorted(model.id for model in models)
    assert {model.provider for model in models} == {"openai"}
    assert json.loads(next(model for model in models if model.id == GPT).price_json)["version"]


async def test_health_and_reflection(start: Any) -> None:
    """What load balancers and people with a shell ask for."""
    async with start() as served:
        health = health_pb2_grpc.HealthStub(served.channel)
        for name in ("", SERVICE):
            answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        reflection = reflection_pb2_grpc.ServerReflectionStub(served.channel)
        asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
        names = [
            item.name
            async for answer in reflection.ServerReflectionInfo(asked)
            for item in answer.list_services_response.service
        ]
        assert SERVICE in names


async def test_a_draining_server_finishes_what_runs(start: Any) -> None:
    """NOT_SERVING first; running streams come to their end."""
    async with start(Say("one two three four five", pause=0.1)) as served:
        call = served.stub.GenerateStream(
            service.GenerateStreamRequest(request_json=json.dumps(ask()).decode(), target=GPT)
        )
        pieces = aiter(call)
        await anext(pieces)
        health = health_pb2_grpc.HealthStub(served.channel)
        watch = health.Watch(health_pb2.HealthCheckRequest(service=SERVICE))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        stopping = asyncio.create_task(served.running.stop(5))
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watch.cancel()
        kinds = [piece.event.WhichOneof("event") async for piece in pieces]
        await stopping
    assert kinds[-1] == "message_complete"
