"""Read and write requests: all members except the messages."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from interlingua.adapters._claude import reasoning as claude
from interlingua.adapters._claude.members import sampling
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.schemas import enforced
from interlingua.adapters._claude.turns import Read, holds_nothing, settled_tools
from interlingua.adapters._claude.values import UNMARKED_TYPES, wire_model
from interlingua.adapters._engine.as_read import MARKS, TOOLLESS
from interlingua.adapters._engine.kit import (
    NOTHING,
    UNREADABLE,
    Wire,
    arguments_text,
    malformed,
    parse_arguments,
)
from interlingua.adapters._estimates import estimate as _estimates
from interlingua.adapters._estimates.estimate import Range
from interlingua.adapters._requests.forms import FORMAT, Formats, form_writer
from interlingua.adapters._requests.members import (
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    Members,
    are_words,
    is_number,
    one_of,
    put,
)
from interlingua.adapters._requests.reasoning import reasoning_member, report_members
from interlingua.adapters._requests.requests import Table, body_of, posted, write_request
from interlingua.adapters._requests.rules import kept_metadata, stops, word
from interlingua.adapters.bedrock_converse.items import without_nulls
from interlingua.adapters.bedrock_converse.tables import METADATA, MODES, NAME, TIERS, Writing
from interlingua.adapters.bedrock_converse.tools import (
    choice_to_wire,
    positions_of,
    tool_config_from_wire,
    tools_to_wire,
)
from interlingua.adapters.bedrock_converse.turns import messages_from_wire, messages_to_wire, system_from_wire
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, pointer

# ---------------------------------------------------------------------------------------------- reasoning: `outputConfig.effort`, and the additional fields

# Anthropic's models have `thinking`, or under its older name `reasoning_config`; Amazon's models have `reasoningConfig`;
# the members of other vendors stay options

Request = dict[str, Any]
Entries = list[Entry]
Reasoning = dict[str, Any]

_THINKING: Final = (("type", "mode"), ("budget_tokens", "budget_tokens"), ("display", "display"))


def _nova_from_wire(value: Any) -> Reasoning | None:
    """Read `reasoningConfig`; return None if it does not have its documented shape."""
    match value:
        case {"type": str(mode), "maxReasoningEffort": str(effort), **others} if not others:
            return {"mode": mode, "effort": effort}
        case {"type": str(mode), **others} if not others:
            return {"mode": mode}
        case _:
            return None


def _thinking_from_wire(value: Any) -> Reasoning | None:
    """Read `thinking`; return None if it does not have its documented shape."""
    if type(value) is not dict or not value:
        return None
    reasoning: Reasoning = {}
    for name, member in value.items():
        fits = (type(member) is int and member >= 0) if name == "budget_tokens" else type(member) is str
        if not fits or name not in ("type", "budget_tokens", "display"):
            return None
        reasoning["mode" if name == "type" else name] = member
    return reasoning


def _reasoning_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the additional fields of the model and the effort, and report each value adapted to the model or the request."""
    reasoning: Reasoning = request["reasoning"]
    control = writing.encoding.get("thinking") if writing.same_model else writing.dialect.get("reasoning_control")
    if control == NOVA:
        chosen = _fitted_nova(reasoning)
        report_members(reasoning, chosen, writing, mode_counts=True)
    else:
        forced = not (body.get("toolConfig") or {}).get("toolChoice", {}).keys().isdisjoint(("any", "tool"))
        chosen = claude.chosen(reasoning, request.get("max_output_tokens"), MODES, forced, body, writing)
    members = _NOVA if control == NOVA else _THINKING
    if wished := {name: chosen[member] for name, member in members if chosen.get(member) is not None}:
        put(body, _ADDITIONAL, control if control in (NOVA, "reasoning_config") else "thinking", wished)
    if control != NOVA and "effort" in chosen:
        put(body, "outputConfig", "effort", chosen["effort"])


_ADDITIONAL: Final = "additionalModelRequestFields"
NOVA: Final = "reasoningConfig"
_NOVA: Final = (("type", "mode"), ("maxReasoningEffort", "effort"))
_NOVA_EFFORTS: Final = ["low", "medium", "high"]
_NOVA_BUDGETS: Final = ((4096, "low"), (16384, "medium"))


def _fitted_nova(reasoning: Reasoning) -> Reasoning:
    """Return the reasoning settings that Amazon's models accept: on or off, and three efforts."""
    mode, effort, budget = (reasoning.get(name) for name in ("mode", "effort", "budget_tokens"))
    if mode == "disabled" or effort == "none":
        return {"mode": "disabled"}
    if effort is None and budget is not None:
        effort = next((word for most, word in _NOVA_BUDGETS if budget <= most), "high")
    wish = claude.known_effort(effort)
    if wish is None and mode is None:
        return {}
    return {"mode": "enabled", "effort": claude.fitting(wish or "medium", _NOVA_EFFORTS)}


# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Read a request of this wire, given as `{method, path, headers, body}`; the path names the model.

    Raises `InvalidWire` with a pointer into the body if the body cannot be read.
    Nothing is lost: members without canonical meaning are kept in `options` or in provider state.
    """
    body = body_of(wire)
    reading = Reading(endpoint, ids)
    members = _TABLE.read(body, reading)
    messages: list[Any] = []
    system = body.get("system")
    if system is not None and type(system) is not list:
        raise InvalidWire("system must be a list", path="/system")
    if system:
        messages.append(system_from_wire(system, reading))
    wires = body.get("messages")
    starts: list[int] = []
    if type(wires) is list:
        starts = messages_from_wire(wires, reading, messages)
    elif wires is not None:
        raise InvalidWire("messages must be a list", path="/messages")
    _address_from_wire(wire, members.request, endpoint)
    facts: tuple[str, ...] = (MARKS,) if reading.marks else ()
    if not members.request.get("tools") and reading.calls:
        facts = (*facts, TOOLLESS)
    empty = holds_nothing(messages[starts[0] :] if starts else [])
    tools = members.request.get("tools") or []
    offered = body["toolConfig"]["tools"] if tools else []
    read = Read(offered, positions_of(offered, tools), system, wires or [], starts)
    return _TABLE.keep_request(members, messages, facts, read=read, empty=empty), []


def _read_tools(name: str, value: Any, members: Members[Reading]) -> bool:
    if type(value) is not dict:
        return False
    try:
        tool_config_from_wire(value, members)
    except UNREADABLE as problem:
        raise malformed(name, (name,), members.reading.adapter) from problem
    return True


def _is_auto(value: Wire, body: Wire) -> bool:
    return value == {"auto": {}} and bool(body["toolConfig"].get("tools"))


def _format_from_wire(value: Wire) -> dict[str, Any] | None:
    match without_nulls(value):
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
    return {"type": "json_schema", "schema": schema} | {
        name: inner[name] for name in ("name", "description") if name in inner
    }


def _read_thinking(name: str, value: Any, members: Members[Reading]) -> bool:
    """Read the reasoning settings under any of their names; the first name counts."""
    found = _nova_from_wire(value) if name == NOVA else _thinking_from_wire(value)
    if found is None or not members.add_reasoning(found):
        return False
    if name != "thinking":
        members.words["thinking"] = name
    return True


def _read_top_k(name: str, value: Any, members: Members[Reading]) -> bool:
    top_k = value if name == "top_k" else _nova_top_k(value)
    if not is_number(top_k) or "top_k" in members.request:
        return False
    members.request["top_k"] = top_k
    if name != "top_k":
        members.words["top_k"] = name
    return True


def _nova_top_k(value: Any) -> Any:
    """Return the `topK` of Amazon's models, if it is the only member of its configuration in the additional fields."""
    if type(value) is dict and value.keys() == {"topK"}:
        return value["topK"]
    return None


