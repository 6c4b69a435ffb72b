"""
Calls, by rows: those of functions, with or without a namespace, those with free text, and those of the provider's tools
that its client runs.

A call has two ids: `call_id`, which its result names, and `id`, the name of its item in the list. An item with an `id`
is a full one: it also has a status.
"""

import hashlib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from interlingua.adapters._content.built_in import BUILT_IN
from interlingua.adapters._content.calls import argument_text, call_id, free_text, is_plain, plain_call, read_call
from interlingua.adapters._engine.items import ABSENT, ItemRow, Member, tool_name, write_item
from interlingua.adapters._engine.kit import NOTHING, Wire, arguments_text, encoding_of, keep_spelling
from interlingua.adapters.openai_responses.built_in import (
    CALLS,
    FORMS,
    OUTPUTS,
    Form,
    answered,
    answered_call,
    call_members,
    called,
)
from interlingua.adapters.openai_responses.parts import Block
from interlingua.adapters.openai_responses.tables import Reading, Writing
from interlingua.adapters.openai_responses.tools import DEFAULT, NAMESPACE, as_function, full_name, name_in_namespace
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------------- ids of items

_ITEM_ID: Final = "item_id"
"""Spelling of a call: the id of its item."""
_STATE: Final = ("provider_state",)
"""The canonical member for wire members without a canonical meaning."""


def item_id(known_id: str | None, prefix: str, state: dict[str, Any], writing: Writing, *seed: Any) -> Any:
    """Return the id that an item had when it was read. In an answer, an item without one gets an id derived from its
    content, unless this provider sent it without an id."""
    if known_id is None and (writing.answer or (writing.answering and not state)):
        return derived_item_id(prefix, writing.identity, *seed)
    return ABSENT if known_id is None else known_id


