"""What every item has beside its content, both ways: the cache hint, and members without canonical meaning."""

from typing import Any

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._kit import Wire, keep, report_foreign_state, report_unknown
from interlingua.adapters.anthropic_messages.tables import Writing, cache_from_wire
from interlingua.canonical.loss import Path

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def extras(
    block: Wire,
    canonical: Block,
    known: frozenset[str],
    reading: Reading,
    state: dict[str, Any] | None = None,
    encoding: dict[str, Any] | None = None,
) -> Block:
    """Adds the cache hint, and the provider state that holds the members and spellings without canonical meaning."""
    fields: dict[str, Any] = {}
    if not block.keys() <= known:
        for name, value in block.items():
            if name in known:
                continue
            if value is None:
                encoding = encoding or {}
                encoding.setdefault("null", []).append(name)
            elif name == "cache_control" and (hint := cache_from_wire(value)) is not None:
                canonical["cache"] = hint
                reading.mark(hint)
            else:
                fields[name] = value
                reading.unusual = reading.unusual or name == "cache_control"
    if fields or encoding or state is not None:
        state = state or reading.state()
        keep(state, fields, encoding)
        canonical["provider_state"] = state
    return canonical


# ---------------------------------------------------------------------------------------------- to the wire


def finished(block: Block, wire: Wire, known: frozenset[str], writing: Writing, path: Path) -> Wire:
    """The members that all items have: the cache hint, provider state, and those that this version does not know."""
    if not block.keys() <= known:
        report_unknown(block, known, writing.loss, path)
    hint = block.get("cache")
    if hint is not None:
        writing.mark(wire, hint, path)
    state = block.get("provider_state")
    if state is not None:
        if not writing.endpoint.owns(state):
            report_foreign_state(block, writing.endpoint, writing.loss, path)
        elif "fields" in state or "encoding" in state or "signature" in state:
            replayed(state, wire, writing, path)
    return wire


def replayed(state: dict[str, Any], wire: Wire, writing: Writing, path: Path) -> None:
    """Writes what a provider state holds for this wire: verbatim members, and members that were null."""
    if fields := state.get("fields"):
        for name, value in fields.items():
            where = (*path, "provider_state", "fields", name)
            if name in wire:
                writing.loss.drop(where, "combination", "representation", "the canonical member says it already")
            elif (value is None or name == "type") and not writing.as_read:  # which a request is read without
                writing.loss.drop(where, "unsupported_field", "representation", "no such member is read from the wire")
            else:
                wire[name] = value
                if name == "cache_control":
                    writing.marked(wire)
    if encoding := state.get("encoding"):
        for name in encoding.get("null") or ():
            wire.setdefault(name, None)
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "the wire has no signature in this place")
