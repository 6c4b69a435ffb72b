"""
Contents both ways: canonical messages are turns of five roles, wire contents are turns of a user and a model.

Reading: each functionResponse is a message of role tool, what stands beside it in the content a message of role user.
Writing: results follow their calls directly, in one content and in the order of the calls; every other message is a content
of its own; instructions stand in `systemInstruction`, later ones marked in a user turn.
"""

from typing import Any, Final, NamedTuple

from interlingua.adapters._kit import MESSAGE_MEMBERS, Wire, report_foreign_state, report_unknown, within
from interlingua.adapters._media import KINDS
from interlingua.adapters._order import (
    INSTRUCTIONS,
    PLAIN,
    Order,
    arranged,
    drop_leading,
    fold_role,
    leading_count,
    marked_blocks,
    moves_behind,
)
from interlingua.adapters._requests import unmeasured
from interlingua.adapters._verbatim import (
    Items,
    is_imprinted,
    keep_item,
    keep_nothing,
    put_back_item,
    says_only_how_it_came,
)
from interlingua.adapters.gemini_generate.context import (
    MODEL,
    SYSTEM,
    USER,
    Reading,
    Writing,
    generation,
    members_to_wire,
    report_cache,
)
from interlingua.adapters.gemini_generate.parts import blocks_from_parts, is_call, parts_to_wire, result_to_wire
from interlingua.adapters.gemini_generate.tables import FILLER, RESULTS, SENTINEL, UNREADABLE
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest, InvalidWire
from interlingua.canonical.ids import NamedIds
from interlingua.canonical.loss import Loss, Path, pointer

Message = dict[str, Any]
Block = dict[str, Any]

CONTENT: Final = frozenset(("role", "parts"))

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(content: Any, reading: Reading) -> Message:
    """The `systemInstruction` as the first message."""
    message: Message = {
        "role": "system",
        "content": blocks_from_parts(_parts(content, ("systemInstruction",), reading), SYSTEM, reading),
    }
    if len(content) > 1:
        _keep_fields(message, content, reading)
        if "role" in content:  # which many clients say, though there is but one
            keep_nothing(message, "/role", content["role"], reading.endpoint)
    _keep_silent(message, 1, reading)
    return message


def _keep_silent(message: Message, messages: int, reading: Reading) -> None:
    """Keeps which parts were said to be no thoughts."""
    for position, members in reading.silent:
        keep_nothing(message, f"/parts/{position}/thought", False, reading.endpoint, beside=members, items=messages)
    reading.silent.clear()


def contents_from_wire(contents: list[Any], reading: Reading, messages: list[Message]) -> dict[int, int]:
    """Appends what the contents hold, most of them one message; gives the number of messages of others.

    Raises `InvalidWire` with the pointer of what cannot be read.
    """
    several: dict[int, int] = {}
    previous, begun = "", False  # the step of the model has called
    for position, content in enumerate(contents):
        parts = _parts(content, ("contents", position), reading)
        role = content.get("role")
        if role == MODEL:
            if previous != MODEL:
                reading.turn()
            message: Message = {"role": "assistant", "content": blocks_from_parts(parts, MODEL, reading)}
            messages.append(message)
            if not begun and (call := _first_call(message["content"])) is not None:
                begun = True
                reading.unsigned = reading.unsigned or not _is_signed(call)
            previous = MODEL
        else:
            if role is not None and type(role) is not str:
                raise InvalidWire("the role must be user or model", path=pointer(("contents", position, "role")))
            found = _user_from_wire(parts, reading)
            message = found[0]
            messages += found
            if len(found) > 1:
                several[position] = len(found)
            if role != USER or previous == "tool" == message["role"] or reading.waits():
                reading.unusual = True
            previous, begun = found[-1]["role"], False
            if previous == "user":
                reading.unsigned = False
        if len(content) > 2 or role is None:
            _keep_fields(message, content, reading)
        if reading.silent:
            _keep_silent(message, several.get(position, 1), reading)
    return several


def _first_call(blocks: list[Block]) -> Block | None:
    for block in blocks:
        kind: str = block["type"]
        if kind == "tool_use":
            return block
    return None


def _is_signed(call: Block) -> bool:
    return bool("provider_state" in call and call["provider_state"].get("signature"))


