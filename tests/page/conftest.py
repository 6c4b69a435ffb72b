"""
A browser, and a gateway for it. These tests run with `make page`, which names the browser; without one they are skipped.
"""

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlingua.client import Client, FakeTransport
from interlingua.client.fake import Step
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.access import Access, Key
from interlingua.gateway.gateway import Gateway

BROWSER = os.environ.get("BROWSER", "")
SCALE = 2 if os.environ.get("PICTURES") else 1
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
EXAMPLES = Path(server.__file__).parent / "inspector" / "examples"
POLICY = {
    "version": 1,
    "serve": {"mapped": "openai:gpt-4.1", "routed": None},
    "global": {"default": "anthropic:claude-sonnet-4-6"},
}


class Served:
    """A gateway in a thread of its own, with the provider behind it."""

    def __init__(self, url: str, gateway: Gateway, fake: FakeTransport) -> None:
        self.url = url
        self.gateway = gateway
        self.fake = fake


async def _settled() -> None:
    """What still runs of a server that ended at once is ended too, before its loop is closed."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


@contextmanager
def _serving(*steps: Step, inspect: int = 50, keys: list[Key] | None = None) -> Iterator[Served]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(60)

    async def start() -> Any:
        fake = FakeTransport(*steps)
        client = Client(fake, registry=open_registry(), retry="none")
        access = Access(keys or (), clock=loop.time, now=client.now)
        gateway = Gateway(client, Routing(open_registry(), POLICY), access, inspect=inspect)
        return await server.start(gateway, port=0), gateway, fake

    running, gateway, fake = run(start())
    try:
        yield Served(f"http://127.0.0.1:{running.port}", gateway, fake)
    finally:
        run(running.stop(0))
        run(_settled())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture
def serving() -> Callable[..., Any]:
    """How to start a gateway."""
    return _serving


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The browser, started once. Where there is none, the tests are skipped."""
    if not BROWSER:
        pytest.skip("no browser: make page runs this with chromium (apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS, headless=True)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of an ordinary screen. Whatever it logs as an error, or asks of another origin, fails its test."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900},
        device_scale_factor=SCALE,
        permissions=["clipboard-read", "clipboard-write"],
    )
    opened = context.new_page()
    opened.set_default_timeout(30_000)  # a busy machine is no reason to fail
    wrong: list[str] = []
    asked: set[str] = set()
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: asked.add("/".join(request.url.split("/")[:3])))
    opened.expected = lambda words: [wrong.remove(one) for one in tuple(wrong) if words in one]
    yield opened
    assert wrong == []
    assert len(asked) <= 1, asked
    context.close()


def example(number: int) -> dict[str, Any]:
    """An example of the playground, by its place in the list."""
    return json.loads(sorted(EXAMPLES.glob("*.json"))[number].read_bytes())


def until(page: Any, expression: str) -> None:
    """Waits until an expression holds. Playwright's own way evaluates a text in the page, which its policy forbids."""
    for _ in range(600):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came: {expression}")
