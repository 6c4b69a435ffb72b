"""
Content parts and blocks, by rows: `part_to_wire` above `part_from_wire`.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole, and nothing of it is guessed.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note
from interlingua.adapters._items import ABSENT, Item, Member, Row, inside, read_item, text, write_item
from interlingua.adapters._kit import Wire
from interlingua.adapters._media import (
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
from interlingua.adapters._openai_parts import (
    BYTES,
    FILE,
    OF_DOCUMENTS,
    WEB,
    CacheMark,
    address,
    detail,
    is_of_another,
    opaque,
    report_media_type,
    report_of_document,
)
from interlingua.adapters.openai_chat.context import Reading, Writing
from interlingua.adapters.openai_chat.tables import AUDIO
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path

Block = dict[str, Any]

USER, SYSTEM, ASSISTANT, TOOL = "user", "system", "assistant", "tool"

# ---------------------------------------------------------------------------------------------------- rows

MARK: Final = CacheMark("cache_control", "prompt_cache_breakpoint")


def _read_data(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str or not may_be_base64(raw):
        raise TypeError("data")
    block["source"] = {"kind": "base64", "data": raw}


def _read_format(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str or not _FORMAT.fullmatch(raw) or raw in _SPELT_OTHERWISE:
        raise TypeError("format")
    block["media_type"] = AUDIO.there.get(raw) or f"audio/{raw}"


_FORMAT: Final = re.compile(r"[A-Za-z0-9_.+-]+")
_SPELT_OTHERWISE: Final = ("mpeg", "x-wav", "wave", "vnd.wave")


def _write_format(block: Item, writing: Writing, path: Path) -> str:
    written, name = _audio_format(block)
    report_media_type(written, block.get("media_type"), path, writing)
    return name


def _audio_format(block: Block) -> tuple[str, str]:
    """The media type of a sound, and the word that the wire has for it."""
    media_type = block.get("media_type")
    written = _ALIASES.get(media_type or sniff("audio", block["source"]["data"]), media_type or "audio/wav")
    return written, AUDIO.back.get(written) or written.removeprefix("audio/")


_ALIASES: Final = {
    "audio/wav": "audio/wav",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mpeg": "audio/mpeg",
    "audio/mp3": "audio/mpeg",
}


def _read_sound(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("input_audio")
    block["source"] = {"kind": BYTES if may_be_base64(raw) else WEB, "data": raw}


def _write_data(block: Item, _: Writing, __: Path) -> Any:
    return block["source"]["data"]


def _read_file_name(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("filename")
    block["name"] = raw


def _write_file_name(block: Item, writing: Writing, path: Path) -> Any:
    name = block.get("name")
    if name is not None:
        return name
    if block["source"]["kind"] != BYTES or writing.owned(block):
        return ABSENT
    # a file given by its bytes is refused without a name
    message = "the wire demands a file name"
    writing.loss.replace((*path, "name"), "document", "required_default", "representation", message)
    return "document"


_FILE_NAME: Final = Member("filename", ("name",), _read_file_name, _write_file_name, always=True, soft=True)
_TEXT: Final = Row({"type": "text"}, text("text", "text", needed=True), mark=MARK)
_SAID: Final = Row({"type": "text"}, text("text", "text", needed=True), mark=MARK, beside=("citations",))
_REFUSAL: Final = Row(
    {"type": "refusal"}, text("refusal", "text", needed=True), mark=MARK, beside=("refusal", "citations")
)
_IMAGE: Final = Row(
    {"type": "image_url"}, inside("image_url", Row({}, address("url", WEB, BYTES), detail(soft=True)), "url"), mark=MARK
)
_VIDEO: Final = Row({"type": "video_url"}, inside("video_url", Row({}, address("url", WEB, BYTES)), "url"), mark=MARK)
_AUDIO: Final = Row(
    {"type": "input_audio"},
    inside(
        "input_audio",
        Row(
            {},
            Member("data", ("source",), _read_data, _write_data, needed=True),
            Member("format", ("media_type",), _read_format, _write_format, needed=True),
        ),
    ),
    mark=MARK,
)
_SOUND: Final = Row({"type": "input_audio"}, Member("input_audio", ("source",), _read_sound, _write_data), mark=MARK)
_FILE: Final = Row(
    {"type": "file"},
    inside("file", Row({}, address("file_id", FILE), address("file_data", WEB, BYTES), _FILE_NAME)),
    mark=MARK,
    beside=OF_DOCUMENTS,
)
_DOCUMENT: Final = Row(
    {"type": "document_url"},
    address("document_url", WEB, BYTES),
    text("document_name", "name"),
    mark=MARK,
    beside=OF_DOCUMENTS,
)

# ---------------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, path: Path, writing: Writing, place: str) -> Wire | None:
    """The content part for a block, or None when it was dropped. `place` is the role of the message that it stands in."""
    writing.place = place
    match block["type"]:
        case "text":
            return _text_to_wire(block, path, writing, place)
        case "document" if place != ASSISTANT and (words := document_as_text(block, path, writing.loss)) is not None:
            return _text_to_wire(words, path, writing, place)
        case "image" | "audio" | "video" | "document":
            return _media_to_wire(block, path, writing, place)
        case "opaque":
            if writing.endpoint.owns(block):
                report_reading(
                    block, part_from_wire(block["value"], Reading(writing.endpoint, DERIVED_IDS)), path, writing
                )
                return block["value"]
            return lost_part(block, path, writing, "foreign_state", "an item of another provider has no form here")
        case "thinking" | "redacted_thinking":
            return lost_part(block, path, writing, "unsupported_block", "reasoning has no form in this place")
        case "tool_use" | "tool_result":
            return lost_part(block, path, writing, "unsupported_block", "calls and results have no form in this place")
        case _:
            return lost_part(block, path, writing, "unknown_block", "a block of a type that this version does not know")


def lost_part(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    """Reports a block that has no form; gives the text part for its place when the policy wants one."""
    return writing.loss.block(path, block, code, "lost", message)


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
    if block.get("refusal") and (place == ASSISTANT or writing.has_quirk(block, place)):
        row = _REFUSAL
    else:
        row = _SAID if place == ASSISTANT else _TEXT
    return write_item(row, block, writing, path)


def _media_to_wire(block: Block, path: Path, writing: Writing, place: str) -> Wire | None:
    kind: str = block["type"]
    if (refusal := _media_refused(kind, block, writing, place)) is not None:
        return lost_part(block, path, writing, *refusal)
    source, spelt = block["source"], writing.encoding_of(block)
    row, kinds = _MEDIA[kind]
    if kind == "audio" and spelt.get("input_audio") == "string":
        row, kinds = _SOUND, (WEB, BYTES)
    elif kind == "document" and source["kind"] != FILE:
        by_url = source["kind"] == WEB and not writing.owned(block) and writing.dialect.get("document_url")
        if spelt.get("part") == "document_url" or by_url:
            row = _DOCUMENT
    if source["kind"] not in kinds or is_of_another(source, writing):
        message = source_refused(block, f"the wire does not take this source of {kind}")
        return lost_part(block, path, writing, "unsupported_source", message)
    if kind == "document":
        report_of_document(block, path, writing)
    return write_item(row, block, writing, path)


_MEDIA: Final[Mapping[str, tuple[Row, tuple[str, ...]]]] = {
    "image": (_IMAGE, (WEB, BYTES)),
    "audio": (_AUDIO, (BYTES,)),
    "video": (_VIDEO, (WEB, BYTES)),
    "document": (_FILE, (WEB, BYTES, FILE)),
}
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


# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading) -> Block:
    """The block for a content part. Raises `KeyError` and its like for what is no part at all."""
    kind = part.get("type")
    try:
        block = _read_part(part, kind, reading)
    except (KeyError, TypeError):
        block = None
    return opaque(part, reading, kind) if block is None else block


def _read_part(part: Wire, kind: Any, reading: Reading) -> Block | None:
    """The block of a part of a known type; None for any other, and for a file that is given twice or in no known way."""
    match kind:
        case "text":
            if len(part) == 2 and type(part["text"]) is str:  # most parts
                return {"type": "text", "text": part["text"]}
            return read_item(_TEXT, part, {"type": "text"}, reading)
        case "refusal":
            return read_item(_REFUSAL, part, _begun("text", "refusal", reading) | {"refusal": True}, reading)
        case "image_url":
            block = read_item(_IMAGE, part, {"type": "image"}, reading)
        case "video_url":  # it may go back where it came from, even when nothing is known of the provider
            block = read_item(_VIDEO, part, _begun("video", "video_url", reading), reading)
        case "input_audio" if type(part.get("input_audio")) is str:
            sound = {"type": "audio", "provider_state": reading.state(encoding={"input_audio": "string"})}
            return read_item(_SOUND, part, sound, reading)
        case "input_audio":
            return read_item(_AUDIO, part, {"type": "audio"}, reading)
        case "file":
            file = part["file"]
            if type(file) is not dict or ("file_id" in file) == ("file_data" in file):
                return None
            data: Any = file.get("file_data")
            by_url = type(data) is str and data[:4].lower() == "http"
            if data is not None and not by_url and inline(data) is None:
                return None
            document = _begun("document", "file", reading) if by_url else {"type": "document"}
            block = read_item(_FILE, part, document, reading)
        case "document_url":
            block = read_item(_DOCUMENT, part, _begun("document", "document_url", reading), reading)
        case _:
            return None
    return block if "source" in block else None


def _begun(kind: str, part: str, reading: Reading) -> Block:
    """A block that is known by the type of its part."""
    return {"type": kind, "provider_state": reading.state(encoding={"part": part})}
