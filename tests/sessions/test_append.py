"""Appending: order, ids, keys, conflicts, tool calls, tenants; on both engines."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from interlingua import Message
from interlingua.canonical.errors import InvalidRequest
from interlingua.sessions import Conflict, KeyReused, SessionNotFound, StorageFailed

from .conftest import Clock, assistant, call, result, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]
ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
CALL, OTHER = "tu_01HZ0000000000000000000100", "tu_01HZ0000000000000000000200"


async def test_what_is_appended_is_read_as_it_was_written(open_sessions: Open) -> None:
    """Every member, known or not, round-trips; the envelope is filled in: R-001, R-024."""
    chat = await (await open_sessions()).create()
    given = user(
        "Hé\u0000 \U0001f600",
        name="ann",
        priority=3,
        cache={"ttl": "5m"},
        extra={"x.y": [1, 2**70, None]},
        later={"a": "b"},
        metadata={"user_id": "usr_01HZ0000000000000000000001", "hint": {"n": 1}},
    )
    given["content"].append({"type": "hologram", "deep": [{"x": 1.5}]})
    appended = await chat.append(given)
    [stored] = appended.messages
    assert await chat.history() == [stored]
    assert {**stored, **given, "metadata": stored["metadata"]} == stored
    assert stored["metadata"] == {**given["metadata"], "status": "complete"}
    assert (stored["session_id"], stored["schema_version"]) == (chat.id, 1)
    assert stored["created_at"] == "2026-05-08T12:00:00.000000Z"
    assert ULID.fullmatch(stored["id"])


async def test_types_and_texts_are_taken_as_well(open_sessions: Open) -> None:
    """`append` takes a value of the types, a text as content, and a list of messages."""
    chat = await (await open_sessions()).create()
    await chat.append([Message.user("one"), {"role": "user", "content": "two"}])
    assert [message["content"][0]["text"] for message in await chat.history()] == ["one", "two"]


async def test_ids_increase_whatever_the_clock_does(open_sessions: Open, clock: Clock) -> None:
    """With a clock that stops and one that goes back, in two processes with different random bits: R-002."""
    first, second = await open_sessions(), await open_sessions()
    chat = await first.create()
    for step in (0, 0, -3600, 0, 7200, -7200):
        clock.move(step)
        await chat.append([user(str(number)) for number in range(50)])
        await second.chat(chat.id).append([user(str(number)) for number in range(50)])
    ids = [message["id"] for message in await chat.history()]
    assert len(ids) == 600
    assert ids == sorted(set(ids))
    assert await chat.check() == []


async def test_a_time_keeps_its_microseconds(open_sessions: Open) -> None:
    """A time with another offset is the same moment; a time without an offset is refused: R-004."""
    chat = await (await open_sessions()).create()
    await chat.append(user(created_at="2026-05-08T14:00:00.123456+02:00"))
    assert (await chat.history())[0]["created_at"] == "2026-05-08T12:00:00.123456Z"
    with pytest.raises(InvalidRequest):
        await chat.append(user(created_at="2026-05-08T14:00:00"))


async def test_a_message_of_no_session_is_refused(open_sessions: Open) -> None:
    """A message without a session is refused (R-003), and one of another session too (R-093)."""
    sessions = await open_sessions()
    with pytest.raises(SessionNotFound):
        await sessions.chat("sess_00000000000000000000000000").append(user())
    chat = await sessions.create()
    with pytest.raises(InvalidRequest):
        await chat.append(user(session_id="sess_00000000000000000000000000"))
    assert await chat.history() == []


async def test_all_or_none(open_sessions: Open) -> None:
    """One invalid message in a list: nothing is stored, and the error points at that message."""
    chat = await (await open_sessions()).create()
    before = await chat.info()
    with pytest.raises(InvalidRequest) as told:
        await chat.append([user(), assistant(), {"role": "user", "content": []}])
    assert told.value.violations[0] == {
        "rule": "content_not_empty",
        "path": "/2/content",
        "message": "a message with role user must hold a block",
    }
    with pytest.raises(InvalidRequest) as told:
        await chat.append([user(), {"role": "nobody", "content": []}])
    assert told.value.path == "/1/role"
    assert await chat.history() == []
    assert await chat.info() == before


async def test_all_that_is_wrong_is_told(open_sessions: Open) -> None:
    """The error lists the broken rules of every message, and media that are not base64."""
    chat = await (await open_sessions()).create()
    with pytest.raises(InvalidRequest) as told:
        await chat.append([{"role": "user", "content": []}, user(), {"role": "assistant", "content": []}])
    assert [(one["rule"], one["path"]) for one in told.value.violations if one["rule"] == "content_not_empty"] == [
        ("content_not_empty", "/0/content"),
        ("content_not_empty", "/2/content"),
    ]
    image = {"type": "image", "media_type": "image/png", "source": {"kind": "base64", "data": "no base64"}}
    for given in ([user(), {"role": "user", "content": [image]}], {"role": "user", "content": [image]}):
        with pytest.raises(InvalidRequest) as told:
            await chat.append(given)
        assert told.value.violations[0]["rule"] == "schema.contentEncoding"
    assert await chat.history() == []


async def test_a_list_is_taken_in_any_form(open_sessions: Open) -> None:
    """Plain data, the types, JSON text and a text as content stand side by side; members that nobody knows are kept,
    whatever their names."""
    chat = await (await open_sessions()).create()
    odd = {**user("d"), "messages": [1], "message": {"role": "nobody"}}
    await chat.append([user("a"), Message.user("b"), json.dumps(user("c")), odd, {"role": "user", "content": "e"}])
    history = await chat.history()
    assert [message["content"][0]["text"] for message in history] == ["a", "b", "c", "d", "e"]
    assert (history[3]["messages"], history[3]["message"]) == ([1], {"role": "nobody"})
    await chat.append([user(f"{number}") for number in range(45)])
    assert [message["content"][0]["text"] for message in (await chat.history())[5:]] == [str(n) for n in range(45)]


async def test_a_key_stores_once(open_sessions: Open) -> None:
    """An append that is repeated with its key returns the same result; other content under the key is an error."""
    chat = await (await open_sessions()).create()
    first = await chat.append([user("a"), user("b")], key="k1")
    await chat.append(user("c"))
    again = await chat.append([user("a"), user("b")], key="k1", expected=first.revision - 1)
    assert (again.messages, again.revision, again.repeated) == (first.messages, first.revision, True)
    assert len(await chat.history()) == 3
    with pytest.raises(KeyReused):
        await chat.append(user("z"), key="k1")
    other = await (await open_sessions()).create()
    assert not (await other.append(user("z"), key="k1")).repeated


async def test_two_writers_of_one_key_store_once(open_sessions: Open) -> None:
    """Two processes append under one key at the same time; the messages are stored once."""
    first, second = await open_sessions(), await open_sessions()
    chat = await first.create()
    done = await asyncio.gather(
        *(sessions.chat(chat.id).append(user("a"), key="k") for sessions in (first, second) for _ in range(10))
    )
    assert len({tuple(message["id"] for message in one.messages) for one in done}) == 1
    assert sum(not one.repeated for one in done) == 1
    assert len(await chat.history()) == 1


async def test_one_of_two_writers_wins(open_sessions: Open) -> None:
    """Two writers state the same revision: the second one gets a conflict, and nothing of it is stored."""
    first, second = await open_sessions(), await open_sessions()
    chat = await first.create()
    seen = (await chat.info()).revision
    done = await asyncio.gather(
        *(
            sessions.chat(chat.id).append(user(f"{number}"), expected=seen)
            for number in range(6)
            for sessions in (first, second)
        ),
        return_exceptions=True,
    )
    lost = [one for one in done if isinstance(one, Conflict)]
    assert len(lost) == 11
    assert {one.revision for one in lost} == {seen + 1}
    assert lost[0].to_dict()["retryable"] is True
    assert len(await chat.history()) == 1


async def test_every_writer_without_a_revision_wins(open_sessions: Open) -> None:
    """Two processes append many messages at once: each is stored once, in one order."""
    first, second = await open_sessions(), await open_sessions()
    chat = await first.create()
    await asyncio.gather(
        *(
            sessions.chat(chat.id).append(user(f"{name} {number}"))
            for number in range(20)
            for name, sessions in (("a", first), ("b", second))
        )
    )
    texts = [message["content"][0]["text"] for message in await chat.history()]
    assert len(texts) == len(set(texts)) == 40
    assert await chat.check() == []
    assert (await chat.info()).revision == 41


# ---------------------------------------------------------------------------------------------------- tool calls


async def test_the_rows_of_calls_follow_the_messages(open_sessions: Open) -> None:
    """Pending, succeeded, failed: the rows always equal those rebuilt from the messages: R-265, R-267."""
    chat = await (await open_sessions()).create()
    state = {"adapter": "anthropic_messages", "provider": "anthropic", "id": "toolu_1"}
    await chat.append([user(), assistant(call(CALL, provider_state=state), call(OTHER))])
    assert [(one.id, one.status, one.provider_id, one.provider) for one in await chat.calls()] == [
        (CALL, "pending", "toolu_1", "anthropic"),
        (OTHER, "pending", None, None),
    ]
    assert await chat.check() == []
    answered = await chat.append(result(CALL))
    await chat.append(result(OTHER, is_error=True))
    [succeeded], [failed] = await chat.calls("succeeded"), await chat.calls("failed")
    assert (succeeded.id, succeeded.result_message_id) == (CALL, answered.messages[0]["id"])
    assert (failed.id, failed.completed_at is not None) == (OTHER, True)
    assert await chat.calls("pending") == []
    assert await chat.check() == []


async def test_a_result_answers_one_open_call(open_sessions: Open) -> None:
    """No result without its call, no second result, none for a call of another session; no id twice: R-093, R-094."""
    sessions = await open_sessions()
    chat, other = await sessions.create(), await sessions.create()
    await chat.append([user(), assistant(call(CALL))])
    for where, given, rule in (
        (chat, result(OTHER), "result_has_call"),
        (other, result(CALL), "result_has_call"),
        (chat, [result(CALL), result(CALL)], "one_result_per_call"),
        (chat, assistant(call(CALL)), "tool_id_unique"),
        (chat, assistant(call(OTHER), call(OTHER)), "tool_id_unique"),
    ):
        with pytest.raises(InvalidRequest) as told:
            await where.append(given)
        assert told.value.violations[0]["rule"] == rule
    await chat.append(result(CALL))
    with pytest.raises(InvalidRequest) as told:
        await chat.append(result(CALL))
    assert told.value.violations[0]["rule"] == "one_result_per_call"
    assert await chat.check() == []


async def test_calls_of_an_answer_that_broke_off_are_cancelled(open_sessions: Open) -> None:
    """Results for them are refused: R-102."""
    chat = await (await open_sessions()).create()
    await chat.append([user(), assistant(call(CALL), status="cancelled")])
    assert [one.status for one in await chat.calls()] == ["cancelled"]
    with pytest.raises(InvalidRequest) as told:
        await chat.append(result(CALL))
    assert told.value.violations[0]["rule"] == "call_cancelled"
    assert await chat.check() == []


async def test_ids_never_cross_sessions(open_sessions: Open) -> None:
    """A call whose id another session has gets a new id; its caller may still use the old one."""
    sessions = await open_sessions()
    first, second = await sessions.create(), await sessions.of("other").create()
    for chat in (first, second):
        await chat.append([user(), assistant(call(CALL))])
        await chat.append(result(CALL))
        assert await chat.check() == []
    [one], [two] = await first.calls(), await second.calls()
    assert one.id == CALL
    assert two.id != CALL
    assert (await second.history())[-1]["metadata"]["parent_tool_use_id"] == two.id


async def test_the_id_map_goes_both_ways(open_sessions: Open) -> None:
    """R-104: from a provider's id to the canonical one and back, one to one, also after the session is opened again."""
    sessions = await open_sessions()
    chat = await sessions.create()
    state = {"adapter": "openai_chat", "provider": "openai", "id": "call_1"}
    await chat.append([user(), assistant(call(CALL, provider_state=state)), result(CALL)])
    again = (await open_sessions()).chat(chat.id)
    assert await again.canonical_id("call_1", adapter="openai_chat", provider="openai") == CALL
    assert await again.provider_ids(CALL) == {("openai_chat", "openai"): "call_1"}
    assert await again.canonical_id("call_2", adapter="openai_chat", provider="openai") is None
    # a provider that repeats an id in a later turn starts a new call
    await again.append([user(), assistant(call(OTHER, provider_state=state)), result(OTHER)])
    assert await again.canonical_id("call_1", adapter="openai_chat", provider="openai") == OTHER
    assert await again.provider_ids(CALL) == {("openai_chat", "openai"): "call_1"}


