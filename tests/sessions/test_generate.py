"""Generate in a session: the rows of an answer that is whole, broken off, cancelled, or abandoned by a dead process."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from interlingua.canonical.errors import Cancelled, InvalidRequest, NoCandidate, ProviderError, StreamTruncated
from interlingua.client import Bytes, Fail, FakeTransport, Refuse, Say
from interlingua.sessions import Conflict, TurnInProgress

from .conftest import CLAUDE, GPT, Clock, call, result, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]

TORN = (
    b'data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],'
    b'"model":"claude-sonnet-4-6","usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look"}}\n\n'
    b'data: {"type":"content_block_stop","index":0}\n\n'
    b'data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"look",'
    b'"input":{}}}\n\n'
    b'data: {"type":"content_block_stop","index":1}\n\n'
)
"""A call is whole, and the stream is not."""

SLOW = "one two three four five six seven eight"


async def collected(stream: Any) -> tuple[list[dict[str, Any]], BaseException | None]:
    """Return all events of a stream, and the exception that it raised."""
    events: list[dict[str, Any]] = []
    try:
        async for event in stream:
            events.append(event)
    except Exception as problem:  # noqa: BLE001
        return events, problem
    return events, None


async def test_what_is_said_is_answered_and_stored(open_sessions: Open) -> None:
    """The response is that of the client; its message is the stored one."""
    sessions = await open_sessions(Say("Hello!"), Say("Well."))
    chat = await sessions.create()
    response = await chat.say("Hi", max_output_tokens=50)
    assert response["finish_reason"] == "stop"
    history = await chat.history()
    assert [message["role"] for message in history] == ["user", "assistant"]
    assert history[1] == response["message"]
    metadata = history[1]["metadata"]
    assert (metadata["model"], metadata["provider"], metadata["status"]) == (CLAUDE, "anthropic", "complete")
    assert metadata["routing"]["mode"] == "default"
    assert metadata["usage"]["cost_usd"] == "0.000105"
    sent = sessions.fake.sent[0].request
    assert sent["max_output_tokens"] == 50
    await chat.say("And?")
    assert [message["role"] for message in sessions.fake.sent[1].request["messages"]] == ["user", "assistant", "user"]
    assert await chat.check("strict-004") == []
    assert (await chat.info()).turn_until is None


@pytest.mark.parametrize("streamed", [False, True])
async def test_calls_have_ids_of_the_session(open_sessions: Open, streamed: bool) -> None:
    """Every call gets a new id, the same in events, response and rows; the provider gets its own ids back: R-103,
    R-105."""
    steps = [Say("I look.", calls=[("look", {"at": 1}), ("look", {"at": 2})]), Say("Seen.")]
    sessions = await open_sessions(*steps, *steps)
    ids: set[str] = set()
    for _ in range(2):
        chat = await sessions.create()
        if streamed:
            async with chat.stream("Look") as stream:
                events = [event async for event in stream]
            told = [event["id"] for event in events if event["type"] == "tool_use_end"]
            assert {event["id"] for event in events if "id" in event} == set(told)
            response = stream.response
            assert events[-1]["response"] == response
        else:
            response = await chat.say("Look")
            told = [block["id"] for block in response["message"]["content"] if block["type"] == "tool_use"]
        assert [one.id for one in await chat.calls("pending")] == told
        assert response["message"] == (await chat.history())[-1]
        ids |= set(told)
        await chat.append([result(told[0]), result(told[1], is_error=True)])
        sent = sessions.fake.sent[-1].json
        await chat.generate()
        again = sessions.fake.sent[-1].json["messages"]
        named = [block["id"] for block in again[1]["content"] if block["type"] == "tool_use"]
        assert [one.provider_id for one in await chat.calls()] == named
        assert [block["tool_use_id"] for block in again[2]["content"]] == named
        assert [one.status for one in await chat.calls()] == ["succeeded", "failed"]
        assert await chat.check() == []
        assert sent is not None
    assert len(ids) == 4


async def test_a_stream_tells_what_is_stored(open_sessions: Open) -> None:
    """The events have the id of the message, and the last event arrives after the message is stored."""
    sessions = await open_sessions(Say(SLOW))
    chat = await sessions.create()
    async with chat.stream("Hi") as stream:
        async for event in stream:
            if event["type"] == "message_complete":
                assert (await chat.history())[-1] == event["response"]["message"]
            last = event
    assert last["message_id"] == (await chat.history())[-1]["id"]
    assert (await chat.info()).turn_until is None


async def test_what_has_arrived_is_written_while_it_arrives(open_sessions: Open) -> None:
    """It is a message of status partial; other callers cannot append after it, and its calls have no rows yet."""
    sessions = await open_sessions(Say(SLOW, pause=0.05), checkpoint=0.03)
    chat = await sessions.create()
    seen: list[str] = []
    async with chat.stream("Hi") as stream:
        async for event in stream:
            last = (await chat.history())[-1]
            if last["role"] == "assistant" and last["metadata"]["status"] == "partial":
                seen.append(last["content"][0]["text"])
                assert last["id"] == event["message_id"]
                with pytest.raises(TurnInProgress):
                    await chat.append(user("me too"))
                assert await chat.check() == []
    assert seen == sorted(seen, key=len)
    assert seen
    assert len(set(seen)) > 1
    assert (await chat.history())[-1]["content"] == [{"type": "text", "text": SLOW}]
    assert (await chat.history())[-1]["metadata"]["status"] == "complete"


@pytest.mark.parametrize("how", ["cancel", "close", "task"])
@pytest.mark.parametrize("checkpoint", [0.01, 60.0])
async def test_a_cancelled_answer_is_kept_as_far_as_it_came(open_sessions: Open, how: str, checkpoint: float) -> None:
    """The answer has status cancelled and what had arrived; the session continues."""
    sessions = await open_sessions(Say(SLOW, pause=0.02), Say("Now."), checkpoint=checkpoint)
    chat = await sessions.create()
    texts: list[str] = []
    third = asyncio.Event()

    async def read() -> None:
        async with chat.stream("Hi") as stream:
            async for event in stream:
                if event["type"] == "text_delta":
                    texts.append(event["text"])
                if len(texts) == 3:
                    if how == "cancel":
                        stream.cancel()
                    elif how == "close":
                        return
                    else:
                        third.set()
                        await asyncio.sleep(60)

    task = asyncio.create_task(read())
    if how == "task":
        await third.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    elif how == "cancel":
        with pytest.raises(Cancelled):
            await task
    else:
        await task
    assert sessions.fake.answers[0].closed
    last = (await chat.history())[-1]
    assert last["metadata"]["status"] == "cancelled"
    assert last["content"] == [{"type": "text", "text": "".join(texts)}]
    assert last["metadata"]["model"] == CLAUDE
    await chat.say("Go on")
    assert [message["role"] for message in await chat.history()] == ["user", "assistant", "user", "assistant"]
    assert await chat.check() == []


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(("step", "category"), [(Refuse(529), "overloaded"), (Fail(), "network")])
async def test_a_failure_before_anything_arrived_leaves_no_answer(
    open_sessions: Open, streamed: bool, step: Any, category: str
) -> None:
    """The user's message is stored; the turn has ended, and its event states the reason."""
    sessions = await open_sessions(step, Say("Now."))
    chat = await sessions.create()
    with pytest.raises(ProviderError):
        await (anext(chat.stream("Hi")) if streamed else chat.say("Hi"))
    assert [message["role"] for message in await chat.history()] == ["user"]
    [ended] = [one.event async for one in first_events(chat) if one.event["type"] == "turn.ended"]
    assert ended["payload"] == {"category": category}
    await chat.generate()
    assert await chat.check() == []


