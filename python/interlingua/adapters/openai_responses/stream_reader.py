"""
Streams from the wire: events are patches on the items of the answer.

Every item is read once more when it is done, as an answer that came whole has it: `response.output_item.done` is the
authority, because some servers leave the output of the last event empty. Status and usage come from the last event.
"""

from typing import Any, Final

from interlingua.adapters._calls import read_text
from interlingua.adapters._kit import Event, Wire, arguments_text, encoding_of
from interlingua.adapters._openai_errors import error as read_error
from interlingua.adapters._stream_reader import Answer, Decoder, Part, decoded, partial
from interlingua.adapters.openai_responses.built_in import CALLS
from interlingua.adapters.openai_responses.calls import call_from_wire
from interlingua.adapters.openai_responses.items import is_message
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.responses import COUNTS, answer_item, read_response, takes_parts
from interlingua.adapters.openai_responses.tables import BETWEEN, Reading
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame

_TEXT: Final = "response.output_text.delta"
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_NAMES: Final = ("id", "call_id")
_PROSE: Final = ("text", "thinking")


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Give it frames, and None at the end of input; it gives the events that each frame completes.

    The last event is `message_complete` or `error`. An answer that breaks off is an `error` event with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


class _Item:
    """An item that is being told: how it began, and its parts by their numbers."""

    __slots__ = (
        "announced",
        "before",
        "canonical",
        "done",
        "kind",
        "last",
        "number",
        "parts",
        "takes_parts",
        "veiled",
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
        self.veiled = False

    def is_of(self, wire: Wire) -> bool:
        """Whether an item could be this one: its id is not told again by all, and not the same by some."""
        return _kind(wire) == self.kind

    def renumber(self, parts: int) -> None:
        """Gives parts whose numbers are none of the item the free numbers of it, in their order."""
        beyond = [number for number in self.parts if not 0 <= number < parts]
        free = [number for number in range(parts) if number not in self.parts]
        for number, free_number in zip(sorted(beyond), free, strict=False):
            self.parts[free_number] = self.parts.pop(number)

    def so_far(self) -> Wire:
        """The item as far as it has been told."""
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
    """A part of a message as far as it has been told."""
    member = "refusal" if part.kind == "refusal" else "text"
    return {"type": part.kind, member: part.text}


class _Answer(Answer):
    """The answer around its items, and the items by their numbers and ids."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.reading = Reading(endpoint, ids)
        self.items: dict[int, _Item] = {}
        self.named: dict[str, _Item] = {}
        self.crossed = False  # whether several items that are not done have one number
        self.usage: Wire | None = None
        self.held: tuple[_Item, Wire] | None = None  # a call of a shell: what follows says whether the provider ran it

    def mark(self) -> None:
        """An end that no event told."""
        self.cut_off()

    def patch(self, data: Any, frame: Frame) -> Event | None:
        """Takes an event."""
        kind = data.get("type")
        if kind == _TEXT and (event := self._word(data)) is not None:
            return event
        if frame.event == "error" or kind == "error" or (kind is None and "type" not in data and data.get("error")):
            members = {name: value for name, value in data.items() if name not in ("type", "sequence_number")}
            self.fail(read_error(200, {}, members, self.endpoint))
        else:
            self._event(frame.event if "type" not in data else kind, data)
        return None

    def _word(self, data: Wire) -> Event | None:
        """The one event of the frame that most are: more of a text that has begun."""
        item = self.items.get(data.get("output_index", -1))
        text = data.get("delta")
        if item is None or type(text) is not str or not text or "error" in data or self.crossed:
            return None
        part = item.parts.get(data.get("content_index", 0))
        if part is None or item.kind != "message" or item.done:
            return None
        part.pieces.append(text)
        return {"type": "text_delta", "index": part.index, "text": text}

    def _event(self, kind: Any, data: Wire) -> None:
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                self._take_text(kind.split(".")[1], data)
            case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                self._more_arguments(data)
            case "response.function_call_arguments.done" | "response.custom_tool_call_input.done":
                self._all_arguments(data)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._thought(kind, data)
            case "response.output_item.added":
                self._added(data)
            case "response.output_item.done":
                self._done(data)
            case "response.content_part.added" | "response.reasoning_part.added":
                self._begin_part(data)
            case "response.completed" | "response.incomplete" | "response.cancelled":
                self._complete(data["response"])
            case "response.failed":
                self._fail(data["response"])
            case "response.created" | "response.in_progress" | "response.queued":
                self._start(data["response"])
            case _:
                pass  # what is told of the provider's own tools stands in their items; and what later versions add

    # -- the answer

    def _start(self, response: Any) -> None:
        if type(response) is not dict:
            raise TypeError("response")
        self.body = response
        if not self.begun:
            self.start(response.get("model") or None, response.get("id"))

    def _complete(self, response: Wire) -> None:
        self._start(response)
        output = response.get("output")
        self._finish_all(output if isinstance(output, list) else [])
        self._emit_usage(response)
        self.complete(read_response(response, self.blocks.in_places(), self.reading), self.blocks.places())

    def _finish_all(self, output: list[Wire]) -> None:
        """Ends what is still open, and tells the items of the whole answer that no event has told."""
        self._release(output)
        open_items = sorted(self.items.values(), key=_place)
        for number, wire in enumerate(output):
            known = self._known(wire)
            if known not in open_items:
                known = next((item for item in open_items if item.is_of(wire)), None)
            if known is None:
                known = self._begin(number if number not in self.items else len(self.items), wire)
            else:
                open_items.remove(known)
            self._finish(known, wire)
        for item in open_items:
            self._finish(item, item.so_far())

    def _emit_usage(self, response: Wire) -> None:
        if isinstance(usage := response.get("usage"), dict):
            self.usage = usage
            self.emit_usage(COUNTS.read(usage, self.endpoint))

    def _fail(self, response: Any) -> None:
        if type(response) is not dict:
            raise TypeError("response")
        self.body = response
        self._emit_usage(response)
        body = {"error": response.get("error") or {"code": "server_error"}}
        self.fail(read_error(200, {}, body, self.endpoint))

    def arrived(self) -> dict[str, Any]:
        """What had arrived: a call that is not whole keeps its argument text and is not one to run."""
        content = self.blocks.content
        if self.held is not None:
            content += self._read(*self.held)
        for item in self.items.values():
            for part in item.parts.values() if not item.done else ():
                begun = content[part.index]
                if begun["type"] in _PROSE:
                    content[part.index] = {**begun, "text": part.text}
                elif begun["type"] == "tool_use":
                    content[part.index] = {**begun, "input": {}, "input_raw": part.text}
        response = partial(content, self.endpoint, self.body.get("model"), self.body.get("id"))
        if self.usage is not None:
            response["usage"] = COUNTS.read(self.usage, self.endpoint)
        return response

    # -- items

    def _item(self, data: Wire) -> _Item | None:
        """The item that an event belongs to: by its id, by its number, and the last one where a server tells neither."""
        number, identity = data.get("output_index"), data.get("item_id") or data.get("call_id")
        named = self.named.get(identity) if isinstance(identity, str) else None
        if number is not None and not (self.crossed and named is not None):
            return self.items.get(number)
        return named or max(self.items.values(), key=_place, default=None)

    def _known(self, wire: Wire) -> _Item | None:
        """The item that began with this id, or as this call."""
        for name in _NAMES:
            if isinstance(identity := wire.get(name), str) and (item := self.named.get(identity)) is not None:
                return item if item.is_of(wire) else None
        return None

    def _added(self, data: Wire) -> None:
        wire: Wire = data["item"]
        number = data.get("output_index", len(self.items))
        known = self.items.get(number)
        if known is not None and not known.done and (identity := wire.get("id")) and known.wire.get("id") == identity:
            return  # it was told to begin already
        self._begin(number, wire)

    def _done(self, data: Wire) -> None:
        wire: Wire = data["item"]
        item = self._known(wire)
        if item is None or item.done:  # its id may be that of an item before it
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
        if known is not None:  # the server does not count its items: the number is that of the last one
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
                self._begin_call(item)
            case kind if kind in CALLS:
                pass  # its arguments are told when it is done
            case str():
                self._open(item, 0, item.kind, answer_item(wire, self.reading, starts=False)[0])
            case _:
                pass  # what it is can only be told when it is done
        return item

    def _named(self, wire: Wire) -> Wire:
        identity = wire.get("id")
        return {"provider_state": self.reading.state(id=identity)} if isinstance(identity, str) else {}

    def _open(self, item: _Item, number: int, kind: str, block: Block) -> None:
        lane = (item.number, number, len(self.blocks.content))
        item.parts[number] = Part(kind, {}, self.blocks.begin(block, lane))

    def _begin_call(self, item: _Item) -> None:
        block = call_from_wire({**item.wire, _CALLS[item.kind]: ""}, self.reading)
        if block is None:
            return  # it can only be read when it is done
        item.canonical = block["id"]
        self._open(item, 0, item.kind, block)

    def _begin_part(self, data: Wire) -> None:
        item = self._item(data)
        number, kind = data.get("content_index", 0), data["part"].get("type")
        if item is None:
            return
        item.announced.add(number)
        if item.kind == "message" and number not in item.parts and kind in ("output_text", "refusal"):
            self._open_part(item, number, kind)  # any other is read when it is done

    def _open_part(self, item: _Item, number: int, kind: str) -> None:
        block: Block = {"type": "text", "text": ""}
        if kind == "refusal":
            block["refusal"] = True
        self._open(item, number, kind, block if item.parts else {**block, **self._named(item.wire)})

    # -- deltas

    def _take_text(self, kind: str, data: Wire) -> None:
        number, text = data.get("content_index", 0), data["delta"]
        item = self._item_of_delta(data, {"type": "message", "role": "assistant", "content": []})
        if number not in item.parts:
            last = next(reversed(item.parts), None)
            if last is not None and (item.parts[last].kind == "refusal") == (kind == "refusal"):
                number = last  # some count the deltas, where the parts are to be counted
            else:
                self._open_part(item, number, kind)
        if text:
            self.blocks.append(item.parts[number], text)

    def _item_of_delta(self, data: Wire, wire: Wire) -> _Item:
        """The item of a delta; one that was not told to begin begins with its first words."""
        item = self._item(data)
        if item is not None and not item.done and item.is_of(wire):
            return item
        if isinstance(identity := data.get("item_id"), str):
            wire = {"id": identity, **wire}
        return self._begin(data.get("output_index", len(self.items)), wire)

    def _more_arguments(self, data: Wire) -> None:
        item, text = self._item(data), data["delta"]
        if item is None or item.done or not text or 0 not in item.parts:
            return  # it is read when it is done
        if not item.parts[0].pieces and item.kind == "function_call" and _text(text).lstrip()[:1] not in ("", "{"):
            item.veiled = True  # no JSON: some hide the pieces, and tell the arguments when they are whole
        if not item.veiled:
            self.blocks.append(item.parts[0], text)

    def _all_arguments(self, data: Wire) -> None:
        """What of the arguments no piece has told: all of them, where a server has no pieces or hides them."""
        item = self._item(data)
        if item is None or item.done or 0 not in item.parts or item.kind not in _CALLS:
            return
        whole, so_far = data.get(_CALLS[item.kind]), item.parts[0].text
        if isinstance(whole, str) and len(whole) > len(so_far) and whole.startswith(so_far):
            self.blocks.append(item.parts[0], whole[len(so_far) :])

    def _thought(self, kind: str, data: Wire) -> None:
        if not (text := data["delta"]):
            return
        item = self._item_of_delta(data, {"type": "reasoning", "summary": []})
        content = data.get("content_index")
        if item.last is not None and content not in item.announced:
            content = item.last[2]  # some count the deltas, where the parts are to be counted
        part = (kind, data.get("summary_index"), content)
        if item.last is not None and item.last != part:
            text = BETWEEN + _text(text)
        item.last = part
        self.blocks.append(item.parts[0], text)

    # -- the end of an item

    def _release(self, following: list[Wire]) -> None:
        """Ends a call of a shell that was held, now that it is known what follows."""
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
            wire = item.so_far()  # what was told of it cannot be taken back
        item.kind = _kind(wire)
        blocks = self._read(item, wire)
        if item.kind == "message":
            item.renumber(len(blocks))
        for number, block in enumerate(blocks):
            if number not in item.parts:
                self._open_late(item, number, block)
            self._stop(item.parts[number], block)
        for number, part in item.parts.items():
            if number >= len(blocks):  # it was told, and the item that is done does not have it
                self._stop(part, {**self.blocks.content[part.index], "text": part.text})

    def _open_late(self, item: _Item, number: int, block: Block) -> None:
        """The start of a block of which nothing had been told."""
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
        index, so_far = part.index, part.text
        if so_far and block["type"] == "opaque":
            block = _with_text_so_far(
                self.blocks.content[index], so_far
            )  # it cannot be read, and its words have been told
        kind: str = block["type"]
        if kind in _PROSE:
            text: str = block["text"]
            if not text.startswith(so_far):
                block = {**block, "text": so_far}  # what was said cannot be taken back
            else:
                self.blocks.more(index, text[len(so_far) :])
            if kind == "thinking" and (signature := block.get("signature")) is not None:
                self.blocks.sign(index, signature)
        elif kind == "tool_use":
            text = block["input_raw"] if "input_raw" in block else self._argument_text(block)
            if text.startswith(so_far):
                self.blocks.more(index, text[len(so_far) :])
        self.blocks.end(index, block)

    def _argument_text(self, block: Block) -> str:
        spellings = encoding_of(block, self.endpoint).get("arguments")
        return spellings if spellings is not None else arguments_text(block["input"])


def _kind(wire: Wire) -> Any:
    return "message" if is_message(wire) else wire.get("type")


def _place(item: _Item) -> int:
    return item.number


def _with_text_so_far(begun: Block, text: str) -> Block:
    """A block that has no more than what was told of it."""
    if begun["type"] == "tool_use":
        call = {**begun, "provider_state": {}}
        read_text(text, call)
        return {**call, "provider_state": begun["provider_state"]}
    return {**begun, "text": text} if begun["type"] in _PROSE else begun


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
