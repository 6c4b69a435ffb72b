"""The client, over the fake provider and over servers on loopback."""

import asyncio
import copy
import itertools
import logging
import traceback
from typing import Any

import pytest

from interlingua.canonical import json
from interlingua.canonical.errors import (
    Cancelled,
    InvalidRequest,
    LossRefused,
    ProviderError,
    StreamTruncated,
)
from interlingua.canonical.fold import fold
from interlingua.canonical.ids import UlidSource
from interlingua.client import Bytes, Client, Fail, FakeTransport, Limits, Refuse, ReplayTransport, Say
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.replay import exchanges
from interlingua.registry import Registry

from .upstream import Connection, Flood, ask, recorded, serve

pytestmark = pytest.mark.asyncio

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
BOTH = pytest.mark.parametrize("model", [CLAUDE, GPT])
KEY = "sk-test-0123456789"


def client_over(transport: Any, **members: Any) -> Client:
    """A client whose clock and ids are known, and which asks once."""
    ticks = itertools.count()
    members.setdefault("retry", "none")
    return Client(
        transport,
        keys={"anthropic": KEY, "openai": KEY},
        clock=lambda: next(ticks) * 0.25,
        ulids=UlidSource(lambda: 1_700_000_000_000, lambda _: 7),
        **members,
    )


async def events_of(stream: Any) -> tuple[list[dict[str, Any]], Exception | None]:
    """All events of a stream, and what it raised at its end."""
    events: list[dict[str, Any]] = []
    try:
        async for event in stream:
            events.append(event)
    except Exception as problem:  # noqa: BLE001
        return events, problem
    return events, None


# ---------------------------------------------------------------------------------------------------- one answer


@BOTH
async def test_an_answer_is_whole(model: str) -> None:
    """Content, finish, usage with cost and time, ids, provenance."""
    async with client_over(FakeTransport(Say("Hello!", calls=[("look", {"at": "it"})]))) as client:
        response = await client.generate(
            ask(), model=model, routing={"mode": "default", "chosen_model": model, "reason": "r"}
        )
    message, usage = response["message"], response["usage"]
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["content"][1]["input"] == {"at": "it"}
    assert response["finish_reason"] == "tool_calls"
    assert (usage["input_tokens"], usage["output_tokens"], usage["latency_ms"]) == (10, 5, 250)
    assert usage["cost_usd"] == {CLAUDE: "0.000105", GPT: "0.00006"}[model]
    assert message["id"] == UlidSource(lambda: 1_700_000_000_000, lambda _: 7).next()
    assert message["created_at"].endswith("Z")
    assert message["metadata"]["provider"] == model.partition(":")[0]
    assert message["metadata"]["model"] == response["model"] == response["requested_model"] == model
    assert message["metadata"]["routing"]["chosen_model"] == model
    assert message["metadata"]["usage"] == usage


@BOTH
async def test_what_is_sent(model: str) -> None:
    """The adapter's wire at the provider's address with the provider's key; the request is not touched."""
    fake = FakeTransport(Say("x"), Say("y"))
    request = ask(max_output_tokens=9)
    before = copy.deepcopy(request)
    async with client_over(fake) as client:
        await client.generate(request, model=model)
        await events_of(client.stream(request, model=model))
    assert request == before
    unary, streamed = fake.sent
    address = {
        CLAUDE: "https://api.anthropic.com/v1/messages",
        GPT: "https://api.openai.com/v1/chat/completions",
    }
    assert unary.url == address[model]
    header = {CLAUDE: ("x-api-key", KEY), GPT: ("authorization", f"Bearer {KEY}")}[model]
    assert unary.headers[header[0]] == header[1]
    assert unary.headers["content-type"] == "application/json"
    assert ("anthropic-version" in unary.headers) is (model == CLAUDE)
    assert unary.json["model"] == model.partition(":")[2]
    assert not unary.json.get("stream")
    assert streamed.json["stream"] is True


