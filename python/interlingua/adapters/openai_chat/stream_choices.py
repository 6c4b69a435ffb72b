"""
One choice of a stream: the message received so far, in the form of a complete response, and its blocks.

At most one text or reasoning is open, and it ends when something else begins. Calls stay open next to it. A block keeps
the index under which it began. Its lane states its place in a complete response.
"""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import Blocks, Due, Lane, Part, call_so_far, failed, patch_members
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.openai_chat.parts import Block, annotations_from_wire, keep_member, part_from_wire
from interlingua.adapters.openai_chat.reasoning import (
    DETAILS,
    PART,
    TEXTS,
    are_words,
    detail_from_wire,
    summary_of,
    thinking_part_from_wire,
)
from interlingua.adapters.openai_chat.stream_calls import Calls
from interlingua.adapters.openai_chat.tables import Kept
from interlingua.adapters.openai_chat.turns import answer_from_wire
from interlingua.canonical import json

_PLAIN_LANE: Final[Lane] = (0, 0)
_DETAILS_LANE: Final = 1
_CONTENT_LANE: Final = 2
_REFUSAL_LANE: Final[Lane] = (3, 0)
_IMAGES_LANE: Final = 4
"""The lanes of a message; calls come after them."""

_AROUND: Final = frozenset(("index", "delta", "message", "finish_reason", "logprobs", "usage"))
"""Members of a choice that are not the provider's own."""
_PADDING: Final = ("obfuscation", "p", "padding", "channel")
_APART: Final = frozenset(
    (*TEXTS, *_PADDING, DETAILS, *"role content refusal tool_calls function_call audio thinking_blocks".split())
)
"""Members of a delta that are patched separately, and padding."""
_LISTS: Final = ("annotations", "images")
"""Lists that come in pieces."""
_BODIES: Final = ("text", "summary", "data", "transcript")
"""The texts of details and of audio."""


