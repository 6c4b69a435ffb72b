"""What travels along while one request or answer is read or written: whose it is, and which call waits for its result."""

import re
from typing import Any

from interlingua.adapters import _writing
from interlingua.adapters._as_read import RESULT_MEDIA, imprint
from interlingua.adapters._kit import Wire
from interlingua.adapters.gemini_generate.tables import LONGEST_TOOL_NAME, MODEL_MAJOR, camelised, fits_name
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss, Path, pointer

# ---------------------------------------------------------------------------------------------- reading


class Reading:
    """What a reader carries: whose wire it is, and which call of the latest turn waits for its result.

    `prefix` stands before the names of calls without an id, so that two answers do not give the same canonical id.
    `odd` is set by whoever reads something that this adapter would write in another spelling, `unusual` by whoever reads
    something that a writer might have to repair. `names` are those of the tools that are called. `unsigned` are the calls
    that begin a step of the current turn and have no signature.
    """

    __slots__ = ("_given", "_ids", "_met", "_waiting", "adapter", "endpoint", "names", "odd", "prefix", "provider", "unsigned", "unusual", "whose")  # fmt: skip

    def __init__(self, endpoint: Endpoint, ids: IdSource, prefix: str = "") -> None:
        self.endpoint = endpoint
        self.adapter = endpoint.adapter
        self.provider = endpoint.provider
        self.whose = endpoint.state()
        self.prefix = prefix
        self.odd = False
        self.unusual = False
        self.names: set[str] = set()
        self.unsigned: list[dict[str, Any]] = []
        self._ids = ids
        self._met: dict[str, int] = {}
        self._given: set[str] = set()
        self._waiting: list[tuple[str | None, str, str]] = []

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates on this wire."""
        return {**self.whose, **members}

    def camelised(self, item: Wire) -> Wire:
        """The item under the names that are written; notes when it had others."""
        found = camelised(item)
        if found is not item:
            self.odd = True
        return found

    def turn(self) -> None:
        """The model speaks anew: results answer its calls from here on."""
        self._waiting.clear()

    def waits(self) -> bool:
        """Whether a call of the turn has no result yet."""
        return bool(self._waiting)

    def call(self, name: str, wire_id: str | None) -> str:
        """The canonical id of a call."""
        self.names.add(name)
        key = wire_id or f"{self.prefix}{name}"
        canonical = self._canonical(key)
        if canonical in self._given:  # derived from an id that was taken away, and that another call has as well
            canonical = self._canonical(key)
        self._given.add(canonical)
        self._waiting.append((wire_id, name, canonical))
        return canonical

    def _canonical(self, key: str) -> str:
        met = self._met.get(key, 0)
        self._met[key] = met + 1
        return self._ids.tool(self.adapter, key, met)

    def plain_result(self, name: str) -> str | None:
        """The canonical id of the first open call, when it has this name and no id; None when that needs a closer look."""
        if self._waiting:
            wire_id, called, canonical = self._waiting[0]
            if wire_id is None and called == name:
                del self._waiting[0]
                return canonical
        return None

    def result(self, name: str, wire_id: str | None) -> tuple[str, str | None, str | None]:
        """The canonical id, wire id and name of the call that a result answers: by id, else by name, else by position.

        A result that answers no call of the turn gets a canonical id of its own, and the name None.
        """
        waiting = self._waiting
        found = None
        if wire_id is not None:
            found = next((call for call in waiting if call[0] == wire_id), None)
        if found is None:
            # a call with an id waits for that id
            found = next((call for call in waiting if call[1] == name and (wire_id is None or call[0] is None)), None)
        if found is None and wire_id is None and waiting:
            found = waiting[0]
        if found is None:
            self.unusual = True
            return self._canonical(wire_id or f"result:{name}"), None, None
        if found is not waiting[0]:
            self.unusual = True
        waiting.remove(found)
        return found[2], found[0], found[1]


# ---------------------------------------------------------------------------------------------- writing


class Writing(_writing.Writing):
    """The target and the report, with the calls written so far.

    `spelt`: the generationConfig came in another spelling, which is put back at the end when it still says the same.
    `paired`: results that are spelt otherwise than their calls are read as those of their calls.
    """

    __slots__ = ("calls", "message", "model", "moves", "outside", "paired", "spelt")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, model: str | None = None) -> None:
        super().__init__(source, endpoint, loss, LONGEST_TOOL_NAME)
        self.model = model or ""
        whole: Any = self.encoding.get("whole")
        self.whole = self.same_origin and (
            "message" in source or (whole is not None and whole == imprint(source, "request"))
        )
        self.spelt = False
        self.paired = self.same_origin
        self.message: dict[str, Any] = {}
        self.moves: list[tuple[Path, Path]] = []
        self.outside: list[tuple[Path, str, Wire]] = []
        self.calls: dict[str, tuple[str, str | None]] = {}

    def had_twice(self, name: str) -> bool:
        """Whether two tools had this name when they were read."""
        return self.whole or (self.same_origin and name in (self.encoding.get("again") or ()))

    def generation(self, unknown: int, *members: str) -> int:
        """The family of the model by its name: 2 for gemini-2.5-flash. What was written for it is not measured by it."""
        return unknown if self.verbatim(*members) else generation(self.model, unknown)

    def takes_media_in_results(self) -> bool:
        """Whether media stand in results themselves."""
        taken = self.capabilities.get("tool_result_media") is not False and generation(self.model, 3) > 2
        return taken or self.verbatim(RESULT_MEDIA)

    def call(self, block: dict[str, Any], path: Path, wire_id: str | None) -> str:
        """The wire name of a call, remembered for its result together with the id that the wire gave it, if any."""
        canonical: str = block["id"]
        if canonical in self.calls and not self.whole:
            raise InvalidRequest("two tool calls have one id; give each call its own", path=pointer((*path, "id")))
        name = self.told_name(block["name"], path)
        self.calls[canonical] = name, wire_id
        return name

    def fits_name(self, name: str) -> bool:
        """Whether a name is written as it is: newer surfaces take longer ones, and what came from here goes back."""
        return self.whole or fits_name(name) or self._names.get(name) == name

    def plain_name(self, name: str) -> str:
        """A name like this one, within the grammar but for its length."""
        base = re.sub(r"[^A-Za-z0-9_:.-]", "_", name)
        return base if base[:1].isalpha() or base[:1] == "_" else f"_{base}"


def generation(model: str, unknown: int) -> int:
    """The family of a model by its name."""
    found = MODEL_MAJOR.search(model)
    return int(found[1]) if found else unknown
