"""Answers: why they ended, what is shown of reasoning, and what is reported around them."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._answers import (
    report_alternatives,
    report_end,
    report_logprobs,
    report_message,
    report_rest,
    report_stateless,
    report_usage,
)
from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._kit import THINKING_MEMBERS, report_unknown
from interlingua.canonical.loss import Loss, Path

# ---------------------------------------------------------------------------------------------- from the wire


def finish_reason(raw: str | None, blocks: list[Any], reasons: Mapping[str, str]) -> str:
    """Why an answer ended. Content decides: an answer that holds calls to run waits for their results."""
    reason = reasons.get(raw, "other") if raw is not None else "other"
    if reason not in _WHATEVER_IT_HOLDS:
        for block in blocks:
            if block["type"] == "tool_use":
                return "tool_calls"
    return reason


_WHATEVER_IT_HOLDS: Final = ("length", "content_filter", "refusal")


def content_of(response: Item) -> Item:
    """What reports of an answer are about; what stands around it changes on its way."""
    return {"content": response["message"]["content"]}


def counted(value: Any) -> int | None:
    """A number of tokens; None for what is none."""
    return value if type(value) is int and value >= 0 else None


# ---------------------------------------------------------------------------------------------- to the wire


def end_to_wire(response: Item, body: Item, member: str, reasons: Mapping[str, str], words: Mapping[str, str]) -> None:
    """Writes why an answer of this wire ended: as it was read, unless an edit made it another end."""
    raw = response.get("finish_reason_raw")
    if finish_reason(raw, response["message"]["content"], reasons) != response["finish_reason"]:
        body[member] = words.get(response["finish_reason"], "other")
    elif "finish_reason_raw" in response:
        body[member] = raw


def report_shown(block: Item, why: str, writing: Writing, path: Path) -> None:
    """Reports what goes of reasoning that is shown without a signature: it could not be taken back."""
    report_stateless(block, writing.loss, path)
    if block.get("cache") is not None:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", why)
    report_unknown(block, THINKING_MEMBERS, writing.loss, path)


def report_around(response: Item, read: str, uncounted: tuple[str, ...] | None, loss: Loss) -> None:
    """Reports what the wire does not tell of an answer beside its content.

    `read` is the end that is read back, `uncounted` are the counts of usage without a place; None for usage as it came.
    """
    report_end(response, read, loss, ())
    if uncounted is not None:
        report_usage(response, uncounted, loss)
    report_alternatives(response, loss)
    report_logprobs(response, loss, ())
    report_message(response["message"], loss, ("message",))
    report_stateless(response["message"], loss, ("message",))
    report_rest(response, loss)
