"""Requests: `to_wire` above `from_wire_request`, and their members beside input and tools."""

from collections.abc import Callable, Mapping
from typing import Any

from interlingua.adapters._kit import Wire, expect, malformed, report_foreign_options, report_unknown
from interlingua.adapters._openai_writing import TOOL_NAME
from interlingua.adapters.openai_responses.context import Reading, Writing, report_state
from interlingua.adapters.openai_responses.messages import input_from_wire, input_to_wire, is_continued, is_foreign
from interlingua.adapters.openai_responses.tables import (
    EFFORTS,
    ELSEWHERE,
    LEAST_OUTPUT_TOKENS,
    LOGPROBS,
    MOST_LOGPROBS,
    NAME,
    NOTHING,
    SERVICE_TIERS,
    VERBOSITIES,
    is_number,
)
from interlingua.adapters.openai_responses.tools import choice_from_wire, choice_to_wire, tool_from_wire, tools_to_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path

Request = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire(request: Request, endpoint: Endpoint) -> tuple[Wire, list[Entry]]:
    """Writes a canonical request as a WireRequest, and reports what the wire cannot say.

    Raises `InvalidRequest` with a pointer for a conversation that has no valid wire: results without calls,
    calls without results that other turns follow, results twice.
    """
    loss = Loss(request.get("loss_policy"))
    try:
        body = _body(request, endpoint, loss)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        # the schema has checked all but what providers left in `form` and `fields`
        raise InvalidRequest("a provider state of the request has an unexpected shape", adapter=NAME) from problem
    return {"method": "POST", "path": "/responses", "headers": {}, "body": body}, loss.entries


def _body(request: Request, endpoint: Endpoint, loss: Loss) -> Wire:
    state = request.get("provider_state")
    own = state is not None and endpoint.owns(state)
    writing = Writing(endpoint, loss, own=own)
    form = writing.form(request)
    options: Mapping[str, Any] = (request.get("options") or NOTHING).get(NAME) or NOTHING
    body: Wire = {}
    if (model := _model(request, endpoint)) is not None:
        body["model"] = model
    instructions, items = input_to_wire(request, writing)
    if instructions is not None:
        body["instructions"] = instructions
    if items or "input" not in form:
        if not items and not own and not is_continued(request, writing):
            raise InvalidRequest("a request needs at least one message", path="/messages", adapter=NAME)
        body["input"] = _input(items, form)
    if request.get("tools"):
        tools_to_wire(request, body, writing)
    if "tool_choice" in request or "parallel_tool_calls" in request:
        choice_to_wire(request, body, writing)
    for name, value in request.items():
        if name not in _STRUCTURE and value is not None:
            _MEMBERS.get(name, _unknown_member)(name, value, request, body, writing)
    if "options" in request:
        _options_to_wire(request, options, body, writing)
    for name, value in form.get("empty", NOTHING).items():
        body.setdefault(name, value)
    if state is not None:
        report_state(request, writing, (), fields=True)
    return body


_STRUCTURE = frozenset(
    (
        "model",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "options",
        "loss_policy",
        "provider_state",
    )
)


def _model(request: Request, endpoint: Endpoint) -> str | None:
    if endpoint.model is not None:
        return endpoint.model
    model = request.get("model")
    return model.partition(":")[2] or model if model is not None else None


def _input(items: list[Wire], form: Mapping[str, Any]) -> str | list[Wire]:
    if form.get("input") == "string" and len(items) == 1:
        item = items[0]
        if len(item) == 2 and item.get("role") == "user" and isinstance(item.get("content"), str):
            return item["content"]
    return items


Writer = Callable[[str, Any, Request, Wire, Writing], None]


