"""`interlingua serve`: serve gRPC, and the wires of the providers over HTTP."""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, Data, Replay, Retries, client_of, one_of, registry_of, run_async, write
from interlingua.cli.workers import SIGN_S, Worker, serve_with_workers, this_worker


def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for gRPC; 0 chooses a free one.")] = 50051,
    http_port: Annotated[
        int | None,
        typer.Option(
            "--http-port",
            min=0,
            max=65535,
            help="Port for HTTP. Default: 8080; a free one with --port 0; none with --unix.",
            show_default=False,
        ),
    ] = None,
    no_http: Annotated[bool, typer.Option("--no-http", help="Serve only gRPC.")] = False,
    no_grpc: Annotated[bool, typer.Option("--no-grpc", help="Serve only HTTP.")] = False,
    unix: Annotated[Path | None, typer.Option(help="Serve gRPC on a Unix socket instead of a port.")] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            help="File with the keys that clients need for HTTP and for sessions; reloaded when it changes. `interlingua key` makes keys."
        ),
    ] = None,
    signing_secret: Annotated[
        Path | None,
        typer.Option(
            help="With --keys: accept signatures of AWS clients that are derived from this secret; see `interlingua key`."
        ),
    ] = None,
    anyone: Annotated[
        bool, typer.Option("--open", help="Serve HTTP and sessions on a public address without keys: anyone may call.")
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option(help="Host name that HTTP clients may use for this server; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            help="Address or network of a proxy in front, whose X-Forwarded-For names the clients: 10.0.0.0/8; repeatable."
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(help="TLS certificate with its chain, PEM; reloaded when it changes.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(help="Private key of the certificate, PEM, without a password.")
    ] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="Accept only clients with a certificate of these authorities, PEM.")
    ] = None,
    sessions: Annotated[
        str | None,
        typer.Option(
            help="Database for sessions and for objects that HTTP clients store: sqlite:///chats.db, or postgresql://user@host/name."
        ),
    ] = None,
    store_days: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --sessions: number of days for which a stored response is kept. Default: 30; 0 keeps it until it is deleted.",
            show_default=False,
        ),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="With --sessions: seconds until another server may continue a session whose server died during a response.",
        ),
    ] = 15,
    policy: Annotated[Path | None, typer.Option(help="Routing policy, JSON or YAML; read again for each turn.")] = None,
    retry: Retries = "standard",
    health: Annotated[
        str, typer.Option(help="How models get into cooldown after failures: backoff or windows.")
    ] = "backoff",
    concurrency: Annotated[
        list[str] | None,
        typer.Option(help="Most calls at a time to one provider: a number for all, or PROVIDER=NUMBER; repeatable."),
    ] = None,
    transport: Annotated[
        str, typer.Option(help="HTTP client for calls to providers: httptools (the fastest) or httpx.")
    ] = "httptools",
    replay: Replay = False,
    pace: Annotated[
        float, typer.Option(min=0, help="With --replay: factor on the recorded delays; 0 leaves them out.")
    ] = 1,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of server processes on the same ports; a process that dies is restarted.")
    ] = 1,
    max_message_mb: Annotated[int, typer.Option(min=1, max=2047, help="Largest size of a message, in MiB.")] = 64,
    max_calls: Annotated[
        int,
        typer.Option(
            min=1, help="Most calls that a process runs at a time; further calls are refused with the time of a retry."
        ),
    ] = 500,
    grace: Annotated[
        float, typer.Option(min=0, help="Seconds for running calls to finish when the server stops.")
    ] = 10,
    passthrough: Annotated[
        bool,
        typer.Option(
            "--passthrough",
            help="Forward operations that this server does not have (files, batches, embeddings) to the provider.",
        ),
    ] = False,
    inspect: Annotated[
        bool,
        typer.Option("--inspect", help="Keep the content of recent calls in memory, for the inspector page."),
    ] = False,
    inspect_calls: Annotated[
        int, typer.Option(min=1, max=1000, help="With --inspect: number of calls whose content is kept.")
    ] = 50,
    otel: Annotated[
        bool,
        typer.Option(
            "--otel", help="Send OpenTelemetry spans, configured by the OTEL_* variables; needs the extra `otel`."
        ),
    ] = False,
    otel_propagate: Annotated[
        bool, typer.Option("--otel-propagate", help="With --otel: also send the trace context to the providers.")
    ] = False,
    log_level: Annotated[str, typer.Option(help="Log level: debug, info, warning or error.")] = "info",
    log_format: Annotated[str, typer.Option(help="Log format: text, or json with one object on each line.")] = "text",
    as_json: AsJson = False,
) -> None:
    """Serve gRPC (Adapt, Route, Generate, …), and the wires of the providers over HTTP. The keys of the providers are
    read from the environment."""
    from interlingua.service.logs import log_to_stderr

    one_of("--log-level", log_level, ("debug", "info", "warning", "error"))
    one_of("--log-format", log_format, ("text", "json"))
    one_of("--health", health, ("backoff", "windows"))
    one_of("--transport", transport, ("httptools", "httpx"))
    if no_http and (no_grpc or http_port is not None or ((keys is not None or anyone) and sessions is None) or inspect):
        raise InvalidRequest("--no-http serves only gRPC: it cannot be combined with options of HTTP or with --no-grpc")
    if store_days is not None and (sessions is None or no_http):
        raise InvalidRequest("--store-days concerns objects that HTTP clients store, which needs --sessions and HTTP")
    if passthrough and (no_http or replay):
        raise InvalidRequest(
            "--passthrough calls real providers over HTTP: it cannot be combined with --no-http or --replay"
        )
    if (tls_cert is None) != (tls_key is None) or (tls_client_ca is not None and tls_cert is None):
        raise InvalidRequest("TLS needs --tls-cert and --tls-key together; --tls-client-ca needs both")
    if otel_propagate and not otel:
        raise InvalidRequest("--otel-propagate needs --otel")
    worker = this_worker()
    log_to_stderr(log_level, as_json=log_format == "json", worker=None if worker is None else worker.number)
    http_taken = (8080 if port else 0) if http_port is None else http_port
    if workers > 1 and worker is None:
        if unix is not None:
            raise InvalidRequest("--workers shares ports, and a Unix socket cannot be shared: leave --unix out")
        if sessions is not None and sessions.partition("?")[0] in ("sqlite://", "sqlite:///:memory:"):
            raise InvalidRequest("--workers needs a database that all processes reach, such as sqlite:///chats.db")
        ports = {"port": None if no_grpc else port, "http_port": None if no_http else http_taken}

        def announce(about: Data) -> None:
            _announce({**about, "workers": workers}, as_json=as_json)

        serve_with_workers(context.obj, workers, host=host, **ports, grace=grace, announce=announce)
        return
    from interlingua.client.routing import Routing
    from interlingua.events import Events, log_event
    from interlingua.service import server

    if worker is not None:  # the parent has chosen the ports
        port, http_taken, as_json = worker.port or 0, worker.http_port or 0, True
    telemetry = _telemetry(propagate=otel_propagate) if otel else None
    address = f"unix:{unix}" if unix is not None else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    # the content of an event is in its fields, which the text format does not show
    events = Events(log_event) if log_format == "json" else Events()
    limits = _limits(concurrency or (), worker)
    opened = _open_httptools if transport == "httptools" else None
    client = client_of(
        replay=replay,
        pace=pace,
        retry=retry,
        health=health,
        concurrency=limits,
        events=events,
        http=opened,
        telemetry=telemetry,
    )
    routing = Routing(registry_of(replay=replay), policy, events=events)
    routing.check()
    access = _access(client, keys, signing_secret, trusted_proxy or (), worker)
    kept = None if sessions is None else _sessions(sessions, client, policy, events, lease)
    grpc: Data | None = None
    if not no_grpc:
        grpc = {
            "client": client,
            "routing": routing,
            "max_message_bytes": max_message_mb << 20,
            "max_calls": max_calls,
            "credentials": server.tls(tls_cert, tls_key, tls_client_ca) if tls_cert and tls_key else None,
            "closes_client": False,
            "access": access,
            "interceptors": () if telemetry is None else (telemetry.interceptor(),),
            "shares_port": worker is not None,
        }
        if sessions is not None:
            known = tls_client_ca is not None or not access.open
            if not (known or anyone or server.is_local(address)):
                raise InvalidRequest(
                    "anyone who can reach this server could read its sessions: give --keys or --tls-client-ca, or --open"
                )
            grpc |= {"sessions": kept}
    http: Data | None = None
    if not no_http and (unix is None or http_port is not None or no_grpc):
        storing = {} if kept is None else _storing(kept, store_days)
        about_gateway = {**storing, "inspect": inspect_calls if inspect else 0, "passthrough": passthrough}
        about_gateway["peers"] = None if worker is None else _peers(worker)
        http = _http(client, routing, access, max_message_mb << 20, max_calls, about_gateway)
        http |= {"host": host, "port": http_taken, "shares_port": worker is not None}
        http |= {"names": frozenset(name or ()), "anyone": anyone, "tls": (tls_cert, tls_key, tls_client_ca)}
        http["traced"] = None if telemetry is None else telemetry.asgi
    about = {"host": host} if unix is None else {"unix": str(unix)}
    about |= {"provider": "replay" if replay else "as configured", "tls": tls_cert is not None}
    try:
        run_async(
            _serve(address, client, kept, access, grpc, http, about, grace, as_json=as_json, orphan=worker is not None),
            serves=True,
        )
    finally:
        if telemetry is not None:
            telemetry.close()


