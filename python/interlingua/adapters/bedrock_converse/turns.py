"""
Messages both ways: canonical messages are turns of five roles, wire messages are turns of a user and an assistant.

Reading: each tool result is a message of role tool, the other blocks of a user message are messages of role user.
Writing: the first turn is the user's and turns alternate; results follow their calls directly and in the order of the
calls; instructions stand in `system`, in a native system message, or marked in a user turn.
"""

from typing import Any

from interlingua.adapters._claude.blocks import can_replay
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.turns import before_answer, check_prefill, marked, says_something
from interlingua.adapters._claude.values import (
    ASSISTANT,
    FILLER,
    INSTRUCTIONS,
    SYSTEM,
    THINKING_TYPES,
    UNMARKED_TYPES,
    UNREADABLE,
    USER,
)
from interlingua.adapters._kit import MESSAGE_MEMBERS, Wire, report_foreign_state, report_unknown, within
from interlingua.adapters._order import PLAIN, arranged, surveyed
from interlingua.adapters.bedrock_converse.blocks import (
    blocks_from_wire,
    blocks_to_wire,
    result_to_wire,
)
from interlingua.adapters.bedrock_converse.state import overlaid
from interlingua.adapters.bedrock_converse.tables import DOCUMENT_FILLER, Writing
from interlingua.canonical.errors import InvalidRequest, InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(system: list[Any], reading: Reading) -> Message:
    """The `system` member as the first message."""
    return {"role": "system", "content": blocks_from_wire(system, SYSTEM, reading, ("system",))}


def _is_silent(content: list[Any]) -> bool:
    """Whether a document came without a text beside it, which the provider refuses."""
    return any("document" in wire for wire in content) and not any("text" in wire for wire in content)


def messages_from_wire(wires: list[Any], reading: Reading, messages: list[Message]) -> None:
    """Appends what the wire messages hold."""
    previous = None
    for position, wire in enumerate(wires):
        path: Path = ("messages", position)
        if type(wire) is not dict or type(role := wire.get("role")) is not str:
            raise InvalidWire("a message must be an object with a role", path=pointer(path))
        if role not in (USER, ASSISTANT, SYSTEM):
            raise InvalidWire("the role must be user, assistant or system", path=pointer((*path, "role")))
        content = wire.get("content")
        if type(content) is not list:
            raise InvalidWire("content must be a list of blocks", path=pointer((*path, "content")))
        first = len(messages)
        blocks = blocks_from_wire(content, role, reading, (*path, "content"))
        if role == USER and blocks:
            _user_from_wire(blocks, reading, messages)
        else:
            messages.append({"role": role, "content": blocks})
        form: Wire = {}
        if role == SYSTEM:
            form["in_messages"] = True
        if not blocks:
            form["blank"] = True
        if role == USER and _is_silent(content):
            form["silent"] = True
        if role == previous:
            form["start"] = True
        fields: Wire = {}
        if len(wire) > 2:
            fields = {name: value for name, value in wire.items() if name not in ("role", "content")}
        if form or fields:
            messages[first]["provider_state"] = state = reading.state()
            if form:
                state["form"] = form
            if fields:
                state["fields"] = fields
        if role != ASSISTANT and reading.open:
            reading.unusual = True
        if (previous is None and role != USER) or role == SYSTEM or (blocks and blocks[-1]["type"] in THINKING_TYPES):
            reading.unusual = True
        previous = role


def _user_from_wire(blocks: list[Any], reading: Reading, messages: list[Message]) -> None:
    run: list[Any] | None = None
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


# ---------------------------------------------------------------------------------------------- to the wire


