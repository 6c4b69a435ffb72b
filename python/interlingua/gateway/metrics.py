"""
The metrics of a gateway, for Prometheus (spec/11-gateway.md#metrics). No label holds content, a key, or a text that a
client can choose freely: a label names a model only when that model has answered.
"""

from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from interlingua.gateway.calls import Call

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250)
_TOKENS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cached_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}


class Metrics:
    """The metrics of one gateway. With `shared`, all its workers share them, in the files of the folder that
    `PROMETHEUS_MULTIPROC_DIR` named when this process began."""

    def __init__(self, *, shared: bool = False) -> None:
        self._registry = CollectorRegistry()
        self._shared = shared

        def counter(name: str, description: str, *labels: str) -> Counter:
            return Counter(f"interlingua_{name}", description, labels, registry=self._registry)

        def histogram(name: str, description: str, *labels: str) -> Histogram:
            return Histogram(f"interlingua_{name}", description, labels, buckets=_SECONDS, registry=self._registry)

        self._calls = counter(
            "calls", "Calls that ended, by the category of their error or ok.", "wire", "model", "outcome"
        )
        self._tokens = counter("tokens", "Tokens of answers, in disjoint buckets.", "model", "kind")
        self._cost = counter("cost_usd", "Cost of answers whose price is known, in USD.", "model")
        self._unpriced = counter("unpriced", "Answers whose price is not known.", "model")
        self._losses = counter("losses", "Entries of loss reports.", "wire", "severity", "code")
        self._first = histogram("first_event_seconds", "Time to the first event of a stream.", "model")
        self._took = histogram("call_seconds", "Time of whole calls that were answered.", "model")
        self._running = Gauge(
            "interlingua_running_calls", "Calls that run now.", registry=self._registry, multiprocess_mode="livesum"
        )

        self._cooldowns = counter(
            "cooldowns", "Cooldowns that began, of models and whole providers.", "provider", "reason"
        )
        self._ended = counter("cooldowns_ended", "Cooldowns that ended.", "provider", "reason")
        self._in_cooldown = Gauge(
            "interlingua_in_cooldown",
            "Models and whole providers that are in cooldown now.",
            ["provider"],
            registry=self._registry,
            multiprocess_mode="livesum",
        )

        self._children: dict[tuple[Counter | Histogram, *tuple[str, ...]], Any] = {}

    def begin(self) -> None:
        """Count a call that has begun."""
        self._running.inc()

    def end(self, call: Call) -> None:
        """Count a call that has ended."""
        self._running.dec()
        model = call.model or ""
        self._of(self._calls, call.adapter, model, call.category or "ok").inc()
        for entry in (*call.request_loss, *call.answer_loss):
            self._of(self._losses, call.adapter, entry["severity"], entry["code"]).inc()
        if call.first_event_s is not None:
            self._of(self._first, model).observe(call.first_event_s)
        if call.category is None and call.took_s is not None:
            self._of(self._took, model).observe(call.took_s)
        usage = call.usage
        if usage is None:
            return
        for bucket, kind in _TOKENS.items():
            counter = self._of(self._tokens, model, kind)  # the counter exists, even with the value 0
            if tokens := usage.get(bucket):
                counter.inc(tokens)
        if usage.get("cost_usd") is None:
            self._of(self._unpriced, model).inc()
        else:
            self._of(self._cost, model).inc(float(usage["cost_usd"]))

    def cooldown(self, report: Mapping[str, Any]) -> None:
        """Count a cooldown that begins or ends: an observer of `Health`. Its model is no label, because a client can
        name any model."""
        provider, reason = report["name"].partition(":")[0], report["reason"]
        match report["type"]:
            case "unavailable":
                self._cooldowns.labels(provider, reason).inc()
                self._in_cooldown.labels(provider).inc()
            case "available":
                self._ended.labels(provider, reason).inc()
                self._in_cooldown.labels(provider).dec()
            case _:
                pass

    def _of(self, metric: Counter | Histogram, *labels: str) -> Any:
        """The child of a metric for these labels. It is kept, because `labels` takes longer than counting."""
        child = self._children.get((metric, *labels))
        if child is None:
            child = self._children[metric, *labels] = metric.labels(*labels)
        return child

    def text(self) -> bytes:
        """All metrics, in the text format of Prometheus."""
        if not self._shared:
            return generate_latest(self._registry)
        of_all = CollectorRegistry()
        MultiProcessCollector(of_all)  # the collector registers itself
        return generate_latest(of_all)
