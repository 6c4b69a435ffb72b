"""
Items that a model said: `turn_to_wire` above `item_from_wire`.

A message item is one text block for each of its parts; a call, a reasoning item and every other item is one block. What
belongs to the item and not to the part (id, status, phase) stands with the first block of the item.
"""

import hashlib
from collections.abc import Container, Mapping
from copy import deepcopy
from typing import Any, Final, Literal

from interlingua.adapters._built_in import BUILT_IN
from interlingua.adapters._kit import (
    CALL_MEMBERS,
    NOTHING,
    THINKING_MEMBERS,
    Wire,
    arguments_text,
    keep,
    report_own_state,
    report_unknown,
    within,
)
from interlingua.adapters._openai_calls import arguments_to_wire, custom_input, read_arguments
from interlingua.adapters._openai_parts import opaque
from interlingua.adapters.openai_responses.built_in import (
    CALLS,
    FORMS,
    OUTPUTS,
    answered,
    answered_call,
    call_members,
    called,
    is_one_of,
    ran,
)
from interlingua.adapters.openai_responses.parts import (
    MARK,
    TEXT,
    Block,
    lost,
    own_part,
    report_opaque,
    report_reading,
    text_kind,
)
from interlingua.adapters.openai_responses.tables import BETWEEN, NAME, Answers, Reading, Writing, report_state
from interlingua.adapters.openai_responses.tools import DEFAULT, NAMESPACE, call_namespace, joined, own_name
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path, pointer

# ---------------------------------------------------------------------------------------------------- to the wire


class _Turn:
    """The items of one assistant message, as far as they are written."""

    __slots__ = ("items", "open", "parts", "path", "reasoning", "request", "writing")

    def __init__(self, path: Path, writing: Writing, request: dict[str, Any]) -> None:
        self.path = path
        self.writing = writing
        self.request = request
        self.items: list[Wire | None] = []
        self.open: Wire | None = None
        self.parts = False
        self.reasoning: list[tuple[int, int, Block]] = []

    def close(self) -> None:
        """Ends the message item that takes parts: one plain text is written as a string, unless it was not."""
        item = self.open
        self.open = None
        if item is not None and not self.parts and not self.writing.answer:
            content = item["content"]
            if len(content) == 1 and len(content[0]) == 2 and content[0].get("type") == "output_text":
                item["content"] = content[0]["text"]

    def add(self, item: Wire) -> None:
        """An item of its own."""
        if self.open is not None:
            self.close()
        self.items.append(item)

    def say(self, part: Wire, block: Block) -> None:
        """A part of a message item: of the open one, or of a new one where the block began one."""
        state = self.writing.owned(block) if len(block) > 2 else NOTHING
        encoding = state.get("encoding") or NOTHING
        if self.open is None or (state and _begins(state, encoding)):
            self.close()
            # what came from nowhere, or was put into an answer of this wire, has all that an item of an answer has
            made = self.writing.answer or (self.writing.reply and not state)
            item: Wire = {"role": "assistant", "content": []}
            if encoding.get("typed") or made:
                item["type"] = "message"
            if state:
                _item_members(item, state, encoding, _OF_PARTS.union(encoding.get("of_parts", ())))
                for name in encoding.get("of_item", ()):
                    item[name] = item.pop(f"item/{name}")
            if made:
                item.setdefault("id", made_id("msg_", self.writing.identity, block.get("text", ""), len(self.items)))
                item.setdefault("status", "completed")
                if part.get("type") == "output_text":
                    part.setdefault("annotations", [])
                    part.setdefault("logprobs", [])
            self.parts = made or bool(encoding.get("parts"))
            self.open = item
            self.items.append(item)
        self.open["content"].append(part)


def _begins(state: Mapping[str, Any], encoding: Mapping[str, Any]) -> bool:
    """Whether a block is the first of a message item: only that one has what belongs to the item."""
    if "id" in state or encoding.get("starts") or "status" in encoding:
        return True
    of_parts = encoding.get("of_parts", ())
    return any(name not in _OF_PARTS and name not in of_parts for name in state.get("fields") or ())


