"""
How much the model may think: `outputConfig.effort`, and what the additional fields of the model say of it.

`thinking` is the word of Anthropic's models, `reasoning_config` an older name of it, `reasoningConfig` that of Amazon's.
The words of other makers stay options.
"""

from typing import Any

from interlingua.adapters._kit import Wire, report_unknown
from interlingua.adapters.bedrock_converse.tables import BUDGETS, EFFORTS, MIN_BUDGET, MODES, Writing

Reasoning = dict[str, Any]

_MEMBERS = ("mode", "effort", "budget_tokens", "display")
_WIRE: dict[str, tuple[str, type[Any]]] = {
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
    spelt = writing.form.get("thinking") if writing.exact else writing.endpoint.dialect.get("reasoning_control")
    chosen = reasoning
    if not writing.exact:
        limit = request.get("max_output_tokens")
        chosen = _fitted_nova(reasoning) if spelt == NOVA else _fitted(reasoning, limit, writing)
        code = "reasoning_mapped"
        if "budget_tokens" in chosen and _refused(body):
            chosen = {name: value for name, value in chosen.items() if name == "effort"}
            code = "combination"
        _report(reasoning, chosen, code, writing)
    report_unknown(reasoning, frozenset(_MEMBERS), writing.loss, ("reasoning",))
    if spelt == NOVA:
        wire = {name: chosen[member] for name, member in _NOVA if member in chosen}
        return ({NOVA: wire} if wire else {}), None
    thinking = {name: chosen[canonical] for name, (canonical, _) in _WIRE.items() if chosen.get(canonical) is not None}
    name = "reasoning_config" if spelt == "reasoning_config" else "thinking"
    return ({name: thinking} if thinking else {}), chosen.get("effort")


NOVA = "reasoningConfig"
_NOVA = (("type", "mode"), ("maxReasoningEffort", "effort"))
_NOVA_EFFORTS = ["low", "medium", "high"]
_NOVA_BUDGETS = ((4096, "low"), (16384, "medium"))


def _fitted_nova(reasoning: Reasoning) -> Reasoning:
    """What Amazon's models take of a wish for reasoning: on or off, and three efforts."""
    mode, effort, budget = (reasoning.get(name) for name in ("mode", "effort", "budget_tokens"))
    if mode == "disabled" or effort == "none":
        return {"mode": "disabled"}
    if effort is None and budget is not None:
        effort = next((word for most, word in _NOVA_BUDGETS if budget <= most), "high")
    wish = "low" if effort == "minimal" else effort if effort in EFFORTS else None
    if wish is None and mode is None:
        return {}
    return {"mode": "enabled", "effort": _nearest(wish or "medium", _NOVA_EFFORTS)}


def _report(reasoning: Reasoning, chosen: Reasoning, code: str, writing: Writing) -> None:
    for name in _MEMBERS:
        before, after = reasoning.get(name), chosen.get(name)
        if before == after:
            continue
        where = ("reasoning", name)
        if after is None:
            writing.loss.drop(where, code, "weakened", f"the target does not take this {name} of reasoning")
        else:
            severity = "shape" if before is None else "weakened"
            writing.loss.replace(where, after, code, severity, "reasoning in the target's terms")


def _fitted(reasoning: Reasoning, limit: int | None, writing: Writing) -> Reasoning:
    """What the model takes of a wish for reasoning."""
    modes, efforts = writing.capabilities.get("thinking"), writing.capabilities.get("effort")
    mode, effort, budget = (reasoning.get(name) for name in ("mode", "effort", "budget_tokens"))
    if effort == "none":
        effort, mode = None, mode or "disabled"
    wish = "low" if effort == "minimal" else effort if effort in EFFORTS else None
    effort = _nearest(wish, efforts)
    if mode is None and (budget is not None or (wish is not None and effort is None)):
        mode = "enabled"  # a model without effort: the wish becomes a budget
    mode = _mode(mode, modes)
    chosen: Reasoning = {}
    if mode == "enabled":
        budget = _budget(budget if budget is not None else BUDGETS[wish or "medium"], limit, writing)
        if budget is None:
            mode = None
        else:
            chosen["budget_tokens"] = budget
    if mode is not None:
        chosen["mode"] = mode
    if effort is not None:
        chosen["effort"] = effort
    if mode in ("adaptive", "enabled") and reasoning.get("display") is not None:
        chosen["display"] = reasoning["display"]
    return chosen


def _nearest(effort: str | None, taken: list[str] | None) -> str | None:
    """The strongest word that the model takes and that asks for no more, else the weakest."""
    if effort is None or taken is None or effort in taken:
        return effort
    known = [word for word in EFFORTS if word in taken]
    weaker = [word for word in known if EFFORTS.index(word) < EFFORTS.index(effort)]
    return weaker[-1] if weaker else known[0] if known else None


def _mode(mode: str | None, taken: list[str] | None) -> str | None:
    if mode is None or mode not in MODES:
        return None
    if taken is None or mode in taken:
        return mode
    other = {"enabled": "adaptive", "adaptive": "enabled"}.get(mode)
    return other if other in taken else None


def _budget(budget: int, limit: int | None, writing: Writing) -> int | None:
    """A budget that leaves room for an answer; None when there is no room for any."""
    least = writing.capabilities.get("min_thinking_budget", MIN_BUDGET)
    budget = max(budget, least)
    if limit is None or budget < limit:
        return budget
    return max(least, limit // 2) if limit > least else None


def _refused(body: Wire) -> bool:
    """Whether the rest of the request forbids reasoning with a budget.

    It is refused together with a forced call, with an answer that was begun, and inside a tool loop whose turn does
    not begin with reasoning, as when another provider began it.
    """
    if not (body.get("toolConfig") or {}).get("toolChoice", {}).keys().isdisjoint(("any", "tool")):
        return True
    messages = body.get("messages") or []
    last = messages[-1] if messages else None
    if last is None or last["role"] == "assistant":
        return True
    if len(messages) < 2 or messages[-2]["role"] != "assistant" or not _begins_with("toolResult", last):
        return False
    return not _begins_with("reasoningContent", messages[-2])


def _begins_with(kind: str, message: Wire) -> bool:
    return bool(message["content"]) and kind in message["content"][0]
