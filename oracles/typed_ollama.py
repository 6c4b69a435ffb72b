"""
Requests, answers and streams of Ollama's chat, at random, from the types of the SDK.

The server's own types say more than the SDK's (ids of calls, their index, which result is whose): that is added here.
"""

import json
import random
from typing import Any

from ollama import ChatResponse
from ollama._types import ChatRequest  # the request has no public type
from typed_anthropic import SCHEMAS, cut, one_of
from typed_values import ABSENT, Maker

Data = dict[str, Any]
LATER = 0.03
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
NAMES = ("look_up", "get_weather", "a.b")


def _function(draw: Maker) -> Data:
    draw.count = getattr(draw, "count", 0) + 1
    made = {"name": f"tool_{draw.count}", "parameters": draw.named("Parameters")}
    if draw.chance(0.8):
        made["description"] = draw.rng.choice(("Does it.", ""))
    return made


def _messages(draw: Maker) -> list[Data]:
    made: list[Data] = []
    waiting: list[Data] = []
    if draw.chance(0.3):
        made.append({"role": "system", "content": "Be brief."})
    for turn in range(draw.rng.randint(1, 6)):
        message = draw.plain("Message")
        message["role"] = "user" if turn % 2 == 0 else "assistant"
        message.setdefault("content", "")
        if turn % 2 == 0:
            for name in ("tool_calls", "thinking", "tool_name"):
                message.pop(name, None)
            made += [_result(draw, call) for call in waiting]
            waiting = []
            if not message["content"] and not message.get("images"):
                message["content"] = "hi"
            made.append(message)
        else:
            for name in ("tool_name", "images"):
                message.pop(name, None)
            if draw.chance(0.4):
                message["tool_calls"] = [_call(draw, number) for number in range(draw.rng.randint(1, 3))]
            waiting = message.get("tool_calls") or []
            made.append(message)
    return made + [_result(draw, call) for call in waiting]


def _call(draw: Maker, number: int) -> Data:
    made: Data = {
        "function": {"name": draw.rng.choice(NAMES), "arguments": draw.rng.choice(({}, {"a": 1}, {"a": [None]}))}
    }
    if draw.chance(0.4):
        draw.calls = getattr(draw, "calls", 0) + 1
        made["id"] = f"call_{draw.calls}"
    if draw.chance(0.3):
        made["type"] = "function"
    if draw.chance(0.3):
        made["function"]["index"] = number
    return made


def _result(draw: Maker, call: Data) -> Data:
    made: Data = {"role": "tool", "content": draw.rng.choice(("11 degrees", "", "[tool_error]\nno", '{"a": 1}'))}
    if draw.chance(0.6):
        made["tool_name"] = call["function"]["name"]
    if "id" in call and draw.chance(0.8):
        made["tool_call_id"] = call["id"]
    if draw.chance(0.1):
        made["images"] = [PNG]
    return made


MEANT: Data = {
    "ChatRequest.model": one_of("llama3.2", "hf.co/org/model:Q4_K_M"),
    "ChatRequest.format": one_of("", "json", None, *SCHEMAS, ABSENT),
    "ChatRequest.keep_alive": one_of("5m", 0, -1, "1h30m", None),
    "ChatRequest.think": one_of(True, False, "low", "high", None),
    "ChatRequest.top_logprobs": one_of(0, 5),
    "ChatRequest.stream": one_of(True, False, ABSENT),
    "Options.num_predict": one_of(-1, 0, 100),
    "Options.temperature": one_of(0, 0.7, 2),
    "Options.top_p": one_of(0.9, 1),
    "Options.top_k": one_of(0, 40),
    "Options.stop": one_of([], ["END"], ["a", "b"]),
    "*.images": one_of([PNG], [PNG, "aGVsbG8="], [], [f"data:image/png;base64,{PNG}"]),
    "*.arguments": one_of({}, {"a": 1}, {"a": {"b": [1, 2.5, None]}, "ü": "x"}),
    "Function.name": one_of(*NAMES),
    "Parameters.type": one_of("object"),
    "Parameters.properties": one_of(
        {}, {"a": {"type": "string"}}, {"n": {"type": ["integer", "null"], "enum": [1, 2]}}
    ),
    "Parameters.required": one_of([], ["a"], None),
    "Parameters.$defs": one_of({}, {"x": {"type": "string"}}, None),
    "Parameters.items": one_of(None, {}),
    "Tool.function": _function,
    "Tool.type": one_of("function"),
    "*.done_reason": one_of("stop", "length", "load", "x"),
    "*.prompt_eval_count": one_of(0, 26),
    "*.eval_count": one_of(1, 290),
    "ChatRequest.messages": _messages,
}
"""What the types do not say."""


def request(seed: int) -> Data:
    """A body of `POST /api/chat`."""
    rng = random.Random(seed)
    draw = Maker(ChatRequest, rng, MEANT, null=0.1, later=LATER)
    body = draw.value()
    if "messages" not in body:  # a server loads the model then
        body["messages"] = _messages(draw)
    return body


# --- answers -----------------------------------------------------------------------------------------------------------


def answer(seed: int) -> Data:
    """A body that `POST /api/chat` answers."""
    rng = random.Random(seed)
    draw = Maker(ChatResponse, rng, MEANT, null=0.1, later=LATER)
    body = draw.value()
    message = body["message"]
    message["role"] = "assistant"
    message.setdefault("content", "")
    message.pop("images", None)
    if message.get("tool_calls"):
        message["tool_calls"] = [_call(draw, number) for number in range(rng.randint(1, 3))]
    body["done"] = True
    return body


def streamed_answer(seed: int) -> Data:
    """An answer as a stream can say it."""
    body = answer(seed)
    if not body["message"]["content"]:
        body["message"]["content"] = ""
    for name in ("thinking", "tool_calls"):
        if not body["message"].get(name):
            body["message"].pop(name, None)
    return body


def stream(body: Data, rng: random.Random) -> str:
    """An answer, as lines."""
    around = {name: body[name] for name in ("model", "created_at") if name in body}
    message = body["message"]
    told = {name: value for name, value in message.items() if name not in ("content", "thinking", "tool_calls")}
    lines: list[Data] = []
    for piece in cut(message["thinking"], rng) if message.get("thinking") else ():
        lines.append({**around, "message": {**told, "content": "", "thinking": piece}, "done": False})
    for piece in cut(message["content"], rng) if message["content"] else ():
        lines.append({**around, "message": {**told, "content": piece}, "done": False})
    calls = message.get("tool_calls") or []
    groups = [calls] if rng.random() < 0.5 else [[call] for call in calls]
    for group in groups if calls else ():
        lines.append({**around, "message": {**told, "content": "", "tool_calls": group}, "done": False})
    last = {name: value for name, value in body.items() if name != "message"}
    lines.append({**last, "message": {**told, "content": ""}})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
