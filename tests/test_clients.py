"""What must be true of the clients in other languages, and can be seen without their toolchains."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = ROOT / "clients"
VERSIONS: dict[str, Any] = tomllib.loads((CLIENTS / "versions.toml").read_text("utf-8"))


@pytest.mark.parametrize("language", VERSIONS)
def test_the_manifest_names_the_versions(language: str) -> None:
    """clients/versions.toml is the one place: each manifest has the same versions, and no package that is not there."""
    about = VERSIONS[language]
    manifest = (CLIENTS / about["manifest"]).read_text("utf-8")
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


def test_lock_files_name_no_registry() -> None:
    """Whoever installs a client takes it from a registry of his own choice."""
    lock = json.loads((CLIENTS / "typescript" / "package-lock.json").read_text("utf-8"))
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]
