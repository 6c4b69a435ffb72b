"""What all blocks have in common: what none has a place for, and items that go back as they came."""

from typing import Any

from interlingua.adapters._kit import report_foreign_state, report_own_state, report_unknown
from interlingua.adapters.ollama_chat.tables import Reading, Writing
from interlingua.canonical.loss import Path

Block = dict[str, Any]


def finish_block(block: dict[str, Any], known: frozenset[str], path: Path, writing: Writing) -> None:
    """What all blocks may have and none has a place for: a cache hint, state, members that nobody knows."""
    loss = writing.loss
    if block.get("cache") is not None:
        loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")
    if state := writing.owned(block):
        report_own_state(state, loss, path, fields=True)
    elif "provider_state" in block:
        report_foreign_state(block, writing.endpoint, loss, path)
    report_unknown(block, known, loss, path)


def opaque(value: Any, kind: str, reading: Reading) -> Block:
    """An item of the wire, kept whole."""
    if not isinstance(value, dict):
        raise TypeError(value)
    return {"type": "opaque", **reading.endpoint.state(), "kind": kind, "value": value}
