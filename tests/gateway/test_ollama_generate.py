"""Ollama's older operation, a prompt in and a text out (spec/11-gateway.md#ollama-generate)."""

import json
from typing import Any

import pytest

from interlingua.client.fake import Refuse, Say

pytestmark = pytest.mark.asyncio

POLICY = {"version": 1, "serve": {"*": "anthropic:claude-sonnet-4-6"}}


async def test_a_prompt_is_answered(serve: Any) -> None:
    """With its instructions, its picture and its options; the answer has what clients of Ollama read."""
    body = {"model": "llama3", "prompt": "Why?", "system": "Be brief.", "stream": False, "images": ["iVBORw0KGgo="]}
    async with serve(
        Say("Because.", thinking="Hm.", usage={"input_tokens": 9, "output_tokens": 2}), policy=POLICY
    ) as at:
        answer = await at.http.post("/api/generate", json=body | {"options": {"num_predict": 50}})
        assert answer.status_code == 200, answer.text
        said = answer.json()
        assert (said["response"], said["done"], said["done_reason"], said["model"]) == (
            "Because.",
            True,
            "stop",
            "llama3",
        )
        assert (said["prompt_eval_count"], said["eval_count"]) == (9, 2)
        assert said["thinking"] == "Hm."
        assert "message" not in said
        asked = at.fake.sent[0].request
        assert asked["max_output_tokens"] == 50
        assert [block["type"] for block in asked["messages"][-1]["content"]] == ["image", "text"]
        assert "Be brief." in json.dumps(at.fake.sent[0].json)


async def test_a_prompt_is_answered_in_pieces(serve: Any) -> None:
    """A line for each piece, of which the last one is done; a stream is what comes unless it is said otherwise."""
    async with serve(Say("Two files here."), policy=POLICY) as at:
        answer = await at.http.post("/api/generate", json={"model": "llama3", "prompt": "What?"})
        assert answer.headers["content-type"] == "application/x-ndjson"
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert "".join(line["response"] for line in lines) == "Two files here."
        assert [line["done"] for line in lines] == [False] * (len(lines) - 1) + [True]
        assert all("message" not in line for line in lines)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"context": [1, 2]}, 501),
        ({"raw": True}, 501),
        ({"suffix": "}"}, 501),
        ({"template": "{{ .Prompt }}"}, 501),
        ({"prompt": 7}, 400),
        ({"prompt": ""}, 400),
        ({"system": ["x"]}, 400),
        ({"images": "x"}, 400),
    ],
)
async def test_what_wants_a_model_of_the_server_is_refused(serve: Any, more: Any, status: int) -> None:
    async with serve(policy=POLICY) as at:
        answer = await at.http.post("/api/generate", json={"model": "llama3", "prompt": "What?", **more})
        assert (answer.status_code, set(answer.json())) == (status, {"error"})
        assert at.fake.sent == []


async def test_a_failure_is_told_as_ollama_tells_it(serve: Any) -> None:
    async with serve(Refuse(529, b"busy"), policy=POLICY) as at:
        answer = await at.http.post("/api/generate", json={"model": "llama3", "prompt": "What?"})
        assert (answer.status_code, set(answer.json())) == (503, {"error"})


async def test_a_provider_of_the_wire_is_asked_with_its_present_operation(serve: Any) -> None:
    """Ollama behind Ollama: what it alone knows arrives there."""
    async with serve(Say("Yes."), policy={"version": 1, "serve": {"*": "ollama-cloud:qwen3"}}) as at:
        body = {"model": "llama3", "prompt": "What?", "stream": False, "keep_alive": "5m"}
        assert (await at.http.post("/api/generate", json=body)).json()["response"] == "Yes."
        assert at.fake.sent[0].url.endswith("/api/chat")
        asked = {
            "model": "qwen3",
            "stream": False,
            "keep_alive": "5m",
            "messages": [{"role": "user", "content": "What?"}],
        }
        assert at.fake.sent[0].json == asked
