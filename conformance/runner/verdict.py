"""Outcomes, declared gaps, profiles, and the run itself."""

from __future__ import annotations

import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .cases import matches
from .compare import MISSING, Difference
from .discover import Check
from .plug import InternalError, PlugCrashError, PlugError
from .session import Failure, Refused, Session

OUTCOMES = ("pass", "fail", "gap", "stale", "error", "unreached", "unsupported")
BAD = ("fail", "stale", "error", "unreached")
LEVELS = ("must", "should", "may")
CRASHES_IN_A_ROW = 3
MANY = 20
NOTHING = "no checks"


class GapError(Exception):
    """The gap file is wrong."""


@dataclass
class Gap:
    """A declared failure: run like everything else, and expected to fail as declared."""

    check: str
    reason: str
    issue: str
    fails: str | None = None
    many: bool = False
    covered: list[str] = field(default_factory=list)


def read_gaps(path: Path) -> list[Gap]:
    """The gaps of a TOML file; GapError names what is wrong."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise GapError(f"{path}: {error}") from error
    gaps: list[Gap] = []
    for number, entry in enumerate(document.get("gap", [])):
        unknown = sorted(set(entry) - {"check", "reason", "issue", "fails", "many"})
        if unknown:
            raise GapError(f"{path}: gap {number + 1} has an unknown member {unknown[0]!r}")
        for name in ("check", "reason", "issue"):
            if not entry.get(name):
                raise GapError(f"{path}: gap {number + 1} ({entry.get('check', '?')}) needs {name!r}")
        gaps.append(Gap(**entry))
    return gaps


def assign_gaps(gaps: list[Gap], checks: list[Check], renamed: dict[str, str], partial: bool) -> dict[str, Gap]:
    """Which gap covers which check. A pattern that matches nothing, or too much unannounced, is an error."""
    found: dict[str, Gap] = {}
    for gap in gaps:
        pattern = _renamed(gap.check, renamed)
        exact = "*" not in pattern and "?" not in pattern
        gap.covered = [check.id for check in checks if (check.id == pattern if exact else matches(pattern, check.id))]
        if not gap.covered and not partial:
            raise GapError(f"the gap {gap.check!r} matches no check: was it mended, or is it misspelt?")
        if len(gap.covered) > MANY and not gap.many:
            raise GapError(
                f"the gap {gap.check!r} covers {len(gap.covered)} checks; say `many = true` if that is meant"
            )
        for check_id in gap.covered:
            found.setdefault(check_id, gap)
    return found


def _renamed(pattern: str, renamed: dict[str, str]) -> str:
    path, mark, name = pattern.partition("#")
    return renamed.get(path, path) + mark + name


@dataclass
class Result:
    """What became of one check. `follows` is the check whose failure is the reason that this one is unreached."""

    check: Check
    outcome: str
    message: str = ""
    difference: Difference | None = None
    note: str | None = None
    milliseconds: float = 0.0
    follows: str | None = None
    gap: Gap | None = None
    scored: bool = True

    def line(self) -> dict[str, Any]:
        """The line of report.jsonl."""
        check = self.check
        line: dict[str, Any] = {
            "kind": "check",
            "id": check.id,
            "adapter": check.case.adapter,
            "outcome": self.outcome,
            "level": check.level,
            "profiles": list(check.profiles),
            "milliseconds": round(self.milliseconds, 3),
        }
        if check.draft:
            line["draft"] = True
        if not self.scored:
            line["scored"] = False
        if self.message:
            line["message"] = self.message
        if self.difference is not None:
            line["pointer"] = self.difference.pointer
            for name in ("expected", "actual"):
                value = getattr(self.difference, name)
                if value is not MISSING:
                    line[name] = value
        if self.follows:
            line["follows"] = self.follows
        if self.note:
            line["note"] = self.note
        if self.gap is not None:
            line["gap"] = {"check": self.gap.check, "reason": self.gap.reason, "issue": self.gap.issue}
        if check.capabilities:
            line["needs"] = list(check.capabilities)
        if check.case.flags:
            line["flags"] = check.case.flags
        if check.case.meta.get("spec"):
            line["spec"] = check.case.meta["spec"]
        return line


def run(session: Session, checks: list[Check], gaps: dict[str, Gap] | None = None) -> Iterator[Result]:
    """Run the checks in order. Three crashes in a row end the run; the rest is unreached.

    Unreached is also a check of a case whose question an earlier one asked in vain: one refusal is one failure.
    """
    crashes = 0
    gaps = gaps or {}
    in_vain: dict[str, str] = {}  # the questions of a case without a usable answer, and the check that asked first
    for number, check in enumerate(checks):
        if number and check.case.path != checks[number - 1].case.path:
            in_vain = {}
        result = _run_one(session, check, in_vain)
        crashed = result.outcome == "error" and result.note == "crash"
        if result.outcome not in ("unsupported", "unreached"):  # nothing was asked
            crashes = crashes + 1 if crashed else 0
        yield with_gap(result, gaps)
        if crashes >= CRASHES_IN_A_ROW:
            reason = f"not run: the plug crashed {crashes} times in a row"
            yield from (Result(rest, "unreached", reason) for rest in checks[number + 1 :])
            return


def _run_one(session: Session, check: Check, in_vain: dict[str, str]) -> Result:
    missing = unclaimed(session, check)
    if missing is not None:
        return Result(check, "unsupported", missing)
    start = time.perf_counter()
    result = _outcome(check, session, in_vain)
    result.milliseconds = (time.perf_counter() - start) * 1000
    return result


def unclaimed(session: Session, check: Check) -> str | None:
    """The first operation or capability that the plug does not claim."""
    for operation, adapter in check.needs:
        if not session.claims(operation, adapter):
            return f"{operation} is not claimed" + (f" for {adapter}" if adapter else "")
    claimed = session.hello.get("capabilities")
    if claimed is not None:
        for word in check.capabilities:
            if word not in claimed:
                return f"the capability {word} is not claimed"
    return None


def _outcome(check: Check, session: Session, in_vain: dict[str, str]) -> Result:
    try:
        return Result(check, "pass", note=check.run(session, check.case))
    except (Failure, Refused, PlugError) as problem:
        first = in_vain.setdefault(problem.question, check.id) if problem.question else check.id
        result = _failed(check, problem)
        if first != check.id:
            result.outcome, result.note, result.follows = "unreached", None, first
        elif isinstance(problem, PlugError) and not isinstance(problem, InternalError):
            session.plug.restart()
        return result
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError) as error:
        # The answer was not of the expected shape: a schema check of the same case says where.
        return Result(check, "fail", f"the answer has not the expected shape ({type(error).__name__}: {error})")


def _failed(check: Check, problem: Failure | Refused | PlugError) -> Result:
    if isinstance(problem, PlugError):
        word = _ERROR_WORDS.get(type(problem).__name__, "error")
        note = "crash" if isinstance(problem, PlugCrashError) else None
        return Result(check, "error", f"{word}: {problem}", note=note)
    return Result(check, "fail", str(problem), problem.difference if isinstance(problem, Failure) else None)


_ERROR_WORDS = {
    "PlugCrashError": "crash",
    "PlugTimeoutError": "timeout",
    "ProtocolError": "protocol violation",
    "InternalError": "caught crash",
}


def with_gap(result: Result, gaps: dict[str, Gap]) -> Result:
    """The result of a check for which a gap may be declared: its own, or that of the check whose failure it follows."""
    gap = gaps.get(result.check.id) or gaps.get(result.follows or "")
    if gap is None or result.outcome == "unsupported" or (result.outcome == "unreached" and not result.follows):
        return result
    result.gap = gap
    if result.outcome == "pass":
        result.outcome = "stale"
        result.message = f"declared as a gap ({gap.reason}), yet it passes: remove it from the gap file"
    elif (
        gap.fails
        and not _without_pointer(result.message).startswith(gap.fails)
        and not result.message.startswith(gap.fails)
    ):
        result.outcome = "stale"
        result.message = f"declared to fail with {gap.fails!r}, but fails otherwise: {result.message}"
    else:
        result.outcome = "gap"
    return result


def _without_pointer(message: str) -> str:
    head, _, rest = message.partition(": ")
    return rest if head.startswith("/") else message


# --- counts and profiles -----------------------------------------------------------------------------------------------------


def counts(lines: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Per level, how often each outcome came; without what is not counted."""
    table = {level: Counter[str]() for level in LEVELS}
    for line in lines:
        if counted(line):
            table[line["level"]][line["outcome"]] += 1
    return {level: {outcome: table[level][outcome] for outcome in OUTCOMES} for level in LEVELS if table[level]}


def clean(lines: list[dict[str, Any]]) -> bool:
    """Nothing unexpected: no fail, stale, error or unreached outside drafts."""
    return not any(line["outcome"] in BAD for line in lines if counted(line))


def counted(line: dict[str, Any]) -> bool:
    """Drafts, and checks that are younger than the newest release, are run and shown but never counted."""
    return not line.get("draft") and line.get("scored", True)


def profiles_of(lines: list[dict[str, Any]]) -> list[str]:
    return sorted({profile for line in lines for profile in line["profiles"]})


def conforms(lines: list[dict[str, Any]], profile: str) -> tuple[bool, str]:
    """Whether every must-check of a profile passes; if not, why not in a few words."""
    wanted = [line for line in lines if profile in line["profiles"] and line["level"] == "must" and counted(line)]
    if not wanted:
        return False, NOTHING
    tally = Counter(line["outcome"] for line in wanted if line["outcome"] != "pass")
    if tally:
        told = ", ".join(f"{number} {outcome}" for outcome, number in sorted(tally.items()))
        return False, f"{told} of {len(wanted)}"
    return True, f"{len(wanted)} checks"
