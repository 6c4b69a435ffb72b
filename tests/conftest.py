"""How long property tests search: `make fuzz` searches longer."""

import os

from hypothesis import HealthCheck, settings

slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("default", max_examples=100, deadline=None, suppress_health_check=slow)
settings.register_profile("fuzz", max_examples=5_000, deadline=None, suppress_health_check=slow)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
