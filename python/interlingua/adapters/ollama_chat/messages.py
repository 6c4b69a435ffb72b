"""Messages: `message_to_wire`, then `message_from_wire`; their text, their results, and their order."""

from typing import Any, Final

from interlingua.adapters._content.media import document_as_text
from interlingua.adapters._engine.kit import NOTHING, Wire
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.spelling import Spellings, read_elements
from interlingua.adapters._engine.verbatim import Items, keep_item, keep_spellings
from interlingua.adapters._history.envelope import MARK
from interlingua.adapters._history.messages import (
    OF_MESSAGE,
    OF_OPAQUE,
    OF_RESULT,
    OF_TEXT,
    OF_THINKING,
    Members,
    as_one,
    finish,
    first_call,
    fold_role,
    joined_texts,
    misplaced,
    no_place,
    other_members,
    plain_message,
    read_messages,
    report_empty,
    report_moves,
    report_order,
    report_rest,
    result_message,
    result_parts,
)
from interlingua.adapters._history.order import Order, are_paired, arranged, result_of
from interlingua.adapters.ollama_chat.blocks import answered_image, image_from_wire, image_to_wire
from interlingua.adapters.ollama_chat.tables import CALLS, NAME, Writing
from interlingua.adapters.ollama_chat.tools import call_from_wire, call_to_wire
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import NamedIds
from interlingua.canonical.loss import Loss, Path, pointer

Block = dict[str, Any]
Message = dict[str, Any]


# ---------------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], writing: Writing, *, read: list[Wire] | None = None) -> list[Wire]:
    """Write all messages. The results of a turn follow it in the order of its calls.

    `read` contains the wire messages from which the canonical messages were just read.
    Raises `InvalidRequest` for blocks that are not in a message of their role.
    """
    messages: list[Message] = request["messages"]
    body: list[Wire] = []
    if request.get("system"):
        body.append(_members_to_wire(request["system"], ("system",), "system", writing))
    order = arranged(messages, writing)
    before = list(writing.loss.entries)
    wires = _written(messages, order, writing)
    items, of = Items(messages, "messages", writing), [(position,) for position in order]
    found = items.settled(wires, of, read)
    if read is None and any(map(_lacks_an_id, found)):
        again = messages_from_wire(found, Reading(writing.endpoint, NamedIds()))
        if not are_paired(again, [messages[position] for position in order]):
            _refuse_doubled(messages)
            without_ids = {position for position, wire in zip(order, found, strict=True) if _lacks_an_id(wire)}
            writing.begin_with_ids(before)
            found = items.put_back(_written(messages, order, writing), of, without_ids)
    report_moves(order, messages, writing)
    return [*body, *found]


def _refuse_doubled(messages: list[Message]) -> None:
    """Raise `InvalidRequest` for a result without call and id that would be read as the result of another call."""
    calls = {block["id"] for message in messages for block in message["content"] if block["type"] == "tool_use"}
    for position in range(len(messages) - 1, -1, -1):
        if messages[position]["role"] == "tool" and messages[position]["content"][0]["tool_use_id"] not in calls:
            why = "this result was read without a call, and would now be read as the result of another call"
            where = ("messages", position, "content", 0, "tool_use_id")
            raise InvalidRequest(why, path=pointer(where), adapter=NAME)


def _lacks_an_id(wire: Wire) -> bool:
    """Whether a message has a call or a result without an id, which is then paired by name or position."""
    if wire["role"] == "tool":
        return type(wire.get("tool_call_id")) is not str
    return any(type(call) is dict and type(call.get("id")) is not str for call in wire.get(CALLS) or ())


def _written(messages: list[Message], order: Order, writing: Writing) -> list[Wire]:
    """Write the messages by the rules of the wire."""
    body: list[Wire] = []
    for position in order:
        plain = plain_message(messages[position])
        body.append(message_to_wire(messages[position], ("messages", position), writing) if plain is None else plain)
    return body


def keep_message(message: Message, raw: Wire, endpoint: Endpoint) -> None:
    """Keep from the message of a response what a request that contains the message spells differently."""
    writing = Writing({"messages": [message], "provider_state": endpoint.state()}, endpoint, Loss())
    written = message_to_wire(message, ("messages", 0), writing)
    keep_item(message, raw, written, endpoint, writing.loss.entries)


def message_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    """Write a message. `path` is its place in the request or, for the message of a response, in the response."""
    role, content = message["role"], message["content"]
    if role == "assistant" and len(message) == 2 and (begin := first_call(content)) >= 0:
        text: str = content[0]["text"] if begin else ""
        calls = [call_to_wire(content[n], (*path, "content", n), writing) for n in range(begin, len(content))]
        return {"role": role, "content": text, CALLS: calls} if calls else {"role": role, "content": text}
    role = fold_role(message["role"], path, writing)
    if role == "tool":
        wire = _result_to_wire(message, path, writing)
    else:
        wire = _members_to_wire(content, (*path, "content"), role, writing)
    trivial = len(message) == 2 or (len(message) == 3 and "metadata" in message)
    return wire if trivial else finish(message, wire, OF_MESSAGE, writing, path)


