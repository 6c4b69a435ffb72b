"""What is refused before anything is read, and bodies (spec/11-gateway.md#origin, #limits)."""

import asyncio
import gzip
import json
import logging
import zlib
from typing import Any

import brotli
import pytest
import zstandard

from interlingua.access import Key, digest
from interlingua.client.fake import Say
from interlingua.gateway import bodies
from interlingua.gateway.gateway import Limits
from tests.gateway import wires

PLACE = wires.path("anthropic_messages")
BODY = json.dumps(wires.body("anthropic_messages")).encode()


@pytest.mark.asyncio
@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "[::2]"])
async def test_a_foreign_host_is_refused(serve: Any, host: str) -> None:
    """A page that has its own name point at this machine drives nothing (DNS rebinding)."""
    async with serve(Say("Yes.")) as at:
        answer = await at.http.post(PLACE, content=BODY, headers={"host": host})
        assert answer.status_code == 403
        assert answer.json()["type"] == "error"
        assert not at.fake.sent


@pytest.mark.asyncio
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"])
async def test_its_own_names_are_taken(serve: Any, host: str) -> None:
    """Those of loopback, with any port."""
    async with serve(Say("Yes.")) as at:
        assert (await at.http.post(PLACE, content=BODY, headers={"host": host})).status_code == 200


@pytest.mark.asyncio
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1234"])
async def test_a_page_of_another_origin_is_refused(serve: Any, origin: str) -> None:
    """Also one of another port of this machine; a page of the gateway's own origin is taken."""
    async with serve(Say("Yes."), Say("Yes.")) as at:
        headers = {"origin": origin, "host": "localhost:8080", "content-type": "text/plain"}
        assert (await at.http.post(PLACE, content=BODY, headers=headers)).status_code == 403
        assert not at.fake.sent
        own = headers | {"origin": "http://localhost:8080"}
        assert (await at.http.post(PLACE, content=BODY, headers=own)).status_code == 200


@pytest.mark.asyncio
async def test_more_calls_than_are_taken_at_a_time_are_refused_at_once(serve: Any) -> None:
    """The refusal says how long to wait, and a place that is free again is taken (spec/11-gateway.md#calls-in-flight)."""
    slow = Say("Yes.", delay=0.2)
    async with serve(slow, slow, Say("Yes."), limits=Limits(calls=2), connected=True) as at:
        running = [asyncio.ensure_future(at.http.post(PLACE, content=BODY)) for _ in range(2)]
        await asyncio.sleep(0.1)
        refused = await at.http.post(PLACE, content=BODY)
        assert refused.status_code in (503, 529)
        assert refused.headers["retry-after"] == "1"
        assert [answer.status_code for answer in await asyncio.gather(*running)] == [200, 200]
        assert (await at.http.post(PLACE, content=BODY)).status_code == 200


ENCODED = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "br": brotli.compress,
}


@pytest.mark.asyncio
@pytest.mark.parametrize("encoding", ENCODED)
async def test_bodies_come_encoded(serve: Any, encoding: str) -> None:
    """What is cut off or damaged is told, and a small body that becomes a large one is not made large."""
    encoded = ENCODED[encoding](BODY)
    async with serve(Say("Yes."), limits=Limits(body=100_000)) as at:
        headers = {"content-encoding": encoding}
        assert (await at.http.post(PLACE, content=encoded, headers=headers)).status_code == 200
        for damaged in (encoded[:-6], b"!" + encoded):
            assert (await at.http.post(PLACE, content=damaged, headers=headers)).status_code == 400
        bomb = ENCODED[encoding](bytes(50_000_000))
        assert len(bomb) < 100_000
        assert (await at.http.post(PLACE, content=bomb, headers=headers)).status_code == 413


@pytest.mark.asyncio
async def test_a_body_is_limited_and_its_encoding_is_known(serve: Any) -> None:
    """With and without a declared length; an encoding that nobody knows is named."""
    async with serve(limits=Limits(body=1000), connected=True) as at:

        async def pieces() -> Any:
            for _ in range(100):
                yield b"x" * 100

        assert (await at.http.post(PLACE, content=b"x" * 1001)).status_code == 413
        assert (await at.http.post(PLACE, content=pieces())).status_code == 413
        odd = await at.http.post(PLACE, content=b"{}", headers={"content-encoding": "lzma"})
        assert odd.status_code == 415
        assert "zstd" in odd.json()["error"]["message"]