def _telemetry(*, propagate: bool) -> Any:
    """Return the telemetry, which sends spans as the environment configures it."""
    from interlingua.telemetry import open_telemetry

    return open_telemetry(propagate=propagate)


def _open_httptools() -> Any:
    """Return the default transport of a server."""
    from interlingua.client.httptools_transport import HttptoolsTransport

    return HttptoolsTransport()


def _access(
    client: Any, keys: Path | None, signing_secret: Path | None, proxies: Sequence[str], worker: Worker | None
) -> Any:
    """Return the keys of a file with their usage meters, which HTTP, gRPC and all workers share."""
    import time

    from interlingua.access import Access, keys_of_file, read_signing_secret
    from interlingua.cli._doubts import doubtful_patterns
    from interlingua.meters import SharedMeters
    from interlingua.proxies import Proxies

    if signing_secret is not None and keys is None:
        raise InvalidRequest("--signing-secret needs --keys")
    secret = None if signing_secret is None else read_signing_secret(signing_secret)
    rows: Any = ()
    if keys is not None:

        def check(found: Any) -> None:
            for message in doubtful_patterns(found, client.registry):
                logging.getLogger("interlingua.access").warning("%s: %s", keys, message)

        rows = keys_of_file(keys, check)
    meters = None if worker is None else SharedMeters(worker.meters)
    return Access(
        rows,
        clock=time.monotonic,
        now=client.now,
        signing_secret=secret,
        meters=meters,
        proxies=Proxies(proxies),
    )


