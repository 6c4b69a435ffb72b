"""The part of a streamed answer that has arrived so far."""

from typing import Any

Event = dict[str, Any]
Block = dict[str, Any]


class Arrived:
    """Put the events of a stream together as they arrive. Text is a list of pieces until it is read, so that no event
    costs more than the one before it."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._texts: dict[int, list[str]] = {}
        self._arguments: dict[int, list[str]] = {}
        self.changed = False
        """Whether anything has arrived since `content` was last called."""

    def feed(self, event: Event) -> None:
        """Add an event."""
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
        """Return the blocks that have arrived, with the text that they have so far."""
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
