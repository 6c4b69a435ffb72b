"""Ollama's native chat: by which written rules the server refuses a request.

Sources: the documentation and the published types of the server's API. The server decodes the body into typed
structures, so a member of a wrong type is a 400, unknown members are ignored, and a member may be null wherever it may
be absent. There are no rules about turns: the model's template decides what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import Violation

ROLES = ("system", "user", "assistant", "tool")
LEVELS = ("low", "medium", "high", "max")
INTEGERS = "num_ctx num_batch num_gpu main_gpu num_thread num_keep seed num_predict top_k repeat_last_n draft_num_predict".split()
DECIMALS = "top_p min_p typical_p temperature repeat_penalty presence_penalty frequency_penalty".split()
BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
DURATION = re.compile(r"[-+]?(0|([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|ms|s|m|h))+")
MOST_LOGPROBS = 20


def rules(wire: dict[str, Any]) -> Iterator[Violation]:
    """All broken rules, each with the JSON Pointer of the place in the wire request."""
    body = wire["body"]
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "/body/model", "is required"
    yield from _members(body)
    yield from _options(body.get("options"))
    for index, tool in enumerate(_list(body.get("tools"))):
        yield from _tool(tool, f"/body/tools/{index}")
    if not isinstance(body.get("messages"), list | None):
        yield "/body/messages", "is a list"
    for index, message in enumerate(_list(body.get("messages"))):
        yield from _message(message, f"/body/messages/{index}")


def _members(body: dict[str, Any]) -> Iterator[Violation]:
    for name in ("stream", "logprobs", "truncate", "shift"):
        if not isinstance(body.get(name), bool | None):
            yield f"/body/{name}", "is true or false"
    think = body.get("think")
    if not isinstance(think, bool | None) and think not in LEVELS:
        yield "/body/think", f"is true, false, {', '.join(LEVELS)}"
    form = body.get("format")
    if not isinstance(form, dict | None) and form not in ("", "json"):
        yield "/body/format", "is json or a JSON Schema"
    alternatives = body.get("top_logprobs")
    if alternatives is not None and (not _is_integer(alternatives) or not 0 <= alternatives <= MOST_LOGPROBS):
        yield "/body/top_logprobs", f"is between 0 and {MOST_LOGPROBS}"
    keep = body.get("keep_alive")
    if isinstance(keep, str) and not DURATION.fullmatch(keep):
        yield "/body/keep_alive", "is no duration"
    elif keep is not None and not isinstance(keep, str) and not _is_number(keep):
        yield "/body/keep_alive", "is a duration or a number of seconds"


def _options(options: Any) -> Iterator[Violation]:
    if options is None:
        return
    if not isinstance(options, dict):
        yield "/body/options", "is an object"
        return
    for name, value in options.items():
        if name in INTEGERS + DECIMALS and value is not None and not _is_number(value):
            yield f"/body/options/{name}", "is a number"
    stop = options.get("stop")
    if stop is not None and not (isinstance(stop, list) and all(isinstance(text, str) for text in stop)):
        yield "/body/options/stop", "is a list of texts"
    if not isinstance(options.get("use_mmap"), bool | None):
        yield "/body/options/use_mmap", "is true or false"


# --- tools ------------------------------------------------------------------------------------------------------------------


def _tool(tool: Any, at: str) -> Iterator[Violation]:
    if not isinstance(tool, dict) or not isinstance(tool.get("function"), dict):
        yield f"{at}/function", "is required"
        return
    function = tool["function"]
    yield from _typed(tool, at, type=str)
    yield from _typed(function, f"{at}/function", name=str, description=str, parameters=dict)
    if not function.get("name"):
        yield f"{at}/function/name", "is required"
    parameters = function.get("parameters")
    if isinstance(parameters, dict):
        here = f"{at}/function/parameters"
        yield from _typed(parameters, here, type=str, required=list, properties=dict)
        yield from _properties(parameters, here)


def _properties(schema: dict[str, Any], at: str) -> Iterator[Violation]:
    for text in _list(schema.get("required")):
        if not isinstance(text, str):
            yield f"{at}/required", "is a list of names"
    properties = schema.get("properties")
    for name, part in (properties if isinstance(properties, dict) else {}).items():
        yield from _property(part, f"{at}/properties/{name}")


def _property(part: Any, at: str) -> Iterator[Violation]:
    if not isinstance(part, dict):
        yield at, "is an object"
        return
    yield from _typed(part, at, description=str, enum=list, anyOf=list, properties=dict, required=list)
    kind = part.get("type")
    if not isinstance(kind, str | list | None) or not all(isinstance(word, str) for word in _list(kind)):
        yield f"{at}/type", "is a text or a list of texts"
    for number, option in enumerate(_list(part.get("anyOf"))):
        yield from _property(option, f"{at}/anyOf/{number}")
    yield from _properties(part, at)


# --- messages ---------------------------------------------------------------------------------------------------------------


def _message(message: Any, at: str) -> Iterator[Violation]:
    if not isinstance(message, dict):
        yield at, "is an object"
        return
    if str(message.get("role")).lower() not in ROLES:
        yield f"{at}/role", f"is one of {', '.join(ROLES)}"
    yield from _typed(
        message, at, content=str, thinking=str, images=list, tool_calls=list, tool_name=str, tool_call_id=str
    )
    for number, image in enumerate(_list(message.get("images"))):
        if not isinstance(image, str) or len(image) % 4 or not BASE64.fullmatch(image):
            yield f"{at}/images/{number}", "is bare base64"
    for number, call in enumerate(_list(message.get("tool_calls"))):
        yield from _call(call, f"{at}/tool_calls/{number}")


def _call(call: Any, at: str) -> Iterator[Violation]:
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        yield f"{at}/function", "is required"
        return
    yield from _typed(call, at, id=str)
    yield from _typed(call["function"], f"{at}/function", name=str, arguments=dict)
    if not call["function"].get("name"):
        yield f"{at}/function/name", "is required"
    index = call["function"].get("index")
    if index is not None and not _is_integer(index):
        yield f"{at}/function/index", "is an integer"


# --- shapes -----------------------------------------------------------------------------------------------------------------

WORDS = {str: "a text", list: "a list", dict: "an object"}


def _typed(item: dict[str, Any], at: str, **kinds: type) -> Iterator[Violation]:
    for name, kind in kinds.items():
        if item.get(name) is not None and not isinstance(item[name], kind):
            yield f"{at}/{name}", f"is {WORDS[kind]}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    # decimals beyond a float are read as text by the suite's own exact decoder
    return not isinstance(value, bool | str | list | dict)
