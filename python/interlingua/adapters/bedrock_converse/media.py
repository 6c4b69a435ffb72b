"""Media and documents both ways, by rows."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import CITED, NoMeaning, Refused
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import IMAGE_STARTS
from interlingua.adapters._items import ABSENT, Member, Row, by_rule, inside, read_item
from interlingua.adapters._kit import BiMap, Wire, parse_data_uri, report_unknown
from interlingua.adapters._media import may_be_base64, source_refused
from interlingua.adapters.bedrock_converse.items import Block, block_row, item_to_wire, said_in, text_from_wire
from interlingua.adapters.bedrock_converse.tables import (
    ALIASES,
    AUDIO_FORMATS,
    DOCUMENT_FORMATS,
    DOCUMENT_NAME,
    IMAGE_FORMATS,
    S3,
    TEXTS,
    VIDEO_FORMATS,
    Writing,
)
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire

_FORMATS: Final = {"image": IMAGE_FORMATS, "video": VIDEO_FORMATS, "audio": AUDIO_FORMATS, "document": DOCUMENT_FORMATS}
_CAPABILITIES: Final = {
    "image": "supports_images",
    "video": "supports_video",
    "audio": "supports_audio",
    "document": "supports_documents",
}


def medium_from_wire(wire: Wire, _: str, reading: Reading) -> Block:
    """An image, a video, sound or a document. Raises `NoMeaning` when it cannot be read."""
    kind = next((name for name in _FORMATS if wire.get(name) is not None), "")
    medium = wire[kind]
    source = said_in(medium["source"])
    is_document = kind == "document"
    named = medium.get("format") if is_document else medium["format"]
    known = named in _FORMATS[kind].there if named is not None else is_document and "bytes" not in source
    if not known or len(source) != 1 or not _is_source(source, is_document):
        raise NoMeaning(kind)
    if is_document and not _is_usual(medium, source, reading):
        reading.unusual = True
    return read_item(_ROWS[kind], wire, {"type": kind}, reading)


def _is_usual(document: Wire, source: Wire, reading: Reading) -> bool:
    """Whether a document is written as it came: in a format, from bytes or a text, with a name of its own."""
    name = document.get("name")
    if type(name) is not str or name in reading.documents or DOCUMENT_NAME.fullmatch(name) is None:
        return False
    reading.documents.add(name)
    said = bool(source.get("bytes") or source.get("text"))
    return said and document.get("format") is not None and document.get("context") != ""


def _is_source(source: Wire, is_document: bool) -> bool:
    """Whether a source is shaped as documented."""
    ((name, value),) = source.items()
    match name:
        case "bytes":
            return type(value) is str and bool(value) and may_be_base64(value)
        case "s3Location":
            return type(value) is dict and type(value.get("uri")) is str
        case "text":
            return is_document and type(value) is str
        case "content":  # only texts stand in a document
            return is_document and type(value) is list and all(part.keys() == {"text"} for part in value)
        case _:
            return False


# ---------------------------------------------------------------------------------------------- to the wire

_SOURCE: Final = frozenset(("kind", "data", "provider"))
_BLOCKS: Final = frozenset(("kind", "content", "provider"))


def medium_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """An image, a video, sound or a document. Raises `Refused` when the target does not take it."""
    kind: str = block["type"]
    if writing.lacks(_CAPABILITIES[kind], kind):
        raise Refused("unsupported_model", f"the model takes no {kind}")
    source = None
    if kind == "document":
        source = _document_source(block, writing, path)
    elif _fitted_type(block, _FORMATS[kind]) is not None:
        source = _source_to_wire(block, writing, path)
    if source is None:
        raise Refused("unsupported_source", source_refused(block, f"the target does not take {kind} of this source"))
    writing.medium = source
    return item_to_wire(_ROWS[kind], kind, block, writing, path)


def _fitted_type(block: Block, formats: BiMap[str, str]) -> str | None:
    """The media type in the words of the wire; None when it has none for it."""
    media_type = block.get("media_type")
    data = block["source"].get("data") or ""
    if media_type is None:
        inline = parse_data_uri(data) if block["source"]["kind"] == "url" else None
        media_type = inline[0] if inline else _type_of_name(data, formats)
    if media_type in formats.back:
        return media_type
    if media_type is None:
        return None
    bare = media_type.partition(";")[0].strip().lower()
    bare = ALIASES.get(bare, bare)
    if bare == "image/*":
        return next((kind for start, kind in IMAGE_STARTS.items() if data.startswith(start)), None)
    return bare if bare in formats.back else None


def _type_of_name(uri: str, formats: BiMap[str, str]) -> str | None:
    ending = uri.rpartition(".")[2].lower()
    return formats.there.get("jpeg" if ending == "jpg" else ending) if S3.fullmatch(uri) else None


def _report_type(block: Block, fitted: str, writing: Writing, path: Path) -> None:
    given = block.get("media_type")
    if fitted != given:
        code = "required_default" if given is None else "unsupported_value"
        writing.loss.replace((*path, "media_type"), fitted, code, "representation", "the target names the type so")


def _source_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    """The wire source of a medium; None when there is none."""
    source = block["source"]
    data: str = source.get("data") or ""
    where = (*path, "source")
    match source["kind"]:
        case "base64" if data:
            wire: Wire = {"bytes": data}
        case "file_id" if S3.fullmatch(data) and writing.owns_file(source):
            wire = {"s3Location": {"uri": data}}
        case "url" if S3.fullmatch(data):
            wire = {"s3Location": {"uri": data}}
            read = {"kind": "file_id", "data": data}
            writing.loss.replace(where, read, "unsupported_source", "representation", "an address of S3 is a file here")
            return wire
        case "url" if (inline := parse_data_uri(data)) is not None and inline[1] and may_be_base64(inline[1]):
            read = {"kind": "base64", "data": inline[1]}
            writing.loss.replace(
                where, read, "unsupported_source", "representation", "the target takes no data address"
            )
            return {"bytes": inline[1]}
        case _:
            return None
    report_unknown(source, _SOURCE, writing.loss, where)
    return wire


def _document_source(block: Block, writing: Writing, path: Path) -> Wire | None:
    source = block["source"]
    kind = source["kind"]
    if kind == "blocks":
        return _document_content(block, writing, path)
    if kind == "text" and source.get("data"):
        report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
        return {"text": source["data"]}
    if kind == "file_id" or _document_type(block) is not None:
        return _source_to_wire(block, writing, path)
    return None


def _document_type(block: Block) -> str | None:
    """The media type in the words of the wire: other texts are plain text."""
    fitted = _fitted_type(block, DOCUMENT_FORMATS)
    kind = block["source"]["kind"]
    if fitted is not None or kind == "blocks":
        return fitted
    media_type = (block.get("media_type") or "").partition(";")[0].strip().lower()
    return "text/plain" if kind == "text" or media_type.startswith("text/") or media_type in TEXTS else None


def _document_content(block: Block, writing: Writing, path: Path) -> Wire:
    where = (*path, "source", "content")
    texts: list[Wire] = []
    for position, part in enumerate(block["source"].get("content") or ()):
        at = (*where, position)
        if part["type"] != "text":
            _dropped_part(part, writing, at)
            continue
        if part["text"] and not part["text"].isspace():
            texts.append({"text": part["text"]})
            if len(part) > 2:
                _bare_text(part, writing, at)
        else:
            writing.loss.drop(
                at, "empty_content", "representation", "the target takes no text without visible characters"
            )
    if not texts:
        texts = writing.filler(where, "a document is not empty")
    report_unknown(block["source"], _BLOCKS, writing.loss, (*path, "source"))
    return {"content": texts}


def _dropped_part(part: Block, writing: Writing, path: Path) -> None:
    message = f"{part['type']} has no form inside a document"
    writing.loss.drop(path, "unsupported_block", "lost", message)


_CARRIED: Final = ("type", "text", "critical", "provider_state")
_TEXT: Final = ("cache", "citations", "refusal")


def _bare_text(part: Block, writing: Writing, path: Path) -> None:
    """Inside a document only the text itself is carried."""
    for name in part:
        if name not in _CARRIED:
            code = "cache_hint" if name == "cache" else "unsupported_field" if name in _TEXT else "unknown_field"
            writing.loss.drop((*path, name), code, "weakened", "inside a document only the text is carried")
    state = part.get("provider_state") or {}
    for name in state.get("fields") or ():
        where = (*path, "provider_state", "fields", name)
        writing.loss.drop(where, "unsupported_field", "weakened", "inside a document only the text is carried")
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "inside a document only the text is carried")


# ---------------------------------------------------------------------------------------------- rows


def _format(kind: str) -> Member:
    formats = _FORMATS[kind]

    def read(raw: Any, block: Block, _: Reading) -> None:
        block["media_type"] = formats.there[raw]

    def write(block: Block, writing: Writing, path: Path) -> Any:
        fitted = _document_type(block) if kind == "document" else _fitted_type(block, formats)
        if fitted in formats.back:
            _report_type(block, fitted, writing, path)
            return formats.back[fitted]
        if block.get("media_type") is not None:
            where = (*path, "media_type")
            writing.loss.drop(where, "unsupported_value", "representation", "the wire has no name for the type")
        return ABSENT

    return Member("format", ("media_type",), read, write)


def _read_bytes(raw: Any, block: Block, _: Reading) -> None:
    block["source"] = {"kind": "base64", "data": raw}


def _read_uri(raw: Any, block: Block, reading: Reading) -> None:
    reading.unusual = True
    block["source"] = {"kind": "file_id", "data": raw, "provider": reading.provider}


def _read_text(raw: Any, block: Block, _: Reading) -> None:
    block["source"] = {"kind": "text", "data": raw}


def _read_content(raw: Any, block: Block, reading: Reading) -> None:
    block["source"] = {"kind": "blocks", "content": [text_from_wire(part, "document", reading) for part in raw]}


def _made(name: str, read: Any) -> Member:
    """A member of a source, which was made before anything else is written of the block."""
    return Member(name, ("source",), read, lambda block, writing, path: writing.medium.get(name, ABSENT))


def _write_uri(block: Block, writing: Writing, path: Path) -> Any:
    return writing.medium.get("s3Location", {}).get("uri", ABSENT)


_STORED: Final = (
    _made("bytes", _read_bytes),
    inside("s3Location", Row({}, Member("uri", ("source",), _read_uri, _write_uri)), optional=True),
)


def _write_name(block: Block, writing: Writing, path: Path) -> Any:
    """The name that the wire demands: the document's own, its title, or one that is made up."""
    where = (*path, "name")
    name, title = block.get("name"), block.get("title")
    if title is not None and name is None:
        writing.loss.move(
            (*path, "title"), where, "unsupported_field", "representation", "the title travels as the name"
        )
        name = title
    elif title is not None:
        writing.loss.drop((*path, "title"), "unsupported_field", "weakened", "the wire has a name and no title")
    fitted = writing.document_name(name or "document")
    if fitted != name:
        code = "required_default" if name is None else "name_rewritten"
        writing.loss.replace(where, fitted, code, "representation", "the target's grammar of names, each name once")
    return fitted


def _write_context(block: Block, writing: Writing, path: Path) -> Any:
    context = block.get("context", ABSENT)
    if context is ABSENT or context:
        return context
    writing.loss.drop((*path, "context"), "empty_content", "representation", "an empty context is not taken")
    return ABSENT


def _medium_row(kind: str) -> Row:
    return block_row(inside(kind, Row({}, _format(kind), inside("source", Row({}, *_STORED)))))


_ROWS: Final = {
    "image": _medium_row("image"),
    "video": _medium_row("video"),
    "audio": _medium_row("audio"),
    "document": block_row(
        inside(
            "document",
            Row(
                {},
                _format("document"),
                by_rule("name", ("name", "title"), str, _write_name, soft=True),
                inside("source", Row({}, _made("text", _read_text), _made("content", _read_content), *_STORED)),
                by_rule("context", ("context",), str, _write_context, soft=True),
                CITED,
            ),
        )
    ),
}
