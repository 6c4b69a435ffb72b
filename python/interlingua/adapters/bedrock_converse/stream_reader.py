"""
Read streams: each message patches the body that a response without streaming would be.

Only calls, results and images have a start message; a text or reasoning begins with its first delta.
The last message is `metadata`, which has the usage and follows `messageStop`.
"""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import Decoder, Part, call_so_far, decoded
from interlingua.adapters._claude.stream_reader import ClaudeAnswer
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._content.calls import stated
from interlingua.adapters._engine.kit import Event, Wire, parse_arguments
from interlingua.adapters.bedrock_converse.blocks import block_from_wire
from interlingua.adapters.bedrock_converse.errors import in_band
from interlingua.adapters.bedrock_converse.responses import ANSWERS, COUNTS
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire import sse
from interlingua.wire.eventstream import DAMAGED, EVENT, Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Read a streamed response. Start it with `next`, then send frames and at the end None; each returns the events it completes.

    The last event is `message_complete` or `error`; frames after it are ignored.
    Never raises: for a frame that cannot be read there is an `error` event of category invalid_response, with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_DELTAS: Final = frozenset(("text", "toolUse", "reasoningContent", "citation", "toolResult", "image"))
_OPENED_BY: Final = {"text": "text", "reasoningContent": "reasoningContent", "citation": "citationsContent"}
_PROSE: Final = ("text", "citationsContent")


class _Answer(ClaudeAnswer):
    """The body so far, and its open blocks."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint, ids)
        self.stopped = False

    def take(self, frame: sse.Frame) -> Event | None:
        """Apply a message of the stream."""
        if not isinstance(frame, Frame) or frame.kind == DAMAGED:
            self.unreadable()
        elif frame.kind != EVENT:
            self.fail(in_band(frame.event, frame.data, self.endpoint))
        else:
            self.patch(json.loads(frame.data), frame)
        return None

    def patch(self, data: Any, frame: sse.Frame) -> None:
        """Apply an event."""
        match frame.event:
            case "contentBlockDelta":
                self._delta(data["contentBlockIndex"], data["delta"])
            case "contentBlockStart":
                self._start(data["contentBlockIndex"], data["start"])
            case "contentBlockStop":
                self.stop(data["contentBlockIndex"])
            case "messageStart":
                if self.begun:
                    raise TypeError("messageStart")
                role = {"role": data["role"]} if "role" in data else {}
                self.body = {"output": {"message": {"content": [], **role}}}
                self.start()
            case "messageStop":
                self.check_begun()
                self.stop_all()
                self._patch_body(data)
                self.stopped = True
            case "metadata":
                if not self.stopped:
                    raise TypeError("metadata")
                self._patch_body(data)
                if isinstance(usage := data.get("usage"), dict):
                    self.usage(COUNTS.read(usage, self.endpoint))
                self.complete(self.response(self.blocks.content))
            case _:
                if type(data) is not dict:
                    raise TypeError("event")  # an object is an event of a later version

    def _patch_body(self, data: Wire) -> None:
        self.body.update({name: value for name, value in data.items() if name != "p"})

    def check_begun(self) -> None:
        """Raise `TypeError` if no message is open."""
        super().check_begun()
        if self.stopped:
            raise TypeError("the message has stopped")

    def response(self, content: list[Any]) -> dict[str, Any]:
        """Return the response with these blocks."""
        return ANSWERS.read(self.body, self.reading, content)

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, start: Wire) -> None:
        self.check_begun()
        kind = next((name for name in start if name != "type" and start[name] is not None), None)
        if kind is None and type(start) is dict:
            return  # a text or reasoning, which begins with its first delta
        if kind is None:
            raise TypeError("contentBlockStart")
        raw = {kind: dict(start[kind])} if isinstance(start[kind], dict) else dict(start)
        if kind == "toolUse":
            raw[kind].setdefault("input", {})
        elif kind == "toolResult":
            raw[kind].setdefault("content", [])
        self._open(index, kind, raw)

    def _open(self, index: int, kind: str, raw: Wire) -> Part:
        match kind:
            case "text" | "citationsContent":
                begun = {"type": "text", "text": ""}
            case "reasoningContent" if "redactedContent" not in raw[kind]:
                begun = {"type": "thinking", "text": ""}
            case "image":
                begun = self.reading.opaque(kind, {kind: raw[kind]})
            case _:
                begun = block_from_wire(raw, ASSISTANT, self.reading)
        return self.begin(index, kind, raw, begun)

    def _delta(self, index: int, delta: Wire) -> None:
        self.check_begun()
        kind = next((name for name in delta if name in _DELTAS and delta[name] is not None), None)
        if kind is None:
            if type(delta) is not dict:
                raise TypeError("delta")
            return  # a delta of a later version
        value, part = delta[kind], self.open.get(index)
        if part is None:
            opened = _OPENED_BY.get(kind)
            if opened is None:
                raise TypeError("delta")
            raw: Wire = {opened: "" if opened == "text" else {}}
            if opened == "reasoningContent" and value.get("redactedContent") is not None:
                raw = {opened: {"redactedContent": ""}}
            part = self._open(index, opened, raw)
        self._grow(part, kind, value)

    def _grow(self, part: Part, kind: str, value: Any) -> None:
        """Patch a block. Objects in it are replaced and never changed, because the start of the block may share them."""
        inner: Any = part.raw.get(part.kind)
        match kind:
            case "text" if part.kind in _PROSE:
                self.blocks.grow(part, value)
            case "toolUse" if part.kind == "toolUse":
                self.blocks.grow(part, value["input"])
            case "reasoningContent" if part.kind == "reasoningContent":
                self._grow_reasoning(part, value)
            case "citation" if part.kind in _PROSE:
                part.kind = "citationsContent"
                cited = inner if type(inner) is dict else {}
                part.raw = {part.kind: {**cited, "citations": [*cited.get("citations", ()), value]}}
            case "toolResult" if part.kind == "toolResult":
                part.raw = {kind: {**inner, "content": [*inner["content"], *value]}}
            case "image" if part.kind == "image":
                part.raw = {kind: {**inner, **value}}
            case _:
                raise TypeError("delta")

    def _grow_reasoning(self, part: Part, value: Wire) -> None:
        inner = part.raw["reasoningContent"]
        for name, piece in value.items():
            if name == "text" and piece is not None:
                self.blocks.grow(part, piece)
            elif name in ("signature", "redactedContent") and piece is not None:
                inner = {**inner, name: inner.get(name, "") + string(piece)}
                part.raw = {"reasoningContent": inner}
                if name == "signature":
                    self.blocks.sign(part.index, inner[name])

    def read(self, part: Part) -> Event:
        """Return the block as a unary response would have it."""
        raw, text = part.raw, part.text
        match part.kind:
            case "text":
                raw = {"text": text}
            case "citationsContent":
                inner = raw["citationsContent"]
                raw = {"citationsContent": {"content": [{"text": text}], **inner} if text else inner}
            case "reasoningContent" if "redactedContent" not in raw["reasoningContent"]:
                raw = {"reasoningContent": {"reasoningText": {"text": text, **raw["reasoningContent"]}}}
            case "toolUse":
                begun = self.blocks.content[part.index]
                if begun["type"] == "tool_use":
                    return call_so_far(begun, stated(text))  # the wire has no place for a text that is not an object
                arguments = parse_arguments(stated(text))
                raw = {"toolUse": {**raw["toolUse"], "input": text if arguments is None else arguments}}
            case _:
                pass
        return block_from_wire(raw, ASSISTANT, self.reading)
