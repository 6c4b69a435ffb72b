"""
Contents both ways: canonical messages are turns of five roles, wire contents are turns of a user and a model.

Reading: each functionResponse is a message of role tool, what stands beside it in the content a message of role user.
Writing: results follow their calls directly, in one content and in the order of the calls; every other message is a content
of its own; instructions stand in `systemInstruction`, later ones marked in a user turn.

What is odd about a request is noted when it was read, so that it goes back as it came (spec/2-requests.md#edited): a writer
leaves alone what is noted, and nothing else. A reader notes most of it while it reads. What else a writer would repair is
found by having the request written, where anything unusual stands in it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from interlingua.adapters._as_read import imprint, note
from interlingua.adapters._kit import MESSAGE_MEMBERS, Wire, keep, report_foreign_state, report_unknown, within
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
    note_disorder,
)
from interlingua.adapters.gemini_generate.context import (
    MODEL,
    RESULT,
    SYSTEM,
    USER,
    Reading,
    Writing,
    generation,
    members_to_wire,
    report_cache,
)
from interlingua.adapters.gemini_generate.media import MEDIA
from interlingua.adapters.gemini_generate.parts import blocks_from_parts, parts_to_wire, result_to_wire
from interlingua.adapters.gemini_generate.tables import FILLER, RESULTS, SENTINEL, UNREADABLE, fits_name
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidRequest, InvalidWire
from interlingua.canonical.ids import NamedIds
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
Block = dict[str, Any]

CONTENT: Final = frozenset(("role", "parts"))

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(content: Any, reading: Reading) -> Message:
    """The `systemInstruction` as the first message."""
    path: Path = ("systemInstruction",)
    encoding: dict[str, Any] = {}
    parts = _parts(content, encoding, path)
    message: Message = {"role": "system", "content": blocks_from_parts(parts, SYSTEM, reading)}
    if "role" in content:
        encoding["system_role"] = content["role"]
    if not parts:
        encoding["blank"] = SYSTEM
    return _kept(message, content, encoding, reading)


def contents_from_wire(contents: list[Any], reading: Reading, messages: list[Message]) -> None:
    """Appends what the contents hold. Raises `InvalidWire` with the pointer of what cannot be read."""
    previous, begun = "", False  # the step of the model has called
    for position, content in enumerate(contents):
        encoding: dict[str, Any] = {}
        parts = _parts(content, encoding, ("contents", position))
        role = content.get("role")
        if role == MODEL:
            if previous != MODEL:
                reading.turn()
            if not parts:
                encoding["blank"] = MODEL
            message: Message = {"role": "assistant", "content": blocks_from_parts(parts, MODEL, reading)}
            messages.append(message)
            if not begun and (call := _first_call(message["content"])) is not None:
                begun = True
                if not _is_signed(call):
                    reading.unsigned.append(call)
            previous = MODEL
        else:
            if role is not None and type(role) is not str:
                raise InvalidWire("the role must be user or model", path=pointer(("contents", position, "role")))
            found = _user_from_wire(parts, reading)
            message = found[0]
            messages += found
            if "role" not in content:
                encoding["no_role"] = True
            elif role != USER:
                encoding["role"] = role
            if not parts:
                encoding["blank"] = USER
            if previous == "tool" == message["role"]:
                encoding["joined"] = False
            if reading.waits():
                reading.unusual = True
            previous, begun = found[-1]["role"], False
            if previous == "user":
                reading.unsigned.clear()
        if encoding or len(content) > 2:
            _kept(message, content, encoding, reading)


def _first_call(blocks: list[Block]) -> Block | None:
    for block in blocks:
        kind: str = block["type"]
        if kind == "tool_use":
            return block
    return None


def _is_signed(call: Block) -> bool:
    return bool("provider_state" in call and call["provider_state"].get("signature"))


def _parts(content: Any, encoding: dict[str, Any], path: Path) -> list[Wire]:
    if type(content) is not dict:
        raise InvalidWire("a content must be an object with parts", path=pointer(path))
    parts = content.get("parts")
    if type(parts) is dict:
        encoding["parts"] = "object"
        return [parts]
    if not parts and (parts is None or type(parts) is list):
        encoding["parts"] = "empty" if parts is not None else "null" if "parts" in content else "absent"
        return []
    if type(parts) is not list:
        raise InvalidWire("parts must be a list", path=pointer((*path, "parts")))
    for part in parts:
        if type(part) is not dict:
            raise InvalidWire("a part must be an object", path=pointer((*path, "parts", parts.index(part))))
    return parts


def _kept(message: Message, content: Wire, encoding: dict[str, Any], reading: Reading) -> Message:
    """The message with what its content says beside role and parts, and how it was spelt."""
    fields = {name: value for name, value in content.items() if name not in CONTENT}
    if fields or encoding:
        message["provider_state"] = state = reading.state()
        keep(state, fields, encoding)
    return message


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
            if run is not None:
                message["provider_state"] = reading.state(encoding={"joined": True})
                reading.unusual = True
            run = None
        elif run is not None:
            run.append(block)
            continue
        else:
            run = [block]
            message = {"role": "user", "content": run}
            if found:
                message["provider_state"] = reading.state(encoding={"joined": True})
        found.append(message)
    return found or [{"role": "user", "content": []}]


# ---------------------------------------------------------------------------------------------- to the wire: beside the parts


def report_members(message: Message, writing: Writing, path: Path) -> None:
    """What a message holds beside role and content."""
    if len(message) == 2 or within(message, PLAIN):
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


def spell_instructions(wire: Wire, message: Message, writing: Writing) -> None:
    """Puts the role and the parts of the `systemInstruction` back as they came."""
    encoding = writing.encoding_of(message)
    if "system_role" in encoding:
        wire["role"] = encoding["system_role"]
    _spell_parts(wire, encoding)


def spell(wire: Wire, message: Message, writing: Writing) -> None:
    """Puts the role and the parts of a content back as they came."""
    encoding = writing.encoding_of(message)
    if not encoding or message["role"] in INSTRUCTIONS:
        return
    if message["role"] != "assistant":
        if encoding.get("no_role"):
            del wire["role"]
        elif "role" in encoding:
            wire["role"] = encoding["role"]
    _spell_parts(wire, encoding)


def _spell_parts(wire: Wire, encoding: Mapping[str, Any]) -> None:
    match encoding.get("parts"):
        case "object" if len(wire.get("parts") or ()) == 1:
            wire["parts"] = wire["parts"][0]
        case "null" if not wire.get("parts"):
            wire["parts"] = None
        case "absent" if not wire.get("parts"):
            wire.pop("parts", None)
        case _:
            pass


def came_blank(message: Message, place: str, writing: Writing) -> bool:
    """Whether a content had no parts from the beginning, in this place."""
    return writing.same_origin and writing.encoding_of(message).get("blank") == place


_USUAL: Final = frozenset(("role", "content", "metadata"))


def contents_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `systemInstruction` and `contents`."""
    messages: list[Message] = request["messages"]
    if not messages and not writing.had_quirk("messages", "empty_content"):
        raise InvalidRequest("a conversation needs at least one message", path="/messages")
    position = 0
    merges: list[tuple[Path, Path]] = []
    try:
        first = _leading_to_wire(request, messages, body, merges, writing)
        order = _in_order(messages, first, writing)
        contents = _Contents(messages, order, writing)
        signed = _signed_from(messages, order, writing)
        for position in order:
            contents.add(position, demand=signed is not None and position > signed)
    except UNREADABLE as problem:
        message = "the message lacks a member or has one of a wrong type"
        raise InvalidRequest(message, path=pointer(("messages", position))) from problem
    contents.release(("messages", len(messages)))
    body["contents"] = contents.wires
    if order and not (writing.same_origin and writing.encoding.get("call_first")) and begins_with_call(messages, order):
        contents.wires.insert(0, {"role": USER, "parts": [{"text": FILLER}]})
        message = "the target takes no call before a user turn: a filler stands before it"
        writing.loss.replace(("filler",), {"type": "text", "text": FILLER}, "filler", "representation", message)
        writing.loss.move(("filler",), ("messages", order[0]), "filler", "representation", message)
    _report_order(merges, contents, writing)


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
    request: dict[str, Any], messages: list[Message], body: Wire, merges: list[tuple[Path, Path]], writing: Writing
) -> int:
    """Writes `systemInstruction` from the request's own instructions and the messages before all others; gives their number."""
    count = leading_count(messages, writing)
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
    if parts or (alone and came_blank(messages[0], SYSTEM, writing)):
        body["systemInstruction"] = wire = {"parts": parts}
        if alone:
            members_to_wire(messages[0], wire, CONTENT, writing, ("messages", 0))
            spell_instructions(wire, messages[0], writing)
        else:
            for position in range(count):
                report_joined(messages[position], writing, ("messages", position))
    elif count:
        merges.clear()
        drop_leading(count, writing)
    return count


