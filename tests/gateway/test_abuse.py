"""What comes to an open door: guesses, tricks with heads and paths, bodies without end, clients that stall
(spec/11-gateway.md#access, #limits)."""

import asyncio
import gc
import json
import re
import socket
import struct
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from interlingua import translate
from interlingua.access import Access, Key, digest, new_key
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.fake import Say
from interlingua.gateway.gateway import Limits
from interlingua.gateway.head import LimitedConnection
from interlingua.proxies import Proxies
from interlingua.refusals import Refused
from tests.gateway import wires

pytestmark = pytest.mark.asyncio

BODY = json.dumps(wires.body("anthropic_messages")).encode()
POST = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
SMUGGLED = b"GET /v1/interlingua/calls HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def send(at: Any, sent: bytes, seconds: float = 3.0) -> tuple[list[int], bytes, bool]:
    """What a connection is answered: the statuses, all bytes, and whether the gateway closed it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", at.http.base_url.port)
    received = b""
    closed = False
    try:
        writer.write(sent)
        async with asyncio.timeout(seconds):
            while data := await reader.read(65536):
                received += data
        closed = True
    except TimeoutError:
        pass
    except ConnectionError:
        closed = True
    finally:
        writer.close()
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)], received, closed


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY + SMUGGLED,
        POST + b"Content-Length: %d\r\nContent-Length: 4\r\n\r\n" % len(BODY) + BODY + SMUGGLED,
        POST + b"Content-Length: +%d\r\n\r\n" % len(BODY) + BODY + SMUGGLED,
        POST + b"Content-Length: -1\r\n\r\n" + SMUGGLED,
        POST + b"Content-Length: 99999999999999999999999\r\n\r\n" + SMUGGLED,
        POST + b"Content-Length : 4\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: xchunked\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked, identity\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\n\r\n5;a=\nb\r\nhello\r\n0\r\n\r\n" + SMUGGLED,
        GET + b"X: a\r\n Content-Length: 4\r\n\r\n",
        GET + b"X: a\0b\r\n\r\n",
        GET.replace(b"\r\n", b"\n") + b"\n",
        b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nXY\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    ],
)
async def test_a_second_request_is_not_smuggled_in(serve: Any, sent: bytes) -> None:
    """What frames a body in two ways, or in none that there is, ends the connection; nothing behind it is served."""
    async with serve(Say("Yes."), connected=True) as at:
        statuses, received, closed = await send(at, sent)
        assert statuses == [400]
        assert closed
        assert b'"calls"' not in received
        assert at.fake.sent == []


@pytest.mark.parametrize(
    "header",
    [
        b"Host: elsewhere.example",
        b"Origin: http://localhost\r\nOrigin: http://elsewhere.example",
        b"X-Api-Key: a\r\nX-Api-Key: b",
    ],
)
async def test_a_header_that_says_one_thing_comes_once(serve: Any, header: bytes) -> None:
    """Whichever of two a proxy looked at, the gateway does not choose (spec/11-gateway.md#request-head)."""
    async with serve(connected=True) as at:
        statuses, _, _ = await send(at, GET + header + b"\r\nConnection: close\r\n\r\n")
        assert statuses == [400]
        statuses, _, _ = await send(
            at, header.split(b"\r\n")[0].join((b"GET /healthz HTTP/1.1\r\n", b"\r\nConnection: close\r\n\r\n"))
        )
        assert statuses == [403]  # one alone is held to its rule: a foreign host, or none at all


async def test_a_head_has_an_end(serve: Any) -> None:
    """In bytes and headers; a head below the limit is taken."""
    async with serve(connected=True) as at:
        assert (await send(at, GET + b"X: " + b"a" * 100_000 + b"\r\nConnection: close\r\n\r\n"))[0] == [200]
        for long in (b"X: " + b"a" * 3_000_000, b"X: a\r\n" * 300_000):
            statuses, _, closed = await send(at, GET + long)
            assert (statuses, closed) in (([431], True), ([], True))  # a client that still writes may not see it
        statuses, _, closed = await send(at, GET + b"X: " + b"a" * 300_000 + b"\r\n\r\n")  # it has arrived with its end
        assert (statuses, closed) == ([431], True)
        assert (await send(at, b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n"))[0] == [400]


async def test_a_client_that_stalls_in_its_head_is_sent_away(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before its first byte, within a head, and within the next head on a connection that was served."""
    monkeypatch.setattr("interlingua.gateway.head.PATIENCE_S", 0.3)
    async with serve(connected=True) as at:
        for begun in (b"", b"GET /healthz HTT", GET + b"X: a"):
            statuses, _, closed = await send(at, begun)
            assert (statuses, closed) == ([408], True)
        statuses, _, closed = await send(at, GET + b"\r\n" + GET)
        assert (statuses, closed) == ([200, 408], True)
        assert (await at.http.get("/healthz")).status_code == 200
        await asyncio.sleep(0.5)  # an idle connection is kept: only a head that has begun is waited for
        assert (await at.http.get("/healthz")).status_code == 200


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_without_end_is_cut_off(serve: Any, declared: bool) -> None:
    """As soon as it is too long, and not when it has been received."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 65536
            yield b" " * 65536

    headers = {"content-length": str(1 << 40)} if declared else {}
    async with serve(limits=Limits(body=1 << 20), connected=True) as at, asyncio.timeout(20):
        try:
            answer = await at.http.post("/v1/messages", content=endless(), headers=headers)
            assert answer.status_code == 413
        except httpx.HTTPError:
            pass  # the connection ended while it wrote
        assert sent < 64 << 20
        records = (await at.http.get("/v1/interlingua/calls")).json()["calls"]
        assert [record["status"] for record in records] == [413]
        assert at.fake.sent == []


@pytest.mark.parametrize(
    "path",
    [
        "//v1/messages",
        "/v1//messages",
        "/v1/./messages",
        "/v1/../v1/messages",
        "/anthropic/../v1/messages",
        "/%2e%2e/v1/messages",
        "/v1/messages/",
        "/v1/messages%00",
        "/v1/messages;x=1",
        "/v1%2Fmessages%2F",
        "/V1/messages",
        "/v1/interlingua/calls/../../messages",
        "/anthropic/anthropic/v1/messages",
        "/%ff%fe/v1/messages",
        "/..%5c..%5cetc/passwd",
        "/inspector/..%2f..%2faccess.py",
        "/interlingua.v1.InterlinguaService/../v1/messages",
    ],
)
async def test_a_path_is_what_it_says(serve: Any, path: str) -> None:
    """No other spelling of a path is served, and none is asked of a provider."""
    async with serve(Say("Yes."), connected=True) as at:
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
        statuses, received, _ = await send(at, head.encode() + BODY)
        assert statuses in ([404], [400], [405], [501]), received
        assert b"root:" not in received
        assert at.fake.sent == []


async def test_keys_cannot_be_guessed(serve: Any) -> None:
    """Whatever is near to a key, or tries to be more than one, is told what a stranger is told, on every path."""
    right = "ilk_" + "a" * 43
    keys = [Key("one", digest(right), "one")]
    guesses = [
        "",
        right[:-1],
        right + "a",
        right.upper(),
        f" {right[1:]}",
        digest(right),
        "one",
        "*",
        f"{right},{right}",
        "x" * 100_000,
        "null",
        "\u00ff",
    ]
    paths = [
        "/v1/messages",
        "/v1/chat/completions",
        "/interlingua.v1.InterlinguaService/Generate",
        "/v1/interlingua/compare",
    ]
    async with serve(Say("Yes."), keys=keys, names=None) as at:
        for path in paths:
            told = set()
            for guess in guesses:
                for name in ("authorization", "x-api-key", "x-goog-api-key"):
                    value = (f"Bearer {guess}" if name == "authorization" else guess).encode("latin-1")
                    headers = {name: value, "content-type": b"application/json"}
                    answer = await at.http.post(path, content=BODY, headers=headers)
                    at.clock.seconds += 60  # slower than what is told to wait
                    assert answer.status_code == 401
                    told.add(answer.content)
            assert (
                len({content for content in told if b"goog" not in content}) <= 2
            )  # one for each wire's way of telling it
        for path in (
            "/v1/models",
            "/metrics",
            "/v1/interlingua/calls",
            "/v1/interlingua/live",
            "/v1/interlingua/about",
        ):
            assert (await at.http.get(path)).status_code == 401
        assert at.fake.sent == []
        assert (await at.http.post("/v1/messages", content=BODY, headers={"x-api-key": right})).status_code == 200


async def test_a_page_of_elsewhere_gets_nothing(serve: Any) -> None:
    """No page may read, call or frame it: no answer allows another origin, a preflight least of all."""
    async with serve(Say("Yes.")) as at:
        foreign = {"origin": "https://elsewhere.example"}
        answers = [
            await at.http.options("/v1/messages", headers=foreign | {"access-control-request-method": "POST"}),
            await at.http.post("/v1/messages", content=BODY, headers=foreign | {"content-type": "text/plain"}),
            await at.http.get("/", headers=foreign | {"accept": "text/html"}),
            await at.http.get("/v1/interlingua/live", headers=foreign),
            await at.http.post("/v1/messages", content=BODY, headers={"origin": "null"}),
        ]
        assert [answer.status_code for answer in answers] == [403] * 5
        answers.append(await at.http.get("/", headers={"accept": "text/html"}))
        assert not any(name.startswith("access-control-") for answer in answers for name in answer.headers)
        assert "frame-ancestors 'none'" in answers[-1].headers["content-security-policy"]
        assert at.fake.sent == []


async def test_who_guesses_is_told_to_wait(serve: Any) -> None:
    """In the words of each wire; a key that has worked from there goes on working, a new one waits
    (spec/11-gateway.md#guesses)."""
    known, new = new_key(), new_key()
    keys = [Key("known", digest(known), "one"), Key("new", digest(new), "two")]
    async with serve(*(Say("Yes."),) * 3, keys=keys, names=None) as at:
        assert (await at.http.get("/v1/models", headers={"x-api-key": known})).status_code == 200
        statuses = [(await at.http.get("/v1/models", headers={"x-api-key": new_key()})).status_code for _ in range(25)]
        assert statuses == [401] * 20 + [429] * 5
        for wire in wires.WIRES:
            answer = await at.http.post(wires.path(wire), json=wires.body(wire), headers={"x-api-key": new_key()})
            assert answer.status_code == 429
            error = translate.read_error(429, dict(answer.headers), answer.content, wire)
            assert (error["category"], error["retryable"]) == ("rate_limit", True)
            assert error.get("retry_after", 3.0) == 3.0  # not every wire has a place for it
        assert (await at.http.get("/v1/models")).status_code == 401  # without a key, which is no guess
        assert (await at.http.get("/v1/models", headers={"x-api-key": new})).status_code == 429
        assert (await at.http.get("/v1/models", headers={"x-api-key": known})).status_code == 200
        at.clock.seconds += 4
        assert (await at.http.get("/v1/models", headers={"x-api-key": new})).status_code == 200
        assert at.fake.sent == []


async def test_a_guesser_behind_a_trusted_proxy_locks_out_itself_alone(serve: Any) -> None:
    """And a client that connects itself cannot pass for another (spec/11-gateway.md#trusted-proxies)."""
    known = new_key()

    def shown(key: str, address: str) -> dict[str, str]:
        return {"x-api-key": key, "x-forwarded-for": f"203.0.113.9, {address}"}

    async with serve(keys=[Key("known", digest(known), "one")], names=None) as at:
        for trusted, others in ((["127.0.0.0/8"], 200), ([], 429)):
            at.gateway.access.proxies = Proxies(trusted)
            for number in range(21):
                left = (await at.http.get("/v1/models", headers=shown(new_key(), "198.51.100.1"))).status_code
                assert left == (401 if number < 20 else 429)
            assert (await at.http.get("/v1/models", headers=shown(known, "198.51.100.1"))).status_code == 429
            assert (await at.http.get("/v1/models", headers=shown(known, "198.51.100.2"))).status_code == others


async def test_the_address_of_a_client_is_the_last_that_no_proxy_has() -> None:
    """With ports as some proxies write them; a word that is no address ends the chain."""
    proxies = Proxies(["10.0.0.0/8", "2001:db8::1"])
    assert proxies.client("192.0.2.1", ["198.51.100.1"]) == "192.0.2.1"
    assert proxies.client("10.0.0.1", []) == "10.0.0.1"
    assert proxies.client("10.0.0.1", ["1.1.1.1, 198.51.100.1, 10.9.9.9"]) == "198.51.100.1"
    assert proxies.client("10.0.0.1", ["1.1.1.1", "198.51.100.1:4711"]) == "198.51.100.1"
    assert proxies.client("::ffff:10.0.0.1", ["[2001:db8::2]:443, [2001:db8::1]"]) == "2001:db8::2"
    assert proxies.client("10.0.0.1", ["198.51.100.1, unknown"]) == "10.0.0.1"
    assert Proxies().client("10.0.0.1", ["198.51.100.1"]) == "10.0.0.1"
    for wrong in ("proxy.example", "10.0.0.1/8", ""):
        with pytest.raises(InvalidRequest, match="trusted proxy"):
            Proxies([wrong])


async def test_who_guesses_from_many_addresses_takes_no_memory() -> None:
    """Nor does who has a whole network of addresses get a new count with each; another network has its own."""
    access = Access([Key("one", digest("right"), "one")], clock=lambda: 0.0, now=lambda: datetime.now(UTC))

    def told(peer: str) -> int:
        with pytest.raises(Refused) as refused:
            access.key("wrong", peer)
        return refused.value.status

    assert [told(f"2001:db8::{number:x}") for number in range(22)] == [401] * 20 + [429] * 2
    assert told("::ffff:192.0.2.1") == told("2001:db8:1::1") == 401
    for number in range(30_000):
        told(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(access._guesses._failures) == 10_000
    for number in range(20_000):
        access.key("right", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(access._guesses._known) == 10_000


async def test_a_body_that_comes_drop_by_drop_has_an_end(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte is there in time, the whole body is not (spec/11-gateway.md#slow-body)."""
    monkeypatch.setattr("interlingua.gateway.bodies.WHOLE_PATIENCE_S", 0.4)
    async with serve(connected=True) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", at.http.base_url.port)
        writer.write(POST + b"Content-Length: 100000\r\n\r\n")
        answer = asyncio.ensure_future(reader.readline())
        for _ in range(100):
            if answer.done():
                break
            writer.write(b" ")
            await asyncio.sleep(0.05)
        assert b" 408 " in await answer
        writer.close()


async def test_a_client_that_does_not_read_loses_its_connection(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """And its place; one that reads slowly does not (spec/11-gateway.md#slow-reader)."""
    monkeypatch.setattr("interlingua.gateway.slow_readers.PATIENCE_S", 0.4)
    body = json.dumps(wires.body("openai_chat", stream=True)).encode()
    call = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    async with serve(Say("x" * 20_000_000), Say("y" * 8_000_000), connected=True) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", at.http.base_url.port, limit=1024)
        writer.write(call)
        async with asyncio.timeout(20):
            async for _ in at.gateway.news.since(-1):
                if (records := at.gateway.calls.of("anybody")) and records[0].status is not None:
                    break
        [record] = records
        assert record.category == "cancelled"
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", at.http.base_url.port, limit=1024)
        writer.write(call.replace(b"localhost\r\n", b"localhost\r\nConnection: close\r\n"))
        received = 0
        while data := await reader.read(1 << 18):
            received += len(data)
            await asyncio.sleep(0.02)
        assert received > 8_000_000
        assert at.gateway.calls.of("anybody")[0].category is None
        writer.close()


async def test_a_connection_that_was_reset_is_forgotten(serve: Any) -> None:
    """At once, with all that its last call holds, and not when an idle connection would be closed."""
    async with serve(Say("Yes."), connected=True) as at:
        for sent in (GET + b"\r\n", POST + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY):
            reader, writer = await asyncio.open_connection("127.0.0.1", at.http.base_url.port)
            writer.write(sent)
            assert b" 200 " in await reader.readuntil(b"\r\n")
            await asyncio.sleep(0.05)  # the answer is whole: the connection waits for the next call
            assert held_connections() == 1
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            await asyncio.sleep(0.05)
            assert held_connections() == 0


def held_connections() -> int:
    """How many connections of clients this process holds."""
    gc.collect()
    return sum(isinstance(one, LimitedConnection) for one in gc.get_objects())
