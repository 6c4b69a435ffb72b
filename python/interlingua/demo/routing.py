"""Part (b): which model takes the next turn of that conversation, and what a swap would cost."""

import json
from typing import Any

from rich.console import Console

from interlingua import show
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub

POLICY = {
    "version": 1,
    "chains": True,
    "aliases": {"careful": "replay:claude-opus-4-8,replay:gpt-5.4"},
    "workspace": {
        "rules": [
            {
                "name": "short turns stay in the house",
                "when": {"estimated_input_tokens_lt": 5000},
                "use": "ollama:llama-3.3-70b",
            }
        ]
    },
    "global": {"default": "careful,replay:gpt-4.1"},
}


def play(console: Console, stub: InterlinguaServiceStub, conversation: dict[str, Any]) -> None:
    """Routes and prints the chain of verdicts and the swap preview."""
    unnamed = {name: value for name, value in conversation.items() if name != "model"}
    request = service.RouteRequest(
        request_json=json.dumps(unnamed), policy_json=json.dumps(POLICY), with_candidates=True
    )
    answer = stub.Route(request)
    console.print(show.decision(json.loads(answer.decision_json)))
    console.print("What each candidate would take, cost and lose of this conversation, before any is asked:")
    console.print(show.candidates([_row(candidate) for candidate in answer.candidates]))


def _row(candidate: service.RouteCandidate) -> dict[str, Any]:
    tokens, cost = candidate.tokens, candidate.cost
    severities = {number: word.removeprefix("LOSS_SEVERITY_").lower() for word, number in types.LossSeverity.items()}
    return {
        "model": candidate.model,
        "estimated_tokens": {"low": tokens.low, "high": tokens.high} if candidate.HasField("tokens") else None,
        "estimated_cost_usd": {"likely": cost.likely_usd} if candidate.HasField("cost") else None,
        "loss": [{"severity": severities[entry.severity]} for entry in candidate.loss],
        "rejection": candidate.rejection,
    }
