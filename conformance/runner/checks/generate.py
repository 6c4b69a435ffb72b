"""Generate against a scripted upstream: what is really sent, what comes back, and what becomes of failures.

Everything is derived from the exchanges: the answer that a case holds is what the upstream gives.
"""

from __future__ import annotations

import time
from typing import Any

from runner import frames
from runner.cases import Case
from runner.compare import dumps, get, show, visible_error, visible_events, visible_response
from runner.session import Failure, Refused, Session
from runner.upstream import KEY, LONGEST_WAIT, Break, Hang, Pause, Script, Seen, Step, auth_header, place, played

from .asking import Note, canonical_request, flat, read_response, read_stream, same, same_response, valid
from .streams import ends_once, stream_data, terminal_index
from .swaps import results_for

Data = dict[str, Any]
_GREETING = [{"role": "user", "content": [{"type": "text", "text": "Begin."}]}]
_STREAMED = {"sse": "text/event-stream", "jsonl": "application/x-ndjson", "array": "application/json"}
_EVENT_STREAM = "application/vnd.amazon.eventstream"
_BROKEN = ("stream_truncated", "network")
PAUSE = 0.15


# --- asking -----------------------------------------------------------------------------------------------------------------


def question(session: Session, case: Case, stream: bool) -> Data:
    """The request of the case, or a greeting, to a model of the case's provider."""
    has = case.has("request.canonical.json") or case.has("request.wire.json")
    given = canonical_request(session, case) if has else {"messages": _GREETING, "max_output_tokens": 4096}
    name = str(given.get("model") or "").partition(":")[2] or case.meta.get("model") or "a-model"
    return {**given, "model": f"{_provider(case)}:{name}", "stream": stream}


def _provider(case: Case) -> str:
    return case.provider or case.wire.get("provider") or str(case.adapter)


def _input(session: Session, case: Case, request: Data, **more: Any) -> Data:
    provider = _provider(case)
    given = {"request": request, "provider": provider, "base_url": session.upstream.url(provider), "key": KEY}
    return {**given, "stream": request["stream"], **more}


def _call(session: Session, case: Case, request: Data, **more: Any) -> Data:
    """The output of generate; a canonical error raises Refused."""
    return session.ask_anew("generate", case.adapter, _input(session, case, request, **more))


def _generate(session: Session, case: Case, request: Data, **more: Any) -> Data:
    output = _call(session, case, request, **more)
    if not isinstance(output.get("response"), dict):
        raise Failure(f"generate answers {{response}}, got {show(sorted(output), 100)}")
    return output["response"]


def _events(session: Session, case: Case, request: Data, **more: Any) -> tuple[list[Any], Data | None, list[Any]]:
    """The events, the error with which the call ended, and when each event came, if the plug tells."""
    try:
        output = _call(session, case, request, **more)
    except Refused as refused:
        return [], refused.error, []
    events = output.get("events")
    if not isinstance(events, list):
        raise Failure(f"generate with stream answers {{events, error?}}, got {show(sorted(output), 100)}")
    return events, output.get("error"), output.get("at") or []


def _sent(seen: list[Seen]) -> Seen:
    if len(seen) != 1:
        raise Failure(f"one call to the provider is due, {len(seen)} were made")
    return seen[0]


def check_sent(session: Session, case: Case, request: Data, seen: list[Seen]) -> list[Any]:
    """The provider got what to_wire writes, with the key where the provider wants it. Gives the loss report."""
    one = _sent(seen)
    wire, loss = written(session, case, request)
    if one.method != wire.get("method", "POST"):
        raise Failure(f"the method is {one.method}, to_wire writes {wire.get('method')}")
    # A wire that is not the provider's first may lie deeper below its address.
    if not (one.path.startswith(place(_provider(case)) + "/") and one.path.endswith(wire.get("path", ""))):
        raise Failure(f"the call went to {one.path}, to_wire writes {wire.get('path')}")
    try:
        body = one.json
    except ValueError as error:
        raise Failure(f"what was sent is not JSON: {error}") from None
    same(_unary(wire["body"]), _unary(body), "the provider got another body than to_wire writes")
    wanted = {name.lower(): value for name, value in (wire.get("headers") or {}).items()}
    wanted["content-type"] = "application/json"
    auth = auth_header(_provider(case), str(case.adapter))
    if auth is not None:
        wanted[auth[0]] = auth[1]
    for name, value in wanted.items():
        found = one.headers.get(name, "nothing")
        if found.partition(";")[0] != value.partition(";")[0]:
            shown = ("something else", "the key") if auth and name == auth[0] else (found, value)
            raise Failure(f"the header {name} is {shown[0]}, where {shown[1]} is due")
    if KEY in one.path or KEY.encode() in one.body:
        raise Failure("the key stands in the path or in the body")
    return loss


