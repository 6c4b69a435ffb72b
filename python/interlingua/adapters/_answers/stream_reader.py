"""
What the readers of streamed answers do alike.

The frames of a wire are patches on its own unary answer. A wire says which part of that answer a frame patches and how the
part is read when it has ended, which is how the unary answer is read. The events on the way are made here: blocks that
begin, grow and end, several answers at once, what had arrived of an answer that failed.
"""

from collections.abc import Callable, Container, Generator, Iterable
from typing import Any, ClassVar, Final, cast

from interlingua.adapters._answers.repetition import Repetition
from interlingua.adapters._engine.kit import Event, Wire, arguments_text, parse_arguments
from interlingua.adapters._structured import AnswerCalls
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.types import Error, ErrorCategory, StreamEvent
from interlingua.wire.sse import Frame

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


# ---------------------------------------------------------------------------------------------------- patches


def string(value: Any) -> str:
    """A value that has to be text. Raises `TypeError` for any other."""
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def patch_members(members: Wire, patch: Wire, apart: Container[str] = (), growing: Container[str] = ()) -> None:
    """Patches an object: texts and lists that are `growing` go on, objects are joined, null leaves what there is, else the last
    value counts. Members that are `apart` are none of it."""
    for name, value in patch.items():
        if name in apart:
            continue
        before = members.get(name)
        if before is None:
            members[name] = value
        elif isinstance(before, list) and isinstance(value, list) and name in growing:
            before += value  # there may be many: they are not copied with each frame
        elif isinstance(before, str) and isinstance(value, str) and name in growing:
            members[name] = before + value
        elif isinstance(before, dict) and isinstance(value, dict):
            members[name] = joined(before, value)
        elif value is not None:
            members[name] = value


def joined(before: Wire, value: Wire) -> Wire:
    """An object that goes on with another: what is absent in the later one keeps its value."""
    for name in before:
        if name not in value:
            return {**before, **value}
    return value  # most say all of it again


def call_so_far(begun: Block, text: str) -> Block:
    """A call with the arguments that have come: text that is no object stays as it is, and is none to run."""
    arguments = None if begun.get("kind") == "custom" else parse_arguments(text)
    if arguments is None:
        return {**begun, "input": {}, "input_raw": text}
    return {**begun, "input": arguments}


# ---------------------------------------------------------------------------------------------------- blocks


