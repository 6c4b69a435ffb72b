"""
Content that a stream tells in pieces: text or parts, and reasoning, which stands among the parts or in details of its own.

Each function adds a piece to what has been said and tells it as a block.
"""

from typing import Any

from interlingua.adapters._kit import Event, Wire
from interlingua.adapters.openai_chat.context import Reading
from interlingua.adapters.openai_chat.parts import ASSISTANT, note_oddities, part_from_wire
from interlingua.adapters.openai_chat.reasoning import (
    DETAILS,
    PART,
    TEXTS,
    are_words,
    detail_from_wire,
    detail_text,
    summary_of,
)
from interlingua.adapters.openai_chat.stream_blocks import CONTENT_LANE, DETAILS_LANE, Blocks, Said
from interlingua.canonical import json


def take_content(content: Any, said: Said, blocks: Blocks, reading: Reading, events: list[Event]) -> None:
    """Takes a piece of `content`: text, parts, or an object."""
    if isinstance(content, str):
        if content and said.parts is not None:
            _take_part({"type": "text", "text": content}, said, blocks, reading, events)
            return
        said.more("content", content)
        if content:
            blocks.text("text", content, events)
    elif isinstance(content, list):
        if said.parts is None:
            said.parts = [{"type": "text", "text": text}] if (text := said.text("content")) else []
        for part in content:
            _take_part(part, said, blocks, reading, events)
    elif isinstance(content, dict):
        said.members["content"] = content
        blocks.text("text", json.dumps(content).decode(), events)


def _take_part(part: Wire, said: Said, blocks: Blocks, reading: Reading, events: list[Event]) -> None:
    parts = said.parts = said.parts or []
    kind = part.get("type")
    last = parts[-1] if parts and parts[-1].get("type") == kind else None
    if kind == "text" and isinstance(part.get("text"), str) and len(part) == 2:
        if last is not None and len(last) == 2:
            parts[-1] = {**last, "text": last["text"] + part["text"]}
        else:
            parts.append(part)
        if part["text"]:
            blocks.text("text", part["text"], events)
    elif kind == "thinking" and are_words(part.get("thinking")):
        _take_thinking(part, parts, last, blocks, events)
    elif kind == "reasoning" and (summary := summary_of(part)) is not None:
        _take_summary(part, summary, parts, last, blocks, events)
    else:
        parts.append(part)
        blocks.end(events)
        block = part_from_wire(part, reading)
        note_oddities([block], ASSISTANT, reading)
        blocks.whole(block, (CONTENT_LANE, len(parts) - 1), events)


def _take_thinking(part: Wire, parts: list[Wire], last: Wire | None, blocks: Blocks, events: list[Event]) -> None:
    """A part of Mistral."""
    text = "".join(piece["text"] for piece in part["thinking"])
    if last is not None and blocks.kind == "thinking":
        before = "".join(piece["text"] for piece in last["thinking"])
        parts[-1] = {**last, **part, "thinking": [{"type": "text", "text": before + text}]}
    else:
        parts.append({**part, "thinking": [{"type": "text", "text": text}]})
    blocks.text("thinking", text, events, PART)


def _take_summary(
    part: Wire, summary: Wire, parts: list[Wire], last: Wire | None, blocks: Blocks, events: list[Event]
) -> None:
    """A part of Databricks."""
    if last is not None and blocks.kind == "thinking":
        before = last["summary"][0]
        proof = summary.get("signature") or before.get("signature")
        whole = {**before, "text": before["text"] + summary["text"]}
        parts[-1] = {**last, **part, "summary": [whole if proof is None else {**whole, "signature": proof}]}
    else:
        parts.append(part)
    blocks.text("thinking", summary["text"], events, PART)


# ---------------------------------------------------------------------------------------------------- typed reasoning


def take_detail(item: Any, said: Said, blocks: Blocks, reading: Reading, events: list[Event]) -> bool:
    """Takes an item of `reasoning_details`; whether it said any reasoning in words."""
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    number = _which_detail(item, said.details, blocks)
    detail = said.details[number]
    for name, value in item.items():
        joins = name in ("text", "summary", "data") and isinstance(value, str) and isinstance(detail.get(name), str)
        if joins:
            detail[name] += value
        elif value is not None or name not in detail:
            detail[name] = value
    text = item.get("text") or item.get("summary")
    match kind:
        case "reasoning.text" | "reasoning.summary" if _repeats(text, said, blocks):
            blocks.adopt((DETAILS, number), events)
            said.worded = True
        case "reasoning.text" | "reasoning.summary":
            said.worded = said.worded or bool(text)
            if (isinstance(text, str) and text) or item.get("signature"):
                blocks.text("thinking", text if isinstance(text, str) else "", events, (DETAILS, number))
        case "reasoning.encrypted":
            begun = detail_from_wire(detail, reading)
            if begun["type"] != "redacted_thinking":
                begun = {"type": "redacted_thinking", "data": ""}
            blocks.begin("redacted", (DETAILS, number), begun, events)
        case _:
            blocks.end(events)
            blocks.whole(detail_from_wire(detail, reading), (DETAILS_LANE, number), events)
    return isinstance(text, str) and bool(text)


def _which_detail(item: Wire, details: list[Wire], blocks: Blocks) -> int:
    """The number of the detail that an item goes on with, or of a new one."""
    kind, index = item.get("type"), item.get("index")
    for number in range(len(details) - 1, -1, -1):
        if details[number].get("type") == kind and details[number].get("index") == index:
            # without an index only the last one goes on; all but text only while it is being told
            last = index is not None or number == len(details) - 1
            if last and (kind == "reasoning.text" or blocks.key == (DETAILS, number)):
                return number
            break
    details.append({})
    return len(details) - 1


def _repeats(text: Any, said: Said, blocks: Blocks) -> bool:
    """Whether a detail says all the reasoning again that had come as plain text."""
    if not text or said.worded or not blocks.has_one_plain_reasoning():
        return False
    return any(text == said.text(name) for name in TEXTS)


def words_of(details: list[Any]) -> str:
    """All that typed details say in words."""
    return "".join(detail_text(item) for item in details if isinstance(item, dict))
