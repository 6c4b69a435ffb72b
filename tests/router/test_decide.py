"""The decision: R-061 to R-065, R-225, R-228, R-230, R-231, R-233, R-234, R-238 to R-241, R-248."""

import copy
import json
import random
import timeit
from itertools import combinations

import pytest

from interlingua import router
from interlingua.canonical.errors import InvalidRequest, NoCandidate
from interlingua.router import decide, decide_json, turn

from .conftest import image, user

NOW = "2026-11-20T12:00:00Z"

SETTINGS = {
    "per_message_override": lambda turn, policy, spec: turn.update(override=spec),
    "manual_sticky": lambda turn, policy, spec: turn.update(sticky=spec),
    "rule": lambda turn, policy, spec: policy["workspace"].update(rules=[{"name": "mine", "when": {}, "use": spec}]),
    "pattern": lambda turn, policy, spec: turn.update(
        pattern={"candidates": [{"model": spec, "successes": 9, "samples": 10}]}
    ),
    "delegate_request": lambda turn, policy, spec: turn.update(delegate={"model": spec}),
    "workspace_default": lambda turn, policy, spec: policy["workspace"].update(default=spec),
    "global_default": lambda turn, policy, spec: policy["global"].update(default=spec),
}


def setting(**slots):
    asked, policy = {}, {"workspace": {}, "global": {}}
    for slot, spec in slots.items():
        SETTINGS[slot](asked, policy, spec)
    return asked, policy


def test_the_slots_are_the_seven_of_the_contract_in_order():
    assert tuple(SETTINGS) == router.SLOTS


@pytest.mark.parametrize(("earlier", "later"), list(combinations(SETTINGS, 2)))
def test_of_two_slots_the_earlier_wins(earlier, later, catalog):
    asked, policy = setting(**{later: "a:y", earlier: "a:x"})
    decision = decide(asked, catalog, policy)
    assert (decision["chosen_model"], decision["policy"]) == ("a:x", earlier)
    verdicts = {slot["policy"]: slot["verdict"] for slot in decision["slots"]}
    assert verdicts[later] == "deferred"
    assert [entry["policy"] for entry in decision["chain"]] == list(router.SLOTS[: router.SLOTS.index(earlier) + 1])


@pytest.mark.parametrize(("earlier", "later"), list(combinations(SETTINGS, 2)))
def test_of_two_slots_the_later_serves_when_the_earlier_cannot(earlier, later, catalog):
    asked, policy = setting(**{later: "a:y", earlier: "off:x"})
    decision = decide(asked, catalog, policy)
    assert (decision["chosen_model"], decision["policy"]) == ("a:y", later)
    assert decision["record"]["alternatives_considered"] == ["off:x"]
    rejected = [entry for entry in decision["chain"] if entry["verdict"] == "rejected"]
    assert [(entry["policy"], entry["validation_failure"]) for entry in rejected] == [(earlier, "not_configured")]


@pytest.mark.parametrize("slot", list(SETTINGS))
def test_the_record_of_each_slot(slot, catalog):
    asked, policy = setting(**{slot: "a:x"})
    record = decide(asked, catalog, policy)["record"]
    assert record["mode"] == router.MODES[slot]
    assert record["chosen_model"] == "a:x"
    assert record["alternatives_considered"] == []
    assert (record["rule_name"] is not None) == (slot == "rule")
    assert (record["confidence"] is not None) == (slot == "pattern")
    assert record["reason"]


def test_the_reasons_of_the_worked_examples(catalog):
    def reason(**slots):
        return decide(*_with(catalog, **slots))["record"]["reason"]

    assert reason(workspace_default="a:x") == "workspace default"
    assert reason(manual_sticky="a:x") == "user swap via /model command"


def _with(catalog, **slots):
    asked, policy = setting(**slots)
    return asked, catalog, policy


