"""How many tokens a request takes: as on every wire, and what stands for thoughts or is kept at the provider."""

from typing import Any

from interlingua.adapters._estimates import Range, gathered, of, rounded, weighed, window
from interlingua.adapters.gemini_generate.tables import NAME
from interlingua.canonical.endpoint import Endpoint

_PROVIDED: dict[str, Range | None] = {
    "codeExecution": (0, 0, 4_000),
    "googleSearch": (0, 100, 4_000),
    "googleMaps": (0, 100, 4_000),
    "urlContext": (0, 100, 4_000),
}
"""Tools of the provider; what they find is not counted as prompt, what they are told by the model is, in part."""
_SIGNATURE = (12.0, 3.0)
"""Characters a token: a signature stands for thoughts, which are sometimes counted."""
_KEPT = 4_096
"""The fewest tokens that the provider keeps as content of a cache."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more."""
    most = window(endpoint)
    low, likely, high = weighed(gathered(request), request, of(endpoint, request), most, _PROVIDED)
    signed = 0
    for message in request["messages"]:
        if message["role"] == "assistant":
            for block in message["content"]:
                state = block.get("provider_state") or {}
                signed += len(block.get("signature") or state.get("signature") or "")
    likely, high = likely + signed / _SIGNATURE[0], high + signed / _SIGNATURE[1]
    if ((request.get("options") or {}).get(NAME) or {}).get("cachedContent"):
        likely, high = likely + _KEPT, high + most
    return rounded(low, likely, high)
