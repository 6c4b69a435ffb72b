"""
Read and write the citations of a text. A citation has canonical members for its source and for the cited text. Other
members, which only its provider understands, are kept, and are written back to that provider only.
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
    """Whether a value is a list of objects with a `type`."""
    return type(value) is list and all(type(item) is dict and type(item.get("type")) is str for item in value)


def read_members(source: Mapping[str, Any], names: Collection[str]) -> tuple[Citation, dict[str, Any]]:
    """Return the members of a citation with these `names` and a right type, and the other members except `type`."""
    citation: Citation = {}
    rest: dict[str, Any] = {}
    for name, value in source.items():
        if name != "type":
            fits = type(value) is str if name in TEXTS else type(value) is int and value >= 0
            (citation if name in names and fits else rest)[name] = value
    return citation, rest


def with_origin(citation: Citation, fields: dict[str, Any], endpoint: Endpoint) -> Citation:
    """Return a citation with its origin and the `fields` that only this origin understands."""
    state = citation["provider_state"] = endpoint.state()
    if fields:
        state["fields"] = fields
    return citation


def read_citation(source: Mapping[str, Any], names: Collection[str], endpoint: Endpoint) -> Citation:
    """Read a citation whose members have canonical names."""
    citation, rest = read_members(source, names)
    return with_origin({"type": source["type"], **citation}, rest, endpoint)


# ---------------------------------------------------------------------------------------------- to the wire


def citation_fields(citation: Citation, writing: Writing, path: Path) -> Mapping[str, Any] | None:
    """Return the members of a citation for this wire only; report a citation of another provider and return None.

    A citation points into the provider's own documents and results. So only the provider's own citations can be
    written back.
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
    """Return the members of a citation with these names."""
    return {name: citation[name] for name in names if name in citation}


def report_citation(citation: Citation, writing: Writing, path: Path, not_written: Collection[str] = ()) -> None:
    """Report the members of a citation of this wire that have no place on it: those `not_written`, and unknown ones."""
    for name in not_written:
        if name in citation:
            message = f"the wire has no {name.replace('_', ' ')} of a citation"
            writing.loss.drop((*path, name), "unsupported_field", "weakened", message)
    report_unknown(citation, _CITATION, writing.loss, path)
