"""
The code that the writers of streamed responses share.

A block is sent as it arrives: its beginning, its pieces, and its end. The wire defines the frames of these; that of a
piece is a template that is rendered once for each block. This module tracks how much of each block has been sent. When
a block ends, it sends the rest, because sources that send blocks whole have no pieces.
"""

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeVar

from interlingua.adapters._answers.answers import Derive
from interlingua.adapters._content.calls import as_arguments
from interlingua.adapters._engine.kit import NOTHING, Event, Wire, arguments_text, data_of
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, too_deep
from interlingua.canonical.types import Error, StreamEvent
from interlingua.canonical.validate import malformed_event
from interlingua.wire.sse import Frame

Block = dict[str, Any]
A = TypeVar("A")

NO_ANSWER: Final[Wire] = {"message": {"content": []}}
"""In place of an answer of which nothing is known yet."""
TEXT: Final = "\0"
"""In a template, in place of the text of a piece."""
_QUOTED: Final = json.dumps(TEXT).decode()
FREE: Final = "free"
"""The `kind` of a call whose arguments are free text; the text becomes one argument when it is complete."""


class OpenBlock:
    """A block that is being sent: how it began (`begun`), its current state (`block`), and how much of it has been
    sent.

    `kind` is the wire's name for it; an empty one means that the block is not sent in pieces. `number` is its number on
    the wire. `sent` is the number of characters that were sent in pieces.
    """

    __slots__ = ("begun", "block", "choice", "index", "kind", "name", "number", "sent", "template")

    def __init__(self, choice: int, index: int, block: Block) -> None:
        self.choice = choice
        self.index = index
        self.begun = block
        self.block = block
        self.kind: str = block["type"]
        self.number = 0
        self.sent = 0
        self.name: str | None = None
        self.template: list[str] | None = None


