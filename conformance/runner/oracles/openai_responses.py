"""OpenAI Responses: by which written rules the provider refuses a request.

Sources: the published reference, its types, and what recorded traffic adds: explicit null passes where a member is optional,
the type of a message may be missing, unknown kinds of items and parts are not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import Violation
from .openai_chat import strict_violations

TOP_LEVEL = frozenset(
    "access_programs background context_management conversation image include input instructions max_output_tokens "
    "max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key "
    "prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options "
    "temperature text tool_choice tools top_logprobs top_p truncation user".split()
)
ELSEWHERE = ("previous_response_id", "conversation", "prompt")
ROLES = ("user", "assistant", "system", "developer")
INPUT_PARTS = ("input_text", "input_image", "input_file")
OUTPUT_PARTS = ("output_text", "refusal")
# Words of this and of other wires; a part of a type that nobody knows yet is not judged.
KNOWN_PARTS = frozenset(
    "input_text input_image input_file output_text refusal text image_url input_audio file image audio video document "
    "thinking redacted_thinking tool_use tool_result opaque".split()
)
NOT_HERE = frozenset("text tool_use tool_result thinking redacted_thinking opaque image document audio video".split())
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
IMAGE = re.compile(r"https?://\S+|data:image/.*", re.IGNORECASE | re.DOTALL)
FILE_ID = re.compile(r"[^\s/:]+")
PREFIXES = {"reasoning": "rs_", "function_call": "fc_", "custom_tool_call": "ctc_", "message": "msg_"}


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = wire["body"]
    if body.get("model") is None and body.get("prompt") is None:
        yield "/body/model", "is required"
    for name in body:
        if name not in TOP_LEVEL and not name.startswith("x_"):
            yield f"/body/{name}", "is not a member of this wire (400 Unknown parameter)"
    if body.get("previous_response_id") is not None and body.get("conversation") is not None:
        yield "/body/previous_response_id", "does not go with conversation"
    yield from _limits(body)
    yield from _tools(body)
    yield from _text(body.get("text"))
    yield from _word(body)
    if not isinstance(body.get("instructions"), (str, type(None))):
        yield "/body/instructions", "is a text"
    elsewhere = any(body.get(name) is not None for name in ELSEWHERE)
    items = body.get("input")
    if isinstance(items, str):
        return
    if not isinstance(items, list) or not items:
        if not elsewhere:
            yield "/body/input", "at least one item is required"
        return
    for index, item in enumerate(items):
        yield from _item(item, f"/body/input/{index}")
    yield from _pairs(items, elsewhere)
    yield from _reasoning(items)
    if sum("prompt_cache_breakpoint" in part for item in items for part in _parts(item)) > 4:
        yield "/body/input", "more than four cache marks"


def _limits(body: dict[str, Any]) -> Iterator[Violation]:
    for name, lowest, highest in (("temperature", 0, 2), ("top_p", 0, 1), ("top_logprobs", 0, 20)):
        value = body.get(name)
        if value is not None and not lowest <= value <= highest:
            yield f"/body/{name}", f"is outside of {lowest} to {highest}"
    if body.get("max_output_tokens") is not None and body["max_output_tokens"] < 16:
        yield "/body/max_output_tokens", "is at least 16"
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        if len(metadata) > 16:
            yield "/body/metadata", "has more than 16 pairs"
        for key, value in metadata.items():
            if len(key) > 64 or not isinstance(value, str) or len(value) > 512:
                yield f"/body/metadata/{key}", "is a text of up to 512 characters under a name of up to 64"
    reasoning = body.get("reasoning")
    if isinstance(reasoning, dict):
        if reasoning.get("effort") not in (None, "none", "minimal", "low", "medium", "high", "xhigh", "max"):
            yield "/body/reasoning/effort", "is no effort of this wire"
        if reasoning.get("summary") not in (None, "auto", "concise", "detailed"):
            yield "/body/reasoning/summary", "is auto, concise or detailed"


def _tools(body: dict[str, Any]) -> Iterator[Violation]:
    tools = body.get("tools") or []
    for index, tool in enumerate(tools):
        at = f"/body/tools/{index}"
        match tool.get("type"):
            case "function":
                if not isinstance(tool.get("name"), str) or not NAME.fullmatch(tool["name"]):
                    yield (
                        f"{at}/name",
                        f"does not match {NAME.pattern}; the members of a function are flat on this wire",
                    )
                    continue
                parameters = tool.get("parameters")
                if parameters is not None and not isinstance(parameters, dict):
                    yield f"{at}/parameters", "is a JSON Schema"
                elif tool.get("strict") is True and parameters is not None:
                    yield from strict_violations(parameters, f"{at}/parameters", root=True)
            case "custom":
                if not NAME.fullmatch(str(tool.get("name", ""))):
                    yield f"{at}/name", f"does not match {NAME.pattern}"
            case None:
                yield f"{at}/type", "is required"
            case "web_search_20250305" | "code_execution" | "text_editor_20250728" | "bash_20250124":
                yield f"{at}/type", "is no tool of this wire"
    yield from _tool_choice(body.get("tool_choice"), tools)


def _tool_choice(choice: Any, tools: list[Any]) -> Iterator[Violation]:
    if choice is None:
        return
    if isinstance(choice, str):
        if choice not in ("none", "auto", "required"):
            yield "/body/tool_choice", "is none, auto, required or an object"
        elif choice == "required" and not tools:
            yield "/body/tool_choice", "there are no tools"
        return
    kind = choice.get("type")
    named = {(tool.get("type"), tool.get("name")) for tool in tools}
    if kind in ("function", "custom"):
        if (kind, choice.get("name")) not in named:
            yield "/body/tool_choice/name", "names no tool of the request; the name is flat on this wire"
    elif kind == "allowed_tools":
        if choice.get("mode") not in ("auto", "required"):
            yield "/body/tool_choice/mode", "is auto or required"
        for index, tool in enumerate(choice.get("tools") or []):
            if tool.get("type") in ("function", "custom") and (tool["type"], tool.get("name")) not in named:
                yield f"/body/tool_choice/tools/{index}", "names no tool of the request"
    elif not isinstance(kind, str):
        yield "/body/tool_choice/type", "is required"


def _word(body: dict[str, Any]) -> Iterator[Violation]:
    """JSON mode demands the word JSON in the input; instructions do not count, and what is stored cannot be looked at."""
    text = body.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    stored = any(body.get(name) for name in ("previous_response_id", "conversation", "prompt"))
    if isinstance(form, dict) and form.get("type") == "json_object" and not stored:
        if "json" not in str(body.get("input")).lower():
            yield "/body/input", "holds the word JSON where the answer is to be JSON"


def _text(text: Any) -> Iterator[Violation]:
    if not isinstance(text, dict):
        return
    if text.get("verbosity") not in (None, "low", "medium", "high"):
        yield "/body/text/verbosity", "is low, medium or high"
    form = text.get("format")
    if not isinstance(form, dict):
        return
    match form.get("type"):
        case "json_schema":
            if not NAME.fullmatch(str(form.get("name", ""))):
                yield "/body/text/format/name", f"does not match {NAME.pattern}"
            if not isinstance(form.get("schema"), dict):
                yield "/body/text/format/schema", "is required"
            elif form.get("strict") is True:
                yield from strict_violations(form["schema"], "/body/text/format/schema", root=True)
        case "text" | "json_object":
            return
        case _:
            yield "/body/text/format/type", "is text, json_object or json_schema"


# --- items ------------------------------------------------------------------------------------------------------------------


def _parts(item: Any) -> list[dict[str, Any]]:
    for member in ("content", "output"):
        parts = item.get(member)
        if isinstance(parts, list):
            return [part for part in parts if isinstance(part, dict)]
    return []


def _is_message(item: dict[str, Any]) -> bool:
    return item.get("type") == "message" or ("type" not in item and "role" in item)


def _item(item: dict[str, Any], at: str) -> Iterator[Violation]:
    kind = "message" if _is_message(item) else item.get("type")
    if kind is None:
        yield f"{at}/type", "is required"
        return
    prefix = PREFIXES.get(kind)
    if prefix and isinstance(item.get("id"), str) and not item["id"].startswith(prefix):
        yield f"{at}/id", f"does not begin with {prefix}"
    match kind:
        case "message":
            yield from _message(item, at)
        case "function_call" | "custom_tool_call":
            yield from _call_id(item, at)
            if not NAME.fullmatch(str(item.get("name", ""))):
                yield f"{at}/name", f"does not match {NAME.pattern}"
            member = "arguments" if kind == "function_call" else "input"
            if not isinstance(item.get(member), str):
                yield f"{at}/{member}", "is a text"
        case "function_call_output" | "custom_tool_call_output":
            yield from _call_id(item, at)
            if not isinstance(item.get("output"), str):
                yield from _content(item.get("output"), INPUT_PARTS, f"{at}/output")
        case "reasoning":
            if not isinstance(item.get("summary"), list):
                yield f"{at}/summary", "is required"
            if item.get("id") is None and item.get("encrypted_content") is None:
                yield at, "reasoning needs an id or its encrypted content"
        case _ if kind in NOT_HERE:
            yield f"{at}/type", "is no item of this wire"


def _call_id(item: dict[str, Any], at: str) -> Iterator[Violation]:
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not 0 < len(call_id) <= 64:
        yield f"{at}/call_id", "is a text of 1 to 64 characters"


def _message(item: dict[str, Any], at: str) -> Iterator[Violation]:
    role = item.get("role")
    if role not in ROLES:
        yield f"{at}/role", f"is one of {', '.join(ROLES)}"
        return
    for name in ("tool_calls", "tool_call_id", "name", "refusal"):
        if name in item:
            yield f"{at}/{name}", "is not a member of this wire (400 Unknown parameter)"
    content = item.get("content")
    if isinstance(content, str):
        return
    yield from _content(content, OUTPUT_PARTS if role == "assistant" else INPUT_PARTS, f"{at}/content")


def _content(parts: Any, allowed: tuple[str, ...], at: str) -> Iterator[Violation]:
    if not isinstance(parts, list) or not parts:
        yield at, "is a text or a list of parts that is not empty"
        return
    for number, part in enumerate(parts):
        here = f"{at}/{number}"
        if not isinstance(part, dict):
            yield here, "is an object"
        elif part.get("type") in KNOWN_PARTS and part["type"] not in allowed:
            yield here, f"{part['type']} does not stand here"
        else:
            yield from _part(part, here)


def _part(part: dict[str, Any], at: str) -> Iterator[Violation]:
    match part.get("type"):
        case "input_text" | "output_text" if not isinstance(part.get("text"), str):
            yield f"{at}/text", "is a text"
        case "refusal" if not isinstance(part.get("refusal"), str):
            yield f"{at}/refusal", "is a text"
        case "input_image":
            url, file_id = part.get("image_url"), part.get("file_id")
            if (url is None) == (file_id is None):
                yield at, "an image has an address or a file id"
            elif url is not None and not (isinstance(url, str) and IMAGE.fullmatch(url)):
                yield f"{at}/image_url", "is a web address or a data URI of an image"
            elif file_id is not None and not FILE_ID.fullmatch(str(file_id)):
                yield f"{at}/file_id", "is the id of a file and no address"
        case "input_file":
            given = [name for name in ("file_id", "file_url", "file_data") if part.get(name) is not None]
            if len(given) != 1:
                yield at, "a file has one of file_id, file_url and file_data"
            elif given == ["file_data"]:
                if not str(part["file_data"]).startswith("data:"):
                    yield f"{at}/file_data", "is a data URI"
                if not part.get("filename"):
                    yield f"{at}/filename", "is required beside file_data"
            elif given == ["file_url"] and not ADDRESS.fullmatch(str(part["file_url"])):
                yield f"{at}/file_url", "is a web address"
            elif given == ["file_id"] and not FILE_ID.fullmatch(str(part["file_id"])):
                yield f"{at}/file_id", "is the id of a file and no address"


def _pairs(items: list[Any], elsewhere: bool) -> Iterator[Violation]:
    """Every call has one output after it, every output a call before it, wherever they stand."""
    asked: dict[str, str] = {}
    for index, item in enumerate(items):
        at, kind, call_id = f"/body/input/{index}", item.get("type"), item.get("call_id")
        if kind in ("function_call", "custom_tool_call"):
            asked[call_id] = at
        elif kind in ("function_call_output", "custom_tool_call_output"):
            known = asked.pop(call_id, None)
            others = any(other.get("call_id") == call_id for other in items[:index])
            if known is None and not elsewhere and not others:
                yield at, "no tool call found for this output"
    turn = max((n for n, item in enumerate(items) if _others_speak(item)), default=-1)
    for at in asked.values():
        if int(at.rsplit("/", 1)[1]) < turn and not elsewhere:
            yield at, "no tool output found for this call"


def _others_speak(item: dict[str, Any]) -> bool:
    if _is_message(item):
        return item.get("role") != "assistant"
    return item.get("type") in ("function_call_output", "custom_tool_call_output")


def _reasoning(items: list[Any]) -> Iterator[Violation]:
    """Reasoning stands before the item that it led to; with an id not before a message without one."""
    for index, item in enumerate(items):
        if item.get("type") != "reasoning":
            continue
        after = next((other for other in items[index + 1 :] if other.get("type") != "reasoning"), None)
        at = f"/body/input/{index}"
        if after is None or _others_speak(after):
            yield at, "reasoning without the item that follows it"
        elif item.get("id") is not None and _is_message(after) and after.get("id") is None:
            yield at, "reasoning with an id before a message without one"
