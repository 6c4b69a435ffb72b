"""
Small functions that all adapters share: two-way tables, names, provider state, reports, and the typed error of a
malformed wire.

The docstring of the package lists the functions that report what is lost of an item, and which of them includes which.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Generic, TypeVar, cast

from interlingua.adapters._engine.serving import states_serving
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Loss, Path, pointer
from interlingua.canonical.types import Response

Wire = dict[str, Any]
Event = dict[str, Any]
A = TypeVar("A")
B = TypeVar("B")

UNREADABLE: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""The exceptions of reading a part that lacks a member or has one of a wrong type."""
NOTHING: Final[dict[str, Any]] = {}
"""An empty object in place of one that is absent. Nobody writes into it. A plain dict is read faster than a mapping."""


def data_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """A typed value as plain data: the functions of an adapter are typed, the code inside uses the names of members."""
    return cast("dict[str, Any]", value)


def response_of(data: dict[str, Any]) -> Response:
    """Plain data as a typed response."""
    return cast("Response", data)


class BiMap(Generic[A, B]):
    """A table that is used in both directions. Raises ValueError at import time if it is not one-to-one."""

    def __init__(self, table: Mapping[A, B]) -> None:
        self.there = dict(table)
        self.back = {value: key for key, value in table.items()}
        if len(self.back) != len(self.there):
            raise ValueError(f"not one-to-one: {table}")


def malformed(
    what: str, path: Path, adapter: str | None = None, failure: type[InvalidWire] = InvalidWire
) -> InvalidWire:
    """The error for a part of a body that has a wrong type or lacks a member."""
    message = f"{what} cannot be read: a member is missing or has the wrong type"
    return failure(message, path=pointer(path), adapter=adapter)


def expect(value: Any, kind: type | tuple[type, ...], what: str, *path: str | int) -> Any:
    """Return the value if it has the type that the wire requires; else raise `InvalidWire` with its pointer."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        names = kind if isinstance(kind, tuple) else (kind,)
        raise InvalidWire(f"{what} must be {' or '.join(_JSON_NAMES[name] for name in names)}", path=pointer(path))
    return value


_JSON_NAMES: Final[dict[type, str]] = {
    dict: "an object",
    list: "a list",
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


def within(item: dict[Any, Any], known: frozenset[str]) -> bool:
    """Whether an item has only known members. When compiled, the loop is faster than a comparison of sets."""
    for name in item:  # noqa: SIM110 a generator costs more than what it asks
        if name not in known:
            return False
    return True


# ---------------------------------------------------------------------------------------------- canonical members

MESSAGE_MEMBERS: Final = frozenset(
    (
        "role",
        "content",
        "name",
        "cache",
        "provider_state",
        "id",
        "session_id",
        "created_at",
        "schema_version",
        "metadata",
        "priority",
        "critical",
        "extra",
    )
)
STRUCTURE: Final = frozenset(
    (
        "model",
        "messages",
        "system",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "options",
        "loss_policy",
        "provider_state",
    )
)
"""Members of a canonical request that most wires do not write one by one."""
BLOCK_MEMBERS: Final = frozenset(("type", "cache", "critical", "provider_state"))
THINKING_MEMBERS: Final = frozenset((*BLOCK_MEMBERS, "text", "signature"))
RESULT_MEMBERS: Final = frozenset((*BLOCK_MEMBERS, "tool_use_id", "content", "is_error"))
TOOL_MEMBERS: Final = frozenset(
    (
        "kind",
        "name",
        "description",
        "input_schema",
        "strict",
        "format",
        "cache",
        "provider_state",
        "side_effects",
        "requires_workspace",
    )
)
PROVIDER_TOOL_MEMBERS: Final = TOOL_MEMBERS | {"adapter", "definition"}
"""The members of canonical items that this version knows: `known` of `report_unknown`."""


# ---------------------------------------------------------------------------------------------- provider state


def state_of(item: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """The provider state of an item if it may be replayed at this endpoint, else an empty one."""
    state: dict[str, Any] | None = item.get("provider_state")
    return state if state is not None and endpoint.owns(state) else {}


def encoding_of(item: dict[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """How an item of this wire was spelt; empty for an item of another origin."""
    return encoding_in(state_of(item, endpoint))


def encoding_in(state: dict[str, Any] | None) -> dict[str, Any]:
    """How an item was spelt, by its provider state, whatever its origin."""
    return NOTHING if state is None else state.get("encoding") or NOTHING


def is_only_named(item: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether the state of an item is of another provider, and holds only an id: there is nothing to report."""
    state: dict[str, Any] | None = item.get("provider_state")
    return state is not None and within(state, _NAMED) and not endpoint.owns(state)


