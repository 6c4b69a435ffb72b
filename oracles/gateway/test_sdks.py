"""
The official SDKs as clients of a gateway: with nothing but a base URL changed, each works with each provider's wire
behind (spec/11-gateway.md).
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from interlingua.client.fake import Bytes, Refuse, Say
from oracles.gateway import clients, driven
from oracles.gateway.clients import Understood
from oracles.gateway.serving import PICTURE, Gate, serving

CLIENTS: dict[str, Callable[[str], Any]] = {**clients.CLIENTS, **driven.CLIENTS}
BEHIND = {
    "anthropic_messages": "anthropic:claude-sonnet-4-6",
    "openai_chat": "openai:gpt-4.1",
    "openai_responses": "openai:gpt-5-pro",
    "gemini_generate": "gemini:gemini-2.5-pro",
    "ollama_chat": "ollama-cloud:qwen3",
    "bedrock_converse": "bedrock:us.amazon.nova-premier-v1:0",
    "cohere_chat": "cohere:command-a-plus-05-2026",
}
PLAIN: dict[str, Any] = {"tools": False, "picture": False, "schema": False, "history": None}
USED = {"input_tokens": 10, "output_tokens": 5}

every_client = pytest.mark.parametrize("client", CLIENTS)
every_wire = pytest.mark.parametrize("behind", BEHIND)
whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.fixture(scope="session")
def gate() -> Iterator[Gate]:
    """One gateway for all tests."""
    with serving() as running:
        yield running


class Made(dict[str, Any]):
    """One client of each SDK, made when it is first asked for. Skips the test where the SDK is not installed."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def __missing__(self, name: str) -> Any:
        self[name] = CLIENTS[name](self._url)
        return self[name]


@pytest.fixture(scope="session")
def made(gate: Gate) -> Made:
    """One client of each SDK."""
    return Made(gate.url)


@every_client
@every_wire
@whole_and_streamed
def test_an_answer_is_understood(gate: Gate, made: Made, client: str, behind: str, stream: bool) -> None:
    """The text and the tokens are those that the provider gave."""
    gate.behind(BEHIND[behind], Say("Two files.", usage=USED))
    found: Understood = made[client].ask(stream, **PLAIN)
    assert found.text == "Two files."
    assert not found.calls
    assert found.output_tokens == 5


