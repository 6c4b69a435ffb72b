"""How many tokens a request takes: as on every wire, and what the provider's own tools bring along."""

from typing import Any, Final

from interlingua.adapters import _estimates
from interlingua.adapters._estimates import Range
from interlingua.canonical.endpoint import Endpoint

_PROVIDED: Final[dict[str, Range | None]] = {"nova_grounding": None}
"""What a tool of the provider adds, by how its name begins. It runs inside the call and adds what it finds."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more."""
    return _estimates.estimate(request, endpoint, _PROVIDED)
