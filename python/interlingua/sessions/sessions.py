"""
Sessions: conversations that last (spec/12-sessions.md).

    async with Sessions("sqlite:///chats.db", model="anthropic:claude-sonnet-4-6") as sessions:
        chat = await sessions.create()
        answer = await chat.say("What is a ULID?")

All state is in the database; between two calls only connections are in memory. So any number of servers may share a
database, and any of them may stop at any moment.
"""

import asyncio
import copy
import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Client
from interlingua.client.routing import Routing
from interlingua.events import SESSION_CREATED, Event, Events
from interlingua.registry import names
from interlingua.sessions import transfer, turns
from interlingua.sessions.appending import Rules
from interlingua.sessions.bus import Bus
from interlingua.sessions.change import Change
from interlingua.sessions.chat import Chat
from interlingua.sessions.errors import SessionNotFound, StorageFailed
from interlingua.sessions.marks import Marks, microseconds, write_time
from interlingua.sessions.rows import Rows, SessionRow
from interlingua.sessions.storage import Storage, Transaction, open_storage
from interlingua.sessions.versions import CURRENT
from interlingua.sessions.writing import Together

T = TypeVar("T")

MODEL: Final = "INTERLINGUA_MODEL"
"""The environment variable that names the model of sessions where nothing else does."""

_SOME: Final = 100


class SessionInfo(NamedTuple):
    """The properties of a session, without its messages. `turn_until` is when the lease of an answer in progress
    ends."""

    id: str
    workspace_path: str
    active_model: str | None
    queued_model: str | None
    policy: dict[str, Any] | None
    extra: dict[str, Any]
    revision: int
    created_at: str
    updated_at: str
    last_message_id: str | None
    parent_session_id: str | None
    parent_message_id: str | None
    turn_until: str | None

    @classmethod
    def of(cls, row: SessionRow) -> "SessionInfo":
        """Return the properties that a row holds."""
        return cls(
            id=row.id,
            workspace_path=row.workspace_path,
            active_model=row.active_model,
            queued_model=row.queued_model,
            policy=json.loads(row.routing_policy_json) if row.routing_policy_json else None,
            extra=json.loads(row.extra_json) if row.extra_json else {},
            revision=row.revision,
            created_at=write_time(row.created_at),
            updated_at=write_time(row.updated_at),
            last_message_id=row.last_message_id,
            parent_session_id=row.parent_session_id,
            parent_message_id=row.parent_message_id,
            turn_until=None if row.turn_until is None else write_time(row.turn_until),
        )


def _now() -> datetime:
    return datetime.now(UTC)


