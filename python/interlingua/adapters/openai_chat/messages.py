"""Messages by role: `messages_to_wire` above `messages_from_wire`. Assistant messages are in `turns`."""

from typing import Any, Final

from interlingua.adapters._engine.as_read import PREFILL
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import LIST, lone_text
from interlingua.adapters._engine.verbatim import Items, came_otherwise
from interlingua.adapters._history.envelope import MARK
from interlingua.adapters._history.messages import (
    OF_RESULT,
    fold_role,
    plain_message,
    read_messages,
    refuse_calls,
    report_moves,
    report_rest,
    result_message,
    result_parts,
)
from interlingua.adapters._history.order import Order, are_paired, arranged, moves_behind, result_of
from interlingua.adapters._openai.members import report_prefill
from interlingua.adapters.openai_chat.parts import (
    OF_THE_MODEL,
    SYSTEM,
    TOOL,
    USER,
    Block,
    as_content,
    content_from_wire,
    content_to_wire,
    finish_message,
    finish_reading,
    is_bare,
    part_to_wire,
)
from interlingua.adapters.openai_chat.tables import NAME, Kept, Writing
from interlingua.adapters.openai_chat.tools import CALLS
from interlingua.adapters.openai_chat.turns import assistant_from_wire, assistant_to_wire
from interlingua.canonical.ids import NamedIds
from interlingua.canonical.loss import Path

Message = dict[str, Any]
Request = dict[str, Any]


def messages_to_wire(request: Request, writing: Writing, *, read: list[Wire] | None = None) -> list[Wire]:
    """Write all messages in the order that the wire requires: results directly after their calls.

    `read` holds the messages of the body from which these messages were just read.
    Raises `InvalidRequest` for a conversation that is not valid in any order.
    """
    messages: list[Message] = request["messages"]
    system: list[Wire] = []
    if request.get("system"):
        content = content_to_wire(request["system"], ("system",), writing, SYSTEM)
        system = [] if content is None else [{"role": "system", "content": content}]
    order = arranged(messages, writing)
    before, marks = list(writing.loss.entries), writing.breakpoints
    runs = _written(messages, order, writing)
    if not runs.fits:
        writing.begin_with_ids(before, marks)
        runs = _written(messages, order, writing)
    body = runs.body
    items: Items | None = None
    if read is not None or came_otherwise(messages, writing.endpoint):
        items = Items(messages, "messages", writing)
        body = items.settled(runs.body, runs.of, read)
    if read is None and (writing.legacy or items is not None) and any(map(_lacks_an_id, body)):
        found = messages_from_wire(body, Reading(writing.endpoint, NamedIds()))
        if not are_paired(found, [messages[position] for position in order]):
            meant = [position for position in order if messages[position]["role"] in _WITH_CALLS]
            wires = [wire for wire in body if wire["role"] in _WIRES_WITH_CALLS]
            without_ids = {position for position, wire in zip(meant, wires, strict=True) if _lacks_an_id(wire)}
            writing.begin_with_ids(before, marks)
            runs = _written(messages, order, writing)
            body = runs.body if items is None else items.put_back(runs.body, runs.of, without_ids)
    return [*system, *body] if system else body


def _written(messages: list[Message], order: Order, writing: Writing) -> "_Runs":
    """Write the messages by the rules of the wire."""
    writing.moved = frozenset([position for position, _ in moves_behind(order, messages)])
    runs = _Runs(writing)
    for position in order:
        message = messages[position]
        role: str = message["role"]
        if runs.waiting and role != "tool" and position not in writing.moved:
            runs.close(message, position)
        plain = None if runs.moved else plain_message(message)
        if plain is not None:
            wire = plain
        elif role == "assistant":
            wire = assistant_to_wire(message, position, writing)
        elif role == "tool":
            wire = _tool_to_wire(message, position, writing, runs)
        else:
            wire = _plain_to_wire(message, position, writing, runs)
        runs.body.append(wire)
        runs.of.append((position,) if runs.first < 0 or runs.first == position else (runs.first, position))
        if not runs.waiting:
            runs.first = -1
    if runs.waiting:
        runs.close(None, len(messages))
    last: Wire = runs.body[-1] if runs.body else {}
    if last.get("role") == "assistant" and not writing.same(PREFILL) and CALLS not in last:
        runs.body[-1] = _begun(last, order[-1], writing)
    report_moves(order, messages, writing)
    runs.report()
    return runs


_WITH_CALLS: Final = ("assistant", "tool")
_WIRES_WITH_CALLS: Final = (*_WITH_CALLS, "function")


