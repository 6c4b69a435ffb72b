"""
The calls in flight (spec/9-service.md#overload, #drain): how many there may be, and how they end when the server ends.

A server ends in two steps. First it accepts no new calls, and ends the calls of watchers, which only wait for events.
When the time of grace is over, it cuts off the calls that still run, each with an error of its own.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, cast

from interlingua.canonical.errors import ProviderError
from interlingua.client.answers import shut_down
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.refusals import calls_at_limit

T = TypeVar("T")
End = Callable[[], object]

MAX_CALLS = 500

_TURN_S = 0.005
_QUIET_TURNS = 10
_MOST_ARRIVALS_S = 5.0


class Calls:
    """A counter of calls. `limit` is how many may run at a time; `chance` returns random numbers from 0 to 1."""

    def __init__(self, limit: int = MAX_CALLS, chance: Callable[[], float] = random.random) -> None:
        self.limit = limit
        self.running = 0
        """How many calls are running."""
        self._chance = chance
        self.ended = False
        """Whether the time of grace is over."""
        self._arrived = 0
        self._refusing = False
        self._watchers: set[End] = set()
        self._calls: set[End] = set()

    @property
    def full(self) -> bool:
        """Whether as many calls run as may."""
        return self.running >= self.limit

    def admit(self) -> None:
        """Count a call that begins; `left` ends it. Raises `ProviderError` at the limit, and when the server is
        ending."""
        self._arrived += 1
        if self._refusing:
            raise shut_down("the server is shutting down and accepts no new calls; use another server")
        if self.full:
            raise _busy(self.limit, 1 + self._chance())
        self.running += 1

    def left(self) -> None:
        """Count the end of a call that was admitted."""
        self.running -= 1

    @contextmanager
    def admitted(self) -> Generator[None]:
        """Count a call while it runs. Raises as `admit`."""
        self.admit()
        try:
            yield
        finally:
            self.left()

    @contextmanager
    def cut_by(self, end: End) -> Generator[None]:
        """Register, while a call runs, the function that cuts it off at the end of grace. After that it is called at
        once."""
        if self.ended:
            end()
        with _member(self._calls, end):
            yield

    def cut_off(self) -> "CutOff":
        """Cut off a call that answers once, by interrupting its task at the end of grace. Raises `ProviderError` then,
        and for a call that begins after that."""
        return CutOff(self, self._calls)

    @contextmanager
    def watching(self, end: End) -> Generator[None]:
        """Register, while a watcher's call runs, the function that ends it as soon as the server is ending."""
        if self._refusing:
            end()
        with _member(self._watchers, end):
            yield

    # ------------------------------------------------------------------------------------------------ the end

    def refuse(self) -> None:
        """End the calls of watchers and accept no new calls."""
        self._refusing = True
        _end(self._watchers)

    async def quiet(self) -> None:
        """Wait until no call arrives: when gRPC closes, it cancels silently the calls that it has not handed over.

        It waits for several turns of the loop and not for a time: in a busy loop, time passes without a turn.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + _MOST_ARRIVALS_S
        turns, arrived = 0, self._arrived
        while turns < _QUIET_TURNS and clock() < end:
            await asyncio.sleep(_TURN_S)
            turns = turns + 1 if self._arrived == arrived else 0
            arrived = self._arrived

    def end(self) -> None:
        """Cut off the calls that still run."""
        self.ended = True
        _end(self._calls)


class CutOff:
    """The context of `Calls.cut_off`. It is a class because every call enters it, and generators are slower."""

    __slots__ = ("_all", "_calls", "_cut", "_task")

    def __init__(self, all_calls: Calls, calls: set[End]) -> None:
        self._all = all_calls
        self._calls = calls
        self._cut = False

    def __enter__(self) -> None:
        if self._all.ended:
            raise shut_down()
        self._task = cast("asyncio.Task[object]", asyncio.current_task())
        self._calls.add(self._end)

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> None:
        self._calls.discard(self._end)
        # the cancellation is ours, unless the client has cancelled as well
        if self._cut and isinstance(problem, asyncio.CancelledError) and self._task.uncancel() == 0:
            raise shut_down() from None

    def _end(self) -> None:
        self._cut = True
        self._task.cancel()


async def until(messages: AsyncIterator[T], interrupt: Interrupt) -> AsyncIterator[T]:
    """Yield the messages of a client, until they end or are interrupted."""
    while True:
        try:
            message = await interrupt.wait(anext(messages))
        except (StopAsyncIteration, Interrupted):
            return
        yield message


@contextmanager
def _member(group: set[End], end: End) -> Generator[None]:
    group.add(end)
    try:
        yield
    finally:
        group.discard(end)


def _end(group: set[End]) -> None:
    for end in tuple(group):
        end()


def _busy(limit: int, wait: float) -> ProviderError:
    """Return the error of a call above the limit. The wait differs from call to call, so that not all retry at once."""
    return ProviderError(
        {
            "category": "rate_limit",
            "message": calls_at_limit("server", limit),
            "retryable": True,
            "retry_after": round(wait, 3),
            "code": "max_calls",
        }
    )
