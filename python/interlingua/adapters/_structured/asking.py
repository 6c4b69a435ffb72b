"""
Request an answer of a given format: with the wire's own member, else with a forced call of the tool of the reserved
name, else in the instructions.
"""

from collections.abc import Callable, Container
from typing import Any, Final

from interlingua.adapters._engine.as_read import JSON_UNMENTIONED, AsRead
from interlingua.adapters._engine.kit import UNREADABLE, encoding_of
from interlingua.adapters._structured.finding import is_read_as
from interlingua.adapters._structured.form import (
    CHOICE,
    NOTE,
    TOOLS,
    as_text,
    as_tool,
    has_schema,
    instructions_follow,
    last_text,
    of_text,
    of_tool,
    place_of_end,
)
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss
from interlingua.canonical.types import WireRequest

Request = dict[str, Any]
Block = dict[str, Any]
Entries = list[Entry]
Writer = Callable[[Request, Endpoint], tuple[WireRequest, Entries]]

_PATH: Final = "/response_format"
_CODE: Final = "response_format"


def write_with_format(
    request: Request, endpoint: Endpoint, write: Writer, *, speaks_json: bool = False
) -> tuple[WireRequest, Entries]:
    """Write a request that has a `response_format`: with the wire's own member, else with a forced call, else in the
    instructions.

    `write` is the wire's writer of requests. What the target does not enforce is reported as `weakened`, never as lost.
    `speaks_json`: for JSON without a schema, the wire requires the word JSON in the prompt.
    """
    wanted: dict[str, Any] = request["response_format"] or {}
    if wanted.get("type", "text") == "text":
        return write(request, endpoint)
    restored = _by_the_way_it_came(request, wanted, endpoint, write)
    if restored is not None:
        return restored
    stated, (wire, entries) = _by_member(request, wanted, endpoint, write)
    if stated is wanted:
        if not speaks_json or has_schema(wanted) or _mentions_json(request, endpoint):
            return wire, entries
        stated = _JSON_WANTED  # the rest of the requested format is in the report
    called = _by_call(request, wanted, endpoint, write)
    if called is not None:
        return called
    if (of_text(as_text(wanted)) or {}) == stated and (not speaks_json or _mentions_json(request, endpoint)):
        return wire, entries  # the target has a member for everything that the text would state
    left_out = {str(entry["path"]) for entry in entries if entry["op"] == "drop"}
    return _by_instructions(request, wanted, stated, left_out, endpoint, write)


def _by_the_way_it_came(
    request: Request, wanted: dict[str, Any], endpoint: Endpoint, write: Writer
) -> tuple[WireRequest, Entries] | None:
    """Write a request that requested the format in its tools or its instructions when this wire read it, in the same
    way; None for any other request, or if that does not express it any more."""
    kept = _as_it_came(request, wanted, endpoint)
    if kept is None:
        return None
    asked, way, position = kept
    wire, entries = write(asked, endpoint)
    if way == _CALL:
        return (wire, _moved(entries)) if _is_forced(entries) else None
    if position < 0:
        return wire, _without_form(entries, way)
    if any(_is_about(entry, position) for entry in entries):  # other messages are next to it now
        return None
    entries = _without_form(entries, "")
    return wire, [_one_before(entry) for entry in entries] if way == _ALONE else entries


def _by_member(
    request: Request, wanted: dict[str, Any], endpoint: Endpoint, write: Writer
) -> tuple[dict[str, Any] | None, tuple[WireRequest, Entries]]:
    """Write the request with the wire's own member. Also return the part of the format that the member states:
    `wanted` itself, if it states all of it, and None if it states nothing."""
    form = _how_it_asked(request, endpoint)
    if form is not None and _is_unenforced(wanted, endpoint):
        # the request is of this wire, but did not use its member for the format: the model's known capability decides
        stated = _JSON_WANTED if form.get("beside") == _JSON_WANTED else None
        return stated, write(_asking(request, stated), endpoint)
    wire, entries = write(request, endpoint)
    for entry in entries:
        if entry["path"] == _PATH:
            return entry.get("value"), (wire, entries)
    return wanted, (wire, entries)


def _by_call(
    request: Request, wanted: dict[str, Any], endpoint: Endpoint, write: Writer
) -> tuple[WireRequest, Entries] | None:
    """Write the request with a forced call of the tool of the reserved name; None if that cannot represent the
    answer."""
    if not _can_be_called(request, wanted, endpoint):
        return None
    tool = as_tool(wanted)
    wire, entries = write(_with_tool(request, tool, _CHOSEN), endpoint)
    if not _is_forced(entries):
        return None
    report = _report(wanted, of_tool(tool), "the response format is requested as a forced call")
    return wire, [*report, *_moved(entries)]


