"""Routing: the golden decision, and that nothing but the input has an influence."""

from __future__ import annotations

from typing import Any

from runner.cases import Case
from runner.compare import dumps
from runner.session import Refused, Session

from .asking import Note, same


def check_route(session: Session, case: Case) -> Note:
    """The golden decision, and the same one when asked again."""
    golden = case.value("route.decision.json")
    for _ in range(2):
        same(
            without_prose(golden),
            without_prose(_route(session, case.value("route.input.json"))),
            "",
            case.comparators("decision"),
        )
    return None


def check_route_order(session: Session, case: Case) -> Note:
    """The order of members, of the catalog above all, has no influence."""
    turned = _reversed_members(case.value("route.input.json"))
    same(
        without_prose(case.value("route.decision.json")),
        without_prose(_route(session, turned)),
        "",
        case.comparators("decision"),
    )
    return None


def check_route_second(session: Session, case: Case) -> Note:
    """When the winner is in cooldown, the next target takes its place."""
    golden, given = case.value("route.decision.json"), case.value("route.input.json")
    winner, second = golden["targets"][:2]
    health = given.get("health") or {}
    marks = {**(health.get("models") or {}), winner: {"until": None, "reason": "failures"}}
    decision = _route(session, {**given, "health": {"providers": {}, **health, "models": marks}})
    same(second, decision.get("chosen_model"), f"{winner} is in cooldown")
    return None


def check_policy_row(session: Session, case: Case) -> Note:
    """Each turn is routed by what the policy's file says by then, or said last when it says nothing sound."""
    assert case.row is not None
    with session.policy_file() as file:
        for number, turn in enumerate(case.row["turns"]):
            if turn.get("gone"):
                file.unlink()
            else:
                file.write_text(turn["text"] if "text" in turn else dumps(turn["policy"]), "utf-8")
            decision = session.ask_anew("route_by_file", None, {**case.row["input"], "policy_file": str(file)})
            same(turn["chosen_model"], decision.get("chosen_model"), f"turn {number + 1}")
    return None


def _reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed_members(item) for name, item in reversed(value.items())}
    return [_reversed_members(item) for item in value] if isinstance(value, list) else value


def _route(session: Session, input: Any) -> dict[str, Any]:
    try:
        return session.ask_anew("route", None, input)
    except Refused as refused:
        return {"error": {"category": refused.error["category"]}}


# `reason` is a sentence for a person; the machine words stand in `verdict`, `validation_failure` and the like.
_PROSE = ("message", "reason")


def without_prose(value: Any) -> Any:
    """A decision without texts for people."""
    if isinstance(value, dict):
        return {name: without_prose(item) for name, item in value.items() if name not in _PROSE}
    return [without_prose(item) for item in value] if isinstance(value, list) else value
