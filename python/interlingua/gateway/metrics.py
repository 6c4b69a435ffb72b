"""
The metrics of a gateway, for Prometheus (spec/11-gateway.md#metrics). No label holds content, a secret, or a text that a
client can choose freely: a label names a model only when the registry lists it or it has answered.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from interlingua.access import OF_CERTIFICATE, tokens
from interlingua.gateway.calls import Call

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_MOST_KEYS = 1000
_OTHER_KEYS = ("", "")
_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250)
_TOKENS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cached_input_tokens": "cache_read",
    "cache_creation_input_tokens": "cache_write",
}


class Metrics:
    """The metrics of one gateway. `models` are those of the registry, by canonical id. With `shared`, all its workers
    share the metrics, in the files of the folder that `PROMETHEUS_MULTIPROC_DIR` named when this process began."""

    def __init__(self, models: Iterable[str] = (), *, shared: bool = False) -> None:
        self._registry = CollectorRegistry()
        self._shared = shared
        self._models = set(models)
        self._keys: set[tuple[str, str]] = set()

        def counter(name: str, description: str, *labels: str) -> Counter:
            return Counter(f"interlingua_{name}", description, labels, registry=self._registry)

        def histogram(name: str, description: str, *labels: str) -> Histogram:
            return Histogram(f"interlingua_{name}", description, labels, buckets=_SECONDS, registry=self._registry)

        self._calls = counter(
            "calls",
            "Calls that ended, by the category of their error or ok.",
            "wire",
            "provider",
            "model",
            "outcome",
        )
        self._failed = counter(
            "failed_attempts", "Calls to providers that failed, by category.", "provider", "model", "category"
        )
        self._refusals = counter("refusals", "Failed calls without a record, by category.", "wire", "category")
        self._tokens = counter("tokens", "Tokens of answers, in disjoint buckets.", "model", "kind")
        self._cost = counter("cost_usd", "Cost of answers whose price is known, in USD.", "model")
        self._unpriced = counter("unpriced", "Answers whose price is not known.", "model")
        self._calls_of_keys = counter("key_calls", "Calls that ended, by key.", "key", "tenant", "outcome")
        self._tokens_of_keys = counter("key_tokens", "Tokens of answers, by key.", "key", "tenant")
        self._cost_of_keys = counter("key_cost_usd", "Known cost of answers, by key, in USD.", "key", "tenant")
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
        if call.model is not None and call.category is None:
            self._models.add(call.model)
        provider, model = self._labels(call.tried)
        outcome = call.category or "ok"
        self._of(self._calls, call.adapter, provider, model, outcome).inc()
        key = self._key(call)
        self._of(self._calls_of_keys, *key, outcome).inc()
        for attempt in call.failed_attempts:
            self._of(self._failed, *self._labels(attempt["model"]), attempt["category"]).inc()
        for entry in (*call.request_loss, *call.answer_loss):
            self._of(self._losses, call.adapter, entry["severity"], entry["code"]).inc()
        if call.first_event_s is not None:
            self._of(self._first, model).observe(call.first_event_s)
        if call.category is None and call.took_s is not None:
            self._of(self._took, model).observe(call.took_s)
        usage = call.usage
        if usage is None:
            return
        self._of(self._tokens_of_keys, *key).inc(tokens(usage))
        for bucket, kind in _TOKENS.items():
            counter = self._of(self._tokens, model, kind)  # the counter exists, even with the value 0
            if count := usage.get(bucket):
                counter.inc(count)
        if usage.get("cost_usd") is None:
            self._of(self._unpriced, model).inc()
        else:
            self._of(self._cost, model).inc(float(usage["cost_usd"]))
            self._of(self._cost_of_keys, *key).inc(float(usage["cost_usd"]))

    def _labels(self, model: str | None) -> tuple[str, str]:
        """The labels of a model: its provider, and itself where it is known."""
        if model is None:
            return "", ""
        return model.partition(":")[0], model if model in self._models else ""

    def _key(self, call: Call) -> tuple[str, str]:
        """The labels of the key of a call. Certificates may have any number of subjects, of which the first are named."""
        key = call.key, call.tenant
        if call.key.startswith(OF_CERTIFICATE) and key not in self._keys:
            if len(self._keys) >= _MOST_KEYS:
                return _OTHER_KEYS
            self._keys.add(key)
        return key

    def refused(self, wire: str, category: str) -> None:
        """Count a failed call that has no record."""
        self._of(self._refusals, wire, category).inc()

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
            case _:  # the end of one that lasts has moved
                pass

    def _of(self, metric: Counter | Histogram, *labels: str) -> Any:
        """The child of a metric for these labels. It is kept, because `labels` takes longer than counting."""
        child = self._children.get((metric, *labels))
        if child is None:
            child = self._children[metric, *labels] = metric.labels(*labels)
        return child

    def text(self, tenant: str | None = None, *, totals: bool = True) -> bytes:
        """The metrics in the text format of Prometheus: all with None, else those by key of one tenant, and those of all
        calls together where `totals` are asked for."""
        registry = self._registry
        if self._shared:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # the collector registers itself
        if tenant is None:
            return generate_latest(registry)
        visible = CollectorRegistry()
        visible.register(_OfTenant(registry, tenant, totals=totals))
        return generate_latest(visible)


class _OfTenant(Collector):
    """The metrics of a registry without the samples of other tenants, and without those of no tenant unless `totals`
    are asked for."""

    def __init__(self, registry: CollectorRegistry, tenant: str, *, totals: bool) -> None:
        self._registry = registry
        self._tenant = tenant
        self._without_label = tenant if totals else None

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            visible = copy(metric)
            visible.samples = [
                sample for sample in metric.samples if sample.labels.get("tenant", self._without_label) == self._tenant
            ]
            if visible.samples:
                yield visible
