"""
Parts in both directions: a part of the wire is one block.

The output of a tool is one object on this wire, where other wires have content
(spec/adapters/gemini_generate.md#calls). Media of a result are placed after that object, or in the next user content.
"""

from typing import Any, Final

from interlingua.adapters._content.calls import arguments, call_id, read_call
from interlingua.adapters._content.media import KINDS
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, inside, read_item, same, tool_name, write_item
from interlingua.adapters._engine.kit import (
    NOTHING,
    UNREADABLE,
    Wire,
    arguments_text,
    is_only_named,
    keep,
    parse_arguments,
)
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import OF_TEXT, misplaced, native_item, no_place, report_rest
from interlingua.adapters.gemini_generate.context import (
    DATA,
    MODEL,
    NO_THOUGHT,
    RESULT,
    SIBLINGS,
    SIGNATURE,
    SYSTEM,
    USER,
    Block,
    Reading,
    Writing,
    kind_of,
    signature_from_wire,
)
from interlingua.adapters.gemini_generate.media import medium_from_wire, medium_to_wire
from interlingua.adapters.gemini_generate.tables import camelised
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------- calls and results, from the wire


def _read_response(raw: Any, item: Block, _: Any) -> None:
    item["response"] = raw


_NAME: Final = tool_name(
    lambda block, writing, path: writing.call(block, path, writing.state_of(block).get("id") or None)
)


def _write_id(block: Block, writing: Writing, _: Path) -> Any:
    return writing.state_of(block).get("id", ABSENT)


_CALL: Final = ItemRow(
    {},
    inside("functionCall", ItemRow({}, _NAME, arguments("args"), call_id(write=_write_id))),
    NO_THOUGHT,
    SIGNATURE,
    signed=True,
)
_RESULT: Final = ItemRow(
    {},
    inside(
        "functionResponse",
        ItemRow(
            {},
            same("name", "name", str),
            same("id", "id", str),
            Member(
                "response", ("response",), _read_response, lambda block, writing, path: block.get("response", ABSENT)
            ),
            same("parts", "parts", list, soft=True),
        ),
    ),
    NO_THOUGHT,
    SIGNATURE,
    elsewhere=("tool_use_id", "content", "is_error"),
    signed=True,
)


def _call_from_wire(part: Wire, reading: Reading) -> Block:
    """Read a `functionCall`. Raises `TypeError` or `KeyError` if it lacks the documented structure."""
    return read_call(_CALL, part, reading)


def _result_from_wire(part: Wire, reading: Reading) -> Block:
    """Read a `functionResponse`. Raises `TypeError` if it lacks the documented structure."""
    item = read_item(_RESULT, part, {}, reading)
    name, wire_id = item.get("name", ""), item.get("id")
    if "name" in part["functionResponse"] and "name" not in item:
        raise TypeError("name")
    encoding: dict[str, Any] = {}
    content, is_error = _unwrapped(item.get("response", ABSENT), encoding)
    if "parts" in item:
        content += _parts_of_result(item["parts"], reading)
        reading.must_compare = reading.must_compare or not item["parts"]
    canonical = reading.take_call(wire_id or None, name)
    if canonical not in reading.calls:
        encoding["name"] = name  # no call has this name
    if reading.calls.get(canonical) != (wire_id, name) or type(item.get("response")) is not dict:
        reading.must_compare = True
    result: Block = {"type": "tool_result", "tool_use_id": canonical, "content": content}
    if is_error:
        result["is_error"] = True
    if "provider_state" in item:
        result["provider_state"] = item["provider_state"]
    if wire_id is not None or encoding:
        state = result.setdefault("provider_state", reading.state())
        if wire_id is not None:
            state["id"] = wire_id
        keep(state, {}, encoding)
    return result


_WRAPPERS: Final = ("result", "output", "error")


def _unwrapped(response: Any, encoding: dict[str, Any]) -> tuple[list[Block], bool]:
    """Return the tool's output in the object that the wire requires, and whether the tool failed; keep the wrapping."""
    if response is ABSENT:  # null or absent
        return [], False
    if type(response) is not dict:  # the wire requires an object, but this is the tool's output
        return [{"type": "text", "text": _as_text(response)}], False
    if not response:
        return [], False
    key, value = next(iter(response.items()))
    if len(response) > 1 or key not in _WRAPPERS:
        encoding["response"] = "object"
        return [{"type": "text", "text": json.dumps(response).decode()}], False
    if key == "output":
        encoding["key"] = key
    if key == "error" and value == "":
        return [], True
    if type(value) is str:
        return [{"type": "text", "text": value}], key == "error"
    if _is_texts(value):
        return [{"type": "text", "text": text} for text in value], key == "error"
    encoding["response"] = "json"
    return [{"type": "text", "text": _as_text(value)}], key == "error"


