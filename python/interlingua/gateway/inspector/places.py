"""
The place of a canonical value in a wire, which is found by experiment: the value is changed, the document is written
again, and the places that then differ are its place. So this module knows no wire, and works with every present and
future one.

Entries of a loss report are located in this way on both sides: in the wire that was read, and in the one that was
written. A value that has no place of its own there, because it was dropped, gets the place of what surrounds it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.loss import Entry, parse_pointer
from interlingua.canonical.validate import validate

Data = dict[str, Any]
Path = list[str | int]

_ABSENT = object()
_MARK = "AAAA"  # valid in free text, in an identifier and in base64
_MAX_PLACES = 8  # the most places that are given for one value
_NEAR_STEPS = 2  # the number of steps that the paths in one message share


@dataclass(frozen=True, slots=True)
class Places:
    """JSON Pointers into a wire. With `around`, the value itself is not in the wire, and they lead to what surrounds
    it."""

    pointers: tuple[str, ...] = ()
    around: bool = False

    @classmethod
    def at(cls, paths: list[Path], *, around: bool = False) -> "Places":
        """Make the places of paths. Paths around a value that are near to each other become one."""
        if around and paths:
            paths = [_common([path for path in paths if path[:_NEAR_STEPS] == paths[0][:_NEAR_STEPS]])]
        return cls(tuple(map(_pointer, paths)), around)


class Finder:
    """Finds places in the wire that `write` makes of a canonical document. `type` is the type of the document in the
    schema, `base` the wire of the unchanged document.

    Where the changed document cannot be written, no place is returned rather than a wrong one.
    """

    def __init__(self, document: Data, type: str, write: Callable[[Data], Any], base: Any = _ABSENT) -> None:
        self._document = document
        self._type = type
        self._write = write
        self._base = self._write_or_absent(document) if base is _ABSENT else base
        self._known: dict[tuple[str, str], Places] = {}

    def places(self, entry: Entry) -> "Places":
        """The places for an entry of a loss report; none where the wire has nothing of it."""
        if self._base is _ABSENT:
            return Places()
        key = (entry["path"], repr(entry.get("value")) if entry["op"] == "replace" else "")
        if key not in self._known:
            self._known[key] = self._search(entry)
        return self._known[key]

    def _search(self, entry: Entry) -> "Places":
        path: Path = list(parse_pointer(entry["path"]))
        value = _at(self._document, path)
        if value is _ABSENT:  # the wire demands a member that is absent: the value that it now has there is changed
            value_there = entry.get("value", _ABSENT)
            return (
                Places() if value_there is _ABSENT else Places.at(self._differing_paths(path, [_changed(value_there)]))
            )
        around = False
        while path:
            value = _at(self._document, path)
            members = ({**value, name: _changed(value[name])} for name in value) if isinstance(value, dict) else ()
            paths = self._differing_paths(path, [_changed(value)]) or self._differing_paths(path, members)
            if paths := paths or self._differing_paths(path, [_ABSENT]):
                return Places.at(paths, around=around)
            around = True
            path = path[:-1]
            if isinstance(_at(self._document, path), list):
                path = path[:-1]
        return Places()

    def _differing_paths(self, path: Path, probes: Iterable[Any]) -> list[Path]:
        """The paths at which the wire differs when one of the `probes` replaces the value at a path of the document."""
        paths: list[Path] = []
        for probe in probes:
            written = self._write_or_absent(_with(self._document, path, probe))
            if written is not _ABSENT:
                paths += (place for place in differences(self._base, written) if place not in paths)
        return [_common(paths)] if len(paths) > _MAX_PLACES else _merged(paths)

    def _write_or_absent(self, document: Data) -> Any:
        try:
            validate(document, self._type)
            return self._write(document)
        except InterlinguaError:
            return _ABSENT


def differences(before: Any, after: Any) -> Iterator[Path]:
    """The paths into `before` at which two JSON values differ. The path of an added member is that of the value to
    which it was added."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name not in after:
                yield [name]
            else:
                yield from ([name, *rest] for rest in differences(value, after[name]))
        if any(name not in before for name in after):
            yield []
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_differences(before, after)
    elif before != after or type(before) is not type(after):
        yield []


def _list_differences(before: list[Any], after: list[Any]) -> Iterator[Path]:
    if len(before) == len(after):
        for position, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from ([position, *rest] for rest in differences(one, other))
        return
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    gone = len(before) - len(after)
    if gone > 0 and before[same + gone :] == after[same:]:
        for position in range(same, same + gone):
            yield [position]
    else:
        yield []


def _merged(paths: list[Path]) -> list[Path]:
    """The paths; paths in one block or message become one, because a person looks at the whole block."""
    if len(paths) > 1 and len(common := _common(paths)) > 1:
        return [common]
    return paths


def _common(paths: list[Path]) -> Path:
    first, last = min(paths, key=_sortable), max(paths, key=_sortable)
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return first[:length]


def _sortable(path: Path) -> list[tuple[int, str]]:
    return [(step, "") if isinstance(step, int) else (-1, step) for step in path]


def _pointer(path: Path) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(value, dict) and step in value:
            value = value[str(step)]
        elif isinstance(value, list) and str(step).isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _ABSENT
    return value


def _with(value: Any, path: Path, replacement: Any) -> Any:
    """A copy with another value at a path, or without a value there. Unchanged parts are shared."""
    if not path:
        return replacement
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        position = int(step)
        inner = _with(value[position], rest, replacement)
        return [*value[:position], *([] if inner is _ABSENT else [inner]), *value[position + 1 :]]
    inner = _with(value.get(step, {}) if isinstance(value, dict) else {}, rest, replacement)
    others = {name: item for name, item in value.items() if name != step} if isinstance(value, dict) else {}
    if inner is _ABSENT:
        return others
    return {**value, step: inner} if isinstance(value, dict) else {step: inner}


_UNCHANGED_MEMBERS = frozenset(
    ("type", "role", "kind", "op", "id", "tool_use_id", "media_type", "adapter", "provider", "origin")
)


def _changed(value: Any) -> Any:
    """A value of the same shape with other texts, numbers and booleans. Members that name a kind do not change."""
    match value:
        case bool():
            return not value
        case int() | float() | Decimal():
            return value + 1
        case str():
            return _MARK + value
        case list():
            return [_changed(item) for item in value]
        case dict():
            return {key: item if key in _UNCHANGED_MEMBERS else _changed(item) for key, item in value.items()}
        case _:
            return _MARK
