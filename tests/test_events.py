"""Events: one for each decision of a turn and each refused swap, with the whole envelope and no content: R-225, R-226, R-260, R-269."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from interlingua.canonical.errors import InvalidRequest, NoCandidate
from interlingua.client import Client, FakeTransport, Refuse, Say
from interlingua.client.routing import Routing
from interlingua.events import SENSITIVITIES, TYPES, Event, Events, check_event, log_event

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
SECRET = "the treasure is under the oak"


def ask(text: str = SECRET, **members: Any) -> dict[str, Any]:
    message = {"role": "user", "session_id": "sess_1", "content": [{"type": "text", "text": text}]}
    return {"messages": [message], **members}


@pytest.fixture
def seen() -> list[Event]:
    return []


@pytest.fixture
def events(seen: list[Event]) -> Events:
    return Events(seen.append, now=lambda: datetime(2026, 5, 8, 12, tzinfo=UTC))


@pytest.fixture(autouse=True)
def configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k-anthropic")
    monkeypatch.setenv("OPENAI_API_KEY", "k-openai")


def demand_sound(event: Event) -> None:
    assert check_event(event) == []
    text = json.dumps(event)
    assert SECRET not in text
    assert "k-openai" not in text
    assert "k-anthropic" not in text


# ---------------------------------------------------------------------------------------------------- decisions


def test_a_routed_turn_publishes_its_decision_once(events: Events, seen: list[Event]) -> None:
    ticks = iter((1.0, 1.002))
    routing = Routing(policy={"global": {"default": CLAUDE}}, events=events, clock=lambda: next(ticks))
    choice = routing.choose(ask(), turn_id="turn_7")
    [event] = seen
    demand_sound(event)
    assert (event["type"], event["session_id"], event["turn_id"]) == ("route.decided", "sess_1", "turn_7")
    assert (event["actor"], event["timestamp"]) == ("system", "2026-05-08T12:00:00.000000Z")
    payload = event["payload"]
    assert payload["elapsed_ms"] == 2.0
    assert payload["chain"] == choice.decision["chain"]
    assert payload["chain"][payload["winner_index"]]["verdict"] == "chose"
    assert payload["chosen_model"] == choice.record["chosen_model"] == CLAUDE
    assert "chain" not in choice.record


def test_a_named_model_is_a_decision_too(events: Events, seen: list[Event]) -> None:
    choice = Routing(events=events).choose(ask(), target=f"{GPT},{CLAUDE}")
    [event] = seen
    demand_sound(event)
    assert event["payload"]["chosen_model"] == choice.record["chosen_model"] == GPT
    assert event["payload"]["chain"][-1]["policy"] == "manual_sticky"
    assert event["payload"]["winner_index"] == 1


@pytest.mark.parametrize("named", [False, True])
def test_a_turn_that_nobody_can_take_is_told_with_no_winner(events: Events, seen: list[Event], named: bool) -> None:
    state = {"adapter": "gemini_generate", "provider": "gemini"}
    answer = {
        "role": "assistant",
        "content": [{"type": "thinking", "text": "", "signature": "x", "provider_state": state}],
    }
    request = {"messages": [*ask()["messages"], answer, *ask()["messages"]]}
    routing = Routing(policy={"state": "pin", "global": {"default": GPT}}, events=events)
    with pytest.raises(NoCandidate):
        routing.choose(request, target=GPT if named else None)
    [event] = seen
    demand_sound(event)
    assert (event["payload"]["chosen_model"], event["payload"]["winner_index"]) == (None, -1)
    assert {entry["policy"] for entry in event["payload"]["chain"]} >= {"manual_sticky", "global_default"}
    [rejected] = [entry for entry in event["payload"]["chain"] if entry["verdict"] == "rejected"]
    assert rejected["validation_failure"] == "pinned_elsewhere"


def test_input_that_is_not_valid_is_no_decision(events: Events, seen: list[Event]) -> None:
    routing = Routing(policy={"global": {"default": GPT}}, events=events)
    for given in ({"target": "nope"}, {"policy": {"version": 9}}):
        with pytest.raises(InvalidRequest):
            routing.choose(ask(), **given)  # type: ignore[arg-type]
    assert seen == []


def test_a_preview_decides_nothing(events: Events, seen: list[Event]) -> None:
    Routing(policy={"global": {"default": GPT}}, events=events).decide(ask())
    assert seen == []


@pytest.mark.asyncio
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_publishes_what_came_without_a_record(events: Events, seen: list[Event], streamed: bool) -> None:
    """One event for a call, whatever happens to it afterwards; the record and the event agree."""
    async with Client(FakeTransport(Refuse(529), Say("x")), retry="none", events=events) as client:
        if streamed:
            async with client.stream(ask(), model=f"{GPT},{CLAUDE}") as stream:
                last = [event async for event in stream][-1]
            response = last["response"]
        else:
            response = await client.generate(ask(), model=f"{GPT},{CLAUDE}")
    [event] = seen
    demand_sound(event)
    record = response["message"]["metadata"]["routing"]
    assert event["payload"]["chosen_model"] == GPT
    assert (record["mode"], record["chosen_model"], record["alternatives_considered"]) == ("manual", CLAUDE, [GPT])


@pytest.mark.asyncio
async def test_a_call_with_its_record_was_published_by_who_decided(events: Events, seen: list[Event]) -> None:
    async with Client(FakeTransport(Say("x")), events=events) as client:
        choice = Routing(policy={"global": {"default": GPT}}, events=client.events).choose(ask())
        await client.generate(choice.request, model=choice.models[0], routing=choice.record)
    assert [event["type"] for event in seen] == ["route.decided"]


# ---------------------------------------------------------------------------------------------------- swaps


def test_a_refused_swap_is_one_event_and_an_allowed_one_none(events: Events, seen: list[Event]) -> None:
    image = {"type": "image", "media_type": "image/png", "source": {"kind": "base64", "data": "AAAA"}}
    request = ask()
    request["messages"][0]["content"].append(image)
    routing = Routing(events=events)
    assert routing.swap(request, CLAUDE, active=GPT)["allowed"]
    assert seen == []
    verdict = routing.swap(request, "deepseek:deepseek-chat", active=GPT)
    assert verdict["active_model"] == GPT
    [event] = seen
    demand_sound(event)
    assert (event["type"], event["alias"]) == ("routing_constraint_failure", "routing.constraint_failure")
    assert event["session_id"] == "sess_1"
    assert event["payload"] == verdict["payload"]
    assert event["payload"]["message"].endswith("Active model unchanged.")


# ---------------------------------------------------------------------------------------------------- observers


def publish(events: Events) -> None:
    payload = {"requested_model": "a:b", "active_model": None, "failures": [], "message": "no"}
    events.publish("routing_constraint_failure", payload)


def test_an_observer_that_fails_concerns_nobody_else(caplog: pytest.LogCaptureFixture, seen: list[Event]) -> None:
    def broken(event: Event) -> None:
        raise RuntimeError(SECRET)

    with caplog.at_level(logging.DEBUG, "interlingua.events"):
        publish(Events(broken, seen.append))
    assert len(seen) == 1
    [entry] = caplog.records
    assert entry.levelno == logging.WARNING
    assert SECRET not in caplog.text


def test_subscriptions_begin_and_end(seen: list[Event]) -> None:
    events = Events()
    publish(events)
    unsubscribe = events.subscribe(seen.append)
    publish(events)
    unsubscribe()
    unsubscribe()
    publish(events)
    assert len(seen) == 1


def test_ids_rise_also_under_a_clock_that_stands(events: Events, seen: list[Event]) -> None:
    for _ in range(50):
        publish(events)
    ids = [event["id"] for event in seen]
    assert ids == sorted(set(ids))
    assert all(re.fullmatch("[0-9A-Z]{26}", one) for one in ids)


def test_the_log_has_the_event_in_its_fields(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "interlingua.events"):
        publish(Events(log_event))
    [entry] = caplog.records
    assert entry.getMessage() == "routing_constraint_failure"
    assert check_event(entry.event) == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"payload": {"requested_model": "a:b"}}, "/payload"),
        ({"sensitivity": "private"}, "/sensitivity"),
        ({"id": "evt_1"}, "/id"),
    ],
    ids=["payload", "sensitivity", "envelope"],
)
def test_what_is_wrong_with_an_event(change: Event, path: str, events: Events, seen: list[Event]) -> None:
    publish(events)
    assert check_event(seen[0]) == []
    assert any(one["path"].startswith(path) for one in check_event({**seen[0], **change}))


def test_every_type_has_a_schema_and_stands_in_the_spec() -> None:
    from pathlib import Path

    from interlingua.canonical.validate import schema

    page = (Path(__file__).resolve().parent.parent / "spec" / "7-routing.md").read_text("utf-8")
    for name, kind in TYPES.items():
        assert kind.payload in schema()["$defs"]
        assert kind.sensitivity in SENSITIVITIES
        assert re.search(rf"^\| `{re.escape(name)}` \|.*`{kind.payload}`.*`{kind.sensitivity}` \|$", page, re.MULTILINE)
    assert list(SENSITIVITIES) == schema()["$defs"]["EventSensitivity"]["enum"]
