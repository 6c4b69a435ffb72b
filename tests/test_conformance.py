"""
The conformance suite against the reference, in this process: one test for each case folder and row file. `make test`
runs the whole suite over the protocol besides, so here a share is enough.
"""

import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "conformance"))

from runner.cases import read  # noqa: E402
from runner.discover import Check  # noqa: E402
from runner.lint import lint  # noqa: E402
from runner.mutants import MUST_SCORE_NOTHING, Plans, all_mutants, hunt, passes, planned, reference  # noqa: E402
from runner.plug import FunctionPlug  # noqa: E402
from runner.session import Session  # noqa: E402
from runner.verdict import BAD, run, unclaimed  # noqa: E402

CASES = read()
PLANS: Plans = {}
BY_PATH = defaultdict(list)
for case in CASES:
    BY_PATH[case.path].append(case)


@cache
def session() -> Session:
    return Session(FunctionPlug(reference()))


@cache
def checks() -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = defaultdict(list)
    for check in planned(CASES, sorted(session().adapters), PLANS):
        found[check.case.path].append(check)
    return found


def test_every_adapter_is_asked_everything() -> None:
    """What a plug does not support is passed over: a function that is called otherwise would not be asked any more."""
    supported = {name: set(operations) for name, operations in session().adapters.items()}
    for name, operations in supported.items():
        assert {"to_wire", "stream", "stream_encode", "relay", "error", "to_wire_error", "estimate"} <= operations, name
    assert len({frozenset(operations) for operations in supported.values()}) == 1


@pytest.mark.share(48)
@pytest.mark.parametrize("path", sorted(BY_PATH))
def test_the_reference_conforms(path: str) -> None:
    results = list(run(session(), checks()[path]))

    wrong = [
        f"{result.check.id}: {result.message}" for result in results if result.outcome in BAD and not result.check.draft
    ]
    assert not wrong, f"{len(wrong)} of {len(results)} checks\n" + "\n".join(wrong)


def test_nothing_that_the_reference_ships_is_unsupported() -> None:
    """The reference claims every operation of every adapter and every capability: what it does not claim is not checked."""
    missing = {unclaimed(session(), check) for found in checks().values() for check in found}

    assert missing == {None}


def test_the_suite_is_what_it_claims_to_be() -> None:
    problems, _ = lint()

    assert problems == []


@pytest.mark.parametrize("path", all_mutants(), ids=lambda path: path.stem)
def test_a_broken_implementation_is_caught_on_every_wire(path: Path) -> None:
    assert hunt(path, CASES, reference(), PLANS).holes == []


@pytest.mark.parametrize("name", MUST_SCORE_NOTHING)
def test_an_implementation_of_nothing_scores_nothing(name: str) -> None:
    assert passes(ROOT / "conformance" / "plugs" / f"{name}.py", CASES, PLANS) == []
