"""What adapters share: two-way tables, ids, provider state, and one place where a malformed wire becomes a typed error."""

import hashlib
import re
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, NoReturn, TypeVar

from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire, too_deep
from interlingua.canonical.loss import Loss, Path, pointer
from interlingua.canonical.state_in_ids import carries_state
from interlingua.canonical.validate import malformed_event

Wire = dict[str, Any]
Event = dict[str, Any]
A = TypeVar("A")
B = TypeVar("B")

NOTHING: Final[Mapping[str, Any]] = {}
"""Stands for an object that is absent."""


class BiMap(Generic[A, B]):
    """A table that reads both ways. Refuses at import time to be anything but one-to-one."""

    def __init__(self, table: Mapping[A, B]) -> None:
        self.there = dict(table)
        self.back = {value: key for key, value in table.items()}
        if len(self.back) != len(self.there):
            raise ValueError(f"not one-to-one: {table}")


@contextmanager
def reading(what: str, *path: str | int) -> Generator[None]:
    """Turns the plain exceptions of reading a malformed body into `InvalidWire` with the pointer of the part at hand."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise malformed(what, *path) from problem


def malformed(what: str, *path: str | int) -> InvalidWire:
    """The error for a part of a body that has a wrong type or lacks a member."""
    return InvalidWire(f"{what} cannot be read: a member is missing or has the wrong type", path=pointer(path))


def expect(value: Any, kind: type | tuple[type, ...], what: str, *path: str | int) -> Any:
    """The value, when it is of the kind that the wire demands; else `InvalidWire` at its pointer."""
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
    """Whether an item has known members alone. Compiled, the loop is faster than a comparison of sets."""
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
CALL_MEMBERS: Final = frozenset((*BLOCK_MEMBERS, "id", "name", "input", "input_raw", "kind"))
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
"""What this version knows of canonical items: the known members of `report_unknown`."""


# ---------------------------------------------------------------------------------------------- provider state


def own_state(item: dict[str, Any], endpoint: Endpoint) -> Mapping[str, Any]:
    """The provider state of an item when it may be replayed at this endpoint, else nothing."""
    state: dict[str, Any] | None = item.get("provider_state")
    return state if state is not None and endpoint.owns(state) else {}


def is_only_named(item: dict[str, Any], endpoint: Endpoint) -> bool:
    """Whether all that an item holds for its provider is an id, and that provider is another: there is nothing to report."""
    state: dict[str, Any] | None = item.get("provider_state")
    return state is not None and within(state, _NAMED) and not endpoint.owns(state)


_NAMED: Final = frozenset(("adapter", "provider", "origin", "id"))


def report_foreign_state(item: dict[str, Any], endpoint: Endpoint, loss: Loss, path: Path) -> None:
    """Reports what an item carries for another provider: `fields` member by member, and the signature."""
    state: dict[str, Any] | None = item.get("provider_state")
    if state is not None and not endpoint.owns(state):
        report_lost_state(state, loss, path)


def report_lost_state(state: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports provider state that has no place where it would go."""
    for name in state.get("fields") or ():
        where = (*path, "provider_state", "fields", name)
        loss.drop(where, "foreign_state", "weakened", "a member of another provider's item has no place here")
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        loss.drop(where, "foreign_state", "lost", "a signature of another provider cannot be replayed here")


def report_own_state(state: Mapping[str, Any], loss: Loss, path: Path, *, fields: bool = False) -> None:
    """Reports what an own state holds without a place on this wire: a signature, and, where told, its fields."""
    if state.get("signature"):
        message = "the item carries no signature on this wire"
        loss.drop((*path, "provider_state", "signature"), "unsupported_field", "lost", message)
    if fields:
        for name in state.get("fields") or ():
            message = "the item has no further members on this wire"
            loss.drop((*path, "provider_state", "fields", name), "unsupported_field", "weakened", message)


def report_beside_definition(tool: dict[str, Any], loss: Loss, path: Path) -> None:
    """Reports what stands beside the definition of a provider's tool, which says it all."""
    for name in ("description", "input_schema", "strict", "format"):
        if tool.get(name) is not None:
            message = f"the definition of a provider's tool says it all: it has no {name.replace('_', ' ')} beside it"
            loss.drop((*path, name), "unsupported_field", "weakened", message)


