"""What content of both wires of OpenAI has in common: where a medium is, marks for the cache, items that are kept whole."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._items import ABSENT, Item, Member
from interlingua.adapters._kit import Wire, data_uri, report_unknown
from interlingua.adapters._media import DETAILS, inline, sniff
from interlingua.adapters._openai_writing import Target
from interlingua.canonical.loss import Path

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- where a medium is

WEB, BYTES, FILE = "url", "base64", "file_id"


def address(name: str, *takes: str) -> Member:
    """A member that says where a medium is: at a web address, in a data URI of its bytes, or under the id of a file."""

    def read(raw: Any, block: Item, reading: Any) -> None:
        if type(raw) is not str or "source" in block:
            raise TypeError(name)
        if FILE in takes:
            block["source"] = {"kind": FILE, "data": raw}
            if reading.endpoint.provider is not None:
                block["source"]["provider"] = reading.endpoint.provider
            return
        found = inline(raw)
        if (WEB if found is None else BYTES) not in takes:
            raise TypeError(name)
        block["source"] = {"kind": WEB, "data": raw} if found is None else {"kind": BYTES, "data": found[1]}
        if found is not None:
            block["media_type"] = found[0]

    def write(block: Item, writing: Target, path: Path) -> Any:
        return _address(block, writing, path) if _place(block["source"]) in takes else ABSENT

    return Member(name, ("source", "media_type"), read, write)


def _place(source: Item) -> str:
    """Where a medium is in the words of these wires; a data URI is the bytes that it holds."""
    kind: str = source["kind"]
    return BYTES if kind == WEB and inline(source.get("data", "")) is not None else kind


def _address(block: Block, writing: Target, path: Path) -> str:
    source, loss = block["source"], writing.loss
    report_unknown(source, _SOURCE, loss, (*path, "source"))
    media_type: str | None = block.get("media_type")
    data: str = source.get("data", "")
    if source["kind"] == BYTES:
        written = media_type.partition(";")[0].strip() if media_type else sniff(block["type"], data)
        report_media_type(written, media_type, path, writing)
        return data_uri(written, data)
    found = inline(data) if source["kind"] == WEB else None
    if found is not None:
        report_media_type(found[0], media_type, path, writing)
        value = {"kind": BYTES, "data": found[1]}
        message = "a data URI is read back as its bytes"
        loss.replace((*path, "source"), value, "unsupported_source", "representation", message)
    elif media_type is not None:
        message = "who has the file knows its type"
        loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
    return data


_SOURCE: Final = frozenset(("kind", "data", "provider"))


def is_of_another(source: Item, writing: Target) -> bool:
    """Whether a source is the id of a file that another provider has."""
    provider = source.get("provider")
    return source["kind"] == FILE and provider is not None and writing.endpoint.provider not in (None, provider)


def report_media_type(written: str, given: str | None, path: Path, writing: Target) -> None:
    """Reports a media type that is written otherwise than it was given."""
    if written != given:
        code = "required_default" if given is None else "unsupported_value"
        message = "the media type is written as the wire demands it"
        writing.loss.replace((*path, "media_type"), written, code, "representation", message)


def _read_detail(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("detail")
    block["detail"] = raw


def _write_detail(block: Item, writing: Target, path: Path) -> Any:
    detail = block.get("detail")
    if detail is None:
        return ABSENT
    if detail in DETAILS or writing.whole:
        return detail
    message = "the wire has no such word for how closely to look"
    writing.loss.drop((*path, "detail"), "unsupported_value", "weakened", message)
    return ABSENT


def _is_detail(raw: Any) -> bool:
    return raw in DETAILS


def detail(*, soft: bool = False) -> Member:
    """How closely to look at an image."""
    return Member("detail", ("detail",), _read_detail, _write_detail, _is_detail, soft=soft)


def _read_file_name(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("filename")
    block["name"] = raw


def file_name(write: Callable[[Item, Any, Path], Any], *, soft: bool = False) -> Member:
    """The name of a file."""
    return Member("filename", ("name",), _read_file_name, write, always=True, soft=soft)


OF_DOCUMENTS: Final = ("title", "context", "citations_enabled")
"""What the contract says of a document, and these wires do not."""


def report_of_document(block: Block, path: Path, writing: Target) -> None:
    """Reports what the wires do not say of a document; an empty text is no great loss."""
    for name in OF_DOCUMENTS:
        if block.get(name) not in (None, False):
            severity = "weakened" if block[name] else "representation"
            message = f"the wire has no {name.replace('_', ' ')} of a document"
            writing.loss.drop((*path, name), "unsupported_field", severity, message)


# ---------------------------------------------------------------------------------------------- marks for the cache

BREAKPOINT: Final = "prompt_cache_breakpoint"
MOST_BREAKPOINTS: Final = 4
_TTLS: Final = ("30m", "12h")
_TIME_TO_LIVE: Final = re.compile(r"[0-9]+[mh]")
_MARKS: Final[dict[str, dict[str, str]]] = {"cache_control": {"type": "ephemeral"}, BREAKPOINT: {"mode": "explicit"}}
_MARK: Final = frozenset(("ttl",))


class CacheMark:
    """Marks for the cache, by the names that a wire has for them."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def read(self, fields: Item, item: Item, encoding: Item, reading: Any) -> None:
        """Takes a readable mark out of the members that are kept, onto the item."""
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
                reading.breakpoints += 1
                if ttl is not None and ttl not in _TTLS:
                    reading.unusual = True
            return

    def write(self, cache: Item, wire: Wire, encoding: Mapping[str, Any], path: Path, writing: Target) -> None:
        """Puts a mark where it stood, or where the dialect has a place for it."""
        name = encoding.get("cache") or writing.dialect.get("cache_hints")
        loss = writing.loss
        if name not in self._names:
            loss.drop(path, "cache_hint", "weakened", "the wire has no cache marks")
            return
        ttl = cache.get("ttl")
        if name == BREAKPOINT:
            if "cache" not in encoding and not writing.takes_marks():
                loss.drop(path, "cache_hint", "weakened", "the wire marks parts of users and systems alone")
                return
            if writing.breakpoints >= MOST_BREAKPOINTS:
                loss.drop(path, "limit_exceeded", "weakened", f"the wire takes {MOST_BREAKPOINTS} cache marks")
                return
            writing.breakpoints += 1
            if not (ttl is None or ttl in _TTLS or writing.whole):
                loss.drop((*path, "ttl"), "cache_hint", "weakened", "the wire does not know this time to live")
                ttl = None
        wire[name] = {**_MARKS[name]} if ttl is None else {**_MARKS[name], "ttl": ttl}
        report_unknown(cache, _MARK, loss, path)


