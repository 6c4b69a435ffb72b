"""
Streams: `stream_decoder` from frames to events; `encoding` is the way back.

The decoder puts together the message that a whole answer would have had, choice by choice, and gives events on the way.
Text and reasoning end when something else begins. Calls may interleave, and some providers go on after a finish reason:
what is open then ends with the first chunk that has no more of that choice. What comes later still opens new blocks.
The answer is not complete before `[DONE]`, because usage follows the finish.
"""

from collections.abc import Generator
from typing import Any, Final

from interlingua.adapters._kit import Event, Wire, within
from interlingua.adapters._structured import Told
from interlingua.adapters.openai_chat.context import Reading
from interlingua.adapters.openai_chat.errors import error_from_body, is_failure
from interlingua.adapters.openai_chat.responses import read_response, usage_from_wire
from interlingua.adapters.openai_chat.stream_choices import Choice, failed_answer
from interlingua.adapters.openai_chat.tables import NAME
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame

DONE: Final = "[DONE]"


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Event], Frame | None, None]:
    """Give it frames, and None at the end of input; it gives the events that each frame completes.

    Ends after `message_complete` or `error`. An answer that breaks off is an `error` event with what had arrived.
    """
    answer = _Answer(endpoint, ids)
    told = Told()
    frame = yield []
    while frame is not None:
        events = answer.take(frame)
        if len(events) > 1 or told.begun:
            events = told.events(events)
        frame = yield events
        if answer.ended:
            return
    yield told.events(answer.end_of_input())


_PADDING: Final = frozenset(("choices", "usage", "obfuscation", "p", "padding", "x_groq"))
_FIRST: Final = frozenset(("id", "model", "created"))
_UNREADABLE: Final = (InterlinguaError, KeyError, TypeError, AttributeError, IndexError, ValueError)
_PLAIN_CHOICE: Final = frozenset(("index", "delta", "logprobs", "finish_reason"))


