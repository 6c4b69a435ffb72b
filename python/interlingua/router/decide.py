"""
The decision: seven slots in fixed order. The first candidate that can serve the turn wins.

Strategy: each slot proposes targets and knows nothing of the others. All proposals are expanded into candidates, and
every candidate is checked, also those after the winner, so that the report is complete. Only then is the first one that
can serve chosen. Inputs and outputs are plain data: the same input gives the same output, also in a replay.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from typing import Any

from interlingua.canonical.errors import InvalidRequest, NoCandidate, OriginInCooldown
from interlingua.registry import names
from interlingua.router import capable, patterns, rules, state
from interlingua.router.health import AUTHENTICATION, COUNTED

Turn = Mapping[str, Any]
Policy = Mapping[str, Any]
Decision = dict[str, Any]

MODES = {
    "per_message_override": "override",
    "manual_sticky": "manual",
    "rule": "rule",
    "pattern": "pattern",
    "delegate_request": "delegate",
    "workspace_default": "default",
    "global_default": "default",
}
"""The mode in the record of a message, for each slot."""

SLOTS = tuple(MODES)
"""The seven slots, in the order in which their proposals are considered."""

MANUAL_REASON = "user swap via /model command"


@dataclass(frozen=True, slots=True)
class Proposal:
    """The target that a slot proposes, and why. `single`: one model only. `firm` is false when it is deferred."""

    spec: str | None
    reason: str
    single: bool = False
    firm: bool = True
    rule_name: str | None = None
    confidence: float | None = None
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model of a proposal, or a target that names none, and all reasons against it.

    `missing` states what its provider lacks so that it can be called, where the catalogue states it.
    """

    slot: str
    proposal: Proposal
    model: str | None
    failures: tuple[str, ...]
    missing: str = ""

    @property
    def serves(self) -> bool:
        """Whether it can serve the turn and is not deferred."""
        return not self.failures and self.proposal.firm


def decide(
    turn: Turn,
    catalog: Mapping[str, Any],
    policy: Policy,
    health: Mapping[str, Any] | None = None,
    now: str | datetime = "1970-01-01T00:00:00Z",
) -> Decision:
    """Choose the model for a turn.

    `turn` holds the facts (`facts.turn`), `catalog` the registry (`registry.snapshot`), `policy` rules and defaults,
    `health` the models and providers in cooldown (`Health.snapshot`), `now` the time as RFC 3339 text.
    Raises `NoCandidate` with the whole chain when no model can serve; `OriginInCooldown` when the policy pins state and
    only a cooldown speaks against the candidates at its origin; `InvalidRequest` when the override of the message
    names no known model or alias.
    """
    at = capable.moment(now)
    aliases = {**catalog.get("aliases", {}), **policy.get("aliases", {})}
    if turn.get("override"):
        _check_override(turn, catalog, aliases, policy)
    checked: dict[str, tuple[str, ...]] = {}
    pinned = state.pinned(turn, policy, catalog)

    def check(model: str) -> tuple[str, ...]:
        if model not in checked:
            reasons = capable.failures(turn, model, catalog, health or {}, at)
            checked[model] = (*reasons, *state.against(model, pinned, catalog))
        return checked[model]

    current = turn.get("turn_model") if policy.get("turn_lock") else None
    candidates: list[Candidate] = []
    for slot in SLOTS:
        for proposal in _PROPOSERS[slot](turn, policy, at):
            candidates += _candidates(slot, proposal, catalog, aliases, check, current)
    if pinned is not None and not any(candidate.serves for candidate in candidates):
        _raise_if_origin_in_cooldown(candidates, health or {}, at)
    return _decision(turn, candidates)


# ------------------------------------------------------------------------------------------------ what slots propose


def _override(turn: Turn, policy: Policy, _: datetime) -> Iterator[Proposal]:
    if word := turn.get("override"):
        yield Proposal(word, f"per-message override @{word}", single=not policy.get("chains"))


def _sticky(turn: Turn, _: Policy, __: datetime) -> Iterator[Proposal]:
    if spec := turn.get("sticky"):
        yield Proposal(spec, MANUAL_REASON)


def _rule(turn: Turn, policy: Policy, now: datetime) -> Iterator[Proposal]:
    for scope in ("workspace", "global"):
        for position, rule in enumerate(policy.get(scope, {}).get("rules", ())):
            if rules.holds(rule.get("when", {}), turn, now):
                name = rule.get("name") or f"rule_{position}"
                yield Proposal(
                    _spec(rule.get("use"), policy), f"rule {name}", single=not policy.get("chains"), rule_name=name
                )


def _pattern(turn: Turn, policy: Policy, _: datetime) -> Iterator[Proposal]:
    settings = policy.get("pattern", {})
    ranked = patterns.rank((turn.get("pattern") or {}).get("candidates") or [], settings)
    if not ranked:
        return
    confidence = patterns.confidence(ranked)
    enough = confidence >= settings.get("min_confidence", patterns.MIN_CONFIDENCE)
    yield Proposal(
        ranked[0][0],
        "did well on similar turns" if enough else "confidence too small",
        single=True,
        firm=enough,
        confidence=confidence,
        alternatives=tuple(model for model, _ in ranked[1:]),
    )


