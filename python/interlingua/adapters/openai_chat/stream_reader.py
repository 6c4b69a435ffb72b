"""
Streams from the wire: chunks are patches to the message of each choice, in every dialect.

Text and reasoning end when something else begins. Calls may interleave, and some providers continue a choice after its
finish reason. Open blocks then end with the first chunk that has nothing more of that choice. Content that comes later
still opens new blocks. The response is not complete before `[DONE]`, because usage follows the finish reason.
"""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import UNREADABLE_FRAME, Answer, Decoder, Part, decoded
from interlingua.adapters._engine.kit import Wire, within
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._openai.errors import error as read_error
from interlingua.adapters._openai.errors import is_failure
from interlingua.adapters.openai_chat.responses import CHOICES, COUNTS
from interlingua.adapters.openai_chat.stream_choices import Choice
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Return a decoder. It takes frames, and None at the end of input; for each frame it returns the completed events.

    The last event is `message_complete` or `error`. For a response that breaks off it is an `error` event with the
    content received so far.
    """
    return decoded(_Answer(endpoint, ids))


_PADDING: Final = frozenset(("choices", "usage", "obfuscation", "p", "padding", "x_groq"))
_FIRST: Final = frozenset(("id", "model", "created"))
_PLAIN_CHOICE: Final = frozenset(("index", "delta", "logprobs", "finish_reason"))


class _Answer(Answer):
    """The members of the response around its choices, and the choices by their index."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.ids = ids
        self.counts: Wire | None = None
        self.counted = True
        self.unclosed: set[int] = set()  # choices that have received their finish reason

    # -- chunks

    def mark(self) -> None:
        """End all choices."""
        self._complete() if self.choices else self.cut_off()

    def patch(self, data: Any, frame: Frame) -> None:
        """Process a chunk."""
        if not isinstance(data, dict):
            raise TypeError("chunk")
        if (failure := _failure(data, frame.event)) is not None:
            self.fail(read_error(200, {}, failure, self.endpoint))
            return
        body = self.body
        for name, value in data.items():
            if name not in _PADDING and value is not None and value != "" and not (name in _FIRST and body.get(name)):
                body[name] = value
        choices = data.get("choices") or ()
        if self.unclosed:
            present = [wire.get("index") for wire in choices]
            for number in sorted(self.unclosed):
                if number not in present:
                    self.choices[number].close()
                    self.unclosed.discard(number)
        part: Part | None = None
        for wire in choices:
            number = wire.get("index")
            choice: Choice = self.choice(number if type(number) is int and number >= 0 else 0)
            choice.take(wire)
            part = self._going_on(choice, wire)
            if choice.finish is not None:
                self.unclosed.add(choice.number)
                self.due.repeated = None
        usage = data.get("usage")
        self.count(usage or _usage_elsewhere(data))
        if part is not None and len(choices) == 1:
            self.repeats(part, frame, "choices", 0, "delta", "content", counted="usage" if usage else "")

    def _going_on(self, choice: Choice, wire: Wire) -> Part | None:
        """Return the text that continues, if a chunk has nothing else for the first choice."""
        delta = wire.get("delta")
        if choice.number or choice.parts is not None or self.late or choice.finish is not None:
            return None
        if not isinstance(delta, dict) or not within(wire, _PLAIN_CHOICE) or wire.get("logprobs") is not None:
            return None
        for name, value in delta.items():
            if value is not None and name != "content" and name != "role":
                return None
        return choice.continued("text")

    def opened(self, number: int) -> Choice:
        """Open a choice. It has its own ids of calls."""
        return Choice(number, self.due, Reading(self.endpoint, self.ids))

    def count(self, usage: Any) -> None:
        """Take usage, which may be in any chunk. The last one counts, and is reported when no choice is about to
        end."""
        if isinstance(usage, dict) and usage != self.counts:
            self.counts = usage
            self.counted = False
        if not self.unclosed:
            self._say_usage()

    def _say_usage(self) -> None:
        if self.counts is not None and not self.counted:
            self.counted = True
            self.usage(COUNTS.read(self.counts, self.endpoint))

    # -- the end

    def finish(self) -> None:
        """Handle the end of input. Without an end mark, which some providers lack, the response is complete if every
        choice has a finish reason."""
        marked = self.endpoint.dialect.get("end_mark") == "required"
        if not marked and self.choices and all(choice.finish for choice in self.choices.values()):
            self._complete()
        else:
            self.cut_off()

    def _complete(self) -> None:
        for choice in self.choices.values():
            choice.close()
        self._say_usage()
        choices = self.in_order()
        body = {**self.body, "choices": [choice.whole_choice() for choice in choices]}
        if body.get("object") == "chat.completion.chunk":
            body["object"] = "chat.completion"
        if self.counts is not None:
            body["usage"] = self.counts
        response = CHOICES.read_whole(body, self.endpoint, lambda _, __: Reading(self.endpoint))
        for choice, answer in zip(choices, [response, *response.get("alternatives", ())], strict=True):
            choice.keep_ids(answer)
        self.complete(response, choices[0].places())

    def arrived(self) -> dict[str, Any]:
        """Return the response received so far, without choices that cannot be read."""
        response = self.partial([])
        try:
            answers = [choice.arrived() for choice in self.in_order()]
        except UNREADABLE_FRAME:
            return response
        if answers:
            response |= answers[0]
        if self.counts is not None:
            response["usage"] = COUNTS.read(self.counts, self.endpoint)
        if len(answers) > 1:
            response["alternatives"] = answers[1:]
        return response


def _failure(chunk: Wire, event: str | None) -> Wire | None:
    """Return the error of a frame: next to the choices, in Groq's own member, flat, or by the name of the event."""
    if chunk.get("error"):
        return chunk
    groq = chunk.get("x_groq")
    if isinstance(groq, dict) and groq.get("error"):
        return groq
    if event == "error" or chunk.get("object") == "error":
        return chunk
    return chunk if not chunk.get("choices") and is_failure(chunk) else None


def _usage_elsewhere(chunk: Wire) -> Any:
    """Return the usage where some providers place it: in Groq's own member, or in a choice (Moonshot)."""
    groq = chunk.get("x_groq")
    if isinstance(groq, dict) and groq.get("usage"):
        return groq["usage"]
    return next((choice["usage"] for choice in chunk.get("choices") or () if choice.get("usage")), None)
