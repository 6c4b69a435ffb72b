"""
Objects that clients of a gateway store and refer to by their ids: responses, conversations, completions, caches
(spec/12-sessions.md#objects).

Responses form a tree: each response names the one that it continues, so that two may continue the same one. A
conversation is a sequence of parts, which may be removed one by one.
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

_PURGE_EACH: Final = 60_000_000  # microseconds between two searches for expired objects
_SOME: Final = 500
_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class Stored:
    """An object. `body` is what its client sees, `items` is the input that it was made from in the client's wire
    format, `messages` is the same in canonical form, with the state of the provider that answered. Times are
    microseconds since 1970."""

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
        """Return the items that it was made from and those of its answer, which are in the member `output` of its
        body."""
        return [*self.items, *self.body.get(output, ())]


@dataclass(slots=True)
class _Purge:
    """When the last search for expired objects took place."""

    at: int = 0


class Objects:
    """The objects of one tenant, that of open `sessions`; `of` returns those of another."""

    def __init__(self, sessions: "Sessions") -> None:
        self._sessions = sessions
        self._purged = _Purge()
        self.marks = sessions.marks
        """The source of times and ids."""

    def of(self, tenant: str) -> "Objects":
        """Return the objects of another tenant in the same database."""
        other = copy.copy(self)
        other._sessions = self._sessions.of(tenant)
        return other

    async def find(self, kind: str, identity: str) -> Stored | None:
        """Return an object; None when there is none, or when it has expired."""

        def found(rows: Rows) -> Stored | None:
            row = rows.object(kind, identity, self.marks.now())
            return None if row is None else _read(row)

        return await self._sessions.read(found)

    async def before(self, kind: str, identity: str) -> list[Stored] | None:
        """Return the objects up to a response, itself included, or the parts of a conversation; None when there is no
        such object."""

        def found(rows: Rows) -> list[Stored] | None:
            row = rows.object(kind, identity, self.marks.now())
            if row is None:
                return None
            if kind == CONVERSATION:
                return [_read(part) for part in rows.objects_in(identity, PART)]
            if row.owner_id is None:
                return [_read(one) for one in rows.objects_before(identity)]
            if rows.object(CONVERSATION, row.owner_id, self.marks.now()) is None:
                return None  # the parts before it were removed with its conversation
            return [_read(part) for part in rows.objects_in(row.owner_id, PART, row.position)]

        return await self._sessions.read(found)

    async def listed(
        self, kind: str, *, after: str | None = None, limit: int | None = None, newest_first: bool = True
    ) -> list[Stored]:
        """Return objects in the order in which they were made, or those after one of them."""

        def found(rows: Rows) -> list[Stored]:
            now = self.marks.now()
            last = None if after is None else rows.object(kind, after, now)
            place = None if last is None else (last.created_at, last.id)
            listed = rows.objects(kind, now, limit=limit, after=place, newest_first=newest_first)
            return [_read(row) for row in listed]

        return await self._sessions.read(found)

    async def put(self, *given: Stored, part: Stored | None = None) -> None:
        """Store objects, all or none. A `part` becomes the last one of its owner, and the other objects of the same
        owner get the position of the part. When the owner no longer exists, the part is not stored."""

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
        """Change an object, or remove it where the work returns None; return its new state. None when there is none."""

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
        """Remove an object, with its parts; return whether there was one. An object that others continue stays as long
        as they do, but cannot be found any more."""

        def removed(rows: Rows) -> bool:
            now = self.marks.now()
            row = rows.object(kind, identity, now, lock=True)
            if row is None:
                return False
            _end(rows, row, now)
            return True

        return await self._sessions.write(removed)

    async def delete_unchanged(self, age: timedelta) -> int:
        """Remove all objects that have been stored for at least `age`, a hundred in each transaction; return their
        number. A conversation has the age of its last part."""
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
        """Remove the expired objects of all tenants, once a minute at most."""
        now = self.marks.now()
        if now - self._purged.at < _PURGE_EACH:
            return
        self._purged.at = now
        with suppress(StorageFailed):  # the caller's objects are stored already
            while await self._sessions.write(lambda rows: rows.delete_expired_objects(now, _SOME)):
                pass


def _end(rows: Rows, row: ObjectRow, now: int) -> None:
    """Let an object expire, and remove it unless another continues it."""
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