def _parts(content: Any, path: Path, reading: Reading) -> list[Wire]:
    if type(content) is not dict:
        raise InvalidWire("a content must be an object with parts", path=pointer(path))
    parts = content.get("parts")
    if not parts or type(parts) is dict:
        reading.unusual = True
        parts = [] if parts is None else [parts] if type(parts) is dict else parts
    if type(parts) is not list:
        raise InvalidWire("parts must be a list", path=pointer((*path, "parts")))
    for part in parts:
        if type(part) is not dict:
            raise InvalidWire("a part must be an object", path=pointer((*path, "parts", parts.index(part))))
    return parts


def _keep_fields(message: Message, content: Wire, reading: Reading) -> None:
    """Keeps what a content says beside role and parts."""
    if fields := {name: value for name, value in content.items() if name not in CONTENT}:
        message["provider_state"] = reading.state(fields=fields)


def _user_from_wire(parts: list[Wire], reading: Reading) -> list[Message]:
    found: list[Message] = []
    run: list[Any] | None = None
    for block in blocks_from_parts(parts, USER, reading):
        if block["type"] == "tool_result":
            message: Message = {
                "role": "tool",
                "content": [block],
                "metadata": {"parent_tool_use_id": block["tool_use_id"]},
            }
            reading.unusual = reading.unusual or run is not None
            run = None
        elif run is not None:
            run.append(block)
            continue
        else:
            run = [block]
            message = {"role": "user", "content": run}
            reading.unusual = reading.unusual or bool(found)
        found.append(message)
    return found or [{"role": "user", "content": []}]


# ---------------------------------------------------------------------------------------------- to the wire: beside the parts


def _is_plain(message: Message) -> bool:
    """Whether there is nothing to write or to report around the content of a message."""
    if len(message) == 2 or within(message, PLAIN):
        return True
    return within(message, _WITH_STATE) and says_only_how_it_came(message)


_WITH_STATE: Final = PLAIN | {"provider_state"}


def report_members(message: Message, writing: Writing, path: Path) -> None:
    """What a message holds beside role and content."""
    if _is_plain(message):
        return
    report_unknown(message, MESSAGE_MEMBERS, writing.loss, path)
    if message.get("name") is not None:
        writing.loss.drop((*path, "name"), "unsupported_field", "weakened", "the wire has no names of participants")
    report_cache(message, writing, path)
    report_foreign_state(message, writing.endpoint, writing.loss, path)


def report_joined(message: Message, writing: Writing, path: Path) -> None:
    """Reports the members of a message that travels in the content of another one."""
    for name in writing.owned(message).get("fields") or ():
        where = (*path, "provider_state", "fields", name)
        writing.loss.drop(where, "combination", "weakened", "the message travels in the content before it")


def contents_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: "Read | None" = None) -> None:
    """Writes `systemInstruction` and `contents`; `read` are those from which the messages were just read."""
    messages: list[Message] = request["messages"]
    if not messages and not writing.had_quirk("messages", "empty_content"):
        raise InvalidRequest("a conversation needs at least one message", path="/messages")
    merges: list[tuple[Path, Path]] = []
    first = _leading_to_wire(request, body, merges, writing, read=read)
    said_before = [*writing.loss.entries]
    order = _in_order(messages, first, writing)
    contents = _contents(messages, order, writing)
    body["contents"] = contents.wires
    if read is not None:
        items = Items(messages, "messages", writing.endpoint, writing.loss)
        instructions = 0 if read.instructions is None else 1
        items.keep(read.contents, read.made(instructions), contents.wires, contents.of())
        return
    if contents.stated or not isinstance(order, range):
        items = Items(messages, "messages", writing.endpoint, writing.loss)
        body["contents"] = items.put_back(contents.wires, contents.of())
        if contents.may_pair_otherwise() and not contents.are_paired(body["contents"]):
            # an edit: by what results are called they would be read as those of other calls
            writing.begin_again(said_before)
            order = _in_order(messages, first, writing, as_read=False)
            contents = _contents(messages, order, writing)
            body["contents"] = items.put_back(contents.wires, contents.of(), apart=contents.otherwise())
    if order and not (writing.same_origin and writing.encoding.get("call_first")) and begins_with_call(messages, order):
        body["contents"] = [{"role": USER, "parts": [{"text": FILLER}]}, *body["contents"]]
        message = "the target takes no call before a user turn: a filler stands before it"
        writing.loss.replace(("filler",), {"type": "text", "text": FILLER}, "filler", "representation", message)
        writing.loss.move(("filler",), ("messages", order[0]), "filler", "representation", message)
    _report_order(merges, contents, writing)


