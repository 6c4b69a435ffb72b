"""
The state of reading or writing one request or response: its origin, and the calls that wait for their results; and, in
both directions, the members next to the data of a part, such as signatures.
"""

from typing import Any, Final

from interlingua.adapters._engine import reading as _reading
from interlingua.adapters._engine.as_read import RESULT_MEDIA
from interlingua.adapters._engine.items import ABSENT, Member
from interlingua.adapters._engine.kit import STAND_IN, Wire, keep_spelling
from interlingua.adapters._engine.spelling import Spellings
from interlingua.adapters._history import turns as _turns
from interlingua.adapters.gemini_generate.tables import CAMEL, MODEL_MAJOR, STAND_INS, TOOL_NAMES
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Entry, Loss, Path, pointer

# ---------------------------------------------------------------------------------------------- reading


class Reading(_reading.Reading):
    """The state of a reader, with what this wire needs in addition.

    `offered` contains the positions of the tools that each item of the wire contains.
    `silent` contains members of the latest content without an effect, such as the statement that a part is no thought.
    `unsigned`: a step of the current turn begins with a call that has no signature.
    `model` is the requested model, if known.
    """

    __slots__ = ("model", "offered", "silent", "unsigned")

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, prefix: str = "") -> None:
        super().__init__(endpoint, ids, prefix)
        self.offered: list[range] = []
        self.silent: Spellings = {}
        self.unsigned = False
        self.model = ""


# ---------------------------------------------------------------------------------------------- writing


class Writing(_turns.Writing):
    """The target and the report, with the calls written so far."""

    __slots__ = ("calls", "media_moves", "model", "outside")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, model: str | None = None) -> None:
        super().__init__(source, endpoint, loss, TOOL_NAMES)
        self.model = model or ""
        self.media_moves: list[tuple[Path, Path]] = []
        self.outside: list[tuple[Path, str, Wire]] = []
        self.calls: dict[str, tuple[str, str | None]] = {}

    def reader(self) -> Reading:
        """Return a reader of this wire."""
        return Reading(self.endpoint)

    def begin_again(self, entries: list[Entry]) -> None:
        """Discard what was written of the contents; `entries` are those that had been reported before."""
        self.loss.entries[:] = entries
        self.calls.clear()
        self.media_moves.clear()
        self.moves.clear()

    def generation(self, unknown: int, *members: str) -> int:
        """Return the generation in the model's name, 2 for gemini-2.5-flash; `unknown` if `members` are verbatim."""
        return unknown if self.verbatim(*members) else generation(self.model, unknown)

    def takes_media_in_results(self) -> bool:
        """Whether results contain media themselves."""
        taken = self.capabilities.get("tool_result_media") is not False and generation(self.model, 3) > 2
        return taken or self.verbatim(RESULT_MEDIA)

    def call(self, block: dict[str, Any], path: Path, wire_id: str | None) -> str:
        """Return the wire name of a call; store it for the result, with the id that the wire gave it, if any."""
        canonical: str = block["id"]
        if canonical in self.calls:
            raise InvalidRequest("an earlier call has this id; give each call its own id", path=pointer((*path, "id")))
        name = self.written_tool_name(block["name"], path)
        self.calls[canonical] = name, wire_id
        return name


def generation(model: str, unknown: int) -> int:
    """Return the generation in a model's name, or `unknown`."""
    found = MODEL_MAJOR.search(model)
    return int(found[1]) if found else unknown


Block = dict[str, Any]

# the places that take different blocks
SYSTEM: Final = "system"
USER: Final = "user"
MODEL: Final = "model"
RESULT: Final = "result"

DATA: Final = ("text", "inlineData", "fileData", "functionCall", "functionResponse")
"""The members that name the data of a part."""
SIBLINGS: Final = frozenset(("thought", "thoughtSignature"))
"""The members next to the data for which a block has a place."""

# ---------------------------------------------------------------------------------------------- next to the data of a part, from the wire


def kind_of(part: Wire) -> str:
    """Return the name of the data of a part."""
    names = [CAMEL.get(name, name) for name, value in part.items() if value is not None]
    return next((name for name in (*names, *part) if CAMEL.get(name, name) not in SIBLINGS), "part")


# ---------------------------------------------------------------------------------------------- members of all parts


def _read_signature(raw: Any, block: Block, reading: Reading) -> None:
    if signature := signature_from_wire(raw, reading):
        state = block.setdefault("provider_state", reading.endpoint.state())
        state["signature"] = signature
        if signature in STAND_INS:
            keep_spelling(state, STAND_IN, True)


def signature_from_wire(raw: Any, reading: Reading) -> str:
    """Read a signature; an empty text is none. Raises `TypeError` for a value that cannot be one."""
    if type(raw) is not str:
        raise TypeError("thoughtSignature")
    reading.must_compare = reading.must_compare or not raw
    return raw


def _read_thought(raw: Any, _: Block, reading: Reading) -> None:
    if raw is not False:
        raise TypeError("thought")
    reading.must_compare = True


SIGNATURE: Final = Member(
    "thoughtSignature",
    ("provider_state",),
    _read_signature,
    lambda block, writing, path: writing.state_of(block).get("signature") or ABSENT,
)
SIGNATURE.canonical_name = "signature"
NO_THOUGHT: Final = Member("thought", (), _read_thought, lambda block, writing, path: ABSENT, soft=True)
"""The statement that a part is no thought."""
