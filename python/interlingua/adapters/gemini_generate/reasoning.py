"""How much the model may think: a level or a budget, and whether thoughts are shown."""

from typing import Any, Final

from interlingua.adapters._kit import Wire, report_unknown
from interlingua.adapters.gemini_generate.context import Reading, Writing
from interlingua.adapters.gemini_generate.tables import BUDGETS, EFFORTS

Reasoning = dict[str, Any]

_MEMBERS: Final = ("mode", "effort", "budget_tokens", "display")

# ---------------------------------------------------------------------------------------------- from the wire


def reasoning_from_wire(value: Any, reading: Reading) -> Reasoning | None:
    """A thinkingConfig; None for one that says more than the contract has words for."""
    if type(value) is not dict:
        return None
    reasoning: Reasoning = {}
    for name, item in reading.camelised(value).items():
        match name:
            case _ if item is None:
                reading.odd = True
            case "includeThoughts" if type(item) is bool:
                reasoning["display"] = "summarized" if item else "omitted"
            case "thinkingBudget" if type(item) is int:
                if item > 0:
                    reasoning["budget_tokens"] = item
                elif item in (0, -1):
                    reasoning["mode"] = "adaptive" if item else "disabled"
                else:
                    return None
            case "thinkingLevel" if type(item) is str and item.lower() in EFFORTS:
                reasoning["effort"] = item.lower()
                reading.odd = reading.odd or not item.isupper()
            case _:
                return None
    return reasoning


# ---------------------------------------------------------------------------------------------- to the wire


def reasoning_to_wire(reasoning: Reasoning, config: Wire, writing: Writing) -> None:
    """Writes the thinkingConfig; what is fitted to the model is reported."""
    if writing.lacks("supports_thinking", "reasoning"):
        severity = "representation" if reasoning.get("mode") == "disabled" else "weakened"
        writing.loss.drop(("reasoning",), "unsupported_model", severity, "the model does not think")
        return
    taken = _fitted(reasoning, writing)
    wire: Wire = {}
    if "effort" in taken:
        wire["thinkingLevel"] = taken["effort"].upper()
    if "budget_tokens" in taken:
        wire["thinkingBudget"] = taken["budget_tokens"]
    elif "mode" in taken:
        wire["thinkingBudget"] = 0 if taken["mode"] == "disabled" else -1
    if "display" in taken:
        wire["includeThoughts"] = taken["display"] == "summarized"
    if wire:
        config["thinkingConfig"] = wire
    for name in _MEMBERS:
        before, after = reasoning.get(name), taken.get(name)
        if before == after:
            continue
        if after is None:
            severity = "representation" if name == "mode" and before in ("enabled", "adaptive") else "weakened"
            message = f"the target does not take this {name} of reasoning"
            writing.loss.drop(("reasoning", name), "reasoning_mapped", severity, message)
        else:
            severity = "representation" if before is None else "weakened"
            message = "reasoning in the target's terms"
            writing.loss.replace(("reasoning", name), after, "reasoning_mapped", severity, message)
    report_unknown(reasoning, frozenset(_MEMBERS), writing.loss, ("reasoning",))


def _fitted(reasoning: Reasoning, writing: Writing) -> Reasoning:
    """What the target takes of a wish: one of level, budget and mode."""
    mode, effort, budget = reasoning.get("mode"), reasoning.get("effort"), reasoning.get("budget_tokens")
    fitted: Reasoning = {}
    if reasoning.get("display") in ("summarized", "omitted"):
        fitted["display"] = reasoning["display"]
    if writing.verbatim("reasoning"):
        if effort in EFFORTS:
            fitted["effort"] = effort
        if budget:
            fitted["budget_tokens"] = budget
        elif mode in ("adaptive", "disabled"):
            fitted["mode"] = mode
        return fitted
    off = mode == "disabled" or effort == "none" or budget == 0
    known = writing.known("reasoning")
    levels = known.get("thinking_levels", writing.generation(3, "reasoning") > 2)
    if off:
        if levels and writing.generation(0, "reasoning") > 2:
            return fitted | {"effort": _nearest("minimal", writing)}
        least = known.get("min_thinking_budget")
        return fitted | ({"budget_tokens": least} if least else {"mode": "disabled"})
    word = "xhigh" if effort == "max" else effort if effort in EFFORTS else None
    if word is not None and levels:
        return fitted | {"effort": _nearest(word, writing)}
    if budget is not None:
        return fitted | {"budget_tokens": budget}
    if word is not None:
        return fitted | {"budget_tokens": BUDGETS[word]}
    return fitted | {"mode": "adaptive"} if mode is not None else fitted


def _nearest(word: str, writing: Writing) -> str:
    """The strongest level that the model takes and that asks for no more, else the weakest."""
    taken = [
        level for level in EFFORTS if level in (writing.known("reasoning").get("reasoning_efforts") or EFFORTS[:4])
    ]
    if not taken:
        return word
    weaker = [level for level in taken if EFFORTS.index(level) <= EFFORTS.index(word)]
    return weaker[-1] if weaker else taken[0]