async def first_events(chat: Any) -> Any:
    """Return the events up to now."""
    last = (await chat.info()).revision
    async for one in chat.watch():
        yield one
        if one.revision == last:
            return


async def test_a_stream_that_breaks_is_kept_as_an_error(open_sessions: Open) -> None:
    """The answer has what had arrived, including an open call, which is then cancelled; the next request closes it."""
    sessions = await open_sessions(Bytes([TORN], breaks="network"), Say("Well."))
    chat = await sessions.create()
    events, problem = await collected(chat.stream("Hi"))
    assert isinstance(problem, StreamTruncated)
    last = (await chat.history())[-1]
    assert last["metadata"]["status"] == "error"
    assert [block["type"] for block in last["content"]] == ["text", "tool_use"]
    assert events[-1]["response"]["message"] == last
    assert [one.status for one in await chat.calls()] == ["cancelled"]
    await chat.say("Go on")
    assert await chat.check() == []


async def test_one_answer_at_a_time(open_sessions: Open) -> None:
    """A second one is refused, from this process or another, and its message is not stored either."""
    first = await open_sessions(Say(SLOW, pause=0.02))
    second = await open_sessions(Say("No."))
    chat = await first.create()
    async with chat.stream("Hi") as stream:
        await anext(stream)
        for sessions in (first, second):
            with pytest.raises(TurnInProgress) as told:
                await sessions.chat(chat.id).say("me too")
        assert told.value.until > "2026-05-08T12:00:00"
        assert told.value.to_dict()["code"] == "turn_in_progress"
        async for _ in stream:
            pass
    assert len(await chat.history()) == 2
    assert second.fake.sent == []


