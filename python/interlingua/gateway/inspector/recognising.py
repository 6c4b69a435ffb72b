"""
The kind of a pasted text (a request, a response, a stream or an error) and its wire. Each adapter tries to read the
text; marks in the body (adapters/_recognition.py) decide between wires that can all read it.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from interlingua import adapters, registry, translate
from interlingua.adapters._recognition import CANONICAL, marks_of, scores
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.validate import violations
from interlingua.gateway.inspector.pieces import pieces
from interlingua.wire import sse

Data = dict[str, Any]
Found = tuple[str, str]

KINDS = ("request", "response", "stream", "error")
_INSPECTED_BYTES = 1 << 20


def recognise(data: bytes) -> list[Found]:
    """The possible kinds and wires of a text, the most likely first; empty for a text that is nothing of these."""
    value = _value(data)
    if value is None:
        return [("stream", wire) for wire in _streams(data)]
    if isinstance(value, list):
        return [("stream", wire) for wire in _streams(data)] or [("error", wire) for wire in _errors(value)]
    body = value["body"] if _is_response(value) or _is_request(value) else value
    if _is_response(value):
        return [("error", wire) for wire in _errors(body)]
    model_wire = _wire_of_model(body)
    scored = sorted(_marked_kinds(body), key=lambda row: (row[0], row[2] == model_wire, row[1:]), reverse=True)
    readable = [(kind, wire) for _, kind, wire in scored if _reads(kind, wire, value)]
    if _is_request(value):
        readable.sort(key=lambda pair: not _has_the_same_path(pair[1], value))
    return readable or [("error", wire) for wire in _errors(body)]


def events_of(data: bytes) -> list[Data]:
    """Canonical events, from a list or with one event in each line. Raises `InvalidRequest`."""
    value = _value(data)
    events = value if isinstance(value, list) else [json.loads(line) for line in data.splitlines() if line.strip()]
    for position, event in enumerate(events):
        if not isinstance(event, dict) or violations(event, "StreamEvent"):
            raise InvalidRequest("the line is not a canonical event", path=f"/{position}")
    return events


def _value(data: bytes) -> Any:
    try:
        value = json.loads(data)
    except InvalidRequest:
        return None
    return value if isinstance(value, (dict, list)) else None


def _is_request(value: Data) -> bool:
    return "path" in value and isinstance(value.get("body"), dict)


def _is_response(value: Data) -> bool:
    return type(value.get("status")) is int and "body" in value


def _wire_of_model(body: Any) -> str | None:
    """The wire of the model that a body names, where the registry knows it. It decides for short requests without
    marks."""
    name = body.get("model") if isinstance(body, dict) else None
    return next((row["adapter"] for row in registry.default().models() if name in (row["name"], row["id"])), None)


def _marked_kinds(body: Any) -> Iterator[tuple[int, str, str]]:
    """The number of marks of each kind and wire that a body has. A whole response is not taken for a request, although
    some members are in both."""
    for kind in ("request", "response"):
        for wire, score in scores(body, kind).items():
            if score or (kind == "request" and isinstance(body, dict) and "messages" in body):
                yield score, kind, wire


def _reads(kind: str, wire: str, value: Data) -> bool:
    with suppress(InterlinguaError):
        if wire == CANONICAL:
            return not violations(value, kind.capitalize())
        if kind == "request":
            translate.read_request(value, wire)
        else:
            translate.read_response(value, wire)
        return True
    return False


def _has_the_same_path(wire: str, request: Data) -> bool:
    """Whether a wire sends a request to the same path that this request has."""
    with suppress(InterlinguaError):
        canonical, _ = translate.read_request(request, wire)
        written = translate.project(canonical, translate.endpoint_of(wire)).wire["path"]
        return str(request["path"]).partition("?")[0].endswith(written.partition("?")[0])
    return False


def _streams(data: bytes) -> list[str]:
    """The wires that read a stream; those that read the most of it come first."""
    candidates: list[tuple[bool, int, str]] = []
    for wire in adapters.names():
        with suppress(InterlinguaError):
            endpoint = translate.endpoint_of(wire)
            reader = translate.StreamReader(endpoint)
            events = [event for _, part in pieces(data[:_INSPECTED_BYTES], endpoint) for event in reader.feed(part)]
            events += reader.end()
            read_events = sum(event["type"] != "error" for event in events)
            if read_events > 1 or (events and _is_a_provider_error(events[-1])):
                candidates.append((events[-1]["type"] == "message_complete", read_events, wire))
    if candidates and not any(read_events for _, read_events, _ in candidates):
        # only an error: find the wire that writes errors like this
        frames = [frame.data for frame in sse.Decoder().feed(data)]
        order = _errors(_value(frames[0].encode("utf-8", "replace")) if frames else None)
        return sorted(
            (wire for _, _, wire in candidates), key=lambda wire: order.index(wire) if wire in order else len(order)
        )
    if candidates:
        return [wire for _, _, wire in sorted(candidates, reverse=True)]
    with suppress(InterlinguaError):
        return [CANONICAL] if events_of(data) else []
    return []


def _is_a_provider_error(event: Data) -> bool:
    """Whether a stream ends with an error that its provider sent, and not only with a missing end."""
    return event["type"] == "error" and bool(event["error"].get("provider_message"))


def _errors(body: Any) -> list[str]:
    """The wires, sorted by how similar a body is to their own errors: each wire writes again what it read."""
    if isinstance(body, dict) and not violations(body, "Error"):
        return [CANONICAL]
    text = body if isinstance(body, str) else json.dumps(body)
    marks = marks_of(body[0] if isinstance(body, list) and body else body)
    candidates: list[tuple[int, str]] = []
    for wire in adapters.names():
        with suppress(InterlinguaError):
            error = translate.read_error(None, {}, text, wire)
            written, _ = translate.write_error(error, wire)
            written_marks = marks_of(written["body"])
            if error.get("provider_message"):
                candidates.append((len(marks & written_marks) * 2 - len(written_marks) - len(marks), wire))
    return [wire for _, wire in sorted(candidates, reverse=True)]
