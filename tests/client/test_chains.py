"""Chains: names in one text, the model of a turn, refusals, and how many calls a provider has at a time."""

import asyncio
from typing import Any

import pytest

from interlingua.canonical.errors import InvalidRequest, ProviderError
from interlingua.client import Bytes, Client, FakeTransport, Refuse, Say
from interlingua.registry import Registry, data

from .upstream import ask

pytestmark = pytest.mark.asyncio

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
BOTH = f"{GPT},{CLAUDE}"
OVERLOADED = Refuse(529)


def client_over(fake: FakeTransport, **members: Any) -> Client:
    return Client(fake, retry="none", **members)


async def first_events(client: Client, request: Any, **members: Any) -> list[dict[str, Any]]:
    async with client.stream(request, **members) as stream:
        return [event async for event in stream]


def tool_turn(model: str) -> dict[str, Any]:
    """A conversation that goes on in the turn in which a model called a tool."""
    call = {"type": "tool_use", "id": "tu_01", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "tu_01", "content": [{"type": "text", "text": "done"}]}
    answer = {"role": "assistant", "content": [call], "metadata": {"model": model}}
    return {"messages": [*ask()["messages"], answer, {"role": "tool", "content": [result]}]}


# ---------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("named", ["argument", "request"])
async def test_a_chain_in_one_text(named: str) -> None:
    """As the argument and as the request's own model, unary and streamed."""
    fake = FakeTransport(OVERLOADED, Say("two"), OVERLOADED, Say("two"))
    given = {"model": BOTH} if named == "argument" else {}
    request = ask() if named == "argument" else ask(model=BOTH)
    async with client_over(fake) as client:
        response = await client.generate(request, **given)
        events = await first_events(client, request, **given)
    assert response["requested_model"] == CLAUDE
    assert [skipped["model"] for skipped in response["skipped"]] == [GPT]
    assert events[-1]["response"]["requested_model"] == CLAUDE


async def test_an_alias_that_stands_for_a_chain_is_expanded_in_place() -> None:
    models = data("models")
    registry = Registry(models={**models, "aliases": {**models["aliases"], "thinking": f"{CLAUDE},{GPT}"}})
    fake = FakeTransport(OVERLOADED, OVERLOADED, Say("three"))
    async with client_over(fake, registry=registry, keys={"anthropic": "k"}) as client:
        response = await client.generate(ask(), model=f"{GPT},thinking", fallbacks=["openai:gpt-4.1-mini"])
    assert [one["model"] for one in response["skipped"]] == [GPT, CLAUDE]
    assert response["requested_model"] == "openai:gpt-4.1-mini"


@pytest.mark.parametrize(
    "given", [{"model": f"{GPT},nope"}, {"model": GPT, "fallbacks": ["nope"]}, {"model": f"nope,{GPT}"}]
)
async def test_a_name_that_is_not_known_is_named_before_anybody_is_asked(given: dict[str, Any]) -> None:
    fake = FakeTransport()
    async with client_over(fake) as client:
        with pytest.raises(InvalidRequest, match="'nope'") as refused:
            await client.generate(ask(), **given)
        assert refused.value.path == ("/fallbacks/0" if "fallbacks" in given else "/model")
    assert fake.sent == []


# ---------------------------------------------------------------------------------------------------- one turn


@pytest.mark.parametrize(
    ("answered", "first"),
    [(CLAUDE, CLAUDE), (f"{CLAUDE}-20260217", CLAUDE), ("ollama:llama3", GPT)],
    ids=["itself", "its-snapshot", "another"],
)
async def test_the_model_that_answered_in_the_turn_is_asked_first(answered: str, first: str) -> None:
    async with client_over(FakeTransport(Say("on"))) as client:
        response = await client.generate(tool_turn(answered), model=BOTH)
    assert response["requested_model"] == first
    assert response["message"]["metadata"]["routing"]["chosen_model"] == first
    assert "skipped" not in response


async def test_a_new_turn_begins_with_the_first_model() -> None:
    request = tool_turn(CLAUDE)
    said = {"role": "assistant", "content": [{"type": "text", "text": "There."}], "metadata": {"model": CLAUDE}}
    request["messages"] += [said, *ask("and now?")["messages"]]
    async with client_over(FakeTransport(Say("on"))) as client:
        assert (await client.generate(request, model=BOTH))["requested_model"] == GPT


async def test_the_others_follow_when_the_model_of_the_turn_fails() -> None:
    async with client_over(FakeTransport(OVERLOADED, Say("on"))) as client:
        assert (await client.generate(tool_turn(CLAUDE), model=BOTH))["requested_model"] == GPT


# ---------------------------------------------------------------------------------------------------- refusals

FILTERED = Refuse(400, {"error": {"message": "filtered", "code": "content_filter", "type": "invalid_request_error"}})


async def test_a_refusal_is_an_answer_unless_said_otherwise() -> None:
    async with client_over(FakeTransport(Say("no", finish_reason="refusal"), FILTERED)) as client:
        assert (await client.generate(ask(), model=f"{CLAUDE},{GPT}"))["finish_reason"] == "refusal"
        with pytest.raises(ProviderError):
            await client.generate(ask(), model=BOTH)


@pytest.mark.parametrize(
    ("refusal", "attempt"),
    [
        (Say("no", finish_reason="content_filter"), {"model": GPT, "category": "content_filter"}),
        (FILTERED, {"model": GPT, "category": "content_filter", "status": 400}),
    ],
    ids=["answer", "error"],
)
async def test_a_refusal_leads_to_the_next_model_when_asked_for(refusal: Any, attempt: dict[str, Any]) -> None:
    async with client_over(FakeTransport(refusal, Say("yes"))) as client:
        response = await client.generate(ask(), model=BOTH, fail_over_on=["refusal"])
        assert not client.health.snapshot()["models"]
    assert response["requested_model"] == CLAUDE
    assert response["attempts"] == [attempt]
    assert [one["reason"] for one in response["skipped"]] in (["refusal"], ["content_filter"])


