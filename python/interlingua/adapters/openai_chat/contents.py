"""The content of messages and what all messages have: how it is spelt, and what stands where there is none."""

from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._kit import (
    MESSAGE_MEMBERS,
    NOTHING,
    Wire,
    report_foreign_state,
    report_own_state,
    report_unknown,
    within,
)
from interlingua.adapters.openai_chat.context import Reading, Writing, extras
from interlingua.adapters.openai_chat.parts import (
    ASSISTANT,
    MARK,
    SYSTEM,
    TOOL,
    USER,
    Block,
    part_from_wire,
    part_to_wire,
    record_quirks,
)
from interlingua.adapters.openai_chat.reasoning import PARTS, thinking_part_from_wire
from interlingua.adapters.openai_chat.tables import FILLER, PARTICIPANT
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path

Message = dict[str, Any]


def content_to_wire(
    content: list[Block], path: Path, writing: Writing, place: str, encoding: Mapping[str, Any]
) -> str | list[Wire] | Any:
    """The content of a message: a string for a single plain text, else parts; None when nothing is left of it."""
    parts: list[Wire] = []
    for index, block in enumerate(content):
        if block["type"] == "text" and len(block) == 2:
            parts.append({"type": "text", "text": block["text"]})
        elif (part := part_to_wire(block, (*path, index), writing, place)) is not None:
            parts.append(part)
    return spelt(parts, encoding)


def spelt(parts: list[Wire], encoding: Mapping[str, Any]) -> str | list[Wire] | Any:
    """The parts as the wire spells them: a string for a single plain text; None when there are none."""
    if not parts:
        return None
    if (
        len(parts) == 1
        and len(part := parts[0]) == 2
        and part.get("type") == "text"
        and isinstance(part.get("text"), str)
    ):
        if encoding:
            if encoding.get("parts"):
                return parts
            if encoding.get("json") and (value := _json_value(part["text"])) is not None:
                return value
        return part["text"]
    return parts


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except InvalidRequest:
        return None


def write_emptiness(wire: Wire, content: list[Block], state: Mapping[str, Any]) -> bool:
    """Writes the emptiness that an own message had. False when there is none to write."""
    encoding = state.get("encoding") or NOTHING
    if content:
        return False
    if "content" in encoding.get("empty", NOTHING) and not encoding["empty"]["content"]:
        wire["content"] = encoding["empty"]["content"]
        return True
    return "content" in encoding.get("absent", ())


def filled(path: Path, writing: Writing) -> str:
    """Text for a message of which nothing is left: the wire takes no empty one."""
    value = [{"type": "text", "text": FILLER}]
    message = "the wire takes no empty message"
    writing.loss.replace((*path, "content"), value, "filler", "representation", message)
    return FILLER


def finish_message(message: Message, wire: Wire, state: Mapping[str, Any], path: Path, writing: Writing) -> Wire:
    """What all messages have: a name, a cache hint, own members, and what this version does not know."""
    encoding = state.get("encoding") or NOTHING
    if message.get("name") is not None:
        _name_to_wire(message, wire, path, writing)
    if message.get("cache") is not None:
        _message_cache(message["cache"], wire, encoding, path, writing)
    if state:
        for name, value in encoding.get("empty", NOTHING).items():
            wire.setdefault(name, value)
        if fields := state.get("fields"):
            for name, value in fields.items():
                wire.setdefault(name, value)
        report_own_state(state, writing.loss, path)
    elif "provider_state" in message:
        report_foreign_state(message, writing.endpoint, writing.loss, path)
    report_unknown(message, MESSAGE_MEMBERS, writing.loss, path)
    return wire


def _name_to_wire(message: Message, wire: Wire, path: Path, writing: Writing) -> None:
    name, loss = message["name"], writing.loss
    if writing.same_origin and name == writing.encoding_of(message).get("name"):
        wire["name"] = name
    elif wire["role"] == TOOL or (writing.dialect.get("participant_name") is False and not writing.same_origin):
        loss.drop((*path, "name"), "unsupported_field", "weakened", "messages of this role have no name here")
    elif PARTICIPANT.fullmatch(name):
        wire["name"] = name
    else:
        fitted = "_".join(PARTICIPANT.findall(name)) or "_"
        loss.replace(
            (*path, "name"), fitted, "name_rewritten", "representation", "the name does not fit the wire's grammar"
        )
        wire["name"] = fitted


def _message_cache(
    cache: dict[str, Any], wire: Wire, encoding: Mapping[str, Any], path: Path, writing: Writing
) -> None:
    """A hint on a message goes back to the message where it stood there; else it has no place of its own."""
    if "cache" in encoding:
        MARK.write(cache, wire, encoding, (*path, "cache"), writing)
    else:
        message = "the wire marks parts, not messages"
        writing.loss.drop((*path, "cache"), "cache_hint", "weakened", message)


_TEXT: Final = frozenset(("type", "text"))
_PLACES: Final = {"user": USER, "tool": USER, "function": USER, "system": SYSTEM, "developer": SYSTEM}
"""By the role of a message; the media of a result are those of a user."""


def content_from_wire(
    message: Wire, reading: Reading, encoding: dict[str, Any], *, assistant: bool = False
) -> list[Block]:
    """The blocks of `content`; what the list does not tell of its spelling goes to the form."""
    content = message.get("content")
    match content:
        case str():
            return [{"type": "text", "text": content}]
        case list() if not assistant or all(isinstance(part, dict) for part in content):
            blocks = [
                _assistant_part(part, reading) if assistant else part_from_wire(part, reading) for part in content
            ]
            record_quirks(blocks, ASSISTANT if assistant else _PLACES[message["role"]], reading)
            if not blocks:
                encoding.setdefault("empty", {})["content"] = []
            elif len(blocks) == 1 and blocks[0].keys() == _TEXT:
                encoding["parts"] = True
            return blocks
        case None:
            if "content" not in message:
                encoding.setdefault("absent", []).append("content")
            elif not assistant:
                encoding.setdefault("empty", {})["content"] = None
            return []
        case dict():  # the object that a schema asked for (Cloudflare)
            pass
        case _ if not assistant:
            raise TypeError(content)
        case _:
            pass  # as well, of another type
    encoding["json"] = True
    return [{"type": "text", "text": json.dumps(content).decode()}]


def _assistant_part(part: Any, reading: Reading) -> Block:
    if isinstance(part, dict) and part.get("type") in PARTS:
        block = thinking_part_from_wire(part, reading)
        if block is not None:
            return block
    return part_from_wire(part, reading)


def finish_reading(
    message: Wire,
    read: Message,
    known: frozenset[str],
    fields: dict[str, Any] | None,
    encoding: dict[str, Any],
    reading: Reading,
) -> Message:
    """What all messages have: a name, a cache hint, own members."""
    name = message.get("name")
    if isinstance(name, str) and "name" in known and read["role"] != "tool":
        read["name"] = name
        if not PARTICIPANT.fullmatch(name):
            encoding["name"] = name
    if not within(message, known) or ("name" in message and not isinstance(name, str)):
        kept, empty = extras(message, known)
        if kept:
            MARK.read(kept, read, encoding, reading)
            fields = {**(fields or {}), **kept}
        if "name" in message and not isinstance(name, str):
            empty = {**(empty or {}), "name": name}
        if empty:
            encoding["empty"] = {**encoding.get("empty", {}), **empty}
    return reading.mark(read, fields, encoding)
