"""Requests both ways: the members beside the contents, what is asked of the answer, and how many tokens it all takes."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote, unquote

from interlingua.adapters import _estimates
from interlingua.adapters._as_read import record_quirk
from interlingua.adapters._estimates import Range, window
from interlingua.adapters._kit import (
    Wire,
    is_stored,
    report_foreign_option,
    report_foreign_options,
    report_foreign_state,
    report_parallel,
    severity_of,
    stored_elsewhere,
)
from interlingua.adapters._members import (
    ANYTHING,
    INTEGER,
    LIST,
    NUMBER,
    OBJECT,
    REASONING,
    SWITCH,
    TEXT,
    TEXTS,
    Body,
    Members,
    Row,
    Rows,
    Writer,
    is_number,
    model_to_wire,
    one_of,
    places,
    put,
    whole,
    within,
    write_members,
    wrong_member,
)
from interlingua.adapters._order import note_disorder
from interlingua.adapters._reasoning import nearest, report_members
from interlingua.adapters._requests import body_of, keep_names, keep_request, posted, request_writer, unmeasured
from interlingua.adapters._rules import FORMAT, MOST_LOGPROBS, kept_metadata, kept_stops, known_tier, report_format
from interlingua.adapters._structured import extract_format
from interlingua.adapters._verbatim import may_differ
from interlingua.adapters.gemini_generate.contents import (
    Read,
    begins_with_call,
    contents_from_wire,
    contents_to_wire,
    demands_signatures,
    system_from_wire,
)
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.tables import (
    BUDGETS,
    CAMEL,
    EFFORTS,
    MODEL_IN_PATH,
    MOST_STOPS,
    NAME,
    PATH,
    SEEDS,
    TIERS,
    fits_name,
    in_first_names,
    in_their_names,
    path_as_sent,
)
from interlingua.adapters.gemini_generate.tools import (
    CHOICE,
    Offered,
    choice_from_wire,
    choice_to_wire,
    fitted,
    is_mode,
    is_taken,
    json_schema,
    tools_from_wire,
    tools_to_wire,
)
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]
Reasoning = dict[str, Any]

_FORMATS: Final = ("responseMimeType", "responseJsonSchema", "responseSchema")

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Reads a request of this wire, given as `{method, path, headers, body}`; the model and the streaming stand in the path.

    Raises `InvalidWire` with a pointer into the body when it cannot be read.
    Nothing is lost: what has no canonical meaning stands in `options` or in provider state, other spellings in `encoding`.
    """
    given = body_of(wire)
    names: dict[str, str] = {}
    body = in_first_names(given, _ROWS, names)
    reading = Reading(endpoint, ids)
    encoding: dict[str, Any] = {"snake": names} if names else {}
    for name in ("contents", "tools"):
        if type(body.get(name)) is dict:
            body = dict(body)
            body[name] = [body[name]]
            encoding[name] = "object"
    contents = body.get("contents")
    if type(contents) is not list:
        raise InvalidWire("contents must be a list", path="/contents", adapter=endpoint.adapter)
    messages: list[dict[str, Any]] = []
    if body.get("systemInstruction") is not None:
        messages.append(system_from_wire(body["systemInstruction"], reading))
    starts = contents_from_wire(contents, reading, messages)
    contents_may, reading.unusual = reading.unusual, False
    members = Members(body, endpoint, reading)
    members.read(_ROWS, _APART)
    request = members.request
    _address_from_wire(wire, body, endpoint, request, encoding)
    request["messages"] = messages
    if not contents:
        record_quirk(request, encoding, "messages", "empty_content", endpoint.adapter)
    keep_names(request, encoding, reading.names, fits_name)
    if any(message["role"] == "assistant" for message in messages[:2]) and begins_with_call(
        messages, range(len(messages))
    ):
        encoding["call_first"] = True
    keep_request(request, body, encoding, endpoint, _BODY, unusual=_is_unusual(request, body))
    if contents_may:
        note_disorder(messages, endpoint.state, by_turn=True)
    model = (request.get("model") or "").partition(":")[2]
    if request.get("tools") and may_differ(reading.unusual):
        offered = Offered(body["tools"], reading.offered)
        tools_to_wire(request, {}, Writing(request, unmeasured(endpoint), Loss()), read=offered)
    if may_differ(contents_may or (reading.unsigned and demands_signatures(endpoint, model))):
        reader = unmeasured(endpoint, "thought_signatures")  # the model is known to demand what it did not get
        read = Read(body.get("systemInstruction"), contents, starts)
        contents_to_wire(request, {}, Writing(request, reader, Loss(), model), read=read)
    return extract_format(request), []


