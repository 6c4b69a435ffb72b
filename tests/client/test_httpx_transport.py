"""The transport over httpx, against a server on loopback."""

import asyncio
import gzip
import socket
import ssl
import zlib
from contextlib import suppress

import anyio
import anyio.lowlevel
import pytest

from interlingua.client.cancellation import cancelled_at_waits
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.transport import TransportFailed

from .upstream import Connection, serve

pytestmark = pytest.mark.asyncio

_TLS = ssl.create_default_context()  # loading it takes tens of milliseconds


async def _body(answer) -> bytes:
    return b"".join([chunk async for chunk in answer.chunks()])


async def _whole(connection: Connection) -> None:
    await connection.answer(b"ok")


async def _call(transport: HttpxTransport, url: str) -> bytes:
    answer = await transport.send(url, {}, b"", 30)
    try:
        return await _body(answer)
    finally:
        await answer.aclose()


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def _cancel_twice(call: "asyncio.Task[bytes]", apart: int) -> None:
    call.cancel()
    await _turns(apart)
    call.cancel()
    with suppress(asyncio.CancelledError):  # it may have ended already
        await call


async def test_posts_and_reads() -> None:
    """Headers and body arrive as given; the answer is read as it came."""

    async def script(connection: Connection) -> None:
        await connection.answer(b"hello " + connection.body, x_more="yes")

    async with serve(script) as upstream:
        transport = HttpxTransport()
        answer = await transport.send(upstream.url + "/v1/x", {"x-api-key": "k"}, b"world", 5)
        assert (answer.status, answer.headers["x-more"], await _body(answer)) == (200, "yes", b"hello world")
        await answer.aclose()
        await answer.aclose()
        assert upstream.seen[0].head.startswith("POST /v1/x HTTP/1.1")
        assert upstream.seen[0].header("x-api-key") == "k"
        await transport.aclose()
        await transport.aclose()


async def test_connections_are_used_again() -> None:
    """Answers that were read to their end leave their connection to the next call."""

    async def script(connection: Connection) -> None:
        await connection.answer(b"ok")

    async with serve(script) as upstream:
        transport = HttpxTransport()
        for _ in range(5):
            answer = await transport.send(upstream.url, {}, b"", 5)
            await _body(answer)
            await answer.aclose()
        assert upstream.connections == 1
        await transport.aclose()


async def test_a_chunk_comes_before_the_next_is_sent() -> None:
    """Nothing waits for more than what has arrived."""
    go_on = asyncio.Event()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(b"first")
        await go_on.wait()
        await connection.chunk(b"second")
        await connection.end()

    async with serve(script) as upstream:
        transport = HttpxTransport()
        answer = await transport.send(upstream.url, {}, b"", 5)
        chunks = answer.chunks()
        assert await anext(chunks) == b"first"
        go_on.set()
        assert await anext(chunks) == b"second"
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)
        await answer.aclose()
        await transport.aclose()


async def test_closing_in_the_middle_closes_the_connection() -> None:
    """The provider sees at once that nobody listens any more."""
    gone = asyncio.get_running_loop().create_future()

    async def script(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(b"first")
        gone.set_result(await connection.gone())

    async with serve(script) as upstream:
        transport = HttpxTransport()
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert await anext(answer.chunks()) == b"first"
        await answer.aclose()
        assert await asyncio.wait_for(gone, 5)
        await transport.aclose()


@pytest.mark.parametrize("apart", range(1, 5))
@pytest.mark.parametrize("reused", [False, True], ids=["new", "reused"])
@pytest.mark.parametrize("where", ["head", "body"])
async def test_a_call_that_is_cancelled_twice_closes_its_connection(where: str, reused: bool, apart: int) -> None:
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
        transport = HttpxTransport(verify=_TLS, connections=1)
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
async def test_a_call_may_be_cancelled_at_any_moment(reused: bool, apart: int) -> None:
    """Once or twice, at each turn of the loop from its beginning to its end."""

    async with serve(_whole) as upstream:
        for turns in range(40):
            transport = HttpxTransport(verify=_TLS, connections=1)
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


async def test_a_compressed_answer_is_read() -> None:
    """A server that compresses without being asked to is understood."""

    async def script(connection: Connection) -> None:
        await connection.answer(gzip.compress(b"text"), content_encoding="gzip")

    async with serve(script) as upstream:
        transport = HttpxTransport()
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert await _body(answer) == b"text"
        await answer.aclose()
        await transport.aclose()


@pytest.mark.parametrize(
    ("encoding", "body", "problem"),
    [
        ("gzip", gzip.compress(bytes(64 << 20)), "inflates to more than"),
        ("deflate", zlib.compress(bytes(64 << 20)), "inflates to more than"),
        ("gzip", b"no gzip at all", "broken"),
        ("br", b"text", "without being asked"),
    ],
)
async def test_a_compressed_answer_that_explodes_is_refused(encoding: str, body: bytes, problem: str) -> None:
    """Before it takes memory and time out of proportion to what was sent."""

    async def script(connection: Connection) -> None:
        await connection.answer(body, content_encoding=encoding)

    async with serve(script) as upstream:
        transport = HttpxTransport()
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
        await transport.aclose()


@pytest.mark.parametrize("made", [gzip.compress, zlib.compress, lambda body: zlib.compress(body)[2:-4]])
async def test_a_large_compressed_answer_is_read_whole(made) -> None:
    """JSON is compressed tenfold; that is no attack, whatever its length."""
    body = b"".join(b'{"index": %d, "text": "%d"}' % (n, n * n) for n in range(200_000))
    assert len(body) > 5 << 20

    async def script(connection: Connection) -> None:
        await connection.answer(made(body), content_encoding="gzip" if made is gzip.compress else "deflate")

    async with serve(script) as upstream:
        transport = HttpxTransport()
        answer = await transport.send(upstream.url, {}, b"", 5)
        assert await _body(answer) == body
        await answer.aclose()
        await transport.aclose()


async def test_failures_have_a_category_and_hold_no_header() -> None:
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
    transport = HttpxTransport()
    secret = {"x-api-key": "sk-very-secret"}
    async with serve(silent, reset) as upstream:
        for url, headers, category, sent in (
            (upstream.url, secret, "timeout", True),
            (f"http://127.0.0.1:{closed_port}", secret, "network", False),
            ("ftp://127.0.0.1", secret, "network", False),
            (upstream.url, {"x-api-key": "sk-very-secret\n"}, "network", True),
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
    await transport.aclose()


async def test_a_connection_that_the_server_gives_up_is_of_unknown_outcome() -> None:
    """Before a byte of the answer: the call may have been carried out. Half a request cannot have been."""

    async def dropped(connection: Connection) -> None:
        connection.reset()

    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()

    transport = HttpxTransport()
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
    await transport.aclose()