def _item_members(
    item: Wire, state: Mapping[str, Any], encoding: Mapping[str, Any], of_parts: Container[str] = frozenset()
) -> None:
    """Writes what belongs to an item; `of_parts` names the fields that belong to its parts."""
    for name, value in (state.get("fields") or NOTHING).items():
        if name not in of_parts:
            item.setdefault(name, value)
    if "id" in state:
        item["id"] = state["id"]
    if "status" in encoding:
        item["status"] = encoding["status"]
    for name, value in encoding.get("nulls", NOTHING).items():
        item.setdefault(name, value)


_OF_PARTS: Final = frozenset(("annotations", "logprobs"))
"""Members that only parts have; the form tells which others stood there."""


def made_id(prefix: str, *said: Any) -> str:
    """An id for an item that has none: the same item in the same place of the same answer gets the same id."""
    return prefix + hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def turn_to_wire(message: dict[str, Any], path: Path, writing: Writing, request: dict[str, Any]) -> list[Wire]:
    """The items of an assistant message."""
    content = message["content"]
    if not writing.answer:
        if (plain := _plain_turn(content, path, writing, request)) is not None:
            return plain
    turn = _Turn(path, writing, request)
    for index, block in enumerate(content):
        if len(block) == 2 and block["type"] == "text" and turn.open is not None:
            turn.open["content"].append(_said_to_wire(block, path, writing))
        else:
            _block_to_wire(block, index, turn)
    turn.close()
    if turn.reasoning and not writing.reply:
        _settle_reasoning(turn)
    return [item for item in turn.items if item is not None]


def _plain_turn(content: list[Block], path: Path, writing: Writing, request: dict[str, Any]) -> list[Wire] | None:
    """The turn that most are: a text, calls, or calls behind a text. None for any other."""
    items: list[Wire] = []
    first = content[0] if content else None
    if first is not None and first["type"] == "text":
        if len(first) > 2:
            return None
        items.append({"role": "assistant", "content": first["text"]})
    texts = len(items)
    for index in range(texts, len(content)):
        if content[index]["type"] != "tool_use":
            return None
    for index in range(texts, len(content)):
        items.append(_call_to_wire(content[index], index, path, writing, request))
    return items


def _block_to_wire(block: Block, index: int, turn: _Turn) -> None:
    writing, path = turn.writing, (*turn.path, "content", index)
    kind = block["type"]
    if kind == "text":
        turn.say(_said_to_wire(block, path, writing), block)
    elif kind == "tool_use":
        turn.add(_call_to_wire(block, index, turn.path, writing, turn.request))
    elif kind == "thinking" and (item := _reasoning_to_wire(block, path, turn)) is not None:
        turn.add(item)
        turn.reasoning.append((len(turn.items) - 1, index, block))
    elif kind == "tool_result":
        raise InvalidRequest("a tool_result stands in a tool message", path=pointer(path), adapter=NAME)
    elif kind == "opaque" and writing.encoding_of(block).get("part"):
        part = own_part(block, path, writing, assistant=True)
        if part is not None:
            turn.say(part, block)
    elif kind == "opaque" and writing.endpoint.owns(block):
        _opaque_to_wire(block, path, turn)
    else:
        _lost_block(block, path, turn)


def _lost_block(block: Block, path: Path, turn: _Turn) -> None:
    """A block that has no form among what a model says."""
    match block["type"]:
        case "thinking" | "redacted_thinking":
            foreign = bool(block.get("provider_state")) and not turn.writing.owned(block)
            code = "foreign_state" if foreign else "unsupported_block"
            message = (
                "reasoning of another provider is not replayed" if foreign else "the wire has no place for reasoning"
            )
        case "opaque":
            code, message = "foreign_state", "an item of another provider has no form here"
        case "image" | "audio" | "video" | "document":
            code, message = "unsupported_block", f"{block['type']} has no form in a message of this role"
        case _:
            code, message = "unknown_block", "a block of a type that this version does not know"
    _leave(block, path, turn, code, message)


def _leave(block: Block, path: Path, turn: _Turn, code: str, message: str) -> None:
    part = lost(block, path, turn.writing, code, message)
    if part is not None:
        text = {"type": "text", "text": part["text"]}
        turn.say({"type": "output_text", "text": part["text"]}, text)


