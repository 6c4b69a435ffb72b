"""
The door: is this plain data a canonical request, message or response? (spec/schema, JSON Schema 2020-12)

A validator compiled from the hand-written schema answers in one pass. Only when the answer is no, the errors are
walked to the arm that the value's `type` names, so that the report points at the member that is wrong and not at
the union that it stands in. No text of a report holds a value of the input.
"""

import math
import pathlib
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any, Final

import pybase64

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, too_deep
from interlingua.canonical.loss import Path, pointer

_SCHEMA: Final = "interlingua.schema.json"
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DEEPEST: Final = 500
_PART: Final = 1_000  # blocks and messages: a millisecond or two of the validator
_MOST: Final = 20  # violations in one report: enough to mend an input, too few to flood a log


@cache
def schema() -> dict[str, Any]:
    """The hand-written schema: the installed copy, or the one of the checkout."""
    for folder in (pathlib.Path(__file__).parents[1] / "_data", pathlib.Path(__file__).parents[3] / "spec" / "schema"):
        if (folder / _SCHEMA).exists():
            return json.loads((folder / _SCHEMA).read_bytes())
    raise FileNotFoundError(_SCHEMA)


@cache
def _validator(name: str) -> Any:
    """Says what is wrong: compiled from the schema as it is written."""
    return _compiled({**schema(), "$ref": f"#/$defs/{name}"})


@cache
def _quick_validator(name: str) -> Any:
    """Says yes or no: the arms of a tagged union exclude each other, so the first that fits is enough."""
    quick = {defined: _first_arm(definition) for defined, definition in schema()["$defs"].items()}
    return _compiled({**schema(), "$defs": quick, "$ref": f"#/$defs/{name}"})


def _compiled(definition: dict[str, Any]) -> Any:
    import jsonschema_rs  # here, for a short command that reads a wire needs none of it, and it takes 7 ms

    return jsonschema_rs.validator_for(definition)


def _first_arm(definition: dict[str, Any]) -> dict[str, Any]:
    if "discriminator" not in definition:
        return definition
    return {**{key: value for key, value in definition.items() if key != "oneOf"}, "anyOf": definition["oneOf"]}


def validate(value: Any, name: str = "Request") -> None:
    """Raises `InvalidRequest` with every violation unless the value is a canonical `name` (any type of the schema).

    Checked are the shape, the base64 text of media, and of an answer whose it is and that its counts fit together.
    What a schema cannot say is in `check`.
    """
    if name not in schema()["$defs"]:
        raise InvalidRequest(f"the schema has no type {name!r}; try Request, Message or Response")
    try:
        validator = _quick_validator(name)
        valid = all(validator.is_valid(part) for part, _ in _parts(value, name))
    except (RecursionError, ValueError) as problem:
        raise _unreadable(problem) from None
    if not valid:
        found = violations(value, name)
        first = found[0]
        raise InvalidRequest(f"not a canonical {said(name)}: {first['message']}", path=first["path"], violations=found)
    if name == "Request":
        _check_media(value)
    elif name in ("Message", "Response") and (found := _beyond_schema(value, name)):
        raise InvalidRequest(found[0]["message"], path=found[0]["path"], violations=found)


def malformed_event(event: Any, index: int | None = None) -> InvalidRequest | None:
    """The error for an event of a stream, which stands at this place in it; None when nothing is wrong with the event."""
    where = "" if index is None else f"/{index}"
    which = "an event" if index is None else f"event {index}"
    try:
        found = violations(event, "StreamEvent")
    except InvalidRequest as problem:
        return InvalidRequest(f"{which} is malformed: {problem.message}", path=where)
    if not found:
        return None
    wrong = [{**violation, "path": where + violation["path"]} for violation in found]
    return InvalidRequest(f"{which} is malformed: {wrong[0]['message']}", path=wrong[0]["path"], violations=wrong)


def said(name: str) -> str:
    """The name of a type as it is said in a sentence: StreamEvent is a stream event."""
    return _CAPITAL.sub(" ", name).lower()


def _unreadable(problem: Exception) -> InvalidRequest:
    """Why the validator could not read a value: it is too deep, or no plain data."""
    why = str(problem)
    if isinstance(problem, RecursionError) or "ecursion" in why:
        return too_deep()
    if isinstance(problem, UnicodeError):
        return InvalidRequest(json.HALF_A_PAIR)
    return InvalidRequest(f"not plain JSON data: {why}; of a value of the types take .plain()")


def violations(value: Any, name: str = "Request") -> list[dict[str, str]]:
    """All places where a value breaks the schema, as Violation objects; the gravest first.

    Of a request, a response or a message that fits the schema, what a schema cannot say of one value: see `validate`.
    """
    found: dict[str, dict[str, str]] = {}
    for part, ahead in _parts(value, name):
        try:
            errors = _validator(name).iter_errors(part)
        except (RecursionError, ValueError) as problem:
            raise _unreadable(problem) from None
        for error in errors:
            for leaf in _leaves(error):
                path = _place(leaf.instance_path, ahead)
                found.setdefault(path, {"rule": f"schema.{leaf.kind.name}", "path": path, "message": _message(leaf)})
                if len(found) == _MOST:
                    return list(found.values())
    if not found:
        return _beyond_schema(value, name)
    return list(found.values())


Ahead = tuple[int, int]
"""How many messages stand ahead of a part of a request, and how many blocks ahead of it in its first message."""


