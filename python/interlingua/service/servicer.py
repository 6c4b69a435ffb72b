"""
The methods of the service, each a few lines over the modules that do the work.

Streaming methods are async generators. They release their resources in their `finally`, however they end.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from interlingua.access import Access, Key
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.fold import buffered
from interlingua.client import Client
from interlingua.client.answers import shut_down
from interlingua.client.call import Answered
from interlingua.client.interrupt import Interrupt
from interlingua.client.routing import Choice, Routing
from interlingua.client.threads import done
from interlingua.registry import Registry
from interlingua.service.callers import key_of
from interlingua.service.methods import MAX_MESSAGE_BYTES, Answer, Context, Malformed, let_it_finish
from interlingua.service.methods import stream as _stream
from interlingua.service.methods import unary as _unary
from interlingua.sessions.arrived import Arrived
from interlingua.v1 import service_pb2 as service
from interlingua.verbs import adapting, convert, routing
from interlingua.verbs.calls import Calls, until
from interlingua.verbs.estimating import usage_of_part
from interlingua.verbs.failures import MessageTooLarge, shown
from interlingua.verbs.verbs import Verbs, size


class Servicer:
    """The service over one client. It keeps only the client's health: any number of servers may run in parallel.

    `calls` counts the running calls, `limit` is that of one message, in bytes, and `access` decides who may call.
    """

    def __init__(
        self,
        client: Client,
        chooser: Routing | None = None,
        calls: Calls | None = None,
        limit: int = MAX_MESSAGE_BYTES,
        access: Access | None = None,
    ) -> None:
        self.calls = calls or Calls()
        self._access = access or Access(clock=time.monotonic, now=client.now)
        self._limit = limit
        self._client = client
        self._verbs = Verbs(client, chooser)

    def fitting(self, answer: Answer, remedy: str = "", usage: dict[str, Any] | None = None) -> bytes:
        """Return the bytes of an answer. Raises `MessageTooLarge` when they are more than a message may have; gRPC
        would report that too late, and without a category."""
        data = answer if isinstance(answer, bytes) else answer.SerializeToString()
        if len(data) > self._limit:
            raise MessageTooLarge(len(data), self._limit, remedy, usage)
        return data

    @_unary
    async def Adapt(self, request: service.AdaptRequest, context: Context) -> service.AdaptResponse:
        """Translate one value from any format to any other."""
        key_of(context, self._access)
        return await self._verbs.adapt(request)

    @_stream
    async def AdaptStream(
        self,
        request: AsyncIterator[service.AdaptStreamRequest],
        context: Context,
    ) -> AsyncIterator[service.AdaptStreamResponse]:
        """Translate a streamed answer while it arrives."""
        key_of(context, self._access)
        interrupt = Interrupt()
        pieces = until(aiter(request), interrupt)
        carried: adapting.StreamAdapter | None = None
        try:
            with self.calls.cut_by(lambda: interrupt.stop("shutdown")):
                first = await anext(pieces, None)
                if interrupt.reason is not None:
                    raise shut_down()
                if first is None or isinstance(first, Malformed) or first.WhichOneof("piece") != "start":
                    raise InvalidRequest("the first message must hold start", path="/start")
                carried = adapting.StreamAdapter(first.start)
                async for message in pieces:
                    if isinstance(message, Malformed):
                        raise message.error()
                    if (response := await done(size(message), carried.piece, message)) is not None:
                        yield response
            if (response := carried.end()) is not None:
                yield response
            if interrupt.reason is not None:
                raise shut_down()
        except Exception:
            await let_it_finish(pieces)
            raise

    @_unary
    async def Route(self, request: service.RouteRequest, context: Context) -> service.RouteResponse:
        """Decide which model should answer, and why."""
        key_of(context, self._access)
        return await self._verbs.route(request)

    @_unary
    async def Generate(self, request: service.GenerateRequest, context: Context) -> bytes:
        """Route unless the request names a model, call the provider and return its response."""
        key = key_of(context, self._access)
        choice = _allowed(await self._verbs.choose(request), key, self._client.registry)
        self._access.admit(key)
        answer, response = await self._verbs.generate(request, choice, context.time_remaining())
        self._access.record(key, response.get("usage"))
        return self.fitting(answer, _AS_STREAM, response.get("usage"))

    @_stream
    async def GenerateStream(self, request: service.GenerateStreamRequest, context: Context) -> AsyncIterator[Answer]:
        """Do the same as Generate, and return the answer as events."""
        key = key_of(context, self._access)
        choice = _allowed(await self._verbs.choose(request), key, self._client.registry)
        self._access.admit(key)
        if choice.decision is not None:
            yield service.GenerateStreamResponse(decision=routing.decision_message(choice.decision))
        answers: list[Answered] = []
        stream = self._client.stream(
            choice.request,
            model=choice.models[0],
            adapter=adapting.wire(request.adapter),
            fallbacks=choice.models[1:],
            deadline=context.time_remaining(),
            routing=choice.record,
            fail_over_on=choice.fail_over_on,
            validated=True,
            on_answer=answers.append,
        )
        messages = _Messages(self.fitting, request)
        arrived = Arrived()
        counted = False
        try:
            with self.calls.cut_by(lambda: stream.cancel("shutdown")):
                async for events in stream.arriving():
                    if "response" in events[-1]:
                        self._access.record(key, events[-1]["response"].get("usage"))
                        counted = True
                    elif key.digest:
                        for event in events:
                            arrived.feed(event)
                    for message in messages.of(events):
                        yield message
        finally:
            await stream.aclose()
            if not counted and (content := arrived.content()):  # the caller left
                model = answers[0].model if answers else None
                self._access.record(key, usage_of_part(choice, model, content, self._client.registry))

    @_unary
    async def Estimate(self, request: service.EstimateRequest, context: Context) -> service.EstimateResponse:
        """Estimate the tokens and cost of a request, or compute the cost of an answer."""
        key_of(context, self._access)
        return await self._verbs.estimate(request)

    @_unary
    async def Check(self, request: service.CheckRequest, context: Context) -> service.CheckResponse:
        """Return the rules of the contract that a value breaks."""
        key_of(context, self._access)
        return await self._verbs.check(request)

    @_unary
    async def ListModels(
        self,
        request: service.ListModelsRequest,
        context: Context,
    ) -> service.ListModelsResponse:
        """List the models of the registry."""
        key_of(context, self._access)
        return self._verbs.list_models(request)


def _allowed(choice: Choice, key: Key, registry: Registry) -> Choice:
    """Return the choice without the models that a key may not use. Raises `Refused` when none is left."""
    models = key.usable(choice.models, registry.is_priced)
    return choice if len(models) == len(choice.models) else replace(choice, models=models)


_LAST = frozenset(("message_complete", "error"))
_AS_STREAM = "it was paid for; use GenerateStream, or "
_IN_PIECES = "it was paid for, and the deltas contain its text; "


class _Messages:
    """The messages of one stream: one for each event or, when batched, one for all events that arrived together."""

    def __init__(self, fitting: Callable[[Answer, str], bytes], request: service.GenerateStreamRequest) -> None:
        self._fitting = fitting
        self._request = request
        self._too_large: MessageTooLarge | None = None

    def of(self, events: Sequence[dict[str, Any]]) -> Iterator[bytes]:
        """Yield the messages for events that arrived together. Raises `MessageTooLarge` after the last message of an
        answer of which a part did not fit."""
        if self._request.buffered:
            events = list(buffered(events))
        if self._request.batched and events and self._too_large is None:
            try:
                yield self._message(events)
            except MessageTooLarge:
                pass  # single events may fit
            else:
                return
        for event in events:
            try:
                message = self._message([event])
            except MessageTooLarge as problem:
                # the rest is read nevertheless, for its deltas and for the usage: it is paid for
                message, self._too_large = None, self._too_large or problem
            if self._too_large is not None and event["type"] in _LAST:
                yield self._message([_without_content(event, self._too_large)])
                if event["type"] == "message_complete":
                    self._too_large.usage = event["response"].get("usage")
                    raise self._too_large
            elif message is not None:
                yield message

    def _message(self, events: Sequence[dict[str, Any]]) -> bytes:
        message = service.GenerateStreamResponse()
        for event in events:
            if event["type"] == "error":
                event = {**event, "error": shown(event["error"], include_raw=self._request.include_raw)}
            if self._request.json_output:
                text = json.dumps(event).decode()
                if self._request.batched:
                    message.events.events_json.append(text)
                else:
                    message.event_json = text
            else:
                convert.fill(message.events.events.add() if self._request.batched else message.event, event)
        return self._fitting(message, _IN_PIECES)


def _without_content(event: dict[str, Any], problem: MessageTooLarge) -> dict[str, Any]:
    """Return the last event of a stream of which a part was too large to send: an error, with the response without its
    content."""
    ended = {"type": "error", "message_id": event["message_id"], "error": event.get("error") or problem.to_dict()}
    if "response" in event:
        message = event["response"]["message"]
        metadata = {**message["metadata"], "status": "error"}
        rest = {name: value for name, value in event["response"].items() if name not in ("message", "raw")}
        ended["response"] = {**rest, "message": {**message, "content": [], "metadata": metadata}}
    return ended