def _opaque_to_wire(block: Block, path: Path, turn: _Turn) -> None:
    """An item of the provider. One that would be read back as several blocks, or as no block, has no place."""
    value, writing = block["value"], turn.writing
    reading = Reading(writing.endpoint)
    canonical: str | None = None
    if (is_one_of(value, CALLS) or is_one_of(value, OUTPUTS)) and isinstance(call_id := answered_call(value), str):
        reading.ran, apart, results = _answers_apart(turn)
        if call_id in apart and call_id not in reading.ran and not writing.reply:
            message = "calls that the client runs, and what it answers, are calls and results"
            _leave(block, path, turn, "unsupported_value", message)
            return
        canonical = results.get(call_id)
    read = item_from_wire(value, reading, starts=False)
    if canonical is not None and read is not None and read[0]["type"] == "tool_use":
        read[0]["id"] = canonical
    if read is None and turn.writing.reply:
        read = [_whole(value, reading)]  # nobody but the model speaks in an answer
    if read is None or len(read) != 1:
        _leave(block, path, turn, "unsupported_value", "the item is no item of a model's turn")
        return
    report_reading(block, read[0], path, turn.writing)
    report_opaque(block, path, turn.writing)
    turn.add(value)
    if isinstance(call_id := value.get("call_id"), str):
        turn.writing.calls.setdefault(call_id, "provider")


def _answers_apart(turn: _Turn) -> Answers:
    """What answers calls that are kept whole: the wire ids of the calls that the provider has run, of those whose output is
    an item that is kept whole as well, and, by the wire id of the call, the canonical ids that results name."""
    writing = turn.writing
    if writing.answers is None:
        outputs: list[Wire] = []
        results: dict[Any, str] = {}
        for message in turn.request["messages"]:
            for block in message["content"]:
                if block["type"] == "opaque" and writing.endpoint.owns(block) and is_one_of(block["value"], OUTPUTS):
                    outputs.append(block["value"])
                elif block["type"] == "tool_result" and "provider_state" in block:
                    results[writing.owned(block).get("id")] = block["tool_use_id"]
        named = [answered_call(item) for item in outputs]
        apart = {wire_id for wire_id in named if isinstance(wire_id, str)} - _unreadable_calls(turn)
        writing.answers = ran(outputs), apart, results
    return writing.answers


def _unreadable_calls(turn: _Turn) -> set[str]:
    """The wire ids of the calls that are kept whole because they cannot be read as calls: their outputs are kept whole, too."""
    found: set[str] = set()
    for message in turn.request["messages"]:
        for block in message["content"]:
            if block["type"] == "opaque" and turn.writing.endpoint.owns(block) and is_one_of(block["value"], CALLS):
                read = item_from_wire(block["value"], Reading(turn.writing.endpoint), starts=False)
                call_id = answered_call(block["value"])
                if isinstance(call_id, str) and read is not None and read[0]["type"] == "opaque":
                    found.add(call_id)
    return found


# -- text


def _said_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    part: Wire
    if block.get("refusal"):
        part = {"type": "refusal", "refusal": block["text"]}
    else:
        part = {"type": text_kind(block, "output_text", writing), "text": block["text"]}
        if writing.answer:
            part |= {"annotations": [], "logprobs": []}
    if len(block) == 2:
        return part
    state = writing.owned(block)
    encoding = state.get("encoding") or NOTHING
    if block.get("citations"):
        if not block.get("refusal") and all(writing.owned(citation) for citation in block["citations"]):
            part["annotations"] = [_annotation_to_wire(citation) for citation in block["citations"]]
            for position, citation in enumerate(block["citations"]):
                report_unknown(citation, _CITATION, writing.loss, (*path, "citations", position))
        else:
            message = "citations of another provider have no form on this wire"
            writing.loss.drop((*path, "citations"), "unsupported_field", "weakened", message)
    if block.get("cache") is not None:
        MARK.write(block["cache"], part, encoding, (*path, "cache"), writing)
    if state:
        of_parts = encoding.get("of_parts", ())
        for name, value in (state.get("fields") or NOTHING).items():
            if name in _OF_PARTS or name in of_parts:
                part[name] = value
        for name, value in encoding.get("empty", NOTHING).items():
            part.setdefault(name, value)
    report_state(block, writing, path)
    report_unknown(block, TEXT, writing.loss, path)
    return part


def _annotation_to_wire(citation: Mapping[str, Any]) -> Wire:
    said = {name: citation[name] for name in _CITED if name in citation}
    return {**citation["provider_state"].get("fields", NOTHING), "type": citation["type"], **said}


_CITED: Final = ("url", "title", "start_index", "end_index")
_CITATION: Final = frozenset((*_CITED, "type", "provider_state"))


