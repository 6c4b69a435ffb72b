"""Streams to the wire: `stream_encoder` writes the frames with which a provider of this wire would have given some events."""

from typing import Any, Final

from interlingua.adapters._answers.stream_writer import NO_ANSWER, TEXT, Encoder, OpenBlock, Writer, encoded, model_of
from interlingua.adapters._engine.kit import Event, Wire
from interlingua.adapters._openai.errors import error_in_stream
from interlingua.adapters.openai_responses.calls import derived_item_id, is_built_in
from interlingua.adapters.openai_responses.items import turn_to_wire
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
    return encoded(_Writer(endpoint, created))


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
        self.writing = Writing(NO_ANSWER, endpoint, Loss())

    def frame(self, name: str | None, data: str) -> Any:
        """A frame; all are numbered."""
        self.sequence += 1
        return Frame(name, f'{data[:-1]},"sequence_number":{self.sequence}}}')

    def _put(self, kind: str, **members: Any) -> None:
        self.put(kind, {"type": kind, **members})

    def start(self, event: Event) -> None:
        """The answer without output."""
        self.writing.identity = event.get("response_id") or derived_item_id("resp_", event.get("message_id"))
        self.head = {"id": self.writing.identity, **demanded(self.created), "output": [], "usage": None}
        self.head["model"] = model_of(event, self.endpoint) or ""  # clients require it
        self._put("response.created", response={**self.head, "status": "in_progress"})
        self._put("response.in_progress", response={**self.head, "status": "in_progress"})

    # -- blocks

    def begin(self, open_block: OpenBlock) -> None:
        """The item of a block, with nothing in it yet; none where a block has no form on this wire."""
        if is_built_in(open_block.block, self.writing):
            open_block.kind, open_block.number = "", len(self.output)
            self.late.add(open_block.number)
            self.output.append({})
            return
        items = self._items(open_block.block)
        open_block.kind, open_block.number = "", -1
        if not items:
            return
        item = items[0]
        self._identify(item)
        open_block.kind = kind = "" if open_block.block["type"] == "opaque" else _kind(item)
        open_block.number = len(self.output)
        self.output.append(item)
        self._put("response.output_item.added", output_index=open_block.number, item=_begun(item, kind))
        if kind in _PARTS:
            part = {"type": "summary_text", "text": ""} if kind == "thinking" else {**item["content"][0], kind: ""}
            self._put(f"{_PARTS[kind]}.added", **self._where(open_block), part=part)

    def _where(self, open_block: OpenBlock) -> Wire:
        """The item of a block, and its one part."""
        place = {name: number for name, number in _DELTAS[open_block.kind].items() if name.endswith("_index")}
        return {"item_id": self.output[open_block.number].get("id"), "output_index": open_block.number, **place}

    def _identify(self, item: Wire) -> None:
        """Gives an item an id of its own: clients tell items apart by their ids."""
        identity = item.get("id")
        if isinstance(identity, str):
            if identity in self.ids:
                item["id"] = identity = derived_item_id(identity.partition("_")[0] + "_", identity, len(self.output))
            self.ids.add(identity)

    def _items(self, block: Block) -> list[Wire]:
        message = {"role": "assistant", "content": [block]}
        return turn_to_wire(message, ("message",), self.writing, {"messages": [message]})[0]

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """The frame of a piece."""
        name = f"{_EVENTS[open_block.kind]}.delta"
        where = {"item_id": self.output[open_block.number].get("id"), "output_index": open_block.number}
        return name, {"type": name, **where, **delta}

    def end(self, open_block: OpenBlock) -> None:
        """What was told of an item, and the item itself."""
        if open_block.number < 0:
            return
        if open_block.number in self.late:
            self._write_whole(open_block)
            return
        block, begun = open_block.block, self.output[open_block.number]
        items = self._items(block)
        item = items[0] if items else begun
        if open_block.kind and (block["type"] == "opaque" or _kind(item) != open_block.kind):
            open_block.kind = ""  # what was told of it cannot be taken back; the item itself follows
        if isinstance(begun.get("id"), str):
            item["id"] = begun["id"]
        if open_block.kind:
            self._end_item(open_block, item)
        self._done(open_block.number, item)

    def _end_item(self, open_block: OpenBlock, item: Wire) -> None:
        """All that the pieces of a block said, and its part as it is."""
        kind, where = open_block.kind, self._where(open_block)
        text = open_block.block.get("text")
        match kind:
            case "text":
                data: Wire = {"text": text, "logprobs": []}
            case "refusal":
                data = {"refusal": text}
            case "thinking":
                data = {"text": text}
            case "call":
                data = {"name": item["name"], "arguments": item["arguments"]}
            case _:
                data = {"input": item["input"]}
        self._put(f"{_EVENTS[kind]}.done", **where, **data)
        if kind in _PARTS:
            part = {"type": "summary_text", "text": text} if kind == "thinking" else item["content"][0]
            self._put(f"{_PARTS[kind]}.done", **where, part=part)

    def _done(self, number: int, item: Wire) -> None:
        self.output[number] = item
        self.ended.add(number)
        self._put("response.output_item.done", output_index=number, item=item)

    def _write_whole(self, open_block: OpenBlock) -> None:
        """A call of a built-in tool, whose item can hold nothing while its arguments are not whole; or the call of a function
        that it turns out to be."""
        item = self._items(open_block.block)[0]
        self._identify(item)
        self.output[open_block.number] = item
        kind = _kind(item)
        begun = _begun({**item, "status": "in_progress"}, kind)
        self._put("response.output_item.added", output_index=open_block.number, item=begun)
        if kind == "call":
            open_block.kind = kind
            self.send(open_block, {"delta": item["arguments"]})
            self._end_item(open_block, item)
        self._done(open_block.number, item)

    # -- the end

    def complete(self, response: dict[str, Any]) -> None:
        """The whole answer."""
        same_origin = "provider_state" in response and self.endpoint.owns(response["provider_state"])
        body = {**self.head, **around_to_wire(response, self.endpoint)}
        body["id"] = self.head.get("id", body.get("id"))
        body["output"] = [item for number, item in enumerate(self.output) if number in self.ended]
        if not same_origin or finish_from_wire(body, response["message"]["content"]) != response["finish_reason"]:
            body |= finish_to_wire(response)
        status = body.get("status")
        self._put(f"response.{status}" if status in ("incomplete", "failed") else "response.completed", response=body)

    def fail(self, error: Error) -> None:
        """The error."""
        body = error_in_stream(error, self.endpoint)
        self._put("error", code=body["code"] or body["type"], message=body["message"], param=body["param"])


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
