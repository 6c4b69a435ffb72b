"""Requests: `to_wire` above `from_wire_request`, and their members other than input and tools."""

from typing import Any, Final

from interlingua.adapters._engine.kit import UNREADABLE, Wire, malformed
from interlingua.adapters._history.messages import refuse_empty
from interlingua.adapters._openai.members import (
    EFFORTS,
    SHARED_ROWS,
    SWITCHES,
    TIERS,
    VERBOSITIES,
    effort,
    forms,
    is_bare_format,
    is_choice,
    is_named_schema,
    schema_from_wire,
    schema_to_wire,
)
from interlingua.adapters._openai.options import SHARED_MEMBERS, carry_shared, from_sibling
from interlingua.adapters._openai.parts import MOST_BREAKPOINTS
from interlingua.adapters._requests.forms import FORMAT, bare_form, form_writer
from interlingua.adapters._requests.members import (
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    Members,
    one_of,
    put,
    within_limit,
)
from interlingua.adapters._requests.reasoning import reasoning_member, reasoning_writer
from interlingua.adapters._requests.requests import Table, body_of, posted, unmentioned_json, write_request
from interlingua.adapters._requests.rules import word
from interlingua.adapters.openai_responses.messages import (
    input_from_wire,
    input_to_wire,
    is_continued,
)
from interlingua.adapters.openai_responses.tables import (
    ELSEWHERE,
    LEAST_OUTPUT_TOKENS,
    LOGPROBS,
    NAME,
    SERVICE_TIERS,
    Reading,
    Writing,
)
from interlingua.adapters.openai_responses.tools import (
    DECLARED,
    choice_from_wire,
    choice_to_wire,
    declared_from_wire,
    found_from_wire,
    leading,
    tools_from_wire,
    tools_to_wire,
    without_tools,
)
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a canonical request as a WireRequest, and report what the wire cannot express.

    Raises `InvalidRequest` with a pointer for a conversation that has no valid wire: results without calls,
    calls without results that other turns follow, results twice.
    """
    return write_request(_written, request, endpoint, speaks_json=True)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    writing = Writing(request, endpoint, loss)
    body = _TABLE.write_body(request, writing)
    if "demands" in endpoint.dialect and not writing.same_origin:
        _meet_demands(request, body, writing)
    if endpoint.dialect.get("stores") and "store" not in body and from_sibling(request, endpoint):
        body["store"] = False
        message = "by default the provider stores requests of this wire"
        loss.replace(("options", NAME, "store"), False, "required_default", "representation", message)
    return posted("/responses", body)


def _conversation_to_wire(request: Request, writing: Writing, read: Reading | None = None) -> Wire:
    """Write input, instructions and tools. If they were just `read`, keep what is written differently."""
    body: Wire = {}
    instructions, items = input_to_wire(request, writing, read=read)
    if instructions is not None:
        body["instructions"] = instructions
    if read is None and not is_continued(request, writing):
        refuse_empty(items, writing)
    body["input"] = _input(items, writing.encoding) if read is None else read.items
    if request.get("tools"):
        tools_to_wire(request, body, writing, read=None if read is None else read.offered)
    return body


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members other than input, instructions and tools."""
    if "tool_choice" in request or "parallel_tool_calls" in request:
        choice_to_wire(request, body, writing)
    _TABLE.write_members(request, body, writing)
    if "options" in request:
        _TABLE.write_options(request, body, writing, carry_shared(request, body, writing))


