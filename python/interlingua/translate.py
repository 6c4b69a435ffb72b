"""
The entry point for every translation between wires and canonical values.

Reading: bytes → wire → canonical. Writing: canonical, validated once → wire → bytes. Adapters do the translation;
this module checks the input, drives streams, and passes each loss report to `loss_policy`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from types import ModuleType
from typing import Any, Final, TypeGuard, cast

from interlingua import adapters, registry
from interlingua.adapters._content.offered import EventsAsOffered, Offered, answer_as_offered, is_beyond, offered
from interlingua.adapters._contract import Adapter, DatedAdapter, ErrorWriter
from interlingua.adapters._engine.kit import NOTHING, data_of, response_of, state_of, stored_elsewhere
from interlingua.adapters._errors.texts import provider_message
from interlingua.adapters._history.pairing import note_open_end, to_wire
from interlingua.adapters._recognition import CANONICAL, recognised
from interlingua.canonical import json, state_in_ids, texts
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    CannotAdapt,
    InterlinguaError,
    InvalidAnswer,
    InvalidRequest,
    InvalidWire,
    ProviderError,
    ResultWithoutCall,
    too_deep,
)
from interlingua.canonical.ids import DERIVED_IDS, IdSource
from interlingua.canonical.loss import PLACEHOLDER, SEVERITIES, UNANSWERED, Entry
from interlingua.canonical.types import Error, Request, Response, TokenEstimate, WireRequest
from interlingua.canonical.validate import check_plain, malformed_event, readable_name, validate
from interlingua.loss_policy import Policy, account_for, stream_account
from interlingua.registry.names import did_you_mean, split
from interlingua.wire import eventstream, jsonl, sse, sse_or_array, sse_or_messages

_FRAMINGS: Final[dict[str, ModuleType]] = {
    "sse": sse,
    "jsonl": jsonl,
    "eventstream": eventstream,
    "sse_or_array": sse_or_array,
    "sse_or_messages": sse_or_messages,
}


def endpoint_of(name: str, *, provider: str | None = None, model: str | None = None) -> Endpoint:
    """Return the endpoint for a name: a wire (`anthropic_messages`), which `provider` and `model` describe further, a
    provider (`anthropic`: its first wire), or a model, as an id or an alias (`sonnet`).

    Raises `InvalidRequest` for any other name; the error suggests similar names.
    """
    models = registry.default()
    cached = models.endpoints.get((provider, model, name))  # fast, because every translation needs it
    if cached is not None:
        return cached
    if adapters.is_one(name):
        return models.endpoint(adapter=name, provider=provider, model=model)
    if provider is None and models.is_provider(name):
        return registry.endpoint(provider=name, model=model)
    is_model = name in models.aliases or split(name) is not None
    if is_model and provider is None and model is None:
        return registry.endpoint(model=name)
    if is_model or models.is_provider(name):
        raise InvalidRequest(
            f"{name!r} is {'a model' if is_model else 'a provider'}; together with provider or model, name a wire"
        )
    if similar := models.nearest(name):
        raise InvalidRequest(f"{name!r} is not a wire, a provider or a model; {did_you_mean(similar)}")
    adapters.get(name)
    raise AssertionError("an adapter that is not listed")


def for_request(endpoint: Endpoint, request: Mapping[str, Any]) -> Endpoint:
    """Return the endpoint; if it names no model, with the registry's declarations for the model of the request
    (spec/7-routing.md#model-of-request)."""
    if endpoint.model is not None or endpoint.provider is None:
        return endpoint
    named = split(request.get("model") or "")
    if named is None or named.provider != endpoint.provider:
        return endpoint
    declared = registry.endpoint(adapter=endpoint.adapter, provider=endpoint.provider, model=named.name)
    return replace(endpoint, dialect=declared.dialect, capabilities=declared.capabilities)


def framing(endpoint: Endpoint) -> str:
    """Return the framing of an endpoint's streams: that of its wire, unless the provider's dialect names another."""
    return endpoint.dialect.get("framing") or adapters.get(endpoint.adapter).FRAMING


class Projection:
    """A request for one provider: `wire` is a WireRequest (method, path, headers, body), `loss` the whole report."""

    # not a dataclass: in compiled code, its construction takes as long as writing a message
    def __init__(self, wire: WireRequest, loss: list[Entry]) -> None:
        self.wire: Final = wire
        self.loss: Final = loss

    def __repr__(self) -> str:
        return f"Projection(wire={self.wire!r}, loss={self.loss!r})"

    @property
    def body(self) -> bytes:
        """The body as the bytes to send."""
        return json.dumps(self.wire["body"])


# ---------------------------------------------------------------------------------------------------- requests


def load(value: Any, name: str = "Request") -> dict[str, Any]:
    """Return a canonical value from JSON text, plain data or one of the pydantic types, validated against the schema.

    Plain data may have one text in place of the list of blocks of a `content` and of `system`
    (spec/1-values.md#text-as-content). Raises `InvalidRequest` with the pointer of each violation.
    """
    is_text = isinstance(value, (bytes, str))
    data: Any = json.loads(value) if is_text else _plain(value, name)
    try:
        return validated(data, name)
    except InvalidRequest as problem:
        if name == "Request" and (likely := likely_wire(data, "request", CANONICAL)):
            message = f"{problem.message}; {likely}: name that wire as the source, or read it with read_request"
            raise InvalidRequest(message, path=problem.path, violations=problem.violations) from None
        written_out = data if is_text else texts.written_out(data, name)
        if written_out is data:
            raise
    return validated(written_out, name)


def _plain(value: Any, name: str) -> Any:
    """Return the plain data of a value other than JSON text. Raises `InvalidRequest` for data that JSON cannot hold."""
    if not isinstance(value, dict) and not callable(getattr(value, "plain", None)):
        kind = type(value).__name__ if not isinstance(value, tuple) else "a tuple; read_request returns (request, loss)"
        raise InvalidRequest(
            f"not a canonical {readable_name(name)}: give JSON text, plain data or one of the types, not {kind}"
        )
    data = json.plain(value)  # one of the generated types, or plain data already
    try:
        check_plain(data)
    except RecursionError:
        raise too_deep() from None
    return data


def validated(data: Any, name: str = "Request") -> dict[str, Any]:
    """Validate plain data against the schema, as read from JSON text: no short form is accepted."""
    validate(data, name)
    return _counted(data) if name == "Request" else data


_COUNTS: Final = frozenset(("max_output_tokens", "seed", "n", "top_logprobs"))


def _counted(request: dict[str, Any]) -> dict[str, Any]:
    """Return the request with its counts as integers: 100.0 is the integer 100 in JSON, and wires need not know it."""
    counted = request
    for name, value in request.items():
        if name in _COUNTS and _is_written_out(value):
            counted = {**counted, name: int(value)}
    reasoning: dict[str, Any] | None = request.get("reasoning")
    if reasoning is not None and _is_written_out(reasoning.get("budget_tokens")):
        counted = {**counted, "reasoning": {**reasoning, "budget_tokens": int(reasoning["budget_tokens"])}}
    return counted


def _is_written_out(count: Any) -> bool:
    """Whether a count is written with decimals, which are all zero."""
    return type(count) is float or type(count) is Decimal


def project(request: Mapping[str, Any], endpoint: Endpoint) -> Projection:
    """Write a validated canonical request for an endpoint.

    Raises `LossRefused` when the request's `loss_policy` forbids a loss, `CannotAdapt` when a critical block cannot be
    carried, `InvalidRequest` when no valid wire request exists for the conversation, and `InvalidWire` when the request
    was read from another wire and a member of its body has a wrong type.
    """
    counted = _counted(data_of(request))
    wire, loss = write_request(counted, endpoint)
    if loss:
        account_for(counted, counted.get("loss_policy") or {}, loss, endpoint)
    return Projection(wire, loss)


def write_request(request: dict[str, Any], endpoint: Endpoint) -> tuple[WireRequest, list[Entry]]:
    """Return the wire and the report of a validated request, without applying the loss policy to the whole report."""
    _refuse_wrong_types(request, endpoint)
    try:
        return to_wire(adapters.get(endpoint.adapter), request, endpoint)
    except RecursionError:
        raise too_deep() from None
    except ResultWithoutCall as problem:
        stored = stored_elsewhere(request, endpoint)
        if stored is None:
            raise
        message = (
            f"{problem.message}: the history of this conversation is stored at the provider from which it was read "
            f"({stored[1]} of {stored[0]}) and cannot be sent; send the whole conversation"
        )
        raise ResultWithoutCall(message, path=problem.path, adapter=problem.adapter) from None


def _refuse_wrong_types(request: dict[str, Any], endpoint: Endpoint) -> None:
    """Raise `InvalidWire` if a request was read from another wire with a member of a wrong type.

    The member is written unchanged to its own wire; for another wire its meaning is unknown
    (spec/2-requests.md#wrong-type).
    """
    state, options = request.get("provider_state"), request.get("options")
    if state is None or not options or endpoint.owns(state):
        return
    wire = state["adapter"]
    members = options.get(wire)
    if not members or not adapters.is_one(wire):
        return
    find: Callable[[Any, Any], InvalidWire | None] | None = getattr(adapters.get(wire), "wrong_type", None)
    problem = None if find is None else find(members, state.get("encoding") or {})
    if problem is not None:
        raise problem


def adapt(
    request: Any,
    to: str,
    *,
    source: str | None = None,
    provider: str | None = None,
    model: str | None = None,
    strict: str | None = None,
    unanswered: str | None = None,
) -> Projection:
    """Write a request for `to`: a wire, a provider or a model (see `endpoint_of`).

    `request` is canonical (JSON text, plain data, `Request`), or, when `source` names a wire, a body of that wire.
    `provider` and `model` select a row of the registry: dialect and capabilities; by default the wire's own provider
    and the model of the request.
    `strict` (representation, weakened or lost) refuses the projection if it would lose that much.
    `unanswered` determines how a call without a result is treated: `error` refuses it if the target does not accept it,
    `placeholder` adds a result after it that states this. Both take precedence over the request's own `loss_policy`.
    Raises the errors of `project`, and `InvalidWire` when the body cannot be read.
    """
    policy = {**strict_policy(strict), **_unanswered_policy(unanswered)}
    read, read_loss = (load(request), []) if source is None else read_request(request, source)
    canonical = data_of(read)
    if policy:
        canonical = {**canonical, "loss_policy": {**(canonical.get("loss_policy") or {}), **policy}}
    projection = project(canonical, for_request(endpoint_of(to, provider=provider, model=model), canonical))
    return Projection(projection.wire, read_loss + projection.loss)


def read_request(
    wire: Any, adapter: str, *, provider: str | None = None, ids: IdSource = DERIVED_IDS
) -> tuple[Request, list[Entry]]:
    """Read a canonical request from a wire: a body (JSON text or plain data) or a WireRequest. Raises `InvalidWire`."""
    data = _wire_data(wire)
    if not ("body" in data and "path" in data):
        data = {"method": "POST", "path": "", "body": data}
    return from_wire_request(data, endpoint_of(adapter, provider=provider), ids)


def from_wire_request(
    wire: Mapping[str, Any], endpoint: Endpoint, ids: IdSource = DERIVED_IDS
) -> tuple[Request, list[Entry]]:
    """Read a canonical request from a WireRequest of an endpoint, and restore the state that its call ids hold."""
    try:
        read, loss = adapters.get(endpoint.adapter).from_wire_request(cast("WireRequest", wire), endpoint, ids)
        request = state_in_ids.unload(data_of(read))
        note_open_end(request, endpoint)
        return cast("Request", request), loss
    except InvalidWire as problem:
        if not (likely := likely_wire(wire.get("body"), "request", endpoint.adapter)):
            raise
        raise InvalidWire(f"{problem.message}; {likely}", path=problem.path, adapter=problem.adapter) from None
    except RecursionError:
        raise too_deep() from None


def likely_wire(body: Any, kind: str, wire: str) -> str:
    """Return a hint for the error of an unreadable body: the other wires that it looks like; empty if there is none."""
    wires = recognised(body, kind)
    if not wires or wire in wires:
        return ""
    return (
        f"it looks like a canonical {kind}"
        if wires == [CANONICAL]
        else f"it looks like a {kind} of {' or '.join(wires)}"
    )


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


# ---------------------------------------------------------------------------------------------------- responses


def read_response(
    body: Any, adapter: str, *, provider: str | None = None, ids: IdSource = DERIVED_IDS, request: Any = None
) -> tuple[Response, list[Entry]]:
    """Read a canonical response from a response body (JSON text or plain data). Raises `InvalidAnswer`.

    With the canonical `request` of the response, the calls are those of its tools as they were offered
    (spec/3-responses.md#called-as-offered).
    """
    endpoint = endpoint_of(adapter, provider=provider)
    try:
        data = _wire_data(body)
    except (InvalidRequest, InvalidWire) as problem:
        raise InvalidAnswer(problem.message, path=problem.path, adapter=endpoint.adapter) from None
    return from_wire_response(data, endpoint, ids, _offered(request, endpoint))


def _offered(request: Any, endpoint: Endpoint) -> Offered | None:
    """Return the tools that are sent to an endpoint in another form than the request offers them."""
    return None if request is None else offered(canonical := load(request), project(canonical, endpoint).loss)


def spellings(request: Mapping[str, Any], endpoint: Endpoint) -> dict[str, dict[str, Any]]:
    """Return, by name, how the client of an endpoint spelt the tools that it offers: for `Endpoint.spellings`."""
    return {tool["name"]: state_of(tool, endpoint).get("encoding") or NOTHING for tool in request.get("tools") or ()}


def from_wire_response(
    body: dict[str, Any], endpoint: Endpoint, ids: IdSource = DERIVED_IDS, tools: Offered | None = None
) -> tuple[Response, list[Entry]]:
    """Do the same for an endpoint, with the tools that were sent to it in another form than they were offered."""
    try:
        response, loss = adapters.get(endpoint.adapter).from_wire_response(body, endpoint, ids)
        return (response_of(answer_as_offered(data_of(response), tools)) if tools else response), loss
    except ProviderError as problem:  # an error with the HTTP status of a success
        raise ProviderError(with_provider_message(problem.error)) from None
    except InvalidAnswer as problem:
        if not (likely := likely_wire(body, "response", endpoint.adapter)):
            raise
        message = f"{problem.message}; {likely}"
        raise InvalidAnswer(
            message, path=problem.path, adapter=problem.adapter, violations=problem.violations
        ) from None
    except RecursionError:
        raise InvalidAnswer("the response is nested too deeply", adapter=endpoint.adapter) from None


def write_response(
    response: Any, adapter: str, *, provider: str | None = None, strict: str | None = None, request: Any = None
) -> tuple[dict[str, Any], list[Entry]]:
    """Write a canonical response as the body that a provider of this wire would send; returns body and loss report.

    `strict` (representation, weakened or lost) refuses with `LossRefused` if that much would be lost. With the
    canonical `request` of the response, which was read from this wire, calls are spelt as its tools were.
    """
    endpoint = endpoint_of(adapter, provider=provider)
    if request is not None:
        endpoint = replace(endpoint, spellings=spellings(load(request), endpoint))
    return to_wire_response(load(response, "Response"), endpoint, strict_policy(strict))


def to_wire_response(
    response: Mapping[str, Any], endpoint: Endpoint, policy: Policy | None = None, *, created: int = 0
) -> tuple[dict[str, Any], list[Entry]]:
    """Do the same for a validated response, an endpoint and a loss policy. `created` is the time of the body, in
    seconds since 1970, for a wire whose responses have a time, unless this response has a time of its own."""
    policy = _policy_of_answers(policy)
    body, loss = _written(data_of(response), endpoint, created)
    if loss:
        account_for(data_of(response), policy, loss, endpoint)
    return body, loss


def _written(response: dict[str, Any], endpoint: Endpoint, created: int) -> tuple[dict[str, Any], list[Entry]]:
    adapter = adapters.get(endpoint.adapter)
    try:
        if endpoint.state_in_ids:
            response = state_in_ids.load_response(response, endpoint)
        answer = response_of(response)
        if _is_dated(adapter):
            return adapter.to_wire_response(answer, endpoint, created=created)
        return adapter.to_wire_response(answer, endpoint)
    except RecursionError:
        raise too_deep() from None


def _is_dated(adapter: Adapter) -> TypeGuard[DatedAdapter]:
    """Whether the responses of a wire have a time."""
    return bool(getattr(adapter, "DATED", False))


def strict_policy(strict: str | None) -> Policy:
    """Return the loss policy of a severity. Raises `InvalidRequest` for a text that is none."""
    if strict is None:
        return {}
    if strict not in SEVERITIES:
        raise InvalidRequest(f"strict takes {', '.join(SEVERITIES)}; not {strict!r}", path="/loss_policy/strict")
    return {"strict": strict}


def _unanswered_policy(unanswered: str | None) -> Policy:
    if unanswered is None:
        return {}
    if unanswered not in UNANSWERED:
        message = f"unanswered takes {', '.join(UNANSWERED)}; not {unanswered!r}"
        raise InvalidRequest(message, path="/loss_policy/unanswered")
    return {"unanswered": unanswered}


def _policy_of_answers(policy: Policy | None) -> Policy:
    if policy is not None and policy.get("on_drop") == PLACEHOLDER:
        message = "placeholders are for requests only; use on_drop drop or error for a response"
        raise InvalidRequest(message, path="/loss_policy/on_drop")
    return policy or {}


class StreamReader:
    """A reader of the bytes of a stream, in chunks of any size, as canonical events.

    `feed` returns the events that a chunk completes, `end` those at the end of the input: an error event when the
    stream broke off. After `message_complete` or `error` there are no more events. The reader keeps no more than the
    message.
    `adapter` is a name that `endpoint_of` accepts, or an endpoint. `raw`: an error has the provider's whole body.
    With the canonical `request` of the response, the calls are those of its tools as they were offered. A caller that
    knows the `tools` that were sent in another form gives these instead.
    """

    def __init__(
        self,
        adapter: str | Endpoint,
        ids: IdSource = DERIVED_IDS,
        *,
        provider: str | None = None,
        raw: bool = False,
        request: Any = None,
        tools: Offered | None = None,
    ) -> None:
        endpoint = _endpoint(adapter, provider)
        if request is not None:
            tools = _offered(request, endpoint)
        self._restore = EventsAsOffered(tools) if tools else None
        frames: Any = _FRAMINGS[framing(endpoint)].Decoder()
        self._frames: Callable[[bytes], list[Any]] = frames.feed
        self._last_frames: Callable[[], list[Any]] = frames.end
        decoder = adapters.get(endpoint.adapter).stream_decoder(endpoint, ids)
        next(decoder)
        self._decode: Callable[[Any], list[Any]] = decoder.send
        self._done = False
        self._raw = raw

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[dict[str, Any]]:
        """Return the events that this chunk completes."""
        if not isinstance(chunk, bytes):
            chunk = _bytes(chunk)
        return self._events(self._frames(chunk))

    def end(self) -> list[dict[str, Any]]:
        """Return the events at the end of the input."""
        return self._events([*(frame for frame in self._last_frames() if _is_complete(frame.data)), None])

    @property
    def done(self) -> bool:
        """Whether the response has ended, with or without success."""
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
        kind: str = events[-1]["type"] if events else ""
        if kind in ("message_complete", "error"):
            self._done = True
            if kind == "error":
                error = with_provider_message(events[-1]["error"])
                events[-1] = {**events[-1], "error": error if self._raw else without_raw(error)}
        return events if self._restore is None else self._restore(events)


def _endpoint(adapter: str | Endpoint, provider: str | None = None, model: str | None = None) -> Endpoint:
    if isinstance(adapter, Endpoint):
        return adapter
    return endpoint_of(adapter, provider=provider, model=model)


def _bytes(chunk: Any) -> bytes:
    if not isinstance(chunk, (bytearray, memoryview)):
        raise TypeError(
            f"a chunk of a stream must be bytes, not {type(chunk).__name__}; give read_stream a list of chunks"
        )
    return bytes(chunk)


def _is_complete(data: str) -> bool:
    """Whether a last frame that lacks its end is complete. An incomplete one means that the stream broke off."""
    if data.startswith("[") and data.endswith("]"):
        return True  # a mark, such as that of the end
    try:
        json.loads(data.encode("utf-8", "replace"))  # the decoder refuses a complete frame that is not UTF-8
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
    request: Any = None,
) -> Iterator[dict[str, Any]]:
    """Yield the canonical events of a stream, as the chunks complete them."""
    reader = StreamReader(adapter, ids, provider=provider, raw=raw, request=request)
    for chunk in chunks:
        yield from reader.feed(chunk)
    yield from reader.end()