def messages_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `system` and `messages`."""
    messages: list[Message] = request["messages"]
    if not messages and not writing.keeps("messages"):
        raise InvalidRequest("a conversation needs at least one message", path="/messages")
    position = 0
    try:
        first = _leading_to_wire(request, messages, body, writing)
        order: range | list[int] = range(first, len(messages))
        if not surveyed(messages, first)[0]:
            order, moves = arranged(messages, first, writing.oddities(messages))
            message = "results follow their calls directly, in the order of the calls"
            writing.moves += [(source, before, "reordered", message, None) for source, before in moves]
        turns = _Turns(messages, order, writing)
        for at, position in enumerate(order):
            turns.add(at, position)
    except UNREADABLE as problem:
        raise InvalidRequest(
            "the message lacks a member or has one of a wrong type", path=pointer(("messages", position))
        ) from problem
    body["messages"] = turns.done()


# ------------------------------------------------------------------------------------------ leading instructions


def _leading_to_wire(request: dict[str, Any], messages: list[Message], body: Wire, writing: Writing) -> int:
    """Writes `system` from the request's own instructions and the messages before all others; gives their number."""
    count = 0
    for message in messages:
        if message["role"] not in INSTRUCTIONS or writing.form_of(message).get("in_messages"):
            break
        count += 1
    if count == len(messages) and count and not writing.keeps("messages"):
        count -= 1  # instructions alone are no conversation: the last of them is said by the user
    blocks: list[Wire] = []
    anchor: Path | None = None
    merges: list[tuple[Path, Path]] = []
    if request.get("system"):
        anchor = ("system",)
        blocks = blocks_to_wire(request["system"], SYSTEM, writing, anchor)
    for position in range(count):
        message, path = messages[position], ("messages", position)
        found = blocks_to_wire(message["content"], SYSTEM, writing, (*path, "content"))
        _message_members(message, found, writing, path)
        _report_members(message, writing, path)
        if message["role"] == "developer":
            writing.loss.replace((*path, "role"), "system", "role_folded", "shape", "instructions have one role here")
        if anchor is None:
            anchor = path
        else:
            merges.append((path, anchor))
        blocks += found
    if blocks:
        body["system"] = blocks
        writing.merges += merges
        return count
    for position in range(count):
        writing.loss.drop(("messages", position), "empty_content", "shape", "the instructions hold no text")
    return count


# ------------------------------------------------------------------------------------------ turns