async def test_a_turn_that_was_left_is_ended(open_sessions: Open, clock: Clock) -> None:
    """After its lease has ended, what had arrived has status error, and a holder that still lives writes nothing
    more."""
    first = await open_sessions(Say(SLOW, pause=0.03), checkpoint=0.01, lease=15.0)
    second = await open_sessions(Say("Here."))
    chat = await first.create()
    stream = chat.stream("Hi")
    for _ in range(8):
        await anext(stream)
    await asyncio.sleep(0.1)
    arrived = (await chat.history())[-1]
    assert arrived["metadata"]["status"] == "partial"
    # the other process's clock is a minute ahead: for it, the lease has ended
    second.marks._now = lambda: clock.time.replace(minute=1)
    assert await second.recover() == 1
    assert await second.recover() == 0
    other = second.chat(chat.id)
    closed = (await other.history())[-1]
    assert closed["metadata"]["status"] == "error"
    assert closed["content"][0]["text"].startswith(arrived["content"][0]["text"])
    assert await other.check() == []
    await other.say("Are you there?")
    _, problem = await collected(stream)
    assert isinstance(problem, Conflict)
    history = await chat.history()
    assert [message["metadata"]["status"] for message in history] == ["complete", "error", "complete", "complete"]
    assert history[1] == closed


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_lease_is_kept_while_an_answer_takes_its_time(
    open_sessions: Open, clock: Clock, streamed: bool
) -> None:
    """The lease is renewed before it ends, also while nothing arrives."""
    answered = asyncio.Event()

    async def wait(_: float) -> None:
        await answered.wait()

    sessions = await open_sessions(transport=FakeTransport(Say("x", delay=1), sleep=wait), lease=0.06)
    chat = await sessions.create()
    task = asyncio.create_task(collected(chat.stream("Hi")) if streamed else chat.say("Hi"))
    until = None
    for _ in range(4):
        async with asyncio.timeout(30):
            while (renewed := (await chat.info()).turn_until) in (None, until):  # noqa: ASYNC110 it is a row that tells
                await asyncio.sleep(0.01)
        until = renewed
        assert await sessions.recover() == 0
        clock.move(0.05)
    answered.set()
    await task
    assert [message["metadata"]["status"] for message in await chat.history()] == ["complete"] * 2


