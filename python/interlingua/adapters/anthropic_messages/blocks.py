"""Blocks both ways: the same cases in the same order."""

import base64
import binascii
from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._claude.blocks import NOT_SPELT, free_text_call, raw_arguments, spelt_arguments
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import IMAGE_STARTS, THINKING_TYPES, UNREADABLE, string
from interlingua.adapters._kit import (
    BLOCK_MEMBERS,
    CALL_MEMBERS,
    RESULT_MEMBERS,
    THINKING_MEMBERS,
    Wire,
    gravity,
    parse_data_uri,
    report_foreign_state,
    report_unknown,
)
from interlingua.adapters._media import may_be_base64, source_refused
from interlingua.adapters.anthropic_messages.tables import IMAGE_TYPES, MEDIA_TYPE, NAME, Writing, cache_from_wire
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]

# the places that take different blocks
SYSTEM, USER, ASSISTANT, RESULT, DOCUMENT = "system", "user", "assistant", "result", "document"

# ---------------------------------------------------------------------------------------------- from the wire


def block_from_wire(block: Wire, reading: Reading) -> Block:
    """One block of the wire. What is not shaped as the wire documents it stays whole, as an opaque block.

    Raises KeyError or TypeError for a known block that lacks a member or has one of a wrong type.
    """
    match block["type"]:
        case "text":
            text = block["text"]
            if type(text) is not str:
                raise TypeError("text")
            if len(block) == 2 and text and not text.isspace():
                return {"type": "text", "text": text}
            return _text_from_wire(block, text, reading)
        case "tool_use":
            return _tool_use_from_wire(block, reading)
        case "image":
            return _image_from_wire(block, reading)
        case "document":
            return _document_from_wire(block, reading)
        case "thinking":
            return _thinking_from_wire(block, reading)
        case "redacted_thinking":
            canonical = {"type": "redacted_thinking", "data": string(block["data"])}
            reading.unusual = reading.unusual or "cache_control" in block
            return _extras(block, canonical, _REDACTED_WIRE, reading, reading.state())
        case kind:
            return reading.opaque(string(kind), block)


def blocks_from_wire(
    content: list[Any], reading: Reading, path: Path, failure: type[InvalidWire] = InvalidWire
) -> list[Block]:
    """The blocks of one list; raises `failure` with the pointer of the block that cannot be read."""
    try:
        return [block_from_wire(block, reading) for block in content]
    except UNREADABLE as problem:
        raise unreadable("a block", (*path, _first_unreadable(content, reading)), failure) from problem


def _first_unreadable(content: list[Any], reading: Reading) -> int:
    # only asked when one is: reading again is cheaper than counting along
    for position, block in enumerate(content):
        try:
            block_from_wire(block, reading)
        except UNREADABLE:
            return position
    return 0


def unreadable(what: str, path: Path, failure: type[InvalidWire] = InvalidWire) -> InvalidWire:
    """The error for a part of the wire that lacks a member or has one of a wrong type."""
    return failure(
        f"{what} cannot be read: a member is missing or has the wrong type", path=pointer(path), adapter=NAME
    )


def named(value: Any) -> str:
    """The value, when it is a name."""
    if type(value) is not str or not value:
        raise TypeError("not a name")
    return value


_TEXT_WIRE: Final = frozenset(("type", "text"))
_TOOL_USE_WIRE: Final = frozenset(("type", "id", "name", "input"))
_THINKING_WIRE: Final = frozenset(("type", "thinking", "signature"))
_REDACTED_WIRE: Final = frozenset(("type", "data"))
_IMAGE_WIRE: Final = frozenset(("type", "source"))
_DOCUMENT_WIRE: Final = frozenset(("type", "source"))
_RESULT_WIRE: Final = frozenset(("type", "tool_use_id", "content", "is_error"))