# -- calls


def _call_to_wire(block: Block, index: int, turn: Path, writing: Writing, request: dict[str, Any]) -> Wire:
    """A call; `turn` is the path of its message, `index` its position there."""
    encoding = _spelling(block, writing)
    if BUILT_IN in encoding and (item := _built_in_to_wire(block, encoding, (*turn, "content", index), writing)):
        return item
    namespace, name = _name_to_wire(block, encoding, (*turn, "content", index), writing)
    state = block.get("provider_state")
    if (
        namespace is None
        and not writing.answer
        and within(block, _SIMPLE_CALL)
        and (state is None or within(state, _SIMPLE_STATE))
    ):
        call_id = writing.call_id(block, NOTHING if state is None else writing.owned(block))
        arguments = arguments_text(block["input"])
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}
    item = _odd_call_to_wire(block, name, (*turn, "content", index), writing)
    if namespace is not None:
        item[NAMESPACE] = namespace
    return item


def _spelling(block: Block, writing: Writing) -> Mapping[str, Any]:
    """How a call is spelt: as it was read, or as whoever is answered spells the tool."""
    encoding = writing.encoding_of(block)
    if NAMESPACE in encoding or BUILT_IN in encoding or not writing.reply:
        return encoding
    offered = writing.endpoint.spellings.get(block["name"]) or NOTHING
    return NOTHING if offered.get(NAMESPACE) == DEFAULT else offered  # clients know its tools by their names alone


def is_built_in(block: Block, writing: Writing) -> bool:
    """Whether a call is one of a built-in tool, as far as can be known while its arguments are not whole."""
    return block["type"] == "tool_use" and BUILT_IN in _spelling(block, writing)


def _built_in_to_wire(block: Block, encoding: Mapping[str, Any], path: Path, writing: Writing) -> Wire | None:
    """A call of a built-in tool; None where its arguments cannot be said so: then it is the call of a function."""
    name: str = block["name"]
    form = FORMS.get(name)
    if (
        form is None
        or encoding[BUILT_IN] != name
        or block.get("kind") == "custom"
        or block.get("input_raw") is not None
    ):
        return None
    arguments = {
        **(deepcopy(form.filled) if writing.answer else NOTHING),
        **dict.fromkeys(encoding.get("unset", ())),
        **block["input"],
    }
    members = call_members(name, arguments)
    if members is None:
        return None
    state = writing.owned(block) if "provider_state" in block else NOTHING
    call_id = writing.call_id(block, state)
    writing.calls[block["id"]] = form.answered or name
    item: Wire = {"type": form.call, "call_id": call_id, **members}
    if "item_id" in encoding:
        item["id"] = encoding["item_id"]
    elif writing.answer:
        item["id"] = made_id(form.prefix, writing.identity, call_id)
    item |= deepcopy(form.made) if writing.answer else encoding.get("idle") or NOTHING
    if state:
        _item_members(item, {"fields": state.get("fields")}, encoding)
    if writing.answer:
        item.setdefault("status", "completed")
    _report_call(block, state, path, writing)
    return item


def _name_to_wire(block: Block, encoding: Mapping[str, Any], path: Path, writing: Writing) -> tuple[str | None, str]:
    """The namespace of a call, where it has one here, and its name."""
    name = own_name(block["name"], encoding, writing) if encoding else None
    if name is not None:
        return encoding[NAMESPACE], name
    name = writing.told_name(block["name"], path)
    if (namespace := call_namespace(writing.owned(block).get("fields") or NOTHING)) is not None:
        # a field of that name says where it stands, whatever brought it there
        if (read := joined(namespace, name)) != name:
            writing.report_name((*path, "name"), read)
        where = (*path, "provider_state", "fields", NAMESPACE)
        writing.loss.drop(where, "name_rewritten", "weakened", "the namespace is read as part of the name")
    return None, name


_SIMPLE_CALL: Final = frozenset(("type", "id", "name", "input", "provider_state"))
_SIMPLE_STATE: Final = frozenset(("adapter", "provider", "origin", "id"))


