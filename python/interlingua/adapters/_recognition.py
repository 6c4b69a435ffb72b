"""
Guess which wire a body belongs to. Error messages name the guess; it never decides how something is read.

A body is flattened into marks: the paths of its members, with `[]` for the elements of a list, and `=` before the
value of a member that names a kind (`type`, `role`, `object`). Each wire has a row of its own marks, from the
documentation of its provider. The guess is the wires with the most marks in a body. A wire that an installed package
brings has no row: its bodies are not recognised.
"""

from collections.abc import Mapping
from typing import Any, Final

CANONICAL: Final = "canonical"
_KINDS: Final = frozenset(("type", "role", "object"))
_DEEPEST: Final = 6
_MOST: Final = 20  # elements of a list that are inspected


def _rows(words: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the marks of each wire as a set, from a text with spaces between them."""
    return {wire: frozenset(marks.split()) for wire, marks in words.items()}


_REQUESTS: Final = _rows(
    {
        CANONICAL: """
            frequency_penalty loss_policy max_output_tokens messages[].content[].cache
            messages[].content[].critical messages[].content[].provider_state messages[].content[].source.kind
            messages[].content[].tool_use_id messages[].content[].type messages[].content[].type=audio
            messages[].content[].type=custom messages[].content[].type=opaque messages[].content[].type=video
            messages[].created_at messages[].metadata messages[].role=developer messages[].role=system
            messages[].role=tool messages[].schema_version messages[].session_id options parallel_tool_calls
            presence_penalty reasoning.budget_tokens reasoning.effort reasoning.mode response_format.schema
            system system[].text system[].type tool_choice.type tools[].input_schema tools[].kind
            tools[].side_effects top_k
        """,
        "anthropic_messages": """
            anthropic_version context_management max_tokens mcp_servers messages[].content[].cache_control
            messages[].content[].source.media_type messages[].content[].source.type=base64
            messages[].content[].source.type=url messages[].content[].thinking messages[].content[].tool_use_id
            messages[].content[].type messages[].role=system metadata.user_id output_config stop_sequences
            system system[].text system[].type thinking.type tool_choice.disable_parallel_tool_use
            tool_choice.type tools[].cache_control tools[].input_schema top_k
        """,
        "bedrock_converse": """
            additionalModelRequestFields guardrailConfig inferenceConfig messages[].content[].cachePoint
            messages[].content[].image.format messages[].content[].reasoningContent
            messages[].content[].toolResult messages[].content[].toolUse messages[].role=system modelId
            performanceConfig system[].text toolConfig
        """,
        "cohere_chat": """
            citation_options documents frequency_penalty k max_tokens messages[].citations
            messages[].content[].document.data messages[].content[].image_url messages[].content[].thinking
            messages[].content[].type messages[].role=system messages[].role=tool messages[].tool_call_id
            messages[].tool_calls[].function messages[].tool_calls[].id messages[].tool_plan p presence_penalty
            response_format.json_schema response_format.type=json_object safety_mode stop_sequences strict_tools
            thinking.token_budget tool_choice=NONE tool_choice=REQUIRED tools[].function
        """,
        "gemini_generate": """
            cachedContent contents contents[].parts generationConfig generation_config safetySettings
            systemInstruction system_instruction toolConfig.functionCallingConfig tools[].functionDeclarations
        """,
        "ollama_chat": """
            format keep_alive messages[].images messages[].role=system messages[].role=tool messages[].thinking
            messages[].tool_call_id messages[].tool_calls[].function messages[].tool_calls[].id
            messages[].tool_name options think tools[].function
        """,
        "openai_chat": """
            frequency_penalty logit_bias max_completion_tokens max_tokens messages[].content[].image_url
            messages[].content[].input_audio messages[].content[].type messages[].content[].type=file
            messages[].content[].type=image_url messages[].role=developer messages[].role=system
            messages[].role=tool messages[].tool_call_id messages[].tool_calls[].function
            messages[].tool_calls[].id parallel_tool_calls presence_penalty reasoning.effort reasoning_effort
            response_format.json_schema response_format.type=json_object stream_options tool_choice.function
            tool_choice.type tools[].function
        """,
        "openai_responses": """
            frequency_penalty include input instructions max_output_tokens parallel_tool_calls
            previous_response_id reasoning.effort text.format text.verbosity tool_choice.type tools[].parameters
            truncation
        """,
    }
)
_OF_GEMINI: Final = "candidates candidates[].content modelVersion promptFeedback responseId usageMetadata"
_OF_OLLAMA: Final = "created_at done done_reason eval_count load_duration prompt_eval_count"
"""The marks of responses on the wires whose streams consist of responses."""
_RESPONSES: Final = _rows(
    {
        CANONICAL: "finish_reason message.content[].type message.metadata message.schema_version",
        "anthropic_messages": """
            content[].type stop_reason stop_sequence type=message usage.cache_creation_input_tokens
            usage.cache_read_input_tokens
        """,
        "bedrock_converse": "metrics.latencyMs output.message stopReason usage.inputTokens",
        "cohere_chat": "finish_reason message.content[].type message.tool_plan usage.billed_units usage.tokens",
        "gemini_generate": _OF_GEMINI,
        "ollama_chat": _OF_OLLAMA,
        "openai_chat": "choices choices[].message object=chat.completion system_fingerprint usage.prompt_tokens",
        "openai_responses": """
            incomplete_details object=response output output[].type previous_response_id text.format
        """,
    }
)
_STREAMS: Final = _rows(
    {
        CANONICAL: "type=block_start type=message_start type=text_delta",
        "anthropic_messages": "delta.type message.stop_reason message.type=message type=message_start",
        "cohere_chat": "delta.message type=content-delta type=content-start type=message-start",
        "gemini_generate": _OF_GEMINI,
        "ollama_chat": _OF_OLLAMA,
        "openai_chat": "choices choices[].delta object=chat.completion.chunk",
        "openai_responses": """
            response.object=response sequence_number type=response.created type=response.in_progress
        """,
    }
)
_ROWS: Final = {"request": _REQUESTS, "response": _RESPONSES, "stream": _STREAMS}


def recognised(body: Any, kind: str) -> list[str]:
    """Return the wires that a `request`, a `response` or the first event of a `stream` may belong to; `canonical` can
    be one of them. Several if they have equally many marks, none if the body has no mark."""
    found = scores(body, kind)
    most = max(found.values())
    return [wire for wire, score in found.items() if score == most] if most else []


def scores(body: Any, kind: str) -> dict[str, int]:
    """Return how many marks of each wire a `request`, a `response` or the first event of a `stream` has."""
    marks = marks_of(body)
    return {wire: len(row & marks) for wire, row in _ROWS[kind].items()}


def marks_of(body: Any) -> set[str]:
    """Return the paths of all members of a body, and the values of those that name a kind."""
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
