"""
Generates the messages of the clients from proto/, with buf and the template of each client (`clients/*/buf.gen.yaml`).
`--check` only compares.

A language whose toolchain is not installed is skipped, and the output states this. The plugins come from the registry
of their language, at the versions of `clients/versions.toml`.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import google.rpc
from _schema import ROOT, settle

CLIENTS = ROOT / "clients"

TEMPLATES = {
    # language: its tool, the command that installs its plugins, the folder of the generated files
    "go": ("go", [], "interlinguav1"),
    "rust": ("cargo", [], "src/generated"),
    "typescript": ("npm", ["npm", "--prefix", "clients/typescript", "ci", "--silent"], "src/generated"),
}
ERRORS = "google/rpc/error_details.proto"
"""The file with the messages of error details. The libraries of the other languages include it."""


def main(arguments: list[str]) -> int:
    return max([_language(name, arguments) for name in TEMPLATES])


def _language(name: str, arguments: list[str]) -> int:
    tool, install, folder = TEMPLATES[name]
    if shutil.which(tool) is None:
        print(f"clients/{name} is skipped: {tool} is not installed")
        return 0
    if install and not (CLIENTS / name / "node_modules").is_dir():
        subprocess.run(install, cwd=ROOT, check=True)
    with TemporaryDirectory() as out:
        template = ["--template", f"clients/{name}/buf.gen.yaml", "--output", out]
        inputs = [[], [str(_google(Path(out)))]] if name == "typescript" else [[]]
        for source in inputs:
            if (status := _buf(["generate", *source, *template])) != 0:
                return status
        generated = Path(out, "clients", name, folder)
        files: dict[Path, str | bytes] = {
            CLIENTS / name / folder / path.relative_to(generated): path.read_bytes()
            for path in sorted(generated.rglob("*"))
            if path.is_file()
        }
    return settle(files, arguments)


def _buf(arguments: list[str]) -> int:
    # the virtual environment has buf
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["buf", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return done.returncode


def _google(folder: Path) -> Path:
    """Make a folder with only Google's file of error details, from googleapis-common-protos."""
    source = Path(next(iter(google.rpc.__path__)), Path(ERRORS).name)
    target = folder / "google-apis"
    (target / ERRORS).parent.mkdir(parents=True)
    shutil.copyfile(source, target / ERRORS)
    return target


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
