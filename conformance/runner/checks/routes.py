"""Routing: the golden decision, and that nothing but the input has an influence."""

from __future__ import annotations

from typing import Any

from runner.cases import Case
from runner.session import Failure, Session

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
    """When the winner rests, the next target takes its place."""
    golden, given = case.value("route.decision.json"), case.value("route.input.json")
    winner, second = golden["targets"][:2]
    health = given.get("health") or {}
    resting = {**(health.get("models") or {}), winner: {"until": None, "reason": "failures"}}
    decision = _route(session, {**given, "health": {"providers": {}, **health, "models": resting}})
    same(second, decision.get("chosen_model"), f"{winner} rests")
    return None


def _reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed_members(item) for name, item in reversed(value.items())}
    return [_reversed_members(item) for item in value] if isinstance(value, list) else value


def _route(session: Session, input: Any) -> dict[str, Any]:
    answer = session.plug.call("route", None, input)
    if answer.unsupported:
        raise Failure("false advertising: route is claimed in hello and answers unsupported")
    return answer.output if answer.error is None else {"error": {"category": answer.error["category"]}}


# `reason` is a sentence for a person; the machine words stand in `verdict`, `validation_failure` and the like.
_PROSE = ("message", "reason")


def without_prose(value: Any) -> Any:
    """A decision without texts for people."""
    if isinstance(value, dict):
        return {name: without_prose(item) for name, item in value.items() if name not in _PROSE}
    return [without_prose(item) for item in value] if isinstance(value, list) else value
