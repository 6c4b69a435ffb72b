"""
Reasoning in assistant messages: the places where the dialects of this wire put it.

`reasoning_content`, `reasoning` and `reasoning_text` (GitHub Copilot) hold plain text, `reasoning_details` typed items
(OpenRouter), and Mistral has a part `thinking` among the content, Databricks a part `reasoning`. Providers that send
details often send their text a second time under `reasoning`: it is read once, and the message's form remembers to write
it twice.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from interlingua.adapters._items import (
    ABSENT,
    MISSING,
    VERBATIM,
    Item,
    Member,
    Row,
    filled,
    read_item,
    text,
    write_item,
)
from interlingua.adapters._kit import THINKING_MEMBERS, Wire, report_foreign_state, report_own_state, report_unknown
from interlingua.adapters._openai_parts import opaque
from interlingua.adapters.openai_chat.context import Reading, Writing
from interlingua.adapters.openai_chat.parts import Block, lost_part
from interlingua.canonical.loss import Path

DETAILS: Final = "reasoning_details"
TEXTS: Final = ("reasoning_content", "reasoning", "reasoning_text")
MEMBERS: Final = (*TEXTS, DETAILS)
PART: Final = "content"
PARTS: Final = ("thinking", "reasoning")
"""Types of content parts that are reasoning: Mistral's, and the one of Databricks."""

# ---------------------------------------------------------------------------------------------------- rows


def _said(wire: str) -> Member:
    """The words of an item, which may lack them."""

    def read(raw: Any, block: Item, _: Any) -> None:
        if type(raw) is not str:
            raise TypeError(wire)
        block["text"] = raw

    def write(block: Item, writing: Writing, _: Path) -> Any:
        silent = not block["text"] and writing.spelt_of(block).get(wire, "") in (None, MISSING)
        return ABSENT if silent else block["text"]

    return Member(wire, ("text",), read, write, always=True)


def _read_index(raw: Any, _: Item, __: Any) -> None:
    if type(raw) is not int:
        raise TypeError("index")


def _read_pieces(raw: Any, block: Item, _: Any) -> None:
    if not are_words(raw):
        raise TypeError("thinking")
    block["text"] = "".join([piece["text"] for piece in raw])


def _write_pieces(block: Item, _: Writing, __: Path) -> Any:
    return [{"type": "text", "text": block["text"]}]


def _read_summary(raw: Any, block: Item, _: Any) -> None:
    said = summary_of({"summary": raw})
    if said is None:
        raise TypeError("summary")
    block["text"] = said["text"]
    if said.get("signature"):
        block["signature"] = said["signature"]


def _write_summary(block: Item, _: Writing, __: Path) -> Any:
    said = {"type": "summary_text", "text": block["text"]}
    if block.get("signature") is not None:
        said["signature"] = block["signature"]
    return [said]


_SIGNATURE: Final = text("signature", "signature")
_INDEX: Final = Member("index", (), _read_index, lambda block, writing, path: ABSENT, lambda raw: VERBATIM, soft=True)
_DETAILS: Final[Mapping[Any, Row]] = {
    "reasoning.text": Row({"type": "reasoning.text"}, _said("text"), _SIGNATURE, _INDEX),
    "reasoning.summary": Row({"type": "reasoning.summary"}, _said("summary"), _SIGNATURE, _INDEX),
    "reasoning.encrypted": Row({"type": "reasoning.encrypted"}, filled("data", "data"), _INDEX),
}
_WORDS: Final = Row(
    {"type": "thinking"},
    Member(
        "thinking",
        ("text",),
        _read_pieces,
        _write_pieces,
        lambda raw: None if len(raw) == 1 else VERBATIM,
        needed=True,
    ),
    text("signature", "signature", soft=True),
)
_SUMMARY: Final = Row(
    {"type": "reasoning"},
    Member(
        "summary",
        ("text", "signature"),
        _read_summary,
        _write_summary,
        lambda raw: VERBATIM if "signature" in raw[0] and not raw[0]["signature"] else None,
        needed=True,
    ),
)

# ---------------------------------------------------------------------------------------------------- to the wire


def reasoning_to_wire(block: Block, path: Path, writing: Writing) -> tuple[str, Any]:
    """Where a reasoning block goes, and what stands there.

    The place is one of `MEMBERS`, or `PART`: then it is a content part, or None when the block was dropped.
    """
    state = writing.owned(block)
    encoding = state.get("encoding") or {}
    place = _place(block, state, encoding, writing)
    if place is None:
        foreign = bool(block.get("provider_state")) and not state
        code = "foreign_state" if foreign else "unsupported_block"
        message = "reasoning of another provider is not replayed" if foreign else "the wire has no place for reasoning"
        return PART, lost_part(block, path, writing, code, message)
    if not state and block.get("provider_state"):
        block = _shown(block, path, writing)
    said = block["data"] if block["type"] == "redacted_thinking" else block["text"]
    shown = writing.answering and not state and block.get("signature") is None  # a stream of it would say nothing
    if not said and (place in TEXTS or block["type"] == "redacted_thinking" or shown):
        writing.loss.drop(path, "empty_content", "representation", "empty reasoning says nothing in this place")
        return PART, None
    if place == DETAILS:
        kind = "reasoning.encrypted" if block["type"] == "redacted_thinking" else "reasoning.text"
        return place, write_item(_DETAILS[encoding.get("type") or kind], block, writing, path)
    if place == PART:
        return place, write_item(_SUMMARY if encoding.get("type") == "reasoning" else _WORDS, block, writing, path)
    if block.get("signature") is not None:
        message = "reasoning carries no proof in this place"
        writing.loss.drop((*path, "signature"), "unsupported_field", "lost", message)
    if len(block) > 2:
        if block.get("cache") is not None:
            message = "reasoning carries no cache mark"
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)
        report_unknown(block, THINKING_MEMBERS, writing.loss, path)
        report_own_state(state, writing.loss, path, fields=True)
    return place, block["text"]


