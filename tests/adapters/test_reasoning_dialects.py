"""How the vendors of Chat Completions are asked for reasoning, beside the one word: read as reasoning, and back as it came."""

from copy import deepcopy
from typing import Any

import pytest

from interlingua import difference, read_request, registry
from interlingua.translate import project

Data = dict[str, Any]

ASK = [{"role": "user", "content": "Hi"}]
READ: list[tuple[str, Data, Data, Data]] = [
    ("openrouter", {"reasoning_effort": "high"}, {"effort": "high"}, {}),
    ("openrouter", {"reasoning": {"effort": "high", "exclude": False}}, {"effort": "high"}, {}),
    (
        "openrouter",
        {"reasoning": {"effort": "high", "summary": "detailed"}},
        {"effort": "high"},
        {"reasoning": {"summary": "detailed"}},
    ),
    (
        "openrouter",
        {"reasoning": {"effort": "high"}, "reasoning_effort": "low"},
        {"effort": "high"},
        {"reasoning_effort": "low"},
    ),
    ("openrouter", {"include_reasoning": False}, {"display": "omitted"}, {}),
    ("vercel-gateway", {"reasoning_effort": "low"}, {"effort": "low"}, {}),
    ("groq", {"reasoning_format": "hidden", "reasoning_effort": "low"}, {"display": "omitted", "effort": "low"}, {}),
    ("groq", {"include_reasoning": False}, {"display": "omitted"}, {}),
    ("groq", {"reasoning_format": "parsed"}, {}, {"reasoning_format": "parsed"}),
    ("mistral", {"prompt_mode": "reasoning"}, {"mode": "enabled"}, {}),
    (
        "deepseek",
        {"thinking": {"type": "enabled"}, "reasoning_effort": "max"},
        {"mode": "enabled", "effort": "max"},
        {},
    ),
    (
        "zai",
        {"thinking": {"type": "enabled", "clear_thinking": False}},
        {"mode": "enabled"},
        {"thinking": {"clear_thinking": False}},
    ),
    ("alibaba", {"enable_thinking": False}, {"mode": "disabled"}, {}),
    ("alibaba", {"thinking_budget": 500}, {"budget_tokens": 500}, {}),
    ("alibaba", {"enable_thinking": False, "thinking_budget": 500}, {"mode": "disabled", "budget_tokens": 500}, {}),
    ("together", {"reasoning": {"enabled": False}}, {"mode": "disabled"}, {}),
    (
        "vllm",
        {"chat_template_kwargs": {"enable_thinking": False, "x": 1}},
        {"mode": "disabled"},
        {"chat_template_kwargs": {"x": 1}},
    ),
    ("vllm", {"chat_template_kwargs": {"x": 1}}, {}, {"chat_template_kwargs": {"x": 1}}),
    (
        "fireworks",
        {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        {"mode": "enabled", "budget_tokens": 2048},
        {},
    ),
    (
        "databricks",
        {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        {"mode": "enabled", "budget_tokens": 2048},
        {},
    ),
    ("cerebras", {"disable_reasoning": True}, {"mode": "disabled"}, {}),
    ("litellm", {"thinking": {"type": "adaptive"}}, {"mode": "adaptive"}, {}),
    ("openai", {"enable_thinking": True}, {}, {"enable_thinking": True}),
]


@pytest.mark.parametrize(("provider", "members", "reasoning", "options"), READ, ids=str)
def test_what_asks_for_reasoning_is_read_as_reasoning(
    provider: str, members: Data, reasoning: Data, options: Data
) -> None:
    body = {"model": "m", "messages": ASK, **members}

    request, _ = read_request(deepcopy(body), "openai_chat", provider=provider)
    back = project(request, registry.endpoint(adapter="openai_chat", provider=provider))

    assert request.get("reasoning", {}) == reasoning
    assert request.get("options", {}).get("openai_chat", {}) == options
    assert (difference(body, back.wire["body"]), back.loss) == (None, [])


def test_an_edit_is_asked_for_in_the_words_of_the_provider() -> None:
    body = {"model": "m", "messages": ASK, "reasoning_effort": "high"}
    request, _ = read_request(body, "openai_chat", provider="openrouter")
    request["reasoning"] = {"effort": "low"}

    edited = project(request, registry.endpoint(adapter="openai_chat", provider="openrouter"))

    assert edited.wire["body"]["reasoning"] == {"effort": "low"}
    assert "reasoning_effort" not in edited.wire["body"]


def test_an_option_that_says_reasoning_is_reported_as_what_it_is_read_as() -> None:
    request: Data = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        "reasoning": {"mode": "enabled"},
        "options": {"openai_chat": {"thinking_budget": 500, "enable_thinking": False}},
    }

    projection = project(request, registry.endpoint(adapter="openai_chat", provider="alibaba"))

    assert projection.wire["body"] == {"messages": ASK, "enable_thinking": True, "thinking_budget": 500}
    assert [(entry["op"], entry["path"]) for entry in projection.loss] == [
        ("drop", "/options/openai_chat/thinking_budget"),
        ("replace", "/reasoning/budget_tokens"),
        ("drop", "/options/openai_chat/enable_thinking"),
    ]
