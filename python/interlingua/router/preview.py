"""
What each candidate would cost and lose, before one is chosen.

The router knows no adapters: its caller passes them in as functions.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from interlingua.canonical.errors import InterlinguaError, LossRefused
from interlingua.canonical.loss import SEVERITIES
from interlingua.canonical.types import TokenEstimate
from interlingua.registry import prices

Request = Mapping[str, Any]
ANSWER_TOKENS = 500
"""The assumed length of an answer, in tokens, for the estimate of its likely cost."""


class Project(Protocol):
    """Write a request for a model and return the loss report. Raises `InterlinguaError` when that is not possible."""

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

    `estimated_cost_usd` is null when the model has no known price. Its `low` is the smallest prompt without an answer,
    `likely` the likely prompt with an answer of `answer_tokens`, `high` the largest prompt with an answer up to the
    limit of the request; `high` is null when there is no limit. A candidate that the request cannot be written for has
    an `error`.
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
    """The possible cost of a request in US dollars; None when the price of the model is not known."""
    outputs = answer_lengths(limit, answer_tokens)
    amounts: dict[str, str | None] = {}
    for which, output in outputs.items():
        usage = {"input_tokens": tokens[which], "output_tokens": output or 0}
        amount = prices.cost(usage, rates)
        amounts[which] = None if amount is None or output is None else prices.text(amount)
    return amounts if amounts["low"] is not None else None


def answer_lengths(limit: int | None, answer_tokens: int = ANSWER_TOKENS) -> dict[str, int | None]:
    """The assumed length of an answer, in tokens, for each of the three estimates; None when it has no limit."""
    return {"low": 0, "likely": min(answer_tokens, limit or answer_tokens), "high": limit}


def worst(loss: Iterable[Mapping[str, Any]]) -> str | None:
    """The worst severity in a loss report; None when it is empty."""
    ranks = [SEVERITIES.index(entry["severity"]) for entry in loss]
    return SEVERITIES[max(ranks)] if ranks else None
