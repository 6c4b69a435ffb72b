"""How the implementation is reached that the command line names: a plug, a server that is started here, or one that runs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .cases import wires
from .plug import Plug, ProcessPlug, ProtocolError, unknown_adapters
from .serving import Served
from .session import Session
from .upstream import Upstream

if TYPE_CHECKING:
    from .grpc_plug import GrpcPlug


class UsageError(Exception):
    """The command line cannot be followed."""


def _open_plug(options: argparse.Namespace, upstream: Upstream | None = None) -> Plug:
    if options.grpc:
        reads_policy = options.policy is not None
        return _grpc_plug()(options.grpc, options.timeout, generates=upstream is not None, reads_policy=reads_policy)
    if not options.command:
        raise UsageError("no plug: give a command after `--`, or --grpc HOST:PORT")
    return ProcessPlug(options.command, options.timeout)


def _grpc_plug() -> type[GrpcPlug]:
    try:
        from .grpc_plug import GrpcPlug
    except ImportError as error:
        needed = "grpcio grpcio-reflection googleapis-common-protos"
        raise UsageError(f"--grpc and --serve need more than Python ({error}): pip install {needed}") from None
    return GrpcPlug


@contextmanager
def plugged(options: argparse.Namespace) -> Iterator[tuple[Plug, Upstream | None]]:
    """The implementation that the command line names, and the upstream if it has a fixed one; all ended afterwards."""
    if options.upstream and not options.grpc:
        raise UsageError("--upstream goes with --grpc: a plug is told with each message where the provider is")
    if options.serve and (options.grpc or not options.command):
        raise UsageError("--serve wants the command of a server after `--`, and no --grpc")
    if options.policy and not (options.grpc or options.serve):
        raise UsageError("--policy goes with --grpc or --serve: a plug is told with each message where the file is")
    if options.grpc or options.serve:
        _grpc_plug()  # before anything is started
    with ExitStack() as stack:
        if options.policy and not options.policy.exists():
            options.policy.write_text("{}\n", "utf-8")
            stack.callback(options.policy.unlink, missing_ok=True)
        upstream: Upstream | None = None
        if options.upstream or options.serve:
            upstream = _upstream(options.upstream)
            stack.callback(upstream.close)
        if options.serve:
            assert upstream is not None
            served = Served(options.command, upstream.address)
            stack.callback(served.close)
            options.grpc = served.address
        plug = _open_plug(options, upstream)
        stack.callback(plug.close)
        yield plug, upstream


def roots_of(options: argparse.Namespace) -> list[Path]:
    """The folders of --cases, which some verbs take once and some often."""
    given = options.cases or []
    return given if isinstance(given, list) else [given]


@contextmanager
def reached(options: argparse.Namespace) -> Iterator[Session]:
    """The implementation, asked what it can do. What it claims must exist: a misspelt name would never be asked."""
    with plugged(options) as (plug, upstream):
        session = Session(plug, upstream, options.policy)
        try:
            for problem in unknown_adapters(session.hello, wires(roots_of(options))):
                raise ProtocolError(problem)
            yield session
        finally:
            session.close()


def _upstream(address: str | None) -> Upstream:
    host, mark, port = (address or "127.0.0.1:0").rpartition(":")
    if not mark or not port.isdigit():
        raise UsageError(f"--upstream wants HOST:PORT, got {address!r}")
    try:
        return Upstream(host, int(port))
    except OSError as error:
        raise UsageError(f"--upstream {address}: {error.strerror or error}") from None
