"""Requests both ways: the members beside the messages."""

import re
from decimal import Decimal
from functools import partial
from typing import Any, Final
from urllib.parse import quote, unquote

from interlingua.adapters._as_read import MARKS, keep_read, note_member
from interlingua.adapters._claude.members import (
    kept_stops,
    options_to_wire,
    report_unsupported,
    sampling,
    wanted_schema,
)
from interlingua.adapters._claude.proofreading import note_members, proofread
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import UNMARKED_TYPES, UNREADABLE, wire_model
from interlingua.adapters._kit import (
    Wire,
    arguments_text,
    parse_arguments,
    report_foreign_state,
    report_unknown,
)
from interlingua.adapters._member_types import COUNT, LIST, NUMBER, OBJECT, TEXT, TEXTS, Types, whole, wrong_member
from interlingua.adapters._structured import guarded, recognised, written
from interlingua.adapters.bedrock_converse.reasoning import NOVA, nova_from_wire, reasoning_to_wire, thinking_from_wire
from interlingua.adapters.bedrock_converse.state import with_null, without_nulls
from interlingua.adapters.bedrock_converse.tables import LONGEST_TOOL_NAME, METADATA, NAME, TIERS, Writing
from interlingua.adapters.bedrock_converse.tools import choice_to_wire, enforced, tool_config_from_wire, tools_to_wire
from interlingua.adapters.bedrock_converse.turns import messages_from_wire, messages_to_wire, system_from_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss, pointer

