"""Models on clouds: where the call goes, what its body says, and how its stream is framed (the pages of the wires tell)."""

import base64
from copy import deepcopy
from typing import Any

import pytest

from interlingua.canonical import json
from interlingua.canonical.errors import ProviderError, StreamTruncated
from interlingua.canonical.fold import fold
from interlingua.client import Bytes, Client, FakeTransport
from interlingua.registry import Registry, data
from interlingua.wire import eventstream

from .test_client import CLAUDE, events_of
from .upstream import ask, recorded

pytestmark = pytest.mark.asyncio

PROJECT = "https://europe-west1-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1/publishers"
ENVIRONMENT = {
    "VERTEX_ACCESS_TOKEN": "ya29.token",
    "GOOGLE_CLOUD_PROJECT": "p",
    "GOOGLE_CLOUD_LOCATION": "europe-west1",
    "AWS_BEARER_TOKEN_BEDROCK": "aws-key",
    "AWS_REGION": "eu-west-1",
}
ON_BEDROCK = "bedrock:eu.anthropic.claude-sonnet-4-6-v1:0"
ON_VERTEX = "vertex:claude-sonnet-4-6@20260101"
KINDS = {"content-type": "application/vnd.amazon.eventstream"}


def clouds() -> Registry:
    """The registry, with what an operator sets for both clouds."""
    models = deepcopy(data("models"))
    models["models"][ON_BEDROCK] = {"adapter": "anthropic_messages"}  # its own row speaks Converse
    return Registry(models=models, environment=ENVIRONMENT)


def client_over(*steps: Any) -> tuple[FakeTransport, Client]:
    """A client whose providers are clouds."""
    fake = FakeTransport(*steps)
    return fake, Client(fake, registry=clouds(), retry="none")


def whole(content: list[Any]) -> bytes:
    """An answer of Anthropic's wire."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    return json.dumps(
        {
            "id": "msg_bdrk_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-6",
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
    )


def chunk(payload: dict[str, Any], name: str = "chunk", kind: str = eventstream.EVENT) -> bytes:
    """A message of an AWS event stream."""
    return eventstream.encode(eventstream.Frame(name, json.dumps(payload).decode(), kind))


def wrapped(frames: list[bytes]) -> list[bytes]:
    """A stream of Anthropic's own service as Bedrock sends it, padding included."""
    found = [
        line.removeprefix(b"data: ") for frame in frames for line in frame.split(b"\n") if line.startswith(b"data:")
    ]
    return [chunk({"bytes": base64.b64encode(event).decode(), "p": "abcdefgh"}) for event in found]


async def test_gemini_on_vertex() -> None:
    """Project and location in the path, a bearer token, the verbs of the wire."""
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "x"}]}, "finishReason": "STOP"}]}
    fake, client = client_over(*[Bytes([json.dumps(answer)], headers={"content-type": "application/json"})] * 2)
    async with client:
        await client.generate(ask(), model="vertex:gemini-3.8-flash")
        await events_of(client.stream(ask(), model="vertex:gemini-3.8-flash"))
    unary, streamed = fake.sent
    assert unary.url == f"{PROJECT}/google/models/gemini-3.8-flash:generateContent"
    assert streamed.url == f"{PROJECT}/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse"
    assert unary.headers["authorization"] == "Bearer ya29.token"
    assert "model" not in unary.json


async def test_anthropic_on_vertex() -> None:
    """rawPredict, no model in the body, the version there and not in a header."""
    fake, client = client_over(Bytes([whole([{"type": "text", "text": "x"}])], headers={}), Bytes(recorded(CLAUDE)))
    async with client:
        response = await client.generate(ask(), model=ON_VERTEX)
        _, problem = await events_of(client.stream(ask(), model=ON_VERTEX))
    unary, streamed = fake.sent
    assert problem is None
    assert unary.url == f"{PROJECT}/anthropic/models/claude-sonnet-4-6@20260101:rawPredict"
    assert streamed.url == f"{PROJECT}/anthropic/models/claude-sonnet-4-6@20260101:streamRawPredict"
    assert unary.headers["authorization"] == "Bearer ya29.token"
    for sent in fake.sent:
        assert "anthropic-version" not in sent.headers
        assert (sent.json["anthropic_version"], "model" in sent.json) == ("vertex-2023-10-16", False)
    assert streamed.json["stream"] is True
    assert response["requested_model"] == ON_VERTEX


