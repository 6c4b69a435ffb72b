"""What every reader carries: whose wire it is, and which call has which canonical id."""

from typing import Any

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource

Item = dict[str, Any]


class Reading:
    """Whose wire is read, and the calls that were met so far.

    `must_compare`: something was read that may be written otherwise than it came. `names`: those of tools that are called or offered.
    `calls`: wire id and name of each call, by its canonical id; those that are `open` are of the latest turn, and wait for their
    results. `documents`: what documents are known by. `marks`: how many marks for the cache there are. `prefix` stands before
    the names of calls without ids, so that two answers do not give the same canonical id.
    """

    __slots__ = (
        "_ids", "_latest", "_met", "adapter", "calls", "documents", "endpoint", "marks", "names", "open", "origin", "prefix",
        "provider", "must_compare",
    )  # fmt: skip

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, prefix: str = "") -> None:
        self.endpoint = endpoint
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.origin = endpoint.state()
        self.prefix = prefix
        self.must_compare = False
        self.names: set[str] = set()
        self.calls: dict[str, tuple[str | None, str]] = {}
        self.open: list[str] = []
        self.documents: set[str] = set()
        self.marks = 0
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}  # the latest canonical id of each wire id

    def state(self, **members: Any) -> Item:
        """A provider state that originates on this wire."""
        return {**self.origin, **members}

    def opaque(self, kind: str, value: Item) -> Item:
        """An item of the wire without canonical meaning, verbatim."""
        return {"type": "opaque", **self.origin, "kind": kind, "value": value}

    def turn(self) -> None:
        """The model speaks anew: results answer its calls from here on."""
        self.open.clear()

    def call(self, wire_id: str | None, name: str = "") -> str:
        """The canonical id of a call; a wire id that is used again names a further call."""
        key = f"{self.prefix}{name}" if wire_id is None else wire_id
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        canonical = self._ids.tool(self.adapter, key, met)
        if canonical in self.calls:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self.adapter, key, met + 1)
        self.calls[canonical] = wire_id, name
        self.open.append(canonical)
        if name:
            self.names.add(name)
        if wire_id is not None:
            self._latest[wire_id] = canonical
        return canonical

    def result(self, wire_id: str | None, name: str | None = None) -> tuple[str, str | None]:
        """The canonical id of the call that a result answers, and the result's own id, where it is not that of the call.

        The call is found by its id. Where none has that, or there is none, it is found by its name, and for a result without an
        id by its place: a name that no open call has is one that the client gave it.
        """
        if wire_id is not None and self.open and self.calls[self.open[0]][0] == wire_id:  # most results
            return self.open.pop(0), None
        found: str | None = None
        if wire_id is not None:
            found = self._waits(wire_id, None) or self._latest.get(wire_id)
        if found is None and name is not None:
            found = self._waits(None, name) or next((call for call in self.open if self.calls[call][1] == name), None)
        if found is None and wire_id is None and self.open:
            found = self.open[0]
        if found is None:
            self.must_compare = True
            return self._orphan(wire_id, name), wire_id
        if self.open and self.open[0] == found:
            del self.open[0]
        else:
            self.must_compare = True
            if found in self.open:
                self.open.remove(found)
        return found, None if self.calls[found][0] == wire_id else wire_id

    def _waits(self, wire_id: str | None, name: str | None) -> str | None:
        """The first open call of this id and, when one is given, of this name."""
        for call in self.open:
            known_id, called = self.calls[call]
            if known_id == wire_id and name in (None, called):
                return call
        return None

    def _orphan(self, wire_id: str | None, name: str | None) -> str:
        """A canonical id for a result without a call."""
        if wire_id is not None:
            return self._ids.tool(self.adapter, wire_id, 0)
        key = f"result:{name}"
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        return self._ids.tool(self.adapter, key, met)
