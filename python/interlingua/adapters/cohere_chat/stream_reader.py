"""
Read streams: each event patches the message that a response without streaming would be.

Parts of the content and calls are numbered; there is only one plan. Citations arrive with their part or after it, so a text ends
only when something else begins. The last event is `message-end`: without it the response was cut off.
"""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import Answer, Blocks, Decoder, Due, Lane, Part, decoded
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.cohere_chat.errors import error as read_error
from interlingua.adapters.cohere_chat.messages import PLAN, message_from_wire
from interlingua.adapters.cohere_chat.responses import ANSWERS
from interlingua.adapters.cohere_chat.tools import call_from_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Read a streamed response. Send frames, and None at the end of input; each returns the events that it completes.

    The last event is `message_complete` or `error`. If the response is cut off, it is an `error` event with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_PARTS, _PLANS, _CALLS = 0, 1, 2
_PLAN_LANE: Final[Lane] = (_PLANS, 0)
_PROSE: Final = ("text", "thinking")
"""The parts that arrive in pieces, in the member of the same name. The plan is a text, but not a part."""


class _Part(Part):
    """A part of the content, the plan, or a call, as far as it has arrived. A text may become several blocks: `citations` are those
    of the last block, `before` is the text of the blocks before it."""

    __slots__ = ("before", "citations")

    def __init__(self, kind: str, raw: Wire, lane: Lane, index: int) -> None:
        super().__init__(kind, raw, index, lane)
        self.before = ""
        self.citations: list[Wire] = []


def _wire(part: _Part) -> Wire:
    """Return a part or a call as a whole response has it."""
    if part.key[0] == _CALLS:
        return {**part.raw, "function": {**part.raw["function"], "arguments": part.text}}
    return {**part.raw, part.kind: part.before + part.text} if part.kind in _PROSE else part.raw


class _Blocks(Blocks):
    """The blocks of the message."""

    __slots__ = ("endpoint",)

    def __init__(self, endpoint: Endpoint, due: Due) -> None:
        super().__init__(0, due)
        self.endpoint = endpoint

    def read(self, part: Part) -> dict[str, Any]:
        """Return a text or reasoning as a whole response has it, with its citations; a call has the arguments that have arrived."""
        if not isinstance(part, _Part):
            raise TypeError("part")
        text, cites = part.text, part.citations
        if part.key[0] == _CALLS:
            call = call_from_wire(_wire(part), Reading(self.endpoint))
            return {**call, "id": self.content[part.index]["id"]}
        shown = text or ("." if cites else "")  # a further block of a text may have only citations
        message: Wire = {PLAN: shown} if part.key == _PLAN_LANE else {"content": [{**part.raw, part.kind: shown}]}
        if cites:
            message["citations"] = [{**one, "content_index": 0} for one in cites]
        block = _read_one(message, self.endpoint)
        for one, citation in zip(block.get("citations", ()), cites, strict=False):
            fields = one["provider_state"]["fields"]
            fields.pop("content_index")
            if "content_index" in citation:
                fields["content_index"] = citation["content_index"]
        return {**block, "text": text}


def _read_one(message: Wire, endpoint: Endpoint) -> dict[str, Any]:
    """Return the only block of a message."""
    reading = Reading(endpoint)
    read: dict[str, Any] = message_from_wire({"role": "assistant", **message}, reading, answer=True)
    block: dict[str, Any] = read["content"][0]
    return block


