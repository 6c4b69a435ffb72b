"""Spans of OpenTelemetry: what there is to see of decisions, of every call to a provider, and of both servers."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra otel is not installed")

import grpc.aio
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode

from interlingua import Client, SyncClient, telemetry, tool
from interlingua.canonical.errors import Cancelled, InvalidRequest, ProviderError
from interlingua.client import Fail, FakeTransport, Refuse, Say
from interlingua.client.routing import Routing
from interlingua.gateway import server as http_server
from interlingua.gateway.gateway import Gateway
from interlingua.service import server as grpc_server
from interlingua.service.logs import JsonLines
from interlingua.telemetry import Telemetry
from interlingua.v1 import service_pb2 as pb
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub

from .upstream import ask

pytestmark = pytest.mark.asyncio

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
SECRET = "what nobody may see"


class Spans:
    """The spans that have ended."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))

    def __iter__(self) -> Iterator[ReadableSpan]:
        return iter(sorted(self._exporter.get_finished_spans(), key=lambda span: span.start_time or 0))

    def names(self) -> list[str]:
        """Their names, in the order in which they began."""
        return [span.name for span in self]

    def of(self, name: str) -> ReadableSpan:
        """The one of a name."""
        (found,) = [span for span in self if span.name == name]
        return found


@pytest.fixture
def spans() -> Spans:
    """Where spans go in a test."""
    return Spans()


def client_over(spans: Spans, *steps: Any, propagate: bool = False, **members: Any) -> Client:
    """A client over a script, traced."""
    members.setdefault("retry", "none")
    return Client(FakeTransport(*steps), telemetry=Telemetry(spans.provider, propagate=propagate), **members)


def parent_of(span: ReadableSpan) -> int | None:
    """The id of the span above."""
    return None if span.parent is None else span.parent.span_id


# ---------------------------------------------------------------------------------------------------- calls


async def test_a_call_has_the_attributes_of_the_conventions(spans: Spans) -> None:
    """Those that are asked and those that are answered; tokens of caches are among those of the prompt."""
    usage = {"input_tokens": 10, "output_tokens": 5, "cached_input_tokens": 100, "reasoning_tokens": 2}
    request = ask(SECRET, max_output_tokens=99, temperature=0.5, top_p=1, seed=7, stop=["END"])
    async with client_over(spans, Say(SECRET, usage=usage, model="gpt-4.1-2026")) as client:
        response = await client.generate(request, model=GPT)
    assert spans.names() == ["route", "chat gpt-4.1"]
    span = spans.of("chat gpt-4.1")
    assert span.kind is SpanKind.CLIENT
    told = dict(span.attributes or {})
    assert told == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4.1",
        "gen_ai.request.max_tokens": 99,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 1,
        "gen_ai.request.seed": 7,
        "gen_ai.response.model": "gpt-4.1-2026",
        "gen_ai.response.id": response["id"],
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 110,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 100,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 2,
        "server.address": "api.openai.com",
        "server.port": 443,
        "interlingua.model": GPT,
        "interlingua.wire": "openai_chat",
        "interlingua.attempt": 1,
        "interlingua.usage.cost_usd": str(response["usage"]["cost_usd"]),
    }
    known = {value for value in vars(gen_ai_attributes).values() if isinstance(value, str)}
    assert {name for name in told if name.startswith("gen_ai.")} <= known
    assert SECRET not in "".join(one.to_json() for one in spans)
    decided = dict(spans.of("route").attributes or {})
    assert decided == {"interlingua.route.model": GPT, "interlingua.route.slot": "manual_sticky"}


async def test_providers_have_the_names_of_the_conventions() -> None:
    """Each name that is written in another way is one of their list."""
    known = {one.value for one in gen_ai_attributes.GenAiProviderNameValues}
    assert set(telemetry._PROVIDERS.values()) <= known
    assert {"openai", "anthropic", "cohere", "deepseek", "groq", "perplexity"} <= known


async def test_every_attempt_is_a_span(spans: Spans) -> None:
    """Those that failed, with the category and the status; another model, and the answer in the end."""

    async def sleep(_: float) -> None: ...

    steps = (Refuse(429), Refuse(529), Fail("network", sent=False), Say("at last"))
    async with client_over(spans, *steps, retry="once", sleep=sleep) as client:
        await client.generate(ask(), model=CLAUDE, fallbacks=[GPT])
    attempts = [span for span in spans if span.name.startswith("chat")]
    assert [span.name for span in attempts] == ["chat claude-sonnet-4-6"] * 2 + ["chat gpt-4.1"] * 2
    told = [dict(span.attributes or {}) for span in attempts]
    assert [one.get("error.type") for one in told] == ["rate_limit", "overloaded", "network", None]
    assert [one.get("http.response.status_code") for one in told] == [429, 529, None, None]
    assert [one["interlingua.attempt"] for one in told] == [1, 2, 3, 4]
    assert [span.status.status_code for span in attempts] == [StatusCode.ERROR] * 3 + [StatusCode.UNSET]


