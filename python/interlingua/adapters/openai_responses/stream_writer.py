"""Streams to the wire: `stream_encoder` writes the frames that a provider of this wire would send for the events."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from interlingua.adapters._answers.stream_writer import (
    NO_ANSWER,
    TEXT,
    Encoder,
    OpenBlock,
    Writer,
    encoded,
    identity_of,
    model_of,
)
from interlingua.adapters._engine.kit import NOTHING, Event, Wire
from interlingua.adapters._openai.errors import error_in_stream
from interlingua.adapters.openai_responses.calls import derived_item_id, is_built_in
from interlingua.adapters.openai_responses.items import turn_to_wire
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import (
    answer_id,
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
    """Return the encoder of events of any origin: one item for each block, and the complete response at the end.

    Only the first of several answers is written. `created` is the creation time in the response, in seconds since 1970.
    """
    return encoded(_Writer(endpoint, created))


class _Kind(NamedTuple):
    """An item that is streamed in pieces: the name of its `events` without `delta` and `done`, the `member` that holds
    the whole text of the pieces, and the item as it begins (`begun`), still empty. For an item with a part: the name of
    the events of the `part`, its `place`, and the members that `accompany` its pieces.
    """

    events: str
    member: str
    begun: Wire
    part: str = ""
    place: Mapping[str, Any] = NOTHING
    accompany: Mapping[str, Any] = NOTHING


_STARTED: Final = "in_progress"
_MESSAGE: Final[Wire] = {"status": _STARTED, "content": []}
_FIRST: Final[Wire] = {"content_index": 0}
_KINDS: Final[Mapping[Any, _Kind]] = {
    "output_text": _Kind("response.output_text", "text", _MESSAGE, "response.content_part", _FIRST, {"logprobs": []}),
    "refusal": _Kind("response.refusal", "refusal", _MESSAGE, "response.content_part", _FIRST),
    "reasoning": _Kind(
        "response.reasoning_summary_text",
        "text",
        {"summary": []},
        "response.reasoning_summary_part",
        {"summary_index": 0},
    ),
    "function_call": _Kind("response.function_call_arguments", "arguments", {"status": _STARTED, "arguments": ""}),
    "custom_tool_call": _Kind("response.custom_tool_call_input", "input", {"status": _STARTED, "input": ""}),
}
"""The kinds by the type of the item, or of the only part of a message."""
_DELTAS: Final[dict[str, Wire]] = {
    name: {**kind.place, **kind.accompany, "delta": TEXT} for name, kind in _KINDS.items()
}


class _Writer(Writer):
    """The number of the last frame, the response as it began, and the items of its output as they began or ended."""

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        super().__init__(endpoint, _DELTAS)
        self.created = created
        self.sequence = -1
        self.head: Wire = {}
        self.ids: set[str] = set()
        self.output: list[Wire] = []
        self.ended: set[int] = set()
        self.late: set[int] = set()  # items that are written when they are complete
        self.writing = Writing(NO_ANSWER, endpoint, Loss())

    def frame(self, name: str | None, data: str) -> Any:
        """Return a frame; all frames are numbered."""
        self.sequence += 1
        return Frame(name, f'{data[:-1]},"sequence_number":{self.sequence}}}')

    def _put(self, kind: str, **members: Any) -> None:
        self.put(kind, {"type": kind, **members})

    def start(self, event: Event) -> None:
        """Write the response without output."""
        self.writing.identity = identity_of(event, answer_id)
        self.head = {"id": self.writing.identity, **demanded(self.created), "output": [], "usage": None}
        self.head["model"] = model_of(event, self.endpoint) or ""  # clients require it
        self._put("response.created", response={**self.head, "status": _STARTED})
        self._put("response.in_progress", response={**self.head, "status": _STARTED})

    # -- blocks

    def begin(self, open_block: OpenBlock) -> None:
        """Begin the item of a block, still empty; write none where this wire does not represent the block. A call of a
        built-in tool is written when it is complete, because its item cannot be empty."""
        late = is_built_in(open_block.block, self.writing)
        items = [] if late else self._items(open_block.block)
        open_block.kind, open_block.number = "", len(self.output) if late or items else -1
        if late:
            self.output.append({})
            self.late.add(open_block.number)
        elif items:
            self.output.append(items[0])
            self._add(open_block, items[0], "" if open_block.block["type"] == "opaque" else _kind(items[0]))

    def _add(self, open_block: OpenBlock, item: Wire, kind: str, state: Mapping[str, Any] = NOTHING) -> None:
        """Begin an item, and its part. It gets a unique id, because clients distinguish items by their ids."""
        identity = item.get("id")
        if isinstance(identity, str):
            if identity in self.ids:
                item["id"] = identity = derived_item_id(identity.partition("_")[0] + "_", identity, open_block.number)
            self.ids.add(identity)
        open_block.kind = kind
        begun = {**item, **state, **(_KINDS[kind].begun if kind else NOTHING)}
        self._put("response.output_item.added", output_index=open_block.number, item=begun)
        if kind and _KINDS[kind].part:
            self._put(f"{_KINDS[kind].part}.added", **self._where(open_block), part=_part(kind, item, ""))

    def _where(self, open_block: OpenBlock) -> Wire:
        """Return the place of the item of a block, and of its only part."""
        item_id = self.output[open_block.number].get("id")
        return {"item_id": item_id, "output_index": open_block.number, **_KINDS[open_block.kind].place}

    def _items(self, block: Block) -> list[Wire]:
        message = {"role": "assistant", "content": [block]}
        return turn_to_wire(message, ("message",), self.writing, {"messages": [message]})[0]

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """Return the frame of a piece."""
        name = f"{_KINDS[open_block.kind].events}.delta"
        return name, {"type": name, **self._where(open_block), **delta}

    def end(self, open_block: OpenBlock) -> None:
        """Write the end of the pieces of an item, and the item itself."""
        number = open_block.number
        if number < 0:
            return
        begun, items = self.output[number], self._items(open_block.block)
        item = items[0] if items else begun
        if number in self.late:
            self._tell(open_block, item)
        elif open_block.kind and (open_block.block["type"] == "opaque" or _kind(item) != open_block.kind):
            open_block.kind = ""  # streamed pieces cannot be taken back; the item itself follows
        if isinstance(begun.get("id"), str):
            item["id"] = begun["id"]
        if open_block.kind:
            self._end_pieces(open_block, item)
        self.output[number] = item
        self.ended.add(number)
        self._put("response.output_item.done", output_index=number, item=item)

    def _tell(self, open_block: OpenBlock, item: Wire) -> None:
        """Begin a complete call of a built-in tool; if it is written as a call of a function, stream its arguments as
        one piece."""
        self.output[open_block.number] = item
        kind = _kind(item)
        self._add(open_block, item, kind, {"status": _STARTED})
        if kind:
            self.send(open_block, {"delta": item[_KINDS[kind].member]})

    def _end_pieces(self, open_block: OpenBlock, item: Wire) -> None:
        """Write the whole text of the pieces of a block, and its part in the final state."""
        kind, where = _KINDS[open_block.kind], self._where(open_block)
        said = item[kind.member] if kind.member in item else open_block.block.get("text")
        named = {"name": item["name"]} if open_block.kind == "function_call" else NOTHING
        self._put(f"{kind.events}.done", **where, **kind.accompany, **named, **{kind.member: said})
        if kind.part:
            self._put(f"{kind.part}.done", **where, part=_part(open_block.kind, item, said))

    # -- the end

    def complete(self, response: dict[str, Any]) -> None:
        """Write the complete response."""
        same_origin = "provider_state" in response and self.endpoint.owns(response["provider_state"])
        body = {**self.head, **around_to_wire(response, self.endpoint)}
        body["id"] = self.head.get("id", body.get("id"))
        body["output"] = [item for number, item in enumerate(self.output) if number in self.ended]
        if not same_origin or finish_from_wire(body, response["message"]["content"]) != response["finish_reason"]:
            body |= finish_to_wire(response)
        status = body.get("status")
        self._put(f"response.{status}" if status in ("incomplete", "failed") else "response.completed", response=body)

    def fail(self, error: Error) -> None:
        """Write the error."""
        body = error_in_stream(error, self.endpoint)
        self._put("error", code=body["code"] or body["type"], message=body["message"], param=body["param"])


def _kind(item: Wire) -> str:
    """Return the kind of an item that is streamed in pieces; an empty string for an item that is sent at once."""
    kind: Any = item.get("type")
    if kind == "message":
        kind = item["content"][0].get("type")
    return str(kind) if kind in _KINDS else ""


def _part(kind: str, item: Wire, text: Any) -> Wire:
    """Return the only part of an item, with a text."""
    if kind == "reasoning":
        return {"type": "summary_text", "text": text}
    return {**item["content"][0], _KINDS[kind].member: text}
