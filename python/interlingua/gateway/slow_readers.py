"""How long a client may let an answer wait (spec/11-gateway.md#slow-reader). A server itself waits for ever."""

import asyncio
from typing import Any

PATIENCE_S = 120.0
"""How long a client may read nothing of an answer for which the buffers are full."""


class WatchesReader:
    """For a connection, with its `transport` and `loop`: ends it when its client reads nothing while the buffers are full."""

    transport: Any
    loop: asyncio.AbstractEventLoop
    _unread: asyncio.TimerHandle | None = None

    def watch_reading(self, before: int | None = None) -> None:
        """The buffers are full: looks from time to time whether less waits for the client."""
        waits = self.transport.get_write_buffer_size()
        if before is not None and waits >= before:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(PATIENCE_S, self.watch_reading, waits)

    def has_read(self) -> None:
        """Nothing is waited for any more."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
