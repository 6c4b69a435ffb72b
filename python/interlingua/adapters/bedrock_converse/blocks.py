"""
Blocks both ways: the same cases in the same order.

A wire block is an object with one member that names what it holds; a mark for the cache is a block of its own behind what
it is for. What a block holds without canonical meaning is kept as a tree of the same shape and laid over the written block.
"""

from typing import Any, Final

from interlingua.adapters._claude.blocks import (
    free_arguments,
    out_of_place,
    raw_arguments,
    refused_thinking,
    report_opaque,
)
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import (
    ASSISTANT,
    RESULT,
    SYSTEM,
    THINKING_TYPES,
    UNMARKED_TYPES,
    UNREADABLE,
    USER,
    string,
)
from interlingua.adapters._kit import (
    BLOCK_MEMBERS,
    CALL_MEMBERS,
    RESULT_MEMBERS,
    THINKING_MEMBERS,
    Wire,
)
from interlingua.adapters.bedrock_converse.media import (
    audio_from_wire,
    document_from_wire,
    document_to_wire,
    image_from_wire,
    medium_to_wire,
    video_from_wire,
)
from interlingua.adapters.bedrock_converse.state import KINDS, Block, finished, kept, left_over, nulls_of
from interlingua.adapters.bedrock_converse.tables import (
    AUDIO_FORMATS,
    IMAGE_FORMATS,
    VIDEO_FORMATS,
    Writing,
    cache_from_wire,
)
from interlingua.adapters.bedrock_converse.texts import (
    cited_from_wire,
    guarded_from_wire,
    json_from_wire,
    text_from_wire,
    text_to_wire,
)
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------- from the wire


def blocks_from_wire(
    content: list[Any], place: str, reading: Reading, path: Path, failure: type[InvalidWire] = InvalidWire
) -> list[Block]:
    """The blocks of one list; raises `failure` with the pointer of the block that cannot be read."""
    blocks: list[Block] = []
    wire: Any = None
    usual = _USUAL[place]
    try:
        for wire in content:
            if len(wire) != 1:
                reading.unusual = True
                blocks.append(block_from_wire(wire, place, reading))
                continue
            (kind,) = wire
            if kind == "text":
                text = wire[kind]
                if type(text) is str and text and not text.isspace():
                    blocks.append({"type": "text", "text": text})
                    continue
            elif (
                kind == "cachePoint"
                and place != RESULT
                and blocks
                and "cache" not in blocks[-1]
                and (hint := cache_from_wire(wire[kind])) is not None
            ):
                blocks[-1]["cache"] = hint
                reading.mark(hint)
                reading.unusual = reading.unusual or blocks[-1]["type"] in UNMARKED_TYPES
                continue
            if kind not in usual:
                reading.unusual = True
            if type(wire) is not dict:
                raise TypeError("block")
            reader = _READERS.get(kind)
            found = reader(wire, place, reading) if reader else None
            blocks.append(found or reading.opaque("unknown" if kind == "type" else kind, wire))
    except UNREADABLE as problem:
        position = next(number for number, item in enumerate(content) if item is wire)
        raise reading.unreadable("a block", (*path, position), failure) from problem
    except InvalidWire as problem:  # a block inside of this one
        position = next(number for number, item in enumerate(content) if item is wire)
        where = pointer((*path, position)) + (problem.path or "")
        raise failure(problem.message, path=where, adapter=reading.adapter) from problem
    return blocks


_USUAL: Final = {
    SYSTEM: frozenset(("text",)),
    USER: frozenset(("text", "image", "toolResult")),
    ASSISTANT: frozenset(("text", "toolUse", "reasoningContent")),
    RESULT: frozenset(("text", "json", "image")),
}
"""The kinds of blocks that nothing is said against in a place."""


def block_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """One block of the wire. What is not shaped as the wire documents it stays whole, as an opaque block.

    Raises KeyError or TypeError for a known block that lacks a member or has one of a wrong type.
    """
    if type(wire) is not dict or not wire:
        raise TypeError("block")
    kind = _kind(wire)
    if kind not in _READERS or len([name for name, value in wire.items() if name in KINDS and value is not None]) > 1:
        return reading.opaque(kind, wire)
    return _READERS[kind](wire, place, reading) or reading.opaque(kind, wire)