class StreamWriter:
    """A writer of the events of a response, one by one, as the bytes that a provider of this wire would have streamed.

    `feed` returns the chunks that an event completes, one for each frame, `end` those at the end of the events. After
    `message_complete` or `error` there are no more chunks. The writer keeps no more than the message, and no thread.

    The events are plain data as `StreamReader` returns them. Events from elsewhere are not validated one by one: an
    event that cannot be written raises `InvalidRequest` with the place in the event. `load(event, "StreamEvent")`
    validates one. `adapter` is the name of a wire, or an endpoint; `provider` and `model` select a row of the registry.
    `strict` (representation, weakened or lost) ends the stream with `LossRefused` as soon as a loss of that severity is
    known; `policy` is a whole loss policy. Without `report`, and without either of them, losses are not determined,
    which saves time.
    `loss` is a list to which the report is appended.
    `created` is the time of the stream, in seconds since 1970, for a wire whose responses have a time.
    """

    def __init__(
        self,
        adapter: str | Endpoint,
        *,
        provider: str | None = None,
        model: str | None = None,
        strict: str | None = None,
        policy: Policy | None = None,
        report: bool = True,
        loss: list[Entry] | None = None,
        created: int = 0,
    ) -> None:
        endpoint = _endpoint(adapter, provider, model)
        policy = {**_policy_of_answers(policy), **strict_policy(strict)}
        self.loss: list[Entry] = [] if loss is None else loss
        """The report of the whole response, when it has ended."""
        self._account: Callable[[dict[str, Any] | None], None] | None = None
        if report or policy:
            account = stream_account(endpoint, policy, self.loss)
            next(account)
            self._account = account.send
        self._load: Callable[[dict[str, Any] | None], list[dict[str, Any]]] | None = None
        if endpoint.state_in_ids:
            loader = state_in_ids.event_loader(endpoint)
            next(loader)
            self._load = loader.send
        wire = adapters.get(endpoint.adapter)
        encoder = wire.stream_encoder(endpoint, created=created) if _is_dated(wire) else wire.stream_encoder(endpoint)
        next(encoder)
        self._encode: Callable[[Any], list[Any]] = encoder.send
        self._chunk: Callable[[Any], bytes] = _FRAMINGS[framing(endpoint)].encode
        self._done = False

    def feed(self, event: Mapping[str, Any]) -> list[bytes]:
        """Return the chunks that this event completes. Raises `InvalidRequest`, `LossRefused` and `CannotAdapt`; then
        the stream has ended."""
        if self._done:
            return []
        # compiled code would refuse it without a useful message
        if not isinstance(event, dict) or type(event.get("type", "")) is not str:
            self._done = True
            raise malformed_event(event) or InvalidRequest("an event must be plain data: a dict", path="")
        try:
            if self._account is not None:
                self._account(event)
            if self._load is None:
                frames = self._encode(event)
                # nearly every event gives one frame
                chunks = [self._chunk(frames[0])] if len(frames) == 1 else [self._chunk(frame) for frame in frames]
            else:
                chunks = self._written(self._load(event))
        except BaseException:
            self._done = True
            raise
        kind: str = event["type"]
        if kind in ("message_complete", "error"):
            self._done = True
        return chunks

    def end(self) -> list[bytes]:
        """Return the chunks at the end of the events: those that had to wait, if the response broke off. Repeatable."""
        if self._done:
            return []
        self._done = True
        if self._account is not None:
            with suppress(StopIteration):
                self._account(None)
        chunks = self._written([] if self._load is None else self._load(None))
        with suppress(StopIteration):
            chunks += map(self._chunk, self._encode(None))
        return chunks

    @property
    def done(self) -> bool:
        """Whether the response has ended, with or without success."""
        return self._done

    def _written(self, events: list[dict[str, Any]]) -> list[bytes]:
        chunks: list[bytes] = []
        for event in events:
            for frame in self._encode(event):
                chunks.append(self._chunk(frame))
        return chunks


