"""
Read and write messages.

An assistant message has parts, a plan next to its calls, and the calls, in this order. The provider accepts no text parts next to
calls: the text of the model before its calls is its plan. On every other wire this is an ordinary text.
"""

from typing import Any, Final

from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import LIST, Spellings, lone_text
from interlingua.adapters._engine.verbatim import Items, keep_item, keep_spellings
from interlingua.adapters._engine.writing import FILLER
from interlingua.adapters._history.messages import (
    OF_MESSAGE,
    OF_RESULT,
    Members,
    as_one,
    finish,
    fold_role,
    joined_texts,
    other_members,
    plain_message,
    read_messages,
    report_moves,
    report_order,
    report_rest,
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

PLAN: Final = "tool_plan"
"""The place of a text that was read as the plan."""
_IN_CONTENT: Final = "content"
"""The place of a text that was read from the content of a message with calls."""


# ---------------------------------------------------------------------------------------------- from the wire


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """Read all messages. Raises `InvalidWire` with a pointer to a message that cannot be read."""
    return read_messages(messages, message_from_wire, reading)


def message_from_wire(message: Wire, reading: Reading, *, answer: bool = False) -> Message:
    """Read a message by its role. The message of a response (`answer`) has parts where other messages have a text."""
    role: str = message["role"]
    known = _KNOWN[role]
    content = message.get("content")
    if len(message) == 2 and type(content) is str and content and role != TOOL and not answer:
        return {"role": role, "content": [{"type": "text", "text": content}]}  # most messages
    spellings: Spellings = {}
    for name, value in message.items():
        if not value and name in _SILENT and name in known:
            spellings[f"/{name}"] = {"raw": value}
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
    """Keep what was received in the message of a response, wherever a request that has this message writes it differently."""
    writing = Writing({"messages": [message], "provider_state": endpoint.state()}, endpoint, Loss())
    written = message_to_wire(message, ("messages", 0), writing)
    keep_item(message, raw, written, endpoint, writing.loss.entries)


_KNOWN: Final[dict[str, frozenset[str]]] = {
    SYSTEM: frozenset(("role", "content")),
    USER: frozenset(("role", "content")),
    ASSISTANT: frozenset(("role", "content", PLAN, "tool_calls", "citations")),
    TOOL: frozenset(("role", "content", "tool_call_id")),
}


def _content_from_wire(message: Wire, role: str, reading: Reading) -> list[Block]:
    """Read the blocks of `content`."""
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
    """Read the blocks of an assistant message: parts, plan, calls. Texts get their citations."""
    blocks = _content_from_wire(message, ASSISTANT, reading)
    parts = len(blocks)
    plan, calls = message.get(PLAN), message.get("tool_calls")
    if (plan is not None and type(plan) is not str) or (calls is not None and type(calls) is not list):
        raise TypeError("tool_calls")
    if answer or not calls:
        # next to calls, a response has text in its content, but a request has it in the plan
        empty = any(block["type"] == "text" and not block["text"] for block in blocks)
        reading.must_compare = reading.must_compare or empty or (bool(calls) and bool(blocks))
    else:
        for block in blocks:
            if block["type"] == "text":
                state = block.setdefault("provider_state", reading.endpoint.state())
                keep_spelling(state, "place", _IN_CONTENT)
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
"""The members that have no effect if they are empty and another member is not."""


def _result_from_wire(message: Wire, reading: Reading) -> Message:
    wire_id: Any = message["tool_call_id"]
    if type(wire_id) is not str:
        raise TypeError("tool_call_id")
    call = reading.take_call(wire_id)
    return result_message(call, _content_from_wire(message, TOOL, reading), reading, wire_id)


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: list[Wire] | None = None) -> None:
    """Write all messages, and the documents of the user. The results of a turn follow it in the order of its calls.

    `read` are the wire messages from which the messages were just read.
    Raises `InvalidRequest` for a block in a message of a role that cannot have it.
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
    """Write a message; `path` is its place in the request or, for the message of a response, in the response."""
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
        if role == USER and writing.documents:  # they may be read back into this message
            wire["content"] = FILLER
            writing.emptied.append(int(path[1]))
        else:
            wire["content"] = writing.fill((*path, "content"))
    return wire if len(message) == 2 else finish(message, wire, OF_MESSAGE, writing, path)


def _parts(content: list[Block], path: Path, place: str, writing: Writing) -> list[Wire]:
    """Write the parts of a message; documents of the user are listed next to the messages."""
    return writing.parts(_part_or_document if place == USER else part_to_wire, content, place, path)


def _part_or_document(block: Block, place: str, writing: Writing, path: Path) -> Wire | None:
    if block["type"] != "document" or writing.encoding_of(block).get("place") not in (None, LISTED):
        return part_to_wire(block, place, writing, path)
    if (document := listed_document(block, path, writing)) is not None:
        writing.documents.append((int(path[1]), int(path[3]), document))
    return None


def _content(parts: list[Wire], *, answer: bool = False) -> Any:
    """Return the content of a message: a single plain text is a string, except in a response."""
    return parts if answer else lone_text(parts) or parts


# -- documents


def _documents_to_wire(messages: list[Message], body: Wire, writing: Writing) -> None:
    """Write the documents of the user, and report those that the model will read in another place than theirs."""
    last = last_of_user(messages)
    if last is None:
        return
    first = 0  # the position after the documents that are already in the place of all documents
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
    # moves are reported last: the paths of the other entries must still be valid
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


# -- an assistant message


def _assistant_to_wire(content: list[Block], path: Path, writing: Writing) -> Wire:
    """Write an assistant message: parts, the plan before calls, and calls."""
    calls = any(is_call(block, writing) for block in content)
    members: Members = {"content": [], PLAN: [], "tool_calls": []}
    for index, block in enumerate(content):
        where = (*path, index)
        if is_call(block, writing):
            members["tool_calls"].append((index, call_to_wire(block, where, writing)))
            continue
        if calls and block.get("text") == "" and writing.encoding_of(block).get("place") == _IN_CONTENT:
            part: Wire | None = {"type": "text", "text": ""}  # the provider accepts it, as recorded requests show
        else:
            part = writing.or_placeholder(part_to_wire, _uncited(block), ASSISTANT, where)
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
        wire[PLAN] = joined_texts(plan)
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
    """Whether a text is the plan: a text that was read as the plan, and in a message with calls any text that was not read from the
    content next to calls."""
    if block["type"] != "text":
        return False
    place = writing.encoding_of(block).get("place")
    return (place == PLAN and (calls or writing.encoding_of(block).get("alone") or writing.answering)) or (
        calls and place not in (PLAN, _IN_CONTENT)
    )


def _stands_for_another(part: Wire, block: Block) -> bool:
    """Whether a part is a text that replaces a dropped block."""
    return part.keys() == _TEXT_PART and block["type"] != "text" and part is not block.get("value")


def _uncited(block: Block) -> Block:
    if "citations" not in block:
        return block
    return {name: value for name, value in block.items() if name != "citations"}


# -- results


def _result_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    block, where = result_of(message, path, NAME), (*path, "content", 0)
    parts = writing.parts(part_to_wire, block["content"], TOOL, (*where, "content"))
    wire: Wire = {"role": TOOL, "tool_call_id": writing.result_id(block)}
    wire["content"] = _content(result_parts(block, parts, "text", where, writing, FILLER))
    if len(block) > 3:
        report_rest(block, OF_RESULT, writing, where)
    return wire
