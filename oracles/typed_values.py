"""
Values that a type of an SDK allows, made at random from a seed: every member, every variant, null where it may be.

pydantic tells the JSON Schema of any of these types (TypedDicts, models, unions), as it stands on the wire. What a schema
cannot say (that an id pairs a call with its result, that a text is base64) is said by overrides, by name:

    draw = Maker(ChatCompletion, random.Random(7), {"Function.arguments": lambda draw: '{"a": 1}', "*.data": base64})
    draw.value()                       # an answer
    draw.named("ChatCompletionMessage")  # one part of it
"""

import random
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, PydanticOmit

Schema = dict[str, Any]
Override = Callable[["Maker"], Any]

ABSENT: Final = object()
"""Given by an override: the member is left out."""

DEPTH = 7
"""How deep a value goes before nothing is in it that need not be."""

TEXTS = [
    *["hello", "two words", "Zürich – 東京 🦜", '{"a": 1}', "a\nb\r\nc", 'quote " and \\ slash', "x" * 70],
    *["", " ", "null", "\u2028", "~1/~0", "[DONE]", "[tool_error]\nx", "data: x"],
]
NUMBERS = [0, 1, 2, 7, 100, 4096, 1_700_000_000, 2**53 + 1]
FRACTIONS = [0.0, 0.5, 1.0, -0.25, 1e-7, 3]
ANYTHING = ["text", 1, 2.5, True, None, [], {}, ["a", None, 1], {"a": {"b": [1, 2.0, "c"]}}, 2**70]


class _Lenient(GenerateJsonSchema):
    """What only a program can be given (functions, classes) is left out."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> Any:  # noqa: ARG002
        raise PydanticOmit

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Says nothing: defaults that are no JSON do not matter here."""


@cache
def schema(kind: Any) -> Schema:
    """The JSON Schema of a type."""
    return TypeAdapter(kind).json_schema(schema_generator=_Lenient)


class Maker:
    """
    Makes values of one type.

    `overrides` are functions of the maker, by `Type.member`, `*.member` or `Type`; `null` and `later` are how often a
    member that may be null is, and how often an object has a member that the type does not know.
    """

    def __init__(
        self,
        kind: Any,
        rng: random.Random,
        overrides: Mapping[str, Override] | None = None,
        *,
        null: float = 0.1,
        later: float = 0.0,
    ) -> None:
        self.root = schema(kind)
        self.rng, self.null, self.later = rng, null, later
        self.overrides = overrides or {}

    def value(self) -> Any:
        """A value of the type."""
        return self._make(self.root, 0)

    def named(self, kind: str, /, **given: Any) -> Any:
        """A value of one of the types in it, with some members as they are given."""
        return self._make(self.root["$defs"][kind], 1) | given

    def plain(self, name: str) -> Any:
        """The same, whatever an override says of the type: for the override itself."""
        return self._members(self.root["$defs"][name], 1)

    def chance(self, share: float) -> bool:
        """True as often as `share` says."""
        return self.rng.random() < share

    def _make(self, node: Schema, depth: int) -> Any:
        node = self._resolved(node)
        if "const" in node:
            return node["const"]
        if "enum" in node:
            return self.rng.choice(node["enum"])
        if arms := node.get("anyOf") or node.get("oneOf"):
            return self._arm(arms, depth)
        match node.get("type"):
            case "object":
                return self._object(node, depth)
            case "array":
                most = 0 if depth >= DEPTH else 3
                return [self._make(node.get("items", {}), depth + 1) for _ in range(self.rng.randint(0, most))]
            case "string":
                return self._text(node)
            case "integer":
                return self.rng.choice(NUMBERS)
            case "number":
                return self.rng.choice(FRACTIONS)
            case "boolean":
                return self.chance(0.5)
            case "null":
                return None
            case _:
                return self.rng.choice(ANYTHING)

    def _resolved(self, node: Schema) -> Schema:
        while "$ref" in node:
            node = self.root["$defs"][node["$ref"].removeprefix("#/$defs/")]
        return node

    def _arm(self, arms: list[Schema], depth: int) -> Any:
        # an enumeration without words is the base class itself
        some = [arm for arm in map(self._resolved, arms) if arm.get("type") != "null" and arm.get("enum") != []]
        if not some or (len(some) < len(arms) and self.chance(self.null)):
            return None
        if depth >= DEPTH:
            some = [arm for arm in some if arm.get("type") not in (None, "object", "array")] or some
        return self._make(self.rng.choice(some), depth)

    def _object(self, node: Schema, depth: int) -> Any:
        title = node.get("title", "")
        if whole := self.overrides.get(title):
            return whole(self)
        return self._members(node, depth)

    def _members(self, node: Schema, depth: int) -> dict[str, Any]:
        title = node.get("title", "")
        made: dict[str, Any] = {}
        share = 0.0 if depth >= DEPTH else self.rng.choice((0.0, 0.1, 0.3, 0.7, 1.0))
        needed = node.get("required", ())
        for name, member in node.get("properties", {}).items():
            default = member.get("default")
            tag = isinstance(default, str) and any(
                default == arm.get("const") for arm in (member, *member.get("anyOf", ()))
            )
            if not (tag or name in needed or self.chance(share)):
                continue
            if override := self.overrides.get(f"{title}.{name}") or self.overrides.get(f"*.{name}"):
                value = override(self)
            else:
                value = default if tag else self._make(member, depth + 1)
            if value is not ABSENT:
                made[name] = value
        if isinstance(inner := node.get("additionalProperties"), dict):  # a map: dict[str, X]
            for name in self.rng.sample(("a", "some key", "ключ"), self.rng.randint(0, 3)):
                made[name] = self._make(inner, depth + 1)
        elif inner and "properties" not in node:  # dict[str, object]
            made |= self.rng.choice(({}, {"a": 1}, {"a": {"b": None}, "c": ["d"]}))
        elif "properties" in node and self.chance(self.later):
            made["x_later"] = self.rng.choice(ANYTHING)
        return made

    def _text(self, node: Schema) -> str:
        match node.get("format"):
            case "base64url" | "binary":
                return "aGVsbG8="
            case "date-time":
                return "2026-05-01T12:00:00Z"
            case _:
                return self.rng.choice([text for text in TEXTS if len(text) >= node.get("minLength", 0)])
