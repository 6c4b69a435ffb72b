"""Streamed answers both ways."""

import hashlib
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
from interlingua.adapters._claude.values import ASSISTANT, UNREADABLE, string, wire_model
from interlingua.adapters._kit import Encoder, Repetition, Wire, arguments_text, encoded, parse_arguments
from interlingua.adapters.anthropic_messages.blocks import block_from_wire, block_to_wire
from interlingua.adapters.anthropic_messages.errors import error as error_from_wire
from interlingua.adapters.anthropic_messages.errors import error_in_stream
from interlingua.adapters.anthropic_messages.responses import assembled, to_wire_response, usage_begun, usage_from_wire
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer
from interlingua.wire.sse import Frame

Event = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Event], Frame | None, None]:
    """Reads a streamed answer: start it with `next`, send frames and at the end None, get the events each completes.

    The last event is `message_complete` or `error`; what comes after it is passed over.
    Never raises: what cannot be read is an `error` event of category invalid_response with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_GROWS: Final[dict[str, tuple[str, type[Any]]]] = {
    "text": ("text", str),
    "thinking": ("thinking", str),
    "tool_use": ("input", dict),
}
"""The members that grow by deltas, and what they are."""
_TELLS: Final = {"text_delta": "text", "thinking_delta": "thinking"}
"""The kind of block that a piece belongs to."""


class _Block:
    """A block that is growing: its wire form so far, and the fragments that are not in it yet."""

    __slots__ = ("id", "index", "json", "kind", "position", "raw", "text")

    def __init__(self, raw: Wire, index: int, position: int) -> None:
        self.raw = raw
        self.kind: str = raw["type"]
        self.index = index  # on the wire
        self.position = position  # in the canonical message
        self.id = ""
        self.text: list[str] = []
        self.json: list[str] = []


class _Answer(Answer):
    """The state of one streamed answer."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint, ids)
        self.message: Wire | None = None
        self.open: dict[int, _Block] = {}  # by their index on the wire; those told beside a call have none of their own
        self.beside: dict[tuple[int, str], int] = {}  # what is told beside a call, by its index and kind
        self.trailer: Wire = {}
        self.text: tuple[_Block, Repetition] | None = None  # the text that is being told, and what its frames share

    def frame(self, frame: Frame) -> list[Event]:
        """The events of one frame."""
        known = self.text
        if known is not None:
            block, repetition = known
            if text := repetition.text(frame.data):
                block.text.append(text)
                return [{"type": "text_delta", "index": block.position, "text": text}]
        try:
            data = json.loads(frame.data)
        except InvalidRequest:
            # a closing [DONE] is no part of this wire, but some servers send it
            return [] if frame.data.strip() in ("", "[DONE]") else self.unreadable()
        try:
            events = self._event(data)
            if events and events[0]["type"] == "text_delta" and self.open[data["index"]].kind == "text":
                self._repeats(self.open[data["index"]], frame.data)
            return events
        except (*UNREADABLE, InvalidAnswer):
            return self.unreadable()

    def _repeats(self, block: _Block, data: str) -> None:
        if self.text is None or self.text[0] is not block:
            self.text = block, Repetition(data, "delta", "text")

    def _event(self, data: Any) -> list[Event]:
        match data.get("type"):
            case "content_block_delta":
                return [] if data["delta"] is None else self._told(data["index"], data["delta"])
            case "content_block_start":
                return self._start(data["index"], dict(data["content_block"]))
            case "content_block_stop":
                return self._ended(data["index"])
            case "message_start":
                return self._begin(data["message"])
            case "message_delta":
                return self._message_delta(data)
            case "message_stop":
                return self._end(data)
            case "message":
                return self._begin(data) + self._end({})  # a whole answer in one frame
            case "error":
                return self.failed(error_from_wire(200, {}, data, self.endpoint))
            case _:
                return []  # ping, and what later versions add

    # ------------------------------------------------------------------------------------------ message

    def _begin(self, message: Wire) -> list[Event]:
        content = message.get("content") or []
        if self.message is not None and not content and message.get("id") == self.message.get("id"):
            return []  # some servers say again that the same answer begins
        if self.message is not None or type(content) is not list:
            raise TypeError("message_start")
        self.message = {**message, "content": []}
        event: Event = {"type": "message_start"}
        if type(model := message.get("model")) is str:
            event["model"] = self.endpoint.model_id(model) or ""
        if type(identity := message.get("id")) is str:
            event["response_id"] = identity
        events = [event, *self._usage()]
        # a continuation of programmatic tool calling has its blocks here already
        for index, block in enumerate(content):
            events += self._start(index, dict(block))
            events += self._stop(self.open.pop(index))
        return events

    def _usage(self) -> list[Event]:
        usage = (self.message or {}).get("usage")
        return [{"type": "usage_update", "usage": usage_from_wire(usage)}] if isinstance(usage, dict) else []

    def _message_delta(self, data: Wire) -> list[Event]:
        if self.message is None:
            raise TypeError("message_delta")
        for name, value in data.items():
            match name:
                case "type":
                    pass
                case "delta" | "usage" if value is None:
                    pass
                case "delta":
                    self.message.update(value)
                case "usage" if isinstance(value, dict):
                    # cumulative: what is absent keeps its value
                    known = {member: count for member, count in value.items() if count is not None}
                    self.message["usage"] = {**value, **(self.message.get("usage") or {}), **known}
                case _:
                    self.message[name] = value
        return self._usage() if data.get("usage") is not None else []

    def _end(self, data: Wire) -> list[Event]:
        if self.message is None:
            raise TypeError("message_stop")
        events: list[Event] = []
        for index in sorted(self.open):
            # the answer is complete, though a server forgot to say so of a block
            events += self._stop(self.open.pop(index))
        self.trailer = {name: value for name, value in data.items() if name != "type"}
        events.append({"type": "message_complete", "response": self._response()})
        self.ended = True
        return events

    def _response(self) -> dict[str, Any]:
        response = assembled(self.message or {}, self.blocks, self.reading, self.endpoint)
        if self.trailer:
            response["provider_state"].setdefault("form", {})["message_stop"] = self.trailer
        return response

    # ------------------------------------------------------------------------------------------ failure

    def arrived(self) -> Wire | None:
        """The answer as far as it came."""
        if self.message is None:
            return None
        for index in sorted(self.open):
            self._keep_partial(self.open[index])
        self.blocks = [block for block in self.blocks if block is not None]
        return self._response()

    def _keep_partial(self, block: _Block) -> None:
        try:
            self.blocks[block.position] = self._read(block)
        except UNREADABLE:
            self.blocks[block.position] = None

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, raw: Wire) -> list[Event]:
        if self.message is None or type(index) is not int or index in self.open:
            raise TypeError("content_block_start")
        position = len(self.blocks)
        if (grows := _GROWS.get(raw["type"])) is not None and raw.get(grows[0]) is None:
            raw[grows[0]] = grows[1]()  # what begins empty is left out by some servers, or null
        given = raw.get("input")
        if raw["type"] == "tool_use" and type(given) is str:
            raw["input"] = {}  # some servers begin the text that the deltas go on with
        block = _Block(raw, index, position)
        begun = self._begun(block)
        self.blocks.append(begun)
        self.open[index] = block
        events = started(position, begun)
        match block.kind:
            case "tool_use":
                if type(raw["input"]) is not dict:
                    text = arguments_text(raw["input"])
                    block.json.append(text)  # read as what it is when the block ends
                    events.append({"type": "tool_use_input_delta", "index": position, "id": block.id, "text": text})
                elif not raw["input"] and given:
                    events += self._delta(block, {"type": "input_json_delta", "partial_json": given})
            case "text" if raw["text"]:
                events.append({"type": "text_delta", "index": position, "text": raw["text"]})
            case "thinking" if raw["thinking"]:
                events.append({"type": "thinking_delta", "index": position, "text": raw["thinking"]})
            case _:
                pass
        return events

    def _begun(self, block: _Block) -> Event:
        """What is known of a block at its start. A text grows by its deltas, so it starts empty."""
        raw = block.raw
        match block.kind:
            case "text":
                if type(raw["text"]) is not str:
                    raise TypeError("text")
                begun = {"type": "text", "text": ""}
                return begun | {"citations": []} if isinstance(raw.get("citations"), list) else begun
            case "thinking":
                if type(raw["thinking"]) is not str:
                    raise TypeError("thinking")
                return {"type": "thinking", "text": ""}
            case "tool_use":
                started = block_from_wire(raw, self.reading)
                block.id = started["id"]
                return {**started, "input": {}}
            case _:
                # a copy: the raw block grows
                return block_from_wire(dict(raw), self.reading)

    def _told(self, index: int, delta: Wire) -> list[Event]:
        """The events of a piece of a block, or of one that some servers put into a block of another kind."""
        block = self.open[index]
        kind = _TELLS.get(delta["type"], block.kind)
        if kind == block.kind or block.kind not in _GROWS:
            return self._delta(block, delta)
        if not delta.get(_GROWS[kind][0]):
            return []
        if block.kind != "tool_use":
            # text and reasoning take turns: the one that was open has ended
            return [*self._stop(self.open.pop(index)), *self._start(index, {"type": kind}), *self._told(index, delta)]
        # a call goes on: what stands between its arguments is told beside it
        beside = self.beside.get((index, kind))
        if beside is not None:
            return self._delta(self.open[beside], delta)
        self.beside[(index, kind)] = beside = -1 - len(self.blocks)
        return [*self._start(beside, {"type": kind}), *self._delta(self.open[beside], delta)]

    def _ended(self, index: int) -> list[Event]:
        # some servers end a block twice
        events = self._stop(self.open.pop(index)) if index in self.open else []
        for told in [told for told in self.beside if told[0] == index]:
            events += self._stop(self.open.pop(self.beside.pop(told)))
        return events

    def _delta(self, block: _Block, delta: Wire) -> list[Event]:
        match delta["type"]:
            case "text_delta":
                text = _piece(delta["text"])
                block.text.append(text)
                return [{"type": "text_delta", "index": block.position, "text": text}] if text else []
            case "input_json_delta":
                text = _piece(delta["partial_json"])
                block.json.append(text)
                if not text or block.kind != "tool_use":
                    return []
                return [{"type": "tool_use_input_delta", "index": block.position, "id": block.id, "text": text}]
            case "thinking_delta":
                text = _piece(delta["thinking"])
                block.text.append(text)
                return [{"type": "thinking_delta", "index": block.position, "text": text}] if text else []
            case "signature_delta":
                block.raw["signature"] = signature = string(delta["signature"])
                return [{"type": "thinking_delta", "index": block.position, "text": "", "signature": signature}]
            case "citations_delta":
                block.raw["citations"] = [*(block.raw.get("citations") or []), delta["citation"]]
                return []
            case "compaction_delta":
                # each says the whole once more
                block.raw.update((name, value) for name, value in delta.items() if name != "type")
                return []
            case _:
                return []  # of a later version

    def _stop(self, block: _Block) -> list[Event]:
        self.text = None
        whole: Any = block.raw["input"] if block.kind == "tool_use" and not any(block.json) else None
        canonical = self._read(block)
        self.blocks[block.position] = canonical
        ended = stopped(block.position, canonical)
        if not whole:
            return ended
        # arguments that were there from the start; pieces that follow one another would have said them anew
        text = arguments_text(whole)
        return [{"type": "tool_use_input_delta", "index": block.position, "id": block.id, "text": text}, *ended]

    def _read(self, block: _Block) -> Event:
        """The block as the unary answer would have it."""
        raw = block.raw
        arguments = "".join(block.json)
        unparsed = None
        if arguments:
            parsed = parse_arguments(arguments)
            if parsed is None:
                unparsed = arguments
            else:
                raw["input"] = parsed
        match block.kind:
            case "text":
                raw["text"] += "".join(block.text)
            case "thinking":
                raw["thinking"] += "".join(block.text)
            case "tool_use":
                begun = self.blocks[block.position]
                canonical = {**begun, "input": raw["input"] if unparsed is None else {}}
                # the wire has no place for text that is no object; the answer keeps it
                return canonical if unparsed is None else canonical | {"input_raw": unparsed}
            case _:
                pass
        return block_from_wire(raw, self.reading)


