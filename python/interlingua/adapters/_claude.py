"""
What the two wires on which Anthropic's models are called have in common: ids and names, and where instructions stand.

The wires spell things differently; these are rules of the models behind them, and they change together.
"""

import re
from typing import Any, Final

from interlingua.adapters._kit import arguments_text
from interlingua.canonical import json
from interlingua.canonical.carriage import rides
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss, Path, pointer

Item = dict[str, Any]

MAX_CACHE_MARKS: Final = 4
FILLER: Final = "(empty)"
INSTRUCTIONS: Final = ("system", "developer")
THINKING_TYPES: Final = ("thinking", "redacted_thinking")
UNMARKED_TYPES: Final = (*THINKING_TYPES, "opaque")
"""Blocks that take no cache mark."""

# what reading a part raises that lacks a member or has one of a wrong type
UNREADABLE: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError)

UNSUPPORTED: Final = {
    "frequency_penalty": "weakened",
    "presence_penalty": "weakened",
    "seed": "weakened",
    "n": "weakened",
    "logprobs": "lost",
    "top_logprobs": "lost",
    "verbosity": "weakened",
}
"""Members of a request that no such wire has, with the severity of going without."""
REQUEST: Final = frozenset(
    (
        "model",
        "system",
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "max_output_tokens",
        "temperature",
        "top_p",
        "top_k",
        "stop",
        "reasoning",
        "service_tier",
        "user",
        "metadata",
        "cache",
        "stream",
        "options",
        "loss_policy",
        "provider_state",
    )
)
"""The members of a request that are written."""
ACCOUNTED_FOR: Final = frozenset((*REQUEST, *UNSUPPORTED))
TOOL: Final = frozenset(
    (
        "kind",
        "name",
        "description",
        "input_schema",
        "strict",
        "side_effects",
        "requires_workspace",
        "cache",
        "provider_state",
        "format",
        "adapter",
        "definition",
    )
)
"""The members of a tool that are known."""

IMAGE_STARTS: Final = {"/9j/": "image/jpeg", "iVBORw0KGgo": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}
"""The first bytes of each format of images, in base64."""


def raw_arguments(value: Any) -> str:
    """What `input_raw` says of arguments that are no object: the JSON of the value, or the text that is no JSON itself."""
    return value if type(value) is str and _spelt(value) is NOT_SPELT else arguments_text(value)


def spelt_arguments(text: str, own: bool) -> Any:
    """The value that `input_raw` was read from; `NOT_SPELT` when it is an object, or text that another wire broke off."""
    value = _spelt(text)
    if type(value) is dict:
        return NOT_SPELT
    return text if value is NOT_SPELT and own else value


def _spelt(text: str) -> Any:
    try:
        value = json.loads(text)
    except InvalidRequest:
        return NOT_SPELT
    return value if arguments_text(value) == text else NOT_SPELT


NOT_SPELT: Final = object()
"""Stands for: no JSON value is spelt so."""


def string(value: Any) -> str:
    """The value, when it is text."""
    if type(value) is not str:
        raise TypeError("not a string")
    return value


def wire_model(model: str | None) -> str | None:
    """The wire's name of a canonical model id: what stands after the first colon."""
    return (model.partition(":")[2] or model) if model else None


def tool_names(request: Item) -> set[str]:
    """All tool names that stand in a request."""
    names = {tool["name"] for tool in request.get("tools") or ()}
    for message in request.get("messages") or ():
        for block in message["content"]:
            if block["type"] == "tool_use":
                names.add(block["name"])
    return names


# ---------------------------------------------------------------------------------------------- reading


class Reading:
    """What a reader carries: whose wire it is, and the canonical ids of the calls seen so far."""

    __slots__ = ("_calls", "_canonical", "_given", "_ids", "adapter", "provider", "whose")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.whose = endpoint.state()
        self._ids = ids
        self._calls: dict[str, int] = {}
        self._canonical: dict[str, str] = {}
        self._given: set[str] = set()

    def call(self, wire_id: str) -> str:
        """The canonical id of a call; a wire id that is used again in a later turn names another call."""
        occurrence = self._calls.get(wire_id, 0)
        self._calls[wire_id] = occurrence + 1
        canonical = self._ids.tool(self.adapter, wire_id, occurrence)
        if canonical in self._given:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self.adapter, wire_id, occurrence + 1)
        self._given.add(canonical)
        self._canonical[wire_id] = canonical
        return canonical

    def result(self, wire_id: str) -> str | None:
        """The canonical id of the call that a result answers; None when there was no such call."""
        return self._canonical.get(wire_id)

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(self.adapter, wire_id, 0)

    def state(self, **members: Any) -> Item:
        """A provider state that originates on this wire."""
        return {**self.whose, **members}

    def opaque(self, kind: str, value: Item) -> Item:
        """An item of the wire without canonical meaning, verbatim."""
        return {"type": "opaque", **self.whose, "kind": kind, "value": value}