async def test_a_base_url_of_ones_own() -> None:
    """Any compatible server is an address away; several clients stand side by side."""
    fakes = [FakeTransport(Say("x")), FakeTransport(Say("y"))]
    for fake, base in zip(fakes, ("http://one/v1", "http://two:8000/api/v1/"), strict=True):
        async with Client(fake, base_urls={"openai": base}) as client:
            await client.generate(ask(), model=GPT)
        assert fake.sent[0].url == base.rstrip("/") + "/chat/completions"


async def test_a_request_that_is_wrong_is_not_sent() -> None:
    """No model, an unknown provider, a broken request, a refused loss: told before anything leaves."""
    fake = FakeTransport()
    async with client_over(fake) as client:
        with pytest.raises(InvalidRequest) as wrong:
            await client.generate(ask())
        assert wrong.value.path == "/model"
        with pytest.raises(InvalidRequest, match="nowhere") as wrong:
            await client.generate(ask(), model="nowhere:x")
        assert wrong.value.path == "/model"
        with pytest.raises(InvalidRequest) as wrong:
            await client.generate({"messages": [{"role": "user"}]}, model=GPT)
        assert wrong.value.path == "/messages/0"
        with pytest.raises(LossRefused):
            await client.generate(ask(top_k=5, loss_policy={"strict": "weakened"}), model=GPT)
    assert fake.sent == []


async def test_a_chain_is_asked_in_turn() -> None:
    """What may pass elsewhere is passed over and told; what is wrong everywhere is not."""
    fake = FakeTransport(Refuse(529), Fail("network"), Say("at last"))
    async with client_over(fake) as client:
        response = await client.generate(ask(), model=CLAUDE, fallbacks=[GPT, "openai:gpt-4o"])
        assert [skipped["reason"] for skipped in response["skipped"]] == ["overloaded", "network"]
        assert response["model"] == response["requested_model"] == "openai:gpt-4o"
    fake = FakeTransport(Refuse(401), Say("never"))
    async with client_over(fake) as client:
        with pytest.raises(ProviderError) as refused:
            await client.generate(ask(), model=CLAUDE, fallbacks=[GPT])
    assert refused.value.error["category"] == "authentication"
    assert fake.left == 1


# ---------------------------------------------------------------------------------------------------- errors


@BOTH
@pytest.mark.parametrize(
    ("step", "category", "retryable"),
    [
        (Refuse(429, {"error": {"message": "slow down"}}, {"retry-after": "7"}), "rate_limit", True),
        (Refuse(401, {"error": {"message": "bad key"}}), "authentication", False),
        (Refuse(404), "not_found", False),
        (Refuse(502, b"<html><body>Bad gateway</body></html>", {"content-type": "text/html"}), "server_error", True),
        (Refuse(500, b"\xff\xfe not text"), "server_error", True),
        (Fail("timeout"), "timeout", True),
        (Fail("network"), "network", True),
        (Bytes([b"<html>welcome</html>"], headers={"content-type": "text/html"}), "invalid_response", False),
        (Bytes([b'{"no": "answer"}'], headers={"content-type": "application/json"}), "invalid_response", False),
        (Bytes([b"[1, 2"], headers={"content-type": "application/json"}), "invalid_response", False),
        (Bytes([b""], headers={"content-type": "application/json"}), "invalid_response", False),
        (Bytes([b"[" * 5_000 + b"]" * 5_000]), "invalid_response", False),
    ],
)
async def test_every_failure_has_its_category(model: str, step: Any, category: str, retryable: bool) -> None:
    """Whatever a provider does ends in a typed error that names it."""
    async with client_over(FakeTransport(step)) as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model=model)
    error = failure.value.to_dict()
    assert (error["category"], bool(error["retryable"])) == (category, retryable)
    assert error["provider"] == model.partition(":")[0]
    if category == "rate_limit":
        assert failure.value.retry_after == 7


async def test_an_error_where_an_answer_is_due_is_that_error() -> None:
    """A provider may tell of a failure with status 200."""
    body = {"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}
    told = Bytes([json.dumps(body)], headers={"content-type": "application/json"})
    async with client_over(FakeTransport(told)) as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model=GPT)
    error = failure.value.to_dict()
    assert error["category"] == "rate_limit"
    assert not {"skipped", "attempts"} & error.keys(), "one call has no trail"