def _members_to_wire(content: list[Block], path: Path, role: str, writing: Writing) -> Wire:
    """Write a message from its members: one text, reasoning, images, calls."""
    members = _sorted(content, path, role, writing)
    text = _one_text(members, path, writing, goes_on=role == "assistant", alone=not writing.answering)
    wire: Wire = {"role": role, "content": text or ""}
    if members["thinking"]:
        wire["thinking"] = members["thinking"][0][1]
    for name in ("images", CALLS):
        if members[name]:
            wire[name] = [value for _, value in members[name]]
    if text is None and len(wire) == 2 and not writing.answering:
        writing.fill(path, "")
    return wire


def _sorted(content: list[Block], path: Path, role: str, writing: Writing) -> Members:
    """Sort the blocks into the members of the wire message; report those that have no place there."""
    members: Members = {"thinking": [], "images": [], "content": [], CALLS: []}
    for index, block in enumerate(content):
        found = writing.or_placeholder(_member, block, role, (*path, index))
        if found is not None:
            for name, value in found.items():
                members[name].append((index, value))
    return members


def _member(block: Block, role: str, writing: Writing, path: Path) -> Wire:
    """Write a block as an object that has only its member of the message. Raises `Refused` for a block without a
    place."""
    assistant = role == "assistant"
    match block["type"]:
        case "text":
            if len(block) > 2:
                report_rest(block, OF_TEXT, writing, path)
            return {"content": block["text"]}
        case "document" if (
            not assistant and (text := document_as_text(block, path, writing.loss, takes_bytes=False)) is not None
        ):
            report_rest(text, OF_TEXT, writing, path)
            return {"content": text["text"]}
        case "image":
            return {"images": image_to_wire(block, path, writing)}
        case "tool_use" if assistant:
            return {CALLS: call_to_wire(block, path, writing)}
        # reasoning of another provider is not replayed in a request, but it is shown in a response
        case "thinking" if assistant and (
            writing.answering or not block.get("provider_state") or writing.state_of(block)
        ):
            report_rest(block, OF_THINKING, writing, path)
            return {"thinking": block["text"]}
        case "opaque" if (item := _raw_item(block, role, writing)) is not None:
            report_rest(block, OF_OPAQUE, writing, path)
            return {block["kind"]: item[0]}
        case "tool_use" | "tool_result" if role != "tool":
            raise misplaced(block, path, writing)
        case _:
            raise no_place(block, writing)


def _one_text(members: Members, path: Path, writing: Writing, *, goes_on: bool, alone: bool) -> str | None:
    """Return the one text, None when there is none. Join several texts, and report the order of all members.

    An empty text is left out unless it is `alone`.
    """
    members["thinking"] = _joined(members["thinking"], path, writing, goes_on=goes_on, alone=False)
    alone = alone and not (members["images"] or members["thinking"] or members[CALLS])
    members["content"] = texts = _joined(members["content"], path, writing, goes_on=goes_on, alone=alone)
    report_order(members, path, writing)
    return texts[0][1] if texts else None


def _joined(
    texts: list[tuple[int, Any]], path: Path, writing: Writing, *, goes_on: bool, alone: bool
) -> list[tuple[int, Any]]:
    """Return at most one text. An empty text is left out unless it is `alone`."""
    if not texts or (len(texts) == 1 and (texts[0][1] or alone)):
        return texts
    with_text = [pair for pair in texts if pair[1]]
    kept = with_text or (texts[:1] if alone else [])
    for index, text in texts:
        if not text and not (kept and kept[0][0] == index):
            report_empty(index, path, writing)
    if len(kept) < 2:
        return kept
    whole = joined_texts(kept) if goes_on else "\n\n".join([text for _, text in kept])
    as_one(kept, whole, path, writing)
    return [(kept[0][0], whole)]


# -- items that could not be read, and results


def _raw_item(block: Block, role: str, writing: Writing) -> tuple[Any] | None:
    """Return the item that could not be read and is restored at its place; None for any other block."""
    if not writing.endpoint.owns(block):
        return None
    value, reading = block["value"], Reading(writing.endpoint)
    match block.get("kind"):
        case "tool_calls" if role == "assistant" and call_from_wire(value, reading)["type"] == "opaque":
            return (value,)
        case "images" if value.keys() == {"image"} and image_from_wire(value["image"], reading)["type"] == "opaque":
            return (value["image"],)
        case _:
            return None


def _result_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    block, where = result_of(message, path, NAME), (*path, "content", 0)
    inner = block["content"]
    images: list[Any] = []
    if len(inner) == 1 and len(inner[0]) == 2 and inner[0]["type"] == "text":
        text: str | None = inner[0]["text"]
    else:
        members = _sorted(inner, (*where, "content"), "tool", writing)
        text = _one_text(members, (*where, "content"), writing, goes_on=False, alone=True)
        images = [image for _, image in members["images"]]
    wire: Wire = {"role": "tool", "content": text}
    if text is None or text.startswith(MARK) or block.get("is_error"):
        silent = text is None and (not images or bool(block.get("is_error")))
        parts: list[Wire] = [] if silent else [{"type": "text", "text": text or ""}]
        wire["content"] = result_parts(block, parts, "text", where, writing)[0]["text"]
    if images:
        wire["images"] = images
    state = writing.state_of(message)
    name = (state.get("fields") or NOTHING).get("tool_name", writing.names.get(block["tool_use_id"]))
    if name is not None:
        wire["tool_name"] = name
    if (wire_id := writing.known_result_id(block)) is not None:
        wire["tool_call_id"] = wire_id
    if len(block) > 3:
        report_rest(block, OF_RESULT, writing, where)
    return wire


