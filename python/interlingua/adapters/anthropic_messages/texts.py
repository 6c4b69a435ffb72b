"""Texts both ways, and what they cite."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import own_citation, report_citation
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, string
from interlingua.adapters._kit import BLOCK_MEMBERS, Wire
from interlingua.adapters.anthropic_messages.state import Block, extras, finished
from interlingua.adapters.anthropic_messages.tables import Writing
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire

_TEXT_WIRE: Final = frozenset(("type", "text"))


def text_from_wire(block: Wire, reading: Reading) -> Block:
    """A text, and what it cites."""
    text = string(block["text"])
    canonical: Block = {"type": "text", "text": text}
    reading.unusual = reading.unusual or not text or text.isspace()
    known = _TEXT_WIRE
    citations = block.get("citations")
    if isinstance(citations, list):
        known = known | {"citations"}
        reading.unusual = True
        canonical["citations"] = [_citation_from_wire(citation, reading) for citation in citations]
    return extras(block, canonical, known, reading)


_CITATION_TEXTS: Final = ("url", "title", "cited_text")


def _citation_from_wire(citation: Wire, reading: Reading) -> dict[str, Any]:
    canonical: dict[str, Any] = {"type": string(citation["type"])}
    fields: dict[str, Any] = {}
    for name, value in citation.items():
        if name in _CITATION_TEXTS and isinstance(value, str):
            canonical[name] = value
        elif name != "type":
            fields[name] = value
    canonical["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return canonical


# ---------------------------------------------------------------------------------------------- to the wire

_TEXT: Final = BLOCK_MEMBERS | {"text", "citations", "refusal"}


def is_blank(text: str, place: str) -> bool:
    """Whether the wire refuses a text: an empty one everywhere, white space alone outside of assistant messages."""
    return not text or (place != ASSISTANT and text.isspace())


def text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """A text with what it cites; None for one without visible characters, which is reported."""
    text: str = block["text"]
    if is_blank(text, place) and not writing.as_read:
        writing.loss.drop(
            path, "empty_content", "representation", "the target takes no text without visible characters"
        )
        return None
    wire: Wire = {"type": "text", "text": text}
    if "citations" in block:
        _citations_to_wire(block["citations"], wire, place, writing, (*path, "citations"))
    if block.get("refusal"):
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", "a refusal travels as ordinary text")
    return finished(block, wire, _TEXT, writing, path)


def _citations_to_wire(
    citations: list[dict[str, Any]] | None, wire: Wire, place: str, writing: Writing, path: Path
) -> None:
    written: list[Wire] = []
    for position, citation in enumerate(citations or ()):
        where = (*path, position)
        if place != ASSISTANT and writing.stricter:
            writing.loss.drop(where, "unsupported_field", "weakened", "this version takes no citations in this place")
        elif (fields := own_citation(citation, writing, where)) is not None:
            written.append(_citation_to_wire(citation, fields, writing, where))
    if written or citations == []:
        wire["citations"] = written


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
