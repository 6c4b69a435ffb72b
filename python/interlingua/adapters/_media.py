"""Media in addresses: data URIs that can be written again as they were, and the media type that bytes tell of."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import parse_data_uri

MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*")

DETAILS: Final = frozenset(("auto", "low", "high", "original"))
"""How closely a model of OpenAI can look at an image."""

SNIFFED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "image": (
        ("iVBOR", "image/png"),
        ("/9j/", "image/jpeg"),
        ("R0lG", "image/gif"),
        ("UklG", "image/webp"),
        ("", "image/png"),
    ),
    "document": (("", "application/pdf"),),
    "audio": (("UklG", "audio/wav"), ("SUQz", "audio/mpeg"), ("//", "audio/mpeg"), ("", "audio/wav")),
    "video": (("", "video/mp4"),),
}
"""The first characters of base64 data tell the media type that a data URI demands; the empty text is the fallback."""


def sniff(kind: str, data: str) -> str:
    """The media type that base64 data begins like."""
    return next(media_type for start, media_type in SNIFFED[kind] if data.startswith(start))


def inline(url: str) -> tuple[str, str] | None:
    """Media type and data of a data URI that can be written again from both."""
    found = parse_data_uri(url) if url.startswith("data:") else None
    return found if found is not None and MEDIA_TYPE.fullmatch(found[0]) and may_be_base64(found[1]) else None


def is_image_address(block: Mapping[str, Any]) -> bool:
    """Whether an image stands where a server can fetch it, or is given by bytes that say to be an image."""
    source = block["source"]
    if source["kind"] == "url":
        url = source.get("data", "")
        return is_web_address(url) or ((found := inline(url)) is not None and found[0].startswith("image/"))
    return source["kind"] != "base64" or (block.get("media_type") or "image/").startswith("image/")


WORKSPACE: Final = "a file of the workspace cannot be sent as such; media.resolve makes bytes of it"


def source_refused(block: Mapping[str, Any], message: str) -> str:
    """Why the source of a medium cannot be written: a path of the workspace means nothing to any provider."""
    return WORKSPACE if block["source"]["kind"] == "file_ref" else message


def is_web_address(url: str) -> bool:
    """Whether a server can fetch it: a bucket's address, or one of some other scheme, is none."""
    return url.startswith(("https://", "http://"))


def refuses_image(block: Mapping[str, Any], capabilities: Mapping[str, Any]) -> bool:
    """Whether a model is known not to take images of this media type."""
    accepted = capabilities.get("accepted_image_media_types")
    return accepted is not None and "media_type" in block and block["media_type"] not in accepted


_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def may_be_base64(data: str) -> bool:
    """Told by its length, its ends and that no line ends in it: long data is never looked at character by character."""
    return (
        len(data) % 4 == 0
        and data.isascii()
        and _BASE64.fullmatch(data[:64]) is not None
        and _BASE64.fullmatch(data[-64:]) is not None
        and "\n" not in data
    )
