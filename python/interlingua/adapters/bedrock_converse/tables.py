"""The words of the wire, its limits, and what a reader and a writer carry with them."""

import re
from typing import Any

from interlingua.adapters._kit import Mirror, Wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss, Path, pointer

NAME = "bedrock_converse"
FRAMING = "eventstream"

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
    # not in the service's list; Anthropic's models have them
    "pause_turn": "pause",
    "refusal": "refusal",
}
STOP_REASON = {
    "stop": "end_turn",
    "stop_sequence": "stop_sequence",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
}

IMAGE_FORMATS = Mirror({"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"})
VIDEO_FORMATS = Mirror(
    {
        "mp4": "video/mp4",
        "mov": "video/quicktime",
        "webm": "video/webm",
        "mkv": "video/x-matroska",
        "flv": "video/x-flv",
        "mpeg": "video/mpeg",
        "mpg": "video/mpg",
        "wmv": "video/x-ms-wmv",
        "three_gp": "video/3gpp",
    }
)
AUDIO_FORMATS = Mirror(
    {
        "mp3": "audio/mpeg",
        "wav": "audio/wav",
        "ogg": "audio/ogg",
        "opus": "audio/opus",
        "flac": "audio/flac",
        "aac": "audio/aac",
        "x-aac": "audio/x-aac",
        "m4a": "audio/m4a",
        "mp4": "audio/mp4",
        "webm": "audio/webm",
        "mka": "audio/x-matroska",
        "pcm": "audio/pcm",
    }
)
DOCUMENT_FORMATS = Mirror(
    {
        "pdf": "application/pdf",
        "txt": "text/plain",
        "md": "text/markdown",
        "html": "text/html",
        "csv": "text/csv",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    }
)
# other names of the same types
ALIASES = {
    "image/jpg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-m4a": "audio/m4a",
    "audio/x-flac": "audio/flac",
    "text/x-markdown": "text/markdown",
    "application/csv": "text/csv",
}
# what travels as plain text because the wire has no name for it
TEXTS = frozenset(("application/json", "application/xml", "application/yaml", "application/x-yaml"))

MODES = ("adaptive", "enabled", "disabled")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
BUDGETS = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}
MIN_BUDGET = 1024
TIERS = frozenset(("priority", "default", "flex", "reserved"))

MAX_CACHE_MARKS = 4
FILLER = "(empty)"
DOCUMENT_FILLER = "(document)"

THINKING_TYPES = ("thinking", "redacted_thinking")
UNMARKED_TYPES = (*THINKING_TYPES, "opaque")
"""Blocks that take no cache mark."""
INSTRUCTIONS = ("system", "developer")

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TOOL_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
DOCUMENT_NAME = re.compile(r"(?!.*  )[a-zA-Z0-9 ()\[\]-]{1,200}")
S3 = re.compile(r"s3://[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9](/.*)?", re.DOTALL)
METADATA = re.compile(r"[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}")
TTL = re.compile(r"[0-9]+[mh]")

# what reading a part raises that lacks a member or has one of a wrong type
UNREADABLE = (KeyError, TypeError, AttributeError, IndexError, ValueError)


def string(value: Any) -> str:
    """The value, when it is text."""
    if type(value) is not str:
        raise TypeError("not a string")
    return value


def unreadable(what: str, path: Path, failure: type[InvalidWire] = InvalidWire) -> InvalidWire:
    """The error for a part of the wire that lacks a member or has one of a wrong type."""
    return failure(
        f"{what} cannot be read: a member is missing or has the wrong type", path=pointer(path), adapter=NAME
    )


def cache_from_wire(point: Any) -> dict[str, Any] | None:
    """A cache hint from the inside of a `cachePoint`; None when it holds anything that a hint cannot say."""
    if not isinstance(point, dict) or point.get("type") != "default":
        return None
    if len(point) == 1:
        return {}
    ttl = point.get("ttl")
    return {"ttl": ttl} if len(point) == 2 and isinstance(ttl, str) and TTL.fullmatch(ttl) else None


def wire_model(model: str | None) -> str | None:
    """The wire's name of a canonical model id: what stands after the first colon."""
    return (model.partition(":")[2] or model) if model else None


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

    def opaque(self, kind: str, value: Wire) -> dict[str, Any]:
        """An item of the wire without canonical meaning, verbatim."""
        return {"type": "opaque", **self.whose, "kind": kind, "value": value}


