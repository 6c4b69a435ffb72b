"""The short form of `make chaos`, and that it would see what is wrong."""

from types import ModuleType
from typing import Any

import pytest

from chaos import over_grpc, over_http
from chaos.faults import FAULTS, Asked
from chaos.judging import judge
from chaos.plans import Run, plan
from chaos.storm import storm

pytestmark = pytest.mark.asyncio

GOOD = next(fault for fault in FAULTS if fault.name == "none")


@pytest.mark.parametrize("over", [over_grpc, over_http], ids=["grpc", "http"])
async def test_a_short_storm(over: ModuleType) -> None:
    """Three rounds: no violation, nothing leaks."""
    report = await storm(20_261_122, range(90), size=30, over=over)
    assert report.violations == 0, (
        report.table() + str(report.wrong) + str([run.violations for run, _ in report.violating])
    )
    assert {"answered", "by another", "failed"} <= report.counts["all"].keys()


async def test_a_plan_is_a_function_of_seed_and_number() -> None:
    first, again, other = plan(1, 5), plan(1, 5), plan(2, 5)
    assert (first.chain, first.faults, first.deadline) == (again.chain, again.faults, again.deadline)
    assert (first.chain, first.faults) != (other.chain, other.faults)


def streamed(**members: Any) -> Run:
    """A run of a stream that went well."""
    run = next(run for run in (plan(1, number) for number in range(100)) if run.stream)
    run.deadline = run.leaves = None
    model = run.chain[0]
    provider = model.partition(":")[0]
    run.seen = [(provider, GOOD)]
    true = Asked(run.number, provider, "", True, run.chance)
    response = {
        "requested_model": model,
        "usage": {**true.usage, "cost_usd": "0.1"},
        "message": {"content": [{"type": "text", "text": true.text}], "metadata": {"status": "complete"}},
    }
    run.events = [
        {"type": "message_start"},
        *({"type": "text_delta", "text": part} for part in (true.text[:5], true.text[5:])),
        {"type": "message_complete", "response": response},
    ]
    return run


async def test_a_good_run_has_no_violation() -> None:
    run = streamed()
    assert (judge(run, over_grpc.typed), run.violations) == ("answered", [])


async def test_what_is_wrong_is_seen() -> None:
    """Doubled text, a fail-over after the first event, a wrong price, no end, two ends, an untold attempt."""

    def doubled(run: Run) -> None:
        run.events.insert(2, run.events[1])

    def another_afterwards(run: Run) -> None:
        run.seen.append((run.chain[1].partition(":")[0], GOOD))

    def unpaid(run: Run) -> None:
        run.events[-1]["response"]["usage"]["output_tokens"] += 1

    def no_end(run: Run) -> None:
        run.events.pop()

    def two_ends(run: Run) -> None:
        run.events.append(run.events[-1])

    def untold(run: Run) -> None:
        run.seen.insert(0, run.seen[0])

    def backwards(run: Run) -> None:
        run.seen.insert(0, (run.chain[2].partition(":")[0], GOOD))

    def cancelled_by_nobody(run: Run) -> None:
        run.left = True
        run.events.pop()

    for spoil in (doubled, another_afterwards, unpaid, no_end, two_ends, untold, backwards, cancelled_by_nobody):
        run = streamed()
        spoil(run)
        judge(run, over_grpc.typed)
        assert run.violations, spoil.__name__