def test_a_chain_ends_at_its_winner_and_names_the_models_to_fall_back_on(catalog):
    asked, policy = setting(workspace_default="off/m,a/x,b/m,thinking", global_default="a/y")
    decision = decide(asked, catalog, policy)
    assert decision["targets"] == ["a:x", "b:m", "a:z"]
    assert decision["winner_index"] == len(decision["chain"]) - 1
    assert decision["chain"][-1]["verdict"] == "chose"
    assert sum(entry["verdict"] == "chose" for entry in decision["chain"]) == 1
    slot = next(slot for slot in decision["slots"] if slot["policy"] == "workspace_default")
    assert [(item["model"], item["verdict"]) for item in slot["candidates"]] == [
        ("off:m", "rejected"),
        ("a:x", "chose"),
        ("b:m", "deferred"),
        ("a:z", "deferred"),
    ]


def test_every_slot_has_a_verdict_also_behind_the_winner(catalog):
    decision = decide(*_with(catalog, manual_sticky="a:x", global_default="off:x"))
    assert [slot["policy"] for slot in decision["slots"]] == list(router.SLOTS)
    assert {slot["policy"]: slot["verdict"] for slot in decision["slots"]} == {
        "per_message_override": "not_applicable",
        "manual_sticky": "chose",
        "rule": "not_applicable",
        "pattern": "not_applicable",
        "delegate_request": "not_applicable",
        "workspace_default": "not_applicable",
        "global_default": "rejected",
    }


# ------------------------------------------------------------------------------------------------ validation

NEEDS = {
    "no_vision_support": ({"messages": [user(image())]}, "a:blind"),
    "exceeds_context_window": ({"messages": [user("word " * 2_000)]}, "a:small"),
    "no_tool_support": ({"messages": [user("hi")], "tools": [{"name": "f", "input_schema": {}}]}, "a:toolless"),
    "no_system_prompt_support": ({"system": [{"type": "text", "text": "be"}], "messages": [user("hi")]}, "a:plain"),
    "no_structured_output_support": (
        {"messages": [user("hi")], "response_format": {"type": "json_schema", "schema": {}}},
        "a:prose",
    ),
}


@pytest.mark.parametrize("need", NEEDS)
@pytest.mark.parametrize("lack", NEEDS)
def test_a_lack_rejects_only_the_turn_that_needs_it(need, lack, catalog):
    request, model = NEEDS[need][0], NEEDS[lack][1]
    decision = decide(turn(request), catalog, {"global": {"default": f"{model},a:x"}})
    if need == lack:
        assert decision["chosen_model"] == "a:x"
        assert decision["chain"][-2]["validation_failure"] == need
    else:
        assert decision["chosen_model"] == model


@pytest.mark.parametrize(
    "request_",
    [
        {"messages": [{"role": "developer", "content": [{"type": "text", "text": "be"}]}, user("hi")]},
        {"messages": [{"role": "system", "content": [{"type": "text", "text": "be"}]}, user("hi")]},
    ],
)
def test_instructions_in_the_list_are_a_system_prompt(request_, catalog):
    assert router.failures(turn(request_), "a:plain", catalog, {}, router.capable.moment(NOW)) == [
        "no_system_prompt_support"
    ]


def test_pictures_in_tool_results_and_calls_in_the_history_count():
    facts = turn(
        {
            "messages": [
                user("go"),
                {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_1", "name": "f", "input": {}}]},
                {
                    "role": "tool",
                    "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": [image("image/gif")]}],
                },
            ]
        }
    )
    assert facts["needs"]["images"] == 1
    assert facts["needs"]["image_media_types"] == ["image/gif"]
    assert facts["needs"]["tools"]
    assert facts["has_tool_calls_in_history"]


def test_a_media_type_that_a_model_does_not_take_is_no_vision(catalog):
    for kind, chosen in (("image/png", "a:png"), ("image/tiff", "a:x")):
        facts = turn({"messages": [user(image(kind))]})
        assert decide(facts, catalog, {"global": {"default": "a:png,a:x"}})["chosen_model"] == chosen