class _Turns:
    """Puts messages together to wire messages."""

    __slots__ = (
        "anchor",
        "anchor_role",
        "blank",
        "content",
        "documents",
        "members",
        "messages",
        "order",
        "silent",
        "speaker",
        "spoke",
        "wires",
        "writing",
    )

    def __init__(self, messages: list[Message], order: "range | list[int]", writing: Writing) -> None:
        self.messages = messages
        self.order = order
        self.writing = writing
        self.wires: list[Wire] = []
        self.speaker = ""  # of the open wire message
        self.content: list[Wire] = []  # of the open wire message
        self.anchor: Path | None = None  # the canonical message that neighbours are merged into
        self.anchor_role = ""
        self.blank = False  # the open wire message came without content
        self.silent = False  # … or with a document that nothing is said of
        self.documents: tuple[Path, int] | None = (
            None  # the first document of the open wire message: path, number of block
        )
        self.members: Message | None = None  # whose verbatim members the open wire message gets
        self.spoke = 0  # the last message of the model

    def add(self, at: int, position: int) -> None:
        """Writes one message."""
        writing, message = self.writing, self.messages[position]
        path: Path = ("messages", position)
        where: Path = ("messages", position, "content")
        role, blocks = message["role"], message["content"]
        if role == "assistant":
            writing.message = message
            self.spoke = position
            if self.speaker != ASSISTANT or "provider_state" in message:
                self._turn(ASSISTANT, message, path)
            content = blocks_to_wire(blocks, ASSISTANT, writing, where)
            if content and "reasoningContent" in content[-1]:
                self._trim_thinking(blocks, content, path)
        elif role == "tool":
            if self.speaker != USER or "provider_state" in message:
                self._turn(USER, message, path)
            wire, mark = result_to_wire(blocks[0], writing, ("messages", position, "content", 0))
            content = [wire] if mark is None else [wire, mark]
        elif role == "user":
            if self.speaker != USER or "provider_state" in message:
                self._turn(USER, message, path)
            content = blocks_to_wire(blocks, USER, writing, where)
            if writing.document is not None:
                self._note_document(content)
        elif says_something(message, writing):
            role, content = self._instructions(at, message, path)
        else:
            self.writing.drop_message(path)
            return
        if len(message) > 2 and not within(message, PLAIN):
            _message_members(message, content, writing, path)
        if role == "tool" and not self.content and self.anchor is not None:
            self._leave(self.anchor)
        if self.anchor is None:
            self.content, self.anchor, self.anchor_role = content, path, role
            if "provider_state" in message:
                self._spelt(message)
        else:
            self._join(role, content, path)

    def _turn(self, speaker: str, message: Message, path: Path) -> None:
        """Closes the wire message before, unless this one continues it."""
        if speaker == self.speaker and not self._begins(message):
            return
        if self.content and self.documents is None and self.members is None:
            self.wires.append({"role": self.speaker, "content": self.content})
        else:
            self._close()
        if speaker == ASSISTANT:
            self.writing.next_turn()
            if not self.wires and not self.writing.is_odd(message):
                self._begin_with_user(path)
        self.speaker, self.anchor, self.content = speaker, None, []

    def _begin_with_user(self, path: Path) -> None:
        """The conversation begins with the model: a turn of the user stands before it."""
        self.wires.append({"role": USER, "content": [{"text": FILLER}]})
        filler = {"role": "user", "content": [{"type": "text", "text": FILLER}]}
        position = int(path[1])
        message = "the target's conversations begin with the user"
        self.writing.moves.insert(0, (position, position + 1, "filler", message, filler))

    def _begins(self, message: Message) -> bool:
        """Whether a message of this wire was a wire message of its own beside a neighbour of its role."""
        state = message.get("provider_state")
        if state is None or not self.writing.own:
            return False  # elsewhere turns alternate
        return bool(self.writing.form_of(message).get("start"))

    def _spelt(self, message: Message) -> None:
        state = message["provider_state"]
        if self.writing.endpoint.owns(state):
            form = state.get("form") or {}
            self.blank = self.writing.own and form.get("blank", False)
            self.silent = self.writing.own and form.get("silent", False)
            self.members = message

    def _leave(self, anchor: Path) -> None:
        """An edit left nothing of what stands before a result in its wire message, which the result begins now."""
        self.writing.drop_merged(anchor)
        self.anchor = self.members = None
        self.blank = self.silent = False

    def _join(self, role: str, content: list[Wire], path: Path) -> None:
        """Adds a message to the open wire message."""
        if role == self.anchor_role != "tool":
            self.writing.merges.append((path, self.anchor or ()))
        elif content:
            self.anchor, self.anchor_role = path, role
            _report_members(self.messages[int(path[1])], self.writing, path)
        else:
            self.writing.drop_message(path)
        self.content += content

    def _close(self) -> None:
        if not self.speaker:
            return
        wire = {"role": self.speaker, "content": self.content}
        if not self.content and not self.blank:
            self._fill(wire)
        elif self.documents is not None and not self.silent:
            self._speak(wire)
        self.documents = None
        self.silent = False
        if self.members is not None:
            wire = self._with_members(wire)
        self.blank = False
        self.wires.append(wire)

    def _with_members(self, wire: Wire) -> Wire:
        state = (self.members or {})["provider_state"]
        where = (*(self.anchor or ()), "provider_state")
        self.members = None
        if state.get("signature"):
            self.writing.loss.drop(
                (*where, "signature"), "unsupported_field", "lost", "the wire has no signature in this place"
            )
        fields = state.get("fields")
        return overlaid(wire, fields, self.writing, (*where, "fields")) if fields else wire

    def _fill(self, wire: Wire) -> None:
        wire["content"] = self.writing.filler((*(self.anchor or ()), "content"), "the target takes no empty turn")

    def done(self) -> list[Wire]:
        """The wire messages."""
        if self.speaker == ASSISTANT:
            self._settle_prefill()
        self._close()
        if not self.wires and not self.writing.keeps("messages"):
            raise InvalidRequest("a conversation needs a message with content", path="/messages")
        return self.wires

    # -------------------------------------------------------------------------------------- documents

    def _note_document(self, content: list[Wire]) -> None:
        path, self.writing.document = self.writing.document, None
        number = next((at for at, wire in enumerate(content) if "document" in wire), None)
        if self.documents is None and path is not None and number is not None:
            self.documents = (path, len(self.content) + number)

    def _speak(self, wire: Wire) -> None:
        """A message that holds a document also holds a text."""
        if self.documents is None or any("text" in block for block in wire["content"]):
            return
        path, number = self.documents
        wire["content"].insert(number, {"text": DOCUMENT_FILLER})
        left = {"type": "text", "text": DOCUMENT_FILLER}
        self.writing.fillers.append((path, (*path[:-1], int(path[-1]) + 1), left))

    # -------------------------------------------------------------------------------------- reasoning, prefill

    def _trim_thinking(self, blocks: list[Any], content: list[Wire], path: Path) -> None:
        """A turn that ends in reasoning is refused when it comes back."""
        written = [
            index
            for index, block in enumerate(blocks)
            if can_replay(block, self.writing)
            or "reasoningContent" in block.get("value", ())
            or self.writing.is_odd(block)
        ]
        while content and written and "reasoningContent" in content[-1]:
            index = written.pop()
            if self.writing.is_odd(blocks[index]):
                break
            content.pop()
            text = self.writing.loss.block(
                (*path, "content", index),
                blocks[index],
                "unsupported_block",
                "lost",
                "a turn that ends in reasoning is not taken back",
            )
            if text is not None:
                content.append({"text": text["text"]})

    def _settle_prefill(self) -> None:
        """The answer is to continue the last message: it may not end in white space."""
        position = self.spoke
        check_prefill(position, self.writing)
        if not self.content or self.content[-1].keys() != {"text"}:
            return
        text: str = self.content[-1]["text"]
        stripped = text.rstrip()
        blocks = self.messages[position]["content"]
        if not stripped or stripped == text or not blocks or blocks[-1].get("text") != text:
            return
        if self.writing.is_odd(blocks[-1]):
            return
        self.content[-1]["text"] = stripped
        where = ("messages", position, "content", len(blocks) - 1, "text")
        message = "an answer that is to be continued may not end in white space"
        self.writing.loss.replace(where, stripped, "empty_content", "shape", message)

    # -------------------------------------------------------------------------------------- instructions

    def _instructions(self, at: int, message: Message, path: Path) -> tuple[str, list[Wire]]:
        """Instructions inside the conversation: native where they may stand, else marked in a user turn."""
        writing = self.writing
        where = (*path, "content")
        given = writing.own and writing.form_of(message).get("in_messages") and not writing.lacks("system_in_messages")
        native = given or self.speaker == SYSTEM or writing.capabilities.get("system_in_messages")
        if (given and writing.is_odd(message)) or (native and self._may_stand(at)):
            if message["role"] == "developer":
                writing.loss.replace((*path, "role"), "system", "role_folded", "shape", "instructions have one role")
            self._turn(SYSTEM, message, path)
            return SYSTEM, blocks_to_wire(message["content"], SYSTEM, writing, where)
        self._turn(USER, message, path)
        return USER, blocks_to_wire(marked(message, writing, path), USER, writing, where)

    def _may_stand(self, at: int) -> bool:
        """Whether a system message may stand here: after a user turn, and last or before an answer."""
        return self.speaker in (USER, SYSTEM) and before_answer(self.messages, self.order[at + 1 :])


