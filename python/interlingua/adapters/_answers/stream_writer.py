"""
What the writers of streamed answers do alike.

A block goes out as it comes: its beginning, its pieces by a template of the wire that is rendered once for each block, and
its end. A wire says what these are. What stands here is what has gone out of each block, and what of it is still to be said
when it ends, because sources that give blocks whole say nothing in pieces.
"""

from collections.abc import Generator, Iterable, Mapping
from typing import Any, Final, NoReturn, TypeVar

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
"""Stands for an answer of which nothing is known yet."""
TEXT: Final = "\0"
"""Stands in a template for the text of a piece."""
_QUOTED: Final = json.dumps(TEXT).decode()
FREE: Final = "free"
"""A call whose arguments are free text, which becomes one argument when it is complete."""


class OpenBlock:
    """A block that is being told: how it began, what it is by now, and how much of it has gone out.

    `kind` is what the wire calls it and `number` its number there; `sent` counts the characters that went out in pieces.
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
    """One answer that is written, with all its choices if the wire has `several`.

    `deltas` say for each kind of block what its pieces are, with `TEXT` for the text; `placed` makes a frame of it. A block
    of another kind is not told in pieces. The methods below that do nothing are those that a wire fills in.
    """

    def __init__(self, endpoint: Endpoint, deltas: Mapping[str, Wire] = NOTHING, *, several: bool = False) -> None:
        self.endpoint = endpoint
        self.frames: list[Any] = []
        self.open_blocks: dict[tuple[int, int], OpenBlock] = {}
        self._going_on: OpenBlock | None = None  # the block of the last piece: most are of the same
        self._deltas = deltas
        self._counts: dict[Any, int] = {}
        self._several = several

    # -- what a wire says

    def start(self, event: Event) -> None:
        """The answer begins."""

    def usage(self, usage: dict[str, Any]) -> None:
        """What the answer has taken so far."""

    def open(self, open_block: OpenBlock, begun: Wire | None) -> None:
        """Numbers a block, and writes the frame with which it begins."""

    def begun(self, block: Block) -> Wire | None:  # noqa: ARG002
        """What that frame says of a block that comes in pieces; None where there is no such frame."""
        return None

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """The frame of what is said of a block: its name and its data."""
        raise NotImplementedError

    def delta(self, open_block: OpenBlock) -> Wire | None:
        """What a piece of a block is; None when it is not told in pieces."""
        return self._deltas.get(open_block.kind)

    def rest(self, open_block: OpenBlock) -> Iterable[Wire]:  # noqa: ARG002
        """What no piece said of a block that has ended."""
        return ()

    def whole(self, block: Block) -> tuple[Wire | None, Wire | None] | None:  # noqa: ARG002
        """How a block begins that does not come in pieces, and what is said of it then; None where the wire cannot say it."""
        return None

    def close(self, open_block: OpenBlock) -> None:
        """Writes the frame with which a block ends."""

    def complete(self, response: dict[str, Any]) -> None:
        """The answer is whole."""
        raise NotImplementedError

    def fail(self, error: Error) -> None:
        """The answer failed."""
        raise NotImplementedError

    def frame(self, name: str | None, data: str) -> Any:
        """A frame; those of server-sent events, where a wire has no others."""
        return Frame(name, data)

    # -- what all do

    def begin(self, open_block: OpenBlock) -> None:
        """A block begins that comes in pieces; any other is told when it has ended. Free text becomes one argument."""
        if self.delta(open_block) is None:
            open_block.kind = ""
            return
        self.open(open_block, self.begun(open_block.block))
        if open_block.begun.get("kind") == "custom":
            open_block.kind = FREE

    def end(self, open_block: OpenBlock) -> None:
        """A block ends, and all its text has been said."""
        if open_block.kind:
            for delta in self.rest(open_block):
                self.send(open_block, delta)
            self.close(open_block)
        elif (told := self.whole(open_block.block)) is not None:
            begun, content = told
            self.open(open_block, begun)
            if content is not None:
                self.send(open_block, content)
            self.close(open_block)

    def pieces(self, event: Event) -> list[Any]:
        """The frames of an event that is a piece of a block, as nearly all are. An answer beside the first has none on wires
        that give one."""
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
        if event["type"] in DELTAS:
            return self.pieces(event)
        choice: int = event.get("choice") or 0
        if choice and not self._several:
            return []
        self.take(event, choice)
        frames, self.frames = self.frames, []
        return frames

    def take(self, event: Event, choice: int) -> None:
        """Writes what an event says that is no piece of a block."""
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
                pass  # what a call was says its block; events of later versions

    def unsent(self, open_block: OpenBlock) -> str:
        """What no piece said of a block that has ended, because its source told it when it was whole."""
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
        """The arguments of a call of which nothing has been said."""
        text: str | None = call.get("input_raw")
        if open_block.kind == FREE:
            open_block.kind, open_block.template = "tool_use", None
            return arguments_text(as_arguments(text))
        if text is None:
            return "" if open_block.begun.get("kind") == "custom" else arguments_text(call["input"])
        return text

    def number(self, of: Any = None) -> int:
        """The next number of what a wire counts."""
        number = self._counts.get(of, 0)
        self._counts[of] = number + 1
        return number

    def put(self, name: str | None, data: Wire) -> None:
        """Writes a frame."""
        self.frames.append(self.frame(name, json.dumps(data).decode()))

    def send(self, open_block: OpenBlock, delta: Wire) -> None:
        """Writes what is said of a block."""
        name, data = self.placed(open_block, delta)
        self.put(name, data)

    def more(self, open_block: OpenBlock, text: str) -> None:
        """Writes more of a block."""
        if (frame := self.piece(open_block, text)) is not None:
            self.frames.append(frame)

    def piece(self, open_block: OpenBlock, text: str) -> Any:
        """The frame of a piece of a block; None when it says nothing, or is not told in pieces."""
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
        return self.frame(open_block.name, json.dumps(text).decode().join(template))


def model_of(event: Event, endpoint: Endpoint) -> str | None:
    """The model that gives an answer, as its provider names it; the endpoint's where the event names none."""
    model: str | None = event.get("model")
    return (model.partition(":")[2] or model) if model else endpoint.model


