"""
The server: grpc.aio with health, reflection, limits and a graceful end.

Back-pressure: gRPC buffers little for a client that does not read. A method that cannot write stops pulling events, so
the provider is not read either.
"""

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from interlingua.access import Access
from interlingua.client import Client
from interlingua.client.routing import Routing
from interlingua.events import Events
from interlingua.refusals import UNENCRYPTED
from interlingua.renewal import Renewed, check_certificate, read_file
from interlingua.service.callers import CallersSessions
from interlingua.service.methods import MAX_MESSAGE_BYTES, handlers
from interlingua.service.probes import Health, Reflection
from interlingua.service.servicer import Servicer
from interlingua.service.sessions import SessionServicer
from interlingua.v1 import service_pb2, sessions_pb2
from interlingua.verbs.calls import MAX_CALLS, Calls

_LOG = logging.getLogger("interlingua.service")
_GRPC_LOG = "grpc._cython.cygrpc"

SERVICE = service_pb2.DESCRIPTOR.services_by_name["InterlinguaService"].full_name
SESSIONS = sessions_pb2.DESCRIPTOR.services_by_name["SessionService"].full_name

_LAST_WORDS_S = 1.0
"""How long calls that are cut off at the end of grace have to report their error, in seconds."""

_WAITING = 20_000
"""How many new calls gRPC keeps until they are taken, for each method. It silently cancels calls beyond that: by
default all beyond 3,000 and some beyond 1,000, which a burst reaches before a busy loop can refuse them."""

_WAITING_S = 3_600
"""How long gRPC keeps such a call, in seconds, before it cancels it in the same way; by default 30, which a blocked
loop can reach. Clients have deadlines of their own."""

CLIENT_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 64 << 10),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
)
"""Channel options that a client should use: with them a server runs at most some 100 KiB ahead of a client that
stalls."""


def server_options(max_message_bytes: int, *, shares_port: bool = False) -> list[tuple[str, int]]:
    """Return the options of the server's side; `shares_port` where other processes serve on the same port."""
    return [
        ("grpc.max_receive_message_length", max_message_bytes),
        ("grpc.max_send_message_length", max_message_bytes),
        ("grpc.http2.write_buffer_size", 16 << 10),
        ("grpc.server.max_pending_requests", _WAITING),
        ("grpc.server.max_pending_requests_hard_limit", _WAITING),
        ("grpc.server_max_unrequested_time_in_server", _WAITING_S),
        ("grpc.so_reuseport", int(shares_port)),
        # clients may ping once in ten seconds to keep an idle connection alive
        ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
    ]


def tls(certificate: Path, key: Path, client_authority: Path | None = None) -> grpc.ServerCredentials:
    """Return the TLS credentials of a server, from PEM files; the certificate has its chain. With a `client_authority`,
    only clients with a certificate of that authority are accepted.

    Raises `InvalidRequest` for files that cannot be read, that hold something else, or that do not belong together:
    gRPC itself would only report it to each client that connects. Files that change are read again for the next client.
    """
    files = [file for file in (certificate, key, client_authority) if file is not None]
    renewed = Renewed(files, lambda: _configuration(certificate, key, client_authority))
    used = first = renewed.latest()

    def fetch() -> Any:  # None where nothing has changed, which the types of gRPC do not know
        nonlocal used
        before, used = used, renewed.latest()
        return None if used is before else used

    return grpc.dynamic_ssl_server_credentials(first, fetch, require_client_authentication=client_authority is not None)


def _configuration(certificate: Path, key: Path, client_authority: Path | None) -> grpc.ServerCertificateConfiguration:
    texts = [read_file(file) for file in (certificate, key, client_authority) if file is not None]
    check_certificate(certificate, key, client_authority)
    authority = texts[2] if client_authority is not None else None
    return grpc.ssl_server_certificate_configuration([(texts[1], texts[0])], root_certificates=authority)


def _not_of_a_client_that_left(record: logging.LogRecord) -> bool:
    """Filter out the traceback that gRPC logs when a client cancels, or its deadline passes, while the response is
    sent."""
    problem = record.exc_info[1] if record.exc_info else None
    if not isinstance(problem, grpc.aio.InternalError):
        return True
    _LOG.debug("a client left while the response was sent")
    return False


def is_local(address: str) -> bool:
    """Whether only this machine can reach an address: it is a Unix socket, or loopback."""
    if address.startswith(("unix:", "unix-abstract:")):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_LONGEST_SOCKET_PATH = 107


