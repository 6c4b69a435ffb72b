"""Write streams: a block ends before the next begins."""

from typing import Any, Final

from interlingua.adapters._answers.stream_writer import TEXT, Encoder, OpenBlock, encoded, identity_of, model_of
from interlingua.adapters._claude import stream_writer as claude
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._engine.kit import Event, Wire, arguments_text
from interlingua.adapters.anthropic_messages.blocks import block_to_wire
from interlingua.adapters.anthropic_messages.errors import error_in_stream
from interlingua.adapters.anthropic_messages.responses import ANSWERS, COUNTS, answer_id, to_wire_response
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, pointer
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Stream a response of any origin as this provider would. Only the first of several answers is written."""
    return encoded(_Writer(endpoint), "all")


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """Report what a stream of this response does not represent."""
    answer, reported, lost = claude.stream_loss(response, endpoint, to_wire_response, ("text", "thinking"))
    gone = {entry["path"] for entry in reported}
    found = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        where: Path = ("message", "content", position)
        if pointer(where) in gone:
            continue
        if block["type"] not in _STREAMED:
            found.drop(where, "unsupported_block", "lost", "a stream cannot represent this block")
        elif block["type"] == "thinking" and not block.get("signature") and pointer((*where, "signature")) not in gone:
            if block.get("signature") is None:
                message = "a stream begins reasoning with an empty signature"
                found.replace((*where, "signature"), "", "unsigned_thinking", "representation", message)
    return [*lost, *found.entries]


_LATE: Final = frozenset(("opaque", "redacted_thinking"))
"""The blocks that are written only when they are complete."""
_STREAMED: Final = frozenset(("text", "thinking", "tool_use", *_LATE))
_DELTA: Final = ("stop_reason", "stop_sequence", "stop_details", "container")
_NOT_IN_MESSAGE_DELTA: Final = frozenset((*_DELTA, "id", "type", "role", "model", "content", "usage"))


_DELTAS: Final[dict[str, Wire]] = {
    "text": {"type": "text_delta", "text": TEXT},
    "thinking": {"type": "thinking_delta", "thinking": TEXT},
    "tool_use": {"type": "input_json_delta", "partial_json": TEXT},
}


class _Writer(claude.ClaudeWriter):
    """Writes the events. The start of the message is held back until its usage is known or a block begins."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.writing = Writing({}, endpoint, Loss())
        super().__init__(endpoint, _DELTAS, self.writing)
        self.message: Wire | None = None
        self.unclosed = -1  # the number of the wire block that has begun and not ended

    def _put(self, kind: str, **members: Any) -> None:
        self.put(kind, {"type": kind, **members})

    # ------------------------------------------------------------------------------------------ message

    def start(self, event: Event) -> None:
        """Prepare the start of the message, without its usage."""
        self.message = {
            "id": identity_of(event, answer_id),
            "type": "message",
            "role": "assistant",
            "model": model_of(event, self.endpoint) or "unknown",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def usage(self, usage: dict[str, Any]) -> None:
        """Write the start of the message with the usage that is known when the response begins."""
        if self.message is not None:
            self.message["usage"] = COUNTS.write(usage, self.endpoint, same_origin=False)
            self.begin_message()

    def begin_message(self) -> None:
        """Write the start of the message, once."""
        if self.message_begun:
            return
        self.message_begun = True
        if self.message is None:
            self.start({})
        self._put("message_start", message=self.message)
        self.message = None

    # ------------------------------------------------------------------------------------------ blocks

    def open(self, open_block: OpenBlock, begun: Wire | None) -> None:
        """Write the event that begins a block."""
        if self.unclosed >= 0:  # the block was cut off while another waited for its end
            self._put("content_block_stop", index=self.unclosed)
        self.unclosed = open_block.number = self.number()
        self._put("content_block_start", index=open_block.number, content_block=begun)

    def close(self, open_block: OpenBlock) -> None:
        """Write the event that ends a block."""
        self.unclosed = -1
        self._put("content_block_stop", index=open_block.number)

    def begun(self, block: Event) -> Wire | None:
        """Return a block that is still empty."""
        match block["type"]:
            case "text":
                return {"type": "text", "text": "", **({"citations": []} if "citations" in block else {})}
            case "thinking":
                return {"type": "thinking", "thinking": "", "signature": ""}
            case _:
                wire = self.writing.or_placeholder(block_to_wire, {**block, "input": {}}, ASSISTANT, ())
                return {**(wire or {}), "input": {}}

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """Return the event of a delta."""
        return "content_block_delta", {"type": "content_block_delta", "index": open_block.number, "delta": delta}

    def rest(self, open_block: OpenBlock) -> list[Wire]:
        """Return the last deltas of a block: the citations of a text, or the signature of reasoning. Only a signature of this wire is
        written: another provider's would later be read as one of this provider."""
        block = open_block.block
        if block["type"] == "text" and block.get("citations"):
            wire = self.writing.or_placeholder(block_to_wire, block, ASSISTANT, ()) or {}
            return [{"type": "citations_delta", "citation": citation} for citation in wire.get("citations") or ()]
        state, signature = block.get("provider_state"), block.get("signature")
        if block["type"] == "thinking" and signature and (state is None or self.endpoint.owns(state)):
            return [{"type": "signature_delta", "signature": signature}]
        return []

    def at_once(self, block: Event) -> tuple[Wire | None, Wire | None] | None:
        """Return a block of the provider that is written whole, and a delta with the input if it is a call of the provider's tool."""
        bare = {name: value for name, value in block.items() if name != "cache"}
        wire = self.writing.or_placeholder(block_to_wire, bare, ASSISTANT, ()) if block["type"] in _LATE else None
        if wire is None:
            return None
        arguments = wire.get("input") if wire["type"].endswith("_use") else None
        if not arguments:
            return wire, None
        return {**wire, "input": {}}, {"type": "input_json_delta", "partial_json": arguments_text(arguments)}

    # ------------------------------------------------------------------------------------------ the end

    def complete(self, response: Wire) -> None:
        """Write the finish reason and the usage."""
        self.begin_message()
        body = ANSWERS.end_to_wire(response, self.endpoint)
        delta = {name: body[name] for name in _DELTA if name in body}
        members = {name: value for name, value in body.items() if name not in _NOT_IN_MESSAGE_DELTA}
        self._put("message_delta", delta=delta, usage=body.get("usage") or {"output_tokens": 0}, **members)
        self._put("message_stop", **(self.writing.encoding_of(response).get("message_stop") or {}))

    def fail(self, error: Error) -> None:
        """Write the error."""
        if self.message is not None:
            self.begin_message()
        self._put("error", error=error_in_stream(error, self.endpoint)["error"])
