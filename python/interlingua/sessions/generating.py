"""
Generate an answer of a model in a session, and write the rows that record it.

The steps of one answer: take the turn (and append the user's messages, in the same transaction) → read the history →
choose the model → call the provider → end the turn with what arrived. While the answer arrives, a task keeps the lease
and writes what has arrived. The turn is ended in every case, with what has arrived. Only a process that dies leaves it
open, and the next caller ends it.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from interlingua import router, translate
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.logs import logger
from interlingua.canonical.model_response import ModelResponse, status_of
from interlingua.client.call_ids import Names
from interlingua.client.routing import Choice
from interlingua.client.stream import Pulled, Stream
from interlingua.client.threads import done, size_of
from interlingua.events import ROUTING_CONSTRAINT_FAILURE, Event, envelope
from interlingua.sessions import appending, calls, turns
from interlingua.sessions.arrived import Arrived
from interlingua.sessions.change import Change
from interlingua.sessions.errors import Conflict, StorageFailed
from interlingua.sessions.messages import for_request, from_row
from interlingua.sessions.rows import Rows
from interlingua.sessions.turns import Turn

if TYPE_CHECKING:
    from interlingua.sessions.sessions import Sessions

Message = dict[str, Any]
Response = dict[str, Any]
T = TypeVar("T")

_LOG = logger("sessions")


def moment_text(moment: datetime) -> str:
    """Return a moment in the format that the router takes."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class Generating:
    """One answer of one session. `members` are those of the request, `model` overrides the session's model."""

    def __init__(
        self,
        sessions: "Sessions",
        session_id: str,
        model: str | None,
        deadline: float | None,
        members: Mapping[str, Any],
    ) -> None:
        if "messages" in members:
            raise InvalidRequest("the messages are those of the session: append others first", path="/messages")
        self.sessions = sessions
        self.session_id = session_id
        self.model = model
        self.deadline = deadline
        self.members = dict(members)
        self.names = Names(lambda _: sessions.marks.tool_id())
        self.swapped: str | None = None
        self.turn_events: list[Event] = []

    # ---------------------------------------------------------------------------------------------- whole

    async def unary(self, drafts: Sequence[Message], key: str | None) -> ModelResponse:
        """Return the whole response, after the drafts are appended, if there are any."""
        held = await self.hold(drafts, key)
        if not isinstance(held, Turn):
            return held
        keeper = Keeper(self, held, None)
        try:
            choice = await self.choose(held)
            response = await keeper.guard(
                self.sessions.client.generate(
                    choice.request,
                    model=choice.models[0],
                    fallbacks=choice.models[1:],
                    deadline=self.deadline,
                    routing=choice.record,
                    fail_over_on=choice.fail_over_on,
                    validated=True,
                    message_id=held.message_id,
                )
            )
        except BaseException as problem:
            await keeper.stop()
            await self.end(held, None, _category(problem))
            raise
        await keeper.stop()
        response = self.names.response(response)
        message = await self.end(held, response["message"])
        return ModelResponse({**response, "message": message})

    # ---------------------------------------------------------------------------------------------- parts

    async def hold(self, drafts: Sequence[Message], key: str | None) -> Turn | ModelResponse:
        """Take the session's turn, with the drafts appended; or return the response that the key has already."""
        sessions = self.sessions

        def held(change: Change) -> Turn | ModelResponse:
            broken_answer = None
            if drafts:
                if (change.row.turn_until or change.now) < change.now:
                    turns.close_abandoned(change)
                appended = appending.append(change, drafts, sessions.rules, key=key)
                if appended.repeated:
                    if (answer := _answer_to(change.rows, appended)) is not None:
                        return answer
                    broken_answer = _broken_answer_to(change, appended)
            return turns.hold(change, sessions.lease)._replace(instead_of=broken_answer)

        work = asyncio.ensure_future(sessions.change(self.session_id, held))
        try:
            found = await asyncio.shield(work)
        except asyncio.CancelledError:
            # the turn may have been taken all the same
            with suppress(InterlinguaError):
                given = await work
                if isinstance(given, Turn):
                    await self.end(given, None, "cancelled")
            raise
        if isinstance(found, Turn):
            self.turn_events = sessions.noting(found.turn_id)
        return found

    async def choose(self, turn: Turn) -> Choice:
        """Choose the models, and return them with the request for them."""
        history, open_calls = await self.sessions.read(lambda rows: self._history(rows, turn))
        weighed = await done(size_of({"messages": history}), self._weighed, turn, history, open_calls)
        return weighed()

    def _history(self, rows: Rows, turn: Turn) -> tuple[list[Message], bool]:
        stored = rows.messages(self.session_id)
        messages = [from_row(row) for row in stored if turn.instead_of is None or row.id < turn.instead_of]
        cancelled = {call.id for call in rows.calls(self.session_id, calls.CANCELLED)}
        pending = bool(rows.calls(self.session_id, calls.PENDING))
        return [for_request(one) for one in messages if status_of(one) != "partial"], bool(cancelled) and not pending

    def _weighed(self, turn: Turn, history: list[Message], cancelled: bool) -> Callable[[], Choice]:
        request: dict[str, Any] = {"messages": history, **self.members}
        if cancelled:
            # calls that broke off with their answer will get no result
            request["loss_policy"] = {"unanswered": "placeholder", **(request.get("loss_policy") or {})}
        request = translate.load(request)
        sessions = self.sessions
        health = sessions.client.health.snapshot()
        now = moment_text(sessions.now())
        active = turn.active_model
        if turn.queued_model is not None and not continues_a_turn(history):
            active = self._swap(turn, request, health, now)
        context = {"sticky": active, "workspace_path": turn.workspace_path or None}
        return sessions.routing.weigh(
            request,
            self.model,
            turn.policy,
            now,
            health,
            {name: value for name, value in context.items() if value is not None},
            turn_id=turn.turn_id,
        )

    def _swap(self, turn: Turn, request: dict[str, Any], health: dict[str, Any], now: str) -> str | None:
        """Return the model after the swap that waited for this turn, or the old one when the new one can no longer take
        the conversation."""
        sessions = self.sessions
        queued = turn.queued_model
        if queued is None or queued == "-":
            self.swapped = "-"
            return None
        routing = sessions.routing
        policy = turn.policy if turn.policy is not None else routing.policy
        verdict = router.check_swap(
            request, queued, routing.catalog, active=turn.active_model, policy=policy, health=health, now=now
        )
        if verdict["allowed"]:
            self.swapped = queued
            return queued
        self.swapped = ""
        self.turn_events.append(
            envelope(
                ROUTING_CONSTRAINT_FAILURE,
                verdict["payload"],
                id=sessions.marks.ulid(),
                moment=sessions.now(),
                session_id=turn.session_id,
                turn_id=turn.turn_id,
            )
        )
        return turn.active_model

    async def end(self, turn: Turn, message: Message | None, category: str | None = None) -> Message | None:
        """End the turn with what arrived. This completes even when the caller is cancelled meanwhile."""
        sessions = self.sessions
        events = list(self.turn_events)

        def ended(change: Change) -> Message | None:
            return turns.end(
                change, turn, message, sessions.rules, events=events, swapped=self.swapped, category=category
            )[0]

        try:
            return await _to_its_end(sessions.change(turn.session_id, ended))
        finally:
            sessions.forget(turn.turn_id)


