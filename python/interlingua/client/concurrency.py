"""The number of concurrent calls to a provider (spec/8-errors.md#concurrency)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

from interlingua.client.transport import Answer

Limit = Callable[[str], int | None]
"""The maximum number of concurrent calls to a provider; None: any number."""


class Places:
    """A bounded number of places for each provider. Calls that wait get a place in the order of arrival."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._free: dict[str, asyncio.Semaphore | None] = {}

    def of(self, provider: str) -> asyncio.Semaphore | None:
        """The places of a provider; None when it accepts any number of calls."""
        if provider not in self._free:
            limit = self._limit(provider)
            self._free[provider] = None if limit is None else asyncio.Semaphore(limit)
        return self._free[provider]


class PlacedAnswer:
    """A response that holds a place of its provider until it is closed."""

    def __init__(self, answer: Answer, place: asyncio.Semaphore) -> None:
        self._answer = answer
        self._place: asyncio.Semaphore | None = place

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self._answer.status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with names in lower case."""
        return self._answer.headers

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, as it arrives."""
        return self._answer.chunks()

    async def aclose(self) -> None:
        """End the call and release the place. May be called any number of times."""
        place, self._place = self._place, None
        try:
            await self._answer.aclose()
        finally:
            if place is not None:
                place.release()