def _parts(value: Any, name: str) -> Iterator[tuple[Any, Ahead]]:
    """A value in parts that are valid when it is. The validator is not interrupted while it looks at one, and other
    threads wait: so what grows with a conversation is shown to it a piece at a time."""
    messages: Any = value.get("messages") if name == "Request" and isinstance(value, dict) else None
    if not isinstance(messages, list) or sum(map(_blocks, messages)) <= _PART:
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


def _blocks(message: Any) -> int:
    """How much a message gives to look at: its blocks, and itself."""
    content = message.get("content") if isinstance(message, dict) else None
    return len(content) + 1 if isinstance(content, list) else 1


def _place(path: list[str | int], ahead: Ahead) -> str:
    """The pointer of a place in a part, as it is in the whole."""
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
    # the arm that the value means is the one that does not complain about the value's type
    meant = [branch for branch in branches if branch and not any(_about_type(leaf, error) for leaf in branch)]
    for branch in meant[:1] or branches[:1]:
        for nested in branch:
            yield from _leaves(nested)


def _about_type(leaf: Any, union: Any) -> bool:
    depth = len(union.instance_path)
    if leaf.kind.name in ("anyOf", "oneOf") and len(leaf.instance_path) == depth:
        # a union in a union: it is meant when one of its arms is
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
"""What the patterns of the schema ask for, in words."""


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
    found = [_broken_media(path) for path in _media(value, name)]
    if name == "Response":
        found += _unsound(value)
    return found


def _unsound(response: dict[str, Any]) -> Iterator[dict[str, str]]:
    """What no model answers: the message of another, more tokens of reasoning than were generated."""
    for choice, path in _choices(response):
        if choice["message"]["role"] != "assistant":
            where = pointer((*path, "message", "role"))
            yield {"rule": "schema.const", "path": where, "message": "an answer is a message of the assistant"}
    usage = response.get("usage") or {}
    if (usage.get("reasoning_tokens") or 0) > usage.get("output_tokens", 0):
        message = "tokens of reasoning are among those that were generated; there cannot be more of them"
        yield {"rule": "schema.maximum", "path": "/usage/reasoning_tokens", "message": message}


def _choices(response: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Path]]:
    yield response, ()
    for position, choice in enumerate(response.get("alternatives") or ()):
        yield choice, ("alternatives", position)


def _check_media(request: dict[str, Any]) -> None:
    # most blocks hold no medium, so places are only told when something is wrong
    for message in request["messages"]:
        for block in message["content"]:
            if "source" in block:
                if _is_broken(block["source"]):
                    raise _refused_media(request)
            elif block["type"] == "tool_result":
                for inner in block["content"]:
                    if "source" in inner and _is_broken(inner["source"]):
                        raise _refused_media(request)


def _is_broken(source: Any) -> bool:
    # a block of a later version may have a source of any kind
    return isinstance(source, dict) and source.get("kind") == "base64" and not is_base64(source.get("data"))


def _refused_media(request: dict[str, Any]) -> InvalidRequest:
    found = [_broken_media(path) for path in _media(request, "Request")]
    return InvalidRequest(found[0]["message"], path=found[0]["path"], violations=found)


def _broken_media(path: Path) -> dict[str, str]:
    message = "the data is not base64 text (standard alphabet, padded); encode the bytes again"
    return {"rule": "schema.contentEncoding", "path": pointer(path), "message": message}


def _media(value: Any, name: str) -> Iterator[Path]:
    """Where the data of a medium is no base64 text."""
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
    """Whether a text is standard, padded base64. The bytes are thrown away: a vectored decoder is the fastest check."""
    if not isinstance(data, str):
        return False
    try:
        pybase64.b64decode_as_bytearray(data, validate=True)
    except (ValueError, UnicodeError):
        return False
    return True


def check_plain(value: Any) -> None:
    """Refuses, in data that did not come from JSON text, what such a text cannot hold.

    NaN and infinities, halves of surrogate pairs, names that are no text, objects of other types, endless nesting.
    """
    found = _not_plain(value, 0)
    if found is not None:
        message, place = found
        raise InvalidRequest(message, path=pointer(tuple(reversed(place))).encode("utf-8", "replace").decode())


def _not_plain(value: Any, depth: int) -> tuple[str, list[str | int]] | None:
    """What is not plain in a value at a depth, and its place, the innermost step first: it is put together on the way out,
    for there is hardly ever one."""
    if depth > _DEEPEST:
        raise too_deep()
    if isinstance(value, str):
        return None if value.isascii() or _is_whole(value) else (json.HALF_A_PAIR, [])
    if isinstance(value, dict):
        for name, item in value.items():
            if not isinstance(name, str) or not (name.isascii() or _is_whole(name)):
                return "the names of members are texts, of whole characters", []
            if type(item) is str and item.isascii():
                continue  # most values
            if (found := _not_plain(item, depth + 1)) is not None:
                found[1].append(name)
                return found
        return None
    if isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            if (found := _not_plain(item, depth + 1)) is not None:
                found[1].append(position)
                return found
        return None
    if value is None or isinstance(value, int):
        return None
    if isinstance(value, (float, Decimal)):
        return None if math.isfinite(value) else ("NaN and infinities are not numbers of JSON", [])
    return f"{type(value).__name__} is no type of JSON; of a value of the types take .plain()", []


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
