"""Images and documents both ways."""

import base64
import binascii
from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._claude.blocks import out_of_place, read_description
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import DOCUMENT, IMAGE_STARTS, string
from interlingua.adapters._kit import BLOCK_MEMBERS, Wire, parse_data_uri, report_unknown, severity_of
from interlingua.adapters._media import is_fetched, is_file_id, may_be_base64, source_refused
from interlingua.adapters.anthropic_messages.items import opaque_to_wire
from interlingua.adapters.anthropic_messages.state import Block, extras, finished
from interlingua.adapters.anthropic_messages.tables import IMAGE_TYPES, MEDIA_TYPE, Writing
from interlingua.adapters.anthropic_messages.texts import text_from_wire, text_to_wire
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire

_MEDIUM_WIRE: Final = frozenset(("type", "source"))


def image_from_wire(block: Wire, reading: Reading) -> Block:
    """An image; an opaque block for one whose source cannot be read."""
    source = _source_from_wire(block["source"], reading)
    if source is None or source[0]["kind"] == "text":
        return reading.opaque("image", block)
    canonical: Block = {"type": "image", "source": source[0]}
    if source[1] is not None:
        canonical["media_type"] = source[1]
    reading.pictures = True
    reading.unusual = reading.unusual or not _is_usual(source[0], source[1], reading)
    return extras(block, canonical, _MEDIUM_WIRE, reading)


def _is_usual(source: dict[str, Any], media_type: str | None, reading: Reading) -> bool:
    """Whether the source of an image surely needs no repair."""
    match source["kind"]:
        case "base64":
            return media_type in IMAGE_TYPES and bool(source["data"])
        case "url":
            return is_fetched(source["data"], "image", reading.endpoint)
        case _:
            return False


def _source_from_wire(source: Wire, reading: Reading) -> tuple[dict[str, Any], str | None] | None:
    """A canonical source and its media type; None for a source that is not shaped as documented."""
    match source.get("type"):
        case "base64" if len(source) == 3 and _is_media_type(source.get("media_type")):
            data = string(source["data"])
            return ({"kind": "base64", "data": data}, source["media_type"]) if may_be_base64(data) else None
        case "text" if len(source) == 3 and _is_media_type(source.get("media_type")):
            return {"kind": "text", "data": string(source["data"])}, source["media_type"]
        case "url" if len(source) == 2:
            return {"kind": "url", "data": string(source["url"])}, None
        case "file" if len(source) == 2:
            return {"kind": "file_id", "data": string(source["file_id"]), "provider": reading.provider}, None
        case _:
            return None


def _is_media_type(value: Any) -> bool:
    return isinstance(value, str) and (value in IMAGE_TYPES or MEDIA_TYPE.fullmatch(value) is not None)


def document_from_wire(block: Wire, reading: Reading) -> Block:
    """A document; an opaque block for one whose source cannot be read."""
    wire_source = block["source"]
    reading.unusual = True
    encoding: dict[str, Any] | None = None
    if wire_source.get("type") == "content" and len(wire_source) == 2:
        content = wire_source["content"]
        if isinstance(content, str):
            encoding = {"string": True}
            content = [{"type": "text", "text": content}]
        parts = [_part_from_wire(part, reading) for part in content]
        source: tuple[dict[str, Any], str | None] | None = ({"kind": "blocks", "content": parts}, None)
    else:
        source = _source_from_wire(wire_source, reading)
    if source is None:
        return reading.opaque("document", block)
    canonical: Block = {"type": "document", "source": source[0]}
    if source[1] is not None:
        canonical["media_type"] = source[1]
    known = _MEDIUM_WIRE | read_description(block, ("title", "context"), canonical)
    return extras(block, canonical, known, reading, encoding=encoding)


def _part_from_wire(part: Wire, reading: Reading) -> Block:
    # only these stand in a document; anything else is kept whole, so nesting is bounded
    match part["type"]:
        case "text":
            return text_from_wire(part, reading)
        case "image":
            return image_from_wire(part, reading)
        case kind:
            return reading.opaque(string(kind), part)


# ---------------------------------------------------------------------------------------------- to the wire

_IMAGE: Final = BLOCK_MEMBERS | {"source", "media_type", "detail"}
_DOCUMENT: Final = BLOCK_MEMBERS | {"source", "media_type", "name", "title", "context", "citations_enabled"}


