"""The service at overload and at its end (spec/9-service.md#overload, #drain, #answer-too-large), on loopback."""

import asyncio
import collections
import logging
import signal
import subprocess
import sys
import time
from typing import Any

import grpc
import grpc.aio
import pytest
from client.upstream import Connection, ask, recorded, serve
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Bytes, Say
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.service import methods, server
from interlingua.service.server import SERVICE
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub

pytestmark = pytest.mark.asyncio
# ruff: noqa: ASYNC110, ASYNC220 other tasks and another process have no event to wait for

GPT = "openai:gpt-4.1"
ASKED = json.dumps(ask()).decode()
STREAM = service.GenerateStreamRequest(request_json=ASKED, target=GPT)
UNARY = service.GenerateRequest(request_json=ASKED, target=GPT)
SLOW = Say("one two three four five six", pause=0.05, delay=0.05)


async def endless(connection: Connection) -> None:
    """A provider that begins to answer and then sends nothing more, until the caller leaves."""
    await connection.begin()
    await connection.chunk(b"".join(recorded(GPT)[:6]))
    assert await connection.gone(30)


async def silent(connection: Connection) -> None:
    """A provider that sends nothing."""
    assert await connection.gone(30)


def told(error: grpc.aio.AioRpcError, kind: Any) -> Any:
    """Return the detail of a type of a failed call; None when there is none."""
    status: Any = rpc_status.from_call(error)  # type: ignore[arg-type]
    found = kind()
    return next((found for detail in (status.details if status else ()) if detail.Unpack(found)), None)


async def failed(call: Any) -> grpc.aio.AioRpcError:
    """Return the error of a call."""
    with pytest.raises(grpc.aio.AioRpcError) as problem:
        await call
    return problem.value


async def read(call: Any) -> tuple[list[types.StreamEvent], grpc.aio.AioRpcError | None]:
    """Return the events of a stream, and the error with which it ends."""
    events: list[types.StreamEvent] = []
    try:
        while (piece := await call.read()) is not grpc.aio.EOF:
            events.append(piece.event)
    except grpc.aio.AioRpcError as problem:
        return events, problem
    return events, None


async def statuses(watcher: Any) -> list[Any]:
    """Return what a watcher of health still receives."""
    found: list[Any] = []
    while (answer := await watcher.read()) is not grpc.aio.EOF:
        found.append(answer.status)
    return found


async def list_services(channel: Any) -> list[str]:
    """Return the services, by reflection."""
    asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    return [
        one.name async for answer in stub.ServerReflectionInfo(asked) for one in answer.list_services_response.service
    ]


# ---------------------------------------------------------------------------------------------------- overload


async def test_a_call_too_many_is_refused_and_told_when_to_come_again(start: Any) -> None:
    """A stream is refused too; health and reflection are still answered; after a call has ended, one more is
    accepted."""
    async with start(SLOW, SLOW, Say("after"), max_calls=2) as served:
        first, second = served.stub.GenerateStream(STREAM), served.stub.GenerateStream(STREAM)
        await first.read()
        await second.read()
        for call in (
            served.stub.Generate(UNARY),
            served.stub.GenerateStream(STREAM).read(),
            served.stub.AdaptStream().read(),
        ):
            error = await failed(call)
            assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            info, canonical = told(error, error_details_pb2.ErrorInfo), told(error, types.Error)
            assert (info.reason, info.metadata["retryable"], info.metadata["code"]) == (
                "rate_limit",
                "true",
                "max_calls",
            )
            wait = told(error, error_details_pb2.RetryInfo).retry_delay.ToMilliseconds() / 1000
            assert 1 <= wait == canonical.retry_after <= 2
            assert not canonical.provider
        health = health_pb2_grpc.HealthStub(served.channel)
        asked = health_pb2.HealthCheckRequest(service=SERVICE)
        assert (await health.Check(asked)).status == health_pb2.HealthCheckResponse.SERVING
        assert (await health.Watch(asked).read()).status == health_pb2.HealthCheckResponse.SERVING
        assert SERVICE in await list_services(served.channel)
        for call in (first, second):
            assert (await read(call))[0][-1].WhichOneof("event") == "message_complete"
        assert (await served.stub.Generate(UNARY)).response.message.content[0].text.text == "after"


async def test_a_burst_beyond_what_grpc_keeps_waiting_is_refused_in_words(start: Any) -> None:
    """By default gRPC silently cancels some of the calls beyond the first 1,000 that wait."""
    outcomes: collections.Counter[Any] = collections.Counter()
    async with (
        serve(endless) as upstream,
        start(transport=HttpxTransport(), base_urls={"openai": upstream.url}, max_calls=1) as served,
    ):
        held = served.stub.GenerateStream(STREAM)
        await held.read()

        async def one() -> None:
            error = await failed(served.stub.ListModels(service.ListModelsRequest(provider="openai")))
            outcomes[error.code(), told(error, types.Error).code] += 1

        await asyncio.gather(*(one() for _ in range(1_500)))
    assert outcomes == {(grpc.StatusCode.RESOURCE_EXHAUSTED, "max_calls"): 1_500}


