"""A gateway over a provider that follows a script, called in this process or over a real connection."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from interlingua.client import Client, FakeTransport
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.access import Access, Key
from interlingua.gateway.app import application
from interlingua.gateway.gateway import Gateway, Limits
from interlingua.gateway.guard import LOOPBACK

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


def _gateway(steps: Any, policy: Any, keys: Any, limits: Any, transport: Any, clock: Clock, inspect: int) -> Gateway:
    registry = open_registry()
    client = Client(transport, registry=registry, retry="none", now=clock.now)
    access = Access(keys or (), clock=clock, now=clock.now)
    return Gateway(client, Routing(registry, policy or POLICY), access, limits, clock=clock, inspect=inspect)


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
) -> AsyncIterator[Served]:
    """A gateway whose provider follows a script; `connected` puts a real connection between it and its client."""
    fake, clock = FakeTransport(*steps), Clock()
    made = _gateway(steps, policy, keys, limits, transport or fake, clock, inspect)
    if not connected:
        inside = httpx.ASGITransport(application(made, names))
        async with httpx.AsyncClient(transport=inside, base_url="http://localhost") as http:
            yield Served(made, http, fake, clock)
        return
    running = await server.start(made, port=0)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{running.port}") as http:
            yield Served(made, http, fake, clock)
    finally:
        await running.stop(0)


@pytest.fixture
def serve() -> Callable[..., Any]:
    """How to start a gateway in a test."""
    return gateway
