"""Requests in both directions: members besides the contents, settings of the answer, and the token estimate."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from interlingua.adapters._content.schema import fitted
from interlingua.adapters._engine.kit import Wire, severity_of
from interlingua.adapters._estimates import estimate as _estimates
from interlingua.adapters._estimates.estimate import Range, window
from interlingua.adapters._requests.forms import FORMAT, Formats, form_writer
from interlingua.adapters._requests.members import (
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    Members,
    Writer,
    model_to_wire,
    number_of_answers,
    one_of,
    put,
    within,
)
from interlingua.adapters._requests.reasoning import nearest, reasoning_writer
from interlingua.adapters._requests.requests import Table, body_of, posted, write_request
from interlingua.adapters._requests.rules import (
    MOST_LOGPROBS,
    kept_metadata,
    seed_within,
    stops,
    word,
)
from interlingua.adapters.gemini_generate.contents import (
    Read,
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
    TOOL_NAMES,
    in_first_names,
    in_their_names,
    path_as_sent,
)
from interlingua.adapters.gemini_generate.tools import (
    DIALECT,
    Offered,
    choice_from_wire,
    choice_to_wire,
    is_mode,
    is_taken,
    json_schema,
    tools_from_wire,
    tools_to_wire,
)
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]
Reasoning = dict[str, Any]

_FORMATS: Final = ("responseMimeType", "responseJsonSchema", "responseSchema")

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Read a request of this wire, given as `{method, path, headers, body}`; the path has the model and the streaming.

    Raises `InvalidWire` with a pointer into the body when it cannot be read.
    Nothing is lost: what has no canonical meaning is kept in `options` or in provider state, other spellings in
    `encoding`.
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
    model = _model_of(wire, body) or ""
    if reading.unsigned and demands_signatures(endpoint, model):
        reading.must_compare = True
    reading.model = model
    members = _TABLE.read(body, reading)
    members.words.update(encoding)
    encoding = members.words
    _address_from_wire(wire, body, endpoint, members.request, encoding)
    must_compare = _is_unusual(members.request, body)
    read = Read(
        body.get("systemInstruction"), contents, starts, Offered(body.get("tools") or [], reading.offered), model
    )
    return _TABLE.keep_request(members, messages, read=read, empty=not contents, must_compare=must_compare), []


def _address_from_wire(
    wire: Mapping[str, Any], body: Wire, endpoint: Endpoint, request: Request, encoding: dict[str, Any]
) -> None:
    """Read the model and the kind of response from the path; some clients name the model in the body as well."""
    path = wire.get("path")
    path = path if isinstance(path, str) else ""
    found = MODEL_IN_PATH.search(path)
    if name := _model_of(wire, body):
        request["model"] = endpoint.model_id(name) or ""
    if found and found[2] == "streamGenerateContent":
        request["stream"] = True
        if "alt=sse" not in path:
            encoding["array"] = True


def _model_of(wire: Mapping[str, Any], body: Wire) -> str | None:
    """Return the name of the requested model."""
    path = wire.get("path")
    if isinstance(path, str) and (found := MODEL_IN_PATH.search(path)):
        return unquote(found[1])
    model = body.get("model")
    return model.rpartition("/")[2] if type(model) is str else None


# -- members


def _read_model(name: str, value: Any, members: Members[Reading]) -> bool:
    return type(value) is str  # `_address_from_wire` reads it


def _number(kind: str, member: str, lowest: Any, highest: Any, write: Writer[Writing] | None = None) -> BodyMember:
    return BodyMember(kind, member, plain=(lowest, highest), write=write, as_text=True)


def _reasoning_from_wire(config: Wire) -> Reasoning | None:
    """Read a thinkingConfig; None for one that the contract cannot express whole."""
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
    """Read the type and the schema of an answer as one setting, whichever comes first."""
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
    """Whether a member may be written differently than received, because of the members next to it."""
    reasoning: Reasoning = request.get("reasoning") or {}
    return (
        ("tool_choice" in request and not any(tool.get("kind") != "provider" for tool in request.get("tools") or ()))
        or ("top_logprobs" in request and not request.get("logprobs"))
        or ("effort" in reasoning and len(reasoning) > 1 and len(reasoning.keys() - {"display"}) > 1)
        or "cachedContent" in body
    )


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a canonical request for this wire and report what changes.

    Raises `InvalidRequest` when no valid request of this wire can represent the conversation.
    """
    return write_request(_written, request, endpoint)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    model = model_to_wire(request, endpoint)
    writing = Writing(request, endpoint, loss, model)
    encoding = writing.encoding
    body = _TABLE.write_body(request, writing)
    if not writing.same_model:
        body.pop("model", None)  # the path names another model
    for name in ("contents", "tools"):
        if encoding.get(name) == "object" and len(body.get(name) or ()) == 1:
            body[name] = body[name][0]
    if names := encoding.get("snake"):
        body = in_their_names(body, names)
    return posted(_path(request, model, encoding, endpoint), body)


