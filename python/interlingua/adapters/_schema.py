"""
JSON Schema dialects that providers enforce: is a schema inside, and if not, what is the nearest one that is?

A dialect is data. `misfit` finds the first place where a schema leaves it. `fitted` rewrites: with the same meaning
where there is one (`oneOf` as `anyOf`), otherwise by leaving a constraint out and saying it in the description, which
a model still reads. What the provider does not enforce any more is a weakened schema, and reported as such by the adapter.
"""

from dataclasses import dataclass
from typing import Any, Final

from interlingua.canonical.loss import Path, pointer

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a provider takes in a schema that it enforces.

    `forbidden` keywords are refused. `closed` demands `additionalProperties: false` on every object,
    `all_required` that every property is required, `object_root` an object without `anyOf` at the root.
    `most_min_items` limits `minItems`; `formats`, when given, are the only values of `format`.
    """

    forbidden: frozenset[str]
    closed: bool = True
    all_required: bool = False
    object_root: bool = False
    most_min_items: int | None = None
    formats: frozenset[str] | None = None


ANTHROPIC_STRICT: Final = Dialect(
    forbidden=frozenset(
        (
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "multipleOf",
            "maxItems",
        )
    )
    | {"oneOf"},
    most_min_items=1,
    formats=frozenset(
        ("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"),
    ),
)
"""Strict tools and output formats of Anthropic Messages (its SDK's own transformation is the source)."""

OPENAI_STRICT: Final = Dialect(
    forbidden=frozenset(("allOf", "oneOf", "not", "if", "then", "else", "patternProperties"))
    | {"dependentRequired", "dependentSchemas", "dependencies"},
    all_required=True,
    object_root=True,
)
"""Strict functions and response formats of OpenAI (its guide to structured outputs is the source)."""

_NAMED: Final = ("properties", "$defs", "definitions")
_LISTED: Final = ("anyOf", "allOf", "oneOf", "prefixItems")
_SINGLE: Final = ("items", "not", "additionalProperties")
_DEEPEST: Final = 100


def misfit(schema: Any, dialect: Dialect) -> str | None:
    """The pointer of the first place where a schema leaves the dialect; None when it fits."""
    if dialect.object_root and (not isinstance(schema, dict) or schema.get("type") != "object" or "anyOf" in schema):
        return ""
    return _misfit(schema, dialect, ())


def _misfit(schema: Any, dialect: Dialect, path: Path) -> str | None:
    if not isinstance(schema, dict):
        return None
    if len(path) > _DEEPEST:
        return pointer(path)
    for keyword, value in schema.items():
        if keyword in dialect.forbidden or not _value_fits(keyword, value, dialect):
            return pointer((*path, keyword))
    if _is_object(schema):
        if dialect.closed and schema.get("additionalProperties") is not False:
            return pointer((*path, "additionalProperties"))
        if dialect.all_required and not _requires_all(schema.get("required") or [], schema.get("properties") or {}):
            return pointer((*path, "required"))
    for where, part in _parts(schema):
        found = _misfit(part, dialect, (*path, *where))
        if found is not None:
            return found
    return None


def _requires_all(required: Any, properties: Any) -> bool:
    if not isinstance(required, list) or not isinstance(properties, dict):
        return False
    return all(isinstance(name, str) for name in required) and set(required) == set(properties)


def _value_fits(keyword: str, value: Any, dialect: Dialect) -> bool:
    match keyword:
        case "minItems":
            return dialect.most_min_items is None or not isinstance(value, int) or value <= dialect.most_min_items
        case "format":
            return dialect.formats is None or value in dialect.formats
        case _:
            return True


def _is_object(schema: Schema) -> bool:
    kind = schema.get("type")
    return (
        kind == "object" or (isinstance(kind, list) and "object" in kind) or isinstance(schema.get("properties"), dict)
    )


def _parts(schema: Schema) -> list[tuple[Path, Any]]:
    """The schemas inside a schema, with their paths."""
    found: list[tuple[Path, Any]] = []
    for place in _NAMED:
        parts = schema.get(place)
        if isinstance(parts, dict):
            found += [((place, name), part) for name, part in parts.items()]
    for place in _LISTED:
        parts = schema.get(place)
        if isinstance(parts, list):
            found += [((place, position), part) for position, part in enumerate(parts)]
    found += [((place,), schema[place]) for place in _SINGLE if isinstance(schema.get(place), dict)]
    return found


def fitted(schema: Any, dialect: Dialect) -> tuple[Any, bool]:
    """The schema inside the dialect, and whether the provider enforces less (or other things) than was asked.

    Only for dialects without `all_required` and `object_root`: those cannot be met by a rewriting of the same meaning.
    """
    return _fitted(schema, dialect, 0)


def _fitted(schema: Any, dialect: Dialect, depth: int) -> tuple[Any, bool]:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return schema, False
    made: Schema = {}
    weakened = False
    said: list[str] = []
    for keyword, value in schema.items():
        if keyword == "oneOf" and "oneOf" in dialect.forbidden and "anyOf" not in schema:
            keyword = "anyOf"
        elif keyword in dialect.forbidden or not _value_fits(keyword, value, dialect):
            said.append(f"{keyword}: {value}")
            weakened = True
            continue
        made[keyword], less = _fitted_member(keyword, value, dialect, depth)
        weakened |= less
    if dialect.closed and _is_object(made) and made.get("additionalProperties") is not False:
        weakened |= made.get("additionalProperties", True) is not False
        made["additionalProperties"] = False
    if said:
        made["description"] = " ".join(
            [*([made["description"]] if "description" in made else []), f"({'; '.join(said)})"]
        )
    return made, weakened


def _fitted_member(keyword: str, value: Any, dialect: Dialect, depth: int) -> tuple[Any, bool]:
    if keyword in _NAMED and isinstance(value, dict):
        rows = {name: _fitted(part, dialect, depth + 1) for name, part in value.items()}
        return {name: part for name, (part, _) in rows.items()}, any(less for _, less in rows.values())
    if keyword in _LISTED and isinstance(value, list):
        parts = [_fitted(part, dialect, depth + 1) for part in value]
        return [part for part, _ in parts], any(less for _, less in parts)
    if keyword in _SINGLE:
        return _fitted(value, dialect, depth + 1)
    return value, False
