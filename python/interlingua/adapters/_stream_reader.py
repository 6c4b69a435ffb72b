"""
What the readers of streamed answers do alike.

The frames of a wire are patches on its own unary answer. A wire says which part of that answer a frame patches and how the
part is read when it has ended, which is how the unary answer is read. What is told of it on the way stands here: blocks
that begin, go on and end, several answers at once, what had arrived of an answer that failed.
"""

from collections.abc import Callable, Generator, Iterable
from typing import Any, Final, cast

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters._structured import AnswerCalls
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.types import Error, ErrorCategory, StreamEvent

Block = dict[str, Any]
Lane = tuple[int, ...]
"""Where a whole answer has a block: by its member or item, and its number in there. Those of one lane are one."""
Decoder = Generator[list[StreamEvent], Any, None]
"""Give it frames, and None at the end of input; it gives the events that each frame completes."""

UNREADABLE: Final = (InterlinguaError, KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What it raises to read a frame that is none of its wire."""
DELTAS: Final = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "tool_use_input_delta"}
"""The events of the pieces of a block."""
DONE: Final = "[DONE]"
"""Stands behind the last event of some wires, and, as some servers have it, of others."""


def stream_error(endpoint: Endpoint, category: ErrorCategory, message: str, *, retryable: bool) -> Error:
    """The canonical error of a stream that its provider did not end."""
    found: Error = {"category": category, "message": message, "retryable": retryable, "adapter": endpoint.adapter}
    if endpoint.provider:
        found["provider"] = endpoint.provider
    return found


# ---------------------------------------------------------------------------------------------------- blocks


class Due:
    """The events that have not been given yet: of an answer, and of the blocks of all its choices."""

    __slots__ = ("events",)

    def __init__(self) -> None:
        self.events: list[Event] = []


class Part:
    """A part of an answer that is being told: its form on the wire so far, and the pieces that are not in it yet.

    `kind` is what the wire calls it, `index` that of its block, and `key` where the wire has it, on wires that need to know.
    """

    __slots__ = ("index", "key", "kind", "pieces", "raw")

    def __init__(self, kind: str, raw: Wire, index: int = -1, key: Any = None) -> None:
        self.kind = kind
        self.raw = raw
        self.index = index
        self.key = key
        self.pieces: list[str] = []

    @property
    def text(self) -> str:
        """What the pieces have said."""
        return "".join(self.pieces)


class Blocks:
    """The blocks of one answer in the order in which they are told, and the events that tell them.

    `number` is the number of the answer on the wire. Of a block that has not ended `content` holds what began.
    `told` is the part that ends when something else begins, on wires that do not say where it ends.
    """

    __slots__ = ("content", "due", "lanes", "number", "current")

    def __init__(self, number: int, due: Due) -> None:
        self.number = number
        self.due = due
        self.content: list[Block] = []
        self.lanes: list[Lane] = []
        self.current: Part | None = None

    def emit(self, event: Event) -> None:
        """An event of this answer."""
        if self.number:
            event["choice"] = self.number
        self.due.events.append(event)

    def begin(self, block: Block, lane: Lane | None = None) -> int:
        """A block begins, and a call says who it is. Gives its index. Without a lane it stands where it is told."""
        index = len(self.content)
        self.content.append(block)
        self.lanes.append((0, index) if lane is None else lane)
        self.emit({"type": "block_start", "index": index, "block": block})
        if block["type"] == "tool_use":
            self.emit({"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]})
        return index

    def more(self, index: int, text: str) -> None:
        """More of a text, of reasoning, or of the arguments of a call. A block of another type has no pieces."""
        block = self.content[index]
        if text and (kind := DELTAS.get(block["type"])) is not None:
            event: Event = {"type": kind, "index": index}
            if kind == "tool_use_input_delta":
                event["id"] = block["id"]
            event["text"] = text
            if self.number:
                event["choice"] = self.number
            self.due.events.append(event)

    def append(self, part: Part, text: Any) -> None:
        """A piece of a part. What is no text cannot be read."""
        if not isinstance(text, str):
            raise TypeError("text")
        part.pieces.append(text)
        self.more(part.index, text)

    def sign(self, index: int, signature: str) -> None:
        """The signature of reasoning."""
        self.emit({"type": "thinking_delta", "index": index, "text": "", "signature": signature})

    def end(self, index: int, block: Block) -> None:
        """A block ends; a call says first what it was."""
        self.content[index] = block
        if block["type"] == "tool_use":
            end: Event = {"type": "tool_use_end", "index": index, "id": block["id"], "name": block["name"]}
            end["input"] = block["input"]
            if "input_raw" in block:
                end["input_raw"] = block["input_raw"]
            self.emit(end)
        self.emit({"type": "block_stop", "index": index, "block": block})

    def whole(self, block: Block, lane: Lane | None = None, arguments: str = "") -> None:
        """A block that came at once; what it says is told as that of any other, calls with the text of their arguments."""
        match block["type"]:
            case "text":
                index = self.begin({**block, "text": ""} if block["text"] else block, lane)
                self.more(index, block["text"])
            case "thinking":
                index = self.begin({**block, "text": ""}, lane)
                delta: Event = {"type": "thinking_delta", "index": index, "text": block["text"]}
                self.emit(delta | {"signature": block["signature"]} if "signature" in block else delta)
            case "tool_use":
                known = {name: value for name, value in block.items() if name != "input_raw"}
                index = self.begin({**known, "input": {}}, lane)
                self.more(index, arguments)
            case _:
                index = self.begin(block, lane)
        self.end(index, block)

    # -- parts that end when something else begins

    def open(self, kind: str, block: Block, lane: Lane | None = None, key: Any = None) -> Part:
        """The part that is told from now on."""
        self.pause()
        part = self.current = Part(kind, {}, self.begin(block, lane), key)
        return part

    def is_open(self, kind: str, key: Any = None) -> bool:
        """Whether such a part is being told; without a key, wherever it comes from."""
        part = self.current
        return part is not None and part.kind == kind and (key is None or part.key == key)

    def pause(self) -> None:
        """What is being told ends."""
        part = self.current
        if part is not None:
            self.current = None
            self.end(part.index, self.read(part))

    def settle(self) -> None:
        """What is being told stands as far as it came."""
        part = self.current
        if part is not None:
            self.content[part.index] = self.read(part)

    def read(self, part: Part) -> Block:
        """The block of such a part, as a whole answer would have it."""
        return {**self.content[part.index], "text": part.text}

    # -- the answer as far as it came

    def so_far(self, parts: Iterable[Part], read: Callable[[Part], Block]) -> list[Block]:
        """The blocks as far as they came, with these parts as they are read by now; without what cannot be read."""
        content: list[Block | None] = [*self.content]
        for part in parts:
            try:
                content[part.index] = read(part)
            except UNREADABLE:
                content[part.index] = None
        return [block for block in content if block is not None]

    def places(self) -> list[int] | None:
        """Where each block stands in a whole answer; None when that is where it was told."""
        at = {lane: place for place, lane in enumerate(sorted(set(self.lanes)))}
        places = [at[lane] for lane in self.lanes]
        return None if places == list(range(len(places))) else places

    def in_places(self) -> list[Block]:
        """The blocks in the order of a whole answer; those of one place are one."""
        content: dict[Lane, Block] = {}
        for lane, block in sorted(zip(self.lanes, self.content, strict=True), key=_lane):
            before = content.get(lane)
            content[lane] = block if before is None else {**before, **block, "text": before["text"] + block["text"]}
        return list(content.values())


def _lane(placed: tuple[Lane, Block]) -> Lane:
    return placed[0]


# ---------------------------------------------------------------------------------------------------- answers


class Answer:
    """One streamed answer as far as it came, and the events that its reader has not been given yet.

    A wire says what the data of a frame do to it (`patch`), what of it had arrived (`arrived`), what the mark of an end is
    (`mark`) and what the end of input (`finish`). `body` are the members around the blocks, `blocks` those of the first answer.
    `late` says that one of several answers has begun before one of a lower number.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.begun = False
        self.late = False
        self.due = Due()
        self.blocks = Blocks(0, self.due)
        self.body: Wire = {}
        self.last: Event | None = None
        self._held: list[Event] = []
        self._going: tuple[Part, Repetition] | None = None  # a text that goes on, and what its frames share

    def take(self, frame: Any) -> Event | None:
        """Takes a frame. Gives the one event of a frame that goes on with a text, as most do; any other is told."""
        known = self._going
        if known is not None:
            part, repetition = known
            if text := repetition.text(frame.data):
                part.pieces.append(text)
                return {"type": "text_delta", "index": part.index, "text": text}
        data = frame.data.strip()
        if not data:
            return None
        if data == DONE:
            self.mark()
            return None
        return self.patch(json.loads(data), frame)

    def patch(self, data: Any, frame: Any) -> Event | None:
        """Takes the data of a frame."""
        raise NotImplementedError

    def goes_on(self, part: Part, frame: Any, *path: str | int) -> None:
        """A text of the first answer goes on, and the frame says nothing else: those like it need not be decoded."""
        known = self._going
        if known is None or known[0] is not part:
            self._going = part, Repetition(frame.data, *path)

    def rests(self) -> None:
        """No frame that goes on with a text is like another one."""
        self._going = None

    def mark(self) -> None:
        """The mark behind the last event has come; on most wires it says nothing."""

    def arrived(self) -> dict[str, Any] | None:
        """The response as far as it came; None before it began."""
        raise NotImplementedError

    def finish(self) -> None:
        """The input has ended."""
        self.cut_off()

    def numbers(self) -> list[int]:
        """The numbers of the answers that have begun, on wires that give several."""
        return []

    def has_ended(self) -> bool:
        """Whether the last event is due."""
        return self.last is not None

    # -- events

    def start(self, model: Any, identity: Any, number: int = 0) -> None:
        """An answer begins. What is no text is not known."""
        event: Event = {"type": "message_start"}
        if isinstance(model, str):
            event["model"] = self.endpoint.model_id(model) or ""
        if isinstance(identity, str):
            event["response_id"] = identity
        if number:
            event["choice"] = number
        else:
            self.begun = True
        self.due.events.append(event)

    def emit_usage(self, usage: dict[str, Any]) -> None:
        """What the answer has taken so far."""
        self.due.events.append({"type": "usage_update", "usage": usage})

    def complete(self, response: dict[str, Any], places: list[int] | None = None) -> None:
        """The answer is whole."""
        self.last = {"type": "message_complete", "response": response}
        if places is not None:
            self.last["places"] = places

    def unreadable(self) -> None:
        """The stream cannot be read on."""
        message = "a frame of the stream cannot be read"
        self.fail(stream_error(self.endpoint, "invalid_response", message, retryable=False))

    def cut_off(self) -> None:
        """The stream ended too soon."""
        message = "the stream ended before the answer did; what had arrived is in the response"
        self.fail(stream_error(self.endpoint, "stream_truncated", message, retryable=True))

    def fail(self, error: Error) -> None:
        """The answer failed; what had arrived stands beside the error."""
        self.last = {"type": "error", "error": error}
        if self.endpoint.provider is not None:
            error.setdefault("provider", self.endpoint.provider)
        try:
            response = self.arrived()
        except UNREADABLE:  # what made the frame unreadable stands in the answer already
            response = None
        if response is not None:
            self.last["response"] = response

    def placed(self) -> list[Event]:
        """The events with the places of their answers for numbers, since numbers may have gaps.

        Those of an answer wait for all that have lower numbers, at the latest to the end.
        """
        ended = self.last is not None
        numbers = sorted(self.numbers())
        places = {number: place for place, number in enumerate(numbers) if ended or number == place}
        self.late = len(places) < len(numbers)
        due: list[Event] = []
        held: list[Event] = []
        for event in [*self._held, *self.due.events]:
            number = event.get("choice", 0)
            of_all = self.begun and number == 0 and "index" not in event
            (due if of_all or number in places else held).append(event)
        self._held = held
        due.sort(key=lambda event: places.get(event.get("choice", 0), 0))
        events: list[Event] = []
        for event in due:
            number = event.pop("choice", 0)
            if place := places.get(number, 0):
                event["choice"] = place
            elif number and self.begun and event["type"] == "message_start":
                continue  # what turns out to be the first has been told to begin
            events.append(event)
        return events


def partial(content: list[Block], endpoint: Endpoint, model: Any = None, identity: Any = None) -> dict[str, Any]:
    """A response of which this had arrived; what is no text is not known."""
    response = failed({"message": {"role": "assistant", "content": content}})
    if isinstance(identity, str):
        response["id"] = identity
    if isinstance(model, str) and model:
        response["model"] = endpoint.model_id(model)
    return response


def failed(response: dict[str, Any]) -> dict[str, Any]:
    """A response of which more was to come."""
    response["finish_reason"] = "error"
    response["message"]["metadata"] = {"status": "error"}
    return response


def decoded(answer: Answer) -> Decoder:
    """The events of an answer, frame by frame. Never raises: what cannot be read is an error with what had arrived."""
    return cast("Decoder", _decoded(answer))


def _decoded(answer: Answer) -> Generator[list[Event], Any, None]:
    calls, due = AnswerCalls(), answer.due
    events: list[Event] = []
    frame = yield events
    while not answer.has_ended():
        event: Event | None = None
        try:
            if frame is None:
                answer.finish()
            else:
                event = answer.take(frame)
        except UNREADABLE:
            due.events = []
            answer.unreadable()
        if event is not None:
            events = [event]
        else:
            events = answer.placed() if answer.late else due.events
            due.events = []
            if answer.last is not None:
                events.append(answer.last)
        if len(events) > 1 or calls.begun:
            events = calls.events(events)
        frame = yield events
    while True:  # what comes behind the last event is passed over
        yield []


# ---------------------------------------------------------------------------------------------------- frames alike


_OTHER: Final = "another text"


def _at(path: tuple[str | int, ...], value: Any) -> Any:
    for step in path:
        value = value[step]
    return value


class Repetition:
    """The frames of a stream that differ from one seen before in one text alone: they need not be decoded again.

    What stands around the text is compared as it is, and the text itself holds nothing that JSON would escape, so the
    frame can mean nothing else.
    """

    __slots__ = ("_after", "_before")

    def __init__(self, data: str, *path: str | int) -> None:
        """From a frame's data, and the path to the text in what it decodes to."""
        self._before = self._after = ""
        before, quoted, after = data.partition(json.dumps(_at(path, json.loads(data))).decode())
        try:
            # another text in this place is read as the text: it is the place, and not one that looks like it
            known = quoted != "" and _at(path, json.loads(f'{before}"{_OTHER}"{after}')) == _OTHER
        except (InvalidRequest, KeyError, IndexError, TypeError):
            known = False
        if known:
            self._before, self._after = before + '"', '"' + after

    def text(self, data: str) -> str | None:
        """The text of a frame's data; None when the frame has to be decoded."""
        if not self._before or not data.startswith(self._before) or not data.endswith(self._after):
            return None
        text = data[len(self._before) : -len(self._after)]
        return text if text.isprintable() and '"' not in text and "\\" not in text else None