def _piece(text: Any) -> str:
    # some servers send null for nothing
    return "" if text is None else string(text)


# ---------------------------------------------------------------------------------------------- to the wire


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Streams an answer as this provider would, whatever its origin. Only the first of several answers is written."""
    return encoded(_Encoder(endpoint).event)


def stream_loss(response: Wire, endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say. Its pieces say what the whole answer cannot: arguments as they were cut,
    and texts that are blank."""
    answer = audible(response)
    _, loss = to_wire_response(answer, endpoint)
    told = {entry["path"] for entry in loss}
    found = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        where: Path = ("message", "content", position)
        if pointer(where) in told:
            continue
        if block["type"] not in _STREAMED:
            found.drop(where, "unsupported_block", "lost", "a stream has no form for this block")
        elif block["type"] == "thinking" and not block.get("signature") and pointer((*where, "signature")) not in told:
            if block.get("signature") is None:
                message = "a stream begins reasoning with an empty signature"
                found.replace((*where, "signature"), "", "unsigned_thinking", "shape", message)
    unsaid = report_unsaid(answer, loss, ("text", "thinking"), endpoint)
    return [*not_in_pieces(loss, answer), *found.entries, *unsaid]


def _frame(kind: str, **members: Any) -> Frame:
    return Frame(kind, json.dumps({"type": kind, **members}).decode())


