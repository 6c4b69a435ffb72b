"""Members of a wrong type: back to their own wire as they came, refused for any other (spec/2-requests.md#wrong-type)."""

from copy import deepcopy
from typing import Any

import pytest

from interlingua import InvalidWire, adapters, difference, read_request, registry
from interlingua.translate import project

Data = dict[str, Any]

USER = [{"role": "user", "content": "Hi"}]
BODIES: dict[str, Data] = {
    "anthropic_messages": {"model": "claude-haiku-4-5", "max_tokens": 100, "messages": USER},
    "bedrock_converse": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]},
    "cohere_chat": {"model": "command-a-03-2025", "messages": USER},
    "gemini_generate": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
    "ollama_chat": {"model": "llama3.2", "messages": USER, "stream": False},
    "openai_chat": {"model": "gpt-4.1", "messages": USER},
    "openai_responses": {"model": "gpt-4.1", "input": "Hi"},
}
WRONG: list[tuple[str, Data, str]] = [
    ("anthropic_messages", {"temperature": "hot"}, "/temperature"),
    ("anthropic_messages", {"tools": "none"}, "/tools"),
    ("anthropic_messages", {"max_tokens": "many"}, "/max_tokens"),
    ("anthropic_messages", {"max_tokens": True}, "/max_tokens"),
    ("anthropic_messages", {"max_tokens": -1}, "/max_tokens"),
    ("anthropic_messages", {"stop_sequences": [1]}, "/stop_sequences"),
    ("anthropic_messages", {"thinking": []}, "/thinking"),
    ("anthropic_messages", {"thinking": {"type": "enabled", "budget_tokens": "many"}}, "/thinking/budget_tokens"),
    ("anthropic_messages", {"tool_choice": "auto"}, "/tool_choice"),
    ("anthropic_messages", {"tool_choice": {"type": "tool", "name": 3}}, "/tool_choice/name"),
    ("anthropic_messages", {"output_config": {"effort": 3}}, "/output_config/effort"),
    ("anthropic_messages", {"cache_control": "ephemeral"}, "/cache_control"),
    ("bedrock_converse", {"inferenceConfig": {"temperature": "hot", "maxTokens": 5}}, "/inferenceConfig/temperature"),
    ("bedrock_converse", {"inferenceConfig": "x"}, "/inferenceConfig"),
    ("bedrock_converse", {"toolConfig": "none"}, "/toolConfig"),
    ("bedrock_converse", {"toolConfig": {"tools": 7}}, "/toolConfig/tools"),
    ("bedrock_converse", {"outputConfig": {"effort": 4}}, "/outputConfig/effort"),
    ("bedrock_converse", {"serviceTier": "flex"}, "/serviceTier"),
    ("cohere_chat", {"temperature": "hot", "k": 5}, "/temperature"),
    ("cohere_chat", {"max_tokens": "many"}, "/max_tokens"),
    ("cohere_chat", {"tools": "none"}, "/tools"),
    ("cohere_chat", {"tool_choice": {"type": "auto"}}, "/tool_choice"),
    ("cohere_chat", {"stop_sequences": "END"}, "/stop_sequences"),
    ("cohere_chat", {"thinking": []}, "/thinking"),
    ("cohere_chat", {"thinking": {"type": "enabled", "token_budget": "many"}}, "/thinking/token_budget"),
    ("cohere_chat", {"response_format": "json"}, "/response_format"),
    ("cohere_chat", {"documents": "none"}, "/documents"),
    ("gemini_generate", {"tools": "none"}, "/tools"),
    ("gemini_generate", {"generationConfig": {"temperature": "hot", "topP": 0.5}}, "/generationConfig/temperature"),
    ("gemini_generate", {"generation_config": {"max_output_tokens": "many"}}, "/generation_config/max_output_tokens"),
    (
        "gemini_generate",
        {"generationConfig": {"thinking_config": {"thinking_budget": "much"}}},
        "/generationConfig/thinking_config/thinking_budget",
    ),
    ("gemini_generate", {"tool_config": 5}, "/tool_config"),
    ("gemini_generate", {"labels": 5}, "/labels"),
    ("ollama_chat", {"options": {"temperature": "hot", "top_p": 0.5}}, "/options/temperature"),
    ("ollama_chat", {"options": {"num_predict": "many"}}, "/options/num_predict"),
    ("ollama_chat", {"options": "fast"}, "/options"),
    ("ollama_chat", {"tools": "none"}, "/tools"),
    ("ollama_chat", {"think": 5}, "/think"),
    ("ollama_chat", {"format": 5}, "/format"),
    ("openai_chat", {"temperature": "hot"}, "/temperature"),
    ("openai_chat", {"tools": "none"}, "/tools"),
    ("openai_chat", {"max_tokens": "many"}, "/max_tokens"),
    ("openai_chat", {"n": 1.5}, "/n"),
    ("openai_chat", {"model": 5}, "/model"),
    ("openai_chat", {"stop": ["a", 1]}, "/stop"),
    ("openai_chat", {"tool_choice": 5}, "/tool_choice"),
    ("openai_chat", {"response_format": "json"}, "/response_format"),
    ("openai_responses", {"instructions": 5}, "/instructions"),
    ("openai_responses", {"text": {"verbosity": 5}}, "/text/verbosity"),
    ("openai_responses", {"text": "x"}, "/text"),
    ("openai_responses", {"reasoning": {"effort": 5}}, "/reasoning/effort"),
    ("openai_responses", {"max_output_tokens": "many"}, "/max_output_tokens"),
]


