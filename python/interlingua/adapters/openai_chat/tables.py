"""What reads the same in both directions, and what travels along while one body is read or written."""

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

    def others(self, item: Wire, known: frozenset[str], *place: str) -> dict[str, Any]:
        """Keeps the members of an item that the contract has no word for; gives those that say something."""
        return other_members(item, known, self.spellings, *place)


_NO_MESSAGES: Final[frozenset[int]] = frozenset()


class Writing(Target):
    """Writes one body: for whom, what is lost on the way, and which ids are used.

    `called` are the names of calls, by canonical id, `legacy` those of calls that were written without an id; `with_ids` says
    that all calls are written with theirs. `moved` are the messages that leave their place, and `place` is the role that is being
    written.
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
        """Whether the item at hand takes a mark for the cache that it did not come with: parts of these roles do."""
        return self.place in ("user", "system")

    def begin_with_ids(self, entries: list[Entry], marks: int) -> None:
        """Begins anew, behind these entries of the report and marks for the cache: all calls are written with ids."""
        self.loss.entries[:] = entries
        self.breakpoints = marks
        self.legacy = {}
        self.with_ids = True

    def is_legacy(self, block: dict[str, Any]) -> bool:
        """Whether a call is written in the old way, by its name alone, as it was read."""
        return not self.with_ids and bool(self.encoding_of(block).get("legacy"))
