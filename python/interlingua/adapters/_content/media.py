"""
Media of all wires: their sources, their media types, and the losses that are reported for them.

A wire has a table of the kinds of source that it accepts for each kind of medium. A data URI is treated as the bytes
that it holds, on every wire. One function (`sent_as`) reports a medium that is written differently than it is given;
another (`refuse_source`) refuses a medium that is not accepted. Bytes are decoded only if they are the text of a
document and the wire does not accept them as bytes.
"""

import base64
import re
from collections.abc import Callable, Collection, Container, Mapping
from typing import Any, Final, NamedTuple

from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, read_item
from interlingua.adapters._engine.kit import Wire, parse_data_uri, report_unknown
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Refused, Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Block = dict[str, Any]

KINDS: Final = {"image": "images", "audio": "audio", "video": "video", "document": "documents"}
"""The kinds of media, and the capability that a model or a provider without support for them lacks."""
BYTES, WEB, FILE, TEXT, BLOCKS = "base64", "url", "file_id", "text", "blocks"
"""The kinds of source that at least one wire accepts."""

# ---------------------------------------------------------------------------------------------- media types

MEDIA_TYPE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+*-]*")
IMAGES: Final = frozenset(("image/jpeg", "image/png", "image/gif", "image/webp"))
"""The images that nearly every wire accepts."""

_STARTS: Final = {
    "image": (("/9j/", "image/jpeg"), ("iVBOR", "image/png"), ("R0lG", "image/gif"), ("UklG", "image/webp")),
    "audio": (
        ("UklG", "audio/wav"),
        ("SUQz", "audio/mpeg"),
        ("//", "audio/mpeg"),
        ("T2dnUw", "audio/ogg"),
        ("ZkxhQ", "audio/flac"),
    ),
    "document": (("JVBERi", "application/pdf"),),
}
"""The beginnings of base64 data of each format, by the kind of the medium."""
USUAL: Final = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}
"""The media type of a medium if nothing else is known about it."""


def known_type(kind: str, data: str) -> str | None:
    """Return the media type that the first bytes show; None if they show none."""
    return next((media_type for start, media_type in _STARTS.get(kind, ()) if data.startswith(start)), None)


def sniff(kind: str, data: str) -> str:
    """Return the media type that the first bytes show, else the usual one of such a medium."""
    return known_type(kind, data) or USUAL[kind]


def bare_type(media_type: str) -> str:
    """Return a media type without parameters, in lower case."""
    return media_type.partition(";")[0].strip().lower()


ALIASES: Final = {"image/jpg": "image/jpeg"}


def fitted_type(kind: str, medium: "Medium", taken: Container[str], aliases: Mapping[str, str] = ALIASES) -> str | None:
    """Return the media type by its name on the wire; if it is not stated, the bytes decide. None if the wire does not
    accept it."""
    if medium.media_type is not None and medium.media_type in taken:
        return medium.media_type
    bare = bare_type(medium.media_type or "")
    if (not bare or bare.endswith("/*")) and medium.kind == BYTES:
        bare = known_type(kind, medium.data) or ""
    bare = aliases.get(bare, bare)
    return bare if bare in taken else None


_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*={0,2}")


def may_be_base64(data: str) -> bool:
    """Whether data can be base64, by its length, its beginning and end, and the absence of line ends. Long data is
    never inspected character by character."""
    return _has_ends_of_base64(data) and "\n" not in data


def _has_ends_of_base64(data: str) -> bool:
    """Whether the length, the beginning and the end are those of base64. A full check takes place where a request
    comes in."""
    if len(data) % 4 or not data.isascii():
        return False
    return _BASE64.fullmatch(data[:64]) is not None and _BASE64.fullmatch(data[-64:]) is not None


# ---------------------------------------------------------------------------------------------- sources

_HTTP: Final = ("https://", "http://")
_OF_GEMINI: Final = (
    "https://generativelanguage.googleapis.com/",
    "https://www.youtube.com/",
    "https://youtube.com/",
    "https://youtu.be/",
)

ADDRESSES: Final[dict[str, Mapping[str, tuple[str, ...]]]] = {
    "anthropic_messages": {"image": ("https://",), "document": ("https://",)},
    "bedrock_converse": dict.fromkeys(KINDS, ("s3://",)),
    "cohere_chat": {"image": _HTTP},
    "gemini_generate": dict.fromkeys(KINDS, _OF_GEMINI),
    "ollama_chat": {},
    "openai_chat": {"image": _HTTP, "video": _HTTP, "document": _HTTP},
    "openai_responses": {"image": _HTTP, "document": _HTTP},
}
"""The beginnings of the addresses that the servers of each wire fetch, by the type of block
(spec/10-media.md#addresses). The switch `addresses` of a dialect lists them for a provider that fetches others. Data
URIs are bytes and no addresses."""

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


