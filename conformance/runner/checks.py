"""What each derived check does. Every function takes a session and a case, returns a note or None, and raises Failure.

A check here is for all cases at once; a case never brings code.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Any, TypeVar

from . import frames, schema
from .cases import Case
from .compare import (
    MISSING,
    Difference,
    ReportError,
    apply,
    difference,
    equal,
    get,
    loads,
    parse_pointer,
    pointer_of,
    show,
    strings,
    visible,
    visible_block,
    visible_error,
    visible_events,
    visible_response,
)
from .oracles import violations
from .plug import PlugError
from .session import Failure, Refused, Session

Note = str | None
T = TypeVar("T")
ACCEPTABLE_REFUSALS = ("invalid_request", "unsupported", "loss_refused")
PLANTED = "planted by the suite"


# --- asking -------------------------------------------------------------------------------------------------------------


def to_wire(session: Session, case: Case, request: Any, adapter: str | None = None) -> tuple[dict[str, Any], list[Any]]:
    """Write a request; the case's provider and model hold only for the case's own adapter."""
    own = adapter is None or adapter == case.adapter
    input = {
        "request": request,
        "provider": case.provider if own else None,
        "model": case.meta.get("model") if own else None,
    }
    output = session.ask("to_wire", adapter or case.adapter, input, "wire", "loss")
    wire, loss = output["wire"], output["loss"]
    if not isinstance(wire, dict) or not isinstance(wire.get("body"), dict) or not isinstance(loss, list):
        raise Failure("to_wire answers {wire: {method, path, headers, body}, loss: [...]}")
    return wire, loss


def read_request(session: Session, case: Case, wire: Any, adapter: str | None = None) -> dict[str, Any]:
    own = adapter is None or adapter == case.adapter
    input = {"wire": wire, "provider": case.provider if own else None}
    request = session.ask("from_wire_request", adapter or case.adapter, input, "request", "loss")["request"]
    if not isinstance(request, dict):
        raise Failure("from_wire_request answers {request, loss}")
    return request


def read_response(session: Session, case: Case, body: Any, adapter: str | None = None) -> dict[str, Any]:
    own = adapter is None or adapter == case.adapter
    input = {"body": body, "provider": case.provider if own else None}
    response = session.ask("from_wire_response", adapter or case.adapter, input, "response", "loss")["response"]
    if not isinstance(response, dict):
        raise Failure("from_wire_response answers {response, loss}")
    return response


def read_stream(
    session: Session, case: Case, chunks: list[bytes], adapter: str | None = None
) -> tuple[list[list[Any]], Any]:
    """The lists of events, one for each chunk and one for the end of input, and the folded answer."""
    input = {"chunks": [base64.b64encode(chunk).decode() for chunk in chunks], "provider": case.provider}
    output = session.ask("stream", adapter or case.adapter, input, "events")
    events = output["events"]
    if not isinstance(events, list) or not all(isinstance(item, list) for item in events):
        raise Failure("stream answers {events: [[...], ...], response}")
    if len(events) != len(chunks) + 1:
        raise Failure(
            f"stream answers one list of events for each chunk and one for the end: {len(chunks) + 1}, got {len(events)}"
        )
    return events, output.get("response")


def flat(events: list[list[Any]]) -> list[Any]:
    return [event for part in events for event in part]


def same(expected: Any, actual: Any, message: str = "", comparators: list[dict[str, Any]] | None = None) -> None:
    found = difference(expected, actual, comparators or [])
    if found is not None:
        raise Failure(message, found)


def canonical_request(session: Session, case: Case) -> dict[str, Any]:
    """The case's canonical request; read from its wire request where none is written down."""
    if case.has("request.canonical.json"):
        return case.value("request.canonical.json")
    request = read_request(session, case, case.value("request.wire.json"))
    _valid("Request", request)
    return request


# --- requests -----------------------------------------------------------------------------------------------------------


def check_to_wire(session: Session, case: Case) -> Note:
    wire, _ = to_wire(session, case, case.value("request.canonical.json"))
    same_wire(case, case.value("request.wire.json"), wire)
    return None


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


_LOSS_MEMBERS = ("op", "path", "to", "code", "severity", "value")


