"""How long property tests search: `make fuzz` searches longer. With what is told when they begin."""

import os

import pytest
from hypothesis import HealthCheck, settings

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
# the gate asks the same of everybody, so it draws the same examples; `make fuzz` draws new ones
settings.register_profile("default", max_examples=100, deadline=None, derandomize=True, suppress_health_check=slow)
settings.register_profile("fuzz", max_examples=5_000, deadline=None, suppress_health_check=slow)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
_CHANCE = {"FUZZ_SEED": "20261121", "FUZZ_ROUNDS": "6", "EDIT_SEED": "20261121", "EDIT_ROUNDS": "2"}
for _name, _value in _CHANCE.items():
    os.environ.setdefault(_name, _value)


def pytest_sessionstart(session: pytest.Session) -> None:
    """A run can be repeated: its seed is printed before it, also when the header is not."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(session.config, "workerinput"):
        told = [f"{name}={os.environ[name]}" for name in _CHANCE]
        profile = os.environ.get("HYPOTHESIS_PROFILE", "default")
        reporter.write_line(f"chance: {' '.join(told)}, HYPOTHESIS_PROFILE={profile}")
