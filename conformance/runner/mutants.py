"""`mutants`: broken plugs that must be caught, on every wire. What no named check catches is a hole in the suite.

A mutant is a file in `mutants/` with a docstring (what is broken), `handle(message, reference)`, where `reference` answers
as the reference does, and

- `CAUGHT_BY`: patterns of checks. A pattern that begins with `*` and one that holds `{wire}` must find a failing check on
  each wire, any other one at all;
- `NOT_ON`, optional: for a pattern, or for `*`, the wires on which the defect cannot exist, each with the reason.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .cases import Case, matches, read
from .discover import Check, plan
from .plug import FunctionPlug, PlugError
from .schema import CONFORMANCE
from .session import Session
from .verdict import run

Handle = Callable[[dict[str, Any]], dict[str, Any]]
MUST_SCORE_NOTHING = ("null", "echo")
EVERYWHERE = ""


def reference() -> Handle:
    """The reference's plug as a function; `python/` is found beside the suite when it is not installed."""
    try:
        from interlingua.plug import handle
    except ImportError:
        sys.path.insert(0, str(CONFORMANCE.parent / "python"))
        try:
            from interlingua.plug import handle
        except ImportError as error:
            why = f"the mutants wrap the reference, and this Python lacks what it needs ({error}); try `make mutants`"
            raise PlugError(why) from None
    return handle


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"mutant_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_mutants(pattern: str | None = None) -> list[Path]:
    found = sorted(path for path in (CONFORMANCE / "mutants").glob("*.py") if not path.stem.startswith("_"))
    return [path for path in found if pattern is None or pattern in path.stem]


@dataclass
class Found:
    """What became of a mutant: for each wire, and for the patterns without one, what caught it or what did not."""

    name: str
    caught: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    missed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    excused: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @property
    def holes(self) -> list[str]:
        return [f"{pattern} on {wire}" if wire else pattern for wire, found in self.missed.items() for pattern in found]

    def cell(self, wire: str) -> str:
        if self.missed.get(wire):
            return "SURVIVES"
        if self.caught.get(wire):
            return "✓"
        return "–" if wire in self.excused or wire == EVERYWHERE else ""


Plans = dict[tuple[str, ...], list[Check]]
"""What there is to check of one list of cases, by the wires."""


def planned(cases: list[Case], wires: list[str], plans: Plans) -> list[Check]:
    """The plan for some wires: made once, for it takes longer than most mutants live."""
    key = tuple(wires)
    if key not in plans:
        plans[key] = plan(cases, wires)
    return plans[key]


def hunt(path: Path, cases: list[Case], sound: Handle, plans: Plans) -> Found:
    """Look for a failing check for each pattern on each wire. A check counts only when the reference passes it.

    `plans` keeps what was planned of these cases.
    """
    module = load(path)
    broken = Session(FunctionPlug(lambda message: module.handle(message, sound)))
    whole = Session(FunctionPlug(sound))
    found = Found(path.stem)
    try:
        wires = sorted(broken.adapters)
        checks = planned(cases, wires, plans)
        for pattern, wire in _sought(module, wires, found):
            caught = _catch(broken, whole, _fitting(checks, pattern, wire))
            place = found.missed if caught is None else found.caught
            place.setdefault(wire, []).append(pattern if caught is None else caught)
    finally:
        broken.close()
        whole.close()
    return found


def _sought(module: ModuleType, wires: list[str], found: Found) -> Iterator[tuple[str, str]]:
    excuses: dict[str, dict[str, str]] = getattr(module, "NOT_ON", {})
    for pattern in module.CAUGHT_BY:
        if not pattern.startswith("*") and "{wire}" not in pattern:
            yield pattern, EVERYWHERE
            continue
        for wire in wires:
            reason = excuses.get(pattern, {}).get(wire) or excuses.get("*", {}).get(wire)
            if reason is None:
                yield pattern, wire
            else:
                found.excused.setdefault(wire, {})[pattern] = reason


