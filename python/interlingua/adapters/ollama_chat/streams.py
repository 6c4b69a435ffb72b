"""
Streams: one JSON object a line. `stream_decoder` from lines to events above `stream_encoder`, the way back.

Text and reasoning come in pieces and end when something else begins; calls come whole. The line with `done: true` is the
last one: without it the answer broke off. The decoder keeps the members of all lines and reads them once more at the
end, so that a stream gives the same response as the body that says the same.
"""

from collections.abc import Generator
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Encoder, Wire, arguments_text, encoded_in_turn
from interlingua.adapters._order import longest_rising, moves_to
from interlingua.adapters._structured import Told
from interlingua.adapters.ollama_chat.blocks import Block
from interlingua.adapters.ollama_chat.errors import error_from_body, error_in_stream
from interlingua.adapters.ollama_chat.images import answered_image
from interlingua.adapters.ollama_chat.messages import message_to_wire
from interlingua.adapters.ollama_chat.responses import (
    end_to_wire,
    finish_from_wire,
    read_answer,
    salt_of,
    to_wire_response,
)
from interlingua.adapters.ollama_chat.tables import CALLS, CREATED, NAME, Reading, Writing
from interlingua.adapters.ollama_chat.tools import call_from_wire, call_to_wire
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer
from interlingua.wire.sse import Frame

Event = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- from the wire


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Event], Frame | None, None]:
    """Give it lines, and None at the end of input; it gives the events that each line completes.

    Ends after `message_complete` or `error`. An answer that breaks off is an `error` event with what had arrived.
    """
    answer = _Answer(endpoint, ids)
    told = Told()
    frame = yield []
    while frame is not None:
        events = answer.take(frame)
        if len(events) > 1 or told.begun:
            events = told.events(events)
        frame = yield events
        if answer.ended:
            return
    yield told.events(answer.end_of_input())


_RANKS: Final = {"thinking": 0, "image": 1, "text": 2, "tool_use": 3}
"""The members of a message in their order, by the blocks that they hold."""
_IMAGES: Final = 1
_CALLS: Final = 3
_JOINED: Final = (0, 2)
_SAID: Final = frozenset(("content", "thinking", "tool_calls", "images"))
_DELTAS: Final = {"text": "text_delta", "thinking": "thinking_delta"}


