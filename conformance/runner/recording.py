"""`record` saves an exchange as it happened; `fill` lets an implementation draft the canonical side for a person to read.

Wire files are never drafted: they come from a recording or from documentation.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from . import lint
from .cases import CASES, Case, CaseError, read
from .checks.asking import canonical_request, flat, read_request, read_response, read_stream, to_wire
from .compare import dumps, loads
from .session import Session

SCRUBBED = re.compile(rb"((?:req|org|user|proj|chatcmpl-org)[-_])[A-Za-z0-9]{8,}")


def record(
    name: str,
    command: list[str],
    request: Path | None,
    stream: bool,
    title: str,
    provider: str | None,
    cases: Path | None,
) -> str:
    """Run a command that prints an answer's body (curl -sS …), and save it beside the request."""
    folder = (cases or CASES) / name
    if folder.exists() and any(folder.glob("*.wire.*")):
        raise CaseError(f"{name} holds a recording already")
    if not command:
        raise CaseError("give the command that prints the answer after `--`, e.g. -- curl -sS …")
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if answer.returncode != 0:
        raise CaseError(f"{command[0]} ended with {answer.returncode}; nothing is saved")
    folder.mkdir(parents=True, exist_ok=True)
    saved = [_save_answer(folder, scrub(answer.stdout), stream)]
    if request is not None:
        saved.append(_save_request(folder, request))
    _write(folder / "case.json", _new_case(title or name.rpartition("/")[2].replace("-", " "), provider))
    warnings = [
        what for what, pattern in lint.SECRETS.items() for path in folder.iterdir() if pattern.search(path.read_bytes())
    ]
    told = f"; looks like {', '.join(sorted(set(warnings)))} is in it, look before you commit" if warnings else ""
    return f"{name}: {', '.join(saved)}, case.json (draft){told}"


def scrub(data: bytes) -> bytes:
    """Ids of requests, users and organisations replaced; the length stays."""
    return SCRUBBED.sub(lambda match: match.group(1) + b"0" * (len(match.group(0)) - len(match.group(1))), data)


def _save_answer(folder: Path, data: bytes, stream: bool) -> str:
    if stream:
        name = _STREAM_NAMES.get(data.lstrip()[:1], "stream.wire.sse")
        if data[:2] == b"\0\0":
            name = "stream.wire.eventstream"  # a message begins with its length, and none has 64 kB
        (folder / name).write_bytes(data)
        return name
    try:
        _write(folder / "response.wire.json", loads(data))
    except ValueError as error:
        raise CaseError(f"the answer is not JSON ({error}); is it a stream? then give --stream") from None
    return "response.wire.json"


_STREAM_NAMES = {b"{": "stream.wire.jsonl", b"[": "stream.wire.json"}


def _save_request(folder: Path, path: Path) -> str:
    value = loads(scrub(path.read_bytes()))
    if "body" not in value:
        near = next((parent / "adapter.json" for parent in folder.parents if (parent / "adapter.json").is_file()), None)
        wire = loads(near.read_bytes()) if near else {}
        value = {"method": wire.get("method", "POST"), "path": wire.get("path", "/"), "body": value}
    headers = {key: item for key, item in value.get("headers", {}).items() if key.lower() not in lint.SECRET_HEADERS}
    _write(folder / "request.wire.json", {**value, **({"headers": headers} if headers else {})})
    return "request.wire.json"


def _new_case(title: str, provider: str | None) -> dict[str, Any]:
    return {
        "title": title,
        "level": "must",
        "spec": ["responses#response"],
        "flags": [],
        "needs": [],
        "source": {"kind": "recorded", **({"provider": provider} if provider else {})},
        **({"provider": provider} if provider else {}),
        "compare": [],
        "was": [],
        "draft": True,
    }


def fill(name: str, session: Session, cases: Path | None) -> str:
    """Draft the canonical files that are missing, and mark the case a draft. Existing files are never touched."""
    case = next((case for case in read([cases] if cases else None) if case.path == name and case.row is None), None)
    if case is None:
        raise CaseError(f"there is no case {name}")
    drafted: list[str] = []
    if case.has("request.wire.json") and not (case.has("request.canonical.json") or case.has("request.read.json")):
        drafted.append(_draft_request(session, case))
    if case.has("request.edited.wire.json") and not case.has("request.edited.loss.json"):
        _, loss = to_wire(session, case, canonical_request(session, case))
        if loss:
            _write(case.folder / "request.edited.loss.json", loss)
            drafted.append("request.edited.loss.json")
    if case.has("request.canonical.json") and not case.has("request.loss.json"):
        _, loss = to_wire(session, case, case.value("request.canonical.json"))
        if loss:
            _write(case.folder / "request.loss.json", loss)
            drafted.append("request.loss.json")
    if case.has("response.wire.json") and not case.has("response.canonical.json"):
        _write(case.folder / "response.canonical.json", read_response(session, case, case.value("response.wire.json")))
        drafted.append("response.canonical.json")
    if case.stream_file and not case.has("stream.events.jsonl"):
        _draft_events(session, case)
        drafted.append("stream.events.jsonl")
    if drafted:
        _write(case.folder / "case.json", {**case.meta, "draft": True})
        return f'{name}: drafted {", ".join(drafted)}; read them against the specification, then remove "draft" from case.json'
    return f"{name}: nothing is missing"


def _draft_request(session: Session, case: Case) -> str:
    """What the wire request reads as; what an implementation notes for itself makes it one that is not written from."""
    request = read_request(session, case, case.value("request.wire.json"))
    plain = _without_form(request)
    name = "request.canonical.json" if plain == request and not case.has("request.edit.json") else "request.read.json"
    _write(case.folder / name, plain)
    return name


def _without_form(value: Any) -> Any:
    if isinstance(value, dict):
        noted = "encoding" if isinstance(value.get("adapter"), str) else None
        return {name: _without_form(item) for name, item in value.items() if name != noted}
    return [_without_form(item) for item in value] if isinstance(value, list) else value


def _draft_events(session: Session, case: Case) -> None:
    assert case.stream_file is not None
    events = flat(read_stream(session, case, [case.data(case.stream_file)])[0])
    (case.folder / "stream.events.jsonl").write_text("".join(dumps(event) + "\n" for event in events), "utf-8")


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")
