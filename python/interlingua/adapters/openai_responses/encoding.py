"""Streams played: `stream_encoder` writes the frames with which a provider of this wire would have given some events."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Encoder, Wire, arguments_text, encoded
from interlingua.adapters._openai_errors import error_in_stream
from interlingua.adapters.openai_responses.context import Writing
from interlingua.adapters.openai_responses.items import made_id, turn_to_wire
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import finish_from_wire, finish_to_wire, head, usage_to_wire
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss
from interlingua.wire.sse import Frame

Event = dict[str, Any]


def stream_encoder(endpoint: Endpoint, *, created: int = 0) -> Encoder[Frame]:
    """The frames for these events, whatever their origin: one item for each block, and the whole answer at the end.

    Only the first of several answers is written. `created` is the time that the answer bears, in seconds since 1970.
    """
    return encoded(_Encoder(endpoint, created).event)


class _Told:
    """An item that is being told."""

    __slots__ = ("block", "item", "kind", "number", "text")

    def __init__(self, number: int, block: Block, kind: str, item: Wire) -> None:
        self.number = number
        self.block = block
        self.kind = kind
        self.item = item
        self.text = ""


_DELTAS: Final = {
    "text": "response.output_text.delta",
    "refusal": "response.refusal.delta",
    "thinking": "response.reasoning_summary_text.delta",
    "call": "response.function_call_arguments.delta",
    "custom": "response.custom_tool_call_input.delta",
}


class _Encoder:
    """The number of the next frame, and what has been told of each block."""

    __slots__ = ("_created", "_endpoint", "_head", "_ids", "_output", "_sequence", "_told", "_writing")

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        self._endpoint = endpoint
        self._created = created
        self._head: Wire = {}
        self._ids: set[str] = set()
        self._output: list[Wire | None] = []
        self._sequence = -1
        self._told: dict[int, _Told] = {}
        self._writing = Writing({}, endpoint, Loss(), reply=True)

    def event(self, event: Event) -> list[Frame]:
        """One event gives no frame, one or more; none of an answer beside the first."""
        return [] if event.get("choice") else list(self._told_of(event))

    def _told_of(self, event: Event) -> Iterator[Frame]:
        match event["type"]:
            case "message_start":
                self._start(event)
                yield self._frame("response.created", response={**self._head, "status": "in_progress"})
                yield self._frame("response.in_progress", response={**self._head, "status": "in_progress"})
            case "block_start":
                yield from self._block_start(event["index"], event["block"])
            case "text_delta" | "thinking_delta" | "tool_use_input_delta":
                yield from self._more(event["index"], event["text"])
            case "tool_use_end":
                yield from self._call_end(event)
            case "block_stop":
                yield from self._block_stop(event["index"], event["block"])
            case "message_complete":
                yield from self._finish(event["response"])
            case "error":
                told = error_in_stream(event["error"], self._endpoint)
                yield self._frame(
                    "error", code=told["code"] or told["type"], message=told["message"], param=told["param"]
                )
            case _:
                pass

    def _start(self, event: Event) -> None:
        response: dict[str, Any] = {"message": {"content": []}}
        response["id"] = event.get("response_id") or made_id("resp_", event.get("message_id"))
        model = event.get("model") or self._endpoint.model
        if model is not None:
            response["model"] = model
        self._head = {**head(response, self._endpoint, self._created, own=False), "output": [], "usage": None}

    def _frame(self, kind: str, **members: Any) -> Frame:
        self._sequence += 1
        data = {"type": kind, **members, "sequence_number": self._sequence}
        return Frame(kind, json.dumps(data).decode())

    # -- blocks

    def _block_start(self, index: int, block: Block) -> Iterator[Frame]:
        items = self._items(block)
        if not items:
            return  # the block has no form on this wire
        item = items[0]
        identity = item.get("id")
        if isinstance(identity, str):
            if identity in self._ids:  # clients tell items apart by their ids
                item["id"] = identity = made_id(identity.partition("_")[0] + "_", identity, len(self._output))
            self._ids.add(identity)
        kind = "" if block["type"] == "opaque" else _kind(item)
        told = self._told[index] = _Told(len(self._output), block, kind, item)
        self._output.append(None)
        yield self._frame("response.output_item.added", output_index=told.number, item=_begun(item, kind))
        where = {"item_id": item.get("id"), "output_index": told.number}
        if kind in ("text", "refusal"):
            part = {**item["content"][0], "text" if kind == "text" else "refusal": ""}
            yield self._frame("response.content_part.added", **where, content_index=0, part=part)
        elif kind == "thinking":
            part = {"type": "summary_text", "text": ""}
            yield self._frame("response.reasoning_summary_part.added", **where, summary_index=0, part=part)
        if kind in ("text", "refusal", "thinking") and block.get("text"):
            yield from self._more(index, block["text"])

    def _items(self, block: Block) -> list[Wire]:
        message = {"role": "assistant", "content": [block]}
        return turn_to_wire(message, ("message",), self._writing, {"messages": [message]})

    def _more(self, index: int, text: str) -> Iterator[Frame]:
        told = self._told.get(index)
        if told is None or not text or told.kind not in _DELTAS:
            return
        told.text += text
        where: Wire = {"item_id": told.item.get("id"), "output_index": told.number}
        if told.kind == "thinking":
            where["summary_index"] = 0
        elif told.kind in ("text", "refusal"):
            where["content_index"] = 0
        if told.kind == "text":
            where["logprobs"] = []
        yield self._frame(_DELTAS[told.kind], **where, delta=text)

    def _call_end(self, event: Event) -> Iterator[Frame]:
        told = self._told.get(event["index"])
        if told is not None and not told.text:
            # another wire may tell a call only when it is whole
            text = event.get("input_raw")
            yield from self._more(event["index"], arguments_text(event["input"]) if text is None else text)

    def _block_stop(self, index: int, block: Block) -> Iterator[Frame]:
        told = self._told.get(index)
        if told is None:
            return
        items = self._items(block)
        item = items[0] if items else told.item
        if told.kind and (block["type"] == "opaque" or _kind(item) != told.kind):
            told.kind = ""  # what was told of it cannot be taken back; the item itself follows
        if told.kind in ("text", "refusal", "thinking") and block["text"].startswith(told.text):
            yield from self._more(index, block["text"][len(told.text) :])
        if isinstance(told.item.get("id"), str):
            item["id"] = told.item["id"]
        where = {"item_id": item.get("id"), "output_index": told.number}
        match told.kind:
            case "text" | "refusal":
                part = item["content"][0]
                said = {"text": told.text, "logprobs": []} if told.kind == "text" else {"refusal": told.text}
                name = "response.output_text.done" if told.kind == "text" else "response.refusal.done"
                yield self._frame(name, **where, content_index=0, **said)
                yield self._frame("response.content_part.done", **where, content_index=0, part=part)
            case "thinking":
                part = {"type": "summary_text", "text": told.text}
                yield self._frame("response.reasoning_summary_text.done", **where, summary_index=0, text=told.text)
                yield self._frame("response.reasoning_summary_part.done", **where, summary_index=0, part=part)
            case "call":
                name, arguments = "response.function_call_arguments.done", item["arguments"]
                yield self._frame(name, **where, name=item["name"], arguments=arguments)
            case "custom":
                yield self._frame("response.custom_tool_call_input.done", **where, input=item["input"])
            case _:
                pass
        self._output[told.number] = item
        yield self._frame("response.output_item.done", output_index=told.number, item=item)

    # -- the end

    def _finish(self, response: dict[str, Any]) -> Iterator[Frame]:
        own = "provider_state" in response and self._endpoint.owns(response["provider_state"])
        state: Mapping[str, Any] = response["provider_state"] if own else NOTHING
        body = {**self._head, **head(response, self._endpoint, self._created, own=own)}
        body["id"] = self._head.get("id", body.get("id"))
        body["output"] = [item for item in self._output if item is not None]
        if (usage := response.get("usage")) is not None:
            body["usage"] = usage_to_wire(usage, own=own)
        body |= state.get("fields") or NOTHING
        if not own or finish_from_wire(body, response["message"]["content"]) != response["finish_reason"]:
            body |= finish_to_wire(response)
        status = body.get("status")
        name = f"response.{status}" if status in ("incomplete", "failed") else "response.completed"
        yield self._frame(name, response=body)


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
