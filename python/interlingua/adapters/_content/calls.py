"""
Read and write tool calls: their ids and their arguments. The rows of all wires consist of these members.

On some wires the arguments are an object. On others they are the text that the model wrote, which should be a JSON
object. That text is kept if we would write it differently. A text that is no object stays in `input_raw`. On a wire
that has only functions, a call with free text is written as a call with a single text argument
(spec/2-requests.md#free-text-tools).
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._engine.items import ItemRow, Member, read_item
from interlingua.adapters._engine.kit import NOTHING, arguments_text, is_bare, keep_spelling, parse_arguments
from interlingua.adapters._engine.reading import Reading
from interlingua.adapters._engine.writing import Writing
from interlingua.canonical.loss import Loss, Path

Block = dict[str, Any]

# ---------------------------------------------------------------------------------------------------- ids


def _write_id(block: Block, writing: Writing, _: Path) -> Any:
    return writing.call_id(block, writing.state_of(block))


def _write_result_id(block: Block, writing: Writing, _: Path) -> Any:
    return writing.result_id(block)


Write = Callable[[Block, Any, Path], Any]


def call_id(wire: str = "id", write: Write = _write_id, *, always: bool = False, needed: bool = False) -> Member:
    """Return the member for the id of a call, as its provider assigned it."""

    def read(raw: Any, block: Block, reading: Reading) -> None:
        if type(raw) is not str:
            raise TypeError(wire)
        block.setdefault("provider_state", reading.state())["id"] = raw

    return Member(wire, ("id",), read, write, always=always, needed=needed)


def read_call(row: ItemRow, wire: Any, reading: Reading, canonical: str = "", kind: str = "", **members: Any) -> Block:
    """Read a call with its row. `canonical` is its canonical id, if it has one already. `kind` is the name under
    which the reader registers the call, if that is not its own name. `members` are further members of the block.

    Raises TypeError or KeyError for a value that is no call.
    """
    block = read_item(row, wire, {"type": "tool_use", "input": {}, **members}, reading)
    state: dict[str, Any] = block.get("provider_state") or NOTHING
    block["id"] = canonical or reading.call(state.get("id") or None, kind or block["name"])
    return block


def plain_call(
    wire_id: Any, name: Any, given: Any, kind: type, reading: Reading, canonical: str = "", known_as: str = ""
) -> Block | None:
    """Read a usual call: an id, a name, and arguments of the type `kind` that the wire has. Return None for any other
    call."""
    if type(wire_id) is not str or type(name) is not str or not name or type(given) is not kind:
        return None
    block: Block = {
        "type": "tool_use",
        "id": canonical or reading.call(wire_id or None, known_as or name),
        "name": name,
        "input": given,
        "provider_state": {**reading.origin, "id": wire_id},
    }
    if type(given) is str:
        read_text(given, block)
    return block


def is_plain(block: Block) -> bool:
    """Whether a call has only an id, a name and an object, and its provider state only an id."""
    state: Block | None = block.get("provider_state")
    return len(block) == 4 if state is None else len(block) == 5 and is_bare(state)


def result_id(wire: str) -> Member:
    """Return the member for the id of the call that a result answers. The id is kept in the state if no call has it."""

    def read(raw: Any, block: Block, reading: Reading) -> None:
        if type(raw) is not str:
            raise TypeError(wire)
        call = block["tool_use_id"] = reading.take_call(raw)
        if reading.own_id(call, raw) is not None:
            block["provider_state"] = reading.state(id=raw)

    return Member(wire, ("tool_use_id",), read, _write_result_id, needed=True)


# ---------------------------------------------------------------------------------------- arguments that are an object

Other = Callable[[Any, Block, Any], None]


def _refuse(raw: Any, block: Block, reading: Reading) -> None:
    raise TypeError("arguments")


def arguments(wire: str, other: Other = _refuse) -> Member:
    """Return the member for the arguments of a call as an object; `other` reads a value of another type."""

    def read(raw: Any, block: Block, reading: Reading) -> None:
        other(raw, block, reading)
        reading.must_compare = True

    member = Member(wire, _SAID, read, object_of, always=True)
    member.plain = dict
    return member


_SAID: Final = ("input", "input_raw", "kind")


def object_of(block: Block, writing: Any, path: Path) -> Any:
    """Return the arguments of a call as an object, for wires that accept nothing else."""
    if block.get("kind", "function") != "function":
        return _free_text_as_object(block.get("input_raw"), writing.loss, path)
    if "input_raw" in block:
        message = "the wire accepts only a JSON object as arguments"
        writing.loss.drop((*path, "input_raw"), "arguments_invalid", "lost", message)
    return block["input"]


# ---------------------------------------------------------------------------------------- arguments that are a text


def stated(text: str) -> str:
    """Return an argument text; the texts that models write for a call without arguments become an empty object."""
    return "{}" if text.strip() in ("", "null") else text


def argument_text(wire: str = "arguments") -> Member:
    """Return the member for the arguments of a call as the text that the model wrote. Some clients send an object
    instead."""

    def read(raw: Any, block: Block, reading: Reading) -> None:
        if type(raw) is dict:
            block["input"] = raw
            reading.must_compare = True
        elif type(raw) is str:
            read_text(raw, block)
        else:
            raise TypeError(wire)

    return Member(wire, _SAID, read, text_of, always=True)


def read_text(text: str, block: Block) -> None:
    """Read an argument text into `input`; it is parsed once. A text that we would write differently is kept in the
    provider state, which the call must have."""
    value = parse_arguments(stated(text))
    block["input"] = value or {}
    if value is None:
        block["input_raw"] = text
    elif arguments_text(value) != text:
        keep_spelling(block["provider_state"], _TEXT, text)


_TEXT: Final = "arguments"
"""Spelling of a call: its argument text."""


def text_of(block: Block, writing: Writing, path: Path) -> str:
    """Return the argument text of a call: the text that could not be read, or the kept text if it still fits, else
    our own."""
    raw: str | None = block.get("input_raw")
    if block.get("kind") == "custom":
        written = arguments_text(_free_text_as_object(raw, writing.loss, path))
    elif raw is not None:
        report_text(block, path, writing.loss)
        return raw
    else:
        written = arguments_text(block["input"])
    text = writing.encoding_of(block).get(_TEXT)
    return text if text is not None and _is_same(text, written) else written


def _is_same(text: str, written: str) -> bool:
    """Whether a kept text still has the arguments of the call; the conversation may have been edited."""
    parsed = parse_arguments(stated(text))
    return parsed is not None and arguments_text(parsed) == written


def report_text(block: Block, path: Path, loss: Loss) -> None:
    """Report what is lost of a call with an unreadable argument text, on a wire that has arguments as a text."""
    parsed = parse_arguments(stated(block["input_raw"]))
    message = "the argument text is what the model sees"
    if parsed is not None:
        loss.drop((*path, "input_raw"), "arguments_invalid", "representation", message)
    if block["input"] != (parsed or {}):
        loss.replace((*path, "input"), parsed or {}, "arguments_invalid", "representation", message)


# ---------------------------------------------------------------------------------------------------- free text

ARGUMENT: Final = "input"
"""The only argument of a function that represents a free-text tool."""


def as_arguments(text: str | None) -> dict[str, Any]:
    """Return arguments with the text as the only one."""
    return {ARGUMENT: text or ""}


def _free_text_as_object(text: str | None, loss: Loss, path: Path) -> dict[str, Any]:
    """Return the arguments that represent the text of a free-text call; report the change."""
    said = as_arguments(text)
    message = "a free-text call is written as a call with one text argument"
    loss.replace((*path, "kind"), "function", "custom_tool", "representation", message)
    loss.replace((*path, "input"), said, "custom_tool", "representation", message)
    if text is not None:
        loss.drop((*path, "input_raw"), "custom_tool", "representation", message)
    return said


def free_text(wire: str = "input") -> Member:
    """Return the member for the text of a free-text call."""

    def read(raw: Any, block: Block, _: Reading) -> None:
        if type(raw) is not str:
            raise TypeError(wire)
        block["kind"], block["input"], block["input_raw"] = "custom", {}, raw

    return Member(wire, _SAID, read, _write_free_text, needed=True)


def _write_free_text(block: Block, writing: Writing, path: Path) -> str:
    if block["input"]:
        message = "a free-text call has no arguments besides its text"
        writing.loss.replace((*path, "input"), {}, "unsupported_value", "lost", message)
    text: str | None = block.get("input_raw")
    if text is None:
        message = "the wire requires a text"
        writing.loss.replace((*path, "input_raw"), "", "required_default", "representation", message)
    return text or ""
