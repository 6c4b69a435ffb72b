"""
Messages both ways: canonical messages are turns of five roles, wire messages are turns of a user and an assistant.

Reading: each tool result is a message of role tool, the other blocks of a user message are messages of role user.
Writing: results follow their calls directly and in the order of the calls, neighbours of one role are one turn,
instructions stand in `system`, in a native system message, or marked in a user turn.
"""

from typing import Any, Final

from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.turns import before_answer, check_prefill, marked, says_something
from interlingua.adapters._claude.values import (
    ASSISTANT,
    INSTRUCTIONS,
    SYSTEM,
    THINKING_TYPES,
    UNMARKED_TYPES,
    UNREADABLE,
    USER,
)
from interlingua.adapters._kit import MESSAGE_MEMBERS, Wire, report_foreign_state, report_unknown, within
from interlingua.adapters._order import PLAIN, arranged, surveyed
from interlingua.adapters.anthropic_messages.blocks import (
    block_from_wire,
    blocks_from_wire,
    blocks_to_wire,
    result_from_wire,
    result_to_wire,
)
from interlingua.adapters.anthropic_messages.items import is_server_item
from interlingua.adapters.anthropic_messages.state import replayed
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
EMPTY_TURN: Final = "the target takes no empty turn"

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(system: Any, reading: Reading) -> Message:
    """The `system` member as the first message."""
    message = _plain_from_wire("system", system, reading, ("system",))
    reading.unusual = reading.unusual or any(block["type"] != "text" for block in message["content"])
    return message


def messages_from_wire(wires: list[Any], reading: Reading, messages: list[Message]) -> None:
    """Appends what the wire messages hold."""
    previous = None
    for position, wire in enumerate(wires):
        first = len(messages)
        if type(wire) is not dict or type(role := wire.get("role")) is not str:
            raise InvalidWire("a message must be an object with a role", path=pointer(("messages", position)))
        if role == "user":
            _user_from_wire(wire.get("content"), reading, messages, position)
            if reading.open:
                reading.unusual = True
        elif role == "assistant":
            reading.pictures = False
            messages.append(_plain_from_wire(role, wire.get("content"), reading, ("messages", position, "content")))
            if reading.pictures or _ends_in_thinking(messages[-1]["content"]):
                reading.unusual = True
        elif role == "system":
            reading.unusual = True
            messages.append(_plain_from_wire(role, wire.get("content"), reading, ("messages", position, "content")))
            _form(messages[-1], reading)["in_messages"] = True
        else:
            where = pointer(("messages", position, "role"))
            raise InvalidWire("the role must be user, assistant or system", path=where)
        if role == previous:
            _form(messages[first], reading)["start"] = True
        if len(wire) > 2:
            _message_extras(wire, messages[first], reading)
        previous = role


def _ends_in_thinking(blocks: list[Any]) -> bool:
    return bool(blocks) and blocks[-1]["type"] in THINKING_TYPES


def _state(message: Message, reading: Reading) -> dict[str, Any]:
    return message.setdefault("provider_state", reading.state())


def _form(message: Message, reading: Reading) -> dict[str, Any]:
    return _state(message, reading).setdefault("form", {})


def _message_extras(wire: Wire, message: Message, reading: Reading) -> None:
    fields: dict[str, Any] = {}
    for name, value in wire.items():
        if name in ("role", "content"):
            continue
        if value is None:
            _form(message, reading).setdefault("null", []).append(name)
        else:
            fields[name] = value
    if fields:
        _state(message, reading)["fields"] = fields
        reading.unusual = True


def _plain_from_wire(role: str, content: Any, reading: Reading, path: Path) -> Message:
    """A message whose blocks stay together: instructions or an answer."""
    if type(content) is list:
        blocks = blocks_from_wire(content, reading, path)
        if blocks:
            return {"role": role, "content": blocks}
        return {"role": role, "content": [], "provider_state": reading.state(form={"blank": True})}
    if type(content) is str:
        block = block_from_wire({"type": "text", "text": content}, reading)
        return {"role": role, "content": [block], "provider_state": reading.state(form={"string": True})}
    raise InvalidWire("content must be a string or a list of blocks", path=pointer(path))


