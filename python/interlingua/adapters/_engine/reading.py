"""The state of a reader: the endpoint whose wire it reads, and the canonical ids of the calls that it met."""

from typing import Any

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource

Item = dict[str, Any]


class Reading:
    """The endpoint whose wire is read, and the calls that were met so far.

    - `must_compare`: something was read that may be written otherwise than it came, so the items must be written and
      compared (`_engine.verbatim.may_differ`).
    - `names`: the names of the tools that are called or offered.
    - `calls`: wire id and name of each call, by its canonical id.
    - `open`: the canonical ids of the calls of the latest turn that have no result yet.
    - `documents`: the keys by which documents are known.
    - `marks`: the number of marks for the cache.
    - `prefix`: is put before the key of a call that has no wire id, so that two responses do not give the same
      canonical id. A call that has a wire id does not use it.
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
        """An opaque block: an item of the wire without canonical meaning, verbatim."""
        return {"type": "opaque", **self.origin, "kind": kind, "value": value}

    def turn(self) -> None:
        """Begin a new turn of the model: later results answer the calls of this turn."""
        self.open.clear()

    def call(self, wire_id: str | None, name: str = "") -> str:
        """Register a call and return its canonical id; a wire id that is used again names a further call."""
        key = f"{self.prefix}{name}" if wire_id is None else wire_id
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        canonical = self._ids.tool(self.adapter, key, met)
        if canonical in self.calls:  # the id was derived from one that was removed, and another call has that, too
            canonical = self._ids.tool(self.adapter, key, met + 1)
        self.calls[canonical] = wire_id, name
        self.open.append(canonical)
        if name:
            self.names.add(name)
        if wire_id is not None:
            self._latest[wire_id] = canonical
        return canonical

    def result(self, wire_id: str | None, name: str | None = None) -> tuple[str, str | None]:
        """Take the call that a result answers; return its canonical id, and the result's own wire id if it is not that
        of the call.

        A call is found by its wire id. If no call has the id, or the result has none, it is found by its name. For a
        result without an id, it is then the first open call: a name that no open call has was given by the client. If
        no call is found, the canonical id is a derived one that is not in `calls`.

        The call is closed. `must_compare` is set if no call was found, or if the call is not the first open one. The
        second value is None if the ids are the same, and for a result without an id.
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
