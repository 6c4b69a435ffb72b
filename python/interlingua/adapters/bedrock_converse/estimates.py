"""How many tokens a request takes: as on every wire; the dialect knows some of them better."""

from typing import Any

from interlingua.adapters._estimates import Range, gathered, of, rounded, weighed, window
from interlingua.canonical.endpoint import Endpoint

_PROVIDED: dict[str, Range | None] = {"nova_grounding": None}


def estimate(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """Prompt tokens of a canonical request: hardly fewer, the best guess, hardly more.

    The dialect may say what was measured of a model: its prompt of its own, and its instructions for tools.
    """
    model = of(endpoint, request)
    model = model._replace(
        prompt=_measured(endpoint, "prompt_overhead", model.prompt),
        tools=_measured(endpoint, "tools_overhead", model.tools),
    )
    return rounded(*weighed(gathered(request, endpoint), request, model, window(endpoint), _PROVIDED))


def _measured(endpoint: Endpoint, switch: str, unknown: Range) -> Range:
    count = endpoint.dialect.get(switch)
    return (min(unknown[0], count), count, max(unknown[2], count)) if isinstance(count, int) else unknown
