"""The inputs of the benchmarks: conversations with tools as canonical requests, answers and streams, made by a fixed recipe."""

import base64
import hashlib
import json
from typing import Any

Data = dict[str, Any]

_WORDS = (
    "the river carries what the rain has taken from the hills and leaves it where the water slows until spring "
    "floods move everything once more toward the sea and nobody along the banks remembers which stone came first"
).split()


def text(seed: int, words: int) -> str:
    """Some prose, the same for the same seed."""
    return " ".join(_WORDS[(seed * 7 + position * 3) % len(_WORDS)] for position in range(words))


def tool(number: int) -> Data:
    """A function tool with a schema of ordinary size."""
    return {
        "name": f"read_section_{number}",
        "description": text(number, 14),
        "input_schema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": text(number + 1, 6)},
                "lines": {"type": "array", "items": {"type": "integer"}, "description": text(number + 2, 6)},
                "mode": {"type": "string", "enum": ["fast", "exact"]},
            },
            "required": ["path"],
        },
    }


def conversation(messages: int, tools: int = 5) -> Data:
    """A canonical request: turns of question, tool call, result and answer, as many messages as asked for."""
    said: list[Data] = []
    turn = 0
    while len(said) < messages:
        call = f"tu_{turn:02d}"
        said += [
            {"role": "user", "content": [{"type": "text", "text": text(turn, 24)}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": text(turn + 1, 10)},
                    {
                        "type": "tool_use",
                        "id": call,
                        "name": f"read_section_{turn % tools}",
                        "input": {"path": f"chapters/{turn}.txt", "lines": [turn, turn + 20], "mode": "exact"},
                    },
                ],
            },
            {
                "role": "tool",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": call,
                        "content": [{"type": "text", "text": text(turn + 2, 40)}],
                    }
                ],
                "metadata": {"parent_tool_use_id": call},
            },
            {"role": "assistant", "content": [{"type": "text", "text": text(turn + 3, 30)}]},
        ]
        turn += 1
    return {
        "model": "anthropic:claude-sonnet-4-6",
        "system": [{"type": "text", "text": text(99, 40)}],
        "messages": said[:messages],
        "tools": [tool(number) for number in range(tools)],
        "tool_choice": {"type": "auto"},
        "max_output_tokens": 2048,
        "temperature": 0.2,
        "seed": 7,
    }


def images(count: int = 5, size: int = 150_000) -> Data:
    """A canonical request with images of incompressible bytes: about one megabyte of base64 text in all."""
    blocks: list[Data] = [{"type": "text", "text": text(1, 12)}]
    for number in range(count):
        noise = b"".join(hashlib.sha256(f"{number}:{k}".encode()).digest() for k in range(size // 32))
        source = {"kind": "base64", "data": base64.b64encode(noise).decode()}
        blocks.append({"type": "image", "source": source, "media_type": "image/png"})
    return {
        "model": "anthropic:claude-sonnet-4-6",
        "messages": [{"role": "user", "content": blocks}],
        "max_output_tokens": 2048,
    }


def anthropic_answer() -> Data:
    """An answer of the Anthropic wire with text and a tool call."""
    return {
        "id": "msg_01BenchAnswer",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [
            {"type": "text", "text": text(3, 60)},
            {
                "type": "tool_use",
                "id": "toolu_01BenchCall",
                "name": "read_section_1",
                "input": {"path": "chapters/9.txt", "lines": [1, 40], "mode": "exact"},
            },
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 1200,
            "output_tokens": 94,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 1024,
        },
    }


def agent_request(tools: int = 30, messages: int = 20) -> Data:
    """A request of the Anthropic wire as coding agents send it: many tools, three cache marks, metadata, a stream."""
    mark = {"type": "ephemeral"}
    said: list[Data] = []
    for turn in range(messages // 2):
        call = f"toolu_01Agent{turn:04d}"
        said += [
            {"role": "user", "content": [{"type": "text", "text": text(turn, 60)}]}
            if turn == 0
            else {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": f"toolu_01Agent{turn - 1:04d}",
                        "content": text(turn + 2, 80),
                    }
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": text(turn + 1, 12)},
                    {"type": "tool_use", "id": call, "name": f"read_section_{turn}", "input": {"path": f"{turn}.txt"}},
                ],
            },
        ]
    result = {"type": "tool_result", "tool_use_id": call, "content": text(3, 80), "cache_control": mark}
    said.append({"role": "user", "content": [result]})
    return {
        "model": "claude-sonnet-4-6",
        "max_tokens": 32_000,
        "system": [
            {"type": "text", "text": text(97, 12), "cache_control": mark},
            {"type": "text", "text": text(98, 400), "cache_control": mark},
        ],
        "messages": said,
        "tools": [tool(number) for number in range(tools)],
        "metadata": {"user_id": "user_7f3a_account__session_19"},
        "stream": True,
    }


def chat_request(messages: int = 20, **members: Any) -> Data:
    """A request of the Chat wire, written by hand: turns of question, tool call, result and answer, and further members."""
    said: list[Data] = [{"role": "system", "content": text(99, 40)}]
    turn = 0
    while len(said) <= messages:
        call = f"call_{turn:04d}"
        arguments = json.dumps({"path": f"chapters/{turn}.txt", "mode": "exact"}, separators=(",", ":"))
        function = {"name": f"read_section_{turn % 5}", "arguments": arguments}
        said += [
            {"role": "user", "content": text(turn, 24)},
            {
                "role": "assistant",
                "content": text(turn + 1, 10),
                "tool_calls": [{"id": call, "type": "function", "function": function}],
            },
            {"role": "tool", "tool_call_id": call, "content": text(turn + 2, 40)},
            {"role": "assistant", "content": text(turn + 3, 30)},
        ]
        turn += 1
    functions = [tool(number) for number in range(5)]
    return {
        "model": "gpt-5.4",
        "messages": said[: messages + 1],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": function["name"],
                    "description": function["description"],
                    "parameters": function["input_schema"],
                },
            }
            for function in functions
        ],
        "max_completion_tokens": 2048,
        **members,
    }


