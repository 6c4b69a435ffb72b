"""Parts both ways: a part of the wire is one block."""

from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.adapters._kit import BLOCK_MEMBERS, THINKING_MEMBERS, Wire
from interlingua.adapters.gemini_generate.calls import (
    call_from_wire,
    call_to_wire,
    plain_call_to_wire,
    result_from_wire,
)
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.media import (
    MEDIA,
    detail_from_wire,
    file_from_wire,
    inline_from_wire,
    medium_to_wire,
)
from interlingua.adapters.gemini_generate.state import (
    DATA,
    MODEL,
    RESULT,
    SIBLINGS,
    SYSTEM,
    USER,
    Block,
    finished,
    kept,
    kind_of,
    placeholder_or_drop,
    report_stateless,
    reported,
)
from interlingua.adapters.gemini_generate.tables import UNREADABLE, camelised, snaked
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------- from the wire


def blocks_from_parts(parts: list[Wire], place: str, reading: Reading) -> list[Block]:
    """The parts of one place, each as a block."""
    blocks: list[Block] = []
    for part in parts:
        if len(part) == 1 and type(text := part.get("text")) is str and text:
            blocks.append({"type": "text", "text": text})
        else:
            blocks.append(block_from_part(part, place, reading))
    return blocks


def block_from_part(part: Wire, place: str, reading: Reading) -> Block:
    """One part of the wire. What is not shaped as the wire documents it stays whole, as an opaque block."""
    if len(part) == 1:
        if type(text := part.get("text")) is str:
            said: Block = {"type": "text", "text": text}
            return said if text else {**said, "provider_state": reading.state(encoding={"empty": place})}
        if (plain := _plain_part(part, place, reading)) is not None:
            return plain
    try:
        block = _known_part(part, place, reading)
    except UNREADABLE:
        block = None
    return _opaque_part(part, place, reading) if block is None else block


def _plain_part(part: Wire, place: str, reading: Reading) -> Block | None:
    """The calls and results that are shaped as nearly all are."""
    if place == MODEL and type(call := part.get("functionCall")) is dict and len(call) == 2:
        name, arguments = call.get("name"), call.get("args")
        if type(name) is str and name and type(arguments) is dict:
            return {"type": "tool_use", "id": reading.call(name, None), "name": name, "input": arguments}
    elif place == USER and type(answer := part.get("functionResponse")) is dict and len(answer) == 2:
        name, response = answer.get("name"), answer.get("response")
        if type(name) is str and type(response) is dict and len(response) == 1:
            text = response.get("result")
            if type(text) is str and (call_id := reading.plain_result(name)) is not None:
                return {"type": "tool_result", "tool_use_id": call_id, "content": [{"type": "text", "text": text}]}
    return None


def _opaque_part(part: Wire, place: str, reading: Reading) -> Block:
    """A part without canonical meaning, verbatim."""
    kind = kind_of(part)
    if place != MODEL or kind not in _MODEL_ITEMS:
        reading.unusual = True
    return {"type": "opaque", **reading.whose, "kind": kind, "value": part}