class _Answer:
    """What has arrived of one answer."""

    __slots__ = (
        "_choices",
        "_held",
        "_ids",
        "_late",
        "_members",
        "_reading",
        "_unclosed",
        "_usage",
        "_usage_told",
        "_whole",
        "endpoint",
        "ended",
    )

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.ended = False
        self._ids = ids
        self._whole: Wire = {}
        self._usage: Wire | None = None
        self._usage_told = True
        self._unclosed: set[int] = set()
        self._members: Any = None  # of the last chunk that was read in full
        self._choices: dict[int, Choice] = {}
        self._late = False  # a choice began before one of a lower index
        self._held: list[Event] = []
        self._reading = Reading(endpoint, ids)

    def take(self, frame: Frame) -> list[Event]:
        """The events that a frame completes."""
        data = frame.data.strip()
        if not data:
            return []
        try:
            if data == DONE:
                return self._complete() if self._choices else self._failed("the stream ended before the answer began")
            chunk = json.loads(data)
            if not isinstance(chunk, dict):
                return self._malformed()
            if frame.event is None and (word := self._word(chunk)) is not None:
                return word
            if (failure := _failure(chunk, frame.event)) is not None:
                return self._end(error_from_body(None, {}, failure, self.endpoint))
            return self._chunk(chunk)
        except _UNREADABLE:
            return self._malformed()

    def end_of_input(self) -> list[Event]:
        """The events that the end of input brings."""
        if self.ended:
            return []
        marked = self.endpoint.dialect.get("end_mark") == "required"
        if not marked and self._choices and all(choice.finish for choice in self._choices.values()):
            try:
                return self._complete()
            except _UNREADABLE:
                return self._malformed()
        return self._failed("the stream ended before the answer did; what had arrived is in the response")

    def _word(self, chunk: Wire) -> list[Event] | None:
        """The one event of the chunk that most are: more of the text, and nothing else that is new."""
        # the same members as the last chunk: no error among them, no usage of its own
        if chunk.keys() != self._members or self._unclosed or chunk.get("usage") is not None:
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
        choice = self._choices.get(wire.get("index"))
        return None if choice is None else choice.word(delta)

    def _chunk(self, chunk: Wire) -> list[Event]:
        self._members = chunk.keys()
        events: list[Event] = []
        whole = self._whole
        for name, value in chunk.items():
            if name not in _PADDING and value is not None and value != "" and not (name in _FIRST and whole.get(name)):
                whole[name] = value
        choices = chunk.get("choices") or ()
        if self._unclosed:
            self._close_finished([wire.get("index") for wire in choices], events)
        for wire in choices:
            number = wire.get("index")
            number = number if type(number) is int and number >= 0 else 0
            choice = self._choices.get(number)
            if choice is None:
                reading = self._reading if number == 0 else Reading(self.endpoint, self._ids)
                self._late = self._late or number != len(self._choices)
                choice = self._choices[number] = Choice(number, reading)
                events.append(self._start(choice))
            choice.take(wire, events)
            if choice.finish is not None:
                self._unclosed.add(number)
        usage = chunk.get("usage") or _usage_elsewhere(chunk)
        if isinstance(usage, dict) and usage != self._usage:
            self._usage = usage
            self._usage_told = False
        if not self._usage_told and not self._unclosed:
            self._tell_usage(events)
        return self._placed(events) if self._late else events

    def _placed(self, events: list[Event], *, ended: bool = False) -> list[Event]:
        """The events with the places of their choices in the answer for numbers, since indices may have gaps.

        Those of a choice that began before one of a lower index wait for that, at the latest to the end.
        """
        self._members = None
        indices = sorted(self._choices)
        places = {index: place for place, index in enumerate(indices) if ended or index == place}
        events = [*self._held, *events]
        self._held = [event for event in events if event.get("choice", 0) not in places and not ended]
        due = [event for event in events if ended or event.get("choice", 0) in places]
        due.sort(key=lambda event: places.get(event.get("choice", 0), 0))
        self._late = len(places) < len(indices)
        for event in due:
            if place := places.get(event.pop("choice", 0), 0):
                event["choice"] = place
        return due

    def _close_finished(self, present: list[Any], events: list[Event]) -> None:
        """Ends the choices that had their finish reason, unless this chunk has more of them."""
        for number in sorted(self._unclosed):
            if number not in present:
                self._choices[number].close(events)
                self._unclosed.discard(number)

    def _tell_usage(self, events: list[Event]) -> None:
        self._usage_told = True
        if self._usage is not None:
            events.append({"type": "usage_update", "usage": usage_from_wire(self._usage, self.endpoint)})

    def _start(self, choice: Choice) -> Event:
        event: Event = {"type": "message_start"}
        if isinstance(model := self._whole.get("model"), str):
            event["model"] = self.endpoint.model_id(model)
        if isinstance(identity := self._whole.get("id"), str):
            event["response_id"] = identity
        return choice.mark(event)

    def _complete(self) -> list[Event]:
        self.ended = True
        events: list[Event] = []
        for choice in self._choices.values():
            choice.close(events)
        if not self._usage_told:
            self._tell_usage(events)
        complete: Event = {"type": "message_complete", "response": self._response()}
        if (places := self._choices[min(self._choices)].places()) is not None:
            complete["places"] = places
        if self._late:
            events = self._placed(events, ended=True)
        return [*events, complete]

    def _response(self) -> dict[str, Any]:
        choices = [self._choices[number] for number in sorted(self._choices)]
        body = {**self._whole, "choices": [choice.whole() for choice in choices]}
        if body.get("object") == "chat.completion.chunk":
            body["object"] = "chat.completion"
        if self._usage is not None:
            body["usage"] = self._usage
        response = read_response(body, self.endpoint, DERIVED_IDS)
        read = [response, *response.get("alternatives", ())]
        for choice, answer in zip(choices, read, strict=True):
            choice.settle(answer)
        return response

    def _partial(self) -> dict[str, Any]:
        """What had arrived, as a response that failed."""
        choices = [self._choices[number] for number in sorted(self._choices)]
        answers = [choice.partial() for choice in choices] or [failed_answer([])]
        response = answers[0]
        if isinstance(identity := self._whole.get("id"), str):
            response["id"] = identity
        if isinstance(model := self._whole.get("model"), str):
            response["model"] = self.endpoint.model_id(model)
        if self._usage is not None:
            response["usage"] = usage_from_wire(self._usage, self.endpoint)
        if len(answers) > 1:
            response["alternatives"] = answers[1:]
        return response

    def _failed(self, message: str) -> list[Event]:
        return self._end({"category": "stream_truncated", "message": message, "retryable": True, "adapter": NAME})

    def _malformed(self) -> list[Event]:
        message = "a frame of the stream cannot be read"
        return self._end({"category": "invalid_response", "message": message, "retryable": False, "adapter": NAME})

    def _end(self, error: dict[str, Any]) -> list[Event]:
        self.ended = True
        if self.endpoint.provider is not None:
            error.setdefault("provider", self.endpoint.provider)
        try:
            response = self._partial()
        except _UNREADABLE:  # what made the frame unreadable stands in the answer already
            response = failed_answer([])
        events = self._placed([], ended=True) if self._late else []
        return [*events, {"type": "error", "error": error, "response": response}]


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
