"""The transports over HTTP, each against a server on loopback."""

import asyncio
import gc
import gzip
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import pytest_asyncio
import trustme

from interlingua.client.cancellation import cancelled_at_waits
from interlingua.client.httptools_transport import HttptoolsTransport
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.transport import Transport, TransportFailed

from .upstream import Connection, Flood, serve

pytestmark = pytest.mark.asyncio

_TLS = ssl.create_default_context()  # loading it takes tens of milliseconds


Kind = type[HttpxTransport] | type[HttptoolsTransport]


@pytest.fixture(params=[HttpxTransport, HttptoolsTransport])
def kind(request) -> Kind:
    """The class of each transport."""
    return request.param


@pytest_asyncio.fixture
async def transport(kind: Kind):
    """Each transport; it is closed at the end."""
    made = kind()
    yield made
    await made.aclose()


async def _body(answer) -> bytes:
    return b"".join([chunk async for chunk in answer.chunks()])


async def _whole(connection: Connection) -> None:
    await connection.answer(b"ok")


async def _call(transport: Transport, url: str) -> bytes:
    answer = await transport.send(url, {}, b"", 30)
    try:
        return await _body(answer)
    finally:
        await answer.aclose()


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 it is the state of a connection, which tells nobody
            await asyncio.sleep(0.01)


async def _cancel_twice(call: "asyncio.Task[bytes]", apart: int) -> None:
    call.cancel()
    await _turns(apart)
    call.cancel()
    with suppress(asyncio.CancelledError):  # it may have ended already
        await call


async def test_posts_and_reads(transport: Transport) -> None:
    """Headers and body arrive as given; the answer is read as it came."""

    async def script(connection: Connection) -> None:
        await connection.answer(b"hello " + connection.body, x_more="yes")

    async with serve(script) as upstream:
        answer = await transport.send(upstream.url + "/v1/x", {"x-api-key": "k"}, b"world", 5)
        assert (answer.status, answer.headers["x-more"], await _body(answer)) == (200, "yes", b"hello world")
        await answer.aclose()
        await answer.aclose()
        assert upstream.seen[0].head.startswith("POST /v1/x HTTP/1.1")
        assert upstream.seen[0].header("x-api-key") == "k"
        await transport.aclose()


async def test_connections_are_used_again(transport: Transport) -> None:
    """Answers that were read to their end leave their connection to the next call."""

    async def script(connection: Connection) -> None:
        await connection.answer(b"ok")

    async with serve(script) as upstream:
        for _ in range(5):
            answer = await transport.send(upstream.url, {}, b"", 5)
            await _body(answer)
            await answer.aclose()
        assert upstream.connections == 1


async def test_a_chunk_comes_before_the_next_is_sent(transport: Transport) -> None:
    """Nothing waits for more than what has arrived."""
    go_on = asyncio.Event()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(b"first")
        await go_on.wait()
        await connection.chunk(b"second")
        await connection.end()

    async with serve(script) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 5)
        chunks = answer.chunks()
        assert await anext(chunks) == b"first"
        go_on.set()
        assert await anext(chunks) == b"second"
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)
        await answer.aclose()


async def test_closing_in_the_middle_closes_the_connection(transport: Transport) -> None:
    """The provider sees at once that nobody listens any more."""
    gone = asyncio.get_running_loop().create_future()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(b"first")
        gone.set_result(await connection.gone())

    async with serve(script) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert await anext(answer.chunks()) == b"first"
        await answer.aclose()
        assert await asyncio.wait_for(gone, 5)


@pytest.mark.parametrize("apart", range(1, 5))
@pytest.mark.parametrize("reused", [False, True], ids=["new", "reused"])
@pytest.mark.parametrize("where", ["head", "body"])
async def test_a_call_that_is_cancelled_twice_closes_its_connection(
    kind: Kind, where: str, reused: bool, apart: int
) -> None:
    """While it waits: the second cancellation meets the closing, at each of its steps."""
    waiting = asyncio.Event()
    gone = asyncio.get_running_loop().create_future()

    async def stalled(connection: Connection) -> None:
        if where == "body":
            await connection.begin()
            await connection.chunk(b"first")
        waiting.set()
        gone.set_result(await connection.gone())

    async with serve(*[_whole] * reused, stalled, _whole) as upstream:
        transport = kind(verify=_TLS, connections=1)
        if reused:
            await _call(transport, upstream.url)
        call = asyncio.create_task(_call(transport, upstream.url))
        await waiting.wait()
        await _turns(20)  # until the task has read what there is
        await _cancel_twice(call, apart)
        assert await asyncio.wait_for(gone, 10)
        # the only connection that it may have is free again
        assert await _call(transport, upstream.url) == b"ok"
        await transport.aclose()


