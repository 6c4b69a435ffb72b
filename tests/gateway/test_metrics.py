"""What is counted (spec/11-gateway.md#metrics)."""

import re
from typing import Any

import pytest

from interlingua.access import Key, digest
from interlingua.client.fake import Refuse, Say
from interlingua.gateway.calls import Call
from interlingua.gateway.metrics import Metrics
from tests.gateway import wires


@pytest.mark.asyncio
async def test_calls_tokens_cost_and_losses_are_counted(serve: Any) -> None:
    """A whole answer, a stream, a failure: by model, and none of it holds content."""
    said = Say("A secret.", usage={"input_tokens": 600, "output_tokens": 400})
    policy = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}
    async with serve(said, said, Refuse(429), policy=policy) as at:
        for stream in (False, True, False):
            body = wires.body("openai_chat", stream=stream) | {"seed": 7}
            await at.http.post("/v1/chat/completions", json=body)
        lines = dict(
            line.rsplit(" ", 1)
            for line in (await at.http.get("/metrics")).text.splitlines()
            if not line.startswith("#")
        )
        model = 'model="anthropic:claude-sonnet-4-6"'
        counted = {
            f'interlingua_calls_total{{{model},outcome="ok",provider="anthropic",wire="openai_chat"}}': 2,
            f'interlingua_calls_total{{{model},outcome="rate_limit",provider="anthropic",wire="openai_chat"}}': 1,
            f'interlingua_failed_attempts_total{{category="rate_limit",{model},provider="anthropic"}}': 1,
            'interlingua_key_calls_total{key="anybody",outcome="ok",tenant="anybody"}': 2,
            'interlingua_key_tokens_total{key="anybody",tenant="anybody"}': 2000,
            'interlingua_key_cost_usd_total{key="anybody",tenant="anybody"}': 0.0156,
            f'interlingua_tokens_total{{kind="input",{model}}}': 1200,
            f'interlingua_tokens_total{{kind="output",{model}}}': 800,
            f"interlingua_cost_usd_total{{{model}}}": 0.0156,
            f"interlingua_first_event_seconds_count{{{model}}}": 1,
            "interlingua_running_calls": 0,
        }
        assert {name: float(lines[name]) for name in counted} == pytest.approx(counted)
        assert any(name.startswith("interlingua_losses_total") for name in lines)
        assert "secret" not in str(lines)


@pytest.mark.asyncio
async def test_counters_want_a_key_where_there_are_keys(serve: Any) -> None:
    """They tell what others do."""
    key = Key("team", digest("k"), "team")
    async with serve(keys=[key], names=None) as at:
        assert (await at.http.get("/metrics")).status_code == 401
        assert (await at.http.get("/metrics", headers={"authorization": "Bearer k"})).status_code == 200


@pytest.mark.asyncio
async def test_a_provider_that_fails_is_named_also_where_another_answers(serve: Any) -> None:
    """Every attempt counts; a model that a client made up is no label (spec/11-gateway.md#metrics-labels)."""
    policy = {"version": 1, "serve": {"both": "openai:gpt-4.1,anthropic:claude-sonnet-4-6"}}
    async with serve(Refuse(503), Say("Yes."), Refuse(404), policy=policy) as at:
        for model in ("both", "openai:made-up"):
            await at.http.post("/v1/chat/completions", json=wires.body("openai_chat", model=model))
        text = (await at.http.get("/metrics")).text
        assert 'failed_attempts_total{category="overloaded",model="openai:gpt-4.1",provider="openai"} 1.0' in text
        assert 'failed_attempts_total{category="not_found",model="",provider="openai"} 1.0' in text
        assert 'calls_total{model="",outcome="not_found",provider="openai",wire="openai_chat"} 1.0' in text
        assert "made-up" not in text


@pytest.mark.asyncio
async def test_a_key_sees_the_metrics_of_its_tenant(serve: Any) -> None:
    """And that of the operator those of all (spec/11-gateway.md#metrics-keys)."""
    keys = [Key(name, digest(name), tenant) for name, tenant in (("a1", "a"), ("a2", "a"), ("b1", "b"))]
    keys.append(Key("scraper", digest("scraper"), "operator", all_metrics=True))
    async with serve(*[Say("Yes.")] * 3, keys=keys, names=None) as at:
        for key in keys[:3]:
            body = wires.body("anthropic_messages")
            assert (await at.http.post("/v1/messages", json=body, headers={"x-api-key": key.name})).status_code == 200

        async def seen(key: str) -> set[str]:
            text = (await at.http.get("/metrics", headers={"x-api-key": key})).text
            sums = 'interlingua_calls_total{model="anthropic:claude-sonnet-4-6"' in text
            assert sums == (key == "scraper")
            return set(re.findall(r'^interlingua_key_calls_total{key="(\w+)",outcome="ok"', text, re.MULTILINE))

        assert await seen("a1") == {"a1", "a2"}
        assert await seen("b1") == {"b1"}
        assert await seen("scraper") == {"a1", "a2", "b1"}


def test_the_number_of_keys_with_labels_is_limited() -> None:
    """Certificates may have any number of subjects."""
    metrics = Metrics()
    for number in range(1100):
        metrics.begin()
        metrics.end(Call("", f"x509:CN={number}", f"x509:CN={number}", "openai_chat", ""))
    text = metrics.text().decode()
    assert text.count("interlingua_key_calls_total{") == 1001
    assert 'interlingua_key_calls_total{key="",outcome="ok",tenant=""} 100.0' in text


@pytest.mark.asyncio
async def test_cooldowns_are_counted_by_provider(serve: Any) -> None:
    """Those that began, that last, and that ended."""
    async with serve(Refuse(503), Refuse(503)) as at:

        async def counted() -> dict[str, float]:
            text = (await at.http.get("/metrics")).text
            rows = (line.rsplit(" ", 1) for line in text.splitlines() if "cooldown" in line and line[0] != "#")
            return {name.removeprefix("interlingua_"): float(value) for name, value in rows if "_created" not in name}

        for _ in range(2):
            await at.http.post("/v1/chat/completions", json=wires.body("openai_chat"))
        began = {'cooldowns_total{provider="openai",reason="failures"}': 1.0}
        assert await counted() == {**began, 'in_cooldown{provider="openai"}': 1.0}
        at.gateway.generator.client.health.unbench("openai:gpt-4.1")
        ended = {'cooldowns_ended_total{provider="openai",reason="called back"}': 1.0}
        assert await counted() == {**began, **ended, 'in_cooldown{provider="openai"}': 0.0}
