"""
News of calls for watchers: a call has begun, has changed, or has ended. A watcher waits until there is newer news than
it has seen.
"""

import asyncio
from collections.abc import AsyncIterator

_PATIENCE_S = 15.0
"""How long a stream is silent before a sign of life is sent, so that proxies keep the connection."""

MOST_WATCHERS = 100


class News:
    """Numbers the changes, and wakes the watchers that wait for the next one."""

    def __init__(self) -> None:
        self.number = 0
        """The number of the latest change."""
        self.watchers = 0
        """How many watchers there are."""
        self._ended = False
        self._waiting: set[asyncio.Event] = set()

    def publish(self) -> int:
        """Publish a change, and return its number."""
        self.number += 1
        self._wake()
        return self.number

    def end(self) -> None:
        """Disconnect all watchers, because the gateway ends."""
        self._ended = True
        self._wake()

    async def since(self, seen: int) -> AsyncIterator[int]:
        """The number of the latest change, whenever it is newer than the last number that was returned; the same number
        again as a sign of life. Ends when the gateway does."""
        waiting = asyncio.Event()
        self._waiting.add(waiting)
        self.watchers += 1
        try:
            while not self._ended:
                if self.number == seen:
                    waiting.clear()
                    try:
                        async with asyncio.timeout(_PATIENCE_S):
                            await waiting.wait()
                    except TimeoutError:
                        yield seen
                    continue
                seen = self.number
                yield seen
        finally:
            self._waiting.discard(waiting)
            self.watchers -= 1

    def _wake(self) -> None:
        for waiting in self._waiting:
            waiting.set()
