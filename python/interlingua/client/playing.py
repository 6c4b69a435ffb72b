"""
The common part of the played providers `fake` and `replay`.

Both take the place of the network, so they receive the client's own wire. The path determines which wire it is. The
adapter reads the request, so a script can use canonical messages on every wire.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from interlingua import adapters
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.types import Request, WireRequest

Sleep = Callable[[float], Awaitable[None]]

_PATHS = (
    ("anthropic_messages", re.compile(r"/messages$")),
    ("anthropic_messages", re.compile(r"/(?P<model>[^/]+):(?:rawPredict|(?P<stream>streamRawPredict))$")),
    ("anthropic_messages", re.compile(r"/model/(?P<model>[^/]+)/invoke(?P<stream>-with-response-stream)?$")),
    ("openai_chat", re.compile(r"/chat/completions$")),
    ("openai_responses", re.compile(r"/responses$")),
    ("gemini_generate", re.compile(r"/(?P<model>[^/]+):(?:generateContent|(?P<stream>streamGenerateContent))$")),
    ("ollama_chat", re.compile(r"/api/chat$")),
    ("cohere_chat", re.compile(r"/v2/chat$")),
    ("bedrock_converse", re.compile(r"/model/(?P<model>[^/]+)/converse(?P<stream>-stream)?$")),
)


@dataclass(frozen=True)
class Sent:
    """A call that a client sent."""

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
        """The wire of the path. Raises `InvalidRequest` for a path that no played provider has."""
        return self._target[0]

    @property
    def request(self) -> Request:
        """The body as a canonical request, with the members that are in the path: the model, and whether to stream."""
        adapter, members = self._target
        wire: WireRequest = {"method": "POST", "path": urlsplit(self.url).path, "headers": {}, "body": self.json}
        request, _ = adapters.get(adapter).from_wire_request(wire, Endpoint(adapter), DERIVED_IDS)
        if members.get("model"):
            request["model"] = f"{adapter}:{unquote(members['model'])}"
        if members.get("stream"):
            request["stream"] = True
        return request

    @property
    def model(self) -> str | None:
        """The provider's own name of the requested model."""
        model: str | None = self.request.get("model")
        return model and model.partition(":")[2]

    @property
    def _target(self) -> tuple[str, dict[str, str]]:
        path = urlsplit(self.url).path
        for name, pattern in _PATHS:
            if match := pattern.search(path):
                return name, match.groupdict("")
        raise InvalidRequest(f"no played provider has the path {path}")


class Played:
    """A played response: `chunks` is its body, which is pulled like one from a network."""

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
        """End the call."""
        self.closed = True
        await self._chunks.aclose()
