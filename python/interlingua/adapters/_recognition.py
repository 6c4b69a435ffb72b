"""
Which wire a body looks like: for errors that say so, never to decide how something is read.

A body is flattened into marks, the paths of its members with `[]` for the elements of a list, and `=` before the value of
members that name a kind (`type`, `role`, `object`). Each wire has a row of marks that are its own, from the documentation
of its provider; the wires with the most marks in a body are what it looks like. A row is missing for a wire that an
installed package brings: its bodies look like nothing.
"""

from typing import Any, Final

CANONICAL: Final = "canonical"
_KINDS: Final = frozenset(("type", "role", "object"))
_DEEPEST: Final = 6
_MOST: Final = 20  # elements of a list that are looked at

_REQUESTS: Final[dict[str, frozenset[str]]] = {
    CANONICAL: frozenset(
        (
            "system[].type",
            "messages[].role=system",
            "max_output_tokens",
            "reasoning.effort",
            "frequency_penalty",
            "presence_penalty",
            "parallel_tool_calls",
            "top_k",
            "system",
            "system[].text",
            "options",
            "tool_choice.type",
            "tools[].kind",
            "response_format.schema",
            "messages[].content[].type",
            "messages[].content[].tool_use_id",
            "messages[].content[].critical",
            "messages[].content[].cache",
            "messages[].content[].type=audio",
            "messages[].content[].type=video",
            "messages[].content[].type=custom",
            "loss_policy",
            "messages[].content[].source.kind",
            "messages[].created_at",
            "messages[].schema_version",
            "messages[].session_id",
            "messages[].metadata",
            "messages[].content[].provider_state",
            "messages[].content[].type=opaque",
            "messages[].role=developer",
            "messages[].role=tool",
            "tools[].side_effects",
            "tools[].input_schema",
            "reasoning.mode",
            "reasoning.budget_tokens",
        )
    ),
    "anthropic_messages": frozenset(
        (
            "max_tokens",
            "messages[].role=system",
            "messages[].content[].type",
            "messages[].content[].tool_use_id",
            "tool_choice.type",
            "tool_choice.disable_parallel_tool_use",
            "system[].text",
            "system[].type",
            "anthropic_version",
            "context_management",
            "mcp_servers",
            "messages[].content[].cache_control",
            "messages[].content[].source.media_type",
            "messages[].content[].source.type=base64",
            "messages[].content[].source.type=url",
            "messages[].content[].thinking",
            "metadata.user_id",
            "output_config",
            "stop_sequences",
            "system",
            "thinking.type",
            "tools[].cache_control",
            "tools[].input_schema",
            "top_k",
        )
    ),
    "bedrock_converse": frozenset(
        (
            "messages[].role=system",
            "additionalModelRequestFields",
            "guardrailConfig",
            "inferenceConfig",
            "messages[].content[].cachePoint",
            "messages[].content[].image.format",
            "messages[].content[].reasoningContent",
            "messages[].content[].toolResult",
            "messages[].content[].toolUse",
            "modelId",
            "performanceConfig",
            "system[].text",
            "toolConfig",
        )
    ),
    "cohere_chat": frozenset(
        (
            "citation_options",
            "documents",
            "frequency_penalty",
            "k",
            "max_tokens",
            "messages[].citations",
            "messages[].content[].document.data",
            "messages[].content[].image_url",
            "messages[].content[].thinking",
            "messages[].content[].type",
            "messages[].role=system",
            "messages[].role=tool",
            "messages[].tool_call_id",
            "messages[].tool_calls[].function",
            "messages[].tool_calls[].id",
            "messages[].tool_plan",
            "p",
            "presence_penalty",
            "response_format.json_schema",
            "response_format.type=json_object",
            "safety_mode",
            "stop_sequences",
            "strict_tools",
            "thinking.token_budget",
            "tool_choice=NONE",
            "tool_choice=REQUIRED",
            "tools[].function",
        )
    ),
    "gemini_generate": frozenset(
        (
            "cachedContent",
            "contents",
            "contents[].parts",
            "generationConfig",
            "generation_config",
            "safetySettings",
            "systemInstruction",
            "system_instruction",
            "toolConfig.functionCallingConfig",
            "tools[].functionDeclarations",
        )
    ),
    "ollama_chat": frozenset(
        (
            "messages[].tool_calls[].id",
            "messages[].tool_call_id",
            "messages[].role=system",
            "messages[].role=tool",
            "tools[].function",
            "messages[].tool_calls[].function",
            "format",
            "keep_alive",
            "messages[].images",
            "messages[].thinking",
            "messages[].tool_name",
            "options",
            "think",
        )
    ),
    "openai_chat": frozenset(
        (
            "max_tokens",
            "messages[].content[].type",
            "reasoning.effort",
            "messages[].tool_calls[].function",
            "tool_choice.type",
            "tool_choice.function",
            "response_format.type=json_object",
            "messages[].content[].type=image_url",
            "messages[].content[].type=file",
            "frequency_penalty",
            "logit_bias",
            "max_completion_tokens",
            "messages[].content[].image_url",
            "messages[].content[].input_audio",
            "messages[].role=developer",
            "messages[].role=system",
            "messages[].role=tool",
            "messages[].tool_call_id",
            "messages[].tool_calls[].id",
            "parallel_tool_calls",
            "presence_penalty",
            "reasoning_effort",
            "response_format.json_schema",
            "stream_options",
            "tools[].function",
        )
    ),
    "openai_responses": frozenset(
        (
            "frequency_penalty",
            "tool_choice.type",
            "parallel_tool_calls",
            "include",
            "input",
            "instructions",
            "max_output_tokens",
            "previous_response_id",
            "reasoning.effort",
            "text.format",
            "text.verbosity",
            "tools[].parameters",
            "truncation",
        )
    ),
}

