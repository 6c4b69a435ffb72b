"""
Read and write content blocks: reader and writer list the same cases in the same order.

A wire block is an object with one member, whose name is the kind of the block. A cache mark is a block of its own after the
block that it marks. The reader keeps members without canonical meaning as a tree of the same shape, and the writer adds this
tree to the written block.
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._claude.blocks import (
    ARGUMENTS,
    NAME,
    NoMeaning,
    refuse_thinking,
)
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, RESULT, SYSTEM, THINKING_TYPES, UNMARKED_TYPES, USER
from interlingua.adapters._content.calls import call_id, is_plain, plain_call, read_call, result_id
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, inside, read_item, text, write_item
from interlingua.adapters._engine.kit import UNREADABLE, Wire, malformed
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import OF_OPAQUE, misplaced, native_item, no_place
from interlingua.adapters.bedrock_converse.items import (
    KINDS,
    Block,
    block_row,
    cited_from_wire,
    guarded_from_wire,
    json_from_wire,
    present_members,
    text_from_wire,
    text_to_wire,
)
from interlingua.adapters.bedrock_converse.media import medium_from_wire, medium_to_wire
from interlingua.adapters.bedrock_converse.tables import Writing, cache_from_wire
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------- from the wire


def blocks_from_wire(
    content: list[Any], place: str, reading: Reading, path: Path, failure: type[InvalidWire] = InvalidWire
) -> list[Block]:
    """Read the blocks of one list. Raises `failure` with a pointer to a block that cannot be read."""
    blocks: list[Block] = []
    position = -1
    try:
        for wire in content:
            position += 1
            if type(wire) is dict and len(wire) == 1:
                if type(text := wire.get("text")) is str and text and not text.isspace():
                    blocks.append({"type": "text", "text": text})
                    continue
                if "cachePoint" in wire and place != RESULT and blocks and "cache" not in blocks[-1]:
                    hint = cache_from_wire(wire["cachePoint"])
                    if hint is not None:
                        blocks[-1]["cache"] = hint
                        reading.mark(hint)
                        reading.must_compare = reading.must_compare or blocks[-1]["type"] in UNMARKED_TYPES
                        continue
            blocks.append(block_from_wire(wire, place, reading))
    except UNREADABLE as problem:
        raise malformed("a block", (*path, position), reading.adapter, failure) from problem
    except InvalidWire as problem:  # from a block inside of this block
        where = pointer((*path, position)) + (problem.path or "")
        raise failure(problem.message, path=where, adapter=reading.adapter) from problem
    return blocks


def block_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """Read one block of the wire. A block that does not have its documented shape is kept whole, as an opaque block.

    Raises KeyError or TypeError for a known block that lacks a member or has one of a wrong type.
    """
    if type(wire) is not dict or not wire:
        raise TypeError("block")
    if len(wire) == 1:
        (kind,) = wire
        readable = True
    else:
        kind = _kind(wire)
        readable = len([name for name, value in wire.items() if name in KINDS and value is not None]) < 2
        reading.must_compare = True
    if place not in _PLACES.get(kind, _TURNS):
        reading.must_compare = True
    reader = _READERS.get(kind) if readable else None
    try:
        if reader is not None:
            return reader(wire, place, reading)
    except NoMeaning:
        pass
    reading.must_compare = reading.must_compare or kind in _MENDED
    return reading.opaque("unknown" if kind == "type" else kind, wire)


_MENDED: Final = ("cachePoint", "reasoningContent")
"""The kinds that may be read back as something else, or may not be last in a request."""


def _kind(wire: Wire) -> str:
    """Return the kind of a wire block: the name of its first member that is a kind and is not null."""
    for name, value in wire.items():
        if name in KINDS and value is not None:
            return name
    if "json" in wire:
        return "json"  # its value may be null
    return next((name for name in wire if name != "type"), "unknown")


def _tool_use_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    use = wire["toolUse"]
    if use.get("type") not in _OF_THE_CALLER or place != ASSISTANT:
        raise NoMeaning("toolUse")  # a call of a tool that the provider runs itself
    if len(use) == 3 and len(wire) == 1:
        if (call := plain_call(use["toolUseId"], use["name"], use.get("input"), dict, reading)) is not None:
            return call
    return read_call(_TOOL_USE, wire, reading, provider_state=reading.state())


def _result_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    if place != USER:
        raise NoMeaning("toolResult")  # a result of a tool that the provider runs itself
    return read_item(_RESULT, wire, {"type": "tool_result"}, reading)


def _reasoning_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    reasoning = present_members(wire["reasoningContent"])
    block: Block = {"type": "thinking", "provider_state": reading.state()}
    if len(reasoning) != 1 or place != ASSISTANT:
        raise NoMeaning("reasoningContent")
    if type(reasoning.get("redactedContent")) is str:
        block["type"] = "redacted_thinking"
        return read_item(_REDACTED, wire, block, reading)
    if type(reasoning.get("reasoningText")) is not dict:
        raise NoMeaning("reasoningContent")
    read = read_item(_THINKING, wire, block, reading)
    reading.must_compare = reading.must_compare or not read.get("signature")
    return read


_READERS: Final[dict[str, Callable[[Wire, str, Reading], Block]]] = {
    "text": text_from_wire,
    "toolUse": _tool_use_from_wire,
    "toolResult": _result_from_wire,
    "json": json_from_wire,
    "reasoningContent": _reasoning_from_wire,
    "guardContent": guarded_from_wire,
    "citationsContent": cited_from_wire,
    **dict.fromkeys(("image", "document", "video", "audio"), medium_from_wire),
}


# ---------------------------------------------------------------------------------------------- to the wire


def blocks_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """Write the blocks of one place and their cache marks, and report blocks that the wire has no place for."""
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        if len(block) == 2 and block["type"] == "text" and (text := block["text"]) and not text.isspace():
            wires.append({"text": text})
            continue
        where = (*path, position)
        wire = writing.or_placeholder(block_to_wire, block, place, where)
        if wire is None:
            continue
        wires.append(wire)
        if place == USER and wire.get("document") is not None:
            writing.documents.append((wire, where))
        if block["type"] != "text" and len(wire) == 1 and "text" in wire:
            continue  # a placeholder, which gets no cache mark
        if "cache" in block and (mark := _mark(block, place, writing, where)) is not None:
            wires.append(mark)
    return wires


def _mark(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if place == RESULT or block["type"] in THINKING_TYPES:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "a cache mark is not allowed here")
        return None
    return writing.mark(block["cache"], path)


def block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """Write one block; None if nothing of it is written. Raises `Refused` if the wire cannot have it in this place."""
    match block["type"]:
        case "text":
            return text_to_wire(block, place, writing, path)
        case "tool_use" if place == ASSISTANT:
            return _tool_use_to_wire(block, writing, path)
        case "image" | "document" | "video" if place in _MEDIA_PLACES:
            return medium_to_wire(block, writing, path)
        case "audio" if place == USER:
            return medium_to_wire(block, writing, path)
        case "thinking" | "redacted_thinking" as kind if place == ASSISTANT:
            refuse_thinking(block, writing)
            row = _THINKING if kind == "thinking" else _REDACTED
            return write_item(row, block, writing, path)
        case "opaque" if writing.endpoint.owns(block):
            return _opaque_to_wire(block, place, writing, path)
        case "tool_use" | "tool_result" if place != RESULT:
            raise misplaced(block, path, writing)
        case _:
            raise no_place(block, writing)


_MEDIA_PLACES: Final = (USER, RESULT)


def _tool_use_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    if is_plain(block):  # most calls
        name = writing.written_tool_name(block["name"], path)
        call = {"toolUseId": writing.call_id(block, writing.state_of(block)), "name": name, "input": block["input"]}
        wire: Wire = {"toolUse": call}
    else:
        wire = write_item(_TOOL_USE, block, writing, path)
    writing.tools_used[wire["toolUse"]["name"]] = None
    return wire


def result_to_wire(block: Block, writing: Writing, path: Path) -> list[Wire]:
    """Write a tool result, and the cache mark after it."""
    parts = block["content"]
    if len(block) == 3 and len(parts) == 1 and len(part := parts[0]) == 2 and part["type"] == "text":
        text: str = part["text"]
        if text and not text.isspace():  # most results; a shortcut
            return [{"toolResult": {"toolUseId": writing.result_id(block), "content": [{"text": text}]}}]
    where: Path = path
    to: Path | None = None
    hint: Block | None = block.get("cache")
    if hint is None and (at := _hint_within(parts)) is not None:
        # the wire can only mark a result as a whole
        hint, where, to = parts[at]["cache"], (*path, "content", at), (*path, "cache")
        bare = {name: value for name, value in parts[at].items() if name != "cache"}
        block = {**block, "content": [*parts[:at], bare, *parts[at + 1 :]]}
    wire = write_item(_RESULT, block, writing, path)
    mark = None if hint is None else writing.mark(hint, where, to)
    return [wire] if mark is None else [wire, mark]


def _hint_within(parts: list[Block]) -> int | None:
    """Return the position of the last block of a result that has a cache hint and will be written."""
    for position in range(len(parts) - 1, -1, -1):
        part = parts[position]
        if "cache" in part and part["type"] == "text" and part["text"].strip():
            return position
    return None


# the places where each kind of block may appear; any other kind may appear in a message
_PLACES: Final = {
    "text": (USER, SYSTEM, ASSISTANT, RESULT),
    "guardContent": (USER, SYSTEM),
    "searchResult": (USER, RESULT),
    "cachePoint": (USER, SYSTEM, ASSISTANT),
    "toolUse": (ASSISTANT,),
    "reasoningContent": (ASSISTANT,),
    "citationsContent": (ASSISTANT,),
    "image": (USER, RESULT),
    "document": (USER, RESULT),
    "video": (USER, RESULT),
    "audio": (USER,),
    "json": (RESULT,),
}


_TURNS: Final = (USER, ASSISTANT)


_OPAQUE: Final = OF_OPAQUE | {"cache"}  # the cache mark is a block of its own


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    value: Wire = block["value"]
    kind = _kind(value)
    if not writing.answering and place not in _PLACES.get(kind, _TURNS):
        raise Refused("unsupported_block", "the item cannot be represented in this place")
    if len(value) == 1 and "cachePoint" in value and cache_from_wire(value["cachePoint"]) is not None:
        raise Refused("unsupported_block", "a mark for the cache has a canonical form of its own")
    native_item(block, kind, lambda wire, reading: block_from_wire(wire, place, reading), writing, path, _OPAQUE)
    writing.marked(value)
    return value


# ---------------------------------------------------------------------------------------------- rows


def _read_use_type(raw: Any, block: Block, reading: Reading) -> None:
    """Read nothing: only a call of a tool that the caller runs is read as a call."""
    reading.must_compare = True


def _read_content(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not list:
        raise TypeError("content")
    block["content"] = blocks_from_wire(raw, RESULT, reading, ("toolResult", "content"))
    reading.must_compare = reading.must_compare or not raw


def _write_content(block: Block, writing: Writing, path: Path) -> list[Wire]:
    where = (*path, "content")
    content = blocks_to_wire(block["content"], RESULT, writing, where)
    return content or [writing.text(writing.fill(where))]


def _read_status(raw: Any, block: Block, _: Reading) -> None:
    if raw not in ("success", "error"):
        raise TypeError("status")
    block["is_error"] = raw == "error"


def _write_status(block: Block, _: Writing, __: Path) -> Any:
    return ABSENT if "is_error" not in block else "error" if block["is_error"] else "success"


_OF_THE_CALLER: Final = (None, "tool_use")
_TOOL_USE: Final = block_row(
    inside(
        "toolUse",
        ItemRow(
            {},
            call_id("toolUseId", needed=True),
            NAME,
            ARGUMENTS,
            Member("type", (), _read_use_type, lambda block, writing, path: ABSENT),
        ),
    )
)
_RESULT: Final = block_row(
    inside(
        "toolResult",
        ItemRow(
            {},
            result_id("toolUseId"),
            Member("content", ("content",), _read_content, _write_content, needed=True),
            Member("status", ("is_error",), _read_status, _write_status, soft=True),
        ),
    )
)
_THINKING: Final = block_row(
    inside(
        "reasoningContent",
        ItemRow(
            {},
            inside(
                "reasoningText",
                ItemRow(
                    {},
                    text("text", "text", needed=True),
                    text("signature", "signature"),
                ),
            ),
        ),
    )
)
_REDACTED: Final = block_row(inside("reasoningContent", ItemRow({}, text("redactedContent", "data", needed=True))))
