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

from collections.abc import Sequence
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
    """A list of canonical items, as `place` in the report names it, and how each is written.

    `loss` holds what was reported when they were written. Not `with_odd`: what was reported stays repaired.
    """

    def __init__(self, items: list[Item], place: str, endpoint: Endpoint, loss: Loss, *, with_odd: bool = True) -> None:
        self.items = items
        self.place = place
        self.endpoint = endpoint
        self.loss = loss
        self.with_odd = with_odd

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
        for first, past, came, said in _groups(raws, made, written, of):
            kept: dict[str, Any] = {}
            if len(came) == len(said) == 1:
                spelt: Spelt = {}
                _compare((), came[0], said[0], _ABSENT, spelt)
                kept = _kept(spelt)
            elif not _are_same(came, said):
                kept["whole"] = came
                kept["written"] = [imprint(one, "wire") for one in said]
            if kept and first < past:
                reported = self._reported(first, past)
                _keep_report(kept, self.items[first:past], reported)
                if reported and past > first + 1:
                    kept["past"] = past - first
                _encoding(self.items[first], self.endpoint)[CAME] = kept

    def put_back(self, written: list[Any], of: Positions) -> list[Any]:
        """The items as they came, as far as they are written as they were then."""
        if not any(positions and CAME in _encoding_of(self.items[positions[0]]) for positions in of):
            return written
        found: list[Any] = []
        at = 0
        while at < len(written):
            first = of[at][0] if of[at] else next((there[0] for there in of[at:] if there), -1)
            came = None if first < 0 else came_of(self.items[first], self.endpoint)
            taken = 1
            if came is None or not (of[at] or "whole" in came):  # what was added is part of a group
                found.append(written[at])
            elif "whole" in came:
                said = written[at : at + (len(came["written"]) or 1)]
                if came["written"] == [imprint(one, "wire") for one in said] and self._is_reported(came, first):
                    found += came["whole"]
                    taken = len(said)
                else:
                    found.append(written[at])
            elif len(came) == 1 and "content" in came:  # nothing was compared
                found.append(self._in_form(came["content"], written[at], first))
            else:
                found.append(self._respelt(came, written[at]) if self._is_reported(came, first) else written[at])
            at += taken
        return found

    def _respelt(self, came: dict[str, Any], said: Any) -> Any:
        return _respelt(came["spelt"], said) if "spelt" in came else self._in_form(came["content"], said, -1)

    def _in_form(self, word: str, wire: Any, first: int) -> Any:
        if type(wire) is not dict or any(entry["code"] == "filler" for entry in self._reported(first, first + 1)):
            return wire
        content = wire.get("content")
        said = _in_form(word, content)
        return wire if said is content else {**wire, "content": said}

    def _is_reported(self, came: dict[str, Any], first: int) -> bool:
        """Whether the same is reported as when the item was read; it is taken back then."""
        if "reported" in came and not self.with_odd:
            return False
        past = first + came.get("past", 1)
        return _retract(came, self.items[first:past], self._reported(first, past), self.loss)

    def _reported(self, first: int, past: int) -> list[Entry]:
        if not self.loss.entries:
            return []
        within = tuple(f"/{self.place}/{position}/" for position in range(first, past))
        return [entry for entry in self.loss.entries if f"{entry['path']}/".startswith(within)]


def keep_item(
    item: Item, raw: Any, written: Any, endpoint: Endpoint, reported: list[Entry], says: Item | None = None
) -> None:
    """Keeps of an item that was just read what is written otherwise than it came; `reported` is what is reported of it.

    `says` is what of the item the report is about, where that is not all of it.
    """
    spelt: Spelt = {}
    _compare((), raw, written, _ABSENT, spelt)
    if kept := _kept(spelt):
        _keep_report(kept, [item if says is None else says], reported)
        _encoding(item, endpoint)[CAME] = kept


def put_back_item(
    item: Item, written: Any, endpoint: Endpoint, reported: list[Entry], loss: Loss, says: Item | None = None
) -> Any:
    """An item as it came, as far as it is written as it was then."""
    came = came_of(item, endpoint)
    if came is None or not _retract(came, [item if says is None else says], reported, loss):
        return written
    if "content" in came:
        said = _in_form(came["content"], written.get("content"))
        return written if said is written.get("content") else {**written, "content": said}
    return _respelt(came["spelt"], written)


def _kept(spelt: Spelt) -> dict[str, Any]:
    """How one item came, where it came otherwise."""
    if len(spelt) == 1 and (word := spelt.get("/content", _NOTHING).get("word")) is not None:
        return {"content": word}
    return {"spelt": spelt} if spelt else {}


def _encoding_of(item: Item) -> Item:
    """How an item was spelt, whosever it is."""
    found: Item = (item.get("provider_state") or _NOTHING).get("encoding") or _NOTHING
    return found


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
    """What items and their report are known by: the place of an item in its list does not matter, and wording is free."""
    said = [imprint(item, "item") for item in items]
    return imprint(
        [
            *said,
            *(
                {name: value for name, value in entry.items() if name not in ("path", "to", "message")}
                | {"path": entry["path"].rpartition("/content/")[2]}
                for entry in reported
            ),
        ],
        "report",
    )


