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


ANYWHERE: Final = "anywhere"
CONVERSATION: Final = "conversation"


def written(request: Request, endpoint: Endpoint, write: Writer, word: str = "") -> tuple[Wire, Entries]:
    """Writes a request that has a `response_format`: as the wire has it, else by a forced call, else in the instructions.

    `write` is how the wire writes requests. What it does not enforce is reported as `weakened`, never lost.
    `word` says where a wire that is asked for JSON without a schema demands the word JSON: `ANYWHERE`, or in the
    `CONVERSATION` behind the instructions.
    """
    wanted: dict[str, Any] = request["response_format"] or {}
    if wanted.get("type", "text") == "text":
        return write(request, endpoint)
    if (kept := _as_it_came(request, wanted, endpoint)) is not None:
        asked, way, position = kept
        wire, entries = write(asked, endpoint)
        if way == _CALL:
            if _is_forced(entries):
                return wire, _moved(entries)
        elif position < 0:
            return wire, [_untold(entry, way) for entry in entries]
        elif not any(_is_about(entry, position) for entry in entries):  # else it stands with others now
            return wire, [_one_before(entry) for entry in entries] if way == _ALONE else entries
    beside: dict[str, Any] | None = wanted
    if (form := _noted(request, endpoint)) is not None and _is_unenforced(wanted, endpoint):
        # the request is of this wire, but never asked the model so: what is known of the model counts
        beside = _JSON_WANTED if form.get("beside") == _JSON_WANTED else None
        wire, entries = write(_asking(request, beside), endpoint)
    else:
        wire, entries = write(request, endpoint)
        refused = [entry for entry in entries if entry["path"] == _PATH]
        if refused:
            beside = refused[0].get("value")
        elif wanted["type"] != "json" or _says_json(request, endpoint, word):
            return wire, entries
    if _can_be_called(request, wanted, endpoint):
        wire, entries = write(_with_tool(request, _tool(wanted), _CHOSEN), endpoint)
        if _is_forced(entries):
            seen = _of_tool(_tool(wanted))
            return wire, [*_report(wanted, seen, "the answer is asked for as a forced call"), *_moved(entries)]
    text = _prompt(wanted)
    seen = _of_text(text) or {}
    said = _says_json(request, endpoint, word)
    if seen == beside and said:
        return wire, entries  # the target can be asked for all that is left of the form
    if word == CONVERSATION and not said:
        beside = None  # what stands in the instructions does not count
    wire, entries = write(_with_text(request, text, beside), endpoint)
    if seen == beside == wanted:
        loss = Loss()
        loss.replace(
            ("response_format",), seen, "required_default", "shape", "the target demands that JSON is spoken of"
        )
        return wire, [*loss.entries, *(_untold(entry, text) for entry in entries)]
    report = _report(wanted, seen, "the form of the answer stands in the instructions")
    return wire, [*report, *(_untold(entry, text) for entry in entries)]


def _says_json(request: Request, endpoint: Endpoint, word: str) -> bool:
    """Whether the word JSON stands where the target demands it; of what was read there, it is the judge itself."""
    state = request.get("provider_state")
    if not word or (state is not None and endpoint.owns(state)):
        return True
    messages: list[Any] = request["messages"]
    contents: list[list[Block]] = [message["content"] for message in messages]
    contents = contents[_instructions(messages) :] if word == CONVERSATION else [request.get("system") or [], *contents]
    return any("json" in block["text"].lower() for content in contents for block in content if block["type"] == "text")


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


_JSON_WANTED: Final[dict[str, Any]] = {"type": "json"}