def _shown(block: Block, path: Path, writing: Writing) -> Block:
    """Reasoning of another provider as an answer shows it: its words, without what belongs to its provider."""
    report_foreign_state(block, writing.endpoint, writing.loss, path)
    if block.get("signature") is not None:
        message = "a proof of another provider has no place here"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost", message)
    return {name: value for name, value in block.items() if name not in ("signature", "provider_state")}


def _place(block: Block, state: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing) -> str | None:
    if not state and block.get("provider_state") and not (writing.answering and block["type"] == "thinking"):
        return None
    place = encoding.get("member") or writing.dialect.get("reasoning_replay")
    if place in TEXTS or place == PART:
        return place if block["type"] == "thinking" else None
    return place if place == DETAILS else None


# ---------------------------------------------------------------------------------------------------- from the wire


def reasoning_from_wire(
    message: Wire, reading: Reading, fields: dict[str, Any], encoding: dict[str, Any]
) -> list[Block]:
    """The reasoning of an assistant message that stands beside its content. Adds to the message's fields and form."""
    blocks: list[Block] = []
    said = ""
    if DETAILS in message:
        details = message[DETAILS]
        if isinstance(details, list) and details and all(isinstance(item, dict) for item in details):
            blocks = [detail_from_wire(item, reading) for item in details]
            said = "".join(block["text"] for block in blocks if block["type"] == "thinking")
        elif details:
            fields[DETAILS] = details
        else:
            encoding.setdefault("empty", {})[DETAILS] = details
    for name in TEXTS:
        if name not in message:
            continue
        text = message[name]
        if not text and (text is None or text == ""):
            encoding.setdefault("empty", {})[name] = text
        elif not isinstance(text, str):
            fields[name] = text
        elif not said:
            blocks.insert(0, thinking_from_text(text, name, reading))
            said = text
        elif text == said:
            encoding.setdefault("also", []).append(name)
        else:
            fields[name] = text
    return blocks


def thinking_from_text(text: str, member: str, reading: Reading) -> Block:
    """A thinking block from a member that holds plain text."""
    return {"type": "thinking", "text": text, "provider_state": reading.state(encoding={"member": member})}


def detail_from_wire(item: Wire, reading: Reading) -> Block:
    """A block from an item of `reasoning_details`. What cannot be read is kept whole."""
    kind = item.get("type")
    encoding: dict[str, Any] = {"member": DETAILS}
    block: Block = {"type": "thinking", "text": "", "provider_state": reading.state(encoding=encoding)}
    if kind == "reasoning.encrypted":
        block = {"type": "redacted_thinking", "provider_state": block["provider_state"]}
    elif kind == "reasoning.summary":
        encoding["type"] = kind
    try:
        return read_item(_DETAILS[kind], item, block, reading)
    except (KeyError, TypeError):
        return opaque(item, reading, DETAILS)


def detail_text(item: Wire) -> str:
    """What an item of `reasoning_details` says in words."""
    match item:
        case {"type": "reasoning.text", "text": str(text)} | {"type": "reasoning.summary", "summary": str(text)}:
            return text
        case _:
            return ""


def thinking_part_from_wire(part: Wire, reading: Reading) -> Block | None:
    """A thinking block from a content part; None when it cannot be read in full."""
    summarized = part.get("type") == "reasoning"
    encoding = {"member": PART, "type": "reasoning"} if summarized else {"member": PART}
    block: Block = {"type": "thinking", "provider_state": reading.state(encoding=encoding)}
    try:
        return read_item(_SUMMARY if summarized else _WORDS, part, block, reading)
    except (KeyError, TypeError):
        return None


def summary_of(part: Wire) -> Wire | None:
    """The one text of a part of Databricks, with its proof; None when it is none."""
    summary = part.get("summary")
    said = summary[0] if isinstance(summary, list) and len(summary) == 1 else None
    if (
        isinstance(said, dict)
        and said.keys() <= _OF_SUMMARIES
        and said.get("type") == "summary_text"
        and isinstance(said.get("text"), str)
        and isinstance(said.get("signature"), (str, type(None)))
    ):
        return said
    return None


_OF_SUMMARIES: Final = frozenset(("type", "text", "signature"))


def are_words(pieces: Any) -> TypeGuard[list[Wire]]:
    """Whether the pieces of a thinking part are all plain text."""
    return isinstance(pieces, list) and all(
        isinstance(piece, dict)
        and len(piece) == 2
        and piece.get("type") == "text"
        and isinstance(piece.get("text"), str)
        for piece in pieces
    )


def _joined(pieces: list[Wire]) -> str:
    return "".join(piece["text"] for piece in pieces)