def report_unknown(item: dict[str, Any], known: frozenset[str], loss: Loss, path: Path) -> None:
    """Reports the members of a canonical item that this version does not know."""
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
    """How grave it is that a member has no place on a wire: of one that states what is so anyway, nothing is lost."""
    return "representation" if name in _DEFAULTS and value == _DEFAULTS[name] else severity


def parallel_severity(request: Mapping[str, Any]) -> str:
    """How grave it is that a wire has no switch of parallel calls: where they may be, or where nothing may be called, it
    states what is so anyway."""
    callable_ = bool(request.get("tools")) and (request.get("tool_choice") or NOTHING).get("type") != "none"
    return "weakened" if callable_ and not request["parallel_tool_calls"] else "representation"


def report_parallel(request: Mapping[str, Any], loss: Loss) -> None:
    """Reports the switch of parallel calls, for wires that have none."""
    if request.get("parallel_tool_calls") is not None:
        message = "the wire does not say whether several tools may be called at once"
        loss.drop(("parallel_tool_calls",), "unsupported_field", parallel_severity(request), message)


STORED: Final[Mapping[str, frozenset[str]]] = {
    "anthropic_messages": frozenset(("thread",)),
    "bedrock_converse": frozenset(("promptVariables",)),
    "gemini_generate": frozenset(("cachedContent", "continuationToken")),
    "openai_chat": frozenset(("preset",)),
    "openai_responses": frozenset(("previous_response_id", "conversation", "prompt")),
}
"""Options behind which a part of the conversation is kept by its provider: messages, instructions, an answer that was begun
(spec/6-loss.md#stored-history)."""


def is_stored(adapter: str, name: str, value: Any) -> bool:
    """Whether a part of the conversation is kept by the provider behind this option."""
    if not value or name not in STORED.get(adapter, ()):
        return False
    # a thread that is begun here holds nothing yet
    return name != "thread" or not isinstance(value, dict) or value.get("type") != "create"


def stored_elsewhere(request: Mapping[str, Any], endpoint: Endpoint) -> tuple[str, str] | None:
    """Adapter and name of an option behind which a part of the conversation is kept, where that part does not travel to
    this endpoint."""
    state = request.get("provider_state")
    foreign = state is not None and not endpoint.owns(state)
    for adapter, members in (request.get("options") or {}).items():
        for name, value in members.items():
            if is_stored(adapter, name, value) and (adapter != endpoint.adapter or foreign):
                return adapter, name
    return None


def report_foreign_options(
    request: Mapping[str, Any], endpoint: Endpoint, loss: Loss, carried: Collection[tuple[str, str]] = ()
) -> None:
    """Reports the options that were written for other adapters, member by member, but for those that are `carried`: pairs
    of adapter and name."""
    for adapter, members in (request.get("options") or {}).items():
        if adapter != endpoint.adapter:
            for name, value in members.items():
                if (adapter, name) in carried:
                    continue
                report_foreign_option(adapter, name, value, loss, f"an option of {adapter} has no meaning here")


def report_foreign_option(adapter: str, name: str, value: Any, loss: Loss, message: str) -> None:
    """Reports an option that has no meaning here; where a part of the conversation is behind it, that is lost."""
    where = ("options", adapter, name)
    if is_stored(adapter, name, value):
        loss.drop(where, "foreign_options", "lost", "the part of the conversation behind it is stored by its provider")
    else:
        loss.drop(where, "foreign_options", "weakened", message)


# ---------------------------------------------------------------------------------------------- tool ids


class WireIds:
    """Wire ids for the canonical ids of one request: the provider's own where there is one, else derived; no collisions.

    `grammar` is the regular expression that a wire id must match, `prefix` begins derived ids.
    A `length` makes derived ids exactly that long, letters and digits only (for grammars without room for a ULID).
    """

    _DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def __init__(self, grammar: re.Pattern[str], prefix: str, length: int | None = None) -> None:
        self._grammar = grammar
        self._prefix = prefix
        self._length = length
        self._wire: dict[str, str] = {}
        self._taken: set[str] = set()

    def call(self, block: dict[str, Any], endpoint: Endpoint) -> str:
        """The wire id of a call, remembered for its result."""
        canonical: str = block["id"]
        if canonical in self._wire:
            return self._wire[canonical]
        own = own_state(block, endpoint).get("id")
        # an id that a provider repeats in a later turn is its own affair and goes back as it came
        wire_id = (
            own
            if own is not None and (self._grammar.match(own) or carries_state(own, endpoint))
            else self._derive(canonical)
        )
        self._taken.add(wire_id)
        self._wire[canonical] = wire_id
        return wire_id

    def result(self, canonical: str) -> str:
        """The wire id of the call that a result answers."""
        wire_id = self._wire.get(canonical)
        if wire_id is None:
            self._wire[canonical] = wire_id = self._derive(canonical)
        return wire_id

    def _derive(self, canonical: str) -> str:
        if self._length is None:
            return self._prefix + canonical.removeprefix("tu_")
        for attempt in range(1_000):
            digest = hashlib.sha256(f"{canonical}\0{attempt}".encode()).digest()
            number = int.from_bytes(digest, "big")
            wire_id = ""
            for _ in range(self._length):
                number, digit = divmod(number, len(self._DIGITS))
                wire_id += self._DIGITS[digit]
            if wire_id not in self._taken:
                self._taken.add(wire_id)
                return wire_id
        raise InvalidRequest("the target's grammar has no more room for tool ids")


