"""How many tokens a request takes: as on every wire, and what the provider keeps."""

from typing import Any, Final

from interlingua.adapters._estimates import Range, gathered, of, rounded, weighed, window
from interlingua.adapters.gemini_generate.tables import NAME
from interlingua.canonical.endpoint import Endpoint

_PROVIDED: Final[dict[str, Range | None]] = {
    "codeExecution": (0, 0, 4_000),
    "googleSearch": (0, 100, 4_000),
    "googleMaps": (0, 100, 4_000),
    "urlContext": (0, 100, 4_000),
}
"""Tools of the provider; what they find is not counted as prompt, what they are told by the model is, in part."""
_KEPT: Final = 4_096
"""The fewest tokens that the provider keeps as content of a cache."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more."""
    most = window(endpoint)
    low, likely, high = weighed(gathered(request, endpoint), request, of(endpoint, request), most, _PROVIDED)
    if ((request.get("options") or {}).get(NAME) or {}).get("cachedContent"):
        likely, high = likely + _KEPT, high + most
    return rounded(low, likely, high)
