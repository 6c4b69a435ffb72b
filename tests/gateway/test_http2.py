"""HTTP/2 on the port of HTTP/1.1 (spec/11-gateway.md#http-2), by httpx and by a client that does what none should."""

import asyncio
import json
import logging
import ssl
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    InformationalResponseReceived,
    ResponseReceived,
    SettingsAcknowledged,
    StreamEnded,
    StreamReset,
)
from h2.settings import SettingCodes
from hyperframe.frame import ContinuationFrame, GoAwayFrame, HeadersFrame, PingFrame, RstStreamFrame

from interlingua import translate
from interlingua.access import Key, digest
from interlingua.client import Client, FakeTransport
from interlingua.client.fake import Say
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.gateway import Gateway, Limits
from tests.gateway import wires
from tests.gateway.conftest import POLICY

pytestmark = pytest.mark.asyncio

SLOW = 30.0


class Raw:
    """A client of HTTP/2 that reads and answers only when it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.library = H2Connection(
            H2Configuration(validate_outbound_headers=False, normalize_outbound_headers=False, header_encoding="utf-8")
        )
        self.events: list[Event] = []
        self.closed = False
        self.acknowledges = True
        self.library.initiate_connection()
        self.flush()

    def flush(self) -> None:
        """Sends what the library has to send."""
        self.writer.write(self.library.data_to_send())

    def ask(self, path: str = "/healthz", body: bytes | None = None, *, headers: Any = (), ends: bool = True) -> int:
        """Begins a call, and gives its stream."""
        id = self.library.get_next_available_stream_id()
        head = [
            (":method", "GET" if body is None else "POST"), (":scheme", "http"), (":authority", "localhost"),
            (":path", path), *headers,
        ]  # fmt: skip
        self.library.send_headers(id, head, end_stream=body is None and ends)
        if body is not None:
            self.library.send_data(id, body, end_stream=ends)
        self.flush()
        return id

    async def until(self, holds: Callable[[Event], bool], seconds: float = 10) -> Event:
        """Reads until something has happened. Raises `EOFError` when the connection ends before."""
        async with asyncio.timeout(seconds):
            while not (found := [event for event in self.events if holds(event)]):
                data = await self.reader.read(1 << 16)
                if not data:
                    self.closed = True
                    raise EOFError
                for event in self.library.receive_data(data):
                    self.events.append(event)
                    if isinstance(event, DataReceived) and self.acknowledges:
                        self.library.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
                self.flush()
        return found[0]

    async def status(self, id: int) -> int:
        """That of an answer."""
        event = await self.until(lambda one: isinstance(one, ResponseReceived) and one.stream_id == id)
        assert isinstance(event, ResponseReceived)
        return int(dict(event.headers or [])[":status"])

    async def body(self, id: int) -> bytes:
        """That of an answer, when it is whole."""
        await self.until(lambda one: isinstance(one, StreamEnded) and one.stream_id == id, SLOW)
        return b"".join(one.data or b"" for one in self.events if isinstance(one, DataReceived) and one.stream_id == id)

    async def rest(self) -> bytes:
        """The frames that come until the connection ends, as they are: the library sees none behind a GOAWAY."""
        received = b""
        async with asyncio.timeout(10):
            while data := await self.reader.read(1 << 16):
                received += data
        return received

    async def refused(self) -> ErrorCodes | int | None:
        """With which code the connection was ended."""
        event = await self.until(lambda one: isinstance(one, ConnectionTerminated))
        assert isinstance(event, ConnectionTerminated)
        return event.error_code


@asynccontextmanager
async def served(
    *steps: Any, limits: Limits | None = None, tls: server.Tls | None = None, keys: Any = None
) -> AsyncIterator[tuple[server.Running, FakeTransport]]:
    """A gateway on a port, and the provider behind it."""
    registry, fake = open_registry(), FakeTransport(*steps)
    gateway = Gateway(Client(fake, registry=registry, retry="none"), Routing(registry, POLICY), limits=limits)
    running = await server.start(gateway, port=0, tls=tls)
    try:
        yield running, fake
    finally:
        await running.stop(0)


@asynccontextmanager
async def raw(at: server.Running) -> AsyncIterator[Raw]:
    """A connection of a raw client."""
    reader, writer = await asyncio.open_connection("127.0.0.1", at.port, limit=1 << 16)
    try:
        yield Raw(reader, writer)
    finally:
        writer.close()


async def ended(at: server.Running) -> str | None:
    """The category of the last call, when it has ended."""
    async with asyncio.timeout(20):
        async for _ in at.gateway.news.since(-1):
            if (records := at.gateway.calls.of("anybody")) and records[0].status is not None:
                return records[0].category
    return None


def client(at: server.Running, **options: Any) -> httpx.AsyncClient:
    """httpx, which speaks HTTP/2 alone: without TLS that is to know of it before."""
    return httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{at.port}", http1=False, http2=True, **{"timeout": 10.0, **options}
    )


@pytest.mark.parametrize("wire", wires.WIRES)
async def test_calls_are_answered_whole_and_streamed(wire: str) -> None:
    """The same as over HTTP/1.1, on one connection, many at a time."""
    async with served(*[Say("Two files.")] * 12) as (at, _), client(at) as http:
        whole = await http.post(wires.path(wire), json=wires.body(wire))
        assert (whole.http_version, whole.status_code) == ("HTTP/2", 200)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{at.port}") as other:
            same = await other.post(wires.path(wire), json=wires.body(wire))
        own = {"date", "interlingua-request-id"}
        assert set(whole.headers) - {"transfer-encoding"} == set(same.headers) - {"transfer-encoding"}
        assert {n: v for n, v in whole.headers.items() if n not in own} == {
            n: v for n, v in same.headers.items() if n not in own
        }

        async def stream() -> str:
            place, body = wires.path(wire, stream=True), wires.body(wire, stream=True)
            async with http.stream("POST", place, json=body) as answer:
                events = list(translate.read_stream([await answer.aread()], wire))
            return "".join(block["text"] for block in events[-1]["response"]["message"]["content"])

        assert await asyncio.gather(*(stream() for _ in range(10))) == ["Two files."] * 10


async def test_a_head_that_comes_in_pieces_is_of_its_version() -> None:
    """Of either: that of HTTP/2 begins as a method does that is none."""
    async with served() as (at, _):
        for sent, begins in (
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00\x00"),
            (b"PROPFIND / HTTP/1.1\r\nhost: localhost\r\n\r\n", b"HTTP/1.1 405"),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", at.port)
            for at_byte in range(len(sent)):
                writer.write(sent[at_byte : at_byte + 1])
                await asyncio.sleep(0.002)
            assert (await asyncio.wait_for(reader.read(64), 5)).startswith(begins)
            writer.close()


async def test_over_tls_the_client_chooses(tmp_path: Path) -> None:
    """By ALPN; one that offers nothing gets HTTP/1.1."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    context = ssl.create_default_context()
    authority.configure_trust(context)
    async with served(Say("Yes."), Say("Yes."), tls=server.Tls(certificate, key)) as (at, _):
        for http2, version in ((True, "HTTP/2"), (False, "HTTP/1.1")):
            async with httpx.AsyncClient(http2=http2, verify=context) as http:
                place = f"https://localhost:{at.port}{wires.path('openai_chat')}"
                answer = await http.post(place, json=wires.body("openai_chat"))
                assert (answer.http_version, answer.status_code) == (version, 200)


