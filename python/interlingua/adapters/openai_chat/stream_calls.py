"""
The calls of one choice of a stream: their members as received, and their argument text in pieces.

Calls stay open next to text and reasoning, and end with the choice. Some providers do not state the call of a piece.
"""

from typing import Any, Final

from interlingua.adapters._answers.stream_reader import Block, Blocks, Part
from interlingua.adapters._engine.kit import Wire, arguments_text, parse_arguments
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters.openai_chat.tools import call_from_wire, legacy_call

_TYPES: Final = (None, "function", "custom")
_CALLS_LANE: Final = 5
_LEGACY_LANE: Final = 6


class Call(Part):
    """A call that is being streamed. `raw` holds its members, `inner` those of its function; the argument text is in
    pieces. Before the call begins its index is -1. `key` is its number, if it has one. `whole`: the arguments came as
    an object."""

    __slots__ = ("canonical", "inner", "legacy", "whole")

    def __init__(self, number: int | None, *, legacy: bool = False) -> None:
        super().__init__("call", {}, -1, number)
        self.legacy = legacy
        self.inner: Wire = {}
        self.canonical = ""
        self.whole = False

    @property
    def name(self) -> str:
        """The name, once it has been received."""
        return self.inner.get("name", "")

    def has_begun(self) -> bool:
        """Whether its block has begun."""
        return self.index >= 0

    def may_be_run(self) -> bool:
        """Whether it is a function or custom call. Any other is an item of the provider, emitted when complete."""
        return self.raw.get("type") in _TYPES

    def is_whole(self) -> bool:
        """Whether the arguments are a complete object: what follows under the same index is then another call."""
        return parse_arguments(self.text) is not None

    def patch(self, wire: Wire, kind: str) -> None:
        """Patch its members. A repeated id or name replaces the old one, but some providers give each piece its own
        id."""
        raw = self.raw
        for name, value in wire.items():
            match name:
                case "index" | "function" | "custom":
                    continue
                case "id" if not isinstance(value, str):
                    continue
                case "id" if raw.get("id") and (not value or (self.has_begun() and not self.is_whole())):
                    continue
                case "type" if self.has_begun() or not isinstance(value, str) or not value:
                    continue
                case _ if value is not None:
                    raw[name] = value
                case _:
                    pass
        if kind == "custom":
            raw["type"] = kind

    def wire(self, text: str) -> Wire:
        """Return the call as a complete response would have it with these arguments."""
        if self.legacy:
            return {**self.inner, "arguments": text}
        if not (self.may_be_run() or self.inner or text):
            return self.raw
        kind, member = ("custom", "input") if self.raw.get("type") == "custom" else ("function", "arguments")
        return {"type": "function", **self.raw, kind: {**self.inner, member: text}}

    def begun(self, reading: Reading) -> Block:
        """Return the block as it is known when the call begins."""
        block: Block = {"type": "tool_use", "id": self.canonical, "name": self.name, "input": {}}
        if self.raw.get("type") == "custom":
            block |= {"kind": "custom", "input_raw": ""}
        if not self.legacy and "id" in self.raw:
            block["provider_state"] = reading.state(id=self.raw["id"])
        elif self.raw.keys() - {"type"} or len(self.inner) > 1:
            block["provider_state"] = reading.state()  # members of the provider will follow
        return block

    def read(self, reading: Reading) -> Block:
        """Return the block of a complete call."""
        wire = self.wire(self.text)
        if self.legacy and self.has_begun():
            return legacy_call(wire, self.canonical, reading)
        return call_from_wire(wire, reading, self.canonical)


