"""Tables that both directions use, and the state while one body is read or written."""

import re
from typing import Any, Final

from interlingua.adapters._engine.kit import BiMap, Wire
from interlingua.adapters._engine.spelling import Spellings
from interlingua.adapters._engine.writing import CallIds
from interlingua.adapters._history.messages import other_members
from interlingua.adapters._openai.writing import Target
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Entry, Loss, pointer

NAME: Final = "openai_chat"

AUDIO: Final = BiMap({"wav": "audio/wav", "mp3": "audio/mpeg"})

SERVICE_TIERS: Final = ("auto", "default", "flex", "scale", "priority", "fast")

CALL_IDS: Final = CallIds(longest=40)
PARTICIPANT: Final = re.compile(r"[^\s<|\\/>]+")


class Kept:
    """What is kept of an item that is read, besides its canonical members: members without a canonical counterpart, the
    spelling of values without a meaning, and the places on the wire."""

    __slots__ = ("fields", "places", "spellings")

    def __init__(self, spellings: Spellings | None = None) -> None:
        self.fields: dict[str, Any] = {}
        self.spellings: Spellings = {} if spellings is None else spellings
        self.places: dict[str, Any] = {}

    def silent(self, value: Any, *place: str) -> None:
        """Keep a value that has no meaning."""
        self.spellings[pointer(place)] = {"raw": value}

    def others(self, item: Wire, known: frozenset[str], *place: str) -> dict[str, Any]:
        """Return the members of an item without a canonical counterpart; keep a null as a spelling."""
        return other_members(item, known, self.spellings, *place)


_NO_MESSAGES: Final[frozenset[int]] = frozenset()


class Writing(Target):
    """Write one body: holds the endpoint, the losses and the ids that are used.

    `called` holds the names of calls by canonical id, `legacy` those of calls that were written without an id.
    `with_ids`: all calls are written with their ids. `moved` holds the messages that leave their place. `place` is the
    role of the message that is being written.
    """

    __slots__ = ("called", "legacy", "moved", "place", "with_ids")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss) -> None:
        super().__init__(source, endpoint, loss, CALL_IDS)
        self.place = ""
        self.called: dict[str, str] = {}
        self.legacy: dict[str, str] = {}
        self.moved: frozenset[int] = _NO_MESSAGES
        self.with_ids = False

    def takes_marks(self) -> bool:
        """Whether the current item accepts a cache mark that it did not have when it was read: parts of these roles
        do."""
        return self.place in ("user", "system")

    def begin_with_ids(self, entries: list[Entry], marks: int) -> None:
        """Start again, with these entries of the report and this number of cache marks: all calls are written with
        ids."""
        self.loss.entries[:] = entries
        self.breakpoints = marks
        self.legacy = {}
        self.with_ids = True

    def is_legacy(self, block: dict[str, Any]) -> bool:
        """Whether a call is written in the old way, with its name only, as it was read."""
        return not self.with_ids and bool(self.encoding_of(block).get("legacy"))
