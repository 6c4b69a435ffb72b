"""
JSON Schemas, in the two dialects of the wire.

`parameters` and `responseSchema` hold the provider's own Schema object: types in capitals, `nullable`. They are read as
JSON Schema. `parametersJsonSchema` and `responseJsonSchema` hold a part of JSON Schema and are what is written: keywords
with an equal inside that part are rewritten, the others are left out, said in the description, and reported each.
"""

from collections.abc import Iterable
from typing import Any, Final

from interlingua.adapters.gemini_generate.tables import TYPE_NUMBERS, camelised
from interlingua.canonical import json
from interlingua.canonical.loss import Loss, Path

Schema = dict[str, Any]

# ---------------------------------------------------------------------------------------------- from the wire


def json_schema(schema: Any) -> Any:
    """The provider's Schema object as JSON Schema."""
    if type(schema) is not dict:
        return schema
    members = camelised(schema)
    found: Schema = {}
    for name, value in members.items():
        match name:
            case "type":
                found[name] = _type(value)
            case "properties" if type(value) is dict:
                found[name] = {key: json_schema(part) for key, part in value.items()}
            case "items":
                found[name] = json_schema(value)
            case "anyOf" if type(value) is list:
                found[name] = [json_schema(part) for part in value]
            case "nullable" if value is True and type(members.get("type")) in (str, int):
                pass
            case "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" if (
                type(value) is str and value.isdecimal()
            ):
                found[name] = int(value)  # the wire spells 64-bit integers as texts
            case _:
                found[name] = value
    if members.get("nullable") is True and type(found.get("type")) is str:
        found["type"] = [found["type"], "null"]
    return found


def _type(value: Any) -> Any:
    if type(value) is int and 0 <= value < len(TYPE_NUMBERS):
        value = TYPE_NUMBERS[value]
    return value.lower() if type(value) is str else value


# ---------------------------------------------------------------------------------------------- to the wire

_TAKEN: Final = frozenset(
    (
        "$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum "
        "anyOf oneOf properties additionalProperties required propertyOrdering"
    ).split()
)
_SILENT: Final = frozenset(
    ("$schema", "$comment", "default", "examples", "example", "deprecated", "readOnly", "writeOnly")
)
"""Keywords that hold an answer to nothing: without them the same values satisfy the schema."""

_LEAF: Final = _TAKEN - {
    "$defs",
    "$ref",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
}
"""Keywords without a schema in them."""

_MOST_LEVELS: Final = 64

_NAMED: Final = ("properties", "$defs", "definitions")
_LISTED: Final = ("anyOf", "oneOf", "prefixItems")
_SINGLE: Final = ("items", "additionalProperties")


def _fits(schema: Any, level: int) -> bool:
    """Whether nothing has to change in a schema: asked first, for it is so of nearly all."""
    if type(schema) is not dict:
        return schema is not True
    if level > _MOST_LEVELS:
        return True
    members: Schema = schema
    for name, value in members.items():
        if name in _LEAF:
            continue
        match name:
            case "items" if type(value) is list:
                return False
            case "items" | "additionalProperties":
                fits = type(value) is not dict or _fits(value, level + 1)
            case "properties" | "$defs":
                fits = type(value) is not dict or _all_fit(value.values(), level + 1)
            case "anyOf" | "oneOf" | "prefixItems":
                fits = type(value) is not list or _all_fit(value, level + 1)
            case _:  # a reference, or a keyword that the wire does not take
                return False
        if not fits:
            return False
    return True


def _all_fit(schemas: Iterable[Any], level: int) -> bool:
    for schema in schemas:  # noqa: SIM110 a generator costs more than what it asks
        if not _fits(schema, level):
            return False
    return True


def is_taken(schema: Schema) -> bool:
    """Whether the wire takes a schema as it is."""
    return _fits(schema, 0)


def fitted(schema: Schema, loss: Loss, path: Path) -> Schema:
    """The schema in the part of JSON Schema that the wire takes; the same object when nothing had to change."""
    return schema if _fits(schema, 0) else _fitted(schema, loss, path, 0)


def _fitted(schema: Schema, loss: Loss, path: Path, level: int) -> Schema:
    if level > _MOST_LEVELS:
        return schema
    if "$ref" in schema:
        return _reference(schema, loss, path, level)
    changes: Schema = {}
    for name in _NAMED:
        parts = schema.get(name)
        if type(parts) is dict:
            _changed(changes, name, parts, {k: _part(v, loss, (*path, name, k), level) for k, v in parts.items()})
    for name in _LISTED:
        parts = schema.get(name)
        if type(parts) is list:
            fitted_parts = [_part(part, loss, (*path, name, at), level) for at, part in enumerate(parts)]
            if any(new is not old for new, old in zip(fitted_parts, parts, strict=True)):
                changes[name] = fitted_parts
    for name in _SINGLE:
        part = schema.get(name)
        if type(part) is dict and (new := _part(part, loss, (*path, name), level)) is not part:
            changes[name] = new
    if not changes and schema.keys() <= _TAKEN and type(schema.get("items", {})) is dict:
        return schema
    made = {**schema, **changes}
    _rewrite(schema, made, loss, path)
    _leave_out(schema, made, loss, path)
    return made


