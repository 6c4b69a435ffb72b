"""Health and reflection: they work at any load, and their open streams do not keep the server from ending."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from interlingua.client.interrupt import Interrupt
from interlingua.verbs.calls import Calls, until

Status = health_pb2.HealthCheckResponse


class Health(health_pb2_grpc.HealthServicer):
    """The health of a server that serves until it ends.

    The servicer of `grpcio-health-checking` keeps a watcher's stream open until the watcher leaves, even when the
    health will not change any more.
    """

    def __init__(self, names: Iterable[str], calls: Calls) -> None:
        self._names = frozenset(names)
        self._calls = calls
        self._ended = False

    async def Check(self, request: health_pb2.HealthCheckRequest, context: Any) -> health_pb2.HealthCheckResponse:
        """Return the health of a service, or of the server where no service is named."""
        if request.service not in self._names:
            await context.abort(grpc.StatusCode.NOT_FOUND, "the server has no such service")
        return Status(status=self._status(request.service))

    async def Watch(
        self,
        request: health_pb2.HealthCheckRequest,
        context: Any,  # noqa: ARG002
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield the health now and when it changes. It changes once: when the server ends."""
        ending = asyncio.Event()
        with self._calls.watching(ending.set):
            yield Status(status=self._status(request.service))
            await ending.wait()
            if request.service in self._names:
                yield Status(status=Status.NOT_SERVING)

    def end(self) -> None:
        """Report NOT_SERVING from now on."""
        self._ended = True

    def _status(self, name: str) -> Any:
        if name not in self._names:
            return Status.SERVICE_UNKNOWN
        return Status.NOT_SERVING if self._ended else Status.SERVING


class Reflection(reflection_pb2_grpc.ServerReflectionServicer):
    """Reflection whose clients do not keep the server from ending: some keep an idle stream open."""

    def __init__(self, names: Iterable[str], calls: Calls) -> None:
        self._answers: Any = reflection.aio.ReflectionServicer(names)
        self._calls = calls

    async def ServerReflectionInfo(self, request_iterator: Any, context: Any) -> AsyncIterator[Any]:
        """Describe the services, methods and messages of the server."""
        interrupt = Interrupt()
        asked = until(aiter(request_iterator), interrupt)
        with self._calls.watching(lambda: interrupt.stop("shutdown")):
            async for answer in self._answers.ServerReflectionInfo(asked, context):
                yield answer
