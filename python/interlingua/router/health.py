"""
Which models and providers are in cooldown, and until when.

Strategy: each attempt is reported to the tracker, which keeps little more than counts. A policy object decides what is
in cooldown. There are two policies, for the two common ways to build such trackers. Time is an argument: a clock that
returns seconds since 1970.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Clock = Callable[[], float]
Observer = Callable[[dict[str, Any]], None]

COUNTED = frozenset(
    ("rate_limit", "timeout", "network", "server_error", "overloaded", "invalid_response", "stream_truncated", "other")
)
"""Categories of errors that count against a model's health. Others are the caller's fault or tell nothing about it."""

AUTHENTICATION = frozenset(("authentication", "permission"))


@dataclass(frozen=True, slots=True)
class Backoff:
    """Cooldown after some failures, twice as long each time, up to a limit; a success forgets everything."""

    threshold: int = 2
    base: float = 5.0
    factor: float = 2.0
    cap: float = 300.0


@dataclass(frozen=True, slots=True)
class Windows:
    """Cooldown after several failures within a window of time, for models and whole providers; times in seconds."""

    failures: int = 5
    window: float = 120.0
    models: int = 3
    network_errors: int = 2
    network_window: float = 30.0
    forget: float = 300.0


PRESETS: Mapping[str, Backoff | Windows] = {"backoff": Backoff(), "windows": Windows()}


@dataclass(slots=True)
class _Model:
    failures: int = 0
    cooldowns: int = 0
    until: float = 0.0
    times: deque[float] = field(default_factory=lambda: deque(maxlen=64))
    category: str | None = None
    last_attempt: float = 0.0


@dataclass(slots=True)
class _Provider:
    refused_key: bool = False
    network_errors: deque[float] = field(default_factory=lambda: deque(maxlen=64))
    last_attempt: float = 0.0


class Health:
    """Track the outcome of attempts; `snapshot` gives the marks for `decide`.

    `policy` is the name of a preset or a policy object. `observer` is called as `observe` states.
    """

    def __init__(
        self, policy: str | Backoff | Windows = "backoff", clock: Clock = time.time, observer: Observer | None = None
    ) -> None:
        self.policy = PRESETS[policy] if isinstance(policy, str) else policy
        self._clock = clock
        self._observers: list[Observer] = [] if observer is None else [observer]
        self._reported: dict[str, dict[str, Any]] = {}
        """The marks that the observers know, by name."""
        self._models: dict[str, _Model] = {}
        self._providers: dict[str, _Provider] = {}
        self._benched: dict[str, float | None] = {}

    def observe(self, observer: Observer) -> None:
        """Call `observer` for each cooldown that begins (`type` is `unavailable`), whose end moves (`extended`), or that
        ends (`available`).

        Its argument has `type`, the `name` of the model or provider, and `at`, the time of the change. A cooldown that
        begins or is extended also has the members of its mark (`snapshot`). Of one that ends, `reason` is `success`,
        `called back` or `expired`. That a time has passed is noticed when the tracker is used: an attempt, a snapshot.
        """
        self._observers.append(observer)

    # ------------------------------------------------------------------------------------------ outcomes of attempts

    def failed(self, model: str, category: str) -> None:
        """Record that an attempt failed. `category` is that of the error; some categories do not count (`COUNTED`)."""
        now = self._clock()
        self._forget(now)
        name = _provider_of(model)
        if category in AUTHENTICATION and isinstance(self.policy, Windows):
            self._providers.setdefault(name, _Provider()).refused_key = True
        if category in COUNTED:
            self._count(self._models.setdefault(model, _Model()), category, now)
            provider = self._providers.setdefault(name, _Provider())
            if category == "network":
                provider.network_errors.append(now)
        # a failure that does not count begins nothing, so a name that a caller made up takes no memory
        for state in (self._models.get(model), self._providers.get(name)):
            if state is not None:
                state.last_attempt = now
        self._report(now)

    def _count(self, state: _Model, category: str, now: float) -> None:
        state.failures += 1
        state.category = category
        state.times.append(now)
        if isinstance(self.policy, Backoff) and state.failures >= self.policy.threshold:
            cooldown = min(self.policy.base * self.policy.factor**state.cooldowns, self.policy.cap)
            # past the cap a larger exponent has no effect and would only overflow
            state.cooldowns = state.cooldowns + 1 if cooldown < self.policy.cap else state.cooldowns
            state.failures, state.until = 0, now + cooldown

    def succeeded(self, model: str) -> None:
        """Record that an attempt succeeded: the failures of the model and of its provider are forgotten."""
        known = self._models.pop(model, None)
        provider = self._providers.pop(_provider_of(model), None)
        if known or provider:
            self._report(self._clock(), "success")

    def bench(self, name: str, seconds: float | None = None) -> None:
        """Put a model or a provider into cooldown by hand: for some seconds, or until it is called back."""
        now = self._clock()
        self._benched[name] = None if seconds is None else now + seconds
        self._report(now)

    def unbench(self, name: str) -> None:
        """Call a model or a provider back and forget its failures."""
        self._benched.pop(name, None)
        self._models.pop(name, None)
        self._providers.pop(name, None)
        self._report(self._clock(), "called back")

    # ------------------------------------------------------------------------------------------ models in cooldown

    def snapshot(self) -> dict[str, Any]:
        """The models and providers in cooldown: {"models": {id: {"until", "reason"}}, "providers": {name: …}}.

        A null `until` means until it is called back. A mark for failures also has the `category` of the last one.
        """
        if not (self._models or self._providers or self._benched):
            return {"models": {}, "providers": {}}  # of a healthy provider this costs nothing
        return self._report(self._clock())

    def _report(self, now: float, why_ended: str = "expired") -> dict[str, Any]:
        """Return the marks, and tell the observers what has changed since the last time."""
        self._forget(now)
        marks = self._marks(now)
        if not self._observers:
            return marks
        present: dict[str, dict[str, Any]] = {**marks["models"], **marks["providers"]}
        before, self._reported = self._reported, present
        for name, mark in before.items():
            if name not in present:
                end = mark["until"]
                has_passed = end is not None and end <= _time(now)
                reason, at = ("expired", end) if has_passed else (why_ended, _time(now))
                self._notify({"type": "available", "name": name, "reason": reason, "at": at})
        for name, mark in present.items():
            known = before.get(name)
            if known is None or known["until"] != mark["until"]:
                change = "unavailable" if known is None else "extended"
                self._notify({"type": change, "name": name, **mark, "at": _time(now)})
        return marks

    def _notify(self, event: dict[str, Any]) -> None:
        for observer in self._observers:
            observer(event)

    def _marks(self, now: float) -> dict[str, Any]:
        models: dict[str, Any] = {}
        providers: dict[str, Any] = {}
        for name, until in self._benched.items():
            if until is None or until > now:
                (models if ":" in name else providers)[name] = _mark(until, "benched")
        match self.policy:
            case Backoff():
                for name, state in self._models.items():
                    if state.until > now:
                        models.setdefault(name, _mark(state.until, "failures", state.category))
            case Windows() as policy:
                self._windows(policy, models, providers)
        return {"models": models, "providers": providers}

    def _windows(self, policy: Windows, models: dict[str, Any], providers: dict[str, Any]) -> None:
        failing: dict[str, list[float]] = {}  # the last failures of the models of each provider
        for name, state in self._models.items():
            times = state.times
            if len(times) >= policy.failures and times[-1] - times[-policy.failures] <= policy.window:
                models.setdefault(name, _mark(state.last_attempt + policy.forget, "failures", state.category))
            if times:
                failing.setdefault(_provider_of(name), []).append(times[-1])
        for name, provider in self._providers.items():
            until = provider.last_attempt + policy.forget
            errors = provider.network_errors
            if provider.refused_key:
                providers.setdefault(name, _mark(until, "refused key", "authentication"))
            elif (
                len(errors) >= policy.network_errors
                and errors[-1] - errors[-policy.network_errors] <= policy.network_window
            ):
                providers.setdefault(name, _mark(until, "network", "network"))
            elif _within(failing.get(name, ()), policy.models, policy.window):
                providers.setdefault(name, _mark(until, "several models fail"))

    def _forget(self, now: float) -> None:
        """Forget models and providers without attempts for a long time. This also keeps the memory small."""
        span = self.policy.forget if isinstance(self.policy, Windows) else 2 * self.policy.cap
        for states in (self._models, self._providers):
            for name in [name for name, state in states.items() if now - state.last_attempt >= span]:
                del states[name]
        for name in [name for name, until in self._benched.items() if until is not None and until <= now]:
            del self._benched[name]


def _provider_of(model: str) -> str:
    return model.partition(":")[0]


def _within(times: Iterable[float], count: int, window: float) -> bool:
    """Whether the latest `count` of some times lie within a window of seconds."""
    latest = sorted(times)[-count:]
    return len(latest) == count and latest[-1] - latest[0] <= window


def _mark(until: float | None, reason: str, category: str | None = None) -> dict[str, Any]:
    mark = {"until": None if until is None else _time(until), "reason": reason}
    return mark if category is None else {**mark, "category": category}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
