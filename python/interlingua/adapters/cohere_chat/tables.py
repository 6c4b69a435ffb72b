"""What reads the same in both directions, and what travels along while one body is read or written."""

import re
from typing import Any, Final

from interlingua.adapters import _writing
from interlingua.adapters._kit import BiMap, WireIds
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss

NAME: Final = "cohere_chat"
PATH: Final = "/v2/chat"

CHOICES: Final = BiMap({"required": "REQUIRED", "none": "NONE"})
"""The words of `tool_choice`; without one the model calls as it likes."""

CALLS: Final = "tool_calls"
"""The kind of opaque blocks that are calls; that of others is the type of their part."""

_ANYTHING: Final = re.compile("")
_LONGEST_NAME: Final = 64
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OTHER_CHARACTER: Final = re.compile(r"[^A-Za-z0-9_]")


class Reading:
    """Reads one body: whose it is, and which call has which canonical id. `unusual`: something may be written otherwise than
    it came."""

    __slots__ = ("_documents", "_given", "_ids", "_latest", "_met", "endpoint", "unusual")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.unusual = False
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._given: set[str] = set()
        self._documents: set[str] = set()

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

    def document(self, wire_id: str) -> None:
        """Notes the id of a document, of which one is written once."""
        self.unusual = self.unusual or wire_id in self._documents
        self._documents.add(wire_id)

    def orphan(self, wire_id: str) -> str:
        """A canonical id for a result without a call."""
        return self._ids.tool(NAME, wire_id, 0)


class Writing(_writing.Writing):
    """The target and the report, with the ids of calls and documents.

    `documents` are those that have been taken out of messages of the user: position, block and wire of each; `emptied` are
    the messages of the user of which nothing is left, where a document may be read.
    """

    __slots__ = ("_ids", "_named", "documents", "emptied")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, _LONGEST_NAME)
        self.whole = self.same_origin and "message" in source
        self._ids = WireIds(_ANYTHING, "call_")
        self._named: set[str] = set()
        self.documents: list[tuple[int, int, Any]] = []
        self.emptied: list[int] = []

    def reader(self) -> Reading:
        """A reader of this wire."""
        return Reading(self.endpoint, DERIVED_IDS)

    def fits_name(self, name: str) -> bool:
        """Whether the wire takes the name of a tool."""
        return is_name(name)

    def plain_name(self, name: str) -> str:
        """A name like this one, within the grammar but for its length."""
        plain = _OTHER_CHARACTER.sub("_", name)
        return f"_{plain}" if plain[:1].isdigit() else plain or "tool"

    def is_free(self, identity: str) -> bool:
        """Whether no document before has this id; from now on one has."""
        free = identity not in self._named
        self._named.add(identity)
        return free

    def call_id(self, block: dict[str, Any]) -> str:
        """The wire id of a call."""
        return self._ids.call(block, self.endpoint)

    def result_id(self, block: dict[str, Any]) -> str:
        """The wire id of the call that a result answers."""
        known_id = self.state_of(block).get("id")
        return self._ids.result(block["tool_use_id"]) if known_id is None else known_id


def is_name(name: str) -> bool:
    """Whether the provider takes the name of a tool."""
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None
