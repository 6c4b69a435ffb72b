"""
JSON Schemas in the dialect that the provider enforces (strict tools and structured output).

Every object is closed, there is `anyOf` and no `oneOf`, and limits of numbers, texts and lists are not enforced:
they are said in the description instead, where the model reads them. What changes is reported at its pointer.
"""

from collections.abc import Iterator
from typing import Any, Final

from interlingua.canonical import json
from interlingua.canonical.loss import Loss, Path

Schema = dict[str, Any]

_LIMITS: Final[tuple[str, ...]] = (
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
_NAMED: Final = ("properties", "$defs", "definitions")
_LISTED: Final = ("anyOf", "allOf", "oneOf")
_MOST_LEVELS: Final = 64


def enforced(schema: Schema, loss: Loss, path: Path, level: int = 0) -> Schema:
    """The schema in the provider's dialect; the same object when nothing had to change."""
    changes: Schema = {}
    for name in _NAMED:
        if isinstance(parts := schema.get(name), dict):
            fitted = {key: _part(part, loss, (*path, name, key), level) for key, part in parts.items()}
            if any(fitted[key] is not parts[key] for key in parts):
                changes[name] = fitted
    for name in _LISTED:
        if isinstance(parts := schema.get(name), list):
            listed = [_part(part, loss, (*path, name, index), level) for index, part in enumerate(parts)]
            if any(new is not old for new, old in zip(listed, parts, strict=True)):
                changes[name] = listed
    items = schema.get("items")
    if (fitted_items := _part(items, loss, (*path, "items"), level)) is not items:
        changes["items"] = fitted_items
    fitted_schema = {**schema, **changes} if changes else schema
    return _limited(_united(_closed(fitted_schema, loss, path), loss, path), loss, path)


def _part(part: Any, loss: Loss, path: Path, level: int) -> Any:
    return enforced(part, loss, path, level + 1) if isinstance(part, dict) else part


def _closed(schema: Schema, loss: Loss, path: Path) -> Schema:
    kind = schema.get("type")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema
    if not is_object or schema.get("additionalProperties") is False:
        return schema
    typed = isinstance(schema.get("additionalProperties"), dict)
    loss.replace(
        (*path, "additionalProperties"),
        False,
        "schema_weakened" if typed else "schema_rewritten",
        "weakened" if typed else "representation",
        "the target enforces closed objects only",
    )
    return {**schema, "additionalProperties": False}


def _united(schema: Schema, loss: Loss, path: Path) -> Schema:
    if "oneOf" not in schema:
        return schema
    others = {name: value for name, value in schema.items() if name != "oneOf"}
    if "anyOf" in schema:
        loss.drop((*path, "oneOf"), "schema_weakened", "weakened", "the target enforces one union in a place")
        return others
    message = "the target has anyOf in the place of oneOf"
    loss.move((*path, "oneOf"), (*path, "anyOf"), "schema_rewritten", "representation", message)
    return {**others, "anyOf": schema["oneOf"]}


def _limited(schema: Schema, loss: Loss, path: Path) -> Schema:
    dropped = [name for name in _LIMITS if name in schema]
    least = schema.get("minItems")
    if isinstance(least, int) and least > 1:
        dropped.append("minItems")
    if isinstance(schema.get("format"), str) and schema["format"] not in _FORMATS:
        dropped.append("format")
    if not dropped:
        return schema
    said = ", ".join(f"{name}: {json.dumps(schema[name]).decode()}" for name in dropped)
    before = schema.get("description")
    description = f"{before}\n\n{{{said}}}" if isinstance(before, str) and before else f"{{{said}}}"
    message = "the target does not enforce this limit; the description says it"
    for name in dropped:
        loss.drop((*path, name), "schema_weakened", "weakened", message)
    loss.replace((*path, "description"), description, "schema_weakened", "weakened", message)
    return {name: value for name, value in schema.items() if name not in dropped} | {"description": description}


def demands(schema: Any, level: int = 0) -> tuple[int, int]:
    """How many parameters of a schema may be left out, and how many have more than one type."""
    if not isinstance(schema, dict) or level > _MOST_LEVELS:
        return 0, 0
    parts: list[Any] = [schema.get("items")]
    for name in _NAMED:
        if isinstance(named := schema.get(name), dict):
            parts += named.values()
    for name in _LISTED:
        if isinstance(listed := schema.get(name), list):
            parts += listed
    properties, required = schema.get("properties"), schema.get("required")
    optional = 0
    if isinstance(properties, dict):
        needed = required if isinstance(required, list) else ()
        optional = sum(name not in needed for name in properties)
    unions = int("anyOf" in schema or "oneOf" in schema or isinstance(schema.get("type"), list))
    for part in parts:
        inner = demands(part, level + 1)
        optional += inner[0]
        unions += inner[1]
    return optional, unions


def can_be_enforced(schema: Schema) -> bool:
    """Whether a schema refers to nothing outside of it and not to itself, and is not nested beyond reason."""
    if _depth_exceeds(schema, _MOST_LEVELS):
        return False
    edges = {name: set(_references(part)) for name, part in _definitions(schema)}
    pending = set(_references({name: part for name, part in schema.items() if name not in ("$defs", "definitions")}))
    if any(not name.startswith(("#/$defs/", "#/definitions/")) for name in pending.union(*edges.values())):
        return False
    return not any(_reaches(name, name, edges, set()) for name in edges)


def _definitions(schema: Schema) -> Iterator[tuple[str, Any]]:
    for place in ("$defs", "definitions"):
        parts = schema.get(place)
        if isinstance(parts, dict):
            for name, part in parts.items():
                yield f"#/{place}/{name}", part


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference
        for part in value.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in value:
            yield from _references(part)


def _reaches(start: str, goal: str, edges: dict[str, set[str]], seen: set[str]) -> bool:
    for name in edges.get(start, ()):
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            if _reaches(name, goal, edges, seen):
                return True
    return False


def _depth_exceeds(value: Any, most: int) -> bool:
    level: list[Any] = [value]
    for _ in range(most):
        level = [
            part
            for item in level
            if isinstance(item, (dict, list))
            for part in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return True
