"""The state of a reader."""

from collections.abc import Sequence

from interlingua.adapters._claude.values import MAX_CACHE_MARKS, Item
from interlingua.adapters._engine import reading as _reading
from interlingua.adapters._engine.spelling import Spellings
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource


class Reading(_reading.Reading):
    """The state of a reader of either wire.

    `spellings`: the places in the current message where a text has another spelling than the written one. `toolsets`:
    the sets of the tools that are called, by the wire ids of the calls. `tools`: for each definition of the request,
    the positions of the tools that it represents.
    """

    __slots__ = ("_short", "spellings", "tools", "toolsets")

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> None:
        super().__init__(endpoint, ids)
        self.spellings: Spellings = {}
        self.toolsets: dict[str, str] = {}
        self.tools: list[Sequence[int]] = []
        self._short = False

    def mark(self, hint: Item) -> None:
        """Count a cache mark, and check whether it would be written differently."""
        ttl = hint.get("ttl", "5m")
        self.marks += 1
        if self.marks > MAX_CACHE_MARKS or (ttl != "5m" and (ttl != "1h" or self._short)):
            self.must_compare = True
        self._short = self._short or ttl == "5m"
