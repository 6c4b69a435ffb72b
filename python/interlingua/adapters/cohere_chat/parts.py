"""
Content parts and blocks, by rows: text, reasoning, images, and the documents of tool results.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole.
"""

from typing import Any, Final

from interlingua.adapters._items import ABSENT, Item, Row, by_rule, inside, opaque, read_item, text, write_item
from interlingua.adapters._kit import Wire
from interlingua.adapters._media import BYTES, IMAGES, WEB, located, model_refused
from interlingua.adapters._messages import OF_OPAQUE, misplaced, no_place, report_beside
from interlingua.adapters._openai_parts import address, address_refused, is_plain
from interlingua.adapters.cohere_chat.documents import document_from_wire, document_refused, document_to_wire
from interlingua.adapters.cohere_chat.tables import CALLS, Reading, Writing
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path

Block = dict[str, Any]

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"

_PART: Final = "part"
"""The place of a document that stood in a message."""
_DETAILS: Final = ("auto", "low", "high")


# ---------------------------------------------------------------------------------------------- rows


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
            address("url", WEB, BYTES),
            by_rule("detail", ("detail",), str, _write_detail),
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
            source = block.get("source") or _refuse("image_url")
            if source["kind"] == WEB and not source["data"][:8].lower().startswith(("https://", "http://")):
                return _refuse("image_url")
            usual = is_plain(block, reading.endpoint) and block.get("media_type", "image/png") in IMAGES
            reading.unusual = reading.unusual or not usual
            return block
        case "document" if place in (USER, TOOL) and part.keys() == {"type", "document"}:
            return document_from_wire(part["document"], reading, _PART)
        case kind:
            return _refuse(kind)


def _refuse(kind: str) -> Any:
    raise TypeError(kind)


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
        case "opaque" if is_native_item(block, place, writing) and block["kind"] != CALLS:
            report_beside(block, OF_OPAQUE, writing, path)
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


def is_native_item(block: Block, place: str, writing: Writing) -> bool:
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
    if block.get("provider_state") and not writing.state_of(block):
        return "foreign_state", "reasoning of another provider is not replayed"
    if writing.capabilities.get("supports_thinking") is False and not writing.same_model:
        return "unsupported_model", "the model takes no reasoning"
    return None


def _image_refused(block: Block, writing: Writing) -> tuple[str, str] | None:
    if (refusal := model_refused(block, writing)) is not None:
        return refusal
    medium = located(block)
    unknown = medium.media_type is not None and "accepted_image_media_types" not in writing.capabilities
    if unknown and medium.media_type not in IMAGES:
        return "unsupported_source", "the provider takes no image of this type"
    reason = address_refused(block, medium, (WEB, BYTES), writing)
    return None if reason is None else ("unsupported_source", reason)


def left_out(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    """Reports a block that has no form, and gives what the policy puts in its place."""
    left = writing.loss.block(path, block, code, "lost", message)
    return None if left is None else {"type": "text", "text": left["text"]}
