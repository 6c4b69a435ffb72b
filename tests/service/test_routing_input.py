"""The routing input over gRPC besides the conversation: the context of a turn, and the origin of state."""

from typing import Any

import grpc
import pytest
from client.upstream import ask

from interlingua.canonical import json
from interlingua.client import Say
from interlingua.v1 import service_pb2 as service

from .test_service import CLAUDE, GPT, details, failure

pytestmark = pytest.mark.asyncio

SECRET = "gAAAAABo7x2kQv5mLzRt8wYbN3cH"
STATE = {"adapter": "openai_responses", "provider": "openai", "origin": "0c1d2e3f4a5b6c7d", "id": "rs_1"}
HELD: dict[str, Any] = {
    "messages": [
        *ask("Go.")["messages"],
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "text": "I see.", "signature": SECRET, "provider_state": STATE},
                {"type": "text", "text": "Gone."},
            ],
        },
        *ask("On.")["messages"],
    ]
}
POLICY = {"global": {"default": CLAUDE, "tiers": {"fast": CLAUDE, "balanced": CLAUDE, "deep": GPT}}}


def text(value: Any) -> str:
    return json.dumps(value).decode()


@pytest.mark.parametrize(
    ("context", "chosen"),
    [
        ("", CLAUDE),
        ('{"delegate": {"tier": "deep"}}', GPT),
        (f'{{"sticky": "{GPT}"}}', GPT),
        (f'{{"pattern": {{"candidates": [{{"model": "{GPT}", "successes": 9, "samples": 10}}]}}}}', GPT),
    ],
)
async def test_route_takes_the_context_of_a_turn(start: Any, context: str, chosen: str) -> None:
    async with start() as served:
        answer = await served.stub.Route(
            service.RouteRequest(request_json=text(ask()), policy_json=text(POLICY), context_json=context)
        )
        target = await served.stub.Route(
            service.RouteRequest(
                request_json=text(ask()), policy_json=text(POLICY), context_json=context, target=CLAUDE
            )
        )
    assert answer.decision.chosen_model == chosen
    assert target.decision.chosen_model == CLAUDE, "a target stands over the choice of the session"


async def test_generate_takes_it_too(start: Any) -> None:
    given = {"request_json": text(ask()), "policy_json": text(POLICY), "context_json": '{"delegate": {"tier": "deep"}}'}
    async with start(Say("Hello"), Say("Hello")) as served:
        whole = await served.stub.Generate(service.GenerateRequest(**given))
        pieces = [piece async for piece in served.stub.GenerateStream(service.GenerateStreamRequest(**given))]
    assert whole.decision.chosen_model == pieces[0].decision.chosen_model == GPT


@pytest.mark.parametrize("context", ["[]", "{", '{"mood": "good"}', '{"pattern": 3}', '{"delegate": "x"}'])
async def test_a_context_that_is_none_is_the_callers_fault(start: Any, context: str) -> None:
    async with start() as served:
        for problem in (
            await failure(served.stub.Route(service.RouteRequest(request_json=text(ask()), context_json=context))),
            await failure(
                served.stub.Generate(service.GenerateRequest(request_json=text(ask()), context_json=context))
            ),
        ):
            assert problem.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert details(problem)[0].reason == "invalid_request"


async def test_a_pinned_origin_in_cooldown_is_a_rate_limit_on_the_wire(start: Any) -> None:
    request = service.RouteRequest(
        request_json=text(HELD),
        policy_json=text({"state": "pin", "global": {"default": f"openai:gpt-5.2,{CLAUDE}"}}),
        registry_json=text(
            {
                "providers": {
                    "openai": {
                        "configured": True,
                        "adapter": "openai_responses",
                        "wires": {"openai_responses": {"origin": STATE["origin"], "reasoning_replay": "may"}},
                    },
                    "anthropic": {"configured": True, "adapter": "anthropic_messages"},
                }
            }
        ),
        health_json=text(
            {
                "models": {
                    "openai:gpt-5.2": {"until": "2026-11-21T12:00:30Z", "reason": "failures", "category": "rate_limit"}
                }
            }
        ),
    )
    request.now.FromJsonString("2026-11-21T12:00:00Z")
    async with start() as served:
        problem = await failure(served.stub.Route(request))
        request.now.FromJsonString("2026-11-21T12:00:30Z")
        later = await served.stub.Route(request)
    assert problem.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    error = details(problem)[2]
    assert (error.retry_after, error.provider, error.retryable) == (30.0, "openai", True)
    assert later.decision.chosen_model == "openai:gpt-5.2"
    assert list(later.decision.fallbacks) == []


async def test_adapt_knows_where_state_belongs(start: Any) -> None:
    def asked(origin: str) -> service.AdaptRequest:
        side = service.Side(adapter="openai_responses", provider="openai", model="gpt-5.2", origin=origin)
        return service.AdaptRequest(request_json=text(HELD), target=side)

    async with start() as served:
        here = await served.stub.Adapt(asked(STATE["origin"]))
        unknown = await served.stub.Adapt(asked(""))
        there = await served.stub.Adapt(asked("ffeeddccbbaa9988"))
        wire = json.loads(here.wire_json)
        source = service.Side(adapter="openai_responses", origin="ffeeddccbbaa9988")
        read = await served.stub.Adapt(
            service.AdaptRequest(wire_json=text(wire), kind=service.KIND_REQUEST, source=source, json_output=True)
        )
    assert SECRET in here.wire_json
    assert SECRET in unknown.wire_json
    assert SECRET not in there.wire_json
    assert [entry.code for entry in there.loss] == ["foreign_state"]
    states = [block["provider_state"] for block in json.loads(read.request_json)["messages"][1]["content"][:1]]
    assert [state["origin"] for state in states] == ["ffeeddccbbaa9988"]


@pytest.mark.parametrize(
    ("field", "given", "path"),
    [
        ("policy_json", "{", "/policy_json"),
        ("registry_json", "[]", "/registry_json"),
        ("registry_json", '{"models": 5}', "/catalog/models"),
        ("health_json", '{"models": 5}', "/health/models"),
        ("health_json", '{"providers": {"openai": 5}}', "/health/providers/openai"),
        ("health_json", '{"models": {"a:b/c": {"until": 5}}}', "/health/models/a:b~1c/until"),
        ("health_json", '{"models": {"a:b": {"until": "soon"}}}', "/health/models/a:b/until"),
        ("context_json", '{"cost_today_usd": "a lot"}', "/context/cost_today_usd"),
        ("context_json", '{"cost_today_usd": 5}', "/context/cost_today_usd"),
        ("context_json", '{"estimated_input_tokens": -1}', "/context/estimated_input_tokens"),
        ("context_json", '{"x": 1e999}', "/context_json/x"),
    ],
)
async def test_a_wrong_input_is_told_with_its_place(start: Any, field: str, given: str, path: str) -> None:
    """A member that this turn would not use is checked too."""
    async with start() as served:
        asked: Any = {"request_json": text(ask()), field: given}
        error = await failure(served.stub.Route(service.RouteRequest(**asked)))
    info, _, _ = details(error)
    assert (error.code(), info.metadata["path"]) == (grpc.StatusCode.INVALID_ARGUMENT, path)