async def test_the_refusal_of_the_last_model_is_the_answer() -> None:
    fake = FakeTransport(Say("no", finish_reason="content_filter"), Say("never", finish_reason="refusal"))
    async with client_over(fake) as client:
        response = await client.generate(ask(), model=BOTH, fail_over_on=["refusal"])
    assert (response["requested_model"], response["finish_reason"]) == (CLAUDE, "refusal")


async def test_a_stream_that_has_begun_is_nobody_elses() -> None:
    """Words were delivered: the refusal at the end is the answer's own."""
    fake = FakeTransport(Say("I begin", finish_reason="content_filter"), Say("yes"))
    async with client_over(fake) as client:
        events = await first_events(client, ask(), model=BOTH, fail_over_on=["refusal"])
    assert events[-1]["response"]["finish_reason"] == "content_filter"
    assert fake.left == 1


async def test_a_prompt_that_is_refused_in_the_first_chunk_of_a_stream() -> None:
    """Gemini answers a blocked prompt with one frame: nothing has been delivered."""
    blocked = Bytes([b'data: {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}\n\n'])
    fake = FakeTransport(blocked, Say("yes"))
    async with client_over(fake) as client:
        events = await first_events(client, ask(), model=f"gemini:gemini-2.5-flash,{GPT}", fail_over_on=["refusal"])
    assert events[-1]["response"]["requested_model"] == GPT
    assert events[-1]["response"]["skipped"][0]["reason"] == "refusal"


# ---------------------------------------------------------------------------------------------------- places


class Gate(FakeTransport):
    """A fake provider whose calls wait until they are let through; counts how many wait at once."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*steps)
        self.open = asyncio.Event()
        self.waiting = self.most = 0
        self.came = asyncio.Condition()

    async def send(self, url: str, headers: Any, body: bytes, idle: float | None) -> Any:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        async with self.came:
            self.came.notify_all()
        try:
            await self.open.wait()
        finally:
            self.waiting -= 1
        return await super().send(url, headers, body, idle)

    async def until(self, count: int) -> None:
        async with self.came:
            await self.came.wait_for(lambda: self.waiting == count)


async def test_no_more_calls_at_a_time_than_the_limit() -> None:
    gate = Gate(*[Say("x")] * 8)
    async with client_over(gate, concurrency={"openai": 2}) as client:
        calls = [asyncio.create_task(client.generate(ask(), model=GPT)) for _ in range(6)]
        others = [asyncio.create_task(client.generate(ask(), model=CLAUDE)) for _ in range(2)]
        await gate.until(4)
        gate.open.set()
        await asyncio.gather(*calls, *others)
    assert gate.most == 4  # two of openai, and anthropic without a limit


async def test_a_stream_holds_its_place_until_it_is_closed() -> None:
    async with client_over(FakeTransport(Say("one two"), Say("x")), concurrency=1) as client:
        stream = client.stream(ask(), model=GPT)
        await anext(stream)
        waiting = asyncio.create_task(client.generate(ask(), model=GPT))
        await asyncio.sleep(0)
        assert not waiting.done()
        await stream.aclose()
        await waiting


async def test_a_place_is_given_back_by_calls_that_fail_and_that_are_cancelled() -> None:
    gate = Gate(OVERLOADED, Say("x"))
    gate.open.set()
    async with client_over(gate, concurrency=1) as client:
        with pytest.raises(ProviderError):
            await client.generate(ask(), model=GPT)
        gate.open.clear()
        task = asyncio.create_task(client.generate(ask(), model=GPT))
        await gate.until(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gate.open.set()
        await client.generate(ask(), model=GPT)


async def test_the_deadline_ends_the_wait_for_a_place() -> None:
    gate = Gate(Say("x"))
    async with client_over(gate, concurrency=1) as client:
        first = asyncio.create_task(client.generate(ask(), model=GPT))
        await gate.until(1)
        with pytest.raises(ProviderError) as caught:
            await client.generate(ask(), model=GPT, deadline=0.01)
        assert caught.value.error["category"] == "timeout"
        gate.open.set()
        await first
        assert not client.health.snapshot()["models"]


async def test_another_candidate_is_asked_when_no_place_gets_free() -> None:
    from interlingua.client import Retry

    gate = Gate(Say("x"), Say("y"))
    async with Client(gate, concurrency={"openai": 1}, retry=Retry(attempts=1, detour=0.01)) as client:
        first = asyncio.create_task(client.generate(ask(), model=GPT))
        await gate.until(1)
        second = asyncio.create_task(client.generate(ask(), model=BOTH))
        await gate.until(2)
        gate.open.set()
        await first
        response = await second
    assert response["requested_model"] == CLAUDE
    assert [one["reason"] for one in response["skipped"]] == ["overloaded"]


async def test_the_row_of_a_provider_says_its_limit() -> None:
    rows = data("providers")
    rows = {**rows, "providers": {**rows["providers"]}}
    rows["providers"]["openai"] = {**rows["providers"]["openai"], "concurrency": 1}
    gate = Gate(Say("x"), Say("y"))
    async with client_over(gate, registry=Registry(providers=rows), keys={"openai": "k"}) as client:
        calls = [asyncio.create_task(client.generate(ask(), model=GPT)) for _ in range(2)]
        await gate.until(1)
        gate.open.set()
        await asyncio.gather(*calls)
    assert gate.most == 1
