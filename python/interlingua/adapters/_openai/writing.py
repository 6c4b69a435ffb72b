"""For whom a body of OpenAI's wires is written, what that provider refuses, and by which names and ids it knows calls."""

import re
from typing import Any, Final

from interlingua.adapters._content.offered import AS_FUNCTION
from interlingua.adapters._content.schema import PLACES, Schema, are_texts, holds
from interlingua.adapters._engine import writing as _writing
from interlingua.adapters._engine.kit import encoding_in
from interlingua.adapters._engine.writing import PLAIN_NAMES, CallIds
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.loss import Loss, Path

Item = dict[str, Any]


class Target(_writing.Writing):
    """The target and the report, with what both wires of OpenAI need besides.

    `breakpoints` counts the cache marks that are written. `call_ids` are the ids of calls that the wire takes, where the
    provider has no grammar of its own.
    """

    __slots__ = ("breakpoints",)

    def __init__(self, source: Item, endpoint: Endpoint, loss: Loss, call_ids: CallIds) -> None:
        if grammar := endpoint.dialect.get("tool_id"):
            pattern = re.compile(grammar["pattern"]) if "pattern" in grammar else None
            call_ids = CallIds("call_", pattern, call_ids.longest, grammar.get("length"))
        super().__init__(source, endpoint, loss, PLAIN_NAMES, call_ids)
        self.folds_custom = self.dialect.get("custom_tools") is False and not self.same_origin
        self.breakpoints = 0

    def takes_marks(self) -> bool:
        """Whether the item at hand takes a mark for the cache that it did not come with."""
        return True

    def refuses_strict(self, schema: Any, path: Path) -> bool:
        """Whether a schema cannot be enforced as it is; it is then sent without the demand, and that is reported."""
        if schema is None or can_be_enforced(schema):
            return False
        message = "the provider cannot enforce this schema; it is sent without strict"
        self.loss.drop(path, "schema_weakened", "weakened", message)
        return True

    def writes_free_text(self, block: dict[str, Any]) -> bool:
        """Whether a call is written as one with free text. One that the provider made goes back so."""
        if block.get("kind") != "custom":
            return False
        state = self.state_of(block)
        made = bool(state) and not encoding_in(state).get(AS_FUNCTION)
        return made or not self.folds_custom


def can_be_enforced(schema: Any) -> bool:
    """Whether the provider enforces a schema as it is (its guide to structured outputs is the source)."""
    at_root = type(schema) is dict and schema.get("type") == "object" and "anyOf" not in schema
    return at_root and holds(schema, PLACES, _is_enforced)


_FORBIDDEN: Final = frozenset(
    ("allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas")
) | {"dependencies"}


def _is_enforced(schema: Schema) -> bool:
    """Whether a schema holds no forbidden keyword, and is closed and requires all that it has, if it is an object."""
    if not _FORBIDDEN.isdisjoint(schema):
        return False
    if not _is_object(schema):
        return True
    required, properties = schema.get("required") or [], schema.get("properties") or {}
    if schema.get("additionalProperties") is not False or not are_texts(required):
        return False
    return type(properties) is dict and set(required) == properties.keys()


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type")
    return kind == "object" or (type(kind) is list and "object" in kind) or type(schema.get("properties")) is dict
