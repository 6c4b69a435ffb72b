"""
The code that the readers of streamed responses share.

The frames of a wire are patches of its own unary response. The wire defines which part of that response a frame
patches. When the part has ended, it is read as in the unary response. This module makes the events: blocks that begin,
grow and end, several answers at once, and the part of a failed response that had arrived.
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
"""The place of a block in a whole response: its member or item, and its number in that. Blocks of one lane are one
block."""
Decoder = Generator[list[StreamEvent], Any, None]
"""A generator: send it frames, and None at the end of input; it yields the events that each frame completes."""

UNREADABLE_FRAME: Final = (InterlinguaError, KeyError, TypeError, AttributeError, IndexError, ValueError)
"""The exceptions of reading a frame that does not fit its wire."""
_DELTA_OF: Final = {"text": "text_delta", "thinking": "thinking_delta", "tool_use": "tool_use_input_delta"}
"""The events of the pieces of a block, by its type."""
DONE: Final = "[DONE]"
"""The data behind the last event of some wires; some servers send it on other wires, too."""


# ---------------------------------------------------------------------------------------------------- patches


def string(value: Any) -> str:
    """Return a value that must be a text. Raises `TypeError` for any other."""
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def patch_members(members: Wire, patch: Wire, skip: Container[str] = (), growing: Container[str] = ()) -> None:
    """Patch the object `members`: texts and lists that are `growing` are appended, objects are merged, null changes
    nothing, and any other value replaces the old one. Members in `skip` are not patched."""
    for name, value in patch.items():
        if name in skip:
            continue
        before = members.get(name)
        if before is None:
            members[name] = value
        elif isinstance(before, list) and isinstance(value, list) and name in growing:
            before += value  # it may be long: it is not copied for each frame
        elif isinstance(before, str) and isinstance(value, str) and name in growing:
            members[name] = before + value
        elif isinstance(before, dict) and isinstance(value, dict):
            members[name] = merged(before, value)
        elif value is not None:
            members[name] = value


def merged(before: Wire, value: Wire) -> Wire:
    """Merge an object with a later one: a member that is absent in the later one keeps its value."""
    for name in before:
        if name not in value:
            return {**before, **value}
    return value  # most frames repeat all members


def call_so_far(begun: Block, text: str) -> Block:
    """A call with the arguments that have arrived. A text that is no JSON object is kept in `input_raw`, and the call
    cannot be run."""
    arguments = None if begun.get("kind") == "custom" else parse_arguments(text)
    if arguments is None:
        return {**begun, "input": {}, "input_raw": text}
    return {**begun, "input": arguments}


# ---------------------------------------------------------------------------------------------------- blocks


class Part:
    """A part of a response that is being streamed: its value on the wire so far (`raw`), and the `pieces` that are
    not in it yet.

    `kind` is the wire's name for it, `index` that of its block, and `key` its place on the wire, if the wire needs
    that.
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
        """The text of the pieces."""
        return "".join(self.pieces)


class Due:
    """The events that have not been returned yet: of a response, and of the blocks of all its choices.

    `repeated` is a text that is being continued, and the common part of its frames.
    """

    __slots__ = ("events", "repeated")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.repeated: tuple[Part, Repetition] | None = None


