"""
The methods of the service, each a few lines over the modules that do the work.

Streaming methods are async generators: what they hold is released in their `finally`, however they end.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any, NoReturn, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest, too_deep
from interlingua.canonical.fold import buffered
from interlingua.client import Client
from interlingua.client.answers import shut_down
from interlingua.client.interrupt import Interrupt
from interlingua.client.routing import Routing
from interlingua.client.threads import done
from interlingua.service.calls import Calls, until
from interlingua.service.status import trailed
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import adapting, convert, routing
from interlingua.verbs.failures import MessageTooLarge, shown, status_of
from interlingua.verbs.verbs import Verbs, size

_LOG = logging.getLogger("interlingua.service")

MAX_MESSAGE_BYTES = 64 << 20

Context = grpc.aio.ServicerContext[Any, Any]
S = TypeVar("S", bound="Servicer")
I = TypeVar("I")  # noqa: E741
O = TypeVar("O", bound=Message)  # noqa: E741


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that are no message of the type that a method takes."""

    type: str

    def error(self) -> InvalidRequest:
        """What to tell the sender."""
        return InvalidRequest(f"the bytes are no {self.type}; is the sender's service.proto another one?", path="")


def handlers(servicer: "Servicer") -> dict[str, Any]:
    """The methods of the service, as a server takes them.

    The generated registration lets bytes that cannot be parsed end as UNKNOWN, so the parsing is wrapped here.
    """
    found: dict[str, Any] = {}
    for method in service.DESCRIPTOR.services_by_name["InterlinguaService"].methods:
        handler: Any = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[method.client_streaming, method.server_streaming]
        taken: Any = getattr(service, method.input_type.name)
        given: Any = getattr(service, method.output_type.name)
        found[method.name] = handler(
            getattr(servicer, method.name),
            request_deserializer=_parser(taken),
            response_serializer=given.SerializeToString,
        )
    return found


def _parser(kind: Any) -> Callable[[bytes], Any]:
    def parse(data: bytes) -> Any:
        try:
            return kind.FromString(data)
        except DecodeError:
            return Malformed(kind.DESCRIPTOR.name)

    return parse


async def _fail(context: Context, problem: Exception, request: Any) -> NoReturn:
    """Ends a call with the status of an error. What is not one of ours is a defect: logged without its text."""
    if isinstance(problem, RecursionError):
        problem = too_deep()
    if not isinstance(problem, InterlinguaError):
        # the text of a foreign exception may quote content
        where = "".join(traceback.format_tb(problem.__traceback__))
        _LOG.error("%s in a method of the service\n%s", type(problem).__name__, where)
        problem = InterlinguaError("a defect of the server; its log tells where")
    code, message, trailer = trailed(status_of(problem, include_raw=getattr(request, "include_raw", False)))
    try:
        await context.abort(code, message, trailer)
    except grpc.aio.InternalError:
        # the client has gone, or its deadline has passed, and gRPC did not say so yet: nobody is there to be told
        raise asyncio.CancelledError from None


def _unary(method: Callable[[S, I, Context], Awaitable[O]]) -> Callable[[S, I, Context], Awaitable[O]]:
    @wraps(method)
    async def guarded(self: S, request: I, context: Context) -> O:
        try:
            with self.calls.admitted(), self.calls.cut_off():
                if isinstance(request, Malformed):
                    raise request.error()
                return self.fitting(await method(self, request, context))
        except Exception as problem:  # noqa: BLE001
            await _fail(context, problem, request)

    return guarded


def _stream(method: Callable[[S, I, Context], AsyncIterator[O]]) -> Callable[[S, I, Context], AsyncIterator[O]]:
    @wraps(method)
    async def guarded(self: S, request: I, context: Context) -> AsyncIterator[O]:
        answers: Any = method(self, request, context)
        try:
            with self.calls.admitted():
                if isinstance(request, Malformed):
                    raise request.error()
                async for answer in answers:
                    yield self.fitting(answer)
        except Exception as problem:  # noqa: BLE001
            await _fail(context, problem, request)
        finally:
            await answers.aclose()

    return guarded


_PAUSE_S = 0.05
_PATIENCE_S = 2.0


async def _let_it_finish(pieces: AsyncIterator[Any]) -> None:
    """Throws away what a client is just sending, until it makes a pause: some clients forget the status of a call when it
    arrives while they write (grpc.aio: https://github.com/grpc/grpc/issues/36066)."""
    end = time.monotonic() + _PATIENCE_S
    with suppress(StopAsyncIteration, TimeoutError, grpc.RpcError):
        while time.monotonic() < end:
            await asyncio.wait_for(anext(pieces), _PAUSE_S)


