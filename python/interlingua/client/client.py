"""
Generate: the one place that calls a provider.

A call is: find the model's row → write the wire (the door, `translate.project`) → send → read the answer → price it.
Everything but the sending is pure code of other modules. Time, randomness and the network come in as arguments.

Streams are pulled: nothing runs between two events, nothing is queued, and the provider is read only as fast as the
caller asks. A stream that is closed, cancelled, or out of time closes the call to the provider at once.
"""

# pyright: reportPrivateUsage=false
# a stream is the second half of its client

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Self, TypeVar

from interlingua import adapters, translate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import (
    Cancelled,
    CannotAdapt,
    InterlinguaError,
    InvalidRequest,
    NoCandidate,
    ProviderError,
    StreamTruncated,
)
from interlingua.canonical.ids import UlidSource
from interlingua.client.answers import (
    ERROR_BODY_LIMIT,
    another_may_do,
    failure,
    in_band,
    refusal,
    refuse_page,
    served,
    unreached,
    whole,
)
from interlingua.client.call import Call, Limits, Plan, Trail
from interlingua.client.interrupt import Interrupt, Interrupted
from interlingua.client.reading import Reader, read_body, reader
from interlingua.client.retry import PRESETS, Retry
from interlingua.client.sigv4 import Wallet, signed
from interlingua.client.transport import STREAMS, Answer, Transport, TransportFailed
from interlingua.registry import Connection, Registry, default
from interlingua.router import Health

Event = dict[str, Any]
Response = dict[str, Any]
Data = dict[str, Any]
T = TypeVar("T")
Receive = Callable[[Call, Answer, Interrupt], Awaitable[T]]
"""What is done with an answer whose head says success, before it counts as one."""

_LOG = logging.getLogger("interlingua.client")


def log_rest(event: Data) -> None:
    """An observer of `Health` that logs who begins to rest, and who is back."""
    level = logging.WARNING if event["type"] == "unavailable" else logging.INFO
    _LOG.log(level, "%s is %s: %s", event["name"], event["type"], event["reason"])


def _now() -> datetime:
    return datetime.now(UTC)


