"""What has arrived of a streamed answer so far, and its calls under the ids of the session."""

from collections.abc import Callable
from typing import Any

from interlingua.sessions.calls import renamed

Event = dict[str, Any]
Block = dict[str, Any]


class Names:
    """The ids that the calls of one answer have in the session: each is made when the call is first met."""

    def __init__(self, tool_id: Callable[[], str]) -> None:
        self._tool_id = tool_id
        self._names: dict[str, str] = {}

    def event(self, event: Event) -> Event:
        """An event of a stream, with the ids of the session."""
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
        """A response, with the ids of the session."""
        for choice in (response, *(response.get("alternatives") or ())):
            for block in choice["message"]["content"]:
                if block.get("type") == "tool_use":
                    self._name(block["id"])
        message = response["message"]
        return {**response, "message": {**message, "content": renamed(message["content"], self._names)}}

    def _name(self, identity: str) -> str:
        found = self._names.get(identity)
        if found is None:
            found = self._names[identity] = self._tool_id()
        return found


class Arrived:
    """Puts the events of a stream together as they come. Text grows as a list of pieces, so that no event costs more than
    the one before it."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._texts: dict[int, list[str]] = {}
        self._arguments: dict[int, list[str]] = {}
        self.changed = False
        """Whether anything has come since `content` was last asked."""

    def feed(self, event: Event) -> None:
        """Takes an event."""
        if event.get("choice"):
            return
        match event["type"]:
            case "block_start":
                self._blocks[event["index"]] = dict(event["block"])
            case "text_delta" | "thinking_delta":
                self._texts.setdefault(event["index"], []).append(event["text"])
            case "tool_use_input_delta":
                self._arguments.setdefault(event["index"], []).append(event["text"])
            case "block_stop":
                self._blocks[event["index"]] = dict(event["block"])
                self._texts.pop(event["index"], None)
                self._arguments.pop(event["index"], None)
            case _:
                return
        self.changed = True

    def content(self) -> list[Block]:
        """The blocks that have arrived, with the text that they have so far."""
        self.changed = False
        found: list[Block] = []
        for index in sorted(self._blocks):
            block = self._blocks[index]
            if index in self._texts:
                block = {**block, "text": block.get("text", "") + "".join(self._texts[index])}
            if index in self._arguments:
                block = {**block, "input_raw": "".join(self._arguments[index])}
            found.append(block)
        return found
