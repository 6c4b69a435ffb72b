"""
Streams both ways.

Every chunk is a partial answer. Parts of plain text continue the text before them; every other part is whole, and a part
with a signature stays a part of its own. The wire has no end mark: an answer is complete at the end of the input when
every candidate said why it finished, or when the prompt was blocked. What comes for a candidate after that is ignored.
"""

import re
from collections.abc import Generator, Iterator
from typing import Any, Final

from interlingua.adapters._answers import ending, joined
from interlingua.adapters._kit import Encoder, Wire, arguments_text, encoded_in_turn, stream_error, within
from interlingua.adapters._structured import Told
from interlingua.adapters.gemini_generate.citations import cite
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.errors import error as error_from_wire
from interlingua.adapters.gemini_generate.errors import error_in_stream
from interlingua.adapters.gemini_generate.parts import block_from_part
from interlingua.adapters.gemini_generate.responses import (
    answer_part,
    assembled,
    call_prefix,
    choice_from_wire,
    to_wire_response,
    usage_from_wire,
)
from interlingua.adapters.gemini_generate.state import MODEL, Block
from interlingua.adapters.gemini_generate.tables import FINISH_WORD, UNREADABLE
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path
from interlingua.wire.sse import Frame

Event = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Generator[list[Event], Frame | None, None]:
    """Takes frames and gives the events that each completes; None is the end of the input. Start it with `next`."""
    decoder = _Decoder(endpoint, ids)
    told = Told()
    events: list[Event] = []
    while not decoder.ended:
        frame = yield events
        events = decoder.end() if frame is None else decoder.frame(frame.data)
        if len(events) > 1 or told.begun:
            events = told.events(events)
    yield events


_CONTENT: Final = frozenset(("role", "parts"))
_TEXT_PART: Final = frozenset(("text", "thought"))
_NO_COUNTS: Final = frozenset(("trafficType", "serviceTier"))


class _Call:
    """A call whose arguments arrive in pieces: values by path."""

    def __init__(self, position: int, block: Block) -> None:
        self.position = position
        self.block = block
        self.arguments: dict[str, Any] = {}
        self.open: set[str] = set()  # paths whose text goes on


class _Choice:
    """One candidate as far as it has come."""

    def __init__(self, reading: Reading) -> None:
        self.number = -1  # in the answer, where indices may have gaps; not known before those before it have begun
        self.held: list[Event] = []  # as long as the number is not known
        self.reading = reading
        self.members: Wire = {}
        self.content: Wire = {}
        self.blocks: list[Block] = []
        self.kind: str | None = None  # text or thinking, while such a block is open
        self.texts: list[str] = []
        self.call: _Call | None = None
        self.finished = False


def _more(name: str, before: Wire, value: Wire) -> Wire:
    """A member of a candidate that came in pieces: what is absent keeps its value, and some lists go on."""
    made = {**before, **value}
    match name:
        case "groundingMetadata" if _counts_on(before, value):
            made["groundingChunks"] = [*before["groundingChunks"], *value["groundingChunks"]]
        case "logprobsResult":
            for listed in ("chosenCandidates", "topCandidates"):
                if type(had := before.get(listed)) is list and type(has := value.get(listed)) is list:
                    had += has  # there may be many: they are not copied with each chunk
                    made[listed] = had
        case "citationMetadata":
            for listed in ("citationSources", "citations"):
                if type(had := before.get(listed)) is list and type(has := value.get(listed)) is list:
                    made[listed] = [*had, *(source for source in has if source not in had)]
        case _:
            pass
    return made


def _counts_on(before: Wire, value: Wire) -> bool:
    """Whether supports that came later count the chunks on from what had been found before."""
    had, has = before.get("groundingChunks"), value.get("groundingChunks")
    supports = value.get("groundingSupports")
    if type(had) is not list or type(has) is not list or type(supports) is not list:
        return False
    named = [index for support in supports for index in support.get("groundingChunkIndices") or ()]
    return any(type(index) is int and len(has) <= index < len(had) + len(has) for index in named)


