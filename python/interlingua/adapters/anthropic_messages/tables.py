"""The words of the wire, its limits, and what a reader and a writer carry with them."""

import re
from typing import Any

from interlingua.adapters._kit import Mirror, Wire, report_unknown
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss, Path, pointer

NAME = "anthropic_messages"
FRAMING = "sse"

PATH = "/v1/messages"
VERSION = "2023-06-01"
STRICTER_VERSION = "2026-10-21"  # no sampling, no document in an assistant message, no citations in a user message

TOOL_CHOICE = Mirror({"auto": "auto", "required": "any", "tool": "tool", "none": "none"})

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "compaction": "pause",
    "refusal": "refusal",
}
STOP_REASON = {
    "stop": "end_turn",
    "stop_sequence": "stop_sequence",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "pause": "pause_turn",
    "refusal": "refusal",
    "content_filter": "refusal",
}

MODES = ("adaptive", "enabled", "disabled", "between_tools")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}
MIN_BUDGET = 1024
DEFAULT_MAX_TOKENS = 4096

MAX_CACHE_MARKS = 4
MAX_STRICT_TOOLS = 20
FILLER = "(empty)"

IMAGE_TYPES = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
THINKING_TYPES = ("thinking", "redacted_thinking")
UNMARKED_TYPES = (*THINKING_TYPES, "opaque")
"""Blocks that take no cache mark."""

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
MEDIA_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?")
# what reading a part raises that lacks a member or has one of a wrong type
UNREADABLE = (KeyError, TypeError, AttributeError, IndexError, ValueError)

TTL = re.compile(r"[0-9]+[mh]")


def cache_from_wire(value: Any) -> dict[str, Any] | None:
    """A cache hint from a `cache_control`; None when it holds anything that a hint cannot say."""
    if not isinstance(value, dict) or value.get("type") != "ephemeral":
        return None
    if len(value) == 1:
        return {}
    ttl = value.get("ttl")
    if len(value) == 2 and isinstance(ttl, str) and TTL.fullmatch(ttl):
        return {"ttl": ttl}
    return None


_HINT = frozenset(("ttl",))