def _user_from_wire(content: Any, reading: Reading, messages: list[Message], position: int) -> None:
    if type(content) is not list or not content:
        messages.append(_plain_from_wire("user", content, reading, ("messages", position, "content")))
        return
    run: list[Any] | None = None
    index = -1
    try:
        for block in content:
            index += 1
            kind = block["type"]
            if kind == "tool_result":
                if run is not None:
                    reading.unusual = True
                    run = None
                result = result_from_wire(block, reading)
                metadata = {"parent_tool_use_id": result["tool_use_id"]}
                messages.append({"role": "tool", "content": [result], "metadata": metadata})
                continue
            if run is None:
                run = []
                messages.append({"role": "user", "content": run})
            if kind != "text" and kind != "image":
                reading.unusual = True
            run.append(block_from_wire(block, reading))
    except UNREADABLE as problem:
        raise reading.unreadable("a block", ("messages", position, "content", index)) from problem


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `system` and `messages`."""
    messages: list[Message] = request["messages"]
    if not messages and not writing.keeps("messages"):
        raise InvalidRequest("a conversation needs at least one message", path="/messages")
    position = 0
    try:
        first = _leading_to_wire(request, messages, body, writing)
        in_order, plain = surveyed(messages, first)
        if in_order and plain:
            body["messages"] = _plain_turns(messages, first, writing)
            return
        order: range | list[int] = range(first, len(messages))
        if not in_order:
            order, moves = arranged(messages, first, writing.oddities(messages))
            message = "results follow their calls directly, in the order of the calls"
            writing.moves += [(source, before, "reordered", message, None) for source, before in moves]
        turns = _Turns(messages, order, writing)
        for at, position in enumerate(order):
            turns.add(at, position)
    except UNREADABLE as problem:
        raise InvalidRequest(
            "the message lacks a member or has one of a wrong type", path=pointer(("messages", position))
        ) from problem
    body["messages"] = turns.done()


# ------------------------------------------------------------------------------------------ leading instructions


def _leading_to_wire(request: dict[str, Any], messages: list[Message], body: Wire, writing: Writing) -> int:
    """Writes `system` from the request's own instructions and the messages before all others; gives their number."""
    count = _leading(messages, writing)
    blocks: list[Wire] = []
    anchor: Path | None = None
    if request.get("system"):
        anchor = ("system",)
        blocks = blocks_to_wire(request["system"], SYSTEM, writing, anchor)
    for position in range(count):
        message, path = messages[position], ("messages", position)
        found = blocks_to_wire(message["content"], SYSTEM, writing, (*path, "content"))
        _message_members(message, found, writing, path)
        if message["role"] == "developer":
            writing.loss.replace((*path, "role"), "system", "role_folded", "shape", "instructions have one role here")
        if anchor is None:
            anchor = path
        else:
            writing.merges.append((path, anchor))
        blocks.extend(found)
    if blocks:
        body["system"] = blocks
        if count == 1 and len(blocks) == 1 and writing.form_of(messages[0]).get("string") and _is_plain(blocks[0]):
            body["system"] = blocks[0]["text"]
    elif count and writing.form_of(messages[0]).get("blank"):
        body["system"] = []
    elif count:
        _drop_leading(count, writing)
    return count


def _leading(messages: list[Message], writing: Writing) -> int:
    count = 0
    for message in messages:
        if message["role"] not in INSTRUCTIONS or writing.form_of(message).get("in_messages"):
            break
        count += 1
    # instructions alone are no conversation: the last of them is said by the user
    return count - 1 if count == len(messages) and count and not writing.keeps("messages") else count


def _drop_leading(count: int, writing: Writing) -> None:
    writing.merges.clear()
    for position in range(count):
        writing.loss.drop(("messages", position), "empty_content", "shape", "the instructions hold no text")


def _is_plain(block: Wire) -> bool:
    return len(block) == 2 and block["type"] == "text"


# ------------------------------------------------------------------------------------------ turns


def _plain_turns(messages: list[Message], first: int, writing: Writing) -> list[Wire]:
    """The wire messages of a conversation that is in order: what `_Turns` does, without its cases."""
    wires: list[Wire] = []
    content: list[Wire] = []
    previous = ""
    last = len(messages) - 1
    for position in range(first, len(messages)):
        message = messages[position]
        role = message["role"]
        if role == "tool":
            result = result_to_wire(message["content"][0], writing, ("messages", position, "content", 0))
            if previous == "tool":
                content.append(result)
            else:
                content = [result]
                wires.append({"role": USER, "content": content})
        elif role == "user" and previous == "tool":
            found = blocks_to_wire(message["content"], USER, writing, ("messages", position, "content"))
            content += found
            if not found:
                writing.drop_message(("messages", position))
        else:
            if role == "assistant":
                writing.message = message
                writing.next_turn()
            blocks = message["content"]
            block = blocks[0] if len(blocks) == 1 else {}
            if len(block) == 2 and block["type"] == "text" and (text := block["text"]) and not text.isspace():
                wires.append({"role": role, "content": (content := [{"type": "text", "text": text}])})
                previous = role  # most messages are one plain text, and not worth a call
                continue
            content = blocks_to_wire(blocks, role, writing, ("messages", position, "content"))
            if role == "assistant" and content and content[-1]["type"] in THINKING_TYPES:
                _trim_thinking(message["content"], content, ("messages", position), writing)
            if not content and not (role == "assistant" and position == last):
                content = writing.filler(("messages", position, "content"), EMPTY_TURN)
            wires.append({"role": role, "content": content})
        previous = role
    if previous == "assistant":
        _settle_prefill(messages[last]["content"], content, last, writing)
    return wires


