"""Retries, fail-over and cooldowns: over the fake provider, with time and chance given."""

import asyncio
import logging
from typing import Any

import pytest

from interlingua.canonical import json
from interlingua.canonical.errors import Cancelled, NoCandidate, NotConfigured, ProviderError, StreamTruncated
from interlingua.canonical.validate import violations
from interlingua.client import Bytes, Client, Fail, FakeTransport, Limits, Refuse, Retry, Say
from interlingua.client.cooldowns import log_cooldown
from interlingua.client.retry import CATEGORIES, PRESETS
from interlingua.registry import Registry
from interlingua.router import Backoff, Health, Windows

from .test_client import KEY, events_of
from .upstream import ask, recorded

pytestmark = pytest.mark.asyncio

CLAUDE, GPT, OTHER = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1", "openai:gpt-4o"
SLOW_DOWN = Refuse(429, {"error": {"message": "slow down"}}, {"retry-after": "7"})


class Time:
    """A clock that only sleeping moves, and a memory of the pauses."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def client_over(fake: Any, time: Time | None = None, **members: Any) -> Client:
    """A client that waits for nothing, and for whom chance is always in the middle."""
    time = time or Time()
    members = {"health": Health(clock=time.clock), "chance": lambda: 0.5, **members}
    return Client(fake, keys={"anthropic": KEY, "openai": KEY}, clock=time.clock, sleep=time.sleep, **members)


async def failed(call: Any) -> ProviderError:
    """The error that a call ends with."""
    with pytest.raises(ProviderError) as failure:
        await call
    return failure.value


async def outcome(client: Client, how: str, **members: Any) -> dict[str, Any]:
    """The response of a call, whole or streamed. Raises what the call raises."""
    if how == "generate":
        return await client.generate(ask(), **members)
    stream = client.stream(ask(), **members)
    _, problem = await events_of(stream)
    if problem is not None:
        raise problem
    assert stream.response is not None
    return stream.response


BOTH_WAYS = pytest.mark.parametrize("how", ["generate", "stream"])


# ---------------------------------------------------------------------------------------------------- the policy


async def test_pauses_grow_to_a_limit() -> None:
    """Twice as long each time, up to the cap; chance moves them by a share at most."""
    error = {"category": "overloaded", "retryable": True}
    policy = Retry(attempts=9)
    assert [policy.pause(error, attempt, 0.5) for attempt in range(1, 9)] == [1, 2, 4, 8, 16, 30, 30, 30]
    assert (policy.pause(error, 1, 0.0), policy.pause(error, 1, 1.0)) == (0.75, 1.25)
    assert policy.pause(error, 9, 0.5) is None


async def test_what_a_provider_asks_for_is_waited() -> None:
    """Up to the patience of the policy; beyond it one policy gives up and another waits less."""
    asked = {"category": "rate_limit", "retryable": True, "retry_after": 60.0}
    longer = {**asked, "retry_after": 61.0}
    assert PRESETS["standard"].pause(asked, 1, 0.0) == 60
    assert PRESETS["standard"].pause(longer, 1, 0.0) is None
    assert PRESETS["patient"].pause(longer, 1, 0.0) == 60
    assert PRESETS["none"].pause(asked, 1, 0.0) is None
    assert PRESETS["once"].pause({**asked, "retry_after": 0.0}, 1, 0.5) == 0
    assert PRESETS["standard"].pause(asked, 1, 0.0, others=True) is None


async def test_what_may_pass_by_itself() -> None:
    """By category, and only when the error says so."""
    for category in ("rate_limit", "overloaded", "server_error", "network", "timeout", "invalid_request", "billing"):
        error = {"category": category, "retryable": True}
        assert (Retry().pause(error, 1, 0.5) is not None) is (category in CATEGORIES)
        assert Retry().pause({**error, "retryable": False}, 1, 0.5) is None


# ---------------------------------------------------------------------------------------------------- asking again


@BOTH_WAYS
async def test_a_failure_that_passes_is_asked_again(how: str, caplog: pytest.LogCaptureFixture) -> None:
    """The answer tells each attempt that failed; so does the log, without content and without the key."""
    time = Time()
    fake = FakeTransport(Refuse(529, {"error": {"message": KEY}}), SLOW_DOWN, Say("at last"))
    async with client_over(fake, time) as client:
        response = await outcome(client, how, model=CLAUDE)
    assert time.slept == [1.0, 7.0]
    assert response["attempts"] == [
        {"model": CLAUDE, "category": "overloaded", "status": 529, "waited": 1.0},
        {"model": CLAUDE, "category": "rate_limit", "status": 429, "waited": 7.0},
    ]
    assert "skipped" not in response
    assert not violations(response, "Response")
    assert len(fake.sent) == 3
    assert {sent.body for sent in fake.sent} == {fake.sent[0].body}
    lines = [record for record in caplog.records if record.name == "interlingua.client"]
    assert [line.levelno for line in lines] == [logging.WARNING] * 2
    assert lines[1].getMessage() == f"attempt 2 at {CLAUDE} failed: rate_limit, next attempt in 7.00 s"
    assert lines[1].__dict__["message_id"] == response["message"]["id"]
    assert not [line for line in lines if KEY in str(vars(line)) or "hello" in str(vars(line))]


@BOTH_WAYS
@pytest.mark.parametrize(
    "step",
    [
        Refuse(400, {"error": {"message": "wrong"}}),
        Refuse(401),
        Refuse(404),
        Refuse(504),
        Refuse(408),
        Fail("timeout"),
        Fail("network"),
        Bytes([b"<html></html>"], headers={"content-type": "text/html"}),
        Bytes([b"{"], headers={"content-type": "application/json"}),
        Bytes(recorded(GPT)[:0], breaks="network"),
    ],
)
async def test_what_is_not_asked_again(how: str, step: Any) -> None:
    """What will not pass, and what the provider may have carried out, and so charged, all the same."""
    time = Time()
    fake = FakeTransport(step, Say("never"))
    async with client_over(fake, time) as client:
        error = (await failed(outcome(client, how, model=GPT))).error
    assert (time.slept, fake.left) == ([], 1)
    assert "attempts" not in error


@BOTH_WAYS
@pytest.mark.parametrize("category", ["timeout", "network"])
async def test_a_call_that_never_left_is_asked_again(how: str, category: Any) -> None:
    """Nothing can have been charged. With `unsure`, what may have been is repeated as well."""
    async with client_over(FakeTransport(Fail(category, sent=False), Say("x"))) as client:
        assert (await outcome(client, how, model=GPT))["attempts"][0]["category"] == category
    async with client_over(FakeTransport(Fail(category), Say("x")), retry=Retry(unsure=True)) as client:
        assert (await outcome(client, how, model=GPT))["attempts"][0]["waited"] == 1.0


@BOTH_WAYS
async def test_the_last_failure_is_told_with_all_attempts(how: str) -> None:
    """As many as the policy says, and no more."""
    fake = FakeTransport(*[Refuse(503)] * 4)
    async with client_over(fake) as client:
        error = await failed(outcome(client, how, model=GPT))
    assert fake.left == 1
    assert [attempt.get("waited") for attempt in error.error["attempts"]] == [1.0, 2.0, None]
    assert not violations(error.to_dict(), "Error")


async def test_an_error_in_a_body_that_began_well() -> None:
    """Status 200 and an error inside is an error like any other, before the first event."""
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    first = Bytes([b"event: error\ndata: " + json.dumps(overloaded) + b"\n\n"])
    async with client_over(FakeTransport(first, Say("at last"))) as client:
        response = await outcome(client, "stream", model=CLAUDE)
    assert response["attempts"][0]["category"] == "overloaded"


async def test_never_after_the_first_event() -> None:
    """What was shown cannot be taken back."""
    fake = FakeTransport(Bytes(recorded(GPT)[:3], breaks="network"), Say("never"))
    async with client_over(fake, retry=Retry(unsure=True)) as client:
        events, problem = await events_of(client.stream(ask(), model=GPT, fallbacks=[CLAUDE]))
    assert isinstance(problem, StreamTruncated)
    assert events[-1]["type"] == "error"
    assert fake.left == 1


@BOTH_WAYS
async def test_a_pause_that_the_deadline_does_not_allow(how: str) -> None:
    """The error is told at once, and it is the provider's."""
    time = Time()
    fake = FakeTransport(SLOW_DOWN, Say("never"))
    async with client_over(fake, time) as client:
        error = await failed(outcome(client, how, model=CLAUDE, deadline=6.0))
    assert error.error["category"] == "rate_limit"
    assert error.retry_after == 7
    assert (time.slept, fake.left) == ([], 1)


