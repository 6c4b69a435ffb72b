"""Streams to the wire: `stream_encoder` writes the lines that a server of this wire would send for given events."""

from typing import Any, Final

from interlingua.adapters._answers.stream_writer import (
    NO_ANSWER,
    TEXT,
    Block,
    Encoder,
    OpenBlock,
    Writer,
    encoded,
    model_of,
)
from interlingua.adapters._engine.kit import NOTHING, Event, Wire
from interlingua.adapters.ollama_chat.errors import error_in_stream
from interlingua.adapters.ollama_chat.messages import message_to_wire
from interlingua.adapters.ollama_chat.responses import ANSWERS
from interlingua.adapters.ollama_chat.tables import Writing, moment
from interlingua.adapters.ollama_chat.tools import call_to_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame

_DELTAS: Final[dict[str, Wire]] = {"text": {"content": TEXT}, "thinking": {"content": "", "thinking": TEXT}}


def stream_encoder(endpoint: Endpoint, *, created: int = 0) -> Encoder[Frame]:
    """Write the lines for events of any origin: pieces of reasoning and text, whole calls, and the end.

    Only the first of several answers is written. `created` is the time in the lines, in seconds since 1970, unless the
    response has a time of its own.
    """
    return encoded(_Writer(endpoint, created), "all")


class _Writer(Writer):
    """The writer of one stream, with the model that all lines name."""

    def __init__(self, endpoint: Endpoint, created: int) -> None:
        super().__init__(endpoint, _DELTAS)
        self.created = created
        self.created_at = moment(created)
        self.writing = Writing({**NO_ANSWER, "provider_state": endpoint.state()}, endpoint, Loss())
        self.model: str | None = endpoint.model

    def start(self, event: Event) -> None:
        """Store the model. Nothing is written when a response begins."""
        self.model = model_of(event, self.endpoint)

    def _line(self, members: Wire) -> Wire:
        line: Wire = {} if self.model is None else {"model": self.model}
        message = {"role": "assistant", **members}
        return {**line, "created_at": self.created_at, "message": message, "done": False}

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:  # noqa: ARG002
        """Return the line of a piece."""
        return None, self._line(delta)

    def at_once(self, block: Block) -> tuple[Wire | None, Wire | None] | None:
        """Return the line of a block that is not text: it is written at once."""
        if block["type"] == "tool_use":
            return None, {"content": "", "tool_calls": [call_to_wire(block, (), self.writing)]}
        message = {"role": "assistant", "content": [block]}
        written = message_to_wire(message, (), self.writing)
        members: Wire = {name: written[name] for name in ("images", "tool_calls") if name in written}
        return (None, {"content": "", **members}) if members else None

    def complete(self, response: dict[str, Any]) -> None:
        """Write the line that ends the response, with the members that the message has besides its content."""
        fields = self.writing.state_of(response["message"]).get("fields") or NOTHING
        body = ANSWERS.end_to_wire(response, self.endpoint, self.created)
        self.put(None, {**body, "message": {"role": "assistant", "content": "", **fields}})

    def fail(self, error: Error) -> None:
        """Write the error as a line."""
        self.put(None, error_in_stream(error, self.endpoint))


READ_BACK: Final = True
"""The pieces do not show where a text ends and another begins, nor the original order of the members."""