def test_thinking_is_never_a_reason(catalog):
    thinking = {"type": "thinking", "text": "hm", "signature": "s"}
    facts = turn({"messages": [user("hi"), {"role": "assistant", "content": [thinking]}, user("on")]})
    catalog["models"]["a:x"]["capabilities"] = {"supports_thinking": False}
    assert decide(facts, catalog, {"global": {"default": "a:x"}})["chosen_model"] == "a:x"


def test_an_unlisted_model_passes_with_what_its_provider_declares(catalog):
    request = {"messages": [user("hi")], "response_format": {"type": "json_schema", "schema": {}}}
    policy = {"global": {"default": "a:unlisted,b:unlisted"}}
    assert decide(turn(request), catalog, policy)["chosen_model"] == "b:unlisted"


def test_the_first_reason_is_named_and_all_are_listed(catalog):
    catalog["models"]["off:bad"] = {"capabilities": {"supports_images": False, "supports_tools": False}}
    facts = turn({"messages": [user(image())], "tools": [{"name": "f", "input_schema": {}}]})
    decision = decide(facts, catalog, {"global": {"default": "off:bad,a:x"}})
    assert decision["chain"][-2]["validation_failure"] == "not_configured"
    assert decision["slots"][-1]["candidates"][0]["failures"] == [
        "not_configured",
        "no_vision_support",
        "no_tool_support",
    ]


@pytest.mark.parametrize(
    ("health", "chosen"),
    [
        ({}, "a:x"),
        ({"models": {"a:x": {"until": "2026-11-20T12:00:01Z"}}}, "a:y"),
        ({"models": {"a:x": {"until": "2026-11-20T12:00:00Z"}}}, "a:x"),
        ({"models": {"a:x": {"until": "2026-11-20T13:00:01+01:00"}}}, "a:y"),
        ({"models": {"a:x": {"until": None}}}, "a:y"),
        ({"providers": {"a": {"until": None}}}, "b:m"),
    ],
)
def test_a_model_in_cooldown_is_passed_over_until_its_time(health, chosen, catalog):
    policy = {"global": {"default": "a:x,a:y,b:m"}}
    assert decide({}, catalog, policy, health, NOW)["chosen_model"] == chosen


@pytest.mark.parametrize("value", ["yesterday", "2026-11-20T12:00:00", ""])
def test_a_time_that_is_none_is_refused(value, catalog):
    with pytest.raises(InvalidRequest):
        decide({}, catalog, {"global": {"default": "a:x"}}, {}, value)


# ------------------------------------------------------------------------------------------------ nothing left


def test_what_a_provider_lacks_is_told_where_the_catalogue_tells(catalog):
    catalog["providers"]["off"]["missing"] = ["no key: set OFF_API_KEY"]
    decision = decide({}, catalog, {"global": {"default": "off:m,a:x"}})
    assert decision["chain"][-2]["missing"] == "no key: set OFF_API_KEY"
    with pytest.raises(NoCandidate, match=r"off:m \(not_configured: no key: set OFF_API_KEY\)"):
        decide({}, catalog, {"global": {"default": "off:m"}})


def test_nothing_left_is_an_error_that_lists_what_was_tried(catalog):
    asked, policy = setting(manual_sticky="off:m", workspace_default="a:blind", global_default="nobody:m")
    asked["needs"] = {"images": 1}
    with pytest.raises(NoCandidate) as error:
        decide(asked, catalog, policy)
    assert "off:m (not_configured), a:blind (no_vision_support), nobody:m (unknown_target)" in str(error.value)
    assert error.value.to_dict()["category"] == "no_candidate"
    assert [entry["verdict"] for entry in error.value.chain].count("rejected") == 3
    assert len(error.value.chain) == 7


def test_an_empty_policy_says_what_to_do(catalog):
    with pytest.raises(NoCandidate, match="set a default"):
        decide({}, catalog, {})


# ------------------------------------------------------------------------------------------------ overrides