# ---------------------------------------------------------------------------------------------------- superseding


async def test_a_message_stands_for_another(open_sessions: Open) -> None:
    """The replaced messages stay stored but leave the conversation; calls whose result was replaced are open again."""
    chat = await (await open_sessions()).create()
    appended = await chat.append([user("a"), assistant(call(CALL)), result(CALL), assistant(), user("b")])
    third = appended.messages[2]["id"]
    replaced = await chat.append(result(CALL, "seen again"), instead_of=third)
    assert [message["role"] for message in await chat.history()] == ["user", "assistant", "tool"]
    assert [one.status for one in await chat.calls()] == ["succeeded"]
    assert await chat.check() == []
    everything = await chat.history(superseded=True)
    assert len(everything) == 6
    assert [message.get("superseded_by") for message in everything] == [
        None,
        None,
        *[replaced.messages[0]["id"]] * 3,
        None,
    ]
    first = appended.messages[0]["id"]
    await chat.append(user("c"), instead_of=first)
    assert [message["content"][0]["text"] for message in await chat.history()] == ["c"]
    assert [one.status for one in await chat.calls()] == ["cancelled"]
    assert await chat.check() == []
    with pytest.raises(InvalidRequest):
        await chat.append(user("d"), instead_of=first)
    with pytest.raises(SessionNotFound):
        await chat.append(user("d"), instead_of="01HZ0000000000000000000000")


