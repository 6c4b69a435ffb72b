"""Responses of Anthropic's models: which reasoning is shown, and which losses of the message are reported."""

from collections.abc import Callable
from typing import Any

from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._engine.items import Member
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._history.messages import OF_MESSAGE, report_beside
from interlingua.canonical.loss import Path


def content_to_wire(
    response: Item, writing: Writing, path: Path, write: Callable[[Item, Any, Path], Wire | None]
) -> list[Wire]:
    """Write the content of a response, each block with the rule of the wire; report the other members of its
    message."""
    writing.message = message = response["message"]
    wires: list[Wire] = []
    for position, block in enumerate(message["content"]):
        if (wire := write(block, writing, (*path, "message", "content", position))) is not None:
            wires.append(wire)
    if len(message) > 2:  # most have only a role and content
        report_beside(message, OF_MESSAGE, writing, (*path, "message"))
    return wires


def strict(member: Member) -> Member:
    """Return the member, which must have its type: a body with another type there is no response."""
    member.soft = False
    return member


def is_shown(block: Item, writing: Writing) -> bool:
    """Whether reasoning of a response cannot be replayed, such as that of another provider. It is shown without a
    signature."""
    return block["type"] == "thinking" and not can_replay(block, writing)
