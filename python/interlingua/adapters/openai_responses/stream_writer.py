"""Streams to the wire: `stream_encoder` writes the frames with which a provider of this wire would have given some events."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Event, Wire
from interlingua.adapters._openai_errors import error_in_stream
from interlingua.adapters._stream_writer import TEXT, Encoder, OpenBlock, Writer, encoded
from interlingua.adapters.openai_responses.items import is_built_in, made_id, turn_to_wire
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import finish_from_wire, finish_to_wire, head, usage_to_wire
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


_DELTAS: Final = {
    "text": "response.output_text.delta",
    "refusal": "response.refusal.delta",
    "thinking": "response.reasoning_summary_text.delta",
    "call": "response.function_call_arguments.delta",
    "custom": "response.custom_tool_call_input.delta",
}


class _Writer(Writer):
    """The number of the last frame, the answer as it began, and the items of its output as they began or ended."""

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        super().__init__(endpoint)
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
        response: dict[str, Any] = {"message": {"content": []}}
        response["id"] = event.get("response_id") or made_id("resp_", event.get("message_id"))
        self.writing.identity = response["id"]
        model = event.get("model") or self.endpoint.model
        if model is not None:
            response["model"] = model
        self.head = {**head(response, self.endpoint, self.created, own=False), "output": [], "usage": None}
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
        where = {"item_id": item.get("id"), "output_index": told.number}
        if kind in ("text", "refusal"):
            part = {**item["content"][0], kind: ""}
            self._put("response.content_part.added", **where, content_index=0, part=part)
        elif kind == "thinking":
            part = {"type": "summary_text", "text": ""}
            self._put("response.reasoning_summary_part.added", **where, summary_index=0, part=part)
        if kind:
            self.more(told, told.block.get("text", ""))

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

    def delta(self, told: OpenBlock) -> tuple[str | None, Wire] | None:
        """The frame of a piece."""
        name = _DELTAS.get(told.kind)
        if name is None:
            return None
        where: Wire = {"item_id": self.output[told.number].get("id"), "output_index": told.number}
        if told.kind == "thinking":
            where["summary_index"] = 0
        elif told.kind in ("text", "refusal"):
            where["content_index"] = 0
        if told.kind == "text":
            where["logprobs"] = []
        return name, {"type": name, **where, "delta": TEXT}

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
        where = {"item_id": item.get("id"), "output_index": told.number}
        match told.kind:
            case "text":
                said = {"text": block["text"], "logprobs": []}
                self._put("response.output_text.done", **where, content_index=0, **said)
                self._put("response.content_part.done", **where, content_index=0, part=item["content"][0])
            case "refusal":
                self._put("response.refusal.done", **where, content_index=0, refusal=block["text"])
                self._put("response.content_part.done", **where, content_index=0, part=item["content"][0])
            case "thinking":
                part = {"type": "summary_text", "text": block["text"]}
                self._put("response.reasoning_summary_text.done", **where, summary_index=0, text=block["text"])
                self._put("response.reasoning_summary_part.done", **where, summary_index=0, part=part)
            case "call":
                said = {"name": item["name"], "arguments": item["arguments"]}
                self._put("response.function_call_arguments.done", **where, **said)
            case "custom":
                self._put("response.custom_tool_call_input.done", **where, input=item["input"])
            case _:
                pass
        self._done(told.number, item)

    def _done(self, number: int, item: Wire) -> None:
        self.output[number] = item
        self.ended.add(number)
        self._put("response.output_item.done", output_index=number, item=item)

    def _tell_whole(self, told: OpenBlock) -> None:
        """A call of a built-in tool, whose item can hold nothing while its arguments are not whole; or the call of a function
        that it turns out to be."""
        item = self._items(told.block)[0]
        self._identify(item)
        kind = _kind(item)
        self._put(
            "response.output_item.added", output_index=told.number, item=_begun({**item, "status": "in_progress"}, kind)
        )
        if kind == "call":
            where = {"item_id": item.get("id"), "output_index": told.number}
            said = {"name": item["name"], "arguments": item["arguments"]}
            self._put("response.function_call_arguments.delta", **where, delta=item["arguments"])
            self._put("response.function_call_arguments.done", **where, **said)
        self._done(told.number, item)

    # -- the end

    def complete(self, response: dict[str, Any]) -> None:
        """The whole answer."""
        own = "provider_state" in response and self.endpoint.owns(response["provider_state"])
        state: Mapping[str, Any] = response["provider_state"] if own else NOTHING
        body = {**self.head, **head(response, self.endpoint, self.created, own=own)}
        body["id"] = self.head.get("id", body.get("id"))
        body["output"] = [item for number, item in enumerate(self.output) if number in self.ended]
        if (usage := response.get("usage")) is not None:
            body["usage"] = usage_to_wire(usage, own=own)
        body |= state.get("fields") or NOTHING
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
