"""Images and documents both ways."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import CITED, CONTEXT, NoMeaning, Refused, out_of_place
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import DOCUMENT, USER, string
from interlingua.adapters._items import ABSENT, Member, Row, by_rule, read_item
from interlingua.adapters._kit import Wire
from interlingua.adapters._media import (
    BLOCKS,
    BYTES,
    FILE,
    IMAGES,
    KINDS,
    TEXT,
    WEB,
    Medium,
    fitted_type,
    is_fetched,
    located,
    may_be_base64,
    report_sent,
    source_refused,
    text_of_bytes,
)
from interlingua.adapters.anthropic_messages.items import (
    CACHE,
    Block,
    item_to_wire,
    opaque_from_wire,
    opaque_to_wire,
    text_from_wire,
    text_to_wire,
)
from interlingua.adapters.anthropic_messages.tables import MEDIA_TYPE, Writing
from interlingua.canonical.loss import Path

_TAKES: Final = {"image": (BYTES, WEB, FILE), "document": (BYTES, WEB, FILE, TEXT)}
_TYPES: Final = {"image": IMAGES, "document": frozenset(("application/pdf",))}
_FORMS: Final = {BYTES: ("base64", "data"), WEB: ("url", "url"), FILE: ("file", "file_id"), TEXT: ("text", "data")}
"""By the kind of a source, its `type` on the wire and the member that holds it."""
_TYPED: Final = (BYTES, TEXT)
"""The kinds of source that have a media type on the wire."""

# ---------------------------------------------------------------------------------------------- from the wire


def medium_from_wire(block: Wire, reading: Reading) -> Block:
    """An image or a document; an opaque block for one whose source cannot be read."""
    kind: str = block["type"]
    try:
        return read_item(_ROWS[kind], block, {"type": kind}, reading)
    except NoMeaning:
        return opaque_from_wire(block, USER, reading)


def _read_source(raw: Any, block: Block, reading: Reading) -> None:
    """The source and its media type. Raises `NoMeaning` for one that is not shaped as documented."""
    named = raw.get("type")
    if named == "content" and block["type"] == "document" and len(raw) == 2:
        block["source"] = {"kind": BLOCKS, "content": _content_from_wire(raw["content"], reading)}
        reading.unusual = True
        return
    kind = next((kind for kind in _TAKES[block["type"]] if _FORMS[kind][0] == named), None)
    if kind is None or len(raw) != (3 if kind in _TYPED else 2):
        raise NoMeaning("source")
    if kind in _TYPED:
        media_type = raw.get("media_type")
        if type(media_type) is not str or not (media_type in IMAGES or MEDIA_TYPE.fullmatch(media_type)):
            raise NoMeaning("source")
        block["media_type"] = media_type
    source: Block = {"kind": kind, "data": string(raw[_FORMS[kind][1]])}
    if kind == FILE:
        source["provider"] = reading.provider
    if kind == BYTES and not may_be_base64(source["data"]):
        raise NoMeaning("source")
    block["source"] = source
    reading.unusual = reading.unusual or not _is_usual(block, reading)


def _is_usual(block: Block, reading: Reading) -> bool:
    """Whether a medium is written as it came."""
    source = block["source"]
    match source["kind"]:
        case "base64":
            return block["media_type"] in _TYPES[block["type"]] and bool(source["data"])
        case "text":
            return block["media_type"] == "text/plain" and bool(source["data"])
        case "url":
            return is_fetched(source["data"], block["type"], reading.endpoint)
        case _:
            return False


def _content_from_wire(content: Any, reading: Reading) -> list[Block]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [_part_from_wire(part, reading) for part in content]


def _part_from_wire(part: Wire, reading: Reading) -> Block:
    # only these stand in a document; anything else is kept whole, so nesting is bounded
    match part["type"]:
        case "text":
            return text_from_wire(part, reading)
        case "image":
            return medium_from_wire(part, reading)
        case _:
            return opaque_from_wire(part, DOCUMENT, reading)


# ---------------------------------------------------------------------------------------------- to the wire


def medium_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """An image or a document. Raises `Refused` when the target does not take it."""
    kind: str = block["type"]
    if writing.refuses(KINDS[kind], kind):
        raise Refused("unsupported_model", f"the model takes no {kind}")
    return item_to_wire(_ROWS[kind], block, writing, path)


def _write_source(block: Block, writing: Writing, path: Path) -> Wire:
    if block["type"] == "document" and block["source"]["kind"] == BLOCKS:
        report_sent(block, Medium(BLOCKS, None, None), writing.loss, path)
        return {"type": "content", "content": _content_to_wire(block, writing, (*path, "source", "content"))}
    sent = _sent(block, writing)
    report_sent(block, sent, writing.loss, path)
    name, member = _FORMS[sent.kind]
    if sent.kind in _TYPED:
        return {"type": name, "media_type": sent.media_type, member: sent.data}
    return {"type": name, member: sent.data}


def _sent(block: Block, writing: Writing) -> Medium:
    """A medium as it is written: documents of bytes that are text travel as text."""
    kind: str = block["type"]
    medium = located(block)
    if kind == "document" and (words := text_of_bytes(block)):
        medium = Medium(TEXT, words, None)
    if (refusal := source_refused(block, medium, _TAKES[kind], writing)) is not None:
        raise Refused("unsupported_source", refusal)
    media_type: str | None = None
    if medium.kind == TEXT:
        media_type = "text/plain"
    elif medium.kind == BYTES:
        media_type = fitted_type(kind, medium, _TYPES[kind])
        if media_type is None:
            raise Refused("unsupported_source", f"the target does not take {kind}s of this media type")
    return Medium(medium.kind, medium.data, media_type)


def _content_to_wire(block: Block, writing: Writing, path: Path) -> list[Wire]:
    content = [
        wire
        for position, part in enumerate(block["source"].get("content") or ())
        if (wire := _part_to_wire(part, writing, (*path, position))) is not None
    ]
    return content or writing.filler(path, "a document is not empty")


def _part_to_wire(part: Block, writing: Writing, path: Path) -> Wire | None:
    try:
        match part["type"]:
            case "text":
                return text_to_wire(part, DOCUMENT, writing, path)
            case "image":
                return medium_to_wire(part, writing, path)
            case "opaque":
                return opaque_to_wire(part, DOCUMENT, writing, path)
            case _:
                raise Refused(*out_of_place(part, DOCUMENT, path))
    except Refused as refused:
        return writing.placeholder_or_drop(part, path, refused.code, refused.message)


def _write_title(block: Block, writing: Writing, path: Path) -> Any:
    where = (*path, "name")
    if "title" in block:
        if "name" in block:
            message = "the wire has a title and no file name"
            writing.loss.drop(where, "unsupported_field", "weakened", message)
        return block["title"]
    if "name" not in block:
        return ABSENT
    message = "the file name travels as the title"
    writing.loss.move(where, (*path, "title"), "unsupported_field", "representation", message)
    return block["name"]


# ---------------------------------------------------------------------------------------------- rows

_SOURCE: Final = Member("source", ("source", "media_type"), _read_source, _write_source, needed=True)
_ROWS: Final = {
    "image": Row({"type": "image"}, _SOURCE, mark=CACHE),
    "document": Row(
        {"type": "document"},
        _SOURCE,
        by_rule("title", ("title", "name"), str, _write_title, soft=True),
        CONTEXT,
        CITED,
        mark=CACHE,
    ),
}
