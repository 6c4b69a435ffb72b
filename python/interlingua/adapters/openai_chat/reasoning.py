"""
Reasoning in assistant messages: the places where the dialects of this wire put it.

`reasoning_content`, `reasoning` and `reasoning_text` (GitHub Copilot) hold plain text, `reasoning_details` typed items
(OpenRouter), and Mistral has a part `thinking` among the content, Databricks a part `reasoning`. Providers that send
details often send their text a second time under `reasoning`: it is read once, and the message's form remembers to write
it twice.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

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

_REDACTED: Final = frozenset(("type", "data", "cache", "critical", "provider_state"))
_BODY: Final = {"reasoning.text": "text", "reasoning.summary": "summary", "reasoning.encrypted": "data"}


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
        return place, _detail_to_wire(block, path, state, encoding, writing)
    if place == PART:
        return place, _part_to_wire(block, path, state, encoding, writing)
    if block.get("signature") is not None:
        message = "reasoning carries no proof in this place"
        writing.loss.drop((*path, "signature"), "unsupported_field", "lost", message)
    _report_rest(block, THINKING_MEMBERS, path, writing, no_fields=True)
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


def _report_rest(block: Block, known: frozenset[str], path: Path, writing: Writing, *, no_fields: bool = False) -> None:
    if len(block) > 2:
        if block.get("cache") is not None:
            message = "reasoning carries no cache mark"
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)
        report_unknown(block, known, writing.loss, path)
        report_own_state(writing.owned(block), writing.loss, path, fields=no_fields)


def _detail_to_wire(
    block: Block, path: Path, state: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing
) -> Wire:
    redacted = block["type"] == "redacted_thinking"
    kind = encoding.get("type") or ("reasoning.encrypted" if redacted else "reasoning.text")
    item: Wire = {**state.get("fields", {}), "type": kind, **encoding.get("empty", {})}
    body = _BODY[kind]
    text = block["data"] if redacted else block["text"]
    if text or (body not in encoding.get("empty", {}) and body not in encoding.get("absent", ())):
        item[body] = text
    if block.get("signature") is not None:
        item["signature"] = block["signature"]
    if "index" in encoding:
        item["index"] = encoding["index"]
    _report_rest(block, _REDACTED if redacted else THINKING_MEMBERS, path, writing)
    return item


def _part_to_wire(
    block: Block, path: Path, state: Mapping[str, Any], encoding: Mapping[str, Any], writing: Writing
) -> Wire:
    if encoding.get("type") == "reasoning":
        said: Wire = {"type": "summary_text", "text": block["text"], **encoding.get("empty", {})}
        if block.get("signature") is not None:
            said["signature"] = block["signature"]
        _report_rest(block, THINKING_MEMBERS, path, writing)
        return {**state.get("fields", {}), "type": "reasoning", "summary": [said]}
    pieces = encoding.get("thinking")
    if pieces is None or _joined(pieces) != block["text"]:
        pieces = [{"type": "text", "text": block["text"]}]
    part: Wire = {**state.get("fields", {}), "type": "thinking", "thinking": pieces}
    if block.get("signature") is not None:
        part["signature"] = block["signature"]
    _report_rest(block, THINKING_MEMBERS, path, writing)
    return part


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
    body = _BODY.get(kind) if isinstance(kind, str) else None
    text = item.get(body) if body is not None else None
    if (
        body is None
        or not isinstance(text, (str, type(None)))
        or not isinstance(item.get("signature"), (str, type(None)))
    ):
        return opaque(item, reading, DETAILS)
    encoding: dict[str, Any] = {"member": DETAILS}
    if kind == "reasoning.encrypted":
        if not text:
            return opaque(item, reading, DETAILS)
        block: Block = {"type": "redacted_thinking", "data": text}
    else:
        block = {"type": "thinking", "text": text or ""}
        if kind != "reasoning.text":
            encoding["type"] = kind
        if item.get("signature") is not None:
            block["signature"] = item["signature"]
    if isinstance(item.get("index"), int):
        encoding["index"] = item["index"]
    known = ("type", body, "signature") if "index" not in encoding else ("type", body, "signature", "index")
    if empty := {name: None for name in (body, "signature") if name in item and item[name] is None}:
        encoding["empty"] = empty
    if body not in item:
        encoding["absent"] = [body]
    fields = {name: value for name, value in item.items() if name not in known}
    return reading.mark(block, fields, encoding)


def detail_text(item: Wire) -> str:
    """What an item of `reasoning_details` says in words."""
    match item:
        case {"type": "reasoning.text", "text": str(text)} | {"type": "reasoning.summary", "summary": str(text)}:
            return text
        case _:
            return ""


def thinking_part_from_wire(part: Wire, reading: Reading) -> Block | None:
    """A thinking block from a content part; None when it cannot be read in full."""
    if part.get("type") == "reasoning":
        return _summary_from_wire(part, reading)
    pieces = part.get("thinking")
    if not are_words(pieces):
        return None
    block: Block = {"type": "thinking", "text": _joined(pieces)}
    encoding: dict[str, Any] = {"member": PART}
    if len(pieces) != 1:
        encoding["thinking"] = pieces
    fields = {name: value for name, value in part.items() if name not in ("type", "thinking", "signature")}
    if isinstance(part.get("signature"), str):
        block["signature"] = part["signature"]
    elif "signature" in part:
        fields["signature"] = part["signature"]
    return reading.mark(block, fields, encoding)


def _summary_from_wire(part: Wire, reading: Reading) -> Block | None:
    if (said := summary_of(part)) is None:
        return None
    block: Block = {"type": "thinking", "text": said["text"]}
    encoding: dict[str, Any] = {"member": PART, "type": "reasoning"}
    if said.get("signature"):
        block["signature"] = said["signature"]
    elif "signature" in said:
        encoding["empty"] = {"signature": said["signature"]}
    fields = {name: value for name, value in part.items() if name not in ("type", "summary")}
    return reading.mark(block, fields, encoding)


def summary_of(part: Wire) -> Wire | None:
    """The one text of a part of Databricks, with its proof; None when it is none."""
    summary = part.get("summary")
    said = summary[0] if isinstance(summary, list) and len(summary) == 1 else None
    if (
        isinstance(said, dict)
        and said.keys() <= _SUMMARY
        and said.get("type") == "summary_text"
        and isinstance(said.get("text"), str)
        and isinstance(said.get("signature"), (str, type(None)))
    ):
        return said
    return None


_SUMMARY: Final = frozenset(("type", "text", "signature"))


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