# ---------------------------------------------------------------------------------------------- errors


def error_body(body: Any) -> Any:
    """The body of an error answer as plain data, where it is JSON; else its text."""
    if isinstance(body, (bytes, bytearray, memoryview)):
        body = bytes(body).decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            return json.loads(body)
        except InvalidRequest:
            return body
    return body


def stream_error(endpoint: Endpoint, category: str, message: str, *, retryable: bool) -> dict[str, Any]:
    """The canonical error of a stream that its provider did not end."""
    found = {"category": category, "message": message, "retryable": retryable, "adapter": endpoint.adapter}
    return found | ({"provider": endpoint.provider} if endpoint.provider else {})


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from lower-case headers: a number, or a date that is compared with the answer's own."""
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
    """Seconds between the date of the answer and the date to wait for: no clock is needed. Less than none is unknown."""
    try:
        return (parsedate_to_datetime(date) - parsedate_to_datetime(now)).total_seconds() if now else -1.0
    except (TypeError, ValueError):
        return -1.0


# ---------------------------------------------------------------------------------------------- small shapes


def marked(text: str) -> str:
    """Instructions inside a conversation as a user turn says them, for wires that have no other place for them.

    The marks are not read back: a user could write them too (spec/decisions/0005-markers-are-not-read-back.md).
    """
    return f"<system-message>\n{text}\n</system-message>"


def arguments_text(value: Any) -> str:
    """Tool arguments as the compact JSON text that wires carry in a string."""
    return json.dumps(value).decode()


def keep(state: dict[str, Any], fields: dict[str, Any] | None, encoding: dict[str, Any] | None) -> None:
    """Puts members without canonical meaning, and how an item was spelt, into its provider state; nothing where there is
    nothing."""
    if fields:
        state["fields"] = fields
    if encoding:
        state["encoding"] = encoding


def is_plain_name(name: str, longest: int) -> bool:
    """Whether a name is of ASCII letters, digits, `_` and `-` alone, as most wires want those of tools, and no longer."""
    # every call brings a name: this is much faster than a regular expression, and most are identifiers as they are
    fits = 0 < len(name) <= longest and name.isascii()
    return fits and (name.isidentifier() or ("_" + name.replace("-", "_")).isidentifier())


def plain_name(name: str) -> str:
    """A name with `_` for every other character."""
    return _OTHER_CHARACTER.sub("_", name)


_OTHER_CHARACTER: Final = re.compile(r"[^a-zA-Z0-9_-]")


class UnusedNames:
    """Gives names that no other tool of a request has; each joins those that are `taken`."""

    __slots__ = ("_numbers", "_taken")

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._numbers: dict[str, int] = {}  # the last of each beginning: many names alike do not each try them all

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
    """Tool arguments from a wire's text; None when the text is not a JSON object."""
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


_OTHER: Final = "another text"


def _at(path: tuple[str | int, ...], value: Any) -> Any:
    for step in path:
        value = value[step]
    return value


class Repetition:
    """The frames of a stream that differ from one seen before in one text alone: they need not be decoded again.

    What stands around the text is compared as it is, and the text itself holds nothing that JSON would escape, so the
    frame can mean nothing else.
    """

    __slots__ = ("_after", "_before")

    def __init__(self, data: str, *path: str | int) -> None:
        """From a frame's data, and the path to the text in what it decodes to."""
        self._before = self._after = ""
        before, quoted, after = data.partition(json.dumps(_at(path, json.loads(data))).decode())
        try:
            # another text in this place is read as the text: it is the place, and not one that looks like it
            known = quoted != "" and _at(path, json.loads(f'{before}"{_OTHER}"{after}')) == _OTHER
        except (InvalidRequest, KeyError, IndexError, TypeError):
            known = False
        if known:
            self._before, self._after = before + '"', '"' + after

    def text(self, data: str) -> str | None:
        """The text of a frame's data; None when the frame has to be decoded."""
        if not self._before or not data.startswith(self._before) or not data.endswith(self._after):
            return None
        text = data[len(self._before) : -len(self._after)]
        return text if text.isprintable() and '"' not in text and "\\" not in text else None


