"""What every block has beside its content, both ways; members without canonical meaning are trees of the block's shape."""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import string
from interlingua.adapters._items import ABSENT, Member, Row, write_item
from interlingua.adapters._kit import Wire
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


def _read_type(raw: Any, block: Block, reading: Reading) -> None:
    string(raw)


def _write_type(block: Block, writing: Writing, path: Path) -> Any:
    word = writing.spelt_of(block).get("type")
    return ABSENT if word is None or not writing.same_origin else word


_TYPE: Final = Member("type", (), _read_type, _write_type, lambda raw: raw, soft=True)


def block_row(content: Member) -> Row:
    """A block: the member that names its kind, and `type` beside it. A mark for the cache is a block of its own."""
    return Row({}, content, _TYPE, beside=("cache", "citations"))


# ---------------------------------------------------------------------------------------------- from the wire


def said_in(item: Any) -> Wire:
    """The members of an object that say something."""
    if type(item) is not dict and len(item) > 0:
        raise TypeError("an object")
    return {name: value for name, value in item.items() if value is not None} if item else {}


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


# ---------------------------------------------------------------------------------------------- to the wire


def item_to_wire(row: Row, kind: str, block: Block, writing: Writing, path: Path) -> Wire:
    """A block by its row; what was read of a block of another kind is reported."""
    state = block.get("provider_state")
    fields = state.get("fields") if state is not None else None
    if state is not None and fields and writing.endpoint.owns(state):
        others = {name: value for name, value in fields.items() if _is_field(name, value, kind)}
        if len(others) < len(fields):
            for name in fields:
                if name not in others:
                    where = (*path, "provider_state", "fields", name)
                    message = "a block holds one kind of content, and fields that say something"
                    writing.loss.drop(where, "unsupported_field", "lost", message)
            block = {**block, "provider_state": {**state, "fields": others}}
    return write_item(row, block, writing, path)


def _is_field(name: str, value: Any, kind: str) -> bool:
    """Whether a member is read as a field of a block of this kind again."""
    if value is None or (name == "type" and type(value) is str):
        return False  # a spelling
    return name == kind or name not in KINDS


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
