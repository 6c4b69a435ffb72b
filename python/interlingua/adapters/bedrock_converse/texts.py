"""Texts both ways: plain ones, values of JSON in results, those that a guardrail looks at, and those with citations."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._claude.blocks import NO_JSON, json_value, own_citation, report_citation
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import ASSISTANT, RESULT, SYSTEM, USER, string
from interlingua.adapters._kit import BLOCK_MEMBERS, Wire, arguments_text
from interlingua.adapters.bedrock_converse.state import Block, finished, kept, left_over, nulls_of, overlaid
from interlingua.adapters.bedrock_converse.tables import Writing
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- from the wire


def text_from_wire(wire: Wire, place: str, reading: Reading) -> Block:
    """A plain text."""
    text = string(wire["text"])
    reading.unusual = reading.unusual or not text
    return kept({"type": "text", "text": text}, wire, "text", None, reading, _blank(text, reading))


def _blank(text: str, reading: Reading) -> dict[str, Any] | None:
    """The state of a text of white space, which goes back in whatever conversation."""
    return reading.state(encoding={"blank": True}) if text.isspace() else None


def json_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """A value of JSON in a result, as its text; None where it has no meaning."""
    if place != RESULT:
        return None
    text = arguments_text(wire["json"])
    return kept({"type": "text", "text": text}, wire, "json", None, reading, reading.state(encoding={"json": True}))


def guarded_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """A text that a guardrail is to look at: the text is the user's, the rest stays with the provider."""
    escape_reserved = wire["guardContent"]
    nulls = nulls_of(escape_reserved)
    if escape_reserved.keys() - nulls.keys() != {"text"} or place not in (USER, SYSTEM):
        return None
    text = escape_reserved["text"].get("text")
    if type(text) is not str:
        return None
    left = left_over(escape_reserved["text"], frozenset(("text",)))
    inner = nulls if left is None else {**nulls, "text": left}
    return kept({"type": "text", "text": text}, wire, "guardContent", inner, reading, _blank(text, reading))


def cited_from_wire(wire: Wire, place: str, reading: Reading) -> Block | None:
    """A text with what it cites, in one block however many pieces it has; None when it cannot be read."""
    cited = wire["citationsContent"]
    speaks, cites = cited.get("content") is not None, cited.get("citations") is not None
    texts: Any = cited["content"] if speaks else []
    citations: Any = cited["citations"] if cites else []
    if place != ASSISTANT or type(texts) is not list or type(citations) is not list:
        return None
    if not all(part.keys() == {"text"} for part in texts):
        return None
    spoken = [string(part["text"]) for part in texts]
    canonical: Block = {"type": "text", "text": "".join(spoken)}
    encoding: Wire = {"cited": True}
    if len(spoken) != 1:
        encoding["texts"] = [len(text) for text in spoken] if speaks else None
    canonical["citations"] = [_citation_from_wire(citation, reading) for citation in citations]
    if not cites:
        encoding["uncited"] = True
    left = left_over(cited, _CITED_WIRE)
    for name in nulls_of(cited):
        left = {**(left or {}), name: None}
    return kept(canonical, wire, "citationsContent", left, reading, reading.state(encoding=encoding))


_CITED_WIRE: Final = frozenset(("content", "citations"))


