"""Blocks both ways: the same cases in the same order."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import free_arguments, out_of_place, raw_arguments, refused_thinking
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, RESULT, UNREADABLE, USER, string
from interlingua.adapters._kit import BLOCK_MEMBERS, CALL_MEMBERS, RESULT_MEMBERS, THINKING_MEMBERS, Wire
from interlingua.adapters.anthropic_messages.items import opaque_to_wire
from interlingua.adapters.anthropic_messages.media import (
    document_from_wire,
    document_to_wire,
    image_from_wire,
    image_to_wire,
)
from interlingua.adapters.anthropic_messages.state import Block, extras, finished
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.adapters.anthropic_messages.texts import text_from_wire, text_to_wire
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire


def block_from_wire(block: Wire, reading: Reading) -> Block:
    """One block of the wire. What is not shaped as the wire documents it stays whole, as an opaque block.

    Raises KeyError or TypeError for a known block that lacks a member or has one of a wrong type.
    """
    match block["type"]:
        case "text":
            if len(block) == 2 and type(text := block["text"]) is str and text and not text.isspace():
                return {"type": "text", "text": text}  # most texts, and not worth a call
            return text_from_wire(block, reading)
        case "tool_use":
            return _tool_use_from_wire(block, reading)
        case "image":
            return image_from_wire(block, reading)
        case "document":
            return document_from_wire(block, reading)
        case "thinking":
            return _thinking_from_wire(block, reading)
        case "redacted_thinking":
            canonical = {"type": "redacted_thinking", "data": string(block["data"])}
            reading.unusual = reading.unusual or "cache_control" in block
            return extras(block, canonical, _REDACTED_WIRE, reading, reading.state())
        case kind:
            return reading.opaque(string(kind), block)


def blocks_from_wire(
    content: list[Any], reading: Reading, path: Path, failure: type[InvalidWire] = InvalidWire
) -> list[Block]:
    """The blocks of one list; raises `failure` with the pointer of the block that cannot be read."""
    try:
        return [block_from_wire(block, reading) for block in content]
    except UNREADABLE as problem:
        raise reading.unreadable("a block", (*path, _first_unreadable(content, reading)), failure) from problem


def _first_unreadable(content: list[Any], reading: Reading) -> int:
    # only asked when one is: reading again is cheaper than counting along
    for position, block in enumerate(content):
        try:
            block_from_wire(block, reading)
        except UNREADABLE:
            return position
    return 0


_TOOL_USE_WIRE: Final = frozenset(("type", "id", "name", "input"))
_THINKING_WIRE: Final = frozenset(("type", "thinking", "signature"))
_REDACTED_WIRE: Final = frozenset(("type", "data"))
_RESULT_WIRE: Final = frozenset(("type", "tool_use_id", "content", "is_error"))


def _tool_use_from_wire(block: Wire, reading: Reading) -> Block:
    wire_id, name, arguments = block["id"], block["name"], block.get("input")
    if type(wire_id) is not str or type(name) is not str or not name:
        raise TypeError("tool_use")
    reading.names.add(name)
    canonical: Block = {"type": "tool_use", "id": reading.call(wire_id), "name": name, "input": arguments}
    state = {**reading.whose, "id": wire_id}
    if type(arguments) is dict:
        if len(block) == 4:
            canonical["provider_state"] = state
            return canonical
        return extras(block, canonical, _TOOL_USE_WIRE, reading, state)
    canonical["input"] = {}
    if "input" in block:
        canonical["input_raw"] = raw_arguments(arguments)
        return extras(block, canonical, _TOOL_USE_WIRE, reading, state, {"input": "said"})
    return extras(block, canonical, _TOOL_USE_WIRE, reading, state, {"input": "absent"})


def _thinking_from_wire(block: Wire, reading: Reading) -> Block:
    canonical: Block = {"type": "thinking", "text": string(block["thinking"])}
    encoding = None
    signature = block.get("signature")
    reading.unusual = reading.unusual or not signature or "cache_control" in block
    if signature is not None:
        canonical["signature"] = string(signature)
    elif "signature" in block:
        encoding = {"null": ["signature"]}
    return extras(block, canonical, _THINKING_WIRE, reading, reading.state(), encoding)


def _result_part_from_wire(part: Wire, reading: Reading) -> Block:
    kind = part["type"]
    if kind == "text" or kind == "image" or kind == "document":
        return block_from_wire(part, reading)
    return reading.opaque(string(kind), part)


def result_from_wire(block: Wire, reading: Reading) -> Block:
    """A tool result; the message around it is the caller's."""
    wire_id = string(block["tool_use_id"])
    canonical_id = reading.result(wire_id)
    state = None
    if canonical_id is None:
        canonical_id, state = reading.orphan(wire_id), reading.state(id=wire_id)
    content = block.get("content")
    encoding: dict[str, Any] | None = None
    parts: list[Block] = []
    if type(content) is list:
        parts = [_result_part_from_wire(part, reading) for part in content]
        if not parts:
            encoding = {"list": True}
    elif type(content) is str:
        encoding = {"string": True}
        parts = [block_from_wire({"type": "text", "text": content}, reading)]
    elif content is not None:
        raise TypeError("content")
    elif "content" in block:
        encoding = {"null": ["content"]}
    canonical: Block = {"type": "tool_result", "tool_use_id": canonical_id, "content": parts}
    if len(block) == 3 and encoding is None and state is None and parts:
        return canonical
    known = _RESULT_WIRE
    if "is_error" in block:
        match block["is_error"]:
            case bool(is_error):
                canonical["is_error"] = is_error
            case None:
                known = known - {"is_error"}
            case _:
                raise TypeError("is_error")
    return extras(block, canonical, known, reading, state, encoding)


