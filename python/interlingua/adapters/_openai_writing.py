"""For whom a body of OpenAI's wires is written, what that provider refuses, and by which names and ids it knows calls."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

from interlingua.adapters import _writing
from interlingua.adapters._kit import NOTHING, WireIds, is_plain_name
from interlingua.adapters._offered import AS_FUNCTION
from interlingua.adapters._schema import LISTED, NAMED, SINGLE, Places, Schema, are_texts, parts
from interlingua.adapters._writing import LONGEST_TOOL_NAME
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.ids import encode_ulid
from interlingua.canonical.loss import Loss, Path
from interlingua.canonical.state_in_ids import carries_state

Item = dict[str, Any]

_ANY_ID: Final = re.compile("")


class Target(_writing.Writing):
    """The target and the report, with what both wires of OpenAI need besides.

    `breakpoints` counts the cache marks that are written. `longest_id` is the most characters of the wire's ids of calls,
    which are free in all else where the provider has no grammar of its own.
    """

    __slots__ = ("_id_grammar", "_ids", "_longest_id", "_short_ids", "breakpoints")

    def __init__(self, source: Item, endpoint: Endpoint, loss: Loss, longest_id: int) -> None:
        super().__init__(source, endpoint, loss)
        same_origin, dialect = self.same_origin, self.dialect
        self.folds_custom = dialect.get("custom_tools") is False and not same_origin
        self.breakpoints = 0
        tool_ids: Mapping[str, Any] = dialect.get("tool_id") or NOTHING
        self._longest_id = longest_id
        self._id_grammar = re.compile(tool_ids["pattern"]) if "pattern" in tool_ids and not same_origin else None
        self._short_ids = (
            WireIds(self._id_grammar or _ANY_ID, "call_", tool_ids["length"]) if "length" in tool_ids else None
        )
        self._ids: dict[str, str] = {}

    def fits_name(self, name: str) -> bool:
        """Whether the provider takes the name of a tool."""
        return fits_name(name, self.dialect)

    def takes_marks(self) -> bool:
        """Whether the item at hand takes a mark for the cache that it did not come with."""
        return True

    def refuses_strict(self, schema: Any, path: Path, *, kept: bool = False) -> bool:
        """Whether a schema cannot be enforced as it is; it is then sent without the demand, and that is reported."""
        if kept or schema is None or can_be_enforced(schema):
            return False
        message = "the schema is outside of what the provider can enforce; it is sent without being enforced"
        self.loss.drop(path, "schema_weakened", "weakened", message)
        return True

    def writes_free_text(self, block: dict[str, Any], state: Mapping[str, Any]) -> bool:
        """Whether a call is written as one with free text; `state` is its own. One that the provider made goes back so."""
        if block.get("kind") != "custom":
            return False
        made = bool(state) and not (state.get("encoding") or NOTHING).get(AS_FUNCTION)
        return made or not self.folds_custom

    def call_id(self, block: dict[str, Any], state: Mapping[str, Any]) -> str:
        """The wire id of a call: the provider's own when it fits the grammar, else one derived from the canonical id."""
        if self._short_ids is not None:
            return self._short_ids.call(block, self.endpoint)
        canonical: str = block["id"]
        known_id: str | None = state.get("id")
        wire_id = known_id if known_id is not None and self.same_origin else self._ids.get(canonical)
        if wire_id is None:
            fits = known_id is not None and (self._takes_id(known_id) or carries_state(known_id, self.endpoint))
            wire_id = known_id if known_id is not None and fits else self._derived(canonical)
        self._ids[canonical] = wire_id
        return wire_id

    def answered_id(self, canonical: str) -> str:
        """The wire id of the call that a result answers."""
        if self._short_ids is not None:
            return self._short_ids.result(canonical)
        wire_id = self._ids.get(canonical)
        return wire_id if wire_id is not None else self._derived(canonical)

    def _takes_id(self, wire_id: str) -> bool:
        if self.same_origin:
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


def can_be_enforced(schema: Any) -> bool:
    """Whether the provider enforces a schema as it is (its guide to structured outputs is the source)."""
    at_root = type(schema) is dict and schema.get("type") == "object" and "anyOf" not in schema
    return at_root and _is_enforced(schema, 0)


_FORBIDDEN: Final = frozenset(
    ("allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas")
) | {"dependencies"}
_PLACES: Final[Places] = {
    **dict.fromkeys(("properties", "$defs", "definitions"), NAMED),
    **dict.fromkeys(("anyOf", "prefixItems"), LISTED),
    **dict.fromkeys(("items", "additionalProperties"), SINGLE),
}
_MOST_LEVELS: Final = 100


def _is_enforced(schema: Any, level: int) -> bool:
    """Whether a schema and all in it hold no forbidden keyword, and every object is closed and requires all that it has."""
    if type(schema) is not dict:
        return True
    if level > _MOST_LEVELS or not _FORBIDDEN.isdisjoint(schema):
        return False
    if _is_object(schema):
        required, properties = schema.get("required") or [], schema.get("properties") or {}
        if schema.get("additionalProperties") is not False or not are_texts(required):
            return False
        if type(properties) is not dict or set(required) != properties.keys():
            return False
    for part in parts(schema, _PLACES):  # noqa: SIM110 a generator costs more than what it asks
        if not _is_enforced(part, level + 1):
            return False
    return True


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type")
    return kind == "object" or (type(kind) is list and "object" in kind) or type(schema.get("properties")) is dict


def fits_name(name: str, dialect: Mapping[str, Any]) -> bool:
    """Whether the provider takes the name of a tool."""
    pattern = dialect.get("tool_name")
    return re.fullmatch(pattern, name) is not None if pattern else is_plain_name(name, LONGEST_TOOL_NAME)
