"""Answers: both ways, and back in the next request."""

from __future__ import annotations

import base64
from typing import Any

from runner import schema
from runner.cases import Case
from runner.clients import QUESTION, RESULT, next_request
from runner.compare import Difference, ReportError, answer_difference, apply, get, show
from runner.session import Failure, Session

from .asking import (
    Note,
    flat,
    read_request,
    read_response,
    read_stream,
    same,
    same_report,
    same_response,
    to_wire,
    valid,
    without_state,
)
from .failures import SEEN, applied
from .swaps import results_for, state_of


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
    of_wire(output["body"], case.wire.get("answer"))
    if output["loss"]:
        return f"{len(output['loss'])} losses reported"
    same_response(case, without_state(golden), without_state(read_response(session, case, output["body"])))
    return None


def check_called(session: Session, case: Case) -> Note:
    """With the request beside it, an answer calls the tools as they were offered; its stream, too."""
    asked, golden = case.value("request.canonical.json"), case.value("response.called.json")
    same_response(case, golden, read_response(session, case, case.value("response.wire.json"), asked=asked))
    if case.stream_file is None:
        return None
    events = flat(read_stream(session, case, [case.data(case.stream_file)], asked=asked)[0])
    same_response(case, golden, events[-1].get("response") if events else None)
    _tells_its_calls(events)
    return None


def _tells_its_calls(events: list[Any]) -> None:
    """What events say of a call while it is told is what it is in the end."""
    ends = {
        event["block"]["id"]: event["block"]
        for event in events
        if event["type"] == "block_stop" and "id" in event["block"]
    }
    texts: dict[str, str] = {}
    for event in events:
        if event["type"] == "tool_use_input_delta":
            texts[event["id"]] = texts.get(event["id"], "") + event["text"]
        elif event["type"] in ("tool_use_start", "tool_use_end") and event["name"] != ends[event["id"]]["name"]:
            raise Failure(f"{event['type']} names another tool than the call")
    for call, block in ends.items():
        if block.get("kind") == "custom" and texts.get(call, "") != block["input_raw"]:
            raise Failure("the pieces of a free-text call are not its text")


def check_answered(session: Session, case: Case) -> Note:
    """An answer from elsewhere, written for the client that asked: calls are spelt as it spelt its tools.

    Of the answer, the case says the members that it is about, and where it has a report, all of that.
    """
    asked = read_request(session, case, case.value("request.wire.json"))
    given = {"response": case.value("answer.canonical.json"), "provider": case.provider, "request": asked}
    output = session.ask("to_wire_response", case.adapter, given, "body", "loss")
    golden, body = case.value("answer.wire.json"), output["body"]
    same(golden, {name: body[name] for name in golden if name in body}, "", case.comparators("body"))
    if case.has("answer.loss.json"):
        same_report(given["response"], case.value("answer.loss.json"), output["loss"])
    return None


def of_wire(body: Any, rule: dict[str, Any] | None) -> None:
    """A body that its own reader understands may still be none of the wire, such as the canonical answer itself."""
    if schema.canonical().validate(body, "Response") is None:
        raise Failure("to_wire_response gave a canonical response, not one of this wire")
    invalid = None if rule is None else schema.Schema(rule).validate(body)
    if invalid is not None:
        raise Failure(f"to_wire_response gave no answer of this wire: {invalid}")


def check_answer(session: Session, case: Case, adapter: str, rule: dict[str, Any] | None) -> Note:
    """The loss law for answers: what a client of the wire reads is the answer with the report applied."""
    answer = case.value("response.canonical.json") if case.has("response.canonical.json") else None
    if answer is None:
        answer = read_response(session, case, case.value("response.wire.json"))
    provider = case.provider if adapter == case.adapter else None
    output = session.ask("to_wire_response", adapter, {"response": answer, "provider": provider}, "body", "loss")
    of_wire(output["body"], rule)
    read = read_response(session, case, output["body"], adapter)
    _obeys(answer, output["loss"], read, around=True)
    return None


