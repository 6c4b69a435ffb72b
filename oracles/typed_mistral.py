"""Requests and answers of Mistral's dialect of Chat, made at random of its SDK's own types."""

import json
import random
from typing import Any

from mistralai.client import models
from typed_openai import ARGUMENTS, LATER, NAMES, PAPERS, PICTURES, SCHEMAS, Data, beside, cut, one_of
from typed_values import ABSENT, Maker, Override


def _id(draw: Maker) -> str:
    return "".join(draw.rng.choice("abcXYZ012") for _ in range(9))


def _absent(draw: Maker) -> Any:
    return ABSENT


def _format(draw: Maker) -> Data:
    if draw.chance(0.5):
        return {"type": "json_schema", "json_schema": draw.named("JSONSchema")}
    return draw.plain("ResponseFormat")


MEANT: dict[str, Override] = {
    "Unset": _absent,
    "UnknownContentChunk": one_of({"type": "later_chunk", "x": 1}),
    "UnknownResourceChunkContent": one_of({"type": "later_chunk", "x": 1}),
    "UnknownCustomConnectorAuthorization": one_of({"type": "later_key", "value": "k"}),
    "ToolCall.id": _id,
    "ToolCall.type": one_of("function"),
    "Tool.type": one_of("function"),
    "ToolChoice.type": one_of("function"),
    "FunctionCall.name": one_of(*NAMES),
    "FunctionCall.arguments": one_of(*ARGUMENTS[:4], {"city": "Paris"}, {}),
    "FunctionName.name": one_of(*NAMES),
    "Function.name": one_of(*NAMES),
    "Function.parameters": one_of(*SCHEMAS),
    "JSONSchema.name": one_of(*NAMES),
    "JSONSchema.schema": one_of(*SCHEMAS),
    "ImageURL.url": one_of(*PICTURES),
    "DocumentURLChunk.document_url": one_of(*PAPERS, "https://example.com/a.pdf"),
    "AudioChunk.input_audio": one_of("UklGRg==", "https://example.com/a.mp3"),
    "FileChunk.file_id": one_of("0b5c3b9e-6a6e-4b5c-8d3a-0f2f0c2f0c2f"),
    "*.temperature": one_of(0, 0.7, 1.0, None),
    "*.top_p": one_of(0.1, 1, None),
    "*.n": one_of(1, 2, None),
    "*.max_tokens": one_of(1, 100, None),
    "*.stop": one_of("END", ["a", "b"], None),
    "*.metadata": one_of({}, {"a": "b"}, None),
    "*.tool_choice": one_of("auto", "none", "any", "required", {"type": "function", "function": {"name": "look_up"}}),
    "ChatCompletionRequest.stream": one_of(True, False),
    "ResponseFormat.type": one_of("text", "json_object"),
    "ResponseFormat.json_schema": _absent,
    "ResponseFormat": _format,
}


def _messages(draw: Maker) -> list[Data]:
    messages: list[Data] = []
    for _ in range(draw.rng.randint(1, 5)):
        kind = draw.rng.choice(["System", "User", "User", "Assistant", "Assistant", "Assistant"])
        messages.append(message := draw.named(f"{kind}Message"))
        for call in message.get("tool_calls") or []:
            call["id"] = _id(draw)
            messages.append(draw.named("ToolMessage", tool_call_id=call["id"]))
    messages.append({"role": "user", "content": "hello"})
    return messages


def request(seed: int) -> Data:
    """A body of `POST /v1/chat/completions`."""
    meant = MEANT | {"ChatCompletionRequest.messages": _messages, "*.model": one_of("mistral-large-latest")}
    body = Maker(models.ChatCompletionRequest, random.Random(seed), meant, later=LATER).value()
    names: set[str] = set()
    for tool in body.get("tools") or []:
        if function := tool.get("function"):
            while function["name"] in names:
                function["name"] = f"{function['name']}_"[-64:]
            names.add(function["name"])
    return body


def answer(seed: int) -> Data:
    """A body that answers it."""
    meant = MEANT | {
        "*.model": one_of("mistral-large-latest"),
        "*.object": one_of("chat.completion"),
        "AssistantMessage.tool_calls": _calls,
        "AssistantMessage.prefix": one_of(False),
        "ChatCompletionChoice.finish_reason": one_of("stop", "length", "model_length", "tool_calls"),
        "ChatCompletionChoice.messages": _absent,
        "UsageInfo": one_of({"prompt_tokens": 300, "completion_tokens": 200, "total_tokens": 500}),
    }
    draw = Maker(models.ChatCompletionResponse, random.Random(seed), meant, later=LATER)
    body = draw.value()
    body["choices"] = body["choices"] or [draw.named("ChatCompletionChoice")]
    for index, choice in enumerate(body["choices"]):
        choice["index"] = index
        if not isinstance(choice.get("message"), dict):
            choice["message"] = draw.named("AssistantMessage")
    return body


def _calls(draw: Maker) -> Any:
    if draw.chance(0.3):
        return draw.rng.choice((None, []))
    return [{**draw.named("ToolCall"), "id": _id(draw), "index": index} for index in range(draw.rng.randint(1, 2))]


def stream(body: Data, rng: random.Random) -> str:
    """An answer, as chunks: text in pieces, lists of parts whole, calls whole."""
    around = {name: value for name, value in body.items() if name not in ("choices", "usage")}
    around["object"] = "chat.completion.chunk"
    chunks: list[Data] = []
    for choice in body["choices"]:
        message = choice["message"]
        around_choice = beside(choice, "message", "finish_reason")
        others = {name: value for name, value in message.items() if name not in ("content", "tool_calls")}
        content = message.get("content")
        deltas: list[Data] = [{**others, "content": ""}]
        if isinstance(content, str):
            deltas += [{"content": piece} for piece in cut(content, rng)]
        elif content:
            deltas += [{"content": [part]} for part in content]
        if message.get("tool_calls"):
            deltas.append({"tool_calls": message["tool_calls"]})
        bare = {"index": choice["index"]}
        pieces = [{**bare, "delta": delta, "finish_reason": None} for delta in deltas]
        pieces.append({**around_choice, "delta": {"content": ""}, "finish_reason": choice["finish_reason"]})
        chunks += [{**around, "choices": [piece]} for piece in pieces]
    chunks[-1]["usage"] = body["usage"]
    return "".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
