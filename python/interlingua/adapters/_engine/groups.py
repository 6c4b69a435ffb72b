"""
Which wire items that came, which canonical items, and which wire items that are written belong together. The docstring
of `_engine.verbatim`, which keeps what came of each group, has an example.
"""

from collections.abc import Sequence
from typing import Any

Positions = Sequence[Sequence[int]]
"""For each wire item of a list, the positions of the canonical items that it holds, in order."""


class Group:
    """Items that belong together.

    - `first`, `past`: the range of its canonical items.
    - `home`: the first of them that is written; -1 if none is.
    - `came`: the wire items that they were read from.
    - `written`: the wire items that are written of them.
    """

    __slots__ = ("came", "first", "home", "past", "written")

    def __init__(self, first: int = 0, past: int = 0, home: int = -1) -> None:
        self.first = first
        self.past = past
        self.home = home
        self.came: list[Any] = []
        self.written: list[Any] = []

    @property
    def has_items(self) -> bool:
        """Whether the group has canonical items."""
        return self.first < self.past

    def takes(self, positions: Sequence[int]) -> bool:
        """Whether the next wire item belongs to the group; `positions` are those of its canonical items. It does, too,
        if either has no canonical items."""
        return not positions or not self.has_items or min(positions) < self.past

    def add_came(self, item: Any, positions: Sequence[int]) -> None:
        """Add a wire item that was read."""
        self.came.append(item)
        self._extend(positions)

    def add_written(self, item: Any, positions: Sequence[int]) -> None:
        """Add a wire item that is written."""
        self.written.append(item)
        self._extend(positions)
        if positions and self.home < 0:
            self.home = min(positions)

    def _extend(self, positions: Sequence[int]) -> None:
        if positions:
            self.first = min(self.first, *positions) if self.has_items else min(positions)
            self.past = max(self.past, max(positions) + 1)

    def join(self, behind: "Group") -> None:
        """Add all of the group behind this one."""
        self.past = max(self.past, behind.past)
        if self.home < 0:
            self.home = behind.home
        self.came += behind.came
        self.written += behind.written


def groups_of(raws: list[Any], made: Positions, written: list[Any], of: Positions) -> list[Group]:
    """Divide items into groups. The home of a group of which nothing is written is its first item."""
    if len(raws) == len(written) and _are_paired(made) and _are_paired(of):  # most items
        groups = [Group(position, position + 1, position) for position in range(len(raws))]
        for position, group in enumerate(groups):
            group.came = [raws[position]]
            group.written = [written[position]]
        return groups
    groups = _with_counterparts(_overlapping(raws, made, written, of))
    for group in groups:
        if group.home < 0:
            group.home = group.first
    return groups


def _overlapping(raws: list[Any], made: Positions, written: list[Any], of: Positions) -> list[Group]:
    """Put wire items that share a canonical item, on either side, into one group."""
    groups: list[Group] = []
    left = right = 0
    while left < len(raws) or right < len(written):
        group = Group()
        grows = True
        while grows:  # an item of one side may extend the group over further items of the other
            grows = False
            while left < len(raws) and group.takes(made[left]):
                group.add_came(raws[left], made[left])
                left += 1
                grows = True
            while right < len(written) and group.takes(of[right]):
                group.add_written(written[right], of[right])
                right += 1
                grows = True
        groups.append(group)
    return groups


def _with_counterparts(groups: list[Group]) -> list[Group]:
    """Join groups until each has wire items on both sides, where possible: items of which nothing is written join the
    group behind them, and items that the writer added join the group before them."""
    found: list[Group] = []
    for group in groups:
        if found and not (group.came and found[-1].written):
            found[-1].join(group)
        else:
            found.append(group)
    if len(found) > 1 and not found[-1].written:  # no group is behind it
        last = found.pop()
        found[-1].join(last)
    return found


def _are_paired(positions: Positions) -> bool:
    """Whether each wire item holds exactly one canonical item, in order."""
    for position, held in enumerate(positions):  # noqa: SIM110 a generator costs more than what it asks
        if len(held) != 1 or held[0] != position:
            return False
    return True
