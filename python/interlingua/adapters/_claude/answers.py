"""Answers of Anthropic's models: what is shown of reasoning, and what is reported of the message."""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._engine.items import Member
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._history.messages import OF_MESSAGE, report_beside
from interlingua.canonical.loss import Path

FINAL: Final = ("length", "content_filter", "refusal")
"""Why an answer ended, whatever it holds."""


def content_to_wire(
    response: Item, writing: Writing, path: Path, write: Callable[[Item, Any, Path], Wire | None]
) -> list[Wire]:
    """The content of an answer, each block by the rule of the wire; reports what else its message holds."""
    writing.message = message = response["message"]
    wires: list[Wire] = []
    for position, block in enumerate(message["content"]):
        if (wire := write(block, writing, (*path, "message", "content", position))) is not None:
            wires.append(wire)
    if len(message) > 2:  # most have a role and content alone
        report_beside(message, OF_MESSAGE, writing, (*path, "message"))
    return wires


def strict(member: Member) -> Member:
    """A member that is never of another type: what holds such a one is no answer."""
    member.soft = False
    return member


def is_shown(block: Item, writing: Writing) -> bool:
    """Whether reasoning of an answer is of another provider: it is shown without a signature, and could not be taken back."""
    return block["type"] == "thinking" and not can_replay(block, writing)
