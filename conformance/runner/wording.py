"""Where an implementation may choose its own words: loss reports and wires are compared by rule there, not by letter.

The specification fixes what happens to a value, not how a placeholder, a filler, a marker or a fitted name reads. So of a
loss report the operation, the place, the destination, the code and the severity must be those of the golden report, in
any order; of the new values those that are wording must only be of the right kind; and what was written in the golden wire
is looked for in the words of the implementation. That both together are true is for the loss law to say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .compare import MISSING, Difference, apply, difference, dumps, get, parse_pointer, show, visible

Entry = dict[str, Any]
_SHOWN = 6
"""Entries that are missing or not expected, in one message."""
_KEY = ("op", "path", "to", "code", "severity")


class WordingError(Exception):
    """A report that is not the golden one, whatever the words. `difference` when there is a place to point at."""

    def __init__(self, message: str, found: Difference | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.difference = found


@dataclass
class Words:
    """The words of the golden files and those that stand for them here."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, str] = field(default_factory=dict[str, str])

    def put(self, value: Any) -> Any:
        """A golden value in the implementation's words."""
        if isinstance(value, str):
            if value in self.names:
                return self.names[value]
            for golden, own in self.texts.items():
                value = value.replace(golden, own)
            return value
        if isinstance(value, dict):
            return {name: self.put(item) for name, item in value.items()}
        return [self.put(item) for item in value] if isinstance(value, list) else value

    def learn(self, into: dict[str, str], golden: str, own: str) -> None:
        """Take note of a pair; the same golden words must be said the same way everywhere."""
        known = into.setdefault(golden, own)
        if known != own:
            raise WordingError(f"{show(golden)} is said in two ways: {show(known)} and {show(own)}")


def compare_reports(request: Any, golden: list[Entry], loss: list[Any]) -> Words:
    """The words of a report that says the same as the golden one; WordingError when it does not."""
    words = Words()
    rest = list(loss)
    pairs: list[tuple[Entry, Entry]] = []
    reworded: list[Entry] = []
    missing: list[Entry] = []
    for entry in golden:
        key = _key(entry, request)
        index = next((index for index, other in enumerate(rest) if _key(other, request) == key), None)
        if index is None:
            near = next((other for other in rest if _at(other) == _at(entry)), None)
            if near is not None:
                found = difference(_plain(entry), _plain(near))
                raise WordingError(f"an entry of the loss report ({show(entry.get('path'))})", found)
            missing.append(entry)
            continue
        own = rest.pop(index)
        pairs.append((entry, own))
        _learn(words, request, entry, own)
        reworded.append({**entry, **{name: own[name] for name in ("path", "value") if name in own}})
    if missing or rest:
        wrong = [f"{told(entry)} is missing" for entry in missing]
        wrong += [f"{told(entry)} is not expected" for entry in rest]
        more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise WordingError(f"{counted(golden, loss)}; {'; '.join(wrong[:_SHOWN])}{more}")
    for entry, own in pairs:
        _compare_values(words, entry, own)
    found = difference(visible(apply(request, reworded)), visible(apply(request, loss)))
    if found is not None:
        raise WordingError("the entries are right, but applied in this order they give another request", found)
    if len(set(words.names.values())) < len(words.names):
        raise WordingError(f"two names became one: {show(words.names)}")
    return words


def told(entry: Any) -> str:
    entry = entry if isinstance(entry, dict) else {}
    return f"{entry.get('op')} {entry.get('path') or '/'} ({entry.get('code')}, {entry.get('severity')})"


def counted(golden: list[Any], loss: list[Any]) -> str:
    return f"{len(golden)} entries expected, got {len(loss)}"


def _plain(entry: Any) -> Any:
    return {name: entry[name] for name in _KEY if name in entry} if isinstance(entry, dict) else entry


def _at(entry: Any) -> tuple[Any, Any]:
    return (entry.get("op"), entry.get("path")) if isinstance(entry, dict) else (None, None)


