"""
Adapt: translate one value from any format to any other. Two steps, read and write, with the canonical form between
them.

The value is a request, a response, a stream of events, or an error; each side is canonical or a wire format.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from google.protobuf.message import Message as ProtoMessage

from interlingua import adapters, registry, translate
from interlingua.adapters._engine.kit import data_of
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.loss import Entry
from interlingua.canonical.validate import validate
from interlingua.refusals import field_of_call
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import convert

Data = dict[str, Any]
Adapting = service.AdaptRequest | service.AdaptStreamRequest.Start
Conversation = service.AdaptRequest | service.RouteRequest | service.GenerateRequest | service.GenerateStreamRequest


@dataclass
class Carried:
    """A value that was read: its canonical form, and the loss of reading it."""

    kind: str
    value: Any
    loss: list[Entry] = field(default_factory=list[Entry])
    completed_by: Sequence[int] = ()
    policy: Data | None = None


def adapt(request: service.AdaptRequest) -> service.AdaptResponse:
    """Translate one value. Raises the typed errors of reading and writing."""
    answered = _answered(request)
    carried = _read(request, answered)
    carried.policy = _policy(request)
    target = _target(request, answered)
    if target is None and carried.kind == "error" and not request.include_raw:
        carried.value = translate.without_raw(carried.value)
    return _write(carried, target, as_json=request.json_output)


def _source(given: Adapting) -> Endpoint | None:
    with field_of_call("source"):
        return _endpoint(given.source) if given.HasField("source") else None


def _target(given: Adapting, answered: Data | None) -> Endpoint | None:
    with field_of_call("target"):
        target = _endpoint(given.target) if given.HasField("target") else None
    if target is None or answered is None:
        return target
    return replace(target, spellings=translate.spellings(answered, target))


def _endpoint(side: service.Side) -> Endpoint | None:
    """Return the endpoint of a side; None for the canonical form."""
    if not (side.adapter or side.provider or side.model):
        return None
    if side.adapter:
        found = translate.endpoint_of(side.adapter, provider=side.provider or None, model=side.model or None)
    else:
        found = registry.endpoint(provider=side.provider or None, model=side.model or None)
    return replace(found, origin=side.origin or None, state_in_ids=side.state_in_ids)


def wire(name: str) -> str | None:
    """Return the wire that a call names, if it names one. Raises `InvalidRequest` for one that has no adapter."""
    with field_of_call("adapter"):
        if name:
            adapters.get(name)
    return name or None


def load(text: str, name: str, field: str) -> Data:
    """Return a canonical value from its JSON text in a field of the call, validated. Raises `InvalidRequest`."""
    with field_of_call(field):
        return translate.load(text, name)


# ---------------------------------------------------------------------------------------------------- read


def conversation(request: Conversation) -> Data:
    """Return the canonical request of a call, validated. Raises `InvalidRequest`."""
    match request.WhichOneof("conversation" if not isinstance(request, service.AdaptRequest) else "input"):
        case "request":
            return message_data(request.request, "Request")
        case "request_json":
            return load(request.request_json, "Request", "request_json")
        case _:
            raise InvalidRequest("there is no conversation; set request or request_json", path="")


def message_data(message: Any, name: str) -> Data:
    """Return the plain data of a message, validated. Raises `InvalidRequest`."""
    data = convert.from_proto(message)
    validate(data, name)
    return data


def _answered(given: Adapting) -> Data | None:
    """Return the request to which the response of this call belongs, validated; None when it is not given."""
    match given.WhichOneof("answered"):
        case "answered_request":
            with field_of_call("answered_request"):
                return message_data(given.answered_request, "Request")
        case "answered_request_json":
            return load(given.answered_request_json, "Request", "answered_request_json")
        case _:
            return None


def _offered(answered: Data | None, side: Endpoint) -> Any:
    """Return the tools of the answered request, as they were sent to a side."""
    if answered is None:
        return None
    return translate.offered(answered, translate.project(answered, side).loss)


def _read(request: service.AdaptRequest, answered: Data | None) -> Carried:
    side = _source(request)
    kind = request.WhichOneof("input")
    if answered is not None and not _is_answer(request, kind):
        raise InvalidRequest(f"{kind or 'the input'} is not a response to a request", path="/answered_request")
    if kind in ("wire_json", "chunks", "error_answer"):
        if side is None:
            raise InvalidRequest(f"{kind} needs a source; name its adapter", path="/source")
        return _read_wire(request, kind, side, answered)
    if side is not None:
        raise InvalidRequest(f"{kind or 'the input'} is canonical and takes no source", path="/source")
    match kind:
        case "request" | "request_json":
            return Carried("request", _with_policy(conversation(request), request))
        case "response":
            return Carried("response", message_data(request.response, "Response"))
        case "response_json":
            return Carried("response", load(request.response_json, "Response", "response_json"))
        case "events":
            return Carried("events", _events(request.events))
        case "error":
            return Carried("error", message_data(request.error, "Error"))
        case "error_json":
            return Carried("error", load(request.error_json, "Error", "error_json"))
        case _:
            raise none_set("there is no input", request, "input")


def none_set(what: str, message: ProtoMessage, oneof: str) -> InvalidRequest:
    """Return the error for a message in which none of the fields of a oneof is set."""
    fields = ", ".join(field.name for field in message.DESCRIPTOR.oneofs_by_name[oneof].fields)
    return InvalidRequest(f"{what}; set one of {fields}", path="")


def _is_answer(request: service.AdaptRequest, kind: str | None) -> bool:
    if kind == "wire_json":
        return request.kind == service.KIND_RESPONSE
    return kind in ("response", "response_json", "chunks", "events")


def _read_wire(request: service.AdaptRequest, kind: str, side: Endpoint, answered: Data | None) -> Carried:
    match kind:
        case "chunks":
            # a wire as the target gets the provider's own words
            raw = request.include_raw or request.HasField("target")
            reader = translate.StreamReader(side, raw=raw, tools=_offered(answered, side))
            per_chunk = [reader.feed(chunk) for chunk in request.chunks.chunks]
            per_chunk.append(reader.end())
            events = [(event, position) for position, events in enumerate(per_chunk) for event in events]
            return Carried("events", [event for event, _ in events], completed_by=[at for _, at in events])
        case "error_answer":
            answer = request.error_answer
            return Carried(
                "error", translate.from_wire_error(answer.status or None, answer.headers, answer.body, side, raw=True)
            )
        case _:
            pass
    with field_of_call("wire_json"):
        body = json.loads(request.wire_json)
    if not isinstance(body, dict):
        raise InvalidRequest("the wire must be a JSON object", path="")
    match request.kind:
        case service.KIND_UNSPECIFIED | service.KIND_REQUEST:
            wire = body if "body" in body and "path" in body else {"method": "POST", "path": "", "body": body}
            value, loss = translate.from_wire_request(wire, side)
            return Carried("request", _with_policy(data_of(value), request), loss)
        case service.KIND_RESPONSE:
            value, loss = translate.from_wire_response(body, side, tools=_offered(answered, side))
            return Carried("response", value, loss)
        case service.KIND_ERROR:
            raise InvalidRequest("an error is given as error_answer, with its status", path="/kind")
        case service.KIND_STREAM:
            raise InvalidRequest("a stream is given as chunks, not as wire_json", path="/kind")
        case other:
            raise InvalidRequest(f"the kind {other} is not known to this version", path="/kind")


def _with_policy(value: Data, request: service.AdaptRequest) -> Data:
    policy = _policy(request)
    return value if policy is None else {**value, "loss_policy": policy}


def _policy(given: Adapting) -> Data | None:
    return message_data(given.loss_policy, "LossPolicy") if given.HasField("loss_policy") else None


def _events(given: service.Events) -> list[Data]:
    if given.events and given.events_json:
        raise InvalidRequest("give events or events_json, not both", path="/events")
    return [event_data(event) for event in given.events] + [event_of_text(text) for text in given.events_json]


def event_data(message: types.StreamEvent) -> Data:
    """Return an event as plain data, validated."""
    return message_data(message, "StreamEvent")


def event_of_text(text: str) -> Data:
    """Return an event from its JSON text, validated."""
    return load(text, "StreamEvent", "event_json")


# ---------------------------------------------------------------------------------------------------- write


def _write(carried: Carried, target: Endpoint | None, *, as_json: bool) -> service.AdaptResponse:
    response = service.AdaptResponse()
    loss = list(carried.loss)
    match carried.kind:
        case "request" if target is not None:
            projection = translate.project(carried.value, translate.for_request(target, carried.value))
            loss += projection.loss
            response.wire_json = _text(projection.wire)
        case "response" if target is not None:
            body, more = translate.to_wire_response(carried.value, target, carried.policy)
            loss += more
            response.wire_json = _text(body)
        case "events" if target is not None:
            chunks = translate.encode_stream(carried.value, target, loss=loss, policy=carried.policy)
            response.chunks.chunks.extend(chunks)
        case "events":
            _write_events(carried, response.events, as_json=as_json)
        case "error" if target is not None:
            wire, more = translate.to_wire_error(carried.value, target, carried.policy)
            loss += more
            body = wire["body"] if isinstance(wire["body"], str) else _text(wire["body"])
            answer = service.ErrorAnswer(status=wire["status"], headers=wire["headers"], body=body)
            response.error_answer.CopyFrom(answer)
        case kind if as_json:
            setattr(response, f"{kind}_json", _text(carried.value))
        case kind:
            convert.fill(getattr(response, kind), carried.value)
    _write_loss(loss, response, as_json=as_json)
    return response


def _write_loss(
    loss: list[Entry], response: service.AdaptResponse | service.AdaptStreamResponse, *, as_json: bool
) -> None:
    if as_json:
        response.loss_json = _text(loss)
    else:
        for entry in loss:
            convert.fill(response.loss.add(), dict[str, Any](entry))


def _write_events(carried: Carried, out: service.Events, *, as_json: bool) -> None:
    out.SetInParent()
    out.completed_by.extend(carried.completed_by)
    if as_json:
        out.events_json.extend(_text(event) for event in carried.value)
    else:
        for event in carried.value:
            convert.fill(out.events.add(), event)


def _text(value: Any) -> str:
    return json.dumps(value).decode()


# ---------------------------------------------------------------------------------------------------- streams


class StreamAdapter:
    """Translate one streamed answer from one format to another, piece by piece."""

    def __init__(self, start: service.AdaptStreamRequest.Start) -> None:
        answered = _answered(start)
        source, target = _source(start), _target(start, answered)
        raw = start.include_raw or target is not None
        self._reader = (
            None if source is None else translate.StreamReader(source, raw=raw, tools=_offered(answered, source))
        )
        self._reported = target is None  # whether the report was returned; for a canonical target there is none
        self._writer = None if target is None else translate.StreamWriter(target, policy=_policy(start))
        self._as_json = start.json_output
        self._position = 0

    def piece(self, message: service.AdaptStreamRequest) -> service.AdaptStreamResponse | None:
        """Return the output that a piece completes; None when it completes nothing."""
        kind = message.WhichOneof("piece")
        match kind:
            case "chunk" if self._reader is not None:
                events = self._reader.feed(message.chunk)
            case "event" if self._reader is None:
                events = [event_data(message.event)]
            case "event_json" if self._reader is None:
                events = [event_of_text(message.event_json)]
            case "start":
                raise InvalidRequest("start must be the first message and cannot be repeated", path="/start")
            case None:
                raise none_set("the message holds no piece", message, "piece")
            case _:
                wanted = "events" if self._reader is None else "chunks"
                raise InvalidRequest(f"according to its start this stream takes {wanted}", path=f"/{kind}")
        response = self._response(events, self._written(events))
        self._position += 1
        return response

    def end(self) -> service.AdaptStreamResponse | None:
        """Return the output that the end of the input completes; None when it completes nothing."""
        events = [] if self._reader is None else self._reader.end()
        chunks = self._written(events)
        if self._writer is not None:
            chunks += self._writer.end()
        return self._response(events, chunks, last=True)

    def _written(self, events: list[Data]) -> list[bytes]:
        return [] if self._writer is None else [chunk for event in events for chunk in self._writer.feed(event)]

    def _response(
        self, events: list[Data], chunks: list[bytes], *, last: bool = False
    ) -> service.AdaptStreamResponse | None:
        ended = not self._reported and (last or any(event["type"] in _LAST for event in events))
        loss = [] if self._writer is None else self._writer.loss
        if not (chunks if self._writer is not None else events) and not (ended and loss):
            return None
        response = service.AdaptStreamResponse(completed_by=self._position)
        if ended:
            self._reported = True
            _write_loss(loss, response, as_json=self._as_json)
        if self._writer is not None:
            response.chunks.extend(chunks)
        elif self._as_json:
            response.events_json.extend(_text(event) for event in events)
        else:
            for event in events:
                convert.fill(response.events.add(), event)
        return response


_LAST = frozenset(("message_complete", "error"))
