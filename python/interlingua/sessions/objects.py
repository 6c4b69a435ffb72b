"""
Objects that clients of a gateway store and name by their ids: responses, conversations, completions, caches
(spec/12-sessions.md#objects).

What was said before a response is a tree: each response names the one that it goes on from, so that two may go on from
the same one. A conversation is a row of parts, which may be removed one by one.
"""

import copy
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from interlingua.canonical import json
from interlingua.sessions.errors import StorageFailed
from interlingua.sessions.marks import microseconds
from interlingua.sessions.rows import ObjectRow, Rows

if TYPE_CHECKING:
    from interlingua.sessions.sessions import Sessions

Data = dict[str, Any]

RESPONSE: Final = "response"
CONVERSATION: Final = "conversation"
PART: Final = "part"
COMPLETION: Final = "completion"
CACHE: Final = "cache"

_PURGE_EACH: Final = 60_000_000  # microseconds between two looks for what has expired
_SOME: Final = 500
_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """An object. `body` is what its client is shown, `items` what it was made of in the client's wire, `messages` the
    same in canonical form, with the state of whoever answered. Times are microseconds since 1970."""

    id: str
    kind: str
    body: Data
    items: list[Data] = field(default_factory=list[Data])
    messages: list[Data] = field(default_factory=list[Data])
    owner_id: str | None = None
    position: int = 0
    previous_id: str | None = None
    created_at: int = 0
    expires_at: int | None = None

    def said(self, output: str = "output") -> list[Data]:
        """The items that it was made of, and those of its answer, which its body holds in a member."""
        return [*self.items, *self.body.get(output, ())]


@dataclass(slots=True)
class _Purge:
    """When it was last looked for what has expired."""

    at: int = 0


class Objects:
    """The objects of one tenant, that of sessions that are open; `of` gives those of another."""

    def __init__(self, sessions: "Sessions") -> None:
        self._sessions = sessions
        self._purged = _Purge()
        self.marks = sessions.marks
        """Where times and ids come from."""

    def of(self, tenant: str) -> "Objects":
        """The objects of another tenant in the same database."""
        other = copy.copy(self)
        other._sessions = self._sessions.of(tenant)
        return other

    async def find(self, kind: str, identity: str) -> Stored | None:
        """An object; None when there is none, or none any more."""

        def found(rows: Rows) -> Stored | None:
            row = rows.object(kind, identity, self.marks.now())
            return None if row is None else _read(row)

        return await self._sessions.read(found)

    async def before(self, kind: str, identity: str) -> list[Stored] | None:
        """What was said up to a response, itself included, or in a conversation; None when there is no such object."""

        def found(rows: Rows) -> list[Stored] | None:
            row = rows.object(kind, identity, self.marks.now())
            if row is None:
                return None
            if kind == CONVERSATION:
                return [_read(part) for part in rows.objects_in(identity, PART)]
            if row.owner_id is None:
                return [_read(one) for one in rows.objects_before(identity)]
            if rows.object(CONVERSATION, row.owner_id, self.marks.now()) is None:
                return None  # what came before it has gone with its conversation
            return [_read(part) for part in rows.objects_in(row.owner_id, PART, row.position)]

        return await self._sessions.read(found)

    async def listed(
        self, kind: str, *, after: str | None = None, limit: int | None = None, newest_first: bool = True
    ) -> list[Stored]:
        """Objects in the order in which they were made, those behind one of them."""

        def found(rows: Rows) -> list[Stored]:
            now = self.marks.now()
            last = None if after is None else rows.object(kind, after, now)
            place = None if last is None else (last.created_at, last.id)
            listed = rows.objects(kind, now, limit=limit, after=place, newest_first=newest_first)
            return [_read(row) for row in listed]

        return await self._sessions.read(found)

    async def put(self, *given: Stored, part: Stored | None = None) -> None:
        """Stores objects, all or none. A `part` becomes the last one of its owner, with the place of which the others are
        stored that have the same owner; when the owner has gone, it is not stored."""

        def stored(rows: Rows) -> None:
            now = self.marks.now()
            kept = list(given)
            if part is not None and part.owner_id is not None:
                if rows.object(CONVERSATION, part.owner_id, now, lock=True) is not None:
                    position = rows.last_position(part.owner_id) + 1
                    identity = f"{part.owner_id}/{position}"
                    kept = [replace(one, position=position) if one.owner_id == part.owner_id else one for one in kept]
                    kept.append(replace(part, id=identity, position=position))
            for one in kept:
                rows.insert([_write(rows.tenant, one, now)])

        await self._sessions.write(stored)
        await self._purge()

    async def change(self, kind: str, identity: str, work: Callable[[Stored], Stored | None]) -> Stored | None:
        """Changes an object, or removes it where the work gives None; gives what it is now. None when there is none."""

        def changed(rows: Rows) -> Stored | None:
            row = rows.object(kind, identity, self.marks.now(), lock=True)
            if row is None:
                return None
            after = work(_read(row))
            if after is None:
                rows.delete_object(identity)
            else:
                rows.update(_write(rows.tenant, after, row.created_at))
            return after

        return await self._sessions.write(changed)

    async def remove(self, kind: str, identity: str) -> bool:
        """Removes an object, with its parts; whether there was one. What others go on from stays as long as they do, and
        is named by nobody."""

        def removed(rows: Rows) -> bool:
            now = self.marks.now()
            row = rows.object(kind, identity, now, lock=True)
            if row is None:
                return False
            _end(rows, row, now)
            return True

        return await self._sessions.write(removed)

    async def delete_unchanged(self, age: timedelta) -> int:
        """Removes all objects that have been stored for so long, a hundred in each transaction; gives their number. A
        conversation has the age of its last part."""
        before = microseconds(self._sessions.now() - age)
        total = 0

        def removed(rows: Rows) -> int:
            now = self.marks.now()
            found = rows.stale_objects(before, now, _AT_ONCE)
            for row in found:
                _end(rows, row, now)
            return len(found)

        while number := await self._sessions.write(removed):
            total += number
        return total

    async def _purge(self) -> None:
        """Removes what has expired, of all tenants, once a minute at most."""
        now = self.marks.now()
        if now - self._purged.at < _PURGE_EACH:
            return
        self._purged.at = now
        with suppress(StorageFailed):  # what was to be stored is stored
            while await self._sessions.write(lambda rows: rows.delete_expired_objects(now, _SOME)):
                pass


def _end(rows: Rows, row: ObjectRow, now: int) -> None:
    """Gives an object its end, and removes it unless another goes on from it."""
    for part in rows.objects_in(row.id, PART):
        rows.delete_object(part.id)
    rows.update(row._replace(expires_at=now))
    while rows.delete_expired_objects(now, _SOME):
        pass


def _read(row: ObjectRow) -> Stored:
    return Stored(
        id=row.id,
        kind=row.kind,
        body=json.loads(row.body_json),
        items=json.loads(row.items_json),
        messages=json.loads(row.messages_json),
        owner_id=row.owner_id,
        position=row.position,
        previous_id=row.previous_id,
        created_at=row.created_at,
        expires_at=row.expires_at,
    )


def _write(tenant: str, given: Stored, now: int) -> ObjectRow:
    return ObjectRow(
        tenant=tenant,
        id=given.id,
        kind=given.kind,
        owner_id=given.owner_id,
        position=given.position,
        previous_id=given.previous_id,
        body_json=json.dumps(given.body).decode(),
        items_json=json.dumps(given.items).decode(),
        messages_json=json.dumps(given.messages).decode(),
        created_at=given.created_at or now,
        expires_at=given.expires_at,
    )
