"""
Streams from the wire: each message is a patch on the body that a whole answer would be.

Only calls, results and images say that they begin; a text or a thought begins with its first delta.
The last message is `metadata`, which brings the usage and comes behind `messageStop`.
"""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._kit import Event, Wire, parse_arguments
from interlingua.adapters._stream_reader import Answer, Decoder, Part, decoded, failed
from interlingua.adapters.bedrock_converse.blocks import block_from_wire
from interlingua.adapters.bedrock_converse.errors import in_band
from interlingua.adapters.bedrock_converse.responses import COUNTS, assembled
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.eventstream import DAMAGED, EVENT, Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Reads a streamed answer: start it with `next`, send frames and at the end None, get the events each completes.

    The last event is `message_complete` or `error`; what comes after it is passed over.
    Never raises: what cannot be read is an `error` event of category invalid_response with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_DELTAS: Final = frozenset(("text", "toolUse", "reasoningContent", "citation", "toolResult", "image"))
_OPENED_BY: Final = {"text": "text", "reasoningContent": "reasoningContent", "citation": "citationsContent"}
_PROSE: Final = ("text", "citationsContent")


class _Answer(Answer):
    """The body so far, and its blocks that are growing."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.open: dict[int, Part] = {}
        self.stopped = False

    def take(self, frame: Frame) -> Event | None:
        """Takes a message."""
        if frame.kind == DAMAGED:
            self.unreadable()
        elif frame.kind != EVENT:
            self.fail(in_band(frame.event, frame.data, self.endpoint))
        else:
            return self.patch(json.loads(frame.data), frame)
        return None

    def patch(self, data: Any, frame: Frame) -> Event | None:
        """Takes an event."""
        match frame.event:
            case "contentBlockDelta":
                return self._delta(data["contentBlockIndex"], data["delta"])
            case "contentBlockStart":
                self._start(data["contentBlockIndex"], data["start"])
            case "contentBlockStop":
                if (part := self.open.pop(data["contentBlockIndex"], None)) is not None:
                    self._stop(part)
            case "messageStart":
                self._begin(data)
            case "messageStop":
                self._message_stop(data)
            case "metadata":
                self._end(data)
            case _:
                if type(data) is not dict:
                    raise TypeError("event")  # any other is of a later version
        return None

    # ------------------------------------------------------------------------------------------ message

    def _begin(self, data: Wire) -> None:
        if self.begun:
            raise TypeError("messageStart")
        role = {"role": data["role"]} if "role" in data else {}
        self.body = {"output": {"message": {"content": [], **role}}}
        self.start(None, None)

    def _started(self) -> None:
        if not self.begun or self.stopped:
            raise TypeError("no message is open")

    def _message_stop(self, data: Wire) -> None:
        self._started()
        for index in sorted(self.open):
            # the answer is complete, though nobody said so of a block
            self._stop(self.open.pop(index))
        self.body.update({name: value for name, value in data.items() if name != "p"})
        self.stopped = True

    def _end(self, data: Wire) -> None:
        if not self.stopped:
            raise TypeError("metadata")
        self.body.update({name: value for name, value in data.items() if name != "p"})
        if isinstance(usage := data.get("usage"), dict):
            self.emit_usage(COUNTS.read(usage, self.endpoint))
        self.complete(assembled(self.body, self.blocks.content, self.reading))

    def arrived(self) -> Wire | None:
        """The answer as far as it came, without a block that cannot be read."""
        if not self.begun:
            return None
        found = self.blocks.so_far(self.open.values(), self._read)
        return failed(assembled(self.body, found, self.reading))

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, start: Wire) -> None:
        self._started()
        kind = next((name for name in start if name != "type" and start[name] is not None), None)
        if kind is None and type(start) is dict:
            return  # a text or a thought, which begins with its first delta
        if index in self.open or kind is None:
            raise TypeError("contentBlockStart")
        raw = {kind: dict(start[kind])} if isinstance(start[kind], dict) else dict(start)
        if kind == "toolUse":
            raw[kind].setdefault("input", {})
        elif kind == "toolResult":
            raw[kind].setdefault("content", [])
        self._open(index, kind, raw)

    def _open(self, index: int, kind: str, raw: Wire) -> Part:
        if type(index) is not int:
            raise TypeError("contentBlockIndex")
        match kind:
            case "text" | "citationsContent":
                begun = {"type": "text", "text": ""}
            case "reasoningContent" if "redactedContent" not in raw[kind]:
                begun = {"type": "thinking", "text": ""}
            case "image":
                begun = self.reading.opaque(kind, {kind: dict(raw[kind])})
            case _:
                # a copy: the raw block grows
                begun = block_from_wire(_copy(raw), ASSISTANT, self.reading)
        part = self.open[index] = Part(kind, raw, self.blocks.begin(begun))
        return part

    def _delta(self, index: int, delta: Wire) -> Event | None:
        part = self.open.get(index)
        if part is not None and part.kind == "text" and type(text := delta.get("text")) is str and text:
            part.pieces.append(text)
            return {"type": "text_delta", "index": part.index, "text": text}
        self._started()
        kind = next((name for name in delta if name in _DELTAS and delta[name] is not None), None)
        if kind is None:
            if type(delta) is not dict:
                raise TypeError("delta")
            return None  # of a later version
        value = delta[kind]
        if part is None:
            opened = _OPENED_BY.get(kind)
            if opened is None:
                raise TypeError("delta")
            raw: Wire = {opened: "" if opened == "text" else {}}
            if opened == "reasoningContent" and value.get("redactedContent") is not None:
                raw = {opened: {"redactedContent": ""}}
            part = self._open(index, opened, raw)
        self._grow(part, kind, value)
        return None

    def _grow(self, part: Part, kind: str, value: Any) -> None:
        match kind:
            case "text" if part.kind in _PROSE:
                self.blocks.append(part, value)
            case "toolUse" if part.kind == "toolUse":
                self.blocks.append(part, value["input"])
            case "reasoningContent" if part.kind == "reasoningContent":
                self._grow_reasoning(part, value)
            case "citation" if part.kind in _PROSE:
                part.kind = "citationsContent"
                if "citationsContent" not in part.raw:
                    part.raw = {"citationsContent": {}}
                part.raw["citationsContent"].setdefault("citations", []).append(value)
            case "toolResult" if part.kind == "toolResult":
                part.raw["toolResult"]["content"] += [dict(item) for item in value]
            case "image" if part.kind == "image":
                part.raw["image"].update(value)
            case _:
                raise TypeError("delta")

    def _grow_reasoning(self, part: Part, value: Wire) -> None:
        inner = part.raw["reasoningContent"]
        for name, piece in value.items():
            match name:
                case _ if piece is None:
                    pass
                case "text":
                    self.blocks.append(part, piece)
                case "signature":
                    inner["signature"] = signature = inner.get("signature", "") + string(piece)
                    self.blocks.sign(part.index, signature)
                case "redactedContent":
                    inner["redactedContent"] = inner.get("redactedContent", "") + string(piece)
                case _:
                    pass  # of a later version

    def _stop(self, part: Part) -> None:
        self.blocks.end(part.index, self._read(part))

    def _read(self, part: Part) -> Event:
        """The block as the unary answer would have it."""
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
                arguments = parse_arguments(text) if text else {}
                begun = self.blocks.content[part.index]
                if begun["type"] == "tool_use":
                    # the wire has no place for text that is no object; the answer keeps it
                    unread = {} if arguments is not None else {"input_raw": text}
                    return {**begun, "input": arguments or {}, **unread}
                raw = {"toolUse": {**raw["toolUse"], "input": arguments if arguments is not None else text}}
            case _:
                pass
        return block_from_wire(raw, ASSISTANT, self.reading)


def _copy(value: Any) -> Any:
    """A copy of plain data down to the lists that grow."""
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return list(value) if isinstance(value, list) else value
