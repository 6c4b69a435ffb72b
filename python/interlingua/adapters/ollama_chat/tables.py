"""What reads the same in both directions, and what travels along while one body is read or written."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from interlingua.adapters import _writing
from interlingua.adapters._kit import WireIds
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss

NAME: Final = "ollama_chat"

LEVELS: Final = ("low", "medium", "high", "max")
"""The words of `think`."""

CREATED: Final = "1970-01-01T00:00:00Z"
"""The time of an answer that brings none of its own."""


def moment(seconds: int) -> str:
    """A time in seconds since 1970, as the wire writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


CALLS: Final = "tool_calls"
IMAGES: Final = "images"
"""Kinds of opaque blocks: an item of one of these lists that cannot be read."""

_ANYTHING: Final = re.compile("")
_NUMBERS: Final = (int, float, Decimal)


def is_number(value: Any) -> bool:
    """A JSON number; true and false are none."""
    return type(value) in _NUMBERS


class Reading:
    """Reads one body: whose it is, and which call has which canonical id.

    Results find their call by id, else by name, else, when they have no id, by their order among the open calls of the turn.
    `salt` tells apart the calls without ids of different answers, `unusual` that something may be written otherwise than it
    came. `without_ids` are the calls that have none, by their canonical ids.
    """

    __slots__ = ("_ids", "_latest", "_met", "_open", "endpoint", "names", "salt", "unusual", "without_ids")

    def __init__(self, endpoint: Endpoint, ids: IdSource, salt: str = "") -> None:
        self.endpoint = endpoint
        self.salt = salt
        self.unusual = False
        self.names: dict[str, str] = {}
        self.without_ids: set[str] = set()
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._open: list[tuple[str | None, str]] = []

    def turn(self) -> None:
        """The assistant speaks anew: results answer its calls from here on."""
        self._open.clear()

    def call(self, wire_id: str | None, name: str) -> str:
        """The canonical id of a call; an id that the wire repeats names a further call."""
        canonical = self._canonical(f"{self.salt}/{name}" if wire_id is None else wire_id)
        self.names[canonical] = name
        self._open.append((wire_id, canonical))
        if wire_id is None:
            self.without_ids.add(canonical)
        else:
            self._latest[wire_id] = canonical
        return canonical

    def _canonical(self, key: str) -> str:
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        canonical = self._ids.tool(self.endpoint.adapter, key, met)
        if canonical in self.names:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self.endpoint.adapter, key, met + 1)
        return canonical

    def result(self, wire_id: str | None, name: str | None) -> tuple[str, bool]:
        """The canonical id of the call that a result answers, and whether that is said by its id or for want of one."""
        if wire_id is None:
            # a name that no open call has is one that the client gave it: its place says whose it is
            found = self._take(None, name) or self._take_any(name) or self._take_any(None)
            return found or self._canonical(f"name:{name}"), True
        found = self._take(wire_id, None) or self._latest.get(wire_id)
        if found is not None:
            return found, True
        found = None if name is None else self._take(None, name) or self._take_any(name)
        return found or self._ids.tool(self.endpoint.adapter, wire_id, 0), False

    def _take(self, wire_id: str | None, name: str | None) -> str | None:
        """Closes the first open call of this id and, when one is given, of this name."""
        for at, (given, canonical) in enumerate(self._open):
            if given == wire_id and name in (None, self.names[canonical]):
                del self._open[at]
                return canonical
        return None

    def _take_any(self, name: str | None) -> str | None:
        return next((found for given, _ in self._open if (found := self._take(given, name)) is not None), None)


class Writing(_writing.Writing):
    """The target and the report, with the ids and names of the calls.

    `with_ids`: calls that came without ids get some, for results would not find them by name and place.
    """

    __slots__ = ("_ids", "_without_id", "names", "with_ids")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss)
        self.whole = self.same_origin and "message" in source
        self.with_ids = False
        self.names: dict[str, str] = {}
        self._ids = WireIds(_ANYTHING, "call_")
        self._without_id: set[str] = set()

    def reader(self) -> Reading:
        """A reader of this wire."""
        return Reading(self.endpoint, DERIVED_IDS)

    def call_id(self, block: dict[str, Any], state: Mapping[str, Any]) -> str | None:
        """The wire id of a call; None for one that this wire told without an id."""
        self.names[block["id"]] = block["name"]
        if state and "id" not in state and not self.with_ids:
            self._without_id.add(block["id"])
            return None
        return self._ids.call(block, self.endpoint)

    def result_id(self, block: dict[str, Any]) -> str | None:
        """The wire id that a result names; None for the result of a call that has none."""
        canonical: str = block["tool_use_id"]
        if (known_id := self.state_of(block).get("id")) is not None and not (self.with_ids and canonical in self.names):
            return known_id
        return None if canonical in self._without_id else self._ids.result(canonical)
