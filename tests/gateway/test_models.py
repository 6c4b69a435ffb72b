"""Names of models, lists of them, and token counts (spec/11-gateway.md#model-names)."""

from typing import Any

import pytest

from interlingua.client.fake import Say
from tests.gateway import wires

POLICY = {
    "version": 1,
    "aliases": {"house": "gemini:gemini-2.5-pro"},
    "serve": {
        "claude-sonnet-4-6": "openai:gpt-4.1",
        "claude-*": "gemini:gemini-2.5-pro",
        "claude-opus-*": "openai:gpt-5.4",
        "auto": None,
        "chain": "house,openai:gpt-4.1",
    },
    "global": {"default": "anthropic:claude-haiku-4-5"},
}

ASKED = {
    "claude-sonnet-4-6": "openai:gpt-4.1",
    "claude-haiku-4-5": "gemini:gemini-2.5-pro",
    "claude-opus-4-8": "openai:gpt-5.4",
    "auto": "anthropic:claude-haiku-4-5",
    "chain": "gemini:gemini-2.5-pro",
    "house": "gemini:gemini-2.5-pro",
    "openai:gpt-4.1": "openai:gpt-4.1",
    "openai/gpt-4.1": "openai:gpt-4.1",
    "sonnet": "anthropic:claude-sonnet-5-5",
    "gpt-4.1": "anthropic:gpt-4.1",
}


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ASKED)
async def test_a_name_is_what_the_policy_says(serve: Any, name: str) -> None:
    """The name itself, the longest pattern, an alias, an id, the home provider: in this order."""
    async with serve(Say("Yes."), policy=POLICY) as at:
        answer = await at.http.post("/v1/messages", json=wires.body("anthropic_messages", model=name))
        assert answer.headers["interlingua-model"] == ASKED[name]


@pytest.mark.asyncio
async def test_below_the_name_of_a_provider_nothing_is_mapped(serve: Any) -> None:
    """The model is that provider's, by this very name (spec/11-gateway.md#provider-prefix)."""
    async with serve(Say("Yes."), policy=POLICY) as at:
        answer = await at.http.post("/anthropic/v1/messages", json=wires.body("anthropic_messages"))
        assert answer.headers["interlingua-model"] == "anthropic:claude-sonnet-4-6"
        mistakes = {
            "/nobody/v1/messages": "nobody",
            "/groq/v1/messages": "does not speak",
            "/v1/v1/messages": "the path begins with /v1 twice",
        }
        for place, words in mistakes.items():
            refused = await at.http.post(place, json=wires.body("anthropic_messages"))
            assert refused.status_code == 404
            assert words in refused.json()["error"]["message"]


@pytest.mark.asyncio
async def test_an_unknown_entry_of_serve_is_told_when_the_policy_is_checked(serve: Any) -> None:
    """A provider that is not known, and a star in the middle."""
    from interlingua import registry, router

    wrong = {"version": 1, "serve": {"a": "nobody:x", "b*c": "openai:gpt-4.1", "d": 7}}
    found = router.check_policy(wrong, registry.snapshot())
    assert [one["path"] for one in found] == ["/serve/a", "/serve/b*c", "/serve/d"]


@pytest.mark.asyncio
async def test_every_name_of_a_list_can_be_asked_for(serve: Any) -> None:
    """In each wire's own form: the list, one of it, and one that is not there."""
    async with serve(policy=POLICY) as at:
        openai = (await at.http.get("/v1/models")).json()
        names = {row["id"] for row in openai["data"]}
        assert {"claude-sonnet-4-6", "auto", "chain"} <= names
        assert "claude-*" not in names
        assert (await at.http.get("/v1/models/chain")).json()["id"] == "chain"
        assert (await at.http.get("/v1/models/nothing")).status_code == 404

        version = {"anthropic-version": "2023-06-01"}
        anthropic = (await at.http.get("/v1/models", headers=version)).json()
        assert anthropic["first_id"] == anthropic["data"][0]["id"]
        assert anthropic["data"][0]["type"] == "model"
        assert (await at.http.get("/v1/models/nothing", headers=version)).json()["type"] == "error"

        sdk = {"x-fern-sdk-name": "cohere", "user-agent": "cohere/7.3.1"}
        cohere = (await at.http.get("/v1/models", headers=sdk)).json()
        assert {row["name"] for row in cohere["models"]} >= {"auto", "chain"}
        for name in ("github.com/cohere-ai/cohere-go/v2", "com.cohere.fern:api-sdk"):
            again = (await at.http.get("/v1/models", headers={"x-fern-sdk-name": name})).json()
            assert again == cohere
        one = (await at.http.get("/v1/models/chain", headers={"user-agent": "cohere/7.3.1"})).json()
        assert (one["context_length"], one["endpoints"]) == (1_048_576, ["chat"])
        assert set((await at.http.get("/v1/models/nothing", headers=sdk)).json()) == {"message"}

        gemini = (await at.http.get("/v1beta/models")).json()["models"]
        assert {row["name"] for row in gemini} >= {"models/auto", "models/chain"}
        one = (await at.http.get("/v1beta/models/chain")).json()
        assert one["inputTokenLimit"] == 1_048_576

        tags = (await at.http.get("/api/tags")).json()["models"]
        assert {row["model"] for row in tags} >= {"auto", "chain"}
        shown = (await at.http.post("/api/show", json={"model": "chain"})).json()
        assert {"completion", "tools", "vision"} <= set(shown["capabilities"])
        assert (await at.http.post("/api/show", json={})).status_code == 400
        assert "version" in (await at.http.get("/api/version")).json()


@pytest.mark.asyncio
async def test_tokens_are_counted_at_the_model_that_would_answer(serve: Any) -> None:
    """Anthropic's form and Gemini's; a longer request takes more."""
    async with serve(policy=POLICY) as at:
        short = {"model": "claude-sonnet-4-6", "messages": wires.TURN}
        long = {"model": "claude-sonnet-4-6", "messages": [{"role": "user", "content": "word " * 500}]}
        counts = [
            (await at.http.post("/v1/messages/count_tokens", json=body)).json()["input_tokens"]
            for body in (short, long)
        ]
        assert 5 <= counts[0] < 30
        assert 400 < counts[1] < 700
        place = "/v1beta/models/gemini-2.5-pro:countTokens"
        bare = (await at.http.post(place, json=wires.body("gemini_generate"))).json()
        inner = wires.body("gemini_generate") | {"model": "models/gemini-2.5-pro"}
        whole = (await at.http.post(place, json={"generateContentRequest": inner})).json()
        assert bare["totalTokens"] > 0
        assert abs(whole["totalTokens"] - bare["totalTokens"]) <= 2
        assert not at.fake.sent
