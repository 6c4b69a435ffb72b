"""The sources of an answer: what its grounding tells of each text, and what a changed answer says otherwise."""

from typing import Any

from interlingua.adapters._kit import Wire
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.parts import blocks_from_parts
from interlingua.adapters.gemini_generate.state import MODEL, Block
from interlingua.adapters.gemini_generate.tables import UNREADABLE
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.canonical.loss import Path, difference


def cite(blocks: list[Block], candidate: Wire, endpoint: Endpoint) -> int:
    """Gives texts the sources that the grounding names; the metadata stay whole beside them.

    Segments are counted in bytes of the part that they name, else of the last text; one that does not say what stands
    there is passed over. Gives the position of the last text, -1 when there is none.
    """
    last = max((at for at, block in enumerate(blocks) if block["type"] == "text" and block["text"]), default=-1)
    grounding = candidate.get("groundingMetadata")
    if last < 0 or type(grounding) is not dict:
        return last
    supports, chunks = grounding.get("groundingSupports"), grounding.get("groundingChunks")
    if type(supports) is not list or type(chunks) is not list:
        return last
    citations: dict[int, list[dict[str, Any]]] = {}
    for support in supports:
        try:
            segment = support["segment"]
            position, start, end = _place(segment, blocks, last)
            # a chunk is an object of one member: web, retrievedContext, maps
            sources = [next(iter(chunks[index].values())) for index in support["groundingChunkIndices"] if index >= 0]
        except (*UNREADABLE, StopIteration):
            continue
        for source in sources:
            if type(source) is dict and type(source.get("uri")) is str:
                citation: dict[str, Any] = {"type": "url_citation", "url": source["uri"]}
                if type(source.get("title")) is str:
                    citation["title"] = source["title"]
                citation |= {"start_index": start, "end_index": end, "provider_state": endpoint.state()}
                citations.setdefault(position, []).append(citation)
    for position, found in citations.items():
        blocks[position] = {**blocks[position], "citations": found}
    return last


def _place(segment: Wire, blocks: list[Block], last: int) -> tuple[int, int, int]:
    """The text that a segment is of, and its beginning and end in characters. Raises `ValueError` when there is none."""
    start, end = segment.get("startIndex", 0), segment["endIndex"]
    for position in (segment.get("partIndex", last), last):
        if 0 <= position < len(blocks) and blocks[position]["type"] == "text":
            raw: bytes = blocks[position]["text"].encode()
            before, said = raw[:start].decode(), raw[start:end].decode()
            if said == segment.get("text", said):
                return position, len(before), len(before) + len(said)
    raise ValueError("segment")


def report_citations(
    written: list[tuple[int, Block]], parts: list[Wire], candidate: Wire, writing: Writing, path: Path
) -> None:
    """Reports sources that the grounding does not tell, or that it tells of an answer which was changed after it was read.

    `written` are the blocks that the parts of the candidate say, with their positions.
    """
    read = blocks_from_parts(parts, MODEL, Reading(writing.endpoint, DERIVED_IDS))
    cite(read, candidate, writing.endpoint)
    for (position, block), again in zip(written, read, strict=True):
        given, told = block.get("citations") or [], again.get("citations") or []
        if difference([_source(one) for one in given], [_source(one) for one in told]) is not None:
            where = (*path, position, "citations")
            message = "the grounding names other sources of this text"
            writing.loss.replace(where, told, "combination", "weakened", message)


def _source(citation: dict[str, Any]) -> dict[str, Any]:
    """What a citation says, without where it came from."""
    state = citation.get("provider_state") or {}
    said = {name: value for name, value in citation.items() if name != "provider_state" and value is not None}
    return said | {name: state[name] for name in ("fields", "signature") if state.get(name)}
