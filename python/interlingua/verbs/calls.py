"""
The calls in flight (spec/9-service.md#overload, #drain): how many there may be, and how they end when the server does.

A server that ends does so in two steps. First it takes no new calls, and watchers, who wait for news and for nothing
else, are sent away. When the time of grace is over, the calls that still run are cut off, each with an error of its own.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager
from typing import TypeVar, cast

from interlingua.canonical.errors import ProviderError
from interlingua.client.answers import shut_down
from interlingua.client.interrupt import Interrupt, Interrupted

T = TypeVar("T")
End = Callable[[], object]

MAX_CALLS = 500

_TURN_S = 0.005
_QUIET_TURNS = 10
_MOST_ARRIVALS_S = 5.0


class Calls:
    """Counts calls. `limit` is how many may run at a time; `chance` gives numbers from 0 to 1."""

    def __init__(self, limit: int = MAX_CALLS, chance: Callable[[], float] = random.random) -> None:
        self.limit = limit
        self.running = 0
        """How many run."""
        self._chance = chance
        self.ended = False
        """Whether the time of grace is over."""
        self._arrived = 0
        self._refusing = False
        self._watchers: set[End] = set()
        self._calls: set[End] = set()

    @property
    def full(self) -> bool:
        """Whether there is no room for one more."""
        return self.running >= self.limit

    def admit(self) -> None:
        """Counts a call that begins; `left` ends it. Raises `ProviderError` when there is no room, or the server is ending."""
        self._arrived += 1
        if self._refusing:
            raise shut_down("the server is shutting down and takes no new calls; ask another one")
        if self.full:
            raise _busy(self.limit, 1 + self._chance())
        self.running += 1

    def left(self) -> None:
        """A call that was admitted has ended."""
        self.running -= 1

    @contextmanager
    def admitted(self) -> Generator[None]:
        """Counts a call while it runs. Raises as `admit`."""
        self.admit()
        try:
            yield
        finally:
            self.left()

    @contextmanager
    def cut_by(self, end: End) -> Generator[None]:
        """While a call runs: how to cut it off at the end of grace; at once when that is over."""
        if self.ended:
            end()
        with _member(self._calls, end):
            yield

    def cut_off(self) -> "CutOff":
        """For a call that answers once: at the end of grace its task is interrupted. Raises `ProviderError` then, and for a
        call that comes so far when that is over."""
        return CutOff(self, self._calls)

    @contextmanager
    def watching(self, end: End) -> Generator[None]:
        """While somebody watches: how to end that as soon as the server is ending."""
        if self._refusing:
            end()
        with _member(self._watchers, end):
            yield

    # ------------------------------------------------------------------------------------------------ the end

    def refuse(self) -> None:
        """Ends the watching and takes no new calls."""
        self._refusing = True
        _end(self._watchers)

    async def quiet(self) -> None:
        """Waits until no call arrives: gRPC cancels without a word what it has not handed over when it closes.

        It waits for several turns of the loop and not for a time: in a loop that is busy, time passes without a turn.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + _MOST_ARRIVALS_S
        turns, arrived = 0, self._arrived
        while turns < _QUIET_TURNS and clock() < end:
            await asyncio.sleep(_TURN_S)
            turns = turns + 1 if self._arrived == arrived else 0
            arrived = self._arrived

    def end(self) -> None:
        """Cuts off the calls that still run."""
        self.ended = True
        _end(self._calls)


class CutOff:
    """`Calls.cut_off`: a class, for every call enters it, and generators are dear."""

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
        # ours, unless the client has gone as well
        if self._cut and isinstance(problem, asyncio.CancelledError) and self._task.uncancel() == 0:
            raise shut_down() from None

    def _end(self) -> None:
        self._cut = True
        self._task.cancel()


async def until(messages: AsyncIterator[T], interrupt: Interrupt) -> AsyncIterator[T]:
    """The messages of a client, until they end or are interrupted."""
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
    """The error of a call for which there is no room. The wait differs from call to call, so that not all return at once."""
    return ProviderError(
        {
            "category": "rate_limit",
            "message": f"the server runs {limit} calls, as many as it may; wait, or ask another one",
            "retryable": True,
            "retry_after": round(wait, 3),
            "code": "max_calls",
        }
    )
