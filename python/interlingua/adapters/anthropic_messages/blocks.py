"""Read and write content blocks by rows; reader and writer list the same cases in the same order."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import (
    ARGUMENTS,
    FAILED,
    refuse_thinking,
)
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, RESULT, USER, string
from interlingua.adapters._content.calls import call_id, is_plain, plain_call, read_call, result_id
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, read_item, text, tool_name
from interlingua.adapters._engine.kit import UNREADABLE, Wire, malformed
from interlingua.adapters._history.messages import misplaced, no_place
from interlingua.adapters.anthropic_messages.items import (
    CACHE,
    REFUSED_CACHE,
    Block,
    item_to_wire,
    opaque_from_wire,
    opaque_to_wire,
    text_from_wire,
    text_to_wire,
)
from interlingua.adapters.anthropic_messages.media import medium_from_wire, medium_to_wire
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.adapters.anthropic_messages.toolsets import NAME as TOOLSET_NAME
from interlingua.adapters.anthropic_messages.toolsets import called, read_name, without_name, write_call_name
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- rows


def _read_content(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is str:
        block["content"] = [block_from_wire({"type": "text", "text": raw}, RESULT, reading)]
    elif type(raw) is list:
        block["content"] = _parts_from_wire(raw, reading)
        reading.must_compare = reading.must_compare or not raw
    else:
        raise TypeError("content")


def _parts_from_wire(parts: list[Any], reading: Reading) -> list[Block]:
    return [
        block_from_wire(part, RESULT, reading) if part["type"] in _PARTS else opaque_from_wire(part, RESULT, reading)
        for part in parts
    ]


_PARTS: Final = ("text", "image", "document")


def _write_content(block: Block, writing: Writing, path: Path) -> Any:
    return blocks_to_wire(block["content"], RESULT, writing, (*path, "content")) or ABSENT


def _write_toolset(call: Block, writing: Writing, path: Path) -> Any:
    of_set = called(call, writing)
    if of_set is None:
        return ABSENT
    writing.of_sets[call["id"]] = of_set[0]
    return of_set[0]


_TOOL_USE: Final = ItemRow(
    {"type": "tool_use"},
    call_id(needed=True),
    tool_name(write_call_name),
    Member(TOOLSET_NAME, ("name",), read_name, _write_toolset, soft=True),
    ARGUMENTS,
    mark=CACHE,
)
_THINKING: Final = ItemRow(
    {"type": "thinking"}, text("thinking", "text", needed=True), text("signature", "signature"), mark=REFUSED_CACHE
)
_REDACTED: Final = ItemRow({"type": "redacted_thinking"}, text("data", "data", needed=True), mark=REFUSED_CACHE)
_RESULT: Final = ItemRow(
    {"type": "tool_result"},
    result_id("tool_use_id"),
    Member("content", ("content",), _read_content, _write_content),
    FAILED,
    mark=CACHE,
)

# ---------------------------------------------------------------------------------------------- from the wire


def block_from_wire(block: Wire, place: str, reading: Reading) -> Block:
    """Read one block of the wire in its place. A block that does not have its documented shape is kept whole, as an opaque block.

    Raises KeyError or TypeError for a known block that lacks a member or has one of a wrong type.
    """
    match block["type"]:
        case "text":
            if len(block) == 2 and type(text := block["text"]) is str and text and not text.isspace():
                return {"type": "text", "text": text}  # most texts; a function call would cost more
            return text_from_wire(block, reading)
        case "tool_result" if place == USER:
            return _result_from_wire(block, reading)
        case "tool_use" if place == ASSISTANT:
            return _tool_use_from_wire(block, reading)
        case "image" | "document":
            reading.must_compare = reading.must_compare or place not in _MEDIA_PLACES
            return medium_from_wire(block, reading)
        case "thinking":
            canonical = {"type": "thinking", "provider_state": reading.state()}
            reading.must_compare = reading.must_compare or not block.get("signature") or place != ASSISTANT
            return read_item(_THINKING, block, canonical, reading)
        case "redacted_thinking":
            reading.must_compare = reading.must_compare or place != ASSISTANT
            return read_item(
                _REDACTED, block, {"type": "redacted_thinking", "provider_state": reading.state()}, reading
            )
        case _:
            return opaque_from_wire(block, place, reading)


def blocks_from_wire(
    content: list[Any], place: str, reading: Reading, path: Path, failure: type[InvalidWire] = InvalidWire
) -> list[Block]:
    """Read the blocks of one list. Raises `failure` with a pointer to a block that cannot be read."""
    blocks: list[Block] = []
    try:
        for block in content:
            blocks.append(block_from_wire(block, place, reading))
    except UNREADABLE as problem:
        raise malformed("a block", (*path, len(blocks)), reading.adapter, failure) from problem
    return blocks


def _tool_use_from_wire(block: Wire, reading: Reading) -> Block:
    if (
        len(block) == 4
        and (call := plain_call(block["id"], block["name"], block.get("input"), dict, reading)) is not None
    ):
        return call
    return read_call(_TOOL_USE, block, reading, provider_state=reading.state())


def _result_from_wire(block: Wire, reading: Reading) -> Block:
    if reading.toolsets:
        block = without_name(block, reading)
    content = block.get("content")
    if len(block) == 3 and content:
        call = reading.take_call(string(block["tool_use_id"]))
        is_known = call in reading.calls
        result: Block = {"type": "tool_result", "tool_use_id": call}
        if type(content) is list and is_known:  # most results
            result["content"] = _parts_from_wire(content, reading)
            return result
        if type(content) is str and is_known and not content.isspace():
            result["content"] = [{"type": "text", "text": content}]
            return result
    return read_item(_RESULT, block, {"type": "tool_result", "content": []}, reading)


# ---------------------------------------------------------------------------------------------- to the wire


def blocks_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """Write the blocks of one place, and report those that the wire has no place for."""
    return writing.parts(block_to_wire, blocks, place, path)


def block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """Write one block; None if nothing of it is written. Raises `Refused` if the wire cannot have it in this place."""
    match block["type"]:
        case "text":
            return text_to_wire(block, place, writing, path)
        case "tool_use" if place == ASSISTANT:
            return _tool_use_to_wire(block, writing, path)
        case "image" if place in _MEDIA_PLACES:
            return medium_to_wire(block, writing, path)
        case "document" if place in _MEDIA_PLACES or (place == ASSISTANT and not writing.stricter):
            return medium_to_wire(block, writing, path)
        case "thinking" | "redacted_thinking" as kind if place == ASSISTANT:
            refuse_thinking(block, writing)
            return item_to_wire(_THINKING if kind == "thinking" else _REDACTED, block, writing, path)
        case "opaque" if writing.endpoint.owns(block):
            return opaque_to_wire(block, place, writing, path)
        case "tool_use" | "tool_result" if place != RESULT:
            raise misplaced(block, path, writing)
        case _:
            raise no_place(block, writing)


_MEDIA_PLACES: Final = (USER, RESULT)


def _tool_use_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    if (
        is_plain(block) and block["name"] not in writing.members and block["name"] not in writing.endpoint.spellings
    ):  # most calls
        name, call = writing.written_tool_name(block["name"], path), writing.call_id(block, writing.state_of(block))
        return {"type": "tool_use", "id": call, "name": name, "input": block["input"]}
    return item_to_wire(_TOOL_USE, block, writing, path)


def result_to_wire(block: Block, writing: Writing, path: Path) -> list[Wire]:
    """Write a tool result."""
    wire = _result_to_wire(block, writing, path)
    if (toolset := writing.of_sets.get(block["tool_use_id"])) is not None:
        wire.setdefault(TOOLSET_NAME, toolset)
    return [wire]


def _result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    content: list[Block] = block["content"]
    if len(block) == 3 and len(content) == 1 and len(part := content[0]) == 2 and part["type"] == "text":
        text: str = part["text"]
        if text and not text.isspace():  # most results
            result = writing.result_id(block)
            return {"type": "tool_result", "tool_use_id": result, "content": [{"type": "text", "text": text}]}
    return item_to_wire(_RESULT, block, writing, path)
