"""
The entry point: whether plain data is a canonical request, message or response (spec/schema, JSON Schema 2020-12).

A validator compiled from the hand-written schema decides in one pass. Only for an invalid value, the errors are
followed to the arm that the value's `type` names. So a report points at the invalid member and not at the union around
it. No text of a report holds a value of the input.
"""

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any, Final

import pybase64

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, too_deep
from interlingua.canonical.loss import Path, pointer
from interlingua.canonical.spec_files import spec_file

_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DEEPEST: Final = 500
_PART: Final = 1_000  # blocks and messages: one or two milliseconds of the validator
_MOST: Final = 20  # violations in one report: enough to correct an input, too few to flood a log


@cache
def schema() -> dict[str, Any]:
    """Return the hand-written schema: the installed copy, or the file of the checkout."""
    return json.loads(spec_file("schema", "interlingua.schema.json").read_bytes())


@cache
def _validator(name: str) -> Any:
    """Compile the schema as written, for a validator that reports what is wrong."""
    return _compiled({**schema(), "$ref": f"#/$defs/{name}"})


@cache
def _quick_validator(name: str) -> Any:
    """Compile a validator that only decides: the arms of a tagged union exclude each other, so it stops at a match."""
    quick = {defined: _first_arm(definition) for defined, definition in schema()["$defs"].items()}
    return _compiled({**schema(), "$defs": quick, "$ref": f"#/$defs/{name}"})


def _compiled(definition: dict[str, Any]) -> Any:
    import jsonschema_rs  # imported here: it takes 7 ms, and a short command that reads a wire does not need it

    return jsonschema_rs.validator_for(definition)


def _first_arm(definition: dict[str, Any]) -> dict[str, Any]:
    if "discriminator" not in definition:
        return definition
    return {**{key: value for key, value in definition.items() if key != "oneOf"}, "anyOf": definition["oneOf"]}


def validate(value: Any, name: str = "Request") -> None:
    """Raise `InvalidRequest` with every violation unless the value is a canonical `name` (any type of the schema).

    It checks the structure, the base64 text of media, and of a response the role of its message and the consistency of
    its counts. `check` has the rules that a schema cannot express.
    """
    if name not in schema()["$defs"]:
        raise InvalidRequest(f"the schema has no type {name!r}; try Request, Message or Response")
    try:
        validator = _quick_validator(name)
        valid = all(validator.is_valid(part) for part, _ in _parts(value, name))
    except (RecursionError, ValueError) as problem:
        raise _unreadable(problem) from None
    if not valid:
        broken = violations(value, name)
        first = broken[0]
        raise InvalidRequest(
            f"not a canonical {readable_name(name)}: {first['message']}", path=first["path"], violations=broken
        )
    if name == "Request":
        _check_media(value)
    elif name in ("Message", "Response") and (broken := _beyond_schema(value, name)):
        raise InvalidRequest(broken[0]["message"], path=broken[0]["path"], violations=broken)


def malformed_event(event: Any, index: int | None = None) -> InvalidRequest | None:
    """Return the error for an event at a position of a stream; None when the event is valid."""
    where = "" if index is None else f"/{index}"
    which = "an event" if index is None else f"event {index}"
    try:
        broken = violations(event, "StreamEvent")
    except InvalidRequest as problem:
        return InvalidRequest(f"{which} is malformed: {problem.message}", path=where)
    if not broken:
        return None
    wrong = [{**violation, "path": where + violation["path"]} for violation in broken]
    return InvalidRequest(f"{which} is malformed: {wrong[0]['message']}", path=wrong[0]["path"], violations=wrong)


def readable_name(name: str) -> str:
    """Return the name of a type for a sentence: "stream event" for StreamEvent."""
    return _CAPITAL.sub(" ", name).lower()


def _unreadable(problem: Exception) -> InvalidRequest:
    """Return the reason why the validator could not read a value: it is too deep, or not plain data."""
    why = str(problem)
    if isinstance(problem, RecursionError) or "ecursion" in why:
        return too_deep()
    if isinstance(problem, UnicodeError):
        return InvalidRequest(json.HALF_A_PAIR)
    return InvalidRequest(f"not plain JSON data: {why}; for a value of the types use .plain()")


def violations(value: Any, name: str = "Request") -> list[dict[str, str]]:
    """Return all places where a value breaks the schema, as Violation objects.

    For a request, a response or a message that fits the schema, return what the schema cannot express: see `validate`.
    """
    broken: dict[str, dict[str, str]] = {}
    for part, ahead in _parts(value, name):
        try:
            errors = _validator(name).iter_errors(part)
        except (RecursionError, ValueError) as problem:
            raise _unreadable(problem) from None
        for error in errors:
            for leaf in _leaves(error):
                path = _place(leaf.instance_path, ahead)
                broken.setdefault(path, {"rule": f"schema.{leaf.kind.name}", "path": path, "message": _message(leaf)})
                if len(broken) == _MOST:
                    return list(broken.values())
    if not broken:
        return _beyond_schema(value, name)
    return list(broken.values())


