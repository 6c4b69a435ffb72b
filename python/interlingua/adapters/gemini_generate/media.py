"""
Media both ways: `inlineData` and `fileData` are images, audio, video and documents.

Base64 is taken as it is: it is never decoded but for its first bytes, where nothing says what it is.
"""

import base64
import re
from typing import Any, Final

from interlingua.adapters._as_read import DETAIL as DETAIL_IS_SAID
from interlingua.adapters._items import ABSENT, Member, Row, inside, read_item, same, write_item
from interlingua.adapters._kit import Wire, parse_data_uri, report_unknown
from interlingua.adapters._media import WORKSPACE, is_fetched, may_be_base64
from interlingua.adapters.gemini_generate.context import (
    MODEL,
    NO_THOUGHT,
    RESULT,
    SIGNATURE,
    SYSTEM,
    USER,
    Block,
    Reading,
    Writing,
    report_cache,
)
from interlingua.adapters.gemini_generate.tables import DETAIL, MEDIA_TYPE
from interlingua.canonical.loss import Path

MEDIA: Final = ("image", "audio", "video", "document")
_EXTRAS: Final = ("detail", "transcript", "name", "title", "context", "citations_enabled")
_SOURCE: Final = frozenset(("kind", "data", "provider"))

_VIDEOS: Final = ("https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/")
_OWN_FILES: Final = "https://generativelanguage.googleapis.com/"
_IMAGES: Final = frozenset(("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"))
_DOCUMENTS: Final = frozenset(("application/pdf", "application/json", "application/rtf", "application/x-javascript", "application/x-python"))  # fmt: skip


def _block_type(media_type: str | None, uri: str = "") -> str:
    """The block that a medium is."""
    if media_type is None:
        return "video" if uri.startswith(_VIDEOS) else "document"
    return _BLOCK_TYPES.get(media_type.partition("/")[0].lower(), "document")


_BLOCK_TYPES: Final = {"image": "image", "audio": "audio", "video": "video"}


def _uri_kind(uri: str) -> str:
    """A file that the provider keeps has an id, anything else an address."""
    return "file_id" if uri.startswith(_OWN_FILES) or "://" not in uri else "url"


def _plain_base64(data: str) -> str:
    """Base64 in the usual alphabet and with its padding."""
    if "-" in data or "_" in data:
        data = data.replace("-", "+").replace("_", "/")
    return data + "=" * (-len(data) % 4)


# ---------------------------------------------------------------------------------------------- from the wire


def inline_from_wire(part: Wire, place: str, reading: Reading) -> Block:
    """An `inlineData`. Raises `TypeError` or `KeyError` for one that is not shaped as documented."""
    kind = _block_type(part["inlineData"]["mimeType"])
    read = read_item(_INLINE_IMAGE if kind == "image" else _INLINE, part, {"type": kind}, reading)
    media_type, data = read["media_type"], read.pop("data")
    if not data or not MEDIA_TYPE.fullmatch(media_type):
        raise TypeError("inlineData")
    plain = _plain_base64(data)
    if not may_be_base64(plain):
        raise TypeError("inlineData")
    read["source"] = {"kind": "base64", "data": plain}
    if plain != data or not _is_usual(media_type, place):
        reading.unusual = True
    return read


def file_from_wire(part: Wire, place: str, reading: Reading) -> Block:
    """A `fileData`. Raises `TypeError` or `KeyError` for one that is not shaped as documented."""
    media_type, uri = part["fileData"].get("mimeType"), part["fileData"]["fileUri"]
    if media_type is not None and not MEDIA_TYPE.fullmatch(media_type):
        raise TypeError("fileData")
    kind = _block_type(media_type, uri)
    read = read_item(_FILE_IMAGE if kind == "image" else _FILE, part, {"type": kind}, reading)
    read["source"] = {"kind": _uri_kind(uri), "data": read.pop("data")}
    if read["source"]["kind"] == "file_id":
        read["source"]["provider"] = reading.provider
    if not is_fetched(uri, kind, reading.endpoint) or not (media_type is None or _is_usual(media_type, place)):
        reading.unusual = True
    return read


def _is_usual(media_type: str, place: str) -> bool:
    """Whether the provider surely takes a medium in this place."""
    if (
        media_type in _IMAGES
        or media_type in _DOCUMENTS
        or (media_type.startswith("text/") and _PLAIN.fullmatch(media_type))
    ):
        return place != SYSTEM
    return place in (USER, MODEL) and _PLAIN.fullmatch(media_type) is not None


_PLAIN: Final = re.compile(r"(audio|video|text)/[a-z0-9.+-]+")