MALFORMED: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
"""What it raises to write events that are not those of the schema."""


def refuse_event(problem: Exception, event: Any) -> NoReturn:
    """Raises the error for a stream that cannot be written: the event at hand is malformed, or does not belong where it
    stands. Events are not checked one by one, only when they fail."""
    if isinstance(problem, RecursionError):
        raise too_deep() from None
    if (found := malformed_event(event)) is not None:
        raise found from problem
    message = "the events are not those of one stream: one of them is malformed, or a block goes on that has not begun"
    raise InvalidRequest(message, path="") from problem


DELTAS: Final = frozenset(("text_delta", "thinking_delta", "tool_use_input_delta"))
_PROSE: Final = frozenset(("text", "thinking"))


Encoder = Generator[list[A], Event | None, None]
"""Give it events, and None at the end; it gives the frames that each event completes."""


def encoded(frames: Callable[[Event], list[A]]) -> "Encoder[A]":
    """An encoder by the frames of each event. One that is malformed is refused by its type and place."""
    event = yield []
    try:
        while event is not None:
            event = yield frames(event)
    except MALFORMED as problem:
        refuse_event(problem, event)


def encoded_in_turn(frames: Callable[[Event], list[A]], places: str) -> "Encoder[A]":
    """The same, with one block of an answer after another in each of the `places` of the wire (`InTurn`)."""
    turns = InTurn(places)
    due: Event | None = None
    event = yield []
    try:
        while event is not None:
            due = event
            if event["type"] in DELTAS and not turns.waiting:
                event = yield frames(event)
                continue
            written: list[A] = []
            for due in turns.due(event):
                written += frames(due)
            event = yield written
    except MALFORMED as problem:
        refuse_event(problem, due)


class InTurn:
    """When events are due on a wire with fewer places than an answer has blocks. Blocks of other wires may interleave: what
    belongs to a later one waits until the one before it in its place has ended. While nothing is `waiting`, deltas need not
    be asked for: they are due when they come.

    `places` says what has one place in the wire: `all` blocks, the `prose` (texts and reasoning), or each `kind` of prose.
    """

    __slots__ = ("_begun", "_places", "waiting")

    def __init__(self, places: str) -> None:
        self._places = places
        self._begun: dict[tuple[int, str], int] = {}
        self.waiting: dict[tuple[int, int], list[Event]] = {}

    def due(self, event: Event) -> list[Event]:
        """The events that are due when this one comes."""
        kind = event["type"]
        place: tuple[int, int] = (event.get("choice") or 0, event.get("index", -1))
        if place in self.waiting:
            self.waiting[place].append(event)
            return []
        if kind == "block_start":
            lane = self._lane(event)
            if lane[1]:
                if lane in self._begun:
                    self.waiting[place] = [event]
                    return []
                self._begun[lane] = place[1]
        elif kind == "block_stop":
            # a block may end as one of another type
            lanes = [lane for lane, index in self._begun.items() if lane[0] == place[0] and index == place[1]]
            if lanes:
                del self._begun[lanes[0]]
                return [event, *self._released(lanes[0])]
        elif kind == "error":
            held = [waiting for events in self.waiting.values() for waiting in events]
            self.waiting.clear()
            return [*held, event]
        return [event]

    def _lane(self, start: Event) -> tuple[int, str]:
        """The place of a block that begins; an empty word where it needs none."""
        kind: str = start["block"]["type"]
        word = "all" if self._places == "all" else "" if kind not in _PROSE else self._places
        return (start.get("choice") or 0, kind if word == "kind" else word)

    def _released(self, lane: tuple[int, str]) -> list[Event]:
        released: list[Event] = []
        for place, held in list(self.waiting.items()):
            if self._lane(held[0]) == lane:
                released += self.waiting.pop(place)
                if held[-1]["type"] != "block_stop":
                    self._begun[lane] = place[1]
                    break
        return released
