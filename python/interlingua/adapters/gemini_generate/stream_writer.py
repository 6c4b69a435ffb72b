"""Streams to the wire: text in pieces, every other part whole, and the end of all candidates in the last chunk."""

from typing import Final

from interlingua.adapters._answers.answers import ending
from interlingua.adapters._answers.stream_writer import TEXT, Encoder, OpenBlock, Writer, encoded, identity_of, model_of
from interlingua.adapters._engine.kit import Event, Wire, response_of
from interlingua.adapters.gemini_generate.context import MODEL, Block, Writing
from interlingua.adapters.gemini_generate.errors import error_in_stream
from interlingua.adapters.gemini_generate.responses import ENDS, answer_id, answer_part, to_wire_response
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Loss
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Stream a response of any origin as this provider would: text in pieces, every other part whole."""
    return encoded(_Writer(endpoint), "all")


READ_BACK: Final = True
"""The pieces do not show where a text ends and another begins."""
_DELTAS: Final[dict[str, Wire]] = {"text": {"text": TEXT}, "thinking": {"text": TEXT, "thought": True}}
_PROSE: Final = frozenset(_DELTAS)


class _Writer(Writer):
    """The writer of one stream: the identity that all chunks repeat, and held texts with a signature."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, _DELTAS, several=True)
        self.identity: Wire = {}
        self.held: dict[int, Wire] = {}  # a last text with a signature is sent with the end, which has its sources

    def start(self, event: Event) -> None:
        """Store the identity. Nothing is written when a response begins."""
        if self.identity:
            return
        self.identity["modelVersion"] = model_of(event, self.endpoint) or "unknown"
        self.identity["responseId"] = identity_of(event, answer_id)

    def _chunk(self, choice: int, part: Wire) -> Wire:
        """Return a chunk of one part."""
        candidate = {"content": {"role": MODEL, "parts": [part]}, "index": choice}
        return {"candidates": [candidate], **self.identity}

    # -- blocks

    def begin(self, open_block: OpenBlock) -> None:
        """Begin a block, after writing the part that is held."""
        held = self.held.pop(open_block.choice, None)
        if held is not None:
            self.put(None, self._chunk(open_block.choice, held))
        super().begin(open_block)

    def delta(self, open_block: OpenBlock) -> Wire | None:
        """Return the part of a piece; None for a block that is not written in pieces."""
        return super().delta(open_block) if _in_pieces(open_block.begun, self.endpoint) else None

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """Return the chunk of a piece."""
        return None, self._chunk(open_block.choice, delta)

    def end(self, open_block: OpenBlock) -> None:
        """Write a block that was not written in pieces. A signature that came after them gets an empty part."""
        block = open_block.block
        if open_block.kind and block["type"] in _PROSE:
            if _in_pieces(block, self.endpoint):
                return
            block = {**block, "text": ""}
        part = self._part(block)
        if part is None:
            return
        if "text" in part:
            self.held[open_block.choice] = part
        else:
            self.put(None, self._chunk(open_block.choice, part))

    def _part(self, block: Block) -> Wire | None:
        writing = Writing({}, self.endpoint, Loss())
        state = block.get("provider_state")
        # a block of this provider is restored; a block of another origin is shown as far as possible
        writing.same_origin = self.endpoint.owns(block if block["type"] == "opaque" else state or _NOBODY)
        writing.untouched = writing.same_model = writing.same_origin
        try:
            return answer_part(block, writing, ())
        except InvalidRequest:
            return None  # no response of this wire contains such a block

    # -- the end

    def complete(self, response: Wire) -> None:
        """Write the end of all candidates, with the held parts."""
        bare = _ending(response)
        alternatives = response.get("alternatives")
        if alternatives:
            bare["alternatives"] = [_ending(choice) for choice in alternatives]
        body, _ = to_wire_response(response_of(bare), self.endpoint)
        blocked = "promptFeedback" in body
        choices = [response, *(alternatives or ())]
        if not blocked and not body.get("candidates"):  # without a candidate the stream has no end
            body["candidates"] = [{"index": 0}]
        for number, candidate in enumerate(body.get("candidates") or ()):
            if not blocked and candidate.get("finishReason") is None:  # without a finish reason the stream has no end
                candidate["finishReason"] = ENDS.words.get(choices[number]["finish_reason"], ENDS.other)
            candidate["index"] = number  # the index that its pieces had
            last = self.held.get(number, {"text": ""})
            content = candidate.get("content")
            candidate["content"] = {**(content if type(content) is dict else {"role": MODEL}), "parts": [last]}
        self.put(None, {**body, **self.identity})

    def fail(self, error: Error) -> None:
        """Write the error, after the held parts."""
        for choice, part in self.held.items():
            self.put(None, self._chunk(choice, part))
        self.put(None, error_in_stream(error, self.endpoint))


def _ending(choice: Wire) -> Wire:
    """Return the end of an answer. An answer with content ends with content, even if its prompt was blocked midway."""
    end = ending(choice)
    if choice["message"]["content"] and not end["message"]["content"]:
        end["message"]["content"] = [_SENT_TEXT]
    return end


_SENT_TEXT: Final = {"type": "text", "text": ""}  # stands for the text that was sent before


_NOBODY: Final = {"adapter": ""}


def _in_pieces(block: Block, endpoint: Endpoint) -> bool:
    """Whether a block is written as pieces of text: a block that contains more than text must stay one part."""
    if block["type"] not in _PROSE:
        return False
    state = block.get("provider_state")
    if state is None or not endpoint.owns(state):
        return True
    return not (block.get("signature") or state.get("signature") or state.get("fields"))
