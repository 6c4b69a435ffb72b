"""Requests both ways: the members beside the contents, what is asked of the answer, and how many tokens it all takes."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote, unquote

from interlingua.adapters._as_read import keep_read, record_quirk
from interlingua.adapters._estimates import Range, gathered, of, rounded, weighed, window
from interlingua.adapters._kit import (
    Wire,
    expect,
    is_stored,
    mapped_severity,
    report_foreign_option,
    report_foreign_options,
    report_foreign_state,
    report_unknown,
    severity_of,
    stored_elsewhere,
)
from interlingua.adapters._members import (
    INTEGER,
    LIST,
    NUMBER,
    OBJECT,
    SWITCH,
    TEXT,
    TEXTS,
    Row,
    Rows,
    is_number,
    whole,
    within,
    within_limit,
    write_members,
    wrong_member,
)
from interlingua.adapters._structured import escape_reserved, extract_format, write_with_format
from interlingua.adapters.gemini_generate.contents import (
    contents_from_wire,
    contents_to_wire,
    record_quirks,
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
    RANGES,
    SEEDS,
    TIERS,
    UNREADABLE,
    camelised,
)
from interlingua.adapters.gemini_generate.tools import (
    CHOICE,
    choice_from_wire,
    choice_to_wire,
    fitted,
    is_taken,
    json_schema,
    tools_from_wire,
    tools_to_wire,
)
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss, difference

Reasoning = dict[str, Any]

_MEMBERS: Final = ("mode", "effort", "budget_tokens", "display")

# ---------------------------------------------------------------------------------------------- reasoning, from the wire


def reasoning_from_wire(value: Any, reading: Reading) -> Reasoning | None:
    """A thinkingConfig; None for one that says more than the contract has words for."""
    if type(value) is not dict:
        return None
    reasoning: Reasoning = {}
    for name, item in reading.camelised(value).items():
        match name:
            case _ if item is None:
                reading.odd = True
            case "includeThoughts" if type(item) is bool:
                reasoning["display"] = "summarized" if item else "omitted"
            case "thinkingBudget" if type(item) is int:
                if item > 0:
                    reasoning["budget_tokens"] = item
                elif item in (0, -1):
                    reasoning["mode"] = "adaptive" if item else "disabled"
                else:
                    return None
            case "thinkingLevel" if type(item) is str and item.lower() in EFFORTS:
                reasoning["effort"] = item.lower()
                reading.odd = reading.odd or not item.isupper()
            case _:
                return None
    return reasoning


# ---------------------------------------------------------------------------------------------- reasoning, to the wire


def reasoning_to_wire(reasoning: Reasoning, config: Wire, writing: Writing) -> None:
    """Writes the thinkingConfig; what is fitted to the model is reported."""
    if writing.lacks("supports_thinking", "reasoning"):
        severity = "representation" if reasoning.get("mode") == "disabled" else "weakened"
        writing.loss.drop(("reasoning",), "unsupported_model", severity, "the model does not think")
        return
    taken = _fitted(reasoning, writing)
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
        config["thinkingConfig"] = wire
    mapped = mapped_severity(reasoning, taken)
    for name in _MEMBERS:
        before, after = reasoning.get(name), taken.get(name)
        if before == after:
            continue
        if after is None:
            severity = "weakened" if name == "display" else mapped
            if name == "mode" and before in ("enabled", "adaptive"):
                severity = "representation"
            message = f"the target does not take this {name} of reasoning"
            writing.loss.drop(("reasoning", name), "reasoning_mapped", severity, message)
        else:
            severity = "representation" if before is None else mapped
            message = "reasoning in the target's terms"
            writing.loss.replace(("reasoning", name), after, "reasoning_mapped", severity, message)
    report_unknown(reasoning, frozenset(_MEMBERS), writing.loss, ("reasoning",))


def _fitted(reasoning: Reasoning, writing: Writing) -> Reasoning:
    """What the target takes of a wish: one of level, budget and mode."""
    mode, effort, budget = reasoning.get("mode"), reasoning.get("effort"), reasoning.get("budget_tokens")
    fitted: Reasoning = {}
    if reasoning.get("display") in ("summarized", "omitted"):
        fitted["display"] = reasoning["display"]
    if writing.verbatim("reasoning"):
        if effort in EFFORTS:
            fitted["effort"] = effort
        if budget:
            fitted["budget_tokens"] = budget
        elif mode in ("adaptive", "disabled"):
            fitted["mode"] = mode
        return fitted
    off = mode == "disabled" or effort == "none" or budget == 0
    known = writing.known("reasoning")
    levels = known.get("thinking_levels", writing.generation(3, "reasoning") > 2)
    if off:
        if levels and writing.generation(0, "reasoning") > 2:
            return fitted | {"effort": _nearest("minimal", writing)}
        least = known.get("min_thinking_budget")
        return fitted | ({"budget_tokens": least} if least else {"mode": "disabled"})
    word = "xhigh" if effort == "max" else effort if effort in EFFORTS else None
    if word is not None and levels:
        return fitted | {"effort": _nearest(word, writing)}
    if budget is not None:
        return fitted | {"budget_tokens": budget}
    if word is not None:
        return fitted | {"budget_tokens": BUDGETS[word]}
    return fitted | {"mode": "adaptive"} if mode is not None else fitted


def _nearest(word: str, writing: Writing) -> str:
    """The strongest level that the model takes and that asks for no more, else the weakest."""
    taken = [
        level for level in EFFORTS if level in (writing.known("reasoning").get("reasoning_efforts") or EFFORTS[:4])
    ]
    if not taken:
        return word
    weaker = [level for level in taken if EFFORTS.index(level) <= EFFORTS.index(word)]
    return weaker[-1] if weaker else taken[0]


Request = dict[str, Any]

NUMBERS: Final = {
    "temperature": "temperature",
    "topP": "top_p",
    "topK": "top_k",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
}
COUNTS: Final = {
    "maxOutputTokens": ("max_output_tokens", 0),
    "candidateCount": ("n", 1),
    "seed": ("seed", None),
    "logprobs": ("top_logprobs", 0),
}
FORMAT: Final = ("responseMimeType", "responseJsonSchema", "responseSchema")
_JSON_SCHEMA: Final = frozenset(("responseMimeType", "responseJsonSchema"))

# ---------------------------------------------------------------------------------------------- generation, from the wire


def generation_from_wire(config: Wire, request: Request, reading: Reading) -> Wire:
    """Reads a generationConfig; gives what has no canonical meaning."""
    left: Wire = {}
    formats: Wire = {}
    if not config:
        reading.odd = True
    for name, value in reading.camelised(config).items():
        if value is None:
            reading.odd = True
        elif name in NUMBERS and (number := _number(value, reading)) is not None:
            request[NUMBERS[name]] = number
        elif name in COUNTS and (count := _count(value, COUNTS[name][1], reading)) is not None:
            request[COUNTS[name][0]] = count
        elif name in FORMAT:
            formats[name] = value
        elif name == "stopSequences" and type(value) is list and all(type(text) is str for text in value):
            if value:
                request["stop"] = value
            else:
                reading.odd = True
        elif name == "responseLogprobs" and type(value) is bool:
            request["logprobs"] = value
        elif name == "thinkingConfig" and (reasoning := reasoning_from_wire(value, reading)) is not None:
            if reasoning:
                request["reasoning"] = reasoning
            else:
                reading.odd = True
        else:
            left[name] = value
    if formats and (found := _format_from_wire(formats, reading)) is not None:
        request["response_format"] = found
    else:
        left.update(formats)
    return left


def _number(value: Any, reading: Reading) -> int | float | Decimal | None:
    """A number, also where a client wrote it as a text."""
    if type(value) is str:
        reading.odd = True
        try:
            value = json.loads(value)
        except InvalidRequest:
            return None
    return value if is_number(value) else None


def _count(value: Any, least: int | None, reading: Reading) -> int | None:
    number = whole(_number(value, reading))
    return number if number is not None and (least is None or number >= least) else None


def _format_from_wire(formats: Wire, reading: Reading) -> dict[str, Any] | None:
    if len(formats) > 2:
        return None
    if formats.keys() != _JSON_SCHEMA and (len(formats) > 1 or formats.get("responseMimeType") != "application/json"):
        reading.odd = True
    schema = formats.get("responseJsonSchema")
    if schema is None and "responseSchema" in formats:
        schema = json_schema(formats["responseSchema"])
    match formats.get("responseMimeType"):
        case "application/json" if len(formats) == 1:
            return {"type": "json"}
        case "application/json" if type(schema) is dict:
            reading.odd = reading.odd or not is_taken(schema)
            return {"type": "json_schema", "schema": schema}
        case "text/plain" if len(formats) == 1:
            return {"type": "text"}
        case _:
            return None


# ---------------------------------------------------------------------------------------------- generation, to the wire


def sampling_to_wire(request: Request, config: Wire, writing: Writing) -> None:
    """Writes sampling, counts and stop texts, each in the range that is taken."""
    loss = writing.loss
    for name, canonical in NUMBERS.items():
        if (value := request.get(canonical)) is not None:
            config[name] = _within(canonical, value, writing)
    for name, (canonical, _) in COUNTS.items():
        if (value := request.get(canonical)) is None:
            continue
        if canonical == "seed" and not -SEEDS <= value < SEEDS and not writing.same("seed"):
            loss.drop(("seed",), "unsupported_value", "weakened", "the target takes seeds of 32 bits")
        elif canonical == "top_logprobs" and not (request.get("logprobs") or writing.same("top_logprobs", "logprobs")):
            severity = severity_of("top_logprobs", value, "lost")
            loss.drop(("top_logprobs",), "combination", severity, "alternatives come only with log probabilities")
        else:
            config[name] = _within(canonical, value, writing)
    if (logprobs := request.get("logprobs")) is not None:
        config["responseLogprobs"] = logprobs
    stop = request.get("stop")
    if stop:
        _stop_to_wire(stop, config, writing)


def _within(name: str, value: Any, writing: Writing) -> Any:
    """The value inside the range of the target."""
    if name == "max_output_tokens":
        return within(name, within_limit(name, value, writing), 1, None, writing, "limit_exceeded")
    low, high = RANGES.get(name, (None, None))
    return within(name, value, low, high, writing)


def _stop_to_wire(stop: list[str], config: Wire, writing: Writing) -> None:
    kept: list[str] = []
    for position, text in enumerate(stop):
        if (text and len(kept) < MOST_STOPS) or writing.same("stop"):
            kept.append(text)
        else:
            code = "limit_exceeded" if text else "unsupported_value"
            message = f"the target takes {MOST_STOPS} stop texts, none of them empty"
            writing.loss.drop(("stop", position), code, "weakened", message)
    if kept:
        config["stopSequences"] = kept


def format_to_wire(wanted: dict[str, Any], config: Wire, writing: Writing) -> None:
    """Asks for the form of the answer; what of it cannot be asked for is reported."""
    path = ("response_format",)
    kind = wanted["type"]
    if kind == "text":
        for name in wanted:
            if name != "type":
                writing.loss.drop((*path, name), "unsupported_field", "representation", "free text has no such member")
        return
    if kind == "json_schema" and "schema" not in wanted:
        writing.loss.replace((*path, "type"), "json", "unsupported_value", "representation", "JSON without a schema")
    if writing.lacks("supports_structured_output", "response_format"):
        writing.loss.drop(path, "unsupported_model", "lost", "the model does not enforce schemas")
        return
    config["responseMimeType"] = "application/json"
    if kind == "json_schema" and "schema" in wanted:
        schema = wanted["schema"]
        # one that was spelt otherwise waits for whether it still is
        config["responseJsonSchema"] = schema if writing.spelt else fitted(schema, writing.loss, (*path, "schema"))
    elif "schema" in wanted:
        writing.loss.drop((*path, "schema"), "unsupported_field", "weakened", "a free JSON object has no schema")
    for name, severity in _FORMAT_MEMBERS.items():
        if wanted.get(name) is not None and wanted[name] is not False:
            message = f"the format has no {name} here"
            writing.loss.drop((*path, name), "unsupported_field", severity, message)
    report_unknown(wanted, _FORMAT_KNOWN, writing.loss, path)


_FORMAT_MEMBERS: Final = {"name": "representation", "description": "weakened", "strict": "representation"}
_FORMAT_KNOWN: Final = frozenset(("type", "schema", *_FORMAT_MEMBERS))


Entries = list[dict[str, Any]]

_SYSTEM: Final = ("systemInstruction", "system_instruction")
_OTHER_SYSTEM: Final = {"systemInstruction": "system_instruction", "system_instruction": "systemInstruction"}
_OPTION_OBJECTS: Final = ("generationConfig", "toolConfig")
_CONFIG: Final = frozenset(("generationConfig", "generation_config"))
_CACHED: Final = frozenset(("systemInstruction", "tools", "toolConfig"))

# ---------------------------------------------------------------------------------------------- requests, from the wire


def from_wire_request(wire: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> tuple[Request, Entries]:
    """Reads a request of this wire, given as `{method, path, headers, body}`; the model and the streaming stand in the path.

    Raises `InvalidWire` with a pointer into the body when it cannot be read.
    Nothing is lost: what has no canonical meaning stands in `options` or in provider state, other spellings in `encoding`.
    """
    body: Wire = expect(expect(wire, dict, "the wire request").get("body"), dict, "the body", "body")
    reading = Reading(endpoint, ids)
    contents = body.get("contents")
    encoding: dict[str, Any] = {}
    if type(contents) is dict:
        contents, encoding["contents"] = [contents], "object"
    if type(contents) is not list:
        raise InvalidWire("contents must be a list", path="/contents", adapter=endpoint.adapter)
    messages: list[dict[str, Any]] = []
    for name in _SYSTEM:
        if body.get(name) is not None:
            messages.append(system_from_wire(body[name], reading))
            if name != _SYSTEM[0]:
                encoding["system"] = name
            if (other := _OTHER_SYSTEM[name]) in body and body[other] is None:
                encoding["system_null"] = other
            break
    contents_from_wire(contents, reading, messages)
    request, spelling = members_from_wire(body, reading)
    _address_from_wire(wire, body, endpoint, request, encoding)
    request["messages"] = messages
    if spelling:
        encoding["members"] = spelling
    _note_options(request, encoding, reading)
    if not contents:
        record_quirk(request, encoding, "messages", "empty_content", endpoint.adapter)
    keep_read(request, encoding)
    request["provider_state"] = reading.state(encoding=encoding)
    record_quirks(request, encoding, reading, endpoint, _with_format)
    return extract_format(request), []


def _address_from_wire(wire: Wire, body: Wire, endpoint: Endpoint, request: Request, encoding: dict[str, Any]) -> None:
    """The model and the kind of answer, out of the path; some clients say the model in the body as well."""
    path = wire.get("path")
    path = path if isinstance(path, str) else ""
    found = MODEL_IN_PATH.search(path)
    name = unquote(found[1]) if found else None
    if type(said := body.get("model")) is str:
        encoding["model"] = said
        if name is not None and said.rpartition("/")[2] != name:
            encoding["model_of_path"] = name
        name = name or said.rpartition("/")[2]
    if name:
        request["model"] = endpoint.model_id(name) or ""
    if "cachedContent" in body or "cached_content" in body:
        named = {CAMEL.get(name, name) for name, value in body.items() if value is not None}
        if "cachedContent" in named and not _CACHED.isdisjoint(named):
            encoding["cached"] = True
    if found and found[2] == "streamGenerateContent":
        request["stream"] = True
        if "alt=sse" not in path:
            encoding["array"] = True


def _note_options(request: Request, encoding: dict[str, Any], reading: Reading) -> None:
    """Notes the options that have a canonical word: they were not shaped as documented, or say something twice."""
    options: dict[str, Any] = (request.get("options") or {}).get(reading.adapter) or {}
    for name, value in options.items():
        if name in _OPTION_OBJECTS and type(value) is dict:
            for member in value:
                if member in _ROWS[name].kind:
                    record_quirk(request, encoding, f"options/{name}/{member}", "combination", reading.adapter)
        elif CAMEL.get(name, name) in _ROWS:
            record_quirk(request, encoding, f"options/{name}", "combination", reading.adapter)


_NOT_MEMBERS: Final = frozenset(("contents", *_SYSTEM))


def members_from_wire(body: Wire, reading: Reading) -> tuple[Request, Wire]:
    """
    The members of a request beside its messages, and those that came in another spelling than the one that is written.

    What is not shaped as documented becomes an option.
    """
    request: Request = {}
    options: dict[str, Any] = {}
    spelling: Wire = {}
    for spelt, value in body.items():
        name = CAMEL.get(spelt, spelt)
        if name in _NOT_MEMBERS or (name == "model" and type(value) is str):
            if value is None:
                spelling[spelt] = None
            elif spelt == _SYSTEM[1] and body.get(_SYSTEM[0]) is not None:
                options[spelt] = value  # said twice: nobody knows what the provider makes of the second
            continue
        if name != spelt and name in body:
            name = spelt
        reading.odd = spelt != name or value is None
        match name:
            case _ if value is None:
                pass
            case "tools" if (tools := tools_from_wire(value, reading)) is not None:
                request["tools"] = tools
            case "toolConfig" if type(value) is dict:
                choice, left = choice_from_wire(value, reading)
                if choice is not None:
                    request["tool_choice"] = choice
                if left:
                    options[name] = left
            case "generationConfig" if type(value) is dict:
                if left := generation_from_wire(value, request, reading):
                    options[name] = left
            case "serviceTier" if type(value) is str:
                request["service_tier"] = value
            case "labels" if type(value) is dict and all(type(label) is str for label in value.values()):
                request["metadata"] = value
                reading.odd = reading.odd or not value
            case _:
                options[name] = value
        if reading.odd:
            spelling[spelt] = value
    if options:
        request["options"] = {reading.adapter: options}
    return request, spelling


# ---------------------------------------------------------------------------------------------- requests, to the wire

_WRITTEN: Final = frozenset(
    (
        *NUMBERS.values(),
        *(name for name, _ in COUNTS.values()),
        "stop",
        "logprobs",
        "reasoning",
        "response_format",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "service_tier",
        "metadata",
        "stream",
    )
)
"""The members beside the messages that the wire has, or reports itself."""


def to_wire(request: Request, endpoint: Endpoint) -> tuple[Wire, Entries]:
    """Writes a canonical request for this wire and reports what changes.

    Raises `InvalidRequest` when no valid wire exists for the conversation.
    """
    return escape_reserved(request, endpoint, _with_format)


def _with_format(request: Request, endpoint: Endpoint) -> tuple[Wire, Entries]:
    if "response_format" in request:
        return write_with_format(request, endpoint, _written)
    return _written(request, endpoint)


def _written(request: Request, endpoint: Endpoint) -> tuple[Wire, Entries]:
    loss = Loss(request.get("loss_policy"))
    model = endpoint.model or (request.get("model") or "").partition(":")[2] or request.get("model")
    writing = Writing(request, endpoint, loss, model)
    body: Wire = {}
    encoding = writing.encoding
    tools_body: Wire = {}
    try:
        spelling: Wire = encoding.get("members") or {}
        writing.spelt = writing.same_origin and not _CONFIG.isdisjoint(spelling)
        if not _same_tools(request, spelling, tools_body, writing):
            tools_to_wire(request, tools_body, writing)
        contents_to_wire(request, body, writing)
        body.update(tools_body)
        members_to_wire(request, body, writing)
        if encoding:
            body = _respelt(request, body, writing)
            null = encoding.get("system_null")
            if null in _SYSTEM and null not in body and _OTHER_SYSTEM[null] in body:
                body[null] = None
    except UNREADABLE as problem:
        raise InvalidRequest("the request holds a value of a wrong type", path="") from problem
    if not writing.same_origin:
        report_foreign_state(request, endpoint, loss, ())
    wire = {"method": "POST", "path": _path(request, model, encoding, endpoint), "headers": {}, "body": body}
    return wire, loss.entries


def _same_tools(request: Request, spelling: Wire, body: Wire, writing: Writing) -> bool:
    """Writes the tools as they came, when they still say what the request says."""
    if "tools" not in spelling or "tools" not in request or writing.lacks("supports_tools", "tools"):
        return False
    if not all(writing.fits_name(tool["name"]) or tool.get("kind") == "provider" for tool in request["tools"]):
        return False
    read = tools_from_wire(spelling["tools"], Reading(writing.endpoint, DERIVED_IDS))
    if read is None or difference(read, request["tools"]) is not None:
        return False
    body["tools"] = spelling["tools"]
    return True


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


def _respelt(request: Request, body: Wire, writing: Writing) -> Wire:
    """The members as they came, as far as they still say what is written."""
    encoding = writing.encoding
    if encoding.get("contents") == "object" and len(body["contents"]) == 1:
        body["contents"] = body["contents"][0]
    if encoding.get("system") and _SYSTEM[0] in body:
        body[encoding["system"]] = body.pop(_SYSTEM[0])
    if type(said := encoding.get("model")) is str:
        place, slash, name = said.rpartition("/")
        same = "model_of_path" in encoding and encoding["model_of_path"] == writing.model
        body["model"] = said if same else place + slash + (writing.model or name)
    spelling: Wire = {
        name: value for name, value in (encoding.get("members") or {}).items() if name != "tools" or value is None
    }
    if not spelling.keys().isdisjoint(_SYSTEM) and not body.keys().isdisjoint(_SYSTEM):
        spelling = {name: value for name, value in spelling.items() if name not in _SYSTEM}
    if not spelling:
        return body
    # contents are spelt already, and so are tools but for those that are an option
    options: Wire = (request.get("options") or {}).get(writing.endpoint.adapter) or {}
    members = {
        name: value for name, value in body.items() if name not in _APART or (name != "contents" and name in options)
    }
    if all(entry["path"].startswith(_BESIDE) for entry in writing.loss.entries):
        read, _ = members_from_wire(_replaced(members, spelling), Reading(writing.endpoint, DERIVED_IDS))
        if difference(read, {name: request[name] for name in request.keys() & _READ}) is None:
            return _replaced(body, spelling)
    # something was changed since: each member on its own
    plain, _ = members_from_wire(members, Reading(writing.endpoint, DERIVED_IDS))
    for name, value in spelling.items():
        trial = _replaced(members, {name: value})
        if difference(members_from_wire(trial, Reading(writing.endpoint, DERIVED_IDS))[0], plain) is None:
            members, body = trial, _replaced(body, {name: value})
            writing.spelt = writing.spelt and name not in _CONFIG
    config: Wire = body.get("generationConfig") or {}
    if writing.spelt and type(schema := config.get("responseJsonSchema")) is dict:
        config["responseJsonSchema"] = fitted(schema, writing.loss, ("response_format", "schema"))
    return body


_BESIDE: Final = ("/messages/", "/system/", "/filler")
"""What is reported of these makes no difference to the members."""
_APART: Final = frozenset(("tools", "contents"))
_READ: Final = (_WRITTEN - {"tools", "stream"}) | {"options"}


def _replaced(body: Wire, spelling: Wire) -> Wire:
    gone = {CAMEL[name] for name in spelling if name in CAMEL}
    return {name: value for name, value in body.items() if name not in gone} | spelling


def members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Writes the members beside messages and tools."""
    if "tool_choice" in request or "parallel_tool_calls" in request:
        choice_to_wire(request, body, writing)
    config: Wire = {}
    sampling_to_wire(request, config, writing)
    if request.get("reasoning"):
        reasoning_to_wire(request["reasoning"], config, writing)
    if request.get("response_format"):
        format_to_wire(request["response_format"], config, writing)
    if config:
        body["generationConfig"] = config
    if request.get("service_tier") is not None:
        _tier_to_wire(request["service_tier"], body, writing)
    if request.get("metadata"):
        _metadata_to_wire(request["metadata"], body, writing)
    if request.get("options"):
        _options_to_wire(request, body, writing)
    write_members(request, body, {}, writing, _WRITTEN)