def _extras(
    block: Wire,
    canonical: Block,
    known: frozenset[str],
    reading: Reading,
    state: dict[str, Any] | None = None,
    form: dict[str, Any] | None = None,
) -> Block:
    """Adds the cache hint, and the provider state that holds the members and spellings without canonical meaning."""
    fields: dict[str, Any] = {}
    if not block.keys() <= known:
        for name, value in block.items():
            if name in known:
                continue
            if value is None:
                form = form or {}
                form.setdefault("null", []).append(name)
            elif name == "cache_control" and (hint := cache_from_wire(value)) is not None:
                canonical["cache"] = hint
                reading.mark(hint)
            else:
                fields[name] = value
                reading.unusual = reading.unusual or name == "cache_control"
    if fields or form or state is not None:
        state = state or reading.state()
        if fields:
            state["fields"] = fields
        if form:
            state["form"] = form
        canonical["provider_state"] = state
    return canonical


def _text_from_wire(block: Wire, text: str, reading: Reading) -> Block:
    canonical: Block = {"type": "text", "text": text}
    form = None if text and not text.isspace() else {"blank": True}
    known = _TEXT_WIRE
    citations = block.get("citations")
    if isinstance(citations, list):
        known = known | {"citations"}
        reading.unusual = True
        canonical["citations"] = [_citation_from_wire(citation, reading) for citation in citations]
    return _extras(block, canonical, known, reading, form=form)


_CITATION_TEXTS: Final = ("url", "title", "cited_text")