class _Turns:
    """Puts messages together to wire messages."""

    __slots__ = (
        "anchor",
        "anchor_role",
        "blank",
        "content",
        "members",
        "messages",
        "order",
        "speaker",
        "spoke",
        "string",
        "wires",
        "writing",
    )

    def __init__(self, messages: list[Message], order: "range | list[int]", writing: Writing) -> None:
        self.messages = messages
        self.order = order
        self.writing = writing
        self.wires: list[Wire] = []
        self.speaker = ""  # of the open wire message
        self.content: list[Wire] = []  # of the open wire message
        self.anchor: Path | None = None  # the canonical message that neighbours are merged into
        self.anchor_role = ""
        self.string = False  # the open wire message was spelt as a string
        self.blank = False  # the open wire message came without content
        self.members: Message | None = None  # whose verbatim members the open wire message gets
        self.spoke = 0  # the last message of the model

    def add(self, at: int, position: int) -> None:
        """Writes one message."""
        writing, message = self.writing, self.messages[position]
        path: Path = ("messages", position)
        role, blocks = message["role"], message["content"]
        if role == "assistant":
            writing.message = message
            self.spoke = position
            if self.speaker != ASSISTANT or "provider_state" in message:
                self._turn(ASSISTANT, message)
            content = blocks_to_wire(blocks, ASSISTANT, writing, ("messages", position, "content"))
            if content and content[-1]["type"] in THINKING_TYPES:
                _trim_thinking(blocks, content, path, writing)
        elif role == "tool":
            if self.speaker != USER or "provider_state" in message:
                self._turn(USER, message)
            content = [result_to_wire(blocks[0], writing, ("messages", position, "content", 0))]
        elif role == "user":
            if self.speaker != USER or "provider_state" in message:
                self._turn(USER, message)
            content = blocks_to_wire(blocks, USER, writing, ("messages", position, "content"))
        elif says_something(message, writing):
            role, content = self._instructions(at, message, path)
        else:
            writing.drop_message(path)
            return
        if len(message) > 2 and not within(message, PLAIN):
            _message_members(message, content, writing, path)
        if role == "tool" and not self.content and self.anchor is not None:
            self._leave(self.anchor)
        if self.anchor is None:
            self.content, self.anchor, self.anchor_role = content, path, role
            if "provider_state" in message:
                self._spelt(message)
        else:
            self._join(role, content, path)

    def _turn(self, speaker: str, message: Message) -> None:
        """Closes the wire message before, unless this one continues it."""
        if speaker == self.speaker and not ("provider_state" in message and self._begins(message["provider_state"])):
            return
        if self.content and self.members is None:
            self.wires.append({"role": self.speaker, "content": self.content})
        else:
            self._close()
        if speaker == ASSISTANT:
            self.writing.next_turn()
        self.speaker, self.anchor, self.content = speaker, None, []

    def _begins(self, state: dict[str, Any]) -> bool:
        """Whether a message of this wire was a wire message of its own beside a neighbour of its role."""
        return self.writing.endpoint.owns(state) and bool(state.get("fields") or (state.get("form") or {}).get("start"))

    def _spelt(self, message: Message) -> None:
        state = message["provider_state"]
        if self.writing.endpoint.owns(state):
            form = state.get("form") or {}
            self.string, self.blank = form.get("string", False), self.writing.own and form.get("blank", False)
            self.members = message

    def _leave(self, anchor: Path) -> None:
        """An edit left nothing of what stands before a result in its wire message, which the result begins now."""
        self.writing.drop_merged(anchor)
        self.anchor = self.members = None
        self.string = self.blank = False

    def _join(self, role: str, content: list[Wire], path: Path) -> None:
        """Adds a message to the open wire message."""
        if role == self.anchor_role != "tool":
            self.writing.merges.append((path, self.anchor or ()))
        elif content:
            self.anchor, self.anchor_role = path, role
        else:
            self.writing.drop_message(path)
        self.content += content

    def _close(self, last: bool = False) -> None:
        if not self.speaker:
            return
        content: Any = self.content
        wire = {"role": self.speaker, "content": content}
        self.wires.append(wire)
        if not content:
            if not self.blank and not (last and self.speaker == ASSISTANT):
                wire["content"] = self.writing.filler((*(self.anchor or ()), "content"), EMPTY_TURN)
        elif self.string and len(content) == 1 and _is_plain(content[0]):
            wire["content"] = content[0]["text"]
        if self.members is not None:
            replayed(self.members["provider_state"], wire, self.writing, self.anchor or ())
            self.members = None
            self.string = self.blank = False

    def done(self) -> list[Wire]:
        """The wire messages."""
        if self.speaker == ASSISTANT:
            _settle_prefill(self.messages[self.spoke]["content"], self.content, self.spoke, self.writing)
        self._close(last=True)
        if not self.wires and not self.writing.keeps("messages"):
            raise InvalidRequest("a conversation needs a message with content", path="/messages")
        return self.wires

    # -------------------------------------------------------------------------------------- instructions

    def _instructions(self, at: int, message: Message, path: Path) -> tuple[str, list[Wire]]:
        """Instructions inside the conversation: native where they may stand, else marked in a user turn."""
        writing = self.writing
        where = (*path, "content")
        given = writing.form_of(message).get("in_messages") and not writing.lacks("system_in_messages")
        native = given or self.speaker == SYSTEM or writing.capabilities.get("system_in_messages")
        if (given and writing.is_odd(message)) or (native and self._may_stand(at)):
            if message["role"] == "developer":
                writing.loss.replace((*path, "role"), "system", "role_folded", "shape", "instructions have one role")
            self._turn(SYSTEM, message)
            return SYSTEM, blocks_to_wire(message["content"], SYSTEM, writing, where)
        self._turn(USER, message)
        return USER, blocks_to_wire(marked(message, writing, path), USER, writing, where)

    def _may_stand(self, at: int) -> bool:
        """Whether a system message may stand here: after a user turn, and last or before an answer."""
        after_server_tool = (
            self.speaker == ASSISTANT and bool(self.content) and is_server_item(self.content[-1]["type"])
        )
        if self.speaker not in (USER, SYSTEM) and not after_server_tool:
            return False
        return before_answer(self.messages, self.order[at + 1 :])


