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
    for path in [*sorted(folder.glob("*.md")), *sorted(folder.glob("adapters/*.md"))]:
        chapter = re.sub(r"^[0-9]+-", "", path.relative_to(folder).with_suffix("").as_posix())
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


def derived() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Clauses by the kinds of checks that are derived for every case; and clauses out of reach, each with the reason."""
    document = loads((CONFORMANCE / "requirements" / "derived.json").read_bytes())
    return document["derived"], document["untestable"]


def trace(cases: list[Case]) -> tuple[str, list[str]]:
    """The table clause → cases and derived checks, and the normative clauses with neither these nor a reason."""
    by_clause: dict[str, set[str]] = {}
    for case in cases:
        for address in (case.row or {}).get("spec") or case.meta.get("spec", []):
            name = case.path if case.row is None else f"{case.path}#{case.row['id']}"
            by_clause.setdefault(address, set()).add(name)
    kinds, unreachable = derived()
    rows = ["| clause | | checked by |", "|---|---|---|"]
    unchecked: list[str] = []
    for clause in clauses():
        by = sorted(by_clause.get(clause.address, ()))
        every = [f"every `{kind}`" for kind in kinds.get(clause.address, [])]
        if clause.must and not by and not every and clause.address not in unreachable:
            unchecked.append(clause.address)
        shown = ", ".join([*every, *by[:6]]) + (f" and {len(by) - 6} more" if len(by) > 6 else "")
        reason = f"not from outside: {unreachable[clause.address]}" if clause.address in unreachable else ""
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
    for address in [*derived()[0], *derived()[1]]:
        if address not in known:
            found[address] = "requirements/derived.json"
    return [f"{path}: spec {address!r} is no clause" for address, path in sorted(found.items())]