def _address_from_wire(
    wire: Mapping[str, Any], body: Wire, endpoint: Endpoint, request: Request, encoding: dict[str, Any]
) -> None:
    """The model and the kind of answer, out of the path; some clients say the model in the body as well."""
    path = wire.get("path")
    path = path if isinstance(path, str) else ""
    found = MODEL_IN_PATH.search(path)
    model = body.get("model")
    name = unquote(found[1]) if found else model.rpartition("/")[2] if type(model) is str else None
    if name:
        request["model"] = endpoint.model_id(name) or ""
    if found and found[2] == "streamGenerateContent":
        request["stream"] = True
        if "alt=sse" not in path:
            encoding["array"] = True


# -- members


def _read_model(name: str, value: Any, members: Members[Reading]) -> bool:
    return type(value) is str  # with the address


def _number(
    member: str, lowest: Any, highest: Any, *, least: float | None = None, write: Writer[Writing] | None = None
) -> Row:
    """The row of a number, also where a client wrote it as a text. One that has a `least` is whole."""

    def parse(value: Any) -> int | float | Decimal | None:
        if type(value) is str:
            try:
                value = json.loads(value)
            except InvalidRequest:
                return None
        if least is None:
            return value if is_number(value) else None
        number = whole(value)
        return None if number is None or number < least else number

    kind = NUMBER if least is None else INTEGER
    return Row(kind, member, plain=(lowest, highest), parse=parse, write=write)


def _reasoning_from_wire(config: Wire) -> Reasoning | None:
    """A thinkingConfig; None for one that says more than the contract has words for."""
    reasoning: Reasoning = {}
    for name, item in config.items():
        match name:
            case _ if item is None:
                pass
            case "includeThoughts" if type(item) is bool:
                reasoning["display"] = "summarized" if item else "omitted"
            case "thinkingBudget" if type(item) is int and item > 0:
                reasoning["budget_tokens"] = item
            case "thinkingBudget" if type(item) is int and item >= -1:
                reasoning["mode"] = "adaptive" if item else "disabled"
            case "thinkingLevel" if type(item) is str and item.lower() in EFFORTS:
                reasoning["effort"] = item.lower()
            case _:
                return None
    return reasoning


def _read_format(name: str, value: Any, members: Members[Reading]) -> bool:
    """Type and schema of an answer are one wish, whichever comes first."""
    if "response_format" not in members.request:
        config: Wire = members.body["generationConfig"]
        found = _format_from_wire({name: config[name] for name in _FORMATS if config.get(name) is not None})
        if found is None:
            return False
        members.request["response_format"] = found
    return True


def _format_from_wire(formats: Wire) -> dict[str, Any] | None:
    schema = formats.get("responseJsonSchema", json_schema(formats.get("responseSchema")))
    match formats.get("responseMimeType"), len(formats):
        case "application/json", 1:
            return {"type": "json"}
        case "application/json", 2 if type(schema) is dict:
            return {"type": "json_schema", "schema": schema}
        case "text/plain", 1:
            return {"type": "text"}
        case _:
            return None


def _is_level(value: str, _: Wire) -> bool:
    return value.isupper() and value.lower() in EFFORTS[:4]


def _are_stops(value: list[str], _: Wire) -> bool:
    return len(value) <= MOST_STOPS and all(value)


def _read_tools(name: str, value: Any, members: Members[Reading]) -> bool:
    tools = tools_from_wire(value, members.reading) if type(value) is list else None
    if tools is not None:
        members.request["tools"] = tools
    return tools is not None


def _read_choice(name: str, value: Any, members: Members[Reading]) -> bool:
    if type(value) is not dict:
        return False
    choice, left = choice_from_wire(value)
    if choice is not None:
        members.request["tool_choice"] = choice
    if left:
        members.options[name] = left
    return True


def _labels_from_wire(value: Wire) -> Wire | None:
    return value if all(type(label) is str for label in value.values()) else None