class Calls:
    """The calls of one answer: all of them, and the open ones."""

    __slots__ = ("_blocks", "_counted", "_reading", "all", "open")

    def __init__(self, blocks: Blocks, reading: Reading) -> None:
        self.all: list[Call] = []
        self.open: list[Call] = []
        self._counted: dict[int, list[Call]] = {}  # the open calls by their numbers: an answer may hold many
        self._blocks = blocks
        self._reading = reading

    def take(self, wire: Wire) -> None:
        """Process a piece of a call."""
        kind = "custom" if wire.get("type") == "custom" or "custom" in wire else "function"
        inner = wire.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        call = self._which(wire, inner)
        call.patch(wire, kind)
        self._grow(call, inner, inner.get("input" if kind == "custom" else "arguments"))

    def take_legacy(self, inner: Wire) -> None:
        """Process a piece of a `function_call`, of which an answer has one."""
        call = next((call for call in self.all if call.legacy), None) or self._add(Call(None, legacy=True))
        self._grow(call, inner, inner.get("arguments"))

    def _add(self, call: Call) -> Call:
        self.all.append(call)
        self.open.append(call)
        return call

    def _which(self, wire: Wire, inner: Wire) -> Call:
        """Return the call that a piece belongs to; a new one, if it continues none."""
        number, identity, name = wire.get("index"), wire.get("id"), inner.get("name")
        number = number if type(number) is int and number >= 0 else None
        calls = self._candidates(number, begins=bool(identity or name))
        call = _continued_by_id(calls, identity, name) if identity else _continued(calls, name, number)
        if call is None:
            call = self._add(Call(number))
            if number is not None:
                self._counted.setdefault(number, []).append(call)
        return call

    def _candidates(self, number: int | None, *, begins: bool) -> list[Call]:
        """Return the calls that a piece of this number may belong to. `begins`: the piece may begin a call."""
        if number is None:
            return [call for call in self.open if not call.legacy]
        calls = self._counted.get(number, [])
        if calls or begins:
            return calls
        # the piece that began the call may have had no index
        return [call for call in self.open if not call.legacy and call.key is None]

    def _grow(self, call: Call, inner: Wire, arguments: Any) -> None:
        if not isinstance(inner.get("name"), (str, type(None))):
            raise TypeError("name")
        for name, value in inner.items():
            if name not in ("arguments", "input") and value is not None and not (name == "name" and not value):
                call.inner[name] = value
        if call.whole:
            return  # nothing follows a complete object
        if isinstance(arguments, dict):
            call.whole, arguments = True, arguments_text(arguments)
        if isinstance(arguments, str):
            call.pieces.append(arguments)
        if call.has_begun():
            self._blocks.more(call.index, arguments if isinstance(arguments, str) else "")
        elif call.name and call.may_be_run():
            call.canonical = self._reading.call(None if call.legacy else call.raw.get("id") or None, call.name)
            self._blocks.pause()
            lane = (_LEGACY_LANE if call.legacy else _CALLS_LANE, self.all.index(call))
            call.index = self._blocks.begin(call.begun(self._reading), lane)
            self._blocks.more(call.index, call.text)

    def end(self) -> None:
        """End all calls. Emit calls now that came without a name or that are items of the provider."""
        for call in self.open:
            if call.has_begun():
                self._blocks.end(call.index, call.read(self._reading))
            else:
                self._blocks.at_once(call.read(self._reading), (_CALLS_LANE, self.all.index(call)))
        self.open = []
        self._counted = {}

    def members(self) -> Wire:
        """Return the members of a complete response that hold the calls."""
        calls = [call.wire(call.text) for call in self.all if not call.legacy]
        members: Wire = {"tool_calls": calls} if calls else {}
        for call in self.all:
            if call.legacy:
                members["function_call"] = call.wire(call.text)
        return members


def _continued_by_id(calls: list[Call], identity: Any, name: Any) -> Call | None:
    """Return the call that a piece with an id continues: that of the id, or the last one if its pieces had no id until
    now, or have another one each."""
    for call in reversed(calls):
        if call.raw.get("id") == identity:
            return call
    if not calls:
        return None
    last = calls[-1]
    may_continue = not last.raw.get("id") or (last.name and not name)
    return last if may_continue and not (last.name and last.is_whole()) else None


def _continued(calls: list[Call], name: Any, number: int | None) -> Call | None:
    """Return the call that a piece without an id continues: the last one, unless the piece names another call."""
    if not calls:
        return None
    last = calls[-1]
    is_another = name and last.name and (number is None or last.is_whole() or name != last.name)
    return None if is_another else last
