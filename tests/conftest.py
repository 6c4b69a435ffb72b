"""
How much is tested: property tests search longer with `make fuzz`, and a law over all cases is held against a share of
them unless `--whole` asks for all (CONTRIBUTING.md). With what is told when they begin.
"""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from interlingua.adapters._engine.kit import NOTHING

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
# the gate asks the same of everybody, so it draws the same examples; `make fuzz` draws new ones
settings.register_profile("default", max_examples=40, deadline=None, derandomize=True, suppress_health_check=slow)
settings.register_profile("whole", max_examples=100, deadline=None, derandomize=True, suppress_health_check=slow)
settings.register_profile("fuzz", max_examples=5_000, deadline=None, suppress_health_check=slow)
_CHANCE = {"FUZZ_SEED": "20261121", "FUZZ_ROUNDS": "3", "EDIT_SEED": "20261121", "EDIT_ROUNDS": "1"}
_WHOLE = {"FUZZ_ROUNDS": "6", "EDIT_ROUNDS": "2", "HYPOTHESIS_PROFILE": "whole"}


def pytest_sessionstart(session: pytest.Session) -> None:
    """A run can be repeated: its seed is printed before it, also when the header is not."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        told = [f"{name}={os.environ[name]}" for name in _CHANCE]
        told.append(f"HYPOTHESIS_PROFILE={os.environ['HYPOTHESIS_PROFILE']}")
        form = "whole" if session.config.getoption("--whole") else "a share of each law, --whole takes all"
        reporter.write_line(f"{form}; chance: {' '.join(told)}")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--whole`, as `make test-all` gives it."""
    parser.addoption("--whole", action="store_true", help="hold every law against every case, not against a share")


def pytest_configure(config: pytest.Config) -> None:
    """Tells pytest the marker, and says how long to search before any test is read."""
    chance = {**_CHANCE, "HYPOTHESIS_PROFILE": "default", **(_WHOLE if config.getoption("--whole") else {})}
    for name, value in chance.items():
        os.environ.setdefault(name, value)
    settings.load_profile(os.environ["HYPOTHESIS_PROFILE"])
    config.addinivalue_line("markers", "share(n): every n-th instance of this test is taken, and with --whole all")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is beyond the share of a test. Whoever names a test, or picks some by a word, gets all of those."""
    named = any("::" in argument for argument in config.args)
    if named or config.getoption("--whole") or config.getoption("-k"):
        return
    left = [item for item in items if (mark := item.get_closest_marker("share")) and not _in_share(item, mark.args[0])]
    config.hook.pytest_deselected(items=left)
    out = set(left)
    items[:] = [item for item in items if item not in out]


def _in_share(item: pytest.Item, n: int) -> bool:
    """Whether an instance is taken. By its name, so that each law takes others, and that a new case moves none."""
    name = item.nodeid.partition("::")[2]
    return zlib.crc32(name.encode()) % n == 0


@pytest.fixture
def share(request: pytest.FixtureRequest) -> Callable[[Sequence[Any], int], Sequence[Any]]:
    """The same for a test that goes through many instances itself: `for one in share(ALL, 4)`, each test from another."""
    whole = request.config.getoption("--whole")
    begin = zlib.crc32(request.node.name.encode())
    return lambda instances, n: instances if whole else instances[begin % n :: n]


@pytest.fixture(autouse=True)
def nothing_stays_empty() -> Iterator[None]:
    """The empty object that stands in place of absent ones is shared by all adapters: nobody writes into it."""
    yield
    assert NOTHING == {}