Request = dict[str, Any]
Entries = list[dict[str, Any]]

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_request(wire: Wire, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> tuple[Request, Entries]:
    """Reads a request of this wire, given as `{method, path, headers, body}`; the path names the model.

    Raises `InvalidWire` with a pointer into the body when it cannot be read.
    Nothing is lost: members without canonical meaning stand in `options` or in provider state.
    """
    body = wire.get("body") if isinstance(wire, dict) else None
    if not isinstance(body, dict):
        raise InvalidWire("the body must be an object", path="")
    reading = Reading(endpoint, ids)
    messages: list[Any] = []
    request: Request = {"messages": messages}
    form: Wire = {}
    options: Wire = {}
    _members_from_wire(body, request, options, form, reading)
    system = body.get("system")
    if type(system) is list and system:
        messages.append(system_from_wire(system, reading))
    wires = body.get("messages")
    if type(wires) is list:
        messages_from_wire(wires, reading, messages)
    elif "messages" not in body:
        form["absent"] = ["messages"]  # a stored prompt has its own
    elif wires is not None:
        raise InvalidWire("messages must be a list", path="/messages")
    _address_from_wire(wire, request, endpoint)
    if options:
        request["options"] = {endpoint.adapter: options}
    if not wires:
        note_member(request, form, "messages", "empty_content", endpoint.adapter)
    keep_read(request, form, *((MARKS,) if reading.has_marks() else ()))
    request["provider_state"] = reading.state(form=form)
    config = body.get("toolConfig")
    choice = config.get("toolChoice") if isinstance(config, dict) else None
    forced = isinstance(choice, dict) and not choice.keys().isdisjoint(("any", "tool"))
    note_members(request, reading, endpoint, LONGEST_TOOL_NAME, forced, wires or [])
    proofread(request, reading, endpoint, _with_format)
    return recognised(request), []


def _members_from_wire(body: Wire, request: Request, options: Wire, form: Wire, reading: Reading) -> None:
    for name, value in body.items():
        match name:
            case _ if value is None:
                form.setdefault("null", []).append(name)
            case "messages":
                pass
            case "system" if type(value) is list:
                if not value:
                    form.setdefault("empty", []).append(name)
            case "inferenceConfig" | "toolConfig" | "outputConfig" | "additionalModelRequestFields" | "serviceTier" if (
                type(value) is dict
            ):
                said = value if name == "additionalModelRequestFields" else _said(name, value, form)
                if said:
                    _config_from_wire(name, said, request, options, form, reading)
                else:
                    form.setdefault("empty", []).append(name)
            case "requestMetadata" if type(value) is dict:
                request["metadata"] = value
            case "system":
                raise InvalidWire("system must be a list", path="/system")
            case _:
                options[name] = value
                reading.unusual = reading.unusual or name in _SETTINGS


_TYPES: Final[Types] = {
    "inferenceConfig": {"maxTokens": COUNT, "temperature": NUMBER, "topP": NUMBER, "stopSequences": TEXTS},
    "toolConfig": {"tools": LIST, "toolChoice": OBJECT},
    "outputConfig": {"effort": TEXT, "textFormat": OBJECT},
    "additionalModelRequestFields": {"top_k": NUMBER},
    "serviceTier": {"type": TEXT},
    "requestMetadata": OBJECT,
}


def wrong_type(options: Wire, form: Wire) -> InvalidWire | None:
    """The refusal of what was read of a request, where a member with a canonical word is of a wrong type."""
    return wrong_member(NAME, options, _TYPES)


def _said(name: str, config: Wire, form: Wire) -> Wire:
    """A configuration without members that are null; where they stood is a spelling."""
    said: Wire
    said, nulls = without_nulls(config)
    made = said
    for steps in nulls:
        made = with_null(made, steps, grows=False)
    if not nulls or made != config:
        return config  # an object of nulls alone stays as it is
    form.setdefault("null", []).extend([name, *steps] for steps in nulls)
    return said


def _config_from_wire(name: str, value: Wire, request: Request, options: Wire, form: Wire, reading: Reading) -> None:
    try:
        match name:
            case "inferenceConfig":
                others = _inference_from_wire(value, request)
            case "toolConfig":
                tool_config_from_wire(value, request, options, form, reading)
                return
            case "outputConfig":
                others = _output_from_wire(value, request, form)
            case "serviceTier":
                others = _tier_from_wire(value, request)
            case _:
                others = _additional_from_wire(value, request, form)
    except UNREADABLE as problem:
        raise reading.unreadable(name, (name,)) from problem
    if others:
        options[name] = others


_INFERENCE: Final = {"temperature": "temperature", "topP": "top_p", "stopSequences": "stop"}


def _inference_from_wire(config: Wire, request: Request) -> Wire:
    others: Wire = {}
    for name, value in config.items():
        if value is None or wrong_member(NAME, {"inferenceConfig": {name: value}}, _TYPES) is not None:
            others[name] = value
        elif name == "maxTokens":
            request["max_output_tokens"] = whole(value)
        elif name in _INFERENCE:
            request[_INFERENCE[name]] = value
        else:
            others[name] = value
    return others


def _output_from_wire(config: Wire, request: Request, form: Wire) -> Wire:
    others: Wire = {}
    for name, value in config.items():
        if name == "effort" and type(value) is str and "effort" not in request.get("reasoning", {}):
            request.setdefault("reasoning", {})["effort"] = value
        elif name == "textFormat" and (found := _format_from_wire(value, form)) is not None:
            request["response_format"] = found
        else:
            others[name] = value
    return others


def _format_from_wire(value: Any, form: Wire) -> dict[str, Any] | None:
    match value:
        case {"type": "json_schema", "structure": {"jsonSchema": dict(inner), **structures}, **others}:
            pass
        case _:
            return None
    text = inner.get("schema")
    schema = parse_arguments(text) if type(text) is str else None
    if schema is None or structures or others or not inner.keys() <= {"schema", "name", "description"}:
        return None
    if not all(type(inner.get(name, "")) is str for name in ("name", "description")):
        return None
    if arguments_text(schema) != text:
        form["schema"] = text
    return {"type": "json_schema", "schema": schema} | {
        name: inner[name] for name in ("name", "description") if name in inner
    }


def _tier_from_wire(tier: Wire, request: Request) -> Wire:
    if tier.keys() == {"type"} and type(tier["type"]) is str:
        request["service_tier"] = tier["type"]
        return {}
    return tier


def _additional_from_wire(fields: Wire, request: Request, form: Wire) -> Wire:
    others: Wire = {}
    for name, value in fields.items():
        match name:
            case "thinking" | "reasoning_config" | "reasoningConfig":
                found = nova_from_wire(value) if name == NOVA else thinking_from_wire(value)
                if found is None or not found.keys().isdisjoint(request.get("reasoning", {})) or "thinking" in form:
                    others[name] = value
                    continue
                request.setdefault("reasoning", {}).update(found)
                form["thinking"] = name
            case "top_k" if type(value) in _NUMBER and "top_k" not in request:
                request["top_k"] = value
            case "inferenceConfig" if (top_k := _nova_top_k(value)) is not None and "top_k" not in request:
                request["top_k"] = top_k
                form["top_k"] = name
            case _:
                others[name] = value
    if form.get("thinking") == "thinking":
        del form["thinking"]
    return others


_NUMBER: Final = (int, float, Decimal)


def _nova_top_k(value: Any) -> Any:
    """The `topK` of Amazon's models, which stands alone in a configuration among the additional fields."""
    if type(value) is dict and value.keys() == {"topK"} and type(value["topK"]) in _NUMBER:
        return value["topK"]
    return None


def _address_from_wire(wire: Wire, request: Request, endpoint: Endpoint) -> None:
    """What the path says: the model, and whether to stream."""
    path = wire.get("path")
    if not isinstance(path, str):
        return
    _, placed, rest = path.partition("?")[0].partition("/model/")
    name, _, verb = rest.rpartition("/")
    if placed and name and verb in ("converse", "converse-stream"):
        request["model"] = endpoint.model_id(unquote(name)) or ""
        if verb == "converse-stream":
            request["stream"] = True


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire(request: Request, endpoint: Endpoint) -> tuple[Wire, Entries]:
    """Writes a request for this wire, with the report of all that changes (spec/6-loss.md).

    Raises `InvalidRequest` for a request that has no valid wire (calls and results that do not pair, two tools of one
    name) and `CannotAdapt` for one that the model refuses, both with a pointer into the request.
    """
    return guarded(request, endpoint, _with_format)


def _with_format(request: Request, endpoint: Endpoint) -> tuple[Wire, Entries]:
    if "response_format" in request:
        return written(request, endpoint, _written)
    return _written(request, endpoint)


def _written(request: Request, endpoint: Endpoint) -> tuple[Wire, Entries]:
    loss = Loss(request.get("loss_policy"))
    writing = Writing(request, endpoint, loss)
    body: Wire = {}
    try:
        tools = _tools_to_wire(request, writing)
        messages_to_wire(request, body, writing)
        _tool_config_to_wire(request, tools, body, writing)
        _members_to_wire(request, body, writing)
    except UNREADABLE as problem:
        raise InvalidRequest("the request lacks a member or has one of a wrong type", path="") from problem
    if writing.bare:
        writing.settle_marks()
        _drop_hints(body, writing)
    writing.finish()
    if writing.swept:
        _sweep(body)
    model = endpoint.model or wire_model(request.get("model")) or ""
    verb = "converse-stream" if request.get("stream") else "converse"
    return {
        "method": "POST",
        "path": f"/model/{model if _PLAIN_MODEL.fullmatch(model) else quote(model, safe='')}/{verb}",
        "headers": {"content-type": "application/json", "accept": _ANSWERS[verb]},
        "body": body,
    }, loss.entries


_PLAIN_MODEL: Final = re.compile(r"[A-Za-z0-9._-]*")
_ANSWERS: Final = {"converse": "application/json", "converse-stream": "application/vnd.amazon.eventstream"}


def _drop_hints(body: Wire, writing: Writing) -> None:
    """Takes out the marks that were items of their own when they were read, and would now be hints of what stands before."""
    bare = list(writing.bare)
    gone: list[Wire] = []
    for blocks in (body.get("system") or [], *(message["content"] for message in body.get("messages") or ())):
        kept: list[Wire] = []
        takes = False  # whether a mark would be a hint of what stands before it
        for block in blocks:
            if any(block is mark for mark in gone):
                continue
            found = next((at for at, (mark, _) in enumerate(bare) if mark is block), None)
            if found is not None:
                _, path = bare.pop(found)
                if takes:
                    message = "behind a block this is no item, but a hint of that block"
                    # a message that holds nothing else goes with it, unless its content travels in another one
                    alone = (
                        len(writing.source["messages"][int(path[1])]["content"]) == 1
                        if path[0] == "messages"
                        else False
                    )
                    merged = any(source == path[:2] for source, _ in writing.merges)
                    where = path[:2] if alone and not merged else path
                    writing.loss.drop(where, "cache_hint", "weakened", message)
                    gone += [mark for mark, where, *_ in writing.marks if where == (*path, "cache")]
                    continue
            if block:  # a mark that was taken back is empty
                takes = found is not None or len(block) > 1 or "cachePoint" not in block
            kept.append(block)
        blocks[:] = kept
    writing.marks = []  # they are settled


def _sweep(body: Wire) -> None:
    """Takes out the marks for the cache that were taken back."""
    lists = [message["content"] for message in body.get("messages") or ()]
    lists += [body.get("system") or [], (body.get("toolConfig") or {}).get("tools") or []]
    for blocks in lists:
        blocks[:] = [block for block in blocks if block]


# ------------------------------------------------------------------------------------------ tools


def _tools_to_wire(request: Request, writing: Writing) -> list[Wire] | None:
    choice = request.get("tool_choice")
    if choice is not None and choice["type"] == "none" and request.get("tools") and not _has_calls(request):
        # the wire cannot forbid calls; without tools there are none
        message = "the target cannot forbid calls; no tools are offered instead"
        writing.loss.drop(("tools",), "tool_choice", "weakened", message)
        return []
    return tools_to_wire(request, writing)


def _has_calls(request: Request) -> bool:
    return any(block["type"] == "tool_use" for message in request["messages"] for block in message["content"])


def _toolless(request: Request, endpoint: Endpoint) -> CannotAdapt:
    """The error for a conversation with calls at a model that takes no tools, at the first of them."""
    path = next(
        pointer(("messages", n, "content", m))
        for n, message in enumerate(request["messages"])
        for m, block in enumerate(message["content"])
        if block["type"] in ("tool_use", "tool_result")
    )
    return CannotAdapt("the model takes no tools, so no conversation with calls", path=path, adapter=endpoint.adapter)


def _tool_config_to_wire(request: Request, tools: list[Wire] | None, body: Wire, writing: Writing) -> None:
    if not tools and writing.tools_used and not writing.was_odd("tools", "required_default"):
        if writing.lacks("supports_tools", "tools"):
            raise _toolless(request, writing.endpoint)
        schema: Wire = {"type": "object", "properties": {}}
        named = [{"name": name, "input_schema": schema} for name in writing.tools_used]
        message = "the target takes calls in a conversation only together with tools"
        writing.loss.replace(("tools",), named, "required_default", "shape", message)
        tools = [{"toolSpec": {"name": name, "inputSchema": {"json": schema}}} for name in writing.tools_used]
    config: Wire = {}
    if tools or (tools is not None and "tools" in (writing.form.get("empty") or ())):
        config["tools"] = tools
    choice = choice_to_wire(request, tools or [], writing)
    if choice is not None:
        config["toolChoice"] = choice
    if config:
        body["toolConfig"] = config


# ------------------------------------------------------------------------------------------ members


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    additional, effort = reasoning_to_wire(request, body, writing)
    inference: Wire = {}
    _inference_to_wire(request, inference, additional, writing)
    output: Wire = {"effort": effort} if effort is not None else {}
    if "response_format" in request:
        _format_to_wire(request["response_format"], output, writing)
    for name, config in (
        ("inferenceConfig", inference),
        ("additionalModelRequestFields", additional),
        ("outputConfig", output),
    ):
        if config:
            body[name] = config
    if "metadata" in request or "user" in request:
        _metadata_to_wire(request, body, writing)
    if "service_tier" in request:
        _tier_to_wire(request["service_tier"], body, writing)
    if "cache" in request:
        _cache_to_wire(request, body, writing)
    if request.get("options"):
        options_to_wire(body, partial(_read_again, writing.endpoint), _SETTINGS, writing)
    form = writing.form
    for name in form.get("empty") or ():
        if name in _EMPTY:
            body.setdefault(name, [] if name == "system" else {})
    for steps in form.get("null") or ():
        if type(steps) is str:
            if not body.get(steps):
                body[steps] = None
        elif type(steps) is list and steps and steps[0] in body:
            body.update(with_null({steps[0]: body[steps[0]]}, steps, grows=False))
    if "messages" in (form.get("absent") or ()) and not body["messages"]:
        del body["messages"]
    report_unsupported(request, writing.loss)
    report_foreign_state(request, writing.endpoint, writing.loss, ())


_SETTINGS: Final = ("toolConfig",)


def _read_again(endpoint: Endpoint, members: Wire) -> tuple[Request, Wire, Wire]:
    request: Request = {}
    options: Wire = {}
    form: Wire = {}
    _members_from_wire(members, request, options, form, Reading(endpoint, DERIVED_IDS))
    return request, options, form


_EMPTY: Final = (
    "system",
    "inferenceConfig",
    "toolConfig",
    "outputConfig",
    "additionalModelRequestFields",
    "serviceTier",
)
_SAMPLING: Final = (("temperature", "temperature"), ("top_p", "topP"))


def _inference_to_wire(request: Request, inference: Wire, additional: Wire, writing: Writing) -> None:
    budgeted = "budget_tokens" in additional.get("thinking", ())
    limit = request.get("max_output_tokens")
    if limit is not None:
        fitted = limit if writing.verbatim("max_output_tokens") else _fitted_limit(limit, writing)
        if fitted != limit:
            writing.loss.replace(("max_output_tokens",), fitted, "limit_exceeded", "weakened", "the model's own limit")
        inference["maxTokens"] = fitted
    for name, wire_name in _SAMPLING:
        if (value := request.get(name)) is not None:
            taken = sampling(name, value, budgeted, "temperature" in inference, writing)
            if taken is not None:
                inference[wire_name] = taken
    if request.get("top_k") is not None:
        _top_k_to_wire(request["top_k"], additional, budgeted, writing)
    if "stop" in request and ((stop := kept_stops(request["stop"], writing)) or writing.own):
        inference["stopSequences"] = stop


def _fitted_limit(limit: int, writing: Writing) -> int:
    return max(min(limit, writing.known("max_output_tokens").get("max_output_tokens", limit)), 1)


def _top_k_to_wire(value: Any, additional: Wire, budgeted: bool, writing: Writing) -> None:
    if writing.endpoint.dialect.get("top_k") is False and not writing.verbatim("top_k"):
        writing.loss.drop(("top_k",), "unsupported_model", "weakened", "the model takes no top_k")
        return
    taken = sampling("top_k", value, budgeted, False, writing)
    if taken is None:
        return
    place = writing.form.get("top_k") if writing.exact else writing.endpoint.dialect.get("top_k")
    if place == "inferenceConfig":
        additional[place] = {"topK": taken}
    else:
        additional["top_k"] = taken


def _format_to_wire(wanted: dict[str, Any], output: Wire, writing: Writing) -> None:
    path = ("response_format",)
    schema = wanted_schema(wanted, writing)
    if schema is None:
        return
    text = writing.form.get("schema")
    if text is None or parse_arguments(text) != schema:
        if not writing.same("response_format"):
            schema = enforced(schema, writing, (*path, "schema"))
        text = arguments_text(schema)
    inner: Wire = {"schema": text}
    for name in ("name", "description"):
        if wanted.get(name) or (name in wanted and writing.same("response_format")):
            inner[name] = wanted[name]
        elif name in wanted:
            writing.loss.drop((*path, name), "empty_content", "shape", f"an empty {name} is not taken")
    if wanted.get("strict"):
        writing.loss.drop((*path, "strict"), "unsupported_field", "shape", "the format has no strict here")
    report_unknown(wanted, _FORMAT, writing.loss, path)
    output["textFormat"] = {"type": "json_schema", "structure": {"jsonSchema": inner}}


_FORMAT: Final = frozenset(("type", "schema", "name", "description", "strict"))
_MOST_METADATA: Final = 16


def _metadata_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    kept: Wire = {}
    for name, value in (request.get("metadata") or {}).items():
        taken = METADATA.fullmatch(name) and isinstance(value, str) and METADATA.fullmatch(value)
        if (taken and len(kept) < _MOST_METADATA) or writing.same("metadata"):
            kept[name] = value
        else:
            where = ("metadata", name)
            writing.loss.drop(where, "unsupported_value", "weakened", "the target takes sixteen short texts")
    user = request.get("user")
    if user is not None:
        if "user" in kept or len(kept) == _MOST_METADATA or not METADATA.fullmatch(user):
            writing.loss.drop(("user",), "unsupported_field", "weakened", "the wire has no place for the user's id")
        else:
            kept["user"] = user
            writing.loss.move(("user",), ("metadata", "user"), "unsupported_field", "shape", "the user's id")
    if kept or writing.own:
        body["requestMetadata"] = kept


def _tier_to_wire(tier: str, body: Wire, writing: Writing) -> None:
    if tier in TIERS or writing.same("service_tier"):
        body["serviceTier"] = {"type": tier}
    else:
        severity = "shape" if tier == "auto" else "weakened"
        writing.loss.drop(("service_tier",), "unsupported_value", severity, "the target has no such service class")


def _cache_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """The longest prefix: a mark behind the last block of the last message."""
    messages = request["messages"]
    last = len(messages) - 1
    blocks = messages[last]["content"] if messages else []
    content = body["messages"][-1]["content"] if body["messages"] else []
    position = len(blocks) - 1
    if (
        content
        and blocks
        and "cache" not in blocks[position]
        and "cachePoint" not in content[-1]
        and ("messages", last) not in writing.gone
        and not any(last in (source, before - 1) for source, before, *_ in writing.moves)
        and blocks[position]["type"] not in UNMARKED_TYPES
        and _ends_with(content, blocks)
    ):
        mark = writing.mark(request["cache"], (), ("messages", last, "content", position, "cache"))
        if mark is not None:
            content.append(mark)
    else:
        writing.loss.drop(("cache",), "cache_hint", "weakened", "there is no block at the end that takes the mark")


def _ends_with(content: list[Wire], blocks: list[Any]) -> bool:
    """Whether the last block of the request is the last one on the wire."""
    block, wire = blocks[-1], content[-1]
    match block["type"]:
        case "text":
            return wire.get("text") == block["text"] and bool(block["text"].strip())
        case "tool_result":
            return "toolResult" in wire
        case _:
            return False