def _odd_call_to_wire(block: Block, name: str, path: Path, writing: Writing) -> Wire:
    state = writing.owned(block) if "provider_state" in block else NOTHING
    encoding = state.get("encoding") or NOTHING
    call_id = writing.call_id(block, state)
    if writing.says_free_text(block, state):
        item: Wire = {"type": "custom_tool_call", "call_id": call_id, "name": name}
        item["input"] = custom_input(block, path, writing.loss)
    else:
        item = {"type": "function_call", "call_id": call_id, "name": name}
        item["arguments"] = arguments_to_wire(block, encoding, path, writing.loss)
        if block.get("kind") == "custom":
            writing.calls[block["id"]] = "function"
    if "item_id" in encoding:
        if BUILT_IN not in encoding:  # the id would be one of another kind of item
            item["id"] = encoding["item_id"]
    elif writing.answer:
        item["id"] = made_id("ctc_" if "input" in item else "fc_", writing.identity, call_id)
    if BUILT_IN in encoding:
        report_own_state({"fields": state.get("fields")}, writing.loss, path, fields=True)
        _item_members(item, NOTHING, encoding)
    elif state:
        _item_members(item, {"fields": state.get("fields")}, encoding)
    if writing.answer:
        item.setdefault("status", "completed")
    _report_call(block, state, path, writing)
    return item


def _report_call(block: Block, state: Mapping[str, Any], path: Path, writing: Writing) -> None:
    """Reports what a call holds that its item does not say."""
    if not within(block, _PLAIN_CALL) or "signature" in state or (not state and "provider_state" in block):
        if block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "a call carries no cache mark")
        report_state(block, writing, path)
        report_unknown(block, CALL_MEMBERS, writing.loss, path)


_PLAIN_CALL: Final = CALL_MEMBERS - {"cache"}


# -- reasoning


def _reasoning_to_wire(block: Block, path: Path, turn: _Turn) -> Wire | None:
    """A reasoning item; None for reasoning that has no place here."""
    writing = turn.writing
    state = writing.owned(block)
    encoding = state.get("encoding") or NOTHING
    signature = block.get("signature")
    plain = writing.dialect.get("plain_reasoning") is True
    if not (state or writing.answer or (plain and not block.get("provider_state"))):
        return None
    item: Wire = {"type": "reasoning"}
    if "id" in state:
        item["id"] = state["id"]
    elif writing.answer:
        item["id"] = made_id("rs_", writing.identity, block["text"], len(turn.items))
    fields = state.get("fields") or NOTHING
    item |= _reasoning_text(block["text"], fields, encoding, "content" if plain and not state else "summary")
    if signature is not None and (state or not block.get("provider_state")):
        item["encrypted_content"] = signature
    elif signature is not None:
        message = "a signature of another provider cannot be replayed here"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost", message)
    if state:
        _item_members(item, {"fields": fields}, encoding, {place[-1] for place in encoding.get("of_parts", ())})
    if len(block) > 2:
        if block.get("cache") is not None:
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "reasoning carries no cache mark")
        report_state(block, writing, path)
        report_unknown(block, THINKING_MEMBERS, writing.loss, path)
    return item


def _reasoning_text(text: str, fields: Mapping[str, Any], encoding: Mapping[str, Any], member: str) -> Wire:
    """`summary` and `content`: as they were, while they still add up to the text."""
    summary, content = encoding.get("summary"), encoding.get("content")
    if (summary is not None or content is not None) and _joined(summary, content) == text:
        item: Wire = {}
        if summary is not None:
            item["summary"] = [{"type": "summary_text", "text": said} for said in summary]
        elif not encoding.get("summary_absent"):
            item["summary"] = []
        if content is not None:
            item["content"] = [{"type": "reasoning_text", "text": said} for said in content]
        for place in encoding.get("of_parts", ()):
            item[place[0]][place[1]][place[2]] = fields[place[-1]]
        return item
    if encoding.get("summary_absent") and not text:
        return {}
    if member == "content" or (content and not summary):
        return {"summary": [], "content": [{"type": "reasoning_text", "text": text}]}
    return {"summary": [{"type": "summary_text", "text": text}] if text else []}


