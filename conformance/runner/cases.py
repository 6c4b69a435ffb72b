"""The case folders and row files, read from disk. Nothing here knows what a check is."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .compare import loads

CASES = Path(__file__).resolve().parent.parent / "cases"

EXCHANGE_FILES = (
    "request.canonical.json",
    "request.wire.json",
    "request.loss.json",
    "request.error.json",
    "request.read.json",
    "request.edit.json",
    "request.edited.wire.json",
    "request.edited.loss.json",
    "request.edited.error.json",
    "response.wire.json",
    "response.canonical.json",
    "response.called.json",
    "answer.canonical.json",
    "answer.wire.json",
    "answer.loss.json",
    "stream.wire.sse",
    "stream.wire.jsonl",
    "stream.wire.eventstream",
    "stream.wire.json",
    "stream.events.jsonl",
    "route.input.json",
    "route.decision.json",
)


STREAM_FILES = {
    "stream.wire.sse": "sse",
    "stream.wire.jsonl": "jsonl",
    "stream.wire.eventstream": "eventstream",
    "stream.wire.json": "array",
}


class CaseError(Exception):
    """A case file that cannot be read; the text names it."""


@dataclass
class Case:
    """One exchange folder, or one row of a row file (then `row` is set and there are no files)."""

    path: str
    folder: Path
    meta: dict[str, Any]
    wire: dict[str, Any]
    row: dict[str, Any] | None = None
    file: Path | None = None
    _values: dict[str, Any] = field(default_factory=dict)

    @property
    def adapter(self) -> str | None:
        return self.meta.get("adapter") or self.wire.get("adapter")

    @property
    def provider(self) -> str | None:
        return self.meta.get("provider")

    @property
    def level(self) -> str:
        return (self.row or {}).get("level") or self.meta.get("level", "must")

    @property
    def flags(self) -> list[str]:
        return (self.row or {}).get("flags") or self.meta.get("flags", [])

    @property
    def framing(self) -> str:
        """How the stream of the case is framed: told by the name of its file, else that of the wire."""
        if self.stream_file is not None:
            return STREAM_FILES[self.stream_file]
        return self.meta.get("framing") or self.wire.get("framing", "sse")

    @cached_property
    def stream_file(self) -> str | None:
        return next((name for name in STREAM_FILES if self.has(name)), None)

    def has(self, name: str) -> bool:
        return self.row is None and (self.folder / name).is_file()

    def value(self, name: str) -> Any:
        """The JSON value of a file; a `.jsonl` file is the list of its lines."""
        if name not in self._values:
            try:
                data = (self.folder / name).read_bytes()
                if name.endswith(".jsonl"):
                    self._values[name] = [loads(line) for line in data.splitlines() if line.strip()]
                else:
                    self._values[name] = loads(data)
            except (OSError, ValueError) as error:
                raise CaseError(f"{self.path}/{name}: {error}") from error
        return self._values[name]

    def data(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def comparators(self, document: str) -> list[dict[str, Any]]:
        """The comparators of `case.json` for a document: request, wire, body, response, events, error,
        decision, echo, swap."""
        return [rule for rule in self.meta.get("compare", []) if rule.get("in", document) == document]


def wires(roots: list[Path] | None = None) -> set[str]:
    """The names of the adapters that the suite and the given folders know: each has an adapter.json."""
    found: set[str] = set()
    for root in [CASES, *(folder.resolve() for folder in roots or [])]:
        above = [place / "adapter.json" for place in (root, *root.parents[:1])]  # a single case may be given
        for path in [*root.rglob("adapter.json"), *(path for path in above if path.is_file())]:
            found.add(_object(path).get("adapter") or path.parent.name)
    return found


def read(roots: list[Path] | None = None) -> list[Case]:
    """All cases below the given folders, sorted by path; the suite's own when none is given."""
    found = [case for root in roots or [CASES] for case in _read_root(root.resolve())]
    return sorted(found, key=lambda case: (case.path, str((case.row or {}).get("id", ""))))


def _read_root(root: Path) -> Iterator[Case]:
    if not root.is_dir():
        raise CaseError(f"{root} is not a folder")
    base = root
    # A single adapter's folder or a single case may be given: ids still begin at the folder that holds adapters.
    while (base / "adapter.json").is_file() or (base / "case.json").is_file():
        base = base.parent
    for file in sorted(root.rglob("*.json")):
        relative = file.relative_to(base)
        if any(part.startswith(".") for part in relative.parts):
            continue
        if file.name == "case.json":
            folder = file.parent
            yield Case(folder.relative_to(base).as_posix(), folder, _object(file), _wire(folder, base))
        elif not (file.parent / "case.json").is_file() and file.name != "adapter.json":
            yield from _rows(file, relative.with_suffix("").as_posix(), base)


def _rows(file: Path, path: str, base: Path) -> Iterator[Case]:
    document = _object(file)
    rows = document.get("rows")
    if not isinstance(rows, list):
        raise CaseError(f"{path}.json: a row file has a list `rows`")
    wire = _wire(file.parent, base)
    meta = {name: value for name, value in document.items() if name != "rows"}
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise CaseError(f"{path}.json: each row has an `id`")
        yield Case(path, file.parent, meta, wire, row, file)


def _wire(folder: Path, base: Path) -> dict[str, Any]:
    """The nearest `adapter.json` at or above a folder."""
    for place in (folder, *folder.parents):
        if (place / "adapter.json").is_file():
            return {"adapter": place.name, **_object(place / "adapter.json")}
        if place == base:
            break
    return {}


def _object(file: Path) -> dict[str, Any]:
    try:
        value = loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise CaseError(f"{file}: {error}") from error
    if not isinstance(value, dict):
        raise CaseError(f"{file}: a JSON object is expected")
    return value


def matches(pattern: str, check_id: str) -> bool:
    """`-k` and gap patterns: a glob when it holds `*` or `?`, else a part of the id."""
    if "*" in pattern or "?" in pattern:
        return fnmatch.fnmatchcase(check_id, pattern.replace("[", "[[]"))
    return pattern in check_id