async def test_a_stream_that_is_reset_ends_its_call_and_no_other() -> None:
    """The provider is left at once; the connection serves on."""
    async with served(Say("One two three. " * 100, pause=0.05), Say("Yes.")) as (at, _), raw(at) as http:
        body = json.dumps(wires.body("openai_chat", stream=True)).encode()
        id = http.ask(wires.path("openai_chat"), body)
        await http.until(lambda one: isinstance(one, DataReceived))
        http.library.reset_stream(id, ErrorCodes.CANCEL)
        http.flush()
        assert await ended(at) == "cancelled"
        assert at.calls.running == 0
        other = http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat")).encode())
        assert await http.status(other) == 200


async def test_a_client_that_takes_no_more_stops_the_reading_from_the_provider() -> None:
    """It gives no room for its stream; other streams go on (spec/11-gateway.md#disconnect)."""
    async with served(Say("x" * 20_000_000), Say("Yes.")) as (at, _), raw(at) as http:
        http.library.increment_flow_control_window(1 << 20)
        http.acknowledges = False
        body = json.dumps(wires.body("openai_chat", stream=True)).encode()
        id = http.ask(wires.path("openai_chat"), body)
        await http.status(id)
        other = http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat")).encode())
        assert b"Yes." in await http.body(other)
        received = sum(
            len(one.data or b"") for one in http.events if isinstance(one, DataReceived) and one.stream_id == id
        )
        assert received == 65_535
        assert at.calls.running == 1


