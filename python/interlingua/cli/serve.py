"""`interlingua serve`: serve gRPC."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import AsJson, Data, Replay, Retries, client_of, one_of, registry_of, run_async, write


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 50051,
    unix: Annotated[Path | None, typer.Option(help="Listen on a Unix socket instead.")] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate with its chain, PEM: serve TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Key of the certificate, PEM, without a password.")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="Take only clients with a certificate of these authorities, PEM.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Routing policy, a JSON file; read again for each turn.")] = None,
    retry: Retries = "standard",
    health: Annotated[str, typer.Option(help="Who rests after failures: backoff or windows.")] = "backoff",
    concurrency: Annotated[
        list[str] | None,
        typer.Option(help="Calls that a provider has at a time: a number for each, or PROVIDER=NUMBER, repeatable."),
    ] = None,
    replay: Replay = False,
    pace: Annotated[
        float, typer.Option(min=0, help="With --replay: stretch the recorded times; 0 leaves them out.")
    ] = 1,
    max_message_mb: Annotated[int, typer.Option(min=1, max=2047, help="Limit of one message, in MiB.")] = 64,
    max_calls: Annotated[
        int, typer.Option(min=1, help="How many calls run at a time; more are refused and told when to come again.")
    ] = 500,
    grace: Annotated[float, typer.Option(min=0, help="Seconds that running calls get when the server ends.")] = 10,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
    as_json: AsJson = False,
) -> None:
    """Serve gRPC: Adapt, Route, Generate, Estimate, Check, ListModels. Keys come from the environment."""
    from interlingua.client.routing import Routing
    from interlingua.events import Events, log_event
    from interlingua.service import server

    one_of("--log-level", log_level, ("debug", "info", "warning", "error"))
    one_of("--health", health, ("backoff", "windows"))
    if (tls_cert is None) != (tls_key is None) or (tls_client_ca is not None and tls_cert is None):
        raise InvalidRequest("TLS takes --tls-cert and --tls-key together, and --tls-client-ca beside them")
    server.log_to_stderr(log_level)
    address = f"unix:{unix}" if unix is not None else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    events = Events(log_event)
    limits = _limits(concurrency or ())
    options: Data = {
        "client": client_of(replay=replay, pace=pace, retry=retry, health=health, concurrency=limits, events=events),
        "routing": Routing(registry_of(replay=replay), policy, events=events),
        "max_message_bytes": max_message_mb << 20,
        "max_calls": max_calls,
        "credentials": server.tls(tls_cert, tls_key, tls_client_ca) if tls_cert and tls_key else None,
    }
    options["routing"].check()
    about = {"host": host} if unix is None else {"unix": str(unix)}
    about |= {"provider": "replay" if replay else "as configured", "tls": tls_cert is not None}
    run_async(_serve(address, options, about, grace, as_json=as_json))


def _limits(written: Sequence[str]) -> int | dict[str, int] | None:
    """How many calls a provider has at a time, as `Client` takes it: 8, or openai=8 for each provider."""
    from interlingua import registry

    limits: dict[str, int] = {}
    for word in written:
        provider, named, number = word.rpartition("=")
        if not number.isdecimal() or int(number) < 1 or (not named and len(written) > 1):
            raise InvalidRequest(f"--concurrency takes a number above 0, or PROVIDER=NUMBER; not {word!r}")
        if not named:
            return int(number)
        registry.provider(provider)
        limits[provider] = int(number)
    return limits or None


async def _serve(address: str, options: Data, about: Data, grace: float, *, as_json: bool) -> None:
    from interlingua.service import server

    try:
        running = await server.start(address, **options)
    except OSError as problem:
        raise InvalidRequest(str(problem)) from None
    shown = address
    if "unix" not in about:
        about["port"] = running.port
        shown = f"{address.rpartition(':')[0]}:{running.port}"
    try:
        write(json.dumps(about) + b"\n" if as_json else f"serving gRPC on {shown}\n".encode())
    except OSError:
        await running.server.stop(0)  # nobody would learn where it listens
        raise
    await server.run(running, grace)
