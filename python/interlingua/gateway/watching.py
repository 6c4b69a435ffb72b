"""
News of calls for whoever watches: a call has begun, has changed, has ended. A watcher waits until there is something
newer than what it has seen.
"""

import asyncio
from collections.abc import AsyncIterator

_PATIENCE_S = 15.0
"""How long nothing is said before a sign of life, so that what stands between keeps the connection."""

MOST_WATCHERS = 100


class News:
    """Counts what has changed, and wakes those who wait for more."""

    def __init__(self) -> None:
        self.number = 0
        """The number of the latest change."""
        self.watchers = 0
        """How many watch."""
        self._ended = False
        self._waiting: set[asyncio.Event] = set()

    def publish(self) -> int:
        """Something has changed. Gives the number of the change."""
        self.number += 1
        self._wake()
        return self.number

    def end(self) -> None:
        """Sends all watchers away: the gateway ends."""
        self._ended = True
        self._wake()

    async def since(self, seen: int) -> AsyncIterator[int]:
        """The number of the latest change whenever there is one that is newer than the last given; the same number again
        as a sign of life. Ends when the gateway does."""
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
