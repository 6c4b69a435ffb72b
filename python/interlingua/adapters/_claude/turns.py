"""
Turns: canonical messages have five roles, wire messages are turns of a user and an assistant.

Reading: each tool result is a message of role tool, the other blocks of a user message are messages of role user.
Writing: results follow their calls directly and in the order of the calls, neighbours of one role are one turn,
instructions stand in `system`, in a native system message, or marked in a user turn.
"""

from itertools import pairwise
from typing import Any, Final, Generic, NamedTuple, TypeVar

from interlingua.adapters._as_read import PREFILL
from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import (
    ASSISTANT,
    RESULTS,
    SYSTEM,
    THINKING_TYPES,
    UNMARKED_TYPES,
    UNREADABLE,
    USER,
    Item,
)
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._kit import MESSAGE_MEMBERS, report_foreign_state, report_unknown, within
from interlingua.adapters._order import (
    INSTRUCTIONS,
    PLAIN,
    Order,
    are_turns,
    arranged,
    drop_leading,
    fold_role,
    leading_count,
    marked_blocks,
    moves_behind,
)
from interlingua.adapters._verbatim import Items
from interlingua.canonical.errors import CannotAdapt, InvalidRequest
from interlingua.canonical.loss import Path, pointer

EMPTY_TURN: Final = "the target takes no empty turn"

# ---------------------------------------------------------------------------------------------- from the wire


def user_from_wire(blocks: list[Item], reading: Reading, messages: list[Item]) -> None:
    """Appends the messages that the blocks of one user turn are."""
    if len(blocks) == 1 and blocks[0]["type"] != "tool_result":  # most turns
        messages.append({"role": "user", "content": blocks})
        return
    run: list[Item] | None = None
    for block in blocks:
        if block["type"] == "tool_result":
            if run is not None:
                reading.unusual = True
                run = None
            metadata = {"parent_tool_use_id": block["tool_use_id"]}
            messages.append({"role": "tool", "content": [block], "metadata": metadata})
            continue
        if run is None:
            run = []
            messages.append({"role": "user", "content": run})
        run.append(block)


def keep_extras(wire: Item, message: Item, reading: Reading) -> None:
    """Keeps the members of a wire message beside role and content; one that is null says nothing."""
    others = {name: value for name, value in wire.items() if name not in ("role", "content")}
    if fields := {name: value for name, value in others.items() if value is not None}:
        message.setdefault("provider_state", reading.state())["fields"] = fields
    reading.unusual = reading.unusual or len(fields) < len(others) or "cache_control" in fields


class Read(NamedTuple):
    """What of a wire's request was just read: what it offers, and the tool that each of this is of; its instructions, if it has
    any; its turns, and the position of the message with which each of these begins."""

    offered: list[Any]
    tools: list[tuple[int]]
    system: Any
    turns: list[Item]
    starts: list[int]


def settled_tools(wires: list[Item], of: list[tuple[int]], writing: Writing, read: Read | None) -> list[Item]:
    """The tools as they came, as far as they are written as then; of a request that was just read, what is not is kept."""
    tools: list[Item] = writing.source.get("tools") or []
    if read is None and not any("provider_state" in tool for tool in tools):
        return wires
    items = Items(tools, "tools", writing.endpoint, writing.loss, with_odd=writing.same_origin)
    if read is None:
        return items.put_back(wires, of)
    items.keep(read.offered, read.tools, wires, of)
    return wires


# ---------------------------------------------------------------------------------------------- to the wire

W = TypeVar("W", bound=Writing)


