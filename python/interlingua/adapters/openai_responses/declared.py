"""
Tools that items of the input declare (spec/adapters/openai_responses.md#openai-responses-declared).

Clients may put their tools into an item `additional_tools` at the head of the input. In canonical form they are tools of the
request, spelt as what that item declares.
"""

from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Wire
from interlingua.adapters._order import moves_behind
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
    ranks = [_rank(tool, len(kept), writing) for tool, _ in tools]
    items = [
        [found for found, rank in zip(tools, ranks, strict=True) if rank == position] for position in range(len(kept))
    ]
    return [found for found, rank in zip(tools, ranks, strict=True) if rank < 0], [
        {**members, "type": _ADDITIONAL, "tools": grouped(declared, writing)}
        for members, declared in zip(kept, items, strict=True)
        if declared
    ]


def report_order(tools: list[Item], writing: Writing) -> None:
    """Reports the tools that leave their place: those of the request stand before those of items."""
    kept: Any = writing.encoding.get(DECLARED)
    if not isinstance(kept, list):
        return
    ranks = [_rank(tool, len(kept), writing) for tool in tools]
    order = sorted(range(len(tools)), key=ranks.__getitem__)
    for position, to in moves_behind(order, [{"role": "user"}] * len(tools)):  # no tool would rather stay than another
        message = "tools that items declare stand behind the others"
        writing.loss.move(("tools", position), ("tools", to), "reordered", "representation", message)


def _rank(tool: Item, items: int, writing: Writing) -> int:
    """The position of the item that declares a tool; -1 for a tool of the request."""
    position: Any = writing.encoding_of(tool).get(DECLARED)
    return position if type(position) is int and 0 <= position < items else -1