def written(session: Session, case: Case, request: Data) -> tuple[Data, list[Any]]:
    """What to_wire makes of the request for the very model that is asked."""
    provider, _, model = request["model"].partition(":")
    given = {"request": request, "provider": provider, "model": model}
    output = session.ask("to_wire", case.adapter, given, "wire", "loss")
    return output["wire"], output["loss"]


def _unary(body: Any) -> Any:
    """`stream: false` and no word of a stream mean the same."""
    if isinstance(body, dict) and body.get("stream") is False:
        return {name: value for name, value in body.items() if name != "stream"}
    return body


# --- answers ----------------------------------------------------------------------------------------------------------------


def _whole(body: Any, status: int = 200, kind: str = "application/json") -> Script:
    data = body if isinstance(body, bytes) else dumps(body).encode()
    return Script((data,), status, {"content-type": kind}, whole=True)


def _stream_kind(case: Case) -> str:
    return _STREAMED.get(case.framing, _EVENT_STREAM)


def check_generate(session: Session, case: Case, answer: Case) -> Note:
    """The provider gets what to_wire writes; the caller gets what from_wire_response reads of the answer, and the loss.

    The answer is the case's own, or that of another exchange of the wire when it has none.
    """
    body = answer.value("response.wire.json")
    request = question(session, case, stream=False)
    if (refusal := _refused(session, case, request)) is not None:
        return refusal
    with session.upstream.play(_whole(body)) as seen:
        response = _generate(session, case, request)
    loss = check_sent(session, case, request, seen)
    valid("Response", response)
    _shows_nobody(session, response)
    if answer is case and case.has("response.called.json"):
        golden = case.value("response.called.json")
    elif answer is case and case.has("response.canonical.json"):
        golden = case.value("response.canonical.json")
    else:
        golden = read_response(session, case, body)
    same_response(case, golden, _without_estimate(golden, response))
    _check_envelope(request, response, loss)
    return None


def _refused(session: Session, case: Case, request: Data) -> Note:
    """A request that the named model cannot take must be refused before anything is sent. None when it can."""
    try:
        written(session, case, request)
    except Refused as refused:
        wanted = refused.error
    else:
        return None
    with session.upstream.play(_whole({})) as seen:
        try:
            _call(session, case, request)
        except Refused as refused:
            if seen:
                raise Failure("to_wire refuses the request, yet something was sent") from None
            same(visible_error(wanted, wanted), visible_error(refused.error, wanted))
            return f"refused: {wanted['category']}"
    raise Failure(f"to_wire refuses the request with {wanted['category']}, generate does not")


def _without_estimate(golden: Data, response: Data) -> Data:
    """Usage that the provider did not give may be estimated, and then says so."""
    usage = response.get("usage")
    if golden.get("usage") is None and isinstance(usage, dict):
        if usage.get("estimated") is not True:
            raise Failure("the provider gave no usage; an estimate must be marked as one")
        return {name: item for name, item in response.items() if name != "usage"}
    return response


def _shows_nobody(session: Session, told: Any) -> None:
    """Neither the key nor the place where the provider is asked stands in what comes back, not even in its state."""
    text = dumps(told)
    if KEY in text:
        raise Failure("the key stands in the answer")
    if session.upstream.address in text:
        raise Failure("the address of the provider stands in the answer")


def _check_envelope(request: Data, response: Data, loss: list[Any]) -> None:
    if response.get("requested_model") != request["model"]:
        raise Failure(f"requested_model is {show(response.get('requested_model'))}, {request['model']} was asked")
    same(_loss_facts(loss), _loss_facts(response.get("loss") or []), "the answer tells another loss than to_wire")


