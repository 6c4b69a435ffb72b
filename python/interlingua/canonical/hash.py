"""
Equality of messages, and the hash of their content (spec/1-values.md#equality).

Both compare the canonical text of a value. It leaves out an adapter's own data (`provider_raw`, `provider_state`), the
cache hint, and members that hold their default, which do not change the meaning of a message. The hash also leaves out
the envelope, so the same content has the same hash in every session.
"""

import hashlib
from decimal import Decimal
from typing import Any, Final, cast

import msgspec

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest, too_deep
from interlingua.canonical.texts import written_out

_NOT_COMPARED: Final = frozenset(("provider_raw", "provider_state", "cache"))
_HASHED: Final = ("role", "name", "content")
_FREE: Final = frozenset(("input", "value", "raw", "extra"))
_FALSE: Final = frozenset(("is_error", "refusal", "citations_enabled", "critical"))  # false when absent
_ZERO: Final = frozenset(("cached_input_tokens", "cache_creation_input_tokens"))  # 0 when absent
_SAFE: Final = 2**53  # the integers that every implementation holds, and that need no exponent


def canonical_text(message: dict[str, Any]) -> bytes:
    """Return the text by which messages are compared: JSON as RFC 8785 writes it, with exact numbers.

    Raises `InvalidRequest` for a value that JSON cannot hold.
    """
    try:
        return json.dumps(_ordered(_compared(message)))
    except RecursionError:
        raise too_deep() from None


def content_hash(message: Any) -> str:
    """Return the SHA-256 of a message's role, name and content, as hex.

    `message` is plain data or a `Message`; anything else raises `InvalidRequest`. The hash is equal in every process
    and in every language; it differs whenever a block, the order of blocks, the role or the name differs.
    """
    data = json.plain(message)
    if not isinstance(data, dict):
        raise InvalidRequest(f"a message must be plain data or a Message, not {type(message).__name__}")
    whole = written_out(data, "Message")
    hashed = {name: whole[name] for name in _HASHED if name in whole}
    return hashlib.sha256(canonical_text(hashed)).hexdigest()


def _compared(value: Any) -> Any:
    """Return a value without the members that do not count. Free JSON (tool input, opaque items) stays whole."""
    if isinstance(value, dict):
        is_call = value.get("type") == "tool_use"
        compared: dict[str, Any] = {}
        for name, item in value.items():
            if name in _NOT_COMPARED or item is None:
                continue
            held = item if name in _FREE else _compared(item)
            if not _is_default(name, held, is_call):
                compared[name] = held
        return compared
    if isinstance(value, (list, tuple)):
        return [_compared(item) for item in value]
    return value


def _is_default(name: str, value: Any, is_call: bool) -> bool:
    if name in _FALSE:
        return value is False
    if name in _ZERO:
        return not isinstance(value, bool) and value == 0
    if name == "schema_version":
        return not isinstance(value, bool) and value == 1
    if name in ("metadata", "extra"):
        return value == {}
    if name == "citations":
        return value == []
    if name == "status":
        return value == "complete"
    return name == "kind" and is_call and value == "function"


def _ordered(value: Any) -> Any:
    """Return a value whose members are in the order of RFC 8785, and whose numbers are written in one way."""
    if isinstance(value, dict):
        return {name: _ordered(value[name]) for name in sorted(value, key=_utf16)}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    if isinstance(value, (float, Decimal)) or (
        isinstance(value, int) and not isinstance(value, bool) and not -_SAFE < value < _SAFE
    ):
        return msgspec.Raw(_number(value).encode())
    return value


def _utf16(name: Any) -> bytes:
    if not isinstance(name, str):
        raise InvalidRequest(f"the name of a member must be a text, not {type(name).__name__}")
    return name.encode("utf-16-be", "surrogatepass")


def _number(value: Any) -> str:
    """Write a number's decimal value in the layout of ECMAScript, which RFC 8785 takes, with all of its digits."""
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not exact.is_finite():
        raise InvalidRequest("not a JSON value: NaN and infinities are not numbers of JSON")
    sign, digit_tuple, power = exact.as_tuple()
    exponent = cast("int", power)  # a number that is not finite has a letter here
    written = "".join(map(str, digit_tuple))
    point = len(written) + exponent  # where the decimal point is, counted from the first digit
    digits = written.lstrip("0")
    point -= len(written) - len(digits)
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    minus = "-" if sign else ""
    if len(digits) <= point <= 21:
        return minus + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1:+d}"
