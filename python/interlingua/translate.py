"""
The door: everything that turns bytes and plain data of one side into those of another goes through here.

Reading: bytes → wire → canonical. Writing: canonical, validated once → wire → bytes. Adapters do the turning;
this module checks the input and feeds streams, and gives each loss report to `accounting`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import ModuleType
from typing import Any, Final

from interlingua import adapters, registry
from interlingua.accounting import Policy, account_for, accounted
from interlingua.adapters._failures import provider_message
from interlingua.canonical import carriage, json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    CannotAdapt,
    InterlinguaError,
    InvalidAnswer,
    InvalidRequest,
    InvalidWire,
    ProviderError,
    too_deep,
)
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import PLACEHOLDER, SEVERITIES, Entry
from interlingua.canonical.validate import check_plain, malformed_event, said, validate
from interlingua.wire import eventstream, jsonl, sse, sse_or_array, sse_or_messages

_FRAMINGS: Final[dict[str, ModuleType]] = {
    "sse": sse,
    "jsonl": jsonl,
    "eventstream": eventstream,
    "sse_or_array": sse_or_array,
    "sse_or_messages": sse_or_messages,
}


def framing(endpoint: Endpoint) -> str:
    """How the streams of an endpoint are framed: as its wire does, unless the provider's dialect says otherwise."""
    return endpoint.dialect.get("framing") or adapters.get(endpoint.adapter).FRAMING


@dataclass(frozen=True, slots=True)
class Projection:
    """A request as one provider takes it: `wire` is a WireRequest (method, path, headers, body), `loss` the whole report."""

    wire: dict[str, Any]
    loss: list[Entry]

    @property
    def body(self) -> bytes:
        """The body as the bytes to send."""
        return json.dumps(self.wire["body"])


# ---------------------------------------------------------------------------------------------------- requests


def load(value: Any, name: str = "Request") -> dict[str, Any]:
    """A canonical value from JSON text, plain data or one of the pydantic types, validated against the schema.

    Raises `InvalidRequest` with the pointer of each violation.
    """
    data: Any
    if isinstance(value, (bytes, str)):
        data = json.loads(value)
    elif isinstance(value, dict) or callable(getattr(value, "plain", None)):
        data = json.plain(value)  # one of the generated types, or plain data already
        try:
            check_plain(data)
        except RecursionError:
            raise too_deep() from None
    else:
        kind = type(value).__name__
        raise InvalidRequest(
            f"not a canonical {said(name)}: give JSON text, plain data or one of the types, not {kind}"
        )
    validate(data, name)
    return _counted(data) if name == "Request" else data


_COUNTS: Final = ("max_output_tokens", "seed", "n", "top_logprobs")


def _counted(request: dict[str, Any]) -> dict[str, Any]:
    """The request with its counts as integers: 100.0 is the integer 100 in JSON, and no wire is asked to know that."""
    counts: dict[str, Any] = {
        name: int(request[name]) for name in _COUNTS if isinstance(request.get(name), (float, Decimal))
    }
    reasoning = request.get("reasoning")
    if reasoning is not None and isinstance(budget := reasoning.get("budget_tokens"), (float, Decimal)):
        counts["reasoning"] = {**reasoning, "budget_tokens": int(budget)}
    return {**request, **counts} if counts else request


def project(request: dict[str, Any], endpoint: Endpoint) -> Projection:
    """Writes a validated canonical request for an endpoint.

    Raises `LossRefused` when the request's `loss_policy` forbids what would be lost, `CannotAdapt` when a critical block
    cannot be carried, `InvalidRequest` when no valid wire exists for the conversation.
    """
    request = _counted(request)
    try:
        wire, loss = adapters.get(endpoint.adapter).to_wire(request, endpoint)
    except RecursionError:
        raise too_deep() from None
    if loss:
        account_for(request, request.get("loss_policy") or {}, loss, endpoint)
    return Projection(wire, loss)


def adapt(
    request: Any,
    to: str,
    *,
    source: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    strict: str | None = None,
) -> Projection:
    """Carries a request to the wire of adapter `to`.

    `request` is canonical (JSON text, plain data, `Request`), or, when `source` names an adapter, a body of that wire.
    `provider` and `model` select a row of the registry: dialect and capabilities; by default the adapter's own provider.
    `strict` (shape, weakened or lost) refuses as soon as the projection would lose that much.
    Raises what `project` raises, and `InvalidWire` when the body cannot be read.
    """
    policy = _strictly(strict)
    canonical, read_loss = (load(request), []) if source is None else read_request(request, source)
    if policy:
        canonical = {**canonical, "loss_policy": {**(canonical.get("loss_policy") or {}), **policy}}
    projection = project(canonical, registry.endpoint(adapter=to, provider=provider, model=model))
    return Projection(projection.wire, read_loss + projection.loss)


