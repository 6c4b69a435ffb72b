"""
The provider's tools that its client runs (spec/adapters/anthropic_messages.md#anthropic-messages-built-in): which function
each of them is. Their calls and results are those of any tool.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._built_in import BESIDE, Tool, entries
from interlingua.adapters._items import Row, same
from interlingua.adapters.anthropic_messages.items import CACHE


def _tool(kind: str, entry: dict[str, Any]) -> Tool:
    row = Row({"type": kind, "name": entry["name"]}, same("strict", "strict", bool), mark=CACHE, beside=BESIDE)
    return Tool(kind, entry, row)


TOOLS: Final[Mapping[str, Tool]] = {kind: _tool(kind, entry) for kind, entry in entries("anthropic_messages")}
"""By their types on the wire."""


def built_in(definition: dict[str, Any]) -> Tool | None:
    """The built-in tool that a definition offers; None for any other tool of the provider."""
    kind = definition.get("type")
    tool = TOOLS.get(kind) if isinstance(kind, str) else None
    return tool if tool is not None and definition.get("name") == tool.name else None