# ---------------------------------------------------------------------------------------------- to the wire: contents


class _Contents:
    """Puts messages together to contents."""

    def __init__(self, messages: list[Message], order: Order, writing: Writing) -> None:
        self.messages: Final = messages
        self.order: Final = order
        self.writing: Final = writing
        self.wires: list[Wire] = []
        self.released: list[tuple[Path, str, Path]] = []
        self.previous = ""  # role of the message before
        self.step_begun = False
        self.looked = not writing.paired  # whether results are known to be read as those of their calls, or not to be

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
        if writing.outside and role != "tool":
            # a message that moves takes its place behind the media
            self.release(next((to for moved, to in writing.moves if moved == path), path))
        if role == "assistant":
            writing.message = message
            parts = parts_to_wire(blocks, MODEL, writing, ("messages", position, "content"))
            if demand:
                self._demand_signature(blocks, parts, path)
        elif role == "tool":
            if not self.looked and not writing.encoding_of(blocks[0]).keys().isdisjoint(("name", "id")):
                self.looked = True
                writing.paired = writing.paired and _find_their_calls(self.messages, self.order, writing)
            parts = [result_to_wire(blocks[0], writing, ("messages", position, "content", 0))]
        elif role == "user":
            parts = parts_to_wire(blocks, USER, writing, ("messages", position, "content"))
        else:
            parts = parts_to_wire(marked_blocks(message, path, writing), USER, writing, (*path, "content"))
        if role != "assistant":
            self.step_begun = False
        if parts and (len(message) == 2 or within(message, _USUAL)) and not (role == "tool" == self.previous):
            self.wires.append({"role": MODEL if role == "assistant" else USER, "parts": parts})
        else:
            self._put(MODEL if role == "assistant" else USER, parts, message, path)
            report_members(message, writing, path)
        self.previous = role

    def _put(self, role: str, parts: list[Wire], message: Message, path: Path) -> None:
        writing = self.writing
        joined = writing.encoding_of(message).get("joined")
        if joined is None:
            joined = message["role"] == "tool" == self.previous
        elif joined:
            beside = ("tool",) if message["role"] == "user" else ("tool", "user")
            joined = bool(parts) and message["role"] in ("tool", "user") and self.previous in beside
        if joined and isinstance(before := self.wires[-1].get("parts"), list):
            before += parts
            report_joined(message, writing, path)
            return
        if not parts and not came_blank(message, role, writing):
            filler = [{"type": "text", "text": FILLER}]
            writing.loss.replace(
                (*path, "content"), filler, "filler", "representation", "the target takes no empty turn"
            )
            parts = [{"text": FILLER}]
        wire: Wire = {"role": role, "parts": parts}
        self.wires.append(wire)
        if "provider_state" in message:
            members_to_wire(message, wire, CONTENT, writing, path)
            spell(wire, message, writing)

    def release(self, to: Path) -> None:
        """Media that could not stand in the results before go into a user content of their own."""
        if not self.writing.outside:
            return
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
            part = next(part for part in parts if "functionCall" in part or "function_call" in part)
            signed = "thoughtSignature" in part or "thought_signature" in part
            if not signed and not (self.writing.same_origin and self.writing.encoding_of(block).get("unsigned")):
                part["thoughtSignature"] = SENTINEL
                where = (*path, "content", index, "provider_state", "signature")
                message = "the target demands a signature here, and there is none: a stand-in is sent"
                self.writing.loss.replace(where, SENTINEL, "required_default", "representation", message)
            return


