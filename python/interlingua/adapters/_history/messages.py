"""
Messages of a history on the wires that have one message or item for each canonical message: the code that is the same
for them when they read, write and report. Each wire sorts blocks into its members itself.

`finish`, `report_rest` and `report_state` report what is lost of an item. The docstring of `_engine` lists all such
functions, and which of them includes which.
"""

from collections.abc import Callable, Collection, Container
from typing import Any, Final

from interlingua.adapters._engine.items import report_not_written
from interlingua.adapters._engine.kit import (
    BLOCK_MEMBERS,
    MESSAGE_MEMBERS,
    RESULT_MEMBERS,
    THINKING_MEMBERS,
    UNREADABLE,
    Wire,
    malformed,
    report_lost_state,
    report_replayable_state,
)
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings
from interlingua.adapters._engine.verbatim import may_differ
from interlingua.adapters._engine.writing import Refused, Writing
from interlingua.adapters._history.envelope import envelop, open_envelope
from interlingua.adapters._history.order import WHY, Order, longest_rising, moves_behind, moves_to, note_disorder
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Path, pointer

Block = dict[str, Any]
Item = dict[str, Any]
Message = dict[str, Any]
Members = dict[str, list[tuple[int, Any]]]
"""The members of a message in the order of the wire; each value in a member has the position of its block."""

OF_MESSAGE: Final = MESSAGE_MEMBERS - {"name", "cache"}
"""The members of a message of which a wire without names and cache marks of messages need not report a loss. The
following constants are the same for blocks."""
OF_TEXT: Final = BLOCK_MEMBERS - {"cache"} | {"text"}
OF_THINKING: Final = THINKING_MEMBERS - {"cache", "signature"}
OF_RESULT: Final = RESULT_MEMBERS - {"cache"}
OF_OPAQUE: Final = BLOCK_MEMBERS - {"cache"} | {"adapter", "provider", "origin", "kind", "value"}

# ---------------------------------------------------------------------------------------------------- from the wire


def read_messages(
    messages: Any, read: Callable[[Any, Any], Message], reading: Reading, member: str = "messages"
) -> list[Message]:
    """Read all messages, the list that is the member `member` of a body.

    Raises `InvalidWire` with the pointer of the message that cannot be read."""
    if type(messages) is not list:
        raise InvalidWire("messages must be a list", path=f"/{member}", adapter=reading.endpoint.adapter)
    found: list[Message] = []
    disorder = False  # other messages are between calls and their results
    try:
        for message in messages:
            waits = bool(reading.open)
            read_message = read(message, reading)
            disorder = disorder or (waits and read_message["role"] != "tool")
            found.append(read_message)
    except UNREADABLE as problem:
        raise malformed("the message", (member, len(found)), reading.adapter) from problem
    if may_differ(reading.must_compare or disorder or bool(reading.open)):
        note_disorder(found, reading.endpoint.state)
    return found