def _by_instructions(
    request: Request,
    wanted: dict[str, Any],
    stated: dict[str, Any] | None,
    left_out: Container[str],
    endpoint: Endpoint,
    write: Writer,
) -> tuple[WireRequest, Entries]:
    """Write the request with the format in its instructions, next to the part that the wire's own member states.
    `left_out` are the pointers of the parts that are not written."""
    text = as_text(wanted)
    seen = of_text(text) or {}
    wire, entries = _in_instructions(request, text, stated, left_out, endpoint, write)
    entries = _without_form(entries, text)
    if not seen == stated == wanted:
        return wire, [*_report(wanted, seen, "the response format is stated in the instructions"), *entries]
    loss = Loss()
    why = "the target requires the word JSON in the prompt"
    loss.replace(("response_format",), seen, "required_default", "representation", why)
    return wire, [*loss.entries, *entries]


def _mentions_json(request: Request, endpoint: Endpoint) -> bool:
    """Whether the prompt contains the word JSON, or the same target received the request without it."""
    if AsRead(request, endpoint).same(JSON_UNMENTIONED, "response_format"):
        return True
    messages: list[Any] = request["messages"]
    return mentions_json([request.get("system") or [], *(message["content"] for message in messages)])


def mentions_json(contents: list[list[Block]]) -> bool:
    """Whether a text of these contents contains the word JSON."""
    return any("json" in block["text"].lower() for content in contents for block in content if block["type"] == "text")


def _report(wanted: dict[str, Any], seen: dict[str, Any], message: str) -> Entries:
    """Report the change of the format: the part that a reader recognises, and that nothing enforces it."""
    loss = Loss()
    for name, value in wanted.items():
        if name in seen or value is None:
            continue
        if name == "strict":
            if value:
                loss.drop(
                    ("response_format", name), _CODE, "weakened", "the target does not enforce the response format"
                )
        elif name in _MEMBERS:
            message_text = f"the response format has no {name} here"
            loss.drop(("response_format", name), "unsupported_field", "representation", message_text)
        else:
            loss.drop(("response_format", name), "unknown_field", "lost", "a member that this version does not know")
    loss.replace(("response_format",), seen, _CODE, "weakened", message)
    return loss.entries


_MEMBERS: Final = frozenset(("name", "description", "schema"))


_JSON_WANTED: Final[dict[str, Any]] = {"type": "json"}


