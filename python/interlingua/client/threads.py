"""
Work that takes long leaves the event loop, so that one caller's large input does not hold up everybody else's calls.

A thread costs a tenth of a millisecond and more, so small work is done at once.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

LARGE: Final = 64 << 10
"""Bytes or characters: so much is read, validated and written in some milliseconds."""


async def done(size: int, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """What the work gives, for an input of this size. Large ones wait for a thread of the loop's own few."""
    return await asyncio.to_thread(work, *args, **named) if size > LARGE else work(*args, **named)


def size_of(request: dict[str, Any]) -> int:
    """About how many characters a valid canonical request holds; no more than a glance at each block."""
    total = 0
    for message in request["messages"]:
        for block in message["content"]:
            total += _held(block)
    return total


def _held(block: dict[str, Any]) -> int:
    if "text" in block:
        return 100 + len(block["text"])
    if block["type"] == "tool_result":
        return 100 + sum(_held(inner) for inner in block["content"])
    source: Any = block.get("source")
    return 100 + len(source.get("data") or "") if isinstance(source, dict) else 300
