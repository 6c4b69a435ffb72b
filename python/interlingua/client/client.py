"""
Generate: the one place that calls a provider.

A call is: find the model's row → write the wire (the door, `translate.project`) → send → read the answer → price it.
Everything but the sending is pure code of other modules. Time, randomness and the network come in as arguments.

Streams are pulled: nothing runs between two events, nothing is queued, and the provider is read only as fast as the
caller asks. A stream that is closed, cancelled, or out of time closes the call to the provider at once.
"""

# pyright: reportPrivateUsage=false
# a stream is the second half of its client

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Self

from interlingua import adapters, translate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    Cancelled,
    CannotAdapt,
    InterlinguaError,
    InvalidRequest,
    ProviderError,
    StreamTruncated,
)
from interlingua.canonical.ids import DERIVED_IDS, UlidSource
from interlingua.client.answers import (
    ERROR_BODY_LIMIT,
    another_may_do,
    failure,
    read,
    refusal,
    refuse_other_content,
    served,
    whole,
)
from interlingua.client.call import Call, Limits, Plan
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.client.transport import Answer, Transport, TransportFailed
from interlingua.registry import Connection, Registry, default

Event = dict[str, Any]
Response = dict[str, Any]

_LOG = logging.getLogger("interlingua.client")


def _now() -> datetime:
    return datetime.now(UTC)


