"""
Streamed answers both ways.

Only calls, results and images say that they begin; a text or a thought begins with its first delta.
The last message is `metadata`, which brings the usage and comes behind `messageStop`.
"""

from collections.abc import Generator, Iterator
from typing import Any, Final

from interlingua.adapters._answers import ending
from interlingua.adapters._claude.streams import (
    Answer,
    audible,
    decoded,
    not_in_pieces,
    report_unsaid,
    started,
    stopped,
    unsaid_arguments,
)
from interlingua.adapters._claude.values import ASSISTANT, UNREADABLE, string
from interlingua.adapters._kit import Encoder, Wire, arguments_text, encoded, parse_arguments
from interlingua.adapters.bedrock_converse.blocks import block_from_wire
from interlingua.adapters.bedrock_converse.errors import in_band, to_wire_exception
from interlingua.adapters.bedrock_converse.responses import assembled, played_block, to_wire_response, usage_from_wire
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss
from interlingua.wire.eventstream import DAMAGED, EVENT, EXCEPTION, Frame

Event = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Event], Frame | None, None]:
    """Reads a streamed answer: start it with `next`, send frames and at the end None, get the events each completes.

    The last event is `message_complete` or `error`; what comes after it is passed over.
    Never raises: what cannot be read is an `error` event of category invalid_response with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


class _Block:
    """A block that is growing: its wire form so far, and the fragments that are not in it yet."""

    __slots__ = ("begun", "fragments", "kind", "position", "raw")

    def __init__(self, kind: str, raw: Wire, position: int) -> None:
        self.kind = kind
        self.raw = raw
        self.position = position  # in the canonical message
        self.begun: Event = {}
        self.fragments: list[str] = []


class _Answer(Answer):
    """The state of one streamed answer."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint, ids)
        self.body: Wire | None = None
        self.open: dict[int, _Block] = {}
        self.stopped = False

    def frame(self, frame: Frame) -> list[Event]:
        """The events of one frame."""
        if frame.kind != EVENT:
            if frame.kind == DAMAGED:
                return self.unreadable()
            return self.failed(in_band(frame.event, frame.data, self.endpoint))
        try:
            return self._event(frame.event, json.loads(frame.data))
        except (*UNREADABLE, InvalidAnswer, InvalidRequest):
            return self.unreadable()

    def _event(self, name: str | None, data: Any) -> list[Event]:
        match name:
            case "contentBlockDelta":
                return self._delta(data["contentBlockIndex"], data["delta"])
            case "contentBlockStart":
                return self._start(data["contentBlockIndex"], data["start"])
            case "contentBlockStop":
                block = self.open.pop(data["contentBlockIndex"], None)
                return [] if block is None else self._stop(block)
            case "messageStart":
                return self._begin(data)
            case "messageStop":
                return self._message_stop(data)
            case "metadata":
                return self._end(data)
            case _:
                if type(data) is not dict:
                    raise TypeError("event")
                return []  # of a later version

    # ------------------------------------------------------------------------------------------ message

    def _begin(self, data: Wire) -> list[Event]:
        if self.body is not None:
            raise TypeError("messageStart")
        message: Wire = {"content": []}
        if "role" in data:
            message["role"] = data["role"]
        self.body = {"output": {"message": message}}
        return [{"type": "message_start"}]

    def _started(self) -> Wire:
        if self.body is None or self.stopped:
            raise TypeError("no message is open")
        return self.body

    def _message_stop(self, data: Wire) -> list[Event]:
        body = self._started()
        events: list[Event] = []
        for index in sorted(self.open):
            # the answer is complete, though nobody said so of a block
            events += self._stop(self.open.pop(index))
        body.update({name: value for name, value in data.items() if name != "p"})
        self.stopped = True
        return events

    def _end(self, data: Wire) -> list[Event]:
        if not self.stopped or self.body is None:
            raise TypeError("metadata")
        self.body.update({name: value for name, value in data.items() if name != "p"})
        events: list[Event] = []
        if isinstance(usage := data.get("usage"), dict):
            events.append({"type": "usage_update", "usage": usage_from_wire(usage)})
        response = assembled(self.body, self.blocks, self.reading, self.endpoint)
        events.append({"type": "message_complete", "response": response})
        self.ended = True
        return events

    # ------------------------------------------------------------------------------------------ failure

    def arrived(self) -> Wire | None:
        """The answer as far as it came."""
        if self.body is None:
            return None
        for block in self.open.values():
            try:
                self.blocks[block.position] = self._read(block)
            except UNREADABLE:
                self.blocks[block.position] = None
        blocks = [block for block in self.blocks if block is not None]
        return assembled(self.body, blocks, self.reading, self.endpoint)

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, start: Wire) -> list[Event]:
        self._started()
        kind = next((name for name in start if name != "type" and start[name] is not None), None)
        if kind is None and type(start) is dict:
            return []  # a text or a thought, which begins with its first delta
        if type(index) is not int or index in self.open or kind is None:
            raise TypeError("contentBlockStart")
        raw = {kind: dict(start[kind])} if isinstance(start[kind], dict) else dict(start)
        if kind == "toolUse":
            raw[kind].setdefault("input", {})
        elif kind == "toolResult":
            raw[kind].setdefault("content", [])
        return self._open(index, kind, raw)

    def _open(self, index: int, kind: str, raw: Wire) -> list[Event]:
        if type(index) is not int:
            raise TypeError("contentBlockIndex")
        block = _Block(kind, raw, len(self.blocks))
        match kind:
            case "text" | "citationsContent":
                block.begun = {"type": "text", "text": ""}
            case "reasoningContent" if "redactedContent" not in raw[kind]:
                block.begun = {"type": "thinking", "text": ""}
            case "image":
                block.begun = self.reading.opaque(kind, {kind: dict(raw[kind])})
            case _:
                # a copy: the raw block grows
                block.begun = block_from_wire(_copy(raw), ASSISTANT, self.reading)
        self.blocks.append(block.begun)
        self.open[index] = block
        return started(block.position, block.begun)

    def _delta(self, index: int, delta: Wire) -> list[Event]:
        if type(text := delta.get("text")) is str and (grown := self.open.get(index)) is not None and text:
            if grown.kind != "text":
                return self._grow(grown, "text", text)
            grown.fragments.append(text)
            return [{"type": "text_delta", "index": grown.position, "text": text}]
        self._started()
        kind = next((name for name in delta if name in _DELTAS and delta[name] is not None), None)
        if kind is None:
            if type(delta) is not dict:
                raise TypeError("delta")
            return []  # of a later version
        value = delta[kind]
        events: list[Event] = []
        block = self.open.get(index)
        if block is None:
            opened = _OPENED_BY.get(kind)
            if opened is None:
                raise TypeError("delta")
            raw: Wire = {opened: "" if opened == "text" else {}}
            if opened == "reasoningContent" and value.get("redactedContent") is not None:
                raw = {opened: {"redactedContent": ""}}
            events = self._open(index, opened, raw)
            block = self.open[index]
        return events + self._grow(block, kind, value)

    def _grow(self, block: _Block, kind: str, value: Any) -> list[Event]:
        match kind:
            case "text" if block.kind in ("text", "citationsContent"):
                block.fragments.append(string(value))
                return [{"type": "text_delta", "index": block.position, "text": value}] if value else []
            case "toolUse" if block.kind == "toolUse":
                text = string(value["input"])
                block.fragments.append(text)
                if not text or block.begun["type"] != "tool_use":
                    return []
                identity = block.begun["id"]
                return [{"type": "tool_use_input_delta", "index": block.position, "id": identity, "text": text}]
            case "reasoningContent" if block.kind == "reasoningContent":
                return self._grow_reasoning(block, value)
            case "citation" if block.kind in ("text", "citationsContent"):
                block.kind = "citationsContent"
                if "citationsContent" not in block.raw:
                    block.raw = {"citationsContent": {}}
                block.raw["citationsContent"].setdefault("citations", []).append(value)
                return []
            case "toolResult" if block.kind == "toolResult":
                block.raw["toolResult"]["content"] += [dict(part) for part in value]
                return []
            case "image" if block.kind == "image":
                block.raw["image"].update(value)
                return []
            case _:
                raise TypeError("delta")

    def _grow_reasoning(self, block: _Block, value: Wire) -> list[Event]:
        inner = block.raw["reasoningContent"]
        events: list[Event] = []
        for name, part in value.items():
            match name:
                case _ if part is None:
                    pass
                case "text":
                    block.fragments.append(string(part))
                    if part:
                        events.append({"type": "thinking_delta", "index": block.position, "text": part})
                case "signature":
                    inner["signature"] = inner.get("signature", "") + string(part)
                    signature = inner["signature"]
                    events.append(
                        {"type": "thinking_delta", "index": block.position, "text": "", "signature": signature}
                    )
                case "redactedContent":
                    inner["redactedContent"] = inner.get("redactedContent", "") + string(part)
                case _:
                    pass  # of a later version
        return events

    def _stop(self, block: _Block) -> list[Event]:
        canonical = self._read(block)
        self.blocks[block.position] = canonical
        return stopped(block.position, canonical)

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
                return self._read_call(block, text)
            case _:
                pass
        return block_from_wire(raw, ASSISTANT, self.reading)

    def _read_call(self, block: _Block, text: str) -> Event:
        arguments = parse_arguments(text) if text else {}
        if block.begun["type"] != "tool_use":
            use = {**block.raw["toolUse"], "input": arguments if arguments is not None else text}
            return block_from_wire({"toolUse": use}, ASSISTANT, self.reading)
        if arguments is None:
            # the wire has no place for text that is no object; the answer keeps it
            return {**block.begun, "input": {}, "input_raw": text}
        return {**block.begun, "input": arguments}


