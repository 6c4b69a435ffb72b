"""Streams to the wire: `stream_encoder` writes the lines with which a server of this wire would have given some events."""

from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Event, Wire, data_of
from interlingua.adapters._order import longest_rising, moves_to
from interlingua.adapters._stream_writer import TEXT, Encoder, OpenBlock, Writer, encoded_in_turn, model_of
from interlingua.adapters.ollama_chat.blocks import Block
from interlingua.adapters.ollama_chat.errors import error_in_stream
from interlingua.adapters.ollama_chat.messages import message_to_wire
from interlingua.adapters.ollama_chat.responses import end_to_wire, to_wire_response
from interlingua.adapters.ollama_chat.tables import CALLS, Writing, moment
from interlingua.adapters.ollama_chat.tools import call_to_wire
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, pointer
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame

_DELTAS: Final[dict[str, Wire]] = {"text": {"content": TEXT}, "thinking": {"content": "", "thinking": TEXT}}
_PROSE: Final = frozenset(_DELTAS)
_RANKS: Final = {"thinking": 0, "image": 1, "text": 2, "tool_use": 3}
"""The members of a message in their order, by the blocks that they hold."""
_IMAGES: Final = 1
_CALLS: Final = 3
_JOINED: Final = (0, 2)


def stream_encoder(endpoint: Endpoint, *, created: int = 0) -> Encoder[Frame]:
    """The lines for events, whatever their origin: pieces of reasoning and text, whole calls, and the end.

    Only the first of several answers is written. `created` is the time that the lines bear, in seconds since 1970, unless
    the answer brings one of its own.
    """
    return encoded_in_turn(_Writer(endpoint, moment(created)).event, "all")


class _Writer(Writer):
    """The model that all lines name."""

    def __init__(self, endpoint: Endpoint, created_at: str) -> None:
        super().__init__(endpoint, _DELTAS)
        self.created_at = created_at
        self.writing = Writing({"message": {"content": []}, "provider_state": endpoint.state()}, endpoint, Loss())
        self.model: str | None = endpoint.model

    def start(self, event: Event) -> None:
        """Nothing is told of an answer that has only begun."""
        self.model = model_of(event, self.endpoint)

    def _line(self, said: Wire) -> Wire:
        line: Wire = {} if self.model is None else {"model": self.model}
        message = {"role": "assistant", **said}
        return {**line, "created_at": self.created_at, "message": message, "done": False}

    def placed(self, told: OpenBlock, said: Wire) -> tuple[str | None, Wire]:  # noqa: ARG002
        """The line of a piece."""
        return None, self._line(said)

    def piece(self, told: OpenBlock | None, text: str) -> Any:
        """The line of a piece. A block that has not begun cannot go on."""
        if told is None:
            raise KeyError("index")
        return super().piece(told, text)

    def end(self, told: OpenBlock) -> None:
        """What is no text is told whole."""
        block = told.block
        if block["type"] in _PROSE:
            return
        if block["type"] == "tool_use":
            self.say(told, {"content": "", "tool_calls": [call_to_wire(block, (), self.writing)]})
            return
        message = {"role": "assistant", "content": [block]}
        whole = message_to_wire(message, (), self.writing, answer=True)
        said: Wire = {name: whole[name] for name in ("images", "tool_calls") if name in whole}
        if said:
            self.say(told, {"content": "", **said})

    def complete(self, response: dict[str, Any]) -> None:
        """The line that ends the answer, with the members that the message has beside its content."""
        fields = self.writing.owned(response["message"]).get("fields") or NOTHING
        message = {"role": "assistant", "content": "", **fields}
        self.put(None, end_to_wire(response, self.writing, message, self.created_at))

    def fail(self, error: Error) -> None:
        """The error, as a line."""
        self.put(None, error_in_stream(error, self.endpoint))


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say: what a whole answer does not, but that pieces have nothing between them."""
    _, loss = to_wire_response(response, endpoint)
    loss = [entry for entry in loss if entry["code"] not in _TOLD_IN_LINES]
    return loss + _in_members(data_of(response)["message"]["content"], loss)


def _in_members(content: list[Block], told: list[Entry]) -> list[Entry]:
    """What becomes of the blocks of an answer in the members of the wire, whatever the order of its lines."""
    gone = {entry["path"] for entry in told if entry["op"] == "drop"}
    loss = Loss()
    members: list[list[int]] = [[], [], [], []]
    for position, block in enumerate(content):
        where: Path = ("message", "content", position)
        if pointer(where) in gone:
            continue
        if block["type"] in _PROSE and not block["text"]:
            loss.drop(where, "empty_content", "representation", "a stream has no empty pieces")
            continue
        of_calls = block["type"] == "opaque" and block.get("kind") == CALLS
        members[_CALLS if of_calls else _RANKS.get(block["type"], _IMAGES)].append(position)
    for rank in _JOINED:
        kept, *others = members[rank] or [-1]
        if others:
            message = "pieces of a stream are one text on this wire"
            whole = "".join([content[position]["text"] for position in members[rank]])
            loss.replace(("message", "content", kept, "text"), whole, "merged_turn", "representation", message)
            for position in others:
                loss.drop(("message", "content", position), "merged_turn", "representation", message)
            members[rank] = [kept]
    target = [position for member in members for position in member]
    if target != sorted(target):
        for position, to in moves_to(target, longest_rising(target), max(target) + 1):
            message = "the wire puts reasoning first, then images, then text, and calls last"
            loss.move(
                ("message", "content", position), ("message", "content", to), "reordered", "representation", message
            )
    return loss.entries


_TOLD_IN_LINES: Final = frozenset(("reordered", "merged_turn", "empty_content"))
