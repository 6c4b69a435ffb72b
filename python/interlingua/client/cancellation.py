"""
Cancelling code that cleans up after itself.

httpcore gives a connection back, or closes it, in the task that was cancelled, and shields that work from the scopes of
anyio, but not from `Task.cancel`. A second cancellation that arrives there (a deadline of ours and that of gRPC end in the
same moment), or a first one just after the connection was made, leaves a connection that is neither closed nor ever used
again. All that work waits for nothing: it only lets the event loop take a turn. So a turn is not the place for a
cancellation; a wait is.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, TypeVar, cast

import anyio

T = TypeVar("T")


@coroutine
def cancelled_at_waits(
    work: Coroutine[Any, Any, T], discard: Callable[[T], Coroutine[Any, Any, None]] | None = None
) -> Generator[Any, Any, T]:
    """Awaits `work`, and lets a cancellation in only where that waits for something.

    One that arrives elsewhere is held back until the next wait, or until the end, where `CancelledError` is raised in the
    place of the outcome; what `work` had returned is given to `discard`. Costs a microsecond and no task.
    """
    held: asyncio.CancelledError | None = None
    resume: Callable[[Any], Any] = work.send
    given: Any = None
    while True:
        try:
            awaited = resume(given)
        except StopIteration as end:
            if held is None:
                return end.value
            if discard is not None:
                yield from cast("Generator[Any, Any, None]", cancelled_at_waits(discard(end.value)))
            raise held from None
        except Exception:
            if held is None:
                raise
            raise held from None
        # what `Task.cancel` does to a task that waits; the loop then throws the cancellation in here
        if held is not None and awaited is not None and awaited.cancel():
            held = None
        try:
            given = yield awaited
            resume = work.send
        except GeneratorExit:
            work.close()
            raise
        except asyncio.CancelledError as cancelled:
            if awaited is None and not _by_a_scope():
                held = cancelled
                resume, given = work.send, None
            else:
                resume, given = work.throw, cancelled
        except BaseException as problem:  # noqa: BLE001 — passed on, as `await` does
            resume, given = work.throw, problem


def _by_a_scope() -> bool:
    """Whether a scope of anyio cancels: what anyio wants to finish it shields from that itself."""
    return anyio.current_effective_deadline() == -math.inf
