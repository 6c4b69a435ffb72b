"""The number of tokens of a request: as on every wire, and the part of a conversation that the provider stores."""

from typing import Final

from interlingua.adapters._estimates import estimate as _estimates
from interlingua.adapters._estimates.estimate import Range, window
from interlingua.adapters.openai_responses.tables import ELSEWHERE, NAME
from interlingua.canonical import types
from interlingua.canonical.endpoint import Endpoint

_PRO: Final[Range] = (0, 1_500, 2_500)
"""Tokens that the provider adds to a request in the mode `pro`."""
_ENFORCED: Final = 220
"""Tokens that gpt-4o sometimes counts besides the tools with enforced schemas: about 210, seen in responses of 2025."""
_PROVIDED: Final[dict[str, Range | None]] = {
    "computer": (100, 600, 2_000),
    "local_shell": (0, 300, 1_500),
    "shell": (0, 300, 1_500),
    "apply_patch": (0, 300, 1_500),
}
"""Tools that the provider defines and the client runs. All others run inside the provider call and add what they
find."""


def estimate(request: types.Request, endpoint: Endpoint) -> types.TokenEstimate:
    """Estimate the prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    The part of a conversation that the provider stores may be as long as the model allows.
    """
    low, likely, high = 0.0, 0.0, 0.0
    native_options = (request.get("options") or {}).get(NAME) or {}
    reasoning = native_options.get("reasoning")
    if isinstance(reasoning, dict) and reasoning.get("mode") == "pro":
        low, likely, high = _PRO
    if (endpoint.model or "").startswith("gpt-4o") and any(tool.get("strict") for tool in request.get("tools") or ()):
        high += _ENFORCED
    if any(native_options.get(member) for member in ELSEWHERE):
        likely, high = likely + 200, high + window(endpoint)
    return _estimates.estimate(request, endpoint, _PROVIDED, (low, likely, high))
