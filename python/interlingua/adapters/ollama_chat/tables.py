"""The names and values that both directions use, and the state of writing one body."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from interlingua.adapters._engine import writing as _writing
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss

NAME: Final = "ollama_chat"

LEVELS: Final = ("low", "medium", "high", "max")
"""The levels of `think`."""


def moment(seconds: int) -> str:
    """Return a time, given in seconds since 1970, in the format of the wire."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


CALLS: Final = "tool_calls"
IMAGES: Final = "images"
"""Kinds of opaque blocks: an item of one of these lists that cannot be read."""

_NUMBERS: Final = (int, float, Decimal)


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number; true and false are not."""
    return type(value) in _NUMBERS


class Writing(_writing.Writing):
    """The target and the report, with the ids and names of the calls.

    `with_ids`: calls that were read without ids get ids, because results could not be paired by name and position.
    """

    __slots__ = ("_without_id", "names", "with_ids")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss)
        self.with_ids = False
        self.names: dict[str, str] = {}
        self._without_id: set[str] = set()

    def text(self, text: str) -> dict[str, Any]:
        """Return the member of a message for a text that the writer adds."""
        return {"content": text}

    def begin_with_ids(self, entries: list[Entry]) -> None:
        """Start again with these entries in the report: now all calls are written with ids."""
        self.loss.entries[:] = entries
        self._without_id.clear()
        self.with_ids = True

    def known_call_id(self, block: dict[str, Any], state: dict[str, Any]) -> str | None:
        """Return the wire id of a call; None for a call that was read from this wire without an id."""
        self.names[block["id"]] = block["name"]
        if state and "id" not in state and not self.with_ids:
            self._without_id.add(block["id"])
            return None
        return self.call_id(block, state)

    def known_result_id(self, block: dict[str, Any]) -> str | None:
        """Return the wire id that a result names; None for the result of a call that has none."""
        without = block["tool_use_id"] in self._without_id and self.state_of(block).get("id") is None
        return None if without else self.result_id(block)
