"""
The service under load, beside bare relays: `make bench` runs this after the translations.

The provider, each relay and the gateway that ships are processes of their own on loopback, and this one is their client.
What is measured is the processor time of the one that serves, for each call, whatever else the machine does. A relay hands
calls on unread; every figure stands beside its ratio to the relay on aiohttp of the same run, over gRPC to the one that
stands on a bare reader. Rounds go through all subjects in turn, and the median of the rounds is printed.

    service.py                        # CPU for each call and each streamed chunk, first chunks
    service.py -k stream --rounds 5   # the rows whose name holds a word
    service.py --calls 100000         # whether memory and descriptors stay flat
    service.py --serve='--transport httpx'
"""

import argparse
import multiprocessing
import os
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson
import provider
import relays
import uvloop
from load import Caller, Grpc, Http, Http2, load
from workload import conversation, text

from interlingua.v1 import service_pb2
from interlingua.v1 import types_pb2 as types
from interlingua.verbs import convert

MODEL = "claude-sonnet-4-6"
GENERATE = "/interlingua.v1.InterlinguaService/Generate"
GENERATE_STREAM = "/interlingua.v1.InterlinguaService/GenerateStream"
ADAPT = "/interlingua.v1.InterlinguaService/Adapt"


# ---------------------------------------------------------------------------------------------------- processes