def _address_from_wire(wire: Mapping[str, Any], request: Request, endpoint: Endpoint) -> None:
    """Read the path: the model, and whether to stream."""
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


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a request for this wire, with a report of all changes (spec/6-loss.md).

    Raises `InvalidRequest` for a request that has no valid wire (calls and results that do not pair, two tools with the
    same name) and `CannotAdapt` for a request that the model refuses. Both have a pointer into the request.
    """
    return write_request(_written, request, endpoint)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    body = _TABLE.write_body(request, Writing(request, endpoint, loss))
    model = endpoint.model or wire_model(request.get("model")) or ""
    verb = "converse-stream" if request.get("stream") else "converse"
    path = f"/model/{model if _PLAIN_MODEL.fullmatch(model) else quote(model, safe='')}/{verb}"
    return posted(path, body, {"content-type": "application/json", "accept": _ANSWERS[verb]})


_PLAIN_MODEL: Final = re.compile(r"[A-Za-z0-9._-]*")
_ANSWERS: Final = {"converse": "application/json", "converse-stream": "application/vnd.amazon.eventstream"}


def _conversation_to_wire(request: Request, writing: Writing, read: Read | None = None) -> Wire:
    """Write messages, instructions and tools. If they were just `read`, keep what is written differently."""
    body: Wire = {}
    tools, offered = _tools_to_wire(request, writing)
    # an empty list of tools that was read is restored here, before calls in the conversation require tools
    if not offered:
        tools = settled_tools([], offered, writing, read)
    turns = messages_to_wire(request, body, writing)
    if tools := _with_needed_tools(request, tools, writing):
        body["toolConfig"] = {"tools": tools}
    if request.get("cache") is not None:
        _cache(request["cache"], body, writing)
    writing.finish()
    if writing.swept:
        if offered:
            offered = [of for of, wire in zip(offered, body["toolConfig"]["tools"], strict=True) if wire]
        _sweep(body)
    if offered:
        body["toolConfig"]["tools"] = settled_tools(body["toolConfig"]["tools"], offered, writing, read)
    turns.settle(body, read)
    return body


def _sweep(body: Wire) -> None:
    """Remove the cache marks that were revoked; each of them is now an empty block."""
    lists = [message["content"] for message in body.get("messages") or ()]
    lists += [body.get("system") or [], (body.get("toolConfig") or {}).get("tools") or []]
    for blocks in lists:
        blocks[:] = [block for block in blocks if block]


# ------------------------------------------------------------------------------------------ tools


def _tools_to_wire(request: Request, writing: Writing) -> tuple[list[Wire] | None, list[tuple[int, ...]]]:
    choice = request.get("tool_choice")
    if choice is not None and choice["type"] == "none" and request.get("tools") and not _has_calls(request):
        # the wire cannot forbid calls; without tools there are none
        message = "the target cannot forbid calls; no tools are offered instead"
        writing.loss.drop(("tools",), "tool_choice", "weakened", message)
        return [], []
    return tools_to_wire(request, writing)


def _has_calls(request: Request) -> bool:
    return any(block["type"] == "tool_use" for message in request["messages"] for block in message["content"])


def _toolless(request: Request, endpoint: Endpoint) -> CannotAdapt:
    """Return the error for a conversation with calls and a model without tools; its path is that of the first call or result."""
    path = next(
        pointer(("messages", n, "content", m))
        for n, message in enumerate(request["messages"])
        for m, block in enumerate(message["content"])
        if block["type"] in ("tool_use", "tool_result")
    )
    return CannotAdapt(
        "the model does not accept tools, and so no conversation with calls", path=path, adapter=endpoint.adapter
    )


def _with_needed_tools(request: Request, tools: list[Wire] | None, writing: Writing) -> list[Wire] | None:
    """Return the tools; if there are none and the conversation has calls, return the tools that it needs."""
    if tools or not writing.tools_used or writing.same(TOOLLESS):
        return tools
    if writing.lacks("supports_tools", "tools"):
        raise _toolless(request, writing.endpoint)
    schema: Wire = {"type": "object", "properties": {}}
    named = [{"name": name, "input_schema": schema} for name in writing.tools_used]
    message = "the target accepts calls in a conversation only together with tools"
    writing.loss.replace(("tools",), named, "required_default", "representation", message)
    return [{"toolSpec": {"name": name, "inputSchema": {"json": schema}}} for name in writing.tools_used]


# ------------------------------------------------------------------------------------------ members


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members other than messages, instructions and tools."""
    choice = choice_to_wire(request, (body.get("toolConfig") or {}).get("tools") or [], writing)
    if choice is not None:
        body["toolConfig"]["toolChoice"] = choice
    if request.get("reasoning"):
        _reasoning_to_wire(request, body, writing)
    if "metadata" in request or "user" in request:
        kept = kept_metadata(writing, _is_metadata, "the target accepts only short texts", _MOST_METADATA, user="user")
        if kept:
            body["requestMetadata"] = kept
    _TABLE.write_members(request, body, writing, _WRITTEN_APART)
    _TABLE.write_options(request, body, writing)


def _sampling(name: str, value: Any, body: Wire, writing: Writing) -> Any:
    thinking = body.get(_ADDITIONAL, NOTHING).get("thinking", NOTHING)
    tempered = writing.source.get("temperature") is not None
    return sampling(name, value, "budget_tokens" in thinking, tempered, writing)


def _top_k(name: str, value: Any, body: Wire, writing: Writing) -> Any:
    if writing.dialect.get("top_k") is False and not writing.verbatim("top_k"):
        writing.loss.drop(("top_k",), "unsupported_model", "weakened", "the model does not accept top_k")
        return None
    taken = _sampling(name, value, body, writing)
    place = writing.encoding.get("top_k") if writing.same_model else writing.dialect.get("top_k")
    if taken is None or place != "inferenceConfig":
        return taken
    put(body, _ADDITIONAL, place, {"topK": taken})
    return None


