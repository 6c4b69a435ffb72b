"""Read and write requests: all members except the messages."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

from interlingua.adapters._claude import reasoning as claude
from interlingua.adapters._claude.members import sampling
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.schemas import enforced
from interlingua.adapters._claude.turns import Read, holds_nothing, settled_tools
from interlingua.adapters._engine.as_read import MARKS
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._estimates import estimate as _estimates
from interlingua.adapters._estimates.estimate import Range
from interlingua.adapters._requests.forms import FORMAT, Formats, form_writer
from interlingua.adapters._requests.members import (
    MODEL,
    REASONING,
    BodyMember,
    BodyMembers,
    Kind,
    Members,
    are_words,
    model_to_wire,
    one_of,
    within_limit,
    wrong_member,
)
from interlingua.adapters._requests.reasoning import reasoning_member
from interlingua.adapters._requests.requests import Table, body_of, posted, write_request
from interlingua.adapters._requests.rules import kept_metadata, stops, word
from interlingua.adapters.anthropic_messages.tables import (
    DEFAULT_MAX_TOKENS,
    MODES,
    NAME,
    PATH,
    STRICTER_VERSION,
    TOOL_NAMES,
    VERSION,
    Writing,
    cache_from_wire,
)
from interlingua.adapters.anthropic_messages.tools import (
    can_be_enforced,
    read_tools,
    tool_choice_from_wire,
    tool_choice_to_wire,
    tools_to_wire,
)
from interlingua.adapters.anthropic_messages.turns import messages_from_wire, messages_to_wire, system_from_wire
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss

Request = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def from_wire_request(
    wire: types.WireRequest, endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[types.Request, list[Entry]]:
    """Read a request of this wire, given as `{method, path, headers, body}`.

    Raises `InvalidWire` with a pointer into the body if the body cannot be read.
    Nothing is lost: members without canonical meaning are kept in `options` or in provider state.
    """
    body = body_of(wire)
    reading = Reading(endpoint, ids)
    if "messages" not in body or type(body["messages"]) is not list:
        raise InvalidWire("messages must be a list", path="/messages")
    members = _TABLE.read(body, reading)
    messages: list[Any] = []
    if body.get("system") is not None:
        messages.append(system_from_wire(body["system"], reading))
    starts = messages_from_wire(body["messages"], reading, messages)
    if "cache" in members.request:
        reading.mark(members.request["cache"])
    _address_from_wire(wire, members.request, members.words, endpoint)
    dialect = endpoint.dialect
    of_a_cloud = (
        "body_version" in dialect or dialect.get("stream_in_body") is False or "{model}" in dialect.get("path", PATH)
    )
    marks: tuple[str, ...] = (MARKS,) if reading.marks else ()
    empty = holds_nothing(messages[starts[0] :] if starts else [])
    offered = body["tools"] if members.request.get("tools") else []
    read = Read(offered, reading.tools, body.get("system"), body["messages"], starts)
    return _TABLE.keep_request(members, messages, marks, read=read, empty=empty, must_compare=of_a_cloud), []


def _read_version(name: str, value: Any, members: Members[Reading]) -> bool:
    return type(value) is str  # the version that a cloud has in the body


def _read_choice(name: str, value: Any, members: Members[Reading]) -> bool:
    if type(value) is not dict or wrong_member(NAME, {name: value}, _ROWS) is not None:
        return False
    if others := tool_choice_from_wire(value, members.request):
        members.options[name] = others
    return True


def _format_from_wire(value: Any) -> dict[str, Any] | None:
    if (
        type(value) is dict
        and value.keys() == {"type", "schema"}
        and value["type"] == "json_schema"
        and type(value["schema"]) is dict
    ):
        return {"type": "json_schema", "schema": value["schema"]}
    return None


def _read_output_format(name: str, value: Any, members: Members[Reading]) -> bool:
    """Read the old spelling of `output_config.format`."""
    config = members.body.get("output_config")
    found = _format_from_wire(value)
    if found is None or (isinstance(config, dict) and config.get("format") is not None):
        return False
    members.request["response_format"] = found
    return True


def _is_top_k(value: Any, _: Wire) -> bool:
    return type(value) is int and value >= 0


def _is_user(value: Wire, _: Wire) -> bool:
    return value.keys() == {"user_id"} and type(value["user_id"]) is str


def _is_choice(value: Wire, body: Wire) -> bool:
    """Whether a tool choice has only a type, and reasoning does not forbid this type."""
    tools, kind = body.get("tools"), value.get("type")
    if len(value) != 1 or type(tools) is not list or not tools:
        return False
    return kind == "auto" or kind == "none" or (kind == "any" and body.get("thinking") is None)


def _is_adaptive(value: Wire, body: Wire) -> bool:
    return len(value) == 1 and value.get("type") == "adaptive" and body.get("tool_choice") is None


def _address_from_wire(wire: Mapping[str, Any], request: Request, encoding: dict[str, Any], endpoint: Endpoint) -> None:
    """Read path and headers. On clouds the path has the model and whether to stream; headers have versions and betas."""
    path = wire.get("path")
    if isinstance(path, str):
        bare = path.partition("?")[0]
        for template, streamed in _templates(endpoint):
            before, placed, after = template.partition("{model}")
            if not placed and bare != template:
                continue
            if placed:
                # the path of a cloud may begin with more, such as projects and regions
                _, found, model = bare.removesuffix(after).rpartition(before)
                if not found or not model or not bare.endswith(after):
                    continue
                request.setdefault("model", endpoint.model_id(unquote(model)) or "")
            if streamed and endpoint.dialect.get("stream_in_body") is False:
                request["stream"] = True
            break
    headers = wire.get("headers")
    if isinstance(headers, dict):
        kept = {
            name.lower(): value for name, value in headers.items() if name.lower() in _HEADERS and type(value) is str
        }
        if kept:
            encoding["headers"] = kept


_HEADERS: Final = ("anthropic-version", "anthropic-beta")


def _templates(endpoint: Endpoint) -> list[tuple[str, bool]]:
    dialect = endpoint.dialect
    plain = dialect.get("path", PATH)
    return [(dialect["stream_path"], True), (plain, False)] if "stream_path" in dialect else [(plain, False)]


# ---------------------------------------------------------------------------------------------- to the wire


def to_wire(request: types.Request, endpoint: Endpoint) -> tuple[types.WireRequest, list[Entry]]:
    """Write a request for this wire, with a report of all changes (spec/6-loss.md).

    Raises `InvalidRequest` for a request that has no valid wire (calls and results that do not pair, two tools with the
    same name) and `CannotAdapt` for a request that the model refuses. Both have a pointer into the request.
    """
    return write_request(_written, request, endpoint)


def _written(request: Request, endpoint: Endpoint, loss: Loss) -> types.WireRequest:
    writing = Writing(request, endpoint, loss)
    encoding = writing.encoding
    body = _TABLE.write_body(request, writing)
    if endpoint.dialect.get("beta_in_body") and _BETAS not in body:
        _betas_to_wire(encoding, body, writing)
    return posted(_path(request, endpoint), body, _headers(request, encoding, endpoint))


def _conversation_to_wire(request: Request, writing: Writing, read: Read | None = None) -> Wire:
    """Write messages, instructions and tools. If they were just `read`, keep what is written differently."""
    writing.stricter = _version(writing.encoding, writing.endpoint) >= STRICTER_VERSION
    writing.marks_beside = 0 if request.get("cache") is None else 1
    body: Wire = {}
    offered = tools_to_wire(request, body, writing)
    turns = messages_to_wire(request, body, writing)
    writing.finish()
    if tools := settled_tools(body["tools"] if offered else [], offered, writing, read):
        body["tools"] = tools
    turns.settle(body, read)
    return body


def _version(encoding: dict[str, Any], endpoint: Endpoint) -> str:
    return _header(encoding, "anthropic-version") or endpoint.dialect.get("api_version") or VERSION


def _header(encoding: dict[str, Any], name: str) -> str | None:
    """Return a header that the request had when it was read from this wire."""
    headers = encoding.get("headers")
    value = headers.get(name) if isinstance(headers, dict) else None
    return value if isinstance(value, str) else None


def _headers(request: Request, encoding: dict[str, Any], endpoint: Endpoint) -> dict[str, str]:
    dialect = endpoint.dialect
    headers = {"content-type": "application/json"}
    if "body_version" not in dialect:
        headers["anthropic-version"] = _version(encoding, endpoint)
    betas = _betas(encoding, endpoint)
    if betas and not dialect.get("beta_in_body"):
        headers["anthropic-beta"] = betas
    if request.get("stream") and dialect.get("framing") == "sse_or_messages":
        headers["accept"] = "application/vnd.amazon.eventstream"
    return headers


def _betas(encoding: dict[str, Any], endpoint: Endpoint) -> str | None:
    return _header(encoding, "anthropic-beta") or endpoint.dialect.get("beta")


def _path(request: Request, endpoint: Endpoint) -> str:
    dialect = endpoint.dialect
    template: str = dialect.get("path", PATH)
    if request.get("stream"):
        template = dialect.get("stream_path", template)
    if "{model}" not in template:
        return template
    # an id may be an ARN, which has slashes
    return template.replace("{model}", quote(model_to_wire(request, endpoint) or "", safe="@"))


def _default_limit(body: Wire, writing: Writing) -> None:
    """Write the limit that the wire requires if the request has none: room for a response plus the budget of reasoning."""
    if "max_tokens" not in body:
        limit: int = DEFAULT_MAX_TOKENS
        if "thinking" in body:
            limit += body["thinking"].get("budget_tokens", 0)
        if (most := writing.capabilities.get("max_output_tokens")) is not None:
            limit = min(limit, most)
        body["max_tokens"] = limit
        writing.loss.replace(
            ("max_output_tokens",), limit, "required_default", "representation", "the target requires a limit"
        )


def _members_to_wire(request: Request, body: Wire, writing: Writing) -> None:
    """Write the members other than messages, instructions and tools."""
    dialect = writing.endpoint.dialect
    tool_choice_to_wire(request, body, writing)
    if (limit := request.get("max_output_tokens")) is not None:
        body["max_tokens"] = within_limit("max_output_tokens", limit, writing)
    if request.get("reasoning"):
        _reasoning(request["reasoning"], body, writing)
    _default_limit(body, writing)
    _TABLE.write_members(request, body, writing, _WRITTEN_APART)
    if "metadata" in request or "user" in request:
        message = "the target accepts only the id of the user"
        if kept := kept_metadata(writing, _is_user_id, message, code="unsupported_field", user="user_id"):
            body["metadata"] = kept
    if "body_version" in dialect:
        body["anthropic_version"] = dialect["body_version"]
    _TABLE.write_options(request, body, writing)


_BETAS: Final = "anthropic_beta"


def _betas_to_wire(encoding: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write the names of betas into the body, for a cloud that does not forward headers."""
    betas = [name for part in (_betas(encoding, writing.endpoint) or "").split(",") if (name := part.strip())]
    if betas:
        body[_BETAS] = betas
        where = ("options", writing.endpoint.adapter, _BETAS)
        writing.loss.replace(
            where, betas, "unsupported_field", "representation", "betas are in the body here, not in a header"
        )


