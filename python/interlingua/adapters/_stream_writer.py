"""
What the writers of streamed answers do alike.

A block goes out as it comes: its beginning, its pieces by a template of the wire that is rendered once for each block, and
its end. A wire says what these are. What stands here is what has gone out of each block, and what of it is still to be said
when it ends, because sources that give blocks whole say nothing in pieces.
"""

from typing import Any, Final

from interlingua.adapters._kit import DELTAS, Event, Wire, arguments_text
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.wire.sse import Frame

Block = dict[str, Any]

TEXT: Final = "\0"
"""Stands in a template for the text of a piece."""
_QUOTED: Final = json.dumps(TEXT).decode()


class Told:
    """A block that is being told: how it began, what it is by now, and how much of it has gone out.

    `kind` is what the wire calls it and `number` its number there; `sent` counts the characters that went out in pieces.
    """

    __slots__ = ("begun", "block", "choice", "index", "kind", "name", "number", "sent", "template")

    def __init__(self, choice: int, index: int, block: Block) -> None:
        self.choice = choice
        self.index = index
        self.begun = block
        self.block = block
        self.kind: str = block["type"]
        self.number = 0
        self.sent = 0
        self.name: str | None = None
        self.template: list[str] | None = None


class Writer:
    """One answer that is written, with all its choices if the wire has `several`.

    The methods below that do nothing are those that a wire fills in.
    """

    def __init__(self, endpoint: Endpoint, *, several: bool = False) -> None:
        self.endpoint = endpoint
        self.frames: list[Any] = []
        self.told: dict[tuple[int, int], Told] = {}
        self._several = several

    # -- what a wire says

    def start(self, event: Event) -> None:
        """The answer begins."""

    def usage(self, usage: dict[str, Any]) -> None:
        """What the answer has taken so far."""

    def begin(self, told: Told) -> None:
        """A block begins."""

    def delta(self, told: Told) -> tuple[str | None, Wire] | None:
        """The frame of a piece of a block, with `TEXT` for what it says; None when it is not told in pieces."""
        raise NotImplementedError

    def unsaid(self, told: Told, call: Wire) -> str:
        """The arguments of a call of which nothing has been said, because its source told it when it was whole."""
        text: str | None = call.get("input_raw")
        if text is None:
            return "" if told.kind == "custom" else arguments_text(call["input"])
        return text

    def end(self, told: Told) -> None:
        """A block ends, and all its text has been said."""

    def complete(self, response: dict[str, Any]) -> None:
        """The answer is whole."""
        raise NotImplementedError

    def fail(self, error: dict[str, Any]) -> None:
        """The answer failed."""
        raise NotImplementedError

    def frame(self, name: str | None, data: str) -> Any:
        """A frame; those of server-sent events, where a wire has no others."""
        return Frame(name, data)

    # -- what all do

    def event(self, event: Event) -> list[Any]:
        """The frames of one event. An answer beside the first has none on wires that give one."""
        choice: int = event.get("choice") or 0
        if choice and not self._several:
            return []
        if event["type"] in DELTAS:  # nearly all events are these
            frame = self.piece(self.told.get((choice, event["index"])), event["text"])
            return [] if frame is None else [frame]
        self.take(event, choice)
        frames, self.frames = self.frames, []
        return frames

    def take(self, event: Event, choice: int) -> None:
        """Writes what an event says that is no piece of a block."""
        match event["type"]:
            case "message_start":
                self.start(event)
            case "usage_update":
                self.usage(event["usage"])
            case "block_start":
                index: int = event["index"]
                told = self.told[choice, index] = Told(choice, index, event["block"])
                self.begin(told)
            case "tool_use_end":
                self._say_arguments(self.told.get((choice, event["index"])), event)
            case "block_stop":
                ending = self.told.pop((choice, event["index"]), None)
                if ending is not None:
                    ending.block = event["block"]
                    self._stop(ending)
            case "message_complete":
                self.complete(event["response"])
            case "error":
                self.fail(event["error"])
            case _:
                pass  # what a call is says its block; events of later versions

    def _stop(self, told: Told) -> None:
        block = told.block
        match block["type"]:
            case "text" | "thinking" if len(block["text"]) > told.sent:
                self.more(told, block["text"][told.sent :])
            case "tool_use":
                self._say_arguments(told, block)
            case _:
                pass
        self.end(told)

    def _say_arguments(self, told: Told | None, call: Wire) -> None:
        if told is not None and not told.sent:
            self.more(told, self.unsaid(told, call))

    def put(self, name: str | None, data: Wire) -> None:
        """Writes a frame."""
        self.frames.append(self.frame(name, json.dumps(data).decode()))

    def more(self, told: Told, text: str) -> None:
        """Writes more of a block."""
        if (frame := self.piece(told, text)) is not None:
            self.frames.append(frame)

    def piece(self, told: Told | None, text: str) -> Any:
        """The frame of a piece of a block; None when it says nothing, or is not told in pieces."""
        if told is None or not text:
            return None
        template = told.template
        if template is None:
            found = self.delta(told)
            template = []
            if found is not None:
                told.name, data = found
                template = json.dumps(data).decode().split(_QUOTED)
            told.template = template
        if not template:
            return None
        told.sent += len(text)
        return self.frame(told.name, json.dumps(text).decode().join(template))
