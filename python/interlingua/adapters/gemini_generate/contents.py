"""
Contents: what the wire has for messages, read whole; and what stands in one beside its parts, both ways.

Each functionResponse is a message of role tool, what stands beside it in the content a message of role user.
"""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import MESSAGE_MEMBERS, Wire, keep, report_foreign_state, report_unknown, within
from interlingua.adapters._order import PLAIN
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.parts import blocks_from_parts
from interlingua.adapters.gemini_generate.state import MODEL, SYSTEM, USER, report_cache
from interlingua.canonical.errors import InvalidWire
from interlingua.canonical.loss import Path, pointer

Message = dict[str, Any]
Block = dict[str, Any]

INSTRUCTIONS: Final = ("system", "developer")
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


# ---------------------------------------------------------------------------------------------- to the wire


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