def _is_unusual(request: Request, body: Wire) -> bool:
    """Whether a member may be written otherwise than it came for what stands beside it."""
    reasoning: Reasoning = request.get("reasoning") or {}
    return (
        ("tool_choice" in request and not any(tool.get("kind") != "provider" for tool in request.get("tools") or ()))
        or ("top_logprobs" in request and not request.get("logprobs"))
        or ("effort" in reasoning and len(reasoning) > 1 and len(reasoning.keys() - {"display"}) > 1)
        or "cachedContent" in body
    )


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Writes a canonical request for this wire and reports what changes.

    Raises `InvalidRequest` when no valid wire exists for the conversation.
    """
    return _WRITE(request, endpoint)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    model = model_to_wire(request, endpoint)
    writing = Writing(request, endpoint, loss, model)
    encoding = writing.encoding
    body: Wire = {}
    contents_to_wire(request, body, writing)
    tools_to_wire(request, body, writing)
    _members_to_wire(request, body, writing)
    _BODY.put_back(body, writing)
    if not writing.same_model:
        body.pop("model", None)  # the path names another one
    for name in ("contents", "tools"):
        if encoding.get(name) == "object" and len(body.get(name) or ()) == 1:
            body[name] = body[name][0]
    if names := encoding.get("snake"):
        body = in_their_names(body, names)
    if not writing.same_origin:
        report_foreign_state(request, endpoint, loss, ())
    return posted(_path(request, model, encoding, endpoint), body)


_PLAIN_MODEL: Final = re.compile(r"[A-Za-z0-9._@-]*")


def _path(request: Request, model: str | None, encoding: Mapping[str, Any], endpoint: Endpoint) -> str:
    template: str = endpoint.dialect.get("path", PATH)
    name = model or ""
    if name.startswith(("tunedModels/", "endpoints/")):
        template = template.replace("models/{model}", "{model}")
        path = template.replace("{model}", quote(name, safe="/@"))
    else:
        path = template.replace("{model}", name if _PLAIN_MODEL.fullmatch(name) else quote(name, safe="@"))
    if not request.get("stream"):
        return f"{path}:generateContent"
    return f"{path}:streamGenerateContent" + ("" if encoding.get("array") else "?alt=sse")


_WRITE: Final = request_writer(_written)


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Writes the members beside contents and tools."""
    report_parallel(request, writing.loss)
    if request.get("tool_choice") is not None:
        choice_to_wire(request, body, writing)
    write_members(request, body, _PLACES, writing, ("stream",))
    if request.get("options"):
        _options_to_wire(request["options"], body, writing)


# -- sampling and limits


def _seed(name: str, value: int, body: Wire, writing: Writing) -> None:
    if -SEEDS <= value < SEEDS:
        put(body, _CONFIG, name, value)
    else:
        writing.loss.drop((name,), "unsupported_value", "weakened", "the target takes seeds of 32 bits")


def _top_logprobs(name: str, value: int, body: Wire, writing: Writing) -> None:
    if writing.source.get("logprobs"):
        put(body, _CONFIG, "logprobs", within(name, value, 0, MOST_LOGPROBS, writing))
    else:
        severity = severity_of(name, value, "lost")
        writing.loss.drop((name,), "combination", severity, "alternatives come only with log probabilities")


_CONFIG: Final = "generationConfig"


def _stop(name: str, value: list[str], body: Wire, writing: Writing) -> None:
    if kept := kept_stops(value, writing, MOST_STOPS):
        put(body, _CONFIG, "stopSequences", kept)


# -- reasoning


def _reasoning(name: str, value: Reasoning, body: Wire, writing: Writing) -> None:
    """Writes the thinkingConfig; what is fitted to the model is reported."""
    if writing.lacks("supports_thinking", name):
        severity = "representation" if value.get("mode") == "disabled" else "weakened"
        writing.loss.drop((name,), "unsupported_model", severity, "the model does not think")
        return
    taken = _fitted(value, writing)
    wire: Wire = {}
    if "effort" in taken:
        wire["thinkingLevel"] = taken["effort"].upper()
    if "budget_tokens" in taken:
        wire["thinkingBudget"] = taken["budget_tokens"]
    elif "mode" in taken:
        wire["thinkingBudget"] = 0 if taken["mode"] == "disabled" else -1
    if "display" in taken:
        wire["includeThoughts"] = taken["display"] == "summarized"
    if wire:
        put(body, _CONFIG, "thinkingConfig", wire)
    report_members(value, taken, writing, mode_counts=False)


