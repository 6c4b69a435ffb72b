"""One call: its plan, and the provider call that is sent for it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypedDict

from interlingua import translate
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError, NotConfigured, ProviderError
from interlingua.canonical.loss import Entry
from interlingua.registry.signing import Signing

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one call: `idle` seconds without a byte from the provider, `answer` bytes of a response.

    When a deadline ends the call, it counts as a failure of the provider if that was silent for `silence` seconds.
    """

    idle: float | None = 300.0
    answer: int = 256 << 20
    silence: float = 30.0


@dataclass(frozen=True, slots=True)
class Answered:
    """The model that answers a call, known when its response begins.

    `model` is the canonical id, `headers` are those of the provider's response, with names in lower case; `loss` is the
    report of the request, `wire` the request as it was sent, without its authorization.
    """

    model: str
    endpoint: Endpoint
    status: int
    headers: Mapping[str, str]
    loss: list[Entry]
    wire: Mapping[str, Any]


class StreamOptions(TypedDict, total=False):
    """The options of a call besides its request; `Client.generate` explains each of them in full."""

    model: str | None
    """provider:name, an alias or a chain of them; takes precedence over the request's own."""
    adapter: str | None
    """The wire; by default that of the model."""
    fallbacks: Sequence[str]
    """Models to try in turn when the first cannot serve."""
    deadline: float | None
    """The time for the whole call, in seconds."""
    routing: Mapping[str, Any] | None
    """The record of why this model was chosen."""
    fail_over_on: Collection[str]
    """What, besides a failure, leads to the next model: `refusal`."""
    strict: str | None
    """Refuse a model at which the request would lose that much: representation, weakened or lost."""
    validated: bool
    """Whether the request was validated."""
    on_answer: Callable[[Answered], None] | None
    """Called with the model that answers and the headers of its provider, as soon as it answers."""
    message_id: str | None
    """The id of the message of the response."""


class GenerateOptions(StreamOptions, total=False):
    """The options of a call for a response that is not streamed."""

    raw: bool
    """Keep the provider's whole body in `response.raw`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked call of the client: one request, the models to try in turn, the wire, and the id of the new message.

    `on_answer` is called with the model that answers, before any part of the response is delivered;
    `fail_over_on` names what, besides a failure, leads to the next model: `refusal`.
    """

    request: Request
    models: tuple[str, ...]
    adapter: str | None
    routing: dict[str, Any] | None
    stream: bool
    message_id: str
    started: float
    on_answer: Callable[[Answered], None] | None = None
    fail_over_on: frozenset[str] = frozenset()


@dataclass(slots=True)
class Trail:
    """The record of what was tried: the candidates that were passed over, and each provider call that failed."""

    skipped: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    attempts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def with_trail(self, error: InterlinguaError, *, cut_short: bool = False) -> InterlinguaError:
        """The error that ends the call, with the trail when the trail states more than the error itself."""
        if isinstance(error, (ProviderError, NotConfigured)):
            if self.skipped:
                error.error["skipped"] = self.skipped
            if self.attempts and (self.skipped or cut_short or len(self.attempts) > 1):
                error.error["attempts"] = self.attempts
        return error


class Attempt(Protocol):
    """An observer of one provider call. It is notified of the end, and for a stream also of the beginning."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that are sent to the provider with the call."""
        ...

    def begun(self) -> None:
        """The first event of a stream has arrived."""
        ...

    def answered(self, response: Mapping[str, Any]) -> None:
        """The response is complete."""
        ...

    def failed(self, problem: BaseException | str) -> None:
        """The call has failed; a text is the category of the error. Does nothing when the call has ended already."""
        ...


class Tracing(Protocol):
    """An observer of decisions, provider calls and tools: `interlingua.telemetry.Telemetry`."""

    def attempt(self, call: "Call") -> Attempt:
        """A provider call begins."""
        ...

    def decided(self, event: dict[str, Any]) -> None:
        """An observer of events."""
        ...

    def tool(self, call: Mapping[str, Any], side_effects: str | None) -> AbstractContextManager[Callable[[str], None]]:
        """A tool call is executed. The function of the context is called with the class of a failure. `side_effects`
        are those of the tool; None when there is no such tool."""
        ...


@dataclass(slots=True)
class Call:
    """One call to one model. Headers and secrets hold the key and are not printed.

    `key` returns a text: where the key comes from, or what to set when there is none. `lacks` is what the provider
    needs in addition to an unsigned call.
    """

    plan: Plan
    endpoint: Endpoint
    projection: translate.Projection
    request: Request
    model: str
    url: str
    headers: dict[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    signing: Signing | None = None
    key: Callable[[], str] = str
    lacks: str = ""
    trail: Trail = field(default_factory=Trail)
    attempt: Attempt | None = None

    @property
    def tools(self) -> translate.Offered:
        """The tools that are sent in another way than they were offered, for the reader of the response."""
        return translate.offered(self.request, self.projection.loss)

    def answered(self, response: Mapping[str, Any]) -> None:
        """Notify the observer of the call that its response is complete."""
        if self.attempt is not None:
            self.attempt.answered(response)

    def failed(self, problem: BaseException | str) -> None:
        """Notify the observer of the call that it has failed, unless it has ended."""
        if self.attempt is not None:
            self.attempt.failed(problem)

    def begun(self, status: int, headers: Mapping[str, str]) -> None:
        """Notify the caller (`on_answer`) that this call is the one that answers."""
        if self.plan.on_answer is not None:
            self.plan.on_answer(
                Answered(self.model, self.endpoint, status, headers, self.projection.loss, self.projection.wire)
            )
