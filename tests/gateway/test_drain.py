"""The end of a gateway: what runs is finished, or cut off with an error of its wire (spec/11-gateway.md#drain)."""

import asyncio
import gc
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import pytest

from interlingua import translate
from interlingua.canonical.errors import Cancelled, InterlinguaError
from interlingua.client import Client, FakeTransport
from interlingua.client.fake import Say
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.gateway import Gateway, Limits, unless_gone
from interlingua.verbs.calls import Calls
from tests.gateway import wires
from tests.gateway.conftest import POLICY

pytestmark = pytest.mark.asyncio

SLOW = 30.0


@asynccontextmanager
async def running(*steps: Any, limits: Limits | None = None) -> AsyncIterator[tuple[server.Running, httpx.AsyncClient]]:
    """A gateway on a port, and a client of it."""
    registry = open_registry()
    client = Client(FakeTransport(*steps), registry=registry, retry="none")
    started = await server.start(Gateway(client, Routing(registry, POLICY), limits=limits), port=0)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{started.port}", timeout=10) as http:
        try:
            yield started, http
        finally:
            await started.stop(0)


@pytest.mark.parametrize("wire", wires.WIRES)
async def test_an_answer_that_takes_too_long_is_cut_off_in_its_wire(wire: str) -> None:
    async with running(Say("Late.", delay=SLOW)) as (started, http):
        asking = asyncio.ensure_future(http.post(wires.path(wire), json=wires.body(wire)))
        await asyncio.sleep(0.2)
        await started.stop(0.1)
        answer = await asking
        error = translate.read_error(answer.status_code, dict(answer.headers), answer.content, wire)
        assert (error["category"], error["retryable"]) == ("server_error", True)
        assert "shut down" in error["provider_message"]
        [record] = started.gateway.calls.of("anybody")
        assert (record.status, record.category) == (answer.status_code, "server_error")


@pytest.mark.parametrize("wire", wires.WIRES)
async def test_a_stream_that_has_begun_ends_with_an_error_of_its_wire(wire: str) -> None:
    """What had arrived stands before it, once."""
    async with running(Say("One two three. " * 50, pause=0.1)) as (started, http):
        place, body = wires.path(wire, stream=True), wires.body(wire, stream=True)
        async with http.stream("POST", place, json=body) as answer:
            chunks = answer.aiter_raw()
            begun = await anext(chunks)
            stopping = asyncio.ensure_future(started.stop(0.1))
            received = begun + b"".join([chunk async for chunk in chunks])
            await stopping
        events = list(translate.read_stream([received], wire))
        assert events[-1]["type"] == "error"
        assert events[-1]["error"]["category"] == "server_error"
        assert [record.category for record in started.gateway.calls.of("anybody")] == ["server_error"]


async def test_a_verb_is_cut_off_and_its_record_ends() -> None:
    """As every call does."""
    async with running(Say("Late.", delay=SLOW)) as (started, http):
        asking = asyncio.ensure_future(http.post(GENERATE, json=TOLD))
        await asyncio.sleep(0.2)
        await started.stop(0)
        assert (await asking).json()["code"] == "unavailable"
        assert [record.category for record in started.gateway.calls.of("anybody")] == ["server_error"]


async def test_what_finishes_in_time_is_whole() -> None:
    """And the server ends as soon as it has, not after all of the time of grace."""
    async with running(Say("Yes.", delay=0.4)) as (started, http):
        asking = asyncio.ensure_future(http.post("/v1/messages", json=wires.body("anthropic_messages")))
        await asyncio.sleep(0.2)
        async with asyncio.timeout(5):
            await started.stop(30)
        assert (await asking).status_code == 200


async def test_a_client_that_does_not_read_is_not_waited_for() -> None:
    """It has a second to read why."""
    async with running(Say("x" * 20_000_000)) as (started, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", started.port, limit=1024)
        body = json.dumps(wires.body("openai_chat", stream=True)).encode()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body))
        writer.write(body)
        await reader.readline()
        async with asyncio.timeout(5):
            await started.stop(0.1)
        assert started.calls.running == 0
        writer.close()


