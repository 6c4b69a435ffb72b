"""
Builds and proves the clients of those languages whose toolchain is here, and says which it left out: `make clients`.

    python clients/run.py [--suite | --no-suite] [LANGUAGE …]

For each language: its build, its tests against servers that are started here, its tour, which must print
`clients/tour.txt`, and the conformance suite led through its types. At last the cross test: what each language writes,
each other reads. What a step printed is in .cache/clients/.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import crosstest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CACHE = ROOT / ".cache" / "clients"
QUIET = {"GRPC_VERBOSITY": "NONE"}
"""What gRPC's own library in a server says of clients that go away."""

SCHEMA = ROOT / "spec" / "schema" / "interlingua.schema.json"
TOKEN = "a token of the tests"
COVERED = ("adapter:", "gateway", "cost")
"""The profiles that go through a client's types whole: none of their checks may be left out."""

Command = list[str]


@dataclass(frozen=True)
class Language:
    """How a client is built and run. `tools` are looked for, `plug` is followed by an address and the schema's path."""

    name: str
    tools: tuple[str, ...]
    build: list[Command]
    test: Command
    tour: Command
    plug: Command
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", HERE / self.name)


JAVA = ["java", "-cp", ":".join(f"{HERE}/java/target/{part}" for part in ("classes", "test-classes", "lib/*"))]

LANGUAGES = [
    Language(
        name="go",
        tools=("go",),
        build=[["go", "vet", "./..."], ["go", "build", "-o", f"{CACHE}/bin/", "./internal/plug", "./examples/tour"]],
        test=["go", "test", "-count=1", "./..."],
        tour=[f"{CACHE}/bin/tour"],
        plug=[f"{CACHE}/bin/plug"],
    ),
    Language(
        name="typescript",
        tools=("node", "npm"),
        build=[["npm", "ci", "--silent"], ["npm", "run", "--silent", "build"]],
        test=["npm", "test", "--silent"],
        tour=["node", "dist/examples/tour.js"],
        plug=["node", f"{HERE}/typescript/dist/plug/main.js"],
    ),
    Language(
        name="rust",
        tools=("cargo",),
        build=[["cargo", "build", "--locked", "--quiet", "--all-targets"]],
        test=["cargo", "test", "--locked", "--quiet"],
        tour=["target/debug/examples/tour"],
        plug=[f"{HERE}/rust/target/debug/plug", f"{CACHE}/proto.binpb"],
    ),
    Language(
        name="java",
        tools=("java", "mvn"),
        build=[["mvn", "--batch-mode", "--quiet", "-DskipTests", "test-compile"]],
        test=["mvn", "--batch-mode", "--quiet", "surefire:test"],
        tour=[*JAVA, "interlingua.examples.Tour"],
        plug=[*JAVA, "interlingua.plug.Plug"],
    ),
]