async def test_what_was_tried_before_the_deadline_passed() -> None:
    """Is told with it."""
    fake = FakeTransport(Refuse(503), Say("late", delay=30))
    async with client_over(fake) as client:
        error = (await failed(client.generate(ask(), model=GPT, fallbacks=[CLAUDE], deadline=1.2))).error
    assert error["category"] == "timeout"
    assert [attempt["category"] for attempt in error["attempts"]] == ["overloaded"]


async def test_a_pause_can_be_cancelled() -> None:
    """Nobody has to wait for the end of a pause."""
    fake = FakeTransport(SLOW_DOWN, Say("never"))
    async with Client(fake, keys={"anthropic": KEY}) as client:
        stream = client.stream(ask(), model=CLAUDE)
        reading = asyncio.create_task(events_of(stream))
        await asyncio.sleep(0.05)
        stream.cancel()
        _, problem = await asyncio.wait_for(reading, 5)
    assert isinstance(problem, Cancelled)


# ---------------------------------------------------------------------------------------------------- asking another


@BOTH_WAYS
async def test_a_chain_waits_shortly_and_goes_on(how: str) -> None:
    """One short pause, no long one, while another candidate is left; all is told."""
    time = Time()
    fake = FakeTransport(Refuse(503), Refuse(503), SLOW_DOWN, Say("at last"))
    async with client_over(fake, time) as client:
        response = await outcome(client, how, model=CLAUDE, fallbacks=[GPT, OTHER])
    assert time.slept == [1.0]
    assert [attempt["model"] for attempt in response["attempts"]] == [CLAUDE, CLAUDE, GPT]
    assert [(skipped["model"], skipped["reason"]) for skipped in response["skipped"]] == [
        (CLAUDE, "overloaded"),
        (GPT, "rate_limit"),
    ]
    assert response["model"] == OTHER


