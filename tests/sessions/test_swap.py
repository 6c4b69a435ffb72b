"""Change the model of a session: executed, refused, queued; the preview shows the loss."""

from collections.abc import Callable
from typing import Any

import pytest

from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Say
from interlingua.registry import Registry, data
from interlingua.sessions import SwapRefused

from .conftest import CLAUDE, GPT, result, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]
PICTURE = {
    "type": "image",
    "media_type": "image/png",
    "source": {"kind": "base64", "data": "iVBORw0KGgo="},
}
BLIND = "anthropic:claude-haiku-4-5-text-only"


def with_blind() -> Registry:
    """Return the registry with the model of the seed's example."""
    models = data("models")
    row = {"title": "Haiku-text-only", "adapter": "anthropic_messages", "capabilities": {"supports_images": False}}
    providers = data("providers")["providers"].values()
    keys = {name: "k" for row in providers if row["auth"] for name in row["auth"]["env"]}
    return Registry(models={**models, "models": {**models["models"], BLIND: row}}, environment=keys)


async def told(chat: Any, name: str) -> list[dict[str, Any]]:
    """Return the payloads of the events of a type."""
    last = (await chat.info()).revision
    found: list[dict[str, Any]] = []
    async for one in chat.watch():
        if one.event["type"] == name:
            found.append(one.event["payload"])
        if one.revision == last:
            return found
    return found


async def test_a_swap_is_by_command(open_sessions: Open) -> None:
    """The other model gives the next answer: mode manual, with the seed's reason; `-` clears it: R-227."""
    sessions = await open_sessions(Say("One."), Say("Two."), Say("Three."))
    chat = await sessions.create()
    await chat.say("Hi")
    swap = await chat.swap(GPT)
    assert (swap.model, swap.queued) == (GPT, False)
    assert (await chat.info()).active_model == GPT
    record = (await chat.say("Hi"))["message"]["metadata"]["routing"]
    assert (record["mode"], record["chosen_model"], record["reason"]) == ("manual", GPT, "user swap via /model command")
    assert (await chat.swap("-")).model is None
    assert (await chat.say("Hi"))["message"]["metadata"]["routing"]["mode"] == "default"
    assert await told(chat, "session.swapped") == [{"model": GPT}, {}]
    [decided, *_] = await told(chat, "route.decided")
    assert decided["chosen_model"] == CLAUDE
    with pytest.raises(InvalidRequest):
        await chat.swap("nobody")
    with pytest.raises(InvalidRequest):
        await chat.swap(" ")


async def test_an_answer_may_be_asked_of_another_model_once(open_sessions: Open) -> None:
    """A model may be named for one answer, also by a word at the start of the message; the session's model stays."""
    sessions = await open_sessions(Say("One."), Say("Two."), Say("Three."))
    chat = await sessions.create(model=GPT)
    assert (await chat.say("Hi", model=CLAUDE))["model"] == CLAUDE
    response = await chat.say(f"@{CLAUDE} Hi")
    assert response["message"]["metadata"]["routing"]["mode"] == "override"
    assert sessions.fake.sent[-1].request["messages"][-1]["content"][0]["text"] == "Hi"
    assert (await chat.say("Hi"))["model"] == GPT


async def test_a_swap_that_breaks_the_history_is_refused(open_sessions: Open) -> None:
    """The error has the exact text, there is one event, and nothing changes: R-226, R-286."""
    from interlingua.client import Client, FakeTransport
    from interlingua.sessions import Sessions

    sessions = await open_sessions()
    client = Client(FakeTransport(), registry=with_blind())
    seeing = Sessions(sessions._opened(), client=client, now=sessions.now)
    chat = await seeing.create(model=CLAUDE)
    await chat.append(user(content=[PICTURE]))
    before = await chat.info()
    with pytest.raises(SwapRefused) as refused:
        await chat.swap(BLIND)
    words = (
        "Cannot swap to Haiku-text-only: session contains images that this model can't process. Active model unchanged."
    )
    assert str(refused.value) == words
    assert refused.value.verdict["failures"] == ["no_vision_support"]
    after = await chat.info()
    assert (after.active_model, after.queued_model, after.revision) == (CLAUDE, None, before.revision + 1)
    [payload] = await told(chat, "routing_constraint_failure")
    assert payload == {
        "requested_model": BLIND,
        "active_model": CLAUDE,
        "failures": ["no_vision_support"],
        "message": words,
    }
    await client.aclose()


