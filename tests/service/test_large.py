"""Large inputs and dear patterns do not hold up the calls of others."""

import asyncio
import json
import time
from typing import Any

import pytest

from interlingua.v1 import service_pb2 as service

pytestmark = pytest.mark.asyncio

MODEL = "openai:gpt-5.4-mini"
TEXT = "These are the words of a long conversation. " * 90_000  # 4 MB


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

CALLS: dict[str, Any] = {
    "Estimate": service.EstimateRequest(request_json=conversation(TEXT)),
    "Check": service.CheckRequest(value_json=many(20_000), type="Request"),
    "Adapt": service.AdaptRequest(
        request_json=many(15_000), target=service.Side(adapter="openai_chat"), json_output=True
    ),
    "Route": service.RouteRequest(request_json=conversation("a" * 20_000), policy_json=json.dumps(DEAR)),
}


@pytest.mark.parametrize("method", CALLS)
async def test_a_dear_call_leaves_the_loop(start: Any, method: str) -> None:
    """Others wait for a small part of the time that it takes, and not for all of it."""
    over = asyncio.Event()

    async def longest_wait() -> float:
        longest, last = 0.0, time.monotonic()
        while not over.is_set():
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return longest

    async with start() as served:
        waiting = asyncio.create_task(longest_wait())
        begin = time.monotonic()
        await getattr(served.stub, method)(CALLS[method], timeout=60)
        took = time.monotonic() - begin
        over.set()
        longest = await waiting
    assert longest < max(took / 2, 0.1), f"{longest:.3f} s of {took:.3f} s"
