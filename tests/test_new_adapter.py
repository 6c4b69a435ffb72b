"""A new wire is laid out whole, and nobody has to guess what is still to be filled in."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from interlingua import adapters

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "tools" / "new_adapter.py"
SHARED = (
    "python/interlingua",
    "spec/adapters",
    "spec/registry",
    "conformance/cases",
    "tests/typing",
    "conformance/runner",
    "oracles/judges",
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of what wires touch."""
    for folder in SHARED:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    return tmp_path


def run(*arguments: str, root: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *arguments, "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_wire_is_filled_in() -> None:
    """Nothing is left to do for the wires that are here."""
    done = run("--check", root=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_new_wire_is_laid_out_and_told_of_every_place(repository: Path) -> None:
    """What is made parses and has the public names of all wires; the check lists each place until it is filled in."""
    done = run("acme_chat", root=repository)
    assert done.returncode == 0, done.stderr
    package = repository / "python" / "interlingua" / "adapters" / "acme_chat"
    for path in package.glob("*.py"):
        compile(path.read_text("utf-8"), str(path), "exec")
    offered = [name for name in adapters.get("cohere_chat").__all__ if name != "READ_BACK"]
    assert public_names(package / "__init__.py") == [name for name in offered if name != "stream_loss"]

    listed = run("--check", root=repository)
    assert listed.returncode == 1
    lines = listed.stderr.splitlines()
    assert all(line.startswith("acme_chat: ") for line in lines)
    for place in (
        "playing.py",
        "faces/__init__.py",
        "dom.js",
        "tests/typing/adapters.py",
        "providers.json",
        "clients.py",
        "no case yet",
        "blocks.py",
    ):
        assert any(place in line for line in lines), place

    playing = repository / "python" / "interlingua" / "client" / "playing.py"
    playing.write_text(playing.read_text("utf-8") + "\n# acme_chat\n", "utf-8")
    assert len(run("--check", root=repository).stderr.splitlines()) == len(lines) - 1


@pytest.mark.parametrize("name", ["ollama_chat", "Acme-Chat", "../acme"])
def test_a_wire_that_is_there_or_has_no_name_is_refused(name: str, repository: Path) -> None:
    """Nothing that exists is written over."""
    assert run(name, root=repository).returncode == 2
    assert run("--check", root=repository).returncode == 0


def public_names(path: Path) -> list[str]:
    """The words of `__all__`."""
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return ast.literal_eval(node.value)
    return []