@pytest.mark.parametrize(
    ("text", "override", "rest"),
    [
        ("@ex what is it?", "ex", "what is it?"),
        ("@ex\n\n  what", "ex", "what"),
        ("@ex\twhat", "ex", "what"),
        ("@a:x hello", "a:x", "hello"),
        ("@ex", None, "@ex"),
        ("@ ex", None, "@ ex"),
        (" @ex hello", None, " @ex hello"),
        ("mail me@ex now", None, "mail me@ex now"),
        ("\\@ex hello", None, "@ex hello"),
        ("\\@", None, "@"),
        ("\\\\@ex hello", None, "\\\\@ex hello"),
        ("", None, ""),
    ],
)
def test_an_override_is_a_word_at_the_very_beginning_and_is_stripped(text, override, rest):
    request = {"messages": [user("@old one"), user(text)]}
    before = copy.deepcopy(request)
    facts = turn(request)
    assert (facts["override"], facts["text"]) == (override, rest)
    sent = router.strip_override(request, facts["strip"])
    assert sent["messages"][1]["content"][0]["text"] == rest
    assert sent["messages"][0]["content"][0]["text"] == "@old one"
    assert request == before


def test_an_override_stands_in_the_first_block_of_the_last_user_message():
    assert turn({"messages": [user(image(), "@ex hello")]})["override"] is None
    in_a_loop = {
        "messages": [user("@ex hello"), {"role": "assistant", "content": [{"type": "text", "text": "@no way"}]}]
    }
    assert turn(in_a_loop)["override"] == "ex"
    assert turn({"messages": []})["override"] is None


def test_an_unknown_override_is_said_at_once_with_its_place(catalog):
    request = {"messages": [user("@alice hello")]}
    with pytest.raises(InvalidRequest, match="@alice") as error:
        decide(turn(request), catalog, {"global": {"default": "a:x"}})
    assert error.value.path == "/messages/0/content/0/text"


def test_an_override_that_cannot_serve_falls_through(catalog):
    request = {"messages": [user("@a:blind look"), user("@a:blind look", image())]}
    decision = decide(turn(request), catalog, {"global": {"default": "a:x"}})
    assert decision["chosen_model"] == "a:x"
    assert decision["strip"] == {"path": "/messages/1/content/0/text", "characters": 9}


def test_chains_are_allowed_in_overrides_and_rules_only_when_the_policy_says_so(catalog):
    request = {"messages": [user("@both hello")]}
    with pytest.raises(InvalidRequest, match="@both") as error:
        decide(turn(request), catalog, {})
    assert error.value.path == "/messages/0/content/0/text"
    assert decide(turn(request), catalog, {"chains": True})["targets"] == ["a:x", "a:y"]
    ruled = {"workspace": {"rules": [{"when": {}, "use": "both"}]}, "global": {"default": "a:z"}}
    refused = decide({}, catalog, ruled)
    assert refused["chosen_model"] == "a:z"
    assert refused["slots"][2]["candidates"][0]["failures"] == ["chain_not_allowed"]
    assert decide({}, catalog, {**ruled, "chains": True})["targets"] == ["a:x", "a:y"]


# ------------------------------------------------------------------------------------------------ rules, tiers, patterns


def test_a_second_rule_is_tried_when_the_model_of_the_first_is_rejected(catalog):
    rules = [
        {"name": "eyes", "when": {"has_images": True}, "use": "a:blind"},
        {"name": "never", "when": {"has_images": False}, "use": "a:z"},
        {"when": {"has_images": True}, "use": "a:y"},
    ]
    decision = decide(turn({"messages": [user(image())]}), catalog, {"global": {"default": "a:x", "rules": rules}})
    assert decision["chosen_model"] == "a:y"
    assert decision["record"]["rule_name"] == "rule_2"
    assert [entry.get("rule_name") for entry in decision["chain"] if entry["policy"] == "rule"] == ["eyes", "rule_2"]


def test_rules_of_the_workspace_come_first(catalog):
    policy = {
        "global": {"rules": [{"name": "g", "when": {}, "use": "a:y"}]},
        "workspace": {"rules": [{"name": "w", "when": {}, "use": "a:x"}]},
    }
    assert decide({}, catalog, policy)["record"]["rule_name"] == "w"


