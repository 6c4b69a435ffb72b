"""
Content parts and blocks: `part_to_wire` above `part_from_wire`, the same kinds in the same order.

A part that cannot be read in full becomes an opaque block: it is kept whole and goes back whole.
"""

from typing import Any, Final

from interlingua.adapters._items import Row, opaque, read_item, text, write_item
from interlingua.adapters._kit import Wire
from interlingua.adapters._media import BYTES, FILE, WEB, document_as_text, read_medium, refuse_kind, sent_as
from interlingua.adapters._messages import native_item, no_place
from interlingua.adapters._openai_parts import BREAKPOINT, CacheMark, address, detail, file_name, located_for
from interlingua.adapters._writing import Refused
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
    try:
        match block["type"]:
            case "text":
                return _text_to_wire(block, path, writing)
            case "document" if (words := document_as_text(block, path, writing.loss)) is not None:
                return _text_to_wire(words, path, writing)
            case "image" | "document" as kind:
                refuse_kind(block, writing)
                sent = sent_as(block, located_for(block, _TAKES, writing), writing.loss, path)
                return write_item(_IMAGE if kind == "image" else _DOCUMENT, sent, writing, path)
            case "opaque" if writing.endpoint.owns(block):
                part = block["value"]
                return native_item(block, part.get("type"), part_from_wire(part, writing.reader()), writing, path)
            case _:
                raise no_place(block, writing)
    except Refused as refused:
        return writing.placeholder_or_drop(block, path, refused)


_TAKES: Final = (WEB, BYTES, FILE)


def _text_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    if len(block) == 2:
        return {"type": "input_text", "text": block["text"]}
    return write_item(_WORDS, block, writing, path)


# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading) -> Block:
    """The block for a content part. Raises `TypeError` and its like for what is no part at all."""
    kind = part.get("type")
    try:
        block = _read_part(part, kind, reading)
    except (KeyError, TypeError):
        block = None
    return opaque(part, kind, reading) if block is None else block


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
            return read_medium(_IMAGE, part, {"type": "image"}, reading)
        case "input_file":
            return read_medium(_DOCUMENT, part, {"type": "document"}, reading)
        case _:
            return None
