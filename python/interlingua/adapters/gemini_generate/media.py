"""
Media in both directions: `inlineData` and `fileData` are images, audio, video and documents.

Base64 is passed on without decoding.
"""

import base64
import re
from typing import Any, Final

from interlingua.adapters._content.media import (
    ALIASES,
    BYTES,
    FILE,
    KINDS,
    TEXT,
    USUAL,
    WEB,
    Medium,
    bare_type,
    is_fetched,
    located,
    may_be_base64,
    read_medium,
    refuse_kind,
    refuse_source,
    sent_as,
    sniff,
    source_of,
)
from interlingua.adapters._engine.as_read import DETAIL as DETAIL_IS_SAID
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, inside, write_item
from interlingua.adapters._engine.kit import Wire, severity_of
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters.gemini_generate.context import NO_THOUGHT, RESULT, SIGNATURE, USER, Block, Reading, Writing
from interlingua.adapters.gemini_generate.tables import DETAIL, MEDIA_TYPE
from interlingua.canonical.loss import Path

_VIDEOS: Final = ("https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/")
_GEMINI_FILES: Final = "https://generativelanguage.googleapis.com/"
_IMAGES: Final = frozenset(("image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"))
_DOCUMENTS: Final = frozenset(("application/pdf", "application/json", "application/rtf", "application/x-javascript", "application/x-python"))  # fmt: skip
_TAKES: Final = (BYTES, WEB, FILE)


def _block_type(media_type: str | None, uri: str = "") -> str:
    """Return the type of the block for a medium."""
    if media_type is None:
        return "video" if uri.startswith(_VIDEOS) else "document"
    kind = media_type.partition("/")[0].lower()
    return kind if kind in KINDS else "document"


def _uri_kind(uri: str) -> str:
    """Return the kind of a URI: the provider's files have an id, everything else has an address."""
    return FILE if uri.startswith(_GEMINI_FILES) or "://" not in uri else WEB


def _plain_base64(data: str) -> str:
    """Return base64 in the usual alphabet and with its padding."""
    if "-" in data or "_" in data:
        data = data.replace("-", "+").replace("_", "/")
    return data + "=" * (-len(data) % 4)


# ---------------------------------------------------------------------------------------------- from the wire


def medium_from_wire(part: Wire, name: str, reading: Reading) -> Block:
    """Read an `inlineData` or a `fileData`. Raises `TypeError` or `KeyError` if it lacks the documented structure."""
    data = part[name]
    kind = _block_type(data.get("mimeType"), data.get("fileUri", ""))
    return read_medium(_ROWS[name, kind], part, {"type": kind}, reading)


def _read_type(raw: Any, block: Block, _: Reading) -> None:
    if not MEDIA_TYPE.fullmatch(raw):
        raise TypeError("mimeType")
    block["media_type"] = raw


def _read_data(raw: Any, block: Block, reading: Reading) -> None:
    plain = _plain_base64(raw)
    if not plain or not may_be_base64(plain) or "media_type" not in block:
        raise TypeError("data")
    block["source"] = source_of(BYTES, plain, reading.endpoint)
    reading.must_compare = reading.must_compare or plain != raw


def _read_uri(raw: Any, block: Block, reading: Reading) -> None:
    block["source"] = source_of(_uri_kind(raw), raw, reading.endpoint)


def _write_data(block: Block, _: Writing, __: Path) -> Any:
    return block["source"]["data"]


def _write_type(block: Block, _: Writing, __: Path) -> Any:
    return block.get("media_type", ABSENT)


def _read_detail(raw: Any, block: Block, _: Any) -> None:
    """Read the resolution of an image. The contract has no value for some resolutions."""
    if type(raw) is not dict or len(raw) != 1 or type(raw["level"]) is not str:
        raise TypeError("mediaResolution")
    block["detail"] = DETAIL.back[raw["level"]]


def _write_detail(block: Block, writing: Writing, path: Path) -> Any:
    return {"level": DETAIL.there[block["detail"]]} if "detail" in block else ABSENT


_DETAIL: Final = Member("mediaResolution", ("detail",), _read_detail, _write_detail, soft=True)


