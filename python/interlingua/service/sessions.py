"""
The methods of the service of sessions, each a few lines over `interlingua.sessions`.

Each method first determines the caller, and then sees only the sessions of the caller's tenant.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

from interlingua.access import Access
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.fold import buffered
from interlingua.canonical.model_response import ModelResponse
from interlingua.client.answers import shut_down
from interlingua.client.interrupt import Interrupt
from interlingua.client.routing import Choice
from interlingua.client.threads import done, size_of
from interlingua.service import session_values as values
from interlingua.service.callers import Caller, CallersSessions, caller
from interlingua.service.methods import MAX_MESSAGE_BYTES, Answer, Context, Malformed, let_it_finish, stream, unary
from interlingua.sessions import Appended, Chat, SessionNotFound, SessionStream, appending, turns
from interlingua.sessions.calls import CANCELLED, FAILED, PENDING, SUCCEEDED
from interlingua.sessions.change import Change
from interlingua.sessions.generating import Generating
from interlingua.sessions.turns import Turn
from interlingua.v1 import sessions_pb2 as messages
from interlingua.verbs import adapting, routing
from interlingua.verbs.calls import Calls, until
from interlingua.verbs.estimating import usage_of_part
from interlingua.verbs.failures import MessageTooLarge, shown

Data = dict[str, Any]

_SESSIONS_AT_ONCE, _MESSAGES_AT_ONCE, _MOST_AT_ONCE = 50, 100, 1000
_READ_AT_ONCE = 50
"""How many messages are read from the database before their size is checked."""

_IMPORT = 4
"""The limit of all lines of an import together, as a multiple of the limit of one message."""
_STATUSES = (PENDING, SUCCEEDED, FAILED, CANCELLED)
_LAST = frozenset(("message_complete", "error"))
_STORED = "it is stored; "


class SessionServicer:
    """The service over the sessions of one database, which are open. It keeps nothing between calls: any number of
    servers may run in parallel.

    `calls` counts the running calls, `limit` is that of one message, in bytes.
    """

    def __init__(
        self, sessions: CallersSessions, access: Access, calls: Calls | None = None, limit: int = MAX_MESSAGE_BYTES
    ) -> None:
        self.calls = calls or Calls()
        self._limit = limit
        self._access = access
        self._sessions = sessions

    def fitting(self, answer: Answer, /) -> bytes:
        """Return the bytes of an answer. Raises `MessageTooLarge` when they are more than a message may have."""
        data = answer if isinstance(answer, bytes) else answer.SerializeToString()
        if len(data) > self._limit:
            raise MessageTooLarge(len(data), self._limit, _STORED)
        return data

    def _called(self, context: Context) -> tuple[Caller, CallersSessions]:
        who = caller(context, self._access)
        return who, self._sessions.of_caller(who)

    # ---------------------------------------------------------------------------------------------- sessions

    @unary
    async def CreateSession(
        self, request: messages.CreateSessionRequest, context: Context
    ) -> messages.CreateSessionResponse:
        """Create a session."""
        who, sessions = self._called(context)
        policy = routing.optional_object(request.policy_json, "policy_json")
        extra = routing.optional_object(request.extra_json, "extra_json")
        if request.model:
            _demand_allowed(who, sessions, request.model)
        with adapting.field_of_call("policy_json"):
            chat = await sessions.create(
                model=request.model or None,
                workspace_path=values.plain_text(request.workspace_path, "workspace_path"),
                policy=policy,
                extra=extra,
            )
        return messages.CreateSessionResponse(session=values.session(await chat.info()))

    @unary
    async def GetSession(self, request: messages.GetSessionRequest, context: Context) -> messages.GetSessionResponse:
        """Return a session."""
        _, sessions = self._called(context)
        found: str | None = values.plain_text(request.session_id, "session_id")
        if request.member_id:
            found = await sessions.find(values.plain_text(request.member_id, "member_id"))
            if found is None:
                raise SessionNotFound("message or tool call")
        return messages.GetSessionResponse(session=values.session(await sessions.info(found or "")))

    @unary
    async def ListSessions(
        self, request: messages.ListSessionsRequest, context: Context
    ) -> messages.ListSessionsResponse:
        """List sessions."""
        _, sessions = self._called(context)
        size = values.page_size(request.page_size, _SESSIONS_AT_ONCE, _MOST_AT_ONCE)
        prefix = values.plain_text(request.id_prefix, "id_prefix")
        found = await sessions.latest(size + 1, after=values.place(request.page_token), prefix=prefix)
        page = found[:size]
        return messages.ListSessionsResponse(
            sessions=[values.session(info) for info in page],
            next_page_token=values.token(page[-1]) if len(found) > size else "",
        )

    @unary
    async def DeleteSession(
        self, request: messages.DeleteSessionRequest, context: Context
    ) -> messages.DeleteSessionResponse:
        """Remove a session."""
        _, sessions = self._called(context)
        await sessions.delete(values.plain_text(request.session_id, "session_id"))
        return messages.DeleteSessionResponse()

    @unary
    async def ForkSession(self, request: messages.ForkSessionRequest, context: Context) -> messages.ForkSessionResponse:
        """Create a session that begins as another one was at a message."""
        _, sessions = self._called(context)
        chat = sessions.chat(values.plain_text(request.session_id, "session_id"))
        forked = await chat.fork(values.plain_text(request.message_id, "message_id") or None)
        return messages.ForkSessionResponse(session=values.session(await forked.info()))

    # ---------------------------------------------------------------------------------------------- messages

    @unary
    async def ListMessages(
        self, request: messages.ListMessagesRequest, context: Context
    ) -> messages.ListMessagesResponse:
        """List messages."""
        _, sessions = self._called(context)
        size = values.page_size(request.page_size, _MESSAGES_AT_ONCE, _MOST_AT_ONCE)
        after = values.plain_text(request.page_token, "page_token")
        chat = sessions.chat(values.plain_text(request.session_id, "session_id"))
        # half of the limit of a message, so that there is room even for a large last one
        room, as_json = self._limit // 2, request.json_output
        found, more = await _read(chat, size, room, after=after, superseded=request.with_superseded)
        return await done(
            size_of({"messages": found}), values.listed, found, room, after=after, more=more, as_json=as_json
        )

    @unary
    async def AppendMessages(
        self, request: messages.AppendMessagesRequest, context: Context
    ) -> messages.AppendMessagesResponse:
        """Append messages."""
        _, sessions = self._called(context)
        session_id = values.plain_text(request.session_id, "session_id")
        key = values.client_key(request.client_key)
        expected = request.expected_revision if request.HasField("expected_revision") else None
        instead_of = values.plain_text(request.instead_of, "instead_of") or None
        drafts = await done(request.ByteSize(), values.drafts, request)

        # what Chat.append does, except for the validation, which was done in a thread
        def append(change: Change) -> Appended:
            if change.row.turn_id is not None and (change.row.turn_until or 0) < change.now:
                turns.close_abandoned(change)
            return appending.append(change, drafts, sessions.rules, key=key, expected=expected, instead_of=instead_of)

        stored = await sessions.change(session_id, append)
        return await done(request.ByteSize(), values.appended, stored, as_json=request.json_output)

    @stream
    async def GenerateInSession(
        self, request: messages.GenerateInSessionRequest, context: Context
    ) -> AsyncIterator[Answer]:
        """Append the messages of the request, and return the model's answer as events."""
        who, sessions = self._called(context)
        session_id = values.plain_text(request.session_id, "session_id")
        key = values.client_key(request.client_key)
        said, model, members = await done(request.ByteSize(), values.conversation, request)
        self._access.admit(who.key)
        generating = _Answer(sessions, session_id, model, context.time_remaining(), members)
        answer = SessionStream(generating, said, key)
        pieces = self._pieces(answer, request)
        try:
            with self.calls.cut_by(lambda: answer.cancel("shutdown")):
                async for piece in pieces:
                    yield piece
        finally:
            await pieces.aclose()
            await answer.aclose()
            if not generating.given_before:
                self._access.record(who.key, _usage(answer, sessions))

    async def _pieces(
        self, answer: SessionStream, request: messages.GenerateInSessionRequest
    ) -> AsyncGenerator[Answer]:
        """Yield the events of an answer that fit into messages. The answer is stored even when its last event does not
        fit."""
        async for events in answer.arriving():
            if request.buffered:
                events = list(buffered(events))
            if request.batched and len(events) > 1:
                try:
                    yield self.fitting(values.piece(events, request))
                except MessageTooLarge:
                    pass  # single events may fit
                else:
                    continue
            for event in events:
                if event["type"] == "error":
                    event = {**event, "error": shown(event["error"], include_raw=request.include_raw)}
                try:
                    yield self.fitting(values.piece([event], request))
                except MessageTooLarge as problem:
                    if event["type"] in _LAST:
                        problem.usage = (event.get("response") or {}).get("usage")
                        yield values.piece([_without_response(event, problem)], request)
                        raise problem from None

    # ---------------------------------------------------------------------------------------------- models

    @unary
    async def SwapModel(self, request: messages.SwapModelRequest, context: Context) -> messages.SwapModelResponse:
        """Let another model answer from now on."""
        who, sessions = self._called(context)
        chat = sessions.chat(values.plain_text(request.session_id, "session_id"))
        members = await done(request.ByteSize(), values.members, request.members_json)
        if request.model.strip() not in ("", "-"):
            _demand_allowed(who, sessions, request.model.strip())
        with adapting.field_of_call("model"):
            swap = await chat.swap(request.model, **members)
        answer = messages.SwapModelResponse(model=swap.model or "", queued=swap.queued)
        if swap.preview is not None:
            answer.preview.CopyFrom(routing.candidate_message(swap.preview))
        return answer

    @unary
    async def PreviewSwap(self, request: messages.PreviewSwapRequest, context: Context) -> messages.PreviewSwapResponse:
        """Return what models would lose of a conversation, their tokens and their cost."""
        _, sessions = self._called(context)
        chat = sessions.chat(values.plain_text(request.session_id, "session_id"))
        members = await done(request.ByteSize(), values.members, request.members_json)
        with adapting.field_of_call("models"):
            rows = await chat.preview(*request.models, **members)
        return messages.PreviewSwapResponse(candidates=[routing.candidate_message(row) for row in rows])

    @unary
    async def ListToolCalls(
        self, request: messages.ListToolCallsRequest, context: Context
    ) -> messages.ListToolCallsResponse:
        """List tool calls."""
        _, sessions = self._called(context)
        if request.status and request.status not in _STATUSES:
            raise InvalidRequest(f"status must be one of {', '.join(_STATUSES)}", path="/status")
        chat = sessions.chat(values.plain_text(request.session_id, "session_id"))
        rows = await chat.calls(request.status or None)
        return messages.ListToolCallsResponse(calls=[values.tool_call(row) for row in rows])

    # ---------------------------------------------------------------------------------------------- in and out

    @stream
    async def ExportSession(
        self, request: messages.ExportSessionRequest, context: Context
    ) -> AsyncIterator[messages.ExportSessionResponse]:
        """Return a session as lines of JSON."""
        _, sessions = self._called(context)
        interrupt = Interrupt()
        lines = sessions.export(values.plain_text(request.session_id, "session_id"))
        with self.calls.cut_by(lambda: interrupt.stop("shutdown")):
            async for line in until(lines, interrupt):
                yield messages.ExportSessionResponse(line=line)
        if interrupt.reason is not None:
            raise shut_down()

    @unary
    async def ImportSession(
        self, request: AsyncIterator[messages.ImportSessionRequest], context: Context
    ) -> messages.ImportSessionResponse:
        """Create a session from lines of JSON."""
        _, sessions = self._called(context)
        lines: list[str] = []
        total, most = 0, _IMPORT * self._limit
        pieces = aiter(request)
        try:
            async for piece in pieces:
                if isinstance(piece, Malformed):
                    raise piece.error()
                total += len(piece.line)
                if total > most:
                    raise InvalidRequest(f"the lines of an import may have at most {most} characters in total", path="")
                lines.append(piece.line)
        except InvalidRequest:
            await let_it_finish(pieces)
            raise
        chat = await sessions.import_(lines)
        return messages.ImportSessionResponse(session=values.session(await chat.info()))

    # ---------------------------------------------------------------------------------------------- events

    @stream
    async def WatchSession(
        self, request: messages.WatchSessionRequest, context: Context
    ) -> AsyncIterator[messages.WatchSessionResponse]:
        """Return the events of a session."""
        who, sessions = self._called(context)
        if request.after_revision < 0:
            raise InvalidRequest("a revision must be 0 or more", path="/after_revision")
        interrupt = Interrupt()
        events = sessions.chat(values.plain_text(request.session_id, "session_id")).watch(request.after_revision)
        try:
            with self.calls.watching(lambda: interrupt.stop("shutdown")):
                async for one in until(events, interrupt):
                    self._access.demand_known(who.key)
                    yield values.watched(one, as_json=request.json_output)
        finally:
            await events.aclose()
        if interrupt.reason is not None:
            raise shut_down()