class Client:
    """Calls providers. One client serves any number of calls at a time; close it when done, or use `async with`.

    `transport` is the network (default: httpx, and recorded exchanges for the provider `replay`).
    `keys` and `base_urls`, by provider, stand over what the `registry` finds in the environment.
    `clock` measures latency, in seconds; `now` dates messages; `ulids` numbers them.
    """

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        keys: Mapping[str, str] | None = None,
        base_urls: Mapping[str, str] | None = None,
        registry: Registry | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = _now,
        ulids: UlidSource | None = None,
    ) -> None:
        self._transport = transport
        self._opened: dict[str, Transport] = {}
        self._keys = dict(keys or {})
        self._base_urls = dict(base_urls or {})
        self._registry = registry or default()
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
        opened, self._opened = self._opened, {}
        for transport in (self._transport, *opened.values()):
            if transport is not None:
                await transport.aclose()

    # ------------------------------------------------------------------------------------------------ the two verbs

    async def generate(
        self,
        request: Any,
        *,
        model: str | None = None,
        fallbacks: Sequence[str] = (),
        deadline: float | None = None,
        routing: Mapping[str, Any] | None = None,
        raw: bool = False,
        validated: bool = False,
    ) -> Response:
        """One answer, whole.

        `request` is canonical: plain data, JSON text or `Request`. `model` (provider:name) stands over its own;
        `fallbacks` are asked in turn when it cannot serve (`response.skipped` then tells why).
        `deadline` is the time for the whole call in seconds, `routing` the record of why this model was chosen.
        `raw` keeps the provider's whole answer in `response.raw`; `validated` says that the request has been through
        the door already.
        Raises `InvalidRequest`, `CannotAdapt` and `LossRefused` before anything is sent, `ProviderError` after.
        """
        plan = self._plan(request, model, fallbacks, routing, stream=False, validated=validated)
        interrupt = Interrupt(deadline)
        call: Call | None = None
        answer: Answer | None = None
        try:
            call, answer = await self._begin(plan, interrupt, deadline)
            body = await interrupt.wait(whole(answer, self._limits.answer))
            response = read(call, answer, body)
        except (TransportFailed, Interrupted) as problem:
            raise failure(problem, call) from None
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
        fallbacks: Sequence[str] = (),
        deadline: float | None = None,
        routing: Mapping[str, Any] | None = None,
        validated: bool = False,
    ) -> "Stream":
        """One answer, event by event as it arrives. Nothing is sent before the first event is asked for.

        Takes and raises what `generate` does; there is no fallback once a provider has begun to answer.
        An answer that fails midway gives an `error` event with what had arrived, then raises `StreamTruncated` or
        `Cancelled`. Use `async with`, or call `aclose`, or read to the end.
        """
        return Stream(self, self._plan(request, model, fallbacks, routing, stream=True, validated=validated), deadline)

    # ------------------------------------------------------------------------------------------------ one call

    def _plan(
        self,
        request: Any,
        model: str | None,
        fallbacks: Sequence[str],
        routing: Mapping[str, Any] | None,
        *,
        stream: bool,
        validated: bool,
    ) -> Plan:
        canonical = request if validated else translate.load(request)
        chosen = model or canonical.get("model")
        if chosen is None:
            raise InvalidRequest("the request names no model; give one as provider:name", path="/model")
        return Plan(
            request=canonical,
            models=(chosen, *fallbacks),
            routing=dict(routing) if routing else None,
            stream=stream,
            message_id=self._ulids.next(),
            started=self._clock(),
        )

    def _prepare(self, plan: Plan, model: str) -> Call:
        endpoint = self._registry.endpoint(model=model)
        connection = self.connection(endpoint)
        endpoint = connection.located(endpoint)
        requested = endpoint.model_id(endpoint.model) or model
        # a copy: the caller's request stays as it is and can be used again
        request = {**plan.request, "model": requested, "stream": plan.stream}
        projection = translate.project(request, endpoint)
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream" if plan.stream else "application/json",
            "accept-encoding": "identity",
            "user-agent": "interlingua",
            **projection.wire.get("headers", {}),
            **connection.headers,
        }
        return Call(
            plan=plan,
            endpoint=endpoint,
            adapter=adapters.get(endpoint.adapter),
            projection=projection,
            request=request,
            model=requested,
            url=connection.url(projection.wire["path"]),
            headers=headers,
            secrets=tuple(value.rpartition(" ")[2] for value in connection.headers.values()),
        )

    def connection(self, endpoint: Endpoint) -> Connection:
        """Address and headers with which this client calls an endpoint. Raises `InvalidRequest` for an address that is
        malformed."""
        provider = endpoint.provider or endpoint.adapter
        found = self._registry.connection(provider, endpoint.adapter, key=self._keys.get(provider))
        if provider in self._base_urls:
            found = replace(found, base_url=self._base_urls[provider])
        elif found.base_url is None and (self._transport is not None or provider == "replay"):
            found = replace(found, base_url=f"{provider}://played")  # nothing that is played has an address
        return found

    async def _begin(self, plan: Plan, interrupt: Interrupt, deadline: float | None) -> tuple[Call, Answer]:
        """The first candidate that begins to answer.

        A candidate is passed over when the conversation cannot be carried to it, or when it fails in a way that
        another may not. Until this returns nothing was delivered; afterwards a failure belongs to the caller, who may
        have shown the first event already. Retries of one candidate would belong here too; there are none yet.
        """
        skipped: list[dict[str, Any]] = []
        for position, model in enumerate(plan.models, start=1):
            call: Call | None = None
            try:
                call = self._prepare(plan, model)
                answer = await interrupt.wait(self._send(call, deadline))
                call.skipped = skipped
                return call, answer
            except (CannotAdapt, ProviderError, TransportFailed) as problem:
                error = failure(problem, call) if isinstance(problem, TransportFailed) else problem
                if position == len(plan.models) or not another_may_do(error):
                    raise error from None
                reason = error.to_dict()["category"]
                skipped.append({"model": call.model if call else model, "reason": reason, "message": error.message})
            except Interrupted as problem:
                raise failure(problem, call) from None
        raise AssertionError("there is always a last candidate")

    async def _send(self, call: Call, deadline: float | None) -> Answer:
        """Sends, and gives the answer when its head says success. Raises `ProviderError` when it says failure."""
        idle = self._limits.idle
        timeout = idle if deadline is None else min(deadline, idle or deadline)
        transport = self._transport_for(call.url)
        answer = await transport.send(call.url, call.headers, call.projection.body, timeout)
        if 200 <= answer.status < 300:
            return answer
        try:
            body = await whole(answer, ERROR_BODY_LIMIT, cut=True)
        except TransportFailed:
            body = b""  # the status says enough
        finally:
            await answer.aclose()
        raise ProviderError(refusal(call, answer, body))

    def _transport_for(self, url: str) -> Transport:
        if self._transport is not None:
            return self._transport
        scheme = "replay" if url.startswith("replay:") else "http"
        if scheme not in self._opened:
            self._opened[scheme] = _open_transport(scheme)
        return self._opened[scheme]

    def _complete(self, response: Response, call: Call, status: str = "complete") -> Response:
        """Fills in what only the caller of the provider knows: ids, times, cost, where it came from, what was lost."""
        model = response.setdefault("model", call.model)
        usage = response.get("usage")
        if usage is None and status == "complete":
            usage = _estimated_usage(response, call)
        if usage is not None:
            usage["latency_ms"] = round((self._clock() - call.plan.started) * 1000)
            usage = response["usage"] = self._priced(usage, model, call)
        response["requested_model"] = call.model
        if call.projection.loss:
            response["loss"] = call.projection.loss
        if call.skipped:
            response["skipped"] = call.skipped
        message = response["message"]
        message["id"] = call.plan.message_id
        message["created_at"] = self._now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        message["schema_version"] = 1
        message["metadata"] = {
            "model": model,
            "provider": call.endpoint.provider,
            "routing": served(call.plan.routing, model, call.skipped),
            "usage": usage,
            "status": status,
        }
        return response

    def _priced(self, usage: dict[str, Any], model: str, call: Call) -> dict[str, Any]:
        """The usage with its cost: of the model that served or, when no table knows that one, of the one asked for."""
        priced = self._registry.priced(usage, model)
        if priced["cost_usd"] is None and model != call.model:
            priced = self._registry.priced(usage, call.model)
        return priced


