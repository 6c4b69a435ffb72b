"""
What a gateway counts, for Prometheus (spec/11-gateway.md#metrics). No label holds content, a key, or a text that a client
can choose freely: a model stands there only when it has answered.
"""

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
    """The counters of one gateway; `shared` by all its workers, in the files of the folder that `PROMETHEUS_MULTIPROC_DIR`
    named when this process began."""

    def __init__(self, *, shared: bool = False) -> None:
        self._registry = CollectorRegistry()
        self._shared = shared

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"interlingua_{name}", about, labels, registry=self._registry)

        def histogram(name: str, about: str, *labels: str) -> Histogram:
            return Histogram(f"interlingua_{name}", about, labels, buckets=_SECONDS, registry=self._registry)

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

    def begin(self) -> None:
        """A call has begun."""
        self._running.inc()

    def end(self, call: Call) -> None:
        """A call has ended."""
        self._running.dec()
        model = call.model or ""
        self._calls.labels(call.adapter, model, call.category or "ok").inc()
        for entry in (*call.request_loss, *call.answer_loss):
            self._losses.labels(call.adapter, entry["severity"], entry["code"]).inc()
        if call.first is not None:
            self._first.labels(model).observe(call.first)
        if call.category is None and call.took is not None:
            self._took.labels(model).observe(call.took)
        usage = call.usage
        if usage is None:
            return
        for bucket, kind in _TOKENS.items():
            self._tokens.labels(model, kind).inc(usage.get(bucket) or 0)
        if usage.get("cost_usd") is None:
            self._unpriced.labels(model).inc()
        else:
            self._cost.labels(model).inc(float(usage["cost_usd"]))

    def text(self) -> bytes:
        """All counters, as Prometheus reads them."""
        if not self._shared:
            return generate_latest(self._registry)
        of_all = CollectorRegistry()
        MultiProcessCollector(of_all)  # it enters itself
        return generate_latest(of_all)
