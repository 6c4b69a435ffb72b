"""
One value in all wires and in canonical form, for the playground. The adapters hold all knowledge of wires.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec

from interlingua import adapters, registry, translate
from interlingua.adapters._engine.kit import data_of
from interlingua.adapters._recognition import CANONICAL
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError, InvalidRequest, ProviderError
from interlingua.canonical.loss import Entry, parse_pointer
from interlingua.gateway.calls import without_values
from interlingua.gateway.inspector.pieces import as_text, pieces
from interlingua.gateway.inspector.places import Finder, Places
from interlingua.gateway.inspector.recognising import KINDS, events_of, recognise

Data = dict[str, Any]
Write = Callable[[Data, Endpoint], tuple[Mapping[str, Any], list[Entry]]]

LIMIT = 4 << 20
"""The longest value that can be compared, in bytes."""

_LOCATED_BYTES = 256 << 10  # bytes of the longest value whose losses are located in both wires
_MAX_LOCATED = 60  # losses of one side that are located


@dataclass(slots=True)
class Side:
    """The value in one wire: its `text`, or the `pieces` of a stream, with the losses and their places."""

    wire: str
    text: str | None = None
    pieces: list[Data] | None = None
    loss: list[Data] = field(default_factory=list[Data])
    error: Data | None = None
    details: Data = field(default_factory=dict[str, Any])

    def as_data(self) -> Data:
        """The side as JSON data."""
        return {
            "wire": self.wire,
            "text": self.text,
            "pieces": self.pieces,
            "loss": self.loss,
            "error": self.error,
            **self.details,
        }


def compare(data: bytes, kind: str | None = None, wire: str | None = None) -> Data:
    """Compare a value in all wires. Its kind and its wire are recognised unless they are named.

    Raises `InvalidRequest` for unknown names. An error of the value itself is in the member `error` of the result.
    """
    if kind is not None and kind not in KINDS:
        raise InvalidRequest(f"kind must be one of {', '.join(KINDS)}", path="/kind")
    if wire is not None and wire not in (CANONICAL, *adapters.names()):
        raise InvalidRequest(f"wire must be one of {', '.join((CANONICAL, *adapters.names()))}", path="/wire")
    if len(data) > LIMIT:
        raise InvalidRequest(f"the value is longer than {LIMIT} bytes, the limit of the playground")
    recognised = recognise(data)
    fitting = [pair for pair in recognised if (kind or pair[0]) == pair[0] and (wire or pair[1]) == pair[1]]
    chosen = (
        fitting[0]
        if fitting
        else (kind or (recognised[0][0] if recognised else "request"), wire or _first_wire(recognised))
    )
    result: Data = {"kind": chosen[0], "wire": chosen[1], "recognised": recognised, "error": None, "sides": []}
    if not recognised and kind is None and wire is None:
        return result | {"error": _unknown()}
    try:
        sides = (_stream if chosen[0] == "stream" else _document)(data, *chosen)
    except InterlinguaError as problem:
        return result | {"error": _error_data(problem)}
    return result | {"sides": [side.as_data() for side in sides]}


def _first_wire(recognised: list[tuple[str, str]]) -> str:
    return recognised[0][1] if recognised else CANONICAL


def _unknown() -> Data:
    message = (
        "this is not recognised as a request, answer, stream or error of any wire; choose its kind and its wire above"
    )
    return {"category": "invalid_request", "message": message}


def _error_data(problem: InterlinguaError) -> Data:
    error = problem.error if isinstance(problem, ProviderError) else problem.to_dict()
    return {name: value for name, value in error.items() if name not in ("raw", "loss")}


# ---------------------------------------------------------------------------------------------------- documents


def _document(data: bytes, kind: str, wire: str) -> list[Side]:
    """A request, an answer or an error in all wires."""
    name = kind.capitalize()
    value = _json(data)
    write: Write = {"request": _write_request, "response": _write_response, "error": _write_error}[kind]
    at = ""
    source: Endpoint | None = None
    read_loss: list[Entry] = []
    if wire == CANONICAL:
        canonical = translate.load(value, name)
    else:
        source = translate.endpoint_of(wire)
        canonical, read_loss, at = _read_value(value, kind, source)
    # a loss policy of the value itself would refuse projections that are to be shown
    canonical = {member: part for member, part in canonical.items() if member != "loss_policy"}
    source_finder = None
    if len(data) <= _LOCATED_BYTES:
        # an error is written from the body that it was read from: without that body, changes of other members show
        source_finder = Finder(
            data_of(translate.without_raw(canonical)) if kind == "error" else canonical,
            name,
            (lambda document: document) if source is None else lambda document: write(document, source)[0]["body"],
        )
    sides = [Side(CANONICAL, _pretty(canonical), loss=_with_places(read_loss, source_finder, None, at))]
    for target in adapters.names():
        side = Side(target)
        endpoint = translate.endpoint_of(target)
        try:
            written, loss = write(canonical, endpoint)
            side.text = _pretty(written["body"])
            side.details = {part: written[part] for part in ("status", "headers") if part in written}
            if kind == "request":
                side.details["path"] = _path(endpoint, written["path"])
            target_finder = None
            if source_finder is not None:
                target_finder = Finder(canonical, name, _body_of(write, endpoint), written["body"])
            side.loss = _with_places([*read_loss, *loss], source_finder, target_finder, at)
        except InterlinguaError as problem:
            side.error = _error_data(problem)
        sides.append(side)
    return sides


def _body_of(write: Write, endpoint: Endpoint) -> Callable[[Data], Any]:
    return lambda document: write(document, endpoint)[0]["body"]


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except InvalidRequest:
        return data.decode("utf-8", "replace")


def _read_value(value: Any, kind: str, source: Endpoint) -> tuple[Mapping[str, Any], list[Entry], str]:
    """The canonical value of a wire's value, the loss of reading, and the path of the body in the given value."""
    if kind == "error":
        is_wrapped = isinstance(value, dict) and type(value.get("status")) is int and "body" in value
        status = value["status"] if is_wrapped else None
        headers = {str(name): str(text) for name, text in (value.get("headers") or {}).items()} if is_wrapped else {}
        body = value["body"] if is_wrapped else value
        text = body if isinstance(body, str) else json.dumps(body)
        return translate.from_wire_error(status, headers, text, source, raw=True), [], "/body" if is_wrapped else ""
    if not isinstance(value, dict):
        raise InvalidRequest(f"a {kind} must be a JSON object", path="")
    if kind == "response":
        return *translate.from_wire_response(value, source), ""
    is_wrapped = "path" in value and "body" in value
    wire = {"method": "POST", **value} if is_wrapped else {"method": "POST", "path": "", "body": value}
    return *translate.from_wire_request(wire, source), "/body" if is_wrapped else ""


