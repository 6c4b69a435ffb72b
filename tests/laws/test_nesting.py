"""
Nesting: up to a hundred levels are carried, more may be refused, and nothing ends in anything but a result or a typed error
(spec/8-errors.md#nesting). Texts are built as texts, for the writers of JSON have limits of their own.
"""

# ruff: noqa: UP031 (JSON is full of braces)

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import interlingua
from interlingua import adapters, plug
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError

DEPTHS = (50, 100, 200, 320, 400, 480, 700, 950, 1_000, 1_500)
TAKEN = 100
KINDS = {
    "objects": ('{"a":', "}"),
    "lists": ("[", "]"),
    "schemas": ('{"type":"object","properties":{"a":', "}}"),
    "unions": ('{"anyOf":[', "]}"),
}


def nested(kind: str, depth: int) -> str:
    start, end = KINDS[kind]
    return start * depth + '{"type":"string"}' + end * depth


def data(kind: str, depth: int) -> Any:
    value: Any = {"type": "string"}
    for _ in range(depth):
        match kind:
            case "objects":
                value = {"a": value}
            case "lists":
                value = [value]
            case "schemas":
                value = {"type": "object", "properties": {"a": value}}
            case _:
                value = {"anyOf": [value]}
    return value


def requests(deep: str) -> Iterator[str]:
    """Canonical requests, with the nesting in every place that takes free JSON."""
    user = '{"role":"user","content":[{"type":"text","text":"x"}]}'
    yield '{"messages":[%s],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"p":%s}}}]}' % (
        user,
        deep,
    )
    yield '{"messages":[%s],"response_format":{"type":"json_schema","name":"n","schema":{"items":%s}}}' % (user, deep)
    yield '{"messages":[%s],"metadata":{"a":%s}}' % (user, deep)
    yield '{"messages":[%s],"later":%s}' % (user, deep)
    options = ",".join(f'"{name}":{{"o":{deep}}}' for name in adapters.names())
    yield '{"messages":[%s],"options":{%s}}' % (user, options)
    call = '{"type":"tool_use","id":"tu_1","name":"f","input":{"a":%s}}' % deep
    result = '{"type":"tool_result","tool_use_id":"tu_1","content":[]}'
    yield '{"messages":[%s,{"role":"assistant","content":[%s]},{"role":"tool","content":[%s]}]}' % (user, call, result)
    opaque = '{"type":"opaque","adapter":"%s","kind":"k","value":{"type":"k","v":%s}}'
    for name in adapters.names():
        yield '{"messages":[{"role":"user","content":[%s]}]}' % (opaque % (name, deep))


def typed(work: Callable[[], Any]) -> Any:
    """The result, or None for a typed error."""
    try:
        return work()
    except InterlinguaError:
        return None


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_requests(kind: str, depth: int) -> None:
    """Every wire writes it, reads it and estimates it; apply, visible, difference and check see it; or each says no."""
    for text in requests(nested(kind, depth)):
        request = typed(lambda text=text: json.loads(text))
        assert request is not None or depth > TAKEN
        if request is None:
            continue
        typed(lambda request=request: interlingua.check(request))
        typed(lambda request=request: interlingua.visible(request))
        typed(lambda request=request: interlingua.difference(request, request))
        for message in request["messages"]:
            typed(lambda message=message: interlingua.content_hash(message))
        for name in adapters.names():
            found = typed(lambda request=request, name=name: interlingua.adapt(request, name))
            assert found is not None or depth > TAKEN
            typed(lambda request=request, name=name: interlingua.estimate(request, name))
            if found is not None:
                typed(lambda found=found: found.body)
                typed(lambda found=found, request=request: interlingua.apply(request, found.loss))
                typed(lambda found=found, name=name: interlingua.read_request(found.wire, name))


@pytest.mark.parametrize("depth", [*DEPTHS, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_plain_data(kind: str, depth: int) -> None:
    """Data that never was a text has no parser that would refuse it."""
    request = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {"p": data(kind, depth)}}}],
    }
    for name in adapters.names():
        assert typed(lambda name=name: interlingua.adapt(request, name)) is not None or depth > TAKEN
    typed(lambda: interlingua.check(request))
    if depth < 2_000:  # compiled code has the stack of its process, and nothing but its inputs' size to be warned by
        entry = {"op": "drop", "path": "/tools", "code": "unsupported_field", "severity": "lost", "message": "x"}
        assert typed(lambda: interlingua.apply(request, [entry])) is not None or depth > TAKEN
        typed(lambda: interlingua.visible(request))


ANSWERS = {
    "anthropic_messages": '{"id":"m","type":"message","role":"assistant","model":"x","stop_reason":"tool_use","usage":{},'
    '"content":[{"type":"tool_use","id":"t","name":"f","input":{"a":%s}},{"type":"later","v":%s}]}',
    "bedrock_converse": '{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":'
    '{"a":%s}}},{"later":%s}]}},"stopReason":"tool_use"}',
    "cohere_chat": '{"id":"c","message":{"role":"assistant","content":[{"type":"later","v":%s}],"later":%s},"finish_reason":"COMPLETE"}',
    "gemini_generate": '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":%s}}},'
    '{"later":%s}]},"finishReason":"STOP"}]}',
    "ollama_chat": '{"model":"x","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f",'
    '"arguments":{"a":%s}}}],"later":%s},"done":true}',
    "openai_chat": '{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":null,"later":%s},'
    '"finish_reason":"stop","more":%s}]}',
    "openai_responses": '{"id":"r","status":"completed","output":[{"type":"later","v":%s}],"more":%s}',
}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("adapter", ANSWERS)
def test_answers_and_errors(adapter: str, depth: int) -> None:
    """Answers both ways, as text and through the plug, and errors whose bodies have no end."""
    deep = nested("objects", depth)
    body = ANSWERS[adapter] % (deep, deep)
    found = typed(lambda: interlingua.read_response(body, adapter))
    assert found is not None or depth > TAKEN
    if found is not None:
        for name in adapters.names():
            typed(lambda name=name: interlingua.write_response(found[0], name))
    value = typed(lambda: json.loads(body))
    if value is not None:
        message = {"id": 1, "op": "from_wire_response", "adapter": adapter, "input": {"body": value}}
        assert plug.handle(message).get("error", {}).get("category") != "internal"
    for text in (deep, nested("lists", depth), '{"error":%s}' % deep, '{"error":{"message":"x","details":%s}}' % deep):
        error = typed(lambda text=text: interlingua.read_error(400, {}, text, adapter, raw=True))
        if error is not None:
            for name in adapters.names():
                typed(lambda name=name, error=error: interlingua.write_error(error, name))
