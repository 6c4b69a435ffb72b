"""
What each candidate would cost and lose, before one is chosen.

The router knows no adapters: whoever does passes them in as functions.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from interlingua.canonical.errors import InterlinguaError, LossRefused
from interlingua.canonical.loss import SEVERITIES
from interlingua.canonical.types import TokenEstimate
from interlingua.registry import prices

Request = Mapping[str, Any]
ANSWER_TOKENS = 500
"""How long an answer is taken to be when its likely cost is estimated."""


class Project(Protocol):
    """Writes a request for a model and gives the loss report; raises `InterlinguaError` when it cannot be carried."""

    def __call__(self, request: Any, model: str, /) -> list[Any]: ...


def preview(
    request: Request,
    candidates: Iterable[str],
    project: Project,
    estimate: Callable[[Any, str], TokenEstimate],
    price: Callable[[str], Mapping[str, Any] | None],
    *,
    answer_tokens: int = ANSWER_TOKENS,
) -> list[dict[str, Any]]:
    """One row for each candidate, in order: estimated tokens and cost, the loss report, and its worst severity.

    `estimated_cost_usd` is null when the model is unpriced. Its `low` is the smallest prompt without an answer, `likely`
    the likely prompt with an answer of `answer_tokens`, `high` the largest prompt with an answer of the request's whole
    limit; `high` is null when there is no limit. A candidate that cannot be projected has an `error`.
    """
    limit = request.get("max_output_tokens")
    rows: list[dict[str, Any]] = []
    for model in candidates:
        row: dict[str, Any] = {
            "model": model,
            "estimated_tokens": None,
            "estimated_cost_usd": None,
            "pricing_version": None,
            "loss": [],
            "worst_severity": None,
        }
        try:
            row["estimated_tokens"] = tokens = dict(estimate(request, model))
            rates = price(model)
            row["estimated_cost_usd"] = cost_range(tokens, rates, limit, answer_tokens)
            row["pricing_version"] = rates.get("version") if rates and row["estimated_cost_usd"] else None
            row["loss"] = project(request, model)
        except InterlinguaError as problem:
            row["error"] = problem.to_dict()
            row["loss"] = problem.loss if isinstance(problem, LossRefused) else []
        row["worst_severity"] = worst(row["loss"])
        rows.append(row)
    return rows


def cost_range(
    tokens: Mapping[str, Any], rates: Mapping[str, Any] | None, limit: int | None, answer_tokens: int = ANSWER_TOKENS
) -> dict[str, str | None] | None:
    """What a request may cost in US dollars; None when the model is unpriced."""
    outputs = answer_lengths(limit, answer_tokens)
    amounts: dict[str, str | None] = {}
    for which, output in outputs.items():
        usage = {"input_tokens": tokens[which], "output_tokens": output or 0}
        amount = prices.cost(usage, rates)
        amounts[which] = None if amount is None or output is None else prices.text(amount)
    return amounts if amounts["low"] is not None else None


def answer_lengths(limit: int | None, answer_tokens: int = ANSWER_TOKENS) -> dict[str, int | None]:
    """How long an answer is taken to be for each of the three estimates; None when nothing limits it."""
    return {"low": 0, "likely": min(answer_tokens, limit or answer_tokens), "high": limit}


def worst(loss: Iterable[Mapping[str, Any]]) -> str | None:
    """The gravest severity of a loss report; None when it is empty."""
    found = [SEVERITIES.index(entry["severity"]) for entry in loss]
    return SEVERITIES[max(found)] if found else None
