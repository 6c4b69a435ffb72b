"""
Items that a model produced: `turn_to_wire` above `item_from_wire`.

A message item becomes one text block for each of its parts; a call, a reasoning item and every other item is one block.
Members of the item that are not of a part (id, status, phase) are kept in the first block of the item.
"""

from collections.abc import Container, Mapping
from typing import Any, Final

from interlingua.adapters._engine.items import ABSENT, opaque
from interlingua.adapters._engine.kit import NOTHING, Wire, keep_spelling, within
from interlingua.adapters._engine.spelling import Spellings, imprint, lone_text
from interlingua.adapters._engine.verbatim import keep_spellings
from interlingua.adapters._engine.writing import Refused
from interlingua.adapters._history.messages import (
    OF_THINKING,
    finish,
    misplaced,
    native_item,
    no_place,
    other_members,
)
from interlingua.adapters.openai_responses.built_in import (
    CALLS,
    OUTPUTS,
    answered,
    answered_call,
    called,
    is_one_of,
    ran,
)
from interlingua.adapters.openai_responses.calls import answers, call_from_wire, call_to_wire, item_id
from interlingua.adapters.openai_responses.parts import (
    KINDS,
    OUTPUT_TEXT,
    PART,
    Block,
    spoken_from_wire,
    spoken_to_wire,
)
from interlingua.adapters.openai_responses.tables import BETWEEN, Answers, Reading, Writing
from interlingua.canonical.loss import Path, pointer

Item = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- to the wire


class _Turn:
    """The items of one assistant message written so far, and for each the positions of the blocks in it."""

    __slots__ = ("first", "full", "items", "of", "open", "path", "reasoning", "request", "writing")

    def __init__(self, path: Path, writing: Writing, request: dict[str, Any], first: int) -> None:
        self.first = first
        self.path = path
        self.writing = writing
        self.request = request
        self.items: list[Wire | None] = []
        self.of: list[list[int]] = []
        self.open: Wire | None = None
        self.full = False
        self.reasoning: list[tuple[int, int, Block]] = []

    def close(self) -> None:
        """End the open message item. One plain text is written as a string, unless the item is a full one."""
        item = self.open
        self.open = None
        if item is not None and not self.full and (text := lone_text(item["content"], OUTPUT_TEXT)) is not None:
            item["content"] = text

    def add(self, item: Wire, index: int) -> None:
        """Add an item of its own."""
        if self.open is not None:
            self.close()
        self.items.append(item)
        self.of.append([self.first + index])

    def add_part(self, part: Wire, block: Block, index: int) -> None:
        """Add a part to a message item: to the open one, or to a new one where the block was the first of an item."""
        state = self.writing.state_of(block) if len(block) > 2 else NOTHING
        if self.open is None or (state and _begins(state, self.writing.encoding_of(block))):
            self.close()
            item: Wire = {"role": "assistant", "content": []}
            fields = state.get("fields") or NOTHING
            for name, value in fields.items():
                if not _is_of_part(name, fields):
                    item.setdefault(name.removeprefix(_OF_ITEM), value)
            seed = block.get("text", ""), len(self.items)
            given = item_id(state.get("id"), "msg_", state, self.writing, *seed)
            self.full = given is not ABSENT
            if self.full:
                item["id"] = given
                item["type"] = "message"
                item.setdefault("status", "completed")
            self.open = item
            self.items.append(item)
            self.of.append([])
        if self.full and block["type"] == "text" and "text" in part:
            part.setdefault("annotations", [])
            part.setdefault("logprobs", [])
        self.open["content"].append(part)
        self.of[-1].append(self.first + index)


def _begins(state: dict[str, Any], encoding: dict[str, Any]) -> bool:
    """Whether a block is the first of a message item: only the first one has the members of the item."""
    if "id" in state or encoding.get(_STARTS):
        return True
    return not within(state.get("fields") or {}, _OF_PARTS)


_OF_PARTS: Final = frozenset(("annotations", "logprobs"))
"""Members of parts. All other kept members belong to the item, unless the item has a member of that name as well."""
_OF_ITEM: Final = "item/"
"""Prefix for the name of an item's member that its first part has as well."""