async def test_a_key_asks_once(open_sessions: Open) -> None:
    """A message that was answered under a key gets the same answer again, without a provider call."""
    sessions = await open_sessions(Refuse(529), Say("Hello!"))
    chat = await sessions.create()
    with pytest.raises(ProviderError):
        await chat.say("Hi", key="k")
    first = await chat.say("Hi", key="k")
    again = await chat.say("Hi", key="k")
    assert again["message"] == first["message"]
    assert len(sessions.fake.sent) == 2
    assert len(await chat.history()) == 2
    events, _ = await collected(chat.stream("Hi", key="k"))
    assert [event["type"] for event in events] == ["message_complete"]


@pytest.mark.parametrize("streamed", [True, False])
async def test_what_broke_off_is_answered_anew_under_its_key(open_sessions: Open, streamed: bool) -> None:
    """The model does not continue the incomplete answer; the whole answer replaces it."""
    torn = Bytes([TORN], breaks="network")
    sessions = await open_sessions(torn, Refuse(400), torn, Say("All is well.", calls=[("look", {"n": 2})]))
    chat = await sessions.create()
    for _ in range(3):
        assert (await collected(chat.stream("Hi", key="k")))[1] is not None
    # by another model: the first one is in cooldown after its failures
    if streamed:
        answer = (await collected(chat.stream("Hi", key="k", model=GPT)))[0][-1]["response"]
    else:
        answer = await chat.say("Hi", key="k", model=GPT)
    assert [[message["role"] for message in one.request["messages"]] for one in sessions.fake.sent] == [["user"]] * 4
    assert [message["id"] for message in await chat.history()][1:] == [answer["message"]["id"]]
    everything = await chat.history(superseded=True)
    assert [one["metadata"]["status"] for one in everything] == ["complete", "error", "error", "complete"]
    assert [one.get("superseded_by") for one in everything[1:]] == [*[one["id"] for one in everything[2:]], None]
    assert await chat.check() == []
    assert [call.status for call in await chat.calls()] == ["cancelled", "cancelled", "pending"]


async def test_what_was_said_since_stays_where_it_is(open_sessions: Open) -> None:
    """An answer that broke off stays in the conversation when the conversation has continued."""
    sessions = await open_sessions(Bytes([TORN], breaks="network"), Say("Well."))
    chat = await sessions.create()
    await collected(chat.stream("Hi", key="k"))
    await chat.append(user())
    await chat.say("Hi", key="k")
    assert len(await chat.history()) == 4
    with pytest.raises(Conflict, match="has continued since"):
        await chat.say("Hi", key="k")
    assert len(sessions.fake.sent) == 2
    sent = sessions.fake.sent[1].request["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "user"]


async def test_a_session_without_a_model_says_so(open_sessions: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """No model is guessed; the environment variable may name one."""
    monkeypatch.delenv("INTERLINGUA_MODEL", raising=False)
    chat = await (await open_sessions(policy=None)).create()
    with pytest.raises(NoCandidate):
        await chat.say("Hi")
    monkeypatch.setenv("INTERLINGUA_MODEL", GPT)
    sessions = await open_sessions(Say("Hello!"), policy=None)
    assert (await sessions.chat(chat.id).generate())["model"] == GPT


async def test_what_is_wrong_with_a_request_leaves_no_turn(open_sessions: Open) -> None:
    """A member with a wrong value, and an unknown model."""
    sessions = await open_sessions(Say("Hello!"))
    chat = await sessions.create()
    for members in ({"temperature": "hot"}, {"model": "nobody"}):
        with pytest.raises(InvalidRequest):
            await chat.say("Hi", **members)
    assert (await chat.info()).turn_until is None
    await chat.generate()


async def test_open_calls_are_told(open_sessions: Open) -> None:
    """While a call waits for its result, the provider is not called: the error names the call."""
    sessions = await open_sessions(Say("Well."))
    chat = await sessions.create()
    await chat.append([user(), {"role": "assistant", "content": [call("tu_01HZ0000000000000000000100")]}, user()])
    with pytest.raises(InvalidRequest) as told:
        await chat.generate()
    assert told.value.path is not None
    assert sessions.fake.sent == []
    assert (await chat.info()).turn_until is None
