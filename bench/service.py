"""
The service beside bare gRPC: `make bench` runs this after the translations.

Three processes on loopback: an upstream that streams an answer as fast as it is read, the server that ships with two
bare methods added to it (an empty call, and a relay that hands on the upstream's frames unread), and this client.
Every figure is a ratio to the bare method of the same server, rounds alternating.
"""

import asyncio
import json as standard_json
import multiprocessing
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc.aio
import httpx
from workload import anthropic_stream, conversation

from interlingua.client import Client
from interlingua.service.server import CLIENT_OPTIONS, MAX_MESSAGE_BYTES, server_options
from interlingua.service.servicer import Servicer
from interlingua.v1 import service_pb2, service_pb2_grpc
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import convert

DELTAS = 2_000
EMPTY, RELAY = "/bench.Bare/Empty", "/bench.Bare/Relay"
Queue = Any


async def _upstream(ports: Queue) -> None:
    chunks = anthropic_stream(DELTAS)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    # frames as a provider's socket gives them: several in a packet
    packets = [b"".join(chunks[at : at + 8]) for at in range(0, len(chunks), 8)]
    body = b"".join(f"{len(packet):x}\r\n".encode() + packet + b"\r\n" for packet in packets) + b"0\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                length = 0
                while line.strip():
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                    line = await reader.readline()
                await reader.readexactly(length)
                writer.write(head + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    ports.put(server.sockets[0].getsockname()[1])
    await server.serve_forever()


async def _server(ports: Queue, upstream: int) -> None:
    address = f"http://127.0.0.1:{upstream}"
    http = httpx.AsyncClient(timeout=60)
    body = standard_json.dumps({"messages": []})

    async def empty(request: bytes, context: Any) -> bytes:
        return b""

    async def relay(request: bytes, context: Any) -> AsyncIterator[bytes]:
        async with http.stream("POST", f"{address}/v1/messages", content=body) as answer:
            rest = b""
            async for chunk in answer.aiter_raw():
                *frames, rest = (rest + chunk).split(b"\n\n")
                for frame in frames:
                    yield frame

    handlers = {
        "Empty": grpc.unary_unary_rpc_method_handler(empty),
        "Relay": grpc.unary_stream_rpc_method_handler(relay),
    }
    client = Client(keys={"anthropic": "none"}, base_urls={"anthropic": address})
    server = grpc.aio.server(options=server_options(MAX_MESSAGE_BYTES))
    service_pb2_grpc.add_InterlinguaServiceServicer_to_server(Servicer(client), server)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("bench.Bare", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ports.put(port)
    await server.wait_for_termination()


def _run(entry: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    asyncio.run(entry(*arguments))  # type: ignore[arg-type]


async def _timed(work: Callable[[], Awaitable[Any]], number: int) -> float:
    began = time.perf_counter()
    for _ in range(number):
        await work()
    return (time.perf_counter() - began) / number


async def _ratios(
    floor: Callable[[], Awaitable[Any]], subject: Callable[[], Awaitable[Any]], number: int
) -> tuple[float, float]:
    floors, ratios = [], []
    await floor(), await subject()
    for _ in range(7):
        bare = await _timed(floor, number)
        floors.append(bare * 1e6)
        ratios.append(await _timed(subject, number) / bare)
    return statistics.median(floors), statistics.median(ratios)


async def measure(port: int) -> int:
    """The table; gives how many figures miss their budget."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=CLIENT_OPTIONS) as channel:
        stub = service_pb2_grpc.InterlinguaServiceStub(channel)
        empty = channel.unary_unary(EMPTY)
        relay = channel.unary_stream(RELAY)
        typed = service_pb2.AdaptRequest(
            request=convert.to_proto(types.Request, conversation(20)),
            kind=service_pb2.KIND_REQUEST,
            target=service_pb2.Side(adapter="openai_chat"),
        )
        text = service_pb2.AdaptRequest(
            request_json=standard_json.dumps(conversation(20)),
            kind=service_pb2.KIND_REQUEST,
            target=service_pb2.Side(adapter="openai_chat"),
        )
        ask = service_pb2.GenerateStreamRequest(
            request=convert.to_proto(types.Request, conversation(1)), target="anthropic:claude-sonnet-4-6"
        )

        async def bare_stream() -> int:
            return len([piece async for piece in relay(b"")])

        async def our_stream() -> int:
            return len([piece async for piece in stub.GenerateStream(ask)])

        over = 0
        for name, subject, budget, aim in (
            ("Adapt, 20 messages, typed", typed, 6, 4),
            ("Adapt, 20 messages, JSON text", text, 6, 4),
        ):
            floor, ratio = await _ratios(lambda: empty(b""), lambda subject=subject: stub.Adapt(subject), 100)
            over += ratio > budget
            verdict = "over budget" if ratio > budget else "aim met" if ratio <= aim else ""
            print(f"{name:52} {floor:9.1f} {ratio:6.2f}x {'':7} {budget:6.1f}x {aim:4.1f}x  {verdict}")
        seen, given = await our_stream(), await bare_stream()
        floor, ratio = await _ratios(bare_stream, our_stream, 2)
        share = (seen / ratio) / given
        over += share < 0.5
        print(f"GenerateStream: events per second, share of a bare relay   {100 * share:5.1f} %  (budget 50 %)")
        return over


def main() -> int:
    """The command."""
    print(f"{'work':52} {'floor µs':>9} {'ratio':>7} {'':7} {'budget':>7} {'aim':>5}")
    context = multiprocessing.get_context("spawn")
    ports: Queue = context.Queue()
    processes = []
    try:
        processes.append(context.Process(target=_run, args=(_upstream, ports), daemon=True))
        processes[-1].start()
        upstream = ports.get(timeout=30)
        processes.append(context.Process(target=_run, args=(_server, ports, upstream), daemon=True))
        processes[-1].start()
        return 1 if asyncio.run(measure(ports.get(timeout=30))) else 0
    finally:
        for process in processes:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
