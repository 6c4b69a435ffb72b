"""
Streams from the wire: events are patches to the items of the response.

Every item is read again when it is done, as in a complete response. `response.output_item.done` is the authority,
because some servers leave the output of the last event empty. Status and usage come from the last event.
"""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import Answer, Decoder, Part, call_so_far, decoded, string
from interlingua.adapters._engine.kit import Wire, arguments_text, encoding_of
from interlingua.adapters._openai.errors import error as read_error
from interlingua.adapters.openai_responses.built_in import CALLS
from interlingua.adapters.openai_responses.calls import call_from_wire
from interlingua.adapters.openai_responses.items import is_message
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import ANSWERS, COUNTS, answer_item, takes_parts
from interlingua.adapters.openai_responses.tables import BETWEEN, Reading
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame

_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_NAMES: Final = ("id", "call_id")
_PROSE: Final = ("text", "thinking")
_MESSAGE: Final[Wire] = {"type": "message", "role": "assistant", "content": []}
_REASONING: Final[Wire] = {"type": "reasoning", "summary": []}


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Return a decoder. It takes frames, and None at the end of input; for each frame it returns the completed events.

    The last event is `message_complete` or `error`. For a response that breaks off it is an `error` event with the
    content received so far.
    """
    return decoded(_Answer(endpoint, ids))


class _Item:
    """An item of the response: how it began, and its parts by their numbers. `announced` holds the numbers of the parts
    that were announced, `last` the part of the last piece of reasoning. `hidden`: its arguments are emitted when they
    are complete."""

    __slots__ = (
        "announced",
        "before",
        "canonical",
        "done",
        "hidden",
        "kind",
        "last",
        "number",
        "parts",
        "takes_parts",
        "wire",
    )

    def __init__(self, number: int, wire: Wire, before: "_Item | None") -> None:
        self.number = number
        self.wire = wire
        self.before = before
        self.announced: set[Any] = set()
        self.kind = _kind(wire)
        self.parts: dict[int, Part] = {}
        self.canonical = ""
        self.last: Any = None
        self.takes_parts = self.kind == "message"
        self.done = False
        self.hidden = False

    def is_of(self, wire: Wire) -> bool:
        """Whether an item could be this one, by its kind: not all servers repeat the id, and some repeat it with
        another value."""
        return _kind(wire) == self.kind

    def renumber(self, parts: int) -> None:
        """Give parts with numbers outside the item its free numbers, in their order."""
        beyond = [number for number in self.parts if not 0 <= number < parts]
        free = [number for number in range(parts) if number not in self.parts]
        for number, free_number in zip(sorted(beyond), free, strict=False):
            self.parts[free_number] = self.parts.pop(number)

    def so_far(self) -> Wire:
        """Return the item as received so far."""
        match self.kind:
            case "message":
                return {**self.wire, "content": [_part(part) for _, part in sorted(self.parts.items())]}
            case "reasoning":
                summary = [{"type": "summary_text", "text": part.text} for part in self.parts.values()]
                return {**self.wire, "summary": summary}
            case "function_call" | "custom_tool_call":
                return {**self.wire, _CALLS[self.kind]: self.parts[0].text if 0 in self.parts else ""}
            case _:
                return self.wire


def _part(part: Part) -> Wire:
    """Return a part of a message as received so far."""
    member = "refusal" if part.kind == "refusal" else "text"
    return {"type": part.kind, member: part.text}


class _Answer(Answer):
    """The response around its items, and the items by their numbers and ids."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.items: dict[int, _Item] = {}
        self.named: dict[str, _Item] = {}
        self.crossed = False  # whether several items that are not done have the same number
        self.counts: Wire | None = None
        self.held: tuple[_Item, Wire] | None = None  # a shell call: the items after it show whether the provider ran it

    def mark(self) -> None:
        """Handle an end that no event announced."""
        self.cut_off()

    def patch(self, data: Any, frame: Frame) -> None:
        """Process an event."""
        kind = data.get("type")
        if frame.event == "error" or kind == "error" or (kind is None and "type" not in data and data.get("error")):
            failure = {name: value for name, value in data.items() if name not in ("type", "sequence_number")}
            self.fail(read_error(200, {}, failure, self.endpoint))
            return
        kind = frame.event if "type" not in data else kind
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._grow_message(kind.split(".")[1], data)
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                self._grow_arguments(data)
            case "response.function_call_arguments.done" | "response.custom_tool_call_input.done":
                self._complete_arguments(data)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._grow_reasoning(kind, data)
            case "response.output_item.added":
                self._added(data)
            case "response.output_item.done":
                self._done(data)
            case "response.content_part.added" | "response.reasoning_part.added":
                self._begin_part(data)
            case "response.completed" | "response.incomplete" | "response.cancelled":
                self._complete(data["response"])
            case "response.failed":
                response = data["response"]
                self._count(response)
                failure = {"error": response.get("error") or {"code": "server_error"}}
                self.fail(read_error(200, {}, failure, self.endpoint))
            case "response.created" | "response.in_progress" | "response.queued":
                self._start(data["response"])
            case _:
                pass  # reports of the provider's own tools, which their items repeat; and events of later versions

    # -- the answer

    def _start(self, response: Any) -> None:
        if type(response) is not dict:
            raise TypeError("response")
        self.body = response
        if not self.begun:
            self.start()

    def _complete(self, response: Wire) -> None:
        self._start(response)
        output = response.get("output")
        self._finish_all(output if isinstance(output, list) else [])
        self._count(response)
        whole = ANSWERS.read({**response, "output": []}, self.reading, self.blocks.in_places())
        self.complete(whole, self.blocks.places())

    def _finish_all(self, output: list[Wire]) -> None:
        """End the open items, and the items of the complete response that had no events."""
        self._release(output)
        open_items = self._in_order()
        for number, wire in enumerate(output):
            item = self._known(wire)
            if item not in open_items:
                item = next((item for item in open_items if item.is_of(wire)), None)
            if item is None:
                item = self._begin(number if number not in self.items else len(self.items), wire)
            else:
                open_items.remove(item)
            self._finish(item, wire)
        for item in open_items:
            self._finish(item, item.so_far())

    def _count(self, response: Any) -> None:
        if type(response) is not dict:
            raise TypeError("response")
        self.body = response
        if isinstance(usage := response.get("usage"), dict):
            self.counts = usage
            self.usage(COUNTS.read(usage, self.endpoint))

    def arrived(self) -> dict[str, Any]:
        """Return what was received: an incomplete call keeps its argument text and is not one to execute."""
        content = self.blocks.content
        if self.held is not None:
            content += self._read(*self.held)
        for item in self.items.values():
            for part in item.parts.values() if not item.done else ():
                content[part.index] = _so_far(content[part.index], part.text)
        response = self.partial(content)
        if self.counts is not None:
            response["usage"] = COUNTS.read(self.counts, self.endpoint)
        return response

    # -- items

    def _in_order(self) -> list[_Item]:
        return sorted(self.items.values(), key=lambda item: item.number)

    def _item(self, data: Wire) -> _Item | None:
        """Return the item of an event: by its id or number, or the last item where a server sends neither."""
        number, identity = data.get("output_index"), data.get("item_id") or data.get("call_id")
        named = self.named.get(identity) if isinstance(identity, str) else None
        if number is not None and not (self.crossed and named is not None):
            return self.items.get(number)
        return named or next(reversed(self._in_order()), None)

    def _known(self, wire: Wire) -> _Item | None:
        """Return the item that began with this id, or as this call."""
        for name in _NAMES:
            if isinstance(identity := wire.get(name), str) and (item := self.named.get(identity)) is not None:
                return item if item.is_of(wire) else None
        return None

    def _added(self, data: Wire) -> None:
        wire: Wire = data["item"]
        number = data.get("output_index", len(self.items))
        known = self.items.get(number)
        if known is not None and not known.done and (identity := wire.get("id")) and known.wire.get("id") == identity:
            return  # its beginning was announced already
        self._begin(number, wire)

    def _done(self, data: Wire) -> None:
        wire: Wire = data["item"]
        item = self._known(wire)
        if item is None or item.done:  # an earlier item may have the same id
            item = self._item(data)
            if item is not None and not item.is_of(wire) and (self.crossed or item.done):
                item = next((other for other in self.items.values() if not other.done and other.is_of(wire)), None)
        if item is None:
            item = self._begin(data.get("output_index", len(self.items)), wire)
        self._finish(item, wire)

    def _begin(self, number: int, wire: Wire) -> _Item:
        known = self.items.get(number)
        if type(number) is not int or number < 0:
            raise TypeError("output_index")
        if not self.begun:
            self._start({})
        self._release([wire])
        place = number
        if known is not None:  # the server does not count its items: the number now means the newest one
            place = len(self.items)
            self.items[-1 - place] = known
            self.crossed = self.crossed or not known.done
        before = self.items.get(number - 1) if known is None else known
        item = self.items[number] = _Item(place, wire, before)
        for name in _NAMES:
            if isinstance(identity := wire.get(name), str) and identity:
                self.named[identity] = item
        match item.kind:
            case "message":
                pass  # its parts are the blocks
            case "reasoning":
                self._open(item, 0, item.kind, {"type": "thinking", "text": "", **self._named(wire)})
            case "function_call" | "custom_tool_call":
                block = call_from_wire({**wire, _CALLS[item.kind]: ""}, self.reading)
                if block is not None:  # otherwise it can only be read when it is done
                    item.canonical = block["id"]
                    self._open(item, 0, item.kind, block)
            case kind if kind in CALLS:
                pass  # its arguments are known when it is done
            case str():
                self._open(item, 0, item.kind, answer_item(wire, self.reading, starts=False)[0])
            case _:
                pass  # its kind can only be known when it is done
        return item

    def _named(self, wire: Wire) -> Wire:
        identity = wire.get("id")
        return {"provider_state": self.reading.state(id=identity)} if isinstance(identity, str) else {}

    def _open(self, item: _Item, number: int, kind: str, block: Block) -> Part:
        lane = (item.number, number, len(self.blocks.content))
        part = item.parts[number] = Part(kind, {}, self.blocks.begin(block, lane))
        return part

    def _open_part(self, item: _Item, number: int, kind: str) -> Part:
        block: Block = {"type": "text", "text": ""}
        if kind == "refusal":
            block["refusal"] = True
        return self._open(item, number, kind, block if item.parts else {**block, **self._named(item.wire)})

    def _begin_part(self, data: Wire) -> None:
        item = self._item(data)
        number, kind = data.get("content_index", 0), data["part"].get("type")
        if item is None:
            return
        item.announced.add(number)
        if item.kind == "message" and number not in item.parts and kind in ("output_text", "refusal"):
            self._open_part(item, number, kind)  # any other part is read when it is done

    # -- deltas

    def _growing(self, data: Wire, wire: Wire) -> _Item:
        """Return the item of a delta; an item that was not announced begins with its first delta."""
        item = self._item(data)
        if item is not None and not item.done and item.is_of(wire):
            return item
        if isinstance(identity := data.get("item_id"), str):
            wire = {"id": identity, **wire}
        return self._begin(data.get("output_index", len(self.items)), wire)

    def _grow_message(self, kind: str, data: Wire) -> None:
        number, text = data.get("content_index", 0), data["delta"]
        item = self._growing(data, _MESSAGE)
        part = item.parts.get(number)
        if part is None:
            part = next(reversed(item.parts.values()), None)
            # some servers count the deltas instead of the parts
            if part is None or (part.kind == "refusal") != (kind == "refusal"):
                part = self._open_part(item, number, kind)
        if text:
            self.blocks.grow(part, text)

    def _grow_reasoning(self, kind: str, data: Wire) -> None:
        if not (text := data["delta"]):
            return
        item = self._growing(data, _REASONING)
        content = data.get("content_index")
        if item.last is not None and content not in item.announced:
            content = item.last[2]  # some servers count the deltas instead of the parts
        part = (kind, data.get("summary_index"), content)
        if item.last is not None and item.last != part:
            text = BETWEEN + string(text)
        item.last = part
        self.blocks.grow(item.parts[0], text)

    def _grow_arguments(self, data: Wire) -> None:
        item, text = self._item(data), data["delta"]
        if item is None or item.done or not text or 0 not in item.parts:
            return  # it is read when it is done
        if not item.parts[0].pieces and item.kind == "function_call" and string(text).lstrip()[:1] not in ("", "{"):
            item.hidden = True  # no JSON: some servers hide the pieces, and send the complete arguments later
        if not item.hidden:
            self.blocks.grow(item.parts[0], text)

    def _complete_arguments(self, data: Wire) -> None:
        """Stream the arguments that no piece contained: all of them, where a server sends no pieces or hides them."""
        item = self._item(data)
        if item is None or item.done or 0 not in item.parts or item.kind not in _CALLS:
            return
        whole, pieces = data.get(_CALLS[item.kind]), item.parts[0].text
        if isinstance(whole, str) and len(whole) > len(pieces) and whole.startswith(pieces):
            self.blocks.grow(item.parts[0], whole[len(pieces) :])

    # -- the end of an item

    def _release(self, following: list[Wire]) -> None:
        """End a held shell call, now that the items after it are known."""
        if self.held is not None:
            item, wire = self.held
            self.held = None
            self.reading.among(following)
            self._end(item, wire)

    def _finish(self, item: _Item, wire: Wire) -> None:
        if item.done:
            return
        item.done = True
        if wire.get("type") == "shell_call" and wire.get("environment") is None:
            self._release([])
            self.held = (item, wire)
        else:
            self._end(item, wire)

    def _end(self, item: _Item, wire: Wire) -> None:
        if item.parts and not item.is_of(wire):
            wire = item.so_far()  # streamed pieces cannot be taken back
        item.kind = _kind(wire)
        blocks = self._read(item, wire)
        if item.kind == "message":
            item.renumber(len(blocks))
        for number, block in enumerate(blocks):
            if number not in item.parts:
                self._open_late(item, number, block)
            self._stop(item.parts[number], block)
        for number, part in item.parts.items():
            if number >= len(blocks):  # it was streamed, but the item that is done does not have it
                self._stop(part, {**self.blocks.content[part.index], "text": part.text})

    def _open_late(self, item: _Item, number: int, block: Block) -> None:
        """Start a block of which nothing was received before."""
        match block["type"]:
            case "text":
                self._open_part(item, number, "refusal" if block.get("refusal") else "output_text")
            case "tool_use":
                self._open(item, number, "", {**block, "input": {}})
            case _:
                self._open(item, number, "", block)

    def _read(self, item: _Item, wire: Wire) -> list[Block]:
        starts = item.before is not None and item.before.takes_parts
        blocks = answer_item(wire, self.reading, starts=starts, canonical=item.canonical)
        item.takes_parts = takes_parts(wire, blocks)
        return blocks

    def _stop(self, part: Part, block: Block) -> None:
        """End a block, and stream what no piece contained. Streamed pieces cannot be taken back."""
        index, streamed = part.index, part.text
        if streamed and block["type"] == "opaque":
            block = _so_far(self.blocks.content[index], streamed)  # it cannot be read
        if block["type"] in _PROSE:
            if block["text"].startswith(streamed):
                self.blocks.more(index, block["text"][len(streamed) :])
            else:
                block = {**block, "text": streamed}
            if block["type"] == "thinking" and (signature := block.get("signature")) is not None:
                self.blocks.sign(index, signature)
        elif block["type"] == "tool_use":
            text: str = block["input_raw"] if "input_raw" in block else self._argument_text(block)
            if text.startswith(streamed):
                self.blocks.more(index, text[len(streamed) :])
        self.blocks.end(index, block)

    def _argument_text(self, block: Block) -> str:
        spelt = encoding_of(block, self.endpoint).get("arguments")
        return spelt if spelt is not None else arguments_text(block["input"])


def _kind(wire: Wire) -> Any:
    return "message" if is_message(wire) else wire.get("type")


def _so_far(begun: Block, text: str) -> Block:
    """Return a block with the pieces received so far."""
    if begun["type"] == "tool_use":
        return call_so_far(begun, text)
    return {**begun, "text": text} if begun["type"] in _PROSE else begun
