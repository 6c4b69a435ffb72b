"""
Content parts and blocks, by rows: text, reasoning, images, and the documents of tool results.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole.
"""

from typing import Any, Final

from interlingua.adapters._items import ABSENT, Item, Member, Row, inside, read_item, text, write_item
from interlingua.adapters._kit import Wire, data_uri, report_unknown
from interlingua.adapters._media import inline, is_fetched, is_image_source, refuses_image, sniff, source_refused
from interlingua.adapters._messages import misplaced, no_place
from interlingua.adapters.cohere_chat.documents import document_from_wire, document_refused, document_to_wire
from interlingua.adapters.cohere_chat.tables import CALLS, Reading, Writing
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path

Block = dict[str, Any]

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"

_PART: Final = "part"
"""The place of a document that stood in a message."""
_SOURCE: Final = frozenset(("kind", "data", "provider"))
_DETAILS: Final = ("auto", "low", "high")
_MEDIA_TYPES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")


# ---------------------------------------------------------------------------------------------- rows


def _read_url(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("url")
    if (found := inline(raw)) is not None:
        block["source"], block["media_type"] = {"kind": "base64", "data": found[1]}, found[0]
    elif raw[:8].lower().startswith(("https://", "http://")):
        block["source"] = {"kind": "url", "data": raw}
    else:
        raise TypeError("url")


def _write_url(block: Item, writing: Writing, path: Path) -> str:
    source = block["source"]
    report_unknown(source, _SOURCE, writing.loss, (*path, "source"))
    data: str = source["data"]
    if source["kind"] == "base64":
        media_type = block.get("media_type")
        if media_type is None:
            media_type = sniff("image", data)
            message = "a data URI says the type of an image"
            writing.loss.replace((*path, "media_type"), media_type, "required_default", "representation", message)
        return data_uri(media_type, data)
    if is_fetched(data, "image", writing.endpoint):
        if block.get("media_type") is not None:
            message = "an address says no type"
            writing.loss.drop((*path, "media_type"), "unsupported_field", "representation", message)
    else:
        media_type, bare = inline(data) or ("", "")
        value = {"kind": "base64", "data": bare}
        message = "a data URI is written as the bytes that it holds"
        writing.loss.replace((*path, "source"), value, "unsupported_source", "representation", message)
        if block.get("media_type") != media_type:
            writing.loss.replace((*path, "media_type"), media_type, "required_default", "representation", message)
    return data


def _read_detail(raw: Any, block: Item, _: Any) -> None:
    if type(raw) is not str:
        raise TypeError("detail")
    block["detail"] = raw


def _write_detail(block: Item, writing: Writing, path: Path) -> Any:
    detail = block.get("detail")
    if detail is None:
        return ABSENT
    if detail in _DETAILS or writing.same("detail"):
        return detail
    writing.loss.replace((*path, "detail"), "high", "unsupported_value", "weakened", "the wire has no such word")
    return "high"


_TEXT: Final = Row({"type": "text"}, text("text", "text"))
_THINKING: Final = Row({"type": "thinking"}, text("thinking", "text"))
_IMAGE: Final = Row(
    {"type": "image_url"},
    inside(
        "image_url",
        Row(
            {},
            Member("url", ("source", "media_type"), _read_url, _write_url),
            Member("detail", ("detail",), _read_detail, _write_detail),
        ),
    ),
)


# ---------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading, place: str) -> Block:
    """The block of a content part. Raises TypeError for what is no object with a type."""
    if type(part) is not dict or type(part.get("type")) is not str:
        raise TypeError("a part must be an object with a type")
    try:
        block = _read_part(part, reading, place)
        if place != ASSISTANT or block["type"] == "thinking":  # a text without words may stand beside calls
            reading.unusual = reading.unusual or block.get("text") == ""
        return block
    except (KeyError, TypeError):
        reading.unusual = True
        return opaque(part, part["type"], reading)


def _read_part(part: Wire, reading: Reading, place: str) -> Block:
    match part["type"]:
        case "text":
            if len(part) == 2 and type(part["text"]) is str and part["text"]:  # most parts
                return {"type": "text", "text": part["text"]}
            block = read_item(_TEXT, part, {"type": "text"}, reading)
            return block if "text" in block else _refuse("text")
        case "thinking" if place == ASSISTANT:
            block = read_item(
                _THINKING, part, {"type": "thinking", "provider_state": reading.endpoint.state()}, reading
            )
            return block if "text" in block else _refuse("thinking")
        case "image_url" if place == USER:
            block = read_item(_IMAGE, part, {"type": "image"}, reading)
            reading.unusual = reading.unusual or block.get("media_type", "image/png") not in _MEDIA_TYPES
            return block if "source" in block else _refuse("image_url")
        case "document" if place in (USER, TOOL) and part.keys() == {"type", "document"}:
            return document_from_wire(part["document"], reading, _PART)
        case kind:
            return _refuse(kind)


def _refuse(kind: str) -> Block:
    raise TypeError(kind)


def opaque(value: Any, kind: str, reading: Reading) -> Block:
    """An item of the wire, kept whole."""
    if type(value) is not dict:
        raise TypeError(kind)
    return {"type": "opaque", **reading.endpoint.state(), "kind": kind, "value": value}


# ---------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, path: Path, writing: Writing, place: str) -> Wire | None:
    """The part of a block in a message of this role (`place`); None for one that has no form there, which is reported.

    Raises `InvalidRequest` for a call or a result in a message of another role.
    """
    match block["type"]:
        case "text" if len(block) == 2 and block["text"]:
            return {"type": "text", "text": block["text"]}
        case "text" if _has_words(block, path, writing):
            return write_item(_TEXT, block, writing, path)
        case "thinking" if place == ASSISTANT and (refused := _thinking_refused(block, writing)) is not None:
            return left_out(block, path, writing, *refused)
        case "thinking" if place == ASSISTANT and _has_words(block, path, writing):
            return write_item(_THINKING, block, writing, path)
        case "text" | "thinking" as kind if not block["text"] and (kind == "text" or place == ASSISTANT):
            return None  # which is reported
        case "image" if place == USER:
            refused = _image_refused(block, writing)
            if refused is None:
                return write_item(_IMAGE, block, writing, path)
            return left_out(block, path, writing, *refused)
        case "document" if place == TOOL or (place == USER and writing.encoding_of(block).get("place") == _PART):
            if (refused := document_refused(block)) is not None:
                return left_out(block, path, writing, *refused)
            if block.get("citations_enabled"):
                message = "a document in this place is cited in any case"
                writing.loss.drop((*path, "citations_enabled"), "unsupported_field", "representation", message)
            document = document_to_wire(block, path, writing)
            return None if document is None else {"type": "document", "document": document}
        case "opaque" if is_own_item(block, place, writing) and block["kind"] != CALLS:
            report_unknown(block, OPAQUE_MEMBERS, writing.loss, path)
            item: Wire = block["value"]
            return item
        case "tool_use" | "tool_result" if place != TOOL:
            raise misplaced(block, path, writing)
        case _:
            return left_out(block, path, writing, *no_place(block, writing))


def _has_words(block: Block, path: Path, writing: Writing) -> bool:
    """Whether a text says something; else it is left out, reported. An answer may hold empty ones."""
    if block["text"] or "message" in writing.source:
        return True
    writing.loss.drop(path, "empty_content", "representation", "an empty text says nothing here")
    return False


OPAQUE_MEMBERS: Final = frozenset(
    ("type", "critical", "provider_state", "adapter", "provider", "origin", "kind", "value")
)


def is_own_item(block: Block, place: str, writing: Writing) -> bool:
    """Whether an opaque block is an item of this wire that goes back where it stood, and that is still none we could read."""
    if not writing.endpoint.owns(block):
        return False
    if block.get("kind") == CALLS:
        return place == ASSISTANT
    value, reading = block["value"], Reading(writing.endpoint, DERIVED_IDS)
    try:
        return bool(value["type"] == block.get("kind") and part_from_wire(value, reading, place)["type"] == "opaque")
    except (KeyError, TypeError):
        return False


def _thinking_refused(block: Block, writing: Writing) -> tuple[str, str] | None:
    """Reasoning of another provider is not replayed; in an answer that is played it is shown all the same."""
    if "message" in writing.source:
        return None
    if block.get("provider_state") and not writing.owned(block):
        return "foreign_state", "reasoning of another provider is not replayed"
    if writing.capabilities.get("supports_thinking") is False and not writing.same_model:
        return "unsupported_model", "the model takes no reasoning"
    return None


def _image_refused(block: Block, writing: Writing) -> tuple[str, str] | None:
    if writing.refuses("images", "image"):
        return "unsupported_model", "the model takes no image"
    media_type = block.get("media_type")
    unknown = media_type is not None and "accepted_image_media_types" not in writing.capabilities
    if unknown and media_type not in _MEDIA_TYPES:
        return "unsupported_source", "the provider takes no image of this type"
    if refuses_image(block, writing.capabilities) and not writing.verbatim("image"):
        return "unsupported_source", "the model does not take this media type"
    if block["source"]["kind"] not in ("base64", "url") or not is_image_source(block, writing.endpoint):
        return "unsupported_source", source_refused(block, "the wire takes images by bytes or by a web address")
    return None


def left_out(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    """Reports a block that has no form, and gives what the policy puts in its place."""
    left = writing.loss.block(path, block, code, "lost", message)
    return None if left is None else {"type": "text", "text": left["text"]}
