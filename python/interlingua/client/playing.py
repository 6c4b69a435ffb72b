"""
Playing the provider: what `fake` and `replay` have in common.

Both stand in the place of the network, so the client's own wire arrives here. Which wire it is, is told by its path;
the adapter reads it, and a script can then speak of canonical messages whatever the wire.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from interlingua import adapters
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS

Sleep = Callable[[float], Awaitable[None]]

_PATHS = {"/messages": "anthropic_messages", "/chat/completions": "openai_chat"}


@dataclass(frozen=True)
class Sent:
    """What a client sent."""

    url: str
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        return f"<sent to {self.url}>"

    @property
    def json(self) -> Any:
        """The body as plain data."""
        return json.loads(self.body)

    @property
    def adapter(self) -> str:
        """The wire, told by the path. Raises `InvalidRequest` for a path that no provider played here has."""
        path = urlsplit(self.url).path
        for ending, name in _PATHS.items():
            if path.endswith(ending):
                return name
        raise InvalidRequest(f"no provider is played at {path}")

    @property
    def request(self) -> dict[str, Any]:
        """The body as a canonical request."""
        wire = {"method": "POST", "path": urlsplit(self.url).path, "headers": {}, "body": self.json}
        return adapters.get(self.adapter).from_wire_request(wire, Endpoint(self.adapter), DERIVED_IDS)[0]


class Played:
    """An answer that is made up: `chunks` is its body, pulled like one from a network."""

    def __init__(self, status: int, headers: Mapping[str, str], chunks: AsyncGenerator[bytes, None]) -> None:
        self.status = status
        self.headers = headers
        self.closed = False
        """Whether the client has closed the call."""
        self._chunks = chunks

    def chunks(self) -> AsyncIterator[bytes]:
        """The body."""
        return self._chunks

    async def aclose(self) -> None:
        """Ends the call."""
        self.closed = True
        await self._chunks.aclose()