@pytest.mark.parametrize("apart", range(4))
@pytest.mark.parametrize("reused", [False, True], ids=["new", "reused"])
async def test_a_call_may_be_cancelled_at_any_moment(kind: Kind, reused: bool, apart: int) -> None:
    """Once or twice, at each turn of the loop from its beginning to its end."""

    async with serve(_whole) as upstream:
        for turns in range(40):
            transport = kind(verify=_TLS, connections=1)
            if reused:
                await _call(transport, upstream.url)
            call = asyncio.create_task(_call(transport, upstream.url))
            await _turns(turns)
            await _cancel_twice(call, apart)
            assert await _call(transport, upstream.url) == b"ok"
            await transport.aclose()


async def test_a_cancellation_is_never_lost() -> None:
    """One that is held back ends the work at its next wait, or takes the place of its outcome."""
    discarded: list[str] = []

    async def works(waits: bool) -> str:
        await asyncio.sleep(0)
        if waits:
            await asyncio.get_running_loop().create_future()
        return "outcome"

    async def fails() -> str:
        await asyncio.sleep(0)
        raise ValueError

    async def discard(outcome: str) -> None:
        await asyncio.sleep(0)
        discarded.append(outcome)

    for work in (works(True), works(False), fails()):
        task = asyncio.ensure_future(cancelled_at_waits(work, discard))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert discarded == ["outcome"]


async def test_a_timeout_of_a_scope_is_no_cancellation() -> None:
    """anyio's own timeouts stay what they are."""

    async def late() -> None:
        with anyio.fail_after(0):
            await anyio.lowlevel.checkpoint()

    with pytest.raises(TimeoutError):
        await cancelled_at_waits(late())


async def test_a_compressed_answer_is_read(transport: Transport) -> None:
    """A server that compresses without being asked to is understood."""

    async def script(connection: Connection) -> None:
        await connection.answer(gzip.compress(b"text"), content_encoding="gzip")

    async with serve(script) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert await _body(answer) == b"text"
        await answer.aclose()


@pytest.mark.parametrize(
    ("encoding", "body", "problem"),
    [
        ("gzip", gzip.compress(bytes(64 << 20)), "inflates to more than"),
        ("deflate", zlib.compress(bytes(64 << 20)), "inflates to more than"),
        ("gzip", b"no gzip at all", "broken"),
        ("br", b"text", "not requested"),
    ],
)
async def test_a_compressed_answer_that_explodes_is_refused(
    transport: Transport, encoding: str, body: bytes, problem: str
) -> None:
    """Before it takes memory and time out of proportion to what was sent."""

    async def script(connection: Connection) -> None:
        await connection.answer(body, content_encoding=encoding)

    async with serve(script) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 5)
        arrived = 0
        failure: TransportFailed | None = None
        try:
            async for chunk in answer.chunks():
                assert len(chunk) <= 64 << 10
                arrived += len(chunk)
        except TransportFailed as caught:
            failure = caught
        assert failure is not None
        assert failure.category == "network"
        assert problem in str(failure)
        assert arrived <= 17 << 20
        await answer.aclose()


@pytest.mark.parametrize("made", [gzip.compress, zlib.compress, lambda body: zlib.compress(body)[2:-4]])
async def test_a_large_compressed_answer_is_read_whole(transport: Transport, made) -> None:
    """JSON is compressed tenfold; that is no attack, whatever its length."""
    body = b"".join(b'{"index": %d, "text": "%d"}' % (n, n * n) for n in range(200_000))
    assert len(body) > 5 << 20

    async def script(connection: Connection) -> None:
        await connection.answer(made(body), content_encoding="gzip" if made is gzip.compress else "deflate")

    async with serve(script) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert await _body(answer) == body
        await answer.aclose()


