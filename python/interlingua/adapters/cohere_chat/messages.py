"""
Messages both ways.

An assistant's message has parts, a plan beside its calls, and the calls, in this order. The provider takes no parts of text beside
calls: what the model says before it calls is its plan, and on every other wire a text.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import LIST, Spellings, lone_text
from interlingua.adapters._engine.verbatim import Items, keep_item, keep_spellings
from interlingua.adapters._engine.writing import FILLER, Refused
from interlingua.adapters._history.messages import (
    OF_MESSAGE,
    OF_RESULT,
    Members,
    as_one,
    finish,
    fold_role,
    joined,
    other_members,
    plain_message,
    read_messages,
    report_beside,
    report_moves,
    report_order,
    result_message,
    result_parts,
)
from interlingua.adapters._history.order import arranged, result_of
from interlingua.adapters.cohere_chat.citations import citations_from_wire, citations_to_wire
from interlingua.adapters.cohere_chat.documents import (
    LISTED,
    document_from_wire,
    last_of_user,
    listed_document,
)
from interlingua.adapters.cohere_chat.parts import ASSISTANT, SYSTEM, TOOL, USER, part_from_wire, part_to_wire
from interlingua.adapters.cohere_chat.tables import NAME, Writing
from interlingua.adapters.cohere_chat.tools import call_from_wire, call_to_wire, is_call
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Block = dict[str, Any]
Message = dict[str, Any]

_ROLES: Final = (SYSTEM, USER, ASSISTANT, TOOL)
PLAN: Final = "tool_plan"
"""The place of a text that was the plan."""
_BESIDE: Final = "content"
"""The place of a text that stood in the content, though the message calls."""


# ---------------------------------------------------------------------------------------------- from the wire


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """All messages. Raises `InvalidWire` with the pointer of the message that cannot be read."""
    return read_messages(messages, message_from_wire, reading)


def message_from_wire(message: Wire, reading: Reading, *, answer: bool = False) -> Message:
    """A message, by its role. An answer has parts where others have a text."""
    role = message["role"]
    if role not in _ROLES:
        raise ValueError(role)
    content = message.get("content")
    if len(message) == 2 and type(content) is str and content and role != TOOL and not answer:
        return {"role": role, "content": [{"type": "text", "text": content}]}  # most messages
    known = _KNOWN[role]
    spellings: Spellings = {
        f"/{name}": {"raw": message[name]} for name in _SILENT if name in known and not message.get(name, True)
    }
    fields = other_members(message, known, spellings)
    read: Message
    if role == TOOL:
        read = _result_from_wire(message, reading)
    elif role == ASSISTANT:
        read = {"role": role, "content": _assistant_from_wire(message, reading, fields, answer=answer)}
    else:
        read = {"role": role, "content": _content_from_wire(message, role, reading)}
    if fields:
        read["provider_state"] = reading.endpoint.state(fields=fields)
    if lone_text(content):
        spellings["/content"] = {"word": LIST}
    keep_spellings(read, spellings, reading.endpoint, role)
    reading.must_compare = reading.must_compare or (answer and bool(spellings))
    return read


def keep_message(message: Message, raw: Wire, endpoint: Endpoint) -> None:
    """Keeps of the message of an answer what a request that holds it says otherwise."""
    writing = Writing({"messages": [message], "provider_state": endpoint.state()}, endpoint, Loss())
    written = message_to_wire(message, ("messages", 0), writing)
    keep_item(message, raw, written, endpoint, writing.loss.entries)


_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    SYSTEM: frozenset(("role", "content")),
    USER: frozenset(("role", "content")),
    ASSISTANT: frozenset(("role", "content", PLAN, "tool_calls", "citations")),
    TOOL: frozenset(("role", "content", "tool_call_id")),
}


def _content_from_wire(message: Wire, role: str, reading: Reading) -> list[Block]:
    """The blocks of `content`."""
    content = message.get("content")
    if not content and (role != ASSISTANT or not message.get("tool_calls")):
        reading.must_compare = True
    if content is None or content == "":
        return []
    if type(content) is str:
        return [{"type": "text", "text": content}]
    if type(content) is not list:
        raise TypeError("content")
    return [part_from_wire(part, reading, role) for part in content]


_TEXT_PART: Final = frozenset(("type", "text"))


def _assistant_from_wire(message: Wire, reading: Reading, fields: dict[str, Any], *, answer: bool) -> list[Block]:
    """The blocks of an assistant's message: parts, plan, calls; a text knows what it cites."""
    blocks = _content_from_wire(message, ASSISTANT, reading)
    parts = len(blocks)
    plan, calls = message.get(PLAN), message.get("tool_calls")
    if (plan is not None and type(plan) is not str) or (calls is not None and type(calls) is not list):
        raise TypeError("tool_calls")
    if answer or not calls:
        # a request says before calls what an answer says beside them
        empty = any(block["type"] == "text" and not block["text"] for block in blocks)
        reading.must_compare = reading.must_compare or empty or (bool(calls) and bool(blocks))
    else:
        for block in blocks:
            if block["type"] == "text":
                state = block.setdefault("provider_state", reading.endpoint.state())
                keep_spelling(state, "place", _BESIDE)
    if plan:
        encoding: dict[str, Any] = {"place": PLAN} if calls else {"place": PLAN, "alone": True}
        blocks.append({"type": "text", "text": plan, "provider_state": reading.endpoint.state(encoding=encoding)})
    if calls:
        blocks += [call_from_wire(call, reading) for call in calls]
    citations = message.get("citations")
    if citations and not citations_from_wire(citations, blocks, parts, bool(plan), reading):
        fields["citations"] = citations
    return blocks