class _Answer:
    """What has arrived of one answer, and the block that is being told."""

    __slots__ = (
        "_blocks",
        "_kind",
        "_logprobs",
        "_message",
        "_pieces",
        "_ranks",
        "_reading",
        "_started",
        "_whole",
        "ended",
    )

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.ended = False
        self._reading = Reading(endpoint, ids)
        self._started = False
        self._whole: Wire = {}
        self._message: Wire = {}
        self._logprobs: list[Any] = []
        self._blocks: list[Block] = []
        self._ranks: list[int] = []  # of the blocks: the member of a whole answer that holds each
        self._kind = ""
        self._pieces: list[str] = []

    def take(self, frame: Frame) -> list[Event]:
        """The events that a line completes."""
        try:
            chunk = json.loads(frame.data)
            if not isinstance(chunk, dict):
                return self._malformed()
            if chunk.get("error") and not isinstance(chunk.get("message"), dict):
                return self._end(error_from_body(None, {}, chunk, self._reading.endpoint))
            return self._chunk(chunk)
        except (InterlinguaError, KeyError, TypeError, AttributeError, IndexError, ValueError):
            return self._malformed()

    def end_of_input(self) -> list[Event]:
        """The events that the end of input brings."""
        message = "the stream ended before the answer did; what had arrived is in the response"
        return self._end({"category": "stream_truncated", "message": message, "retryable": True, "adapter": NAME})

    def _chunk(self, chunk: Wire) -> list[Event]:
        events: list[Event] = []
        message = chunk.get("message")
        if not self._started and (message is not None or chunk.get("done")):
            self._started = True
            self._reading.salt = salt_of(chunk)
            events.append(self._start(chunk))
        for name, value in chunk.items():
            if name != "message" and value is not None:
                self._whole[name] = value
        if isinstance(logprobs := chunk.get("logprobs"), list):
            self._logprobs += logprobs
        if message is not None:
            self._take_message(message, events)
        return events + self._complete() if chunk.get("done") is True else events

    def _start(self, chunk: Wire) -> Event:
        model = chunk.get("model")
        named = self._reading.endpoint.model_id(model) if isinstance(model, str) else None
        return {"type": "message_start"} if named is None else {"type": "message_start", "model": named}

    def _take_message(self, message: Wire, events: list[Event]) -> None:
        if text := message.get("thinking"):
            self._more("thinking", text, events)
        for image in message.get("images") or ():
            self._whole_block(answered_image(image, self._reading), _IMAGES, events)
        if text := message.get("content"):
            self._more("text", text, events)
        for call in message.get("tool_calls") or ():
            self._call(call_from_wire(call, self._reading), events)
        for name, value in message.items():
            if name not in _SAID and value is not None:
                self._message[name] = value

    def _more(self, kind: str, text: Any, events: list[Event]) -> None:
        if not isinstance(text, str):
            raise TypeError(text)
        if kind != self._kind:
            self._close(events)
            self._kind = kind
            block: Block = {"type": kind, "text": ""}
            if kind == "thinking":
                block["provider_state"] = self._reading.endpoint.state()
            self._blocks.append(block)
            self._ranks.append(_RANKS[kind])
            events.append({"type": "block_start", "index": len(self._blocks) - 1, "block": dict(block)})
        self._pieces.append(text)
        events.append({"type": _DELTAS[kind], "index": len(self._blocks) - 1, "text": text})

    def _close(self, events: list[Event]) -> None:
        """The block that is being told ends."""
        if self._kind:
            self._settle()
            events.append({"type": "block_stop", "index": len(self._blocks) - 1, "block": self._blocks[-1]})
            self._kind = ""

    def _settle(self) -> None:
        self._blocks[-1] = {**self._blocks[-1], "text": "".join(self._pieces)}
        self._pieces = []

    def _whole_block(self, block: Block, rank: int, events: list[Event]) -> None:
        self._close(events)
        self._blocks.append(block)
        self._ranks.append(rank)
        index = len(self._blocks) - 1
        events.append({"type": "block_start", "index": index, "block": block})
        events.append({"type": "block_stop", "index": index, "block": block})

    def _call(self, block: Block, events: list[Event]) -> None:
        if block["type"] != "tool_use":
            self._whole_block(block, _CALLS, events)
            return
        self._close(events)
        self._blocks.append(block)
        self._ranks.append(_CALLS)
        index = len(self._blocks) - 1
        raw = block.get("input_raw")
        text = arguments_text(block["input"]) if raw is None else raw
        named = {"index": index, "id": block["id"], "name": block["name"]}
        opened = {name: value for name, value in block.items() if name != "input_raw"} | {"input": {}}
        end: Event = {"type": "tool_use_end", **named, "input": block["input"]}
        if raw is not None:
            end["input_raw"] = raw
        events.append({"type": "block_start", "index": index, "block": opened})
        events.append({"type": "tool_use_start", **named})
        events.append({"type": "tool_use_input_delta", "index": index, "id": block["id"], "text": text})
        events.append(end)
        events.append({"type": "block_stop", "index": index, "block": block})

    def _complete(self) -> list[Event]:
        self.ended = True
        events: list[Event] = []
        self._close(events)
        response = self._response()
        if "usage" in response:
            events.append({"type": "usage_update", "usage": response["usage"]})
        complete: Event = {"type": "message_complete", "response": response}
        places = self._places()
        if places != list(range(len(places))):
            complete["places"] = places
            response["message"]["content"] = self._in_places(places)
        return [*events, complete]

    def _places(self) -> list[int]:
        """Where a whole answer has each block: reasoning and text are one each, however they came."""
        places = [0] * len(self._blocks)
        place, last = -1, -1
        for index in sorted(range(len(self._blocks)), key=self._ranks.__getitem__):
            rank = self._ranks[index]
            if rank != last or rank not in _JOINED:
                place += 1
            places[index], last = place, rank
        return places

    def _in_places(self, places: list[int]) -> list[Block]:
        content: dict[int, Block] = {}
        for block, place in zip(self._blocks, places, strict=True):
            before = content.get(place)
            content[place] = block if before is None else {**before, "text": before["text"] + block["text"]}
        return [content[place] for place in sorted(content)]

    def _response(self) -> dict[str, Any]:
        """What the body that says the same would read as, with the blocks that have been told."""
        body = {**self._whole, "message": {"role": "assistant", **self._message, "content": ""}}
        if self._logprobs:
            body["logprobs"] = self._logprobs
        response = read_answer(body, Reading(self._reading.endpoint, DERIVED_IDS))
        response["message"]["content"] = list(self._blocks)
        response["finish_reason"] = finish_from_wire(response.get("finish_reason_raw"), self._blocks)
        return response

    def _malformed(self) -> list[Event]:
        message = "a line of the stream cannot be read"
        return self._end({"category": "invalid_response", "message": message, "retryable": False, "adapter": NAME})

    def _end(self, error: dict[str, Any]) -> list[Event]:
        """The answer failed; what had arrived stays available."""
        self.ended = True
        if self._kind:
            self._settle()
        message = {"role": "assistant", "content": list(self._blocks), "metadata": {"status": "error"}}
        response: dict[str, Any] = {"message": message, "finish_reason": "error"}
        endpoint = self._reading.endpoint
        if isinstance(model := self._whole.get("model"), str) and model:
            response["model"] = endpoint.model_id(model)
        if endpoint.provider is not None:
            error.setdefault("provider", endpoint.provider)
        return [{"type": "error", "error": error, "response": response}]


# ---------------------------------------------------------------------------------------------------- to the wire


