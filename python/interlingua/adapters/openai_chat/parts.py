"""
Content parts and blocks: `part_to_wire` above `part_from_wire`, the same kinds in the same order.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole, and nothing of it is guessed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note
from interlingua.adapters._kit import (
    BLOCK_MEMBERS,
    Wire,
    data_uri,
    report_foreign_state,
    report_own_state,
    report_unknown,
    within,
)
from interlingua.adapters._media import (
    DETAILS,
    document_as_text,
    inline,
    is_fetched,
    is_file_id,
    is_image_source,
    may_be_base64,
    refuses_image,
    sniff,
    source_refused,
)
from interlingua.adapters.openai_chat.context import Reading, Writing
from interlingua.adapters.openai_chat.tables import AUDIO, BREAKPOINT_TTLS, MOST_BREAKPOINTS, TIME_TO_LIVE
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path

Block = dict[str, Any]

_TEXT: Final = frozenset((*BLOCK_MEMBERS, "text", "citations", "refusal"))
_MEDIA: Final = (*BLOCK_MEMBERS, "source", "media_type")
_IMAGE: Final = frozenset((*_MEDIA, "detail"))
_AUDIO: Final = frozenset((*_MEDIA, "transcript"))
_VIDEO: Final = frozenset(_MEDIA)
_DOCUMENT: Final = frozenset((*_MEDIA, "name", "title", "context", "citations_enabled"))
_SOURCE: Final = frozenset(("kind", "data", "provider"))
_CACHE: Final = frozenset(("ttl",))

USER, SYSTEM, ASSISTANT, TOOL = "user", "system", "assistant", "tool"


# ---------------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, path: Path, writing: Writing, place: str) -> Wire | None:
    """The content part for a block, or None when it was dropped. `place` is the role of the message that it stands in."""
    writing.place = place
    match block["type"]:
        case "text":
            return _text_to_wire(block, path, writing, place)
        case "document" if place != ASSISTANT and (text := document_as_text(block, path, writing.loss)) is not None:
            return _text_to_wire(text, path, writing, place)
        case "image" | "audio" | "video" | "document":
            return _media_to_wire(block, path, writing, place)
        case "opaque":
            if writing.endpoint.owns(block):
                report_reading(
                    block, part_from_wire(block["value"], Reading(writing.endpoint, DERIVED_IDS)), path, writing
                )
                return block["value"]
            return _lost(block, path, writing, "foreign_state", "an item of another provider has no form here")
        case "thinking" | "redacted_thinking":
            return _lost(block, path, writing, "unsupported_block", "reasoning has no form in this place")
        case "tool_use" | "tool_result":
            return _lost(block, path, writing, "unsupported_block", "calls and results have no form in this place")
        case _:
            return _lost(block, path, writing, "unknown_block", "a block of a type that this version does not know")


def _lost(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    return writing.loss.block(path, block, code, "lost", message)


def lost_part(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    """Reports a block that has no form; gives the text part for its place when the policy wants one."""
    return _lost(block, path, writing, code, message)


def report_reading(block: Block, read: Block, path: Path, writing: Writing) -> None:
    """Reports an opaque block that would be read back as something else, since a caller may put anything in one."""
    seen = {name: value for name, value in block.items() if name not in ("provider", "critical") and value is not None}
    told = {name: value for name, value in read.items() if name != "provider"}
    if seen != told:
        message = "the item is read back as what it says"
        writing.loss.replace(path, read, "unsupported_value", "representation", message)


def _text_to_wire(block: Block, path: Path, writing: Writing, place: str) -> Wire:
    if len(block) == 2:
        return {"type": "text", "text": block["text"]}
    state = writing.owned(block)
    if block.get("refusal") and (place == ASSISTANT or writing.has_quirk(block, place)):
        part: Wire = {**state.get("fields", {}), "type": "refusal", "refusal": block["text"]}
    else:
        part = {**state.get("fields", {}), "type": "text", "text": block["text"]}
        if block.get("refusal"):
            message = "only an assistant's text can be marked as a refusal"
            writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", message)
    if block.get("citations") and place != ASSISTANT:
        message = "citations have no form in this place"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    finish_block(block, part, _TEXT, state, path, writing)
    return part


def finish_block(
    block: Block, part: Wire, known: frozenset[str], state: Mapping[str, Any], path: Path, writing: Writing
) -> None:
    """What all blocks have: a cache hint, state of another provider, members that this version does not know."""
    if block.get("cache") is not None:
        cache_to_wire(block["cache"], part, state, (*path, "cache"), writing)
    if state:
        report_own_state(state, writing.loss, path)
    elif "provider_state" in block:
        report_foreign_state(block, writing.endpoint, writing.loss, path)
    report_unknown(block, known, writing.loss, path)


def _media_to_wire(block: Block, path: Path, writing: Writing, place: str) -> Wire | None:
    kind = block["type"]
    state = writing.owned(block)
    if (refusal := _media_refused(kind, block, writing, place)) is not None:
        return _lost(block, path, writing, *refusal)
    report_unknown(block["source"], _SOURCE, writing.loss, (*path, "source"))
    match kind:
        case "image":
            part = _image_to_wire(block, path, writing, state)
        case "audio":
            part = _audio_to_wire(block, path, writing, state)
        case "video":
            part = _video_to_wire(block, path, writing, state)
        case _:
            part = _document_to_wire(block, path, writing, state)
    if part is None:
        message = source_refused(block, f"the wire does not take this source of {kind}")
        return _lost(block, path, writing, "unsupported_source", message)
    finish_block(block, part, _KNOWN[kind], state, path, writing)
    fields = state.get("fields")
    return {**fields, **part} if fields else part


_KNOWN: Final = {"image": _IMAGE, "audio": _AUDIO, "video": _VIDEO, "document": _DOCUMENT}
_SUPPORTS: Final = {
    "image": "supports_images",
    "audio": "supports_audio",
    "video": "supports_video",
    "document": "supports_documents",
}


def _media_refused(kind: str, block: Block, writing: Writing, place: str) -> tuple[str, str] | None:
    """Code and message when a medium cannot stand here, whatever its source."""
    data = block["source"].get("data")
    # what the provider itself said it takes back
    odd = writing.has_quirk(block, place) or (place == ASSISTANT and _is_given_back(block, writing))
    if data is None or not (data or odd):
        return "unsupported_source", f"the wire does not take this source of {kind}"
    if odd:
        return None
    if kind == "video" and not (writing.dialect.get("video_url") or writing.owned(block).get("encoding")):
        return "unsupported_block", "the wire has no part for a video"
    if writing.capabilities.get(_SUPPORTS[kind]) is False and not writing.verbatim(kind):
        return "unsupported_model", f"the model takes no {kind}"
    if kind == "image" and refuses_image(block, writing.capabilities) and not writing.verbatim(kind):
        return "unsupported_source", "the model does not take this media type"
    if place != USER and not (place == TOOL and writing.dialect.get("tool_result_media")):
        return "unsupported_block", f"{kind} has no form in a message of this role"
    if not _SOURCES[kind](block, writing):
        return "unsupported_source", f"the wire does not take this source of {kind}"
    return None


def _is_image(block: Block, writing: Writing) -> bool:
    return is_image_source(block, writing.endpoint)


def _is_video(block: Block, writing: Writing) -> bool:
    source = block["source"]
    return source["kind"] != "url" or _is_address(source["data"], "video", writing)


def _is_address(url: str, kind: str, writing: Writing) -> bool:
    """Whether the provider takes a medium from this address, which may hold its bytes."""
    return inline(url) is not None or is_fetched(url, kind, writing.endpoint)


def _is_given_back(block: Block, writing: Writing) -> bool:
    """Whether a medium is one that the provider itself said, as it said it."""
    odd = writing.encoding_of(block).get("odd")
    return odd is not None and odd == imprint(block, ASSISTANT)


def _is_audio(block: Block, writing: Writing) -> bool:
    if writing.encoding_of(block).get("input_audio") == "string":
        return True
    formats = writing.dialect.get("audio_formats") or tuple(AUDIO.there)
    return block["source"]["kind"] == "base64" and _audio_format(block)[1] in formats


def _audio_format(block: Block) -> tuple[str, str]:
    """The media type of a sound, and the word that the wire has for it."""
    media_type = block.get("media_type")
    written = _ALIASES.get(media_type or sniff("audio", block["source"]["data"]), media_type or "audio/wav")
    return written, AUDIO.back.get(written) or written.removeprefix("audio/")


def _is_file(block: Block, writing: Writing) -> bool:
    """Whether a document is given by what the provider takes: bytes, a file id, and only some take an address."""
    source = block["source"]
    if source["kind"] == "file_id":
        return is_file_id(source["data"])
    if source["kind"] != "url":
        return True
    encoding, dialect = writing.encoding_of(block), writing.dialect
    taken = (
        encoding.get("part") or dialect.get("file_url") or (not writing.owned(block) and dialect.get("document_url"))
    )
    return bool(taken) and _is_address(source["data"], "document", writing)


_SOURCES: Final[dict[str, Callable[[Block, Writing], bool]]] = {
    "image": _is_image,
    "audio": _is_audio,
    "video": _is_video,
    "document": _is_file,
}


def record_quirks(blocks: list[Block], place: str, reading: Reading) -> None:
    """Notes in content that was just read what a writer would not write, so that it goes back all the same."""
    writing: Writing | None = None
    for block in blocks:
        kind = block["type"]
        if kind == "text":
            if block.get("refusal") and place != ASSISTANT:
                note(block, "odd", reading.state, imprint(block, place))
        elif kind in _SUPPORTS:
            if writing is None:
                writing = reading.writing()
            if _media_refused(kind, block, writing, place) is not None:
                note(block, "odd", reading.state, imprint(block, place))


def _image_to_wire(block: Block, path: Path, writing: Writing, state: Mapping[str, Any]) -> Wire | None:
    url = _address(block, path, writing)
    if url is None:
        return None
    if state.get("encoding", {}).get("image_url") == "string":
        return {"type": "image_url", "image_url": url}
    image: Wire = {**state.get("fields", {}).get("image_url", {}), "url": url}
    if (detail := block.get("detail")) is not None:
        if detail in DETAILS or writing.whole or state.get("encoding", {}).get("detail") == detail:
            image["detail"] = detail
        else:
            message = "the wire has no such word for how closely to look"
            writing.loss.drop((*path, "detail"), "unsupported_value", "weakened", message)
    return {"type": "image_url", "image_url": image}


def _audio_to_wire(block: Block, path: Path, writing: Writing, state: Mapping[str, Any]) -> Wire | None:
    source = block["source"]
    if state.get("encoding", {}).get("input_audio") == "string":
        return {"type": "input_audio", "input_audio": source["data"]}
    if source["kind"] != "base64":
        return None
    written, name = _audio_format(block)
    _replace_media_type(written, block.get("media_type"), path, writing)
    if block.get("transcript") is not None:
        message = "a transcript has no form beside its sound"
        writing.loss.drop((*path, "transcript"), "unsupported_field", "weakened", message)
    inner = state.get("fields", {}).get("input_audio", {})
    return {"type": "input_audio", "input_audio": {**inner, "data": source["data"], "format": name}}


_ALIASES: Final = {
    "audio/wav": "audio/wav",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mpeg": "audio/mpeg",
    "audio/mp3": "audio/mpeg",
}


def _video_to_wire(block: Block, path: Path, writing: Writing, state: Mapping[str, Any]) -> Wire | None:
    url = _address(block, path, writing)
    if url is None:
        return None
    if state.get("encoding", {}).get("video_url") == "string":
        return {"type": "video_url", "video_url": url}
    return {"type": "video_url", "video_url": {**state.get("fields", {}).get("video_url", {}), "url": url}}


def _document_to_wire(block: Block, path: Path, writing: Writing, state: Mapping[str, Any]) -> Wire | None:
    source = block["source"]
    if source["kind"] == "file_id":
        provider = source.get("provider")
        if provider is not None and writing.endpoint.provider not in (None, provider):
            return None
        file: Wire = {"file_id": source.get("data", "")}
        if block.get("media_type") is not None:
            message = "the provider knows the type of its file"
            writing.loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
    else:
        by_url = source["kind"] == "url"
        as_address = state.get("encoding", {}).get("part") == "document_url" or (
            by_url and not state and writing.dialect.get("document_url")
        )
        url = _address(block, path, writing)
        if url is None:
            return None
        if as_address:
            return _document_address(block, url, path, writing)
        file = {"file_data": url}
    _document_extras(block, path, writing)
    if block.get("name") is not None:
        file["filename"] = block["name"]
    elif "file_data" in file and not state and source["kind"] == "base64":
        # a file given by its bytes is refused without a name
        file["filename"] = "document"
        message = "the wire demands a file name"
        writing.loss.replace((*path, "name"), "document", "required_default", "representation", message)
    return {"type": "file", "file": {**state.get("fields", {}).get("file", {}), **file}}


def _document_address(block: Block, url: str, path: Path, writing: Writing) -> Wire:
    _document_extras(block, path, writing)
    part: Wire = {"type": "document_url", "document_url": url}
    if block.get("name") is not None:
        part["document_name"] = block["name"]
    return part


def _document_extras(block: Block, path: Path, writing: Writing) -> None:
    for name in ("title", "context", "citations_enabled"):
        if block.get(name):
            message = f"the wire has no {name.replace('_', ' ')} of a document"
            writing.loss.drop((*path, name), "unsupported_field", "weakened", message)
        elif block.get(name) == "":
            writing.loss.drop((*path, name), "unsupported_field", "representation", "an empty text is left out")


def _address(block: Block, path: Path, writing: Writing) -> str | None:
    """The URL of a medium: its own, or a data URI of its bytes. None for a source that has none."""
    source = block["source"]
    match source["kind"]:
        case "base64":
            media_type = block.get("media_type")
            written = media_type.partition(";")[0].strip() if media_type else sniff(block["type"], source["data"])
            if written != media_type:
                _replace_media_type(written, media_type, path, writing)
            return data_uri(written, source["data"])
        case "url":
            url: str = source.get("data", "")
            found = inline(url)
            if found is not None:
                _replace_media_type(found[0], block.get("media_type"), path, writing)
                value = {"kind": "base64", "data": found[1]}
                message = "a data URI is read back as its bytes"
                writing.loss.replace((*path, "source"), value, "unsupported_source", "representation", message)
            elif block.get("media_type") is not None:
                message = "the server tells the type of a file that it fetches"
                writing.loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
            return url
        case _:
            return None


def _replace_media_type(written: str, given: str | None, path: Path, writing: Writing) -> None:
    if written != given:
        code = "required_default" if given is None else "unsupported_value"
        message = "the media type is written as the wire demands it"
        writing.loss.replace((*path, "media_type"), written, code, "representation", message)


# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading) -> Block:
    """The block for a content part. Raises `KeyError` and its like for what is no part at all."""
    block = _READERS.get(part.get("type"), _no_reader)(part, reading)
    return opaque(part, reading, part.get("type")) if block is None else block


def opaque(value: Wire, reading: Reading, kind: Any) -> Block:
    """An item of the wire, kept whole."""
    block: Block = {"type": "opaque", "adapter": reading.endpoint.adapter, "value": value}
    if reading.endpoint.provider is not None:
        block["provider"] = reading.endpoint.provider
    if reading.endpoint.origin is not None:
        block["origin"] = reading.endpoint.origin
    if isinstance(kind, str):
        block["kind"] = kind
    elif not isinstance(value, dict):
        raise TypeError(value)
    return block


def _no_reader(part: Wire, reading: Reading) -> Block | None:
    return None


def _text_from_wire(part: Wire, reading: Reading) -> Block | None:
    text = part.get("text")
    if not isinstance(text, str):
        return None
    if len(part) == 2:
        return {"type": "text", "text": text}
    return _finish_part(part, {"type": "text", "text": text}, _TEXT_PART, reading)


def _refusal_from_wire(part: Wire, reading: Reading) -> Block | None:
    if not isinstance(part.get("refusal"), str):
        return None
    block = {"type": "text", "text": part["refusal"], "refusal": True}
    return _finish_part(part, block, _REFUSAL_PART, reading, encoding={"part": "refusal"})


def _image_from_wire(part: Wire, reading: Reading) -> Block | None:
    return _linked(part, "image_url", "image", _IMAGE_PART, reading)


def _video_from_wire(part: Wire, reading: Reading) -> Block | None:
    block = _linked(part, "video_url", "video", _VIDEO_PART, reading)
    if block is not None:  # it may go back where it came from, even when nothing is known of the provider
        state = block.setdefault("provider_state", reading.state())
        state["encoding"] = {**state.get("encoding", {}), "part": "video_url"}
    return block


def _linked(part: Wire, member: str, kind: str, known: frozenset[str], reading: Reading) -> Block | None:
    inner = part.get(member)
    encoding: dict[str, Any] | None = None
    fields: dict[str, Any] | None = None
    detail: Any = None
    if isinstance(inner, str):
        url, encoding = inner, {member: "string"}
    elif isinstance(inner, dict) and isinstance(inner.get("url"), str):
        url, detail = inner["url"], inner.get("detail")
        if len(inner) > 1:
            kept = {k: v for k, v in inner.items() if k != "url" and not (k == "detail" and isinstance(v, str))}
            fields = {member: kept} if kept else None
    else:
        return None
    block: Block = {"type": kind, "source": _source(url)}
    _read_media_type(block, url)
    if isinstance(detail, str):
        if kind != "image":
            fields = {member: {**(fields or {}).get(member, {}), "detail": detail}}
        else:
            block["detail"] = detail
            if detail not in DETAILS:
                encoding = {**(encoding or {}), "detail": detail}
    return _finish_part(part, block, known, reading, fields=fields, encoding=encoding)


def _source(url: str) -> dict[str, Any]:
    found = inline(url)
    return {"kind": "url", "data": url} if found is None else {"kind": "base64", "data": found[1]}


def _read_media_type(block: Block, url: str) -> None:
    if block["source"]["kind"] == "base64":
        block["media_type"] = url[5 : url.index(";")]


_FORMAT: Final = re.compile(r"[A-Za-z0-9_.+-]+")


def _audio_from_wire(part: Wire, reading: Reading) -> Block | None:
    inner = part.get("input_audio")
    if isinstance(inner, str):
        kind = "base64" if may_be_base64(inner) else "url"
        block: Block = {"type": "audio", "source": {"kind": kind, "data": inner}}
        return _finish_part(part, block, _AUDIO_PART, reading, encoding={"input_audio": "string"})
    if not isinstance(inner, dict) or not isinstance(inner.get("data"), str) or not may_be_base64(inner["data"]):
        return None
    name = inner.get("format")
    if not isinstance(name, str) or not _FORMAT.fullmatch(name) or name in ("mpeg", "x-wav", "wave", "vnd.wave"):
        return None
    media_type = AUDIO.there.get(name) or f"audio/{name}"
    block = {"type": "audio", "source": {"kind": "base64", "data": inner["data"]}, "media_type": media_type}
    kept = {k: v for k, v in inner.items() if k not in ("data", "format")}
    return _finish_part(part, block, _AUDIO_PART, reading, fields={"input_audio": kept} if kept else None)


def _file_from_wire(part: Wire, reading: Reading) -> Block | None:
    file = part.get("file")
    if not isinstance(file, dict):
        return None
    file_id, data = file.get("file_id"), file.get("file_data")
    if isinstance(file_id, str) and "file_data" not in file:
        source: dict[str, Any] = {"kind": "file_id", "data": file_id}
        if reading.endpoint.provider is not None:
            source["provider"] = reading.endpoint.provider
        block: Block = {"type": "document", "source": source}
    elif isinstance(data, str) and "file_id" not in file and (data[:4].lower() == "http" or inline(data)):
        block = {"type": "document", "source": _source(data)}
        _read_media_type(block, data)
    else:
        return None
    kept = {k: v for k, v in file.items() if k not in ("file_id", "file_data", "filename")}
    if isinstance(file.get("filename"), str):
        block["name"] = file["filename"]
    elif "filename" in file:
        kept["filename"] = file["filename"]
    # without a state a file written by its bytes is given a name
    encoding = {"part": "file"} if "name" not in block or block["source"]["kind"] == "url" else None
    return _finish_part(part, block, _FILE_PART, reading, fields={"file": kept} if kept else None, encoding=encoding)


def _document_from_wire(part: Wire, reading: Reading) -> Block | None:
    url = part.get("document_url")
    if not isinstance(url, str) or not isinstance(part.get("document_name", ""), str):
        return None
    block: Block = {"type": "document", "source": _source(url)}
    _read_media_type(block, url)
    if "document_name" in part:
        block["name"] = part["document_name"]
    return _finish_part(part, block, _DOCUMENT_PART, reading, encoding={"part": "document_url"})


_READERS: Final[dict[Any, Any]] = {
    "text": _text_from_wire,
    "refusal": _refusal_from_wire,
    "image_url": _image_from_wire,
    "video_url": _video_from_wire,
    "input_audio": _audio_from_wire,
    "file": _file_from_wire,
    "document_url": _document_from_wire,
}

_TEXT_PART: Final = frozenset(("type", "text"))
_REFUSAL_PART: Final = frozenset(("type", "refusal"))
_IMAGE_PART: Final = frozenset(("type", "image_url"))
_VIDEO_PART: Final = frozenset(("type", "video_url"))
_AUDIO_PART: Final = frozenset(("type", "input_audio"))
_FILE_PART: Final = frozenset(("type", "file"))
_DOCUMENT_PART: Final = frozenset(("type", "document_url", "document_name"))


def _finish_part(
    part: Wire,
    block: Block,
    known: frozenset[str],
    reading: Reading,
    fields: dict[str, Any] | None = None,
    encoding: dict[str, Any] | None = None,
) -> Block:
    if not within(part, known):
        kept = {name: value for name, value in part.items() if name not in known}
        encoding = cache_from_wire(kept, block, encoding, reading)
        if kept:
            fields = {**(fields or {}), **kept}
    return reading.mark(block, fields, encoding)


# ---------------------------------------------------------------------------------------------------- cache hints


def cache_to_wire(cache: dict[str, Any], item: Wire, state: Mapping[str, Any], path: Path, writing: Writing) -> None:
    """Puts a cache hint on a part, message, call or tool: where it stood, or where the dialect has a place for it."""
    encoding = state.get("encoding", {})
    member = encoding.get("cache") or writing.dialect.get("cache_hints")
    loss = writing.loss
    match member:
        case "cache_control":
            item["cache_control"] = {"type": "ephemeral"}
            if cache.get("ttl") is not None:
                item["cache_control"]["ttl"] = cache["ttl"]
        case "prompt_cache_breakpoint" if "cache" not in encoding and writing.place not in (USER, SYSTEM):
            loss.drop(path, "cache_hint", "weakened", "the wire marks parts of users and systems alone")
            return
        case "prompt_cache_breakpoint" if writing.breakpoints < writing.most_marks(MOST_BREAKPOINTS):
            writing.breakpoints += 1
            item["prompt_cache_breakpoint"] = {"mode": "explicit"}
            if (ttl := cache.get("ttl")) is not None:
                if ttl in BREAKPOINT_TTLS or writing.whole or ttl == encoding.get("ttl"):
                    item["prompt_cache_breakpoint"]["ttl"] = ttl
                else:
                    loss.drop((*path, "ttl"), "cache_hint", "weakened", "the wire does not know this time to live")
        case "prompt_cache_breakpoint":
            loss.drop(path, "limit_exceeded", "weakened", f"the wire takes {MOST_BREAKPOINTS} cache marks")
            return
        case _:
            loss.drop(path, "cache_hint", "weakened", "the wire has no cache marks")
            return
    report_unknown(cache, _CACHE, loss, path)


def cache_from_wire(
    kept: Wire, item: dict[str, Any], encoding: dict[str, Any] | None, reading: Reading
) -> dict[str, Any] | None:
    """Takes a readable cache hint out of the members that are `kept`, onto the item; notes its spelling in the form."""
    for member, mark in _MARKS.items():
        if member not in kept:
            continue
        value = kept[member]
        if not isinstance(value, dict) or not value.items() >= mark.items() or not value.keys() - mark.keys() <= _CACHE:
            continue
        ttl = value.get("ttl")
        if "ttl" in value and not (isinstance(ttl, str) and TIME_TO_LIVE.fullmatch(ttl)):
            continue
        item["cache"] = {"ttl": ttl} if ttl is not None else {}
        del kept[member]
        if member == "prompt_cache_breakpoint":
            reading.breakpoints += 1
            if ttl is not None and ttl not in BREAKPOINT_TTLS:
                return {**(encoding or {}), "cache": member, "ttl": ttl}
        return {**(encoding or {}), "cache": member}
    return encoding


_MARKS: Final[dict[str, dict[str, str]]] = {
    "cache_control": {"type": "ephemeral"},
    "prompt_cache_breakpoint": {"mode": "explicit"},
}
