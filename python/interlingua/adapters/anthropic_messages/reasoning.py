"""How much the model may think, as this wire says it."""

from typing import Any

from interlingua.adapters import _reasoning as claude
from interlingua.adapters._claude.values import THINKING_TYPES
from interlingua.adapters._kit import Wire, report_unknown
from interlingua.adapters.anthropic_messages.tables import MODES, Writing


def reasoning_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `thinking` and `output_config.effort`; what is fitted to the model or the request is reported."""
    reasoning: dict[str, Any] | None = request.get("reasoning")
    if not reasoning:
        return
    chosen = reasoning
    code = "reasoning_mapped"
    if not writing.keeps("reasoning", code):
        # between tools reasoning has the budget of many answers, where it was asked for so
        limit = None if writing.own and body.get("tools") else body.get("max_tokens")
        chosen = claude.fitted(reasoning, limit, MODES, writing.known())
    if chosen.get("mode") == "enabled" and _refused(body) and not writing.keeps("reasoning", "combination"):
        chosen = {name: value for name, value in chosen.items() if name == "effort"}
        code = "combination"
    if chosen is not reasoning:
        claude.report(reasoning, chosen, code, writing.loss)
    thinking: Wire = {}
    if "mode" in chosen:
        thinking["type"] = chosen["mode"]
    for name in ("budget_tokens", "display"):
        if name in chosen:
            thinking[name] = chosen[name]
    if thinking:
        body["thinking"] = thinking
    if "effort" in chosen:
        body["output_config"] = {"effort": chosen["effort"]}
    report_unknown(reasoning, frozenset(claude.MEMBERS), writing.loss, ("reasoning",))


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