def _meet_demands(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members that the provider requires."""
    message = "the provider requires the member"
    for name, value in writing.dialect["demands"].items():
        if name in body:
            continue
        if name != "instructions":
            writing.loss.replace(("options", NAME, name), value, "required_default", "representation", message)
        elif request.get("system"):
            continue  # the instructions are among the items
        else:
            text = [{"type": "text", "text": value}]
            writing.loss.replace(("system",), text, "required_default", "weakened", message)
        body[name] = value


def _input(items: list[Wire], encoding: dict[str, Any]) -> str | list[Wire]:
    if encoding.get("input") == "string" and len(items) == 1:
        item = items[0]
        if len(item) == 2 and item.get("role") == "user" and isinstance(item.get("content"), str):
            return item["content"]
    return items


def _limit(name: str, value: int, body: Wire, writing: Writing) -> int:
    value = within_limit(name, value, writing)
    if value < LEAST_OUTPUT_TOKENS:
        value = LEAST_OUTPUT_TOKENS
        message = f"the wire does not accept a limit below {LEAST_OUTPUT_TOKENS}"
        writing.loss.replace((name,), value, "unsupported_value", "weakened", message)
    return value


def _logprobs(name: str, value: bool, body: Wire, writing: Writing) -> list[str] | None:
    if value:
        return [LOGPROBS]
    writing.loss.drop((name,), "unsupported_value", "representation", "the wire returns none unless it is requested")
    return None


def _reasoning(value: dict[str, Any], body: Wire, writing: Writing) -> tuple[Any, dict[str, Any]]:
    taken: dict[str, Any] = {}
    if (word := effort(value, writing)) is not None:
        taken["effort"] = word
    if value.get("display") == "summarized":
        taken["display"] = value["display"]
        put(body, "reasoning", "summary", "auto")
    return word, taken


def _form(value: dict[str, Any], _: Wire, writing: Writing) -> Wire:
    return {"type": "json_schema", **schema_to_wire(value, writing)}


# ---------------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Read a WireRequest. Nothing is lost: a value without a canonical meaning is kept as an option, a field or a
    spelling.

    Raises `InvalidWire` with the pointer of a value that cannot be read.
    """
    body = body_of(wire)
    reading = Reading(endpoint, ids)
    continued = any(body.get(name) for name in ELSEWHERE)
    if body.get("input") is None and not continued:
        raise InvalidWire("a request needs an input, a conversation or a prompt", path="/input", adapter=NAME)
    instructions = body.get("instructions")
    try:
        declaring = leading(body.get("input"))
        declared = declared_from_wire(declaring, body, reading) if declaring else None
    except UNREADABLE as problem:
        raise malformed("a tool", ("input",), NAME) from problem
    in_items, reading.offered = reading.offered, []
    messages = input_from_wire(
        instructions if isinstance(instructions, str) else None,
        body.get("input"),
        reading,
        continued=continued,
        passed=len(declaring) if declared is not None else 0,
    )
    members = _TABLE.read(body, reading)
    request, encoding = members.request, members.words
    if isinstance(body.get("input"), str):
        encoding["input"] = "string"
    if declared is not None:
        request["tools"] = [*request.get("tools", ()), *declared]
        reading.offered += in_items
        encoding[DECLARED] = [without_tools(item) for item in declaring]
    if reading.found:
        given = request.get("tools") or []
        if found := found_from_wire(reading.found, given, reading):
            request["tools"] = [*given, *found]
        del reading.offered[len(given) :]
    if reading.marks > MOST_BREAKPOINTS:
        reading.must_compare = True
    asking = messages[1:] if isinstance(instructions, str) else messages
    facts, empty = unmentioned_json(request, asking), not continued and body["input"] == []
    return _TABLE.keep_request(members, messages, facts, read=reading, empty=empty), []


def _read_instructions(name: str, value: Any, members: Members[Reading]) -> bool:
    """Accept a text, which is read with the messages; any other value stays an option."""
    return type(value) is str


def _read_include(name: str, value: Any, members: Members[Reading]) -> bool:
    if not isinstance(value, list) or value.count(LOGPROBS) != 1:
        return False
    members.request["logprobs"] = True
    if kept := [word for word in value if word != LOGPROBS]:
        members.options[name] = kept
    return True


def _summary_from_wire(value: str) -> dict[str, Any] | None:
    return {"display": "summarized"} if value == "auto" else None


def _format_from_wire(value: Wire) -> dict[str, Any] | None:
    if value.get("type") == "json_schema":
        return schema_from_wire({name: item for name, item in value.items() if name != "type"})
    return bare_form(value)


def _read_tools(name: str, value: Any, members: Members[Reading]) -> bool:
    if not isinstance(value, list):
        return False
    try:
        members.request["tools"] = tools_from_wire(value, members.reading)
    except UNREADABLE as problem:
        raise malformed("a tool", ("tools",), NAME) from problem
    return True


def _is_format(value: Wire, _: Wire) -> bool:
    schema = {name: item for name, item in value.items() if name != "type"}
    return is_bare_format(value) or (value.get("type") == "json_schema" and is_named_schema(schema))


def _without_logprobs(value: list[Any], _: Wire) -> bool:
    return LOGPROBS not in value


_ROWS: Final[BodyMembers] = {
    **SHARED_ROWS,
    "instructions": BodyMember(Kind.TEXT, read=_read_instructions),
    "max_output_tokens": BodyMember(Kind.COUNT, "max_output_tokens", plain=(LEAST_OUTPUT_TOKENS, None), write=_limit),
    "include": BodyMember(Kind.LIST, "logprobs", _read_include, plain=_without_logprobs, write=_logprobs),
    "tools": BodyMember(Kind.LIST, read=_read_tools),
    "tool_choice": BodyMember(Kind.TEXT_OR_OBJECT, "tool_choice", plain=is_choice, parse=choice_from_wire),
    "text": BodyMember(
        {
            "verbosity": BodyMember(Kind.TEXT, "verbosity", plain=one_of(VERBOSITIES), write=word(VERBOSITIES)),
            "format": BodyMember(
                Kind.OBJECT, FORMAT, plain=_is_format, parse=_format_from_wire, write=form_writer(forms(_form))
            ),
        }
    ),
    "reasoning": BodyMember(
        {
            "effort": BodyMember(
                Kind.TEXT,
                REASONING,
                plain=one_of(EFFORTS),
                parse=reasoning_member("effort"),
                write=reasoning_writer("reasoning_effort", _reasoning),
            ),
            "summary": BodyMember(Kind.TEXT, REASONING, plain=(), parse=_summary_from_wire),
        }
    ),
    "service_tier": BodyMember(
        Kind.TEXT, "service_tier", plain=one_of(TIERS), write=word(SERVICE_TIERS, switch="service_tiers")
    ),
}
_TABLE: Final = Table(
    NAME,
    _ROWS,
    ("input", "instructions", "tools"),
    _conversation_to_wire,
    _members_to_wire,
    Writing,
    switches=SWITCHES,
    shared=SHARED_MEMBERS.union(
        (
            "access_programs",
            "background",
            "context_management",
            "image",
            "include",
            "max_tool_calls",
            "reasoning",
            "text",
            "tool_choice",
            "truncation",
        )
    ),
    needed={"tool_choice": "tools"},
)
wrong_type: Final = _TABLE.wrong_type