def _fitted(reasoning: Reasoning, writing: Writing) -> Reasoning:
    """What the target takes of a wish: one of level, budget and mode."""
    mode, effort, budget = reasoning.get("mode"), reasoning.get("effort"), reasoning.get("budget_tokens")
    fitted: Reasoning = {}
    if reasoning.get("display") in ("summarized", "omitted"):
        fitted["display"] = reasoning["display"]
    off = mode == "disabled" or effort == "none" or budget == 0
    known = writing.known("reasoning")
    levels = known.get("thinking_levels", writing.generation(3, "reasoning") > 2)
    if off:
        if levels and writing.generation(0, "reasoning") > 2:
            return fitted | {"effort": _level("minimal", writing)}
        least = known.get("min_thinking_budget")
        return fitted | ({"budget_tokens": least} if least else {"mode": "disabled"})
    word = "xhigh" if effort == "max" else effort if effort in EFFORTS else None
    if word is not None and levels:
        return fitted | {"effort": _level(word, writing)}
    if budget is not None:
        return fitted | {"budget_tokens": budget}
    if word is not None:
        return fitted | {"budget_tokens": BUDGETS[word]}
    return fitted | {"mode": "adaptive"} if mode is not None else fitted


def _level(word: str, writing: Writing) -> str:
    """The level of the model for an effort."""
    return nearest(word, EFFORTS, writing.known("reasoning").get("reasoning_efforts") or EFFORTS[:4]) or word


# -- the form of the answer