# ---------------------------------------------------------------------------------------------------- tenants, privacy


async def test_no_call_reaches_another_tenant(open_sessions: Open) -> None:
    """For every method, a session of another tenant does not exist; nothing in it changes."""
    sessions = await open_sessions()
    chat = await sessions.create()
    appended = await chat.append([user("secret"), assistant(call(CALL))])
    message = appended.messages[0]["id"]
    await chat.reprice()
    before = await chat.export(), await chat.info()
    foreign = sessions.of("other")
    theirs = foreign.chat(chat.id)
    mine = await foreign.create()

    async def watched() -> None:
        async for _ in theirs.watch():
            raise AssertionError("an event of another tenant")

    for attempt in (
        theirs.info(),
        theirs.history(),
        theirs.calls(),
        theirs.check(),
        theirs.append(user("x")),
        theirs.append(user("x"), instead_of=message),
        theirs.say("x"),
        theirs.swap("-"),
        theirs.swap("openai:gpt-4.1"),
        theirs.preview("openai:gpt-4.1"),
        theirs.fork(),
        theirs.export(),
        theirs.reprice(),
        theirs.save(),
        theirs.delete(),
        watched(),
        mine.append(user("x"), instead_of=message),
        mine.fork(message),
        foreign.open(chat.id),
    ):
        with pytest.raises(SessionNotFound):
            await attempt
    assert await theirs.prices() == []
    assert await theirs.provider_ids(CALL) == {}
    assert [await foreign.find(one) for one in (chat.id, message, CALL)] == [None] * 3
    assert [one.id for one in await foreign.latest()] == [mine.id]
    assert (await chat.export(), await chat.info()) == before
    await chat.append(result(CALL))


