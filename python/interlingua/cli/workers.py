"""
Several worker processes behind one port each of gRPC and HTTP (spec/9-service.md#workers): `interlingua serve --workers
N`.

The kernel distributes connections among the processes that listen on one port (SO_REUSEPORT). The parent binds the
ports, so that they stay taken, but does not listen. It starts the workers, restarts those that die, and ends all of
them. A worker runs the same command; an environment variable tells it which worker it is. It ends when its standard
input is closed, which also happens when the parent is killed.
"""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

import typer

from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import Data, write
from interlingua.gateway.ports import bound_socket

Announce = Callable[[Data], object]

_LOG = logging.getLogger("interlingua.workers")

VARIABLE = "INTERLINGUA_WORKER"
"""The environment variable that tells a worker which one it is."""

_DEATHS = 5
_WITHIN_S = 60.0
"""A worker that dies more than `_DEATHS` times within `_WITHIN_S` seconds is in a crash loop: the server ends."""

_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 8.0
"""The pause before a worker that has died repeatedly is restarted, in seconds; it doubles each time, up to the
longest."""

SIGN_S = 10.0
"""The seconds between two signs of life of a worker. A sign of life is a line on its standard output."""

_SILENCE_S = 60.0
"""A worker without a sign of life for so many seconds hangs, and is killed."""

_LAST_WORDS_S = 5.0
"""The seconds after the time of grace that a worker may take to end before it is killed."""


@dataclass(frozen=True, slots=True)
class Worker:
    """The settings of a worker: its number, counted from 0, the number of workers, their shared folder and the
    ports."""

    number: int
    count: int
    folder: str
    port: int | None
    http_port: int | None

    def share(self, limit: int) -> int:
        """Return this worker's share of a limit. Raises `InvalidRequest` when the limit is below the number of
        workers."""
        if limit < self.count:
            raise InvalidRequest(f"a limit of {limit} cannot be divided among {self.count} workers")
        return limit // self.count + (self.number < limit % self.count)

    @property
    def meters(self) -> Path:
        """The file with the usage of the keys."""
        return Path(self.folder, "meters.db")


def this_worker() -> Worker | None:
    """Return the settings of this process as a worker; None where it is not a worker."""
    settings = os.environ.get(VARIABLE)
    return None if settings is None else Worker(**json.loads(settings))


def serve_with_workers(
    arguments: Sequence[str],
    count: int,
    *,
    host: str,
    port: int | None,
    http_port: int | None,
    grace: float,
    announce: Announce,
) -> None:
    """Run `count` workers with these arguments of the command line until a signal ends them. A port is None where
    nothing is served on it, and 0 where a free one is chosen. `announce` is called when all serve, with the
    announcement of the first.

    Raises `InvalidRequest` for ports that are not available, and `typer.Exit` with the status of a worker that does not
    start.
    """
    if sys.platform != "linux":
        raise InvalidRequest(
            "--workers shares ports as Linux does; start several servers on ports of their own instead"
        )
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="interlingua-"))
        ports: list[int | None] = []
        for wanted in (port, http_port):
            reserved = None if wanted is None else stack.enter_context(_reserved(host, wanted))
            ports.append(None if reserved is None else reserved.getsockname()[1])
        command = (sys.executable, "-m", "interlingua", *arguments)
        workers = Workers(command, [Worker(number, count, folder, *ports) for number in range(count)], grace)
        status = asyncio.run(workers.run(announce))
    if status:
        raise typer.Exit(status)


def _reserved(host: str, port: int) -> socket.socket:
    """Return a socket that reserves a port for the workers that share it, and accepts no connections."""
    try:
        bound_socket(host, port).close()  # fails when another server shares this port; the next line would not
        return bound_socket(host, port, shares_port=True)
    except OSError as problem:
        raise InvalidRequest(str(problem)) from None