# ------------------------------------------------------------------------------------------ members of a message


def _message_members(message: Message, content: list[Wire], writing: Writing, path: Path) -> None:
    """What a message holds beside role and content."""
    report_unknown(message, MESSAGE_MEMBERS, writing.loss, path)
    if "name" in message:
        writing.loss.drop((*path, "name"), "unsupported_field", "weakened", "the wire has no names of participants")
    if "provider_state" in message:
        report_foreign_state(message, writing.endpoint, writing.loss, path)
    if "cache" in message:
        _message_cache(message, content, writing, path)


def _report_members(message: Message, writing: Writing, path: Path) -> None:
    """What a message of this wire holds beside its content goes when it is no wire message of its own."""
    state = message.get("provider_state")
    if state is not None and writing.endpoint.owns(state):
        for name in state.keys() & {"fields", "signature"}:
            where = (*path, "provider_state", name)
            writing.loss.drop(where, "combination", "weakened", "the message travels inside another one")


def _message_cache(message: Message, content: list[Wire], writing: Writing, path: Path) -> None:
    """A mark on a message stands behind its last block."""
    blocks = message["content"]
    last = len(blocks) - 1
    if (
        blocks
        and sum("cachePoint" not in wire for wire in content) == len(blocks)
        and "cachePoint" not in content[-1]
        and blocks[last]["type"] not in UNMARKED_TYPES
    ):
        mark = writing.mark(message["cache"], path, (*path, "content", last, "cache"))
        if mark is not None:
            content.append(mark)
    else:
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", "there is no block here that takes the mark")