# ---------------------------------------------------------------------------------------------- members


def _reasoning(reasoning: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Write `thinking` and `output_config.effort`, and report each value that is adapted to the model or the request."""
    # if the request has this origin and has tools, the budget may cover many responses (reasoning between calls)
    between = writing.same_origin and body.get("tools")
    limit = None if between else body.get("max_tokens", writing.known("reasoning").get("max_output_tokens"))
    forced = body.get("tool_choice", {}).get("type") in ("any", "tool")
    chosen = claude.chosen(reasoning, limit, MODES, forced, body, writing)
    thinking = {name: chosen[member] for name, member in _THINKING if member in chosen}
    if thinking:
        body["thinking"] = thinking
    if "effort" in chosen:
        body["output_config"] = {"effort": chosen["effort"]}


_THINKING: Final = (("type", "mode"), ("budget_tokens", "budget_tokens"), ("display", "display"))


def _sampling(name: str, value: Any, body: Wire, writing: Writing) -> Any:
    if writing.stricter and not writing.same(name):
        why = f"API version {STRICTER_VERSION} has no {name}"
        writing.loss.drop((name,), "unsupported_model", "weakened", why)
        return None
    budgeted = body.get("thinking", {}).get("type") == "enabled"
    tempered = writing.source.get("temperature") is not None
    return sampling(name, value, budgeted, tempered, writing)


def _stream(name: str, value: bool, body: Wire, writing: Writing) -> bool | None:
    return None if writing.dialect.get("stream_in_body") is False else value


def _cache(name: str, value: dict[str, Any], body: Wire, writing: Writing) -> Wire | None:
    control = writing.cache_mark("ephemeral", value, (name,))
    if control is not None and not writing.same(name):
        writing.settle_lifetime(control, (name,), writing.short)
    return control


def _form(value: dict[str, Any], _: Wire, writing: Writing) -> Wire:
    return {"type": "json_schema", "schema": enforced(value["schema"], writing.loss, (FORMAT, "schema"))}


_FORMS: Final = Formats(_form, fits=can_be_enforced)


def _is_user_id(name: str, value: Any) -> bool:
    return name == "user_id" and isinstance(value, str)


# ---------------------------------------------------------------------------------------------- rows

_TIERS: Final = ("auto", "standard_only")
_WRITTEN_APART: Final = ("max_output_tokens", "reasoning", "metadata", "user")
_ROWS: Final[BodyMembers] = {
    "model": MODEL,
    "max_tokens": BodyMember(Kind.COUNT, "max_output_tokens", plain=(0, None)),
    "temperature": BodyMember(Kind.NUMBER, "temperature", plain=(0, 1), write=_sampling),
    "top_p": BodyMember(Kind.NUMBER, "top_p", plain=(0, 1), write=_sampling),
    "top_k": BodyMember(Kind.NUMBER, "top_k", plain=_is_top_k, write=_sampling),
    "stream": BodyMember(Kind.SWITCH, "stream", plain=(), write=_stream),
    "stop_sequences": BodyMember(Kind.TEXTS, "stop", plain=are_words, write=stops(fits=str.strip)),
    "metadata": BodyMember(Kind.OBJECT, "metadata", plain=_is_user),
    "service_tier": BodyMember(Kind.TEXT, "service_tier", write=word(_TIERS, "standard_only")),
    "tools": BodyMember(Kind.LIST, read=read_tools),
    "tool_choice": BodyMember(
        {
            "type": BodyMember(Kind.TEXT),
            "name": BodyMember(Kind.TEXT),
            "disable_parallel_tool_use": BodyMember(Kind.SWITCH),
        },
        read=_read_choice,
        covers=("tool_choice", "parallel_tool_calls"),
        plain=_is_choice,
    ),
    "thinking": BodyMember(
        {
            "type": BodyMember(Kind.TEXT, REASONING, parse=reasoning_member("mode")),
            "budget_tokens": BodyMember(Kind.COUNT, REASONING, parse=reasoning_member("budget_tokens")),
            "display": BodyMember(Kind.TEXT, REASONING, parse=reasoning_member("display")),
        },
        plain=_is_adaptive,
    ),
    "output_config": BodyMember(
        {
            "effort": BodyMember(Kind.TEXT, REASONING, plain=one_of(claude.EFFORTS), parse=reasoning_member("effort")),
            "format": BodyMember(Kind.ANYTHING, FORMAT, parse=_format_from_wire, write=form_writer(_FORMS)),
        }
    ),
    "output_format": BodyMember(Kind.OBJECT, FORMAT, _read_output_format),
    "cache_control": BodyMember(Kind.OBJECT, "cache", parse=cache_from_wire, write=_cache),
    "anthropic_version": BodyMember(Kind.ANYTHING, read=_read_version),
}
_TABLE: Final = Table(
    NAME,
    _ROWS,
    ("messages", "system", "tools"),
    _conversation_to_wire,
    _members_to_wire,
    Writing,
    ("max_tokens",),
    needed={"thinking": "thinking", "tool_choice": "tool_choice"},
    tool_names=TOOL_NAMES,
)
wrong_type: Final = _TABLE.wrong_type


# ---------------------------------------------------------------------------------------------- estimates

_PROVIDED: Final[dict[str, Range | None]] = {
    "computer_": (300, 1_500, 3_000),
    "bash_": (150, 700, 1_500),
    "text_editor_": (300, 1_100, 2_000),
    "memory_": (300, 1_000, 2_500),
    "tool_search_": (0, 400, 2_500),
    "web_search_": None,
    "web_fetch_": None,
    "code_execution_": None,
    "mcp_": None,
}
"""The tokens that a tool of the provider adds, by the beginning of its type. None: the tool runs inside the provider call and adds
what it finds."""


def estimate(request: types.Request, endpoint: Endpoint) -> types.TokenEstimate:
    """Estimate the prompt tokens of a canonical request: a likely minimum, the best guess, a likely maximum."""
    return _estimates.estimate(request, endpoint, _PROVIDED)
