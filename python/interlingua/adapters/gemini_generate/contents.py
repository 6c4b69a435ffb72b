"""
Contents in both directions: canonical messages have five roles, wire contents are turns of a user and a model.

Reading: each functionResponse becomes a message of role tool; the other parts of its content become a message of role
user. Writing: results follow their calls directly, in one content and in the order of the calls. Every other message is
a content of its own. Instructions are placed in `systemInstruction`, later ones in a user turn with a mark.
"""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from interlingua.adapters._content.media import KINDS
from interlingua.adapters._engine.kit import Wire
from interlingua.adapters._engine.verbatim import Items, is_imprinted, keep_item, keep_spellings, may_differ
from interlingua.adapters._history.order import Order, are_paired, note_disorder
from interlingua.adapters._history.turns import Turns, messages_of, note_begin, user_messages
from interlingua.adapters._requests.requests import unmeasured
from interlingua.adapters.gemini_generate.context import (
    MODEL,
    SYSTEM,
    USER,
    Reading,
    Writing,
    generation,
)
from interlingua.adapters.gemini_generate.parts import blocks_from_parts, is_call, parts_to_wire, result_to_wire
from interlingua.adapters.gemini_generate.tables import SENTINEL
from interlingua.adapters.gemini_generate.tools import Offered
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import CannotAdapt, InvalidWire
from interlingua.canonical.ids import NamedIds
from interlingua.canonical.loss import Loss, Path, pointer

Message = dict[str, Any]
Block = dict[str, Any]

CONTENT: Final = frozenset(("role", "parts"))

# ---------------------------------------------------------------------------------------------- from the wire


def system_from_wire(content: Any, reading: Reading) -> Message:
    """Read the `systemInstruction` as the first message."""
    message: Message = {
        "role": "system",
        "content": blocks_from_parts(_parts(content, ("systemInstruction",), reading), SYSTEM, reading),
    }
    if len(content) > 1:
        _keep_fields(message, content, reading)
        if "role" in content:  # many clients send it, though only one role is possible
            reading.silent["/role"] = {"raw": content["role"]}
    _keep_silent(message, "", reading)
    return message


def _keep_silent(message: Message, role: str, reading: Reading) -> None:
    """Keep the members of a content and of its parts that have no effect."""
    keep_spellings(message, reading.silent, reading.endpoint, role)
    reading.silent = {}


def contents_from_wire(contents: list[Any], reading: Reading, messages: list[Message]) -> list[int]:
    """Append the messages of the contents, usually one for each; return the position of the first message of each.

    Raises `InvalidWire` with the pointer of the value that cannot be read.
    """
    starts: list[int] = []
    previous, begun = "", False  # `begun`: the current step of the model has a call
    for position, content in enumerate(contents):
        parts = _parts(content, ("contents", position), reading)
        role = content.get("role")
        first = len(messages)
        starts.append(first)
        if role == MODEL:
            if previous != MODEL:
                reading.turn()
            blocks = blocks_from_parts(parts, MODEL, reading)
            messages.append({"role": "assistant", "content": blocks})
            if not begun and (call := _first_call(blocks)) is not None:
                begun = True
                reading.unsigned = reading.unsigned or not _is_signed(call)
            previous = MODEL
        else:
            if role is not None and type(role) is not str:
                raise InvalidWire("the role must be user or model", path=pointer(("contents", position, "role")))
            found = user_messages(blocks_from_parts(parts, USER, reading), reading)
            messages += found
            if len(found) > 1 and found[-1]["role"] == "user":
                reading.must_compare = True
            if role != USER or previous == "tool" == found[0]["role"] or reading.open:
                reading.must_compare = True
            previous, begun = found[-1]["role"], False
            if previous == "user":
                reading.unsigned = False
        if len(content) > 2 or role is None:
            _keep_fields(messages[first], content, reading)
        if reading.silent:
            _keep_silent(messages[first], MODEL if role == MODEL else USER, reading)
    if starts and _begins_with_call(messages, range(starts[0], len(messages))):
        note_begin(messages[starts[0]], reading)
    if may_differ(reading.must_compare):
        note_disorder(messages, reading.state, by_turn=True)
    return starts


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
        reading.must_compare = True
        parts = [] if parts is None else [parts] if type(parts) is dict else parts
    if type(parts) is not list:
        raise InvalidWire("parts must be a list", path=pointer((*path, "parts")))
    for part in parts:
        if type(part) is not dict:
            raise InvalidWire("a part must be an object", path=pointer((*path, "parts", parts.index(part))))
    return parts


