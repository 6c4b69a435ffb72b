"""
What keys have spent, in the database of a server's sessions: it survives a restart, and all servers of the database know
it (spec/11-gateway.md#spending).
"""

import asyncio
import logging
from contextlib import suppress
from typing import Self

from interlingua.access import Access
from interlingua.sessions import Sessions, StorageFailed

_LOG = logging.getLogger("interlingua.spending")

PERIOD_S = 2.0
"""How long a server that is killed may lose what was spent, and how long others may not know it, in seconds."""


class SharedSpending:
    """Stores what the keys of `access` spend in the database of `sessions`, which are open, and reads what the keys have
    spent elsewhere. Use `async with`: it begins when everything has been read, and at its end everything is stored.

    When the database fails, budgets count what this server knows, and the rest is stored when the database works again.
    """

    def __init__(self, access: Access, sessions: Sessions, *, period: float = PERIOD_S) -> None:
        self._access = access
        self._sessions = sessions.of("")  # keys belong to the server, whatever their tenants
        self._period = period
        self._failed = False
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._exchange()
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._ending.set()
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        """Exchange again and again, and once more at the end."""
        ending = False
        while not ending:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._period):
                    ending = await self._ending.wait()
            await self._try_exchange()

    async def _try_exchange(self) -> None:
        try:
            await self._exchange()
        except Exception as problem:  # noqa: BLE001 the next exchange may work, whatever failed
            if not self._failed:
                why = problem if isinstance(problem, StorageFailed) else type(problem).__name__
                _LOG.warning("what keys spend is not stored at present, and counts here alone: %s", why)
            self._failed = True
        else:
            if self._failed:
                _LOG.info("what keys spend is stored again")
            self._failed = False

    async def _exchange(self) -> None:
        amounts, day = self._access.take_spending(), self._access.today
        if not amounts and not self._access.has_budgets:
            return
        try:
            totals = await self._sessions.add_spending(amounts, day)
        except BaseException:
            self._access.put_spending_back(amounts)
            raise
        self._access.learn_spending(totals, day)