class Turns(Generic[W]):
    """Puts messages together to wire messages.

    How a wire says what a turn holds are the methods from `blocks` to `travels`, which each wire has of its own.
    """

    __slots__ = (
        "anchor",
        "anchor_role",
        "content",
        "first",
        "last",
        "members",
        "messages",
        "of",
        "order",
        "said",
        "speaker",
        "spoke",
        "wires",
        "writing",
    )

    def __init__(self, messages: list[Item], writing: W) -> None:
        self.messages = messages
        self.order: Order = range(len(messages))
        self.writing = writing
        self.wires: list[Item] = []
        self.of: list[list[int]] = []  # the messages that each of them says
        self.said: list[int] = []  # those that the open wire message says
        self.speaker = ""  # of the open wire message
        self.content: list[Item] = []  # of the open wire message
        self.anchor: Path | None = None  # the canonical message that neighbours are merged into
        self.anchor_role = ""
        self.members: Item | None = None  # whose verbatim members the open wire message gets
        self.spoke = 0  # the last message of the model
        self.first = 0  # the first message behind the leading instructions
        self.last = False  # the open wire message is the last one

    # ------------------------------------------------------------------------------------------ what a wire says itself

    def blocks(self, blocks: list[Item], place: str, path: Path) -> list[Item]:
        """The blocks of one message on the wire."""
        raise NotImplementedError

    def result(self, block: Item, path: Path) -> list[Item]:
        """A tool result on the wire."""
        raise NotImplementedError

    def system(self, blocks: list[Item], body: Item) -> bool:
        """Writes `system` from the blocks of the leading instructions; gives whether anything was written."""
        raise NotImplementedError

    def plain(self) -> list[Item] | None:
        """The wire messages of a conversation in order with nothing to report around its messages, on a shorter way; None
        for one that this wire has to mend."""
        raise NotImplementedError

    def begins(self, message: Item) -> bool:
        """Whether a message of this wire was a wire message of its own beside a neighbour of its role."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the open wire message, if there is one."""
        raise NotImplementedError

    def answer_first(self, path: Path) -> None:
        """The conversation begins with the model."""

    def may_follow(self) -> bool:
        """Whether instructions may stand behind what is written by now."""
        return self.speaker in (USER, SYSTEM)

    def mark(self, content: list[Item], message: Item, path: Path) -> bool:
        """Marks the last block of a message for the cache; gives whether it takes a mark."""
        raise NotImplementedError

    def travels(self, message: Item, path: Path) -> None:
        """Reports what a message of this wire holds beside its content and that goes, as it travels in another one."""

    # ------------------------------------------------------------------------------------------ messages

    def write(self, request: Item, body: Item) -> None:
        """Writes `system` and `messages`."""
        messages, writing = self.messages, self.writing
        if not messages and not writing.had_quirk("messages", "empty_content"):
            raise InvalidRequest("a conversation needs at least one message", path="/messages")
        position = 0
        try:
            self._leading(request, body)
            first = self.first
            self.order = arranged(messages, RESULTS, writing, first)
            if isinstance(self.order, range):
                if are_turns(messages, first) and (wires := self.plain()) is not None:
                    self.wires = body["messages"] = wires
                    return
            else:
                moves = moves_behind(self.order, messages, first)
                writing.moves += [(source, before, "reordered", RESULTS.why, None) for source, before in moves]
            for at, position in enumerate(self.order):
                self._add(at, position)
        except UNREADABLE as problem:
            raise InvalidRequest(
                "the message lacks a member or has one of a wrong type", path=pointer(("messages", position))
            ) from problem
        if self.speaker == ASSISTANT:
            settle_prefill(self.messages[self.spoke]["content"], self.content, self.spoke, writing)
        self.last = True
        self._end()
        if not self.wires and not writing.had_quirk("messages", "empty_content"):
            raise InvalidRequest("a conversation needs a message with content", path="/messages")
        body["messages"] = self.wires

    def _leading(self, request: Item, body: Item) -> None:
        """Writes `system` from the request's own instructions and the messages before all others."""
        messages, writing = self.messages, self.writing
        self.first = count = leading_count(messages, writing)
        blocks: list[Item] = []
        anchor: Path | None = None
        merges: list[tuple[Path, Path]] = []
        if request.get("system"):
            anchor = ("system",)
            blocks = self.blocks(request["system"], SYSTEM, anchor)
        for position in range(count):
            message, path = messages[position], ("messages", position)
            found = self.blocks(message["content"], SYSTEM, (*path, "content"))
            self._members(message, found, path)
            self.travels(message, path)
            fold_role(message, path, writing)
            if anchor is None:
                anchor = path
            else:
                merges.append((path, anchor))
            blocks += found
        if self.system(blocks, body):
            writing.merges += merges
        else:
            drop_leading(count, writing)

    def _add(self, at: int, position: int) -> None:
        """Writes one message."""
        writing, message = self.writing, self.messages[position]
        path: Path = ("messages", position)
        where: Path = ("messages", position, "content")
        role: str = message["role"]
        blocks: list[Item] = message["content"]
        if role == "assistant":
            writing.message = message
            self.spoke = position
            self._turn(ASSISTANT, message, path)
            content = self.blocks(blocks, ASSISTANT, where)
            if content and is_thinking(content[-1]):
                trim_thinking(blocks, content, path, writing)
        elif role == "tool":
            self._turn(USER, message, path)
            content = self.result(blocks[0], ("messages", position, "content", 0))
        elif role == "user":
            self._turn(USER, message, path)
            content = self.blocks(blocks, USER, where)
        elif _says_something(message):
            role, content = self._instructions(at, message, path)
        else:
            writing.drop_message(path)
            return
        self.said.append(position)
        if len(message) > 2 and not within(message, PLAIN):
            self._members(message, content, path)
        if role == "tool" and not self.content and self.anchor is not None:
            self._leave(self.anchor)
        if self.anchor is None:
            self.content, self.anchor, self.anchor_role = content, path, role
            if "provider_state" in message and writing.endpoint.owns(message["provider_state"]):
                self.members = message
        else:
            self._join(role, content, path)

    def _turn(self, speaker: str, message: Item, path: Path) -> None:
        """Closes the wire message before, unless this one continues it."""
        if speaker == self.speaker and not ("provider_state" in message and self.begins(message)):
            return
        self._end()
        self.members = None
        if speaker == ASSISTANT:
            self.writing.next_turn()
            if not self.wires:
                self.answer_first(path)
        self.speaker, self.anchor, self.content = speaker, None, []

    def _end(self) -> None:
        if self.speaker:
            self.close()
            self.of.append(self.said)
            self.said = []

    # ------------------------------------------------------------------------------------------ as they came

    def settle(self, body: Item, read: Read | None) -> None:
        """Puts back what came otherwise than it is written; of a request that was just read, keeps it."""
        messages, writing = self.messages, self.writing
        if read is None and not any("provider_state" in message for message in messages):
            return
        items = Items(messages, "messages", writing.endpoint, writing.loss, with_odd=writing.same_origin, joined=True)
        if self.first:
            system = {"content": body["system"]} if "system" in body else {}
            of = [range(self.first)]
            if read is None:
                system = items.put_back([system], of)[0]
                if "content" in system:
                    body["system"] = system["content"]
            else:
                items.keep([{"content": read.system}], of, [system], of)
        of_turns = self.of or self._plainly()
        if read is None:
            body["messages"] = items.put_back(self.wires, of_turns)
        else:
            made = [range(*of) for of in pairwise([*read.starts, len(messages)])]
            items.keep(read.turns, made, self.wires, of_turns)

    def _plainly(self) -> list[list[int]]:
        """The messages that each turn says where each is one of its own, but for results and what stands behind them."""
        of: list[list[int]] = []
        previous = ""
        for position in range(self.first, len(self.messages)):
            role: str = self.messages[position]["role"]
            if previous == "tool" and role != ASSISTANT:
                of[-1].append(position)
            else:
                of.append([position])
            previous = role
        return of

    def _leave(self, anchor: Path) -> None:
        """An edit left nothing of what stands before a result in its wire message, which the result begins now."""
        self.writing.drop_merged(anchor)
        self.anchor = self.members = None

    def _join(self, role: str, content: list[Item], path: Path) -> None:
        """Adds a message to the open wire message."""
        if role == self.anchor_role != "tool":
            self.writing.merges.append((path, self.anchor or ()))
        elif content:
            self.anchor, self.anchor_role = path, role
            self.travels(self.messages[int(path[1])], path)
        else:
            self.writing.drop_message(path)
        self.content += content

    def _instructions(self, at: int, message: Item, path: Path) -> tuple[str, list[Item]]:
        """Instructions inside the conversation: native where they may stand, else marked in a user turn."""
        writing = self.writing
        where = (*path, "content")
        given = writing.encoding_of(message).get("in_messages") and not writing.lacks("system_in_messages")
        native = given or self.speaker == SYSTEM or writing.capabilities.get("system_in_messages")
        may_stand = native and self.may_follow() and _before_answer(self.messages, self.order[at + 1 :])
        if may_stand:
            fold_role(message, path, writing)
            self._turn(SYSTEM, message, path)
            return SYSTEM, self.blocks(message["content"], SYSTEM, where)
        self._turn(USER, message, path)
        return USER, self.blocks(marked_blocks(message, path, writing), USER, where)

    # ------------------------------------------------------------------------------------------ members of a message

    def _members(self, message: Item, content: list[Item], path: Path) -> None:
        """What a message holds beside role and content."""
        writing = self.writing
        report_unknown(message, MESSAGE_MEMBERS, writing.loss, path)
        if "name" in message:
            writing.loss.drop((*path, "name"), "unsupported_field", "weakened", "the wire has no names of participants")
        if "provider_state" in message:
            report_foreign_state(message, writing.endpoint, writing.loss, path)
        if "cache" in message:
            blocks = message["content"]
            takes_mark = bool(blocks) and blocks[-1]["type"] not in UNMARKED_TYPES
            if not (takes_mark and self.mark(content, message, path)):
                why = "there is no block here that takes the mark"
                writing.loss.drop((*path, "cache"), "cache_hint", "weakened", why)


