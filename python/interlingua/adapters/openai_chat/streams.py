"""
Streams: `stream_decoder` from frames to events; `encoding` is the way back.

The decoder puts together the message that a whole answer would have had, choice by choice, and gives events on the way.
Text and reasoning end when something else begins. Calls may interleave, and some providers go on after a finish reason:
what is open then ends with the first chunk that has no more of that choice. What comes later still opens new blocks.
The answer is not complete before `[DONE]`, because usage follows the finish.
"""

from collections.abc import Generator
from typing import Any, Final

from interlingua.adapters._kit import Wire, arguments_text, parse_arguments
from interlingua.adapters._structured import Told
from interlingua.adapters.openai_chat.citations import annotations_from_wire
from interlingua.adapters.openai_chat.context import Reading
from interlingua.adapters.openai_chat.errors import error_from_body, is_failure
from interlingua.adapters.openai_chat.parts import Block, part_from_wire
from interlingua.adapters.openai_chat.reasoning import (
    DETAILS,
    PART,
    PARTS,
    TEXTS,
    are_words,
    detail_from_wire,
    detail_text,
    summary_of,
    thinking_from_text,
    thinking_part_from_wire,
)
from interlingua.adapters.openai_chat.responses import (
    read_response,
    usage_from_wire,
)
from interlingua.adapters.openai_chat.tables import NAME
from interlingua.adapters.openai_chat.tools import call_from_wire
from interlingua.adapters.openai_chat.turns import answer_from_wire, legacy_call
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame

Event = dict[str, Any]

DONE: Final = "[DONE]"


# ---------------------------------------------------------------------------------------------------- from the wire


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
_STREAM_ONLY: Final = frozenset(("index", "delta", "message", "finish_reason", "logprobs", "usage"))


class _Answer:
    """What has arrived of one answer."""

    __slots__ = (
        "_choices",
        "_ids",
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
        self._choices: dict[int, _Choice] = {}
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
        if type(delta) is not dict or len(delta) != 1 or not wire.keys() <= _PLAIN_CHOICE:
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
                choice = self._choices[number] = _Choice(number, reading)
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
        return events

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

    def _start(self, choice: "_Choice") -> Event:
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
        answers = [choice.partial() for choice in choices] or [_failed_answer([])]
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
        return self._end({"category": "invalid_response", "message": message, "retryable": True, "adapter": NAME})

    def _end(self, error: dict[str, Any]) -> list[Event]:
        self.ended = True
        if self.endpoint.provider is not None:
            error.setdefault("provider", self.endpoint.provider)
        try:
            response = self._partial()
        except _UNREADABLE:  # what made the frame unreadable stands in the answer already
            response = _failed_answer([])
        return [{"type": "error", "error": error, "response": response}]


def _failed_answer(content: list[Block]) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "metadata": {"status": "error"}}
    return {"message": message, "finish_reason": "error"}


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


def _words(details: list[Any]) -> str:
    """All that typed details say in words."""
    return "".join(detail_text(item) for item in details if isinstance(item, dict))


def _joined_blocks(before: list[Any], blocks: list[Any]) -> list[Any]:
    """LiteLLM's thinking blocks, which come in pieces: one goes on until it has a signature."""
    joined = list(before)
    for block in blocks:
        last = joined[-1] if joined else None
        if (
            isinstance(block, dict)
            and isinstance(last, dict)
            and not last.get("signature")
            and isinstance(block.get("thinking"), str)
            and isinstance(last.get("thinking"), str)
        ):
            joined[-1] = {**last, **block, "thinking": last["thinking"] + block["thinking"]}
        else:
            joined.append(block)
    return joined


def _usage_elsewhere(chunk: Wire) -> Any:
    """The usage where some tell it: in Groq's own member, or in a choice (Moonshot)."""
    groq = chunk.get("x_groq")
    if isinstance(groq, dict) and groq.get("usage"):
        return groq["usage"]
    return next((choice["usage"] for choice in chunk.get("choices") or () if choice.get("usage")), None)