def is_bare(state: dict[str, Any]) -> bool:
    """Whether a provider state holds nothing but an id."""
    return within(state, _NAMED)


_NAMED: Final = frozenset(("adapter", "provider", "origin", "id"))


def report_foreign_state(item: dict[str, Any], endpoint: Endpoint, loss: Loss, path: Path) -> None:
    """Report the state of an item if the endpoint does not own it (`report_lost_state`)."""
    state: dict[str, Any] | None = item.get("provider_state")
    if state is not None and not endpoint.owns(state):
        report_lost_state(item, state, loss, path)


def report_lost_state(item: dict[str, Any], state: dict[str, Any], loss: Loss, path: Path) -> None:
    """Report the state of an item of another provider: its `fields` member by member, and its signature."""
    fields: dict[str, Any] = state.get("fields") or NOTHING
    for name, value in fields.items():
        severity, message = "weakened", "a member of another provider's item cannot be represented here"
        if states_serving(item, state["adapter"], name, value):
            severity, message = "representation", "a member that states how another provider served the item"
        loss.drop((*path, "provider_state", "fields", name), "foreign_state", severity, message)
    if state.get("signature"):
        severity, message = "lost", "a signature of another provider cannot be replayed here"
        if encoding_in(state).get(STAND_IN):
            severity, message = "representation", "a stand-in for the signature of another provider proves nothing"
        loss.drop((*path, "provider_state", "signature"), "foreign_state", severity, message)


STAND_IN: Final = "stand_in"
"""In the `encoding` of a state: its signature is no real one, but a word that the provider accepts in place of one."""


def report_replayable_state(state: dict[str, Any], loss: Loss, path: Path, *, fields: bool = False) -> None:
    """Report what a state that the endpoint owns holds and this wire has no place for: the signature and, with
    `fields`, its `fields`."""
    if state.get("signature"):
        message = "the item has no signature on this wire"
        loss.drop((*path, "provider_state", "signature"), "unsupported_field", "lost", message)
    if fields:
        for name in state.get("fields") or ():
            message = "the item has no further members on this wire"
            loss.drop((*path, "provider_state", "fields", name), "unsupported_field", "weakened", message)


def report_unknown(item: dict[str, Any], known: frozenset[str], loss: Loss, path: Path) -> None:
    """Report the members of a canonical item that this version does not know. `report_not_written` does this, too."""
    for name in item:
        if name not in known:
            loss.drop((*path, name), "unknown_field", "lost", "a member that this version does not know")


_DEFAULTS: Final[dict[str, Any]] = {
    "n": 1,
    "logprobs": False,
    "top_logprobs": 0,
    "detail": "auto",
    "service_tier": "auto",
}


def severity_of(name: str, value: Any, severity: str) -> str:
    """The severity of a member that has no place on a wire: `representation` if its value is the default, so that
    nothing is lost; else the given one."""
    return "representation" if name in _DEFAULTS and value == _DEFAULTS[name] else severity


def mapped_severity(requested: dict[str, Any], written: dict[str, Any]) -> str:
    """The severity of reasoning settings that are written in other terms (spec/2-requests.md#reasoning-off)."""
    return "representation" if _is_off(requested) and _is_off(written) else "weakened"


