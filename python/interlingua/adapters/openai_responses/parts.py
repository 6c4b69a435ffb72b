"""
Content parts and blocks: `part_to_wire` above `part_from_wire`, the same kinds in the same order.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole.
"""

from typing import Any, Final

from interlingua.adapters._items import Row, opaque, read_item, text, write_item
from interlingua.adapters._kit import Wire
from interlingua.adapters._media import BYTES, FILE, WEB, document_as_text, located, model_refused
from interlingua.adapters._messages import OF_OPAQUE, no_place, report_beside
from interlingua.adapters._openai_parts import (
    BREAKPOINT,
    CacheMark,
    address,
    address_refused,
    detail,
    file_name,
    is_plain,
)
from interlingua.adapters.openai_responses.tables import Reading, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

MARK: Final = CacheMark(BREAKPOINT)

# ---------------------------------------------------------------------------------------------------- rows


_WORDS: Final = Row({"type": "input_text"}, text("text", "text", needed=True), mark=MARK)
_IMAGE: Final = Row(
    {"type": "input_image"}, address("image_url", WEB, BYTES), address("file_id", FILE), detail(), mark=MARK
)
_DOCUMENT: Final = Row(
    {"type": "input_file"},
    address("file_data", BYTES),
    address("file_url", WEB),
    address("file_id", FILE),
    file_name(),
    mark=MARK,
)

# ---------------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, path: Path, writing: Writing) -> Wire | None:
    """The content part for a block of a user, system or tool message, or None when it was dropped."""
    match block["type"]:
        case "text":
            return _text_to_wire(block, path, writing)
        case "document" if (words := document_as_text(block, path, writing.loss)) is not None:
            return _text_to_wire(words, path, writing)
        case "image" | "document":
            return _media_to_wire(block, path, writing)
        case "opaque":
            return native_part(block, path, writing)
        case _:
            return lost(block, path, writing, *no_place(block, writing))


def lost(block: Block, path: Path, writing: Writing, code: str, message: str) -> Wire | None:
    """Reports a block that has no form; gives the text part for its place when the policy wants one."""
    text = writing.loss.block(path, block, code, "lost", message)
    return None if text is None else {"type": "input_text", "text": text["text"]}


def native_part(block: Block, path: Path, writing: Writing, *, assistant: bool = False) -> Wire | None:
    """An opaque block that is a content part, when it came from here."""
    if not writing.endpoint.owns(block):
        return lost(block, path, writing, *no_place(block, writing))
    report_reading(block, part_from_wire(block["value"], Reading(writing.endpoint), assistant=assistant), path, writing)
    report_opaque(block, path, writing, fields=not assistant)
    return block["value"]


def report_reading(block: Block, read: Block, path: Path, writing: Writing) -> None:
    """Reports an opaque block that would be read back as something else, since a caller may put anything in one."""
    seen = {name: block.get(name) for name in ("type", "adapter", "kind", "value")}
    if seen != {name: read.get(name) for name in seen}:
        message = "the item is read back as what it says"
        writing.loss.replace(path, read, "unsupported_value", "representation", message)


def report_opaque(block: Block, path: Path, writing: Writing, *, fields: bool = True) -> None:
    """Reports what an opaque block holds beside its value."""
    if len(block) > 4:
        report_beside(block, OF_OPAQUE, writing, path, fields=fields)


def _text_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    if len(block) == 2:
        return {"type": "input_text", "text": block["text"]}
    return write_item(_WORDS, block, writing, path)


def _media_to_wire(block: Block, path: Path, writing: Writing) -> Wire | None:
    if (refusal := model_refused(block, writing)) is not None:
        return lost(block, path, writing, *refusal)
    if (reason := address_refused(block, located(block), _TAKES, writing)) is not None:
        return lost(block, path, writing, "unsupported_source", reason)
    return write_item(_IMAGE if block["type"] == "image" else _DOCUMENT, block, writing, path)


_TAKES: Final = (WEB, BYTES, FILE)

# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading, *, assistant: bool = False) -> Block:
    """The block for a content part. Raises `TypeError` and its like for what is no part at all."""
    kind = part.get("type")
    if not assistant:
        try:
            if (block := _read_part(part, kind, reading)) is not None:
                return block
        except (KeyError, TypeError):
            pass
    return opaque(part, kind, reading)


def _read_part(part: Wire, kind: Any, reading: Reading) -> Block | None:
    match kind:
        case "input_text":
            if len(part) == 2 and type(part["text"]) is str:  # most parts
                return {"type": "text", "text": part["text"]}
            return read_item(_WORDS, part, {"type": "text"}, reading)
        case "text" | "output_text":
            reading.unusual = True
            return read_item(_WORDS, {**part, "type": "input_text"}, {"type": "text"}, reading)
        case "input_image":
            return _medium(read_item(_IMAGE, part, {"type": "image"}, reading), reading)
        case "input_file":
            return _medium(read_item(_DOCUMENT, part, {"type": "document"}, reading), reading)
        case _:
            return None


def _medium(block: Block, reading: Reading) -> Block | None:
    """The medium, which may be of a source that no writer would take; None where no source is given."""
    if "source" not in block:
        return None
    if not is_plain(block, reading.endpoint) or reading.endpoint.dialect.get("addresses"):
        reading.unusual = True
    return block
