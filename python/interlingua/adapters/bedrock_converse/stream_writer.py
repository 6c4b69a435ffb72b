"""Streams to the wire: blocks may interleave; one that is written whole is not begun before it has ended."""

from typing import Any, Final

from interlingua.adapters._answers import ending, not_in_pieces
from interlingua.adapters._claude.stream_writer import (
    FREE,
    ClaudeWriter,
    report_unsaid,
    without_blank_texts,
)
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._kit import Event, Wire, arguments_text, data_of, response_of
from interlingua.adapters._stream_writer import TEXT, Encoder, OpenBlock, encoded
from interlingua.adapters.bedrock_converse.errors import to_wire_exception
from interlingua.adapters.bedrock_converse.responses import played_block, to_wire_response
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss
from interlingua.canonical.types import Error
from interlingua.wire.eventstream import EXCEPTION, Frame


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Streams an answer as this provider would, whatever its origin. Only the first of several answers is written."""
    return encoded(_Writer(endpoint).event)


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say. Its pieces say what the whole answer cannot: arguments as they were cut,
    and texts that are blank."""
    answer = without_blank_texts(data_of(response))
    _, loss = to_wire_response(response_of(answer), endpoint)
    unsaid = report_unsaid(answer, loss, ("text", "thinking", "redacted_thinking"), endpoint)
    return not_in_pieces(loss, answer) + unsaid


_STOP: Final = ("stopReason", "additionalModelResponseFields")


