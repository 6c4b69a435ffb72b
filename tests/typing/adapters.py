"""Each wire of the package offers what the contract of adapters says: read by the type checker, never run."""

from interlingua.adapters import (
    anthropic_messages,
    bedrock_converse,
    cohere_chat,
    gemini_generate,
    ollama_chat,
    openai_chat,
    openai_responses,
)
from interlingua.adapters._contract import CompleteAdapter, DatedAdapter

WIRES: tuple[CompleteAdapter, ...] = (
    anthropic_messages,
    bedrock_converse,
    cohere_chat,
    gemini_generate,
    ollama_chat,
    openai_chat,
    openai_responses,
)
DATED: tuple[DatedAdapter, ...] = (ollama_chat, openai_chat, openai_responses)
