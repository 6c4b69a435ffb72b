"""
How much the model may think: `outputConfig.effort`, and what the additional fields of the model say of it.

`thinking` is the word of Anthropic's models, `reasoning_config` an older name of it, `reasoningConfig` that of Amazon's.
The words of other makers stay options.
"""

from typing import Any, Final

from interlingua.adapters._claude import reasoning as claude
from interlingua.adapters._kit import Wire, report_unknown
from interlingua.adapters.bedrock_converse.tables import MODES, Writing

Reasoning = dict[str, Any]

_WIRE: Final[dict[str, tuple[str, type[Any]]]] = {
    "type": ("mode", str),
    "budget_tokens": ("budget_tokens", int),
    "display": ("display", str),
}


def nova_from_wire(value: Any) -> Reasoning | None:
    """What `reasoningConfig` says; None when it is not shaped as documented."""
    match value:
        case {"type": str(mode), "maxReasoningEffort": str(effort), **others} if not others:
            return {"mode": mode, "effort": effort}
        case {"type": str(mode), **others} if not others:
            return {"mode": mode}
        case _:
            return None


def thinking_from_wire(value: Any) -> Reasoning | None:
    """What `thinking` says; None when it is not shaped as documented."""
    if type(value) is not dict or not value:
        return None
    reasoning: Reasoning = {}
    for name, member in value.items():
        if name not in _WIRE:
            return None
        canonical, kind = _WIRE[name]
        if type(member) is not kind or (kind is int and member < 0):
            return None
        reasoning[canonical] = member
    return reasoning


def reasoning_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> tuple[Wire, str | None]:
    """The additional fields of the model, and the effort; what is fitted to the model or the request is reported."""
    reasoning: Reasoning | None = request.get("reasoning")
    if not reasoning:
        return {}, None
    spelt = (
        writing.encoding.get("thinking") if writing.same_model else writing.endpoint.dialect.get("reasoning_control")
    )
    chosen = reasoning
    code = "reasoning_mapped"
    if not writing.keeps_reasoning("toolConfig" in body):
        # between tools reasoning has the budget of many answers, where it was asked for so
        limit = None if writing.same_origin and "toolConfig" in body else request.get("max_output_tokens")
        chosen = (
            _fitted_nova(reasoning)
            if spelt == NOVA
            else claude.fitted(reasoning, limit, MODES, writing.known("reasoning"))
        )
    forced = not (body.get("toolConfig") or {}).get("toolChoice", {}).keys().isdisjoint(("any", "tool"))
    refused = "budget_tokens" in chosen and claude.refuses_budget(forced, body.get("messages") or [])
    if refused and not writing.had_quirk("reasoning", "combination"):
        chosen = {name: value for name, value in chosen.items() if name == "effort"}
        code = "combination"
    if chosen is not reasoning:
        claude.report(reasoning, chosen, code, writing.loss)
    report_unknown(reasoning, frozenset(claude.MEMBERS), writing.loss, ("reasoning",))
    if spelt == NOVA:
        wire = {name: chosen[member] for name, member in _NOVA if member in chosen}
        return ({NOVA: wire} if wire else {}), None
    thinking = {name: chosen[canonical] for name, (canonical, _) in _WIRE.items() if chosen.get(canonical) is not None}
    name = "reasoning_config" if spelt == "reasoning_config" else "thinking"
    return ({name: thinking} if thinking else {}), chosen.get("effort")


NOVA: Final = "reasoningConfig"
_NOVA: Final = (("type", "mode"), ("maxReasoningEffort", "effort"))
_NOVA_EFFORTS: Final = ["low", "medium", "high"]
_NOVA_BUDGETS: Final = ((4096, "low"), (16384, "medium"))


def _fitted_nova(reasoning: Reasoning) -> Reasoning:
    """What Amazon's models take of a wish for reasoning: on or off, and three efforts."""
    mode, effort, budget = (reasoning.get(name) for name in ("mode", "effort", "budget_tokens"))
    if mode == "disabled" or effort == "none":
        return {"mode": "disabled"}
    if effort is None and budget is not None:
        effort = next((word for most, word in _NOVA_BUDGETS if budget <= most), "high")
    wish = claude.known_effort(effort)
    if wish is None and mode is None:
        return {}
    return {"mode": "enabled", "effort": claude.nearest(wish or "medium", _NOVA_EFFORTS)}
