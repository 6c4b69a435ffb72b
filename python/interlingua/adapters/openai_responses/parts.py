"""
Content parts and blocks: `part_to_wire` above `part_from_wire`, the same kinds in the same order.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note
from interlingua.adapters._kit import BLOCK_MEMBERS, NOTHING, Wire, data_uri, keep, report_unknown
from interlingua.adapters._media import (
    DETAILS,
    document_as_text,
    inline,
    is_fetched,
    is_file_id,
    is_image_source,
    refuses_image,
    sniff,
    source_refused,
)
from interlingua.adapters.openai_responses.context import Reading, Writing, report_state
from interlingua.adapters.openai_responses.tables import BREAKPOINT_TTLS, MOST_BREAKPOINTS, TIME_TO_LIVE
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Path

Block = dict[str, Any]

TEXT: Final = frozenset((*BLOCK_MEMBERS, "text", "citations", "refusal"))
_MEDIA: Final = (*BLOCK_MEMBERS, "source", "media_type")
_IMAGE: Final = frozenset((*_MEDIA, "detail"))
_DOCUMENT: Final = frozenset((*_MEDIA, "name", "title", "context", "citations_enabled"))
_SOURCE: Final = frozenset(("kind", "data", "provider"))


# ---------------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, path: Path, writing: Writing) -> Wire | None:
    """The content part for a block of a user, system or tool message, or None when it was dropped."""
    match block["type"]:
        case "text":
            return _text_to_wire(block, path, writing)
        case "document" if (text := document_as_text(block, path, writing.loss)) is not None:
            return _text_to_wire(text, path, writing)
        case "image" | "document":
            return _media_to_wire(block, path, writing)
        case "opaque":
            return own_part(block, path, writing)
        case "thinking" | "redacted_thinking":
            return lost(block, path, writing, "unsupported_block", "reasoning has no form in this place")
        case "audio" | "video":
            return lost(block, path, writing, "unsupported_block", f"the wire has no part for {block['type']}")
        case "tool_use" | "tool_result":
            return lost(block, path, writing, "unsupported_block", "calls and results have no form in this place")
        case _:
            return lost(block, path, writing, "unknown_block", "a block of a type that this version does not know")


def lost(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    """Reports a block that has no form; gives the text part for its place when the policy wants one."""
    text = writing.loss.block(path, block, code, "lost", message)
    return None if text is None else {"type": "input_text", "text": text["text"]}


def own_part(block: Block, path: Path, writing: Writing, *, assistant: bool = False) -> Wire | None:
    """An opaque block that is a content part, when it came from here."""
    if not writing.endpoint.owns(block):
        return lost(block, path, writing, "foreign_state", "an item of another provider has no form here")
    report_reading(block, part_from_wire(block["value"], Reading(writing.endpoint), assistant=assistant), path, writing)
    report_opaque(block, path, writing, fields=not assistant)
    return block["value"]


def report_reading(block: Block, read: Block, path: Path, writing: Writing) -> None:
    """Reports an opaque block that would be read back as something else, since a caller may put anything in one."""
    seen = {name: block.get(name) for name in ("type", "adapter", "kind", "value")}
    if seen != {name: read.get(name) for name in seen}:
        message = "the item is read back as what it says"
        writing.loss.replace(path, read, "unsupported_value", "representation", message)


_OPAQUE: Final = frozenset((*BLOCK_MEMBERS, "adapter", "provider", "origin", "kind", "value"))


def report_opaque(block: Block, path: Path, writing: Writing, *, fields: bool = True) -> None:
    """Reports what an opaque block holds beside its value."""
    if len(block) > 4:
        if block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the item has no cache mark")
        report_state(block, writing, path, fields=fields)
        report_unknown(block, _OPAQUE, writing.loss, path)


def _text_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    if len(block) == 2:
        return {"type": "input_text", "text": block["text"]}
    state = writing.owned(block)
    kind = text_kind(block, "input_text", writing)
    part: Wire = {**(state.get("fields") or NOTHING), "type": kind, "text": block["text"]}
    if block.get("refusal"):
        message = "only an assistant's text can be marked as a refusal"
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", message)
    if block.get("citations"):
        message = "citations have no form in this place"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    finish_block(block, part, TEXT, path, writing)
    return part


def text_kind(block: Block, usual: str, writing: Writing) -> str:
    """The type of a text part: the usual one of its place, but what was read here goes back as it was."""
    return writing.encoding_of(block).get("said", usual) if writing.same_origin and len(block) > 2 else usual


def finish_block(block: Block, part: Wire, known: frozenset[str], path: Path, writing: Writing) -> None:
    """What all blocks have: a cache hint, a state, nulls, members that this version does not know."""
    encoding = writing.encoding_of(block)
    if block.get("cache") is not None:
        cache_to_wire(block["cache"], part, encoding, (*path, "cache"), writing)
    for name, value in encoding.get("empty", NOTHING).items():
        if value is None:  # an empty list is a spelling of what an answer says
            part.setdefault(name, None)
    report_state(block, writing, path)
    report_unknown(block, known, writing.loss, path)


_PART: Final = "part"
"""The place of a medium."""


def _media_to_wire(block: Block, path: Path, writing: Writing) -> Wire | None:
    kind = block["type"]
    data = block["source"].get("data")
    odd = writing.has_quirk(block, _PART)
    if data is None or not (data or odd):
        return lost(block, path, writing, "unsupported_source", f"the wire does not take this source of {kind}")
    if (
        not writing.verbatim(kind)
        and writing.capabilities.get("supports_images" if kind == "image" else "supports_documents") is False
    ):
        return lost(block, path, writing, "unsupported_model", f"the model takes no {kind}")
    if kind == "image" and refuses_image(block, writing.capabilities) and not writing.verbatim(kind):
        return lost(block, path, writing, "unsupported_source", "the model does not take this media type")
    if not (odd or _is_taken(block, writing.endpoint)):
        message = source_refused(block, f"the provider takes no {kind} from this source")
        return lost(block, path, writing, "unsupported_source", message)
    report_unknown(block["source"], _SOURCE, writing.loss, (*path, "source"))
    part = _image_to_wire(block, path, writing) if kind == "image" else _document_to_wire(block, path, writing)
    if part is None:
        message = source_refused(block, f"the wire does not take this source of {kind}")
        return lost(block, path, writing, "unsupported_source", message)
    finish_block(block, part, _IMAGE if kind == "image" else _DOCUMENT, path, writing)
    fields = writing.owned(block).get("fields")
    return {**fields, **part} if fields else part


def _is_taken(block: Block, endpoint: Endpoint) -> bool:
    """Whether the provider takes an image or a document from its source; of other kinds of source nothing is said here."""
    if block["type"] == "image":
        return is_image_source(block, endpoint)
    source = block["source"]
    match source["kind"]:
        case "url":
            return inline(source["data"]) is not None or is_fetched(source["data"], "document", endpoint)
        case "file_id":
            return is_file_id(source["data"])
        case _:
            return True


def _image_to_wire(block: Block, path: Path, writing: Writing) -> Wire | None:
    found = _address(block, path, writing)
    if found is None:
        return None
    member, address = found
    part: Wire = {"type": "input_image", "file_id" if member == "file_id" else "image_url": address}
    if (detail := block.get("detail")) is not None:
        if detail in DETAILS or writing.whole or writing.encoding_of(block).get("detail") == detail:
            part["detail"] = detail
        else:
            message = "the wire has no such word for how closely to look"
            writing.loss.drop((*path, "detail"), "unsupported_value", "weakened", message)
    return part


def _document_to_wire(block: Block, path: Path, writing: Writing) -> Wire | None:
    found = _address(block, path, writing)
    if found is None:
        return None
    member, address = found
    for name in ("title", "context", "citations_enabled"):
        if block.get(name) not in (None, False):
            severity = "weakened" if block[name] else "representation"
            message = f"the wire has no {name.replace('_', ' ')} of a document"
            writing.loss.drop((*path, name), "unsupported_field", severity, message)
    part: Wire = {"type": "input_file", member: address}
    if block.get("name") or (block.get("name") is not None and (writing.same_origin or member != "file_data")):
        part["filename"] = block["name"]
    elif member == "file_data" and not writing.encoding_of(block).get("nameless"):
        part["filename"] = "document"
        message = "the wire demands a file name"
        writing.loss.replace((*path, "name"), "document", "required_default", "representation", message)
    return part


def _address(block: Block, path: Path, writing: Writing) -> tuple[str, str] | None:
    """Member and value that say where a medium is; None for a source that has none here."""
    source, loss = block["source"], writing.loss
    media_type = block.get("media_type")
    match source["kind"]:
        case "base64":
            written = media_type.partition(";")[0].strip() if media_type else sniff(block["type"], source["data"])
            if written != media_type:
                code = "required_default" if media_type is None else "unsupported_value"
                message = "the media type is written as the wire demands it"
                loss.replace((*path, "media_type"), written, code, "representation", message)
            return "file_data", data_uri(written, source["data"])
        case "url":
            url: str = source.get("data", "")
            if (found := inline(url)) is not None:
                value = {"kind": "base64", "data": found[1]}
                message = "a data URI is read back as its bytes"
                loss.replace((*path, "source"), value, "unsupported_source", "representation", message)
                if media_type != found[0]:
                    loss.replace((*path, "media_type"), found[0], "unsupported_source", "representation", message)
                return "file_data", url
            if media_type is not None:
                message = "the server tells the type of a file that it fetches"
                loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
            return "file_url", url
        case "file_id" if (
            source.get("provider") in (None, writing.endpoint.provider) or writing.endpoint.provider is None
        ):
            if media_type is not None:
                message = "the provider knows the type of its file"
                loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
            return "file_id", source.get("data", "")
        case _:
            return None


# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading, *, assistant: bool = False) -> Block:
    """The block for a content part. Raises `TypeError` and its like for what is no part at all."""
    kind = part.get("type")
    if assistant:
        block = None
    elif kind == "input_text":
        text = part.get("text")
        if type(text) is str and len(part) == 2:
            return {"type": "text", "text": text}
        block = _finish(part, {"type": "text", "text": text}, _TEXT_PART, reading) if isinstance(text, str) else None
    elif kind in ("text", "output_text") and isinstance(part.get("text"), str):
        block = _finish(part, {"type": "text", "text": part["text"]}, _TEXT_PART, reading, said=kind)
    elif kind == "input_image":
        block = _noted(_image_from_wire(part, reading), reading)
    elif kind == "input_file":
        block = _noted(_file_from_wire(part, reading), reading)
    else:
        block = None
    return opaque(part, reading) if block is None else block


_TEXT_PART: Final = frozenset(("type", "text"))
_IMAGE_PART: Final = frozenset(("type", "image_url", "file_id", "detail"))
_FILE_PART: Final = frozenset(("type", "file_id", "file_url", "file_data", "filename"))


def opaque(value: Any, reading: Reading) -> Block:
    """A part or item of the wire, kept whole. Raises `TypeError` for what is no object."""
    if not isinstance(value, dict):
        raise TypeError(value)
    block: Block = {"type": "opaque", "adapter": reading.endpoint.adapter}
    if reading.endpoint.provider is not None:
        block["provider"] = reading.endpoint.provider
    if reading.endpoint.origin is not None:
        block["origin"] = reading.endpoint.origin
    if isinstance(value.get("type"), str):
        block["kind"] = value["type"]
    block["value"] = value
    return block


def _source(part: Wire, members: tuple[str, ...], reading: Reading) -> Block | None:
    """Source and media type of a part that names exactly one."""
    given = [name for name in members if part.get(name) is not None]
    if len(given) != 1 or not isinstance(value := part[given[0]], str):
        return None
    if given[0] == "file_id":
        source: dict[str, Any] = {"kind": "file_id", "data": value}
        if reading.endpoint.provider is not None:
            source["provider"] = reading.endpoint.provider
        return {"source": source}
    if (found := inline(value)) is not None:
        # bytes under the name of an address, or the other way round, would be written under their usual name
        if given[0] == "file_url":
            return None
        return {"source": {"kind": "base64", "data": found[1]}, "media_type": found[0]}
    return None if given[0] == "file_data" else {"source": {"kind": "url", "data": value}}


def _noted(block: Block | None, reading: Reading) -> Block | None:
    """The medium, with a note when it is of a source that no writer would take."""
    if block is not None:
        if not block["source"]["data"] or not _is_taken(block, reading.endpoint):
            note(block, "odd", reading.state, imprint(block, _PART))
    return block


def _image_from_wire(part: Wire, reading: Reading) -> Block | None:
    found = _source(part, ("image_url", "file_id"), reading)
    if found is None or not isinstance(detail := part.get("detail"), (str, type(None))):
        return None
    block: Block = {"type": "image", **found}
    if detail is not None:
        block["detail"] = detail
    _finish(part, block, _IMAGE_PART, reading)
    if detail is not None and detail not in DETAILS:
        state = block.setdefault("provider_state", reading.state())
        state["encoding"] = {**state.get("encoding", NOTHING), "detail": detail}
    return block


def _file_from_wire(part: Wire, reading: Reading) -> Block | None:
    found = _source(part, ("file_data", "file_url", "file_id"), reading)
    if found is None or not isinstance(name := part.get("filename"), (str, type(None))):
        return None
    block: Block = {"type": "document", **found}
    if name is not None:
        block["name"] = name
    _finish(part, block, _FILE_PART, reading)
    if name is None and "file_data" in part:
        state = block.setdefault("provider_state", reading.state())
        state["encoding"] = {**state.get("encoding", NOTHING), "nameless": True}
    return block


def _finish(part: Wire, block: Block, known: frozenset[str], reading: Reading, *, said: str | None = None) -> Block:
    encoding: dict[str, Any] = {} if said is None else {"said": said}
    if empty := {name: None for name, value in part.items() if value is None}:
        encoding["empty"] = empty
    kept = {name: value for name, value in part.items() if name not in known and value is not None}
    cache_from_wire(kept, block, encoding, reading)
    if kept or encoding:
        state = block.setdefault("provider_state", reading.state())
        keep(state, kept, encoding)
    return block


# ---------------------------------------------------------------------------------------------------- cache hints

CACHE: Final = "prompt_cache_breakpoint"


def cache_to_wire(cache: dict[str, Any], item: Wire, encoding: Mapping[str, Any], path: Path, writing: Writing) -> None:
    """Puts a cache hint on a part or tool: where it stood, or where the dialect keeps one."""
    loss = writing.loss
    if CACHE not in (encoding.get("cache"), writing.dialect.get("cache_hints")):
        loss.drop(path, "cache_hint", "weakened", "the wire has no cache marks")
    elif writing.breakpoints >= writing.most_marks(MOST_BREAKPOINTS):
        loss.drop(path, "limit_exceeded", "weakened", f"the wire takes {MOST_BREAKPOINTS} cache marks")
    else:
        writing.breakpoints += 1
        item[CACHE] = {"mode": "explicit"}
        if (ttl := cache.get("ttl")) is not None:
            if ttl in BREAKPOINT_TTLS or writing.whole or ttl == encoding.get("ttl"):
                item[CACHE]["ttl"] = ttl
            else:
                loss.drop((*path, "ttl"), "cache_hint", "weakened", "the wire does not know this time to live")
        report_unknown(cache, _CACHE, loss, path)


_CACHE: Final = frozenset(("ttl",))


def cache_from_wire(kept: Wire, item: dict[str, Any], encoding: dict[str, Any], reading: Reading) -> None:
    """Takes a readable cache hint out of the members that are `kept`, onto the item."""
    match kept.get(CACHE):
        case {"mode": "explicit", **others} if others.keys() <= _CACHE:
            ttl = others.get("ttl")
            if "ttl" not in others or (isinstance(ttl, str) and TIME_TO_LIVE.fullmatch(ttl)):
                item["cache"] = others
                encoding["cache"] = CACHE
                if ttl is not None and ttl not in BREAKPOINT_TTLS:
                    encoding["ttl"] = ttl
                reading.breakpoints += 1
                del kept[CACHE]
        case _:
            pass