def _peers(worker: Worker) -> Any:
    """Return the other workers, as peers of the gateway."""
    from interlingua.gateway.peers import Peers

    return Peers(Path(worker.folder), worker.number, worker.count)


def _sessions(url: str, client: Any, policy: Path | None, events: Any, lease: float) -> Any:
    """Return the sessions of a database, which is not opened yet."""
    from interlingua.service.callers import CallersSessions

    return CallersSessions(url, client=client, policy=policy, events=events, lease=lease)


def _http(client: Any, routing: Any, access: Any, max_body: int, max_calls: int, about: Mapping[str, Any]) -> Data:
    """Return the gateway, as an argument of its server."""
    from interlingua.gateway.gateway import Gateway, Limits

    return {"gateway": Gateway(client, routing, access, Limits(max_body, max_calls), **about)}


def _storing(sessions: Any, days: int | None) -> Data:
    """Return where the gateway stores the objects of its clients, and for how long."""
    from interlingua.gateway.past import KEPT
    from interlingua.sessions import Objects

    kept = KEPT if days is None else timedelta(days=days) if days else None
    return {"objects": Objects(sessions), "kept": kept}


def _limits(written: Sequence[str], worker: Worker | None = None) -> int | dict[str, int] | None:
    """Return how many calls a provider may have at a time, as `Client` takes it: a number, or one for each provider.
    `written` are texts such as 8 or openai=8. A worker gets its share of the limit."""
    from interlingua import registry

    limits: dict[str, int] = {}
    for word in written:
        provider, named, number = word.rpartition("=")
        if not number.isdecimal() or int(number) < 1 or (not named and len(written) > 1):
            raise InvalidRequest(f"--concurrency must be a number above 0, or PROVIDER=NUMBER; not {word!r}")
        limit = int(number) if worker is None else worker.share(int(number))
        if not named:
            return limit
        registry.provider(provider)
        limits[provider] = limit
    return limits or None


