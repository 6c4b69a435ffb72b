"""Calls that nobody answered, under the loss law: closed by `unanswered: placeholder`, refused or kept without it."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import requests
from test_loss_law import ORACLES, wire_under_the_law

from interlingua import InvalidRequest, adapt, adapters, apply, read_request

Data = dict[str, Any]
CALL = "tu_01HZX3V7K8M9N0P1Q2R3S4T5VA"
OTHER = "tu_01HZX3V7K8M9N0P1Q2R3S4T5VB"
ANTHROPIC = {
    "model": "claude-haiku-4-5",
    "max_tokens": 100,
    "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]},
    ],
    "tools": [{"name": "look", "input_schema": {"type": "object"}}],
}
OPENAI_CALL = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
SAME_WIRE = {
    "anthropic_messages": ANTHROPIC,
    "openai_chat": {
        "model": "gpt-4.1",
        "messages": [{"role": "user", "content": "Weather?"}, {"role": "assistant", "tool_calls": [OPENAI_CALL]}],
    },
    "openai_responses": {
        "model": "gpt-4.1",
        "input": [
            {"role": "user", "content": "Weather?"},
            {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": "{}"},
        ],
    },
    "gemini_generate": {
        "contents": [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
        ]
    },
    "bedrock_converse": {
        "messages": [
            {"role": "user", "content": [{"text": "Weather?"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t_1", "name": "look", "input": {}}}]},
        ]
    },
    "cohere_chat": {
        "model": "command-a-03-2025",
        "messages": [{"role": "user", "content": "Weather?"}, {"role": "assistant", "tool_calls": [OPENAI_CALL]}],
    },
    "ollama_chat": {
        "model": "qwen3:4b",
        "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]},
        ],
    },
}


def user(text: str) -> Data:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def calls(*ids: str) -> Data:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]}


def result(call: str) -> Data:
    content = [{"type": "text", "text": "42"}]
    return {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": call, "content": content}]}


@pytest.mark.parametrize("adapter", adapters.names())
@given(request=requests, choice=st.randoms(use_true_random=False))
@settings(suppress_health_check=list(HealthCheck), print_blob=True, max_examples=40)
def test_a_closed_conversation_obeys_the_law_and_is_valid(adapter: str, request: Data, choice: Any) -> None:
    """Whichever results are taken away: what is left is closed, the report tells it, and the provider would take it."""
    messages = [message for message in request["messages"] if message["role"] != "tool" or choice.random() < 0.5]
    if messages and choice.random() < 0.3:
        messages = messages[: choice.randrange(len(messages)) + 1]
    wire = wire_under_the_law({**request, "messages": messages, "loss_policy": {"unanswered": "placeholder"}}, adapter)
    assert wire is None or [] == ORACLES.violations(adapter, wire)


def test_the_report_puts_a_result_behind_each_call_in_the_order_of_the_calls() -> None:
    request = {"messages": [user("?"), calls(CALL, OTHER), result(OTHER), user("And?"), calls("tu_3")]}
    loss = adapt(request, "anthropic_messages", unanswered="placeholder").loss

    seen = apply(request, loss)["messages"]

    answered = [message["content"][0].get("tool_use_id") for message in seen]
    assert answered == [None, None, CALL, OTHER, None, None, "tu_3"]
    assert {entry["severity"] for entry in loss} == {"representation"}


@pytest.mark.parametrize("adapter", SAME_WIRE)
def test_a_conversation_goes_back_as_it_came(adapter: str) -> None:
    """Unedited and to its own wire: the provider is the judge of it, whatever the policy."""
    read, _ = read_request(SAME_WIRE[adapter], adapter)
    for unanswered in None, "error", "placeholder":
        projection = adapt(read, adapter, unanswered=unanswered)
        assert (projection.wire["body"], projection.loss) == (SAME_WIRE[adapter], [])


@pytest.mark.parametrize("adapter", SAME_WIRE)
def test_what_an_edit_left_open_is_refused_or_closed(adapter: str) -> None:
    read, _ = read_request(SAME_WIRE[adapter], adapter)
    read["messages"].append(user("Never mind."))
    with pytest.raises(InvalidRequest, match=r"set loss_policy\.unanswered") as refused:
        adapt(read, adapter)
    assert refused.value.path == "/messages/1/content/0"
    loss = adapt(read, adapter, unanswered="placeholder").loss
    assert [entry["op"] for entry in loss if entry["code"] == "unanswered"] == ["replace", "move"]


def test_a_conversation_may_end_in_a_call_where_that_is_taken() -> None:
    request = {"messages": [user("?"), calls(CALL)]}
    assert adapt(request, "ollama_chat", provider="ollama").loss == []
    assert adapt(request, "openai_chat", provider="vllm").loss == []
    for provider in "openai", "mistral", "nobody-knows":
        with pytest.raises(InvalidRequest, match="ends in a call") as refused:
            adapt(request, "openai_chat", provider=provider)
        assert refused.value.path == "/messages/1/content/0"


def test_a_refusal_of_a_closed_conversation_points_into_the_one_that_was_given() -> None:
    request = {"messages": [user("?"), calls(CALL), user("And?"), calls("tu_2"), result("tu_2"), result("tu_2")]}
    with pytest.raises(InvalidRequest) as refused:
        adapt(request, "openai_chat", unanswered="placeholder")
    assert refused.value.path == "/messages/5/content/0/tool_use_id"


def test_a_word_for_unanswered_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="unanswered takes error, placeholder"):
        adapt({"messages": [user("?")]}, "openai_chat", unanswered="guess")
