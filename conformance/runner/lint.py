"""`lint`: the suite's own files are what they claim to be.

Problems fail; notes are for people. Nothing here asks an implementation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from . import discover, examples, frames, requirements, schema, seeds, trace
from .cases import CASES, EXCHANGE_FILES, STREAM_FILES, Case, CaseError, read
from .compare import COMPARATOR_WORDS, ReportError, apply, loads, same_scalar
from .oracles import violations
from .plug import CAPABILITIES
from .schema import CONFORMANCE

LARGEST = 64_000
SECRETS = {
    "an API key": re.compile(
        rb"\b(sk-(?!test\b)[A-Za-z0-9_-]{20,}|sk-ant-[A-Za-z0-9_-]{10,}|AIza[0-9A-Za-z_-]{30,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,})"
    ),
    "a bearer token": re.compile(rb"[Bb]earer [A-Za-z0-9._-]{16,}"),
    "an AWS key": re.compile(rb"\bAKIA[0-9A-Z]{16}\b"),
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY"),
    "an e-mail address": re.compile(rb"\b[A-Za-z0-9._%+-]+@(?!example\.)[A-Za-z0-9-]+\.(?:com|net|org|io|de|dev)\b"),
    "an organisation id": re.compile(rb"\borg-[A-Za-z0-9]{20,}\b"),
}
SECRET_HEADERS = frozenset(
    ("authorization", "x-api-key", "api-key", "cookie", "set-cookie", "x-goog-api-key", "openai-organization")
)


def lint(roots: list[Path] | None = None) -> tuple[list[str], list[str]]:
    """Problems and notes."""
    try:
        cases = read(roots)
    except CaseError as error:
        return [str(error)], []
    problems = [*_suite_files(), *_ids(cases)]
    for root in roots or [CASES]:
        problems += _adapters(root)
    for case in cases:
        try:
            problems += _row(case) if case.row is not None else _folder(case)
        except CaseError as error:
            problems.append(str(error))
    problems += _flags(cases)
    problems += _needs(cases)
    if not roots:
        problems += requirements.problems(cases)
        problems += examples.problems(cases)
        known = seeds.evidence(cases, {clause.address for clause in trace.clauses()})
        problems += seeds.problems(seeds.read(), known)
    return problems, trace.unknown_addresses(cases)


def _suite_files() -> Iterator[str]:
    for path in sorted((CONFORMANCE / "schema").glob("*.schema.json")):
        try:
            schema.load(path)
        except ValueError as error:
            yield f"schema/{path.name}: {error}"
    yield from _against("flags", CONFORMANCE / "flags.json")
    yield from _against("seeds", seeds.FILE)
    for path in sorted((CONFORMANCE / "requirements").glob("[0-9]*.json")):
        yield from _against("requirements", path)
    try:
        schema.canonical()
    except ValueError as error:
        yield f"spec/schema: {error}"


def _against(name: str, path: Path) -> Iterator[str]:
    try:
        invalid = schema.suite(name).validate(loads(path.read_bytes()))
    except (OSError, ValueError) as error:
        yield f"{path.name}: {error}"
        return
    if invalid is not None:
        yield f"{path.relative_to(CONFORMANCE) if path.is_relative_to(CONFORMANCE) else path}: {invalid}"


def _adapters(root: Path) -> Iterator[str]:
    for path in sorted(root.rglob("adapter.json")):
        yield from _against("adapter", path)
        try:
            schema.Schema(loads(path.read_bytes()).get("answer", {}))
        except (OSError, ValueError, AttributeError) as error:
            yield f"{path.parent.name}/adapter.json: answer: {error}"


def _ids(cases: list[Case]) -> Iterator[str]:
    seen: set[str] = set()
    for case in cases:
        name = case.path if case.row is None else f"{case.path}#{case.row['id']}"
        if name in seen:
            yield f"{name}: this id is there twice"
        seen.add(name)
    for case in cases:
        for old in case.meta.get("was", []):
            if old in seen:
                yield f"{case.path}: was {old!r}, which still exists"
    adapters = sorted({case.adapter for case in cases if case.adapter})
    checks: set[str] = set()
    for check in discover.plan(cases, adapters):
        if check.id in checks:
            yield f"{check.id}: two checks of this id"
        checks.add(check.id)


def _needs(cases: list[Case]) -> Iterator[str]:
    for case in cases:
        for word in case.meta.get("needs", []):
            if word not in CAPABILITIES:
                yield f"{case.path}: the capability {word!r} is not one of protocol.md"


def _flags(cases: list[Case]) -> Iterator[str]:
    path = CONFORMANCE / "flags.json"
    known = set(loads(path.read_bytes())["flags"]) if path.is_file() else set()
    unknown = {flag: case.path for case in reversed(cases) for flag in case.flags if flag not in known}
    for flag, place in sorted(unknown.items()):
        yield f"{place}: the flag {flag!r} is not in flags.json"


# --- folders ------------------------------------------------------------------------------------------------------------------


def _folder(case: Case) -> Iterator[str]:
    yield from _against_case(case)
    if not re.fullmatch(r"[a-z0-9_]+(/[a-z0-9-]+)+", case.path):
        yield f"{case.path}: a path is adapter/lower-case-words"
    names = sorted(path.name for path in case.folder.iterdir() if path.name != "case.json")
    for name in names:
        if name not in EXCHANGE_FILES:
            yield f"{case.path}/{name}: no file of an exchange has this name"
            continue
        yield from _bytes(case, name)
        if name.endswith((".json", ".jsonl")) and name not in STREAM_FILES:
            case.value(name)
    if not names:
        yield f"{case.path}: nothing but case.json"
    for rule in case.meta.get("compare", []):
        if rule.get("as") not in COMPARATOR_WORDS:
            yield f"{case.path}: the comparator {rule.get('as')!r} does not exist"
    yield from _canonical_side(case)
    yield from _wire_side(case)


def _against_case(case: Case) -> Iterator[str]:
    invalid = schema.suite("case").validate(case.meta)
    if invalid is not None:
        yield f"{case.path}/case.json: {invalid}"


def _bytes(case: Case, name: str) -> Iterator[str]:
    data = case.data(name)
    if len(data) > LARGEST and not case.meta.get("large"):
        yield f"{case.path}/{name}: {len(data)} bytes; say why in `large`"
    for what, pattern in SECRETS.items():
        found = pattern.search(data)
        if found:
            yield f"{case.path}/{name}: looks like {what}, at byte {found.start()}"


def _canonical_side(case: Case) -> Iterator[str]:
    types = {"request.canonical.json": "Request", "response.canonical.json": "Response", "request.error.json": "Error"}
    for name, kind in types.items():
        if case.has(name):
            invalid = schema.canonical().validate(case.value(name), kind)
            # A refused request may be refused because it is not valid.
            if invalid is not None and not (kind == "Request" and case.has("request.error.json")):
                yield f"{case.path}/{name}: {invalid}"
    for name, kind in (("stream.events.jsonl", "StreamEvent"), ("request.loss.json", "LossEntry")):
        for number, item in enumerate(case.value(name) if case.has(name) else []):
            invalid = schema.canonical().validate(item, kind)
            if invalid is not None:
                yield f"{case.path}/{name}, {number}: {invalid}"
    if case.has("request.loss.json"):
        yield from _loss(case)


def _loss(case: Case) -> Iterator[str]:
    report = case.value("request.loss.json")
    for entry in report:
        if entry.get("code") not in schema.loss_codes():
            yield f"{case.path}/request.loss.json: {entry.get('code')!r} is not in spec/registry/loss_codes.json"
    if not report:
        yield f"{case.path}/request.loss.json: an empty report; leave the file out"
    if case.has("request.canonical.json"):
        try:
            apply(case.value("request.canonical.json"), report)
        except ReportError as error:
            yield f"{case.path}/request.loss.json: {error}"


def _wire_side(case: Case) -> Iterator[str]:
    if case.has("request.wire.json"):
        wire = case.value("request.wire.json")
        invalid = schema.canonical().validate(wire, "WireRequest")
        if invalid is not None:
            yield f"{case.path}/request.wire.json: {invalid}"
        else:
            for name in wire.get("headers", {}):
                if name.lower() in SECRET_HEADERS:
                    yield f"{case.path}/request.wire.json: the header {name!r} holds a secret"
            if case.adapter and discover.judged(case):
                for pointer, reason in violations(case.adapter, wire)[:3]:
                    yield f"{case.path}/request.wire.json: the provider would not take it: {pointer} {reason}"
    if case.has("response.wire.json") and "answer" in case.wire:
        invalid = schema.Schema(case.wire["answer"]).validate(case.value("response.wire.json"))
        if invalid is not None:
            yield f"{case.path}/response.wire.json: {invalid}"
    if case.stream_file is not None:
        data = case.data(case.stream_file)
        if b"".join(frames.split(data, case.framing)) != data:
            yield f"{case.path}/{case.stream_file}: does not split into frames"


# --- rows -----------------------------------------------------------------------------------------------------------------------


def _row(case: Case) -> Iterator[str]:
    assert case.row is not None and case.file is not None
    name = f"{case.path}#{case.row['id']}"
    document = loads(case.file.read_bytes())
    if document["rows"] and same_scalar(document["rows"][0].get("id"), case.row["id"]):
        invalid = schema.suite("rows").validate(document)
        if invalid is not None:
            yield f"{case.path}.json: {invalid}"
    kind = case.meta.get("kind") or discover.kind_of(case.path)
    defs = schema.suite("row")
    if kind not in defs.names:
        yield f"{case.path}.json: what are these rows? Give `kind`"
        return
    invalid = defs.validate(case.row, kind)
    if invalid is not None:
        yield f"{name}: {invalid}"
        return
    for what, pattern in SECRETS.items():
        if pattern.search(repr(case.row).encode()):
            yield f"{name}: looks like {what}"
    yield from _row_by_kind(case, kind, name)


def _row_by_kind(case: Case, kind: str, name: str) -> Iterator[str]:
    assert case.row is not None
    row = case.row
    match kind:
        case "schema":
            type_name = row.get("type") or case.meta.get("type")
            if type_name not in schema.canonical().names:
                yield f"{name}: {type_name!r} is no type of the schema"
                return
            invalid = schema.canonical().validate(row["instance"], type_name)
            if (invalid is None) != (row["valid"] or "beyond_schema" in row):
                yield f"{name}: the schema says {invalid or 'valid'}"
            elif invalid is not None and "pointer" in row and invalid.pointer != row["pointer"]:
                yield f"{name}: the schema says {invalid}"
        case "errors":
            invalid = schema.canonical().validate({"message": "", **row["error"]}, "Error")
            if invalid is not None:
                yield f"{name}: error {invalid}"
        case "written":
            invalid = schema.canonical().validate(row["error"], "Error")
            if invalid is not None:
                yield f"{name}: error {invalid}"
            for entry in row.get("loss", []):
                invalid = schema.canonical().validate({"message": "", **entry}, "LossEntry")
                if invalid is not None:
                    yield f"{name}: loss {invalid}"
        case "cost":
            invalid = schema.canonical().validate(row["usage"], "Usage")
            if invalid is not None:
                yield f"{name}: usage {invalid}"
        case "estimate":
            invalid = schema.canonical().validate(row["request"], "Request")
            if invalid is not None:
                yield f"{name}: request {invalid}"
        case "invariants":
            type_name = row.get("type") or case.meta.get("type")
            invalid = schema.canonical().validate(row["instance"], type_name)
            if invalid is not None and not any(one["rule"].startswith("schema") for one in row["violations"]):
                yield f"{name}: {invalid}"
        case "calls":
            for value, type_name in ((row["call"], "ToolUseBlock"), *((tool, "Tool") for tool in row["tools"])):
                invalid = schema.canonical().validate(value, type_name)
                if invalid is not None:
                    yield f"{name}: {type_name} {invalid}"
        case "wire":
            data = row["base64"] if "base64" in row else row.get("bytes")
            if data is None:
                yield f"{name}: bytes or base64"
