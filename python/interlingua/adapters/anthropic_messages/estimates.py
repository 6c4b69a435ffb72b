"""How many tokens a request takes: as on every wire, and what the provider's own tools bring along."""

from typing import Any, Final

from interlingua.adapters import _estimates
from interlingua.adapters._estimates import Range
from interlingua.canonical.endpoint import Endpoint

_PROVIDED: Final[dict[str, Range | None]] = {
    "computer_": (300, 1_500, 3_000),
    "bash_": (150, 700, 1_500),
    "text_editor_": (300, 1_100, 2_000),
    "memory_": (300, 1_000, 2_500),
    "tool_search_": (0, 400, 2_500),
    "web_search_": None,
    "web_fetch_": None,
    "code_execution_": None,
    "mcp_": None,
}
"""What a tool of the provider adds, by how its type begins. One that runs inside the call adds what it finds."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more."""
    return _estimates.estimate(request, endpoint, _PROVIDED)
