"""
Read and write citations. The wire lists them next to the content, each with the number of its part; a canonical text has its
own citations.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._content.citations import TEXTS, citation_fields, report_citation, with_origin
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.cohere_chat.tables import Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

_PLAN: Final = "PLAN"
_KIND: Final = "TEXT_CONTENT"
_SOURCELESS: Final = "citation"


def citations_from_wire(citations: Any, blocks: list[Block], parts: int, plan: bool, reading: Reading) -> bool:
    """Give each text its citations. Return whether every citation belongs to a text; if not, no text gets any.

    `parts` counts the blocks that are parts of the content. `plan` is whether the plan follows them.
    """
    if type(citations) is not list:
        return False
    texts = [index for index in range(parts) if blocks[index]["type"] == "text"]
    found: list[tuple[int, dict[str, Any]]] = []
    before = -1
    for citation in citations:
        place = _place(citation, texts, parts, plan)
        if place is None or place < before or blocks[place]["type"] != "text":
            return False
        before = place
        found.append((place, _citation_from_wire(citation, reading)))
    for place, citation in found:
        blocks[place].setdefault("citations", []).append(citation)
    return True


def _place(citation: Any, texts: list[int], parts: int, plan: bool) -> int | None:
    """Return the position of the block that a citation belongs to."""
    if (
        type(citation) is not dict
        or type(citation.get("start", 0)) is not int
        or type(citation.get("end", 0)) is not int
    ):
        return None
    if type(citation.get("type", _KIND)) is not str or citation.get("start", 0) < 0 or citation.get("end", 0) < 0:
        return None
    if citation.get("type") == _PLAN:
        return parts if plan else texts[0] if texts else None
    index = citation.get("content_index")
    if index is None:
        return texts[0] if texts else None
    return index if type(index) is int and index in texts else None


def _citation_from_wire(citation: Wire, reading: Reading) -> Block:
    read: Block = {"type": _source_type(citation)}
    for name, member in _SPAN.items():
        if name in citation:
            read[member] = citation[name]
    read |= {
        name: value for name, value in _document(citation).items() if name in _SOURCE_MEMBERS and type(value) is str
    }
    fields = {name: value for name, value in citation.items() if name not in _SPAN}
    return with_origin(read, fields, reading.endpoint)


_SPAN: Final = {"start": "start_index", "end": "end_index"}
_SOURCE_MEMBERS: Final = ("url", "title")


def _source_type(citation: Wire) -> str:
    sources = citation.get("sources")
    if type(sources) is list and sources and type(sources[0]) is dict and type(sources[0].get("type")) is str:
        found: str = sources[0]["type"]
        return found or _SOURCELESS
    return _SOURCELESS


def _document(citation: Wire) -> dict[str, Any]:
    """Return the members of the first source of a citation."""
    sources = citation.get("sources")
    if type(sources) is not list or not sources or type(sources[0]) is not dict:
        return {}
    found = sources[0].get("document") or sources[0].get("tool_output")
    return found if type(found) is dict else {}


def citations_to_wire(
    cited: dict[int, list[dict[str, Any]]], places: dict[int, int], path: Path, writing: Writing
) -> list[Wire]:
    """Write the citations of all texts, given by block. A citation of another provider has no sources here, and is reported.

    `places` has the number of the part for each block that is a part of the content; the plan is not in it.
    """
    written: list[Wire] = []
    for index, citations in cited.items():
        for position, citation in enumerate(citations):
            where = (*path, index, "citations", position)
            if (fields := citation_fields(citation, writing, where)) is not None:
                written.append(_citation_to_wire(citation, fields, places.get(index), where, writing))
    return written


def _citation_to_wire(
    citation: Block, fields: Mapping[str, Any], place: int | None, path: Path, writing: Writing
) -> Wire:
    wire: Wire = {name: citation[member] for name, member in _SPAN.items() if member in citation}
    wire.update(fields)
    if _source_type(wire) != citation["type"]:
        message = "the source states its type, and is kept unchanged"
        writing.loss.replace((*path, "type"), _source_type(wire), "unsupported_field", "weakened", message)
    if "content_index" in wire and place is not None:
        wire["content_index"] = place
    source = _document(wire)
    for name in TEXTS:
        if name in citation and source.get(name) != citation[name]:
            message = "the source states it, and is kept unchanged"
            if source.get(name) is None:
                writing.loss.drop((*path, name), "unsupported_field", "weakened", message)
            else:
                writing.loss.replace((*path, name), source[name], "unsupported_field", "weakened", message)
    report_citation(citation, writing, path)
    return wire
