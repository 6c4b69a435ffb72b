"""
Calls that a stream tells in pieces: which call a piece belongs to, and what has come of each.

Vendors differ in what they repeat. A call is known by its index, by its id, or by neither; see the spec page.
"""

from typing import Any, Final

from interlingua.adapters._kit import Wire, arguments_text, parse_arguments
from interlingua.adapters._stream_reader import Blocks
from interlingua.adapters.openai_chat.context import Reading
from interlingua.adapters.openai_chat.parts import Block
from interlingua.adapters.openai_chat.tools import call_from_wire
from interlingua.adapters.openai_chat.turns import legacy_call

_TYPES: Final = (None, "function", "custom")
_CALLS_LANE: Final = 5
_LEGACY_LANE: Final = 6


class Call:
    """A call that is being told: its members as they came, its argument text in pieces."""

    __slots__ = (
        "arguments", "block", "canonical", "done", "extra", "id", "inner", "legacy", "number", "pieces", "type",
    )  # fmt: skip

    def __init__(self, number: int | None, *, legacy: bool = False) -> None:
        self.number = number
        self.legacy = legacy
        self.id: str | None = None
        self.type: str | None = None
        self.inner: Wire = {}
        self.extra: Wire = {}
        self.pieces: list[str] = []
        self.arguments: dict[str, Any] | None = None
        self.block: int | None = None
        self.canonical = ""
        self.done = False

    @property
    def name(self) -> str:
        """The name, once it has come."""
        return self.inner.get("name", "")

    def may_be_run(self) -> bool:
        """Whether it is a call as the contract knows them; any other is told when it is whole, as an item of the provider."""
        return self.type in _TYPES

    def is_whole(self) -> bool:
        """Whether the arguments are an object already: what follows under the same index is then another call."""
        return self.arguments is not None or parse_arguments("".join(self.pieces)) is not None

    def wants_more(self) -> bool:
        """Whether the arguments have begun to be told, or have yet to begin, and are no object so far."""
        return self.arguments is None and ("".join(self.pieces).strip() == "" or not self.is_whole())

    def wire(self) -> Wire:
        """The call as a whole answer would have it."""
        text: Any = "".join(self.pieces) if self.arguments is None else self.arguments
        if self.legacy:
            return {**self.inner, "arguments": text}
        if not (self.may_be_run() or self.inner or text):
            return self._with_id({"type": self.type, **self.extra})
        kind = "custom" if self.type == "custom" else "function"
        member = "input" if kind == "custom" else "arguments"
        return self._with_id({"type": self.type or "function", kind: {**self.inner, member: text}, **self.extra})

    def _with_id(self, call: Wire) -> Wire:
        if self.id is not None:
            call["id"] = self.id
        return call

    def begun(self, reading: Reading) -> Block:
        """The block as it is known when the call begins."""
        block: Block = {"type": "tool_use", "id": self.canonical, "name": self.name, "input": {}}
        if self.type == "custom":
            block |= {"kind": "custom", "input_raw": ""}
        if self.id is not None and not self.legacy:
            block["provider_state"] = reading.state(id=self.id)
        elif self.extra or len(self.inner) > 1:
            block["provider_state"] = reading.state()  # there will be members of the provider's own
        return block