# ---------------------------------------------------------------------------------------------- instructions


def holds_nothing(messages: list[Item]) -> bool:
    """Whether a conversation that was read has no message of which something is written."""
    return all(message["role"] == SYSTEM and not _says_something(message) for message in messages)


def _says_something(message: Item) -> bool:
    """Whether something of instructions goes onto the wire."""
    return any(block["type"] != "text" or block["text"].strip() for block in message["content"])


def _before_answer(messages: list[Item], following: "range | list[int]") -> bool:
    """Whether what follows is an answer, or nothing: behind native instructions no user may speak."""
    for position in following:
        role = messages[position]["role"]
        if role not in INSTRUCTIONS:
            return role == "assistant"
    return True


# ---------------------------------------------------------------------------------------------- the end of an answer


def ends_in_space(answer: Item) -> bool:
    """Whether an answer that was begun ends in a text that ends in white space, or in none."""
    block: Item = answer["content"][-1] if answer["content"] else {}
    text: str = block.get("text", "-")
    return not text or text[-1].isspace()


def is_thinking(wire: Item) -> bool:
    """Whether a wire block is reasoning, as either wire spells it."""
    return wire.get("reasoningContent") is not None or wire.get("type") in THINKING_TYPES


def trim_thinking(blocks: list[Item], content: list[Item], path: Path, writing: Writing) -> None:
    """A turn that ends in reasoning is refused when it comes back."""
    written = [
        index
        for index, block in enumerate(blocks)
        if can_replay(block, writing) or is_thinking(block.get("value") or {})
    ]
    while content and written and is_thinking(content[-1]):
        content.pop()
        index = written.pop()
        where = (*path, "content", index)
        message = "a turn that ends in reasoning is not taken back"
        text = writing.placeholder_or_drop(blocks[index], where, "unsupported_block", message)
        if text is not None:
            content.append(text)