# ---------------------------------------------------------------------------------------------------- events in turn

MALFORMED: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError, RecursionError)
"""What it raises to write events that are not those of the schema."""


def refuse_event(problem: Exception, event: Any) -> NoReturn:
    """Raises the error for a stream that cannot be written: the event at hand is malformed, or does not belong where it
    stands. Events are not checked one by one, only when they fail."""
    if isinstance(problem, RecursionError):
        raise too_deep() from None
    if (found := malformed_event(event)) is not None:
        raise found from problem
    message = "the events are not one stream: an event is malformed, or belongs to a block that has not begun"
    raise InvalidRequest(message, path="") from problem


DELTAS: Final = frozenset(("text_delta", "thinking_delta", "tool_use_input_delta"))
_PROSE: Final = frozenset(("text", "thinking"))


Encoder = Generator[list[A], StreamEvent | None, None]
"""Give it events, and None at the end; it gives the frames that each event completes."""


def encoded(writer: Writer, places: str = "") -> "Encoder[Any]":
    """An encoder by the frames of each event, with one block of an answer after another in each of the `places` of the wire
    (`InTurn`). An event that is malformed is refused by its type and place."""
    turns = InTurn(places)
    due: Any = None
    event: Any = yield []
    try:
        while event is not None:
            due = event
            if event["type"] in DELTAS and not turns.waiting:
                event = yield writer.pieces(event)
                continue
            written: list[Any] = []
            for due in turns.due(data_of(event)):
                written += writer.event(due)
            event = yield written
    except MALFORMED as problem:
        refuse_event(problem, due)


class InTurn:
    """When events are due on a wire with one place for several blocks of an answer. Blocks of other wires may interleave: what
    belongs to a later one waits until the one before it in this place has ended. While nothing is `waiting`, deltas need not be
    asked for: they are due when they come.

    `places` says what has one place in the wire: `all` blocks, or the `prose` (texts and reasoning); nothing where each has its own.
    """

    __slots__ = ("_open", "_places", "waiting")

    def __init__(self, places: str) -> None:
        self._places = places
        self._open: dict[int, int] = {}  # the block that has the place, by the answer
        self.waiting: dict[tuple[int, int], list[Event]] = {}

    def due(self, event: Event) -> list[Event]:
        """The events that are due when this one comes."""
        choice: int = event.get("choice") or 0
        index: int = event.get("index", -1)
        place = (choice, index)
        if place in self.waiting:
            self.waiting[place].append(event)
            return []
        match event["type"]:
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
