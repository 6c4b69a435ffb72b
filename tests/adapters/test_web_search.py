"""When a search of the web is another provider's own, and when it is lost (spec/2-requests.md#web-search)."""

import json
from typing import Any

import pytest

from interlingua import adapt, read_request

PLACE = {"type": "approximate", "city": "Lyon", "country": "FR"}
WEATHER = {"name": "get_weather", "input_schema": {"type": "object"}}
CLAUDE, GPT, GEMINI = "anthropic:claude-sonnet-4-6", "openai_responses", "gemini:gemini-2.5-flash"


def tool(definition: dict[str, Any]) -> dict[str, Any]:
    """The tool of the provider whose definition this looks like."""
    if "googleSearch" in definition:
        return {"kind": "provider", "name": "googleSearch", "adapter": "gemini_generate", "definition": definition}
    adapter = "anthropic_messages" if "name" in definition else "openai_responses"
    name = definition.get("name", definition["type"])
    return {"kind": "provider", "name": name, "adapter": adapter, "definition": definition}


def carried(target: str, *tools: dict[str, Any], **more: Any) -> tuple[Any, list[tuple[str, str, str]]]:
    """The tools of the wire, and what is reported of tools."""
    request = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "max_output_tokens": 100}
    provider = "openai" if target == GPT else None
    written = adapt({**request, "tools": list(tools), **more}, target, provider=provider)
    reported = [(one["op"], one["path"], one["severity"]) for one in written.loss if one["path"].startswith("/tools")]
    return written.wire["body"].get("tools"), reported


REPLACED, DROPPED = ("replace", "/tools/0", "weakened"), ("drop", "/tools/0", "lost")
CLAUDES = {"type": "web_search_20250305", "name": "web_search"}


@pytest.mark.parametrize(
    ("target", "definition", "becomes"),
    [
        (CLAUDE, {"type": "web_search"}, CLAUDES),
        (CLAUDE, {"type": "web_search_preview", "search_context_size": "low"}, CLAUDES),
        (CLAUDE, {"type": "web_search", "external_web_access": True}, CLAUDES),
        (CLAUDE, {"type": "web_search", "user_location": PLACE}, {**CLAUDES, "user_location": PLACE}),
        (CLAUDE, {"type": "web_search", "user_location": {"type": "exact", "country": "France"}}, CLAUDES),
        (CLAUDE, {"type": "web_search", "filters": {"allowed_domains": []}}, CLAUDES),
        (CLAUDE, {"googleSearch": {}}, CLAUDES),
        (CLAUDE, {"googleSearch": {"excludeDomains": ["a.example"]}}, {**CLAUDES, "blocked_domains": ["a.example"]}),
        (GPT, CLAUDES, {"type": "web_search"}),
        (
            GPT,
            {**CLAUDES, "allowed_domains": ["a.example"]},
            {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}},
        ),
        (GPT, {"googleSearch": {}}, {"type": "web_search"}),
        (GEMINI, {**CLAUDES, "max_uses": 3, "user_location": PLACE}, {"googleSearch": {}}),
        (GEMINI, {"type": "web_search_2025_08_26"}, {"googleSearch": {}}),
    ],
)
def test_a_search_becomes_the_own_one(target: str, definition: dict[str, Any], becomes: dict[str, Any]) -> None:
    assert carried(target, tool(definition)) == ([becomes], [REPLACED])


@pytest.mark.parametrize(
    ("target", "definition"),
    [
        (CLAUDE, {"type": "web_search", "external_web_access": False}),
        (CLAUDE, {"type": "web_search", "filters": {"allowed_domains": ["a.example/news"]}}),
        (CLAUDE, {"type": "web_search", "filters": {"allowed_domains": ["*.example"]}}),
        (CLAUDE, {"type": "web_search", "filters": {"allowed_domains": [f"a{n}.example" for n in range(21)]}}),
        (CLAUDE, {"type": "web_search", "filters": {"allowed_domains": "a.example"}}),
        (CLAUDE, {"type": "web_search", "filters": "all"}),
        (CLAUDE, {"type": "file_search"}),
        (CLAUDE, {"googleSearch": {"timeRangeFilter": {"startTime": "2026-01-01T00:00:00Z"}}}),
        (GPT, {**CLAUDES, "blocked_domains": ["a.example"]}),
        (GPT, {"googleSearch": {"excludeDomains": ["a.example"]}}),
        (GEMINI, {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}),
        (GEMINI, {**CLAUDES, "blocked_domains": ["a.example"]}),
        ("ollama_chat", CLAUDES),
        ("openai:gpt-4.1", CLAUDES),
        ("bedrock:anthropic.claude-sonnet-4-6", {"type": "web_search"}),
        ("deepseek:deepseek-chat", CLAUDES),
    ],
)
def test_a_restriction_is_not_lifted(target: str, definition: dict[str, Any]) -> None:
    """Nor is a search made up for who has none."""
    assert carried(target, tool(definition)) == (None, [DROPPED])


def test_it_is_lost_where_it_would_not_be_taken() -> None:
    """Beside functions at Gemini, beside a tool of its name, little effort at OpenAI, and where the choice names it."""
    search = tool({"type": "web_search"})
    assert carried(GEMINI, search, WEATHER)[1] == [DROPPED]
    assert carried(CLAUDE, search, {**WEATHER, "name": "web_search"})[1] == [DROPPED]
    assert carried(GPT, tool(CLAUDES), reasoning={"effort": "minimal"})[1] == [DROPPED]
    chosen = {"type": "tool", "name": "web_search"}
    assert carried(CLAUDE, search, WEATHER, tool_choice=chosen)[1] == [DROPPED]
    assert carried(CLAUDE, search, search)[1] == [REPLACED, ("drop", "/tools/1", "lost")]
    assert carried(GPT, tool({"type": "web_search_preview"}), tool(CLAUDES))[1] == [("drop", "/tools/1", "lost")]
    assert carried(CLAUDE, tool(CLAUDES), search) == ([CLAUDES], [("drop", "/tools/1", "lost")])


def test_it_is_read_back_as_the_own_one() -> None:
    """What is written is what the report says."""
    written, _ = carried(GPT, tool(CLAUDES))
    body = {"model": "gpt-4.1", "input": "Hi", "tools": written}
    read, _ = read_request(json.dumps(body).encode(), GPT)
    assert read["tools"] == [tool({"type": "web_search"})]
