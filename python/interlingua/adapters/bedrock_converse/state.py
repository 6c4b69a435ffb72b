"""What every block has beside its content, both ways: the members without canonical meaning, as trees."""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._kit import Wire, report_foreign_state, report_unknown, within
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

KINDS: Final = frozenset(
    (
        "text", "toolUse", "toolResult", "json", "reasoningContent", "guardContent", "citationsContent", "image", "document",
        "video", "audio", "cachePoint", "searchResult", "toolAddition", "toolRemoval",
    )
)  # fmt: skip
"""The members that name the kind of a block."""

# ---------------------------------------------------------------------------------------------- from the wire


def kept(canonical: Block, wire: Wire, kind: str, inner: Any, reading: Reading, state: Wire | None = None) -> Block:
    """Adds the provider state: members without canonical meaning, and how the block was spelt.

    `inner` holds what is left over inside the member that names the kind; None when nothing is.
    """
    fields: Wire = {}
    encoding: Wire = {}
    if inner is not None:
        said, nulls = without_nulls(inner)
        if said or not nulls or kind == "guardContent":  # there an empty tree says that the text is guarded
            fields[kind] = said
        if nulls:
            encoding["null"] = [[kind, *steps] for steps in nulls]
    if len(wire) > 1:
        for name, value in wire.items():
            if name == "type" and type(value) is str:
                encoding["type"] = value
            elif value is None:
                encoding.setdefault("null", []).append(name)
            elif name != kind:
                fields[name] = value
    if state is not None or fields or encoding:
        canonical["provider_state"] = state = state or reading.state()
        if fields:
            state["fields"] = fields
        if encoding:
            state["encoding"] = {**state.get("encoding", {}), **encoding}
    return canonical


def without_nulls(tree: Any, depth: int = 0) -> tuple[Any, list[list[str]]]:
    """A tree of members without those that are null, which say nothing, and where those stood."""
    if type(tree) is not dict or depth == _NULLS_WITHIN:
        return tree, []
    said: Wire = {}
    nulls: list[list[str]] = []
    for name, value in tree.items():
        if value is None:
            nulls.append([name])
            continue
        found, inside = without_nulls(value, depth + 1)
        nulls += [[name, *steps] for steps in inside]
        if found or not inside:
            said[name] = found
    return said, nulls


_NULLS_WITHIN: Final = 3  # what stands deeper is a value of its own


def left_over(item: Wire, known: frozenset[str]) -> Wire | None:
    """The members of an item that have no canonical meaning; None when there are none."""
    return None if within(item, known) else {name: value for name, value in item.items() if name not in known}


def nulls_of(item: Wire) -> Wire:
    """The members of an item that are null."""
    nulls: Wire = {}
    for name in item:
        if item[name] is None:
            nulls[name] = None
    return nulls


# ---------------------------------------------------------------------------------------------- to the wire


def finished(block: Block, kind: str, inner: Any, known: frozenset[str], writing: Writing, path: Path) -> Wire:
    """The wire block, with what its provider state holds for this wire; members that are not known are reported."""
    wire: Wire = {kind: inner}
    if not within(block, known):
        report_unknown(block, known, writing.loss, path)
    state = block.get("provider_state")
    if state is None:
        return wire
    if not writing.endpoint.owns(state):
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        return wire
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "the wire has no signature in this place")
    if fields := state.get("fields"):
        others = {name: value for name, value in fields.items() if _is_field(name, value, kind)}
        for name in fields:
            if name not in others:
                where = (*path, "provider_state", "fields", name)
                message = "a block holds one kind of content, and fields that say something"
                writing.loss.drop(where, "unsupported_field", "lost", message)
        wire = overlaid(wire, others, writing, (*path, "provider_state", "fields"))
    if encoding := state.get("encoding"):
        if type(encoding.get("type")) is str and writing.same_origin:
            wire["type"] = encoding["type"]
        if writing.same_origin:
            wire = with_nulls(wire, encoding.get("null") or ())
    return wire


def _is_field(name: str, value: Any, kind: str) -> bool:
    """Whether a member is read as a field of a block of this kind again."""
    if value is None or (name == "type" and type(value) is str):
        return False  # a spelling
    return name == kind or name not in KINDS


def with_nulls(wire: Wire, nulls: Any) -> Wire:
    """The wire with what was null in it: beside its kind, and inside of it where it is still of that kind."""
    for given in nulls:
        steps = [given] if type(given) is str else given
        if type(steps) is list and steps and (len(steps) == 1 or steps[0] in wire):
            wire = with_null(wire, steps)
    return wire


def with_null(wire: Wire, steps: Any, *, grows: bool = True) -> Wire:
    """The wire with a member that was null, where it lacks that member; `grows`: and the objects in which it stood.

    Changes nothing of what it was given.
    """
    if type(steps) is not list or not steps or type(name := steps[0]) is not str:
        return wire
    if len(steps) == 1:
        return wire if name in wire else {**wire, name: None}
    inner: Any = wire.get(name, {} if grows else None)
    return {**wire, name: with_null(inner, steps[1:], grows=grows)} if type(inner) is dict else wire


def overlaid(wire: Wire, fields: Wire, writing: Writing, path: Path) -> Wire:
    """The wire with the members of a tree that it lacks; what it holds already is reported. Changes neither."""
    made, said_already, _ = _laid_over(wire, fields, path)
    for where in said_already:
        writing.loss.drop(where, "combination", "representation", "the canonical member says it already")
    return made


def _laid_over(wire: Wire, fields: Wire, path: Path) -> tuple[Wire, list[Path], bool]:
    """The wire with the tree laid over it, the branches that found no place, and whether anything did."""
    made = dict(wire)
    said_already: list[Path] = []
    found_place = not fields  # an empty tree is only there
    for name, value in fields.items():
        if name not in made:
            made[name] = value
            found_place = True
        elif (
            isinstance(made[name], dict)
            and isinstance(value, dict)
            and (laid := _laid_over(made[name], value, (*path, name)))[2]
        ):
            made[name] = laid[0]
            said_already += laid[1]
            found_place = True
        else:
            said_already.append((*path, name))
    return made, said_already, found_place
