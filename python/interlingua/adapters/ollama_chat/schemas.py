"""
The schema of a tool in what the server keeps of it.

The server reads a tool's parameters into a structure: of the whole `type`, `$defs`, `items`, `required` and
`properties`, of each property `type`, `items`, `description`, `enum`, `anyOf`, `properties` and `required`. Everything
else never reaches the model. What can be said otherwise is rewritten, a limit is said in the description, and each
keyword that is left out is reported at its pointer. What stands under `items` and `$defs` is kept as it is.
"""

from collections.abc import Callable
from typing import Any, Final

from interlingua.adapters._kit import NOTHING, within
from interlingua.canonical import json
from interlingua.canonical.loss import Loss, Path

Schema = dict[str, Any]
Kinds = dict[str, Callable[[Any], bool]]

_ROOT: Final = frozenset(("type", "$defs", "items", "required", "properties"))
_PROPERTY: Final = frozenset(("type", "items", "description", "enum", "anyOf", "properties", "required"))
_SILENT: Final = frozenset(("title", "$schema", "$id", "$comment", "additionalProperties", "$ref", "strict"))
"""Keywords that say nothing worth a place in a description."""
_NO_LIMIT: Final = frozenset(("title", "$schema", "$id", "$comment", "description", "strict"))
"""Keywords that limit no value. `strict` is no keyword: it is a member of a tool that callers of OpenAI often put into the schema."""
_FLAT: Final = _PROPERTY - {"properties", "anyOf"}
_MOST_REFERENCES: Final = 64
"""So many references of one tool are written out; a schema that refers to itself never ends."""


def kept(schema: Schema, loss: Loss, path: Path) -> Schema:
    """The schema of a tool as the model will see it; the same object when nothing had to change."""
    if is_kept_whole(schema):
        return schema
    schema = _sound(schema, _MISSHAPEN_ROOT, loss, path)
    written = _Keeper(schema, loss).properties(schema, path)
    if schema.get("type", "object") != "object":
        loss.replace(
            (*path, "type"), "object", "schema_rewritten", "representation", "the arguments of a tool are an object"
        )
        written = {**written, "type": "object"}
    if schema.keys() <= _ROOT:
        return written
    for name in schema:
        if name not in _ROOT:
            _drop(name, loss, path)
    return {name: value for name, value in written.items() if name in _ROOT}


def is_kept_whole(schema: Schema) -> bool:
    """Whether the server keeps the whole schema: one level of properties without anything that it drops."""
    if not within(schema, _ROOT) or schema.get("type", "object") != "object":
        return False
    parts = schema.get("properties", NOTHING)
    if not isinstance(parts, dict) or not _are_texts(schema.get("required", _NO_LIST)):
        return False
    for part in parts.values():  # noqa: SIM110 compiled, the loop is faster
        if not (isinstance(part, dict) and within(part, _FLAT) and _is_sound(part)):
            return False
    return True


def _are_texts(value: Any) -> bool:
    if not isinstance(value, list):
        return False
    for text in value:  # noqa: SIM110 compiled, the loop is faster
        if type(text) is not str:
            return False
    return True


def _is_sound(part: Schema) -> bool:
    """Whether the keywords of a property have the types that the server reads them into."""
    return (
        _is_word(part.get("type", ""))
        and type(part.get("description", "")) is str
        and type(part.get("enum", _NO_LIST)) is list
        and ("required" not in part or _are_texts(part["required"]))
    )


_NO_LIST: Final[list[Any]] = []