def _is_off(reasoning: dict[str, Any]) -> bool:
    mode, effort, budget = reasoning.get("mode"), reasoning.get("effort"), reasoning.get("budget_tokens")
    if mode not in (None, "disabled") or effort not in (None, "none") or budget not in (None, 0):
        return False
    return mode is not None or effort is not None or budget is not None


def parallel_severity(request: dict[str, Any]) -> str:
    """The severity if a wire has no switch for parallel calls. If they are allowed, or no tool may be called, the
    switch states what is so anyway."""
    callable_ = bool(request.get("tools")) and (request.get("tool_choice") or NOTHING).get("type") != "none"
    return "weakened" if callable_ and not request["parallel_tool_calls"] else "representation"


STORED: Final[Mapping[str, frozenset[str]]] = {
    "anthropic_messages": frozenset(("thread",)),
    "bedrock_converse": frozenset(("promptVariables",)),
    "gemini_generate": frozenset(("cachedContent", "continuationToken")),
    "openai_chat": frozenset(("preset",)),
    "openai_responses": frozenset(("previous_response_id", "conversation", "prompt")),
}
"""By adapter, the options that refer to a part of the conversation that the provider stores: messages, instructions,
the beginning of an answer (spec/6-loss.md#stored-history)."""


def is_stored(adapter: str, name: str, value: Any) -> bool:
    """Whether this option refers to a part of the conversation that the provider stores."""
    if not value or name not in STORED.get(adapter, ()):
        return False
    # a thread that this request creates is still empty
    return name != "thread" or not isinstance(value, dict) or value.get("type") != "create"


def stored_elsewhere(request: dict[str, Any], endpoint: Endpoint) -> tuple[str, str] | None:
    """Adapter and name of an option that refers to a stored part of the conversation which this endpoint does not have;
    None if there is none."""
    state = request.get("provider_state")
    foreign = state is not None and not endpoint.owns(state)
    for adapter, members in (request.get("options") or {}).items():
        for name, value in members.items():
            if is_stored(adapter, name, value) and (adapter != endpoint.adapter or foreign):
                return adapter, name
    return None


def report_foreign_options(
    request: dict[str, Any], endpoint: Endpoint, loss: Loss, carried: Collection[tuple[str, str]] = ()
) -> None:
    """Report the options that were written for other adapters, member by member, except those that are `carried`: pairs
    of adapter and name."""
    for adapter, members in (request.get("options") or {}).items():
        if adapter != endpoint.adapter:
            for name, value in members.items():
                if (adapter, name) in carried:
                    continue
                report_foreign_option(adapter, name, value, loss, f"an option of {adapter} has no meaning here")


def _has_no_effect(adapter: str, name: str, value: Any) -> bool:
    """Whether an option of another wire requests what is so anyway: that nothing is stored, that usage is returned,
    that encrypted reasoning is returned."""
    match adapter, name:
        case (("openai_chat" | "openai_responses"), "store"):
            return value is False
        case "openai_responses", "include":
            return value == ["reasoning.encrypted_content"]
        case "openai_chat", "usage":
            return bool(value == {"include": True})
        case _:
            return False


def report_foreign_option(adapter: str, name: str, value: Any, loss: Loss, message: str) -> None:
    """Report an option that has no meaning here; if it refers to a stored part of the conversation, that part is
    lost."""
    where = ("options", adapter, name)
    if is_stored(adapter, name, value):
        loss.drop(
            where, "foreign_options", "lost", "its provider stores the part of the conversation that it refers to"
        )
    else:
        severity = "representation" if _has_no_effect(adapter, name, value) else "weakened"
        loss.drop(where, "foreign_options", severity, message)


# ---------------------------------------------------------------------------------------------- errors


