"""
The common parts of all methods of all services: parse their bytes, count their calls, and turn their failures into a
status that states whose fault it is.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from types import ModuleType
from typing import Any, NoReturn, Protocol, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from interlingua.canonical.errors import InterlinguaError, InvalidRequest, too_deep
from interlingua.refusals import defect
from interlingua.service.status import trailed
from interlingua.verbs.calls import Calls
from interlingua.verbs.failures import status_of

_LOG = logging.getLogger("interlingua.service")

MAX_MESSAGE_BYTES = 64 << 20

Context = grpc.aio.ServicerContext[Any, Any]
Answer = Message | bytes
"""The result of a method: a message, or its bytes where the method has checked their number itself."""


class Service(Protocol):
    """The object that has the methods of a service."""

    calls: Calls

    def fitting(self, answer: Message | bytes, /) -> bytes:
        """Return the bytes of an answer. Raises `MessageTooLarge` when they are more than a message may have."""
        ...


S = TypeVar("S", bound=Service)
I = TypeVar("I")  # noqa: E741


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that are not a message of the type that a method takes."""

    type: str

    def error(self) -> InvalidRequest:
        """Return the error for the sender."""
        return InvalidRequest(
            f"the bytes are not a valid {self.type}; does the sender use another service.proto?", path=""
        )


def handlers(servicer: Any, messages: ModuleType, name: str) -> dict[str, Any]:
    """Return the handlers of a service for a server. `messages` is the generated module of the service.

    With the generated registration, bytes that cannot be parsed end as UNKNOWN, so the parsing is wrapped here. Answers
    are bytes already: their size is checked after serialization, and they are serialized once.
    """
    found: dict[str, Any] = {}
    for method in messages.DESCRIPTOR.services_by_name[name].methods:
        handler: Any = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[method.client_streaming, method.server_streaming]
        taken: Any = getattr(messages, method.input_type.name)
        found[method.name] = handler(getattr(servicer, method.name), request_deserializer=_parser(taken))
    return found


def _parser(kind: Any) -> Callable[[bytes], Any]:
    def parse(data: bytes) -> Any:
        try:
            return kind.FromString(data)
        except DecodeError:
            return Malformed(kind.DESCRIPTOR.name)

    return parse


async def _fail(context: Context, problem: Exception, request: Any) -> NoReturn:
    """End a call with the status of an error. An exception that is not one of ours is a defect: it is logged without
    its text."""
    if isinstance(problem, RecursionError):
        problem = too_deep()
    if not isinstance(problem, InterlinguaError):
        # the text of a foreign exception may quote content
        where = "".join(traceback.format_tb(problem.__traceback__))
        _LOG.error("%s in a method of the service\n%s", type(problem).__name__, where)
        problem = defect()
    code, message, trailer = trailed(status_of(problem, include_raw=getattr(request, "include_raw", False)))
    try:
        await context.abort(code, message, trailer)
    except grpc.aio.InternalError:
        # the client has gone, or its deadline has passed, and gRPC has not reported it yet: no one reads the status
        raise asyncio.CancelledError from None


def unary(method: Callable[[S, I, Context], Awaitable[Answer]]) -> Callable[[S, I, Context], Awaitable[bytes]]:
    """Wrap a method that answers once."""

    @wraps(method)
    async def guarded(self: S, request: I, context: Context) -> bytes:
        try:
            with self.calls.admitted(), self.calls.cut_off():
                if isinstance(request, Malformed):
                    raise request.error()
                return self.fitting(await method(self, request, context))
        except Exception as problem:  # noqa: BLE001
            await _fail(context, problem, request)

    return guarded


def stream(
    method: Callable[[S, I, Context], AsyncIterator[Answer]],
) -> Callable[[S, I, Context], AsyncIterator[bytes]]:
    """Wrap a method that answers piece by piece: an async generator, which releases its resources in its `finally`."""

    @wraps(method)
    async def guarded(self: S, request: I, context: Context) -> AsyncIterator[bytes]:
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


async def let_it_finish(pieces: AsyncIterator[Any]) -> None:
    """Read and discard the messages that a client is sending, until it pauses: some clients lose the status of a call
    that arrives while they write (grpc.aio: https://github.com/grpc/grpc/issues/36066)."""
    end = time.monotonic() + _PATIENCE_S
    with suppress(StopAsyncIteration, TimeoutError, grpc.RpcError):
        while time.monotonic() < end:
            await asyncio.wait_for(anext(pieces), _PAUSE_S)