def _is_unenforced(wanted: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether the model is known not to enforce formats with a schema."""
    return wanted["type"] == "json_schema" and endpoint.capabilities.get("supports_structured_output") is False


def _how_it_asked(request: Request, endpoint: Endpoint) -> dict[str, Any] | None:
    """Return how the request, when this wire read it, requested the format in its tools or its instructions; None if
    it did not."""
    form = encoding_of(request, endpoint).get(NOTE)
    return form if type(form) is dict else None


def _as_it_came(request: Request, wanted: dict[str, Any], endpoint: Endpoint) -> tuple[Request, str, int] | None:
    """Return the request as it was when this wire read it, the way in which it requested the format, and the position
    of the message that did so, or -1 if that is the usual place. None if it did not request one so, or if the format
    was changed."""
    form = _how_it_asked(request, endpoint)
    if form is None:
        return None
    try:
        if "tool" in form:
            tool = {**form["tool"], "input_schema": wanted.get("schema")}
            asked = _with_tool(request, tool, form["choice"])
            return (asked, _CALL, -1) if not _has_tools(request) and is_read_as(asked, request) else None
        text = as_text(wanted)
        if of_text(text) != wanted:
            return None
        asked = _asking(request, form.get("beside"))
        asked["messages"], position = _where_it_stood(request["messages"], text, form)
        # a text in its own message precedes all instructions: instructions that are in `system` now would precede it
        if position >= 0 and not ("message" in form and request.get("system")) and is_read_as(asked, request):
            return asked, _ALONE if "message" in form else text, position
        return _with_text(request, text, form.get("beside"), *place_of_end(request["messages"])), text, -1
    except UNREADABLE:
        return None  # a kept spelling that a caller damaged is no error: the format is requested again


_CALL: Final = "call"
_ALONE: Final = "alone"


def _where_it_stood(messages: list[Any], text: str, form: dict[str, Any]) -> tuple[list[Any], int]:
    """Return the messages with a text in the unusual place where it was read, and the position of its message; -1 and
    the unchanged messages if it was in the usual place."""
    if "message" in form:
        message: dict[str, Any] = form["message"]
        return [{**message, "content": [{**message["content"][0], "text": text}]}, *messages], 0
    if "at" not in form:
        return messages, -1
    position: int = form["at"][0]
    index: int = form["at"][1]
    content: list[Block] = messages[position]["content"]
    if "block" not in form:
        return _with_content(messages, position, _ending(content, index, text)), position
    block = {**form["block"], "type": "text", "text": text}
    return _with_content(messages, position, [*content[:index], block, *content[index:]]), position


# -- as a call


_CHOSEN: Final[dict[str, Any]] = {"tool_choice": CHOICE, "parallel_tool_calls": False}


def _has_tools(request: Request) -> bool:
    return any(request.get(name) not in (None, []) for name in TOOLS)


def _can_be_called(request: Request, wanted: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a call can represent the answer: the answer is an object, it has no prefill, and the request uses
    neither tools nor a tool choice."""
    schema = wanted.get("schema")
    messages: list[Any] = request["messages"]
    begun = bool(messages) and messages[-1]["role"] == "assistant"
    if wanted["type"] != "json_schema" or schema is None or begun or _has_tools(request):
        return False
    kind = schema.get("type")
    if kind != "object" and (kind is not None or "properties" not in schema):
        return False
    return endpoint.capabilities.get("supports_tools") is not False


def _with_tool(request: Request, tool: dict[str, Any], choice: dict[str, Any]) -> Request:
    asked = {name: value for name, value in request.items() if name != "response_format" and name not in TOOLS}
    asked["tools"] = [tool]
    asked.update(choice)
    return asked


def _is_forced(entries: Entries) -> bool:
    """Whether the call is really forced, with the whole schema, and no part of the request was dropped for it."""
    for entry in entries:
        path: str = entry["path"]
        if path.startswith("/tools/0/input_schema"):
            if entry["severity"] != "representation":
                return False
        elif path.startswith(("/tools", "/tool_choice")) or (
            path.startswith("/reasoning") and entry["code"] == "combination"
        ):
            return False
    return True


def _moved(entries: Entries) -> Entries:
    """Return the entries with pointers into the caller's request: a loss of the tool is a loss of the format."""
    moved: Entries = []
    for entry in entries:
        path: str = entry["path"]
        if path.startswith("/tools/0/input_schema"):
            moved.append({**entry, "path": f"{_PATH}/schema{path.removeprefix('/tools/0/input_schema')}"})
        elif path != "/parallel_tool_calls":
            moved.append(entry)
    return moved


# -- in the instructions


def _in_instructions(
    request: Request,
    text: str,
    stated: dict[str, Any] | None,
    left_out: Container[str],
    endpoint: Endpoint,
    write: Writer,
) -> tuple[WireRequest, Entries]:
    """Write the request with a text at the end of its instructions. Instructions that are written in a user turn,
    because they were read there, are skipped.

    `left_out` are the pointers of the parts that are not written.
    """
    messages: list[Any] = request["messages"]
    if not request.get("system") and instructions_follow(messages, left_out):
        return write(_with_text(request, text, stated, -1, -1), endpoint)
    before: int | None = None
    while True:
        position, index = place_of_end(messages, before)
        wire, entries = write(_with_text(request, text, stated, position, index), endpoint)
        if position < 0 or not any(entry["code"] == "marker" and _is_about(entry, position) for entry in entries):
            return wire, entries
        before = position


def _with_text(request: Request, text: str, stated: dict[str, Any] | None, position: int, index: int) -> Request:
    """Return the request with a text after a text of its instructions. With position -1 the text is put at the end of
    `system`, or becomes `system`."""
    asked = _asking(request, stated)
    messages: list[Any] = request["messages"]
    system: list[Block] = request.get("system") or []
    if position >= 0:
        asked["messages"] = _with_content(messages, position, _ending(messages[position]["content"], index, text))
        return asked
    index = last_text(system)
    asked["system"] = _ending(system, index, text) if index >= 0 else [*system, {"type": "text", "text": text}]
    return asked


def _with_content(messages: list[Any], position: int, content: list[Block]) -> list[Any]:
    return [*messages[:position], {**messages[position], "content": content}, *messages[position + 1 :]]


def _ending(content: list[Block], index: int, text: str) -> list[Block]:
    """Return the blocks with a text after that of one of them."""
    block = {**content[index], "text": f"{content[index]['text']}\n\n{text}"}
    return [*content[:index], block, *content[index + 1 :]]


def _asking(request: Request, stated: dict[str, Any] | None) -> Request:
    asked = {name: value for name, value in request.items() if name != "response_format"}
    if stated is not None:
        asked["response_format"] = stated
    return asked


def _without_form(entries: Entries, text: str) -> Entries:
    """Return the entries without the text that was added to the instructions, because a reader removes it, and
    without the losses of the wire's own member for the format."""
    return [
        {**entry, "value": _without_text(entry["value"], f"\n\n{text}")} if text and "value" in entry else entry
        for entry in entries
        if entry["path"] != _PATH
    ]


def _without_text(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return value.removesuffix(text)
    if isinstance(value, list):
        return [_without_text(item, text) for item in value]
    if isinstance(value, dict):
        return {name: _without_text(item, text) for name, item in value.items()}
    return value


def _is_about(entry: Entry, position: int) -> bool:
    """Whether an entry is about a message."""
    return any(f"{entry.get(member)}/".startswith(f"/messages/{position}/") for member in ("path", "to"))


def _one_before(entry: Entry) -> Entry:
    """Return an entry about a request with an additional first message, with pointers into the request without that
    message."""
    moved = entry.copy()
    moved["path"] = _place_before(entry["path"])
    if "to" in entry:
        moved["to"] = _place_before(entry["to"])
    return moved


def _place_before(path: str) -> str:
    steps = path.split("/")
    if len(steps) > 2 and steps[1] == "messages" and steps[2].isdigit():
        steps[2] = str(int(steps[2]) - 1)
    return "/".join(steps)
