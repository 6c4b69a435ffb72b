"""Schemas inside and outside the dialects that providers enforce."""

from typing import Any

import pytest

from interlingua.adapters._schema import ANTHROPIC_STRICT, OPENAI_STRICT, fitted, misfit

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_a_closed_schema_fits_both() -> None:
    """Nothing to rewrite."""
    assert misfit(CLOSED, ANTHROPIC_STRICT) is None
    assert misfit(CLOSED, OPENAI_STRICT) is None
    assert (CLOSED, False) == fitted(CLOSED, ANTHROPIC_STRICT)


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"additionalProperties": True}, "/additionalProperties"),
        ({"required": []}, "/required"),
        ({"oneOf": []}, "/oneOf"),
        ({"properties": {"a": {"type": "array", "items": {"not": {}}}}}, "/properties/a/items/not"),
        ({"type": "string"}, ""),
    ],
)
def test_what_openai_does_not_take(members: dict[str, Any], path: str) -> None:
    """The pointer names the place."""
    assert path == misfit(CLOSED | members, OPENAI_STRICT)


def test_a_rewritten_schema_fits() -> None:
    """Constraints go into the description, objects are closed, alternatives stay alternatives."""
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "description": "A name."},
            "kind": {"oneOf": [{"type": "integer", "maximum": 9}, {"type": "object"}]},
        },
    }

    made, weakened = fitted(schema, ANTHROPIC_STRICT)

    assert misfit(made, ANTHROPIC_STRICT) is None
    assert weakened
    assert "A name. (minLength: 2)" == made["properties"]["name"]["description"]
    assert 2 == len(made["properties"]["kind"]["anyOf"])
    assert "minLength" in schema["properties"]["name"]


def test_an_exact_rewriting_is_not_weaker() -> None:
    """oneOf as anyOf."""
    made, weakened = fitted({"oneOf": [{"type": "string"}, {"type": "null"}]}, ANTHROPIC_STRICT)

    assert {"anyOf": [{"type": "string"}, {"type": "null"}]} == made
    assert not weakened


def test_endless_nesting_ends() -> None:
    """A schema of any depth is judged or cut off, without an error."""
    schema: dict[str, Any] = {}
    inner = schema
    for _ in range(5_000):
        inner["items"] = inner = {}

    assert misfit(schema, OPENAI_STRICT) is not None
    fitted(schema, ANTHROPIC_STRICT)
