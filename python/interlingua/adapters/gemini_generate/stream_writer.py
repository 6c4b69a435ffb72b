"""Streams to the wire: text in pieces, every other part whole, and the end of all candidates in the last chunk."""

from typing import Final

from interlingua.adapters._answers.answers import ending
from interlingua.adapters._answers.stream_writer import TEXT, Encoder, OpenBlock, Writer, encoded, model_of
from interlingua.adapters._engine.kit import Event, Wire, response_of
from interlingua.adapters.gemini_generate.context import MODEL, Block, Writing
from interlingua.adapters.gemini_generate.errors import error_in_stream
from interlingua.adapters.gemini_generate.responses import ENDS, answer_part, to_wire_response
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Loss
from interlingua.canonical.types import Error
from interlingua.wire.sse import Frame


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Streams an answer as this provider would, whatever its origin: text in pieces, every other part whole."""
    return encoded(_Writer(endpoint), "all")


READ_BACK: Final = True
"""Its pieces do not say where a text ends and another begins."""
_DELTAS: Final[dict[str, Wire]] = {"text": {"text": TEXT}, "thinking": {"text": TEXT, "thought": True}}
_PROSE: Final = frozenset(_DELTAS)


class _Writer(Writer):
    """The identity that all chunks repeat, and the texts with a signature that wait for what follows them."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, _DELTAS, several=True)
        self.identity: Wire = {}
        self.held: dict[int, Wire] = {}  # a last text with a signature goes out with the end, where its sources are

    def start(self, event: Event) -> None:
        """Nothing is told of an answer that has only begun."""
        if self.identity:
            return
        self.identity["modelVersion"] = model_of(event, self.endpoint) or "unknown"
        if identity := event.get("response_id") or event.get("message_id"):
            self.identity["responseId"] = identity

    def _chunk(self, choice: int, part: Wire) -> Wire:
        """A chunk of one part."""
        candidate = {"content": {"role": MODEL, "parts": [part]}, "index": choice}
        return {"candidates": [candidate], **self.identity}

    # -- blocks

    def begin(self, open_block: OpenBlock) -> None:
        """A block begins, behind a part that waited for it."""
        held = self.held.pop(open_block.choice, None)
        if held is not None:
            self.put(None, self._chunk(open_block.choice, held))
        super().begin(open_block)

    def delta(self, open_block: OpenBlock) -> Wire | None:
        """The part that a piece is."""
        return super().delta(open_block) if _in_pieces(open_block.begun, self.endpoint) else None

    def placed(self, open_block: OpenBlock, delta: Wire) -> tuple[str | None, Wire]:
        """The chunk of a piece."""
        return None, self._chunk(open_block.choice, delta)

    def end(self, open_block: OpenBlock) -> None:
        """What went out in pieces has been said, but for a signature that came late: that stands on an empty part."""
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
        # an answer is given as it is; what came from elsewhere is shown as far as it goes
        writing.same_origin = self.endpoint.owns(block if block["type"] == "opaque" else state or _NOBODY)
        writing.whole = writing.same_model = writing.same_origin
        try:
            return answer_part(block, writing, ())
        except InvalidRequest:
            return None  # no answer of this wire holds such a block

    # -- the end

    def complete(self, response: Wire) -> None:
        """The end of all candidates, with what waited for it."""
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
            if not blocked and candidate.get("finishReason") is None:  # without a word the stream has no end
                candidate["finishReason"] = ENDS.words.get(choices[number]["finish_reason"], ENDS.other)
            candidate["index"] = number  # as its pieces had it
            last = self.held.get(number, {"text": ""})
            content = candidate.get("content")
            candidate["content"] = {**(content if type(content) is dict else {"role": MODEL}), "parts": [last]}
        self.put(None, {**body, **self.identity})

    def fail(self, error: Error) -> None:
        """The error, behind what waited."""
        for choice, part in self.held.items():
            self.put(None, self._chunk(choice, part))
        self.put(None, error_in_stream(error, self.endpoint))


def _ending(choice: Wire) -> Wire:
    """How an answer ends. One that said anything ends as such, also where its prompt was found to be blocked midway."""
    end = ending(choice)
    if choice["message"]["content"] and not end["message"]["content"]:
        end["message"]["content"] = [_SENT_TEXT]
    return end


_SENT_TEXT: Final = {"type": "text", "text": ""}  # stands for what went out before


_NOBODY: Final = {"adapter": ""}


def _in_pieces(block: Block, endpoint: Endpoint) -> bool:
    """Whether a block goes out as pieces of text: what holds more than text must stay one part."""
    if block["type"] not in _PROSE:
        return False
    state = block.get("provider_state")
    if state is None or not endpoint.owns(state):
        return True
    return not (block.get("signature") or state.get("signature") or state.get("fields"))