class _Decoder:
    """The state of one streamed answer."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.ids = ids
        self.body: Wire = {}
        self.choices: dict[int, _Choice] = {}
        self.numbered = 0  # choices whose place in the answer is known
        self.started = False
        self.ended = False

    def frame(self, data: str) -> list[Event]:
        """The events of one chunk."""
        try:
            chunk = json.loads(data)
        except InvalidRequest:
            # a closing [DONE] is no part of this wire, but some gateways send it
            return [] if data.strip() == "[DONE]" else self._unreadable()
        if type(chunk) is list and len(chunk) == 1:
            chunk = chunk[0]
        if type(chunk) is not dict:
            return self._unreadable()
        if "error" in chunk and "candidates" not in chunk:
            return self._failed(error_from_wire(200, {}, chunk, self.endpoint))
        try:
            return self._chunk(chunk)
        except UNREADABLE:
            return self._unreadable()

    def _chunk(self, chunk: Wire) -> list[Event]:
        candidates = chunk.get("candidates") or ()
        body, usage = self.body, None
        for name, value in chunk.items():
            if name == "usageMetadata":
                before: Any = body.get(name)
                if value != before:
                    # cumulative: what is absent keeps its value
                    if type(before) is dict and type(value) is dict:
                        value = {**before, **value}
                    body[name] = usage = value
            elif name != "candidates":
                body[name] = value
        events: list[Event] = []
        if not self.started:
            self.started = True
            events.append(self._begin())
        for candidate in candidates:
            events += self._candidate(candidate)
        if type(usage) is dict and not usage.keys() <= _NO_COUNTS:
            events.append({"type": "usage_update", "usage": usage_from_wire(usage)})
        return events

    def _begin(self) -> Event:
        event: Event = {"type": "message_start"}
        if type(model := self.body.get("modelVersion")) is str and model:
            event["model"] = self.endpoint.model_id(model) or ""
        if type(identity := self.body.get("responseId")) is str:
            event["response_id"] = identity
        return event

    def _candidate(self, candidate: Wire) -> list[Event]:
        index = candidate.get("index") or 0
        if type(index) is not int or index < 0:
            raise TypeError("index")
        choice = self.choices.get(index)
        events: list[Event] = []
        if choice is None:
            reading = Reading(self.endpoint, self.ids, call_prefix(self.body, index))
            choice = self.choices[index] = _Choice(reading)
        # a finish need not be the last: behind that of a tool which the provider ran, the answer itself follows
        for name, value in candidate.items():
            if name == "content" or name == "index":
                continue
            before = choice.members.get(name)
            if type(before) is dict and type(value) is dict:
                value = _more(name, before, value)
            choice.members[name] = value
        content = candidate.get("content")
        if type(content) is dict:
            if not within(content, _CONTENT):
                choice.content.update({name: value for name, value in content.items() if name not in _CONTENT})
            for part in content.get("parts") or ():
                if None in part.values():
                    part = {name: value for name, value in part.items() if value is not None} or part
                text = part.get("text")
                if choice.kind == "text" and len(part) == 1 and type(text) is str and text:
                    choice.texts.append(text)
                    events.append({"type": "text_delta", "index": len(choice.blocks) - 1, "text": text})
                else:
                    events += self._part(choice, part)
                if choice.finished and part.get("text") != "":
                    choice.finished = False
        if candidate.get("finishReason") is not None:
            choice.finished = True
            events += self._close(choice)
            self._cite(choice, events)
        if choice.number < 0:
            choice.held += events
            return self._due()
        return _numbered(events, choice.number)

    def _due(self, *, ended: bool = False) -> list[Event]:
        """What was held of choices whose number is known now: all before them have begun, or none of these is to come."""
        events: list[Event] = []
        for index, choice in sorted(self.choices.items()):
            if choice.number < 0 and (index == self.numbered or ended):
                choice.number = self.numbered
                self.numbered += 1
                begun = [self._begin()] if choice.number else []
                events += _numbered([*begun, *choice.held], choice.number)
                choice.held = []
        return events

    # ------------------------------------------------------------------------------------------ parts

    def _part(self, choice: _Choice, part: Wire) -> list[Event]:
        text = part.get("text")
        if type(text) is str and within(part, _TEXT_PART):
            return self._text(choice, "thinking" if part.get("thought") is True else "text", text)
        call = part.get("functionCall")
        if type(call) is dict and choice.call is not None and "name" not in call:
            return self._continue(choice, call)
        events = self._close(choice)
        if type(call) is dict and ("partialArgs" in call or call.get("willContinue") is True) and "name" in call:
            return events + self._begin_call(choice, part, call)
        return events + self._whole(choice, block_from_part(part, MODEL, choice.reading))

    def _text(self, choice: _Choice, kind: str, text: str) -> list[Event]:
        if not text:
            return []
        events: list[Event] = []
        if choice.kind != kind:
            events = self._close(choice)
            choice.kind, choice.texts = kind, []
            begun: Block = {"type": kind, "text": ""}
            choice.blocks.append(begun)
            events.append({"type": "block_start", "index": len(choice.blocks) - 1, "block": begun})
        choice.texts.append(text)
        events.append({"type": f"{kind}_delta", "index": len(choice.blocks) - 1, "text": text})
        return events

    def _close(self, choice: _Choice) -> list[Event]:
        """Ends the block that is open."""
        if choice.call is not None:
            return self._end_call(choice)
        if choice.kind is None:
            return []
        position = len(choice.blocks) - 1
        choice.blocks[position] = block = _settled(choice)
        choice.kind = None
        return [{"type": "block_stop", "index": position, "block": block}]

    def _whole(self, choice: _Choice, block: Block) -> list[Event]:
        """A part that arrived whole."""
        position = len(choice.blocks)
        choice.blocks.append(block)
        stop: Event = {"type": "block_stop", "index": position, "block": block}
        match block["type"]:
            case "text":
                begun = {**block, "text": ""}
                deltas = [{"type": "text_delta", "index": position, "text": block["text"]}] if block["text"] else []
            case "thinking":
                begun = {**block, "text": ""}
                delta: Event = {"type": "thinking_delta", "index": position, "text": block["text"]}
                if "signature" in block:
                    delta["signature"] = block["signature"]
                deltas = [delta]
            case "tool_use":
                begun = {**block, "input": {}}
                deltas = _call_events(position, block)
            case _:
                begun, deltas = block, []
        return [{"type": "block_start", "index": position, "block": begun}, *deltas, stop]

    def _cite(self, choice: _Choice, events: list[Event]) -> None:
        """Puts the sources on the last text, if it has not ended before they were named."""
        blocks = list(choice.blocks)
        last = cite(blocks, choice.members, self.endpoint)
        for event in events:
            if event["type"] == "block_stop" and event["index"] == last:
                choice.blocks[last] = event["block"] = blocks[last]

    # ------------------------------------------------------------------------------------------ arguments in pieces

    def _begin_call(self, choice: _Choice, part: Wire, call: Wire) -> list[Event]:
        known = {name: value for name, value in call.items() if name not in ("partialArgs", "willContinue")}
        block = block_from_part({**part, "functionCall": {"args": {}, **known}}, MODEL, choice.reading)
        if block["type"] != "tool_use":
            return self._whole(choice, block_from_part(part, MODEL, choice.reading))
        position = len(choice.blocks)
        choice.blocks.append(block)
        choice.call = _Call(position, block)
        choice.call.arguments = dict(block["input"])
        events: list[Event] = [
            {"type": "block_start", "index": position, "block": {**block, "input": {}}},
            {"type": "tool_use_start", "index": position, "id": block["id"], "name": block["name"]},
        ]
        return events + self._continue(choice, call)

    def _continue(self, choice: _Choice, call: Wire) -> list[Event]:
        """More of a call; one that does not say that it goes on is complete."""
        open_call = choice.call
        if open_call is None:
            raise TypeError("functionCall")
        for piece in call.get("partialArgs") or ():
            _put(open_call, piece)
        return [] if call.get("willContinue") is True else self._end_call(choice)

    def _end_call(self, choice: _Choice) -> list[Event]:
        call = choice.call
        if call is None:
            return []
        choice.call = None
        block = {**call.block, "input": call.arguments}
        choice.blocks[call.position] = block
        stop: Event = {"type": "block_stop", "index": call.position, "block": block}
        return [*_call_events(call.position, block)[1:], stop]

    # ------------------------------------------------------------------------------------------ the end

    def end(self) -> list[Event]:
        """The events at the end of the input."""
        self.ended = True
        feedback = self.body.get("promptFeedback")
        blocked = type(feedback) is dict and "blockReason" in feedback
        complete = all(choice.finished for choice in self.choices.values()) if self.choices else blocked
        if not complete:
            message = "the stream ended before the answer was complete"
            return self._failed(stream_error(self.endpoint, "stream_truncated", message, retryable=True))
        return [*self._due(ended=True), {"type": "message_complete", "response": self._response()}]

    def _response(self) -> dict[str, Any]:
        choices = [
            choice_from_wire(
                {"index": index, **choice.members, "content": {"role": MODEL, **choice.content, "parts": []}},
                choice.blocks,
                choice.number,
                self.endpoint,
            )
            for index, choice in sorted(self.choices.items())
        ]
        return assembled(self.body, choices, self.endpoint)

    def _unreadable(self) -> list[Event]:
        message = "the stream holds a frame that cannot be read"
        return self._failed(stream_error(self.endpoint, "invalid_response", message, retryable=False))

    def _failed(self, error: dict[str, Any]) -> list[Event]:
        """The error event, with what had arrived."""
        self.ended = True
        event: Event = {"type": "error", "error": error}
        if not self.started:
            return [event]
        if self.choices and 0 not in self.choices:  # nothing came of the first answer, which another must not stand for
            self.choices[0] = _Choice(Reading(self.endpoint, self.ids, call_prefix(self.body, 0)))
        due = self._due(ended=True)
        for choice in self.choices.values():
            if choice.call is not None:
                choice.blocks[choice.call.position] = {**choice.call.block, "input": choice.call.arguments}
            elif choice.kind is not None:
                choice.blocks[-1] = _settled(choice)
        try:
            response = self._response()
        except (InterlinguaError, *UNREADABLE):
            return [*due, event]
        response["finish_reason"] = "error"
        response["message"]["metadata"] = {"status": "error"}
        event["response"] = response
        return [*due, event]


def _numbered(events: list[Event], number: int) -> list[Event]:
    """The events of a choice; those of the first have no number."""
    if number:
        for event in events:
            event["choice"] = number
    return events


def _settled(choice: _Choice) -> Block:
    """The text that arrived in pieces, as one part would have been read."""
    text = "".join(choice.texts)
    part: Wire = {"text": text, "thought": True} if choice.kind == "thinking" else {"text": text}
    return block_from_part(part, MODEL, choice.reading)


def _call_events(position: int, block: Block) -> list[Event]:
    events: list[Event] = [{"type": "tool_use_start", "index": position, "id": block["id"], "name": block["name"]}]
    if block["input"]:
        text = arguments_text(block["input"])
        events.append({"type": "tool_use_input_delta", "index": position, "id": block["id"], "text": text})
    end = {"type": "tool_use_end", "index": position, "id": block["id"], "name": block["name"], "input": block["input"]}
    return [*events, end]


_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_VALUES: Final = ("stringValue", "numberValue", "boolValue", "nullValue")


def _put(call: _Call, piece: Wire) -> None:
    """Puts one value at its path; a text continues the one before it while that said so."""
    path = piece["jsonPath"]
    name = next((name for name in _VALUES if name in piece), None)
    value = None if name in (None, "nullValue") else piece[name]
    steps: list[Any] = _steps(path)
    container: Any = call.arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        last = following is None
        empty: Any = value if last else ([] if type(following) is int else {})
        if type(step) is int:
            if type(container) is not list or step > len(container):
                raise TypeError("jsonPath")
            if step == len(container):
                container.append(empty)
                continue_at = last
            else:
                continue_at = False
        else:
            continue_at = step not in container
            if continue_at:
                container[step] = empty
        if last and not continue_at:
            goes_on = path in call.open and type(value) is str and type(container[step]) is str
            container[step] = container[step] + value if goes_on else value
        container = container[step]
    if piece.get("willContinue") is True:
        call.open.add(path)
    else:
        call.open.discard(path)


def _steps(path: str) -> list[Any]:
    steps: list[Any] = []
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise ValueError("jsonPath")
        name, index, single, double = found.groups()
        steps.append(int(index) if index is not None else name if name is not None else (single or double or ""))
        at = found.end()
    if not steps or type(steps[0]) is int:
        raise ValueError("jsonPath")
    return steps


# ---------------------------------------------------------------------------------------------- to the wire


def stream_encoder(endpoint: Endpoint) -> Encoder[Frame]:
    """Streams an answer as this provider would, whatever its origin: text in pieces, every other part whole."""
    return encoded_in_turn(_Encoder(endpoint).event, "all")


def stream_loss(response: dict[str, Any], endpoint: Endpoint) -> list[Entry]:
    """What a stream of this answer does not say: what the whole answer does not, and where a text ends."""
    _, loss = to_wire_response(response, endpoint)
    found = list(loss)
    choices: list[dict[str, Any]] = [response, *(response.get("alternatives") or ())]
    for number, choice in enumerate(choices):
        path: Path = ("message", "content") if number == 0 else ("alternatives", number - 1, "message", "content")
        found += joined(choice["message"]["content"], loss, path, lambda block: _in_pieces(block, endpoint))
    return found


class _Encoder:
    """The identity that all chunks repeat, and which blocks are on their way."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.identity: Wire = {}
        self.sent: dict[tuple[int, int], int] = {}  # characters of the texts that go out in pieces
        self.held: dict[int, Wire] = {}  # a last text with a signature goes out with the end, where its sources are

    def event(self, event: Event) -> list[Frame]:
        """The frames of one event."""
        return list(self._told(event))

    def _told(self, event: Event) -> Iterator[Frame]:
        number: int = event.get("choice") or 0
        match event["type"]:
            case "message_start":
                self._identify(event)
            case "block_start" if _in_pieces(event["block"], self.endpoint):
                self.sent[number, event["index"]] = 0
            case "text_delta" | "thinking_delta" if (number, event["index"]) in self.sent:
                yield from self._more(number, event["index"], event["type"] == "thinking_delta", event["text"])
            case "block_stop":
                yield from self._stop(number, event["index"], event["block"])
            case "message_complete":
                yield self._finish(event["response"])
            case "error":
                for choice, part in self.held.items():
                    yield self._parts(choice, [part])
                yield _frame(error_in_stream(event["error"], self.endpoint))
            case _:
                pass  # calls go out whole; events of later versions

    def _identify(self, event: Event) -> None:
        if self.identity:
            return
        model = event.get("model")
        self.identity["modelVersion"] = (
            (model.partition(":")[2] or model) if model else self.endpoint.model or "unknown"
        )
        if identity := event.get("response_id") or event.get("message_id"):
            self.identity["responseId"] = identity

    def _chunk(self, number: int, part: Wire) -> Frame:
        held = self.held.pop(number, None)
        return self._parts(number, [part] if held is None else [held, part])

    def _parts(self, number: int, parts: list[Wire]) -> Frame:
        candidate = {"content": {"role": MODEL, "parts": parts}, "index": number}
        return _frame({"candidates": [candidate], **self.identity})

    def _more(self, number: int, index: int, thought: bool, text: str) -> Iterator[Frame]:
        if text:
            self.sent[number, index] += len(text)
            yield self._chunk(number, {"text": text, "thought": True} if thought else {"text": text})

    def _stop(self, number: int, index: int, block: Block) -> Iterator[Frame]:
        sent = self.sent.pop((number, index), None)
        if sent is not None and block["type"] in ("text", "thinking"):
            rest = block["text"][sent:]
            self.sent[number, index] = sent
            yield from self._more(number, index, block["type"] == "thinking", rest)
            del self.sent[number, index]
            if _in_pieces(block, self.endpoint):
                return
            block = {**block, "text": ""}  # a signature that came late stands on an empty part
        part = self._part(block)
        if part is None:
            return
        if "text" in part and number not in self.held:
            self.held[number] = part
        else:
            yield self._chunk(number, part)

    def _part(self, block: Block) -> Wire | None:
        writing = Writing({}, self.endpoint, Loss())
        state = block.get("provider_state")
        # an answer is given as it is; what came from elsewhere is shown as far as it goes
        writing.own = self.endpoint.owns(block if block["type"] == "opaque" else state or _NOBODY)
        writing.whole = writing.exact = writing.own
        try:
            return answer_part(block, writing, ())
        except InvalidRequest:
            return None  # no answer of this wire holds such a block

    def _finish(self, response: Wire) -> Frame:
        bare = _ending(response)
        alternatives = response.get("alternatives")
        if alternatives:
            bare["alternatives"] = [_ending(choice) for choice in alternatives]
        body, _ = to_wire_response(bare, self.endpoint)
        blocked = "promptFeedback" in body
        choices = [response, *(alternatives or ())]
        if not blocked and not body.get("candidates"):  # without a candidate the stream has no end
            body["candidates"] = [{"index": 0}]
        for number, candidate in enumerate(body.get("candidates") or ()):
            if not blocked and candidate.get("finishReason") is None:  # without a word the stream has no end
                candidate["finishReason"] = FINISH_WORD.get(choices[number]["finish_reason"], "OTHER")
            candidate["index"] = number  # as its pieces had it
            last = self.held.get(number, {"text": ""})
            content = candidate.get("content")
            candidate["content"] = {**(content if type(content) is dict else {"role": MODEL}), "parts": [last]}
        return _frame({**body, **self.identity})


def _ending(choice: Wire) -> Wire:
    """How an answer ends. One that said anything ends as such, also where its prompt was found to be blocked midway."""
    end = ending(choice)
    if choice["message"]["content"] and not end["message"]["content"]:
        end["message"]["content"] = [_SAID]
    return end


_SAID: Final = {"type": "text", "text": ""}  # stands for what went out before


_NOBODY: Final = {"adapter": ""}


def _in_pieces(block: Block, endpoint: Endpoint) -> bool:
    """Whether a block goes out as pieces of text: what holds more than text must stay one part."""
    if block["type"] not in ("text", "thinking"):
        return False
    state = block.get("provider_state")
    if state is None or not endpoint.owns(state):
        return True
    return not (block.get("signature") or state.get("signature") or state.get("fields"))


def _frame(value: Wire) -> Frame:
    return Frame(None, json.dumps(value).decode())
