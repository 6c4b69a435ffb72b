"""
What the two wires on which Anthropic's models are called have in common: ids and names, and where instructions stand.

The wires spell things differently; these are rules of the models behind them, and they change together.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._kit import arguments_text, unused_name
from interlingua.adapters._order import Oddities, oddities
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
    """What a reader carries: whose wire it is, and the canonical ids of the calls seen so far.

    `unusual`: something was read that a writer might have to repair. `open`: the calls that wait for a result.
    `names`: those of tools. `pictures`: an image was read.
    """

    __slots__ = (
        "_calls",
        "_canonical",
        "_given",
        "_ids",
        "_marks",
        "_short",
        "adapter",
        "names",
        "open",
        "pictures",
        "provider",
        "unusual",
        "whose",
    )

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.whose = endpoint.state()
        self._ids = ids
        self._calls: dict[str, int] = {}
        self._canonical: dict[str, str] = {}
        self._given: set[str] = set()
        self.names: set[str] = set()
        self.open: list[str] = []
        self._marks = 0
        self._short = False
        self.unusual = False
        self.pictures = False

    def has_calls(self) -> bool:
        """Whether a call was read."""
        return bool(self._calls)

    def has_odd_names(self) -> bool:
        """Whether the name of a tool, where it is defined or called, may be one that a wire does not take."""
        whole = "_".join(self.names).replace("-", "_")  # much faster than the grammar of each
        if whole and not (whole.isascii() and ("_" + whole).isidentifier()):
            return True
        return len(whole) > _SHORT_NAME and any(len(name) > _SHORT_NAME for name in self.names)

    def mark(self, hint: Item) -> None:
        """Looks at a mark for the cache."""
        ttl = hint.get("ttl", "5m")
        self._marks += 1
        if self._marks > MAX_CACHE_MARKS or (ttl != "5m" and (ttl != "1h" or self._short)):
            self.unusual = True
        self._short = self._short or ttl == "5m"

    def call(self, wire_id: str) -> str:
        """The canonical id of a call; a wire id that is used again in a later turn names another call."""
        self.open.append(wire_id)
        occurrence = self._calls.get(wire_id, 0)
        if occurrence:
            self.unusual = True
        self._calls[wire_id] = occurrence + 1
        canonical = self._ids.tool(self.adapter, wire_id, occurrence)
        if canonical in self._given:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self.adapter, wire_id, occurrence + 1)
        self._given.add(canonical)
        self._canonical[wire_id] = canonical
        return canonical

    def result(self, wire_id: str) -> str | None:
        """The canonical id of the call that a result answers; None when there was no such call."""
        if self.open and self.open[0] == wire_id:
            del self.open[0]
        else:
            self.unusual = True
        return self._canonical.get(wire_id)

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(self.adapter, wire_id, 0)

    def state(self, **members: Any) -> Item:
        """A provider state that originates on this wire."""
        return {**self.whose, **members}

    def opaque(self, kind: str, value: Item) -> Item:
        """An item of the wire without canonical meaning, verbatim."""
        self.unusual = True
        return {"type": "opaque", **self.whose, "kind": kind, "value": value}


_SHORT_NAME: Final = 64  # fits everywhere


def proofread(
    request: Item,
    reading: Reading,
    endpoint: Endpoint,
    to_wire: Callable[[Item, Endpoint], tuple[Item, list[dict[str, Any]]]],
) -> None:
    """Notes in a request that was just read what a writer would repair in it; most requests hold nothing of that.

    An oddity is kept where it was read and repaired where it was made: a writer leaves alone what is so noted
    (`form.odd` of an item, in that of the request by member and code, `form.names` of tools, `form.misplaced`
    and `form.unpaired` of a message), and nothing else.
    """
    if _is_usual(request, reading):
        return
    messages = request["messages"]
    first = 0
    while first < len(messages) and messages[first]["role"] in INSTRUCTIONS:
        first += 1
    for what, positions in zip(_ODDITIES, oddities(messages, first), strict=True):
        for position in positions:
            _note(messages[position], what, endpoint)
    for item in (*_named_again(request.get("tools") or []), *_called_again(messages)):
        _note(item, "odd", endpoint)
    # of a model nothing is known here: what was written for it is not measured by what we know of it
    reader = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
    for _ in range(_MOST_READINGS):
        try:
            entries = to_wire(request, reader)[1]
        except (InvalidRequest, CannotAdapt):
            break
        if not entries:
            return
        for entry in entries:
            _note_entry(entry, request, endpoint)
    request["provider_state"]["form"]["odd"] = True  # there is no other way to write it


_MOST_READINGS: Final = 4  # what is left alone may bring to light what its repair had hidden


_ODDITIES: Final = ("misplaced", "unpaired")  # messages


def _is_usual(request: Item, reading: Reading) -> bool:
    """Whether the members of a request, and where it ends, surely need no repair."""
    if reading.unusual or not request.keys() <= _USUAL or not request["messages"]:
        return False
    tools, choice, reasoning = request.get("tools"), request.get("tool_choice"), request.get("reasoning")
    if reading.has_odd_names() or (reading.has_calls() and not tools):
        return False
    last = request["messages"][-1]
    if last["role"] == "assistant" and _ends_in_space(last):
        return False
    if request.get("max_output_tokens", 1) < 1 or (choice is not None and not (tools and choice == _AUTO)):
        return False
    if reasoning is not None and reasoning != _ADAPTIVE and not _has_room(reasoning, request):
        return False
    temperature = request.get("temperature", 1)
    return temperature == 1 or (0 <= temperature <= 1 and reasoning is None)


_USUAL: Final = frozenset(
    ("messages", "max_output_tokens", "temperature", "tool_choice", "reasoning", "model", "tools", "stream", "options",
     "provider_state")
)  # fmt: skip
_AUTO: Final = {"type": "auto"}
_ADAPTIVE: Final = {"mode": "adaptive"}


def _ends_in_space(answer: Item) -> bool:
    block = answer["content"][-1] if answer["content"] else {"text": " "}
    text: str = block.get("text", "-")
    return not text or text[-1].isspace()


def _has_room(reasoning: Item, request: Item) -> bool:
    """Whether a budget of reasoning is in its limits, and the turn that goes on began with reasoning."""
    if reasoning.keys() != {"mode", "budget_tokens"} or reasoning["mode"] != "enabled":
        return False
    if not 1024 <= reasoning["budget_tokens"] < request.get("max_output_tokens", 0):
        return False
    for message in reversed(request["messages"]):
        if message["role"] != "tool":
            break
    else:
        return False
    if message is request["messages"][-1]:
        return message["role"] == "user"
    return bool(message["content"]) and message["content"][0]["type"] in THINKING_TYPES


def _note_entry(entry: dict[str, Any], request: Item, endpoint: Endpoint) -> None:
    form = request["provider_state"]["form"]
    match entry["path"].split("/")[1:]:
        case [*steps, "name"] if entry["code"] == "name_rewritten" and (name := _name(request, steps)) is not None:
            form.setdefault("names", []).append(name)
        case ["messages", position, "content", number, *_]:
            _note(request["messages"][int(position)]["content"][int(number)], "odd", endpoint)
        case ["messages", position, *_]:
            _note(request["messages"][int(position)], "odd", endpoint)
        case ["tools", position, *_]:
            _note(request["tools"][int(position)], "odd", endpoint)
        case [member, *_]:
            form.setdefault("odd", {}).setdefault(member, []).append(entry["code"])
        case _:
            pass


def _note(item: Item, what: str, endpoint: Endpoint) -> None:
    item.setdefault("provider_state", endpoint.state()).setdefault("form", {})[what] = True


def _name(request: Item, steps: list[str]) -> str | None:
    """The name of a tool that stands in an item of the request; None for an item that is neither tool nor call."""
    item: Any = request
    for step in steps:
        item = item[int(step)] if isinstance(item, list) else item[step]
    return item["name"] if item.get("type") != "document" else None


def _named_again(tools: list[Item]) -> list[Item]:
    """The tools that have the name of another one before them."""
    names: set[str] = set()
    found: list[Item] = []
    for tool in tools:
        name = tool.get("definition", tool).get("name")
        if not isinstance(name, str):
            continue  # a set of tools has none
        if name in names:
            found.append(tool)
        names.add(name)
    return found


def _called_again(messages: list[Item]) -> list[Item]:
    """The calls that have the wire id of another one before them in the turn."""
    given: set[str] = set()
    found: list[Item] = []
    for message in messages:
        if message["role"] != "assistant":
            given.clear()
            continue
        for block in message["content"]:
            if block["type"] == "tool_use":
                wire_id = block["provider_state"]["id"]
                if wire_id in given:
                    found.append(block)
                given.add(wire_id)
    return found


# ---------------------------------------------------------------------------------------------- writing

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]+")
_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")


class Writing:
    """What a writer carries: the target, the report, wire ids and names.

    `own`: the whole came from this wire, so it is spelt as it was read.
    `exact`: and it goes to the model that it was written for, so what is known of the model is not held against it.
    `as_read`: what is being written was read so, odd as it is (`proofread`), and is not repaired.
    `tool_id` is the grammar of wire ids, `longest_name` how long the name of a tool may be.
    """

    __slots__ = (
        "_ids",
        "_longest_name",
        "_names",
        "_numbers",
        "_odd",
        "_reserved",
        "_taken",
        "_tool_id",
        "_whole",
        "as_read",
        "capabilities",
        "endpoint",
        "exact",
        "gone",
        "loss",
        "merges",
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
        self.merges: list[tuple[Path, Path]] = []
        self.gone: set[Path] = set()  # messages that travel in another one, or not at all
        self._tool_id = tool_id
        self._longest_name = longest_name
        self._ids: dict[str, str] = {}
        self._reserved: set[str] = set()
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._taken: set[str] = set()
        self.as_read = self._whole = False
        self._odd: Mapping[str, Any] = {}
        if self.own and (form := self.form_of(source)):
            odd, names = form.get("odd"), form.get("names")
            if odd is True:
                self.take_as_read()
            if isinstance(odd, dict):
                self._odd = {member: codes for member, codes in odd.items() if isinstance(codes, list)}
            if isinstance(names, list):
                self._names.update((name, name) for name in names if isinstance(name, str))

    def lacks(self, capability: str) -> bool:
        """Whether the model is known not to take something. What was written for it is not measured by it."""
        return not self.exact and self.capabilities.get(capability) is False

    def take_as_read(self) -> None:
        """Repairs nothing of the whole: of answers, and of requests that have no other wire than the one they came in."""
        self.as_read = self._whole = True

    def says(self, capability: str) -> bool:
        """Whether the model is known to have a trait that forbids something."""
        return not self.exact and self.capabilities.get(capability) is True

    def known(self) -> Mapping[str, Any]:
        """What is known of the model; nothing for what was written for it."""
        return {} if self.exact else self.capabilities

    def keeps(self, member: str, code: str | None = None) -> bool:
        """Whether a member of the request is written as it is, because it was as odd (by `code`) when it was read."""
        if self._whole:
            return True
        codes = self._odd.get(member)
        return codes is not None and (code is None or code in codes)

    def is_odd(self, item: Item) -> bool:
        """Whether an item is written as it is, because it was as odd when it was read."""
        return self.as_read or (self.own and "provider_state" in item and bool(self.form_of(item).get("odd")))

    def oddities(self, messages: list[Item]) -> Oddities:
        """The messages that were read out of order."""
        if self._whole:
            return frozenset(), frozenset(range(len(messages)))
        return self._noted(messages, "misplaced"), self._noted(messages, "unpaired")

    def _noted(self, messages: list[Item], what: str) -> frozenset[int]:
        if not self.own:
            return frozenset()
        return frozenset(
            position
            for position, message in enumerate(messages)
            if "provider_state" in message and self.form_of(message).get(what)
        )

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

    # ------------------------------------------------------------------------------------------ whole messages

    def drop_message(self, path: Path) -> None:
        """Nothing is left of a message."""
        self.gone.add(path)
        self.loss.drop(path, "empty_content", "shape", "nothing is left of the message")

    def drop_merged(self, anchor: Path) -> None:
        """Nothing is left of a message and of those that were merged into it."""
        left = [path for path, to in self.merges if to == anchor]
        self.merges = [merge for merge in self.merges if merge[1] != anchor]
        for path in (anchor, *left):
            self.drop_message(path)

    def report_merges(self) -> None:
        """The messages that travel in another one."""
        for path, to in self.merges:
            self.gone.add(path)
            self.loss.merge(path, to, "merged_turn", "shape", "neighbouring messages travel as one turn")

    # ------------------------------------------------------------------------------------------ cache marks

    def settle_lifetime(self, mark: Item, where: Path, short: bool) -> bool:
        """Brings the lifetime of a mark into what the wire knows; gives whether a short one was written by now."""
        ttl = mark.get("ttl")
        if ttl is None:
            return True
        fitted = fitted_lifetime(ttl, short)
        if fitted != ttl:
            mark["ttl"] = fitted
            message = "the target has 5m and 1h, longer before shorter"
            self.loss.replace((*where, "ttl"), fitted, "cache_hint", "weakened", message)
        return fitted == "5m"

    # ------------------------------------------------------------------------------------------ ids

    def call_id(self, block: Item, path: Path) -> str:
        """The wire id of a call, remembered for its result: the wire's own where there is one, else derived."""
        canonical: str = block["id"]
        own = self._own_id(block)
        if canonical in self._ids and not self._whole:
            raise InvalidRequest("two tool calls have one id; give each call its own", path=pointer((*path, "id")))
        if own is None or (own in self._taken and not self.is_odd(block)):
            wire_id = self._derive(canonical)
        elif self.own or self._tool_id.fullmatch(own) or rides(own, self.endpoint):
            wire_id = own
        else:
            wire_id = self._derive(canonical)
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
            fits = self._whole or (len(name) <= self._longest_name and _NAME.fullmatch(name) is not None)
            wire = self._names[name] = name if fits else self._rewritten(name)
        if wire != name:
            message = "the name does not fit the target's grammar"
            self.loss.replace((*path, "name"), wire, "name_rewritten", "shape", message)
        return wire

    def _rewritten(self, name: str) -> str:
        if not self._reserved:
            self._reserved = set(self._names.values()) | tool_names(self.source)
        return unused_name(_NO_NAME.sub("_", name) or "tool", self._longest_name, self._reserved, self._numbers)


def fitted_lifetime(ttl: str, short: bool) -> str:
    """How long a mark for the cache lives: five minutes or an hour. Behind a short one none is longer."""
    return "1h" if not short and int(ttl[:-1]) * (60 if ttl[-1] == "h" else 1) > 5 else "5m"


# ---------------------------------------------------------------------------------------------- members of a request


def kept_stops(stop: list[str], writing: Writing) -> list[str]:
    """The stop texts that are taken; one of white space alone is not."""
    kept: list[str] = []
    for position, text in enumerate(stop):
        if text.strip() or writing.keeps("stop"):
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
    if is_object(schema):
        return schema
    kind = schema.get("type")
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


def is_object(schema: Item) -> bool:
    """Whether the root of a schema is an object and no union."""
    return schema.get("type") == "object" and "anyOf" not in schema and "oneOf" not in schema and "allOf" not in schema


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