def _kind(wire: Wire) -> str:
    """What a block of the wire is: the member that names its kind; one that is null names none."""
    for name, value in wire.items():
        if name in KINDS and value is not None:
            return name
    if "json" in wire:
        return "json"  # whose value may be null
    return next((name for name in wire if name != "type"), "unknown")


def _tool_use_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    use = wire["toolUse"]
    if use.get("type") not in _OF_THE_CALLER or place != ASSISTANT:
        return None  # what the provider runs itself
    wire_id, name, arguments = string(use["toolUseId"]), string(use["name"]), use.get("input")
    if not name:
        raise ValueError("name")
    reading.names.add(name)
    canonical: Block = {"type": "tool_use", "id": reading.call(wire_id), "name": name, "input": arguments}
    state: Wire = {**reading.whose, "id": wire_id}
    if type(arguments) is not dict:
        reading.unusual = True
        canonical["input"] = {}
        if "input" in use:
            canonical["input_raw"] = raw_arguments(arguments)
        else:
            state["encoding"] = {"absent": ["input"]}
    elif len(use) == 3 and len(wire) == 1:
        canonical["provider_state"] = state
        return canonical
    if "type" in use:
        state["encoding"] = {**state.get("encoding", {}), "use_type": use["type"]}
    return kept(canonical, wire, "toolUse", left_over(use, _TOOL_USE_WIRE), reading, state)


_OF_THE_CALLER: Final = (None, "tool_use")
_TOOL_USE_WIRE: Final = frozenset(("toolUseId", "name", "input", "type"))


def _result_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    if place != USER:
        return None  # of a tool that the provider runs itself
    result = wire["toolResult"]
    wire_id = string(result["toolUseId"])
    content = result["content"]
    if type(content) is not list:
        raise TypeError("content")
    canonical_id = reading.result(wire_id)
    state = None
    if canonical_id is None:
        canonical_id, state = reading.orphan(wire_id), reading.state(id=wire_id)
    parts = blocks_from_wire(content, RESULT, reading, ("toolResult", "content"))
    if not content:
        reading.unusual = True
    canonical: Block = {"type": "tool_result", "tool_use_id": canonical_id, "content": parts}
    known = _RESULT_WIRE
    if "status" in result:
        if result["status"] in _STATUS:
            canonical["is_error"] = result["status"] == "error"
        else:
            known = known - {"status"}
    return kept(canonical, wire, "toolResult", left_over(result, known), reading, state)


_RESULT_WIRE: Final = frozenset(("toolUseId", "content", "status"))
_STATUS: Final = ("success", "error")


def _reasoning_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    reasoning = wire["reasoningContent"]
    nulls = nulls_of(reasoning)
    if len(reasoning) - len(nulls) != 1 or place != ASSISTANT:
        return None
    if type(data := reasoning.get("redactedContent")) is str:
        block = {"type": "redacted_thinking", "data": data}
        return kept(block, wire, "reasoningContent", nulls or None, reading, reading.state())
    inner = reasoning.get("reasoningText")
    if type(inner) is not dict:
        return None
    canonical: Block = {"type": "thinking", "text": string(inner["text"])}
    if not inner.get("signature"):
        reading.unusual = True
    if inner.get("signature") is not None:
        canonical["signature"] = string(inner["signature"])
    left = left_over(inner, _REASONING_WIRE if "signature" in canonical else frozenset(("text",)))
    if left is not None:
        nulls["reasoningText"] = left
    return kept(canonical, wire, "reasoningContent", nulls or None, reading, reading.state())


_REASONING_WIRE: Final = frozenset(("text", "signature"))
_READERS: Final = {
    "text": text_from_wire,
    "toolUse": _tool_use_from_wire,
    "toolResult": _result_from_wire,
    "json": json_from_wire,
    "reasoningContent": _reasoning_from_wire,
    "guardContent": guarded_from_wire,
    "citationsContent": cited_from_wire,
    "image": image_from_wire,
    "document": document_from_wire,
    "video": video_from_wire,
    "audio": audio_from_wire,
}
_REDACTED: Final = BLOCK_MEMBERS | {"data"}


