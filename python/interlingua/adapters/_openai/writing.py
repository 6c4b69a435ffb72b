"""The target of a body of OpenAI's wires: what the provider refuses, and its names of tools and ids of calls."""

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
    """The target, the report, and the further state that both wires of OpenAI need.

    `breakpoints` counts the cache marks that are written. `call_ids` are the ids of calls that the wire accepts,
    unless the provider has a grammar of its own.
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
        """Whether the current item accepts a cache mark that it did not have when it was read."""
        return True

    def refuses_strict(self, schema: Any, path: Path) -> bool:
        """Whether a schema cannot be enforced unchanged. If so, it must be sent without `strict`, and that is
        reported."""
        if schema is None or can_be_enforced(schema):
            return False
        message = "the provider cannot enforce this schema; it is sent without strict"
        self.loss.drop(path, "schema_weakened", "weakened", message)
        return True

    def writes_free_text(self, block: dict[str, Any]) -> bool:
        """Whether a call is written as one with free text. A free-text call of the provider is written back as one."""
        if block.get("kind") != "custom":
            return False
        state = self.state_of(block)
        made = bool(state) and not encoding_in(state).get(AS_FUNCTION)
        return made or not self.folds_custom


def can_be_enforced(schema: Any) -> bool:
    """Whether the provider enforces a schema unchanged (the source is its guide to structured outputs)."""
    at_root = type(schema) is dict and schema.get("type") == "object" and "anyOf" not in schema
    return at_root and holds(schema, PLACES, _is_enforced)


_FORBIDDEN: Final = frozenset(
    ("allOf", "oneOf", "not", "if", "then", "else", "patternProperties", "dependentRequired", "dependentSchemas")
) | {"dependencies"}


def _is_enforced(schema: Schema) -> bool:
    """Whether a schema has no forbidden keyword and, if it is an object, is closed and requires all its properties."""
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
