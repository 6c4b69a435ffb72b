"""A provider to script: an HTTP server on loopback that answers what a check says and remembers what it was sent.

One script is played at a time. What is asked of the server is kept whole, so that a check can look at it afterwards.
"""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from . import schema
from .compare import loads

KEY = "planted-key-of-the-suite"
LONGEST_WAIT = 5.0


@dataclass(frozen=True)
class Pause:
    """Nothing is sent for some seconds. What is sent afterwards is `late`."""

    seconds: float


@dataclass(frozen=True)
class Break:
    """The connection breaks off here, without a farewell."""


@dataclass(frozen=True)
class Hang:
    """Nothing more is sent; the connection stays open until the caller goes, or for some seconds."""

    seconds: float = LONGEST_WAIT


Step = bytes | Pause | Break | Hang


@dataclass(frozen=True)
class Script:
    """One answer. `steps` are sent in turn; a `whole` answer says its length, any other travels in chunks."""

    steps: tuple[Step, ...]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    whole: bool = False


@dataclass
class Seen:
    """One request as it arrived. `closed` is set when the caller closed the connection before the answer had ended."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> Any:
        """The body as JSON; ValueError when it is none."""
        return loads(self.body)


class Upstream:
    """The server. `play` sets the script for the calls inside a `with`, and gives the list of what they send."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._script: Script | None = None
        self._seen: list[Seen] = []
        self._late: float | None = None
        self._server = _Server((host, port), _Handler)
        self._server.upstream = self
        self.address = f"{host}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @contextlib.contextmanager
    def play(self, script: Script) -> Iterator[list[Seen]]:
        """Answer all calls with this script. The list grows as they come."""
        self._script, self._seen, self._late = script, [], None
        try:
            yield self._seen
        finally:
            self._script = None

    @property
    def late(self) -> float | None:
        """When, by the monotonic clock, the first pause of the script ended; None when it did not."""
        return self._late

    def url(self, provider: str) -> str:
        """The base URL of a provider here."""
        return _url(self.address, provider)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, seen: Seen) -> Script | None:
        """A call has come: what to answer."""
        self._seen.append(seen)
        return self._script

    def resumed(self) -> None:
        """A pause has ended."""
        self._late = self._late or time.monotonic()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    upstream: Upstream

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that goes in the middle is no news: checks see it as `closed`."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        body = self._body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, body)
        script = self.server.upstream.take(seen)
        if script is None:
            self.close_connection = True
            self._head(500, {"content-length": "0"})
            return
        try:
            self._play(script, seen)
        except OSError:
            seen.closed.set()
            self.close_connection = True

    do_GET = do_PUT = do_POST  # noqa: N815 the names are those of the standard library

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        parts: list[bytes] = []
        while length := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(length))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} {self.responses.get(status, ('Answer',))[0]}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def _play(self, script: Script, seen: Seen) -> None:
        given = {name: value for name, value in script.headers.items() if name.lower() not in _OURS}
        if script.whole:
            length = sum(len(step) for step in script.steps if isinstance(step, bytes))
            given["content-length"] = str(length)
        else:
            given["transfer-encoding"] = "chunked"
        begun = False
        for step in script.steps:
            if not begun and isinstance(step, bytes):
                self._head(script.status, given)
                begun = True
            match step:
                case bytes() if script.whole:
                    self.wfile.write(step)
                case bytes():
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step) if step else b"")
                case Pause(seconds):
                    self._wait(seconds, seen)
                    self.server.upstream.resumed()
                case Hang(seconds):
                    self._wait(seconds, seen)
                    self._break()
                    return
                case Break():
                    self._break()
                    return
        if not begun:
            self._head(script.status, given)
        if not script.whole:
            self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float, seen: Seen) -> None:
        """Let time pass, and see whether the caller goes meanwhile."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            ready, _, _ = select.select([self.connection], [], [], left)
            if ready and self.connection.recv(1, socket.MSG_PEEK) == b"":
                seen.closed.set()
                raise ConnectionError("the caller went")
            if ready:
                time.sleep(min(left, 0.01))

    def _break(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()


_OURS = frozenset(("content-length", "transfer-encoding", "connection", "content-encoding"))


def played(chunks: Iterable[bytes], *more: Step, kind: str) -> Script:
    """A streamed answer of a content type."""
    return Script((*chunks, *more), headers={"content-type": kind})


# --- telling a server where its providers are -------------------------------------------------------------------------------


@cache
def _registry() -> dict[str, Any]:
    return loads((schema.CONFORMANCE.parent / "spec" / "registry" / "providers.json").read_bytes())


def providers() -> dict[str, Any]:
    """The rows of spec/registry/providers.json."""
    return _registry()["providers"]


def home(adapter: str) -> str:
    """The provider whose wire an adapter speaks."""
    return _registry()["home"].get(adapter, adapter)


def _url(address: str, provider: str) -> str:
    """Where a provider is at an upstream. Its path is no wire's own: a client may join paths that meet in the same word."""
    return f"http://{address}{place(provider)}"


def place(provider: str) -> str:
    """The path of a provider at an upstream."""
    return f"/at-{provider}"


def environment(address: str) -> dict[str, str]:
    """The variables, as spec/registry/providers.json names them, that put every provider at a scripted upstream."""
    found: dict[str, str] = {}
    for name, row in providers().items():
        for variable in list(row.get("base_url_env", {}))[:1]:
            found[variable] = _url(address, name)
        for variable in ((row.get("auth") or {}).get("env") or [])[:1]:
            found[variable] = KEY
    return found


def auth_header(provider: str | None, adapter: str) -> tuple[str, str] | None:
    """Name and value of the header that shows the key to a provider over a wire; None where there is no row."""
    row = providers().get(provider or "")
    if not row or not row.get("auth"):
        return None
    auth = {**row["auth"], **row.get("other_wires", {}).get(adapter, {}).get("auth", {})}
    return auth["header"].lower(), auth["prefix"] + KEY