# ---------------------------------------------------------------------------------------------- to the wire


def blocks_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """The blocks of one place on the wire, marks for the cache among them; those that it cannot carry are reported."""
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        if len(block) == 2 and block["type"] == "text" and (text := block["text"]) and not text.isspace():
            wires.append({"text": text})
            continue
        where = (*path, position)
        wire = block_to_wire(block, place, writing, where)
        if wire is None:
            continue
        wires.append(wire)
        if block["type"] != "text" and len(wire) == 1 and "text" in wire:
            continue  # a placeholder, which has no hint
        if "cache" in block and (mark := _mark(block, place, writing, where)) is not None:
            wires.append(mark)
    return wires


def _mark(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    odd = writing.has_quirk(block, place)
    if place == RESULT or (block["type"] in THINKING_TYPES and not odd):
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "no mark for the cache may stand here")
        return None
    return writing.mark(block["cache"], path, odd=odd)


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
        case "tool_use" if place == ASSISTANT:
            return _tool_use_to_wire(block, writing, path)
        case "image" if place in _MEDIA_PLACES or writing.as_read:
            return medium_to_wire(block, IMAGE_FORMATS, "supports_images", writing, path)
        case "document" if place in _MEDIA_PLACES or writing.as_read:
            return document_to_wire(block, writing, path)
        case "video" if place in _MEDIA_PLACES or writing.as_read:
            return medium_to_wire(block, VIDEO_FORMATS, "supports_video", writing, path)
        case "audio" if place == USER or writing.as_read:
            return medium_to_wire(block, AUDIO_FORMATS, "supports_audio", writing, path)
        case "thinking" if place == ASSISTANT:
            return _thinking_to_wire(block, writing, path)
        case "redacted_thinking" if place == ASSISTANT:
            return _redacted_to_wire(block, writing, path)
        case "opaque":
            return _opaque_to_wire(block, place, writing, path)
        case _:
            return writing.placeholder_or_drop(block, path, *out_of_place(block, place, path))


_MEDIA_PLACES: Final = (USER, RESULT)


def _tool_use_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    name = writing.told_name(block["name"], path)
    inner: Wire = {"toolUseId": writing.call_id(block, path), "name": name, "input": block["input"]}
    writing.tools_used[name] = None
    if len(block) == 4:
        return {"toolUse": inner}
    state = block.get("provider_state")
    if "input_raw" in block or "kind" in block:
        own = state is not None and writing.endpoint.owns(state)
        inner["input"] = free_arguments(block, writing.as_read and not block["input"], own, writing.loss, path)
    if state is not None and writing.same_origin:
        encoding = writing.encoding_of(block)
        if "use_type" in encoding and encoding["use_type"] in _OF_THE_CALLER:
            inner["type"] = encoding["use_type"]
        if "absent" in encoding and not inner["input"]:
            del inner["input"]
    return finished(block, "toolUse", inner, CALL_MEMBERS, writing, path)


def result_to_wire(block: Block, writing: Writing, path: Path) -> tuple[Wire, Wire | None]:
    """A tool result, and the mark for the cache behind it."""
    outer, writing.as_read = writing.as_read, writing.has_quirk(block, USER)
    wires = _result_to_wire(block, writing, path)
    writing.as_read = outer
    return wires


