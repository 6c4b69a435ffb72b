"""A server with sessions, over a provider that follows a script, and stubs of several callers."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2

from interlingua.access import Access, Key, Keys, digest, new_key
from interlingua.client import Client, FakeTransport
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.renewal import Renewed
from interlingua.service import server
from interlingua.service.callers import CallersSessions
from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1.sessions_pb2_grpc import SessionServiceStub

CLAUDE, GPT = "anthropic:claude-sonnet-4-6", "openai:gpt-4.1"
POLICY = {"version": 1, "chains": True, "global": {"default": CLAUDE}}
ACME, OTHER = new_key(), new_key()


def keys(**members: Any) -> list[Key]:
    """Keys of two tenants; `members` are those of the first."""
    return [Key("acme", digest(ACME), "acme", **members), Key("other", digest(OTHER), "other")]


class Calls:
    """The methods as one caller calls them."""

    def __init__(self, stub: Any, key: str | None = None) -> None:
        self._stub = stub
        self.metadata = None if key is None else (("authorization", f"Bearer {key}"),)

    def __getattr__(self, name: str) -> Any:
        def call(request: Any = None, **members: Any) -> Any:
            timeout = members.pop("timeout", 20)
            if request is None:
                request = getattr(messages, f"{name}Request")(**members)
            return getattr(self._stub, name)(request, metadata=self.metadata, timeout=timeout)

        return call

    async def create(self, **members: Any) -> str:
        """Create a session; return its id."""
        made: str = (await self.CreateSession(**members)).session.id
        return made

    async def say(self, session_id: str, text: str, **members: Any) -> list[Any]:
        """Return the events of an answer to a text."""
        request = {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}
        return [one.event async for one in self.generate(session_id, request, **members)]

    def generate(self, session_id: str, request: Any, **members: Any) -> Any:
        """Start a call that generates."""
        return self.GenerateInSession(session_id=session_id, request_json=_text(request), **members)

    async def texts(self, session_id: str) -> list[tuple[int, str, int]]:
        """Return role, text and status of the messages of a session."""
        found = (await self.ListMessages(session_id=session_id)).messages
        return [(one.role, one.content[0].text.text if one.content else "", one.metadata.status) for one in found]


def _text(value: Any) -> str:
    from interlingua.canonical import json

    return json.dumps(value).decode()


@dataclass
class Served:
    """A running server: with its only caller where there are no keys, else with those of two tenants."""

    running: server.Running
    channel: grpc.aio.Channel
    sessions: CallersSessions
    fake: FakeTransport
    access: Access
    anybody: Calls
    acme: Calls
    other: Calls


@asynccontextmanager
async def serving(
    url: str | Path, *steps: Any, who: Sequence[Key] | Renewed[Keys] = (), address: str = "127.0.0.1:0", **options: Any
) -> AsyncIterator[Served]:
    """Start a server whose provider follows a script. A path is a file of SQLite."""
    fake = FakeTransport(*steps)
    registry = open_registry()
    client = Client(fake, registry=registry, retry="none")
    kept = {name: options.pop(name) for name in ("lease", "checkpoint", "raw_limit") if name in options}
    at = f"sqlite:///{url}/chats.db" if isinstance(url, Path) else url
    access = Access(who, clock=lambda: 100.0, now=client.now)
    async with CallersSessions(at, client=client, policy=POLICY, **kept) as sessions:
        running = await server.start(
            address, client=client, routing=Routing(registry, POLICY), sessions=sessions, access=access, **options
        )
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{running.port}", options=list(server.CLIENT_OPTIONS))
        stub = SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        try:
            callers = (Calls(stub), Calls(stub, ACME), Calls(stub, OTHER))
            yield Served(running, channel, sessions, fake, access, *callers)
        finally:
            await channel.close()
            await running.stop(0)


def told(error: grpc.RpcError) -> tuple[grpc.StatusCode, str, bytes]:
    """Return code, text and details of a failed call."""
    trailer = dict(error.trailing_metadata() or ())  # type: ignore[attr-defined]
    details: Any = trailer.get("grpc-status-details-bin", b"")
    return error.code(), error.details() or "", details  # type: ignore[attr-defined]


def info(error: grpc.RpcError) -> error_details_pb2.ErrorInfo:
    """Return the first detail of a failed call."""
    found = error_details_pb2.ErrorInfo()
    status_pb2.Status.FromString(told(error)[2]).details[0].Unpack(found)
    return found


def user(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


text_of = _text
