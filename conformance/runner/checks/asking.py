"""Asking a plug, and what may be concluded from an answer: shared by all checks."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any, TypeVar

from runner import schema
from runner.cases import Case
from runner.compare import MISSING, ReportError, difference, visible_response
from runner.patches import PatchError, patched
from runner.session import Failure, Session
from runner.wording import WordingError, compare_reports

Note = str | None
T = TypeVar("T")
PLANTED = "planted by the suite"


def same_report(given: Any, golden: list[Any], loss: list[Any]) -> None:
    """Whether a report on a request or an answer says what the golden one says, in whatever words."""
    try:
        compare_reports(given, golden, loss)
    except WordingError as wrong:
        raise Failure(wrong.message, wrong.difference) from None
    except ReportError as error:
        raise Failure(f"the loss report does not fit what was written: {error}") from None


def to_wire(session: Session, case: Case, request: Any, adapter: str | None = None) -> tuple[dict[str, Any], list[Any]]:
    """Write a request; the case's provider and model hold only for the case's own adapter."""
    own = adapter is None or adapter == case.adapter
    input = {
        "request": request,
        "provider": case.provider if own else None,
        "model": case.meta.get("model") if own else None,
        **(_origin(case) if own else {}),
    }
    output = session.ask("to_wire", adapter or case.adapter, input, "wire", "loss")
    wire, loss = output["wire"], output["loss"]
    if not isinstance(wire, dict) or not isinstance(wire.get("body"), dict) or not isinstance(loss, list):
        raise Failure("to_wire answers {wire: {method, path, headers, body}, loss: [...]}")
    return wire, loss


def read_request(session: Session, case: Case, wire: Any, adapter: str | None = None) -> dict[str, Any]:
    own = adapter is None or adapter == case.adapter
    input = {"wire": wire, "provider": case.provider if own else None, **(_origin(case) if own else {})}
    request = session.ask("from_wire_request", adapter or case.adapter, input, "request", "loss")["request"]
    if not isinstance(request, dict):
        raise Failure("from_wire_request answers {request, loss}")
    return request


def read_response(
    session: Session, case: Case, body: Any, adapter: str | None = None, *, asked: Any = None
) -> dict[str, Any]:
    """Read an answer; `asked` is the canonical request that it answers, told to the plug where it is given."""
    own = adapter is None or adapter == case.adapter
    input = {"body": body, "provider": case.provider if own else None, **(_origin(case) if own else {})}
    if asked is not None:
        input["request"] = asked
    response = session.ask("from_wire_response", adapter or case.adapter, input, "response", "loss")["response"]
    if not isinstance(response, dict):
        raise Failure("from_wire_response answers {response, loss}")
    return response


def read_stream(
    session: Session, case: Case, chunks: list[bytes], adapter: str | None = None, *, asked: Any = None
) -> tuple[list[list[Any]], Any]:
    """The lists of events, one for each chunk and one for the end of input, and the folded answer."""
    parts = [base64.b64encode(chunk).decode() for chunk in chunks]
    input = {"chunks": parts, "provider": case.provider, **_origin(case)}
    if asked is not None:
        input["request"] = asked
    output = session.ask("stream", adapter or case.adapter, input, "events")
    events = output["events"]
    if not isinstance(events, list) or not all(isinstance(item, list) for item in events):
        raise Failure("stream answers {events: [[...], ...], response}")
    if len(events) != len(chunks) + 1:
        raise Failure(
            f"stream answers one list of events for each chunk and one for the end: {len(chunks) + 1}, got {len(events)}"
        )
    return events, output.get("response")


def _origin(case: Case) -> dict[str, Any]:
    """Where exactly the case's provider is asked; not told to a plug when the case does not say it."""
    return {"origin": case.meta["origin"]} if "origin" in case.meta else {}


def flat(events: list[list[Any]]) -> list[Any]:
    return [event for part in events for event in part]


def same(expected: Any, actual: Any, message: str = "", comparators: list[dict[str, Any]] | None = None) -> None:
    found = difference(expected, actual, comparators or [])
    if found is not None:
        raise Failure(message, found)


def canonical_request(session: Session, case: Case) -> dict[str, Any]:
    """The case's canonical request; where none is given, its wire request as it is read, and edited where the case does."""
    if case.has("request.canonical.json"):
        return case.value("request.canonical.json")
    request = read_request(session, case, case.value("request.wire.json"))
    valid("Request", request)
    return edited(case, request) if case.has("request.edit.json") else request


def edited(case: Case, request: dict[str, Any]) -> dict[str, Any]:
    """A request as it was read, after the case's edit."""
    try:
        changed: dict[str, Any] = patched(request, case.value("request.edit.json"))
    except PatchError as error:
        raise Failure(f"the edit does not fit the request as it was read: {error}") from None
    valid("Request", changed)
    return changed


def same_wire(case: Case, expected: dict[str, Any], actual: dict[str, Any]) -> None:
    """Method, path and body; of the headers only those that the golden request names."""
    rules = case.comparators("wire")
    rules = rules + [{**rule, "path": "/body" + rule["path"]} for rule in rules]
    got = {name: actual.get(name, MISSING) for name in ("method", "path", "body") if name in expected}
    wanted = {name: expected[name] for name in ("method", "path", "body") if name in expected}
    if expected.get("headers"):
        sent = {name.lower(): value for name, value in (actual.get("headers") or {}).items()}
        wanted["headers"] = {name.lower(): value for name, value in expected["headers"].items()}
        got["headers"] = {name: sent[name] for name in wanted["headers"] if name in sent}
    same(wanted, got, "", rules)


def same_response(case: Case, golden: dict[str, Any], response: dict[str, Any], message: str = "") -> None:
    expected = visible_response(golden, golden)
    actual = visible_response(response, golden)
    for name in ("model", "finish_reason_raw"):
        if name not in expected:
            actual.pop(name, None)
    same(expected, actual, message, case.comparators("response"))


def without_state(response: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in response.items() if name not in ("provider_state", "id")}


def spread(items: Sequence[T], limit: int) -> list[T]:
    """At most `limit` items: the first ones, the last ones, and evenly in between."""
    if len(items) <= limit:
        return list(items)
    third = limit // 3
    middle = items[third:-third]
    step = len(middle) / third
    return [*items[:third], *(middle[int(index * step)] for index in range(third)), *items[-third:]]


def valid(name: str, value: Any, what: str = "") -> Note:
    invalid = schema.canonical().validate(value, name)
    if invalid is not None:
        raise Failure(f"{what or name} is not valid under the schema: {invalid}")
    return None