def _loss_facts(loss: list[Any]) -> list[Any]:
    return [{name: entry[name] for name in ("op", "path", "to", "code", "severity") if name in entry} for entry in loss]


def check_again(session: Session, case: Case) -> Note:
    """The answer goes into the next request to the same provider as it is, and reappears there verbatim."""
    rule = case.wire["echo"]
    body = case.value("response.wire.json")
    model = f"{_provider(case)}:{case.meta.get('model') or body.get('model') or 'a-model'}"
    asked = {"model": model, "messages": _GREETING, "max_output_tokens": 4096, "stream": False}
    with session.upstream.play(_whole(body)):
        message = _generate(session, case, asked)["message"]
    follow = {**asked, "messages": [*_GREETING, message, *results_for([message])]}
    with session.upstream.play(_whole(body)) as seen:
        _generate(session, case, follow)
    found = get(_sent(seen).json, rule["request"])
    told = f"{rule['response']} of the answer comes back changed at {rule['request']}"
    same(get(body, rule["response"]), found, told, rule.get("compare", []) + case.comparators("echo"))
    return None


# --- streams ----------------------------------------------------------------------------------------------------------------


def _asked(case: Case) -> Data | None:
    """The request beside which the answer has to be read, where that makes a difference."""
    return case.value("request.canonical.json") if case.has("response.called.json") else None


def check_generate_stream(session: Session, case: Case) -> Note:
    """The streamed answer, in awkward cuts, gives the events that the same bytes give without a network."""
    data = stream_data(case)
    request = question(session, case, stream=True)
    if (refusal := _refused(session, case, request)) is not None:
        return refusal
    chunks = frames.inside_characters(data, case.framing) or frames.split(data, case.framing)
    with session.upstream.play(played(chunks, kind=_stream_kind(case))) as seen:
        events, error, _ = _events(session, case, request)
    check_sent(session, case, request, seen)
    if case.has("stream.events.jsonl"):
        golden = case.value("stream.events.jsonl")
    else:
        golden = flat(read_stream(session, case, [data], asked=_asked(case))[0])
    _shows_nobody(session, events)
    events = _as_named(golden, events, request["model"])
    for event in events:
        valid("StreamEvent", event, f"a {event.get('type') if isinstance(event, dict) else '?'} event")
    if golden and golden[-1].get("type") == "error":
        return _failed_stream(golden, events, error)
    if error is not None:
        raise Failure(f"the call ended with {error.get('category')}, though the stream ended well")
    ends_once(events)
    events = _comparable(golden, events)
    same(visible_events(golden, golden), visible_events(events, golden), "", case.comparators("events"))
    return None


def _as_named(golden: list[Any], events: list[Any], asked: str) -> list[Any]:
    """Events whose first one names no model where the wire does not; there it has to name the one that was asked."""
    first, told = golden[0] if golden else {}, events[0] if events else {}
    if first.get("type") != "message_start" or "model" in first or not isinstance(told, dict):
        return events
    same(asked, told.get("model"), "model of message_start")
    return [{name: item for name, item in told.items() if name != "model"}, *events[1:]]


def _comparable(golden: list[Any], events: list[Any]) -> list[Any]:
    """Events without what only a caller of providers adds, and without the end where the golden list stops before."""
    last, told = golden[-1] if golden else {}, events[-1]
    if last.get("type") != "message_complete" and told.get("type") == "message_complete":
        return events[:-1]
    if isinstance(told.get("response"), dict) and isinstance(last.get("response"), dict):
        response = _without_estimate(last["response"], told["response"])
        if "model" not in last["response"]:
            response = {name: item for name, item in response.items() if name != "model"}
        return [*events[:-1], {**told, "response": response}]
    return events


def _failed_stream(golden: list[Any], events: list[Any], error: Data | None) -> Note:
    """A stream that failed ends with the error event, and the call with the same error."""
    wanted = golden[-1]["error"]
    if error is None:
        raise Failure(f"the stream failed with {wanted['category']}, the call must end with that error")
    if events:
        ends_once(events)
        same(visible_events(golden[:-1], golden), visible_events(events[:-1], golden), "before the error")
        same(wanted["category"], events[-1].get("error", {}).get("category"), "category of the last event")
    elif len(golden) > 1:
        raise Failure("events came before the failure, and are gone")
    same(wanted["category"], error["category"], "category of the error of the call")
    return wanted["category"]


