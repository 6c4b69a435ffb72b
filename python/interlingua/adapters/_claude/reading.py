"""What a reader carries with it."""

from collections.abc import Sequence

from interlingua.adapters._claude.values import MAX_CACHE_MARKS, Item
from interlingua.adapters._engine import reading as _reading
from interlingua.adapters._engine.spelling import Spellings
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource


class Reading(_reading.Reading):
    """What a reader carries on both wires.

    `spellings`: where in the message at hand a text came otherwise than it is written. `toolsets`: the sets of the tools that
    are called, by the wire ids of the calls. `tools`: for each definition of the request, the positions of the tools that it
    stands for.
    """

    __slots__ = ("_short", "spellings", "tools", "toolsets")

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> None:
        super().__init__(endpoint, ids)
        self.spellings: Spellings = {}
        self.toolsets: dict[str, str] = {}
        self.tools: list[Sequence[int]] = []
        self._short = False

    def mark(self, hint: Item) -> None:
        """Looks at a mark for the cache."""
        ttl = hint.get("ttl", "5m")
        self.marks += 1
        if self.marks > MAX_CACHE_MARKS or (ttl != "5m" and (ttl != "1h" or self._short)):
            self.must_compare = True
        self._short = self._short or ttl == "5m"
