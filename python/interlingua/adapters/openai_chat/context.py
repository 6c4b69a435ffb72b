"""What travels along while one request or answer is read or written."""

from typing import Any, Final

from interlingua.adapters._kit import Wire, keep
from interlingua.adapters._openai_writing import Target
from interlingua.adapters.openai_chat.calls_without_ids import calls_in_need
from interlingua.adapters.openai_chat.tables import LONGEST_TOOL_ID
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import IdSource
from interlingua.canonical.loss import Loss


class Reading:
    """Reads one body: whose it is, and which call has which canonical id.

    Results find their call by id, by name, or, when they say neither, by their order among the calls of the last turn.
    """

    __slots__ = ("_adapter", "_ids", "_latest", "_met", "_waiting", "_whose", "breakpoints", "endpoint", "names")

    def __init__(self, endpoint: Endpoint, ids: IdSource) -> None:
        self.endpoint = endpoint
        self.names: dict[str, str] = {}
        self.breakpoints = 0  # cache marks that the wire has a limit for
        self._adapter = endpoint.adapter
        self._whose = endpoint.state()
        self._ids = ids
        self._met: dict[str, int] = {}
        self._latest: dict[str, str] = {}
        self._waiting: dict[str, list[str]] = {}

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates here."""
        return {**self._whose, **members}

    def call_state(self, wire_id: str) -> dict[str, Any]:
        """The provider state of a call."""
        return {**self._whose, "id": wire_id}

    def writing(self) -> "Writing":
        """Who writes what was just read, to see what would be mended; of a model nothing is known then."""
        whose = self.endpoint
        return Writing({}, Endpoint(whose.adapter, whose.provider, None, whose.dialect), Loss())

    def mark(
        self, item: dict[str, Any], fields: dict[str, Any] | None, encoding: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The item with a provider state, when there is something to keep in one."""
        if fields or encoding:
            state: dict[str, Any] = dict(self._whose)
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

    def nameless_result(self, name: str | None) -> str:
        """The canonical id for a result without id: the first open call of that name, else the first open call."""
        for waiting in self._waiting.values():
            if waiting and (name is None or self.names[waiting[0]] == name):
                return waiting.pop(0)
        return self._ids.tool(self._adapter, f"name:{name}", 0)


_NO_MESSAGES: Final[frozenset[int]] = frozenset()


class Writing(Target):
    """Writes one body: for whom, what is lost on the way, and which ids are used.

    `from_another` says that it was read from this wire, but from another provider of it.
    `answering` says that an answer is written, so that reasoning is shown and not replayed.
    `called` are the names of own calls, by canonical id, `legacy` those of calls that were written without an id.
    `order` are the messages as they are written, `moved` those that leave their place, and `place` is the role that is
    being written.
    """

    __slots__ = ("_needing", "answering", "called", "from_another", "legacy", "moved", "order", "place")

    def __init__(self, source: dict[str, Any], endpoint: Endpoint, loss: Loss, *, answering: bool = False) -> None:
        super().__init__(source, endpoint, loss, LONGEST_TOOL_ID)
        self.answering = answering
        self.whole = answering and self.same_origin
        self.from_another = False
        self.place = ""
        self.called: dict[str, str] = {}
        self.legacy: dict[str, str] = {}
        self.moved: frozenset[int] = _NO_MESSAGES
        self.order: list[dict[str, Any]] = []
        self._needing: frozenset[str] | None = None

    def takes_marks(self) -> bool:
        """Whether the item at hand takes a mark for the cache that it did not come with: parts of these roles do."""
        return self.place in ("user", "system")

    def result_id(self, block: dict[str, Any]) -> str:
        """The wire id that a result names."""
        if self.same_origin and "provider_state" in block and (own := self.owned(block).get("id")) is not None:
            return own
        return self.answered_id(block["tool_use_id"])

    def is_legacy(self, block: dict[str, Any]) -> bool:
        """Whether a call is written in the old way, by its name alone: it was read so, and its result is found."""
        return bool(self.encoding_of(block).get("legacy")) and not self.needs_id(block["id"])

    def needs_id(self, call: str) -> bool:
        """Whether the result of a call is not found without an id, since an edit."""
        if self._needing is None:
            self._needing = calls_in_need(self.order, self.owned)
        return call in self._needing


def extras(item: Wire, known: frozenset[str]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The members without canonical meaning: those that say something, and those that are null."""
    fields: dict[str, Any] | None = None
    empty: dict[str, Any] | None = None
    for name, value in item.items():
        if name in known:
            continue
        if value is None:
            empty = empty or {}
            empty[name] = None
        else:
            fields = fields or {}
            fields[name] = value
    return fields, empty
