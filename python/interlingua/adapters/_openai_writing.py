"""For whom a body of OpenAI's wires is written, what that provider refuses, and by which names and ids it knows calls."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters._as_read import AsRead, imprint
from interlingua.adapters._kit import NOTHING, UnusedNames, WireIds, gravity, is_plain_name, plain_name
from interlingua.adapters._schema import OPENAI_STRICT, misfit
from interlingua.canonical.carriage import rides
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import encode_ulid
from interlingua.canonical.loss import Loss, Path

LONGEST_TOOL_NAME: Final = 64
_ANY_ID: Final = re.compile("")


class Target:
    """The endpoint that is written for, and what is lost on the way.

    `own` says that the whole came from this wire: it is spelt as it was. `as_read` says that it is not mended at all; of a
    request, that is asked member by member (`same`, `verbatim`, `was_odd`).
    `folds_custom` says that tools with free text are written as functions, because the provider has no others.
    `breakpoints` counts the cache marks that are written. `longest_id` is the most characters of the wire's ids of calls,
    which are free in all else where the provider has no grammar of its own.
    """

    __slots__ = (
        "_id_grammar",
        "_ids",
        "_longest_id",
        "_names",
        "_marks",
        "_read",
        "_short_ids",
        "_unused",
        "as_read",
        "breakpoints",
        "capabilities",
        "dialect",
        "endpoint",
        "folds_custom",
        "loss",
        "own",
    )

    def __init__(self, endpoint: Endpoint, loss: Loss, longest_id: int, *, own: bool) -> None:
        self.endpoint = endpoint
        self.dialect = dialect = endpoint.dialect
        self.capabilities = endpoint.capabilities
        self.loss = loss
        self.own = own
        self.as_read = own
        self._marks = 0
        self._read: AsRead | None = None
        self.folds_custom = dialect.get("custom_tools") is False and not own
        self.breakpoints = 0
        told: Mapping[str, Any] = dialect.get("tool_id") or NOTHING
        self._longest_id = longest_id
        self._id_grammar = re.compile(told["pattern"]) if "pattern" in told and not own else None
        self._short_ids = WireIds(self._id_grammar or _ANY_ID, "call_", told["length"]) if "length" in told else None
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._unused: UnusedNames | None = None

    def owns(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """The provider state of an item when it may be replayed here, else nothing."""
        state: dict[str, Any] | None = item.get("provider_state")
        return state if state is not None and self.endpoint.owns(state) else NOTHING

    def form(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """How an item was spelt here, or nothing."""
        return self.owns(item).get("form") or NOTHING

    def recall(self, request: dict[str, Any]) -> None:
        """Takes up what was kept of a request when it was read: what is still so is not mended."""
        self.as_read = False
        self._read = AsRead(request, self.endpoint)
        if self.own:
            form = self.form(request)
            self._marks = form.get("marks") or 0
            self._names.update((name, name) for name in form.get("names") or ())

    def same(self, *members: str) -> bool:
        """Whether members of the request are as they were read from this provider, which is their judge."""
        return self.as_read or (self._read is not None and self._read.same(*members))

    def verbatim(self, *members: str) -> bool:
        """Whether members go as they were read to the model for which they were written."""
        return self.as_read or (self._read is not None and self._read.verbatim(*members))

    def was_odd(self, member: str, code: str) -> bool:
        """Whether a member of the request is written as it is, because it was odd in this way when it was read."""
        return self.as_read or (self._read is not None and self._read.was_odd(member, code))

    def most_marks(self, most: int) -> int:
        """How many marks for the cache are written: as many as the wire takes, or as were read."""
        return max(most, self._marks)

    def is_odd(self, item: dict[str, Any], place: str) -> bool:
        """Whether an item is written as it is, because it was read so in that place, odd as it is."""
        if self.as_read or not self.own or "provider_state" not in item:
            return self.as_read
        odd = self.form(item).get("odd")
        return odd is not None and odd == imprint(item, place)

    def noted(self, item: dict[str, Any], oddity: str, value: Any = True) -> bool:
        """Whether an item was read with an oddity, which is then kept."""
        return self.as_read or (self.own and "provider_state" in item and self.form(item).get(oddity) == value)

    def refuses(self, name: str, member: str | None = None) -> bool:
        """Whether the provider's wire or the model does not take a member of the request; `member` is what it is called
        there."""
        if name in self.dialect.get("unsupported", ()):
            return not self.same(member or name)
        return self.capabilities.get(f"supports_{name}") is False and not self.verbatim(member or name)

    def report_refused(self, name: str, value: Any, severity: str = "weakened") -> None:
        """Reports that a member of the request is left out; one that states what is so anyway is no great loss."""
        severity = gravity(name, value, severity)
        if name in self.dialect.get("unsupported", ()):
            self.loss.drop((name,), "unsupported_field", severity, f"the provider takes no {name}")
        else:
            self.loss.drop((name,), "unsupported_model", severity, f"the model takes no {name}")

    def refuses_strict(self, schema: Any, path: Path, *, kept: bool = False) -> bool:
        """Whether a schema cannot be enforced as it is; it is then sent without the demand, and that is reported."""
        if kept or schema is None or can_be_enforced(schema):
            return False
        message = "the schema is outside of what the provider can enforce; it is sent without being enforced"
        self.loss.drop(path, "schema_weakened", "weakened", message)
        return True

    def call_id(self, block: dict[str, Any], state: Mapping[str, Any]) -> str:
        """The wire id of a call: the provider's own when it fits the grammar, else one derived from the canonical id."""
        if self._short_ids is not None:
            return self._short_ids.call(block, self.endpoint)
        canonical: str = block["id"]
        own: str | None = state.get("id")
        wire_id = own if own is not None and self.own else self._ids.get(canonical)
        if wire_id is None:
            fits = own is not None and (self._takes_id(own) or rides(own, self.endpoint))
            wire_id = own if own is not None and fits else self._derived(canonical)
        self._ids[canonical] = wire_id
        return wire_id

    def answered_id(self, canonical: str) -> str:
        """The wire id of the call that a result answers."""
        if self._short_ids is not None:
            return self._short_ids.result(canonical)
        wire_id = self._ids.get(canonical)
        return wire_id if wire_id is not None else self._derived(canonical)

    def _takes_id(self, wire_id: str) -> bool:
        if self.own:
            return True
        if self._id_grammar is not None:
            return self._id_grammar.match(wire_id) is not None
        return 0 < len(wire_id) <= self._longest_id

    def _derived(self, canonical: str) -> str:
        wire_id = "call_" + canonical.removeprefix("tu_")
        if self._takes_id(wire_id):
            return wire_id
        digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).digest()
        return "call_" + encode_ulid(int.from_bytes(digest[:16], "big"))

    def name(self, name: str, request: dict[str, Any]) -> str:
        """The name of a tool in the target's grammar: the same in tools, choice and history, and no other's.

        The caller reports a name that is not the given one with `report_name`.
        """
        wire = self._names.get(name)
        if wire is None:
            fits = self.as_read or fits_name(name, self.dialect)
            self._names[name] = wire = name if fits else self._rewritten(name, request)
        return wire

    def told_name(self, name: str, path: Path, request: dict[str, Any]) -> str:
        """The name of a tool in the target's grammar; reported when it is not the given one."""
        wire = self.name(name, request)
        if wire != name:
            self.report_name(path, wire)
        return wire

    def report_name(self, path: Path, wire: str) -> None:
        """Reports a name that was rewritten."""
        self.loss.replace(path, wire, "name_rewritten", "shape", "the name does not fit the target's grammar")

    def _rewritten(self, name: str, request: dict[str, Any]) -> str:
        if self._unused is None:
            taken = {found for found in _names(request) if fits_name(found, self.dialect)}
            taken.update(self._names)
            self._unused = UnusedNames(taken)
        return self._unused.name(plain_name(name), LONGEST_TOOL_NAME)


def can_be_enforced(schema: Any) -> bool:
    """Whether the provider enforces a schema as it is."""
    try:
        return misfit(schema, OPENAI_STRICT) is None
    except TypeError:
        return False  # it is no schema at all


def fits_name(name: str, dialect: Mapping[str, Any]) -> bool:
    """Whether the provider takes the name of a tool."""
    pattern = dialect.get("tool_name")
    return re.fullmatch(pattern, name) is not None if pattern else is_plain_name(name, LONGEST_TOOL_NAME)


def _names(request: dict[str, Any]) -> list[str]:
    tools = [tool["name"] for tool in request.get("tools") or ()]
    calls = [
        block["name"] for message in request["messages"] for block in message["content"] if block["type"] == "tool_use"
    ]
    return tools + calls
