"""
What is written to a client in one turn of the event loop leaves together: the head of an answer and its body are one
packet and one call of the system, which costs as much as reading the request.
"""

import asyncio
from typing import Any

_AT_ONCE = 64 << 10
"""So many bytes do not wait for the end of the turn: who writes them may not let the loop turn, and must see full buffers."""


class Together:
    """A transport that gathers the writes of a turn. All else is that of the transport itself."""

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.itself = transport
        """The transport, which is written to at once."""
        self._loop = loop
        self._parts: list[bytes] = []
        self._held = 0

    def write(self, data: bytes) -> None:
        """Takes bytes that leave at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self._leave)
        self._parts.append(data)
        self._held += len(data)
        if self._held >= _AT_ONCE:
            self._leave()

    def close(self) -> None:
        """Closes the connection behind what was written."""
        self._leave()
        self.itself.close()

    def get_write_buffer_size(self) -> int:
        """How many bytes wait for the client."""
        return self._held + self.itself.get_write_buffer_size()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.itself, name)

    def _leave(self) -> None:
        if self._parts:
            parts, self._parts, self._held = self._parts, [], 0
            self.itself.write(b"".join(parts))