class Blocks:
    """The blocks of one answer in the order in which they begin, and their events.

    `number` is the number of the answer on the wire. `content` has the blocks; one that has not ended is there as it
    began. `lanes` has the place of each block in a whole response. `current` is the part that ends when another begins,
    on wires that do not mark the end of a part.
    """

    __slots__ = ("content", "current", "due", "lanes", "number")

    def __init__(self, number: int, due: Due) -> None:
        self.number = number
        self.due = due
        self.content: list[Block] = []
        self.lanes: list[Lane] = []
        self.current: Part | None = None

    def emit(self, event: Event) -> None:
        """Add an event of this answer."""
        if self.number:
            event["choice"] = self.number
        self.due.events.append(event)

    def begin(self, block: Block, lane: Lane | None = None) -> int:
        """Begin a block, and return its index; a call has its id and name in a second event. Without a lane, the block
        stays where it began."""
        index = len(self.content)
        self.content.append(block)
        self.lanes.append((0, index) if lane is None else lane)
        self.emit({"type": "block_start", "index": index, "block": block})
        if block["type"] == "tool_use":
            self.emit({"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]})
        return index

    def more(self, index: int, text: str) -> None:
        """Add a piece of a text, of reasoning, or of the arguments of a call. A block of another type has no pieces."""
        block = self.content[index]
        if text and (kind := _DELTA_OF.get(block["type"])) is not None:
            event: Event = {"type": kind, "index": index}
            if kind == "tool_use_input_delta":
                event["id"] = block["id"]
            event["text"] = text
            self.emit(event)

    def grow(self, part: Part, text: Any) -> None:
        """Add a piece to a part. Raises `TypeError` for a piece that is no text."""
        part.pieces.append(string(text))
        self.more(part.index, text)

    def sign(self, index: int, signature: str) -> None:
        """Add the signature of reasoning."""
        self.emit({"type": "thinking_delta", "index": index, "text": "", "signature": signature})

    def end(self, index: int, block: Block) -> None:
        """End a block; a call has its complete input in an event before the end."""
        self.content[index] = block
        self.due.repeated = None
        if block["type"] == "tool_use":
            end: Event = {"type": "tool_use_end", "index": index, "id": block["id"], "name": block["name"]}
            end["input"] = block["input"]
            if "input_raw" in block:
                end["input_raw"] = block["input_raw"]
            self.emit(end)
        self.emit({"type": "block_stop", "index": index, "block": block})

    def at_once(self, block: Block, lane: Lane | None = None, *, silent: bool = False) -> None:
        """Add a block that arrived at once; its events are those of any other. A call without arguments has a piece
        with `{}`, unless `silent`."""
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
        """Begin a part, which becomes the current one; the part before it ends."""
        self.pause()
        part = self.current = Part(kind, {}, self.begin(block, lane), key)
        return part

    def continued(self, kind: str, key: Any = None) -> Part | None:
        """The current part, if it has this kind and, if given, this key; else None."""
        part = self.current
        return part if part is not None and part.kind == kind and (key is None or part.key == key) else None

    def pause(self) -> None:
        """End the current part."""
        part = self.current
        if part is not None:
            self.current = None
            self.end(part.index, self.read(part))

    def settle(self) -> None:
        """Store the block of the current part as far as it has arrived; the part does not end."""
        part = self.current
        if part is not None:
            self.content[part.index] = self.read(part)

    def read(self, part: Part) -> Block:
        """The block of such a part, as in a whole response."""
        return {**self.content[part.index], "text": part.text}

    # -- the answer so far

    def so_far(self, parts: Iterable[Part], read: Callable[[Part], Block]) -> list[Block]:
        """The blocks as far as they have arrived, with these `parts` read as far as they are; without parts that
        cannot be read."""
        content: list[Block | None] = [*self.content]
        for part in parts:
            try:
                content[part.index] = read(part)
            except UNREADABLE_FRAME:
                content[part.index] = None
        return [block for block in content if block is not None]

    def places(self) -> list[int] | None:
        """The position of each block in a whole response; None if every block is where it began."""
        at = {lane: place for place, lane in enumerate(sorted(set(self.lanes)))}
        places = [at[lane] for lane in self.lanes]
        return None if places == list(range(len(places))) else places

    def in_places(self) -> list[Block]:
        """The blocks in the order of a whole response; those of one lane are joined."""
        content: dict[Lane, Block] = {}
        for lane, block in sorted(zip(self.lanes, self.content, strict=True), key=_lane):
            before = content.get(lane)
            content[lane] = block if before is None else {**before, **block, "text": before["text"] + block["text"]}
        return list(content.values())


def _lane(placed: tuple[Lane, Block]) -> Lane:
    return placed[0]


# ---------------------------------------------------------------------------------------------------- answers


class Answer:
    """A streamed response as far as it has arrived, and the events that have not been returned yet.

    A wire overrides `patch` (apply the data of a frame) and `arrived` (the response so far), and, if needed, `mark`
    (the mark behind the last event) and `finish` (the end of input). `body` has the members around the blocks, `blocks`
    the blocks of the first answer. A wire that returns several answers has them in `choices` by their numbers, and
    overrides `opened`, which begins one. `late`: an answer has begun before one with a lower number.
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
        """Take a frame. If it continues a text and has nothing else, as most frames do, return its one event."""
        repeated = self.due.repeated
        if repeated is not None:
            part, repetition = repeated
            if text := repetition.text(frame.data):
                part.pieces.append(text)
                event: Event = {"type": "text_delta", "index": part.index, "text": text}
                if repetition.counted is None:
                    return event
                self.due.events.append(event)
                self.count(repetition.counted)
                return None
        data = frame.data.strip()
        if data == DONE:
            self.mark()
        elif data:
            self.patch(json.loads(data), frame)
        return None

    def patch(self, data: Any, frame: Frame) -> None:
        """Apply the data of a frame."""
        raise NotImplementedError

    def repeats(self, part: Part, frame: Frame, *path: str | int, counted: str = "") -> None:
        """Note that a frame continues a text of the first answer and has nothing else: similar frames need not be
        decoded.

        `path` is that of the text. `counted` is a member behind it that differs, too; its value is passed to `count`.
        """
        known = self.due.repeated
        if known is None or known[0] is not part:
            self.due.repeated = part, Repetition(frame.data, *path, counted=counted)

    def count(self, usage: Any) -> None:
        """Take the usage so far, as a frame states it."""
        raise NotImplementedError

    def mark(self) -> None:
        """Handle the mark behind the last event; on most wires it has no meaning."""

    def arrived(self) -> dict[str, Any] | None:
        """The response as far as it has arrived; None before it has begun."""
        raise NotImplementedError

    def finish(self) -> None:
        """Handle the end of the input; unless a wire overrides it, the response was cut off."""
        self.cut_off()

    def opened(self, number: int) -> Any:
        """Begin the answer with this number, and return its blocks."""
        raise NotImplementedError

    def choice(self, number: Any) -> Any:
        """The blocks of the answer with this number; begins it if it is new."""
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
        """Add the event with which an answer begins. A model or an id that is no text is left out."""
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
        """Add an event with the usage so far, if that is known."""
        if usage is not None:
            self.due.events.append({"type": "usage_update", "usage": usage})

    def complete(self, response: dict[str, Any], places: list[int] | None = None) -> None:
        """End the response, which is complete."""
        self.last = {"type": "message_complete", "response": response}
        if places is not None:
            self.last["places"] = places

    def complete_in_places(self, response: dict[str, Any]) -> None:
        """End the response, which is complete, with its blocks in the places of a whole response."""
        response["message"]["content"] = self.blocks.in_places()
        self.complete(response, self.blocks.places())

    def unreadable(self) -> None:
        """End with an error: a frame cannot be read."""
        self._broken("invalid_response", "a frame of the stream cannot be read", retryable=False)

    def cut_off(self) -> None:
        """End with an error: the stream ended too soon."""
        message = "the stream ended before the response was complete; what had arrived is in the response"
        self._broken("stream_truncated", message, retryable=True)

    def _broken(self, category: ErrorCategory, message: str, *, retryable: bool) -> None:
        adapter = self.endpoint.adapter
        self.fail({"category": category, "message": message, "retryable": retryable, "adapter": adapter})

    def has_ended(self) -> bool:
        """Whether no event can follow. It is a method, because a compiler assumes that an attribute which was None
        stays None until it is set in the same function."""
        return self.last is not None

    def fail(self, error: Error) -> None:
        """End with an error, which has the response as far as it had arrived."""
        self.last = {"type": "error", "error": error}
        if self.endpoint.provider:
            error.setdefault("provider", self.endpoint.provider)
        try:
            response = self.arrived()
        except UNREADABLE_FRAME:  # the response already holds the value that made the frame unreadable
            response = None
        if response is not None:
            self.last["response"] = response

    def partial(self, content: list[Block]) -> dict[str, Any]:
        """A failed response with these blocks, which had arrived. A model or an id that is no text is left out."""
        response = failed({"message": {"role": "assistant", "content": content}})
        model, identity = self.body.get(self.MODEL), self.body.get(self.IDENTITY)
        if isinstance(identity, str):
            response["id"] = identity
        if isinstance(model, str) and model:
            response["model"] = self.endpoint.model_id(model)
        return response

    def placed(self, new: list[Event]) -> list[Event]:
        """The events that are due, with the positions of their answers in place of the wire's numbers, which may have
        gaps.

        The events of an answer wait until all answers with lower numbers have begun, at most until the end.
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
                continue  # this answer is the first one after all, and its beginning was already sent
            events.append(event)
        return events


def failed(response: dict[str, Any]) -> dict[str, Any]:
    """Mark a response as failed, because it is incomplete."""
    response["finish_reason"] = "error"
    response["message"]["metadata"] = {"status": "error"}
    return response


def decoded(answer: Answer) -> Decoder:
    """Make a decoder of an answer. It never raises: a frame that cannot be read gives an error event with the
    response so far."""
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
        except UNREADABLE_FRAME:
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
    while True:  # frames behind the last event are ignored
        yield []
