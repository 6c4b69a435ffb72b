"""
The conditions of routing rules: a closed set of predicates over the facts of a turn.

A condition is an object; all of its members must hold. Evaluation is total: it gives true or false for any input. It
gives false for a predicate that is unknown, malformed, or about a fact that the turn does not have.
`policy.check` reports malformed conditions when a policy is loaded.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from interlingua.canonical.patterns import pattern

Turn = Mapping[str, Any]
_LONGEST_TEXT = 20_000  # characters: a pattern is run on no more than these, so that a decision stays fast


def holds(condition: Any, turn: Turn, now: datetime) -> bool:
    """Whether a condition holds for a turn at a time."""
    if not isinstance(condition, dict):
        return False
    for name, argument in condition.items():
        match name:
            case "any_of":
                met = isinstance(argument, list) and any(holds(inner, turn, now) for inner in argument)
            case "all_of":
                met = isinstance(argument, list) and all(holds(inner, turn, now) for inner in argument)
            case "not":
                met = isinstance(argument, dict) and not holds(argument, turn, now)
            case "time_of_day_between":
                met = _time_of_day_between(argument, now)
            case _:
                predicate = PREDICATES.get(name)
                met = predicate is not None and predicate(argument, turn)
        if not met:
            return False
    return True


def clock_time(text: Any) -> time | None:
    """A time of day from text of the format HH:MM; None for other text."""
    if not isinstance(text, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text):
        return None
    return time(int(text[:2]), int(text[3:]))


def amount(value: Any) -> Decimal | None:
    """A decimal from text or a number; None for another value."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        return None
    try:
        decimal = Decimal(str(value))
    except InvalidOperation:
        return None
    return decimal if decimal.is_finite() else None


def _time_of_day_between(argument: Any, now: datetime) -> bool:
    """Whether `now` is at or after the first time and before the second, in its own offset, also past midnight."""
    if not isinstance(argument, list) or len(argument) != 2:
        return False
    begin, end = clock_time(argument[0]), clock_time(argument[1])
    if begin is None or end is None:
        return False
    current = now.time()
    return begin <= current < end if begin <= end else current >= begin or current < end


def _matches(argument: Any, text: Any) -> bool:
    compiled = pattern(argument) if isinstance(argument, str) else None
    try:
        return compiled is not None and isinstance(text, str) and compiled.found_in(text[:_LONGEST_TEXT])
    except ValueError:  # a lone surrogate
        return False


def _contains_any(argument: Any, turn: Turn) -> bool:
    text = str(turn.get("text") or "").lower()
    return any(isinstance(word, str) and word.lower() in text for word in _words(argument))


def _words(argument: Any) -> list[Any]:
    return argument if isinstance(argument, list) else [argument]


def _names(value: Any) -> set[Any]:
    return {name for name in value if isinstance(name, str)} if isinstance(value, list) else set()


def _extensions(turn: Turn) -> set[str]:
    return {"." + name.rpartition(".")[2].lower() for name in _names(turn.get("files")) if "." in name}


def _has_extension(argument: Any, turn: Turn) -> bool:
    extensions = {"." + word.removeprefix(".").lower() for word in _words(argument) if isinstance(word, str)}
    return bool(extensions & _extensions(turn))


def _tokens(turn: Turn) -> int | None:
    count = turn.get("estimated_input_tokens")
    return count if isinstance(count, int) else None


def _compare(left: Any, right: Any, compare: Callable[[Decimal, Decimal], bool]) -> bool:
    first, second = amount(left), amount(right)
    return first is not None and second is not None and compare(first, second)


def _images(turn: Turn) -> bool:
    needs = turn.get("needs")
    return isinstance(needs, Mapping) and bool(needs.get("images"))


PREDICATES: dict[str, Callable[[Any, Turn], bool]] = {
    "message_matches": lambda argument, turn: _matches(argument, turn.get("text")),
    "message_contains_any": _contains_any,
    "estimated_input_tokens_gt": lambda argument, turn: _compare(_tokens(turn), argument, Decimal.__gt__),
    "estimated_input_tokens_lt": lambda argument, turn: _compare(_tokens(turn), argument, Decimal.__lt__),
    "has_images": lambda argument, turn: _images(turn) is argument,
    "has_tool_calls_in_history": lambda argument, turn: bool(turn.get("has_tool_calls_in_history")) is argument,
    "skills_matching_message_includes": lambda argument, turn: bool(
        _names(_words(argument)) & _names(turn.get("skills"))
    ),
    "file_extensions_in_context": _has_extension,
    "workspace_path_matches": lambda argument, turn: _matches(argument, turn.get("workspace_path")),
    "cost_today_exceeds_usd": lambda argument, turn: _compare(turn.get("cost_today_usd"), argument, Decimal.__gt__),
    "team_budget_remaining_lt": lambda argument, turn: _compare(
        turn.get("team_budget_remaining_usd"), argument, Decimal.__lt__
    ),
}
"""The predicates about a turn, each a total function of its argument and the facts."""

PREDICATE_NAMES = frozenset(PREDICATES) | {"any_of", "all_of", "not", "time_of_day_between"}
