"""Sessions over gRPC: every method, deadlines, cancellation, limits, the end of the server."""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from client.upstream import recorded

from interlingua.canonical import json
from interlingua.client import Bytes, Refuse, Say
from interlingua.client.routing import Routing
from interlingua.service import session_values
from interlingua.sessions import appending
from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1 import types_pb2 as types

from .sessions_served import ACME, CLAUDE, GPT, POLICY, Calls, info, keys, serving, text_of, told, user

pytestmark = pytest.mark.asyncio
SLOW = "one two three four five six seven eight nine ten " * 4
COMPLETE, PARTIAL, CANCELLED, ERROR = (
    types.MESSAGE_STATUS_COMPLETE,
    types.MESSAGE_STATUS_PARTIAL,
    types.MESSAGE_STATUS_CANCELLED,
    types.MESSAGE_STATUS_ERROR,
)
USER, ASSISTANT = types.ROLE_USER, types.ROLE_ASSISTANT


async def refused(call: Any, got: list[Any] | None = None) -> grpc.aio.AioRpcError:
    """Return the error of a call, unary or streamed; the events of a stream are added to `got`."""
    try:
        if hasattr(call, "__aiter__"):
            async for one in call:
                if got is not None:
                    got += one.events.events if one.WhichOneof("piece") == "events" else [one.event]
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return error
    raise AssertionError("the call did not fail")


async def test_a_conversation(url: str) -> None:
    """A session is created, used, read, listed, found and removed; another server on the same database sees all of
    it."""
    async with serving(url, Say("Hello!"), Say("Well.")) as at:
        call = at.anybody
        made = (await call.CreateSession(model=GPT, workspace_path="/w", extra_json='{"title":"t"}')).session
        assert (made.active_model, made.workspace_path, json.loads(made.extra_json)) == (GPT, "/w", {"title": "t"})
        assert made.revision == 1
        events = await call.say(made.id, "Hi.")
        assert events[-1].WhichOneof("event") == "message_complete"
        stored = events[-1].message_complete.response.message
        assert (stored.session_id, stored.metadata.model) == (made.id, GPT)
    async with serving(url, Say("Well.")) as at:
        call = at.anybody
        await call.say(made.id, "And you?")
        assert await call.texts(made.id) == [
            (USER, "Hi.", COMPLETE),
            (ASSISTANT, "Hello!", COMPLETE),
            (USER, "And you?", COMPLETE),
            (ASSISTANT, "Well.", COMPLETE),
        ]
        assert [one["role"] for one in at.fake.sent[0].request["messages"]] == ["user", "assistant", "user"]
        found = (await call.GetSession(member_id=stored.id)).session
        assert found.id == made.id
        assert found.revision > made.revision
        assert [one.id for one in (await call.ListSessions(id_prefix=made.id[:9])).sessions] == [made.id]
        await call.DeleteSession(session_id=made.id)
        assert not (await call.ListSessions()).sessions
        assert (await refused(call.GetSession(session_id=made.id))).code() is grpc.StatusCode.NOT_FOUND


async def test_lists_go_on(tmp_path: Path) -> None:
    """Pages of sessions and of messages have all of them once; a page of messages fits into a message of the
    protocol."""
    async with serving(tmp_path, max_message_bytes=4000) as at:
        call = at.anybody
        made = [await call.create() for _ in range(5)]
        found: list[str] = []
        token = ""
        while True:
            page = await call.ListSessions(page_size=2, page_token=token)
            found += [one.id for one in page.sessions]
            if not (token := page.next_page_token):
                break
        assert found == made[::-1]
        for number in range(7):
            await call.AppendMessages(session_id=made[0], messages_json=text_of([user(f"{number}" + "x" * 900)]))
        texts: list[str] = []
        pages = 0
        while True:
            many = await call.ListMessages(session_id=made[0], page_token=token, json_output=bool(pages % 2))
            texts += [one.content[0].text.text[0] for one in many.messages]
            texts += [json.loads(one)["content"][0]["text"][0] for one in many.messages_json]
            pages += 1
            if not (token := many.next_page_token):
                break
        assert texts == list("0123456")
        assert pages > 1


