"""Write streams: a block ends before the next begins."""

from typing import Any, Final

from interlingua.adapters._answers.stream_writer import TEXT, Encoder, OpenBlock, encoded
from interlingua.adapters._claude import stream_writer as claude
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._engine.kit import Event, Wire, arguments_text
from interlingua.adapters.bedrock_converse.errors import to_wire_exception
from interlingua.adapters.bedrock_converse.responses import ANSWERS, played_block, to_wire_response
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical import json, types
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss
from interlingua.canonical.types import Error
from interlingua.wire.eventstream import EXCEPTION, Frame


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Stream a response of any origin as this provider would. Only the first of several answers is written."""
    return encoded(_Writer(endpoint), "all")


def stream_loss(response: types.Response, endpoint: Endpoint) -> list[Entry]:
    """Report what a stream of this response does not represent."""
    return claude.stream_loss(response, endpoint, to_wire_response, ("text", "thinking", "redacted_thinking"))[2]


_STOP: Final = ("stopReason", "additionalModelResponseFields")
_DELTAS: Final[dict[str, Wire]] = {
    "text": {"text": TEXT},
    "thinking": {"reasoningContent": {"text": TEXT}},
    "tool_use": {"toolUse": {"input": TEXT}},
}
_SILENT: Final[dict[str, Wire]] = {"text": {"text": ""}, "thinking": {"reasoningContent": {"text": ""}}}
"""The first delta of an empty text or of empty reasoning."""


class _Writer(claude.ClaudeWriter):
    """Writes one response; this wire has no member for its id or its model."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.writing = Writing({}, endpoint, Loss())
        super().__init__(endpoint, _DELTAS, self.writing)

    def frame(self, name: str | None, data: str) -> Any:
        """Return the message of an event."""
        return Frame(name, data)

    # ------------------------------------------------------------------------------------------ blocks

    def start(self, event: Event) -> None:  # noqa: ARG002
        """Begin the response."""
        self.begin_message()

    def begin_message(self) -> None:
        """Write the start of the message, once."""
        if not self.message_begun:
            self.message_begun = True
            self.put("messageStart", {"role": ASSISTANT})

    def open(self, open_block: OpenBlock, begun: Wire | None) -> None:
        """Write the message that begins a block. Texts and reasoning have none: they begin with their first delta."""
        open_block.number = self.number()
        if begun is not None:
            self.put("contentBlockStart", {"start": begun, "contentBlockIndex": open_block.number})

    def close(self, open_block: OpenBlock) -> None:
        """Write the message that ends a block."""
        self.put("contentBlockStop", {"contentBlockIndex": open_block.number})

    def _wire(self, block: Event) -> Wire | None:
        return played_block(block, self.writing, ("message", "content", 0))

    def begun(self, block: Event) -> Wire | None:
        """Return the start of a call, which has its name; texts and reasoning have no start."""
        if block["type"] != "tool_use":
            return None
        wire = self._wire({**block, "input": {}}) or {}
        return {"toolUse": {name: value for name, value in wire["toolUse"].items() if name != "input"}}

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """Return the message of a delta."""
        return "contentBlockDelta", {"delta": delta, "contentBlockIndex": open_block.number}

    def rest(self, open_block: OpenBlock) -> list[Wire]:
        """Return the last deltas of a block: the citations of a text, the signature of reasoning, or an empty delta if it has no content."""
        block = open_block.block
        kind: str = block["type"]
        wire = self._wire(block) or {} if block.get("citations") or kind == "thinking" else {}
        cited = wire.get("citationsContent", {}) if kind == "text" else {}
        deltas: list[Wire] = [] if open_block.sent or cited or kind not in _SILENT else [_SILENT[kind]]
        deltas += [{"citation": citation} for citation in cited.get("citations", [])]
        signature = wire.get("reasoningContent", {}).get("reasoningText", {}).get("signature")
        if kind == "thinking" and signature is not None:
            deltas.append({"reasoningContent": {"signature": signature}})
        return deltas

    def at_once(self, block: Event) -> tuple[Wire | None, Wire | None] | None:
        """Return the start and the only delta of any other block."""
        match self._wire(block):
            case {"reasoningContent": {"redactedContent": data}}:
                return None, {"reasoningContent": {"redactedContent": data}}
            case {"toolUse": {"input": value, **use}}:
                text = value if isinstance(value, str) else arguments_text(value)
                return {"toolUse": use}, {"toolUse": {"input": text}}
            case {"toolResult": {"content": content, **result}}:
                return {"toolResult": result}, {"toolResult": content}
            case {"image": {"source": source, **image}}:
                return {"image": image}, {"image": {"source": source}}
            case {"text": text}:
                return None, {"text": text}
            case _:
                return None

    # ------------------------------------------------------------------------------------------ the end

    def complete(self, response: Wire) -> None:
        """Write the finish reason, then the usage."""
        self.begin_message()
        body = ANSWERS.end_to_wire(response, self.endpoint)
        self.put("messageStop", {name: body[name] for name in _STOP if name in body})
        rest = {name: value for name, value in body.items() if name not in _STOP and name != "output"}
        self.put("metadata", rest)

    def fail(self, error: Error) -> None:
        """Write the error as an exception."""
        name, payload = to_wire_exception(error, self.endpoint)
        self.frames.append(Frame(name, json.dumps(payload).decode(), EXCEPTION))