class Workers:
    """The workers of a server: start, restart and end them. `command` starts one."""

    def __init__(self, command: Sequence[str], places: Sequence[Worker], grace: float) -> None:
        self._command = command
        self._places = places
        self._grace = grace
        self._serving: dict[int, Process] = {}
        self._alive: set[Process] = set()
        self._ending = asyncio.Event()
        self._status = 0
        self._replacing: asyncio.Task[None] | None = None
        self._metrics = Path(places[0].folder, "metrics")

    async def run(self, announce: Announce) -> int:
        """Run until a signal ends all, and return the exit status. `announce` is called when all workers serve."""
        self._metrics.mkdir()
        self._heed_signals()
        first, *others = self._places
        about = await self._started(first)
        if isinstance(about, bytes):  # an error in the options is reported only by the first worker
            write(about)
            return self._status
        if any(isinstance(one, bytes) for one in await asyncio.gather(*map(self._started, others))):
            self._ending.set()
        else:
            announce(about)
        keeping = [asyncio.ensure_future(self._keep(place)) for place in self._places if place.number in self._serving]
        await self._ending.wait()
        _LOG.info("ending %d workers", len(self._alive))
        self._signal(signal.SIGTERM)
        if keeping:
            _, hanging = await asyncio.wait(keeping, timeout=self._grace + _LAST_WORDS_S)
            if hanging:
                _LOG.error("%d workers did not end in time and are killed", len(hanging))
                self._signal(signal.SIGKILL)
                await asyncio.wait(hanging)
        return self._status

    async def _started(self, place: Worker) -> Data | bytes:
        """Start a worker. Return its announcement when it serves, or its output when it ended before."""
        process = await self._start(place)
        line = await _line(process)
        with suppress(ValueError):
            about = json.loads(line)
            self._serving[place.number] = process
            _LOG.info("worker %d serves (process %d)", place.number, process.pid)
            return about
        said = line + await _stdout(process).read()
        self._status = max(1, await self._end_of(process))  # the status after a signal is negative
        return said

    async def _start(self, place: Worker) -> Process:
        environment = {
            **os.environ,
            VARIABLE: json.dumps(asdict(place)),
            "PROMETHEUS_MULTIPROC_DIR": str(self._metrics),
        }
        # a session of its own: the signals of a terminal reach only the parent, which signals the workers
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True
        )
        self._alive.add(process)
        if self._ending.is_set():
            process.terminate()
        return process

    async def _end_of(self, process: Process) -> int:
        from prometheus_client.multiprocess import mark_process_dead

        status = await process.wait()
        self._alive.discard(process)
        mark_process_dead(process.pid, str(self._metrics))  # its calls no longer count as running
        return status

    async def _keep(self, place: Worker) -> None:
        """Restart a worker whenever it dies, unless all are ending."""
        deaths: deque[float] = deque()
        while True:
            process = self._serving[place.number]
            try:
                while await asyncio.wait_for(_line(process), _SILENCE_S):
                    pass
            except TimeoutError:
                _LOG.error("worker %d gives no sign of life (process %d) and is killed", place.number, process.pid)
                process.kill()
            status = await self._end_of(process)
            if self._ending.is_set():
                return
            if self._serving[place.number] is not process:
                continue  # it was replaced by another one
            now = time.monotonic()
            deaths.append(now)
            while now - deaths[0] > _WITHIN_S:
                deaths.popleft()
            if len(deaths) > _DEATHS:
                _LOG.error(
                    "worker %d died %d times within %.0f s; the server ends", place.number, len(deaths), _WITHIN_S
                )
                self._status = 1
                self._ending.set()
                return
            _LOG.error("worker %d died (process %d, status %d) and is started again", place.number, process.pid, status)
            if len(deaths) > 1:
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(_PAUSE_S * 2 ** (len(deaths) - 2), _LONGEST_PAUSE_S)):
                        await self._ending.wait()
                        return
            process = self._serving[place.number] = await self._start(place)
            with suppress(TimeoutError):
                if await asyncio.wait_for(_line(process), _SILENCE_S):
                    _LOG.info("worker %d serves (process %d)", place.number, process.pid)

    async def _replace(self) -> None:
        """Replace each worker by a new one, one after the other; the old one ends when the new one serves."""
        for place in self._places:
            old = self._serving[place.number]
            if self._ending.is_set() or isinstance(await self._started(place), bytes):
                _LOG.error("worker %d is not replaced: the new one does not start; the others stay", place.number)
                self._status = 0
                return
            if old.returncode is None:
                old.terminate()

    # ------------------------------------------------------------------------------------------------ signals

    def _heed_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for word in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(word, self._end)
        loop.add_signal_handler(signal.SIGHUP, self._renew)

    def _end(self) -> None:
        if self._ending.is_set():  # a second signal ends the time of grace
            self._signal(signal.SIGTERM)
        self._ending.set()

    def _renew(self) -> None:
        if self._replacing is None or self._replacing.done():
            self._replacing = asyncio.ensure_future(self._replace())

    def _signal(self, word: signal.Signals) -> None:
        for process in tuple(self._alive):
            if process.returncode is None:
                process.send_signal(word)


async def _line(process: Process) -> bytes:
    """Return the next line of a worker: first its announcement, then signs of life; an empty one when it ends."""
    return await _stdout(process).readline()


def _stdout(process: Process) -> asyncio.StreamReader:
    return cast("asyncio.StreamReader", process.stdout)  # it is a pipe
