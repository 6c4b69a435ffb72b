"""
The list of items as messages: `input_to_wire` above `input_from_wire`.

A run of items that a model produced is one assistant message. Messages of other roles, and each result of a call, are
one item.
"""

from collections.abc import Container, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Final

from interlingua.adapters._engine.as_read import JSON_UNMENTIONED, PREFILL
from interlingua.adapters._engine.kit import NOTHING, UNREADABLE, Wire, arguments_text, malformed, state_of, within
from interlingua.adapters._engine.spelling import Spellings, lone_text
from interlingua.adapters._engine.verbatim import Items, came_of, keep_spellings, may_differ
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.envelope import MARK
from interlingua.adapters._history.messages import (
    OF_MESSAGE,
    OF_RESULT,
    finish,
    fold_role,
    plain_message,
    refuse_calls,
    report_moves,
    report_rest,
    result_message,
    result_parts,
)
from interlingua.adapters._history.order import arranged, note_disorder, result_of
from interlingua.adapters._openai.members import report_prefill
from interlingua.adapters._structured import is_any_json, mentions_json
from interlingua.adapters.openai_responses.built_in import FORMS, OUTPUTS, answered_call, listed
from interlingua.adapters.openai_responses.items import (
    ORIGIN_MEMBERS,
    is_message,
    is_of_others,
    item_from_wire,
    members_from_wire,
    turn_to_wire,
)
from interlingua.adapters.openai_responses.parts import KINDS, Block, part_from_wire, part_to_wire
from interlingua.adapters.openai_responses.tables import ELSEWHERE, NAME, Reading, Writing
from interlingua.adapters.openai_responses.tools import are_offered
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.ids import NamedIds
from interlingua.canonical.loss import Path

Item = dict[str, Any]
Message = dict[str, Any]
Request = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- to the wire


def input_to_wire(request: Request, writing: Writing, *, read: Reading | None = None) -> tuple[str | None, list[Wire]]:
    """Write the instructions, and all items in the order of the wire. `read` holds the items from which the messages
    were just read.

    Raises `InvalidRequest` for a conversation that is not valid in any order.
    """
    messages: list[Message] = request["messages"]
    system = _system_to_wire(request, writing)
    continued = is_continued(request, writing)
    stored = partial(_stored, messages, continued, writing.endpoint)
    order = arranged(messages, writing, by_turn=True, stored=stored)
    if writing.same_origin:
        writing.confused = _confused([messages[position] for position in order], writing)
    in_items, begins = _in_items(messages)
    items, of, silent = _messages_to_wire(request, order, begins, writing)
    came = Items(in_items, "messages", writing, _places(messages) if writing.loss.entries else None)
    if read is not None:
        made = [range(end - count, end) for count, end in zip(read.counts, accumulate(read.counts), strict=True)]
        came.keep(read.items, made, items, of)
    else:
        items = came.put_back(items, of, _reshaped(in_items, writing))
    items = [*system, *items]
    silent = [position for position in silent if not _is_back(position, messages[position], writing)]
    for position in silent:
        why = "a turn without items does not exist on this wire"
        writing.loss.drop(("messages", position), "empty_content", "representation", why)
    merges, last = _runs(messages, order, silent)
    if last is not None and not writing.same(PREFILL) and items[-1].get("role") == "assistant":
        report_prefill(last, writing)
    instructions: str | None = None
    alone = writing.same("messages") or (writing.same_origin and continued)
    hoisted = items and (len(items) > 1 or alone) and _are_instructions(items[0], request, writing)
    if hoisted and not _speak_json(request, writing):
        instructions = items.pop(0)["content"]
    report_moves(order, messages, writing, silent)
    # last of all: until here, the values that entries name must still be at their paths
    for position, to in merges:
        text = "neighbouring turns of the model are written as one run of items"
        writing.loss.merge(("messages", position), ("messages", to), "merged_turn", "representation", text)
    return instructions, items


def _system_to_wire(request: Request, writing: Writing) -> list[Wire]:
    """Write the instructions of the request as an item, if it has any."""
    if not request.get("system"):
        return []
    content = _content_to_wire(request["system"], ("system",), writing)
    return [{"role": "system", "content": writing.fill(("system",)) if content is None else content}]


