"""
The usage of keys: in the memory of one process, or in a file that the worker processes of a server share, so that a
limit holds for all workers together (spec/9-service.md#workers).
"""

import sqlite3
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol

from interlingua.canonical import json

_SECONDS_PER_MINUTE = 60.0
_BUSY_S = 5.0
"""How long a worker waits for the others. Their transactions take microseconds."""


@dataclass(slots=True)
class Bucket:
    """The rest of a limit per minute. It refills evenly. It may fall below 0, because usage is known afterwards."""

    left: float
    at: float

    def refill(self, limit: float, now: float) -> None:
        """Add what has refilled since the last time; `limit` is per minute, `now` in seconds."""
        # a limit below one call per minute still allows one call after the wait for it
        self.left = min(max(limit, 1.0), self.left + (now - self.at) * limit / _SECONDS_PER_MINUTE)
        self.at = now

    def wait(self, limit: float, amount: float) -> float:
        """Seconds until this much has refilled."""
        return max(0.0, (amount - self.left) * _SECONDS_PER_MINUTE / limit)


@dataclass(slots=True)
class Meter:
    """The usage of a key: the buckets of its limits, and its cost on a day, in USD."""

    calls: Bucket | None = None
    tokens: Bucket | None = None
    day: date = date.min
    spent: Decimal = Decimal(0)


class Meters(Protocol):
    """The store of the meters of keys."""

    def of(self, name: str) -> AbstractContextManager[Meter]:
        """The meter of a key, by its name: a key that gets another secret keeps its usage. Changes that the block makes
        are stored, unless the block raises."""
        ...


class OwnMeters:
    """Meters in the memory of this process."""

    def __init__(self) -> None:
        self._meters: dict[str, Meter] = {}

    @contextmanager
    def of(self, name: str) -> Generator[Meter]:
        """The meter of a key."""
        yield self._meters.setdefault(name, Meter())


class SharedMeters:
    """Meters in a file that several processes of this machine change, one after another.

    The clock of the buckets must be the same in all processes, as `time.monotonic` is. The file exists for the other
    processes, and not for durability: its changes outlive the process that made them, but not a failure of the machine.
    """

    def __init__(self, file: Path) -> None:
        # this class begins and ends the transactions itself
        self._database = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = OFF")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS meter (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID"
        )

    @contextmanager
    def of(self, name: str) -> Generator[Meter]:
        """The meter of a key. No other process changes it meanwhile, so the block must not wait for anything."""
        execute = self._database.execute
        execute("BEGIN IMMEDIATE")
        try:
            row = execute("SELECT state FROM meter WHERE name = ?", (name,)).fetchone()
            meter = Meter() if row is None else _decode(row[0])
            yield meter
            execute("INSERT OR REPLACE INTO meter VALUES (?, ?)", (name, _encode(meter)))
        except BaseException:
            execute("ROLLBACK")
            raise
        execute("COMMIT")

    def close(self) -> None:
        """Close the connection to the file."""
        self._database.close()


def _encode(meter: Meter) -> str:
    buckets = [None if bucket is None else [bucket.left, bucket.at] for bucket in (meter.calls, meter.tokens)]
    return json.dumps([*buckets, meter.day.isoformat(), str(meter.spent)]).decode()


def _decode(state: str) -> Meter:
    calls, tokens, day, spent = json.loads(state)
    return Meter(_bucket(calls), _bucket(tokens), date.fromisoformat(day), Decimal(spent))


def _bucket(state: Any) -> Bucket | None:
    return None if state is None else Bucket(float(state[0]), float(state[1]))