class Servicer:
    """The service over one client. It keeps nothing but the client's health: any number may stand side by side.

    `calls` counts what runs, `limit` is that of one message, in bytes.
    """

    def __init__(
        self, client: Client, chooser: Routing | None = None, calls: Calls | None = None, limit: int = MAX_MESSAGE_BYTES
    ) -> None:
        self.calls = calls or Calls()
        self._limit = limit
        self._client = client
        self._verbs = Verbs(client, chooser)

    def fitting(self, answer: O, remedy: str = "", usage: dict[str, Any] | None = None) -> O:
        """An answer that is no larger than a message may be. Raises `MessageTooLarge`, which gRPC would say too late and in
        no category."""
        if (size := answer.ByteSize()) > self._limit:
            raise MessageTooLarge(size, self._limit, remedy, usage)
        return answer

    @_unary
    async def Adapt(self, request: service.AdaptRequest, context: Context) -> service.AdaptResponse:  # noqa: ARG002
        """Carries one value from any form to any other."""
        return await self._verbs.adapt(request)

    @_stream
    async def AdaptStream(
        self,
        request: AsyncIterator[service.AdaptStreamRequest],
        context: Context,  # noqa: ARG002
    ) -> AsyncIterator[service.AdaptStreamResponse]:
        """Carries a streamed answer while it arrives."""
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
            await _let_it_finish(pieces)
            raise

    @_unary
    async def Route(self, request: service.RouteRequest, context: Context) -> service.RouteResponse:  # noqa: ARG002
        """Tells which model should answer, and why."""
        return await self._verbs.route(request)

    @_unary
    async def Generate(self, request: service.GenerateRequest, context: Context) -> service.GenerateResponse:
        """Routes unless told the model, asks the provider and gives its answer."""
        choice = await self._verbs.choose(request)
        answer, response = await self._verbs.generate(request, choice, context.time_remaining())
        return self.fitting(answer, _AS_STREAM, response.get("usage"))

    @_stream
    async def GenerateStream(
        self, request: service.GenerateStreamRequest, context: Context
    ) -> AsyncIterator[service.GenerateStreamResponse]:
        """Does the same as Generate and gives the answer as events."""
        choice = await self._verbs.choose(request)
        if choice.decision is not None:
            yield service.GenerateStreamResponse(decision=routing.decision_message(choice.decision))
        stream = self._client.stream(
            choice.request,
            model=choice.models[0],
            adapter=adapting.wire(request.adapter),
            fallbacks=choice.models[1:],
            deadline=context.time_remaining(),
            routing=choice.record,
            fail_over_on=choice.fail_over_on,
            validated=True,
        )
        too_large: MessageTooLarge | None = None
        try:
            with self.calls.cut_by(lambda: stream.cancel("shutdown")):
                async for event in stream:
                    if request.buffered and not any(buffered([event])):
                        continue
                    try:
                        piece = self.fitting(_piece(event, request), _IN_PIECES)
                    except MessageTooLarge as problem:
                        # the rest is read all the same, for its deltas and for the usage: it is paid for
                        piece, too_large = None, too_large or problem
                    if too_large is not None and event["type"] in _LAST:
                        yield _piece(_without_content(event, too_large), request)
                        if event["type"] == "message_complete":
                            too_large.usage = event["response"].get("usage")
                            raise too_large
                    elif piece is not None:
                        yield piece
        finally:
            await stream.aclose()

    @_unary
    async def Estimate(self, request: service.EstimateRequest, context: Context) -> service.EstimateResponse:  # noqa: ARG002
        """Tells what a request will take and cost, or what an answer did cost."""
        return await self._verbs.estimate(request)

    @_unary
    async def Check(self, request: service.CheckRequest, context: Context) -> service.CheckResponse:  # noqa: ARG002
        """Tells which rules of the contract a value breaks."""
        return await self._verbs.check(request)

    @_unary
    async def ListModels(
        self,
        request: service.ListModelsRequest,
        context: Context,  # noqa: ARG002
    ) -> service.ListModelsResponse:
        """Lists the models of the registry."""
        return self._verbs.list_models(request)


_LAST = frozenset(("message_complete", "error"))
_AS_STREAM = "it is paid for; ask with GenerateStream, or "
_IN_PIECES = "it is paid for, and the deltas hold its text; "


def _piece(event: dict[str, Any], request: service.GenerateStreamRequest) -> service.GenerateStreamResponse:
    if event["type"] == "error":
        event = {**event, "error": shown(event["error"], include_raw=request.include_raw)}
    if request.json_output:
        return service.GenerateStreamResponse(event_json=json.dumps(event).decode())
    return service.GenerateStreamResponse(event=convert.to_proto(types.StreamEvent, event))


def _without_content(event: dict[str, Any], problem: MessageTooLarge) -> dict[str, Any]:
    """The end of a stream of which something was too large to send: an error, with the response but for its content."""
    ended = {"type": "error", "message_id": event["message_id"], "error": event.get("error") or problem.to_dict()}
    if "response" in event:
        message = event["response"]["message"]
        metadata = {**message["metadata"], "status": "error"}
        rest = {name: value for name, value in event["response"].items() if name not in ("message", "raw")}
        ended["response"] = {**rest, "message": {**message, "content": [], "metadata": metadata}}
    return ended
