"""
The results of models on similar turns, as one score for each.

The caller keeps the counts; this module only weighs them. Few samples weigh little. Of two models with equal results
the cheaper one has a slightly higher score.
"""

from collections.abc import Iterable, Mapping
from typing import Any

COST_WEIGHT = 0.05
MIN_CONFIDENCE = 0.05
MIN_SAMPLE = 5
K = 10
_DIGITS = 6  # enough to distinguish models, few enough to be equal in every language


def rank(candidates: Iterable[Mapping[str, Any]], settings: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The models with their scores, the best first. Those with too few samples or no success are left out.

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
    """The distance of the best from the second, as a share of its own score; 1 when it is the only one."""
    best = ranked[0][1]
    second = ranked[1][1] if len(ranked) > 1 else 0.0
    return round((best - second) / best, _DIGITS) if best else 0.0
