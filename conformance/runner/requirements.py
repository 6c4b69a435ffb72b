"""What a released specification requires: the must-checks of each profile, with a hash of the files behind them.

A check that was added after a release never fails an implementation of that release; a file that changes under a
released check needs an entry in `errata`, and a case that goes needs one in `tombstones`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import SUITE_VERSION
from .cases import Case
from .compare import dumps, loads
from .discover import plan
from .schema import CONFORMANCE

FOLDER = CONFORMANCE / "requirements"


def freeze(version: str, cases: list[Case]) -> str:
    """Write `requirements/<version>.json`; refuses to touch one that is released."""
    path = FOLDER / f"{version}.json"
    before = loads(path.read_bytes()) if path.is_file() else {}
    if before.get("released"):
        return f"{path.name} is released and does not change; mend it with errata or write the next version"
    adapters = sorted({case.adapter for case in cases if case.adapter})
    checks = [check for check in plan(cases, adapters) if check.level == "must" and not check.draft]
    profiles: dict[str, dict[str, list[str]]] = {}
    for check in checks:
        for profile in check.profiles:
            profiles.setdefault(profile, {}).setdefault(check.case.path, []).append(check.name)
    document = {
        "version": version,
        "suite": SUITE_VERSION,
        "released": before.get("released"),
        "profiles": {
            name: {path: sorted(names) for path, names in sorted(found.items())}
            for name, found in sorted(profiles.items())
        },
        "hashes": {case.path: hash_of(case) for case in cases if not case.meta.get("draft")},
        "errata": before.get("errata", []),
        "tombstones": before.get("tombstones", []),
    }
    path.write_text(_written(document), "utf-8")
    return f"{path.name}: {len(checks)} must-checks in {len(profiles)} profiles, not released until `released` holds a date"


def _written(document: dict[str, Any]) -> str:
    """Readable, one case per line."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    for names in document["profiles"].values():
        for path, checks in names.items():
            spread = json.dumps(checks, indent=1).replace("\n", "\n   ")
            text = text.replace(f"{dumps(path)}: {spread}", f"{dumps(path)}: {json.dumps(checks)}")
    return text + "\n"


def hash_of(case: Case) -> str:
    """A hash of the golden files of a case; the spelling of JSON does not matter, bytes of streams do."""
    digest = hashlib.sha256()
    files = [case.file] if case.file else sorted(case.folder.iterdir())
    for file in files:
        if file is None or not file.is_file() or file.name == "case.json":
            continue
        data = file.read_bytes()
        if file.suffix == ".json":
            data = json.dumps(loads(data), sort_keys=True, separators=(",", ":")).encode()
        digest.update(file.name.encode() + b"\0" + data + b"\0")
    return digest.hexdigest()[:16]


def read_all(folder: Path = FOLDER) -> list[dict[str, Any]]:
    return [loads(path.read_bytes()) for path in sorted(folder.glob("[0-9]*.json"))]


def scored(folder: Path = FOLDER) -> Callable[[str], bool]:
    """Whether a check counts: those of the newest release; all of them as long as nothing is released."""
    released = [document for document in read_all(folder) if document.get("released")]
    if not released:
        return lambda check_id: True
    newest = max(released, key=lambda document: document["released"])
    known = {
        f"{path}#{name}" for found in newest["profiles"].values() for path, names in found.items() for name in names
    }
    return lambda check_id: check_id in known


def problems(cases: list[Case]) -> list[str]:
    """What happened to released cases without an entry: gone, or changed."""
    now = {case.path: hash_of(case) for case in cases}
    renamed = {old: case.path for case in cases for old in case.meta.get("was", [])}
    found: list[str] = []
    for document in read_all():
        if not document.get("released"):
            continue
        excused = {entry["case"] for entry in document["errata"]} | {entry["case"] for entry in document["tombstones"]}
        for path, digest in document["hashes"].items():
            place = renamed.get(path, path)
            if path in excused:
                continue
            if place not in now:
                found.append(f"{path}: released with {document['version']} and gone; add a tombstone or `was`")
            elif now[place] != digest:
                found.append(f"{path}: changed since {document['version']}; say why in errata")
    return found
