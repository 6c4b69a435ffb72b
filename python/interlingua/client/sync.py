"""
Calls to providers without `await`. An event loop in a thread of its own makes the same calls.

    with SyncClient() as client:
        response = client.generate(request, model="anthropic:claude-sonnet-5-5")

Any number of threads may share one client.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, TypedDict, TypeVar, Unpack

from interlingua.canonical.ids import UlidSource
from interlingua.canonical.model_response import ModelResponse
from interlingua.client.background import BackgroundLoop
from interlingua.client.call import GenerateOptions, Limits, StreamOptions, Tracing
from interlingua.client.client import Client
from interlingua.client.retry import Retry
from interlingua.client.stream import Pulled
from interlingua.client.transport import Transport
from interlingua.events import Events
from interlingua.registry import Registry
from interlingua.router import Health

if TYPE_CHECKING:
    from interlingua.canonical.types import StreamEvent
    from interlingua.client.tool_loop import RunOptions, ToolRun
    from interlingua.client.tools import ActiveTool

R = TypeVar("R")


class ClientOptions(TypedDict, total=False):
    """The options of a client; `Client` explains each of them."""

    keys: Mapping[str, str] | None
    base_urls: Mapping[str, str] | None
    registry: Registry | None
    limits: Limits | None
    strict: str | None
    http: Callable[[], Transport] | None
    retry: Retry | str
    health: Health | None
    concurrency: int | Mapping[str, int] | None
    events: Events | None
    clock: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    now: Callable[[], datetime]
    ulids: UlidSource | None
    chance: Callable[[], float]
    telemetry: Tracing | None


class SyncClient:
    """A client that calls providers, with the options of `Client`. Use `with`, or close it when done.

    Ctrl-C in a call closes the provider call before `KeyboardInterrupt` is raised. A call from the thread that does the
    work, such as one in `on_answer`, raises `RuntimeError`, and so does a call after a fork.
    """

    def __init__(self, transport: Transport | None = None, **options: Unpack[ClientOptions]) -> None:
        self._client = Client(transport, **options)
        self._loop = BackgroundLoop("client")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def registry(self) -> Registry:
        """The registry of the providers and models that this client calls."""
        return self._client.registry

    @property
    def health(self) -> Health:
        """Which models and providers are in cooldown, and until when (`Client.health`)."""
        return self._client.health

    @property
    def events(self) -> Events:
        """The observers of this client (`Client.events`)."""
        return self._client.events

    def missing(self, provider: str) -> list[str]:
        """What a provider lacks so that this client can call it, as texts (`Client.missing`)."""
        return self._client.missing(provider)

    def close(self) -> None:
        """Close all connections and end the thread. May be called any number of times.

        Calls of other threads end with `Cancelled`."""
        if not self._loop.closed:
            try:
                self._loop.run(self._client.aclose())
            finally:
                self._loop.close()

    def generate(self, request: Any, **options: Unpack[GenerateOptions]) -> ModelResponse:
        """Return one response, not streamed. `Client.generate` explains the options, and which errors are raised."""
        return self._loop.run(self._client.generate(request, **options))

    def stream(self, request: Any, **options: Unpack[StreamOptions]) -> "SyncStream[ModelResponse]":
        """Return one response as a stream of events (`Client.stream`). Iterate it once, in one thread."""
        return SyncStream(self._loop, self._client.stream(request, **options))

    def run_tools(self, request: Any, tools: "Sequence[ActiveTool]", **options: "Unpack[RunOptions]") -> "ToolRun":
        """Call the model and execute the tool calls of its responses, until it has answered (`Client.run_tools`).

        A tool that is no coroutine function runs in its own thread, and may call this client."""
        return self._loop.run(self._client.run_tools(request, tools, **options))

    def stream_tools(
        self, request: Any, tools: "Sequence[ActiveTool]", **options: "Unpack[RunOptions]"
    ) -> "SyncStream[ToolRun]":
        """`run_tools`, with the events of every response as they arrive. Iterate it once, in one thread."""
        return SyncStream(self._loop, self._client.stream_tools(request, tools, **options))


class SyncStream(Generic[R]):
    """The events of one response. Iterate it once; `response` is the whole response when the stream has ended."""

    def __init__(self, loop: BackgroundLoop, stream: Pulled[R]) -> None:
        self._loop = loop
        self._stream = stream

    @property
    def response(self) -> R | None:
        """The response: complete after `message_complete`, the part that had arrived after `error`."""
        return self._stream.response

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> "StreamEvent":
        try:
            return self._loop.run(self._next())
        except StopAsyncIteration:
            raise StopIteration from None

    def final_response(self) -> R:
        """Read the events that are left, and return the whole response (`Stream.final_response`)."""
        return self._loop.run(self._stream.final_response())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Discard unread events and close the provider call. May be called any number of times."""
        if not self._loop.closed:  # the end of the loop has closed the stream
            self._loop.run(self._stream.aclose())

    def cancel(self, reason: Literal["cancelled", "shutdown"] = "cancelled") -> None:
        """Stop the response, from any thread. May be called any number of times.

        The thread that waits for an event gets an `error` event with the part that had arrived, then `Cancelled`."""
        self._loop.call(lambda: self._stream.cancel(reason))

    async def _next(self) -> "StreamEvent":
        return await anext(aiter(self._stream))