def _known_part(part: Wire, place: str, reading: Reading) -> Block | None:
    nulls: list[str] = []
    if None in part.values():
        # some clients write all members that a part can have
        nulls = [name for name in part if part[name] is None]
        part = {name: value for name, value in part.items() if value is not None}
    members, snake = camelised(part), snaked(part)
    named = [name for name in DATA if name in members]
    if len(named) > 1 or (not named and not (members.get("thought") is True and members.keys() <= SIBLINGS)):
        return None
    kind = named[0] if named else "text"
    fields: dict[str, Any] = {}
    encoding: dict[str, Any] = {} if named else {"absent": True}
    inner: Any = members.get(kind, "")
    if kind != "text":
        if type(inner) is not dict:
            return None
        if None in inner.values() and (
            silent := [name for name in inner if inner[name] is None and name not in _SPELT]
        ):
            nulls += [f"{kind}.{name}" for name in silent]
            inner = {name: value for name, value in inner.items() if name not in silent}
        snake += [f"{kind}.{name}" for name in snaked(inner)]
        inner = camelised(inner)
    signature = members.get("thoughtSignature")
    if signature is not None and type(signature) is not str:
        return None
    state: dict[str, Any] | None = None
    match kind:
        case "text" if type(inner) is not str:
            return None
        case "text" if members.get("thought") is True:
            block: Block = {"type": "thinking", "text": inner}
            state = reading.state()
            if signature is not None:
                block["signature"], signature = signature, None
            if place != MODEL:
                reading.unusual = True
            if not inner:
                encoding["empty"] = place
        case "text":
            block = {"type": "text", "text": inner}
            if not inner:
                encoding["empty"] = place
        case "inlineData":
            block = inline_from_wire(inner, fields, encoding, place, reading)
        case "fileData":
            block = file_from_wire(inner, fields, place, reading)
        case "functionCall":
            if place != MODEL:
                return None
            block, state = call_from_wire(inner, fields, encoding, reading)
        case _:
            if place != USER:
                return None
            block, state = result_from_wire(inner, _parts_of_result(inner, reading), fields, encoding, reading)
    for name, value in members.items():
        if name == kind or (name == "thoughtSignature" and value is not None):
            continue
        if name == "thought" and value is False:
            encoding["thought"] = False
        elif name == "mediaResolution" and block["type"] == "image" and (detail := detail_from_wire(value)) is not None:
            block["detail"] = detail
        elif not (name == "thought" and block["type"] == "thinking"):
            fields[name] = value
    if snake:
        encoding["snake"] = snake
    if nulls:
        encoding["null"] = nulls
    if "odd" in encoding:  # known by what the block is in the end
        encoding["odd"] = imprint(block, place)
    return kept(block, signature, fields, encoding, state, reading)


_SPELT: Final = frozenset(("args", "response", "name", "parts"))
"""Members of calls and results whose null has a spelling of its own."""


def _parts_of_result(inner: Any, reading: Reading) -> list[Block]:
    """The media of a result. Raises `TypeError` for what is not shaped as documented."""
    found: list[Block] = []
    parts = inner.get("parts")
    for part in parts if type(parts) is list else ():
        if type(part) is not dict:
            raise TypeError("parts")
        block = block_from_part(part, RESULT, reading)
        found.append(_opaque_part(part, RESULT, reading) if block["type"] in ("text", "thinking") else block)
    return found


# ---------------------------------------------------------------------------------------------- to the wire

TEXT_MEMBERS: Final = BLOCK_MEMBERS | {"text", "citations", "refusal"}
_OPAQUE: Final = BLOCK_MEMBERS | {"adapter", "provider", "origin", "kind", "value"}


def parts_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """The blocks of one place on the wire; those that it cannot carry are reported."""
    parts: list[Wire] = []
    for position, block in enumerate(blocks):
        kind: str = block["type"]
        if kind == "text" and len(block) == 2 and block["text"]:
            parts.append({"text": block["text"]})
        elif kind == "tool_use" and len(block) == 4 and place == MODEL:
            parts.append(plain_call_to_wire(block, writing, (*path, position)))
        elif (part := part_to_wire(block, place, writing, (*path, position))) is not None:
            parts.append(part)
    return parts


_BLOCKS: Final = frozenset((*MEDIA, "tool_use", "tool_result", "thinking", "redacted_thinking", "opaque"))


def part_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """One block on the wire; None when this place cannot carry it, which is reported."""
    kind: str = block["type"]
    match kind:
        case "text":
            return _text_to_wire(block, place, writing, path)
        case "image" | "audio" | "video" | "document" if place != SYSTEM or writing.has_quirk(block, place):
            return medium_to_wire(block, place, writing, path)
        case "tool_use" if place == MODEL:
            return call_to_wire(block, writing, path)
        case "thinking" if place == MODEL or writing.has_quirk(block, place):
            return _thinking_to_wire(block, place, writing, path)
        case "redacted_thinking" if place == MODEL:
            return _foreign_thinking(block, writing, path)
        case "opaque" if place != SYSTEM or writing.has_quirk(block, place):
            return _opaque_to_wire(block, place, writing, path)
        case "tool_use" | "tool_result" if place != RESULT:
            message = f"a {kind} does not stand in a message of this role"
            raise InvalidRequest(message, path=pointer(path))
        case _ if kind in _BLOCKS:
            return placeholder_or_drop(block, writing, path, "unsupported_block", f"{kind} has no form in this place")
        case _:
            return placeholder_or_drop(block, writing, path, "unknown_block", "a block that this version does not know")