def _read_detail(raw: Any, block: Block, _: Any) -> None:
    """How closely to look at an image. The contract has no word for some resolutions."""
    if type(raw) is not dict or len(raw) != 1 or type(raw["level"]) is not str:
        raise TypeError("mediaResolution")
    block["detail"] = DETAIL.back[raw["level"]]


def _write_detail(block: Block, _: Writing, __: Path) -> Any:
    return {"level": DETAIL.there[block["detail"]]} if "detail" in block else ABSENT


_DETAIL: Final = Member("mediaResolution", ("detail",), _read_detail, _write_detail, soft=True)
_BESIDE: Final = ("source", "cache", *_EXTRAS)  # said in the data, or reported with it


def _row(name: str, data: Row, *members: Member) -> Row:
    return Row({}, inside(name, data), *members, NO_THOUGHT, SIGNATURE, beside=_BESIDE, signed=True)


_INLINE_DATA: Final = Row({}, same("mimeType", "media_type", str, needed=True), same("data", "data", str, needed=True))
_FILE_DATA: Final = Row({}, same("fileUri", "data", str, needed=True), same("mimeType", "media_type", str))
_INLINE: Final = _row("inlineData", _INLINE_DATA)
_INLINE_IMAGE: Final = _row("inlineData", _INLINE_DATA, _DETAIL)
_FILE: Final = _row("fileData", _FILE_DATA)
_FILE_IMAGE: Final = _row("fileData", _FILE_DATA, _DETAIL)


# ---------------------------------------------------------------------------------------------- to the wire

_DEFAULT_TYPES: Final = {
    "image": "image/jpeg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "document": "application/pdf",
}
# the first bytes of each format, in base64
_STARTS: Final = {
    "/9j/": "image/jpeg",
    "iVBORw0KGgo": "image/png",
    "R0lGOD": "image/gif",
    "JVBERi": "application/pdf",
    "SUQz": "audio/mpeg",
    "T2dnUw": "audio/ogg",
    "ZkxhQ": "audio/flac",
}


def _sniffed(data: str, block_type: str) -> str:
    """The media type that the first bytes tell, else the usual one of such a block."""
    if data.startswith("UklGR"):
        # bytes 8 to 11 begin inside a group of the base64
        try:
            head = base64.b64decode(data[:16])
        except ValueError:
            head = b""
        if head[8:12] == b"WEBP":
            return "image/webp"
        if head[8:12] == b"WAVE":
            return "audio/wav"
    return next((kind for start, kind in _STARTS.items() if data.startswith(start)), _DEFAULT_TYPES[block_type])


def _takes(media_type: str, place: str, writing: Writing) -> bool:
    """Whether the target takes a medium of this type in this place."""
    kind = _block_type(media_type)
    if kind == "image":
        return media_type in writing.known("image").get("accepted_image_media_types", _IMAGES)
    if kind == "document":
        return media_type in _DOCUMENTS or media_type.startswith("text/")
    return place != RESULT


def medium_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """A medium as a part; None when it is not carried, which is reported."""
    source, block_type = block["source"], block["type"]
    capability = f"supports_{block_type}s" if block_type in ("image", "document") else f"supports_{block_type}"
    if writing.lacks(capability, block_type):
        return writing.placeholder_or_drop(block, path, "unsupported_model", f"the model takes no {block_type}")
    data = source.get("data") or ""
    kind, media_type = source["kind"], block.get("media_type")
    new_source: dict[str, Any] | None = None
    if kind == "text":
        kind, data = "base64", base64.b64encode(data.encode()).decode()
        media_type = media_type if media_type is not None and media_type.startswith("text/") else "text/plain"
        new_source = {"kind": kind, "data": data}
    elif kind == "url" and (inline := parse_data_uri(data)) is not None:
        kind, media_type, data = "base64", inline[0] or media_type, inline[1]
        new_source = {"kind": kind, "data": data}
    fitted = _fitted_type(kind, data, media_type, block_type)
    refusal = (
        None if _is_fetched_as(kind, data, fitted, place, writing) else _source_refused(kind, data, block, writing)
    )
    if refusal is not None:
        return writing.placeholder_or_drop(block, path, "unsupported_source", refusal)
    if fitted is not None and not _takes(fitted, place, writing):
        return writing.placeholder_or_drop(
            block, path, "unsupported_source", "the target does not take this media type"
        )
    if kind != "base64" and kind != _uri_kind(data):
        new_source = {"kind": _uri_kind(data), "data": data}
    elif kind == "base64" and (plain := _plain_base64(data)) != data:
        data, new_source = plain, {"kind": "base64", "data": plain}
    if kind == "base64" and not may_be_base64(data):
        return writing.placeholder_or_drop(block, path, "unsupported_source", "the data is no base64")
    said = {**block, "data": data, "media_type": fitted}
    image = block_type == "image"
    if not (image and block.get("detail") in DETAIL.there and _takes_detail(place, writing)):
        said.pop("detail", None)
    _report_medium(block, said, data if kind != "base64" else "", new_source, writing, path)
    if kind != "base64":
        return write_item(_FILE_IMAGE if image else _FILE, said, writing, path)
    return write_item(_INLINE_IMAGE if image else _INLINE, said, writing, path)


