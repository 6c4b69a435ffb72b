"""Answers of Anthropic's models: what is shown of reasoning, and what is reported around the content."""

from typing import Any, Final

from interlingua.adapters._answers import AROUND, SHOWN, report_around, report_message, report_stateless
from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._items import report_not_written
from interlingua.adapters._kit import report_foreign_state
from interlingua.adapters._verbatim import keep_item, put_back_item
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

FINAL: Final = ("length", "content_filter", "refusal")
"""Why an answer ended, whatever it holds."""


def _content_of(response: Item) -> Item:
    """What reports of an answer are about; what stands around it changes on its way."""
    return {"content": response["message"]["content"]}


def keep(response: Item, came: Item, written: Item, endpoint: Endpoint, loss: Loss) -> None:
    """Keeps of an answer that was just read what is written otherwise than it came."""
    keep_item(response, came, written, endpoint, loss.entries, _content_of(response))


def put_back(response: Item, written: Item, endpoint: Endpoint, loss: Loss) -> Any:
    """An answer as it came, as far as it is written as it was then."""
    return put_back_item(response, written, endpoint, loss.entries, loss, _content_of(response))


def is_shown(block: Item, writing: Writing) -> bool:
    """Whether reasoning of an answer is of another provider: it is shown without a signature, and could not be taken back."""
    return block["type"] == "thinking" and not can_replay(block, writing)


def report_shown(block: Item, writing: Writing, path: Path) -> None:
    """Reports what goes of reasoning that is shown without a signature."""
    report_stateless(block, writing.loss, path)
    report_not_written(block, SHOWN, writing.loss, path)


def report_answer(response: Item, end: str, writing: Writing, **around: Any) -> None:
    """Reports what the wire does not tell of an answer beside its content; `around` is for `report_around`."""
    if not writing.same_origin:
        report_foreign_state(response, writing.endpoint, writing.loss, ())
    report_around(response, end, _COVERED, writing.loss, **around)
    report_message(response["message"], writing.loss, ("message",))
    report_stateless(response["message"], writing.loss, ("message",))


_COVERED: Final = AROUND | {"stop_sequence"}