@BOTH_WAYS
async def test_what_another_may_do(how: str) -> None:
    """Another pays for another call, so a call of unknown outcome is no reason to stop; a wrong request is."""
    for step in (Fail("timeout"), Fail("network"), Refuse(404), Refuse(504)):
        async with client_over(FakeTransport(step, Say("x"))) as client:
            assert (await outcome(client, how, model=CLAUDE, fallbacks=[GPT]))["model"] == GPT
    too_long = {"error": {"message": "too long", "type": "invalid_request_error", "code": "context_length_exceeded"}}
    async with client_over(FakeTransport(Refuse(400, too_long), Say("x"))) as client:
        response = await outcome(client, how, model=GPT, fallbacks=[CLAUDE])
    assert response["skipped"][0]["reason"] == "context_overflow"
    for step in (Refuse(400), Refuse(401)):
        async with client_over(FakeTransport(step, Say("never"))) as client:
            await failed(outcome(client, how, model=CLAUDE, fallbacks=[GPT]))


async def test_when_nobody_answers() -> None:
    """The last error, with everything that was tried."""
    fake = FakeTransport(Refuse(404), Refuse(503), Refuse(503), Refuse(503))
    async with client_over(fake) as client:
        error = (await failed(client.generate(ask(), model=CLAUDE, fallbacks=[GPT]))).error
    assert [attempt["model"] for attempt in error["attempts"]] == [CLAUDE, GPT, GPT, GPT]
    assert [skipped["reason"] for skipped in error["skipped"]] == ["not_found"]
    assert (error["category"], error["provider"]) == ("overloaded", "openai")


