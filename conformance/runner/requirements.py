"""What a released specification requires: the must-checks of each profile, with a hash of the files behind them.

A check that was added after a release never fails an implementation of that release; a file that changes under a
released check needs an entry in `errata`, and a case that goes needs one in `tombstones`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import SUITE_VERSION
from .cases import STREAM_FILES, Case
from .compare import dumps, loads
from .discover import Check, plan
from .schema import CONFORMANCE

FOLDER = CONFORMANCE / "requirements"


def freeze(version: str, cases: list[Case], date: str | None = None) -> str:
    """Write `requirements/<version>.json`; with a date it is released, and from then on it does not change."""
    path = FOLDER / f"{version}.json"
    before = loads(path.read_bytes()) if path.is_file() else {}
    if before.get("released"):
        return f"{path.name} is released and does not change; mend it with errata or write the next version"
    checks = _required(cases)
    profiles: dict[str, dict[str, list[str]]] = {}
    for check in checks:
        whole, *_ = check.profiles  # its parts follow from the operations that checks need
        profiles.setdefault(whole, {}).setdefault(check.case.path, []).append(check.name)
    document = {
        "version": version,
        "suite": SUITE_VERSION,
        "released": date,
        "profiles": {
            name: {path: sorted(names) for path, names in sorted(found.items())}
            for name, found in sorted(profiles.items())
        },
        "hashes": {key_of(case): hash_of(case) for case in cases if not case.meta.get("draft")},
        "errata": before.get("errata", []),
        "tombstones": before.get("tombstones", []),
    }
    path.write_text(_written(document), "utf-8")
    told = f"released on {date}" if date else "not released: give --release DATE when the specification is"
    return f"{path.name}: {len(checks)} must-checks in {len(profiles)} profiles, {told}"


def _required(cases: list[Case]) -> list[Check]:
    adapters = sorted({case.adapter for case in cases if case.adapter})
    return [check for check in plan(cases, adapters) if check.level == "must" and not check.draft]


def _written(document: dict[str, Any]) -> str:
    """Readable, one case per line."""
    text = json.dumps(document, indent=1, ensure_ascii=False)
    for names in document["profiles"].values():
        for path, checks in names.items():
            spread = json.dumps(checks, indent=1).replace("\n", "\n   ")
            text = text.replace(f"{dumps(path)}: {spread}", f"{dumps(path)}: {json.dumps(checks)}")
    return text + "\n"


def key_of(case: Case) -> str:
    """What a hash is of: a folder, or one row of a file."""
    return case.path if case.row is None else f"{case.path}#{case.row['id']}"


_MEANING = ("adapter", "provider", "model", "level", "needs", "compare", "expects_invalid", "framing", "type", "origin")


def hash_of(case: Case) -> str:
    """A hash of what a case demands: its golden files, and the members of case.json that judge them.

    The spelling of JSON does not matter, bytes of streams do. Titles, clauses, flags and sources may be mended.
    """
    digest = hashlib.sha256(_bytes_of({name: case.meta[name] for name in _MEANING if name in case.meta}))
    if case.row is not None:
        digest.update(_bytes_of({name: value for name, value in case.row.items() if name not in _PROSE}))
        return digest.hexdigest()[:16]
    for file in sorted(case.folder.iterdir()):
        if not file.is_file() or file.name == "case.json":
            continue
        data = file.read_bytes()
        if file.suffix == ".json" and file.name not in STREAM_FILES:
            data = _bytes_of(loads(data))
        digest.update(file.name.encode() + b"\0" + data + b"\0")
    return digest.hexdigest()[:16]


_PROSE = ("title", "note", "flags", "spec")


def _bytes_of(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def read_all(folder: Path = FOLDER) -> list[dict[str, Any]]:
    return [loads(path.read_bytes()) for path in sorted(folder.glob("[0-9]*.json"))]


def scored(folder: Path = FOLDER) -> Callable[[str], bool]:
    """Whether a check counts: those of the newest release; all of them as long as nothing is released."""
    released = [document for document in read_all(folder) if document.get("released")]
    if not released:
        return lambda check_id: True
    newest = max(released, key=lambda document: document["released"])
    known = demanded(newest)
    return lambda check_id: check_id in known


def demanded(document: dict[str, Any]) -> set[str]:
    """The ids of the checks that a release names."""
    return {
        f"{path}#{name}" for found in document["profiles"].values() for path, names in found.items() for name in names
    }


def problems(cases: list[Case], folder: Path = FOLDER) -> list[str]:
    """What happened to what is released without an entry: changed, or gone. What a release demands only grows."""
    released = sorted(
        (document for document in read_all(folder) if document.get("released")), key=lambda one: one["released"]
    )
    if not released:
        return []
    now = {key_of(case): hash_of(case) for case in cases}
    renamed = {old: case.path for case in cases for old in case.meta.get("was", [])}
    checks = {check.id for check in _required(cases)}
    found: list[str] = []
    for document in released:
        excused = {entry["case"] for entry in document["errata"]} | {entry["case"] for entry in document["tombstones"]}
        gone = _changed(document, now, renamed, excused, found)
        for check_id in sorted(demanded(document)):
            path, _, name = check_id.partition("#")
            place = f"{renamed.get(path, path)}#{name}"
            if place not in checks and path not in excused | gone and check_id not in excused:
                found.append(f"{check_id}: demanded by {document['version']} and asked no longer; add a tombstone")
    for before, after in itertools.pairwise(released):
        stones = {entry["case"] for entry in after["tombstones"]}
        for check_id in sorted(demanded(before) - demanded(after)):
            path, _, name = check_id.partition("#")
            if (
                path not in stones
                and check_id not in stones
                and f"{renamed.get(path, path)}#{name}" not in demanded(after)
            ):
                found.append(f"{check_id}: demanded by {before['version']} and not by {after['version']}")
    return found


def _changed(
    document: dict[str, Any], now: dict[str, str], renamed: dict[str, str], excused: set[str], found: list[str]
) -> set[str]:
    """Tell of the cases that changed or went; gives the paths of those that went."""
    gone: set[str] = set()
    for key, digest in document["hashes"].items():
        path, mark, row = key.partition("#")
        place = renamed.get(path, path) + mark + row
        if key in excused or path in excused:
            continue
        if place not in now:
            gone.add(path)
            found.append(f"{key}: released with {document['version']} and gone; add a tombstone or `was`")
        elif now[place] != digest:
            found.append(f"{key}: changed since {document['version']}; say why in errata")
    return gone
