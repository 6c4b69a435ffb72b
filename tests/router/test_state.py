"""The origin of the state in a conversation, and how a policy uses it (spec/7-routing.md#state)."""

from contextlib import suppress

import pytest

from interlingua import router
from interlingua.canonical.errors import InvalidRequest, NoCandidate, OriginInCooldown
from interlingua.router import Health, decide, decide_json, turn
from interlingua.router.state import held, loop_begin

from .conftest import user

NOW = "2026-11-20T12:00:00Z"


def answer(*blocks, model=None):
    message = {"role": "assistant", "content": list(blocks)}
    return message if model is None else {**message, "metadata": {"model": model, "provider": model.partition(":")[0]}}


def thinking(provider, adapter="openai_responses", origin=None, **more):
    state = {"adapter": adapter, "provider": provider} | ({"origin": origin} if origin else {})
    return {"type": "thinking", "text": "Hm.", "signature": "c2ln", "provider_state": state, **more}


def call(**more):
    return {"type": "tool_use", "id": "tu_1", "name": "look", "input": {}, **more}


RESULT = {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": []}]}
TEXT = {"type": "text", "text": "Done."}
SYSTEM = {"role": "system", "content": [{"type": "text", "text": "Be brief."}]}


@pytest.mark.parametrize(
    ("messages", "begin"),
    [
        ([user("a")], 1),
        ([user("a"), answer(call()), RESULT], 1),
        ([user("a"), answer(call()), RESULT, user("b")], 1),
        ([user("a"), answer(call()), RESULT, SYSTEM, user("b")], 1),
        ([user("a"), answer(call()), RESULT, answer(TEXT), user("b")], 5),
        ([user("a"), answer(TEXT), user("b"), answer(call()), RESULT, answer(call()), RESULT], 3),
        ([user("a"), answer(TEXT), user("b"), user("c"), answer(call()), RESULT], 4),
        ([user("a"), answer(call())], 1),
        ([], 0),
    ],
)
def test_where_the_turn_begins_that_goes_on(messages, begin):
    assert loop_begin(messages) == begin


def test_the_facts_name_each_owner_once_and_the_latest_last():
    messages = [
        user("a"),
        answer(thinking("a", origin="1"), thinking("a", origin="1"), model="a:x"),
        user("b"),
        answer(thinking("b"), {"type": "opaque", "adapter": "w", "provider": "c", "origin": "3", "value": {}}),
        user("c"),
        answer(thinking("a", origin="1"), call(), model="a:x"),
        RESULT,
    ]
    of_a = {"adapter": "openai_responses", "provider": "a", "origin": "1", "model": "a:x", "kind": "reasoning"}
    assert held(messages) == [
        {"adapter": "openai_responses", "provider": "b", "kind": "reasoning", "loop": False},
        {"adapter": "w", "provider": "c", "origin": "3", "kind": "item", "loop": False},
        {**of_a, "loop": True},
    ]
    assert turn({"messages": messages})["state"] == held(messages)


@pytest.mark.parametrize(
    ("block", "found"),
    [
        ({"type": "thinking", "text": "Hm."}, False),
        ({"type": "thinking", "text": "Hm.", "signature": "s"}, True),
        ({"type": "redacted_thinking", "data": "d"}, True),
        ({"type": "thinking", "text": "", "provider_state": {"adapter": "w", "provider": "a"}}, True),
        ({"type": "text", "text": "x", "provider_state": {"adapter": "w", "provider": "a", "id": "m"}}, False),
        ({"type": "text", "text": "x", "provider_state": {"adapter": "w", "provider": "a", "signature": "s"}}, True),
        (call(provider_state={"adapter": "w", "provider": "a", "fields": {"k": 1}}), False),
    ],
)
def test_what_counts_as_state(block, found):
    assert bool(held([user("a"), answer(block, model="a:x")])) is found


def test_what_the_user_says_is_nobodys_state():
    part = {"type": "opaque", "adapter": "w", "provider": "a", "value": {}}
    assert held([{"role": "user", "content": [part]}]) == []


def asked(*blocks, model=None):
    return turn({"messages": [user("a"), answer(*blocks, model=model), user("b")]})


def test_pinning_needs_no_description_of_wires(catalog):
    """With a minimal catalogue of a caller, the provider is compared."""
    policy = {"state": "pin", "global": {"default": "b:any,a:x"}}
    assert decide(asked(thinking("a")), catalog, policy)["targets"] == ["a:x"]
    assert decide(asked(thinking("a")), catalog, {**policy, "state": "strip"})["targets"] == ["b:any", "a:x"]


def test_one_rule_for_every_wire(catalog):
    """On every wire, only the candidate at the origin of the state takes it."""
    for adapter in ("openai_chat", "openai_responses", "anthropic_messages", "gemini_generate", "toy"):
        catalog["providers"]["a"] |= {"adapter": adapter, "wires": {adapter: {"origin": "1"}}}
        catalog["providers"]["b"] |= {"adapter": adapter, "wires": {adapter: {"origin": "2"}}}
        policy = {"state": "pin", "global": {"default": "b:any,a:x"}}
        assert decide(asked(thinking("a", adapter, "1")), catalog, policy)["targets"] == ["a:x"]
        with pytest.raises(NoCandidate):
            decide(asked(thinking("a", adapter, "2")), catalog, policy)


def test_the_error_is_of_the_model_whose_cooldown_ends_first(catalog):
    policy = {"state": "pin", "global": {"default": "a:x,a:y,b:any"}}
    marks = {
        "a:x": {"until": None, "reason": "benched"},
        "a:y": {"until": "2026-11-20T12:00:09Z", "reason": "failures", "category": "timeout"},
    }
    with pytest.raises(OriginInCooldown) as problem:
        decide(asked(thinking("a")), catalog, policy, {"models": marks}, NOW)
    assert problem.value.to_dict()["category"] == "timeout"
    assert problem.value.to_dict()["retry_after"] == 9.0
    del marks["a:y"]
    policy["global"]["default"] = "a:x,b:any"
    with pytest.raises(OriginInCooldown) as problem:
        decide(asked(thinking("a")), catalog, policy, {"models": marks}, NOW)
    assert problem.value.to_dict()["category"] == "overloaded"
    assert "retry_after" not in problem.value.to_dict()


def test_a_refused_key_is_not_worth_a_wait(catalog):
    policy = {"state": "pin", "global": {"default": "a:x"}}
    health = {"providers": {"a": {"until": "2026-11-20T12:05:00Z", "reason": "x", "category": "authentication"}}}
    with pytest.raises(OriginInCooldown) as problem:
        decide(asked(thinking("a")), catalog, policy, health, NOW)
    assert problem.value.to_dict()["retryable"] is False


def test_rest_is_no_excuse_for_what_else_is_wrong(catalog):
    """A state origin that could not serve the request anyway is ignored."""
    policy = {"state": "pin", "global": {"default": "off:x,b:any"}}
    health = {"models": {"off:x": {"until": None, "reason": "benched"}}}
    with pytest.raises(NoCandidate) as nobody:
        decide(asked(thinking("off")), catalog, policy, health, NOW)
    assert nobody.value.to_dict()["category"] == "no_candidate"


def test_without_pinning_rest_stays_no_candidate(catalog):
    health = {"models": {"a:x": {"until": None, "reason": "benched"}}}
    with pytest.raises(NoCandidate) as nobody:
        decide(asked(thinking("a")), catalog, {"global": {"default": "a:x"}}, health, NOW)
    assert nobody.value.to_dict()["category"] == "no_candidate"


def test_the_mark_of_a_tracker_says_what_failed():
    times = iter((0.0, 1.0, 1.0))
    health = Health(clock=lambda: next(times))
    health.failed("a:x", "rate_limit")
    health.failed("a:x", "rate_limit")
    assert health.snapshot()["models"]["a:x"]["category"] == "rate_limit"


def test_a_swap_under_a_pin_is_refused_with_words(catalog):
    request = {"messages": [user("a"), answer(thinking("a"))]}
    verdict = router.check_swap(request, "b:any", catalog, policy={"state": "pin"}, active="a:x")
    assert (verdict["allowed"], verdict["failures"], verdict["active_model"]) == (False, ["pinned_elsewhere"], "a:x")
    assert "state of another provider" in verdict["message"]
    assert router.check_swap(request, "b:any", catalog)["allowed"]


@pytest.mark.parametrize(
    "state",
    [
        [{"provider": 1}],
        [{"adapter": None, "provider": None, "kind": "reasoning", "loop": True}],
        [{}],
        ["x"],
        "x",
        {"a": 1},
    ],
)
def test_recorded_facts_may_be_anything(state, catalog):
    """A decision or a typed error, never a crash."""
    given = {"turn": {"state": state}, "catalog": catalog, "policy": {"state": "pin", "global": {"default": "a:x"}}}
    with suppress(InvalidRequest, NoCandidate):
        decide_json(given)