# ---------------------------------------------------------------------------------------------------- cooldowns


@BOTH_WAYS
async def test_attempts_feed_the_tracker(how: str) -> None:
    """Two failures put a model into cooldown. It is not tried while another is left; a success calls it back."""
    time = Time()
    fake = FakeTransport(Refuse(503), Refuse(503), Say("x"), Say("y"), Say("z"), Say("w"))
    async with client_over(fake, time) as client:
        await outcome(client, how, model=CLAUDE, fallbacks=[GPT])
        assert client.health.snapshot()["models"][CLAUDE]["reason"] == "failures"
        response = await outcome(client, how, model=CLAUDE, fallbacks=[GPT])
        assert response["skipped"][0]["reason"] == "provider_unavailable"
        assert "attempts" not in response
        assert response["model"] == GPT
        # a model that is alone is tried all the same
        assert (await outcome(client, how, model=CLAUDE))["model"] == CLAUDE
        assert client.health.snapshot()["models"] == {}
        assert (await outcome(client, how, model=CLAUDE, fallbacks=[GPT]))["model"] == CLAUDE


async def test_the_cooldown_that_ends_first_when_all_models_are_in_cooldown() -> None:
    """A call that may succeed is made; a model that is benched is not called."""
    time = Time()
    fake = FakeTransport(Say("x"))
    async with client_over(fake, time) as client:
        client.health.bench(CLAUDE, 50)
        client.health.bench("openai", 20)
        client.health.bench("groq:llama")
        models = ["groq:llama", CLAUDE, GPT]
        response = await client.generate(ask(), model=models[0], fallbacks=models[1:])
        assert response["model"] == GPT
        assert [skipped["model"] for skipped in response["skipped"]] == models[:2]
        with pytest.raises(NoCandidate):
            await client.generate(ask(), model="groq:llama")


async def test_who_is_not_configured_is_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    """While another is left. Alone it is not asked: what is missing is told, and nobody is called."""
    registry = Registry(environment={"OPENAI_API_KEY": KEY})
    fake = FakeTransport(Say("x"), Refuse(401))
    caplog.set_level(logging.INFO)
    async with Client(registry=registry, retry="none") as client:
        client._opened["http"] = fake
        response = await client.generate(ask(), model=CLAUDE, fallbacks=["azure-openai:x", GPT])
        assert [(skipped["model"], skipped["reason"]) for skipped in response["skipped"]] == [
            (CLAUDE, "not_configured"),
            ("azure-openai:x", "not_configured"),
        ]
        assert response["skipped"][0]["message"] == "no key: set ANTHROPIC_API_KEY"
        assert response["model"] == GPT
        assert f"{CLAUDE} passed over: not_configured" in caplog.text
        sent = len(fake.sent)
        for asked in (
            client.generate(ask(), model=CLAUDE),
            client.generate(ask(), model=CLAUDE, fallbacks=["azure-openai:x"]),
        ):
            with pytest.raises(
                NotConfigured, match="anthropic is not configured; no key: set ANTHROPIC_API_KEY"
            ) as told:
                await asked
            assert told.value.to_dict()["category"] == "authentication"
        assert told.value.to_dict()["skipped"][0]["model"] == "azure-openai:x"
        assert len(fake.sent) == sent


async def test_a_redirect_is_not_followed_and_has_its_status() -> None:
    """Whoever it leads to would get the key and the conversation."""
    fake = FakeTransport(Refuse(302, b"", {"location": "http://elsewhere.example/"}))
    async with Client(registry=Registry(environment={"OPENAI_API_KEY": KEY}), retry="none") as client:
        client._opened["http"] = fake
        error = (await failed(client.generate(ask(), model=GPT))).error
    assert error["message"] == "openai answered 302: redirects are not followed; check its address"
    assert (error["status"], error["provider"], error["retryable"]) == (302, "openai", False)
    assert len(fake.sent) == 1


