"""
Where a value of a canonical document stands in a wire: the wire is asked. The value is changed, the document is written
again, and what is then different is its place. So no wire is known here, and every present and future one is served.

What a loss report points at is found on both sides in this way: in the wire that was read, and in the one that was
written. A value that has no place of its own there (it was dropped) is given the place of what stands around it.
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

_GONE = object()
_MARK = "AAAA"  # valid in free text, in an identifier and in base64
_MOST = 8  # places of one value that are told
_NEAR = 2  # steps that two paths share which are of one message


@dataclass(frozen=True, slots=True)
class Places:
    """JSON Pointers into a wire. `around`: what was looked for is not there, and this is what stood around it."""

    pointers: tuple[str, ...] = ()
    around: bool = False

    @classmethod
    def at(cls, paths: list[Path], *, around: bool = False) -> "Places":
        """Of paths; of what stands around a value, those that are near to each other as one."""
        if around and paths:
            paths = [_common([path for path in paths if path[:_NEAR] == paths[0][:_NEAR]])]
        return cls(tuple(map(_pointer, paths)), around)


class Finder:
    """Finds places in the wire that `write` makes of a canonical document of a type of the schema, `base` being what it
    makes of it as it is.

    Nothing is found, rather than something wrong, where the changed document cannot be written.
    """

    def __init__(self, document: Data, type: str, write: Callable[[Data], Any], base: Any = _GONE) -> None:
        self._document = document
        self._type = type
        self._write = write
        self._base = self._written(document) if base is _GONE else base
        self._found: dict[tuple[str, str], Places] = {}

    def places(self, entry: Entry) -> "Places":
        """The places for an entry of a loss report; none where the wire says nothing of it."""
        if self._base is _GONE:
            return Places()
        key = (entry["path"], repr(entry.get("value")) if entry["op"] == "replace" else "")
        if key not in self._found:
            self._found[key] = self._search(entry)
        return self._found[key]

    def _search(self, entry: Entry) -> "Places":
        path: Path = list(parse_pointer(entry["path"]))
        value = _at(self._document, path)
        if value is _GONE:  # an absent member that the wire demands: what stands there now is what is changed
            given = entry.get("value", _GONE)
            return Places() if given is _GONE else Places.at(self._different(path, [_changed(given)]))
        around = False
        while path:
            value = _at(self._document, path)
            members = ({**value, name: _changed(value[name])} for name in value) if isinstance(value, dict) else ()
            found = self._different(path, [_changed(value)]) or self._different(path, members)
            if found := found or self._different(path, [_GONE]):
                return Places.at(found, around=around)
            around = True
            path = path[:-1]
            if isinstance(_at(self._document, path), list):
                path = path[:-1]
        return Places()

    def _different(self, path: Path, probes: Iterable[Any]) -> list[Path]:
        """The paths at which the wire differs when one of other values stands at a path of the document."""
        found: list[Path] = []
        for probe in probes:
            written = self._written(_with(self._document, path, probe))
            if written is not _GONE:
                found += (place for place in differences(self._base, written) if place not in found)
        return [_common(found)] if len(found) > _MOST else _joined(found)

    def _written(self, document: Data) -> Any:
        try:
            validate(document, self._type)
            return self._write(document)
        except InterlinguaError:
            return _GONE


def differences(before: Any, after: Any) -> Iterator[Path]:
    """The paths into `before` at which two JSON values differ. What was only added has the path of what it was added to."""
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


def _joined(paths: list[Path]) -> list[Path]:
    """The paths, those in one block or message as one: that is what a person looks at."""
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
            return _GONE
    return value


def _with(value: Any, path: Path, put: Any) -> Any:
    """A copy in which another value stands at a path, or none; the parts that stay are shared."""
    if not path:
        return put
    step, rest = path[0], path[1:]
    if isinstance(value, list):
        position = int(step)
        inner = _with(value[position], rest, put)
        return [*value[:position], *([] if inner is _GONE else [inner]), *value[position + 1 :]]
    inner = _with(value.get(step, {}) if isinstance(value, dict) else {}, rest, put)
    others = {name: item for name, item in value.items() if name != step} if isinstance(value, dict) else {}
    if inner is _GONE:
        return others
    return {**value, step: inner} if isinstance(value, dict) else {step: inner}


_KEPT = frozenset(("type", "role", "kind", "op", "id", "tool_use_id", "media_type", "adapter", "provider", "origin"))


def _changed(value: Any) -> Any:
    """A value of the same shape with other words, numbers and switches; what names a kind stays."""
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
            return {key: item if key in _KEPT else _changed(item) for key, item in value.items()}
        case _:
            return _MARK
