"""
Bare relays: what a service costs that hands a call on unread, on the HTTP server and the gRPC server of the gateway, with
each of three HTTP clients. They are the floor that the gateway is measured against.
"""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc.aio
import uvicorn

from interlingua.service.server import server_options

HEADERS = {"content-type": "application/json", "x-api-key": "none", "anthropic-version": "2023-06-01"}
EMPTY, GENERATE, STREAM = "/bench.Bare/Empty", "/bench.Bare/Generate", "/bench.Bare/Stream"

Post = Callable[[bytes], AsyncIterator[bytes]]
"""Posts a body to the provider; the pieces of the answer as they arrive."""

_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


async def on_aiohttp(url: str) -> Post:
    """aiohttp's client."""
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), auto_decompress=False)

    async def post(body: bytes) -> AsyncIterator[bytes]:
        async with session.post(url, data=body, headers=HEADERS) as answer:
            async for piece in answer.content.iter_any():
                yield piece

    return post


async def on_httpx(url: str) -> Post:
    """httpx's client."""
    import httpx

    client = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))

    async def post(body: bytes) -> AsyncIterator[bytes]:
        async with client.stream("POST", url, content=body, headers=HEADERS) as answer:
            async for piece in answer.aiter_raw():
                yield piece

    return post


class _Bare(asyncio.Protocol):
    """A connection that reads nothing but where an answer ends."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def ask(self, request: bytes) -> None:
        self._head = b""
        self._left: int | None = None
        self.pieces: deque[bytes | None] = deque()
        self.arrived = asyncio.Event()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        if self._left is None:
            self._head += data
            head, end, data = self._head.partition(b"\r\n\r\n")
            if not end:
                return
            length = _LENGTH.search(head)
            self._left = int(length[1]) if length else -1
        if self._left >= 0:
            self._left -= len(data)
            ended = self._left == 0
        else:
            ended = data.endswith(b"\r\n0\r\n\r\n")
            data = b"".join(data.split(b"\r\n")[1::2])  # the packets of this provider are whole pieces
        self.pieces.append(data)
        if ended:
            self.pieces.append(None)
        self.arrived.set()


async def on_bare_reader(url: str) -> Post:
    """A bare reader of HTTP/1.1 on the transports of the event loop."""
    host, port = url.split("/")[2].split(":")
    head = "POST /v1/messages HTTP/1.1\r\nhost: bench\r\n" + "".join(f"{n}: {v}\r\n" for n, v in HEADERS.items())
    loop = asyncio.get_running_loop()
    idle: list[_Bare] = []

    async def post(body: bytes) -> AsyncIterator[bytes]:
        connection = idle.pop() if idle else (await loop.create_connection(_Bare, host, int(port)))[1]
        connection.ask(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        while True:
            await connection.arrived.wait()
            connection.arrived.clear()
            while connection.pieces:
                piece = connection.pieces.popleft()
                if piece is None:
                    idle.append(connection)
                    return
                yield piece

    return post


CLIENTS = {"aiohttp": on_aiohttp, "httpx": on_httpx, "bare reader": on_bare_reader}


async def over_http(ports: Any, provider: str, client: str) -> None:
    """A relay on the HTTP server of the gateway. Puts its port into a queue."""
    post = await CLIENTS[client](provider)

    async def relay(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message.get("more_body", False)
        await send(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
            if b'"stream":true' in body
            else {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]}
        )
        async for piece in post(body):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    config = uvicorn.Config(relay, port=0, http="httptools", lifespan="off", access_log=False, log_level="warning")
    server = uvicorn.Server(config)
    task = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110 uvicorn tells nobody
        await asyncio.sleep(0.01)
    ports.put(server.servers[0].sockets[0].getsockname()[1])
    await task


async def over_grpc(ports: Any, provider: str, client: str) -> None:
    """A relay on the gRPC server of the service, with an empty call beside it. Puts its port into a queue."""
    post = await CLIENTS[client](provider)

    async def empty(request: bytes, context: Any) -> bytes:
        return b""

    async def generate(request: bytes, context: Any) -> bytes:
        return b"".join([piece async for piece in post(request)])

    async def stream(request: bytes, context: Any) -> AsyncIterator[bytes]:
        rest = b""
        async for piece in post(request):
            *frames, rest = (rest + piece).split(b"\n\n")
            for frame in frames:
                yield frame

    handlers = {
        "Empty": grpc.unary_unary_rpc_method_handler(empty),
        "Generate": grpc.unary_unary_rpc_method_handler(generate),
        "Stream": grpc.unary_stream_rpc_method_handler(stream),
    }
    server = grpc.aio.server(options=server_options(64 << 20))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("bench.Bare", handlers)])
    ports.put(server.add_insecure_port("127.0.0.1:0"))
    await server.start()
    await server.wait_for_termination()