class _Call:
    """A call that is being told: its members as they came, its argument text in pieces."""

    __slots__ = (
        "arguments",
        "block",
        "canonical",
        "done",
        "extra",
        "id",
        "inner",
        "legacy",
        "number",
        "pieces",
        "text",
        "type",
    )

    def __init__(self, number: int | None, *, legacy: bool = False) -> None:
        self.number = number
        self.legacy = legacy
        self.id: str | None = None
        self.type: str | None = None
        self.inner: Wire = {}
        self.extra: Wire = {}
        self.pieces: list[str] = []
        self.arguments: dict[str, Any] | None = None
        self.text: str | None = None
        self.block: int | None = None
        self.canonical = ""
        self.done = False

    @property
    def name(self) -> str:
        """The name, once it has come."""
        return self.inner.get("name", "")

    def is_whole(self) -> bool:
        """Whether the arguments are an object already: what follows under the same index is then another call."""
        return self.arguments is not None or parse_arguments("".join(self.pieces)) is not None

    def wants_more(self) -> bool:
        """Whether the arguments have begun to be told, or have yet to begin, and are no object so far."""
        return self.arguments is None and ("".join(self.pieces).strip() == "" or not self.is_whole())

    def wire(self) -> Wire:
        """The call as a whole answer would have it."""
        text: Any = "".join(self.pieces) if self.arguments is None else self.arguments
        if self.legacy:
            return {**self.inner, "arguments": text}
        kind = "custom" if self.type == "custom" else "function"
        member = "input" if kind == "custom" else "arguments"
        call: Wire = {"type": self.type or "function", kind: {**self.inner, member: text}, **self.extra}
        if self.id is not None:
            call["id"] = self.id
        return call


_Lane = tuple[int, int]
"""Where a whole answer has a block: its member, and its number in there."""

_PLAIN: Final[_Lane] = (0, 0)
_DETAILS, _CONTENT, _REFUSAL, _IMAGES, _CALLS, _LEGACY = range(1, 7)


