"""
One timer for a whole call, and a way to stop the call from outside.

`asyncio.timeout` belongs to one task and to one block of code, but any task may pull the next event of a stream. So the
task that waits is remembered for as long as it waits, and an interrupt cancels that task.
"""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Interrupted(Exception):
    """A wait was interrupted; the reason is `deadline`, `cancelled` or `shutdown`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupt:
    """Guard the waits of one call. `deadline` is the time for all of them together, in seconds."""

    def __init__(self, deadline: float | None = None) -> None:
        self.reason: str | None = None
        self._waiting: asyncio.Task[object] | None = None
        self._timer: asyncio.TimerHandle | None = None
        if deadline is not None:
            self._timer = asyncio.get_running_loop().call_later(max(deadline, 0.0), self.stop, "deadline")

    def stop(self, reason: str) -> None:
        """Interrupt the current wait and all later ones. The first reason counts."""
        if self.reason is None:
            self.reason = reason
            if self._waiting is not None:
                self._waiting.cancel()

    def demand(self) -> None:
        """Raise `Interrupted` when the call was stopped already."""
        if self.reason is not None:
            raise Interrupted(self.reason)

    async def wait(self, awaitable: Awaitable[T]) -> T:
        """Await the awaitable and return its result. Raises `Interrupted` when the call is stopped meanwhile."""
        if self.reason is not None:
            if asyncio.iscoroutine(awaitable):
                awaitable.close()
            raise Interrupted(self.reason)
        task = self._waiting = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        try:
            return await awaitable
        except asyncio.CancelledError:
            # our cancellation, unless other code cancelled the task as well
            if self.reason is not None and task is not None and task.uncancel() <= before:
                raise Interrupted(self.reason) from None
            raise
        finally:
            self._waiting = None

    def done(self) -> None:
        """Stop the timer, because the call is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