async def test_a_key_that_is_refused_is_named() -> None:
    """By its variable; the error names provider and status."""
    fake = FakeTransport(Refuse(401), Refuse(502), Refuse(401))
    async with Client(registry=Registry(environment={"OPENAI_API_KEY": KEY}), retry="none") as client:
        client._opened["http"] = fake
        error = (await failed(client.generate(ask(), model=GPT))).error
        assert error["message"].startswith("openai answered 401: ")
        assert error["message"].endswith("; the key is the value of OPENAI_API_KEY")
        error = (await failed(client.generate(ask(), model=GPT))).error
        assert error["message"].startswith("openai answered 502: ")
    async with Client(registry=Registry(environment={}), base_urls={"openai": "http://box.example"}) as client:
        client._opened["http"] = fake
        error = (await failed(client.generate(ask(), model=GPT))).error
        assert error["message"].endswith("; no key was sent: set OPENAI_API_KEY")


async def test_a_cooldown_that_begins_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """By name, end and reason; and so is its end, also when no call is made (spec/7-routing.md#cooldown-reports)."""
    caplog.set_level(logging.INFO, "interlingua.client")
    health = Health(Backoff(base=0.05), observer=log_cooldown)
    async with Client(FakeTransport(Refuse(503), Refuse(503)), retry="none", health=health) as client:
        for _ in range(2):
            await failed(client.generate(ask(), model=GPT))
        until = health.snapshot()["models"][GPT]["until"]
        begun, *_ = [entry for entry in caplog.records if "cooldown" in entry.message]
        assert begun.message == f"{GPT} is in cooldown until {until}: failures, the last one overloaded"
        assert (begun.levelname, begun.model, begun.until) == ("WARNING", GPT, until)
        await asyncio.sleep(0.2)
        ended = caplog.records[-1]
        assert (ended.message, ended.levelname) == (f"{GPT} is available again: its cooldown is over", "INFO")


async def test_what_speaks_against_nobody() -> None:
    """A wrong request, a cancelled call, a short deadline. A deadline after a long silence does."""
    time = Time()
    async with client_over(FakeTransport(Refuse(400), Say("late", delay=30)), time) as client:
        await failed(client.generate(ask(), model=GPT))
        await failed(client.generate(ask(), model=GPT, deadline=0.05))
        client.health.failed(GPT, "timeout")
        assert client.health.snapshot()["models"] == {}
    limits = Limits(silence=0.01)
    async with client_over(FakeTransport(*[Say("late", delay=30)] * 2), time, limits=limits) as client:
        for _ in range(2):
            await failed(client.generate(ask(), model=GPT, deadline=0.05))
        assert GPT in client.health.snapshot()["models"]


async def test_a_stream_that_breaks_off_is_a_failure() -> None:
    """And one that comes to its end a success."""
    broken = [Bytes(recorded(GPT)[:3], breaks="network"), Bytes(recorded(GPT)[:3])]
    async with client_over(FakeTransport(*broken, Bytes(recorded(GPT)))) as client:
        for _ in broken:
            await events_of(client.stream(ask(), model=GPT))
        assert GPT in client.health.snapshot()["models"]
        await events_of(client.stream(ask(), model=GPT))
        assert client.health.snapshot()["models"] == {}


async def test_a_refused_key_puts_the_provider_into_cooldown() -> None:
    """With the policy that inspects whole providers."""
    time = Time()
    health = Health(Windows(), clock=time.clock)
    async with client_over(FakeTransport(Refuse(401), Say("x")), time, health=health) as client:
        await failed(client.generate(ask(), model=OTHER))
        response = await client.generate(ask(), model=GPT, fallbacks=[CLAUDE])
    assert response["model"] == CLAUDE