class Calls:
    """The calls of one answer."""

    __slots__ = ("_blocks", "_counted", "_reading", "told")

    def __init__(self, blocks: Blocks, reading: Reading) -> None:
        self.told: list[Call] = []
        self._counted: dict[int, list[Call]] = {}  # by their numbers: an answer may hold many
        self._blocks = blocks
        self._reading = reading

    def take(self, wire: Wire) -> None:
        """Takes a piece of a call."""
        kind = "custom" if wire.get("type") == "custom" or "custom" in wire else "function"
        inner = wire.get(kind)
        inner = inner if isinstance(inner, dict) else {}
        call = self._which(wire, inner)
        for name, value in wire.items():
            match name:
                case "id" if call.id and call.block is not None and call.wants_more():
                    pass  # some give each piece of a call an id of its own
                case "id":
                    call.id = value if isinstance(value, str) and (value or call.id is None) else call.id
                case "type":
                    call.type = value if isinstance(value, str) and value and call.block is None else call.type
                case "index" | "function" | "custom":
                    pass
                case _:
                    if value is not None:
                        call.extra[name] = value
        if kind == "custom":
            call.type = "custom"
        self._arguments(call, inner, inner.get("input" if kind == "custom" else "arguments"))

    def take_legacy(self, inner: Wire) -> None:
        """Takes a piece of a `function_call`, of which an answer has one."""
        call = next((call for call in self.told if call.legacy), None)
        if call is None:
            call = Call(None, legacy=True)
            self.told.append(call)
        self._arguments(call, inner, inner.get("arguments"))

    def _which(self, wire: Wire, inner: Wire) -> Call:
        """The call that a delta belongs to: by index, by a change of id, and, where neither is told, by the name."""
        number, identity, name = wire.get("index"), wire.get("id"), inner.get("name")
        number = number if type(number) is int and number >= 0 else None
        told = self.told if number is None else self._counted.get(number, ())
        open_calls = [call for call in told if not call.done and not call.legacy]
        if number is not None and not open_calls and not identity and not name:
            # its beginning may not have been counted
            open_calls = [call for call in self.told if not call.done and not call.legacy and call.number is None]
        call = open_calls[-1] if open_calls else None
        if identity:
            same = next((c for c in reversed(open_calls) if c.id == identity), None)
            if same is not None:
                return same
            if call is not None and not call.id and not (call.name and call.is_whole()):
                return call
            if call is not None and not name and call.name and call.wants_more():
                return call
        elif call is not None and not (name and call.name and (number is None or call.is_whole() or name != call.name)):
            return call
        call = Call(number)
        self.told.append(call)
        if number is not None:
            self._counted.setdefault(number, []).append(call)
        return call

    def _arguments(self, call: Call, inner: Wire, arguments: Any) -> None:
        if not isinstance(inner.get("name"), (str, type(None))):
            raise TypeError("name")
        for name, value in inner.items():
            if name not in ("arguments", "input") and value is not None and not (name == "name" and not value):
                call.inner[name] = value
        begins = call.block is None and bool(call.name) and call.may_be_run()
        if begins:
            wire_id = f"function:{call.name}" if call.legacy else call.id or ""
            call.canonical = self._reading.call(wire_id, call.name)
            self._blocks.pause()
            lane = (_LEGACY_LANE if call.legacy else _CALLS_LANE, self.told.index(call))
            call.block = self._blocks.begin(call.begun(self._reading), lane)
        if call.arguments is not None:
            return  # behind a whole object nothing follows
        if isinstance(arguments, dict):
            call.arguments = arguments
            text = arguments_text(arguments)
        else:
            text = arguments if isinstance(arguments, str) else ""
            call.pieces.append(text)
        if call.block is not None:
            told = "".join(call.pieces) if begins and call.arguments is None else text
            self._blocks.more_arguments(call.block, call.canonical, told)

    def end(self) -> None:
        """Ends all calls that are being told, and tells those that came whole or without a name."""
        for number, call in enumerate(self.told):
            if call.done:
                continue
            call.done = True
            wire = call.wire()
            if call.block is None:
                self._blocks.whole(call_from_wire(wire, self._reading), (_CALLS_LANE, number))
            elif call.legacy:
                self._blocks.end(call.block, legacy_call(wire, call.canonical, self._reading))
            else:
                self._blocks.end(call.block, call_from_wire(wire, self._reading, call.canonical))

    def members(self) -> Wire:
        """The members of a whole answer that hold the calls."""
        calls = [call.wire() for call in self.told if not call.legacy]
        members: Wire = {"tool_calls": calls} if calls else {}
        for call in self.told:
            if call.legacy:
                members["function_call"] = call.wire()
        return members

    def add_unended(self, content: list[Block]) -> None:
        """Puts the calls that have not ended among the blocks: their argument text as it is, none to run.

        The wire does not say where a call ends, but behind a whole object nothing can follow.
        """
        for call in self.told:
            if call.block is not None and not call.done:
                block = call.begun(self._reading)
                text = "".join(call.pieces)
                arguments = None if call.type == "custom" else parse_arguments(text)
                if arguments is None:
                    block["input_raw"] = text
                else:
                    block["input"] = arguments
                content[call.block] = block