def _tier_to_wire(tier: str, body: Wire, writing: Writing) -> None:
    if tier in TIERS or writing.same("service_tier"):
        body["serviceTier"] = tier
    elif tier == "default":
        body["serviceTier"] = "standard"
        writing.loss.replace(
            ("service_tier",), "standard", "unsupported_value", "representation", "the same service class"
        )
    else:
        severity = "representation" if tier == "auto" else "weakened"
        writing.loss.drop(("service_tier",), "unsupported_value", severity, "the target has no such service class")


def _metadata_to_wire(metadata: dict[str, Any], body: Wire, writing: Writing) -> None:
    kept: Wire = {}
    for name, value in metadata.items():
        if type(value) is str and (_takes_label(name, value, writing) or writing.same("metadata")):
            kept[name] = value
        else:
            message = "the target keeps no such data with a request"
            writing.loss.drop(("metadata", name), "unsupported_field", "weakened", message)
    if kept:
        body["labels"] = kept


def _takes_label(name: str, value: str, writing: Writing) -> bool:
    return writing.dialect.get("labels") is True and all(
        len(text) < 64 and text == text.lower() and all(c.isalnum() or c in "_-" for c in text)
        for text in (name, value)
    )


# ---------------------------------------------------------------------------------------------- options, to the wire


