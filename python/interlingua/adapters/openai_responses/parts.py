"""
Content parts and blocks: `part_to_wire` above `part_from_wire`, the same kinds in the same order.

A part that cannot be read in full becomes an opaque block: it is kept and restored whole.
"""

from typing import Any, Final

from interlingua.adapters._content.citations import (
    SPAN,
    are_citations,
    has_native_citations,
    read_citation,
    report_citation,
    select_members,
)
from interlingua.adapters._content.media import BYTES, FILE, WEB, document_as_text, read_medium, refuse_kind, sent_as
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, opaque, read_item, text, write_item
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._history.messages import native_item, no_place
from interlingua.adapters._openai.parts import BREAKPOINT, CacheMark, address, detail, file_name, located_for
from interlingua.adapters.openai_responses.tables import Reading, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

MARK: Final = CacheMark(BREAKPOINT)

# ---------------------------------------------------------------------------------------------------- rows


_WORDS: Final = ItemRow({"type": "input_text"}, text("text", "text", needed=True), mark=MARK)
_IMAGE: Final = ItemRow(
    {"type": "input_image"}, address("image_url", WEB, BYTES), address("file_id", FILE), detail(), mark=MARK
)
_DOCUMENT: Final = ItemRow(
    {"type": "input_file"},
    address("file_data", BYTES),
    address("file_url", WEB),
    address("file_id", FILE),
    file_name(),
    mark=MARK,
)

_CITED: Final = ("url", "title", *SPAN)


def _read_annotations(raw: Any, block: Block, reading: Reading) -> None:
    if not are_citations(raw):
        raise TypeError("annotations")
    if raw:
        block["citations"] = [read_citation(item, _CITED, reading.endpoint) for item in raw]


def _write_annotations(block: Block, writing: Writing, path: Path) -> Any:
    citations = block.get("citations")
    if not citations:
        return ABSENT
    if not has_native_citations(block, writing):
        message = "citations of another provider cannot be represented on this wire"
        writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
        return ABSENT
    annotations: list[Wire] = []
    for position, citation in enumerate(citations):
        report_citation(citation, writing, (*path, "citations", position), ("cited_text",))
        fields = writing.state_of(citation).get("fields") or NOTHING
        annotations.append({**fields, "type": citation["type"], **select_members(citation, _CITED)})
    return annotations


def _read_nothing(raw: Any, block: Block, reading: Reading) -> None:
    if raw != []:
        raise TypeError("logprobs")


_SPOKEN: Final = ItemRow(
    {"type": "output_text"},
    text("text", "text", needed=True),
    Member("annotations", ("citations",), _read_annotations, _write_annotations, soft=True),
    Member("logprobs", (), _read_nothing, lambda block, writing, path: ABSENT, soft=True),
    mark=MARK,
    elsewhere=("refusal",),
)
_REFUSAL: Final = ItemRow({"type": "refusal"}, text("refusal", "text", needed=True), mark=MARK, elsewhere=("refusal",))
OUTPUT_TEXT: Final = ("output_text",)
KINDS: Final = ("output_text", "input_text", "text")
"""The types of parts that are only text. Some clients use the types of other places for the output of a model."""
PART: Final = "part"
"""Spelling of an opaque block: it is a part of the model's output, and not an item."""

# ---------------------------------------------------------------------------------------------------- to the wire


def part_to_wire(block: Block, _: None, writing: Writing, path: Path) -> Wire:
    """Write a block of a user, system or tool message as a part. Raises `Refused` for a block that has no place
    there."""
    match block["type"]:
        case "text":
            return write_item(_WORDS, block, writing, path)
        case "document" if (words := document_as_text(block, path, writing.loss)) is not None:
            return write_item(_WORDS, words, writing, path)
        case "image" | "document" as kind:
            refuse_kind(block, writing)
            sent = sent_as(block, located_for(block, _TAKES, writing), writing.loss, path)
            return write_item(_IMAGE if kind == "image" else _DOCUMENT, sent, writing, path)
        case "opaque" if writing.endpoint.owns(block):
            return native_item(block, block["value"].get("type"), part_from_wire, writing, path)
        case _:
            raise no_place(block, writing)


_TAKES: Final = (WEB, BYTES, FILE)


def spoken_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """Write a text of the model as a part."""
    if len(block) == 2:
        return {"type": "output_text", "text": block["text"]}
    return write_item(_REFUSAL if block.get("refusal") else _SPOKEN, block, writing, path)


# ---------------------------------------------------------------------------------------------------- from the wire


def part_from_wire(part: Any, reading: Reading) -> Block:
    """Return the block for a content part. Raises `TypeError` or a similar error for a value that is no part at all."""
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
            reading.must_compare = True
            return read_item(_WORDS, {**part, "type": "input_text"}, {"type": "text"}, reading)
        case "input_image":
            return read_medium(_IMAGE, part, {"type": "image"}, reading)
        case "input_file":
            return read_medium(_DOCUMENT, part, {"type": "document"}, reading)
        case _:
            return None


def spoken_from_wire(part: Wire, reading: Reading, *, full: bool) -> Block:
    """Return the block for a part of the model's output; `full`: its item has all members of an item of an answer."""
    kind = part.get("type")
    if kind in ("input_text", "text"):
        reading.must_compare = True
        part = {**part, "type": "output_text"}
    block: Block = {"type": "text", "text": ""}
    try:
        if kind == "refusal":
            return read_item(_REFUSAL, part, block, reading) | {"refusal": True}
        read_item(_SPOKEN, part, block, reading)
    except (KeyError, TypeError):
        return {**opaque(part, kind, reading), "provider_state": reading.state(encoding={PART: True})}
    has_lists = "annotations" in part and "logprobs" in part
    reading.must_compare = reading.must_compare or not (has_lists if full else len(part) == 2)
    return block
