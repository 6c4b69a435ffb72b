"""
Blocks: whose reasoning goes back, the arguments of calls that are no object; and the members of items that both wires have, under
names of their own (`_items`).
"""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import THINKING_TYPES, Item, named, string
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._free_text import arguments_of
from interlingua.adapters._items import ABSENT, Member, same, text
from interlingua.adapters._kit import arguments_text
from interlingua.adapters._writing import Refused
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- reasoning


def refuse_thinking(block: Item, writing: Writing) -> None:
    """Raises `Refused` for reasoning that is not taken back."""
    if writing.is_native(block) is False:
        raise Refused("foreign_state", "reasoning of another provider cannot be replayed")
    if not can_replay(block, writing):
        # an empty signature is what a stream begins with: it proves nothing
        raise Refused("unsigned_thinking", "reasoning is only taken back with its signature")


def can_replay(block: Item, writing: Writing) -> bool:
    """Whether a block is reasoning that goes onto the wire: of this provider, and with a signature where the model wants one."""
    kind: str = block["type"]
    if kind not in THINKING_TYPES or writing.is_native(block) is False:
        return False
    signed = kind == "redacted_thinking" or bool(block.get("signature"))
    return signed or bool(writing.endpoint.dialect.get("unsigned_thinking"))


# ---------------------------------------------------------------------------------------------- arguments of calls


def raw_arguments(value: Any) -> str:
    """What `input_raw` says of arguments that are no object: the JSON of the value, or the text that is no JSON itself."""
    return value if type(value) is str and not _is_json(value) else arguments_text(value)


def _is_json(text: str) -> bool:
    """Whether a text is the JSON of a value, as we write it."""
    try:
        return arguments_text(json.loads(text)) == text
    except InvalidRequest:
        return False


# ---------------------------------------------------------------------------------------------- members of items, by rows


class NoMeaning(Exception):
    """A member without which an item has no meaning, and that has none: the item is kept whole."""


# ---------------------------------------------------------------------------------------------- names


def _read_name(raw: Any, item: Item, reading: Reading) -> None:
    item["name"] = named(raw)
    reading.names.add(raw)


def _write_name(item: Item, writing: Writing, path: Path) -> str:
    return writing.written_tool_name(item["name"], path)


NAME: Final = Member("name", ("name",), _read_name, _write_name, needed=True)
"""The name of a tool."""

# ---------------------------------------------------------------------------------------------- calls and results


def call_id(wire: str) -> Member:
    """The id of a call; the wire's own is kept."""

    def read(raw: Any, item: Item, reading: Reading) -> None:
        item["id"] = reading.call(string(raw))
        item["provider_state"]["id"] = raw

    return Member(
        wire, ("id",), read, lambda item, writing, path: writing.call_id(item, writing.state_of(item)), needed=True
    )


def plain_call(wire_id: Any, name: Any, arguments: Item, reading: Reading) -> Item:
    """A call as nearly all are, which holds an id, a name and an object alone."""
    state = reading.state(id=string(wire_id))
    call = reading.call(wire_id, named(name))
    return {"type": "tool_use", "id": call, "name": name, "input": arguments, "provider_state": state}


def result_id(wire: str) -> Member:
    """The id of the call that a result answers; that of a result without a call is kept."""

    def read(raw: Any, item: Item, reading: Reading) -> None:
        item["tool_use_id"], unknown = reading.result(string(raw))
        if unknown is not None:
            item["provider_state"] = reading.state(id=unknown)

    return Member(wire, ("tool_use_id",), read, lambda item, writing, _: writing.result_id(item), needed=True)


def _read_arguments(raw: Any, item: Item, reading: Reading) -> None:
    if type(raw) is dict:
        item["input"] = raw
    else:
        item["input_raw"] = raw_arguments(raw)
        reading.unusual = True


ARGUMENTS: Final = Member(
    "input",
    ("input", "input_raw", "kind"),
    _read_arguments,
    lambda item, writing, path: arguments_of(item, writing.loss, path),
    always=True,
    null=True,
)
"""The arguments of a call; what is no object is its text."""
FAILED: Final = same("is_error", "is_error", bool)
DESCRIPTION: Final = text("description", "description")

# ---------------------------------------------------------------------------------------------- documents

CONTEXT: Final = text("context", "context", soft=True)


def _read_cited(raw: Any, item: Item, _: Reading) -> None:
    if type(raw) is not dict or raw.keys() != {"enabled"} or type(raw["enabled"]) is not bool:
        raise TypeError("citations")
    item["citations_enabled"] = raw["enabled"]


def _write_cited(item: Item, _: Writing, __: Path) -> Any:
    return {"enabled": item["citations_enabled"]} if "citations_enabled" in item else ABSENT


CITED: Final = Member("citations", ("citations_enabled",), _read_cited, _write_cited, soft=True)
"""Whether a document may be cited."""
