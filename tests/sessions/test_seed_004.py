"""The seven tests that seed 004 §11.1 demands, in its order and in sessions: R-284 to R-290."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from client.six import every_wire

from interlingua import adapters, project, register_tools
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Client, FakeTransport, Say
from interlingua.events import Events
from interlingua.sessions import Sessions, SwapRefused
from interlingua.sessions.rows import MessageRow

from .conftest import CLAUDE, GPT, result, user
from .test_swap import BLIND, PICTURE, with_blind

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]


@pytest.mark.parametrize("adapter", adapters.names())
async def test_1_round_trip_per_adapter(open_sessions: Open, adapter: str) -> None:
    """Canonical, wire, response, canonical, stored, read, wire again: the same bytes for the same provider."""
    fake = FakeTransport(Say("I look.", calls=[("look", {"at": [1, {"é": None}]})]), Say("Seen."), Say("Again."))
    client = Client(fake, registry=every_wire(), retry="none")
    sessions = Sessions((await open_sessions())._opened(), client=client, model=f"every:{adapter}")
    chat = await sessions.create()
    await chat.say("Look", max_output_tokens=50)
    await chat.append(result((await chat.calls())[0].id))
    await chat.generate(max_output_tokens=50)
    before = fake.sent[-1].body
    reloaded = Sessions((await open_sessions())._opened(), client=client, model=f"every:{adapter}").chat(chat.id)
    history = await reloaded.history()
    endpoint = client.registry.endpoint(model=f"every:{adapter}")
    asked = {"model": f"every:{adapter}", "messages": history[:3], "max_output_tokens": 50, "stream": False}
    written = json.loads(project(asked, endpoint).body)
    assert {**written, "stream": None} == {**json.loads(before), "stream": None}
    await client.aclose()


async def test_2_cross_provider_continuity(open_sessions: Open) -> None:
    """Turns at two providers are saved, opened again and continued at a third: every id resolves."""
    third = "gemini:gemini-2.5-pro"
    sessions = await open_sessions(*[Say("I look.", calls=[("look", {"n": 1})]), Say("Seen.")] * 5)
    chat = await sessions.create()
    for model in (CLAUDE, GPT, CLAUDE, GPT, third):
        chat = (await open_sessions(transport=sessions.fake)).chat(chat.id)
        await chat.swap(model)
        await chat.say("Look")
        await chat.append(result((await chat.calls("pending"))[0].id))
        assert (await chat.generate())["message"]["metadata"]["provider"] == model.partition(":")[0]
    assert await chat.check() == []
    last = sessions.fake.sent[-1].request["messages"]
    asked = [block["id"] for message in last for block in message["content"] if block["type"] == "tool_use"]
    told = [block["tool_use_id"] for message in last for block in message["content"] if block["type"] == "tool_result"]
    assert asked == told
    assert len(asked) == len(set(asked)) == 5


async def test_3_swap_against_capabilities(open_sessions: Open) -> None:
    """The swap is rejected with a clear error; nothing changes."""
    client = Client(FakeTransport(), registry=with_blind())
    sessions = Sessions((await open_sessions())._opened(), client=client)
    chat = await sessions.create(model=CLAUDE)
    await chat.append(user(content=[PICTURE]))
    with pytest.raises(SwapRefused, match="session contains images that this model can't process"):
        await chat.swap(BLIND)
    assert (await chat.info()).active_model == CLAUDE
    await client.aclose()


async def test_4_schema_migration(open_sessions: Open) -> None:
    """A message of an older version is migrated when a newer one reads it."""
    sessions = await open_sessions(Say("Well."))
    chat = await sessions.create()
    old = MessageRow("", "0" * 26, chat.id, "user", '"What is a ULID?"', "{}", 1, 0)
    await sessions.write(lambda rows: rows.insert([old]))
    assert (await chat.history())[0]["content"] == [{"type": "text", "text": "What is a ULID?"}]
    await chat.generate()
    assert sessions.fake.sent[0].request["messages"][0]["content"][0]["text"] == "What is a ULID?"


async def test_5_tool_schema_validation(open_sessions: Open) -> None:
    """A tool with a schema outside the subset fails loudly when it is registered."""
    tool = {"name": "look", "input_schema": {"type": "object", "properties": {"at": {"oneOf": [{"type": "string"}]}}}}
    with pytest.raises(InvalidRequest, match="look") as told:
        register_tools([tool])
    assert told.value.path == "/0/input_schema/properties/at/oneOf"
    assert await (await open_sessions()).latest() == []


async def test_6_lossy_projection_logging(open_sessions: Open, caplog: pytest.LogCaptureFixture) -> None:
    """Thinking through OpenAI: one WARN with the five fields, and no event."""
    seen: list[dict[str, Any]] = []
    sessions = await open_sessions(Say("5", thinking="2 + 3"), Say("Yes."), events=Events(seen.append))
    chat = await sessions.create(model=CLAUDE)
    await chat.say("2 + 3?")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        await chat.generate(model=GPT)
    [record] = [record for record in caplog.records if "dropped" in record.getMessage()]
    fields = record.args if isinstance(record.args, dict) else {}
    thought = (await chat.history())[1]["id"]
    told = {
        name: getattr(record, name, fields.get(name)) for name in ("session_id", "message_id", "block_type", "adapter")
    }
    assert told == {"session_id": chat.id, "message_id": thought, "block_type": "thinking", "adapter": "openai_chat"}
    assert getattr(record, "reason", fields.get("reason"))
    assert {event["type"] for event in seen} <= {
        "session.created",
        "turn.started",
        "route.decided",
        "message.appended",
        "turn.ended",
    }


async def test_7_cost_computation(open_sessions: Open) -> None:
    """A known conversation with mocked responses has the expected cost."""
    counts = [{"input_tokens": 8, "output_tokens": 42}, {"input_tokens": 1_000_000, "output_tokens": 0}]
    sessions = await open_sessions(*(Say("x", usage=count) for count in counts))
    chat = await sessions.create()
    for _ in counts:
        await chat.say("Hi")
    costs = [one["metadata"]["usage"]["cost_usd"] for one in await chat.history() if one["role"] == "assistant"]
    assert costs == ["0.000654", "3"]
    assert [price.cost_usd for price in await chat.reprice()] == costs
