"""Media and documents both ways."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import read_description
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import IMAGE_STARTS
from interlingua.adapters._kit import BLOCK_MEMBERS, BiMap, Wire, parse_data_uri, report_unknown, severity_of
from interlingua.adapters._media import may_be_base64, source_refused
from interlingua.adapters.bedrock_converse.state import Block, finished, kept, left_over, nulls_of
from interlingua.adapters.bedrock_converse.tables import (
    ALIASES,
    AUDIO_FORMATS,
    DOCUMENT_FORMATS,
    IMAGE_FORMATS,
    S3,
    TEXTS,
    VIDEO_FORMATS,
    Writing,
)
from interlingua.adapters.bedrock_converse.texts import TEXT, text_from_wire
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire


def image_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """An image; None when it cannot be read."""
    return _medium_from_wire(wire, "image", IMAGE_FORMATS, reading)


def video_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """A video; None when it cannot be read."""
    return _medium_from_wire(wire, "video", VIDEO_FORMATS, reading)


def audio_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """Sound; None when it cannot be read."""
    return _medium_from_wire(wire, "audio", AUDIO_FORMATS, reading)


def _medium_from_wire(wire: Wire, kind: str, formats: BiMap[str, str], reading: Reading) -> Block | None:
    medium = wire[kind]
    media_type = formats.there.get(medium["format"])
    read = _source_from_wire(medium["source"], reading)
    if media_type is None or read is None:
        return None
    source, left = read
    canonical: Block = {"type": kind, "source": source, "media_type": media_type}
    inner = left_over(medium, _MEDIUM_WIRE)
    if left is not None:
        inner = {**(inner or {}), "source": left}
    return kept(canonical, wire, kind, inner, reading)


_MEDIUM_WIRE: Final = frozenset(("format", "source"))


def _source_from_wire(source: Wire, reading: Reading) -> tuple[dict[str, Any], Wire | None] | None:
    """A canonical source and what is left of the wire's; None for a source that is not shaped as documented."""
    nulls = nulls_of(source)
    if len(source) - len(nulls) != 1:
        return None
    if type(data := source.get("bytes")) is str and data and may_be_base64(data):
        return {"kind": "base64", "data": data}, nulls or None
    place = source.get("s3Location")
    if type(place) is dict and type(uri := place.get("uri")) is str:
        reading.unusual = True
        left = left_over(place, frozenset(("uri",)))
        canonical = {"kind": "file_id", "data": uri, "provider": reading.provider}
        if left is not None:
            nulls["s3Location"] = left
        return canonical, nulls or None
    return None


def document_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """A document; None when it cannot be read."""
    document = wire["document"]
    source = document["source"]
    named: Any = document.get("format")
    media_type = DOCUMENT_FORMATS.there.get(named) if named is not None else None
    nulls = nulls_of(source)
    left: Wire | None = nulls or None
    alone = len(source) - len(nulls) == 1
    if alone and type(text := source.get("text")) is str:
        read: dict[str, Any] = {"kind": "text", "data": text}
    elif alone and type(parts := source.get("content")) is list:
        if not all(part.keys() == {"text"} for part in parts):
            return None  # only texts stand in a document
        read = {"kind": "blocks", "content": [text_from_wire(part, place, reading) for part in parts]}
    elif (found := _source_from_wire(source, reading)) is not None:
        read, left = found
    else:
        return None
    if media_type is None and (named is not None or read["kind"] == "base64"):
        return None
    canonical: Block = {"type": "document", "source": read}
    if media_type is not None:
        canonical["media_type"] = media_type
    known = _MEDIUM_WIRE | read_description(document, ("name", "context"), canonical)
    if named is None:
        known = known - {"format"}
    inner = left_over(document, known)
    if left is not None:
        inner = {**(inner or {}), "source": left}
    return kept(canonical, wire, "document", inner, reading)


# ---------------------------------------------------------------------------------------------- to the wire

_MEDIUM: Final = BLOCK_MEMBERS | {"source", "media_type"}
_MEDIUM_DROPPED: Final = {"detail": "weakened", "transcript": "weakened"}
_MEDIUM_READ: Final = frozenset((*_MEDIUM, *_MEDIUM_DROPPED))
_DOCUMENT: Final = _MEDIUM | {"name", "title", "context", "citations_enabled"}
_SOURCE: Final = frozenset(("kind", "data", "provider"))
_BLOCKS: Final = frozenset(("kind", "content", "provider"))


