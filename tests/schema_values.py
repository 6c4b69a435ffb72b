"""Values that the schema allows, for property tests: `values("Message")` is a strategy of plain data."""

import json
import re
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
    for key, member in node["properties"].items():
        (required if key in node.get("required", ()) else optional)[key] = _member(member)
    # a member of a later version
    optional["x_later"] = JSON
    return st.fixed_dictionaries(required, optional=optional)


def _member(node: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "const" in node:
        return st.just(node["const"])
    if "$ref" in node:
        return _named(node["$ref"])
    if "oneOf" in node:
        return st.one_of([st.none() if arm == {"type": "null"} else _member(arm) for arm in node["oneOf"]])
    if "not" in node:
        return TEXT.filter(lambda word: word not in node["not"]["enum"])
    if isinstance(node.get("type"), list):
        return st.one_of(st.none(), _member({**node, "type": node["type"][0]}))
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
            return st.lists(_member(node["items"]), max_size=3)
        case "object" if isinstance(node["additionalProperties"], dict):
            return st.dictionaries(TEXT, _member(node["additionalProperties"]), max_size=3)
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
