"""Streams from the wire: each event is a patch on the message that a whole answer would be."""

from typing import Any, Final

from interlingua.adapters._as_read import note
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._kit import Event, Wire, arguments_text, parse_arguments
from interlingua.adapters._stream_reader import UNREADABLE, Answer, Blocks, Decoder, Repetition, decoded, failed
from interlingua.adapters.anthropic_messages.blocks import block_from_wire
from interlingua.adapters.anthropic_messages.errors import error as error_from_wire
from interlingua.adapters.anthropic_messages.responses import assembled, usage_from_wire
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
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
    """A block that is growing: its wire form so far, and the pieces of text or arguments that are not in it yet."""

    __slots__ = ("id", "kind", "pieces", "position", "raw")

    def __init__(self, raw: Wire) -> None:
        self.raw = raw
        self.kind: str = raw["type"]
        self.position = -1  # in the canonical message
        self.id = ""
        self.pieces: list[str] = []


class _Answer(Answer):
    """The message so far, and its blocks that are growing."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.blocks = Blocks(0, self.due)
        self.message: Wire | None = None
        self.open: dict[int, _Block] = {}  # by their index on the wire; those told beside a call have none of their own
        self.beside: dict[tuple[int, str], int] = {}  # what is told beside a call, by its index and kind
        self.trailer: Wire = {}
        self.text: tuple[_Block, Repetition] | None = None  # the text that is being told, and what its frames share

    def patch(self, frame: Frame) -> Event | None:
        """Takes an event."""
        known = self.text
        if known is not None:
            block, repetition = known
            if text := repetition.text(frame.data):
                block.pieces.append(text)
                return {"type": "text_delta", "index": block.position, "text": text}
        try:
            data = json.loads(frame.data)
        except InvalidRequest:
            if frame.data.strip() in ("", "[DONE]"):
                return None  # no part of this wire, but some servers send it
            raise
        self._event(data)
        told = self.due.events
        if told and told[0]["type"] == "text_delta":
            block = self.open[data["index"]]
            if block.kind == "text" and (self.text is None or self.text[0] is not block):
                self.text = block, Repetition(frame.data, "delta", "text")
        return None

    def _event(self, data: Any) -> None:
        match data.get("type"):
            case "content_block_delta":
                if data["delta"] is not None:
                    self._told(data["index"], data["delta"])
            case "content_block_start":
                self._start(data["index"], dict(data["content_block"]))
            case "content_block_stop":
                self._ended(data["index"])
            case "message_start":
                self._begin(data["message"])
            case "message_delta":
                self._message_delta(data)
            case "message_stop":
                self._end(data)
            case "message":
                self._begin(data)  # a whole answer in one frame
                self._end({})
            case "error":
                self.fail(error_from_wire(200, {}, data, self.endpoint))
            case _:
                pass  # ping, and what later versions add

    # ------------------------------------------------------------------------------------------ message

    def _begin(self, message: Wire) -> None:
        content = message.get("content") or []
        if self.message is not None and not content and message.get("id") == self.message.get("id"):
            return  # some servers say again that the same answer begins
        if self.message is not None or type(content) is not list:
            raise TypeError("message_start")
        self.message = {**message, "content": []}
        self.start(message.get("model"), message.get("id"))
        self._usage()
        # a continuation of programmatic tool calling has its blocks here already
        for index, block in enumerate(content):
            self._start(index, dict(block))
            self._stop(self.open.pop(index))

    def _usage(self) -> None:
        usage = (self.message or {}).get("usage")
        if isinstance(usage, dict):
            self.tell_usage(usage_from_wire(usage))

    def _message_delta(self, data: Wire) -> None:
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
        if data.get("usage") is not None:
            self._usage()

    def _end(self, data: Wire) -> None:
        if self.message is None:
            raise TypeError("message_stop")
        for index in sorted(self.open):
            # the answer is complete, though a server forgot to say so of a block
            self._stop(self.open.pop(index))
        self.trailer = {name: value for name, value in data.items() if name != "type"}
        self.complete(self._response(self.blocks.content))

    def _response(self, content: list[Any]) -> dict[str, Any]:
        response = assembled(self.message or {}, content, self.reading, self.endpoint)
        if self.trailer:
            note(response, "message_stop", self.endpoint.state, self.trailer)
        return response

    def arrived(self) -> Wire | None:
        """The answer as far as it came, without a block that cannot be read."""
        if self.message is None:
            return None
        content: list[Any] = list(self.blocks.content)
        for _, block in sorted(self.open.items()):
            try:
                content[block.position] = self._read(block)
            except UNREADABLE:
                content[block.position] = None
        return failed(self._response([block for block in content if block is not None]))

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, raw: Wire) -> None:
        if self.message is None or type(index) is not int or index in self.open:
            raise TypeError("content_block_start")
        if (grows := _GROWS.get(raw["type"])) is not None and raw.get(grows[0]) is None:
            raw[grows[0]] = grows[1]()  # what begins empty is left out by some servers, or null
        given = raw.get("input")
        if raw["type"] == "tool_use" and type(given) is str:
            raw["input"] = {}  # some servers begin the text that the deltas go on with
        block = _Block(raw)
        block.position = self.blocks.begin(self._begun(block))
        self.open[index] = block
        match block.kind:
            case "tool_use":
                if type(raw["input"]) is not dict:
                    given = arguments_text(raw["input"])  # read as what it is when the block ends
                if type(given) is str:
                    self._more_arguments(block, given)
            case "text" | "thinking":
                self.blocks.more(block.position, block.kind, raw[block.kind])
            case _:
                pass

    def _begun(self, block: _Block) -> Event:
        """What is known of a block at its start. A text grows by its deltas, so it starts empty."""
        raw = block.raw
        match block.kind:
            case "text" | "thinking":
                string(raw[block.kind])
                cited = block.kind == "text" and isinstance(raw.get("citations"), list)
                return {"type": block.kind, "text": ""} | ({"citations": []} if cited else {})
            case "tool_use":
                started = block_from_wire(raw, ASSISTANT, self.reading)
                block.id = started["id"]
                return {**started, "input": {}}
            case _:
                # a copy: the raw block grows
                return block_from_wire(dict(raw), ASSISTANT, self.reading)

    def _told(self, index: int, delta: Wire) -> None:
        """Takes a piece of a block, or of one that some servers put into a block of another kind."""
        block = self.open[index]
        kind = _TELLS.get(delta["type"], block.kind)
        if kind == block.kind or block.kind not in _GROWS:
            self._delta(block, delta)
        elif not delta.get(_GROWS[kind][0]):
            pass
        elif block.kind != "tool_use":
            # text and reasoning take turns: the one that was open has ended
            self._stop(self.open.pop(index))
            self._start(index, {"type": kind})
            self._told(index, delta)
        else:
            # a call goes on: what stands between its arguments is told beside it
            beside = self.beside.get((index, kind))
            if beside is None:
                self.beside[(index, kind)] = beside = -1 - len(self.blocks.content)
                self._start(beside, {"type": kind})
            self._delta(self.open[beside], delta)

    def _ended(self, index: int) -> None:
        if index in self.open:  # some servers end a block twice
            self._stop(self.open.pop(index))
        for told in [told for told in self.beside if told[0] == index]:
            self._stop(self.open.pop(self.beside.pop(told)))

    def _delta(self, block: _Block, delta: Wire) -> None:
        match delta["type"]:
            case "text_delta" | "thinking_delta":
                kind = _TELLS[delta["type"]]
                text = delta[kind]
                if type(text) is not str:
                    text = _piece(text)
                block.pieces.append(text)
                self.blocks.more(block.position, kind, text)
            case "input_json_delta":
                self._more_arguments(block, _piece(delta["partial_json"]))
            case "signature_delta":
                block.raw["signature"] = signature = string(delta["signature"])
                event: Event = {"type": "thinking_delta", "index": block.position, "text": "", "signature": signature}
                self.blocks.tell(event)
            case "citations_delta":
                block.raw["citations"] = [*(block.raw.get("citations") or []), delta["citation"]]
            case "compaction_delta":
                # each says the whole once more
                block.raw.update((name, value) for name, value in delta.items() if name != "type")
            case _:
                pass  # of a later version

    def _more_arguments(self, block: _Block, text: str) -> None:
        block.pieces.append(text)
        if block.kind == "tool_use":
            self.blocks.more_arguments(block.position, block.id, text)

    def _stop(self, block: _Block) -> None:
        self.text = None
        if block.kind == "tool_use" and block.raw["input"] and not any(block.pieces):
            # arguments that were there from the start; pieces that follow one another would have said them anew
            self.blocks.more_arguments(block.position, block.id, arguments_text(block.raw["input"]))
        self.blocks.end(block.position, self._read(block))

    def _read(self, block: _Block) -> Event:
        """The block as the unary answer would have it."""
        raw, text = block.raw, "".join(block.pieces)
        if block.kind in _TELLS.values():
            raw[block.kind] += text
            return block_from_wire(raw, ASSISTANT, self.reading)
        parsed = parse_arguments(text) if text else None
        if parsed is not None:
            raw["input"] = parsed
        if block.kind != "tool_use":
            return block_from_wire(raw, ASSISTANT, self.reading)
        begun = self.blocks.content[block.position]
        if text and parsed is None:
            return {**begun, "input": {}, "input_raw": text}  # the wire has no place for text that is no object
        return {**begun, "input": raw["input"]}


def _piece(text: Any) -> str:
    # some servers send null for nothing
    return "" if text is None else string(text)