# ---------------------------------------------------------------------------------------------- order


def _in_order(messages: list[Message], first: int, writing: Writing) -> Order:
    """The positions of messages as the wire wants them; what was read in another order stays in it."""
    order = arranged(messages, RESULTS, writing, first)
    if isinstance(order, range):
        return order
    if writing.same_origin and not writing.whole and not _find_their_calls(messages, order, writing):
        writing.paired = False  # an edit: results are no longer read as those of their calls
        order = arranged(messages, RESULTS, writing, first, as_read=False)
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
    return message["role"] == "tool" and any(block["type"] in MEDIA for block in message["content"][0]["content"])


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


def _find_their_calls(messages: list[Message], order: Order, writing: Writing) -> bool:
    """Whether results of an own request are read as those of their calls: most say so by place alone, which an edit changes."""
    reading = Reading(writing.endpoint, NamedIds())
    calls: dict[str, tuple[str, str, str | None]] = {}
    alone: set[str] = set()
    previous = ""
    for position in order:
        message = messages[position]
        role = message["role"]
        if role == "assistant":
            if previous != role:
                reading.turn()
            for block in message["content"]:
                if block["type"] == "tool_use":
                    name, wire_id = block["name"], writing.owned(block).get("id") or None
                    calls[block["id"]] = reading.call(name, wire_id), name, wire_id
        elif role == "tool" and message["content"] and message["content"][0]["type"] == "tool_result":
            block = message["content"][0]
            encoding = writing.encoding_of(block)
            expected, name, wire_id = calls.get(block["tool_use_id"], ("", "", None))
            found, _, called = reading.result(encoding.get("name", name) or "", encoding.get("id", wire_id) or None)
            if found != expected and (expected or called is not None):
                return False
            if called is None:
                if block["tool_use_id"] in alone:
                    return False
                alone.add(block["tool_use_id"])
        previous = role
    return True


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


