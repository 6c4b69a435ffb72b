"""
Streams from the wire: each message is a patch on the body that a whole answer would be.

Only calls, results and images say that they begin; a text or a thought begins with its first delta.
The last message is `metadata`, which brings the usage and comes behind `messageStop`.
"""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._kit import Event, Wire, parse_arguments
from interlingua.adapters._stream_reader import UNREADABLE, Answer, Blocks, Decoder, decoded, failed
from interlingua.adapters.bedrock_converse.blocks import block_from_wire
from interlingua.adapters.bedrock_converse.errors import in_band
from interlingua.adapters.bedrock_converse.responses import assembled, usage_from_wire
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


class _Block:
    """A block that is growing: its wire form so far, and the fragments that are not in it yet."""

    __slots__ = ("fragments", "kind", "position", "raw")

    def __init__(self, kind: str, raw: Wire) -> None:
        self.kind = kind
        self.raw = raw
        self.position = -1  # in the canonical message
        self.fragments: list[str] = []


class _Answer(Answer):
    """The body so far, and its blocks that are growing."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.blocks = Blocks(0, self.due)
        self.body: Wire | None = None
        self.open: dict[int, _Block] = {}
        self.stopped = False

    def patch(self, frame: Frame) -> Event | None:
        """Takes a message."""
        if frame.kind == DAMAGED:
            self.unreadable()
            return None
        if frame.kind != EVENT:
            self.fail(in_band(frame.event, frame.data, self.endpoint))
            return None
        data = json.loads(frame.data)
        match frame.event:
            case "contentBlockDelta":
                return self._delta(data["contentBlockIndex"], data["delta"])
            case "contentBlockStart":
                self._start(data["contentBlockIndex"], data["start"])
            case "contentBlockStop":
                if (block := self.open.pop(data["contentBlockIndex"], None)) is not None:
                    self._stop(block)
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
        if self.body is not None:
            raise TypeError("messageStart")
        role = {"role": data["role"]} if "role" in data else {}
        self.body = {"output": {"message": {"content": [], **role}}}
        self.start(None, None)

    def _started(self) -> Wire:
        if self.body is None or self.stopped:
            raise TypeError("no message is open")
        return self.body

    def _message_stop(self, data: Wire) -> None:
        body = self._started()
        for index in sorted(self.open):
            # the answer is complete, though nobody said so of a block
            self._stop(self.open.pop(index))
        body.update({name: value for name, value in data.items() if name != "p"})
        self.stopped = True

    def _end(self, data: Wire) -> None:
        if not self.stopped or self.body is None:
            raise TypeError("metadata")
        self.body.update({name: value for name, value in data.items() if name != "p"})
        if isinstance(usage := data.get("usage"), dict):
            self.tell_usage(usage_from_wire(usage))
        self.complete(assembled(self.body, self.blocks.content, self.reading, self.endpoint))

    def arrived(self) -> Wire | None:
        """The answer as far as it came, without a block that cannot be read."""
        if self.body is None:
            return None
        content: list[Any] = list(self.blocks.content)
        for block in self.open.values():
            try:
                content[block.position] = self._read(block)
            except UNREADABLE:
                content[block.position] = None
        found = [block for block in content if block is not None]
        return failed(assembled(self.body, found, self.reading, self.endpoint))

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

    def _open(self, index: int, kind: str, raw: Wire) -> _Block:
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
        block = self.open[index] = _Block(kind, raw)
        block.position = self.blocks.begin(begun)
        return block

    def _delta(self, index: int, delta: Wire) -> Event | None:
        block = self.open.get(index)
        if block is not None and block.kind == "text" and type(text := delta.get("text")) is str and text:
            block.fragments.append(text)
            return {"type": "text_delta", "index": block.position, "text": text}
        self._started()
        kind = next((name for name in delta if name in _DELTAS and delta[name] is not None), None)
        if kind is None:
            if type(delta) is not dict:
                raise TypeError("delta")
            return None  # of a later version
        value = delta[kind]
        if block is None:
            opened = _OPENED_BY.get(kind)
            if opened is None:
                raise TypeError("delta")
            raw: Wire = {opened: "" if opened == "text" else {}}
            if opened == "reasoningContent" and value.get("redactedContent") is not None:
                raw = {opened: {"redactedContent": ""}}
            block = self._open(index, opened, raw)
        self._grow(block, kind, value)
        return None

    def _grow(self, block: _Block, kind: str, value: Any) -> None:
        match kind:
            case "text" if block.kind in _PROSE:
                block.fragments.append(string(value))
                self.blocks.more(block.position, "text", value)
            case "toolUse" if block.kind == "toolUse":
                text = string(value["input"])
                block.fragments.append(text)
                begun = self.blocks.content[block.position]
                if begun["type"] == "tool_use":
                    self.blocks.more_arguments(block.position, begun["id"], text)
            case "reasoningContent" if block.kind == "reasoningContent":
                self._grow_reasoning(block, value)
            case "citation" if block.kind in _PROSE:
                block.kind = "citationsContent"
                if "citationsContent" not in block.raw:
                    block.raw = {"citationsContent": {}}
                block.raw["citationsContent"].setdefault("citations", []).append(value)
            case "toolResult" if block.kind == "toolResult":
                block.raw["toolResult"]["content"] += [dict(part) for part in value]
            case "image" if block.kind == "image":
                block.raw["image"].update(value)
            case _:
                raise TypeError("delta")

    def _grow_reasoning(self, block: _Block, value: Wire) -> None:
        inner = block.raw["reasoningContent"]
        for name, part in value.items():
            match name:
                case _ if part is None:
                    pass
                case "text":
                    block.fragments.append(string(part))
                    self.blocks.more(block.position, "thinking", part)
                case "signature":
                    inner["signature"] = signature = inner.get("signature", "") + string(part)
                    event: Event = {"type": "thinking_delta", "index": block.position, "text": ""}
                    self.blocks.tell(event | {"signature": signature})
                case "redactedContent":
                    inner["redactedContent"] = inner.get("redactedContent", "") + string(part)
                case _:
                    pass  # of a later version

    def _stop(self, block: _Block) -> None:
        self.blocks.end(block.position, self._read(block))

    def _read(self, block: _Block) -> Event:
        """The block as the unary answer would have it."""
        raw, text = block.raw, "".join(block.fragments)
        match block.kind:
            case "text":
                raw = {"text": text}
            case "citationsContent":
                inner = raw["citationsContent"]
                raw = {"citationsContent": {"content": [{"text": text}], **inner} if text else inner}
            case "reasoningContent" if "redactedContent" not in raw["reasoningContent"]:
                raw = {"reasoningContent": {"reasoningText": {"text": text, **raw["reasoningContent"]}}}
            case "toolUse":
                arguments = parse_arguments(text) if text else {}
                begun = self.blocks.content[block.position]
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
