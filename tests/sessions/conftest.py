"""Each test of sessions runs on both engines, with a known clock and known random bits."""

import itertools
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from interlingua.client import Client, FakeTransport
from interlingua.client.replay import open_registry
from interlingua.sessions import Sessions

from . import cluster

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
_NUMBERS = itertools.count()


class Clock:
    """A clock that stands still until `move` is called."""

    def __init__(self) -> None:
        self.time = datetime(2026, 5, 8, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        """Move the time forward or back."""
        self.time += timedelta(seconds=seconds)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
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

    server = request.getfixturevalue("server")
    name = f"t{next(_NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")  # type: ignore[arg-type]
    return f"{server}&options={quote(f'-csearch_path={name}')}"


@pytest.fixture
def clock() -> Clock:
    """The clock of a test."""
    return Clock()


@pytest_asyncio.fixture
async def open_sessions(url: str, clock: Clock) -> AsyncIterator[Callable[..., Any]]:
    """Return a function that opens the database, with a provider that follows a script."""
    seeds = itertools.count()
    async with AsyncExitStack() as stack:

        async def opened(*steps: Any, transport: Any = None, **options: Any) -> Sessions:
            fake = transport or FakeTransport(*steps)
            client = Client(fake, registry=open_registry(), retry="none", now=clock)
            stack.push_async_callback(client.aclose)
            options = {"model": CLAUDE, **options}
            if options.setdefault("now", clock) is None:
                del options["now"]
            options = {"random_bits": random.Random(next(seeds)).getrandbits, **options}
            if "policy" in options:
                del options["model"]
            sessions = await stack.enter_async_context(Sessions(url, client=client, **options))
            sessions.fake = fake  # type: ignore[attr-defined]
            return sessions

        yield opened


def user(text: str = "Hello", **members: Any) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": text}], **members}


def assistant(*blocks: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """Return an answer."""
    content = [*blocks] or [{"type": "text", "text": "Hi."}]
    return {"role": "assistant", "content": content, "metadata": metadata}


def call(identity: str, name: str = "look", **members: Any) -> dict[str, Any]:
    """Return a tool call."""
    return {"type": "tool_use", "id": identity, "name": name, "input": {}, **members}


def result(identity: str, text: str = "seen", *, is_error: bool = False) -> dict[str, Any]:
    """The result of a call."""
    block = {"type": "tool_result", "tool_use_id": identity, "content": [{"type": "text", "text": text}]}
    if is_error:
        block["is_error"] = True
    return {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": identity}}
