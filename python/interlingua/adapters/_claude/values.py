"""Constants, and the readers of values that the other sections share."""

import re
from typing import Any, Final

from interlingua.adapters._history.turns import SYSTEM, USER

__all__ = ("SYSTEM", "USER")

Item = dict[str, Any]

# the places that accept different blocks, besides SYSTEM and USER; the first one is a role of messages
ASSISTANT: Final = "assistant"
RESULT: Final = "result"
DOCUMENT: Final = "document"
THINKING_TYPES: Final = ("thinking", "redacted_thinking")
UNMARKED_TYPES: Final = (*THINKING_TYPES, "opaque")
"""The types of blocks that accept no cache mark."""

MAX_CACHE_MARKS: Final = 4

_LIFETIME: Final = re.compile(r"[0-9]+[mh]")


def string(value: Any) -> str:
    """Return the value if it is a text. Raises `TypeError` if it is not."""
    if type(value) is not str:
        raise TypeError("not a string")
    return value


def named(value: Any) -> str:
    """Return the value if it is a name. Raises `TypeError` if it is not."""
    if type(value) is not str or not value:
        raise TypeError("not a name")
    return value


def wire_model(model: str | None) -> str | None:
    """Return the wire's name for a canonical model id: the part after the first colon."""
    return (model.partition(":")[2] or model) if model else None


def cache_hint(mark: Any, kind: str) -> Item | None:
    """Return the cache hint for a cache mark of this kind; None if the mark has a member that a hint cannot express."""
    if not isinstance(mark, dict) or mark.get("type") != kind:
        return None
    if len(mark) == 1:
        return {}
    lifetime = mark.get("ttl")
    return {"ttl": lifetime} if len(mark) == 2 and isinstance(lifetime, str) and _LIFETIME.fullmatch(lifetime) else None
