"""Every canonical value that comes back is valid under the schema of the contract."""

from __future__ import annotations

from runner import schema
from runner.cases import Case
from runner.session import Failure, Session

from .asking import Note, canonical_request, read_request, read_response, to_wire, valid
from .streams import whole_events


def check_schema_request(session: Session, case: Case) -> Note:
    return valid("Request", read_request(session, case, case.value("request.wire.json")))


def check_schema_response(session: Session, case: Case) -> Note:
    return valid("Response", read_response(session, case, case.value("response.wire.json")))


def check_schema_events(session: Session, case: Case) -> Note:
    for number, event in enumerate(whole_events(session, case)):
        valid("StreamEvent", event, f"event {number} ({event.get('type') if isinstance(event, dict) else '?'})")
    return None


def check_schema_loss(session: Session, case: Case) -> Note:
    wire, loss = to_wire(session, case, canonical_request(session, case))
    valid("WireRequest", wire)
    for number, entry in enumerate(loss):
        valid("LossEntry", entry, f"entry {number} of the loss report")
        if entry["code"] not in schema.loss_codes():
            raise Failure(f"entry {number} of the loss report: {entry['code']!r} is not a code of the specification")
        if entry["op"] in ("move", "merge") and "to" not in entry:
            raise Failure(f"entry {number} of the loss report: {entry['op']} without a destination")
    return None