async def test_a_call_behind_the_end_is_refused_and_nobody_asked() -> None:
    """It comes on a connection that is still open, for the call before it runs."""
    async with running(Say("Yes.", delay=0.5), Say("Never.")) as (started, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", started.port)
        body = json.dumps(wires.body("anthropic_messages")).encode()
        head = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(body)
        writer.write((head + body) * 2)
        await asyncio.sleep(0.2)
        await started.stop(5)
        received = await reader.read()
        assert received.count(b"HTTP/1.1 200") == 1
        assert b"Never." not in received
        writer.close()


GENERATE = "/interlingua.v1.InterlinguaService/Generate"
TOLD = {
    "requestJson": json.dumps({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}),
    "target": "anthropic:claude-sonnet-4-6",
}


@pytest.mark.parametrize(
    ("path", "asked"),
    [(GENERATE, TOLD), (wires.path("anthropic_messages"), wires.body("anthropic_messages"))],
    ids=["canonical", "wire"],
)
async def test_a_call_whose_body_comes_after_the_end_is_told_so(path: str, asked: Any) -> None:
    """It was taken before, and nobody is asked any more."""
    async with running(Say("Late.", delay=SLOW)) as (started, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", started.port)
        body = json.dumps(asked).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        writer.write(head.encode() + b"content-length: %d\r\n\r\n" % len(body) + body[:20])
        await asyncio.sleep(0.2)
        stopping = asyncio.ensure_future(started.stop(0))
        await asyncio.sleep(0.2)
        writer.write(body[20:])
        received = await reader.read()
        writer.close()
        await stopping
        assert b"shut down" in received
        [record] = started.gateway.calls.of("anybody")
        assert (record.category, record.attempts) == ("server_error", [])


async def test_what_begins_after_the_end_is_cut_off_at_once() -> None:
    """A stream whose beginning was still to be sent."""
    calls, cut = Calls(), list[str]()
    with calls.cut_by(lambda: cut.append("before")):
        calls.end()
        assert cut == ["before"]
    with calls.cut_by(lambda: cut.append("after")):
        assert cut == ["before", "after"]
    with pytest.raises(InterlinguaError) as ended, calls.cut_off():
        pass
    assert ended.value.to_dict()["code"] == "shutdown"


async def test_a_busy_gateway_says_that_it_lives() -> None:
    """Whoever restarts what does not answer would restart it for being used (spec/11-gateway.md#calls-in-flight)."""
    async with running(Say("Late.", delay=4), limits=Limits(calls=1)) as (_, http):
        asking = asyncio.ensure_future(http.post("/v1/messages", json=wires.body("anthropic_messages")))
        await asyncio.sleep(0.2)
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/metrics")).status_code == 200
        assert (await http.get("/v1/models")).status_code == 503
        assert (await asking).status_code == 200


class Connection:
    """A client that goes away when it is told to, or whose connection fails."""

    def __init__(self) -> None:
        self.left: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def receive(self) -> Any:
        return await self.left


async def test_work_is_cancelled_when_the_client_leaves_and_says_so() -> None:
    client, ended = Connection(), asyncio.Event()

    async def working() -> None:
        try:
            await asyncio.sleep(SLOW)
        finally:
            ended.set()

    async def asked() -> int:
        with pytest.raises(Cancelled):
            await unless_gone(client, working())  # type: ignore[arg-type]
        await asyncio.sleep(0)  # the task goes on: it is not cancelled itself
        return cast("asyncio.Task[int]", asyncio.current_task()).cancelling()

    task = asyncio.ensure_future(asked())
    await asyncio.sleep(0.01)
    client.left.set_result({"type": "http.disconnect"})
    assert await task == 0
    assert ended.is_set()


async def test_who_cancels_a_call_is_not_told_that_its_client_left() -> None:
    """Also when the client leaves at the same time."""
    client = Connection()
    task = asyncio.ensure_future(unless_gone(client, asyncio.sleep(SLOW)))  # type: ignore[arg-type]
    await asyncio.sleep(0.01)
    client.left.set_result({"type": "http.disconnect"})
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("turns", range(3))
async def test_a_connection_that_fails_while_its_call_ends_is_looked_at(
    turns: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Whichever is first, asyncio has nothing to complain of."""
    client = Connection()

    async def failing() -> None:
        for _ in range(2):
            await asyncio.sleep(0)
        raise InterlinguaError("it failed")

    task = asyncio.ensure_future(unless_gone(client, failing()))  # type: ignore[arg-type]
    for _ in range(turns):
        await asyncio.sleep(0)
    client.left.set_exception(ConnectionError())
    with pytest.raises((InterlinguaError, Cancelled)):
        await task
    del task, client
    await asyncio.sleep(0)
    gc.collect()
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
