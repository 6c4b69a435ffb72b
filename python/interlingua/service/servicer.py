"""
The methods of the service, each a few lines over the modules that do the work.

Streaming methods are async generators: what they hold is released in their `finally`, however they end.
"""

from collections.abc import AsyncIterator, Callable
from datetime import UTC
from typing import Any, TypeVar

from google.protobuf.message import Message

from interlingua import adapters
from interlingua.canonical import json
from interlingua.canonical.check import check
from interlingua.canonical.errors import InvalidRequest
from interlingua.canonical.fold import buffered
from interlingua.canonical.validate import schema, violations
from interlingua.client import Client
from interlingua.client.answers import shut_down
from interlingua.client.interrupt import Interrupt
from interlingua.client.routing import Choice, Routing
from interlingua.client.threads import LARGE, done
from interlingua.registry import Registry
from interlingua.service import adapting, convert, estimating, routing
from interlingua.service.calls import Calls, until
from interlingua.service.methods import MAX_MESSAGE_BYTES, Context, Malformed, let_it_finish
from interlingua.service.methods import stream as _stream
from interlingua.service.methods import unary as _unary
from interlingua.service.status import MessageTooLarge, shown
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types

O = TypeVar("O", bound=Message)  # noqa: E741


def _size(request: Any) -> int:
    """How large an input is, in bytes. A policy that comes with a call may hold expressions that take long on any text."""
    return request.ByteSize() + (LARGE if getattr(request, "policy_json", "") else 0)


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
        self._routing = chooser or Routing(connect=client.connection, events=client.events)
        self._registry = self._routing.registry

    def fitting(self, answer: O, remedy: str = "", usage: dict[str, Any] | None = None) -> O:
        """An answer that is no larger than a message may be. Raises `MessageTooLarge`, which gRPC would say too late and in
        no category."""
        if (size := answer.ByteSize()) > self._limit:
            raise MessageTooLarge(size, self._limit, remedy, usage)
        return answer

    @_unary
    async def Adapt(self, request: service.AdaptRequest, context: Context) -> service.AdaptResponse:  # noqa: ARG002
        """Carries one value from any form to any other."""
        return await done(_size(request), adapting.adapt, request)

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
                    if (response := await done(_size(message), carried.piece, message)) is not None:
                        yield response
            if (response := carried.end()) is not None:
                yield response
            if interrupt.reason is not None:
                raise shut_down()
        except Exception:
            await let_it_finish(pieces)
            raise

    @_unary
    async def Route(self, request: service.RouteRequest, context: Context) -> service.RouteResponse:  # noqa: ARG002
        """Tells which model should answer, and why."""
        return await done(_size(request), routing.route, request, self._routing, self._client.health.snapshot())

    @_unary
    async def Generate(self, request: service.GenerateRequest, context: Context) -> service.GenerateResponse:
        """Routes unless told the model, asks the provider and gives its answer."""
        choice = (await done(_size(request), self._weigh, request, self._client.health.snapshot()))()
        response = await self._client.generate(
            choice.request,
            model=choice.models[0],
            adapter=adapting.wire(request.adapter),
            fallbacks=choice.models[1:],
            deadline=context.time_remaining(),
            routing=choice.record,
            fail_over_on=choice.fail_over_on,
            raw=request.include_raw,
            validated=True,
        )
        answer = service.GenerateResponse()
        if choice.decision is not None:
            answer.decision.CopyFrom(routing.decision_message(choice.decision))
        if request.json_output:
            answer.response_json = json.dumps(response).decode()
        else:
            answer.response.CopyFrom(convert.to_proto(types.Response, response))
        return self.fitting(answer, _AS_STREAM, response.get("usage"))

    @_stream
    async def GenerateStream(
        self, request: service.GenerateStreamRequest, context: Context
    ) -> AsyncIterator[service.GenerateStreamResponse]:
        """Does the same as Generate and gives the answer as events."""
        choice = (await done(_size(request), self._weigh, request, self._client.health.snapshot()))()
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

    def _weigh(
        self, request: service.GenerateRequest | service.GenerateStreamRequest, health: dict[str, Any]
    ) -> Callable[[], Choice]:
        conversation = adapting.conversation(request)
        with adapting.field_of_call("target" if request.target else "model"):
            return self._routing.weigh(
                conversation,
                request.target or None,
                routing.optional_object(request.policy_json, "policy_json"),
                self._client.now().astimezone(UTC).isoformat().replace("+00:00", "Z"),
                health,
                routing.optional_object(request.context_json, "context_json"),
            )

    @_unary
    async def Estimate(self, request: service.EstimateRequest, context: Context) -> service.EstimateResponse:  # noqa: ARG002
        """Tells what a request will take and cost, or what an answer did cost."""
        return await done(_size(request), estimating.estimate, request, self._registry)

    @_unary
    async def Check(self, request: service.CheckRequest, context: Context) -> service.CheckResponse:  # noqa: ARG002
        """Tells which rules of the contract a value breaks."""
        return await done(_size(request), _checked, request)

    @_unary
    async def ListModels(
        self,
        request: service.ListModelsRequest,
        context: Context,  # noqa: ARG002
    ) -> service.ListModelsResponse:
        """Lists the models of the registry."""
        if request.provider:
            with adapting.field_of_call("provider"):
                self._registry.provider(request.provider)
        rows = self._registry.models(provider=request.provider or None)
        return service.ListModelsResponse(
            models=[_model(row, self._registry) for row in sorted(rows, key=lambda row: row["id"])],
            adapters=adapters.names(),
        )


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


def _checked(request: service.CheckRequest) -> service.CheckResponse:
    value, name = _value(request)
    found = violations(value, name)
    if not found and name in ("Request", "Message", "Response"):
        with adapting.field_of_call("profile"):
            found = check(value, request.profile or "core")
    return service.CheckResponse(violations=[convert.to_proto(types.Violation, one) for one in found])


def _value(request: service.CheckRequest) -> tuple[Any, str]:
    match request.WhichOneof("value"):
        case "request":
            return convert.from_proto(request.request), "Request"
        case "message":
            return convert.from_proto(request.message), "Message"
        case "value_json":
            name = request.type or "Request"
            if name not in schema()["$defs"]:
                raise InvalidRequest(f"the schema has no type {name!r}", path="/type")
            with adapting.field_of_call("value_json"):
                return json.loads(request.value_json), name
        case _:
            raise InvalidRequest("there is no value; set one of the oneof", path="")


def _model(row: dict[str, Any], models: Registry) -> service.Model:
    capabilities = row["capabilities"]
    price = models.price(row["id"])
    return service.Model(
        id=row["id"],
        provider=row["provider"],
        adapter=row["adapter"],
        name=row["name"],
        aliases=sorted(alias for alias, spec in models.aliases.items() if spec == row["id"]),
        context_window=capabilities.get("max_context_tokens"),
        max_output_tokens=capabilities.get("max_output_tokens"),
        capabilities_json=json.dumps(capabilities).decode(),
        price_json="" if price is None else json.dumps(dict(price)).decode(),
    )
