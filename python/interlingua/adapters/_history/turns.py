"""
Write messages as turns of a user and an assistant, for wires that have no other roles.

The results of calls are in turns of the user. They follow their calls directly, in the order of the calls. Instructions
before all other messages are written next to the conversation. Later instructions are marked in a user turn, unless the
wire has a place for them there. A wire that differs overrides methods of `Turns`.
"""

from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar

from interlingua.adapters._engine import writing as _writing
from interlingua.adapters._engine.items import laid_over, report_not_written
from interlingua.adapters._engine.kit import (
    UNREADABLE,
    absent_member,
    marked,
    note_spelling,
    report_foreign_state,
    report_replayable_state,
    within,
)
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import ANY_ID, FILLER, CallIds, ToolNames
from interlingua.adapters._history.messages import OF_MESSAGE, fold_role
from interlingua.adapters._history.order import INSTRUCTIONS, WHY, Moves, Order, arranged, moves_behind
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Loss, Path, pointer

Item = dict[str, Any]

SYSTEM: Final = "system"
USER: Final = "user"


PLAIN: Final = frozenset(
    ("role", "content", "metadata", "id", "session_id", "created_at", "schema_version", "priority", "critical", "extra")
)
"""The members that a message may have without anything to write or to report."""

# ---------------------------------------------------------------------------------------------- from the wire


def user_messages(blocks: list[Item], reading: Reading) -> list[Item]:
    """The messages of one turn of the user: one for each result, and one for each run of other blocks."""
    if len(blocks) < 2 and not (blocks and blocks[0]["type"] == "tool_result"):  # most turns
        return [{"role": USER, "content": blocks}]
    found: list[Item] = []
    run: list[Item] | None = None
    for block in blocks:
        if block["type"] == "tool_result":
            reading.must_compare = reading.must_compare or run is not None
            run = None
            metadata = {"parent_tool_use_id": block["tool_use_id"]}
            found.append({"role": "tool", "content": [block], "metadata": metadata})
        elif run is None:
            run = [block]
            found.append({"role": USER, "content": run})
        else:
            run.append(block)
    return found


_BEGIN: Final = "first"


def note_begin(message: Item, reading: Reading) -> None:
    """Note that a conversation began with a message of the model, although the provider documents that it must not."""
    note_spelling(message, _BEGIN, reading.state)


def messages_of(starts: list[int], count: int) -> list[range]:
    """The positions of the messages that were read from each wire message. `starts` has the first position of each,
    `count` is the number of all messages."""
    return [range(*positions) for positions in pairwise([*starts, count])]


# ---------------------------------------------------------------------------------------------- to the wire

_SEVERAL: Final[Item] = {}
"""In place of the one block of a message, for a message that has another number of blocks."""


class Writing(_writing.Writing):
    """The state of a writer, and the reports of whole messages that are made at the end.

    `merges`: messages that are written inside another one. `moves`: messages that are elsewhere on the wire. `gone`:
    messages that are not written, or inside another one. `message`: the message of the model that is being written.
    """

    __slots__ = ("gone", "merges", "message", "moves")

    def __init__(
        self, source: Item, endpoint: Endpoint, loss: Loss, tool_names: ToolNames, call_ids: CallIds = ANY_ID
    ) -> None:
        super().__init__(source, endpoint, loss, tool_names, call_ids)
        self.message: Item = {}
        self.merges: list[tuple[Path, Path]] = []
        self.moves: Moves = []
        self.gone: set[Path] = set()

    def is_native(self, block: Item) -> bool | None:
        """Whether reasoning came from this endpoint. A block without an origin has that of its message; None if neither
        has one."""
        state: Item | None = block.get("provider_state")
        if state is not None:
            return self.endpoint.owns(state)
        provider = (self.message.get("metadata") or {}).get("provider")
        return (
            None if provider is None else self.endpoint.owns({"adapter": self.endpoint.adapter, "provider": provider})
        )

    def text(self, text: str) -> Item:
        """A text part on the wire for a text that the writer adds."""
        return {"text": text}

    def drop_message(self, path: Path) -> None:
        """Report that nothing is left of a message."""
        self.gone.add(path)
        self.loss.drop(path, "empty_content", "representation", "nothing is left of the message")

    def drop_merged(self, anchor: Path) -> None:
        """Report that nothing is left of a message and of those that were merged into it."""
        left = [path for path, to in self.merges if to == anchor]
        self.merges = [merge for merge in self.merges if merge[1] != anchor]
        for path in (anchor, *left):
            self.drop_message(path)

    def next_turn(self) -> None:
        """Begin a new turn of the model; does nothing unless a wire overrides it."""

    def report_merges(self) -> None:
        """Report the messages that are written inside another one; called before any message moves."""
        for path, to in self.merges:
            self.gone.add(path)
            self.loss.merge(path, to, "merged_turn", "representation", "neighbouring messages are written as one turn")

    def report_moves(self) -> None:
        """Report the messages that are elsewhere on the wire."""
        for position, before in self.moves:
            if ("messages", position) not in self.gone:
                self.loss.move(("messages", position), ("messages", before), "reordered", "representation", WHY)