async def test_a_refusal_that_leads_on_has_ended(spans: Spans) -> None:
    """It was an answer, and is passed over."""
    async with client_over(spans, Say("no", finish_reason="refusal"), Say("yes")) as client:
        await client.generate(ask(), model=CLAUDE, fallbacks=[GPT], fail_over_on=["refusal"])
    assert [dict(span.attributes or {}).get("error.type") for span in spans][1:] == ["content_filter", None]


async def test_a_stream_lasts_to_its_end(spans: Spans) -> None:
    """The span of the call is as long as the answer, within it that of the stream; one that is given up is cancelled."""
    async with client_over(spans, Say("a b c", pause=0.02), Say("a b c", pause=0.02), Refuse(500)) as client:
        async with client.stream(ask(), model=GPT) as stream:
            assert [event["type"] async for event in stream][-1] == "message_complete"
        call, pulled = spans.of("chat gpt-4.1"), spans.of("stream")
        told = dict(call.attributes or {})
        assert told["gen_ai.request.stream"] is True
        assert 0.01 < told["gen_ai.response.time_to_first_chunk"] < 5
        assert told["gen_ai.usage.output_tokens"] == 5
        assert parent_of(pulled) == call.context.span_id
        assert call.start_time <= pulled.start_time <= pulled.end_time <= call.end_time
        async with client.stream(ask(), model=CLAUDE) as stream:
            await anext(stream)
        given_up = spans.of("chat claude-sonnet-4-6")
        assert dict(given_up.attributes or {})["error.type"] == "cancelled"
        assert len([name for name in spans.names() if name == "stream"]) == 2
        with pytest.raises(ProviderError):
            [event async for event in client.stream(ask(), model="openai:gpt-4o")]
        assert dict(spans.of("chat gpt-4o").attributes or {})["error.type"] == "server_error"


async def test_calls_stopped_and_out_of_time(spans: Spans) -> None:
    """Whoever stops a call ends its span."""
    async with client_over(spans, Say("late", delay=60), Say("late", delay=60), Say("a b", pause=0.05)) as client:
        with pytest.raises(ProviderError):
            await client.generate(ask(), model=GPT, deadline=0.02)
        task = asyncio.ensure_future(client.generate(ask(), model=CLAUDE))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        stream = client.stream(ask(), model="openai:gpt-4o")
        await anext(stream)
        stream.cancel()
        with pytest.raises(Cancelled):
            [event async for event in stream]
    kinds = {span.name: dict(span.attributes or {}).get("error.type") for span in spans}
    assert kinds["chat gpt-4.1"] == "timeout"
    assert kinds["chat claude-sonnet-4-6"] == "cancelled"
    assert kinds["chat gpt-4o"] == "cancelled"


async def test_the_context_goes_on_only_if_told(spans: Spans) -> None:
    """To the provider, in the header of the standard; each attempt with its own span."""
    for propagate in (False, True):
        fake = FakeTransport(Say("x"))
        async with Client(fake, telemetry=Telemetry(spans.provider, propagate=propagate)) as client:
            await client.generate(ask(), model=GPT)
        sent = fake.sent[0].headers.get("traceparent", "").rpartition("-")[0]
        last = [span for span in spans if span.name == "chat gpt-4.1"][-1]
        assert sent == (f"00-{last.context.trace_id:032x}-{last.context.span_id:016x}" if propagate else "")


async def test_spans_stand_below_those_of_the_program(spans: Spans) -> None:
    """Also through the thread of the synchronous client."""
    tracer = spans.provider.get_tracer("program")

    def calling() -> None:
        with (
            SyncClient(FakeTransport(Say("x")), telemetry=Telemetry(spans.provider)) as client,
            tracer.start_as_current_span("work"),
        ):
            client.generate(ask(), model=GPT)

    await asyncio.to_thread(calling)
    assert {parent_of(spans.of(name)) for name in ("route", "chat gpt-4.1")} == {spans.of("work").context.span_id}


