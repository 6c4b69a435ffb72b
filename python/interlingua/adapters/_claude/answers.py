"""Answers of Anthropic's models: what is shown of reasoning, and what is reported around the content."""

from typing import Any, Final

from interlingua.adapters._answers import report_around, report_message, report_stateless
from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._kit import THINKING_MEMBERS, report_foreign_state, report_unknown
from interlingua.canonical.loss import Path

FINAL: Final = ("length", "content_filter", "refusal")
"""Why an answer ended, whatever it holds."""


def content_of(response: Item) -> Item:
    """What reports of an answer are about; what stands around it changes on its way."""
    return {"content": response["message"]["content"]}


def is_shown(block: Item, writing: Writing) -> bool:
    """Whether reasoning of an answer is of another provider: it is shown without a signature, and could not be taken back."""
    return block["type"] == "thinking" and not can_replay(block, writing)


def report_shown(block: Item, why: str, writing: Writing, path: Path) -> None:
    """Reports what goes of reasoning that is shown without a signature."""
    report_stateless(block, writing.loss, path)
    if block.get("cache") is not None:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", why)
    report_unknown(block, THINKING_MEMBERS, writing.loss, path)


def report_answer(response: Item, end: str, writing: Writing, **around: Any) -> None:
    """Reports what the wire does not tell of an answer beside its content; `around` is for `report_around`."""
    if not writing.same_origin:
        report_foreign_state(response, writing.endpoint, writing.loss, ())
    report_around(response, end, writing.loss, says=("stop_sequence",), **around)
    report_message(response["message"], writing.loss, ("message",))
    report_stateless(response["message"], writing.loss, ("message",))