W = TypeVar("W", bound=Writing)


class OpenTurn:
    """The last wire message so far, which further messages may join.

    - `speaker`: its role on the wire; empty before the first wire message.
    - `content`: its list of parts.
    - `anchor`: the position of the message that further ones are merged into.
    - `role`: the canonical role of that message.
    - `state`: the provider state whose members the wire message gets at its end, if there is one.
    """

    __slots__ = ("anchor", "content", "role", "speaker", "state")

    def __init__(self) -> None:
        self.speaker = ""
        self.content: list[Item] = []
        self.anchor = -1
        self.role = ""
        self.state: Item | None = None


class Turns(Generic[W]):
    """Writes messages as wire messages.

    - `member`: the member of a wire message that holds its list of parts.
    - `assistant`: the role of the model on the wire.
    - `joins`: neighbouring messages of one role are written as one wire message. Without it, a wire message holds one
      message, or the results of one turn.
    - `open_end`: the last wire message may be empty if it is the model's.
    - `blocks_to_wire`: writes the blocks of one place. Its arguments are the blocks, the role, the writing and the
      path.
    - `result_to_wire`: writes a result of a tool.

    Afterwards `wires` has the wire messages, and `of` has, for each of them, the positions of the messages that it
    holds. The methods of the first part have the default behaviour; a wire overrides those where it differs.
    """

    __slots__ = (
        "after_turn", "assistant", "blocks_to_wire", "first", "joins", "member", "messages", "of", "open_end", "order", "result_to_wire", "turn",
        "wires", "writing",
    )  # fmt: skip

    def __init__(
        self,
        messages: list[Item],
        writing: W,
        blocks_to_wire: Callable[[list[Item], str, W, Path], list[Item]],
        result_to_wire: Callable[[Item, W, Path], list[Item]],
        member: str = "content",
        assistant: str = "assistant",
        *,
        joins: bool = True,
        open_end: bool = False,
    ) -> None:
        self.messages = messages
        self.writing = writing
        self.blocks_to_wire = blocks_to_wire
        self.result_to_wire = result_to_wire
        self.member = member
        self.assistant = assistant
        self.joins = joins
        self.open_end = open_end
        self.first = 0  # the first message behind the leading instructions
        self.order: Order = []  # set by `arrange`
        self.wires: list[Item] = []
        self.of: list[list[int]] = []
        self.after_turn: list[Any] = []  # what `write_after_turn` writes behind the open turn
        self.turn = OpenTurn()

    # ------------------------------------------------------------------------------------ methods that a wire overrides

    def put_members(self, state: Item, wire: Item, path: Path) -> None:
        """Write the members that the state of a message holds for this wire."""
        report_replayable_state(state, self.writing.loss, path)
        if fields := state.get("fields"):
            wire.update(laid_over(wire, fields, self.writing, (*path, "provider_state", "fields")))

    def put_system(self, content: list[Item], body: Item) -> Item | None:
        """Write the leading instructions next to the conversation; return the object that holds them, if that can have
        further members."""
        body["system"] = content
        return None

    def begins_turn(self, message: Item) -> bool:  # noqa: ARG002
        """Whether a message with a state begins a wire message of its own, though it could join a neighbour."""
        return False

    def demands_user(self) -> bool:
        """Whether a turn of the user must come before that of the model with which the conversation begins."""
        return False

    def end_assistant_message(self, message: Item, content: list[Item], path: Path) -> None:
        """Repair the `content` that was written of a message of the model, if it ends in something else than a text."""

    def end_with_assistant(self, content: list[Item], position: int) -> None:
        """Repair the `content` of the last wire message, which is the model's; it ends with the message at this
        position."""

    def accepts_instructions(self, message: Item, position: int) -> bool:  # noqa: ARG002
        """Whether instructions may be written as such in their place, which is behind the open turn."""
        return False

    def put_cache_mark(self, content: list[Item], message: Item, path: Path) -> bool:  # noqa: ARG002
        """Mark the last block of a message for the cache; return whether the block can have a mark. `content` is what
        was written of the message."""
        return False

    def write_after_turn(self, position: int) -> None:
        """Write what is in `after_turn`: behind the open turn, and before the message at a position."""

    def report_merged_state(self, message: Item, path: Path) -> None:
        """Report what is lost of the state of a message of this wire that is written inside another one."""
        state = self.writing.state_of(message)
        report_replayable_state(state, self.writing.loss, path)
        for name in state.get("fields") or ():
            where = (*path, "provider_state", "fields", name)
            self.writing.loss.drop(where, "combination", "weakened", "the message is written inside another one")

    def pinned(self) -> Collection[int]:
        """The positions of results that stay in their place rather than other results if messages have to move."""
        return ()

    # ------------------------------------------------------------------------------------------ messages

    def write(self, request: Item, body: Item) -> None:
        """Write the leading instructions to the body, and the other messages to `wires`."""
        self.write_leading(request, body)
        self.arrange()
        self.write_messages()
        self.begin_with_user()

    def write_leading(self, request: Item, body: Item) -> None:
        """Write the instructions of the request and the leading instruction messages. Raises `InvalidRequest` without
        messages."""
        messages, writing = self.messages, self.writing
        if not messages and not writing.same("messages"):
            raise InvalidRequest("a conversation needs at least one message", path="/messages")
        self.first = count = _leading_count(messages, writing)
        content: list[Item] = []
        anchor: Path | None = None
        merges: list[tuple[Path, Path]] = []
        if request.get("system"):
            anchor = ("system",)
            content = self.blocks_to_wire(request["system"], SYSTEM, writing, anchor)
        for position in range(count):
            message = messages[position]
            path: Path = ("messages", position)
            found = self.blocks_to_wire(message["content"], SYSTEM, writing, (*path, "content"))
            self._report_members(message, found, path)
            fold_role(message["role"], path, writing)
            if anchor is None:
                anchor = path
            else:
                merges.append((path, anchor))
            content += found
        if not content:
            _drop_leading(count, writing)
            return
        writing.merges += merges
        wire = self.put_system(content, body)
        for position in range(count):
            message, path = messages[position], ("messages", position)
            if wire is None or count > 1 or anchor != path:
                self.report_merged_state(message, path)
            elif "provider_state" in message and writing.endpoint.owns(message["provider_state"]):
                self.put_members(message["provider_state"], wire, path)

    def arrange(self, *, as_read: bool = True) -> None:
        """Bring the messages behind the leading instructions into the order of the wire; `as_read`: messages that were
        read in another order stay in it."""
        messages, writing = self.messages, self.writing
        self.order = arranged(messages, writing, self.first, by_turn=True, as_read=as_read)
        if not isinstance(self.order, range):
            writing.moves += moves_behind(self.order, messages, self.first, self.pinned())

    def begin_again(self) -> None:
        """Discard the wire messages, so that the messages can be written once more."""
        self.wires, self.of, self.turn = [], [], OpenTurn()

    def write_messages(self) -> None:
        """Write the messages in their order. Raises `InvalidRequest` if nothing of them is left."""
        messages, writing, wires, of, member = self.messages, self.writing, self.wires, self.of, self.member
        turn = self.turn
        position = self.first
        try:
            for position in self.order:
                message = messages[position]
                role: str = message["role"]
                blocks: list[Item] = message["content"]
                if role == "assistant":
                    speaker = self.assistant
                elif role == "user" or role == "tool":
                    speaker = USER
                else:
                    role, blocks = self._instructions(message, position)
                    if not role:
                        continue
                    speaker = role
                joins = speaker == turn.speaker and self._joins(message, role)
                if not joins:
                    if turn.state is not None or not turn.content or self.after_turn:
                        self._end_turn(position)
                    if role == "assistant":
                        writing.next_turn()
                block: Item = blocks[0] if len(blocks) == 1 else _SEVERAL
                if len(block) == 2 and block["type"] == "text" and (text := block["text"]) and not text.isspace():
                    content = [writing.text(text)]  # most messages
                else:
                    content = self._blocks_to_wire(message, role, speaker, blocks, position)
                state = self._state_to_write(message, content, ("messages", position)) if len(message) > 2 else None
                if joins:
                    self._join(message, role, content, state, position)
                else:
                    turn.speaker, turn.content, turn.state = speaker, content, state
                    turn.anchor, turn.role = position, role
                    wires.append({"role": speaker, member: content})
                    of.append([position])
        except UNREADABLE as problem:
            why = "the message lacks a member or has one of a wrong type"
            raise InvalidRequest(why, path=pointer(("messages", position))) from problem
        if turn.speaker == self.assistant:
            self.end_with_assistant(turn.content, of[-1][-1])
        if turn.state is not None or not turn.content or self.after_turn:
            self._end_turn(len(messages), last=True)
        if not wires and not writing.same("messages"):
            raise InvalidRequest("a conversation needs a message with content", path="/messages")

    def begin_with_user(self) -> None:
        """Write a turn of the user that nobody wrote before all others, if the wire demands it
        (spec/2-requests.md#filler-turn). A conversation that was read without one stays so (`note_begin`)."""
        writing = self.writing
        if not self.wires or self.wires[0]["role"] != self.assistant or not self.demands_user():
            return
        if writing.same_origin and writing.encoding_of(self.messages[self.of[0][0]]).get(_BEGIN):
            return
        self.wires.insert(0, {"role": USER, self.member: [writing.text(FILLER)]})
        self.of.insert(0, [])
        message = {"role": USER, "content": [{"type": "text", "text": FILLER}]}
        added: Path = (absent_member(writing.source, "filler"),)
        why = "the target's conversations begin with a turn of the user"
        writing.loss.replace(added, message, "filler", "representation", why)
        writing.loss.move(added, ("messages", self.first), "filler", "representation", why)

    def _instructions(self, message: Item, position: int) -> tuple[str, list[Item]]:
        """The role that instructions inside the conversation are written with, and their blocks; an empty role if they
        are not written."""
        path: Path = ("messages", position)
        if self.joins and not has_content(message):
            self.writing.drop_message(path)
            return "", []
        if self.accepts_instructions(message, position):
            fold_role(message["role"], path, self.writing)
            return SYSTEM, message["content"]
        return USER, _marked_blocks(message, path, self.writing)

    def _blocks_to_wire(self, message: Item, role: str, speaker: str, blocks: list[Item], position: int) -> list[Item]:
        """Write the blocks of a message; of a message of role tool, it is its result."""
        if role == "tool":
            return self.result_to_wire(blocks[0], self.writing, ("messages", position, "content", 0))
        content = self.blocks_to_wire(blocks, speaker, self.writing, ("messages", position, "content"))
        if role == "assistant" and content and "text" not in content[-1]:
            self.end_assistant_message(message, content, ("messages", position))
        return content

    def _joins(self, message: Item, role: str) -> bool:
        """Whether a message of the same speaker joins the open turn."""
        if not (self.joins or role == self.turn.role == "tool"):
            return False
        return "provider_state" not in message or not self.begins_turn(message)

    def _join(self, message: Item, role: str, content: list[Item], state: Item | None, position: int) -> None:
        """Add what was written of a message to the open turn."""
        turn, writing = self.turn, self.writing
        path: Path = ("messages", position)
        self.of[-1].append(position)
        if role == "tool" and not turn.content:
            # an edit left nothing of the messages before the result, so the result begins the wire message now
            writing.drop_merged(("messages", turn.anchor))
            turn.anchor, turn.role, turn.state = position, role, state
        elif role == turn.role != "tool":
            writing.merges.append((path, ("messages", turn.anchor)))
        elif content:
            turn.anchor, turn.role = position, role
            self.report_merged_state(message, path)
        else:
            writing.drop_message(path)
        turn.content += content

    def _end_turn(self, position: int, *, last: bool = False) -> None:
        """End the open turn, if there is one, before the message at a position: fill its wire message if that is empty,
        write the members of its state, and write what is to follow it."""
        turn = self.turn
        if not turn.speaker:
            return
        path: Path = ("messages", turn.anchor)
        if not turn.content and not (last and self.open_end and turn.speaker == self.assistant):
            turn.content.append(self.writing.text(self.writing.fill((*path, "content"))))
        if turn.state is not None:
            self.put_members(turn.state, self.wires[-1], path)
        if self.after_turn:
            self.write_after_turn(position)

    def _state_to_write(self, message: Item, content: list[Item], path: Path) -> Item | None:
        """Report what a message holds besides role and content; return its state if that has members for the wire
        message."""
        if within(message, PLAIN):
            return None
        state: Item | None = message.get("provider_state")
        if state is None or not self.writing.endpoint.owns(state):
            self._report_members(message, content, path)
            return None
        if not within(message, _WITH_STATE):
            self._report_members(message, content, path)
        return state if "fields" in state or "signature" in state else None

    def _report_members(self, message: Item, content: list[Item], path: Path) -> None:
        """Report what a message holds besides role and content."""
        writing = self.writing
        report_not_written(message, _OF_MESSAGE, writing.loss, path)
        report_foreign_state(message, writing.endpoint, writing.loss, path)
        if message.get("cache") is not None and not self.put_cache_mark(content, message, path):
            why = "nothing here can hold a cache mark"
            writing.loss.drop((*path, "cache"), "cache_hint", "weakened", why)


