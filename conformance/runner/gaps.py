"""Drafting a gap file: the failures of a report as entries that a person completes."""

from __future__ import annotations

import tomllib
from pathlib import Path

from .compare import dumps
from .render import Report
from .verdict import BAD


def draft(report: Report, path: Path | None) -> str:
    """Entries for the failures that the file does not declare yet; appended to it when given, so comments stay."""
    declared = set()
    if path is not None and path.is_file():
        declared = {entry.get("check") for entry in tomllib.loads(path.read_text("utf-8")).get("gap", [])}
    entries = [
        f'[[gap]]\ncheck  = {dumps(line["id"])}\nreason = ""\nissue  = ""\nfails  = {dumps(_beginning(line.get("message", "")))}\n'
        for line in report.checks
        if line["outcome"] in BAD and line["id"] not in declared
    ]
    text = "\n".join(entries)
    if path is not None and entries:
        before = path.read_text("utf-8") if path.is_file() else ""
        path.write_text(before + ("\n" if before else "") + text, "utf-8")
    return text


def _beginning(message: str) -> str:
    """The part of a message that does not hold values."""
    return message.split(": expected", maxsplit=1)[0].split(", got", maxsplit=1)[0][:120]