def _citation_from_wire(citation: Wire, reading: Reading) -> dict[str, Any]:
    canonical: dict[str, Any] = {"type": string(citation["type"])}
    fields: dict[str, Any] = {}
    for name, value in citation.items():
        if name in _CITATION_TEXTS and isinstance(value, str):
            canonical[name] = value
        elif name != "type":
            fields[name] = value
    canonical["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return canonical


def _tool_use_from_wire(block: Wire, reading: Reading) -> Block:
    wire_id, name, arguments = block["id"], block["name"], block.get("input")
    if type(wire_id) is not str or type(name) is not str or not name:
        raise TypeError("tool_use")
    reading.names.add(name)
    canonical: Block = {"type": "tool_use", "id": reading.call(wire_id), "name": name, "input": arguments}
    state = {**reading.whose, "id": wire_id}
    if type(arguments) is dict:
        if len(block) == 4:
            canonical["provider_state"] = state
            return canonical
        return _extras(block, canonical, _TOOL_USE_WIRE, reading, state)
    canonical["input"] = {}
    if "input" in block:
        canonical["input_raw"] = raw_arguments(arguments)
        return _extras(block, canonical, _TOOL_USE_WIRE, reading, state, {"input": "said"})
    return _extras(block, canonical, _TOOL_USE_WIRE, reading, state, {"input": "absent"})


def _thinking_from_wire(block: Wire, reading: Reading) -> Block:
    canonical: Block = {"type": "thinking", "text": string(block["thinking"])}
    form = None
    signature = block.get("signature")
    reading.unusual = reading.unusual or not signature or "cache_control" in block
    if signature is not None:
        canonical["signature"] = string(signature)
    elif "signature" in block:
        form = {"null": ["signature"]}
    return _extras(block, canonical, _THINKING_WIRE, reading, reading.state(), form)


def _image_from_wire(block: Wire, reading: Reading) -> Block:
    source = _source_from_wire(block["source"], reading)
    if source is None or source[0]["kind"] == "text":
        return reading.opaque("image", block)
    canonical: Block = {"type": "image", "source": source[0]}
    if source[1] is not None:
        canonical["media_type"] = source[1]
    reading.pictures = True
    if source[1] not in IMAGE_TYPES or not source[0]["data"]:
        reading.unusual = True
    return _extras(block, canonical, _IMAGE_WIRE, reading)


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


def _document_from_wire(block: Wire, reading: Reading) -> Block:
    wire_source = block["source"]
    reading.unusual = True
    form: dict[str, Any] | None = None
    if wire_source.get("type") == "content" and len(wire_source) == 2:
        content = wire_source["content"]
        if isinstance(content, str):
            form = {"string": True}
            content = [{"type": "text", "text": content}]
        parts = [_document_part_from_wire(part, reading) for part in content]
        source: tuple[dict[str, Any], str | None] | None = ({"kind": "blocks", "content": parts}, None)
    else:
        source = _source_from_wire(wire_source, reading)
    if source is None:
        return reading.opaque("document", block)
    canonical: Block = {"type": "document", "source": source[0]}
    if source[1] is not None:
        canonical["media_type"] = source[1]
    known: set[str] = set(_DOCUMENT_WIRE)
    for name in ("title", "context"):
        if isinstance(block.get(name), str):
            canonical[name] = block[name]
            known.add(name)
    match block.get("citations"):
        case {"enabled": bool(enabled), **others} if not others:
            canonical["citations_enabled"] = enabled
            known.add("citations")
        case _:
            pass
    return _extras(block, canonical, frozenset(known), reading, form=form)


def _document_part_from_wire(part: Wire, reading: Reading) -> Block:
    # only these stand in a document; anything else is kept whole, so nesting is bounded
    return (
        block_from_wire(part, reading)
        if part["type"] in ("text", "image")
        else reading.opaque(string(part["type"]), part)
    )


def _result_part_from_wire(part: Wire, reading: Reading) -> Block:
    kind = part["type"]
    if kind == "text" or kind == "image" or kind == "document":
        return block_from_wire(part, reading)
    return reading.opaque(string(kind), part)


def result_from_wire(block: Wire, reading: Reading) -> Block:
    """A tool result; the message around it is the caller's."""
    wire_id = string(block["tool_use_id"])
    canonical_id = reading.result(wire_id)
    state = None
    if canonical_id is None:
        canonical_id, state = reading.orphan(wire_id), reading.state(id=wire_id)
    content = block.get("content")
    form: dict[str, Any] | None = None
    parts: list[Block] = []
    if type(content) is list:
        parts = [_result_part_from_wire(part, reading) for part in content]
        if not parts:
            form = {"list": True}
    elif type(content) is str:
        form = {"string": True}
        parts = [block_from_wire({"type": "text", "text": content}, reading)]
    elif content is not None:
        raise TypeError("content")
    elif "content" in block:
        form = {"null": ["content"]}
    canonical: Block = {"type": "tool_result", "tool_use_id": canonical_id, "content": parts}
    if len(block) == 3 and form is None and state is None and parts:
        return canonical
    known = _RESULT_WIRE
    if "is_error" in block:
        match block["is_error"]:
            case bool(is_error):
                canonical["is_error"] = is_error
            case None:
                known = known - {"is_error"}
            case _:
                raise TypeError("is_error")
    return _extras(block, canonical, known, reading, state, form)


# ---------------------------------------------------------------------------------------------- to the wire

_TEXT: Final = BLOCK_MEMBERS | {"text", "citations", "refusal"}
_IMAGE: Final = BLOCK_MEMBERS | {"source", "media_type", "detail"}
_DOCUMENT: Final = BLOCK_MEMBERS | {"source", "media_type", "name", "title", "context", "citations_enabled"}
_REDACTED: Final = BLOCK_MEMBERS | {"data"}
_OPAQUE: Final = BLOCK_MEMBERS | {"adapter", "provider", "origin", "kind", "value"}


def blocks_to_wire(blocks: list[Block], place: str, writing: Writing, path: Path) -> list[Wire]:
    """The blocks of one place on the wire; those that it cannot carry are reported."""
    if len(blocks) == 1 and len(block := blocks[0]) == 2 and block["type"] == "text":  # most messages
        text = block["text"]
        if text and (place == ASSISTANT or not text.isspace()):
            return [{"type": "text", "text": text}]
    wires: list[Wire] = []
    for position, block in enumerate(blocks):
        kind = block["type"]
        if kind == "text" and len(block) == 2:
            text = block["text"]
            if text and (place == ASSISTANT or not text.isspace()):
                wires.append({"type": "text", "text": text})
                continue
        elif kind == "tool_use" and place == ASSISTANT:
            wires.append(_tool_use_to_wire(block, writing, (*path, position)))
            continue
        wire = block_to_wire(block, place, writing, (*path, position))
        if wire is not None:
            wires.append(wire)
    return wires


def block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """One block on the wire; None when this place cannot carry it, which is reported."""
    if writing.as_read or not writing.is_odd(block):
        return _block_to_wire(block, place, writing, path)
    writing.as_read = True
    wire = _block_to_wire(block, place, writing, path)
    writing.as_read = False
    return wire


def _block_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    match block["type"]:
        case "text":
            return _text_to_wire(block, place, writing, path)
        case "tool_use" if place == ASSISTANT or writing.as_read:
            return _tool_use_to_wire(block, writing, path)
        case "image" if place in _IMAGE_PLACES or writing.as_read:
            return _image_to_wire(block, writing, path)
        case "document" if place in (USER, RESULT) or (
            not writing.stricter and (place == ASSISTANT or writing.as_read)
        ):
            return _document_to_wire(block, writing, path)
        case "thinking" if place == ASSISTANT or writing.as_read:
            return _thinking_to_wire(block, writing, path)
        case "redacted_thinking" if place == ASSISTANT or writing.as_read:
            return _redacted_to_wire(block, writing, path)
        case "opaque":
            return _opaque_to_wire(block, place, writing, path)
        case "tool_result":
            raise InvalidRequest(
                "a tool result stands alone in a message of role tool; move it there", path=pointer(path)
            )
        case "tool_use" if place in (USER, SYSTEM):
            raise InvalidRequest("a tool_use does not stand in a message of this role", path=pointer(path))
        case "image" | "audio" | "video" | "document" | "tool_use" | "thinking" | "redacted_thinking" as kind:
            return writing.instead(block, path, "unsupported_block", f"{kind} has no form in this place")
        case _:
            return writing.instead(block, path, "unknown_block", "a block that this version does not know")


_IMAGE_PLACES: Final = (USER, RESULT, DOCUMENT)


def replayed(state: dict[str, Any], wire: Wire, writing: Writing, path: Path) -> None:
    """Writes what a provider state holds for this wire: verbatim members, and members that were null."""
    if fields := state.get("fields"):
        for name, value in fields.items():
            if name in wire:
                where = (*path, "provider_state", "fields", name)
                writing.loss.drop(where, "combination", "shape", "the canonical member says it already")
            else:
                wire[name] = value
                if name == "cache_control":
                    writing.marked(wire)
    if form := state.get("form"):
        for name in form.get("null") or ():
            wire.setdefault(name, None)
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "the wire has no signature in this place")


