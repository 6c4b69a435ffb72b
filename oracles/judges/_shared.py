"""What the judges share: problems, and what was said, in words that belong to no wire."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError


@dataclass(frozen=True)
class Problem:
    """Something that an SDK's types do not allow: where, as a JSON Pointer, and in the SDK's words."""

    path: str
    says: str

    def __str__(self) -> str:
        return f"{self.path or '/'}: {self.says}"


@dataclass
class Said:
    """One answer, as a user of an SDK sees it. `finish` is the wire's own word; `tokens` are the prompt and the answer."""

    text: str = ""
    refusal: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str | None = None
    tokens: tuple[int, int] | None = None


def arguments(text: str) -> Any:
    """The value of argument text; text that is no JSON stays text, and no text is no arguments."""
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return text


def check(adapter: TypeAdapter[Any], value: Any, path: str = "") -> list[Problem]:
    """What a type does not allow about a value, unknown members included."""
    try:
        read = adapter.validate_python(value, extra="forbid")
    except ValidationError as error:
        return _problems(error, value, path)
    return list(_walk(read, path))


def check_json(
    adapter: TypeAdapter[Any], value: Any, path: str = "", *, closed: bool = True, strict: bool | None = None
) -> list[Problem]:
    """The same for models, which read bytes, times and enumerations from text; `closed`: unknown members are wrong."""
    try:
        adapter.validate_json(json.dumps(value), extra="forbid" if closed else None, strict=strict)
    except ValidationError as error:
        return _problems(error, value, path)
    return []


def _walk(value: Any, path: str) -> Iterator[Problem]:
    """Lists of TypedDicts are lazy: an item is looked at when it is asked for."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _walk(member, f"{path}/{name}")
    elif not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        items = iter(value)
        index = 0
        while True:
            try:
                item = next(items)
            except StopIteration:
                return
            except ValidationError as error:
                yield from _problems(error, None, f"{path}/{index}")
            else:
                yield from _walk(item, f"{path}/{index}")
            index += 1


def _problems(error: ValidationError, value: Any, path: str) -> list[Problem]:
    """One problem for each member, or item of a member, that is wrong; a union tells an error for each of its arms."""
    found = [(_steps(item["loc"], value), item) for item in error.errors(include_url=False, include_context=False)]
    whole = {steps[0] for steps, _ in found if len(steps) == 1}  # members of which an arm of a union speaks as a whole
    places: dict[str, list[tuple[list[Any], Any]]] = {}
    for steps, item in found:
        depth = 1 if steps and steps[0] in whole else 2
        places.setdefault(repr(steps[:depth]), []).append((steps, item))
    return [_problem(found, path) for found in places.values()]


def _problem(found: list[tuple[list[Any], Any]], path: str) -> Problem:
    steps = _common([steps for steps, _ in found])
    # the arms that got furthest speak first
    items = sorted((item for _, item in found), key=lambda item: -len(item["loc"]))
    told = dict.fromkeys(f"{'.'.join(map(str, item['loc']))}: {item['msg']}{_word(item)}" for item in items)
    return Problem("".join([path, *(f"/{step}" for step in steps)]), "; ".join(list(told)[:8]))


def _word(item: Any) -> str:
    """The word of an error about a closed vocabulary: an exception for one word must not cover another."""
    return f", not {item['input']!r}" if item["type"] in ("literal_error", "enum") else ""


def _steps(location: tuple[Any, ...], value: Any) -> list[Any]:
    """The part of a location that is a way into the value; names of arms and types lead nowhere."""
    steps: list[Any] = []
    for step in location:
        if (isinstance(value, dict) and step in value) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value[step]
        else:
            continue
        steps.append(step)
    return steps


def _common(ways: list[list[Any]]) -> list[Any]:
    common: list[Any] = []
    for steps in zip(*ways, strict=False):
        if len(set(map(str, steps))) > 1:
            break
        common.append(steps[0])
    return common


def split(body: dict[str, Any], known: Callable[[str], bool]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The members that a function of an SDK takes, and the others, which go out as `extra_body`."""
    return (
        {name: value for name, value in body.items() if known(name)},
        {name: value for name, value in body.items() if not known(name)},
    )
