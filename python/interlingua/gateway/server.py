"""
The HTTP server of a gateway: uvicorn in the running event loop, with TLS, next to the other tasks of the loop.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from interlingua.canonical.errors import InvalidRequest
from interlingua.gateway import records
from interlingua.gateway.app import application
from interlingua.gateway.gateway import Gateway
from interlingua.gateway.guard import LOOPBACK, is_loopback, name_of
from interlingua.gateway.head import LimitedConnection
from interlingua.gateway.ports import bound_socket
from interlingua.gateway.renewal import renewing
from interlingua.refusals import UNENCRYPTED
from interlingua.renewal import check_certificate
from interlingua.verbs.calls import Calls

_LOG = logging.getLogger("interlingua.gateway")
_BACKLOG = 2048
_PROTOCOLS = ("h2", "http/1.1")
_LAST_WORDS_S = 1.0
"""How long calls that are cut off at the end of the grace period have to send their error."""


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files: the certificate with its chain, and its key. With a `client_authority`, the server accepts only
    clients that show a certificate of that authority."""

    certificate: Path
    key: Path
    client_authority: Path | None = None

    @property
    def files(self) -> list[Path]:
        """All files."""
        return [file for file in (self.certificate, self.key, self.client_authority) if file is not None]

    def check(self) -> None:
        """Raises `InvalidRequest` for files that cannot be read, or that do not belong together."""
        check_certificate(self.certificate, self.key, self.client_authority)


@dataclass
class Running:
    """A started server. `port` is the port on which it listens."""

    server: uvicorn.Server
    task: "asyncio.Task[None]"
    port: int
    gateway: Gateway

    @property
    def calls(self) -> Calls:
        """The calls in flight."""
        return self.gateway.in_flight

    async def stop(self, grace: float = 10.0) -> None:
        """Take no new connections, let running calls finish for `grace` seconds, and cut off the rest, each with an
        error of its wire that states it. A client that does not read the error within a second is not waited for."""
        self.gateway.news.end()
        self.calls.refuse()
        self.server.should_exit = True
        await asyncio.wait({self.task}, timeout=grace)
        self.calls.end()
        await asyncio.wait({self.task}, timeout=_LAST_WORDS_S)
        for connection in tuple(self.server.server_state.connections):
            connection.transport.abort()
        await self.task
        await self.gateway.aclose()

    def hurry(self) -> None:
        """End the grace period of a server that is stopping."""
        self.calls.end()


async def start(
    gateway: Gateway,
    host: str = "127.0.0.1",
    port: int = 8080,
    *,
    names: frozenset[str] = frozenset(),
    tls: Tls | None = None,
    anyone: bool = False,
    traced: Callable[[ASGIApp], ASGIApp] | None = None,
    shares_port: bool = False,
) -> Running:
    """Start a server; port 0 takes a free one. `names` are further names, besides its address, by which clients may
    call it. `traced` wraps the application to trace each call (`interlingua.telemetry`). With `shares_port`, other
    processes that also set it serve on the same port.

    Raises `InvalidRequest` when it would listen beyond this machine without keys and clients' certificates, unless
    `anyone` may call, and `OSError` when the address cannot be used.
    """
    requires_certificate = tls is not None and tls.client_authority is not None
    if gateway.access.open and not (requires_certificate or is_loopback(host) or anyone):
        raise InvalidRequest(
            f"without keys the gateway listens on loopback only, not on {host}; give it keys (--keys), or let anyone call (--open)"
        )
    if tls is not None:
        tls.check()
    elif not is_loopback(host):
        _LOG.warning(UNENCRYPTED, host)
    app = application(gateway, _names(gateway, host, names))
    config = uvicorn.Config(
        app if traced is None else traced(app),
        http=LimitedConnection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=75,
        ssl_certfile=None if tls is None else str(tls.certificate),
        ssl_keyfile=None if tls is None else str(tls.key),
        ssl_ca_certs=None if tls is None or tls.client_authority is None else str(tls.client_authority),
        ssl_cert_reqs=ssl.CERT_REQUIRED if requires_certificate else ssl.CERT_NONE,
        ssl_context_factory=None if tls is None else renewing(tls.files, tls.check, _PROTOCOLS),
    )
    bound = bound_socket(host, port, shares_port=shares_port)
    if gateway.peers is not None:
        await gateway.peers.serve(partial(records.answer, gateway))
    server = _Server(config)
    task = asyncio.ensure_future(server.serve(sockets=[bound]))
    ready = asyncio.ensure_future(server.ready.wait())
    await asyncio.wait((task, ready), return_when=asyncio.FIRST_COMPLETED)
    if not ready.done():
        ready.cancel()
        task.result()
    bound_port: int = bound.getsockname()[1]
    _LOG.info("listening on %s port %d (HTTP)", host, bound_port)
    return Running(server, task, bound_port, gateway)


class _Server(uvicorn.Server):
    """A server that signals when it is ready, and leaves signals of the system to the program that runs it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Capture no signals."""
        yield


def _names(gateway: Gateway, host: str, names: frozenset[str]) -> frozenset[str] | None:
    """The names that `Host` may have; None for any. With keys it may have any, because a web page has no key."""
    if not gateway.access.open:
        return None
    return LOOPBACK | {name_of(host.lower())} | {name.lower() for name in names}