def _settle_reasoning(turn: _Turn) -> None:
    """Reasoning goes only before the item that it led to, and with an id only before a message that has one.

    What was read otherwise goes back as it was, unless it has lost its follower since then.
    """
    writing = turn.writing
    following = turn.request["messages"][int(turn.path[1]) + 1 :][:1]
    goes_on = bool(following) and following[0]["role"] == "assistant"
    followed: Wire | None = None
    places = {at: (index, block) for at, index, block in turn.reasoning}
    for at in range(len(turn.items) - 1, -1, -1):
        item = turn.items[at]
        if at not in places or item is None:
            followed = item
            continue
        index, block = places[at]
        plain = writing.dialect.get("plain_reasoning") is True
        proven = writing.noted(block, "unproven") or plain or _is_proven(item, followed or item)
        if proven and (
            followed is not None
            or (plain and not writing.same_origin)
            or (writing.noted(block, "last") and not goes_on)
        ):
            continue
        turn.items[at] = None
        message = "reasoning goes back only with its proof, and before the item that it led to"
        path = (*turn.path, "content", index)
        _withdraw(path, turn)
        part = lost(block, path, writing, "unsigned_thinking", message)
        if part is not None:
            turn.items[at] = {"role": "assistant", "content": part["text"]}


def _is_proven(item: Wire, followed: Wire) -> bool:
    """Whether a reasoning item may stand before another; takes its id away where only its proof may."""
    if followed.get("role") == "assistant" and "id" not in followed:
        item.pop("id", None)
    return "id" in item or item.get("encrypted_content") is not None


def _withdraw(path: Path, turn: _Turn) -> None:
    """Takes back what was reported of the inside of a block that is now left out as a whole."""
    inside = pointer(path) + "/"
    entries = turn.writing.loss.entries
    entries[:] = [entry for entry in entries if not entry["path"].startswith(inside)]


# ---------------------------------------------------------------------------------------------------- from the wire


def _whole(item: Any, reading: Reading) -> Block:
    return opaque(item, reading, item.get("type"))


def is_message(item: Wire) -> bool:
    """Whether an item is a message; the type may go without saying."""
    kind = item.get("type")
    return kind == "message" or (kind is None and "type" not in item and "role" in item)


def item_from_wire(item: Wire, reading: Reading, *, starts: bool) -> list[Block] | None:
    """The blocks of an item that a model said; None for an item that others said.

    `starts` says that a message item stands directly before: this one does not go on with it.
    Raises `AttributeError` or `TypeError` for what is no item at all.
    """
    if len(item) == 2 and not starts and item.get("role") == "assistant" and type(item.get("content")) is str:
        return [{"type": "text", "text": item["content"]}]
    kind = item.get("type")
    if kind == "function_call":
        call = call_from_wire(item, reading)
        return [_whole(item, reading) if call is None else call]
    if is_message(item):
        if item.get("role") != "assistant":
            return None if item.get("role") in ("user", "system", "developer") else [_whole(item, reading)]
        return _message_from_wire(item, reading, starts) or [_whole(item, reading)]
    if kind == "custom_tool_call" or kind in CALLS:
        block = call_from_wire(item, reading)
    elif kind == "reasoning":
        block = reasoning_from_wire(item, reading)
    elif kind == "function_call_output" or kind == "custom_tool_call_output":
        output = item.get("output")
        listed = isinstance(output, list) and all(isinstance(part, dict) for part in output)
        if isinstance(item.get("call_id"), str) and (listed or isinstance(output, str)):
            return None
        block = None
    elif kind in OUTPUTS and answers(item, reading):
        return None
    else:
        block = None
    return [_whole(item, reading) if block is None else block]


_MESSAGE: Final = frozenset(("type", "role", "content", "id", "status"))


def _message_from_wire(item: Wire, reading: Reading, starts: bool) -> list[Block] | None:
    content = item.get("content")
    if type(content) is str:
        blocks: list[Block] = [{"type": "text", "text": content}]
        if len(item) == 2 and not starts:
            return blocks
        encoding: dict[str, Any] = {}
    elif isinstance(content, list) and content:
        if not all(isinstance(part, dict) for part in content):
            return None
        blocks = [_said_from_wire(part, reading) for part in content]
        encoding = {"parts": True} if len(blocks) == 1 else {}
    else:
        return None
    if starts:
        encoding["starts"] = True
    if "type" in item:
        encoding["typed"] = True
    first = blocks[0]
    state = first.setdefault("provider_state", reading.state())
    if kept := _keep(item, _MESSAGE, state, encoding):
        of_part: dict[str, Any] = state.get("fields") or {}
        if both := [name for name in kept if name in _OF_PARTS or name in of_part]:
            encoding["of_item"] = both
            kept = {f"item/{name}" if name in both else name: value for name, value in kept.items()}
        state["fields"] = {**of_part, **kept}
    if encoding:
        state["encoding"] = {**state.get("encoding", {}), **encoding}
    elif len(state) == 2:
        del first["provider_state"]
    return blocks


