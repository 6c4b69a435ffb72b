"""
The rows of one tenant in one transaction. All statements are in this module, each in a plain function.

Every statement contains the tenant, so that no call can reach the rows of another tenant. An id of another tenant is an
id that does not exist.
"""

from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from interlingua.sessions import tables
from interlingua.sessions.storage import Transaction

_VALUES_AT_ONCE = 500
"""How many ids one query has: SQLite takes 32,766 parameters, older versions 999."""


class SessionRow(NamedTuple):
    """A session. `revision` is the number of its last event, `turn_until` when the lease of its turn ends."""

    tenant: str
    id: str
    workspace_path: str
    active_model: str | None
    routing_policy_json: str | None
    schema_version: int
    created_at: int
    updated_at: int
    revision: int = 0
    last_message_id: str | None = None
    queued_model: str | None = None
    turn_id: str | None = None
    turn_message_id: str | None = None
    turn_until: int | None = None
    extra_json: str | None = None
    parent_session_id: str | None = None
    parent_message_id: str | None = None


class MessageRow(NamedTuple):
    """A message. `members_json` holds its members that have no column, `superseded_by` the id of the message that
    replaced it."""

    tenant: str
    id: str
    session_id: str
    role: str
    content_json: str
    metadata_json: str
    created_at: int
    schema_version: int
    superseded_by: str | None = None
    members_json: str | None = None


class ToolCallRow(NamedTuple):
    """A tool call: the message that contains it, the message that has its result, and how it ended."""

    tenant: str
    id: str
    session_id: str
    message_id: str
    result_message_id: str | None
    name: str
    status: str
    provider_id: str | None
    provider: str | None
    created_at: int
    completed_at: int | None


class ToolIdRow(NamedTuple):
    """The id that a call has on a wire, its number among the calls with that id in the session, and its canonical
    id."""

    tenant: str
    session_id: str
    adapter: str
    provider: str
    provider_id: str
    occurrence: int
    canonical_id: str


class KeyRow(NamedTuple):
    """What was appended under a client key."""

    tenant: str
    session_id: str
    client_key: str
    digest: str
    first_message_id: str
    last_message_id: str
    revision: int
    created_at: int


class EventRow(NamedTuple):
    """An event of the outbox; its revision is its position in the session."""

    tenant: str
    session_id: str
    revision: int
    id: str
    type: str
    event_json: str
    created_at: int


class PriceRow(NamedTuple):
    """The cost of a message by another table of prices."""

    tenant: str
    session_id: str
    message_id: str
    pricing_version: str
    cost_usd: str | None
    created_at: int


class ObjectRow(NamedTuple):
    """An object that a client of a gateway has stored and refers to by its id (`objects`).

    `owner_id` and `position` are its place in the object of which it is a part, `previous_id` is the object that it
    continues, `expires_at` is when it expires, None for never.
    """

    tenant: str
    id: str
    kind: str
    owner_id: str | None
    position: int
    previous_id: str | None
    body_json: str
    items_json: str
    messages_json: str
    created_at: int
    expires_at: int | None


_TABLE_OF = {
    SessionRow: "sessions",
    MessageRow: "messages",
    ToolCallRow: "tool_calls",
    ToolIdRow: "tool_ids",
    KeyRow: "client_keys",
    EventRow: "events",
    PriceRow: "prices",
    ObjectRow: "objects",
}
AnyRow = SessionRow | MessageRow | ToolCallRow | ToolIdRow | KeyRow | EventRow | PriceRow | ObjectRow


@cache
def _select(kind: type[AnyRow]) -> str:
    return f"SELECT {', '.join(kind._fields)} FROM {_TABLE_OF[kind]} WHERE tenant = ?"


