"""`lint`: the suite's own files are what they claim to be.

Problems fail; notes are for people. Nothing here asks an implementation.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import discover, examples, frames, requirements, schema, seeds, trace
from .cases import CASES, EXCHANGE_FILES, STREAM_FILES, Case, CaseError, read
from .compare import COMPARATOR_WORDS, ReportError, apply, loads, same_scalar
from .held import held_by_request, held_by_response
from .oracles import violations
from .patches import PatchError, patched
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
            about = loads(path.read_bytes())
            schema.Schema(about.get("answer", {}))
        except (OSError, ValueError, AttributeError) as error:
            yield f"{path.parent.name}/adapter.json: answer: {error}"
            continue
        for word in about.get("capabilities", []):
            if word not in CAPABILITIES:
                yield f"{path.parent.name}/adapter.json: the capability {word!r} is not one of protocol.md"


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
        given = case.meta.get("needs", [])
        words = [word for side in given.values() for word in side] if isinstance(given, dict) else given
        for word in words:
            if word not in CAPABILITIES:
                yield f"{case.path}: the capability {word!r} is not one of protocol.md"
        for side, held in _held(case):
            named = given.get(side, []) if isinstance(given, dict) else given
            for word in sorted(held - set(named)):
                yield f"{case.path}: its {side} takes the capability {word}, which `needs` does not name"
        if "streaming" in words and case.stream_file is not None:
            yield f"{case.path}: the checks of its stream need streaming anyway, and its other checks do not"


def _held(case: Case) -> Iterator[tuple[str, set[str]]]:
    """Which capabilities the golden values of each side take."""
    for name in ("request.canonical.json", "request.read.json"):
        if case.has(name):
            yield "request", held_by_request(case.value(name))
    if case.has("request.read.json") and case.has("request.edit.json"):
        with contextlib.suppress(PatchError):  # told elsewhere
            yield "request", held_by_request(patched(case.value("request.read.json"), case.value("request.edit.json")))
    for name in ("response.canonical.json", "response.called.json", "answer.canonical.json"):
        if case.has(name):
            yield "response", held_by_response(case.value(name))
    events = case.value("stream.events.jsonl") if case.has("stream.events.jsonl") else []
    for response in [event["response"] for event in events if isinstance(event.get("response"), dict)]:
        yield "response", held_by_response(response)


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
    yield from _edit(case)
    yield from _wire_side(case)
    yield from _private(case)


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
    for name, kind in _TYPES.items():
        if case.has(name):
            invalid = schema.canonical().validate(case.value(name), kind)
            # A refused request may be refused because it is not valid.
            if invalid is not None and not (kind == "Request" and case.has("request.error.json")):
                yield f"{case.path}/{name}: {invalid}"
    for name, kind in _LISTS.items():
        for number, item in enumerate(case.value(name) if case.has(name) else []):
            invalid = schema.canonical().validate(item, kind)
            if invalid is not None:
                yield f"{case.path}/{name}, {number}: {invalid}"
    if case.has("request.loss.json") and case.has("request.canonical.json"):
        yield from _loss(case, "request.loss.json", case.value("request.canonical.json"))


_TYPES = {
    "request.canonical.json": "Request",
    "request.read.json": "Request",
    "response.canonical.json": "Response",
    "response.called.json": "Response",
    "answer.canonical.json": "Response",
    "request.error.json": "Error",
    "request.edited.error.json": "Error",
}
_LISTS = {
    "stream.events.jsonl": "StreamEvent",
    "request.loss.json": "LossEntry",
    "request.edited.loss.json": "LossEntry",
}


def _loss(case: Case, name: str, request: Any) -> Iterator[str]:
    report = case.value(name)
    for entry in report:
        if entry.get("code") not in schema.loss_codes():
            yield f"{case.path}/{name}: {entry.get('code')!r} is not in spec/registry/loss_codes.json"
    if not report:
        yield f"{case.path}/{name}: an empty report; leave the file out"
    try:
        apply(request, report)
    except ReportError as error:
        yield f"{case.path}/{name}: {error}"


def _edit(case: Case) -> Iterator[str]:
    """An edit fits what was read, and its outcome is one: a wire request, or a refusal."""
    read, edit = case.has("request.read.json"), case.has("request.edit.json")
    outcomes = [name for name in ("request.edited.wire.json", "request.edited.error.json") if case.has(name)]
    if read and (case.has("request.canonical.json") or not case.has("request.wire.json")):
        yield f"{case.path}/request.read.json: what request.wire.json reads as, in the place of request.canonical.json"
    if len(outcomes) != edit or (case.has("request.edited.loss.json") and outcomes != ["request.edited.wire.json"]):
        yield f"{case.path}: an edit, and request.edited.wire.json with its report or request.edited.error.json"
    if not edit:
        return
    if not read:
        yield f"{case.path}/request.edit.json: of what? request.read.json is missing"
        return
    places = [f"{operation.get(name)}" for operation in case.value("request.edit.json") for name in ("path", "from")]
    if any("/provider_state/" in place for place in places):
        yield f"{case.path}/request.edit.json: what stands inside of a provider_state is private to an implementation"
    try:
        request = patched(case.value("request.read.json"), case.value("request.edit.json"))
    except PatchError as error:
        yield f"{case.path}/request.edit.json: {error}"
        return
    invalid = schema.canonical().validate(request, "Request")
    if invalid is not None:
        yield f"{case.path}/request.edit.json: then {invalid}"
    if case.has("request.edited.loss.json"):
        yield from _loss(case, "request.edited.loss.json", request)


def _private(case: Case) -> Iterator[str]:
    """What an implementation notes in `form` is its own: no other could know it."""
    for name in _CANONICAL:
        if case.has(name) and (pointer := _form(case.value(name))) is not None:
            yield f"{case.path}/{name}: {pointer} is private to an implementation; read the wire, and edit what was read"


_CANONICAL = (
    "request.canonical.json",
    "request.read.json",
    "request.edit.json",
    "response.canonical.json",
    "response.called.json",
    "answer.canonical.json",
    "stream.events.jsonl",
)


def _form(value: Any, at: str = "") -> str | None:
    """Where a provider state, or an opaque block, has a form."""
    if isinstance(value, dict) and isinstance(value.get("adapter"), str) and "encoding" in value:
        return f"{at}/form"
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((found for name, item in items if (found := _form(item, f"{at}/{name}")) is not None), None)


def _wire_side(case: Case) -> Iterator[str]:
    # what was odd when it was read may have been repaired since
    last = "request.edited.wire.json" if case.has("request.edit.json") else "request.wire.json"
    for name in ("request.wire.json", "request.edited.wire.json"):
        if case.has(name):
            yield from _wire(case, name, judged=name == last)
    if case.has("response.wire.json") and "answer" in case.wire:
        invalid = schema.Schema(case.wire["answer"]).validate(case.value("response.wire.json"))
        if invalid is not None:
            yield f"{case.path}/response.wire.json: {invalid}"
    if case.stream_file is not None:
        data = case.data(case.stream_file)
        if b"".join(frames.split(data, case.framing)) != data:
            yield f"{case.path}/{case.stream_file}: does not split into frames"


def _wire(case: Case, name: str, *, judged: bool) -> Iterator[str]:
    wire = case.value(name)
    invalid = schema.canonical().validate(wire, "WireRequest")
    if invalid is not None:
        yield f"{case.path}/{name}: {invalid}"
        return
    for header in wire.get("headers", {}):
        if header.lower() in SECRET_HEADERS:
            yield f"{case.path}/{name}: the header {header!r} holds a secret"
    if judged and case.adapter and discover.judged(case):
        for pointer, reason in violations(case.adapter, wire)[:3]:
            yield f"{case.path}/{name}: the provider would not take it: {pointer} {reason}"


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
        case "hash":
            invalid = schema.canonical().validate(row["message"], "Message")
            if invalid is not None:
                yield f"{name}: message {invalid}"
            if hashlib.sha256(row["text"].encode()).hexdigest() != row["hash"]:
                yield f"{name}: hash is not that of text"
        case "wire":
            data = row["base64"] if "base64" in row else row.get("bytes")
            if data is None:
                yield f"{name}: bytes or base64"
