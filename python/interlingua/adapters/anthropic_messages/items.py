"""Read and write what items have in common (the cache hint, items that are kept whole), and texts with their citations."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, DOCUMENT, RESULT, SYSTEM, USER, string
from interlingua.adapters._content.citations import (
    SPAN,
    TEXTS,
    are_citations,
    citation_fields,
    read_citation,
    report_citation,
    select_members,
)
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, read_item, text, write_item
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import native_item
from interlingua.adapters.anthropic_messages.tables import Writing, cache_from_wire
from interlingua.canonical.loss import Path

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- the cache hint


class Cache:
    """The cache mark of an item. If items of its kind take no mark, `refused` is the reason."""

    def __init__(self, refused: str = "") -> None:
        self._refused = refused

    def read(self, fields: Block, item: Block, encoding: Block, reading: Reading) -> None:  # noqa: ARG002
        """Read a mark that a cache hint can express as that hint; any other mark stays a field."""
        if "cache_control" not in fields:
            return
        hint = cache_from_wire(fields["cache_control"])
        if hint is None or self._refused:
            reading.must_compare = True
        if hint is not None:
            del fields["cache_control"]
            item["cache"] = hint
            reading.mark(hint)

    def write(self, cache: Block, wire: Wire, encoding: Mapping[str, Any], path: Path, writing: Writing) -> None:  # noqa: ARG002
        """Mark the item."""
        if self._refused:
            writing.loss.drop(path, "cache_hint", "weakened", self._refused)
        else:
            writing.mark(wire, cache, path[:-1])


CACHE: Final = Cache()
REFUSED_CACHE: Final = Cache("reasoning cannot hold a cache mark")

# ---------------------------------------------------------------------------------------------- to the wire


def item_to_wire(row: ItemRow, item: Block, writing: Writing, path: Path) -> Wire:
    """Write an item by its row. A cache mark that was not written from a hint counts too."""
    wire = write_item(row, item, writing, path)
    if "cache_control" in wire and item.get("cache") is None:
        writing.marked(wire)
    return wire


def replayed(state: dict[str, Any], wire: Wire, writing: Writing, path: Path) -> None:
    """Write the members that a provider state holds for this wire."""
    fields: Mapping[str, Any] = state.get("fields") or NOTHING
    for name, value in fields.items():
        where = (*path, "provider_state", "fields", name)
        if name in wire:
            writing.loss.drop(where, "combination", "representation", "a canonical member states it already")
        elif value is None and not writing.answering:  # a response keeps null members too
            writing.loss.drop(where, "unsupported_field", "representation", "a reader of the wire gives no such member")
        else:
            wire[name] = value
            if name == "cache_control":
                writing.marked(wire)
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "the wire has no signature in this place")


# ---------------------------------------------------------------------------------------------- kept whole

_PLACES: Final[dict[str, tuple[str, ...]]] = {
    "image": (USER, RESULT, DOCUMENT),
    "search_result": (USER, RESULT),
    "container_upload": (USER,),
    "tool_reference": (RESULT,),
    "browser_state": (RESULT,),
    "tool_addition": (SYSTEM, USER),
    "tool_removal": (SYSTEM, USER),
    "compaction": (ASSISTANT,),
    "fallback": (ASSISTANT,),
    "tool_use": (),  # a `tool_use` that is not read as a call
    "tool_result": (),  # a `tool_result` that is not read as a result
}
"""The places in which items without canonical meaning may appear."""
_ANYWHERE: Final = (USER, ASSISTANT, RESULT, DOCUMENT)


def is_server_item(kind: str) -> bool:
    """Whether an item is a call or a result of the provider's own tools; such items are in assistant messages."""
    return kind.startswith("mcp_tool_") or kind == "server_tool_use" or (kind.endswith("_tool_result"))


def may_stand(kind: str, place: str) -> bool:
    """Whether the wire accepts an item of this kind in this place of a request."""
    return place == ASSISTANT if is_server_item(kind) else place in _PLACES.get(kind, _ANYWHERE)


def opaque_from_wire(item: Wire, place: str, reading: Reading) -> Block:
    """Keep an item without canonical meaning whole."""
    kind = string(item["type"])
    reading.must_compare = reading.must_compare or not may_stand(kind, place)
    if "cache_control" in item:
        hint = cache_from_wire(item["cache_control"])
        if hint is None:
            reading.must_compare = True
        else:
            reading.mark(hint)
    return reading.opaque(kind, item)


def opaque_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire:
    """Return an item of the provider verbatim. Raises `Refused` if the wire does not accept it in this place."""
    value: Wire = block["value"]
    kind = string(value["type"])
    if not may_stand(kind, place) and not writing.answering:
        raise Refused("unsupported_block", "the item cannot be represented in this place")
    native_item(block, kind, None, writing, path)
    writing.marked(value)
    return value


# ---------------------------------------------------------------------------------------------- texts


def _read_citations(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not list:
        raise TypeError("citations")
    if not are_citations(raw):
        raise ValueError("citation")  # the member is a list, so it does not become a field
    reading.must_compare = True
    block["citations"] = [read_citation(citation, TEXTS, reading.endpoint) for citation in raw]


def _write_citations(block: Block, writing: Writing, path: Path) -> Any:
    citations: list[dict[str, Any]] | None = block.get("citations")
    written: list[Wire] = []
    for position, citation in enumerate(citations or ()):
        where = (*path, "citations", position)
        if not writing.cites:
            writing.loss.drop(
                where, "unsupported_field", "weakened", "the API version does not support citations in this place"
            )
        elif (fields := citation_fields(citation, writing, where)) is not None:
            written.append(_citation_to_wire(citation, fields, writing, where))
    return written if written or citations == [] else ABSENT


def _citation_to_wire(citation: Block, fields: Mapping[str, Any], writing: Writing, path: Path) -> Wire:
    wire: Wire = {"type": citation["type"], **select_members(citation, TEXTS)}
    for name, value in fields.items():
        if name == "file_id" and not writing.answering:
            # responses have this member; the provider refuses requests that have it
            where = (*path, "provider_state", "fields", name)
            message = "requests do not accept the file id of a citation"
            writing.loss.drop(where, "unsupported_field", "representation", message)
        else:
            wire.setdefault(name, value)
    report_citation(citation, writing, path, SPAN)
    return wire


_TEXT: Final = ItemRow(
    {"type": "text"},
    text("text", "text", needed=True),
    Member("citations", ("citations",), _read_citations, _write_citations, soft=True),
    mark=CACHE,
)


def is_blank(text: str, place: str) -> bool:
    """Whether the wire refuses a text: an empty text everywhere, a text of only white space outside of assistant messages."""
    return not text or (place != ASSISTANT and text.isspace())


def text_from_wire(block: Wire, reading: Reading) -> Block:
    """Read a text and its citations."""
    read = read_item(_TEXT, block, {"type": "text"}, reading)
    if not read["text"] or read["text"].isspace():
        reading.must_compare = True
    return read


def text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """Write a text with its citations; report a text without visible characters and return None."""
    if is_blank(block["text"], place):
        writing.loss.drop(
            path, "empty_content", "representation", "the target does not accept a text without visible characters"
        )
        return None
    writing.cites = place == ASSISTANT or not writing.stricter
    return item_to_wire(_TEXT, block, writing, path)
