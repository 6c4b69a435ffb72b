"""
The expected exceptions: `expected.json`, each with a reason. One that no longer happens fails (test_oracles.py).

An exception names the check, the judge, the cases (a glob) and a part of what the judge says; it covers nothing else.
"""

import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import judges

from interlingua import adapters

FILE = Path(__file__).with_name("expected.json")


@dataclass(frozen=True)
class Expected:
    """One exception."""

    check: str
    judge: str
    case: str
    says: str
    reason: str

    def covers(self, check: str, judge: str, case: str, told: str) -> bool:
        """Whether this is what was told."""
        return (check, judge) == (self.check, self.judge) and fnmatchcase(case, self.case) and self.says in told


@cache
def expected() -> tuple[Expected, ...]:
    """All exceptions of the wires that are here."""
    entries = [Expected(**entry) for entry in json.loads(FILE.read_text())]
    return tuple(entry for entry in entries if entry.judge in known_judges())


def known_judges() -> tuple[str, ...]:
    """The judges whose wire has an adapter, told by their names, without importing any SDK: `WIRE` or `WIRE_PROVIDER`."""
    wires = adapters.names()
    return tuple(name for name in judges.NAMES if any(f"{name}_".startswith(f"{wire}_") for wire in wires))


def unexpected(check: str, judge: str, case: str, problems: list[str]) -> list[str]:
    """The problems that no exception covers."""
    return [told for told in problems if not any(entry.covers(check, judge, case, told) for entry in expected())]
