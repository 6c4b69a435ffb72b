"""What a reader carries with it."""

from interlingua.adapters import _reading
from interlingua.adapters._claude.values import MAX_CACHE_MARKS, Item
from interlingua.adapters._spelling import Spellings
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Path, pointer


class Reading(_reading.Reading):
    """What a reader carries on both wires.

    `open`: the calls that wait for a result. `documents`: the names of documents, where they have one. `spellings`: where in the
    message at hand a text came otherwise than it is written. `toolsets`: the sets of the tools that are called, by the wire ids
    of the calls. `tools`: for each definition of the request, the positions of the tools that it stands for.
    """

    __slots__ = ("_latest", "_marks", "_short", "documents", "open", "spellings", "tools", "toolsets")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint, ids)
        self.documents: set[str] = set()
        self.open: list[str] = []
        self.spellings: Spellings = {}
        self.toolsets: dict[str, str] = {}
        self.tools: list[tuple[int, ...]] = []
        self._latest: dict[str, str] = {}  # the latest canonical id of each wire id
        self._marks = 0
        self._short = False

    def has_calls(self) -> bool:
        """Whether a call was read."""
        return bool(self._latest)

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
        self.unusual = self.unusual or wire_id in self._latest
        self._latest[wire_id] = canonical = self.new_id(wire_id)
        return canonical

    def result(self, wire_id: str) -> str | None:
        """The canonical id of the call that a result answers; None when there was no such call."""
        if self.open and self.open[0] == wire_id:
            del self.open[0]
        else:
            self.unusual = True
        return self._latest.get(wire_id)

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(self.adapter, wire_id, 0)

    def unreadable(self, what: str, path: Path, failure: type[InvalidWire] = InvalidWire) -> InvalidWire:
        """The error for a part of the wire that lacks a member or has one of a wrong type."""
        message = f"{what} cannot be read: a member is missing or has the wrong type"
        return failure(message, path=pointer(path), adapter=self.adapter)