async def test_what_the_provider_said_is_reachable(caplog: pytest.LogCaptureFixture) -> None:
    """By whoever made the call, of whatever kind it was, and by nobody who prints or logs the error."""
    words = "Could not parse 'my diary of Tuesday' as an image."
    body = {"error": {"message": words, "type": "invalid_request_error", "param": "messages[0].content", "code": None}}
    begun = b'data: {"choices":[{"index":0,"delta":{"content":"Half"}}]}\n\n'
    as_success = Bytes([json.dumps(body)], headers={"content-type": "application/json"})
    midway = Bytes([begun, b"data: " + json.dumps(body) + b"\n\n"])
    errors: list[Any] = []
    async with client_over(FakeTransport(Refuse(400, body), as_success, Refuse(400, body), midway)) as client:
        for _ in range(2):
            with pytest.raises(ProviderError) as failure:
                await client.generate(ask(), model=GPT)
            errors.append(failure.value)
        for _ in range(2):
            errors.append((await events_of(client.stream(ask(), model=GPT)))[1])
    for error in errors:
        assert error.provider_message == words
        assert error.to_dict()["provider_message"] == words
        assert "raw" not in error.to_dict()
        printed = f"{error} {error!r} {''.join(traceback.format_exception(error))} {caplog.text}"
        assert "diary" not in printed
    assert InvalidRequest("wrong").provider_message is None


async def test_no_key_in_any_text(caplog: pytest.LogCaptureFixture) -> None:
    """A provider that repeats the key does not make us repeat it; nothing that is printed holds it."""
    caplog.set_level(logging.DEBUG)
    body = {
        "error": {
            "message": f"Incorrect API key provided: {KEY}",
            "type": "invalid_request_error",
            "code": "invalid_api_key",
        }
    }
    fake = FakeTransport(Refuse(401, body))
    async with client_over(fake) as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model=GPT)
        stream = client.stream(ask(), model=GPT)
        shown = [repr(client), repr(stream), repr(vars(stream)), repr(fake.sent[0]), caplog.text]
        await stream.aclose()
    shown += [str(failure.value), repr(failure.value.to_dict())]
    assert not [text for text in shown if KEY in text]


@pytest.mark.parametrize("key", ["a", "to", "test", "key", "message", "openai"])
async def test_a_short_key_takes_no_word_apart(key: str) -> None:
    """Local servers take any key. What it is a part of stays readable, and so do the members of the error."""
    words = f"max_tokens: 99999 > 64000 to the testament of a monkey; your key is {key}."
    body = {"error": {"message": words, "type": "invalid_request_error", "param": "max_tokens", "code": None}}
    async with Client(keys={"openai": key}, transport=FakeTransport(Refuse(400, body)), retry="none") as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model=GPT)
    error = failure.value
    told = error.to_dict()
    assert (told["category"], told["path"], told["provider"]) == ("invalid_request", "/max_tokens", "openai")
    assert error.provider_message is not None
    assert error.provider_message.startswith("max_tokens: 99999 > 64000 ")
    assert error.provider_message.endswith("your [secret] is [secret]." if key == "key" else "is [secret].")
    assert "testament" in error.provider_message
    assert "monkey" in error.provider_message


# ---------------------------------------------------------------------------------------------------- streams


@BOTH
async def test_a_stream_is_the_same_as_its_answer(model: str) -> None:
    """Events fold to the response of the last event, which is the unary answer."""
    step = Say("Let me look at it.", calls=[("look", {"at": "it", "n": 3}), ("see", {})])
    async with client_over(FakeTransport(step, step)) as client:
        whole = await client.generate(ask(), model=model)
        stream = client.stream(ask(), model=model)
        events, problem = await events_of(stream)
    assert problem is None
    assert events[0]["type"] == "message_start"
    assert events[-1]["type"] == "message_complete"
    assert len({event["message_id"] for event in events}) == 1
    response = events[-1]["response"]
    assert stream.response == response
    assert response["message"]["content"] == whole["message"]["content"]
    assert fold(events)["message"]["content"] == whole["message"]["content"]
    assert response["usage"]["cost_usd"] == whole["usage"]["cost_usd"]