def result_message(call: str, content: list[Block], reading: Reading, wire_id: str | None = None) -> Message:
    """The message of the result of a call. The `wire_id` of the result is kept if it is not that of the call."""
    block: Block = {"type": "tool_result", "tool_use_id": call, "content": content}
    if content and open_envelope(content):
        block["is_error"] = True
        reading.must_compare = True
    if reading.own_id(call, wire_id) is not None:
        block["provider_state"] = reading.state(id=wire_id)
        reading.must_compare = True  # it is written with the id of its call
    return {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": call}}


def other_members(item: Wire, known: Container[str], spellings: Spellings, *place: str) -> Item:
    """The members of an item that have no canonical counterpart; `place` is where the item is. A null is kept in
    `spellings` instead."""
    others: Item = {}
    for name, value in item.items():
        if name in known:
            continue
        if value is None:
            spellings[pointer((*place, name))] = {"raw": None}
        else:
            others[name] = value
    return others


# ---------------------------------------------------------------------------------------------------- to the wire


def plain_message(message: Message) -> Wire | None:
    """Write a message that has nothing but one text, as most have: all these wires write it alike. None for any other
    message."""
    role: str = message["role"]
    content: list[Block] = message["content"]
    if len(message) == 2 and len(content) == 1 and role in ("user", "assistant", "system"):
        block = content[0]
        if len(block) == 2 and block["type"] == "text" and (text := block["text"]):
            return {"role": role, "content": text}
    return None


def first_call(content: list[Block]) -> int:
    """The position of the first call in a turn of the most frequent shape: at most one text, then nothing but calls. -1
    for any other turn."""
    begin = 0
    if not content:
        return -1
    if content[0]["type"] == "text":
        if len(content[0]) > 2 or not content[0]["text"]:
            return -1
        begin = 1
    for index in range(begin, len(content)):
        kind: str = content[index]["type"]
        if kind != "tool_use":
            return -1
    return begin


def finish(item: Item, wire: Wire, covered: frozenset[str], writing: Writing, path: Path) -> Wire:
    """Write the `fields` of an item's own state to the written item, and report the rest (`report_rest`).

    `covered` are the canonical members that are written or reported elsewhere."""
    state: Item | None = item.get("provider_state")
    if state is not None and (fields := state.get("fields")) and writing.endpoint.owns(state):
        for name, value in fields.items():
            wire.setdefault(name, value)
    report_rest(item, covered, writing, path, fields=False)
    return wire


def report_rest(item: Item, covered: frozenset[str], writing: Writing, path: Path, *, fields: bool = True) -> None:
    """Report the state of an item (`report_state`) and its members that are not `covered` (`report_not_written`).

    `fields`: the `fields` of a state that the endpoint owns are reported, too, because no item is written that could
    have them.
    """
    report_state(item, writing, path, fields=fields)
    report_not_written(item, covered, writing.loss, path)


def native_item(
    block: Block,
    kind: Any,
    read: Callable[[Any, Any], Block] | None,
    writing: Writing,
    path: Path,
    covered: frozenset[str] = OF_OPAQUE,
    *,
    fields: bool = True,
) -> Any:
    """Return an item of this wire that an opaque block holds, verbatim, and report what the block has around it.

    `kind` is the kind that the item itself states. Raises `Refused` for an item that has the meaning of a canonical
    block. To find out, the item is `read` again, because a caller may put anything into an opaque block.
    """
    if read is not None:
        try:
            found = read(block["value"], writing.reader())["type"]
        except UNREADABLE as problem:
            raise no_place(block, writing) from problem
        if found != "opaque":
            raise Refused("unsupported_block", "the item has a canonical form of its own")
    named = block.get("kind")
    if type(kind) is str and kind != named:
        code = "required_default" if named is None else "name_rewritten"
        writing.loss.replace((*path, "kind"), kind, code, "representation", "the item itself states its kind")
    report_rest(block, covered, writing, path, fields=fields)
    return block["value"]


def report_state(item: Item, writing: Writing, path: Path, *, fields: bool = False) -> None:
    """Report what a state holds and has no place here: all of a state that the endpoint does not own
    (`report_lost_state`); else the signature and, with `fields`, the `fields` (`report_replayable_state`)."""
    state: Item | None = item.get("provider_state")
    if state is None:
        return
    if writing.endpoint.owns(state):
        report_replayable_state(state, writing.loss, path, fields=fields)
    else:
        report_lost_state(item, state, writing.loss, path)


def refuse_empty(wires: list[Wire], writing: Writing) -> None:
    """Raise `InvalidRequest` if a conversation has no message to write, unless it came so."""
    if not wires and not writing.same("messages"):
        why = "a request needs at least one message"
        raise InvalidRequest(why, path="/messages", adapter=writing.endpoint.adapter)


def fold_role(role: str, path: Path, writing: Writing) -> str:
    """The role of a message on a wire that has one role for instructions; a folded role is reported."""
    if role != "developer":
        return role
    why = "the target has only one role for instructions"
    writing.loss.replace((*path, "role"), "system", "role_folded", "representation", why)
    return "system"


def refuse_calls(content: list[Block], path: Path, writing: Writing) -> None:
    """Raise `InvalidRequest` for calls and results in a message that is neither of the model nor of a tool."""
    for index, block in enumerate(content):
        if block["type"] == "tool_use" or block["type"] == "tool_result":
            raise misplaced(block, (*path, "content", index), writing)


def misplaced(block: Block, path: Path, writing: Writing) -> InvalidRequest:
    """The error for a call or a result in a message of another role."""
    why = f"a message of this role cannot contain a {block['type']}"
    return InvalidRequest(why, path=pointer(path), adapter=writing.endpoint.adapter)


def no_place(block: Block, writing: Writing) -> Refused:
    """The code and message for a block that cannot be represented where it is."""
    match block["type"]:
        case "opaque":
            return Refused("foreign_state", "an item of another provider cannot be represented here")
        case "thinking" | "redacted_thinking":
            if block.get("provider_state") and not writing.state_of(block):
                return Refused("foreign_state", "reasoning of another provider cannot be replayed")
            return Refused("unsupported_block", "reasoning cannot be represented in this place")
        case "image" | "audio" | "video" | "document" | "tool_use" | "tool_result" as kind:
            return Refused("unsupported_block", f"{kind} cannot be represented in this place")
        case _:
            return Refused("unknown_block", "a block of a type that this version does not know")


def result_parts(
    block: Block, parts: list[Wire], kind: str, path: Path, writing: Writing, filler: str = ""
) -> list[Wire]:
    """The parts of a result, never empty, with the line that states a failure; `kind` is the type of a text part."""
    failed = bool(block.get("is_error"))
    if failed:
        why = "the failure is stated in the first line of the result"
        writing.loss.replace((*path, "is_error"), True, "envelope", "representation", why)
    elif not parts:
        parts = [{"type": kind, "text": writing.fill((*path, "content"), filler)}]
    envelop(parts, kind, failed=failed)
    return parts


# ---------------------------------------------------------------------------------------------------- members of a message


def joined_texts(texts: list[tuple[int, str]]) -> str:
    """Join texts, each given with the position of its block. The texts of neighbouring blocks are joined directly,
    others with a blank line between them."""
    found, before = "", -1
    for index, text in texts:
        found += text if before in (-1, index - 1) else f"\n\n{text}"
        before = index
    return found


def as_one(placed: list[tuple[int, Any]], text: str, path: Path, writing: Writing) -> list[tuple[int, Any]]:
    """Report the texts of several blocks that are one `text` on the wire, in the place of the first; return
    that one.

    `path` is that of the content. The report drops the other blocks, so entries that name those must come before it."""
    if len(placed) < 2:
        return placed
    (first, value), *others = placed
    why = "texts in this place are one text on the wire"
    writing.loss.replace((*path, first, "text"), text, "merged_turn", "representation", why)
    for index, _ in others:
        writing.loss.drop((*path, index), "merged_turn", "representation", why)
    return [(first, value)]


def report_empty(index: int, path: Path, writing: Writing) -> None:
    """Report that an empty text is left out; `path` is that of the content."""
    writing.loss.drop((*path, index), "empty_content", "representation", "an empty text has no effect here")


def report_order(members: Members, path: Path, writing: Writing) -> None:
    """Report the blocks that are elsewhere on the wire, because its members have an order of their own; `path` is that
    of the content."""
    positions = [index for placed in members.values() for index, _ in placed]
    if positions == sorted(positions):
        return
    why = "the wire places reasoning before the content, and calls last"
    for position, to in moves_to(positions, longest_rising(positions), max(positions) + 1):
        writing.loss.move((*path, position), (*path, to), "reordered", "representation", why)


def report_moves(order: Order, messages: list[Message], writing: Writing, gone: Collection[int] = ()) -> None:
    """Report the messages that are elsewhere on the wire, except those that are `gone`. It is the last report of all,
    so that every message is still in its place when other entries name it."""
    for position, to in moves_behind(order, messages):
        if position in gone:
            continue
        writing.loss.move(("messages", position), ("messages", to), "reordered", "representation", WHY)
