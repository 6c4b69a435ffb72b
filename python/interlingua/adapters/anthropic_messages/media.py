"""Read and write images and documents."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import CITED, CONTEXT
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import DOCUMENT, USER
from interlingua.adapters._content.media import (
    BLOCKS,
    BYTES,
    FILE,
    IMAGES,
    TEXT,
    WEB,
    Medium,
    fitted_type,
    located,
    may_be_base64,
    read_medium,
    refuse_kind,
    refuse_source,
    sent_as,
    source_of,
    text_of_bytes,
)
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, by_rule
from interlingua.adapters._engine.kit import UNREADABLE, Wire
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import no_place
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

_TAKES: Final = {"image": (BYTES, WEB, FILE), "document": (BYTES, WEB, FILE, TEXT, BLOCKS)}
_TYPES: Final = {"image": IMAGES, "document": frozenset(("application/pdf",))}
_SOURCES: Final = {
    BYTES: ("base64", "data"),
    WEB: ("url", "url"),
    FILE: ("file", "file_id"),
    TEXT: ("text", "data"),
    BLOCKS: ("content", "content"),
}
"""For each kind of source, its `type` on the wire and the member that holds the data."""
_TYPED: Final = (BYTES, TEXT)
"""The kinds of source that have a media type on the wire."""

# ---------------------------------------------------------------------------------------------- from the wire


def medium_from_wire(block: Wire, reading: Reading) -> Block:
    """Read an image or a document; return an opaque block if it cannot be read."""
    kind: str = block["type"]
    try:
        return read_medium(_ROWS[kind], block, {"type": kind}, reading)
    except UNREADABLE:
        return opaque_from_wire(block, USER, reading)


def _read_source(raw: Any, block: Block, reading: Reading) -> None:
    """Read the source and its media type. Raises `TypeError` if the source does not have its documented shape."""
    kind = next((kind for kind in _TAKES[block["type"]] if _SOURCES[kind][0] == raw["type"]), None)
    if kind is None or len(raw) != (3 if kind in _TYPED else 2):
        raise TypeError("source")
    data = raw[_SOURCES[kind][1]]
    if kind == BLOCKS:
        block["source"] = {"kind": BLOCKS, "content": _content_from_wire(data, reading)}
        return
    if type(data) is not str or (kind == BYTES and not (data and may_be_base64(data))):
        raise TypeError("source")
    if kind in _TYPED:
        if not MEDIA_TYPE.fullmatch(raw["media_type"]):
            raise TypeError("source")
        block["media_type"] = raw["media_type"]
    block["source"] = source_of(kind, data, reading.endpoint)


def _content_from_wire(content: Any, reading: Reading) -> list[Block]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [_part_from_wire(part, reading) for part in content]


def _part_from_wire(part: Wire, reading: Reading) -> Block:
    # a document has only these parts; any other part is kept whole, so nesting is bounded
    match part["type"]:
        case "text":
            return text_from_wire(part, reading)
        case "image":
            return medium_from_wire(part, reading)
        case _:
            return opaque_from_wire(part, DOCUMENT, reading)


# ---------------------------------------------------------------------------------------------- to the wire


def medium_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """Write an image or a document. Raises `Refused` if the target does not accept it."""
    refuse_kind(block, writing)
    sent = sent_as(block, _sent(block, writing, path), writing.loss, path)
    return item_to_wire(_ROWS[block["type"]], sent, writing, path)


def _sent(block: Block, writing: Writing, path: Path) -> Medium:
    """Return a medium as it is written; a document whose bytes are text is written as text."""
    kind: str = block["type"]
    if kind == "document" and block["source"]["kind"] == BLOCKS:
        return Medium(BLOCKS, _content_to_wire(block, writing, (*path, "source", "content")), None)
    medium = located(block)
    if kind == "document" and (words := text_of_bytes(block)):
        medium = Medium(TEXT, words, None)
    refuse_source(block, medium, _TAKES[kind], writing)
    media_type: str | None = None
    if medium.kind == TEXT:
        media_type = "text/plain"
    elif medium.kind == BYTES:
        media_type = fitted_type(kind, medium, _TYPES[kind])
        if media_type is None:
            raise Refused("unsupported_source", f"the target does not accept {kind}s of this media type")
    return Medium(medium.kind, medium.data, media_type)


def _write_source(block: Block, writing: Writing, path: Path) -> Wire:
    kind = block["source"]["kind"]
    name, member = _SOURCES[kind]
    wire = {"type": name, member: block["source"]["data"]}
    if kind in _TYPED:
        wire["media_type"] = block["media_type"]
    return wire


def _content_to_wire(block: Block, writing: Writing, path: Path) -> list[Wire]:
    content = writing.parts(_part_to_wire, block["source"].get("content") or [], DOCUMENT, path)
    return content or [writing.text(writing.fill(path))]


def _part_to_wire(part: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    match part["type"]:
        case "text":
            return text_to_wire(part, place, writing, path)
        case "image":
            return medium_to_wire(part, writing, path)
        case "opaque" if writing.endpoint.owns(part):
            return opaque_to_wire(part, place, writing, path)
        case _:
            raise no_place(part, writing)


def _write_title(block: Block, writing: Writing, path: Path) -> Any:
    where = (*path, "name")
    if "title" in block:
        if "name" in block:
            message = "the wire has a title but no file name"
            writing.loss.drop(where, "unsupported_field", "weakened", message)
        return block["title"]
    if "name" not in block:
        return ABSENT
    message = "the file name is written as the title"
    writing.loss.move(where, (*path, "title"), "unsupported_field", "representation", message)
    return block["name"]


# ---------------------------------------------------------------------------------------------- rows

_SOURCE: Final = Member("source", ("source", "media_type"), _read_source, _write_source, needed=True)
_ROWS: Final = {
    "image": ItemRow({"type": "image"}, _SOURCE, mark=CACHE),
    "document": ItemRow(
        {"type": "document"},
        _SOURCE,
        by_rule("title", ("title", "name"), str, _write_title, soft=True),
        CONTEXT,
        CITED,
        mark=CACHE,
    ),
}
