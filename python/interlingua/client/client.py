"""
Generate: the one place that calls a provider.

A call is: find the row of the model → write the wire (the door, `adapt.project`) → send → read the answer → price it.
Everything but the sending is pure code of other modules. Time, randomness and the network come in as arguments.

Streams are pulled: nothing runs between two events, nothing is queued, and the provider is read only as fast as the
caller asks. A stream that is closed, cancelled, or out of time closes the call to the provider at once.
"""

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType
from typing import Any, Self

from interlingua import adapters, registry, translate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    Cancelled,
    InterlinguaError,
    InvalidRequest,
    InvalidWire,
    ProviderError,
    StreamTruncated,
)
from interlingua.canonical.ids import DERIVED_IDS, UlidSource
from interlingua.client.credentials import Credentials
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.client.transport import Answer, Transport, TransportFailed

Event = dict[str, Any]
Request = dict[str, Any]
Response = dict[str, Any]

_LOG = logging.getLogger("interlingua.client")
_ERROR_BODY_LIMIT = 1 << 20


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may take: `idle` seconds without a byte from the provider, `answer` bytes of an answer."""

    idle: float | None = 300.0
    answer: int = 256 << 20


@dataclass(slots=True)
class _Call:
    """One call on its way. `__repr__` leaves out the headers, which hold the key."""

    endpoint: Endpoint
    adapter: ModuleType
    projection: adapt.Projection
    url: str
    headers: dict[str, str]
    secrets: tuple[str, ...]
    request: Request
    requested_model: str
    routing: dict[str, Any] | None
    message_id: str
    started: float

    def __repr__(self) -> str:
        return f"<call to {self.requested_model} {self.message_id}>"


class Client:
    """Calls providers. One client serves any number of calls at a time; close it when done, or use `async with`.

    `transport` is the network (default: httpx). `credentials` knows the keys and base URLs (default: the environment).
    `clock` measures latency, in seconds; `now` dates messages; `ulids` numbers them.
    """

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        credentials: Credentials | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _now,
        ulids: UlidSource | None = None,
    ) -> None:
        self._transports: dict[str, Transport] = {} if transport is None else {"": transport}
        self._credentials = credentials or Credentials()
        self._limits = limits or Limits()
        self._clock = clock
        self._now = now
        self._ulids = ulids or UlidSource()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes all connections. Any number of times."""
        transports, self._transports = self._transports, {}
        for transport in transports.values():
            await transport.aclose()

    # ------------------------------------------------------------------------------------------------ the two verbs

    async def generate(
        self,
        request: Any,
        *,
        model: str | None = None,
        deadline: float | None = None,
        routing: Mapping[str, Any] | None = None,
        raw: bool = False,
    ) -> Response:
        """One answer, whole.

        `request` is canonical: plain data, JSON text or `Request`. `model` stands for the request's own (provider:name).
        `deadline` is the time for the whole call in seconds, `routing` the record of why this model was chosen.
        `raw` keeps the provider's whole answer in `response.raw`.
        Raises `InvalidRequest`, `CannotAdapt` and `LossRefused` before anything is sent, `ProviderError` after.
        """
        call = self._prepare(request, model, routing, stream=False)
        interrupt = Interrupt(deadline)
        answer: Answer | None = None
        try:
            answer = await interrupt.wait(self._send(call, deadline))
            body = await interrupt.wait(_whole(answer, self._limits.answer))
            response = _read(call, answer, body)
        except (TransportFailed, Interrupted) as problem:
            raise _failure(problem, call.endpoint) from None
        finally:
            interrupt.done()
            if answer is not None:
                await answer.aclose()
        if raw:
            response["raw"] = json.loads(body)
        return self._complete(response, call)

    def stream(
        self,
        request: Any,
        *,
        model: str | None = None,
        deadline: float | None = None,
        routing: Mapping[str, Any] | None = None,
    ) -> "Stream":
        """One answer, event by event as it arrives. Nothing is sent before the first event is asked for.

        Takes and raises what `generate` does. An answer that fails midway gives an `error` event with what had
        arrived, then raises `StreamTruncated` or `ProviderError`. Use `async with`, or call `aclose`, or read to the end.
        """
        call = self._prepare(request, model, routing, stream=True)
        return Stream(self, call, deadline)

    # ------------------------------------------------------------------------------------------------ one call

    def _prepare(
        self, request: Any, model: str | None, routing: Mapping[str, Any] | None, *, stream: bool
    ) -> _Call:
        canonical = translate.load(request)
        chosen = model or canonical.get("model")
        if chosen is None:
            raise InvalidRequest("the request names no model; give one as provider:name", path="/model")
        # a copy: the caller's request stays as it is and can be used again
        canonical = {**canonical, "model": chosen, "stream": stream}
        endpoint = registry.endpoint(model=chosen)
        projection = translate.project(canonical, endpoint)
        base_url, headers, secrets = self._credentials.of(endpoint.provider or endpoint.adapter)
        return _Call(
            endpoint=endpoint,
            adapter=adapters.get(endpoint.adapter),
            projection=projection,
            url=base_url.rstrip("/") + projection.wire["path"],
            headers={
                "content-type": "application/json",
                "accept": "text/event-stream" if stream else "application/json",
                "accept-encoding": "identity",
                "user-agent": "interlingua",
                **projection.wire.get("headers", {}),
                **headers,
            },
            secrets=secrets,
            request=canonical,
            requested_model=chosen,
            routing=dict(routing) if routing else None,
            message_id=self._ulids.next(),
            started=self._clock(),
        )

    async def _send(self, call: _Call, deadline: float | None) -> Answer:
        """Sends, and gives the answer when its head says success.

        Retries and fail-over along a chain belong here: until this returns, nothing was delivered; afterwards
        a failure belongs to the caller, who may have shown the first event already.
        """
        idle = self._limits.idle
        timeout = idle if deadline is None else min(deadline, idle or deadline)
        answer = await self._transport(call.url).send(call.url, call.headers, call.projection.body, timeout)
        if 200 <= answer.status < 300:
            return answer
        try:
            body = await _whole(answer, _ERROR_BODY_LIMIT, cut=True)
        except TransportFailed:
            body = b""  # the status says enough
        finally:
            await answer.aclose()
        raise ProviderError(_refusal(call, answer, body))

    def _transport(self, url: str) -> Transport:
        scheme = url.partition(":")[0]
        transport = self._transports.get("") or self._transports.get(scheme)
        if transport is None:
            transport = self._transports[scheme] = _open_transport(scheme)
        return transport

    def _complete(self, response: Response, call: _Call, status: str = "complete") -> Response:
        """Fills in what only the caller of the provider knows: ids, times, cost, where it came from, what was lost."""
        usage = response.get("usage")
        if usage is None and status == "complete":
            usage = response["usage"] = _estimated_usage(response, call)
        if usage is not None:
            usage["latency_ms"] = round((self._clock() - call.started) * 1000)
            _price(usage, response.get("model") or call.requested_model, call.requested_model)
        response.setdefault("model", call.requested_model)
        response["requested_model"] = call.requested_model
        if call.projection.loss:
            response["loss"] = call.projection.loss
        message = response["message"]
        message["id"] = call.message_id
        message["created_at"] = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        message["schema_version"] = 1
        message["metadata"] = {
            "model": response["model"],
            "provider": call.endpoint.provider,
            "routing": call.routing,
            "usage": usage,
            "status": status,
        }
        return response


