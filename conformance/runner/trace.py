"""`trace`: which clause of the specification is checked by what.

A clause is a heading or paragraph with an anchor `{#name}` in `spec/*.md`; its address is `chapter#name`, where the
chapter is the file name without number. A clause is normative when its section holds MUST, MUST NOT or SHALL.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from .cases import Case
from .compare import loads
from .schema import CONFORMANCE

SPEC = CONFORMANCE.parent / "spec"
_ANCHOR = re.compile(r"\{#([A-Za-z0-9-]+)\}")
_MUST = re.compile(r"\b(MUST|SHALL)\b")


@dataclass
class Clause:
    address: str
    title: str
    must: bool


def clauses(folder: Path = SPEC) -> list[Clause]:
    found: list[Clause] = []
    for path in sorted(folder.glob("*.md")):
        chapter = re.sub(r"^[0-9]+-", "", path.stem)
        current: Clause | None = None
        for line in path.read_text("utf-8").splitlines():
            anchor = _ANCHOR.search(line)
            if anchor:
                title = _ANCHOR.sub("", line).strip("# *|").strip()
                current = Clause(f"{chapter}#{anchor.group(1)}", title[:80], False)
                found.append(current)
            elif line.startswith("#"):
                current = None
            if current is not None and _MUST.search(line):
                current.must = True
    return found


def untestable() -> dict[str, str]:
    """Clauses that no check can reach, each with the reason."""
    path = CONFORMANCE / "requirements" / "untestable.json"
    return loads(path.read_bytes())["clauses"] if path.is_file() else {}


def trace(cases: list[Case]) -> tuple[str, list[str]]:
    """The table clause → cases, and the normative clauses with neither a case nor a reason."""
    by_clause: dict[str, set[str]] = {}
    for case in cases:
        for address in (case.row or {}).get("spec") or case.meta.get("spec", []):
            name = case.path if case.row is None else f"{case.path}#{case.row['id']}"
            by_clause.setdefault(address, set()).add(name)
    excused = untestable()
    rows = ["| clause | | checked by |", "|---|---|---|"]
    unchecked: list[str] = []
    for clause in clauses():
        by = sorted(by_clause.get(clause.address, ()))
        if clause.must and not by and clause.address not in excused:
            unchecked.append(clause.address)
        shown = ", ".join(by[:6]) + (f" and {len(by) - 6} more" if len(by) > 6 else "")
        reason = f"no check: {excused[clause.address]}" if clause.address in excused else ""
        rows.append(
            f"| `{clause.address}` {clause.title} | {'MUST' if clause.must else ''} | {shown or reason or '–'} |"
        )
    return "\n".join([*rows, ""]), unchecked


def unknown_addresses(cases: list[Case]) -> list[str]:
    """Addresses in cases that no clause of the specification has."""
    known = {clause.address for clause in clauses()}
    found: dict[str, str] = {}
    for case in cases:
        for address in (case.row or {}).get("spec") or case.meta.get("spec", []):
            if address not in known:
                found.setdefault(address, case.path)
    return [f"{path}: spec {address!r} is no clause" for address, path in sorted(found.items())]