_RESPONSES: Final[dict[str, frozenset[str]]] = {
    CANONICAL: frozenset(("finish_reason", "message.content[].type", "message.metadata", "message.schema_version")),
    "anthropic_messages": frozenset(
        (
            "stop_reason",
            "stop_sequence",
            "type=message",
            "usage.cache_creation_input_tokens",
            "usage.cache_read_input_tokens",
            "content[].type",
        )
    ),
    "bedrock_converse": frozenset(("metrics.latencyMs", "output.message", "stopReason", "usage.inputTokens")),
    "cohere_chat": frozenset(
        ("finish_reason", "message.content[].type", "message.tool_plan", "usage.billed_units", "usage.tokens")
    ),
    "gemini_generate": frozenset(
        ("candidates", "candidates[].content", "modelVersion", "promptFeedback", "responseId", "usageMetadata")
    ),
    "ollama_chat": frozenset(("done", "done_reason", "eval_count", "load_duration", "prompt_eval_count", "created_at")),
    "openai_chat": frozenset(
        ("choices", "choices[].message", "object=chat.completion", "system_fingerprint", "usage.prompt_tokens")
    ),
    "openai_responses": frozenset(
        ("incomplete_details", "object=response", "output", "output[].type", "previous_response_id", "text.format")
    ),
}

_STREAMS: Final[dict[str, frozenset[str]]] = {
    CANONICAL: frozenset(("type=message_start", "type=block_start", "type=text_delta")),
    "anthropic_messages": frozenset(
        ("type=message_start", "message.stop_reason", "message.type=message", "delta.type")
    ),
    "cohere_chat": frozenset(("type=message-start", "delta.message", "type=content-start", "type=content-delta")),
    "gemini_generate": _RESPONSES["gemini_generate"],
    "ollama_chat": _RESPONSES["ollama_chat"],
    "openai_chat": frozenset(("choices[].delta", "object=chat.completion.chunk", "choices")),
    "openai_responses": frozenset(
        ("response.object=response", "sequence_number", "type=response.created", "type=response.in_progress")
    ),
}

_ROWS: Final = {"request": _REQUESTS, "response": _RESPONSES, "stream": _STREAMS}


def recognised(body: Any, kind: str) -> list[str]:
    """The wires that a `request`, a `response` or the first event of a `stream` looks like, `canonical` among them;
    several when nothing tells them apart, none when nothing is distinctive."""
    found = scores(body, kind)
    most = max(found.values())
    return [wire for wire, score in found.items() if score == most] if most else []


def scores(body: Any, kind: str) -> dict[str, int]:
    """How many marks of each wire a `request`, a `response` or the first event of a `stream` has."""
    marks = marks_of(body)
    return {wire: len(row & marks) for wire, row in _ROWS[kind].items()}


def marks_of(body: Any) -> set[str]:
    """The paths of all members of a body, and the values of those that name a kind."""
    marks: set[str] = set()
    if isinstance(body, dict):
        _mark(body, "", marks, _DEEPEST)
    return marks


def _mark(value: Any, path: str, marks: set[str], depth: int) -> None:
    if isinstance(value, dict) and depth:
        for name, item in value.items():
            here = f"{path}.{name}" if path else str(name)
            marks.add(here)
            if name in _KINDS and isinstance(item, str):
                marks.add(f"{here}={item}")
            _mark(item, here, marks, depth - 1)
    elif isinstance(value, list) and depth:
        for item in value[:_MOST]:
            _mark(item, f"{path}[]", marks, depth)
