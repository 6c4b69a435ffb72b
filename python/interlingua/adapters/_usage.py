"""
What an answer took, both ways.

The contract counts tokens in disjoint buckets; wires count them in their own ways. A wire has a table of the places in which each
bucket is counted, and a function that writes its own counts.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._kit import Wire
from interlingua.adapters._members import whole
from interlingua.canonical.loss import Loss

Usage = dict[str, Any]

Places = tuple[tuple[str, str, str], ...]
"""Bucket, member of the wire's usage, and the member of that object, or "" where it is the count itself. Of several places of
one bucket the first counts that holds more than nothing."""

_BUCKETS: Final = (
    "input_tokens",
    "output_tokens",
    "cached_input_tokens",
    "cache_creation_input_tokens",
    "cache_creation_1h_input_tokens",
    "reasoning_tokens",
)
_OF_THE_PROMPT: Final = ("cached_input_tokens", "cache_creation_input_tokens")
COUNTED: Final = frozenset((*_BUCKETS, "cost_usd", "pricing_version", "latency_ms", "raw"))
"""The members of a usage that are counted, or that are none of the provider's."""

# ---------------------------------------------------------------------------------------------- from the wire


def count(value: Any) -> int | None:
    """A number of tokens, which some write as 10.0 or as a text; None for what is none."""
    if value is None:
        return None
    if type(value) is not int:
        value = int(value) if type(value) is str and value.isdecimal() and len(value) < 20 else whole(value)
    return value if value is not None and value >= 0 else None


def read_counts(
    wire: Wire, places: Places, *, with_cache: bool = False, beside: bool | None = False, more: int = 0
) -> Usage:
    """The usage in disjoint buckets, with the wire's own object as `raw`.

    `with_cache`: the prompt of the wire holds what was read from a cache and written to it. `beside`: its output does not hold
    the reasoning; None where that is so if the total says it. `more` tokens are of the prompt, too.
    A count that another one contradicts is taken as 0 and not as negative.
    """
    usage: Usage = {"input_tokens": 0, "output_tokens": 0}
    for bucket, name, part in places:
        value = wire.get(name)
        if value is None:
            continue
        if part:
            value = value.get(part) if type(value) is dict else None
        if type(value) is not int or value < 0:
            value = count(value)
        if value is not None and not usage.get(bucket):
            usage[bucket] = value
    prompt, output = usage["input_tokens"] + more, usage["output_tokens"]
    if reasoning := usage.get("reasoning_tokens"):
        if beside or (beside is None and wire.get("total_tokens") == prompt + output + reasoning):
            usage["output_tokens"] = output + reasoning
        elif reasoning > output:
            usage["reasoning_tokens"] = output
    if with_cache:
        cached, created = usage.get("cached_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
        usage["input_tokens"] = max(prompt - cached - created, 0)
    usage["raw"] = wire
    return usage


# ---------------------------------------------------------------------------------------------- to the wire


def prompt_tokens(usage: Mapping[str, Any]) -> int:
    """The tokens of the prompt, with those that were read from a cache and written to it."""
    cached, created = usage.get("cached_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    prompt: int = (usage.get("input_tokens") or 0) + cached + created
    return prompt


def native_counts(usage: Usage, read: Callable[[Any], Usage | None]) -> Wire | None:
    """The provider's own object, where it counts the same still; an edit may have changed the counts."""
    raw: Any = usage.get("raw")
    known = read(raw) if type(raw) is dict else None
    if known is None:
        return None
    for bucket in _BUCKETS:
        if (known.get(bucket) or 0) != (usage.get(bucket) or 0):
            return None
    native: Wire = raw
    return native


def report_usage(usage: Usage | None, written: Any, uncounted: tuple[str, ...], loss: Loss) -> None:
    """Reports the buckets that a wire does not count apart, and what it tells instead; of counts as they came nothing is lost."""
    if usage is None or (written is not None and written is usage.get("raw")):
        return
    prompt = 0
    for bucket in uncounted:
        if usage.get(bucket):
            loss.drop(("usage", bucket), "unsupported_field", "weakened", "the wire does not count these tokens apart")
            if bucket in _OF_THE_PROMPT:
                prompt += usage[bucket]
    if prompt:
        message = "the wire counts cached tokens among those of the prompt"
        loss.replace(
            ("usage", "input_tokens"), usage["input_tokens"] + prompt, "unsupported_field", "weakened", message
        )
