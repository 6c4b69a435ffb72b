"""Wishes for reasoning, both ways: what several wires share of mode, effort, budget and display (spec/2-requests.md)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from interlingua.adapters._engine.kit import mapped_severity, report_unknown
from interlingua.adapters._engine.writing import Writing

Reasoning = dict[str, Any]

MEMBERS: Final = ("mode", "effort", "budget_tokens", "display")
_KNOWN: Final = frozenset(MEMBERS)
_MAPPED: Final = "reasoning_mapped"
_IN_TERMS: Final = "reasoning in the target's terms"


def wish(member: str) -> Callable[[Any], Reasoning]:
    """Reads a value of the wire that is this member of a wish."""

    def parse(value: Any) -> Reasoning:
        return {member: value}

    return parse


def asked(value: Reasoning) -> Reasoning:
    """The members of a wish that are not null."""
    return {name: item for name, item in value.items() if item is not None}


def level_of(budget: int) -> str:
    """The effort that a budget comes closest to, on wires without budgets."""
    return "low" if budget <= 2_048 else "medium" if budget <= 16_384 else "high"


def nearest(effort: str, order: Sequence[str], taken: Sequence[str]) -> str | None:
    """The strongest of the words that are taken which asks for no more, else the weakest; None where none is taken.
    `order` has all words, the weakest first."""
    known = [word for word in order if word in taken]
    weaker = [word for word in known if order.index(word) <= order.index(effort)]
    return weaker[-1] if weaker else known[0] if known else None


def report_members(
    before: Reasoning, after: Reasoning, writing: Writing, code: str = _MAPPED, *, mode_counts: bool = True
) -> None:
    """Reports what became of a wish, member by member. Not `mode_counts`: that reasoning is on goes without saying."""
    if before == after:
        return
    mapped = mapped_severity(before, after)
    for name in MEMBERS:
        wished, given = before.get(name), after.get(name)
        if wished == given:
            continue
        where = ("reasoning", name)
        if given is not None:
            writing.loss.replace(where, given, code, "representation" if wished is None else mapped, _IN_TERMS)
            continue
        severity = "weakened" if name == "display" else mapped
        if name == "mode" and wished in ("enabled", "adaptive") and not mode_counts:
            severity = "representation"
        writing.loss.drop(where, code, severity, f"the target does not take this {name} of reasoning")
    report_unknown(before, _KNOWN, writing.loss, ("reasoning",))


def report_wish(before: Reasoning, after: Mapping[str, Any], writing: Writing) -> None:
    """Reports what became of a wish as a whole: `after` is how it will be read."""
    if after == before:
        return
    if after:
        message = "reasoning is asked for in the target's terms"
        writing.loss.replace(("reasoning",), after, _MAPPED, mapped_severity(before, after), message)
    else:
        message = "the target has no such setting of reasoning; ask for an effort"
        writing.loss.drop(("reasoning",), _MAPPED, "weakened", message)


def refuses_reasoning(value: Reasoning, capability: str, writing: Writing) -> bool:
    """Whether the provider or the model takes no such settings, which is reported."""
    if not writing.refuses(capability, "reasoning"):
        return False
    code = "unsupported_field" if capability in writing.dialect.get("unsupported", ()) else "unsupported_model"
    severity = "representation" if value.get("mode") == "disabled" else "weakened"
    writing.loss.drop(("reasoning",), code, severity, "the target takes no reasoning settings")
    return True
