"""Media in addresses: which of them a provider fetches, data URIs that can be written again as they were, and the media type of bytes.
Documents that are text, for wires that take none."""

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import parse_data_uri
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

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


_WEB: Final = ("https://", "http://")
_OF_GEMINI: Final = (
    "https://generativelanguage.googleapis.com/",
    "https://www.youtube.com/",
    "https://youtube.com/",
    "https://youtu.be/",
)

ADDRESSES: Final[dict[str, Mapping[str, tuple[str, ...]]]] = {
    "anthropic_messages": {"image": ("https://",), "document": ("https://",)},
    "bedrock_converse": dict.fromkeys(("image", "audio", "video", "document"), ("s3://",)),
    "cohere_chat": {"image": _WEB},
    "gemini_generate": dict.fromkeys(("image", "audio", "video", "document"), _OF_GEMINI),
    "ollama_chat": {},
    "openai_chat": {"image": _WEB, "video": _WEB, "document": _WEB},
    "openai_responses": {"image": _WEB, "document": _WEB},
}
"""How the addresses begin that the servers of each wire fetch, by the type of block (spec/10-media.md#addresses). The switch
`addresses` of a dialect says it for a provider that fetches others. Data URIs are bytes and no addresses."""

_BLANK: Final = re.compile(r"[\s\x00-\x1f\x7f]")
_FILE_ID: Final = re.compile(r"[^\s/:]+")


def is_fetched(url: str, block_type: str, endpoint: Endpoint) -> bool:
    """Whether the provider fetches a medium from this address. Schemes and hosts are compared without case."""
    taken: Mapping[str, Any] | None = endpoint.dialect.get("addresses")
    if taken is None:
        taken = ADDRESSES.get(endpoint.adapter, {})
    for beginning in taken.get(block_type, ()):
        length = len(beginning)
        if len(url) > length and url[:length].lower() == beginning:
            return _BLANK.search(url) is None
    return False


def is_file_id(data: str) -> bool:
    """Whether a text can be the id of a file, and is no address or path."""
    return _FILE_ID.fullmatch(data) is not None


def is_image_source(block: Mapping[str, Any], endpoint: Endpoint) -> bool:
    """Whether an image stands where the provider fetches it or keeps it, or is given by bytes that say to be an image."""
    source = block["source"]
    data = source.get("data", "")
    match source["kind"]:
        case "url":
            if is_fetched(data, "image", endpoint):
                return True
            found = inline(data)
            return found is not None and found[0].startswith("image/")
        case "file_id":
            return is_file_id(data)
        case "base64":
            return (block.get("media_type") or "image/").startswith("image/")
        case _:
            return True


WORKSPACE: Final = "a file of the workspace cannot be sent as such; media.resolve makes bytes of it"


def source_refused(block: Mapping[str, Any], message: str) -> str:
    """Why the source of a medium cannot be written: a path of the workspace means nothing to any provider."""
    return WORKSPACE if block["source"]["kind"] == "file_ref" else message


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


_OF_DOCUMENTS: Final = frozenset(("source", "media_type", "name", "title", "context", "citations_enabled"))


def text_of_bytes(block: Mapping[str, Any]) -> str | None:
    """The words of a document that is given by bytes which are text (spec/10-media.md#text-bytes); None for any other."""
    if block["source"]["kind"] != "base64" or not (block.get("media_type") or "").lower().startswith("text/"):
        return None
    try:
        words = base64.b64decode(block["source"].get("data") or "", validate=True).decode("utf-8-sig")
    except ValueError:
        return None
    return None if "\0" in words else words


def document_as_text(
    block: dict[str, Any], path: Path, loss: Loss, *, takes_bytes: bool = True
) -> dict[str, Any] | None:
    """The text block that stands for a document which is text, where a wire takes none (spec/10-media.md#document-as-text);
    reports it. None for a document that is no text, which bytes are not where the wire takes them, or has no words."""
    source = block["source"]
    match source["kind"]:
        case "base64" if not takes_bytes:
            words = text_of_bytes(block) or ""
        case "text":
            words = source.get("data") or ""
        case "blocks":
            content = source.get("content") or []
            if any(inner["type"] != "text" for inner in content):
                return None
            words = "\n\n".join([inner["text"] for inner in content])
        case _:
            return None
    if not words.strip():
        return None
    lines = [f"<{name}>{block[name]}</{name}>" for name in ("name", "title", "context") if block.get(name)]
    text = {name: value for name, value in block.items() if name not in _OF_DOCUMENTS}
    text |= {"type": "text", "text": "\n".join(["<document>", *lines, words, "</document>"])}
    loss.replace(
        path, text, "unsupported_source", "weakened", "the words of the document travel as a text between marks"
    )
    return text
