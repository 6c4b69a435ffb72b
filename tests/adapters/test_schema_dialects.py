"""Schemas inside and outside the dialects that providers enforce."""

from typing import Any

import pytest

from interlingua.adapters._claude.schemas import enforced
from interlingua.adapters._openai.writing import can_be_enforced
from interlingua.canonical.loss import Loss

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_a_closed_schema_fits_both() -> None:
    """Nothing to rewrite."""
    loss = Loss()

    assert can_be_enforced(CLOSED)
    assert CLOSED == enforced(CLOSED, loss, ())
    assert [] == loss.entries


@pytest.mark.parametrize(
    "members",
    [
        {"additionalProperties": True},
        {"required": []},
        {"required": [["a"]]},
        {"properties": []},
        {"oneOf": []},
        {"anyOf": []},
        {"properties": {"a": {"type": "array", "items": {"not": {}}}}},
        {"properties": {"a": {"type": ["object", "null"]}}},
        {"$defs": {"a": {"properties": {}}}},
        {"type": "string"},
    ],
)
def test_what_openai_does_not_enforce(members: dict[str, Any]) -> None:
    """Keywords that it refuses, open objects, parameters that may be left out, at the root and inside."""
    assert not can_be_enforced(CLOSED | members)


def test_limits_go_into_the_description() -> None:
    """Objects are closed, alternatives stay alternatives; what is not enforced is reported where it stood."""
    schema = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2, "description": "A name."},
            "kind": {"oneOf": [{"type": "integer", "maximum": 9}, {"type": "object"}]},
        },
    }
    loss = Loss()

    made = enforced(schema, loss, ())

    assert "A name.\n\n{minLength: 2}" == made["properties"]["name"]["description"]
    assert [{"type": "integer", "description": "{maximum: 9}"}, {"type": "object", "additionalProperties": False}] == (
        made["properties"]["kind"]["anyOf"]
    )
    assert "minLength" in schema["properties"]["name"]
    assert {
        "/properties/name/minLength",
        "/properties/name/description",
        "/properties/kind/oneOf/0/maximum",
        "/properties/kind/oneOf/0/description",
    } == {entry["path"] for entry in loss.entries if entry["severity"] == "weakened"}


def test_an_equal_rewriting_is_not_weaker() -> None:
    """oneOf as anyOf."""
    loss = Loss()

    made = enforced({"oneOf": [{"type": "string"}, {"type": "null"}]}, loss, ())

    assert {"anyOf": [{"type": "string"}, {"type": "null"}]} == made
    assert ["representation"] == [entry["severity"] for entry in loss.entries]


def test_endless_nesting_ends() -> None:
    """A schema of any depth is judged or cut off, without an error."""
    schema: dict[str, Any] = {}
    inner = schema
    for _ in range(5_000):
        inner["items"] = inner = {}

    assert not can_be_enforced({**CLOSED, "properties": {"a": schema}})
    enforced(schema, Loss(), ())
