"""
The blocks of an assistant message, sorted into the members of the wire, which have an order of their own.

An answer that is played for a client has one text and one refusal, and what follows its like is one with it: what a stream of
it adds up to.
"""

from typing import Final

from interlingua.adapters._kit import Wire
from interlingua.adapters.openai_chat.context import Writing
from interlingua.adapters.openai_chat.parts import Block
from interlingua.adapters.openai_chat.reasoning import are_words
from interlingua.canonical.loss import Path

# the members in their order
REASONING: Final = 0
CONTENT: Final = 1
REFUSAL: Final = 2
IMAGES: Final = 3
SOUND: Final = 4
CALLS_LAST: Final = 5


class Turn:
    """The blocks of an assistant message, sorted into the members of the wire."""

    __slots__ = (
        "_first", "_moves", "answer", "calls", "details", "dropped", "images", "legacy", "parts", "parts_at", "path", "refusal",
        "refusals", "sound", "texts", "texts_at", "writing", "citations",
    )  # fmt: skip

    def __init__(self, path: Path, writing: Writing, *, answer: bool = False) -> None:
        self.path = path
        self.writing = writing
        self.answer = answer
        self.texts: list[tuple[str, str]] = []
        self.texts_at: list[int] = []
        self.details: list[Wire] = []
        self.parts: list[Wire] = []
        self.parts_at: list[int] = []
        self.refusal: str | None = None
        self.refusals: list[tuple[int, str]] = []
        self.images: list[Wire] = []
        self.sound: Wire | None = None
        self.calls: list[Wire] = []
        self.legacy = ""  # the call that is told by its name, as of the time before tools
        self.citations: tuple[int, Block] | None = None
        self._first: dict[int, int] = {}
        self._moves: list[tuple[int, int, int]] = []
        self.dropped: set[int] = set()

    def stands(self, kind: int, index: int) -> None:
        """Notes that the block at `index` goes to a member of this kind: the members have an order of their own."""
        later = [first for other, first in self._first.items() if other > kind]
        if later:
            self._moves.append((kind, index, min(later)))
        elif kind not in self._first:
            self._first[kind] = index

    def report_moves(self) -> None:
        """Reports the blocks that stand elsewhere on the wire."""
        for _, index, to in sorted(self._moves):
            if index in self.dropped:
                continue
            content = (*self.path, "content")
            message = "the wire puts reasoning before text and calls last"
            self.writing.loss.move((*content, index), (*content, to), "reordered", "representation", message)


def one_refusal(turn: Turn) -> str | None:
    """The refusals of an answer as one."""
    if not turn.refusals:
        return turn.refusal
    whole = "".join(text for _, text in turn.refusals)
    (kept, _), *others = turn.refusals
    if others:
        message = "an answer has one refusal on this wire"
        path, loss = (*turn.path, "content"), turn.writing.loss
        loss.replace((*path, kept, "text"), whole, "merged_turn", "representation", message)
        for index, _ in others:
            loss.drop((*path, index), "merged_turn", "representation", message)
            turn.dropped.add(index)
    return whole


def is_plain(part: Wire) -> bool:
    """Whether a part is text and nothing else."""
    return len(part) == 2 and part.get("type") == "text"


def one_text(turn: Turn) -> str | None:
    """The texts of an answer as the one that clients of this wire read: what the stream of it adds up to."""
    whole = "".join(part["text"] for part in turn.parts) or None
    kept, *others = turn.parts_at
    message = "an answer has one text on this wire"
    path, loss = (*turn.path, "content"), turn.writing.loss
    if whole is None:
        others = turn.parts_at
    else:
        loss.replace((*path, kept, "text"), whole, "merged_turn", "representation", message)
    for index in others:
        loss.drop((*path, index), "merged_turn", "representation", message)
    turn.dropped.update(others)
    return whole


def joined_parts(turn: Turn, content: list[Block]) -> list[Wire]:
    """The parts of an answer as a stream of it adds up to: what follows its like is one with it, and an empty text none."""
    joined: list[Wire] = []
    kept, path, loss = -1, (*turn.path, "content"), turn.writing.loss
    for part, index in zip(turn.parts, turn.parts_at, strict=True):
        if is_plain(part) and not part["text"]:
            loss.drop((*path, index), "empty_content", "representation", "an empty text says nothing beside the rest")
            turn.dropped.add(index)
        elif joined and _goes_on(joined[-1], part, content[kept + 1 : index]):
            joined[-1] = _longer(joined[-1], part)
            message = "what follows its like is one with it on this wire"
            loss.replace((*path, kept, "text"), _words(joined[-1]), "merged_turn", "representation", message)
            loss.drop((*path, index), "merged_turn", "representation", message)
            turn.dropped.add(index)
        else:
            joined.append(part)
            kept = index
    return joined


def _goes_on(before: Wire, part: Wire, between: list[Block]) -> bool:
    """Whether a part of an answer goes on with the one before it; reasoning ends where anything else is told."""
    if is_plain(part):
        return is_plain(before)
    ended = any(block["type"] == "tool_use" or (block.get("refusal") and block["text"]) for block in between)
    return not ended and _is_worded(before) and _is_worded(part)


def _longer(before: Wire, part: Wire) -> Wire:
    text = _words(before) + _words(part)
    return {**before, "text": text} if is_plain(part) else {**before, "thinking": [{"type": "text", "text": text}]}


def _words(part: Wire) -> str:
    """The words of a part of text or of reasoning."""
    return part["text"] if is_plain(part) else "".join(piece["text"] for piece in part["thinking"])


def _is_worded(part: Wire) -> bool:
    """Whether a part is reasoning in words and nothing else."""
    return len(part) == 2 and part.get("type") == "thinking" and are_words(part.get("thinking"))
