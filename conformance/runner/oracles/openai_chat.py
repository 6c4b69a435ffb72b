"""OpenAI Chat Completions: by which written rules the provider refuses a request.

Sources: the published reference, its types, and what recorded traffic adds: unknown members inside messages, calls and
functions are tolerated, unknown members at the top are not; explicit null passes where a member is optional.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import Violation

TOP_LEVEL = frozenset(
    "messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens "
    "metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options "
    "prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream "
    "stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options".split()
)
ROLES = ("developer", "system", "user", "assistant", "tool", "function")
PARTS = {
    "developer": ("text",),
    "system": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
# Words of this and of other wires; a part of a type that nobody knows yet is not judged.
KNOWN_PARTS = frozenset(
    "text image_url input_audio file refusal image audio video document thinking redacted_thinking tool_use tool_result opaque "
    "input_text input_image output_text".split()
)
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FILE_ID = re.compile(r"[^\s/:]+")
IMAGE = re.compile(r"https?://\S+|data:image/.*", re.IGNORECASE | re.DOTALL)
PARTICIPANT = re.compile(r"[^\s<|\\/>]+")
STRICT_FORBIDDEN = (
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "patternProperties",
)


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = wire["body"]
    if body.get("model") is None:
        yield "/body/model", "is required"
    for name in body:
        if name not in TOP_LEVEL and not name.startswith("x_"):
            yield f"/body/{name}", "is not a member of this wire (400 Unrecognized request argument)"
    yield from _limits(body)
    yield from _tools(body)
    yield from _format(body.get("response_format"))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "/body/messages", "at least one message is required"
        return
    for index, message in enumerate(messages):
        yield from _message(message, f"/body/messages/{index}")
    yield from _pairs(messages)
    marks = sum(len([part for part in _parts(message) if "prompt_cache_breakpoint" in part]) for message in messages)
    if marks > 4:
        yield "/body/messages", "more than four cache marks"


def _limits(body: dict[str, Any]) -> Iterator[Violation]:
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        yield "/body/max_tokens", "does not go with max_completion_tokens"
    for name in ("frequency_penalty", "presence_penalty"):
        value = body.get(name)
        if isinstance(value, int | float) and not -2 <= value <= 2:
            yield f"/body/{name}", "is between -2 and 2"
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and not 0 <= temperature <= 2:
        yield "/body/temperature", "is between 0 and 2"
    stop = body.get("stop")
    if isinstance(stop, list) and len(stop) > 4:
        yield "/body/stop", "holds at most four texts"
    if body.get("top_logprobs") is not None and body.get("logprobs") is not True:
        yield "/body/top_logprobs", "needs logprobs"
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield "/body/stream_options", "only goes with stream"
    if body.get("reasoning_effort") not in (None, "none", "minimal", "low", "medium", "high", "xhigh", "max"):
        yield "/body/reasoning_effort", "is none, minimal, low, medium, high, xhigh or max"
    if body.get("verbosity") not in (None, "low", "medium", "high"):
        yield "/body/verbosity", "is low, medium or high"
    yield from _metadata(body.get("metadata"))


def _metadata(metadata: Any) -> Iterator[Violation]:
    if not isinstance(metadata, dict):
        return
    if len(metadata) > 16:
        yield "/body/metadata", "holds at most 16 pairs"
    for name, value in metadata.items():
        if len(name) > 64 or not isinstance(value, str) or len(value) > 512:
            yield f"/body/metadata/{name}", "is a text of at most 512 characters under a key of at most 64"


def _tools(body: dict[str, Any]) -> Iterator[Violation]:
    tools = body.get("tools")
    if tools == []:
        yield "/body/tools", "an empty list is too short"
    if not tools:
        for name in ("tool_choice", "parallel_tool_calls"):
            if body.get(name) is not None:
                yield f"/body/{name}", "is only allowed when tools are given"
    for index, tool in enumerate(tools or []):
        at = f"/body/tools/{index}"
        match tool.get("type"):
            case "function":
                yield from _function(tool.get("function"), f"{at}/function")
            case "custom":
                if not NAME.fullmatch(str((tool.get("custom") or {}).get("name", ""))):
                    yield f"{at}/custom/name", f"does not match {NAME.pattern}"
            case None:
                yield f"{at}/type", "is required"
            case "web_search" | "web_search_20250305" | "code_execution" | "computer":
                yield f"{at}/type", "is no tool of this wire"
    yield from _tool_choice(body.get("tool_choice"), tools or [])


def _function(function: Any, at: str) -> Iterator[Violation]:
    if (
        not isinstance(function, dict)
        or not isinstance(function.get("name"), str)
        or not NAME.fullmatch(function["name"])
    ):
        yield f"{at}/name", f"does not match {NAME.pattern}"
        return
    parameters = function.get("parameters")
    if parameters is not None and not isinstance(parameters, dict):
        yield f"{at}/parameters", "is a JSON Schema"
    if function.get("strict") is True and isinstance(parameters, dict):
        yield from strict_violations(parameters, f"{at}/parameters", root=True)


def strict_violations(schema: Any, at: str, root: bool = False) -> Iterator[Violation]:
    """The dialect of schemas that the provider enforces."""
    if not isinstance(schema, dict):
        return
    if root and (schema.get("type") != "object" or "anyOf" in schema):
        yield at, "the root of a strict schema is an object"
    properties = schema.get("properties") or {}
    if schema.get("type") == "object" or properties:
        if schema.get("additionalProperties") is not False:
            yield f"{at}/additionalProperties", "must be false in a strict schema"
        if set(schema.get("required") or []) != set(properties):
            yield f"{at}/required", "must name every property in a strict schema"
    for word in STRICT_FORBIDDEN:
        if word in schema:
            yield f"{at}/{word}", "is not taken in a strict schema"
    for place in ("properties", "$defs"):
        for name, part in (schema.get(place) or {}).items():
            yield from strict_violations(part, f"{at}/{place}/{name}")
    for index, part in enumerate(schema.get("anyOf") or []):
        yield from strict_violations(part, f"{at}/anyOf/{index}")
    yield from strict_violations(schema.get("items"), f"{at}/items")


def _tool_choice(choice: Any, tools: list[Any]) -> Iterator[Violation]:
    if choice is None or not tools:
        return
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            yield "/body/tool_choice", "is none, auto, required or an object"
        return
    kind = choice.get("type")
    if kind in ("function", "custom"):
        name = (choice.get(kind) or {}).get("name")
        if not any((tool.get(kind) or {}).get("name") == name for tool in tools):
            yield f"/body/tool_choice/{kind}/name", "names no tool of the request"
    elif kind != "allowed_tools":
        yield "/body/tool_choice/type", "is function, custom or allowed_tools"


def _format(form: Any) -> Iterator[Violation]:
    if not isinstance(form, dict):
        return
    match form.get("type"):
        case "json_schema":
            given = form.get("json_schema")
            if not isinstance(given, dict) or not NAME.fullmatch(str(given.get("name", ""))):
                yield "/body/response_format/json_schema/name", f"does not match {NAME.pattern}"
            elif given.get("strict") is True:
                yield from strict_violations(given.get("schema"), "/body/response_format/json_schema/schema", root=True)
        case "text" | "json_object":
            return
        case _:
            yield "/body/response_format/type", "is text, json_object or json_schema"


# --- messages ---------------------------------------------------------------------------------------------------------------


def _parts(message: Any) -> list[dict[str, Any]]:
    content = message.get("content") if isinstance(message, dict) else None
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _message(message: Any, at: str) -> Iterator[Violation]:
    role = message.get("role")
    if role not in ROLES:
        yield f"{at}/role", f"is one of {', '.join(ROLES)}"
        return
    name = message.get("name")
    if isinstance(name, str) and role != "function" and not PARTICIPANT.fullmatch(name):
        yield f"{at}/name", f"does not match {PARTICIPANT.pattern}"
    content = message.get("content")
    if role == "assistant":
        yield from _assistant(message, at)
    elif content is None and role != "function":
        yield f"{at}/content", "is required"
    elif content == []:
        yield f"{at}/content", "an empty list is too short"
    for number, part in enumerate(_parts(message)):
        kind = part.get("type")
        if kind in KNOWN_PARTS and kind not in PARTS.get(role, ()):
            yield f"{at}/content/{number}", f"{kind} does not stand in a {role} message"
        else:
            yield from _part(part, f"{at}/content/{number}")
    if role == "tool" and not message.get("tool_call_id"):
        yield f"{at}/tool_call_id", "is required"


def _assistant(message: dict[str, Any], at: str) -> Iterator[Violation]:
    calls = message.get("tool_calls")
    if calls == []:
        yield f"{at}/tool_calls", "an empty list is too short"
    others = any(message.get(name) for name in ("tool_calls", "function_call", "audio", "refusal"))
    if not others and (message.get("content") is None or message.get("content") == []):
        yield at, "holds neither content nor calls"
    seen: set[str] = set()
    for number, call in enumerate(calls or []):
        here = f"{at}/tool_calls/{number}"
        call_id = call.get("id")
        if not isinstance(call_id, str) or not 0 < len(call_id) <= 40:
            yield f"{here}/id", "is a text of 1 to 40 characters"
        elif call_id in seen:
            yield f"{here}/id", "is there twice"
        else:
            seen.add(call_id)
        match call.get("type"):
            case "function":
                function = call.get("function") or {}
                if not NAME.fullmatch(str(function.get("name", ""))):
                    yield f"{here}/function/name", f"does not match {NAME.pattern}"
                if not isinstance(function.get("arguments"), str):
                    yield f"{here}/function/arguments", "is a text"
            case "custom":
                if not isinstance((call.get("custom") or {}).get("input"), str):
                    yield f"{here}/custom/input", "is a text"
            case _:
                yield f"{here}/type", "is function or custom"


def _part(part: dict[str, Any], at: str) -> Iterator[Violation]:
    match part.get("type"):
        case "text" if not isinstance(part.get("text"), str):
            yield f"{at}/text", "is a text"
        case "image_url":
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, dict) else image
            if not isinstance(url, str) or not IMAGE.fullmatch(url):
                yield f"{at}/image_url/url", "is a web address or a data URI of an image"
        case "input_audio":
            audio = part.get("input_audio") or {}
            if audio.get("format") not in ("wav", "mp3"):
                yield f"{at}/input_audio/format", "is wav or mp3"
            if str(audio.get("data", "data:")).startswith("data:"):
                yield f"{at}/input_audio/data", "is bare base64"
        case "file":
            file = part.get("file") or {}
            if not file.get("file_id") and not str(file.get("file_data", "")).startswith("data:"):
                yield f"{at}/file", "holds a file_id or a data URI"
            if file.get("file_id") and not FILE_ID.fullmatch(str(file["file_id"])):
                yield f"{at}/file/file_id", "is the id of a file and no address"


def _pairs(messages: list[Any]) -> Iterator[Violation]:
    """Calls are answered directly, one tool message each; no tool message without its call."""
    pending: dict[str, str] = {}
    for index, message in enumerate(messages):
        at = f"/body/messages/{index}"
        if message.get("role") == "tool":
            if pending.pop(message.get("tool_call_id"), None) is None:
                yield at, "answers no call of the assistant message before"
            continue
        if pending:
            yield next(iter(pending.values())), "is not answered before the next message"
        pending = {
            call["id"]: f"{at}/tool_calls/{number}"
            for number, call in enumerate(message.get("tool_calls") or [])
            if call.get("id")
        }
