"""Cohere Chat v2: by which written rules the provider refuses a request.

Sources: the published reference with its list of error texts, the types of the official SDK, and what recorded traffic
adds: members that are null pass where they are optional, unknown members are tolerated, instructions may stand anywhere,
and an empty content may stand beside calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from . import Violation

PARTS = {
    "system": ("text",),
    "user": ("text", "image_url", "document"),
    "assistant": ("text", "thinking"),
    "tool": ("text", "document"),
}
# Words of this and of other wires; a part of a type that nobody knows yet is not judged.
KNOWN_PARTS = frozenset(
    "text image_url document thinking image audio video input_audio file refusal redacted_thinking tool_use tool_result "
    "opaque input_text input_image output_text".split()
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
IMAGE = re.compile(r"https?://\S+|data:image/(jpeg|png|webp|gif);base64,[A-Za-z0-9+/]+={0,2}")
RANGES = {
    "temperature": (0, 1),
    "p": (0.01, 0.99),
    "k": (0, 500),
    "frequency_penalty": (0, 1),
    "presence_penalty": (0, 1),
}
MOST_IMAGES, MOST_STOPS, MOST_STRICT_PROPERTIES = 20, 5, 200
NOT_ENFORCED = (
    "allOf",
    "oneOf",
    "not",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "uniqueItems",
)
FORMATS = ("date-time", "date", "time", "uuid")


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = wire["body"]
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "/body/model", "is required"
    yield from _settings(body)
    yield from _tools(body)
    yield from _form(body)
    yield from _documents(body.get("documents"))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "/body/messages", "at least one message is required"
        return
    for index, message in enumerate(messages):
        yield from _message(message, f"/body/messages/{index}")
    yield from _pairs(messages)
    images = [part for message in messages for part in _parts(message) if part.get("type") == "image_url"]
    if len(images) > MOST_IMAGES:
        yield "/body/messages", f"at most {MOST_IMAGES} images"


# --- settings ---------------------------------------------------------------------------------------------------------------


def _settings(body: dict[str, Any]) -> Iterator[Violation]:
    for name in ("stream", "logprobs", "strict_tools"):
        if not isinstance(body.get(name), bool | None):
            yield f"/body/{name}", "is true or false"
    for name, (least, most) in RANGES.items():
        value = body.get(name)
        if value is not None and not (_is_number(value) and least <= float(value) <= most):
            yield f"/body/{name}", f"is between {least} and {most}"
    for name, least, most in (("max_tokens", 1, None), ("seed", 0, 2**64 - 1), ("priority", 0, 999)):
        value = body.get(name)
        if value is not None and not (_is_integer(value) and least <= value and (most is None or value <= most)):
            yield f"/body/{name}", f"is a whole number from {least} on"
    stops = body.get("stop_sequences")
    if stops is not None and not (isinstance(stops, list) and all(isinstance(text, str) and text for text in stops)):
        yield "/body/stop_sequences", "is a list of texts that are not empty"
    elif len(stops or ()) > MOST_STOPS:
        yield "/body/stop_sequences", f"holds at most {MOST_STOPS} texts"
    if body.get("safety_mode") not in (None, "CONTEXTUAL", "STRICT", "OFF"):
        yield "/body/safety_mode", "is CONTEXTUAL, STRICT or OFF"
    thinking = body.get("thinking")
    if thinking:
        if thinking.get("type") not in ("enabled", "disabled"):
            yield "/body/thinking/type", "is enabled or disabled"
        budget = thinking.get("token_budget")
        if budget is not None and not (_is_integer(budget) and budget > 0):
            yield "/body/thinking/token_budget", "is positive"


def _tools(body: dict[str, Any]) -> Iterator[Violation]:
    tools = body.get("tools") or []
    choice = body.get("tool_choice")
    if choice not in (None, "REQUIRED", "NONE"):
        yield "/body/tool_choice", "is REQUIRED or NONE"
    if choice == "REQUIRED" and not tools:
        yield "/body/tool_choice", "needs tools"
    names = []
    for index, tool in enumerate(tools):
        at = f"/body/tools/{index}"
        if tool.get("type") != "function":
            yield f"{at}/type", "is function"
            continue
        function = tool.get("function") or {}
        name = function.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            yield f"{at}/function/name", "holds letters, digits and _, and does not begin with a digit"
        if name in names:
            yield f"{at}/function/name", "is there twice"
        names.append(name)
        if not isinstance(function.get("description"), str | None):
            yield f"{at}/function/description", "is a text"
        if not isinstance(function.get("parameters"), dict):
            yield f"{at}/function/parameters", "is a schema"
        elif body.get("strict_tools") and not function["parameters"].get("required"):
            yield f"{at}/function/parameters", "needs a required parameter where tools are strict"
    properties = sum(len(_properties(tool)) for tool in tools)
    if body.get("strict_tools") and properties > MOST_STRICT_PROPERTIES:
        yield "/body/tools", f"at most {MOST_STRICT_PROPERTIES} parameters where tools are strict"


def _properties(tool: dict[str, Any]) -> dict[str, Any]:
    found = ((tool.get("function") or {}).get("parameters") or {}).get("properties")
    return found if isinstance(found, dict) else {}


def _form(body: dict[str, Any]) -> Iterator[Violation]:
    form = body.get("response_format")
    if not form:
        return
    if form.get("type") not in ("text", "json_object"):
        yield "/body/response_format/type", "is text or json_object"
    if form.get("type") != "json_object":
        return
    for name in ("tools", "documents"):
        if body.get(name):
            yield "/body/response_format", f"is not taken beside {name}"
    for name in ("json_schema", "schema"):
        schema = form.get(name)
        if schema is None:
            continue
        if not isinstance(schema, dict) or schema.get("type") != "object":
            yield f"/body/response_format/{name}", "is the schema of an object"
        else:
            yield from _schema(schema, f"/body/response_format/{name}")


def _schema(schema: Any, at: str) -> Iterator[Violation]:
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and not schema.get("required"):
        yield at, "every object needs a required member"
    for word in NOT_ENFORCED:
        if word in schema:
            yield f"{at}/{word}", "is no keyword of a form"
    if isinstance(schema.get("format"), str) and schema["format"] not in FORMATS:
        yield f"{at}/format", f"is one of {', '.join(FORMATS)}"
    properties = schema.get("properties")
    for name, part in (properties if isinstance(properties, dict) else {}).items():
        yield from _schema(part, f"{at}/properties/{name}")
    yield from _schema(schema.get("items"), f"{at}/items")
    for index, part in enumerate(schema.get("anyOf") or ()):
        yield from _schema(part, f"{at}/anyOf/{index}")


def _documents(documents: Any) -> Iterator[Violation]:
    ids = []
    for index, document in enumerate(documents or ()):
        at = f"/body/documents/{index}"
        yield from _document(document, at)
        if isinstance(document, dict) and document.get("id") is not None:
            if document["id"] in ids:
                yield f"{at}/id", "is there twice"
            ids.append(document["id"])


def _document(document: Any, at: str) -> Iterator[Violation]:
    if isinstance(document, str):
        if not document:
            yield at, "cannot be empty"
        return
    if not isinstance(document, dict) or not isinstance(document.get("data"), str | dict) or not document["data"]:
        yield at, "is a text, or an object with data"
    elif not isinstance(document.get("id"), str | None):
        yield f"{at}/id", "is a text"


# --- messages ---------------------------------------------------------------------------------------------------------------


def _message(message: Any, at: str) -> Iterator[Violation]:
    role = message.get("role")
    if role not in PARTS:
        yield f"{at}/role", f"is one of {', '.join(PARTS)}"
        return
    content = message.get("content")
    if not isinstance(content, str | list | None):
        yield f"{at}/content", "is a text or a list of parts"
        return
    calls = message.get("tool_calls") or []
    if role == "assistant":
        for index, call in enumerate(calls):
            yield from _call(call, f"{at}/tool_calls/{index}")
        if not isinstance(message.get("tool_plan"), str | None):
            yield f"{at}/tool_plan", "is a text"
        if calls and _words(content):
            yield f"{at}/content", "text is not allowed where tool_calls are provided"
    elif calls or message.get("tool_plan"):
        yield f"{at}/tool_calls", "only an assistant calls"
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield f"{at}/tool_call_id", "must be provided with a tool message"
    if not calls and not content:
        yield f"{at}/content", "must not be empty"
    for index, part in enumerate(_parts(message)):
        here = f"{at}/content/{index}"
        kind = part.get("type")
        if kind in KNOWN_PARTS and kind not in PARTS[role]:
            yield f"{here}/type", f"is not taken of {role}"
        elif kind in KNOWN_PARTS:
            yield from _part(part, here, bool(calls))


def _words(content: Any) -> bool:
    if isinstance(content, str):
        return bool(content)
    return any(part.get("type") == "text" and part.get("text") for part in content or ())


def _part(part: dict[str, Any], at: str, beside_calls: bool) -> Iterator[Violation]:
    match part["type"]:
        case "text" | "thinking":
            words = part.get(part["type"])
            if not isinstance(words, str) or (not words and not beside_calls):
                yield f"{at}/{part['type']}", "is a text that is not empty"
        case "image_url":
            image = part.get("image_url") or {}
            if not isinstance(image.get("url"), str) or not IMAGE.fullmatch(image["url"]):
                yield f"{at}/image_url/url", "is a web address, or a data URI of a JPEG, PNG, WebP or GIF"
            if image.get("detail") not in (None, "auto", "low", "high"):
                yield f"{at}/image_url/detail", "is auto, low or high"
        case "document":
            document = part.get("document")
            yield from _document(document if isinstance(document, dict) else None, f"{at}/document")


def _call(call: Any, at: str) -> Iterator[Violation]:
    if not isinstance(call.get("id"), str) or not call["id"]:
        yield f"{at}/id", "is required"
    if call.get("type") != "function":
        yield f"{at}/type", "is function"
    function = call.get("function") or {}
    if not isinstance(function.get("name"), str) or not NAME.fullmatch(function["name"]):
        yield f"{at}/function/name", "holds letters, digits and _, and does not begin with a digit"
    arguments = function.get("arguments")
    if not isinstance(arguments, str | None):
        yield f"{at}/function/arguments", "is a text"
    elif arguments and not _is_object(arguments):
        yield f"{at}/function/arguments", "is the JSON of an object"


def _pairs(messages: list[Any]) -> Iterator[Violation]:
    open_calls: dict[str, str] = {}
    seen: set[str] = set()
    for index, message in enumerate(messages):
        at = f"/body/messages/{index}"
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield f"{at}/tool_call_id", "is not found in the calls before it"
            else:
                del open_calls[message["tool_call_id"]]
            continue
        yield from ((place, "has no result before the next turn") for place in open_calls.values())
        open_calls = {}
        for number, call in enumerate(message.get("tool_calls") or ()):
            if call.get("id") in seen:
                yield f"{at}/tool_calls/{number}/id", "is there twice"
            seen.add(call.get("id"))
            open_calls[call.get("id")] = f"{at}/tool_calls/{number}"
    yield from ((place, "has no result") for place in open_calls.values())


# --- shapes -----------------------------------------------------------------------------------------------------------------


def _parts(message: Any) -> list[dict[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool | str | list | dict)