def write_stream(
    events: Iterable[dict[str, Any]],
    adapter: str,
    *,
    provider: str | None = None,
    model: str | None = None,
    strict: str | None = None,
    loss: list[Entry] | None = None,
) -> Iterator[bytes]:
    """Do the same for an iterable of events: yield the chunks, as the events complete them.

    If the events are a list, an error has the place in the list as well.
    `loss` is a list that holds, when the stream has ended, the report of the whole response.
    """
    endpoint = endpoint_of(adapter, provider=provider, model=model)
    return encode_stream(events, endpoint, loss=loss, policy=strict_policy(strict))


def encode_stream(
    events: Iterable[dict[str, Any]],
    endpoint: Endpoint,
    *,
    loss: list[Entry] | None = None,
    policy: Policy | None = None,
) -> Iterator[bytes]:
    """Do the same for an endpoint and a loss policy. Without `loss`, no report is made."""
    writer = StreamWriter(endpoint, policy=policy, report=loss is not None, loss=loss)
    chunks = _chunks_of(writer, events)
    return _refused_by_place(chunks, events) if isinstance(events, (list, tuple)) else chunks


def _chunks_of(writer: StreamWriter, events: Iterable[Any]) -> Iterator[bytes]:
    for event in events:
        for chunk in writer.feed(event):  # noqa: UP028 compiled, to go through a list is faster than to delegate to it
            yield chunk
    yield from writer.end()