def _copy(value: Any) -> Any:
    """A copy of plain data down to the lists that grow."""
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return list(value) if isinstance(value, list) else value


_DELTAS: Final = frozenset(("text", "toolUse", "reasoningContent", "citation", "toolResult", "image"))
_OPENED_BY: Final = {"text": "text", "reasoningContent": "reasoningContent", "citation": "citationsContent"}


# ---------------------------------------------------------------------------------------------- to the wire


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Streams an answer as this provider would, whatever its origin. Only the first of several answers is written."""
    return encoded(_Encoder(endpoint).event)


def stream_loss(response: Wire, endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say. Its pieces say what the whole answer cannot: arguments as they were cut,
    and texts that are blank."""
    answer = audible(response)
    _, loss = to_wire_response(answer, endpoint)
    unsaid = report_unsaid(answer, loss, ("text", "thinking", "redacted_thinking"), endpoint)
    return not_in_pieces(loss, answer) + unsaid


def _frame(name: str, **members: Any) -> Frame:
    return Frame(name, json.dumps(members).decode())


class _Encoder:
    """The state of one answer that is being written."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.indexes: dict[int, int] = {}
        self.sent: dict[int, int] = {}  # characters of text or arguments that went out, by canonical index
        self.free: set[int] = set()  # calls whose arguments are free text
        self.silent: dict[int, str] = {}  # texts and thoughts that have begun and said nothing, which tells nobody so
        self.whole: set[int] = set()  # blocks that have begun and are written when they end
        self.later: dict[int, list[Event]] = {}  # what began behind one of those and waits for its end
        self.begun = False
        self.writing = Writing({}, endpoint, Loss())
        self.writing.own = True
        self.writing.take_as_read()  # an answer is given as it is; only requests are repaired

    def event(self, event: Event) -> list[Frame]:
        """The frames of one event; none of an answer beside the first."""
        if event.get("choice"):
            return []
        if event["type"] == "text_delta" and event["index"] in self.indexes and not self.silent:
            return list(self._grow(event["index"], event["text"], {"text": event["text"]}))
        return list(self._event(event))

    def _event(self, event: Event) -> Iterator[Frame]:
        match event["type"]:
            case "message_start":
                yield from self._started()
            case "error":
                while self.later:
                    yield from self._released()
                name, payload = to_wire_exception(event["error"], self.endpoint)
                yield Frame(name, json.dumps(payload).decode(), EXCEPTION)
            case "message_complete":
                yield from self._started()
                yield from self._complete(event["response"])
            case kind if kind in _BLOCK_EVENTS:
                yield from self._started()
                yield from self._block_event(kind, event)
            case _:
                pass  # usage comes at the end; events of later versions

    def _started(self) -> Iterator[Frame]:
        if not self.begun:
            self.begun = True
            yield _frame("messageStart", role=ASSISTANT)

    # ------------------------------------------------------------------------------------------ blocks

    def _block_event(self, kind: str, event: Event) -> Iterator[Frame]:
        index: int = event["index"]
        if index in self.later or (self.whole and kind == "block_start"):
            self.later.setdefault(index, []).append(event)
            return
        if self.silent:
            yield from self._begin_before(index, event)
        match kind:
            case "block_start":
                yield from self._block_start(index, event["block"])
            case "text_delta":
                yield from self._grow(index, event["text"], {"text": event["text"]})
            case "thinking_delta":
                yield from self._grow(index, event["text"], {"reasoningContent": {"text": event["text"]}})
            case "tool_use_input_delta":
                text = event["text"]
                if index in self.free or (text == "null" and not self.sent.get(index)):
                    return  # written whole at the end; some say it so that there are no arguments
                yield from self._grow(index, text, {"toolUse": {"input": text}})
            case "block_stop":
                yield from self._block_stop(index, event["block"])
                if index in self.whole:
                    self.whole.discard(index)
                    yield from self._released()
            case _:
                pass

    def _released(self) -> Iterator[Frame]:
        """What waited for the end of a block that is written whole."""
        if not self.later:
            return
        later = list(self.later.values())
        self.later = {}
        self.whole.clear()
        for events in later:
            for event in events:
                yield from self._block_event(event["type"], event)

    def _begin_before(self, index: int, event: Event) -> Iterator[Frame]:
        """The beginnings of the texts and thoughts that stand before a block of which something is about to be said."""
        kind = event["type"]
        if kind == "block_start":
            if event["block"]["type"] != "tool_use":
                return
        elif kind != "block_stop" and not event["text"]:
            return
        number = self.indexes.get(index, len(self.indexes))
        for other, begun in list(self.silent.items()):
            if self.indexes[other] < number:
                del self.silent[other]
                yield self._delta(other, {"text": ""} if begun == "text" else {"reasoningContent": {"text": ""}})
        self.silent.pop(index, None)

    def _block_start(self, index: int, block: Event) -> Iterator[Frame]:
        match block["type"]:
            case "text" | "thinking":
                self._opened(index)
                self.silent[index] = block["type"]
            case "tool_use":
                if block.get("kind", "function") != "function":
                    self.free.add(index)
                wire = self._wire({**block, "input": {}}) or {}
                start = {name: value for name, value in wire["toolUse"].items() if name != "input"}
                yield _frame("contentBlockStart", start={"toolUse": start}, contentBlockIndex=self._opened(index))
            case _:
                self.whole.add(index)

    def _opened(self, index: int) -> int:
        self.indexes[index] = number = len(self.indexes)
        self.sent[index] = 0
        return number

    def _wire(self, block: Event) -> Wire | None:
        return played_block(block, self.writing, ("message", "content", 0))

    def _delta(self, index: int, delta: Wire) -> Frame:
        return _frame("contentBlockDelta", delta=delta, contentBlockIndex=self.indexes[index])

    def _grow(self, index: int, text: str, delta: Wire) -> list[Frame]:
        if not text or index not in self.indexes:
            return []
        self.sent[index] += len(text)
        return [self._delta(index, delta)]

    def _block_stop(self, index: int, block: Event) -> Iterator[Frame]:
        if index not in self.indexes:
            yield from self._whole(index, block)
            return
        match block["type"]:
            case "text":
                yield from self._text_end(index, block)
            case "thinking":
                # what the deltas did not say; sources that give blocks whole send none
                rest = block["text"][self.sent[index] :]
                if rest or not self.sent[index]:
                    yield self._delta(index, {"reasoningContent": {"text": rest}})
                wire = self._wire(block) or {}
                signature = wire.get("reasoningContent", {}).get("reasoningText", {}).get("signature")
                if signature is not None:
                    yield self._delta(index, {"reasoningContent": {"signature": signature}})
            case "tool_use":
                yield from self._arguments(index, block)
            case _:
                pass
        yield _frame("contentBlockStop", contentBlockIndex=self.indexes[index])

    def _text_end(self, index: int, block: Event) -> Iterator[Frame]:
        rest = block["text"][self.sent[index] :]
        cited: Wire = {}
        if block.get("citations"):
            cited = (self._wire(block) or {}).get("citationsContent", {})
        if rest or not (self.sent[index] or cited):
            yield self._delta(index, {"text": rest})
        for citation in cited.get("citations", []):
            yield self._delta(index, {"citation": citation})

    def _arguments(self, index: int, block: Event) -> Iterator[Frame]:
        if self.sent[index]:
            return
        text = unsaid_arguments(block, index in self.free)
        yield from self._grow(index, text, {"toolUse": {"input": text}})

    def _whole(self, index: int, block: Event) -> Iterator[Frame]:
        """A block that is written when it is complete; one that this wire cannot stream is left out."""
        # a picture is the only one of them that comes from elsewhere
        self.writing.as_read = block["type"] != "image"
        wire = self._wire(block)
        self.writing.as_read = True
        if wire is None:
            return
        deltas: list[Wire] = []
        start: Wire | None = None
        match wire:
            case {"reasoningContent": {"redactedContent": data}}:
                deltas = [{"reasoningContent": {"redactedContent": data}}]
            case {"toolUse": {"input": value, **use}}:
                start = {"toolUse": use}
                deltas = [{"toolUse": {"input": value if isinstance(value, str) else arguments_text(value)}}]
            case {"toolResult": {"content": content, **result}}:
                start = {"toolResult": result}
                deltas = [{"toolResult": content}]
            case {"image": {"source": source, **image}}:
                start = {"image": image}
                deltas = [{"image": {"source": source}}]
            case {"text": text}:
                deltas = [{"text": text}]
            case _:
                return
        number = self._opened(index)
        if start is not None:
            yield _frame("contentBlockStart", start=start, contentBlockIndex=number)
        for delta in deltas:
            yield self._delta(index, delta)
        yield _frame("contentBlockStop", contentBlockIndex=number)

    # ------------------------------------------------------------------------------------------ the end

    def _complete(self, response: Wire) -> Iterator[Frame]:
        body, _ = to_wire_response(ending(response), self.endpoint)
        stop = {name: body[name] for name in _STOP if name in body}
        rest = {name: value for name, value in body.items() if name not in _STOP and name != "output"}
        yield _frame("messageStop", **stop)
        yield _frame("metadata", **rest)


_BLOCK_EVENTS: Final = frozenset(("block_start", "text_delta", "thinking_delta", "tool_use_input_delta", "block_stop"))
_STOP: Final = ("stopReason", "additionalModelResponseFields")