class Stream:
    """The events of one answer. Iterate it once; `response` is the whole answer when the stream has ended."""

    def __init__(self, client: Client, plan: Plan, deadline: float | None) -> None:
        self.response: Response | None = None
        """The answer: whole after `message_complete`, what had arrived after `error`."""
        self._client = client
        self._plan = plan
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
        self._interrupt = interrupt = Interrupt(self._deadline)
        answer: Answer | None = None
        call: Call | None = None
        reader: translate.StreamReader | None = None
        event: Event | None = None
        try:
            call, answer = await self._client._begin(self._plan, interrupt, self._deadline)
            await refuse_other_content(call, answer, interrupt)
            reader = translate.StreamReader(call.endpoint, DERIVED_IDS)
            chunks = answer.chunks()
            while not reader.done:
                for event in await self._pull(reader, chunks, interrupt):
                    if self._is_last(event, call):
                        # the caller may take its time with the last event: the provider is done with already
                        await answer.aclose()
                    yield event
            if event is not None and event["type"] == "error":
                raise StreamTruncated(event["error"], event.get("response"))
        except (TransportFailed, Interrupted) as problem:
            error = failure(problem, call)
            if answer is not None:
                await answer.aclose()
            if event is not None and reader is not None and call is not None:
                yield self._broken_off(reader, error, call)
                if isinstance(error, ProviderError):
                    error = StreamTruncated(error.error, self.response)
            raise error from None
        finally:
            interrupt.done()
            if answer is not None:
                await answer.aclose()

    async def _pull(
        self, reader: translate.StreamReader, chunks: AsyncIterator[bytes], interrupt: Interrupt
    ) -> list[Event]:
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

    def _is_last(self, event: Event, call: Call) -> bool:
        """Fills in an event; whether it is the last."""
        event["message_id"] = call.plan.message_id
        match event["type"]:
            case "message_complete":
                self.response = self._client._complete(event["response"], call)
            case "error":
                if call.endpoint.provider is not None:
                    event["error"].setdefault("provider", call.endpoint.provider)
                if "response" in event:
                    self.response = self._client._complete(event["response"], call, "error")
            case _:
                return False
        return True

    def _broken_off(self, reader: translate.StreamReader, error: InterlinguaError, call: Call) -> Event:
        """The last event of a stream that the provider did not end: the decoder tells what had arrived."""
        event: Event = next((event for event in reader.end() if event["type"] == "error"), {"type": "error"})
        event["error"] = error.to_dict()
        self._is_last(event, call)
        if isinstance(error, Cancelled) and "response" in event:
            event["response"]["finish_reason"] = "cancelled"
            event["response"]["message"]["metadata"]["status"] = "cancelled"
        return event


# ---------------------------------------------------------------------------------------------------- usage and network


def _estimated_usage(response: Response, call: Call) -> dict[str, Any]:
    """Usage for an answer whose provider gave none: estimates, marked as such."""
    _LOG.warning("no usage from %s, estimated", call.endpoint.provider, extra={"message_id": call.plan.message_id})
    prompt = call.adapter.estimate(call.request, call.endpoint)["likely"]
    answer = call.adapter.estimate({"messages": [response["message"]]}, call.endpoint)["likely"]
    return {"input_tokens": prompt, "output_tokens": answer, "estimated": True}


def _open_transport(scheme: str) -> Transport:
    if scheme == "replay":
        from interlingua.client.replay import ReplayTransport

        return ReplayTransport()
    from interlingua.client.httpx_transport import HttpxTransport

    return HttpxTransport()
