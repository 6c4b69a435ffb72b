"""What every reader carries: whose wire it is, and the canonical ids of calls."""

from typing import Any

from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import IdSource

Item = dict[str, Any]


class Reading:
    """Whose wire is read, and the canonical ids that were given to calls so far.

    `unusual`: something was read that may be written otherwise than it came. `names`: those of tools.
    """

    __slots__ = ("_given", "_ids", "_met", "adapter", "endpoint", "names", "provider", "unusual", "origin")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.origin = endpoint.state()
        self.unusual = False
        self.names: set[str] = set()
        self._ids = ids
        self._met: dict[str, int] = {}
        self._given: set[str] = set()

    def state(self, **members: Any) -> Item:
        """A provider state that originates on this wire."""
        return {**self.origin, **members}

    def opaque(self, kind: str, value: Item) -> Item:
        """An item of the wire without canonical meaning, verbatim."""
        return {"type": "opaque", **self.origin, "kind": kind, "value": value}

    def new_id(self, key: str) -> str:
        """A canonical id for a call that the wire knows by this key; one that it repeats names a further call."""
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        canonical = self._ids.tool(self.adapter, key, met)
        if canonical in self._given:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self.adapter, key, met + 1)
        self._given.add(canonical)
        return canonical
