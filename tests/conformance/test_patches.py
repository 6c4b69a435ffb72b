"""Edits of the cases: JSON Patch (RFC 6902), and what `lint` asks of a case that has one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from runner.lint import lint
from runner.patches import PatchError, patched

TOY = Path(__file__).resolve().parent / "cases" / "toy"
VALUE: dict[str, Any] = {"a": {"b/c": 1}, "list": [1, 2, 3]}


@pytest.mark.parametrize(
    ("operation", "after"),
    [
        ({"op": "add", "path": "/a/d", "value": None}, {"a": {"b/c": 1, "d": None}, "list": [1, 2, 3]}),
        ({"op": "add", "path": "/a", "value": 0}, {"a": 0, "list": [1, 2, 3]}),
        ({"op": "add", "path": "/list/1", "value": 9}, {"a": {"b/c": 1}, "list": [1, 9, 2, 3]}),
        ({"op": "add", "path": "/list/-", "value": 9}, {"a": {"b/c": 1}, "list": [1, 2, 3, 9]}),
        ({"op": "remove", "path": "/a/b~1c"}, {"a": {}, "list": [1, 2, 3]}),
        ({"op": "remove", "path": "/list/0"}, {"a": {"b/c": 1}, "list": [2, 3]}),
        ({"op": "replace", "path": "/list/0", "value": 9}, {"a": {"b/c": 1}, "list": [9, 2, 3]}),
        ({"op": "replace", "path": "", "value": 9}, 9),
        ({"op": "move", "from": "/list/2", "path": "/list/0"}, {"a": {"b/c": 1}, "list": [3, 1, 2]}),
        ({"op": "copy", "from": "/a", "path": "/list/-"}, {"a": {"b/c": 1}, "list": [1, 2, 3, {"b/c": 1}]}),
        ({"op": "test", "path": "/list", "value": [1, 2, 3]}, VALUE),
    ],
)
def test_an_operation(operation: dict[str, Any], after: Any) -> None:
    before = json.dumps(VALUE)
    assert patched(VALUE, [operation]) == after
    assert json.dumps(VALUE) == before, "the value itself stays as it is"


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nothing"},
        {"op": "replace", "path": "/nothing", "value": 1},
        {"op": "replace", "path": "/list/3", "value": 1},
        {"op": "remove", "path": "/list/-1"},
        {"op": "remove", "path": "/list/01"},
        {"op": "add", "path": "/list/4", "value": 1},
        {"op": "add", "path": "/a/b~1c/d", "value": 1},
        {"op": "add", "path": "/list/first", "value": 1},
        {"op": "move", "from": "/a", "path": "/a/b"},
        {"op": "copy", "from": "/nothing", "path": "/a"},
        {"op": "copy", "from": "/list/-1", "path": "/a"},
        {"op": "test", "path": "/list", "value": [1]},
        {"op": "test", "path": "/list"},
        {"op": "swap", "path": "/a"},
        {"path": "/a"},
        {"op": "add", "path": "a", "value": 1},
    ],
)
def test_an_operation_that_does_not_fit(operation: dict[str, Any]) -> None:
    with pytest.raises(PatchError, match="operation 0"):
        patched(VALUE, [operation])


def problems(tmp_path: Path, **files: Any) -> list[str]:
    """What lint says of the toy's case with an edit, with other files; None takes a file away."""
    shutil.copytree(TOY, tmp_path / "toy")
    for name, value in files.items():
        path = tmp_path / "toy" / "picture-added" / (name.replace("_", ".") + ".json")
        if value is None:
            path.unlink()
        else:
            path.write_text(json.dumps(value), "utf-8")
    return lint([tmp_path])[0]


def test_the_case_is_in_order(tmp_path: Path) -> None:
    assert problems(tmp_path) == []


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"request_edit": [{"op": "remove", "path": "/temperature"}]}, "operation 0"),
        ({"request_edit": [{"op": "remove", "path": "/messages"}]}, "request.edit.json: then"),
        ({"request_edit": [{"op": "add", "path": "/provider_state/form", "value": {}}]}, "inside of a provider_state"),
        ({"request_edit": None}, "an edit, and"),
        ({"request_read": None}, "request.read.json is missing"),
        ({"request_edited_wire": None}, "an edit, and"),
        ({"request_edited_error": {"category": "invalid_request", "message": "no"}}, "an edit, and"),
        ({"request_edited_loss": []}, "an empty report"),
        ({"request_canonical": {"messages": []}}, "in the place of request.canonical.json"),
    ],
)
def test_an_edit_that_is_not_in_order(tmp_path: Path, files: dict[str, Any], words: str) -> None:
    assert any(words in problem for problem in problems(tmp_path, **files))


def test_what_is_private_to_an_implementation_is_in_no_golden_value(tmp_path: Path) -> None:
    state = {"adapter": "toy", "encoding": {"odd": True}}
    read = {"model": "toy:small", "messages": [{"role": "user", "content": [{"type": "text", "text": "Look"}]}]}
    message = read["messages"][0] | {"provider_state": state}  # type: ignore[operator]
    found = problems(tmp_path, request_read={**read, "messages": [message]})
    assert any("/messages/0/provider_state/form is private" in problem for problem in found)