class Read(NamedTuple):
    """What messages were just read from, and how many were read from contents that did not hold one."""

    instructions: Wire | None
    contents: list[Wire]
    several: dict[int, int]

    def made(self, first: int) -> list[range]:
        """The positions of the messages of each content, which begin at the first."""
        found: list[range] = []
        for position in range(len(self.contents)):
            found.append(range(first, first + self.several.get(position, 1)))
            first = found[-1].stop
        return found


def keep_message(message: Message, raw: Wire, reading: Reading) -> None:
    """Keeps of the message of an answer what a request that holds it says otherwise."""
    state = reading.state(encoding={"names": sorted(reading.names)})
    writing = Writing({"messages": [message], "provider_state": state}, unmeasured(reading.endpoint), Loss())
    written = _contents([message], range(1), writing).wires[0]
    keep_item(message, raw, written, reading.endpoint, writing.loss.entries)


def _contents(messages: list[Message], order: Order, writing: Writing) -> "_Contents":
    """The contents of messages in an order."""
    contents = _Contents(messages, order, writing)
    signed = _signed_from(messages, order, writing)
    position = 0
    try:
        for position in order:
            contents.add(position, demand=signed is not None and position > signed)
    except UNREADABLE as problem:
        message = "the message lacks a member or has one of a wrong type"
        raise InvalidRequest(message, path=pointer(("messages", position))) from problem
    contents.release(("messages", len(messages)))
    return contents


def _report_order(merges: list[tuple[Path, Path]], contents: "_Contents", writing: Writing) -> None:
    """The entries about whole messages and blocks, while each stands where it was written: merges first."""
    for path, to in merges:
        writing.loss.merge(path, to, "merged_turn", "representation", "neighbouring instructions travel as one")
    for path, to in writing.moves:
        if len(path) > 2:
            writing.loss.move(path, to, "reordered", "representation", "media follow the text of a result")
    for path, left, to in contents.released:
        message = "results of this model hold text alone: the medium travels in the next user content"
        value = {"type": "text", "text": left}
        writing.loss.move(path, to, "media_moved", "weakened", message, left=value)
    for path, to in writing.moves:
        if len(path) == 2:
            message = "results follow their calls directly, in the order of the calls"
            writing.loss.move(path, to, "reordered", "representation", message)


# ---------------------------------------------------------------------------------------------- to the wire: leading instructions


def _leading_to_wire(
    request: dict[str, Any], body: Wire, merges: list[tuple[Path, Path]], writing: Writing, *, read: Read | None
) -> int:
    """Writes `systemInstruction` from the request's own instructions and the messages before all others; gives their number."""
    messages: list[Message] = request["messages"]
    count = leading_count(messages, writing)
    reported = len(writing.loss.entries)
    parts: list[Wire] = []
    anchor: Path | None = None
    if request.get("system"):
        anchor = ("system",)
        parts = parts_to_wire(request["system"], SYSTEM, writing, anchor)
    for position in range(count):
        message, path = messages[position], ("messages", position)
        parts += parts_to_wire(message["content"], SYSTEM, writing, (*path, "content"))
        report_members(message, writing, path)
        fold_role(message, path, writing)
        if anchor is None:
            anchor = path
        else:
            merges.append((path, anchor))
    alone = count == 1 and anchor == ("messages", 0)
    wire: Wire | None = {"parts": parts} if parts else None
    if wire is None:
        merges.clear()
        drop_leading(count, writing)
    elif alone:
        members_to_wire(messages[0], wire, CONTENT, writing, ("messages", 0))
    else:
        for position in range(count):
            report_joined(messages[position], writing, ("messages", position))
    if alone:
        entries = writing.loss.entries[reported:]
        if read is None:
            wire = put_back_item(messages[0], wire, writing.endpoint, entries, writing.loss)
        else:
            keep_item(messages[0], read.instructions, wire, writing.endpoint, entries)
    if wire is not None:
        body["systemInstruction"] = wire
    return count