def _as_text(value: Any) -> str:
    return value if type(value) is str else json.dumps(value).decode()


def _is_texts(value: Any) -> bool:
    return type(value) is list and len(value) > 1 and all(type(text) is str for text in value)


# ---------------------------------------------------------------------------------------------- calls and results, to the wire


def _call_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """Write a call as a part."""
    if len(block) == 4 or (len(block) == 5 and is_only_named(block, writing.endpoint)):  # most calls
        return {"functionCall": {"name": writing.call(block, path, None), "args": block["input"]}}
    return write_item(_CALL, block, writing, path)


def wrapped(texts: list[str], is_error: bool, encoding: dict[str, Any]) -> Wire:
    """Return the output of a tool as the object that the wire requires: the reverse of `_unwrapped`."""
    key = "error" if is_error else encoding.get("key", "result")
    if len(texts) == 1:
        match encoding.get("response"):
            case "object" if not is_error and (value := parse_arguments(texts[0])):
                if (len(value) > 1 or next(iter(value)) not in _WRAPPERS) and arguments_text(value) == texts[0]:
                    return value
            case "json" if (found := _json_value(texts[0])) is not ABSENT:
                return {key: found}
            case _:
                pass
        return {key: texts[0]}
    return {key: texts} if texts else {key: ""} if is_error else {}


def _json_value(text: str) -> Any:
    """Return the JSON value of a text, if `json.dumps` spells the value in the same way."""
    try:
        value = json.loads(text)
    except InvalidRequest:
        return ABSENT
    return ABSENT if type(value) is str or _is_texts(value) or json.dumps(value).decode() != text else value


# ---------------------------------------------------------------------------------------------- from the wire


def blocks_from_parts(parts: list[Wire], place: str, reading: Reading) -> list[Block]:
    """Read the parts of one place, each as a block."""
    blocks: list[Block] = []
    for part in parts:
        members = part
        if len(part) > 1 and part.get("thought") is False:  # many clients send it with every part that is no thought
            members = {name: value for name, value in part.items() if name != "thought"}
        if len(members) == 1 and type(text := members.get("text")) is str and text:
            block: Block = {"type": "text", "text": text}
        else:
            block = block_from_part(members, place, reading)
        if members is not part:
            if block["type"] == "opaque":
                block["value"] = part  # whole, as in a stream
            else:
                reading.silent[f"/parts/{len(blocks)}/thought"] = {"raw": False}
        blocks.append(block)
    return blocks


def block_from_part(part: Wire, place: str, reading: Reading) -> Block:
    """Read one part of the wire. A part without the documented structure is kept whole, as an opaque block."""
    if len(part) == 1:
        if type(text := part.get("text")) is str:
            reading.must_compare = reading.must_compare or not text
            return {"type": "text", "text": text}
        if (plain := _plain_part(part, place, reading)) is not None:
            return plain
    try:
        block = _known_part(part, place, reading)
    except UNREADABLE:
        block = None
    return _opaque_part(part, place, reading) if block is None else block


def is_call(part: Wire, writing: Writing) -> bool:
    """Whether a part of the model is read as a call."""
    return block_from_part(part, MODEL, writing.reader())["type"] == "tool_use"


