"""How many tokens a request takes: as on every wire, and what its models are told of documents to cite from."""

from typing import Any

from interlingua.adapters._estimates import Range, gathered, of, rounded, weighed, window
from interlingua.canonical.endpoint import Endpoint

_PROVIDED: dict[str, Range | None] = {"nova_grounding": None}
_CITED = (0, 600, 1_400)
"""Instructions for citing, once."""


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    The dialect says what was measured of a model: its prompt of its own, and its instructions for tools.
    """
    model = of(endpoint, request)
    return rounded(*weighed(gathered(request), request, model, window(endpoint), _PROVIDED))
