"""Streams to the wire: a block ends before the next begins."""

from typing import Any, Final

from interlingua.adapters._answers.answers import ending
from interlingua.adapters._answers.stream_writer import FREE, TEXT, Encoder, OpenBlock, encoded
from interlingua.adapters._claude import stream_writer as claude
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._engine.kit import Event, Wire, arguments_text, response_of
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
    return encoded(_Writer(endpoint), "all")


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say."""
    return claude.stream_loss(response, endpoint, to_wire_response, ("text", "thinking", "redacted_thinking"))[2]


_STOP: Final = ("stopReason", "additionalModelResponseFields")
_DELTAS: Final[dict[str, Wire]] = {
    "text": {"text": TEXT},
    "thinking": {"reasoningContent": {"text": TEXT}},
    "tool_use": {"toolUse": {"input": TEXT}},
}
_SILENT: Final[dict[str, Wire]] = {"text": {"text": ""}, "thinking": {"reasoningContent": {"text": ""}}}
"""What a text or a thought without a word begins with."""


class _Writer(claude.ClaudeWriter):
    """One answer; nothing is told of who gives it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.writing = Writing({}, endpoint, Loss())
        super().__init__(endpoint, _DELTAS, self.writing)

    def frame(self, name: str | None, data: str) -> Any:
        """A message of an event."""
        return Frame(name, data)

    # ------------------------------------------------------------------------------------------ blocks

    def start(self, event: Event) -> None:  # noqa: ARG002
        """The answer begins, once."""
        if not self.begun:
            self.begun = True
            self.put("messageStart", {"role": ASSISTANT})

    def begin(self, open_block: OpenBlock) -> None:
        """A text or thought begins with its first piece, a call with its name; any other block is written whole."""
        self.start({})
        block = open_block.block
        match open_block.kind:
            case "text" | "thinking":
                open_block.number = self.number()
            case "tool_use":
                wire = self._wire({**block, "input": {}}) or {}
                start = {name: value for name, value in wire["toolUse"].items() if name != "input"}
                self._start(open_block, {"toolUse": start})
                if block.get("kind", "function") != "function":
                    open_block.kind = FREE
            case _:
                open_block.kind = ""

    def _start(self, open_block: OpenBlock, start: Wire) -> None:
        open_block.number = self.number()
        self.put("contentBlockStart", {"start": start, "contentBlockIndex": open_block.number})

    def _wire(self, block: Event) -> Wire | None:
        return played_block(block, self.writing, ("message", "content", 0))

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """The message of a piece."""
        return "contentBlockDelta", {"delta": delta, "contentBlockIndex": open_block.number}

    def end(self, open_block: OpenBlock) -> None:
        """What no piece said, and the end of the block."""
        block = open_block.block
        if not open_block.kind:
            self._whole(open_block)
            return
        kind: str = block["type"]
        wire = self._wire(block) or {} if block.get("citations") or kind == "thinking" else {}
        cited = wire.get("citationsContent", {}) if kind == "text" else {}
        if kind in _SILENT and not (open_block.sent or cited):
            self.send(open_block, _SILENT[kind])
        for citation in cited.get("citations", []):
            self.send(open_block, {"citation": citation})
        signature = wire.get("reasoningContent", {}).get("reasoningText", {}).get("signature")
        if kind == "thinking" and signature is not None:
            self.send(open_block, {"reasoningContent": {"signature": signature}})
        self.put("contentBlockStop", {"contentBlockIndex": open_block.number})

    def _whole(self, open_block: OpenBlock) -> None:
        """A block that is written when it is complete; one that this wire cannot stream is left out."""
        wire = self._wire(open_block.block)
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
        if start is not None:
            self._start(open_block, start)
        else:
            open_block.number = self.number()
        self.send(open_block, delta)
        self.put("contentBlockStop", {"contentBlockIndex": open_block.number})

    # ------------------------------------------------------------------------------------------ the end

    def complete(self, response: Wire) -> None:
        """Why the answer ended, then what it took."""
        self.start({})
        body, _ = to_wire_response(response_of(ending(response)), self.endpoint)
        self.put("messageStop", {name: body[name] for name in _STOP if name in body})
        rest = {name: value for name, value in body.items() if name not in _STOP and name != "output"}
        self.put("metadata", rest)

    def fail(self, error: Error) -> None:
        """The error, as an exception."""
        name, payload = to_wire_exception(error, self.endpoint)
        self.frames.append(Frame(name, json.dumps(payload).decode(), EXCEPTION))