def _keep(item: Wire, known: frozenset[str], state: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    """Notes id, status and nulls of an item; gives the members that have no canonical meaning."""
    kept: dict[str, Any] = {}
    for name, value in item.items():
        if name == "id" and isinstance(value, str):
            state["id"] = value
        elif name == "status" and isinstance(value, str):
            encoding["status"] = value
        elif value is None and name != "type":
            encoding.setdefault("nulls", {})[name] = None
        elif name not in known or name in ("id", "status"):
            kept[name] = value
    return kept


_SAID: Final = {"output_text": "text", "refusal": "refusal", "input_text": "text", "text": "text"}
"""Parts of what a model said, with the member that holds the words; some clients take the words of other places."""


def _said_from_wire(part: Wire, reading: Reading) -> Block:
    kind = part.get("type")
    member = _SAID.get(kind) if isinstance(kind, str) else None
    if member is None or not isinstance(text := part.get(member), str):
        return {**_whole(part, reading), "provider_state": reading.state(encoding={"part": True})}
    block: Block = {"type": "text", "text": text}
    if kind == "refusal":
        block["refusal"] = True
    encoding: dict[str, Any] = {} if kind in ("output_text", "refusal") else {"said": kind}
    if len(part) == 2 and not encoding:
        return block
    fields: dict[str, Any] = {}
    for name, value in part.items():
        if name == "type" or name == member:
            continue
        if value is None or value == []:
            encoding.setdefault("empty", {})[name] = value
        elif name == "annotations" and kind != "refusal" and _are_citations(value):
            block["citations"] = [_citation_from_wire(item, reading) for item in value]
        else:
            fields[name] = value
    MARK.read(fields, block, encoding, reading)
    if fields or encoding:
        state = block["provider_state"] = reading.state()
        if fields:
            state["fields"] = fields
            if of_parts := [name for name in fields if name not in _OF_PARTS]:
                encoding["of_parts"] = of_parts
        if encoding:
            state["encoding"] = encoding
    return block


def _are_citations(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("type"), str) for item in value
    )


def _citation_from_wire(item: Wire, reading: Reading) -> dict[str, Any]:
    citation: dict[str, Any] = {"type": item["type"]}
    fields: dict[str, Any] = {}
    for name, value in item.items():
        if name != "type":
            fits = isinstance(value, str) if name in ("url", "title") else type(value) is int and value >= 0
            (citation if name in _CITED and fits else fields)[name] = value
    citation["provider_state"] = reading.state(fields=fields) if fields else reading.state()
    return citation


_FUNCTION_CALL: Final = frozenset(("type", "call_id", "name", "arguments"))
_CUSTOM_CALL: Final = frozenset(("type", "call_id", "name", "input"))


def call_from_wire(item: Wire, reading: Reading, canonical: str | None = None) -> Block | None:
    """A call; `canonical` is its id when it has one already. None for what is no readable call, or none of the caller's."""
    if item["type"] in CALLS:
        return _built_in_from_wire(item, reading, canonical)
    custom = item["type"] == "custom_tool_call"
    if custom and reading.endpoint.dialect.get("custom_calls") == "provider":
        return None
    call_id, name, text = item.get("call_id"), item.get("name"), item.get("input" if custom else "arguments")
    if not isinstance(call_id, str) or not isinstance(name, str) or not name or not isinstance(text, str):
        return None
    kind = "custom" if custom else "function"
    namespace = call_namespace(item) if len(item) > 4 else None
    if namespace is not None:
        reading.names.add(name)
        name = joined(namespace, name)
    block: Block = {"type": "tool_use", "id": canonical or reading.call(call_id, kind), "name": name}
    reading.names.add(name)
    state = reading.call_state(call_id)
    encoding: dict[str, Any] = {}
    if custom:
        block |= {"kind": "custom", "input": {}, "input_raw": text}
    else:
        read_arguments(text, block, state)
    if len(item) > 4:
        kept = _keep(item, _CUSTOM_CALL if custom else _FUNCTION_CALL, state, encoding)
        if namespace is not None:
            encoding[NAMESPACE] = kept.pop(NAMESPACE)
        if kept:
            state["fields"] = kept
        if isinstance(item_id := item.get("id"), str):
            # two ids: the one that the result names is the call's, the item's own is only its name in the list
            encoding["item_id"] = item_id
            state["id"] = call_id
    if encoding:
        state["encoding"] = {**state.get("encoding", NOTHING), **encoding}
    block["provider_state"] = state
    return block