def _is_of_part(name: str, fields: dict[str, Any]) -> bool:
    return name in _OF_PARTS or _OF_ITEM + name in fields


def turn_to_wire(
    message: dict[str, Any], path: Path, writing: Writing, request: dict[str, Any], first: int = 0
) -> tuple[list[Wire], list[list[int]]]:
    """Write the items of an assistant message; return with each item the positions of its blocks, the first of which is
    at `first`."""
    content = message["content"]
    if not writing.answering:
        if (plain := _plain_turn(content, path, writing)) is not None:
            return plain, [[first + index] for index in range(len(content))]
    turn = _Turn(path, writing, request, first)
    for index, block in enumerate(content):
        if len(block) == 2 and block["type"] == "text" and turn.open is not None:
            turn.add_part(_text_to_wire(block, path, writing), block, index)
            continue
        left = writing.or_placeholder(_block_to_wire, block, turn, (*path, "content", index))
        if left is not None:
            text = {"type": "text", "text": left["text"]}
            turn.add_part(spoken_to_wire(text, (), writing), text, index)
    turn.close()
    if turn.reasoning and not writing.answering:
        _settle_reasoning(turn)
    items = [item for item in turn.items if item is not None]
    if len(items) == len(turn.items):
        return items, turn.of
    return items, [of for of, item in zip(turn.of, turn.items, strict=True) if item is not None]


def _plain_turn(content: list[Block], path: Path, writing: Writing) -> list[Wire] | None:
    """Write the most frequent kinds of turn: a text, calls, or calls after a text. None for any other turn."""
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
        items.append(call_to_wire(content[index], (*path, "content", index), writing))
    return items


def _block_to_wire(block: Block, turn: _Turn, writing: Writing, path: Path) -> None:
    """Add a block to the items of a turn. Raises `Refused` for a block that has no place there."""
    kind, index = block["type"], int(path[-1])
    if kind == "text":
        turn.add_part(_text_to_wire(block, path, writing), block, index)
    elif kind == "tool_use":
        turn.add(call_to_wire(block, path, writing), index)
    elif kind == "thinking" and (item := _reasoning_to_wire(block, path, turn)) is not None:
        turn.add(item, index)
        turn.reasoning.append((len(turn.items) - 1, index, block))
    elif kind == "tool_result":
        raise misplaced(block, path, writing)
    elif kind == "opaque" and writing.encoding_of(block).get(PART):
        part = block["value"]
        turn.add_part(native_item(block, part.get("type"), None, writing, path, fields=False), block, index)
    elif kind == "opaque" and writing.endpoint.owns(block):
        _opaque_to_wire(block, index, turn)
    else:
        raise no_place(block, writing)


def _text_to_wire(block: Block, path: Path, writing: Writing) -> Wire:
    """Write a text as a part, without what is kept for its item."""
    fields: Item = writing.state_of(block).get("fields") or {}
    if others := [name for name in fields if not _is_of_part(name, fields)]:
        of_part = {name: value for name, value in fields.items() if name not in others}
        block = {**block, "provider_state": {**block["provider_state"], "fields": of_part}}
    return spoken_to_wire(block, path, writing)