def image_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    """An image; None when the target does not take it, which is reported."""
    if writing.lacks("supports_images", "image"):
        return writing.placeholder_or_drop(block, path, "unsupported_model", "the model takes no images")
    source = _media_source(block, _fit_image, writing, path)
    if source is None:
        message = _refusal(block, "the target takes JPEG, PNG, GIF and WebP images")
        return writing.placeholder_or_drop(block, path, "unsupported_source", message)
    if "detail" in block:
        severity = severity_of("detail", block["detail"], "weakened")
        writing.loss.drop((*path, "detail"), "unsupported_field", severity, "the wire has no level of detail")
    return finished(block, {"type": "image", "source": source}, _IMAGE, writing, path)


def _refusal(block: Block, message: str) -> str:
    """Why a medium has no source on the wire; an address is refused for itself, whatever it leads to."""
    source = block["source"]
    if source["kind"] == "url" and source.get("data") and not source["data"].startswith("data:"):
        return "the target does not fetch this address"
    return source_refused(block, message)


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
    if not source.get("data") and not (writing.as_read and "data" in source):
        return None
    match source["kind"]:
        case "base64":
            fitted = media_type
            if not writing.as_read:
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
            if not writing.as_read:
                if (parsed := parse_data_uri(source["data"])) is not None:
                    return _inline_source(block, parsed, fit, writing, path)
                if not is_fetched(source["data"], block["type"], writing.endpoint):
                    return None
            _drop_media_type(media_type, writing, path)
            wire = {"type": "url", "url": source["data"]}
        case "file_id" if writing.owns_file(source) and (writing.as_read or is_file_id(source["data"])):
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


def document_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    """A document; None when the target does not take it, which is reported."""
    if writing.lacks("supports_documents", "document"):
        return writing.placeholder_or_drop(block, path, "unsupported_model", "the model takes no documents")
    source = _document_source(block, writing, path)
    if source is None:
        message = _refusal(block, "the target takes PDF, plain text and blocks")
        return writing.placeholder_or_drop(block, path, "unsupported_source", message)
    wire: Wire = {"type": "document", "source": source}
    for name in ("title", "context"):
        if name in block:
            wire[name] = block[name]
    if "citations_enabled" in block:
        wire["citations"] = {"enabled": block["citations_enabled"]}
    if "name" in block:
        _document_name(block, wire, writing, path)
    return finished(block, wire, _DOCUMENT, writing, path)


def _document_name(block: Block, wire: Wire, writing: Writing, path: Path) -> None:
    where = (*path, "name")
    if "title" in wire:
        writing.loss.drop(where, "unsupported_field", "weakened", "the wire has a title and no file name")
    else:
        wire["title"] = block["name"]
        writing.loss.move(
            where, (*path, "title"), "unsupported_field", "representation", "the file name travels as the title"
        )


def _document_source(block: Block, writing: Writing, path: Path) -> Wire | None:
    source = block["source"]
    media_type = block.get("media_type")
    match source["kind"]:
        case "text" if not source.get("data") and not (writing.as_read and "data" in source):
            return None
        case "text":
            if media_type != "text/plain" and not (writing.as_read and media_type):
                where, media_type = (*path, "media_type"), "text/plain"
                writing.loss.replace(
                    where, media_type, "unsupported_value", "representation", "text travels as plain text"
                )
            report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
            return {"type": "text", "media_type": media_type, "data": source["data"]}
        case "blocks":
            return _document_blocks(block, writing, path)
        case "base64" if not writing.as_read and media_type is not None and media_type.startswith("text/"):
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
    if not content and not writing.as_read:
        content = writing.filler(where, "a document is not empty")
    _drop_media_type(block.get("media_type"), writing, path)
    report_unknown(source, _BLOCKS, writing.loss, (*path, "source"))
    if writing.encoding_of(block).get("string") and len(content) == 1 and content[0].keys() == {"type", "text"}:
        return {"type": "content", "content": content[0]["text"]}
    return {"type": "content", "content": content}


def _part_to_wire(part: Block, writing: Writing, path: Path) -> Wire | None:
    match part["type"]:
        case "text":
            return text_to_wire(part, DOCUMENT, writing, path)
        case "image":
            return image_to_wire(part, writing, path)
        case "opaque":
            return opaque_to_wire(part, DOCUMENT, writing, path)
        case _:
            return writing.placeholder_or_drop(part, path, *out_of_place(part, DOCUMENT, path))


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
