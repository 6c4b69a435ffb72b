"""
JSON text to plain data and back, exactly.

Integers keep every digit, whatever their size; a decimal that a binary float cannot hold stays a `Decimal`.
NaN, infinities, numbers out of range and lone surrogates are refused on the way in and on the way out.

msgspec reads (exact integers), orjson writes (fastest on long base64 text); what orjson cannot write, msgspec does.
"""

import math
from decimal import Decimal
from typing import Any, Final

import msgspec
import orjson

from interlingua.canonical.errors import InvalidRequest

_SAFE_DIGITS: Final = 15  # a binary float holds every decimal of up to fifteen significant digits


def _number(text: str) -> float | Decimal:
    value = float(text)
    if math.isinf(value):
        raise ValueError("number out of range")
    if len(text) <= _SAFE_DIGITS or repr(value) == text:
        return value
    exact = Decimal(text)
    return value if Decimal(repr(value)) == exact else exact


_decoder: Final = msgspec.json.Decoder(float_hook=_number)
_encoder: Final = msgspec.json.Encoder(decimal_format="number")
_sorted_encoder: Final = msgspec.json.Encoder(decimal_format="number", order="deterministic")


def loads(text: bytes | str) -> Any:
    """Read JSON. Raises `InvalidRequest` when the text is not JSON or holds a number or string that JSON cannot mean."""
    try:
        return _decoder.decode(text)
    except RecursionError:
        raise InvalidRequest("the JSON is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError, ValueError) as problem:
        raise InvalidRequest(f"not valid JSON: {problem}") from None


def dumps(value: Any) -> bytes:
    """Write compact JSON as UTF-8. Raises `InvalidRequest` for values that JSON cannot hold."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # integers beyond 64 bits and decimals: rarer than anything else, so the fast writer goes first
        return _dumps_exactly(value, _encoder)


def dumps_sorted(value: Any) -> bytes:
    """Write compact JSON with sorted keys: equal values give equal bytes. Used for hashes."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return _dumps_exactly(value, _sorted_encoder)


def _dumps_exactly(value: Any, encoder: msgspec.json.Encoder) -> bytes:
    try:
        return encoder.encode(value)
    except RecursionError:
        raise InvalidRequest("the value is nested too deeply") from None
    except (TypeError, ValueError, UnicodeError, msgspec.MsgspecError) as problem:
        raise InvalidRequest(f"not a JSON value: {problem}") from None