def _refused_by_place(chunks: Iterable[bytes], events: Iterable[Any]) -> Iterator[bytes]:
    """Yield the chunks; an error has the place of the first event that is malformed."""
    try:
        yield from chunks
    except InvalidRequest as refusal:
        for index, event in enumerate(events):
            if (malformed := malformed_event(event, index)) is not None:
                raise malformed from refusal
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
) -> Error:
    """Read a provider's error response as a canonical error; without a status, from its body alone.

    Its `provider_message` is the provider's own message, for the caller: it may hold content, so it must not be logged.
    `raw` keeps the whole body, from which the same wire is restored.
    """
    return from_wire_error(status, headers, body, endpoint_of(adapter, provider=provider), raw=raw)


error = read_error


def from_wire_error(
    status: int | None, headers: Mapping[str, str], body: bytes | str, endpoint: Endpoint, *, raw: bool = False
) -> Error:
    """Do the same for an endpoint."""
    adapter = adapters.get(endpoint.adapter)
    try:
        canonical = adapter.error(_OK if status is None else status, dict(headers), body, endpoint)
    except RecursionError:
        raise InvalidAnswer("the error is nested too deeply", adapter=endpoint.adapter) from None
    if status is None and canonical.get("status") == _OK:
        del canonical["status"]
    canonical = with_provider_message(canonical)
    return canonical if raw else without_raw(canonical)


