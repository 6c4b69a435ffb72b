"""Items of the provider without canonical meaning, which go back verbatim."""

from typing import Final

from interlingua.adapters._claude.blocks import report_opaque
from interlingua.adapters._claude.values import ASSISTANT, SYSTEM, string
from interlingua.adapters._kit import Wire
from interlingua.adapters.anthropic_messages.state import Block
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.loss import Path

_USER_ITEMS: Final = ("image", "tool_result", "search_result", "container_upload", "tool_reference")
_SYSTEM_ITEMS: Final = ("tool_addition", "tool_removal")


def is_server_item(kind: str) -> bool:
    """Whether an item is part of what the provider's own tools did, which stands in answers."""
    return kind.startswith("mcp_tool_") or kind == "server_tool_use" or (kind.endswith("_tool_result"))


def _may_stand(kind: str, place: str) -> bool:
    if place == SYSTEM:
        return kind in _SYSTEM_ITEMS
    return kind not in _USER_ITEMS if place == ASSISTANT else not is_server_item(kind)


def opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if not writing.endpoint.owns(block):
        return writing.instead(block, path, "foreign_state", "an item of another provider has no meaning here")
    value: Wire = block["value"]
    kind = string(value["type"])
    if not _may_stand(kind, place) and not writing.as_read:
        return writing.instead(block, path, "unsupported_block", "the item has no form in this place")
    if "cache" in block:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the item itself says how it is cached")
    report_opaque(block, kind, writing, path)
    writing.marked(value)
    return value