def owns_file(source: Mapping[str, Any], endpoint: Endpoint) -> bool:
    """Whether the provider has the file of a source, as far as both are known. A source that is no file has no owner:
    True."""
    provider = source.get("provider") if source["kind"] == FILE else None
    return provider is None or endpoint.owns({"adapter": endpoint.adapter, "provider": provider})


def inline(url: str) -> tuple[str, str] | None:
    """Return the media type and the data of a data URI, if it can be written again from both; else None."""
    found = parse_data_uri(url) if url.startswith("data:") else None
    return found if found is not None and MEDIA_TYPE.fullmatch(found[0]) and may_be_base64(found[1]) else None


class Medium(NamedTuple):
    """The source of a medium (its kind and its data), and its media type if that is stated."""

    kind: str
    data: Any
    media_type: str | None


def located(block: Block) -> Medium:
    """Return the source and the media type of a medium; a data URI is treated as the bytes that it holds."""
    source = block["source"]
    kind, data, media_type = source["kind"], source.get("data") or "", block.get("media_type")
    found = parse_data_uri(data) if kind == WEB and data.startswith("data:") else None
    if found is None or not may_be_base64(found[1]):
        return Medium(kind, data, media_type)
    return Medium(BYTES, found[1], found[0] or media_type)


# ---------------------------------------------------------------------------------------------- from the wire


def source_of(kind: str, data: Any, endpoint: Endpoint) -> Block:
    """Return the source of a medium that was read; a file belongs to the provider."""
    source = {"kind": kind, "data": data}
    if kind == FILE and endpoint.provider is not None:
        source["provider"] = endpoint.provider
    return source


def source(name: str, kind: str) -> Member:
    """Return the member that holds the data of one kind of source."""

    def read(raw: Any, block: Block, reading: Reading) -> None:
        if type(raw) is not str or "source" in block or (kind == BYTES and not (raw and may_be_base64(raw))):
            raise TypeError(name)
        block["source"] = source_of(kind, raw, reading.endpoint)

    return Member(name, ("source",), read, lambda block, _, __: data_of_kind(block, kind))


def data_of_kind(block: Block, kind: str) -> Any:
    """Return the data of a source of this kind; `ABSENT` for a source of another kind."""
    return block["source"]["data"] if block["source"]["kind"] == kind else ABSENT


def read_medium(row: ItemRow, wire: Wire, block: Block, reading: Reading) -> Block:
    """Read a medium into a block that has its type already. Raises `TypeError` or `KeyError` for a medium without the
    documented shape; the caller keeps such a medium whole."""
    read_item(row, wire, block, reading)
    if "source" not in block:
        raise TypeError("source")
    reading.must_compare = reading.must_compare or not _is_usual(block, reading.endpoint)
    return block


def _is_usual(block: Block, endpoint: Endpoint) -> bool:
    """Whether the provider certainly accepts the source of a medium: bytes of a type that all wires accept, or an
    address that the provider fetches."""
    source, media_type = block["source"], block.get("media_type")
    if source["kind"] == BYTES:
        return bool(source["data"]) and media_type in _USUAL_TYPES
    return source["kind"] == WEB and media_type is None and is_fetched(source["data"], block["type"], endpoint)


_USUAL_TYPES: Final = frozenset(("image/png", "image/jpeg", "image/webp", "application/pdf"))


# ---------------------------------------------------------------------------------------------- to the wire


def refuse_kind(block: Block, writing: Writing) -> None:
    """Raise `Refused` for a medium that the model or the provider is known not to accept."""
    kind: str = block["type"]
    if writing.refuses(KINDS[kind], kind):
        raise Refused("unsupported_model", f"the model does not accept {kind}")
    taken = writing.known(kind).get("accepted_image_media_types") if kind == "image" else None
    declared = bare_type(block.get("media_type") or "/*")
    if taken is not None and not declared.endswith("/*") and ALIASES.get(declared, declared) not in taken:
        raise Refused("unsupported_source", "the model does not accept this media type")


def is_file_id(data: str) -> bool:
    """Whether a text can be the id of a file; an address or a path cannot."""
    return _FILE_ID.fullmatch(data) is not None