def _keep_fields(message: Message, content: Wire, reading: Reading) -> None:
    """Keep the members of a content besides role and parts."""
    if fields := {name: value for name, value in content.items() if name not in CONTENT}:
        message["provider_state"] = reading.state(fields=fields)


# ---------------------------------------------------------------------------------------------- to the wire


class Read(NamedTuple):
    """The wire values from which a request was just read: instructions, contents, the position of the first message of
    each content, the `offered` tools; and the requested model, if known."""

    instructions: Wire | None
    contents: list[Wire]
    starts: list[int]
    offered: Offered
    model: str


def keep_message(message: Message, raw: Wire, reading: Reading) -> None:
    """Keep from the message of a response what a request that contains the message spells differently."""
    state = reading.state(encoding={"names": sorted(reading.names)})
    writing = Writing({"messages": [message], "provider_state": state}, unmeasured(reading.endpoint), Loss())
    contents = _Contents([message], writing)
    contents.arrange()
    contents.write_messages()
    contents.demand_signatures(writing.model)
    keep_item(message, raw, contents.wires[0], reading.endpoint, writing.loss.entries)


def contents_to_wire(request: dict[str, Any], body: Wire, writing: Writing, *, read: Read | None = None) -> None:
    """Write `systemInstruction` and `contents`; `read` contains those from which the messages were just read."""
    messages: list[Message] = request["messages"]
    contents = _Contents(messages, writing)
    contents.write_leading(request, body)
    items = Items(messages, "messages", writing)
    if contents.first and not request.get("system") and (read is not None or "provider_state" in messages[0]):
        _settle_leading(items, body, contents.first, read)
    entries_before = [*writing.loss.entries]
    contents.write_contents()
    body["contents"] = contents.wires
    if read is not None:
        items.keep(read.contents, messages_of(read.starts, len(messages)), contents.wires, contents.of)
        return
    if not isinstance(contents.order, range) or any("provider_state" in message for message in messages):
        body["contents"] = items.put_back(contents.wires, contents.of)
        if contents.may_pair_otherwise() and not contents.are_paired(body["contents"]):
            # an edit: the reader would pair the results with other calls by name or position
            writing.begin_again(entries_before)
            contents.begin_again()
            contents.write_contents(as_read=False)
            body["contents"] = items.put_back(contents.wires, contents.of, except_at=contents.otherwise())
    writing.report_merges()
    contents.report_media()
    writing.report_moves()


def _settle_leading(items: Items, body: Wire, count: int, read: Read | None) -> None:
    """Restore the instructions as received; keep those that were just read."""
    of = [range(count)]
    written = [body["systemInstruction"]] if "systemInstruction" in body else []
    if read is not None:
        items.keep([read.instructions], of, written, of[: len(written)])
    elif found := items.put_back(written, of[: len(written)]):
        body["systemInstruction"] = found[0]


