"""One short request of each wire, and where its clients send it."""

from typing import Any

from interlingua import translate

TEXT = "What is in here?"
TURN = [{"role": "user", "content": TEXT}]
PARTS = [{"role": "user", "parts": [{"text": TEXT}]}]
BLOCKS = [{"role": "user", "content": [{"text": TEXT}]}]

# the model of each wire's own provider, as its clients name it
MODELS = {
    "anthropic_messages": "claude-sonnet-4-6",
    "openai_chat": "gpt-4.1",
    "openai_responses": "gpt-4.1",
    "gemini_generate": "gemini-2.5-pro",
    "ollama_chat": "qwen3",
    "bedrock_converse": "us.anthropic.claude-sonnet-4-6-v1:0",
    "cohere_chat": "command-a-03-2025",
}
WIRES = list(MODELS)

BEHIND = {
    "anthropic_messages": "anthropic:claude-sonnet-4-6",
    "openai_chat": "openai:gpt-4.1",
    "openai_responses": "openai:gpt-5-pro",
    "gemini_generate": "gemini:gemini-2.5-pro",
    "ollama_chat": "ollama-cloud:qwen3",
    "bedrock_converse": "bedrock:us.amazon.nova-premier-v1:0",
    "cohere_chat": "cohere:command-a-03-2025",
}
"""A model for each wire over which it is called."""


def path(wire: str, *, stream: bool = False, model: str | None = None) -> str:
    """Where a client of a wire posts a request."""
    model = model or MODELS[wire]
    match wire:
        case "anthropic_messages":
            return "/v1/messages"
        case "openai_chat":
            return "/v1/chat/completions"
        case "openai_responses":
            return "/v1/responses"
        case "gemini_generate":
            return f"/v1beta/models/{model}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"
        case "ollama_chat":
            return "/api/chat"
        case "cohere_chat":
            return "/v2/chat"
        case _:
            return f"/model/{model.replace(':', '%3A')}/converse{'-stream' if stream else ''}"


def body(wire: str, *, stream: bool = False, model: str | None = None) -> dict[str, Any]:
    """What it posts."""
    model = model or MODELS[wire]
    match wire:
        case "anthropic_messages":
            return {"model": model, "max_tokens": 100, "messages": TURN, **({"stream": True} if stream else {})}
        case "openai_chat" | "cohere_chat":
            return {"model": model, "messages": TURN, **({"stream": True} if stream else {})}
        case "openai_responses":
            return {"model": model, "input": TEXT, **({"stream": True} if stream else {})}
        case "gemini_generate":
            return {"contents": PARTS}
        case "ollama_chat":
            return {"model": model, "messages": TURN, "stream": stream}
        case _:
            return {"messages": BLOCKS}


def answer(wire: str, given: bytes, *, stream: bool) -> dict[str, Any]:
    """The canonical response that a client of a wire reads from an answer."""
    if not stream:
        return translate.read_response(given, wire)[0]
    events = list(translate.read_stream([given], wire))
    assert events[-1]["type"] == "message_complete", events[-1]
    return events[-1]["response"]


def text(response: dict[str, Any]) -> str:
    """All text of a response."""
    return "".join(block["text"] for block in response["message"]["content"] if block["type"] == "text")


def calls(response: dict[str, Any]) -> list[tuple[str, Any]]:
    """The calls of a response: name and input."""
    return [(block["name"], block["input"]) for block in response["message"]["content"] if block["type"] == "tool_use"]
