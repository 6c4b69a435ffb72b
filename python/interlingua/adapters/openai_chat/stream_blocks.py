"""
What a stream has told of one message: `Said` is the message as a whole answer would have it, `Blocks` are its blocks.

At most one text or reasoning is open, and it ends when something else begins. Calls stay open beside it. A block keeps the
index under which it was told; where a whole answer has it, its lane says.
"""

from typing import Any, Final

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters.openai_chat.citations import annotations_from_wire
from interlingua.adapters.openai_chat.context import Reading
from interlingua.adapters.openai_chat.parts import Block
from interlingua.adapters.openai_chat.reasoning import (
    DETAILS,
    PART,
    PARTS,
    TEXTS,
    detail_from_wire,
    thinking_from_text,
    thinking_part_from_wire,
)

Lane = tuple[int, int]
"""Where a whole answer has a block: its member, and its number in there."""

PLAIN_LANE: Final[Lane] = (0, 0)
DETAILS_LANE: Final = 1
CONTENT_LANE: Final = 2
REFUSAL_LANE: Final = 3
IMAGES_LANE: Final = 4
CALLS_LANE: Final = 5
LEGACY_LANE: Final = 6


class Said:
    """The members of a message so far, but for its calls.

    `texts` are the pieces of each member that is text, `parts` the content when it is a list, `details` the typed
    reasoning. `worded` says that the details have said any reasoning: then plain text beside them repeats it.
    """

    __slots__ = ("details", "members", "parts", "texts", "worded")

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.parts: list[Wire] | None = None
        self.details: list[Wire] = []
        self.worded = False
        self.members: Wire = {}

    def text(self, name: str) -> str:
        """All that a member has said."""
        return "".join(self.texts.get(name, ()))

    def more(self, name: str, text: str) -> None:
        """Adds a piece to a member that is text."""
        self.texts.setdefault(name, []).append(text)

    def wire(self, *, calls: bool) -> Wire:
        """The message as a whole answer would have it. Beside calls a content without words is none."""
        message: Wire = {"role": "assistant", "content": None, **self.members}
        if self.parts is not None:
            message["content"] = self.parts
        elif "content" in self.texts and not isinstance(message["content"], dict):
            message["content"] = self.text("content") or (None if calls else "")
        for name in TEXTS:
            if said := self.text(name):
                message[name] = said
        if "refusal" in self.texts:
            message["refusal"] = self.text("refusal") or None
        if self.details:
            message[DETAILS] = self.details
        return message


