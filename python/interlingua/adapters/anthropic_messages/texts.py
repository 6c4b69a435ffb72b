"""Texts both ways, and what they cite."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import own_citation, report_citation
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT
from interlingua.adapters._items import ABSENT, Member, Row, read_item, text
from interlingua.adapters._kit import Wire
from interlingua.adapters.anthropic_messages.items import CACHE, Block, item_to_wire
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- texts


def _read_citations(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not list:
        raise TypeError("citations")
    reading.unusual = True
    block["citations"] = [_citation_from_wire(citation, reading) for citation in raw]


_CITATION_TEXTS: Final = ("url", "title", "cited_text")


def _citation_from_wire(citation: Wire, reading: Reading) -> dict[str, Any]:
    if type(citation) is not dict or type(citation.get("type")) is not str:
        raise ValueError("citation")  # the list is one, so it is no field
    canonical: dict[str, Any] = {"type": citation["type"]}
    fields: dict[str, Any] = {}
    for name, value in citation.items():
        if name in _CITATION_TEXTS and isinstance(value, str):
            canonical[name] = value
        elif name != "type":
            fields[name] = value
    canonical["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return canonical


def _write_citations(block: Block, writing: Writing, path: Path) -> Any:
    citations: list[dict[str, Any]] | None = block.get("citations")
    written: list[Wire] = []
    for position, citation in enumerate(citations or ()):
        where = (*path, "citations", position)
        if not writing.cites:
            writing.loss.drop(where, "unsupported_field", "weakened", "this version takes no citations in this place")
        elif (fields := own_citation(citation, writing, where)) is not None:
            written.append(_citation_to_wire(citation, fields, writing, where))
    return written if written or citations == [] else ABSENT


def _citation_to_wire(citation: dict[str, Any], fields: dict[str, Any], writing: Writing, path: Path) -> Wire:
    wire: Wire = {"type": citation["type"]}
    for name in _CITATION_TEXTS:
        if name in citation:
            wire[name] = citation[name]
    for name, value in fields.items():
        if name == "file_id" and "file_id" not in wire and not writing.as_read:
            # answers hold it, requests are refused with it
            where = (*path, "provider_state", "fields", name)
            writing.loss.drop(
                where, "unsupported_field", "representation", "requests do not take the file id of a citation"
            )
        elif name not in wire:
            wire[name] = value
    report_citation(citation, writing, path)
    return wire


_TEXT: Final = Row(
    {"type": "text"},
    text("text", "text", needed=True),
    Member("citations", ("citations",), _read_citations, _write_citations, soft=True),
    mark=CACHE,
)


def is_blank(text: str, place: str) -> bool:
    """Whether the wire refuses a text: an empty one everywhere, white space alone outside of assistant messages."""
    return not text or (place != ASSISTANT and text.isspace())


def is_plain(wire: Wire) -> bool:
    """Whether a block of the wire is a text and nothing else."""
    return len(wire) == 2 and wire.get("type") == "text"


def text_from_wire(block: Wire, reading: Reading) -> Block:
    """A text, and what it cites."""
    read = read_item(_TEXT, block, {"type": "text"}, reading)
    if not read["text"] or read["text"].isspace():
        reading.unusual = True
    return read


def text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """A text with what it cites; None for one without visible characters, which is reported."""
    if is_blank(block["text"], place) and not writing.as_read:
        writing.loss.drop(
            path, "empty_content", "representation", "the target takes no text without visible characters"
        )
        return None
    writing.cites = place == ASSISTANT or not writing.stricter
    return item_to_wire(_TEXT, block, writing, path)
