"""
One choice of a stream: its message as a whole answer would have it, as far as it came, and what is being told of it.

At most one text or reasoning is open, and it ends when something else begins. Calls stay open beside it. A block keeps the
index under which it was told; where a whole answer has it, its lane says.
"""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire, arguments_text, parse_arguments
from interlingua.adapters._reading import Reading
from interlingua.adapters._stream_reader import Blocks, Due, Lane, Part, failed
from interlingua.adapters.openai_chat.parts import Block, annotations_from_wire, keep_member, part_from_wire
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
from interlingua.adapters.openai_chat.tables import Kept
from interlingua.adapters.openai_chat.tools import call_from_wire, legacy_call
from interlingua.adapters.openai_chat.turns import answer_from_wire
from interlingua.canonical import json

_TYPES: Final = (None, "function", "custom")
_CALLS_LANE: Final = 5
_LEGACY_LANE: Final = 6


class Call(Part):
    """A call that is being told: its members as they came, its argument text in pieces. Before it begins its index is -1."""

    __slots__ = ("arguments", "canonical", "done", "extra", "id", "legacy", "number", "type")

    def __init__(self, number: int | None, *, legacy: bool = False) -> None:
        super().__init__("call", {})
        self.number = number
        self.legacy = legacy
        self.id: str | None = None
        self.type: str | None = None
        self.extra: Wire = {}
        self.arguments: dict[str, Any] | None = None
        self.canonical = ""
        self.done = False

    @property
    def name(self) -> str:
        """The name, once it has come."""
        return self.raw.get("name", "")

    def has_begun(self) -> bool:
        """Whether its block has begun."""
        return self.index >= 0

    def may_be_run(self) -> bool:
        """Whether it is a call as the contract knows them; any other is told when it is whole, as an item of the provider."""
        return self.type in _TYPES

    def is_whole(self) -> bool:
        """Whether the arguments are an object already: what follows under the same index is then another call."""
        return self.arguments is not None or parse_arguments(self.text) is not None

    def wants_more(self) -> bool:
        """Whether the arguments have begun to be told, or have yet to begin, and are no object so far."""
        return self.arguments is None and (self.text.strip() == "" or not self.is_whole())

    def wire(self) -> Wire:
        """The call as a whole answer would have it."""
        text: Any = self.text if self.arguments is None else self.arguments
        if self.legacy:
            return {**self.raw, "arguments": text}
        if not (self.may_be_run() or self.raw or text):
            return self._with_id({"type": self.type, **self.extra})
        kind = "custom" if self.type == "custom" else "function"
        member = "input" if kind == "custom" else "arguments"
        return self._with_id({"type": self.type or "function", kind: {**self.raw, member: text}, **self.extra})

    def _with_id(self, call: Wire) -> Wire:
        if self.id is not None:
            call["id"] = self.id
        return call

    def begun(self, reading: Reading) -> Block:
        """The block as it is known when the call begins."""
        block: Block = {"type": "tool_use", "id": self.canonical, "name": self.name, "input": {}}
        if self.type == "custom":
            block |= {"kind": "custom", "input_raw": ""}
        if self.id is not None and not self.legacy:
            block["provider_state"] = reading.state(id=self.id)
        elif self.extra or len(self.raw) > 1:
            block["provider_state"] = reading.state()  # there will be members of the provider's own
        return block


