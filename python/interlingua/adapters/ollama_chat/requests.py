"""Requests: `to_wire` above `from_wire_request`, and their members beside messages and tools."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._as_read import keep_read
from interlingua.adapters._kit import (
    NOTHING,
    STRUCTURE,
    Wire,
    expect,
    gravity,
    malformed,
    report_foreign_options,
    report_foreign_state,
    report_own_state,
    report_parallel,
    report_unknown,
)
from interlingua.adapters._member_types import (
    COUNT,
    INTEGER,
    LIST,
    NUMBER,
    SWITCH,
    SWITCH_OR_TEXT,
    TEXT,
    TEXT_OR_OBJECT,
    TEXTS,
    Types,
    whole,
    wrong_member,
)
from interlingua.adapters._structured import guarded, recognised, written
from interlingua.adapters.ollama_chat.messages import messages_from_wire, messages_to_wire
from interlingua.adapters.ollama_chat.tables import (
    LEVELS,
    NAME,
    OPTIONS,
    Reading,
    Writing,
    is_number,
)
from interlingua.adapters.ollama_chat.tools import report_choice, tool_from_wire, tools_to_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Request = dict[str, Any]

_MOST_LOGPROBS: Final = 20


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire(request: Request, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Writes a canonical request as a WireRequest, and reports what the wire cannot say.

    Raises `InvalidRequest` with a pointer for a conversation that has no valid wire.
    """
    return guarded(request, endpoint, _with_format)


