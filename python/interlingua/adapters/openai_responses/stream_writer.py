"""Streams to the wire: `stream_encoder` writes the frames with which a provider of this wire would have given some events."""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters._openai_errors import error_in_stream
from interlingua.adapters._stream_writer import TEXT, Encoder, OpenBlock, Writer, encoded, model_of
from interlingua.adapters.openai_responses.items import is_built_in, made_id, turn_to_wire
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import (
    around_to_wire,
    demanded,
    finish_from_wire,
    finish_to_wire,
)
from interlingua.adapters.openai_responses.tables import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame


def stream_encoder(endpoint: Endpoint, *, created: int = 0) -> Encoder[Frame]:
    """The frames for these events, whatever their origin: one item for each block, and the whole answer at the end.

    Only the first of several answers is written. `created` is the time that the answer bears, in seconds since 1970.
    """
    return encoded(_Writer(endpoint, created).event)


_EVENTS: Final = {
    "text": "response.output_text",
    "refusal": "response.refusal",
    "thinking": "response.reasoning_summary_text",
    "call": "response.function_call_arguments",
    "custom": "response.custom_tool_call_input",
}
"""What the events of a block are called, but for `delta` and `done`."""
_PARTS: Final = {
    "text": "response.content_part",
    "refusal": "response.content_part",
    "thinking": "response.reasoning_summary_part",
}
"""What the events of its one part are called."""
_DELTAS: Final[dict[str, Wire]] = {
    "text": {"content_index": 0, "logprobs": [], "delta": TEXT},
    "refusal": {"content_index": 0, "delta": TEXT},
    "thinking": {"summary_index": 0, "delta": TEXT},
    "call": {"delta": TEXT},
    "custom": {"delta": TEXT},
}


