"""The modules of this folder, and the loopback server of a run."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import checks
import loopback


@pytest.fixture(scope="session", autouse=True)
def serving() -> Iterator[None]:
    """The server that the SDKs' clients call."""
    with loopback.serving(checks.PROVIDER):
        yield
