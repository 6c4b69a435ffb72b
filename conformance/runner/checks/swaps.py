"""A conversation that goes on at another adapter and comes back."""

from __future__ import annotations

import json
from typing import Any

from runner.cases import Case
from runner.session import Failure, Session

from .asking import Note, canonical_request, read_request, read_response, same, to_wire
from .requests import loss_law


def state_of(message: dict[str, Any]) -> dict[str, Any]:
    return {name: message[name] for name in ("provider_state", "name") if name in message}


def results_for(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A result for each call that has none yet, then a user's turn."""
    calls = [block for message in messages for block in message.get("content", []) if block.get("type") == "tool_use"]
    answered = {
        block.get("tool_use_id")
        for message in messages
        for block in message.get("content", [])
        if block.get("type") == "tool_result"
    }
    text = [{"type": "text", "text": "done"}]
    results = [
        {
            "role": "tool",
            "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": text}],
            "metadata": {"parent_tool_use_id": call["id"]},
        }
        for call in calls
        if call["id"] not in answered
    ]
    return [*results, {"role": "user", "content": [{"type": "text", "text": "Go on."}]}]


def check_swap(session: Session, case: Case, adapter: str, answers: list[Case]) -> Note:
    """The conversation goes on at another adapter and comes back: its own turns unchanged, every call still answered."""
    request = canonical_request(session, case)
    messages = list(request["messages"])
    if messages and messages[-1].get("role") == "assistant":
        messages += results_for(messages)
    there = {**request, "messages": messages}
    foreign = _foreign_answer(session, adapter, answers)
    back = {**request, "messages": [*messages, foreign, *results_for([foreign])]}
    loss_law(session, case, {**there, "model": None} if request.get("model") is None else there, adapter)
    before, _ = to_wire(session, case, there)
    after, _ = to_wire(session, case, back)
    assert case.adapter is not None
    loss_law(session, case, back, case.adapter)
    _same_prefix(case, before, after)
    _calls_answered(read_request(session, case, after))
    return None


def _foreign_answer(session: Session, adapter: str, answers: list[Case]) -> dict[str, Any]:
    """An answer of the other adapter, one with a tool call if there is one."""
    fallback: dict[str, Any] | None = None
    for other in answers:
        message = read_response(session, other, other.value("response.wire.json"))["message"]
        turn = {"role": "assistant", "content": message["content"], **state_of(message)}
        kinds = [block.get("type") for block in message["content"]]
        if "tool_use" in kinds:
            return turn
        if fallback is None and "text" in kinds:
            fallback = turn
    if fallback is None:
        raise Failure(f"the suite holds no answer of {adapter} to go on with")
    return fallback


_TURNS = ("messages", "contents", "input")


def _same_prefix(case: Case, before: dict[str, Any], after: dict[str, Any]) -> None:
    """All but the last turn are written as before: what comes later may not change what the provider wrote."""
    name = next((name for name in _TURNS if isinstance(before["body"].get(name), list)), "messages")
    one, two = before["body"].get(name), after["body"].get(name)
    if not isinstance(one, list) or not isinstance(two, list):
        return
    told = "an earlier turn is written otherwise after the swap"
    same(one[:-1], two[: max(len(one) - 1, 0)], told, case.comparators("swap"))


def _calls_answered(request: dict[str, Any]) -> None:
    pending: dict[str, str] = {}
    items: list[str] = []  # of a provider: a result may answer one of them (spec/6-loss.md#provider-calls)
    for number, message in enumerate(request.get("messages", [])):
        for block in message.get("content", []):
            if block.get("type") == "tool_use":
                pending[block["id"]] = f"/messages/{number}"
            elif block.get("type") == "opaque":
                items.append(json.dumps(block.get("value")))
            elif block.get("type") == "tool_result" and pending.pop(block["tool_use_id"], None) is None:
                own = json.dumps((block.get("provider_state") or {}).get("id"))
                if not any(own in item for item in items):
                    raise Failure(f"/messages/{number}: a result whose call is not there")
    if pending:
        raise Failure(f"{next(iter(pending.values()))}: a call has lost its result")
