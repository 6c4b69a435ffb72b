"""What a reader carries with it."""

from typing import Any

from interlingua.adapters._claude.values import MAX_CACHE_MARKS, Item
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Path, pointer


class Reading:
    """What a reader carries: whose wire it is, and the canonical ids of the calls seen so far.

    `unusual`: something was read that a writer might have to repair. `open`: the calls that wait for a result.
    `names`: those of tools. `documents`: those of documents, where they have one.
    """

    __slots__ = (
        "_calls",
        "_given",
        "_ids",
        "_marks",
        "_short",
        "adapter",
        "documents",
        "endpoint",
        "names",
        "open",
        "provider",
        "unusual",
        "whose",
    )

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.whose = endpoint.state()
        self._ids = ids
        self._calls: dict[str, tuple[str, int]] = {}  # the latest canonical id of each wire id, and how many it has
        self._given: set[str] = set()
        self.names: set[str] = set()
        self.documents: set[str] = set()
        self.open: list[str] = []
        self._marks = 0
        self._short = False
        self.unusual = False

    def has_calls(self) -> bool:
        """Whether a call was read."""
        return bool(self._calls)

    def has_marks(self) -> bool:
        """Whether a mark for the cache was read."""
        return self._marks > 0

    def mark(self, hint: Item) -> None:
        """Looks at a mark for the cache."""
        ttl = hint.get("ttl", "5m")
        self._marks += 1
        if self._marks > MAX_CACHE_MARKS or (ttl != "5m" and (ttl != "1h" or self._short)):
            self.unusual = True
        self._short = self._short or ttl == "5m"

    def call(self, wire_id: str) -> str:
        """The canonical id of a call; a wire id that is used again in a later turn names another call."""
        self.open.append(wire_id)
        latest = self._calls.get(wire_id)
        occurrence = 0
        if latest is not None:
            occurrence = latest[1]
            self.unusual = True
        canonical = self._ids.tool(self.adapter, wire_id, occurrence)
        if canonical in self._given:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self.adapter, wire_id, occurrence + 1)
        self._given.add(canonical)
        self._calls[wire_id] = (canonical, occurrence + 1)
        return canonical

    def result(self, wire_id: str) -> str | None:
        """The canonical id of the call that a result answers; None when there was no such call."""
        if self.open and self.open[0] == wire_id:
            del self.open[0]
        else:
            self.unusual = True
        latest = self._calls.get(wire_id)
        return latest[0] if latest is not None else None

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(self.adapter, wire_id, 0)

    def unreadable(self, what: str, path: Path, failure: type[InvalidWire] = InvalidWire) -> InvalidWire:
        """The error for a part of the wire that lacks a member or has one of a wrong type."""
        message = f"{what} cannot be read: a member is missing or has the wrong type"
        return failure(message, path=pointer(path), adapter=self.adapter)

    def state(self, **members: Any) -> Item:
        """A provider state that originates on this wire."""
        return {**self.whose, **members}

    def opaque(self, kind: str, value: Item) -> Item:
        """An item of the wire without canonical meaning, verbatim."""
        return {"type": "opaque", **self.whose, "kind": kind, "value": value}