class _Encoder:
    """The state of one answer that is being written.

    Blocks of other wires may interleave. On this one a block ends before the next begins: what belongs to a later block
    waits for the end of the one that is `current`.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.start: Wire | None = None  # the message, held back until its usage is known or a block begins
        self.indexes: dict[int, int] = {}
        self.sent: dict[int, int] = {}  # characters of text or arguments that went out, by canonical index
        self.free: set[int] = set()  # calls whose arguments are free text
        self.late: set[int] = set()  # blocks that are written whole when they end
        self.count = 0
        self.open: int | None = None  # the block of the wire that has begun and not ended
        self.current: int | None = None  # the canonical block that has begun and not ended
        self.waiting: dict[int, list[Event]] = {}  # the events of later blocks
        self.begun = False
        self.writing = Writing({}, endpoint, Loss())
        self.writing.own = True
        self.writing.take_as_read()  # an answer is given as it is; only requests are repaired

    def event(self, event: Event) -> list[Frame]:
        """The frames of one event, and of those that waited for it."""
        if event.get("choice"):
            return []
        index: int | None = event.get("index")
        if index is not None and self.current is not None and index != self.current:
            self.waiting.setdefault(index, []).append(event)
            return []
        if event["type"] in _DELTA_EVENTS and self.begun:
            frame = self.delta(event)
            return [] if frame is None else [frame]
        return list(self._event(event, index))

    def _event(self, event: Event, index: int | None) -> Iterator[Frame]:
        kind: str = event["type"]
        if kind in _LAST_EVENTS:
            waiting, self.waiting = self.waiting, {}
            for held in waiting.values():
                yield from self._caught_up(held)
        yield from self._told(event)
        if kind == "block_start":
            self.current = index
        elif kind == "block_stop":
            self.current = None
            while self.waiting and self.current is None:
                following = next(iter(self.waiting))
                held = self.waiting.pop(following)
                yield from self._caught_up(held)
                if held[-1]["type"] != "block_stop":
                    self.current = following

    def _caught_up(self, held: list[Event]) -> Iterator[Frame]:
        """The frames of what had to wait."""
        for event in held:
            if event["type"] not in _DELTA_EVENTS:
                yield from self._told(event)
            elif (frame := self.delta(event)) is not None:
                yield frame

    def _told(self, event: Event) -> Iterator[Frame]:
        match event["type"]:
            case "message_start":
                self.start = self._message(event)
            case "usage_update":
                if self.start is not None:
                    self.start["usage"] = usage_begun(event["usage"])
                    yield from self._started()
            case "error":
                if self.start is not None:
                    yield from self._started()
                yield _frame("error", error=error_in_stream(event["error"], self.endpoint)["error"])
            case "message_complete":
                yield from self._started()
                yield from self._complete(event["response"])
            case "text_delta" | "thinking_delta" | "tool_use_input_delta":
                pass  # of a block that never began
            case kind if kind in _BLOCK_EVENTS:
                yield from self._started()
                yield from self._block_event(kind, event)
            case _:
                pass  # events of later versions

    def _message(self, event: Event) -> Wire:
        model = event.get("model")
        identity = event.get("response_id")
        if identity is None:
            seed = f"{event.get('message_id', '')}\0{model or ''}".encode()
            identity = "msg_" + hashlib.sha256(seed).hexdigest()[:24]
        return {
            "id": identity,
            "type": "message",
            "role": "assistant",
            "model": (wire_model(model) or "") if model else self.endpoint.model or "unknown",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def _started(self) -> Iterator[Frame]:
        if not self.begun:
            message, self.start = self.start or self._message({}), None
            self.begun = True
            yield _frame("message_start", message=message)

    # ------------------------------------------------------------------------------------------ blocks

    def delta(self, event: Event) -> Frame | None:
        """The frame of one delta; None for one that this wire does not say now."""
        index, text = event["index"], event["text"]
        if not text or index not in self.indexes:
            return None
        match event["type"]:
            case "text_delta":
                delta = {"type": "text_delta", "text": text}
            case "thinking_delta":
                delta = {"type": "thinking_delta", "thinking": text}
            case _ if index in self.free:
                return None  # free text becomes an argument when it is complete
            case _ if text == "null" and not self.sent[index]:
                return None  # no arguments, as some say it: nothing is said
            case _:
                delta = {"type": "input_json_delta", "partial_json": text}
        self.sent[index] += len(text)
        data = {"type": "content_block_delta", "index": self.indexes[index], "delta": delta}
        return Frame("content_block_delta", json.dumps(data).decode())

    def _block_event(self, kind: str, event: Event) -> Iterator[Frame]:
        index = event["index"]
        match kind:
            case "block_start":
                yield from self._block_start(index, event["block"])
            case "block_stop":
                yield from self._block_stop(index, event["block"])
            case _:
                pass

    def _block_start(self, index: int, block: Event) -> Iterator[Frame]:
        match block["type"]:
            case "text":
                begun: Wire = {"type": "text", "text": ""}
                if "citations" in block:
                    begun["citations"] = []
            case "thinking":
                begun = {"type": "thinking", "thinking": "", "signature": ""}
            case "tool_use":
                if block.get("kind", "function") != "function":
                    self.free.add(index)
                wire = block_to_wire({**block, "input": {}}, ASSISTANT, self.writing, ())
                begun = {**(wire or {}), "input": {}}
            case kind if kind in _LATE:
                self.late.add(index)
                return
            case _:
                return  # answers of this wire hold nothing else
        yield from self._opened(index, begun)

    def _opened(self, index: int, begun: Wire) -> Iterator[Frame]:
        if self.open is not None:  # it was cut off, and another waited for its end
            yield _frame("content_block_stop", index=self.open)
        self.indexes[index] = self.open = number = self.count
        self.count += 1
        self.sent[index] = 0
        yield _frame("content_block_start", index=number, content_block=begun)

    def _closed(self, index: int) -> Frame:
        self.open = None
        return _frame("content_block_stop", index=self.indexes[index])

    def _grow(self, index: int, delta: Wire, text: str) -> Iterator[Frame]:
        if text and index in self.indexes:
            self.sent[index] += len(text)
            yield _frame("content_block_delta", index=self.indexes[index], delta=delta)

    def _block_stop(self, index: int, block: Event) -> Iterator[Frame]:
        if index in self.late:
            yield from self._whole(index, block)
            return
        if index not in self.indexes:
            return
        match block["type"]:
            case "text":
                yield from self._rest(index, block["text"], "text_delta", "text")
                yield from self._citations(index, block)
            case "thinking":
                yield from self._rest(index, block["text"], "thinking_delta", "thinking")
                yield from self._signature(index, block)
            case "tool_use":
                yield from self._arguments(index, block)
            case _:
                pass
        yield self._closed(index)

    def _rest(self, index: int, text: str, kind: str, member: str) -> Iterator[Frame]:
        """What the deltas did not say; sources that give blocks whole send none."""
        remaining = text[self.sent[index] :]
        yield from self._grow(index, {"type": kind, member: remaining}, remaining)

    def _arguments(self, index: int, block: Event) -> Iterator[Frame]:
        if self.sent[index]:
            return
        text = unsaid_arguments(block, index in self.free)
        yield from self._grow(index, {"type": "input_json_delta", "partial_json": text}, text)

    def _signature(self, index: int, block: Event) -> Iterator[Frame]:
        # only a signature of this wire: another provider's would come back as ours
        state = block.get("provider_state")
        signature = block.get("signature")
        if signature and (state is None or self.endpoint.owns(state)):
            delta = {"type": "signature_delta", "signature": signature}
            yield _frame("content_block_delta", index=self.indexes[index], delta=delta)

    def _citations(self, index: int, block: Event) -> Iterator[Frame]:
        if not block.get("citations"):
            return
        wire = block_to_wire(block, ASSISTANT, self.writing, ()) or {}
        for citation in wire.get("citations") or ():
            delta = {"type": "citations_delta", "citation": citation}
            yield _frame("content_block_delta", index=self.indexes[index], delta=delta)

    def _whole(self, index: int, block: Event) -> Iterator[Frame]:
        """A block that is written when it is complete; one that this wire cannot say is left out."""
        if block["type"] not in _LATE:
            return  # it was announced as something else
        bare = {name: value for name, value in block.items() if name != "cache"}
        wire = block_to_wire(bare, ASSISTANT, self.writing, ())
        if wire is None:
            return
        arguments = wire.get("input") if wire["type"].endswith("_use") else None
        yield from self._opened(index, {**wire, "input": {}} if arguments else wire)
        if arguments:
            text = arguments_text(arguments)
            yield from self._grow(index, {"type": "input_json_delta", "partial_json": text}, text)
        yield self._closed(index)

    # ------------------------------------------------------------------------------------------ the end

    def _complete(self, response: Wire) -> Iterator[Frame]:
        body, _ = to_wire_response(ending(response), self.endpoint)
        delta = {name: body[name] for name in _DELTA if name in body}
        members = {name: value for name, value in body.items() if name not in _NOT_IN_MESSAGE_DELTA}
        yield _frame("message_delta", delta=delta, usage=body.get("usage") or {"output_tokens": 0}, **members)
        form = (response.get("provider_state") or {}).get("form") or {}
        own = "provider_state" in response and self.endpoint.owns(response["provider_state"])
        yield _frame("message_stop", **((form.get("message_stop") or {}) if own else {}))


_LATE: Final = frozenset(("opaque", "redacted_thinking"))
_STREAMED: Final = frozenset(("text", "thinking", "tool_use", *_LATE))
_BLOCK_EVENTS: Final = frozenset(("block_start", "block_stop"))
_DELTA_EVENTS: Final = frozenset(("text_delta", "thinking_delta", "tool_use_input_delta"))
_LAST_EVENTS: Final = frozenset(("message_complete", "error"))
_DELTA: Final = ("stop_reason", "stop_sequence", "stop_details", "container")
_NOT_IN_MESSAGE_DELTA: Final = frozenset((*_DELTA, "id", "type", "role", "model", "content", "usage"))
