"""
Read and write messages. On this wire, the first turn is the user's, turns alternate, and a message with a document also has a
text. The code that this wire shares with Anthropic's own wire is in `_claude`.
"""

from typing import Any

from interlingua.adapters._claude import turns as claude
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import USER
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters.bedrock_converse.blocks import blocks_from_wire, blocks_to_wire, result_to_wire
from interlingua.adapters.bedrock_converse.tables import DOCUMENT_FILLER, Writing
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(system: list[Any], reading: Reading) -> Message:
    """Read the `system` member as the first message."""
    return claude.system_from_wire(system, reading, _content_from_wire)


def messages_from_wire(wires: list[Any], reading: Reading, messages: list[Message]) -> list[int]:
    """Append the messages that are read from the wire messages; return the position at which each wire message begins."""
    return claude.messages_from_wire(wires, reading, messages, _content_from_wire, user_first=True)


def _content_from_wire(content: Any, role: str, reading: Reading, path: Path) -> list[Block]:
    """Read a list of blocks. The provider refuses a document without a text in the same message."""
    if type(content) is not list:
        raise InvalidWire("content must be a list of blocks", path=pointer(path))
    blocks = blocks_from_wire(content, role, reading, path)
    if role == USER and _holds(content, "document") and not _holds(content, "text"):
        reading.must_compare = True
    return blocks


def _holds(content: list[Any], kind: str) -> bool:
    return any(wire.get(kind) is not None for wire in content)


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> claude.Turns[Writing]:
    """Write `system` and `messages`."""
    turns = _Turns(request["messages"], writing, blocks_to_wire, result_to_wire)
    turns.write(request, body)
    body["messages"] = turns.wires
    _add_texts_to_documents(turns.wires, writing)
    return turns


class _Turns(claude.Turns[Writing]):
    """The turns of this wire."""

    __slots__ = ()

    def begins_turn(self, message: Message) -> bool:
        # the turns of a request from another wire alternate
        return self.writing.same_origin and bool(self.writing.encoding_of(message).get("start"))

    def demands_user(self) -> bool:
        return True

    def mark_last(self, content: list[Wire], message: Message, path: Path) -> bool:
        last = len(message["content"]) - 1
        if sum("cachePoint" not in wire for wire in content) != last + 1 or "cachePoint" in content[-1]:
            return False
        mark = self.writing.mark(message["cache"], path, (*path, "content", last, "cache"))
        if mark is not None:
            content.append(mark)
        return True


def _add_texts_to_documents(wires: list[Wire], writing: Writing) -> None:
    """Add a text before the first document of each message that has a document but no text."""
    for wire in wires if writing.documents else ():
        content: list[Wire] = wire["content"]
        if _holds(content, "text"):
            continue
        for number, block in enumerate(content):
            path = next((path for document, path in writing.documents if document is block), None)
            if path is not None:
                content.insert(number, {"text": DOCUMENT_FILLER})
                left = {"type": "text", "text": DOCUMENT_FILLER}
                writing.fillers.append((path, (*path[:-1], int(path[-1]) + 1), left))
                break
