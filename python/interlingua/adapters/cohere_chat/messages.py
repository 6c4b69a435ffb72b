"""
Messages both ways, and what an answer cites.

An assistant's message has parts, a plan beside its calls, and the calls, in this order. The plan is what the model says before
it calls: the last text before the calls, which every other wire has a place for.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._envelope import envelop, open_envelope
from interlingua.adapters._items import MISSING, report_unsaid
from interlingua.adapters._kit import (
    MESSAGE_MEMBERS,
    NOTHING,
    Wire,
    malformed,
    report_foreign_state,
    report_own_state,
)
from interlingua.adapters._order import longest_rising, moves_to
from interlingua.adapters._results import note_disorder, ordered, result_of
from interlingua.adapters.cohere_chat.citations import citations_from_wire, citations_to_wire
from interlingua.adapters.cohere_chat.parts import ASSISTANT, SYSTEM, TOOL, USER, part_from_wire, part_to_wire
from interlingua.adapters.cohere_chat.tables import NAME, Reading, Writing
from interlingua.adapters.cohere_chat.tools import call_from_wire, call_to_wire, is_call
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path

Block = dict[str, Any]
Message = dict[str, Any]

_ROLES: Final = (SYSTEM, USER, ASSISTANT, TOOL)
_PLAN: Final = "tool_plan"

# how `content` was spelt, where it is not as it would be written
_STRING: Final = "string"
_LIST: Final = "list"
_EMPTY: Final = "empty"
_ALONE: Final = "alone"  # a plan without calls


# ---------------------------------------------------------------------------------------------- from the wire


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """All messages. Raises `InvalidWire` with the pointer of the message that cannot be read."""
    if type(messages) is not list:
        raise InvalidWire("messages must be a list", path="/messages", adapter=NAME)
    read: list[Message] = []
    try:
        for message in messages:
            read.append(message_from_wire(message, reading))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as problem:
        raise malformed("the message", "messages", len(read)) from problem
    note_disorder(read, reading.endpoint.state)
    return read


def message_from_wire(message: Wire, reading: Reading, *, answer: bool = False) -> Message:
    """A message, by its role. An answer has parts where others have a text."""
    role = message["role"]
    if role not in _ROLES:
        raise ValueError(role)
    if len(message) == 2 and type(content := message.get("content")) is str and content and role != TOOL and not answer:
        return {"role": role, "content": [{"type": "text", "text": content}]}
    spelt: dict[str, Any] = {}
    known = _KNOWN[role]
    fields = {name: value for name, value in message.items() if name not in known and value is not None}
    spelt.update({name: None for name, value in message.items() if value is None})
    read: Message
    if role == TOOL:
        read = _result_from_wire(message, reading, spelt)
    else:
        blocks = _content_from_wire(message, role, reading, spelt, answer=answer)
        if role == ASSISTANT:
            blocks = _said_from_wire(message, blocks, reading, spelt, fields)
        read = {"role": role, "content": blocks}
    if fields or spelt:
        state: dict[str, Any] = reading.endpoint.state()
        read["provider_state"] = state
        if fields:
            state["fields"] = fields
        if spelt:
            state["encoding"] = {"spelt": spelt}
    return read


_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    SYSTEM: frozenset(("role", "content")),
    USER: frozenset(("role", "content")),
    ASSISTANT: frozenset(("role", "content", _PLAN, "tool_calls", "citations")),
    TOOL: frozenset(("role", "content", "tool_call_id")),
}


def _content_from_wire(
    message: Wire, role: str, reading: Reading, spelt: dict[str, Any], *, answer: bool = False
) -> list[Block]:
    """The blocks of `content`, and how it was spelt."""
    content = message.get("content")
    if content is None:
        if "content" not in message and (role != ASSISTANT or not _has_more(message)):
            spelt["content"] = MISSING
        return []
    if type(content) is str:
        if answer:
            spelt["content"] = _STRING
        if not content and role == ASSISTANT and _has_more(message):
            spelt["content"] = ""
            return []
        return [{"type": "text", "text": content}]
    if type(content) is not list:
        raise TypeError("content")
    blocks = [part_from_wire(part, reading, role) for part in content]
    if not blocks:
        if not (answer and not _has_more(message)):
            spelt["content"] = _EMPTY
    elif not answer and len(blocks) == 1 and _is_plain(blocks[0]):
        spelt["content"] = _LIST
    return blocks


def _has_more(message: Wire) -> bool:
    return bool(message.get(_PLAN) or message.get("tool_calls"))


def _is_plain(block: Block) -> bool:
    """Whether a block is a text that says no more than a string."""
    return block["type"] == "text" and (len(block) == 2 or (len(block) == 3 and "citations" in block))


def _said_from_wire(
    message: Wire, blocks: list[Block], reading: Reading, spelt: dict[str, Any], fields: dict[str, Any]
) -> list[Block]:
    """The blocks of an assistant's message: parts, plan, calls; a text knows what it cites."""
    parts = len(blocks)
    plan, calls = message.get(_PLAN), message.get("tool_calls")
    if plan is not None and type(plan) is not str:
        raise TypeError(_PLAN)
    if calls is not None and type(calls) is not list:
        raise TypeError("tool_calls")
    if plan:
        blocks.append({"type": "text", "text": plan})
        if not calls:
            spelt[_PLAN] = _ALONE
    elif plan == "":
        spelt[_PLAN] = ""
    elif calls and blocks and blocks[-1]["type"] == "text" and _PLAN not in message:
        spelt[_PLAN] = MISSING
    if calls:
        blocks += [call_from_wire(call, reading) for call in calls]
    elif calls == []:
        spelt["tool_calls"] = _EMPTY
    citations = message.get("citations")
    if citations == []:
        spelt["citations"] = _EMPTY
    elif citations is not None and not citations_from_wire(citations, blocks, parts, bool(plan), reading):
        fields["citations"] = citations
    return blocks


