"""Requests: `to_wire` above `from_wire_request`, and their members beside messages and tools."""

from collections.abc import Callable, Mapping
from typing import Any

from interlingua.adapters._kit import (
    Wire,
    expect,
    malformed,
    report_foreign_options,
    report_foreign_state,
    report_unknown,
)
from interlingua.adapters._openai_writing import TOOL_NAME
from interlingua.adapters.openai_chat.context import Reading, Writing, report_own_state
from interlingua.adapters.openai_chat.messages import messages_from_wire, messages_to_wire
from interlingua.adapters.openai_chat.parts import cache_from_wire, cache_to_wire
from interlingua.adapters.openai_chat.tables import (
    EFFORTS,
    MOST_LOGPROBS,
    NAME,
    SERVICE_TIERS,
    VERBOSITIES,
    is_number,
)
from interlingua.adapters.openai_chat.tools import (
    choice_from_wire,
    choice_to_wire,
    function_from_wire,
    is_function,
    tool_from_wire,
    tools_to_wire,
)
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]

_NOTHING: Mapping[str, Any] = {}
_INCLUDE_USAGE = {"include_usage": True}
_LIMITS = ("max_completion_tokens", "max_tokens")


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
    return {"method": "POST", "path": "/chat/completions", "headers": {}, "body": body}, loss.entries


def _body(request: Request, endpoint: Endpoint, loss: Loss) -> Wire:
    state = request.get("provider_state")
    own = state is not None and endpoint.owns(state)
    writing = Writing(endpoint, loss, own=own)
    writing.from_another = state is not None and not own and state["adapter"] == NAME
    body: Wire = {}
    if (model := _model(request, endpoint)) is not None:
        body["model"] = model
    body["messages"] = messages_to_wire(request, writing)
    if not body["messages"] and not own:
        raise InvalidRequest("a request needs at least one message", path="/messages", adapter=NAME)
    if request.get("tools"):
        tools_to_wire(request, body, writing)
    if "tool_choice" in request or "parallel_tool_calls" in request:
        choice_to_wire(request, body, writing)
    for name, value in request.items():
        if name not in _STRUCTURE and value is not None:
            _MEMBERS.get(name, _unknown_member)(name, value, request, body, writing)
    _effort_beside_tools(request, body, writing)
    if state is not None and own:
        _respell(body, state.get("form") or _NOTHING)
        report_own_state(state, loss, (), fields=True)
    elif state is not None:
        report_foreign_state(request, endpoint, loss, ())
    if "options" in request:
        _options_to_wire(request, body, writing)
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


def _respell(body: Wire, form: Mapping[str, Any]) -> None:
    """Writes the members that were there without saying anything."""
    for name, value in form.get("empty", _NOTHING).items():
        body.setdefault(name, value)