def _delegate(turn: Turn, policy: Policy, _: datetime) -> Iterator[Proposal]:
    if delegate := turn.get("delegate"):
        target = delegate.get("model") or f"tier {delegate.get('tier')}"
        yield Proposal(_spec(delegate.get("model") or delegate, policy), f"delegated to {target}")


def _default(scope: str) -> Callable[[Turn, Policy, datetime], Iterator[Proposal]]:
    def propose(_: Turn, policy: Policy, __: datetime) -> Iterator[Proposal]:
        if spec := policy.get(scope, {}).get("default"):
            yield Proposal(_spec(spec, policy), f"{scope} default")

    return propose


_PROPOSERS: dict[str, Callable[[Turn, Policy, datetime], Iterator[Proposal]]] = {
    "per_message_override": _override,
    "manual_sticky": _sticky,
    "rule": _rule,
    "pattern": _pattern,
    "delegate_request": _delegate,
    "workspace_default": _default("workspace"),
    "global_default": _default("global"),
}


def _spec(use: Any, policy: Policy) -> str | None:
    """The spec of a target, which is a spec or a tier.

    The tiers of the workspace replace those of the installation as a whole.
    """
    if not isinstance(use, Mapping):
        return use if isinstance(use, str) else None
    tiers = policy.get("workspace", {}).get("tiers") or policy.get("global", {}).get("tiers") or {}
    return tiers.get(use.get("tier"))


# ------------------------------------------------------------------------------------------------ candidates


def _candidates(
    slot: str,
    proposal: Proposal,
    catalog: Mapping[str, Any],
    aliases: Mapping[str, str],
    check: Callable[[str], tuple[str, ...]],
    current: str | None,
) -> list[Candidate]:
    if proposal.spec is None:
        return [Candidate(slot, proposal, None, ("unknown_target",))]
    try:
        targets = names.expand(proposal.spec, aliases, catalog["providers"].__contains__)
    except InvalidRequest:
        return [Candidate(slot, proposal, proposal.spec, ("unknown_target",))]
    if proposal.single and len(targets) > 1:
        return [Candidate(slot, proposal, proposal.spec, ("chain_not_allowed",))]
    return [
        Candidate(slot, proposal, model, check(model), capable.missing(model.partition(":")[0], catalog))
        for model in state.in_turn_order([str(target) for target in targets], current)
    ]


def _check_override(turn: Turn, catalog: Mapping[str, Any], aliases: Mapping[str, str], policy: Policy) -> None:
    """Raise `InvalidRequest` for an override that names no known model; it never falls through to another slot."""
    word: str = turn["override"]
    path = (turn.get("strip") or {}).get("path")
    try:
        targets = names.expand(word, aliases, catalog["providers"].__contains__)
    except InvalidRequest:
        known = ", ".join(f"@{alias}" for alias in sorted(aliases)) or "none"
        raise InvalidRequest(
            f"@{word} is not a known alias or model; the aliases are {known}. Write \\@ for a plain @", path=path
        ) from None
    if not policy.get("chains"):
        names.only_one(f"@{word}", targets, path)


# ------------------------------------------------------------------------------------------------ the report


def _raise_if_origin_in_cooldown(candidates: list[Candidate], health: Mapping[str, Any], now: datetime) -> None:
    """Raise the origin's own error when only a cooldown speaks against a candidate: it is then at the origin.

    The error is that of the candidate whose cooldown ends first. A model that is benched until it is called back has a
    cooldown without an end.
    """
    in_cooldown: list[tuple[float, str, Mapping[str, Any]]] = []
    for candidate in candidates:
        if candidate.model is not None and candidate.proposal.firm and candidate.failures == ("provider_unavailable",):
            marks = capable.cooldowns(candidate.model, health, now)
            mark = max(marks, key=lambda mark: _wait(mark, now))
            in_cooldown.append((_wait(mark, now), candidate.model, mark))
    if not in_cooldown:
        return
    wait, model, mark = min(in_cooldown, key=lambda item: item[0])
    category = mark.get("category", "overloaded")
    category = category if category in COUNTED or category in AUTHENTICATION else "other"
    error: dict[str, Any] = {
        "category": category,
        "message": f"{model} is in cooldown, and the policy keeps the conversation's state there; "
        "no other model is tried",
        "retryable": category not in AUTHENTICATION,
        "provider": model.partition(":")[0],
    }
    if wait != inf:
        error["retry_after"] = wait
    raise OriginInCooldown(error, _entries(candidates, None))


def _wait(mark: Mapping[str, Any], now: datetime) -> float:
    return inf if mark.get("until") is None else (capable.moment(mark["until"]) - now).total_seconds()