def settle_prefill(blocks: list[Item], content: list[Item], position: int, writing: Writing) -> None:
    """The answer is to continue the last message: it may not end in white space.

    Raises `CannotAdapt` where the model does not go on with an answer that was begun.
    """
    # a turn that paused in the provider's own work goes on from there, whatever the model takes
    paused = bool(blocks) and blocks[-1]["type"] == "opaque" and writing.endpoint.owns(blocks[-1])
    if not paused and writing.lacks("prefill", PREFILL):
        raise CannotAdapt(
            "the model does not continue an answer that was begun; end with a user message",
            path=pointer(("messages", position)),
            adapter=writing.endpoint.adapter,
        )
    for index in range(len(blocks) - 1, -1, -1):
        if not content or blocks[index]["type"] != "text" or "text" not in content[-1]:
            return
        text: str = blocks[index]["text"]
        stripped = text.rstrip()
        if not text or content[-1]["text"] != text or stripped == text:
            return
        where = ("messages", position, "content", index)
        message = "an answer that is to be continued may not end in white space"
        if stripped:
            content[-1]["text"] = stripped
            writing.loss.replace((*where, "text"), stripped, "empty_content", "representation", message)
            return
        writing.unmark(content.pop())
        writing.loss.drop(where, "empty_content", "representation", message)