def refuse_source(
    block: Block,
    medium: Medium,
    taken: Collection[str],
    writing: Writing,
    is_file: Callable[[str], bool] = is_file_id,
) -> None:
    """Raise `Refused` for a medium with a source that the wire does not accept. `taken` are the kinds of source that
    the wire accepts for such a medium. `is_file` checks whether a text can be the id of one of its files."""
    kind: str = block["type"]
    match medium.kind:
        case "file_ref":
            why = "a file of the workspace cannot be sent as such; media.resolve makes bytes of it"
        case source if source not in taken or not medium.data:
            why = f"the wire does not accept this source of {kind}"
        case "base64" if not _has_ends_of_base64(medium.data):
            why = "the data is not base64"
        case "url" if not is_fetched(medium.data, kind, writing.endpoint):
            why = "the provider does not fetch this address"
        case "file_id" if not (owns_file(block["source"], writing.endpoint) and is_file(medium.data)):
            why = "the provider does not have this file"
        case _:
            return
    raise Refused("unsupported_source", why)


def sent_as(block: Block, sent: Medium, loss: Loss, path: Path) -> Block:
    """Return a medium for the rows to write, with the source and the media type that are sent. The type is None if
    the wire has no member for it. Report what is sent differently than it is given."""
    source = block["source"]
    report_unknown(source, _BLOCKS if source["kind"] == BLOCKS else _SOURCE, loss, (*path, "source"))
    if sent.kind != source["kind"] or (sent.kind != BLOCKS and sent.data != source.get("data")):
        value = {"kind": sent.kind, "data": sent.data}
        message = "the same medium from another source"
        loss.replace((*path, "source"), value, "unsupported_source", "representation", message)
    given = block.get("media_type")
    if sent.media_type is None and given is not None:
        message = "the wire has no media type for this medium"
        loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
    elif sent.media_type != given:
        code = "required_default" if given is None else "unsupported_value"
        message = "the media type as the wire names it"
        loss.replace((*path, "media_type"), sent.media_type, code, "representation", message)
    item = {**block, "source": {"kind": sent.kind, "data": sent.data}}
    if sent.media_type is not None:
        item["media_type"] = sent.media_type
    else:
        item.pop("media_type", None)
    return item


_SOURCE: Final = frozenset(("kind", "data", "provider"))
_BLOCKS: Final = frozenset(("kind", "content", "provider"))


# ---------------------------------------------------------------------------------------------- documents that are text

_OF_DOCUMENTS: Final = frozenset(("source", "media_type", "name", "title", "context", "citations_enabled"))


def text_of_bytes(block: Mapping[str, Any]) -> str | None:
    """Return the text of a document whose bytes are text (spec/10-media.md#text-bytes); None for any other document."""
    if block["source"]["kind"] != BYTES or not (block.get("media_type") or "").lower().startswith("text/"):
        return None
    try:
        words = base64.b64decode(block["source"].get("data") or "", validate=True).decode("utf-8-sig")
    except ValueError:
        return None
    return None if "\0" in words else words


def words_of(block: Block, *, takes_bytes: bool = False) -> str | None:
    """Return the text of a document; None if it has none. Its source must be text, or blocks that are all texts, or
    (if the wire accepts no bytes) bytes that are text."""
    source = block["source"]
    match source["kind"]:
        case "base64" if not takes_bytes:
            return text_of_bytes(block)
        case "text":
            return source.get("data") or ""
        case "blocks":
            content = source.get("content") or []
            if any(inner["type"] != "text" for inner in content):
                return None
            return "\n\n".join([inner["text"] for inner in content])
        case _:
            return None


def document_as_text(block: Block, path: Path, loss: Loss, *, takes_bytes: bool = True) -> Block | None:
    """Return the text block that replaces a document which is text, on a wire that does not accept the document
    (spec/10-media.md#document-as-text), and report it. None for a document that is no text or has only blank text.
    Bytes are no text if the wire accepts them (`takes_bytes`)."""
    words = words_of(block, takes_bytes=takes_bytes)
    if words is None or not words.strip():
        return None
    lines = [f"<{name}>{block[name]}</{name}>" for name in ("name", "title", "context") if block.get(name)]
    text = {name: value for name, value in block.items() if name not in _OF_DOCUMENTS}
    text |= {"type": "text", "text": "\n".join(["<document>", *lines, words, "</document>"])}
    message = "the text of the document is written as a text between markers"
    loss.replace(path, text, "unsupported_source", "weakened", message)
    return text