def _key(entry: Any, request: Any) -> str:
    """What must be the same. A message that nobody wrote begins at a member that nobody wrote: its name is free."""
    if not isinstance(entry, dict):
        return ""
    seen = _plain(entry)
    path = entry.get("path")
    if entry.get("code") == "filler" and isinstance(path, str) and path.count("/") == 1:
        if get(request, path) is MISSING:
            seen["path"] = "/(a new member)"
    return dumps([[name, seen[name]] for name in _KEY if name in seen])


# --- values -----------------------------------------------------------------------------------------------------------------


def _learn(words: Words, request: Any, golden: Entry, own: Entry) -> None:
    rule = _RULES.get(str(golden.get("code")))
    if rule is not None and "value" in golden and "value" in own:
        leaf = (parse_pointer(golden["path"]) or [""])[-1]
        rule(words, golden["value"], own["value"], leaf, get(request, golden["path"]))


def _compare_values(words: Words, golden: Entry, own: Entry) -> None:
    """The value is the golden one, by letter or in the implementation's words."""
    one, two = golden.get("value", MISSING), own.get("value", MISSING)
    found = difference(words.put(one), two) if one is not MISSING else difference(one, two)
    if found is not None:
        place = Difference("/value" + found.pointer, found.expected, found.actual)
        raise WordingError(f"an entry of the loss report ({show(golden.get('path'))})", place)


def _texts(words: Words, golden: Any, own: Any, leaf: str, written: Any) -> None:
    """Any text may stand there, an empty one only where the golden one is empty."""
    if isinstance(golden, str) and isinstance(own, str):
        if golden.strip() and own.strip():
            words.learn(words.texts, golden, own)
    elif isinstance(golden, list) and isinstance(own, list):
        for one, two in zip(golden, own, strict=False):
            _texts(words, one, two, leaf, written)
    elif isinstance(golden, dict) and isinstance(own, dict):
        for name in ("content", "text"):
            if name in golden and name in own:
                _texts(words, golden[name], own[name], name, written)


def _marked(words: Words, golden: Any, own: Any, leaf: str, written: Any) -> None:
    """A marked text must still hold the text that was marked; the role is no wording."""
    if leaf == "text" and isinstance(golden, str) and isinstance(own, str) and isinstance(written, str):
        if written in own:
            words.learn(words.texts, golden, own)


def _fitted(words: Words, golden: Any, own: Any, leaf: str, written: Any) -> None:
    """A name that fits; whether it does, the written rules of the wire tell."""
    if isinstance(golden, str) and isinstance(own, str) and own.strip():
        words.learn(words.names, golden, own)


def _named(words: Words, golden: Any, own: Any, leaf: str, written: Any) -> None:
    """A name or instructions that the wire demands. Other values that it demands are no wording."""
    if leaf == "name":
        _fitted(words, golden, own, leaf, written)
    elif leaf in ("system", "content"):
        _texts(words, golden, own, leaf, written)


def _described(words: Words, golden: Any, own: Any, leaf: str, written: Any) -> None:
    """A description that tells what the schema cannot say must still hold the description that was there."""
    if leaf == "description" and isinstance(golden, str) and isinstance(own, str):
        if own.strip() and (not isinstance(written, str) or written in own):
            words.learn(words.texts, golden, own)
    elif isinstance(golden, dict) and isinstance(own, dict):
        for name in golden:
            if name in own:
                before = written.get(name, MISSING) if isinstance(written, dict) else MISSING
                _described(words, golden[name], own[name], name, before)


Rule = Callable[[Words, Any, Any, str, Any], None]
_RULES: dict[str, Rule] = {
    "filler": _texts,
    "placeholder": _texts,
    "media_moved": _texts,
    "marker": _marked,
    "name_rewritten": _fitted,
    "required_default": _named,
    "schema_weakened": _described,
}