class Keeper:
    """Keep the lease of a turn while its answer arrives, and write what has arrived.

    When the lease is lost nevertheless, waiting for the answer ends.
    """

    def __init__(self, generating: Generating, turn: Turn, arrived: Arrived | None) -> None:
        self._generating = generating
        self._turn = turn
        self._arrived = arrived
        self.model: str | None = None
        """The model that answers, as soon as it is known."""
        self.lost: Conflict | None = None
        """The error with which the turn was lost to another caller, if it was."""
        self.stream: Stream | None = None
        """The stream to stop when the turn is lost."""
        self._waiting: asyncio.Future[Any] | None = None
        self._task = asyncio.create_task(self._keep())

    async def guard(self, work: Awaitable[T]) -> T:
        """Return the result of the work. Raises `Conflict` when the turn is lost meanwhile."""
        task = self._waiting = asyncio.ensure_future(work)
        try:
            return await task
        except asyncio.CancelledError:
            if self.lost is not None:
                raise self.lost from None
            raise
        finally:
            self._waiting = None

    async def stop(self) -> None:
        """Stop the task. After this returns it writes nothing more."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _keep(self) -> None:
        sessions = self._generating.sessions
        pause = min(sessions.lease / 3_000_000, sessions.checkpoint)
        renewed = 0.0
        while True:
            await asyncio.sleep(pause)
            renewed += pause
            arrived = self._message() if self._arrived is not None and self._arrived.changed else None
            if arrived is None and renewed < sessions.lease / 3_000_000:
                continue
            try:
                await _to_its_end(
                    sessions.change(
                        self._turn.session_id, lambda change, message=arrived: self._renewed(change, message)
                    )
                )
                renewed = 0.0
            except StorageFailed:
                _LOG.warning("the lease of a turn could not be renewed", extra={"session_id": self._turn.session_id})
            except Conflict as problem:
                self.lost = problem
                if self._waiting is not None:
                    self._waiting.cancel()
                if self.stream is not None:
                    self.stream.cancel("shutdown")
                return

    def _renewed(self, change: Change, message: Message | None) -> None:
        turns.renew(change, self._turn, self._generating.sessions.lease, message)

    def _message(self) -> Message | None:
        content = self._arrived.content() if self._arrived is not None else []
        if not content:
            return None
        provider = None if self.model is None else self.model.partition(":")[0]
        return {"role": "assistant", "content": content, "metadata": {"model": self.model, "provider": provider}}


class SessionStream(Pulled[ModelResponse]):
    """The events of one answer of a session. Iterate it once; `response` is the whole response when the stream has
    ended, with its message as it is stored."""

    def __init__(self, generating: Generating, drafts: Sequence[Message], key: str | None) -> None:
        self._generating = generating
        self._drafts = drafts
        self._key = key
        self._stream: Stream | None = None
        self._stopped: Literal["cancelled", "shutdown"] | None = None
        self._ended = False
        self.choice: Choice | None = None
        self.model: str | None = None
        """The models and the request of the answer, as soon as they are chosen."""
        self.arrived = Arrived()
        """What has arrived of the answer."""
        self._arriving = self._run()
        self._events = self._one_by_one()

    def arriving(self) -> AsyncIterator[list[Event]]:
        """Return the events in lists as they arrive, instead of one by one (`Stream.arriving`). No list is empty, and
        the last event is alone in its list."""
        return self._arriving

    async def aclose(self) -> None:
        """Discard the events that were not read; what has arrived is stored as `cancelled`. May be called any number of
        times."""
        await self._events.aclose()
        await self._arriving.aclose()

    def cancel(self, reason: Literal["cancelled", "shutdown"] = "cancelled") -> None:
        """Stop the answer, from any task (`Stream.cancel`). May be called any number of times."""
        self._stopped = reason
        if self._stream is not None:
            self._stream.cancel(reason)

    async def _one_by_one(self) -> AsyncGenerator[Event, None]:
        async for events in self._arriving:
            for event in events:
                yield event

    async def _run(self) -> AsyncGenerator[list[Event], None]:
        held = await self._generating.hold(self._drafts, self._key)
        if not isinstance(held, Turn):
            self.response = held
            yield [{"type": "message_complete", "message_id": held["message"]["id"], "response": dict(held)}]
            return
        arrived = self.arrived
        keeper = Keeper(self._generating, held, arrived)
        try:
            async with aclosing(self._answer(held, keeper, arrived)) as answer:
                async for events in answer:
                    yield events
        except BaseException as problem:
            await keeper.stop()
            if keeper.lost is not None:
                raise keeper.lost from None
            if not self._ended:
                await self._broken_off(held, keeper, arrived, problem)
            raise
        finally:
            await keeper.stop()
            self._generating.sessions.forget(held.turn_id)

    async def _answer(self, turn: Turn, keeper: Keeper, arrived: Arrived) -> AsyncGenerator[list[Event], None]:
        generating = self._generating
        choice = self.choice = await generating.choose(turn)
        self._stream = generating.sessions.client.stream(
            choice.request,
            model=choice.models[0],
            fallbacks=choice.models[1:],
            deadline=generating.deadline,
            routing=choice.record,
            fail_over_on=choice.fail_over_on,
            validated=True,
            message_id=turn.message_id,
        )
        async with self._stream as stream:
            keeper.stream = stream
            if self._stopped is not None:
                stream.cancel(self._stopped)
            async for together in stream.arriving():
                if keeper.lost is not None:
                    raise keeper.lost
                events = [generating.names.event(event) for event in together]
                last = events.pop() if events[-1]["type"] in ("message_complete", "error") else None
                for event in events:
                    keeper.model = self.model = event.get("model") or keeper.model
                    arrived.feed(event)
                if events:  # yielded before the answer is stored
                    yield events
                if last is not None:
                    keeper.model = last.get("model") or keeper.model
                    yield [await self._last(turn, keeper, last)]

    async def _last(self, turn: Turn, keeper: Keeper, event: Event) -> Event:
        """Return the last event. The turn is ended before the event is yielded, so that its response is stored by
        then."""
        await keeper.stop()
        response = event.get("response")
        category = event["error"]["category"] if event["type"] == "error" else None
        message = await self._generating.end(turn, None if response is None else response["message"], category)
        self._ended = True
        if response is None or message is None:
            self.response = None if response is None else ModelResponse(response)
            return event
        self.response = ModelResponse({**response, "message": message})
        return {**event, "response": dict(self.response)}

    async def _broken_off(self, turn: Turn, keeper: Keeper, arrived: Arrived, problem: BaseException) -> None:
        """End the turn of an answer that did not reach its last event: its reader left, or it never began."""
        message: Message | None = None
        content = arrived.content()
        went = isinstance(problem, (GeneratorExit, asyncio.CancelledError))
        if content:
            model = keeper.model
            metadata = {
                "model": model,
                "provider": model and model.partition(":")[0],
                "status": "cancelled" if went else "error",
            }
            message = {"role": "assistant", "content": content, "metadata": metadata}
        await self._generating.end(turn, message, "cancelled" if went else _category(problem))


async def _to_its_end(work: Awaitable[T]) -> T:
    """Return the result of the work. When the caller is cancelled, the work still completes before the cancellation is
    raised."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # the caller has gone: the exception is marked as retrieved
        raise


