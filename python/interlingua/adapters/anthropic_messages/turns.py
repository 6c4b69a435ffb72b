"""
Messages both ways: canonical messages are turns of five roles, wire messages are turns of a user and an assistant.

Reading: each tool result is a message of role tool, the other blocks of a user message are messages of role user.
Writing: results follow their calls directly and in the order of the calls, neighbours of one role are one turn,
instructions stand in `system`, in a native system message, or marked in a user turn.
"""

from typing import Any

from interlingua.adapters._as_read import note
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.turns import (
    EMPTY_TURN,
    Turns,
    ends_in_space,
    is_thinking,
    keep_extras,
    settle_prefill,
    trim_thinking,
    user_from_wire,
)
from interlingua.adapters._claude.values import (
    ASSISTANT,
    SYSTEM,
    THINKING_TYPES,
    UNREADABLE,
    USER,
)
from interlingua.adapters._kit import Wire
from interlingua.adapters._spelling import STRING
from interlingua.adapters._verbatim import keep_spelt, keep_word
from interlingua.adapters.anthropic_messages.blocks import (
    block_from_wire,
    blocks_from_wire,
    blocks_to_wire,
    result_from_wire,
    result_to_wire,
)
from interlingua.adapters.anthropic_messages.items import is_server_item, replayed
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(system: Any, reading: Reading) -> Message:
    """The `system` member as the first message."""
    message = _plain_from_wire("system", system or [], reading, ("system",))
    reading.unusual = reading.unusual or any(block["type"] != "text" for block in message["content"])
    return message


def messages_from_wire(wires: list[Any], reading: Reading, messages: list[Message]) -> list[int]:
    """Appends what the wire messages hold; gives the position at which each of them begins."""
    starts: list[int] = []
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
            messages.append(_plain_from_wire(role, wire.get("content"), reading, ("messages", position, "content")))
            if _ends_in_thinking(messages[-1]["content"]):
                reading.unusual = True
        elif role == "system":
            reading.unusual = True
            messages.append(_plain_from_wire(role, wire.get("content"), reading, ("messages", position, "content")))
            note(messages[-1], "in_messages", reading.state)
        else:
            where = pointer(("messages", position, "role"))
            raise InvalidWire("the role must be user, assistant or system", path=where)
        if role == previous:
            note(messages[first], "start", reading.state)
        if len(wire) > 2:
            keep_extras(wire, messages[first], reading)
        starts.append(first)
        previous = role
    if previous == "assistant" and ends_in_space(messages[-1]):
        reading.unusual = True
    return starts


def _ends_in_thinking(blocks: list[Any]) -> bool:
    return bool(blocks) and blocks[-1]["type"] in THINKING_TYPES


def _plain_from_wire(role: str, content: Any, reading: Reading, path: Path) -> Message:
    """A message whose blocks stay together: instructions or an answer."""
    if type(content) is list:
        reading.unusual = reading.unusual or not content
        return {"role": role, "content": blocks_from_wire(content, role, reading, path)}
    if type(content) is str:
        reading.unusual = reading.unusual or not content or content.isspace()
        message = {"role": role, "content": [{"type": "text", "text": content}]}
        keep_word(message, STRING, reading.endpoint)
        return message
    raise InvalidWire("content must be a string or a list of blocks", path=pointer(path))


def _user_from_wire(content: Any, reading: Reading, messages: list[Message], position: int) -> None:
    if type(content) is not list or not content:
        messages.append(_plain_from_wire("user", content, reading, ("messages", position, "content")))
        return
    blocks: list[Any] = []
    strings: list[str] = []  # where results hold a text in the place of a list
    index = -1
    try:
        for block in content:
            index += 1
            if block["type"] == "tool_result":
                blocks.append(result_from_wire(block, reading))
                if type(block.get("content")) is str:
                    strings.append(f"/content/{index}/content")
            else:
                blocks.append(block_from_wire(block, USER, reading))
    except UNREADABLE as problem:
        raise reading.unreadable("a block", ("messages", position, "content", index)) from problem
    first = len(messages)
    user_from_wire(blocks, reading, messages)
    if strings:
        keep_spelt(messages[first], {place: {"word": STRING} for place in strings}, reading.endpoint)


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> Turns[Writing]:
    """Writes `system` and `messages`."""
    turns = _Turns(request["messages"], writing)
    turns.write(request, body)
    return turns


class _Turns(Turns[Writing]):
    """Turns as this wire says them: neighbours of one role may stay apart, an answer that is begun may be empty."""

    def blocks(self, blocks: list[Any], place: str, path: Path) -> list[Wire]:
        return blocks_to_wire(blocks, place, self.writing, path)

    def result(self, block: dict[str, Any], path: Path) -> list[Wire]:
        return [result_to_wire(block, self.writing, path)]

    def system(self, blocks: list[Wire], body: Wire) -> bool:
        if blocks:
            body["system"] = blocks
        return bool(blocks)

    def begins(self, message: Message) -> bool:
        state = message["provider_state"]
        return self.writing.endpoint.owns(state) and bool(
            state.get("fields") or self.writing.encoding_of(message).get("start")
        )

    def close(self) -> None:
        wire: Wire = {"role": self.speaker, "content": self.content}
        self.wires.append(wire)
        if not self.content and not (self.last and self.speaker == ASSISTANT):
            wire["content"] = self.writing.filler((*(self.anchor or ()), "content"), EMPTY_TURN)
        if self.members is not None:
            replayed(self.members["provider_state"], wire, self.writing, self.anchor or ())

    def may_follow(self) -> bool:
        if self.speaker == ASSISTANT:
            return bool(self.content) and is_server_item(self.content[-1]["type"])
        return self.speaker in (USER, SYSTEM)

    def mark(self, content: list[Wire], message: Message, path: Path) -> bool:
        last = len(message["content"]) - 1
        if len(content) != last + 1 or "cache_control" in content[last]:
            return False
        self.writing.mark(content[last], message["cache"], path, (*path, "content", last, "cache"))
        return True

    def plain(self) -> list[Wire]:
        """What `_add` and `close` do, without their cases."""
        messages, writing = self.messages, self.writing
        wires: list[Wire] = []
        content: list[Wire] = []
        previous = ""
        last = len(messages) - 1
        for position in range(self.first, len(messages)):
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
                if role == "assistant" and content and is_thinking(content[-1]):
                    trim_thinking(message["content"], content, ("messages", position), writing)
                if not content and not (role == "assistant" and position == last):
                    content = writing.filler(("messages", position, "content"), EMPTY_TURN)
                wires.append({"role": role, "content": content})
            previous = role
        if previous == "assistant":
            settle_prefill(messages[last]["content"], content, last, writing)
        return wires