def finished(block: Block, wire: Wire, known: frozenset[str], writing: Writing, path: Path) -> Wire:
    """The members that all items have: the cache hint, provider state, and those that this version does not know."""
    if not block.keys() <= known:
        report_unknown(block, known, writing.loss, path)
    hint = block.get("cache")
    if hint is not None:
        writing.mark(wire, hint, path)
    state = block.get("provider_state")
    if state is not None:
        if not writing.endpoint.owns(state):
            report_foreign_state(block, writing.endpoint, writing.loss, path)
        elif "fields" in state or "form" in state or "signature" in state:
            replayed(state, wire, writing, path)
    return wire


def is_blank(text: str, place: str) -> bool:
    """Whether the wire refuses a text: an empty one everywhere, white space alone outside of assistant messages."""
    return not text or (place != ASSISTANT and text.isspace())


def _text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    text: str = block["text"]
    if is_blank(text, place) and not (writing.own and writing.form_of(block).get("blank")):
        writing.loss.drop(path, "empty_content", "shape", "the target takes no text without visible characters")
        return None
    wire: Wire = {"type": "text", "text": text}
    if "citations" in block:
        _citations_to_wire(block["citations"], wire, place, writing, (*path, "citations"))
    if block.get("refusal"):
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", "a refusal travels as ordinary text")
    return finished(block, wire, _TEXT, writing, path)