def medium_to_wire(
    block: Block, formats: BiMap[str, str], capability: str, writing: Writing, path: Path
) -> Wire | None:
    """An image, a video or sound; None when the target does not take it, which is reported."""
    kind: str = block["type"]
    if writing.lacks(capability, kind):
        return writing.placeholder_or_drop(block, path, "unsupported_model", f"the model takes no {kind}")
    media_type = _fitted_type(block, formats)
    source = _source_to_wire(block, writing, path) if media_type is not None else None
    if source is None or media_type is None:
        message = source_refused(block, f"the target does not take {kind} of this source")
        return writing.placeholder_or_drop(block, path, "unsupported_source", message)
    _report_type(block, media_type, writing, path)
    for name, severity in _MEDIUM_DROPPED.items():
        if name in block:
            found = severity_of(name, block[name], severity)
            writing.loss.drop((*path, name), "unsupported_field", found, f"the wire has no {name}")
    inner = {"format": formats.back[media_type], "source": source}
    return finished(block, kind, inner, _MEDIUM_READ, writing, path)


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
        case "file_id" if (S3.fullmatch(data) or (writing.as_read and "data" in source)) and writing.owns_file(source):
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


def document_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    """A document; None when the target does not take it, which is reported."""
    if writing.lacks("supports_documents", "document"):
        return writing.placeholder_or_drop(block, path, "unsupported_model", "the model takes no documents")
    inner: Wire = {}
    media_type = block.get("media_type") if writing.as_read else _document_type(block)
    kind = block["source"]["kind"]
    source = None
    if kind == "blocks":
        source = _document_content(block, writing, path)
    elif kind == "text" and (block["source"].get("data") or writing.as_read):
        source = {"text": block["source"].get("data", "")}
        report_unknown(block["source"], _SOURCE, writing.loss, (*path, "source"))
    elif media_type is not None or kind == "file_id":
        source = _source_to_wire(block, writing, path)
    if source is None:
        message = source_refused(block, "the target does not take a document of this source")
        return writing.placeholder_or_drop(block, path, "unsupported_source", message)
    if media_type in DOCUMENT_FORMATS.back:
        inner["format"] = DOCUMENT_FORMATS.back[media_type]
        _report_type(block, media_type, writing, path)
    elif block.get("media_type") is not None:
        where = (*path, "media_type")
        writing.loss.drop(where, "unsupported_value", "representation", "the wire has no name for the type")
    _document_name(block, inner, writing, path)
    inner["source"] = source
    if "context" in block and (block["context"] or writing.as_read):
        inner["context"] = block["context"]
    elif "context" in block:
        writing.loss.drop((*path, "context"), "empty_content", "representation", "an empty context is not taken")
    if "citations_enabled" in block:
        inner["citations"] = {"enabled": block["citations_enabled"]}
    if writing.document is None and len(path) == _IN_MESSAGE:
        writing.document = path
    return finished(block, "document", inner, _DOCUMENT, writing, path)


_IN_MESSAGE: Final = 4  # steps to a block of a message; there are more to one of a result


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
        if writing.as_read or (part["text"] and not part["text"].isspace()):
            texts.append({"text": part["text"]})
            if len(part) > 2:
                _bare_text(part, writing, at)
        else:
            writing.loss.drop(
                at, "empty_content", "representation", "the target takes no text without visible characters"
            )
    if not texts and not writing.as_read:
        texts = writing.filler(where, "a document is not empty")
    report_unknown(block["source"], _BLOCKS, writing.loss, (*path, "source"))
    return {"content": texts}


def _dropped_part(part: Block, writing: Writing, path: Path) -> None:
    message = f"{part['type']} has no form inside a document"
    writing.loss.drop(path, "unsupported_block", "lost", message)


_CARRIED: Final = ("type", "text", "critical", "provider_state")


def _bare_text(part: Block, writing: Writing, path: Path) -> None:
    """Inside a document only the text itself is carried."""
    for name in part:
        if name not in _CARRIED:
            code = "cache_hint" if name == "cache" else "unsupported_field" if name in TEXT else "unknown_field"
            writing.loss.drop((*path, name), code, "weakened", "inside a document only the text is carried")
    state = part.get("provider_state") or {}
    for name in state.get("fields") or ():
        where = (*path, "provider_state", "fields", name)
        writing.loss.drop(where, "unsupported_field", "weakened", "inside a document only the text is carried")
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "inside a document only the text is carried")


def _document_name(block: Block, inner: Wire, writing: Writing, path: Path) -> None:
    """The name that the wire demands: the document's own, its title, or one that is made up."""
    where = (*path, "name")
    if writing.as_read:
        if "name" in block:
            inner["name"] = block["name"]
        return
    name, title = block.get("name"), block.get("title")
    if title is not None and name is None:
        writing.loss.move(
            (*path, "title"), where, "unsupported_field", "representation", "the title travels as the name"
        )
        name = title
    elif title is not None:
        writing.loss.drop((*path, "title"), "unsupported_field", "weakened", "the wire has a name and no title")
    inner["name"] = fitted = writing.document_name(name or "document")
    if fitted != name:
        code = "required_default" if name is None else "name_rewritten"
        writing.loss.replace(where, fitted, code, "representation", "the target's grammar of names, each name once")
