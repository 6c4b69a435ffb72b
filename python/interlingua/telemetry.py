"""
Spans of OpenTelemetry, with the semantic conventions for generative AI (spec/9-service.md#traces). No span holds
content or a key.

    telemetry = Telemetry()                     # the tracer provider that the program has set up
    client = Client(telemetry=telemetry)

A program without spans does not import this module, and does not need the extra `otel`.
"""

import asyncio
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.client.call import Call

try:
    from opentelemetry import context as otel
    from opentelemetry import propagate, trace
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode
except ImportError:
    raise InvalidRequest("spans need OpenTelemetry: install interlingua[otel]") from None

Data = Mapping[str, Any]
App = Callable[[Any, Any, Any], Any]
"""An ASGI application."""

_PROVIDERS: Final = {
    "azure-openai": "azure.ai.openai",
    "azure-ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "bedrock-mantle": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""Providers that have another name in the conventions; the others have the same name there."""

_REQUEST_ATTRIBUTES: Final = {
    "max_output_tokens": "gen_ai.request.max_tokens",
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "top_k": "gen_ai.request.top_k",
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
}
_SPAN_HEADERS: Final = ("interlingua-request-id", "interlingua-model", "interlingua-loss")
"""Headers of a gateway's response that are also attributes of its span."""

_PROBES: Final = ("/healthz", "/metrics")
"""Paths that machines request again and again: their spans would only hide the others."""

_FAILED_STATUS: Final = 500
_HTTPS, _HTTP = 443, 80


class Telemetry:
    """Makes spans with a tracer provider, by default that of the program.

    With `propagate`, the context of the trace is sent to the providers, in the headers of the program's propagator
    (`traceparent`). Without it, no data of the trace is sent to them.
    """

    def __init__(self, tracer_provider: "trace.TracerProvider | None" = None, *, propagate: bool = False) -> None:
        from interlingua import __version__

        self._provider = tracer_provider
        self._tracer = trace.get_tracer("interlingua", __version__, tracer_provider)
        self._propagate = propagate

    def close(self) -> None:
        """Send the spans that have not been sent. It may be called any number of times."""
        shutdown: Callable[[], None] | None = getattr(self._provider, "shutdown", None)
        if shutdown is not None:
            shutdown()

    # ------------------------------------------------------------------------------------------------ the client

    def attempt(self, call: Call) -> "Attempt":
        """Begin the span of one call to a provider."""
        span = self._tracer.start_span(
            f"chat {call.endpoint.model}", kind=SpanKind.CLIENT, attributes=_request_attributes(call)
        )
        headers: dict[str, str] = {}
        if self._propagate:
            propagate.inject(headers, trace.set_span_in_context(span))
        return Attempt(self._tracer, span, headers)

    def decided(self, event: Data) -> None:
        """An observer of events: makes the span of a routing decision that has just ended."""
        if event["type"] != "route.decided":
            return
        payload = event["payload"]
        now = time.time_ns()
        attributes: dict[str, Any] = {}
        if payload["chosen_model"] is not None:
            attributes["interlingua.route.model"] = payload["chosen_model"]
            attributes["interlingua.route.slot"] = payload["chain"][payload["winner_index"]]["policy"]
        duration_ns = round((payload["elapsed_ms"] or 0) * 1_000_000)
        span = self._tracer.start_span("route", start_time=now - duration_ns, attributes=attributes)
        if payload["chosen_model"] is None:
            _fail(span, "no_candidate")
        span.end(now)

    @contextmanager
    def tool(self, call: Data, side_effects: str | None) -> Generator[Callable[[str], None]]:
        """The span of a tool call that is executed. The function that it yields takes the category of a failure."""
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call["name"],
            "gen_ai.tool.call.id": call["id"],
            "gen_ai.tool.type": "function",
        }
        if side_effects is not None:
            attributes["interlingua.tool.side_effects"] = side_effects
        span = self._tracer.start_span(f"execute_tool {call['name']}", attributes=attributes)
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            yield lambda category: _fail(span, category)

    # ------------------------------------------------------------------------------------------------ the servers

    def asgi(self, app: App) -> App:
        """An ASGI application with a span for each call. The span continues the trace of the caller."""

        async def traced(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http" or scope["path"] in _PROBES:
                await app(scope, receive, send)
                return
            carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            attributes = {"http.request.method": scope["method"], "url.scheme": scope["scheme"]}
            with self._serving(scope["method"], carrier, attributes) as span:

                async def send_recorded(message: Any) -> None:
                    if message["type"] == "http.response.start":
                        _record_response(span, message)
                    await send(message)

                try:
                    await app(scope, receive, send_recorded)
                finally:
                    if (route := _route(scope)) is not None:
                        span.update_name(f"{scope['method']} {route}")
                        span.set_attribute("http.route", route)

        return traced

    def interceptor(self) -> Any:
        """An interceptor of grpc.aio servers, with a span for each call of the services of this package."""
        import grpc
        import grpc.aio

        serving = self._serving

        class Interceptor(grpc.aio.ServerInterceptor):
            async def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
                handler = await continuation(handler_call_details)
                method: str = handler_call_details.method
                if handler is None or not method.startswith("/interlingua."):
                    return handler
                metadata: Iterable[Any] = handler_call_details.invocation_metadata or ()
                carrier = {name: value for name, value in metadata if isinstance(value, str)}
                service, _, name = method[1:].partition("/")
                attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name}

                async def unary(request: Any, context: Any) -> Any:
                    inner = handler.stream_unary if handler.request_streaming else handler.unary_unary
                    with serving(method[1:], carrier, attributes) as span:
                        try:
                            return await inner(request, context)
                        finally:
                            _status(span, context.code())

                async def streamed(request: Any, context: Any) -> Any:
                    inner = handler.stream_stream if handler.request_streaming else handler.unary_stream
                    with serving(method[1:], carrier, attributes) as span:
                        try:
                            async for answer in inner(request, context):
                                yield answer
                        finally:
                            _status(span, context.code())

                make: Any = {
                    (False, False): grpc.unary_unary_rpc_method_handler,
                    (False, True): grpc.unary_stream_rpc_method_handler,
                    (True, False): grpc.stream_unary_rpc_method_handler,
                    (True, True): grpc.stream_stream_rpc_method_handler,
                }[handler.request_streaming, handler.response_streaming]
                wrapped = streamed if handler.response_streaming else unary
                return make(wrapped, handler.request_deserializer, handler.response_serializer)

        return Interceptor()

    @contextmanager
    def _serving(self, name: str, carrier: Mapping[str, str], attributes: Mapping[str, str]) -> Generator[Span]:
        """The span of a call that is served. It is the parent of all spans that begin meanwhile."""
        span = self._tracer.start_span(name, propagate.extract(carrier), SpanKind.SERVER, attributes)
        token = otel.attach(trace.set_span_in_context(span, propagate.extract(carrier)))
        try:
            yield span
        except BaseException as problem:
            # the error that the caller got has precedence
            if "error.type" not in (getattr(span, "attributes", None) or ()):
                _fail(span, category_of(problem))
            raise
        finally:
            otel.detach(token)
            span.end()