async def test_addresses_are_not_stored(open_sessions: Open) -> None:
    """The ids of users and teams are pseudonyms; e-mail addresses are refused."""
    chat = await (await open_sessions()).create()
    with pytest.raises(InvalidRequest) as told:
        await chat.append(user(metadata={"user_id": "ann@example.org"}))
    assert told.value.violations[0]["rule"] == "pseudonymous"
    assert "ann" not in str(told.value.to_dict())


async def test_a_message_that_has_ended_is_never_partial_again(open_sessions: Open) -> None:
    """A partial message cannot be appended, and neither save nor import makes a message partial again: R-060."""
    sessions = await open_sessions()
    chat = await sessions.create()
    with pytest.raises(InvalidRequest) as told:
        await chat.append(user(metadata={"status": "partial"}))
    assert told.value.path == "/0/metadata/status"
    ended = [user(), user(metadata={"status": "cancelled"}), user(metadata={"status": "error"})]
    await chat.append(ended)
    await chat.save()
    copy = await sessions.import_([line async for line in sessions.export(chat.id)])
    for one in (chat, copy):
        found = [message["metadata"]["status"] for message in await one.history()]
        assert found == ["complete", "cancelled", "error"]


async def test_the_strict_profile_asks_for_everything(open_sessions: Open) -> None:
    """With the profile strict-004, an answer must have its origin and its cost: R-097 to R-099."""
    chat = await (await open_sessions(profile="strict-004")).create()
    await chat.append(user())
    with pytest.raises(InvalidRequest) as told:
        await chat.append(assistant())
    rules = {one["rule"] for one in told.value.violations}
    assert rules >= {"complete_model", "complete_provider", "complete_routing", "complete_usage"}


async def test_ids_of_sessions_cannot_be_guessed(open_sessions: Open) -> None:
    """The ids have 128 random bits, without a time or a counter."""
    sessions = await open_sessions()
    ids = [(await sessions.create()).id for _ in range(30)]
    assert all(re.fullmatch(r"sess_[0-7][0-9A-HJKMNP-TV-Z]{25}", one) for one in ids)
    assert len({one[5:9] for one in ids}) == 30
    assert ids != sorted(ids)


async def test_a_database_that_is_gone_is_told_without_its_words(tmp_path: Any) -> None:
    """A failure of the engine is a typed error, and quotes neither address nor values."""
    from interlingua.sessions import Sessions

    for url in (f"sqlite:///{tmp_path}/no/such/folder/x.db", "postgresql://someone:hidden@127.0.0.1:1/none"):
        with pytest.raises(StorageFailed) as told:
            async with Sessions(url):
                pass
        assert "hidden" not in str(told.value.to_dict())
        assert str(tmp_path) not in str(told.value)
    with pytest.raises(InvalidRequest):
        async with Sessions("mysql://x"):
            pass
