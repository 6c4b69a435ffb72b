"""
Streams from the wire: every chunk is a partial response, a patch to the response that the whole body would be.

Parts of plain text continue the text before them; every other part is whole, and a part with a signature stays a part
of its own. The wire has no end mark: a response is complete at the end of the input if every candidate has a finish
reason, or if the prompt was blocked.
"""

import re
from typing import Any, ClassVar, Final

from interlingua.adapters._answers.stream_reader import Answer, Blocks, Decoder, Due, Part, decoded, failed, merged
from interlingua.adapters._engine.kit import Wire, arguments_text, within
from interlingua.adapters.gemini_generate.context import MODEL, Block, Reading
from interlingua.adapters.gemini_generate.errors import error as error_from_wire
from interlingua.adapters.gemini_generate.parts import block_from_part
from interlingua.adapters.gemini_generate.responses import CANDIDATES, COUNTS, call_prefix, cite
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.wire.sse import Frame


def stream_decoder(endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> Decoder:
    """Take frames and return the events that each completes; None is the end of the input. Start it with `next`."""
    return decoded(_Answer(endpoint, ids))


_USAGE: Final = "usageMetadata"
_APART: Final = frozenset(("candidates", _USAGE))
_PLAIN: Final = frozenset(("content", "index", "safetyRatings"))
_CONTENT: Final = frozenset(("role", "parts"))
_TEXT_PART: Final = frozenset(("text", "thought"))
_NO_COUNTS: Final = frozenset(("trafficType", "serviceTier"))


class _Answer(Answer):
    """The members of the response besides its candidates, and the candidates by their index."""

    MODEL: ClassVar[str] = "modelVersion"
    IDENTITY: ClassVar[str] = "responseId"

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        super().__init__(endpoint)
        self.ids = ids

    def patch(self, data: Any, frame: Frame) -> None:
        """Apply a chunk."""
        chunk = data[0] if type(data) is list and len(data) == 1 else data
        if type(chunk) is not dict:
            raise TypeError("chunk")
        if "error" in chunk and "candidates" not in chunk:
            self.fail(error_from_wire(200, {}, chunk, self.endpoint))
            return
        for name, value in chunk.items():
            if name not in _APART:
                self.body[name] = value
        if not self.begun:
            self.start()
        part: Part | None = None
        candidates = chunk.get("candidates") or ()
        for candidate in candidates:
            index = candidate.get("index") or 0
            if type(index) is not int or index < 0:
                raise TypeError("index")
            choice: _Choice = self.choice(index)
            part = choice.take(candidate)
        if _USAGE in chunk:
            self.count(chunk[_USAGE])
            if (
                part is not None
                and len(candidates) == 1
                and 0 in self.choices
                and len(self.choices) == 1
                and chunk is data
            ):
                self.repeats(part, frame, "candidates", 0, "content", "parts", 0, "text", counted=_USAGE)

    def count(self, usage: Any) -> None:
        """Merge the counts. They are cumulative: an absent count keeps its value."""
        before: Any = self.body.get(_USAGE)
        if usage == before:
            return
        if type(before) is dict and type(usage) is dict:
            usage = merged(before, usage)
        self.body[_USAGE] = usage
        if type(usage) is dict and not within(usage, _NO_COUNTS):
            self.usage(COUNTS.read(usage, self.endpoint))

    def opened(self, number: int) -> "_Choice":
        """Return a new candidate."""
        return _Choice(number, self.due, Reading(self.endpoint, self.ids, call_prefix(self.body, number)))

    # -- the end

    def finish(self) -> None:
        """Complete the response if each candidate has a finish reason or the prompt was blocked; else cut it off."""
        feedback = self.body.get("promptFeedback")
        blocked = type(feedback) is dict and "blockReason" in feedback
        if all(choice.finished for choice in self.choices.values()) if self.choices else blocked:
            self.complete(self._response())
        else:
            self.cut_off()

    def _response(self) -> dict[str, Any]:
        choices = self.in_order()
        body = {**self.body, "candidates": [choice.candidate() for choice in choices]}
        readings = [choice.reading for choice in choices] or [Reading(self.endpoint, self.ids)]
        return CANDIDATES.read(body, readings, [choice.content for choice in choices])[0]

    def arrived(self) -> dict[str, Any] | None:
        """Return what has arrived."""
        if not self.begun:
            return None
        if self.choices and 0 not in self.choices:
            self.choices[0] = self.opened(0)  # nothing of the first answer arrived; no other may replace it
        for choice in self.choices.values():
            choice.settle()
        return failed(self._response())


class _Call(Part):
    """A call whose arguments arrive in pieces: values by path, and the paths whose text continues."""

    __slots__ = ("arguments", "open")

    def __init__(self, arguments: Wire, index: int) -> None:
        super().__init__("call", {}, index)
        self.arguments = dict(arguments)
        self.open: set[str] = set()


class _Choice(Blocks):
    """One candidate as far as it has arrived. Its last block is the current part: a text, reasoning, or a call."""

    def __init__(self, number: int, due: Due, reading: Reading) -> None:
        super().__init__(number, due)
        self.reading = reading
        self.members: Wire = {}
        self.around: Wire = {}  # the members of the content besides its parts
        self.finished = False

    def take(self, candidate: Wire) -> Part | None:
        """Apply the candidate of one chunk. Return the text that continues, if the candidate contains nothing else."""
        first = len(self.due.events)
        # a finish reason need not come last: after that of a tool which the provider ran, the answer itself follows
        for name, value in candidate.items():
            if name == "content" or name == "index":
                continue
            before = self.members.get(name)
            self.members[name] = _more(name, before, value) if type(before) is dict and type(value) is dict else value
        content: Any = candidate.get("content")
        parts: list[Wire] = []
        if type(content) is dict:
            parts = content.get("parts") or []
            if not within(content, _CONTENT):
                self.around.update({name: value for name, value in content.items() if name not in _CONTENT})
            for part in parts:
                self._part(part)
                if self.finished and part.get("text") != "":
                    self.finished = False
        if candidate.get("finishReason") is not None:
            self.finished = True
            self.pause()
            self._cite(first)
        plain = len(parts) == 1 and len(parts[0]) == 1 and within(candidate, _PLAIN) and within(content, _CONTENT)
        return self.continued("text") if plain else None

    def _part(self, part: Wire) -> None:
        if None in part.values():
            part = {name: value for name, value in part.items() if value is not None} or part
        call: Any = part.get("functionCall")
        text, current = part.get("text"), self.current
        if type(text) is str and within(part, _TEXT_PART):
            if text:
                kind = "thinking" if part.get("thought") is True else "text"
                self.grow(self.continued(kind) or self.open(kind, {"type": kind, "text": ""}), text)
        elif type(call) is dict and isinstance(current, _Call) and "name" not in call:
            self._continue(current, call)
        else:
            self.pause()
            block: Block | None = None
            if type(call) is dict and ("partialArgs" in call or call.get("willContinue") is True) and "name" in call:
                known = {name: value for name, value in call.items() if name not in ("partialArgs", "willContinue")}
                block = block_from_part({**part, "functionCall": {"args": {}, **known}}, MODEL, self.reading)
            if block is not None and block["type"] == "tool_use":
                begun = self.current = _Call(block["input"], self.begin({**block, "input": {}}))
                self._continue(begun, call)
            else:
                self.at_once(block_from_part(part, MODEL, self.reading), silent=True)

    def _continue(self, open_call: _Call, call: Wire) -> None:
        """Apply more of a call; a call that does not state that it continues is complete."""
        for piece in call.get("partialArgs") or ():
            _put(open_call, piece)
        if call.get("willContinue") is not True:
            self.pause()

    def pause(self) -> None:
        """End the current part; a call of which all arguments have arrived emits them."""
        current = self.current
        if isinstance(current, _Call) and current.arguments:
            self.more(current.index, arguments_text(current.arguments))
        super().pause()

    def read(self, part: Part) -> Block:
        """Read a text that arrived in pieces as if it were one part; a call with the arguments that have arrived."""
        if isinstance(part, _Call):
            return {**self.content[part.index], "input": part.arguments}
        raw: Wire = {"text": part.text, "thought": True} if part.kind == "thinking" else {"text": part.text}
        return block_from_part(raw, MODEL, self.reading)

    def _cite(self, first: int) -> None:
        """Add the sources to the last text, unless that text ended before they arrived."""
        blocks = list(self.content)
        last = cite(blocks, self.members, self.reading.endpoint)
        for event in self.due.events[first:]:
            if event["type"] == "block_stop" and event["index"] == last:
                self.content[last] = event["block"] = blocks[last]

    def candidate(self) -> Wire:
        """Return the candidate as a unary response has it, but without its parts."""
        return {"index": self.number, **self.members, "content": {"role": MODEL, **self.around, "parts": []}}


# ---------------------------------------------------------------------------------------------------- patches


def _more(name: str, before: Wire, value: Wire) -> Wire:
    """Merge a member of a candidate that arrives in pieces: what is absent keeps its value, some lists grow."""
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
    """Whether the indices of later supports continue the numbers of the earlier chunks."""
    had, has = before.get("groundingChunks"), value.get("groundingChunks")
    supports = value.get("groundingSupports")
    if type(had) is not list or type(has) is not list or type(supports) is not list:
        return False
    named = [index for support in supports for index in support.get("groundingChunkIndices") or ()]
    return any(type(index) is int and len(has) <= index < len(had) + len(has) for index in named)


_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_VALUES: Final = ("stringValue", "numberValue", "boolValue")


def _put(call: _Call, piece: Wire) -> None:
    """Put one value at its path; a text continues the text before it if that stated that it continues."""
    path = piece["jsonPath"]
    value = next((piece[name] for name in _VALUES if name in piece), None)
    steps = _steps(path)
    container: Any = call.arguments
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        present = _holds(container, step)
        if following is None:
            goes_on = present and path in call.open and type(value) is str and type(container[step]) is str
            container[step] = container[step] + value if goes_on else value
        elif not present:
            container[step] = [] if type(following) is int else {}
        container = container[step]
    if piece.get("willContinue") is True:
        call.open.add(path)
    else:
        call.open.discard(path)


def _holds(container: Any, step: Any) -> bool:
    """Whether there is already a value at a step; a list has room after its last value."""
    if type(step) is not int:
        return step in container
    if type(container) is not list or step > len(container):
        raise TypeError("jsonPath")
    if step < len(container):
        return True
    container.append(None)
    return False


def _steps(path: str) -> list[Any]:
    """Return the names and numbers of a path."""
    found = list(_STEP.finditer(path.removeprefix("$")))
    if not found or "".join([step[0] for step in found]) != path.removeprefix("$") or found[0][2] is not None:
        raise ValueError("jsonPath")
    return [int(step[2]) if step[2] is not None else step[1] or step[3] or step[4] or "" for step in found]