# ---------------------------------------------------------------------------------------------- writing

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")


class Writing:
    """What a writer carries: the target, the report, wire ids and names.

    `own`: the whole came from this wire, so it is written back as it was read and not repaired.
    `exact`: and it goes to the model that it was written for, so it is not fitted to another one either.
    `tool_id` is the grammar of wire ids, `longest_name` how long the name of a tool may be.
    """

    __slots__ = (
        "_ids",
        "_longest_name",
        "_names",
        "_taken",
        "_tool_id",
        "capabilities",
        "endpoint",
        "exact",
        "loss",
        "message",
        "own",
        "source",
    )

    def __init__(
        self, source: Item, endpoint: Endpoint, loss: Loss, tool_id: re.Pattern[str], longest_name: int
    ) -> None:
        self.source = source
        self.endpoint = endpoint
        self.capabilities = endpoint.capabilities
        self.loss = loss
        state = source.get("provider_state")
        self.own = state is not None and endpoint.owns(state)
        asked = source.get("model")
        self.exact = self.own and (asked is None or endpoint.model in (None, asked, wire_model(asked)))
        self.message: Item = {}  # of the model, that is being written
        self._tool_id = tool_id
        self._longest_name = longest_name
        self._ids: dict[str, str] = {}
        self._taken: set[str] = set()
        self._names: dict[str, str] = {}

    def lacks(self, capability: str) -> bool:
        """Whether the model is known not to take something. What was written for it is not measured by it."""
        return not self.exact and self.capabilities.get(capability) is False

    def form_of(self, item: Item) -> Item:
        """How an item of this wire was spelt; nothing for an item of another origin."""
        state = item.get("provider_state")
        if state is None or "form" not in state or not self.endpoint.owns(state):
            return {}
        return state["form"] or {}

    def owns_thinking(self, block: Item) -> bool:
        """Whether reasoning came from here; a block that says no origin has that of its message, if that says one."""
        state = block.get("provider_state")
        if state is not None:
            return self.endpoint.owns(state)
        return self._is_own((self.message.get("metadata") or {}).get("provider"))

    def owns_file(self, source: Item) -> bool:
        """Whether the file of a media source lies here."""
        return self._is_own(source.get("provider"))

    def _is_own(self, provider: str | None) -> bool:
        return provider is None or self.endpoint.owns({"adapter": self.endpoint.adapter, "provider": provider})

    # ------------------------------------------------------------------------------------------ ids

    def call_id(self, block: Item, path: Path) -> str:
        """The wire id of a call, remembered for its result: the wire's own where there is one, else derived."""
        canonical: str = block["id"]
        own = self._own_id(block)
        if self.own:
            wire_id = own if own is not None else self._derive(canonical)
        elif canonical in self._ids:
            raise InvalidRequest("two tool calls have one id; give each call its own", path=pointer((*path, "id")))
        elif own is None or own in self._taken or not (self._tool_id.fullmatch(own) or rides(own, self.endpoint)):
            wire_id = self._derive(canonical)
        else:
            wire_id = own
        self._taken.add(wire_id)
        self._ids[canonical] = wire_id
        return wire_id

    def result_id(self, block: Item) -> str:
        """The wire id of the call that a result answers."""
        canonical: str = block["tool_use_id"]
        wire_id = self._ids.get(canonical)
        if wire_id is None:
            own = self._own_id(block)
            wire_id = own if own is not None else self._derive(canonical)
        return wire_id

    def _own_id(self, block: Item) -> str | None:
        state = block.get("provider_state")
        return state.get("id") if state is not None and self.endpoint.owns(state) else None

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
            fits = self.own or (len(name) <= self._longest_name and _NAME.fullmatch(name) is not None)
            wire = self._names[name] = name if fits else self._rewritten(name)
        if wire != name:
            message = "the name does not fit the target's grammar"
            self.loss.replace((*path, "name"), wire, "name_rewritten", "shape", message)
        return wire

    def _rewritten(self, name: str) -> str:
        taken = set(self._names.values()) | tool_names(self.source)
        base = _NO_NAME.sub("_", name)[: self._longest_name] or "tool"
        wire, number = base, 2
        while wire in taken:
            suffix = f"_{number}"
            wire, number = base[: self._longest_name - len(suffix)] + suffix, number + 1
        return wire


def fitted_lifetime(ttl: str, short: bool) -> str:
    """How long a mark for the cache lives: five minutes or an hour. Behind a short one none is longer."""
    return "1h" if not short and int(ttl[:-1]) * (60 if ttl[-1] == "h" else 1) > 5 else "5m"


# ---------------------------------------------------------------------------------------------- members of a request


def kept_stops(stop: list[str], writing: Writing) -> list[str]:
    """The stop texts that are taken; one of white space alone is not."""
    kept: list[str] = []
    for position, text in enumerate(stop):
        if writing.own or text.strip():
            kept.append(text)
        else:
            message = "the target takes no stop text of white space"
            writing.loss.drop(("stop", position), "unsupported_value", "weakened", message)
    return kept


