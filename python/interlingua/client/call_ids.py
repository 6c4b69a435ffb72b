"""The ids of the tool calls in one response, when they have other ids in its conversation."""

from collections.abc import Callable
from typing import Any

Block = dict[str, Any]
Event = dict[str, Any]


class Names:
    """The ids of the calls of one response in the conversation. `name` returns an id when a call is first met."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name_of = name
        self._names: dict[str, str] = {}

    def event(self, event: Event) -> Event:
        """An event of a stream, with the ids of the conversation."""
        match event["type"]:
            case "tool_use_start" | "tool_use_input_delta" | "tool_use_end":
                return {**event, "id": self._name(event["id"])}
            case "block_start" | "block_stop" if event["block"].get("type") == "tool_use":
                return {**event, "block": {**event["block"], "id": self._name(event["block"]["id"])}}
            case "message_complete" | "error" if "response" in event:
                return {**event, "response": self.response(event["response"])}
            case _:
                return event

    def response(self, response: Block) -> Block:
        """A response, with the ids of the conversation."""
        for choice in (response, *(response.get("alternatives") or ())):
            for block in choice["message"]["content"]:
                if block.get("type") == "tool_use":
                    self._name(block["id"])
        message = response["message"]
        return {**response, "message": {**message, "content": renamed(message["content"], self._names)}}

    def _name(self, identity: str) -> str:
        name = self._names.get(identity)
        if name is None:
            name = self._names[identity] = self._name_of(identity)
        return name


def renamed(content: list[Block], names: dict[str, str]) -> list[Block]:
    """The blocks, with other ids for calls and results."""
    changed: list[Block] = []
    for block in content:
        for member in ("id", "tool_use_id"):
            kind = "tool_use" if member == "id" else "tool_result"
            if block.get("type") == kind and block[member] in names:
                block = {**block, member: names[block[member]]}
        changed.append(block)
    return changed
