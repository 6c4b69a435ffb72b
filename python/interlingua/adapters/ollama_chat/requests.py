"""Requests: `to_wire`, then `from_wire_request`; and the members besides messages and tools."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._content.choice import Ways, fitted_choice
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._history.messages import refuse_empty
from interlingua.adapters._requests.forms import FORMAT, Formats, form_writer
from interlingua.adapters._requests.members import (
    MODEL,
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    write_nothing,
)
from interlingua.adapters._requests.reasoning import level_of, reasoning_writer
from interlingua.adapters._requests.requests import Table, body_of, posted, tools_reader, write_request
from interlingua.adapters._requests.rules import MOST_LOGPROBS, top_logprobs
from interlingua.adapters.ollama_chat.messages import messages_from_wire, messages_to_wire
from interlingua.adapters.ollama_chat.tables import LEVELS, NAME, Writing
from interlingua.adapters.ollama_chat.tools import tool_from_wire, tools_to_wire
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a canonical request as a WireRequest, and report what the wire cannot express.

    Raises `InvalidRequest` with a pointer for a conversation that no valid request of this wire can represent.
    """
    return write_request(_written, request, endpoint)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    return posted("/api/chat", _TABLE.write_body(request, Writing(request, endpoint, loss)))


def _conversation_to_wire(request: Request, writing: Writing, read: Wire = NOTHING) -> Wire:
    """Write messages and tools. If they were just `read` from a body, keep what is written differently."""
    body: Wire = {"messages": messages_to_wire(request, writing, read=read.get("messages"))}
    if not read:
        refuse_empty(body["messages"], writing)
    if request.get("tools"):
        tools_to_wire(request, body, writing, read=read.get("tools"))
    return body


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members besides messages and tools."""
    fitted_choice(request.get("tools"), _NO_CHOICE, writing)
    _TABLE.write_members(request, body, writing)
    body["stream"] = bool(request.get("stream"))  # the default of the wire is to stream
    _TABLE.write_options(request, body, writing)


_NO_CHOICE: Final = Ways((), narrowed=True)


def _reasoning(value: dict[str, Any], _: Wire, __: Writing) -> tuple[Any, dict[str, Any]]:
    think = _think(value)
    return think, _think_from_wire(think) or {}


_LEVEL_FOR: Final = {"minimal": "low", "xhigh": "max"}


def _think(value: Mapping[str, Any]) -> bool | str | None:
    """Return the value of `think`, the only member for reasoning: a switch or a level. A budget becomes a level."""
    mode, effort, budget = value.get("mode"), value.get("effort"), value.get("budget_tokens")
    if mode == "disabled" or effort == "none":
        return False
    if effort is not None:
        level = _LEVEL_FOR.get(effort, effort)
        return level if level in LEVELS else True
    if budget is not None:
        return level_of(budget)
    return True if mode is not None else None


def _form(value: dict[str, Any], _: Wire, __: Writing) -> Wire:
    schema: Wire = value["schema"]
    return schema


_FORMS: Final = Formats(_form, fits=bool, json="json")

# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Read a WireRequest. Nothing is lost: what has no canonical meaning is kept as an option, a field or a spelling.

    Raises `InvalidWire` with the pointer of the value that cannot be read.
    """
    body = body_of(wire)
    reading = Reading(endpoint, ids)
    messages = messages_from_wire(body.get("messages") or [], reading)
    members = _TABLE.read(body, reading)
    if body.get("stream") is None:  # the default of the wire
        members.request["stream"] = True
    return _TABLE.keep_request(members, messages, empty=not messages), []


def _limit_from_wire(value: int) -> int | None:
    return value if value >= 0 else None  # -1 and -2 have special meanings


def _think_from_wire(value: Any) -> dict[str, Any] | None:
    if type(value) is bool:
        return {"mode": "enabled" if value else "disabled"}
    return {"effort": value} if value in LEVELS else None


def _format_from_wire(value: Any) -> dict[str, Any] | None:
    if type(value) is dict:
        return {"type": "json_schema", "schema": value}
    return {"type": "json"} if value == "json" else None


def _is_think(value: Any, _: Wire) -> bool:
    return type(value) is bool or value in LEVELS


def _is_format(value: Any, _: Wire) -> bool:
    return value == "json" or type(value) is dict


_ROWS: Final[BodyMembers] = {
    "model": MODEL,
    "stream": BodyMember(Kind.SWITCH, "stream", plain=(), write=write_nothing),
    "think": BodyMember(
        Kind.SWITCH_OR_TEXT,
        REASONING,
        plain=_is_think,
        parse=_think_from_wire,
        write=reasoning_writer("thinking", _reasoning),
    ),
    "format": BodyMember(
        Kind.TEXT_OR_OBJECT, FORMAT, plain=_is_format, parse=_format_from_wire, write=form_writer(_FORMS)
    ),
    "logprobs": BodyMember(Kind.SWITCH, "logprobs", plain=()),
    "top_logprobs": BodyMember(Kind.COUNT, "top_logprobs", plain=(0, MOST_LOGPROBS), write=top_logprobs),
    "tools": BodyMember(Kind.LIST, read=tools_reader(tool_from_wire)),
    "options": BodyMember(
        {
            "num_predict": BodyMember(Kind.INTEGER, "max_output_tokens", plain=(0, None), parse=_limit_from_wire),
            "temperature": BodyMember(Kind.NUMBER, "temperature", plain=()),
            "top_p": BodyMember(Kind.NUMBER, "top_p", plain=()),
            "top_k": BodyMember(Kind.NUMBER, "top_k", plain=()),
            "min_p": BodyMember(Kind.NUMBER, "min_p", plain=()),
            "frequency_penalty": BodyMember(Kind.NUMBER, "frequency_penalty", plain=()),
            "presence_penalty": BodyMember(Kind.NUMBER, "presence_penalty", plain=()),
            "seed": BodyMember(Kind.INTEGER, "seed", plain=()),
            "stop": BodyMember(Kind.TEXTS, "stop", plain=()),
        }
    ),
}
_TABLE: Final = Table(NAME, _ROWS, ("messages", "tools"), _conversation_to_wire, _members_to_wire, Writing, ("stream",))
wrong_type: Final = _TABLE.wrong_type