def write_error(
    error: Any, adapter: str, *, provider: str | None = None, strict: str | None = None
) -> tuple[dict[str, Any], list[Entry]]:
    """Write an error as the response (`status`, `headers`, `body`) that a provider of this wire would have sent.

    `error` is canonical (JSON text, plain data) or an `InterlinguaError`, so that a gateway can also report its own
    failures to its clients. The second value is the loss report; `strict` (representation, weakened or lost) refuses
    with `LossRefused` if that much would be lost. Raises `InvalidRequest` for a value that is not an error.
    """
    endpoint = endpoint_of(adapter, provider=provider)
    if isinstance(error, ProviderError):
        canonical = error.error
    elif isinstance(error, InterlinguaError):
        canonical = error.to_dict()
    else:
        canonical = load(error, "Error")
    return to_wire_error(canonical, endpoint, strict_policy(strict))


def to_wire_error(
    error: Mapping[str, Any], endpoint: Endpoint, policy: Policy | None = None
) -> tuple[dict[str, Any], list[Entry]]:
    """Do the same for a validated error, an endpoint and a loss policy."""
    policy = _policy_of_answers(policy)
    adapter = adapters.get(endpoint.adapter)
    if not _writes_errors(adapter):
        raise CannotAdapt("this adapter writes no errors", adapter=endpoint.adapter)
    wire, loss = adapter.to_wire_error(cast("Error", error), endpoint)
    if loss:
        account_for(data_of(error), policy, loss, endpoint)
    return wire, loss