_CITATION: Final = frozenset(("type", "url", "title", "cited_text", "start_index", "end_index", "provider_state"))


def _citations_to_wire(
    citations: list[dict[str, Any]] | None, wire: Wire, place: str, writing: Writing, path: Path
) -> None:
    written: list[Wire] = []
    for position, citation in enumerate(citations or ()):
        where = (*path, position)
        if place != ASSISTANT and writing.stricter:
            writing.loss.drop(where, "unsupported_field", "weakened", "this version takes no citations in this place")
        elif (fields := _citation_fields(citation, writing)) is None:
            writing.loss.drop(where, "foreign_state", "weakened", "a citation of another provider has no form here")
        else:
            written.append(_citation_to_wire(citation, fields, writing, where))
    if written or citations == []:
        wire["citations"] = written


def _citation_fields(citation: dict[str, Any], writing: Writing) -> dict[str, Any] | None:
    # a citation points into the provider's own documents and results, so only its own can go back
    state = citation.get("provider_state")
    return (state.get("fields") or {}) if state is not None and writing.endpoint.owns(state) else None


def _citation_to_wire(citation: dict[str, Any], fields: dict[str, Any], writing: Writing, path: Path) -> Wire:
    wire: Wire = {"type": citation["type"]}
    for name in _CITATION_TEXTS:
        if name in citation:
            wire[name] = citation[name]
    for name, value in fields.items():
        if name == "file_id" and "file_id" not in wire and not writing.as_read:
            # answers hold it, requests are refused with it
            where = (*path, "provider_state", "fields", name)
            writing.loss.drop(where, "unsupported_field", "shape", "requests do not take the file id of a citation")
        elif name not in wire:
            wire[name] = value
    for name in ("start_index", "end_index"):
        if name in citation:
            writing.loss.drop((*path, name), "unsupported_field", "weakened", "the wire has no place for the span")
    report_unknown(citation, _CITATION, writing.loss, path)
    return wire


def _image_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if writing.lacks("supports_images"):
        return writing.instead(block, path, "unsupported_model", "the model takes no images")
    source = _media_source(block, _fit_image, writing, path)
    if source is None:
        message = source_refused(block, "the target takes JPEG, PNG, GIF and WebP images")
        return writing.instead(block, path, "unsupported_source", message)
    if "detail" in block:
        severity = gravity("detail", block["detail"], "weakened")
        writing.loss.drop((*path, "detail"), "unsupported_field", severity, "the wire has no level of detail")
    return finished(block, {"type": "image", "source": source}, _IMAGE, writing, path)


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
    if not source.get("data") and not writing.as_read:
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
                writing.loss.replace((*path, "media_type"), fitted, code, "shape", "the target names the type so")
            wire = {"type": "base64", "media_type": fitted, "data": source["data"]}
        case "url":
            parsed = parse_data_uri(source["data"])
            if parsed is not None and not writing.as_read:
                return _inline_source(block, parsed, fit, writing, path)
            _drop_media_type(media_type, writing, path)
            wire = {"type": "url", "url": source["data"]}
        case "file_id" if writing.owns_file(source):
            _drop_media_type(media_type, writing, path)
            wire = {"type": "file", "file_id": source["data"]}
        case _:
            return None
    report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
    return wire


_SOURCE: Final = frozenset(("kind", "data", "provider"))


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
    writing.loss.replace((*path, "source"), source, "unsupported_source", "shape", "the target takes no data address")
    if fitted != block.get("media_type"):
        writing.loss.replace((*path, "media_type"), fitted, "unsupported_source", "shape", "the address named the type")
    return {"type": "base64", "media_type": fitted, "data": parsed[1]}