class Reading:
    """What a reader carries: whose wire it is, and the canonical ids of the calls seen so far."""

    __slots__ = ("_calls", "_canonical", "_ids", "adapter", "provider", "whose")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.whose = endpoint.state()
        self._ids = ids
        self._calls: dict[str, int] = {}
        self._canonical: dict[str, str] = {}

    def call(self, wire_id: str) -> str:
        """The canonical id of a call; a wire id that is used again in a later turn names another call."""
        occurrence = self._calls.get(wire_id, 0)
        self._calls[wire_id] = occurrence + 1
        self._canonical[wire_id] = canonical = self._ids.tool(self.adapter, wire_id, occurrence)
        return canonical

    def result(self, wire_id: str) -> str | None:
        """The canonical id of the call that a result answers; None when there was no such call."""
        return self._canonical.get(wire_id)

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(self.adapter, wire_id, 0)

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates on this wire."""
        return {**self.whose, **members}


class Writing:
    """What a writer carries: the target, the report, wire ids and names, cache marks, and entries for the end.

    `own`: the whole came from this wire, so it is written back as it was read and not repaired.
    `exact`: and it goes to the model that it was written for, so it is not fitted to another one either.
    Merges and moves end a report: they refer to whole messages, after all that happens inside them.
    """

    __slots__ = (
        "_ids",
        "_names",
        "_taken",
        "capabilities",
        "endpoint",
        "exact",
        "gone",
        "loss",
        "marks",
        "merges",
        "message",
        "moves",
        "own",
        "source",
        "stricter",
    )

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, version: str = VERSION) -> None:
        self.source = source
        self.endpoint = endpoint
        self.capabilities = endpoint.capabilities
        self.loss = loss
        state = source.get("provider_state")
        self.own = state is not None and endpoint.owns(state)
        asked = source.get("model")
        self.exact = self.own and (asked is None or endpoint.model in (None, asked, wire_model(asked)))
        self.stricter = version >= STRICTER_VERSION
        self.message: dict[str, Any] = {}
        self.marks: list[tuple[Wire, Path, Path | None]] = []
        self.merges: list[tuple[Path, Path]] = []
        self.moves: list[tuple[int, int]] = []
        self.gone: set[Path] = set()
        self._ids: dict[str, str] = {}
        self._taken: set[str] = set()
        self._names: dict[str, str] = {}

    def lacks(self, capability: str) -> bool:
        """Whether the model is known not to take something."""
        return self.capabilities.get(capability) is False

    # ------------------------------------------------------------------------------------------ ids

    def call_id(self, block: dict[str, Any], path: Path) -> str:
        """The wire id of a call, remembered for its result: the wire's own where there is one, else derived."""
        canonical: str = block["id"]
        state = block.get("provider_state")
        own = state.get("id") if state is not None and self.endpoint.owns(state) else None
        if self.own:
            wire_id = own if own is not None else self._derive(canonical)
        elif canonical in self._ids:
            raise InvalidRequest("two tool calls have one id; give each call its own", path=pointer((*path, "id")))
        elif own is None or own in self._taken or not TOOL_ID.fullmatch(own):
            wire_id = self._derive(canonical)
        else:
            wire_id = own
        self._taken.add(wire_id)
        self._ids[canonical] = wire_id
        return wire_id

    def result_id(self, block: dict[str, Any]) -> str:
        """The wire id of the call that a result answers."""
        canonical: str = block["tool_use_id"]
        wire_id = self._ids.get(canonical)
        if wire_id is None:
            state = block.get("provider_state")
            own = state.get("id") if state is not None and self.endpoint.owns(state) else None
            wire_id = own if own is not None else self._derive(canonical)
        return wire_id

    def next_turn(self) -> None:
        """The model speaks again: an id that the provider gave before may come again."""
        self._taken.clear()

    def _derive(self, canonical: str) -> str:
        wire_id = "toolu_" + canonical.removeprefix("tu_")
        while wire_id in self._taken:
            wire_id += "_"
        return wire_id

    # ------------------------------------------------------------------------------------------ names

    def tool_name(self, name: str, path: Path) -> str:
        """The wire name of a tool; one that does not fit the grammar is rewritten, the same everywhere.

        `path` is that of the item whose member `name` it is.
        """
        wire = self._names.get(name)
        if wire is None:
            wire = self._names[name] = name if self.own or TOOL_NAME.fullmatch(name) else self._rewrite(name)
        if wire != name:
            self.loss.replace(
                (*path, "name"), wire, "name_rewritten", "shape", "the name does not fit the target's grammar"
            )
        return wire

    def _rewrite(self, name: str) -> str:
        taken = set(self._names.values()) | tool_names(self.source)
        base = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:128] or "tool"
        wire, number = base, 2
        while wire in taken:
            suffix = f"_{number}"
            wire, number = base[: 128 - len(suffix)] + suffix, number + 1
        return wire

    # ------------------------------------------------------------------------------------------ cache marks

    def mark(self, wire: Wire, hint: dict[str, Any], path: Path, to: Path | None = None) -> None:
        """Marks a wire item for the cache. `path` is the item's, `to` where the hint stands when read back."""
        where = (*path, "cache")
        if self.lacks("supports_prompt_caching"):
            self.loss.drop(where, "cache_hint", "weakened", "the model keeps no cache marks")
            return
        wire["cache_control"] = control = {"type": "ephemeral"}
        if hint:
            if "ttl" in hint:
                control["ttl"] = hint["ttl"]
            report_unknown(hint, _HINT, self.loss, where)
        self.marks.append((wire, where, to))

    def settle_marks(self) -> None:
        """Keeps the last four marks in the order of the prompt, in the lifetimes that the wire knows, longer first."""
        if not self.marks:
            return
        marks = self.marks
        if not self.own and len(marks) > MAX_CACHE_MARKS:
            for wire, where, _ in marks[:-MAX_CACHE_MARKS]:
                del wire["cache_control"]
                self.loss.drop(where, "limit_exceeded", "weakened", "the target takes four cache marks in a request")
            marks = marks[-MAX_CACHE_MARKS:]
        short = False
        for wire, where, to in marks:
            if not self.own:
                short = self._settle_lifetime(wire, where, short)
            if to is not None:
                self.loss.move(where, to, "cache_hint", "shape", "the mark stands on the last block of the message")

    def _settle_lifetime(self, wire: Wire, where: Path, short: bool) -> bool:
        control = wire["cache_control"]
        ttl = control.get("ttl")
        if ttl is None:
            return True
        fitted = "1h" if not short and int(ttl[:-1]) * (60 if ttl[-1] == "h" else 1) > 5 else "5m"
        if fitted != ttl:
            control["ttl"] = fitted
            self.loss.replace(
                (*where, "ttl"), fitted, "cache_hint", "weakened", "the target has 5m and 1h, longer before shorter"
            )
        return fitted == "5m"

    def finish(self) -> None:
        """The entries about whole messages: merges first, while every message stands where it was written."""
        self.settle_marks()
        for path, to in self.merges:
            self.gone.add(path)
            self.loss.merge(path, to, "merged_turn", "shape", "neighbouring messages travel as one turn")
        for position, before in self.moves:
            if ("messages", position) not in self.gone:
                self.loss.move(
                    ("messages", position),
                    ("messages", before),
                    "reordered",
                    "shape",
                    "results follow their calls directly, in the order of the calls",
                )


def wire_model(model: str | None) -> str | None:
    """The wire's name of a canonical model id: what stands after the first colon."""
    return (model.partition(":")[2] or model) if model else None


def tool_names(request: dict[str, Any]) -> set[str]:
    """All tool names that stand in a request."""
    names = {tool["name"] for tool in request.get("tools") or ()}
    for message in request.get("messages") or ():
        for block in message["content"]:
            if block["type"] == "tool_use":
                names.add(block["name"])
    return names
