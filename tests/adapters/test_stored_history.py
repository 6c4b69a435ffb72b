"""What a provider keeps of a conversation does not travel: lost, and said so (spec/6-loss.md#stored-history)."""

from copy import deepcopy
from typing import Any

import pytest

from interlingua import InvalidRequest, LossRefused, adapters, difference, read_request, registry
from interlingua.translate import project

Data = dict[str, Any]

ASK = [{"role": "user", "content": "And then?"}]
STORED: list[tuple[str, str, Data]] = [
    (
        "openai_responses",
        "previous_response_id",
        {"model": "m", "previous_response_id": "resp_1", "input": "And then?"},
    ),
    ("openai_responses", "conversation", {"model": "m", "conversation": "conv_1", "input": "And then?"}),
    ("openai_responses", "prompt", {"model": "m", "prompt": {"id": "pmpt_1"}, "input": "And then?"}),
    (
        "gemini_generate",
        "cachedContent",
        {"contents": [{"role": "user", "parts": [{"text": "And then?"}]}], "cachedContent": "cachedContents/a"},
    ),
    (
        "anthropic_messages",
        "thread",
        {
            "model": "m",
            "max_tokens": 9,
            "messages": ASK,
            "thread": {"type": "continue", "previous_message_id": "msg_1"},
        },
    ),
    ("openai_chat", "preset", {"model": "m", "messages": ASK, "preset": "email-writer"}),
]
ELSEWHERE = {
    "openai_responses": "xai",
    "gemini_generate": "vertex",
    "anthropic_messages": "deepseek",
    "openai_chat": "groq",
}


@pytest.mark.parametrize(("adapter", "member", "body"), STORED, ids=[member for _, member, _ in STORED])
def test_what_is_stored_by_a_provider_is_lost_elsewhere(adapter: str, member: str, body: Data) -> None:
    request, _ = read_request(deepcopy(body), adapter)

    own = project(request, registry.endpoint(adapter=adapter))
    assert (difference(body, own.wire["body"]), own.loss) == (None, [])

    others = [registry.endpoint(adapter=other) for other in adapters.names() if other != adapter]
    for endpoint in [*others, registry.endpoint(adapter=adapter, provider=ELSEWHERE[adapter])]:
        entries = [e for e in project(request, endpoint).loss if e["path"] == f"/options/{adapter}/{member}"]
        assert [(e["op"], e["severity"]) for e in entries] == [("drop", "lost")]
        with pytest.raises(LossRefused):
            project({**request, "loss_policy": {"strict": "lost"}}, endpoint)


def test_a_thread_that_is_begun_holds_nothing_yet() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": ASK, "thread": {"type": "create"}}
    request, _ = read_request(body, "anthropic_messages")

    loss = project(request, registry.endpoint(adapter="openai_chat")).loss

    assert [entry["severity"] for entry in loss if entry["path"].endswith("/thread")] == ["weakened"]


@pytest.mark.parametrize("target", adapters.names())
def test_a_result_whose_call_is_stored_elsewhere_says_so(target: str) -> None:
    output = {"type": "function_call_output", "call_id": "call_1", "output": "4"}
    request, _ = read_request({"model": "m", "previous_response_id": "resp_1", "input": [output]}, "openai_responses")
    provider = "xai" if target == "openai_responses" else None

    with pytest.raises(InvalidRequest, match="history of this conversation is stored") as refusal:
        project(request, registry.endpoint(adapter=target, provider=provider))

    assert refusal.value.path == "/messages/0/content/0/tool_use_id"
