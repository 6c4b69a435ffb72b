"""What reads the same in both directions: words of the wire and words of the contract."""

from typing import Final

NAME: Final = "openai_responses"

INCOMPLETE: Final[dict[str, str]] = {
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
    "steered": "pause",
}
"""Reason of an incomplete answer; any other word is `other`."""

STATUS: Final[dict[str, str]] = {"completed": "stop", "failed": "error", "cancelled": "cancelled"}
"""Status of an answer that says by itself why it ended; `queued` and `in_progress` have not ended: `other`."""

INCOMPLETE_BACK: Final[dict[str, str]] = {
    "length": "max_output_tokens",
    "content_filter": "content_filter",
    "pause": "steered",
}

POLICY_CODES: Final = frozenset(
    (
        "bio_policy",
        "cyber_policy",
        "misalignment_policy_violation",
        "image_content_policy_violation",
        "content_filter",
    )
)
"""Codes of a failed answer that mean that a filter of the provider ended it."""

CALLS_FOR_THE_CALLER: Final = frozenset(("computer_call", "local_shell_call", "apply_patch_call", "shell_call"))
"""Items of the provider's own tools that the caller has to run."""

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
LEAST_OUTPUT_TOKENS: Final = 16

LONGEST_TOOL_ID: Final = 64

FILLER: Final = "(empty)"
"""Stands where the wire takes no empty message."""

BETWEEN: Final = "\n\n"
"""Stands between the parts of a reasoning item, which are one text in the contract."""

LOGPROBS: Final = "message.output_text.logprobs"
"""The word of `include` that asks for log probabilities."""

ELSEWHERE: Final = ("previous_response_id", "conversation", "prompt")
"""Members that name a conversation, or the beginning of one, that the provider keeps."""
