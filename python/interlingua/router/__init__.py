"""
The router: which model serves a turn, and why (spec/7-routing.md).

Pure: no network, no clock, no adapters. `turn` gathers the facts of a request, `decide` chooses a model, `preview`
reports what each candidate would cost and lose, `check_swap` refuses a change of model that the conversation does not
allow. All inputs and outputs are plain data; `decide_json` repeats the decision of a recorded input.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import pointer
from interlingua.router.capable import REASONS, failures, incapable, moment
from interlingua.router.decide import MODES, SLOTS, decide, named_chain
from interlingua.router.facts import Turn, strip_override, turn
from interlingua.router.health import PRESETS, Backoff, Health, Windows
from interlingua.router.policy import check as check_policy
from interlingua.router.policy import specs
from interlingua.router.preview import cost_range, preview, worst
from interlingua.router.state import in_turn_order, pins, staying, turn_model
from interlingua.router.swap import check_swap, sticky

__all__ = [
    "MODES",
    "PRESETS",
    "REASONS",
    "SLOTS",
    "Backoff",
    "Health",
    "Turn",
    "Windows",
    "check_policy",
    "check_swap",
    "cost_range",
    "decide",
    "decide_json",
    "decided",
    "demand_policy",
    "failures",
    "in_turn_order",
    "incapable",
    "named_chain",
    "pins",
    "preview",
    "specs",
    "staying",
    "sticky",
    "strip_override",
    "turn",
    "turn_model",
    "worst",
]

_SHAPES = {"request": dict, "turn": dict, "context": dict, "catalog": dict, "policy": dict, "health": dict, "now": str}


def decide_json(given: Mapping[str, Any]) -> dict[str, Any]:
    """Decide from one recorded input: {"request" or "turn", "context", "catalog", "policy", "health", "now"}.

    Without a `catalog` the shared registry is used. Raises the errors of `decide`, and `InvalidRequest` for an input or
    a policy that is malformed.
    """
    given = {name: value for name, value in given.items() if value is not None}
    for name, kind in _SHAPES.items():
        if name in given and not isinstance(given[name], kind):
            raise InvalidRequest(f"{name} must be {'a text' if kind is str else 'an object'}", path=f"/{name}")
    if "request" not in given and "turn" not in given:
        raise InvalidRequest("give a request or the facts of a turn", path="")
    try:
        return _decide(given)
    except (AttributeError, KeyError, TypeError, ValueError) as problem:
        kind = type(problem).__name__
        raise InvalidRequest(f"a member of the catalog or of the turn has a wrong type ({kind})", path="") from None


def _decide(inputs: Mapping[str, Any]) -> dict[str, Any]:
    catalog = inputs.get("catalog")
    if catalog is None:
        from interlingua import registry

        catalog = registry.snapshot()
    catalog = _catalog(catalog)
    policy = inputs.get("policy", {})
    demand_policy(policy, catalog)
    facts = inputs["turn"] if "turn" in inputs else turn(inputs["request"], inputs.get("context"))
    health = _health(inputs.get("health", {}))
    return decide(facts, catalog, policy, health, inputs.get("now", "1970-01-01T00:00:00Z"))


def demand_policy(policy: Any, catalog: Mapping[str, Any], at: str = "/policy") -> None:
    """Raise `InvalidRequest` for a policy that is not valid with this catalogue. The error lists all violations; `at`
    is the place of the policy in what was given."""
    if violations := check_policy(policy, catalog):
        faults = [{**violation, "path": f"{at}{violation['path']}"} for violation in violations]
        message = f"the policy is not valid: {faults[0]['message']}"
        raise InvalidRequest(message, path=faults[0]["path"], violations=faults)


def decided(model: str | None, chain: Sequence[Mapping[str, Any]], elapsed_ms: float | None = None) -> dict[str, Any]:
    """The payload of the event `route.decided` of a turn: the chosen model, if any, and the chain up to it."""
    return {
        "chosen_model": model,
        "winner_index": -1 if model is None else len(chain) - 1,
        "elapsed_ms": elapsed_ms,
        "chain": list(chain),
    }


def _health(health: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the marks of health. Raises `InvalidRequest` unless each is an object and its `until` a time."""
    for name in ("models", "providers"):
        part = health.get(name, {})
        if not isinstance(part, dict):
            raise InvalidRequest(f"{name} must be an object", path=f"/health/{name}")
        for key, mark in part.items():
            here = ("health", name, key)
            if mark is not None and not isinstance(mark, dict):
                raise InvalidRequest(f"a mark of {name} must be an object", path=pointer(here))
            until = (mark or {}).get("until")
            if until is None:
                continue
            if not isinstance(until, str):
                raise InvalidRequest("a time must be RFC 3339 text", path=pointer((*here, "until")))
            try:
                moment(until)
            except InvalidRequest as problem:
                raise InvalidRequest(problem.message, path=pointer((*here, "until"))) from None
    return health


def _catalog(catalog: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the catalogue with all of its members. Raises `InvalidRequest` unless each is an object."""
    for name in ("providers", "models", "aliases", "undeclared"):
        part = catalog.get(name, {})
        if not isinstance(part, dict):
            raise InvalidRequest(f"{name} must be an object", path=f"/catalog/{name}")
        for key, entry in part.items():
            if name in ("providers", "models") and not isinstance(entry, dict):
                raise InvalidRequest(f"an entry of {name} must be an object", path=pointer(("catalog", name, key)))
    return {"providers": {}, "models": {}, "aliases": {}, "undeclared": {}, **catalog}