async def test_a_swap_in_a_turn_waits_for_its_end(open_sessions: Open) -> None:
    """It waits while an answer arrives, and while calls of the turn are open; the last command counts: R-229."""
    sessions = await open_sessions(Say("I look.", calls=[("look", {})]), Say("Seen."), Say("By another."))
    chat = await sessions.create(model=CLAUDE)
    async with chat.stream("Look") as stream:
        await anext(stream)
        assert (await chat.swap("openai:gpt-5.4")).queued
        async for _ in stream:
            pass
    info = await chat.info()
    assert (info.active_model, info.queued_model) == (CLAUDE, "openai:gpt-5.4")
    assert (await chat.swap(GPT)).queued
    await chat.append(result((await chat.calls())[0].id))
    assert (await chat.generate())["model"] == CLAUDE
    assert (await chat.info()).queued_model == GPT
    assert (await chat.say("And now?"))["model"] == GPT
    info = await chat.info()
    assert (info.active_model, info.queued_model) == (GPT, None)


async def test_a_queued_swap_is_looked_at_again(open_sessions: Open) -> None:
    """Later messages may prevent it: then it is refused, with the event, and the old model continues."""
    from interlingua.client import Client, FakeTransport
    from interlingua.sessions import Sessions

    sessions = await open_sessions()
    fake = FakeTransport(Say("I look.", calls=[("look", {})]), Say("Seen."), Say("Nice."))
    client = Client(fake, registry=with_blind())
    seeing = Sessions(sessions._opened(), client=client, now=sessions.now)
    chat = await seeing.create(model=CLAUDE)
    await chat.say("Look")
    assert (await chat.swap(BLIND)).queued
    await chat.append(result((await chat.calls())[0].id))
    await chat.generate()
    await chat.append(user(content=[PICTURE]))
    assert (await chat.generate())["model"] == CLAUDE
    info = await chat.info()
    assert (info.active_model, info.queued_model) == (CLAUDE, None)
    [payload] = await told(chat, "routing_constraint_failure")
    assert payload["requested_model"] == BLIND
    await client.aclose()


async def test_the_loss_of_a_swap_is_told_before_it(open_sessions: Open) -> None:
    """Preview, swap and answer report the same loss: R-280."""
    sessions = await open_sessions(Say("It is 5.", thinking="2 and 3"), Say("Yes."))
    chat = await sessions.create(model=CLAUDE)
    await chat.say("2 + 3?")
    assert [block["type"] for block in (await chat.history())[-1]["content"]] == ["thinking", "text"]
    swap = await chat.swap(GPT)
    await chat.append(user("Sure?"))
    [row] = await chat.preview(GPT)
    response = await chat.generate()
    assert row["loss"] == response["loss"]
    assert swap.preview is not None
    assert swap.preview["loss"] == row["loss"]
    assert row["estimated_tokens"]["likely"] > 0
    assert row["worst_severity"] == "lost"


async def test_at_home_nothing_is_lost(open_sessions: Open) -> None:
    """A provider gets its state back after another one has answered in between: R-105, R-121."""
    steps = [Say("I look.", thinking="hm", calls=[("look", {"n": 1})]), Say("Seen."), Say("Back.")]
    sessions = await open_sessions(*steps)
    chat = await sessions.create(model=CLAUDE)
    await chat.say("Look")
    [called] = await chat.calls()
    await chat.append(result(called.id))
    await chat.generate(model=GPT)
    there = sessions.fake.sent[1].json["messages"]
    assert there[1]["tool_calls"][0]["id"] == there[2]["tool_call_id"] != called.provider_id
    await chat.say("Again", model=CLAUDE)
    back = sessions.fake.sent[2].json["messages"]
    [use] = [block for block in back[1]["content"] if block["type"] == "tool_use"]
    assert use["id"] == back[2]["content"][0]["tool_use_id"] == called.provider_id