Ahead = tuple[int, int]
"""The number of messages before a part of a request, and of blocks before it in its first message."""


def _parts(value: Any, name: str) -> Iterator[tuple[Any, Ahead]]:
    """Yield a value in parts that are all valid if the value is valid. Other threads wait while the validator runs: so
    it gets a conversation in parts of limited size."""
    messages: Any = value.get("messages") if name == "Request" and isinstance(value, dict) else None
    if not isinstance(messages, list) or _size(messages) <= _PART:
        yield value, (0, 0)
        return
    start, size = 0, 0
    for position, message in enumerate(messages):
        blocks = _blocks(message)
        if size and size + blocks > _PART:
            yield {**value, "messages": messages[start:position]}, (start, 0)
            start, size = position, 0
        if blocks > _PART:
            for first in range(0, blocks, _PART):
                piece = {**message, "content": message["content"][first : first + _PART]}
                yield {**value, "messages": [piece]}, (position, first)
            start, size = position + 1, 0
        else:
            size += blocks
    yield {**value, "messages": messages[start:]}, (start, 0)


def _size(messages: list[Any]) -> int:
    size = 0
    for message in messages:
        size += _blocks(message)
    return size


def _blocks(message: Any) -> int:
    """Return the size of a message for the validator: its blocks, and itself."""
    content = message.get("content") if isinstance(message, dict) else None
    return len(content) + 1 if isinstance(content, list) else 1


def _place(path: list[str | int], ahead: Ahead) -> str:
    """Return the pointer in the whole value of a place in a part."""
    match path:
        case ["messages", int(message), "content", int(block), *rest]:
            return pointer(("messages", message + ahead[0], "content", block + ahead[1], *rest))
        case ["messages", int(message), *rest]:
            return pointer(("messages", message + ahead[0], *rest))
        case _:
            return pointer(tuple(path))


def _leaves(error: Any) -> Iterator[Any]:
    if error.kind.name not in ("anyOf", "oneOf"):
        yield error
        return
    branches: list[list[Any]] = error.kind.context if hasattr(error.kind, "context") else []
    # the intended arm is the one without an error about the value's type
    meant = [branch for branch in branches if branch and not any(_about_type(leaf, error) for leaf in branch)]
    for branch in meant[:1] or branches[:1]:
        for nested in branch:
            yield from _leaves(nested)


def _about_type(leaf: Any, union: Any) -> bool:
    depth = len(union.instance_path)
    if leaf.kind.name in ("anyOf", "oneOf") and len(leaf.instance_path) == depth:
        # a union in a union: it is intended when one of its arms is
        return all(branch and any(_about_type(nested, leaf) for nested in branch) for branch in leaf.kind.context)
    where = list(leaf.instance_path)[depth:]
    return (where == ["type"] and leaf.kind.name in ("const", "not")) or (
        not where and leaf.kind.name == "type" and leaf.kind.types == ["null"]
    )


PATTERNS: Final = {
    "^[^:]+:.+$": "must be a model id, written provider:name",
    "^tu_[0-9A-Za-z]+$": "must be a canonical tool id: tu_, then letters and digits",
    "^[0-9]+[mh]$": "must be a time in minutes or hours, such as 5m or 1h",
    "^[0-7][0-9A-HJKMNP-TV-Z]{25}$": "must be a ULID: 26 digits and capital letters",
    "^(0|[1-9][0-9]*)(\\.[0-9]+)?$": "must be a decimal without sign or exponent, such as 0.65",
    "^(/.*)?$": "must be a JSON Pointer: empty, or with / at the beginning",
    "^[a-z][a-z0-9_]*$": "must be a word in snake case",
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?"
    "(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$": ("must be a time with its offset, such as 2026-05-08T12:00:00.000000Z"),
    "^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*( *;.*)?$": (
        "must be a media type, such as image/png"
    ),
}
"""The requirements of the schema's patterns, in words."""


def _message(error: Any) -> str:
    kind = error.kind
    match kind.name:
        case "required":
            return f"the member {kind.property} is missing"
        case "type":
            return f"must be {' or '.join(kind.types)}"
        case "enum":
            return f"must be one of {', '.join(map(str, kind.options))}"
        case "const":
            return f"must be {kind.expected_value!r}"
        case "pattern":
            return PATTERNS.get(kind.pattern) or f"must match {kind.pattern}"
        case "minimum" | "exclusiveMinimum" | "minLength" | "minItems":
            return f"is below the minimum of {kind.limit}"
        case "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems":
            return f"is above the maximum of {kind.limit}"
        case "format":
            return f"is not a valid {kind.format}"
        case word:
            return f"breaks the schema's rule {word}"


def _beyond_schema(value: Any, name: str) -> list[dict[str, str]]:
    broken = [_broken_media(path) for path in _media(value, name)]
    if name == "Response":
        broken += _unsound(value)
    return broken


