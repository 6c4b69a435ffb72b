"""Reasoning settings of Anthropic's models: effort, budget and mode as a model accepts them."""

from typing import Any, Final

from interlingua.adapters._claude.turns import is_thinking
from interlingua.adapters._claude.values import ASSISTANT, Item
from interlingua.adapters._engine.writing import Writing
from interlingua.adapters._requests.reasoning import nearest, report_members

Reasoning = dict[str, Any]

EFFORTS: Final = ("low", "medium", "high", "xhigh", "max")
_BUDGETS: Final = {"low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}
_MIN_BUDGET: Final = 1024


def chosen(
    reasoning: Reasoning, limit: int | None, modes: tuple[str, ...], forced: bool, body: Item, writing: Writing
) -> Reasoning:
    """Return the reasoning settings that the model accepts together with the messages of the body and with a call
    that is `forced`. Changes of the settings are reported."""
    taken, code = fitted(reasoning, limit, modes, writing.known("reasoning")), "reasoning_mapped"
    if "budget_tokens" in taken and refuses_budget(forced, body.get("messages") or []):
        taken, code = {name: value for name, value in taken.items() if name == "effort"}, "combination"
    report_members(reasoning, taken, writing, code, mode_counts=True)
    return taken


def fitted(reasoning: Reasoning, limit: int | None, modes: tuple[str, ...], capabilities: dict[str, Any]) -> Reasoning:
    """Return the reasoning settings that the model accepts: `limit` is that of the response, `modes` are those of the
    wire."""
    efforts = capabilities.get("effort")
    mode, effort, budget = reasoning.get("mode"), reasoning.get("effort"), reasoning.get("budget_tokens")
    if effort == "none":
        effort, mode = None, mode or "disabled"
    wish = known_effort(effort)
    effort = fitting(wish, efforts)
    if mode is None and (budget is not None or (wish is not None and effort is None)):
        mode = "enabled"  # a model without effort: the requested effort becomes a budget
    mode = _mode(mode, modes, capabilities.get("thinking"))
    if mode == "disabled" and (taken := capabilities.get("effort_without_thinking")) is not None:
        effort = fitting(effort, taken)
    chosen: Reasoning = {}
    if mode == "enabled":
        least = capabilities.get("min_thinking_budget", _MIN_BUDGET)
        budget = _budget(budget if budget is not None else _BUDGETS[wish or "medium"], least, limit)
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


def known_effort(effort: str | None) -> str | None:
    """Return an effort as these models name it; None if they do not have it."""
    return "low" if effort == "minimal" else effort if effort in EFFORTS else None


def fitting(effort: str | None, taken: list[str] | None) -> str | None:
    """Return the nearest effort that the model accepts; a model of which nothing is known accepts all."""
    return effort if effort is None or taken is None else nearest(effort, EFFORTS, taken)


def _mode(mode: str | None, modes: tuple[str, ...], taken: list[str] | None) -> str | None:
    if mode is None or mode not in modes:
        return None
    if taken is None or mode in taken:
        return mode
    other = {"enabled": "adaptive", "adaptive": "enabled"}.get(mode)
    return other if other in taken else None


def _budget(budget: int, least: int, limit: int | None) -> int | None:
    """Return a budget that leaves room for an answer; None if there is no room for any budget."""
    budget = max(budget, least)
    if limit is None or budget < limit:
        return budget
    return max(least, limit // 2) if limit > least else None


def refuses_budget(forced: bool, messages: list[Item]) -> bool:
    """Whether the rest of a request on the wire forbids reasoning with a budget.

    The provider refuses it together with a call that is `forced`, with a prefill, and inside a tool loop whose turn
    does not begin with reasoning (for example because another provider began it).
    """
    if forced or not messages or messages[-1]["role"] == ASSISTANT:
        return True
    if len(messages) < 2 or messages[-2]["role"] != ASSISTANT:
        return False
    first = _first(messages[-1])
    answers_calls = "toolResult" in first or first.get("type") == "tool_result"
    return answers_calls and not is_thinking(_first(messages[-2]))


def _first(message: Item) -> Item:
    content = message["content"]
    return content[0] if content and isinstance(content, list) else {}
