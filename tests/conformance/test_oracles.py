"""The written rules of the wires: each rule refuses what it is about, and nothing sound is refused."""

from typing import Any

import pytest
from runner.oracles import has_oracle, judges, violations

Data = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"], "additionalProperties": False}


def said(role: str, *blocks: Data) -> Data:
    return {"role": role, "content": list(blocks)}


def text(words: str = "Hello.") -> Data:
    return {"type": "text", "text": words}


def use(tool_id: str = "toolu_1") -> Data:
    return {"type": "tool_use", "id": tool_id, "name": "f", "input": {}}


def result(tool_id: str = "toolu_1") -> Data:
    return {"type": "tool_result", "tool_use_id": tool_id, "content": [text()]}


def anthropic(*messages: Data, headers: Data | None = None, **body: Any) -> list[tuple[str, str]]:
    whole = {"model": "m", "max_tokens": 2000, "messages": list(messages) or [said("user", text())], **body}
    return violations("anthropic_messages", {"body": whole, "headers": headers or {}})


def test_a_sound_anthropic_request() -> None:
    tools = [{"name": "f", "input_schema": SCHEMA, "strict": True}]
    loop = [
        said("user", text()),
        said("assistant", text(), use("a"), use("b")),
        said("user", result("b"), result("a"), text()),
        said("assistant", text("ok")),
    ]

    assert anthropic(*loop, tools=tools, tool_choice={"type": "auto"}, system="Be brief.") == []
    assert anthropic(said("assistant", text("Hi")), said("user", {"type": "x_new", "data": 1})) == [], (
        "unknown blocks are not judged"
    )


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"max_tokens": None}, "/body/max_tokens"),
        ({"seed": 1}, "/body/seed"),
        ({"stop_sequences": [" \n"]}, "/body/stop_sequences/0"),
        ({"system": [text("")]}, "/body/system/0/text"),
        ({"temperature": 1.5}, "/body/temperature"),
        ({"tools": [{"name": "a b", "input_schema": SCHEMA}]}, "/body/tools/0/name"),
        ({"tools": [{"name": "f", "input_schema": {}}]}, "/body/tools/0/input_schema"),
        ({"tools": [{"name": "f", "input_schema": SCHEMA}] * 2}, "/body/tools"),
        (
            {"tools": [{"name": "f", "strict": True, "input_schema": {"type": "object"}}]},
            "/body/tools/0/input_schema/additionalProperties",
        ),
        (
            {"tool_choice": {"type": "tool", "name": "g"}, "tools": [{"name": "f", "input_schema": SCHEMA}]},
            "/body/tool_choice/name",
        ),
        ({"tool_choice": {"type": "any"}}, "/body/tool_choice"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "/body/thinking/budget_tokens"),
        ({"output_config": {"effort": "minimal"}}, "/body/output_config/effort"),
        ({"output_config": {"format": {"type": "json"}}}, "/body/output_config/format"),
    ],
)
def test_anthropic_members(body: Data, pointer: str) -> None:
    assert pointer in [place for place, _ in anthropic(**body)]


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([said("user")], "must not be empty"),
        ([said("user", text(" "))], "must not be blank"),
        ([said("assistant", text(""))], "must not be blank"),
        ([said("tool", text())], "is user, assistant or system"),
        ([said("system", text()), said("user", text())], "not the first"),
        ([said("user", use())], "does not stand in a user message"),
        ([said("assistant", use()), said("user", text())], "no result in the next turn"),
        ([said("assistant", use()), said("user", text(), result())], "behind another block"),
        ([said("user", result())], "answers no call"),
        ([said("assistant", use()), said("user", result(), result())], "second time"),
        ([said("assistant", use("a b")), said("user", result("a b"))], "does not match"),
        ([said("assistant", {"type": "thinking", "thinking": "x"})], "signature"),
        ([said("user", {"type": "audio", "source": {}})], "no block of this wire"),
        (
            [said("user", {"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": "AA=="}})],
            "jpeg",
        ),
        ([said("user", *[{**text(), "cache_control": {"type": "ephemeral"}}] * 5)], "four cache marks"),
        ([5], "shape"),
    ],
)
def test_anthropic_messages(messages: list[Any], told: str) -> None:
    assert told in " ".join(reason for _, reason in anthropic(*messages))


