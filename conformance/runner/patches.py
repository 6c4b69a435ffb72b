"""JSON Patch (RFC 6902): the edits of the cases."""

from __future__ import annotations

import copy
from typing import Any

from .compare import equal, parse_pointer


class PatchError(Exception):
    """An operation of a JSON Patch that does not fit the value."""


def patched(value: Any, patch: list[dict[str, Any]]) -> Any:
    """The value with a JSON Patch (RFC 6902) applied; the value itself stays as it is. PatchError where it does not fit."""
    holder = {"": copy.deepcopy(value)}
    for number, operation in enumerate(patch):
        try:
            _operate(holder, operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise PatchError(
                f"operation {number}, {operation.get('op')} {operation.get('path') or '/'}: {error}"
            ) from None
    return holder[""]


def _operate(holder: dict[str, Any], operation: dict[str, Any]) -> None:
    match operation["op"]:
        case "add":
            _put(holder, operation["path"], copy.deepcopy(operation["value"]))
        case "remove":
            _take(holder, operation["path"])
        case "replace":
            value = copy.deepcopy(operation["value"])
            _take(holder, operation["path"])
            _put(holder, operation["path"], value)
        case "move":
            if operation["path"].startswith(operation["from"] + "/"):
                raise ValueError("nothing moves into itself")
            _put(holder, operation["path"], _take(holder, operation["from"]))
        case "copy":
            _put(holder, operation["path"], copy.deepcopy(_at(holder, operation["from"])))
        case "test":
            if not equal(_at(holder, operation["path"]), operation["value"]):
                raise ValueError("another value stands there")
        case word:
            raise ValueError(f"{word!r} is no operation")


def _put(holder: dict[str, Any], pointer: str, value: Any) -> None:
    place, step = _place(holder, pointer)
    if isinstance(place, dict):
        place[step] = value
    else:
        place.insert(len(place) if step == "-" else _index(step, len(place)), value)


def _take(holder: dict[str, Any], pointer: str) -> Any:
    place, step = _place(holder, pointer)
    return place.pop(step if isinstance(place, dict) else _index(step, len(place) - 1))


def _at(holder: dict[str, Any], pointer: str) -> Any:
    place, step = _place(holder, pointer)
    return place[step] if isinstance(place, dict) else place[_index(step, len(place) - 1)]


def _place(holder: dict[str, Any], pointer: str) -> tuple[Any, str]:
    """What holds a place, and the last step to it; `holder` holds the whole value under an empty name."""
    steps = ["", *parse_pointer(pointer)]
    place: Any = holder
    for step in steps[:-1]:
        place = place[step] if isinstance(place, dict) else place[_index(step, len(place) - 1)]
    if not isinstance(place, dict | list):
        raise TypeError("nothing can stand there")
    return place, steps[-1]


def _index(step: str, last: int) -> int:
    if not step.isascii() or not step.isdigit() or (step != "0" and step.startswith("0")) or int(step) > last:
        raise IndexError(f"{step!r} is no place of the list")
    return int(step)
