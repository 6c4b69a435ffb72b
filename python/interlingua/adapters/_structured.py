"""
Answers of a given form, for targets that cannot be told so in a member of their own.

Such a form is asked for by a call that is forced, of a tool with a reserved name whose arguments are the answer, or in
the instructions (spec/2-requests.md#structured-output). Both are fixed, so that a reader finds the form again; and a call
of the reserved name is read as the text that it stands for, by whoever reads the answer.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._kit import Wire, arguments_text, parse_arguments
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss

Request = dict[str, Any]
Response = dict[str, Any]
Event = dict[str, Any]
Block = dict[str, Any]
Entries = list[dict[str, Any]]
Writer = Callable[[Request, Endpoint], tuple[Wire, Entries]]

NAME: Final = "interlingua_answer"
"""The reserved name of the tool whose arguments are the answer."""

_PATH: Final = "/response_format"
_CODE: Final = "response_format"
_CALL_IT: Final = "Gives the answer. Its arguments are the answer, whole."
_FORM: Final = "structured"

_BEGIN: Final = "<response-format>\n"
_END: Final = "\n</response-format>"
_JSON: Final = "The answer is one JSON object and nothing else: no other words, no code fence."
_SCHEMA: Final = (
    "The answer is one JSON value that is valid against the JSON Schema below, and nothing else: no other words, no code"
    " fence.\n"
)
_MEANING: Final = "Its meaning: "
_INSTRUCTIONS: Final = frozenset(("system", "developer"))

# ---------------------------------------------------------------------------------------------- asking


def written(request: Request, endpoint: Endpoint, write: Writer) -> tuple[Wire, Entries]:
    """Writes a request that has a `response_format`: as the wire has it, else by a forced call, else in the instructions.

    `write` is how the wire writes requests. What it does not enforce is reported as `weakened`, never lost.
    """
    wanted: dict[str, Any] = request["response_format"] or {}
    if wanted.get("type", "text") == "text":
        return write(request, endpoint)
    kept = _as_it_came(request, wanted, endpoint)
    if kept is not None:
        return write(kept, endpoint)
    wire, entries = write(request, endpoint)
    refused = [entry for entry in entries if entry["path"] == _PATH]
    if not refused:
        return wire, entries
    if _can_be_called(request, wanted, endpoint):
        wire, entries = write(_with_tool(request, _tool(wanted), _CHOSEN), endpoint)
        if _is_forced(entries):
            seen = _of_tool(_tool(wanted))
            return wire, [*_report(wanted, seen, "the answer is asked for as a forced call"), *_moved(entries)]
    beside = refused[0].get("value")  # what the target has in its stead: JSON without the schema
    text = _prompt(wanted)
    wire, entries = write(_with_text(request, text, beside), endpoint)
    return wire, [*_report(wanted, _of_text(text) or {}, "the form of the answer stands in the instructions"), *entries]


def _report(wanted: dict[str, Any], seen: dict[str, Any], message: str) -> Entries:
    """What becomes of the form: what a reader finds of it, and that nothing enforces it."""
    loss = Loss()
    for name, value in wanted.items():
        if name in seen or value is None:
            continue
        if name == "strict":
            if value:
                loss.drop(("response_format", name), _CODE, "weakened", "the target does not enforce the form")
        elif name in _MEMBERS:
            message_text = f"the form has no {name} here"
            loss.drop(("response_format", name), "unsupported_field", "shape", message_text)
        else:
            loss.drop(("response_format", name), "unknown_field", "lost", "a member that this version does not know")
    loss.replace(("response_format",), seen, _CODE, "weakened", message)
    return loss.entries


_MEMBERS: Final = frozenset(("name", "description", "schema"))


def _as_it_came(request: Request, wanted: dict[str, Any], endpoint: Endpoint) -> Request | None:
    """The request as this wire had it, when the form was read there from a call or a text and still is the same."""
    state = request.get("provider_state")
    if state is None or not endpoint.owns(state):
        return None
    form: dict[str, Any] | None = (state.get("form") or {}).get(_FORM)
    if form is None:
        return None
    if "text" not in form:
        tool: dict[str, Any] = {**form["tool"], "input_schema": wanted.get("schema")}
        fits = not _has_tools(request) and _of_tool(tool) == wanted
        return _with_tool(request, tool, form["choice"]) if fits else None
    text = _prompt(wanted)
    return _with_text(request, text, form.get("beside")) if _of_text(text) == wanted else None


# -- as a call


_CHOICE: Final[dict[str, Any]] = {"type": "tool", "name": NAME}
_CHOSEN: Final[dict[str, Any]] = {"tool_choice": _CHOICE, "parallel_tool_calls": False}
_TOOLS: Final = ("tools", "tool_choice", "parallel_tool_calls")


def _has_tools(request: Request) -> bool:
    return any(request.get(name) not in (None, []) for name in _TOOLS)


def _can_be_called(request: Request, wanted: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a call can stand for the answer: it is an object, and the caller leaves tools and their choice alone."""
    schema = wanted.get("schema")
    if wanted["type"] != "json_schema" or schema is None or _has_tools(request):
        return False
    kind = schema.get("type")
    if kind != "object" and (kind is not None or "properties" not in schema):
        return False
    return endpoint.capabilities.get("supports_tools") is not False


