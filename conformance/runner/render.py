"""Reports: `report.jsonl` is the one truth, every other format is a pure function of it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from . import SUITE_VERSION
from .compare import dumps, loads, show
from .verdict import BAD, NOTHING, OUTCOMES, conforms, counted, counts, profiles_of

Line = dict[str, Any]


class ReportFormatError(Exception):
    """A file that is not a whole report."""


class Report:
    """A header, one line per check, and a footer."""

    def __init__(self, header: Line, checks: list[Line]) -> None:
        self.header = header
        self.checks = checks

    @property
    def footer(self) -> Line:
        return {"kind": "footer", "checks": len(self.checks), "counts": counts(self.checks)}

    def lines(self) -> list[str]:
        return [dumps(line) for line in [self.header, *self.checks, self.footer]]

    @property
    def title(self) -> str:
        implementation = self.header.get("implementation", {})
        return f"{implementation.get('name', '?')} {implementation.get('version', '?')}"


def read_report(path: Path) -> Report:
    """A report from its file; ReportFormatError when the end is missing or does not fit."""
    try:
        lines = [loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except OSError as error:
        raise ReportFormatError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise ReportFormatError(f"{path} is no report: give a file that `run --report` wrote") from error
    if not all(isinstance(line, dict) for line in lines):
        raise ReportFormatError(f"{path} is no report: give a file that `run --report` wrote")
    if len(lines) < 2 or lines[0].get("kind") != "header" or lines[-1].get("kind") != "footer":
        raise ReportFormatError(f"{path}: the header or the footer is missing; the run did not end")
    report = Report(lines[0], lines[1:-1])
    if lines[-1].get("checks") != len(report.checks) or lines[-1].get("counts") != counts(report.checks):
        raise ReportFormatError(f"{path}: the footer does not count these lines")
    return report


# --- for people -----------------------------------------------------------------------------------------------------------


MOST_SHOWN = 30


def text(
    report: Report,
    flags: dict[str, Any] | None = None,
    command: list[str] | None = None,
    profile: str | None = None,
    most: int | None = MOST_SHOWN,
    *,
    verdicts: bool = True,
) -> str:
    """The headline with all seven counts, the `verdicts` of the profiles, and the unexpected failures last and together.

    Beyond `most` failures the rest is counted by what was asked; None shows all.
    """
    lines = [
        f"{report.title} · suite {report.header.get('suite', SUITE_VERSION)}"
        + (f" · profile {profile}" if profile else "")
    ]
    for level, tally in counts(report.checks).items():
        lines.append(f"  {level:<7}" + "   ".join(f"{tally[outcome]} {outcome}" for outcome in OUTCOMES))
    drafts = [line for line in report.checks if line.get("draft")]
    if drafts:
        failing = sum(line["outcome"] in BAD for line in drafts)
        lines.append(f"  drafts {len(drafts)} run, {failing} failing, none counted")
    younger = [line for line in report.checks if not line.get("scored", True)]
    if younger:
        failing = sum(line["outcome"] in BAD for line in younger)
        lines.append(f"  not scored {len(younger)} checks added after the release, {failing} failing")
    if verdicts:
        lines += ["", *_verdicts(report, profile)]
    if not any(line["outcome"] == "pass" for line in report.checks):
        lines += ["", *_nothing(report.checks)]
    bad = [line for line in report.checks if line["outcome"] in BAD and counted(line)]
    failures = [line for line in bad if line["outcome"] != "unreached"]
    unreached = [line for line in bad if line["outcome"] == "unreached"]
    shown = failures[:most]
    for line in shown:
        following = [other["id"] for other in unreached if other.get("follows") == line["id"]]
        lines += ["", *_failure(line, flags or {}, command, following)]
    if len(shown) < len(failures):
        lines += ["", *_rest(failures, len(shown))]
    for reason, number in Counter(line["message"] for line in unreached if "follows" not in line).items():
        lines += ["", f"{number} unreached: {reason}"]
    return "\n".join(lines) + "\n"


def _nothing(checks: list[Line]) -> list[str]:
    """Why a run in which nothing passes says nothing: the commonest reasons for which nothing was asked."""
    reasons = Counter(line.get("message", "") for line in checks if line["outcome"] == "unsupported")
    return ["  no check passes, so this run shows nothing"] + [
        f"  unsupported {number:>6}  {reason}" for reason, number in reasons.most_common(5)
    ]


def _verdicts(report: Report, profile: str | None) -> list[str]:
    """Which profiles an implementation conforms to, as far as was asked. Of a wire that does not conform as a whole, the
    parts too; what is not claimed at all stands in one line."""
    found = {name: conforms(report.checks, name) for name in ([profile] if profile else profiles_of(report.checks))}
    claimed = {name for line in report.checks if line["outcome"] != "unsupported" for name in line["profiles"]}
    shown = [name for name in found if name == profile or (name in claimed and not _part_of_what_conforms(name, found))]
    width = max([28, *(len(name) for name in shown)])
    lines: list[str] = []
    for name in shown:
        fits, why = found[name]
        verdict = "conforms" if fits else "nothing demanded was asked" if why == NOTHING else "does not conform"
        lines.append(f"  {name:<{width}} {verdict}" + (f" ({why})" if why != NOTHING else ""))
    rest = [name for name in found if name not in claimed and name != profile and name.count(":") < 2]
    if rest:
        lines.append(f"  not claimed: {', '.join(rest)}")
    if report.header.get("narrowed"):
        lines.append("  a part of the checks was asked, by -k or --adapter: this says nothing about conformance")
    return lines


def _part_of_what_conforms(name: str, found: dict[str, tuple[bool, str]]) -> bool:
    """Whether a profile is that of one operation of a wire that conforms as a whole."""
    wire, _, operation = name.rpartition(":")
    return ":" in wire and found.get("gateway" if operation == "from_wire_request" else wire, (False, ""))[0]


def _rest(bad: list[Line], shown: int) -> list[str]:
    """All failures by what was asked, when there are too many to show: the commonest first."""
    tally = Counter(kind(line["id"]) for line in bad)
    counted = " · ".join(f"{name} {number}" for name, number in tally.most_common())
    return [f"{len(bad)} failures, {shown} shown. All by check: {counted}", "see all with --all, or narrow with -k"]


def _failure(line: Line, flags: dict[str, Any], command: list[str] | None, following: list[str]) -> list[str]:
    word = line["outcome"].upper()
    found = [f"{word:<5} {line['id']}  {line['level']}", f"      {_clip(line.get('message', ''))}"]
    if following:
        found.append(f"      unreached for that reason: {', '.join(name.partition('#')[2] for name in following)}")
    for flag in line.get("flags", []):
        effect = flags.get(flag, {}).get("effect")
        if effect:
            found.append(f"      why it matters: {effect}")
    again = f"python3 conformance/runner run -k {shlex.quote(line['id'])}"
    if command:
        again += " " + shlex.join(command)
    spec = f"spec: {', '.join(line['spec'])}   " if line.get("spec") else ""
    return [*found, f"      {spec}again: {again}"]


def _clip(message: str, limit: int = 600) -> str:
    return message if len(message) <= limit else message[: limit - 1] + "…"


# --- for machines ------------------------------------------------------------------------------------------------------------


def junit(report: Report) -> str:
    """JUnit XML: class = adapter, name = check; gaps, unreached and unsupported are skipped with their reason."""
    bad = sum(line["outcome"] in BAD and line["outcome"] != "unreached" for line in report.checks)
    skipped = sum(line["outcome"] in ("gap", "unsupported", "unreached") for line in report.checks)
    rows = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name={quoteattr("interlingua " + report.title)} tests="{len(report.checks)}" failures="{bad}" skipped="{skipped}">',
    ]
    for line in report.checks:
        seconds = line.get("milliseconds", 0) / 1000
        head = f'  <testcase classname={quoteattr(line.get("adapter") or "core")} name={quoteattr(line["id"])} time="{seconds:.3f}"'
        rows.append(head + _junit_body(line))
    return _printable("\n".join([*rows, "</testsuite>", ""]))


def _junit_body(line: Line) -> str:
    message = line.get("message", "")
    match line["outcome"]:
        case "pass":
            return "/>"
        case "gap":
            return f"><skipped message={quoteattr('gap: ' + line['gap']['reason'])}/></testcase>"
        case "unsupported" | "unreached" as outcome:
            return f"><skipped message={quoteattr(f'{outcome}: {message}')}/></testcase>"
        case outcome:
            return f"><failure type={quoteattr(outcome)} message={quoteattr(_clip(message))}>{escape(_detail(line))}</failure></testcase>"


def _printable(xml: str) -> str:
    return "".join(
        sign
        for sign in xml
        if sign in "\t\n" or (sign >= " " and not "\ud800" <= sign <= "\udfff" and sign not in "\ufffe\uffff")
    )


def _detail(line: Line) -> str:
    rows = [f"{name}: {show(line[name], 400)}" for name in ("pointer", "expected", "actual") if name in line]
    return "\n".join(rows)


def tap(report: Report) -> str:
    """TAP 14: gaps are TODO, unreached and unsupported are SKIP, failures carry a YAML block."""
    rows = ["TAP version 14", f"1..{len(report.checks)}"]
    for number, line in enumerate(report.checks, 1):
        name = line["id"].replace("#", "\\#")
        match line["outcome"]:
            case "pass":
                rows.append(f"ok {number} - {name}")
            case "unsupported" | "unreached" as outcome:
                rows.append(f"ok {number} - {name} # SKIP {outcome}: {_one_line(line.get('message', ''))}")
            case "gap":
                rows.append(f"not ok {number} - {name} # TODO {_one_line(line['gap']['reason'])}")
            case outcome:
                rows += [
                    f"not ok {number} - {name}",
                    "  ---",
                    f"  outcome: {outcome}",
                    f"  message: {dumps(line.get('message', ''))}",
                ]
                rows += [f"  {key}: {dumps(line[key])}" for key in ("pointer", "expected", "actual") if key in line]
                rows.append("  ...")
    return "\n".join([*rows, ""])


def _one_line(message: str) -> str:
    return " ".join(message.split())


def markdown(reports: list[Report]) -> str:
    """Matrices: rows are capabilities, then kinds of checks, columns are adapters (of each report); then what has no adapter."""
    columns: list[tuple[str, str, Report]] = []
    for report in reports:
        adapters = sorted({wire for line in report.checks if (wire := wire_of(line)) is not None})
        columns += [
            (adapter if len(reports) == 1 else f"{report.title}: {adapter}", adapter, report) for adapter in adapters
        ]
    names = [name for name, _, _ in columns]
    parts = [(report.checks, adapter) for _, adapter, report in columns]
    wires = [[line for line in lines if wire_of(line) == adapter] for lines, adapter in parts]
    rest = [[line for line in report.checks if wire_of(line) is None] for report in reports]
    tables = [
        _table("capability", names, wires, capabilities),
        _table("check", names, wires, lambda line: [kind(line["id"])]),
        _table("without a wire", [report.title for report in reports], rest, lambda line: [kind(line["id"])]),
    ]
    key = "✓ passes, ◐ declared gap, ✗ fails, – not claimed, or nothing to ask. Numbers are checks."
    return "\n".join([*(table for table in tables if table), key, ""])


def _table(
    title: str, names: list[str], columns: list[list[Line]], rows_of: Callable[[Line], Iterable[str]]
) -> str | None:
    found: dict[str, list[list[Line]]] = {}
    for number, lines in enumerate(columns):
        for line in lines:
            for row in rows_of(line):
                found.setdefault(row, [[] for _ in columns])[number].append(line)
    if not found:
        return None
    rows = [f"| {title} | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    rows += [f"| {row} | " + " | ".join(map(_cell, cells)) + " |" for row, cells in sorted(found.items())]
    return "\n".join([*rows, ""])


def wire_of(line: Line) -> str | None:
    """The adapter that a check is about; none for framing, which any wire of that framing serves to ask."""
    return None if kind(line["id"]) == "framing" else line.get("adapter")


def capabilities(line: Line) -> list[str]:
    """The capabilities that a check needs; plain text when it needs none."""
    return line.get("needs") or ["text"]


def kind(check_id: str) -> str:
    """What a check asks, without the place that it is asked at: the row of the matrix."""
    path, _, name = check_id.partition("#")
    folder, _, last = path.rpartition("/")
    if last.startswith("written-errors") or (last.startswith("errors") and ":written:" in name):
        return "to_wire_error"
    if last.startswith("errors"):
        return "generate" if name.endswith(":generate") else "errors"
    return _ROW_FILES.get(folder.partition("/")[0], name.partition(":")[0])


_ROW_FILES = {
    "cost": "cost",
    "estimate": "estimate",
    "schema": "validate",
    "invariants": "check",
    "calls": "check_call",
    "hash": "content_hash",
    "policy": "route_by_file",
    "relay": "relay",
    "wire": "framing",
}


def _cell(lines: list[Line]) -> str:
    outcomes = [line["outcome"] for line in lines]
    if not outcomes or all(outcome == "unsupported" for outcome in outcomes):
        return "–"
    passed = outcomes.count("pass")
    if any(outcome in BAD for outcome in outcomes):
        return f"✗ {passed}/{len(outcomes)}"
    return f"◐ {passed}/{len(outcomes)}" if "gap" in outcomes else f"✓ {passed}"


def badge(report: Report, profile: str | None = None) -> str:
    """JSON for a badge; bright green only when everything demanded was asked and passes without a gap."""
    lines = [line for line in report.checks if line["level"] == "must" and counted(line)]
    lines = [line for line in lines if profile is None or profile in line["profiles"]]
    passed = sum(line["outcome"] == "pass" for line in lines)
    bad = any(line["outcome"] in BAD for line in lines)
    color = "red" if bad else "brightgreen" if lines and passed == len(lines) else "yellow"
    if report.header.get("narrowed"):
        color = "lightgrey"  # a part of the checks says nothing, however many pass
    asked = profile or ("a part" if report.header.get("narrowed") else "")
    label = f"interlingua {report.header.get('suite', SUITE_VERSION)}" + (f" · {asked}" if asked else "")
    return dumps({"schemaVersion": 1, "label": label, "message": f"{passed}/{len(lines)} must", "color": color}) + "\n"


def diff(before: Report, after: Report) -> str:
    """What changed between two reports: newly passing, newly failing, new checks, gone checks."""
    old = {line["id"]: line for line in before.checks}
    new = {line["id"]: line for line in after.checks}
    both = [name for name in new if name in old]
    sections: list[tuple[str, list[str]]] = [
        ("newly failing", [name for name in both if old[name]["outcome"] not in BAD and new[name]["outcome"] in BAD]),
        ("newly passing", [name for name in both if old[name]["outcome"] != "pass" and new[name]["outcome"] == "pass"]),
        ("new checks", [f"{name} ({new[name]['outcome']})" for name in new if name not in old]),
        ("gone checks", [name for name in old if name not in new]),
    ]
    rows = [f"{before.title} → {after.title}"]
    for title, names in sections:
        rows.append(f"{title}: {len(names)}")
        rows += [f"  {name}" for name in sorted(names)]
    return "\n".join([*rows, ""])


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text,
    "junit": junit,
    "tap": tap,
    "markdown": lambda report: markdown([report]),
    "badge": badge,
}