class Calls:
    """The calls of one answer."""

    __slots__ = ("_blocks", "_counted", "_reading", "items")

    def __init__(self, blocks: Blocks, reading: Reading) -> None:
        self.items: list[Call] = []
        self._counted: dict[int, list[Call]] = {}  # by their numbers: an answer may hold many
        self._blocks = blocks
        self._reading = reading

    def take(self, wire: Wire) -> None:
        """Takes a piece of a call."""
        kind = "custom" if wire.get("type") == "custom" or "custom" in wire else "function"
        inner = wire.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        call = self._which(wire, inner)
        for name, value in wire.items():
            match name:
                case "id" if call.id and call.has_begun() and call.wants_more():
                    pass  # some give each piece of a call an id of its own
                case "id":
                    call.id = value if isinstance(value, str) and (value or call.id is None) else call.id
                case "type":
                    call.type = value if isinstance(value, str) and value and not call.has_begun() else call.type
                case "index" | "function" | "custom":
                    pass
                case _:
                    if value is not None:
                        call.extra[name] = value
        if kind == "custom":
            call.type = "custom"
        self._arguments(call, inner, inner.get("input" if kind == "custom" else "arguments"))

    def take_legacy(self, inner: Wire) -> None:
        """Takes a piece of a `function_call`, of which an answer has one."""
        call = next((call for call in self.items if call.legacy), None)
        if call is None:
            call = Call(None, legacy=True)
            self.items.append(call)
        self._arguments(call, inner, inner.get("arguments"))

    def _which(self, wire: Wire, inner: Wire) -> Call:
        """The call that a delta belongs to: by index, by a change of id, and, where neither is told, by the name."""
        number, identity, name = wire.get("index"), wire.get("id"), inner.get("name")
        number = number if type(number) is int and number >= 0 else None
        candidates = self.items if number is None else self._counted.get(number, ())
        open_calls = [call for call in candidates if not call.done and not call.legacy]
        if number is not None and not open_calls and not identity and not name:
            # its beginning may not have been counted
            open_calls = [call for call in self.items if not call.done and not call.legacy and call.number is None]
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
        call = Call(number)
        self.items.append(call)
        if number is not None:
            self._counted.setdefault(number, []).append(call)
        return call

    def _arguments(self, call: Call, inner: Wire, arguments: Any) -> None:
        if not isinstance(inner.get("name"), (str, type(None))):
            raise TypeError("name")
        for name, value in inner.items():
            if name not in ("arguments", "input") and value is not None and not (name == "name" and not value):
                call.raw[name] = value
        begins = not call.has_begun() and bool(call.name) and call.may_be_run()
        if begins:
            call.canonical = self._reading.call(None if call.legacy else call.id or None, call.name)
            self._blocks.pause()
            lane = (_LEGACY_LANE if call.legacy else _CALLS_LANE, self.items.index(call))
            call.index = self._blocks.begin(call.begun(self._reading), lane)
        if call.arguments is not None:
            return  # behind a whole object nothing follows
        if isinstance(arguments, dict):
            call.arguments = arguments
            text = arguments_text(arguments)
        else:
            text = arguments if isinstance(arguments, str) else ""
            call.pieces.append(text)
        if call.has_begun():
            self._blocks.more(call.index, call.text if begins and call.arguments is None else text)

    def end(self) -> None:
        """Ends all calls that are being told, and tells those that came whole or without a name."""
        for number, call in enumerate(self.items):
            if call.done:
                continue
            call.done = True
            wire = call.wire()
            if not call.has_begun():
                self._blocks.whole(call_from_wire(wire, self._reading), (_CALLS_LANE, number))
            elif call.legacy:
                self._blocks.end(call.index, legacy_call(wire, call.canonical, self._reading))
            else:
                self._blocks.end(call.index, call_from_wire(wire, self._reading, call.canonical))

    def members(self) -> Wire:
        """The members of a whole answer that hold the calls."""
        calls = [call.wire() for call in self.items if not call.legacy]
        members: Wire = {"tool_calls": calls} if calls else {}
        for call in self.items:
            if call.legacy:
                members["function_call"] = call.wire()
        return members

    def add_unended(self, content: list[Block]) -> None:
        """Puts the calls that have not ended among the blocks: their argument text as it is, none to run.

        The wire does not say where a call ends, but behind a whole object nothing can follow.
        """
        for call in self.items:
            if call.has_begun() and not call.done:
                block = call.begun(self._reading)
                text = call.text
                arguments = None if call.type == "custom" else parse_arguments(text)
                if arguments is None:
                    block["input_raw"] = text
                else:
                    block["input"] = arguments
                content[call.index] = block


_PLAIN_LANE: Final[Lane] = (0, 0)
_DETAILS_LANE: Final = 1
_CONTENT_LANE: Final = 2
_REFUSAL_LANE: Final[Lane] = (3, 0)
_IMAGES_LANE: Final = 4

