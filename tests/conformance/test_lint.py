"""What `lint` asks of the files of a wire."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from runner.held import held_by_request, held_by_response
from runner.lint import lint

TOY = Path(__file__).resolve().parent / "cases" / "toy"


def test_a_capability_is_a_word_of_the_protocol(tmp_path: Path) -> None:
    """In `adapter.json` as in the `needs` of a case."""
    shutil.copytree(TOY, tmp_path / "toy")
    about = tmp_path / "toy" / "adapter.json"
    members = json.loads(about.read_bytes())
    about.write_text(json.dumps({**members, "capabilities": ["citations"]}))
    assert lint([tmp_path])[0] == []
    about.write_text(json.dumps({**members, "capabilities": ["citations", "smell"]}))
    assert lint([tmp_path])[0] == ["toy/adapter.json: the capability 'smell' is not one of protocol.md"]


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("request.canonical.json", {"tools": [{"name": "a"}]}, "its request takes the capability tools"),
        ("request.canonical.json", {"response_format": {"type": "json_object"}}, "the capability structured_output"),
        ("request.canonical.json", {"cache": {"type": "ephemeral"}}, "the capability caching"),
        ("request.canonical.json", {"n": 2}, "the capability choices"),
        ("request.canonical.json", {"reasoning": {"effort": "low"}}, "the capability reasoning"),
        ("response.canonical.json", {"alternatives": [{}]}, "its response takes the capability choices"),
    ],
)
def test_a_case_names_what_its_values_take(file: str, change: dict[str, Any], told: str, tmp_path: Path) -> None:
    shutil.copytree(TOY, tmp_path / "toy")
    path = tmp_path / "toy" / "hello" / file
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **change}))

    assert any(told in line and "toy/hello" in line for line in lint([tmp_path])[0])


def test_what_an_edit_adds_is_named_too(tmp_path: Path) -> None:
    shutil.copytree(TOY, tmp_path / "toy")
    about = tmp_path / "toy" / "picture-added" / "case.json"
    about.write_text(json.dumps({**json.loads(about.read_bytes()), "needs": []}))

    told = "toy/picture-added: its request takes the capability images, which `needs` does not name"
    assert lint([tmp_path])[0] == [told]


def test_blocks_in_results_and_marks_are_seen() -> None:
    inner = {"type": "tool_result", "content": [{"type": "image"}, {"type": "text", "text": "", "cache": {}}]}
    own = {"type": "opaque", "value": {"type": "image", "cache": {}}}
    request = {"messages": [{"role": "tool", "content": [inner, own]}], "system": [{"type": "text", "citations": []}]}

    assert held_by_request(request) == {"tools", "images", "caching", "citations"}
    assert held_by_request({"messages": [{"role": "user", "content": [own]}]}) == set()
    assert held_by_response({"message": {"content": [{"type": "thinking"}]}}) == {"reasoning"}