class Part:
    """A part of an answer that is being streamed: its form on the wire so far, and the pieces that are not in it yet.

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
        """What the pieces say."""
        return "".join(self.pieces)


class Due:
    """The events that have not been given yet: of an answer, and of the blocks of all its choices.

    `repeated` is a text that goes on, and what its frames share.
    """

    __slots__ = ("events", "repeated")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.repeated: tuple[Part, Repetition] | None = None


class Blocks:
    """The blocks of one answer in the order in which they begin, and the events that say them.

    `number` is the number of the answer on the wire. Of a block that has not ended `content` holds what began.
    `current` is the part that ends when something else begins, on wires that do not say where it ends.
    """

    __slots__ = ("content", "current", "due", "lanes", "number")

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
        """A block begins, and a call says who it is. Gives its index. Without a lane it stands where it began."""
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
            self.emit(event)

    def grow(self, part: Part, text: Any) -> None:
        """A part grows by a piece. What is no text cannot be read."""
        part.pieces.append(string(text))
        self.more(part.index, text)

    def sign(self, index: int, signature: str) -> None:
        """The signature of reasoning."""
        self.emit({"type": "thinking_delta", "index": index, "text": "", "signature": signature})

    def end(self, index: int, block: Block) -> None:
        """A block ends; a call says first what it was."""
        self.content[index] = block
        self.due.repeated = None
        if block["type"] == "tool_use":
            end: Event = {"type": "tool_use_end", "index": index, "id": block["id"], "name": block["name"]}
            end["input"] = block["input"]
            if "input_raw" in block:
                end["input_raw"] = block["input_raw"]
            self.emit(end)
        self.emit({"type": "block_stop", "index": index, "block": block})

    def whole(self, block: Block, lane: Lane | None = None, *, silent: bool = False) -> None:
        """A block that came at once; its events are those of any other. A call of no arguments says them if not `silent`."""
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
                if "input_raw" in block:
                    self.more(index, block["input_raw"])
                elif block["input"] or not silent:
                    self.more(index, arguments_text(block["input"]))
            case _:
                index = self.begin(block, lane)
        self.end(index, block)

    # -- parts that end when something else begins

    def open(self, kind: str, block: Block, lane: Lane | None = None, key: Any = None) -> Part:
        """The part that is streamed from now on."""
        self.pause()
        part = self.current = Part(kind, {}, self.begin(block, lane), key)
        return part

    def goes_on(self, kind: str, key: Any = None) -> Part | None:
        """The part that is being streamed, if it is of this kind; without a key, wherever it comes from."""
        part = self.current
        return part if part is not None and part.kind == kind and (key is None or part.key == key) else None

    def pause(self) -> None:
        """What is being streamed ends."""
        part = self.current
        if part is not None:
            self.current = None
            self.end(part.index, self.read(part))

    def settle(self) -> None:
        """What is being streamed stands as far as it came."""
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
        """Where each block stands in a whole answer; None when that is where it began."""
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
    Wires that give several answers have them in `choices` by their numbers, and say how one begins (`opened`). `late` says that
    one has begun before one of a lower number.
    """

    MODEL: ClassVar[str] = "model"
    IDENTITY: ClassVar[str] = "id"
    """The members of the body that name the model and the answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.begun = False
        self.late = False
        self.due = Due()
        self.blocks = Blocks(0, self.due)
        self.choices: dict[int, Any] = {}
        self.body: Wire = {}
        self.last: Event | None = None
        self._held: list[Event] = []

    def take(self, frame: Frame) -> Event | None:
        """Takes a frame. Gives the one event of a frame that goes on with a text and says nothing else, as most do."""
        repeated = self.due.repeated
        if repeated is not None:
            part, repetition = repeated
            if text := repetition.text(frame.data):
                part.pieces.append(text)
                event: Event = {"type": "text_delta", "index": part.index, "text": text}
                if repetition.beside is None:
                    return event
                self.due.events.append(event)
                self.count(repetition.beside)
                return None
        data = frame.data.strip()
        if data == DONE:
            self.mark()
        elif data:
            self.patch(json.loads(data), frame)
        return None

    def patch(self, data: Any, frame: Frame) -> None:
        """Takes the data of a frame."""
        raise NotImplementedError

    def repeats(self, part: Part, frame: Frame, *path: str | int, beside: str = "") -> None:
        """A text of the first answer goes on, and the frame says nothing else: those like it need not be decoded whole.

        `path` is that of the text, `beside` a member behind it that differs as well, and is counted (`count`).
        """
        known = self.due.repeated
        if known is None or known[0] is not part:
            self.due.repeated = part, Repetition(frame.data, *path, beside=beside)

    def count(self, usage: Any) -> None:
        """What the answer has taken so far, as a frame says it."""
        raise NotImplementedError

    def mark(self) -> None:
        """The mark behind the last event has come; on most wires it says nothing."""

    def arrived(self) -> dict[str, Any] | None:
        """The response as far as it came; None before it began."""
        raise NotImplementedError

    def finish(self) -> None:
        """The input has ended."""
        self.cut_off()

    def opened(self, number: int) -> Any:
        """An answer of a number begins: its blocks."""
        raise NotImplementedError

    def choice(self, number: Any) -> Any:
        """The blocks of the answer of a number."""
        found = self.choices.get(number)
        if found is None:
            self.late = self.late or number != len(self.choices)
            found = self.choices[number] = self.opened(number)
            if number or not self.begun:
                self.start(number)
        return found

    def in_order(self) -> list[Any]:
        """The blocks of all answers, by their numbers."""
        return [choice for _, choice in sorted(self.choices.items())]

    # -- events

    def start(self, number: int = 0) -> None:
        """An answer begins. What is no text is not known."""
        event: Event = {"type": "message_start"}
        model, identity = self.body.get(self.MODEL), self.body.get(self.IDENTITY)
        if isinstance(model, str) and model:
            event["model"] = self.endpoint.model_id(model) or ""
        if isinstance(identity, str):
            event["response_id"] = identity
        if number:
            event["choice"] = number
        else:
            self.begun = True
        self.due.events.append(event)

    def usage(self, usage: dict[str, Any] | None) -> None:
        """What the answer has taken so far, if that is known."""
        if usage is not None:
            self.due.events.append({"type": "usage_update", "usage": usage})

    def complete(self, response: dict[str, Any], places: list[int] | None = None) -> None:
        """The answer is whole."""
        self.last = {"type": "message_complete", "response": response}
        if places is not None:
            self.last["places"] = places

    def complete_in_places(self, response: dict[str, Any]) -> None:
        """The answer is whole, and has its blocks where a whole answer has them."""
        response["message"]["content"] = self.blocks.in_places()
        self.complete(response, self.blocks.places())

    def unreadable(self) -> None:
        """The stream cannot be read on."""
        self._broken("invalid_response", "a frame of the stream cannot be read", retryable=False)

    def cut_off(self) -> None:
        """The stream ended too soon."""
        message = "the stream ended before the response was complete; what had arrived is in the response"
        self._broken("stream_truncated", message, retryable=True)

    def _broken(self, category: ErrorCategory, message: str, *, retryable: bool) -> None:
        adapter = self.endpoint.adapter
        self.fail({"category": category, "message": message, "retryable": retryable, "adapter": adapter})

    def has_ended(self) -> bool:
        """Whether no event can follow. Asked by a method: a compiler takes an attribute that was null for null until it is set here."""
        return self.last is not None

    def fail(self, error: Error) -> None:
        """The answer failed; what had arrived stands beside the error."""
        self.last = {"type": "error", "error": error}
        if self.endpoint.provider:
            error.setdefault("provider", self.endpoint.provider)
        try:
            response = self.arrived()
        except UNREADABLE:  # what made the frame unreadable stands in the answer already
            response = None
        if response is not None:
            self.last["response"] = response

    def partial(self, content: list[Block]) -> dict[str, Any]:
        """A response of which these blocks had arrived; what is no text is not known."""
        response = failed({"message": {"role": "assistant", "content": content}})
        model, identity = self.body.get(self.MODEL), self.body.get(self.IDENTITY)
        if isinstance(identity, str):
            response["id"] = identity
        if isinstance(model, str) and model:
            response["model"] = self.endpoint.model_id(model)
        return response

    def placed(self, new: list[Event]) -> list[Event]:
        """The events with the places of their answers for numbers, since numbers may have gaps.

        Those of an answer wait for all that have lower numbers, at the latest to the end.
        """
        ended = self.last is not None
        places = {number: place for place, number in enumerate(sorted(self.choices)) if ended or number == place}
        self.late = len(places) < len(self.choices)
        due: list[Event] = []
        held: list[Event] = []
        for event in [*self._held, *new]:
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
                continue  # what turns out to be the first has been said to begin
            events.append(event)
        return events


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
    frame = yield []
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
            frame = yield [event]
            continue
        events = due.events
        due.events = []
        if answer.late:
            events = answer.placed(events)
        if answer.last is not None:
            events.append(answer.last)
        if len(events) > 1 or calls.begun:
            events = calls.events(events)
        frame = yield events
    while True:  # what comes behind the last event is passed over
        yield []