_OF_MESSAGE: Final = OF_MESSAGE | {"cache"}
_WITH_STATE: Final = PLAIN | {"provider_state"}

# ---------------------------------------------------------------------------------------------- instructions


def has_content(message: Item) -> bool:
    """Whether a message of instructions has something to write: a text that is not blank, or another block."""
    return any(block["type"] != "text" or block["text"].strip() for block in message["content"])


_MARKED: Final = "instructions inside a conversation are written with markers in a user turn"


def _leading_count(messages: list[Item], writing: Writing) -> int:
    """The number of instruction messages before all others, for wires that have a place for them next to the
    conversation.

    Instructions alone are no conversation: the last of them is written as a user turn.
    """
    count = 0
    for message in messages:
        if message["role"] not in INSTRUCTIONS or writing.encoding_of(message).get("in_messages"):
            break
        count += 1
    alone = count == len(messages) and not writing.same("messages")
    return count - 1 if alone and count else count


def _drop_leading(count: int, writing: Writing) -> None:
    """Report leading instructions of which nothing is left."""
    for position in range(count):
        why = "the instructions contain no text"
        writing.loss.drop(("messages", position), "empty_content", "representation", why)


def _marked_blocks(message: Item, path: Path, writing: Writing) -> list[Item]:
    """The blocks of instructions that are written in a user turn, with each text marked; both are reported."""
    writing.loss.replace((*path, "role"), "user", "marker", "weakened", _MARKED)
    blocks: list[Item] = []
    for index, block in enumerate(message["content"]):
        if block["type"] == "text" and block["text"] and not block["text"].isspace():
            text = marked(block["text"])
            writing.loss.replace((*path, "content", index, "text"), text, "marker", "weakened", _MARKED)
            block = {**block, "text": text}
        blocks.append(block)
    return blocks
