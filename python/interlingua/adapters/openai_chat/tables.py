"""
What reads the same in both directions, what travels along while one body is read or written, and calls without ids.

Calls of the time before tools go by their name, those that some servers tell without an id by name or order. After an edit a
reader may no longer find the call of a result so: it gets an id then.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._items import MISSING
from interlingua.adapters._kit import NOTHING, BiMap, Wire, keep
from interlingua.adapters._openai_writing import Target
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss

NAME: Final = "openai_chat"

FINISH: Final[dict[str, str]] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "max_output": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "error": "error",
    "insufficient_system_resource": "error",
    "abort": "error",
    "network_error": "error",
}
"""finish_reason of the wire and its dialects; any other word is `other`."""

FINISH_BACK: Final[dict[str, str]] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "stop",
    "pause": "other",
    "cancelled": "error",
    "error": "error",
    "other": "other",
}
"""What is written for an answer of another provider. The wire has no word for a pause, and an end that is none
is never told as `stop`; `error` is OpenRouter's word."""

FINAL: Final = frozenset(("length", "content_filter", "refusal", "error"))
"""Reasons that hold even when the answer has calls: the calls may be cut off."""

AUDIO: Final = BiMap({"wav": "audio/wav", "mp3": "audio/mpeg"})

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast")

LONGEST_TOOL_ID: Final = 40
PARTICIPANT: Final = re.compile(r"[^\s<|\\/>]+")

FILLER: Final = "(empty)"
"""Stands where the wire takes no empty message."""


# ---------------------------------------------------------------------------------------------- calls without ids

Block = dict[str, Any]
Message = dict[str, Any]
Owned = Callable[[dict[str, Any]], Mapping[str, Any]]

_READ: Final = ("text", "opaque")


def calls_in_need(messages: list[Message], owned: Owned) -> frozenset[str]:
    """The calls whose results a reader of these messages would not find without an id; `owned` gives the own state of an item."""
    needing: set[str] = set()
    legacy: dict[str, str] = {}  # the names of calls of the old way
    latest: dict[str, str] = {}  # the last of them that has a name
    nameless: set[str] = set()
    waiting: dict[str, str] = {}  # the names of the calls of a turn that have no result yet
    for message in messages:
        if message["role"] == "tool":
            result: Block = message["content"][0]
            call: str = result["tool_use_id"]
            state = owned(message)
            encoding: Mapping[str, Any] = state.get("encoding") or NOTHING
            if (name := legacy.get(call)) is not None:
                found = latest[name] == call and _goes_by_name(result["content"], encoding, name)
            elif "tool_call_id" in encoding.get("absent", ()):
                found = _is_next(
                    call, encoding.get("name") or (state.get("fields") or NOTHING).get("name"), waiting, encoding
                )
            else:
                found = call not in nameless
            if not found:
                needing.add(call)
            waiting.pop(call, None)
        elif calls := [block for block in message["content"] if block["type"] == "tool_use"]:
            waiting = {block["id"]: block["name"] for block in calls}
            for block in calls:
                encoding = owned(block).get("encoding") or NOTHING
                if encoding.get("legacy"):
                    legacy[block["id"]] = block["name"]
                    latest[block["name"]] = block["id"]
                elif (encoding.get("spelt") or NOTHING).get("id", "") in (None, MISSING):
                    nameless.add(block["id"])
    return frozenset(needing)


def _goes_by_name(content: list[Block], encoding: Mapping[str, Any], name: str) -> bool:
    """Whether the result of a call of the old way can be told so too: as a text alone, unless it was read as more."""
    if encoding and not (encoding.get("legacy") and encoding.get("name") == name):
        return False
    if encoding.get("parts"):
        return bool(encoding.get("media")) or all(part["type"] in _READ for part in content)
    return not content or (len(content) == 1 and content[0]["type"] == "text" and len(content[0]) == 2)


def _is_next(call: str, name: Any, waiting: Mapping[str, str], encoding: Mapping[str, Any]) -> bool:
    """Whether the call of a result is the first that waits, or the first of that name."""
    found = next((one for one, called in waiting.items() if name is None or name == called), None)
    return found == call or (found is None and bool(encoding.get("unasked")))


# ---------------------------------------------------------------------------------------------- what travels along