def stream_loss(response: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say: what a whole answer does not, but that pieces have nothing between them."""
    _, loss = to_wire_response(response, endpoint)
    loss = [entry for entry in loss if entry["code"] not in _TOLD_IN_LINES]
    return loss + _in_members(response["message"]["content"], loss)


def _in_members(content: list[Block], told: list[Entry]) -> list[Entry]:
    """What becomes of the blocks of an answer in the members of the wire, whatever the order of its lines."""
    gone = {entry["path"] for entry in told if entry["op"] == "drop"}
    loss = Loss()
    members: list[list[int]] = [[], [], [], []]
    for position, block in enumerate(content):
        where: Path = ("message", "content", position)
        if pointer(where) in gone:
            continue
        if block["type"] in _DELTAS and not block["text"]:
            loss.drop(where, "empty_content", "shape", "a stream has no empty pieces")
            continue
        of_calls = block["type"] == "opaque" and block.get("kind") == CALLS
        members[_CALLS if of_calls else _RANKS.get(block["type"], _IMAGES)].append(position)
    for rank in _JOINED:
        kept, *others = members[rank] or [-1]
        if others:
            message = "pieces of a stream are one text on this wire"
            whole = "".join([content[position]["text"] for position in members[rank]])
            loss.replace(("message", "content", kept, "text"), whole, "merged_turn", "shape", message)
            for position in others:
                loss.drop(("message", "content", position), "merged_turn", "shape", message)
            members[rank] = [kept]
    target = [position for member in members for position in member]
    if target != sorted(target):
        for position, to in moves_to(target, longest_rising(target), max(target) + 1):
            message = "the wire puts reasoning first, then images, then text, and calls last"
            loss.move(("message", "content", position), ("message", "content", to), "reordered", "shape", message)
    return loss.entries


_TOLD_IN_LINES: Final = frozenset(("reordered", "merged_turn", "empty_content"))


def stream_encoder(endpoint: Endpoint, *, created_at: str = CREATED) -> Encoder[Frame]:
    """The lines for events, whatever their origin: pieces of reasoning and text, whole calls, and the end.

    Only the first of several answers is written. `created_at` is the time that the lines bear, unless the answer brings one
    of its own.
    """
    return encoded_in_turn(_Encoder(endpoint, created_at).event, "all")


class _Encoder:
    """The model that all lines name, and what was said of each block."""

    def __init__(self, endpoint: Endpoint, created_at: str) -> None:
        self.endpoint = endpoint
        self.created_at = created_at
        self.writing = Writing({"message": {"content": []}, "provider_state": endpoint.state()}, endpoint, Loss())
        self.model: str | None = endpoint.model
        self.said: dict[int, list[str]] = {}  # the texts and the reasoning that went out, in pieces
        self.blocks: dict[int, Block] = {}

    def event(self, event: Event) -> list[Frame]:
        """The lines of one event; none of an answer beside the first."""
        if event.get("choice"):
            return []
        match event["type"]:
            case "message_start":
                named: str | None = event.get("model")
                self.model = self.model if named is None else named.partition(":")[2] or named
            case "block_start":
                self.blocks[event["index"]] = event["block"]
                return self._piece(event["index"], event["block"].get("text", ""))
            case "text_delta" | "thinking_delta":
                return self._piece(event["index"], event["text"])
            case "block_stop":
                return self._stop(event["index"], event["block"])
            case "message_complete":
                return [_frame(_last(event["response"], self.endpoint, self.writing, self.created_at))]
            case "error":
                return [_frame(error_in_stream(event["error"], self.endpoint))]
            case _:
                pass
        return []

    def _line(self, **said: Any) -> Frame:
        chunk: Wire = {} if self.model is None else {"model": self.model}
        message = {"role": "assistant", **said}
        return _frame({**chunk, "created_at": self.created_at, "message": message, "done": False})

    def _piece(self, index: int, text: str) -> list[Frame]:
        kind = self.blocks[index]["type"]
        if not text or kind not in _DELTAS:
            return []
        self.said.setdefault(index, []).append(text)
        return [self._line(content=text) if kind == "text" else self._line(content="", thinking=text)]

    def _stop(self, index: int, block: Block) -> list[Frame]:
        if block["type"] in _DELTAS:
            return self._piece(index, block["text"].removeprefix("".join(self.said.get(index, ()))))
        if block["type"] == "tool_use":
            return [self._line(content="", tool_calls=[call_to_wire(block, (), self.writing)])]
        message = {"role": "assistant", "content": [block]}
        whole = message_to_wire(message, (), self.writing, answer=True)
        said = {name: whole[name] for name in ("images", "tool_calls") if name in whole}
        return [self._line(content="", **said)] if said else []


def _last(response: dict[str, Any], endpoint: Endpoint, writing: Writing, created_at: str) -> Wire:
    """The line that ends an answer, with the members that the message has beside its content."""
    fields = writing.owned(response["message"]).get("fields") or NOTHING
    return end_to_wire(response, endpoint, {"role": "assistant", "content": "", **fields}, created_at)


def _frame(chunk: Wire) -> Frame:
    return Frame(None, json.dumps(chunk).decode())
