"""How long property tests search: `make fuzz` searches longer."""

import os

from hypothesis import HealthCheck, settings

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
# the gate asks the same of everybody, so it draws the same examples; `make fuzz` draws new ones
settings.register_profile("default", max_examples=100, deadline=None, derandomize=True, suppress_health_check=slow)
settings.register_profile("fuzz", max_examples=5_000, deadline=None, suppress_health_check=slow)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
