"""What every part has beside its data, both ways: the members without canonical meaning, signatures, and spellings."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, Wire, keep, report_foreign_state, report_unknown
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.tables import CAMEL
from interlingua.canonical.loss import Path

Block = dict[str, Any]

# the places that take different blocks
SYSTEM, USER, MODEL, RESULT = "system", "user", "model", "result"

DATA: Final = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
"""The members that name the data of a part."""
SIBLINGS: Final = frozenset(("thought", "thoughtSignature"))
"""The members beside the data that a block has a place for."""

# ---------------------------------------------------------------------------------------------- from the wire


def kept(
    block: Block,
    signature: str | None,
    fields: dict[str, Any],
    encoding: dict[str, Any],
    state: dict[str, Any] | None,
    reading: Reading,
) -> Block:
    """Adds the provider state: what has no canonical meaning, and how the part was spelt."""
    if fields or encoding or signature is not None or state is not None:
        block["provider_state"] = state = state or reading.state()
        if signature is not None:
            state["signature"] = signature
        keep(state, fields, encoding)
    return block


def left_over(inner: Wire, known: tuple[str, ...], name: str, fields: dict[str, Any]) -> None:
    """Keeps the members of a part's data that have no canonical meaning."""
    if not inner.keys() <= set(known):
        fields[name] = {key: value for key, value in inner.items() if key not in known}


def kind_of(part: Wire) -> str:
    """The name of the data of a part."""
    names = [CAMEL.get(name, name) for name, value in part.items() if value is not None]
    return next((name for name in (*names, *part) if CAMEL.get(name, name) not in SIBLINGS), "part")


# ---------------------------------------------------------------------------------------------- to the wire


def placeholder_or_drop(block: Block, writing: Writing, path: Path, code: str, message: str) -> Wire | None:
    """Reports a block that is not carried; the part that stands for it, where the policy asks for one."""
    text = writing.loss.block(path, block, code, "lost", message)
    return None if text is None else {"text": text["text"]}


def report_cache(item: dict[str, Any], writing: Writing, path: Path) -> None:
    """Reports a mark for the cache."""
    if item.get("cache") is not None:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "the wire has no cache marks")


def members_to_wire(item: dict[str, Any], wire: Wire, said: frozenset[str], writing: Writing, path: Path) -> None:
    """Adds to an item that is no part what its own state holds for this wire, but for members that are `said` otherwise."""
    state = writing.owned(item)
    if state.get("signature"):
        where = (*path, "provider_state", "signature")
        writing.loss.drop(where, "unsupported_field", "lost", "the wire has no signature in this place")
    for name, value in (state.get("fields") or {}).items():
        if name in said or name in wire:
            writing.loss.drop((*path, "provider_state", "fields", name), "combination", "representation", _SAID)
        else:
            wire[name] = value


_SAID: Final = "the canonical member says it already"


def reported(block: Block, known: frozenset[str], writing: Writing, path: Path) -> Mapping[str, Any]:
    """Reports the members that no item has a place for; gives the block's own provider state."""
    report_unknown(block, known, writing.loss, path)
    report_cache(block, writing, path)
    state: dict[str, Any] | None = block.get("provider_state")
    if state is None:
        return NOTHING
    if writing.endpoint.owns(state):
        return state
    report_foreign_state(block, writing.endpoint, writing.loss, path)
    return NOTHING


def report_stateless(block: Block, message: str, writing: Writing, path: Path) -> None:
    """Reports the own state of a block that has no members of its own on the wire."""
    state = writing.owned(block)
    if state.get("signature"):
        writing.loss.drop((*path, "provider_state", "signature"), "unsupported_field", "lost", message)
    for name in state.get("fields") or ():
        writing.loss.drop((*path, "provider_state", "fields", name), "unsupported_field", "weakened", message)


def finished(block: Block, part: Wire, kind: str, known: frozenset[str], writing: Writing, path: Path) -> Wire:
    """The part with the members that all items have: the block's own provider state."""
    state = reported(block, known, writing, path)
    if not state:
        return part
    signature = state.get("signature")
    if signature or (signature == "" and writing.same_origin):
        if "thoughtSignature" in part:
            message = "the block has a signature of its own"
            writing.loss.drop((*path, "provider_state", "signature"), "combination", "representation", message)
        else:
            part["thoughtSignature"] = signature
    if fields := state.get("fields"):
        for name, value in fields.items():
            _replay(part, name, value, kind, writing, (*path, "provider_state", "fields", name))
    if encoding := state.get("encoding"):
        if encoding.get("thought") is False:
            part.setdefault("thought", False)
        if snake := encoding.get("snake"):
            part = _respelt(part, kind, snake)
        if writing.same_origin and (nulls := encoding.get("null")):
            part = _with_nulls(part, kind, nulls)
    return part


def _with_nulls(part: Wire, kind: str, nulls: list[Any]) -> Wire:
    """The part with the members that were null, where it lacks them."""
    outer = next((name for name in part if CAMEL.get(name, name) == kind), kind)
    inner: Any = part.get(outer)
    for text in nulls:
        where, _, name = str(text).rpartition(".")
        if not where:
            part.setdefault(name, None)
        elif where == kind and type(inner) is dict:
            inner.setdefault(name, None)
    return part


def _replay(part: Wire, name: str, value: Any, kind: str, writing: Writing, path: Path) -> None:
    if name == kind and type(value) is dict and kind != "text":
        for member, item in value.items():
            if part[kind].setdefault(member, item) is not item:
                writing.loss.drop((*path, member), "combination", "representation", _SAID)
    elif name in part or name in DATA:
        writing.loss.drop(path, "combination", "representation", _SAID)
    else:
        part[name] = value


def _respelt(part: Wire, kind: str, snake: list[str]) -> Wire:
    """The part under the names that it came with."""
    inner = {CAMEL[name]: name for _, dot, name in (text.rpartition(".") for text in snake) if dot and name in CAMEL}
    if inner and type(part.get(kind)) is dict:
        part[kind] = {inner.get(name, name): value for name, value in part[kind].items()}
    outer = {CAMEL[name]: name for name in snake if name in CAMEL}
    return {outer.get(name, name): value for name, value in part.items()} if outer else part