ANSWER_FORMAT: Data = {
    "type": "json_schema",
    "json_schema": {
        "name": "finding",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "summary": {"type": "string"},
                "confidence": {"type": "number"},
                "sources": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["summary", "confidence", "sources"],
            "additionalProperties": False,
        },
    },
}
"""What asks the Chat wire for an answer by a schema."""


def chat_stream(deltas: int = 500) -> list[bytes]:
    """A streamed answer of the Chat wire, one event in each chunk, no two texts alike."""

    def event(value: Data) -> bytes:
        return f"data: {json.dumps(value, separators=(',', ':'))}\n\n".encode()

    whole = {"id": "chatcmpl-bench", "object": "chat.completion.chunk", "created": 1_780_000_000, "model": "gpt-5.4"}

    def choice(delta: Data, finish: str | None = None) -> Data:
        return {**whole, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    usage = {"prompt_tokens": 1200, "completion_tokens": deltas, "total_tokens": 1200 + deltas}
    return [
        event(choice({"role": "assistant", "content": ""})),
        *(event(choice({"content": f"{_WORDS[k % len(_WORDS)]} {k} "})) for k in range(deltas)),
        event(choice({}, "stop")),
        event({**whole, "choices": [], "usage": usage}),
        b"data: [DONE]\n\n",
    ]


def gemini_stream(deltas: int = 500) -> list[bytes]:
    """A streamed answer of the Gemini wire, one event in each chunk, no two texts alike."""

    def event(words: str, count: int, **members: Any) -> bytes:
        candidate = {"content": {"parts": [{"text": words}], "role": "model"}, "index": 0, **members}
        usage = {"promptTokenCount": 1200, "candidatesTokenCount": count, "totalTokenCount": 1200 + count}
        value = {
            "candidates": [candidate],
            "usageMetadata": usage,
            "modelVersion": "gemini-3-flash-preview",
            "responseId": "bench",
        }
        return f"data: {json.dumps(value, separators=(',', ':'))}\r\n\r\n".encode()

    said = [event(f"{_WORDS[k % len(_WORDS)]} {k} ", k) for k in range(deltas)]
    return [*said, event("end.", deltas, finishReason="STOP")]


def anthropic_stream(deltas: int = 500) -> list[bytes]:
    """A streamed answer of the Anthropic wire, one event in each chunk."""

    def event(name: str, **members: Any) -> bytes:
        return f"event: {name}\ndata: {json.dumps({'type': name, **members}, separators=(',', ':'))}\n\n".encode()

    start = anthropic_answer() | {"content": [], "stop_reason": None}
    delta = {"stop_reason": "end_turn", "stop_sequence": None}
    return [
        event("message_start", message=start),
        event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
        *(
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": _WORDS[k % len(_WORDS)] + " "})
            for k in range(deltas)
        ),
        event("content_block_stop", index=0),
        event("message_delta", delta=delta, usage={"output_tokens": deltas}),
        event("message_stop"),
    ]