def check_streamed(session: Session, case: Case, adapter: str) -> Note:
    """The same for a stream: the report that comes with it, and what a client of the wire reads."""
    events = flat(read_stream(session, case, [case.data(str(case.stream_file))])[0])
    last = events[-1] if events else {}
    if last.get("type") not in ("message_complete", "error"):
        return "no end"
    provider = case.provider if adapter == case.adapter else None
    output = session.ask("stream_encode", adapter, {"events": events, "provider": provider}, "chunks", "loss")
    data = b"".join(base64.b64decode(chunk) for chunk in output["chunks"])
    input = {"chunks": [base64.b64encode(data).decode()], "provider": provider}
    end = flat(session.ask("stream", adapter, input, "events")["events"])[-1]
    if last["type"] == "error":
        return _failed(last, output["loss"], end)
    if end.get("type") == "error" and last["response"].get("finish_reason") == "error":
        return "a failed answer is an error on this wire"
    if end.get("type") != "message_complete":
        raise Failure(f"the stream ends with {end.get('type')}")
    _obeys(last["response"], output["loss"], end["response"], around=False)
    return None


_ERROR = "/error"


def _failed(last: dict[str, Any], loss: list[Any], end: dict[str, Any]) -> Note:
    """The law for a stream that ends with an error: what had arrived, and the error."""
    if end.get("type") != "error":
        raise Failure(f"a stream that failed ends with {end.get('type')}")
    of_error = [entry for entry in loss if f"{entry['path']}/".startswith(f"{_ERROR}/")]
    told = [{**entry, "path": entry["path"].removeprefix(_ERROR)} for entry in of_error]
    expected = applied(last["error"], told)
    same(expected, {name: end["error"][name] for name in SEEN if name in end["error"]}, "the error that is read")
    _obeys(_arrived(last), [entry for entry in loss if entry not in of_error], _arrived(end), around=False)
    return f"{len(loss)} losses reported" if loss else None


def _arrived(last: dict[str, Any]) -> dict[str, Any]:
    """What had arrived of an answer: its content alone, for how it would have ended nobody knows."""
    message = (last.get("response") or {}).get("message") or {"content": []}
    return {"message": {"role": "assistant", "content": message["content"]}}


def _obeys(answer: dict[str, Any], loss: list[Any], read: dict[str, Any], *, around: bool) -> None:
    try:
        found = answer_difference(apply(answer, loss), read, around=around)
    except ReportError as error:
        raise Failure(f"the loss report does not fit the answer: {error}") from None
    if found is not None:
        raise Failure(_told(found, loss), found, told=True)


def _told(found: Difference, loss: list[Any]) -> str:
    report = f"{len(loss)} entries" if loss else "the loss report is silent"
    return f"{found.pointer or '/'}: written {show(found.expected)}, a client would see {show(found.actual)}, {report}"


def check_carried(session: Session, case: Case, adapter: str) -> Note:
    """The answer, served to a client of another wire that keeps the standard members alone, and sent back by it.

    The provider is then asked as if the client had never stood between: its signatures, its reasoning, its own ids.
    """
    answer = read_response(session, case, case.value("response.wire.json"))
    input = {"response": answer, "state_in_ids": True}
    body = session.ask("to_wire_response", adapter, input, "body", "loss")["body"]
    returned = session.ask("from_wire_request", adapter, {"wire": next_request(adapter, body)}, "request", "loss")
    message = answer["message"]
    between = _with_calls(message, returned["request"]["messages"])
    there, _ = to_wire(session, case, _conversation(case, message))
    back, _ = to_wire(session, case, _conversation(case, between))
    same(there["body"], back["body"], f"after a client of {adapter} the provider is asked otherwise")
    return None


def _with_calls(message: dict[str, Any], returned: list[dict[str, Any]]) -> dict[str, Any]:
    """The turn that came back, with the text as it was: wires join texts, and that is no loss of state."""
    turn = next(item for item in returned if item["role"] == "assistant")
    texts = [block for block in message["content"] if block["type"] == "text"]
    content: list[dict[str, Any]] = []
    for block in turn["content"]:
        if block["type"] != "text":
            content.append(block)
        elif texts:
            content += texts
            texts = []
    return {"role": "assistant", "content": content, **state_of(message)}


def _conversation(case: Case, message: dict[str, Any]) -> dict[str, Any]:
    turn = {"role": "assistant", "content": message["content"], **state_of(message)}
    results = [
        {
            "role": "tool",
            "content": [
                {"type": "tool_result", "tool_use_id": block["id"], "content": [{"type": "text", "text": RESULT}]}
            ],
            "metadata": {"parent_tool_use_id": block["id"]},
        }
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    opening = {"role": "user", "content": [{"type": "text", "text": QUESTION}]}
    return {
        "model": f"{case.provider or case.wire.get('provider', 'provider')}:model",
        "max_output_tokens": 4096,
        "messages": [opening, turn, *results],
    }


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
            {"role": "assistant", "content": message["content"], **state_of(message)},
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