class Client:
    """Calls providers. One client serves any number of calls at a time; close it when done, or use `async with`.

    `transport` is the network (default: httpx, and recorded exchanges for the provider `replay`).
    `keys` and `base_urls`, by provider, stand over what the `registry` finds in the environment.
    `retry` says when a model is asked again: a policy, or the name of one; `health` keeps who rests (spec/7-routing.md#health).
    `clock` measures time, in seconds, `sleep` passes it; `now` dates messages; `ulids` numbers them; `chance` gives
    numbers from 0 to 1 for the pauses between attempts.
    """

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        keys: Mapping[str, str] | None = None,
        base_urls: Mapping[str, str] | None = None,
        registry: Registry | None = None,
        limits: Limits | None = None,
        retry: Retry | str = "standard",
        health: Health | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = _now,
        ulids: UlidSource | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._transport = transport
        self._opened: dict[str, Transport] = {}
        self._keys = dict(keys or {})
        self._base_urls = dict(base_urls or {})
        self._registry = registry or default()
        self._limits = limits or Limits()
        self._retry = PRESETS[retry] if isinstance(retry, str) else retry
        self.health = health or Health(observer=log_rest)
        """Who rests, and until when: fed with every attempt."""
        self._clock = clock
        self._sleep = sleep
        self.now = now
        """The clock that dates messages."""
        self._ulids = ulids or UlidSource()
        self._chance = chance
        self._wallet = Wallet()

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
        `fallbacks` are asked in turn when it cannot serve (`response.skipped` then tells why, `response.attempts` tells
        every call that failed).
        `deadline` is the time for the whole call in seconds, `routing` the record of why this model was chosen.
        `raw` keeps the provider's whole answer in `response.raw`; `validated` says that the request has been through
        the door already.
        Raises `InvalidRequest`, `CannotAdapt` and `LossRefused` before anything is sent, `ProviderError` after.
        """
        plan = self._plan(request, model, fallbacks, routing, stream=False, validated=validated)
        interrupt = Interrupt(deadline)
        try:
            call, answer, (response, body) = await self._begin(plan, interrupt, deadline, self._receive)
        finally:
            interrupt.done()
        await answer.aclose()
        self.health.succeeded(call.model)
        if raw and body is not None:
            response["raw"] = json.loads(body)
        return self._complete(response, call)

    async def _receive(self, call: Call, answer: Answer, interrupt: Interrupt) -> tuple[Response, bytes | None]:
        """The response, and its body unless it came as a stream."""
        body = await interrupt.wait(whole(answer, self._limits.answer))
        response, streamed = read_body(call, answer, body)
        return response, None if streamed else body

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
        requested = endpoint.model_id(endpoint.model) or model
        # a copy: the caller's request stays as it is and can be used again
        request = {**plan.request, "model": requested, "stream": plan.stream}
        projection = translate.project(request, endpoint)
        connection = self._connection(endpoint)
        headers = {
            "content-type": "application/json",
            "accept": STREAMS[translate.framing(endpoint)] if plan.stream else "application/json",
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
            signing=connection.signing,
        )

    def _connection(self, endpoint: Endpoint) -> Connection:
        provider = endpoint.provider or endpoint.adapter
        found = self._registry.connection(provider, endpoint.adapter, key=self._keys.get(provider))
        if provider in self._base_urls:
            found = replace(found, base_url=self._base_urls[provider])
        elif found.base_url is None and (self._transport is not None or provider == "replay"):
            found = replace(found, base_url=f"{provider}://played")  # nothing that is played has an address
        return found

    async def _begin(
        self, plan: Plan, interrupt: Interrupt, deadline: float | None, receive: Receive[T]
    ) -> tuple[Call, Answer, T]:
        """The first candidate that answers, and what was received of it.

        A candidate is passed over when the conversation cannot be carried to it, or when it fails in a way that
        another may not (spec/8-errors.md#fail-over). Until this returns nothing was delivered; afterwards a failure
        belongs to the caller, who may have shown the first event already.
        """
        due = None if deadline is None else self._clock() + deadline
        trail = Trail()
        models = self._able(plan, trail)
        for position, model in enumerate(models, start=1):
            others = position < len(models)
            call: Call | None = None
            try:
                call = self._prepare(plan, model)
                call.trail = trail
                answer, received = await self._persist(call, interrupt, due, receive, others=others)
                return call, answer, received
            except (CannotAdapt, ProviderError) as problem:
                if not others or not another_may_do(problem):
                    raise trail.told(problem) from None
                name, reason = call.model if call else model, problem.to_dict()["category"]
                trail.skipped.append({"model": name, "reason": reason, "message": problem.message})
                _LOG.warning("%s passed over: %s", name, reason, extra={"message_id": plan.message_id})
            except Interrupted as problem:
                raise trail.told(failure(problem, call), cut_short=True) from None
        raise AssertionError("there is always a last candidate")

    def _able(self, plan: Plan, trail: Trail) -> tuple[str, ...]:
        """The candidates that are worth a call: without those that rest, and those whose provider is not configured.

        When that leaves nobody, the one whose rest ends first, else the first that is only not configured: refusing what
        might succeed helps nobody. Raises `NoCandidate` when all were put to rest until they are called back.
        """
        marks = self.health.snapshot()
        if len(plan.models) == 1 and not marks["models"] and not marks["providers"]:
            return plan.models
        against = {model: self._against(model, marks) for model in plan.models}
        able = [model for model in plan.models if against[model] is None]
        if not able:
            possible = [model for model in plan.models if against[model] != _CALLED_BACK]
            if not possible:
                raise NoCandidate(f"{', '.join(plan.models)}: put to rest until called back", [])
            able = [min(possible, key=lambda model: against[model] or "")]
        for model in plan.models:
            if model not in able:
                until = against[model]
                unset = until == _NOT_CONFIGURED
                why = "its provider has no key or no address" if unset else f"it rests until {until}"
                reason = "not_configured" if unset else "provider_unavailable"
                told = {"model": self._canonical(model), "reason": reason, "message": why}
                trail.skipped.append(told)
                _LOG.warning("%s passed over: %s", told["model"], reason, extra={"message_id": plan.message_id})
        return tuple(able)

    def _against(self, model: str, marks: Mapping[str, Any]) -> str | None:
        """Until when a candidate rests, or that its provider is not configured; None when nothing speaks against it."""
        endpoint = self._registry.endpoint(model=model)
        provider = endpoint.provider or endpoint.adapter
        rest = _rest(endpoint.model_id(endpoint.model) or model, marks)
        if rest is not None or self._transport is not None or provider in self._keys or provider in self._base_urls:
            return rest
        return None if self._registry.configured(provider) else _NOT_CONFIGURED

    def _canonical(self, model: str) -> str:
        endpoint = self._registry.endpoint(model=model)
        return endpoint.model_id(endpoint.model) or model

    async def _persist(
        self, call: Call, interrupt: Interrupt, due: float | None, receive: Receive[T], *, others: bool
    ) -> tuple[Answer, T]:
        """What one model answers, asked as often as the policy says. Raises `ProviderError` with its last failure."""
        for attempt in count(1):
            left = None if due is None else due - self._clock()
            try:
                return await self._ask(call, interrupt, left, receive)
            except (ProviderError, TransportFailed) as problem:
                error, unsure = _judged(problem, call)
            except Interrupted as problem:
                if problem.reason == "deadline" and left is not None and left >= self._limits.silence:
                    self.health.failed(call.model, "timeout")
                raise
            self.health.failed(call.model, error.error["category"])
            pause = self._retry.pause(error.error, attempt, self._chance(), unsure=unsure, others=others)
            if pause is not None and others and _rest(call.model, self.health.snapshot()) is not None:
                pause = None
            if pause is not None and due is not None and self._clock() + pause >= due:
                pause = None
            self._tell(call, attempt, error.error, pause)
            if pause is None:
                raise error from None
            await interrupt.wait(self._sleep(pause))
        raise AssertionError("the last attempt ends it")

    def _tell(self, call: Call, attempt: int, error: Data, pause: float | None) -> None:
        """Notes an attempt that failed, for the caller and in the log: without content, without a secret."""
        told: Data = {"model": call.model, "category": error["category"]}
        if "status" in error:
            told["status"] = error["status"]
        if pause is not None:
            told["waited"] = pause
        call.trail.attempts.append(told)
        after = "" if pause is None else f", again in {pause:.2f} s"
        where = {"message_id": call.plan.message_id, "attempt": attempt, **told}
        _LOG.warning("attempt %d at %s failed: %s%s", attempt, call.model, error["category"], after, extra=where)

    async def _ask(self, call: Call, interrupt: Interrupt, left: float | None, receive: Receive[T]) -> tuple[Answer, T]:
        """One call: sent, its head looked at, and received as far as that is wanted. A failed one is closed."""
        answer = await interrupt.wait(self._send(call, left))
        try:
            return answer, await receive(call, answer, interrupt)
        except BaseException:
            await answer.aclose()
            raise

    async def _send(self, call: Call, deadline: float | None) -> Answer:
        """Sends, and gives the answer when its head says success. Raises `ProviderError` when it says failure."""
        idle = self._limits.idle
        timeout = idle if deadline is None else min(deadline, idle or deadline)
        transport = self._transport_for(call.url)
        body = call.projection.body
        answer = await transport.send(call.url, await self._signed(call, body), body, timeout)
        if 200 <= answer.status < 300:
            return answer
        try:
            body = await whole(answer, ERROR_BODY_LIMIT, cut=True)
        except TransportFailed:
            body = b""  # the status says enough
        finally:
            await answer.aclose()
        raise ProviderError(refusal(call, answer, body))

    async def _signed(self, call: Call, body: bytes) -> dict[str, str]:
        """The headers of an attempt. A signature holds for minutes only, so each attempt has its own."""
        if call.signing is None:
            return call.headers
        credentials = call.signing.credentials or await self._wallet.credentials()
        if credentials is None:
            return call.headers  # the provider answers for that, as for a missing key
        if credentials.token is not None:
            call.secrets = (*call.secrets, credentials.token)
        return signed(call.url, call.headers, body, call.signing, credentials, self.now())

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
        if call.trail.skipped:
            response["skipped"] = call.trail.skipped
        if call.trail.attempts:
            response["attempts"] = call.trail.attempts
        message = response["message"]
        message["id"] = call.plan.message_id
        message["created_at"] = self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        message["schema_version"] = 1
        message["metadata"] = {
            "model": model,
            "provider": call.endpoint.provider,
            "routing": served(call.plan.routing, model, call.trail.skipped),
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
        event: Event = {}
        try:
            call, answer, begun = await self._client._begin(self._plan, interrupt, self._deadline, self._receive)
            try:
                events = begun.events
                while True:
                    for event in events:
                        if self._is_last(event, call):
                            # the caller may take its time with the last event: the provider is done with already
                            await answer.aclose()
                            self._judge(event, call)
                        yield event
                    if begun.reader.done:
                        break
                    events = await self._pull(begun, interrupt)
                if event["type"] == "error":
                    raise StreamTruncated(event["error"], event.get("response"))
            except (TransportFailed, Interrupted) as problem:
                error = failure(problem, call)
                if isinstance(problem, TransportFailed):
                    self._client.health.failed(call.model, problem.category)
                await answer.aclose()
                yield self._broken_off(begun.reader, error, call)
                if isinstance(error, ProviderError):
                    error = StreamTruncated(error.error, self.response)
                raise error from None
        finally:
            interrupt.done()
            if answer is not None:
                await answer.aclose()

    async def _receive(self, call: Call, answer: Answer, interrupt: Interrupt) -> "_Begun":
        """The first events. An error that comes before any other event is the error of the call."""
        await refuse_page(call, answer)
        begun = _Begun(reader(call, answer), answer.chunks(), [])
        while not begun.events and not begun.reader.done:
            begun.events = await self._pull(begun, interrupt)
        if begun.events[0]["type"] == "error":
            raise ProviderError(in_band(call, begun.events[0]["error"]))
        return begun

    async def _pull(self, begun: "_Begun", interrupt: Interrupt) -> list[Event]:
        """The events that the next bytes complete, or, at the end of input, those that it brings."""
        waiting = 0
        while waiting <= self._client._limits.answer:
            try:
                chunk = await interrupt.wait(anext(begun.chunks))
            except StopAsyncIteration:
                return begun.reader.end()
            if events := begun.reader.feed(chunk):
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
                event["error"] = in_band(call, event["error"])
                if "response" in event:
                    self.response = self._client._complete(event["response"], call, "error")
            case _:
                return False
        return True

    def _judge(self, event: Event, call: Call) -> None:
        health = self._client.health
        if event["type"] == "error":
            health.failed(call.model, event["error"]["category"])
        else:
            health.succeeded(call.model)

    def _broken_off(self, reader: Reader, error: InterlinguaError, call: Call) -> Event:
        """The last event of a stream that the provider did not end: the decoder tells what had arrived."""
        event: Event = next((event for event in reader.end() if event["type"] == "error"), {"type": "error"})
        event["error"] = error.to_dict()
        self._is_last(event, call)
        if isinstance(error, Cancelled) and "response" in event:
            event["response"]["finish_reason"] = "cancelled"
            event["response"]["message"]["metadata"]["status"] = "cancelled"
        return event


@dataclass(slots=True)
class _Begun:
    """An answer that has begun: its first events, and what the next ones come from."""

    reader: Reader
    chunks: AsyncIterator[bytes]
    events: list[Event]


# ---------------------------------------------------------------------------------------------------- usage and network

# in the place of a time; as texts they are later than any time
_NOT_CONFIGURED = "999"
_CALLED_BACK = "it is called back"


def _rest(model: str, marks: Mapping[str, Any]) -> str | None:
    """Until when a model or its provider rests, whichever is later; None when neither does."""
    found = (marks["models"].get(model), marks["providers"].get(model.partition(":")[0]))
    return max((mark["until"] or _CALLED_BACK for mark in found if mark is not None), default=None)


def _judged(problem: ProviderError | TransportFailed, call: Call) -> tuple[ProviderError, bool]:
    """A failed attempt as an error, and whether the provider may have carried the call out all the same."""
    if isinstance(problem, ProviderError):
        return problem, problem.error["category"] == "timeout"
    return unreached(problem, call.endpoint), problem.sent


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