def _options_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Writes the wire's own members verbatim; what has a canonical member of its own is not taken from here."""
    options: Request = request["options"]
    name = writing.endpoint.adapter
    if len(options) > 1 or name not in options:
        report_foreign_options(request, writing.endpoint, writing.loss)
    own: Wire = options.get(name) or {}
    stored = stored_elsewhere(request, writing.endpoint) is not None
    for member, value in own.items():
        if stored and is_stored(name, member, value):
            report_foreign_option(name, member, value, writing.loss, "")
        elif member in _OPTION_OBJECTS and type(value) is dict:
            _object_to_wire(member, value, body, writing)
        elif member == "cachedContent" and not writing.encoding.get("cached") and not _CACHED.isdisjoint((*body, *own)):
            message = "the target takes a cache only in the place of instructions and tools"
            writing.loss.drop(("options", name, member), "combination", "lost", message)
        elif (
            member == _SYSTEM[1] and value is not None and _SYSTEM[0] in body and "system" not in writing.encoding
        ) or (member not in body and _is_option({member: value}, member, writing)):
            body[member] = value
        else:
            _refuse_option((member,), writing)


def _object_to_wire(member: str, value: Wire, body: Wire, writing: Writing) -> None:
    """Writes the options among the members of an object, beside those that the request says itself."""
    present: Wire = body.get(member, {})
    said = present.keys() | (FORMAT if not present.keys().isdisjoint(FORMAT) else ())
    # type and schema of an answer are one wish
    encoding = {name: value[name] for name in FORMAT if name in value}
    taken: Wire = {}
    for name, option in value.items():
        if name in said:
            if name == "functionCallingConfig" and type(option) is dict and option and option.keys().isdisjoint(CHOICE):
                taken[name] = {**present[name], **option}
        elif _is_option({member: encoding if name in encoding else {name: option}}, f"{member}/{name}", writing):
            taken[name] = option
    if taken or not value:
        for name in value:
            if name not in taken:
                _refuse_option((member, name), writing)
    else:
        _refuse_option((member,), writing)
    if present or taken or writing.same_origin:
        body[member] = {**present, **taken}


