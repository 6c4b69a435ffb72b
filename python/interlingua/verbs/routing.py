"""Route over gRPC: the input of a decision from a message, and the decision and its candidates as messages."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client.routing import Routing
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import adapting, convert

Data = dict[str, Any]

_SLOTS = {
    "per_message_override": service.ROUTE_SLOT_OVERRIDE,
    "manual_sticky": service.ROUTE_SLOT_MANUAL,
    "rule": service.ROUTE_SLOT_RULE,
    "pattern": service.ROUTE_SLOT_PATTERN,
    "delegate_request": service.ROUTE_SLOT_DELEGATE,
    "workspace_default": service.ROUTE_SLOT_WORKSPACE_DEFAULT,
    "global_default": service.ROUTE_SLOT_GLOBAL_DEFAULT,
}
_VERDICTS = {
    "not_applicable": service.VERDICT_NOT_APPLICABLE,
    "deferred": service.VERDICT_DEFERRED,
    "rejected": service.VERDICT_REJECTED,
    "chose": service.VERDICT_CHOSE,
}
_MODES = {
    "override": types.ROUTING_MODE_OVERRIDE,
    "manual": types.ROUTING_MODE_MANUAL,
    "rule": types.ROUTING_MODE_RULE,
    "pattern": types.ROUTING_MODE_PATTERN,
    "delegate": types.ROUTING_MODE_DELEGATE,
    "default": types.ROUTING_MODE_DEFAULT,
}
_SEVERITIES = {
    "representation": types.LOSS_SEVERITY_REPRESENTATION,
    "weakened": types.LOSS_SEVERITY_WEAKENED,
    "lost": types.LOSS_SEVERITY_LOST,
}


def route(request: service.RouteRequest, routing: Routing, health: Data | None = None) -> service.RouteResponse:
    """Return the decision for a conversation; `health` is the server's. Raises `NoCandidate` and `InvalidRequest`."""
    conversation = adapting.conversation(request)
    decision = routing.decide(
        conversation,
        target=request.target or None,
        context=optional_object(request.context_json, "context_json"),
        policy=optional_object(request.policy_json, "policy_json"),
        catalog=optional_object(request.registry_json, "registry_json"),
        health=optional_object(request.health_json, "health_json") if request.health_json else health,
        now=_moment(request),
    )
    rows = routing.candidates(conversation, decision) if request.with_candidates else []
    return service.RouteResponse(
        decision=decision_message(decision),
        decision_json=json.dumps_sorted(decision).decode(),
        candidates=[candidate_message(row) for row in rows],
    )


def optional_object(text: str, name: str) -> Data | None:
    """Return the JSON object in a field; None when the field is empty. Raises `InvalidRequest`."""
    if not text:
        return None
    try:
        value = json.loads(text)
    except InvalidRequest as problem:
        raise InvalidRequest(problem.message, path=f"/{name}{problem.path or ''}") from None
    if not isinstance(value, dict):
        raise InvalidRequest("must be a JSON object", path=f"/{name}")
    return value


def decision_message(decision: Mapping[str, Any]) -> service.RouteDecision:
    """Return a decision as a message."""
    record = decision["record"]
    return service.RouteDecision(
        chosen_model=decision["chosen_model"],
        mode=_MODES[record["mode"]],
        reason=record["reason"],
        fallbacks=decision["targets"][1:],
        chain=[_verdict(entry) for entry in decision["chain"]],
    )


def _verdict(entry: Mapping[str, Any]) -> service.SlotVerdict:
    return service.SlotVerdict(
        slot=_SLOTS[entry["policy"]],
        verdict=_VERDICTS[entry["verdict"]],
        candidate_model=entry["candidate_model"] or "",
        reason=entry["reason"],
        validation_failure=entry.get("validation_failure") or "",
        rule_name=entry.get("rule_name") or "",
        confidence=entry.get("confidence"),
    )


def candidate_message(row: Mapping[str, Any]) -> service.RouteCandidate:
    """Return the loss, tokens and cost of a candidate model for a conversation, as a message."""
    error = row.get("error")
    message = service.RouteCandidate(
        model=row["model"],
        rejection=row.get("rejection") or (error["category"] if error else ""),
        cost=cost_message(row["estimated_cost_usd"], row["pricing_version"]),
        loss=[convert.to_proto(types.LossEntry, entry) for entry in row["loss"]],
        worst_loss=_SEVERITIES.get(row["worst_severity"], types.LOSS_SEVERITY_UNSPECIFIED),
    )
    if row["estimated_tokens"] is not None:
        message.tokens.CopyFrom(convert.to_proto(types.TokenEstimate, row["estimated_tokens"]))
    return message


def cost_message(amounts: Mapping[str, str | None] | None, version: str | None) -> service.CostEstimate | None:
    """Return amounts of money as a message; None when they are unpriced. An amount without a limit is left empty."""
    if amounts is None:
        return None
    return service.CostEstimate(
        low_usd=amounts["low"] or "",
        likely_usd=amounts["likely"] or "",
        high_usd=amounts["high"] or "",
        pricing_version=version or "",
    )


def _moment(request: service.RouteRequest) -> str:
    if not request.HasField("now"):
        return datetime.now(UTC).isoformat().replace("+00:00", "Z")
    try:
        return request.now.ToDatetime(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        raise InvalidRequest("must be a time between the years 1 and 9999", path="/now") from None
