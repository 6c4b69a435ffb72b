"""
Items of a wire as they came: messages, tools, answers.

A reader says what an item means, a writer how that is said; neither asks how it was spelt, nor whether it was odd. When items
were read, they are written once. Where they come out otherwise than they came in, that is kept in the `encoding` of the canonical
item (`came`): by JSON Pointer, what stood there, and an imprint of what is written there. Where something is reported of the
item, what is written does not tell all that it says: an imprint of item and report is kept, too.

When the item is written again, what comes out as it did then is put back as it came, and what was reported is taken back. What
an edit changed comes out otherwise, and is left so. Why: spec/decisions/0048-as-it-came.md.

What says the same in other letters is kept as a word, which needs no imprint: a lone text as a string or a list, base64 in another
alphabet, a member under its name in snake_case. It is put back wherever something stands there. Null and false where nothing is
written are put back where the same members stand.

One item of the wire may hold several canonical ones, or the other way round, and a writer may join what came apart. Items that
belong together so are a group; one that is not of one item on each side is kept whole (`whole`), with an imprint of each item
that is written in its place.
"""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.adapters._kit import within
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, parse_pointer, pointer

Item = dict[str, Any]
Spelt = dict[str, dict[str, Any]]
Positions = Sequence[Sequence[int]]
"""For each item of a list on the wire, the positions of the canonical ones that it holds, in order."""

CAME: Final = "came"
_ABSENT: Final = object()


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
        for first, past, home, came, said in _groups(raws, made, written, of):
            kept: dict[str, Any] = {}
            if len(came) == len(said) == 1:
                spelt: Spelt = {}
                _compare((), came[0], said[0], _ABSENT, spelt)
                kept = _kept(spelt, said[0]["role"] if self.by_role else None)
            elif not _are_same(came, said):
                kept["whole"] = came
                kept["written"] = [imprint(one, "wire") for one in said]
            if kept and first < past:
                reported = self._reported(first, past)
                if past > home + 1 and (reported or not self.joined):
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
        if "reported" in came and "spelt" in came and not _fits(came["spelt"], wire):
            return wire
        if (self.loss.entries or "reported" in came) and not self._is_reported(came, first):
            return wire
        return _with_content(came["content"], wire) if "content" in came else _respelt(came["spelt"], wire)

    def _group(self, came: dict[str, Any], home: int, said: list[Any], of: Positions) -> list[Any] | None:
        """A group as it came; None where it is written otherwise, or something else stands in its place."""
        first, past = home - came.get("before", 0), home + came.get("past", 1)
        for positions in of:
            if positions and not first <= min(positions) <= max(positions) < past:
                return None
        if came["written"] != [imprint(one, "wire") for one in said] or not self._is_reported(came, home):
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
    spelt: Spelt = {}
    _compare((), raw, written, _ABSENT, spelt)
    if kept := _kept(spelt, written["role"] if by_role else None):
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
    if "reported" in came and "spelt" in came and not _fits(came["spelt"], written):
        return written
    if (reported or "reported" in came) and not _retract(came, [item if says is None else says], reported, loss):
        return written
    return _with_content(came["content"], written) if "content" in came else _respelt(came["spelt"], written)


def _kept(spelt: Spelt, role: str | None) -> dict[str, Any]:
    """How one item came, where it came otherwise; a message of another `role` has other members."""
    if len(spelt) == 1 and (word := spelt.get("/content", _NOTHING).get("word")) is not None:
        return {"content": word}
    return {} if not spelt else {"spelt": spelt} if role is None else {"spelt": spelt, "role": role}


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
    said = [imprint(_said(item), "item") for item in items]
    return imprint(
        [
            *said,
            *(
                {name: value for name, value in entry.items() if name not in ("path", "to", "message")}
                | {"path": _OF_AN_ITEM.sub("", entry["path"], 1)}
                for entry in reported
            ),
        ],
        "report",
    )


def _said(value: Any) -> Any:
    """What an item says to a model, and what its provider gave with it; not who had it when, nor how it came."""
    if type(value) is dict:
        beside = _BESIDE if "role" in value else _STATE
        said = {name: _said(item) for name, item in value.items() if name not in beside}
        state: Any = value.get("provider_state")
        if type(state) is dict and (given := {name: state[name] for name in _GIVEN if state.get(name)}):
            said["given"] = given
        return said
    return [_said(item) for item in value] if type(value) is list else value


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
        return [(position, position + 1, position, [raws[position]], [said]) for position, said in enumerate(written)]
    groups: list[_Group] = []
    left = right = 0
    while left < len(raws) or right < len(written):
        came, said = [], []
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
                said.append(written[right])
                right += 1
                grew = True
        first, past = max(first, 0), max(past, 0)
        group = (first, past, home, came, said)
        # what vanished belongs to what stands behind it, what was added to what stands before it
        groups.append(_joined(groups.pop(), group) if groups and not (came and groups[-1][4]) else group)
    if len(groups) > 1 and not groups[-1][4]:  # nothing stands behind it
        last = groups.pop()
        groups.append(_joined(groups.pop(), last))
    return [(max(first, 0), max(past, 0), max(home, first, 0), came, said) for first, past, home, came, said in groups]


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