# ---------------------------------------------------------------------------------------------- citations of a text

CITED: Final = ("url", "title", "start_index", "end_index")
"""Members of a citation that the contract has words for."""


def are_citations(value: Any) -> bool:
    """Whether a value is a list of citations."""
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("type"), str) for item in value
    )


def read_citation(kind: str, source: Wire) -> tuple[Item, Item]:
    """A citation, and the members of its source that the contract has no word for."""
    citation: Item = {"type": kind}
    rest: Item = {}
    for name, value in source.items():
        fits = isinstance(value, str) if name in ("url", "title") else type(value) is int and value >= 0
        (citation if name in CITED and fits else rest)[name] = value
    return citation, rest


def cited(citation: Mapping[str, Any]) -> Wire:
    """What a citation says."""
    return {name: citation[name] for name in CITED if name in citation}


def own_citations(block: Block, writing: Target) -> bool:
    """Whether all citations of a text came from this provider."""
    return all(writing.owned(citation) for citation in block["citations"])


# ---------------------------------------------------------------------------------------------- items of any kind


def _read_index(raw: Any, _: Item, __: Any) -> None:
    if type(raw) is not int:
        raise TypeError("index")


INDEX: Final = Member("index", (), _read_index, lambda item, writing, path: ABSENT, lambda raw: False, soft=True)
"""The place of an item in its list, which says nothing: it goes back as it came, and is no loss elsewhere."""


def opaque(value: Any, reading: Any, kind: Any) -> Block:
    """A part or an item of the wire, kept whole. Raises TypeError for what is no object."""
    if type(value) is not dict:
        raise TypeError(kind)
    block: Block = {"type": "opaque", **reading.endpoint.state(), "value": value}
    if block["provider"] is None:
        del block["provider"]
    if type(kind) is str:
        block["kind"] = kind
    return block