class Stream:
    """The events of one answer. Iterate it once; `response` is the whole answer when the stream has ended."""

    def __init__(self, client: Client, call: _Call, deadline: float | None) -> None:
        self.message_id = call.message_id
        """The id of the message that is being written; every event carries it."""
        self.loss = call.projection.loss
        """The report of what was lost on the way to the provider."""
        self.response: Response | None = None
        """The answer: whole after `message_complete`, what had arrived after `error` and after `cancel`."""
        self._client = client
        self._call = call
        self._deadline = deadline
        self._interrupt: Interrupt | None = None
        self._events = self._run()

    def __aiter__(self) -> AsyncIterator[Event]:
        # the generator itself, so that an event costs no further call
        return self._events

    async def __anext__(self) -> Event:
        return await anext(self._events)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Gives up what has not been read and closes the call to the provider. Any number of times."""
        await self._events.aclose()

    def cancel(self) -> None:
        """Stops the answer, from any task: whoever waits for an event gets an `error` event of category `cancelled`
        with what had arrived, then `Cancelled`. Any number of times."""
        if self._interrupt is not None:
            self._interrupt.stop("cancelled")

    async def _run(self) -> AsyncGenerator[Event, None]:
        call = self._call
        self._interrupt = interrupt = Interrupt(self._deadline)
        reader = translate.StreamReader(call.endpoint, DERIVED_IDS)
        answer: Answer | None = None
        event: Event | None = None
        try:
            answer = await interrupt.wait(self._client._send(call, self._deadline))
            _refuse_other_content(call, answer)
            chunks = answer.chunks()
            while not reader.done:
                for event in await self._pull(reader, chunks, interrupt):
                    if self._is_last(event):
                        # the caller may take its time with the last event: the provider is done with already
                        await answer.aclose()
                    yield event
            if event is not None and event["type"] == "error":
                raise StreamTruncated(event["error"], event.get("response"))
        except (TransportFailed, Interrupted) as problem:
            error = _failure(problem, call.endpoint)
            if answer is not None:
                await answer.aclose()
            if event is not None:
                yield self._broken_off(reader, error)
                if isinstance(error, ProviderError):
                    error = StreamTruncated(error.error, self.response)
            raise error from None
        finally:
            interrupt.done()
            if answer is not None:
                await answer.aclose()

    async def _pull(self, reader: translate.StreamReader, chunks: AsyncIterator[bytes], interrupt: Interrupt) -> list[Event]:
        """The events that the next bytes complete, or, at the end of input, those that it brings."""
        waiting = 0
        while waiting <= self._client._limits.answer:
            try:
                chunk = await interrupt.wait(anext(chunks))
            except StopAsyncIteration:
                return reader.end()
            if events := reader.feed(chunk):
                return events
            waiting += len(chunk)
        raise TransportFailed("network", f"the provider sent {waiting} bytes without completing an event")

    def _is_last(self, event: Event) -> bool:
        """Fills in an event; whether it is the last."""
        event["message_id"] = self.message_id
        match event["type"]:
            case "message_complete":
                self.response = self._client._complete(event["response"], self._call)
            case "error":
                event["error"].setdefault("provider", self._call.endpoint.provider)
                if "response" in event:
                    self.response = self._client._complete(event["response"], self._call, "error")
            case _:
                return False
        return True

    def _broken_off(self, reader: translate.StreamReader, error: InterlinguaError) -> Event:
        """The last event of a stream that the provider did not end: the decoder tells what had arrived."""
        event: Event = next((event for event in reader.end() if event["type"] == "error"), {"type": "error"})
        event["error"] = error.to_dict()
        self._is_last(event)
        if isinstance(error, Cancelled) and "response" in event:
            event["response"]["finish_reason"] = "cancelled"
            event["response"]["message"]["metadata"]["status"] = "cancelled"
        return event


# ---------------------------------------------------------------------------------------------------- answers


async def _whole(answer: Answer, limit: int, *, cut: bool = False) -> bytes:
    """The body. What is beyond the limit is cut off or refused."""
    body = bytearray()
    async for chunk in answer.chunks():
        body += chunk
        if len(body) > limit:
            if cut:
                break
            raise TransportFailed("network", f"the provider's answer is longer than {limit} bytes")
    return bytes(body[:limit])


def _read(call: _Call, answer: Answer, body: bytes) -> Response:
    try:
        data = json.loads(body)
        if not isinstance(data, dict):
            raise InvalidWire("the answer must be an object", path="")
        response, _ = call.adapter.from_wire_response(data, call.endpoint, DERIVED_IDS)
    except (InvalidWire, InvalidRequest) as problem:
        if b'"error"' in body:
            raise ProviderError(_refusal(call, answer, body)) from None
        raise ProviderError(
            _error(call.endpoint, "invalid_response", f"the provider's answer cannot be read: {problem.message}")
            | {"status": answer.status}
            | ({} if problem.path is None else {"path": problem.path})
        ) from None
    return response


def _refuse_other_content(call: _Call, answer: Answer) -> None:
    """A page or a JSON body where a stream was asked for is not an empty stream."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/json", "application/problem+json") and call.adapter.FRAMING == "sse":
        raise ProviderError(
            _error(call.endpoint, "invalid_response", f"the provider answered with {kind} where a stream was asked for")
            | {"status": answer.status}
        )


