"""
Installs the official SDKs of other languages with the drivers over them, each into folders that git ignores:
`make sdk-drivers`. A language whose tools or packages cannot be had is left out, and the output says so.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from oracles.gateway.driven import BUILT, DRIVERS, JAVA, LANGUAGES

Command = list[str]

FETCH: dict[str, Command] = {
    "javascript": ["npm", "ci", "--silent", "--no-audit", "--no-fund"],
    "go": ["go", "list", "-deps", "."],
    "java": [
        "mvn", "--batch-mode", "--quiet", "dependency:copy-dependencies", "-DincludeScope=runtime",
        f"-DoutputDirectory={JAVA / 'lib'}",
    ],
}  # fmt: skip
BUILD: dict[str, Command] = {
    "go": ["go", "build", "-o", str(BUILT / "go"), "."],
    "java": ["javac", "-Xlint:-options", "-proc:none", "-cp", f"{JAVA}/lib/*", "-d", str(JAVA / "classes")],
}


def main() -> int:
    """Installs each language; 1 when a driver does not build."""
    BUILT.mkdir(parents=True, exist_ok=True)
    return max([_install(language) for language in LANGUAGES])


def _install(language: str) -> int:
    fetch, build = FETCH[language], BUILD.get(language)
    missing = [tool for tool in (fetch[0], *(build or ())[:1]) if shutil.which(tool) is None]
    if missing:
        print(f"{language:11} left out: {missing[0]} is not installed")
        return 0
    if problem := _run(fetch, DRIVERS / language):
        print(f"{language:11} left out: its packages cannot be had\n{problem}")
        return 0
    if build:
        sources = [path.name for path in (DRIVERS / language).glob("*.java")]
        if problem := _run([*build, *sources], DRIVERS / language):
            print(f"{language:11} FAILED\n{problem}")
            return 1
    LANGUAGES[language].installed.touch()
    print(f"{language:11} installed: {', '.join(LANGUAGES[language].sdks)}")
    return 0


def _run(command: Command, folder: Path) -> str:
    """The last lines of what a command said, when it failed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    return "\n".join((done.stdout + done.stderr).splitlines()[-10:]) if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
