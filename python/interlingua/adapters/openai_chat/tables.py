"""What reads the same in both directions: words of the wire and words of the contract."""

import re
from typing import Final

from interlingua.adapters._kit import BiMap

NAME: Final = "openai_chat"

FINISH: Final[dict[str, str]] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop_sequence",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "max_output": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "error": "error",
    "insufficient_system_resource": "error",
    "abort": "error",
    "network_error": "error",
}
"""finish_reason of the wire and its dialects; any other word is `other`."""

FINISH_BACK: Final[dict[str, str]] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "stop",
    "pause": "other",
    "cancelled": "error",
    "error": "error",
    "other": "other",
}
"""What is written for an answer of another provider. The wire has no word for a pause, and an end that is none
is never told as `stop`; `error` is OpenRouter's word."""

FINAL: Final = frozenset(("length", "content_filter", "refusal", "error"))
"""Reasons that hold even when the answer has calls: the calls may be cut off."""

AUDIO: Final = BiMap({"wav": "audio/wav", "mp3": "audio/mpeg"})

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast")

LONGEST_TOOL_ID: Final = 40
PARTICIPANT: Final = re.compile(r"[^\s<|\\/>]+")

FILLER: Final = "(empty)"
"""Stands where the wire takes no empty message."""
