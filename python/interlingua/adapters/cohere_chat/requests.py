"""Write and read requests (`to_wire`, `from_wire_request`): their members other than messages and tools."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._content.schema import PLACES, Schema, holds
from interlingua.adapters._engine.kit import NOTHING, UNREADABLE, Wire, keep_spelling, malformed
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._history.messages import refuse_empty
from interlingua.adapters._requests.forms import FORMAT, Formats, bare_form, form_writer
from interlingua.adapters._requests.members import (
    MODEL,
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    Members,
    one_of,
    whole_number,
)
from interlingua.adapters._requests.reasoning import reasoning_writer
from interlingua.adapters._requests.requests import (
    Table,
    body_of,
    posted,
    tools_reader,
    unmentioned_json,
    write_request,
)
from interlingua.adapters._requests.rules import seed_within, stops
from interlingua.adapters.cohere_chat.documents import documents_from_wire
from interlingua.adapters.cohere_chat.messages import cites_nothing, messages_from_wire, messages_to_wire
from interlingua.adapters.cohere_chat.tables import NAME, PATH, TOOL_NAMES, Writing
from interlingua.adapters.cohere_chat.tools import (
    choice_from_wire,
    choice_to_wire,
    imprint_of_schema,
    tool_from_wire,
    tools_to_wire,
)
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a canonical request as a WireRequest, and report what the wire cannot represent.

    Raises `InvalidRequest` with a pointer for a conversation that has no valid wire.
    """
    return write_request(_written, request, endpoint, speaks_json=True)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    return posted(PATH, _TABLE.write_body(request, Writing(request, endpoint, loss)))


def _conversation_to_wire(request: Request, writing: Writing, read: Wire = NOTHING) -> Wire:
    """Write messages, documents and tools. If they were just `read` from a body, keep what is written differently."""
    body: Wire = {}
    messages_to_wire(request, body, writing, read=read.get("messages"))
    if not read:
        refuse_empty(body["messages"], writing)
    if request.get("tools"):
        tools_to_wire(request, body, writing, read=read.get("tools"))
    return body


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members other than messages, documents and tools."""
    choice_to_wire(request, body, writing)
    _TABLE.write_members(request, body, writing)
    _TABLE.write_options(request, body, writing)


_MOST_STOPS: Final = 5
_HIGHEST_SEED: Final = 2**64 - 1


# -- reasoning


def _reasoning(value: dict[str, Any], _: Wire, __: Writing) -> tuple[Any, dict[str, Any]]:
    thinking = _thinking(value)
    return thinking or None, _reasoning_from_wire(thinking) or {}


_SWITCHES: Final = ({"type": "enabled"}, {"type": "disabled"})


def _thinking(value: Mapping[str, Any]) -> Wire:
    """Return reasoning as a switch and a budget; an effort only turns reasoning on or off."""
    mode, effort, budget = value.get("mode"), value.get("effort"), value.get("budget_tokens")
    if mode is None and effort is None and budget is None:
        return {}
    if mode == "disabled" or effort == "none" or budget == 0:
        return {"type": "disabled"}
    return {"type": "enabled"} if budget is None else {"type": "enabled", "token_budget": budget}


def _reasoning_from_wire(thinking: Wire) -> dict[str, Any] | None:
    if thinking.get("type") not in ("enabled", "disabled") or not thinking.keys() <= {"type", "token_budget"}:
        return None
    if "token_budget" not in thinking:
        return {"mode": thinking["type"]}
    budget = whole_number(thinking["token_budget"])
    return None if budget is None or budget < 0 else {"mode": thinking["type"], "budget_tokens": budget}


# -- the format of the answer


def _form(value: dict[str, Any], _: Wire, __: Writing) -> Wire:
    return {"type": "json_object", "json_schema": value["schema"]}


def _is_enforced(schema: Any) -> bool:
    """Whether the provider enforces a schema: it is an object, every object in it has a required member, and it has only keywords
    that the provider enforces."""
    return schema.get("type") == "object" and holds(schema, PLACES, _is_known)


_NOT_ENFORCED: Final = frozenset(
    "allOf oneOf not minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems minLength maxLength "
    "uniqueItems".split()
)
_FORMATS: Final = ("date-time", "date", "time", "uuid")


def _is_known(schema: Schema) -> bool:
    if (schema.get("type") == "object" and not schema.get("required")) or not _NOT_ENFORCED.isdisjoint(schema):
        return False
    return type(schema.get("format")) is not str or schema["format"] in _FORMATS


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Read a WireRequest. Nothing is lost: members without canonical meaning are kept as options, fields or spellings.

    Raises `InvalidWire` with a pointer to the value that cannot be read.
    """
    body = body_of(wire)
    reading = Reading(endpoint, ids)
    messages = messages_from_wire(body.get("messages"), reading)
    try:
        members = _TABLE.read(body, reading, ("documents", "strict_tools"))
        _read_strict(body.get("strict_tools"), members)
        _read_documents(body.get("documents"), messages, members)
    except UNREADABLE as problem:
        raise malformed("the request", (), NAME) from problem
    facts, must_compare = unmentioned_json(members.request, messages), "strict_tools" in members.options
    return _TABLE.keep_request(members, messages, facts, empty=not messages, must_compare=must_compare), []