def test_tiers_name_models_and_those_of_the_workspace_stand_for_all(catalog):
    tiers = {"fast": "a:x", "balanced": "a:y", "deep": "thinking"}
    policy = {"global": {"tiers": tiers, "default": {"tier": "deep"}}}
    assert decide({}, catalog, policy)["targets"] == ["a:z", "a:x"]
    assert decide({"delegate": {"tier": "fast"}}, catalog, policy)["chosen_model"] == "a:x"
    policy["workspace"] = {"tiers": {"fast": "b:m", "balanced": "b:m", "deep": "b:m"}}
    assert decide({"delegate": {"tier": "fast"}}, catalog, policy)["chosen_model"] == "b:m"
    # a tier that is mapped nowhere is no upgrade to another one
    lost = decide({"delegate": {"tier": "deep"}}, catalog, {"global": {"default": "a:x"}})
    assert lost["chain"][-3]["validation_failure"] == "unknown_target"


def seen(model, successes, samples, cost="0"):
    return {"model": model, "successes": successes, "samples": samples, "cost_usd": cost}


@pytest.mark.parametrize(
    ("candidates", "verdict", "confidence", "others"),
    [
        ([seen("a:y", 40, 40)], "chose", 1.0, []),
        ([seen("a:z", 20, 40), seen("a:y", 40, 40)], "chose", 0.5, ["a:z"]),
        ([seen("a:y", 40, 40), seen("a:z", 38, 40)], "chose", 0.05, ["a:z"]),
        ([seen("a:y", 40, 40), seen("a:z", 39, 40)], "deferred", 0.025, ["a:z"]),
        ([seen("a:y", 20, 40), seen("a:z", 20, 40)], "deferred", 0.0, ["a:z"]),
        # equally good: the cheaper one is ahead by the weight of cost, 0.05 of a score of 0.81
        ([seen("a:z", 40, 40, "0.9"), seen("a:y", 40, 40, "0.1")], "chose", 0.061728, ["a:z"]),
        # the same rate on fewer samples weighs less
        ([seen("a:z", 5, 5), seen("a:y", 40, 40)], "chose", 0.583333, ["a:z"]),
        ([seen("a:z", 4, 4), seen("a:y", 5, 5)], "chose", 1.0, []),
        ([seen("a:y", 0, 40)], "not_applicable", None, None),
        ([seen("a:y", 4, 4)], "not_applicable", None, None),
        ([], "not_applicable", None, None),
    ],
)
def test_a_pattern_gives_way_when_it_is_not_sure(candidates, verdict, confidence, others, catalog):
    decision = decide({"pattern": {"candidates": candidates}}, catalog, {"global": {"default": "a:x"}})
    entry = next(entry for entry in decision["chain"] if entry["policy"] == "pattern")
    assert entry["verdict"] == verdict
    assert entry.get("confidence") == confidence
    assert entry.get("pattern_alternatives") == others
    assert decision["chosen_model"] == ("a:y" if verdict == "chose" else "a:x")


def test_the_settings_of_patterns(catalog):
    asked = {"pattern": {"candidates": [seen("a:y", 10, 10, "0.9"), seen("a:z", 7, 10, "0.1")]}}

    def chosen(**settings):
        return decide(asked, catalog, {"global": {"default": "a:x"}, "pattern": settings})["chosen_model"]

    assert chosen() == "a:y"
    assert chosen(cost_weight=0.5) == "a:z"
    assert chosen(min_sample=11) == "a:x"
    assert chosen(min_confidence=0.2) == "a:x"


# ------------------------------------------------------------------------------------------------ pure and replayable


def test_the_same_input_gives_the_same_decision_in_any_order_of_the_catalogue(catalog):
    asked, policy = setting(rule="off:x", workspace_default="a:small,thinking", global_default="a:y")
    given = {"turn": asked, "catalog": catalog, "policy": policy, "health": {}, "now": NOW}
    first = decide_json(given)
    chance = random.Random(7)
    for _ in range(20):
        shuffled = copy.deepcopy(given)
        for part in ("providers", "models", "aliases"):
            items = list(shuffled["catalog"][part].items())
            chance.shuffle(items)
            shuffled["catalog"][part] = dict(items)
        assert decide_json(json.loads(json.dumps(shuffled))) == first