def _built_in_from_wire(item: Wire, reading: Reading, canonical: str | None) -> Block | None:
    """A call of a built-in tool that the client runs."""
    call_id, found = item.get("call_id"), called(item)
    if found is None or not isinstance(call_id, str):
        return None
    name, arguments = found
    if reading.has_run(call_id):
        return None
    form = FORMS[name]
    encoding: dict[str, Any] = {BUILT_IN: name}
    if form.filled and (unset := [argument for argument, value in arguments.items() if value is None]):
        encoding["unset"] = unset
        arguments = {argument: value for argument, value in arguments.items() if value is not None}
    if idle := {member: item[member] for member, value in form.made.items() if item.get(member) == value}:
        encoding["idle"] = idle
    block: Block = {
        "type": "tool_use",
        "id": canonical or reading.call(call_id, name),
        "name": name,
        "input": arguments,
    }
    state = reading.call_state(call_id)
    if kept := _keep(item, _BUILT_IN_CALL.union((form.member,), idle), state, encoding):
        state["fields"] = kept
    if isinstance(item_id := item.get("id"), str):
        encoding["item_id"] = item_id
        state["id"] = call_id
    state["encoding"] = encoding
    block["provider_state"] = state
    return block


_BUILT_IN_CALL: Final = frozenset(("type", "call_id"))


def answers(item: Wire, reading: Reading) -> bool:
    """Whether an item is what the client answered to a call of a built-in tool that it runs."""
    name = reading.kind_of(answered_call(item))
    return name is not None and answered(item, name)


_REASONING: Final = frozenset(("type", "summary", "content", "encrypted_content"))


def reasoning_from_wire(item: Wire, reading: Reading) -> Block | None:
    """A thinking block; None for a reasoning item that cannot be read in full."""
    fields: dict[str, Any] = {}
    of_parts: list[list[Any]] = []
    summary = _texts(item, "summary", "summary_text", fields, of_parts)
    content = _texts(item, "content", "reasoning_text", fields, of_parts)
    encrypted = item.get("encrypted_content")
    if summary is False or content is False or not isinstance(encrypted, (str, type(None))):
        return None
    text = _joined(summary, content)
    block: Block = {"type": "thinking", "text": text}
    if encrypted is not None:
        block["signature"] = encrypted
    state = reading.state()
    encoding: dict[str, Any] = {}
    kept = _keep(item, _REASONING, state, encoding)
    if of_parts:
        encoding["of_parts"] = of_parts
        kept |= fields
    if of_parts or summary is None or content is not None or summary != ([text] if text else []):
        if summary is not None:
            encoding["summary"] = summary
        if content is not None:
            encoding["content"] = content
        if summary is None:
            encoding["summary_absent"] = True
    if encrypted is None and "id" not in state:
        encoding["unproven"] = True  # there is no proof of it
    keep(state, kept, encoding)
    block["provider_state"] = state
    return block


def _joined(summary: list[str] | None, content: list[str] | None) -> str:
    """The texts of a reasoning item as one; an empty one says nothing."""
    return BETWEEN.join([text for text in (*(summary or ()), *(content or ())) if text])


def _texts(
    item: Wire, member: str, kind: str, fields: dict[str, Any], of_parts: list[list[Any]]
) -> list[str] | Literal[False] | None:
    """The texts of a list of parts; None when there is none, False when it cannot be read in full.

    What a part holds beside its text goes to the fields, under its name while that is free, and where it stood to `of_parts`.
    """
    parts = item.get(member)
    if parts is None:
        return None
    if not isinstance(parts, list):
        return False
    texts: list[str] = []
    for at, part in enumerate(parts):
        if not isinstance(part, dict) or part.get("type") != kind or not isinstance(text := part.get("text"), str):
            return False
        for name in part:
            if name in _TEXT_PART:
                continue
            place: list[Any] = [member, at, name]
            field = name
            if name in fields or name in item:
                field = f"{member}/{at}/{name}"
                place.append(field)
            fields[field] = part[name]
            of_parts.append(place)
        texts.append(text)
    return texts


_TEXT_PART: Final = frozenset(("type", "text"))
