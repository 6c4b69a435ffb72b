"""
What a text cites, both ways. A citation says in words of its own where its source is and what it says; what beside that only its
provider understands is kept, and goes back there alone.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import report_unknown
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Path

Citation = dict[str, Any]

TEXTS: Final = ("url", "title", "cited_text")
SPAN: Final = ("start_index", "end_index")
_CITATION: Final = frozenset(("type", "provider_state", *TEXTS, *SPAN))

# ---------------------------------------------------------------------------------------------- from the wire


def are_citations(value: Any) -> bool:
    """Whether a value is a list of objects that say what they are."""
    return type(value) is list and all(type(item) is dict and type(item.get("type")) is str for item in value)


def read_members(source: Mapping[str, Any], names: Collection[str]) -> tuple[Citation, dict[str, Any]]:
    """The members of a citation of these `names` that fit, and the others but for `type`."""
    citation: Citation = {}
    rest: dict[str, Any] = {}
    for name, value in source.items():
        if name != "type":
            fits = type(value) is str if name in TEXTS else type(value) is int and value >= 0
            (citation if name in names and fits else rest)[name] = value
    return citation, rest


def with_origin(citation: Citation, fields: dict[str, Any], endpoint: Endpoint) -> Citation:
    """A citation with its origin, and what it holds for that alone."""
    state = citation["provider_state"] = endpoint.state()
    if fields:
        state["fields"] = fields
    return citation


def read_citation(source: Mapping[str, Any], names: Collection[str], endpoint: Endpoint) -> Citation:
    """A citation whose members have canonical names."""
    citation, rest = read_members(source, names)
    return with_origin({"type": source["type"], **citation}, rest, endpoint)


# ---------------------------------------------------------------------------------------------- to the wire


def citation_fields(citation: Citation, writing: Writing, path: Path) -> Mapping[str, Any] | None:
    """What a citation holds for this wire alone; None for one of another provider, which is reported.

    A citation points into the provider's own documents and results, so only its own can go back.
    """
    state = writing.state_of(citation)
    if not state:
        writing.loss.drop(
            path, "foreign_state", "weakened", "a citation of another provider cannot be represented here"
        )
        return None
    fields: Mapping[str, Any] = state.get("fields") or {}
    return fields


def has_native_citations(block: Mapping[str, Any], writing: Writing) -> bool:
    """Whether all citations of a text came from this provider."""
    return all(writing.state_of(citation) for citation in block["citations"])


def select_members(citation: Citation, names: Collection[str]) -> dict[str, Any]:
    """The members of a citation of these names."""
    return {name: citation[name] for name in names if name in citation}


def report_citation(citation: Citation, writing: Writing, path: Path, not_written: Collection[str] = ()) -> None:
    """Reports what a citation of this wire says without a place on it: members `not_written`, and those that nobody knows."""
    for name in not_written:
        if name in citation:
            message = f"the wire has no {name.replace('_', ' ')} of a citation"
            writing.loss.drop((*path, name), "unsupported_field", "weakened", message)
    report_unknown(citation, _CITATION, writing.loss, path)
