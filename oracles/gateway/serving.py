"""A gateway on loopback, in a thread of its own, over a provider that follows a script."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from interlingua.client import Client, FakeTransport
from interlingua.client.fake import Step
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.gateway import Gateway
from interlingua.sessions import Objects, Sessions

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Script(FakeTransport):
    """A provider that is told before each exchange what it answers."""

    def play(self, *steps: Step) -> None:
        """What it answers next."""
        self.sent.clear()
        self._steps = list(steps)


class Gate:
    """A running gateway: its address, the provider behind, and which model answers every name."""

    def __init__(self) -> None:
        self.script = Script()
        self.policy: dict[str, Any] = {"version": 1}
        self.url = ""
        self.http_version = ""
        """That of the last call."""

    def behind(self, model: str, *steps: Step) -> None:
        """Lets one model answer whatever a client asks for."""
        self.policy["serve"] = {"*": model}
        self.script.play(*steps)

    def noting_version(self, app: ASGIApp) -> ASGIApp:
        """The same application; notes by which version of HTTP it is called."""

        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            self.http_version = scope["http_version"]
            await app(scope, receive, send)

        return noted

    @property
    def asked(self) -> dict[str, Any]:
        """The canonical form of what the provider was sent last."""
        return self.script.sent[-1].request


@contextmanager
def serving() -> Iterator[Gate]:
    """A gateway for as long as the block lasts."""
    gate = Gate()
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    stop = asyncio.Event()

    async def run() -> None:
        registry = open_registry()
        client = Client(gate.script, registry=registry, retry="none")
        routing = Routing(registry)
        routing._policy = gate.policy
        async with Sessions("sqlite://", client=client) as sessions:
            running = await server.start(
                Gateway(client, routing, objects=Objects(sessions)), port=0, traced=gate.noting_version
            )
            gate.url = f"http://127.0.0.1:{running.port}"
            ready.set()
            await stop.wait()
            await running.stop(0)

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()), daemon=True)
    thread.start()
    if not ready.wait(30):
        raise AssertionError("the gateway did not start")
    try:
        yield gate
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
