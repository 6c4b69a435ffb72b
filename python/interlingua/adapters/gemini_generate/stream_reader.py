"""
Streams from the wire: every chunk is a partial answer, a patch on the answer that the whole body would be.

Parts of plain text continue the text before them; every other part is whole, and a part with a signature stays a part of
its own. The wire has no end mark: an answer is complete at the end of the input when every candidate said why it finished,
or when the prompt was blocked.
"""

import re
from typing import Any, Final

from interlingua.adapters._kit import Event, Wire, arguments_text, within
from interlingua.adapters._stream_reader import Answer, Blocks, Decoder, Due, Part, decoded, failed
from interlingua.adapters.gemini_generate.context import MODEL, Block, Reading
from interlingua.adapters.gemini_generate.errors import error as error_from_wire
from interlingua.adapters.gemini_generate.parts import block_from_part
from interlingua.adapters.gemini_generate.responses import COUNTS, assembled, call_prefix, cite
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Takes frames and gives the events that each completes; None is the end of the input. Start it with `next`."""
    return decoded(_Answer(endpoint, ids))


_CONTENT: Final = frozenset(("role", "parts"))
_TEXT_PART: Final = frozenset(("text", "thought"))
_NO_COUNTS: Final = frozenset(("trafficType", "serviceTier"))


class _Answer(Answer):
    """The members of the answer around its candidates, and the candidates by their index."""

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.ids = ids
        self.choices: dict[int, _Choice] = {}

    def numbers(self) -> list[int]:
        """The indices of the candidates that have begun."""
        return list(self.choices)

    def patch(self, data: Any, frame: Frame) -> Event | None:  # noqa: ARG002
        """Takes a chunk."""
        chunk = data[0] if type(data) is list and len(data) == 1 else data
        if type(chunk) is not dict:
            raise TypeError("chunk")
        if "error" in chunk and "candidates" not in chunk:
            self.fail(error_from_wire(200, {}, chunk, self.endpoint))
            return None
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
        if not self.begun:
            self._begin(0)
        for candidate in chunk.get("candidates") or ():
            self._candidate(candidate)
        if type(usage) is dict and not usage.keys() <= _NO_COUNTS:
            self.emit_usage(COUNTS.read(usage, self.endpoint))
        return None

    def _begin(self, index: int) -> None:
        self.start(self.body.get("modelVersion") or None, self.body.get("responseId"), index)

    def _candidate(self, candidate: Wire) -> None:
        index = candidate.get("index") or 0
        if type(index) is not int or index < 0:
            raise TypeError("index")
        choice = self.choices.get(index)
        if choice is None:
            self.late = self.late or index != len(self.choices)
            choice = self._open(index)
            if index:
                self._begin(index)
        choice.take(candidate)

    def _open(self, index: int) -> "_Choice":
        reading = Reading(self.endpoint, self.ids, call_prefix(self.body, index))
        choice = self.choices[index] = _Choice(index, self.due, reading)
        return choice

    # -- the end

    def finish(self) -> None:
        """The end of the answer, if each candidate has said why it finished."""
        feedback = self.body.get("promptFeedback")
        blocked = type(feedback) is dict and "blockReason" in feedback
        if all(choice.finished for choice in self.choices.values()) if self.choices else blocked:
            self.complete(self._response())
        else:
            self.cut_off()

    def _response(self) -> dict[str, Any]:
        choices = [choice for _, choice in sorted(self.choices.items())]
        body = {**self.body, "candidates": [choice.candidate() for choice in choices]}
        readings = [choice.reading for choice in choices] or [Reading(self.endpoint, self.ids)]
        return assembled(body, [choice.content for choice in choices], readings)

    def arrived(self) -> dict[str, Any] | None:
        """What had arrived."""
        if not self.begun:
            return None
        if self.choices and 0 not in self.choices:
            self._open(0)  # nothing came of the first answer, which another must not stand for
        for choice in self.choices.values():
            choice.settle()
        return failed(self._response())


class _Call(Part):
    """A call whose arguments arrive in pieces: values by path, and the paths whose text goes on."""

    __slots__ = ("arguments", "open")

    def __init__(self, arguments: Wire, index: int) -> None:
        super().__init__("call", {}, index)
        self.arguments = dict(arguments)
        self.open: set[str] = set()


class _Choice(Blocks):
    """One candidate as far as it has come. What is being told is its last block: a text, reasoning, or a call."""

    def __init__(self, number: int, due: Due, reading: Reading) -> None:
        super().__init__(number, due)
        self.reading = reading
        self.members: Wire = {}
        self.around: Wire = {}  # the members of the content beside its parts
        self.finished = False

    def take(self, candidate: Wire) -> None:
        """Takes the candidate of one chunk."""
        first = len(self.due.events)
        # a finish need not be the last: behind that of a tool which the provider ran, the answer itself follows
        for name, value in candidate.items():
            if name == "content" or name == "index":
                continue
            before = self.members.get(name)
            if type(before) is dict and type(value) is dict:
                value = _more(name, before, value)
            self.members[name] = value
        content = candidate.get("content")
        if type(content) is dict:
            if not within(content, _CONTENT):
                self.around.update({name: value for name, value in content.items() if name not in _CONTENT})
            for part in content.get("parts") or ():
                if None in part.values():
                    part = {name: value for name, value in part.items() if value is not None} or part
                text, current = part.get("text"), self.current
                if current is not None and current.kind == "text" and len(part) == 1 and type(text) is str and text:
                    current.pieces.append(text)  # most parts are these
                    self.emit({"type": "text_delta", "index": current.index, "text": text})
                else:
                    self._part(part)
                if self.finished and text != "":
                    self.finished = False
        if candidate.get("finishReason") is not None:
            self.finished = True
            self.pause()
            self._cite(first)

    def _part(self, part: Wire) -> None:
        text, call = part.get("text"), part.get("functionCall")
        if type(text) is str and within(part, _TEXT_PART):
            if text:
                self._append("thinking" if part.get("thought") is True else "text", text)
        elif type(call) is dict and isinstance(current := self.current, _Call) and "name" not in call:
            self._continue(current, call)
        else:
            self.pause()
            if type(call) is dict and ("partialArgs" in call or call.get("willContinue") is True) and "name" in call:
                self._begin_call(part, call)
            else:
                self._put_whole(part)

    def _append(self, kind: str, text: str) -> None:
        current = self.current
        if current is None or current.kind != kind:
            current = self.open(kind, {"type": kind, "text": ""})
        self.append(current, text)

    def _put_whole(self, part: Wire) -> None:
        block = block_from_part(part, MODEL, self.reading)
        calls = block["type"] == "tool_use" and block["input"]
        self.whole(block, arguments=arguments_text(block["input"]) if calls else "")

    def pause(self) -> None:
        """What is being told ends; a call of which all arguments have come says them."""
        current = self.current
        if isinstance(current, _Call) and current.arguments:
            self.more(current.index, arguments_text(current.arguments))
        super().pause()

    def read(self, part: Part) -> Block:
        """A text that arrived in pieces, as one part would have been read; a call with the arguments that have come."""
        if isinstance(part, _Call):
            return {**self.content[part.index], "input": part.arguments}
        raw: Wire = {"text": part.text, "thought": True} if part.kind == "thinking" else {"text": part.text}
        return block_from_part(raw, MODEL, self.reading)

    def _cite(self, first: int) -> None:
        """Puts the sources on the last text, if it has not ended before they were named."""
        blocks = list(self.content)
        last = cite(blocks, self.members, self.reading.endpoint)
        for event in self.due.events[first:]:
            if event["type"] == "block_stop" and event["index"] == last:
                self.content[last] = event["block"] = blocks[last]

    # -- arguments in pieces

    def _begin_call(self, part: Wire, call: Wire) -> None:
        known = {name: value for name, value in call.items() if name not in ("partialArgs", "willContinue")}
        block = block_from_part({**part, "functionCall": {"args": {}, **known}}, MODEL, self.reading)
        if block["type"] != "tool_use":
            self._put_whole(part)
            return
        begun = self.current = _Call(block["input"], self.begin({**block, "input": {}}))
        self._continue(begun, call)

    def _continue(self, open_call: _Call, call: Wire) -> None:
        """More of a call; one that does not say that it goes on is complete."""
        for piece in call.get("partialArgs") or ():
            _put(open_call, piece)
        if call.get("willContinue") is not True:
            self.pause()

    # -- the end

    def candidate(self) -> Wire:
        """The candidate as a unary answer has it, but for its parts."""
        return {"index": self.number, **self.members, "content": {"role": MODEL, **self.around, "parts": []}}


# ---------------------------------------------------------------------------------------------------- patches


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
