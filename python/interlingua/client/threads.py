"""
Work that takes long leaves the event loop, so that one caller's large input does not hold up everybody else's calls.

A thread costs a tenth of a millisecond and more, so small work is done at once.
"""

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import Any, Final, ParamSpec, TypeVar, cast

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


async def in_separate_thread(work: Callable[[], T], name: str) -> T:
    """What foreign work gives, in a thread of its own, which sees the context variables of the caller.

    Nobody can stop such work. Whoever gives up waiting leaves it to itself, and the end of the program does not wait for it.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: T | None, problem: BaseException | None) -> None:
        if not ended.done():
            ended.set_result((value, problem))

    def run() -> None:
        value: T | None = None
        problem: BaseException | None = None
        try:
            value = context.run(work)
        except BaseException as raised:  # noqa: BLE001 passed on to whoever waits
            problem = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, problem)

    threading.Thread(target=run, name=name, daemon=True).start()
    value, problem = await ended
    if problem is not None:
        raise problem
    return cast("T", value)