def _result_to_wire(block: Block, writing: Writing, path: Path) -> tuple[Wire, Wire | None]:
    parts = block["content"]
    if len(block) == 3 and len(parts) == 1 and len(part := parts[0]) == 2 and part["type"] == "text":
        text: str = part["text"]
        if text and not text.isspace():  # the usual result, on a straight way
            return {"toolResult": {"toolUseId": writing.result_id(block), "content": [{"text": text}]}}, None
    where = (*path, "content")
    hint_at = None if "cache" in block or writing.as_read else _hint_within(parts)
    hint: dict[str, Any] | None = None
    if hint_at is not None:
        # the wire marks a result as a whole
        hint = parts[hint_at]["cache"]
        bare = {name: value for name, value in parts[hint_at].items() if name != "cache"}
        parts = [*parts[:hint_at], bare, *parts[hint_at + 1 :]]
    content = blocks_to_wire(parts, RESULT, writing, where)
    if not content and not writing.as_read:
        content = writing.filler(where, "the target takes no empty result")
        hint = None
    inner: Wire = {"toolUseId": writing.result_id(block), "content": content}
    if "is_error" in block:
        inner["status"] = "error" if block["is_error"] else "success"
    wire = (
        {"toolResult": inner}
        if len(block) == 3
        else finished(block, "toolResult", inner, RESULT_MEMBERS, writing, path)
    )
    if "cache" in block:
        return wire, writing.mark(block["cache"], path)
    if hint is not None and hint_at is not None:
        return wire, writing.mark(hint, (*where, hint_at), (*path, "cache"))
    return wire, None


def _hint_within(parts: list[Block]) -> int | None:
    """The last block of a result that asks for the cache and will stand on the wire."""
    for position in range(len(parts) - 1, -1, -1):
        part = parts[position]
        if "cache" in part and part["type"] == "text" and part["text"].strip():
            return position
    return None


def _thinking_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    refused = refused_thinking(block, writing)
    if refused is not None:
        return writing.placeholder_or_drop(block, path, *refused)
    inner: Wire = {"text": block["text"]}
    signature = block.get("signature")
    if signature or (signature is not None and writing.as_read):
        inner["signature"] = signature
    elif signature == "":
        writing.loss.drop(
            (*path, "signature"), "unsigned_thinking", "representation", "an empty signature proves nothing"
        )
    return finished(block, "reasoningContent", {"reasoningText": inner}, THINKING_MEMBERS, writing, path)


def _redacted_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    refused = refused_thinking(block, writing)
    if refused is not None:
        return writing.placeholder_or_drop(block, path, *refused)
    return finished(block, "reasoningContent", {"redactedContent": block["data"]}, _REDACTED, writing, path)


# where the items that have no canonical meaning may stand
_PLACES: Final = {
    "guardContent": (USER, SYSTEM),
    "searchResult": (USER, RESULT),
    "cachePoint": (USER, SYSTEM, ASSISTANT),
    "toolUse": (ASSISTANT,),
    "toolResult": (ASSISTANT,),
    "reasoningContent": (ASSISTANT,),
    "citationsContent": (ASSISTANT,),
    "image": (USER, RESULT),
    "document": (USER, RESULT),
    "video": (USER, RESULT),
    "audio": (USER,),
    "json": (RESULT,),
}


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if not writing.endpoint.owns(block):
        return writing.placeholder_or_drop(
            block, path, "foreign_state", "an item of another provider has no meaning here"
        )
    value: Wire = block["value"]
    kind = _kind(value)
    if not writing.as_read and place not in _PLACES.get(kind, (USER, ASSISTANT)):
        return writing.placeholder_or_drop(block, path, "unsupported_block", "the item has no form in this place")
    if not (writing.as_read and kind == "cachePoint") and not _reads_back(value, place, writing):
        return writing.placeholder_or_drop(block, path, "unsupported_block", "the item has a canonical form of its own")
    report_opaque(block, kind, writing, path)
    writing.marked(value)
    if kind == "document":
        writing.document = writing.document or path
    if kind == "cachePoint" and len(value) == 1 and place != RESULT and cache_from_wire(value[kind]) is not None:
        writing.bare.append((value, path))
    return value


def _reads_back(value: Wire, place: str, writing: Writing) -> bool:
    """Whether an item is read as an opaque block again."""
    reading = Reading(writing.endpoint, DERIVED_IDS)
    if value.get("cachePoint") is not None:
        return len(value) > 1 or cache_from_wire(value["cachePoint"]) is None
    try:
        return block_from_wire(value, place, reading)["type"] == "opaque"
    except UNREADABLE:
        return False
