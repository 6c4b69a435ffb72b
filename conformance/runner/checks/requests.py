"""Requests: the golden wire and report, the loss law, what the provider would take, and the way back."""

from __future__ import annotations

from typing import Any

from runner.cases import Case
from runner.compare import ReportError, apply, difference, show, visible, visible_error
from runner.oracles import violations
from runner.session import Failure, Refused, Session
from runner.wording import WordingError, Words, compare_reports

from .asking import Note, canonical_request, read_request, same, same_report, same_wire, to_wire, valid


def check_to_wire(session: Session, case: Case, stage: str = "request") -> Note:
    """Exactly this wire, in the implementation's own words where it may choose them."""
    request = canonical_request(session, case)
    wire, loss = to_wire(session, case, request)
    try:
        words = compare_reports(request, _golden_loss(case, stage), loss)
    except (WordingError, ReportError):
        words = Words()  # that the report is wrong is for the check `loss` to say
    same_wire(case, words.put(case.value(f"{stage}.wire.json")), wire)
    return None


def check_loss(session: Session, case: Case, stage: str = "request") -> Note:
    """The entries of the golden report, no more and no fewer."""
    request = canonical_request(session, case)
    _, loss = to_wire(session, case, request)
    same_report(request, _golden_loss(case, stage), loss)
    return None


def _golden_loss(case: Case, stage: str = "request") -> list[Any]:
    """What is reported at a stage of the case: of its `request`, or when it was edited (`request.edited`)."""
    return case.value(f"{stage}.loss.json") if case.has(f"{stage}.loss.json") else []


def check_refusal(session: Session, case: Case, stage: str = "request") -> Note:
    golden = case.value(f"{stage}.error.json")
    request = canonical_request(session, case)
    try:
        _, loss = to_wire(session, case, request)
    except Refused as refused:
        same(visible_error(golden, golden), visible_error(refused.error, golden), "", case.comparators("error"))
        return None
    raise Failure(f"must be refused with {golden['category']}; it was written with {len(loss)} loss entries")


def check_elsewhere(session: Session, case: Case, adapter: str) -> Note:
    """What its own wire gets back as it came, another wire refuses."""
    golden = case.value("request.error.json")
    request = canonical_request(session, case)
    try:
        _, loss = to_wire(session, case, request, adapter)
    except Refused as refused:
        same(visible_error(golden, golden), visible_error(refused.error, golden), "", case.comparators("error"))
        return None
    raise Failure(f"must be refused with {golden['category']}; it was written with {len(loss)} loss entries")


def loss_law(session: Session, case: Case, request: dict[str, Any], adapter: str) -> Note:
    """`visible(from_wire_request(to_wire(c).wire)) = visible(apply(c, to_wire(c).loss))`"""
    wire, loss = to_wire(session, case, request, adapter)
    try:
        expected = visible(apply(request, loss))
    except ReportError as error:
        raise Failure(f"the loss report does not fit the request: {error}") from None
    actual = visible(read_request(session, case, wire, adapter))
    found = difference(expected, actual, case.comparators("request"))
    if found is None:
        return None
    near = [entry for entry in loss if _covers(entry, found.pointer)]
    told = f"the loss report says {near[0]['op']} ({near[0].get('code')})" if near else "the loss report is silent"
    text = f"{found.pointer or '/'}: written {show(found.expected)}, the model would see {show(found.actual)}, {told}"
    raise Failure(text, found, told=True)


def _covers(entry: Any, pointer: str) -> bool:
    path = entry.get("path") if isinstance(entry, dict) else None
    return isinstance(path, str) and (pointer == path or pointer.startswith(path + "/"))


def check_accounting(session: Session, case: Case) -> Note:
    assert case.adapter is not None
    return loss_law(session, case, canonical_request(session, case), case.adapter)


def check_cross(session: Session, case: Case, adapter: str) -> Note:
    """A request that this version of the contract allows has a projection: a refusal is a failure like any other."""
    return loss_law(session, case, canonical_request(session, case), adapter)


def check_valid(session: Session, case: Case, adapter: str) -> Note:
    """The provider would take the request: the written rules of the wire, as far as they can be checked offline."""
    request = canonical_request(session, case)
    wire, _ = to_wire(session, case, request, adapter)
    broken = violations(adapter, wire)
    if not request.get("model"):
        broken = [item for item in broken if item[0] != "/body/model"]
    if broken:
        pointer, reason = broken[0]
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise Failure(f"the provider would not take this request: {pointer} {reason}{more}")
    return None


def check_from_wire_request(session: Session, case: Case) -> Note:
    if case.has("request.read.json"):
        expected = visible(case.value("request.read.json"))
        actual = visible(read_request(session, case, case.value("request.wire.json")))
        same(expected, actual, "", case.comparators("request"))
        return None
    request = case.value("request.canonical.json")
    try:
        expected = visible(apply(request, _golden_loss(case)))
    except ReportError as error:
        raise Failure(f"request.loss.json does not fit request.canonical.json: {error}") from None
    actual = visible(read_request(session, case, case.value("request.wire.json")))
    same(expected, actual, "", case.comparators("request"))
    return None


def check_wire_fixpoint(session: Session, case: Case) -> Note:
    wire = case.value("request.wire.json")
    fixpoint(session, case, wire)
    return None


def fixpoint(session: Session, case: Case, wire: dict[str, Any]) -> None:
    request = read_request(session, case, wire)
    valid("Request", request)
    again, loss = to_wire(session, case, request)
    try:
        same_wire(case, wire, again)
    except Failure as failure:
        told = f"; the loss report says {loss[0].get('op')} {loss[0].get('path')}" if loss else ""
        raise Failure(f"wire, canonical and wire again differ{told}", failure.difference) from None
