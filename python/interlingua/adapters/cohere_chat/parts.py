"""
Read and write content parts by rows: text, reasoning, images, and the documents of tool results.

A part that cannot be read completely becomes an opaque block, which is kept whole and written back whole.
"""

from typing import Any, Final

from interlingua.adapters._content.media import BYTES, IMAGES, WEB, read_medium, refuse_kind, sent_as
from interlingua.adapters._engine.items import ItemRow, inside, opaque, read_item, text, write_item
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import misplaced, native_item, no_place
from interlingua.adapters._openai.parts import address, detail, located_for
from interlingua.adapters.cohere_chat.documents import document_from_wire, document_to_wire
from interlingua.adapters.cohere_chat.tables import CALLS, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

SYSTEM: Final = "system"
USER: Final = "user"
ASSISTANT: Final = "assistant"
TOOL: Final = "tool"

_PART: Final = "part"
"""The place of a document that was read from a message."""
_DETAILS: Final = ("auto", "low", "high")


# ---------------------------------------------------------------------------------------------- rows


_TEXT: Final = ItemRow({"type": "text"}, text("text", "text"))
_THINKING: Final = ItemRow({"type": "thinking"}, text("thinking", "text"))
_IMAGE: Final = ItemRow(
    {"type": "image_url"},
    inside(
        "image_url",
        ItemRow(
            {},
            address("url", WEB, BYTES),
            detail(_DETAILS, "high"),
        ),
    ),
)


# ---------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading, place: str) -> Block:
    """Read a content part as a block. Raises TypeError for a part that is not an object with a type."""
    if type(part) is not dict or type(part.get("type")) is not str:
        raise TypeError("a part must be an object with a type")
    try:
        block = _read_part(part, reading, place)
        if place != ASSISTANT or block["type"] == "thinking":  # an empty text is allowed next to calls
            reading.must_compare = reading.must_compare or block.get("text") == ""
        return block
    except (KeyError, TypeError):
        reading.must_compare = True
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
            return read_medium(_IMAGE, part, {"type": "image"}, reading)
        case "document" if place in (USER, TOOL) and part.keys() == {"type", "document"}:
            return document_from_wire(part["document"], reading, _PART)
        case kind:
            return _refuse(kind)


def _refuse(kind: str) -> Any:
    raise TypeError(kind)


# ---------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """Write a block as a part of a message of this role (`place`); None if nothing of it is written.

    Raises `Refused` for a block that cannot be represented there, and `InvalidRequest` for a call or a result in a
    message of another role.
    """
    match block["type"]:
        case "text":
            return write_item(_TEXT, block, writing, path) if _has_words(block, path, writing) else None
        case "thinking" if place == ASSISTANT:
            _refuse_thinking(block, writing)
            return write_item(_THINKING, block, writing, path) if _has_words(block, path, writing) else None
        case "image" if place == USER:
            refuse_kind(block, writing)
            sent = located_for(block, (WEB, BYTES), writing)
            known = block.get("media_type") is None or "accepted_image_media_types" in writing.capabilities
            if not known and sent.media_type not in IMAGES:
                raise Refused("unsupported_source", "the provider does not accept an image of this type")
            return write_item(_IMAGE, sent_as(block, sent, writing.loss, path), writing, path)
        case "document" if place == TOOL or (place == USER and writing.encoding_of(block).get("place") == _PART):
            document = document_to_wire(block, path, writing)
            if block.get("citations_enabled"):
                message = "a document in this place is always cited"
                writing.loss.drop((*path, "citations_enabled"), "unsupported_field", "representation", message)
            return None if document is None else {"type": "document", "document": document}
        case "opaque" if writing.endpoint.owns(block) and block.get("kind") != CALLS:
            return native_item(
                block,
                block["value"].get("type"),
                lambda part, reading: part_from_wire(part, reading, place),
                writing,
                path,
            )
        case "tool_use" | "tool_result" if place != TOOL:
            raise misplaced(block, path, writing)
        case _:
            raise no_place(block, writing)


def _has_words(block: Block, path: Path, writing: Writing) -> bool:
    """Whether a text is written. An empty text is dropped and reported, except in a response, which may have empty texts."""
    if block["text"] or writing.answering:
        return True
    writing.loss.drop(path, "empty_content", "representation", "an empty text has no effect here")
    return False


def _refuse_thinking(block: Block, writing: Writing) -> None:
    """Refuse reasoning of another provider, which is not replayed. In a response it is shown all the same."""
    if writing.answering:
        return
    if block.get("provider_state") and not writing.state_of(block):
        raise no_place(block, writing)
    if writing.capabilities.get("supports_thinking") is False and not writing.same_model:
        raise Refused("unsupported_model", "the model does not support reasoning")
