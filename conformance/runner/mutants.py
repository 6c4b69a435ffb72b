"""`mutants`: broken plugs that must be caught. A mutant that no named check catches is a hole in the suite.

A mutant is a file in `mutants/` with a docstring (what is broken), `CAUGHT_BY` (patterns of checks, at least one of which
must fail for each pattern) and `handle(message, reference)`, where `reference` answers as the reference does.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from .cases import Case, matches
from .discover import plan
from .plug import FunctionPlug, PlugError
from .schema import CONFORMANCE
from .session import Session
from .verdict import run

Handle = Callable[[dict[str, Any]], dict[str, Any]]
MUST_SCORE_NOTHING = ("null", "echo")


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


def survivors(path: Path, cases: list[Case], sound: Handle, passing: set[str] | None = None) -> tuple[list[str], str]:
    """The patterns of a mutant that no failing check matches, and how it was caught. Only checks that pass on the
    reference can tell the mutant from it."""
    module = load(path)
    caught_by: list[str] = module.CAUGHT_BY
    fresh = module.mutant(sound) if hasattr(module, "mutant") else lambda message: module.handle(message, sound)
    session = Session(FunctionPlug(fresh))
    checks = [
        check
        for check in plan(cases, sorted(session.adapters))
        if any(matches(pattern, check.id) for pattern in caught_by)
    ]
    if passing is not None:
        checks = [check for check in checks if check.id in passing]
    caught: dict[str, str] = {}
    for result in run(session, checks):
        if result.outcome not in ("fail", "error"):
            continue
        for pattern in caught_by:
            if pattern not in caught and matches(pattern, result.check.id):
                caught[pattern] = f"{result.check.id}: {result.message}"
        if len(caught) == len(caught_by):
            break
    return [pattern for pattern in caught_by if pattern not in caught], next(iter(caught.values()), "")


def run_mutants(cases: list[Case], pattern: str | None = None) -> int:
    """Run all mutants and the plugs that must score nothing; 1 when something survives."""
    logging.disable(logging.WARNING)  # the reference writes a line for each dropped block
    sound = reference()
    session = Session(FunctionPlug(sound))
    passing = {
        result.check.id for result in run(session, plan(cases, sorted(session.adapters))) if result.outcome == "pass"
    }
    status = 0
    for path in all_mutants(pattern):
        missed, how = survivors(path, cases, sound, passing)
        if missed:
            status = 1
            print(f"SURVIVES  {path.stem}: nothing fails at {', '.join(missed)}")
        else:
            print(f"caught    {path.stem}  {how[:160]}")
    for name in MUST_SCORE_NOTHING if pattern is None else ():
        passed = passes(CONFORMANCE / "plugs" / f"{name}.py", cases)
        status = status or bool(passed)
        print(
            f"{'SCORES   ' if passed else 'nothing  '} {name}"
            + (f": {len(passed)} passes, the first {passed[0]}" if passed else "")
        )
    return int(status)


def passes(path: Path, cases: list[Case]) -> list[str]:
    """The checks that a plug passes."""
    session = Session(FunctionPlug(load(path).handle))
    return [
        result.check.id for result in run(session, plan(cases, sorted(session.adapters))) if result.outcome == "pass"
    ]