class _Writer(ClaudeWriter):
    """The blocks that have begun and said nothing, which tells nobody so, and those that wait for one written whole."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.silent: dict[int, OpenBlock] = {}  # texts and thoughts without a word so far
        self.whole: set[int] = set()  # blocks that have begun and are written when they end
        self.later: dict[int, list[Event]] = {}  # what began behind one of those and waits for its end
        self.writing = Writing({}, endpoint, Loss())
        self.writing.same_origin = self.writing.whole = self.writing.answers = True

    def frame(self, name: str | None, data: str) -> Any:
        """A message of an event."""
        return Frame(name, data)

    def event(self, event: Event) -> list[Any]:
        """The frames of one event, unless it has to wait."""
        index: int = event.get("index", -1)
        if index < 0 or event.get("choice") or not (self.later or self.whole or self.silent):
            return super().event(event)
        kind = event["type"]
        if index in self.later or (self.whole and kind == "block_start"):
            self.later.setdefault(index, []).append(event)
            return []
        frames: list[Any] = []
        if self.silent:
            self._begin_before(index, event)
            frames, self.frames = self.frames, []
        frames += super().event(event)
        if kind == "block_stop" and index in self.whole:
            self.whole.discard(index)
            frames += self._released()
        return frames

    def _released(self) -> list[Any]:
        """What waited for the end of a block that is written whole."""
        frames: list[Any] = []
        later, self.later = self.later, {}
        if later:
            self.whole.clear()
        for events in later.values():
            for event in events:
                frames += self.event(event)
        return frames

    def _begin_before(self, index: int, event: Event) -> None:
        """The beginnings of the texts and thoughts that stand before a block of which something is about to be said."""
        match event["type"]:
            case "block_start" if event["block"]["type"] == "tool_use":
                pass
            case "text_delta" | "thinking_delta" | "tool_use_input_delta" if event["text"]:
                pass
            case "block_stop":
                pass
            case _:
                return
        told = self.told.get((0, index))
        number = self.count if told is None or index in self.whole else told.number
        for other, begun in list(self.silent.items()):
            if begun.number < number:
                del self.silent[other]
                self._put_delta(begun, {"text": ""} if begun.kind == "text" else {"reasoningContent": {"text": ""}})
        self.silent.pop(index, None)

    # ------------------------------------------------------------------------------------------ blocks

    def start(self, event: Event) -> None:  # noqa: ARG002
        """The answer begins, once; nothing is told of who gives it."""
        if not self.begun:
            self.begun = True
            self.put("messageStart", {"role": ASSISTANT})

    def begin(self, told: OpenBlock) -> None:
        """A text or thought begins with its first piece, a call with its name; any other block is written whole."""
        self.start({})
        block = told.block
        match told.kind:
            case "text" | "thinking":
                self.opened(told)
                self.silent[told.index] = told
            case "tool_use":
                wire = self._wire({**block, "input": {}}) or {}
                start = {name: value for name, value in wire["toolUse"].items() if name != "input"}
                self.put("contentBlockStart", {"start": {"toolUse": start}, "contentBlockIndex": self.opened(told)})
                if block.get("kind", "function") != "function":
                    told.kind = FREE
            case _:
                told.kind = ""
                self.whole.add(told.index)

    def _wire(self, block: Event) -> Wire | None:
        return played_block(block, self.writing, ("message", "content", 0))

    def _put_delta(self, told: OpenBlock, delta: Wire) -> None:
        self.put("contentBlockDelta", {"delta": delta, "contentBlockIndex": told.number})

    def delta(self, told: OpenBlock) -> tuple[str | None, Wire] | None:
        """The message of a piece."""
        match told.kind:
            case "text":
                delta: Wire = {"text": TEXT}
            case "thinking":
                delta = {"reasoningContent": {"text": TEXT}}
            case "tool_use" | "arguments":
                delta = {"toolUse": {"input": TEXT}}
            case _:
                return None
        return "contentBlockDelta", {"delta": delta, "contentBlockIndex": told.number}

    def end(self, told: OpenBlock) -> None:
        """What no piece said, and the end of the block."""
        block = told.block
        if not told.kind:
            self._whole(told)
            return
        match block["type"]:
            case "text":
                cited: Wire = (self._wire(block) or {}).get("citationsContent", {}) if block.get("citations") else {}
                if not (told.sent or cited):
                    self._put_delta(told, {"text": ""})
                for citation in cited.get("citations", []):
                    self._put_delta(told, {"citation": citation})
            case "thinking":
                if not told.sent:
                    self._put_delta(told, {"reasoningContent": {"text": ""}})
                wire = self._wire(block) or {}
                signature = wire.get("reasoningContent", {}).get("reasoningText", {}).get("signature")
                if signature is not None:
                    self._put_delta(told, {"reasoningContent": {"signature": signature}})
            case _:
                pass
        self.put("contentBlockStop", {"contentBlockIndex": told.number})

    def _whole(self, told: OpenBlock) -> None:
        """A block that is written when it is complete; one that this wire cannot stream is left out."""
        wire = self._wire(told.block)
        start: Wire | None = None
        match wire:
            case {"reasoningContent": {"redactedContent": data}}:
                delta: Wire = {"reasoningContent": {"redactedContent": data}}
            case {"toolUse": {"input": value, **use}}:
                start = {"toolUse": use}
                delta = {"toolUse": {"input": value if isinstance(value, str) else arguments_text(value)}}
            case {"toolResult": {"content": content, **result}}:
                start, delta = {"toolResult": result}, {"toolResult": content}
            case {"image": {"source": source, **image}}:
                start, delta = {"image": image}, {"image": {"source": source}}
            case {"text": text}:
                delta = {"text": text}
            case _:
                return
        number = self.opened(told)
        if start is not None:
            self.put("contentBlockStart", {"start": start, "contentBlockIndex": number})
        self._put_delta(told, delta)
        self.put("contentBlockStop", {"contentBlockIndex": number})

    # ------------------------------------------------------------------------------------------ the end

    def complete(self, response: Wire) -> None:
        """Why the answer ended, then what it took."""
        self.start({})
        body, _ = to_wire_response(response_of(ending(response)), self.endpoint)
        self.put("messageStop", {name: body[name] for name in _STOP if name in body})
        rest = {name: value for name, value in body.items() if name not in _STOP and name != "output"}
        self.put("metadata", rest)

    def fail(self, error: Error) -> None:
        """The error, behind what waited."""
        while self.later:
            self.frames = [*self.frames, *self._released()]
        name, payload = to_wire_exception(error, self.endpoint)
        self.frames.append(Frame(name, json.dumps(payload).decode(), EXCEPTION))
