"""Large inputs and slow patterns do not delay the calls of others."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest

from interlingua.v1 import service_pb2 as service
from interlingua.verbs import adapting, checking, estimating, routing

pytestmark = pytest.mark.asyncio

MODEL = "openai:gpt-5.4-mini"
TEXT = "These are the words of a long conversation. " * 20_000  # 1 MB


def conversation(text: str) -> str:
    return json.dumps({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}], "model": MODEL})


def many(messages: int) -> str:
    block = {"type": "text", "text": "a few words"}
    return json.dumps({"messages": [{"role": "user", "content": [block] * 5}] * messages, "model": MODEL})


DEAR = {
    "version": 1,
    "global": {
        "default": MODEL,
        "rules": [{"when": {"message_matches": f"(a?){{300}}a{{300}}[ef]{n}"}, "use": MODEL} for n in range(4)],
    },
}

CALLS: list[tuple[Any, str, str, Any]] = [
    (estimating, "estimate", "Estimate", service.EstimateRequest(request_json=conversation(TEXT))),
    (checking, "check", "Check", service.CheckRequest(value_json=many(5_000), type="Request")),
    (
        adapting,
        "adapt",
        "Adapt",
        service.AdaptRequest(request_json=many(5_000), target=service.Side(adapter="openai_chat"), json_output=True),
    ),
    (
        routing,
        "route",
        "Route",
        service.RouteRequest(request_json=conversation("a" * 10_000), policy_json=json.dumps(DEAR)),
    ),
]


@pytest.mark.parametrize(("module", "function", "method", "asked"), CALLS, ids=lambda value: str(value)[:8])
async def test_the_loop_goes_on_while_a_dear_call_is_worked_on(
    start: Any, monkeypatch: pytest.MonkeyPatch, module: Any, function: str, method: str, asked: Any
) -> None:
    """The work begins only after another task has run on the loop, and long work lets other tasks run."""
    work = getattr(module, function)
    begun, somebody_else = threading.Event(), threading.Event()
    waited: list[bool] = []
    spans: list[tuple[float, float, float]] = []

    def held(*given: Any) -> Any:
        begun.set()
        waited.append(somebody_else.wait(60))
        start, processor = time.perf_counter(), time.thread_time()
        try:
            return work(*given)
        finally:
            spans.append((start, time.perf_counter(), time.thread_time() - processor))

    monkeypatch.setattr(module, function, held)
    turns: list[float] = []

    async def others() -> None:
        while not spans:
            await asyncio.sleep(0)
            turns.append(time.perf_counter())
            if begun.is_set():
                somebody_else.set()

    async with start() as served:
        beside = asyncio.create_task(others())
        await getattr(served.stub, method)(asked, timeout=120)
        await beside
    assert waited == [True]
    [(start_of_work, end_of_work, processor_time)] = spans
    # short work may end before the interpreter switches to another thread
    assert processor_time < 0.2 or any(start_of_work < turn < end_of_work for turn in turns)


async def test_small_calls_are_answered_at_once(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread would cost more than small inputs."""

    def none(*_: Any) -> Any:
        raise AssertionError("a thread")

    async with start() as served:
        monkeypatch.setattr(asyncio, "to_thread", none)
        await served.stub.Estimate(service.EstimateRequest(request_json=conversation("hello")))


async def test_open_streams_take_no_threads(start: Any) -> None:
    """Five hundred unfinished answers that are written at once run on the existing threads."""
    side = service.Side(adapter="anthropic_messages")
    begun = {"type": "message_start", "model": "any:model", "message_id": "01JD0000000000000000000000"}
    block = {"type": "block_start", "index": 0, "block": {"type": "text", "text": "hello"}}
    pieces = [
        service.AdaptStreamRequest(start=service.AdaptStreamRequest.Start(target=side)),
        service.AdaptStreamRequest(event_json=json.dumps(begun)),
        service.AdaptStreamRequest(event_json=json.dumps(block)),
    ]

    async def opened(stub: Any) -> Any:
        call = stub.AdaptStream()
        for piece in pieces:
            await call.write(piece)
        return call, await call.read()

    async with start(max_calls=600) as served:
        first, _ = await opened(served.stub)
        before = threading.active_count()
        calls = await asyncio.gather(*[opened(served.stub) for _ in range(500)])
        assert all(b"".join(answer.chunks) for _, answer in calls)
        assert threading.active_count() <= before
        for call in (first, *[call for call, _ in calls]):
            call.cancel()
