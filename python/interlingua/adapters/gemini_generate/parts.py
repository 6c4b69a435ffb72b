"""
Parts both ways: a part of the wire is one block.

What a tool said is one object on the wire where others have content (spec/adapters/gemini_generate.md#calls). Media of a
result stand behind it, or in the next user content.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.adapters._free_text import call_as_arguments
from interlingua.adapters._kit import (
    BLOCK_MEMBERS,
    CALL_MEMBERS,
    NOTHING,
    RESULT_MEMBERS,
    THINKING_MEMBERS,
    Wire,
    arguments_text,
    is_only_named,
    parse_arguments,
)
from interlingua.adapters.gemini_generate.context import (
    DATA,
    MODEL,
    RESULT,
    SIBLINGS,
    SYSTEM,
    USER,
    Block,
    Reading,
    Writing,
    finished,
    kept,
    kind_of,
    left_over,
    placeholder_or_drop,
    report_stateless,
    reported,
)
from interlingua.adapters.gemini_generate.media import (
    MEDIA,
    detail_from_wire,
    file_from_wire,
    inline_from_wire,
    medium_to_wire,
)
from interlingua.adapters.gemini_generate.tables import UNREADABLE, camelised, snaked
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, ResultWithoutCall
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------- calls and results, from the wire


def call_from_wire(
    inner: Any, fields: dict[str, Any], encoding: dict[str, Any], reading: Reading
) -> tuple[Block, dict[str, Any] | None]:
    """A `functionCall`, and its state. Raises `TypeError` or `KeyError` for one that is not shaped as documented."""
    name, arguments, wire_id = inner["name"], inner.get("args"), inner.get("id")
    if type(name) is not str or not name or (wire_id is not None and type(wire_id) is not str):
        raise TypeError("functionCall")
    if arguments is None:
        encoding["args"] = "null" if "args" in inner else "absent"
        arguments = {}
    elif type(arguments) is not dict:
        raise TypeError("args")
    known = ("name", "args", "id") if wire_id is not None else ("name", "args")
    left_over(inner, known, "functionCall", fields)
    block = {"type": "tool_use", "id": reading.call(name, wire_id or None), "name": name, "input": arguments}
    return block, (reading.state(id=wire_id) if wire_id is not None else None)


def result_from_wire(
    inner: Any, media: list[Block], fields: dict[str, Any], encoding: dict[str, Any], reading: Reading
) -> tuple[Block, dict[str, Any] | None]:
    """A `functionResponse` whose own parts are `media`, and its state.

    Raises `TypeError` for one that is not shaped as documented.
    """
    name, wire_id = inner.get("name", ""), inner.get("id")
    if type(name) is not str or (wire_id is not None and type(wire_id) is not str):
        raise TypeError("functionResponse")
    content, is_error = _unwrapped(inner.get("response", _ABSENT), encoding)
    known = ("name", "response") if wire_id is None else ("name", "response", "id")
    if type(inner.get("parts")) is list:
        known = (*known, "parts")
        if not inner["parts"]:
            encoding["parts"] = True
        content += media
    left_over(inner, known, "functionResponse", fields)
    canonical, call_id, call_name = reading.result(name, wire_id or None)
    if call_name != name:
        encoding["name"] = name if "name" in inner else None
    state = None
    if wire_id != call_id:
        encoding["id"] = wire_id
    if wire_id is not None:
        state = reading.state(id=wire_id)
    result: Block = {"type": "tool_result", "tool_use_id": canonical, "content": content}
    if is_error:
        result["is_error"] = True
    return result, state


_ABSENT: Final = object()
_WRAPPERS: Final = ("result", "output", "error")


def _unwrapped(response: Any, encoding: dict[str, Any]) -> tuple[list[Block], bool]:
    """What a tool said, out of the object that the wire demands, and whether it failed."""
    if response is _ABSENT or response is None:
        encoding["response"] = "absent" if response is _ABSENT else "null"
        return [], False
    if type(response) is not dict:  # the wire wants an object, but this is what the tool said
        encoding["response"] = "text" if type(response) is str else "bare"
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


def plain_call_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A call that says no more than it must."""
    return {"functionCall": {"name": writing.call(block, path, None), "args": block["input"]}}