def error_body(body: Any) -> Any:
    """The body of an error response as plain data if it is JSON; else its text."""
    if isinstance(body, (bytes, bytearray, memoryview)):
        body = bytes(body).decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            return json.loads(body)
        except InvalidRequest:
            return body
    return body


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from headers with lower-case names: a number, or a date that is compared with the response's
    own."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if (text := headers.get(name)) is None:
            continue
        try:
            seconds = float(text) * scale
        except (ValueError, TypeError):
            seconds = _until(text, headers.get("date"))
        if 0 <= seconds < float("inf"):
            return seconds
    return None


def _until(date: str, now: str | None) -> float:
    """Seconds from the date of the response to the date to wait for; no clock is needed. A negative result: unknown."""
    from email.utils import parsedate_to_datetime  # takes longer to load than the rest of this module

    try:
        return (parsedate_to_datetime(date) - parsedate_to_datetime(now)).total_seconds() if now else -1.0
    except (TypeError, ValueError):
        return -1.0


# ---------------------------------------------------------------------------------------------- small functions


def marked(text: str) -> str:
    """Instructions inside a conversation as the text of a user turn, for wires that have no other place for them.

    The marks are not read back: a user could write them too (spec/decisions/0005-markers-are-not-read-back.md).
    """
    return f"<system-message>\n{text}\n</system-message>"


def arguments_text(value: Any) -> str:
    """Tool arguments as the compact JSON text that wires carry in a string."""
    return json.dumps(value).decode()


def absent_member(request: Mapping[str, Any], name: str) -> str:
    """A name that no member of a request has. The report has no operation that inserts a message: it is the value of
    such a member, which is moved to its place (spec/6-loss.md#loss-apply)."""
    while name in request:
        name += "_"
    return name


def keep(state: dict[str, Any], fields: dict[str, Any] | None, encoding: dict[str, Any] | None) -> None:
    """Put members without canonical meaning, and the spelling of an item, into its provider state; what is empty is not
    put."""
    if fields:
        state["fields"] = fields
    if encoding:
        state["encoding"] = encoding


def keep_spelling(state: dict[str, Any], name: str, value: Any) -> None:
    """Keep a spelling in the `encoding` of a provider state."""
    state.setdefault("encoding", {})[name] = value


def note_spelling(item: dict[str, Any], name: str, state: Callable[[], dict[str, Any]], value: Any = True) -> None:
    """Keep how an item was spelt, in its provider state. If it has none, `state` makes one."""
    if "provider_state" not in item:
        item["provider_state"] = state()
    keep_spelling(item["provider_state"], name, value)


def with_spelling(state: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    """A copy of a provider state with one more spelling in its `encoding`."""
    return {**state, "encoding": {**encoding_in(state), name: value}}


class UnusedNames:
    """Makes names that no other tool of a request has; each new name is added to those that are `taken`."""

    __slots__ = ("_numbers", "_taken")

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._numbers: dict[str, int] = {}  # the last number of each beginning: saves attempts if many names are alike

    def name(self, base: str, longest: int) -> str:
        """The base, or its beginning with a number, of no more than `longest` characters."""
        wire, digits = base[:longest], 1
        while wire in self._taken or not wire:
            beginning = base[: longest - 1 - digits]
            number = max(self._numbers.get(beginning, 1), 10 ** (digits - 1) - 1) + 1
            if number >= 10**digits:
                digits += 1
                continue
            self._numbers[beginning] = number
            wire = f"{beginning}_{number}"
        self._taken.add(wire)
        return wire


def parse_arguments(text: str) -> dict[str, Any] | None:
    """Tool arguments from a wire's text; None if the text is not a JSON object."""
    try:
        value = json.loads(text)
    except InvalidRequest:
        return None
    return value if isinstance(value, dict) else None


def data_uri(media_type: str, data: str) -> str:
    """Base64 data as a data URI."""
    return f"data:{media_type};base64,{data}"


_DATA_URI: Final = re.compile(r"data:([^;,]*);base64,")


def parse_data_uri(uri: str) -> tuple[str, str] | None:
    """Media type and base64 data of a data URI; None for any other address. The data is neither checked nor decoded."""
    found = _DATA_URI.match(uri)
    return (found[1], uri[found.end() :]) if found else None
