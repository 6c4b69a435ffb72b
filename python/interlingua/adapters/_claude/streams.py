"""
Streamed answers: what their readers and writers do alike.

Reading puts the provider's own final message together, block by block, and reads each block when it ends as the unary
answer is read: the events' last block and the final response cannot differ from it.
"""

from collections.abc import Generator
from typing import Any, Final

from interlingua.adapters._answers import PROBE, SAID_IN_PIECES
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import Item
from interlingua.adapters._free_text import as_arguments
from interlingua.adapters._kit import arguments_text, stream_error
from interlingua.adapters._structured import Told
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidAnswer
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer

Event = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


class Answer:
    """The state of one streamed answer. What a frame says and what an answer is are the methods of each wire."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.reading = Reading(endpoint, ids)
        self.blocks: list[Any] = []  # those that have ended, and what is known of the others
        self.ended = False

    def frame(self, frame: Any) -> list[Event]:
        """The events of one frame."""
        raise NotImplementedError

    def arrived(self) -> Item | None:
        """The answer as far as it came; None before it began. Raises `InvalidAnswer` when it cannot be read."""
        raise NotImplementedError

    def unreadable(self) -> list[Event]:
        """The stream cannot be read on."""
        message = "the stream holds a frame that cannot be read"
        return self.failed(stream_error(self.endpoint, "invalid_response", message, retryable=False))

    def cut_off(self) -> list[Event]:
        """The stream ended too soon."""
        message = "the stream ended before its last event; try again"
        return self.failed(stream_error(self.endpoint, "stream_truncated", message, retryable=True))

    def failed(self, error: Item) -> list[Event]:
        """The error event, with what had arrived."""
        self.ended = True
        event: Event = {"type": "error", "error": error}
        try:
            response = self.arrived()
        except InvalidAnswer:
            response = None
        if response is not None:
            response["finish_reason"] = "error"
            response["message"]["metadata"] = {"status": "error"}
            event["response"] = response
        return [event]


def decoded(answer: Answer) -> Generator[list[Event], Any, None]:
    """Reads the frames of an answer that are sent, and None at their end, into the events each completes."""
    told = Told()
    events: list[Event] = []
    while (frame := (yield events)) is not None:
        events = [] if answer.ended else answer.frame(frame)
        if len(events) > 1 or told.begun:
            events = told.events(events)
    yield [] if answer.ended else told.events(answer.cut_off())


def started(position: int, block: Item) -> list[Event]:
    """The events of a block that begins, and of a call."""
    events: list[Event] = [{"type": "block_start", "index": position, "block": block}]
    if block["type"] == "tool_use":
        events.append({"type": "tool_use_start", "index": position, "id": block["id"], "name": block["name"]})
    return events


def stopped(position: int, block: Item) -> list[Event]:
    """The events of a block that ends; a call says first what it was."""
    stop: Event = {"type": "block_stop", "index": position, "block": block}
    if block["type"] != "tool_use":
        return [stop]
    end: Event = {"type": "tool_use_end", "index": position, "id": block["id"], "name": block["name"]}
    end["input"] = block["input"]
    if "input_raw" in block:
        end["input_raw"] = block["input_raw"]
    return [end, stop]


# ---------------------------------------------------------------------------------------------- to the wire


def audible(response: Item) -> Item:
    """An answer whose blank texts are none, to learn what else its stream does not say."""
    message = response["message"]
    content = [
        {**block, "text": PROBE} if block["type"] == "text" and not block["text"].strip() else block
        for block in message["content"]
    ]
    return {**response, "message": {**message, "content": content}}


def unsaid_arguments(block: Item, free: bool) -> str:
    """The arguments of a call of which nothing was said in pieces; `free` text becomes one argument."""
    arguments = as_arguments(block.get("input_raw")) if free else block["input"]
    return arguments_text(arguments) if arguments else block.get("input_raw", "")


def report_unsaid(answer: Item, told: list[Entry], bare: tuple[str, ...], endpoint: Endpoint) -> list[Entry]:
    """What a stream does not say of texts and reasoning, beside what was `told` of a whole answer: marks for the cache,
    and members without canonical meaning of the blocks of which the content goes `bare`."""
    paths = {entry["path"] for entry in told}
    loss = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        where: Path = ("message", "content", position)
        if block["type"] not in _SPOKEN or pointer(where) in paths:
            continue
        if block.get("cache") is not None and pointer((*where, "cache")) not in paths:
            loss.drop((*where, "cache"), "cache_hint", "weakened", "a stream carries no cache marks")
        state = block.get("provider_state")
        if state is not None and block["type"] in bare and endpoint.owns(state):
            for name in state.get("fields") or ():
                path = (*where, "provider_state", "fields", name)
                if pointer(path) not in paths:
                    loss.drop(path, "unsupported_field", "weakened", "a stream has no place for members of a text")
    return loss.entries


_SPOKEN: Final = ("text", "thinking", "redacted_thinking")


def not_in_pieces(told: list[Entry], answer: Item) -> list[Entry]:
    """Of what was `told` of a whole answer, what holds for its stream too: all but what pieces say as it came."""
    return [entry for entry in told if entry["code"] not in SAID_IN_PIECES or _says_nothing(entry, answer)]


def _says_nothing(entry: Entry, answer: Item) -> bool:
    """Whether the arguments that an entry is about are an empty text, of which there is no piece."""
    match entry["path"].split("/"):
        case ["", "message", "content", position, "input_raw"]:
            block: Item = answer["message"]["content"][int(position)]
            return block["input_raw"] == ""
        case _:
            return False