class StepFailed(Exception):
    """A step of a language ended badly; what it printed is shown."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("--suite", action=argparse.BooleanOptionalAction, default=True, help="run the suite too")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="only these")
    options = parser.parse_args(arguments)
    if unknown := set(options.languages) - {language.name for language in LANGUAGES}:
        parser.error(f"no client is called {', '.join(sorted(unknown))}")
    wanted = [language for language in LANGUAGES if not options.languages or language.name in options.languages]
    here = [language for language in wanted if _is_here(language)]
    CACHE.mkdir(parents=True, exist_ok=True)
    buf = Path(sys.executable).with_name("buf")
    subprocess.run([buf, "build", "--exclude-source-info", "-o", CACHE / "proto.binpb"], cwd=ROOT, check=True)
    began = time.monotonic()
    failed: list[str] = []
    with _settings() as settings:
        # two at a time: a suite, its server and a plug together keep little more than one processor busy
        with ThreadPoolExecutor(2) as pool:
            for result in pool.map(lambda language: _prove(language, settings, suite=options.suite), here):
                failed += result
        sound = [language for language in here if language.name not in failed]
        failed += _cross(sound)
    print(
        f"{len(here)} clients in {time.monotonic() - began:.0f} s"
        + (f"; FAILED: {', '.join(failed)}" if failed else "")
    )
    return 1 if failed else 0


# ---------------------------------------------------------------------------------------------------- toolchains


def _is_here(language: Language) -> bool:
    """Whether the toolchain is installed, and new enough. Says why not."""
    demanded = tomllib.loads((HERE / "versions.toml").read_text("utf-8"))[language.name]["toolchain"]
    for tool in language.tools:
        if shutil.which(tool) is None:
            print(f"{language.name:11} skipped: {tool} is not installed")
            return False
        if tool in demanded and _numbers(_version(tool)) < _numbers(demanded[tool]):
            print(f"{language.name:11} skipped: {tool} is {_version(tool)}, and {demanded[tool]} is needed")
            return False
    return True


def _version(tool: str) -> str:
    said = subprocess.run(
        [tool, "version" if tool == "go" else "--version"], capture_output=True, text=True, check=False
    )
    found = re.search(r"\d+(\.\d+)+", said.stdout)
    return found[0] if found else "0"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


# ---------------------------------------------------------------------------------------------------- steps


def _prove(language: Language, settings: dict[str, str], *, suite: bool) -> list[str]:
    failed = _attempt(language, _build_and_test, settings)
    return failed or (_attempt(language, _suite, settings) if suite else [])


def _attempt(language: Language, step: object, settings: dict[str, str]) -> list[str]:
    """The name of the language, when the step failed."""
    try:
        print(f"{language.name:11} {step(language, settings)}", flush=True)  # type: ignore[operator]
    except StepFailed as problem:
        print(f"{language.name:11} FAILED: {problem}", flush=True)
        return [language.name]
    return []


def _build_and_test(language: Language, settings: dict[str, str]) -> str:
    took: list[str] = []
    for name, commands in (("build", language.build), ("tests", [language.test])):
        began = time.monotonic()
        for command in commands:
            _run(language, name, command, settings)
        took.append(f"{name} {time.monotonic() - began:.1f} s")
    without_token = {name: value for name, value in settings.items() if name != "INTERLINGUA_TOKEN"}
    said = _run(language, "tour", [*language.tour, settings["INTERLINGUA_SERVER"]], without_token)
    if said != (HERE / "tour.txt").read_text("utf-8"):
        raise StepFailed(f"the tour does not print clients/tour.txt, but\n{said}")
    return " · ".join([*took, "tour as in tour.txt"])


def _suite(language: Language, _: dict[str, str]) -> str:
    report = CACHE / f"{language.name}.jsonl"
    began = time.monotonic()
    with _serving() as address:
        plug = [*language.plug, address, str(SCHEMA)]
        command = [sys.executable, "conformance/runner", "run", "--quiet", "--report", str(report), "--", *plug]
        _run(language, "suite", command, {}, folder=ROOT)
    checks = [json.loads(line) for line in report.read_text("utf-8").splitlines()[1:-1]]
    left_out = [c["id"] for c in checks if c["outcome"] == "unsupported" and c["profiles"][0].startswith(COVERED)]
    if left_out:
        raise StepFailed(f"{len(left_out)} checks were left out, {left_out[0]} among them")
    passed = sum(check["outcome"] == "pass" and check["level"] == "must" for check in checks)
    return f"suite: {passed} must-checks passed through its types in {time.monotonic() - began:.0f} s"


def _cross(languages: list[Language]) -> list[str]:
    began = time.monotonic()
    with _serving() as address, ExitStack() as stack:
        plugs = {
            language.name: stack.enter_context(crosstest.plug([*language.plug, address, str(SCHEMA)]))
            for language in languages
        }
        counted, wrong = crosstest.run(plugs)
    for line in wrong[:10]:
        print(f"cross test  {line}")
    if not wrong:
        print(
            f"cross test  {counted} values, written and read by {', '.join(['python', *plugs])}: all equal, "
            f"in {time.monotonic() - began:.0f} s"
        )
    return ["cross test"] if wrong else []


def _run(language: Language, step: str, command: Command, settings: dict[str, str], folder: Path | None = None) -> str:
    """What a command printed on standard output."""
    done = subprocess.run(
        command, cwd=folder or language.folder, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    log = CACHE / f"{language.name}-{step}.log"
    log.write_text(done.stdout + done.stderr, "utf-8")
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise StepFailed(f"{' '.join(command)} ended with {done.returncode}; see {log.relative_to(ROOT)}\n{last}")
    return done.stdout


# ---------------------------------------------------------------------------------------------------- servers


@contextmanager
def _settings() -> Generator[dict[str, str]]:
    """Where the tests of a client find the servers, which run as long as the block."""
    with TemporaryDirectory() as folder, _serving() as address, _guarded(folder) as guarded:
        yield {
            "INTERLINGUA_SERVER": address,
            "INTERLINGUA_GUARDED": guarded,
            "INTERLINGUA_GUARDED_FILES": folder,
            "INTERLINGUA_TOKEN": TOKEN,
        }


@contextmanager
def _serving() -> Generator[str]:
    """The address of a server that replays."""
    options = ["--port", "0", "--no-http", "--replay", "--pace", "0", "--log-level", "error", "--json"]
    server = subprocess.Popen(
        [sys.executable, "-m", "interlingua", "serve", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | QUIET,
    )
    try:
        ready = json.loads(server.stdout.readline() if server.stdout else "")
        yield f"{ready['host']}:{ready['port']}"
    finally:
        server.terminate()
        server.wait(15)


@contextmanager
def _guarded(folder: str) -> Generator[str]:
    """The address of a server with TLS and a token."""
    server = subprocess.Popen(
        [sys.executable, HERE / "guarded.py", folder, TOKEN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | QUIET,
    )
    try:
        yield f"localhost:{int(server.stdout.readline() if server.stdout else '')}"
    finally:
        if server.stdin is not None:
            server.stdin.close()
        server.wait(15)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
