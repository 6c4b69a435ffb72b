"""Words, and values that the other sections share."""

from typing import Any, Final

Item = dict[str, Any]

MAX_CACHE_MARKS: Final = 4
FILLER: Final = "(empty)"
INSTRUCTIONS: Final = ("system", "developer")
THINKING_TYPES: Final = ("thinking", "redacted_thinking")
UNMARKED_TYPES: Final = (*THINKING_TYPES, "opaque")
"""Blocks that take no cache mark."""

# what reading a part raises that lacks a member or has one of a wrong type
UNREADABLE: Final = (KeyError, TypeError, AttributeError, IndexError, ValueError)

IMAGE_STARTS: Final = {"/9j/": "image/jpeg", "iVBORw0KGgo": "image/png", "R0lGOD": "image/gif", "UklGR": "image/webp"}
"""The first bytes of each format of images, in base64."""


def string(value: Any) -> str:
    """The value, when it is text."""
    if type(value) is not str:
        raise TypeError("not a string")
    return value


def wire_model(model: str | None) -> str | None:
    """The wire's name of a canonical model id: what stands after the first colon."""
    return (model.partition(":")[2] or model) if model else None