def _are_same(left: list[Any], right: list[Any]) -> bool:
    spelt: Spelt = {}
    _compare((), left, right, _ABSENT, spelt)
    return not spelt


def came_without(item: Item, endpoint: Endpoint) -> list[str]:
    """The members that an item did not have when it was read, though it is written with them."""
    spelt: Spelt = (came_of(item, endpoint) or {}).get("spelt") or {}
    return [
        there[1:] for there, kept in spelt.items() if kept.get("word", ABSENT) == ABSENT and kept.get("raw") is None
    ]


def says_only_how_it_came(item: Item) -> bool:
    """Whether the provider state of an item says how it came, and nothing more."""
    state: Item = item.get("provider_state") or _NOTHING
    return state.get("encoding", _NOTHING).keys() == _CAME_ALONE and within(state, _OF_SPELLING)


_CAME_ALONE: Final = {CAME}
_OF_SPELLING: Final = frozenset(("adapter", "provider", "origin", "encoding"))


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
    spelt: Spelt = came.get("spelt") or {}
    return "whole" in came or any("written" in kept for kept in spelt.values())


def _compare(path: Path, raw: Any, written: Any, anchor: Any, spelt: Spelt) -> None:
    """Collects where something is written otherwise than it came; `anchor` is the element of a list in which that stands."""
    if raw is written:
        return
    if type(raw) is dict and type(written) is dict:
        names = {}
        added = len(written)
        for name, value in raw.items():
            there = written.get(name, _ABSENT)
            first = name
            if there is _ABSENT and (first := _in_camel_case(name, raw, written)) != name:
                there = written[first]
                names[first] = name
            if there is not _ABSENT:
                added -= 1
            elif anchor is not _ABSENT and _says_nothing(name, value, path):
                spelt[pointer((*path, name))] = {"raw": value, "beside": _names(written)}
                continue
            # most is the same: a text needs no call of its own
            if value is not there and (type(value) is not str or value != there):
                _compare((*path, first), value, there, anchor, spelt)
            if first != name:
                spelt.setdefault(pointer((*path, first)), {})["name"] = name
        for name, value in written.items() if added else ():
            if name in raw or name in names:
                continue
            if value is None and anchor is _ABSENT:
                spelt[pointer((*path, name))] = {"word": ABSENT}
            else:
                spelt[pointer((*path, name))] = {"written": imprint(value if anchor is _ABSENT else anchor, "wire")}
    elif type(raw) is list and type(written) is list and len(raw) == len(written):
        for number, value in enumerate(raw):
            there = written[number]
            if value is not there:
                _compare((*path, number), value, there, there if anchor is _ABSENT else anchor, spelt)
    elif (word := _word(raw, written)) is not None:
        spelt[pointer(path)] = {"word": word}
        if word not in _WORDS:
            for name, value in raw[0].items():
                if name != "type" and name != "text":
                    kept = spelt[pointer((*path, 0, name))] = {"raw": value}
                    if anchor is not _ABSENT:
                        kept["written"] = imprint(anchor, "wire")
    elif type(raw) is list and type(written) is list and anchor is _ABSENT:
        # some of it went or was added: what stands around that is the same
        before = _alike(raw, written)
        behind = _alike(raw[before:][::-1], written[before:][::-1])
        spelt[pointer(path)] = {
            "between": [before, behind],
            "raw": raw[before : len(raw) - behind],
            "written": imprint(written[before : len(written) - behind], "wire"),
        }
    elif type(raw) is not type(written) or raw != written:
        kept = spelt[pointer(path)] = {"raw": raw}
        known = written if anchor is _ABSENT else anchor
        if known is not _ABSENT:
            kept["written"] = imprint(known, "wire")


def _alike(raw: list[Any], written: list[Any]) -> int:
    """How many elements at the beginning of two lists are the same."""
    number = 0
    for one, other in zip(raw, written, strict=False):
        if not _are_same([one], [other]):
            break
        number += 1
    return number


def _says_nothing(name: str, value: Any, path: Path) -> bool:
    """Whether a member of an element of a list holds a default, or the place of the element, which its place says."""
    return value is None or value is False or (name == "index" and type(value) is int and value == path[-1])


