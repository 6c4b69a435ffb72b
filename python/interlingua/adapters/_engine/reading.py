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

    def find_call(self, wire_id: str | None, name: str | None = None) -> str | None:
        """The canonical id of the call that a result answers; None if there is none.

        A call is found by its wire id. If no call has the id, or the result has none, it is found by its name. For a
        result without an id, it is then the first open call: a name that no open call has was given by the client.
        """
        if wire_id is not None:
            for call in self.open:
                if self.calls[call][0] == wire_id:
                    return call
            if wire_id in self._latest:
                return self._latest[wire_id]
        if name is not None:
            for call in self.open:
                if self.calls[call] == (None, name):
                    return call
            for call in self.open:
                if self.calls[call][1] == name:
                    return call
        return self.open[0] if self.open and wire_id is None else None

    def take_call(self, wire_id: str | None, name: str | None = None) -> str:
        """Close the call that a result answers (`find_call`), and return its canonical id. If there is no call, it is a
        derived id that is not in `calls`.

        `must_compare` is set if there is no call, or if the call is not the first open one.
        """
        call = self.find_call(wire_id, name)
        if call is None:
            self.must_compare = True
            return self._orphan(wire_id, name)
        if self.open and self.open[0] == call:
            del self.open[0]
        else:
            self.must_compare = True
            if call in self.open:
                self.open.remove(call)
        return call

    def own_id(self, call: str, wire_id: str | None) -> str | None:
        """The wire id of a result if it is not that of its call, which is the case if there is no call or it was found
        by its name; else None."""
        return None if call in self.calls and self.calls[call][0] == wire_id else wire_id

    def _orphan(self, wire_id: str | None, name: str | None) -> str:
        """A canonical id for a result without a call."""
        if wire_id is not None:
            return self._ids.tool(self.adapter, wire_id, 0)
        key = f"result:{name}"
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        return self._ids.tool(self.adapter, key, met)
