"""
A value of a wire beside another: where they are spelt otherwise, and how one becomes the other again.

What came and what is written are compared place by place, by JSON Pointer. Of each place that differs is kept what stood there
(`raw`) and an imprint of what is written there (`written`), or of the element of a list in which it stands; where something went
from a list or was added to it, what stood `between` what is the same. It is put back where the same is written again. A list or an
object for which nothing is written is put back `within` an object of which the same is written: it may say what that says.

What says the same in other letters is kept as a word, which needs no imprint: a lone text as a string or a list, base64 in another
alphabet, a member under its `name` in snake_case. It is put back wherever something stands there. Null and false where nothing is
written, neither there nor beside it, are put back where the same members stand (`beside`). None of it is put on what is opaque:
another spelling of that is another value.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from interlingua.adapters._as_read import imprint
from interlingua.canonical.loss import Path, parse_pointer, pointer

Item = dict[str, Any]
Spellings = dict[str, dict[str, Any]]
_ABSENT: Final = object()


# ---------------------------------------------------------------------------------------------- comparing


def compared(raw: Any, written: Any) -> Spellings:
    """Where something is written otherwise than it came."""
    spellings: Spellings = {}
    _compare((), raw, written, _ABSENT, spellings)
    return spellings


def _compare(path: Path, raw: Any, written: Any, anchor: Any, spellings: Spellings) -> None:
    """Collects where something is written otherwise than it came; `anchor` is the element of a list in which that stands."""
    if raw is written:
        return
    if type(raw) is dict and type(written) is dict:
        names = {}
        silent = {}
        added = len(written)
        for name, value in raw.items():
            there = written.get(name, _ABSENT)
            first = name
            if there is _ABSENT and (first := _in_camel_case(name, raw, written)) != name:
                there = written[first]
                names[first] = name
            if there is not _ABSENT:
                added -= 1
            elif anchor is not _ABSENT and _has_no_effect(name, value, path):
                silent[name] = value
                continue
            elif anchor is _ABSENT and value and (type(value) is list or type(value) is dict):
                spellings[pointer((*path, name))] = {"raw": value, "within": imprint(written, "wire")}
                continue
            # most is the same: a text needs no call of its own
            if value is not there and (type(value) is not str or value != there):
                _compare((*path, first), value, there, anchor, spellings)
            if first != name:
                spellings.setdefault(pointer((*path, first)), {})["name"] = name
        for name, value in silent.items():
            # where a member is written that did not come, it may say what is null or false here
            known_by = {"written": imprint(anchor, "wire")} if added else {"beside": _names(written)}
            spellings[pointer((*path, name))] = {"raw": value, **known_by}
        for name, value in written.items() if added else ():
            if name in raw or name in names:
                continue
            if value is None and anchor is _ABSENT:
                spellings[pointer((*path, name))] = {"word": ABSENT}
            else:
                spellings[pointer((*path, name))] = {"written": imprint(value if anchor is _ABSENT else anchor, "wire")}
    elif type(raw) is list and type(written) is list and len(raw) == len(written):
        for number, value in enumerate(raw):
            there = written[number]
            if value is not there:
                _compare((*path, number), value, there, there if anchor is _ABSENT else anchor, spellings)
    elif (word := _word(raw, written)) is not None:
        spellings[pointer(path)] = {"word": word}
        if word not in _WORDS:
            for name, value in raw[0].items():
                if name != "type" and name != "text":
                    kept = spellings[pointer((*path, 0, name))] = {"raw": value}
                    if anchor is not _ABSENT:
                        kept["written"] = imprint(anchor, "wire")
    elif type(raw) is list and type(written) is list and anchor is _ABSENT:
        # some of it went or was added: what stands around that is the same
        before = _alike(raw, written)
        behind = _alike(raw[before:][::-1], written[before:][::-1])
        spellings[pointer(path)] = {
            "between": [before, behind],
            "raw": raw[before : len(raw) - behind],
            "written": imprint(written[before : len(written) - behind], "wire"),
        }
    elif type(raw) is not type(written) or raw != written:
        kept = spellings[pointer(path)] = {"raw": raw}
        known = written if anchor is _ABSENT else anchor
        if known is not _ABSENT:
            kept["written"] = imprint(known, "wire")


def are_same(left: list[Any], right: list[Any]) -> bool:
    spellings: Spellings = {}
    _compare((), left, right, _ABSENT, spellings)
    return not spellings


def _alike(raw: list[Any], written: list[Any]) -> int:
    """How many elements at the beginning of two lists are the same."""
    number = 0
    for one, other in zip(raw, written, strict=False):
        if not are_same([one], [other]):
            break
        number += 1
    return number


def _has_no_effect(name: str, value: Any, path: Path) -> bool:
    """Whether a member of an element of a list holds a default, or says what the place of the element says: its position, or
    that a call is one of a function."""
    if name == "type" and value == "function":
        return True
    return value is None or value is False or (name == "index" and type(value) is int and value == path[-1])


def read_elements(
    read: Callable[[Any, Any], Item], items: list[Any], reading: Any, member: str, silent: str, spellings: Spellings
) -> list[Item]:
    """The blocks of the elements of a list, each read without the member (`silent`) that says nothing beside its place: that is
    kept with the places of the item whose `member` the list is. What is opaque is kept with it."""
    blocks: list[Item] = []
    for number, item in enumerate(items):
        if silent in item and _has_no_effect(silent, item[silent], (number,)):
            without = {name: value for name, value in item.items() if name != silent}
            block = read(without, reading)
            if block["type"] == "opaque":
                block["value"] = item
            else:
                spellings[f"/{member}/{number}/{silent}"] = {"raw": item[silent], "beside": _names(without)}
        else:
            block = read(item, reading)
        blocks.append(block)
    return blocks


def _names(item: Item) -> str:
    return ",".join(sorted(item)) if len(item) > 1 else next(iter(item), "")


def _in_camel_case(name: str, raw: Item, written: Item) -> str:
    """The name under which a member that came in snake_case is written; the same name where it is not."""
    first, *words = name.split("_")
    found = first + "".join([word[:1].upper() + word[1:] for word in words])
    return found if words and found in written and found not in raw else name


def written_is(value: Any) -> str:
    """What is kept of a place to tell that this is written there."""
    short = type(value) is bool or type(value) is int or (type(value) is str and len(value) < 16)
    return _written_word(value) if short else imprint(value, "wire")


@lru_cache(maxsize=64, typed=True)
def _written_word(value: int | str) -> str:
    return imprint(value, "wire")


# ---------------------------------------------------------------------------------------------- words

LIST: Final = "text"
"""A lone text that came as a list of one part of this type, of whatever words."""
STRING: Final = "string"
"""One that came as a string."""
_BASE64: Final = ("base64url", "base64url unpadded", "base64 unpadded")
"""Base64 that came in the other alphabet, or without its padding."""
EMPTY: Final = "empty"
"""An empty text that came where null is written."""
ABSENT: Final = "absent"
"""Nothing at all that came where null is written."""
_WORDS: Final = (STRING, *_BASE64, EMPTY, ABSENT)


def lone_text(content: Any, kinds: Sequence[str] = (LIST,)) -> str | None:
    """The words of a content of one part that is a text, of one of these kinds, and nothing else."""
    if type(content) is list and len(content) == 1 and type(part := content[0]) is dict and len(part) == 2:
        text = part.get("text")
        if part.get("type") in kinds and type(text) is str:
            return text
    return None


def _word(raw: Any, written: Any) -> str | None:
    if type(written) is str and type(raw) is str:
        if not len(written) - 3 < len(raw) <= len(written):
            return None
        return next((word for word in _BASE64 if raw != written and _in_form(word, written) == raw), None)
    if type(written) is str and type(raw) is list:
        if written and len(raw) == 1 and type(part := raw[0]) is dict and part.get("text") == written:
            kind = part.get("type")
            return kind if type(kind) is str and kind not in _WORDS else None
        return None
    if type(raw) is str and type(written) is list:
        return STRING if lone_text(written) == raw else None
    return EMPTY if raw == "" and written is None else None


def _in_form(word: str, content: Any) -> Any:
    if word not in _WORDS:
        return [{"type": word, "text": content}] if type(content) is str and content else content
    if word in _BASE64:
        if type(content) is not str:
            return content
        converted = content.replace("+", "-").replace("/", "_") if word.startswith("base64url") else content
        return converted.rstrip("=") if word.endswith("unpadded") else converted
    if word == STRING:
        text = lone_text(content)
        return content if text is None else text
    return content if content is not None else "" if word == EMPTY else _ABSENT


def with_content(word: str, wire: Any) -> Any:
    if type(wire) is not dict:
        return wire
    content = wire.get("content")
    converted = _in_form(word, content)
    if converted is content or "content" not in wire:
        return wire
    if converted is _ABSENT:
        return {name: value for name, value in wire.items() if name != "content"}
    return {**wire, "content": converted}


# ---------------------------------------------------------------------------------------------- putting back


def with_spellings(spellings: Spellings, written: Any, opaque: Sequence[Any] = ()) -> Any:
    """What is written as it came; `opaque` are the values that may stand in it and are spelt in no way, since an edit may have put
    one where something else stood."""
    made = {**written} if type(written) is dict else written
    named: list[list[str]] = []
    last: Any = _ABSENT  # several places may stand in one element of a list
    known: str | None = None
    for there, kept in spellings.items():
        steps = _steps(there)
        if len(steps) == 1 and len(kept) == 1 and type(made) is dict and "name" not in kept:  # most places
            _put_member(steps[0], kept, written, made)
            continue
        if opaque and _stands_in(opaque, written, steps):
            continue
        if "beside" in kept:
            holder = _value(written, steps[:-1])
            if type(holder) is dict and steps[-1] not in holder and _names(holder) == kept["beside"]:
                made = _with(made, steps, kept)
            continue
        if "within" in kept:
            if _stands_within(kept, written, steps):
                made = _with(made, steps, kept)
            continue
        if "between" in kept:
            listed = _value(written, steps)
            if _stands_between(kept, listed):
                before, behind = kept["between"]
                came = [*listed[:before], *kept["raw"], *listed[len(listed) - behind :]]
                made = _with(made, steps, {"raw": came})
            continue
        if "name" in kept:
            named.append([*steps, kept["name"]])
        if "word" in kept:
            place = _value(written, steps)
            value = place if place is _ABSENT else _in_form(kept["word"], place)
            if value is not place:
                made = _with(made, steps, {} if value is _ABSENT else {"raw": value})
        elif "raw" in kept or "written" in kept:
            anchor = _anchor(written, steps)
            if anchor is not last:
                last, known = anchor, None if anchor is _ABSENT else imprint(anchor, "wire")
            if kept.get("written") == known:
                made = _with(made, steps, kept)
    if named:
        for steps in sorted(named, key=len, reverse=True):  # a member before the object in which it stands
            made = _renamed(made, steps)
    return made


def _stands_in(opaque: Sequence[Any], written: Any, steps: Sequence[str]) -> bool:
    """Whether a place is one within an opaque value."""
    for step in steps[:-1]:
        written = _value(written, (step,))
        if written in opaque:
            return True
    return False


def _put_member(name: str, kept: dict[str, Any], written: Item, made: Item) -> None:
    """Puts a member of an item itself as it came: what stood where nothing is written, a word, or nothing at all."""
    if "raw" in kept:
        if name not in written:
            made[name] = kept["raw"]
    elif name in written:
        now = written[name]
        value = _in_form(kept["word"], now) if "word" in kept else _ABSENT
        if value is not _ABSENT:
            made[name] = value
        elif "word" in kept or kept["written"] == written_is(now):
            del made[name]


def fits(spellings: Spellings, written: Any) -> bool:
    """Whether all that is kept of an item may be put back: a report is of all that it says."""
    for there, kept in spellings.items():
        if "between" in kept:
            if not _stands_between(kept, _value(written, _steps(there))):
                return False
        elif "within" in kept:
            if not _stands_within(kept, written, _steps(there)):
                return False
        elif "word" not in kept and "beside" not in kept and ("raw" in kept or "written" in kept):
            anchor = _anchor(written, _steps(there))
            if kept.get("written") != (None if anchor is _ABSENT else imprint(anchor, "wire")):
                return False
    return True


def _stands_within(kept: dict[str, Any], written: Any, steps: Sequence[str]) -> bool:
    """Whether the same is written in the object in which something stood that is written nowhere."""
    holder = _value(written, steps[:-1])
    return type(holder) is dict and kept["within"] == imprint(holder, "wire")


def _stands_between(kept: dict[str, Any], written: Any) -> bool:
    """Whether the same stands in a list in the place of what went or was added there."""
    before, behind = kept["between"]
    if type(written) is not list or before + behind > len(written):
        return False
    fits: bool = kept["written"] == imprint(written[before : len(written) - behind], "wire")
    return fits


def _anchor(written: Any, steps: list[str]) -> Any:
    """What is written at a place, or the element of a list in which it stands."""
    for step in steps:
        if type(written) is list:
            return written[int(step)] if step.isdecimal() and int(step) < len(written) else _ABSENT
        written = written.get(step, _ABSENT) if type(written) is dict else _ABSENT
    return written


def _value(written: Any, steps: Sequence[str]) -> Any:
    """What is written at a place."""
    try:
        for step in steps:
            written = written[int(step)] if type(written) is list else written[step]
    except (KeyError, IndexError, TypeError, ValueError):
        return _ABSENT
    return written


_steps: Final = lru_cache(1024)(parse_pointer)


def _renamed(value: Any, steps: list[str]) -> Any:
    """A copy of a value in which the member at a place has the name that stands behind it."""
    if len(steps) == 2:
        known, name = steps
        return {name if key == known else key: item for key, item in value.items()} if type(value) is dict else value
    inner = _value(value, steps[:1])
    return value if inner is _ABSENT else _with(value, steps[:1], {"raw": _renamed(inner, steps[1:])})


def _with(value: Any, steps: Sequence[str], kept: dict[str, Any]) -> Any:
    """A copy of a value in which something stands as it came; the same where it has no such place any more."""
    if not steps:
        return kept["raw"]
    if type(_value(value, steps[:-1])) not in (dict, list):
        return value
    made: Any = value.copy()
    here = made
    *above, last = steps
    for step in above:
        name: Any = int(step) if type(here) is list else step
        inner = here[name].copy()
        here[name] = inner
        here = inner
    if type(here) is list:
        here[int(last)] = kept["raw"]
    elif "raw" in kept:
        here[last] = kept["raw"]
    else:
        here.pop(last, None)
    return made