def _tool(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"name": NAME, "description": wanted.get("description") or _CALL_IT, "input_schema": wanted["schema"]}


def _of_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """The form that a tool of the reserved name asks for."""
    description = tool.get("description")
    wanted: dict[str, Any] = {"type": "json_schema", "schema": tool["input_schema"]}
    if description is not None and description != _CALL_IT:
        wanted["description"] = description
    return wanted


def _with_tool(request: Request, tool: dict[str, Any], choice: dict[str, Any]) -> Request:
    asked = {name: value for name, value in request.items() if name != "response_format" and name not in _TOOLS}
    asked["tools"] = [tool]
    asked.update(choice)
    return asked


def _is_forced(entries: Entries) -> bool:
    """Whether the call is really forced, with the whole schema, and nothing of the request had to give way to it."""
    for entry in entries:
        path: str = entry["path"]
        if path.startswith("/tools/0/input_schema"):
            if entry["severity"] != "shape":
                return False
        elif path.startswith(("/tools", "/tool_choice")) or (
            path.startswith("/reasoning") and entry["code"] == "combination"
        ):
            return False
    return True


def _moved(entries: Entries) -> Entries:
    """The entries with the pointers of the request as written: what happened to the tool happened to the form."""
    moved: Entries = []
    for entry in entries:
        path: str = entry["path"]
        if path.startswith("/tools/0/input_schema"):
            moved.append({**entry, "path": f"{_PATH}/schema{path.removeprefix('/tools/0/input_schema')}"})
        elif path != "/parallel_tool_calls":
            moved.append(entry)
    return moved


# -- in the instructions


def _prompt(wanted: dict[str, Any]) -> str:
    """The form of an answer as a text of instructions."""
    schema = wanted.get("schema") if wanted["type"] == "json_schema" else None
    if schema is None:
        return f"{_BEGIN}{_JSON}{_END}"
    description: str = wanted.get("description") or ""
    meaning = f"{_MEANING}{arguments_text(description)}\n" if description else ""
    return f"{_BEGIN}{_SCHEMA}{meaning}{arguments_text(schema)}{_END}"


def _of_text(text: str) -> dict[str, Any] | None:
    """The form that a text asks for; None for a text that was not written so."""
    inner = text.removeprefix(_BEGIN).removesuffix(_END)
    if inner == _JSON:
        return {"type": "json"}
    lines = inner.removeprefix(_SCHEMA).split("\n")
    schema = parse_arguments(lines[-1])
    if schema is None:
        return None
    wanted: dict[str, Any] = {"type": "json_schema", "schema": schema}
    if len(lines) == 2 and lines[0].startswith(_MEANING):
        described = parse_arguments(f'{{"it":{lines[0].removeprefix(_MEANING)}}}')
        if described is None or type(described.get("it")) is not str:
            return None
        wanted["description"] = described["it"]
    return wanted if _prompt(wanted) == text else None


