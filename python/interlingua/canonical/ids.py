"""
Ids: ULIDs for messages, `tu_` ULIDs for tool calls.

A reader gives each tool call of a wire a canonical id. Without a session there is no map of ids, so the id is derived:
the same wire id gives the same canonical id every time, and an id that the wire repeats in a later turn gives another
one. For a wire id that a writer derived, the reader restores the canonical id.
"""

import hashlib
import re
import secrets
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32
_PAIRS: Final = [first + second for first in _ALPHABET for second in _ALPHABET]
_SHIFTS: Final = range(120, -1, -10)
_DERIVED: Final = re.compile(r"^(?:toolu|call)_([0-7][0-9A-HJKMNP-TV-Z]{25}|[0-9]{2,8})$")


def encode_ulid(value: int) -> str:
    """Return a 128-bit number as the 26 characters of a ULID."""
    return "".join([_PAIRS[(value >> shift) & 1023] for shift in _SHIFTS])


class IdSource(Protocol):
    """A source of ids for what a reader finds. Pure code takes one as an argument and never makes ids itself."""

    def tool(self, adapter: str, provider_id: str, occurrence: int) -> str:
        """Return the canonical id of the call with the wire id `provider_id`, the n-th in the request with this id."""
        ...


class DerivedIds:
    """Deterministic canonical ids, for stateless conversion: no clock, no randomness, no memory."""

    def tool(self, adapter: str, provider_id: str, occurrence: int) -> str:
        """Restore the id from which a wire id was derived, or derive one from adapter, wire id and occurrence."""
        return _tool_id(adapter, provider_id, occurrence)


# every request of a conversation repeats the ids of all earlier turns
@lru_cache(maxsize=4096)
def _tool_id(adapter: str, provider_id: str, occurrence: int) -> str:
    derived = _DERIVED.match(provider_id)
    if derived and not occurrence:
        return "tu_" + derived[1]
    digest = hashlib.sha256(f"{adapter}\0{provider_id}\0{occurrence}".encode("utf-8", "surrogatepass")).digest()
    return "tu_" + encode_ulid(int.from_bytes(digest[:16], "big"))


DERIVED_IDS: Final = DerivedIds()


class NamedIds:
    """Ids that are unique among the calls of one reading only: they show to which call a reader assigns a result."""

    def tool(self, adapter: str, provider_id: str, occurrence: int) -> str:
        """Return an id made of the wire, the wire id and its occurrence."""
        return f"{adapter} {provider_id} {occurrence}"


class UlidSource:
    """Strictly increasing ULIDs from a clock (milliseconds since 1970) and a source of random bits.

    When the clock stands still or jumps back, the last id is incremented, so the order of creation is the order of ids.
    """

    def __init__(
        self,
        clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        random_bits: Callable[[int], int] = secrets.randbits,
    ) -> None:
        self._clock_ms = clock_ms
        self._random_bits = random_bits
        self._last = 0

    def next(self) -> str:
        """Return the next ULID."""
        now = self._clock_ms()
        self._last = now << 80 | self._random_bits(80) if now > self._last >> 80 else self._last + 1
        return encode_ulid(self._last)

    def tool_id(self) -> str:
        """Return a new canonical id for a tool call."""
        return "tu_" + self.next()
