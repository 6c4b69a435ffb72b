"""The providers that are played, over every wire."""

from typing import Any

import pytest

from interlingua import adapters
from interlingua.canonical.fold import fold
from interlingua.canonical.validate import violations
from interlingua.client import Client, FakeTransport, Refuse, ReplayTransport, Say
from interlingua.client.playing import Sent
from interlingua.client.replay import exchanges

from .six import every_wire
from .test_client import events_of
from .upstream import ask

pytestmark = pytest.mark.asyncio

EVERY = pytest.mark.parametrize("adapter", adapters.names())
TOOLS = [
    {"name": name, "input_schema": {"type": "object", "properties": {}}} for name in ("read_gauge", "file_log_entry")
]


def told(response: dict[str, Any]) -> list[Any]:
    """What an answer says and calls for, without what only its wire knows."""
    return [
        (block["name"], block["input"]) if block["type"] == "tool_use" else block["text"]
        for block in response["message"]["content"]
        if block["type"] in ("text", "tool_use")
    ]


@EVERY
async def test_the_script_is_played_on_every_wire(adapter: str) -> None:
    """Whole and streamed, with calls; the script reads the canonical request, its model and whether to stream."""

    def check(sent: Sent) -> None:
        assert (sent.adapter, sent.model) == (adapter, adapter)
        assert sent.request["messages"][-1]["content"][0]["text"] == "hello"

    step = Say("Let me look.", calls=[("look", {"at": "it", "n": 3}), ("see", {})], check=check)
    fake = FakeTransport(step, step)
    async with Client(fake, registry=every_wire()) as client:
        whole = await client.generate(ask(), model=f"every:{adapter}")
        stream = client.stream(ask(), model=f"every:{adapter}")
        events, problem = await events_of(stream)
    assert problem is None
    assert [bool(sent.request.get("stream")) for sent in fake.sent] == [False, True]
    assert told(whole) == told(fold(events)) == ["Let me look.", ("look", {"at": "it", "n": 3}), ("see", {})]
    assert whole["finish_reason"] == events[-1]["response"]["finish_reason"] == "tool_calls"
    assert whole["usage"]["input_tokens"] == events[-1]["response"]["usage"]["input_tokens"] == 10
    assert whole["model"] == events[-1]["response"]["model"] == f"every:{adapter}"
    assert not violations(whole, "Response")
    texts = [event for event in events if event["type"] == "text_delta"]
    assert len(texts) == 3


@EVERY
@pytest.mark.parametrize("exchange", exchanges(), ids=lambda exchange: exchange.name)
async def test_recorded_exchanges_on_every_wire(adapter: str, exchange: Any) -> None:
    """What was recorded on one wire is carried to the others; both forms say the same."""
    always = type(exchange)(exchange.name, {}, 0.0, 0.0, exchange.folder)
    async with Client(ReplayTransport([always], pace=0), registry=every_wire()) as client:
        whole = await client.generate(ask(tools=TOOLS), model=f"every:{adapter}")
        events, problem = await events_of(client.stream(ask(tools=TOOLS), model=f"every:{adapter}"))
        chat = await client.generate(ask(tools=TOOLS), model="every:openai_chat")
    assert problem is None
    assert told(whole) == told(fold(events)) == told(chat)
    assert whole["model"] == events[-1]["response"]["model"] == f"every:{adapter}"
    assert len([event for event in events if event["type"] == "text_delta"]) > 1


@pytest.mark.parametrize(
    ("name", "adapter"),
    [
        ("claude-sonnet-4-6", "anthropic_messages"),
        ("gpt-5.4", "openai_chat"),
        ("gpt-5.1-codex", "openai_responses"),
        ("gemini-3.8-flash", "gemini_generate"),
        ("amazon.nova-lite-v1:0", "bedrock_converse"),
        ("llama3.2", "ollama_chat"),
        ("command-a-03-2025", "cohere_chat"),
    ],
)
async def test_the_name_of_the_model_tells_the_wire(name: str, adapter: str) -> None:
    """So that each wire can be tried without a key."""
    fake = FakeTransport(Say("x"))
    async with Client() as client, Client(fake) as other:
        response = await client.generate(ask(), model=f"replay:{name}")
        await other.generate(ask(), model=f"replay:{name}")
    assert fake.sent[0].adapter == adapter
    assert response["model"] == f"replay:{name}"


@pytest.mark.parametrize("role", ["system", "developer"])
async def test_instructions_behind_a_question_are_nobodys_turn(role: str) -> None:
    """Agents put some there: the question is answered all the same."""
    behind = {"role": role, "content": [{"type": "text", "text": "Be brief."}]}
    request = {"messages": [*ask()["messages"], behind], "max_output_tokens": 9}
    for adapter in ("anthropic_messages", "openai_chat", "openai_responses"):
        async with Client(ReplayTransport(pace=0), registry=every_wire(), retry="none") as client:
            answer = await client.generate(request, model=f"every:{adapter}")
        assert told(answer)[0].startswith("This answer was recorded")


@EVERY
async def test_a_refusal_is_one_on_every_wire(adapter: str) -> None:
    """What was not recorded is not found."""
    async with Client(ReplayTransport([]), registry=every_wire()) as client:
        _, problem = await events_of(client.stream(ask(), model=f"every:{adapter}"))
    assert problem is not None
    assert problem.to_dict()["category"] == "not_found"  # type: ignore[attr-defined]
    async with Client(FakeTransport(Refuse(503)), registry=every_wire(), retry="none") as client:
        _, problem = await events_of(client.stream(ask(), model=f"every:{adapter}"))
    assert problem is not None
    assert problem.to_dict()["retryable"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "adapter", "model", "stream"),
    [
        ("/v1/messages", "anthropic_messages", "in-the-body", False),
        (
            "/p/publishers/anthropic/models/claude-x@20250929:rawPredict",
            "anthropic_messages",
            "claude-x@20250929",
            False,
        ),
        ("/p/publishers/anthropic/models/claude-x:streamRawPredict", "anthropic_messages", "claude-x", True),
        ("/model/anthropic.claude-x-v1%3A0/invoke", "anthropic_messages", "anthropic.claude-x-v1:0", False),
        ("/model/a%2Fb/invoke-with-response-stream", "anthropic_messages", "a/b", True),
        ("/model/arn%3Aaws%3Ab%2Fc/converse-stream", "bedrock_converse", "arn:aws:b/c", True),
        ("/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "gemini_generate", "gemini-x", True),
    ],
)
async def test_what_the_path_says(path: str, adapter: str, model: str, stream: bool) -> None:
    """Clouds name the model, and whether to stream, in the path."""
    body = {
        "anthropic_messages": b'{"model": "in-the-body", "max_tokens": 1, "messages": []}',
        "bedrock_converse": b'{"messages": []}',
        "gemini_generate": b'{"contents": []}',
    }[adapter]
    sent = Sent(f"https://cloud.example{path}", {}, body)
    assert (sent.adapter, sent.model, bool(sent.request.get("stream"))) == (adapter, model, stream)