def _writes_errors(adapter: Adapter) -> TypeGuard[ErrorWriter]:
    return hasattr(adapter, "to_wire_error")


def with_provider_message(error: Mapping[str, Any]) -> Error:
    """Return a canonical error with the provider's message from its `raw` body (spec/8-errors.md#provider-message)."""
    message = provider_message(error.get("raw"))
    return cast("Error", error if message is None else {**error, "provider_message": message})


def without_raw(error: Mapping[str, Any]) -> Error:
    """Return a canonical error without the provider's whole body (spec/8-errors.md#raw)."""
    shortened = {name: value for name, value in error.items() if name != "raw"} if "raw" in error else error
    return cast("Error", shortened)


_OK: Final = 200


# ---------------------------------------------------------------------------------------------------- estimates


def estimate(
    request: Any, to: str | None = None, *, provider: str | None = None, model: str | None = None
) -> TokenEstimate:
    """Estimate the prompt tokens of a canonical request: low, likely, high. It uses no network.

    `to` is a wire, a provider or a model (see `endpoint_of`). Without it, `model` is used, or else the model of the
    request.
    """
    canonical = load(request)
    named = model or canonical.get("model")
    if to is not None:
        at = for_request(endpoint_of(to, provider=provider, model=model), canonical)
    elif provider is not None or named:
        at = registry.endpoint(provider=provider, model=named)
    else:
        raise InvalidRequest(
            "name a model, as provider:name, or a wire: neither the call nor the request names one", path="/model"
        )
    return estimate_for(canonical, at)


def estimate_for(request: Mapping[str, Any], endpoint: Endpoint) -> TokenEstimate:
    """Do the same for a validated request and an endpoint."""
    try:
        return adapters.get(endpoint.adapter).estimate(cast("Request", request), endpoint)
    except RecursionError:
        raise too_deep() from None


def estimated_usage(request: Mapping[str, Any], message: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """Return the likely usage of a request and of the message that answered it, marked as an estimate."""
    return {
        "input_tokens": estimate_for(request, endpoint)["likely"],
        "output_tokens": estimate_for({"messages": [message]}, endpoint)["likely"],
        "estimated": True,
    }


__all__ = [
    "InvalidRequest",
    "Offered",
    "Projection",
    "StreamReader",
    "StreamWriter",
    "adapt",
    "error",
    "estimate",
    "is_beyond",
    "load",
    "offered",
    "project",
    "read_error",
    "read_request",
    "read_response",
    "read_stream",
    "write_error",
    "write_response",
    "write_stream",
]
