"""
A run in several processes, each with an implementation of its own.

The checks of a case stay together, for many begin with the same question. Results are in the order of the checks, whoever
has found them.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import deque
from contextlib import suppress
from itertools import groupby, pairwise
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from .cases import Case, read
from .compare import Difference
from .discover import Check, plan
from .plug import PlugError, nearest
from .reaching import UsageError, reached
from .session import Session
from .verdict import Gap, Result, run, with_gap

_CASES_AT_ONCE = 8


def planned(options: argparse.Namespace, cases: list[Case], session: Session) -> list[Check]:
    """The checks that the command line asks for."""
    checks = plan(cases, sorted(session.adapters), options.k, options.adapter)
    if not options.profile:
        return checks
    known = {profile for check in checks for profile in check.profiles}
    if checks and options.profile not in known:
        raise UsageError(
            f"--profile {options.profile} is not a profile of these checks{nearest(options.profile, known)}"
        )
    return [check for check in checks if options.profile in check.profiles]


def run_in_processes(options: argparse.Namespace, checks: list[Check], gaps: dict[str, Gap]) -> list[Result]:
    """What became of the checks, in their order. Three crashes in a row end the run, as in one process."""
    waiting = deque(_blocks(checks, options.jobs))
    results: list[Result | None] = [None] * len(checks)
    context = multiprocessing.get_context("spawn")
    told = argparse.Namespace(**{**vars(options), "verb": None, "grpc": None})  # one that is started is not shared
    workers: dict[Connection, BaseProcess] = {}
    at: dict[Connection, int] = {}
    crashed = ""
    try:
        for _ in range(min(options.jobs, len(waiting))):
            here, there = context.Pipe()
            process = context.Process(target=_work, args=(there, told), daemon=True)
            process.start()
            there.close()
            workers[here] = process
        for connection in workers:
            at[connection] = _give(connection, waiting)
        while at:
            for connection in wait(list(at)):
                assert isinstance(connection, Connection)
                start = at.pop(connection)
                found = _answer(connection)
                for number, (outcome, message, difference, note, milliseconds, follows) in enumerate(found, start):
                    result = Result(checks[number], outcome, message, difference, note, milliseconds, follows)
                    results[number] = with_gap(result, gaps)
                    if outcome == "unreached" and not follows:
                        crashed = message
                if waiting and not crashed:
                    at[connection] = _give(connection, waiting)
        for connection in workers:
            connection.send(None)
        for process in workers.values():
            process.join()
    finally:
        for process in workers.values():
            process.kill()
    return [
        Result(check, "unreached", crashed) if result is None else result
        for check, result in zip(checks, results, strict=True)
    ]


def _blocks(checks: list[Check], jobs: int) -> list[tuple[int, int]]:
    """Where the checks of some cases begin and end."""
    ends = [0]
    for _, of_case in groupby(checks, key=lambda check: check.case.path):
        ends.append(ends[-1] + len(list(of_case)))
    at_once = max(1, min(_CASES_AT_ONCE, len(ends) // (4 * jobs)))
    return list(pairwise([*ends[:-1:at_once], ends[-1]]))


def _give(connection: Connection, waiting: deque[tuple[int, int]]) -> int:
    block = waiting.popleft()
    with suppress(BrokenPipeError):  # it has ended, which its answer tells
        connection.send(block)
    return block[0]


def _answer(connection: Connection) -> list[tuple[str, str, Difference | None, str | None, float, str | None]]:
    try:
        found = connection.recv()
    except EOFError:
        raise PlugError("one of the processes of the run has ended") from None
    if isinstance(found, Exception):
        raise found
    return found


def _work(connection: Connection, options: argparse.Namespace) -> None:
    """A process: runs the checks that it is told, until there are no more."""
    try:
        with reached(options) as session:
            checks = planned(options, read(options.cases), session)
            while (block := connection.recv()) is not None:
                found = run(session, checks[slice(*block)])
                connection.send(
                    [
                        (
                            result.outcome,
                            result.message,
                            result.difference,
                            result.note,
                            result.milliseconds,
                            result.follows,
                        )
                        for result in found
                    ]
                )
    except PlugError as problem:
        connection.send(problem)
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return  # whoever started it is gone, or interrupted
