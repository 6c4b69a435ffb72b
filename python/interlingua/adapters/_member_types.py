"""
Of which type the members of a wire are that have a canonical word (spec/2-requests.md#wrong-type).

A reader leaves a member of another type among the options: to its own wire it goes back as it came. No other wire knows
what it was to mean, so a request that goes there is refused, at the place of the member in the body as it was sent.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final

from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import pointer

TEXT: Final = "a string"
TEXTS: Final = "a list of strings"
TEXT_OR_TEXTS: Final = "a string or a list of strings"
SWITCH: Final = "true or false"
SWITCH_OR_TEXT: Final = "true, false or a string"
NUMBER: Final = "a number"
INTEGER: Final = "a whole number"
COUNT: Final = "a whole number, zero or more"
LIST: Final = "a list"
OBJECT: Final = "an object"
TEXT_OR_OBJECT: Final = "a string or an object"

Types = Mapping[str, Any]
"""Members of an object: each one of the words above, or the members of an object in turn."""

OPENAI_TYPES: Final[Types] = {
    "model": TEXT,
    "temperature": NUMBER,
    "top_p": NUMBER,
    "top_logprobs": COUNT,
    "stream": SWITCH,
    "parallel_tool_calls": SWITCH,
    "service_tier": TEXT,
    "user": TEXT,
    "metadata": OBJECT,
    "tools": LIST,
    "tool_choice": TEXT_OR_OBJECT,
}
"""The types of the members that OpenAI's wires spell alike."""


def whole(value: Any) -> int | None:
    """The whole number that a JSON number is, however it was written (100.0 is 100); None for any other value."""
    if type(value) is int:
        return value
    if type(value) is float:
        return int(value) if value.is_integer() else None
    if type(value) is Decimal:
        return int(value) if value == value.to_integral_value() else None
    return None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float, Decimal)


def _is_count(value: Any) -> bool:
    number = whole(value)
    return number is not None and number >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


_FITS: Final[dict[str, Callable[[Any], bool]]] = {
    TEXT: lambda value: isinstance(value, str),
    TEXTS: _are_texts,
    TEXT_OR_TEXTS: lambda value: isinstance(value, str) or _are_texts(value),
    SWITCH: lambda value: isinstance(value, bool),
    SWITCH_OR_TEXT: lambda value: isinstance(value, (bool, str)),
    NUMBER: _is_number,
    INTEGER: lambda value: whole(value) is not None,
    COUNT: _is_count,
    LIST: lambda value: isinstance(value, list),
    OBJECT: lambda value: isinstance(value, dict),
    TEXT_OR_OBJECT: lambda value: isinstance(value, (str, dict)),
}


def _misfit(options: Mapping[str, Any], types: Types) -> tuple[tuple[str, ...], str] | None:
    """Where the first member of a wrong type stands, and of which type it must be; null is of every type."""
    for name, value in options.items():
        wanted = types.get(name)
        if wanted is None or value is None:
            continue
        if isinstance(wanted, str):
            if not _FITS[wanted](value):
                return (name,), wanted
        elif not isinstance(value, dict):
            return (name,), OBJECT
        elif (found := _misfit(value, wanted)) is not None:
            return (name, *found[0]), found[1]
    return None


def wrong_member(adapter: str, options: Mapping[str, Any], types: Types) -> InvalidWire | None:
    """The refusal of the options of a wire, where they hold a member of a wrong type."""
    found = _misfit(options, types)
    if found is None:
        return None
    path, wanted = found
    return InvalidWire(f"{path[-1]} must be {wanted}", path=pointer(path), adapter=adapter)