def _form(value: dict[str, Any], _: Wire, writing: Writing) -> Wire:
    inner: Wire = {"schema": arguments_text(enforced(value["schema"], writing.loss, (FORMAT, "schema")))}
    for name in ("name", "description"):
        if value.get(name):
            inner[name] = value[name]
        elif name in value:
            writing.loss.drop(
                (FORMAT, name), "empty_content", "representation", f"the target does not accept an empty {name}"
            )
    return {"type": "json_schema", "structure": {"jsonSchema": inner}}


_FORMS: Final = Formats(_form, ("schema", "name", "description"))
_MOST_METADATA: Final = 16


def _is_metadata(name: str, value: Any) -> bool:
    return bool(METADATA.fullmatch(name)) and isinstance(value, str) and bool(METADATA.fullmatch(value))


def _cache(hint: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Mark the longest prefix: write a cache mark after the last block of the last message."""
    messages = writing.source["messages"]
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
        and not any(last in (source, before - 1) for source, before in writing.moves)
        and blocks[position]["type"] not in UNMARKED_TYPES
        and _ends_with(content, blocks)
    ):
        mark = writing.mark(hint, (), ("messages", last, "content", position, "cache"))
        if mark is not None:
            content.append(mark)
    else:
        writing.loss.drop(("cache",), "cache_hint", "weakened", "no block at the end can hold the mark")


def _ends_with(content: list[Wire], blocks: list[Any]) -> bool:
    """Whether the last block of the request is also the last block on the wire."""
    block, wire = blocks[-1], content[-1]
    match block["type"]:
        case "text":
            return wire.get("text") == block["text"] and bool(block["text"].strip())
        case "tool_result":
            return "toolResult" in wire
        case _:
            return False


_WRITTEN_APART: Final = ("reasoning", "metadata", "user", "stream", "cache")
_ROWS: Final[BodyMembers] = {
    "inferenceConfig": BodyMember(
        {
            "maxTokens": BodyMember(Kind.COUNT, "max_output_tokens", plain=(1, None)),
            "temperature": BodyMember(Kind.NUMBER, "temperature", plain=(0, 1), write=_sampling),
            "topP": BodyMember(Kind.NUMBER, "top_p", plain=(0, 1), write=_sampling),
            "stopSequences": BodyMember(Kind.TEXTS, "stop", plain=are_words, write=stops(fits=str.strip)),
        }
    ),
    "toolConfig": BodyMember(
        {
            "tools": BodyMember(Kind.LIST, plain=()),
            "toolChoice": BodyMember(Kind.OBJECT, covers=("tool_choice",), plain=_is_auto),
        },
        read=_read_tools,
    ),
    "outputConfig": BodyMember(
        {
            "effort": BodyMember(Kind.TEXT, REASONING, plain=one_of(claude.EFFORTS), parse=reasoning_member("effort")),
            "textFormat": BodyMember(Kind.OBJECT, FORMAT, parse=_format_from_wire, write=form_writer(_FORMS)),
        }
    ),
    "additionalModelRequestFields": BodyMember(
        {
            **dict.fromkeys(
                ("thinking", "reasoning_config", NOVA), BodyMember(Kind.ANYTHING, REASONING, _read_thinking)
            ),
            "top_k": BodyMember(Kind.NUMBER, "top_k", _read_top_k, write=_top_k),
            "inferenceConfig": BodyMember(Kind.ANYTHING, "top_k", _read_top_k),
        }
    ),
    "serviceTier": BodyMember({"type": BodyMember(Kind.TEXT, "service_tier", plain=one_of(TIERS), write=word(TIERS))}),
    "requestMetadata": BodyMember(Kind.OBJECT, "metadata"),
}
_TABLE: Final = Table(
    NAME,
    _ROWS,
    ("messages", "system", "toolConfig/tools"),
    _conversation_to_wire,
    _members_to_wire,
    Writing,
    needed={"toolConfig": "toolConfig"},
)
wrong_type: Final = _TABLE.wrong_type


# ---------------------------------------------------------------------------------------------- estimates

_PROVIDED: Final[dict[str, Range | None]] = {"nova_grounding": None}
"""The tokens that a tool of the provider adds, by the beginning of its name. None: the tool runs inside the provider call and adds
what it finds."""


def estimate(request: types.Request, endpoint: Endpoint) -> types.TokenEstimate:
    """Estimate the prompt tokens of a canonical request: a likely minimum, the best guess, a likely maximum."""
    return _estimates.estimate(request, endpoint, _PROVIDED)