# ---------------------------------------------------------------------------------------------- to the wire

_REDACTED: Final = BLOCK_MEMBERS | {"data"}


def blocks_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """The blocks of one place on the wire; those that it cannot carry are reported."""
    if len(blocks) == 1 and len(block := blocks[0]) == 2 and block["type"] == "text":  # most messages
        text = block["text"]
        if text and (place == ASSISTANT or not text.isspace()):
            return [{"type": "text", "text": text}]
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        kind = block["type"]
        if kind == "text" and len(block) == 2:
            text = block["text"]
            if text and (place == ASSISTANT or not text.isspace()):
                wires.append({"type": "text", "text": text})
                continue
        elif kind == "tool_use" and place == ASSISTANT and "cache" not in block:
            wires.append(_tool_use_to_wire(block, writing, (*path, position)))
            continue
        wire = block_to_wire(block, place, writing, (*path, position))
        if wire is not None:
            wires.append(wire)
    return wires


def block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """One block on the wire; None when this place cannot carry it, which is reported."""
    outer, writing.as_read = writing.as_read, writing.has_quirk(block, place)
    wire = _block_to_wire(block, place, writing, path)
    writing.as_read = outer
    return wire


def _block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    match block["type"]:
        case "text":
            return text_to_wire(block, place, writing, path)
        case "tool_use" if place == ASSISTANT or writing.as_read:
            return _tool_use_to_wire(block, writing, path)
        case "image" if place in _IMAGE_PLACES or writing.as_read:
            return image_to_wire(block, writing, path)
        case "document" if place in (USER, RESULT) or (
            not writing.stricter and (place == ASSISTANT or writing.as_read)
        ):
            return document_to_wire(block, writing, path)
        case "thinking" if place == ASSISTANT or writing.as_read:
            return _thinking_to_wire(block, writing, path)
        case "redacted_thinking" if place == ASSISTANT or writing.as_read:
            return _redacted_to_wire(block, writing, path)
        case "opaque":
            return opaque_to_wire(block, place, writing, path)
        case _:
            return writing.placeholder_or_drop(block, path, *out_of_place(block, place, path))


_IMAGE_PLACES: Final = (USER, RESULT)


def _tool_use_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    wire: Wire = {
        "type": "tool_use",
        "id": writing.call_id(block, path),
        "name": writing.told_name(block["name"], path),
        "input": block["input"],
    }
    if len(block) == 4:
        return wire
    encoding = writing.encoding_of(block).get("input") if writing.same_origin and not block["input"] else None
    if "input_raw" in block or "kind" in block:
        wire["input"] = free_arguments(block, encoding == "said", True, writing.loss, path)
    elif encoding == "absent":
        del wire["input"]
    return finished(block, wire, CALL_MEMBERS, writing, path)


def _thinking_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    refused = refused_thinking(block, writing)
    if refused is not None:
        return writing.placeholder_or_drop(block, path, *refused)
    wire: Wire = {"type": "thinking", "thinking": block["text"]}
    if "signature" in block:
        wire["signature"] = block["signature"]
    return finished(_uncached(block, writing, path), wire, THINKING_MEMBERS, writing, path)


def _redacted_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    refused = refused_thinking(block, writing)
    if refused is not None:
        return writing.placeholder_or_drop(block, path, *refused)
    wire = {"type": "redacted_thinking", "data": block["data"]}
    return finished(_uncached(block, writing, path), wire, _REDACTED, writing, path)


def _uncached(block: Block, writing: Writing, path: Path) -> Block:
    if "cache" not in block or writing.as_read:
        return block
    writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "reasoning takes no cache mark")
    return {name: value for name, value in block.items() if name != "cache"}


def result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A tool result."""
    outer, writing.as_read = writing.as_read, writing.has_quirk(block, USER)
    wire = _result_to_wire(block, writing, path)
    writing.as_read = outer
    return wire


def _result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    wire: Wire = {"type": "tool_result", "tool_use_id": writing.result_id(block)}
    content = block["content"]
    if len(block) == 3 and len(content) == 1 and len(part := content[0]) == 2 and part["type"] == "text":
        text = part["text"]
        if text and not text.isspace():  # most results
            wire["content"] = [{"type": "text", "text": text}]
            return wire
    if content:
        parts = blocks_to_wire(content, RESULT, writing, (*path, "content"))
        if parts:
            wire["content"] = parts
            if (
                len(parts) == 1
                and "provider_state" in block
                and writing.encoding_of(block).get("string")
                and parts[0].keys() == {"type", "text"}
            ):
                wire["content"] = parts[0]["text"]
    elif writing.encoding_of(block).get("list"):
        wire["content"] = []
    if len(block) == 3:
        return wire
    if "is_error" in block:
        wire["is_error"] = block["is_error"]
    return finished(block, wire, RESULT_MEMBERS, writing, path)