async def test_tools_that_are_carried_out(spans: Spans) -> None:
    """Each a span with what it may change, above whatever it does itself; a failure has its class."""
    tracer = spans.provider.get_tracer("program")

    @tool(side_effects="write")
    def note(text: str) -> str:
        with tracer.start_as_current_span("inside"):
            return text

    calls = [("note", {"text": SECRET}), ("note", {"text": 1}), ("nothing", {})]
    async with client_over(spans, Say(calls=calls), Say("done")) as client:
        await client.run_tools(ask(), [note], model=GPT)
    carried = [span for span in spans if span.name.startswith("execute_tool")]
    told = [dict(span.attributes or {}) for span in carried]
    assert [span.name for span in carried] == ["execute_tool note"] * 2 + ["execute_tool nothing"]
    assert [one.get("error.type") for one in told] == [None, "validation_error", "not_found"]
    assert [one.get("interlingua.tool.side_effects") for one in told] == ["write", "write", None]
    assert {one["gen_ai.operation.name"] for one in told} == {"execute_tool"}
    assert parent_of(spans.of("inside")) == carried[0].context.span_id
    assert SECRET not in "".join(one.to_json() for one in spans)


async def test_without_telemetry_nothing_of_it_is_loaded() -> None:
    """What is not wanted costs nothing."""
    program = (
        "import asyncio, sys\n"
        "from interlingua import Client\n"
        "async def ask():\n"
        "    async with Client() as client:\n"
        "        request = {'messages': [{'role': 'user', 'content': [{'type': 'text', 'text': 'x'}]}]}\n"
        "        await client.generate(request, model='replay:gpt-5.4')\n"
        "asyncio.run(ask())\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])\n"
    )
    done = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


# ---------------------------------------------------------------------------------------------------- servers


