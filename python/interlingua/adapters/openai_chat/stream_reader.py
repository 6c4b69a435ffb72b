"""
Streams from the wire: chunks are patches on the message of each choice, whatever dialect they are in.

Text and reasoning end when something else begins. Calls may interleave, and some providers go on after a finish reason:
what is open then ends with the first chunk that has no more of that choice. What comes later still opens new blocks.
The answer is not complete before `[DONE]`, because usage follows the finish.
"""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire, within
from interlingua.adapters._openai_errors import error as read_error
from interlingua.adapters._openai_errors import is_failure
from interlingua.adapters._reading import Reading
from interlingua.adapters._stream_reader import UNREADABLE, Answer, Decoder, decoded, partial
from interlingua.adapters.openai_chat.responses import COUNTS, read_response
from interlingua.adapters.openai_chat.stream_choices import Choice
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Give it frames, and None at the end of input; it gives the events that each frame completes.

    The last event is `message_complete` or `error`. An answer that breaks off is an `error` event with what had arrived.
    """
    return decoded(_Answer(endpoint, ids))


_PADDING: Final = frozenset(("choices", "usage", "obfuscation", "p", "padding", "x_groq"))
_FIRST: Final = frozenset(("id", "model", "created"))
_PLAIN_CHOICE: Final = frozenset(("index", "delta", "logprobs", "finish_reason"))


class _Answer(Answer):
    """The members of the answer around its choices, and the choices by their index."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.ids = ids
        self.reading = Reading(endpoint, ids)
        self.usage: Wire | None = None
        self.usage_emitted = True
        self.choices: dict[int, Choice] = {}
        self.unclosed: set[int] = set()  # choices that had their finish reason
        self.members: Any = None  # of the last chunk that was read in full

    def numbers(self) -> list[int]:
        """The indices of the choices that have begun."""
        return list(self.choices)

    # -- chunks

    def mark(self) -> None:
        """The end of all choices."""
        self._complete() if self.choices else self.cut_off()

    def patch(self, data: Any, frame: Frame) -> Event | None:
        """Takes a chunk."""
        if not isinstance(data, dict):
            raise TypeError("chunk")
        if frame.event is None and (event := self._word(data, frame)) is not None:
            return event
        if (failure := _failure(data, frame.event)) is not None:
            self.fail(read_error(200, {}, failure, self.endpoint))
        else:
            self._chunk(data)
        return None

    def _word(self, chunk: Wire, frame: Frame) -> Event | None:
        """The event of the chunk that most are: more of the text, and nothing else that is new."""
        # the same members as the last chunk: no error among them, no usage of its own
        if chunk.keys() != self.members or self.unclosed or self.late or chunk.get("usage") is not None:
            return None
        choices = chunk.get("choices")
        if type(choices) is not list or len(choices) != 1:
            return None
        wire = choices[0]
        delta = wire.get("delta")
        if type(delta) is not dict or len(delta) != 1 or not within(wire, _PLAIN_CHOICE):
            return None
        if wire.get("finish_reason") is not None or wire.get("logprobs") is not None:
            return None
        choice = self.choices.get(wire.get("index"))
        event = None if choice is None else choice.word(delta.get("content"))
        if event is not None and choice is not None and choice.current is not None and not choice.number:
            self.goes_on(choice.current, frame, "choices", 0, "delta", "content")
        return event

    def _chunk(self, chunk: Wire) -> None:
        self.rests()
        self.members = chunk.keys()
        body = self.body
        for name, value in chunk.items():
            if name not in _PADDING and value is not None and value != "" and not (name in _FIRST and body.get(name)):
                body[name] = value
        choices = chunk.get("choices") or ()
        if self.unclosed:
            present = [wire.get("index") for wire in choices]
            for number in sorted(self.unclosed):
                if number not in present:
                    self.choices[number].close()
                    self.unclosed.discard(number)
        for wire in choices:
            self._choice(wire)
        usage = chunk.get("usage") or _usage_elsewhere(chunk)
        if isinstance(usage, dict) and usage != self.usage:
            self.usage = usage
            self.usage_emitted = False
        if not self.unclosed:
            self._emit_usage()

    def _choice(self, wire: Wire) -> None:
        number = wire.get("index")
        number = number if type(number) is int and number >= 0 else 0
        choice = self.choices.get(number)
        if choice is None:
            reading = self.reading if number == 0 else Reading(self.endpoint, self.ids)
            self.late = self.late or number != len(self.choices)
            choice = self.choices[number] = Choice(number, self.due, reading)
            self.start(self.body.get("model"), self.body.get("id"), number)
        choice.take(wire)
        if choice.finish is not None:
            self.unclosed.add(number)

    def _emit_usage(self) -> None:
        if self.usage is not None and not self.usage_emitted:
            self.usage_emitted = True
            self.emit_usage(COUNTS.read(self.usage, self.endpoint))

    # -- the end

    def finish(self) -> None:
        """Some providers have no end mark: then it is the end when every choice has said why it ended."""
        marked = self.endpoint.dialect.get("end_mark") == "required"
        if not marked and self.choices and all(choice.finish for choice in self.choices.values()):
            self._complete()
        else:
            self.cut_off()

    def _complete(self) -> None:
        for choice in self.choices.values():
            choice.close()
        self._emit_usage()
        choices = [choice for _, choice in sorted(self.choices.items())]
        body = {**self.body, "choices": [choice.whole_choice() for choice in choices]}
        if body.get("object") == "chat.completion.chunk":
            body["object"] = "chat.completion"
        if self.usage is not None:
            body["usage"] = self.usage
        response = read_response(body, self.endpoint, DERIVED_IDS)
        for choice, answer in zip(choices, [response, *response.get("alternatives", ())], strict=True):
            choice.keep_ids(answer)
        self.complete(response, choices[0].places())

    def arrived(self) -> dict[str, Any]:
        """What had arrived; nothing where that is what cannot be read."""
        try:
            answers = [choice.arrived() for _, choice in sorted(self.choices.items())]
        except UNREADABLE:
            return partial([], self.endpoint)
        nothing = partial([], self.endpoint, self.body.get("model"), self.body.get("id"))
        first, *others = answers or [nothing]
        response = {**nothing, **first}
        if self.usage is not None:
            response["usage"] = COUNTS.read(self.usage, self.endpoint)
        if others:
            response["alternatives"] = others
        return response


def _failure(chunk: Wire, event: str | None) -> Wire | None:
    """The error that a frame tells of: beside the choices, in Groq's own member, flat, or by the name of the event."""
    if chunk.get("error"):
        return chunk
    groq = chunk.get("x_groq")
    if isinstance(groq, dict) and groq.get("error"):
        return groq
    if event == "error" or chunk.get("object") == "error":
        return chunk
    return chunk if not chunk.get("choices") and is_failure(chunk) else None


def _usage_elsewhere(chunk: Wire) -> Any:
    """The usage where some tell it: in Groq's own member, or in a choice (Moonshot)."""
    groq = chunk.get("x_groq")
    if isinstance(groq, dict) and groq.get("usage"):
        return groq["usage"]
    return next((choice["usage"] for choice in chunk.get("choices") or () if choice.get("usage")), None)
