"""
Read and write messages. On this wire, consecutive messages of one role may stay separate, and a prefill may be empty. The code
that this wire shares with Bedrock's wire is in `_claude`.
"""

from typing import Any

from interlingua.adapters._claude import turns as claude
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import USER
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.spelling import STRING
from interlingua.adapters.anthropic_messages.blocks import blocks_from_wire, blocks_to_wire, result_to_wire
from interlingua.adapters.anthropic_messages.items import is_server_item, replayed
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(system: Any, reading: Reading) -> Message:
    """Read the `system` member as the first message."""
    return claude.system_from_wire(system or [], reading, _content_from_wire)


def messages_from_wire(wires: list[Any], reading: Reading, messages: list[Message]) -> list[int]:
    """Append the messages that are read from the wire messages; return the position at which each wire message begins."""
    return claude.messages_from_wire(wires, reading, messages, _content_from_wire)


def _content_from_wire(content: Any, role: str, reading: Reading, path: Path) -> list[Block]:
    """Read a text or a list of blocks. A result may also have a text instead of a list."""
    if type(content) is str:
        reading.must_compare = reading.must_compare or not content or content.isspace()
        reading.spellings["/content"] = {"word": STRING}
        return [{"type": "text", "text": content}]
    if type(content) is not list:
        raise InvalidWire("content must be a string or a list of blocks", path=pointer(path))
    blocks = blocks_from_wire(content, role, reading, path)
    if role == USER and blocks and blocks[0]["type"] == "tool_result":
        for index, wire in enumerate(content):
            if wire["type"] == "tool_result" and type(wire.get("content")) is str:
                reading.spellings[f"/content/{index}/content"] = {"word": STRING}
    return blocks


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> claude.Turns[Writing]:
    """Write `system` and `messages`."""
    turns = _Turns(request["messages"], writing, blocks_to_wire, result_to_wire, open_end=True)
    turns.write(request, body)
    body["messages"] = turns.wires
    return turns


class _Turns(claude.Turns[Writing]):
    """The turns of this wire."""

    __slots__ = ()

    def put_members(self, state: Block, wire: Wire, path: Path) -> None:
        replayed(state, wire, self.writing, path)

    def begins_turn(self, message: Message) -> bool:
        state = message["provider_state"]
        return self.writing.endpoint.owns(state) and bool(
            state.get("fields") or self.writing.encoding_of(message).get("start")
        )

    def may_go_on(self, content: list[Wire]) -> bool:
        return bool(content) and is_server_item(content[-1]["type"])

    def mark_last(self, content: list[Wire], message: Message, path: Path) -> bool:
        last = len(message["content"]) - 1
        if len(content) != last + 1 or "cache_control" in content[last]:
            return False
        self.writing.mark(content[last], message["cache"], path, (*path, "content", last, "cache"))
        return True