async def test_a_stream_begins_with_its_model() -> None:
    """Bedrock's wire does not name it: it is the one that was asked, as the whole answer says."""
    model = "bedrock:us.amazon.nova-premier-v1:0"
    environment = {"AWS_BEARER_TOKEN_BEDROCK": KEY, "AWS_REGION": "us-east-1"}
    async with Client(FakeTransport(Say("Yes.")), registry=Registry(environment=environment), retry="none") as client:
        events, _ = await events_of(client.stream(ask(), model=model))
    assert events[0]["type"] == "message_start"
    assert events[0]["model"] == events[-1]["response"]["model"] == model


@BOTH
async def test_events_come_with_their_bytes(model: str) -> None:
    """A text is there before the chunk after it is asked for."""
    chunks = 0

    async def count(_: float) -> None:
        nonlocal chunks
        chunks += 1

    fake = FakeTransport(Say("one two three", pause=1.0), sleep=count)
    async with client_over(fake) as client, client.stream(ask(), model=model) as stream:
        at = [chunks async for event in stream if event["type"] == "text_delta"]
    assert at == [at[0], at[0] + 1, at[0] + 2]
    assert chunks > at[-1]


@BOTH
async def test_a_stream_cut_anywhere_is_an_error_with_what_had_arrived(model: str) -> None:
    """Well-mannered or broken, an end before the end is never a clean finish."""
    frames = recorded(model)
    last = len(frames) - (1 if model == CLAUDE else 2)
    for cut in range(1, last, 3):
        for breaks in (None, "network", "timeout"):
            fake = FakeTransport(Bytes(frames[:cut], breaks=breaks))
            async with client_over(fake) as client:
                stream = client.stream(ask(), model=model)
                events, problem = await events_of(stream)
            assert events[-1]["type"] == "error", (cut, breaks)
            assert isinstance(problem, StreamTruncated)
            assert problem.error["category"] == {None: "stream_truncated"}.get(breaks, breaks)
            assert problem.response is not None
            assert problem.response["message"]["metadata"]["status"] == "error"
            assert problem.response == stream.response
            assert fake.answers[0].closed


@BOTH
async def test_a_stream_cut_inside_a_frame_shows_all_that_its_error_holds(model: str) -> None:
    """A frame that came without its end is told, or it is not in the answer either."""
    frames = recorded(model)
    for cut in range(1, len(frames) - 2):
        unended = frames[cut].rstrip(b"\n")
        for breaks in (None, "network", "timeout"):
            fake = FakeTransport(Bytes([*frames[:cut], unended], breaks=breaks))
            async with client_over(fake) as client:
                stream = client.stream(ask(), model=model)
                events, _ = await events_of(stream)
            shown = "".join(event["text"] for event in events if event["type"] == "text_delta")
            assert stream.response is not None
            content = stream.response["message"]["content"]
            kept = "".join(block["text"] for block in content if block["type"] == "text")
            assert shown == kept, (cut, breaks)


