"""What reads the same in both directions, and what travels along while one body is read or written."""

import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _writing
from interlingua.adapters._kit import BiMap, WireIds
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss

NAME: Final = "cohere_chat"
PATH: Final = "/v2/chat"

FINISH: Final = BiMap(
    {
        "stop": "COMPLETE",
        "stop_sequence": "STOP_SEQUENCE",
        "length": "MAX_TOKENS",
        "tool_calls": "TOOL_CALL",
        "error": "ERROR",
    }
)
"""Why an answer ended. Any other word is `other`; any other end is told as `ERROR`, never as a clean one."""

CHOICES: Final = BiMap({"required": "REQUIRED", "none": "NONE"})
"""The words of `tool_choice`; without one the model calls as it likes."""

CONTENT: Final = "content"
CALLS: Final = "tool_calls"
"""Kinds of opaque blocks: an item of one of these lists that cannot be read."""

_ANYTHING: Final = re.compile("")
_LONGEST_NAME: Final = 64


class Reading:
    """Reads one body: whose it is, and which call has which canonical id."""

    __slots__ = ("_given", "_ids", "_latest", "_met", "endpoint")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._given: set[str] = set()

    def call(self, wire_id: str) -> str:
        """The canonical id of a call; an id that the wire repeats names a further call."""
        met = self._met.get(wire_id, 0)
        canonical = self._ids.tool(NAME, wire_id, met)
        if canonical in self._given:  # derived from an id that was taken away, and that another call has as well
            met += 1
            canonical = self._ids.tool(NAME, wire_id, met)
        self._met[wire_id] = met + 1
        self._given.add(canonical)
        self._latest[wire_id] = canonical
        return canonical

    def result(self, wire_id: str) -> str | None:
        """The canonical id of the call that a result answers; None when there was no such call."""
        return self._latest.get(wire_id)

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(NAME, wire_id, 0)


class Writing(_writing.Writing):
    """The target and the report, with the ids of the calls."""

    __slots__ = ("_ids",)

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, _LONGEST_NAME)
        self.whole = self.same_origin and "message" in source
        self._ids = WireIds(_ANYTHING, "call_")

    def call_id(self, block: dict[str, Any]) -> str:
        """The wire id of a call."""
        return self._ids.call(block, self.endpoint)

    def result_id(self, block: dict[str, Any]) -> str:
        """The wire id of the call that a result answers."""
        own = self.owned(block).get("id")
        return self._ids.result(block["tool_use_id"]) if own is None else own

    def spelt(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """How the members of an item of this wire were spelt."""
        found: Mapping[str, Any] = self.encoding_of(item).get("spelt") or {}
        return found
