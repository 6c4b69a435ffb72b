"""
The calls of one choice of a stream: their members as they came, and their argument text in pieces.

They stay open beside text and reasoning, and end with the choice. Which call a piece belongs to is not said by all.
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
    """A call that is being streamed. `raw` are its members, `inner` those of its function, the argument text is in pieces.
    Before it begins its index is -1; `key` is its number, if it has one. `whole` says that the arguments came as an object."""

    __slots__ = ("canonical", "inner", "legacy", "whole")

    def __init__(self, number: int | None, *, legacy: bool = False) -> None:
        super().__init__("call", {}, -1, number)
        self.legacy = legacy
        self.inner: Wire = {}
        self.canonical = ""
        self.whole = False

    @property
    def name(self) -> str:
        """The name, once it has come."""
        return self.inner.get("name", "")

    def has_begun(self) -> bool:
        """Whether its block has begun."""
        return self.index >= 0

    def may_be_run(self) -> bool:
        """Whether it is a call as the contract knows them; any other is an item of the provider, and comes when it is whole."""
        return self.raw.get("type") in _TYPES

    def is_whole(self) -> bool:
        """Whether the arguments are an object already: what follows under the same index is then another call."""
        return parse_arguments(self.text) is not None

    def patch(self, wire: Wire, kind: str) -> None:
        """Patches its members. An id or a name that comes again replaces, but some give each piece of a call an id of its own."""
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
        """The call as a whole answer would have it with these arguments."""
        if self.legacy:
            return {**self.inner, "arguments": text}
        if not (self.may_be_run() or self.inner or text):
            return self.raw
        kind, member = ("custom", "input") if self.raw.get("type") == "custom" else ("function", "arguments")
        return {"type": "function", **self.raw, kind: {**self.inner, member: text}}

    def begun(self, reading: Reading) -> Block:
        """The block as it is known when the call begins."""
        block: Block = {"type": "tool_use", "id": self.canonical, "name": self.name, "input": {}}
        if self.raw.get("type") == "custom":
            block |= {"kind": "custom", "input_raw": ""}
        if not self.legacy and "id" in self.raw:
            block["provider_state"] = reading.state(id=self.raw["id"])
        elif self.raw.keys() - {"type"} or len(self.inner) > 1:
            block["provider_state"] = reading.state()  # there will be members of the provider's own
        return block

    def read(self, reading: Reading) -> Block:
        """The block of a call that is whole."""
        wire = self.wire(self.text)
        if self.legacy and self.has_begun():
            return legacy_call(wire, self.canonical, reading)
        return call_from_wire(wire, reading, self.canonical)


class Calls:
    """The calls of one answer: all of them, and those that are open."""

    __slots__ = ("_blocks", "_counted", "_reading", "all", "open")

    def __init__(self, blocks: Blocks, reading: Reading) -> None:
        self.all: list[Call] = []
        self.open: list[Call] = []
        self._counted: dict[int, list[Call]] = {}  # those that are open, by their numbers: an answer may hold many
        self._blocks = blocks
        self._reading = reading

    def take(self, wire: Wire) -> None:
        """Takes a piece of a call."""
        kind = "custom" if wire.get("type") == "custom" or "custom" in wire else "function"
        inner = wire.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        call = self._which(wire, inner)
        call.patch(wire, kind)
        self._grow(call, inner, inner.get("input" if kind == "custom" else "arguments"))

    def take_legacy(self, inner: Wire) -> None:
        """Takes a piece of a `function_call`, of which an answer has one."""
        call = next((call for call in self.all if call.legacy), None) or self._add(Call(None, legacy=True))
        self._grow(call, inner, inner.get("arguments"))

    def _add(self, call: Call) -> Call:
        self.all.append(call)
        self.open.append(call)
        return call

    def _which(self, wire: Wire, inner: Wire) -> Call:
        """The call that a delta belongs to: by index, by a change of id, and, where neither is given, by the name."""
        number, identity, name = wire.get("index"), wire.get("id"), inner.get("name")
        number = number if type(number) is int and number >= 0 else None
        calls = [call for call in self.open if not call.legacy] if number is None else self._counted.get(number, [])
        if number is not None and not calls and not identity and not name:
            # its beginning may not have been counted
            calls = [call for call in self.open if not call.legacy and call.key is None]
        call = calls[-1] if calls else None
        if identity:
            same = next((call for call in reversed(calls) if call.raw.get("id") == identity), None)
            if same is not None:
                return same
            if call is not None and not call.raw.get("id") and not (call.name and call.is_whole()):
                return call
            if call is not None and not name and call.name and not call.is_whole():
                return call
        elif call is not None and not (name and call.name and (number is None or call.is_whole() or name != call.name)):
            return call
        call = self._add(Call(number))
        if number is not None:
            self._counted.setdefault(number, []).append(call)
        return call

    def _grow(self, call: Call, inner: Wire, arguments: Any) -> None:
        if not isinstance(inner.get("name"), (str, type(None))):
            raise TypeError("name")
        for name, value in inner.items():
            if name not in ("arguments", "input") and value is not None and not (name == "name" and not value):
                call.inner[name] = value
        if call.whole:
            return  # behind a whole object nothing follows
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
        """All calls end. Those that came without a name, or are none to run, come now."""
        for call in self.open:
            if call.has_begun():
                self._blocks.end(call.index, call.read(self._reading))
            else:
                self._blocks.whole(call.read(self._reading), (_CALLS_LANE, self.all.index(call)))
        self.open = []
        self._counted = {}

    def members(self) -> Wire:
        """The members of a whole answer that hold the calls."""
        calls = [call.wire(call.text) for call in self.all if not call.legacy]
        members: Wire = {"tool_calls": calls} if calls else {}
        for call in self.all:
            if call.legacy:
                members["function_call"] = call.wire(call.text)
        return members
