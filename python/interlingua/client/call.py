"""What one call is: what was asked, and what is sent to whom."""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from interlingua import translate
from interlingua.canonical.endpoint import Endpoint

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may take: `idle` seconds without a byte from the provider, `answer` bytes of an answer."""

    idle: float | None = 300.0
    answer: int = 256 << 20


@dataclass(frozen=True, slots=True)
class Plan:
    """What was asked of the client, checked: one request, the models to ask in turn, over which wire, one message to be."""

    request: Request
    models: tuple[str, ...]
    adapter: str | None
    routing: dict[str, Any] | None
    stream: bool
    message_id: str
    started: float


@dataclass(slots=True)
class Call:
    """One call to one model. Headers and secrets hold the key and are not printed."""

    plan: Plan
    endpoint: Endpoint
    adapter: ModuleType
    projection: translate.Projection
    request: Request
    model: str
    url: str
    headers: dict[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    skipped: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