def _messages_to_wire(
    request: Request, order: Sequence[int], begins: list[int], writing: Writing
) -> tuple[list[Wire], list[Sequence[int]], list[int]]:
    """Write the messages in their order. Return the items, for each of them the positions of what it holds (`begins`
    has the first position of each message), and the turns of the model without items."""
    items: list[Wire] = []
    of: list[Sequence[int]] = []
    silent: list[int] = []
    for position in order:
        message = request["messages"][position]
        path: Path = ("messages", position)
        if message["role"] == "assistant":
            written, positions = turn_to_wire(message, path, writing, request, begins[position])
            if len(message) > 2:  # a turn is no item of its own, so it has no members
                report_rest(message, OF_MESSAGE, writing, path)
            if not written:
                silent.append(position)
            items += written
            of += positions
        else:
            write = _result_to_wire if message["role"] == "tool" else _plain_to_wire
            items.append(write(message, path, writing))
            of.append((begins[position],))
    return items, of, silent


def _is_back(position: int, message: Message, writing: Writing) -> bool:
    """Whether a turn that was written without items has items after all: those that were read and are
    restored."""
    reported = {entry["path"] for entry in writing.loss.entries}
    return any(f"/messages/{position}/content/{index}" not in reported for index in range(len(message["content"])))


def _runs(messages: list[Message], order: Sequence[int], silent: list[int]) -> tuple[list[tuple[int, int]], int | None]:
    """Return the turns of the model that are written as one run, each with the first turn of its run, without turns
    that have no items; and the last turn, if the conversation ends with the model."""
    begun: int | None = None
    last: int | None = None
    merges: list[tuple[int, int]] = []
    for position in order:
        role: str = messages[position]["role"]
        if role != "assistant":
            begun = last = None
        elif position not in silent:
            if begun is None:
                begun = position
            else:
                merges.append((position, begun))
            last = position
    return merges, last


def _in_items(messages: list[Message]) -> tuple[list[Item], list[int]]:
    """Return what items can represent: the blocks of turns of the model and the messages of other roles; and for each
    message the position of its first one."""
    in_items: list[Item] = []
    begins: list[int] = []
    for message in messages:
        begins.append(len(in_items))
        role: str = message["role"]
        if role == "assistant":
            content: list[Item] = message["content"]
            in_items += content
        else:
            in_items.append(message)
    return in_items, begins


def _reshaped(in_items: list[Item], writing: Writing) -> list[int]:
    """Return the positions of blocks and messages that are written as items of other types than those that were read.
    If this was already so when one was read, its report shows it."""
    if not writing.reshaped:
        return []
    return [
        position
        for position, item in enumerate(in_items)
        if id(item) in writing.reshaped and "reported" not in (came_of(item, writing.endpoint) or NOTHING)
    ]


def _places(messages: list[Message]) -> list[str]:
    """Return the pointer of each of these."""
    places: list[str] = []
    for position, message in enumerate(messages):
        if message["role"] == "assistant":
            places += [f"/messages/{position}/content/{index}" for index in range(len(message["content"]))]
        else:
            places.append(f"/messages/{position}")
    return places


def _confused(messages: list[Message], writing: Writing) -> set[str]:
    """Return the calls with a shared wire id, where results paired by order alone would miss their calls after an
    edit."""
    reading = Reading(writing.endpoint, NamedIds())
    read: dict[
        str, tuple[str, str]
    ] = {}  # for each call, the canonical id that a reader would give it, and its wire id
    confused: set[str] = set()
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use" and isinstance(wire_id := writing.state_of(block).get("id"), str):
                read[block["id"]] = reading.call(wire_id), wire_id
            elif block["type"] == "tool_result" and (call := block["tool_use_id"]) in read:
                canonical, wire_id = read[call]
                if reading.take_call(wire_id) != canonical:
                    confused.add(wire_id)
    return {call for call, (_, wire_id) in read.items() if wire_id in confused}


def _speak_json(request: Request, writing: Writing) -> bool:
    """Whether the first message must stay among the items to provide the word JSON: the provider looks for the word
    only there, and no other message contains it (spec/2-requests.md#form-word)."""
    wanted: dict[str, Any] = request.get("response_format") or NOTHING
    if not is_any_json(wanted) or writing.same(JSON_UNMENTIONED, "response_format"):
        return False
    return not mentions_json([message["content"] for message in request["messages"][1:]])