class _Writer(Writer):
    """The number of the last frame, the answer as it began, and the items of its output as they began or ended."""

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        super().__init__(endpoint, _DELTAS)
        self.created = created
        self.sequence = -1
        self.head: Wire = {}
        self.ids: set[str] = set()
        self.output: list[Wire] = []
        self.ended: set[int] = set()
        self.late: set[int] = set()  # items that are told when they are whole
        self.writing = Writing({}, endpoint, Loss(), reply=True)

    def frame(self, name: str | None, data: str) -> Any:
        """A frame; all are numbered."""
        self.sequence += 1
        return Frame(name, f'{data[:-1]},"sequence_number":{self.sequence}}}')

    def _put(self, kind: str, **members: Any) -> None:
        self.put(kind, {"type": kind, **members})

    def start(self, event: Event) -> None:
        """The answer without output."""
        self.writing.identity = event.get("response_id") or made_id("resp_", event.get("message_id"))
        self.head = {"id": self.writing.identity, **demanded(self.created), "output": [], "usage": None}
        self.head["model"] = model_of(event, self.endpoint) or ""  # clients require it
        self._put("response.created", response={**self.head, "status": "in_progress"})
        self._put("response.in_progress", response={**self.head, "status": "in_progress"})

    # -- blocks

    def begin(self, told: OpenBlock) -> None:
        """The item of a block, with nothing in it yet; none where a block has no form on this wire."""
        if is_built_in(told.block, self.writing):
            told.kind, told.number = "", len(self.output)
            self.late.add(told.number)
            self.output.append({})
            return
        items = self._items(told.block)
        told.kind, told.number = "", -1
        if not items:
            return
        item = items[0]
        self._identify(item)
        told.kind = kind = "" if told.block["type"] == "opaque" else _kind(item)
        told.number = len(self.output)
        self.output.append(item)
        self._put("response.output_item.added", output_index=told.number, item=_begun(item, kind))
        if kind in _PARTS:
            part = {"type": "summary_text", "text": ""} if kind == "thinking" else {**item["content"][0], kind: ""}
            self._put(f"{_PARTS[kind]}.added", **self._where(told), part=part)

    def _where(self, told: OpenBlock) -> Wire:
        """The item of a block, and its one part."""
        place = {name: number for name, number in _DELTAS[told.kind].items() if name.endswith("_index")}
        return {"item_id": self.output[told.number].get("id"), "output_index": told.number, **place}

    def _identify(self, item: Wire) -> None:
        """Gives an item an id of its own: clients tell items apart by their ids."""
        identity = item.get("id")
        if isinstance(identity, str):
            if identity in self.ids:
                item["id"] = identity = made_id(identity.partition("_")[0] + "_", identity, len(self.output))
            self.ids.add(identity)

    def _items(self, block: Block) -> list[Wire]:
        message = {"role": "assistant", "content": [block]}
        return turn_to_wire(message, ("message",), self.writing, {"messages": [message]})[0]

    def placed(self, told: OpenBlock, said: Wire) -> tuple[str | None, Wire]:
        """The frame of a piece."""
        name = f"{_EVENTS[told.kind]}.delta"
        where = {"item_id": self.output[told.number].get("id"), "output_index": told.number}
        return name, {"type": name, **where, **said}

    def end(self, told: OpenBlock) -> None:
        """What was told of an item, and the item itself."""
        if told.number < 0:
            return
        if told.number in self.late:
            self._tell_whole(told)
            return
        block, begun = told.block, self.output[told.number]
        items = self._items(block)
        item = items[0] if items else begun
        if told.kind and (block["type"] == "opaque" or _kind(item) != told.kind):
            told.kind = ""  # what was told of it cannot be taken back; the item itself follows
        if isinstance(begun.get("id"), str):
            item["id"] = begun["id"]
        if told.kind:
            self._told(told, item)
        self._done(told.number, item)

    def _told(self, told: OpenBlock, item: Wire) -> None:
        """All that the pieces of a block said, and its part as it is."""
        kind, where = told.kind, self._where(told)
        text = told.block.get("text")
        match kind:
            case "text":
                said: Wire = {"text": text, "logprobs": []}
            case "refusal":
                said = {"refusal": text}
            case "thinking":
                said = {"text": text}
            case "call":
                said = {"name": item["name"], "arguments": item["arguments"]}
            case _:
                said = {"input": item["input"]}
        self._put(f"{_EVENTS[kind]}.done", **where, **said)
        if kind in _PARTS:
            part = {"type": "summary_text", "text": text} if kind == "thinking" else item["content"][0]
            self._put(f"{_PARTS[kind]}.done", **where, part=part)

    def _done(self, number: int, item: Wire) -> None:
        self.output[number] = item
        self.ended.add(number)
        self._put("response.output_item.done", output_index=number, item=item)

    def _tell_whole(self, told: OpenBlock) -> None:
        """A call of a built-in tool, whose item can hold nothing while its arguments are not whole; or the call of a function
        that it turns out to be."""
        item = self._items(told.block)[0]
        self._identify(item)
        self.output[told.number] = item
        kind = _kind(item)
        begun = _begun({**item, "status": "in_progress"}, kind)
        self._put("response.output_item.added", output_index=told.number, item=begun)
        if kind == "call":
            told.kind = kind
            self.say(told, {"delta": item["arguments"]})
            self._told(told, item)
        self._done(told.number, item)

    # -- the end

    def complete(self, response: dict[str, Any]) -> None:
        """The whole answer."""
        own = "provider_state" in response and self.endpoint.owns(response["provider_state"])
        body = {**self.head, **around_to_wire(response, self.endpoint)}
        body["id"] = self.head.get("id", body.get("id"))
        body["output"] = [item for number, item in enumerate(self.output) if number in self.ended]
        if not own or finish_from_wire(body, response["message"]["content"]) != response["finish_reason"]:
            body |= finish_to_wire(response)
        status = body.get("status")
        self._put(f"response.{status}" if status in ("incomplete", "failed") else "response.completed", response=body)

    def fail(self, error: Error) -> None:
        """The error."""
        told = error_in_stream(error, self.endpoint)
        self._put("error", code=told["code"] or told["type"], message=told["message"], param=told["param"])


def _kind(item: Wire) -> str:
    match item.get("type"):
        case "message" if item["content"][0].get("type") == "output_text":
            return "text"
        case "message" if item["content"][0].get("type") == "refusal":
            return "refusal"
        case "reasoning":
            return "thinking"
        case "function_call":
            return "call"
        case "custom_tool_call":
            return "custom"
        case _:
            return ""


def _begun(item: Wire, kind: str) -> Wire:
    """An item as it is told first: nothing in it yet."""
    match kind:
        case "text" | "refusal":
            return {**item, "status": "in_progress", "content": []}
        case "thinking":
            return {**item, "summary": []}
        case "call":
            return {**item, "status": "in_progress", "arguments": ""}
        case "custom":
            return {**item, "status": "in_progress", "input": ""}
        case _:
            return item
