"""
Messages both ways: canonical messages are turns of five roles, wire messages are turns of a user and an assistant.

Reading: each tool result is a message of role tool, the other blocks of a user message are messages of role user.
Writing: the first turn is the user's and turns alternate; results follow their calls directly and in the order of the
calls; instructions stand in `system`, in a native system message, or marked in a user turn.
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
    FILLER,
    SYSTEM,
    THINKING_TYPES,
    USER,
)
from interlingua.adapters._kit import Wire
from interlingua.adapters.bedrock_converse.blocks import (
    blocks_from_wire,
    blocks_to_wire,
    result_to_wire,
)
from interlingua.adapters.bedrock_converse.items import overlaid
from interlingua.adapters.bedrock_converse.tables import DOCUMENT_FILLER, Writing
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(system: list[Any], reading: Reading) -> Message:
    """The `system` member as the first message."""
    return {"role": "system", "content": blocks_from_wire(system, SYSTEM, reading, ("system",))}


def _holds(content: list[Any], kind: str) -> bool:
    return any(wire.get(kind) is not None for wire in content)


def _is_silent(content: list[Any]) -> bool:
    """Whether a document came without a text beside it, which the provider refuses."""
    return _holds(content, "document") and not _holds(content, "text")


def messages_from_wire(wires: list[Any], reading: Reading, messages: list[Message]) -> list[int]:
    """Appends what the wire messages hold; gives the position at which each of them begins."""
    starts: list[int] = []
    previous = None
    for position, wire in enumerate(wires):
        path: Path = ("messages", position)
        if type(wire) is not dict or type(role := wire.get("role")) is not str:
            raise InvalidWire("a message must be an object with a role", path=pointer(path))
        if role not in (USER, ASSISTANT, SYSTEM):
            raise InvalidWire("the role must be user, assistant or system", path=pointer((*path, "role")))
        content = wire.get("content")
        if type(content) is not list:
            raise InvalidWire("content must be a list of blocks", path=pointer((*path, "content")))
        first = len(messages)
        blocks = blocks_from_wire(content, role, reading, (*path, "content"))
        if role == USER and blocks:
            user_from_wire(blocks, reading, messages)
        else:
            messages.append({"role": role, "content": blocks})
        if role == SYSTEM:
            note(messages[first], "in_messages", reading.state)
        if not blocks or (role == USER and _is_silent(content)):
            reading.unusual = True
        if role == previous:
            note(messages[first], "start", reading.state)
        if len(wire) > 2:
            keep_extras(wire, messages[first], reading)
        if role != ASSISTANT and reading.open:
            reading.unusual = True
        if (previous is None and role != USER) or role == SYSTEM or (blocks and blocks[-1]["type"] in THINKING_TYPES):
            reading.unusual = True
        starts.append(first)
        previous = role
    if previous == ASSISTANT and ends_in_space(messages[-1]):
        reading.unusual = True
    return starts


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> Turns[Writing]:
    """Writes `system` and `messages`."""
    turns = _Turns(request["messages"], writing)
    turns.write(request, body)
    return turns


class _Turns(Turns[Writing]):
    """Turns as this wire says them: the first is the user's, they alternate, and a document stands beside a text."""

    __slots__ = ("documents",)

    def __init__(self, messages: list[Message], writing: Writing) -> None:
        super().__init__(messages, writing)
        self.documents: tuple[Path, int] | None = None  # the first one of the open wire message: path, number of block

    def blocks(self, blocks: list[Any], place: str, path: Path) -> list[Wire]:
        content = blocks_to_wire(blocks, place, self.writing, path)
        if place == USER and self.writing.document is not None:
            self._note_document(content)
        return content

    def result(self, block: dict[str, Any], path: Path) -> list[Wire]:
        wire, mark = result_to_wire(block, self.writing, path)
        return [wire] if mark is None else [wire, mark]

    def system(self, blocks: list[Wire], body: Wire) -> bool:
        if blocks:
            body["system"] = blocks
        return bool(blocks)

    def begins(self, message: Message) -> bool:
        # of another request they alternate
        return self.writing.same_origin and bool(self.writing.encoding_of(message).get("start"))

    def answer_first(self, path: Path) -> None:
        """A turn of the user stands before it."""
        self.wires.append({"role": USER, "content": [{"text": FILLER}]})
        self.of.append([int(path[1])])
        filler = {"role": "user", "content": [{"type": "text", "text": FILLER}]}
        position = int(path[1])
        why = "the target's conversations begin with the user"
        self.writing.moves.insert(0, (position, position + 1, "filler", why, filler))

    def close(self) -> None:
        wire: Wire = {"role": self.speaker, "content": self.content}
        if not self.content:
            wire["content"] = self.writing.filler((*(self.anchor or ()), "content"), EMPTY_TURN)
        elif self.documents is not None:
            self._speak(wire)
        self.documents = None
        if self.members is not None:
            wire = self._with_members(wire, self.members["provider_state"])
        self.wires.append(wire)

    def _with_members(self, wire: Wire, state: dict[str, Any]) -> Wire:
        where = (*(self.anchor or ()), "provider_state")
        if state.get("signature"):
            why = "the wire has no signature in this place"
            self.writing.loss.drop((*where, "signature"), "unsupported_field", "lost", why)
        fields = state.get("fields")
        return overlaid(wire, fields, self.writing, (*where, "fields")) if fields else wire

    def mark(self, content: list[Wire], message: Message, path: Path) -> bool:
        last = len(message["content"]) - 1
        if sum("cachePoint" not in wire for wire in content) != last + 1 or "cachePoint" in content[-1]:
            return False
        mark = self.writing.mark(message["cache"], path, (*path, "content", last, "cache"))
        if mark is not None:
            content.append(mark)
        return True

    def travels(self, message: Message, path: Path) -> None:
        state = message.get("provider_state")
        if state is not None and self.writing.endpoint.owns(state):
            for name in ("fields", "signature"):
                if name in state:
                    where = (*path, "provider_state", name)
                    self.writing.loss.drop(where, "combination", "weakened", "the message travels inside another one")

    def plain(self) -> list[Wire] | None:
        """What `_add` and `close` do, without their cases."""
        messages, writing = self.messages, self.writing
        if self.first < len(messages) and messages[self.first]["role"] != "user":
            return None
        wires: list[Wire] = []
        content: list[Wire] = []
        previous = ""
        last = len(messages) - 1
        for position in range(self.first, len(messages)):
            message = messages[position]
            role: str = message["role"]
            if role == "tool":
                wire, mark = result_to_wire(message["content"][0], writing, ("messages", position, "content", 0))
                if previous != "tool":
                    content = []
                    wires.append({"role": USER, "content": content})
                content.append(wire)
                if mark is not None:
                    content.append(mark)
            elif role == "user":
                found = blocks_to_wire(message["content"], USER, writing, ("messages", position, "content"))
                if previous != "tool":
                    content = []
                    wires.append({"role": USER, "content": content})
                    if not found:
                        found = writing.filler(("messages", position, "content"), EMPTY_TURN)
                elif not found:
                    writing.drop_message(("messages", position))
                if writing.document is not None:
                    self.content = content
                    self._note_document(found)
                content += found
                if self.documents is not None:
                    self._speak(wires[-1])
                    self.documents = None
            else:
                writing.message = message
                writing.next_turn()
                content = blocks_to_wire(message["content"], ASSISTANT, writing, ("messages", position, "content"))
                if content and is_thinking(content[-1]):
                    trim_thinking(message["content"], content, ("messages", position), writing)
                if position == last:
                    settle_prefill(message["content"], content, position, writing)
                if not content:
                    content = writing.filler(("messages", position, "content"), EMPTY_TURN)
                wires.append({"role": ASSISTANT, "content": content})
            previous = role
        return wires

    # -------------------------------------------------------------------------------------- documents

    def _note_document(self, content: list[Wire]) -> None:
        path, self.writing.document = self.writing.document, None
        number = next((at for at, wire in enumerate(content) if wire.get("document") is not None), None)
        if self.documents is None and path is not None and number is not None:
            self.documents = (path, len(self.content) + number)

    def _speak(self, wire: Wire) -> None:
        """A message that holds a document also holds a text."""
        if self.documents is None or _holds(wire["content"], "text"):
            return
        path, number = self.documents
        wire["content"].insert(number, {"text": DOCUMENT_FILLER})
        left = {"type": "text", "text": DOCUMENT_FILLER}
        self.writing.fillers.append((path, (*path[:-1], int(path[-1]) + 1), left))
