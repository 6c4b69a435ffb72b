"""Drafting a gap file: the failures of a report as entries that a person completes, and what is mended taken out."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from .cases import matches
from .compare import dumps
from .render import Line, Report
from .verdict import BAD


def draft(report: Report, path: Path | None) -> str:
    """Entries for the failures that the file does not declare yet, appended to it when it is given.

    What is unreached needs no entry: the gap of the failure that it follows covers it. Entries that cover nothing that
    fails are taken out of the file; comments stay. Gives what was done, in words.
    """
    before = path.read_text("utf-8") if path is not None and path.is_file() else ""
    declared: list[str] = [entry.get("check", "") for entry in tomllib.loads(before).get("gap", [])]
    failing = [line for line in report.checks if line["outcome"] in (*BAD, "gap")]
    mended = [pattern for pattern in declared if not any(_covers(pattern, line) and _fails(line) for line in failing)]
    undeclared = [
        line
        for line in failing
        if line["outcome"] in BAD
        and line["outcome"] != "unreached"
        and not any(_covers(pattern, line) for pattern in declared)
        and "gap" not in line
    ]
    entries = "\n".join(
        f'[[gap]]\ncheck  = {dumps(line["id"])}\nreason = ""\nissue  = ""\nfails  = {dumps(beginning(line.get("message", "")))}\n'
        for line in undeclared
    )
    if path is None:
        return entries
    kept = _without(before, mended)
    path.write_text(kept + ("\n" if kept.strip() and entries else "") + entries, "utf-8")
    told = [f"{path}: {len(undeclared)} added, {len(mended)} taken out"]
    told += [f"  out: {pattern} covers nothing that fails" for pattern in mended]
    told += ["  each new entry needs its reason and its issue before the file can be used"] if undeclared else []
    return "\n".join([*told, ""])


def _covers(pattern: str, line: Line) -> bool:
    return matches(pattern, line["id"]) if "*" in pattern or "?" in pattern else line["id"] == pattern


def _fails(line: Line) -> bool:
    """Whether a check failed at all; one that is stale because it passes did not."""
    return not (line["outcome"] == "stale" and "yet it passes" in line.get("message", ""))


def _without(text: str, patterns: list[str]) -> str:
    """The file without the entries of these patterns. What stands before an entry, comments above all, is kept."""
    if not patterns:
        return text
    head, *entries = re.split(r"(?m)^(?=\[\[gap\]\])", text)
    kept = [head]
    for entry in entries:
        if tomllib.loads(entry)["gap"][0].get("check") in patterns:
            lines = entry.splitlines(keepends=True)
            after = [number for number, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
            kept.append("".join(lines[after[-1] + 1 :]).lstrip("\n"))
        else:
            kept.append(entry)
    return "".join(kept)


_VALUE = re.compile(r"(: expected|, got| \"|: /?$| [0-9]).*", re.DOTALL)


def beginning(message: str) -> str:
    """The part of a message that holds neither a place nor values: it is the same for another run."""
    head, mark, rest = message.partition(": ")
    if mark and head.startswith("/"):
        message = rest
    return _VALUE.sub("", message)[:120].rstrip(": /")
