"""What travels along while one request or answer is read or written."""

import re
from collections.abc import Mapping
from typing import Any

from interlingua.adapters._kit import WireIds, report_foreign_state
from interlingua.adapters._schema import OPENAI_STRICT, misfit
from interlingua.adapters.openai_responses.tables import NOTHING, TOOL_ID, TOOL_NAME
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import Loss, Path


class Reading:
    """Reads one body: whose it is, and which call has which canonical id."""

    __slots__ = ("_calls", "_ids", "_met", "endpoint", "kinds")

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS) -> None:
        self.endpoint = endpoint
        self.kinds: dict[str, str] = {}
        self._ids = ids
        self._met: dict[str, int] = {}
        self._calls: dict[str, list[str]] = {}

    def state(self, **members: Any) -> dict[str, Any]:
        """A provider state that originates here."""
        return self.endpoint.state(**members)

    def call(self, wire_id: str, kind: str) -> str:
        """The canonical id of a call; an id that the wire repeats names a further call."""
        met = self._met.get(wire_id, 0)
        self._met[wire_id] = met + 1
        canonical = self._ids.tool(self.endpoint.adapter, wire_id, met)
        self._calls.setdefault(wire_id, []).append(canonical)
        self.kinds[canonical] = kind
        return canonical

    def result(self, wire_id: str) -> tuple[str, bool]:
        """The canonical id of the call that a result answers, and whether there is such a call: the first unanswered."""
        calls = self._calls.get(wire_id)
        if not calls:
            return self._ids.tool(self.endpoint.adapter, wire_id, 0), False
        return calls.pop(0) if len(calls) > 1 else calls[0], True


class Writing:
    """Writes one body: for whom, what is lost on the way, and which names and ids are used.

    `own` says that the whole request was read from this wire: it is written back as it was, not mended.
    `reply` says that an answer is written, `answer` that it is one of another origin: its items get ids, a status, and
    all their members.
    """

    __slots__ = (
        "_all_names", "_ids", "_names", "answer", "breakpoints", "calls", "capabilities", "dialect", "endpoint",
        "folds_custom", "loss", "own", "reply",
    )  # fmt: skip

    def __init__(self, endpoint: Endpoint, loss: Loss, *, own: bool, reply: bool = False) -> None:
        self.endpoint = endpoint
        self.dialect = dialect = endpoint.dialect
        self.capabilities = endpoint.capabilities
        self.loss = loss
        self.own = own
        self.reply = reply
        self.answer = reply and not own
        self.folds_custom = dialect.get("custom_tools") is False and not own
        self.breakpoints = 0
        self.calls: dict[str, str] = {}
        grammar: Mapping[str, Any] = dialect.get("tool_id") or NOTHING
        pattern = _ANYTHING if own else re.compile(grammar["pattern"]) if "pattern" in grammar else TOOL_ID
        self._ids = WireIds(pattern, "call_", grammar.get("length"))
        self._names: dict[str, str] = {}
        self._all_names: set[str] | None = None

    def owns(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """The provider state of an item when it may be replayed here, else nothing."""
        state = item.get("provider_state")
        return state if state is not None and self.endpoint.owns(state) else NOTHING

    def form(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """How an item was spelt here, or nothing."""
        return self.owns(item).get("form") or NOTHING

    def refuses(self, name: str) -> bool:
        """Whether the provider's wire or the model does not take a member of the request."""
        if self.own:
            return False
        return name in self.dialect.get("unsupported", ()) or self.capabilities.get(f"supports_{name}") is False

    def report_refused(self, name: str, severity: str = "weakened") -> None:
        """Reports that a member of the request is left out."""
        if name in self.dialect.get("unsupported", ()):
            self.loss.drop((name,), "unsupported_field", severity, f"the provider takes no {name}")
        else:
            self.loss.drop((name,), "unsupported_model", severity, f"the model takes no {name}")

    def refuses_strict(self, schema: Any, path: Path) -> bool:
        """Whether a schema cannot be enforced as it is; it is then sent without the demand, and that is reported."""
        if self.own or schema is None or misfit(schema, OPENAI_STRICT) is None:
            return False
        message = "the schema is outside of what the provider can enforce; it is sent without being enforced"
        self.loss.drop(path, "schema_weakened", "weakened", message)
        return True

    def call_id(self, block: Mapping[str, Any]) -> str:
        """The wire id of a call."""
        self.calls[block["id"]] = block.get("kind") or "function"
        return self._ids.call(block, self.endpoint)

    def result_id(self, block: Mapping[str, Any]) -> str:
        """The wire id that a result names."""
        call = block["tool_use_id"]
        if call not in self.calls and (own := self.owns(block).get("id")) is not None:
            return own
        return self._ids.result(call)

    def name(self, name: str, path: Path, request: Mapping[str, Any]) -> str:
        """The name of a tool in the target's grammar: the same in tools, choice and history, and no other's."""
        if self.own:
            return name
        wire = self._names.get(name)
        if wire is None:
            self._names[name] = wire = name if self._fits(name) else self._rewritten(name, request)
        if wire != name:
            self.loss.replace(path, wire, "name_rewritten", "shape", "the name does not fit the target's grammar")
        return wire

    def _fits(self, name: str) -> bool:
        pattern = self.dialect.get("tool_name")
        return bool(re.fullmatch(pattern, name) if pattern else TOOL_NAME.fullmatch(name))

    def _rewritten(self, name: str, request: Mapping[str, Any]) -> str:
        if self._all_names is None:
            self._all_names = {found for found in _names(request) if self._fits(found)}
        base = re.sub(r"[^a-zA-Z0-9_-]", "_", name)
        wire, turn = base[:64], 1
        while wire in self._all_names or not wire:
            turn += 1
            wire = f"{base[: 63 - len(str(turn))]}_{turn}"
        self._all_names.add(wire)
        return wire


_ANYTHING = re.compile("")


def _names(request: Mapping[str, Any]) -> list[str]:
    tools = [tool["name"] for tool in request.get("tools") or ()]
    calls = [
        block["name"] for message in request["messages"] for block in message["content"] if block["type"] == "tool_use"
    ]
    return tools + calls


def report_state(
    item: Mapping[str, Any], writing: Writing, path: Path, *, fields: bool = False, signature: bool = True
) -> None:
    """Reports what a state holds without a place here: all of a foreign one; of an own one a signature, and the fields."""
    state = item.get("provider_state")
    if state is None:
        return
    if not writing.endpoint.owns(state):
        report_foreign_state(item, writing.endpoint, writing.loss, path)
        return
    if signature and state.get("signature"):
        message = "the item carries no signature on this wire"
        writing.loss.drop((*path, "provider_state", "signature"), "unsupported_field", "lost", message)
    if fields:
        for name in state.get("fields") or ():
            message = "the item has no further members on this wire"
            writing.loss.drop((*path, "provider_state", "fields", name), "unsupported_field", "weakened", message)