@BOTH
async def test_an_error_inside_a_stream(model: str) -> None:
    """An error after a good beginning is an error event with the provider's error."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded", "code": None}}
    frame = b"event: error\ndata: " + json.dumps(error) + b"\n\n"
    fake = FakeTransport(Bytes([*recorded(model)[:6], frame]))
    async with client_over(fake) as client:
        events, problem = await events_of(client.stream(ask(), model=model))
    assert events[-1]["type"] == "error"
    assert isinstance(problem, StreamTruncated)
    if model == CLAUDE:
        assert problem.error["category"] == "overloaded"


@pytest.mark.parametrize("kind", ["text/html", "application/json"])
async def test_something_else_where_a_stream_was_asked_for(kind: str) -> None:
    """A page is not an empty stream, and an error body is read as one."""
    body = b'{"error": {"message": "no", "type": "invalid_request_error"}}' if "json" in kind else b"<html></html>"
    async with client_over(FakeTransport(Bytes([body], headers={"content-type": kind}))) as client:
        events, problem = await events_of(client.stream(ask(), model=GPT))
    assert events == []
    assert isinstance(problem, ProviderError)


async def test_an_endless_event_is_given_up() -> None:
    """Bytes that never complete an event do not fill the memory."""
    endless = (b"data: " + b"x" * 1000 for _ in itertools.count())
    async with client_over(FakeTransport(Bytes(endless)), limits=Limits(answer=100_000)) as client:
        _, problem = await events_of(client.stream(ask(), model=GPT))
    assert isinstance(problem, ProviderError)


async def test_usage_that_does_not_come_is_estimated(caplog: pytest.LogCaptureFixture) -> None:
    """Marked as an estimate, and logged."""
    frames = [frame for frame in recorded(GPT) if b'"choices":[]' not in frame]
    async with client_over(FakeTransport(Bytes(frames))) as client:
        stream = client.stream(ask(), model=GPT)
        _, problem = await events_of(stream)
    assert problem is None
    assert stream.response is not None
    assert stream.response["usage"]["estimated"] is True
    assert "no usage" in caplog.text


# ---------------------------------------------------------------------------------------------------- giving up


async def test_closing_a_stream_closes_the_call() -> None:
    """A stream that is left, closed, or cancelled frees the provider at once; again does nothing."""
    fake = FakeTransport(*[Say("one two three four", pause=0.001) for _ in range(3)])
    async with client_over(fake) as client:
        async with client.stream(ask(), model=GPT) as stream:
            async for event in stream:
                if event["type"] == "text_delta":
                    break
        assert fake.answers[0].closed
        await stream.aclose()
        stream = client.stream(ask(), model=GPT)
        await anext(stream)
        await stream.aclose()
        await stream.aclose()
        assert fake.answers[1].closed
        assert [event async for event in stream] == []
        never = client.stream(ask(), model=GPT)
        await never.aclose()
        assert len(fake.sent) == 2
    await client.aclose()


async def test_cancel_keeps_what_had_arrived() -> None:
    """The iterator ends with an error event that holds the partial answer, and does not hang."""

    async def forever(_: float) -> None:
        await asyncio.sleep(0 if len(events) < 8 else 3600)

    events: list[dict[str, Any]] = []
    enough = asyncio.Event()
    fake = FakeTransport(Say("one two three four five six seven", pause=1), sleep=forever)
    async with client_over(fake) as client:
        stream = client.stream(ask(), model=CLAUDE)

        async def read() -> None:
            async for event in stream:
                events.append(event)
                if len(events) == 8:
                    enough.set()

        reading = asyncio.create_task(read())
        await enough.wait()
        stream.cancel()
        stream.cancel()
        with pytest.raises(Cancelled):
            await asyncio.wait_for(reading, 5)
    assert events[-1]["type"] == "error"
    assert events[-1]["error"]["category"] == "cancelled"
    assert events[-1]["response"]["finish_reason"] == "cancelled"
    assert events[-1]["response"]["message"]["metadata"]["status"] == "cancelled"
    assert events[-1]["response"]["message"]["content"][0]["text"].startswith("one two")
    assert fake.answers[0].closed


async def test_a_deadline_covers_the_whole_call() -> None:
    """Before the head, and between two events; what had arrived is kept."""
    async with client_over(FakeTransport(Say("late", delay=30))) as client:
        with pytest.raises(ProviderError) as late:
            await client.generate(ask(), model=GPT, deadline=0.05)
    assert late.value.error["category"] == "timeout"
    fake = FakeTransport(Say("one two three four", pause=0.03))
    async with client_over(fake) as client:
        events, problem = await events_of(client.stream(ask(), model=GPT, deadline=0.15))
    assert isinstance(problem, StreamTruncated)
    assert events[-1]["error"]["category"] == "timeout"
    assert fake.answers[0].closed


async def test_cancelling_the_task_closes_the_connection() -> None:
    """The provider sees the connection go, whatever the call was waiting for."""
    reached = asyncio.Semaphore(0)
    gone: asyncio.Queue[bool] = asyncio.Queue()

    async def silent(connection: Connection) -> None:
        reached.release()
        await gone.put(await connection.gone())

    async def dripping(connection: Connection) -> None:
        await connection.begin()
        await connection.chunk(recorded(GPT)[0])
        reached.release()
        await gone.put(await connection.gone())

    async with (
        serve(silent, dripping) as upstream,
        Client(HttpxTransport(), base_urls={"openai": upstream.url}) as client,
    ):
        for call in (client.generate(ask(), model=GPT), events_of(client.stream(ask(), model=GPT))):
            task = asyncio.create_task(call)
            await asyncio.wait_for(reached.acquire(), 30)
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.wait_for(gone.get(), 30)


async def test_a_stalled_consumer_stalls_the_provider() -> None:
    """Nothing is read ahead: the provider can send no more than the buffers of the network hold."""
    flood = Flood(GPT)
    async with serve(flood) as upstream, Client(HttpxTransport(), base_urls={"openai": upstream.url}) as client:
        async with client.stream(ask(), model=GPT) as stream:
            await anext(stream)
            before = await flood.settled()
            for _ in range(50):
                await anext(stream)
        assert flood.sent >= before


# ---------------------------------------------------------------------------------------------------- replay


@pytest.mark.parametrize("model", ["replay:claude-opus-4-8", "replay:gpt-5.4"])
@pytest.mark.parametrize("exchange", exchanges(), ids=lambda exchange: exchange.name)
async def test_recorded_exchanges_are_good_wires(model: str, exchange: Any) -> None:
    """Each recorded stream folds to its recorded answer, on both wires, and is priced."""
    always = type(exchange)(exchange.name, {}, 0.0, 0.0, exchange.folder)
    async with client_over(ReplayTransport([always], pace=0)) as client:
        whole = await client.generate(ask(), model=model)
        stream = client.stream(ask(), model=model)
        events, problem = await events_of(stream)
    assert problem is None
    assert stream.response is not None
    assert stream.response["message"]["content"] == whole["message"]["content"]
    assert fold(events)["message"]["content"] == whole["message"]["content"]
    assert stream.response["usage"]["cost_usd"] == whole["usage"]["cost_usd"] is not None
    assert whole["model"] == model


async def test_replay_keeps_the_recorded_pace() -> None:
    """Times are passed by a sleep that is given."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with client_over(ReplayTransport(pace=2.0, sleep=sleep)) as client:
        await events_of(client.stream(ask(), model="replay:gpt-5.4"))
    assert slept[0] == 0.5
    assert set(slept[1:]) == {0.044}