class Writing:
    """What a writer carries: the target, the report, wire ids and names, cache marks, and entries for the end.

    `own`: the whole came from this wire, so it is written back as it was read and not repaired.
    `exact`: and it goes to the model that it was written for, so it is not fitted to another one either.
    Merges and moves end a report: they refer to whole messages, after all that happens inside them.
    """

    __slots__ = (
        "_documents",
        "_ids",
        "_names",
        "_taken",
        "capabilities",
        "document",
        "endpoint",
        "exact",
        "fillers",
        "form",
        "gone",
        "loss",
        "marks",
        "merges",
        "message",
        "moves",
        "own",
        "source",
        "swept",
        "tools_used",
    )

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        self.source = source
        self.endpoint = endpoint
        self.capabilities = endpoint.capabilities
        self.loss = loss
        state = source.get("provider_state")
        self.own = state is not None and endpoint.owns(state)
        asked = source.get("model")
        self.exact = self.own and (asked is None or endpoint.model in (None, asked, wire_model(asked)))
        self.form: dict[str, Any] = (state.get("form") or {}) if state is not None and self.own else {}
        self.message: dict[str, Any] = {}
        self.marks: list[tuple[Wire, Path, Path | None]] = []
        self.document: Path | None = None  # the first document of a user message
        self.swept = False  # marks were taken back: empty blocks stand in their places
        self.fillers: list[tuple[Path, Path, Wire]] = []  # blocks before which a text has to stand
        self.merges: list[tuple[Path, Path]] = []
        self.moves: list[tuple[int, int, str, str, Wire | None]] = []
        self.gone: set[Path] = set()
        self.tools_used: dict[str, None] = {}  # wire names of the calls in the conversation, in order
        self._documents: set[str] = set()
        self._ids: dict[str, str] = {}
        self._taken: set[str] = set()
        self._names: dict[str, str] = {}

    def lacks(self, capability: str) -> bool:
        """Whether the model is known not to take something."""
        return self.capabilities.get(capability) is False

    def form_of(self, item: dict[str, Any]) -> dict[str, Any]:
        """How an item of this wire was spelt; nothing for an item of another origin."""
        state = item.get("provider_state")
        return (state.get("form") or {}) if state is not None and self.endpoint.owns(state) else {}

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
        base = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "tool"
        wire, number = base, 2
        while wire in taken:
            suffix = f"_{number}"
            wire, number = base[: 64 - len(suffix)] + suffix, number + 1
        return wire

    def document_name(self, name: str) -> str:
        """A name for a document within the grammar, used by no other document of the request."""
        fitted = name
        if not DOCUMENT_NAME.fullmatch(name):
            fitted = re.sub(r" {2,}", " ", re.sub(r"[^a-zA-Z0-9 ()\[\]-]", "-", name)).strip()[:200] or "document"
        unique, number = fitted, 2
        while unique in self._documents:
            suffix = f" {number}"
            unique, number = fitted[: 200 - len(suffix)].rstrip() + suffix, number + 1
        self._documents.add(unique)
        return unique

    # ------------------------------------------------------------------------------------------ cache marks

    def mark(self, hint: dict[str, Any], path: Path, to: Path | None = None) -> Wire | None:
        """The block that marks what stands before it for the cache, or None.

        `path` is the path of the item whose member `cache` it is, `to` where the hint stands when read back.
        """
        where = (*path, "cache")
        if self.lacks("supports_prompt_caching"):
            self.loss.drop(where, "cache_hint", "weakened", "the model keeps no cache marks")
            return None
        point: Wire = {"type": "default"}
        if "ttl" in hint:
            point["ttl"] = hint["ttl"]
        if not hint.keys() <= {"ttl"}:
            for name in hint.keys() - {"ttl"}:
                self.loss.drop((*where, name), "unknown_field", "lost", "a member that this version does not know")
        block = {"cachePoint": point}
        self.marks.append((block, where, to))
        return block

    def _settle_marks(self) -> None:
        """Keeps the last four marks in the order of the prompt, in the lifetimes that the wire knows, longer first."""
        marks = self.marks
        if not self.own and len(marks) > MAX_CACHE_MARKS:
            for block, where, _ in marks[:-MAX_CACHE_MARKS]:
                block.clear()
                self.loss.drop(where, "limit_exceeded", "weakened", "the target takes four cache marks in a request")
            self.swept = True
            marks = marks[-MAX_CACHE_MARKS:]
        short = False
        for block, where, to in marks:
            if not self.own:
                short = self._settle_lifetime(block["cachePoint"], where, short)
            if to is not None:
                self.loss.move(where, to, "cache_hint", "shape", "the mark stands behind the last block that it is for")

    def _settle_lifetime(self, point: Wire, where: Path, short: bool) -> bool:
        ttl = point.get("ttl")
        if ttl is None:
            return True
        fitted = "1h" if not short and int(ttl[:-1]) * (60 if ttl[-1] == "h" else 1) > 5 else "5m"
        if fitted != ttl:
            point["ttl"] = fitted
            self.loss.replace(
                (*where, "ttl"), fitted, "cache_hint", "weakened", "the target has 5m and 1h, longer before shorter"
            )
        return fitted == "5m"

    def finish(self) -> None:
        """The entries about whole messages: merges first, while every message stands where it was written."""
        if self.marks:
            self._settle_marks()
        for path, to, filler in self.fillers:
            self.loss.move(path, to, "filler", "shape", "the target takes a document only beside a text", filler)
        for path, to in self.merges:
            self.gone.add(path)
            self.loss.merge(path, to, "merged_turn", "shape", "neighbouring messages travel as one turn")
        for position, before, code, message, left in self.moves:
            if ("messages", position) not in self.gone:
                self.loss.move(("messages", position), ("messages", before), code, "shape", message, left)


def tool_names(request: dict[str, Any]) -> set[str]:
    """All tool names that stand in a request."""
    names = {tool["name"] for tool in request.get("tools") or ()}
    for message in request.get("messages") or ():
        for block in message["content"]:
            if block["type"] == "tool_use":
                names.add(block["name"])
    return names