def _result_from_wire(message: Wire, reading: Reading, spelt: dict[str, Any]) -> Message:
    wire_id = message["tool_call_id"]
    if type(wire_id) is not str:
        raise TypeError("tool_call_id")
    canonical = reading.result(wire_id)
    block: Block = {"type": "tool_result", "tool_use_id": canonical or reading.orphan(wire_id)}
    block["content"] = _content_from_wire(message, TOOL, reading, spelt)
    encoding: dict[str, Any] = {}
    if open_envelope(block["content"], encoding):
        block["is_error"] = True
    if canonical is None or encoding:
        state = block["provider_state"] = reading.endpoint.state()
        if canonical is None:
            state["id"] = wire_id
        if encoding:
            state["encoding"] = encoding
    return {"role": TOOL, "content": [block], "metadata": {"parent_tool_use_id": block["tool_use_id"]}}


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], writing: Writing) -> list[Wire]:
    """All messages; the results of a turn stand behind it in the order of its calls.

    Raises `InvalidRequest` for blocks that do not stand in a message of their role.
    """
    messages: list[Message] = request["messages"]
    order, moves = ordered(messages, NAME, writing.encoding_of if writing.same_origin else None)
    body: list[Wire] = []
    if request.get("system"):
        parts = _parts(request["system"], ("system",), SYSTEM, writing)
        body.append({"role": SYSTEM, "content": _content(parts, NOTHING)})
    for position in order:
        body.append(message_to_wire(messages[position], ("messages", position), writing))
    # last of all: what an entry names must still stand in its place
    for position, to in moves:
        why = "results follow their calls directly, in the order of the calls"
        writing.loss.move(("messages", position), ("messages", to), "reordered", "representation", why)
    return body


def message_to_wire(message: Message, path: Path, writing: Writing, *, answer: bool = False) -> Wire:
    """A message, at its place in the request or, as an answer, in the response."""
    role: str = message["role"]
    content: list[Block] = message["content"]
    if len(message) == 2 and len(content) == 1 and role in (USER, ASSISTANT, SYSTEM) and not answer:
        block = content[0]
        if block["type"] == "text" and len(block) == 2 and block["text"]:
            return {"role": role, "content": block["text"]}
    if role == "developer":
        role = SYSTEM
        writing.loss.replace((*path, "role"), role, "role_folded", "representation", "the wire knows no developer role")
    spelt = writing.spelt(message)
    if role == TOOL:
        wire = _result_to_wire(message, path, spelt, writing)
    elif role == ASSISTANT:
        wire = _said_to_wire(content, (*path, "content"), spelt, writing, answer=answer)
    else:
        wire = {"role": role, "content": _content(_parts(content, (*path, "content"), role, writing), spelt)}
        if wire["content"] == "" and not content and spelt.get("content", ABSENT_WORD) not in _UNSAID:
            _fill(path, writing)
        if spelt.get("content") == MISSING and wire["content"] == "":
            del wire["content"]
    return _finished(message, wire, spelt, path, writing)


ABSENT_WORD: Final = object()
_UNSAID: Final = (MISSING, _EMPTY, None)


def _fill(path: Path, writing: Writing) -> None:
    value = [{"type": "text", "text": ""}]
    message = "an empty message is written as an empty text"
    writing.loss.replace((*path, "content"), value, "filler", "representation", message)


def _finished(message: Message, wire: Wire, spelt: Mapping[str, Any], path: Path, writing: Writing) -> Wire:
    """What all messages have: names and marks that have no place here, own members, and what nobody knows."""
    if len(message) == 2:
        return wire
    state: dict[str, Any] | None = message.get("provider_state")
    if state is not None:
        if writing.endpoint.owns(state):
            for name, value in (state.get("fields") or NOTHING).items():
                wire.setdefault(name, value)
            for name, word in spelt.items():
                if word is None:
                    wire.setdefault(name, None)
            report_own_state(state, writing.loss, path)
        else:
            report_foreign_state(message, writing.endpoint, writing.loss, path)
    report_unsaid(message, _COVERED, writing.loss, path)
    return wire


_COVERED: Final = MESSAGE_MEMBERS - {"name", "cache"}


def _parts(content: list[Block], path: Path, place: str, writing: Writing) -> list[Wire]:
    written = [part_to_wire(block, (*path, index), writing, place) for index, block in enumerate(content)]
    return [part for part in written if part is not None]