def _is_unenforced(wanted: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether the model is known to enforce no form with a schema."""
    return wanted["type"] == "json_schema" and endpoint.capabilities.get("supports_structured_output") is False


def _noted(request: Request, endpoint: Endpoint) -> dict[str, Any] | None:
    """How this wire asked for the form of the answer when the request was read there; None when it did not."""
    state = request.get("provider_state")
    if state is None or not endpoint.owns(state):
        return None
    form = (state.get("form") or {}).get(_FORM)
    return form if type(form) is dict else None


def _as_it_came(request: Request, wanted: dict[str, Any], endpoint: Endpoint) -> tuple[Request, str, int] | None:
    """The request as this wire had it when it was read there, the way in which it asked, and the message where it did so
    out of turn, else -1; None when it did not ask, or when the form was changed since."""
    form = _noted(request, endpoint)
    if form is None:
        return None
    try:
        if "tool" in form:
            tool: dict[str, Any] = {**form["tool"], "input_schema": wanted.get("schema")}
            choice: dict[str, Any] = form["choice"]
            fits = tool["name"] == NAME and choice["tool_choice"] == _CHOICE and choice.keys() <= _CHOSEN.keys()
            same = fits and _of_tool(tool) == wanted and not _has_tools(request)
            return (_with_tool(request, tool, choice), _CALL, -1) if same else None
        text = _prompt(wanted)
        if _of_text(text) != wanted:
            return None
        asked = _asking(request, form.get("beside"))
        if "at" in form and (messages := _with_text_at(request["messages"], text, form)) is not None:
            asked["messages"] = messages
            return asked, text, form["at"][0]
        if "message" not in form:
            return _with_text(request, text, form.get("beside")), text, -1
        message: dict[str, Any] = form["message"]
        asked["messages"] = [{**message, "content": [{**message["content"][0], "text": text}]}, *request["messages"]]
        return asked, _ALONE, 0
    except (KeyError, TypeError, AttributeError, IndexError, ValueError):
        return None  # what a caller left in the form is no matter for an error: the form is asked for anew


_CALL: Final = "call"
_ALONE: Final = "alone"


# -- as a call


_CHOICE: Final[dict[str, Any]] = {"type": "tool", "name": NAME}
_CHOSEN: Final[dict[str, Any]] = {"tool_choice": _CHOICE, "parallel_tool_calls": False}
_TOOLS: Final = ("tools", "tool_choice", "parallel_tool_calls")


def _has_tools(request: Request) -> bool:
    return any(request.get(name) not in (None, []) for name in _TOOLS)


def _can_be_called(request: Request, wanted: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether a call can stand for the answer: it is an object, nobody began it, and tools and their choice are free."""
    schema = wanted.get("schema")
    messages: list[Any] = request["messages"]
    begun = bool(messages) and messages[-1]["role"] == "assistant"
    if wanted["type"] != "json_schema" or schema is None or begun or _has_tools(request):
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
    """The request with a text at the end of its instructions: of the last text in them, or as instructions of its own."""
    asked = _asking(request, beside)
    messages: list[Any] = request["messages"]
    position, index = _end(messages)
    if position >= 0:
        asked["messages"] = _with_content(messages, position, _ending(messages[position]["content"], index, text))
        return asked
    system: list[Block] = request.get("system") or []
    index = _last_text(system)
    asked["system"] = _ending(system, index, text) if index >= 0 else [*system, {"type": "text", "text": text}]
    return asked


def _end(messages: list[Any]) -> tuple[int, int]:
    """The message and block with the last text of the instructions; -1 where they hold none.

    Of instructions alone, the last may become the words of a user.
    """
    for position in reversed(range(min(_instructions(messages), len(messages) - 1))):
        index = _last_text(messages[position]["content"])
        if index >= 0:
            return position, index
    return -1, -1


def _with_text_at(messages: list[Any], text: str, form: dict[str, Any]) -> list[Any] | None:
    """The messages with a text where it was read, out of turn; None where a reader would not find it any more."""
    position: int = form["at"][0]
    index: int = form["at"][1]
    told = _instructions(messages)
    if not 0 <= position < told or index < 0:
        return None
    content: list[Block] = messages[position]["content"]
    if "block" in form:
        alone = told == len(messages)
        last = (position + 1 if index else position) if alone else told
        if index > len(content) or any(_last_text(other["content"]) >= 0 for other in messages[position:last]):
            return None
        return _with_content(
            messages, position, [*content[:index], {**form["block"], "type": "text", "text": text}, *content[index:]]
        )
    if told < len(messages) or content[index]["type"] != "text" or not content[index]["text"]:
        return None
    return _with_content(messages, position, _ending(content, index, text))


def _with_content(messages: list[Any], position: int, content: list[Block]) -> list[Any]:
    return [*messages[:position], {**messages[position], "content": content}, *messages[position + 1 :]]


def _instructions(messages: list[Any]) -> int:
    """How many messages of instructions stand before all others."""
    count = 0
    while count < len(messages) and messages[count]["role"] in _INSTRUCTIONS:
        count += 1
    return count


def _last_text(content: list[Block]) -> int:
    """The last text that is not empty; -1 where there is none."""
    for index in reversed(range(len(content))):
        block = content[index]
        if block["type"] == "text" and block["text"]:
            return index
    return -1


def _ending(content: list[Block], index: int, text: str) -> list[Block]:
    """The blocks with a text behind that of one of them."""
    block = {**content[index], "text": f"{content[index]['text']}\n\n{text}"}
    return [*content[:index], block, *content[index + 1 :]]


def _asking(request: Request, beside: dict[str, Any] | None) -> Request:
    asked = {name: value for name, value in request.items() if name != "response_format"}
    if beside is not None:
        asked["response_format"] = beside
    return asked


def _untold(entry: dict[str, Any], text: str) -> dict[str, Any]:
    """An entry about instructions without the text that was put to them: a reader takes it away."""
    return {**entry, "value": _without_text(entry["value"], f"\n\n{text}")} if "value" in entry else entry


def _without_text(value: Any, text: str) -> Any:
    if isinstance(value, str):
        return value.removesuffix(text)
    if isinstance(value, list):
        return [_without_text(item, text) for item in value]
    if isinstance(value, dict):
        return {name: _without_text(item, text) for name, item in value.items()}
    return value


def _is_about(entry: dict[str, Any], position: int) -> bool:
    """Whether an entry has to do with a message."""
    return any(f"{entry.get(member)}/".startswith(f"/messages/{position}/") for member in ("path", "to"))


def _one_before(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry about a request with one message more before all others, with the pointers of the request without it."""
    moved = dict(entry)
    for member in ("path", "to"):
        steps = str(entry.get(member) or "").split("/")
        if len(steps) > 2 and steps[1] == "messages" and steps[2].isdigit():
            moved[member] = "/".join((*steps[:2], str(int(steps[2]) - 1), *steps[3:]))
    return moved


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
    """Looks for the form where it is written: behind the last text of the instructions, or alone before all of them."""
    told = _instructions(messages)
    for position in reversed(range(told)):
        content: list[Block] = messages[position]["content"]
        if told == len(messages):
            for index in reversed(range(len(content))):
                if content[index]["type"] == "text" and _is_told(request, messages, position, index):
                    return
        elif (index := _last_text(content)) >= 0:
            if _is_told(request, messages, position, index):
                return
            break
    first: list[Block] = messages[0]["content"]
    if len(first) == 1 and first[0]["type"] == "text":
        _is_told(request, messages, 0, 0)


def _is_told(request: Request, messages: list[Any], position: int, index: int) -> bool:
    """Takes the form out of a text that ends in it. Whether it did."""
    message = messages[position]
    content: list[Block] = message["content"]
    block = content[index]
    text: str = block["text"]
    if not text.endswith(_END):
        return False
    before, begin, asked = text.rpartition(_BEGIN)
    wanted = _of_text(begin + asked)
    beside: dict[str, Any] | None = request.get("response_format")
    if not begin or wanted is None or beside not in (None, {"type": "json"}):
        return False
    form: dict[str, Any] = {} if beside is None else {"beside": beside}
    if before:
        if not before.endswith("\n\n") or len(before) == len("\n\n"):
            return False
        content = [*content[:index], {**block, "text": before[:-2]}, *content[index + 1 :]]
        messages[position] = {**message, "content": content}
        if _end(messages) != (position, index):
            form["at"] = [position, index]
    elif _says_more(block):
        return False
    elif len(content) > 1:  # it stands with instructions of the caller that have no text, or alone before them
        others = [*content[:index], *content[index + 1 :]]
        if index and _last_text(others) >= 0:
            return False
        messages[position] = {**message, "content": others}
        form["at"] = [position, index]
        form["block"] = {**block, "text": ""}
    elif position == 0 and not _says_more(message):
        form["message"] = {**message, "content": [{**block, "text": ""}]}
        del messages[0]
    else:
        return False
    request["response_format"] = wanted
    _note(request, form)
    return True


def _says_more(item: Mapping[str, Any]) -> bool:
    """Whether an item says more than its text."""
    state = item.get("provider_state") or {}
    return any(name in item for name in ("cache", "name", "citations")) or "fields" in state or "signature" in state


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
    if state:
        kept = {name: state[name] for name in _IDENTITY if name in state}
        rest = {name: value for name, value in state.items() if name not in _IDENTITY}
        block["provider_state"] = {**kept, "form": {"answer": rest}}
    return block


_IDENTITY: Final = ("adapter", "provider", "origin", "id")


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
        texts = {identity: "".join(pieces) for identity, pieces in self._pieces.items()}
        return event if response is None else {**event, "response": answered({**response}, texts)}


def _without(event: Event, *names: str) -> Event:
    return {name: value for name, value in event.items() if name not in names}


def _place(event: Event) -> tuple[int, int]:
    choice: int = event.get("choice") or 0
    index: int = event["index"]
    return choice, index