def read_request(
    wire: Any, adapter: str, *, provider: str | None = None, ids: IdSource = DERIVED_IDS
) -> tuple[dict[str, Any], list[Entry]]:
    """A canonical request from a wire: a body (JSON text or plain data) or a WireRequest. Raises `InvalidWire`."""
    data = _wire_data(wire)
    if not ("body" in data and "path" in data):
        data = {"method": "POST", "path": "", "body": data}
    return from_wire_request(data, registry.endpoint(adapter=adapter, provider=provider), ids)


def from_wire_request(
    wire: dict[str, Any], endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[dict[str, Any], list[Entry]]:
    """A canonical request from a WireRequest of an endpoint, with the state that its call ids hold in its place."""
    try:
        request, loss = adapters.get(endpoint.adapter).from_wire_request(wire, endpoint, ids)
        return carriage.unload(request), loss
    except RecursionError:
        raise too_deep() from None


def _wire_data(wire: Any) -> dict[str, Any]:
    data = json.loads(wire) if isinstance(wire, (bytes, str)) else wire
    if not isinstance(data, dict):
        raise InvalidWire("the body must be an object", path="")
    if data is wire:
        try:
            check_plain(data)
        except InvalidRequest as problem:
            raise InvalidWire(problem.message, path=problem.path) from None
        except RecursionError:
            raise too_deep() from None
    return data


# ---------------------------------------------------------------------------------------------------- answers


def read_response(
    body: Any, adapter: str, *, provider: str | None = None, ids: IdSource = DERIVED_IDS
) -> tuple[dict[str, Any], list[Entry]]:
    """A canonical response from an answer's body (JSON text or plain data). Raises `InvalidAnswer`."""
    endpoint = registry.endpoint(adapter=adapter, provider=provider)
    return from_wire_response(_wire_data(body), endpoint, ids)


def from_wire_response(
    body: dict[str, Any], endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[dict[str, Any], list[Entry]]:
    """The same for an endpoint."""
    try:
        return adapters.get(endpoint.adapter).from_wire_response(body, endpoint, ids)
    except ProviderError as problem:  # an error that came with the status of a success
        raise ProviderError(with_provider_message(problem.error)) from None
    except RecursionError:
        raise InvalidAnswer("the answer is nested too deeply", adapter=endpoint.adapter) from None


def write_response(
    response: Any, adapter: str, *, provider: str | None = None, strict: str | None = None
) -> tuple[dict[str, Any], list[Entry]]:
    """The body with which a provider of this wire would have given a canonical response, and what it cannot say.

    `strict` (shape, weakened or lost) refuses with `LossRefused` when that much would be lost.
    """
    endpoint = registry.endpoint(adapter=adapter, provider=provider)
    return to_wire_response(load(response, "Response"), endpoint, _strictly(strict))


def to_wire_response(
    response: dict[str, Any], endpoint: Endpoint, policy: Policy | None = None
) -> tuple[dict[str, Any], list[Entry]]:
    """The same for a validated response, an endpoint and a loss policy."""
    policy = _policy_of_answers(policy)
    body, loss = _written(response, endpoint)
    if loss:
        account_for(response, policy, loss, endpoint)
    return body, loss


def _written(response: dict[str, Any], endpoint: Endpoint) -> tuple[dict[str, Any], list[Entry]]:
    try:
        if endpoint.state_in_ids:
            response = carriage.load_response(response, endpoint)
        return adapters.get(endpoint.adapter).to_wire_response(response, endpoint)
    except RecursionError:
        raise too_deep() from None


def _strictly(strict: str | None) -> Policy:
    if strict is None:
        return {}
    if strict not in SEVERITIES:
        raise InvalidRequest(f"strict takes {', '.join(SEVERITIES)}; not {strict!r}", path="/loss_policy/strict")
    return {"strict": strict}


def _policy_of_answers(policy: Policy | None) -> Policy:
    if policy is not None and policy.get("on_drop") == PLACEHOLDER:
        message = "placeholders stand in requests alone; let what an answer cannot say be dropped or refused"
        raise InvalidRequest(message, path="/loss_policy/on_drop")
    return policy or {}


class StreamReader:
    """Turns the bytes of a streamed answer, in any cuts, into canonical events.

    `feed` gives the events that a chunk completes, `end` those that the end of input brings: an error event when the
    stream broke off. After `message_complete` or `error` nothing more comes. Keeps no more than the message itself.
    `raw`: an error comes with the provider's whole body.
    """

    def __init__(self, endpoint: Endpoint, ids: IdSource = DERIVED_IDS, *, raw: bool = False) -> None:
        adapter = adapters.get(endpoint.adapter)
        self._framing: Any = _FRAMINGS[framing(endpoint)].Decoder()
        decoder = adapter.stream_decoder(endpoint, ids)
        next(decoder)
        self._decode = decoder.send
        self._done = False
        self._raw = raw

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[dict[str, Any]]:
        """The events that this chunk completes."""
        if not isinstance(chunk, bytes):
            chunk = _bytes(chunk)
        return self._events(self._framing.feed(chunk))

    def end(self) -> list[dict[str, Any]]:
        """The events at the end of input."""
        return self._events([*(frame for frame in self._framing.end() if _whole(frame.data)), None])

    @property
    def done(self) -> bool:
        """Whether the answer has ended, well or badly."""
        return self._done

    def _events(self, frames: list[Any]) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        if self._done:
            return events
        decode = self._decode
        try:
            if len(frames) == 1:
                frames, events = [], decode(frames[0])
            for frame in frames:
                events += decode(frame)
        except StopIteration:
            self._done = True
        except RecursionError:
            self._done = True
            raise InvalidAnswer("the stream is nested too deeply") from None
        if events and events[-1]["type"] in _LAST:
            self._done = True
            if events[-1]["type"] == "error":
                error = with_provider_message(events[-1]["error"])
                events[-1] = {**events[-1], "error": error if self._raw else without_raw(error)}
        return events


_LAST: Final = frozenset(("message_complete", "error"))


def _bytes(chunk: Any) -> bytes:
    if not isinstance(chunk, (bytearray, memoryview)):
        raise TypeError(f"a chunk of a stream is bytes, not {type(chunk).__name__}; give read_stream a list of chunks")
    return bytes(chunk)


def _whole(data: str) -> bool:
    """Whether a last frame that lacks its end was sent in full. Half a frame is a stream that broke off, not a bad frame."""
    if data.startswith("[") and data.endswith("]"):
        return True  # a mark, as of an end
    try:
        json.loads(data.encode("utf-8", "replace"))  # what is no UTF-8 is refused by whoever reads it, if it is whole
    except InvalidRequest:
        return False
    return True


def read_stream(
    chunks: Iterable[bytes | bytearray | memoryview],
    adapter: str,
    *,
    provider: str | None = None,
    ids: IdSource = DERIVED_IDS,
    raw: bool = False,
) -> Iterator[dict[str, Any]]:
    """The canonical events of a streamed answer, as they are completed by the chunks."""
    reader = StreamReader(registry.endpoint(adapter=adapter, provider=provider), ids, raw=raw)
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.end()


class StreamWriter:  # TEMPORARY
    def __init__(self, endpoint, policy=None):
        from interlingua.service.adapting import _Writer

        self.loss = []
        self._w = _Writer(endpoint, self.loss, policy)

    def feed(self, event):
        return b"".join(self._w.push([event]))

    def end(self):
        return b"".join([*self._w.push([]), *self._w.close()])


def write_stream(
    events: Iterable[dict[str, Any]],
    adapter: str,
    *,
    provider: str | None = None,
    strict: str | None = None,
    loss: list[Entry] | None = None,
) -> Iterator[bytes]:
    """The bytes with which a provider of this wire would have streamed these events, a chunk for each frame.

    The events are plain data as `read_stream` gives them. Those from elsewhere are not checked one by one: what fails to be
    written raises `InvalidRequest` with the place in the event, and, where the events are a list, in the list.
    `load(event, "StreamEvent")` checks an event.
    `loss` is a list that holds, when the stream has ended, what the wire did not say: the report of the whole answer.
    `strict` (shape, weakened or lost) ends the stream with `LossRefused` as soon as a loss of that gravity is known.
    """
    endpoint = registry.endpoint(adapter=adapter, provider=provider)
    return encode_stream(events, endpoint, loss=loss, policy=_strictly(strict))


def encode_stream(
    events: Iterable[dict[str, Any]],
    endpoint: Endpoint,
    *,
    loss: list[Entry] | None = None,
    policy: Policy | None = None,
) -> Iterator[bytes]:
    """The same for an endpoint and a loss policy. Where nobody asks for a report, none is made."""
    policy = _policy_of_answers(policy)
    told = events
    if loss is not None or policy:
        told = accounted(told, endpoint, policy, [] if loss is None else loss)
    if endpoint.state_in_ids:
        told = carriage.load_events(told, endpoint)
    chunks = map(_FRAMINGS[framing(endpoint)].encode, adapters.get(endpoint.adapter).encode_stream(told, endpoint))
    return _refused_by_place(chunks, events) if isinstance(events, (list, tuple)) else chunks


def _refused_by_place(chunks: Iterable[bytes], events: Iterable[Any]) -> Iterator[bytes]:
    """The chunks; a refusal names the place of the first event that is malformed."""
    try:
        yield from chunks
    except InvalidRequest as refusal:
        for index, event in enumerate(events):
            if (found := malformed_event(event, index)) is not None:
                raise found from refusal
        raise


# ---------------------------------------------------------------------------------------------------- failures


def read_error(
    status: int | None,
    headers: Mapping[str, str],
    body: bytes | str,
    adapter: str,
    provider: str | None = None,
    *,
    raw: bool = False,
) -> dict[str, Any]:
    """The canonical error for a provider's error answer; without a status its body alone tells.

    `provider_message` in it is what the provider said, for whoever made the call: it may hold content, so it belongs in no
    log. `raw` keeps the whole body, from which the same wire is given back.
    """
    return from_wire_error(status, headers, body, registry.endpoint(adapter=adapter, provider=provider), raw=raw)


error = read_error


def from_wire_error(
    status: int | None, headers: Mapping[str, str], body: bytes | str, endpoint: Endpoint, *, raw: bool = False
) -> dict[str, Any]:
    """The same for an endpoint."""
    adapter = adapters.get(endpoint.adapter)
    try:
        found = adapter.error(_OK if status is None else status, dict(headers), body, endpoint)
    except RecursionError:
        raise InvalidAnswer("the error is nested too deeply", adapter=endpoint.adapter) from None
    if status is None and found.get("status") == _OK:
        del found["status"]
    found = with_provider_message(found)
    return found if raw else without_raw(found)


def write_error(
    error: Any, adapter: str, *, provider: str | None = None, strict: str | None = None
) -> tuple[dict[str, Any], list[Entry]]:
    """The answer (`status`, `headers`, `body`) with which a provider of this wire would have told a failure.

    `error` is canonical (JSON text, plain data) or an `InterlinguaError`, so that a gateway can tell its clients of its
    own failures too. The second value is what the wire cannot say; `strict` (shape, weakened or lost) refuses with
    `LossRefused` when that is so much. Raises `InvalidRequest` for what is no error.
    """
    endpoint = registry.endpoint(adapter=adapter, provider=provider)
    if isinstance(error, ProviderError):
        canonical = error.error
    elif isinstance(error, InterlinguaError):
        canonical = error.to_dict()
    else:
        canonical = load(error, "Error")
    return to_wire_error(canonical, endpoint, _strictly(strict))


def to_wire_error(
    error: dict[str, Any], endpoint: Endpoint, policy: Policy | None = None
) -> tuple[dict[str, Any], list[Entry]]:
    """The same for a validated error, an endpoint and a loss policy."""
    policy = _policy_of_answers(policy)
    adapter = adapters.get(endpoint.adapter)
    if not hasattr(adapter, "to_wire_error"):
        raise CannotAdapt("this adapter writes no errors", adapter=endpoint.adapter)
    wire, loss = adapter.to_wire_error(error, endpoint)
    if loss:
        account_for(error, policy, loss, endpoint)
    return wire, loss


def with_provider_message(error: dict[str, Any]) -> dict[str, Any]:
    """A canonical error with the words of its `raw` body for whoever made the call (spec/8-errors.md#provider-message)."""
    words = provider_message(error.get("raw"))
    return error if words is None else {**error, "provider_message": words}


def without_raw(error: dict[str, Any]) -> dict[str, Any]:
    """A canonical error without the provider's whole body (spec/8-errors.md#raw)."""
    return {name: value for name, value in error.items() if name != "raw"} if "raw" in error else error


_OK: Final = 200


# ---------------------------------------------------------------------------------------------------- estimates


def estimate(request: Any, adapter: str, *, provider: str | None = None, model: str | None = None) -> dict[str, int]:
    """How many prompt tokens a canonical request takes at an endpoint: low, likely, high. No network."""
    return estimate_for(load(request), registry.endpoint(adapter=adapter, provider=provider, model=model))


def estimate_for(request: dict[str, Any], endpoint: Endpoint) -> dict[str, int]:
    """The same for a validated request and an endpoint."""
    try:
        return adapters.get(endpoint.adapter).estimate(request, endpoint)
    except RecursionError:
        raise too_deep() from None


__all__ = [
    "InvalidRequest",
    "Projection",
    "StreamReader",
    "adapt",
    "error",
    "estimate",
    "load",
    "project",
    "read_error",
    "read_request",
    "read_response",
    "read_stream",
    "write_error",
    "write_response",
    "write_stream",
]