async def test_failures_have_a_category_and_hold_no_header(transport: Transport) -> None:
    """Refused, reset, silent, and impossible: each is timeout or network, and none tells the key."""

    async def silent(connection: Connection) -> None:
        await connection.gone(10)

    async def reset(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(b"x")
        connection.reset()

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed_port = free.getsockname()[1]
    secret = {"x-api-key": "sk-very-secret"}
    async with serve(silent, reset) as upstream:
        for url, headers, category, sent in (
            (upstream.url, secret, "timeout", True),
            (f"http://127.0.0.1:{closed_port}", secret, "network", False),
            ("ftp://127.0.0.1", secret, "network", False),
            (upstream.url, {"x-api-key": "sk-very-secret\n"}, "network", False),
        ):
            with pytest.raises(TransportFailed) as failure:
                await transport.send(url, headers, b"", 0.3)
            assert (failure.value.category, failure.value.sent) == (category, sent)
            assert "sk-very" not in str(failure.value)
        answer = await transport.send(upstream.url, {}, b"", 5)
        with pytest.raises(TransportFailed) as broken:
            await _body(answer)
        assert broken.value.sent
        await answer.aclose()


async def test_a_connection_that_the_server_gives_up_is_of_unknown_outcome(transport: Transport) -> None:
    """Before a byte of the answer: the call may have been carried out. Half a request cannot have been."""

    async def dropped(connection: Connection) -> None:
        connection.reset()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    async with serve(dropped) as upstream:
        with pytest.raises(TransportFailed) as unknown:
            await transport.send(upstream.url, {}, b"x", 5)
    assert unknown.value.sent
    server = await asyncio.start_server(deaf, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(TransportFailed) as half:
            await transport.send(url, {}, b"x" * (64 << 20), 5)
    assert half.value.category == "network"


@asynccontextmanager
async def _server(handle: Callable[..., Coroutine[Any, Any, None]], **options: Any) -> AsyncIterator[int]:
    """A server whose connections end with it; its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            try:
                await handle(reader, writer)
            finally:
                writer.transport.abort()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*tasks)
        await _turns(3)


def _raw(text: bytes, *, close: bool = False):
    """A script that answers with these bytes."""

    async def script(connection: Connection) -> None:
        connection.writer.write(text)
        await connection.writer.drain()
        if close:
            connection.writer.close()

    return script


_EARLY = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
_CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "close", "body"),
    [
        (_EARLY + b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", False, b"ok"),
        (b"HTTP/1.1 200 OK\r\n\r\nto the end", True, b"to the end"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", False, b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", False, b""),
        (_CHUNKED + b"2\r\nok\r\n0\r\nx-late: 1\r\n\r\n", False, b"ok"),
        (_CHUNKED + b"1;x=y\r\no\r\n1\r\nk\r\n0\r\n\r\n", False, b"ok"),
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", False, b""),
    ],
    ids=["early", "until the end", "1.0", "no content", "trailers", "extensions", "a redirect, not followed"],
)
async def test_answers_of_every_shape(transport: Transport, sent: bytes, close: bool, body: bytes) -> None:
    """As servers may write them; the next call is answered as well."""
    async with serve(_raw(sent, close=close), _whole) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert answer.status == int(sent.rpartition(b"HTTP/1.")[2].split()[1])
        assert await _body(answer) == body
        await answer.aclose()
        assert await _call(transport, upstream.url) == b"ok"


@pytest.mark.parametrize(
    ("sent", "close"),
    [
        (b"no HTTP\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * (1 << 20), False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nok", False),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nok", True),
        (_CHUNKED + b"5\r\nok", True),
        (_CHUNKED + b"zz\r\nok\r\n", False),
        (_CHUNKED + b"2\r\nok\r\n", True),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", True),
    ],
    ids=["no HTTP", "endless head", "two lengths", "short", "short chunk", "no size", "no last chunk", "upgrade"],
)
async def test_what_is_no_whole_answer_is_a_failure(transport: Transport, sent: bytes, close: bool) -> None:
    """Of the network, and never a short answer; the connection is not used again."""
    async with serve(_raw(sent, close=close), _whole) as upstream:
        with pytest.raises(TransportFailed) as failure:
            await _call(transport, upstream.url)
        assert (failure.value.category, failure.value.sent) == ("network", True)
        assert await _call(transport, upstream.url) == b"ok"
        assert upstream.connections == 2


async def test_an_answer_that_nobody_asked_for_is_nobodys() -> None:
    """What comes behind an answer is never taken for the answer to the next call: that may be another caller's."""
    ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
    transport = HttptoolsTransport()
    async with serve(_raw(ok + ok.replace(b"ok", b"no")), _whole) as upstream:
        assert [await _call(transport, upstream.url) for _ in range(2)] == [b"ok", b"ok"]
        assert upstream.connections == 2
    later = asyncio.Event()

    async def late(connection: Connection) -> None:
        await connection.answer(b"ok")
        await later.wait()
        connection.writer.write(ok.replace(b"ok", b"no"))

    async with serve(late, _whole) as upstream:
        assert await _call(transport, upstream.url) == b"ok"
        later.set()
        await _until(lambda: not transport.idle)
        assert await _call(transport, upstream.url) == b"ok"
        assert upstream.connections == 2
    await transport.aclose()


async def test_a_silence_in_the_middle_has_a_limit_and_a_slow_reader_has_none(transport: Transport) -> None:
    """The limit is for the provider: what lies here and is not taken is no silence of its."""

    async def slow(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(b"first")
        await connection.chunk(b"second")
        await connection.gone(20)

    async with serve(slow) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 0.5)
        chunks = answer.chunks()
        taken = await anext(chunks)
        await asyncio.sleep(1)
        while taken != b"firstsecond":
            taken += await anext(chunks)
        with pytest.raises(TransportFailed) as failure:
            await anext(chunks)
        assert failure.value.category == "timeout"
        await answer.aclose()


async def test_who_does_not_read_stops_the_provider(transport: Transport) -> None:
    """Buffers fill, and nothing more is sent."""
    flood = Flood("anthropic:claude-sonnet-4-6")
    async with serve(flood) as upstream:
        answer = await transport.send(upstream.url, {}, b"", 30)
        chunks = answer.chunks()
        await anext(chunks)
        sent = await flood.settled()
        while (flood.sent - sent) < 1 << 20:  # and goes on when it is read again
            await anext(chunks)
        await answer.aclose()


async def test_an_answer_in_the_middle_of_a_long_request(transport: Transport) -> None:
    """A refusal that comes before the end of the body is read."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 4\r\nconnection: close\r\n\r\nmuch")
        await writer.drain()
        while await reader.read(1 << 20):
            pass

    async with _server(refuse) as port:
        answer = await transport.send(f"http://127.0.0.1:{port}", {}, b"x" * (8 << 20), 10)
        assert (answer.status, await _body(answer)) == (413, b"much")
        await answer.aclose()
        await transport.aclose()


async def test_calls_wait_for_a_connection(kind: Kind) -> None:
    """When all are taken: in the order of coming, and not for ever."""
    go_on = asyncio.Event()

    async def held(connection: Connection) -> None:
        await go_on.wait()
        await connection.answer(b"ok")

    transport = kind(connections=1)
    async with serve(held) as upstream:
        first = asyncio.create_task(_call(transport, upstream.url))
        await _until(lambda: bool(upstream.seen))
        with pytest.raises(TransportFailed) as failure:
            await transport.send(upstream.url, {}, b"", 0.2)
        assert (failure.value.category, failure.value.sent) == ("timeout", False)
        later = [asyncio.create_task(_call(transport, upstream.url)) for _ in range(3)]
        await asyncio.sleep(0)
        go_on.set()
        assert [await call for call in (first, *later)] == [b"ok"] * 4
        # one to another place takes the room of one that is kept
        async with serve(_whole) as other:
            assert await _call(transport, other.url) == b"ok"
    await transport.aclose()


async def test_a_proxy_of_the_environment_is_used(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the addresses that it is for."""
    async with serve(_whole) as proxy, serve(_whole) as local:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        transport = kind()
        assert await _call(transport, "http://provider.example/v1/x") == b"ok"
        assert proxy.seen[0].head.startswith("POST http://provider.example/v1/x HTTP/1.1")
        assert await _call(transport, local.url) == b"ok"
        assert (len(proxy.seen), len(local.seen)) == (1, 1)
        await transport.aclose()


async def test_tls_is_checked(kind: Kind) -> None:
    """A server with a certificate of an authority that is trusted, for its own name, and no other."""
    authority = trustme.CA()
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(serving)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        await writer.drain()
        await reader.read()

    async with _server(handle, ssl=serving) as port:
        for verify, host, trusted in (
            (trusting, "localhost", True),
            (trusting, "127.0.0.1", False),
            (_TLS, "localhost", False),
        ):
            transport = kind(verify=verify)
            url = f"https://{host}:{port}"
            if trusted:
                assert await _call(transport, url) == b"ok"
            else:
                with pytest.raises(TransportFailed) as failure:
                    await _call(transport, url)
                assert (failure.value.category, failure.value.sent) == ("network", False)
            await transport.aclose()


# the sockets of a loop that has ended are closed by the collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_another_event_loop_opens_connections_of_its_own() -> None:
    """One client serves each `asyncio.run` of a program; what the loop before left open is of no use to the next."""

    async def script(connection: Connection) -> None:
        await connection.answer(b"ok")

    def call_and_leave_open(transport: HttpxTransport, url: str) -> bytes:
        return asyncio.run(_call(transport, url))

    async with serve(script) as upstream:
        transport = HttpxTransport()
        for _ in range(3):
            assert await asyncio.to_thread(call_and_leave_open, transport, upstream.url) == b"ok"
        await transport.aclose()
        assert upstream.connections == 3
    gc.collect()  # here, where the sockets that it closes are expected