# ---------------------------------------------------------------------------------------------------- from the wire


_ROLES: Final = ("system", "user", "assistant", "tool")


def messages_from_wire(messages: Any, reading: Reading) -> list[Message]:
    """Read all messages. Raises `InvalidWire` with the pointer of the message that cannot be read."""
    return read_messages(messages, message_from_wire, reading)


def message_from_wire(message: Wire, reading: Reading) -> Message:
    """Read a message by its role. The server ignores the case of the role."""
    written = message["role"]
    role: str = written if written in _ROLES else written.lower()
    if role not in _ROLES:
        raise ValueError(role)
    if role == "assistant":
        reading.turn()
    content = message.get("content")
    reading.must_compare = reading.must_compare or role != written or type(content) is not str
    if len(message) == 2 and type(content) is str and role != "tool":
        return {"role": role, "content": [{"type": "text", "text": content}]}
    if role == "tool":
        return _result_from_wire(message, reading)
    known = _ASSISTANT if role == "assistant" else _PLAIN
    spellings: Spellings = {f"/{name}": {"raw": message[name]} for name in _LISTS if not message.get(name, True)}
    read: Message = {"role": role, "content": _blocks(message, role, reading, spellings)}
    return _finish(read, other_members(message, known, spellings), spellings, reading)


def answer_from_wire(message: Wire, reading: Reading) -> Message:
    """Read the message of a response: an empty text is an empty answer, and the role is always the assistant's."""
    readable = message.get("role") == "assistant" and type(message.get("content")) is str
    reading.must_compare = reading.must_compare or not readable or not all(message.get(name, True) for name in _LISTS)
    spellings: Spellings = {}
    read = {"role": "assistant", "content": _blocks(message, "assistant", reading, spellings, answer=True)}
    fields = other_members(message, _ASSISTANT, spellings)
    reading.must_compare = reading.must_compare or bool(spellings)
    return _finish(read, fields, {}, reading)


_LISTS: Final = ("thinking", "images", "tool_calls")
_PLAIN: Final = frozenset(("role", "content", "images"))
_ASSISTANT: Final = _PLAIN | {"thinking", "tool_calls"}
_TOOL: Final = _PLAIN | {"tool_name", "tool_call_id"}


def _finish(read: Message, fields: dict[str, Any], spellings: Spellings, reading: Reading) -> Message:
    if fields:
        read["provider_state"] = reading.endpoint.state(fields=fields)
    keep_spellings(read, spellings, reading.endpoint, read["role"])
    return read


def _blocks(message: Wire, role: str, reading: Reading, spellings: Spellings, *, answer: bool = False) -> list[Block]:
    """Read thinking, images, text and calls. Members of a call without an effect are stored in `spellings`."""
    blocks: list[Block] = []
    calls = None
    if role == "assistant":
        calls = message.get("tool_calls")
        if thinking := message.get("thinking"):
            if not isinstance(thinking, str):
                raise TypeError(thinking)
            blocks.append({"type": "thinking", "text": thinking, "provider_state": reading.endpoint.state()})
    read = answered_image if answer else image_from_wire
    blocks += [read(image, reading) for image in _list(message.get("images") or [])]
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise TypeError(content)
    if content or (content == "" and not (blocks or calls or answer)):
        blocks.append({"type": "text", "text": content})
    return blocks + read_elements(call_from_wire, _list(calls or []), reading, CALLS, "type", spellings)


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(value)
    return value


def _result_from_wire(message: Wire, reading: Reading) -> Message:
    wire_id, name = message.get("tool_call_id"), message.get("tool_name")
    named = name if name is not None else message.get("name")  # older clients send this member
    for item in (wire_id, name):
        if item is not None and not isinstance(item, str):
            raise TypeError(item)
    call = reading.take_call(wire_id, named if isinstance(named, str) else None)
    known_id, called = reading.calls.get(call, ("", None))
    usual = wire_id is not None or (known_id is None and "tool_call_id" not in message)
    reading.must_compare = reading.must_compare or not usual or name is None or not message.get("images", True)
    spellings: Spellings = {}
    fields = other_members(message, _TOOL, spellings)
    if name is not None and name != called:
        fields["tool_name"] = name
    blocks = _blocks(message, "tool", reading, {})
    read = result_message(call, blocks[-1:], reading, wire_id)
    block: Block = read["content"][0]
    block["content"] = blocks[:-1] + block["content"]  # images precede the text
    return _finish(read, fields, spellings, reading)