class _Keeper:
    """Goes through the properties of one tool's schema."""

    __slots__ = ("_definitions", "_left", "_loss")

    def __init__(self, root: Schema, loss: Loss) -> None:
        self._loss = loss
        self._left = _MOST_REFERENCES
        self._definitions = {
            f"#/{place}/{name}": part
            for place in ("$defs", "definitions")
            if isinstance(parts := root.get(place), dict)
            for name, part in parts.items()
        }

    def properties(self, schema: Schema, path: Path) -> Schema:
        """The schema with properties that the server keeps."""
        parts = schema.get("properties")
        if not isinstance(parts, dict):
            return schema
        fitted = {name: self._property(part, (*path, "properties", name)) for name, part in parts.items()}
        return schema if all(fitted[name] is parts[name] for name in parts) else {**schema, "properties": fitted}

    def _property(self, part: Any, path: Path) -> Any:
        if not isinstance(part, dict):
            code, severity = ("schema_rewritten", "representation") if part is True else ("schema_weakened", "weakened")
            message = "the server takes an object as the schema of a property: any value is the empty one"
            self._loss.replace(path, {}, code, severity, message)
            return {}
        if "$ref" in part:
            part = self._resolved(part, path)
        part = _sound(part, _MISSHAPEN, self._loss, path)
        if part.keys() <= _PROPERTY and "properties" not in part and "anyOf" not in part:
            return part
        written = _united(_listed(self.properties(part, path), self._loss, path), self._loss, path)
        options = written.get("anyOf")
        if isinstance(options, list):
            fitted = [self._property(item, (*path, "anyOf", number)) for number, item in enumerate(options)]
            if any(new is not old for new, old in zip(fitted, options, strict=True)):
                written = {**written, "anyOf": fitted}
        return _limited(written, self._loss, path)

    def _resolved(self, part: Schema, path: Path) -> Schema:
        """What a reference stands for, with what stands beside the reference."""
        target = part
        while self._left and isinstance(found := self._definitions.get(str(target.get("$ref"))), dict):
            self._left -= 1
            target = {**found, **{name: value for name, value in target.items() if name != "$ref"}}
        if target is not part:
            message = "the server takes no references: what it stands for is written out"
            self._loss.replace(path, target, "schema_rewritten", "representation", message)
        return target


def _is_word(value: Any) -> bool:
    return type(value) is str or (type(value) is list and _are_texts(value))


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_list(value: Any) -> bool:
    return type(value) is list


def _is_object(value: Any) -> bool:
    return type(value) is dict


_MISSHAPEN_ROOT: Final[Kinds] = {"required": _are_texts, "properties": _is_object}
_MISSHAPEN: Final[Kinds] = {
    **_MISSHAPEN_ROOT,
    "type": _is_word,
    "description": _is_text,
    "enum": _is_list,
    "anyOf": _is_list,
}
"""What the server reads a keyword into; null is nothing."""


def _sound(schema: Schema, kinds: Kinds, loss: Loss, path: Path) -> Schema:
    """The schema without keywords that are of no type a schema has there: the server would refuse the whole request."""
    odd = [name for name, fits in kinds.items() if schema.get(name) is not None and not fits(schema[name])]
    if not odd:
        return schema
    for name in odd:
        severity = "representation" if name == "description" else "weakened"
        loss.drop((*path, name), "schema_weakened", severity, "no schema has such a value there; the server refuses it")
    return {name: value for name, value in schema.items() if name not in odd}


def _united(schema: Schema, loss: Loss, path: Path) -> Schema:
    if type(schema.get("oneOf")) is not list or "anyOf" in schema:
        return schema
    message = "the target has anyOf in the place of oneOf"
    loss.move((*path, "oneOf"), (*path, "anyOf"), "schema_rewritten", "representation", message)
    return {**{name: value for name, value in schema.items() if name != "oneOf"}, "anyOf": schema["oneOf"]}


def _listed(schema: Schema, loss: Loss, path: Path) -> Schema:
    if "const" not in schema or "enum" in schema:
        return schema
    message = "the target has an enum of one value in the place of const"
    loss.drop((*path, "const"), "schema_rewritten", "representation", message)
    loss.replace((*path, "enum"), [schema["const"]], "schema_rewritten", "representation", message)
    return {**{name: value for name, value in schema.items() if name != "const"}, "enum": [schema["const"]]}


def _limited(schema: Schema, loss: Loss, path: Path) -> Schema:
    dropped = [name for name in schema if name not in _PROPERTY]
    if not dropped:
        return schema
    for name in dropped:
        _drop(name, loss, path)
    written = {name: value for name, value in schema.items() if name in _PROPERTY}
    if said := ", ".join(f"{name}: {json.dumps(schema[name]).decode()}" for name in dropped if name not in _SILENT):
        before = schema.get("description")
        written["description"] = f"{before}\n\n{{{said}}}" if isinstance(before, str) and before else f"{{{said}}}"
        message = "the server drops the keyword; the description says it"
        loss.replace((*path, "description"), written["description"], "schema_weakened", "weakened", message)
    return written


def _drop(name: str, loss: Loss, path: Path) -> None:
    severity = "representation" if name in _NO_LIMIT else "weakened"
    loss.drop((*path, name), "schema_weakened", severity, "the server drops this keyword of a tool's schema")