# ---------------------------------------------------------------------------------------------------- the end


async def test_who_watches_does_not_keep_a_server_from_ending(start: Any) -> None:
    """Watchers of health learn that the server ends; streams of reflection just end."""
    async with start() as served:
        health = health_pb2_grpc.HealthStub(served.channel)
        watchers = [health.Watch(health_pb2.HealthCheckRequest(service=name)) for name in ("", SERVICE, "none")]
        first = [(await watcher.read()).status for watcher in watchers]
        reflection = reflection_pb2_grpc.ServerReflectionStub(served.channel).ServerReflectionInfo()
        await reflection.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        await reflection.read()
        began = time.monotonic()
        await served.running.stop(10)
        assert time.monotonic() - began < 1
        after = [await statuses(watcher) for watcher in watchers]
        assert await reflection.read() is grpc.aio.EOF
    of = health_pb2.HealthCheckResponse
    assert first == [of.SERVING, of.SERVING, of.SERVICE_UNKNOWN]
    assert after == [[of.NOT_SERVING], [of.NOT_SERVING], []]
    assert [await watcher.code() for watcher in watchers] == [grpc.StatusCode.OK] * 3


async def test_calls_that_the_end_of_grace_cuts_off_say_so(
    start: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream gets an error event with what had arrived, every call its status and details; the log has no error."""
    # on a busy machine a call may take longer to arrive than the server waits for it (spec/decisions/0018)
    monkeypatch.setattr("interlingua.verbs.calls._QUIET_TURNS", 100)
    async with (
        serve(endless, silent) as upstream,
        start(transport=HttpxTransport(), base_urls={"openai": upstream.url}) as served,
    ):
        begun = served.stub.GenerateStream(STREAM)
        shown = [(await begun.read()).event]
        waiting = asyncio.create_task(read(served.stub.GenerateStream(STREAM)))
        while len(upstream.seen) < 2:
            await asyncio.sleep(0.01)
        unary = asyncio.create_task(failed(served.stub.Generate(UNARY)))
        adapted = served.stub.AdaptStream()
        await adapted.write(
            service.AdaptStreamRequest(
                start=service.AdaptStreamRequest.Start(source=service.Side(adapter="openai_chat"))
            )
        )
        await adapted.write(
            service.AdaptStreamRequest(chunk=b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')
        )
        await adapted.read()
        unopened = served.stub.AdaptStream()
        while served.running.calls.running < 5 or len(upstream.seen) < 3:
            await asyncio.sleep(0.01)
        stopping = asyncio.create_task(served.running.stop(0.3))
        await asyncio.sleep(0.1)
        refused = await failed(served.stub.ListModels(service.ListModelsRequest()))
        assert (refused.code(), told(refused, types.Error).code) == (grpc.StatusCode.UNAVAILABLE, "shutdown")
        events, error = await read(begun)
        _, silent_error = await waiting
        carried = await adapted.read()
        errors = [error, silent_error, await unary, await failed(adapted.read()), await failed(unopened.read())]
        await asyncio.wait_for(stopping, 10)
    for one in errors:
        assert one is not None
        assert one.code() is grpc.StatusCode.UNAVAILABLE
        canonical = told(one, types.Error)
        assert (canonical.category, canonical.code, canonical.retryable) == (
            types.ERROR_CATEGORY_SERVER_ERROR,
            "shutdown",
            True,
        )
    last = events[-1].error
    assert shown[-1].WhichOneof("event") != "error"
    assert (last.error.category, last.error.code) == (types.ERROR_CATEGORY_SERVER_ERROR, "shutdown")
    assert last.response.message.metadata.status == types.MESSAGE_STATUS_ERROR
    assert carried.events[-1].error.response.message.content[0].text.text == "x"
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_client_that_reads_nothing_does_not_hold_the_end(start: Any) -> None:
    """Its last messages cannot be sent: the server waits for them one second, no longer."""
    async with start(Say("x" * 4_000_000), max_message_bytes=64 << 20) as served:
        call = served.stub.GenerateStream(STREAM)
        await call.read()
        began = time.monotonic()
        await served.running.stop(0)
        assert time.monotonic() - began < 3
        call.cancel()


async def test_sigterm_ends_at_once_though_somebody_watches() -> None:
    """The server process ends well within the grace, with status 0 and without a traceback."""
    command = [
        sys.executable,
        "-m",
        "interlingua",
        "serve",
        "--port",
        "0",
        "--json",
        "--replay",
        "--log-level",
        "debug",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        port = json.loads(process.stdout.readline())["port"]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
            await watch.read()
            await InterlinguaServiceStub(channel).Generate(UNARY)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert await statuses(watch) == [health_pb2.HealthCheckResponse.NOT_SERVING]
            assert await asyncio.to_thread(process.wait, 10) == 0
        assert time.monotonic() - began < 5
        log = process.stderr.read().decode()
    # of other libraries nothing, also at this level
    assert log.splitlines()
    assert [line for line in log.splitlines() if " interlingua." not in line] == []


# ---------------------------------------------------------------------------------------------------- too large


async def test_an_answer_above_the_message_limit_says_what_was_paid(
    start: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The error states the size, the remedy and the cost; a too large response without a cost is refused as well."""
    async with start(Say("x" * 300_000), max_message_bytes=100_000) as served:
        error = await failed(served.stub.Generate(UNARY))
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    canonical, usage = told(error, types.Error), told(error, types.Usage)
    assert (canonical.category, canonical.code, canonical.retryable) == (
        types.ERROR_CATEGORY_UNSUPPORTED,
        "message_too_large",
        False,
    )
    assert "100000" in canonical.message and "GenerateStream" in canonical.message
    assert (usage.input_tokens, usage.output_tokens) == (10, 5)
    assert usage.cost_usd
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_stream_gives_what_fits_and_what_was_paid(start: Any) -> None:
    """All deltas arrive; instead of the whole answer an error arrives, with the response without its content."""
    text = " ".join(["word"] * 4_000)
    async with start(Say(text), max_message_bytes=15_000) as served:
        events, error = await read(served.stub.GenerateStream(STREAM))
    assert "".join(event.text_delta.text for event in events if event.WhichOneof("event") == "text_delta") == text
    last = events[-1].error
    assert (last.error.category, last.error.code) == (types.ERROR_CATEGORY_UNSUPPORTED, "message_too_large")
    assert (last.response.usage.output_tokens, list(last.response.message.content)) == (5, [])
    assert last.response.message.metadata.status == types.MESSAGE_STATUS_ERROR
    assert error is not None
    assert told(error, types.Error).code == "message_too_large"
    assert told(error, types.Usage).cost_usd == last.response.usage.cost_usd != ""


async def test_a_batch_above_the_message_limit_comes_in_pieces(start: Any) -> None:
    """Events that arrived together and are too large together are sent one by one, and none is missing."""
    frames = b"".join(b'{"message": {"role": "assistant", "content": "word "}}\n' for _ in range(800))
    frames += b'{"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}\n'
    asked = service.GenerateStreamRequest(request_json=ASKED, target="ollama:qwen3", batched=True)
    async with start(Bytes([frames]), max_message_bytes=10_000) as served:
        pieces = [piece async for piece in served.stub.GenerateStream(asked)]
    events = [event for piece in pieces for event in piece.events.events]
    assert len(pieces) == len(events) > 800
    assert events[-1].message_complete.response.message.content[0].text.text == "word " * 800


# ---------------------------------------------------------------------------------------------------- who leaves


async def test_a_client_that_leaves_while_it_is_told_an_error_is_no_defect() -> None:
    """gRPC refuses to send a status to a call that is over: the call was cancelled, and this is not an error."""

    class Left:
        async def abort(self, *_: object) -> None:
            raise grpc.aio.InternalError("the call is over")

    context: Any = Left()
    with pytest.raises(asyncio.CancelledError):
        await methods._fail(context, InvalidRequest("no"), None)


@pytest.mark.parametrize("waits", [1, None], ids=["short", "ours"])
async def test_calls_that_wait_are_not_cancelled(
    start: Any, monkeypatch: pytest.MonkeyPatch, waits: int | None
) -> None:
    """gRPC cancels calls that it could not hand over for a time, without a word; that it does so is what the first case
    shows, and that it takes as long as clients wait what the second one does (spec/decisions/0018)."""
    assert server._WAITING_S >= 600
    if waits is not None:
        monkeypatch.setattr(server, "_WAITING_S", waits)

    def ask_for_models(address: str) -> str:
        with grpc.insecure_channel(address) as channel:
            call = InterlinguaServiceStub(channel).ListModels.with_call  # type: ignore[attr-defined]
            try:
                return str(call(service.ListModelsRequest(), timeout=30)[1].code().name)
            except grpc.RpcError as problem:
                return str(problem.code().name)  # type: ignore[attr-defined]

    async with start() as served:
        address = f"127.0.0.1:{served.running.port}"
        asking = [asyncio.get_running_loop().run_in_executor(None, ask_for_models, address) for _ in range(4)]
        time.sleep(2.5)  # noqa: ASYNC251 a loop that is held up takes no calls
        assert ("CANCELLED" in await asyncio.gather(*asking)) is (waits is not None)
