"""
Items of a wire as they came: messages, tools, answers.

A reader says what an item means, a writer how that is said; neither asks how it was spelt, nor whether it was odd. When items
were read, they are written once. Where they come out otherwise than they came in, that is kept in the `encoding` of the canonical
item (`came`): how the places that differ came (`spellings`), in an item of this `role`. Where something is reported of the item, what is
written does not tell all that it says: an imprint of item and report is kept, too (`reported`).

When the item is written again, what comes out as it did then is put back as it came, and what was reported is taken back. What
an edit changed comes out otherwise, and is left so. Why: spec/decisions/0048-as-it-came.md.

One item of the wire may hold several canonical ones, or the other way round, and a writer may join what came apart. Items that
belong together so are a group; one that is not of one item on each side is kept whole (`whole`), with an imprint of each item
that is written in its place. What is kept stands in the first canonical item that is written; `before` and `past` count those of
the group around it.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from interlingua.adapters._engine.spelling import Item, Spellings, are_same, differences, imprint, with_spellings
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss

Positions = Sequence[Sequence[int]]
"""For each item of a list on the wire, the positions of the canonical ones that it holds, in order."""

CAME: Final = "came"
_NOTHING: Final[Item] = {}


def may_differ(must_compare: bool) -> bool:
    """Whether what was read is to be written and compared. Most of what comes is seen to be as it is written while it is read;
    a test has all compared."""
    return must_compare


# ---------------------------------------------------------------------------------------------- one item


def keep_spellings(item: Item, spellings: Spellings, endpoint: Endpoint, role: str = "") -> None:
    """Keeps of an item that was just read what is known to be written otherwise than it came, without a comparison. `role` is
    that of a message on the wire."""
    if spellings:
        _keep(item, {"spellings": spellings, "role": role} if role else {"spellings": spellings}, endpoint)


def keep_item(
    item: Item, raw: Any, written: Any, endpoint: Endpoint, reported: list[Entry], says: Item | None = None
) -> None:
    """Keeps of an item that was just read what is written otherwise than it came; `reported` is what is reported of it.

    `says` is what of the item the report is about, where that is not all of it.
    """
    if spellings := differences(raw, written):
        came = _came(spellings, item, written)
        if reported:
            came["reported"] = _imprint_of([item if says is None else says], reported)
        _keep(item, came, endpoint)


def put_back_item(
    item: Item, written: Any, endpoint: Endpoint, reported: list[Entry], loss: Loss, says: Item | None = None
) -> Any:
    """An item as it came, as far as it is written as it was then."""
    came = came_of(item, endpoint)
    return written if came is None else _put_back(came, [item], written, reported, loss, says)


def _came(spellings: Spellings, item: Item, written: Item) -> Item:
    """How an item came; a message of another role has other members."""
    return (
        {"spellings": spellings, "role": written["role"]}
        if "role" in item and "role" in written
        else {"spellings": spellings}
    )


def _keep(item: Item, came: Item, endpoint: Endpoint) -> None:
    if "provider_state" not in item:
        item["provider_state"] = endpoint.state()
    item["provider_state"].setdefault("encoding", {})[CAME] = came


def _put_back(
    came: Item, items: list[Item], written: Any, reported: list[Entry], loss: Loss, says: Item | None = None
) -> Any:
    """What is written of items as it came."""
    if "role" in came and came["role"] != written.get("role"):
        return written
    opaque: list[Any] = []
    for there in came["spellings"]:
        if there.count("/") > 1:  # only within a member there may be what is opaque
            for item in items:
                _find_opaque(item, opaque)
            break
    made, fits = with_spellings(came["spellings"], written, opaque)
    if not fits and "reported" in came:  # which is of all that an item says
        return written
    return made if _retract(came, items if says is None else [says], reported, loss) else written


def _find_opaque(item: Item, found: list[Any]) -> None:
    """Adds what stands verbatim in a message, in that of an answer, or in a result."""
    content = item["message"].get("content") if "message" in item else item.get("content")
    for block in content if type(content) is list else ():
        kind = block.get("type")
        if kind == "opaque":
            found.append(block["value"])
        elif kind == "tool_result":
            _find_opaque(block, found)


# ---------------------------------------------------------------------------------------------- what is reported of it


def _retract(came: Item, items: list[Item], reported: list[Entry], loss: Loss) -> bool:
    """Takes back what is reported of items that are put back; False where it is something else than when they were read."""
    if "reported" not in came:
        return all(entry["code"] != "filler" for entry in reported)  # words that never came had no spelling
    if came["reported"] != _imprint_of(items, reported):
        return False
    loss.entries[:] = [entry for entry in loss.entries if entry not in reported]
    return True


def _imprint_of(items: list[Item], reported: list[Entry]) -> str:
    """What items and their report are known by: the place of an item does not matter, and wording is free."""
    entries = [
        {name: value for name, value in entry.items() if name not in ("path", "to", "message")}
        | {"path": _OF_AN_ITEM.sub("", entry["path"], 1)}
        for entry in reported
    ]
    return imprint([[_meaning(item) for item in items], entries])


_OF_AN_ITEM: Final = re.compile(r"/(?:messages/\d+|tools/\d+|(?:alternatives/\d+/)?message)")
"""The beginning of the place of what is reported of a message or a tool, in a request or an answer."""


def _meaning(value: Any) -> Any:
    """What an item says to a model, and what its provider gave with it; not who had it when, nor how it came."""
    if type(value) is dict:
        beside = _BESIDE if "role" in value else _STATE
        meaning = {name: _meaning(item) for name, item in value.items() if name not in beside}
        state: Any = value.get("provider_state")
        if type(state) is dict and (given := {name: state[name] for name in _GIVEN if state.get(name)}):
            meaning["given"] = given
        return meaning
    return [_meaning(item) for item in value] if type(value) is list else value


_STATE: Final = frozenset(("provider_state",))
_GIVEN: Final = ("id", "signature", "fields")
_BESIDE: Final = _STATE.union("metadata id session_id created_at schema_version priority critical extra".split())


# ---------------------------------------------------------------------------------------------- a list of items


class Items:
    """A list of canonical items, as `place` in the report names it, and how each is written; `places` tell where each of them
    is, when they are no list there.

    A provider takes the odd items of a request in that request alone (`in_request`), and those of its answers in any.
    """

    def __init__(self, items: list[Item], place: str, writing: Writing, places: Sequence[str] | None = None) -> None:
        self.items = items
        self.place = place
        self.places = places
        self.endpoint = writing.endpoint
        self.loss = writing.loss
        self.in_request = "messages" in writing.source
        self.same_origin = writing.same_origin

    def settled(self, written: list[Any], of: Positions, read: list[Any] | None = None) -> list[Any]:
        """The items as they came; `of` tells which of them each of the `written` ones says.

        `read` are those of a body that was just read, one for each item: what of them is written otherwise is kept then.
        """
        if read is None:
            return self.put_back(written, of)
        self.keep(read, [(position,) for position in range(len(self.items))], written, of)
        return written

    def keep(self, raws: list[Any], made: Positions, written: list[Any], of: Positions) -> None:
        """Keeps of items that were just read what is written otherwise than it came.

        `made` tells which items were read from each of the `raws`, `of` which of them each of the `written` ones says.
        """
        for first, past, home, raw, now in _groups(raws, made, written, of):
            came: Item = {}
            if len(raw) == len(now) == 1:
                if spellings := differences(raw[0], now[0]):
                    came = _came(spellings, self.items[home], now[0])
            elif not are_same(raw, now):
                came = {"whole": raw, "written": [imprint(one) for one in now]}
            if came and first < past:
                reported = self._reported(first, past)
                if reported:
                    came["reported"] = _imprint_of(self.items[first:past], reported)
                    if self.in_request:
                        came["in_request"] = True
                if past > home + 1 and (reported or "whole" in came):
                    came["past"] = past - home
                if home > first and (reported or "whole" in came):
                    came["before"] = home - first
                _keep(self.items[home], came, self.endpoint)

    def put_back(self, written: list[Any], of: Positions, apart: Collection[int] = ()) -> list[Any]:
        """The items as they came, as far as they are written as they were then; not those at the positions `apart`."""
        if not came_otherwise(self.items, self.endpoint):
            return written
        if not written:
            return self._vanished()
        found: list[Any] = []
        at = 0
        while at < len(written):
            home = of[at][0] if of[at] else -1
            came = came_of(self.items[home], self.endpoint) if home >= 0 and home not in apart else None
            past = at + 1
            if came is None:
                found.append(written[at])
            elif "spellings" in came:
                found.append(self._one(came, of[at], written[at]))
            else:
                past = at + (len(came["written"]) or 1)
                whole = self._group(came, home, written[at:past], of[at:past])
                past = at + 1 if whole is None else past
                found += [written[at]] if whole is None else whole
            at = past
        return found

    def _vanished(self) -> list[Any]:
        """Items of which nothing is written, as they came."""
        for position, item in enumerate(self.items):
            came = came_of(item, self.endpoint)
            if came is not None and came.get("written") == []:
                return self._group(came, position, [], ()) or []
        return []

    def _one(self, came: Item, positions: Sequence[int], wire: Any) -> Any:
        """What is written of one item of the wire, as it came."""
        first, past = self._range(came, positions[0])
        if first < 0:
            return wire
        reported = self._reported(first, past)
        if "reported" in came:
            return _put_back(came, self.items[first:past], wire, reported, self.loss)
        return _put_back(came, [self.items[position] for position in positions], wire, reported, self.loss)

    def _group(self, came: Item, home: int, now: list[Any], of: Positions) -> list[Any] | None:
        """A group as it came; None where it is written otherwise, or something else stands in its place."""
        first, past = self._range(came, home)
        for positions in of:
            if positions and not first <= min(positions) <= max(positions) < past:
                return None
        if first < 0 or came["written"] != [imprint(one) for one in now]:
            return None
        known = _retract(came, self.items[first:past], self._reported(first, past), self.loss)
        return list(came["whole"]) if known else None

    def _range(self, came: Item, home: int) -> tuple[int, int]:
        """The items of which one is kept, or a group; the first is less than zero where that is not to be put back."""
        taken = self.same_origin or "in_request" not in came
        return home - came.get("before", 0) if taken else -1, home + came.get("past", 1)

    def _reported(self, first: int, past: int) -> list[Entry]:
        if not self.loss.entries:
            return []
        if self.places is not None:
            within = tuple(f"{place}/" for place in self.places[first:past])
        else:
            within = tuple(f"/{self.place}/{position}/" for position in range(first, past))
        # that an item as a whole stands elsewhere is nothing of the item, but what stands in its place is
        return [
            entry
            for entry in self.loss.entries
            if (f"{entry['path']}/" if entry["op"] != "move" or "value" in entry else entry["path"]).startswith(within)
        ]


_Group = tuple[int, int, int, list[Any], list[Any]]


def _groups(raws: list[Any], made: Positions, written: list[Any], of: Positions) -> list[_Group]:
    """What belongs together: the first canonical item, the one past the last, and the first one that is written; what came, and
    what is written."""
    if len(raws) == len(written) and _are_paired(made) and _are_paired(of):
        return [(position, position + 1, position, [raws[position]], [now]) for position, now in enumerate(written)]
    groups: list[_Group] = []
    left = right = 0
    while left < len(raws) or right < len(written):
        came, now = [], []
        first = past = home = -1
        grew = True
        while grew:
            grew = False
            while left < len(raws) and (first < 0 or not made[left] or made[left][0] < past):
                first, past = _with_positions(first, past, made[left])
                came.append(raws[left])
                left += 1
                grew = True
            while right < len(written) and (first < 0 or not of[right] or min(of[right]) < past):
                first, past = _with_positions(first, past, of[right])
                home = min(of[right]) if home < 0 and of[right] else home
                now.append(written[right])
                right += 1
                grew = True
        group = (max(first, 0), max(past, 0), home, came, now)
        # what vanished belongs to what stands behind it, what was added to what stands before it
        groups.append(_joined(groups.pop(), group) if groups and not (came and groups[-1][4]) else group)
    if len(groups) > 1 and not groups[-1][4]:  # nothing stands behind it
        last = groups.pop()
        groups.append(_joined(groups.pop(), last))
    return [(first, past, max(home, first), came, now) for first, past, home, came, now in groups]


def _are_paired(positions: Positions) -> bool:
    """Whether each item is one, in order."""
    for position, held in enumerate(positions):  # noqa: SIM110 a generator costs more than what it asks
        if len(held) != 1 or held[0] != position:
            return False
    return True


def _joined(before: _Group, behind: _Group) -> _Group:
    """Two neighbouring groups as one."""
    home = before[2] if before[2] >= 0 else behind[2]
    return before[0], max(before[1], behind[1]), home, before[3] + behind[3], before[4] + behind[4]


def _with_positions(first: int, past: int, positions: Sequence[int]) -> tuple[int, int]:
    if not positions:
        return first, past
    return min(positions) if first < 0 else min(first, *positions), max(past, max(positions) + 1)


# ---------------------------------------------------------------------------------------------- what is kept


def came_of(item: Item, endpoint: Endpoint) -> Item | None:
    """What is kept of how an item came."""
    state: Item | None = item.get("provider_state")
    if state is None:
        return None
    encoding: Item | None = state.get("encoding")
    if encoding is None or CAME not in encoding or not endpoint.owns(state):
        return None
    found: Item | None = encoding[CAME]
    return found


def came_otherwise(items: list[Item], endpoint: Endpoint) -> bool:
    """Whether anything is kept of how items came."""
    for item in items:  # noqa: SIM110 a generator costs more than what it asks
        if "provider_state" in item and came_of(item, endpoint) is not None:
            return True
    return False


def is_imprinted(item: Item, endpoint: Endpoint) -> bool:
    """Whether more of an item is put back than words and what says nothing."""
    came = came_of(item, endpoint)
    return came is not None and ("whole" in came or any("written" in kept for kept in came["spellings"].values()))