_SILENT: Final = ("content", PLAN, "tool_calls", "citations")
"""Members that say nothing where they are empty, beside any other that is not."""


def _result_from_wire(message: Wire, reading: Reading) -> Message:
    wire_id = message["tool_call_id"]
    if type(wire_id) is not str:
        raise TypeError("tool_call_id")
    call, unknown = reading.result(wire_id)
    return result_message(call, _content_from_wire(message, TOOL, reading), reading, unknown)


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Writes all messages, and the documents of the user; the results of a turn stand behind it in the order of its calls.

    `read` are those of the request from which they were just read.
    Raises `InvalidRequest` for blocks that do not stand in a message of their role.
    """
    messages: list[Message] = request["messages"]
    order = arranged(messages, writing)
    wires: list[Wire] = []
    if request.get("system"):
        if parts := _parts(request["system"], ("system",), SYSTEM, writing):
            wires.append({"role": SYSTEM, "content": _content(parts)})
    for position in order:
        plain = plain_message(messages[position])
        wires.append(message_to_wire(messages[position], ("messages", position), writing) if plain is None else plain)
    body["messages"] = wires
    if writing.documents:
        _documents_to_wire(messages, body, writing)
    before = len(wires) - len(order)
    items = Items(messages, "messages", writing)
    wires[before:] = items.settled(wires[before:], [(position,) for position in order], read)
    report_moves(order, messages, writing)


def message_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    """A message, at its place in the request or, as an answer, in the response."""
    role = fold_role(message["role"], path, writing)
    content: list[Block] = message["content"]
    if role == TOOL:
        wire = _result_to_wire(message, path, writing)
    elif role == ASSISTANT:
        wire = _assistant_to_wire(content, (*path, "content"), writing)
    else:
        wire = {"role": role}
        if parts := _parts(content, (*path, "content"), role, writing):
            wire["content"] = _content(parts)
    if not writing.answering and len(wire) == 1:
        if role == USER and writing.documents:  # which may be read in this one
            wire["content"] = FILLER
            writing.emptied.append(int(path[1]))
        else:
            wire["content"] = writing.fill((*path, "content"))
    return wire if len(message) == 2 else finish(message, wire, OF_MESSAGE, writing, path)


def _parts(content: list[Block], path: Path, place: str, writing: Writing) -> list[Wire]:
    """The parts of a message; documents of the user stand beside the messages."""
    parts: list[Wire] = []
    for index, block in enumerate(content):
        where = (*path, index)
        if block["type"] == "document" and place == USER and writing.encoding_of(block).get("place") in (None, LISTED):
            try:
                if (document := listed_document(block, where, writing)) is not None:
                    writing.documents.append((int(path[1]), index, document))
            except Refused as refused:
                left = writing.placeholder_or_drop(block, where, refused)
                parts += [] if left is None else [left]
        elif (part := part_to_wire(block, where, writing, place)) is not None:
            parts.append(part)
    return parts


def _content(parts: list[Wire], *, answer: bool = False) -> Any:
    """The content of a message: a lone plain text is a string, but in an answer."""
    return parts if answer else lone_text(parts) or parts


# -- documents


def _documents_to_wire(messages: list[Message], body: Wire, writing: Writing) -> None:
    """Writes the documents of the user, and reports those that the model will not read where they stand."""
    last = last_of_user(messages)
    if last is None:
        return
    first = 0  # behind the documents that stand at the place of all
    content: list[Block] = messages[last]["content"]
    while first < len(content) and content[first]["type"] == "document":
        first += 1
    staying = [entry for entry in writing.documents if entry[0] == last and entry[1] < first]
    moving = [entry for entry in writing.documents if entry not in staying]
    cited = not _cites_nothing(writing)
    for position, index, _ in writing.documents:
        where = ("messages", position, "content", index, "citations_enabled")
        if cited and not messages[position]["content"][index].get("citations_enabled"):
            message = "the response cites all documents"
            writing.loss.replace(where, True, "required_default", "representation", message)
    # moved last of all: what an entry names must still stand in its place
    for position, index, _ in moving:
        message = "the model reads documents before the last user message"
        to = ("messages", last, "content", first)
        writing.loss.move(("messages", position, "content", index), to, "media_moved", "representation", message)
    body["documents"] = [document for _, _, document in [*staying, *moving]]
    for position in writing.emptied:
        before: list[Block] = []
        if position == last:
            reading = Reading(writing.endpoint)
            before = [document_from_wire(document, reading, LISTED) for document in body["documents"]]
            for block in before:
                if "fields" not in block["provider_state"]:
                    del block["provider_state"]
            before = [{**block, "citations_enabled": True} for block in before] if cited else before
        writing.fill(("messages", position, "content"), before=before)


def _cites_nothing(writing: Writing) -> bool:
    options = (writing.source.get("options") or NOTHING).get(NAME) or NOTHING
    return cites_nothing(options.get("citation_options"))


def cites_nothing(citation_options: Any) -> bool:
    """Whether the options of a request turn citations off."""
    return type(citation_options) is dict and citation_options.get("mode") in ("OFF", "DISABLED", "off", "disabled")


# -- an assistant's message


def _assistant_to_wire(content: list[Block], path: Path, writing: Writing) -> Wire:
    """An assistant's message: parts, the plan before calls, and calls."""
    calls = any(is_call(block, writing) for block in content)
    members: Members = {"content": [], PLAN: [], "tool_calls": []}
    for index, block in enumerate(content):
        where = (*path, index)
        if is_call(block, writing):
            members["tool_calls"].append((index, call_to_wire(block, where, writing)))
            continue
        if calls and block.get("text") == "" and writing.encoding_of(block).get("place") == _BESIDE:
            part: Wire | None = {"type": "text", "text": ""}  # which the provider takes, as recorded requests show
        else:
            part = part_to_wire(_uncited(block), where, writing, ASSISTANT)
        if part is None:
            continue
        before_calls = calls and not writing.answering
        if _is_planned(block, writing, calls=before_calls) or (before_calls and _stands_for_another(part, block)):
            members[PLAN].append((index, part["text"]))
        else:
            members["content"].append((index, part))
    wire: Wire = {"role": ASSISTANT}
    parts, plan = members["content"], members[PLAN]
    if parts or (writing.answering and not calls):
        wire["content"] = _content([part for _, part in parts], answer=writing.answering)
    if plan:
        wire[PLAN] = joined(plan)
        members[PLAN] = plan = as_one(plan, wire[PLAN], path, writing)
    if calls:
        wire["tool_calls"] = [call for _, call in members["tool_calls"]]
    cited = {index: content[index]["citations"] for index, _ in parts + plan if content[index].get("citations")}
    places = {index: place for place, (index, _) in enumerate(parts)}
    if citations := citations_to_wire(cited, places, path, writing):
        wire["citations"] = citations
    report_order(members, path, writing)
    return wire