class _Choice:
    """One of the answers: the message so far, the blocks that have been told, and the one that is being told."""

    __slots__ = (
        "_blocks", "_calls", "_counted", "_details", "_first", "_key", "_kind", "_lanes", "_members", "_open", "_parts", "_pieces",
        "_reading", "_rest", "_said", "_worded", "finish", "logprobs", "number",
    )  # fmt: skip

    def __init__(self, number: int, reading: Reading) -> None:
        self.number = number
        self.finish: str | None = None
        self.logprobs: Wire | None = None
        self._reading = reading
        self._first = True
        self._blocks: list[Block | None] = []
        self._lanes: list[_Lane] = []
        self._kind = ""
        self._key: Any = None
        self._open = -1
        self._pieces: list[str] = []
        self._parts: list[Wire] | None = None
        self._said: dict[str, list[str]] = {}
        self._details: list[Wire] = []
        self._calls: list[_Call] = []
        self._counted: dict[int, list[_Call]] = {}  # by their numbers: an answer may hold many
        self._members: Wire = {}
        self._rest: Wire = {}
        self._worded = False  # whether typed details have said any reasoning: then plain text beside them repeats it

    def mark(self, event: Event) -> Event:
        """The event, with the number of this choice unless it is the first."""
        if self.number:
            event["choice"] = self.number
        return event

    # -- chunks

    def word(self, delta: Wire) -> list[Event] | None:
        """The event of a delta that goes on with the text that is being told; None for any other."""
        text = delta.get("content")
        if type(text) is not str or not text or self._kind != "text" or self._parts is not None:
            return None
        self._said["content"].append(text)
        self._pieces.append(text)
        event: Event = {"type": "text_delta", "index": self._open, "text": text}
        if self.number:
            event["choice"] = self.number
        return [event]

    def take(self, wire: Wire, events: list[Event]) -> None:
        """Takes the choice of one chunk."""
        delta = wire.get("delta")
        if isinstance(delta, dict):
            content = delta.get("content")
            if type(content) is str and content and len(delta) == 1 and self._parts is None:
                self._said.setdefault("content", []).append(content)
                self._text("text", content, events)
            else:
                self._delta(delta, events)
        elif isinstance(message := wire.get("message"), dict):
            self._delta(self._news(message), events)
        for name, value in wire.items():
            if name not in _STREAM_ONLY and value is not None:
                before = self._rest.get(name)
                self._rest[name] = (
                    {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
                )
        if isinstance(logprobs := wire.get("logprobs"), dict):
            self._take_logprobs(logprobs)
        finish = wire.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish = finish

    def _news(self, message: Wire) -> Wire:
        """A message that stands in the place of a delta tells all so far: what of it is new."""
        news = dict(message)
        for name in ("content", "refusal", *TEXTS):
            text, said = news.get(name), "".join(self._said.get(name, ()))
            if isinstance(text, str) and said and text.startswith(said):
                news[name] = text[len(said) :]
        for name in ("annotations", "images"):
            items, before = news.get(name), self._members.get(name)
            if isinstance(items, list) and before and items[: len(before)] == before:
                news[name] = items[len(before) :]
        details, calls = news.get(DETAILS), news.get("tool_calls")
        if isinstance(details, list) and self._worded and _words(details) == _words(self._details):
            news[DETAILS] = []
        if isinstance(calls, list) and self._calls:
            known = {call.id for call in self._calls}
            news["tool_calls"] = [call for call in calls if call.get("id") not in known]
        return news

    def _delta(self, delta: Wire, events: list[Event]) -> None:
        details = delta.get(DETAILS)
        told = False
        if isinstance(details, list):
            for item in details:
                told = self._detail(item, events) or told
        for name, value in delta.items():
            match name:
                case "reasoning_content" | "reasoning" | "reasoning_text" if isinstance(value, str):
                    if value and not told and not self._worded and not self._echoes(name, value, delta):
                        self._text("thinking", value, events, name)
                    self._said.setdefault(name, []).append(value)
                case "role":
                    self._members.setdefault("role", value)
                case "content" | "refusal" | "tool_calls" | "function_call" | "reasoning_details":
                    pass
                case "audio" if isinstance(value, dict):
                    self._audio(value)
                case "annotations" | "images" if isinstance(value, list):
                    self._members[name] = [*self._members.get(name, ()), *value]
                case "obfuscation" | "p" | "padding" | "channel":
                    pass
                case "thinking_blocks" if isinstance(value, list):
                    self._members[name] = _joined_blocks(self._members.get(name) or [], value)
                case _:
                    before = self._members.get(name)
                    if isinstance(before, dict) and isinstance(value, dict):
                        self._members[name] = {**before, **value}
                    elif value is not None:
                        self._members[name] = value
                    else:
                        self._members.setdefault(name, None)
        self._content(delta.get("content"), events)
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._said.setdefault("refusal", []).append(refusal)
            if refusal:
                self._text("refusal", refusal, events)
        elif "refusal" in delta:
            self._said.setdefault("refusal", [])
        for call in delta.get("tool_calls") or ():
            self._call(call, events)
        if isinstance(legacy := delta.get("function_call"), dict):
            self._legacy(legacy, events)

    def _echoes(self, name: str, value: str, delta: Wire) -> bool:
        """Whether the other member of plain reasoning says the same in this delta."""
        return (name == "reasoning_content" and delta.get("reasoning") == value and self._key == "reasoning") or (
            name == "reasoning" and delta.get("reasoning_content") == value
        )

    def _take_logprobs(self, logprobs: Wire) -> None:
        merged = self.logprobs = self.logprobs or {}
        for name, value in logprobs.items():
            if isinstance(value, list) and isinstance(merged.get(name), list):
                merged[name] = merged[name] + value
            elif value is not None or name not in merged:
                merged[name] = value

    def _audio(self, value: Wire) -> None:
        audio = self._members.setdefault("audio", {})
        for name, item in value.items():
            joins = name in ("data", "transcript") and isinstance(item, str) and isinstance(audio.get(name), str)
            audio[name] = audio[name] + item if joins else item

    # -- text and reasoning

    def _content(self, content: Any, events: list[Event]) -> None:
        if isinstance(content, str):
            if content and self._parts is not None:
                self._part({"type": "text", "text": content}, events)
                return
            self._said.setdefault("content", []).append(content)
            if content:
                self._text("text", content, events)
        elif isinstance(content, list):
            if self._parts is None:
                self._parts = (
                    [{"type": "text", "text": text}] if (text := "".join(self._said.get("content", ()))) else []
                )
            for part in content:
                self._part(part, events)
        elif isinstance(content, dict):
            self._members["content"] = content
            self._text("text", json.dumps(content).decode(), events)

    def _part(self, part: Wire, events: list[Event]) -> None:
        parts = self._parts = self._parts or []
        kind = part.get("type")
        last = parts[-1] if parts and parts[-1].get("type") == kind else None
        if kind == "text" and isinstance(part.get("text"), str) and len(part) == 2:
            if last is not None and len(last) == 2:
                parts[-1] = {**last, "text": last["text"] + part["text"]}
            else:
                parts.append(part)
            if part["text"]:
                self._text("text", part["text"], events)
        elif kind == "thinking" and are_words(part.get("thinking")):
            self._thinking_part(part, parts, last, events)
        elif kind == "reasoning" and (said := summary_of(part)) is not None:
            self._summary_part(part, said, parts, last, events)
        else:
            parts.append(part)
            self._end_prose(events)
            self._whole_block(part_from_wire(part, self._reading), (_CONTENT, len(parts) - 1), events)

    def _thinking_part(self, part: Wire, parts: list[Wire], last: Wire | None, events: list[Event]) -> None:
        text = "".join(piece["text"] for piece in part["thinking"])
        if last is not None and self._kind == "thinking":
            before = "".join(piece["text"] for piece in last["thinking"])
            parts[-1] = {**last, **part, "thinking": [{"type": "text", "text": before + text}]}
        else:
            parts.append({**part, "thinking": [{"type": "text", "text": text}]})
        self._text("thinking", text, events, "content")

    def _summary_part(self, part: Wire, said: Wire, parts: list[Wire], last: Wire | None, events: list[Event]) -> None:
        if last is not None and self._kind == "thinking":
            before = last["summary"][0]
            proof = said.get("signature") or before.get("signature")
            whole = {**before, "text": before["text"] + said["text"]}
            parts[-1] = {**last, **part, "summary": [whole if proof is None else {**whole, "signature": proof}]}
        else:
            parts.append(part)
        self._text("thinking", said["text"], events, PART)

    def _detail(self, item: Any, events: list[Event]) -> bool:
        """Takes an item of `reasoning_details`; whether it said any reasoning in words."""
        if not isinstance(item, dict):
            return False
        kind, number = item.get("type"), item.get("index")
        known = next(
            (n for n in range(len(self._details) - 1, -1, -1) if self._details[n].get("type") == kind
             and self._details[n].get("index") == number), None
        )  # fmt: skip
        key = (DETAILS, known)
        if (
            known is None
            or (number is None and known != len(self._details) - 1)
            or (kind != "reasoning.text" and self._key != key)
        ):
            known = len(self._details)
            self._details.append({})
        merged = self._details[known]
        for name, value in item.items():
            joins = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(merged.get(name), str)
            if joins:
                merged[name] += value
            elif value is not None or name not in merged:
                merged[name] = value
        text = item.get("text") or item.get("summary")
        match kind:
            case "reasoning.text" | "reasoning.summary" if self._repeats(text):
                self._adopt((DETAILS, known), events)
                self._worded = True
            case "reasoning.text" | "reasoning.summary":
                self._worded = self._worded or bool(text)
                if (isinstance(text, str) and text) or item.get("signature"):
                    self._text("thinking", text if isinstance(text, str) else "", events, (DETAILS, known))
            case "reasoning.encrypted":
                begun = detail_from_wire(merged, self._reading)
                if begun["type"] != "redacted_thinking":
                    begun = {"type": "redacted_thinking", "data": ""}
                self._begin("redacted", (DETAILS, known), begun, events)
            case _:
                self._end_prose(events)
                self._whole_block(detail_from_wire(merged, self._reading), (_DETAILS, known), events)
        return isinstance(text, str) and bool(text)

    def _repeats(self, text: Any) -> bool:
        """Whether a detail says all the reasoning again that had come as plain text."""
        if not text or self._worded or [lane for lane in self._lanes if lane == _PLAIN] != [_PLAIN]:
            return False
        return any(text == "".join(self._said.get(name, ())) for name in TEXTS)

    def _adopt(self, key: tuple[str, int], events: list[Event]) -> None:
        """Makes the block of plain reasoning the one of a detail, which says the same and more."""
        index = self._lanes.index(_PLAIN)
        self._lanes[index] = self._lane("thinking", key)
        if self._kind == "thinking" and self._open == index:
            self._key = key
        else:
            self._text("thinking", "", events, key)

    def _text(self, kind: str, text: str, events: list[Event], key: Any = None) -> None:
        if kind != self._kind or (key != self._key and key is not None):
            block: Block = {"type": "thinking" if kind == "thinking" else "text", "text": ""}
            if kind == "refusal":
                block["refusal"] = True
            elif kind == "thinking":
                block["provider_state"] = self._reading.state(form=self._spelling(key))
            self._begin(kind, key, block, events)
        if text:
            self._pieces.append(text)
            name = "thinking_delta" if kind == "thinking" else "text_delta"
            event: Event = {"type": name, "index": self._open, "text": text}
            if self.number:
                event["choice"] = self.number
            events.append(event)

    def _spelling(self, key: Any) -> dict[str, Any]:
        """Where reasoning stands, as it can be told when it begins."""
        if key == PART and self._parts and self._parts[-1].get("type") == "reasoning":
            return {"member": PART, "type": "reasoning"}
        if not isinstance(key, tuple):
            return {"member": key}
        kind = self._details[key[1]].get("type")
        return {"member": DETAILS} if kind == "reasoning.text" else {"member": DETAILS, "type": kind}

    def _begin(self, kind: str, key: Any, block: Block, events: list[Event]) -> None:
        if kind == self._kind and key == self._key:
            return
        self._end_prose(events)
        self._kind, self._key, self._open, self._pieces = kind, key, len(self._blocks), []
        self._blocks.append(None)
        self._lanes.append(self._lane(kind, key))
        events.append(self.mark({"type": "block_start", "index": self._open, "block": block}))

    def _lane(self, kind: str, key: Any) -> _Lane:
        if kind == "refusal":
            return _REFUSAL, 0
        if isinstance(key, tuple):
            return _DETAILS, key[1]
        if key in TEXTS:
            return _PLAIN
        return _CONTENT, max(len(self._parts or ()) - 1, 0)

    def _end_prose(self, events: list[Event]) -> None:
        """Ends the text or reasoning that is being told."""
        if not self._kind:
            return
        block = self._prose()
        index = self._open
        self._blocks[index] = block
        self._kind, self._key = "", None
        events.append(self.mark({"type": "block_stop", "index": index, "block": block}))

    def _prose(self) -> Block:
        text = "".join(self._pieces)
        match self._kind:
            case "text":
                block: Block = {"type": "text", "text": text}
                self._cite(block)
                return block
            case "refusal":
                return {"type": "text", "text": text, "refusal": True}
            case _ if isinstance(self._key, tuple):
                return detail_from_wire(self._told_detail(text), self._reading)
            case _ if self._key == "content":
                part = (self._parts or [{}])[-1]
                part = next((p for p in reversed(self._parts or ()) if p.get("type") in PARTS), part)
                read_part = thinking_part_from_wire(part, self._reading)
                return read_part or {"type": "thinking", "text": text}
            case _:
                return thinking_from_text(text, self._key, self._reading)

    def _cite(self, block: Block) -> None:
        """Puts the annotations so far on the one text of the answer."""
        if (annotations := self._members.get("annotations")) and (self._parts is None or len(self._parts) == 1):
            annotations_from_wire(annotations, [block], self._reading, {}, {})

    def _cite_late(self, events: list[Event]) -> None:
        """Annotations of a text that had ended already come as one more piece of it."""
        told = [n for n, lane in enumerate(self._lanes) if lane[0] == _CONTENT]
        last = self._blocks[told[-1]] if told else None
        if last is None or last["type"] != "text":
            return
        block: Block = {"type": "text", "text": ""}
        self._cite(block)
        if block.get("citations") != last.get("citations"):
            self._whole_block(block, self._lanes[told[-1]], events)

    def _told_detail(self, text: str) -> Wire:
        """The detail that the open block tells: its words may have been told in part by an earlier block."""
        detail = self._details[self._key[1]]
        body = "summary" if detail.get("type") == "reasoning.summary" else "text"
        return {**detail, body: text} if self._kind == "thinking" else detail

    def _whole_block(self, block: Block, lane: _Lane, events: list[Event]) -> None:
        """A block that came at once."""
        index = len(self._blocks)
        self._blocks.append(block)
        self._lanes.append(lane)
        events.append(self.mark({"type": "block_start", "index": index, "block": block}))
        events.append(self.mark({"type": "block_stop", "index": index, "block": block}))

    # -- calls

    def _call(self, wire: Wire, events: list[Event]) -> None:
        kind = "custom" if wire.get("type") == "custom" or "custom" in wire else "function"
        inner = wire.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        call = self._which(wire, inner)
        for name, value in wire.items():
            match name:
                case "id" if call.id and call.block is not None and call.wants_more():
                    pass  # some give each piece of a call an id of its own
                case "id":
                    call.id = value if isinstance(value, str) and (value or call.id is None) else call.id
                case "type":
                    call.type = value if isinstance(value, str) and value else call.type
                case "index" | "function" | "custom":
                    pass
                case _:
                    if value is not None:
                        call.extra[name] = value
        if kind == "custom":
            call.type = "custom"
        self._arguments(call, inner, inner.get("input" if kind == "custom" else "arguments"), events)

    def _legacy(self, inner: Wire, events: list[Event]) -> None:
        call = next((call for call in self._calls if call.legacy), None)
        if call is None:
            call = _Call(None, legacy=True)
            self._calls.append(call)
        self._arguments(call, inner, inner.get("arguments"), events)

    def _which(self, wire: Wire, inner: Wire) -> _Call:
        """The call that a delta belongs to: by index, by a change of id, and, where neither is told, by the name."""
        number, identity, name = wire.get("index"), wire.get("id"), inner.get("name")
        number = number if type(number) is int and number >= 0 else None
        told = self._calls if number is None else self._counted.get(number, ())
        open_calls = [call for call in told if not call.done and not call.legacy]
        if (
            number is not None and not open_calls and not identity and not name
        ):  # its beginning may not have been counted
            open_calls = [call for call in self._calls if not call.done and not call.legacy and call.number is None]
        call = open_calls[-1] if open_calls else None
        if identity:
            same = next((c for c in reversed(open_calls) if c.id == identity), None)
            if same is not None:
                return same
            if call is not None and not call.id and not (call.name and call.is_whole()):
                return call
            if call is not None and not name and call.name and call.wants_more():
                return call
        elif call is not None and not (name and call.name and (number is None or call.is_whole() or name != call.name)):
            return call
        call = _Call(number)
        self._calls.append(call)
        if number is not None:
            self._counted.setdefault(number, []).append(call)
        return call

    def _arguments(self, call: _Call, inner: Wire, arguments: Any, events: list[Event]) -> None:
        if not isinstance(inner.get("name"), (str, type(None))):
            raise TypeError("name")
        for name, value in inner.items():
            if name not in ("arguments", "input") and value is not None and not (name == "name" and not value):
                call.inner[name] = value
        began = call.block is None and bool(call.name)
        if began:
            self._begin_call(call, events)
        if isinstance(arguments, dict):
            call.arguments = arguments
            text = arguments_text(arguments)
        else:
            text = arguments if isinstance(arguments, str) else ""
            call.pieces.append(text)
        told = "".join(call.pieces) if began and call.arguments is None else text
        if told and call.block is not None:
            event = {"type": "tool_use_input_delta", "index": call.block, "id": call.canonical, "text": told}
            events.append(self.mark(event))

    def _begin_call(self, call: _Call, events: list[Event]) -> None:
        self._end_prose(events)
        call.block = len(self._blocks)
        self._blocks.append(None)
        self._lanes.append((_LEGACY if call.legacy else _CALLS, self._calls.index(call)))
        wire_id = f"function:{call.name}" if call.legacy else call.id or ""
        call.canonical = self._reading.call(wire_id, call.name)
        block: Block = {"type": "tool_use", "id": call.canonical, "name": call.name, "input": {}}
        if call.type == "custom":
            block |= {"kind": "custom", "input_raw": ""}
        if call.id is not None and not call.legacy:
            block["provider_state"] = self._reading.state(id=call.id)
        events.append(self.mark({"type": "block_start", "index": call.block, "block": block}))
        start = {"type": "tool_use_start", "index": call.block, "id": call.canonical, "name": call.name}
        events.append(self.mark(start))

    # -- the end

    def close(self, events: list[Event]) -> None:
        """Ends all blocks that are being told, and tells those that came whole."""
        self._end_prose(events)
        if "annotations" in self._members:
            self._cite_late(events)
        for number, call in enumerate(self._calls):
            if call.done:
                continue
            call.done = True
            wire = call.wire()
            if call.block is None:
                self._whole_block(call_from_wire(wire, self._reading), (_CALLS, number), events)
                continue
            block = (
                legacy_call(wire, call.canonical, self._reading)
                if call.legacy
                else call_from_wire(wire, self._reading, call.canonical)
            )
            self._blocks[call.block] = block
            end = {
                "type": "tool_use_end",
                "index": call.block,
                "id": call.canonical,
                "name": block["name"],
                "input": block["input"],
            }
            if "input_raw" in block:
                end["input_raw"] = block["input_raw"]
            events.append(self.mark(end))
            events.append(self.mark({"type": "block_stop", "index": call.block, "block": block}))
        if self._first and ("images" in self._members or "audio" in self._members):
            self._first = False
            whole: Wire = {name: self._members[name] for name in ("images", "audio") if name in self._members}
            for block in answer_from_wire({"role": "assistant", "content": None, **whole}, self._reading)["content"]:
                self._whole_block(block, (_IMAGES, len(self._blocks)), events)

    def whole(self) -> Wire:
        """The choice as a whole answer would have it."""
        message: Wire = {"role": "assistant", "content": None, **self._members}
        if self._parts is not None:
            message["content"] = self._parts
        elif "content" in self._said and not isinstance(message["content"], dict):
            message["content"] = "".join(self._said["content"]) or ("" if not self._calls else None)
        for name in TEXTS:
            if said := "".join(self._said.get(name, ())):
                message[name] = said
        if "refusal" in self._said:
            message["refusal"] = "".join(self._said["refusal"]) or None
        if self._details:
            message[DETAILS] = self._details
        calls = [call.wire() for call in self._calls if not call.legacy]
        if calls:
            message["tool_calls"] = calls
        for call in self._calls:
            if call.legacy:
                message["function_call"] = call.wire()
        choice: Wire = {"index": self.number, **self._rest, "message": message, "finish_reason": self.finish}
        choice["logprobs"] = self.logprobs
        return choice

    def settle(self, answer: dict[str, Any]) -> None:
        """Gives the calls of the answer as it was read the ids that the events told."""
        message = answer["message"]
        read: list[Block] = message["content"]
        told = self._in_members()
        if [block["type"] for block in read] != [block["type"] for block in told]:
            message["content"] = told  # the wire has no whole answer that says this
            return
        for position, block in enumerate(told):
            if block["type"] == "tool_use":
                read[position] = {**read[position], "id": block["id"]}

    def _in_members(self) -> list[Block]:
        """The blocks as they were told, in the order of a whole answer."""
        content: dict[_Lane, Block] = {}
        for lane, block in sorted(zip(self._lanes, self._blocks, strict=True), key=lambda told: told[0]):
            if block is not None:
                before = content.get(lane)
                content[lane] = block if before is None else {**before, **block, "text": before["text"] + block["text"]}
        return list(content.values())

    def places(self) -> list[int] | None:
        """Where each block stands in the message; None when that is where it was told."""
        at = {lane: place for place, lane in enumerate(sorted(set(self._lanes)))}
        places = [at[lane] for lane in self._lanes]
        return None if places == list(range(len(places))) else places

    def partial(self) -> dict[str, Any]:
        """What had arrived: a call that is not whole keeps its argument text and is not one to run.

        The wire does not say where a call ends, but behind a whole object nothing can follow.
        """
        content = list(self._blocks)
        if self._kind:
            content[self._open] = self._prose()
        for call in self._calls:
            if call.block is not None and content[call.block] is None:
                block: Block = {"type": "tool_use", "id": call.canonical, "name": call.name, "input": {}}
                if call.type == "custom":
                    block["kind"] = "custom"
                text = "".join(call.pieces)
                arguments = None if call.type == "custom" else parse_arguments(text)
                if arguments is None:
                    block["input_raw"] = text
                else:
                    block["input"] = arguments
                if call.id is not None:
                    block["provider_state"] = self._reading.state(id=call.id)
                content[call.block] = block
        answer = _failed_answer([block for block in content if block is not None])
        if self.finish is not None:
            answer["finish_reason_raw"] = self.finish
        return answer