def without_index(items: list[Any], member: str, spelt: Spelt) -> list[Any]:
    """The elements of a list without the `index` that says where each stands, which is kept with the places of the item whose
    `member` the list is; each is written with all its other members."""
    found = items
    for number, item in enumerate(items):
        if "index" in item and _says_nothing("index", item["index"], (number,)):
            found = [*items] if found is items else found
            found[number] = {name: value for name, value in item.items() if name != "index"}
            spelt[f"/{member}/{number}/index"] = {"raw": item["index"], "beside": _names(found[number])}
    return found


def _names(item: Item) -> str:
    return ",".join(sorted(item)) if len(item) > 1 else next(iter(item), "")


def _in_camel_case(name: str, raw: Item, written: Item) -> str:
    """The name under which a member that came in snake_case is written; the same name where it is not."""
    first, *words = name.split("_")
    found = first + "".join([word[:1].upper() + word[1:] for word in words])
    return found if words and found in written and found not in raw else name


LIST: Final = "text"
"""A lone text that came as a list of one part of this type, of whatever words."""
STRING: Final = "string"
"""One that came as a string."""
_BASE64: Final = ("base64url", "base64url unpadded", "base64 unpadded")
"""Base64 that came in the other alphabet, or without its padding."""
EMPTY: Final = "empty"
"""An empty text that came where null is written."""
ABSENT: Final = "absent"
"""Nothing at all that came where null is written."""
_WORDS: Final = (STRING, *_BASE64, EMPTY, ABSENT)


def lone_text(content: Any, kinds: Sequence[str] = (LIST,)) -> str | None:
    """The words of a content of one part that is a text, of one of these kinds, and nothing else."""
    if type(content) is list and len(content) == 1 and type(part := content[0]) is dict and len(part) == 2:
        text = part.get("text")
        if part.get("type") in kinds and type(text) is str:
            return text
    return None


def _word(raw: Any, written: Any) -> str | None:
    if type(written) is str and type(raw) is str:
        if not len(written) - 3 < len(raw) <= len(written):
            return None
        return next((word for word in _BASE64 if raw != written and _in_form(word, written) == raw), None)
    if type(written) is str and type(raw) is list:
        if written and len(raw) == 1 and type(part := raw[0]) is dict and part.get("text") == written:
            kind = part.get("type")
            return kind if type(kind) is str and kind not in _WORDS else None
        return None
    if type(raw) is str and type(written) is list:
        return STRING if lone_text(written) == raw else None
    return EMPTY if raw == "" and written is None else None


def written_is(value: Any) -> str:
    """What is kept of a place to tell that this is written there."""
    short = type(value) is bool or (type(value) is str and len(value) < 16)
    return _written_word(value) if short else imprint(value, "wire")


@lru_cache(maxsize=64, typed=True)
def _written_word(value: bool | str) -> str:
    return imprint(value, "wire")


def keep_word(item: Item, word: str, endpoint: Endpoint) -> None:
    """Keeps that the content of an item came in another form than it is written in, which needs no comparison."""
    _encoding(item, endpoint)[CAME] = {"content": word}


def keep_spelt(item: Item, spelt: Spelt, endpoint: Endpoint, *, by_role: bool = False) -> None:
    """Keeps of an item that was just read what is known to be written otherwise than it came, which needs no comparison: of a
    place in which nothing is written a `raw` value that says nothing, of any other a `word`, or what is `written` there."""
    if spelt:
        _encoding(item, endpoint)[CAME] = _kept(spelt, item["role"] if by_role else None)


def keep_nothing(item: Item, place: str, raw: Any, endpoint: Endpoint, *, beside: str = "", items: int = 1) -> None:
    """Keeps that something stood where nothing is written, which needs no comparison; `beside` are the names that are written
    there, in a list, and `items` how many canonical ones the item of the wire holds."""
    came = _encoding(item, endpoint).setdefault(CAME, {})
    came.setdefault("spelt", {})[place] = {"raw": raw, "beside": beside} if beside else {"raw": raw}
    if items > 1:
        came["past"] = items


def _anchor(written: Any, steps: list[str]) -> Any:
    """What is written at a place, or the element of a list in which it stands."""
    for step in steps:
        if type(written) is list:
            return written[int(step)] if step.isdecimal() and int(step) < len(written) else _ABSENT
        written = written.get(step, _ABSENT) if type(written) is dict else _ABSENT
    return written


_steps: Final = lru_cache(1024)(parse_pointer)


def _fits(spelt: Spelt, written: Any) -> bool:
    """Whether all that is kept of an item may be put back: a report is of all that it says."""
    for there, kept in spelt.items():
        if "between" in kept:
            if not _stands_between(kept, _value(written, _steps(there))):
                return False
        elif "word" not in kept and "beside" not in kept and ("raw" in kept or "written" in kept):
            anchor = _anchor(written, _steps(there))
            if kept.get("written") != (None if anchor is _ABSENT else imprint(anchor, "wire")):
                return False
    return True