@dataclass(frozen=True)
class Server:
    """A process that serves: where, and as which processes."""

    pids: tuple[int, ...]
    http: int = 0
    grpc: int = 0

    def cpu(self) -> float:
        """The processor time that it has taken, all threads, in seconds."""
        # the clock of another process, as clock_getcpuclockid(3) makes it
        return sum(time.clock_gettime(~pid << 3 | 2) for pid in self.pids)

    def memory(self) -> float:
        """Resident memory in MiB."""
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self.pids)
        return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)

    def descriptors(self) -> int:
        """Open descriptors."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids)


def _run(entry: Callable[..., Awaitable[None]], *arguments: Any) -> None:
    uvloop.run(entry(*arguments))  # type: ignore[arg-type]


@contextmanager
def _process(entry: Callable[..., Awaitable[None]], *arguments: Any) -> Iterator[tuple[int, int]]:
    """A process that puts its port into a queue: its id and the port."""
    context = multiprocessing.get_context("spawn")
    ports: Any = context.Queue()
    process = context.Process(target=_run, args=(entry, ports, *arguments), daemon=True)
    process.start()
    try:
        yield process.pid or 0, ports.get(timeout=60)
    finally:
        process.terminate()
        process.join()


@contextmanager
def _gateway(address: str, options: list[str]) -> Iterator[Server]:
    """The server that ships, as its command starts it."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_URL"))}
    environment |= {"ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "none"}
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--json", "--max-calls", "1000", *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        about = orjson.loads(process.stdout.readline())
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        try:
            yield Server((process.pid, *map(int, children)), about["http_port"], about["port"])
        finally:
            process.terminate()


# ---------------------------------------------------------------------------------------------------- what is asked


def _messages_body(limit: int, messages: int) -> bytes:
    """A request of the Anthropic wire."""
    said = [{"role": "user" if at % 2 == 0 else "assistant", "content": text(at, 24)} for at in range(messages)]
    members = {"model": MODEL, "max_tokens": limit, "messages": said, "stream": limit != provider.UNARY}
    return orjson.dumps(members | {"system": text(99, 20)})


def _chat_body(limit: int, messages: int) -> bytes:
    """The same request of the Chat wire."""
    said = [{"role": "user" if at % 2 == 0 else "assistant", "content": text(at, 24)} for at in range(messages)]
    said.insert(0, {"role": "system", "content": text(99, 20)})
    members: dict[str, Any] = {"model": f"anthropic:{MODEL}", "max_completion_tokens": limit, "messages": said}
    return orjson.dumps(members | {"stream": limit != provider.UNARY})


def _request(limit: int, messages: int) -> dict[str, Any]:
    """The same request in the canonical form."""
    said = [
        {"role": "user" if at % 2 == 0 else "assistant", "content": [{"type": "text", "text": text(at, 24)}]}
        for at in range(messages)
    ]
    return {"messages": said, "system": [{"type": "text", "text": text(99, 20)}], "max_output_tokens": limit}


def _generate(limit: int, messages: int) -> bytes:
    made = service_pb2.GenerateRequest if limit == provider.UNARY else service_pb2.GenerateStreamRequest
    request = convert.to_proto(types.Request, _request(limit, messages))
    return made(request=request, target=f"anthropic:{MODEL}").SerializeToString()


def _generate_batched(limit: int, messages: int) -> bytes:
    request = convert.to_proto(types.Request, _request(limit, messages))
    asked = service_pb2.GenerateStreamRequest(request=request, target=f"anthropic:{MODEL}", batched=True)
    return asked.SerializeToString()


def _adapt(*, typed: bool) -> bytes:
    request = conversation(20)
    given: dict[str, Any] = (
        {"request": convert.to_proto(types.Request, request)}
        if typed
        else {"request_json": orjson.dumps(request).decode()}
    )
    side = service_pb2.Side(adapter="openai_chat")
    return service_pb2.AdaptRequest(kind=service_pb2.KIND_REQUEST, target=side, **given).SerializeToString()


@dataclass(frozen=True)
class Subject:
    """What is measured: a server, and how it is called for an answer of a kind (`provider.UNARY` …)."""

    name: str
    server: Server
    call: Callable[[int, int], Caller]


def _over_http(name: str, server: Server, path: str, body: Callable[[int, int], bytes]) -> Subject:
    return Subject(name, server, lambda limit, n: Http(server.http, path, body(limit, n), provider.FIRST_WORD))


def _over_http2(name: str, server: Server, path: str, body: Callable[[int, int], bytes]) -> Subject:
    return Subject(name, server, lambda limit, n: Http2(server.http, path, body(limit, n), provider.FIRST_WORD))


def _over_grpc(name: str, server: Server, unary: str, stream: str, message: Callable[[int, int], bytes]) -> Subject:
    def call(limit: int, messages: int) -> Caller:
        streamed = limit != provider.UNARY
        method = stream if streamed else unary
        return Grpc(server.grpc, method, message(limit, messages), streamed=streamed, first=provider.FIRST_WORD)

    return Subject(name, server, call)


# ---------------------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Row:
    """One line of the table: so many calls of a kind, so many at a time, of subjects of which the first is the floor.

    `aim` is that of the last subject, in the unit of the row; `share` makes that unit of the seconds for each call.
    """

    name: str
    subjects: tuple[Subject, ...]
    kind: int
    at_a_time: int
    calls: int
    unit: str
    aims: dict[str, float]
    share: float = 1e6
    messages: int = 1
    waits: bool = False
    """Whether the time to the first text is measured, and not processor time."""


async def _measured(row: Row, subject: Subject, caller: Caller) -> float:
    before = subject.server.cpu()
    loaded = await load(caller, row.calls, row.at_a_time)
    if row.waits:
        return statistics.median(loaded.first) * row.share
    return (subject.server.cpu() - before) / row.calls * row.share


async def measure(row: Row, rounds: int) -> int:
    """Prints the row; gives how many aims are missed."""
    callers = [subject.call(row.kind, row.messages) for subject in row.subjects]
    found: list[list[float]] = [[] for _ in row.subjects]
    try:
        for caller in callers:
            await load(caller, max(row.at_a_time, row.calls // 10), row.at_a_time)
        for _ in range(rounds):
            for caller, subject, values in zip(callers, row.subjects, found, strict=True):
                values.append(await _measured(row, subject, caller))
    finally:
        for caller in callers:
            await caller.aclose()
    missed = 0
    print(row.name)
    for subject, values in zip(row.subjects, found, strict=True):
        value = statistics.median(values)
        ratio = statistics.median(one / floor for one, floor in zip(values, found[0], strict=True))
        aim = row.aims.get(subject.name)
        verdict = "" if aim is None else "aim met" if value <= aim else "aim missed"
        missed += verdict == "aim missed"
        aimed = "" if aim is None else f"{aim:g}"
        print(f"  {subject.name:42} {value:9.1f} {row.unit:8} {ratio:6.2f}x {aimed:>7}  {verdict}", flush=True)
    return missed


_WARM: Final = 2
"""Tenths of the calls after which the pools of connections are filled."""


async def measure_flat(subjects: list[Subject], calls: int) -> int:
    """Memory and descriptors of the gateway over many calls; gives 1 when they grow."""
    server = subjects[0].server
    callers = [subject.call(kind, 1) for subject in subjects for kind in (provider.UNARY, provider.BURST)]
    share = {provider.UNARY: 1.0, provider.BURST: 0.01}
    parts = [share[kind] / len(subjects) for _ in subjects for kind in (provider.UNARY, provider.BURST)]
    first: tuple[float, int] | None = None
    memory, descriptors = 0.0, 0
    print(f"{calls} calls: memory and descriptors of the gateway")
    for tenth in range(1, 11):
        for caller, part in zip(callers, parts, strict=True):
            await load(caller, max(1, round(calls * part / 10)), 64)
        memory, descriptors = server.memory(), server.descriptors()
        if tenth <= _WARM:
            first = memory, descriptors
        print(f"  {tenth * calls // 10:9} calls {memory:8.1f} MiB {descriptors:6} descriptors", flush=True)
    for caller in callers:
        await caller.aclose()
    assert first is not None
    flat = memory <= first[0] * 1.1 and descriptors <= first[1]
    print("  flat" if flat else "  they grow")
    return 0 if flat else 1


def rows(of: dict[str, Subject]) -> list[Row]:
    """The table."""
    http = tuple(of[name] for name in ("relay on aiohttp", "relay on httpx", "relay on bare reader", "same", "cross"))
    grpc = (of["gRPC relay"], of["Generate"])
    made: list[Row] = []
    for count in (1, 16, 64, 256):
        calls = 300 if count == 1 else 1000
        aims = {"same": 350.0, "cross": 350.0} if count == 64 else {}
        made.append(Row(f"HTTP, c={count}", http, provider.UNARY, count, calls, "µs", aims))
        if count < 256:
            aims = {"Generate": 800.0} if count == 64 else {}
            made.append(Row(f"gRPC, c={count}", grpc, provider.UNARY, count, calls, "µs", aims))
    long = tuple(of[name] for name in ("relay on aiohttp", "same", "cross"))
    made.append(Row("HTTP, 21 messages, c=64", long, provider.UNARY, 64, 1000, "µs", {}, messages=21))
    empty = of["empty"]
    made.append(
        Row("gRPC, Adapt of 20 messages, c=16", (empty, of["typed"], of["JSON"]), provider.UNARY, 16, 500, "µs", {})
    )
    name = f"a stream of {provider.CHUNKS} chunks"
    aims = {"same": 3.0, "cross": 3.0}
    made.append(Row(f"{name}, HTTP, c=16", http, provider.BURST, 16, 64, "ms", aims, 1e3))
    streams = (*grpc, of["batched"])
    aims = {"Generate": 8.0, "Generate, batched": 8.0}
    made.append(Row(f"{name}, gRPC, c=16", streams, provider.BURST, 16, 32, "ms", aims, 1e3))
    versions = (of["same"], of["same, HTTP/2"])
    made.append(Row("HTTP/1.1 and HTTP/2, c=64", versions, provider.UNARY, 64, 1000, "µs", {}))
    made.append(Row(f"{name}, HTTP/1.1 and HTTP/2, c=16", versions, provider.BURST, 16, 64, "ms", {}, 1e3))
    paced = 1e6 / 200
    made.append(Row("a chunk of 16 paced streams, HTTP", http, provider.PACED, 16, 32, "µs", {}, paced))
    made.append(Row("a chunk of 16 paced streams, gRPC", streams, provider.PACED, 16, 32, "µs", {}, paced))
    direct = of["provider itself"]
    first = (direct, of["relay on aiohttp"], of["same"], of["cross"], *streams)
    aims = dict.fromkeys(("same", "cross", "Generate", "Generate, batched"), 5.0)
    made.append(Row("first chunk, 16 paced streams", first, provider.PACED, 16, 32, "ms", aims, 1e3, waits=True))
    many = dict.fromkeys(("same", "cross"), 1000.0)
    first = (direct, of["relay on aiohttp"], of["same"], of["cross"], *streams)
    many |= dict.fromkeys(("Generate", "Generate, batched"), 1000.0)
    made.append(Row("first chunk, 500 streams of 20/s", first, provider.SLOW, 500, 500, "ms", many, 1e3, waits=True))
    return made


async def _measure_all(of: dict[str, Subject], options: argparse.Namespace) -> int:
    print(f"{'':44} {'CPU':>9} {'':8} {'ratio':>7} {'aim':>7}")
    if options.calls:
        return await measure_flat([of["same"], of["cross"], of["Generate"]], options.calls)
    missed = 0
    for row in rows(of):
        if options.k in row.name:
            missed += await measure(row, options.rounds)
    print(f"{missed} aims missed")
    return 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="The service under load, beside bare relays.")
    parser.add_argument("-k", default="", help="only rows whose name holds this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=0, help="instead: whether memory stays flat over so many calls")
    parser.add_argument("--serve", default="", help="further options of interlingua serve")
    options = parser.parse_args()
    with ExitStack() as stack:
        pid, port = stack.enter_context(_process(provider.serve))
        address = f"http://127.0.0.1:{port}"
        of: dict[str, Subject] = {}

        def add(name: str, subject: Subject) -> None:
            of[name] = subject

        direct = Server((pid,), port)
        add("provider itself", _over_http("provider itself", direct, "/v1/messages", _messages_body))
        if not options.calls:
            for client in relays.CLIENTS:
                name = f"relay on {client}"
                started = _process(relays.over_http, f"{address}/v1/messages", client)
                relay, relay_port = stack.enter_context(started)
                add(name, _over_http(name, Server((relay,), relay_port), "/", _messages_body))
            started = _process(relays.over_grpc, f"{address}/v1/messages", "bare reader")
            relay, relay_port = stack.enter_context(started)
            bare = Server((relay,), 0, relay_port)
            add("gRPC relay", _over_grpc("gRPC relay", bare, relays.GENERATE, relays.STREAM, _messages_body))
            add("empty", _over_grpc("empty", bare, relays.EMPTY, relays.EMPTY, lambda *_: b""))
        gateway = stack.enter_context(_gateway(address, shlex.split(options.serve)))
        add("same", _over_http("same", gateway, "/v1/messages", _messages_body))
        add("same, HTTP/2", _over_http2("same, HTTP/2", gateway, "/v1/messages", _messages_body))
        add("cross", _over_http("cross", gateway, "/v1/chat/completions", _chat_body))
        add("Generate", _over_grpc("Generate", gateway, GENERATE, GENERATE_STREAM, _generate))
        batched = _over_grpc("Generate, batched", gateway, GENERATE, GENERATE_STREAM, _generate_batched)
        add("batched", batched)
        add("typed", _over_grpc("typed", gateway, ADAPT, ADAPT, lambda *_: _adapt(typed=True)))
        add("JSON", _over_grpc("JSON", gateway, ADAPT, ADAPT, lambda *_: _adapt(typed=False)))
        return uvloop.run(_measure_all(of, options))


if __name__ == "__main__":
    sys.exit(main())