def _changed(changes: Schema, name: str, parts: Schema, new: Schema) -> None:
    if any(new[key] is not parts[key] for key in parts):
        changes[name] = new


def _part(part: Any, loss: Loss, path: Path, level: int) -> Any:
    if part is True:
        loss.replace(path, {}, "schema_rewritten", "shape", "any value is the empty schema")
        return {}
    return _fitted(part, loss, path, level + 1) if type(part) is dict else part


def _reference(schema: Schema, loss: Loss, path: Path, level: int) -> Schema:
    """A reference stands alone, but for keywords that begin with a dollar sign."""
    made: Schema = {}
    for name, value in schema.items():
        if name == "$defs" and type(value) is dict:
            made[name] = {key: _part(part, loss, (*path, name, key), level) for key, part in value.items()}
        elif name == "$ref" and type(value) is str and value.startswith("#/definitions/"):
            made[name] = "#/$defs/" + value.removeprefix("#/definitions/")
            loss.replace((*path, name), made[name], "schema_rewritten", "shape", "definitions have one place")
        elif name in ("$ref", "$id", "$anchor"):
            made[name] = value
        elif name == "definitions" and "$defs" not in schema and type(value) is dict:
            made["$defs"] = {key: _part(part, loss, (*path, name, key), level) for key, part in value.items()}
            loss.move((*path, name), (*path, "$defs"), "schema_rewritten", "shape", "definitions have one place")
        else:
            weak = name not in _SILENT and name not in ("description", "title")
            code, severity = ("schema_weakened", "weakened") if weak else ("schema_rewritten", "shape")
            loss.drop((*path, name), code, severity, "a reference stands alone")
    return schema if made == schema else made


def _rewrite(schema: Schema, made: Schema, loss: Loss, path: Path) -> None:
    """Keywords that have an equal on the wire."""
    if "definitions" in made and "$defs" not in made:
        made["$defs"] = made.pop("definitions")
        loss.move((*path, "definitions"), (*path, "$defs"), "schema_rewritten", "shape", "definitions have one place")
    if "const" in made and "enum" not in made:
        made["enum"] = [made.pop("const")]
        loss.drop((*path, "const"), "schema_rewritten", "shape", "a constant is the one value of an enumeration")
        message = "a constant is the one value of an enumeration"
        loss.replace((*path, "enum"), made["enum"], "schema_rewritten", "shape", message)
    if type(made.get("items")) is list and "prefixItems" not in made:
        made["prefixItems"] = made.pop("items")
        loss.move((*path, "items"), (*path, "prefixItems"), "schema_rewritten", "shape", "the items of a tuple")
    for name, limit, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
        value = made.get(name)
        if made.get("type") == "integer" and type(value) is int and limit not in made:
            del made[name]
            made[limit] = value + step
            message = "the same limit of whole numbers"
            loss.drop((*path, name), "schema_rewritten", "shape", message)
            loss.replace((*path, limit), made[limit], "schema_rewritten", "shape", message)


def _leave_out(schema: Schema, made: Schema, loss: Loss, path: Path) -> None:
    """Keywords that the wire does not take: what they say goes to the description."""
    said: list[str] = []
    message = "the target does not take this keyword; the description says it"
    for name in [name for name in made if name not in _TAKEN]:
        value = made.pop(name)
        if name in _SILENT:
            loss.drop((*path, name), "schema_rewritten", "shape", "the same values satisfy the schema without it")
            continue
        said.append(f"{name}: {json.dumps(value).decode()}")
        loss.drop((*path, name), "schema_weakened", "weakened", message)
    if not said:
        return
    before = schema.get("description")
    text = f"{{{', '.join(said)}}}"
    made["description"] = f"{before}\n\n{text}" if type(before) is str and before else text
    loss.replace((*path, "description"), made["description"], "schema_weakened", "weakened", message)


def rooted(schema: Schema, loss: Loss, path: Path) -> Schema:
    """The schema of a function's arguments: an object at the root."""
    kind = schema.get("type")
    if kind == "object" or "$ref" in schema:
        return schema
    same = kind is None or (type(kind) is list and "object" in kind)
    code, severity = ("schema_rewritten", "shape") if same else ("schema_weakened", "weakened")
    loss.replace((*path, "type"), "object", code, severity, "the target takes an object at the root")
    return {**schema, "type": "object"}
