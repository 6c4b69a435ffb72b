"""Wrong values in every place of an input: nothing that an input holds may end a process."""

from __future__ import annotations

import base64
from copy import deepcopy
from typing import Any

from runner import frames
from runner.cases import Case
from runner.compare import get, loads, pointer_of, show
from runner.plug import PlugError
from runner.session import Failure, Session

from .asking import PLANTED, Note, spread, valid
from .streams import stream_data

WRONG_VALUES: tuple[Any, ...] = (None, PLANTED, [], {}, 7, [[PLANTED]], {"type": PLANTED}, True)


def check_hostile(session: Session, case: Case, operation: str, member: str | None, name: str) -> Note:
    """Wrong values in every place of a sound input: a valid result or a typed error that holds no content, never a crash.

    `member` is the member of the input that the file holds; None when the file holds the whole input.
    """
    sound = case.value(name)
    if session.answer(operation, case.adapter, {member: 7} if member else {}).error is None:
        raise Failure(
            f"{operation} takes the number 7 for a {member}" if member else f"{operation} takes an empty input"
        )
    places = _places(sound, [])[0 if member else 1 :]
    tried = spread(places, 60)
    for number, steps in enumerate(tried):
        value = WRONG_VALUES[number % len(WRONG_VALUES)]
        wrong = _replaced(sound, steps, value)
        input = {member: wrong, **({"provider": case.provider} if case.provider else {})} if member else wrong
        _survives(session, case, operation, input, f"{show(value)} at {pointer_of(steps) or '/'}", steps)
    return f"{len(tried)} wrong values"


def check_hostile_stream(session: Session, case: Case) -> Note:
    """Wrong values in the frames of a stream, frames that are no JSON, and frames in the wrong order."""
    parsed = frames.parse(stream_data(case), case.framing)
    streams: list[tuple[str, list[frames.Frame]]] = [
        ("frames in reverse order", parsed[::-1]),
        ("each frame twice", [frame for frame in parsed for _ in range(2)]),
        ("a frame that is no JSON", [*parsed[:1], frames.Frame(None, "<html>"), *parsed[1:]]),
        ("a frame that is no object", [*parsed[:1], frames.Frame(None, "[7]"), *parsed[1:]]),
    ]
    for number, frame in spread(list(enumerate(parsed)), 24):
        try:
            value = loads(frame.data)
        except ValueError:
            continue
        for turn, steps in enumerate(spread(_places(value, []), 8)):
            wrong = WRONG_VALUES[(number + turn) % len(WRONG_VALUES)]
            changed = frames.json_frame(frame.event, _replaced(value, steps, wrong), frame.kind)
            what = f"{show(wrong)} at {pointer_of(steps) or '/'} of frame {number}"
            streams.append((what, [*parsed[:number], changed, *parsed[number + 1 :]]))
    for what, found in streams:
        data = frames.join(found, case.framing)
        _survives(session, case, "stream", {"chunks": [base64.b64encode(data).decode()]}, what)
    return f"{len(streams)} broken streams"


# Where a conversation stands, in the canonical form and on the wires. Elsewhere a text may name what it complains of,
# such as an alias that does not exist.
_CONVERSATION = frozenset(("messages", "system", "message", "content", "choices", "delta", "content_block"))


def _survives(
    session: Session, case: Case, operation: str, input: Any, what: str, steps: list[str] | None = None
) -> None:
    try:
        answer = session.plug.call(operation, case.adapter, input)
    except PlugError as error:
        raise type(error)(f"{operation} with {what}: {error}") from None
    if answer.output is not None:
        try:
            _demand_valid(operation, answer.output)
        except Failure as failure:
            raise Failure(f"{operation} with {what}: {failure}") from None
    inside = steps is None or not _CONVERSATION.isdisjoint(steps)
    if inside and answer.error is not None and PLANTED in answer.error["message"]:
        raise Failure(f"{operation} with {what}: the text of the error holds content")


_GIVEN = {
    "to_wire": ("wire", "WireRequest"),
    "from_wire_request": ("request", "Request"),
    "from_wire_response": ("response", "Response"),
}


def _demand_valid(operation: str, output: dict[str, Any]) -> None:
    """What was made of a wrong value is of the contract all the same: half a value is none."""
    if operation in _GIVEN:
        member, kind = _GIVEN[operation]
        valid(kind, output.get(member))
    if operation == "stream":
        parts = output.get("events")
        if not isinstance(parts, list) or not all(isinstance(part, list) for part in parts):
            raise Failure("the events are not given")
        events = [event for part in parts for event in part]
        if [event.get("type") in _LAST for event in events[-2:]] not in ([True], [False, True]):
            raise Failure("the last event, and no other, is message_complete or error")
        for event in (*(event for event in events if event["type"] in _WHOLE), events[-1]):
            valid("StreamEvent", event, f"the event {event['type']}")


_LAST = ("message_complete", "error")
_WHOLE = ("tool_use_start", "tool_use_end")


def _places(value: Any, at: list[str]) -> list[list[str]]:
    """The steps to every value inside, the whole included, in document order."""
    found = [at]
    if isinstance(value, dict):
        for name, item in value.items():
            found += _places(item, [*at, name])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += _places(item, [*at, str(index)])
    return found


def _replaced(value: Any, steps: list[str], wrong: Any) -> Any:
    if not steps:
        return wrong
    copy = deepcopy(value)
    parent = get(copy, pointer_of(steps[:-1]))
    if isinstance(parent, list):
        parent[int(steps[-1])] = wrong
    else:
        parent[steps[-1]] = wrong
    return copy
