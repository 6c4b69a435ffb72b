"""The state of a writer: the target, the report, wire ids and names of tools."""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import MAX_CACHE_MARKS, Item
from interlingua.adapters._engine.as_read import MARKS
from interlingua.adapters._engine.kit import report_unknown
from interlingua.adapters._engine.writing import CallIds, ToolNames
from interlingua.adapters._history import turns as _turns
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

_HINT: Final = frozenset(("ttl",))

Mark = tuple[Item, Path | None, Path | None]
"""The wire item that holds a cache mark, the path of its hint (None for an item that is restored verbatim), and the
path of the hint when it is read back (None for the same path)."""


class Writing(_turns.Writing):
    """The target, the report, and the further state that both wires of Anthropic's models need.

    `call_ids` and `tool_names` are those that the wire accepts. `mark_name` is the member for a cache mark. `marks`
    are the cache marks that are not settled yet.
    """

    __slots__ = (
        "_mark_name",
        "_taken",
        "marks_beside",
        "short",
        "marks",
        "swept",
    )

    def __init__(
        self,
        source: Item,
        endpoint: Endpoint,
        loss: Loss,
        call_ids: CallIds,
        tool_names: ToolNames,
        mark_name: str,
    ) -> None:
        super().__init__(source, endpoint, loss, tool_names, call_ids)
        self.marks: list[Mark] = []
        self.marks_beside = 0  # the number of marks of the request itself, which come after all others
        self.short = False  # a mark with a short lifetime has been written
        self.swept = False  # marks were removed
        self._mark_name = mark_name
        self._taken: set[str] = set()

    def reader(self) -> Reading:
        """Return a reader of this wire."""
        return Reading(self.endpoint)

    def finish(self) -> None:
        """Report the losses that refer to whole messages; they come last."""
        self.settle_marks()
        self.report_merges()
        self.report_moves()

    # ------------------------------------------------------------------------------------------ cache marks

    def cache_mark(self, kind: str, hint: Item, where: Path) -> Item | None:
        """Return the cache mark for a hint; None for a model without cache marks. `where` is the path of the hint."""
        if self.lacks("supports_prompt_caching", MARKS):
            self.loss.drop(where, "cache_hint", "weakened", "the model does not support cache marks")
            return None
        mark: Item = {"type": kind}
        if hint:
            if "ttl" in hint:
                mark["ttl"] = hint["ttl"]
            report_unknown(hint, _HINT, self.loss, where)
        return mark

    def unmark(self, item: Item) -> None:
        """Remove the mark of an item that is removed, and report it."""
        for _, where, to in [mark for mark in self.marks if mark[0] is item]:
            if where is not None and to is not None:
                self.loss.drop(where, "cache_hint", "weakened", "no block here can hold the mark")
        self.marks = [mark for mark in self.marks if mark[0] is not item]

    def settle_marks(self) -> None:
        """Keep the last four marks in the order of the prompt, with lifetimes that the wire supports, longer ones
        first."""
        if not self.marks:
            return
        surplus = 0 if self.untouched else len(self.marks) + self.marks_beside - MAX_CACHE_MARKS
        short = False
        for item, where, to in self.marks:
            mark = item[self._mark_name]
            if where is None:
                short = short or mark.get("ttl") != "1h"
            elif surplus > 0:
                surplus -= 1
                del item[self._mark_name]
                self.swept = True
                self.loss.drop(where, "limit_exceeded", "weakened", "the target accepts four cache marks in a request")
            else:
                short = self.settle_lifetime(mark, where, short)
                self._report_moved(where, to)
        self.short = short

    def _report_moved(self, where: Path | None, to: Path | None) -> None:
        if where is not None and to is not None:
            self.loss.move(where, to, "cache_hint", "representation", "the mark is on the last block that it covers")

    def settle_lifetime(self, mark: Item, where: Path, short: bool) -> bool:
        """Fit the lifetime of a mark into those that the wire supports. Return whether a short one has been written
        so far."""
        ttl = mark.get("ttl")
        if ttl is None:
            return True
        fitted = fitted_lifetime(ttl, short)
        if fitted != ttl:
            mark["ttl"] = fitted
            message = "the target supports 5m and 1h, longer before shorter"
            self.loss.replace((*where, "ttl"), fitted, "cache_hint", "weakened", message)
        return fitted == "5m"

    # ------------------------------------------------------------------------------------------ ids

    def call_id(self, block: Item, state: dict[str, Any]) -> str:
        """Return the wire id of a call; no other call of the turn has it."""
        wire_id = super().call_id(block, state)
        self._taken.add(wire_id)
        return wire_id

    def takes_id(self, wire_id: str) -> bool:
        """Whether the wire accepts the id of a call."""
        return wire_id not in self._taken and super().takes_id(wire_id)

    def next_turn(self) -> None:
        """Begin the next assistant turn: the provider may use an id of an earlier turn again."""
        self._taken.clear()


def fitted_lifetime(ttl: str, short: bool) -> str:
    """Return the lifetime of a cache mark: five minutes or an hour. After a short one, no mark may be longer."""
    return "1h" if not short and int(ttl[:-1]) * (60 if ttl[-1] == "h" else 1) > 5 else "5m"