def _unknown_member(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    writing.loss.drop((name,), "unknown_field", "lost", "a member that this version does not know")


def _scalar(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses(name):
        writing.report_refused(name)
    else:
        body[name] = value


_RANGES = {"temperature": (0, 2), "top_p": (0, 1), "frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}


def _sampling(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    lowest, highest = _RANGES[name]
    if not writing.own and not writing.refuses(name) and not lowest <= value <= highest:
        value = max(lowest, min(value, highest))
        message = f"the wire takes {lowest} to {highest}"
        writing.loss.replace((name,), value, "unsupported_value", "weakened", message)
    effort = (request.get("reasoning") or _NOTHING).get("effort")
    if writing.capabilities.get("sampling_with_reasoning") is False and effort != "none" and not writing.own:
        message = "the model samples by these settings only without reasoning"
        writing.loss.drop((name,), "combination", "weakened", message)
    else:
        _scalar(name, value, request, body, writing)


def _top_k(name: str, value: Any, request: Request, body: Wire, writing: Writing) -> None:
    if writing.dialect.get("top_k"):
        _scalar(name, value, request, body, writing)
    else:
        writing.loss.drop((name,), "unsupported_field", "weakened", "the wire has no top_k")


def _limit(name: str, value: int, request: Request, body: Wire, writing: Writing) -> None:
    form = writing.form(request)
    member = writing.dialect.get("token_limit") or _LIMITS[0]
    if form.get("token_limit") in _LIMITS:
        member = form["token_limit"]
    highest = writing.capabilities.get("max_output_tokens")
    if highest is not None and value > highest and not writing.own:
        message = "the model gives fewer tokens"
        writing.loss.replace((name,), highest, "limit_exceeded", "weakened", message)
        value = highest
    body[member] = value


def _seed(name: str, value: int, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses(name):
        writing.report_refused(name)
    else:
        body[writing.dialect.get("seed_name") or "seed"] = value


def _stop(name: str, value: list[str], request: Request, body: Wire, writing: Writing) -> None:
    if not value:
        return
    if writing.refuses(name):
        writing.report_refused(name)
        return
    form = writing.form(request)
    most = writing.dialect.get("max_stop", 4)
    if most is not None and len(value) > most and not writing.own:
        value = value[:most]
        writing.loss.replace((name,), value, "limit_exceeded", "weakened", f"the wire takes {most} stop texts")
    body["stop"] = value[0] if form.get("stop") == "string" and len(value) == 1 else value


def _top_logprobs(name: str, value: int, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses("logprobs") or writing.refuses(name):
        message = "the target gives no log probabilities"
        code = "unsupported_field" if name in writing.dialect.get("unsupported", ()) else "unsupported_model"
        writing.loss.drop((name,), code, "weakened", message)
        return
    if value > MOST_LOGPROBS and not writing.own:
        value = MOST_LOGPROBS
        writing.loss.replace((name,), value, "limit_exceeded", "weakened", f"the wire gives {MOST_LOGPROBS} of them")
    body[name] = value
    if not request.get("logprobs") and not writing.own:
        body["logprobs"] = True
        message = "alternatives are only given with log probabilities"
        writing.loss.replace(("logprobs",), True, "required_default", "shape", message)


def _logprobs(name: str, value: bool, request: Request, body: Wire, writing: Writing) -> None:
    if writing.refuses(name):
        writing.report_refused(name)
    else:
        body.setdefault(name, value)


def _verbosity(name: str, value: str, request: Request, body: Wire, writing: Writing) -> None:
    if not writing.own and value not in VERBOSITIES and not writing.refuses(name):
        writing.loss.drop((name,), "unsupported_value", "weakened", "the wire has no such word")
    else:
        _scalar(name, value, request, body, writing)


def _service_tier(name: str, value: str, request: Request, body: Wire, writing: Writing) -> None:
    words = writing.dialect.get("service_tiers") or SERVICE_TIERS
    if not writing.own and value not in words and not writing.refuses(name):
        writing.loss.drop((name,), "unsupported_value", "weakened", "the provider has no such service tier")
    else:
        _scalar(name, value, request, body, writing)


def _metadata(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    if writing.own:
        body[name] = value
        return
    if not value:
        return
    if writing.refuses(name):
        writing.report_refused(name)
        return
    kept: dict[str, str] = {}
    for key, item in value.items():
        if not isinstance(item, str) or len(key) > 64 or len(item) > 512:
            message = "the wire keeps texts of up to 512 characters under names of up to 64"
            writing.loss.drop((name, key), "unsupported_value", "weakened", message)
        elif len(kept) == 16:
            writing.loss.drop((name, key), "limit_exceeded", "weakened", "the wire keeps 16 pairs")
        else:
            kept[key] = item
    if kept:
        body[name] = kept


def _cache(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    form = writing.form(request)
    if writing.dialect.get("cache_hints") == "cache_control" or "cache" in form:
        cache_to_wire(value, body, {"form": form}, (name,), writing)
    else:
        writing.loss.drop((name,), "cache_hint", "weakened", "the wire has no cache mark for the whole prompt")


def _stream(name: str, value: bool, request: Request, body: Wire, writing: Writing) -> None:
    body[name] = value
    form = writing.form(request)
    asked = "stream_options" in (request.get("options") or _NOTHING).get(NAME, _NOTHING)
    silent = writing.dialect.get("stream_options") is False or any(
        "stream_options" in form.get(spelling, ()) for spelling in ("absent", "empty")
    )
    if value and not asked and not silent:
        body["stream_options"] = _INCLUDE_USAGE


# -- reasoning


def _reasoning(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    value = {key: item for key, item in value.items() if item is not None}
    if not value:
        return
    if writing.refuses("reasoning_effort") or (control := _control(writing)) == "none":
        if name in writing.dialect.get("unsupported", ()) or not writing.refuses("reasoning_effort"):
            writing.loss.drop((name,), "unsupported_field", "weakened", "the provider takes no reasoning settings")
        else:
            writing.loss.drop((name,), "unsupported_model", "weakened", "the model takes no reasoning settings")
        return
    match control:
        case "reasoning":
            written = _reasoning_object(value, body)
        case "thinking":
            written = _thinking_object(value, body, writing)
        case _:
            written = _effort(value, writing)
            body |= {"reasoning_effort": written["effort"]} if written else {}
    if written != value:
        message = "reasoning is asked for in the target's terms"
        if written:
            writing.loss.replace((name,), written, "reasoning_mapped", "weakened", message)
        else:
            writing.loss.drop((name,), "reasoning_mapped", "weakened", message)


def _control(writing: Writing) -> str:
    return writing.dialect.get("reasoning_control") or "reasoning_effort"


def _effort(value: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
    """Effort is the one word that the wire has: a budget and a mode are turned into it."""
    effort = value.get("effort")
    if effort is None:
        if value.get("mode") == "disabled":
            effort = "none"
        elif "budget_tokens" in value:
            budget = value["budget_tokens"]
            effort = "low" if budget <= 2_048 else "medium" if budget <= 16_384 else "high"
    if effort is None:
        return {}
    if not writing.own:
        effort = _nearest(effort, writing.capabilities.get("reasoning_efforts"))
    return {} if effort is None else {"effort": effort}


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


def _reasoning_object(value: Mapping[str, Any], body: Wire) -> dict[str, Any]:
    """OpenRouter's object. It takes an effort or a budget, not both."""
    written: dict[str, Any] = {}
    wire: Wire = {}
    if "effort" in value:
        written["effort"] = wire["effort"] = value["effort"]
    elif "budget_tokens" in value:
        written["budget_tokens"] = wire["max_tokens"] = value["budget_tokens"]
    if value.get("mode") in ("enabled", "disabled"):
        written["mode"] = value["mode"]
        wire["enabled"] = value["mode"] == "enabled"
    if value.get("display") == "omitted":
        written["display"] = "omitted"
        wire["exclude"] = True
    if wire:
        body["reasoning"] = wire
    return written


def _thinking_object(value: Mapping[str, Any], body: Wire, writing: Writing) -> dict[str, Any]:
    written: dict[str, Any] = {}
    mode = value.get("mode")
    if mode is None and "budget_tokens" in value:
        mode = "enabled"
    if mode in ("enabled", "disabled"):
        written["mode"] = mode
        body["thinking"] = {"type": mode}
    if value.get("effort") is not None:
        words = _effort(value, writing)
        written |= words
        if words:
            body["reasoning_effort"] = words["effort"]
    return written


def _effort_beside_tools(request: Request, body: Wire, writing: Writing) -> None:
    if writing.capabilities.get("tools_with_reasoning") is not False or writing.own or "tools" not in body:
        return
    if body.get("reasoning_effort") != "none":
        body["reasoning_effort"] = "none"
        message = "over this wire the model calls tools only without reasoning"
        writing.loss.replace(("reasoning",), {"effort": "none"}, "combination", "weakened", message)


# -- the form of the answer


def _response_format(name: str, value: dict[str, Any], request: Request, body: Wire, writing: Writing) -> None:
    form = writing.form(request)
    if (spelling := form.get("response_format")) is not None and _format_from_wire(spelling) == value:
        body[name] = spelling
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
            body[name] = {"type": "text"}
        case "json":
            body[name] = {"type": "json_object"}
        case "json_schema":
            body[name] = {"type": "json_schema", "json_schema": _schema_to_wire(value, writing)}
        case _:
            loss.drop((name,), "unsupported_value", "lost", "the provider cannot be asked for this form of answer")


_FORMAT = frozenset(("type", "name", "description", "schema", "strict"))


def _accepted_format(name: str, kind: str, value: dict[str, Any], writing: Writing) -> str | None:
    forms = writing.dialect.get("response_formats") or ("text", "json", "json_schema")
    if writing.capabilities.get("supports_structured_output") is False:
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
    if not writing.own:
        path = ("response_format", "name")
        if name is None:
            name = "response"
            writing.loss.replace(path, name, "required_default", "shape", "the wire demands a name of the schema")
        elif not TOOL_NAME.fullmatch(name):
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


def _options_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Own options are members of the wire, verbatim; those for other adapters have no meaning here."""
    options = request.get("options") or {}
    loss = writing.loss
    if len(options) > 1 or NAME not in options:
        report_foreign_options(request, writing.endpoint, loss)
    for name, value in (options.get(NAME) or _NOTHING).items():
        path = ("options", NAME, name)
        if writing.from_another and name not in _WIRE_MEMBERS:  # refused elsewhere
            loss.drop(path, "foreign_options", "weakened", "an option of another provider has no meaning here")
            continue
        if name in body or name == "messages" or (name in _LIMITS and _has_limit(body) and not writing.own):
            loss.drop(path, "combination", "weakened", "another member of the request says it already")
            continue
        body[name] = value
        if name in _KNOWN_MEMBERS or name == writing.dialect.get("seed_name"):
            _report_meaning(name, value, body, path, writing)


_WIRE_MEMBERS = frozenset(
    (
        "audio",
        "function_call",
        "functions",
        "logit_bias",
        "max_completion_tokens",
        "max_tokens",
        "modalities",
        "moderation",
        "prediction",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "response_format",
        "safety_identifier",
        "store",
        "stream_options",
        "tool_choice",
        "tools",
        "web_search_options",
    )
)
"""OpenAI's own members that the contract has no word for, or that a request may spell in a way it has none for."""


def _has_limit(body: Wire) -> bool:
    return any(name in body for name in _LIMITS)


def _report_meaning(name: str, value: Any, body: Wire, path: tuple[str, ...], writing: Writing) -> None:
    """An option that the contract has a word for is read back as that word."""
    if name in _LIMITS and all(limit in body for limit in _LIMITS):
        return
    if value is None or (name == "stream" and isinstance(value, bool)):
        writing.loss.drop(path, "combination", "shape", "the member is read back as part of the request")
        return
    beside = {other: body[other] for other in ("stream", "tools", "functions") if other != name and body.get(other)}
    read, _ = read_members({name: value, **beside}, Reading(writing.endpoint, DERIVED_IDS))
    if name in (read.get("options") or _NOTHING).get(NAME, _NOTHING):
        return
    writing.loss.drop(path, "combination", "shape", "the member is read back as part of the request")
    for member, item in read.items():
        if member != "options" and member not in beside and not (member == "tools" and "functions" in beside):
            message = "an option that the contract has a word for"
            parts = (
                [((member, key), part) for key, part in item.items()] if member == "reasoning" else [((member,), item)]
            )
            for where, value in parts:
                writing.loss.replace(where, value, "combination", "shape", message)


Writer = Callable[[str, Any, Request, Wire, Writing], None]

_MEMBERS: dict[str, Writer] = {
    "max_output_tokens": _limit,
    "temperature": _sampling,
    "top_p": _sampling,
    "frequency_penalty": _sampling,
    "presence_penalty": _sampling,
    "top_k": _top_k,
    "seed": _seed,
    "stop": _stop,
    "n": _scalar,
    "logprobs": _logprobs,
    "top_logprobs": _top_logprobs,
    "reasoning": _reasoning,
    "response_format": _response_format,
    "verbosity": _verbosity,
    "service_tier": _service_tier,
    "user": _scalar,
    "metadata": _metadata,
    "cache": _cache,
    "stream": _stream,
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
    messages = messages_from_wire(body.get("messages"), reading)
    try:
        request, form = read_members(body, reading)
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise malformed("the request") from problem
    request["messages"] = messages
    request["provider_state"] = reading.state(form=form) if form else reading.state()
    return request, []


def read_members(body: Wire, reading: Reading) -> tuple[Request, dict[str, Any]]:
    """The members of a request beside its messages, and how they were spelt.

    A member of an unexpected type is no error: it goes to the options and back as it came.
    """
    request: Request = {}
    form: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for name, value in body.items():
        if name == "messages":
            continue
        reader = _READERS.get(name)
        if value is None:
            form.setdefault("empty", {})[name] = None
        elif reader is None or not reader(name, value, body, request, form, reading):
            if reading.endpoint.dialect and _dialect_member(name, value, request, reading):
                continue
            options[name] = value
    if (
        body.get("stream") is True
        and "stream_options" not in body
        and reading.endpoint.dialect.get("stream_options") is not False
    ):
        form.setdefault("absent", []).append("stream_options")
    if options:
        request["options"] = {reading.endpoint.adapter: options}
    return request, form


def _dialect_member(name: str, value: Any, request: Request, reading: Reading) -> bool:
    """Members that only some dialects have."""
    dialect = reading.endpoint.dialect
    if name == dialect.get("seed_name") and type(value) is int:
        request["seed"] = value
        return True
    if name == "top_k" and dialect.get("top_k") and is_number(value):
        request["top_k"] = value
        return True
    control = dialect.get("reasoning_control")
    if name == control == "reasoning" and isinstance(value, dict) and (read := _read_reasoning(value)):
        request["reasoning"] = {**request.get("reasoning", {}), **read}
        return True
    if name == control == "thinking" and isinstance(value, dict) and value.get("type") in ("enabled", "disabled"):
        if len(value) == 1:
            request["reasoning"] = {**request.get("reasoning", {}), "mode": value["type"]}
            return True
    return False


def _read_reasoning(value: Wire) -> dict[str, Any] | None:
    read: dict[str, Any] = {}
    for name, item in value.items():
        match name:
            case "effort" if isinstance(item, str):
                read["effort"] = item
            case "max_tokens" if type(item) is int and item >= 0 and "effort" not in value:
                read["budget_tokens"] = item
            case "enabled" if isinstance(item, bool):
                read["mode"] = "enabled" if item else "disabled"
            case "exclude" if item is True:
                read["display"] = "omitted"
            case _:
                return None
    return read


Reader = Callable[[str, Any, Wire, Request, dict[str, Any], Reading], bool]


def _read_model(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, str) or not value:
        return False
    request["model"] = reading.endpoint.model_id(value)
    return True


def _read_number(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if not is_number(value):
        return False
    request[name] = value
    return True


def _read_text(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, str):
        return False
    request[name] = value
    return True


def _read_switch(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, bool):
        return False
    request[name] = value
    return True


def _read_count(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if type(value) is not int or value < (1 if name == "n" else 0):
        return False
    request[name] = value
    return True


def _read_seed(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if type(value) is not int or reading.endpoint.dialect.get("seed_name", name) != name:
        return False
    request["seed"] = value
    return True


def _read_limit(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if type(value) is not int or value < 0 or (name == "max_tokens" and body.get("max_completion_tokens") is not None):
        return False
    request["max_output_tokens"] = value
    if name != (reading.endpoint.dialect.get("token_limit") or _LIMITS[0]):
        form["token_limit"] = name
    return True


def _read_stop(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if isinstance(value, str):
        request["stop"] = [value]
        form["stop"] = "string"
        return True
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return False
    if value:
        request["stop"] = value
    else:
        form.setdefault("empty", {})["stop"] = value
    return True


def _read_metadata(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    if not isinstance(value, dict):
        return False
    request["metadata"] = value
    return True


def _read_effort(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    # beside OpenRouter's object the plain word would be a second effort; without any control it means nothing
    if not isinstance(value, str) or reading.endpoint.dialect.get("reasoning_control") in ("reasoning", "none"):
        return False
    request["reasoning"] = {**request.get("reasoning", {}), "effort": value}
    return True


def _read_cache(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    kept = {name: value}
    form.update(cache_from_wire(kept, request, None) or {})
    return not kept


def _read_format(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    read = _format_from_wire(value)
    if read is None:
        return False
    request["response_format"] = read
    if read["type"] == "json_schema" and None in value["json_schema"].values():
        form["response_format"] = value
    return True


def _format_from_wire(value: Any) -> dict[str, Any] | None:
    match value:
        case {"type": "text"} if len(value) == 1:
            return {"type": "text"}
        case {"type": "json_object"} if len(value) == 1:
            return {"type": "json"}
        case {"type": "json_schema", "json_schema": dict(schema)} if len(value) == 2:
            if not schema.keys() <= _SCHEMA_TYPES.keys():
                return None
            said = {name: item for name, item in schema.items() if item is not None}
            if not all(isinstance(item, _SCHEMA_TYPES[name]) for name, item in said.items()):
                return None
            return {"type": "json_schema", **said}
        case _:
            return None


_SCHEMA_TYPES: dict[str, type] = {"name": str, "description": str, "schema": dict, "strict": bool}


def _read_tools(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
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


def _read_functions(
    name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading
) -> bool:
    """The functions of the time before tools. Beside tools they have no place of their own."""
    if body.get("tools") or not isinstance(value, list) or not value or not all(map(is_function, value)):
        return False
    request["tools"] = [function_from_wire(function, reading) for function in value]
    form["tools"] = "functions"
    return True


def _read_choice(name: str, value: Any, body: Wire, request: Request, form: dict[str, Any], reading: Reading) -> bool:
    legacy = name == "function_call"
    if not legacy and body.get("functions") and not body.get("tools"):
        return False  # functions are chosen by their own member
    if legacy and (body.get("tools") or not body.get("functions") or not all(map(is_function, body["functions"]))):
        return False
    choice, usual = choice_from_wire(value, reading.endpoint.dialect)
    if choice is None:
        return False
    request["tool_choice"] = choice
    if not usual:
        form["tool_choice"] = value
    return True


_READERS: dict[str, Reader] = {
    "model": _read_model,
    "max_completion_tokens": _read_limit,
    "max_tokens": _read_limit,
    "temperature": _read_number,
    "top_p": _read_number,
    "frequency_penalty": _read_number,
    "presence_penalty": _read_number,
    "seed": _read_seed,
    "stop": _read_stop,
    "n": _read_count,
    "top_logprobs": _read_count,
    "logprobs": _read_switch,
    "stream": _read_switch,
    "parallel_tool_calls": _read_switch,
    "tools": _read_tools,
    "functions": _read_functions,
    "tool_choice": _read_choice,
    "function_call": _read_choice,
    "response_format": _read_format,
    "reasoning_effort": _read_effort,
    "verbosity": _read_text,
    "service_tier": _read_text,
    "user": _read_text,
    "metadata": _read_metadata,
    "cache_control": _read_cache,
    "stream_options": lambda name, value, body, request, form, reading: (
        value == _INCLUDE_USAGE
        and value["include_usage"] is True
        and body.get("stream") is True
        and reading.endpoint.dialect.get("stream_options") is not False
    ),
}

_KNOWN_MEMBERS = frozenset((*_READERS, "random_seed", "top_k", "reasoning", "thinking"))