_STREAM_ONLY: Final = frozenset(("index", "delta", "message", "finish_reason", "logprobs", "usage"))
_PADDING: Final = frozenset(("obfuscation", "p", "padding", "channel"))
_CONTENT_MEMBERS: Final = frozenset(("content", "refusal", "tool_calls", "function_call", DETAILS))
_BODIES: Final = ("text", "summary", "data")


class Choice(Blocks):
    """One of the answers: what has been said of its message, the blocks that tell it, and how it ended.

    `texts` are the pieces of each member that is text, `parts` the content when it is a list, `details` the typed
    reasoning. `worded` says that the details have said any reasoning: then plain text beside them repeats it.
    Of content that is text, `texts` have what has ended.
    """

    __slots__ = (
        "calls", "details", "finish", "logprobs", "media_emitted", "members", "parts", "reading", "rest", "texts", "details_have_words",
    )  # fmt: skip

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
        self.details_have_words = False
        self.calls = Calls(self, reading)
        self.media_emitted = False

    # -- chunks

    def word(self, text: Any) -> Event | None:
        """The event of a piece of text that goes on with the one that is being told; None for anything else."""
        current = self.current
        if type(text) is not str or not text or current is None or current.kind != "text" or self.parts is not None:
            return None
        current.pieces.append(text)
        event: Event = {"type": "text_delta", "index": current.index, "text": text}
        if self.number:
            event["choice"] = self.number
        return event

    def take(self, wire: Wire) -> None:
        """Takes the choice of one chunk."""
        if isinstance(delta := wire.get("delta"), dict):
            self._delta(delta)
        elif isinstance(message := wire.get("message"), dict):
            self._delta(self._news(message))
        for name, value in wire.items():
            if name not in _STREAM_ONLY and value is not None:
                _merge(self.rest, name, value)
        if isinstance(logprobs := wire.get("logprobs"), dict):
            merged = self.logprobs = self.logprobs or {}
            for name, value in logprobs.items():
                if isinstance(value, list) and isinstance(merged.get(name), list):
                    merged[name] = merged[name] + value
                elif value is not None or name not in merged:
                    merged[name] = value
        finish = wire.get("finish_reason")
        if isinstance(finish, str) and finish:
            self.finish = finish

    def _news(self, message: Wire) -> Wire:
        """A message that stands in the place of a delta tells all so far: what of it is new."""
        news = dict(message)
        for name in ("content", "refusal", *TEXTS):
            text, so_far = news.get(name), self._text(name)
            if isinstance(text, str) and text.startswith(so_far):
                news[name] = text[len(so_far) :]
        for name in ("annotations", "images"):
            items, before = news.get(name), self.members.get(name)
            if isinstance(items, list) and before and items[: len(before)] == before:
                news[name] = items[len(before) :]
        details, calls = news.get(DETAILS), news.get("tool_calls")
        if isinstance(details, list) and self.details_have_words and _words_of(details) == _words_of(self.details):
            news[DETAILS] = []
        if isinstance(calls, list) and self.calls.items:
            known = {call.id for call in self.calls.items}
            news["tool_calls"] = [call for call in calls if call.get("id") not in known]
        return news

    def _delta(self, delta: Wire) -> None:
        """Takes a delta: reasoning is told before content, a refusal behind it, calls last."""
        reasoned = False
        if isinstance(details := delta.get(DETAILS), list):
            for item in details:
                reasoned = self._detail(item) or reasoned
        for name, value in delta.items():
            if name in TEXTS and isinstance(value, str):
                if value and not reasoned and not self.details_have_words and not self._echoes(name, value, delta):
                    self._append("thinking", value, name)
                self._add(name, value)
            elif name not in _CONTENT_MEMBERS:
                _merge_member(self.members, name, value)
        self._content(delta.get("content"))
        if isinstance(refusal := delta.get("refusal"), str):
            self._add("refusal", refusal)
            if refusal:
                self._append("refusal", refusal)
        elif "refusal" in delta:
            self.texts.setdefault("refusal", [])
        for call in delta.get("tool_calls") or ():
            self.calls.take(call)
        if isinstance(legacy := delta.get("function_call"), dict):
            self.calls.take_legacy(legacy)

    def _echoes(self, name: str, value: str, delta: Wire) -> bool:
        """Whether the other member of plain reasoning says the same in this delta."""
        if name == "reasoning_content":
            return delta.get("reasoning") == value and self.is_open("thinking", "reasoning")
        return name == "reasoning" and delta.get("reasoning_content") == value

    def _add(self, name: str, text: str) -> None:
        self.texts.setdefault(name, []).append(text)

    def _text(self, name: str) -> str:
        """All that a member has said."""
        text = "".join(self.texts.get(name, ()))
        return (
            text + self.current.text
            if name == "content" and self.current is not None and self.is_open("text")
            else text
        )

    # -- text and reasoning

    def _append(self, kind: str, text: str, key: str | int | None = None) -> None:
        """Text, a refusal or reasoning: more of what is being told, or the beginning of another block."""
        current = self.current
        if current is None or not self.is_open(kind, key):
            block: Block = {"type": "thinking" if kind == "thinking" else "text", "text": ""}
            if kind == "refusal":
                block["refusal"] = True
            elif kind == "thinking":
                block["provider_state"] = self.reading.state(encoding=self._place_of(key))
            current = self.open(kind, block, self._lane(kind, key), key)
        self.append(current, text)

    def _place_of(self, key: str | int | None) -> dict[str, Any]:
        """Where reasoning stands, as it can be told when it begins."""
        if key == PART and self.parts and self.parts[-1].get("type") == "reasoning":
            return {"member": PART, "type": "reasoning"}
        if not isinstance(key, int):
            return {"member": key}
        kind = self.details[key].get("type")
        return {"member": DETAILS} if kind == "reasoning.text" else {"member": DETAILS, "type": kind}

    def _lane(self, kind: str, key: str | int | None) -> Lane:
        if kind == "refusal":
            return _REFUSAL_LANE
        if isinstance(key, int):
            return _DETAILS_LANE, key
        if key in TEXTS:
            return _PLAIN_LANE
        return _CONTENT_LANE, max(len(self.parts or ()) - 1, 0)

    def pause(self) -> None:
        """Ends the text or reasoning that is being told."""
        if self.current is not None and self.parts is None and self.is_open("text"):
            self._add("content", self.current.text)
        super().pause()

    def read(self, part: Part) -> Block:
        """The block that is being told, read as a whole answer that ends here."""
        text, key = part.text, part.key
        if part.kind == "text":
            block: Block = {"type": "text", "text": text}
            self._cite(block)
            return block
        if part.kind == "refusal":
            return {"type": "text", "text": text, "refusal": True}
        if isinstance(key, int):
            detail = self.details[key]
            if part.kind == "thinking":  # its words may have been told in part by an earlier block
                detail = {**detail, "summary" if detail.get("type") == "reasoning.summary" else "text": text}
            return detail_from_wire(detail, self.reading)
        if key == PART:
            parts: list[Wire] = self.parts or [{}]
            raw = next((raw for raw in reversed(parts) if raw.get("type") in PARTS), parts[-1])
            return thinking_part_from_wire(raw, self.reading) or {"type": "thinking", "text": text}
        return thinking_from_text(text, key or "", self.reading)

    def _cite(self, block: Block) -> None:
        """Puts the annotations so far on the one text of the answer."""
        if (annotations := self.members.get("annotations")) and (self.parts is None or len(self.parts) == 1):
            annotations_from_wire(annotations, [block], self.reading, Kept())

    # -- content

    def _content(self, content: Any) -> None:
        """Takes a piece of `content`: text, parts, or an object."""
        if isinstance(content, str):
            if content and self.parts is not None:
                self._part({"type": "text", "text": content}, self.parts)
                return
            self._add("content", "")
            if content:
                self._append("text", content)
        elif isinstance(content, list):
            if self.parts is None:
                self.parts = [{"type": "text", "text": text}] if (text := self._text("content")) else []
            for part in content:
                self._part(part, self.parts)
        elif isinstance(content, dict):
            self.members["content"] = content
            self._append("text", json.dumps(content).decode())

    def _part(self, part: Wire, parts: list[Wire]) -> None:
        kind = part.get("type")
        last = parts[-1] if parts and parts[-1].get("type") == kind else None
        reasons = last if self.is_open("thinking") else None
        if kind == "text" and isinstance(part.get("text"), str) and len(part) == 2:
            _grow(parts, {"text": last["text"] + part["text"]} if last and len(last) == 2 else None, part)
            if part["text"]:
                self._append("text", part["text"])
        elif kind == "thinking" and are_words(part.get("thinking")):
            text = _joined(part["thinking"])
            whole = text if reasons is None else _joined(reasons["thinking"]) + text
            made = {**part, "thinking": [{"type": "text", "text": whole}]}
            _grow(parts, None if reasons is None else made, made)
            self._append("thinking", text, PART)
        elif kind == "reasoning" and (summary := summary_of(part)) is not None:
            text = summary["text"]
            if reasons is None:
                parts.append(part)
            else:
                before = reasons["summary"][0]
                proof = summary.get("signature") or before.get("signature")
                merged = {**before, "text": before["text"] + text} | ({} if proof is None else {"signature": proof})
                _grow(parts, {**part, "summary": [merged]}, part)
            self._append("thinking", text, PART)
        else:
            parts.append(part)
            self.pause()
            block = keep_member(part_from_wire(part, self.reading), PART, self.reading)
            self.whole(block, (_CONTENT_LANE, len(parts) - 1))

    # -- typed reasoning

    def _detail(self, item: Any) -> bool:
        """Takes an item of `reasoning_details`; whether it said any reasoning in words."""
        if not isinstance(item, dict):
            return False
        number = self._which_detail(item)
        detail = self.details[number]
        _merge_texts(detail, item, _BODIES)
        text = item.get("text") or item.get("summary")
        match item.get("type"):
            case "reasoning.text" | "reasoning.summary" if self._repeats(text):
                self._adopt(number)
                self.details_have_words = True
            case "reasoning.text" | "reasoning.summary":
                self.details_have_words = self.details_have_words or bool(text)
                if (isinstance(text, str) and text) or item.get("signature"):
                    self._append("thinking", text if isinstance(text, str) else "", number)
            case "reasoning.encrypted":
                begun = detail_from_wire(detail, self.reading)
                if begun["type"] != "redacted_thinking":
                    begun = {"type": "redacted_thinking", "data": ""}
                if not self.is_open("redacted", number):
                    self.open("redacted", begun, self._lane("redacted", number), number)
            case _:
                self.pause()
                self.whole(detail_from_wire(detail, self.reading), (_DETAILS_LANE, number))
        return isinstance(text, str) and bool(text)

    def _which_detail(self, item: Wire) -> int:
        """The number of the detail that an item goes on with, or of a new one."""
        kind, index = item.get("type"), item.get("index")
        for number in range(len(self.details) - 1, -1, -1):
            if self.details[number].get("type") == kind and self.details[number].get("index") == index:
                # without an index only the last one goes on; all but text only while it is being told
                last = index is not None or number == len(self.details) - 1
                if last and (kind == "reasoning.text" or (self.current is not None and self.current.key == number)):
                    return number
                break
        self.details.append({})
        return len(self.details) - 1

    def _repeats(self, text: Any) -> bool:
        """Whether a detail says all the reasoning again that had come as plain text, in one block."""
        if not text or self.details_have_words or self.lanes.count(_PLAIN_LANE) != 1:
            return False
        return any(text == self._text(name) for name in TEXTS)

    def _adopt(self, number: int) -> None:
        """Makes the block of plain reasoning the one of a detail, which says the same and more."""
        index = self.lanes.index(_PLAIN_LANE)
        self.lanes[index] = (_DETAILS_LANE, number)
        current = self.current
        if current is not None and current.kind == "thinking" and current.index == index:
            current.key = number
        else:
            self._append("thinking", "", number)

    # -- the end

    def close(self) -> None:
        """Ends all blocks that are being told, and tells those that came whole."""
        self.pause()
        if "annotations" in self.members:
            self._cite_late()
        self.calls.end()
        if not self.media_emitted and ("images" in self.members or "audio" in self.members):
            self.media_emitted = True
            media: Wire = {name: self.members[name] for name in ("images", "audio") if name in self.members}
            message = answer_from_wire({"role": "assistant", "content": None, **media}, self.reading)
            for block in message["content"]:
                self.whole(block, (_IMAGES_LANE, len(self.content)))

    def _cite_late(self) -> None:
        """Annotations of a text that had ended already come as one more piece of it."""
        texts = [index for index, lane in enumerate(self.lanes) if lane[0] == _CONTENT_LANE]
        last = self.content[texts[-1]] if texts else None
        if last is not None and last["type"] == "text":
            block: Block = {"type": "text", "text": ""}
            self._cite(block)
            if block.get("citations") != last.get("citations"):
                self.whole(block, self.lanes[texts[-1]])

    def whole_choice(self) -> Wire:
        """The choice as a whole answer would have it. Beside calls a content without words is none."""
        message: Wire = {"role": "assistant", "content": None, **self.members}
        if self.parts is not None:
            message["content"] = self.parts
        elif "content" in self.texts and not isinstance(message["content"], dict):
            message["content"] = self._text("content") or (None if self.calls.items else "")
        message |= {name: text for name in TEXTS if (text := self._text(name))}
        if "refusal" in self.texts:
            message["refusal"] = self._text("refusal") or None
        if self.details:
            message[DETAILS] = self.details
        message |= self.calls.members()
        choice = {"index": self.number, **self.rest, "message": message, "finish_reason": self.finish}
        return {**choice, "logprobs": self.logprobs}

    def keep_ids(self, answer: dict[str, Any]) -> None:
        """Gives the calls of the answer as it was read the ids that the events told."""
        message = answer["message"]
        read: list[Block] = message["content"]
        streamed = self.in_places()
        if [block["type"] for block in read] != [block["type"] for block in streamed]:
            message["content"] = streamed  # the wire has no whole answer that says this
            return
        for position, block in enumerate(streamed):
            if block["type"] == "tool_use":
                read[position] = {**read[position], "id": block["id"]}

    def arrived(self) -> dict[str, Any]:
        """What had arrived: a call that is not whole keeps its argument text and is not one to run."""
        self.settle()
        content = list(self.content)
        self.calls.add_unended(content)
        answer = failed({"message": {"role": "assistant", "content": content}})
        if self.finish is not None:
            answer["finish_reason_raw"] = self.finish
        return answer