def _response_format(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Asks for the form of the answer; what of it cannot be asked for is reported."""
    loss, path, kind = writing.loss, (name,), value["type"]
    if kind == "text":
        for member in value:
            if member != "type":
                loss.drop((name, member), "unsupported_field", "representation", "free text has no such member")
        return
    if kind == "json_schema" and "schema" not in value:
        loss.replace((name, "type"), "json", "unsupported_value", "representation", "JSON without a schema")
    if writing.lacks("supports_structured_output", name):
        loss.drop(path, "unsupported_model", "lost", "the model does not enforce schemas")
        return
    put(body, _CONFIG, "responseMimeType", "application/json")
    if kind == "json_schema" and "schema" in value:
        put(body, _CONFIG, "responseJsonSchema", fitted(value["schema"], loss, (name, "schema")))
    elif "schema" in value:
        loss.drop((name, "schema"), "unsupported_field", "weakened", "a free JSON object has no schema")
    report_format(value, writing, "schema")


# -- service and labels


def _service_tier(name: str, value: str, body: Wire, writing: Writing) -> None:
    if (tier := known_tier(value, TIERS, "standard", writing)) is not None:
        body["serviceTier"] = tier


def _metadata(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    taken = writing.dialect.get("labels") is True
    message = "the target keeps no such data with a request"

    def fits(label: str, text: Any) -> bool:
        return taken and type(text) is str and _is_label(label) and _is_label(text)

    if kept := kept_metadata(value, writing, fits, message, code="unsupported_field"):
        body["labels"] = kept


def _is_label(text: str) -> bool:
    return len(text) < 64 and text == text.lower() and all(c.isalnum() or c in "_-" for c in text)


# -- options


def _options_to_wire(options: Request, body: Wire, writing: Writing) -> None:
    """Writes the wire's own members verbatim; what has a canonical member of its own is not taken from here."""
    adapter = writing.endpoint.adapter
    report_foreign_options(writing.source, writing.endpoint, writing.loss)
    native_options: Wire = options.get(adapter) or {}
    stored = stored_elsewhere(writing.source, writing.endpoint) is not None
    for member, value in native_options.items():
        left = _left(member, value, body, writing)
        if stored and is_stored(adapter, member, value):
            report_foreign_option(adapter, member, value, writing.loss, "")
        elif member in _OBJECTS and type(value) is dict:
            _object_to_wire(member, value, left or {}, body, writing)
        elif member == "cachedContent" and not _CACHED.isdisjoint((*body, *native_options)):
            message = "the target takes a cache only in the place of instructions and tools"
            writing.loss.drop(("options", adapter, member), "combination", "lost", message)
        elif left is not None and member not in body:
            body[member] = value
        else:
            _refuse_option((member,), writing)


_OBJECTS: Final = ("generationConfig", "toolConfig")
_CACHED: Final = frozenset(("systemInstruction", "tools", "toolConfig"))


def _object_to_wire(member: str, value: Wire, left: Wire, body: Wire, writing: Writing) -> None:
    """Writes the options among the members of an object, beside those that the request says itself."""
    present: Wire = body.get(member, {})
    covered = present.keys() | (_FORMATS if not present.keys().isdisjoint(_FORMATS) else ())
    taken = {name: option for name, option in left.items() if name in value and name not in covered}
    more: Any = left.get("functionCallingConfig")
    if "functionCallingConfig" in covered and type(more) is dict and more and more.keys().isdisjoint(CHOICE):
        taken["functionCallingConfig"] = {**present["functionCallingConfig"], **more}
    if taken or not value:
        for name in value:
            if name not in taken:
                _refuse_option((member, name), writing)
    else:
        _refuse_option((member,), writing)
    if present or taken:
        body[member] = {**present, **taken}


def _refuse_option(where: tuple[str, ...], writing: Writing) -> None:
    message = "the request has a member of its own for this"
    writing.loss.drop(("options", writing.endpoint.adapter, *where), "combination", "weakened", message)


def _left(member: str, value: Any, body: Wire, writing: Writing) -> Any:
    """What of a member would be an option, were it read beside those that are written; None where nothing would."""
    first = CAMEL.get(member, member)
    members = {name: body[name] for name in (first,) if name in body}
    if type(value) is dict and type(present := members.get(member)) is dict:
        value = {**present, **value}
    again = Members(in_first_names({**members, member: value}, _ROWS, {}), writing.endpoint, writing.reader())
    again.read(_ROWS, ("model", *_APART))
    return again.options.get(member)


# ---------------------------------------------------------------------------------------------- rows


_ROWS: Final[Rows] = {
    "model": Row(TEXT, read=_read_model, covers=("model",)),
    "tools": Row(LIST, read=_read_tools),
    "toolConfig": Row(
        {"functionCallingConfig": Row({"mode": Row(ANYTHING, plain=is_mode), "allowedFunctionNames": Row(ANYTHING)})},
        read=_read_choice,
        covers=("tool_choice",),
    ),
    "generationConfig": Row(
        {
            "temperature": _number("temperature", 0, 2),
            "topP": _number("top_p", 0, 1),
            "topK": _number("top_k", 1, None),
            "presencePenalty": _number("presence_penalty", -2, 1.99),
            "frequencyPenalty": _number("frequency_penalty", -2, 1.99),
            "maxOutputTokens": _number("max_output_tokens", 1, None, least=0),
            "candidateCount": _number("n", 1, 8, least=1),
            "seed": _number("seed", -SEEDS, SEEDS - 1, least=-math.inf, write=_seed),
            "logprobs": _number("top_logprobs", 0, 20, least=0, write=_top_logprobs),
            "stopSequences": Row(TEXTS, "stop", plain=_are_stops, write=_stop),
            "responseLogprobs": Row(SWITCH, "logprobs", plain=()),
            "responseMimeType": Row(
                TEXT, FORMAT, _read_format, plain=one_of(("application/json",)), write=_response_format
            ),
            "responseJsonSchema": Row(ANYTHING, FORMAT, _read_format, plain=is_taken),
            "responseSchema": Row(OBJECT, FORMAT, _read_format),
            "thinkingConfig": Row(
                {
                    "includeThoughts": Row(SWITCH, plain=()),
                    "thinkingBudget": Row(INTEGER, plain=(-1, None)),
                    "thinkingLevel": Row(TEXT, plain=_is_level),
                },
                REASONING,
                parse=_reasoning_from_wire,
                write=_reasoning,
            ),
        }
    ),
    "serviceTier": Row(TEXT, "service_tier", plain=one_of(TIERS), write=_service_tier),
    "labels": Row(OBJECT, "metadata", parse=_labels_from_wire, write=_metadata),
}
_APART: Final = ("contents", "systemInstruction")
_PLACES: Final = places(_ROWS)
_BODY: Final = Body(_ROWS, (*_APART, "tools"), _members_to_wire, Writing, free=True)


def wrong_type(options: Wire, encoding: Wire) -> InvalidWire | None:
    """The refusal of what was read of a request, where a member with a canonical word is of a wrong type."""
    problem = wrong_member(NAME, options, _ROWS)
    if problem is not None and problem.path is not None:
        problem.path = path_as_sent(problem.path, encoding.get("snake") or {})
    return problem


# ---------------------------------------------------------------------------------------------- estimates

_PROVIDED: Final[dict[str, Range | None]] = {
    "codeExecution": (0, 0, 4_000),
    "googleSearch": (0, 100, 4_000),
    "googleMaps": (0, 100, 4_000),
    "urlContext": (0, 100, 4_000),
}
"""Tools of the provider; what they find is not counted as prompt, what they are told by the model is, in part."""
_KEPT: Final = 4_096
"""The fewest tokens that the provider keeps as content of a cache."""


def estimate(request: types.Request, endpoint: Endpoint) -> types.TokenEstimate:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more."""
    cached = ((request.get("options") or {}).get(NAME) or {}).get("cachedContent")
    return _estimates.estimate(request, endpoint, _PROVIDED, (0, _KEPT, window(endpoint)) if cached else (0, 0, 0))