_TYPE: Final = Member("mimeType", ("media_type",), _read_type, _write_type)
_SOURCES: Final = {
    "inlineData": ItemRow({}, _TYPE, Member("data", ("source",), _read_data, _write_data)),
    "fileData": ItemRow({}, Member("fileUri", ("source",), _read_uri, _write_data), _TYPE),
}
_ROWS: Final = {
    (name, kind): ItemRow(
        {}, inside(name, row), *((_DETAIL,) if kind == "image" else ()), NO_THOUGHT, SIGNATURE, signed=True
    )
    for name, row in _SOURCES.items()
    for kind in KINDS
}


# ---------------------------------------------------------------------------------------------- to the wire


def medium_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    """Write a medium as a part. Raises `Refused` for a medium that the target does not take in this place."""
    refuse_kind(block, writing)
    kind, medium = block["type"], _sent(block)
    if not _is_fetched_as(medium, block["source"]["kind"], place, writing):
        endpoint = writing.endpoint
        refuse_source(block, medium, _TAKES, writing, lambda uri: is_fetched(uri, kind, endpoint))
    if medium.media_type is not None and not _takes(medium.media_type, place, writing):
        raise Refused("unsupported_source", "the target does not accept this media type")
    sent = sent_as(block, medium, writing.loss, path)
    read = _block_type(medium.media_type, "" if medium.kind == BYTES else medium.data)
    if read != kind:
        message = "the kind of a medium follows from its media type"
        writing.loss.replace((*path, "type"), read, "unsupported_value", "representation", message)
    if "detail" in sent and not (sent["detail"] in DETAIL.there and _takes_detail(place, writing)):
        severity = severity_of("detail", sent.pop("detail"), "weakened")
        writing.loss.drop((*path, "detail"), "unsupported_field", severity, "this level is not available in this place")
    return write_item(_ROWS["inlineData" if medium.kind == BYTES else "fileData", kind], sent, writing, path)


def _sent(block: Block) -> Medium:
    """Return a medium for the wire: a text as bytes, a file of the provider as a file, any other URI as an address."""
    medium = located(block)
    kind, data, media_type = medium
    if kind == TEXT:
        kind, data = BYTES, base64.b64encode(data.encode()).decode()
        media_type = media_type if media_type is not None and media_type.startswith("text/") else "text/plain"
    elif kind == BYTES:
        data = _plain_base64(data)
    elif kind in (WEB, FILE):
        kind = _uri_kind(data)
    return Medium(kind, data, _fitted_type(block["type"], Medium(kind, data, media_type)))


def _takes(media_type: str, place: str, writing: Writing) -> bool:
    """Whether the target takes a medium of this type in this place."""
    kind = _block_type(media_type)
    if kind == "image":
        return media_type in writing.known("image").get("accepted_image_media_types", _IMAGES)
    if kind == "document":
        return media_type in _DOCUMENTS or media_type.startswith("text/")
    return place != RESULT


def _takes_detail(place: str, writing: Writing) -> bool:
    """Whether a part states its resolution."""
    taken = writing.capabilities.get("media_resolution")
    if place != RESULT and (writing.generation(0) > 2 if taken is None else taken is True):
        return True
    return writing.verbatim(DETAIL_IS_SAID)


def _is_fetched_as(medium: Medium, given: str, place: str, writing: Writing) -> bool:
    """Whether the model fetches a medium of this type from any web address."""
    types = writing.capabilities.get("fetched_media_types") or ()
    if given != WEB or medium.kind == BYTES or place != USER or medium.media_type not in types:
        return False
    return medium.data[:8].lower() == "https://" and _ADDRESS.fullmatch(medium.data[8:]) is not None


_ADDRESS: Final = re.compile(r"[^\s\x00-\x1f\x7f]+")


def _type_of_name(uri: str) -> str | None:
    """Return the media type for the ending of a file name on the web."""
    if uri[:4].lower() != "http" or uri.startswith((_GEMINI_FILES, *_VIDEOS)):
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


def _fitted_type(block_type: str, medium: Medium) -> str | None:
    """Return the media type of a medium. A file name on the web may imply it; a file of the provider needs none."""
    bare = bare_type(medium.media_type or "")
    if bare and not bare.endswith("/*"):
        return ALIASES.get(bare, bare)
    if medium.kind == BYTES:
        return sniff(block_type, medium.data)
    if not bare and (named := _type_of_name(medium.data)) is not None and _block_type(named) == block_type:
        return named
    return None if not bare and _block_type(None, medium.data) == block_type else USUAL[block_type]