def _opaque_to_wire(block: Block, index: int, turn: _Turn) -> None:
    """Write an item of the provider. An item that would be read back as several blocks, or as none, has no place."""
    value, writing, path = block["value"], turn.writing, (*turn.path, "content", index)
    reading = Reading(writing.endpoint)
    reading.kinds = writing.named
    canonical: str | None = None
    if (is_one_of(value, CALLS) or is_one_of(value, OUTPUTS)) and isinstance(call_id := answered_call(value), str):
        reading.ran, apart, results = _answers_apart(turn)
        if call_id in apart and call_id not in reading.ran and not writing.answering:
            message = "calls that the client runs, and their outputs, are calls and results"
            raise Refused("unsupported_value", message)
        canonical = results.get(call_id)
    others = not writing.answering and is_of_others(value, reading)  # only the model produces items of an answer
    read = [] if others else item_from_wire(value, reading, starts=False)
    if len(read) != 1:
        raise Refused("unsupported_value", "the item is not an item of a turn of the model")
    if canonical is not None and read[0]["type"] == "tool_use":
        read[0]["id"] = canonical
    if read[0]["type"] == "opaque":
        native_item(block, value.get("type"), None, writing, path)
    else:  # a result may name it
        message = "the item is read back as its canonical form"
        writing.loss.replace(path, read[0], "unsupported_value", "representation", message)
    turn.add(value, index)
    if isinstance(call_id := value.get("call_id"), str):
        turn.writing.calls.setdefault(call_id, "provider")
        if read[0]["type"] == "tool_use":
            writing.named[call_id] = read[0]["name"] if value.get("type") in CALLS else "function"


def _answers_apart(turn: _Turn) -> Answers:
    """Return three facts about calls that are kept whole: the wire ids of the calls that the provider has run; those of
    the calls that the client has run, with an output that is kept whole as well; and, by wire id, the calls that
    results name."""
    writing = turn.writing
    if writing.answers is None:
        items: list[Wire] = []
        results: dict[Any, str] = {}
        for message in turn.request["messages"]:
            for block in message["content"]:
                if block["type"] == "opaque" and writing.endpoint.owns(block):
                    items.append(block["value"])
                elif block["type"] == "tool_result" and "provider_state" in block:
                    results[writing.state_of(block).get("id")] = block["tool_use_id"]
        outputs = [item for item in items if is_one_of(item, OUTPUTS)]
        known = [(item.get("call_id"), called(item)) for item in items if is_one_of(item, CALLS)]
        names = {wire_id: found[0] for wire_id, found in known if isinstance(wire_id, str) and found is not None}
        named = [(answered_call(item), item) for item in outputs]
        apart = {one for one, item in named if isinstance(one, str) and one in names and answered(item, names[one])}
        writing.answers = ran(outputs), apart, results
    return writing.answers


# -- reasoning


def _reasoning_to_wire(block: Block, path: Path, turn: _Turn) -> Wire | None:
    """Write a reasoning item; None for reasoning that has no place here."""
    writing, text = turn.writing, block["text"]
    state = writing.state_of(block)
    signature = block.get("signature")
    if not (state or writing.answer or (_is_plain(writing.dialect) and not block.get("provider_state"))):
        return None
    item: Wire = {"type": "reasoning", **_words(text, writing.dialect)}
    if (given := item_id(state.get("id"), "rs_", state, writing, text, len(turn.items))) is not ABSENT:
        item["id"] = given
    if signature is not None and (state or not block.get("provider_state")):
        item["encrypted_content"] = signature
    elif signature is not None:
        message = "a signature of another provider cannot be replayed here"
        writing.loss.drop((*path, "signature"), "foreign_state", "lost", message)
    return finish(block, item, _OF_REASONING, writing, path)


_OF_REASONING: Final = OF_THINKING | {"signature"}


def _is_plain(dialect: dict[str, Any]) -> bool:
    """Whether the provider's models reason in plain text, which needs no signature."""
    return dialect.get("plain_reasoning") is True


def _words(text: str, dialect: dict[str, Any]) -> Wire:
    """Return the text of reasoning in its place on the wire: in full, or as a summary."""
    if _is_plain(dialect):
        return {"summary": [], "content": [{"type": "reasoning_text", "text": text}]}
    return {"summary": [{"type": "summary_text", "text": text}] if text else []}


def _settle_reasoning(turn: _Turn) -> None:
    """Keep reasoning only before the item that it led to, and before a message its id only if the message has one."""
    writing = turn.writing
    plain = _is_plain(writing.dialect)
    followed: Wire | None = None
    places = {at: (index, block) for at, index, block in turn.reasoning}
    for at in range(len(turn.items) - 1, -1, -1):
        item = turn.items[at]
        if at not in places or item is None:
            followed = item
            continue
        index, block = places[at]
        if plain or (followed is not None and _is_proven(item, followed)):
            continue
        turn.items[at] = None
        message = "the provider accepts reasoning only with its signature, and before the item that it led to"
        path = (*turn.path, "content", index)
        _withdraw(path, turn)
        part = writing.placeholder_or_drop(block, path, Refused("unsigned_thinking", message))
        if part is not None:
            turn.items[at] = {"role": "assistant", "content": part["text"]}


