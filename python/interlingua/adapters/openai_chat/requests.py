"""Requests: `to_wire` above `from_wire_request`, and their members other than messages and tools."""

from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._history.messages import refuse_empty
from interlingua.adapters._openai.members import (
    EFFORTS,
    SHARED_ROWS,
    SWITCHES,
    TIERS,
    VERBOSITIES,
    forms,
    is_bare_format,
    is_choice,
    is_named_schema,
    sampling,
    schema_from_wire,
    schema_to_wire,
)
from interlingua.adapters._openai.options import SHARED_MEMBERS, carry_shared
from interlingua.adapters._openai.parts import MOST_BREAKPOINTS
from interlingua.adapters._requests.forms import FORMAT, bare_form, form_writer
from interlingua.adapters._requests.members import (
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    Members,
    Writer,
    is_number,
    number_of_answers,
    one_of,
    report_absent,
    whole_number,
    within,
    within_limit,
)
from interlingua.adapters._requests.requests import (
    Table,
    body_of,
    posted,
    tools_reader,
    unmentioned_json,
    write_request,
)
from interlingua.adapters._requests.rules import MOST_LOGPROBS, stops, top_logprobs, word
from interlingua.adapters.openai_chat.messages import messages_from_wire, messages_to_wire
from interlingua.adapters.openai_chat.parts import MARK
from interlingua.adapters.openai_chat.reasoning import (
    SETTINGS,
    calls_without_reasoning,
    effort_beside_tools,
    settings_from_wire,
    settings_to_wire,
)
from interlingua.adapters.openai_chat.tables import NAME, SERVICE_TIERS, Writing
from interlingua.adapters.openai_chat.tools import (
    choice_from_wire,
    choice_to_wire,
    functions_from_wire,
    tool_from_wire,
    tools_to_wire,
)
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]

_INCLUDE_USAGE: Final = {"include_usage": True}
_LIMITS: Final = ("max_completion_tokens", "max_tokens")


# ---------------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a canonical request as a WireRequest, and report what the wire cannot express.

    Raises `InvalidRequest` with a pointer for a conversation that has no valid wire: results without calls,
    calls without results that other turns follow, results twice.
    """
    return write_request(_written, request, endpoint, speaks_json=True)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    body = _TABLE.write_body(request, Writing(request, endpoint, loss))
    return posted(endpoint.dialect.get("path") or "/chat/completions", body)


def _conversation_to_wire(request: Request, writing: Writing, read: dict[str, Any] = NOTHING) -> Wire:
    """Write messages and tools. If they were just `read` from a body, keep what is written differently."""
    body: Wire = {"messages": messages_to_wire(request, writing, read=read.get("messages"))}
    if not read:
        refuse_empty(body["messages"], writing)
    if request.get("tools"):
        tools_to_wire(request, body, writing, read=read.get("tools") or read.get("functions"))
    return body


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members other than messages and tools."""
    if "tool_choice" in request or "parallel_tool_calls" in request:
        choice_to_wire(request, body, writing)
    _TABLE.write_members(request, body, writing)
    effort_beside_tools(body, writing)
    if "options" in request:
        _TABLE.write_options(request, body, writing, carry_shared(request, body, writing))


def _sampling(name: str, value: Any, body: Wire, writing: Writing) -> Any:
    return sampling(name, value, body, writing, reasons=False if calls_without_reasoning(body, writing) else None)


def _if_there(lowest: float | None = None, highest: float | None = None) -> Writer[Writing]:
    """Return a writer of a number in this range, for providers that have the member by the dialect switch of that
    name."""

    def write(name: str, value: Any, body: Wire, writing: Writing) -> Any:
        if writing.dialect.get(name):
            return within(name, value, lowest, highest, writing)
        report_absent(name, value, writing.loss)
        return None

    return write


def _limit(name: str, value: int, body: Wire, writing: Writing) -> None:
    spellings = writing.encoding.get("token_limit")  # some servers accept only one of the two names
    body[spellings if spellings in _LIMITS else _usual_limit(writing.dialect)] = within_limit(name, value, writing)


def _usual_limit(dialect: dict[str, Any]) -> str:
    return dialect.get("token_limit") or _LIMITS[0]


def _seed(name: str, value: int, body: Wire, writing: Writing) -> None:
    body[writing.dialect.get("seed_name") or "seed"] = value


def _top_logprobs(name: str, value: int, body: Wire, writing: Writing) -> int | None:
    most = top_logprobs(name, value, body, writing)
    if most is not None and not writing.source.get("logprobs"):
        body["logprobs"] = True
        message = "alternatives are returned only with log probabilities"
        writing.loss.replace(("logprobs",), True, "required_default", "representation", message)
    return most


