"""
Cancellation of code that has to clean up.

httpcore returns a connection to its pool, or closes it, in the task that was cancelled. It shields that work from the
scopes of anyio, but not from `Task.cancel`. A second cancellation that arrives there (our deadline and that of gRPC end
at the same moment), or a first one just after the connection was made, leaves a connection that is neither closed nor
ever used again. All that work waits for nothing; it only yields to the event loop. So a cancellation is not delivered
where the work only yields, but where it waits.
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
    """Await `work`, and deliver a cancellation only where `work` waits for something.

    A cancellation that arrives elsewhere is held back until the next wait or until the end. At the end `CancelledError`
    is raised instead of the outcome, and the value that `work` returned is passed to `discard`. Costs a microsecond and
    no task.
    """
    pending: asyncio.CancelledError | None = None
    resume: Callable[[Any], Any] = work.send
    value: Any = None
    while True:
        try:
            awaited = resume(value)
        except StopIteration as end:
            if pending is None:
                return end.value
            if discard is not None:
                yield from cast("Generator[Any, Any, None]", cancelled_at_waits(discard(end.value)))
            raise pending from None
        except Exception:
            if pending is None:
                raise
            raise pending from None
        # as `Task.cancel` does with a task that waits; the loop then throws the cancellation in here
        if pending is not None and awaited is not None and awaited.cancel():
            pending = None
        try:
            value = yield awaited
            resume = work.send
        except GeneratorExit:
            work.close()
            raise
        except asyncio.CancelledError as cancelled:
            if awaited is None and not _by_a_scope():
                pending = cancelled
                resume, value = work.send, None
            else:
                resume, value = work.throw, cancelled
        except BaseException as problem:  # noqa: BLE001 — passed on, as `await` does
            resume, value = work.throw, problem


def _by_a_scope() -> bool:
    """Whether a scope of anyio cancels: anyio itself shields the work that has to finish from its scopes."""
    return anyio.current_effective_deadline() == -math.inf
