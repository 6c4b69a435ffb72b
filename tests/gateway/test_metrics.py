"""What is counted (spec/11-gateway.md#metrics)."""

from typing import Any

import pytest

from interlingua.access import Key, digest
from interlingua.client.fake import Refuse, Say
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
            f'interlingua_calls_total{{{model},outcome="ok",wire="openai_chat"}}': 2,
            'interlingua_calls_total{model="",outcome="rate_limit",wire="openai_chat"}': 1,
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
