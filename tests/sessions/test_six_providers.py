"""Six providers alternate in one session of 60 turns, opened again for each; a seventh continues it: R-023, R-106,
R-285."""

import itertools
from importlib.resources import files
from typing import Any

import pytest

from interlingua.canonical import json
from interlingua.client import Client, Exchange, ReplayTransport
from interlingua.client.playing import Sent
from interlingua.client.replay import open_registry
from interlingua.registry import Registry
from interlingua.sessions import Chat, Sessions

from .conftest import result

pytestmark = pytest.mark.asyncio

SIX = (
    "anthropic:claude-sonnet-4-6",
    "openai:gpt-4.1",
    "gemini:gemini-2.5-pro",
    "ollama:llama3.3",
    "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
    "mistral:mistral-large-latest",
)
SEVENTH = "deepseek:deepseek-chat"
TURNS = 60
TOOLS = [
    {
        "name": "read_gauge",
        "description": "Reads a gauge.",
        "input_schema": {"type": "object", "properties": {"pump": {"type": "string"}}},
        "side_effects": "read",
    }
]
MEMBERS: dict[str, Any] = {"tools": TOOLS, "max_output_tokens": 500}


class Recorded(ReplayTransport):
    """A transport that answers a user message with two calls, and results with text. It keeps the sent requests."""

    def __init__(self) -> None:
        folder = files("interlingua.client").joinpath("exchanges")
        calls = Exchange("calls", {"last": "user"}, 0, 0, folder.joinpath("1-read-gauges"))
        words = Exchange("words", {"last": "tool"}, 0, 0, folder.joinpath("9-anything"))
        super().__init__([words, calls], pace=0)
        self.sent: list[Sent] = []

    async def send(self, url: str, headers: Any, body: bytes, idle: float | None) -> Any:
        """Record the request, and answer it."""
        self.sent.append(Sent(url, dict(headers), body))
        return await super().send(url, headers, body, idle)


def registry() -> Registry:
    """Return a registry in which every provider is configured."""
    return open_registry()


async def answer(chat: Chat, model: str, *, streamed: bool) -> dict[str, Any]:
    """Generate an answer, and check that its loss equals that of the preview."""
    [row] = await chat.preview(model, **MEMBERS)
    if streamed:
        async with chat.stream(**MEMBERS) as stream:
            async for _ in stream:
                pass
        response = stream.response
        assert response is not None
    else:
        response = await chat.generate(**MEMBERS)
    assert response.get("loss", []) == row["loss"]
    provider = response["message"]["metadata"]["provider"]
    assert provider == model.partition(":")[0]
    return response


async def turn(chat: Chat, model: str, number: int) -> None:
    """Run one turn: a user message, two calls, their results, a text."""
    await chat.swap(model, **MEMBERS)
    await chat.append({"role": "user", "content": [{"type": "text", "text": f"Read both gauges, {number}."}]})
    called = await answer(chat, model, streamed=number % 2 == 0)
    ids = [block["id"] for block in called["message"]["content"] if block["type"] == "tool_use"]
    assert len(ids) == 2
    assert [one.id for one in await chat.calls("pending")] == ids
    await chat.append([result(one, f"{number} bar", is_error=number % 5 == 0) for one in ids])
    await answer(chat, model, streamed=number % 3 == 0)


@pytest.mark.timeout(300)
async def test_six_providers_alternate_and_a_seventh_goes_on(url: str) -> None:
    """All ids resolve, each provider gets its own state back, and the preview contained every loss."""
    session_id = ""
    sent: dict[str, Sent] = {}
    for number, model in zip(range(TURNS + 1), itertools.chain(SIX * (TURNS // len(SIX)), [SEVENTH]), strict=True):
        transport = Recorded()
        async with (
            Client(transport, registry=registry(), retry="none") as client,
            Sessions(url, client=client) as sessions,
        ):
            chat = await sessions.open(session_id) if session_id else await sessions.create(model=SIX[0])
            session_id = chat.id
            await turn(chat, model, number)
            sent[model] = transport.sent[-1]
    async with Sessions(url) as sessions:
        chat = await sessions.open(session_id)
        history = await chat.history()
        assert await chat.check() == []
        calls = await chat.calls()
        assert len(history) == 5 * (TURNS + 1)
        assert len(calls) == 2 * (TURNS + 1)
        assert len({call.id for call in calls}) == len(calls)
        assert {call.status for call in calls} == {"succeeded", "failed"}
        assert len(await chat.calls("failed")) == 2 * len(range(0, TURNS + 1, 5))
        for one in sent.values():
            await demand_paired(one)
        await demand_own_state(chat, sent[SIX[0]], history)


async def demand_paired(one: Sent) -> None:
    """Check that in a sent request every result has a call before it, and every call a result."""
    open_calls: list[str] = []
    for message in one.request["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_use":
                open_calls.append(block["id"])
            elif block["type"] == "tool_result":
                open_calls.remove(block["tool_use_id"])
    assert open_calls == []


async def demand_own_state(chat: Chat, one: Sent, history: list[dict[str, Any]]) -> None:
    """Check that the first provider gets its own signatures and ids back verbatim, and none of other providers."""
    ours = [
        block
        for message in history
        if message["role"] == "assistant" and message["metadata"]["provider"] == "anthropic"
        for block in message["content"]
    ]
    there = [
        block for message in one.json["messages"] if message["role"] == "assistant" for block in message["content"]
    ]
    signed = [(block["thinking"], block["signature"]) for block in there if block["type"] == "thinking"]
    kept = [(block["text"], block["signature"]) for block in ours if block["type"] == "thinking"]
    assert signed
    # the last turn with the other providers was later: the sent request holds all state signed by then
    assert signed == kept[: len(signed)]
    assert len(signed) >= TURNS // len(SIX)
    named = [block["id"] for block in there if block["type"] == "tool_use"]
    for block in ours:
        if block["type"] == "tool_use":
            provider_ids = await chat.provider_ids(block["id"])
            assert provider_ids[("anthropic_messages", "anthropic")] in named
    assert len({json.dumps(block) for block in kept}) == 1
