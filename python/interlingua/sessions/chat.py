"""
The handle of one session: its id, and the methods that work on it.

A handle keeps nothing of the session: any number of handles, in any number of processes, may refer to the same session.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from interlingua import router
from interlingua.canonical import json
from interlingua.canonical.check import check
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.model_response import ModelResponse, status_of
from interlingua.canonical.validate import validate
from interlingua.events import (
    MESSAGE_SAVED,
    ROUTING_CONSTRAINT_FAILURE,
    SESSION_SWAPPED,
    SWAP_QUEUED,
    Event,
)
from interlingua.sessions import appending, calls, transfer, turns
from interlingua.sessions.appending import Appended
from interlingua.sessions.change import Change
from interlingua.sessions.errors import Conflict, SessionNotFound, SwapRefused
from interlingua.sessions.generating import Generating, SessionStream, continues_a_turn, moment_text
from interlingua.sessions.messages import from_row, to_row
from interlingua.sessions.rows import EventRow, PriceRow, Rows, SessionRow, ToolCallRow
from interlingua.sessions.versions import CURRENT

if TYPE_CHECKING:
    from interlingua.sessions.sessions import SessionInfo, Sessions

Message = dict[str, Any]
Violation = dict[str, str]

_TRIES = 5
"""How often a swap is tried, when the session changes during it."""

_EVENTS_AT_ONCE = 500


class Watched(NamedTuple):
    """An event of a session. `revision` is its position, and the cursor from which to continue."""

    revision: int
    event: Event


class Swap(NamedTuple):
    """A change of model that is allowed. `queued` is true when it waits for the end of the turn in progress. `preview`
    states what this conversation would lose there, its tokens and its cost (none when the session's model was
    cleared)."""

    model: str | None
    queued: bool
    preview: dict[str, Any] | None


def _with_next_message(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a history as the next request will have it: a user message follows a last answer, so that the answer does
    not count as a prefill."""
    if not history or history[-1]["role"] != "assistant":
        return history
    return [*history, {"role": "user", "content": [{"type": "text", "text": "…"}]}]


