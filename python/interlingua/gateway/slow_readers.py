"""The time limit for clients that do not read a response (spec/11-gateway.md#slow-reader). uvicorn itself has no such
limit."""

import asyncio
from typing import Any

PATIENCE_S = 120.0
"""How long a client may read nothing of a response while the write buffers for it are full."""


class WatchesReader:
    """A connection with a `transport` and a `loop` that ends when its client reads nothing while the write buffers are
    full."""

    transport: Any
    loop: asyncio.AbstractEventLoop
    _unread: asyncio.TimerHandle | None = None

    def watch_reading(self, unread_before: int | None = None) -> None:
        """The write buffers are full: check from time to time whether fewer bytes wait for the client."""
        unread = self.transport.get_write_buffer_size()
        if unread_before is not None and unread >= unread_before:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(PATIENCE_S, self.watch_reading, unread)

    def has_read(self) -> None:
        """Stop waiting."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