async def test_a_client_that_gives_no_room_loses_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that does not read does over HTTP/1.1 (spec/11-gateway.md#slow-reader)."""
    monkeypatch.setattr("interlingua.gateway.slow_readers.PATIENCE_S", 0.3)
    async with served(Say("x" * 20_000_000)) as (at, _), raw(at) as http:
        http.acknowledges = False
        id = http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat", stream=True)).encode())
        event = await http.until(lambda one: isinstance(one, StreamReset))
        assert isinstance(event, StreamReset)
        assert (event.stream_id, event.error_code) == (id, ErrorCodes.CANCEL)
        assert await ended(at) == "cancelled"


async def test_a_connection_that_is_not_read_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever room there is."""
    monkeypatch.setattr("interlingua.gateway.slow_readers.PATIENCE_S", 0.4)
    async with served(Say("x" * 20_000_000)) as (at, _), raw(at) as http:
        http.library.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: 1 << 30})
        http.library.increment_flow_control_window(1 << 30)
        http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat", stream=True)).encode())
        assert await ended(at) == "cancelled"
        assert not at.server.server_state.connections


async def test_a_large_answer_arrives_whole() -> None:
    """In as many windows as it takes."""
    async with served(Say("y" * 3_000_000)) as (at, _), client(at) as http:
        answer = await http.post(wires.path("openai_chat"), json=wires.body("openai_chat"))
        assert len(answer.json()["choices"][0]["message"]["content"]) == 3_000_000


async def test_bodies_have_their_limit() -> None:
    """As soon as it is known; the client need not send the rest, and the connection serves on."""
    async with served(limits=Limits(body=100_000)) as (at, _), raw(at) as http:
        declared = http.ask(wires.path("openai_chat"), b"", headers=[("content-length", "900000")], ends=False)
        assert await http.status(declared) == 413
        event = await http.until(lambda one: isinstance(one, StreamReset))
        assert isinstance(event, StreamReset)
        assert (event.stream_id, event.error_code) == (declared, ErrorCodes.NO_ERROR)
        endless = http.ask(wires.path("openai_chat"), b"", ends=False)
        for _ in range(20):
            await http.until(lambda _: True)
            room = http.library.local_flow_control_window(endless)
            if room < 10_000:
                break
            http.library.send_data(endless, b" " * 10_000)
            http.flush()
            await asyncio.sleep(0.01)
        assert await http.status(endless) == 413
        assert await http.status(http.ask()) == 200


async def test_a_large_body_is_taken() -> None:
    """Of more than a window."""
    said = wires.body("openai_chat") | {"messages": [{"role": "user", "content": "z" * 3_000_000}]}
    async with served(Say("Yes.")) as (at, fake), client(at) as http:
        assert (await http.post(wires.path("openai_chat"), json=said)).status_code == 200
        assert len(fake.sent[0].body) > 3_000_000


@pytest.mark.parametrize("how", ["taken", "refused", "reset"])
async def test_bodies_give_their_room_back(how: str) -> None:
    """A connection lives for more of them than it has room for at a time."""
    place = (
        wires.path("openai_chat") if how == "taken" else "/nowhere" if how == "refused" else wires.path("openai_chat")
    )
    body = json.dumps(wires.body("openai_chat") | {"user": "z" * 15_000}).encode()
    async with served(*[Say("Yes.")] * 120) as (at, _), raw(at) as http:
        await http.until(lambda one: isinstance(one, SettingsAcknowledged))
        for _ in range(120):
            before = http.library.outbound_flow_control_window
            assert before > len(body), "the connection has no room left"
            id = http.ask(place, body, ends=how != "reset")
            if how == "reset":
                http.library.reset_stream(id, ErrorCodes.CANCEL)
                http.flush()
                await http.status(http.ask())
            else:
                assert await http.status(id) == (200 if how == "taken" else 404)
                await http.body(id)


async def test_what_is_reset_as_it_comes_is_no_defect(caplog: pytest.LogCaptureFixture) -> None:
    """A call that is refused, and whose client has reset it in the same breath."""
    async with served(Say("One two three. " * 20, pause=0.05)) as (at, _), raw(at) as http:
        http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat", stream=True)).encode())
        await http.until(lambda one: isinstance(one, DataReceived))
        stopping = asyncio.ensure_future(at.stop(10))
        await asyncio.sleep(0.1)
        id = http.ask()
        http.library.reset_stream(id, ErrorCodes.CANCEL)
        http.flush()
        assert b"[DONE]" in await http.rest()
        await stopping
        assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_client_that_asks_first_is_told_to_go_on() -> None:
    """And one that is refused is not."""
    body = json.dumps(wires.body("openai_chat")).encode()
    asks = [("expect", "100-continue"), ("content-length", str(len(body)))]
    async with served(Say("Yes.")) as (at, _), raw(at) as http:
        id = http.ask(wires.path("openai_chat"), b"", headers=asks, ends=False)
        told = await http.until(lambda one: isinstance(one, InformationalResponseReceived))
        assert isinstance(told, InformationalResponseReceived)
        assert dict(told.headers or []) == {":status": "100"}
        http.library.send_data(id, body, end_stream=True)
        http.flush()
        assert await http.status(id) == 200
        http.events.clear()
        refused = http.ask("/v1/models", b"", headers=[*asks, ("origin", "http://elsewhere.example")], ends=False)
        assert await http.status(refused) == 403
        assert not any(isinstance(one, InformationalResponseReceived) for one in http.events)


async def test_a_drain_says_so_and_finishes_what_runs() -> None:
    """GOAWAY; a call after it is refused so that the client may ask elsewhere, and nobody was asked."""
    async with served(Say("One two three. " * 20, pause=0.05), Say("Never.")) as (at, fake), raw(at) as http:
        id = http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat", stream=True)).encode())
        await http.until(lambda one: isinstance(one, DataReceived))
        stopping = asyncio.ensure_future(at.stop(10))
        last_of_all = GoAwayFrame(0, last_stream_id=2**31 - 1, error_code=0).serialize()
        async with asyncio.timeout(5):
            before = b""
            while last_of_all not in before:
                before += await http.reader.read(1 << 16)
        # what a client sends that has not seen it yet
        block = http.library.encoder.encode(
            [(":method", "POST"), (":scheme", "http"), (":authority", "localhost"), (":path", "/v1/chat/completions")]
        )
        late = HeadersFrame(id + 2, data=block, flags=["END_HEADERS", "END_STREAM"])
        http.writer.write(late.serialize())
        rest = await http.rest()
        await stopping
        assert b"[DONE]" in rest
        refused = RstStreamFrame(id + 2, error_code=ErrorCodes.REFUSED_STREAM).serialize()
        assert refused in rest
        assert len(fake.sent) == 1
        assert at.gateway.calls.of("anybody")[0].category is None


async def test_what_runs_longer_than_the_grace_is_cut_off_in_its_wire() -> None:
    """As over HTTP/1.1 (spec/11-gateway.md#drain)."""
    async with served(Say("Late.", delay=SLOW)) as (at, _), raw(at) as http:
        http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat")).encode())
        await http.until(lambda one: isinstance(one, SettingsAcknowledged))
        await asyncio.sleep(0.3)
        stopping = asyncio.ensure_future(at.stop(0.1))
        rest = await http.rest()
        await stopping
        assert b"shut down" in rest
        assert at.gateway.calls.of("anybody")[0].category == "server_error"


async def test_a_client_that_leaves_politely_has_what_it_asked_for() -> None:
    """Its GOAWAY says that it asks for nothing more."""
    async with served(Say("One two three. " * 10, pause=0.05)) as (at, _), raw(at) as http:
        http.ask(wires.path("openai_chat"), json.dumps(wires.body("openai_chat", stream=True)).encode())
        await http.until(lambda one: isinstance(one, DataReceived))
        http.writer.write(bytes.fromhex("0000080700000000000000000000000000"))
        rest = await http.rest()
        assert b"[DONE]" in rest


async def test_rapid_resets_end_the_connection() -> None:
    """Calls that are begun and reset at once are work for nothing (CVE-2023-44487)."""
    async with served(*[Say("Late.", delay=SLOW)] * 400) as (at, fake), raw(at) as http:
        body = json.dumps(wires.body("openai_chat")).encode()
        for _ in range(400):
            id = http.ask(wires.path("openai_chat"), body)
            http.library.reset_stream(id, ErrorCodes.CANCEL)
        http.flush()
        assert await http.refused() == ErrorCodes.ENHANCE_YOUR_CALM
        assert await http.rest() == b""
        await asyncio.sleep(0.2)
        assert at.calls.running == 0
        assert len(fake.sent) <= 201


@pytest.mark.parametrize("frame", ["ping", "settings"])
async def test_frames_that_only_make_work_end_the_connection(frame: str) -> None:
    """More than a thousand at once."""
    async with served() as (at, _), raw(at) as http:
        await http.until(lambda one: isinstance(one, SettingsAcknowledged))
        ping = PingFrame(0, opaque_data=b"12345678").serialize()
        http.writer.write((ping if frame == "ping" else struct.pack(">HBBBL", 0, 0, 4, 0, 0)) * 2000)
        assert await http.refused() == ErrorCodes.ENHANCE_YOUR_CALM


async def test_a_head_has_an_end() -> None:
    """In what it is when it is decompressed, and in the frames that it comes in; one below the limit is taken."""
    async with served() as (at, _):
        async with raw(at) as http:
            assert await http.status(http.ask(headers=[("x", "a" * 100_000)])) == 200
            repeated = [("x", "a" * 4000)] * 100  # of which each costs a byte, by the table of the compression
            http.ask(headers=repeated)
            assert await http.refused() == ErrorCodes.ENHANCE_YOUR_CALM
        async with raw(at) as http:
            await http.until(lambda one: isinstance(one, SettingsAcknowledged))
            http.writer.write(HeadersFrame(1, data=b"\x82").serialize())
            http.writer.write(ContinuationFrame(1, data=b"").serialize() * 1000)
            assert await http.refused() == ErrorCodes.PROTOCOL_ERROR


@pytest.mark.parametrize(
    "headers",
    [
        [(":path", "elsewhere")], [(":path", "*")], [("connection", "close")], [("transfer-encoding", "chunked")],
        [("X-Upper", "a")], [("x", "a\r\nhost: elsewhere.example")], [("content-length", "7")], [("host", "elsewhere.example")],
    ],
)  # fmt: skip
async def test_a_head_that_is_none_is_not_served(headers: list[tuple[str, str]]) -> None:
    """The call, or the connection, ends."""
    async with served(Say("Never.")) as (at, fake), raw(at) as http:
        id = http.library.get_next_available_stream_id()
        given = {":method": "POST", ":scheme": "http", ":authority": "localhost", ":path": wires.path("openai_chat")}
        given |= {name: value for name, value in headers if name.startswith(":")}
        http.library.send_headers(id, [*given.items(), *(pair for pair in headers if pair[0] not in given)])
        http.library.send_data(id, json.dumps(wires.body("openai_chat")).encode(), end_stream=True)
        http.flush()
        end = await http.until(lambda one: isinstance(one, (StreamReset, ConnectionTerminated, ResponseReceived)))
        assert isinstance(end, (StreamReset, ConnectionTerminated))
        assert fake.sent == []


async def test_who_says_two_things_is_refused() -> None:
    """Two keys; another host; a page of another origin."""
    async with served() as (at, _), raw(at) as http:
        assert await http.status(http.ask("/v1/models", headers=[("x-api-key", "a"), ("x-api-key", "b")])) == 400
        assert await http.status(http.ask("/v1/models", headers=[("origin", "http://elsewhere.example")])) == 403
        assert await http.status(http.ask("/v1/models", headers=[("host", "localhost")])) == 200


async def test_a_connection_without_calls_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that never asks, and one whose head never ends."""
    monkeypatch.setattr("interlingua.gateway.head.PATIENCE_S", 0.4)
    async with served() as (at, _):
        async with raw(at) as http:
            assert await http.refused() == ErrorCodes.NO_ERROR
        async with raw(at) as http:
            await http.until(lambda one: isinstance(one, SettingsAcknowledged))
            http.writer.write(HeadersFrame(1, data=b"\x82").serialize())
            assert await http.refused() == ErrorCodes.NO_ERROR


async def test_a_key_is_asked_for(serve: Any) -> None:
    """In the same words."""
    async with (
        serve(keys=[Key("team", digest("k"), "team")], names=None, connected=True) as at,
        httpx.AsyncClient(base_url=at.http.base_url, http1=False, http2=True) as http,
    ):
        assert (await http.get("/v1/models")).status_code == 401
        assert (await http.get("/v1/models", headers={"x-api-key": "k"})).status_code == 200
        head = await http.head("/")
        assert (head.status_code, head.content) == (200, b"")
