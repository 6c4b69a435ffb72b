"""Prints the modules that a released wheel holds compiled, as `python/pyproject.toml` lists them: `make check` types them as mypyc will."""

import tomllib
from pathlib import Path

PYTHON = Path(__file__).resolve().parents[1] / "python"


def modules() -> list[str]:
    """The files, relative to `python/`."""
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text(encoding="utf-8"))
    hook = project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    found = {path.relative_to(PYTHON).as_posix() for pattern in hook["include"] for path in PYTHON.glob(pattern)}
    return sorted(found)


if __name__ == "__main__":
    print("\n".join(modules()))
