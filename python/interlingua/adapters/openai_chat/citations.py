"""Annotations of an answer, and the citations of a text: written above read."""

from typing import Any, Final

from interlingua.adapters._kit import Wire
from interlingua.adapters.openai_chat.context import Reading, Writing
from interlingua.adapters.openai_chat.parts import Block

_CITED: Final[tuple[str, ...]] = ("url", "title", "start_index", "end_index")
_NEVER_NESTED: Final = ("type", *_CITED)


def own_citations(block: Block, writing: Writing) -> bool:
    """Whether all citations of a text came from this provider."""
    return all(writing.owned(citation) for citation in block["citations"])


def annotations_to_wire(block: Block, writing: Writing) -> list[Wire] | None:
    """The annotations of a text that this provider cited; None when there are none of its own."""
    if not block.get("citations") or not own_citations(block, writing):
        return None
    return [_annotation_to_wire(citation) for citation in block["citations"]]


def _annotation_to_wire(citation: dict[str, Any]) -> Wire:
    state, kind = citation["provider_state"], citation["type"]
    fields: Wire = state.get("fields") or {}
    read = {name: citation[name] for name in _CITED if name in citation}
    if (state.get("encoding") or {}).get("flat"):
        return {**fields, **read, "type": kind}
    return {**fields, "type": kind, kind: {**fields.get(kind, {}), **read}}


def annotations_from_wire(
    annotations: Any, said: list[Block], reading: Reading, fields: dict[str, Any], encoding: dict[str, Any]
) -> None:
    """Puts annotations on the text that they belong to; where that cannot be told they stay a field of the message."""
    if not annotations:
        encoding.setdefault("empty", {})["annotations"] = annotations
    elif (
        len(said) == 1
        and said[0]["type"] == "text"
        and isinstance(annotations, list)
        and all(isinstance(item, dict) and isinstance(item.get("type"), str) for item in annotations)
    ):
        said[0]["citations"] = [_citation_from_wire(item, reading) for item in annotations]
    else:
        fields["annotations"] = annotations


def _citation_from_wire(item: Wire, reading: Reading) -> dict[str, Any]:
    kind = item["type"]
    inner = item.get(kind)
    source: Wire = inner if isinstance(inner, dict) and kind not in _NEVER_NESTED else item
    nested = source is inner
    citation: dict[str, Any] = {"type": kind}
    rest: dict[str, Any] = {}
    for name, value in source.items():
        if name == "type" and not nested:
            continue
        fits = isinstance(value, str) if name in ("url", "title") else type(value) is int and value >= 0
        (citation if name in _CITED and fits else rest)[name] = value
    fields = rest
    if nested:
        fields = {name: value for name, value in item.items() if name not in ("type", kind)}
        if rest:
            fields[kind] = rest
    citation["provider_state"] = reading.state()
    if fields:
        citation["provider_state"]["fields"] = fields
    if not nested:
        citation["provider_state"]["encoding"] = {"flat": True}
    return citation
