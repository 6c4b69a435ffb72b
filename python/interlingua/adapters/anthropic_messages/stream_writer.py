"""Streams to the wire: a block ends before the next begins."""

import hashlib
from typing import Any, Final

from interlingua.adapters._answers.answers import ending
from interlingua.adapters._answers.stream_writer import FREE, TEXT, Encoder, OpenBlock, encoded, model_of
from interlingua.adapters._claude import stream_writer as claude
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._engine.kit import Event, Wire, arguments_text, response_of
from interlingua.adapters.anthropic_messages.blocks import block_to_wire
from interlingua.adapters.anthropic_messages.errors import error_in_stream
from interlingua.adapters.anthropic_messages.responses import COUNTS, to_wire_response
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, Path, pointer
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Streams an answer as this provider would, whatever its origin. Only the first of several answers is written."""
    return encoded(_Writer(endpoint), "all")


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say."""
    answer, reported, lost = claude.stream_loss(response, endpoint, to_wire_response, ("text", "thinking"))
    gone = {entry["path"] for entry in reported}
    found = Loss()
    for position, block in enumerate(answer["message"]["content"]):
        where: Path = ("message", "content", position)
        if pointer(where) in gone:
            continue
        if block["type"] not in _STREAMED:
            found.drop(where, "unsupported_block", "lost", "a stream has no form for this block")
        elif block["type"] == "thinking" and not block.get("signature") and pointer((*where, "signature")) not in gone:
            if block.get("signature") is None:
                message = "a stream begins reasoning with an empty signature"
                found.replace((*where, "signature"), "", "unsigned_thinking", "representation", message)
    return [*lost, *found.entries]


_LATE: Final = frozenset(("opaque", "redacted_thinking"))
"""Blocks that are written when they are complete."""
_STREAMED: Final = frozenset(("text", "thinking", "tool_use", *_LATE))
_DELTA: Final = ("stop_reason", "stop_sequence", "stop_details", "container")
_NOT_IN_MESSAGE_DELTA: Final = frozenset((*_DELTA, "id", "type", "role", "model", "content", "usage"))


_DELTAS: Final[dict[str, Wire]] = {
    "text": {"type": "text_delta", "text": TEXT},
    "thinking": {"type": "thinking_delta", "thinking": TEXT},
    "tool_use": {"type": "input_json_delta", "partial_json": TEXT},
}


class _Writer(claude.ClaudeWriter):
    """The message as it begins, which is held back until its usage is known or a block begins."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.writing = Writing({}, endpoint, Loss())
        super().__init__(endpoint, _DELTAS, self.writing)
        self.message: Wire | None = None
        self.open = -1  # the block of the wire that has begun and not ended

    def _put(self, kind: str, **members: Any) -> None:
        self.put(kind, {"type": kind, **members})

    # ------------------------------------------------------------------------------------------ message

    def start(self, event: Event) -> None:
        """The message, but for its usage."""
        identity = event.get("response_id")
        if identity is None:
            seed = f"{event.get('message_id', '')}\0{event.get('model') or ''}".encode()
            identity = "msg_" + hashlib.sha256(seed).hexdigest()[:24]
        self.message = {
            "id": identity,
            "type": "message",
            "role": "assistant",
            "model": model_of(event, self.endpoint) or "unknown",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }

    def usage(self, usage: dict[str, Any]) -> None:
        """What is known of the usage when the answer begins."""
        if self.message is not None:
            self.message["usage"] = COUNTS.write(usage, self.endpoint, same_origin=False)
            self._start()

    def _start(self) -> None:
        if self.begun:
            return
        self.begun = True
        if self.message is None:
            self.start({})
        self._put("message_start", message=self.message)
        self.message = None

    # ------------------------------------------------------------------------------------------ blocks

    def begin(self, open_block: OpenBlock) -> None:
        """The beginning of a block that comes in pieces; another one is written when it is complete."""
        self._start()
        block = open_block.block
        match open_block.kind:
            case "text":
                cited: Wire = {"citations": []} if "citations" in block else {}
                self._open(open_block, {"type": "text", "text": "", **cited})
            case "thinking":
                self._open(open_block, {"type": "thinking", "thinking": "", "signature": ""})
            case "tool_use":
                wire = block_to_wire({**block, "input": {}}, ASSISTANT, self.writing, ())
                self._open(open_block, {**(wire or {}), "input": {}})
                if block.get("kind", "function") != "function":
                    open_block.kind = FREE
            case _:
                open_block.number = -1

    def _open(self, open_block: OpenBlock, begun: Wire) -> None:
        if self.open >= 0:  # it was cut off, and another waited for its end
            self._put("content_block_stop", index=self.open)
        self.open = open_block.number = self.number()
        self._put("content_block_start", index=open_block.number, content_block=begun)

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """The event of a piece."""
        return "content_block_delta", {"type": "content_block_delta", "index": open_block.number, "delta": delta}

    def end(self, open_block: OpenBlock) -> None:
        """What no piece said, and the end of the block."""
        block = open_block.block
        match block["type"]:
            case _ if open_block.number < 0:
                if open_block.kind in _LATE and block["type"] in _LATE:
                    self._whole(open_block)
                return
            case "text" if block.get("citations"):
                wire = block_to_wire(block, ASSISTANT, self.writing, ()) or {}
                for citation in wire.get("citations") or ():
                    self.send(open_block, {"type": "citations_delta", "citation": citation})
            case "thinking":
                # only a signature of this wire: another provider's would come back as ours
                state, signature = block.get("provider_state"), block.get("signature")
                if signature and (state is None or self.endpoint.owns(state)):
                    self.send(open_block, {"type": "signature_delta", "signature": signature})
            case _:
                pass
        self._close(open_block)

    def _close(self, open_block: OpenBlock) -> None:
        self.open = -1
        self._put("content_block_stop", index=open_block.number)

    def _whole(self, open_block: OpenBlock) -> None:
        """A block that is written when it is complete; one that this wire cannot say is left out."""
        bare = {name: value for name, value in open_block.block.items() if name != "cache"}
        wire = block_to_wire(bare, ASSISTANT, self.writing, ())
        if wire is None:
            return
        arguments = wire.get("input") if wire["type"].endswith("_use") else None
        self._open(open_block, {**wire, "input": {}} if arguments else wire)
        if arguments:
            self.send(open_block, {"type": "input_json_delta", "partial_json": arguments_text(arguments)})
        self._close(open_block)

    # ------------------------------------------------------------------------------------------ the end

    def complete(self, response: Wire) -> None:
        """Why the answer ended, and what it took."""
        self._start()
        body, _ = to_wire_response(response_of(ending(response)), self.endpoint)
        delta = {name: body[name] for name in _DELTA if name in body}
        members = {name: value for name, value in body.items() if name not in _NOT_IN_MESSAGE_DELTA}
        self._put("message_delta", delta=delta, usage=body.get("usage") or {"output_tokens": 0}, **members)
        self._put("message_stop", **(self.writing.encoding_of(response).get("message_stop") or {}))

    def fail(self, error: Error) -> None:
        """The error."""
        if self.message is not None:
            self._start()
        self._put("error", error=error_in_stream(error, self.endpoint)["error"])