def _citation_from_wire(citation: Wire, reading: Reading) -> dict[str, Any]:
    location: Any = citation.get("location")
    place = _citation_type(citation)
    canonical: dict[str, Any] = {"type": place}
    if type(title := citation.get("title")) is str:
        canonical["title"] = title
    source = citation.get("sourceContent")
    if type(source) is list and len(source) == 1 and source[0].keys() == {"text"}:
        canonical["cited_text"] = string(source[0]["text"])
    fields = {name: value for name, value in citation.items() if name not in ("title", "sourceContent")}
    if place == "web" and type(location["web"]) is dict and type(url := location["web"].get("url")) is str:
        canonical["url"] = url
        others = left_over(location["web"], frozenset(("url",)))
        left = {name: value for name, value in location.items() if name != "web"}
        if others is not None:
            left["web"] = others
        del fields["location"]
        if left:
            fields["location"] = left
    for name, read in (("title", "title"), ("sourceContent", "cited_text")):
        if name in citation and read not in canonical:
            fields[name] = citation[name]
    canonical["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return canonical


def _citation_type(citation: Wire) -> str:
    """What a citation is, by the place that it names."""
    location = citation.get("location")
    if type(location) is not dict:
        return "citation"
    return next((name for name, value in location.items() if name and value is not None), "citation")


# ---------------------------------------------------------------------------------------------- to the wire

TEXT: Final = BLOCK_MEMBERS | {"text", "citations", "refusal"}


def text_to_wire(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    """A text in the form that it came in; None for one without visible characters, which is reported."""
    text: str = block["text"]
    encoding = writing.encoding_of(block) if "provider_state" in block else {}
    cited = encoding.get("cited") and place == ASSISTANT
    if not cited and not text.strip() and not writing.as_read and not (text and encoding.get("blank")):
        writing.loss.drop(
            path, "empty_content", "representation", "the target takes no text without visible characters"
        )
        return None
    if block.get("refusal"):
        writing.loss.drop((*path, "refusal"), "unsupported_field", "weakened", "a refusal travels as ordinary text")
    if cited:
        return _cited_to_wire(block, encoding, writing, path)
    for position in range(len(block.get("citations") or ())):
        where = (*path, "citations", position)
        writing.loss.drop(where, "foreign_state", "weakened", "a citation of another provider has no form here")
    if encoding.get("json") and place == RESULT and (value := json_value(text)) is not NO_JSON:
        return finished(block, "json", value, TEXT, writing, path)
    state = block.get("provider_state")
    if state is not None and place in (USER, SYSTEM) and writing.endpoint.owns(state) and _is_guarded(state):
        return finished(block, "guardContent", {"text": {"text": text}}, TEXT, writing, path)
    return finished(block, "text", text, TEXT, writing, path)


def _is_guarded(state: dict[str, Any]) -> bool:
    """Whether a text was one that a guardrail looks at: what is kept of that are marks beside the text, if any."""
    guard = (state.get("fields") or {}).get("guardContent")
    if not isinstance(guard, dict):
        return False
    marks = guard.get("text")
    return not guard or (len(guard) == 1 and isinstance(marks, dict) and "text" not in marks)


def _cited_to_wire(block: Block, encoding: Mapping[str, Any], writing: Writing, path: Path) -> Wire | None:
    text: str = block["text"]
    citations = [
        wire
        for position, citation in enumerate(block.get("citations") or ())
        if (wire := _citation_to_wire(citation, writing, (*path, "citations", position))) is not None
    ]
    inner: Wire = {}
    lengths = encoding.get("texts", [len(text)])
    if lengths is not None or text:
        if lengths is None or sum(lengths) != len(text):
            lengths = [len(text)]
        ends = [sum(lengths[: number + 1]) for number in range(len(lengths))]
        inner["content"] = [{"text": text[end - length : end]} for length, end in zip(lengths, ends, strict=True)]
    if citations or not encoding.get("uncited"):
        inner["citations"] = citations
    return finished(block, "citationsContent", inner, TEXT, writing, path)


def _citation_to_wire(citation: dict[str, Any], writing: Writing, path: Path) -> Wire | None:
    fields = own_citation(citation, writing, path)
    if fields is None:
        return None
    wire: Wire = {}
    if "title" in citation:
        wire["title"] = citation["title"]
    if "cited_text" in citation:
        wire["sourceContent"] = [{"text": citation["cited_text"]}]
    if "url" in citation:
        wire["location"] = {"web": {"url": citation["url"]}}
    report_citation(citation, writing, path)
    wire = overlaid(wire, fields, writing, (*path, "provider_state", "fields"))
    if (kind := _citation_type(wire)) != citation["type"]:
        writing.loss.replace(
            (*path, "type"), kind, "unsupported_field", "weakened", "its place says what a citation is"
        )
    return wire