# ------------------------------------------------------------------------------------------ text and reasoning


def _text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    text: str = block["text"]
    if not text and not _came_empty(block, place, writing):
        _report_empty(writing, path)
        return None
    report_text_extras(block, writing, path)
    return finished(block, {"text": text}, "text", TEXT_MEMBERS, writing, path)


def _came_empty(block: Block, place: str, writing: Writing) -> bool:
    """Whether an empty text carries a signature, which is the provider's own and goes back, or was read so in this place."""
    return (
        writing.whole
        or bool(writing.owned(block).get("signature"))
        or (writing.same_origin and writing.encoding_of(block).get("empty") == place)
    )


def _report_empty(writing: Writing, path: Path) -> None:
    writing.loss.drop(path, "empty_content", "representation", "the target takes no empty text")


def _foreign_thinking(block: Block, writing: Writing, path: Path) -> Wire | None:
    return placeholder_or_drop(
        block, writing, path, "foreign_state", "reasoning of another provider cannot be replayed"
    )


def report_text_extras(block: Block, writing: Writing, path: Path) -> None:
    """Reports what the wire has no place for beside a text."""
    if block.get("citations"):
        message = "citations have no form in requests"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    if block.get("refusal"):
        message = "the wire has no mark of refusal on text"
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", message)


def is_own_thinking(block: Block, writing: Writing) -> bool:
    """Whether reasoning came from here; a block that says no origin has that of its message."""
    state = block.get("provider_state")
    if state is not None:
        return writing.endpoint.owns(state)
    provider = (writing.message.get("metadata") or {}).get("provider")
    return provider is not None and provider == writing.endpoint.provider


def _thinking_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    text, signature = block["text"], block.get("signature")
    if not is_own_thinking(block, writing):
        if not signature and "provider_state" not in block:
            message = "reasoning is only taken back from where it came"
            return placeholder_or_drop(block, writing, path, "unsigned_thinking", message)
        return _foreign_thinking(block, writing, path)
    if not text and not signature and not _came_empty(block, place, writing):
        _report_empty(writing, path)
        return None
    part: Wire = {"text": text, "thought": True}
    if writing.encoding_of(block).get("absent") and not text:
        del part["text"]
    if signature or (signature == "" and writing.same_origin):
        part["thoughtSignature"] = signature
    elif writing.owned(block).get("signature"):
        message = "reasoning has its signature as a member"
        writing.loss.move(
            (*path, "provider_state", "signature"), (*path, "signature"), "combination", "representation", message
        )
    return finished(block, part, "text", THINKING_MEMBERS, writing, path)


# ------------------------------------------------------------------------------------------ items of the provider

_MODEL_ITEMS: Final = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
_PLACES: Final = {**dict.fromkeys((*_MODEL_ITEMS, "functionCall"), MODEL), "functionResponse": USER}
"""Where alone the provider takes an item."""


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if not writing.endpoint.owns(block):
        return placeholder_or_drop(
            block, writing, path, "foreign_state", "an item of another provider has no meaning here"
        )
    odd = writing.has_quirk(block, place)
    if not block["value"] and not odd:
        return placeholder_or_drop(block, writing, path, "empty_content", "the target takes no empty part")
    value: Wire = dict(block["value"])
    kind = kind_of(value)
    if not odd and _is_out_of_place(block, kind, place, writing):
        return placeholder_or_drop(block, writing, path, "unsupported_block", "the item has no form in this place")
    if kind != block.get("kind"):
        writing.loss.replace((*path, "kind"), kind, "name_rewritten", "representation", "the item itself says its kind")
    # the item is verbatim: what its block says beside it has no place in it
    reported(block, _OPAQUE, writing, path)
    report_stateless(block, "the item goes back verbatim", writing, path)
    return value


def _is_out_of_place(block: Block, kind: str, place: str, writing: Writing) -> bool:
    """Whether an item stands where the provider does not take it, or where it would be something else than an item."""
    if place != _PLACES.get(kind, place) or "odd" in writing.encoding_of(block):
        return True
    if place == RESULT and kind not in ("inlineData", "fileData"):
        return True
    if kind not in DATA:
        return False
    return block_from_part(block["value"], place, Reading(writing.endpoint, DERIVED_IDS))["type"] != "opaque"