def _with_text(request: Request, text: str, beside: dict[str, Any] | None) -> Request:
    """The request with a text at the end of its instructions."""
    asked = {name: value for name, value in request.items() if name != "response_format"}
    if beside is not None:
        asked["response_format"] = beside
    position = _last_instructions(request["messages"])
    if position is not None:
        messages: list[Any] = list(request["messages"])
        message = messages[position]
        messages[position] = {**message, "content": _ending(message["content"], text)}
        asked["messages"] = messages
    else:
        system: list[Block] = request.get("system") or []
        ends = bool(system) and _says(system[-1])
        asked["system"] = _ending(system, text) if ends else [*system, {"type": "text", "text": text}]
    return asked


def _last_instructions(messages: list[Any]) -> int | None:
    """The last of the instructions before all other messages, when it ends in a text and something is said behind it."""
    count = 0
    while count < len(messages) and messages[count]["role"] in _INSTRUCTIONS:
        count += 1
    if count == 0 or count == len(messages):
        return None
    content = messages[count - 1]["content"]
    return count - 1 if content and _says(content[-1]) else None


def _says(block: Block) -> bool:
    return block["type"] == "text" and bool(block["text"]) and not block["text"].isspace()


def _ending(content: list[Block], text: str) -> list[Block]:
    last = content[-1]
    return [*content[:-1], {**last, "text": f"{last['text']}\n\n{text}"}]


# ---------------------------------------------------------------------------------------------- finding it again


def recognised(request: Request) -> Request:
    """A request that was read, with the form of answer that it asks for by a call or in its instructions."""
    choice = request.get("tool_choice")
    if choice is not None and choice.get("name") == NAME:
        _recognise_tool(request)
    else:
        messages = request["messages"]
        if messages and messages[0]["role"] in _INSTRUCTIONS:
            _recognise_text(request, messages)
    return request


def _recognise_tool(request: Request) -> None:
    tools: list[Any] = request.get("tools") or []
    if len(tools) != 1 or request["tool_choice"] != _CHOICE or "response_format" in request:
        return
    tool = tools[0]
    if tool["name"] != NAME or type(tool.get("input_schema")) is not dict or tool.get("strict"):
        return
    state = tool.get("provider_state") or {}
    if not tool.keys() <= _TOOL or "fields" in state or "signature" in state:
        return
    choice = {name: request[name] for name in ("tool_choice", "parallel_tool_calls") if name in request}
    said = {name: value for name, value in tool.items() if name != "input_schema"}
    for name in _TOOLS:
        request.pop(name, None)
    request["response_format"] = _of_tool(tool)
    _note(request, {"tool": said, "choice": choice})


_TOOL: Final = frozenset(("name", "description", "input_schema", "strict", "provider_state"))


def _note(request: Request, form: dict[str, Any]) -> None:
    state = request["provider_state"]
    state["form"] = {**(state.get("form") or {}), _FORM: form}


def _recognise_text(request: Request, messages: list[Any]) -> None:
    count = 1
    while count < len(messages) and messages[count]["role"] in _INSTRUCTIONS:
        count += 1
    last = messages[count - 1]["content"]
    if not last or count == len(messages):
        return
    block = last[-1]
    text: str = block["text"] if block["type"] == "text" else ""
    beside: dict[str, Any] | None = request.get("response_format")
    if not text.endswith(_END) or beside not in (None, {"type": "json"}):
        return
    before, begin, asked = text.rpartition(_BEGIN)
    wanted = _of_text(begin + asked) if begin else None
    if wanted is None or wanted == beside:
        return
    if before:
        if not before.endswith("\n\n") or before.isspace():
            return
        told = {**messages[count - 1], "content": [*last[:-1], {**block, "text": before[:-2]}]}
        messages[count - 1] = told
    elif count == 1 and len(last) == 1 and not _is_spelt(messages[0]) and not _is_spelt(block):
        del messages[0]
    else:
        return
    request["response_format"] = wanted
    _note(request, {"text": True} if beside is None else {"text": True, "beside": beside})


def _is_spelt(item: Mapping[str, Any]) -> bool:
    """Whether an item holds more than a writer would give it."""
    state = item.get("provider_state") or {}
    return bool(state.get("form") or state.get("fields") or item.get("cache") or item.get("name")) or (
        item.get("role") == "developer"
    )


# ---------------------------------------------------------------------------------------------- answers

_TEXT_WORDS: Final = {"tool_use": "end_turn", "tool_calls": "stop", "function_call": "stop"}
"""How an answer that ends in calls would have ended in text, in the words of the wires that have two words for it."""


