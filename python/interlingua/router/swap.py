"""
The change of a session's model: before anything changes, the new model is checked against the conversation.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlingua.registry import names
from interlingua.router import capable, facts, state
from interlingua.router.decide import MANUAL_REASON

_CLAUSES = {
    "not_configured": "its provider has no key or no address here",
    "provider_unavailable": "it is not available at the moment",
    "no_vision_support": "session contains images that this model can't process",
    "exceeds_context_window": "session is longer than this model's context window",
    "no_tool_support": "session contains tools that this model can't process",
    "no_system_prompt_support": "session contains instructions that this model can't process",
    "no_structured_output_support": "session asks for structured output that this model can't produce",
    "pinned_elsewhere": "session holds state of another provider that this model can't take back",
}


def sticky(argument: str, current: str | None = None) -> str | None:
    """The session's model after the command `/model argument`: `-` clears it, an empty argument leaves it unchanged."""
    argument = argument.strip()
    if argument == "-":
        return None
    return argument or current


def check_swap(
    request: Mapping[str, Any],
    model: str,
    catalog: Mapping[str, Any],
    *,
    active: str | None = None,
    policy: Mapping[str, Any] | None = None,
    health: Mapping[str, Any] | None = None,
    now: str | datetime = "1970-01-01T00:00:00Z",
) -> dict[str, Any]:
    """Whether a session can continue with another model.

    `request` holds the conversation so far, `model` is an id or an alias, `active` the model that would be replaced;
    `policy` states whether state is kept at its origin.
    When it cannot, `active_model` is unchanged, `message` is for the user, and `payload` is that of the one event
    `routing_constraint_failure` to publish. When it can, `record` is the routing record of the next answer. Raises
    `InvalidRequest` for an unknown model.
    """
    target = str(names.only_one(model, names.expand_in(catalog, model, catalog.get("aliases", {}))))
    turn = facts.turn(request)
    pinned = state.pinned(turn, policy or {}, catalog)
    failures = capable.failures(turn, target, catalog, health or {}, capable.moment(now))
    failures += state.against(target, pinned, catalog)
    if not failures:
        record = {
            "mode": "manual",
            "chosen_model": target,
            "reason": MANUAL_REASON,
            "rule_name": None,
            "confidence": None,
            "alternatives_considered": [],
        }
        return {"allowed": True, "model": target, "active_model": target, "failures": [], "record": record}
    clause = _CLAUSES[failures[0]]
    if failures[0] == "not_configured" and (lacks := capable.missing(target.partition(":")[0], catalog)):
        clause += f" ({lacks})"
    message = f"Cannot swap to {title(target, catalog)}: {clause}. Active model unchanged."
    return {
        "allowed": False,
        "model": target,
        "active_model": active,
        "failures": failures,
        "message": message,
        "payload": {
            "requested_model": target,
            "active_model": active,
            "failures": list(failures),
            "message": message,
        },
    }


def title(model: str, catalog: Mapping[str, Any]) -> str:
    """The name of a model for a person."""
    return catalog["models"].get(model, {}).get("title") or model.partition(":")[2]
