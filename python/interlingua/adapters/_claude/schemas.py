"""
Schemas of tools, and the enforced schemas: those of strict tools and of an answer.

In an enforced schema every object is closed, and `anyOf` replaces `oneOf`. Limits of numbers, texts and lists are not
enforced: the description states them instead.
"""

from typing import Any, Final

from interlingua.adapters._content.schema import (
    LIMIT,
    LISTED,
    NAMED,
    SINGLE,
    Dialect,
    Gone,
    Places,
    Schema,
    as_object,
    demanded,
    fitted,
    leave_out,
)
from interlingua.canonical.loss import Loss, Path

# ---------------------------------------------------------------------------------------------- schemas of tools

_UNIONS: Final = ("oneOf", "anyOf", "allOf")


def object_at_root(schema: Schema | None, loss: Loss, path: Path) -> Schema:
    """Return the schema of a tool's arguments with an object and no union as root; the same object if it is so
    already."""
    schema = demanded(schema, loss, path)
    if is_object(schema):
        return schema
    made = dict(schema)
    as_object(made, loss, path)
    gone: dict[str, Gone] = {name: ("schema_weakened", "weakened", False) for name in _UNIONS if name in made}
    if type(made.get("properties", {})) is not dict:
        gone["properties"] = ("schema_weakened", "weakened", False)
    leave_out(made, gone, loss, path)
    return made


def is_object(schema: Schema) -> bool:
    """Whether the root of a schema is an object and no union, and its properties, if any, are a JSON object."""
    if schema.get("type") != "object" or "anyOf" in schema or "oneOf" in schema or "allOf" in schema:
        return False
    return "properties" not in schema or type(schema["properties"]) is dict


# ---------------------------------------------------------------------------------------------- enforced schemas

PLACES: Final[Places] = {
    **dict.fromkeys(("properties", "$defs", "definitions"), NAMED),
    **dict.fromkeys(("anyOf", "allOf", "oneOf"), LISTED),
    "items": SINGLE,
}
_LIMITS: Final = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contains",
)
_FORMATS: Final = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid")
)


def enforced(schema: Schema, loss: Loss, path: Path) -> Schema:
    """Return the schema in the dialect that is enforced."""
    made: Schema = fitted(schema, _ENFORCED, loss, path)
    return made


def _takes(name: str, value: Any) -> bool:
    if name == "minItems":
        return type(value) is not int or value <= 1
    if name == "format":
        return type(value) is not str or value in _FORMATS
    return name not in _LIMITS and name != "oneOf"


def _gone(name: str, _: Any) -> Gone:
    return ("schema_weakened", "weakened", False) if name == "oneOf" else LIMIT


def _close(made: Schema, loss: Loss, path: Path) -> None:
    kind, more = made.get("type"), made.get("additionalProperties")
    is_open = kind == "object" or (type(kind) is list and "object" in kind) or "properties" in made
    if not is_open or more is False:
        return
    typed = type(more) is dict
    code, severity = ("schema_weakened", "weakened") if typed else ("schema_rewritten", "representation")
    made["additionalProperties"] = False
    message = "the target enforces only closed objects"
    loss.replace((*path, "additionalProperties"), False, code, severity, message)


_ENFORCED: Final = Dialect(PLACES, _takes, _gone, renamed=(("oneOf", "anyOf", False),), rewrite=_close, loose=True)