def check_broken(session: Session, case: Case, breaks: bool) -> Note:
    """A stream that the provider does not end: an error, never a clean finish, and what had arrived is kept.

    `breaks`: the connection is torn; otherwise it is closed as if all were well.
    """
    chunks = frames.split(stream_data(case), case.framing)
    kept = chunks[: (terminal_index(case, chunks) + 1) // 2]
    request = question(session, case, stream=True)
    if (refusal := _refused(session, case, request)) is not None:
        return refusal
    # A moment passes before the connection is torn: a reset may overtake what was sent.
    end: tuple[Step, ...] = (Pause(0.01), Break()) if breaks else ()
    with session.upstream.play(played(kept or [b""], *end, kind=_stream_kind(case))):
        events, error, _ = _events(session, case, request)
    if any(event.get("type") == "message_complete" for event in events):
        raise Failure("clean finish on a truncated stream")
    if error is None:
        raise Failure("the call ended well, though the provider never ended the stream")
    allowed = _BROKEN if breaks else _BROKEN[:1]
    given = [error["category"]]
    if events:
        ends_once(events)
        given.append(events[-1]["error"]["category"])
    for word in given:
        if word not in allowed:
            raise Failure(f"the error is {word}, where {' or '.join(allowed)} is due")
    arrived = flat(read_stream(session, case, kept, asked=_asked(case))[0])
    if not breaks or events:
        begun = _as_named(arrived, events[:-1], request["model"])
        same(visible_events(arrived[:-1]), visible_events(begun), "what had arrived")
        _same_partial(arrived[-1], events[-1] if events else {})
    return None


def _same_partial(expected: Any, actual: Any) -> None:
    one, two = expected.get("response"), actual.get("response")
    if isinstance(one, dict) and one.get("message", {}).get("content"):
        if not isinstance(two, dict):
            raise Failure("the last event does not hold what had arrived")
        golden = visible_response({"message": one["message"]}, {})
        same(golden, visible_response({"message": two.get("message")}, {}), "what had arrived")


# --- failures ---------------------------------------------------------------------------------------------------------------


def check_error_answer(session: Session, case: Case) -> Note:
    """A provider's error answer, unary and in place of a stream: the error of the row, and the key is not in it."""
    row = case.row
    assert row is not None
    body = row.get("body")
    text = body if isinstance(body, str) else "" if body is None else dumps(body)
    headers = {"content-type": "text/plain" if isinstance(body, str) else "application/json", **row.get("headers", {})}
    script = Script((text.encode(),), row["status"], headers, whole=True)
    golden = row["error"]
    for stream in (False, True):
        request = question(session, case, stream=stream)
        with session.upstream.play(script) as seen:
            error = _error_of(session, case, request, stream)
        if not golden.get("retryable") and len(seen) != 1:
            raise Failure(f"the failure is not retryable, yet {len(seen)} calls were made")
        if not seen:
            raise Failure("nothing was sent")
        where = "the error of a stream" if stream else ""
        same(visible_error(golden, golden), visible_error(error, golden), where, case.comparators("error"))
    return None


def _error_of(session: Session, case: Case, request: Data, stream: bool, **more: Any) -> Data:
    if stream:
        events, error, _ = _events(session, case, request, **more)
        if any(event.get("type") == "message_complete" for event in events):
            raise Failure("the provider failed, yet the stream ends well")
    else:
        try:
            _call(session, case, request, **more)
        except Refused as refused:
            error = refused.error
        else:
            raise Failure("the provider failed, yet there is an answer")
    if error is None:
        raise Failure("the provider failed, yet the call ended well")
    valid("Error", error)
    return error


def check_no_answer(session: Session, case: Case) -> Note:
    """The provider hangs up without a word: a network error that may be tried again."""
    for stream in (False, True):
        with session.upstream.play(Script((Break(),))):
            error = _error_of(session, case, question(session, case, stream), stream)
        same({"category": "network", "retryable": True}, visible_error(error, {"retryable": True}))
    return None


def check_page(session: Session, case: Case) -> Note:
    """A page where an answer is due is an invalid response; nothing of it is taken for content."""
    page = _whole(b"<!doctype html><title>Sign in</title>", kind="text/html; charset=utf-8")
    for stream in (False, True):
        with session.upstream.play(page):
            error = _error_of(session, case, question(session, case, stream), stream)
        same("invalid_response", error["category"], "a page instead of an answer")
    return None


def check_secret(session: Session, case: Case) -> Note:
    """A provider that repeats the key in its error: the key does not come back."""
    body = {"error": {"message": f"the key {KEY} is not valid", "type": "invalid", "code": KEY}, "message": KEY}
    for stream in (False, True):
        with session.upstream.play(_whole(body, status=401)) as seen:
            error = _error_of(session, case, question(session, case, stream), stream)
        if not any(KEY in value for one in seen for value in one.headers.values()):
            return "the provider wants no key"
        if KEY in dumps(error):
            raise Failure("the key stands in the error")
        same("authentication", error["category"])
    return None


# --- time -------------------------------------------------------------------------------------------------------------------


def _unhurried(session: Session, case: Case, stream: bool) -> float:
    """Seconds in which a call that is answered at once is long done, on this machine at this moment: the measure of what is
    in time, so that a busy machine fails nobody."""
    answer = (
        played([stream_data(case)], kind=_stream_kind(case)) if stream else _whole(case.value("response.wire.json"))
    )
    start = time.monotonic()
    with session.upstream.play(answer):
        _call(session, case, question(session, case, stream))
    return PAUSE + 4 * (time.monotonic() - start)


def check_paced(session: Session, case: Case) -> Note:
    """Events come while the provider is still at work."""
    chunks = frames.split(stream_data(case), case.framing)
    half = (terminal_index(case, chunks) + 1) // 2
    pause = Pause(_unhurried(session, case, stream=True))
    script = played(chunks[:half], pause, *chunks[half:], kind=_stream_kind(case))
    with session.upstream.play(script):
        events, _, at = _events(session, case, question(session, case, stream=True))
        late = session.upstream.late
    before = len(flat(read_stream(session, case, chunks[:half])[0][:-1]))
    if len(at) != len(events):
        return "the plug does not tell when events came"
    early = sum(1 for moment in at if late is not None and moment < late)
    if early < before:
        raise Failure(f"{before} events were complete before the pause of the provider, {early} came before it ended")
    return f"{before} of {len(events)} events before the pause"


def check_cancel(session: Session, case: Case) -> Note:
    """A caller that goes closes the call to the provider."""
    chunks = frames.split(stream_data(case), case.framing)
    half = (terminal_index(case, chunks) + 1) // 2
    with session.upstream.play(played(chunks[:half], Hang(), kind=_stream_kind(case))) as seen:
        events, _, _ = _events(session, case, question(session, case, stream=True), cancel_after=1)
        if not events:
            raise Failure("no event came before the cancellation")
        if not _sent(seen).closed.wait(LONGEST_WAIT):
            raise Failure(f"{LONGEST_WAIT:g} seconds after the caller went, the call to the provider is still open")
    return None


def check_deadline(session: Session, case: Case) -> Note:
    """The deadline of a call is that of the call to the provider."""
    for stream in (False, True):
        deadline = _unhurried(session, case, stream)
        late = 10 * deadline
        with session.upstream.play(Script((Hang(2 * late), b""))) as seen:
            start = time.monotonic()
            error = _error_of(session, case, question(session, case, stream), stream, deadline=deadline)
            took = time.monotonic() - start
            same("timeout", error["category"], "the deadline passed")
            if took > late:
                raise Failure(f"a deadline of {deadline:.2f} s was kept after {took:.1f} s")
            if not _sent(seen).closed.wait(late):
                raise Failure(f"{late:.1f} s after the deadline, the call to the provider is still open")
    return None


PACED = {
    "generate:paced": check_paced,
    "generate:cancel": check_cancel,
    "generate:deadline": check_deadline,
    "generate:no-answer": check_no_answer,
    "generate:page": check_page,
    "generate:secret": check_secret,
}
"""Asked on one exchange of each wire, the one that `paced` in adapter.json names: they take time, or look at no content."""