def _groups(
    raws: list[Any], made: Positions, written: list[Any], of: Positions
) -> list[tuple[int, int, list[Any], list[Any]]]:
    """What belongs together: the first canonical item and the one past the last, what came, and what is written."""
    groups: list[tuple[int, int, list[Any], list[Any]]] = []
    left = right = 0
    while left < len(raws) or right < len(written):
        came, said = [], []
        first = past = -1
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
                said.append(written[right])
                right += 1
                grew = True
        if groups and not (came and said and groups[-1][2] and groups[-1][3]):
            before = groups.pop()  # what vanished or was added belongs to what stands before it, else behind it
            groups.append((before[0], max(before[1], past), before[2] + came, before[3] + said))
        else:
            groups.append((max(first, 0), max(past, 0), came, said))
    return groups


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
    return [there[1:] for there, kept in spelt.items() if "word" not in kept and kept.get("raw") is None]


def says_only_how_it_came(item: Item) -> bool:
    """Whether the provider state of an item says how it came, and nothing more."""
    state: Item = item.get("provider_state") or _NOTHING
    return state.get("encoding", _NOTHING).keys() == _CAME_ALONE and within(state, _OF_SPELLING)


_CAME_ALONE: Final = {CAME}
_OF_SPELLING: Final = frozenset(("adapter", "provider", "origin", "encoding"))


def came_of(item: Item, endpoint: Endpoint) -> dict[str, Any] | None:
    """What is kept of how an item came."""
    state: Item | None = item.get("provider_state")
    if state is None or not (encoding := state.get("encoding")) or not endpoint.owns(state):
        return None
    found: dict[str, Any] | None = encoding.get(CAME)
    return found


def _compare(path: Path, raw: Any, written: Any, anchor: Any, spelt: Spelt) -> None:
    """Collects where something is written otherwise than it came; `anchor` is the element of a list in which that stands."""
    if raw is written:
        return
    if type(raw) is dict and type(written) is dict:
        for name, value in raw.items():
            _compare((*path, name), value, written.get(name, _ABSENT), anchor, spelt)
        for name, value in written.items():
            if name not in raw:
                spelt[pointer((*path, name))] = {"written": imprint(value if anchor is _ABSENT else anchor, "wire")}
    elif type(raw) is list and type(written) is list and len(raw) == len(written):
        for number, value in enumerate(raw):
            there = written[number]
            _compare((*path, number), value, there, there if anchor is _ABSENT else anchor, spelt)
    elif (word := _word(raw, written)) is not None:
        spelt[pointer(path)] = {"word": word}
    elif type(raw) is not type(written) or raw != written:
        kept = spelt[pointer(path)] = {"raw": raw}
        known = written if anchor is _ABSENT else anchor
        if known is not _ABSENT:
            kept["written"] = imprint(known, "wire")


LIST: Final = "list"
"""A lone text that came as a list of one part, of whatever words."""
STRING: Final = "string"
"""One that came as a string."""


def lone_text(content: Any) -> str | None:
    """The words of a content of one part that is a text and nothing else."""
    if type(content) is list and len(content) == 1 and type(part := content[0]) is dict and len(part) == 2:
        text = part.get("text")
        if part.get("type") == "text" and type(text) is str:
            return text
    return None


def _word(raw: Any, written: Any) -> str | None:
    if type(written) is str and type(raw) is list:
        return LIST if lone_text(raw) == written else None
    if type(raw) is str and type(written) is list:
        return STRING if lone_text(written) == raw else None
    return None


def keep_word(item: Item, word: str, endpoint: Endpoint, places: Sequence[str] = ("/content",)) -> None:
    """Keeps that the content of an item, or what stands in these places of it, came in another form than it is written in,
    which needs no comparison."""
    _encoding(item, endpoint)[CAME] = _kept({place: {"word": word} for place in places})


def _anchor(written: Any, steps: list[str]) -> Any:
    """What is written at a place, or the element of a list in which it stands."""
    for step in steps:
        if type(written) is list:
            return written[int(step)] if step.isdecimal() and int(step) < len(written) else _ABSENT
        written = written.get(step, _ABSENT) if type(written) is dict else _ABSENT
    return written


def _respelt(spelt: Spelt, written: Any) -> Any:
    made = written
    for there, kept in spelt.items():
        steps = parse_pointer(there)
        if "word" in kept:
            content = _at(made, steps)
            said = _in_form(kept["word"], content)
            made = made if said is content else _with(made, steps, {"raw": said})
            continue
        anchor = _anchor(written, steps)
        if kept.get("written") == (None if anchor is _ABSENT else imprint(anchor, "wire")):
            made = _with(made, steps, kept)
    return made


def _at(value: Any, steps: list[str]) -> Any:
    """What stands at a place."""
    for step in steps:
        if type(value) is list:
            value = value[int(step)] if int(step) < len(value) else _ABSENT
        else:
            value = value.get(step, _ABSENT) if type(value) is dict else _ABSENT
    return value


def _in_form(word: str, content: Any) -> Any:
    if word == LIST:
        return [{"type": "text", "text": content}] if type(content) is str and content else content
    text = lone_text(content)
    return content if text is None else text


def _with(value: Any, steps: list[str], kept: dict[str, Any]) -> Any:
    """A copy of a value in which something stands as it came."""
    if not steps:
        return kept["raw"]
    name, *rest = steps
    if type(value) is list:
        number = int(name)
        return [*value[:number], _with(value[number], rest, kept), *value[number + 1 :]]
    if not rest and "raw" not in kept:
        return {key: item for key, item in value.items() if key != name}
    return {**value, name: _with(value.get(name), rest, kept)}