class Reading:
    """Reads one body: whose it is, and which call has which canonical id.

    Results find their call by id, by name, or, when they say neither, by their order among the calls of the last turn.
    """

    __slots__ = ("_adapter", "_ids", "_latest", "_met", "_waiting", "_whose", "breakpoints", "endpoint", "names")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.names: dict[str, str] = {}
        self.breakpoints = 0  # cache marks that the wire has a limit for
        self._adapter = endpoint.adapter
        self._whose = endpoint.state()
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._waiting: dict[str, list[str]] = {}

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates here."""
        return {**self._whose, **members}

    def call_state(self, wire_id: str) -> dict[str, Any]:
        """The provider state of a call."""
        return {**self._whose, "id": wire_id}

    def legacy_state(self) -> dict[str, Any]:
        """The provider state of a call of the time before tools."""
        return {**self._whose, "encoding": {"legacy": True}}

    def writing(self) -> "Writing":
        """Who writes what was just read, to see what would be mended; of a model nothing is known then."""
        whose = self.endpoint
        return Writing({}, Endpoint(whose.adapter, whose.provider, None, whose.dialect), Loss())

    def mark(
        self, item: dict[str, Any], fields: dict[str, Any] | None, encoding: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The item with a provider state, when there is something to keep in one."""
        if fields or encoding:
            state: dict[str, Any] = dict(self._whose)
            keep(state, fields, encoding)
            item["provider_state"] = state
        return item

    def turn(self) -> None:
        """An assistant turn with calls begins: results answer its calls from here on."""
        self._waiting.clear()

    def call(self, wire_id: str, name: str) -> str:
        """The canonical id of a call; an id that the wire repeats names a further call."""
        met = self._met.get(wire_id, 0)
        self._met[wire_id] = met + 1
        canonical = self._ids.tool(self._adapter, wire_id, met)
        if canonical in self.names:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self._adapter, wire_id, met + 1)
        self._latest[wire_id] = canonical
        self.names[canonical] = name
        self._waiting.setdefault(wire_id, []).append(canonical)
        return canonical

    def result(self, wire_id: str) -> tuple[str, bool]:
        """The canonical id of the call that a result answers, and whether there is such a call."""
        waiting = self._waiting.get(wire_id)
        if waiting:
            return waiting.pop(0), True
        latest = self._latest.get(wire_id)
        return (latest, True) if latest is not None else (self._ids.tool(self._adapter, wire_id, 0), False)

    def nameless_result(self, name: str | None) -> str:
        """The canonical id for a result without id: the first open call of that name, else the first open call."""
        for waiting in self._waiting.values():
            if waiting and (name is None or self.names[waiting[0]] == name):
                return waiting.pop(0)
        return self._ids.tool(self._adapter, f"name:{name}", 0)


_NO_MESSAGES: Final[frozenset[int]] = frozenset()


class Writing(Target):
    """Writes one body: for whom, what is lost on the way, and which ids are used.

    `answering` says that an answer is written, so that reasoning is shown and not replayed.
    `called` are the names of own calls, by canonical id, `legacy` those of calls that were written without an id.
    `order` are the messages as they are written, `moved` those that leave their place, and `place` is the role that is
    being written.
    """

    __slots__ = ("_needing", "answering", "called", "legacy", "moved", "order", "place")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, *, answering: bool = False) -> None:
        super().__init__(source, endpoint, loss, LONGEST_TOOL_ID)
        self.answering = answering
        self.whole = answering and self.same_origin
        self.place = ""
        self.called: dict[str, str] = {}
        self.legacy: dict[str, str] = {}
        self.moved: frozenset[int] = _NO_MESSAGES
        self.order: list[dict[str, Any]] = []
        self._needing: frozenset[str] | None = None

    def reader(self) -> Reading:
        """A reader of this wire."""
        return Reading(self.endpoint, DERIVED_IDS)

    def takes_marks(self) -> bool:
        """Whether the item at hand takes a mark for the cache that it did not come with: parts of these roles do."""
        return self.place in ("user", "system")

    def result_id(self, block: dict[str, Any]) -> str:
        """The wire id that a result names."""
        if self.same_origin and "provider_state" in block and (own := self.owned(block).get("id")) is not None:
            return own
        return self.answered_id(block["tool_use_id"])

    def is_legacy(self, block: dict[str, Any]) -> bool:
        """Whether a call is written in the old way, by its name alone: it was read so, and its result is found."""
        return bool(self.encoding_of(block).get("legacy")) and not self.needs_id(block["id"])

    def needs_id(self, call: str) -> bool:
        """Whether the result of a call is not found without an id, since an edit."""
        if self._needing is None:
            self._needing = calls_in_need(self.order, self.owned)
        return call in self._needing


def extras(item: Wire, known: frozenset[str]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The members without canonical meaning: those that say something, and those that are null."""
    fields: dict[str, Any] | None = None
    empty: dict[str, Any] | None = None
    for name, value in item.items():
        if name in known:
            continue
        if value is None:
            empty = empty or {}
            empty[name] = None
        else:
            fields = fields or {}
            fields[name] = value
    return fields, empty
