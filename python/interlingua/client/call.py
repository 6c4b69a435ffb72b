"""What one call is: what was asked, and what is sent to whom."""

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
    """What one call may take: `idle` seconds without a byte from the provider, `answer` bytes of an answer.

    A provider that says nothing for `silence` seconds counts as one that failed when a deadline ends the call.
    """

    idle: float | None = 300.0
    answer: int = 256 << 20
    silence: float = 30.0


@dataclass(frozen=True, slots=True)
class Answered:
    """Who answers a call, known when its answer begins.

    `model` is the canonical id, `headers` are those of the provider's answer, names in lower case; `loss` is the report
    of the request, `wire` the request as it was sent, without what authorizes it.
    """

    model: str
    endpoint: Endpoint
    status: int
    headers: Mapping[str, str]
    loss: list[Entry]
    wire: Mapping[str, Any]


class StreamOptions(TypedDict, total=False):
    """What may be said of a call beside its request; `Client.generate` tells what each means."""

    model: str | None
    adapter: str | None
    fallbacks: Sequence[str]
    deadline: float | None
    routing: Mapping[str, Any] | None
    fail_over_on: Collection[str]
    validated: bool
    on_answer: Callable[[Answered], None] | None
    message_id: str | None


class GenerateOptions(StreamOptions, total=False):
    """The same for an answer that comes whole."""

    raw: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked of the client, checked: one request, the models to ask in turn, over which wire, one message to be.

    `on_answer` is told who answers, before anything of the answer is given;
    `fail_over_on` names what else than failures leads to the next model: `refusal`.
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
    """What was tried before an answer came: the candidates that were passed over, and each call that failed."""

    skipped: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    attempts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def with_trail(self, error: InterlinguaError, *, cut_short: bool = False) -> InterlinguaError:
        """The error that ends the call, with the trail when there was more than what the error itself tells."""
        if isinstance(error, (ProviderError, NotConfigured)):
            if self.skipped:
                error.error["skipped"] = self.skipped
            if self.attempts and (self.skipped or cut_short or len(self.attempts) > 1):
                error.error["attempts"] = self.attempts
        return error


class Attempt(Protocol):
    """Whoever is told of one call to a provider: how it ends, and of a stream also when it begins."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that go to the provider with the call."""
        ...

    def begun(self) -> None:
        """The first event of a stream is there."""
        ...

    def answered(self, response: Mapping[str, Any]) -> None:
        """The answer is whole."""
        ...

    def failed(self, problem: BaseException | str) -> None:
        """The call has failed; a text is the category of why. Nothing happens when it has ended already."""
        ...


class Tracing(Protocol):
    """Whoever is told of decisions, of calls to providers, and of tools: `interlingua.telemetry.Telemetry`."""

    def attempt(self, call: "Call") -> Attempt:
        """A call to a provider begins."""
        ...

    def decided(self, event: dict[str, Any]) -> None:
        """An observer of events."""
        ...

    def tool(self, call: Mapping[str, Any], side_effects: str | None) -> AbstractContextManager[Callable[[str], None]]:
        """A tool call that is carried out: what it gives is told the class of a failure. `side_effects` are those of the
        tool, None where there is no such tool."""
        ...


@dataclass(slots=True)
class Call:
    """One call to one model. Headers and secrets hold the key and are not printed.

    `key` tells, when asked, where the key comes from, or what to set when there is none; `lacks` what the provider wants beside
    what an unsigned call carries.
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
        """The tools that travel otherwise than they were offered, for whoever reads the answer."""
        return translate.offered(self.request, self.projection.loss)

    def answered(self, response: Mapping[str, Any]) -> None:
        """Tells whoever traces the call that its answer is whole."""
        if self.attempt is not None:
            self.attempt.answered(response)

    def failed(self, problem: BaseException | str) -> None:
        """Tells whoever traces the call that it has failed, unless it has ended."""
        if self.attempt is not None:
            self.attempt.failed(problem)

    def begun(self, status: int, headers: Mapping[str, str]) -> None:
        """Tells whoever asked that this call is the one that answers."""
        if self.plan.on_answer is not None:
            self.plan.on_answer(
                Answered(self.model, self.endpoint, status, headers, self.projection.loss, self.projection.wire)
            )