def check_loss(session: Session, case: Case) -> Note:
    _, loss = to_wire(session, case, case.value("request.canonical.json"))
    golden = case.value("request.loss.json") if case.has("request.loss.json") else []
    for index, (one, two) in enumerate(zip(golden, loss, strict=False)):
        found = difference(_loss_members(one), _loss_members(two))
        if found is not None:
            raise Failure(f"entry {index} of the loss report ({show(two.get('path'))})", found)
    if len(golden) != len(loss):
        rest = (golden if len(golden) > len(loss) else loss)[min(len(golden), len(loss))]
        word = "is missing" if len(golden) > len(loss) else "is not expected"
        raise Failure(
            f"{len(golden)} entries expected, got {len(loss)}; "
            f"{rest.get('op')} {rest.get('path') or '/'} ({rest.get('code')}, {rest.get('severity')}) {word}"
        )
    return None


def _loss_members(entry: Any) -> Any:
    return {name: entry[name] for name in _LOSS_MEMBERS if name in entry} if isinstance(entry, dict) else entry


def check_refusal(session: Session, case: Case) -> Note:
    golden = case.value("request.error.json")
    try:
        _, loss = to_wire(session, case, case.value("request.canonical.json"))
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
    return loss_law(session, case, case.value("request.canonical.json"), case.adapter)


def check_cross(session: Session, case: Case, adapter: str) -> Note:
    request = canonical_request(session, case)
    try:
        return loss_law(session, case, request, adapter)
    except Refused as refused:
        return accept_refusal(refused)


def accept_refusal(refused: Refused) -> Note:
    if refused.error["category"] in ACCEPTABLE_REFUSALS:
        return f"refused: {refused.error['category']} {refused.error.get('path', '')}".rstrip()
    raise refused


def check_valid(session: Session, case: Case, adapter: str) -> Note:
    """The provider would take the request: the written rules of the wire, as far as they can be checked offline."""
    request = canonical_request(session, case)
    try:
        wire, _ = to_wire(session, case, request, adapter)
    except Refused as refused:
        if adapter == case.adapter:
            raise
        return accept_refusal(refused)
    broken = violations(adapter, wire)
    if not request.get("model"):
        broken = [item for item in broken if item[0] != "/body/model"]
    if broken:
        pointer, reason = broken[0]
        more = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        raise Failure(f"the provider would not take this request: {pointer} {reason}{more}")
    return None


def check_from_wire_request(session: Session, case: Case) -> Note:
    request = case.value("request.canonical.json")
    golden = case.value("request.loss.json") if case.has("request.loss.json") else []
    try:
        expected = visible(apply(request, golden))
    except ReportError as error:
        raise Failure(f"request.loss.json does not fit request.canonical.json: {error}") from None
    actual = visible(read_request(session, case, case.value("request.wire.json")))
    same(expected, actual, "", case.comparators("request"))
    return None


def check_wire_fixpoint(session: Session, case: Case) -> Note:
    wire = case.value("request.wire.json")
    _fixpoint(session, case, wire)
    return None


def _fixpoint(session: Session, case: Case, wire: dict[str, Any]) -> None:
    request = read_request(session, case, wire)
    _valid("Request", request)
    again, loss = to_wire(session, case, request)
    try:
        same_wire(case, wire, again)
    except Failure as failure:
        told = f"; the loss report says {loss[0].get('op')} {loss[0].get('path')}" if loss else ""
        raise Failure(f"wire, canonical and wire again differ{told}", failure.difference) from None


# --- answers --------------------------------------------------------------------------------------------------------------


def check_from_wire_response(session: Session, case: Case) -> Note:
    golden = case.value("response.canonical.json")
    response = read_response(session, case, case.value("response.wire.json"))
    same_response(case, golden, response)
    return None


def same_response(case: Case, golden: dict[str, Any], response: dict[str, Any], message: str = "") -> None:
    expected = visible_response(golden, golden)
    actual = visible_response(response, golden)
    for name in ("model", "finish_reason_raw"):
        if name not in expected:
            actual.pop(name, None)
    same(expected, actual, message, case.comparators("response"))


def check_to_wire_response(session: Session, case: Case) -> Note:
    """Answer, canonical, and the same answer again: what a gateway does."""
    body = case.value("response.wire.json")
    response = read_response(session, case, body)
    _valid("Response", response)
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
    same_response(case, _without_state(golden), _without_state(read_response(session, case, output["body"])))
    return None