def _drop_media_type(media_type: str | None, writing: Writing, path: Path) -> None:
    if media_type is not None:
        writing.loss.drop((*path, "media_type"), "unsupported_field", "shape", "the target finds the type by itself")


def _document_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if writing.lacks("supports_documents"):
        return writing.instead(block, path, "unsupported_model", "the model takes no documents")
    source = _document_source(block, writing, path)
    if source is None:
        message = source_refused(block, "the target takes PDF, plain text and blocks")
        return writing.instead(block, path, "unsupported_source", message)
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
        writing.loss.move(where, (*path, "title"), "unsupported_field", "shape", "the file name travels as the title")


def _document_source(block: Block, writing: Writing, path: Path) -> Wire | None:
    source = block["source"]
    media_type = block.get("media_type")
    match source["kind"]:
        case "text" if not source["data"] and not writing.as_read:
            return None
        case "text":
            if media_type != "text/plain" and not (writing.as_read and media_type):
                where, media_type = (*path, "media_type"), "text/plain"
                writing.loss.replace(where, media_type, "unsupported_value", "shape", "text travels as plain text")
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
    content = blocks_to_wire(source["content"], DOCUMENT, writing, where)
    if not content and not writing.as_read:
        content = writing.filler(where, "a document is not empty")
    _drop_media_type(block.get("media_type"), writing, path)
    report_unknown(source, _SOURCE | {"content"}, writing.loss, (*path, "source"))
    if writing.form_of(block).get("string") and len(content) == 1 and content[0].keys() == {"type", "text"}:
        return {"type": "content", "content": content[0]["text"]}
    return {"type": "content", "content": content}


def _decoded_text(block: Block, writing: Writing, path: Path) -> Wire | None:
    try:
        text = base64.b64decode(block["source"]["data"], validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    source = {"kind": "text", "data": text}
    writing.loss.replace((*path, "source"), source, "unsupported_source", "shape", "text travels as text, not base64")
    if block["media_type"] != "text/plain":
        where = (*path, "media_type")
        writing.loss.replace(where, "text/plain", "unsupported_value", "shape", "text travels as plain text")
    return {"type": "text", "media_type": "text/plain", "data": text}


def _tool_use_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    wire: Wire = {
        "type": "tool_use",
        "id": writing.call_id(block, path),
        "name": writing.tool_name(block["name"], path),
        "input": block["input"],
    }
    if len(block) == 4:
        return wire
    if "input_raw" in block or "kind" in block:
        _free_text_to_wire(block, wire, writing, path)
    elif writing.own and not block["input"] and writing.form_of(block).get("input") == "absent":
        del wire["input"]
    return finished(block, wire, CALL_MEMBERS, writing, path)


def _free_text_to_wire(block: Block, wire: Wire, writing: Writing, path: Path) -> None:
    """The arguments that are not an object: a free text travels as the one argument `input`."""
    if block.get("kind", "function") != "function":
        wire["input"] = free_text_call(block, writing.loss, path)
    elif "input_raw" in block:
        said = writing.own and not block["input"] and writing.form_of(block).get("input") == "said"
        value = spelt_arguments(block["input_raw"], own=True) if said else NOT_SPELT
        if value is not NOT_SPELT:
            wire["input"] = value
            return
        where = (*path, "input_raw")
        writing.loss.drop(where, "arguments_invalid", "lost", "the wire takes a JSON object as arguments")


def _thinking_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if not writing.owns_thinking(block):
        return writing.instead(block, path, "foreign_state", "reasoning of another provider cannot be replayed")
    signature = block.get("signature")
    # an empty signature is what a stream begins with: it proves nothing and is refused
    if not (signature or writing.as_read or writing.answering or writing.endpoint.dialect.get("unsigned_thinking")):
        return writing.instead(block, path, "unsigned_thinking", "reasoning is only taken back with its signature")
    wire: Wire = {"type": "thinking", "thinking": block["text"]}
    if signature is not None:
        wire["signature"] = signature
    return finished(_uncached(block, writing, path), wire, THINKING_MEMBERS, writing, path)


def _redacted_to_wire(block: Block, writing: Writing, path: Path) -> Wire | None:
    if not writing.owns_thinking(block):
        return writing.instead(block, path, "foreign_state", "reasoning of another provider cannot be replayed")
    wire = {"type": "redacted_thinking", "data": block["data"]}
    return finished(_uncached(block, writing, path), wire, _REDACTED, writing, path)


def _uncached(block: Block, writing: Writing, path: Path) -> Block:
    if "cache" not in block or writing.as_read:
        return block
    writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "reasoning takes no cache mark")
    return {name: value for name, value in block.items() if name != "cache"}