def _are_instructions(item: Wire, request: Request, writing: Writing) -> bool:
    if item.get("role") != "system" or len(item) != 2 or not isinstance(item.get("content"), str):
        return False
    if not writing.same_origin:
        return True
    messages = request["messages"]
    return bool(messages) and writing.encoding_of(messages[0]).get("member") == "instructions"


def _stored(messages: list[Message], continued: bool, endpoint: Endpoint) -> frozenset[int]:
    """Return the results with calls that the provider stores: with the beginning of the conversation, or in items of
    its own tools that come before them."""
    provided: set[str] = set()
    stored: list[int] = []
    for position, message in enumerate(messages):
        content = message["content"]
        if message["role"] == "assistant":
            for block in content:
                if block["type"] == "opaque" and endpoint.owns(block):
                    call_id = block["value"].get("call_id")
                    if isinstance(call_id, str):
                        provided.add(call_id)
        elif message["role"] == "tool" and content and _is_stored(content[0], continued, provided, endpoint):
            stored.append(position)
    return frozenset(stored)


def _is_stored(result: Block, continued: bool, provided: set[str], endpoint: Endpoint) -> bool:
    wire_id = state_of(result, endpoint).get("id")
    return wire_id is not None and (continued or wire_id in provided)


def is_continued(request: Request, writing: Writing) -> bool:
    """Whether the provider stores the beginning of the conversation, or all of it."""
    if writing.from_another:  # what only the other provider stores is not named
        return False
    options = (request.get("options") or NOTHING).get(NAME) or NOTHING
    return any(options.get(name) for name in ELSEWHERE)


# -- system, developer and user messages


def _plain_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    role, content = message["role"], message["content"]
    if (plain := plain_message(message)) is not None:
        return plain
    if writing.dialect.get("developer_role") is False:
        role = fold_role(message["role"], path, writing)
    refuse_calls(content, path, writing)
    written = _content_to_wire(content, (*path, "content"), writing)
    wire: Wire = {"role": role}
    wire["content"] = writing.fill((*path, "content")) if written is None else written
    return wire if len(message) == 2 else _finish_message(message, wire, path, writing)


def _content_to_wire(content: list[Block], path: Path, writing: Writing) -> Any:
    """Write a string for a single plain text, else parts; None when nothing is left."""
    parts = writing.parts(part_to_wire, content, None, path)
    text = lone_text(parts, _WORDS)
    return (parts or None) if text is None else text


_WORDS: Final = ("input_text",)


def _finish_message(message: Message, wire: Wire, path: Path, writing: Writing) -> Wire:
    """Write what messages have besides content: an id, the provider's members, and the report of unsupported
    members."""
    if "id" in (state := writing.state_of(message)):
        wire["id"] = state["id"]
    return finish(message, wire, OF_MESSAGE, writing, path)


# -- results


def _result_to_wire(message: Message, path: Path, writing: Writing) -> Wire:
    block = result_of(message, path, NAME)
    trivial = len(message) == 2 or (len(message) == 3 and "metadata" in message)
    encoding = NOTHING if trivial else writing.encoding_of(message)
    kind: str = encoding.get(_KIND) or writing.calls.get(block["tool_use_id"]) or "function"
    if kind in FORMS:
        if (output := _output_to_wire(kind, block, (*path, "content", 0), writing)) is not None:
            return output if trivial else _finish_message(message, output, path, writing)
        writing.reshaped.add(id(message))
    wire: Wire = {"type": "custom_tool_call_output" if kind == "custom" else "function_call_output"}
    wire["call_id"] = writing.result_id(block)
    content = block["content"]
    if trivial and len(block) == 3 and len(content) == 1 and len(content[0]) == 2 and content[0]["type"] == "text":
        text: str = content[0]["text"]
        if not text.startswith(MARK):
            wire["output"] = text
            return wire
    where: Path = (*path, "content", 0)
    parts = writing.parts(part_to_wire, content, None, (*where, "content"))
    parts = result_parts(block, parts, "input_text", where, writing)
    lone = lone_text(parts, _WORDS)
    wire["output"] = parts if lone is None else lone
    if len(block) > 3:
        report_rest(block, OF_RESULT, writing, where)
    return wire if trivial else _finish_message(message, wire, path, writing)


