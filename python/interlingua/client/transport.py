"""
The seam to the network: one call out, one answer back, its body pulled chunk by chunk.

Any HTTP library fits behind `Transport`. `httpx_transport` is that of the library, `httptools_transport` that of a server;
`fake` and `replay` answer without a network, so that everything above the seam, framing, adapters, prices, runs as it does
against a provider.

A transport never follows redirects and never retries, and reads ahead no more than a buffer: a consumer that stalls stops
the reading from the provider.
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
    """An answer whose head has arrived."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body, as it arrives. Raises `TransportFailed` when the connection breaks."""
        ...

    async def aclose(self) -> None:
        """Ends the call and frees the connection, whether or not the body was read. Any number of times."""
        ...


class Transport(Protocol):
    """Sends calls. One instance serves many calls at a time."""

    async def send(self, url: str, headers: Mapping[str, str], body: bytes, idle: float | None) -> Answer:
        """Posts a body and gives the answer as soon as its head has arrived.

        `idle` limits, in seconds, each wait for the network: to connect, to write, for the next bytes.
        Raises `TransportFailed`.
        """
        ...

    async def aclose(self) -> None:
        """Closes all connections. Any number of times."""
        ...


class TransportFailed(Exception):
    """The network failed: `category` is `timeout` or `network`. The text names no header and no body.

    `sent` is false when the provider surely did not get the whole call, so that it cannot have carried it out;
    `retryable` is false when it would fail in the same way again.
    """

    def __init__(
        self, category: Literal["timeout", "network"], message: str, *, sent: bool = True, retryable: bool = True
    ) -> None:
        super().__init__(message)
        self.category = category
        self.message = message
        self.sent = sent
        self.retryable = retryable