def _is_proven(item: Wire, followed: Wire) -> bool:
    """Whether a reasoning item is valid before another. Remove its id where only its signature is valid."""
    if followed.get("role") == "assistant" and "id" not in followed:
        item.pop("id", None)
    return "id" in item or item.get("encrypted_content") is not None


def _withdraw(path: Path, turn: _Turn) -> None:
    """Withdraw the losses inside a block that is now left out as a whole."""
    inside = pointer(path) + "/"
    entries = turn.writing.loss.entries
    entries[:] = [entry for entry in entries if not entry["path"].startswith(inside)]


# ---------------------------------------------------------------------------------------------------- from the wire


def _whole(item: Any, reading: Reading) -> Block:
    return opaque(item, item.get("type"), reading)


def is_message(item: Wire) -> bool:
    """Whether an item is a message; its type may be absent."""
    kind = item.get("type")
    return kind == "message" or (kind is None and "type" not in item and "role" in item)


def is_of_others(item: Wire, reading: Reading) -> bool:
    """Whether an item does not come from the model: another role's message, or a result of a call.

    Raises `AttributeError` or `TypeError` for a value that is no item at all.
    """
    kind = item.get("type")
    if kind is None or kind == "message":
        return item.get("role") in _OTHERS and is_message(item)
    if kind == "function_call" or kind == "reasoning":
        return False
    if kind == "function_call_output" or kind == "custom_tool_call_output":
        output = item.get("output")
        listed = type(output) is list and all(isinstance(part, dict) for part in output)
        return isinstance(item.get("call_id"), str) and (type(output) is str or listed)
    return kind in OUTPUTS and answers(item, reading)


_OTHERS: Final = ("user", "system", "developer")


def item_from_wire(item: Wire, reading: Reading, *, starts: bool) -> list[Block]:
    """Read the blocks of an item that a model produced; an item that cannot be read in full is kept whole.

    `starts`: a message item is directly before, and this one does not continue it.
    """
    if len(item) == 2 and not starts and item.get("role") == "assistant" and type(item.get("content")) is str:
        return [{"type": "text", "text": item["content"]}]
    kind = item.get("type")
    block: Block | None = None
    if kind == "function_call" or kind == "custom_tool_call" or kind in CALLS:
        block = call_from_wire(item, reading)
    elif kind == "reasoning":
        block = reasoning_from_wire(item, reading)
    elif is_message(item) and item.get("role") == "assistant":
        if (blocks := _message_from_wire(item, reading, starts)) is not None:
            return blocks
    return [_whole(item, reading) if block is None else block]


def _message_from_wire(item: Wire, reading: Reading, starts: bool) -> list[Block] | None:
    """Return the texts of a message of the model; None for a message that cannot be read."""
    full = isinstance(item.get("id"), str)
    spellings: Spellings = {}
    blocks = _spoken(item.get("content"), reading, spellings, full=full)
    if not blocks:
        return None
    first = blocks[0]
    state = first.setdefault("provider_state", reading.state())
    if starts:
        keep_spelling(state, _STARTS, True)
    if full:
        reading.must_compare = reading.must_compare or "type" not in item or item.get("status") != "completed"
    elif "type" in item:
        spellings["/type"] = {"raw": item["type"]}
    if kept := members_from_wire(item, _FULL_MESSAGE if full else _MESSAGE, state, spellings):
        of_part: Item = state.get("fields") or {}
        taken = _OF_PARTS.union(of_part)
        state["fields"] = of_part | {_OF_ITEM + name if name in taken else name: value for name, value in kept.items()}
    if len(blocks) > 1:
        reading.must_compare = reading.must_compare or bool(spellings)
    else:
        keep_spellings(first, spellings, reading.endpoint)
    if within(state, ORIGIN_MEMBERS):
        del first["provider_state"]
    return blocks


