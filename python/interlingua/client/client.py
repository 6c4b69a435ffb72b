"""
Generate: the one place that calls a provider.

A call is: find the model's row → write the wire (`translate.project`) → send → read the response → compute its cost.
All but the sending is pure code of other modules. Time, randomness and the network are arguments.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack

from interlingua import adapters, translate
from interlingua.canonical import json
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InvalidRequest, NotConfigured, ProviderError
from interlingua.canonical.ids import UlidSource
from interlingua.canonical.logs import logger
from interlingua.canonical.model_response import ModelResponse
from interlingua.client.answers import ERROR_BODY_LIMIT, is_refusal, response_error, served_record, whole
from interlingua.client.attempts import Attempts
from interlingua.client.call import Answered, Call, Limits, Plan, Tracing
from interlingua.client.concurrency import Places
from interlingua.client.cooldowns import EndOfCooldowns, log_cooldown
from interlingua.client.interrupt import Interrupt
from interlingua.client.reading import read_body
from interlingua.client.retry import Retry, preset
from interlingua.client.routing import NAMED, named_record, session_of
from interlingua.client.sigv4 import Wallet, signed
from interlingua.client.stream import Stream
from interlingua.client.threads import done
from interlingua.client.transport import STREAMS, Answer, Transport, TransportFailed
from interlingua.events import ROUTE_DECIDED, Events
from interlingua.refusals import field_of_call, no_model
from interlingua.registry import Connection, Registry, default, prices
from interlingua.router import Health, decided, in_turn_order, named_chain, turn_model

if TYPE_CHECKING:
    from interlingua.client.tool_loop import RunOptions, ToolRun, ToolStream
    from interlingua.client.tools import ActiveTool

Response = dict[str, Any]

_LOG = logger("client")


def _now() -> datetime:
    return datetime.now(UTC)


class Client:
    """A client that calls providers. It serves any number of calls at a time; close it when done, or use `async with`.

    `transport` is the network (default: httpx, and recorded exchanges for the provider `replay`).
    `keys` and `base_urls`, by provider, take precedence over those that the `registry` finds in the environment.
    `strict` (representation, weakened or lost) refuses every call whose request would lose that much, unless the call or
    the request states another severity.
    `retry` is the policy that decides when a call is repeated, or its name; `health` tracks which models are in
    cooldown (spec/7-routing.md#health).
    `concurrency` is the maximum number of concurrent calls to a provider: one number for each provider, or one for all;
    the row of a provider may state it as well. `events` publishes the decision of every call without a routing record.
    `http` opens the HTTP transport that replaces httpx for calls to providers, when `transport` is not given.
    `clock` measures time in seconds, `sleep` waits for seconds; `now` dates messages; `ulids` numbers them; `chance`
    returns numbers from 0 to 1 for the pauses between attempts. `telemetry` observes decisions and every provider call
    (`interlingua.telemetry`).
    """

    def __init__(
        self,
        transport: Transport | None = None,
        *,
        keys: Mapping[str, str] | None = None,
        base_urls: Mapping[str, str] | None = None,
        registry: Registry | None = None,
        limits: Limits | None = None,
        strict: str | None = None,
        retry: Retry | str = "standard",
        health: Health | None = None,
        concurrency: int | Mapping[str, int] | None = None,
        events: Events | None = None,
        http: Callable[[], Transport] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], datetime] = _now,
        ulids: UlidSource | None = None,
        chance: Callable[[], float] = random.random,
        telemetry: Tracing | None = None,
    ) -> None:
        self._transport = transport
        self._opened: dict[str, Transport] = {}
        self._open = {"http": http or _open_httpx, "replay": _open_replay}
        self._registry = registry or default()
        self._keys = dict(keys or {})
        self._base_urls = dict(base_urls or {})
        for provider in (*self._keys, *self._base_urls):
            if provider not in adapters.names():
                self._registry.provider(provider)  # refuses a name that is not known
        for provider, base_url in self._base_urls.items():
            if not str(base_url).startswith(("http://", "https://")):
                raise InvalidRequest(f"the base URL of provider {provider!r} must begin with http:// or https://")
        self._limits = limits or Limits()
        self._strict_policy = translate.strict_policy(strict)
        self.health = health or Health(observer=log_cooldown)
        """Which models and providers are in cooldown, and until when. Each attempt is reported to it."""
        self.health.observe(EndOfCooldowns(self.health))
        self._clock = clock
        self.now = now
        """The clock that dates messages."""
        self._ulids = ulids or UlidSource()
        self.events = events or Events(now=now)
        """The observers of this client."""
        self._concurrency = concurrency
        self._wallet = Wallet()
        self._attempts = Attempts(
            self._name,
            self._lacks,
            self._prepare,
            self._send,
            Places(self._limit),
            preset(retry) if isinstance(retry, str) else retry,
            self.health,
            self._limits,
            clock,
            sleep,
            chance,
            telemetry,
        )
        if telemetry is not None:
            self.events.subscribe(telemetry.decided)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def registry(self) -> Registry:
        """The registry of the providers and models that this client calls."""
        return self._registry

    async def aclose(self) -> None:
        """Close all connections. May be called any number of times."""
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
        adapter: str | None = None,
        fallbacks: Sequence[str] = (),
        deadline: float | None = None,
        routing: Mapping[str, Any] | None = None,
        fail_over_on: Collection[str] = (),
        strict: str | None = None,
        raw: bool = False,
        validated: bool = False,
        on_answer: Callable[[Answered], None] | None = None,
        message_id: str | None = None,
    ) -> ModelResponse:
        """Return one response, not streamed.

        `request` is canonical: plain data, JSON text or `Request`. `model` (provider:name, an alias or a chain of them)
        takes precedence over its own, `adapter` names the wire (default: that of the model).
        The later models of a chain, then `fallbacks`, are tried in turn when it cannot serve, and with `refusal` in
        `fail_over_on` also when it declines to answer. `response.skipped` then states why, and `response.attempts`
        lists every call that failed. The model that has answered in the turn in progress is tried first.
        `strict` (representation, weakened or lost) refuses models at which the request would lose that much; it takes
        precedence over the request's own `loss_policy`.
        `deadline` is the time for the whole call in seconds, `routing` the record of why this model was chosen.
        `raw` keeps the provider's whole body in `response.raw`; `validated` states that the request was validated.
        `on_answer` is called with the model that answers and the headers of its provider, as soon as it answers.
        `message_id` is the id of the message, where a session has one for it.
        Raises `InvalidRequest`, `NotConfigured`, `CannotAdapt` and `LossRefused` before anything is sent,
        `ProviderError` later.
        """
        plan = self._plan(
            request,
            model,
            adapter,
            fallbacks,
            routing,
            fail_over_on,
            strict,
            on_answer,
            message_id,
            stream=False,
            validated=validated,
        )
        interrupt = Interrupt(deadline)
        try:
            call, answer, (response, body) = await self._attempts.begin(
                plan, interrupt, deadline, self._receive, lambda received: is_refusal(received[0])
            )
        finally:
            interrupt.done()
        await answer.aclose()
        call.begun(answer.status, answer.headers)
        self.health.succeeded(call.model)
        if raw and body is not None:
            response["raw"] = json.loads(body)
        completed = self._complete(response, call, "complete")
        call.answered(completed)
        return completed

    async def _receive(self, call: Call, answer: Answer, interrupt: Interrupt) -> tuple[Response, bytes | None]:
        """The response, and its body unless that was a stream."""
        body = await interrupt.wait(whole(answer, self._limits.answer))
        response, streamed = await done(len(body), read_body, call, answer, body)
        return response, None if streamed else body

    def stream(
        self,
        request: Any,
        *,
        model: str | None = None,
        adapter: str | None = None,
        fallbacks: Sequence[str] = (),
        deadline: float | None = None,
        routing: Mapping[str, Any] | None = None,
        fail_over_on: Collection[str] = (),
        strict: str | None = None,
        validated: bool = False,
        on_answer: Callable[[Answered], None] | None = None,
        message_id: str | None = None,
    ) -> Stream:
        """Return one response as a stream of events. Nothing is sent before the first event is requested.

        The options and errors are those of `generate`; there is no fallback once a provider has begun to answer.
        A response that fails midway gives an `error` event with the part that had arrived, then raises
        `StreamTruncated` or `Cancelled`. Use `async with`, or call `aclose`, or read to the end.
        """
        plan = self._plan(
            request,
            model,
            adapter,
            fallbacks,
            routing,
            fail_over_on,
            strict,
            on_answer,
            message_id,
            stream=True,
            validated=validated,
        )
        return Stream(self._attempts, self._complete, plan, deadline)

    # ------------------------------------------------------------------------------------------------ tools

    async def run_tools(
        self, request: Any, tools: "Sequence[ActiveTool]", **options: "Unpack[RunOptions]"
    ) -> "ToolRun":
        """Call the model, execute the tool calls of its response, and call it again with the results, until it has
        answered (spec/2-requests.md#tool-loop).

        `tools` are offered in addition to those of the request; calls of the latter are left open for the caller. The
        calls of one response are executed concurrently, at most `concurrency` (default: 4) at a time. `max_rounds`
        (default: 10) is how often calls are executed; the model is called at most once more than that. `approve` is
        called before each call with valid arguments (`ApprovalRequest`), for one call at a time, and has at most
        `approve_within` seconds; unless it returns `True`, the call is not executed. `on_message` is called with each
        message of the model and each result as soon as it exists, so that they are kept when a later call fails.
        `deadline` is the time for the whole run in seconds; `model`, `adapter`, `fallbacks`, `fail_over_on` and
        `strict` are as in `generate`.
        When a tool is not known, not allowed, too slow, or raises, the result states that. Raises the errors of
        `generate`.
        """
        stream = self._tool_stream(request, tools, options, streamed=False)
        return await stream.final_response()

    def stream_tools(
        self, request: Any, tools: "Sequence[ActiveTool]", **options: "Unpack[RunOptions]"
    ) -> "ToolStream":
        """`run_tools`, with the events of every response as they arrive; events of one `message_id` belong together.

        `response` is the `ToolRun` when the stream has ended. Use `async with`, or call `aclose`, or read to the end.
        """
        return self._tool_stream(request, tools, options, streamed=True)

    def _tool_stream(
        self, request: Any, tools: "Sequence[ActiveTool]", options: "RunOptions", *, streamed: bool
    ) -> "ToolStream":
        from interlingua.client.tool_loop import Job, ToolStream

        job = Job.of(request, tools, streamed=streamed, options=options)
        return ToolStream(self, job, self._ulids.next, self._clock, self._attempts.tracing)

    # ------------------------------------------------------------------------------------------------ one call

    def _plan(
        self,
        request: Any,
        model: str | None,
        adapter: str | None,
        fallbacks: Sequence[str],
        routing: Mapping[str, Any] | None,
        fail_over_on: Collection[str],
        strict: str | None,
        on_answer: Callable[[Answered], None] | None,
        message_id: str | None,
        *,
        stream: bool,
        validated: bool,
    ) -> Plan:
        canonical = self._with_strict(request if validated else translate.load(request), strict)
        chosen = model or canonical.get("model")
        if chosen is None:
            raise no_model()
        plan = Plan(
            request=canonical,
            models=self._chain((chosen, *fallbacks), adapter, canonical),
            adapter=adapter,
            routing=dict(routing) if routing else None,
            stream=stream,
            message_id=message_id or self._ulids.next(),
            started=self._clock(),
            on_answer=on_answer,
            fail_over_on=frozenset(fail_over_on),
        )
        return plan if routing else self._with_record(plan)

    def _with_strict(self, request: dict[str, Any], strict: str | None) -> dict[str, Any]:
        """The request with the strictness of the call, or that of this client where neither call nor request has one."""
        own: Mapping[str, Any] = request.get("loss_policy") or {}
        policy = {**self._strict_policy, **own, **translate.strict_policy(strict)}
        return request if policy == own else {**request, "loss_policy": policy}

    def _chain(self, specs: Sequence[str], adapter: str | None, request: Mapping[str, Any]) -> tuple[str, ...]:
        """The models that the specs stand for, in the order in which they are tried. Raises `InvalidRequest` for a name
        that is not known."""
        models: list[str] = []
        for position, spec in enumerate(specs):
            with field_of_call(f"fallbacks/{position - 1}" if position else "model"):
                if "," in spec or spec in self._registry.aliases:
                    models += map(str, self._registry.expand(spec))
                else:
                    # a bare name belongs to the provider of the wire that is named with it
                    self._registry.endpoint(model=spec, adapter=adapter)
                    models.append(spec)
        models = list(dict.fromkeys(models))
        return tuple(models) if len(models) == 1 else in_turn_order(models, turn_model(request["messages"]))

    def _with_record(self, plan: Plan) -> Plan:
        """The plan of a caller that named the models, with its routing record. The decision is published."""
        models = [self._name(plan, model) for model in plan.models]
        payload = decided(models[0], named_chain(models, models, NAMED))
        self.events.publish(ROUTE_DECIDED, payload, session_id=session_of(plan.request))
        return replace(plan, routing=named_record(models[0]))

    def _name(self, plan: Plan, model: str) -> str:
        """The canonical id of a candidate."""
        endpoint = self._endpoint(plan, model)
        return endpoint.model_id(endpoint.model) or model

    def _lacks(self, plan: Plan, model: str) -> str:
        """What the provider of a candidate lacks so that it can be called, as far as is known; empty: nothing."""
        endpoint = self._endpoint(plan, model)
        return "; ".join(self.missing(endpoint.provider or endpoint.adapter))

    def missing(self, provider: str) -> list[str]:
        """What a provider lacks so that this client can call it, as texts; empty when it lacks nothing."""
        if self._transport is not None:
            return []
        settings = {"key": self._keys.get(provider), "base_url": self._base_urls.get(provider)}
        return self._registry.missing(provider, **settings)

    def _prepare(self, plan: Plan, model: str) -> Call:
        """The provider call for a candidate. Raises `CannotAdapt` when the conversation cannot be carried to it, and
        `NotConfigured` when its provider cannot be called."""
        endpoint = self._endpoint(plan, model)
        lacks = self._lacks(plan, model)
        connection = self.connection(endpoint)
        # credentials for a signature may exist without a variable: they are looked for when the call is sent
        if lacks and connection.signing is None:
            raise NotConfigured(connection.provider, lacks, adapter=endpoint.adapter)
        endpoint = connection.located(endpoint)
        requested = endpoint.model_id(endpoint.model) or model
        # a copy: the caller's request is unchanged and can be used again
        request = {**plan.request, "model": requested}
        if plan.stream != bool(request.get("stream")):  # a member that states it already may have an unusual spelling
            request["stream"] = plan.stream
        projection = translate.project(request, endpoint)
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
            projection=projection,
            request=request,
            model=requested,
            url=connection.url(projection.wire["path"]),
            headers=headers,
            secrets=tuple(value.rpartition(" ")[2] for value in connection.headers.values()),
            signing=connection.signing,
            key=partial(self._key_from, connection.provider),
            lacks=lacks,
        )

    def _limit(self, provider: str) -> int | None:
        """The maximum number of concurrent calls to a provider: that of this client, else of the provider's row."""
        limits = self._concurrency
        if isinstance(limits, int):
            return limits
        if limits is not None and provider in limits:
            return limits[provider]
        return self._registry.provider(provider).get("concurrency") if self._registry.is_provider(provider) else None

    def _key_from(self, provider: str) -> str:
        """A text that states where the key of a provider comes from; empty when it never needs one."""
        if provider in self._keys:
            return "the key is the one given to the client"
        if not self._registry.is_provider(provider):
            return ""
        if variable := self._registry.key_variable(provider):
            return f"the key is the value of {variable}"
        variables = " or ".join(self._registry.standing(provider)["key_variables"])
        return f"no key was sent: set {variables}" if variables else ""

    def _endpoint(self, plan: Plan, model: str) -> Endpoint:
        return self._registry.endpoint(model=model, adapter=plan.adapter)

    def connection(self, endpoint: Endpoint) -> Connection:
        """The address and headers with which this client calls an endpoint. Raises `InvalidRequest` for a malformed
        address."""
        provider = endpoint.provider or endpoint.adapter
        connection = self._registry.connection(provider, endpoint.adapter, key=self._keys.get(provider))
        if provider in self._base_urls:
            connection = replace(connection, base_url=self._base_urls[provider])
        elif connection.base_url is None and (self._transport is not None or provider == "replay"):
            connection = replace(connection, base_url=f"{provider}://played")  # a played provider has no address
        return connection

    async def _send(self, call: Call) -> Answer:
        """Send a call and return the response when its status is a success. Raises `ProviderError` otherwise."""
        body = call.projection.body
        headers = await self._signed(call, body)
        answer = await self._transport_for(call.url).send(call.url, headers, body, self._limits.idle)
        if 200 <= answer.status < 300:
            return answer
        try:
            error_body = await whole(answer, ERROR_BODY_LIMIT, cut=True)
        except TransportFailed:
            error_body = b""  # the status is enough
        finally:
            await answer.aclose()
        raise ProviderError(response_error(call, answer, error_body))

    async def _signed(self, call: Call, body: bytes) -> dict[str, str]:
        """The headers of an attempt. A signature is valid for minutes only, so each attempt has its own."""
        if call.signing is None:
            return call.headers
        credentials = call.signing.credentials or await self._wallet.credentials()
        if credentials is None and call.lacks:
            raise NotConfigured(
                call.endpoint.provider or call.endpoint.adapter, call.lacks, adapter=call.endpoint.adapter
            )
        if credentials is None:
            return call.headers  # the address is the caller's own
        if credentials.token is not None:
            call.secrets = (*call.secrets, credentials.token)
        return signed(call.url, call.headers, body, call.signing, credentials, self.now())

    def _transport_for(self, url: str) -> Transport:
        if self._transport is not None:
            return self._transport
        scheme = "replay" if url.startswith("replay:") else "http"
        if scheme not in self._opened:
            self._opened[scheme] = self._open[scheme]()
        return self._opened[scheme]

    def _complete(self, response: Response, call: Call, status: str) -> ModelResponse:
        """Add what only the caller of the provider knows: ids, times, cost, provider, routing record and loss."""
        model = response.setdefault("model", call.model)
        usage = response.get("usage")
        if usage is None and status == "complete":
            _LOG.warning(
                "no usage from %s; it is estimated", call.endpoint.provider, extra={"message_id": call.plan.message_id}
            )
            usage = _estimated_usage(response, call)
        elif status != "complete" and response["message"]["content"]:
            usage = _usage_of_part(usage or {}, response, call)
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
        message["created_at"] = self.now().astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        message["schema_version"] = 1
        message["metadata"] = {
            "model": model,
            "provider": call.endpoint.provider,
            "routing": served_record(call.plan.routing, model, call.trail.skipped),
            "usage": usage,
            "status": status,
        }
        return ModelResponse(response)

    def _priced(self, usage: dict[str, Any], model: str, call: Call) -> dict[str, Any]:
        """The usage with its cost: that of the model that served or, when it has no price, of the requested model."""
        priced = self._registry.priced(usage, model)
        if priced["cost_usd"] is None and model != call.model:
            priced = self._registry.priced(usage, call.model)
        return priced


# ---------------------------------------------------------------------------------------------------- usage and network


def _estimated_usage(response: Response, call: Call) -> dict[str, Any]:
    """The usage of a response without one: estimates, marked as such."""
    return translate.estimated_usage(call.request, response["message"], call.endpoint)


def _usage_of_part(usage: dict[str, Any], response: Response, call: Call) -> dict[str, Any]:
    """The usage of an answer that broke off. Providers report the prompt at the beginning or at the end, and the answer
    at the end: what they have not reported is estimated, so that who leaves before the end is not answered for
    nothing."""
    estimated = _estimated_usage(response, call)
    if not prices.prompt_tokens(usage):
        usage = {**usage, "input_tokens": estimated["input_tokens"], "estimated": True}
    if (usage.get("output_tokens") or 0) < estimated["output_tokens"]:
        usage = {**usage, "output_tokens": estimated["output_tokens"], "estimated": True}
    return usage


def _open_replay() -> Transport:
    from interlingua.client.replay import ReplayTransport

    return ReplayTransport()


def _open_httpx() -> Transport:
    from interlingua.client.httpx_transport import HttpxTransport

    return HttpxTransport()