def test_anthropic_versions() -> None:
    assert anthropic(headers={"anthropic-version": "2023-06-01"}, temperature=1) == []
    assert anthropic(headers={"anthropic-version": "2026-10-21"}, temperature=1) == [
        ("/body/temperature", "was removed in API version 2026-10-21")
    ]


def call(tool_id: str = "call_1") -> Data:
    return {"id": tool_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}


def turn(role: str, content: Any = "Hello.", **more: Any) -> Data:
    return {"role": role, "content": content, **more}


def openai(*messages: Data, **body: Any) -> list[tuple[str, str]]:
    return violations("openai_chat", {"body": {"model": "m", "messages": list(messages) or [turn("user")], **body}})


FUNCTION = {"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": True}}


def test_a_sound_openai_request() -> None:
    loop = [
        turn("developer"),
        turn("user"),
        turn("assistant", None, tool_calls=[call()]),
        turn("tool", tool_call_id="call_1"),
        turn("user", [text()]),
    ]

    assert (
        openai(
            *loop, tools=[FUNCTION], tool_choice={"type": "function", "function": {"name": "f"}}, response_format=None
        )
        == []
    )
    assert openai(turn("user", x_extra=1)) == [], "unknown members inside messages pass"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"top_k": 1}, "/body/top_k"),
        ({"max_tokens": 1, "max_completion_tokens": 1}, "/body/max_tokens"),
        ({"stop": list("abcde")}, "/body/stop"),
        ({"top_logprobs": 2}, "/body/top_logprobs"),
        ({"stream_options": {"include_usage": True}}, "/body/stream_options"),
        ({"reasoning_effort": "huge"}, "/body/reasoning_effort"),
        ({"metadata": {"a": 1}}, "/body/metadata/a"),
        ({"tools": []}, "/body/tools"),
        ({"tool_choice": "auto"}, "/body/tool_choice"),
        ({"parallel_tool_calls": True}, "/body/parallel_tool_calls"),
        ({"tools": [{"type": "function", "function": {"name": "a.b"}}]}, "/body/tools/0/function/name"),
        ({"tools": [{"type": "function", "function": {"name": "f", "strict": True, "parameters": {"type": "object", "properties": {"a": {}}}}}]},
         "/body/tools/0/function/parameters/required"),
        ({"tools": [FUNCTION], "tool_choice": {"type": "function", "function": {"name": "g"}}}, "/body/tool_choice/function/name"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}, "/body/response_format/json_schema/name"),
    ],
)  # fmt: skip
def test_openai_members(body: Data, pointer: str) -> None:
    assert pointer in [place for place, _ in openai(**body)]


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([turn("narrator")], "is one of"),
        ([turn("user", None)], "is required"),
        ([turn("user", name="a b")], "does not match"),
        ([turn("assistant", None)], "neither content nor calls"),
        ([turn("assistant", tool_calls=[])], "too short"),
        ([turn("assistant", tool_calls=[call("x" * 41)]), turn("tool", tool_call_id="x" * 41)], "40 characters"),
        ([turn("assistant", tool_calls=[call()]), turn("user")], "not answered"),
        (
            [turn("assistant", tool_calls=[call(), call("b")]), turn("tool", tool_call_id="b"), turn("user")],
            "not answered",
        ),
        ([turn("tool", tool_call_id="call_1")], "answers no call"),
        (
            [turn("tool", [{"type": "image_url", "image_url": {"url": "https://example.com"}}], tool_call_id="a")],
            "does not stand in a tool message",
        ),
        ([turn("user", [{"type": "input_audio", "input_audio": {"data": "AA==", "format": "ogg"}}])], "wav or mp3"),
        ([turn("user", [{"type": "image_url", "image_url": {"url": "ftp://example.com"}}])], "data URI"),
        ([turn("user", [{"type": "document"}])], "does not stand in a user message"),
    ],
)
def test_openai_messages(messages: list[Any], told: str) -> None:
    assert told in " ".join(reason for _, reason in openai(*messages))


def test_dialects_are_not_judged() -> None:
    assert judges("openai_chat", None, "openai")
    assert judges("openai_chat", "openai", "openai")
    assert not judges("openai_chat", "mistral", "openai")
    assert not has_oracle("toy")