def _stands_between(kept: dict[str, Any], written: Any) -> bool:
    """Whether the same stands in a list in the place of what went or was added there."""
    before, behind = kept["between"]
    if type(written) is not list or before + behind > len(written):
        return False
    fits: bool = kept["written"] == imprint(written[before : len(written) - behind], "wire")
    return fits


def _value(written: Any, steps: Sequence[str]) -> Any:
    """What is written at a place."""
    try:
        for step in steps:
            written = written[int(step)] if type(written) is list else written[step]
    except (KeyError, IndexError, TypeError, ValueError):
        return _ABSENT
    return written


def _respelt(spelt: Spelt, written: Any) -> Any:
    made = {**written} if type(written) is dict else written
    named: list[list[str]] = []
    for there, kept in spelt.items():
        steps = _steps(there)
        if len(steps) == 1 and len(kept) == 1 and type(made) is dict and "name" not in kept:  # most places
            _put_member(steps[0], kept, written, made)
            continue
        if "beside" in kept:
            holder = _value(written, steps[:-1])
            if type(holder) is dict and steps[-1] not in holder and _names(holder) == kept["beside"]:
                made = _with(made, steps, kept)
            continue
        if "between" in kept:
            listed = _value(written, steps)
            if _stands_between(kept, listed):
                before, behind = kept["between"]
                came = [*listed[:before], *kept["raw"], *listed[len(listed) - behind :]]
                made = _with(made, steps, {"raw": came})
            continue
        if "name" in kept:
            named.append([*steps, kept["name"]])
        if "word" in kept:
            place = _value(written, steps)
            said = place if place is _ABSENT else _in_form(kept["word"], place)
            if said is not place:
                made = _with(made, steps, {} if said is _ABSENT else {"raw": said})
        elif "raw" in kept or "written" in kept:
            anchor = _anchor(written, steps)
            if kept.get("written") == (None if anchor is _ABSENT else imprint(anchor, "wire")):
                made = _with(made, steps, kept)
    if named:
        for steps in sorted(named, key=len, reverse=True):  # a member before the object in which it stands
            made = _renamed(made, steps)
    return made


def _put_member(name: str, kept: dict[str, Any], written: Item, made: Item) -> None:
    """Puts a member of an item itself as it came: what stood where nothing is written, a word, or nothing at all."""
    if "raw" in kept:
        if name not in written:
            made[name] = kept["raw"]
    elif name in written:
        now = written[name]
        said = _in_form(kept["word"], now) if "word" in kept else _ABSENT
        if said is not _ABSENT:
            made[name] = said
        elif "word" in kept or kept["written"] == written_is(now):
            del made[name]


def _renamed(value: Any, steps: list[str]) -> Any:
    """A copy of a value in which the member at a place has the name that stands behind it."""
    if len(steps) == 2:
        known, name = steps
        return {name if key == known else key: item for key, item in value.items()} if type(value) is dict else value
    inner = _value(value, steps[:1])
    return value if inner is _ABSENT else _with(value, steps[:1], {"raw": _renamed(inner, steps[1:])})


def _in_form(word: str, content: Any) -> Any:
    if word not in _WORDS:
        return [{"type": word, "text": content}] if type(content) is str and content else content
    if word in _BASE64:
        if type(content) is not str:
            return content
        said = content.replace("+", "-").replace("/", "_") if word.startswith("base64url") else content
        return said.rstrip("=") if word.endswith("unpadded") else said
    if word == STRING:
        text = lone_text(content)
        return content if text is None else text
    return content if content is not None else "" if word == EMPTY else _ABSENT


def _with_content(word: str, wire: Any) -> Any:
    if type(wire) is not dict:
        return wire
    content = wire.get("content")
    said = _in_form(word, content)
    if said is content or "content" not in wire:
        return wire
    if said is _ABSENT:
        return {name: value for name, value in wire.items() if name != "content"}
    return {**wire, "content": said}


def _with(value: Any, steps: Sequence[str], kept: dict[str, Any]) -> Any:
    """A copy of a value in which something stands as it came; the same where it has no such place any more."""
    if not steps:
        return kept["raw"]
    if type(_value(value, steps[:-1])) not in (dict, list):
        return value
    made: Any = value.copy()
    here = made
    *above, last = steps
    for step in above:
        name: Any = int(step) if type(here) is list else step
        inner = here[name].copy()
        here[name] = inner
        here = inner
    if type(here) is list:
        here[int(last)] = kept["raw"]
    elif "raw" in kept:
        here[last] = kept["raw"]
    else:
        here.pop(last, None)
    return made
