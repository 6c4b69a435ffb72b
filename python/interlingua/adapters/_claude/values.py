"""Words, and values that the other sections share."""

import re
from typing import Any, Final

from interlingua.adapters._history.turns import SYSTEM, USER

__all__ = ("SYSTEM", "USER")

Item = dict[str, Any]

# the places that take different blocks, beside SYSTEM and USER; the first is that of messages
ASSISTANT, RESULT, DOCUMENT = "assistant", "result", "document"
THINKING_TYPES: Final = ("thinking", "redacted_thinking")
UNMARKED_TYPES: Final = (*THINKING_TYPES, "opaque")
"""Blocks that take no cache mark."""

MAX_CACHE_MARKS: Final = 4

_LIFETIME: Final = re.compile(r"[0-9]+[mh]")


def string(value: Any) -> str:
    """The value, when it is text."""
    if type(value) is not str:
        raise TypeError("not a string")
    return value


def named(value: Any) -> str:
    """The value, when it is a name."""
    if type(value) is not str or not value:
        raise TypeError("not a name")
    return value


def wire_model(model: str | None) -> str | None:
    """The wire's name of a canonical model id: what stands after the first colon."""
    return (model.partition(":")[2] or model) if model else None


def cache_hint(mark: Any, kind: str) -> Item | None:
    """The hint that a mark for the cache of this kind is; None when it holds anything that a hint cannot say."""
    if not isinstance(mark, dict) or mark.get("type") != kind:
        return None
    if len(mark) == 1:
        return {}
    lifetime = mark.get("ttl")
    return {"ttl": lifetime} if len(mark) == 2 and isinstance(lifetime, str) and _LIFETIME.fullmatch(lifetime) else None
