"""Write streams: `stream_encoder` writes the events with which a server of this wire would stream a response."""

from typing import Any, Final

from interlingua.adapters._answers.answers import lost_in_pieces
from interlingua.adapters._answers.stream_writer import (
    FREE,
    NO_ANSWER,
    TEXT,
    Block,
    Encoder,
    OpenBlock,
    Writer,
    encoded,
    identity_of,
)
from interlingua.adapters._engine.kit import (
    NOTHING,
    Event,
    Wire,
    data_of,
    report_replayable_state,
    state_of,
)
from interlingua.adapters.cohere_chat.errors import error_in_stream
from interlingua.adapters.cohere_chat.messages import message_to_wire
from interlingua.adapters.cohere_chat.responses import ANSWERS, answer_id, to_wire_response
from interlingua.adapters.cohere_chat.tables import Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame

_DONE: Final = "[DONE]"
_END: Final = ("finish_reason", "usage", "logprobs")
"""The members of a response that are in its last event."""
_PROSE: Final = ("text", "thinking")
_NAMES: Final = {"content": "content", "tool_calls": "tool-call"}
"""For each member, the first part of the names of its events."""
_DELTAS: Final[dict[str, Wire]] = {
    "text": {"content": {"text": TEXT}},
    "thinking": {"content": {"thinking": TEXT}},
    "tool_use": {"tool_calls": {"function": {"arguments": TEXT}}},
}


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Write events of any origin as events of this wire. Only the first of several answers is written."""
    return encoded(_Writer(endpoint))


class _Writer(Writer):
    """Writes one answer; parts and calls are numbered."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, _DELTAS)
        self.writing = Writing({**NO_ANSWER, "provider_state": endpoint.state()}, endpoint, Loss())

    def _event(self, kind: str, index: int, **message: Any) -> None:
        delta = {"delta": {"message": message}} if message else {}
        self.put(kind, {"type": kind, "index": index, **delta})

    def start(self, event: Event) -> None:
        """Write the start of the message, which is still empty."""
        message = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
        data: Wire = {"type": "message-start", "delta": {"message": message}}
        data["id"] = identity_of(event, answer_id)
        self.put("message-start", data)

    def begun(self, block: Block) -> Wire | None:
        """Return a part or a call that is still empty."""
        if block["type"] in _PROSE:
            return {"content": {"type": block["type"], block["type"]: ""}}
        call = self._written(block)["tool_calls"][0]
        return {"tool_calls": {**call, "function": {**call["function"], "arguments": ""}}}

    def open(self, open_block: OpenBlock, begun: Wire | None) -> None:
        """Write the event that begins a part or a call."""
        for member, value in (begun or NOTHING).items():
            open_block.number = self.number(member)
            self._event(f"{_NAMES[member]}-start", open_block.number, **{member: value})

    def _written(self, block: Block) -> Wire:
        return message_to_wire({"role": "assistant", "content": [block]}, (), self.writing)

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """Return the event of a delta."""
        name = "content-delta" if open_block.kind in _PROSE else "tool-call-delta"
        return name, {"type": name, "index": open_block.number, "delta": {"message": delta}}

    def end(self, open_block: OpenBlock) -> None:
        """Write the citations of a text and its end. A part that only this provider has is written whole."""
        if open_block.kind in ("tool_use", FREE):
            self._event("tool-call-end", open_block.number)
            return
        written = self._written(open_block.block)
        if open_block.kind in _PROSE:
            for number, citation in enumerate(written.get("citations", ())):
                if "content_index" in citation:
                    citation = {**citation, "content_index": open_block.number}
                self._event("citation-start", number, citations=citation)
                self._event("citation-end", number)
            self._event("content-end", open_block.number)
            return
        for member, name in _NAMES.items():
            for whole in written.get(member) or ():
                self.open(open_block, {member: whole})
                self._event(f"{name}-end", open_block.number)

    def complete(self, response: dict[str, Any]) -> None:
        """Write the finish reason and the usage, then the `[DONE]` mark after all events."""
        body = ANSWERS.end_to_wire(response, self.endpoint)
        self.put("message-end", {"type": "message-end", "delta": {name: body[name] for name in _END if name in body}})
        self.frames.append(Frame(None, _DONE))

    def fail(self, error: Error) -> None:
        """Write the error as the last event."""
        delta = {"finish_reason": "ERROR", "error": error_in_stream(error, self.endpoint)}
        self.put("message-end", {"type": "message-end", "delta": delta})


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """Report what a stream of this response does not represent: what a whole response does not represent, except what deltas send
    verbatim, and further members of the message, which are not known yet when it begins."""
    answer, loss = data_of(response), Loss()
    fields = state_of(answer["message"], endpoint).get("fields")
    report_replayable_state({"fields": fields}, loss, ("message",), fields=True)
    return [*lost_in_pieces(to_wire_response(response, endpoint)[1], answer), *loss.entries]