# ---------------------------------------------------------------------------------------------- to the wire: contents


class _Contents:
    """Puts messages together to contents."""

    def __init__(self, messages: list[Message], order: Order, writing: Writing) -> None:
        self.messages: Final = messages
        self.order: Final = order
        self.writing: Final = writing
        self.wires: list[Wire] = []
        self.joined: set[int] = set()  # the messages that travel in the content before
        self.added: list[int] = []  # where contents stand that say no message
        self.stated = False  # whether a message has a provider state
        self.answered = False  # whether there are results
        self.released: list[tuple[Path, str, Path]] = []
        self.previous = ""  # role of the message before
        self.step_begun = False

    def add(self, position: int, *, demand: bool) -> None:
        """Writes one message. `demand`: a step that begins here needs a signature."""
        message, writing = self.messages[position], self.writing
        role: str = message["role"]
        blocks: list[Block] = message["content"]
        if role == "user" and len(message) == 2 and len(blocks) == 1 and not writing.outside:
            block = blocks[0]
            if len(block) == 2 and block["type"] == "text" and block["text"]:  # the usual turn, on a straight way
                self.wires.append({"role": USER, "parts": [{"text": block["text"]}]})
                self.previous, self.step_begun = role, False
                return
        path: Path = ("messages", position)
        self.stated = self.stated or "provider_state" in message
        if writing.outside and role != "tool":
            # a message that moves takes its place behind the media
            self.release(next((to for moved, to in writing.moves if moved == path), path))
        if role == "assistant":
            writing.message = message
            parts = parts_to_wire(blocks, MODEL, writing, ("messages", position, "content"))
            if demand:
                self._demand_signature(blocks, parts, path)
        elif role == "tool":
            self.answered = True
            parts = [result_to_wire(blocks[0], writing, ("messages", position, "content", 0))]
        elif role == "user":
            parts = parts_to_wire(blocks, USER, writing, ("messages", position, "content"))
        else:
            parts = parts_to_wire(marked_blocks(message, path, writing), USER, writing, (*path, "content"))
        if role != "assistant":
            self.step_begun = False
        if parts and not (role == "tool" == self.previous) and _is_plain(message):
            self.wires.append({"role": MODEL if role == "assistant" else USER, "parts": parts})
        else:
            self._put(MODEL if role == "assistant" else USER, parts, position)
            report_members(message, writing, path)
        self.previous = role

    def _put(self, role: str, parts: list[Wire], position: int) -> None:
        message, writing = self.messages[position], self.writing
        path: Path = ("messages", position)
        if message["role"] == "tool" == self.previous:
            self.wires[-1]["parts"] += parts
            self.joined.add(position)
            report_joined(message, writing, path)
            return
        if not parts:
            filler = [{"type": "text", "text": FILLER}]
            writing.loss.replace(
                (*path, "content"), filler, "filler", "representation", "the target takes no empty turn"
            )
            parts = [{"text": FILLER}]
        wire: Wire = {"role": role, "parts": parts}
        self.wires.append(wire)
        if "provider_state" in message:
            members_to_wire(message, wire, CONTENT, writing, path)

    def release(self, to: Path) -> None:
        """Media that could not stand in the results before go into a user content of their own."""
        if not self.writing.outside:
            return
        self.added.append(len(self.wires))
        self.wires.append({"role": USER, "parts": [part for _, _, part in self.writing.outside]})
        self.released += [(path, left, to) for path, left, _ in self.writing.outside]
        self.writing.outside.clear()

    def _demand_signature(self, blocks: list[Any], parts: list[Wire], path: Path) -> None:
        """Puts the documented stand-in on the first call of a step whose signature does not exist."""
        for index, block in enumerate(blocks):
            if block["type"] != "tool_use":
                continue
            if self.step_begun:
                return
            self.step_begun = True
            # an item that could not be read may be called so, too
            part = next(part for part in parts if "functionCall" in part and is_call(part, self.writing))
            if "thoughtSignature" not in part:
                part["thoughtSignature"] = SENTINEL
                where = (*path, "content", index, "provider_state", "signature")
                message = "the target demands a signature here, and there is none: a stand-in is sent"
                self.writing.loss.replace(where, SENTINEL, "required_default", "representation", message)
            return

    def of(self) -> list[tuple[int, ...]]:
        """The positions of the messages that each content says."""
        if not self.joined and not self.added:
            return [(position,) for position in self.order]
        of: list[tuple[int, ...]] = []
        for position in self.order:
            if position in self.joined:
                of[-1] = (*of[-1], position)
            else:
                of.append((position,))
        for position in self.added:
            of.insert(position, ())
        return of

    def otherwise(self) -> set[int]:
        """The messages of contents that may have come with results which do not say by name or id whose they are."""
        return {
            position
            for position in self.order
            if self.messages[position]["role"] != "assistant"
            and is_imprinted(self.messages[position], self.writing.endpoint)
        }

    def may_pair_otherwise(self) -> bool:
        """Whether results may be read as those of other calls where contents were put back."""
        if not isinstance(self.order, range):
            return self.writing.same_origin
        return self.answered and bool(self.otherwise())

    def are_paired(self, wires: list[Wire]) -> bool:
        """Whether results are read as those of their calls: many say so by place alone, which an edit changes."""
        found: list[Message] = []
        contents_from_wire(wires, Reading(self.writing.endpoint, NamedIds()), found)
        read = _calls_and_results(found)
        said = _calls_and_results([self.messages[position] for position in self.order])
        pairs = set(zip(read, said, strict=False))
        return len(read) == len(said) and len(pairs) == len(set(read)) == len(set(said))