def why_not(address: str, *, shares_port: bool = False) -> str | None:
    """Return the reason why no server can listen at an address; None where none is found. gRPC only logs the reason."""
    if address.startswith("unix:"):
        path = Path(address.removeprefix("unix:"))
        if len(bytes(path)) > _LONGEST_SOCKET_PATH:
            return f"the path of a socket may have at most {_LONGEST_SOCKET_PATH} bytes"
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}"
        return "the file exists and is not a socket" if path.exists() and not path.is_socket() else None
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return None  # another notation of gRPC for addresses
    try:
        family, kind, _, _, place = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shares_port:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            probe.bind(place)
    except OSError as problem:
        return problem.strerror or type(problem).__name__
    except (UnicodeError, OverflowError):
        return "the host name or the port is not valid"
    return None


@dataclass
class Running:
    """A started server."""

    server: grpc.aio.Server
    health: Health
    calls: Calls
    port: int
    client: Client
    events: Events
    """The observers of the turns of this server."""
    closes_client: bool = True
    """Whether the client is closed with the server; false when another owner closes it."""

    async def stop(self, grace: float = 10.0) -> None:
        """End gracefully: report NOT_SERVING, accept no new calls, let running calls finish for `grace` seconds, and
        cut off the rest, each with an error of its own."""
        clock = asyncio.get_running_loop().time
        end = clock() + grace
        self.health.end()
        self.calls.refuse()
        if grace > 0:
            await self.calls.quiet()
        left = max(0.0, end - clock())
        ended = asyncio.ensure_future(self.server.stop(left + _LAST_WORDS_S))
        await asyncio.wait({ended}, timeout=left)
        self.calls.end()
        await ended
        if self.closes_client:
            await self.client.aclose()

    def hurry(self) -> None:
        """End the time of grace of a server that is stopping."""
        self.calls.end()
        asyncio.get_running_loop().create_task(self.server.stop(_LAST_WORDS_S))


async def start(
    address: str = "127.0.0.1:50051",
    *,
    client: Client | None = None,
    routing: Routing | None = None,
    max_message_bytes: int = MAX_MESSAGE_BYTES,
    max_calls: int = MAX_CALLS,
    credentials: grpc.ServerCredentials | None = None,
    closes_client: bool = True,
    sessions: CallersSessions | None = None,
    access: Access | None = None,
    interceptors: Sequence[grpc.aio.ServerInterceptor] = (),
    shares_port: bool = False,
) -> Running:
    """Start a server at `host:port`, where port 0 chooses a free one, or at `unix:path`. `credentials` are those of
    `tls`. `sessions`, which are open, are served as well, and stay open when the server ends; `access` decides whose
    calls are accepted; `interceptors` run before all methods. With `shares_port`, other processes that also set it
    serve on the same port.

    The server runs `max_calls` at a time and refuses more; health and reflection are not counted. The client is closed
    with it unless `closes_client` is false.

    Raises `OSError` when the address cannot be used.
    """
    if (why := why_not(address, shares_port=shares_port)) is not None:
        raise OSError(f"cannot listen on {address}: {why}")
    client = client or Client()
    logging.getLogger(_GRPC_LOG).addFilter(_not_of_a_client_that_left)
    routing = routing or Routing(connect=client.connection, events=client.events)
    options = server_options(max_message_bytes, shares_port=shares_port)
    server: Any = grpc.aio.server(interceptors=interceptors, options=options)
    calls = Calls(max_calls)
    access = access or Access(clock=time.monotonic, now=client.now)
    servicer = Servicer(client, routing, calls, max_message_bytes, access)
    services = {SERVICE: handlers(servicer, service_pb2, "InterlinguaService")}
    if sessions is not None:
        of_sessions = SessionServicer(sessions, access, calls, max_message_bytes)
        services[SESSIONS] = handlers(of_sessions, sessions_pb2, "SessionService")
    for name, methods in services.items():
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, methods),))
        server.add_registered_method_handlers(name, methods)
    checks = Health(("", *services), calls)
    health_pb2_grpc.add_HealthServicer_to_server(checks, server)
    names = (*services, health.SERVICE_NAME, reflection.SERVICE_NAME)
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(Reflection(names, calls), server)
    try:
        port = server.add_secure_port(address, credentials) if credentials else server.add_insecure_port(address)
    except RuntimeError:
        doubt = (
            "can its file be written?"
            if address.startswith("unix")
            else "is the port in use, or the address not one of this host?"
        )
        raise OSError(f"cannot listen on {address}; {doubt}") from None
    await server.start()
    if credentials is None and not is_local(address):
        _LOG.warning(UNENCRYPTED, address)
    host = address.rpartition(":")[0]
    _LOG.info("listening on %s (gRPC)", address if address.startswith("unix") else f"{host} port {port}")
    return Running(server, checks, calls, port, client, routing.events, closes_client)