def _conversation_to_wire(request: Request, writing: Writing, read: Read | None = None) -> Wire:
    """Write contents, instructions and tools. If they were just `read`, keep what is written differently."""
    body: Wire = {}
    if read is not None:
        writing.model = read.model
    contents_to_wire(request, body, writing, read=read)
    tools_to_wire(request, body, writing, read=None if read is None else read.offered)
    return body


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


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members besides contents and tools."""
    choice_to_wire(request, body, writing)
    _TABLE.write_members(request, body, writing, ("stream",))
    _TABLE.write_options(request, body, writing)
    if "cachedContent" in body and not _CACHED.isdisjoint(body):
        del body["cachedContent"]
        message = "the target accepts a cache only instead of instructions and tools"
        writing.loss.drop(("options", NAME, "cachedContent"), "combination", "lost", message)


# -- sampling and limits


def _top_logprobs(name: str, value: int, body: Wire, writing: Writing) -> int | None:
    if writing.source.get("logprobs"):
        return within(name, value, 0, MOST_LOGPROBS, writing)
    severity = severity_of(name, value, "lost")
    writing.loss.drop((name,), "combination", severity, "alternatives are returned only with log probabilities")
    return None


# -- reasoning


def _reasoning(value: Reasoning, _: Wire, writing: Writing) -> tuple[Any, Reasoning]:
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
    return wire or None, taken


def _fitted(reasoning: Reasoning, writing: Writing) -> Reasoning:
    """Return the part of the reasoning settings that the target takes: one of level, budget and mode."""
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
    """Return the level of the model for an effort."""
    return nearest(word, EFFORTS, writing.known("reasoning").get("reasoning_efforts") or EFFORTS[:4]) or word


# -- the format of the answer


def _form(value: dict[str, Any], body: Wire, writing: Writing) -> str:
    schema = fitted(value["schema"], DIALECT, writing.loss, (FORMAT, "schema"))
    put(body, "generationConfig", "responseJsonSchema", schema)
    return _JSON


_JSON: Final = "application/json"
_FORMS: Final = Formats(_form, json=_JSON, enforced=True)


# -- service and labels


def _metadata(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> Wire | None:
    taken = writing.dialect.get("labels") is True
    message = "the target does not accept this data with a request"

    def fits(label: str, text: Any) -> bool:
        return taken and type(text) is str and _is_label(label) and _is_label(text)

    return kept_metadata(writing, fits, message, code="unsupported_field") or None


def _is_label(text: str) -> bool:
    return len(text) < 64 and text == text.lower() and all(c.isalnum() or c in "_-" for c in text)


# -- options


# ---------------------------------------------------------------------------------------------- rows


_ROWS: Final[BodyMembers] = {
    "model": BodyMember(Kind.TEXT, read=_read_model, covers=("model",)),
    "tools": BodyMember(Kind.LIST, read=_read_tools),
    "toolConfig": BodyMember(
        {
            "functionCallingConfig": BodyMember(
                {"mode": BodyMember(Kind.ANYTHING, plain=is_mode), "allowedFunctionNames": BodyMember(Kind.ANYTHING)}
            )
        },
        read=_read_choice,
        covers=("tool_choice",),
    ),
    "generationConfig": BodyMember(
        {
            "temperature": _number(Kind.NUMBER, "temperature", 0, 2),
            "topP": _number(Kind.NUMBER, "top_p", 0, 1),
            "topK": _number(Kind.NUMBER, "top_k", 1, None),
            "presencePenalty": _number(Kind.NUMBER, "presence_penalty", -2, 1.99),
            "frequencyPenalty": _number(Kind.NUMBER, "frequency_penalty", -2, 1.99),
            "maxOutputTokens": _number(Kind.COUNT, "max_output_tokens", 1, None),
            "candidateCount": BodyMember(Kind.COUNT, "n", plain=(1, 8), parse=number_of_answers, as_text=True),
            "seed": _number(Kind.INTEGER, "seed", -SEEDS, SEEDS - 1, seed_within(-SEEDS, SEEDS - 1)),
            "logprobs": _number(Kind.COUNT, "top_logprobs", 0, MOST_LOGPROBS, _top_logprobs),
            "stopSequences": BodyMember(Kind.TEXTS, "stop", plain=_are_stops, write=stops(MOST_STOPS)),
            "responseLogprobs": BodyMember(Kind.SWITCH, "logprobs", plain=()),
            "responseMimeType": BodyMember(
                Kind.TEXT, FORMAT, _read_format, plain=one_of((_JSON,)), write=form_writer(_FORMS)
            ),
            "responseJsonSchema": BodyMember(Kind.ANYTHING, FORMAT, _read_format, plain=is_taken),
            "responseSchema": BodyMember(Kind.OBJECT, FORMAT, _read_format),
            "thinkingConfig": BodyMember(
                {
                    "includeThoughts": BodyMember(Kind.SWITCH, plain=()),
                    "thinkingBudget": BodyMember(Kind.INTEGER, plain=(-1, None)),
                    "thinkingLevel": BodyMember(Kind.TEXT, plain=_is_level),
                },
                REASONING,
                parse=_reasoning_from_wire,
                write=reasoning_writer("thinking", _reasoning),
            ),
        }
    ),
    "serviceTier": BodyMember(Kind.TEXT, "service_tier", plain=one_of(TIERS), write=word(TIERS, "standard")),
    "labels": BodyMember(Kind.OBJECT, "metadata", parse=_labels_from_wire, write=_metadata),
}
_CACHED: Final = frozenset(("systemInstruction", "tools", "toolConfig"))


def _named(body: Wire) -> Wire:
    return in_first_names(body, _ROWS, {})


_TABLE: Final = Table(
    NAME,
    _ROWS,
    ("contents", "systemInstruction", "tools"),
    _conversation_to_wire,
    _members_to_wire,
    Writing,
    known=("thought_signatures",),  # the model may demand signatures that are missing
    named=_named,
    other_names=[name for name, first in CAMEL.items() if first in _ROWS],
    tool_names=TOOL_NAMES,
)


def wrong_type(options: Wire, encoding: Wire) -> InvalidWire | None:
    """Return the error for a request that was read, if a member with a canonical counterpart has a wrong type."""
    problem = _TABLE.wrong_type(options, encoding)
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
"""Tools of the provider. What they find is not counted as prompt; what the model sends to them is, in part."""
_KEPT: Final = 4_096
"""The smallest number of tokens that the provider stores as the content of a cache."""


def estimate(request: types.Request, endpoint: Endpoint) -> types.TokenEstimate:
    """Estimate the prompt tokens of a canonical request: a likely minimum, the best guess, a likely maximum."""
    cached = ((request.get("options") or {}).get(NAME) or {}).get("cachedContent")
    return _estimates.estimate(request, endpoint, _PROVIDED, (0, _KEPT, window(endpoint)) if cached else (0, 0, 0))
