"""
The kind of a pasted text (a request, a response, a stream or an error) and its wire. Each adapter tries to read the
text; marks in the body (adapters/_errors/recognition.py) decide between wires that can all read it.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from interlingua import adapters, registry, translate
from interlingua.adapters._errors.recognition import CANONICAL, marks_of, scores
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.validate import violations
from interlingua.gateway.inspector.pieces import pieces
from interlingua.wire import sse

Data = dict[str, Any]
Found = tuple[str, str]

KINDS = ("request", "response", "stream", "error")
_LOOKED_AT = 1 << 20


def recognise(given: bytes) -> list[Found]:
    """The possible kinds and wires of a text, the most likely first; empty for a text that is nothing of these."""
    value = _value(given)
    if value is None:
        return [("stream", wire) for wire in _streams(given)]
    if isinstance(value, list):
        return [("stream", wire) for wire in _streams(given)] or [("error", wire) for wire in _errors(value)]
    body = value["body"] if _is_answer(value) or _is_request(value) else value
    if _is_answer(value):
        return [("error", wire) for wire in _errors(body)]
    home = _home(body)
    found = sorted(_marked(body), key=lambda one: (one[0], one[2] == home, one[1:]), reverse=True)
    named = [(kind, wire) for _, kind, wire in found if _reads(kind, wire, value)]
    if _is_request(value):
        named.sort(key=lambda one: not _has_the_same_path(one[1], value))
    return named or [("error", wire) for wire in _errors(body)]


def events_of(given: bytes) -> list[Data]:
    """Canonical events, from a list or with one event in each line. Raises `InvalidRequest`."""
    value = _value(given)
    events = value if isinstance(value, list) else [json.loads(line) for line in given.splitlines() if line.strip()]
    for position, event in enumerate(events):
        if not isinstance(event, dict) or violations(event, "StreamEvent"):
            raise InvalidRequest("not a canonical event", path=f"/{position}")
    return events


def _value(given: bytes) -> Any:
    try:
        value = json.loads(given)
    except InvalidRequest:
        return None
    return value if isinstance(value, (dict, list)) else None


def _is_request(value: Data) -> bool:
    return "path" in value and isinstance(value.get("body"), dict)


def _is_answer(value: Data) -> bool:
    return type(value.get("status")) is int and "body" in value


def _home(body: Any) -> str | None:
    """The wire of the model that a body names, where the registry knows it. It decides for short requests without
    marks."""
    name = body.get("model") if isinstance(body, dict) else None
    return next((row["adapter"] for row in registry.default().models() if name in (row["name"], row["id"])), None)


def _marked(body: Any) -> Iterator[tuple[int, str, str]]:
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


def _streams(given: bytes) -> list[str]:
    """The wires that read a stream; those that read the most of it come first."""
    found: list[tuple[bool, int, str]] = []
    for wire in adapters.names():
        with suppress(InterlinguaError):
            endpoint = translate.endpoint_of(wire)
            reader = translate.StreamReader(endpoint)
            events = [event for _, part in pieces(given[:_LOOKED_AT], endpoint) for event in reader.feed(part)]
            events += reader.end()
            said = sum(event["type"] != "error" for event in events)
            if said > 1 or (events and _is_a_provider_error(events[-1])):
                found.append((events[-1]["type"] == "message_complete", said, wire))
    if found and not any(said for _, said, _ in found):  # only an error: find the wire that writes errors like this
        data = [frame.data for frame in sse.Decoder().feed(given)]
        order = _errors(_value(data[0].encode("utf-8", "replace")) if data else None)
        return sorted(
            (wire for _, _, wire in found), key=lambda wire: order.index(wire) if wire in order else len(order)
        )
    if found:
        return [wire for _, _, wire in sorted(found, reverse=True)]
    with suppress(InterlinguaError):
        return [CANONICAL] if events_of(given) else []
    return []


def _is_a_provider_error(event: Data) -> bool:
    """Whether a stream ends with an error that its provider sent, and not only with a missing end."""
    return event["type"] == "error" and bool(event["error"].get("provider_message"))


def _errors(body: Any) -> list[str]:
    """The wires, sorted by how similar a body is to their own errors: each wire writes again what it read."""
    if isinstance(body, dict) and not violations(body, "Error"):
        return [CANONICAL]
    text = body if isinstance(body, str) else json.dumps(body)
    given = marks_of(body[0] if isinstance(body, list) and body else body)
    found: list[tuple[int, str]] = []
    for wire in adapters.names():
        with suppress(InterlinguaError):
            error = translate.read_error(None, {}, text, wire)
            written, _ = translate.write_error(error, wire)
            again = marks_of(written["body"])
            if error.get("provider_message"):
                found.append((len(given & again) * 2 - len(again) - len(given), wire))
    return [wire for _, wire in sorted(found, reverse=True)]
