"""What the front pages show is what happens: their Python runs, their commands run, and what is printed is what they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", "python/README.md", "examples/from-an-sdk.md")
# these need what a test has not: make's own environment, a network, an installation, a server that stays, an agent
OTHERS = (
    "make ",
    "pip ",
    "python3 conformance/runner",
    "interlingua serve",
    ".venv/bin/python examples/session.py",
    "interlingua launch",
    "interlingua bulk",
    "interlingua sessions",
    "curl ",
    "source ",
)

# a page shows a value by naming it, goes on with a name for something else, and imports where a name is first used
SHOWN = ("reportUnusedExpression=false", "reportRedeclaration=false")


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """The commands of all pages, each with what is printed below it."""
    found: list[tuple[str, str]] = []
    for page in PAGES:
        for block in blocks(page, "console"):
            for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                line, _, shown = command.partition("\n")
                if not line.startswith(OTHERS):
                    found.append((line.partition("  #")[0].strip(), shown.strip("\n")))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom, as one program, in a folder of its own; sessions ask the recorded answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTERLINGUA_MODEL", "replay:claude-sonnet-4-6")
    program = blocks(page, "python")
    assert program
    exec(compile("\n".join(program), page, "exec"), {})
    assert (tmp_path / "chats.db").exists() == ("sqlite:///chats.db" in "".join(program))


def test_the_python_of_the_pages_has_types(tmp_path: Path) -> None:
    """A strict type checker accepts each page as one program."""
    for page in PAGES:
        program = "\n".join(blocks(page, "python"))
        (tmp_path / f"{page.replace('/', '_')}.py").write_text(f"# pyright: strict, {', '.join(SHOWN)}\n{program}")
    checker = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(tmp_path)]
    done = subprocess.run(checker, capture_output=True, timeout=120, check=False, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("line", "shown"), commands())
def test_a_command_of_a_page_does_what_is_shown(line: str, shown: str) -> None:
    """In the folder of the repository; what stands below a command is what it prints."""
    shell = f"set -euo pipefail; interlingua() {{ '{sys.executable}' -m interlingua \"$@\"; }}\n"
    shell += re.sub(r"(?:\.venv/bin/)?interlingua(?= )", "interlingua", line)
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.returncode == 0, done.stderr.decode()
    printed = done.stderr.decode() if "--loss" in line else done.stdout.decode()
    if shown:
        assert [one.rstrip() for one in printed.splitlines() if one.strip()] == [
            one.rstrip() for one in shown.splitlines() if one.strip()
        ]


def test_there_are_commands() -> None:
    """Else the test above would hold of nothing."""
    assert len(commands()) >= 5
    assert any(shown for _, shown in commands())