def _output_to_wire(name: str, block: Block, path: Path, writing: Writing) -> Wire | None:
    """Write the client's result of a call of a built-in tool; None where the result item of that tool cannot express
    it."""
    content, failed = block["content"], bool(block.get("is_error"))
    only: Block = content[0] if len(content) == 1 else {"type": ""}
    lone: str | None = only["text"] if only["type"] == "text" and len(only) == 2 else None
    item: Wire = {"type": FORMS[name].output, FORMS[name].names: writing.result_id(block)}
    match name:
        case "local_shell" if lone is not None and not failed:
            item["output"] = lone
        case "shell" if lone is not None and not failed and (output := listed(lone)) is not None:
            item["output"] = output
        case "tool_search" if lone is not None and not failed and (tools := listed(lone)) is not None:
            if not are_offered(tools, writing):
                return None  # only this item would offer them
            item["tools"] = tools
        case "apply_patch" if lone is not None or not content:
            item["status"] = "failed" if failed else "completed"
            if lone is not None:
                item["output"] = lone
        case "computer" | "computer_use_preview" if only["type"] == "image" and not failed:
            reported = len(writing.loss.entries)
            try:
                screenshot = part_to_wire(only, None, writing, (*path, "content", 0))
            except Refused:
                del writing.loss.entries[reported:]  # this is reported when the result is written as that of a function
                return None
            item["output"] = {**screenshot, "type": "computer_screenshot"}
        case _:
            return None
    if len(block) > 3:
        report_rest(block, OF_RESULT, writing, path)
    return item


# ---------------------------------------------------------------------------------------------------- from the wire


def input_from_wire(
    instructions: str | None, items: Any, reading: Reading, *, continued: bool = False, passed: int = 0
) -> list[Message]:
    """Read all messages; `continued`: the provider stores the conversation before them. The first `passed` items are no
    messages.

    Raises `InvalidWire` with the pointer of the item that cannot be read.
    """
    messages: list[Message] = []
    if instructions is not None:
        state = reading.state(encoding={"member": "instructions"})
        messages.append(
            {"role": "system", "content": [{"type": "text", "text": instructions}], "provider_state": state}
        )
        reading.items.append({"role": "system", "content": instructions})
        reading.counts.append(1)
    if isinstance(items, str):
        reading.items.append({"role": "user", "content": items})
        reading.counts.append(1)
        return [*messages, {"role": "user", "content": [{"type": "text", "text": items}]}]
    if items is None:
        return messages
    if not isinstance(items, list):
        raise InvalidWire("input must be a string or a list", path="/input", adapter=NAME)
    reading.among(items)
    reading.items += items[passed:]
    plain = reading.endpoint.dialect.get("plain_reasoning") is True
    turn: list[Block] | None = None
    assistant_before = False
    disorder = False  # other items are between calls and their results
    position = 0
    try:
        for position, item in enumerate(items):  # an error names the position
            if position < passed:
                continue
            if is_of_others(item, reading):
                message = _message_from_wire(item, reading)
                disorder = disorder or (message["role"] != "tool" and bool(reading.open))
                messages.append(message)
                reading.counts.append(1)
                reading.must_compare = reading.must_compare or _ends_in_reasoning(turn)
                turn, assistant_before = None, False
                continue
            if turn is None:
                disorder = disorder or bool(reading.open)
            blocks = item_from_wire(item, reading, starts=assistant_before)
            reading.counts.append(len(blocks))
            is_a_message = "role" in item and is_message(item)
            assistant_before = is_a_message and blocks[0].get("value") is not item
            if is_a_message and item.get("id") is None and _ends_in_reasoning(turn):
                reading.must_compare = reading.must_compare or not plain  # the id of the reasoning would be left out
            if turn is None:
                turn = blocks
                messages.append({"role": "assistant", "content": turn})
            else:
                turn += blocks
    except UNREADABLE as problem:
        raise malformed("the item", ("input", position), NAME) from problem
    reading.must_compare = reading.must_compare or _ends_in_reasoning(turn)
    if may_differ(reading.must_compare or disorder or bool(reading.open)):
        stored = partial(_stored, messages, continued, reading.endpoint)
        note_disorder(messages, reading.state, by_turn=True, stored=stored)
    return messages


def _ends_in_reasoning(turn: list[Block] | None) -> bool:
    """Whether a turn ends in reasoning, with no item that it led to."""
    return turn is not None and bool(turn[-1]["type"] == "thinking")


_PLAIN: Final = frozenset(("type", "role", "content"))
_OUTPUT: Final = frozenset(("type", "call_id", "output"))