def answered(response: Response, texts: Mapping[str, str] | None = None) -> Response:
    """An answer that was read, with calls of the reserved name as the texts that they stand for.

    `texts` are the texts as they were streamed, by the ids of the calls.
    """
    _answer(response, texts or {})
    for other in response.get("alternatives") or ():
        _answer(other, texts or {})
    return response


def _answer(choice: dict[str, Any], texts: Mapping[str, str]) -> None:
    content: list[Block] = choice["message"]["content"]
    told = False
    for block in content:
        if block["type"] == "tool_use" and block["name"] == NAME:
            told = True
    if not told:
        return
    told_content = [
        text_of(block, texts.get(block["id"])) if block["type"] == "tool_use" and block["name"] == NAME else block
        for block in content
    ]
    choice["message"] = {**choice["message"], "content": told_content}
    if choice.get("finish_reason") == "tool_calls" and not any(block["type"] == "tool_use" for block in told_content):
        choice["finish_reason"] = "stop"
        raw = choice.get("finish_reason_raw")
        if raw in _TEXT_WORDS:
            choice["finish_reason_raw"] = _TEXT_WORDS[raw]


def text_of(call: Block, text: str | None = None) -> Block:
    """The text that a call of the reserved name stands for; it keeps the id that the call had."""
    state = call.get("provider_state") or {}
    if text is None:
        text = call.get("input_raw")
    if text is None:
        spelt = (state.get("form") or {}).get("arguments")
        text = spelt if type(spelt) is str else arguments_text(call["input"])
    block: Block = {"type": "text", "text": text}
    if "id" in state:
        kept = {name: state[name] for name in ("adapter", "provider", "origin", "id") if name in state}
        block["provider_state"] = {**kept, "form": {"answer": True}}
    return block


class Told:
    """A stream that is read: once a call of the reserved name begins, it is told as the text that it stands for.

    Events need not be shown to it while it has not `begun`, unless several come at once: a call begins with two.
    """

    __slots__ = ("_pieces", "_places", "begun")

    def __init__(self) -> None:
        self.begun = False
        self._places: dict[tuple[int, int], list[str]] = {}
        self._pieces: dict[str, list[str]] = {}  # the same, by the ids of the calls

    def events(self, events: list[Event]) -> list[Event]:
        """The events, with those of such calls as events of texts."""
        if not self.begun:
            for event in events:
                if event["type"] == "tool_use_start" and event["name"] == NAME:
                    self.begun = True
            if not self.begun:
                return events
        told: list[Event] = []
        for event in events:
            kind: str = event["type"]
            if kind == "message_complete" or kind == "error":
                told.append(self._ended(event))
            elif kind == "block_start" and event["block"]["type"] == "tool_use" and event["block"]["name"] == NAME:
                self._places[_place(event)] = self._pieces[event["block"]["id"]] = []
                told.append({**event, "block": text_of(event["block"], "")})
            elif "index" in event and (pieces := self._places.get(_place(event))) is not None:
                self._of_call(event, pieces, told)
            else:
                told.append(event)
        return told

    def _of_call(self, event: Event, pieces: list[str], told: list[Event]) -> None:
        match event["type"]:
            case "tool_use_input_delta":
                pieces.append(event["text"])
                told.append({**_without(event, "id"), "type": "text_delta"})
            case "block_stop":
                text = text_of(event["block"], "".join(pieces) if pieces else None)
                if not pieces and text["text"]:  # a call that came whole
                    pieces.append(text["text"])
                    told.append({**_without(event, "block"), "type": "text_delta", "text": text["text"]})
                told.append({**event, "block": text})
            case _:
                pass  # the start and the end of a call; a text has none

    def _ended(self, event: Event) -> Event:
        response = event.get("response")
        texts = {identity: "".join(pieces) for identity, pieces in self._pieces.items() if pieces}
        return event if response is None else {**event, "response": answered({**response}, texts)}


def _without(event: Event, *names: str) -> Event:
    return {name: value for name, value in event.items() if name not in names}


def _place(event: Event) -> tuple[int, int]:
    choice: int = event.get("choice") or 0
    index: int = event["index"]
    return choice, index