class _Answer(Generating):
    """An answer to the `messages` of a request: errors in them have paths within the request."""

    given_before = False
    """Whether the client key had a response already."""

    async def hold(self, drafts: Sequence[Data], key: str | None) -> Turn | ModelResponse:
        """Take the session's turn, with the drafts appended."""
        try:
            held = await super().hold(drafts, key)
            self.given_before = not isinstance(held, Turn)
            return held
        except InvalidRequest as problem:
            raise values.moved(problem, "/messages") from None

    async def choose(self, turn: Turn) -> Choice:
        """Choose the models. The expressions of a session's own policy may take long on any text, so they are evaluated
        in a thread."""
        if turn.policy is None:
            return await super().choose(turn)
        history, open_calls = await self.sessions.read(lambda rows: self._history(rows, turn))
        return (await asyncio.to_thread(self._weighed, turn, history, open_calls))()


async def _read(chat: Chat, size: int, room: int, *, after: str, superseded: bool) -> tuple[list[Data], bool]:
    """Return at most `size` messages after one, hardly more than there is room for, and whether there are more."""
    found: list[Data] = []
    while len(found) < size and size_of({"messages": found}) <= room:
        asked = min(size - len(found), _READ_AT_ONCE)
        some = await chat.history(superseded=superseded, after=after, limit=asked + 1)
        found += some[:asked]
        if len(some) <= asked:
            return found, False
        after = found[-1]["id"]
    return found, True


def _demand_allowed(who: Caller, sessions: CallersSessions, model: str) -> None:
    with adapting.field_of_call("model"):
        named = sessions.one_model(model)
    who.key.usable((named,), sessions.client.registry.is_priced)


def _usage(answer: SessionStream, sessions: CallersSessions) -> Data | None:
    """The usage of an answer; an estimated one when the caller left before its end."""
    if answer.response is not None:
        return answer.response.get("usage")
    content = answer.arrived.content()
    if not answer.choice or not content:
        return None
    return usage_of_part(answer.choice, answer.model, content, sessions.client.registry)


def _without_response(event: Data, problem: MessageTooLarge) -> Data:
    """Return the last event of an answer that is too large to send: an error that states it."""
    return {"type": "error", "message_id": event["message_id"], "error": event.get("error") or problem.to_dict()}