class Writer:
    """Writes one response, with all its choices if the wire has `several`.

    `deltas` has for each kind of block the object of its pieces, with `TEXT` in place of the text; `placed` makes a
    frame of it. A block of another kind is not sent in pieces. The methods that do nothing are those that a wire
    overrides.
    """

    def __init__(self, endpoint: Endpoint, deltas: Mapping[str, Wire] = NOTHING, *, several: bool = False) -> None:
        self.endpoint = endpoint
        self.frames: list[Any] = []
        self.open_blocks: dict[tuple[int, int], OpenBlock] = {}
        self._going_on: OpenBlock | None = None  # the block of the last piece: most pieces are of the same block
        self._deltas = deltas
        self._counts: dict[Any, int] = {}
        self._several = several

    # -- methods that a wire overrides

    def start(self, event: Event) -> None:
        """Write the beginning of the response."""

    def usage(self, usage: dict[str, Any]) -> None:
        """Write or store the usage so far."""

    def open(self, open_block: OpenBlock, begun: Wire | None) -> None:
        """Number a block, and write the frame with which it begins."""

    def begun(self, block: Block) -> Wire | None:  # noqa: ARG002
        """The content of that frame for a block that comes in pieces; None if there is no such frame."""
        return None

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """The frame for a delta of a block: its name and its data."""
        raise NotImplementedError

    def delta(self, open_block: OpenBlock) -> Wire | None:
        """The object of a piece of a block; None if the block is not sent in pieces."""
        return self._deltas.get(open_block.kind)

    def rest(self, open_block: OpenBlock) -> Iterable[Wire]:  # noqa: ARG002
        """The deltas of a block that has ended which were not sent in pieces."""
        return ()

    def at_once(self, block: Block) -> tuple[Wire | None, Wire | None] | None:  # noqa: ARG002
        """For a block that is not sent in pieces: the content of its first frame, and its delta. None if the wire
        cannot represent it."""
        return None

    def close(self, open_block: OpenBlock) -> None:
        """Write the frame with which a block ends."""

    def complete(self, response: dict[str, Any]) -> None:
        """Write the end of a complete response."""
        raise NotImplementedError

    def fail(self, error: Error) -> None:
        """Write the end of a response that failed."""
        raise NotImplementedError

    def frame(self, name: str | None, data: str) -> Any:
        """Make a frame; a server-sent event, unless a wire overrides it."""
        return Frame(name, data)

    # -- methods of all wires

    def begin(self, open_block: OpenBlock) -> None:
        """Begin a block that is sent in pieces; any other is sent when it has ended. A call with free text is marked
        (`FREE`)."""
        if self.delta(open_block) is None:
            open_block.kind = ""
            return
        self.open(open_block, self.begun(open_block.block))
        if open_block.begun.get("kind") == "custom":
            open_block.kind = FREE

    def end(self, open_block: OpenBlock) -> None:
        """End a block; all its text has been sent."""
        if open_block.kind:
            for delta in self.rest(open_block):
                self.send(open_block, delta)
            self.close(open_block)
        elif (told := self.at_once(open_block.block)) is not None:
            begun, content = told
            self.open(open_block, begun)
            if content is not None:
                self.send(open_block, content)
            self.close(open_block)

    def pieces(self, event: Event) -> list[Any]:
        """The frames of an event that is a piece of a block, as nearly all are. On a wire that returns one answer,
        other choices have no frames."""
        choice: int = event.get("choice") or 0
        index: int = event["index"]
        if choice and not self._several:
            return []
        open_block = self._going_on
        if open_block is None or open_block.index != index or open_block.choice != choice:
            open_block = self._going_on = self.open_blocks[choice, index]
        frame = self.piece(open_block, event["text"])
        return [] if frame is None else [frame]

    def event(self, event: Event) -> list[Any]:
        """The frames of any event."""
        if event["type"] in _DELTA_TYPES:
            return self.pieces(event)
        choice: int = event.get("choice") or 0
        if choice and not self._several:
            return []
        self.take(event, choice)
        frames, self.frames = self.frames, []
        return frames

    def take(self, event: Event, choice: int) -> None:
        """Write an event that is no piece of a block."""
        self._going_on = None
        match event["type"]:
            case "message_start":
                self.start(event)
            case "usage_update":
                self.usage(event["usage"])
            case "block_start":
                index: int = event["index"]
                open_block = self.open_blocks[choice, index] = OpenBlock(choice, index, event["block"])
                self.begin(open_block)
                self.more(open_block, open_block.block.get("text", ""))
            case "block_stop":
                ending = self.open_blocks.pop((choice, event["index"]), None)
                if ending is not None:
                    ending.block = event["block"]
                    self.more(ending, self.unsent(ending))
                    self.end(ending)
            case "message_complete":
                self.complete(event["response"])
            case "error":
                self.fail(event["error"])
            case _:
                pass  # the end of a call, which its block repeats; events of later versions

    def unsent(self, open_block: OpenBlock) -> str:
        """The text of a block that has ended which was not sent in pieces, because its source sent the block whole."""
        block = open_block.block
        match block["type"]:
            case "text" | "thinking":
                text: str = block["text"]
                return text[open_block.sent :]
            case "tool_use" if not open_block.sent:
                return self.unsent_arguments(open_block, block)
            case _:
                return ""

    def unsent_arguments(self, open_block: OpenBlock, call: Wire) -> str:
        """The arguments of a call of which no piece has been sent."""
        text: str | None = call.get("input_raw")
        if open_block.kind == FREE:
            open_block.kind, open_block.template = "tool_use", None
            return arguments_text(as_arguments(text))
        if text is None:
            return "" if open_block.begun.get("kind") == "custom" else arguments_text(call["input"])
        return text

    def number(self, of: Any = None) -> int:
        """The next number of a counter; `of` is the counter's key."""
        number = self._counts.get(of, 0)
        self._counts[of] = number + 1
        return number

    def put(self, name: str | None, data: Wire) -> None:
        """Write a frame."""
        self.frames.append(self.frame(name, json.dumps(data).decode()))

    def send(self, open_block: OpenBlock, delta: Wire) -> None:
        """Write a delta of a block."""
        name, data = self.placed(open_block, delta)
        self.put(name, data)

    def more(self, open_block: OpenBlock, text: str) -> None:
        """Write a piece of a block."""
        if (frame := self.piece(open_block, text)) is not None:
            self.frames.append(frame)

    def piece(self, open_block: OpenBlock, text: str) -> Any:
        """The frame of a piece of a block; None if the piece is empty, or the block is not sent in pieces."""
        if not text:
            return None
        template = open_block.template
        if template is None:
            delta = self.delta(open_block)
            template = []
            if delta is not None:
                open_block.name, data = self.placed(open_block, delta)
                template = json.dumps(data).decode().split(_QUOTED)
            open_block.template = template
        if not template:
            return None
        open_block.sent += len(text)
        return self.frame(open_block.name, json.quoted(text).join(template))