def _plain_part(part: Wire, place: str, reading: Reading) -> Block | None:
    """Read a call or result that has the structure of nearly all; None for any other part."""
    if place == MODEL and type(call := part.get("functionCall")) is dict and len(call) == 2:
        name, arguments = call.get("name"), call.get("args")
        if type(name) is str and name and type(arguments) is dict:
            return {"type": "tool_use", "id": reading.call(None, name), "name": name, "input": arguments}
    elif place == USER and type(answer := part.get("functionResponse")) is dict and len(answer) == 2:
        name, response = answer.get("name"), answer.get("response")
        if type(name) is str and type(response) is dict and len(response) == 1:
            text = response.get("result")
            if type(text) is str and reading.open and reading.calls[reading.open[0]] == (None, name):
                call = reading.take_call(None, name)
                return {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": text}]}
    return None


def _opaque_part(part: Wire, place: str, reading: Reading) -> Block:
    """Return a part without canonical meaning, verbatim, as an opaque block."""
    kind = kind_of(part)
    if place != MODEL or kind not in _MODEL_ITEMS:
        reading.must_compare = True
    return reading.opaque(kind, part)


def _known_part(part: Wire, place: str, reading: Reading) -> Block | None:
    members = camelised(part)
    reading.must_compare = reading.must_compare or members is not part
    present = [
        name for name in members if members[name] is not None
    ]  # some clients write all members that a part can have
    named = [name for name in DATA if name in present]
    thought = members.get("thought") is True
    if len(named) > 1 or not (named or (thought and SIBLINGS.issuperset(present))):
        return None
    kind = named[0] if named else "text"
    inner: Any = members.get(kind)
    if type(inner) is dict and (plain := camelised(inner)) is not inner:
        reading.must_compare = True
        members = {**members, kind: plain}
    match kind:
        case "text":
            if thought:
                block = read_item(
                    _THINKING, members, {"type": "thinking", "text": "", "provider_state": reading.state()}, reading
                )
                reading.must_compare = reading.must_compare or place != MODEL
            else:
                block = read_item(_TEXT, members, {"type": "text"}, reading)
            reading.must_compare = reading.must_compare or not block["text"]
            return block
        case "inlineData" | "fileData":
            reading.must_compare = reading.must_compare or place == SYSTEM
            return medium_from_wire(members, kind, reading)
        case "functionCall" if place == MODEL:
            return _call_from_wire(members, reading)
        case "functionResponse" if place == USER:
            return _result_from_wire(members, reading)
        case _:
            return None


def _parts_of_result(parts: list[Any], reading: Reading) -> list[Block]:
    """Read the media of a result. Raises `TypeError` for a part without the documented structure."""
    found: list[Block] = []
    for part in parts:
        if type(part) is not dict:
            raise TypeError("parts")
        block = block_from_part(part, RESULT, reading)
        found.append(_opaque_part(part, RESULT, reading) if block["type"] in ("text", "thinking") else block)
    return found


# ---------------------------------------------------------------------------------------------- to the wire


def parts_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """Write the blocks of one place; report those that the place cannot contain."""
    return writing.parts(part_to_wire, blocks, place, path)


def part_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """Write one block; None if nothing of it is written. Raises `Refused` if this place cannot contain it."""
    match block["type"]:
        case "text":
            return _text_to_wire(block, writing, path)
        case "tool_use" if place == MODEL:
            return _call_to_wire(block, writing, path)
        case "image" | "audio" | "video" | "document" if place != SYSTEM:
            return medium_to_wire(block, place, writing, path)
        case "thinking" if place == MODEL and writing.is_native(block):
            return _thinking_to_wire(block, writing, path)
        case "thinking" if place == MODEL and not block.get("signature") and "provider_state" not in block:
            raise Refused("unsigned_thinking", "the provider accepts only its own reasoning")
        case "thinking" | "redacted_thinking" if place == MODEL:
            raise Refused("foreign_state", "reasoning of another provider cannot be replayed")
        case "opaque" if place != SYSTEM and writing.endpoint.owns(block):
            return _opaque_to_wire(block, place, writing, path)
        case "tool_use" | "tool_result" if place != RESULT:
            raise misplaced(block, path, writing)
        case _:
            raise no_place(block, writing)


# ---------------------------------------------------------------------------------------------- to the wire: text and reasoning


def _text_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if not block["text"] and not writing.state_of(block).get("signature"):  # the provider's own signature is restored
        _report_empty(writing, path)
        return None
    return write_item(_TEXT, block, writing, path)


def _report_empty(writing: Writing, path: Path) -> None:
    writing.loss.drop(path, "empty_content", "representation", "the target does not accept an empty text")


def _thinking_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if not block["text"] and not block.get("signature"):
        _report_empty(writing, path)
        return None
    return write_item(_THINKING, block, writing, path)


def _read_proof(raw: Any, block: Block, reading: Reading) -> None:
    if signature := signature_from_wire(raw, reading):
        block["signature"] = signature


_TEXT: Final = ItemRow({}, same("text", "text", str, needed=True), NO_THOUGHT, SIGNATURE, signed=True)
_THINKING: Final = ItemRow(
    {"thought": True},
    same("text", "text", str, always=True),
    Member(
        "thoughtSignature", ("signature",), _read_proof, lambda block, writing, path: block.get("signature") or ABSENT
    ),
)

# ---------------------------------------------------------------------------------------------- to the wire: items of the provider

_MODEL_ITEMS: Final = ("executableCode", "codeExecutionResult", "toolCall", "toolResponse")
_PLACES: Final = {**dict.fromkeys((*_MODEL_ITEMS, "functionCall"), MODEL), "functionResponse": USER}
"""The only place in which the provider takes an item."""


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    value: Wire = block["value"]
    kind = kind_of(value)
    if not value:
        raise Refused("empty_content", "the target does not accept an empty part")
    if place != _PLACES.get(kind, place) or (place == RESULT and kind not in ("inlineData", "fileData")):
        raise Refused("unsupported_block", "the item cannot be represented in this place")
    return native_item(block, kind, lambda part, reading: block_from_part(part, place, reading), writing, path)


def result_to_wire(block: Block, writing: Writing, path: Path) -> list[Wire]:
    """Write a tool result. Media that a result cannot contain are noted for the next user content."""
    content: list[Block] = block["content"]
    if len(block) == 3 and len(content) == 1 and len(first := content[0]) == 2 and first["type"] == "text":
        called, call_id = _answered(block, writing, NOTHING, path)
        answer: Wire = {"name": called, "response": {"result": first["text"]}}
        if call_id is not None:
            answer["id"] = call_id
        return [{"functionResponse": answer}]
    texts, media = _content_of_result(content, writing, path)
    encoding = writing.encoding_of(block)
    name, wire_id = _answered(block, writing, encoding, path)
    whole = {**block, "name": name, "response": wrapped(texts, bool(block.get("is_error")), encoding)}
    if wire_id is not None:
        whole["id"] = wire_id
    if media:
        whole["parts"] = media
    if block.get("is_error"):
        message = "the failure is written as the member error of the response"
        writing.loss.replace((*path, "is_error"), True, "envelope", "representation", message)
        if texts == [""]:
            empty = next(at for at, item in enumerate(content) if item["type"] == "text")
            message = "a failure without a text is an empty text on the wire"
            writing.loss.drop((*path, "content", empty), "empty_content", "representation", message)
    return [write_item(_RESULT, whole, writing, path)]


def _content_of_result(content: list[Block], writing: Writing, path: Path) -> tuple[list[str], list[Wire]]:
    """Return the texts of a result, and the media that it contains. Media before a text are moved behind the others;
    media that a result cannot contain are noted, and a text refers to them."""
    texts: list[str] = []
    media: list[Wire] = []
    moved: list[Wire] = []
    inside = writing.takes_media_in_results()
    last_text = max((at for at, item in enumerate(content) if _may_be_text(item, inside, writing)), default=-1)
    for position, item in enumerate(content):
        kind = item["type"]
        where = (*path, "content", position)
        if len(item) == 2 and kind == "text":
            texts.append(item["text"])
        elif (part := _part_of_result(item, writing, where)) is None:
            continue
        elif kind in KINDS and part.get("text") is None and not inside:
            texts.append(f"[{kind} {len(writing.outside) + 1}: see the next user message]")
            writing.outside.append((where, texts[-1], part))
        elif part.get("text") is not None and (kind != "opaque" or "text" not in item["value"]):
            texts.append(part["text"])
        elif position < last_text:
            writing.media_moves.append((where, (*path, "content", "-")))
            moved.append(part)
        else:
            media.append(part)
    return texts, media + moved


def _answered(block: Block, writing: Writing, encoding: dict[str, Any], path: Path) -> tuple[str, str | None]:
    """Return the wire name and id of a result's call; for a result that was read without a call, its own."""
    call = writing.calls.get(block["tool_use_id"])
    if call is None:
        if "name" not in encoding:
            message = "no call before this result has its id"
            raise ResultWithoutCall(message, path=pointer((*path, "tool_use_id")))
        return encoding["name"], writing.state_of(block).get("id")
    return call


def _may_be_text(item: Block, inside: bool, writing: Writing) -> bool:
    """Whether a block of a result may be written as part of its text."""
    kind = item["type"]
    return kind == "text" or writing.loss.placeholders or (kind in KINDS and not inside)


def _part_of_result(item: Block, writing: Writing, path: Path) -> Wire | None:
    """Write a block of a result as a part; inside a result, texts have no other members."""
    if item["type"] != "text":
        return writing.or_placeholder(part_to_wire, item, RESULT, path)
    report_rest(item, OF_TEXT, writing, path)
    return {"text": item["text"]}
