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
    form: dict[str, Any] = {}
    parts = _parts(content, form, path)
    message: Message = {"role": "system", "content": blocks_from_parts(parts, SYSTEM, reading)}
    if "role" in content:
        form["system_role"] = content["role"]
    if not parts:
        form["blank"] = SYSTEM
    return _kept(message, content, form, reading)


def contents_from_wire(contents: list[Any], reading: Reading, messages: list[Message]) -> None:
    """Appends what the contents hold. Raises `InvalidWire` with the pointer of what cannot be read."""
    previous, begun = "", False  # the step of the model has called
    for position, content in enumerate(contents):
        form: dict[str, Any] = {}
        parts = _parts(content, form, ("contents", position))
        role = content.get("role")
        if role == MODEL:
            if previous != MODEL:
                reading.turn()
            if not parts:
                form["blank"] = MODEL
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
                form["no_role"] = True
            elif role != USER:
                form["role"] = role
            if not parts:
                form["blank"] = USER
            if previous == "tool" == message["role"]:
                form["joined"] = False
            if reading.waits():
                reading.unusual = True
            previous, begun = found[-1]["role"], False
            if previous == "user":
                reading.unsigned.clear()
        if form or len(content) > 2:
            _kept(message, content, form, reading)


def _first_call(blocks: list[Block]) -> Block | None:
    for block in blocks:
        kind: str = block["type"]
        if kind == "tool_use":
            return block
    return None


def _is_signed(call: Block) -> bool:
    return bool("provider_state" in call and call["provider_state"].get("signature"))


def _parts(content: Any, form: dict[str, Any], path: Path) -> list[Wire]:
    if type(content) is not dict:
        raise InvalidWire("a content must be an object with parts", path=pointer(path))
    parts = content.get("parts")
    if type(parts) is dict:
        form["parts"] = "object"
        return [parts]
    if not parts and (parts is None or type(parts) is list):
        form["parts"] = "empty" if parts is not None else "null" if "parts" in content else "absent"
        return []
    if type(parts) is not list:
        raise InvalidWire("parts must be a list", path=pointer((*path, "parts")))
    for part in parts:
        if type(part) is not dict:
            raise InvalidWire("a part must be an object", path=pointer((*path, "parts", parts.index(part))))
    return parts


def _kept(message: Message, content: Wire, form: dict[str, Any], reading: Reading) -> Message:
    """The message with what its content says beside role and parts, and how it was spelt."""
    fields = {name: value for name, value in content.items() if name not in CONTENT}
    if fields or form:
        message["provider_state"] = state = reading.state()
        keep(state, fields, form)
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
                message["provider_state"] = reading.state(form={"joined": True})
                reading.unusual = True
            run = None
        elif run is not None:
            run.append(block)
            continue
        else:
            run = [block]
            message = {"role": "user", "content": run}
            if found:
                message["provider_state"] = reading.state(form={"joined": True})
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
    form = writing.form_of(message)
    if "system_role" in form:
        wire["role"] = form["system_role"]
    _spell_parts(wire, form)


def spell(wire: Wire, message: Message, writing: Writing) -> None:
    """Puts the role and the parts of a content back as they came."""
    form = writing.form_of(message)
    if not form or message["role"] in INSTRUCTIONS:
        return
    if message["role"] != "assistant":
        if form.get("no_role"):
            del wire["role"]
        elif "role" in form:
            wire["role"] = form["role"]
    _spell_parts(wire, form)


def _spell_parts(wire: Wire, form: Mapping[str, Any]) -> None:
    match form.get("parts"):
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
    return writing.own and writing.form_of(message).get("blank") == place
