"""Members of a request, in the direction of the wire."""

from typing import Final

from interlingua.adapters._claude.values import Item
from interlingua.adapters._claude.writing import Writing
from interlingua.canonical.loss import Path

UNSUPPORTED: Final = {
    "frequency_penalty": "weakened",
    "presence_penalty": "weakened",
    "seed": "weakened",
    "n": "weakened",
    "logprobs": "lost",
    "top_logprobs": "lost",
    "verbosity": "weakened",
}
"""Members of a request that no such wire has, with the severity of going without."""
REQUEST: Final = frozenset(
    (
        "model",
        "system",
        "messages",
        "tools",
        "tool_choice",
        "parallel_tool_calls",
        "response_format",
        "max_output_tokens",
        "temperature",
        "top_p",
        "top_k",
        "stop",
        "reasoning",
        "service_tier",
        "user",
        "metadata",
        "cache",
        "stream",
        "options",
        "loss_policy",
        "provider_state",
    )
)
"""The members of a request that are written."""
ACCOUNTED_FOR: Final = frozenset((*REQUEST, *UNSUPPORTED))


def kept_stops(stop: list[str], writing: Writing) -> list[str]:
    """The stop texts that are taken; one of white space alone is not."""
    kept: list[str] = []
    for position, text in enumerate(stop):
        if text.strip() or writing.keeps("stop"):
            kept.append(text)
        else:
            message = "the target takes no stop text of white space"
            writing.loss.drop(("stop", position), "unsupported_value", "weakened", message)
    return kept


def wanted_schema(wanted: Item, writing: Writing) -> Item | None:
    """The schema that an answer is to have; None where none is enforced, which is reported."""
    path: Path = ("response_format",)
    kind = wanted["type"]
    if kind == "text":
        for name in wanted:
            if name != "type":
                writing.loss.drop((*path, name), "unsupported_field", "shape", "free text has no such member")
    elif kind != "json_schema" or "schema" not in wanted:
        writing.loss.drop(path, "unsupported_value", "lost", "the target only takes a format that has a schema")
    elif writing.lacks("supports_structured_output"):
        writing.loss.drop(path, "unsupported_model", "lost", "the model does not enforce schemas")
    else:
        return wanted["schema"]
    return None