def _without_state(response: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in response.items() if name not in ("provider_state", "id")}


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
            {"role": "assistant", "content": message["content"], **_own_state(message)},
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


def _own_state(message: dict[str, Any]) -> dict[str, Any]:
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
    try:
        loss_law(session, case, {**there, "model": None} if request.get("model") is None else there, adapter)
        before, _ = to_wire(session, case, there)
        after, _ = to_wire(session, case, back)
        assert case.adapter is not None
        loss_law(session, case, back, case.adapter)
    except Refused as refused:
        return accept_refusal(refused)
    _same_prefix(before, after)
    _calls_answered(read_request(session, case, after))
    return None


def _foreign_answer(session: Session, adapter: str, answers: list[Case]) -> dict[str, Any]:
    """An answer of the other adapter, one with a tool call if there is one."""
    fallback: dict[str, Any] | None = None
    for other in answers:
        message = read_response(session, other, other.value("response.wire.json"))["message"]
        turn = {"role": "assistant", "content": message["content"], **_own_state(message)}
        kinds = [block.get("type") for block in message["content"]]
        if "tool_use" in kinds:
            return turn
        if fallback is None and "text" in kinds:
            fallback = turn
    if fallback is None:
        raise Failure(f"the suite holds no answer of {adapter} to go on with")
    return fallback


def _same_prefix(before: dict[str, Any], after: dict[str, Any]) -> None:
    """All but the last turn are written as before: what comes later may not change what the provider wrote."""
    one, two = before["body"].get("messages"), after["body"].get("messages")
    if not isinstance(one, list) or not isinstance(two, list):
        return
    same(one[:-1], two[: max(len(one) - 1, 0)], "an earlier turn is written otherwise after the swap")


def _calls_answered(request: dict[str, Any]) -> None:
    pending: dict[str, str] = {}
    for number, message in enumerate(request.get("messages", [])):
        for block in message.get("content", []):
            if block.get("type") == "tool_use":
                pending[block["id"]] = f"/messages/{number}"
            elif block.get("type") == "tool_result" and pending.pop(block["tool_use_id"], None) is None:
                raise Failure(f"/messages/{number}: a result whose call is not there")
    if pending:
        raise Failure(f"{next(iter(pending.values()))}: a call has lost its result")


# --- streams ----------------------------------------------------------------------------------------------------------------


def stream_data(case: Case) -> bytes:
    assert case.stream_file is not None
    return case.data(case.stream_file)


def whole_events(session: Session, case: Case) -> list[Any]:
    return flat(read_stream(session, case, [stream_data(case)])[0])


def check_stream(session: Session, case: Case) -> Note:
    golden = case.value("stream.events.jsonl")
    events = whole_events(session, case)
    _ends_once(events)
    if (
        not (golden and golden[-1].get("type") == "message_complete")
        and events
        and events[-1].get("type") == "message_complete"
    ):
        events = events[:-1]
    same(visible_events(golden, golden), visible_events(events, golden), "", case.comparators("events"))
    return None


def _ends_once(events: list[Any]) -> None:
    """A stream ends with message_complete or error, and nothing follows."""
    ends = [index for index, event in enumerate(events) if event.get("type") in ("message_complete", "error")]
    if not ends:
        raise Failure("the stream ends with neither message_complete nor error")
    if ends[0] != len(events) - 1:
        raise Failure(
            f"event {ends[0]} ({events[ends[0]]['type']}) ends the stream, yet {len(events) - 1 - ends[0]} more follow"
        )


def check_fold(session: Session, case: Case) -> Note:
    """Folding the events gives the answer: deltas, blocks, the last event, the plug's own fold and the unary answer agree."""
    parts, folded = read_stream(session, case, [stream_data(case)])
    events = flat(parts)
    _ends_once(events)
    final = events[-1].get("response")
    if final is None and events[-1]["type"] == "error" and not any("index" in event for event in events):
        return "nothing had arrived"
    if not isinstance(final, dict):
        raise Failure(f"{events[-1]['type']} carries no response")
    if isinstance(folded, dict):
        same(visible_response(final), visible_response(folded), "the plug's response is not that of its last event")
    message = final["message"]
    blocks = fold_blocks(events)
    same(
        [visible_block(block) for block in message["content"]],
        [visible_block(block) for block in blocks],
        "the blocks do not add up",
    )
    if case.has("response.canonical.json") and events[-1]["type"] == "message_complete":
        golden = _without_state(case.value("response.canonical.json"))
        golden = (
            {**golden, "usage": {name: item for name, item in golden["usage"].items() if name != "raw"}}
            if "usage" in golden
            else golden
        )
        same_response(case, golden, _without_state(final), "the streamed answer differs from the unary one")
    return None


