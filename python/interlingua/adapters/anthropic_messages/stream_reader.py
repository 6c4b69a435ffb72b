"""Read streams: each event patches the message that a response without streaming would be."""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import Decoder, Part, call_so_far, decoded
from interlingua.adapters._claude.stream_reader import ClaudeAnswer
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._content.calls import stated
from interlingua.adapters._engine.kit import Event, Wire, arguments_text, note_spelling, parse_arguments
from interlingua.adapters.anthropic_messages.blocks import block_from_wire
from interlingua.adapters.anthropic_messages.errors import error as error_from_wire
from interlingua.adapters.anthropic_messages.responses import ANSWERS, COUNTS
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Read a streamed response. Start it with `next`, then send frames and at the end None; each returns the events it completes.

    The last event is `message_complete` or `error`; frames after it are ignored.
    Never raises: for a frame that cannot be read there is an `error` event of category invalid_response, with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_GROWS: Final[dict[str, tuple[str, type[Any]]]] = {
    "text": ("text", str),
    "thinking": ("thinking", str),
    "tool_use": ("input", dict),
}
"""For each kind of block, the member that grows by deltas, and its type."""
_PIECES: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""For each type of delta, the member that holds its text."""
_PROSE: Final = {"text_delta": "text", "thinking_delta": "thinking"}
"""For each type of delta, the kind of block that it belongs to."""


class _Answer(ClaudeAnswer):
    """The message so far. If deltas of text or reasoning arrive in the block of a call, they get blocks of their own, with negative
    numbers."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint, ids)
        self.beside: dict[tuple[int, str], int] = {}  # by the number of the call and the kind of the block
        self.trailer: Wire = {}

    def patch(self, data: Any, frame: Frame) -> None:
        """Apply an event."""
        match data.get("type"):
            case "content_block_delta" if data["delta"] is not None:
                self._patch_block(data["index"], data["delta"])
                events = self.due.events
                if events and events[0]["type"] == "text_delta" and (part := self.open[data["index"]]).kind == "text":
                    self.repeats(part, frame, "delta", "text")
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
                self._begin(data)  # a whole response in one frame
                self._end({})
            case "error":
                self.fail(error_from_wire(200, {}, data, self.endpoint))
            case _:
                pass  # ping, and events of later versions

    # ------------------------------------------------------------------------------------------ message

    def _begin(self, message: Wire) -> None:
        content = message.get("content") or []
        if self.begun and not content and message.get("id") == self.body.get("id"):
            return  # some servers send the start of the same response again
        if self.begun or type(content) is not list:
            raise TypeError("message_start")
        self.body = {**message, "content": []}
        self.start()
        self._usage()
        # when programmatic tool calling is continued, the blocks are already here
        for index, block in enumerate(content):
            self._start(index, dict(block))
            self.stop(index)

    def _usage(self) -> None:
        if isinstance(usage := self.body.get("usage"), dict):
            self.usage(COUNTS.read(usage, self.endpoint))

    def _message_delta(self, data: Wire) -> None:
        self.check_begun()
        usage = data.get("usage")
        if isinstance(usage, dict) and isinstance(before := self.body.get("usage"), dict):
            # cumulative: an absent member keeps its value
            usage = {**usage, **before, **{name: count for name, count in usage.items() if count is not None}}
        for name, value in data.items():
            if name not in ("type", "delta", "usage"):
                self.body[name] = value
        self.body.update(data.get("delta") or {})
        if usage is not None:
            self.body["usage"] = usage
            self._usage()

    def _end(self, data: Wire) -> None:
        self.check_begun()
        self.stop_all()
        self.trailer = {name: value for name, value in data.items() if name != "type"}
        self.complete(self.response(self.blocks.content))

    def response(self, content: list[Any]) -> dict[str, Any]:
        """Return the response with these blocks."""
        response = ANSWERS.read(self.body, self.reading, content)
        if self.trailer:
            note_spelling(response, "message_stop", self.endpoint.state, self.trailer)
        return response

    # ------------------------------------------------------------------------------------------ blocks

    def _start(self, index: int, raw: Wire) -> None:
        self.check_begun()
        kind: str = raw["type"]
        if (grows := _GROWS.get(kind)) is not None and raw.get(grows[0]) is None:
            raw[grows[0]] = grows[1]()  # some servers omit a member that begins empty, or send null
        given = raw.get("input", "") if kind == "tool_use" else ""
        if kind == "tool_use" and type(given) is str:
            raw["input"] = {}  # some servers send the beginning of the text that the deltas continue
        part = self.begin(index, kind, raw, self._begun(kind, raw))
        if kind in _PROSE.values():
            given = raw[kind]
        elif type(given) is not str:
            # a value that is no object is read unchanged at the end of the block; an object would be repeated by its deltas
            given = "" if type(given) is dict else arguments_text(given)
        if given:
            self.blocks.grow(part, given)

    def _begun(self, kind: str, raw: Wire) -> Event:
        """Return what is known of a block at its start. A text grows by its deltas, so it starts empty."""
        if kind in _PROSE.values():
            string(raw[kind])
            cited = kind == "text" and isinstance(raw.get("citations"), list)
            return {"type": kind, "text": ""} | ({"citations": []} if cited else {})
        started = block_from_wire(dict(raw), ASSISTANT, self.reading)  # a copy: the raw block grows
        return {**started, "input": {}} if kind == "tool_use" else started

    def _patch_block(self, index: int, delta: Wire) -> None:
        """Apply a delta to its block. Some servers send deltas of one kind in a block of another kind."""
        part = self.open[index]
        kind = _PROSE.get(delta["type"], part.kind)
        if kind == part.kind or part.kind not in _GROWS:
            self._delta(part, delta)
        elif not delta.get(_GROWS[kind][0]):
            pass
        elif part.kind != "tool_use":
            # text and reasoning alternate: the block that was open has ended
            self.stop(index)
            self._start(index, {"type": kind})
            self._patch_block(index, delta)
        else:
            # the call continues: text or reasoning between its arguments gets a block of its own
            beside = self.beside.get((index, kind))
            if beside is None:
                self.beside[(index, kind)] = beside = -1 - len(self.blocks.content)
                self._start(beside, {"type": kind})
            self._delta(self.open[beside], delta)

    def _delta(self, part: Part, delta: Wire) -> None:
        match delta["type"]:
            case "text_delta" | "thinking_delta" | "input_json_delta":
                text = delta[_PIECES[delta["type"]]]
                self.blocks.grow(part, "" if text is None else text)  # some servers send null for an empty text
            case "signature_delta":
                part.raw["signature"] = signature = string(delta["signature"])
                self.blocks.sign(part.index, signature)
            case "citations_delta":
                part.raw["citations"] = [*(part.raw.get("citations") or []), delta["citation"]]
            case "compaction_delta":
                # each delta repeats the whole
                part.raw.update((name, value) for name, value in delta.items() if name != "type")
            case _:
                pass  # a delta of a later version

    def _ended(self, index: int) -> None:
        self.stop(index)
        for beside in [beside for beside in self.beside if beside[0] == index]:
            self.stop(self.beside.pop(beside))

    def stop(self, number: Any) -> None:
        """End a block. Arguments that were in its start are emitted only now, because deltas would have repeated them."""
        part = self.open.get(number)
        if part is not None and part.kind == "tool_use" and part.raw["input"] and not any(part.pieces):
            self.blocks.grow(part, arguments_text(part.raw["input"]))
        super().stop(number)

    def read(self, part: Part) -> Event:
        """Return the block as a unary response would have it."""
        raw, text = part.raw, part.text
        if part.kind == "tool_use":
            # the wire has no place for a text that is not an object
            return call_so_far(self.blocks.content[part.index], stated(text or arguments_text(raw["input"])))
        if part.kind in _PROSE.values():
            return block_from_wire({**raw, part.kind: text}, ASSISTANT, self.reading)
        if text and (arguments := parse_arguments(text)) is not None:
            raw["input"] = arguments
        return block_from_wire(raw, ASSISTANT, self.reading)
