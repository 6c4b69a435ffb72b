"""Values that the schema allows, for property tests: `values("Message")` is a strategy of plain data."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

SCHEMA = Path(__file__).resolve().parent.parent / "spec/schema/interlingua.schema.json"
DEFS: dict[str, Any] = json.loads(SCHEMA.read_text("utf-8"))["$defs"]

# texts that trip writers: empty, separators that are no line ends, a byte order mark, another plane, pointer characters
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.sampled_from(["", " ", "\u2028", "\ufeff", "🦜", "~1/~0", "null", '"\\', "a\x00b"]),
)
INTEGER = st.one_of(st.integers(0, 10**6), st.sampled_from([2**53 + 1, 2**63 - 1, 2**63, 2**80]))
NUMBER = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**6), 10**6))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGER, NUMBER, TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)


@cache
def values(name: str) -> st.SearchStrategy[Any]:
    """Plain data of a named type; members of a later version, null and written-out defaults among them."""
    node = DEFS[name]
    if "enum" in node:
        return st.sampled_from(node["enum"])
    if "anyOf" in node or "oneOf" in node:
        arms = [arm["$ref"].removeprefix("#/$defs/") for arm in node.get("anyOf") or node["oneOf"]]
        return st.one_of([st.deferred(lambda arm=arm: values(arm)) for arm in arms])
    required, optional = {}, {}
    for key, inner in node["properties"].items():
        (required if key in node.get("required", ()) else optional)[key] = member(inner)
    # a member of a later version
    optional["x_later"] = JSON
    return st.fixed_dictionaries(required, optional=optional)


def member(node: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of a member, by what the schema says of it."""
    if "const" in node:
        return st.just(node["const"])
    if "$ref" in node:
        return _named(node["$ref"])
    if "oneOf" in node:
        return st.one_of([st.none() if arm == {"type": "null"} else member(arm) for arm in node["oneOf"]])
    if "not" in node:
        return TEXT.filter(lambda word: word not in node["not"]["enum"])
    if isinstance(node.get("type"), list):
        return st.one_of(st.none(), member({**node, "type": node["type"][0]}))
    match node.get("type"):
        case None:
            return JSON
        case "string":
            return _text(node)
        case "boolean":
            return st.booleans()
        case "integer":
            return INTEGER.filter(lambda value: node.get("minimum", 0) <= value)
        case "number" if "maximum" in node:
            return st.floats(node["minimum"], node["maximum"])
        case "number":
            return NUMBER
        case "array":
            return st.lists(member(node["items"]), max_size=3)
        case "object" if isinstance(node["additionalProperties"], dict):
            return st.dictionaries(TEXT, member(node["additionalProperties"]), max_size=3)
        case _:
            return OBJECT


def _text(node: dict[str, Any]) -> st.SearchStrategy[str]:
    if node.get("format") == "date-time":
        return st.datetimes().map(lambda moment: f"{moment.isoformat(timespec='microseconds')}Z")
    if "pattern" in node:
        alphabet = st.characters(exclude_categories=["Cs"])
        # a pattern's $ also stands before a last line end in Python, but nowhere else
        return st.from_regex(re.sub(r"\$$", r"\\Z", node["pattern"]), alphabet=alphabet)
    return TEXT.filter(lambda text: len(text) >= node.get("minLength", 0))


def _named(ref: str) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: values(ref.removeprefix("#/$defs/")))


def objects(value: Any, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Every object inside a value of a named type whose members the schema names, with its type; not a provider's own."""
    node = DEFS[name]
    if "properties" in node:
        yield value, name
        for key, inner in node["properties"].items():
            if key in value and key not in _CLOSED:
                yield from _inside(value[key], inner)
    elif value["type"] in KINDS:
        yield from objects(value, KINDS[value["type"]])


def _inside(value: Any, node: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(value, list) and "items" in node:
        for item in value:
            yield from _inside(item, node["items"])
    elif isinstance(value, dict):
        for arm in (node, *node.get("oneOf", ())):
            if "$ref" in arm:
                yield from objects(value, arm["$ref"].removeprefix("#/$defs/"))


_CLOSED = {"provider_state", "loss"}
KINDS = {
    node["properties"]["type"]["const"]: name
    for name, node in DEFS.items()
    if name.endswith("Block") and "const" in node.get("properties", {}).get("type", {})
}
"""The type of each kind of block."""