def _write_request(canonical: Data, endpoint: Endpoint) -> tuple[Mapping[str, Any], list[Entry]]:
    written, loss = translate.write_request(canonical, endpoint)
    return written, list(loss)


def _write_response(canonical: Data, endpoint: Endpoint) -> tuple[Mapping[str, Any], list[Entry]]:
    body, loss = translate.to_wire_response(canonical, endpoint)
    return {"body": body}, list(loss)


def _write_error(canonical: Data, endpoint: Endpoint) -> tuple[Mapping[str, Any], list[Entry]]:
    written, loss = translate.to_wire_error(canonical, endpoint)
    return written, list(loss)


def _with_places(loss: list[Entry], source: Finder | None, target: Finder | None, at: str) -> list[Data]:
    """The entries of a report, each with its places in the wire that was read and in the one that was written."""
    located: list[Data] = []
    for position, (entry, shown_entry) in enumerate(zip(loss, without_values(loss), strict=True)):
        is_located = position < _MAX_LOCATED
        in_source = source.places(entry) if source is not None and is_located else Places()
        in_target = target.places(entry) if target is not None and is_located else Places()
        places = {"source": [f"{at}{place}" for place in in_source.pointers], "target": in_target.pointers}
        located.append({**shown_entry, **places, "around": in_target.around})
    return located


def _path(endpoint: Endpoint, path: str) -> str:
    """The path to which a client of a wire posts a request, including the path of the provider's base URL."""
    provider = endpoint.provider or endpoint.adapter
    base = registry.default().connection(provider, endpoint.adapter).base_url
    return f"{urlsplit(base or '').path.rstrip('/')}{path}"


def _pretty(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.format(json.dumps(value), indent=2).decode()


# ---------------------------------------------------------------------------------------------------- streams


def _stream(data: bytes, _: str, wire: str) -> list[Side]:
    """A stream in all wires, piece by piece. Each piece has the numbers of the events that belong to it."""
    events: list[Data] = []
    first: list[Data] = []
    if wire == CANONICAL:
        events = events_of(data)
        first = [{"text": json.dumps(event).decode(), "events": [at]} for at, event in enumerate(events)]
    else:
        source = translate.endpoint_of(wire)
        reader = translate.StreamReader(source, raw=True)
        for text, part in pieces(data, source):
            new_events = reader.feed(part)
            first.append({"text": text, "events": list(range(len(events), len(events) + len(new_events)))})
            events += new_events
        if last_events := reader.end():
            first.append({"text": "", "events": list(range(len(events), len(events) + len(last_events)))})
            events += last_events

    canonical = [{"text": json.dumps(event).decode(), "events": [at]} for at, event in enumerate(events)]
    return [Side("source", pieces=first), Side(CANONICAL, pieces=canonical), *_streams(events)]


def _streams(events: list[Data]) -> list[Side]:
    sides: list[Side] = []
    for target in adapters.names():
        written: list[Data] = []
        side = Side(target, pieces=written)
        endpoint = translate.endpoint_of(target)
        try:
            writer = translate.StreamWriter(endpoint)
            for at, event in enumerate(events):
                written += [{"text": as_text(chunk, endpoint), "events": [at]} for chunk in writer.feed(event)]
            written += [{"text": as_text(chunk, endpoint), "events": [len(events) - 1]} for chunk in writer.end()]
            for entry, shown_entry in zip(writer.loss, without_values(writer.loss), strict=True):
                side.loss.append({**shown_entry, "events": _events_of(entry["path"], events)})
        except InterlinguaError as problem:
            side.error = _error_data(problem)
        sides.append(side)
    return sides


def _events_of(path: str, events: list[Data]) -> list[int]:
    """The numbers of the events that belong to a pointer into the response: those of its block, else the last one."""
    steps = parse_pointer(path)
    last = [len(events) - 1]
    if steps[:2] != ["message", "content"] or len(steps) < 3 or not steps[2].isdecimal():
        return last
    return [at for at, event in enumerate(events) if event.get("index") == int(steps[2])] or last
