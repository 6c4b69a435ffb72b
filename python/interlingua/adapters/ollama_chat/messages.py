"""Messages: `message_to_wire` above `message_from_wire`; their text, their results, and the order that they have."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from interlingua.adapters._envelope import TOOL_ERROR, TOOL_OK, is_enveloped
from interlingua.adapters._items import OPAQUE, report_beside
from interlingua.adapters._kit import (
    MESSAGE_MEMBERS,
    NOTHING,
    Wire,
    malformed,
    report_foreign_state,
    report_own_state,
    report_unknown,
)
from interlingua.adapters._media import document_as_text
from interlingua.adapters._order import (
    MESSAGE,
    Wanted,
    arranged,
    longest_rising,
    moves_behind,
    moves_to,
    note_disorder,
    result_of,
)
from interlingua.adapters._spelling import Spelt, read_elements
from interlingua.adapters._verbatim import Items, came_without, keep_item, keep_spelt
from interlingua.adapters.ollama_chat.blocks import (
    answered_image,
    image_from_wire,
    image_refused,
    image_to_wire,
)
from interlingua.adapters.ollama_chat.tables import (
    CALLS,
    NAME,
    Reading,
    Writing,
)
from interlingua.adapters.ollama_chat.tools import call_from_wire, call_to_wire, is_call
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.ids import DERIVED_IDS, NamedIds
from interlingua.canonical.loss import Loss, Path, pointer

Block = dict[str, Any]
Message = dict[str, Any]

_RESULTS: Final = Wanted(MESSAGE)

_WORDS: Final = frozenset(("text",))
_RESULT: Final = frozenset(("tool_use_id", "content", "is_error"))


# ---------------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], writing: Writing, *, read: list[Wire] | None = None) -> list[Wire]:
    """All messages; the results of a turn stand behind it in the order of its calls.

    `read` are those of the request from which they were just read.
    Raises `InvalidRequest` for blocks that do not stand in a message of their role.
    """
    messages: list[Message] = request["messages"]
    body: list[Wire] = []
    order = arranged(messages, _RESULTS, writing)
    if writing.same_origin or _are_of_this_wire(messages):
        writing.with_ids = not _find_their_calls(messages, order, writing)
    if request.get("system"):
        said = _Said(("system",), writing)
        for index, block in enumerate(request["system"]):
            said.add(block, index)
        body.append(said.wire("system"))
    for position in order:
        message = messages[position]
        content = message["content"]
        if len(message) == 2 and len(content) == 1 and message["role"] not in _MENDED:
            block = content[0]
            if len(block) == 2 and block["type"] == "text":
                body.append({"role": message["role"], "content": block["text"]})
                continue
        body.append(message_to_wire(message, ("messages", position), writing))
    system = len(body) - len(order)
    items = Items(messages, "messages", writing.endpoint, writing.loss)
    body[system:] = items.settled(body[system:], [(position,) for position in order], read)
    # last of all: what an entry names must still stand in its place
    for position, to in moves_behind(order, messages):
        writing.loss.move(("messages", position), ("messages", to), "reordered", "representation", _RESULTS.why)
    return body


def keep_message(message: Message, raw: Wire, endpoint: Endpoint) -> None:
    """Keeps of the message of an answer what a request that holds it says otherwise."""
    request = {"messages": [message], "provider_state": endpoint.state()}
    loss = Loss()
    written = message_to_wire(message, ("messages", 0), Writing(request, endpoint, loss))
    keep_item(message, raw, written, endpoint, loss.entries)


def message_to_wire(message: Message, path: Path, writing: Writing, *, answer: bool = False) -> Wire:
    """A message, at its place in the request or, as an answer, in the response."""
    role, content = message["role"], message["content"]
    if role == "assistant" and len(message) == 2 and (usual := _text_and_calls(content, path, writing)) is not None:
        return usual
    if role == "developer":
        role = "system"
        writing.loss.replace((*path, "role"), role, "role_folded", "representation", "the wire knows no developer role")
    if role == "tool":
        wire = _result_to_wire(message, path, writing)
    else:
        said = _Said((*path, "content"), writing, assistant=role == "assistant", answer=answer)
        for index, block in enumerate(content):
            said.add(block, index)
        wire = said.wire(role)
    trivial = len(message) == 2 or (len(message) == 3 and "metadata" in message)
    return wire if trivial else _finish_message(message, wire, path, writing)


def _text_and_calls(content: list[Block], path: Path, writing: Writing) -> Wire | None:
    """The usual turn with calls, on a straight way: a plain text, or none, and calls behind it. None for any other."""
    text, calls = "", content
    if content and (first := content[0])["type"] == "text":
        text, calls = first["text"], content[1:]
        if len(first) > 2 or not text:
            return None
    if not calls or any(block["type"] != "tool_use" for block in calls):
        return None
    before = len(content) - len(calls)
    written = [call_to_wire(block, (*path, "content", n), writing) for n, block in enumerate(calls, before)]
    return {"role": "assistant", "content": text, "tool_calls": written}


_MENDED: Final = ("developer", "tool")


def _finish_message(message: Message, wire: Wire, path: Path, writing: Writing) -> Wire:
    """What all messages have: names and cache hints that have no place here, own members, and what nobody knows."""
    loss = writing.loss
    if message.get("name") is not None:
        loss.drop((*path, "name"), "unsupported_field", "weakened", "the wire has no names of participants")
    if message.get("cache") is not None:
        loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
    if state := writing.owned(message):
        wire.update(state.get("fields") or NOTHING)
        report_own_state(state, loss, path)
    elif "provider_state" in message:
        report_foreign_state(message, writing.endpoint, loss, path)
    report_unknown(message, MESSAGE_MEMBERS, loss, path)
    return wire


class _Said:
    """The blocks of one message, sorted into the members of the wire, which have an order of their own."""

    __slots__ = ("_answer", "_assistant", "_calls", "_images", "_path", "_texts", "_thoughts", "_writing")

    def __init__(self, path: Path, writing: Writing, *, assistant: bool = False, answer: bool = False) -> None:
        self._path = path
        self._writing = writing
        self._assistant = assistant
        self._answer = answer
        self._thoughts: list[tuple[int, str]] = []
        self._images: list[tuple[int, Any]] = []
        self._texts: list[tuple[int, str]] = []
        self._calls: list[tuple[int, Any]] = []

    def add(self, block: Block, index: int) -> None:
        """Takes a block to where it stands on the wire, or reports that it has no place there."""
        writing, path = self._writing, (*self._path, index)
        match block["type"]:
            case "text":
                if len(block) > 2:
                    report_beside(block, _WORDS, writing, path)
                self._texts.append((index, block["text"]))
            case "document" if (
                not self._assistant
                and (text := document_as_text(block, path, writing.loss, takes_bytes=False)) is not None
            ):
                report_beside(text, _WORDS, writing, path)
                self._texts.append((index, text["text"]))
            case "image":
                refusal = image_refused(block, writing, answer=self._answer)
                if refusal is None:
                    self._images.append((index, image_to_wire(block, path, writing)))
                else:
                    self.leave_out(block, index, *refusal)
            case "tool_use" if self._assistant:
                self._calls.append((index, call_to_wire(block, path, writing)))
            case "thinking" if self._assistant and _may_go_back(block, writing, answer=self._answer):
                report_beside(block, _WORDS, writing, path)
                self._thoughts.append((index, block["text"]))
            case "opaque" if self._may_hold(block) and (item := _raw_item(block, writing)) is not None:
                report_beside(block, OPAQUE, writing, path)
                (self._calls if block["kind"] == CALLS else self._images).append((index, item[0]))
            case "tool_use" | "tool_result":
                raise InvalidRequest(
                    f"a {block['type']} does not stand in a message of this role", path=pointer(path), adapter=NAME
                )
            case _:
                self.leave_out(block, index, *_no_place(block, writing))

    def _may_hold(self, block: Block) -> bool:
        """Whether an item of this wire stands in a message of its role: only an assistant has calls."""
        return self._writing.endpoint.owns(block) and (self._assistant or block.get("kind") != CALLS)

    def leave_out(self, block: Block, index: int, code: str, message: str) -> None:
        """Reports a block that has no form, and takes what the policy puts in its place."""
        left = self._writing.loss.block((*self._path, index), block, code, "lost", message)
        if left is not None:
            self._texts.append((index, left["text"]))

    def wire(self, role: str) -> Wire:
        """The message of the wire; reports what was joined and what stands elsewhere."""
        text = self.text()
        wire: Wire = {"role": role, "content": text or ""}
        if self._thoughts:
            wire["thinking"] = self._thoughts[0][1]
        if self._images:
            wire["images"] = self.images()
        if self._calls:
            wire["tool_calls"] = [call for _, call in self._calls]
        if text is None and len(wire) == 2 and not self._answer:
            self._fill()
        return wire

    def images(self) -> list[Any]:
        """The images, in order."""
        return [image for _, image in self._images]

    def text(self) -> str | None:
        """The one text, None when there is none; joins what was told in pieces and reports where all stands."""
        self._thoughts = self._joined(self._thoughts, beside=True)
        others = bool(self._images or self._thoughts or self._calls or self._answer)
        self._texts = texts = self._joined(self._texts, beside=others)
        target = [index for part in (self._thoughts, self._images, texts, self._calls) for index, _ in part]
        if target != sorted(target):
            self._report_moves(target)
        return texts[0][1] if texts else None

    def _report_moves(self, target: list[int]) -> None:
        for position, to in moves_to(target, longest_rising(target), max(target) + 1):
            message = "the wire puts reasoning first, then images, then text, and calls last"
            path = self._path
            self._writing.loss.move((*path, position), (*path, to), "reordered", "representation", message)

    def _joined(self, texts: list[tuple[int, str]], *, beside: bool) -> list[tuple[int, str]]:
        """At most one text. An empty one says nothing unless it stands alone."""
        if not texts or (len(texts) == 1 and (texts[0][1] or not beside)):
            return texts
        spoken = [said for said in texts if said[1]]
        kept = spoken[0] if spoken else None if beside else texts[0]
        loss, path = self._writing.loss, self._path
        for said in texts:
            if not said[1] and (kept is None or said[0] != kept[0]):
                loss.drop((*path, said[0]), "empty_content", "representation", "an empty text says nothing here")
        if kept is None or len(spoken) < 2:
            return [kept] if kept is not None else []
        whole = spoken[0][1]
        for before, said in pairwise(spoken):
            # pieces of one answer go on where the piece before ends; texts of others are apart
            whole += ("" if self._assistant and before[0] + 1 == said[0] else "\n\n") + said[1]
        message = "a message has one text on this wire"
        loss.replace((*path, kept[0], "text"), whole, "merged_turn", "representation", message)
        for index, _ in spoken[1:]:
            loss.drop((*path, index), "merged_turn", "representation", message)
        return [(kept[0], whole)]

    def _fill(self) -> None:
        value = [{"type": "text", "text": ""}]
        message = "an empty message is written as an empty text"
        self._writing.loss.replace(self._path, value, "filler", "representation", message)


# -- order


def _find_their_calls(messages: list[Message], order: "range | list[int]", writing: Writing) -> bool:
    """Whether results are read as those of their calls, though some say so only by name and place; an edit may change both.

    Raises `InvalidRequest` for results that came without a call and would be read as those of one, or of each other.
    """
    reading = Reading(writing.endpoint, NamedIds())
    calls: dict[str, tuple[str, str | None]] = {}
    alone: set[tuple[str, str]] = set()
    paired, last = True, 0
    for position in order:
        message = messages[position]
        if message["role"] == "assistant":
            reading.turn()
            for block in message["content"]:
                if block["type"] == "tool_use":
                    state = writing.owned(block)
                    wire_id: str | None = state.get("id") if state else block["id"]
                    calls[block["id"]] = reading.call(wire_id, block["name"]), wire_id
        elif message["role"] == "tool" and (answered := _answered(message)) is not None:
            call, called_id = calls.get(answered, ("", None))
            state = writing.owned(message)
            absent = came_without(message, writing.endpoint)
            fields: Mapping[str, Any] = state.get("fields") or NOTHING
            said = fields.get("name") if "tool_name" in absent else reading.names.get(call)
            named = writing.owned(message["content"][0]).get("id", called_id)
            found, _ = reading.result(None if "tool_call_id" in absent else named, fields.get("tool_name", said))
            if call:
                paired = paired and found == call
            else:
                alone.add((found, answered))
                last = position
    if alone and not (paired and _is_one_to_one(alone | {(read, call) for call, (read, _) in calls.items()})):
        why = "this result came without a call, and would now be read as that of another one"
        raise InvalidRequest(why, path=pointer(("messages", last, "content", 0, "tool_use_id")), adapter=NAME)
    return paired


def _is_one_to_one(pairs: set[tuple[str, str]]) -> bool:
    return len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})


def _are_of_this_wire(messages: list[Message]) -> bool:
    """Whether something was read from this wire, though the request was not."""
    for message in messages:
        if "provider_state" in message and message["provider_state"]["adapter"] == NAME:
            return True
        content: list[Block] = message["content"]
        for block in content:
            state: dict[str, Any] | None = block.get("provider_state")
            if state is not None and state["adapter"] == NAME:
                return True
    return False


def _answered(message: Message) -> str | None:
    content = message["content"]
    return content[0].get("tool_use_id") if message["role"] == "tool" and content else None


# -- blocks


def _may_go_back(block: Block, writing: Writing, *, answer: bool) -> bool:
    """Reasoning of another provider is not replayed; in an answer that is played it is shown all the same."""
    return answer or not block.get("provider_state") or bool(writing.owned(block))


def _no_place(block: Block, writing: Writing) -> tuple[str, str]:
    """Code and message for a block that has no form."""
    match block["type"]:
        case "opaque":
            return "foreign_state", "an item of another provider has no form here"
        case "thinking" | "redacted_thinking" if block.get("provider_state") and not writing.owned(block):
            return "foreign_state", "reasoning of another provider is not replayed"
        case "thinking" | "redacted_thinking":
            return "unsupported_block", "reasoning has no form in this place"
        case "audio" | "video" | "document":
            return "unsupported_block", f"the wire has no form for {block['type']}"
        case _:
            return "unknown_block", "a block of a type that this version does not know"


# -- items that could not be read


def _raw_item(block: Block, writing: Writing) -> tuple[Any] | None:
    """The item that could not be read and goes back where it stood; None when it is no such item."""
    value, reading = block["value"], Reading(writing.endpoint, DERIVED_IDS)
    match block.get("kind"):
        case "tool_calls" if not is_call(value, reading):
            return (value,)
        case "images" if value.keys() == {"image"} and image_from_wire(value["image"], reading)["type"] == "opaque":
            return (value["image"],)
        case _:
            return None


# -- results


def _result_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    block, where = result_of(message, path, NAME), (*path, "content", 0)
    inner = block["content"]
    wire: Wire = {"role": "tool", "content": ""}
    if len(inner) == 1 and len(inner[0]) == 2 and inner[0]["type"] == "text":
        wire["content"] = inner[0]["text"]
        empty = False
    else:
        said = _Said((*where, "content"), writing)
        for index, item in enumerate(inner):
            if item["type"] in ("tool_use", "tool_result"):
                said.leave_out(item, index, "unsupported_block", "calls and results have no form in this place")
            else:
                said.add(item, index)
        text = said.text()
        empty = text is None
        wire["content"] = text or ""
        if images := said.images():
            wire["images"] = images
        elif empty and not block.get("is_error"):
            value = [{"type": "text", "text": ""}]
            note = "an empty result is written as an empty text"
            writing.loss.replace((*where, "content"), value, "filler", "representation", note)
    if block.get("is_error"):
        wire["content"] = TOOL_ERROR if empty else f"{TOOL_ERROR}\n{wire['content']}"
        note = "the failure is told in the first line of the result"
        writing.loss.replace((*where, "is_error"), True, "envelope", "representation", note)
    elif wire["content"][:1] == "[" and is_enveloped(wire["content"]):
        wire["content"] = f"{TOOL_OK}\n{wire['content']}"
    if (name := writing.names.get(block["tool_use_id"])) is not None:
        wire["tool_name"] = name
    if (wire_id := writing.result_id(block)) is not None:
        wire["tool_call_id"] = wire_id
    if len(block) > 3:
        report_beside(block, _RESULT, writing, where)
    return wire


# ---------------------------------------------------------------------------------------------------- from the wire


_ROLES: Final = ("system", "user", "assistant", "tool")


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """All messages. Raises `InvalidWire` with the pointer of the message that cannot be read."""
    if not isinstance(messages, list):
        raise InvalidWire("messages must be a list", path="/messages", adapter=NAME)
    read: list[Message] = []
    try:
        for message in messages:
            read.append(message_from_wire(message, reading))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise malformed("the message", "messages", len(read)) from problem
    note_disorder(read, _RESULTS, reading.endpoint.state)
    return read


def message_from_wire(message: Wire, reading: Reading) -> Message:
    """A message, by its role, which the server reads without regard to case."""
    written = message["role"]
    role: str = written if written in _ROLES else written.lower()
    if role not in _ROLES:
        raise ValueError(role)
    if role == "assistant":
        reading.turn()
    content = message.get("content")
    reading.unusual = reading.unusual or role != written or type(content) is not str
    if len(message) == 2 and type(content) is str and role != "tool":
        return {"role": role, "content": [{"type": "text", "text": content}]}
    if role == "tool":
        return _result_from_wire(message, reading)
    known = _ASSISTANT if role == "assistant" else _PLAIN
    spelt: Spelt = {f"/{name}": {"raw": message[name]} for name in _LISTS if not message.get(name, True)}
    read: Message = {"role": role, "content": _blocks(message, role, reading, spelt)}
    _with_fields(read, _fields(message, known), reading)
    keep_spelt(read, spelt, reading.endpoint)
    return read


def answer_from_wire(message: Wire, reading: Reading) -> Message:
    """The message of an answer: an empty text is an empty answer, and the role goes without saying."""
    said = message.get("role") == "assistant" and type(message.get("content")) is str
    reading.unusual = reading.unusual or not said or not all(message.get(name, True) for name in _LISTS)
    spelt: Spelt = {}
    read = {"role": "assistant", "content": _blocks(message, "assistant", reading, spelt, answer=True)}
    reading.unusual = reading.unusual or bool(spelt)
    return _with_fields(read, _fields(message, _ASSISTANT), reading)


_LISTS: Final = ("thinking", "images", "tool_calls")
_PLAIN: Final = frozenset(("role", "content", "images"))
_ASSISTANT: Final = _PLAIN | {"thinking", "tool_calls"}
_TOOL: Final = _PLAIN | {"tool_name", "tool_call_id"}


def _with_fields(read: Message, fields: dict[str, Any] | None, reading: Reading) -> Message:
    if fields:
        read["provider_state"] = reading.endpoint.state(fields=fields)
    return read


def _fields(message: Wire, known: frozenset[str]) -> dict[str, Any] | None:
    return None if message.keys() <= known else {name: item for name, item in message.items() if name not in known}


def _blocks(message: Wire, role: str, reading: Reading, spelt: Spelt, *, answer: bool = False) -> list[Block]:
    """Thinking, images, text, calls; what says nothing beside them goes to `spelt`."""
    blocks: list[Block] = []
    calls = None
    if role == "assistant":
        calls = message.get("tool_calls")
        if thinking := message.get("thinking"):
            if not isinstance(thinking, str):
                raise TypeError(thinking)
            blocks.append({"type": "thinking", "text": thinking, "provider_state": reading.endpoint.state()})
    read = answered_image if answer else image_from_wire
    blocks += [read(image, reading) for image in _list(message.get("images") or [])]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError(content)
    if content or (content == "" and not (blocks or calls or answer)):
        blocks.append({"type": "text", "text": content})
    return blocks + read_elements(call_from_wire, _list(calls or []), reading, CALLS, "type", spelt)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _result_from_wire(message: Wire, reading: Reading) -> Message:
    wire_id, name = message.get("tool_call_id"), message.get("tool_name")
    named = name if name is not None else message.get("name")  # as older clients say it
    canonical, by_id = reading.result(*(item if isinstance(item, str) else None for item in (wire_id, named)))
    for item in (wire_id, name):
        if item is not None and not isinstance(item, str):
            raise TypeError(item)
    usual = wire_id is not None or (canonical in reading.without_ids and "tool_call_id" not in message)
    reading.unusual = reading.unusual or not usual or name is None or not message.get("images", True)
    fields = _fields(message, _TOOL) or {}
    if name is not None and name != reading.names.get(canonical):
        fields["tool_name"] = name
    blocks = _blocks(message, "tool", reading, {})
    block: Block = {"type": "tool_result", "tool_use_id": canonical, "content": blocks}
    if _open_envelope(blocks):
        block["is_error"] = True
    if not by_id:
        block["provider_state"] = reading.endpoint.state(id=wire_id)
    read: Message = {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": canonical}}
    return _with_fields(read, fields, reading)


def _open_envelope(blocks: list[Block]) -> bool:
    """Takes the envelope off the text. Whether it told of a failure."""
    if not blocks or blocks[-1]["type"] != "text" or not is_enveloped(blocks[-1]["text"]):
        return False
    line, newline, rest = blocks[-1]["text"].partition("\n")
    if newline:
        blocks[-1] = {"type": "text", "text": rest}
    else:
        del blocks[-1]
    return line == TOOL_ERROR
