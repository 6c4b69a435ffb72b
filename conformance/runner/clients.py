"""
Clients that keep the standard members of an answer alone.

Each function takes an answer's body and gives the next request of such a client: a question, the answer as the client
remembers it, a result for each call. What a wire adds to an answer for those who know it (signatures, reasoning,
members of vendors) is thrown away, as many SDKs and programs do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Wire = dict[str, Any]

QUESTION = "Begin."
RESULT = "done"


def anthropic_messages(body: Wire) -> Wire:
    kept = {"text": ("type", "text"), "tool_use": ("type", "id", "name", "input")}
    content = [_members(block, *kept[block["type"]]) for block in body["content"] if block["type"] in kept]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": RESULT}
        for block in content
        if block["type"] == "tool_use"
    ]
    turns = [("user", QUESTION), ("assistant", content), ("user", results)]
    return {
        "model": body.get("model", "model"),
        "max_tokens": 4096,
        "messages": [{"role": role, "content": said} for role, said in turns],
    }


def openai_chat(body: Wire) -> Wire:
    message = body["choices"][0]["message"]
    calls = [
        {"id": call["id"], "type": "function", "function": _members(call["function"], "name", "arguments")}
        for call in message.get("tool_calls") or ()
    ]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]
    turn = {"role": "assistant", "content": message.get("content"), "tool_calls": calls}
    return {"model": body.get("model", "model"), "messages": [{"role": "user", "content": QUESTION}, turn, *results]}


def openai_responses(body: Wire) -> Wire:
    said: list[Wire] = []
    results: list[Wire] = []
    for item in body["output"]:
        if item["type"] == "message":
            content = [_members(part, "type", "text") for part in item["content"] if part["type"] == "output_text"]
            said.append({"type": "message", "role": "assistant", "content": content})
        elif item["type"] == "function_call":
            said.append(_members(item, "type", "call_id", "name", "arguments"))
            results.append({"type": "function_call_output", "call_id": item["call_id"], "output": RESULT})
    return {"model": body.get("model", "model"), "input": [{"role": "user", "content": QUESTION}, *said, *results]}


def gemini_generate(body: Wire) -> Wire:
    parts: list[Wire] = []
    results: list[Wire] = []
    for part in body["candidates"][0]["content"]["parts"]:
        if "functionCall" in part:
            parts.append(_members(part, "functionCall"))
            named = _members(part["functionCall"], "id", "name")
            results.append({"functionResponse": {**named, "response": {"output": RESULT}}})
        elif "text" in part and not part.get("thought"):
            parts.append(_members(part, "text"))
    turns = [("user", [{"text": QUESTION}]), ("model", parts), ("user", results)]
    return {"contents": [{"role": role, "parts": said} for role, said in turns]}


def ollama_chat(body: Wire) -> Wire:
    message = body["message"]
    calls = message.get("tool_calls") or []
    results = [
        {"role": "tool", "tool_name": call["function"]["name"], "content": RESULT}
        | ({"tool_call_id": call["id"]} if "id" in call else {})
        for call in calls
    ]
    turn = {"role": "assistant", "content": message.get("content", ""), "tool_calls": calls}
    return {"model": body.get("model", "model"), "messages": [{"role": "user", "content": QUESTION}, turn, *results]}


def bedrock_converse(body: Wire) -> Wire:
    content = body["output"]["message"]["content"]
    said = [_members(block, name) for block in content for name in ("text", "toolUse") if name in block]
    results = [
        {"toolResult": {"toolUseId": block["toolUse"]["toolUseId"], "content": [{"text": RESULT}]}}
        for block in said
        if "toolUse" in block
    ]
    turns = [("user", [{"text": QUESTION}]), ("assistant", said), ("user", results)]
    return {"messages": [{"role": role, "content": blocks} for role, blocks in turns]}


def cohere_chat(body: Wire) -> Wire:
    message = body["message"]
    calls = [
        {"id": call["id"], "type": "function", "function": _members(call["function"], "name", "arguments")}
        for call in message.get("tool_calls") or ()
    ]
    words = [_members(part, "type", "text") for part in message.get("content") or () if part["type"] == "text"]
    # the provider takes no text beside calls: who speaks its wire says it as their plan
    plan = message.get("tool_plan") or "\n\n".join(part["text"] for part in words)
    turn = {"tool_calls": calls, **({"tool_plan": plan} if plan else {})} if calls else {"content": words}
    results = [{"role": "tool", "tool_call_id": call["id"], "content": RESULT} for call in calls]
    said = {"role": "assistant", **turn}
    return {"model": body.get("model", "model"), "messages": [{"role": "user", "content": QUESTION}, said, *results]}


CLIENTS: dict[str, Callable[[Wire], Wire]] = {
    "anthropic_messages": anthropic_messages,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "gemini_generate": gemini_generate,
    "ollama_chat": ollama_chat,
    "bedrock_converse": bedrock_converse,
    "cohere_chat": cohere_chat,
}
"""The client of each wire. A wire without one is not asked to carry."""

PATHS = {
    "gemini_generate": "/v1beta/models/model:generateContent",
    "bedrock_converse": "/model/model/converse",
}
"""Paths of wires whose requests do not name the model."""


def next_request(adapter: str, body: Wire) -> Wire:
    """The WireRequest with which a client of this wire goes on after an answer."""
    sent = json.loads(json.dumps(CLIENTS[adapter](body)))  # what goes over a network shares nothing
    return {"method": "POST", "path": PATHS.get(adapter, ""), "headers": {}, "body": sent}


def _members(item: Wire, *names: str) -> Wire:
    return {name: item[name] for name in names if name in item}