Request = dict[str, Any]
Item = dict[str, Any]
Writer = Callable[[Request, Endpoint], tuple[Item, list[dict[str, Any]]]]

# ---------------------------------------------------------------------------------------------- quirks

_MOST_READINGS: Final = 4  # what is left alone may bring to light what its repair had hidden
_PLACES: Final = {"assistant": "model", "tool": "user"}


def record_quirks(request: Request, encoding: Item, reading: Reading, endpoint: Endpoint, to_wire: Writer) -> None:
    """Notes in a request that was just read, and in its `encoding`, what a writer would repair in it; most requests hold
    nothing of that."""
    messages: list[Item] = request["messages"]
    if reading.unsigned and demands_signatures(endpoint, (request.get("model") or "").partition(":")[2]):
        for call in reading.unsigned:
            note(call, "unsigned", endpoint.state)
    for message in messages[:2]:
        if message["role"] == "assistant":
            if begins_with_call(messages, range(len(messages))):
                encoding["call_first"] = True
            break
    if reading.unusual:
        note_disorder(messages, RESULTS, endpoint.state)
        _reread(request, encoding, endpoint, to_wire)


def record_names(request: Request, encoding: Item, reading: Reading) -> None:
    """Notes the names of tools that do not fit the grammar, and those of two tools."""
    names: set[str] = set()
    again: list[str] = []
    for tool in request.get("tools") or ():
        if tool.get("kind") == "provider":
            continue
        if tool["name"] in names:
            again.append(tool["name"])
        names.add(tool["name"])
    if again:
        encoding["again"] = again
    if odd := [name for name in (names | reading.names if names else reading.names) if not fits_name(name)]:
        encoding["names"] = sorted(odd)


# ---------------------------------------------------------------------------------------------- quirks: what a writer repairs


def _reread(request: Request, encoding: Item, endpoint: Endpoint, to_wire: Writer) -> None:
    """Notes in the request what a writer reports of what is written of it, until it reports nothing."""
    # of a model nothing is known here: what was written for it is not measured by what we know of it
    reader = Endpoint(endpoint.adapter, endpoint.provider, None, endpoint.dialect)
    for _ in range(_MOST_READINGS):
        try:
            entries = [entry for entry in to_wire(request, reader)[1] if entry["code"] not in _NO_REPAIR]
        except InvalidRequest:
            break
        if not entries:
            return
        for entry in entries:
            _note_entry(entry, request, endpoint)
    # there is no other way to write it than as it was
    encoding["whole"] = imprint(request, "request")


_NO_REPAIR: Final = ("envelope",)  # said wherever it stands, and read back


def _note_entry(entry: dict[str, Any], request: Request, endpoint: Endpoint) -> None:
    match entry["path"].split("/")[1:]:
        case ["messages", position, "content", number, *inner]:
            message = request["messages"][int(position)]
            if inner == _SIGNATURE:
                note(message["content"][int(number)], "unsigned", endpoint.state)
                return
            role: str = message["role"]
            block, place = message["content"][int(number)], _PLACES.get(role, role)
            if block["type"] == "tool_result" and len(inner) > 1 and inner[0] == "content":
                block, place = block["content"][int(inner[1])], RESULT
            note(block, "odd", endpoint.state, imprint(block, place))
        case _:
            pass


_SIGNATURE: Final = ["provider_state", "signature"]