class Attempt:
    """The span of one call to a provider, and that of its stream. `headers` are sent to the provider."""

    def __init__(self, tracer: trace.Tracer, span: Span, headers: Mapping[str, str]) -> None:
        self.headers = headers
        self._tracer = tracer
        self._span = span
        self._began = time.perf_counter()
        self._stream: Span | None = None

    def begun(self) -> None:
        """Record that the first event of a stream has arrived."""
        self._span.set_attribute("gen_ai.response.time_to_first_chunk", time.perf_counter() - self._began)
        self._stream = self._tracer.start_span("stream", trace.set_span_in_context(self._span))

    def answered(self, response: Data) -> None:
        """Record the whole response, and end the span."""
        if self._span.is_recording():
            self._span.set_attributes(_response_attributes(response))
        self._end()

    def failed(self, problem: BaseException | str) -> None:
        """Record a failure, and end the span; a text is the category of the failure. A span that has already ended does
        not change."""
        if self._span.is_recording():
            category = problem if isinstance(problem, str) else category_of(problem)
            status = getattr(problem, "error", {}).get("status")
            if status is not None:
                self._span.set_attribute("http.response.status_code", status)
            for span in (self._stream, self._span):
                if span is not None:
                    _fail(span, category)
        self._end()

    def _end(self) -> None:
        for span in (self._stream, self._span):
            if span is not None and span.is_recording():
                span.end()


def open_telemetry(*, propagate: bool = False) -> Telemetry:
    """Spans for a server, sent as the standard variables of OpenTelemetry define (`OTEL_EXPORTER_OTLP_ENDPOINT` and
    others).

    Raises `InvalidRequest` for a variable with an unknown value, and when the SDK is not installed.
    """
    try:
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise InvalidRequest("spans need OpenTelemetry: install interlingua[otel]") from None
    exporter = _exporter()
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: "interlingua"}))
    provider = TracerProvider(resource=resource)
    if exporter is not None:
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return Telemetry(provider, propagate=propagate)


def _exporter() -> Any:
    """The exporter of spans; None where spans are not exported."""
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "otlp").strip() or "otlp"
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") or os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL")
    if exporter == "none":
        return None
    if exporter == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    if exporter != "otlp":
        raise InvalidRequest(f"OTEL_TRACES_EXPORTER is otlp, console or none; not {exporter[:40]!r}")
    try:
        if protocol in (None, "", "http/protobuf"):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        elif protocol == "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        else:
            raise InvalidRequest(f"OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf or grpc; not {protocol[:40]!r}")
    except ImportError:
        raise InvalidRequest("spans need OpenTelemetry: install interlingua[otel]") from None
    return OTLPSpanExporter()


