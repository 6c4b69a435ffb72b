"""
Prints the modules that are compiled in a released wheel, as `python/pyproject.toml` lists them. `--check` checks their
types as mypyc does, and lets mypyc write their C without compiling it: mypyc refuses some code that is well typed.
"""

import contextlib
import io
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

PYTHON = Path(__file__).resolve().parents[1] / "python"


def hook() -> dict[str, Any]:
    """Return the settings of the compiled wheel."""
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text(encoding="utf-8"))
    settings: dict[str, Any] = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    return settings


def modules() -> list[str]:
    """Return the files, relative to `python/`."""
    patterns = hook()["include"]
    paths = {path.relative_to(PYTHON).as_posix() for pattern in patterns for path in PYTHON.glob(pattern)}
    return sorted(paths)


def check() -> int:
    """Check the modules, and print errors to standard output. Returns the exit status."""
    from mypyc.build import mypycify

    output = io.StringIO()
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        shutil.copytree(PYTHON / "interlingua", "interlingua")
        try:
            mypycify([*hook()["mypy-args"], *modules()], multi_file=True)
        except SystemExit as ended:
            if not ended.code:
                return 0
        else:
            return 0
    print(*(line for line in output.getvalue().splitlines() if ": warning: " not in line), sep="\n")
    return 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        sys.exit(check())
    print("\n".join(modules()))
