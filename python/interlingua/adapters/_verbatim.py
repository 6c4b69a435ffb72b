"""
Items of a wire as they came: messages, tools, answers.

A reader says what an item means, a writer how that is said; neither asks how it was spelt, nor whether it was odd. When items
were read, they are written once. Where they come out otherwise than they came in, that is kept in the `encoding` of the canonical
item (`came`): by JSON Pointer, what stood there, and an imprint of what is written there. Where something is reported of the
item, what is written does not tell all that it says: an imprint of item and report is kept, too.

When the item is written again, what comes out as it did then is put back as it came, and what was reported is taken back. What
an edit changed comes out otherwise, and is left so. Why: spec/decisions/0048-as-it-came.md.

One item of the wire may hold several canonical ones, or the other way round, and a writer may join what came apart. Items that
belong together so are a group; one that is not of one item on each side is kept whole (`whole`), with an imprint of each item
that is written in its place.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.adapters._kit import within
from interlingua.adapters._spelling import (
    Item,
    Spellings,
    are_same,
    compared,
    fits,
    with_content,
    with_spellings,
)
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss

Positions = Sequence[Sequence[int]]
"""For each item of a list on the wire, the positions of the canonical ones that it holds, in order."""

CAME: Final = "came"


def may_differ(unusual: bool) -> bool:
    """Whether what was read is to be written and compared. Most of what comes is seen to be as it is written while it is read;
    a test has all compared."""
    return unusual


class Items:
    """A list of canonical items, as `place` in the report names it, and how each is written; `places` tell where each of them
    is, when they are no list there.

    `loss` holds what was reported when they were written. Not `with_odd`: what was reported stays repaired. `joined`: what is
    written of several of them is put back place by place, whatever else is said there. `by_role`: only in a message of the role
    that it had then.
    """

    def __init__(
        self,
        items: list[Item],
        place: str,
        endpoint: Endpoint,
        loss: Loss,
        places: Sequence[str] | None = None,
        *,
        with_odd: bool = True,
        joined: bool = False,
        by_role: bool = False,
    ) -> None:
        self.items = items
        self.place = place
        self.places = places
        self.endpoint = endpoint
        self.loss = loss
        self.with_odd = with_odd
        self.joined = joined
        self.by_role = by_role

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
        for first, past, home, came, of_group in _groups(raws, made, written, of):
            kept: dict[str, Any] = {}
            if len(came) == len(of_group) == 1:
                kept = _kept(compared(came[0], of_group[0]), of_group[0]["role"] if self.by_role else None)
            elif not are_same(came, of_group):
                kept["whole"] = came
                kept["written"] = [imprint(one, "wire") for one in of_group]
            if kept and first < past:
                reported = self._reported(first, past)
                if past > home + 1 and (reported or not self.joined or "whole" in kept):
                    kept["past"] = past - home
                if home > first:
                    kept["before"] = home - first
                _keep_report(kept, self.items[first:past], reported)
                _encoding(self.items[home], self.endpoint)[CAME] = kept

    def put_back(self, written: list[Any], of: Positions, apart: Collection[int] = ()) -> list[Any]:
        """The items as they came, as far as they are written as they were then; not those at the positions `apart`."""
        if not came_otherwise(self.items):
            return written
        if not written:
            return self._vanished()
        found: list[Any] = []
        at = 0
        while at < len(written):
            positions = of[at]
            came = self._came(positions[0]) if positions and positions[0] not in apart else None
            if came is None:
                found.append(written[at])
                at += 1
            elif "whole" in came:
                past = at + (len(came["written"]) or 1)
                whole = self._group(came, positions[0], written[at:past], of[at:past])
                found += [written[at]] if whole is None else whole
                at = at + 1 if whole is None else past
            else:
                found.append(self._one(came, positions, written[at]))
                at += 1
        return found

    def _vanished(self) -> list[Any]:
        """Items of which nothing is written, as they came."""
        for position in range(len(self.items)):
            came = self._came(position)
            if came is not None and came.get("written") == []:
                return self._group(came, position, [], ()) or []
        return []

    def _came(self, position: int) -> dict[str, Any] | None:
        item = self.items[position]
        return came_of(item, self.endpoint) if "provider_state" in item else None

    def _one(self, came: dict[str, Any], positions: Sequence[int], wire: Any) -> Any:
        """What is written of one item of the wire, as it came."""
        first = positions[0]
        if len(positions) > 1 and "spelt" in came and not self.joined and came.get("past", 1) <= max(positions) - first:
            return wire  # more is said in its place than was then
        if "role" in came and not _has_its_role(came, wire):
            return wire
        if "reported" in came and "spelt" in came and not fits(came["spelt"], wire):
            return wire
        if (self.loss.entries or "reported" in came) and not self._is_reported(came, first):
            return wire
        return _with_spellings(came, [self.items[position] for position in positions], wire)

    def _group(self, came: dict[str, Any], home: int, of_group: list[Any], of: Positions) -> list[Any] | None:
        """A group as it came; None where it is written otherwise, or something else stands in its place."""
        first, past = home - came.get("before", 0), home + came.get("past", 1)
        for positions in of:
            if positions and not first <= min(positions) <= max(positions) < past:
                return None
        if came["written"] != [imprint(one, "wire") for one in of_group] or not self._is_reported(came, home):
            return None
        return list(came["whole"])

    def _is_reported(self, came: dict[str, Any], home: int) -> bool:
        """Whether the same is reported as when the item was read; it is taken back then."""
        if "reported" in came and not self.with_odd:
            return False
        first, past = home - came.get("before", 0), home + came.get("past", 1)
        return first >= 0 and _retract(came, self.items[first:past], self._reported(first, past), self.loss)

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


def came_otherwise(items: list[Item]) -> bool:
    """Whether anything is kept of how items came."""
    for item in items:
        state: Item | None = item.get("provider_state")
        if state is not None and (encoding := state.get("encoding")) and CAME in encoding:
            return True
    return False


def keep_item(
    item: Item,
    raw: Any,
    written: Any,
    endpoint: Endpoint,
    reported: list[Entry],
    says: Item | None = None,
    kept_as: str = CAME,
    *,
    by_role: bool = False,
) -> None:
    """Keeps of an item that was just read what is written otherwise than it came; `reported` is what is reported of it.

    `says` is what of the item the report is about, where that is not all of it; `kept_as` tells two items of a wire apart that
    one canonical item says; `by_role` as of `Items`.
    """
    if kept := _kept(compared(raw, written), written["role"] if by_role else None):
        _keep_report(kept, [item if says is None else says], reported)
        _encoding(item, endpoint)[kept_as] = kept


def put_back_item(
    item: Item,
    written: Any,
    endpoint: Endpoint,
    reported: list[Entry],
    loss: Loss,
    says: Item | None = None,
    kept_as: str = CAME,
) -> Any:
    """An item as it came, as far as it is written as it was then."""
    came = came_of(item, endpoint, kept_as)
    if came is None or not _has_its_role(came, written):
        return written
    if "reported" in came and "spelt" in came and not fits(came["spelt"], written):
        return written
    if (reported or "reported" in came) and not _retract(came, [item if says is None else says], reported, loss):
        return written
    return _with_spellings(came, [item], written)


def _with_spellings(came: dict[str, Any], items: list[Item], written: Any) -> Any:
    """What is written of items as it came."""
    if "content" in came:
        return with_content(came["content"], written)
    spellings: Spellings = came["spelt"]
    opaque: list[Any] = []
    for there in spellings:
        if there.count("/") > 1:  # only within a member there may be what is opaque
            for item in items:
                _find_opaque(item, opaque)
            break
    return with_spellings(spellings, written, opaque)


def _find_opaque(item: Item, found: list[Any]) -> None:
    """Adds what stands verbatim in a message, in that of an answer, or in a result."""
    content = item["message"].get("content") if "message" in item else item.get("content")
    for block in content if type(content) is list else ():
        kind = block.get("type")
        if kind == "opaque":
            found.append(block["value"])
        elif kind == "tool_result":
            _find_opaque(block, found)


def _kept(spellings: Spellings, role: str | None) -> dict[str, Any]:
    """How one item came, where it came otherwise; a message of another `role` has other members."""
    if len(spellings) == 1 and (word := spellings.get("/content", _NOTHING).get("word")) is not None:
        return {"content": word}
    return {} if not spellings else {"spelt": spellings} if role is None else {"spelt": spellings, "role": role}


def _has_its_role(came: dict[str, Any], written: Any) -> bool:
    return "role" not in came or came["role"] == written.get("role")


_NOTHING: Final[Item] = {}


def _encoding(item: Item, endpoint: Endpoint) -> Item:
    if "provider_state" not in item:
        item["provider_state"] = endpoint.state()
    encoding: Item = item["provider_state"].setdefault("encoding", {})
    return encoding


def _keep_report(kept: dict[str, Any], items: list[Item], reported: list[Entry]) -> None:
    if reported:
        kept["reported"] = _imprint_of(items, reported)


def _retract(came: dict[str, Any], items: list[Item], reported: list[Entry], loss: Loss) -> bool:
    if "reported" not in came:
        return all(entry["code"] != "filler" for entry in reported)  # words that were never there are spelt in no way
    if came["reported"] != _imprint_of(items, reported):
        return False
    loss.entries[:] = [entry for entry in loss.entries if entry not in reported]
    return True


def _imprint_of(items: list[Item], reported: list[Entry]) -> str:
    """What items and their report are known by: the place of an item does not matter, and wording is free."""
    imprints = [imprint(_meaning(item), "item") for item in items]
    return imprint(
        [
            *imprints,
            *(
                {name: value for name, value in entry.items() if name not in ("path", "to", "message")}
                | {"path": _OF_AN_ITEM.sub("", entry["path"], 1)}
                for entry in reported
            ),
        ],
        "report",
    )


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
_BESIDE: Final = _STATE | {
    "metadata",
    "id",
    "session_id",
    "created_at",
    "schema_version",
    "priority",
    "critical",
    "extra",
}


_OF_AN_ITEM: Final = re.compile(r"/(?:messages/\d+|tools/\d+|(?:alternatives/\d+/)?message)")
"""The beginning of the place of what is reported of a message or a tool, in a request or an answer."""


_Group = tuple[int, int, int, list[Any], list[Any]]


def _groups(raws: list[Any], made: Positions, written: list[Any], of: Positions) -> list[_Group]:
    """What belongs together: the first canonical item, the one past the last, and the first one that is written; what came, and
    what is written."""
    if len(raws) == len(written) and _are_paired(made) and _are_paired(of):
        return [(position, position + 1, position, [raws[position]], [item]) for position, item in enumerate(written)]
    groups: list[_Group] = []
    left = right = 0
    while left < len(raws) or right < len(written):
        came, item = [], []
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
                item.append(written[right])
                right += 1
                grew = True
        first, past = max(first, 0), max(past, 0)
        group = (first, past, home, came, item)
        # what vanished belongs to what stands behind it, what was added to what stands before it
        groups.append(_joined(groups.pop(), group) if groups and not (came and groups[-1][4]) else group)
    if len(groups) > 1 and not groups[-1][4]:  # nothing stands behind it
        last = groups.pop()
        groups.append(_joined(groups.pop(), last))
    return [(max(first, 0), max(past, 0), max(home, first, 0), came, item) for first, past, home, came, item in groups]


def _are_paired(positions: Positions) -> bool:
    """Whether each item is one, in order."""
    for position, held in enumerate(positions):  # noqa: SIM110 a generator costs more than what it asks
        if len(held) != 1 or held[0] != position:
            return False
    return True


def _joined(before: _Group, behind: _Group) -> _Group:
    """Two neighbouring groups as one."""
    first = before[0] if before[0] >= 0 else behind[0]
    home = before[2] if before[2] >= 0 else behind[2]
    return first, max(before[1], behind[1]), home, before[3] + behind[3], before[4] + behind[4]


def _with_positions(first: int, past: int, positions: Sequence[int]) -> tuple[int, int]:
    if not positions:
        return first, past
    return min(positions) if first < 0 else min(first, *positions), max(past, max(positions) + 1)


def holds_only_encoding(item: Item) -> bool:
    """Whether the provider state of an item says how it came, and nothing more."""
    state: Item = item.get("provider_state") or _NOTHING
    return state.get("encoding", _NOTHING).keys() == _CAME_ALONE and within(state, _OF_ENCODING)


_CAME_ALONE: Final = {CAME}
_OF_ENCODING: Final = frozenset(("adapter", "provider", "origin", "encoding"))


def came_of(item: Item, endpoint: Endpoint, kept_as: str = CAME) -> dict[str, Any] | None:
    """What is kept of how an item came."""
    state: Item | None = item.get("provider_state")
    if state is None or not (encoding := state.get("encoding")) or not endpoint.owns(state):
        return None
    found: dict[str, Any] | None = encoding.get(kept_as)
    return found


def is_imprinted(item: Item, endpoint: Endpoint) -> bool:
    """Whether more of an item is put back than words and what says nothing."""
    came = came_of(item, endpoint)
    if came is None:
        return False
    spellings: Spellings = came.get("spelt") or {}
    return "whole" in came or any("written" in kept or "within" in kept for kept in spellings.values())


def keep_spellings(item: Item, spellings: Spellings, endpoint: Endpoint, *, by_role: bool = False) -> None:
    """Keeps of an item that was just read what is known to be written otherwise than it came, which needs no comparison: of a
    place in which nothing is written a `raw` value that says nothing, of any other a `word`, or what is `written` there."""
    if spellings:
        _encoding(item, endpoint)[CAME] = _kept(spellings, item["role"] if by_role else None)


def keep_nothing(item: Item, place: str, raw: Any, endpoint: Endpoint, *, beside: str = "", items: int = 1) -> None:
    """Keeps that something stood where nothing is written, which needs no comparison; `beside` are the names that are written
    there, in a list, and `items` how many canonical ones the item of the wire holds."""
    came = _encoding(item, endpoint).setdefault(CAME, {})
    came.setdefault("spelt", {})[place] = {"raw": raw, "beside": beside} if beside else {"raw": raw}
    if items > 1:
        came["past"] = items