def identity_of(event: Event, derive: Derive) -> str:
    """The id of a response; one that is derived if the event with which it begins has none."""
    given: str | None = event.get("response_id")
    return given or derive({"id": event.get("message_id"), "model": event.get("model")})


def model_of(event: Event, endpoint: Endpoint) -> str | None:
    """The model of a response, as its provider names it; the endpoint's model if the event names none."""
    model: str | None = event.get("model")
    return (model.partition(":")[2] or model) if model else endpoint.model


# -------------------------------------------------------------------------------------------------- the order of events

MALFORMED: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
"""The exceptions of writing events that do not fit the schema."""


def refuse_event(problem: Exception, event: Any) -> NoReturn:
    """Raise the error for a stream that cannot be written: an event is malformed, or out of place. Events are not
    validated one by one, only when writing one has failed."""
    if isinstance(problem, RecursionError):
        raise too_deep() from None
    if (found := malformed_event(event)) is not None:
        raise found from problem
    message = "the events are not one stream: an event is malformed, or belongs to a block that has not begun"
    raise InvalidRequest(message, path="") from problem


_DELTA_TYPES: Final = frozenset(("text_delta", "thinking_delta", "tool_use_input_delta"))
_PROSE: Final = frozenset(("text", "thinking"))


Encoder = Generator[list[A], StreamEvent | None, None]
"""A generator: send it events, and None at the end; it yields the frames that each event completes."""


def encoded(writer: Writer, places: str = "") -> "Encoder[Any]":
    """Make an encoder of a writer. `places` states which blocks must be sent one after another (`InTurn`). A malformed
    event is refused with its type and path."""
    turns = InTurn(places)
    due: Any = None
    event: Any = yield []
    try:
        while event is not None:
            due = event
            if event["type"] in _DELTA_TYPES and not turns.waiting:
                event = yield writer.pieces(event)
                continue
            written: list[Any] = []
            for due in turns.due(data_of(event)):
                written += writer.event(due)
            event = yield written
    except MALFORMED as problem:
        refuse_event(problem, due)


class InTurn:
    """Decides when events are due on a wire that has one place for several blocks of an answer.

    Blocks of other wires may interleave. The events of a later block wait until the block before it in this place has
    ended. While nothing is `waiting`, a delta is due when it arrives, and the caller need not call `due` for it.

    `places` states which blocks share one place: `all` blocks, or the `prose` (texts and reasoning); it is empty if
    each block has its own place.
    """

    __slots__ = ("_open", "_places", "waiting")

    def __init__(self, places: str) -> None:
        self._places = places
        self._open: dict[int, int] = {}  # by choice, the index of the block that has the place
        self.waiting: dict[tuple[int, int], list[Event]] = {}

    def due(self, event: Event) -> list[Event]:
        """The events that are due when this event arrives."""
        kind: str = event["type"]
        if not self.waiting and kind not in ("block_start", "block_stop"):
            return [event]
        choice: int = event.get("choice") or 0
        index: int = event.get("index", -1)
        place = (choice, index)
        if place in self.waiting:
            self.waiting[place].append(event)
            return []
        match kind:
            case "block_start" if self._places == "all" or (self._places and event["block"]["type"] in _PROSE):
                if choice in self._open:
                    self.waiting[place] = [event]
                    return []
                self._open[choice] = index
            case "block_stop" if self._open.get(choice) == index:
                del self._open[choice]
                return [event, *self._released(choice)]
            case "error":
                held = [waiting for events in self.waiting.values() for waiting in events]
                self.waiting.clear()
                return [*held, event]
            case _:
                pass
        return [event]

    def _released(self, choice: int) -> list[Event]:
        released: list[Event] = []
        for place, held in list(self.waiting.items()):
            if place[0] == choice:
                released += self.waiting.pop(place)
                if held[-1]["type"] != "block_stop":
                    self._open[choice] = place[1]
                    break
        return released