def _takes_detail(place: str, writing: Writing) -> bool:
    """Whether a part says how closely to look at it."""
    taken = writing.capabilities.get("media_resolution")
    if place != RESULT and (writing.generation(0) > 2 if taken is None else taken is True):
        return True
    return writing.verbatim(DETAIL_IS_SAID)


def _is_fetched_as(kind: str, data: str, media_type: str | None, place: str, writing: Writing) -> bool:
    """Whether the model fetches a medium of this type from wherever it is on the web."""
    types = writing.capabilities.get("fetched_media_types") or ()
    if kind != "url" or place != USER or media_type not in types:
        return False
    return data[:8].lower() == "https://" and _ADDRESS.fullmatch(data[8:]) is not None


_ADDRESS: Final = re.compile(r"[^\s\x00-\x1f\x7f]+")


def _source_refused(kind: str, data: str, block: Block, writing: Writing) -> str | None:
    if not data:
        return "there is nothing to send"
    match kind:
        case "base64":
            return None
        case "file_id" if block["source"].get("provider") not in (None, writing.endpoint.provider):
            return "a file of another provider"
        case "file_id" | "url":
            return (
                None if is_fetched(data, block["type"], writing.endpoint) else "the target does not fetch this address"
            )
        case "file_ref":
            return WORKSPACE
        case _:
            return "the target takes no medium of this source"


def _type_of_name(uri: str) -> str | None:
    """The media type that the name of a file on the web ends in."""
    if uri[:4].lower() != "http" or uri.startswith((_OWN_FILES, *_VIDEOS)):
        return None
    name = uri.partition("?")[0].partition("#")[0].rpartition("/")[2]
    return _ENDINGS.get(name.rpartition(".")[2].lower()) if "." in name else None


_ENDINGS: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "heic": "image/heic",
    "heif": "image/heif",
    "pdf": "application/pdf",
    "json": "application/json",
    "txt": "text/plain",
    "htm": "text/html",
    "html": "text/html",
    "css": "text/css",
    "csv": "text/csv",
    "xml": "text/xml",
    "js": "text/javascript",
    "rtf": "text/rtf",
    "mp4": "video/mp4",
    "mpeg": "video/mpeg",
    "mpg": "video/mpg",
    "mov": "video/quicktime",
    "avi": "video/avi",
    "flv": "video/x-flv",
    "webm": "video/webm",
    "wmv": "video/wmv",
    "3gp": "video/3gpp",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
}


def _fitted_type(kind: str, data: str, media_type: str | None, block_type: str) -> str | None:
    if media_type is None:
        if kind == "base64":
            return _sniffed(data, block_type)
        if (named := _type_of_name(data)) is not None and _block_type(named) == block_type:
            return named
        return None if _block_type(None, data) == block_type else _DEFAULT_TYPES[block_type]
    bare = media_type.partition(";")[0].strip().lower()
    if bare == "image/jpg":
        return "image/jpeg"
    if bare.endswith("/*"):
        return _sniffed(data, block_type) if kind == "base64" else _DEFAULT_TYPES[block_type]
    return bare


def _report_medium(
    block: Block, said: Block, uri: str, source: dict[str, Any] | None, writing: Writing, path: Path
) -> None:
    """Reports how a medium is `said` otherwise than it is given."""
    loss, media_type = writing.loss, said["media_type"]
    report_cache(block, writing, path)
    if source is not None:
        loss.replace(
            (*path, "source"), source, "unsupported_source", "representation", "the same medium in another form"
        )
    else:
        report_unknown(block["source"], _SOURCE, loss, (*path, "source"))
    given = block.get("media_type")
    if media_type != given:
        code = "required_default" if given is None else "unsupported_value"
        loss.replace((*path, "media_type"), media_type, code, "representation", "the media type as the target knows it")
    read = _block_type(media_type, uri)
    if read != block["type"]:
        loss.replace(
            (*path, "type"), read, "unsupported_value", "representation", "the media type says what a medium is"
        )
    for name in _EXTRAS:
        if block.get(name) not in (None, False) and not (name == "detail" and name in said):
            severity = "representation" if block[name] in ("", "auto") else "weakened"
            loss.drop((*path, name), "unsupported_field", severity, f"the wire has no {name.replace('_', ' ')} here")
