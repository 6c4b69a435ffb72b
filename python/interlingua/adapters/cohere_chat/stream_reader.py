"""
Streams from the wire: each event is a patch on the message that a whole answer would be.

Parts of the content and calls are numbered, the plan is one. What an answer cites comes with its part or behind it, so a text
ends when something else begins. The event `message-end` is the last one: without it the answer broke off.
"""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters._stream_reader import Answer, Blocks, Decoder, Lane, decoded, partial
from interlingua.adapters.cohere_chat.errors import error as read_error
from interlingua.adapters.cohere_chat.messages import PLAN, message_from_wire
from interlingua.adapters.cohere_chat.responses import read_answer
from interlingua.adapters.cohere_chat.tables import Reading
from interlingua.adapters.cohere_chat.tools import call_from_wire
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Give it frames, and None at the end of input; it gives the events that each completes.

    The last event is `message_complete` or `error`. An answer that breaks off is an `error` event with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_DONE: Final = "[DONE]"
_PARTS, _PLANS, _CALLS = 0, 1, 2
_CITING: Final = ("citation-start", "citation-end")
_GROWS: Final = {"text": "text", "thinking": "thinking"}
"""The member of a part that comes in pieces."""


class _Part:
    """A part of the content, the plan, or a call, as far as it came."""

    __slots__ = ("before", "citations", "cited", "index", "kind", "pieces", "raw")

    def __init__(self, kind: str, raw: Wire, index: int) -> None:
        self.kind = kind
        self.raw = raw
        self.index = index  # of the block that is told
        self.before = ""  # what blocks said that have ended, where it goes on
        self.pieces: list[str] = []
        self.citations: list[Wire] = []
        self.cited = 0  # how many of them stand in blocks that have ended

    @property
    def text(self) -> str:
        """All of it."""
        return self.before + "".join(self.pieces)


