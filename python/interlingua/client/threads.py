"""
Long work is done outside of the event loop, so that the large input of one caller does not delay other calls.

A thread costs a tenth of a millisecond or more, so short work is done at once.
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
"""The number of bytes or characters that are read, validated and written in some milliseconds."""


async def done(size: int, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """Do the work for an input of this size, and return its result. A large input waits for a thread of the loop."""
    return await asyncio.to_thread(work, *args, **named) if size > LARGE else work(*args, **named)


def size_of(request: dict[str, Any]) -> int:
    """An estimate of the characters in a valid canonical request, which only inspects the size of each block."""
    total = 0
    for message in request["messages"]:
        for block in message["content"]:
            total += _block_size(block)
    return total


def _block_size(block: dict[str, Any]) -> int:
    if "text" in block:
        return 100 + len(block["text"])
    if block["type"] == "tool_result":
        return 100 + sum(_block_size(inner) for inner in block["content"])
    source: Any = block.get("source")
    return 100 + len(source.get("data") or "") if isinstance(source, dict) else 300


async def in_separate_thread(work: Callable[[], T], name: str) -> T:
    """Do foreign work in a thread of its own, which sees the context variables of the caller, and return its result.

    Such work cannot be stopped. When the wait for it is cancelled it continues, and the program does not wait for it at
    its end.
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
        except BaseException as raised:  # noqa: BLE001 raised again in the task that waits
            problem = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: no task waits
            loop.call_soon_threadsafe(settle, value, problem)

    threading.Thread(target=run, name=name, daemon=True).start()
    value, problem = await ended
    if problem is not None:
        raise problem
    return cast("T", value)