def _lacks_an_id(wire: Wire) -> bool:
    """Whether a message has a call or a result without an id. The reader pairs these by another rule."""
    role = wire["role"]
    if role == "tool":
        return type(wire.get("tool_call_id")) is not str
    if role != "assistant":
        return bool(role == "function")
    for call in wire.get(CALLS) or ():
        if type(call.get("id")) is not str:
            return True
    return "function_call" in wire


def _begun(wire: Wire, position: int, writing: Writing) -> Wire:
    """Return the last message, marked as a prefill where the provider refuses it without the mark."""
    if not writing.dialect.get("prefix"):
        report_prefill(position, writing)
    elif "prefix" not in wire:
        path = ("messages", position, "provider_state", "fields", "prefix")
        message = "the provider accepts a last message of the model only as a prefill"
        writing.loss.replace(path, True, "required_default", "representation", message)
        return {**wire, "prefix": True}
    return wire


class _Runs:
    """The messages written so far; `of` holds the positions of the canonical messages from which each was written.
    Media of results that a tool message cannot hold wait for the next user message. `fits`: whether each result without
    an id can be written without one."""

    __slots__ = ("_count", "_entries", "body", "first", "fits", "moved", "of", "waiting", "writing")

    def __init__(self, writing: Writing) -> None:
        self.writing = writing
        self.body: list[Wire] = []
        self.of: list[tuple[int, ...]] = []
        self.fits = True
        self._entries: list[tuple[Path, Path, str]] = []
        self.waiting: list[tuple[Path, str, Wire]] = []
        self.moved: list[Wire] = []
        self.first = -1  # the first result with waiting media: the messages from here on belong together
        self._count = 0

    def take(self, path: Path, kind: str, part: Wire) -> Wire:
        """Take a medium and return the text that replaces it."""
        if not self.waiting:
            self.first = int(path[1])
        self._count += 1
        left = {"type": "text", "text": f"[{kind} {self._count}: see the next user message]"}
        self.waiting.append((path, left["text"], part))
        return left

    def close(self, following: Message | None, position: int) -> None:
        """End a run of results: put the media at the start of the user message that follows, or into a new one."""
        joins = following is not None and following["role"] == USER and following["content"]
        to: Path = ("messages", position, "content", 0) if joins else ("messages", position)
        self._entries += [(path, to, left) for path, left, _ in self.waiting]
        parts = [part for _, _, part in self.waiting]
        if joins:
            self.moved = parts
        else:
            self.body.append({"role": "user", "content": parts})
            self.of.append((self.first, self.of[-1][-1]))
            self.first = -1
        self.waiting = []
        self._count = 0

    def report(self) -> None:
        """Report the media that were moved."""
        for path, to, left in self._entries:
            message = "a tool message contains only text: the medium is sent in the next user message"
            value = {"type": "text", "text": left}
            self.writing.loss.move(path, to, "media_moved", "weakened", message, left=value)


def _without_those_of_the_model(message: Message, path: Path, writing: Writing) -> Message:
    """Return a message of another role without the provider's members that only a turn of the model has."""
    state = writing.state_of(message)
    fields = state.get("fields") or NOTHING
    if OF_THE_MODEL.isdisjoint(fields):
        return message
    for name in fields:
        if name in OF_THE_MODEL:
            at = (*path, "provider_state", "fields", name)
            writing.loss.drop(at, "unsupported_field", "weakened", "only a turn of the model has this member")
    left = {name: value for name, value in fields.items() if name not in OF_THE_MODEL}
    return {**message, "provider_state": {**state, "fields": left}}


def _plain_to_wire(message: Message, position: int, writing: Writing, runs: _Runs) -> Wire:
    role, content = message["role"], message["content"]
    bare = len(message) == 2 or is_bare(message)
    path: Path = ("messages", position)
    if writing.dialect.get("developer_role") is False:
        role = fold_role(message["role"], path, writing)
    refuse_calls(content, path, writing)
    written = content_to_wire(content, (*path, "content"), writing, USER if role == USER else SYSTEM)
    if runs.moved:
        parts: list[Wire] = [{"type": "text", "text": written}] if isinstance(written, str) else written or []
        written, runs.moved = runs.moved + parts, []
    wire: Wire = {"role": role, "content": writing.fill((*path, "content")) if written is None else written}
    return wire if bare else finish_message(_without_those_of_the_model(message, path, writing), wire, path, writing)


