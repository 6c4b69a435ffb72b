"""
The bus: it delivers events to subscribers in this process, each of which has a bounded queue of its own.

Publishing never waits. A subscriber whose queue is full gets an error and no more events; the outbox has the events
that it missed (`Chat.watch`). The bus reports its own problems in the log.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from typing import Self

from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.logs import logger
from interlingua.events import Event, check_event

QUEUE = 10_000
"""How many events wait for one subscriber, unless it sets another size."""

_LOG = logger("sessions")


class Overflowed(InterlinguaError):
    """The subscriber did not take its events in time. It gets no more of them: read the outbox from the last one
    taken."""

    category = "overloaded"


class Subscription:
    """The events of one subscriber, in order. Iterate it once; close it when done, or use `with`."""

    def __init__(self, types: Collection[str] | None, size: int, end: Callable[["Subscription"], None]) -> None:
        self._types = types
        self._size = size
        self._end = end
        self._waiting: list[Event] = []
        self._taken = 0
        self._more = asyncio.Event()
        self._overflowed = False
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the subscription. May be called any number of times."""
        self._closed = True
        self._end(self)
        self._more.set()

    def offer(self, event: Event) -> None:
        """Add an event to the queue."""
        if self._closed or self._overflowed or (self._types is not None and event["type"] not in self._types):
            return
        if len(self._waiting) - self._taken >= self._size:
            self._overflowed = True
            self._end(self)
            _LOG.error("a subscriber has %d events waiting and gets no more", self._size, extra={"type": event["type"]})
        else:
            self._waiting.append(event)
        self._more.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            while self._taken < len(self._waiting):
                event = self._waiting[self._taken]
                self._taken += 1
                yield event
            self._waiting, self._taken = [], 0
            if self._overflowed:
                raise Overflowed(f"more than {self._size} events were waiting; read the outbox from the last one taken")
            if self._closed:
                return
            self._more.clear()
            await self._more.wait()


class Bus:
    """An observer of `Events` that gives events to any number of subscribers. It belongs to one event loop.

    With `strict`, publishing an event that does not fit its type raises an error; else the event is logged and dropped.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._subscriptions: list[Subscription] = []

    def subscribe(self, types: Collection[str] | None = None, size: int = QUEUE) -> Subscription:
        """Subscribe to all events from now on, or to those of some types."""
        subscription = Subscription(types, size, self._remove)
        self._subscriptions.append(subscription)
        return subscription

    def __call__(self, event: Event) -> None:
        if not self._subscriptions:
            return
        if found := check_event(event):
            if self._strict:
                raise ValueError(f"a malformed event of the type {event.get('type')}: {found[0]['path']}")
            _LOG.warning("a malformed event is dropped", extra={"type": event.get("type"), "path": found[0]["path"]})
            return
        for subscription in tuple(self._subscriptions):
            subscription.offer(event)

    def _remove(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