class Sessions:
    """The sessions of one tenant in one database. Use `async with`, or close it when done.

    `storage` is a URL (`open_storage`) or an engine. `tenant` selects whose sessions are visible; `of` returns those of
    another. `client` calls the providers (default: one of its own), `policy` routes where a session has no policy of
    its own, and `model` answers where no policy names one (default: the variable INTERLINGUA_MODEL). `profile` is the
    profile of the contract that stored messages keep, `raw_limit` the most bytes of `provider_raw` of a message.
    `lease` is the number of seconds after which a turn that its holder does not renew is lost, `checkpoint` the number
    of seconds between two writes of a stream that arrives. `events` observes what is committed here. `now` is the
    clock, `random_bits` returns the given number of random bits.
    """

    def __init__(
        self,
        storage: str | Storage,
        *,
        tenant: str = "",
        client: Client | None = None,
        policy: Mapping[str, Any] | Path | None = None,
        model: str | None = None,
        profile: str = "core",
        raw_limit: int | None = None,
        lease: float = 15.0,
        checkpoint: float = 1.0,
        threads: int = 8,
        events: Events | None = None,
        now: Callable[[], datetime] = _now,
        random_bits: Callable[[int], int] = secrets.randbits,
    ) -> None:
        self.tenant = tenant
        self.rules = Rules(profile, raw_limit)
        """The rules that stored messages keep."""
        self.lease = round(lease * 1_000_000)
        """How long a lease of a turn lasts, in microseconds."""
        self.checkpoint = checkpoint
        self.marks = Marks(now, random_bits)
        """The source of times and ids."""
        self.now = now
        self.bus = Bus()
        """The committed events, for subscribers in this process."""
        self.events = events or Events(now=now)
        self.events.subscribe(self.bus)
        self._given = storage
        self._storage: Storage | None = None
        self._together: Together | None = None
        self._threads = ThreadPoolExecutor(threads, "sessions")
        self._client = client
        self._owns_client = client is None
        self._policy = _policy(policy, model)
        self._routing: Routing | None = None
        self._decided: dict[str, list[Event]] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}

    async def __aenter__(self) -> Self:
        try:
            await self.recover()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections. May be called any number of times."""
        if self._client is not None and self._owns_client:
            await self._client.aclose()
        storage = self._storage
        if storage is not None and isinstance(self._given, str):
            await asyncio.get_running_loop().run_in_executor(None, storage.close)
        self._threads.shutdown(wait=False)

    def of(self, tenant: str) -> "Sessions":
        """Return the sessions of another tenant: connections, client and subscribers are shared, rows are not."""
        other = copy.copy(self)
        other.tenant = tenant
        return other

    # ---------------------------------------------------------------------------------------------- sessions

    async def create(
        self,
        *,
        model: str | None = None,
        workspace_path: str = "",
        policy: Mapping[str, Any] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Chat:
        """Create a session. `model` answers until it is swapped; without it the policy routes. `extra` is the caller's
        own data.

        Raises `InvalidRequest` for an unknown model, and for a policy that is not valid.
        """
        active = None if model is None else self.one_model(model)
        if policy is not None:
            Routing(self.routing.registry, policy).check()
        moment = self.marks.now()
        row = SessionRow(
            tenant=self.tenant,
            id=self.marks.session_id(),
            workspace_path=workspace_path,
            active_model=active,
            routing_policy_json=None if policy is None else json.dumps(dict(policy)).decode(),
            schema_version=CURRENT,
            created_at=moment,
            updated_at=moment,
            extra_json=json.dumps(dict(extra)).decode() if extra else None,
        )

        def created(rows: Rows) -> Change:
            change = Change(rows, row, self.marks)
            change.add_event(SESSION_CREATED, {"model": active}, "user")
            rows.insert([change.row])
            change.write_events()
            return change

        self.publish(await self.write(created))
        return Chat(self, row.id)

    async def open(self, session_id: str) -> Chat:
        """Return the handle of a session that exists. Raises `SessionNotFound`."""
        await self.info(session_id)
        return Chat(self, session_id)

    def chat(self, session_id: str) -> Chat:
        """Return a handle of a session. The database is not read before a method of the handle is called."""
        return Chat(self, session_id)

    async def info(self, session_id: str) -> SessionInfo:
        """Return the properties of a session, without its messages. Raises `SessionNotFound`."""
        row = await self.read(lambda rows: rows.session(session_id))
        if row is None:
            raise SessionNotFound
        return SessionInfo.of(row)

    async def latest(self, limit: int = 50, *, after: SessionInfo | None = None, prefix: str = "") -> list[SessionInfo]:
        """Return sessions, the newest first: at most `limit`, after one of them, whose ids begin with `prefix`."""
        place = None if after is None else (microseconds(datetime.fromisoformat(after.created_at)), after.id)
        rows = await self.read(lambda rows: rows.sessions(limit, place, prefix))
        return [SessionInfo.of(row) for row in rows]

    async def find(self, identity: str) -> str | None:
        """Return the id of the session to which a session, a message or a tool call of this id belongs; None when there
        is none."""

        def found(rows: Rows) -> str | None:
            if rows.session(identity) is not None:
                return identity
            row = rows.message(identity) or rows.call(identity)
            return None if row is None else row.session_id

        return await self.read(found)

    async def delete(self, session_id: str) -> None:
        """Remove a session with everything that belongs to it. Raises `SessionNotFound`, and `TurnInProgress`."""

        def deleted(rows: Rows) -> None:
            Change.of(rows, session_id, self.marks).demand_free()
            rows.delete_session(session_id)

        await self.write(deleted)

    async def delete_unchanged(self, age: timedelta) -> int:
        """Remove all sessions that have not changed for at least `age`, a hundred in each transaction; return their
        number."""
        before = microseconds(self.now() - age)
        total = 0

        def deleted(rows: Rows) -> int:
            found = rows.stale_sessions(before, _SOME)
            for session_id in found:
                rows.delete_session(session_id)
            return len(found)

        while number := await self.write(deleted):
            total += number
        return total

    async def add_spending(self, amounts: Mapping[tuple[str, date], Decimal], day: date) -> dict[str, Decimal]:
        """Add what keys of a server have spent, by the name of the key and the day, in USD; return what each key has
        spent on a day, with what others of this database have added. All is stored or nothing."""

        def added(rows: Rows) -> dict[str, Decimal]:
            for (name, when), amount in sorted(
                amounts.items()
            ):  # in one order, so that servers do not block each other
                rows.add_spending(name, when.isoformat(), amount)
            return rows.spending(day.isoformat())

        return await (self.write(added) if amounts else self.read(added))

    async def tenants(self) -> list[str]:
        """Return all tenants that have anything in the database, for its operator."""
        return await self.read(lambda rows: rows.tenants())

    async def recover(self) -> int:
        """End turns that their holders abandoned: what had arrived becomes a message of status `error`. Returns their
        number. This happens when `Sessions` is opened; the next change of a session also ends its abandoned turn."""
        total = 0

        def closed(rows: Rows) -> list[Change]:
            changes: list[Change] = []
            for session_id in rows.abandoned_turns(self.marks.now(), _SOME):
                change = Change.of(rows, session_id, self.marks)
                if (change.row.turn_until or change.now) < change.now:
                    turns.close_abandoned(change)
                    change.finish()
                    changes.append(change)
            return changes

        while changes := await self.write(closed):
            total += len(changes)
            for change in changes:
                self.publish(change)
        return total

    # ---------------------------------------------------------------------------------------------- in and out

    async def export(self, session_id: str) -> AsyncIterator[str]:
        """Yield a session as lines of JSON: first the session, then its messages in their order, then its other
        data."""
        for line in await self.read(lambda rows: transfer.exported(rows, session_id)):
            yield line

    async def import_(self, lines: Iterable[str | bytes], *, keep_ids: bool = False) -> Chat:
        """Create a session from the lines that `export` returned. It gets new ids; with `keep_ids` it keeps the old
        ones, which must be free. Raises `InvalidRequest` with the line that is wrong; then nothing is stored."""
        given = list(lines)

        def imported(rows: Rows) -> Change:
            return transfer.imported(rows, given, self.marks, self.rules, keep_ids=keep_ids)

        change = await self.write(imported)
        self.publish(change)
        return Chat(self, change.row.id)

    # ---------------------------------------------------------------------------------------------- for Chat

    @property
    def client(self) -> Client:
        """The client that calls the providers."""
        if self._client is None:
            self._client = Client(now=self.now)
        return self._client

    @property
    def routing(self) -> Routing:
        """The routing that chooses the models."""
        if self._routing is None:
            observed = Events(self._note, now=self.now)
            client = self.client
            self._routing = Routing(
                client.registry, self._policy, connect=client.connection, missing=client.missing, events=observed
            )
        return self._routing

    def one_model(self, model: str) -> str:
        """Return the canonical id of a model. Raises `InvalidRequest` for a name that is not known, and for a chain."""
        targets = self.routing.registry.expand(model, aliases=self.routing.policy.get("aliases"))
        return str(names.only_one(model, targets, "/model"))

    def _note(self, event: Event) -> None:
        """Collect the routing events of a turn until the turn is written."""
        noted = self._decided.get(event["turn_id"] or "")
        if noted is not None:
            noted.append(event)

    def noting(self, turn_id: str) -> list[Event]:
        """Return the list that collects the routing events of a turn, until `forget`."""
        return self._decided.setdefault(turn_id, [])

    def forget(self, turn_id: str) -> None:
        """Stop collecting the events of a turn, which has ended."""
        self._decided.pop(turn_id, None)

    async def read(self, work: Callable[[Rows], T]) -> T:
        """Return the result of work that reads rows, in one transaction, in a thread."""

        def reading() -> T:
            with self._opened().read() as transaction:
                return work(Rows(transaction, self.tenant))

        return await self._in_a_thread(reading)

    async def write(self, work: Callable[[Rows], T]) -> T:
        """Return the result of work that changes rows. The change is on the disk when this returns. A caller that is
        cancelled meanwhile does not know whether it is."""

        def written(transaction: Transaction) -> T:
            return work(Rows(transaction, self.tenant))

        if self._together is not None:
            return await self._together.do(written)

        def writing() -> T:
            with self._opened().write() as transaction:
                return written(transaction)

        return await self._in_a_thread(writing)

    async def change(self, session_id: str, work: Callable[[Change], T]) -> T:
        """Return the result of work that changes a session, then publish the events of the change. The work ends with
        `finish`."""

        def changing(rows: Rows) -> tuple[T, Change]:
            change = Change.of(rows, session_id, self.marks)
            return work(change), change

        given, change = await self.write(changing)
        self.publish(change)
        return given

    def publish(self, change: Change) -> None:
        """Publish the events of a committed change to the observers."""
        for event in change.events:
            self.events.give(event)
        if change.events:
            for watcher in self._watchers.get(change.row.id, ()):
                watcher.set()

    def watcher(self, session_id: str) -> asyncio.Event:
        """Return an event that is set whenever this process changes a session, until `unwatch`."""
        watcher = asyncio.Event()
        self._watchers.setdefault(session_id, set()).add(watcher)
        return watcher

    def unwatch(self, session_id: str, watcher: asyncio.Event) -> None:
        """Remove a watcher of a session."""
        found = self._watchers.get(session_id, set())
        found.discard(watcher)
        if not found:
            self._watchers.pop(session_id, None)

    async def _in_a_thread(self, work: Callable[[], T]) -> T:
        try:
            future = self._threads.submit(work)
        except RuntimeError:
            raise StorageFailed("these sessions are closed", retryable=False) from None
        return await asyncio.wrap_future(future)

    def _opened(self) -> Storage:
        if self._storage is None:
            storage = open_storage(self._given) if isinstance(self._given, str) else self._given
            write_all = getattr(storage, "write_all", None)
            if write_all is not None:
                self._together = Together(self._threads, write_all)
            self._storage = storage
        return self._storage


def _policy(policy: Mapping[str, Any] | Path | None, model: str | None) -> Mapping[str, Any] | Path | None:
    """Return the policy for sessions that have none of their own: the given one, or one with a model as its default."""
    if policy is not None and model is not None:
        raise InvalidRequest("give a policy or a model, not both: a policy names its default model itself")
    named = model or os.environ.get(MODEL)
    return {"version": 1, "chains": True, "global": {"default": named}} if policy is None and named else policy