def _unknown_member(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    writing.loss.drop((name,), "unknown_field", "lost", "a member that this version does not know")


def _scalar(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses(name):
        writing.report_refused(name)
    else:
        body[name] = value


def _absent(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    """A member that the wire does not have. One answer is what it gives anyway."""
    if value == []:
        return
    severity = "shape" if name == "n" and value == 1 else "weakened"
    writing.loss.drop((name,), "unsupported_field", severity, f"the wire has no {name}")


_RANGES = {"temperature": (0, 2), "top_p": (0, 1)}


def _sampling(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    lowest, highest = _RANGES[name]
    if not writing.own and not writing.refuses(name) and not lowest <= value <= highest:
        value = max(lowest, min(value, highest))
        writing.loss.replace((name,), value, "unsupported_value", "weakened", f"the wire takes {lowest} to {highest}")
    effort = (request.get("reasoning") or NOTHING).get("effort")
    if writing.capabilities.get("sampling_with_reasoning") is False and effort != "none" and not writing.own:
        message = "the model samples by these settings only without reasoning"
        writing.loss.drop((name,), "combination", "weakened", message)
    else:
        _scalar(name, value, request, body, writing)


def _limit(name: str, value: int, request: Request, body: Wire, writing: Writing) -> None:
    highest = writing.capabilities.get("max_output_tokens")
    if not writing.own:
        if highest is not None and value > highest:
            value = highest
            writing.loss.replace((name,), value, "limit_exceeded", "weakened", "the model gives fewer tokens")
        elif value < LEAST_OUTPUT_TOKENS:
            value = LEAST_OUTPUT_TOKENS
            message = f"the wire takes no limit below {LEAST_OUTPUT_TOKENS}"
            writing.loss.replace((name,), value, "unsupported_value", "weakened", message)
    body["max_output_tokens"] = value


def _logprobs(name: str, value: bool, request: Request, body: Wire, writing: Writing) -> None:
    if not value:
        writing.loss.drop((name,), "unsupported_value", "shape", "the wire gives none unless it is asked")
    elif writing.refuses(name):
        writing.report_refused(name)
    else:
        include = ((request.get("options") or NOTHING).get(NAME) or NOTHING).get("include")
        kept = include if isinstance(include, list) else []
        spelling = writing.form(request).get("include")
        kept = [word for word in kept if word != LOGPROBS]
        same = spelling and [word for word in spelling if word != LOGPROBS] == kept
        body["include"] = spelling if same else [*kept, LOGPROBS]


def _top_logprobs(name: str, value: int, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses("logprobs") or writing.refuses(name):
        code = "unsupported_field" if name in writing.dialect.get("unsupported", ()) else "unsupported_model"
        writing.loss.drop((name,), code, "weakened", "the target gives no log probabilities")
        return
    if value > MOST_LOGPROBS and not writing.own:
        value = MOST_LOGPROBS
        writing.loss.replace((name,), value, "limit_exceeded", "weakened", f"the wire gives {MOST_LOGPROBS} of them")
    body[name] = value


def _service_tier(name: str, value: str, request: Request, body: Wire, writing: Writing) -> None:
    words = writing.dialect.get("service_tiers") or SERVICE_TIERS
    if not writing.own and value not in words and not writing.refuses(name):
        writing.loss.drop((name,), "unsupported_value", "weakened", "the provider has no such service tier")
    else:
        _scalar(name, value, request, body, writing)


def _metadata(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    if writing.own:
        body[name] = value
    elif value and writing.refuses(name):
        writing.report_refused(name)
    elif kept := _kept_metadata(name, value, writing):
        body[name] = kept


def _kept_metadata(name: str, value: dict[str, Any], writing: Writing) -> dict[str, str]:
    kept: dict[str, str] = {}
    for key, item in value.items():
        if not isinstance(item, str) or len(key) > 64 or len(item) > 512:
            message = "the wire keeps texts of up to 512 characters under names of up to 64"
            writing.loss.drop((name, key), "unsupported_value", "weakened", message)
        elif len(kept) == 16:
            writing.loss.drop((name, key), "limit_exceeded", "weakened", "the wire keeps 16 pairs")
        else:
            kept[key] = item
    return kept


def _cache(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    writing.loss.drop((name,), "cache_hint", "weakened", "the wire has no cache mark for the whole prompt")


def _verbosity(name: str, value: str, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses(name):
        writing.report_refused(name)
    elif not writing.own and value not in VERBOSITIES:
        writing.loss.drop((name,), "unsupported_value", "weakened", "the wire has no such word")
    else:
        body.setdefault("text", {})["verbosity"] = value


# -- reasoning


def _reasoning(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    value = {key: item for key, item in value.items() if item is not None}
    if not value:
        return
    if writing.refuses("reasoning_effort") or writing.refuses(name):
        message = "the target takes no reasoning settings"
        code = "unsupported_field" if name in writing.dialect.get("unsupported", ()) else "unsupported_model"
        writing.loss.drop((name,), code, "weakened", message)
        return
    written: dict[str, Any] = {}
    wire: Wire = {}
    if (effort := _effort(value, writing)) is not None:
        written["effort"] = wire["effort"] = effort
    if value.get("display") == "summarized":
        written["display"] = value["display"]
        wire["summary"] = "auto"
    if wire:
        body["reasoning"] = wire
    if written != value:
        message = "reasoning is asked for in the target's terms"
        if written:
            writing.loss.replace((name,), written, "reasoning_mapped", "weakened", message)
        else:
            writing.loss.drop((name,), "reasoning_mapped", "weakened", message)


def _effort(value: Mapping[str, Any], writing: Writing) -> str | None:
    """The one word that the wire has: a budget and a mode are turned into it."""
    effort = value.get("effort")
    if effort is None:
        if value.get("mode") == "disabled":
            effort = "none"
        elif (budget := value.get("budget_tokens")) is not None:
            effort = "low" if budget <= 2_048 else "medium" if budget <= 16_384 else "high"
        else:
            return None
    return effort if writing.own else _nearest(effort, writing.capabilities.get("reasoning_efforts"))


def _nearest(effort: str, accepted: list[str] | None) -> str | None:
    """The word that the model takes and that says nearly the same; None for a word that nobody knows here."""
    if accepted and effort in accepted:
        return effort
    if effort not in EFFORTS:
        return None
    if not accepted:
        return effort
    wanted = EFFORTS.index(effort)
    known = [word for word in accepted if word in EFFORTS] or list(accepted)
    return min(known, key=lambda word: abs(EFFORTS.index(word) - wanted) if word in EFFORTS else len(EFFORTS))


# -- the form of the answer

_FORMAT = frozenset(("type", "name", "description", "schema", "strict"))


def _response_format(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    text: Wire = body.setdefault("text", {})
    if (spelling := writing.form(request).get("format")) is not None and _format_from_wire(spelling) == value:
        text["format"] = spelling
        return
    loss, kind = writing.loss, value["type"]
    report_unknown(value, _FORMAT, loss, (name,))
    if kind != "json_schema":
        for member in ("name", "description", "schema", "strict"):
            if value.get(member) is not None:
                loss.drop((name, member), "unsupported_field", "shape", "this form of answer has no such member")
    if not writing.own and kind != "text":
        kind = _accepted_format(name, kind, value, writing)
    match kind:
        case "text":
            text["format"] = {"type": "text"}
        case "json":
            text["format"] = {"type": "json_object"}
        case "json_schema":
            text["format"] = {"type": "json_schema", **_schema_to_wire(value, writing)}
        case _:
            loss.drop((name,), "unsupported_value", "lost", "the provider cannot be asked for this form of answer")
            if not text:
                del body["text"]


def _accepted_format(name: str, kind: str, value: dict[str, Any], writing: Writing) -> str | None:
    forms = writing.dialect.get("response_formats") or ("text", "json", "json_schema")
    if writing.capabilities.get("supports_structured_output") is False or value.get("schema") is None:
        forms = [form for form in forms if form != "json_schema"]
    if kind in forms:
        return kind
    if kind == "json_schema" and "json" in forms:
        message = "the answer is asked for as a JSON object without a schema"
        writing.loss.replace((name,), {"type": "json"}, "unsupported_value", "weakened", message)
        return "json"
    return None


def _schema_to_wire(value: dict[str, Any], writing: Writing) -> Wire:
    name = value.get("name")
    path: Path = ("response_format", "name")
    if not writing.own and name is None:
        name = "response"
        writing.loss.replace(path, name, "required_default", "shape", "the wire demands a name of the schema")
    elif not writing.own and name is not None and not TOOL_NAME.fullmatch(name):
        name = "".join(letter if TOOL_NAME.fullmatch(letter) else "_" for letter in name)[:64] or "response"
        writing.loss.replace(path, name, "name_rewritten", "shape", "the name does not fit the wire's grammar")
    schema: Wire = {} if name is None else {"name": name}
    for member in ("description", "schema", "strict"):
        if value.get(member) is not None:
            schema[member] = value[member]
    if schema.get("strict") and writing.refuses_strict(schema.get("schema"), ("response_format", "strict")):
        del schema["strict"]
    return schema


# -- options


def _options_to_wire(request: Request, options: Mapping[str, Any], body: Wire, writing: Writing) -> None:
    """Own options are members of the wire, verbatim; those for other adapters have no meaning here."""
    report_foreign_options(request, writing.endpoint, writing.loss)
    foreign = is_foreign(request, writing)
    for name, value in options.items():
        path: Path = ("options", NAME, name)
        if foreign and name not in _WIRE_MEMBERS:
            message = "an option of another provider has no meaning here"
            writing.loss.drop(path, "foreign_options", "weakened", message)
        elif name == "include" and name in body and isinstance(value, list):
            _report_include(value, path, writing)
        elif name in ("text", "reasoning") and isinstance(value, dict):
            _split_option(name, value, body, path, writing)
        elif name in body or name == "input" or (name == "model" and not writing.own):
            writing.loss.drop(path, "combination", "weakened", "another member of the request says it already")
        else:
            body[name] = value
            if name in _READERS:
                _report_meaning(name, value, path, writing)


def _report_include(value: list[Any], path: Path, writing: Writing) -> None:
    """Written together with the member that asks for log probabilities, which is what one of its words means."""
    if LOGPROBS in value:
        message = "another member of the request says it already"
        if kept := [word for word in value if word != LOGPROBS]:
            writing.loss.replace(path, kept, "combination", "shape", message)
        else:
            writing.loss.drop(path, "combination", "shape", message)
    elif not value:
        writing.loss.drop(path, "combination", "shape", "an empty list says nothing beside another member")


def _split_option(name: str, value: Wire, body: Wire, path: Path, writing: Writing) -> None:
    """`text` and `reasoning` hold members of the contract beside others: both are written into one object."""
    said: Wire = body.get(name) or {}
    added = {member: item for member, item in value.items() if member not in said}
    message = "another member of the request says it already"
    if said and not added:
        writing.loss.drop(path, "combination", "weakened" if value else "shape", message)
        return
    for member in value.keys() & said.keys():
        writing.loss.drop((*path, member), "combination", "weakened", message)
    body[name] = {**said, **added}
    _report_meaning(name, added, path, writing)


def _report_meaning(name: str, value: Any, path: Path, writing: Writing) -> None:
    """An option that the contract has a word for is read back as that word."""
    read, _ = read_members({name: value}, Reading(writing.endpoint))
    left = read.pop("options", NOTHING).get(NAME, NOTHING).get(name)
    message = "the member is read back as part of the request"
    if left is None:
        writing.loss.drop(path, "combination", "shape", message)
    elif isinstance(value, dict) and left != value:
        for member in value.keys() - left.keys():
            writing.loss.drop((*path, member), "combination", "shape", message)
    elif left != value:
        writing.loss.replace(path, left, "combination", "shape", message)
    for member, item in read.items():
        parts = [((member, key), part) for key, part in item.items()] if member == "reasoning" else [((member,), item)]
        for where, part in parts:
            if member != "stream":
                writing.loss.replace(where, part, "combination", "shape", "an option that the contract has a word for")


_WIRE_MEMBERS = frozenset(
    (
        "access_programs",
        "background",
        "context_management",
        "image",
        "include",
        "max_tool_calls",
        "moderation",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "store",
        "stream_options",
        "text",
        "tool_choice",
        "tools",
        "truncation",
    )
)
"""OpenAI's own members that the contract has no word for, and that name nothing that only one provider keeps."""

_MEMBERS: dict[str, Writer] = {
    "max_output_tokens": _limit,
    "temperature": _sampling,
    "top_p": _sampling,
    "top_k": _absent,
    "frequency_penalty": _absent,
    "presence_penalty": _absent,
    "seed": _absent,
    "stop": _absent,
    "n": _absent,
    "logprobs": _logprobs,
    "top_logprobs": _top_logprobs,
    "reasoning": _reasoning,
    "response_format": _response_format,
    "verbosity": _verbosity,
    "service_tier": _service_tier,
    "user": _scalar,
    "metadata": _metadata,
    "cache": _cache,
    "stream": _scalar,
}


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: Mapping[str, Any], endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[Request, list[Entry]]:
    """Reads a WireRequest. Nothing is lost: what has no canonical meaning is kept as an option, a field or a form.

    Raises `InvalidWire` with the pointer of what cannot be read.
    """
    body: Wire = expect(expect(wire, dict, "the wire request").get("body"), dict, "the body", "body")
    reading = Reading(endpoint, ids)
    if body.get("input") is None and not any(body.get(name) for name in ELSEWHERE):
        raise InvalidWire("a request needs an input, or names a conversation or a prompt", path="/input", adapter=NAME)
    instructions = body.get("instructions")
    messages = input_from_wire(instructions if isinstance(instructions, str) else None, body.get("input"), reading)
    try:
        request, form = read_members(body, reading)
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise malformed("the request") from problem
    if "input" not in body:
        form["input"] = "absent"
    elif isinstance(body["input"], str):
        form["input"] = "string"
    elif body["input"] is None:
        form["input"] = "absent"
        form.setdefault("empty", {})["input"] = None
    request["messages"] = messages
    request["provider_state"] = reading.state(form=form) if form else reading.state()
    return request, []


def read_members(body: Wire, reading: Reading) -> tuple[Request, dict[str, Any]]:
    """The members of a request beside its input, and how they were spelt.

    A member of an unexpected type is no error: it goes to the options and back as it came.
    """
    request: Request = {}
    form: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for name, value in body.items():
        if name == "input" or (name == "instructions" and isinstance(value, str)):
            continue
        reader = _READERS.get(name)
        if value is None:
            form.setdefault("empty", {})[name] = None
        elif reader is None or not reader(name, value, request, form, options, reading):
            options[name] = value
    if options:
        request["options"] = {reading.endpoint.adapter: options}
    return request, form


Reader = Callable[[str, Any, Request, dict[str, Any], dict[str, Any], Reading], bool]
"""Takes a member into the request, and what it leaves over into the options. Whether it could be read."""


def _read_model(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if not isinstance(value, str) or not value:
        return False
    request["model"] = reading.endpoint.model_id(value)
    return True


def _read_number(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if is_number(value):
        request[name] = value
    return name in request


def _read_text(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if isinstance(value, str):
        request[name] = value
    return name in request


def _read_switch(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if isinstance(value, bool):
        request[name] = value
    return name in request


def _read_count(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if type(value) is int and value >= 0:
        request[name] = value
    return name in request


def _read_metadata(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if isinstance(value, dict):
        request[name] = value
    return name in request


def _read_include(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if not isinstance(value, list) or value.count(LOGPROBS) != 1:
        return False
    request["logprobs"] = True
    if kept := [word for word in value if word != LOGPROBS]:
        options[name] = kept
    form[name] = value
    return True


def _read_reasoning(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    read: dict[str, Any] = {}
    kept: Wire = {}
    for member, item in value.items():
        if member == "effort" and isinstance(item, str):
            read["effort"] = item
        elif member == "summary" and item == "auto":
            read["display"] = "summarized"
        else:
            kept[member] = item
    if read:
        request[name] = read
    if kept:
        options[name] = kept
    return True


def _read_text_settings(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    kept: Wire = {}
    for member, item in value.items():
        if member == "verbosity" and isinstance(item, str):
            request[member] = item
        elif member == "format" and (read := _format_from_wire(item)) is not None:
            request["response_format"] = read
            if None in item.values():
                form["format"] = item
        else:
            kept[member] = item
    if kept:
        options[name] = kept
    return True


_SCHEMA_TYPES: dict[str, type] = {"name": str, "description": str, "schema": dict, "strict": bool}


def _format_from_wire(value: Any) -> dict[str, Any] | None:
    match value:
        case {"type": "text"} if len(value) == 1:
            return {"type": "text"}
        case {"type": "json_object"} if len(value) == 1:
            return {"type": "json"}
        case {"type": "json_schema", **schema} if schema.keys() <= _SCHEMA_TYPES.keys():
            said: dict[str, Any] = {str(name): item for name, item in schema.items() if item is not None}
            if not all(isinstance(item, _SCHEMA_TYPES[name]) for name, item in said.items()):
                return None
            return {"type": "json_schema", **said}
        case _:
            return None


def _read_tools(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    if not isinstance(value, list):
        return False
    if not value:
        form.setdefault("empty", {})["tools"] = value
        return True
    try:
        request["tools"] = [tool_from_wire(tool, reading) for tool in value]
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise malformed("a tool", "tools") from problem
    return True


def _read_choice(name: str, value: Any, request: Request, form: Wire, options: Wire, reading: Reading) -> bool:
    choice = choice_from_wire(value)
    if choice is None:
        return False
    request["tool_choice"] = choice
    if choice["type"] == "allowed":
        form["tool_choice"] = value
    return True


_READERS: dict[str, Reader] = {
    "model": _read_model,
    "max_output_tokens": _read_count,
    "temperature": _read_number,
    "top_p": _read_number,
    "top_logprobs": _read_count,
    "include": _read_include,
    "stream": _read_switch,
    "parallel_tool_calls": _read_switch,
    "tools": _read_tools,
    "tool_choice": _read_choice,
    "text": _read_text_settings,
    "reasoning": _read_reasoning,
    "service_tier": _read_text,
    "user": _read_text,
    "metadata": _read_metadata,
}