async def test_appending(tmp_path: Path) -> None:
    """All or none are stored, once under a key; a writer that was too late gets the current state."""
    async with serving(tmp_path) as at:
        call = at.anybody
        chat = await call.create()
        message = types.Message(role=USER, content=[types.ContentBlock(text=types.TextBlock(text="Hi."))])
        first = await call.AppendMessages(session_id=chat, messages=[message], client_key="k", expected_revision=1)
        again = await call.AppendMessages(session_id=chat, messages=[message], client_key="k", expected_revision=1)
        assert (first.already_stored, again.already_stored) == (False, True)
        assert list(again.messages) == list(first.messages)
        late = await refused(
            call.AppendMessages(session_id=chat, messages_json=text_of([user("No.")]), expected_revision=1)
        )
        assert late.code() is grpc.StatusCode.ABORTED
        assert info(late).metadata["code"] == "conflict"
        assert info(late).metadata["revision"] == str(first.revision)
        other = await refused(
            call.AppendMessages(session_id=chat, messages_json=text_of([user("No.")]), client_key="k")
        )
        assert (other.code(), info(other).metadata["code"]) == (grpc.StatusCode.INVALID_ARGUMENT, "key_reused")
        orphan = {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_none", "content": []}]}
        bad = await refused(call.AppendMessages(session_id=chat, messages_json=text_of([user("No."), orphan])))
        assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert info(bad).metadata["path"].startswith("/1/content/0")
        wrong = await refused(call.AppendMessages(session_id=chat, messages_json='[{"role": "king"}]'))
        assert wrong.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert await call.texts(chat) == [(USER, "Hi.", COMPLETE)]
        instead = await call.AppendMessages(
            session_id=chat, messages_json=text_of([user("Ho.")]), instead_of=first.messages[0].id, json_output=True
        )
        assert json.loads(instead.messages_json[0])["content"][0]["text"] == "Ho."
        assert await call.texts(chat) == [(USER, "Ho.", COMPLETE)]
        assert len((await call.ListMessages(session_id=chat, with_superseded=True)).messages) == 2


async def test_what_is_said_is_said_once(tmp_path: Path) -> None:
    """A repeated key returns the same answer; errors in the request have a path, and then nothing is stored."""
    async with serving(tmp_path, Say("Hello!"), who=keys(tokens_per_minute=10_000)) as at:
        call = at.acme
        chat = await call.create()
        first = await call.say(chat, "Hi.", client_key="k")
        again = await call.say(chat, "Hi.", client_key="k")
        assert again[-1].message_complete.response.message == first[-1].message_complete.response.message
        with at.access._meters.of(at.access.key(ACME).name) as used:
            assert used.tokens is not None
            assert used.tokens.left == 10_000 - 15  # the repeated answer was not counted again
        revision = (await call.GetSession(session_id=chat)).session.revision
        for request in ({"messages": [{"role": "king", "content": []}]}, {"messages": [], "temperature": "hot"}):
            bad = await refused(call.generate(chat, request))
            assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT
        misplaced = {"type": "tool_use", "id": "tu_1", "name": "look", "input": {}}
        bad = await refused(call.generate(chat, {"messages": [{"role": "user", "content": [misplaced]}]}))
        assert info(bad).metadata["path"].startswith("/messages/0/content/0")
        assert (await call.GetSession(session_id=chat)).session.revision == revision


async def test_the_members_of_a_request_and_its_model_count_for_this_answer(tmp_path: Path) -> None:
    """The request may have tools, limits and another model; without messages the conversation is answered as it is."""
    async with serving(tmp_path, Say(calls=[("look", {"at": 1})]), Say("Seen.")) as at:
        call = at.anybody
        chat = await call.create(model=CLAUDE)
        tool = {"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}
        request = {"messages": [user("Look.")], "tools": [tool], "max_output_tokens": 77, "model": GPT}
        events = [
            json.loads(one.event_json) async for one in call.generate(chat, request, json_output=True, buffered=True)
        ]
        assert {event["type"] for event in events} <= {"tool_use_end", "message_complete"}
        wire = json.loads(at.fake.sent[0].body)
        assert "openai" in at.fake.sent[0].url
        assert wire["tools"][0]["function"]["name"] == "look"
        assert 77 in wire.values()
        [pending] = (await call.ListToolCalls(session_id=chat, status="pending")).calls
        assert pending.name == "look"
        block = {"type": "tool_result", "tool_use_id": pending.id, "content": [{"type": "text", "text": "a cat"}]}
        result = {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": pending.id}}
        await call.AppendMessages(session_id=chat, messages_json=text_of([result]))
        answers = [one async for one in call.GenerateInSession(session_id=chat)]
        assert answers[-1].event.message_complete.response.message.content[0].text.text == "Seen."
        [ended] = (await call.ListToolCalls(session_id=chat)).calls
        assert (ended.status, ended.id) == ("succeeded", pending.id)
        assert (await call.GetSession(session_id=chat)).session.active_model == CLAUDE


async def test_a_batched_turn(tmp_path: Path) -> None:
    """The same events, those that arrived together in one message, the last one in its own
    (spec/9-service.md#batched); as text and in the buffered view as well."""
    frames = recorded(CLAUDE)
    packets = [b"".join(frames[at : at + 4]) for at in range(0, len(frames), 4)]
    async with serving(tmp_path, *[Bytes(packets)] * 5) as at:
        call = at.anybody

        async def pieces(**members: Any) -> list[Any]:
            chat = await call.create(model=CLAUDE)
            request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi."}]}]}
            return [one async for one in call.generate(chat, request, **members)]

        alone = await pieces()
        together = await pieces(batched=True)
        texts = await pieces(batched=True, json_output=True)
        view, view_together = await pieces(buffered=True), await pieces(buffered=True, batched=True)
    for apart, joined in ((alone, together), (view, view_together)):
        given = [event for one in joined for event in one.events.events]
        assert [event.WhichOneof("event") for event in given] == [one.event.WhichOneof("event") for one in apart]
        assert [event.text_delta.text for event in given] == [one.event.text_delta.text for one in apart]
        assert {one.WhichOneof("piece") for one in joined} == {"events"}
        assert [event.WhichOneof("event") for event in joined[-1].events.events] == ["message_complete"]
    assert len(together) <= len(packets) + 1 < len(alone)
    assert [len(one.events.events_json) for one in texts] == [len(one.events.events) for one in together]
    assert all(one.events.events for one in view_together)


async def test_swapping(tmp_path: Path) -> None:
    """A swap is previewed, executed, refused with the reason, and cleared."""
    async with serving(tmp_path, Say("Hello!"), Say("Bonjour.")) as at:
        call = at.anybody
        chat = await call.create(model=CLAUDE)
        await call.say(chat, "Hi.")
        preview = await call.PreviewSwap(session_id=chat, models=[GPT, CLAUDE])
        assert [one.model for one in preview.candidates] == [GPT, CLAUDE]
        assert preview.candidates[0].tokens.likely > 0
        swapped = await call.SwapModel(session_id=chat, model=GPT)
        assert (swapped.model, swapped.queued, swapped.preview) == (GPT, False, preview.candidates[0])
        events = await call.say(chat, "Salut.")
        assert events[-1].message_complete.response.model == GPT
        unknown = await refused(call.SwapModel(session_id=chat, model="nobody:nothing"))
        assert (unknown.code(), info(unknown).metadata["path"]) == (grpc.StatusCode.INVALID_ARGUMENT, "/model")
        image = {"type": "image", "source": {"kind": "url", "data": "https://example.org/a.png"}, "critical": True}
        await call.AppendMessages(session_id=chat, messages_json=text_of([{"role": "user", "content": [image]}]))
        blind = await refused(call.SwapModel(session_id=chat, model="openai:gpt-3.5-turbo"))
        assert blind.code() is grpc.StatusCode.FAILED_PRECONDITION, told(blind)
        assert (await call.GetSession(session_id=chat)).session.active_model == GPT
        assert (await call.SwapModel(session_id=chat, model="-")).model == ""
        assert (await call.GetSession(session_id=chat)).session.active_model == ""


async def test_forks_and_copies(tmp_path: Path) -> None:
    """A fork ends at the given message; an export is imported as another session with the same messages."""
    async with serving(tmp_path, Say("Hello!"), Say("Well.")) as at:
        call = at.anybody
        chat = await call.create(extra_json='{"title":"t"}')
        await call.say(chat, "Hi.")
        middle = (await call.ListMessages(session_id=chat)).messages[-1].id
        await call.say(chat, "And?")
        forked = (await call.ForkSession(session_id=chat, message_id=middle)).session
        assert (forked.parent_session_id, forked.parent_message_id) == (chat, middle)
        assert await call.texts(forked.id) == (await call.texts(chat))[:2]
        lines = [one.line async for one in call.ExportSession(session_id=chat)]
        assert json.loads(lines[0])["id"] == chat
        imported = (await call.ImportSession(iter([messages.ImportSessionRequest(line=one) for one in lines]))).session
        assert imported.id not in (chat, forked.id)
        assert json.loads(imported.extra_json) == {"title": "t"}
        assert await call.texts(imported.id) == await call.texts(chat)
        bad = await refused(call.ImportSession(iter([messages.ImportSessionRequest(line="{")])))
        assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert len((await call.ListSessions()).sessions) == 3


async def test_an_import_has_a_limit(tmp_path: Path) -> None:
    """The limit is four times that of a message; a client that continues to send is refused too."""
    async with serving(tmp_path, max_message_bytes=2000) as at:
        line = messages.ImportSessionRequest(line=" " * 1900)
        bad = await refused(at.anybody.ImportSession(iter([line] * 50)))
        assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "at most 8000" in str(bad.details())


async def test_watching_goes_on_behind_its_cursor(url: str) -> None:
    """Every event arrives once and in order, across watchers, servers and the end of a server."""
    seen: list[tuple[int, str]] = []

    async def watch(call: Calls, chat: str, until: int) -> None:
        stream = call.WatchSession(session_id=chat, after_revision=len(seen))
        async for one in stream:
            seen.append((one.revision, one.event.type))
            if one.revision == until:
                return

    async with serving(url, *[Say("Hello!")] * 3) as first, serving(url, *[Say("Well.")] * 3) as second:
        chat = await first.anybody.create()
        for number, (talks, looks) in enumerate(((first, first), (first, second), (second, first))):
            aim = 1 + 5 * (number + 1)
            watcher = asyncio.create_task(watch(looks.anybody, chat, aim))
            await talks.anybody.say(chat, "Hi.")
            await asyncio.wait_for(watcher, 10)
        last = (await first.anybody.GetSession(session_id=chat)).session.revision
        ended = asyncio.create_task(refused(second.anybody.WatchSession(session_id=chat, after_revision=last)))
        await asyncio.sleep(0.2)
        await asyncio.wait_for(second.running.stop(10), 5)
        error = await ended
        assert (error.code(), info(error).metadata["code"]) == (grpc.StatusCode.UNAVAILABLE, "shutdown")
    assert [revision for revision, _ in seen] == list(range(1, last + 1))
    turn = ["message.appended", "turn.started", "route.decided", "message.appended", "turn.ended"]
    assert [name for _, name in seen] == ["session.created", *turn * 3]


async def test_a_watcher_is_told_of_the_end_of_its_session(tmp_path: Path) -> None:
    """The watcher also gets an error for an invalid cursor."""
    async with serving(tmp_path) as at:
        chat = await at.anybody.create()
        watching = at.anybody.WatchSession(session_id=chat, json_output=True)
        assert json.loads((await anext(aiter(watching))).event_json)["type"] == "session.created"
        await at.anybody.DeleteSession(session_id=chat)
        assert (await refused(watching)).code() is grpc.StatusCode.NOT_FOUND
        bad = await refused(at.anybody.WatchSession(session_id=chat, after_revision=-1))
        assert bad.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("how", ["cancelled", "deadline", "shutdown"])
async def test_an_answer_that_does_not_come_to_its_end_is_stored_as_far_as_it_came(url: str, how: str) -> None:
    """It was cancelled by its caller or its deadline, or cut off at the end of grace."""
    told = SLOW * 5 if how == "deadline" else SLOW  # much longer than the deadline
    async with serving(url, Say(told, pause=0.05)) as at:
        call = at.anybody
        chat = await call.create()
        stream = call.generate(chat, {"messages": [user("Count.")]}, timeout=3.0 if how == "deadline" else 20)
        got: list[Any] = []
        stopping: list[Any] = []
        with suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            async for one in stream:
                got.append(one.event)
                if len(got) == 4 and how == "cancelled":
                    stream.cancel()
                if len(got) == 4 and how == "shutdown":
                    stopping.append(asyncio.create_task(at.running.stop(0.1)))
        assert len(got) >= 4
        codes = {"cancelled": "CANCELLED", "deadline": "DEADLINE_EXCEEDED", "shutdown": "UNAVAILABLE"}
        assert (await stream.code()).name == codes[how]
        await asyncio.gather(*stopping)
        if how == "shutdown":
            assert got[-1].error.error.code == "shutdown"
        for _ in range(200):
            if (await at.sessions.info(chat)).turn_until is None:
                break
            await asyncio.sleep(0.02)
    async with serving(url) as at:
        said, (role, text, status) = await at.anybody.texts(chat)
        assert said[1] == "Count."
        assert role == ASSISTANT
        assert text
        assert told.startswith(text)
        assert text != told
        assert status in (CANCELLED, ERROR)
        assert not (await at.anybody.GetSession(session_id=chat)).session.HasField("turn_until")


async def test_one_turn_at_a_time(tmp_path: Path) -> None:
    """Another answer, an append and a delete meanwhile get the time until which to wait; a swap is queued."""
    async with serving(tmp_path, Say(SLOW, pause=0.03), Say("Done.")) as at:
        call = at.anybody
        chat = await call.create(model=CLAUDE)
        stream = call.generate(chat, {"messages": [user("Count.")]})
        await anext(aiter(stream))
        for busy in (
            call.generate(chat, {"messages": [user("No.")]}),
            call.AppendMessages(session_id=chat, messages_json=text_of([user("No.")])),
            call.DeleteSession(session_id=chat),
        ):
            error = await refused(busy)
            assert error.code() is grpc.StatusCode.ABORTED
            assert info(error).metadata["code"] == "turn_in_progress"
            assert info(error).metadata["until"].endswith("Z")
        assert (await call.SwapModel(session_id=chat, model=GPT)).queued
        async for _ in stream:
            pass
        assert (await call.GetSession(session_id=chat)).session.queued_model == GPT
        events = await call.say(chat, "Now.")
        assert events[-1].message_complete.response.model == GPT


async def test_a_provider_that_refuses_leaves_what_was_said(tmp_path: Path) -> None:
    """The call fails with the provider's category, and the session stays usable."""
    async with serving(tmp_path, Refuse(529), Say("Hello!")) as at:
        call = at.anybody
        chat = await call.create()
        error = await refused(call.generate(chat, {"messages": [user("Hi.")]}))
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert info(error).reason == "overloaded"
        assert [one[1] for one in await call.texts(chat)] == ["Hi."]
        assert [one async for one in call.GenerateInSession(session_id=chat)][-1].event.HasField("message_complete")
        assert [one[1] for one in await call.texts(chat)] == ["Hi.", "Hello!"]


async def test_calls_in_flight_are_limited(tmp_path: Path) -> None:
    """Watchers count as calls; beyond the limit a call gets an error with a retry time."""
    async with serving(tmp_path, max_calls=2) as at:
        chat = await at.anybody.create()
        watchers = [at.anybody.WatchSession(session_id=chat) for _ in range(2)]
        for one in watchers:
            await anext(aiter(one))
        error = await refused(at.anybody.GetSession(session_id=chat))
        assert (error.code(), info(error).metadata["code"]) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "max_calls")
        for one in watchers:
            one.cancel()
        for _ in range(100):
            if at.running.calls.running == 0:
                break
            await asyncio.sleep(0.02)
        assert (await at.anybody.GetSession(session_id=chat)).session.id == chat


async def test_an_answer_above_the_limit_of_a_message_is_stored(tmp_path: Path) -> None:
    """Its deltas arrive, its last event states that it was too large, and a server with a higher limit returns it."""
    async with serving(tmp_path, Say(SLOW * 20), Say(SLOW * 20), max_message_bytes=2000) as at:
        chat = await at.anybody.create()
        got: list[Any] = []
        error = await refused(at.anybody.generate(chat, {"messages": [user("Count.")]}), got)
        assert info(error).metadata["code"] == "message_too_large"
        assert got[-1].error.error.code == "message_too_large"
        assert "".join(one.text_delta.text for one in got if one.HasField("text_delta")) == SLOW * 20
        together: list[Any] = []
        other = await at.anybody.create()
        error = await refused(at.anybody.generate(other, {"messages": [user("Count.")]}, batched=True), together)
        assert info(error).metadata["code"] == "message_too_large"
        assert [event.WhichOneof("event") for event in together] == [event.WhichOneof("event") for event in got]
    async with serving(tmp_path) as at:
        assert (await at.anybody.texts(chat))[1] == (ASSISTANT, SLOW * 20, COMPLETE)


async def test_large_inputs_leave_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read and validated once, in a thread; small ones without a thread."""
    seen: list[tuple[str, bool]] = []

    def watched(module: Any, name: str) -> None:
        real = getattr(module, name)

        def observed(*given: Any, **named: Any) -> Any:
            seen.append((name, threading.current_thread() is threading.main_thread()))
            return real(*given, **named)

        monkeypatch.setattr(module, name, observed)

    watched(session_values, "drafts")
    watched(session_values, "conversation")
    watched(appending, "drafts_of")
    watched(appending, "demand_sound")
    async with serving(tmp_path, Say("Seen.")) as at:
        chat = await at.anybody.create()
        for size, on_loop in ((1, True), (400, False)):
            seen.clear()
            many = [user("x " * 500) for _ in range(size)]
            await at.anybody.AppendMessages(session_id=chat, messages_json=text_of(many))
            assert seen == [("drafts", on_loop), ("demand_sound", False)]
        seen.clear()
        await refused(at.anybody.generate(chat, {"messages": [*many, {"role": "tool", "content": []}]}))
        assert seen[0] == ("conversation", False)
        assert {on_loop for _, on_loop in seen} == {False}


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("CreateSession", {"model": "nobody:nothing"}),
        ("CreateSession", {"policy_json": "[]"}),
        ("CreateSession", {"policy_json": '{"version": 7}'}),
        ("CreateSession", {"extra_json": "{"}),
        ("CreateSession", {"workspace_path": "a\0b"}),
        ("GetSession", {"session_id": "a\0b"}),
        ("ListSessions", {"page_size": -1}),
        ("ListSessions", {"page_token": "yesterday"}),
        ("ListSessions", {"page_token": "2026-05-08T12:00:00/x"}),
        ("AppendMessages", {"messages_json": "{}"}),
        ("AppendMessages", {"messages_json": "["}),
        ("AppendMessages", {}),
        ("AppendMessages", {"messages_json": "[1]"}),
        ("AppendMessages", {"client_key": "k" * 201}),
        ("ListToolCalls", {"status": "lost"}),
        ("SwapModel", {"members_json": '{"messages": []}', "model": GPT}),
        ("SwapModel", {"members_json": '{"tools": 1}', "model": GPT}),
        ("SwapModel", {"model": ""}),
        ("PreviewSwap", {"models": ["nobody:nothing"]}),
        ("GenerateInSession", {"request_json": "{"}),
        ("GenerateInSession", {"request_json": '{"messages": [], "stop": 1}'}),
    ],
)
async def test_bad_input_is_the_callers(tmp_path: Path, name: str, members: dict[str, Any]) -> None:
    """The status is INVALID_ARGUMENT with a path, and nothing is stored."""
    async with serving(tmp_path) as at:
        chat = await at.anybody.create()
        if name not in ("CreateSession", "ListSessions") and "session_id" not in members:
            members = {**members, "session_id": chat}
        error = await refused(getattr(at.anybody, name)(**members))
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT, told(error)
        assert info(error).metadata["path"].startswith("/")
        assert len((await at.anybody.ListSessions()).sessions) == 1
        assert (await at.anybody.GetSession(session_id=chat)).session.revision == 1


async def test_bytes_that_are_no_message(tmp_path: Path) -> None:
    """Every kind of method refuses them, with the name of the type."""
    async with serving(tmp_path) as at:
        for kind, name in (
            (at.channel.unary_unary, "GetSession"),
            (at.channel.unary_stream, "WatchSession"),
            (at.channel.stream_unary, "ImportSession"),
        ):
            call: Any = kind(f"/interlingua.v1.SessionService/{name}")
            error = await refused(call(iter([b"\xff"]) if name == "ImportSession" else b"\xff"))
            assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
            assert f"{name}Request" in str(error.details())


async def test_long_lists_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of many messages are complete and in order, and the last page has no token."""
    monkeypatch.setattr("interlingua.service.sessions._READ_AT_ONCE", 3)
    async with serving(tmp_path) as at:
        chat = await at.anybody.create()
        await at.anybody.AppendMessages(session_id=chat, messages_json=text_of([user(str(n)) for n in range(10)]))
        for size, pages in ((10, 1), (9, 2), (4, 3), (3, 4), (0, 1)):
            texts: list[str] = []
            token, count = "", 0
            while token or not count:
                page = await at.anybody.ListMessages(session_id=chat, page_size=size, page_token=token)
                texts += [one.content[0].text.text for one in page.messages]
                token, count = page.next_page_token, count + 1
            assert texts == [str(n) for n in range(10)]
            assert count == pages


async def test_the_policy_of_a_session_leaves_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its expressions may take long on any text."""
    threads: list[bool] = []
    weigh = Routing.weigh

    def observed(*given: Any, **named: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return weigh(*given, **named)

    monkeypatch.setattr(Routing, "weigh", observed)
    async with serving(tmp_path, Say("Hello!"), Say("Hello!")) as at:
        for policy in ("", text_of(POLICY)):
            await at.anybody.say(await at.anybody.create(policy_json=policy), "Hi.")
    assert threads == [True, False]


async def test_the_policy_of_a_session_is_its_own(tmp_path: Path) -> None:
    """It overrides the policy of the server."""
    async with serving(tmp_path, Say("Hello!")) as at:
        policy = {**POLICY, "global": {"default": GPT}}
        chat = await at.anybody.create(policy_json=text_of(policy))
        events = await at.anybody.say(chat, "Hi.")
        assert events[-1].message_complete.response.model == GPT
        assert json.loads((await at.anybody.GetSession(session_id=chat)).session.policy_json) == policy