# ---------------------------------------------------------------------------------------------- order


def _calls_and_results(messages: list[Message]) -> list[str]:
    """The ids of calls, and those that results answer."""
    found: list[str] = []
    for message in messages:
        for block in message["content"]:
            if block["type"] == "tool_use":
                found.append(block["id"])
            elif block["type"] == "tool_result":
                found.append(block["tool_use_id"])
    return found


def _in_order(messages: list[Message], first: int, writing: Writing, *, as_read: bool = True) -> Order:
    """The positions of messages as the wire wants them; what was read in another order stays in it."""
    order = arranged(messages, RESULTS, writing, first, as_read=as_read)
    if isinstance(order, range):
        return order
    pinned = _before_media(messages, order, writing)
    writing.moves += [
        (("messages", position), ("messages", to)) for position, to in moves_behind(order, messages, first, pinned)
    ]
    return order


def _before_media(messages: list[Message], order: Order, writing: Writing) -> list[int]:
    """The last result of each turn whose media go behind its results: nothing else moves to that place.

    Raises `CannotAdapt` where a result came when the model had spoken again: there are then two reasons for one place.
    """
    if writing.takes_media_in_results() or not any(map(_holds_media, messages)):
        return []
    pinned: list[int] = []
    last, late, media = -1, -1, False
    for position in order:
        if messages[position]["role"] != "assistant":
            late = max(late, position)
        elif position < late:
            why = "a result came when the model had spoken again, and media of results travel behind them to this model"
            raise CannotAdapt(why, path=pointer(("messages", late)), adapter=writing.endpoint.adapter)
        if messages[position]["role"] == "tool":
            last, media = position, media or _holds_media(messages[position])
        elif media:
            pinned.append(last)
            media = False
    return [*pinned, last] if media else pinned


def _holds_media(message: Message) -> bool:
    return message["role"] == "tool" and any(block["type"] in KINDS for block in message["content"][0]["content"])


def begins_with_call(messages: list[Message], order: Order) -> bool:
    """Whether a call comes before any user turn."""
    for position in order:
        message = messages[position]
        if message["role"] in INSTRUCTIONS and position == 0:
            continue
        if message["role"] != "assistant":
            return False
        if any(block["type"] == "tool_use" for block in message["content"]):
            return True
    return False


# ---------------------------------------------------------------------------------------------- signatures


def demands_signatures(endpoint: Endpoint, model: str) -> bool:
    """Whether a model demands signatures of its calls."""
    demanded = endpoint.capabilities.get("thought_signatures")
    return generation(model, 0) > 2 if demanded is None else demanded is True


def _signed_from(messages: list[Message], order: Order, writing: Writing) -> int | None:
    """The last user message: behind it the model demands a signature on the first call of every step. None: nowhere."""
    if not order or not demands_signatures(writing.endpoint, writing.model):
        return None
    last = -1
    for position in order:
        if messages[position]["role"] not in ("assistant", "tool"):
            last = position
    return last
