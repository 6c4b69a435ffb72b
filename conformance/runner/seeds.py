"""The requirements of the source documents: each has a row that says what shows it, or why nothing does.

`requirements/seeds.json` holds the rows. Seed and restored requirements are obligations (`must`); those of companion
documents are the likeliest meaning of what a source leaves open (`should`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from .cases import Case
from .compare import loads
from .discover import plan
from .schema import CONFORMANCE

FILE = CONFORMANCE / "requirements" / "seeds.json"
ROOT = CONFORMANCE.parent
KINDS = ("cases", "checks", "tests", "clauses", "files")


def read(path: Path = FILE) -> dict[str, Any]:
    """The document, whole."""
    return loads(path.read_bytes())


def state_of(row: dict[str, Any]) -> str:
    """`shown`, `partly` (something is still open), `open`, `not` (by design), or `nothing`."""
    shown = any(row.get(kind) for kind in KINDS)
    if "not" in row:
        return "not"
    if "open" in row:
        return "partly" if shown else "open"
    return "shown" if shown else "nothing"


@dataclass(frozen=True)
class Evidence:
    """What there is that a row can name: cases and their rows, names of checks, clauses."""

    cases: set[str]
    checks: set[str]
    clauses: set[str]


def evidence(cases: list[Case], clauses: set[str]) -> Evidence:
    """All that the suite and the specification have."""
    names = {case.path for case in cases} | {f"{case.path}#{case.row['id']}" for case in cases if case.row is not None}
    checks = plan(cases, sorted({case.adapter for case in cases if case.adapter}))
    return Evidence(names, {check.name for check in checks}, clauses)


def problems(document: dict[str, Any], known: Evidence, root: Path = ROOT) -> list[str]:
    """Rows that are missing, doubled or empty, and evidence that does not exist."""
    found = [*_numbering(document)]
    for row in document["rows"]:
        found += [f"seeds.json {row['id']}: {problem}" for problem in _row(row, document, known, root)]
    return found


def _numbering(document: dict[str, Any]) -> Iterator[str]:
    expected = [f"R-{number:03}" for number in range(1, document["count"] + 1)]
    counted = Counter(row["id"] for row in document["rows"])
    for identity in expected:
        if identity not in counted:
            yield f"seeds.json {identity}: has no row"
    for identity, count in counted.items():
        if count > 1:
            yield f"seeds.json {identity}: has {count} rows"
        if identity not in expected:
            yield f"seeds.json {identity}: is no requirement; there are {document['count']}"
    grouped = [row["group"] for row in document["rows"]]
    for letter in sorted(set(grouped) - set(document["groups"])):
        yield f"seeds.json: the group {letter} has no title"


def _row(row: dict[str, Any], document: dict[str, Any], known: Evidence, root: Path) -> Iterator[str]:
    if state_of(row) == "nothing" and row["level"] == "must":
        yield "a must without a case, a test, a reason or open work"
    if "not" in row and "open" in row:
        yield "it is either left out by design or open"
    if "open" in row and row["open"]["work"] not in document["work"]:
        yield f"the open work {row['open']['work']!r} is not described"
    for path in row.get("cases", []):
        if path not in known.cases:
            yield f"there is no case {path}"
    for pattern in row.get("checks", []):
        if not any(fnmatchcase(name, pattern) for name in known.checks):
            yield f"no check is named {pattern}"
    for test in row.get("tests", []):
        path, _, name = test.partition("::")
        if name not in _tests_of(root / path):
            yield f"there is no test {test}"
    for address in row.get("clauses", []):
        if address not in known.clauses:
            yield f"there is no clause {address}"
    for path in row.get("files", []):
        if not (root / path).is_file():
            yield f"there is no file {path}"


@cache
def _tests_of(path: Path) -> frozenset[str]:
    """The names of the tests of a module, and `` for the module itself."""
    if not path.is_file():
        return frozenset()
    return frozenset(("", *re.findall(r"^\s*(?:async )?def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)))


def page(document: dict[str, Any]) -> str:
    """All rows as tables, one for each group, below a table of how many are shown."""
    rows = document["rows"]
    states = ("shown", "partly", "open", "not", "nothing")
    counts = Counter((row["level"], state_of(row)) for row in rows)
    lines = ["| level | shown | partly | open | not, by design | nothing |", "|---|--:|--:|--:|--:|--:|"]
    for level in ("must", "should"):
        lines.append(f"| {level} | " + " | ".join(str(counts[level, state]) for state in states) + " |")
    for letter, title in document["groups"].items():
        lines += ["", f"### {letter}. {title}", "", "| | | requirement | shown by | |", "|---|---|---|---|---|"]
        for row in (row for row in rows if row["group"] == letter):
            must = "MUST" if row["level"] == "must" else ""
            lines.append(f"| {row['id']} | {must} | {row['says']} | {_shown(row) or '–'} | {_rest(row)} |")
    if document["work"]:
        lines += ["", "### Open work", ""]
        lines += [f"- **{name}**: {text}" for name, text in document["work"].items()]
    return "\n".join([*lines, ""])


def _shown(row: dict[str, Any]) -> str:
    every = [f"every `{pattern}`" for pattern in row.get("checks", [])]
    named = [f"`{name}`" for kind in ("cases", "tests", "clauses", "files") for name in row.get(kind, [])]
    return ", ".join([*every, *named])


def _rest(row: dict[str, Any]) -> str:
    if "not" in row:
        return f"not: {row['not']}"
    if "open" in row:
        return f"{state_of(row)}, {row['open']['work']}: {row['open']['lacks']}"
    return ""