async def test_what_was_not_recorded_is_an_error() -> None:
    """Not an invented answer."""
    async with client_over(ReplayTransport([])) as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model="replay:gpt-5.4")
    assert failure.value.error["category"] == "not_found"


async def test_without_a_transport_replay_needs_no_network() -> None:
    """The provider replay is built in."""
    async with Client() as client:
        response = await client.generate(ask(), model="replay:claude-sonnet-4-6")
    assert response["finish_reason"] == "stop"


async def test_without_a_transport_any_other_provider_is_asked_over_http() -> None:
    async with Client(keys={"openai": KEY}, base_urls={"openai": "http://127.0.0.1:1"}, retry="none") as client:
        with pytest.raises(ProviderError) as failure:
            await client.generate(ask(), model=GPT)
    assert failure.value.error["category"] == "network"


# ---------------------------------------------------------------------------------------------------- fake


async def test_the_fake_checks_and_counts() -> None:
    """Per-call assertions, delays, and a script that ends."""

    def check(sent: Any) -> None:
        assert sent.request["messages"][-1]["content"][0]["text"] == "hello"

    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    fake = FakeTransport(Say("x", delay=3, check=check), Say("y", check=check), sleep=sleep)
    async with client_over(fake) as client:
        await client.generate(ask(), model=GPT)
        assert slept == [3]
        with pytest.raises(AssertionError):
            await client.generate(ask("other"), model=CLAUDE)
        assert fake.left == 0
        with pytest.raises(AssertionError, match="not in the script"):
            await client.generate(ask(), model=GPT)
    assert fake.closed
