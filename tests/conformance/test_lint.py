"""What `lint` asks of the files of a wire."""

import json
import shutil
from pathlib import Path

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
