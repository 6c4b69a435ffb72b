"""Messages, by their role: `messages_to_wire` above `messages_from_wire`; assistant messages are in `turns`."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._as_read import PREFILL
from interlingua.adapters._envelope import MARK, envelop, open_envelope
from interlingua.adapters._kit import (
    NOTHING,
    RESULT_MEMBERS,
    Wire,
    malformed,
    report_foreign_state,
    report_own_state,
    report_unknown,
)
from interlingua.adapters._openai_members import report_prefill
from interlingua.adapters._order import MESSAGE, Wanted, arranged, moves_behind, note_disorder, result_of
from interlingua.adapters.openai_chat.parts import (
    SYSTEM,
    TOOL,
    USER,
    Block,
    content_from_wire,
    content_to_wire,
    filled,
    finish_message,
    finish_reading,
    part_to_wire,
    spelt,
    write_emptiness,
)
from interlingua.adapters.openai_chat.tables import NAME, Reading, Writing
from interlingua.adapters.openai_chat.tools import CALLS
from interlingua.adapters.openai_chat.turns import OF_THE_MODEL, assistant_from_wire, assistant_to_wire
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Path

Message = dict[str, Any]
Request = dict[str, Any]

_RESULTS: Final = Wanted(MESSAGE)


def messages_to_wire(request: Request, writing: Writing) -> list[Wire]:
    """All messages, in the order that the wire demands: results directly after their calls.

    Raises `InvalidRequest` for a conversation that no order makes valid.
    """
    messages: list[Message] = request["messages"]
    body: list[Wire] = []
    if request.get("system"):
        content = content_to_wire(request["system"], ("system",), writing, SYSTEM, NOTHING)
        if content is not None:
            body.append({"role": "system", "content": content})
    order = arranged(messages, _RESULTS, writing)
    moves = moves_behind(order, messages)
    writing.moved = frozenset([position for position, _ in moves])
    writing.order = [messages[position] for position in order] if moves else messages
    runs = _Runs(writing)
    for position in order:
        message = messages[position]
        role = message["role"]
        if runs.waiting and role != "tool" and position not in writing.moved:
            runs.close(body, message, position)
        if role == "assistant":
            body.append(assistant_to_wire(message, position, writing, request))
        elif role == "tool":
            body.append(_tool_to_wire(message, position, writing, runs))
        else:
            body.append(_plain_to_wire(message, position, writing, runs))
    if runs.waiting:
        runs.close(body, None, len(messages))
    if body and body[-1]["role"] == "assistant" and not writing.same(PREFILL) and CALLS not in body[-1]:
        _begun(body[-1], order[-1], writing)
    # last of all: what an entry names must still stand in its place
    for position, to in moves:
        writing.loss.move(("messages", position), ("messages", to), "reordered", "representation", _RESULTS.why)
    runs.report()
    return body


def _begun(wire: Wire, position: int, writing: Writing) -> None:
    """Marks the last message as an answer that was begun, where the provider refuses it otherwise."""
    if not writing.dialect.get("prefix"):
        report_prefill(position, writing)
    elif "prefix" not in wire:
        wire["prefix"] = True
        path = ("messages", position, "provider_state", "fields", "prefix")
        message = "the provider takes a last message of the model only as the beginning of its answer"
        writing.loss.replace(path, True, "required_default", "representation", message)


class _Runs:
    """The results of one turn: media that a tool message cannot hold wait here for the next user message."""

    __slots__ = ("_count", "_entries", "moved", "waiting", "writing")

    def __init__(self, writing: Writing) -> None:
        self.writing = writing
        self._entries: list[tuple[Path, Path, str]] = []
        self.waiting: list[tuple[Path, str, Wire]] = []
        self.moved: list[Wire] = []
        self._count = 0

    def add(self, path: Path, kind: str, part: Wire) -> Wire:
        """Takes a medium; gives the text that stands in its place."""
        self._count += 1
        left = {"type": "text", "text": f"[{kind} {self._count}: see the next user message]"}
        self.waiting.append((path, left["text"], part))
        return left

    def close(self, body: list[Wire], following: Message | None, position: int) -> None:
        """The run of results has ended: the media go to the start of the user message that follows, or to one of their own."""
        joins = following is not None and following["role"] == USER and following["content"]
        to: Path = ("messages", position, "content", 0) if joins else ("messages", position)
        self._entries += [(path, to, left) for path, left, _ in self.waiting]
        parts = [part for _, _, part in self.waiting]
        if joins:
            self.moved = parts
        else:
            body.append({"role": "user", "content": parts})
        self.waiting = []
        self._count = 0

    def report(self) -> None:
        """Reports what was moved."""
        for path, to, left in self._entries:
            message = "a tool message holds text alone: the medium travels in the next user message"
            value = {"type": "text", "text": left}
            self.writing.loss.move(path, to, "media_moved", "weakened", message, left=value)


def _own_state(message: Message, role: str, path: Path, writing: Writing) -> Mapping[str, Any]:
    """The own state of a message of this role. What was said in another one, as which an edit found it, is not said again:
    emptiness, and the members that a turn of the model alone has."""
    state = writing.owned(message)
    encoding = state.get("encoding") or NOTHING
    if not state or encoding.get("said_by") == role:
        return state
    fields = state.get("fields") or NOTHING
    for name in fields:
        if name in OF_THE_MODEL:
            at = (*path, "provider_state", "fields", name)
            writing.loss.drop(at, "unsupported_field", "weakened", "a turn of the model alone has this member")
    kept = {name: value for name, value in fields.items() if name not in OF_THE_MODEL}
    spelling = {name: value for name, value in encoding.items() if name not in ("empty", "absent")}
    return {**state, "fields": kept, "encoding": spelling}


def _plain_to_wire(message: Message, position: int, writing: Writing, runs: _Runs) -> Wire:
    role, content = message["role"], message["content"]
    if len(message) == 2 and len(content) == 1 and len(content[0]) == 2 and not runs.moved and role != "developer":
        block = content[0]
        if block["type"] == "text":
            return {"role": role, "content": block["text"]}
    path: Path = ("messages", position)
    if role == "developer" and writing.dialect.get("developer_role") is False and not writing.same_origin:
        role = "system"
        writing.loss.replace(
            (*path, "role"), role, "role_folded", "representation", "the provider knows no developer role"
        )
    _refuse_results(content, path)
    state = _own_state(message, role, path, writing)
    written = content_to_wire(
        content, (*path, "content"), writing, USER if role == USER else SYSTEM, state.get("encoding") or NOTHING
    )
    if runs.moved:
        parts: list[Wire] = [{"type": "text", "text": written}] if isinstance(written, str) else written or []
        written, runs.moved = runs.moved + parts, []
    wire: Wire = {"role": role}
    if written is not None:
        wire["content"] = written
    elif not write_emptiness(wire, content, state):
        wire["content"] = filled(path, writing)
    return wire if len(message) == 2 else finish_message(message, wire, state, path, writing)


def _refuse_results(content: list[Block], path: Path) -> None:
    for index, block in enumerate(content):
        if block["type"] in ("tool_use", "tool_result"):
            raise InvalidRequest(
                f"a {block['type']} does not stand in a message of this role",
                path=f"/messages/{path[1]}/content/{index}",
                adapter=NAME,
            )


def _tool_to_wire(message: Message, position: int, writing: Writing, runs: _Runs) -> Wire:
    block = result_of(message, ("messages", position), NAME)
    trivial = len(message) == 2 or (len(message) == 3 and "metadata" in message)
    answered = block["tool_use_id"]
    called = writing.legacy.get(answered)  # by its name alone: the call was told without an id
    if trivial and len(block) == 3 and called is None:
        content = block["content"]
        if len(content) == 1 and content[0]["type"] == "text" and len(content[0]) == 2:
            text = content[0]["text"]
            if not text.startswith(MARK):
                return {"role": "tool", "tool_call_id": writing.result_id(block), "content": text}
    path: Path = ("messages", position, "content", 0)
    state = writing.owned(message)
    encoding = state.get("encoding") or NOTHING
    name = encoding.get("name")
    if called is not None:
        wire: Wire = {"role": "function", "name": called}
    elif writing.same_origin and encoding.get("legacy") and answered not in writing.called:
        wire = {"role": "function"} if name is None else {"role": "function", "name": name}
    else:
        wire = {"role": "tool", "tool_call_id": writing.result_id(block)}
        if name is not None and writing.called.get(answered) == name:
            wire["name"] = name
        if "tool_call_id" in encoding.get("absent", ()) and not writing.needs_id(answered):
            del wire["tool_call_id"]
    content = _result_content(block, path, writing, runs, encoding)
    written = spelt(content, encoding)
    if written is not None:
        wire["content"] = written
    elif ("legacy" in encoding and wire["role"] == "tool") or not write_emptiness(wire, block["content"], state):
        wire["content"] = ""
        value = [{"type": "text", "text": ""}]
        message_ = "an empty result is written as an empty text"
        writing.loss.replace((*path, "content"), value, "filler", "representation", message_)
    if len(block) > 3:
        _finish_result(block, path, writing)
    return wire if trivial else finish_message(message, wire, state, ("messages", position), writing)


def _finish_result(block: Block, path: Path, writing: Writing) -> None:
    if block.get("cache") is not None:
        message = "the wire marks parts, not results"
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)
    state = block.get("provider_state")
    if state is not None:
        if writing.endpoint.owns(state):
            report_own_state(state, writing.loss, path, fields=True)
        else:
            report_foreign_state(block, writing.endpoint, writing.loss, path)
    report_unknown(block, RESULT_MEMBERS, writing.loss, path)


def _result_content(block: Block, path: Path, writing: Writing, runs: _Runs, encoding: Mapping[str, Any]) -> list[Wire]:
    parts: list[Wire] = []
    for index, inner in enumerate(block["content"]):
        if inner["type"] == "text" and len(inner) == 2:
            parts.append({"type": "text", "text": inner["text"]})
            continue
        where = (*path, "content", index)
        native = inner["type"] == "image" and writing.dialect.get("tool_result_media")
        kept = writing.same_origin and encoding.get("media")
        moves = inner["type"] in _MEDIA and not native and not kept
        # a result that has left its place cannot send its media on from there
        moves = moves and path[1] not in writing.moved
        part = part_to_wire(inner, where, writing, USER if moves or kept else TOOL)
        if part is not None and moves and part["type"] != "text":
            part = runs.add(where, inner["type"], part)
        if part is not None:
            parts.append(part)
    if block.get("is_error"):
        message = "the failure is told in the first line of the result"
        writing.loss.replace((*path, "is_error"), True, "envelope", "representation", message)
    envelop(parts, "text", failed=bool(block.get("is_error")), spelling=encoding.get("envelope"))
    return parts


_MEDIA: Final = ("image", "audio", "video", "document")


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
    note_disorder(read, _RESULTS, reading.state)
    return read


def message_from_wire(message: Wire, reading: Reading) -> Message:
    """A message, by its role."""
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
    encoding: dict[str, Any] = {}
    read: Message = {"role": role, "content": content_from_wire(message, reading, encoding)}
    read = finish_reading(message, read, _PLAIN, None, encoding, reading)
    if "provider_state" in read:
        read["provider_state"].setdefault("encoding", {})["said_by"] = role
    return read


_PLAIN: Final = frozenset(("role", "content", "name"))
_TOOL: Final = frozenset(("role", "content", "tool_call_id"))


def _tool_from_wire(message: Wire, reading: Reading) -> Message:
    content, wire_id = message.get("content"), message.get("tool_call_id")
    if (
        len(message) == 3
        and type(content) is str
        and type(wire_id) is str
        and not content.startswith(MARK)
        and message["role"] == "tool"
    ):
        canonical, paired = reading.result(wire_id)
        result: Block = {
            "type": "tool_result",
            "tool_use_id": canonical,
            "content": [{"type": "text", "text": content}],
        }
        if not (paired and wire_id):
            result["provider_state"] = reading.state(id=wire_id)
        return {"role": "tool", "content": [result], "metadata": {"parent_tool_use_id": canonical}}
    return _odd_tool_from_wire(message, reading)


def _odd_tool_from_wire(message: Wire, reading: Reading) -> Message:
    encoding: dict[str, Any] = {}
    known = _TOOL
    legacy = message["role"] == "function"
    wire_id, name = message.get("tool_call_id"), message.get("name")
    if legacy:
        encoding["legacy"] = True
        canonical, paired = reading.result(f"function:{name}")
    elif isinstance(wire_id, str):
        canonical, paired = reading.result(wire_id)
    else:
        canonical, paired = reading.nameless_result(name if isinstance(name, str) else None), True
        if "tool_call_id" in message:
            encoding["empty"] = {"tool_call_id": wire_id}
        encoding["absent"] = ["tool_call_id"]
    if isinstance(name, str) and (legacy or reading.names.get(canonical) == name):
        # the call tells the name already; it is kept for the spelling alone
        encoding["name"] = name
        known = _NAMED_TOOL
    content = message.get("content")
    if type(content) is str and not content.startswith(MARK):
        blocks: list[Block] = [{"type": "text", "text": content}]
        is_error = False
    else:
        blocks = content_from_wire(message, reading, encoding)
        if any(block["type"] in _MEDIA for block in blocks):
            encoding["media"] = True
        if legacy and isinstance(content, list):
            encoding["parts"] = True
        is_error = open_envelope(blocks, encoding)
    block: Block = {"type": "tool_result", "tool_use_id": canonical, "content": blocks}
    if is_error:
        block["is_error"] = True
    if not (paired and wire_id != "") and not legacy:
        block["provider_state"] = reading.state(id=wire_id)
    read: Message = {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": canonical}}
    return finish_reading(message, read, known, None, encoding, reading)


_NAMED_TOOL: Final = _TOOL | {"name"}