@every_client
@every_wire
@whole_and_streamed
def test_a_tool_loop_runs(gate: Gate, made: Made, client: str, behind: str, stream: bool) -> None:
    """Two calls at once, their results, and the answer; the provider is sent its own calls again."""
    called = Say("Let me look.", calls=[("list", {"path": "."}), ("list", {"path": "src"})], usage=USED)
    gate.behind(BEHIND[behind], called, Say("Done.", usage=USED))
    asking = PLAIN | {"tools": True}
    first: Understood = made[client].ask(stream, **asking)
    assert [(name, given) for _, name, given in first.calls] == [("list", {"path": "."}), ("list", {"path": "src"})]
    last: Understood = made[client].ask(stream, **(asking | {"history": first}))
    assert last.text == "Done."
    blocks = [block for message in gate.asked["messages"] for block in message["content"]]
    calls = [block for block in blocks if block["type"] == "tool_use"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    assert [call["input"] for call in calls] == [{"path": "."}, {"path": "src"}]
    assert [result["tool_use_id"] for result in results] == [call["id"] for call in calls]
    assert gate.asked["tools"][0]["name"] == "list"


@every_client
@whole_and_streamed
def test_signed_reasoning_comes_back(gate: Gate, made: Made, client: str, stream: bool) -> None:
    """What the provider signed is what it is sent again, whatever the client can keep. Ollama's SDK for Python keeps no id
    of a call, so there is no place for it: the call itself comes back."""
    content = [
        {"type": "thinking", "thinking": "Let me look.", "signature": "c2lnbmVk"},
        {"type": "tool_use", "id": "toolu_9", "name": "list", "input": {"path": "."}},
    ]
    gate.behind("anthropic:claude-sonnet-4-6", _signed(content, stream=stream), Say("Done."))
    first: Understood = made[client].ask(stream, **(PLAIN | {"tools": True}))
    assert len(first.calls) == 1
    made[client].ask(False, **(PLAIN | {"tools": True, "history": first}))
    sent = gate.script.sent[-1].json["messages"][1]["content"]
    kept = [block for block in sent if block["type"] != "text"]
    if client == "ollama":
        assert [(block["type"], block["input"]) for block in kept] == [("tool_use", {"path": "."})]
    else:
        assert kept == content


def _signed(content: list[dict[str, Any]], *, stream: bool) -> Bytes:
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": content,
        "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    if not stream:
        return Bytes([json.dumps(message).encode()], headers={"content-type": "application/json"})
    thinking, call = content
    frames: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": thinking["thinking"]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": thinking["signature"]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": {**call, "input": {}}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": json.dumps(call["input"])}},
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]  # fmt: skip
    return Bytes([f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n".encode() for frame in frames])


@every_client
@every_wire
def test_a_picture_arrives(gate: Gate, made: Made, client: str, behind: str) -> None:
    """Byte for byte."""
    gate.behind(BEHIND[behind] if behind != "ollama_chat" else "ollama-cloud:gemma3", Say("A dot."))
    assert made[client].ask(False, **(PLAIN | {"picture": True})).text == "A dot."
    pictures = [block for block in gate.asked["messages"][-1]["content"] if block["type"] == "image"]
    assert [picture["source"]["data"] for picture in pictures] == [PICTURE]


@every_client
@every_wire
@whole_and_streamed
def test_json_is_asked_for_and_given(gate: Gate, made: Made, client: str, behind: str, stream: bool) -> None:
    """The provider is asked for the schema in one way or another; the client gets the JSON."""
    gate.behind(BEHIND[behind], Say('{"n": 4}'))
    assert json.loads(made[client].ask(stream, **(PLAIN | {"schema": True})).text) == {"n": 4}
    assert '"n"' in gate.script.sent[-1].body.decode().replace('\\"', '"')


@every_client
@whole_and_streamed
def test_a_refusal_is_the_class_of_error_that_the_sdk_has_for_it(
    gate: Gate, made: Made, client: str, stream: bool
) -> None:
    """A rate limit of another provider is a rate limit to the client."""
    body = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}}
    gate.behind("anthropic:claude-sonnet-4-6", Refuse(429, body, {"retry-after": "1"}))
    with pytest.raises(made[client].refused) as refused:
        made[client].ask(stream, **PLAIN)
    codes = (getattr(refused.value, name, None) for name in ("status_code", "code"))
    assert 429 in codes or client == "boto3"


@every_client
@every_wire
def test_a_client_that_goes_away_ends_the_call(gate: Gate, made: Made, client: str, behind: str) -> None:
    """At once, long before the provider would have ended."""
    gate.behind(BEHIND[behind], Say("word " * 400, pause=0.05))
    assert made[client].leave().strip().startswith("word")
    (answer,) = gate.script.answers[-1:]
    until = time.monotonic() + 5
    while not answer.closed and time.monotonic() < until:
        time.sleep(0.01)
    assert answer.closed


@pytest.mark.parametrize("client", [name for name in CLIENTS if not name.endswith(("boto3", "bedrock"))])
def test_models_are_listed(gate: Gate, made: Made, client: str) -> None:
    """The names that the policy serves stand there."""
    gate.policy["serve"] = {"house-model": "openai:gpt-4.1"}
    assert "house-model" in made[client].models()


@pytest.mark.parametrize("client", [name for name in CLIENTS if name.endswith(("anthropic", "google-genai"))])
def test_tokens_are_counted(gate: Gate, made: Made, client: str) -> None:
    """By the estimate of the model that would answer."""
    gate.behind("openai:gpt-4.1")
    assert 3 < made[client].count() < 40


@pytest.mark.parametrize(
    ("client", "stream"), [("javascript-bedrock", False), ("javascript-bedrock", True), ("java-bedrock", True)]
)
def test_awss_sdks_speak_http_2_as_they_choose_themselves(gate: Gate, made: Made, client: str, stream: bool) -> None:
    """They are told nothing of it, and neither is the gateway (spec/11-gateway.md#http-2)."""
    gate.behind(BEHIND["bedrock_converse"], Say("Two files."))
    assert made[client].ask(stream, **PLAIN).text == "Two files."
    assert gate.http_version == "2"
