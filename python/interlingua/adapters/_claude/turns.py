"""
Read and write messages of both wires of Anthropic's models. Canonical messages have five roles; wire messages are
turns of a user and an assistant, and instructions.

Reading: each tool result becomes a message of role tool; the other blocks of a user message become messages of role
user. Writing: neighbours of one role become one turn. Instructions inside the conversation are written as a native
system message if the model accepts one (`_history.turns`).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, SYSTEM, THINKING_TYPES, UNMARKED_TYPES, USER, Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._engine.as_read import PREFILL
from interlingua.adapters._engine.kit import note_spelling
from interlingua.adapters._engine.verbatim import Items, keep_spellings, may_differ
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history import turns as _turns
from interlingua.adapters._history.order import INSTRUCTIONS, note_disorder
from interlingua.adapters._history.turns import has_content, messages_of, note_begin, user_messages
from interlingua.canonical.errors import CannotAdapt, InvalidWire
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------- from the wire

Content = Callable[[Any, str, Reading, Path], list[Item]]
"""Reads the content of a message of a role as blocks."""


def system_from_wire(system: Any, reading: Reading, content: Content) -> Item:
    """Read instructions outside the conversation as its first message."""
    blocks = content(system, SYSTEM, reading, ("system",))
    message = {"role": SYSTEM, "content": blocks}
    if reading.spellings:
        _keep_spellings(message, reading)
    reading.must_compare = reading.must_compare or not blocks or any(block["type"] != "text" for block in blocks)
    return message


def messages_from_wire(
    wires: list[Any], reading: Reading, messages: list[Item], content: Content, *, user_first: bool = False
) -> list[int]:
    """Append the canonical messages of the wire messages; return the position at which each wire message begins.

    `user_first`: a conversation that does not begin with the user is unusual.
    """
    starts: list[int] = []
    previous = USER if user_first else ""
    for position, wire in enumerate(wires):
        role = _role(wire, position)
        first = len(messages)
        if role == ASSISTANT != previous:
            reading.turn()
        blocks = content(wire.get("content"), role, reading, ("messages", position, "content"))
        if role == USER:
            messages += user_messages(blocks, reading)
        else:
            messages.append({"role": role, "content": blocks})
        if reading.spellings:
            _keep_spellings(messages[first], reading, role)
        if role == SYSTEM:
            note_spelling(messages[first], "in_messages", reading.state)
        if not blocks or (reading.open if role == USER else role == SYSTEM or blocks[-1]["type"] in THINKING_TYPES):
            reading.must_compare = True
        if role == previous and position:
            note_spelling(messages[first], "start", reading.state)
        if len(wire) > 2:
            _keep_members(wire, messages[first], reading)
        starts.append(first)
        previous = role
    if previous == ASSISTANT and _ends_in_space(messages[-1]):
        reading.must_compare = True
    if user_first and wires and messages[starts[0]]["role"] == ASSISTANT:
        note_begin(messages[starts[0]], reading)
    if may_differ(reading.must_compare):
        note_disorder(messages, reading.state, by_turn=True)
    return starts


def _role(wire: Any, position: int) -> str:
    """The role of a wire message. Raises `InvalidWire` if it is no message."""
    if type(wire) is not dict or type(role := wire.get("role")) is not str:
        raise InvalidWire("a message must be an object with a role", path=pointer(("messages", position)))
    if role not in _ROLES:
        where: Path = ("messages", position, "role")
        raise InvalidWire("the role must be user, assistant or system", path=pointer(where))
    return role


_ROLES: Final = (USER, ASSISTANT, SYSTEM)


def _keep_spellings(message: Item, reading: Reading, role: str = "") -> None:
    keep_spellings(message, reading.spellings, reading.endpoint, role)
    reading.spellings = {}


def _keep_members(wire: Item, message: Item, reading: Reading) -> None:
    """Keep the members of a wire message besides role and content; a null member has no content."""
    others = {name: value for name, value in wire.items() if name not in ("role", "content")}
    if fields := {name: value for name, value in others.items() if value is not None}:
        message.setdefault("provider_state", reading.state())["fields"] = fields
    reading.must_compare = reading.must_compare or len(fields) < len(others) or "cache_control" in fields


def _ends_in_space(answer: Item) -> bool:
    """Whether a prefill ends in a text that is empty or ends in white space."""
    block: Item = answer["content"][-1] if answer["content"] else {}
    text: str = block.get("text", "-")
    return not text or text[-1].isspace()


def holds_nothing(messages: list[Item]) -> bool:
    """Whether a conversation that was read has no message that is written."""
    return all(message["role"] == SYSTEM and not has_content(message) for message in messages)


class Read(NamedTuple):
    """The parts of a wire's request that was just read: the `offered` definitions, and the positions of the tools of
    each; its instructions, if it has any; its turns, and the position of the message with which each turn begins."""

    offered: list[Any]
    tools: Sequence[Sequence[int]]
    system: Any
    turns: list[Item]
    starts: list[int]


def settled_tools(wires: list[Item], of: Sequence[Sequence[int]], writing: Writing, read: Read | None) -> list[Item]:
    """Return the written tools, with their received spelling restored where it still fits. For a request that was
    just read, keep the spellings instead."""
    tools: list[Item] = writing.source.get("tools") or []
    if read is None and not any("provider_state" in tool for tool in tools):
        return wires
    items = Items(tools, "tools", writing)
    if read is None:
        return items.put_back(wires, of)
    items.keep(read.offered, read.tools, wires, of)
    return wires


# ---------------------------------------------------------------------------------------------- to the wire

W = TypeVar("W", bound=Writing)


class Turns(_turns.Turns[W]):
    """The turns of both wires."""

    __slots__ = ()

    def end_assistant_message(self, message: Item, content: list[Item], path: Path) -> None:
        """Remove or replace reasoning at the end of an assistant turn: the provider does not accept such a turn."""
        if not is_thinking(content[-1]):
            return
        blocks, writing = message["content"], self.writing
        written = [
            index
            for index, block in enumerate(blocks)
            if can_replay(block, writing) or is_thinking(block.get("value") or {})
        ]
        while content and written and is_thinking(content[-1]):
            content.pop()
            index = written.pop()
            where = (*path, "content", index)
            why = "the provider does not accept a turn that ends in reasoning"
            text = writing.placeholder_or_drop(blocks[index], where, Refused("unsupported_block", why))
            if text is not None:
                content.append(text)

    def accepts_instructions(self, message: Item, position: int) -> bool:
        """Whether instructions inside the conversation are written in a system message here. They are if the model
        accepts them or the request was read so, and if they are after the user or other instructions, and before an
        assistant turn."""
        writing = self.writing
        given = writing.encoding_of(message).get("in_messages") and not writing.lacks("system_in_messages")
        speaker = self.turn.speaker
        if not (given or speaker == SYSTEM or writing.capabilities.get("system_in_messages")):
            return False
        if not (self.may_go_on(self.turn.content) if speaker == ASSISTANT else speaker):
            return False
        for following in self.order[self.order.index(position) + 1 :]:  # no user turn may follow them
            if (role := self.messages[following]["role"]) not in INSTRUCTIONS:
                return bool(role == ASSISTANT)
        return True

    def may_go_on(self, content: list[Item]) -> bool:  # noqa: ARG002
        """Whether instructions may follow this assistant turn."""
        return False

    def put_cache_mark(self, content: list[Item], message: Item, path: Path) -> bool:
        """Mark the last block of a message, if it is written and accepts a mark. Return whether it was marked."""
        blocks = message["content"]
        return bool(blocks) and blocks[-1]["type"] not in UNMARKED_TYPES and self.mark_last(content, message, path)

    def mark_last(self, content: list[Item], message: Item, path: Path) -> bool:
        """Mark the last written block. Return whether all blocks of the message are written and the block accepts the
        mark."""
        raise NotImplementedError

    def end_with_assistant(self, content: list[Item], position: int) -> None:
        """Fit the last message, which is a prefill: it must not end in white space.

        Raises `CannotAdapt` if the model does not continue a prefill.
        """
        blocks, writing = self.messages[position]["content"], self.writing
        # a turn that paused in the provider's own work continues from there, even if the model accepts no prefill
        paused = bool(blocks) and blocks[-1]["type"] == "opaque" and writing.endpoint.owns(blocks[-1])
        if not paused and writing.lacks("prefill", PREFILL):
            raise CannotAdapt(
                "the model does not support a prefill; end with a user message",
                path=pointer(("messages", position)),
                adapter=writing.endpoint.adapter,
            )
        for index in range(len(blocks) - 1, -1, -1):
            if not content or blocks[index]["type"] != "text" or "text" not in content[-1]:
                return
            text: str = blocks[index]["text"]
            stripped = text.rstrip()
            if not text or content[-1]["text"] != text or stripped == text:
                return
            where = ("messages", position, "content", index)
            message = "a prefill must not end in white space"
            if stripped:
                content[-1]["text"] = stripped
                writing.loss.replace((*where, "text"), stripped, "empty_content", "representation", message)
                return
            writing.unmark(content.pop())
            writing.loss.drop(where, "empty_content", "representation", message)

    def settle(self, body: Item, read: Read | None) -> None:
        """Restore the received spellings that differ from the written ones. For a request that was just read, keep them
        instead."""
        messages, writing = self.messages, self.writing
        if read is None and not any("provider_state" in message for message in messages):
            return
        items = Items(messages, "messages", writing)
        if self.first:
            system = {"content": body["system"]} if "system" in body else {}
            of = [range(self.first)]
            if read is None:
                system = items.put_back([system], of)[0]
                if "content" in system:
                    body["system"] = system["content"]
            else:
                items.keep([{"content": read.system}], of, [system], of)
        if read is None:
            body["messages"] = items.put_back(self.wires, self.of)
        else:
            items.keep(read.turns, messages_of(read.starts, len(messages)), self.wires, self.of)


def is_thinking(wire: Item) -> bool:
    """Whether a wire block is reasoning, in the spelling of either wire."""
    return wire.get("reasoningContent") is not None or wire.get("type") in THINKING_TYPES
