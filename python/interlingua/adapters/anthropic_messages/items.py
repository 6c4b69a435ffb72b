"""Items of the provider without canonical meaning, which go back verbatim."""

from typing import Final

from interlingua.adapters._claude.blocks import report_opaque
from interlingua.adapters._claude.values import ASSISTANT, DOCUMENT, RESULT, SYSTEM, USER, string
from interlingua.adapters._kit import Wire
from interlingua.adapters.anthropic_messages.state import Block
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.loss import Path

_PLACES: Final[dict[str, tuple[str, ...]]] = {
    "image": (USER, RESULT, DOCUMENT),
    "search_result": (USER, RESULT),
    "container_upload": (USER,),
    "tool_reference": (RESULT,),
    "browser_state": (RESULT,),
    "tool_addition": (SYSTEM, USER),
    "tool_removal": (SYSTEM, USER),
    "compaction": (ASSISTANT,),
    "fallback": (ASSISTANT,),
    "tool_result": (),  # one that is no result of a call; where it was read it stays
}
"""Where the items that have no canonical meaning may stand."""
_ANYWHERE: Final = (USER, ASSISTANT, RESULT, DOCUMENT)


def is_server_item(kind: str) -> bool:
    """Whether an item is part of what the provider's own tools did, which stands in answers."""
    return kind.startswith("mcp_tool_") or kind == "server_tool_use" or (kind.endswith("_tool_result"))


def _may_stand(kind: str, place: str) -> bool:
    return place == ASSISTANT if is_server_item(kind) else place in _PLACES.get(kind, _ANYWHERE)


def opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """An item of the provider, verbatim; None where it has no place, which is reported."""
    if not writing.endpoint.owns(block):
        return writing.placeholder_or_drop(
            block, path, "foreign_state", "an item of another provider has no meaning here"
        )
    value: Wire = block["value"]
    kind = string(value["type"])
    if not _may_stand(kind, place) and not writing.as_read:
        return writing.placeholder_or_drop(block, path, "unsupported_block", "the item has no form in this place")
    if "cache" in block:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the item itself says how it is cached")
    report_opaque(block, kind, writing, path)
    writing.marked(value)
    return value
