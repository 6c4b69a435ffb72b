"""How a wheel is built, as far as that can be seen without building one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parent.parent / "python"

# hatchling is there while a wheel is built; here its one base class is enough
SCRIPT = """
import sys, types
names = "hatchling.builders.hooks.plugin.interface".split(".")
for end in range(1, len(names) + 1):
    sys.modules[".".join(names[:end])] = types.ModuleType("stub")
sys.modules["hatchling.builders.hooks.plugin.interface"].BuildHookInterface = object
import hatch_build
hook = hatch_build.Compile()
hook.initialize(sys.argv[1], {})
"""


@pytest.mark.skipif(os.name == "nt", reason="setuptools finds the compiler by itself")
def test_a_build_without_a_compiler_says_so_in_one_line() -> None:
    environment = {**os.environ, "CC": "no-such-compiler -O2", "PYTHONPATH": str(BUILD)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, "standard"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("interlingua: a compiled build needs a C compiler, and there is no no-such-compiler")
    assert done.stdout == ""


def test_an_editable_install_needs_none() -> None:
    environment = {**os.environ, "CC": "no-such-compiler", "PYTHONPATH": str(BUILD)}
    subprocess.run([sys.executable, "-c", SCRIPT, "editable"], check=True, timeout=60, env=environment)