def _with_format(request: Request, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    if "response_format" in request:
        return written(request, endpoint, _written)
    return _written(request, endpoint)


def _written(request: Request, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    loss = Loss(request.get("loss_policy"))
    try:
        body = _body(request, endpoint, loss)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        # the schema has checked all but what providers left in `form` and `fields`
        raise InvalidRequest("a provider state of the request has an unexpected shape", adapter=NAME) from problem
    return {"method": "POST", "path": "/api/chat", "headers": {}, "body": body}, loss.entries


def _body(request: Request, endpoint: Endpoint, loss: Loss) -> Wire:
    state = request.get("provider_state")
    own = state is not None and endpoint.owns(state)
    named: str | None = request.get("model")
    if named is not None:
        named = named.partition(":")[2] or named
    model = endpoint.model or named
    writing = Writing(request, endpoint, loss)
    form: Mapping[str, Any] = (state.get("form") or NOTHING) if state is not None and own else NOTHING
    body: Wire = {} if model is None else {"model": model}
    body["messages"] = messages_to_wire(request, writing)
    if not body["messages"] and not own:
        raise InvalidRequest("a request needs at least one message", path="/messages", adapter=NAME)
    if request.get("tools"):
        tools_to_wire(request, body, writing)
    if request.get("tool_choice") is not None:
        report_choice(request["tool_choice"], loss)
    sampling: Wire = {}
    for name, value in request.items():
        if value is None or name in _STRUCTURE:
            continue
        if (option := OPTIONS.there.get(name)) is not None:
            _sampling(name, option, value, sampling, writing)
        else:
            _MEMBERS.get(name, _unknown_member)(name, value, body, writing)
    report_parallel(request, loss)
    stream = bool(request.get("stream"))
    if not (stream and form.get("stream")):
        body["stream"] = stream  # the wire's own default is to stream
    _options_to_wire(request, body, sampling, writing)
    if sampling:
        body["options"] = sampling
    if form.get("messages") == "absent" and not body["messages"]:
        del body["messages"]
    for name, value in form.get("empty", NOTHING).items():
        body.setdefault(name, value)
    if own and state is not None:
        report_own_state(state, loss, (), fields=True)
    elif state is not None:
        report_foreign_state(request, endpoint, loss, ())
    return body


_STRUCTURE: Final = STRUCTURE | {"stream"}

Writer = Callable[[str, Any, Wire, Writing], None]


def _unknown_member(name: str, value: Any, body: Wire, writing: Writing) -> None:
    writing.loss.drop((name,), "unknown_field", "lost", "a member that this version does not know")


def _no_member(name: str, value: Any, body: Wire, writing: Writing) -> None:
    if value != {}:
        severity = gravity(name, value, "weakened")
        writing.loss.drop((name,), "unsupported_field", severity, f"the wire has no {name.replace('_', ' ')}")


def _one_answer(name: str, value: int, body: Wire, writing: Writing) -> None:
    writing.loss.drop((name,), "unsupported_field", gravity(name, value, "weakened"), "the wire gives one answer")


def _cache(name: str, value: Any, body: Wire, writing: Writing) -> None:
    writing.loss.drop((name,), "cache_hint", "weakened", "the wire has no cache marks")


def _report_refused(name: str, value: Any, writing: Writing) -> None:
    writing.loss.drop((name,), "unsupported_model", gravity(name, value, "weakened"), f"the model takes no {name}")


def _sampling(name: str, option: str, value: Any, sampling: Wire, writing: Writing) -> None:
    if value == []:
        return
    if writing.refuses(name, name):
        _report_refused(name, value, writing)
        return
    highest = writing.capabilities.get(name) if name == "max_output_tokens" else None
    if highest is not None and value > highest and not writing.verbatim(name):
        writing.loss.replace((name,), highest, "limit_exceeded", "weakened", "the model gives fewer tokens")
        value = highest
    sampling[option] = value


def _logprobs(name: str, value: Any, body: Wire, writing: Writing) -> None:
    if writing.refuses("logprobs", name):
        _report_refused(name, value, writing)
        return
    if name == "top_logprobs" and value > _MOST_LOGPROBS and not writing.same(name):
        value = _MOST_LOGPROBS
        writing.loss.replace((name,), value, "limit_exceeded", "weakened", f"the wire gives {value} alternatives")
    body[name] = value


# -- reasoning


def _reasoning(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    value = {key: item for key, item in value.items() if item is not None}
    if not value:
        return
    if writing.refuses("thinking", name):
        writing.loss.drop((name,), "unsupported_model", "weakened", "the model takes no reasoning settings")
        return
    think = _think(value)
    if think is not None:
        body["think"] = think
    written = _think_from_wire(think)
    if written == value:
        return
    message = "reasoning is asked for in the target's terms"
    if written:
        writing.loss.replace((name,), written, "reasoning_mapped", "weakened", message)
    else:
        message = "the target has no such setting of reasoning; ask for an effort"
        writing.loss.drop((name,), "reasoning_mapped", "weakened", message)


_LEVEL_FOR: Final = {"minimal": "low", "xhigh": "max"}


def _think(value: Mapping[str, Any]) -> bool | str | None:
    """The one member that the wire has: a switch or a level. A budget becomes a level."""
    mode, effort, budget = value.get("mode"), value.get("effort"), value.get("budget_tokens")
    if mode == "disabled" or effort == "none":
        return False
    if effort is not None:
        level = _LEVEL_FOR.get(effort, effort)
        return level if level in LEVELS else True
    if budget is not None:
        return "low" if budget <= 2_048 else "medium" if budget <= 16_384 else "high"
    return True if mode is not None else None


def _think_from_wire(value: Any) -> dict[str, Any] | None:
    match value:
        case True:
            return {"mode": "enabled"}
        case False:
            return {"mode": "disabled"}
        case "low" | "medium" | "high" | "max":
            return {"effort": value}
        case _:
            return None


# -- the form of the answer


def _response_format(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    loss, kind = writing.loss, value["type"]
    if kind == "text":
        return
    if writing.refuses("structured_output", name) and kind == "json_schema":
        message = "the answer is asked for as a JSON object without a schema"
        loss.replace((name,), {"type": "json"}, "unsupported_model", "weakened", message)
        body["format"] = "json"
        return
    report_unknown(value, _FORMAT, loss, (name,))
    schema = (value.get("schema") or None) if kind == "json_schema" else None
    if kind == "json_schema" and schema is None:
        message = "without a schema the answer is asked for as a JSON object"
        loss.replace((name, "type"), "json", "unsupported_value", "weakened", message)
    for member, severity in (("name", "shape"), ("description", "weakened"), ("strict", "shape"), ("schema", "shape")):
        said = value.get(member) is not None and value[member] is not False
        if said and not (member == "schema" and schema is not None):
            message = f"the form of an answer has no {member} on this wire"
            loss.drop((name, member), "unsupported_field", severity, message)
    body["format"] = "json" if schema is None else schema


_FORMAT: Final = frozenset(("type", "name", "description", "schema", "strict"))

_MEMBERS: Final[dict[str, Writer]] = {
    "reasoning": _reasoning,
    "response_format": _response_format,
    "logprobs": _logprobs,
    "top_logprobs": _logprobs,
    "n": _one_answer,
    "cache": _cache,
    "verbosity": _no_member,
    "service_tier": _no_member,
    "user": _no_member,
    "metadata": _no_member,
}


# -- options


def _options_to_wire(request: Request, body: Wire, sampling: Wire, writing: Writing) -> None:
    """Own options are members of the wire, verbatim; those for other adapters have no meaning here."""
    options = request.get("options")
    if not options:
        return
    report_foreign_options(request, writing.endpoint, writing.loss)
    for name, value in (options.get(NAME) or NOTHING).items():
        path: Path = ("options", NAME, name)
        if name == "options" and isinstance(value, dict):
            _sampling_options(value, sampling, path, writing)
        elif name == "options" and sampling:
            writing.loss.drop(
                path, "unsupported_value", "weakened", "options are an object; what is sampled by stands there"
            )
        elif name in ("model", "stream") and writing.own and name not in request:
            body[name] = value  # not the name or the switch that it should be
        elif name in ("model", "messages", "stream"):
            _report_said(path, writing)
        elif _option_to_wire(name, value, body, path, writing):
            _report_meaning({name: value}, name, path, writing)


def _sampling_options(given: Mapping[str, Any], sampling: Wire, path: Path, writing: Writing) -> None:
    """The members of the wire's own `options`; what is left of them when the contract has words for all is nothing."""
    said = [
        key for key in given if key in sampling or _meaning({"options": {key: given[key]}}, key, writing) is not None
    ]
    if len(said) == len(given):
        message = "what these options say stands elsewhere in the request"
        severity = "weakened" if any(key in sampling for key in said) else "shape"
        writing.loss.drop(path, "combination", severity, message)
    for key, value in given.items():
        where = None if len(said) == len(given) else (*path, key)
        if _option_to_wire(key, value, sampling, where, writing):
            _report_meaning({"options": {key: value}}, key, where, writing)


def _option_to_wire(name: str, value: Any, item: Wire, path: Path | None, writing: Writing) -> bool:
    """Writes an option unless another member says it; whether what it says is still to be reported."""
    if name not in item:
        item[name] = value
        return value is not None
    if path is not None:
        _report_said(path, writing)
    return False


def _report_said(path: Path, writing: Writing) -> None:
    writing.loss.drop(path, "combination", "weakened", "another member of the request says it already")


def _meaning(part: Wire, name: str, writing: Writing) -> Request | None:
    """What an option says in words of the contract, which may be nothing; None when it has none for it."""
    if name not in _READABLE:
        return None
    read, form = _read_members(part, Reading(writing.endpoint, DERIVED_IDS))
    return None if read.keys() <= {"options"} and not form else read


def _report_meaning(part: Wire, name: str, path: Path | None, writing: Writing) -> None:
    """An option that the contract has a word for is read back as that word. `path` is None when it is dropped already."""
    read = _meaning(part, name, writing)
    if read is None:
        return
    message = "an option that the contract has a word for"
    if path is not None:
        writing.loss.drop(path, "combination", "shape", message)
    for member, value in read.items():
        if member != "options":
            writing.loss.replace((member,), value, "combination", "shape", message)


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: Mapping[str, Any], endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[Request, list[Entry]]:
    """Reads a WireRequest. Nothing is lost: what has no canonical meaning is kept as an option, a field or a form.

    Raises `InvalidWire` with the pointer of what cannot be read.
    """
    body: Wire = expect(expect(wire, dict, "the wire request").get("body"), dict, "the body", "body")
    reading = Reading(endpoint, ids)
    messages = messages_from_wire(body.get("messages") or [], reading)
    try:
        request, form = _read_members(body, reading)
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise malformed("the request") from problem
    request["messages"] = messages
    if not body.get("messages"):
        form["messages"] = "absent"
        if "messages" in body:
            form.setdefault("empty", {})["messages"] = body["messages"]
    if body.get("stream") is None:  # the wire's own default
        request["stream"] = True
        form["stream"] = "absent"
    keep_read(request, form)
    request["provider_state"] = endpoint.state(form=form) if form else endpoint.state()
    return recognised(request), []


def _read_members(body: Wire, reading: Reading) -> tuple[Request, dict[str, Any]]:
    """The members of a request beside its messages, and those that say nothing.

    A member of an unexpected type is no error: it goes to the options and back as it came.
    """
    request: Request = {}
    empty: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for name, value in body.items():
        if name == "messages":
            continue
        if value is None or (value in ("", [], {}) and name in _EMPTY):
            empty[name] = value
        elif (reader := _READERS.get(name)) is None or not reader(value, request, options, reading):
            options[name] = value
    if options:
        request["options"] = {reading.endpoint.adapter: options}
    return request, {"empty": empty} if empty else {}


_EMPTY: Final = frozenset(("format", "tools", "options", "keep_alive"))

Reader = Callable[[Any, Request, dict[str, Any], Reading], bool]


def _read_model(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, str) or not value:
        return False
    request["model"] = reading.endpoint.model_id(value)
    return True


def _read_stream(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, bool):
        return False
    request["stream"] = value
    return True


def _read_think(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    read = _think_from_wire(value) if isinstance(value, (bool, str)) else None
    if read is not None:
        request["reasoning"] = read
    return read is not None


def _read_format(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    if isinstance(value, dict):
        request["response_format"] = {"type": "json_schema", "schema": value}
    elif value == "json":
        request["response_format"] = {"type": "json"}
    else:
        return False
    return True


def _read_logprobs(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, bool):
        return False
    request["logprobs"] = value
    return True


def _read_top_logprobs(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    count = whole(value)
    if count is None or count < 0:
        return False
    request["top_logprobs"] = count
    return True


def _read_options(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, dict):
        return False
    rest: dict[str, Any] = {}
    for option, item in value.items():
        member = OPTIONS.back.get(option)
        if member in _WHOLE:
            item = whole(item) if is_number(item) else item
        if member is not None and _is_readable(member, item):
            request[member] = item
        else:
            rest[option] = value[option]
    if rest:
        options["options"] = rest
    return True


_WHOLE: Final = ("max_output_tokens", "seed")


def _is_readable(member: str, value: Any) -> bool:
    match member:
        case "max_output_tokens":
            return type(value) is int and value >= 0
        case "seed":
            return type(value) is int
        case "stop":
            return isinstance(value, list) and value != [] and all(isinstance(text, str) for text in value)
        case _:
            return is_number(value)


def _read_tools(value: Any, request: Request, options: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, list):
        return False
    request["tools"] = [tool_from_wire(tool, reading) for tool in value]
    return True


_READERS: Final[dict[str, Reader]] = {
    "model": _read_model,
    "stream": _read_stream,
    "think": _read_think,
    "format": _read_format,
    "logprobs": _read_logprobs,
    "top_logprobs": _read_top_logprobs,
    "options": _read_options,
    "tools": _read_tools,
}
_READABLE: Final = frozenset((*_READERS, *OPTIONS.back))

_TYPES: Final[Types] = {
    "model": TEXT,
    "stream": SWITCH,
    "think": SWITCH_OR_TEXT,
    "format": TEXT_OR_OBJECT,
    "logprobs": SWITCH,
    "top_logprobs": COUNT,
    "tools": LIST,
    "options": {
        "num_predict": INTEGER,
        "temperature": NUMBER,
        "top_p": NUMBER,
        "top_k": NUMBER,
        "frequency_penalty": NUMBER,
        "presence_penalty": NUMBER,
        "seed": INTEGER,
        "stop": TEXTS,
    },
}


def wrong_type(options: Mapping[str, Any], form: Mapping[str, Any]) -> InvalidWire | None:
    """The refusal of what was read of a request, where a member with a canonical word is of a wrong type."""
    return wrong_member(NAME, options, _TYPES)
