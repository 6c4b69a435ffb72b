"""Errors in the written direction: what a provider of a wire would have answered (spec 8, written errors)."""

from __future__ import annotations

from typing import Any

from runner.cases import Case
from runner.compare import Difference, loads
from runner.session import Failure, Session

from .asking import Note, same, valid

SEEN = ("category", "retryable", "retry_after", "path", "request_id")
"""What a client of a wire can see of an error; the rest are a provider's own words."""

ROUNDED = 1.0
"""Wires that count whole seconds say the next one."""


def check_written_row(session: Session, case: Case) -> Note:
    """A canonical error, written as the golden answer; read back it is the error with the report applied."""
    row = case.row
    assert row is not None
    error = row["error"]
    wire, loss = write(session, case, error, case.adapter)
    golden = row["wire"]
    _same_headers(golden.get("headers", {}), wire["headers"])
    words = _with_words(golden, wire, error["message"])
    same({"status": golden["status"], "body": golden["body"]}, {"status": words["status"], "body": words["body"]})
    same(_report(row.get("loss", [])), _report(loss), "the report")
    back = read(session, case, wire, case.adapter)
    same(applied(error, loss), {name: item for name, item in back.items() if name in applied(error, loss)}, "read back")
    return None


def check_written(session: Session, case: Case, adapter: str) -> Note:
    """The error of a row, written for a wire and read there again: the same failure, and what is not said is reported."""
    row = case.row
    assert row is not None
    given = {"status": row["status"], "headers": row.get("headers", {}), "body": row.get("body")}
    error = read(session, case, given, case.adapter)
    wire, loss = write(session, case, error, adapter)
    if adapter == case.adapter:
        _same_answer(given, wire)
    back = read(session, case, wire, adapter)
    if back["category"] != error["category"]:
        raise Failure("another failure", Difference("/category", error["category"], back["category"]))
    wait, told = error.get("retry_after"), back.get("retry_after")
    if wait is not None and not (told is not None and wait <= told < wait + ROUNDED):
        raise Failure("how long to wait is lost", Difference("/retry_after", wait, told))
    expected = applied(error, loss)
    same(expected, {name: item for name, item in back.items() if name in SEEN}, "what is read back")
    return None


def read(session: Session, case: Case, wire: dict[str, Any], adapter: str | None) -> dict[str, Any]:
    """The canonical error of an answer, with the provider's own words."""
    provider = case.provider if adapter == case.adapter else None
    given = {"status": wire["status"], "headers": wire.get("headers") or {}, "body": wire.get("body")}
    error = session.ask("error", adapter, {**given, "provider": provider, "raw": True}, "category", "message")
    valid("Error", error)
    return error


def write(
    session: Session, case: Case, error: dict[str, Any], adapter: str | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The answer to which an error becomes, and the report."""
    provider = case.provider if adapter == case.adapter else None
    output = session.ask("to_wire_error", adapter, {"error": error, "provider": provider}, "wire", "loss")
    wire, loss = output["wire"], output["loss"]
    if not isinstance(wire, dict) or not isinstance(wire.get("headers"), dict) or "body" not in wire:
        raise Failure("to_wire_error answers {wire: {status, headers, body}, loss: [...]}")
    if type(wire.get("status")) is not int or not 400 <= wire["status"] <= 599:
        raise Failure(f"an error has a status of an error, not {wire.get('status')!r}")
    for entry in loss:
        valid("LossEntry", entry)
    return wire, loss


def applied(error: dict[str, Any], loss: list[dict[str, Any]]) -> dict[str, Any]:
    """What a client sees of an error, with the report applied."""
    seen = {name: error[name] for name in SEEN if error.get(name) is not None}
    for entry in loss:
        name = entry["path"].removeprefix("/")
        if name not in error:
            raise Failure(f"the report speaks of {entry['path']}, and the error has no such member")
        if name in SEEN:
            seen.pop(name, None)
            if entry["op"] == "replace":
                seen[name] = entry["value"]
    return seen


def _report(loss: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A report without its words for people."""
    return sorted(
        ({name: item for name, item in entry.items() if name != "message"} for entry in loss),
        key=lambda entry: entry["path"],
    )


def _same_answer(given: dict[str, Any], wire: dict[str, Any]) -> None:
    """What was read from this wire goes back as it was; an empty answer and one with the status of a success cannot."""
    if given["status"] < 400 or given["body"] in (None, ""):
        return
    same({"status": given["status"], "body": _parsed(given["body"])}, {"status": wire["status"], "body": wire["body"]})


def _parsed(body: Any) -> Any:
    if not isinstance(body, str):
        return body
    try:
        return loads(body)
    except ValueError:
        return body


def _same_headers(golden: dict[str, str], headers: dict[str, str]) -> None:
    told = {name.lower(): value for name, value in headers.items()}
    same(golden, {name: told[name] for name in golden if name in told}, "the headers")


def _with_words(golden: Any, actual: Any, message: str) -> Any:
    """The actual answer with the golden text wherever both hold the message: what stands around it is free."""
    if isinstance(golden, dict) and isinstance(actual, dict):
        return {name: _with_words(golden.get(name), item, message) for name, item in actual.items()}
    if isinstance(golden, list) and isinstance(actual, list) and len(golden) == len(actual):
        return [_with_words(one, other, message) for one, other in zip(golden, actual, strict=True)]
    if isinstance(golden, str) and isinstance(actual, str) and message in golden and message in actual:
        return golden
    return actual
