"""
How models did on similar turns, as one number each.

The counts come from whoever keeps them; here they are only weighed. Few samples weigh little, and of two models that
do equally well the cheaper one is ahead by a little.
"""

from collections.abc import Iterable, Mapping
from typing import Any

COST_WEIGHT = 0.05
MIN_CONFIDENCE = 0.05
MIN_SAMPLE = 5
K = 10
_DIGITS = 6  # enough to tell models apart, few enough to be the same in every language


def rank(candidates: Iterable[Mapping[str, Any]], settings: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Models with their scores, the best first; those with too few samples, or no success, are left out.

    A candidate is {"model", "successes", "samples", "cost_usd"}; `settings` is the member `pattern` of a policy.
    """
    least = settings.get("min_sample", MIN_SAMPLE)
    weight = settings.get("cost_weight", COST_WEIGHT)
    known = [item for item in candidates if item["samples"] >= least]
    costs = [float(item.get("cost_usd") or 0) for item in known]
    spread = max(costs, default=0.0) - min(costs, default=0.0)
    scores: list[tuple[str, float]] = []
    for item, cost in zip(known, costs, strict=True):
        success = item["successes"] / (item["samples"] + settings.get("k", K))
        efficiency = (max(costs) - cost) / spread if spread else 0.0
        score = round((1 - weight) * success + weight * efficiency, _DIGITS)
        if item["successes"] > 0:
            scores.append((item["model"], score))
    return sorted(scores, key=lambda scored: (-scored[1], scored[0]))


def confidence(ranked: list[tuple[str, float]]) -> float:
    """How far the best is ahead of the second, as a part of its own score; 1 when it stands alone."""
    best = ranked[0][1]
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    return round((best - second) / best, _DIGITS) if best else 0.0