def continues_a_turn(history: Sequence[Message]) -> bool:
    """Whether the next answer continues a turn: calls of the last answer are open, or their results are the last
    messages."""
    if not history or history[-1]["role"] != "assistant":
        return router.turn_model(history) is not None
    return status_of(history[-1]) == "complete" and any(True for _ in calls.calls_in(history[-1]["content"]))


def _category(problem: BaseException) -> str:
    if isinstance(problem, InterlinguaError):
        return problem.to_dict()["category"]
    return "cancelled" if isinstance(problem, (asyncio.CancelledError, GeneratorExit)) else "internal"


def _answer_to(rows: Rows, appended: appending.Appended) -> ModelResponse | None:
    """Return the complete response to some messages, if there is one."""
    last = appended.messages[-1]
    behind = rows.messages(last["session_id"], after=last["id"], limit=1)
    message = from_row(behind[0]) if behind else None
    if message is None or message["role"] != "assistant" or status_of(message) != "complete":
        return None
    metadata = message["metadata"]
    called = any(True for _ in calls.calls_in(message["content"]))
    response = ModelResponse(message=message, finish_reason="tool_calls" if called else "other")
    if metadata.get("model"):
        response["model"] = metadata["model"]
    if metadata.get("usage"):
        response["usage"] = metadata["usage"]
    return response


def _broken_answer_to(change: Change, appended: appending.Appended) -> str | None:
    """Return the id of the first answer to some messages, when all answers after them broke off; None when the
    conversation ends with no answer. Raises `Conflict` when the conversation has continued and was answered since: the
    messages must not be answered again."""
    last = appended.messages[-1]
    behind = [from_row(row) for row in change.rows.messages(last["session_id"], after=last["id"])]
    if not behind or behind[-1]["role"] != "assistant":
        return None
    if all(one["role"] == "assistant" and status_of(one) in ("error", "cancelled") for one in behind):
        return behind[0]["id"]
    raise Conflict(
        "the answer to this message broke off, and the conversation has continued since; read it, then decide",
        revision=change.row.revision,
    )