def _message_from_wire(item: Wire, reading: Reading) -> Message:
    kind = item.get("type")
    if kind == "function_call_output" or kind == "custom_tool_call_output":
        return _result_from_wire(item, reading)
    if kind in OUTPUTS:
        return _output_from_wire(item, reading)
    role = item["role"]
    if role == "developer" and reading.endpoint.dialect.get("developer_role") is False:
        reading.must_compare = True
    spellings: Spellings = {"/type": {"raw": kind}} if "type" in item else {}
    message: Message = {"role": role, "content": _content_from_wire(item, "content", reading, spellings)}
    if len(item) == 2 + ("type" in item) and "content" in item:
        keep_spellings(message, spellings, reading.endpoint, role)  # most messages
        return message
    return _finish(item, message, _PLAIN, spellings, reading)


def _content_from_wire(item: Wire, member: str, reading: Reading, spellings: Spellings) -> list[Block]:
    content = item.get(member)
    if type(content) is str:
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        if lone := lone_text(content, KINDS):
            spellings[f"/{member}"] = {"word": content[0]["type"]}
            return [{"type": "text", "text": lone}]
        blocks = [part_from_wire(part, reading) for part in content]
        reading.must_compare = reading.must_compare or not blocks or (len(blocks) == 1 and len(blocks[0]) == 2)
        return blocks
    if content is not None:
        raise TypeError(content)
    reading.must_compare = True
    return []


def _finish(item: Wire, message: Message, known: Container[str], spellings: Spellings, reading: Reading) -> Message:
    state: dict[str, Any] = message.get("provider_state") or reading.state()
    if fields := members_from_wire(item, known, state, spellings):
        state["fields"] = fields
    if not within(state, ORIGIN_MEMBERS):
        message["provider_state"] = state
    keep_spellings(message, spellings, reading.endpoint, item.get("role", ""))
    return message


def _result_from_wire(item: Wire, reading: Reading) -> Message:
    wire_id: str = item["call_id"]
    call = reading.take_call(wire_id)
    kind = "custom" if item["type"] == "custom_tool_call_output" else "function"
    is_known = call in reading.calls
    called = reading.calls[call][1] if is_known else "function"
    if len(item) == 3 and is_known and kind == called and type(item["output"]) is str:  # most results
        return result_message(call, [{"type": "text", "text": item["output"]}], reading, wire_id)
    spellings: Spellings = {}
    blocks = _content_from_wire(item, "output", reading, spellings)
    message = result_message(call, blocks, reading, wire_id)
    if (FORMS[called].answered or called if called in FORMS else called) != kind:
        message["provider_state"] = reading.state(encoding={_KIND: kind})
    return _finish(item, message, _OUTPUT, spellings, reading)


def _output_from_wire(item: Wire, reading: Reading) -> Message:
    """Read the client's result of a call of a built-in tool, which `answers` has recognised."""
    reading.must_compare = True
    wire_id = answered_call(item)
    call = reading.take_call(wire_id)
    is_known = call in reading.calls
    name = reading.calls[call][1] if is_known else OUTPUTS[item["type"]]
    content_member = "tools" if name == "tool_search" else "output"
    known = {"type", "call_id", content_member}
    match name:
        case "computer" | "computer_use_preview":
            blocks = [part_from_wire({**item["output"], "type": "input_image"}, reading)]
        case "apply_patch":
            blocks = [] if item.get("output") is None else [{"type": "text", "text": item["output"]}]
            known.add("status")
        case "local_shell":
            blocks = [{"type": "text", "text": item["output"]}]
            known.update(("id",) if item.get("call_id") is None else ())
        case _:
            blocks = [{"type": "text", "text": arguments_text(item[content_member])}]
            if name == "tool_search":
                reading.found.append(item["tools"])
    message = result_message(call, [], reading, wire_id)
    message["content"][0]["content"] = blocks  # without an envelope: the wire marks failures here
    if name == "apply_patch" and item["status"] == "failed":
        message["content"][0]["is_error"] = True
    known.update(member for member, value in item.items() if member in _IDLE or value == [])
    if not is_known or FORMS[name].answered:
        message["provider_state"] = reading.state(encoding={_KIND: name})
    return _finish(item, message, known, {}, reading)


_IDLE: Final = frozenset(("execution", "max_output_length"))
"""Members that repeat what the call states."""
_KIND: Final = "kind"
"""Spelling of a result: the kind of its call, where the call itself does not state it."""
