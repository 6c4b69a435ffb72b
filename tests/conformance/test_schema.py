"""The runner's validator: the same verdicts as a complete one, on the schemas that it reads."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from runner import schema
from runner.compare import loads

ROOT = Path(__file__).resolve().parents[2]
ROWS = [
    pytest.param(row.get("type") or document["type"], row, id=f"{path.stem}-{row['id']}")
    for path in sorted((ROOT / "conformance/cases/schema").glob("*.json"))
    for document in [loads(path.read_bytes())]
    for row in document["rows"]
]


def fits(row: dict[str, Any]) -> bool:
    """Whether the schema takes it; the chapters may still say what is wrong with it."""
    return row["valid"] or "beyond_schema" in row


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_rows(name: str, row: dict[str, Any]) -> None:
    invalid = schema.canonical().validate(row["instance"], name)

    assert (invalid is None) is fits(row)
    if invalid is not None and "pointer" in row:
        assert invalid.pointer == row["pointer"]


@pytest.mark.parametrize(("name", "row"), ROWS)
def test_a_complete_validator_says_the_same(name: str, row: dict[str, Any]) -> None:
    document = schema.canonical().document
    complete = jsonschema.Draft202012Validator({**document, "$ref": f"#/$defs/{name}"})

    assert complete.is_valid(row["instance"]) is fits(row)


def test_an_unknown_keyword_is_refused() -> None:
    with pytest.raises(ValueError, match="maxLength"):
        schema.Schema({"type": "object", "properties": {"a": {"maxLength": 3}}})


@pytest.mark.parametrize("path", sorted((ROOT / "conformance/schema").glob("*.json")), ids=lambda path: path.name)
def test_the_suites_own_schemas_are_schemas(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))
    schema.load(path)
