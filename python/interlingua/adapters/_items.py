"""
Items of a wire both ways, by rows: parts, calls, tools, messages.

A wire says once of each member of an item how it is read and how it is written. Whether a value came from this wire, was null,
was spelt otherwise, is known, or was edited since it was read is asked here and nowhere else:

- A member that `write` would not give as it came has its spelling kept: null, a word, or the raw value. A raw value is put back
  only while it still reads as what is there now, so an edit is written, fitted and reported like a value of any other origin.
- A member that no row names is kept for this wire alone (`fields`).
- A canonical member that no row covers is a loss by construction; what it is called and how grave it is stands in `_UNSAID`.

The spellings stand in the `encoding` of the item's provider state, by the names of the wire's members, under `spelt`.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from interlingua.adapters._kit import (
    NOTHING,
    Wire,
    arguments_text,
    parse_arguments,
    report_foreign_state,
    report_own_state,
    severity_of,
)
from interlingua.adapters._writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Item = dict[str, Any]

ABSENT: Final = object()
"""Nothing is said: the member is not written."""
VERBATIM: Final = object()
"""A spelling without a name: the raw value is kept."""
MISSING: Final = "absent"
"""The spelling of a member that was not there, though the wire has it always."""

_PLAIN: Final = object()


class NoMeaning(Exception):
    """A value that has no meaning: that of a `loose` member stays a field of the item, else the item has none as a whole."""


class Reading(Protocol):
    """What every reader carries."""

    endpoint: Endpoint


class Member:
    """A member of a wire's item.

    `covers` names the canonical members that it says. `read` takes the value into the item, and raises TypeError or KeyError
    for one that it does not understand. `write` gives the value, fitted and reported, or `ABSENT`.
    `spelling` tells how a value was spelt: None as `write` would do it, a word that `respell` understands, or `VERBATIM`.
    `always`: the wire has the member always; where it was not there, `respell` is told `MISSING`. `needed`: without it the item
    cannot be read. `loose`: `read` may raise `NoMeaning`. `null`: null is one of its values.
    """

    __slots__ = (
        "always",
        "covers",
        "loose",
        "name",
        "needed",
        "null",
        "optional",
        "read",
        "respell",
        "row",
        "spelling",
        "write",
    )

    def __init__(
        self,
        name: str,
        covers: tuple[str, ...],
        read: Callable[[Any, Item, Any], None],
        write: Callable[[Item, Any, Path], Any],
        spelling: Callable[[Any], Any] | None = None,
        respell: Callable[[str, Any], Any] | None = None,
        *,
        always: bool = False,
        needed: bool = False,
        loose: bool = False,
        null: bool = False,
    ) -> None:
        self.name = name
        self.covers = covers
        self.read = read
        self.write = write
        self.spelling = spelling
        self.respell = respell
        self.always = always
        self.needed = needed
        self.loose = loose
        self.null = null
        self.row: Row | None = None
        self.optional = False  # an object that stands only where it holds something


class Row:
    """What an item of a wire consists of: members with a fixed value (`tag`) and those that say something."""

    __slots__ = ("canonical", "named", "strict", "tag", "wire")

    def __init__(self, tag: Mapping[str, Any], *members: Member) -> None:
        self.tag = dict(tag)
        self.named = tuple((member.name, member) for member in members)
        self.wire = frozenset((*tag, *(member.name for member in members)))
        self.strict = self.wire - {member.name for member in members if member.loose}
        covered = {name for member in members for name in member.covers}
        self.canonical = frozenset(("type", "critical", "provider_state", *covered))


def inside(name: str, row: Row, *, optional: bool = False, loose: bool = False) -> Member:
    """A member that is an object with members of its own, which say something of the same item.

    `optional`: it stands only where it holds something. `loose`: what is no object stays a field.
    """
    member = Member(name, tuple(row.canonical - _EVERYWHERE), _not_read, _not_written, loose=loose)
    member.row = row
    member.optional = optional
    return member


_EVERYWHERE: Final = frozenset(("type", "critical", "provider_state"))


def _not_read(value: Any, item: Item, reading: Any) -> None:
    raise NotImplementedError


def _not_written(item: Item, writing: Any, path: Path) -> Any:
    raise NotImplementedError


# ---------------------------------------------------------------------------------------------- from the wire


def read_item(row: Row, wire: Any, item: Item, reading: Reading) -> Item:
    """Reads the members of a wire's item into a canonical one, which gets a provider state where something is to be kept and
    it has none.

    Raises TypeError or KeyError for what is not such an item. The caller keeps it whole then, or refuses it.
    """
    if type(wire) is not dict:
        raise TypeError("an item must be an object")
    spelt: Item = {}
    fields = _read_members(row, wire, item, reading, spelt)
    if spelt or fields:
        if "provider_state" not in item:
            item["provider_state"] = reading.endpoint.state()
        kept: Item = item["provider_state"]
        if fields:
            kept["fields"] = fields
        if spelt:
            kept.setdefault("encoding", {})["spelt"] = spelt
    return item


def _read_members(row: Row, wire: Wire, item: Item, reading: Reading, spelt: Item) -> Item:
    """Reads by a row; gives the members that it does not name."""
    read = 0
    for name, value in row.tag.items():
        said = wire.get(name, ABSENT)
        if said is ABSENT:
            spelt[name] = MISSING
        elif said != value:
            raise TypeError(name)
        else:
            read += 1
    fields: Item = {}
    for name, member in row.named:
        raw = wire.get(name, ABSENT)
        if raw is ABSENT:
            if member.always:
                spelt[name] = MISSING
            elif member.needed:
                raise KeyError(name)
            continue
        read += 1
        if raw is None and not member.null:
            if member.needed:
                raise TypeError(name)
            spelt[name] = None
        elif member.row is not None:
            if type(raw) is not dict:
                if not member.loose:
                    raise TypeError(name)
                fields[name] = raw
                continue
            within: Item = {}
            if left := _read_members(member.row, raw, item, reading, within):
                fields[name] = left
            if within or (member.optional and not raw):
                spelt[name] = within
        else:
            try:
                member.read(raw, item, reading)
            except NoMeaning:
                if not member.loose:
                    raise
                fields[name] = raw
                continue
            if member.spelling is not None and (word := member.spelling(raw)) is not None:
                spelt[name] = {"raw": raw} if word is VERBATIM else word
    if len(wire) != read:
        for name, raw in wire.items():
            if name in row.wire:
                continue
            if raw is None:
                spelt[name] = None
            else:
                fields[name] = raw
    return fields


# ---------------------------------------------------------------------------------------------- to the wire


def write_item(row: Row, item: Item, writing: Writing, path: Path) -> Wire:
    """Writes a canonical item by a row, and reports what the wire does not say of it."""
    state: Item | None = item.get("provider_state")
    own = state is not None and writing.endpoint.owns(state)
    spelt: Any = (state.get("encoding") or NOTHING).get("spelt") if own and state is not None else None
    fields: Any = state.get("fields") if own and state is not None else None
    wire = _write_members(row, item, spelt or NOTHING, writing, path)
    if fields:
        _put_back(fields, wire, row, (*path, "provider_state", "fields"), writing.loss)
    if state is not None:
        if own:
            report_own_state(state, writing.loss, path)
        else:
            report_foreign_state(item, writing.endpoint, writing.loss, path)
    if not item.keys() <= row.canonical:
        report_unsaid(item, row.canonical, writing.loss, path)
    return wire


def _write_members(row: Row, item: Item, spelt: Mapping[str, Any], writing: Writing, path: Path) -> Wire:
    wire: Wire = {**row.tag}
    if not spelt:  # most items
        for name, member in row.named:
            if member.row is None:
                value = member.write(item, writing, path)
                if value is not ABSENT:
                    wire[name] = value
            elif (within := _write_members(member.row, item, spelt, writing, path)) or not member.optional:
                wire[name] = within
        return wire
    for name in row.tag:
        if spelt.get(name) == MISSING:
            del wire[name]
    for name, member in row.named:
        word = spelt.get(name, _PLAIN)
        if member.row is not None:
            within = _write_members(member.row, item, word if type(word) is dict else NOTHING, writing, path)
            if within or not member.optional or type(word) is dict:
                wire[name] = within
            continue
        if type(word) is dict and _still_says(member, word.get("raw"), item, writing):
            wire[name] = word["raw"]  # as it was read, odd or not: the provider is its judge
            continue
        value = member.write(item, writing, path)
        if type(word) is str and member.respell is not None:
            value = member.respell(word, value)
        if value is not ABSENT:
            wire[name] = value
        elif word is None:
            wire[name] = None
    for name in spelt:
        if spelt[name] is None:
            wire.setdefault(name, None)
    return wire


def _still_says(member: Member, raw: Any, item: Item, writing: Writing) -> bool:
    """Whether a raw value that was kept reads as what the item says now."""
    again: Item = {}
    try:
        member.read(raw, again, writing)
    except (KeyError, TypeError):
        return False
    return all(_same(again.get(name, ABSENT), item.get(name, ABSENT)) for name in member.covers)


def _same(left: Any, right: Any) -> bool:
    # true equals 1 in Python, and 1.0 does
    return left is right or (left == right and arguments_text(left) == arguments_text(right))


def _put_back(fields: Item, wire: Wire, row: Row, path: Path, loss: Loss) -> None:
    """Writes what is kept for this wire alone, where nothing else says it."""
    rows = {name: member.row for name, member in row.named}
    for name, value in fields.items():
        within = rows.get(name)
        if within is not None and type(value) is dict and type(wire.setdefault(name, {})) is dict:
            _put_back(value, wire[name], within, (*path, name), loss)
        elif name in wire or name in row.strict:
            loss.drop((*path, name), "combination", "representation", "the canonical member says it already")
        elif value is None:
            loss.drop(
                (*path, name), "unsupported_field", "representation", "a member that is null is read as a spelling"
            )
        else:
            wire[name] = value


_UNSAID: Final[Mapping[str, tuple[str, str, str]]] = {
    "cache": ("cache_hint", "weakened", "the wire has no cache marks"),
    "signature": ("unsupported_field", "lost", "reasoning carries no proof on this wire"),
    "refusal": ("unsupported_field", "weakened", "a refusal travels as ordinary text"),
    "citations": ("unsupported_field", "weakened", "the wire has no citations in this place"),
    "name": ("unsupported_field", "weakened", "the item has no name on this wire"),
    "title": ("unsupported_field", "weakened", "the wire has no titles of documents"),
    "context": ("unsupported_field", "lost", "the wire has no place for what is said of a document"),
    "citations_enabled": ("unsupported_field", "weakened", "the wire does not say which documents may be cited"),
    "detail": ("unsupported_field", "weakened", "the wire does not say how closely to look at an image"),
    "media_type": ("unsupported_field", "representation", "the provider tells the type of a medium from its bytes"),
    "strict": ("unsupported_field", "weakened", "the wire does not say of one tool that its schema is enforced"),
    "format": ("unsupported_field", "weakened", "a tool has no format on this wire"),
    "adapter": ("unsupported_field", "representation", "only a provider's own tool has such a member"),
    "definition": ("unsupported_field", "representation", "only a provider's own tool has such a member"),
}
"""Code, severity and message of a canonical member that an item of a wire has no member for."""


def report_unsaid(item: Item, covered: frozenset[str], loss: Loss, path: Path) -> None:
    """Reports the members of a canonical item that its wire has no member for; one that says nothing is none."""
    for name, value in item.items():
        if name in covered:
            continue
        known = _UNSAID.get(name)
        if known is None:
            loss.drop((*path, name), "unknown_field", "lost", "a member that this version does not know")
        elif value is not None and value is not False and value != []:
            code, severity, message = known
            loss.drop((*path, name), code, severity_of(name, value, severity), message)


# ---------------------------------------------------------------------------------------------- members of all wires


def text(wire: str, name: str, *, filled: bool = False, needed: bool = False, loose: bool = False) -> Member:
    """A text. One that the wire wants to be `filled` is odd when it is empty; what is none of a `loose` member is a field."""

    def read(raw: Any, item: Item, _: Any) -> None:
        if type(raw) is not str:
            if loose:
                raise NoMeaning(wire)
            raise TypeError(wire)
        item[name] = raw

    def write(item: Item, _: Any, __: Path) -> Any:
        value = item.get(name)
        return ABSENT if value is None else value

    def spelling(raw: str) -> Any:
        return None if raw else VERBATIM

    return Member(wire, (name,), read, write, spelling if filled else None, needed=needed, loose=loose)


def flag(wire: str, name: str) -> Member:
    """True or false."""

    def read(raw: Any, item: Item, _: Any) -> None:
        if type(raw) is not bool:
            raise TypeError(wire)
        item[name] = raw

    return Member(wire, (name,), read, lambda item, _, __: item.get(name, ABSENT))


def json_text(wire: str) -> Member:
    """The arguments of a call as JSON text. Text that is no object stays `input_raw`; one that is spelt otherwise than we do
    is kept."""

    def read(raw: Any, item: Item, _: Any) -> None:
        if type(raw) is not str:
            raise TypeError(wire)
        parsed = parse_arguments(raw or "{}")
        item["input"] = {} if parsed is None else parsed
        if parsed is None:
            item["input_raw"] = raw

    def write(item: Item, writing: Any, path: Path) -> str:
        raw: str | None = item.get("input_raw")
        if raw is None:
            return arguments_text(item["input"])
        if not item["input"] and parse_arguments(raw or "{}") is None:
            return raw
        message = "the call has its arguments as an object, too"
        writing.loss.drop((*path, "input_raw"), "arguments_invalid", "lost", message)
        return arguments_text(item["input"])

    def spelling(raw: str) -> Any:
        parsed = parse_arguments(raw or "{}")
        return VERBATIM if parsed is not None and arguments_text(parsed) != raw else None

    def respell(word: str, written: str) -> Any:
        return ABSENT if word == MISSING and written == "{}" else written

    return Member(wire, ("input", "input_raw"), read, write, spelling, respell, always=True)
