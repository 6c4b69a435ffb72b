"""Read and write reasoning settings: the rules for mode, effort, budget and display that several wires share
(spec/2-requests.md)."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from interlingua.adapters._engine.kit import Wire, mapped_severity, report_unknown
from interlingua.adapters._engine.writing import Writing

Reasoning = dict[str, Any]

MEMBERS: Final = ("mode", "effort", "budget_tokens", "display")
_KNOWN: Final = frozenset(MEMBERS)
_MAPPED: Final = "reasoning_mapped"
_IN_TERMS: Final = "reasoning in the terms of the target"


def reasoning_member(member: str) -> Callable[[Any], Reasoning]:
    """Return a function that reads a value of the wire as this member of the reasoning settings."""

    def parse(value: Any) -> Reasoning:
        return {member: value}

    return parse


def level_of(budget: int) -> str:
    """Return the effort that is closest to a budget, for wires without budgets."""
    return "low" if budget <= 2_048 else "medium" if budget <= 16_384 else "high"


def nearest(effort: str, order: Sequence[str], taken: Sequence[str]) -> str | None:
    """Return the strongest accepted effort (`taken`) that is not stronger than `effort`, else the weakest accepted
    one; None if none is accepted. `order` lists all efforts, the weakest first."""
    known = [word for word in order if word in taken]
    weaker = [word for word in known if order.index(word) <= order.index(effort)]
    return weaker[-1] if weaker else known[0] if known else None


def reasoning_writer(
    capability: str, write: Callable[[Reasoning, Wire, Any], tuple[Any, Reasoning]]
) -> Callable[[str, Reasoning, Wire, Any], Any]:
    """Return a writer of reasoning settings that reports how they change. `write` returns the wire's value (None if
    there is none, or if it wrote the value itself) and the settings that this value means. `capability` names the
    capability of models and providers that accept them."""

    def write_settings(name: str, value: Reasoning, body: Wire, writing: Any) -> Any:
        requested = {member: item for member, item in value.items() if item is not None}
        if not requested or _refuses(requested, capability, writing):
            return None
        written, taken = write(requested, body, writing)
        report_members(requested, taken, writing)
        return written

    return write_settings


def report_members(
    before: Reasoning, after: Reasoning, writing: Writing, code: str = _MAPPED, *, mode_counts: bool = False
) -> None:
    """Report how reasoning settings changed, member by member. Unless `mode_counts`, an effort or a budget also means
    that reasoning is on."""
    if before == after:
        return
    mapped = mapped_severity(before, after)
    is_on = not mode_counts and ((after.get("effort") or "none") != "none" or after.get("budget_tokens") is not None)
    for name in MEMBERS:
        requested, given = before.get(name), after.get(name)
        if requested == given:
            continue
        where = ("reasoning", name)
        if given is not None:
            writing.loss.replace(where, given, code, "representation" if requested is None else mapped, _IN_TERMS)
            continue
        severity = "weakened" if name == "display" else mapped
        if name == "mode" and requested in ("enabled", "adaptive") and is_on:
            severity = "representation"
        writing.loss.drop(where, code, severity, f"the target does not accept this {name} of reasoning")
    report_unknown(before, _KNOWN, writing.loss, ("reasoning",))


def _refuses(value: Reasoning, capability: str, writing: Writing) -> bool:
    """Whether the provider or the model does not accept such settings; if so, report it."""
    taken = writing.dialect.get("reasoning_control") != "none"
    if taken and not writing.refuses(capability, "reasoning"):
        return False
    by_provider = not taken or capability in writing.dialect.get("unsupported", ())
    code = "unsupported_field" if by_provider else "unsupported_model"
    severity = "representation" if value.get("mode") == "disabled" else "weakened"
    writing.loss.drop(("reasoning",), code, severity, "the target does not accept reasoning settings")
    return True