# ---------------------------------------------------------------------------------------------------- patches


def _grow(parts: list[Wire], more: Wire | None, part: Wire) -> None:
    """Patches the last part with what is more of it; without that there is a further part."""
    if more is None:
        parts.append(part)
    else:
        parts[-1] = {**parts[-1], **more}


def _merge_texts(item: Wire, piece: Wire, names: tuple[str, ...]) -> None:
    """Merges a piece into an item: the texts of these names grow, of the other members the last one counts."""
    for name, value in piece.items():
        if name in names and isinstance(value, str) and isinstance(item.get(name), str):
            item[name] += value
        elif value is not None or name not in item:
            item[name] = value


def _merge(members: Wire, name: str, value: Any) -> None:
    """Merges a member: objects are joined, else the last value counts."""
    before = members.get(name)
    if isinstance(before, dict) and isinstance(value, dict):
        members[name] = {**before, **value}
    elif value is not None or name not in members:
        members[name] = value


def _merge_member(members: Wire, name: str, value: Any) -> None:
    """Merges a member of a delta that is no piece of content."""
    match name:
        case "role":
            members.setdefault("role", value)
        case "audio" if isinstance(value, dict):
            _merge_texts(members.setdefault("audio", {}), value, ("data", "transcript"))
        case "annotations" | "images" if isinstance(value, list):
            members[name] = [*members.get(name, ()), *value]
        case "thinking_blocks" if isinstance(value, list):
            members[name] = _joined_blocks(members.get(name) or [], value)
        case _ if name not in _PADDING:
            _merge(members, name, value)
        case _:
            pass


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


def _joined(pieces: list[Wire]) -> str:
    return "".join(piece["text"] for piece in pieces)


def _words_of(details: list[Any]) -> str:
    """All that typed details say in words."""
    return "".join(detail_text(item) for item in details if isinstance(item, dict))