def _refuse_option(where: tuple[str, ...], writing: Writing) -> None:
    message = "the request has a member of its own for this"
    writing.loss.drop(("options", writing.endpoint.adapter, *where), "combination", "weakened", message)


def _is_option(member: Wire, place: str, writing: Writing) -> bool:
    """Whether this member, read from the wire, would be an option again, or was one when it was read."""
    if not member.keys().isdisjoint(_NOT_MEMBERS):
        return False
    if writing.had_quirk(f"options/{place}", "combination"):
        return True
    if "model" in member:
        return False
    read, _ = members_from_wire(member, Reading(writing.endpoint, DERIVED_IDS))
    return read == {"options": {writing.endpoint.adapter: member}}


# ---------------------------------------------------------------------------------------------- types of members

_ROWS: Final[Rows] = {
    "model": Row(TEXT),
    "tools": Row(LIST),
    "toolConfig": Row({"functionCallingConfig": Row(OBJECT)}),
    "generationConfig": Row(
        {
            **dict.fromkeys(NUMBERS, Row(NUMBER)),
            **dict.fromkeys(COUNTS, Row(INTEGER)),
            "stopSequences": Row(TEXTS),
            "responseLogprobs": Row(SWITCH),
            "responseMimeType": Row(TEXT),
            "responseSchema": Row(OBJECT),
            "thinkingConfig": Row(
                {"includeThoughts": Row(SWITCH), "thinkingBudget": Row(INTEGER), "thinkingLevel": Row(TEXT)}
            ),
        }
    ),
    "serviceTier": Row(TEXT),
    "labels": Row(OBJECT),
}