def _logprobs(name: str, value: bool, body: Wire, writing: Writing) -> bool:
    return bool(body.get(name) or value)  # `top_logprobs` may have set it


def _cache(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> None:
    if writing.dialect.get("cache_hints") == "cache_control":
        MARK.write(value, body, NOTHING, (name,), writing)
    else:
        writing.loss.drop(
            (name,), "cache_hint", "weakened", "the wire does not support a cache mark for the whole prompt"
        )


def _stream(name: str, value: bool, body: Wire, writing: Writing) -> bool:
    asked = "stream_options" in (writing.source.get("options") or NOTHING).get(NAME, NOTHING)
    silent = writing.dialect.get("stream_options") is False or writing.encoding.get("usage") == "unasked"
    if value and not (asked or silent):
        body["stream_options"] = _INCLUDE_USAGE
    return value


# -- the format of the answer


def _form(value: dict[str, Any], _: Wire, writing: Writing) -> Wire:
    return {"type": "json_schema", "json_schema": schema_to_wire(value, writing)}


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
    messages = messages_from_wire(body.get("messages"), reading)
    members = _TABLE.read(body, reading)
    if body.get("stream") is True and "stream_options" not in body:
        members.words["usage"] = "unasked"
    facts = unmentioned_json(members.request, messages)
    reading.must_compare = reading.must_compare or reading.marks > MOST_BREAKPOINTS
    return _TABLE.keep_request(members, messages, facts, empty=not messages), []


def _read_if_there(name: str, value: Any, members: Members[Reading]) -> bool:
    if not members.endpoint.dialect.get(name) or not is_number(value):
        return False
    members.request[name] = value
    return True


def _read_seed(name: str, value: Any, members: Members[Reading]) -> bool:
    seed = whole_number(value)
    if seed is None or members.endpoint.dialect.get("seed_name", "seed") != name:
        return False
    members.request["seed"] = seed
    return True


def _read_limit(name: str, value: Any, members: Members[Reading]) -> bool:
    beside = name == "max_tokens" and members.body.get("max_completion_tokens") is not None
    limit = whole_number(value)
    if limit is None or limit < 0 or beside:
        return False
    members.request["max_output_tokens"] = limit
    if name != _usual_limit(members.endpoint.dialect):
        members.words["token_limit"] = name
    return True


def _stops_from_wire(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _read_cache(name: str, value: Any, members: Members[Reading]) -> bool:
    kept = {name: value}
    MARK.read(kept, members.request, {}, members.reading)
    return not kept


def _format_from_wire(value: Wire) -> dict[str, Any] | None:
    match value:
        case {"type": "json_schema", "json_schema": dict(schema)} if len(value) == 2:
            return schema_from_wire(schema)
        case {"type": "json_schema" | "json_object", "schema": dict(schema)} if len(value) == 2:
            return {"type": "json_schema", "schema": schema}
        case _:
            return bare_form(value)


def _read_functions(name: str, value: Any, members: Members[Reading]) -> bool:
    """Read the legacy functions. In a request with tools they have no canonical counterpart."""
    tools = None if members.body.get("tools") else functions_from_wire(value, members.reading)
    if tools is None:
        return False
    members.request["tools"] = tools
    members.words["tools"] = "functions"
    return True


def _read_choice(name: str, value: Any, members: Members[Reading]) -> bool:
    legacy, body = name == "function_call", members.body
    if not legacy and body.get("functions") and not body.get("tools"):
        return False  # the choice of a function has a member of its own
    functions = body.get("functions")
    if legacy and (body.get("tools") or not functions or functions_from_wire(functions, members.reading) is None):
        return False
    choice = choice_from_wire(value)
    if choice is not None:
        members.request["tool_choice"] = choice
    return choice is not None


def _read_stream_options(name: str, value: Any, members: Members[Reading]) -> bool:
    """Read the value that is written with every stream: it needs no option."""
    return _is_usual(value, members.body) and members.endpoint.dialect.get("stream_options") is not False


# -- whether the value is written unchanged


def _is_usual(value: Any, body: Wire) -> bool:
    return bool(value == _INCLUDE_USAGE) and value["include_usage"] is True and body.get("stream") is True


def _is_stream(value: bool, body: Wire) -> bool:
    return body.get("stream_options", _INCLUDE_USAGE) is not None


def _are_asked(value: int, body: Wire) -> bool:
    return value <= MOST_LOGPROBS and body.get("logprobs") is True


def _are_stops(value: Any, _: Wire) -> bool:
    return type(value) is list and 0 < len(value) <= 4


def _is_format(value: Wire, _: Wire) -> bool:
    named = len(value) == 2 and value.get("type") == "json_schema" and is_named_schema(value.get("json_schema"))
    return named or is_bare_format(value)


_ROWS: Final[BodyMembers] = {
    **SHARED_ROWS,
    "max_completion_tokens": BodyMember(Kind.COUNT, "max_output_tokens", _read_limit, plain=(0, None), write=_limit),
    "max_tokens": BodyMember(Kind.COUNT, "max_output_tokens", _read_limit, plain=(0, None)),
    "temperature": BodyMember(Kind.NUMBER, "temperature", plain=(0, 2), write=_sampling),
    "top_p": BodyMember(Kind.NUMBER, "top_p", plain=(0, 1), write=_sampling),
    "frequency_penalty": BodyMember(Kind.NUMBER, "frequency_penalty", plain=(-2, 2), write=_sampling),
    "presence_penalty": BodyMember(Kind.NUMBER, "presence_penalty", plain=(-2, 2), write=_sampling),
    "top_k": BodyMember(Kind.NUMBER, "top_k", _read_if_there, write=_if_there()),
    "min_p": BodyMember(Kind.NUMBER, "min_p", _read_if_there, write=_if_there(0, 1)),
    "seed": BodyMember(Kind.INTEGER, "seed", _read_seed, plain=(), write=_seed),
    "random_seed": BodyMember(Kind.INTEGER, "seed", _read_seed),
    "stop": BodyMember(Kind.TEXT_OR_TEXTS, "stop", plain=_are_stops, parse=_stops_from_wire, write=stops(4, fits=None)),
    "n": BodyMember(Kind.COUNT, "n", plain=(1, None), parse=number_of_answers),
    "logprobs": BodyMember(Kind.SWITCH, "logprobs", plain=(), write=_logprobs),
    "top_logprobs": BodyMember(Kind.COUNT, "top_logprobs", plain=_are_asked, write=_top_logprobs),
    "tools": BodyMember(Kind.LIST, read=tools_reader(tool_from_wire)),
    "functions": BodyMember(Kind.LIST, read=_read_functions),
    "tool_choice": BodyMember(Kind.TEXT_OR_OBJECT, read=_read_choice, covers=("tool_choice",), plain=is_choice),
    "function_call": BodyMember(Kind.TEXT_OR_OBJECT, read=_read_choice, covers=("tool_choice",)),
    "response_format": BodyMember(
        Kind.OBJECT, FORMAT, plain=_is_format, parse=_format_from_wire, write=form_writer(forms(_form))
    ),
    **{name: BodyMember(Kind.ANYTHING, REASONING, settings_from_wire, write=settings_to_wire) for name in SETTINGS},
    "reasoning_effort": BodyMember(
        Kind.TEXT, REASONING, settings_from_wire, plain=one_of(EFFORTS), write=settings_to_wire
    ),
    "verbosity": BodyMember(Kind.TEXT, "verbosity", plain=one_of(VERBOSITIES), write=word(VERBOSITIES)),
    "service_tier": BodyMember(
        Kind.TEXT, "service_tier", plain=one_of(TIERS), write=word(SERVICE_TIERS, switch="service_tiers")
    ),
    "cache_control": BodyMember(Kind.ANYTHING, "cache", _read_cache, write=_cache),
    "stream": BodyMember(Kind.SWITCH, "stream", plain=_is_stream, write=_stream),
    "stream_options": BodyMember(Kind.ANYTHING, read=_read_stream_options, covers=("stream",), plain=_is_usual),
}
_TABLE: Final = Table(
    NAME,
    _ROWS,
    ("messages", "tools", "functions"),
    _conversation_to_wire,
    _members_to_wire,
    Writing,
    switches={
        **SWITCHES,
        "max_stop": ("stop",),
        "reasoning_control": tuple(SETTINGS),
        "reasoning_members": tuple(SETTINGS),
        "seed_name": ("seed",),
        "stream_options": ("stream", "stream_options"),
        "tool_choices": ("tool_choice",),
        "tool_choices_thinking": ("tool_choice",),
        "tool_choice_required": ("tool_choice",),
    },
    shared=SHARED_MEMBERS.union(("audio", "logit_bias", "modalities", "prediction", "web_search_options")),
    needed={"stream_options": "stream", "tool_choice": "tools", "parallel_tool_calls": "tools"},
)
wrong_type: Final = _TABLE.wrong_type
