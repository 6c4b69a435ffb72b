"""What a wire has and the gateway has not: passed on untouched, or refused as it is without `--passthrough`."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import botocore.auth
import httpx
import pytest
import uvicorn
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from interlingua.access import Access, Key, access_key_id, digest, signing_key
from interlingua.client import Client
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.gateway import Gateway
from interlingua.registry import Registry

pytestmark = pytest.mark.asyncio

KEYS = {"openai": "sk-openai", "anthropic": "sk-anthropic", "gemini": "sk-gemini", "groq": "sk-groq"}
MINE = "ilk_mine"


@dataclass
class Provider:
    """A provider on loopback: what it was asked, and how it answers."""

    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    answer: Callable[[Any, Any], Any] | None = None
    status: int = 200
    headers: list[tuple[bytes, bytes]] = field(default_factory=lambda: [(b"content-type", b"application/json")])
    body: bytes = b'{"object": "file"}'

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        seen = {
            "method": scope["method"],
            "path": scope["raw_path"].decode(),
            "query": scope["query_string"].decode(),
            "headers": [(name.decode(), value.decode()) for name, value in scope["headers"]],
            "body": b"",
        }
        self.seen.append(seen)
        if self.answer is not None:
            await self.answer(receive, send)
            return
        more = True
        while more:
            message = await receive()
            seen["body"] += message.get("body", b"")
            more = message.get("more_body", False)
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})

    @property
    def sent(self) -> dict[str, str]:
        """The headers of the last call."""
        return dict(self.seen[-1]["headers"])


@asynccontextmanager
async def _provider() -> AsyncIterator[Provider]:
    provider = Provider()
    config = uvicorn.Config(provider, port=0, lifespan="off", log_config=None, ws="none", timeout_graceful_shutdown=1)
    running = uvicorn.Server(config)
    bound = config.bind_socket()
    config.load()
    running.lifespan = config.lifespan_class(config)
    await running.startup([bound])
    provider.url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    try:
        yield provider
    finally:
        await running.shutdown([bound])


@dataclass
class At:
    """A gateway that passes on, a client of it, and the provider behind it, whoever that is."""

    gateway: Gateway
    http: httpx.AsyncClient
    provider: Provider


@asynccontextmanager
async def passing(
    keys: list[Key] | None = None, *, passthrough: bool = True, base: str = "", environment: Any = None
) -> AsyncIterator[At]:
    """All providers are one server on loopback; `base` is the path of its base URL for openai."""
    async with _provider() as provider:
        urls = {"anthropic": provider.url}
        urls |= {
            "openai": f"{provider.url}{base}/v1",
            "gemini": f"{provider.url}/v1beta",
            "groq": f"{provider.url}/openai/v1",
        }
        registry = Registry(environment=environment or {})
        client = Client(registry=registry, keys=KEYS, base_urls=urls, retry="none")
        access = Access(keys or (), clock=lambda: 0.0, now=client.now)
        gateway = Gateway(client, Routing(registry, None), access, passthrough=passthrough)
        running = await server.start(gateway, port=0)
        address = f"http://127.0.0.1:{running.port}"
        try:
            async with httpx.AsyncClient(base_url=address, timeout=10) as http:
                yield At(gateway, http, provider)
        finally:
            await running.stop(0)
            await client.aclose()


# ---------------------------------------------------------------------------------------------------- there and back


async def test_a_call_goes_through_untouched() -> None:
    """Method, path, query and body; the provider's key in the place of the gateway's; status, headers and body back."""
    async with passing([Key("mine", digest(MINE), "mine")]) as at:
        at.provider.status = 201
        at.provider.headers = [
            (b"content-type", b"application/json"),
            (b"x-request-id", b"req_1"),
            (b"x-twice", b"a"),
            (b"x-twice", b"b"),
            (b"set-cookie", b"session=1"),
            (b"keep-alive", b"timeout=9"),
            (b"interlingua-loss", b"lost=99"),
        ]
        answer = await at.http.put(
            "/v1/files/a%2Fb%20c?purpose=batch&after=x%26y",
            content=b"\x00\x01 raw",
            headers={
                "authorization": f"Bearer {MINE}",
                "openai-beta": "assistants=v2",
                "x-unknown": "kept",
                "content-type": "multipart/form-data; boundary=x",
                "cookie": "a=b",
                "te": "trailers",
                "connection": "keep-alive, x-hop",
                "x-hop": "1",
                "x-forwarded-for": "10.0.0.1",
                "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "interlingua-strict": "lost",
                "accept-encoding": "gzip",
            },
        )
        assert (answer.status_code, answer.json()) == (201, {"object": "file"})
        assert answer.headers["x-request-id"] == "req_1"
        assert answer.headers.get_list("x-twice") == ["a", "b"]
        assert "set-cookie" not in answer.headers
        assert "interlingua-loss" not in answer.headers
        assert len(answer.headers.get_list("date")) == 1
        seen = at.provider.seen[-1]
        assert (seen["method"], seen["path"]) == ("PUT", "/v1/files/a%2Fb%20c")
        assert (seen["query"], seen["body"]) == ("purpose=batch&after=x%26y", b"\x00\x01 raw")
        sent = at.provider.sent
        assert sent["authorization"] == "Bearer sk-openai"
        assert sent["host"] == at.provider.url.removeprefix("http://")
        assert (sent["openai-beta"], sent["x-unknown"]) == ("assistants=v2", "kept")
        assert sent["content-type"] == "multipart/form-data; boundary=x"
        assert (sent["content-length"], sent["accept-encoding"]) == ("6", "gzip")
        gone = ("cookie", "te", "x-hop", "x-forwarded-for", "traceparent", "interlingua-strict", "transfer-encoding")
        assert not set(gone) & set(sent)
        assert MINE not in json.dumps(at.provider.seen, default=str)
        record = (await at.http.get("/v1/interlingua/calls", headers={"x-api-key": MINE})).json()["calls"][0]
        assert record["asked_model"] == "PUT /v1/files/a%2Fb%20c"
        assert (record["status"], record["model"], record["usage"]) == (201, None, None)
        assert answer.headers["interlingua-request-id"] == record["id"]


@pytest.mark.parametrize(
    ("path", "headers", "arrives", "authorized"),
    [
        ("/v1/embeddings", {}, "/v1/embeddings", ("authorization", "Bearer sk-openai")),
        ("/v1/messages/batches", {}, "/v1/messages/batches", ("x-api-key", "sk-anthropic")),
        ("/v1/files", {"anthropic-version": "2023-06-01"}, "/v1/files", ("x-api-key", "sk-anthropic")),
        ("/v1beta/files", {}, "/v1beta/files", ("x-goog-api-key", "sk-gemini")),
        ("/upload/v1beta/files", {}, "/upload/v1beta/files", ("x-goog-api-key", "sk-gemini")),
        ("/v1beta/models/e:embedContent", {}, "/v1beta/models/e:embedContent", ("x-goog-api-key", "sk-gemini")),
        ("/groq/v1/audio/speech", {}, "/openai/v1/audio/speech", ("authorization", "Bearer sk-groq")),
        ("/anthropic/v1/files", {}, "/v1/files", ("x-api-key", "sk-anthropic")),
        ("/openai/v1/batches", {}, "/v1/batches", ("authorization", "Bearer sk-openai")),
    ],
)
async def test_whose_call_it_is(path: str, headers: Any, arrives: str, authorized: tuple[str, str]) -> None:
    """The path and the headers tell the wire, a name before the path the provider."""
    async with passing() as at:
        answer = await at.http.post(
            path, json={"x": 1}, headers=headers, params={"key": "of-the-gateway", "alt": "json"}
        )
        assert answer.status_code == 200
        assert at.provider.seen[-1]["path"] == arrives
        assert at.provider.seen[-1]["query"] == "alt=json"
        assert at.provider.sent[authorized[0]] == authorized[1]


async def test_bodies_are_streamed_both_ways() -> None:
    """Each piece arrives before the next one is there, in either direction, and the method without a body has none."""
    got: asyncio.Queue[bytes] = asyncio.Queue()
    go_on = asyncio.Event()

    async def answer(receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            more = message.get("more_body", False)
            if message["body"]:
                got.put_nowait(message["body"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await go_on.wait()
        await send({"type": "http.response.body", "body": b"data: 2\n\n"})

    async def body() -> AsyncIterator[bytes]:
        yield b"first"
        assert await asyncio.wait_for(got.get(), 5) == b"first"
        yield b"second"

    async with passing() as at:
        at.provider.answer = answer
        async with at.http.stream("POST", "/v1/audio/transcriptions", content=body()) as response:
            assert at.provider.sent["transfer-encoding"] == "chunked"
            pieces = response.aiter_raw()
            assert await anext(pieces) == b"data: 1\n\n"
            go_on.set()
            assert await anext(pieces) == b"data: 2\n\n"
        assert await got.get() == b"second"
        at.provider.answer = None
        assert (await at.http.get("/v1/files")).status_code == 200
        assert not {"content-length", "transfer-encoding"} & set(at.provider.sent)
        assert (await at.http.head("/v1/files/1")).status_code == 200
        assert at.provider.seen[-1]["method"] == "HEAD"


async def test_compressed_answers_stay_compressed() -> None:
    """The client asked for it; nothing is read on the way."""
    async with passing() as at:
        at.provider.body = gzip.compress(b'{"data": []}')
        at.provider.headers = [(b"content-encoding", b"gzip"), (b"content-length", b"%d" % len(at.provider.body))]
        async with at.http.stream("GET", "/v1/batches") as answer:
            raw = b"".join([piece async for piece in answer.aiter_raw()])
        assert raw == at.provider.body
        assert answer.headers["content-encoding"] == "gzip"


async def test_an_answer_that_breaks_off_does_not_look_whole() -> None:
    """And a client that goes away ends the call to the provider."""
    gone = asyncio.Event()

    async def breaks(receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})

    async def waits(receive: Any, send: Any) -> None:
        await receive()
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    async with passing() as at:
        at.provider.answer = breaks
        with pytest.raises(httpx.RemoteProtocolError):
            await at.http.get("/v1/files/1/content")
        at.provider.answer = waits
        with pytest.raises(httpx.ReadTimeout):
            await at.http.post("/v1/files", json={}, timeout=0.3)
        await asyncio.wait_for(gone.wait(), 5)
        await asyncio.sleep(0.05)
        assert at.gateway.calls.of("anybody")[0].category == "cancelled"


async def test_a_gateway_that_ends_does_not_wait_for_what_is_passed_on() -> None:
    """At the end of grace a call that goes on is cut off, before its answer and within it."""

    async def begins(receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await asyncio.sleep(60)

    async def waits(receive: Any, send: Any) -> None:
        await asyncio.sleep(60)

    async with passing() as at:
        at.provider.answer = begins
        async with at.http.stream("GET", "/v1/files/1/content") as answer:
            pieces = answer.aiter_raw()
            assert await anext(pieces) == b"begun"
            at.provider.answer = waits
            waiting = asyncio.ensure_future(at.http.get("/v1/files"))
            await asyncio.sleep(0.2)
            at.gateway.in_flight.end()
            with pytest.raises(httpx.RemoteProtocolError):
                await anext(pieces)
        told = await waiting
        assert told.status_code == 500
        assert "shut down" in told.json()["error"]["message"]
        records = at.gateway.calls.of("anybody")
        assert {record.category for record in records} == {"server_error"}


# ---------------------------------------------------------------------------------------------------- refused


async def test_without_being_told_nothing_is_passed_on() -> None:
    """The wire's own error, as ever; and paths that belong to no wire, and the gateway's own, stay here in any case."""
    async with passing(passthrough=False) as at:
        answer = await at.http.post("/v1/embeddings", json={})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_url")
        assert "/v1/chat/completions" in answer.json()["error"]["message"]
    async with passing() as at:
        for path in ("/favicon.ico", "/v1/interlingua/nothing", "/wp-login.php", "/metrics/x", "/nobody/v1/files"):
            assert (await at.http.get(path)).status_code == 404, path
        assert (await at.http.post("/interlingua.v1.InterlinguaService/Nothing", json={})).status_code == 501
        assert at.provider.seen == []


@pytest.mark.parametrize(
    "path",
    [
        b"/v1/../admin",
        b"/v1/files/..",
        b"/v1/files/%2e%2e/%2E%2e/admin",
        b"/v1/files/%252e%252e/admin",
        b"/v1/files/..%2f..%2fadmin",
        b"/v1/files/..%5c..%5cadmin",
        b"/v1/files/..\\admin",
        b"/v1/files/..;x=1/admin",
        b"/v1//elsewhere.example/files",
        b"//elsewhere.example/v1/files",
        b"/openai//elsewhere.example/v1",
        b"/openai/../v1/files",
        b"/v1/messages/",
        b"/v1/Models",
        b"/v1/models;x=1",
        b"/v1/models%20",
        b"/openai/V1/models",
        b"/openai/models",
        b"/v1/chat/./completions",
        b"/v1/files/%00",
        b"/v1/files/%0d%0aHost:%20elsewhere.example",
        b"/openai/@elsewhere.example/..",
    ],
)
async def test_no_path_leaves_the_base_url_or_walks_round_an_operation(path: bytes) -> None:
    """However its steps are written. Sent as raw bytes: clients straighten such paths themselves."""
    async with passing(base="/proxy/tenant") as at:
        port = at.http.base_url.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        received = await asyncio.wait_for(reader.read(), 5)
        writer.close()
        assert int(received.split(b" ")[1]) in (400, 404)
        assert at.provider.seen == []


async def test_other_paths_stay_below_the_base_url() -> None:
    """A path of a base URL is part of where a provider is."""
    async with passing(base="/proxy/tenant") as at:
        for path in ("/v1/files", "/openai/v1/files", "/v1/@elsewhere.example", "/openai/v1/http:x"):
            await at.http.get(path)
        assert all(seen["path"].startswith("/proxy/tenant/v1/") for seen in at.provider.seen)
        assert len(at.provider.seen) == 4


async def test_the_rules_of_keys_hold() -> None:
    """A key is needed, limits and a used-up budget refuse, and a key for some models alone passes nothing on."""
    narrow = Key("narrow", digest("narrow"), "a", models=("openai:gpt-*", "anthropic:*"))
    slow = Key("slow", digest("slow"), "b", calls_per_minute=1)
    spent = Key("spent", digest("spent"), "c", budget_usd_per_day=Decimal(0), allow_unpriced=True)
    counted = Key("counted", digest("counted"), "d", budget_usd_per_day=Decimal(5))
    async with passing([narrow, slow, spent, counted]) as at:

        async def status(path: str, key: str) -> int:
            return (await at.http.post(path, json={}, headers={"authorization": f"Bearer {key}"})).status_code

        assert await status("/v1/embeddings", "unknown") == 401
        assert await status("/v1/embeddings", "narrow") == 403
        assert await status("/anthropic/v1/files", "narrow") == 200
        assert [await status("/v1/embeddings", "slow") for _ in range(2)] == [200, 429]
        assert await status("/v1/embeddings", "spent") in (402, 429)
        assert await status("/v1/embeddings", "counted") == 403
        assert len(at.provider.seen) == 2


async def test_failures_come_back_without_the_key() -> None:
    """A status and its body as they are; what quotes the provider's key does not."""
    async with passing() as at:
        at.provider.status = 401
        at.provider.body = gzip.compress(b'{"error": {"message": "Incorrect API key provided: sk-openai"}}')
        at.provider.headers = [(b"content-encoding", b"gzip"), (b"retry-after", b"3")]
        answer = await at.http.post("/v1/embeddings", json={})
        assert answer.status_code == 401
        assert answer.json()["error"]["message"] == "Incorrect API key provided: [secret]"
        assert answer.headers["retry-after"] == "3"
        assert "content-encoding" not in answer.headers


