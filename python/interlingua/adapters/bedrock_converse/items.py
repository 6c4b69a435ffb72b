"""Read and write what blocks have in common, as trees of their shape, and texts: plain texts, JSON values in results, texts that a
guardrail inspects, and texts with citations."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._claude.blocks import NoMeaning
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, RESULT, SYSTEM, USER, string
from interlingua.adapters._content.citations import SPAN, citation_fields, report_citation, select_members, with_origin
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, inside, laid_over, read_item, write_item
from interlingua.adapters._engine.kit import Wire, arguments_text
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]

KINDS: Final = frozenset(
    (
        "text", "toolUse", "toolResult", "json", "reasoningContent", "guardContent", "citationsContent", "image", "document",
        "video", "audio", "cachePoint", "searchResult", "toolAddition", "toolRemoval",
    )
)  # fmt: skip
"""The members that name the kind of a block."""


def _read_type(raw: Any, block: Block, reading: Reading) -> None:
    """Read nothing: another member names the kind of a block."""
    string(raw)
    reading.must_compare = True


_TYPE: Final = Member("type", (), _read_type, lambda block, writing, path: ABSENT, soft=True)


def block_row(content: Member) -> ItemRow:
    """Return the row of a block: the member that names its kind, and `type`. A cache mark is a block of its own."""
    return ItemRow({}, content, _TYPE, elsewhere=("cache", "citations"), excludes=KINDS)


# ---------------------------------------------------------------------------------------------- from the wire


def present_members(item: Any) -> Wire:
    """Return the members of an object that are not null."""
    if type(item) is not dict and len(item) > 0:
        raise TypeError("an object")
    return {name: value for name, value in item.items() if value is not None} if item else {}


def without_nulls(tree: Any, depth: int = 0) -> Any:
    """Return a tree of members without members that are null, and without objects that have only such members."""
    if type(tree) is not dict or depth == _NULLS_WITHIN:
        return tree
    present: Wire = {}
    for name, value in tree.items():
        found = None if value is None else without_nulls(value, depth + 1)
        if found is not None and (found != {} or value == {}):
            present[name] = found
    return present


_NULLS_WITHIN: Final = 3  # a deeper object is a value of its own


# ---------------------------------------------------------------------------------------------- texts, by rows


def _read_text(raw: Any, block: Block, reading: Reading) -> None:
    block["text"] = string(raw)
    if not raw:
        reading.must_compare = True
    elif raw.isspace():
        block.setdefault("provider_state", reading.state())  # its origin accepts it, in any conversation


def _read_json(raw: Any, block: Block, reading: Reading) -> None:
    block["text"] = arguments_text(raw)
    reading.must_compare = True


def _read_pieces(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not list or not all(part.keys() == {"text"} for part in raw):
        raise NoMeaning("content")
    block["text"] = "".join([string(part["text"]) for part in raw])


def _read_citations(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not list:
        raise NoMeaning("citations")
    block["citations"] = [_citation_from_wire(citation, reading) for citation in raw]


def _write_citations(block: Block, writing: Writing, path: Path) -> Any:
    written: list[Wire] = []
    for position, citation in enumerate(block.get("citations") or ()):
        if (wire := _citation_to_wire(citation, writing, (*path, "citations", position))) is not None:
            written.append(wire)
    return written or ABSENT


def _write_pieces(block: Block, writing: Writing, path: Path) -> Any:
    return [{"text": block["text"]}] if block["text"] else ABSENT


_TEXT: Final = Member("text", ("text",), _read_text, lambda block, writing, path: block["text"], needed=True)
_ROWS: Final[dict[str, ItemRow]] = {
    "text": block_row(_TEXT),
    "guardContent": block_row(inside("guardContent", ItemRow({}, inside("text", ItemRow({}, _TEXT))))),
    # a JSON value is written as its text
    "json": block_row(
        Member("json", ("text",), _read_json, lambda block, writing, path: ABSENT, needed=True, null=True)
    ),
    "citationsContent": block_row(
        inside(
            "citationsContent",
            ItemRow(
                {},
                Member("content", ("text",), _read_pieces, _write_pieces),
                Member("citations", ("citations",), _read_citations, _write_citations),
            ),
        )
    ),
}

# ---------------------------------------------------------------------------------------------- from the wire


def text_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """Read a plain text."""
    return read_item(_ROWS["text"], wire, {"type": "text"}, reading)


def json_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """Read a JSON value in a result as its text. Raises `NoMeaning` in any other place."""
    if place != RESULT:
        raise NoMeaning("json")
    return read_item(_ROWS["json"], wire, {"type": "text"}, reading)


def guarded_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """Read a text that a guardrail inspects: the text becomes a text block, the rest is kept in provider state."""
    guarded = present_members(wire["guardContent"])
    if guarded.keys() != {"text"} or place not in (USER, SYSTEM) or type(guarded["text"].get("text")) is not str:
        raise NoMeaning("guardContent")
    block = read_item(_ROWS["guardContent"], wire, {"type": "text", "provider_state": reading.state()}, reading)
    # an empty tree marks the text as guarded
    block["provider_state"].setdefault("fields", {}).setdefault("guardContent", {})
    return block


def cited_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """Read a text with its citations as one block, even if it has several pieces. Raises `NoMeaning` if it cannot be read."""
    if place != ASSISTANT:
        raise NoMeaning("citationsContent")
    reading.must_compare = True
    block: Block = {"type": "text", "text": "", "citations": [], "provider_state": reading.state()}
    return read_item(_ROWS["citationsContent"], wire, block, reading)


def _citation_from_wire(citation: Wire, reading: Reading) -> Block:
    canonical: Block = {"type": _citation_type(citation)}
    fields = {**citation}
    if type(citation.get("title")) is str:
        canonical["title"] = fields.pop("title")
    source = citation.get("sourceContent")
    if type(source) is list and len(source) == 1 and source[0].keys() == {"text"}:
        canonical["cited_text"] = string(source[0]["text"])
        del fields["sourceContent"]
    location: Any = citation.get("location")
    if canonical["type"] == "web" and type(location["web"]) is dict and type(location["web"].get("url")) is str:
        web = {**location["web"]}
        canonical["url"] = web.pop("url")
        left = {name: value for name, value in location.items() if name != "web"} | ({"web": web} if web else {})
        fields.pop("location")
        if left:
            fields["location"] = left
    return with_origin(canonical, fields, reading.endpoint)


def _citation_type(citation: Wire) -> str:
    """Return the type of a citation, which follows from the place that it names."""
    location = citation.get("location")
    if type(location) is not dict:
        return "citation"
    return next((name for name, value in location.items() if name and value is not None), "citation")


# ---------------------------------------------------------------------------------------------- to the wire


def text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """Write a text with its citations of this provider; report a text without visible characters and return None."""
    text: str = block["text"]
    state = writing.state_of(block)
    if state and "citations" in block and place == ASSISTANT:
        return write_item(_ROWS["citationsContent"], block, writing, path)
    if not text.strip() and not (text and state):
        writing.loss.drop(
            path, "empty_content", "representation", "the target does not accept a text without visible characters"
        )
        return None
    for position in range(len(block.get("citations") or ())):
        where = (*path, "citations", position)
        writing.loss.drop(
            where, "foreign_state", "weakened", "a citation of another provider cannot be represented here"
        )
    kind = "guardContent" if place in (USER, SYSTEM) and _is_guarded(state) else "text"
    return write_item(_ROWS[kind], block, writing, path)


def _is_guarded(state: Mapping[str, Any]) -> bool:
    """Whether a text was read as one that a guardrail inspects. Its provider state then has `guardContent`, with marks if any."""
    guard = (state.get("fields") or {}).get("guardContent")
    if not isinstance(guard, dict):
        return False
    marks = guard.get("text")
    return not guard or (len(guard) == 1 and isinstance(marks, dict) and "text" not in marks)


def _citation_to_wire(citation: Block, writing: Writing, path: Path) -> Wire | None:
    fields = citation_fields(citation, writing, path)
    if fields is None:
        return None
    wire: Wire = select_members(citation, ("title",))
    if "cited_text" in citation:
        wire["sourceContent"] = [{"text": citation["cited_text"]}]
    if "url" in citation:
        wire["location"] = {"web": {"url": citation["url"]}}
    report_citation(citation, writing, path, SPAN)
    wire = laid_over(wire, {**fields}, writing, (*path, "provider_state", "fields"))
    if (kind := _citation_type(wire)) != citation["type"]:
        message = "the type of a citation follows from its place"
        writing.loss.replace((*path, "type"), kind, "unsupported_field", "weakened", message)
    return wire
