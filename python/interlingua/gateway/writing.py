"""
The bytes that are written to a client in one turn of the event loop are sent together: the head of a response and its
body are one packet and one system call. A system call costs as much time as reading the request.
"""

import asyncio
from typing import Any

_AT_ONCE = 64 << 10
"""From this number of bytes on, they are sent before the end of the turn: a writer that does not let the loop turn must
see full buffers."""


class BatchedWrites:
    """A transport that gathers the writes of a turn. Everything else is left to the transport itself."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.inner = transport
        """The transport itself, which sends at once."""
        self._loop = loop
        self._parts: list[bytes] = []
        self._waiting_bytes = 0

    def write(self, data: bytes) -> None:
        """Take bytes, which are sent at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self._send)
        self._parts.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes >= _AT_ONCE:
            self._send()

    def close(self) -> None:
        """Send what was written, and close the connection."""
        self._send()
        self.inner.close()

    def get_write_buffer_size(self) -> int:
        """How many bytes wait for the client."""
        return self._waiting_bytes + self.inner.get_write_buffer_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def _send(self) -> None:
        if self._parts:
            parts, self._parts, self._waiting_bytes = self._parts, [], 0
            self.inner.write(b"".join(parts))
