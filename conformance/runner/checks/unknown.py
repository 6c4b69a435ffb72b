"""What providers will add one day: unknown members, blocks, events and deltas, planted in sound values."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from runner import frames
from runner.cases import Case
from runner.compare import MISSING, equal, get, loads, parse_pointer, strings, visible_events, visible_response
from runner.session import Failure, Session

from .asking import PLANTED, Note, flat, read_response, read_stream, same, valid, without_state
from .requests import fixpoint
from .streams import stream_data, whole_events


def plant(value: Any, pointer: str, planted: Any) -> Any | None:
    """A copy with something added at a pointer; None when the place is not there."""
    copy = deepcopy(value)
    steps = parse_pointer(pointer)
    parent = copy
    for step in steps[:-1]:
        parent = get(parent, "/" + step.replace("~", "~0").replace("/", "~1"))
    if isinstance(parent, list) and steps[-1] == "-":
        parent.append(deepcopy(planted))
    elif isinstance(parent, dict):
        parent[steps[-1]] = deepcopy(planted)
    else:
        return None
    return copy


def check_unknown_response(session: Session, case: Case, rule: dict[str, Any]) -> Note:
    body = case.value("response.wire.json")
    planted = plant(body, rule["put"], rule["value"])
    output = session.ask(
        "from_wire_response", case.adapter, {"body": planted, "provider": case.provider}, "response", "loss"
    )
    valid("Response", output["response"])
    kept = any(PLANTED in text for text in strings(output["response"]))
    reported = any(str(entry.get("code", "")).startswith("unknown") for entry in output["loss"])
    if rule.get("keep") and not kept and not reported:
        raise Failure(f"what was planted at {rule['put']} is gone, and the loss report is silent")
    plain = visible_response(without_state(read_response(session, case, body)), {})
    seen = visible_response(without_state(output["response"]), {})
    for name in ("finish_reason", "finish_reason_raw", "usage", "model"):
        same(plain.get(name, MISSING), seen.get(name, MISSING), f"an unknown member changes {name}")
    same(
        plain["message"]["content"],
        without_planted(seen["message"]["content"]),
        "an unknown member changes the content",
    )
    return None


def without_planted(value: Any) -> Any:
    """The value without planted items, and without what became empty by that."""
    if isinstance(value, list):
        return [without_planted(item) for item in value if not is_planted(item)]
    if isinstance(value, dict):
        cleaned = {}
        for name, item in value.items():
            if name == "x_planted":
                continue
            left = without_planted(item)
            if left == {} and item != {}:
                continue
            cleaned[name] = left
        return cleaned
    return value


def is_planted(item: Any) -> bool:
    return isinstance(item, dict) and (item.get("type") == "x_planted" or item.get("kind") == "x_planted")


def check_unknown_stream(session: Session, case: Case, rule: dict[str, Any]) -> Note:
    planted = planted_stream(case, rule)
    assert planted is not None
    events = flat(read_stream(session, case, [planted])[0])
    expected = visible_events(_comparable_events(whole_events(session, case)), [])
    seen = without_planted(visible_events(_comparable_events(events), []))
    same(expected, seen, "something unknown in the stream changes the known events")
    return None


def _comparable_events(events: list[Any]) -> list[Any]:
    """Events without answer-level state, where an unknown member may be kept."""
    return [
        {**event, "response": without_state(event["response"])} if isinstance(event.get("response"), dict) else event
        for event in events
    ]


def planted_stream(case: Case, rule: dict[str, Any]) -> bytes | None:
    """The stream with an unknown frame or member; None when there is no place for it."""
    found = frames.parse(stream_data(case), case.framing)
    result: list[frames.Frame] = []
    done = False
    for frame in found:
        try:
            value = loads(frame.data)
        except ValueError:
            value = None
        if isinstance(value, dict) and "put" in rule:
            changed = plant(value, rule["put"], rule["value"])
            if changed is not None:
                frame, done = frames.json_frame(frame.event, changed, frame.kind), True
        result.append(frame)
        if isinstance(value, dict) and not done and "after" in rule and _fits(value, rule["after"]):
            data = {**rule["data"], **{name: value[name] for name in rule.get("copy", []) if name in value}}
            result.append(frames.json_frame(rule.get("event"), data))
            done = True
    return frames.join(result, case.framing) if done else None


def _fits(value: dict[str, Any], pattern: dict[str, Any]) -> bool:
    return all(equal(value.get(name, MISSING), item) for name, item in pattern.items())


def check_unknown_request(session: Session, case: Case, rule: dict[str, Any]) -> Note:
    planted = plant(case.value("request.wire.json"), rule["put"], rule["value"])
    assert planted is not None
    fixpoint(session, case, planted)
    return None