def call_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A call as a part."""
    if len(block) == 4 or (len(block) == 5 and is_only_named(block, writing.endpoint)):
        return plain_call_to_wire(block, writing, path)
    wire_id = writing.owned(block).get("id")
    call: Wire = {"name": writing.call(block, path, wire_id or None), "args": block["input"]}
    if wire_id is not None:
        call["id"] = wire_id
    if "input_raw" in block or block.get("kind", "function") != "function":
        _free_text_to_wire(block, call, writing, path)
    if not call["args"] and (missing := writing.encoding_of(block).get("args")):
        if missing == "null":
            call["args"] = None
        else:
            del call["args"]
    return finished(block, {"functionCall": call}, "functionCall", CALL_MEMBERS, writing, path)


def _free_text_to_wire(block: Block, call: Wire, writing: Writing, path: Path) -> None:
    """Arguments that are not an object: a free text travels as the one argument `input`."""
    if block.get("kind", "function") != "function":
        call["args"] = call_as_arguments(block.get("input_raw"), writing.loss, path)
    else:
        message = "the wire takes a JSON object as arguments"
        writing.loss.drop((*path, "input_raw"), "arguments_invalid", "lost", message)


def wrapped(texts: list[str], is_error: bool, encoding: Mapping[str, Any]) -> Wire:
    """What a tool said as the object that the wire demands: the reverse of `_unwrapped`."""
    key = "error" if is_error else encoding.get("key", "result")
    if len(texts) == 1:
        match encoding.get("response"):
            case "object" if not is_error and (value := parse_arguments(texts[0])):
                if (len(value) > 1 or next(iter(value)) not in _WRAPPERS) and arguments_text(value) == texts[0]:
                    return value
            case "json" if (found := _json_value(texts[0])) is not _ABSENT:
                return {key: found}
            case _:
                pass
        return {key: texts[0]}
    return {key: texts} if texts else {key: ""} if is_error else {}


def unwrapped(said: Wire, encoding: Mapping[str, Any]) -> Any:
    """What a tool said as it came, where that was no object."""
    match encoding.get("response"):
        case "absent" | "null" if not said:
            return None
        case "text" if type(said.get("result")) is str:
            return said["result"]
        case "bare" if type(said.get("result")) is str:
            value = _parsed(said["result"])
            return said if value in (_ABSENT, None) or type(value) in (str, dict) else value
        case _:
            return said


def _json_value(text: str) -> Any:
    value = _parsed(text)
    return _ABSENT if type(value) is str or _is_texts(value) else value


def _parsed(text: str) -> Any:
    """The JSON value that a text spells as it is spelt here."""
    try:
        value = json.loads(text)
    except InvalidRequest:
        return _ABSENT
    return value if json.dumps(value).decode() == text else _ABSENT


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


# ---------------------------------------------------------------------------------------------- to the wire: text and reasoning


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


# ---------------------------------------------------------------------------------------------- to the wire: items of the provider

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


def result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A tool result. Media that cannot stand in one are noted to travel in the next user content."""
    content: list[Block] = block["content"]
    if len(block) == 3 and len(content) == 1 and len(said := content[0]) == 2 and said["type"] == "text":
        called, call_id = _answered(block, writing, NOTHING, path)
        answer: Wire = {"name": called, "response": {"result": said["text"]}}
        if call_id is not None:
            answer["id"] = call_id
        return {"functionResponse": answer}
    texts: list[str] = []
    media: list[Wire] = []
    late: list[Wire] = []
    inside = writing.takes_media_in_results()
    last_text = max((at for at, item in enumerate(content) if _may_be_text(item, inside, writing)), default=-1)
    for position, item in enumerate(content):
        kind = item["type"]
        where = (*path, "content", position)
        if len(item) == 2 and kind == "text":
            texts.append(item["text"])
        elif (part := _said(item, writing, where)) is None:
            continue
        elif kind in MEDIA and part.get("text") is None and not inside:
            texts.append(f"[{kind} {len(writing.outside) + 1}: see the next user message]")
            writing.outside.append((where, texts[-1], part))
        elif part.get("text") is not None and (kind != "opaque" or "text" not in item["value"]):
            texts.append(part["text"])
        elif position < last_text:
            writing.moves.append((where, (*path, "content", "-")))
            late.append(part)
        else:
            media.append(part)
    encoding = writing.encoding_of(block)
    name, wire_id = _answered(block, writing, encoding, path)
    response: Wire = {"name": name, "response": wrapped(texts, bool(block.get("is_error")), encoding)}
    if wire_id is not None:
        response["id"] = wire_id
    if encoding and writing.same_origin:
        _spell(response, encoding, writing)
    if media or late or (encoding.get("parts") and writing.same_origin):
        response["parts"] = media + late
    if block.get("is_error"):
        message = "the failure travels as the member error of the response"
        writing.loss.replace((*path, "is_error"), True, "envelope", "representation", message)
        if texts == [""]:
            first = next(at for at, item in enumerate(content) if item["type"] == "text")
            message = "a failure without a text is the empty text on the wire"
            writing.loss.drop((*path, "content", first), "empty_content", "representation", message)
    return finished(block, {"functionResponse": response}, "functionResponse", RESULT_MEMBERS, writing, path)


def _answered(block: Block, writing: Writing, encoding: Mapping[str, Any], path: Path) -> tuple[str, str | None]:
    """The wire name and id of the call that a result answers. A result of none goes back only as it came."""
    call = writing.calls.get(block["tool_use_id"])
    if call is None and not (writing.paired and "name" in encoding):
        message = "the result answers no call before it"
        raise ResultWithoutCall(message, path=pointer((*path, "tool_use_id")))
    return call or ("", None)


def _may_be_text(item: Block, inside: bool, writing: Writing) -> bool:
    """Whether a block of a result is said in its text."""
    kind = item["type"]
    return kind == "text" or writing.loss.placeholders or (kind in MEDIA and not inside)


def _said(item: Block, writing: Writing, path: Path) -> Wire | None:
    """A block of a result as a part; texts have no members of their own inside a result."""
    if item["type"] != "text":
        return part_to_wire(item, RESULT, writing, path)
    report_text_extras(item, writing, path)
    reported(item, TEXT_MEMBERS, writing, path)
    report_stateless(item, "a text of a result has no members of its own", writing, path)
    return {"text": item["text"]}


def _spell(response: Wire, encoding: Mapping[str, Any], writing: Writing) -> None:
    """Puts back what a result left out, and by what it named its call where that is still read as the same call."""
    for name in ("name", "id"):
        if name in encoding and writing.paired:
            if encoding[name] is None:
                response.pop(name, None)
            else:
                response[name] = encoding[name]
    response["response"] = unwrapped(response["response"], encoding)
    if response["response"] is None and encoding["response"] == "absent":
        del response["response"]
