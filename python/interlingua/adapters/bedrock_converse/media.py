"""Read and write media and documents, by rows."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import CITED, NoMeaning
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._content.media import (
    BLOCKS,
    BYTES,
    FILE,
    KINDS,
    TEXT,
    WEB,
    Medium,
    bare_type,
    data_of_kind,
    fitted_type,
    located,
    read_medium,
    refuse_kind,
    refuse_source,
    sent_as,
    source,
)
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, by_rule, inside, write_item
from interlingua.adapters._engine.kit import UNREADABLE, Wire
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import OF_TEXT, report_rest
from interlingua.adapters.bedrock_converse.items import Block, block_row, text_from_wire
from interlingua.adapters.bedrock_converse.tables import ALIASES, FORMATS, S3, TEXTS, Writing
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire


def medium_from_wire(wire: Wire, _: str, reading: Reading) -> Block:
    """Read an image, a video, audio or a document. Raises `NoMeaning` if it cannot be read."""
    kind = next((name for name in FORMATS if wire.get(name) is not None), "image")
    try:
        block = read_medium(_ROWS[kind], wire, {"type": kind}, reading)
    except UNREADABLE as problem:
        raise NoMeaning(kind) from problem
    if "media_type" not in block and block["source"]["kind"] == BYTES:
        raise NoMeaning(kind)
    reading.must_compare = reading.must_compare or kind == "document"  # the writer may change the name of a document
    return block


# ---------------------------------------------------------------------------------------------- to the wire

_TAKES: Final = dict.fromkeys(KINDS, (BYTES, FILE)) | {"document": (BYTES, FILE, TEXT)}


def medium_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """Write an image, a video, audio or a document. Raises `Refused` if the target does not accept it."""
    refuse_kind(block, writing)
    kind: str = block["type"]
    sent = sent_as(block, _sent(block, writing, path), writing.loss, path)
    return write_item(_ROWS[kind], sent, writing, path)


def _sent(block: Block, writing: Writing, path: Path) -> Medium:
    """Return a medium as it is written. An S3 URI is a file; a document that is a file needs no media type."""
    kind: str = block["type"]
    medium = located(block)
    if kind == "document" and medium.kind == BLOCKS:
        content = _content_to_wire(block, writing, (*path, "source", "content"))
        return Medium(BLOCKS, content, fitted_type(kind, medium, FORMATS[kind].back, ALIASES))
    if medium.kind in (WEB, FILE) and _is_in_s3(medium.data):
        medium = Medium(FILE, medium.data, medium.media_type or _type_of_name(medium.data, kind))
    refuse_source(block, medium, _TAKES[kind], writing, _is_in_s3)
    media_type = fitted_type(kind, medium, FORMATS[kind].back, ALIASES)
    if kind == "document" and media_type is None and (medium.kind == TEXT or _is_text(medium.media_type or "")):
        media_type = "text/plain"
    if media_type is None and not (kind == "document" and medium.kind == FILE):
        raise Refused("unsupported_source", f"the target has no format for the media type of this {kind}")
    return Medium(medium.kind, medium.data, media_type)


def _is_in_s3(uri: str) -> bool:
    return S3.fullmatch(uri) is not None


def _type_of_name(uri: str, kind: str) -> str | None:
    ending = uri.rpartition(".")[2].lower()
    return FORMATS[kind].there.get("jpeg" if ending == "jpg" else ending)


def _is_text(media_type: str) -> bool:
    """Whether a document of this type is a text; the wire may have no format for the type."""
    bare = bare_type(media_type)
    return bare.startswith("text/") or bare in TEXTS


def _content_to_wire(block: Block, writing: Writing, path: Path) -> list[Wire]:
    texts: list[Wire] = []
    for position, part in enumerate(block["source"].get("content") or ()):
        at = (*path, position)
        if part["type"] != "text":
            message = f"{part['type']} cannot be represented inside a document"
            writing.loss.drop(at, "unsupported_block", "lost", message)
        elif not part["text"].strip():
            message = "the target does not accept a text without visible characters"
            writing.loss.drop(at, "empty_content", "representation", message)
        else:
            texts.append({"text": part["text"]})
            report_rest(part, OF_TEXT, writing, at)
    return texts or [writing.text(writing.fill(path))]


# ---------------------------------------------------------------------------------------------- rows


def _format(kind: str) -> Member:
    formats = FORMATS[kind]

    def read(raw: Any, block: Block, _: Reading) -> None:
        block["media_type"] = formats.there[raw]

    def write(block: Block, writing: Writing, path: Path) -> Any:
        return formats.back[block["media_type"]] if "media_type" in block else ABSENT

    return Member("format", ("media_type",), read, write, needed=kind != "document")


def _read_content(raw: Any, block: Block, reading: Reading) -> None:
    if "source" in block or not all(part.keys() == {"text"} for part in raw):  # a document has only texts
        raise TypeError("content")
    block["source"] = {"kind": BLOCKS, "content": [text_from_wire(part, "document", reading) for part in raw]}


def _write_name(block: Block, writing: Writing, path: Path) -> Any:
    """Write the name that the wire requires: the name of the document, its title, or a default name."""
    where = (*path, "name")
    name, title = block.get("name"), block.get("title")
    if title is not None and name is None:
        message = "the title is written as the name"
        writing.loss.move((*path, "title"), where, "unsupported_field", "representation", message)
        name = title
    elif title is not None:
        writing.loss.drop((*path, "title"), "unsupported_field", "weakened", "the wire has a name but no title")
    fitted = writing.document_name(name or "document")
    if fitted != name:
        code = "required_default" if name is None else "name_rewritten"
        writing.loss.replace(
            where, fitted, code, "representation", "names must fit the grammar of the target and be unique"
        )
    return fitted


def _write_context(block: Block, writing: Writing, path: Path) -> Any:
    context = block.get("context", ABSENT)
    if context is ABSENT or context:
        return context
    writing.loss.drop(
        (*path, "context"), "empty_content", "representation", "the target does not accept an empty context"
    )
    return ABSENT


_STORED: Final = (source("bytes", BYTES), inside("s3Location", ItemRow({}, source("uri", FILE)), optional=True))
_CONTENT: Final = Member("content", ("source",), _read_content, lambda block, _, __: data_of_kind(block, BLOCKS))
_DOCUMENT_SOURCE: Final = ItemRow({}, source("text", TEXT), _CONTENT, *_STORED)
_ROWS: Final = {
    kind: block_row(inside(kind, ItemRow({}, _format(kind), inside("source", ItemRow({}, *_STORED)))))
    for kind in FORMATS
} | {
    "document": block_row(
        inside(
            "document",
            ItemRow(
                {},
                _format("document"),
                by_rule("name", ("name", "title"), str, _write_name, soft=True),
                inside("source", _DOCUMENT_SOURCE),
                by_rule("context", ("context",), str, _write_context, soft=True),
                CITED,
            ),
        )
    )
}
