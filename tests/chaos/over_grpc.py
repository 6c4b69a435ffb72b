"""
Runs through the gRPC server: callers of Generate and GenerateStream, and the errors that they are told.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
from client.upstream import Upstream
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from chaos.faults import KEY, MESSAGE_LIMIT
from chaos.plans import CONNECT_S, MAX_CALLS, Failure, Run, client_of
from interlingua.canonical import json
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.routing import Routing
from interlingua.events import Events, log_event
from interlingua.service import server
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub
from interlingua.verbs import convert
from interlingua.verbs.failures import CODES


class OverGrpc:
    """A running server, its callers, and a watcher of its health."""

    def __init__(self, running: server.Running, channel: grpc.aio.Channel) -> None:
        self._running = running
        self._stub: Any = InterlinguaServiceStub(channel)
        self._health: Any = health_pb2_grpc.HealthStub(channel)
        self._watch: Any = self._health.Watch(health_pb2.HealthCheckRequest())

    @property
    def running(self) -> int:
        """How many calls are counted."""
        return self._running.calls.running

    @property
    def held(self) -> object:
        """What everything that belongs to the server holds."""
        return self._running.client

    async def is_well(self) -> bool:
        """Whether it says that it serves, however busy it is."""
        answer = await self._health.Check(health_pb2.HealthCheckRequest(), timeout=10)
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def stop(self, grace: float) -> None:
        """Ends the server."""
        await self._running.stop(grace)

    async def watcher_was_told(self) -> bool:
        """Whether the watcher was told of the end."""
        told = await self._watch.read()
        return bool(told.status == health_pb2.HealthCheckResponse.NOT_SERVING)

    async def watch(self) -> None:
        """Begins to watch."""
        await self._watch.read()

    async def call(self, run: Run) -> None:
        """Makes the call of a run, as its caller does."""
        request = json.dumps({"messages": [{"role": "user", "content": [{"type": "text", "text": run.said}]}]}).decode()
        members: dict[str, Any] = {"request_json": request, "target": ",".join(run.chain), "json_output": run.as_json}
        if run.stream:
            call = self._stub.GenerateStream(
                service.GenerateStreamRequest(**members, buffered=run.buffered), timeout=run.deadline
            )
        else:
            call = self._stub.Generate(service.GenerateRequest(**members), timeout=run.deadline)
        timer = None
        if run.leaves is not None:
            timer = asyncio.get_running_loop().call_later(run.leaves, call.cancel)
        try:
            if run.stream:
                async for piece in call:
                    run.events.append(json.loads(piece.event_json) if run.as_json else convert.from_proto(piece.event))
                    if run.pause:
                        await asyncio.sleep(run.pause)
            else:
                answer = await call
                run.response = json.loads(answer.response_json) if run.as_json else convert.from_proto(answer.response)
        except grpc.aio.AioRpcError as problem:
            run.error = problem
        except asyncio.CancelledError:
            run.left = True
        finally:
            if timer is not None:
                timer.cancel()

    @staticmethod
    def settle(runs: list[Run]) -> None:
        """All that is known of a run is known to its caller."""


@contextlib.asynccontextmanager
async def serving(upstream: Upstream, runs: list[Run], number: int) -> AsyncIterator[OverGrpc]:
    """A server over providers."""
    events = Events(log_event)
    client = client_of(upstream, HttpxTransport(connect_timeout=CONNECT_S), events)
    running = await server.start(
        "127.0.0.1:0",
        client=client,
        routing=Routing(client.registry, {"version": 1}, events=events),
        max_calls=MAX_CALLS,
        max_message_bytes=MESSAGE_LIMIT,
    )
    options = [*server.CLIENT_OPTIONS, ("grpc.use_local_subchannel_pool", 1)]
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{running.port}", options=options)
    over = OverGrpc(running, channel)
    try:
        await over.watch()
        yield over
    finally:
        await channel.close()
        await running.stop(0)


def typed(run: Run) -> Failure | str:
    """An error is one of a category, with details, told of what happened."""
    wrong = run.violations.append
    assert run.error is not None
    code, status = run.error.code(), None
    try:
        status = rpc_status.from_call(run.error)
    except ValueError:
        # the deadline of the caller's own side passed while the server's error came in: its code stands over that
        if code is not grpc.StatusCode.DEADLINE_EXCEEDED or run.deadline is None:
            wrong(f"{code.name} with details of another code")
    if code is grpc.StatusCode.UNKNOWN:
        wrong(f"UNKNOWN: {run.error.details()}")
    if status is None:
        # said by gRPC on the caller's own side
        if code is grpc.StatusCode.DEADLINE_EXCEEDED and run.deadline is not None:
            return "deadline"
        if code is grpc.StatusCode.CANCELLED and run.leaves is not None:
            return "left"
        # not handed over when the server closed (spec/decisions/0018): gRPC says so, and nobody was asked
        by_grpc = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        if code in by_grpc and run.draining and not run.seen and not run.events:
            return "shut down"
        wrong(f"{code.name} without details: {run.error.details()}")
        return "untyped"
    info, canonical, usage = error_details_pb2.ErrorInfo(), types.Error(), types.Usage()
    found = [one for one in (info, canonical, usage) if any(detail.Unpack(one) for detail in status.details)]
    if info not in found or canonical not in found:
        wrong("details without ErrorInfo or Error")
        return "untyped"
    category = info.reason
    if convert.from_proto(canonical)["category"] != category or CODES.get(category) != code.name:
        wrong(f"{category} with {code.name}")
    said = (KEY, f"confidential-{run.number}")
    # what a provider said is the caller's to read; the text of the status is logged by clients
    if any(word in f"{run.error.details()} {canonical.message} {info}" for word in said):
        wrong("a secret or content in the text of the status")
    return Failure(category, canonical.code, str(canonical), usage.output_tokens if usage in found else None)