def _spoken(content: Any, reading: Reading, spellings: Spellings, *, full: bool) -> list[Block]:
    """Return the texts of the content of a message of the model, `full` if it has an id; none if the content cannot be
    read."""
    if type(content) is str:
        reading.must_compare = reading.must_compare or full
        return [{"type": "text", "text": content}]
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return []
    if not full and (lone := lone_text(content, KINDS)):
        spellings["/content"] = {"word": content[0]["type"]}
        return [{"type": "text", "text": lone}]
    if full and (lone := lone_text(content, OUTPUT_TEXT)):  # many clients send no `annotations` and `logprobs`
        written = imprint({**content[0], "annotations": [], "logprobs": []})
        spellings.update({f"/content/0/{name}": {"written": written} for name in _OF_PARTS})
        return [{"type": "text", "text": lone}]
    reading.must_compare = reading.must_compare or (not full and len(content) == 1)
    return [spoken_from_wire(part, reading, full=full) for part in content]


_MESSAGE: Final = frozenset(("type", "role", "content"))
_FULL_MESSAGE: Final = _MESSAGE | {"status"}
ORIGIN_MEMBERS: Final = frozenset(("adapter", "provider", "origin"))
"""The members of a provider state that holds nothing."""


def members_from_wire(item: Wire, known: Container[str], state: dict[str, Any], spellings: Spellings) -> dict[str, Any]:
    """Read the id of an item; return the members without a canonical counterpart. Nulls and `status` go to
    `spellings`."""
    kept = other_members(item, known, spellings)
    if isinstance(kept.get("id"), str):
        state["id"] = kept.pop("id")
    if isinstance(kept.get("status"), str):
        spellings["/status"] = {"raw": kept.pop("status")}
    return kept


_STARTS: Final = "starts"
"""Spelling of a text: a message item begins with it, though the item has neither an id nor members that show this."""

_REASONING: Final = frozenset(("type", "summary", "content", "encrypted_content"))


def reasoning_from_wire(item: Wire, reading: Reading) -> Block | None:
    """Return a thinking block; None for a reasoning item that cannot be read in full."""
    texts: list[str] = []
    fields: dict[str, Any] = {}
    for member, kind in _TEXTS.items():
        parts: Any = item.get(member)
        listed: Any = [] if parts is None else parts
        if type(listed) is not list:
            return None
        for position, part in enumerate(listed):
            if not isinstance(part, dict) or part.get("type") != kind or not isinstance(part.get("text"), str):
                return None
            texts.append(part["text"])
            for name in part:
                if name not in _TEXT_PART:  # it is a field, under its own name if that is free
                    taken = name in fields or name in item
                    fields[f"{member}/{position}/{name}" if taken else name] = part[name]
    encrypted = item.get("encrypted_content")
    if encrypted is not None and type(encrypted) is not str:
        return None
    block: Block = {"type": "thinking", "text": BETWEEN.join(filter(None, texts))}  # an empty text adds nothing
    if encrypted is not None:
        block["signature"] = encrypted
    state = block["provider_state"] = reading.state()
    spellings: Spellings = {}
    if fields := fields | members_from_wire(item, _REASONING, state, spellings):
        state["fields"] = fields
    keep_spellings(block, spellings, reading.endpoint)
    dialect = reading.endpoint.dialect
    usual = {name: item[name] for name in _TEXTS if name in item} == _words(block["text"], dialect)
    proven = encrypted is not None or ("encrypted_content" not in item and ("id" in state or _is_plain(dialect)))
    reading.must_compare = reading.must_compare or not usual or not proven
    return block


_TEXTS: Final[Mapping[str, str]] = {"summary": "summary_text", "content": "reasoning_text"}
"""The lists of texts of a reasoning item, with the type of their parts."""
_TEXT_PART: Final = {"type", "text"}