def fold_blocks(events: list[Any]) -> list[Any]:
    """The first answer's blocks, from block_stop; Failure when the deltas tell another story."""
    stopped: dict[int, Any] = {}
    texts: dict[int, list[str]] = {}
    for event in events:
        if event.get("choice"):
            continue
        match event.get("type"):
            case "text_delta" | "thinking_delta" | "tool_use_input_delta":
                texts.setdefault(event["index"], []).append(event["text"])
            case "block_stop":
                if event["index"] in stopped:
                    raise Failure(f"block {event['index']} stops twice")
                stopped[event["index"]] = event["block"]
    if events and events[-1].get("type") == "error":
        final = events[-1].get("response") or {}
        return [stopped.get(index, block) for index, block in enumerate(final.get("message", {}).get("content", []))]
    if sorted(stopped) != list(range(len(stopped))):
        raise Failure(f"blocks {sorted(stopped)} stop: the indices have a hole")
    for index, block in stopped.items():
        _deltas_fit(index, block, "".join(texts.get(index, [])))
    return [stopped[index] for index in sorted(stopped)]


def _deltas_fit(index: int, block: dict[str, Any], text: str) -> None:
    match block.get("type"):
        case "text" | "thinking" if block.get("text") != text:
            raise Failure(f"block {index}: its deltas add up to another text", Difference("", block.get("text"), text))
        case "tool_use" if "input_raw" in block:
            if block["input_raw"] != text:
                raise Failure(
                    f"block {index}: its deltas add up to other arguments", Difference("", block["input_raw"], text)
                )
        case "tool_use":
            try:
                value = loads(text) if text.strip() else {}
            except ValueError:
                raise Failure(f"block {index}: its deltas are not JSON, yet input_raw is absent") from None
            if not equal(value, block.get("input")) and not (value is None and block.get("input") == {}):
                raise Failure(
                    f"block {index}: its deltas add up to other arguments", Difference("", block.get("input"), value)
                )


def check_chunks(session: Session, case: Case, cut: str) -> Note:
    chunks = frames.CUTS[cut](stream_data(case), case.framing)
    assert chunks is not None
    expected = visible_events(whole_events(session, case))
    events = flat(read_stream(session, case, chunks)[0])
    same(expected, visible_events(events), f"cut {cut}, the same bytes give other events")
    return None


def check_prompt(session: Session, case: Case) -> Note:
    """Events come with the chunk that completes their frame."""
    data = stream_data(case)
    chunks = frames.split(data, case.framing)
    parts, _ = read_stream(session, case, chunks)
    seen: list[list[str]] = [_frame_strings(chunk, case.framing) for chunk in chunks]
    for number, events in enumerate(parts[:-1]):
        for event in events:
            text = event.get("text")
            if not text or event.get("type") not in ("text_delta", "thinking_delta", "tool_use_input_delta"):
                continue
            if any(text in item for item in seen[number]):
                continue
            early = next((place for place in range(number) if any(text in item for item in seen[place])), None)
            if early is not None and len(text) > 3:
                raise Failure(f"a {event['type']} of frame {early} comes out with frame {number}")
    late = [event["type"] for event in parts[-1] if event.get("type") in _NEVER_LATE]
    if late:
        raise Failure(f"{len(late)} events, the first a {late[0]}, come out only at the end of input")
    return None


_NEVER_LATE = ("message_start", "block_start", "text_delta", "thinking_delta", "tool_use_start", "tool_use_input_delta")


def _frame_strings(chunk: bytes, framing: str) -> list[str]:
    found: list[str] = []
    for frame in frames.parse(chunk, framing):
        try:
            found += strings(loads(frame.data))
        except ValueError:
            found.append(frame.data)
    return found


def terminal_index(case: Case, chunks: list[bytes]) -> int:
    """The number of the frame that ends the answer, by the rule in adapter.json; the last one with data otherwise."""
    found, last = _terminal(case, chunks)
    return last if found is None else found


