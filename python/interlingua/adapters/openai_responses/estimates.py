"""How many tokens a request takes: as on every wire, and what goes back here but nowhere else."""

from typing import Any

from interlingua.adapters._estimates import estimate as estimate_words
from interlingua.adapters._kit import text_length
from interlingua.adapters.openai_responses.tables import NAME, NOTHING
from interlingua.canonical.endpoint import Endpoint

_SEAL = 1_000
"""Characters of encrypted reasoning that hold no reasoning."""
_PRO = (0, 1_500, 2_500)
"""What the provider writes around a request in the mode `pro`."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    Encrypted reasoning has about six characters of ciphertext a token, and counts only until the next turn of the user,
    so half of it is the best guess. An item of the provider counts like text.
    """
    found = estimate_words(request, endpoint)
    sealed = items = 0
    for message in request["messages"]:
        if message["role"] == "assistant":
            for block in message["content"]:
                match block["type"]:
                    case "thinking" if block.get("signature") and endpoint.owns(block.get("provider_state") or _NOBODY):
                        sealed += max(len(block["signature"]) - _SEAL, 0)
                    case "opaque" if endpoint.owns(block):
                        items += text_length([block["value"]])
                    case _:
                        pass
    own = (request.get("options") or NOTHING).get(NAME) or NOTHING
    reasoning = own.get("reasoning")
    low, likely, high = _PRO if isinstance(reasoning, dict) and reasoning.get("mode") == "pro" else (0, 0, 0)
    return {
        "low": found["low"] + low,
        "likely": found["likely"] + likely + sealed // 12 + items // 4,
        "high": found["high"] + high + sealed // 5 + items // 2,
    }


_NOBODY = {"adapter": ""}