# ------------------------------------------------------------------------------------------ reasoning, prefill


def _trim_thinking(blocks: list[Any], content: list[Wire], path: Path, writing: Writing) -> None:
    """A turn that ends in reasoning is refused when it comes back."""
    written = [index for index, block in enumerate(blocks) if can_replay(block, writing) or writing.is_odd(block)]
    while content and written and content[-1]["type"] in THINKING_TYPES and not writing.is_odd(blocks[written[-1]]):
        content.pop()
        index = written.pop()
        text = writing.loss.block(
            (*path, "content", index),
            blocks[index],
            "unsupported_block",
            "lost",
            "a turn that ends in reasoning is not taken back",
        )
        if text is not None:
            content.append(dict(text))


def _settle_prefill(blocks: list[Any], content: list[Wire], position: int, writing: Writing) -> None:
    """The answer is to continue the last message: it may not end in white space."""
    check_prefill(position, writing)
    for index in range(len(blocks) - 1, -1, -1):
        if not content or blocks[index]["type"] != "text" or content[-1]["type"] != "text":
            return
        if writing.is_odd(blocks[index]):
            return
        text: str = blocks[index]["text"]
        stripped = text.rstrip()
        if not text or content[-1]["text"] != text or stripped == text:
            return
        where = ("messages", position, "content", index)
        message = "an answer that is to be continued may not end in white space"
        if stripped:
            content[-1]["text"] = stripped
            writing.loss.replace((*where, "text"), stripped, "empty_content", "shape", message)
            return
        writing.unmark(content.pop())
        writing.loss.drop(where, "empty_content", "shape", message)


# ------------------------------------------------------------------------------------------ members of a message


def _message_members(message: Message, content: list[Wire], writing: Writing, path: Path) -> None:
    """What a message holds beside role and content."""
    if not message.keys() <= MESSAGE_MEMBERS:
        report_unknown(message, MESSAGE_MEMBERS, writing.loss, path)
    if "name" in message:
        writing.loss.drop((*path, "name"), "unsupported_field", "weakened", "the wire has no names of participants")
    if "provider_state" in message:
        report_foreign_state(message, writing.endpoint, writing.loss, path)
    if "cache" in message:
        _message_cache(message, content, writing, path)


def _message_cache(message: Message, content: list[Wire], writing: Writing, path: Path) -> None:
    """A mark on a message stands on its last block."""
    last = len(message["content"]) - 1
    if (
        last >= 0
        and len(content) == last + 1
        and "cache_control" not in content[last]
        and message["content"][last]["type"] not in UNMARKED_TYPES
    ):
        writing.mark(content[last], message["cache"], path, (*path, "content", last, "cache"))
    else:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "there is no block here that takes the mark")
