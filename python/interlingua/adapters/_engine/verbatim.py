"""
Restore items of a wire as they came: messages, tools, responses.

A reader defines what an item means, and a writer how the wire expresses it. Neither handles its spelling, or whether it
was unusual.

After a reader has read items, it has them written once, and compares. If the wire item that is written differs from the
one that came, the difference is kept in the canonical item: in the member `came` of the `encoding` of its provider
state. When the item is written again, and comes out as it did then, the original is put back, and what was reported of
it is taken back. If an edit changed the item, it comes out otherwise, and is left so. Why:
spec/decisions/0048-as-it-came.md.

Wire items and canonical items need not correspond one to one. One wire item may hold several canonical ones, or the
other way round, and a writer may join items that came apart. Items that belong together are a group: a range of
canonical items, the wire items that they were read from, and the wire items that are written of them. Example: two wire
messages of the user came, each was read as one canonical message, and the writer joins the two. They are one group, of
two canonical items, two wire items that came, and one that is written.

What is kept of a group is in its home: the first canonical item of the group that is written. The members of `came`:

- `spellings`: of a group with one wire item on each side, the places that differ, and how they came
  (`_engine.spelling`).
- `role`: the role of the wire message that was written; a message that is now written with another role is left alone.
- `whole`: of any other group, all its wire items as they came.
- `written`: an imprint of each wire item that was written instead of `whole`.
- `before`: the number of canonical items of the group before its home; without it, none.
- `past`: the number of canonical items from the home to the end of the group, with the home; without it, one.
- `reported`: an imprint of the canonical items of the group and of what was reported of them. It is kept where
  something was reported, for then what is written does not state all that the items mean, and comparing it is not
  enough.
- `in_request`: something was reported, and the items were those of a request. They are put back only in a request of
  the same origin.

`before` and `past` are kept only with `whole` or `reported`: everything else concerns the home alone.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any, Final

from interlingua.adapters._engine.groups import Group, Positions, groups_of
from interlingua.adapters._engine.kit import note_spelling
from interlingua.adapters._engine.spelling import Item, Spellings, are_same, differences, imprint, with_spellings
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss

CAME: Final = "came"
_NOTHING: Final[Item] = {}


def may_differ(must_compare: bool) -> bool:
    """Whether the items that were read are to be written and compared.

    A reader sees of most items that they are written as they came. A test replaces this function and has all items
    compared.
    """
    return must_compare


# ---------------------------------------------------------------------------------------------- one item


def keep_spellings(item: Item, spellings: Spellings, endpoint: Endpoint, role: str = "") -> None:
    """Keep the spellings of an item that was just read, which the reader knows without a comparison.

    `role` is that of a message on the wire.
    """
    if spellings:
        note_spelling(
            item, CAME, endpoint.state, {"spellings": spellings, "role": role} if role else {"spellings": spellings}
        )


def keep_item(
    item: Item, raw: Any, written: Any, endpoint: Endpoint, reported: list[Entry], says: Item | None = None
) -> None:
    """Keep the differences between an item that was just read (`raw`) and what is written of it.

    `reported` are the entries of the loss report about the item. `says` is the part of the item that they are about, if
    that is not all of it.
    """
    if spellings := differences(raw, written):
        came = _came(spellings, item, written)
        if reported:
            came["reported"] = _imprint_of([item if says is None else says], reported)
        note_spelling(item, CAME, endpoint.state, came)


def put_back_item(
    item: Item, written: Any, endpoint: Endpoint, reported: list[Entry], loss: Loss, says: Item | None = None
) -> Any:
    """Return the written item with each place as it came, where the item is written as it was then."""
    came = came_of(item, endpoint)
    return written if came is None else _put_back(came, [item], written, reported, loss, says)


def _came(spellings: Spellings, item: Item, written: Item) -> Item:
    """What is kept of an item; of a message also its role, for a message of another role has other members."""
    return (
        {"spellings": spellings, "role": written["role"]}
        if "role" in item and "role" in written
        else {"spellings": spellings}
    )


def _put_back(
    came: Item, items: list[Item], written: Any, reported: list[Entry], loss: Loss, says: Item | None = None
) -> Any:
    """Return one written item as it came; unchanged if what is kept does not fit any more."""
    if "role" in came and came["role"] != written.get("role"):
        return written
    opaque: list[Any] = []
    for there in came["spellings"]:
        if there.count("/") > 1:  # an opaque value can only be within a member
            for item in items:
                _find_opaque(item, opaque)
            break
    made, fits = with_spellings(came["spellings"], written, opaque)
    if not fits and "reported" in came:  # a report is about all that an item means
        return written
    return made if _retract(came, items if says is None else [says], reported, loss) else written


def _find_opaque(item: Item, found: list[Any]) -> None:
    """Add the opaque values of a message, of the message of a response, or of a result to `found`."""
    content = item["message"].get("content") if "message" in item else item.get("content")
    for block in content if type(content) is list else ():
        kind = block.get("type")
        if kind == "opaque":
            found.append(block["value"])
        elif kind == "tool_result":
            _find_opaque(block, found)


# ---------------------------------------------------------------------------------------------- the report of an item


def _retract(came: Item, items: list[Item], reported: list[Entry], loss: Loss) -> bool:
    """Take back what is reported of items that are put back; return False if the report differs from the one when they
    were read."""
    if "reported" not in came:
        return all(entry["code"] != "filler" for entry in reported)  # a filler never came, so nothing was spelt so
    if came["reported"] != _imprint_of(items, reported):
        return False
    loss.entries[:] = [entry for entry in loss.entries if entry not in reported]
    return True


def _imprint_of(items: list[Item], reported: list[Entry]) -> str:
    """An imprint of items and their report, without the place of an item and the wording of a message."""
    entries = [
        {name: value for name, value in entry.items() if name not in ("path", "to", "message")}
        | {"path": _OF_AN_ITEM.sub("", entry["path"], 1)}
        for entry in reported
    ]
    return imprint([[_meaning(item) for item in items], entries])


_OF_AN_ITEM: Final = re.compile(r"/(?:messages/\d+|tools/\d+|(?:alternatives/\d+/)?message)")
"""The beginning of the path of an entry about a message or a tool, in a request or a response."""


def _meaning(value: Any) -> Any:
    """The part of an item that has a meaning for a model, and what its provider gave with it: without metadata, times
    and spelling."""
    if type(value) is dict:
        left_out = _ENVELOPE if "role" in value else _STATE
        meaning = {name: _meaning(item) for name, item in value.items() if name not in left_out}
        state: Any = value.get("provider_state")
        if type(state) is dict and (given := {name: state[name] for name in _GIVEN if state.get(name)}):
            meaning["given"] = given
        return meaning
    return [_meaning(item) for item in value] if type(value) is list else value


_STATE: Final = frozenset(("provider_state",))
_GIVEN: Final = ("id", "signature", "fields")
_ENVELOPE: Final = _STATE.union("metadata id session_id created_at schema_version priority critical extra".split())


# ---------------------------------------------------------------------------------------------- a list of items


class Items:
    """A list of canonical items, of which what came is kept or put back.

    `place` is the name of the list in the paths of the report. If the items are not in one list there, `places` has the
    path of each item.

    A provider accepts the unusual items of a request only in that request (`in_request`), and those of its responses in
    any.
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
        """Put back or keep, for a wire that has one wire item for each canonical one when it reads.

        Without `read`, the items are being written: return the `written` wire items as they came (`put_back`). With
        `read`, they were just read: `read` has the wire item of each canonical item, the differences are kept (`keep`),
        and `written` is returned. `of` has the positions of the canonical items that each of the `written` holds. A
        reader that makes several canonical items of one wire item calls `keep` and `put_back` itself.
        """
        if read is None:
            return self.put_back(written, of)
        self.keep(read, [(position,) for position in range(len(self.items))], written, of)
        return written

    def keep(self, raws: list[Any], made: Positions, written: list[Any], of: Positions) -> None:
        """Keep the differences between the wire items that were just read (`raws`) and those that are written of them.

        `made` has, for each of the `raws`, the positions of the canonical items that were read from it; `of` has, for
        each of the `written`, the positions of those that it holds.
        """
        for group in groups_of(raws, made, written, of):
            if came := self._came(group):
                note_spelling(self.items[group.home], CAME, self.endpoint.state, came)

    def _came(self, group: Group) -> Item:
        """What is kept of a group; empty if it is written as it came, or holds no canonical item."""
        if not group.has_items:
            return {}
        came: Item = {}
        if len(group.came) == len(group.written) == 1:
            if spellings := differences(group.came[0], group.written[0]):
                came = _came(spellings, self.items[group.home], group.written[0])
        elif not are_same(group.came, group.written):
            came = {"whole": group.came, "written": [imprint(one) for one in group.written]}
        if not came:
            return {}
        reported = self._reported(group.first, group.past)
        if reported:
            came["reported"] = _imprint_of(self.items[group.first : group.past], reported)
            if self.in_request:
                came["in_request"] = True
        if reported or "whole" in came:
            if group.past > group.home + 1:
                came["past"] = group.past - group.home
            if group.home > group.first:
                came["before"] = group.home - group.first
        return came

    def put_back(self, written: list[Any], of: Positions, except_at: Collection[int] = ()) -> list[Any]:
        """Return the written items, each as it came if it is written as it was then; those at the positions `except_at`
        stay as written."""
        if not came_otherwise(self.items, self.endpoint):
            return written
        if not written:
            return self._vanished()
        found: list[Any] = []
        at = 0
        while at < len(written):
            home = of[at][0] if of[at] else -1
            came = came_of(self.items[home], self.endpoint) if home >= 0 and home not in except_at else None
            count = 1
            if came is None:
                found.append(written[at])
            elif "spellings" in came:
                found.append(self._one(came, of[at], written[at]))
            else:
                count = len(came["written"]) or 1
                restored = self._group(came, home, written[at : at + count], of[at : at + count])
                if restored is None:
                    restored, count = [written[at]], 1
                found += restored
            at += count
        return found

    def _vanished(self) -> list[Any]:
        """Return the wire items as they came of canonical items of which nothing is written."""
        for position, item in enumerate(self.items):
            came = came_of(item, self.endpoint)
            if came is not None and came.get("written") == []:
                return self._group(came, position, [], ()) or []
        return []

    def _one(self, came: Item, positions: Sequence[int], wire: Any) -> Any:
        """Return one written item as it came; `positions` are those of the canonical items that it holds."""
        held = self._held(came, positions[0])
        if held is None:
            return wire
        reported = self._reported(held.start, held.stop)
        if "reported" in came:
            return _put_back(came, self.items[held.start : held.stop], wire, reported, self.loss)
        return _put_back(came, [self.items[position] for position in positions], wire, reported, self.loss)

    def _group(self, came: Item, home: int, now: list[Any], of: Positions) -> list[Any] | None:
        """Return the wire items of a group as they came; None if the group is written otherwise, or other items are in
        its place."""
        held = self._held(came, home)
        if held is None or came["written"] != [imprint(one) for one in now]:
            return None
        for positions in of:
            if positions and not held.start <= min(positions) <= max(positions) < held.stop:
                return None
        items = self.items[held.start : held.stop]
        known = _retract(came, items, self._reported(held.start, held.stop), self.loss)
        return list(came["whole"]) if known else None

    def _held(self, came: Item, home: int) -> range | None:
        """The positions of the canonical items of a group by the position of its home; None if the group is not to be
        put back, or an edit removed items before its home."""
        if "in_request" in came and not self.same_origin:
            return None
        first: int = home - came.get("before", 0)
        return None if first < 0 else range(first, home + came.get("past", 1))

    def _reported(self, first: int, past: int) -> list[Entry]:
        if not self.loss.entries:
            return []
        if self.places is not None:
            within = tuple(f"{place}/" for place in self.places[first:past])
        else:
            within = tuple(f"/{self.place}/{position}/" for position in range(first, past))
        # a move of an item as a whole is no entry about the item, unless something is left in its place
        return [
            entry
            for entry in self.loss.entries
            if (f"{entry['path']}/" if entry["op"] != "move" or "value" in entry else entry["path"]).startswith(within)
        ]


# ---------------------------------------------------------------------------------------------- reading what is kept


def came_of(item: Item, endpoint: Endpoint) -> Item | None:
    """Return what is kept of how an item came; None if nothing is, or if the endpoint does not own its state."""
    state: Item | None = item.get("provider_state")
    if state is None:
        return None
    encoding: Item | None = state.get("encoding")
    if encoding is None or CAME not in encoding or not endpoint.owns(state):
        return None
    found: Item | None = encoding[CAME]
    return found


def came_otherwise(items: list[Item], endpoint: Endpoint) -> bool:
    """Whether anything is kept of how any of the items came."""
    for item in items:  # noqa: SIM110 a generator costs more than what it asks
        if "provider_state" in item and came_of(item, endpoint) is not None:
            return True
    return False


def is_imprinted(item: Item, endpoint: Endpoint) -> bool:
    """Whether something is put back of an item that depends on an imprint of what is written."""
    came = came_of(item, endpoint)
    return came is not None and ("whole" in came or any("written" in kept for kept in came["spellings"].values()))
