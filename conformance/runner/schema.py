"""A validator for the part of JSON Schema 2020-12 that the suite's own schemas and `spec/schema` use.

`validate` returns the first violation in document order, with a JSON Pointer. A keyword outside the subset is refused
when the schema is loaded: a validator that skips what it does not know would call everything valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .compare import difference, equal, loads, parse_pointer, pointer_of, show

_CHECKED = frozenset(
    "$ref type properties required additionalProperties items enum const pattern minimum maximum minLength minItems "
    "oneOf anyOf allOf not propertyNames".split()
)
_SILENT = frozenset(
    "$schema $id $defs $comment title description default examples format discriminator x-json x-int64".split()
)
_TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
}


@dataclass(frozen=True)
class Invalid:
    """The place and the reason why a value does not satisfy a schema."""

    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.reason}"


class Schema:
    """A schema document; `validate(value, "Request")` checks against one of its `$defs`."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.names = frozenset(document.get("$defs", {}))
        for pointer, word in _unknown_keywords(document, []):
            raise ValueError(f"the schema uses {word!r} at {pointer or '/'}, which this validator does not know")

    def validate(self, value: Any, name: str | None = None) -> Invalid | None:
        schema = self.document if name is None else self.document["$defs"][name]
        return next(self._violations(schema, value, []), None)

    def _violations(self, schema: Any, value: Any, at: list[str | int]) -> Iterator[Invalid]:
        if schema is True:
            return
        if schema is False:
            yield Invalid(pointer_of(at), "nothing is allowed here")
            return
        if "$ref" in schema:
            yield from self._violations(self._resolve(schema["$ref"]), value, at)
        yield from self._scalar_violations(schema, value, at)
        if isinstance(value, dict):
            yield from self._object_violations(schema, value, at)
        if isinstance(value, list) and "items" in schema:
            for index, item in enumerate(value):
                yield from self._violations(schema["items"], item, [*at, index])
        yield from self._union_violations(schema, value, at)

    def _resolve(self, reference: str) -> Any:
        found: Any = self.document
        for step in parse_pointer(reference.removeprefix("#")):
            found = found[step]
        return found

    def _scalar_violations(self, schema: dict[str, Any], value: Any, at: list[str | int]) -> Iterator[Invalid]:
        here = pointer_of(at)
        types = schema.get("type")
        if types is not None:
            words = [types] if isinstance(types, str) else types
            if not any(_TYPES[word](value) for word in words):
                yield Invalid(here, f"{' or '.join(words)} expected, got {show(value, 60)}")
                return
        if "enum" in schema and not any(equal(value, item) for item in schema["enum"]):
            yield Invalid(here, f"{show(value, 60)} is not one of {show(schema['enum'], 120)}")
        if "const" in schema and difference(schema["const"], value) is not None:
            yield Invalid(here, f"{show(schema['const'], 60)} expected, got {show(value, 60)}")
        if isinstance(value, str):
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield Invalid(here, f"{show(value, 60)} does not match {schema['pattern']}")
            if len(value) < schema.get("minLength", 0):
                yield Invalid(here, "the text is too short")
        if isinstance(value, int | float) and not isinstance(value, bool):
            if value < schema.get("minimum", value):
                yield Invalid(here, f"{value} is below {schema['minimum']}")
            if value > schema.get("maximum", value):
                yield Invalid(here, f"{value} is above {schema['maximum']}")
        if isinstance(value, list) and len(value) < schema.get("minItems", 0):
            yield Invalid(here, "the list is too short")

    def _object_violations(
        self, schema: dict[str, Any], value: dict[str, Any], at: list[str | int]
    ) -> Iterator[Invalid]:
        for name in schema.get("required", ()):
            if name not in value:
                yield Invalid(pointer_of(at), f"member {name!r} is missing")
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        for name, item in value.items():
            if name in known:
                yield from self._violations(known[name], item, [*at, name])
            elif others is False:
                yield Invalid(pointer_of([*at, name]), "this member is not allowed")
            else:
                yield from self._violations(others, item, [*at, name])
            if "propertyNames" in schema:
                yield from self._violations(schema["propertyNames"], name, [*at, name])

    def _union_violations(self, schema: dict[str, Any], value: Any, at: list[str | int]) -> Iterator[Invalid]:
        for part in schema.get("allOf", ()):
            yield from self._violations(part, value, at)
        if "not" in schema and next(self._violations(schema["not"], value, at), None) is None:
            yield Invalid(pointer_of(at), f"{show(value, 60)} is not allowed here")
        for word in ("oneOf", "anyOf"):
            if word in schema:
                yield from self._form_violations(schema, word, value, at)

    def _form_violations(self, schema: dict[str, Any], word: str, value: Any, at: list[str | int]) -> Iterator[Invalid]:
        meant = self._meant_form(schema, word, value)
        if meant is not None:
            yield from self._violations(meant, value, at)
            return
        found = [next(self._violations(part, value, at), None) for part in schema[word]]
        fitting = found.count(None)
        if fitting == 0:
            # The form that got furthest is the one that was meant; one that stumbled over the tag was not.
            tag = pointer_of([*at, "type"])
            failures = [item for item in found if item is not None]
            yield max(failures, key=lambda item: (item.pointer != tag, item.pointer.count("/")))
        elif word == "oneOf" and fitting > 1:
            yield Invalid(pointer_of(at), "more than one form fits")

    def _meant_form(self, schema: dict[str, Any], word: str, value: Any) -> Any:
        """The form that the value's own tag names, where the union has a discriminator."""
        name = schema.get("discriminator", {}).get("propertyName")
        if name is None or not isinstance(value, dict):
            return None
        for part in schema[word]:
            form = self._resolve(part["$ref"]) if "$ref" in part else part
            if form.get("properties", {}).get(name, {}).get("const") == value.get(name):
                return form
        return None


def _unknown_keywords(schema: Any, at: list[str | int]) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, dict):
        return
    for word, item in schema.items():
        if word not in _CHECKED and word not in _SILENT:
            yield pointer_of(at), word
        if word in ("properties", "$defs"):
            for name, part in item.items():
                yield from _unknown_keywords(part, [*at, word, name])
        elif word in ("oneOf", "anyOf", "allOf"):
            for index, part in enumerate(item):
                yield from _unknown_keywords(part, [*at, word, index])
        elif word in ("items", "additionalProperties", "not", "propertyNames"):
            yield from _unknown_keywords(item, [*at, word])


CONFORMANCE = Path(__file__).resolve().parent.parent


@cache
def load(path: Path) -> Schema:
    return Schema(loads(path.read_bytes()))


def canonical() -> Schema:
    """The contract's schema, `spec/schema/interlingua.schema.json`."""
    return load(CONFORMANCE.parent / "spec" / "schema" / "interlingua.schema.json")


def suite(name: str) -> Schema:
    """One of the suite's own schemas, e.g. `case`."""
    return load(CONFORMANCE / "schema" / f"{name}.schema.json")


@cache
def loss_codes() -> frozenset[str]:
    return frozenset(loads((CONFORMANCE.parent / "spec" / "registry" / "loss_codes.json").read_bytes())["codes"])