@pytest.mark.asyncio
async def test_a_body_that_stops_ends_the_call(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that holds a connection open without a byte is not waited for (spec/11-gateway.md#slow-body)."""
    monkeypatch.setattr(bodies, "PATIENCE_S", 0.1)
    async with serve(connected=True) as at:
        port = at.http.base_url.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"POST {PLACE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{{".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n"), 5)
        assert b" 408 " in head
        writer.close()


HOSTILE = [
    b"",
    b"[]",
    b"nonsense",
    b'{"a": NaN}',
    b"{" * 100_000,
    b'{"model": 1, "messages": 1, "contents": 1, "input": 1.5}',
    b"\xff\xfe",
    b'{"model": "\\ud800"}',
    b"null",
]


@pytest.mark.asyncio
@pytest.mark.parametrize("wire", wires.WIRES)
@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
async def test_no_body_ends_in_anything_but_an_error_of_the_wire(serve: Any, wire: str, body: bytes) -> None:
    """And none is asked of a provider."""
    async with serve() as at:
        answer = await at.http.post(wires.path(wire), content=body)
        assert 400 <= answer.status_code < 500, answer.text
        assert isinstance(answer.json(), dict)
        assert not at.fake.sent


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("path", "headers", "member"),
    [
        ("/v1/embeddings", {}, "error"),
        ("/v1/files", {"anthropic-version": "2023-06-01"}, "type"),
        ("/v1beta/files", {}, "error"),
        ("/api/pull", {}, "error"),
        ("/model/x/invoke", {}, "message"),
        ("/", {}, "error"),
        ("/v1/messages/../../etc/passwd", {}, "error"),
    ],
)
async def test_an_operation_that_is_not_there_is_told_in_the_words_of_the_wire(
    serve: Any, path: str, headers: dict[str, str], member: str
) -> None:
    """The error names the operations that are there (spec/11-gateway.md#unknown-operation)."""
    async with serve() as at:
        answer = await at.http.post(path, content=b"{}", headers=headers)
        assert answer.status_code in (404, 405)
        assert member in answer.json()
        if path == "/v1/embeddings":
            assert answer.json()["error"]["code"] == "unknown_url"


@pytest.mark.asyncio
async def test_a_path_with_another_method_is_told_which_it_has(serve: Any) -> None:
    """Status 405 and `Allow`, also below the name of a provider (spec/11-gateway.md#wrong-method)."""
    async with serve() as at:
        for method, path, allowed in (
            ("GET", "/v1/messages", "POST"),
            ("OPTIONS", "/openai/v1/chat/completions", "POST"),
            ("PUT", "/api/chat", "POST"),
            ("POST", "/v1/models", "GET, HEAD"),
            ("POST", "/healthz", "GET, HEAD"),
            ("DELETE", "/", "GET, HEAD"),
        ):
            answer = await at.http.request(method, path)
            assert (answer.status_code, answer.headers["allow"]) == (405, allowed), path
        assert "allow" not in (await at.http.post("/nobody/v1/messages/x")).headers


@pytest.mark.asyncio
async def test_a_call_that_is_refused_is_logged_and_counted(serve: Any, caplog: pytest.LogCaptureFixture) -> None:
    """By wire, path, address and category; without the query, which may hold a key (spec/11-gateway.md#refusals-logged)."""
    caplog.set_level(logging.INFO, "interlingua.gateway")
    key = Key("team", digest("k"), "team", calls_per_minute=1)
    body = wires.body("anthropic_messages")
    async with serve(Say("Yes."), keys=[key], names=None) as at:
        await at.http.post("/v1/messages?key=SECRET", json=body)
        for _ in range(2):
            await at.http.post("/v1/messages", json=body, headers={"x-api-key": "k"})
        await at.http.get("/v1/nothing%0Ahere")
        await at.http.post("/interlingua.v1.InterlinguaService/Check", content=b"{}", headers={"x-api-key": "k"})
        counted = at.gateway.metrics.text().decode()
    told = [entry.message for entry in caplog.records if " from " in entry.message]
    assert told == [
        "anthropic_messages POST /v1/messages from 127.0.0.1: 401 authentication",
        "anthropic_messages POST /v1/messages from 127.0.0.1 with the key team: 429 rate_limit",
        "openai_chat GET /v1/nothing%0Ahere from 127.0.0.1: 404 not_found",
        "canonical POST /interlingua.v1.InterlinguaService/Check from 127.0.0.1: 415 invalid_request",
    ]
    assert 'interlingua_refusals_total{category="authentication",wire="anthropic_messages"} 1.0' in counted
    assert "SECRET" not in caplog.text