async def _serve(
    address: str,
    client: Any,
    sessions: Any,
    access: Any,
    grpc: Data | None,
    http: Data | None,
    about: Data,
    grace: float,
    *,
    as_json: bool,
    orphan: bool,
) -> None:
    """Serve until a signal. With `orphan`, which a worker sets, also stop when the parent process is gone."""
    running: list[Any] = []
    spending = contextlib.AsyncExitStack()
    stopping = _signalled(running)  # signals are handled from here on, before the servers are announced
    if orphan:
        _end_with_parent(stopping)
    try:
        if sessions is not None:
            await sessions.__aenter__()
            if not access.open:
                from interlingua.spending import SharedSpending

                await spending.enter_async_context(SharedSpending(access, sessions))
        if grpc is not None:
            from interlingua.service import server

            running.append(await server.start(address, **grpc))
            if "unix" not in about:
                about["port"] = running[-1].port
        if http is not None:
            from interlingua.gateway import server as http_server

            certificate, key, authority = http.pop("tls")
            http["tls"] = http_server.Tls(certificate, key, authority) if certificate and key else None
            running.append(await http_server.start(**http))
            about["http_port"] = running[-1].port
        if about["provider"] != "replay" and not orphan:
            _warn_without_keys(client.registry)
        client.registry.settle()
        _pass_over_what_stays()
        _announce(about, as_json=as_json)
        if orphan:
            _give_signs_of_life()
    except BaseException as problem:
        for one in running:  # their addresses were not announced
            await one.stop(0)
        await spending.aclose()
        await _close(client, sessions)
        if isinstance(problem, OSError) and len(running) < (grpc is not None) + (http is not None):
            option = "--host, --port" if len(running) < (grpc is not None) else "--host, --http-port"
            raise InvalidRequest(f"{problem}; choose another address with {option}") from None
        raise
    await stopping.wait()
    log = logging.getLogger("interlingua.service")
    log.info("draining: no new calls, and %g s for those that run", grace)
    await asyncio.gather(*(one.stop(grace) for one in running))
    await spending.aclose()
    await _close(client, sessions)
    log.info("stopped")


def _announce(about: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the addresses of the servers."""
    if as_json:
        write(json.dumps(about) + b"\n")
        return
    host = about.get("host", "127.0.0.1")
    host = f"[{host}]" if ":" in host else host
    places = {"gRPC": about.get("port"), "HTTP": about.get("http_port")}
    lines = [f"serving {what} on {host}:{port}" for what, port in places.items() if port is not None]
    if "unix" in about:
        lines.insert(0, f"serving gRPC on unix:{about['unix']}")
    if (page := about.get("http_port")) is not None:
        lines.append(f"the page: {'https' if about.get('tls') else 'http'}://{host}:{page}/")
    if "workers" in about:
        lines.append(f"with {about['workers']} workers")
    write("".join(f"{line}\n" for line in lines).encode())


def _warn_without_keys(registry: Any) -> None:
    """Log that no provider has a key; without this, the first call would reveal it."""
    standing = [registry.standing(name) for name in registry.providers()]
    if not any(one["configured"] and not one["local"] for one in standing):
        message = "the environment has no key of a provider; interlingua providers lists the variables"
        logging.getLogger("interlingua.service").info(message)


def _end_with_parent(stopping: asyncio.Event) -> None:
    """End a worker when its parent is gone: the pipe on its standard input is closed then."""
    loop = asyncio.get_running_loop()

    def closed() -> None:
        loop.remove_reader(sys.stdin.fileno())
        stopping.set()

    loop.add_reader(sys.stdin.fileno(), closed)


def _pass_over_what_stays() -> None:
    """Exclude modules and tables, which stay, from the search for cyclic garbage."""
    gc.collect()
    gc.freeze()


def _give_signs_of_life() -> None:
    """Write signs of life: they show the parent of a worker that the worker's event loop runs."""
    with contextlib.suppress(OSError):  # the parent is gone
        os.write(sys.stdout.fileno(), b"\n")
    asyncio.get_running_loop().call_later(SIGN_S, _give_signs_of_life)


async def _close(client: Any, sessions: Any) -> None:
    """Close the sessions and the client, which the servers shared."""
    if sessions is not None:
        await sessions.aclose()
    await client.aclose()


def _signalled(running: Sequence[Any]) -> asyncio.Event:
    """Return an event that SIGTERM or SIGINT sets, to end all servers gracefully. A second signal ends the time of
    grace."""
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if stopping.is_set():
            for one in running:
                one.hurry()
        stopping.set()

    for word in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # not on every platform
            loop.add_signal_handler(word, stop)
    return stopping