def _is_planned(block: Block, writing: Writing, *, calls: bool) -> bool:
    """Whether a text is the plan: one that was read as such, and in a message that calls any that was read elsewhere."""
    if block["type"] != "text":
        return False
    place = writing.encoding_of(block).get("place")
    return (place == PLAN and (calls or writing.encoding_of(block).get("alone") or writing.answering)) or (
        calls and place not in (PLAN, _BESIDE)
    )


def _stands_for_another(part: Wire, block: Block) -> bool:
    """Whether a part is a text in the place of a block that was left out."""
    return part.keys() == _TEXT_PART and block["type"] != "text" and part is not block.get("value")


def _uncited(block: Block) -> Block:
    if "citations" not in block:
        return block
    return {name: value for name, value in block.items() if name != "citations"}


# -- results


def _result_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    block, where = result_of(message, path, NAME), (*path, "content", 0)
    parts = [
        part
        for index, inner in enumerate(block["content"])
        if (part := part_to_wire(inner, (*where, "content", index), writing, TOOL)) is not None
    ]
    wire: Wire = {"role": TOOL, "tool_call_id": writing.result_id(block)}
    wire["content"] = _content(result_parts(block, parts, "text", where, writing, FILLER))
    if len(block) > 3:
        report_beside(block, OF_RESULT, writing, where)
    return wire
