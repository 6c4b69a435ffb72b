"""What must be true of the clients in other languages, and can be seen without their toolchains."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / "clients"
DRIVERS = ROOT / "oracles" / "gateway" / "drivers"
VERSIONS: dict[str, Any] = tomllib.loads((CLIENTS / "versions.toml").read_text("utf-8"))
PINNED = [
    pytest.param(folder, about, id=f"{folder.name} {language}")
    for folder in (CLIENTS, DRIVERS)
    for language, about in tomllib.loads((folder / "versions.toml").read_text("utf-8")).items()
]


@pytest.mark.parametrize(("folder", "about"), PINNED)
def test_the_manifest_names_the_versions(folder: Path, about: dict[str, Any]) -> None:
    """versions.toml is the one place: each manifest has the same versions."""
    manifest = (folder / about["manifest"]).read_text("utf-8")
    for name, version in about["packages"].items():
        # whatever the manifest's form: the name, and then, before another name, the version
        found = re.search(
            rf"{re.escape(name)}\W[^a-zA-Z0-9]*(?:version\W+|version>)?{re.escape(version)}(?![\w.])", manifest
        )
        assert found, f"{about['manifest']} does not name {name} {version}"


@pytest.mark.parametrize("language", VERSIONS)
def test_a_client_is_whole(language: str) -> None:
    folder = CLIENTS / language
    assert (folder / "README.md").is_file()
    assert (folder / "buf.gen.yaml").is_file()
    assert len((folder / "README.md").read_text("utf-8").splitlines()) <= 80


LAYERS = {
    # language: where its layer stands, what in it is not the layer, and what an import looks like
    "go": ("*.go", "_test.go", r'import \((?s:.*?)^\)$|import ".*"$'),
    "typescript": ("src/*.ts", ".d.ts", r"import (?s:.*?);$"),
    "rust": ("src/*.rs", "_test.rs", r"(?:pub )?use (?s:.*?);$"),
    "java": ("src/main/java/interlingua/*.java", "Test.java", r"import .*;$"),
}


@pytest.mark.parametrize("language", VERSIONS)
def test_the_layer_by_hand_is_thin(language: str) -> None:
    """At most 340 lines (spec/decisions/0029-clients.md), without comments, imports and empty lines."""
    pattern, other, an_import = LAYERS[language]
    files = [path for path in (CLIENTS / language).glob(pattern) if not path.name.endswith(other)]
    assert len(files) >= 3, "the layer has moved"
    lines = [line for path in files for line in _code(path.read_text("utf-8"), an_import)]
    assert len(lines) <= 340, f"{len(lines)} lines"


def _code(text: str, an_import: str) -> list[str]:
    without_comments = re.sub(r"^\s*//.*$|^\s*/\*(?s:.*?)\*/\s*$", "", text, flags=re.MULTILINE)
    without_imports = re.sub(f"^(?:{an_import})", "", without_comments, flags=re.MULTILINE)
    return [line for line in without_imports.splitlines() if line.strip()]


def test_lines_are_counted_alike() -> None:
    """What is left of each language's form of the same three lines."""
    go = 'package a\n\nimport (\n\t"b"\n)\n\n// c\nfunc d() {\n}\n'
    java = "package a;\n\nimport b.C;\n\n/**\n * c.\n */\nclass D {\n}\n"
    rust = "mod a;\n\nuse b::{\n    C,\n};\n\n/// c\nfn d() {\n}\n"
    typescript = 'const a = 1;\n\nimport {\n  B,\n} from "b";\n\n// c\nfunction d() {\n}\n'
    for language, text in (("go", go), ("java", java), ("rust", rust), ("typescript", typescript)):
        assert len(_code(text, LAYERS[language][2])) == 3, language


def test_lock_files_name_no_registry() -> None:
    """Whoever installs a client takes it from a registry of his own choice."""
    for folder in (CLIENTS / "typescript", DRIVERS / "javascript"):
        lock = json.loads((folder / "package-lock.json").read_text("utf-8"))
        assert not [name for name, package in lock["packages"].items() if "resolved" in package]
