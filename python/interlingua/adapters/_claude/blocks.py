"""
Blocks: which reasoning is replayed, the arguments of calls that are no object, and the members of items that both
wires have under their own names (`_engine.items`).
"""

from typing import Any, Final

from interlingua.adapters._claude.reading import Reading
from interlingua.adapters._claude.values import THINKING_TYPES, Item
from interlingua.adapters._claude.writing import Writing
from interlingua.adapters._content.calls import arguments
from interlingua.adapters._engine.items import ABSENT, Member, same, text, tool_name
from interlingua.adapters._engine.kit import arguments_text
from interlingua.adapters._engine.writing import Refused
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Path

# ---------------------------------------------------------------------------------------------- reasoning


def refuse_thinking(block: Item, writing: Writing) -> None:
    """Raise `Refused` for reasoning that the provider does not accept back."""
    if writing.is_native(block) is False:
        raise Refused("foreign_state", "reasoning of another provider cannot be replayed")
    if not can_replay(block, writing):
        # a stream begins with an empty signature: it proves nothing
        raise Refused("unsigned_thinking", "the provider accepts reasoning only with its signature")


def can_replay(block: Item, writing: Writing) -> bool:
    """Whether a block is reasoning that is written: of this provider, and with a signature if the provider requires
    one."""
    kind: str = block["type"]
    if kind not in THINKING_TYPES or writing.is_native(block) is False:
        return False
    signed = kind == "redacted_thinking" or bool(block.get("signature"))
    return signed or bool(writing.endpoint.dialect.get("unsigned_thinking"))


# ---------------------------------------------------------------------------------------- members of items, by rows


class NoMeaning(Exception):
    """A member that an item requires for its meaning has none itself: the item is kept whole."""


def _read_no_object(raw: Any, block: Item, _: Reading) -> None:
    """Read arguments that are no object: as the JSON of the value, or as the text itself if it is no JSON."""
    block["input_raw"] = raw if type(raw) is str and not _is_json(raw) else arguments_text(raw)


def _is_json(text: str) -> bool:
    """Whether a text is the JSON of a value in our own spelling."""
    try:
        return arguments_text(json.loads(text)) == text
    except InvalidRequest:
        return False


NAME: Final = tool_name()
ARGUMENTS: Final = arguments("input", _read_no_object)
ARGUMENTS.null = True
FAILED: Final = same("is_error", "is_error", bool)

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
