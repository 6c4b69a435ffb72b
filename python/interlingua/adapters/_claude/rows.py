"""Members of items, by rows (`_items`), that both wires have under names of their own, and how a block is left out."""

from typing import Any, Final

from interlingua.adapters._claude.blocks import free_arguments, raw_arguments
from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import Item, named, string
from interlingua.adapters._claude.writing import SAID, Writing
from interlingua.adapters._items import ABSENT, MISSING, Member, same, text
from interlingua.adapters._kit import NOTHING
from interlingua.canonical.loss import Path


class Refused(Exception):
    """A block that the target does not take: code and message of the report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class NoMeaning(Exception):
    """A member without which an item has no meaning, and that has none: the item is kept whole."""


# ---------------------------------------------------------------------------------------------- names


def _read_name(raw: Any, item: Item, reading: Reading) -> None:
    item["name"] = named(raw)
    reading.names.add(raw)


def _write_name(item: Item, writing: Writing, path: Path) -> str:
    return writing.told_name(item["name"], path)


NAME: Final = Member("name", ("name",), _read_name, _write_name, needed=True)
"""The name of a tool."""
DECLARED: Final = ("kind", "side_effects", "requires_workspace")
"""What the caller says of a tool, and a wire does not."""

# ---------------------------------------------------------------------------------------------- calls and results


def call_id(wire: str) -> Member:
    """The id of a call; the wire's own is kept."""

    def read(raw: Any, item: Item, reading: Reading) -> None:
        item["id"] = reading.call(string(raw))
        item["provider_state"]["id"] = raw

    return Member(wire, ("id",), read, lambda item, writing, path: writing.call_id(item, path), needed=True)


def result_id(wire: str) -> Member:
    """The id of the call that a result answers; that of a result without a call is kept."""

    def read(raw: Any, item: Item, reading: Reading) -> None:
        canonical = reading.result(string(raw))
        if canonical is None:
            canonical = reading.orphan(raw)
            item["provider_state"] = reading.state(id=raw)
        item["tool_use_id"] = canonical

    return Member(wire, ("tool_use_id",), read, lambda item, writing, _: writing.result_id(item), needed=True)


def arguments(within: str | None = None) -> Member:
    """The arguments of a call; what is no object is its text. `within`: the member that the call stands in."""

    def read(raw: Any, item: Item, reading: Reading) -> None:
        if type(raw) is dict:
            item["input"] = raw
        else:
            item["input_raw"] = raw_arguments(raw)

    def write(item: Item, writing: Writing, path: Path) -> Any:
        spelt: Any = writing.spelt_of(item)
        word = (spelt if within is None else spelt.get(within) or NOTHING).get("input")
        if "input_raw" in item or "kind" in item:
            own = "provider_state" in item and writing.endpoint.owns(item["provider_state"])
            return free_arguments(item, not item["input"] and writing.takes_said(word), own, writing.loss, path)
        return ABSENT if word == MISSING and not item["input"] and writing.same_origin else item["input"]

    def spelling(raw: Any) -> str | None:
        return None if type(raw) is dict else SAID

    return Member("input", ("input", "input_raw", "kind"), read, write, spelling, always=True, null=True)


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
