"""
Streams: `stream_decoder` from frames to events; `encoding` is the way back.

Every item is read once more when it is done, as an answer that came whole has it: `response.output_item.done` is the
authority, because some servers leave the output of the last event empty. Status and usage come from the last event.
"""

from collections.abc import Generator
from typing import Any, Final

from interlingua.adapters._kit import Wire
from interlingua.adapters._openai_calls import read_arguments
from interlingua.adapters._openai_errors import error_from_body
from interlingua.adapters._structured import Told
from interlingua.adapters.openai_responses.context import Reading
from interlingua.adapters.openai_responses.items import call_from_wire, is_message
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import answer_item, read_response, says, usage_from_wire
from interlingua.adapters.openai_responses.tables import BETWEEN, NAME
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame

Event = dict[str, Any]

DONE: Final = "[DONE]"
_TEXT: Final = "response.output_text.delta"
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_NAMES: Final = ("id", "call_id")
_UNREADABLE: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError)


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Event], Frame | None, None]:
    """Give it frames, and None at the end of input; it gives the events that each frame completes.

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
    yield told.events(answer.truncated())


class _Item:
    """An item that is being told: how it began, its canonical blocks, and what their deltas have said."""

    __slots__ = (
        "announced", "before", "blocks", "canonical", "done", "kind", "last", "number", "refused", "says", "told", "veiled", "wire",
    )  # fmt: skip

    def __init__(self, number: int, wire: Wire, before: "_Item | None") -> None:
        self.number = number
        self.wire = wire
        self.before = before
        self.announced: set[Any] = set()
        self.kind = _kind(wire)
        self.blocks: dict[int, int] = {}
        self.told: dict[int, list[str]] = {}
        self.canonical = ""
        self.last: Any = None
        self.refused: set[int] = set()
        self.says = self.kind == "message"
        self.done = False
        self.veiled = False

    def is_of(self, wire: Wire) -> bool:
        """Whether an item could be this one: its id is not told again by all, and not the same by some."""
        return _kind(wire) == self.kind

    def renumber(self, parts: int) -> None:
        """Gives parts whose numbers are none of the item the free numbers of it, in their order."""
        beyond = [number for number in self.blocks if not 0 <= number < parts]
        free = [number for number in range(parts) if number not in self.blocks]
        for number, free_number in zip(sorted(beyond), free, strict=False):
            self.blocks[free_number] = self.blocks.pop(number)
            self.told[free_number] = self.told.pop(number)

    def partial(self) -> Wire:
        """The item as far as it has been told."""
        texts = {number: "".join(pieces) for number, pieces in self.told.items()}
        match self.kind:
            case "message":
                parts = [_part(self.refused, number, text) for number, text in sorted(texts.items())]
                return {**self.wire, "content": parts}
            case "reasoning":
                return {**self.wire, "summary": [{"type": "summary_text", "text": text} for text in texts.values()]}
            case "function_call" | "custom_tool_call":
                return {**self.wire, _CALLS[self.kind]: texts.get(0, "")}
            case _:
                return self.wire


def _kind(wire: Wire) -> Any:
    return "message" if is_message(wire) else wire.get("type")


def _as_told(begun: Block, text: str) -> Block:
    """A block that has no more than what was told of it."""
    if begun["type"] == "tool_use":
        call = {**begun}
        read_arguments(text, call, {})
        return call
    return {**begun, "text": text} if begun["type"] in ("text", "thinking") else begun


def _part(refused: set[int], number: int, text: str) -> Wire:
    return {"type": "refusal", "refusal": text} if number in refused else {"type": "output_text", "text": text}


class _Answer:
    """What has arrived of one answer."""

    __slots__ = (
        "_blocks", "_crossed", "_ids", "_items", "_named", "_places", "_reading", "_started", "_usage", "endpoint", "ended",
        "head",
    )  # fmt: skip

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.ended = False
        self.head: Wire = {}
        self._started = False
        self._reading = Reading(endpoint, ids)
        self._items: dict[int, _Item] = {}
        self._named: dict[str, _Item] = {}
        self._crossed = False  # whether several items that are not done have one number
        self._blocks: list[Block] = []
        self._places: list[tuple[int, int]] = []
        self._usage: Wire | None = None

    def take(self, frame: Frame) -> list[Event]:
        """The events that a frame completes."""
        text = frame.data.strip()
        if not text:
            return []
        if text == DONE:
            return self.truncated()
        try:
            data = json.loads(text)
            if data.get("type") == _TEXT and (events := self._word(data)) is not None:
                return events
            if frame.event == "error" or data.get("type") == "error" or ("type" not in data and data.get("error")):
                told = {name: value for name, value in data.items() if name not in ("type", "sequence_number")}
                return self._failed(error_from_body(None, {}, told, self.endpoint))
            if "type" not in data and frame.event is not None:
                data = {**data, "type": frame.event}
            return self._event(data)
        except (InterlinguaError, *_UNREADABLE):
            message = "a frame of the stream cannot be read"
            error = {"category": "invalid_response", "message": message, "retryable": False, "adapter": NAME}
            return self._failed(error)

    def _word(self, data: Wire) -> list[Event] | None:
        """The one event of the frame that most are: more of a text that has begun."""
        item = self._items.get(data.get("output_index", -1))
        text = data.get("delta")
        if item is None or type(text) is not str or not text or "error" in data or self._crossed:
            return None
        told = item.told.get(number := data.get("content_index", 0))
        if told is None or item.kind != "message" or item.done:
            return None
        told.append(text)
        return [{"type": "text_delta", "index": item.blocks[number], "text": text}]

    def _event(self, data: Wire) -> list[Event]:
        match data.get("type"):
            case "response.output_text.delta" | "response.refusal.delta":
                return self._said(data)
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                return self._more_arguments(data)
            case "response.function_call_arguments.done" | "response.custom_tool_call_input.done":
                return self._all_arguments(data)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return self._thought(data)
            case "response.output_item.added":
                return self._added(data)
            case "response.output_item.done":
                return self._done(data)
            case "response.content_part.added" | "response.reasoning_part.added":
                return self._begin_part(data)
            case "response.completed" | "response.incomplete" | "response.cancelled":
                return self._complete(data["response"])
            case "response.failed":
                return self._fail(data["response"])
            case "response.created" | "response.in_progress" | "response.queued":
                return self._start(data["response"])
            case _:
                return []  # what is told of the provider's own tools stands in their items; and what later versions add

    # -- the answer

    def _start(self, response: Wire) -> list[Event]:
        self._read_head(response)
        if self._started:
            return []
        self._started = True
        event: Event = {"type": "message_start"}
        if isinstance(model := response.get("model"), str) and model:
            event["model"] = self.endpoint.model_id(model)
        if isinstance(identity := response.get("id"), str):
            event["response_id"] = identity
        return [event]

    def _read_head(self, response: Any) -> None:
        if type(response) is not dict:
            raise TypeError("response")
        self.head = response

    def _complete(self, response: Wire) -> list[Event]:
        events = self._start(response)
        output = response.get("output")
        events += self._finish_all(output if isinstance(output, list) else [])
        events += self._tell_usage(response)
        self.ended = True
        order = sorted(range(len(self._blocks)), key=self._places.__getitem__)
        content = [self._blocks[index] for index in order]
        complete: Event = {"type": "message_complete", "response": read_response(response, content, self.endpoint)}
        if order != list(range(len(order))):  # an item or part was told behind one that follows it
            complete["places"] = [order.index(index) for index in range(len(order))]
        return [*events, complete]

    def _finish_all(self, output: list[Wire]) -> list[Event]:
        """Ends what is still open, and tells the items of the whole answer that no event has told."""
        events: list[Event] = []
        open_items = sorted(self._items.values(), key=_place)
        for number, wire in enumerate(output):
            known = self._known(wire)
            if known not in open_items:
                known = next((item for item in open_items if item.is_of(wire)), None)
            if known is not None:
                open_items.remove(known)
                events += [] if known.done else self._finish(known, wire)
            else:
                at = number if number not in self._items else len(self._items)
                events += self._begin(at, wire)
                events += self._finish(self._items[at], wire)
        for item in open_items:
            if not item.done:
                events += self._finish(item, item.partial())
        return events

    def _tell_usage(self, response: Wire) -> list[Event]:
        usage = response.get("usage")
        if not isinstance(usage, dict):
            return []
        self._usage = usage
        return [{"type": "usage_update", "usage": usage_from_wire(usage)}]

    # -- failure

    def truncated(self) -> list[Event]:
        """The events for a stream that ends before the answer does."""
        if self.ended:
            return []
        message = "the stream ended before the answer did; what had arrived is in the response"
        error = {"category": "stream_truncated", "message": message, "retryable": True, "adapter": NAME}
        return self._failed(error)

    def _fail(self, response: Wire) -> list[Event]:
        self._read_head(response)
        events = self._tell_usage(response)
        told = {"error": response.get("error") or {"code": "server_error"}}
        return events + self._failed(error_from_body(None, {}, told, self.endpoint))

    def _failed(self, error: dict[str, Any]) -> list[Event]:
        self.ended = True
        if self.endpoint.provider is not None:
            error.setdefault("provider", self.endpoint.provider)
        for item in self._items.values():
            if not item.done:
                self._keep_partial(item)
        message = {"role": "assistant", "content": self._blocks, "metadata": {"status": "error"}}
        response: dict[str, Any] = {"message": message, "finish_reason": "error"}
        if isinstance(identity := self.head.get("id"), str):
            response["id"] = identity
        if isinstance(model := self.head.get("model"), str) and model:
            response["model"] = self.endpoint.model_id(model)
        if self._usage is not None:
            response["usage"] = usage_from_wire(self._usage)
        return [{"type": "error", "error": error, "response": response}]

    def _keep_partial(self, item: _Item) -> None:
        """What had arrived of an item: a call that is not whole keeps its argument text and is not one to run."""
        for number, index in item.blocks.items():
            text = "".join(item.told.get(number, ()))
            begun = self._blocks[index]
            match begun["type"]:
                case "text" | "thinking":
                    self._blocks[index] = {**begun, "text": text}
                case "tool_use":
                    self._blocks[index] = {**begun, "input": {}, "input_raw": text}
                case _:
                    pass

    # -- items

    def _item(self, data: Wire) -> _Item | None:
        """The item that an event belongs to: by its id, by its number, and the last one where a server tells neither."""
        number, identity = data.get("output_index"), data.get("item_id") or data.get("call_id")
        if self._crossed and isinstance(identity, str) and (named := self._named.get(identity)) is not None:
            return named
        if number is not None:
            return self._items.get(number)
        if isinstance(identity, str) and (named := self._named.get(identity)) is not None:
            return named
        return max(self._items.values(), key=_place, default=None)

    def _known(self, wire: Wire) -> _Item | None:
        """The item that began with this id, or as this call."""
        for name in _NAMES:
            if isinstance(identity := wire.get(name), str) and (item := self._named.get(identity)) is not None:
                return item if item.is_of(wire) else None
        return None

    def _added(self, data: Wire) -> list[Event]:
        wire: Wire = data["item"]
        number = data.get("output_index", len(self._items))
        known = self._items.get(number)
        if known is not None and not known.done and (identity := wire.get("id")) and known.wire.get("id") == identity:
            return []  # it was told to begin already
        return self._begin(number, wire)

    def _done(self, data: Wire) -> list[Event]:
        wire: Wire = data["item"]
        item = self._known(wire)
        if item is None or item.done:  # its id may be that of an item before it
            item = self._item(data)
            if item is not None and not item.is_of(wire) and (self._crossed or item.done):
                item = next((other for other in self._items.values() if not other.done and other.is_of(wire)), None)
        if item is not None:
            return self._finish(item, wire)
        number = data.get("output_index", len(self._items))
        events = self._begin(number, wire)
        return events + self._finish(self._items[number], wire)

    def _begin(self, number: int, wire: Wire) -> list[Event]:
        known = self._items.get(number)
        if type(number) is not int or number < 0:
            raise TypeError("output_index")
        events = [] if self._started else self._start({})
        place = number
        if known is not None:  # the server does not count its items: the number is that of the last one
            place = len(self._items)
            self._items[-1 - place] = known
            self._crossed = self._crossed or not known.done
        before = self._items.get(number - 1) if known is None else known
        item = self._items[number] = _Item(place, wire, before)
        for name in _NAMES:
            if isinstance(identity := wire.get(name), str) and identity:
                self._named[identity] = item
        match item.kind:
            case "message":
                pass  # its parts are the blocks
            case "reasoning":
                block: Block = {"type": "thinking", "text": ""}
                if isinstance(wire.get("id"), str):
                    block["provider_state"] = self._reading.state(id=wire["id"])
                events.append(self._open(item, 0, block))
            case "function_call" | "custom_tool_call":
                events += self._begin_call(item)
            case str():
                events.append(self._open(item, 0, answer_item(wire, self._reading, starts=False)[0]))
            case _:
                pass  # what it is can only be told when it is done
        return events

    def _open(self, item: _Item, number: int, block: Block) -> Event:
        item.blocks[number] = index = len(self._blocks)
        item.told[number] = []
        self._blocks.append(block)
        self._places.append((item.number, number))
        return {"type": "block_start", "index": index, "block": block}

    def _begin_call(self, item: _Item) -> list[Event]:
        member = _CALLS[item.kind]
        block = call_from_wire({**item.wire, member: ""}, self._reading)
        if block is None:
            return []  # it can only be read when it is done
        item.canonical = block["id"]
        state = self._reading.state(id=block["provider_state"]["id"])
        if "item_id" in block["provider_state"].get("form", {}):
            state["form"] = {"item_id": block["provider_state"]["form"]["item_id"]}
        block = {**block, "provider_state": state}
        started = self._open(item, 0, block)
        start = {"type": "tool_use_start", "index": started["index"], "id": block["id"], "name": block["name"]}
        return [started, start]

    def _begin_part(self, data: Wire) -> list[Event]:
        item = self._item(data)
        number, part = data.get("content_index", 0), data["part"]
        if item is None:
            return []
        item.announced.add(number)
        if item.kind != "message" or number in item.blocks:
            return []
        if part.get("type") not in ("output_text", "refusal"):
            return []  # it is read when it is done
        return [self._open_part(item, number, part["type"])]

    def _open_part(self, item: _Item, number: int, kind: str) -> Event:
        block: Block = {"type": "text", "text": ""}
        if kind == "refusal":
            block["refusal"] = True
            item.refused.add(number)
        if not item.blocks and isinstance(item.wire.get("id"), str):
            block["provider_state"] = self._reading.state(id=item.wire["id"])
        return self._open(item, number, block)

    # -- deltas

    def _said(self, data: Wire) -> list[Event]:
        number, text = data.get("content_index", 0), data["delta"]
        item, events = self._spoken(data, {"type": "message", "role": "assistant", "content": []})
        kind = data["type"].split(".")[1]
        if number not in item.blocks:
            last = next(reversed(item.blocks), None)
            if last is not None and (last in item.refused) == (kind == "refusal"):
                number = last  # some count the deltas, where the parts are to be counted
            else:
                events.append(self._open_part(item, number, kind))
        if text:
            item.told[number].append(_text(text))
            events.append({"type": "text_delta", "index": item.blocks[number], "text": text})
        return events

    def _spoken(self, data: Wire, wire: Wire) -> tuple[_Item, list[Event]]:
        """The item of a delta; one that was not told to begin begins with its first words."""
        item = self._item(data)
        if item is not None and not item.done and item.is_of(wire):
            return item, []
        number: int = data.get("output_index", len(self._items))
        if isinstance(identity := data.get("item_id"), str):
            wire = {"id": identity, **wire}
        events = self._begin(number, wire)
        return self._items[number], events

    def _more_arguments(self, data: Wire) -> list[Event]:
        item, text = self._item(data), data["delta"]
        if item is None or item.done or not text or 0 not in item.blocks:
            return []  # it is read when it is done
        told = item.told[0]
        if not told and not item.veiled and item.kind == "function_call" and not _may_be_object(_text(text)):
            item.veiled = True  # no JSON: some hide the pieces, and tell the arguments when they are whole
        if item.veiled:
            return []
        told.append(_text(text))
        return [{"type": "tool_use_input_delta", "index": item.blocks[0], "id": item.canonical, "text": text}]

    def _all_arguments(self, data: Wire) -> list[Event]:
        """What of the arguments no piece has told: all of them, where a server has no pieces or hides them."""
        item = self._item(data)
        if item is None or item.done or 0 not in item.blocks or item.kind not in _CALLS:
            return []
        whole, told = data.get(_CALLS[item.kind]), "".join(item.told[0])
        if not isinstance(whole, str) or len(whole) <= len(told) or not whole.startswith(told):
            return []
        rest = whole[len(told) :]
        item.told[0].append(rest)
        return [{"type": "tool_use_input_delta", "index": item.blocks[0], "id": item.canonical, "text": rest}]

    def _thought(self, data: Wire) -> list[Event]:
        if not (text := data["delta"]):
            return []
        item, events = self._spoken(data, {"type": "reasoning", "summary": []})
        content = data.get("content_index")
        if item.last is not None and content not in item.announced:
            content = item.last[2]  # some count the deltas, where the parts are to be counted
        part = (data["type"], data.get("summary_index"), content)
        if item.last is not None and item.last != part:
            text = BETWEEN + _text(text)
        item.last = part
        item.told[0].append(_text(text))
        events.append({"type": "thinking_delta", "index": item.blocks[0], "text": text})
        return events

    # -- the end of an item

    def _finish(self, item: _Item, wire: Wire) -> list[Event]:
        events: list[Event] = []
        if item.done:
            return events
        item.done = True
        if item.blocks and not item.is_of(wire):
            wire = item.partial()  # what was told of it cannot be taken back
        item.kind = _kind(wire)
        blocks = self._read(item, wire)
        if item.kind == "message":
            item.renumber(len(blocks))
        for position, block in enumerate(blocks):
            if position not in item.blocks:
                events += self._open_late(item, position, block)
            self._stop(item, position, block, events)
        for position, index in item.blocks.items():
            if position >= len(blocks):  # it was told, and the item that is done does not have it
                told = {**self._blocks[index], "text": "".join(item.told[position])}
                self._stop(item, position, told, events)
        return events

    def _open_late(self, item: _Item, position: int, block: Block) -> list[Event]:
        """The start of a block of which nothing had been told."""
        if block["type"] == "text":
            return [self._open_part(item, position, "refusal" if block.get("refusal") else "output_text")]
        begun = {**block, "input": {}} if block["type"] == "tool_use" else block
        events = [self._open(item, position, begun)]
        if block["type"] == "tool_use":
            item.canonical = block["id"]
            index = events[0]["index"]
            events.append({"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]})
        return events

    def _read(self, item: _Item, wire: Wire) -> list[Block]:
        if item.canonical and (call := call_from_wire(wire, self._reading, item.canonical)) is not None:
            return [call]
        blocks = answer_item(wire, self._reading, starts=item.before is not None and item.before.says)
        item.says = says(wire, blocks)
        return blocks

    def _stop(self, item: _Item, position: int, block: Block, events: list[Event]) -> None:
        index = item.blocks[position]
        told = "".join(item.told[position])
        if told and block["type"] == "opaque":
            block = _as_told(self._blocks[index], told)  # it cannot be read as it is done, and its words have been told
        match block["type"]:
            case "text" | "thinking":
                text: str = block["text"]
                kind = "text_delta" if block["type"] == "text" else "thinking_delta"
                signature = block.get("signature")
                if not text.startswith(told):
                    block = {**block, "text": told}  # what was said cannot be taken back
                elif len(text) > len(told):
                    events.append({"type": kind, "index": index, "text": text[len(told) :]})
                if signature is not None and block["type"] == "thinking":
                    events.append({"type": kind, "index": index, "text": "", "signature": signature})
            case "tool_use":
                text = block["input_raw"] if "input_raw" in block else self._argument_text(block)
                if len(text) > len(told) and text.startswith(told):
                    rest = text[len(told) :]
                    events.append({"type": "tool_use_input_delta", "index": index, "id": block["id"], "text": rest})
                end = {"type": "tool_use_end", "index": index, "id": block["id"], "name": block["name"]}
                end["input"] = block["input"]
                if "input_raw" in block:
                    end["input_raw"] = block["input_raw"]
                events.append(end)
            case _:
                pass
        self._blocks[index] = block
        events.append({"type": "block_stop", "index": index, "block": block})

    def _argument_text(self, block: Block) -> str:
        spelt = block["provider_state"].get("form", {}).get("arguments")
        return spelt if spelt is not None else json.dumps(block["input"]).decode()


def _place(item: _Item) -> int:
    return item.number


def _may_be_object(text: str) -> bool:
    said = text.lstrip()
    return not said or said.startswith("{")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