def can_replay(block: Block, writing: Writing) -> bool:
    """Whether a reasoning block goes onto the wire."""
    return (
        block["type"] in THINKING_TYPES
        and writing.owns_thinking(block)
        and (
            block["type"] == "redacted_thinking"
            or bool(block.get("signature"))
            or bool(writing.endpoint.dialect.get("unsigned_thinking"))
        )
    )


_USER_ITEMS: Final = ("image", "tool_result", "search_result", "container_upload", "tool_reference")
_SYSTEM_ITEMS: Final = ("tool_addition", "tool_removal")


def is_server_item(kind: str) -> bool:
    """Whether an item is part of what the provider's own tools did, which stands in answers."""
    return kind.startswith("mcp_tool_") or kind == "server_tool_use" or (kind.endswith("_tool_result"))


def _may_stand(kind: str, place: str) -> bool:
    if place == SYSTEM:
        return kind in _SYSTEM_ITEMS
    return kind not in _USER_ITEMS if place == ASSISTANT else not is_server_item(kind)


def _opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if not writing.endpoint.owns(block):
        return writing.instead(block, path, "foreign_state", "an item of another provider has no meaning here")
    value: Wire = block["value"]
    kind = string(value["type"])
    if not _may_stand(kind, place) and not writing.as_read:
        return writing.instead(block, path, "unsupported_block", "the item has no form in this place")
    if value["type"] != block.get("kind"):
        writing.loss.replace((*path, "kind"), value["type"], "required_default", "shape", "the item names its kind")
    if "cache" in block:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the item itself says how it is cached")
    state = block.get("provider_state")
    if state is not None:
        report_foreign_state(block, writing.endpoint, writing.loss, path)
        if writing.endpoint.owns(state):
            for name in ("fields", "signature"):
                if name in state:
                    where = (*path, "provider_state", name)
                    writing.loss.drop(where, "unsupported_field", "lost", "the item goes back verbatim")
    report_unknown(block, _OPAQUE, writing.loss, path)
    writing.marked(value)
    return value


def result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    """A tool result."""
    if writing.as_read or not writing.is_odd(block):
        return _result_to_wire(block, writing, path)
    writing.as_read = True
    wire = _result_to_wire(block, writing, path)
    writing.as_read = False
    return wire


def _result_to_wire(block: Block, writing: Writing, path: Path) -> Wire:
    wire: Wire = {"type": "tool_result", "tool_use_id": writing.result_id(block)}
    content = block["content"]
    if len(block) == 3 and len(content) == 1 and len(part := content[0]) == 2 and part["type"] == "text":
        text = part["text"]
        if text and not text.isspace():  # most results
            wire["content"] = [{"type": "text", "text": text}]
            return wire
    if content:
        parts = blocks_to_wire(content, RESULT, writing, (*path, "content"))
        if parts:
            wire["content"] = parts
            if (
                len(parts) == 1
                and "provider_state" in block
                and writing.form_of(block).get("string")
                and parts[0].keys() == {"type", "text"}
            ):
                wire["content"] = parts[0]["text"]
    elif writing.form_of(block).get("list"):
        wire["content"] = []
    if len(block) == 3:
        return wire
    if "is_error" in block:
        wire["is_error"] = block["is_error"]
    return finished(block, wire, RESULT_MEMBERS, writing, path)