class Chat:
    """One session."""

    def __init__(self, sessions: "Sessions", session_id: str) -> None:
        self._sessions = sessions
        self.id = session_id

    def __repr__(self) -> str:
        return f"<session {self.id}>"

    # ---------------------------------------------------------------------------------------------- saying

    async def say(
        self,
        message: Any,
        *,
        model: str | None = None,
        deadline: float | None = None,
        key: str | None = None,
        **members: Any,
    ) -> ModelResponse:
        """Append a message of the user (a text, or a message), and return the model's response, whose message is
        appended too.

        `members` are those of the request: `tools`, `max_output_tokens` and the like. Takes and raises what `generate`
        does. When `key` was used before, the message is not appended again; when it was answered, that response is
        returned again.
        """
        return await Generating(self._sessions, self.id, model, deadline, members).unary(_drafts(message), key)

    async def generate(
        self, *, model: str | None = None, deadline: float | None = None, **members: Any
    ) -> ModelResponse:
        """Return the model's response to the conversation as it is, and append its message.

        `model` overrides the session's model for this response. The response is that of `Client.generate`. Raises
        `TurnInProgress` while another answer is generated in this session. When the provider fails before anything has
        arrived, nothing is appended.
        """
        return await Generating(self._sessions, self.id, model, deadline, members).unary([], None)

    def stream(
        self,
        message: Any = None,
        *,
        model: str | None = None,
        deadline: float | None = None,
        key: str | None = None,
        **members: Any,
    ) -> SessionStream:
        """Generate the same response event by event, as it arrives. `message` is a message of the user that is appended
        first, if any.

        When the stream is closed, cancelled or broken off, the part that has arrived is appended, with status
        `cancelled` or `error`. Use `async with`, or call `aclose`, or read to the end.
        """
        generating = Generating(self._sessions, self.id, model, deadline, members)
        return SessionStream(generating, [] if message is None else _drafts(message), key)

    async def append(
        self, messages: Any, *, key: str | None = None, expected: int | None = None, instead_of: str | None = None
    ) -> Appended:
        """Append a message, or a list of them: all, or none. Returns them as they are stored, and the session's
        revision.

        When `key` was used before, nothing is appended, and the messages stored under it are returned again. So a
        caller that does not know whether an append was stored repeats it with its key. `expected` is the revision that
        the caller has seen: when the session has another one by now, that is a `Conflict`. `instead_of` names a message
        that these replace, with all messages after it: those stay stored and are no longer part of the conversation.
        Raises `InvalidRequest` with every broken rule, `TurnInProgress` while an answer is generated.
        """
        drafts = appending.drafts_of(messages)
        rules = self._sessions.rules

        def appended(change: Change) -> Appended:
            turn = change.row.turn_id
            if turn is not None and (change.row.turn_until or 0) < change.now:
                turns.close_abandoned(change)
            return appending.append(change, drafts, rules, key=key, expected=expected, instead_of=instead_of)

        return await self._sessions.change(self.id, appended)

    # ---------------------------------------------------------------------------------------------- reading

    async def info(self) -> "SessionInfo":
        """Return the properties of the session, without its messages."""
        return await self._sessions.info(self.id)

    async def history(
        self, *, superseded: bool = False, after: str = "", limit: int | None = None, validated: bool = False
    ) -> list[Message]:
        """Return the messages in their order, in the current version; reading writes nothing. With `superseded` also
        those that another message replaces, which then have `superseded_by`. With `validated`, messages that do not fit
        the schema raise `InvalidRequest`."""

        def found(rows: Rows) -> list[Message]:
            self._demand(rows)
            messages = rows.messages(self.id, superseded=superseded, after=after, limit=limit)
            history = [_shown(row.superseded_by, from_row(row)) for row in messages]
            if validated:
                validate({"messages": history})
            return history

        return await self._sessions.read(found)

    async def check(self, profile: str | None = None) -> list[Violation]:
        """Return all rules that the stored conversation breaks, and whether the rows of its tool calls differ from its
        messages."""

        def found(rows: Rows) -> list[Violation]:
            self._demand(rows)
            stored = rows.messages(self.id, superseded=True)
            live = [from_row(row) for row in stored if row.superseded_by is None]
            broken = check(live, profile or self._sessions.rules.profile)
            if calls.rebuilt(stored) != rows.calls(self.id):
                text = "the rows of tool calls differ from the messages"
                broken.append({"rule": "tool_calls", "path": "", "message": text})
            return broken

        return await self._sessions.read(found)

    async def calls(self, status: str | None = None) -> list[ToolCallRow]:
        """Return the tool calls, all or those of a status: `pending` ones wait for a result, `failed` ones had an
        error."""

        def found(rows: Rows) -> list[ToolCallRow]:
            self._demand(rows)
            return rows.calls(self.id, status)

        return await self._sessions.read(found)

    async def canonical_id(self, provider_id: str, *, adapter: str, provider: str = "") -> str | None:
        """Return the canonical id of the call that has this id on a wire; of several, the last. None when there is
        none."""
        found = await self._sessions.read(lambda rows: rows.canonical_ids(self.id, adapter, provider, provider_id))
        return found[-1].canonical_id if found else None

    async def provider_ids(self, canonical_id: str) -> dict[tuple[str, str], str]:
        """Return the ids that a call has on wires, by adapter and provider. For any other wire, the id is derived from
        the canonical one."""
        found = await self._sessions.read(lambda rows: rows.provider_ids(self.id, canonical_id))
        return {(row.adapter, row.provider): row.provider_id for row in found if row.adapter}

    async def watch(self, after: int = 0, *, poll: float = 0.5) -> AsyncGenerator[Watched]:
        """Yield the events of the session after a revision, each once and in order, and then each further one as it
        occurs.

        Changes by this process arrive at once, those by others within `poll` seconds. It ends when it is closed.
        """
        watcher = self._sessions.watcher(self.id)
        try:
            while True:
                watcher.clear()
                found = await self._events(after)
                for row in found:
                    after = row.revision
                    yield Watched(row.revision, json.loads(row.event_json))
                if not found:
                    await self.info()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(poll):
                            await watcher.wait()
        finally:
            self._sessions.unwatch(self.id, watcher)

    async def export(self) -> list[str]:
        """Return the session as lines of JSON."""
        return [line async for line in self._sessions.export(self.id)]

    # ---------------------------------------------------------------------------------------------- changing

    async def fork(self, message_id: str | None = None) -> "Chat":
        """Create a session that begins as this one was at a message, by default the last. It has ids of its own."""
        sessions = self._sessions
        change = await sessions.write(
            lambda rows: transfer.forked(rows, self.id, message_id, sessions.marks, sessions.rules)
        )
        sessions.publish(change)
        return Chat(sessions, change.row.id)

    async def preview(self, *models: str, **members: Any) -> list[dict[str, Any]]:
        """Return a row for each of some models: what it would lose of this conversation, its tokens and its cost
        (spec/7-routing.md#preview). `members` are those of the next request."""
        history = await self.history()
        routing = self._sessions.routing
        named = [self._sessions.one_model(model) for model in models]
        return await asyncio.to_thread(routing.preview, {"messages": _with_next_message(history), **members}, named)

    async def swap(self, argument: str, **members: Any) -> Swap:
        """Do what the command `/model argument` does: another model answers from now on or, while a turn is in
        progress, from the next turn on; the last such command counts. `-` clears the session's model, so that the
        policy routes.

        Raises `SwapRefused` when the conversation cannot continue there, which changes nothing, and `InvalidRequest`
        for an unknown model. `members` are those of the next requests, such as `tools`.
        """
        argument = argument.strip()
        if not argument:
            raise InvalidRequest("name the model to swap to, or - for none", path="/model")
        model = None if argument == "-" else self._sessions.one_model(argument)
        for _ in range(_TRIES - 1):
            with suppress(Conflict):
                return await self._swap(model, members)
        return await self._swap(model, members)

    async def _swap(self, model: str | None, members: Mapping[str, Any]) -> Swap:
        row, history = await self._sessions.read(self._state)
        request = {"messages": history, **members}
        verdict = None if model is None else await asyncio.to_thread(self._verdict, request, model, row)
        if verdict is not None and not verdict["allowed"]:

            def refused(change: Change) -> None:
                change.expect(row.revision)
                change.add_event(ROUTING_CONSTRAINT_FAILURE, verdict["payload"], "user")
                change.finish()

            await self._sessions.change(self.id, refused)
            raise SwapRefused(verdict)
        going_on = continues_a_turn(history)

        def swapped(change: Change) -> bool:
            change.expect(row.revision)
            held = change.row.turn_id is not None and (change.row.turn_until or 0) >= change.now
            if held or going_on:
                change.alter(queued_model=model or "-")
                change.add_event(SWAP_QUEUED, {"model": model}, "user")
            else:
                change.alter(active_model=model, queued_model=None)
                change.add_event(SESSION_SWAPPED, {"model": model}, "user")
            change.finish()
            return held or going_on

        queued = await self._sessions.change(self.id, swapped)
        asked = {**request, "messages": _with_next_message(history)}
        rows = [] if model is None else await asyncio.to_thread(self._sessions.routing.preview, asked, [model])
        return Swap(model, queued, rows[0] if rows else None)

    def _verdict(self, request: dict[str, Any], model: str, row: SessionRow) -> dict[str, Any]:
        sessions = self._sessions
        policy = json.loads(row.routing_policy_json) if row.routing_policy_json else sessions.routing.policy
        return router.check_swap(
            request,
            model,
            sessions.routing.catalog,
            active=row.active_model,
            policy=policy,
            health=sessions.client.health.snapshot(),
            now=moment_text(sessions.now()),
        )

    async def save(self, message_id: str | None = None) -> int:
        """Rewrite messages of an older version in the current one: one of them, or all. Returns how many. No other
        method rewrites them."""

        def saved(change: Change) -> int:
            change.demand_free()
            total = 0
            for row in change.rows.messages(self.id, superseded=True):
                if row.schema_version < CURRENT and message_id in (None, row.id):
                    message = from_row(row)
                    change.rows.update(to_row(change.rows.tenant, message, row.superseded_by))
                    change.add_event(MESSAGE_SAVED, {"message_id": row.id, "role": message["role"]})
                    total += 1
            if total:
                change.finish()
            return total

        return await self._sessions.change(self.id, saved)

    async def reprice(self, version: str | None = None) -> list[PriceRow]:
        """Compute what the answers cost by a table of prices, the newest unless named. The figures are stored in
        addition to those of the messages, which do not change; `prices` returns them. The cost of a model without a
        price is null."""
        registry = self._sessions.routing.registry
        version = version or registry.price_versions()[-1]

        def priced(change: Change) -> list[PriceRow]:
            found: list[PriceRow] = []
            for row in change.rows.messages(self.id, superseded=True):
                metadata = from_row(row)["metadata"]
                if row.role == "assistant" and metadata.get("usage"):
                    cost = registry.priced(metadata["usage"], metadata.get("model"), version)["cost_usd"]
                    found.append(PriceRow(change.rows.tenant, self.id, row.id, version, cost, change.now))
            change.rows.delete_prices(self.id, version)
            change.rows.insert(found)
            return found

        return await self._sessions.change(self.id, priced)

    async def prices(self) -> list[PriceRow]:
        """Return the costs that `reprice` has computed, by message and table."""
        return await self._sessions.read(lambda rows: rows.prices(self.id))

    async def delete(self) -> None:
        """Remove the session with everything that belongs to it."""
        await self._sessions.delete(self.id)

    # ---------------------------------------------------------------------------------------------- within

    async def _events(self, after: int) -> list[EventRow]:
        return await self._sessions.read(lambda rows: rows.events(self.id, after, _EVENTS_AT_ONCE))

    def _state(self, rows: Rows) -> tuple[SessionRow, list[Message]]:
        row = self._demand(rows)
        messages = [from_row(one) for one in rows.messages(self.id)]
        return row, [message for message in messages if status_of(message) != "partial"]

    def _demand(self, rows: Rows) -> SessionRow:
        row = rows.session(self.id)
        if row is None:
            raise SessionNotFound
        return row


def _drafts(message: Any) -> list[Message]:
    if isinstance(message, str):
        message = {"role": "user", "content": [{"type": "text", "text": message}]}
    return appending.drafts_of(message)


def _shown(superseded_by: str | None, message: Message) -> Message:
    return message if superseded_by is None else {**message, "superseded_by": superseded_by}
