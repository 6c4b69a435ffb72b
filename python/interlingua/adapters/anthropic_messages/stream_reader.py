"""Streams from the wire: each event is a patch on the message that a whole answer would be."""

from typing import Any, Final

from interlingua.adapters._as_read import note
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._kit import Event, Wire, arguments_text, parse_arguments
from interlingua.adapters._stream_reader import Answer, Decoder, Part, decoded, failed
from interlingua.adapters.anthropic_messages.blocks import block_from_wire
from interlingua.adapters.anthropic_messages.errors import error as error_from_wire
from interlingua.adapters.anthropic_messages.responses import COUNTS, assembled
from interlingua.canonical.endpoint import Endpoint
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
_PIECES: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""The members of pieces."""
_DELTA_KINDS: Final = {"text_delta": "text", "thinking_delta": "thinking"}
"""The kind of block that a piece belongs to."""


class _Answer(Answer):
    """The message so far, and its blocks that are growing."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.open: dict[int, Part] = {}  # by their index on the wire; those told beside a call have none of their own
        self.beside: dict[tuple[int, str], int] = {}  # what is told beside a call, by its index and kind
        self.trailer: Wire = {}

    def patch(self, data: Any, frame: Frame) -> Event | None:
        """Takes an event."""
        match data.get("type"):
            case "content_block_delta" if data["delta"] is not None:
                self._take_delta(data["index"], data["delta"])
                events = self.due.events
                if events and events[0]["type"] == "text_delta" and (part := self.open[data["index"]]).kind == "text":
                    self.goes_on(part, frame, "delta", "text")
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
        return None

    # ------------------------------------------------------------------------------------------ message

    def _begin(self, message: Wire) -> None:
        content = message.get("content") or []
        if self.begun and not content and message.get("id") == self.body.get("id"):
            return  # some servers say again that the same answer begins
        if self.begun or type(content) is not list:
            raise TypeError("message_start")
        self.body = {**message, "content": []}
        self.start(message.get("model"), message.get("id"))
        self._usage()
        # a continuation of programmatic tool calling has its blocks here already
        for index, block in enumerate(content):
            self._start(index, dict(block))
            self._stop(index)

    def _started(self) -> None:
        if not self.begun:
            raise TypeError("no message has begun")

    def _usage(self) -> None:
        if isinstance(usage := self.body.get("usage"), dict):
            self.emit_usage(COUNTS.read(usage, self.endpoint))

    def _message_delta(self, data: Wire) -> None:
        self._started()
        for name, value in data.items():
            match name:
                case "type":
                    pass
                case "delta" | "usage" if value is None:
                    pass
                case "delta":
                    self.body.update(value)
                case "usage" if isinstance(value, dict):
                    # cumulative: what is absent keeps its value
                    known = {member: count for member, count in value.items() if count is not None}
                    self.body["usage"] = {**value, **(self.body.get("usage") or {}), **known}
                case _:
                    self.body[name] = value
        if data.get("usage") is not None:
            self._usage()

    def _end(self, data: Wire) -> None:
        self._started()
        for index in sorted(self.open):
            self._stop(index)  # the answer is complete, though a server forgot to say so of a block
        self.trailer = {name: value for name, value in data.items() if name != "type"}
        self.complete(self._response(self.blocks.content))

    def _response(self, content: list[Any]) -> dict[str, Any]:
        response = assembled(self.body, content, self.reading)
        if self.trailer:
            note(response, "message_stop", self.endpoint.state, self.trailer)
        return response

    def arrived(self) -> Wire | None:
        """The answer as far as it came, without a block that cannot be read."""
        return failed(self._response(self.blocks.so_far(self.open.values(), self._read))) if self.begun else None

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, raw: Wire) -> None:
        self._started()
        if type(index) is not int or index in self.open:
            raise TypeError("content_block_start")
        kind: str = raw["type"]
        if (grows := _GROWS.get(kind)) is not None and raw.get(grows[0]) is None:
            raw[grows[0]] = grows[1]()  # what begins empty is left out by some servers, or null
        given = raw.get("input")
        if kind == "tool_use" and type(given) is str:
            raw["input"] = {}  # some servers begin the text that the deltas go on with
        part = self.open[index] = Part(kind, raw, self.blocks.begin(self._begun(kind, raw)))
        if kind in _DELTA_KINDS.values():
            self.blocks.more(part.index, raw[kind])
        elif kind == "tool_use":
            if type(raw["input"]) is not dict:
                given = arguments_text(raw["input"])  # read as what it is when the block ends
            if type(given) is str:
                self.blocks.append(part, given)

    def _begun(self, kind: str, raw: Wire) -> Event:
        """What is known of a block at its start. A text grows by its deltas, so it starts empty."""
        if kind in _DELTA_KINDS.values():
            string(raw[kind])
            cited = kind == "text" and isinstance(raw.get("citations"), list)
            return {"type": kind, "text": ""} | ({"citations": []} if cited else {})
        started = block_from_wire(dict(raw), ASSISTANT, self.reading)  # a copy: the raw block grows
        return {**started, "input": {}} if kind == "tool_use" else started

    def _take_delta(self, index: int, delta: Wire) -> None:
        """Takes a piece of a block, or of one that some servers put into a block of another kind."""
        part = self.open[index]
        kind = _DELTA_KINDS.get(delta["type"], part.kind)
        if kind == part.kind or part.kind not in _GROWS:
            self._delta(part, delta)
        elif not delta.get(_GROWS[kind][0]):
            pass
        elif part.kind != "tool_use":
            # text and reasoning take turns: the one that was open has ended
            self._stop(index)
            self._start(index, {"type": kind})
            self._take_delta(index, delta)
        else:
            # a call goes on: what stands between its arguments is told beside it
            beside = self.beside.get((index, kind))
            if beside is None:
                self.beside[(index, kind)] = beside = -1 - len(self.blocks.content)
                self._start(beside, {"type": kind})
            self._delta(self.open[beside], delta)

    def _delta(self, part: Part, delta: Wire) -> None:
        match delta["type"]:
            case "text_delta" | "thinking_delta" | "input_json_delta":
                text = delta[_PIECES[delta["type"]]]
                self.blocks.append(part, "" if text is None else text)  # some servers send null for nothing
            case "signature_delta":
                part.raw["signature"] = signature = string(delta["signature"])
                self.blocks.sign(part.index, signature)
            case "citations_delta":
                part.raw["citations"] = [*(part.raw.get("citations") or []), delta["citation"]]
            case "compaction_delta":
                # each says the whole once more
                part.raw.update((name, value) for name, value in delta.items() if name != "type")
            case _:
                pass  # of a later version

    def _ended(self, index: int) -> None:
        if index in self.open:  # some servers end a block twice
            self._stop(index)
        for key in [key for key in self.beside if key[0] == index]:
            self._stop(self.beside.pop(key))

    def _stop(self, index: int) -> None:
        self.rests()
        part = self.open.pop(index)
        if part.kind == "tool_use" and part.raw["input"] and not any(part.pieces):
            # arguments that were there from the start; pieces that follow one another would have said them anew
            self.blocks.more(part.index, arguments_text(part.raw["input"]))
        self.blocks.end(part.index, self._read(part))

    def _read(self, part: Part) -> Event:
        """The block as the unary answer would have it."""
        raw, text = part.raw, part.text
        if part.kind in _DELTA_KINDS.values():
            return block_from_wire({**raw, part.kind: raw[part.kind] + text}, ASSISTANT, self.reading)
        parsed = parse_arguments(text) if text else None
        if parsed is not None:
            raw["input"] = parsed
        if part.kind != "tool_use":
            return block_from_wire(raw, ASSISTANT, self.reading)
        begun = self.blocks.content[part.index]
        if text and parsed is None:
            return {**begun, "input": {}, "input_raw": text}  # the wire has no place for text that is no object
        return {**begun, "input": raw["input"]}