async def test_anthropic_on_bedrock() -> None:
    """invoke, no model and no stream in the body; the stream is unwrapped to what the wire itself says."""
    frames = recorded(CLAUDE)
    fake, client = client_over(
        Bytes([whole([{"type": "text", "text": "x"}])], headers={}),
        Bytes(wrapped(frames), headers=KINDS),
        Bytes(frames),
    )
    async with client:
        await client.generate(ask(), model=ON_BEDROCK)
        events, problem = await events_of(client.stream(ask(), model=ON_BEDROCK))
        plain, _ = await events_of(client.stream(ask(), model=CLAUDE))
    unary, streamed = fake.sent[:2]
    address = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-6-v1%3A0"
    assert (unary.url, streamed.url) == (f"{address}/invoke", f"{address}/invoke-with-response-stream")
    assert unary.headers["authorization"] == "Bearer aws-key"
    assert streamed.headers["accept"] == "application/vnd.amazon.eventstream"
    for sent in fake.sent[:2]:
        assert sent.json["anthropic_version"] == "bedrock-2023-05-31"
        assert not {"model", "stream"} & set(sent.json)
        assert "anthropic-version" not in sent.headers
    assert problem is None
    assert [event["type"] for event in events] == [event["type"] for event in plain]

    def said(events: list[dict[str, Any]]) -> list[Any]:
        return [(block["type"], block.get("text"), block.get("input")) for block in fold(events)["message"]["content"]]

    assert said(events) == said(plain)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("throttlingException", "rate_limit"),
        ("modelStreamErrorException", "server_error"),
        ("internalServerException", "server_error"),
        ("serviceUnavailableException", "overloaded"),
        ("modelTimeoutException", "timeout"),
        ("validationException", "invalid_request"),
    ],
)
async def test_exceptions_in_a_wrapped_stream(name: str, category: str) -> None:
    """At the beginning the error of the call, later the last event."""
    problem = chunk({"message": "m"}, name, eventstream.EXCEPTION)
    begun = wrapped(recorded(CLAUDE))[:5]
    _, client = client_over(Bytes([problem], headers=KINDS), Bytes([*begun, problem], headers=KINDS))
    async with client:
        events, first = await events_of(client.stream(ask(), model=ON_BEDROCK))
        assert events == []
        assert isinstance(first, ProviderError)
        assert first.error["category"] == category
        events, later = await events_of(client.stream(ask(), model=ON_BEDROCK))
        assert isinstance(later, StreamTruncated)
        assert events[-1]["error"]["category"] == category


async def test_broken_wrapping() -> None:
    """Damage, an end too early, and payloads that are none of it."""
    begun = wrapped(recorded(CLAUDE))[:5]
    for rest in ([], [b"\x00\x00\x00\x20" + b"x" * 40], [chunk({"bytes": "%%"})], [chunk({})], [chunk({"bytes": 3})]):
        _, client = client_over(Bytes([*begun, *rest], headers=KINDS))
        async with client:
            events, problem = await events_of(client.stream(ask(), model=ON_BEDROCK))
        assert isinstance(problem, StreamTruncated)
        assert events[-1]["error"]["category"] in ("stream_truncated", "invalid_response")


async def test_converse_on_bedrock_in_the_region_of_the_environment() -> None:
    """The other wire of the same provider."""
    message = {"role": "assistant", "content": [{"text": "x"}]}
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    answer = {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}
    fake, client = client_over(Bytes([json.dumps(answer)], headers={"content-type": "application/json"}))
    async with client:
        await client.generate(ask(), model="bedrock:eu.amazon.nova-lite-v1:0")
    host = "https://bedrock-runtime.eu-west-1.amazonaws.com"
    assert fake.sent[0].url == f"{host}/model/eu.amazon.nova-lite-v1%3A0/converse"