def derived_item_id(prefix: str, *seed: Any) -> str:
    """Derive an id for an item that has none: the same item in the same place of the same answer gets the same id."""
    return prefix + hashlib.sha256(repr(seed).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _id_of_item(prefix: str) -> Member:
    def read(raw: Any, block: Block, _: Reading) -> None:
        if type(raw) is not str:
            raise TypeError("id")
        keep_spelling(block.setdefault("provider_state", {}), _ITEM_ID, raw)

    def write(block: Block, writing: Writing, _: Path) -> Any:
        known_id = writing.encoding_of(block).get(_ITEM_ID)
        return item_id(
            known_id, prefix, writing.state_of(block), writing, writing.call_id(block, writing.state_of(block))
        )

    return Member("id", _STATE, read, write, soft=True)


def _read_status(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not str:
        raise TypeError("status")
    reading.must_compare = reading.must_compare or raw != "completed"


def _write_status(block: Block, writing: Writing, _: Path) -> Any:
    full = (
        writing.answer or _ITEM_ID in writing.encoding_of(block) or (writing.answering and not writing.state_of(block))
    )
    return "completed" if full else ABSENT


# ---------------------------------------------------------------------------------------------------- functions and free text


def _encoding(block: Block, writing: Writing) -> dict[str, Any]:
    """Return the spelling of a call: as it was read, or, in an answer, as the client declared the tool."""
    encoding = writing.encoding_of(block)
    if NAMESPACE in encoding or BUILT_IN in encoding or not writing.answering:
        return encoding
    offered: Block = writing.endpoint.spellings.get(block["name"]) or NOTHING
    return NOTHING if offered.get(NAMESPACE) == DEFAULT else offered  # clients know its tools only by their names


def _write_name(block: Block, writing: Writing, path: Path) -> str:
    name = name_in_namespace(block["name"], _encoding(block, writing), writing)
    return writing.written_tool_name(block["name"], path) if name is None else name


def _read_namespace(raw: Any, block: Block, reading: Reading) -> None:
    if type(raw) is not str:
        raise TypeError(NAMESPACE)
    if not raw:
        reading.must_compare = True
        return
    reading.names.add(block["name"])
    block["name"] = full_name(raw, block["name"])
    keep_spelling(block["provider_state"], NAMESPACE, raw)


def _write_namespace(block: Block, writing: Writing, _: Path) -> Any:
    encoding = _encoding(block, writing)
    return ABSENT if name_in_namespace(block["name"], encoding, writing) is None else encoding[NAMESPACE]


_ID: Final = call_id("call_id", needed=True)
_STATUS: Final = Member("status", _STATE, _read_status, _write_status, soft=True)
_NAME: Final = tool_name(_write_name)
_NAMESPACE: Final = Member(NAMESPACE, _STATE, _read_namespace, _write_namespace)
_FUNCTION: Final = ItemRow(
    {"type": "function_call"}, _ID, _NAME, argument_text(), _NAMESPACE, _id_of_item("fc_"), _STATUS
)
_CUSTOM: Final = ItemRow(
    {"type": "custom_tool_call"}, _ID, _NAME, free_text(), _NAMESPACE, _id_of_item("ctc_"), _STATUS
)

# ---------------------------------------------------------------------------------------------------- built-in tools


def _row(name: str, form: Form) -> ItemRow:
    """Return the row for calls of a built-in tool."""

    def read(raw: Any, block: Block, _: Reading) -> None:
        """Read nothing: the name and the arguments were already read from the whole item."""

    def write(block: Block, writing: Writing, _: Path) -> Any:
        return (_members(block, writing) or NOTHING)[form.member]

    arguments = Member(form.member, ("input", "name", "kind"), read, write, needed=True)
    return ItemRow({"type": form.call}, _ID, arguments, _id_of_item(form.prefix), _STATUS)


_BUILT_IN: Final[Mapping[str, ItemRow]] = {name: _row(name, form) for name, form in FORMS.items()}


def is_built_in(block: Block, writing: Writing) -> bool:
    """Whether a call is one of a built-in tool, as far as this is known before its arguments are complete."""
    return block["type"] == "tool_use" and BUILT_IN in _encoding(block, writing)


def _members(block: Block, writing: Writing) -> Wire | None:
    """Return the members of an item that calls a built-in tool; None where the item cannot express the call, which is
    then written as one of a function."""
    name: str = block["name"]
    form = FORMS.get(name)
    if form is None or _encoding(block, writing)[BUILT_IN] != name:
        return None
    if block.get("kind") == "custom" or block.get("input_raw") is not None:
        return None
    full = _write_status(block, writing, ()) is not ABSENT
    return call_members(name, {**deepcopy(form.filled), **block["input"]} if full else block["input"])


# ---------------------------------------------------------------------------------------------------- to the wire


def call_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """Write a call."""
    canonical: str = block["id"]
    if is_plain(block) and not writing.answering:  # most calls
        name = writing.written_tool_name(block["name"], path)
        said = {"name": name, "arguments": arguments_text(block["input"])}
        return {"type": "function_call", "call_id": writing.call_id(block, writing.state_of(block)), **said}
    if BUILT_IN in _encoding(block, writing):
        if _members(block, writing) is not None:
            form = FORMS[block["name"]]
            item = {**deepcopy(form.made), **write_item(_BUILT_IN[block["name"]], block, writing, path)}
            writing.calls[canonical] = form.answered or block["name"]
            writing.named[item["call_id"]] = block["name"]
            return item
        writing.reshaped.add(id(block))
        block = as_function(block, path, writing)
    if writing.writes_free_text(block):
        return write_item(_CUSTOM, block, writing, path)
    item = write_item(_FUNCTION, block, writing, path)
    writing.calls[canonical] = "function"
    return item


# ---------------------------------------------------------------------------------------------------- from the wire


def call_from_wire(item: Wire, reading: Reading, canonical: str = "") -> Block | None:
    """Read a call; `canonical` is its id when it has one already. None for an item that is no readable call, or that
    the caller does not run."""
    kind = item["type"]
    if len(item) == 4 and kind == "function_call":
        call = plain_call(
            item.get("call_id"), item.get("name"), item.get("arguments"), str, reading, canonical, "function"
        )
        if call is not None:
            reading.names.add(call["name"])
            return call
    try:
        if kind in CALLS:
            return _built_in_from_wire(item, reading, canonical)
        if kind == "custom_tool_call" and reading.endpoint.dialect.get("custom_calls") == "provider":
            return None
        row = _FUNCTION if kind == "function_call" else _CUSTOM
        kind = "custom" if row is _CUSTOM else "function"
        block = read_call(row, item, reading, canonical, kind, provider_state=reading.state())
    except (KeyError, TypeError):
        return None
    reading.names.add(block["name"])
    full = _ITEM_ID in encoding_of(block, reading.endpoint)
    reading.must_compare = reading.must_compare or ("status" in item) != full
    return block


def _built_in_from_wire(item: Wire, reading: Reading, canonical: str) -> Block | None:
    """Read a call of a built-in tool that the client runs."""
    found = called(item)
    if found is None or reading.has_run(item.get("call_id")):
        return None
    name, arguments = found
    form = FORMS[name]
    if form.filled:
        arguments = {argument: value for argument, value in arguments.items() if value is not None}
    state = reading.state(encoding={BUILT_IN: name})
    item = {member: value for member, value in item.items() if form.made.get(member, ABSENT) != value}
    block = read_call(_BUILT_IN[name], item, reading, canonical, name, name=name, input=arguments, provider_state=state)
    reading.must_compare = True
    return block


def answers(item: Wire, reading: Reading) -> bool:
    """Whether an item is the client's result of a call of a built-in tool that the client runs."""
    wire_id = answered_call(item)
    name = reading.kind_of(wire_id)
    if name is None and isinstance(wire_id, str) and item.get("id") in (None, wire_id):
        # its call is stored elsewhere; a result with an id of its own came from the provider
        name = OUTPUTS[item["type"]]
    return name is not None and answered(item, name)