class _Answer(Answer):
    """The message so far, and the part that is being told."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.blocks = Blocks(0, self.due)
        self.body: Wire = {}
        self.message: Wire = {}
        self.logprobs: list[Any] = []
        self.parts: dict[Lane, _Part] = {}
        self.open: set[Lane] = set()  # texts, reasoning and the plan that have not ended
        self.ending: Lane | None = None  # the part that has ended but for what it cites

    def patch(self, frame: Frame) -> Event | None:
        """Takes an event of the wire."""
        if frame.data == _DONE:
            return None
        event = json.loads(frame.data)
        if not isinstance(event, dict):
            raise TypeError("event")
        delta = event.get("delta") or {}
        message = delta.get("message") or {}
        if isinstance(event.get("logprobs"), dict):
            self.logprobs.append(event["logprobs"])
        kind = event.get("type") or frame.event
        if self.ending is not None and kind not in _CITING:
            self._close(self.ending)
        match kind:
            case "message-start":
                self._start(event, message)
            case "content-start":
                self._begin((_PARTS, event["index"]), message["content"])
            case "content-delta":
                self._more((_PARTS, event["index"]), message["content"])
            case "content-end" if (_PARTS, event["index"]) in self.open:
                self.ending = (_PARTS, event["index"])
            case "tool-plan-delta":
                self._plan(message["tool_plan"])
            case "tool-call-start":
                self._begin_call((_CALLS, event["index"]), message["tool_calls"])
            case "tool-call-delta":
                self._more_arguments((_CALLS, event["index"]), message["tool_calls"]["function"]["arguments"])
            case "tool-call-end":
                self._end((_CALLS, event["index"]))
            case "citation-start":
                self._cite(message["citations"])
            case "message-end" if delta.get("error"):
                self.fail(read_error(200, {}, {"message": delta["error"]}, self.endpoint))
            case "message-end":
                self._complete(delta)
            case None if "message" in event:
                self.fail(read_error(200, {}, event, self.endpoint))
            case _:
                pass  # ends that say nothing, and events of later versions
        return None

    def _start(self, event: Wire, message: Wire) -> None:
        if event.get("id") is not None:
            self.body["id"] = event["id"]
        # what it begins with says nothing yet
        self.message = {name: value for name, value in message.items() if value and name != "role"}
        self.start(None, event.get("id"))

    # -- parts

    def _begin(self, lane: Lane, part: Any) -> None:
        self._close_all()
        kind = part["type"]
        member = _GROWS.get(kind)
        if member is None or not isinstance(part.get(member, ""), str):
            self.parts[lane] = opaque = _Part(kind, part, -1)
            opaque.index = len(self.blocks.content)
            self.blocks.whole(self._read(part), lane)
            return
        block: dict[str, Any] = {"type": kind, "text": ""}
        if kind == "thinking":
            block["provider_state"] = self.endpoint.state()
        self.parts[lane] = begun = _Part(kind, part, self.blocks.begin(block, lane))
        self.open.add(lane)
        self._say(begun, part.get(member, ""))

    def _read(self, part: Wire) -> dict[str, Any]:
        """The block of a part, as a whole answer has it."""
        message = {"role": "assistant", "content": [part]}
        read: dict[str, Any] = message_from_wire(message, self._scratch(), answer=True)["content"][0]
        return read

    def _scratch(self) -> Reading:
        return Reading(self.endpoint, DERIVED_IDS)

    def _more(self, lane: Lane, content: Any) -> None:
        part = self.parts.get(lane)
        if part is None:  # a server that does not say when a part begins
            kind = next((name for name in _GROWS if isinstance(content.get(name), str)), None)
            if kind is None:
                raise TypeError("content")
            self._begin(lane, {"type": kind, kind: ""})
            part = self.parts[lane]
        if part.kind in _GROWS:
            self._go_on(lane, part, content[_GROWS[part.kind]])

    def _say(self, part: _Part, text: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(text)
        if text:
            part.pieces.append(text)
            self.blocks.more(part.index, part.kind, text)

    def _plan(self, text: Any) -> None:
        lane: Lane = (_PLANS, 0)
        part = self.parts.get(lane)
        if part is None:
            if not text:
                return
            state = self.endpoint.state(encoding={"place": PLAN})
            begun = self.blocks.begin({"type": "text", "text": "", "provider_state": state}, lane)
            part = self.parts[lane] = _Part("text", {}, begun)
            self.open.add(lane)
        self._go_on(lane, part, text)

    def _go_on(self, lane: Lane, part: _Part, text: Any) -> None:
        """More of a text; where its block has ended, in a further one at the same place."""
        if text and lane not in self.open:
            self._reopen(lane, part)
        self._say(part, text)

    def _reopen(self, lane: Lane, part: _Part) -> None:
        self._close_all()
        block: dict[str, Any] = {"type": part.kind, "text": ""}
        if part.kind == "thinking":
            block["provider_state"] = self.endpoint.state()
        elif lane[0] == _PLANS:
            block["provider_state"] = self.endpoint.state(encoding={"place": PLAN})
        part.before, part.pieces, part.cited = part.text, [], len(part.citations)
        part.index = self.blocks.begin(block, lane)
        self.open.add(lane)

    def _close_all(self) -> None:
        for lane in sorted(self.open):
            self._close(lane)

    def _cite(self, citation: Any) -> None:
        told = citation if isinstance(citation, list) else [citation]
        for one in told:
            lane: Lane = (_PLANS, 0) if one.get("type") == "PLAN" else (_PARTS, one.get("content_index", -1))
            part = self.parts.get(lane) or next((part for part in self.parts.values() if part.kind == "text"), None)
            if part is None:
                raise KeyError("citations")
            where = next(lane for lane, other in self.parts.items() if other is part)
            if part.kind == "text" and where not in self.open:
                self._reopen(where, part)
            part.citations.append(one)

    def _close(self, lane: Lane) -> None:
        """A text that is being told ends."""
        if lane in self.open:
            self.open.remove(lane)
            part = self.parts[lane]
            self.blocks.end(part.index, self._settled(part))
        if self.ending == lane:
            self.ending = None

    def _settled(self, part: _Part) -> dict[str, Any]:
        """A text or reasoning as a whole answer has it, with what it cites."""
        text = "".join(part.pieces)
        if part.kind == "thinking":
            return self._read({**part.raw, "thinking": text})
        whole: Wire = {PLAN: text} if not part.raw else {"content": [{**part.raw, "text": text}]}
        if not text and (cites := part.citations[part.cited :]):
            return self._wordless(cites)
        if part.citations[part.cited :]:
            whole["citations"] = [{**one, "content_index": 0} for one in part.citations[part.cited :]]
        content = message_from_wire({"role": "assistant", **whole}, self._scratch(), answer=True)["content"]
        block: dict[str, Any] = content[0]
        for one, citation in zip(block.get("citations", ()), part.citations[part.cited :], strict=False):
            one["provider_state"]["fields"].pop("content_index")
            if "content_index" in citation:
                one["provider_state"]["fields"]["content_index"] = citation["content_index"]
        return block

    def _wordless(self, citations: list[Wire]) -> dict[str, Any]:
        """A further piece of a text that only cites."""
        told = [{name: value for name, value in one.items() if name != "content_index"} for one in citations]
        message = {"role": "assistant", "content": [{"type": "text", "text": "."}], "citations": told}
        block = message_from_wire(message, self._scratch(), answer=True)["content"][0]
        for one, citation in zip(block.get("citations", ()), citations, strict=False):
            if "content_index" in citation:
                one["provider_state"]["fields"]["content_index"] = citation["content_index"]
        return {**block, "text": ""}

    # -- calls

    def _begin_call(self, lane: Lane, call: Any) -> None:
        self._close_all()
        function = call["function"]
        block = call_from_wire({**call, "function": {**function, "arguments": "{}"}}, self.reading)
        self.parts[lane] = _Part("tool_use", call, len(self.blocks.content))
        if block["type"] != "tool_use":
            self.blocks.whole(block, lane)
            return
        self.blocks.begin({**block, "input": {}}, lane)
        self._more_arguments(lane, function.get("arguments") or "")

    def _more_arguments(self, lane: Lane, text: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(text)
        part = self.parts[lane]
        block = self.blocks.content[part.index]
        if text and block["type"] == "tool_use":
            part.pieces.append(text)
            self.blocks.more_arguments(part.index, block["id"], text)

    def _end(self, lane: Lane) -> None:
        part = self.parts[lane]
        begun = self.blocks.content[part.index]
        if begun["type"] != "tool_use" or part.kind == "ended":
            return
        part.kind = "ended"
        self.blocks.end(part.index, {**self._call(part), "id": begun["id"]})

    def _call(self, part: _Part) -> dict[str, Any]:
        function = {**part.raw["function"], "arguments": "".join(part.pieces)}
        return call_from_wire({**part.raw, "function": function}, self._scratch())

    # -- the end

    def _complete(self, delta: Wire) -> None:
        self._close_all()
        for lane, part in self.parts.items():
            if lane[0] == _CALLS and part.kind != "ended":
                self._end(lane)
        body = {**self.body, **{name: value for name, value in delta.items() if name != "message"}}
        if self.logprobs:
            body.setdefault("logprobs", self.logprobs)
        response = read_answer({**body, "message": {**self.message, **self._whole()}}, self._scratch())
        if "usage" in response:
            self.tell_usage(response["usage"])
        places = self.blocks.places()
        content = self.blocks.content if places is None else self.blocks.in_places()
        response["message"]["content"] = content
        self.complete(response, places)

    def _whole(self) -> Wire:
        """The members of the message that a whole answer would have."""
        said: Wire = {}
        by_place = sorted(self.parts.items())
        if content := [self._raw(part) for lane, part in by_place if lane[0] == _PARTS]:
            said["content"] = content
        if (plan := self.parts.get((_PLANS, 0))) is not None:
            said["tool_plan"] = plan.text
        if calls := [self._raw_call(part) for lane, part in by_place if lane[0] == _CALLS]:
            said["tool_calls"] = calls
        if citations := [one for _, part in by_place for one in part.citations]:
            said["citations"] = citations
        return said

    def _raw(self, part: _Part) -> Wire:
        member = _GROWS.get(part.kind)
        return part.raw if member is None else {**part.raw, member: part.text}

    def _raw_call(self, part: _Part) -> Wire:
        function = part.raw.get("function")
        if not isinstance(function, dict):
            return part.raw
        return {**part.raw, "function": {**function, "arguments": "".join(part.pieces)}}

    def arrived(self) -> dict[str, Any] | None:
        """What had arrived; a text as far as it came."""
        if not self.begun:
            return None
        for lane in self.open:
            part = self.parts[lane]
            self.blocks.content[part.index] = self._settled(part)
        for lane, part in self.parts.items():
            if lane[0] == _CALLS and part.kind == "tool_use":
                begun = self.blocks.content[part.index]
                if begun["type"] == "tool_use":
                    self.blocks.content[part.index] = {**self._call(part), "id": begun["id"]}
        return partial(self.blocks.content, self.endpoint, None, self.body.get("id"))
