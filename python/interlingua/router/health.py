"""
Which models and providers are in cooldown, and until when.

Strategy: each attempt is reported to the tracker, which keeps little more than counts. A policy object decides what is
in cooldown. There are two policies, for the two common ways to build such trackers. Time is an argument: a clock that
returns seconds since 1970.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
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

    `policy` is the name of a preset or a policy object. `observer` is called when a cooldown begins or ends.
    """

    def __init__(
        self, policy: str | Backoff | Windows = "backoff", clock: Clock = time.time, observer: Observer | None = None
    ) -> None:
        self.policy = PRESETS[policy] if isinstance(policy, str) else policy
        self._clock = clock
        self._observer = observer
        self._models: dict[str, _Model] = {}
        self._providers: dict[str, _Provider] = {}
        self._benched: dict[str, float | None] = {}

    # ------------------------------------------------------------------------------------------ outcomes of attempts

    def failed(self, model: str, category: str) -> None:
        """Record that an attempt failed. `category` is that of the error; some categories do not count (`COUNTED`)."""
        now = self._clock()
        state, provider = self._model(model, now), self._provider(model, now)
        if category in AUTHENTICATION and isinstance(self.policy, Windows):
            provider.refused_key = True
            self._notify("unavailable", _provider_of(model), "refused key")
        if category not in COUNTED:
            return
        state.failures += 1
        state.category = category
        state.times.append(now)
        if category == "network":
            provider.network_errors.append(now)
        if isinstance(self.policy, Backoff) and state.failures >= self.policy.threshold:
            cooldown = min(self.policy.base * self.policy.factor**state.cooldowns, self.policy.cap)
            # past the cap a larger exponent has no effect and would only overflow
            state.cooldowns = state.cooldowns + 1 if cooldown < self.policy.cap else state.cooldowns
            state.failures, state.until = 0, now + cooldown
            self._notify("unavailable", model, f"in cooldown for {cooldown:g} s")

    def succeeded(self, model: str) -> None:
        """Record that an attempt succeeded: the failures of the model and of its provider are forgotten."""
        known = self._models.pop(model, None)
        provider = self._providers.pop(_provider_of(model), None)
        benched = self._benched.pop(model, 0.0) is None or self._benched.pop(_provider_of(model), 0.0) is None
        if known or provider or benched:
            self._notify("available", model, "success")

    def bench(self, name: str, seconds: float | None = None) -> None:
        """Put a model or a provider into cooldown by hand: for some seconds, or until it is called back."""
        self._benched[name] = None if seconds is None else self._clock() + seconds
        self._notify("unavailable", name, "benched")

    def unbench(self, name: str) -> None:
        """Call a model or a provider back and forget its failures."""
        self._benched.pop(name, None)
        self._models.pop(name, None)
        self._providers.pop(name, None)
        self._notify("available", name, "called back")

    # ------------------------------------------------------------------------------------------ models in cooldown

    def snapshot(self) -> dict[str, Any]:
        """The models and providers in cooldown: {"models": {id: {"until", "reason"}}, "providers": {name: …}}.

        A null `until` means until it is called back. A mark for failures also has the `category` of the last one.
        """
        if not (self._models or self._providers or self._benched):
            return {"models": {}, "providers": {}}
        now = self._clock()
        self._forget(now)
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
                self._windows(policy, now, models, providers)
        return {"models": models, "providers": providers}

    def _windows(self, policy: Windows, now: float, models: dict[str, Any], providers: dict[str, Any]) -> None:
        failing: dict[str, list[float]] = {}
        for name, state in self._models.items():
            times = state.times
            if len(times) >= policy.failures and times[-1] - times[-policy.failures] <= policy.window:
                models.setdefault(name, _mark(state.last_attempt + policy.forget, "failures", state.category))
            if times and now - times[-1] <= policy.window:
                failing.setdefault(_provider_of(name), []).append(state.last_attempt)
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
            elif len(failing.get(name, ())) >= policy.models:
                providers.setdefault(name, _mark(until, "several models fail"))

    def _forget(self, now: float) -> None:
        """Forget models and providers without attempts for a long time. This also keeps the memory small."""
        span = self.policy.forget if isinstance(self.policy, Windows) else 2 * self.policy.cap
        for states in (self._models, self._providers):
            for name in [name for name, state in states.items() if now - state.last_attempt >= span]:
                del states[name]
        for name in [name for name, until in self._benched.items() if until is not None and until <= now]:
            del self._benched[name]

    def _model(self, model: str, now: float) -> _Model:
        state = self._models.setdefault(model, _Model())
        state.last_attempt = now
        return state

    def _provider(self, model: str, now: float) -> _Provider:
        state = self._providers.setdefault(_provider_of(model), _Provider())
        state.last_attempt = now
        return state

    def _notify(self, change: str, name: str, reason: str) -> None:
        if self._observer is not None:
            self._observer({"type": change, "name": name, "reason": reason, "at": _time(self._clock())})


def _provider_of(model: str) -> str:
    return model.partition(":")[0]


def _mark(until: float | None, reason: str, category: str | None = None) -> dict[str, Any]:
    mark = {"until": None if until is None else _time(until), "reason": reason}
    return mark if category is None else {**mark, "category": category}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
