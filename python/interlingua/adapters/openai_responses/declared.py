"""
Tools that items of the input declare (spec/adapters/openai_responses.md#openai-responses-declared).

Clients may put their tools into an item `additional_tools` at the head of the input. In canonical form they are tools of the
request, spelt as what that item declares.
"""

from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Wire
from interlingua.adapters.openai_responses.context import Reading, Writing
from interlingua.adapters.openai_responses.namespaces import grouped

Item = dict[str, Any]

DECLARED: Final = "declared"
"""Spelling of a tool: the position of the item that declares it; of a request: those items without their tools."""
_ADDITIONAL: Final = "additional_tools"


def leading(items: Any) -> list[Wire]:
    """The items at the head of an input that declare tools, where others follow."""
    if not isinstance(items, list):
        return []
    found: list[Wire] = []
    for item in items:
        match item:
            case {"type": "additional_tools", "tools": list(tools)} if tools and all(
                isinstance(t, dict) for t in tools
            ):
                found.append(item)
            case _:
                return found
    return []


def mark(tools: list[Item], position: int, reading: Reading) -> None:
    """Spells tools, which were just read, as those of an item."""
    for tool in tools:
        state = tool.setdefault("provider_state", reading.state())
        state["encoding"] = {**state.get("encoding", NOTHING), DECLARED: position}


def without_tools(item: Wire) -> Wire:
    """What an item holds beside its tools."""
    return {name: value for name, value in item.items() if name not in ("type", "tools")}


def apart(tools: list[tuple[Item, Wire]], writing: Writing) -> tuple[list[tuple[Item, Wire]], list[Wire]]:
    """Tools as they were written, beside what they were written of: those of the request, and the items for all others."""
    kept: Any = writing.encoding.get(DECLARED)
    if not isinstance(kept, list):
        return tools, []
    items: list[list[tuple[Item, Wire]]] = [[] for _ in kept]
    others: list[tuple[Item, Wire]] = []
    for tool, wire in tools:
        position: Any = writing.encoding_of(tool).get(DECLARED)
        declared = type(position) is int and 0 <= position < len(items)
        (items[position] if declared else others).append((tool, wire))
    return others, [
        {**members, "type": _ADDITIONAL, "tools": grouped(declared, writing)}
        for members, declared in zip(kept, items, strict=True)
        if declared
    ]
