"""Images and documents both ways."""

import base64
import binascii
from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._claude.blocks import CITED, CONTEXT, NoMeaning, Refused, out_of_place
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import DOCUMENT, IMAGE_STARTS, USER, string
from interlingua.adapters._items import ABSENT, Member, Row, by_rule, read_item
from interlingua.adapters._kit import Wire, parse_data_uri, report_unknown
from interlingua.adapters._media import is_fetched, is_file_id, may_be_base64, source_refused
from interlingua.adapters.anthropic_messages.items import (
    CACHE,
    Block,
    item_to_wire,
    opaque_from_wire,
    opaque_to_wire,
    text_from_wire,
    text_to_wire,
)
from interlingua.adapters.anthropic_messages.tables import IMAGE_TYPES, MEDIA_TYPE, Writing
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire


def medium_from_wire(block: Wire, reading: Reading) -> Block:
    """An image or a document; an opaque block for one whose source cannot be read."""
    kind: str = block["type"]
    try:
        return read_item(_ROWS[kind][0], block, {"type": kind}, reading)
    except NoMeaning:
        return opaque_from_wire(block, USER, reading)


def _read_image_source(raw: Any, block: Block, reading: Reading) -> None:
    _read_source(raw, block, reading)
    source = block["source"]
    match source["kind"]:
        case "text":
            raise NoMeaning("source")
        case "base64":
            usual = block["media_type"] in IMAGE_TYPES and bool(source["data"])
        case "url":
            usual = is_fetched(source["data"], "image", reading.endpoint)
        case _:
            usual = False
    reading.unusual = reading.unusual or not usual


def _read_source(source: Wire, block: Block, reading: Reading) -> None:
    """The source and its media type. Raises `NoMeaning` for one that is not shaped as documented."""
    match source.get("type"):
        case "base64" | "text" as kind if len(source) == 3 and _is_media_type(source.get("media_type")):
            data = string(source["data"])
            if kind == "base64" and not may_be_base64(data):
                raise NoMeaning("source")
            block["source"], block["media_type"] = {"kind": kind, "data": data}, source["media_type"]
        case "url" if len(source) == 2:
            block["source"] = {"kind": "url", "data": string(source["url"])}
        case "file" if len(source) == 2:
            block["source"] = {"kind": "file_id", "data": string(source["file_id"]), "provider": reading.provider}
        case _:
            raise NoMeaning("source")


def _is_media_type(value: Any) -> bool:
    return isinstance(value, str) and (value in IMAGE_TYPES or MEDIA_TYPE.fullmatch(value) is not None)


def _read_document_source(raw: Any, block: Block, reading: Reading) -> None:
    if raw.get("type") != "content" or len(raw) != 2:
        _read_source(raw, block, reading)
        reading.unusual = reading.unusual or not _is_usual_document(block, reading)
        return
    reading.unusual = True
    content = raw["content"]
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    block["source"] = {"kind": "blocks", "content": [_part_from_wire(part, reading) for part in content]}


def _is_usual_document(block: Block, reading: Reading) -> bool:
    """Whether a document is written as it came."""
    source = block["source"]
    match source["kind"]:
        case "base64":
            return block["media_type"] == "application/pdf" and bool(source["data"])
        case "text":
            return block["media_type"] == "text/plain" and bool(source["data"])
        case "url":
            return is_fetched(source["data"], "document", reading.endpoint)
        case _:
            return False


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
    row, capability = _ROWS[kind]
    if writing.lacks(capability, kind):
        raise Refused("unsupported_model", f"the model takes no {kind}s")
    return item_to_wire(row, block, writing, path)


def _fit_image(media_type: str | None, data: str) -> str | None:
    """The media type to write for image data; None when the target does not take it."""
    if media_type in IMAGE_TYPES:
        return media_type
    if media_type in (None, "image/*"):
        return next((kind for start, kind in IMAGE_STARTS.items() if data.startswith(start)), None)
    bare = media_type.partition(";")[0].strip().lower()
    return "image/jpeg" if bare == "image/jpg" else bare if bare in IMAGE_TYPES else None


def _fit_document(media_type: str | None, data: str) -> str | None:
    if media_type is None:
        return "application/pdf" if data.startswith("JVBERi") else None
    bare = media_type.partition(";")[0].strip().lower()
    return bare if bare == "application/pdf" else None


def _media_source(
    block: Block, fit: Callable[[str | None, str], str | None], writing: Writing, path: Path
) -> Wire | None:
    """The wire source of an image or a document; None when there is none. A media type that changes is reported."""
    source = block["source"]
    media_type = block.get("media_type")
    if not source.get("data"):
        return None
    match source["kind"]:
        case "base64":
            fitted = fit(media_type, source["data"]) if may_be_base64(source["data"]) else None
            if fitted is None:
                return None
            if fitted != media_type:
                code = "required_default" if media_type is None else "unsupported_value"
                writing.loss.replace(
                    (*path, "media_type"), fitted, code, "representation", "the target names the type so"
                )
            wire = {"type": "base64", "media_type": fitted, "data": source["data"]}
        case "url":
            if (parsed := parse_data_uri(source["data"])) is not None:
                return _inline_source(block, parsed, fit, writing, path)
            if not is_fetched(source["data"], block["type"], writing.endpoint):
                return None
            _drop_media_type(media_type, writing, path)
            wire = {"type": "url", "url": source["data"]}
        case "file_id" if writing.owns_file(source) and is_file_id(source["data"]):
            _drop_media_type(media_type, writing, path)
            wire = {"type": "file", "file_id": source["data"]}
        case _:
            return None
    report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
    return wire


