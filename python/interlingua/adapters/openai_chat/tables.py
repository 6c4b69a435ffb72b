"""What reads the same in both directions, and what travels along while one body is read or written."""

import re
from typing import Any, Final

from interlingua.adapters._kit import BiMap, Wire, keep
from interlingua.adapters._messages import other_members
from interlingua.adapters._openai_writing import Target
from interlingua.adapters._spelling import ABSENT, Spellings
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, pointer

NAME: Final = "openai_chat"

AUDIO: Final = BiMap({"wav": "audio/wav", "mp3": "audio/mpeg"})

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast")

LONGEST_TOOL_ID: Final = 40
PARTICIPANT: Final = re.compile(r"[^\s<|\\/>]+")

FILLER: Final = "(empty)"
"""Stands where the wire takes no empty message."""


class Reading:
    """Reads one body: whose it is, and which call has which canonical id.

    Results find their call by id, by name, or, when they say neither, by their order among the calls of the last turn.
    `unusual`: something may be written otherwise than it came.
    """

    __slots__ = (
        "_adapter",
        "_ids",
        "_latest",
        "_met",
        "_waiting",
        "_origin",
        "breakpoints",
        "endpoint",
        "names",
        "unusual",
    )

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.names: dict[str, str] = {}
        self.breakpoints = 0  # cache marks that the wire has a limit for
        self.unusual = False
        self._adapter = endpoint.adapter
        self._origin = endpoint.state()
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._waiting: dict[str, list[str]] = {}

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates here."""
        return {**self._origin, **members}

    def call_state(self, wire_id: str) -> dict[str, Any]:
        """The provider state of a call."""
        return {**self._origin, "id": wire_id}

    def mark(
        self, item: dict[str, Any], fields: dict[str, Any] | None, encoding: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The item with a provider state, when there is something to keep in one."""
        if fields or encoding:
            state: dict[str, Any] = dict(self._origin)
            keep(state, fields, encoding)
            item["provider_state"] = state
        return item

    def turn(self) -> None:
        """An assistant turn with calls begins: results answer its calls from here on."""
        self._waiting.clear()

    def call(self, wire_id: str, name: str) -> str:
        """The canonical id of a call; an id that the wire repeats names a further call."""
        met = self._met.get(wire_id, 0)
        self._met[wire_id] = met + 1
        canonical = self._ids.tool(self._adapter, wire_id, met)
        if canonical in self.names:  # derived from an id that was taken away, and that another call has as well
            canonical = self._ids.tool(self._adapter, wire_id, met + 1)
        self._latest[wire_id] = canonical
        self.names[canonical] = name
        self._waiting.setdefault(wire_id, []).append(canonical)
        return canonical

    def result(self, wire_id: str) -> tuple[str, bool]:
        """The canonical id of the call that a result answers, and whether there is such a call."""
        waiting = self._waiting.get(wire_id)
        if waiting:
            return waiting.pop(0), True
        latest = self._latest.get(wire_id)
        return (latest, True) if latest is not None else (self._ids.tool(self._adapter, wire_id, 0), False)

    def result_by_name(self, name: str | None) -> str | None:
        """The canonical id of the call that a result without an id answers: the first open one, of that name if it has one."""
        for waiting in self._waiting.values():
            if waiting and (name is None or self.names[waiting[0]] == name):
                return waiting.pop(0)
        return None


class Kept:
    """What is kept of an item that is read, beside what it says: members that the contract has no word for, how places came that
    say nothing, and where on the wire things stood."""

    __slots__ = ("fields", "places", "spellings")

    def __init__(self, spellings: Spellings | None = None) -> None:
        self.fields: dict[str, Any] = {}
        self.spellings: Spellings = {} if spellings is None else spellings
        self.places: dict[str, Any] = {}

    def silent(self, value: Any, *place: str) -> None:
        """Keeps a value that says nothing."""
        self.spellings[pointer(place)] = {"raw": value}

    def absent(self, *place: str) -> None:
        """Keeps that nothing came where null is written."""
        self.spellings[pointer(place)] = {"word": ABSENT}

    def others(self, item: Wire, known: frozenset[str], *place: str) -> dict[str, Any]:
        """Keeps the members of an item that the contract has no word for; gives those that say something."""
        return other_members(item, known, self.spellings, *place)


_NO_MESSAGES: Final[frozenset[int]] = frozenset()


class Writing(Target):
    """Writes one body: for whom, what is lost on the way, and which ids are used.

    `answering` says that an answer is written, so that reasoning is shown and not replayed.
    `called` are the names of calls, by canonical id, `legacy` those of calls that were written without an id; `with_ids` says
    that all calls are written with theirs. `moved` are the messages that leave their place, and `place` is the role that is being
    written.
    """

    __slots__ = ("answering", "called", "legacy", "moved", "place", "with_ids")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, *, answering: bool = False) -> None:
        super().__init__(source, endpoint, loss, LONGEST_TOOL_ID)
        self.answering = answering
        self.whole = answering and self.same_origin
        self.place = ""
        self.called: dict[str, str] = {}
        self.legacy: dict[str, str] = {}
        self.moved: frozenset[int] = _NO_MESSAGES
        self.with_ids = False

    def reader(self) -> Reading:
        """A reader of this wire."""
        return Reading(self.endpoint, DERIVED_IDS)

    def takes_marks(self) -> bool:
        """Whether the item at hand takes a mark for the cache that it did not come with: parts of these roles do."""
        return self.place in ("user", "system")

    def result_id(self, block: dict[str, Any]) -> str:
        """The wire id that a result names."""
        if self.same_origin and "provider_state" in block and (known_id := self.state_of(block).get("id")) is not None:
            return known_id
        return self.answered_id(block["tool_use_id"])

    def begin_with_ids(self, entries: list[Entry], marks: int) -> None:
        """Begins anew, behind these entries of the report and marks for the cache: all calls are written with ids."""
        self.loss.entries[:] = entries
        self.breakpoints = marks
        self.legacy = {}
        self.with_ids = True

    def is_legacy(self, block: dict[str, Any]) -> bool:
        """Whether a call is written in the old way, by its name alone, as it was read."""
        return not self.with_ids and bool(self.encoding_of(block).get("legacy"))
