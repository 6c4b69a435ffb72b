"""A gateway over a provider that follows a script, called in this process or over a real connection."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from interlingua.access import Access, Key
from interlingua.client import Client, FakeTransport
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.app import application
from interlingua.gateway.gateway import Gateway, Limits
from interlingua.gateway.guard import LOOPBACK
from interlingua.sessions import Objects, Sessions

POLICY = {"version": 1, "global": {"default": "anthropic:claude-sonnet-4-6"}}


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.today = datetime(2026, 5, 8, 12, tzinfo=UTC)

    def __call__(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return self.today


@dataclass
class Served:
    """A gateway, a client that calls it, and the provider behind it."""

    gateway: Gateway
    http: httpx.AsyncClient
    fake: FakeTransport
    clock: Clock


def _gateway(
    policy: Any, keys: Any, limits: Any, transport: Any, clock: Clock, inspect: int, store: str | None
) -> tuple[Gateway, Sessions | None]:
    registry = open_registry()
    client = Client(transport, registry=registry, retry="none", now=clock.now)
    access = Access(keys or (), clock=clock, now=clock.now)
    sessions = None if store is None else Sessions(store, client=client, now=clock.now)
    objects = None if sessions is None else Objects(sessions)
    routing = Routing(registry, policy or POLICY)
    return Gateway(client, routing, access, limits, clock=clock, inspect=inspect, objects=objects), sessions


@asynccontextmanager
async def gateway(
    *steps: Any,
    policy: Any = None,
    keys: list[Key] | None = None,
    limits: Limits | None = None,
    transport: Any = None,
    names: frozenset[str] | None = LOOPBACK,
    connected: bool = False,
    inspect: int = 0,
    store: str | None = None,
) -> AsyncIterator[Served]:
    """A gateway whose provider follows a script; `connected` puts a real connection between it and its client, `store` is
    the database of what clients store."""
    fake, clock = FakeTransport(*steps), Clock()
    made, sessions = _gateway(policy, keys, limits, transport or fake, clock, inspect, store)
    async with AsyncExitStack() as stack:
        if sessions is not None:
            await stack.enter_async_context(sessions)
        if not connected:
            inside = httpx.ASGITransport(application(made, names))
            address: dict[str, Any] = {"transport": inside, "base_url": "http://localhost"}
        else:
            running = await server.start(made, port=0)
            stack.push_async_callback(running.stop, 0)
            address = {"base_url": f"http://127.0.0.1:{running.port}"}
        yield Served(made, await stack.enter_async_context(httpx.AsyncClient(**address)), fake, clock)


@pytest.fixture
def serve() -> Callable[..., Any]:
    """How to start a gateway in a test."""
    return gateway