def _fitting(checks: list[Check], pattern: str, wire: str) -> list[Check]:
    """The checks of a pattern, on one wire; the small cases first."""
    sought = pattern.replace("{wire}", wire)
    own = sought == pattern and wire != EVERYWHERE
    return [check for check in checks if matches(sought, check.id) and (not own or check.id.partition("/")[0] == wire)]


def _catch(broken: Session, whole: Session, checks: list[Check]) -> str | None:
    for check in checks:
        result = next(run(broken, [check]))
        if result.outcome in ("fail", "error") and next(run(whole, [check])).outcome == "pass":
            return f"{check.id}: {result.message}"
    return None


def passes(path: Path, cases: list[Case], plans: Plans) -> list[str]:
    """The checks that a plug passes; `plans` as in `hunt`."""
    session = Session(FunctionPlug(load(path).handle))
    try:
        checks = planned(cases, sorted(session.adapters), plans)
        return [result.check.id for result in run(session, checks) if result.outcome == "pass"]
    finally:
        session.close()


# --- the verb ---------------------------------------------------------------------------------------------------------------


def run_mutants(roots: list[Path] | None = None, pattern: str | None = None) -> int:
    """Run all mutants and the plugs that must score nothing, on all processors; 1 when something survives."""
    reference()  # tell early, and once, when it is not there
    paths = all_mutants(pattern)
    nothing = MUST_SCORE_NOTHING if pattern is None else ()
    with ProcessPoolExecutor(max_workers=max(os.cpu_count() or 1, 2)) as pool:
        hunts = [pool.submit(_hunt, path, roots) for path in paths]
        scores = [pool.submit(_passes, name, roots) for name in nothing]
        found = [one.result() for one in hunts]
        scored = [one.result() for one in scores]
    print(table(found), end="")
    for one in found:
        for hole in one.holes:
            print(f"SURVIVES  {one.name}: nothing fails at {hole}")
    for name, passed in zip(nothing, scored, strict=True):
        told = f"SCORES    {name}: {len(passed)} passes, the first {passed[0]}" if passed else f"nothing   {name}"
        print(told)
    survivors = sum(bool(one.holes) for one in found)
    print(f"{len(found) - survivors} caught, {survivors} survive")
    return int(bool(survivors or any(scored)))


@cache
def _cases(roots: tuple[Path, ...] | None) -> list[Case]:
    logging.disable(logging.WARNING)  # the reference writes a line for each dropped block
    return read(list(roots) if roots else None)


_PLANS: Plans = {}  # of the cases of the one run that a process is part of


def _hunt(path: Path, roots: list[Path] | None) -> Found:
    return hunt(path, _cases(tuple(roots) if roots else None), reference(), _PLANS)


def _passes(name: str, roots: list[Path] | None) -> list[str]:
    return passes(CONFORMANCE / "plugs" / f"{name}.py", _cases(tuple(roots) if roots else None), _PLANS)


def table(found: list[Found]) -> str:
    """Which defect is caught on which wire; – where it cannot exist, with the reasons below."""
    wires = sorted({wire for one in found for part in (one.caught, one.missed, one.excused) for wire in part if wire})
    columns = [*wires, EVERYWHERE] if any(EVERYWHERE in (*one.caught, *one.missed) for one in found) else wires
    names = [wire or "no wire" for wire in columns]
    width = max((len(one.name) for one in found), default=0)
    rows = [" " * width + "  " + "  ".join(names)]
    for one in found:
        cells = [one.cell(wire).center(len(name)) for wire, name in zip(columns, names, strict=True)]
        rows.append(f"{one.name:<{width}}  " + "  ".join(cells))
    reasons = [
        f"  – {one.name} {pattern} on {wire}: {reason}"
        for one in found
        for wire, excuses in sorted(one.excused.items())
        for pattern, reason in excuses.items()
    ]
    return "\n".join([*rows, "", *reasons, *([""] if reasons else [])]) + "\n"
