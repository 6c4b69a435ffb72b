"""
How a wheel is compiled when it is released: mypyc, and GCC with a profile (spec/decisions/0011).

The build is not compiled unless HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 asks for it. INTERLINGUA_TRAINING may hold a command
of the shell that uses the package as its users do, as `make compiled` gives it; it then runs on an instrumented build
first, and the compiler (GCC) lays out the code by what it saw.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = "interlingua"
INSTRUMENTED = ("-fprofile-generate", "-fvisibility=hidden")
# what the training never reached is code as any other, not code to be made small
PROFILED = ("-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile", "-fvisibility=hidden", "-flto=auto")


class Compile(BuildHookInterface):  # pyright: ignore[reportMissingTypeArgument]
    """Adds the compiled modules to a wheel; the sources stay in it beside them."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """
        Compile the modules that the option `include` names into a folder of their own: nothing compiled lands beside
        the sources.
        """
        if version == "editable":
            return
        demand_compiler()
        self.folder = tempfile.TemporaryDirectory(prefix="interlingua-build-")
        shutil.copytree(Path(self.root, PACKAGE), Path(self.folder.name, PACKAGE))
        with contextlib.chdir(self.folder.name):
            compiled = compile_package(
                self.config["include"], self.config["mypy-args"], os.environ.get("INTERLINGUA_TRAINING") or None
            )
        build_data["infer_tag"] = True
        build_data["pure_python"] = False
        build_data["force_include"].update({os.path.join(self.folder.name, path): path for path in compiled})

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the folder, once the wheel is written."""
        if version != "editable":
            self.folder.cleanup()


def demand_compiler() -> None:
    """End the build with one line when there is nothing to compile with."""
    if os.name == "nt":
        return  # setuptools looks for it where the registry says
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    lacks = ""
    if shutil.which(shlex.split(command)[0]) is None:
        lacks = f"a C compiler, and there is no {shlex.split(command)[0]}: install one (Debian: gcc), or name it in CC"
    elif not Path(sysconfig.get_path("include"), "Python.h").exists():
        lacks = "the headers of Python: install them (Debian: python3-dev)"
    if lacks:
        sys.exit(
            f"interlingua: a compiled build needs {lacks}. "
            "Without HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 the plain source is built, which needs no compiler and is slower."
        )


def compile_package(patterns: Sequence[str], mypy_args: Sequence[str], training: str | None) -> list[str]:
    """Compile the package that stands in the working directory; give the paths of what was built."""
    from mypyc.build import mypycify

    sources = sorted({path for pattern in patterns for path in glob(pattern, recursive=True)})
    extensions = mypycify([*mypy_args, *sources], opt_level="2", debug_level="0", multi_file=True)
    if training is None:
        return build(extensions, ())
    build(extensions, INSTRUMENTED)
    python_path = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))
    # a command of whoever builds, as a Makefile's is
    subprocess.run(training, shell=True, check=True, env={**os.environ, "PYTHONPATH": python_path})  # noqa: S602
    return build(extensions, PROFILED)


def build(extensions: Sequence[Any], flags: Sequence[str]) -> list[str]:
    """
    Compile the C that mypyc wrote, the shared part's many files at the same time, into the package in the working
    directory. The objects keep their paths from one build to the next: there the compiler finds the profile.
    """
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    class BuildExtensions(build_ext):
        def build_extension(self, ext: Any) -> None:
            def compiled(source: str) -> list[str]:
                return self.compiler.compile(
                    [source],
                    output_dir=self.build_temp,
                    include_dirs=ext.include_dirs,
                    depends=ext.depends,
                    extra_postargs=[*ext.extra_compile_args, *flags],
                )

            with ThreadPoolExecutor(os.cpu_count()) as pool:
                objects = [path for paths in pool.map(compiled, ext.sources) for path in paths]
            self.compiler.link_shared_object(
                objects, self.get_ext_fullpath(ext.name), extra_postargs=flags, build_temp=self.build_temp
            )

    command = BuildExtensions(Distribution({"name": PACKAGE, "packages": [], "ext_modules": list(extensions)}))
    command.inplace = True
    command.force = True
    command.build_temp = "objects"
    command.ensure_finalized()
    command.run()
    return [os.path.relpath(command.get_ext_fullpath(extension.name)) for extension in extensions]
