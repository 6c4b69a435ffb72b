"""How much the model may think: effort, budget and mode in the terms that the model takes."""

from typing import Any

from interlingua.adapters._kit import Wire, report_unknown
from interlingua.adapters.anthropic_messages.tables import (
    BUDGETS,
    EFFORTS,
    MIN_BUDGET,
    MODES,
    THINKING_TYPES,
    Writing,
)

Reasoning = dict[str, Any]

_MEMBERS = ("mode", "effort", "budget_tokens", "display")


def reasoning_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `thinking` and `output_config.effort`; what is fitted to the model or the request is reported."""
    reasoning: Reasoning | None = request.get("reasoning")
    if not reasoning:
        return
    fitted = reasoning
    if not writing.exact:
        fitted = _fitted(reasoning, body.get("max_tokens", 0), writing)
        code = "reasoning_mapped"
        if fitted.get("mode") == "enabled" and _refused(body):
            fitted = {name: value for name, value in fitted.items() if name == "effort"}
            code = "combination"
        _report(reasoning, fitted, code, writing)
    thinking: Wire = {}
    if "mode" in fitted:
        thinking["type"] = fitted["mode"]
    for name in ("budget_tokens", "display"):
        if name in fitted:
            thinking[name] = fitted[name]
    if thinking:
        body["thinking"] = thinking
    if "effort" in fitted:
        body["output_config"] = {"effort": fitted["effort"]}
    report_unknown(reasoning, frozenset(_MEMBERS), writing.loss, ("reasoning",))


def _report(reasoning: Reasoning, fitted: Reasoning, code: str, writing: Writing) -> None:
    for name in _MEMBERS:
        before, after = reasoning.get(name), fitted.get(name)
        if before == after:
            continue
        where = ("reasoning", name)
        if after is None:
            writing.loss.drop(where, code, "weakened", f"the target does not take this {name} of reasoning")
        else:
            severity = "shape" if before is None else "weakened"
            writing.loss.replace(where, after, code, severity, "reasoning in the target's terms")


def _fitted(reasoning: Reasoning, limit: int, writing: Writing) -> Reasoning:
    """What the model takes of a wish for reasoning."""
    modes, efforts = writing.capabilities.get("thinking"), writing.capabilities.get("effort")
    mode, effort = reasoning.get("mode"), reasoning.get("effort")
    budget = reasoning.get("budget_tokens")
    if effort == "none":
        effort, mode = None, mode or "disabled"
    wish = _word(effort)
    effort = _nearest(wish, efforts)
    if mode is None and budget is not None:
        mode = "enabled"
    elif mode is None and wish is not None and effort is None:
        mode = "enabled"  # a model without effort: the wish becomes a budget
    mode = _mode(mode, modes)
    fitted: Reasoning = {}
    if mode == "enabled":
        budget = _budget(budget if budget is not None else BUDGETS[wish or "medium"], limit, writing)
        if budget is None:
            mode = None
        else:
            fitted["budget_tokens"] = budget
    if mode is not None:
        fitted["mode"] = mode
    if effort is not None:
        fitted["effort"] = effort
    if mode in ("adaptive", "enabled") and reasoning.get("display") is not None:
        fitted["display"] = reasoning["display"]
    return fitted


def _word(effort: str | None) -> str | None:
    if effort == "minimal":
        return "low"
    return effort if effort in EFFORTS else None


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


def _budget(budget: int, limit: int, writing: Writing) -> int | None:
    """A budget that leaves room for an answer; None when there is no room for any."""
    least = writing.capabilities.get("min_thinking_budget", MIN_BUDGET)
    if limit <= least:
        return None
    budget = max(budget, least)
    return budget if budget < limit else max(least, limit // 2)


def _refused(body: Wire) -> bool:
    """Whether the rest of the request forbids reasoning with a budget.

    It is refused together with a forced call, with an answer that was begun, and inside a tool loop whose turn does
    not begin with reasoning, as when another provider began it.
    """
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        return True
    messages = body["messages"]
    last = messages[-1] if messages else None
    if last is None or last["role"] == "assistant":
        return True
    if len(messages) < 2 or messages[-2]["role"] != "assistant" or _first(last) != "tool_result":
        return False
    return _first(messages[-2]) not in THINKING_TYPES


def _first(message: Wire) -> str:
    content = message["content"]
    return content[0]["type"] if content and isinstance(content, list) else "text"
