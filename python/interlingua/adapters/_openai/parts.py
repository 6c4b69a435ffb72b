"""Rules that contents of both wires of OpenAI, and images of Cohere's wire, share: the source of a medium, cache
marks, and members of items of any kind."""

import re
from collections.abc import Collection, Container
from typing import Any, Final

from interlingua.adapters._content.media import (
    BYTES,
    FILE,
    WEB,
    Medium,
    inline,
    located,
    refuse_source,
    sniff,
    source_of,
)
from interlingua.adapters._engine.items import ABSENT, Item, Member, by_rule
from interlingua.adapters._engine.kit import Wire, data_uri, report_unknown
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Refused, Writing
from interlingua.adapters._openai.writing import Target
from interlingua.canonical.loss import Path

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- sources of media


def address(name: str, *takes: str) -> Member:
    """Return the member for the source of a medium: a web address, a data URI of its bytes, or the id of a file."""

    def read(raw: Any, block: Item, reading: Reading) -> None:
        if type(raw) is not str or "source" in block:
            raise TypeError(name)
        found = inline(raw)
        kind = FILE if FILE in takes else WEB if found is None else BYTES
        if kind not in takes or (kind == WEB and not is_address(raw)):
            raise TypeError(name)
        block["source"] = source_of(kind, raw if found is None or kind == FILE else found[1], reading.endpoint)
        if kind == BYTES and found is not None:
            block["media_type"] = found[0]

    def write(block: Item, _: Writing, __: Path) -> Any:
        source = block["source"]
        if source["kind"] not in takes:
            return ABSENT
        return source["data"] if source["kind"] != BYTES else data_uri(block["media_type"], source["data"])

    return Member(name, ("source", "media_type"), read, write)


def is_address(text: str) -> bool:
    """Whether a text has the form of a web address or a data URI."""
    return "://" in text or text.startswith("data:")


def located_for(block: Block, taken: Collection[str], writing: Writing) -> Medium:
    """Return a medium for a wire that has bytes in a data URI. Raises `Refused` for a source that the wire does not
    accept."""
    medium = located(block)
    if block["type"] == "image" and medium.kind == BYTES and not (medium.media_type or "image/").startswith("image/"):
        raise Refused("unsupported_source", "this is not a media type of an image")
    refuse_source(block, medium, taken, writing)
    if medium.kind != BYTES:
        return Medium(medium.kind, medium.data, None)
    media_type = medium.media_type
    media_type = media_type.partition(";")[0].strip() if media_type else sniff(block["type"], medium.data)
    return Medium(BYTES, medium.data, media_type)


DETAILS: Final = frozenset(("auto", "low", "high", "original"))
"""The levels of detail with which a model of OpenAI can view an image."""


def detail(words: Container[str] = DETAILS, instead: str | None = None, *, soft: bool = False) -> Member:
    """Return the member for the detail of an image. `words` are the values of the wire; `instead`, if set, replaces
    any other."""

    def write(block: Item, writing: Writing, path: Path) -> Any:
        wished = block.get("detail")
        if wished is None:
            return ABSENT
        if wished in words or writing.untouched:
            return wished
        where, message = (*path, "detail"), "the wire does not have this value of detail"
        if instead is None:
            writing.loss.drop(where, "unsupported_value", "weakened", message)
            return ABSENT
        writing.loss.replace(where, instead, "unsupported_value", "weakened", message)
        return instead

    return by_rule("detail", ("detail",), str, write, lambda raw: raw in words, soft=soft)


def _write_file_name(block: Item, writing: Writing, path: Path) -> Any:
    name = block.get("name")
    if name or block["source"]["kind"] != BYTES:
        return ABSENT if name is None else name
    message = "the provider refuses the bytes of a file without a name"
    writing.loss.replace((*path, "name"), "document", "required_default", "representation", message)
    return "document"


def file_name(*, soft: bool = False) -> Member:
    """Return the member for the name of a file."""
    return by_rule("filename", ("name",), str, _write_file_name, always=True, soft=soft)


# ---------------------------------------------------------------------------------------------- cache marks

BREAKPOINT: Final = "prompt_cache_breakpoint"
MOST_BREAKPOINTS: Final = 4
_TTLS: Final = ("30m", "12h")
_TIME_TO_LIVE: Final = re.compile(r"[0-9]+[mh]")
_MARKS: Final[dict[str, dict[str, str]]] = {"cache_control": {"type": "ephemeral"}, BREAKPOINT: {"mode": "explicit"}}
_MARK: Final = frozenset(("ttl",))


class CacheMark:
    """Cache marks, by the names that a wire has for them."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def read(self, fields: Item, item: Item, encoding: Item, reading: Reading) -> None:
        """Move a readable mark from the kept members to the item."""
        for name in self._names:
            value, mark = fields.get(name), _MARKS[name]
            if type(value) is not dict or not value.items() >= mark.items() or not value.keys() - mark.keys() <= _MARK:
                continue
            ttl = value.get("ttl")
            if "ttl" in value and not (type(ttl) is str and _TIME_TO_LIVE.fullmatch(ttl)):
                continue
            item["cache"] = {"ttl": ttl} if ttl is not None else {}
            encoding["cache"] = name
            del fields[name]
            if name == BREAKPOINT:
                reading.marks += 1
                if ttl is not None and ttl not in _TTLS:
                    reading.must_compare = True
            return

    def write(self, cache: Item, wire: Wire, encoding: dict[str, Any], path: Path, writing: Target) -> None:
        """Write a mark under the name with which it was read, or under the dialect's name for it."""
        name = encoding.get("cache") or writing.dialect.get("cache_hints")
        loss = writing.loss
        if name not in self._names:
            loss.drop(path, "cache_hint", "weakened", "the wire does not support cache marks")
            return
        ttl = cache.get("ttl")
        if name == BREAKPOINT:
            if "cache" not in encoding and not writing.takes_marks():
                loss.drop(
                    path,
                    "cache_hint",
                    "weakened",
                    "the wire supports cache marks only on parts of the user and the system",
                )
                return
            if writing.breakpoints >= MOST_BREAKPOINTS:
                loss.drop(path, "limit_exceeded", "weakened", f"the wire accepts {MOST_BREAKPOINTS} cache marks")
                return
            writing.breakpoints += 1
            if not (ttl is None or ttl in _TTLS or writing.untouched):
                loss.drop((*path, "ttl"), "cache_hint", "weakened", "the wire does not support this time to live")
                ttl = None
        wire[name] = {**_MARKS[name]} if ttl is None else {**_MARKS[name], "ttl": ttl}
        report_unknown(cache, _MARK, loss, path)


# ---------------------------------------------------------------------------------------------- items of any kind


def _read_index(raw: Any, _: Item, __: Any) -> None:
    if type(raw) is not int:
        raise TypeError("index")


INDEX: Final = Member("index", (), _read_index, lambda item, writing, path: ABSENT, lambda raw: False, soft=True)
"""The position of an item in its list, which has no meaning: it is written back unchanged, and is no loss elsewhere."""
