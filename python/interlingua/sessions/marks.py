"""
Times and ids of sessions. The clock and the source of random bits are arguments.
"""

import secrets
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import encode_ulid

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_DIGIT: Final = {letter: value for value, letter in enumerate(_ALPHABET)}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ORIGIN: Final = datetime(1970, 1, 1)  # noqa: DTZ001 without a zone it is printed without one, and Z is appended
_MICROSECOND: Final = timedelta(microseconds=1)


def _now() -> datetime:
    return datetime.now(UTC)


def microseconds(moment: datetime) -> int:
    """Return a moment as microseconds since 1970, exactly."""
    return (moment - _EPOCH) // _MICROSECOND


def read_time(text: str) -> int:
    """Return the time of a message, which has an offset, as microseconds since 1970. Raises `InvalidRequest` for one
    without an offset."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidRequest("the time must be a date that exists, as RFC 3339 writes it", path="/created_at") from None
    if moment.tzinfo is None:
        raise InvalidRequest("the time must state its offset, such as Z", path="/created_at")
    return microseconds(moment)


def write_time(value: int) -> str:
    """Return microseconds since 1970 as a canonical time: UTC with six fractional digits."""
    return f"{(_ORIGIN + timedelta(microseconds=value)).isoformat(timespec='microseconds')}Z"


def decode_ulid(text: str) -> int:
    """Return the number that a ULID encodes."""
    value = 0
    for letter in text:
        value = value << 5 | _DIGIT[letter]
    return value


class Marks:
    """The source of times and ids. `now` is the clock, `random_bits` returns the given number of random bits. Threads
    may share one."""

    def __init__(
        self, now: Callable[[], datetime] = _now, random_bits: Callable[[int], int] = secrets.randbits
    ) -> None:
        self._now = now
        self._random_bits = random_bits
        self._lock = threading.Lock()
        self._last = 0
        self._moment = 0

    def now(self) -> int:
        """Return the current time in microseconds since 1970."""
        return microseconds(self._now())

    def moment(self) -> int:
        """Return the current time in microseconds, later than all such times before it: objects ordered by these times
        are in the order in which they were made."""
        with self._lock:
            self._moment = max(self._moment + 1, self.now())
            return self._moment

    def session_id(self) -> str:
        """Return an id of 128 random bits: one id does not help to guess another."""
        with self._lock:
            return f"sess_{encode_ulid(self._random_bits(128))}"

    def token(self) -> str:
        """Return 192 random bits in hexadecimal, for the id of an object that a client stores."""
        with self._lock:
            return f"{self._random_bits(192):048x}"

    def ulid(self) -> str:
        """Return a ULID that is greater than all before it."""
        with self._lock:
            self._last = self._behind(self._last)
            return encode_ulid(self._last)

    def message_id(self, last: str | None) -> str:
        """Return a ULID that is greater than the last one of a session, even when the clock went back."""
        return self.message_ids(last, 1)[0]

    def message_ids(self, last: str | None, count: int) -> list[str]:
        """Return `count` such ULIDs, in order."""
        with self._lock:
            first = self._behind(0 if last is None else decode_ulid(last))
        ids: list[str] = []
        while len(ids) < count:
            # consecutive numbers differ in their last letters
            text = encode_ulid(first + len(ids))
            start = _DIGIT[text[-1]]
            ids += [text[:-1] + letter for letter in _ALPHABET[start : start + count - len(ids)]]
        return ids

    def tool_id(self) -> str:
        """Return a new canonical id for a tool call."""
        return f"tu_{self.ulid()}"

    def _behind(self, last: int) -> int:
        milliseconds = microseconds(self._now()) // 1000
        return milliseconds << 80 | self._random_bits(80) if milliseconds > last >> 80 else last + 1
