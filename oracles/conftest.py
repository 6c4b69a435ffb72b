"""The modules of this folder, and the loopback server of a run."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import checks  # noqa: E402
import loopback  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def provider() -> Iterator[loopback.Provider]:
    """The server that the SDKs' clients call."""
    with loopback.serving() as checks.PROVIDER:
        yield checks.PROVIDER