def test_without_its_winner_the_second_is_chosen(catalog):
    asked, policy = setting(workspace_default="a:x,b:m", global_default="a:y")
    assert decide(asked, catalog, policy)["chosen_model"] == "a:x"
    health = {"models": {"a:x": {"until": None}}}
    assert decide(asked, catalog, policy, health)["chosen_model"] == "b:m"


def test_the_input_is_not_touched(catalog):
    request = {"messages": [user("@ex hi")]}
    given = {"request": request, "catalog": catalog, "policy": {"global": {"default": "a:y"}}, "now": NOW}
    before = copy.deepcopy(given)
    decide_json(given)
    assert given == before


def test_the_model_of_a_request_is_the_standing_choice(catalog):
    given = {"request": {"model": "a:y", "messages": [user("hi")]}, "catalog": catalog, "policy": {}}
    assert decide_json(given)["record"]["mode"] == "manual"
    assert decide_json({**given, "context": {"sticky": "a:z"}})["chosen_model"] == "a:z"


def test_the_payload_of_the_event_holds_the_chain_up_to_the_winner(catalog):
    decision = decide(*_with(catalog, workspace_default="a:x"))
    payload = router.decided(decision["chosen_model"], decision["chain"], 0.2)
    assert payload["winner_index"] == decision["winner_index"]
    assert set(payload) == {"chosen_model", "winner_index", "elapsed_ms", "chain"}
    assert "chain" not in decision["record"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"request": []},
        {"turn": {}, "policy": []},
        {"turn": {}, "catalog": {"models": []}},
        {"turn": {}, "catalog": {"models": {"a:x": 1}}},
        {"turn": {}, "now": 5},
        {"turn": {"override": 5}},
        {"turn": {"pattern": {"candidates": [{}]}}},
        {"turn": {"pattern": [1]}},
        {"turn": {"delegate": "deep"}},
        {"turn": {"needs": 3}},
        {"turn": {"strip": 3, "override": "nobody"}},
        {"turn": {"estimated_input_tokens": "many"}},
        {"turn": {}, "health": {"models": {"a:x": {"until": 5}}}},
        {"turn": {}, "health": {"models": []}},
        {"request": {"messages": []}, "context": {"mood": "good"}},
        {"turn": {}, "policy": {"global": {"default": "nobody:x"}}},
    ],
)
def test_malformed_input_is_a_typed_error(given, catalog):
    given = {"catalog": catalog, "policy": {"global": {"default": "a:x"}}, **given}
    with pytest.raises(InvalidRequest):
        decide_json(given)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"catalog": {"models": []}}, "/catalog/models"),
        ({"catalog": {"models": {"a:x": 1}}}, "/catalog/models/a:x"),
        ({"health": {"models": []}}, "/health/models"),
        ({"health": {"providers": {"a": 1}}}, "/health/providers/a"),
        ({"health": {"models": {"a:x": {"until": "soon"}}}}, "/health/models/a:x/until"),
    ],
)
def test_malformed_input_is_told_with_its_place(given, path, catalog):
    with pytest.raises(InvalidRequest) as caught:
        decide_json({"turn": {}, "catalog": catalog, **given})
    assert caught.value.path == path


def test_a_hundred_rules_take_no_time(catalog):
    condition = {"any_of": [{"message_matches": "never ([0-9]+) times"}, {"estimated_input_tokens_gt": 100_000}]}
    policy = {
        "workspace": {"rules": [{"when": condition, "use": "a:x"} for _ in range(100)]},
        "global": {"default": "a:y"},
    }
    facts = turn({"messages": [user("hello there " * 500)]})
    took = min(timeit.repeat(lambda: decide(facts, catalog, policy), number=5, repeat=5)) / 5
    assert took < 0.005