class _Contents(Turns[Writing]):
    """The contents: each message is a content of its own, but the results of one turn are one content together.

    Media that results cannot contain are placed in a user content after them.
    """

    __slots__ = ("released",)

    def __init__(self, messages: list[Message], writing: Writing) -> None:
        super().__init__(messages, writing, parts_to_wire, result_to_wire, "parts", MODEL, joins=False)
        self.after_turn = writing.outside
        self.released: list[tuple[Path, str, Path]] = []

    def write_contents(self, *, as_read: bool = True) -> None:
        """Write the messages in the order of the wire, with what the provider demands in addition (`arrange`)."""
        self.arrange(as_read=as_read)
        self.write_messages()
        self.begin_with_user()
        self.demand_signatures(self.writing.model)

    def put_system(self, content: list[Wire], body: Wire) -> Wire:
        body["systemInstruction"] = wire = {"parts": content}
        return wire

    def demands_user(self) -> bool:
        return _begins_with_call(self.messages, self.order)

    def pinned(self) -> Collection[int]:
        """Return the last result of each turn with media after its results: nothing else moves to that place.

        Raises `CannotAdapt` if a result follows a later turn of the model: two rules then require the same place.
        """
        messages, writing = self.messages, self.writing
        if writing.takes_media_in_results() or not any(map(_holds_media, messages)):
            return []
        pinned: list[int] = []
        last, late, media = -1, -1, False
        for position in self.order:
            if messages[position]["role"] != "assistant":
                late = max(late, position)
            elif position < late:
                why = "a result follows a later turn of the model, and this model takes media of results only after the results"
                raise CannotAdapt(why, path=pointer(("messages", late)), adapter=writing.endpoint.adapter)
            if messages[position]["role"] == "tool":
                last, media = position, media or _holds_media(messages[position])
            elif media:
                pinned.append(last)
                media = False
        return [*pinned, last] if media else pinned

    def write_after_turn(self, position: int) -> None:
        """Put media that the preceding results cannot contain into a user content of their own."""
        writing = self.writing
        # a message that moves is placed after the media
        before = next((to for moved, to in writing.moves if moved == position), position)
        self.wires.append({"role": USER, "parts": [part for _, _, part in writing.outside]})
        self.of.append([])
        self.released += [(path, left, ("messages", before)) for path, left, _ in writing.outside]
        writing.outside.clear()

    def demand_signatures(self, model: str) -> None:
        """Put the documented stand-in on the first call of every step after the last message of the user.

        This applies if the model demands signatures and the call has none.
        """
        if not self.wires or not demands_signatures(self.writing.endpoint, model):
            return
        last = max((at for at in self.order if self.messages[at]["role"] not in ("assistant", "tool")), default=-1)
        begun = False
        for wire, of in zip(self.wires, self.of, strict=True):
            if wire["role"] != MODEL:
                begun = False
            elif not begun and of[0] > last:
                begun = self._is_signed(wire["parts"], of[0])

    def _is_signed(self, parts: list[Wire], position: int) -> bool:
        """Sign the first call of a content; return False if it has no call."""
        for index, block in enumerate(self.messages[position]["content"]):
            if block["type"] == "tool_use":
                # an item that could not be read may have this name, too
                part = next(part for part in parts if "functionCall" in part and is_call(part, self.writing))
                if "thoughtSignature" not in part:
                    part["thoughtSignature"] = SENTINEL
                    where = ("messages", position, "content", index, "provider_state", "signature")
                    why = "the target requires a signature here, and there is none: a stand-in is sent"
                    self.writing.loss.replace(where, SENTINEL, "required_default", "representation", why)
                return True
        return False

    def report_media(self) -> None:
        """Report media that are placed after the texts of their results, or after the results."""
        writing = self.writing
        for path, to in writing.media_moves:
            writing.loss.move(path, to, "reordered", "representation", "media follow the text of a result")
        for path, left, to in self.released:
            message = "results of this model contain only text: the medium is sent in the next user content"
            value = {"type": "text", "text": left}
            writing.loss.move(path, to, "media_moved", "weakened", message, left=value)

    # ------------------------------------------------------------------------------------------ pairing of results

    def otherwise(self) -> set[int]:
        """Return the messages of contents that may contain results without the name or id of their call."""
        endpoint = self.writing.endpoint
        return {
            at
            for at in self.order
            if self.messages[at]["role"] != "assistant" and is_imprinted(self.messages[at], endpoint)
        }

    def may_pair_otherwise(self) -> bool:
        """Whether results may be read as those of other calls because contents were restored."""
        if not isinstance(self.order, range):
            return self.writing.same_origin
        return any(message["role"] == "tool" for message in self.messages) and bool(self.otherwise())

    def are_paired(self, wires: list[Wire]) -> bool:
        """Whether results are read as those of their calls: many are paired by position only, which an edit changes."""
        found: list[Message] = []
        contents_from_wire(wires, Reading(self.writing.endpoint, NamedIds()), found)
        return are_paired(found, [self.messages[position] for position in self.order])


def _holds_media(message: Message) -> bool:
    return message["role"] == "tool" and any(block["type"] in KINDS for block in message["content"][0]["content"])


def _begins_with_call(messages: list[Message], order: Order) -> bool:
    """Whether a call comes before any user turn."""
    for position in order:
        message = messages[position]
        if message["role"] != "assistant":
            return False
        if any(block["type"] == "tool_use" for block in message["content"]):
            return True
    return False


# ---------------------------------------------------------------------------------------------- signatures


def demands_signatures(endpoint: Endpoint, model: str) -> bool:
    """Whether a model demands signatures on its calls."""
    demanded = endpoint.capabilities.get("thought_signatures")
    return generation(model, 0) > 2 if demanded is None else demanded is True