async def test_providers_that_cannot_be_called() -> None:
    """No key, a signature that takes the whole call: told in the words of the wire, and nobody is called."""
    async with passing(environment={"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}) as at:
        cohere = await at.http.post("/v2/embed", json={})
        assert cohere.status_code == 502  # spec/11-gateway.md#operators-errors
        assert "COHERE_API_KEY" in cohere.json()["message"] or "CO_API_KEY" in cohere.json()["message"]
        bedrock = await at.http.post("/model/x/invoke", json={})
        assert bedrock.status_code == 501
        assert "signed" in bedrock.json()["message"]
        assert at.provider.seen == []


async def test_a_call_that_is_signed_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its body, which was read to judge the signature, comes whole; the signature does not."""
    secret = b"x" * 40
    async with passing([Key("team", digest(MINE), "team")]) as at:
        now = at.gateway.access.now()
        at.gateway.access = Access(
            [Key("team", digest(MINE), "team")], clock=lambda: 0.0, now=lambda: now, signing_secret=secret
        )
        monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda *_, **__: now.replace(tzinfo=None))
        url = f"{str(at.http.base_url).rstrip('/')}/v1/files"
        request = AWSRequest("POST", url, data=b"the file", headers={"content-type": "text/plain"})
        credentials = Credentials(access_key_id(digest(MINE)), signing_key(secret, digest(MINE)))
        botocore.auth.SigV4Auth(credentials, "bedrock", "us-east-1").add_auth(request)
        answer = await at.http.post("/v1/files", content=b"the file", headers=dict(request.headers.items()))
        assert answer.status_code == 200, answer.text
        assert at.provider.seen[-1]["body"] == b"the file"
        assert "AWS4" not in str(at.provider.sent)
        forged = await at.http.post("/v1/files", content=b"another", headers=dict(request.headers.items()))
        assert forged.status_code == 401
        assert len(at.provider.seen) == 1