def _decision(turn: Turn, candidates: list[Candidate]) -> Decision:
    winner = next((position for position, candidate in enumerate(candidates) if candidate.serves), None)
    entries = _entries(candidates, winner)
    if winner is None:
        raise NoCandidate(_no_candidate(candidates), entries)
    won = candidates[winner]
    winner_index = next(position for position, entry in enumerate(entries) if entry["verdict"] == "chose")
    chain = entries[: winner_index + 1]
    passed_over = [c.model for c in candidates[:winner] if c.model is not None and c.model != won.model]
    fallbacks = [c.model for c in candidates[winner + 1 :] if c.proposal is won.proposal and not c.failures]
    return {
        "chosen_model": won.model,
        "policy": won.slot,
        "winner_index": winner_index,
        "targets": [won.model, *fallbacks],
        "record": {
            "mode": MODES[won.slot],
            "chosen_model": won.model,
            "reason": won.proposal.reason,
            "rule_name": won.proposal.rule_name,
            "confidence": won.proposal.confidence,
            "alternatives_considered": list(dict.fromkeys(passed_over)),
        },
        "chain": chain,
        "slots": _slots(candidates, winner),
        "strip": turn.get("strip"),
    }


def _first_reason(candidate: Candidate) -> str:
    reason = candidate.failures[0] if candidate.failures else "confidence too small"
    return f"{reason}: {candidate.missing}" if reason == "not_configured" and candidate.missing else reason


def _verdict(candidate: Candidate, *, won: bool) -> str:
    if candidate.failures:
        return "rejected"
    return "chose" if won else "deferred"


def _entries(candidates: list[Candidate], winner: int | None) -> list[dict[str, Any]]:
    """One entry for each candidate in order, and one for each slot without candidates."""
    entries: list[dict[str, Any]] = []
    for slot in SLOTS:
        here = [(position, candidate) for position, candidate in enumerate(candidates) if candidate.slot == slot]
        entries += [_entry(candidate, _verdict(candidate, won=position == winner)) for position, candidate in here]
        if not here:
            entries.append(_nothing_set(slot))
    return entries


def _entry(candidate: Candidate, verdict: str) -> dict[str, Any]:
    proposal = candidate.proposal
    entry: dict[str, Any] = {
        "policy": candidate.slot,
        "verdict": verdict,
        "candidate_model": candidate.model,
        "reason": proposal.reason,
    }
    if proposal.rule_name is not None:
        entry["rule_name"] = proposal.rule_name
    if proposal.confidence is not None:
        entry["confidence"] = proposal.confidence
        entry["pattern_alternatives"] = list(proposal.alternatives)
    if candidate.failures:
        entry["validation_failure"] = candidate.failures[0]
        if candidate.missing and candidate.failures[0] == "not_configured":
            entry["missing"] = candidate.missing
    return entry


def named_chain(models: Sequence[str], left: Sequence[str], reason: str) -> list[dict[str, Any]]:
    """The chain of a call whose caller named the models; `left` are those of them that may be tried.

    It is the chain of `manual_sticky` up to the first model that is left. If none is left, it has all models.
    """
    chain: list[dict[str, Any]] = [_nothing_set("per_message_override")]
    for model in models:
        entry: dict[str, Any] = {"policy": "manual_sticky", "verdict": "chose", "candidate_model": model}
        entry["reason"] = reason
        chain.append(entry)
        if model in left:
            return chain
        entry["verdict"] = "rejected"
        entry["validation_failure"] = state.PINNED
    return chain + [_nothing_set(slot) for slot in SLOTS[2:]]


def _nothing_set(slot: str) -> dict[str, Any]:
    return {"policy": slot, "verdict": "not_applicable", "candidate_model": None, "reason": "nothing set"}


def _slots(candidates: list[Candidate], winner: int) -> list[dict[str, Any]]:
    """All seven slots, each with its verdict and the verdicts of all its candidates, also those after the winner."""
    slots: list[dict[str, Any]] = []
    for slot in SLOTS:
        here: list[dict[str, Any]] = [
            {
                "model": candidate.model,
                "verdict": _verdict(candidate, won=position == winner),
                "failures": list(candidate.failures),
            }
            for position, candidate in enumerate(candidates)
            if candidate.slot == slot
        ]
        verdicts = {item["verdict"] for item in here}
        verdict = next((word for word in ("chose", "deferred", "rejected") if word in verdicts), "not_applicable")
        slots.append({"policy": slot, "verdict": verdict, "candidates": here})
    return slots


def _no_candidate(candidates: list[Candidate]) -> str:
    tried = {c.model or "no model": _first_reason(c) for c in candidates}
    if not tried:
        return "no model can serve the turn: the policy names none; set a default, or name a model"
    listed = ", ".join(f"{model} ({reason})" for model, reason in tried.items())
    return f"no model can serve the turn; tried: {listed}"
