"""
Records of the last calls, in memory and without content (spec/11-gateway.md#call-records).
"""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlingua.canonical.loss import Entry
from interlingua.client.routing import Choice
from interlingua.gateway.contents import Content

KEPT = 1000
_ATTEMPT_MEMBERS = ("model", "category", "status", "reason", "retry_after")
_SEVERITIES = ("lost", "weakened", "representation")


@dataclass(slots=True)
class Call:
    """One call of a client. Times are seconds from the beginning of the call; `began_at` is a date."""

    id: str
    tenant: str
    key: str
    adapter: str
    began_at: str
    asked_model: str | None = None
    model: str | None = None
    streamed: bool = False
    status: int | None = None
    category: str | None = None
    first_event_s: float | None = None
    took_s: float | None = None
    provider_failed: bool = False
    """Whether the call ended with an error of a provider."""
    usage: dict[str, Any] | None = None
    route: dict[str, Any] | None = None
    attempts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    content: Content | None = None
    version: int = 0
    """The number of the news that reported its last change (`watching.News`)."""
    request_loss: list[Entry] = field(default_factory=list[Entry])
    answer_loss: list[Entry] = field(default_factory=list[Entry])

    def record_choice(self, choice: Choice, *, mapped: bool = False) -> None:
        """Record the models of the call, the verdict of each slot of routing, and whether the policy maps the requested
        name."""
        record = choice.record
        self.route = {
            "mode": record["mode"],
            "mapped": mapped,
            "reason": record["reason"],
            "models": list(choice.models),
            "slots": [dict(verdict) for verdict in choice.chain],
        }

    def record_attempts(self, attempts: Iterable[Mapping[str, Any]], skipped: Iterable[Mapping[str, Any]]) -> None:
        """Record the attempts before there was an answer, and the models that were passed over, without the words of
        providers."""
        self.attempts = [
            {name: attempt[name] for name in _ATTEMPT_MEMBERS if name in attempt} for attempt in (*attempts, *skipped)
        ]

    @property
    def tried(self) -> str | None:
        """The model that answered, else the one that was tried last, else the first that was to be tried."""
        if self.model is not None:
            return self.model
        tried = [attempt["model"] for attempt in self.attempts if "category" in attempt]
        chosen: list[str] = (self.route or {}).get("models", [])
        return next(iter([*tried[-1:], *chosen]), None)

    @property
    def failed_attempts(self) -> list[dict[str, Any]]:
        """The calls to providers that failed, with `model` and `category`: also those before the answer."""
        failed = [attempt for attempt in self.attempts if "category" in attempt]
        broke_off = self.model is not None  # after the answer had begun, which no attempt records
        if self.provider_failed and self.tried is not None and (broke_off or not failed):
            failed.append({"model": self.tried, "category": self.category})
        return failed

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON, for the tenant that made the call."""
        return {
            "id": self.id,
            "began_at": self.began_at,
            "key": self.key,
            "adapter": self.adapter,
            "asked_model": self.asked_model,
            "model": self.model,
            "streamed": self.streamed,
            "status": self.status,
            "category": self.category,
            "seconds_to_first_event": self.first_event_s,
            "seconds": self.took_s,
            "usage": self.usage,
            "route": self.route,
            "attempts": self.attempts,
            "inspected": self.content is not None,
            "request_loss": without_values(self.request_loss),
            "answer_loss": without_values(self.answer_loss),
        }


class Calls:
    """The last calls, the newest last."""

    def __init__(self, capacity: int = KEPT) -> None:
        self._capacity = capacity
        self._calls: OrderedDict[str, Call] = OrderedDict()

    def add(self, call: Call) -> None:
        """Remember a call. When there are too many, the oldest is forgotten."""
        self._calls[call.id] = call
        if len(self._calls) > self._capacity:
            self._calls.popitem(last=False)

    def find(self, id: str, tenant: str) -> Call | None:
        """The call of a tenant with this id. None when this tenant has none, even when another tenant has one."""
        call = self._calls.get(id)
        return call if call is not None and call.tenant == tenant else None

    def since(self, version: int, tenant: str) -> list[Call]:
        """The calls of a tenant that have changed since a version of the news, the oldest first."""
        return [call for call in self._calls.values() if call.version > version and call.tenant == tenant]

    def of(self, tenant: str) -> list[Call]:
        """The calls of a tenant, the newest first."""
        return [call for call in reversed(self._calls.values()) if call.tenant == tenant]


def without_values(loss: Iterable[Entry]) -> list[dict[str, Any]]:
    """A loss report without the values that are now at the places of loss, which may be content."""
    return [{name: value for name, value in entry.items() if name != "value"} for entry in loss]


def severity_counts(loss: Sequence[Entry]) -> str:
    """How many entries have each severity, in the format of the header: `lost=1, weakened=3`, or `none`."""
    if not loss:
        return "none"
    counts = Counter(entry["severity"] for entry in loss)
    return ", ".join(f"{severity}={counts[severity]}" for severity in _SEVERITIES if counts[severity]) or "none"
