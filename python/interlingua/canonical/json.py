"""
Conversion of JSON text to plain data and back, without loss of precision.

Integers keep every digit, up to 4,300 of them; a decimal that a binary float cannot hold stays a `Decimal`. `loads`
refuses NaN, infinities, numbers out of range and lone surrogates; `translate.load` refuses plain data and values of the
types that hold one.

msgspec reads (exact integers), orjson writes (fastest on long base64 text); msgspec writes what orjson cannot write.
"""

import json as standard_json
import math
import re
from decimal import Decimal
from typing import Any, Final

import msgspec
import orjson

from interlingua.canonical.errors import InvalidRequest

_SAFE_DIGITS: Final = 15  # a binary float holds every decimal of up to fifteen significant digits
_SAFE_SIZE: Final = 1e-290  # … unless it is so small that the float has fewer bits, or none


def _number(text: str) -> float | Decimal:
    value = float(text)
    if math.isinf(value):
        raise ValueError(_TOO_LARGE)
    if (len(text) <= _SAFE_DIGITS and abs(value) > _SAFE_SIZE) or repr(value) == text:
        return value
    exact = Decimal(text)
    return value if Decimal(repr(value)) == exact else exact


_TOO_LARGE: Final = "number out of range"
_TOO_LONG: Final = "Integer value out of range"
_BYTE: Final = re.compile(r"\(byte (\d+)\)")
_NOT_A_NUMBER: Final = re.compile(rb"-?(?:NaN|Infinity)", re.IGNORECASE)
_decoder: Final = msgspec.json.Decoder(float_hook=_number)
_encoder: Final = msgspec.json.Encoder(decimal_format="number")
_decode: Final = _decoder.decode
_write: Final = orjson.dumps
_quote: Final = standard_json.encoder.encode_basestring
_sorted_encoder: Final = msgspec.json.Encoder(decimal_format="number", order="deterministic")


def plain(value: Any) -> Any:
    """Return the plain data of a value of the types, or of a list of them; anything else unchanged."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    to_plain = getattr(value, "plain", None)
    return to_plain() if callable(to_plain) else value


def loads(text: bytes | str) -> Any:
    """Read JSON. Raises `InvalidRequest` if the text is not JSON or has a number or string that JSON cannot express."""
    try:
        return _decode(text)
    except RecursionError:
        raise InvalidRequest("the JSON is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError, ValueError) as problem:
        if isinstance(problem, UnicodeEncodeError):
            raise InvalidRequest(f"not valid JSON: {HALF_A_PAIR}") from None
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        why = str(problem)
        path = _out_of_range(data) if _TOO_LARGE in why else None
        raise InvalidRequest(f"not valid JSON: {_why(data, why)}", path=path) from None


def _why(text: bytes, problem: str) -> str:
    """Describe what is wrong with a text and how to correct it. The description holds nothing of the text."""
    if not text.strip():
        return "the text is empty"
    if text.startswith(b"\xef\xbb\xbf"):
        return "it begins with a byte order mark; save it as UTF-8 without one"
    if text.startswith((b"\xff\xfe", b"\xfe\xff")) or (len(text) > 1 and 0 in text[:2]):
        return "it is UTF-16 or UTF-32; save it as UTF-8"
    if text.lstrip().startswith(b"<"):
        return "it begins with <, like HTML or XML"
    if _TOO_LARGE in problem:
        return "a number is too large for a binary float; write it as a string"
    if problem.startswith(_TOO_LONG):
        return "an integer has more than 4300 digits; write it as a string"
    if "truncated" in problem:
        return "it ends before it is complete"
    if (broken := _not_utf8(text)) is not None:
        return f"it is not UTF-8 {_place(text, broken)}; save it as UTF-8"
    position = _BYTE.search(problem)
    if position is None:
        return problem.removeprefix("JSON is malformed: ")
    at = int(position[1])
    what = problem[: position.start()].removeprefix("JSON is malformed: ").strip()
    if _NOT_A_NUMBER.match(text, at):
        what = "NaN and infinities are not numbers of JSON; write null or a string"
    elif "surrogate" in what:
        what = HALF_A_PAIR
    return f"{what} {_place(text, at)}"


HALF_A_PAIR: Final = "a string holds half of a surrogate pair; write the whole character"


def _place(text: bytes, at: int) -> str:
    line = text.count(b"\n", 0, at) + 1
    column = len(text[text.rfind(b"\n", 0, at) + 1 : at].decode("utf-8", "replace")) + 1
    return f"(line {line}, column {column})"


def _not_utf8(text: bytes) -> int | None:
    """Return the position of the first byte that is not UTF-8; None if there is none."""
    try:
        text.decode()
    except UnicodeDecodeError as problem:
        return problem.start
    return None


def _out_of_range(text: bytes) -> str | None:
    """Return the pointer of the first number that exceeds a binary float; None if there is none or it is not found."""
    try:
        path = _infinite(standard_json.loads(text))
    except (ValueError, RecursionError):
        return None
    return None if path is None else "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in path)


def _infinite(value: Any) -> list[str] | None:
    if isinstance(value, float):
        return [] if math.isinf(value) else None
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        deeper = _infinite(item)
        if deeper is not None:
            return [str(key), *deeper]
    return None


def dumps(value: Any) -> bytes:
    """Write compact JSON as UTF-8. Raises `InvalidRequest` for values that JSON cannot hold."""
    try:
        return _write(value)
    except TypeError:
        # integers beyond 64 bits and decimals are rare, so the fast writer is tried first
        return _dumps_exactly(value, _encoder)


def quoted(text: str) -> str:
    """Write a text as JSON, as `dumps` does, but as a text. Raises `InvalidRequest` for half of a surrogate pair."""
    return _quote(text) if text.isascii() else dumps(text).decode()


def dumps_sorted(value: Any) -> bytes:
    """Write compact JSON with sorted keys, for hashes: equal values give equal bytes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return _dumps_exactly(value, _sorted_encoder)


def _dumps_exactly(value: Any, encoder: msgspec.json.Encoder) -> bytes:
    try:
        return encoder.encode(value)
    except RecursionError:
        raise InvalidRequest("the value is nested too deeply") from None
    except UnicodeError:
        raise InvalidRequest(f"not a JSON value: {HALF_A_PAIR}") from None
    except (TypeError, ValueError, msgspec.MsgspecError) as problem:
        raise InvalidRequest(f"not a JSON value: {problem}") from None
