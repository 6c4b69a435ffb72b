"""
Chaos: seeded runs of a chain of three targets through the server, over gRPC and over each face of HTTP, at providers that
misbehave, by callers who leave.

    make chaos                                    # 2,000 runs over each
    make chaos ARGS="--runs 200 --seed 7"         # fewer, others
    make chaos ARGS="--over http --seed 7 --only 113"  # one of them again, with what happened
"""

import argparse
import asyncio
import random
import time
import weakref
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType

from client.upstream import serve

from chaos import over_grpc, over_http
from chaos.judging import judge
from chaos.plans import Providers, Run, plan
from chaos.watching import Resources, watched_log

_OUTCOMES = ("answered", "by another", "failed", "too large", "deadline", "left", "no room", "shut down")


@dataclass
class Report:
    """What came of all runs."""

    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """What came of the runs, by the fault that the first target began with, and of all."""
    violating: list[tuple[Run, str]] = field(default_factory=list[tuple[Run, str]])
    """The runs of which something is wrong, and what came of them. The others are not kept: the memory that is measured
    is that of the server."""
    wrong: Counter[str] = field(default_factory=Counter[str])
    resources: list[Resources] = field(default_factory=list[Resources])
    seconds: float = 0

    def add(self, run: Run, outcome: str) -> None:
        """Counts a run that was looked at."""
        for row in (run.first, "all"):
            self.counts[row].update(("runs", outcome if outcome in _OUTCOMES else "failed"))
            self.counts[row]["violations"] += len(run.violations)
        if run.violations:
            run.error = run.answer = None  # an error holds the frames of whoever it passed, and so the server
            self.violating.append((run, outcome))

    @property
    def violations(self) -> int:
        """How many there are, of runs, of the log and of resources."""
        return self.counts["all"]["violations"] + self.wrong.total()

    def table(self) -> str:
        """By the fault that the first target began with: runs, what came of them, violations."""
        columns = ("runs", *_OUTCOMES, "violations")
        lines = [f"{'first fault':<20}" + "".join(f"{name:>12}" for name in columns)]
        for row in sorted(self.counts, key=lambda name: (name == "all", name)):
            lines.append(f"{row:<20}" + "".join(f"{self.counts[row][name]:>12}" for name in columns))
        lines.append("")
        for name in ("tasks", "threads", "descriptors"):
            lines.append(f"{name}: " + ", ".join(str(getattr(one, name)) for one in self.resources))
        lines.append("memory, MiB: " + ", ".join(f"{one.memory_mib:.0f}" for one in self.resources))
        lines.append(f"{self.counts['all']['runs']} runs in {self.seconds:.1f} s, {self.violations} violations")
        return "\n".join(lines)


_GROWTH_MIB = 4.0
_THREADS = 40  # more than a loop makes


async def storm(seed: int, numbers: Sequence[int], size: int = 200, over: ModuleType = over_grpc) -> Report:
    """Makes the runs of these numbers over a protocol, in rounds of some size that each have a server of their own."""
    began = time.monotonic()
    # the threads of a loop are made when they are needed, and stay
    await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.05) for _ in range(_THREADS)))
    report = Report()
    chance = random.Random(seed)
    with watched_log() as records:
        for begin in range(0, len(numbers), size):
            runs = [plan(seed, number) for number in numbers[begin : begin + size]]
            held = await _round(runs, chance, report, over)
            del runs
            report.resources.append(await Resources.now())
            if held() is not None:
                report.wrong["a server that ended is held"] += 1
    report.wrong += records.wrong
    _flat(report)
    report.seconds = time.monotonic() - began
    return report


async def _round(
    runs: list[Run], chance: random.Random, report: Report, over: ModuleType
) -> "weakref.ReferenceType[object]":
    """Makes some runs and looks at them. Gives what everything that belongs to their server holds."""
    async with serve(Providers(runs)) as upstream:
        async with over.serving(upstream, runs, len(report.resources)) as server:
            waiting = list(runs)
            while waiting:
                size = chance.choice([1, 4, 8, 16, 40])
                now, waiting = waiting[:size], waiting[size:]
                calls = [asyncio.ensure_future(server.call(run)) for run in now]
                if not await server.is_well():
                    report.wrong["health did not answer"] += 1
                if not waiting:  # the last ones are cut off by the end of the server
                    for run in now:
                        run.draining = True
                    await server.stop(chance.uniform(0, 0.1))
                await asyncio.gather(*calls)
            if not await server.watcher_was_told():
                report.wrong["a watcher was not told of the end"] += 1
            server.settle(runs)
        if server.running:
            report.wrong["calls are counted that do not run"] += 1
    for run in runs:
        report.add(run, judge(run, over.typed))
    return weakref.ref(server.held)


def _flat(report: Report) -> None:
    """What the process holds after each round is what it held after the first; of memory, after a third of the rounds,
    when caches and what a thread needs are there."""
    first, *_, last = (*report.resources, *report.resources)
    for name in ("tasks", "threads", "descriptors"):
        if getattr(last, name) > getattr(first, name):
            report.wrong[f"more {name} at the end than after the first round"] += 1
    settled = report.resources[len(report.resources) // 3]
    if last.memory_mib - settled.memory_mib > _GROWTH_MIB:
        report.wrong["memory grows"] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table, and what is wrong. Gives 1 when anything is."""
    parser = argparse.ArgumentParser(
        prog="make chaos", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, action="append", help="the number of a run to make again")
    parser.add_argument("--over", choices=("grpc", "http"), action="append", help="a protocol; both when none is given")
    options = parser.parse_args(arguments)
    wrong = 0
    for name in options.over or ("grpc", "http"):
        over = {"grpc": over_grpc, "http": over_http}[name]
        report = asyncio.run(storm(options.seed, options.only or range(options.runs), over=over))
        print(f"over {name}\n\n{report.table()}\n")
        for run, outcome in report.violating:
            for violation in run.violations:
                seen = ", ".join(f"{provider}: {fault.name}" for provider, fault in run.seen)
                how = f"{run.face if name == 'http' else 'grpc'}; {'stream' if run.stream else 'unary'}"
                print(f"run {run.number} ({outcome}; {how}; {','.join(run.chain)}; {seen}): {violation}")
        for what, count in report.wrong.items():
            print(f"{count} times: {what}")
        wrong += report.violations
    return 1 if wrong else 0
