"""Answers: both ways, and back in the next request."""

from __future__ import annotations

from runner import schema
from runner.cases import Case
from runner.compare import get
from runner.session import Failure, Session

from .asking import Note, read_response, same, same_response, to_wire, valid, without_state
from .swaps import own_state, results_for


def check_from_wire_response(session: Session, case: Case) -> Note:
    golden = case.value("response.canonical.json")
    response = read_response(session, case, case.value("response.wire.json"))
    same_response(case, golden, response)
    return None


def check_to_wire_response(session: Session, case: Case) -> Note:
    """Answer, canonical, and the same answer again: what a gateway does."""
    body = case.value("response.wire.json")
    response = read_response(session, case, body)
    valid("Response", response)
    output = session.ask(
        "to_wire_response", case.adapter, {"response": response, "provider": case.provider}, "body", "loss"
    )
    same(body, output["body"], "", case.comparators("body"))
    return None


def check_served(session: Session, case: Case) -> Note:
    """The golden answer, written for a client of this wire, reads back as the golden answer."""
    golden = case.value("response.canonical.json")
    output = session.ask(
        "to_wire_response", case.adapter, {"response": golden, "provider": case.provider}, "body", "loss"
    )
    if schema.canonical().validate(output["body"], "Response") is None:
        raise Failure("to_wire_response gave a canonical response, not one of this wire")
    if output["loss"]:
        return f"{len(output['loss'])} losses reported"
    same_response(case, without_state(golden), without_state(read_response(session, case, output["body"])))
    return None


def check_echo(session: Session, case: Case) -> Note:
    """The answer, put into the next request, reappears verbatim where the provider expects its own turn."""
    rule = case.wire["echo"]
    body = case.value("response.wire.json")
    written = get(body, rule["response"])
    message = read_response(session, case, body)["message"]
    opening = {"role": "user", "content": [{"type": "text", "text": "Begin."}]}
    request = {
        "model": f"{case.provider or case.wire.get('provider', 'provider')}:{body.get('model') or 'model'}",
        "max_output_tokens": 4096,
        "messages": [
            opening,
            {"role": "assistant", "content": message["content"], **own_state(message)},
            *results_for([message]),
        ],
    }
    wire, _ = to_wire(session, case, request)
    found = get(wire["body"], rule["request"])
    same(
        written,
        found,
        f"{rule['response']} comes back changed at {rule['request']}",
        rule.get("compare", []) + case.comparators("echo"),
    )
    return None