def _unsound(response: dict[str, Any]) -> Iterator[dict[str, str]]:
    """Yield what no response has: a message of another role, more reasoning tokens than generated tokens."""
    for choice, path in _choices(response):
        if choice["message"]["role"] != "assistant":
            where = pointer((*path, "message", "role"))
            yield {"rule": "schema.const", "path": where, "message": "the message must be of the assistant"}
    usage = response.get("usage") or {}
    if (usage.get("reasoning_tokens") or 0) > usage.get("output_tokens", 0):
        message = "reasoning_tokens are part of output_tokens and cannot exceed them"
        yield {"rule": "schema.maximum", "path": "/usage/reasoning_tokens", "message": message}


def _choices(response: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Path]]:
    yield response, ()
    for position, choice in enumerate(response.get("alternatives") or ()):
        yield choice, ("alternatives", position)


def _check_media(request: dict[str, Any]) -> None:
    # most blocks hold no medium, so places are collected only when something is wrong
    messages: list[dict[str, Any]] = request["messages"]
    for message in messages:
        content: list[dict[str, Any]] = message["content"]
        for block in content:
            kind: str = block["type"]
            if "source" in block:
                if _is_broken(block["source"]):
                    raise _refused_media(request)
            elif kind == "tool_result":
                parts: list[dict[str, Any]] = block["content"]
                for part in parts:
                    if "source" in part and _is_broken(part["source"]):
                        raise _refused_media(request)


def _is_broken(source: Any) -> bool:
    # a block of a later version may have a source of any kind
    return isinstance(source, dict) and source.get("kind") == "base64" and not is_base64(source.get("data"))


def _refused_media(request: dict[str, Any]) -> InvalidRequest:
    broken = [_broken_media(path) for path in _media(request, "Request")]
    return InvalidRequest(broken[0]["message"], path=broken[0]["path"], violations=broken)


def _broken_media(path: Path) -> dict[str, str]:
    message = "the data is not base64 text (standard alphabet, padded); encode the bytes again"
    return {"rule": "schema.contentEncoding", "path": pointer(path), "message": message}


def _media(value: Any, name: str) -> Iterator[Path]:
    """Yield the paths of media whose data is not base64 text."""
    if name == "Message":
        yield from _media_of(value, ())
    elif name == "Response":
        for choice, path in _choices(value):
            yield from _media_of(choice["message"], (*path, "message"))
    elif name == "Request":
        for position, message in enumerate(value["messages"]):
            yield from _media_of(message, ("messages", position))


def _media_of(message: dict[str, Any], path: Path) -> Iterator[Path]:
    for position, block in enumerate(message["content"]):
        here: Path = (*path, "content", position)
        if "source" in block and _is_broken(block["source"]):
            yield (*here, "source", "data")
        elif block["type"] == "tool_result":
            for place, inner in enumerate(block["content"]):
                if "source" in inner and _is_broken(inner["source"]):
                    yield (*here, "content", place, "source", "data")


def is_base64(data: Any) -> bool:
    """Whether a text is standard, padded base64. The bytes are discarded: a vectorized decoder is the fastest check."""
    if not isinstance(data, str):
        return False
    try:
        pybase64.b64decode_as_bytearray(data, validate=True)
    except (ValueError, UnicodeError):
        return False
    return True


def check_plain(value: Any) -> None:
    """Raise `InvalidRequest` for values that JSON text cannot hold, in data that did not come from JSON text.

    These are NaN and infinities, halves of surrogate pairs, names that are not strings, other types and endless
    nesting.
    """
    problem = _not_plain(value, 0)
    if problem is not None:
        message, place = problem
        raise InvalidRequest(message, path=pointer(tuple(reversed(place))).encode("utf-8", "replace").decode())


def _not_plain(value: Any, depth: int) -> tuple[str, list[str | int]] | None:
    """Return a message about what is not plain in a value at a depth, and the place, the innermost step first. The
    place is built while the recursion returns, because there is hardly ever one."""
    if depth > _DEEPEST:
        raise too_deep()
    if isinstance(value, str):
        return None if value.isascii() or _is_whole(value) else (json.HALF_A_PAIR, [])
    if isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str) or not (name.isascii() or _is_whole(name)):
                return "the names of members must be strings of whole characters", []
            if type(item) is str and item.isascii():
                continue  # most values
            if (problem := _not_plain(item, depth + 1)) is not None:
                problem[1].append(name)
                return problem
        return None
    if isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            if (problem := _not_plain(item, depth + 1)) is not None:
                problem[1].append(position)
                return problem
        return None
    if value is None or isinstance(value, int):
        return None
    if isinstance(value, (float, Decimal)):
        return None if math.isfinite(value) else ("NaN and infinities are not numbers of JSON", [])
    return f"JSON has no type {type(value).__name__}; for a value of the types use .plain()", []


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
