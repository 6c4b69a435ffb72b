"""
Streams from the wire: each event is a patch on the message that a whole answer would be.

Parts of the content and calls are numbered, the plan is one. What an answer cites comes with its part or behind it, so a text
ends when something else begins. The event `message-end` is the last one: without it the answer broke off.
"""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters._stream_reader import Answer, Blocks, Decoder, Lane, decoded, partial
from interlingua.adapters.cohere_chat.errors import error_from_body
from interlingua.adapters.cohere_chat.messages import message_from_wire
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
_PARTS, _PLAN, _CALLS = 0, 1, 2
_GROWS: Final = {"text": "text", "thinking": "thinking"}
"""The member of a part that comes in pieces."""


class _Part:
    """A part of the content, the plan, or a call, as far as it came."""

    __slots__ = ("citations", "index", "kind", "pieces", "raw")

    def __init__(self, kind: str, raw: Wire, index: int) -> None:
        self.kind = kind
        self.raw = raw
        self.index = index  # of the block that is told
        self.pieces: list[str] = []
        self.citations: list[Wire] = []


class _Answer(Answer):
    """The message so far, and the part that is being told."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.blocks = Blocks(0, self.due)
        self.body: Wire = {}
        self.message: Wire = {}
        self.parts: dict[Lane, _Part] = {}
        self.open: Lane | None = None  # a text, reasoning or the plan: calls end by themselves

    def patch(self, frame: Frame) -> Event | None:
        """Takes an event of the wire."""
        if frame.data == _DONE:
            return None
        event = json.loads(frame.data)
        if not isinstance(event, dict):
            raise TypeError("event")
        message = (event.get("delta") or {}).get("message") or {}
        match event.get("type"):
            case "message-start":
                self._start(event, message)
            case "content-start":
                self._begin((_PARTS, event["index"]), message["content"])
            case "content-delta":
                self._more((_PARTS, event["index"]), message["content"])
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
            case "message-end":
                self._complete(event["delta"])
            case None if "message" in event:
                self.fail(error_from_body(None, {}, event, self.endpoint))
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
        self._close()
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
        self.open = lane
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
            kind = next(name for name in _GROWS if isinstance(content.get(name), str))
            self._begin(lane, {"type": kind, kind: ""})
            part = self.parts[lane]
        if part.kind in _GROWS:
            self._say(part, content[_GROWS[part.kind]])

    def _say(self, part: _Part, text: Any) -> None:
        if not isinstance(text, str):
            raise TypeError(text)
        if text:
            part.pieces.append(text)
            self.blocks.more(part.index, part.kind, text)

    def _plan(self, text: Any) -> None:
        lane: Lane = (_PLAN, 0)
        part = self.parts.get(lane)
        if part is None:
            if not text:
                return
            self._close()
            part = self.parts[lane] = _Part("text", {}, self.blocks.begin({"type": "text", "text": ""}, lane))
            self.open = lane
        self._say(part, text)

    def _cite(self, citation: Any) -> None:
        told = citation if isinstance(citation, list) else [citation]
        for one in told:
            lane: Lane = (_PLAN, 0) if one.get("type") == "PLAN" else (_PARTS, one.get("content_index", -1))
            part = self.parts.get(lane) or next((part for part in self.parts.values() if part.kind == "text"), None)
            if part is None:
                raise KeyError("citations")
            part.citations.append(one)

    def _close(self) -> None:
        """The text that is being told ends."""
        if self.open is not None:
            part = self.parts[self.open]
            self.blocks.end(part.index, self._settled(part))
            self.open = None

    def _settled(self, part: _Part) -> dict[str, Any]:
        """A text or reasoning as a whole answer has it, with what it cites."""
        text = "".join(part.pieces)
        if not part.raw:
            block: dict[str, Any] = {"type": "text", "text": text}
        else:
            block = self._read({**part.raw, _GROWS[part.kind]: text})
        if part.citations and part.kind == "text":
            whole = {"role": "assistant", "content": [{"type": "text", "text": text}], "citations": part.citations}
            if not part.raw:
                whole = {"role": "assistant", "tool_plan": text, "citations": part.citations}
            else:
                whole["citations"] = [{**one, "content_index": 0} for one in part.citations]
            cited = message_from_wire(whole, self._scratch(), answer=True)["content"][0].get("citations")
            if cited is not None:
                for one, citation in zip(cited, part.citations, strict=True):
                    one["provider_state"].setdefault("fields", {}).pop("content_index", None)
                    if "content_index" in citation:
                        one["provider_state"]["fields"]["content_index"] = citation["content_index"]
                block["citations"] = cited
        return block

    # -- calls

    def _begin_call(self, lane: Lane, call: Any) -> None:
        self._close()
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
        self._close()
        for lane, part in self.parts.items():
            if lane[0] == _CALLS and part.kind != "ended":
                self._end(lane)
        body = {**self.body, **{name: value for name, value in delta.items() if name != "message"}}
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
        if (plan := self.parts.get((_PLAN, 0))) is not None:
            said["tool_plan"] = "".join(plan.pieces)
        if calls := [self._raw_call(part) for lane, part in by_place if lane[0] == _CALLS]:
            said["tool_calls"] = calls
        if citations := [one for _, part in by_place for one in part.citations]:
            said["citations"] = citations
        return said

    def _raw(self, part: _Part) -> Wire:
        member = _GROWS.get(part.kind)
        return part.raw if member is None else {**part.raw, member: "".join(part.pieces)}

    def _raw_call(self, part: _Part) -> Wire:
        function = part.raw.get("function")
        if not isinstance(function, dict):
            return part.raw
        return {**part.raw, "function": {**function, "arguments": "".join(part.pieces)}}

    def arrived(self) -> dict[str, Any] | None:
        """What had arrived; a text as far as it came."""
        if not self.begun:
            return None
        if self.open is not None:
            part = self.parts[self.open]
            self.blocks.content[part.index] = self._settled(part)
        for lane, part in self.parts.items():
            if lane[0] == _CALLS and part.kind == "tool_use":
                begun = self.blocks.content[part.index]
                if begun["type"] == "tool_use":
                    self.blocks.content[part.index] = {**self._call(part), "id": begun["id"]}
        return partial(self.blocks.content, self.endpoint, None, self.body.get("id"))