# ---------------------------------------------------------------------------------------------------- attributes


def _request_attributes(call: Call) -> dict[str, Any]:
    endpoint, request = call.endpoint, call.request
    provider = endpoint.provider or endpoint.adapter
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": endpoint.model or "",
        "interlingua.model": call.model,
        "interlingua.wire": endpoint.adapter,
        "interlingua.attempt": len(call.trail.attempts) + 1,
    }
    for name, attribute in _REQUEST_ATTRIBUTES.items():
        if (value := request.get(name)) is not None:
            attributes[attribute] = value if isinstance(value, int) else float(value)
    if request.get("stream"):
        attributes["gen_ai.request.stream"] = True
    if request.get("n") not in (None, 1):
        attributes["gen_ai.request.choice.count"] = request["n"]
    if request.get("response_format") is not None:
        attributes["gen_ai.output.type"] = "text" if request["response_format"].get("type") == "text" else "json"
    if (session := request["messages"][-1].get("session_id")) is not None:
        attributes["gen_ai.conversation.id"] = session
    if call.url.startswith(("http://", "https://")):
        address = urlsplit(call.url)
        attributes["server.address"] = address.hostname or ""
        attributes["server.port"] = address.port or (_HTTPS if address.scheme == "https" else _HTTP)
    return attributes


def _response_attributes(response: Data) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    choices = (response, *(response.get("alternatives") or ()))
    attributes["gen_ai.response.finish_reasons"] = [choice["finish_reason"] for choice in choices]
    if response.get("model") is not None:
        attributes["gen_ai.response.model"] = str(response["model"]).partition(":")[2] or response["model"]
    if response.get("id") is not None:
        attributes["gen_ai.response.id"] = response["id"]
    usage: Data = response.get("usage") or {}
    if usage:
        cache_read, cache_creation = (
            usage.get("cached_input_tokens") or 0,
            usage.get("cache_creation_input_tokens") or 0,
        )
        # the conventions count cached tokens as tokens of the prompt; our buckets are disjoint
        attributes["gen_ai.usage.input_tokens"] = usage["input_tokens"] + cache_read + cache_creation
        attributes["gen_ai.usage.output_tokens"] = usage["output_tokens"]
        attributes["gen_ai.usage.cache_read.input_tokens"] = cache_read
        attributes["gen_ai.usage.cache_creation.input_tokens"] = cache_creation
        if usage.get("reasoning_tokens") is not None:
            attributes["gen_ai.usage.reasoning.output_tokens"] = usage["reasoning_tokens"]
        if usage.get("cost_usd") is not None:
            attributes["interlingua.usage.cost_usd"] = str(usage["cost_usd"])
    for severity in ("lost", "weakened", "representation"):
        if count := sum(entry["severity"] == severity for entry in response.get("loss") or ()):
            attributes[f"interlingua.loss.{severity}"] = count
    return attributes


def _record_response(span: Span, message: Data) -> None:
    status: int = message["status"]
    span.set_attribute("http.response.status_code", status)
    if status >= _FAILED_STATUS:
        _fail(span, str(status))
    for name, value in message.get("headers", ()):
        if (text := name.decode("latin-1").lower()) in _SPAN_HEADERS:
            span.set_attribute(text.replace("interlingua-", "interlingua.").replace("-", "."), value.decode("latin-1"))


def _route(scope: Data) -> str | None:
    """The path that was served, with the names of its parameters in place of their values."""
    if scope.get("endpoint") is None or not callable(scope["endpoint"]) or hasattr(scope["endpoint"], "routes"):
        return None
    route: str = scope["path"]
    for name, value in scope.get("path_params", {}).items():
        route = route.replace(str(value), f"{{{name}}}", 1)
    return route


def _status(span: Span, code: Any) -> None:
    """Set the status of a gRPC call; None means OK."""
    number = 0 if code is None else code.value[0] if hasattr(code, "value") else int(code)
    span.set_attribute("rpc.grpc.status_code", number)
    if number:
        _fail(span, getattr(code, "name", str(number)))


def _fail(span: Span, category: str) -> None:
    span.set_attribute("error.type", category)
    span.set_status(Status(StatusCode.ERROR))


def category_of(problem: BaseException) -> str:
    """The category of a failure, or another word for its kind."""
    if isinstance(problem, asyncio.CancelledError):
        return "cancelled"
    if isinstance(problem, InterlinguaError):
        return problem.to_dict()["category"]
    reason = getattr(problem, "category", None) or getattr(problem, "reason", None)
    return {"deadline": "timeout"}.get(reason, reason) if isinstance(reason, str) else type(problem).__name__