def _read_strict(value: Any, members: Members[Reading]) -> None:
    """Read `strict_tools`, which applies to all functions, as the member `strict` of each canonical tool."""
    functions = [tool for tool in members.request.get("tools") or () if "definition" not in tool]
    if value is True and functions:
        for tool in functions:
            tool["strict"] = True
            state = tool.setdefault("provider_state", members.endpoint.state())
            keep_spelling(state, "strict", imprint_of_schema(tool))
    elif value is not None and value is not False:
        members.options["strict_tools"] = value
        members.request["options"] = {NAME: members.options}


def _read_documents(value: Any, messages: list[dict[str, Any]], members: Members[Reading]) -> None:
    """Read the documents into the place where the model reads them; without such a place they stay an option."""
    if not value and type(value) in (list, type(None)):
        return
    if not documents_from_wire(
        value, not cites_nothing(members.body.get("citation_options")), messages, members.reading
    ):
        members.options["documents"] = value
        members.request["options"] = {NAME: members.options}


def _is_no_option(name: str, value: Any, members: Members[Reading]) -> bool:
    """Refuse an option that would be read back as part of tools, or as documents of a message."""
    if name == "documents":
        asked_by = [{"role": one["role"], "content": []} for one in members.body["messages"] if one["role"] == "user"]
        if not documents_from_wire(value, False, asked_by[:1], members.reading):
            return False
    raise InvalidWire(f"{name} is in messages and tools")


def _format_from_wire(value: Wire) -> dict[str, Any] | None:
    match value:
        case {"type": "json_object", "json_schema": dict(schema), **others} if schema and not others:
            return {"type": "json_schema", "schema": schema}
        case {"type": "json_object", "schema": dict(schema), **others} if schema and not others:
            return {"type": "json_schema", "schema": schema}
        case _:
            return bare_form(value)


def _are_stops(texts: list[str], _: Wire) -> bool:
    return 0 < len(texts) <= _MOST_STOPS and "" not in texts


def _is_choice(value: str, body: Wire) -> bool:
    return value in ("REQUIRED", "NONE") and type(body.get("tools")) is list and bool(body["tools"])


_FORMS: Final = Formats(
    _form, fits=_is_enforced, text={"type": "text"}, json={"type": "json_object"}, excludes=("tools", "documents")
)
_ROWS: Final[BodyMembers] = {
    "model": MODEL,
    "stream": BodyMember(Kind.SWITCH, "stream", plain=()),
    "max_tokens": BodyMember(Kind.COUNT, "max_output_tokens", plain=(0, None)),
    "temperature": BodyMember(Kind.NUMBER, "temperature", plain=(0, 1)),
    "p": BodyMember(Kind.NUMBER, "top_p", plain=(0.01, 0.99)),
    "k": BodyMember(Kind.NUMBER, "top_k", plain=(0, 500)),
    "frequency_penalty": BodyMember(Kind.NUMBER, "frequency_penalty", plain=(0, 1)),
    "presence_penalty": BodyMember(Kind.NUMBER, "presence_penalty", plain=(0, 1)),
    "seed": BodyMember(Kind.INTEGER, "seed", plain=(0, _HIGHEST_SEED), write=seed_within(0, _HIGHEST_SEED)),
    "stop_sequences": BodyMember(Kind.TEXTS, "stop", plain=_are_stops, write=stops(_MOST_STOPS, code="empty_content")),
    "logprobs": BodyMember(Kind.SWITCH, "logprobs", plain=()),
    "thinking": BodyMember(
        {"token_budget": BodyMember(Kind.COUNT)},
        REASONING,
        plain=one_of(_SWITCHES),
        parse=_reasoning_from_wire,
        write=reasoning_writer("thinking", _reasoning),
    ),
    "response_format": BodyMember(Kind.OBJECT, FORMAT, parse=_format_from_wire, write=form_writer(_FORMS)),
    "documents": BodyMember(Kind.LIST, read=_is_no_option),
    "strict_tools": BodyMember(Kind.ANYTHING, read=_is_no_option),
    "tools": BodyMember(Kind.LIST, read=tools_reader(tool_from_wire)),
    "tool_choice": BodyMember(Kind.TEXT, "tool_choice", plain=_is_choice, parse=choice_from_wire),
}
_TABLE: Final = Table(
    NAME,
    _ROWS,
    ("messages", "tools", "documents", "strict_tools"),
    _conversation_to_wire,
    _members_to_wire,
    Writing,
    tool_names=TOOL_NAMES,
)
wrong_type: Final = _TABLE.wrong_type