class Rows:
    """The rows of one tenant, in one transaction."""

    def __init__(self, transaction: Transaction, tenant: str) -> None:
        self._do = transaction
        self.tenant = tenant

    # ---------------------------------------------------------------------------------------------- all tables

    def insert(self, rows: Iterable[AnyRow]) -> None:
        """Add rows, all of one table and of this tenant."""
        found = list(rows)
        for row in found:
            if row.tenant != self.tenant:
                raise AssertionError("a row of another tenant")
        if found:
            kind = type(found[0])
            self._do.insert(_TABLE_OF[kind], kind._fields, found)

    def update(self, row: SessionRow | MessageRow | ToolCallRow | ObjectRow, before: SessionRow | None = None) -> None:
        """Update a row that exists: all columns, or those that differ from `before`."""
        changed = [
            (name, value)
            for place, (name, value) in enumerate(zip(row._fields, row, strict=True))
            if name not in ("tenant", "id") and (before is None or before[place] != value)
        ]
        if changed:
            columns = ", ".join([f"{name} = ?" for name, _ in changed])
            values = [value for _, value in changed]
            self._do.run(
                f"UPDATE {_TABLE_OF[type(row)]} SET {columns} WHERE tenant = ? AND id = ?",
                (*values, self.tenant, row.id),
            )

    # ---------------------------------------------------------------------------------------------- sessions

    def session(self, session_id: str, *, lock: bool = False) -> SessionRow | None:
        """Return a session. With `lock` the row is locked until the transaction ends; code that changes a session locks
        it first."""
        end = self._do.lock if lock else ""
        found = self._do.ask(f"{_select(SessionRow)} AND id = ?{end}", (self.tenant, session_id))
        return SessionRow(*found[0]) if found else None

    def sessions(self, limit: int, before: tuple[int, str] | None = None, prefix: str = "") -> list[SessionRow]:
        """Return sessions, the newest first: those after the place `before`, whose ids begin with `prefix`."""
        where, values = "", list[str | int]()
        if before is not None:
            where += " AND (created_at < ? OR (created_at = ? AND id < ?))"
            values += [before[0], before[0], before[1]]
        if prefix:
            where += " AND substr(id, 1, ?) = ?"
            values += [len(prefix), prefix]
        found = self._do.ask(
            f"{_select(SessionRow)}{where} ORDER BY created_at DESC, id DESC LIMIT ?", (self.tenant, *values, limit)
        )
        return [SessionRow(*row) for row in found]

    def stale_sessions(self, before: int, limit: int) -> list[str]:
        """Return the ids of sessions that were last changed before a moment."""
        found = self._do.ask(
            "SELECT id FROM sessions WHERE tenant = ? AND created_at < ? AND updated_at < ? ORDER BY id LIMIT ?",
            (self.tenant, before, before, limit),
        )
        return [row[0] for row in found]

    def tenants(self) -> list[str]:
        """Return all tenants that have any row. The operator asks for them, so this query is not limited to a
        tenant."""
        found = self._do.ask("SELECT tenant FROM sessions UNION SELECT tenant FROM objects ORDER BY 1")
        return [row[0] for row in found]

    def add_spending(self, key_name: str, day: str, amount: Decimal) -> None:
        """Add an amount, in USD, to the cost of a key on a day. Others that add to the same row wait."""
        row = (self.tenant, key_name, day)
        self._do.run("INSERT INTO spending VALUES (?, ?, ?, '0') ON CONFLICT DO NOTHING", row)
        where = "WHERE tenant = ? AND key_name = ? AND day = ?"
        [(cost,)] = self._do.ask(f"SELECT cost_usd FROM spending {where}{self._do.lock}", row)
        self._do.run(f"UPDATE spending SET cost_usd = ? {where}", (str(Decimal(cost) + amount), *row))

    def spending(self, day: str) -> dict[str, Decimal]:
        """Return the cost of each key on a day, in USD."""
        found = self._do.ask("SELECT key_name, cost_usd FROM spending WHERE tenant = ? AND day = ?", (self.tenant, day))
        return {name: Decimal(cost) for name, cost in found}

    def abandoned_turns(self, now: int, limit: int) -> list[str]:
        """Return the ids of sessions with a turn whose lease has ended."""
        found = self._do.ask(
            "SELECT id FROM sessions WHERE tenant = ? AND turn_until < ? ORDER BY id LIMIT ?", (self.tenant, now, limit)
        )
        return [row[0] for row in found]

    def delete_session(self, session_id: str) -> None:
        """Remove a session, with everything that belongs to it."""
        for table in tables.OF_A_SESSION:
            self._do.run(f"DELETE FROM {table} WHERE tenant = ? AND session_id = ?", (self.tenant, session_id))
        self._do.run("DELETE FROM sessions WHERE tenant = ? AND id = ?", (self.tenant, session_id))

    # ---------------------------------------------------------------------------------------------- messages

    def message(self, message_id: str) -> MessageRow | None:
        """Return a message by its id."""
        found = self._do.ask(f"{_select(MessageRow)} AND id = ?", (self.tenant, message_id))
        return MessageRow(*found[0]) if found else None

    def messages(
        self,
        session_id: str,
        *,
        superseded: bool = False,
        since: str = "",
        after: str = "",
        until: str | None = None,
        limit: int | None = None,
    ) -> list[MessageRow]:
        """Return the messages of a session in their order: from `since` on, or after `after`, up to `until`. With
        `superseded` also those that another message replaced."""
        where = "" if superseded else " AND superseded_by IS NULL"
        values: list[str | int] = [self.tenant, session_id, after]
        if since:
            where += " AND id >= ?"
            values.append(since)
        if until is not None:
            where += " AND id <= ?"
            values.append(until)
        end = " ORDER BY id"
        if limit is not None:
            end += " LIMIT ?"
            values.append(limit)
        found = self._do.ask(f"{_select(MessageRow)} AND session_id = ? AND id > ?{where}{end}", values)
        return [MessageRow._make(row) for row in found]

    def last_message(self, session_id: str) -> MessageRow | None:
        """Return the last message of a session that is not superseded."""
        found = self._do.ask(
            f"{_select(MessageRow)} AND session_id = ? AND superseded_by IS NULL ORDER BY id DESC LIMIT 1",
            (self.tenant, session_id),
        )
        return MessageRow(*found[0]) if found else None

    def supersede(self, session_id: str, first: str, by: str) -> None:
        """Mark a message and all after it as replaced by another one."""
        self._do.run(
            "UPDATE messages SET superseded_by = ? "
            "WHERE tenant = ? AND session_id = ? AND id >= ? AND id < ? AND superseded_by IS NULL",
            (by, self.tenant, session_id, first, by),
        )

    # ---------------------------------------------------------------------------------------------- tool calls

    def calls(self, session_id: str, status: str | None = None) -> list[ToolCallRow]:
        """Return the tool calls of a session in their order: all, or by the index those of a status."""
        where = "" if status is None else " AND status = ?"
        values = (self.tenant, session_id) if status is None else (self.tenant, session_id, status)
        found = self._do.ask(f"{_select(ToolCallRow)} AND session_id = ?{where} ORDER BY message_id, id", values)
        return [ToolCallRow(*row) for row in found]

    def calls_of(self, session_id: str, ids: Iterable[str]) -> dict[str, ToolCallRow]:
        """Return the calls of a session that have these ids, by id."""
        found: dict[str, ToolCallRow] = {}
        for some in _some(ids):
            marks = ", ".join("?" * len(some))
            asked = f"{_select(ToolCallRow)} AND session_id = ? AND id IN ({marks})"
            for row in self._do.ask(asked, (self.tenant, session_id, *some)):
                call = ToolCallRow(*row)
                found[call.id] = call
        return found

    def taken_calls(self, ids: Iterable[str]) -> set[str]:
        """Return those of these ids that any call has, in any session of any tenant; this query is not limited to a
        tenant. Its result is not shown to a caller; a call whose id is taken gets another one."""
        found: set[str] = set()
        for some in _some(ids):
            marks = ", ".join("?" * len(some))
            found.update(row[0] for row in self._do.ask(f"SELECT id FROM tool_calls WHERE id IN ({marks})", some))
        return found

    def delete_calls(self, session_id: str) -> None:
        """Remove the rows of all tool calls of a session, before they are written again."""
        self._do.run("DELETE FROM tool_calls WHERE tenant = ? AND session_id = ?", (self.tenant, session_id))

    def call(self, call_id: str) -> ToolCallRow | None:
        """Return a tool call by its canonical id."""
        found = self._do.ask(f"{_select(ToolCallRow)} AND id = ?", (self.tenant, call_id))
        return ToolCallRow(*found[0]) if found else None

    # ---------------------------------------------------------------------------------------------- the id map

    def tool_ids(self, session_id: str) -> list[ToolIdRow]:
        """Return the whole id map of a session."""
        found = self._do.ask(
            f"{_select(ToolIdRow)} AND session_id = ? ORDER BY canonical_id, adapter, provider",
            (self.tenant, session_id),
        )
        return [ToolIdRow(*row) for row in found]

    def canonical_ids(self, session_id: str, adapter: str, provider: str, provider_id: str) -> list[ToolIdRow]:
        """Return the entries of the id map with an id of a wire, by occurrence."""
        found = self._do.ask(
            f"{_select(ToolIdRow)} AND session_id = ? AND adapter = ? AND provider = ? AND provider_id = ? "
            "ORDER BY occurrence",
            (self.tenant, session_id, adapter, provider, provider_id),
        )
        return [ToolIdRow(*row) for row in found]

    def provider_ids(self, session_id: str, canonical_id: str) -> list[ToolIdRow]:
        """Return the entries of the id map with a canonical id: the call's ids on wires."""
        found = self._do.ask(
            f"{_select(ToolIdRow)} AND session_id = ? AND canonical_id = ? ORDER BY adapter, provider",
            (self.tenant, session_id, canonical_id),
        )
        return [ToolIdRow(*row) for row in found]

    # ---------------------------------------------------------------------------------------------- keys, events,
    # prices

    def key(self, session_id: str, client_key: str) -> KeyRow | None:
        """Return what was appended under a client key."""
        found = self._do.ask(
            f"{_select(KeyRow)} AND session_id = ? AND client_key = ?", (self.tenant, session_id, client_key)
        )
        return KeyRow(*found[0]) if found else None

    def events(self, session_id: str, after: int, limit: int) -> list[EventRow]:
        """Return the events of a session after a revision, in their order."""
        found = self._do.ask(
            f"{_select(EventRow)} AND session_id = ? AND revision > ? ORDER BY revision LIMIT ?",
            (self.tenant, session_id, after, limit),
        )
        return [EventRow(*row) for row in found]

    def prices(self, session_id: str) -> list[PriceRow]:
        """Return the costs of the messages of a session by other tables."""
        found = self._do.ask(
            f"{_select(PriceRow)} AND session_id = ? ORDER BY message_id, pricing_version", (self.tenant, session_id)
        )
        return [PriceRow(*row) for row in found]

    def delete_prices(self, session_id: str, pricing_version: str) -> None:
        """Remove the costs of a session by one table, before they are written again."""
        self._do.run(
            "DELETE FROM prices WHERE tenant = ? AND session_id = ? AND pricing_version = ?",
            (self.tenant, session_id, pricing_version),
        )

    # ---------------------------------------------------------------------------------------------- objects of clients

    def object(self, kind: str, identity: str, now: int, *, lock: bool = False) -> ObjectRow | None:
        """Return an object that has not expired. With `lock` its row is locked until the transaction ends."""
        if "\0" in identity:  # not every database takes it, and no id has it
            return None
        end = self._do.lock if lock else ""
        asked = f"{_select(ObjectRow)} AND id = ? AND kind = ? AND (expires_at IS NULL OR expires_at > ?){end}"
        found = self._do.ask(asked, (self.tenant, identity, kind, now))
        return ObjectRow(*found[0]) if found else None

    def objects(
        self,
        kind: str,
        now: int,
        *,
        limit: int | None = None,
        after: tuple[int, str] | None = None,
        newest_first: bool = True,
    ) -> list[ObjectRow]:
        """Return objects that have not expired, in the order in which they were made; those after a place."""
        where, values = "", list[Any]((self.tenant, kind, now))
        word, sign = ("DESC", "<") if newest_first else ("ASC", ">")
        if after is not None:
            where = f" AND (created_at {sign} ? OR (created_at = ? AND id {sign} ?))"
            values += [after[0], after[0], after[1]]
        end = f" ORDER BY created_at {word}, id {word}"
        if limit is not None:
            end += " LIMIT ?"
            values.append(limit)
        asked = f"{_select(ObjectRow)} AND kind = ? AND (expires_at IS NULL OR expires_at > ?){where}{end}"
        return [ObjectRow(*row) for row in self._do.ask(asked, values)]

    def objects_before(self, identity: str) -> list[ObjectRow]:
        """Return an object and all that it continues, the first one first; expired ones too, because it depends on
        them."""
        columns = ", ".join(f"o.{name}" for name in ObjectRow._fields)
        found = self._do.ask(
            "WITH RECURSIVE chain(id, previous_id, depth) AS ("
            "SELECT id, previous_id, 0 FROM objects WHERE tenant = ? AND id = ? UNION ALL "
            "SELECT o.id, o.previous_id, c.depth + 1 FROM objects o JOIN chain c ON o.tenant = ? AND o.id = c.previous_id"
            f") SELECT {columns} FROM chain c JOIN objects o ON o.tenant = ? AND o.id = c.id ORDER BY c.depth DESC",
            (self.tenant, identity, self.tenant, self.tenant),
        )
        return [ObjectRow(*row) for row in found]

    def objects_in(self, owner_id: str, kind: str, until: int | None = None) -> list[ObjectRow]:
        """Return the parts of an object in their order, up to a position."""
        where, values = "", list[Any]((self.tenant, owner_id, kind))
        if until is not None:
            where = " AND position <= ?"
            values.append(until)
        found = self._do.ask(f"{_select(ObjectRow)} AND owner_id = ? AND kind = ?{where} ORDER BY position", values)
        return [ObjectRow(*row) for row in found]

    def last_position(self, owner_id: str) -> int:
        """Return the highest position of a part; 0 when there is none."""
        asked = "SELECT MAX(position) FROM objects WHERE tenant = ? AND owner_id = ?"
        return self._do.ask(asked, (self.tenant, owner_id))[0][0] or 0

    def stale_objects(self, before: int, now: int, limit: int) -> list[ObjectRow]:
        """Return the objects, other than parts, that were stored before a moment and have not expired. The age of an
        object with parts is that of its last part."""
        asked = (
            f"{_select(ObjectRow)} AND created_at < ? AND (expires_at IS NULL OR expires_at > ?) AND kind <> 'part' "
            "AND NOT EXISTS (SELECT 1 FROM objects p WHERE p.tenant = objects.tenant AND p.owner_id = objects.id "
            "AND p.kind = 'part' AND p.created_at >= ?) ORDER BY created_at, id LIMIT ?"
        )
        return [ObjectRow(*row) for row in self._do.ask(asked, (self.tenant, before, now, before, limit))]

    def delete_object(self, identity: str) -> None:
        """Remove an object."""
        self._do.run("DELETE FROM objects WHERE tenant = ? AND id = ?", (self.tenant, identity))

    def delete_expired_objects(self, now: int, limit: int) -> int:
        """Remove the expired objects of all tenants that no other object continues; return their number. No caller sees
        the rows, so this needs no tenant."""
        found = self._do.ask(
            "SELECT tenant, id FROM objects o WHERE expires_at <= ? AND NOT EXISTS "
            "(SELECT 1 FROM objects n WHERE n.tenant = o.tenant AND n.previous_id = o.id) LIMIT ?",
            (now, limit),
        )
        for tenant, identity in found:
            self._do.run("DELETE FROM objects WHERE tenant = ? AND id = ?", (tenant, identity))
        return len(found)


def _some(ids: Iterable[str]) -> Iterable[list[str]]:
    found = list(dict.fromkeys(ids))
    return [found[start : start + _VALUES_AT_ONCE] for start in range(0, len(found), _VALUES_AT_ONCE)]