def _refusal(call: _Call, answer: Answer, body: bytes) -> dict[str, Any]:
    """The canonical error for an error answer, without the caller's secrets."""
    error: dict[str, Any] = call.adapter.error(answer.status, dict(answer.headers), body, call.endpoint)
    if "raw" in error and call.secrets:
        text = json.dumps(error["raw"]).decode()
        for secret in call.secrets:
            text = text.replace(secret, "[secret]")
        error["raw"] = json.loads(text)
    return error


def _error(endpoint: Endpoint, category: str, message: str, *, retryable: bool = False) -> dict[str, Any]:
    error = {"category": category, "message": message, "retryable": retryable, "adapter": endpoint.adapter}
    return error if endpoint.provider is None else error | {"provider": endpoint.provider}


def _failure(problem: TransportFailed | Interrupted, endpoint: Endpoint) -> InterlinguaError:
    """What a failed or interrupted wait is to the caller."""
    match problem:
        case TransportFailed():
            return ProviderError(_error(endpoint, problem.category, problem.message, retryable=True))
        case Interrupted(reason="deadline"):
            return ProviderError(
                _error(endpoint, "timeout", "the deadline passed before the answer was complete", retryable=True)
            )
        case _:
            return Cancelled("the answer was cancelled before it was complete", adapter=endpoint.adapter)


# ---------------------------------------------------------------------------------------------------- usage and cost


def _estimated_usage(response: Response, call: _Call) -> dict[str, Any]:
    """Usage for an answer whose provider gave none: estimates, marked as such."""
    _LOG.warning("no usage from %s, estimated", call.endpoint.provider, extra={"message_id": call.message_id})
    prompt = call.adapter.estimate(call.request, call.endpoint)["likely"]
    answer = call.adapter.estimate({"messages": [response["message"]]}, call.endpoint)["likely"]
    return {"input_tokens": prompt, "output_tokens": answer, "estimated": True}
