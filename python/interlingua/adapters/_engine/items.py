"""
Reading and writing of a wire's items by rows: parts, calls, tools, messages.

A wire defines each member of an item once: how it is read and how it is written. A row does not handle the spelling of
an item. If an item is written otherwise than it came, `_engine.verbatim` puts it back by comparison. Reading by a row
sets `Reading.must_compare` where this may be the case.

- A member that no row names is kept for this wire alone, in the `fields` of the provider state. So is a value of a
  `soft` member that cannot be read.
- A canonical member that no row covers is reported as a loss. `_NOT_WRITTEN` has the code, severity and message.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from interlingua.adapters._engine.kit import (
    NOTHING,
    Wire,
    is_bare,
    report_lost_state,
    report_replayable_state,
    severity_of,
    within,
)
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import NULL, Spellings
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.loss import Loss, Path, pointer

Item = dict[str, Any]

_EVERYWHERE: Final = frozenset(("type", "critical", "provider_state"))
"""Canonical members that a row does not handle."""
ABSENT: Final = object()
"""Stands for a member that is absent: a `write` returns it for a member that is not to be written."""


class Member:
    """A member of a wire's item: how it is read and how it is written.

    - `name`: its name on the wire.
    - `covers`: the canonical members that it states, so that they are not reported as a loss; `canonical_name` is the
      first of them. A member that covers none is read, but never written.
    - `read`: stores the value in the canonical item. It raises TypeError or KeyError for a value that it does not
      understand.
    - `write`: returns the value for the wire, or `ABSENT`. It adapts the value to the target, and reports what that
      changes.
    - `kind`: the type of a value that is the same on both sides. `read` and `write` are not called then.
    - `plain`: the type of a value that is stored under `canonical_name` as it is; `read` and `usual` are not called for
      it. It may still be written by a rule.
    - `empty`: whether that holds for an empty value of the type, too. Without it, an empty value is read as any other
      value is.

    What happens with an unusual value:

    - `needed`: if it is absent, or null and not `null`, the whole item cannot be read (KeyError or TypeError).
    - `always`: the wire always writes the member. If it is absent, the item must be compared, for it is written
      otherwise.
    - `null`: null is passed to `read` as a value. Without it, null is the same as absence, and the item must be
      compared.
    - `usual`: whether a value that was read is written exactly as it came; if not, the item must be compared. Without
      it, every value that can be read is written as it came.
    - `soft`: a value that cannot be read is no error. It is kept in the `fields` of the provider state.

    "Must be compared" sets `Reading.must_compare`. If the caller of `read_item` passes `spellings`, a null, and an
    absent member that is both `always` and `null`, are noted there instead, and the item need not be compared for them.

    For a value that is an object with members of its own (`inside`):

    - `row`: the row of that object. Its members state something of the same canonical item.
    - `alone`: the name of one member of the object. The wire may have the bare value of this member in place of the
      object.
    - `optional`: the object is written only if it has a member, and it may be absent.
    """

    __slots__ = (
        "alone", "always", "canonical_name", "covers", "empty", "kind", "name", "needed", "null", "optional", "plain",
        "read", "row", "soft", "usual", "write",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        covers: tuple[str, ...],
        read: Callable[[Any, Item, Any], None],
        write: Callable[[Item, Any, Path], Any],
        usual: Callable[[Any], bool] | None = None,
        *,
        always: bool = False,
        needed: bool = False,
        soft: bool = False,
        null: bool = False,
    ) -> None:
        self.name = name
        self.covers = covers
        self.read = read
        self.write = write
        self.usual = usual
        self.always = always
        self.needed = needed
        self.soft = soft
        self.null = null
        self.kind: type | None = None  # set by `same` and its like
        self.plain: type | None = None  # the type for the fast path of reading
        self.empty = True  # an empty value takes the fast path, too
        self.canonical_name = covers[0] if covers else ""
        self.row: ItemRow | None = None  # the last three are set by `inside`
        self.alone = ""
        self.optional = False


class Mark(Protocol):
    """The mark for the cache that an item of a wire may have in addition to its members."""

    def read(self, fields: Item, item: Item, encoding: Item, reading: Any) -> None:
        """Move a readable mark from `fields`, the members that no row names, to the item; note its spelling in
        `encoding`."""

    def write(self, cache: Item, wire: Wire, encoding: dict[str, Any], path: Path, writing: Any) -> None:
        """Write the mark, or report that it has no place; `path` is that of the mark."""


class ItemRow:
    """The members of which an item of a wire consists.

    - `tag`: members with a fixed value, such as `type`. On reading, each may be absent, null or an empty text.
    - `members`: the members that have a meaning.
    - `mark`: how the mark for the cache is read and written.
    - `elsewhere`: canonical members that the wire writes or reports elsewhere; they are not reported here.
    - `signed`: a member states the signature of the item's provider state, so it is not reported as a loss.
    - `excludes`: names that a kept member must not have when it is written next to the members of this row, such as the
      other kinds of a union.

    The row derives its plain shape, which most items have: the tag, and only members whose values have their `plain`
    type. They are in the item itself or in one object (`object`). `_read_plain` reads such an item fast.
    """

    __slots__ = (
        "canonical",
        "mark",
        "members",
        "named",
        "object",
        "plain",
        "signed",
        "stateless",
        "tag",
        "wire",
        "written",
    )

    def __init__(
        self,
        tag: dict[str, Any],
        *members: Member,
        mark: Mark | None = None,
        elsewhere: tuple[str, ...] = (),
        signed: bool = False,
        excludes: frozenset[str] = frozenset(),
    ) -> None:
        self.tag = dict(tag)
        self.signed = signed
        self.members = members
        self.mark = mark
        self.named = frozenset((*tag, *(member.name for member in members)))
        self.wire = self.named | excludes
        self.written = tuple(member for member in members if member.covers)
        covered = {name for member in members for name in member.covers}
        marks = () if mark is None else ("cache",)
        self.canonical = frozenset((*_EVERYWHERE, *covered, *marks, *elsewhere))
        objects = [member for member in members if member.row is not None]
        self.object = objects[0].name if objects else ""
        shape = members if objects == [] else ()
        beyond: list[Member] = []  # members that the plain shape does not have
        if len(objects) == 1 and objects[0].row is not None and not objects[0].row.tag:
            shape = objects[0].row.members
            beyond = [member for member in members if member.row is None]
        beyond += [member for member in shape if member.plain is None]
        self.plain: tuple[Member, ...] = ()
        if not any(member.needed or member.always for member in beyond):
            self.plain = tuple(member for member in shape if member.plain is not None)


def inside(name: str, row: ItemRow, alone: str = "", *, optional: bool = False) -> Member:
    """A member that is an object, whose members state something of the same canonical item.

    The wire may have the bare value of the object's member `alone` in place of the object. An `optional` object is
    written only if it has a member.
    """

    def write(item: Item, writing: Writing, path: Path) -> Any:
        inner = _write_members(row, item, writing, path)
        return inner if inner or not optional else ABSENT

    covers = tuple(row.canonical - _EVERYWHERE)
    member = Member(name, covers, _by_the_engine, write, needed=not optional, soft=optional)
    member.row = row
    member.alone = alone
    member.optional = optional
    return member


def same(wire: str, name: str, kind: type, *, always: bool = False, needed: bool = False, soft: bool = False) -> Member:
    """A member that is the same on both sides: a text, a flag, an object."""
    member = Member(wire, (name,), _by_the_engine, _by_the_engine, always=always, needed=needed, soft=soft)
    member.kind = member.plain = kind
    return member


def _by_the_engine(first: Any, second: Any, third: Any) -> Any:
    raise NotImplementedError


# ---------------------------------------------------------------------------------------------- from the wire


def read_item(row: ItemRow, wire: Any, item: Item, reading: Reading, spellings: Spellings | None = None) -> Item:
    """Read the members of a wire's item into a canonical item, and return that.

    The item gets a provider state if something is to be kept and it has none. `spellings` receives the places where the
    wire has null and nothing is written, or the other way round. Without `spellings`, such an item must be compared.

    Raises TypeError or KeyError if the value is not such an item. The caller then keeps it whole, or refuses it.
    """
    if type(wire) is not dict:
        raise TypeError("an item must be an object")
    if row.plain and spellings is None and _read_plain(row, wire, item):
        return item
    fields = _read_members(row, wire, item, reading, spellings, "")
    if fields:
        encoding: Item = {}
        if row.mark is not None:
            row.mark.read(fields, item, encoding, reading)
        state: Item = item.setdefault("provider_state", reading.endpoint.state())
        if fields:
            state["fields"] = fields
        if encoding:
            state["encoding"] = {**state.get("encoding", NOTHING), **encoding}
    return item


def _read_plain(row: ItemRow, wire: Wire, item: Item) -> bool:
    """Read an item of the plain shape, and return True; return False for any other item.

    What was stored of another item by then is what `_read_members` stores, too.
    """
    named = len(row.tag)
    if len(wire) > named + (1 if row.object else len(row.plain)):
        return False
    for name, value in row.tag.items():
        if wire.get(name) != value:
            return False
    if row.object:
        inner = wire.get(row.object)
        if type(inner) is not dict:
            return False
        wire, named = inner, 0
    for member in row.plain:
        raw = wire.get(member.name)
        if type(raw) is member.plain and (raw or member.empty):
            item[member.canonical_name] = raw
            named += 1
        elif raw is not None or member.needed or member.always:
            return False
    return named == len(wire)


def _read_members(
    row: ItemRow, wire: Wire, item: Item, reading: Reading, spellings: Spellings | None, place: str
) -> Item:
    """Read an object by a row, and return the members that are kept: those that the row does not name, and `soft` ones
    that cannot be read.

    `place` is the JSON Pointer of the object in the item.
    """
    read = _read_tag(row, wire, reading)  # how many members of the object were read
    fields: Item = {}
    for member in row.members:
        name = member.name
        raw = wire.get(name, ABSENT)
        if raw is ABSENT:
            if member.needed or member.always:
                _read_absent(member, reading, spellings, place)
            continue
        read += 1
        if type(raw) is member.plain and (raw or member.empty):
            item[member.canonical_name] = raw
        elif raw is None and not member.null:
            if member.needed:
                raise TypeError(name)
            _note(f"{place}/{name}", {"raw": None}, reading, spellings)
        elif member.row is not None:
            kept = _read_object(member, member.row, raw, item, reading, spellings, f"{place}/{name}")
            if kept is not ABSENT:
                fields[name] = kept
        elif not _read_by_rule(member, raw, item, reading):
            fields[name] = raw
    if read != len(wire):
        _read_others(row, wire, fields, reading, spellings, place)
    return fields


def _read_tag(row: ItemRow, wire: Wire, reading: Reading) -> int:
    """Read the members with a fixed value; return how many of them the object has."""
    found = 0
    for name, value in row.tag.items():
        raw = wire.get(name, ABSENT)
        if raw != value:
            if raw is not ABSENT and raw is not None and raw != "":
                raise TypeError(name)
            reading.must_compare = True
        found += raw is not ABSENT
    return found


def _read_others(
    row: ItemRow, wire: Wire, fields: Item, reading: Reading, spellings: Spellings | None, place: str
) -> None:
    """Keep the members that the row does not name in `fields`."""
    for name, raw in wire.items():
        if name in row.named:
            continue
        if raw is None:
            _note(place + pointer((name,)), {"raw": None}, reading, spellings)
        else:
            fields[name] = raw


def _note(place: str, spelling: Item, reading: Reading, spellings: Spellings | None) -> None:
    """Note how a place was spelt; if the caller takes no spellings, the item must be compared."""
    if spellings is None:
        reading.must_compare = True
    else:
        spellings[place] = spelling


def _read_absent(member: Member, reading: Reading, spellings: Spellings | None, place: str) -> None:
    """Handle the absence of a member that is needed, or that the wire always writes."""
    if member.needed:
        raise KeyError(member.name)
    if member.null:
        _note(f"{place}/{member.name}", {"written": NULL}, reading, spellings)
    else:
        reading.must_compare = True


def _read_object(
    member: Member, row: ItemRow, raw: Any, item: Item, reading: Reading, spellings: Spellings | None, place: str
) -> Any:
    """Read a member that is an object; return what is kept of it, or `ABSENT`."""
    if type(raw) is not dict:
        if member.soft:
            return raw
        if not member.alone:
            raise TypeError(member.name)
        raw = {member.alone: raw}
        reading.must_compare = True
    elif member.optional and not raw:
        reading.must_compare = True
    return _read_members(row, raw, item, reading, spellings, place) or ABSENT


def _read_by_rule(member: Member, raw: Any, item: Item, reading: Reading) -> bool:
    """Read a member by its rule; return False for a value of a `soft` member that cannot be read."""
    try:
        _read_value(member, raw, item, reading)
    except (KeyError, TypeError):
        if not member.soft:
            raise
        return False
    if member.usual is not None and not member.usual(raw):
        reading.must_compare = True
    return True


def _read_value(member: Member, raw: Any, item: Item, reading: Reading) -> None:
    if member.kind is None:
        member.read(raw, item, reading)
    elif type(raw) is member.kind:
        item[member.canonical_name] = raw
    else:
        raise TypeError(member.name)


def _understands(member: Member, raw: Any, reading: Reading) -> bool:
    try:
        _read_value(member, raw, {}, reading)
    except (KeyError, TypeError):
        return False
    return True


def opaque(value: Any, kind: Any, reading: Reading) -> Item:
    """An opaque block: an item of the wire without canonical meaning, kept whole. Raises TypeError for a value that is
    no object."""
    if type(value) is not dict:
        raise TypeError(kind)
    item: Item = {"type": "opaque", **reading.endpoint.state(), "value": value}
    if item["provider"] is None:
        del item["provider"]
    if type(kind) is str:
        item["kind"] = kind
    return item


# ---------------------------------------------------------------------------------------------- to the wire


def write_item(row: ItemRow, item: Item, writing: Writing, path: Path) -> Wire:
    """Write a canonical item by a row, and report what the wire has no place for."""
    state: Item | None = item.get("provider_state")
    wire = _write_members(row, item, writing, path)
    if row.mark is not None and item.get("cache") is not None:
        row.mark.write(item["cache"], wire, writing.encoding_of(item), (*path, "cache"), writing)
    if state is not None and not is_bare(state):
        _write_state(item, state, row, wire, writing, path)
    if not within(item, row.canonical):
        report_not_written(item, row.canonical, writing.loss, path)
    return wire


def _write_members(row: ItemRow, item: Item, writing: Writing, path: Path) -> Wire:
    wire = {**row.tag}
    for member in row.written:
        if member.kind is None:
            value = member.write(item, writing, path)
            if value is not ABSENT:
                wire[member.name] = value
        else:
            value = item.get(member.canonical_name)
            if value is not None:
                wire[member.name] = value
    return wire


def _write_state(item: Item, state: Item, row: ItemRow, wire: Wire, writing: Writing, path: Path) -> None:
    """Write what the state of an item holds for this wire alone, and report what of it has no place."""
    if not writing.endpoint.owns(state):
        report_lost_state(item, state, writing.loss, path)
        return
    if fields := state.get("fields"):
        _write_fields(fields, wire, row, (*path, "provider_state", "fields"), writing)
    if not row.signed:
        report_replayable_state(state, writing.loss, path)


def _write_fields(fields: Item, wire: Wire, row: ItemRow | None, path: Path, writing: Writing) -> None:
    """Write the members that are kept for this wire alone; report those that a canonical member states or that have no
    place."""
    for where in _lay_over(fields, wire, row, path, writing):
        if where[-1] in wire or len(where) > len(path) + 1:
            writing.loss.drop(where, "combination", "representation", "a canonical member states it already")
        else:
            writing.loss.drop(where, "unsupported_field", "weakened", "the written item has no member of this name")


def laid_over(wire: Wire, fields: Item, writing: Writing, path: Path) -> Wire:
    """A copy of an object with the members of a tree that it lacks; members that it already has are reported."""
    made = dict(wire)
    _write_fields(fields, made, None, path, writing)
    return made


def _lay_over(fields: Item, wire: Wire, row: ItemRow | None, path: Path, writing: Writing) -> list[Path]:
    """Add the members of the tree `fields` to the object `wire`; return the paths of those that found no place.

    The `row` of the object states which of its members are objects; without a row, each of them may be.
    """
    placeless: list[Path] = []
    for name, value in fields.items():
        if name not in wire and (row is None or name not in row.wire):
            wire[name] = value
            continue
        member = None if row is None else _member_of(row, name)
        inner_row = None if member is None else member.row
        is_object = row is None or inner_row is not None
        if is_object and type(value) is dict and type(wire.get(name, NOTHING)) is dict:
            placeless += _lay_over_object(value, wire, name, inner_row, (*path, name), writing)
        elif wire.get(name) is None and (row is None or _has_no_effect(member, value, writing)):
            wire[name] = value
        else:
            placeless.append((*path, name))
    return placeless


def _lay_over_object(
    fields: Item, wire: Wire, name: str, row: ItemRow | None, path: Path, writing: Writing
) -> list[Path]:
    """Add the members of a tree to the object that is the member `name` of `wire`, or becomes it. `path` is that of the
    tree: it is the result if no member found a place."""
    inner: Wire = {**wire.get(name, NOTHING)}
    placeless = _lay_over(fields, inner, row, path, writing)
    if fields and placeless == [(*path, branch) for branch in fields]:
        return [path]
    wire[name] = inner
    return placeless


def _member_of(row: ItemRow, name: str) -> Member | None:
    for member in row.members:
        if member.name == name:
            return member
    return None


def _has_no_effect(member: Member | None, value: Any, writing: Writing) -> bool:
    if member is None or not member.soft:
        return False
    return type(value) is not dict if member.row is not None else not _understands(member, value, writing.reader())


_NOT_WRITTEN: Final[Mapping[str, tuple[str, str, str]]] = {
    "cache": ("cache_hint", "weakened", "the wire does not support cache marks"),
    "signature": ("unsupported_field", "lost", "reasoning has no signature on this wire"),
    "refusal": ("unsupported_field", "weakened", "a refusal is written as ordinary text"),
    "citations": ("unsupported_field", "weakened", "the wire does not support citations in this place"),
    "name": ("unsupported_field", "weakened", "the item has no name on this wire"),
    "title": ("unsupported_field", "weakened", "the wire does not support titles of documents"),
    "context": ("unsupported_field", "weakened", "the wire does not support the context of a document"),
    "citations_enabled": ("unsupported_field", "weakened", "the wire does not state which documents may be cited"),
    "detail": ("unsupported_field", "weakened", "the wire does not support the detail of an image"),
    "transcript": ("unsupported_field", "weakened", "the wire does not support a transcript next to the audio"),
    "input_schema": ("unsupported_field", "weakened", "a tool that takes free text has no schema"),
    "media_type": ("unsupported_field", "representation", "the provider derives the type of a medium from its bytes"),
    "strict": ("unsupported_field", "weakened", "the wire does not support strict for a single tool"),
    "format": ("unsupported_field", "weakened", "a tool has no format on this wire"),
    "adapter": ("unsupported_field", "representation", "only a provider's own tool has this member"),
    "definition": ("unsupported_field", "representation", "only a provider's own tool has this member"),
    "stop_sequence": (
        "unsupported_field",
        "weakened",
        "the wire does not state which stop sequence ended the response",
    ),
    "logprobs": ("unsupported_field", "lost", "the wire does not support log probabilities of this shape"),
    "alternatives": ("unsupported_field", "lost", "the wire returns only one answer"),
    "estimated": ("unsupported_field", "weakened", "the wire does not distinguish estimates from counts"),
}
"""Code, severity and message of a canonical member that an item of a wire has no member for."""


def report_not_written(item: Item, covered: frozenset[str], loss: Loss, path: Path) -> None:
    """Report the members of a canonical item that its wire has no member for, except known ones whose value has no
    effect (null, false, an empty list)."""
    for name, value in item.items():
        if name in covered:
            continue
        known = _NOT_WRITTEN.get(name)
        if known is None:
            loss.drop((*path, name), "unknown_field", "lost", "a member that this version does not know")
        elif value is not None and value is not False and value != []:
            code, severity, message = known
            severity = "representation" if value == "" else severity_of(name, value, severity)
            loss.drop((*path, name), code, severity, message)


# ---------------------------------------------------------------------------------------------- members of all wires


def text(wire: str, name: str, *, filled: bool = False, needed: bool = False, soft: bool = False) -> Member:
    """A text. If the wire wants it `filled`, an empty text is unusual."""
    member = same(wire, name, str, needed=needed, soft=soft)
    if filled:
        member.usual = bool
        member.empty = False
    return member


def by_rule(
    wire: str,
    covers: tuple[str, ...],
    kind: type,
    write: Callable[[Item, Any, Path], Any],
    usual: Callable[[Any], bool] | None = None,
    *,
    always: bool = False,
    needed: bool = False,
    soft: bool = False,
) -> Member:
    """A member whose value of the type `kind` is stored as it is, and written by a rule."""

    def read(raw: Any, item: Item, _: Any) -> None:
        if type(raw) is not kind:
            raise TypeError(wire)
        item[covers[0]] = raw

    member = Member(wire, covers, read, write, usual, always=always, needed=needed, soft=soft)
    member.plain = kind if usual is None else None
    return member


def filled(wire: str, name: str) -> Member:
    """A text without which the item cannot be read; an empty text is none."""
    member = Member(wire, (name,), _unread, lambda item, writing, path: item[name], needed=True)
    member.plain, member.empty = str, False
    return member


def tool_name(write: Callable[[Item, Any, Path], Any] | None = None) -> Member:
    """The name of a tool, which is written in the grammar of the target. Without a name, the item cannot be read."""
    member = Member("name", ("name",), _unread, write or _written_tool_name, needed=True)
    member.plain, member.empty = str, False
    return member


def _unread(raw: Any, item: Item, _: Any) -> None:
    raise TypeError("a text is missing")


def _written_tool_name(item: Item, writing: Writing, path: Path) -> Any:
    return writing.written_tool_name(item["name"], path)
