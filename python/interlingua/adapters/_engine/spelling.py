"""
Compare two values of a wire: where they differ, and how one becomes the other again.

The value that came and the value that is written are compared place by place. For each place that differs, one of these
is kept by JSON Pointer:

- `raw` and `written`: the value that was at the place (no `raw`, if there was none), and an imprint of what is written
  instead. The imprint is of the value at the place; or, if the place is in an element of a list, of the element, for an
  edit may put another one there. Of a list or an object for which nothing is written, it is of the object that held it,
  for other members of that may have the same meaning. The value is put back where the same is written again.
- `raw` alone: a value that adds nothing to what is written. It is put back where the place is absent.
- `word`: the same value in other letters: a lone text as a string or a list, base64 in another alphabet. It is put back
  wherever a value of the kind is at the place.
- `name`: the name that a member had in snake_case. It is put back wherever the member is present.

None of these is put into an opaque value: another spelling of it is another value.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.loss import Path, parse_pointer, pointer

Item = dict[str, Any]
Spellings = dict[str, dict[str, Any]]
"""By JSON Pointer, what is kept of that place."""

_ABSENT: Final = object()


def imprint(value: Any) -> str:
    """A short hash of a value that would be too long to keep."""
    if value is None or value is True or value is False:
        return _CONSTANTS[value]
    return hashlib.sha256(json.dumps_sorted(value)).hexdigest()[:16]


_CONSTANTS: Final = {value: hashlib.sha256(json.dumps_sorted(value)).hexdigest()[:16] for value in (None, True, False)}


# ---------------------------------------------------------------------------------------------- comparing


def differences(raw: Any, written: Any) -> Spellings:
    """The places where a value is written otherwise than it came."""
    spellings: Spellings = {}
    _compare((), raw, written, _ABSENT, spellings)
    return spellings


def are_same(raw: Any, written: Any) -> bool:
    """Whether two values are the same in JSON. In Python, `True == 1 == 1.0`; here they differ."""
    return not differences(raw, written)


def _compare(path: Path, raw: Any, written: Any, element: Any, spellings: Spellings) -> None:
    """Collect the differences in `spellings`; `element` is the element of a list that the place is in."""
    if raw is written:
        return
    if type(raw) is dict and type(written) is dict:
        _compare_members(path, _in_camel_case(path, raw, written, spellings), written, element, spellings)
    elif type(raw) is list and type(written) is list and len(raw) == len(written):
        for number, value in enumerate(raw):
            there = written[number]
            if value is not there:
                _compare((*path, number), value, there, there if element is _ABSENT else element, spellings)
    elif (word := _word(raw, written)) is not None:
        spellings.setdefault(pointer(path), {})["word"] = word
    elif type(raw) is not type(written) or raw != written:
        known = imprint(written if element is _ABSENT else element)
        spellings.setdefault(pointer(path), {}).update(raw=raw, written=known)


def _compare_members(path: Path, raw: Item, written: Item, element: Any, spellings: Spellings) -> None:
    added = [name for name in written if name not in raw]
    for name, value in raw.items():
        there = written.get(name, _ABSENT)
        if there is not _ABSENT:
            # most values are the same; a text is compared here to save a call
            if value is not there and (type(value) is not str or value != there):
                _compare((*path, name), value, there, element, spellings)
        elif (
            _has_no_effect(name, value, path) if element is not _ABSENT else not (value and type(value) in (dict, list))
        ):
            # if a member is written that did not come, it may state what a null or false here states
            known = {"written": imprint(element)} if added and element is not _ABSENT else {}
            spellings[pointer((*path, name))] = {"raw": value, **known}
        else:
            known = {"written": imprint(written if element is _ABSENT else element)}
            spellings[pointer((*path, name))] = {"raw": value, **known}
    for name in added:
        spellings[pointer((*path, name))] = {"written": imprint(written[name] if element is _ABSENT else element)}


def _has_no_effect(name: str, value: Any, path: Path) -> bool:
    """Whether a member of an element of a list is a default, or repeats what the place of the element states: its
    position, or that a call is one of a function."""
    if name == "type" and value == "function":
        return True
    return value is None or value is False or (name == "index" and type(value) is int and value == path[-1])


def read_elements(
    read: Any, items: list[Any], reading: Any, member: str, silent: str, spellings: Spellings
) -> list[Item]:
    """Read the elements of a list as blocks, each without the member `silent` if that repeats what its place states.

    The removed member is kept in `spellings`, those of the item that has the list as its `member`. An opaque block
    keeps it in its value.
    """
    blocks: list[Item] = []
    for number, item in enumerate(items):
        if silent in item and _has_no_effect(silent, item[silent], (number,)):
            block = read({name: value for name, value in item.items() if name != silent}, reading)
            if block["type"] == "opaque":
                block["value"] = item
            else:
                spellings[f"/{member}/{number}/{silent}"] = {"raw": item[silent]}
        else:
            block = read(item, reading)
        blocks.append(block)
    return blocks


def _in_camel_case(path: Path, raw: Item, written: Item, spellings: Spellings) -> Item:
    """The object with members renamed to the names under which they are written; names in snake_case are kept."""
    names: dict[str, str] = {}
    for name in raw:
        if "_" in name and name not in written:
            first, *words = name.split("_")
            found = first + "".join([word[:1].upper() + word[1:] for word in words])
            if found in written and found not in raw:
                names[name] = found
                spellings[pointer((*path, found))] = {"name": name}
    return {names.get(name, name): value for name, value in raw.items()} if names else raw


# ------------------------------------------------------------------------------------ other spellings of the same value

LIST: Final = "text"
"""A lone text that came as a list of one part of this type."""
STRING: Final = "string"
"""A lone text that came as a string."""
_BASE64: Final = ("base64url", "base64url unpadded", "base64 unpadded")
"""Base64 that came in the other alphabet, or without its padding."""
_WORDS: Final = (STRING, *_BASE64)
NULL: Final = imprint(None)
"""The imprint of a place where null is written."""


def lone_text(content: Any, kinds: Sequence[str] = (LIST,)) -> str | None:
    """The text of a content that has exactly one part, a text of one of these kinds; None for any other."""
    if type(content) is list and len(content) == 1 and type(part := content[0]) is dict and len(part) == 2:
        text = part.get("text")
        if part.get("type") in kinds and type(text) is str:
            return text
    return None


def _word(raw: Any, written: Any) -> str | None:
    if type(raw) is str and type(written) is list:
        return STRING if lone_text(written) == raw else None
    if type(written) is not str or not written:
        return None
    words: Sequence[Any] = _BASE64 if type(raw) is str else ()
    if type(raw) is list and len(raw) == 1 and type(raw[0]) is dict:
        words = [raw[0].get("type")]
    elif type(raw) is str and (raw == written or not len(written) - 3 < len(raw) <= len(written)):
        return None
    for word in words:
        if type(word) is str and _in_form(word, written) == raw:
            return word
    return None


def _in_form(word: str, value: Any) -> Any:
    """A value in the spelling that a `word` names."""
    if word == STRING:
        text = lone_text(value)
        return value if text is None else text
    if type(value) is not str or not value:
        return value
    if word not in _BASE64:
        return [{"type": word, "text": value}]
    data = value.replace("+", "-").replace("/", "_") if word.startswith("base64url") else value
    return data.rstrip("=") if word.endswith("unpadded") else data


# ---------------------------------------------------------------------------------------------- putting back


def with_spellings(spellings: Spellings, written: Any, opaque: Sequence[Any] = ()) -> tuple[Any, bool]:
    """Return the written value with each place as it came where that still fits, and whether it fitted everywhere.

    `opaque` are opaque values that may be in it: an edit may have put one where another value was.
    """
    made = written.copy() if type(written) is dict else written
    fits = True
    names: list[tuple[Sequence[str], str]] = []
    for there, kept in spellings.items():
        steps = _steps(there)
        if len(steps) == 1 and len(kept) == 1 and "raw" in kept:  # most spellings
            if steps[0] not in written:
                made[steps[0]] = kept["raw"]
            continue
        if opaque and _stands_in(opaque, written, steps):
            continue
        if "name" in kept:
            names.append((steps, kept["name"]))
        if "word" in kept:
            value = _value(written, steps)
            if (converted := _in_form(kept["word"], value)) is not value:
                made = _with(made, steps, converted)
        elif "written" in kept:
            known = _known(written, steps)
            if known is not _ABSENT and kept["written"] == imprint(known):
                made = _with(made, steps, kept.get("raw", _ABSENT))
            else:
                fits = False
        elif "raw" in kept and _value(written, steps) is _ABSENT:
            made = _with(made, steps, kept["raw"])
    for place, name in reversed(names):  # a member before the object that holds it
        value = _value(made, place)
        if value is not _ABSENT:
            made = _with(_with(made, place, _ABSENT), [*place[:-1], name], value)
    return made, fits


_steps: Final = lru_cache(1024)(parse_pointer)


def _stands_in(opaque: Sequence[Any], written: Any, steps: Sequence[str]) -> bool:
    """Whether a place is inside an opaque value."""
    for step in steps[:-1]:
        written = _value(written, (step,))
        for value in opaque:
            if value is written:
                return True
    return False


def _known(written: Any, steps: Sequence[str]) -> Any:
    """The value of which the imprint of a place is: the element of a list that it is in, the value there, or the object
    that lacks it."""
    for step in steps:
        inner = _value(written, (step,))
        if type(written) is list:
            return inner
        if inner is _ABSENT:
            return written
        written = inner
    return written


def _value(written: Any, steps: Sequence[str]) -> Any:
    """The value at a place; `_ABSENT` if there is none."""
    for step in steps:
        if type(written) is dict:
            written = written.get(step, _ABSENT)
        elif type(written) is list:
            written = written[int(step)] if step.isdecimal() and int(step) < len(written) else _ABSENT
        else:
            return _ABSENT
    return written


def _with(written: Any, steps: Sequence[str], value: Any) -> Any:
    """A copy with a value, or none (`_ABSENT`), at a place; the value itself if the place does not exist any more."""
    if not steps:
        return value
    if type(written) is list:
        inner = _value(written, steps[:1])
        if inner is _ABSENT:
            return written
        number = int(steps[0])
        return [*written[:number], _with(inner, steps[1:], value), *written[number + 1 :]]
    if type(written) is not dict or (len(steps) > 1 and steps[0] not in written):
        return written
    made = written.copy()
    if len(steps) > 1:
        made[steps[0]] = _with(written[steps[0]], steps[1:], value)
    elif value is _ABSENT:
        made.pop(steps[0], None)
    else:
        made[steps[0]] = value
    return made