class Blocks:
    """The blocks of one answer as they have been told, and the text or reasoning that is being told.

    `kind` is what is being told, `key` the place that it comes from: a member, or a detail by its number.
    """

    __slots__ = ("_lanes", "_number", "_open", "_pieces", "_reading", "_said", "_told", "key", "kind")

    def __init__(self, number: int, said: Said, reading: Reading) -> None:
        self.kind = ""
        self.key: Any = None
        self._number = number
        self._said = said
        self._reading = reading
        self._told: list[Block | None] = []
        self._lanes: list[Lane] = []
        self._open = -1
        self._pieces: list[str] = []

    def mark(self, event: Event) -> Event:
        """The event, with the number of the choice unless it is the first."""
        if self._number:
            event["choice"] = self._number
        return event

    # -- text and reasoning

    def word(self, text: str) -> Event:
        """More of the text that is being told."""
        self._pieces.append(text)
        event: Event = {"type": "text_delta", "index": self._open, "text": text}
        if self._number:
            event["choice"] = self._number
        return event

    def text(self, kind: str, text: str, events: list[Event], key: Any = None) -> None:
        """Text, a refusal or reasoning: more of what is being told, or the beginning of another block."""
        if kind != self.kind or (key != self.key and key is not None):
            block: Block = {"type": "thinking" if kind == "thinking" else "text", "text": ""}
            if kind == "refusal":
                block["refusal"] = True
            elif kind == "thinking":
                block["provider_state"] = self._reading.state(form=self._spelling(key))
            self.begin(kind, key, block, events)
        if text:
            self._pieces.append(text)
            name = "thinking_delta" if kind == "thinking" else "text_delta"
            event: Event = {"type": name, "index": self._open, "text": text}
            if self._number:
                event["choice"] = self._number
            events.append(event)

    def _spelling(self, key: Any) -> dict[str, Any]:
        """Where reasoning stands, as it can be told when it begins."""
        parts = self._said.parts
        if key == PART and parts and parts[-1].get("type") == "reasoning":
            return {"member": PART, "type": "reasoning"}
        if not isinstance(key, tuple):
            return {"member": key}
        kind = self._said.details[key[1]].get("type")
        return {"member": DETAILS} if kind == "reasoning.text" else {"member": DETAILS, "type": kind}

    def begin(self, kind: str, key: Any, block: Block, events: list[Event]) -> None:
        """Begins what is told from now on, unless it is being told already."""
        if kind == self.kind and key == self.key:
            return
        self.end(events)
        self.kind, self.key, self._pieces = kind, key, []
        self._open = self._start(block, self._lane(kind, key), events)

    def _start(self, block: Block, lane: Lane, events: list[Event]) -> int:
        index = len(self._told)
        self._told.append(None)
        self._lanes.append(lane)
        events.append(self.mark({"type": "block_start", "index": index, "block": block}))
        return index

    def _lane(self, kind: str, key: Any) -> Lane:
        if kind == "refusal":
            return REFUSAL_LANE, 0
        if isinstance(key, tuple):
            return DETAILS_LANE, key[1]
        if key in TEXTS:
            return PLAIN_LANE
        return CONTENT_LANE, max(len(self._said.parts or ()) - 1, 0)

    def end(self, events: list[Event]) -> None:
        """Ends the text or reasoning that is being told."""
        if not self.kind:
            return
        block = self._prose()
        self.kind, self.key = "", None
        self._stop(self._open, block, events)

    def _stop(self, index: int, block: Block, events: list[Event]) -> None:
        self._told[index] = block
        events.append(self.mark({"type": "block_stop", "index": index, "block": block}))

    def _prose(self) -> Block:
        """The block that is being told, so far."""
        text = "".join(self._pieces)
        match self.kind:
            case "text":
                block: Block = {"type": "text", "text": text}
                self._cite(block)
                return block
            case "refusal":
                return {"type": "text", "text": text, "refusal": True}
            case _ if isinstance(self.key, tuple):
                return detail_from_wire(self._told_detail(text), self._reading)
            case _ if self.key == PART:
                parts: list[Wire] = self._said.parts or [{}]
                part = next((part for part in reversed(parts) if part.get("type") in PARTS), parts[-1])
                read_part = thinking_part_from_wire(part, self._reading)
                return read_part or {"type": "thinking", "text": text}
            case _:
                return thinking_from_text(text, self.key, self._reading)

    def _told_detail(self, text: str) -> Wire:
        """The detail that the open block tells: its words may have been told in part by an earlier block."""
        detail = self._said.details[self.key[1]]
        body = "summary" if detail.get("type") == "reasoning.summary" else "text"
        return {**detail, body: text} if self.kind == "thinking" else detail

    def has_one_plain_reasoning(self) -> bool:
        """Whether plain reasoning was told, and in one block."""
        return [lane for lane in self._lanes if lane == PLAIN_LANE] == [PLAIN_LANE]

    def adopt(self, key: tuple[str, int], events: list[Event]) -> None:
        """Makes the block of plain reasoning the one of a detail, which says the same and more."""
        index = self._lanes.index(PLAIN_LANE)
        self._lanes[index] = self._lane("thinking", key)
        if self.kind == "thinking" and self._open == index:
            self.key = key
        else:
            self.text("thinking", "", events, key)

    # -- citations

    def _cite(self, block: Block) -> None:
        """Puts the annotations so far on the one text of the answer."""
        said = self._said
        if (annotations := said.members.get("annotations")) and (said.parts is None or len(said.parts) == 1):
            annotations_from_wire(annotations, [block], self._reading, {}, {})

    def cite_late(self, events: list[Event]) -> None:
        """Annotations of a text that had ended already come as one more piece of it."""
        told = [n for n, lane in enumerate(self._lanes) if lane[0] == CONTENT_LANE]
        last = self._told[told[-1]] if told else None
        if last is None or last["type"] != "text":
            return
        block: Block = {"type": "text", "text": ""}
        self._cite(block)
        if block.get("citations") != last.get("citations"):
            self.whole(block, self._lanes[told[-1]], events)

    # -- other blocks

    def whole(self, block: Block, lane: Lane, events: list[Event]) -> None:
        """A block that came at once; the words of a text are told as those of any other."""
        if block["type"] != "text" or not block["text"]:
            self._stop(self._start(block, lane, events), block, events)
            return
        index = self._start({**block, "text": ""}, lane, events)
        events.append(self.mark({"type": "text_delta", "index": index, "text": block["text"]}))
        self._stop(index, block, events)

    def count(self) -> int:
        """How many blocks have begun."""
        return len(self._told)

    def begin_call(self, block: Block, lane: Lane, events: list[Event]) -> int:
        """Begins a call, and gives its index: calls interleave, each knows its own."""
        self.end(events)
        index = self._start(block, lane, events)
        start = {"type": "tool_use_start", "index": index, "id": block["id"], "name": block["name"]}
        events.append(self.mark(start))
        return index

    def end_call(self, index: int, block: Block, events: list[Event]) -> None:
        """Ends a call."""
        end = {
            "type": "tool_use_end",
            "index": index,
            "id": block["id"],
            "name": block["name"],
            "input": block["input"],
        }
        if "input_raw" in block:
            end["input_raw"] = block["input_raw"]
        events.append(self.mark(end))
        self._stop(index, block, events)

    # -- the end

    def so_far(self) -> list[Block | None]:
        """The blocks as they were told, with what is being told; a call that has not ended is none yet."""
        content = list(self._told)
        if self.kind:
            content[self._open] = self._prose()
        return content

    def in_members(self) -> list[Block]:
        """The blocks as they were told, in the order of a whole answer."""
        content: dict[Lane, Block] = {}
        for lane, block in sorted(zip(self._lanes, self._told, strict=True), key=lambda told: told[0]):
            if block is not None:
                before = content.get(lane)
                content[lane] = block if before is None else {**before, **block, "text": before["text"] + block["text"]}
        return list(content.values())

    def places(self) -> list[int] | None:
        """Where each block stands in the message; None when that is where it was told."""
        at = {lane: place for place, lane in enumerate(sorted(set(self._lanes)))}
        places = [at[lane] for lane in self._lanes]
        return None if places == list(range(len(places))) else places