def wrong_type(options: Wire, encoding: Wire) -> InvalidWire | None:
    """The refusal of what was read of a request, where a member with a canonical word is of a wrong type."""
    config = options.get("generationConfig")
    if isinstance(config, dict) and isinstance(thinking := config.get("thinkingConfig"), dict):
        options = {**options, "generationConfig": {**config, "thinkingConfig": camelised(thinking)}}
    problem = wrong_member(NAME, options, _ROWS)
    if problem is not None and problem.path is not None:
        problem.path = _path_as_sent(problem.path, encoding.get("members") or {})
    return problem


def _path_as_sent(path: str, spelling: Wire) -> str:
    """A pointer in the names that the members of the body had."""
    steps: list[str] = []
    place: Any = spelling
    for step in path.split("/")[1:]:
        sent = step
        if isinstance(place, dict):
            sent = next((name for name in place if name == step or CAMEL.get(name) == step), step)
            place = place.get(sent)
        steps.append(sent)
    return "/" + "/".join(steps)


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


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more."""
    most = window(endpoint)
    low, likely, high = weighed(gathered(request, endpoint), request, of(endpoint, request), most, _PROVIDED)
    if ((request.get("options") or {}).get(NAME) or {}).get("cachedContent"):
        likely, high = likely + _KEPT, high + most
    return rounded(low, likely, high)