def _tool_to_wire(message: Message, position: int, writing: Writing, runs: _Runs) -> Wire:
    block = result_of(message, ("messages", position), NAME)
    bare = is_bare(message)
    answered = block["tool_use_id"]
    called = writing.legacy.get(answered)  # the call was written without an id, so the result has only its name
    if bare and len(block) == 3 and called is None and not writing.encoding_of(message).get("named"):
        content: list[Block] = block["content"]
        if len(content) == 1 and len(content[0]) == 2 and content[0]["type"] == "text":
            text: str = content[0]["text"]
            if not text.startswith(MARK):
                return {"role": "tool", "tool_call_id": writing.result_id(block), "content": text}
    path: Path = ("messages", position, "content", 0)
    if called is not None:
        wire: Wire = {"role": "function", "name": called}
    else:
        wire = {"role": "tool", "tool_call_id": writing.result_id(block)}
        if writing.encoding_of(message).get("named") and answered in writing.called:
            wire["name"] = writing.called[answered]
    written = as_content(_result_content(block, path, writing, runs))
    if called is not None and type(written) is list:
        runs.fits = False
    wire["content"] = written
    if len(block) > 3:
        report_rest(block, OF_RESULT, writing, path)
    return wire if bare else finish_message(message, wire, ("messages", position), writing)


def _result_content(block: Block, path: Path, writing: Writing, runs: _Runs) -> list[Wire]:
    parts: list[Wire] = []
    for index, inner in enumerate(block["content"]):
        if inner["type"] == "text" and len(inner) == 2:
            parts.append({"type": "text", "text": inner["text"]})
            continue
        where = (*path, "content", index)
        native = inner["type"] == "image" and writing.dialect.get("tool_result_media")
        # a result that was moved itself cannot have its media moved as well
        moves = inner["type"] in _MEDIA and not native and path[1] not in writing.moved
        part = writing.or_placeholder(part_to_wire, inner, USER if moves else TOOL, where)
        if part is not None and moves and part["type"] != "text":
            part = runs.take(where, inner["type"], part)
        if part is not None:
            parts.append(part)
    return result_parts(block, parts, "text", path, writing)


_MEDIA: Final = ("image", "audio", "video", "document")


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """Read all messages. Raises `InvalidWire` with the pointer of the message that cannot be read."""
    return read_messages(messages, message_from_wire, reading)


def message_from_wire(message: Wire, reading: Reading) -> Message:
    """Read a message by its role."""
    role: str = message["role"]
    if role == "assistant":
        return assistant_from_wire(message, reading)
    if role == "tool" or role == "function":
        return _tool_from_wire(message, reading)
    if role not in ("user", "system", "developer"):
        raise ValueError(role)
    content = message.get("content")
    if len(message) == 2 and type(content) is str:
        return {"role": role, "content": [{"type": "text", "text": content}]}
    if role == "developer" and reading.endpoint.dialect.get("developer_role") is False:
        reading.must_compare = True
    read: Message = {"role": role, "content": content_from_wire(message, reading)}
    return finish_reading(message, read, _PLAIN, Kept(), reading, _form_of(content, reading))


def _form_of(content: Any, reading: Reading) -> dict[str, Any] | None:
    """Return the spelling of a content that the writer would spell in another way."""
    text = lone_text(content)
    if text == "":
        reading.must_compare = True
    return {"word": LIST} if text else None


_PLAIN: Final = frozenset(("role", "content", "name"))
_TOOL: Final = frozenset(("role", "content", "tool_call_id"))


def _tool_from_wire(message: Wire, reading: Reading) -> Message:
    content, wire_id, name = message.get("content"), message.get("tool_call_id"), message.get("name")
    if len(message) == 3 and type(content) is str and type(wire_id) is str and message["role"] == "tool":
        wire_id = wire_id or None  # most results
        call = reading.take_call(wire_id)
        reading.must_compare = reading.must_compare or wire_id is None
        return result_message(call, [{"type": "text", "text": content}], reading, wire_id)
    kept, known = Kept(), _TOOL
    legacy, called_by = message["role"] == "function", name if isinstance(name, str) else None
    if legacy or not isinstance(wire_id, str) or not wire_id:
        reading.must_compare = True
        wire_id = None
    call = reading.take_call(wire_id, called_by)
    if called_by is not None and (legacy or reading.calls.get(call, ("", ""))[1] == called_by):
        # the call has the name already
        kept.places = {} if legacy else {"named": True}
        known = _NAMED_TOOL
    blocks = content_from_wire(message, reading)
    read = result_message(call, blocks, reading, wire_id)
    return finish_reading(message, read, known, kept, reading, _form_of(content, reading))


_NAMED_TOOL: Final = _TOOL | {"name"}
