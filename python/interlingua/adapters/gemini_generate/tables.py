"""The words of the wire, its limits, and what a reader and a writer carry with them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import Mirror, Wire, unused_name
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss, Path, pointer

NAME: Final = "gemini_generate"
FRAMING: Final = "sse_or_array"

PATH: Final = "/models/{model}"
MODEL_IN_PATH: Final = re.compile(
    r"(?:^|/)(?:models/|(?=(?:tunedModels|endpoints)/))((?:tunedModels/|endpoints/)?[^/:?]+)(?::(\w+))?"
)
UNREADABLE: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError)

FILLER: Final = "(empty)"
SENTINEL: Final = "skip_thought_signature_validator"
"""What the provider takes in the place of a signature that another one's history does not have. It is sent as it stands."""

TOOL_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_:.-]{0,63}")
MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?")
MODEL_MAJOR: Final = re.compile(r"gemini-(\d+)")

EFFORTS: Final = ("minimal", "low", "medium", "high", "xhigh")
BUDGETS: Final = {"minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576}
MOST_STOPS: Final = 5

FINISH: Final = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "pause",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "ESCALATION": "content_filter",
    "PUP_LIMITED_DISABLED": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "MALFORMED_RESPONSE": "error",
    "NO_IMAGE": "error",
    "IMAGE_OTHER": "error",
    "OTHER": "other",
    "FINISH_REASON_UNSPECIFIED": "other",
}
FINISH_NUMBERS: Final = ("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "OTHER")
"""Enums come as numbers when a client asks for that. Above these the two surfaces count differently."""

FINISH_WORD: Final = {
    "stop": "STOP",
    "stop_sequence": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "pause": "CONTINUATION",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    "other": "OTHER",
    "error": "OTHER",
    "cancelled": "OTHER",
}

DETAIL: Final = Mirror({"low": "MEDIA_RESOLUTION_LOW", "high": "MEDIA_RESOLUTION_HIGH"})
"""How closely to look at an image. The wire has a level between these and one above, which stay state."""

TYPE_NUMBERS: Final = ("TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
MODE_NUMBERS: Final = ("MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")

CAMEL: Final = {
    name: re.sub(r"_(\w)", lambda found: found[1].upper(), name)
    for name in (
        "allowed_function_names any_of audio_metadata cached_content candidate_count code_execution code_execution_result "
        "computer_use display_name document_metadata executable_code file_data file_search file_uri frequency_penalty "
        "function_call function_calling_config function_declarations function_response generation_config google_maps "
        "google_search google_search_retrieval include_thoughts inline_data max_items max_length max_output_tokens "
        "max_properties mcp_servers media_resolution mime_type min_items min_length min_properties parameters_json_schema "
        "part_metadata presence_penalty property_ordering response_json_schema response_logprobs response_mime_type "
        "response_schema safety_settings service_tier stop_sequences system_instruction thinking_budget thinking_config "
        "thinking_level thought_signature tool_call tool_config tool_response top_k top_p url_context video_metadata "
        "will_continue"
    ).split()
}
"""The names that the wire takes in two cases: by the one that it documents second."""
SNAKE: Final = frozenset(CAMEL)


def camelised(item: Wire) -> Wire:
    """The item under the names that the wire documents first; the item itself when it has only those."""
    if SNAKE.isdisjoint(item):
        return item
    return {name if (camel := CAMEL.get(name, name)) != name and camel in item else camel: value
            for name, value in item.items()}  # fmt: skip


def snaked(item: Wire) -> list[str]:
    """The names of an item that stand in the second case."""
    if SNAKE.isdisjoint(item):
        return []
    return [name for name in item if name in CAMEL and CAMEL[name] not in item]


class Reading:
    """What a reader carries: whose wire it is, and which call of the latest turn waits for its result.

    `prefix` stands before the names of calls without an id, so that two answers do not give the same canonical id.
    `odd` is set by whoever reads something that this adapter would write in another spelling.
    """

    __slots__ = ("_ids", "_met", "_waiting", "adapter", "odd", "prefix", "provider", "whose")

    def __init__(self, endpoint: Endpoint, ids: IdSource, prefix: str = "") -> None:
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.whose = endpoint.state()
        self.prefix = prefix
        self.odd = False
        self._ids = ids
        self._met: dict[str, int] = {}
        self._waiting: list[tuple[str | None, str, str]] = []

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates on this wire."""
        return {**self.whose, **members}

    def camelised(self, item: Wire) -> Wire:
        """The item under the names that are written; notes when it had others."""
        found = camelised(item)
        if found is not item:
            self.odd = True
        return found

    def turn(self) -> None:
        """The model speaks anew: results answer its calls from here on."""
        self._waiting.clear()

    def call(self, name: str, wire_id: str | None) -> str:
        """The canonical id of a call."""
        canonical = self._canonical(wire_id or f"{self.prefix}{name}")
        self._waiting.append((wire_id, name, canonical))
        return canonical

    def _canonical(self, key: str) -> str:
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        return self._ids.tool(self.adapter, key, met)

    def plain_result(self, name: str) -> str | None:
        """The canonical id of the first open call, when it has this name and no id; None when that needs a closer look."""
        if self._waiting:
            wire_id, called, canonical = self._waiting[0]
            if wire_id is None and called == name:
                del self._waiting[0]
                return canonical
        return None

    def result(self, name: str, wire_id: str | None) -> tuple[str, str | None, str | None]:
        """The canonical id, wire id and name of the call that a result answers: by id, else by name, else by position.

        A result that answers no call of the turn gets a canonical id of its own, and the name None.
        """
        waiting = self._waiting
        found = None
        if wire_id is not None:
            found = next((call for call in waiting if call[0] == wire_id), None)
        if found is None:
            # a call with an id waits for that id
            found = next((call for call in waiting if call[1] == name and (wire_id is None or call[0] is None)), None)
        if found is None and wire_id is None and waiting:
            found = waiting[0]
        if found is None:
            return self._canonical(wire_id or f"result:{name}"), None, None
        waiting.remove(found)
        return found[2], found[0], found[1]


class Writing:
    """What a writer carries: the target, the report, the calls written so far, and the names of tools.

    `own`: the whole came from this wire, so it is written back as it was read and not repaired. `spelt`: its
    generationConfig came in another spelling, which is put back at the end when it still says the same.
    """

    __slots__ = ("_names", "_numbers", "_taken", "calls", "capabilities", "dialect", "endpoint", "loss", "message", "model", "moves", "outside", "own", "source", "spelt")  # fmt: skip

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, model: str | None = None) -> None:
        self.source = source
        self.endpoint = endpoint
        self.dialect = endpoint.dialect
        self.capabilities = endpoint.capabilities
        self.loss = loss
        self.model = model or ""
        state = source.get("provider_state")
        self.own = state is not None and endpoint.owns(state)
        self.spelt = False
        self.message: dict[str, Any] = {}
        self.moves: list[tuple[Path, Path]] = []
        self.outside: list[tuple[Path, str, Wire]] = []
        self.calls: dict[str, tuple[str, str | None]] = {}
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._taken: set[str] = set()

    def lacks(self, capability: str) -> bool:
        """Whether the model is known not to take something."""
        return not self.own and self.capabilities.get(capability) is False

    def owned(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """The provider state of an item when it may be replayed here, else nothing."""
        state: dict[str, Any] | None = item.get("provider_state")
        return state if state is not None and self.endpoint.owns(state) else _NOTHING

    def generation(self, unknown: int) -> int:
        """The family of the model by its name: 2 for gemini-2.5-flash."""
        found = MODEL_MAJOR.search(self.model)
        return int(found[1]) if found else unknown

    def call(self, block: dict[str, Any], path: Path, wire_id: str | None) -> str:
        """The wire name of a call, remembered for its result together with the id that the wire gave it, if any."""
        canonical: str = block["id"]
        if canonical in self.calls and not self.own:
            raise InvalidRequest("two tool calls have one id; give each call its own", path=pointer((*path, "id")))
        name = self.name(block["name"], path)
        self.calls[canonical] = name, wire_id
        return name

    def name(self, name: str, path: Path) -> str:
        """The wire name of a tool; one that does not fit the grammar is rewritten, the same everywhere.

        `path` is that of the item whose member `name` it is.
        """
        wire = self._names.get(name)
        if wire is None:
            wire = self._names[name] = name if self._fits(name) else self._rewritten(name)
        if wire != name:
            message = "the name does not fit the target's grammar"
            self.loss.replace((*path, "name"), wire, "name_rewritten", "shape", message)
        return wire

    def _fits(self, name: str) -> bool:
        if TOOL_NAME.fullmatch(name) is not None:
            return True
        # newer surfaces take longer names, and models make up what nobody takes: what came from here goes back
        return self.own and ("message" in self.source or name in self._kept_names())

    def _kept_names(self) -> list[str]:
        form: Wire = self.owned(self.source).get("form") or {}
        return form.get("names") or []

    def renamed(self, name: str) -> str:
        """The wire name of a tool that has been written."""
        return self._names.get(name, name)

    def _rewritten(self, name: str) -> str:
        if not self._taken:
            self._taken = set(self._names.values()) | _tool_names(self.source)
        base = re.sub(r"[^A-Za-z0-9_:.-]", "_", name)
        base = base if base[:1].isalpha() or base[:1] == "_" else f"_{base}"
        return unused_name(base, 64, self._taken, self._numbers)


_NOTHING: Final[Mapping[str, Any]] = {}


def odd_names(request: dict[str, Any]) -> list[str]:
    """The names of tools in a request of this wire that do not fit its grammar."""
    return sorted(name for name in _tool_names(request) if TOOL_NAME.fullmatch(name) is None)


def _tool_names(request: dict[str, Any]) -> set[str]:
    names = {tool["name"] for tool in request.get("tools") or ()}
    for message in request.get("messages") or ():
        names.update(block["name"] for block in message["content"] if block["type"] == "tool_use")
    return names