def wanted_schema(wanted: Item, writing: Writing) -> Item | None:
    """The schema that an answer is to have; None where none is enforced, which is reported."""
    path: Path = ("response_format",)
    kind = wanted["type"]
    if kind == "text":
        for name in wanted:
            if name != "type":
                writing.loss.drop((*path, name), "unsupported_field", "shape", "free text has no such member")
    elif kind != "json_schema" or "schema" not in wanted:
        writing.loss.drop(path, "unsupported_value", "lost", "the target only takes a format that has a schema")
    elif writing.lacks("supports_structured_output"):
        writing.loss.drop(path, "unsupported_model", "lost", "the model does not enforce schemas")
    else:
        return wanted["schema"]
    return None


# ---------------------------------------------------------------------------------------------- instructions


def says_something(message: Item, writing: Writing) -> bool:
    """Whether something of instructions goes onto the wire; what came empty goes back empty."""
    if writing.own and writing.form_of(message).get("blank"):
        return True
    for block in message["content"]:
        if block["type"] != "text" or (block["text"] and not block["text"].isspace()):
            return True
        if writing.own and writing.form_of(block).get("blank"):
            return True
    return False


def marked(message: Item, writing: Writing, path: Path) -> list[Item]:
    """The blocks of instructions that travel in a user turn, each text marked, which is reported.

    The marks are not read back as instructions: a user could write them too.
    """
    note = "instructions inside a conversation travel marked in a user turn"
    writing.loss.replace((*path, "role"), "user", "marker", "weakened", note)
    blocks: list[Item] = []
    for index, block in enumerate(message["content"]):
        if block["type"] == "text" and block["text"] and not block["text"].isspace():
            text = f"<system-message>\n{block['text']}\n</system-message>"
            writing.loss.replace((*path, "content", index, "text"), text, "marker", "weakened", note)
            block = {**block, "text": text}
        blocks.append(block)
    return blocks


def before_answer(messages: list[Item], following: "range | list[int]") -> bool:
    """Whether what follows is an answer, or nothing: behind native instructions no user may speak."""
    for position in following:
        role = messages[position]["role"]
        if role not in INSTRUCTIONS:
            return role == "assistant"
    return True


def check_prefill(position: int, writing: Writing) -> None:
    """Raises `CannotAdapt` where the model does not go on with an answer that was begun."""
    if writing.lacks("prefill"):
        raise CannotAdapt(
            "the model does not continue an answer that was begun; end with a user message",
            path=pointer(("messages", position)),
            adapter=writing.endpoint.adapter,
        )


# ---------------------------------------------------------------------------------------------- tools


def object_at_root(schema: Item | None, loss: Loss, path: Path) -> Item:
    """The schema of a tool's arguments: its root is an object and no union. The same object when it is one already."""
    if schema is None:
        default: Item = {"type": "object", "properties": {}}
        loss.replace(path, default, "required_default", "shape", "the target demands a schema")
        return default
    kind = schema.get("type")
    if kind == "object" and "anyOf" not in schema and "oneOf" not in schema and "allOf" not in schema:
        return schema
    made = dict(schema)
    if kind != "object":
        made["type"] = "object"
        severity = "shape" if kind is None or (isinstance(kind, list) and "object" in kind) else "weakened"
        code = "schema_rewritten" if severity == "shape" else "schema_weakened"
        loss.replace((*path, "type"), "object", code, severity, "the target takes an object at the root")
    for name in _UNIONS:
        if name in made:
            del made[name]
            message = "the target takes no union at the root of a schema"
            loss.drop((*path, name), "schema_weakened", "weakened", message)
    return made


_UNIONS: Final = ("oneOf", "anyOf", "allOf")


def free_text_tool(tool: Item, loss: Loss, path: Path) -> Item:
    """A tool that takes free text as a function with the one text argument `input`."""
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    message = "a free-text tool travels as a function with one text argument"
    loss.replace((*path, "input_schema"), schema, "custom_tool", "shape", message)
    loss.drop((*path, "kind"), "custom_tool", "shape", message)
    if "format" in tool:
        severity = "shape" if tool["format"].get("type") == "text" else "weakened"
        loss.drop((*path, "format"), "custom_tool", severity, "the text is not held to a grammar")
    return {name: value for name, value in tool.items() if name not in ("kind", "format")} | {"input_schema": schema}


def free_text_call(block: Item, loss: Loss, path: Path) -> Item:
    """The arguments of a call to such a tool."""
    arguments = {"input": block.get("input_raw", "")}
    message = "a free-text call travels as a call with one text argument"
    loss.replace((*path, "input"), arguments, "custom_tool", "shape", message)
    loss.drop((*path, "kind"), "custom_tool", "shape", message)
    if "input_raw" in block:
        loss.drop((*path, "input_raw"), "custom_tool", "shape", message)
    return arguments