def has_terminal(case: Case) -> bool:
    """Whether the stream holds the frame that the wire ends with. Without a rule every stream does."""
    found, _ = _terminal(case, frames.split(stream_data(case), case.framing))
    return found is not None or not case.wire.get("terminal")


def _terminal(case: Case, chunks: list[bytes]) -> tuple[int | None, int]:
    rule = case.wire.get("terminal", {})
    last = len(chunks) - 1
    for index, chunk in enumerate(chunks):
        for frame in frames.parse(chunk, case.framing):
            if ("event" in rule and frame.event == rule["event"]) or ("data" in rule and frame.data == rule["data"]):
                return index, index
            last = index
    return None, last


def check_truncated(session: Session, case: Case, inside: bool) -> Note:
    """Cut before the end, at frame boundaries or inside frames: an error, never a clean finish."""
    chunks = frames.split(stream_data(case), case.framing)
    end = terminal_index(case, chunks)
    tried = _spread(range(end + 1), 24)
    for kept in tried:
        data = chunks[:kept] + ([chunks[kept][: max(len(chunks[kept]) // 2, 1)]] if inside else [])
        events = flat(read_stream(session, case, data)[0])
        where = f"cut {'inside' if inside else 'before'} frame {kept} of {len(chunks)}"
        if any(event.get("type") == "message_complete" for event in events):
            raise Failure(f"clean finish on a truncated stream, {where}")
        if not events or events[-1].get("type") != "error":
            raise Failure(f"no error event on a truncated stream, {where}")
    return f"{len(tried)} cuts"


def _spread(items: Sequence[T], limit: int) -> list[T]:
    """At most `limit` items: the first ones, the last ones, and evenly in between."""
    if len(items) <= limit:
        return list(items)
    third = limit // 3
    middle = items[third:-third]
    step = len(middle) / third
    return [*items[:third], *(middle[int(index * step)] for index in range(third)), *items[-third:]]


def check_after_end(session: Session, case: Case) -> Note:
    """Whatever follows the terminal frame is not part of the answer."""
    data = stream_data(case)
    chunks = frames.split(data, case.framing)
    tail = b"".join(chunks[: terminal_index(case, chunks)])[-4000:]
    again = frames.split(tail, case.framing)[-1:] if tail else []
    events = flat(read_stream(session, case, [data, *again])[0])
    same(
        visible_events(whole_events(session, case)),
        visible_events(events),
        "bytes behind the terminal frame change the events",
    )
    return None


def check_stream_encode(session: Session, case: Case) -> Note:
    """The events, written as a stream of this wire and read again, give the same answer."""
    events = whole_events(session, case)
    output = session.ask("stream_encode", case.adapter, {"events": events, "provider": case.provider}, "chunks")
    chunks = [base64.b64decode(chunk) for chunk in output["chunks"]]
    again = flat(read_stream(session, case, chunks)[0])
    _ends_once(again)
    for one, two in ((events[-1], again[-1]),):
        same(one["type"], two["type"], "the encoded stream ends otherwise")
        if isinstance(one.get("response"), dict) and one["type"] == "message_complete":
            golden = _comparable_answer(one["response"])
            same(golden, _comparable_answer(two.get("response") or {}), "the encoded stream gives another answer")
    return None


def _comparable_answer(response: dict[str, Any]) -> dict[str, Any]:
    return visible_response(_without_state(response), {})


# --- what providers will add ------------------------------------------------------------------------------------------------


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
    kept = any(PLANTED in text for text in strings(output["response"]))
    reported = any(str(entry.get("code", "")).startswith("unknown") for entry in output["loss"])
    if rule.get("keep") and not kept and not reported:
        raise Failure(f"what was planted at {rule['put']} is gone, and the loss report is silent")
    plain = visible_response(_without_state(read_response(session, case, body)), {})
    seen = visible_response(_without_state(output["response"]), {})
    for name in ("finish_reason", "finish_reason_raw", "usage", "model"):
        same(plain.get(name, MISSING), seen.get(name, MISSING), f"an unknown member changes {name}")
    same(
        plain["message"]["content"],
        _without_planted(seen["message"]["content"]),
        "an unknown member changes the content",
    )
    return None


def _without_planted(value: Any) -> Any:
    """The value without planted items, and without what became empty by that."""
    if isinstance(value, list):
        return [_without_planted(item) for item in value if not _is_planted(item)]
    if isinstance(value, dict):
        cleaned = {}
        for name, item in value.items():
            if name == "x_planted":
                continue
            left = _without_planted(item)
            if left == {} and item != {} and name in ("provider_state", "fields"):
                continue
            cleaned[name] = left
        return cleaned
    return value


def _is_planted(item: Any) -> bool:
    return isinstance(item, dict) and (item.get("type") == "x_planted" or item.get("kind") == "x_planted")


def check_unknown_stream(session: Session, case: Case, rule: dict[str, Any]) -> Note:
    planted = planted_stream(case, rule)
    assert planted is not None
    events = flat(read_stream(session, case, [planted])[0])
    expected = visible_events(_comparable_events(whole_events(session, case)), [])
    seen = _without_planted(visible_events(_comparable_events(events), []))
    same(expected, seen, "something unknown in the stream changes the known events")
    return None


def _comparable_events(events: list[Any]) -> list[Any]:
    """Events without answer-level state, where an unknown member may be kept."""
    return [
        {**event, "response": _without_state(event["response"])} if isinstance(event.get("response"), dict) else event
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
                frame, done = frames.json_frame(frame.event, changed), True
        result.append(frame)
        if isinstance(value, dict) and not done and "after" in rule and _fits(value, rule["after"]):
            data = {**rule["data"], **{name: value[name] for name in rule.get("copy", []) if name in value}}
            result.append(frames.json_frame(rule.get("event"), data))
            done = True
    return b"".join(frame.encode(case.framing) for frame in result) if done else None


def _fits(value: dict[str, Any], pattern: dict[str, Any]) -> bool:
    return all(equal(value.get(name, MISSING), item) for name, item in pattern.items())


def check_unknown_request(session: Session, case: Case, rule: dict[str, Any]) -> Note:
    planted = plant(case.value("request.wire.json"), rule["put"], rule["value"])
    assert planted is not None
    _fixpoint(session, case, planted)
    return None


# --- hostile inputs -----------------------------------------------------------------------------------------------------------

WRONG_VALUES: tuple[Any, ...] = (None, PLANTED, [], {}, 7, [[PLANTED]], {"type": PLANTED}, True)


def check_hostile(session: Session, case: Case, operation: str, member: str | None, name: str) -> Note:
    """Wrong values in every place of a sound input: a result or a typed error that holds no content, never a crash.

    `member` is the member of the input that the file holds; None when the file holds the whole input.
    """
    sound = case.value(name)
    if session.answer(operation, case.adapter, {member: 7} if member else {}).error is None:
        raise Failure(
            f"{operation} takes the number 7 for a {member}" if member else f"{operation} takes an empty input"
        )
    places = _places(sound, [])[0 if member else 1 :]
    tried = _spread(places, 60)
    for number, steps in enumerate(tried):
        value = WRONG_VALUES[number % len(WRONG_VALUES)]
        wrong = _replaced(sound, steps, value)
        input = {member: wrong, **({"provider": case.provider} if case.provider else {})} if member else wrong
        _survives(session, case, operation, input, f"{show(value)} at {pointer_of(steps) or '/'}")
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
    for number, frame in _spread(list(enumerate(parsed)), 24):
        try:
            value = loads(frame.data)
        except ValueError:
            continue
        for turn, steps in enumerate(_spread(_places(value, []), 8)):
            wrong = WRONG_VALUES[(number + turn) % len(WRONG_VALUES)]
            changed = frames.json_frame(frame.event, _replaced(value, steps, wrong))
            what = f"{show(wrong)} at {pointer_of(steps) or '/'} of frame {number}"
            streams.append((what, [*parsed[:number], changed, *parsed[number + 1 :]]))
    for what, found in streams:
        data = b"".join(frame.encode(case.framing) for frame in found)
        _survives(session, case, "stream", {"chunks": [base64.b64encode(data).decode()]}, what)
    return f"{len(streams)} broken streams"


def _survives(session: Session, case: Case, operation: str, input: Any, what: str) -> None:
    try:
        answer = session.plug.call(operation, case.adapter, input)
    except PlugError as error:
        raise type(error)(f"{operation} with {what}: {error}") from None
    if operation == "stream" and answer.output is not None:
        parts = answer.output.get("events")
        if not isinstance(parts, list) or not all(isinstance(part, list) for part in parts):
            raise Failure(f"stream with {what}: the events are not given")
    if answer.error is not None and PLANTED in answer.error["message"]:
        raise Failure(f"{operation} with {what}: the text of the error holds content")


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


# --- schema -------------------------------------------------------------------------------------------------------------------


def check_schema_request(session: Session, case: Case) -> Note:
    return _valid("Request", read_request(session, case, case.value("request.wire.json")))


def check_schema_response(session: Session, case: Case) -> Note:
    return _valid("Response", read_response(session, case, case.value("response.wire.json")))


def check_schema_events(session: Session, case: Case) -> Note:
    for number, event in enumerate(whole_events(session, case)):
        _valid("StreamEvent", event, f"event {number} ({event.get('type') if isinstance(event, dict) else '?'})")
    return None


def check_schema_loss(session: Session, case: Case) -> Note:
    wire, loss = to_wire(session, case, case.value("request.canonical.json"))
    _valid("WireRequest", wire)
    for number, entry in enumerate(loss):
        _valid("LossEntry", entry, f"entry {number} of the loss report")
        if entry["code"] not in schema.loss_codes():
            raise Failure(f"entry {number} of the loss report: {entry['code']!r} is not a code of the specification")
        if entry["op"] in ("move", "merge") and "to" not in entry:
            raise Failure(f"entry {number} of the loss report: {entry['op']} without a destination")
    return None


def _valid(name: str, value: Any, what: str = "") -> Note:
    invalid = schema.canonical().validate(value, name)
    if invalid is not None:
        raise Failure(f"{what or name} is not valid under the schema: {invalid}")
    return None


# --- rows -----------------------------------------------------------------------------------------------------------------------


def check_error_row(session: Session, case: Case) -> Note:
    row = _row(case)
    golden = row["error"]
    input = {
        "status": row["status"],
        "headers": row.get("headers", {}),
        "body": row.get("body"),
        "provider": case.provider,
    }
    answer = session.answer("error", case.adapter, input)
    if answer.unsupported:
        raise Failure("false advertising: error is claimed in hello and answers unsupported")
    error = answer.error if answer.error is not None else answer.output
    assert error is not None
    error = error.get("error", error)
    _valid("Error", error)
    same(visible_error(golden, golden), visible_error(error, golden), "", case.comparators("error"))
    if "retryable" in golden and "retryable" not in error:
        raise Failure("the error does not say whether it is retryable")
    return None


def check_cost_row(session: Session, case: Case) -> Note:
    """Exact money, null when unpriced; and additivity, where the row says that the price is linear."""
    row = _row(case)
    cost = _cost(session, row["usage"], row.get("price"))
    wanted = row["cost"]["total"]
    if (wanted is None) != (cost is None) or (wanted is not None and Decimal(wanted) != cost):
        raise Failure("cost_usd", Difference("", wanted, None if cost is None else str(cost)))
    if row.get("additive") and cost is not None:
        double = {name: value * 2 for name, value in row["usage"].items() if type(value) is int}
        twice = _cost(session, double, row.get("price"))
        if twice != 2 * cost:
            raise Failure("twice the usage does not cost twice as much", Difference("", str(2 * cost), str(twice)))
    return None


def _cost(session: Session, usage: Any, price: Any) -> Decimal | None:
    # A missing price and a null price are the same question: what does an unpriced model cost?
    answer = session.answer("cost", None, {"usage": usage, "price": price})
    if answer.unsupported:
        raise Failure("false advertising: cost is claimed in hello and answers unsupported")
    if answer.error is not None:
        raise Refused("cost", answer.error)
    if "cost_usd" not in answer.output:
        raise Failure("the output of cost has no member 'cost_usd'; an unpriced model has null there")
    text = answer.output["cost_usd"]
    if text is None:
        return None
    if not isinstance(text, str) or not _PLAIN_DECIMAL.fullmatch(text):
        raise Failure(f"cost_usd: money is a plain decimal string, got {show(text)}")
    return Decimal(text)


_PLAIN_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?")


def check_estimate_row(session: Session, case: Case) -> Note:
    row = _row(case)
    adapter = row.get("adapter") or case.adapter
    request = row["request"]
    low, likely, high = _estimate(session, adapter, request, row.get("model"))
    if "tokens" in row:
        true = row["tokens"]
        if not low <= true <= high:
            raise Failure(f"{true} tokens were counted, the estimate is {low} to {high}")
        if "tolerance" in row and abs(likely - true) > row["tolerance"] * true:
            raise Failure(f"likely {likely} is more than {row['tolerance']:.0%} from {true}")
    longer = {
        **request,
        "messages": [
            *request["messages"],
            {"role": "user", "content": [{"type": "text", "text": "And one more question."}]},
        ],
    }
    grown = _estimate(session, adapter, longer, row.get("model"))
    if grown[1] < likely:
        raise Failure(f"one more message lowers the estimate from {likely} to {grown[1]}")
    return None


def _estimate(session: Session, adapter: str | None, request: Any, model: str | None) -> tuple[int, int, int]:
    output = session.ask("estimate", adapter, {"request": request, "model": model}, "low", "likely", "high")
    _valid("TokenEstimate", output)
    low, likely, high = output["low"], output["likely"], output["high"]
    if not low <= likely <= high:
        raise Failure(f"low {low}, likely {likely}, high {high} are not in order")
    return low, likely, high


def check_schema_row(session: Session, case: Case) -> Note:
    row = _row(case)
    name = row.get("type") or case.meta.get("type")
    output = session.ask("validate", None, {"type": name, "instance": row["instance"]}, "valid")
    if output["valid"] is not row["valid"]:
        raise Failure(f"{'valid' if row['valid'] else 'invalid'} expected, got {show(output)}")
    if not row["valid"] and "pointer" in row:
        # A union may be reported at the value that fits no form (`outer`), or deeper, at the member that spoils it.
        path = output.get("path", MISSING)
        if path not in (row["pointer"], row.get("outer", row["pointer"])):
            raise Failure("path", Difference("", row["pointer"], path))
    return None


def check_framing_row(session: Session, case: Case, cut: str) -> Note:
    """Odd bytes give the events of the plainest bytes of the same frames."""
    row = _row(case)
    adapter = case.meta["adapter"]
    data = row_bytes(row)
    plain = b"".join(frames.Frame(frame.get("event"), frame["data"]).encode("sse") for frame in row["frames"])
    chunks = frames.CUTS[cut](data, "sse")
    assert chunks is not None
    expected = flat(read_stream(session, case, [plain], adapter)[0])
    events = flat(read_stream(session, case, chunks, adapter)[0])
    same(visible_events(expected), visible_events(events), "these bytes give other events than the plainest spelling")
    return None


def row_bytes(row: dict[str, Any]) -> bytes:
    return base64.b64decode(row["base64"]) if "base64" in row else row["bytes"].encode()


def _row(case: Case) -> dict[str, Any]:
    assert case.row is not None
    return case.row


# --- routing --------------------------------------------------------------------------------------------------------------------


def check_route(session: Session, case: Case) -> Note:
    """The golden decision, and the same one when asked again."""
    golden = case.value("route.decision.json")
    for _ in range(2):
        same(
            without_prose(golden),
            without_prose(_route(session, case.value("route.input.json"))),
            "",
            case.comparators("decision"),
        )
    return None


def check_route_order(session: Session, case: Case) -> Note:
    """The order of members, of the catalog above all, has no influence."""
    turned = _reversed_members(case.value("route.input.json"))
    same(
        without_prose(case.value("route.decision.json")),
        without_prose(_route(session, turned)),
        "",
        case.comparators("decision"),
    )
    return None


def _reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _reversed_members(item) for name, item in reversed(value.items())}
    return [_reversed_members(item) for item in value] if isinstance(value, list) else value


def _route(session: Session, input: Any) -> dict[str, Any]:
    answer = session.plug.call("route", None, input)
    if answer.unsupported:
        raise Failure("false advertising: route is claimed in hello and answers unsupported")
    return answer.output if answer.error is None else {"error": {"category": answer.error["category"]}}


# `reason` is a sentence for a person; the machine words stand in `verdict`, `validation_failure` and the like.
_PROSE = ("message", "reason")


def without_prose(value: Any) -> Any:
    """A decision without texts for people."""
    if isinstance(value, dict):
        return {name: without_prose(item) for name, item in value.items() if name not in _PROSE}
    return [without_prose(item) for item in value] if isinstance(value, list) else value


CheckFunction = Callable[[Session, Case], Note]