class Choice(Blocks):
    """One answer: its message received so far, its blocks, and how it ended.

    `texts` holds the pieces of each member that is text, `parts` the content when it is a list, both without the
    current part. `details` holds the typed reasoning. `worded`: the details contained reasoning text, so plain text
    next to them repeats it.
    """

    __slots__ = ("calls", "details", "finish", "logprobs", "members", "parts", "reading", "rest", "texts", "worded")

    def __init__(self, number: int, due: Due, reading: Reading) -> None:
        super().__init__(number, due)
        self.reading = reading
        self.finish: str | None = None
        self.logprobs: Wire | None = None
        self.rest: Wire = {}
        self.members: Wire = {}
        self.texts: dict[str, list[str]] = {}
        self.parts: list[Wire] | None = None
        self.details: list[Wire] = []
        self.worded = False
        self.calls = Calls(self, reading)

    # -- chunks

    def take(self, wire: Wire) -> None:
        """Process the choice of one chunk."""
        if isinstance(delta := wire.get("delta"), dict):
            self._patch(delta)
        elif isinstance(message := wire.get("message"), dict):
            self._patch(self._news(message))
        for name, value in wire.items():
            if value is not None and name not in _AROUND:
                patch_members(self.rest, {name: value})
        if isinstance(logprobs := wire.get("logprobs"), dict):
            self.logprobs = self.logprobs or {}
            patch_members(self.logprobs, logprobs, (), logprobs)
        finish = wire.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish = finish

    def _news(self, message: Wire) -> Wire:
        """Return what is new in a message that replaces a delta: it repeats everything received so far."""
        self.pause()
        known, news = self._message(), dict(message)
        for name, value in message.items():
            before = known.get(name)
            text = isinstance(value, str) and isinstance(before, str) and value.startswith(before)
            if before is not None and (text or (isinstance(value, list) and isinstance(before, list))):
                news[name] = value[len(before) :]
        return news

    def _patch(self, delta: Wire) -> None:
        """Process a delta: reasoning comes before content, a refusal after it, calls last."""
        if isinstance(details := delta.get(DETAILS), list):
            for item in details:
                if isinstance(item, dict):
                    self._patch_detail(item)
        said = ""
        for name, value in delta.items():
            if name not in TEXTS:
                continue
            if not isinstance(value, str):
                self.members.setdefault(name, value)
                continue
            if value and not self.worded and value != said:  # both members of plain reasoning may have the same text
                self._stream("thinking", _PLAIN_LANE, value, {"member": name})
                said = value
            self._add(name, value)
        self._patch_members(delta)
        self._content(delta.get("content"))
        if "refusal" in delta:
            refusal = delta["refusal"] if isinstance(delta["refusal"], str) else ""
            self._add("refusal", refusal)
            if refusal:
                self._stream("refusal", _REFUSAL_LANE, refusal)
        for call in delta.get("tool_calls") or ():
            self.calls.take(call)
        if isinstance(legacy := delta.get("function_call"), dict):
            self.calls.take_legacy(legacy)

    def _patch_members(self, delta: Wire) -> None:
        patch_members(self.members, delta, _APART, _LISTS)
        if "role" in delta:
            self.members.setdefault("role", delta["role"])
        if isinstance(sound := delta.get("audio"), dict):
            patch_members(self.members.setdefault("audio", {}), sound, (), _BODIES)
        if isinstance(blocks := delta.get("thinking_blocks"), list):
            self.members["thinking_blocks"] = _joined_blocks(self.members.get("thinking_blocks") or [], blocks)

    def _add(self, name: str, text: str) -> None:
        self.texts.setdefault(name, []).append(text)

    def _text(self, name: str) -> str:
        """Return the whole text of a member."""
        return "".join(self.texts.get(name, ()))

    # -- text and reasoning

    def _stream(self, kind: str, lane: Lane, text: str, encoding: Wire | None = None) -> None:
        """Stream text, a refusal or reasoning: add to the current part, or begin another block."""
        part = self.continued(kind, lane)
        if part is not None and encoding is not None and lane == _PLAIN_LANE and part.raw != encoding:
            part = None
        if part is None:
            block: Block = {"type": "thinking" if kind == "thinking" else "text", "text": ""}
            if kind == "refusal":
                block["refusal"] = True
            elif encoding is not None:
                block["provider_state"] = self.reading.state(encoding=encoding)
            part = self.open(kind, block, lane, lane)
            part.raw = encoding or {}
        self.grow(part, text)

    def pause(self) -> None:
        """End the current part and store it in its member."""
        part = self.current
        if part is not None and part.key[0] == _CONTENT_LANE:
            if self.parts is None:
                self._add("content", part.text)
            else:
                self.parts[part.key[1]] = _with_words(self.parts[part.key[1]], part.text)
        super().pause()

    def read(self, part: Part) -> Block:
        """Return the block of the current part, read as in a complete response that ends here."""
        member, number = part.key
        block = super().read(part)
        if part.kind == "text":
            self._cite(block)
        elif member == _DETAILS_LANE:
            detail = self.details[number]
            if part.kind == "thinking":  # an earlier block may have some of its text
                detail = {**detail, "summary" if detail.get("type") == "reasoning.summary" else "text": part.text}
            return detail_from_wire(detail, self.reading)
        elif member == _CONTENT_LANE and self.parts is not None:
            return thinking_part_from_wire(_with_words(self.parts[number], part.text), self.reading) or block
        return block

    def _cite(self, block: Block) -> None:
        """Put the annotations received so far on the only text of the answer."""
        if (annotations := self.members.get("annotations")) and (self.parts is None or len(self.parts) == 1):
            annotations_from_wire(annotations, [block], self.reading, Kept())

    # -- content

    def _content(self, content: Any) -> None:
        """Process a piece of `content`: text, parts, or an object."""
        if isinstance(content, str):
            if self.parts is None:
                self._add("content", "")
                if content:
                    self._stream("text", (_CONTENT_LANE, 0), content)
            elif content:
                self._part({"type": "text", "text": content}, self.parts)
        elif isinstance(content, list):
            if self.parts is None:
                text, current = self._text("content"), self.continued("text")
                self.parts = [{"type": "text", "text": text}] if text or current is not None else []
            for part in content:
                self._part(part, self.parts)
        elif isinstance(content, dict):
            self.members["content"] = content
            self._stream("text", (_CONTENT_LANE, 0), json.dumps(content).decode())

    def _part(self, part: Wire, parts: list[Wire]) -> None:
        """Process a part of the content. Text continues the part before it; any other part is complete."""
        kind = part.get("type")
        last = parts[-1] if parts and parts[-1].get("type") == kind else None
        if kind == "text" and isinstance(part.get("text"), str) and len(part) == 2:
            if last is None or len(last) > 2:
                parts.append({**part, "text": ""})
            if part["text"]:
                self._stream("text", (_CONTENT_LANE, len(parts) - 1), part["text"])
        elif kind == "thinking" and are_words(part.get("thinking")):
            self._think("".join([piece["text"] for piece in part["thinking"]]), part, last, parts)
        elif kind == "reasoning" and (summary := summary_of(part)) is not None:
            if summary.get("signature") is None and last is not None:  # its signature comes once
                part = {**part, "summary": last["summary"]}
            self._think(summary["text"], part, last, parts)
        else:
            self.pause()
            parts.append(part)
            block = keep_member(part_from_wire(part, self.reading), PART, self.reading)
            self.at_once(block, (_CONTENT_LANE, len(parts) - 1))

    def _think(self, text: str, part: Wire, last: Wire | None, parts: list[Wire]) -> None:
        """Process a part of plain-text reasoning."""
        if last is None or self.continued("thinking", (_CONTENT_LANE, len(parts) - 1)) is None:
            self.pause()
            parts.append(part)
        else:
            parts[-1] = {**last, **part}
        encoding: Wire = {"member": PART, "type": "reasoning"} if part["type"] == "reasoning" else {"member": PART}
        self._stream("thinking", (_CONTENT_LANE, len(parts) - 1), text, encoding)

    # -- typed reasoning

    def _patch_detail(self, item: Wire) -> None:
        """Process an item of `reasoning_details`."""
        number = self._which_detail(item)
        detail, lane = self.details[number], (_DETAILS_LANE, number)
        patch_members(detail, item, (), _BODIES)
        kind, text = item.get("type"), item.get("text") or item.get("summary")
        text = text if isinstance(text, str) else ""
        encoding: Wire = {"member": DETAILS} if kind == "reasoning.text" else {"member": DETAILS, "type": kind}
        if kind in ("reasoning.text", "reasoning.summary"):
            if self._repeats(text):
                self._adopt(lane, encoding)
            elif text or item.get("signature"):
                self._stream("thinking", lane, text, encoding)
            self.worded = self.worded or bool(text)
        elif kind == "reasoning.encrypted":
            begun = detail_from_wire(detail, self.reading)
            if begun["type"] != "redacted_thinking":
                begun = {"type": "redacted_thinking", "data": ""}
            if self.continued("redacted", lane) is None:
                self.open("redacted", begun, lane, lane)
        else:
            self.pause()
            self.at_once(detail_from_wire(detail, self.reading), lane)

    def _which_detail(self, item: Wire) -> int:
        """Return the number of the detail that an item continues, or of a new one."""
        kind, index = item.get("type"), item.get("index")
        for number in range(len(self.details) - 1, -1, -1):
            if self.details[number].get("type") == kind and self.details[number].get("index") == index:
                # without an index only the last one continues; types other than text continue only as the current part
                last = index is not None or number == len(self.details) - 1
                current = self.current is not None and self.current.key == (_DETAILS_LANE, number)
                if last and (kind == "reasoning.text" or current):
                    return number
                break
        self.details.append({})
        return len(self.details) - 1

    def _repeats(self, text: str) -> bool:
        """Whether a detail repeats all the reasoning that came as plain text, in one block."""
        if not text or self.worded or self.lanes.count(_PLAIN_LANE) != 1:
            return False
        return any(text == self._text(name) for name in TEXTS)

    def _adopt(self, lane: Lane, encoding: Wire) -> None:
        """Turn the block of plain reasoning into the block of a detail, which has the same text and more."""
        index = self.lanes.index(_PLAIN_LANE)
        self.lanes[index] = lane
        part = self.continued("thinking", _PLAIN_LANE)
        if part is not None:
            part.key = lane
        else:
            self._stream("thinking", lane, "", encoding)

    # -- the end

    def close(self) -> None:
        """End all blocks, and stream those that came complete."""
        self.pause()
        if "annotations" in self.members:
            self._cite_late()
        self.calls.end()
        media: Wire = {name: self.members[name] for name in ("images", "audio") if name in self.members}
        if media and not any(lane[0] == _IMAGES_LANE for lane in self.lanes):
            message = answer_from_wire({"role": "assistant", "content": None, **media}, self.reading)
            for block in message["content"]:
                self.at_once(block, (_IMAGES_LANE, len(self.content)))

    def _cite_late(self) -> None:
        """Stream annotations of a text that has already ended as one more piece of it."""
        texts = [index for index, lane in enumerate(self.lanes) if lane[0] == _CONTENT_LANE]
        last = self.content[texts[-1]] if texts else None
        if last is not None and last["type"] == "text":
            block: Block = {"type": "text", "text": ""}
            self._cite(block)
            if block.get("citations") != last.get("citations"):
                self.at_once(block, self.lanes[texts[-1]])

    def _message(self) -> Wire:
        """Return the message so far, as a complete response would have it. Next to calls, empty content is null."""
        message: Wire = {"role": "assistant", "content": None, **self.members}
        if self.parts is not None:
            message["content"] = self.parts
        elif "content" in self.texts and not isinstance(message["content"], dict):
            message["content"] = self._text("content") or (None if self.calls.all else "")
        message |= {name: text for name in TEXTS if (text := self._text(name))}
        if "refusal" in self.texts:
            message["refusal"] = self._text("refusal") or None
        if self.details:
            message[DETAILS] = self.details
        return message | self.calls.members()

    def whole_choice(self) -> Wire:
        """Return the choice as a complete response would have it."""
        choice = {"index": self.number, **self.rest, "message": self._message(), "finish_reason": self.finish}
        return {**choice, "logprobs": self.logprobs}

    def keep_ids(self, answer: dict[str, Any]) -> None:
        """Give the calls of the answer, as it was read, the ids of the events."""
        message = answer["message"]
        read: list[Block] = message["content"]
        streamed = self.in_places()
        if [block["type"] for block in read] != [block["type"] for block in streamed]:
            message["content"] = streamed  # no complete response of this wire has this content
            return
        for position, block in enumerate(streamed):
            if block["type"] == "tool_use":
                read[position] = {**read[position], "id": block["id"]}

    def arrived(self) -> dict[str, Any]:
        """Return what was received. The wire does not mark the end of a call, but nothing can follow a complete
        object."""
        self.settle()
        content = list(self.content)
        for call in self.calls.open:
            if call.has_begun():
                content[call.index] = call_so_far(call.begun(self.reading), call.text)
        answer = failed({"message": {"role": "assistant", "content": content}})
        if self.finish is not None:
            answer["finish_reason_raw"] = self.finish
        return answer


def _with_words(part: Wire, text: str) -> Wire:
    """Return a part of the content with the text that came in pieces; a text may have come in several blocks."""
    match part.get("type"):
        case "thinking":
            return {**part, "thinking": [{"type": "text", "text": text}]}
        case "reasoning":
            return {**part, "summary": [{**part["summary"][0], "text": text}]}
        case _:
            return {**part, "text": part["text"] + text}


def _joined_blocks(before: list[Any], blocks: list[Any]) -> list[Any]:
    """Join LiteLLM's thinking blocks, which come in pieces: a block continues until it has a signature."""
    joined = list(before)
    for block in blocks:
        match joined[-1] if joined else None, block:
            case {"thinking": str(said), **last}, {"thinking": str(more)} if not last.get("signature"):
                joined[-1] = {**last, **block, "thinking": said + more}
            case _:
                joined.append(block)
    return joined