class _Answer(Answer):
    """The message so far, and its parts."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.blocks = _Blocks(endpoint, self.due)
        self.message: Wire = {}
        self.logprobs: list[Any] = []
        self.parts: dict[Lane, _Part] = {}

    def patch(self, data: Any, frame: Frame) -> None:
        """Apply an event of the wire."""
        delta = data.get("delta") or {}
        message = delta.get("message") or {}
        if isinstance(data.get("logprobs"), dict):
            self.logprobs.append(data["logprobs"])
        match data.get("type") or frame.event:
            case "content-delta":
                part = self._more((_PARTS, data["index"]), message["content"])
                if part.kind == "text" and not self.logprobs:
                    self.repeats(part, frame, "delta", "message", "content", "text")
            case "message-start":
                if data.get("id") is not None:
                    self.body["id"] = data["id"]
                # at the start, empty members have no meaning yet
                self.message = {name: value for name, value in message.items() if value and name != "role"}
                self.start()
            case "content-start":
                self._begin((_PARTS, data["index"]), message["content"])
            case "tool-plan-delta":
                self._plan(message["tool_plan"])
            case "tool-call-start":
                self._begin_call((_CALLS, data["index"]), message["tool_calls"])
            case "tool-call-delta":
                part = self.parts[_CALLS, data["index"]]
                self.blocks.grow(part, message["tool_calls"]["function"]["arguments"])
            case "tool-call-end":
                self._end(self.parts[_CALLS, data["index"]])
            case "citation-start":
                self._cite(message["citations"])
            case "message-end" if delta.get("error"):
                self.fail(read_error(200, {}, {"message": delta["error"]}, self.endpoint))
            case "message-end":
                self._complete(delta)
            case None if "message" in data:
                self.fail(read_error(200, {}, data, self.endpoint))
            case _:
                pass  # the ends of parts, whose citations follow, and events of later versions

    # -- parts

    def _part(self, kind: str, raw: Wire, lane: Lane) -> _Part:
        self.blocks.pause()
        part = self.parts[lane] = _Part(kind, raw, lane, len(self.blocks.content))
        return part

    def _begin(self, lane: Lane, raw: Any) -> _Part:
        kind = raw["type"]
        part = self._part(kind, raw, lane)
        if kind in _PROSE and isinstance(raw.get(kind, ""), str):
            self._continue(part)
            self.blocks.grow(part, raw.get(kind, ""))
        else:
            self.blocks.at_once(_read_one({"content": [raw]}, self.endpoint), lane)
        return part

    def _continue(self, part: _Part) -> None:
        """Make the part the current one. If its block has ended before, begin a further block at the same place."""
        if self.blocks.current is part:
            return
        self.blocks.pause()
        block: dict[str, Any] = {"type": part.kind, "text": ""}
        if part.kind == "thinking":
            block["provider_state"] = self.endpoint.state()
        elif part.key == _PLAN_LANE:
            block["provider_state"] = self.endpoint.state(encoding={"place": PLAN})
        part.before, part.pieces, part.citations = part.before + part.text, [], []
        part.index = self.blocks.begin(block, part.key)
        self.blocks.current = part

    def _more(self, lane: Lane, content: Any) -> _Part:
        part = self.parts.get(lane)
        if part is None:  # this server sends no start of a part
            kind = next((name for name in _PROSE if isinstance(content.get(name), str)), None)
            if kind is None:
                raise TypeError("content")
            part = self._begin(lane, {"type": kind, kind: ""})
        if part.kind in _PROSE:
            self._grow(part, content[part.kind])
        return part

    def _plan(self, text: Any) -> None:
        part = self.parts.get(_PLAN_LANE)
        if part is None and text:
            part = self._part("text", {}, _PLAN_LANE)
        if part is not None:
            self._grow(part, text)

    def _grow(self, part: _Part, text: Any) -> None:
        if text:
            self._continue(part)
        self.blocks.grow(part, text)

    def _cite(self, citation: Any) -> None:
        for one in citation if isinstance(citation, list) else [citation]:
            lane: Lane = _PLAN_LANE if one.get("type") == "PLAN" else (_PARTS, one.get("content_index", -1))
            part = self.parts.get(lane) or next((part for part in self.parts.values() if part.kind == "text"), None)
            if part is None:
                raise KeyError("citations")
            if part.kind == "text":
                self._continue(part)
            part.citations.append(one)

    # -- calls

    def _begin_call(self, lane: Lane, raw: Any) -> None:
        function = raw["function"]
        block = call_from_wire({**raw, "function": {**function, "arguments": "{}"}}, self.reading)
        part = self._part("tool_use", raw, lane)
        if block["type"] != "tool_use":
            part.kind = "ended"
            self.blocks.at_once(block, lane)
            return
        self.blocks.begin({**block, "input": {}}, lane)
        self.blocks.grow(part, function.get("arguments") or "")

    def _end(self, part: _Part) -> None:
        if part.kind == "tool_use":
            part.kind = "ended"
            self.blocks.end(part.index, self.blocks.read(part))

    def _open_calls(self) -> list[_Part]:
        return [part for part in self.parts.values() if part.kind == "tool_use"]

    # -- the end

    def _complete(self, delta: Wire) -> None:
        self.blocks.pause()
        for part in self._open_calls():
            self._end(part)
        body = {**self.body, **{name: value for name, value in delta.items() if name != "message"}}
        if self.logprobs:
            body.setdefault("logprobs", self.logprobs)
        message = {**self.message}
        for member, place in (("content", _PARTS), ("tool_calls", _CALLS)):
            if parts := [_wire(part) for lane, part in sorted(self.parts.items()) if lane[0] == place]:
                message[member] = parts
        response = ANSWERS.read({**body, "message": message}, Reading(self.endpoint))
        self.usage(response.get("usage"))
        self.complete_in_places(response)

    def arrived(self) -> dict[str, Any] | None:
        """Return what has arrived; a text is returned as far as it has arrived."""
        if not self.begun:
            return None
        self.blocks.settle()
        return self.partial(self.blocks.so_far(self._open_calls(), self.blocks.read))
