"""What every block has beside its content, as trees of its shape; and texts: plain ones, values of JSON in results, those that a
guardrail looks at, and those with citations."""

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
    """What a block is, is told by the member that names its kind."""
    string(raw)
    reading.must_compare = True


_TYPE: Final = Member("type", (), _read_type, lambda block, writing, path: ABSENT, soft=True)


def block_row(content: Member) -> ItemRow:
    """A block: the member that names its kind, and `type` beside it. A mark for the cache is a block of its own."""
    return ItemRow({}, content, _TYPE, beside=("cache", "citations"), excludes=KINDS)


# ---------------------------------------------------------------------------------------------- from the wire


def present_members(item: Any) -> Wire:
    """The members of an object that say something."""
    if type(item) is not dict and len(item) > 0:
        raise TypeError("an object")
    return {name: value for name, value in item.items() if value is not None} if item else {}


def without_nulls(tree: Any, depth: int = 0) -> Any:
    """A tree of members without those that are null, which say nothing, and without what holds nothing else."""
    if type(tree) is not dict or depth == _NULLS_WITHIN:
        return tree
    present: Wire = {}
    for name, value in tree.items():
        found = None if value is None else without_nulls(value, depth + 1)
        if found is not None and (found != {} or value == {}):
            present[name] = found
    return present


_NULLS_WITHIN: Final = 3  # what stands deeper is a value of its own


# ---------------------------------------------------------------------------------------------- texts, by rows


def _read_text(raw: Any, block: Block, reading: Reading) -> None:
    block["text"] = string(raw)
    if not raw:
        reading.must_compare = True
    elif raw.isspace():
        block.setdefault("provider_state", reading.state())  # its origin takes it, in whatever conversation


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
    # a value is written as its text
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
    """A plain text."""
    return read_item(_ROWS["text"], wire, {"type": "text"}, reading)


def json_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """A value of JSON in a result, as its text. Raises `NoMeaning` where it has none."""
    if place != RESULT:
        raise NoMeaning("json")
    return read_item(_ROWS["json"], wire, {"type": "text"}, reading)


def guarded_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """A text that a guardrail is to look at: the text is the user's, the rest stays with the provider."""
    guarded = present_members(wire["guardContent"])
    if guarded.keys() != {"text"} or place not in (USER, SYSTEM) or type(guarded["text"].get("text")) is not str:
        raise NoMeaning("guardContent")
    block = read_item(_ROWS["guardContent"], wire, {"type": "text", "provider_state": reading.state()}, reading)
    # an empty tree says that the text is guarded
    block["provider_state"].setdefault("fields", {}).setdefault("guardContent", {})
    return block


def cited_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """A text with what it cites, in one block however many pieces it has. Raises `NoMeaning` when it cannot be read."""
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
    """What a citation is, by the place that it names."""
    location = citation.get("location")
    if type(location) is not dict:
        return "citation"
    return next((name for name, value in location.items() if name and value is not None), "citation")


# ---------------------------------------------------------------------------------------------- to the wire


def text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """A text, with what it cites of this provider's; None for one without visible characters, which is reported."""
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
    """Whether a text was one that a guardrail looks at: what is kept of that are marks beside the text, if any."""
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
