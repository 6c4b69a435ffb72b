"""What reads the same in both directions: words of the wire and words of the contract."""

import re
from collections.abc import Mapping
from typing import Any

NAME = "openai_responses"

INCOMPLETE: dict[str, str] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
    "steered": "pause",
}
"""Reason of an incomplete answer; any other word is `other`."""

STATUS: dict[str, str] = {"completed": "stop", "failed": "error", "cancelled": "cancelled"}
"""Status of an answer that says by itself why it ended; `queued` and `in_progress` have not ended: `other`."""

INCOMPLETE_BACK: dict[str, str] = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
    "pause": "steered",
}

POLICY_CODES = frozenset(("bio_policy", "cyber_policy", "misalignment_policy_violation", "content_filter"))
"""Codes of a failed answer that mean that a filter of the provider ended it."""

CALLS_FOR_THE_CALLER = frozenset(("computer_call", "local_shell_call", "apply_patch_call", "shell_call"))
"""Items of the provider's own tools that the caller has to run."""

SERVICE_TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
BREAKPOINT_TTLS = ("30m", "12h")
MOST_BREAKPOINTS = 4
LEAST_OUTPUT_TOKENS = 16

TOOL_ID = re.compile(r"(?s).{1,64}\Z")
TIME_TO_LIVE = re.compile(r"[0-9]+[mh]")

FILLER = "(empty)"
"""Stands where the wire takes no empty message."""

BETWEEN = "\n\n"
"""Stands between the parts of a reasoning item, which are one text in the contract."""

LOGPROBS = "message.output_text.logprobs"
"""The word of `include` that asks for log probabilities."""

ELSEWHERE = ("previous_response_id", "conversation", "prompt")
"""Members that name a conversation, or the beginning of one, that the provider keeps."""

NOTHING: Mapping[str, Any] = {}