def _content(parts: list[Wire], spelt: Mapping[str, Any], *, answer: bool = False) -> Any:
    """The content of a message: a lone plain text is a string, but in an answer; spelt as it was read, where it was."""
    word = spelt.get("content")
    if not parts:
        return [] if word == _EMPTY or answer else ""
    lone = len(parts) == 1 and parts[0].keys() == {"type", "text"} and parts[0]["type"] == "text"
    if lone and (word == _STRING if answer else word != _LIST):
        return parts[0]["text"]
    return parts


def _said_to_wire(
    content: list[Block], path: Path, spelt: Mapping[str, Any], writing: Writing, *, answer: bool
) -> Wire:
    """An assistant's message: parts, the plan before calls, and calls."""
    calls = [index for index, block in enumerate(content) if is_call(block, writing)]
    parts = [index for index in range(len(content)) if index not in calls] if calls else list(range(len(content)))
    plan = _plan(content, parts, spelt, calls=bool(calls))
    if plan is not None:
        parts = parts[:-1]
    cited = {index: content[index]["citations"] for index in [*parts, *_some(plan)] if content[index].get("citations")}
    written: list[Wire] = []
    places: dict[int, int] = {}  # of the parts
    stands: list[int] = []
    for index in parts:
        part = part_to_wire(_uncited(content[index]), (*path, index), writing, ASSISTANT)
        if part is not None:
            places[index] = len(written)
            written.append(part)
            stands.append(index)
    wire: Wire = {"role": ASSISTANT}
    if written or not (calls or plan is not None) or answer:
        wire["content"] = _content(written, spelt, answer=answer)
    elif spelt.get("content") in (_EMPTY, ""):
        wire["content"] = [] if spelt["content"] == _EMPTY else ""
    if answer and not written and (calls or plan is not None) and spelt.get("content") != _EMPTY:
        del wire["content"]
    if spelt.get("content") == MISSING and not written:
        wire.pop("content", None)
    if plan is not None:
        part_to_wire(_uncited(content[plan]), (*path, plan), writing, ASSISTANT)  # for what it loses as any text does
        wire[_PLAN] = content[plan]["text"]
        stands.append(plan)
    elif spelt.get(_PLAN) == "":
        wire[_PLAN] = ""
    if calls:
        wire["tool_calls"] = [call_to_wire(content[index], (*path, index), writing) for index in calls]
        stands += calls
    elif spelt.get("tool_calls") == _EMPTY:
        wire["tool_calls"] = []
    citations = citations_to_wire(cited, places, path, writing)
    if citations or spelt.get("citations") == _EMPTY:
        wire["citations"] = citations
    if not answer and wire.get("content") == "" and not content and spelt.get("content", ABSENT_WORD) not in _UNSAID:
        _fill(path[:-1], writing)
    if stands != sorted(stands):
        for position, to in moves_to(stands, longest_rising(stands), max(stands) + 1):
            message = "the wire puts what is said first, and calls last"
            writing.loss.move((*path, position), (*path, to), "reordered", "representation", message)
    return wire


def _some(index: int | None) -> list[int]:
    return [] if index is None else [index]


def _plan(content: list[Block], parts: list[int], spelt: Mapping[str, Any], *, calls: bool) -> int | None:
    """The block that is the plan: the last text before calls, unless it was read as a part of the content."""
    word = spelt.get(_PLAN)
    if not parts or not (calls or word == _ALONE) or word == MISSING:
        return None
    block = content[parts[-1]]
    return parts[-1] if block["type"] == "text" and block["text"] else None


def _uncited(block: Block) -> Block:
    if "citations" not in block:
        return block
    return {name: value for name, value in block.items() if name != "citations"}


def _result_to_wire(message: Message, path: Path, spelt: Mapping[str, Any], writing: Writing) -> Wire:
    block, where = result_of(message, path, NAME), (*path, "content", 0)
    parts = _parts(block["content"], (*where, "content"), TOOL, writing)
    failed = bool(block.get("is_error"))
    envelop(parts, "text", failed=failed, spelling=writing.encoding_of(block).get("envelope"))
    wire: Wire = {"role": TOOL, "tool_call_id": writing.result_id(block), "content": _content(parts, spelt)}
    if failed:
        note = "the failure is told in the first line of the result"
        writing.loss.replace((*where, "is_error"), True, "envelope", "representation", note)
    if not parts:
        word = spelt.get("content", ABSENT_WORD)
        if word == MISSING or word is None:
            del wire["content"]
        elif word != _EMPTY:
            value = [{"type": "text", "text": ""}]
            note = "an empty result is written as an empty text"
            writing.loss.replace((*where, "content"), value, "filler", "representation", note)
    if len(block) > 3:
        state = block.get("provider_state")
        if state is not None:
            if writing.endpoint.owns(state):
                report_own_state(state, writing.loss, where, fields=True)
            else:
                report_foreign_state(block, writing.endpoint, writing.loss, where)
        report_unsaid(block, _RESULT, writing.loss, where)
    return wire


_RESULT: Final = frozenset(("type", "critical", "provider_state", "tool_use_id", "content", "is_error"))