@asynccontextmanager
async def gateway(spans: Spans, *steps: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A gateway over a script, traced."""
    traces = Telemetry(spans.provider)
    client = Client(FakeTransport(*steps), retry="none", telemetry=traces)
    routing = Routing(client.registry, {"version": 1, "global": {"default": CLAUDE}}, events=client.events)
    running = await http_server.start(Gateway(client, routing), port=0, traced=traces.asgi)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{running.port}") as http:
            yield http
    finally:
        await running.stop(0)
        await client.aclose()


async def test_a_call_through_the_gateway(spans: Spans) -> None:
    """One trace, from the client's own context down to the provider's answer, streamed or whole; errors tell what they
    are."""
    body = {"model": GPT, "max_tokens": 50, "messages": [{"role": "user", "content": SECRET}]}
    async with gateway(spans, Say(SECRET), Say("a b"), Refuse(529)) as http:
        answer = await http.post("/v1/messages", json=body, headers={"traceparent": TRACEPARENT})
        assert answer.status_code == 200
        served = spans.of("POST /v1/messages")
        assert served.kind is SpanKind.SERVER
        assert (f"{served.context.trace_id:032x}", f"{parent_of(served):016x}") == (TRACE, PARENT)
        told = dict(served.attributes or {})
        assert told == {
            "http.request.method": "POST",
            "url.scheme": "http",
            "http.route": "/v1/messages",
            "http.response.status_code": 200,
            "interlingua.request.id": answer.headers["interlingua-request-id"],
            "interlingua.model": GPT,
            "interlingua.loss": answer.headers["interlingua-loss"],
        }
        for name in ("route", "chat gpt-4.1"):
            assert parent_of(spans.of(name)) == served.context.span_id
        streamed = {**body, "stream": True, "model": "openai:gpt-4o"}
        async with http.stream(
            "POST", "/openai/v1/responses", json={"model": "gpt-4o", "input": "x", "stream": True}
        ) as s:
            await s.aread()
        served = spans.of("POST /{provider}/v1/responses")
        assert parent_of(spans.of("chat gpt-4o")) == served.context.span_id
        assert served.end_time >= spans.of("stream").end_time
        failed = await http.post("/v1/messages", json={**streamed, "stream": False, "model": "openai:gpt-4.1-mini"})
        assert failed.status_code == 529
        served = [span for span in spans if span.name == "POST /v1/messages"][-1]
        assert served.status.status_code is StatusCode.ERROR
        assert dict(served.attributes or {})["error.type"] == "529"
        assert (await http.get("/healthz")).status_code == (await http.get("/metrics")).status_code == 200
        assert not [name for name in spans.names() if "healthz" in name or "metrics" in name]
        await http.get("/v1/models/nobody")
        assert dict(spans.of("GET /v1/models/{id}").attributes or {})["http.response.status_code"] == 404
    assert SECRET not in "".join(one.to_json() for one in spans)


async def test_a_call_over_grpc(spans: Spans) -> None:
    """The same, with the context in the metadata; a failure has its status."""
    traces = Telemetry(spans.provider)
    client = Client(FakeTransport(Say(SECRET), Say("a b")), retry="none", telemetry=traces)
    running = await grpc_server.start("127.0.0.1:0", client=client, interceptors=[traces.interceptor()])
    request = pb.GenerateRequest(request_json=json.dumps(ask(SECRET, model=GPT)))
    metadata = (("traceparent", TRACEPARENT),)
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{running.port}") as channel:
            stub: Any = InterlinguaServiceStub(channel)
            await stub.Generate(request, metadata=metadata)
            streamed = pb.GenerateStreamRequest(request_json=json.dumps(ask(model="openai:gpt-4o")))
            assert [piece async for piece in stub.GenerateStream(streamed, metadata=metadata)]
            with pytest.raises(grpc.aio.AioRpcError):
                await stub.Check(pb.CheckRequest(value_json="{"))
    finally:
        await running.stop(0)
    served = spans.of("interlingua.v1.InterlinguaService/Generate")
    assert (f"{served.context.trace_id:032x}", f"{parent_of(served):016x}") == (TRACE, PARENT)
    assert dict(served.attributes or {}) == {
        "rpc.system": "grpc",
        "rpc.service": "interlingua.v1.InterlinguaService",
        "rpc.method": "Generate",
        "rpc.grpc.status_code": 0,
    }
    assert parent_of(spans.of("chat gpt-4.1")) == served.context.span_id
    served = spans.of("interlingua.v1.InterlinguaService/GenerateStream")
    assert parent_of(spans.of("chat gpt-4o")) == served.context.span_id
    failed = dict(spans.of("interlingua.v1.InterlinguaService/Check").attributes or {})
    assert (failed["rpc.grpc.status_code"], failed["error.type"]) == (3, "INVALID_ARGUMENT")
    assert SECRET not in "".join(one.to_json() for one in spans)


async def test_clients_that_leave_end_their_spans(spans: Spans, caplog: pytest.LogCaptureFixture) -> None:
    """In the middle of a stream, over HTTP and over gRPC: both spans end, and nothing is logged of it as an error."""
    body = {"model": "gpt-4o", "input": "x", "stream": True}
    async with gateway(spans, Say("a b c d e f g h", pause=0.2)) as http:
        async with http.stream("POST", "/openai/v1/responses", json=body) as answer:
            await anext(answer.aiter_raw())
        await _until(lambda: "POST /{provider}/v1/responses" in spans.names())
        assert dict(spans.of("chat gpt-4o").attributes or {})["error.type"] == "cancelled"
    traces = Telemetry(spans.provider)
    client = Client(FakeTransport(Say("a b c d e f g h", pause=0.2)), retry="none", telemetry=traces)
    running = await grpc_server.start("127.0.0.1:0", client=client, interceptors=[traces.interceptor()])
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{running.port}") as channel:
            stub: Any = InterlinguaServiceStub(channel)
            call = stub.GenerateStream(pb.GenerateStreamRequest(request_json=json.dumps(ask(model=GPT))))
            await anext(aiter(call))
            call.cancel()
            await _until(lambda: "interlingua.v1.InterlinguaService/GenerateStream" in spans.names())
    finally:
        await running.stop(0)
    assert dict(spans.of("chat gpt-4.1").attributes or {})["error.type"] == "cancelled"
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110 nobody tells when a span has ended
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("variables", "wrong"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "OTEL_EXPORTER_OTLP_PROTOCOL"),
        ({"OTEL_TRACES_EXPORTER": "none"}, ""),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, ""),
        ({}, ""),
    ],
)
async def test_the_environment_says_where_spans_go(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], wrong: str
) -> None:
    """By the standard variables; one that is not understood is told when the server starts."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    if wrong:
        with pytest.raises(InvalidRequest, match=wrong):
            telemetry.open_telemetry()
    else:
        telemetry.open_telemetry().close()


# ---------------------------------------------------------------------------------------------------- logs


async def test_a_log_entry_is_a_line_of_json(spans: Spans) -> None:
    """With its fields, the ids of the trace, and of an exception what cannot quote content."""
    logger = logging.getLogger("interlingua.test")
    lines: list[dict[str, Any]] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(self.format(record)))

    handler = Handler()
    handler.setFormatter(JsonLines())
    logger.addHandler(handler)
    try:
        with spans.provider.get_tracer("x").start_as_current_span("work") as span:
            logger.warning(
                "attempt %d\nat %s", 2, "x", extra={"model": GPT, "waited": 0.5, "odd": {1: object, 2: "\ud800"}}
            )
        try:
            raise ValueError(SECRET)
        except ValueError:
            logger.exception("it failed")
    finally:
        logger.removeHandler(handler)
    first, second = lines
    assert (first["message"], first["level"], first["logger"]) == ("attempt 2\nat x", "warning", "interlingua.test")
    assert (first["model"], first["waited"]) == (GPT, 0.5)
    assert first["time"].endswith("Z")
    context = span.get_span_context()
    assert (first["trace_id"], first["span_id"]) == (f"{context.trace_id:032x}", f"{context.span_id:016x}")
    assert second["exception"] == "ValueError"
    assert "test_telemetry.py" in second["stack"]
    assert "trace_id" not in second
    assert SECRET not in json.dumps(lines)
