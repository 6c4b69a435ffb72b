"""How much the model may think, as this wire says it."""

from typing import Any

from interlingua.adapters._claude import reasoning as claude
from interlingua.adapters._kit import Wire, report_unknown
from interlingua.adapters.anthropic_messages.tables import MODES, Writing


def reasoning_to_wire(request: dict[str, Any], body: Wire, writing: Writing) -> None:
    """Writes `thinking` and `output_config.effort`; what is fitted to the model or the request is reported."""
    reasoning: dict[str, Any] | None = request.get("reasoning")
    if not reasoning:
        return
    chosen = reasoning
    code = "reasoning_mapped"
    if not writing.keeps_reasoning(bool(body.get("tools"))):
        # between tools reasoning has the budget of many answers, where it was asked for so
        most = writing.known("reasoning").get("max_output_tokens")
        limit = None if writing.same_origin and body.get("tools") else body.get("max_tokens", most)
        chosen = claude.fitted(reasoning, limit, MODES, writing.known("reasoning"))
    forced = body.get("tool_choice", {}).get("type") in ("any", "tool")
    refused = chosen.get("mode") == "enabled" and claude.refuses_budget(forced, body["messages"])
    if refused and not writing.had_quirk("reasoning", "combination"):
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
