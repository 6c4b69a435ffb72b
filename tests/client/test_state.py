"""Encrypted state through the client: marked with its origin, sent to nobody else, kept or stripped by the policy.

litellm#18094, litellm#40364, litellm#27811.
"""

import pytest

from interlingua import registry
from interlingua.canonical import json
from interlingua.canonical.errors import NoCandidate, OriginInCooldown, ProviderError
from interlingua.client import Bytes, Client, FakeTransport, Refuse, Say
from interlingua.client.routing import Routing
from interlingua.registry import Registry

from .upstream import ask

pytestmark = pytest.mark.asyncio

DEEP, AZURE, CLAUDE = "openai:deep", "azure-openai:deep", "anthropic:claude-sonnet-4-6"
SECRET = "gAAAAABo7x2kQv5mLzRt8wYbN3cH"
BODY = json.dumps(
    {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "deep",
        "output": [
            {
                "type": "reasoning",
                "id": "rs_1",
                "summary": [{"type": "summary_text", "text": "I see."}],
                "encrypted_content": SECRET,
            },
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Gone.", "annotations": []}],
            },
        ],
        "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
    }
)
LIMITED = Refuse(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, {"retry-after": "20"})


def models() -> Registry:
    """The registry with a model on the Responses wire at each of two providers."""
    known = registry.data("models")
    deep = {"title": "Deep", "tier": "deep", "adapter": "openai_responses", "capabilities": {}}
    return Registry(
        models={**known, "models": {**known["models"], DEEP: deep, AZURE: deep}},
        environment={
            "OPENAI_API_KEY": "sk-one",
            "AZURE_OPENAI_API_KEY": "az-one",
            "AZURE_OPENAI_ENDPOINT": "https://east.example",
            "ANTHROPIC_API_KEY": "sk-ant",
        },
    )


def answer() -> Bytes:
    return Bytes([BODY], headers={"content-type": "application/json"})


async def conversation(found: Registry, key: str = "sk-one") -> dict:
    """A conversation that holds encrypted reasoning of the model, and asks on."""
    async with Client(FakeTransport(answer()), registry=found, keys={"openai": key}) as client:
        response = await client.generate(ask("Go."), model=DEEP)
    return {"messages": [*ask("Go.")["messages"], response["message"], *ask("On.")["messages"]]}


async def test_an_answer_says_where_its_state_was_issued() -> None:
    found = models()
    request = await conversation(found)
    state = request["messages"][1]["content"][0]["provider_state"]
    assert state["origin"] == found.connection("openai", "openai_responses").origin
    assert "sk-one" not in json.dumps(request).decode()


async def test_state_goes_back_with_the_same_key_and_with_no_other() -> None:
    found = models()
    request = await conversation(found)
    fake = FakeTransport(answer(), answer())
    async with Client(fake, registry=found) as client:
        again = await client.generate(request, model=DEEP)
    async with Client(fake, registry=found, keys={"openai": "sk-two"}) as client:
        other = await client.generate(request, model=DEEP)
    assert SECRET.encode() in fake.sent[0].body
    assert "loss" not in again
    assert SECRET.encode() not in fake.sent[1].body
    assert b"rs_1" not in fake.sent[1].body
    assert ("/messages/1/content/0", "foreign_state") in [(entry["path"], entry["code"]) for entry in other["loss"]]


async def test_a_pinned_conversation_ends_with_the_rate_limit_of_its_origin() -> None:
    """Routed or named: one call, one 429, and nobody else is asked."""
    found = models()
    request = await conversation(found)
    policy = {"state": "pin", "global": {"default": f"{AZURE},{DEEP},{CLAUDE}"}}
    routing = Routing(found, policy)
    for choice in (routing.choose(request), routing.choose(request, f"{DEEP},{AZURE},{CLAUDE}")):
        assert choice.models == (DEEP,)
        fake = FakeTransport(LIMITED)
        async with Client(fake, registry=found, retry="none") as client:
            with pytest.raises(ProviderError) as refused:
                await client.generate(choice.request, model=choice.models[0], fallbacks=choice.models[1:])
        assert (refused.value.error["category"], refused.value.retry_after) == ("rate_limit", 20.0)
        assert len(fake.sent) == 1


async def test_a_stripped_conversation_goes_on_elsewhere_and_says_what_it_lost() -> None:
    found = models()
    request = await conversation(found)
    choice = Routing(found, {"global": {"default": f"{DEEP},{CLAUDE}"}}).choose(request)
    fake = FakeTransport(LIMITED, Say("Here."))
    async with Client(fake, registry=found) as client:
        response = await client.generate(choice.request, model=choice.models[0], fallbacks=choice.models[1:])
    assert [(one["model"], one["reason"]) for one in response["skipped"]] == [(DEEP, "rate_limit")]
    assert SECRET.encode() not in fake.sent[-1].body
    assert "foreign_state" in {entry["code"] for entry in response["loss"]}


async def test_the_preview_says_what_another_key_would_lose() -> None:
    """A candidate is previewed as it would be called, with the keys of the client."""
    found = models()
    request = await conversation(found)
    for key, lost in (("sk-one", set()), ("sk-two", {"foreign_state"})):
        client = Client(FakeTransport(), registry=found, keys={"openai": key})
        routing = Routing(found, {"global": {"default": DEEP}}, connect=client.connection)
        [row] = routing.candidates(request, routing.decide(request))
        assert {entry["code"] for entry in row["loss"]} == lost


async def test_the_error_of_an_origin_in_cooldown_states_the_cooldown() -> None:
    found = models()
    request = await conversation(found)
    routing = Routing(found, {"state": "pin", "global": {"default": f"{DEEP},{CLAUDE}"}})
    health = {"models": {DEEP: {"until": "2026-11-20T12:00:20Z", "reason": "failures", "category": "rate_limit"}}}
    with pytest.raises(OriginInCooldown) as problem:
        routing.decide(request, health=health, now="2026-11-20T12:00:00Z")
    error = problem.value.to_dict()
    assert (error["category"], error["retry_after"], error["provider"]) == ("rate_limit", 20.0, "openai")
    assert error["retryable"] is True
    assert {entry.get("validation_failure") for entry in problem.value.chain} >= {
        "provider_unavailable",
        "pinned_elsewhere",
    }


async def test_who_names_only_others_is_told_that_none_can_take_it() -> None:
    found = models()
    request = await conversation(found)
    with pytest.raises(NoCandidate, match="openai"):
        Routing(found, {"state": "pin"}).choose(request, CLAUDE)
    assert Routing(found).choose(request, CLAUDE).models == (CLAUDE,)


async def test_a_caller_with_another_key_is_another_origin_to_the_router() -> None:
    found = models()
    request = await conversation(found)
    client = Client(FakeTransport(), registry=found, keys={"openai": "sk-two"})
    with pytest.raises(NoCandidate):
        Routing(found, {"state": "pin"}, connect=client.connection).choose(request, DEEP)


async def test_a_wire_that_the_caller_names_is_the_wire_that_counts() -> None:
    """A model that speaks Chat by itself takes state of Responses when it is asked over Responses."""
    found = models()
    request = await conversation(found)
    routing = Routing(found, {"state": "pin"})
    with pytest.raises(NoCandidate):
        routing.choose(request, "openai:gpt-4.1")
    assert routing.choose(request, "openai:gpt-4.1", adapter="openai_responses").models == ("openai:gpt-4.1",)
