"""What travels along while one request or answer is read or written: whose it is, and which call waits for its result."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from interlingua.adapters._as_read import RESULT_MEDIA, AsRead, imprint
from interlingua.adapters._kit import NOTHING, UnusedNames, Wire
from interlingua.adapters._order import Oddities
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


class Writing:
    """What a writer carries: the target, the report, the calls written so far, and the names of tools.

    `own`: the whole came from this wire, so it is spelt as it was read. `exact`: and it goes to the model that it was
    written for. What is known of that is held against what was edited alone. `as_read`: nothing of it is repaired. Of a
    request that is not so, what was odd when it was read, and is so still, is left alone (`same`, `was_odd`, `noted`).
    `spelt`: its generationConfig came in another spelling, which is put back at the end when it still says the same.
    `paired`: results that are spelt otherwise than their calls are read as those of their calls.
    """

    __slots__ = ("_names", "_read", "_unused", "as_read", "calls", "capabilities", "dialect", "endpoint", "exact", "form", "loss", "message", "model", "moves", "outside", "own", "paired", "source", "spelt")  # fmt: skip

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, model: str | None = None) -> None:
        self.source = source
        self.endpoint = endpoint
        self.dialect = endpoint.dialect
        self.loss = loss
        self.model = model or ""
        self._read = AsRead(source, endpoint)
        self.own = self._read.own
        self.exact = self._read.exact
        self.capabilities = endpoint.capabilities
        self.form: Wire = self.owned(source).get("form") or {}
        whole: Any = self.form.get("whole")
        self.as_read = self.own and ("message" in source or (whole is not None and whole == imprint(source, "request")))
        self.spelt = False
        self.paired = self.own
        self.message: dict[str, Any] = {}
        self.moves: list[tuple[Path, Path]] = []
        self.outside: list[tuple[Path, str, Wire]] = []
        self.calls: dict[str, tuple[str, str | None]] = {}
        names: Any = self.form.get("names")
        kept: Iterable[Any] = names if isinstance(names, list) else ()
        self._names: dict[str, str] = {name: name for name in kept if isinstance(name, str)}
        self._unused: UnusedNames | None = None

    def lacks(self, capability: str, *members: str) -> bool:
        """Whether the model is known not to take something. Members that were written for it, and are as they were read,
        are not measured by it."""
        return self.capabilities.get(capability) is False and not self.verbatim(*members)

    def verbatim(self, *members: str) -> bool:
        """Whether members go as they were read to the model for which they were written."""
        return self.as_read or self._read.verbatim(*members)

    def known(self, *members: str) -> Mapping[str, Any]:
        """What is known of the model; nothing for members that were written for it."""
        return NOTHING if self.verbatim(*members) else self.capabilities

    def same(self, *members: str) -> bool:
        """Whether members of the request are as they were read from this wire, which is their judge."""
        return self.as_read or self._read.same(*members)

    def was_odd(self, member: str, code: str) -> bool:
        """Whether a member of the request is written as it is, because it was odd in this way when it was read."""
        return self.as_read or self._read.was_odd(member, code)

    def noted(self, item: dict[str, Any], place: str) -> bool:
        """Whether an item is written as it is, because it was read so in this place, odd as it is."""
        if self.as_read or not self.own or "provider_state" not in item:
            return self.as_read
        odd = self.form_of(item).get("odd")
        return odd is not None and odd == imprint(item, place)

    def had_twice(self, name: str) -> bool:
        """Whether two tools had this name when they were read."""
        return self.as_read or (self.own and name in (self.form.get("again") or ()))

    def oddities(self, messages: list[dict[str, Any]]) -> Oddities:
        """The messages that were read out of order."""
        if self.as_read:
            return frozenset(), frozenset(range(len(messages)))
        if not self.paired:
            return frozenset(), frozenset()
        misplaced = frozenset(at for at, message in enumerate(messages) if self.form_of(message).get("misplaced"))
        unpaired = frozenset(at for turn in turns(messages) if self._came_so(messages, turn) for at in turn)
        return misplaced, unpaired

    def _came_so(self, messages: list[dict[str, Any]], turn: range) -> bool:
        """Whether a turn was read as a whole: where an edit put a message into it or took one out, it is another one."""
        noted = [self.form_of(messages[at]).get("unpaired") for at in turn]
        return any(noted) and noted == [shape_of(messages, turn)] * len(turn)

    def owned(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """The provider state of an item when it may be replayed here, else nothing."""
        state: dict[str, Any] | None = item.get("provider_state")
        return state if state is not None and self.endpoint.owns(state) else NOTHING

    def form_of(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """How an item of this wire was spelt, and what was odd about it."""
        return self.owned(item).get("form") or NOTHING if "provider_state" in item else NOTHING

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
        if canonical in self.calls and not self.as_read:
            raise InvalidRequest("two tool calls have one id; give each call its own", path=pointer((*path, "id")))
        name = self.name(block["name"], path)
        self.calls[canonical] = name, wire_id
        return name

    def name(self, name: str, path: Path) -> str:
        """The wire name of a tool; one that does not fit the grammar is rewritten, the same everywhere.

        `path` is that of the item whose member `name` it is.
        """
        wire = self._names.get(name)
        if wire is None:
            wire = self._names[name] = name if self.fits(name) else self._rewritten(name)
        if wire != name:
            message = "the name does not fit the target's grammar"
            self.loss.replace((*path, "name"), wire, "name_rewritten", "shape", message)
        return wire

    def fits(self, name: str) -> bool:
        """Whether a name is written as it is: newer surfaces take longer ones, and what came from here goes back."""
        return self.as_read or fits_name(name) or self._names.get(name) == name

    def renamed(self, name: str) -> str:
        """The wire name of a tool that has been written."""
        return self._names.get(name, name)

    def _rewritten(self, name: str) -> str:
        if self._unused is None:
            self._unused = UnusedNames(set(self._names.values()) | _tool_names(self.source))
        base = re.sub(r"[^A-Za-z0-9_:.-]", "_", name)
        base = base if base[:1].isalpha() or base[:1] == "_" else f"_{base}"
        return self._unused.name(base, LONGEST_TOOL_NAME)


def turns(messages: list[dict[str, Any]]) -> Iterator[range]:
    """The messages between two turns of the model."""
    start = 0
    for position, message in enumerate(messages):
        if message["role"] == "assistant":
            yield range(start, position)
            start = position + 1
    yield range(start, len(messages))


def shape_of(messages: list[dict[str, Any]], turn: range) -> list[int]:
    """How many calls the model made before, and by how many messages they were answered."""
    calls, begin = 0, turn.start
    while begin > 0 and messages[begin - 1]["role"] == "assistant":
        begin -= 1
        calls += sum(1 for block in messages[begin]["content"] if block["type"] == "tool_use")
    return [calls, len(turn)]


def generation(model: str, unknown: int) -> int:
    """The family of a model by its name."""
    found = MODEL_MAJOR.search(model)
    return int(found[1]) if found else unknown


def _tool_names(request: dict[str, Any]) -> set[str]:
    names = {tool["name"] for tool in request.get("tools") or ()}
    for message in request.get("messages") or ():
        names.update(block["name"] for block in message["content"] if block["type"] == "tool_use")
    return names
