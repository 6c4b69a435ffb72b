"""
The building blocks of the generated converter.

Writing: a field takes a value only when reading the field returns the same value. Everything else (members of a later
version, an explicit null, an empty list that is written out, an integer beyond the bits of its field) is put into
`rest_json`. So nothing is lost, and the validation on the other side finds a value of the wrong type, as it would in
JSON.

Reading: every input of a client becomes plain data, or an `InvalidRequest` with a pointer to it. A function does not
know the place of its value; its callers put their part of the pointer in front.
"""

import math
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any, TypeGuard

from google.protobuf.timestamp_pb2 import Timestamp

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest

Data = dict[str, Any]

_LARGEST, _SMALLEST = 2**63 - 1, -(2**63)
_LARGEST_32, _SMALLEST_32 = 2**31 - 1, -(2**31)
_EXACT = 2**53


def under(problem: InvalidRequest, *steps: str | int) -> InvalidRequest:
    """Put steps in front of the path of an error, and return the error."""
    problem.path = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps) + (
        problem.path or ""
    )
    return problem


# ---------------------------------------------------------------------------------------------------- reading


def read_one(read: Callable[[Any], Data], message: Any, name: str) -> Data:
    """Read a message in a field."""
    try:
        return read(message)
    except InvalidRequest as problem:
        raise under(problem, name) from None


def read_each(read: Callable[[Any], Data], messages: Iterable[Any], name: str) -> list[Data]:
    """Read the messages of a list."""
    values: list[Data] = []
    try:
        for message in messages:
            values.append(read(message))
    except InvalidRequest as problem:
        raise under(problem, name, len(values)) from None
    return values


def read_json(text: str, name: str) -> Any:
    """Read free JSON."""
    try:
        return json.loads(text)
    except InvalidRequest as problem:
        raise InvalidRequest(f"{problem.message}; write the value as JSON text", path=f"/{name}") from None


def read_object(text: str, name: str) -> Data:
    """Read a free JSON object."""
    value = read_json(text, name)
    if type(value) is not dict:
        raise InvalidRequest("not a JSON object; write it as {…}", path=f"/{name}")
    return value


def read_number(value: float, name: str) -> float:
    """Read a double that JSON can hold."""
    if not math.isfinite(value):
        raise InvalidRequest("NaN and infinities are not numbers of JSON", path=f"/{name}")
    return value


def read_time(moment: Timestamp, name: str) -> str:
    """Read a time as RFC 3339, in UTC with six fractional digits."""
    try:
        return _text_of(moment.ToDatetime(UTC))
    except (ValueError, OverflowError):
        raise InvalidRequest("must be a time between the years 1 and 9999", path=f"/{name}") from None


def read_enum(words: dict[int, str], number: int, other: str | None, name: str) -> str:
    """Read an enum: return the word of its number. A number of a later version is `other` where the enum has it."""
    word = words.get(number, other if number else None)
    if word is None:
        problem = f"the enum value {number} is not known to this version" if number else "the enum value is missing"
        raise InvalidRequest(f"{problem}; use one of {', '.join(words.values())}", path=f"/{name}")
    return word


def read_rest(text: str, data: Data, bare: AbstractSet[str] = frozenset()) -> None:
    """Add the members of `rest_json` to those that were read from fields (spec/9-service.md#rest-json).

    A field that is set takes precedence: it replaces null and an empty list or object; any other value that differs is
    an `InvalidRequest`. A zero in one of the fields in `bare`, which cannot distinguish unset from zero, counts as
    unset.
    """
    for name, value in read_object(text, "rest_json").items():
        if name not in data or (name in bare and not data[name]):
            data[name] = value
        elif value not in (None, [], {}) and value != data[name]:
            raise under(
                InvalidRequest("the member differs from its field, which is set; remove it from rest_json", path=""),
                "rest_json",
                name,
            )


def read_unknown(message: Any) -> Data:
    """Read a block or event of a later version; its JSON text contains all of it."""
    value = read_object(message.json, "json")
    if value.get("type") != message.type:
        raise InvalidRequest("type differs from the type in json", path="/type")
    return value


def no_arm(what: str) -> InvalidRequest:
    """Return the error for a union in which no known arm is set: none, or one that this version does not know."""
    return InvalidRequest(
        f"no {what} is set that this version knows; set one of the oneof, or send it as unknown", path=""
    )


# ---------------------------------------------------------------------------------------------------- writing


def write_each(write: Callable[[Data, Any], None], values: list[Any], messages: Any, name: str) -> None:
    """Append values to a list of messages."""
    for position, value in enumerate(values):
        if type(value) is not dict:
            raise InvalidRequest("must be an object", path=f"/{name}/{position}")
        try:
            write(value, messages.add())
        except InvalidRequest as problem:
            raise under(problem, name, position) from None


def write_one(write: Callable[[Data, Any], None], value: Data, message: Any, name: str) -> None:
    """Fill the message in a field; an empty value also sets the field."""
    message.SetInParent()
    try:
        write(value, message)
    except InvalidRequest as problem:
        raise under(problem, name) from None


def write_json(value: Any, name: str) -> str:
    """Return free JSON as text."""
    try:
        return json.dumps(value).decode()
    except InvalidRequest as problem:
        raise InvalidRequest(problem.message, path=f"/{name}") from None


def write_rest(rest: Data) -> str:
    """Return the members without a field of their own as JSON text."""
    return json.dumps(rest).decode()


def write_time(value: Any, moment: Timestamp) -> bool:
    """Set the moment if reading it returns the same text; return whether it was set."""
    try:
        parsed = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    if _text_of(parsed) != value:
        return False
    moment.FromDatetime(parsed)
    return True


def _text_of(moment: datetime) -> str:
    return f"{moment.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def write_enum(numbers: dict[str, int], word: Any, other: int | None, name: str) -> Any:
    """Return the number of an enum's word. A word that is not in the enum is `other` where the enum has it."""
    number = numbers.get(word, other) if isinstance(word, str) else None
    if number is None:
        raise InvalidRequest(f"must be one of {', '.join(numbers)}", path=f"/{name}")
    return number


def write_unknown(value: Data, message: Any) -> None:
    """Write a block or event of a later version, whole."""
    message.type = value["type"]
    message.json = json.dumps(value).decode()


def is_text(value: Any) -> TypeGuard[str]:
    """Whether a string field takes it."""
    return type(value) is str


def is_int64(value: Any) -> TypeGuard[int]:
    """Whether an int64 field takes it."""
    return type(value) is int and _SMALLEST <= value <= _LARGEST


def is_int32(value: Any) -> TypeGuard[int]:
    """Whether an int32 field takes it."""
    return type(value) is int and _SMALLEST_32 <= value <= _LARGEST_32


def are_int32(value: Any) -> TypeGuard[list[int]]:
    """Whether it is a list of integers that int32 fields take."""
    return type(value) is list and all(is_int32(item) for item in value)


def is_double(value: Any) -> TypeGuard[float]:
    """Whether a double field takes it and returns it equal."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and -_EXACT <= value <= _EXACT)


def is_texts(value: Any) -> TypeGuard[list[str]]:
    """Whether it is a list of strings."""
    return type(value) is list and all(type(item) is str for item in value)


def is_text_map(value: Any) -> TypeGuard[dict[str, str]]:
    """Whether it is an object of strings."""
    return type(value) is dict and all(type(key) is str and type(item) is str for key, item in value.items())


def missing(name: str) -> InvalidRequest:
    """Return the error for a required member that is missing."""
    return InvalidRequest(f"the member {name} is missing", path="")
