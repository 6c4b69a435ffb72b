"""
The interface to the network: one call is sent, one response is received, its body is pulled chunk by chunk.

`Transport` can be implemented with any HTTP library. `httpx_transport` is for use as a library, `httptools_transport`
for a server. `fake` and `replay` respond without a network, so that everything above this interface (framing, adapters,
prices) runs as with a provider.

A transport never follows redirects and never retries. It reads ahead no more than a buffer, so a consumer that pauses
also pauses the reading from the provider.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol

STREAMS = {
    "sse": "text/event-stream",
    "sse_or_array": "text/event-stream",
    "jsonl": "application/x-ndjson",
    "eventstream": "application/vnd.amazon.eventstream",
    "sse_or_messages": "application/vnd.amazon.eventstream",
}
"""The content type of a stream, by its framing."""


class Answer(Protocol):
    """A response whose head has arrived."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, with names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, as it arrives. Raises `TransportFailed` when the connection breaks."""
        ...

    async def aclose(self) -> None:
        """End the call and free the connection, whether or not the body was read. May be called any number of times."""
        ...


class Transport(Protocol):
    """Sends calls. One instance serves many calls at a time."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, idle: float | None) -> Answer:
        """Post a body and return the response as soon as its head has arrived.

        `idle` limits, in seconds, each wait for the network: to connect, to write, for the next bytes.
        Raises `TransportFailed`.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections. May be called any number of times."""
        ...


class TransportFailed(Exception):
    """The network failed: `category` is `timeout` or `network`. The text names no header and no body.

    `sent` is false when it is certain that the provider did not get the whole call, so that it cannot have carried it
    out; `retryable` is false when the call would fail in the same way again.
    """

    def __init__(
        self, category: Literal["timeout", "network"], message: str, *, sent: bool = True, retryable: bool = True
    ) -> None:
        super().__init__(message)
        self.category = category
        self.message = message
        self.sent = sent
        self.retryable = retryable