_SOURCE: Final = frozenset(("kind", "data", "provider"))
_BLOCKS: Final = frozenset(("kind", "content", "provider"))


def _inline_source(
    block: Block,
    parsed: tuple[str, str],
    fit: Callable[[str | None, str], str | None],
    writing: Writing,
    path: Path,
) -> Wire | None:
    fitted = fit(parsed[0] or block.get("media_type"), parsed[1])
    if fitted is None or not may_be_base64(parsed[1]):
        return None
    source = {"kind": "base64", "data": parsed[1]}
    writing.loss.replace(
        (*path, "source"), source, "unsupported_source", "representation", "the target takes no data address"
    )
    if fitted != block.get("media_type"):
        writing.loss.replace(
            (*path, "media_type"), fitted, "unsupported_source", "representation", "the address named the type"
        )
    return {"type": "base64", "media_type": fitted, "data": parsed[1]}


def _drop_media_type(media_type: str | None, writing: Writing, path: Path) -> None:
    if media_type is not None:
        writing.loss.drop(
            (*path, "media_type"), "unsupported_field", "representation", "the target finds the type by itself"
        )


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


def _image_source(block: Block, writing: Writing, path: Path) -> Wire | None:
    return _media_source(block, _fit_image, writing, path)


def _document_source(block: Block, writing: Writing, path: Path) -> Wire | None:
    source = block["source"]
    media_type = block.get("media_type")
    match source["kind"]:
        case "text" if not source.get("data"):
            return None
        case "text":
            if media_type != "text/plain":
                where, media_type = (*path, "media_type"), "text/plain"
                writing.loss.replace(
                    where, media_type, "unsupported_value", "representation", "text travels as plain text"
                )
            report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
            return {"type": "text", "media_type": media_type, "data": source["data"]}
        case "blocks":
            return _document_blocks(block, writing, path)
        case "base64" if media_type is not None and media_type.startswith("text/"):
            return _decoded_text(block, writing, path)
        case _:
            return _media_source(block, _fit_document, writing, path)


def _document_blocks(block: Block, writing: Writing, path: Path) -> Wire | None:
    source = block["source"]
    where = (*path, "source", "content")
    content = [
        wire
        for position, part in enumerate(source.get("content") or ())
        if (wire := _part_to_wire(part, writing, (*where, position))) is not None
    ]
    if not content:
        content = writing.filler(where, "a document is not empty")
    _drop_media_type(block.get("media_type"), writing, path)
    report_unknown(source, _BLOCKS, writing.loss, (*path, "source"))
    return {"type": "content", "content": content}


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


def _decoded_text(block: Block, writing: Writing, path: Path) -> Wire | None:
    try:
        text = base64.b64decode(block["source"]["data"], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    source = {"kind": "text", "data": text}
    writing.loss.replace(
        (*path, "source"), source, "unsupported_source", "representation", "text travels as text, not base64"
    )
    if block["media_type"] != "text/plain":
        where = (*path, "media_type")
        writing.loss.replace(where, "text/plain", "unsupported_value", "representation", "text travels as plain text")
    return {"type": "text", "media_type": "text/plain", "data": text}


# ---------------------------------------------------------------------------------------------- rows


def _refusal(block: Block, demand: str) -> str:
    """Why a medium has no source on the wire; an address is refused for itself, whatever it leads to."""
    source = block["source"]
    if source["kind"] == "url" and source.get("data") and not source["data"].startswith("data:"):
        return "the target does not fetch this address"
    return source_refused(block, demand)


def _source(read: Any, written: Any, demand: str) -> Member:
    def write(block: Block, writing: Writing, path: Path) -> Wire:
        source: Wire | None = written(block, writing, path)
        if source is None:
            raise Refused("unsupported_source", _refusal(block, demand))
        return source

    return Member("source", ("source", "media_type"), read, write, needed=True)


_ROWS: Final[dict[str, tuple[Row, str]]] = {
    "image": (
        Row(
            {"type": "image"},
            _source(_read_image_source, _image_source, "the target takes JPEG, PNG, GIF and WebP images"),
            mark=CACHE,
        ),
        "supports_images",
    ),
    "document": (
        Row(
            {"type": "document"},
            _source(_read_document_source, _document_source, "the target takes PDF, plain text and blocks"),
            by_rule("title", ("title", "name"), str, _write_title, soft=True),
            CONTEXT,
            CITED,
            mark=CACHE,
        ),
        "supports_documents",
    ),
}
"""Rows of media, and what a model must support to take them."""
