"""A real server on a free port, over a fake provider."""

import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc.aio
import pytest

from interlingua.client import Client, FakeTransport
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.service import server
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub
from tests.sessions import cluster

_NUMBERS = itertools.count()
POLICY = {"version": 1, "chains": True, "global": {"default": "anthropic:claude-sonnet-4-6,openai:gpt-4.1"}}


@dataclass
class Served:
    """A running server and a stub that calls it."""

    running: server.Running
    channel: grpc.aio.Channel
    stub: Any
    fake: FakeTransport


@asynccontextmanager
async def serving(
    *steps: Any, transport: Any = None, base_urls: Any = None, members: Any = None, **options: Any
) -> AsyncIterator[Served]:
    """Start a server whose provider follows a script. `members` are those of the client; by default it tries once."""
    fake = FakeTransport(*steps)
    registry = open_registry()
    client = Client(transport or fake, registry=registry, base_urls=base_urls, **{"retry": "none", **(members or {})})
    running = await server.start("127.0.0.1:0", client=client, routing=Routing(registry, POLICY), **options)
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{running.port}", options=list(server.CLIENT_OPTIONS))
    try:
        yield Served(running, channel, InterlinguaServiceStub(channel), fake)
    finally:
        await channel.close()
        await running.stop(0)


@pytest.fixture
def start() -> Callable[..., Any]:
    """Return a function that starts a server in a test."""
    return serving


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A PostgreSQL server, where there is one."""
    if cluster.programs() is None:
        pytest.skip(cluster.MISSING)
    with cluster.running() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/chats.db"
    import psycopg

    at = request.getfixturevalue("postgresql")
    name = f"rpc{next(_NUMBERS)}"
    with psycopg.connect(at, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")  # type: ignore[arg-type]
    return f"{at}&options={quote(f'-csearch_path={name}')}"
