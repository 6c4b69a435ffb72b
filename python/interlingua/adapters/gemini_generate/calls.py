"""
Calls both ways, and what results say: the wire has one object where others have content
(spec/adapters/gemini_generate.md#calls).
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._free_text import call_as_arguments
from interlingua.adapters._kit import CALL_MEMBERS, Wire, arguments_text, is_only_named, parse_arguments
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.state import Block, finished, left_over
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire


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


# ---------------------------------------------------------------------------------------------- to the wire


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
