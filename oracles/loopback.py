"""A server on loopback that plays the provider for one SDK call after the other."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Answer = tuple[str, bytes]  # content type, body


class Refusal(Exception):
    """Raised where an answer is due, it is the error that the server answers: status, headers and body."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers, self.body = status, headers, body


class Provider:
    """What the server answers, and what it was asked last."""

    def __init__(self) -> None:
        self.address = ""
        self.answer: Callable[[dict[str, Any]], Answer] = lambda body: ("application/json", b"{}")
        self.path = ""
        self.asked: dict[str, Any] = {}


@contextmanager
def serving(provider: Provider) -> Iterator[None]:
    """A server for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            given = self.rfile.read(int(self.headers.get("content-length") or 0))
            provider.path, provider.asked = self.path, json.loads(given)
            status = 200
            headers: dict[str, str] = {}
            try:
                kind, body = provider.answer(provider.asked)
            except Refusal as told:
                status, headers, kind, body = told.status, told.headers, "application/json", told.body
            except Exception as problem:  # noqa: BLE001 the test sees it as the client's error
                status, kind, body = 500, "text/plain", repr(problem).encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    provider.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