@pytest.mark.parametrize(("adapter", "members", "path"), WRONG, ids=str)
def test_a_member_of_a_wrong_type_goes_back_and_nowhere_else(adapter: str, members: Data, path: str) -> None:
    body = {**BODIES[adapter], **members}

    request, _ = read_request(deepcopy(body), adapter)
    back = project(request, registry.endpoint(adapter=adapter))

    assert difference(body, back.wire["body"]) is None
    assert back.loss == []
    for other in adapters.names():
        if other != adapter:
            with pytest.raises(InvalidWire) as refusal:
                project(request, registry.endpoint(adapter=other))
            assert (refusal.value.path, refusal.value.adapter) == (path, adapter)


def test_another_provider_of_the_same_wire_is_not_asked_either() -> None:
    request, _ = read_request({**BODIES["openai_chat"], "temperature": "hot"}, "openai_chat")

    with pytest.raises(InvalidWire, match="temperature must be a number"):
        project(request, registry.endpoint(adapter="openai_chat", provider="groq"))


def test_an_option_that_a_caller_wrote_is_reported_as_before() -> None:
    request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}
    options = {"openai_chat": {"temperature": "hot"}}

    projection = project({**request, "options": options}, registry.endpoint(adapter="ollama_chat"))

    assert [entry["code"] for entry in projection.loss] == ["foreign_options"]


@pytest.mark.parametrize(
    ("adapter", "members"),
    [
        ("anthropic_messages", {"max_tokens": 100.0}),
        ("bedrock_converse", {"inferenceConfig": {"maxTokens": 100.0}}),
        ("gemini_generate", {"generationConfig": {"maxOutputTokens": 100.0}}),
        ("cohere_chat", {"max_tokens": 100.0}),
        ("ollama_chat", {"options": {"num_predict": 100.0}}),
        ("openai_chat", {"max_tokens": 100.0}),
        ("openai_responses", {"max_output_tokens": 100.0}),
    ],
    ids=str,
)
def test_a_whole_number_is_one_however_it_was_written(adapter: str, members: Data) -> None:
    request, _ = read_request({**BODIES[adapter], **members}, adapter)

    assert request["max_output_tokens"] == 100
    assert type(request["max_output_tokens"]) is int
