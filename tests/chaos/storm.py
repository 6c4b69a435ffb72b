"""
Chaos: seeded runs of a chain of three targets through the gRPC server, at providers that misbehave, by callers who leave.

    make chaos                                    # 2,000 runs
    make chaos ARGS="--runs 200 --seed 7"         # fewer, others
    make chaos ARGS="--seed 7 --only 113"         # one of them again, with what happened

The plan of a run (whom to ask, how each of them fails, when the caller goes) is drawn from the seed and the number of the run. What the clock
decides, which of two things comes first, is not, so each check holds whatever the order.
"""

import argparse
import asyncio
import contextlib
import gc
import io
import logging
import os
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from client.six import every_wire
from client.upstream import Connection, Upstream, serve
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from chaos.faults import FAULTS, KEY, MESSAGE_LIMIT, REFUSED, WHOLE_LIMIT, Asked, Fault, asked
from interlingua.canonical import json
from interlingua.client import Client
from interlingua.client.call import Limits
from interlingua.client.httpx_transport import HttpxTransport
from interlingua.client.routing import Routing
from interlingua.events import Events, log_event
from interlingua.router import Health
from interlingua.router.health import Backoff
from interlingua.service import server
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub
from interlingua.verbs import convert
from interlingua.verbs.failures import CODES

TARGETS = (
    "anthropic:claude-sonnet-4-6",
    "openai:gpt-4.1",
    "gemini:gemini-2.5-flash",
    "ollama:llama3.2",
    "every:bedrock_converse",
    "mistral:mistral-large-latest",
    "groq:llama-3.3-70b-versatile",
)
RESPONSES = "every:openai_responses"
NOBODY = "groq"
"""The provider at whose address nobody listens."""
PRICED = frozenset(("anthropic", "openai", "gemini"))

MAX_CALLS = 12
IDLE_S = 0.3


@dataclass
class Run:
    """The plan of one run, and what came of it."""

    number: int
    chain: list[str]
    faults: dict[str, list[Fault]]
    stream: bool
    as_json: bool
    buffered: bool
    deadline: float | None
    leaves: float | None
    pause: float
    chance: random.Random
    seen: list[tuple[str, Fault]] = field(default_factory=list[tuple[str, Fault]])
    draining: bool = False
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    response: dict[str, Any] | None = None
    error: grpc.aio.AioRpcError | None = None
    left: bool = False
    violations: list[str] = field(default_factory=list[str])

    @property
    def first(self) -> str:
        """The fault that the first target of the chain begins with."""
        return self.faults[_provider(self.chain[0])][0].name


def _provider(model: str) -> str:
    return model.partition(":")[0]


def plan(seed: int, number: int) -> Run:
    """The plan of a run: a function of the seed and its number."""
    chance = random.Random(f"{seed}/{number}")
    chain = chance.sample((*TARGETS[:4], chance.choice((TARGETS[4], RESPONSES)), *TARGETS[5:]), 3)
    faults: dict[str, list[Fault]] = {}
    for position, model in enumerate(chain):
        # the first fault goes round, so that each is met equally often; later ones are well more often
        kinds = [FAULTS[number % len(FAULTS)] if position == 0 else chance.choice(FAULTS)]
        kinds += [chance.choice((FAULTS[0], *FAULTS)) for _ in range(2)]
        faults[_provider(model)] = [REFUSED] if _provider(model) == NOBODY else kinds
    habit = chance.random()
    return Run(
        number=number,
        chain=chain,
        faults=faults,
        stream=chance.random() < 0.6,
        as_json=chance.random() < 0.5,
        buffered=chance.random() < 0.3,
        deadline=chance.uniform(0.005, 0.3) if habit < 0.15 else None,
        leaves=chance.uniform(0, 0.15) if 0.15 <= habit < 0.3 else None,
        pause=chance.uniform(0, 0.004) if habit > 0.9 else 0.0,
        chance=chance,
    )


# ---------------------------------------------------------------------------------------------------- providers and server


class Providers:
    """All providers at one address: each call is answered as the plan of its run says."""

    def __init__(self) -> None:
        self.runs: dict[int, Run] = {}

    async def __call__(self, connection: Connection) -> None:
        """Answers one call."""
        provider = connection.head.split("/at-", 1)[1].split("/", 1)[0]
        found = re.search(rb"run-(\d+)-", connection.body)
        run = self.runs[int(found[1])] if found else None
        if run is None:
            raise AssertionError("a call of no run")
        before = sum(1 for name, _ in run.seen if name == provider)
        faults = run.faults[provider]
        fault = faults[min(before, len(faults) - 1)]
        run.seen.append((provider, fault))
        await fault.play(connection, asked(connection, run.number, provider, fault, run.chance))


async def _short_sleep(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.005))


@contextlib.asynccontextmanager
async def _serving(upstream: Upstream) -> AsyncIterator[tuple[server.Running, grpc.aio.Channel]]:
    registry, events = every_wire(), Events(log_event)
    names = sorted({_provider(model) for model in (*TARGETS, RESPONSES)})
    client = Client(
        HttpxTransport(connect_timeout=1.0),
        keys=dict.fromkeys(names, KEY),
        base_urls={name: f"{upstream.url}/at-{name}" for name in names} | {NOBODY: "http://127.0.0.1:9"},
        registry=registry,
        limits=Limits(idle=IDLE_S, answer=WHOLE_LIMIT),
        retry="standard",
        health=Health(Backoff(threshold=4, base=0.02, cap=0.05)),
        sleep=_short_sleep,
        events=events,
    )
    running = await server.start(
        "127.0.0.1:0",
        client=client,
        routing=Routing(registry, {"version": 1}, events=events),
        max_calls=MAX_CALLS,
        max_message_bytes=MESSAGE_LIMIT,
    )
    options = [*server.CLIENT_OPTIONS, ("grpc.use_local_subchannel_pool", 1)]
    channel = grpc.aio.insecure_channel(f"127.0.0.1:{running.port}", options=options)
    try:
        yield running, channel
    finally:
        await channel.close()
        await running.stop(0)


# ---------------------------------------------------------------------------------------------------- callers


async def _call(run: Run, stub: Any) -> None:
    """Makes the call of a run, as its caller does."""
    text = f"run-{run.number}- confidential-{run.number}"
    request = json.dumps({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}).decode()
    members: dict[str, Any] = {"request_json": request, "target": ",".join(run.chain), "json_output": run.as_json}
    if run.stream:
        call = stub.GenerateStream(
            service.GenerateStreamRequest(**members, buffered=run.buffered), timeout=run.deadline
        )
    else:
        call = stub.Generate(service.GenerateRequest(**members), timeout=run.deadline)
    timer = None
    if run.leaves is not None:
        timer = asyncio.get_running_loop().call_later(run.leaves, call.cancel)
    try:
        if run.stream:
            async for piece in call:
                run.events.append(json.loads(piece.event_json) if run.as_json else convert.from_proto(piece.event))
                if run.pause:
                    await asyncio.sleep(run.pause)
        else:
            answer = await call
            run.response = json.loads(answer.response_json) if run.as_json else convert.from_proto(answer.response)
    except grpc.aio.AioRpcError as problem:
        run.error = problem
    except asyncio.CancelledError:
        run.left = True
    finally:
        if timer is not None:
            timer.cancel()


# ---------------------------------------------------------------------------------------------------- what must hold


def judge(run: Run) -> str:
    """What came of a run, in a word; what is wrong with it goes into its violations (spec/8-errors.md, spec/9-service.md)."""
    wrong = run.violations.append
    last = run.events[-1] if run.events else None
    kinds = [event["type"] for event in run.events]
    if any(kind in ("message_complete", "error") for kind in kinds[:-1]):
        wrong("something follows the end of the stream")
    _targets_in_order(run)
    response = run.response
    if run.error is None and not run.left:
        if run.stream and (last is None or last["type"] != "message_complete"):
            wrong("a stream ends well without message_complete")
            return "no end"
        response = response or (last or {}).get("response")
    if response is not None:
        _true_answer(run, response)
        return "answered" if response["requested_model"] == run.chain[0] else "by another"
    _shown_so_far(run)
    if run.left:
        if run.leaves is None:
            wrong("cancelled, though nobody cancelled")
        return "left"
    return _typed(run, last)


def _typed(run: Run, last: dict[str, Any] | None) -> str:
    """An error is one of a category, with details, told of what happened."""
    wrong = run.violations.append
    assert run.error is not None
    code, status = run.error.code(), rpc_status.from_call(run.error)  # type: ignore[arg-type]
    if code is grpc.StatusCode.UNKNOWN:
        wrong(f"UNKNOWN: {run.error.details()}")
    if status is None:
        # said by gRPC on the caller's own side
        if code is grpc.StatusCode.DEADLINE_EXCEEDED and run.deadline is not None:
            return "deadline"
        if code is grpc.StatusCode.CANCELLED and run.leaves is not None:
            return "left"
        # not handed over when the server closed (spec/decisions/0018): gRPC says so, and nobody was asked
        by_grpc = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        if code in by_grpc and run.draining and not run.seen and not run.events:
            return "shut down"
        wrong(f"{code.name} without details: {run.error.details()}")
        return "untyped"
    info, canonical, usage = error_details_pb2.ErrorInfo(), types.Error(), types.Usage()
    found = [one for one in (info, canonical, usage) if any(detail.Unpack(one) for detail in status.details)]
    if info not in found or canonical not in found:
        wrong("details without ErrorInfo or Error")
        return "untyped"
    category = info.reason
    if convert.from_proto(canonical)["category"] != category or CODES.get(category) != code.name:
        wrong(f"{category} with {code.name}")
    if last is not None:
        if last["type"] != "error":
            wrong("a stream fails after its first event without an error event")
        elif last["error"]["category"] != category:
            wrong(f"the error event says {last['error']['category']}, the status {category}")
    said = (KEY, f"confidential-{run.number}")
    # what a provider said is the caller's to read; the text of the status is logged by clients
    if any(word in f"{run.error.details()} {canonical.message} {info}" for word in said) or KEY in str(canonical):
        wrong("a secret or content in the error")
    return _cause(run, category, canonical.code, usage if usage in found else None)


def _cause(run: Run, category: str, code: str, usage: types.Usage | None) -> str:
    """Whether something that happened explains an error."""
    wrong = run.violations.append
    if code == "max_calls":
        if run.seen:
            wrong("refused for want of room after a provider was asked")
        return "no room"
    if code == "shutdown":
        if not run.draining:
            wrong("shut down, though the server was not")
        return "shut down"
    if code == "message_too_large":
        provider, fault = run.seen[-1]
        true = _true(run, provider, fault)
        if not fault.long or usage is None or usage.output_tokens != true.usage["output_tokens"]:
            wrong("too large, without what was paid")
        return "too large"
    if category == "timeout" and run.deadline is not None:
        return "deadline"
    last = run.seen[-1][1] if run.seen else REFUSED
    possible = set(last.categories)
    if NOBODY in map(_provider, run.chain):
        possible |= REFUSED.categories
    if category not in possible:
        wrong(f"{category} after {last.name}")
    return "failed"


def _true(run: Run, provider: str, fault: Fault) -> Asked:
    return Asked(run.number, provider, "", run.stream, run.chance, fault.long)


def _texts(response: dict[str, Any]) -> str:
    return "".join(block["text"] for block in response["message"]["content"] if block["type"] == "text")


def _targets_in_order(run: Run) -> None:
    """Targets are asked in the order of the chain, and one that was given up is not asked again."""
    order = [_provider(model) for model in run.chain]
    places = [order.index(provider) for provider, _ in run.seen]
    # with everybody resting, the one whose rest ends first is asked
    if places != sorted(places):
        run.violations.append(f"asked in the order {places}")


def _true_answer(run: Run, response: dict[str, Any]) -> None:
    """The answer is that of the provider that was asked last, whole and once, with all that was tried and paid."""
    wrong = run.violations.append
    if not run.seen:
        wrong("an answer of nobody")
        return
    provider, fault = run.seen[-1]
    true = _true(run, provider, fault)
    if _provider(response["requested_model"]) != provider or not fault.answers:
        wrong(f"an answer of {response['requested_model']}, the last asked is {provider} with {fault.name}")
    if _texts(response) != true.text:
        wrong("the text of the answer is not what the provider said")
    _deltas(run, true.text, whole=True)
    told = response.get("usage") or {}
    if {name: told.get(name) for name in true.usage} != true.usage:
        wrong(f"usage {told} for {true.usage}")
    if provider in PRICED and not told.get("cost_usd"):
        wrong("an answer without its cost")
    tried = [one for one in response.get("attempts", ()) if _provider(one["model"]) != NOBODY]
    # of a call on a connection that it has just broken, or that could not be made in time, a provider knows nothing
    unseen = sum(1 for one in tried if one["category"] in ("network", "timeout"))
    if not len(tried) - unseen <= len(run.seen) - 1 <= len(tried):
        wrong(f"{len(tried)} failed attempts are told, {len(run.seen) - 1} were made")
    passed_over = [one["model"] for one in response.get("skipped", ())]
    if not set(run.chain[: run.chain.index(response["requested_model"])]) <= set(passed_over):
        wrong(f"passed over are {run.chain} up to {response['requested_model']}, told are {passed_over}")
    status = response["message"]["metadata"]["status"]
    if status != "complete":
        wrong(f"an answer with status {status}")


def _shown_so_far(run: Run) -> None:
    """What a stream showed before it failed is the beginning of what one provider said, and nobody was asked after it."""
    shown = "".join(event["text"] for event in run.events if event["type"] == "text_delta")
    if not run.events or not run.seen:
        return
    provider, fault = run.seen[-1]
    _deltas(run, _true(run, provider, fault).text, whole=False)
    last = run.events[-1]
    if last["type"] == "error" and "response" in last and last["error"].get("code") != "message_too_large":
        kept = _texts(last["response"])
        if kept != shown:
            run.violations.append("the error event does not hold what was shown")


def _deltas(run: Run, true: str, *, whole: bool) -> None:
    if not run.stream:
        return
    shown = "".join(event["text"] for event in run.events if event["type"] == "text_delta")
    if (shown != true) if whole else not true.startswith(shown):
        run.violations.append("the deltas are not what the last provider said: doubled, mixed or lost")


# ---------------------------------------------------------------------------------------------------- resources and log


class _Records(logging.Handler):
    """Keeps what is wrong in a log."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.wrong: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        text = f"{record.getMessage()} {vars(record)}"
        if KEY in text or "confidential-" in text:
            self.wrong[f"a secret or content in the log of {record.name}"] += 1
        if record.levelno >= logging.ERROR or record.exc_info:
            self.wrong[f"{record.levelname} in the log of {record.name}: {record.getMessage()[:200]}"] += 1


@contextlib.contextmanager
def _watched_log() -> Any:
    records, stderr = _Records(), io.StringIO()
    root, ours = logging.getLogger(), logging.getLogger("interlingua")
    before = root.level, ours.level
    root.addHandler(records)
    root.setLevel(logging.WARNING)
    ours.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stderr(stderr):
            yield records
    finally:
        root.removeHandler(records)
        root.setLevel(before[0])
        ours.setLevel(before[1])
        if "Traceback" in stderr.getvalue():
            records.wrong["a traceback on standard error"] += stderr.getvalue().count("Traceback")


@dataclass(frozen=True)
class Resources:
    """What this process holds."""

    tasks: int
    threads: int
    descriptors: int
    memory_mib: float

    @classmethod
    def now(cls) -> "Resources":
        """Counted after a collection of garbage."""
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as pages:
            resident = int(pages.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
        return cls(len(asyncio.all_tasks()), threading.active_count(), len(os.listdir("/proc/self/fd")), resident)


@dataclass
class Report:
    """What came of all runs."""

    runs: list[tuple[Run, str]]
    wrong: Counter[str]
    resources: list[Resources]
    seconds: float

    @property
    def violations(self) -> int:
        """How many there are, of runs, of the log and of resources."""
        return sum(len(run.violations) for run, _ in self.runs) + self.wrong.total()

    def table(self) -> str:
        """By the fault that the first target began with: runs, what came of them, violations."""
        outcomes = ("answered", "by another", "failed", "too large", "deadline", "left", "no room", "shut down")
        by_fault: dict[str, Counter[str]] = defaultdict(Counter)
        for run, outcome in self.runs:
            for row in (run.first, "all"):
                by_fault[row].update(("runs", outcome if outcome in outcomes else "failed"))
                by_fault[row]["violations"] += len(run.violations)
        columns = ("runs", *outcomes, "violations")
        lines = [f"{'first fault':<20}" + "".join(f"{name:>12}" for name in columns)]
        for row in sorted(by_fault, key=lambda name: (name == "all", name)):
            lines.append(f"{row:<20}" + "".join(f"{by_fault[row][name]:>12}" for name in columns))
        lines.append("")
        for name in ("tasks", "threads", "descriptors"):
            lines.append(f"{name}: " + ", ".join(str(getattr(one, name)) for one in self.resources))
        lines.append("memory, MiB: " + ", ".join(f"{one.memory_mib:.0f}" for one in self.resources))
        lines.append(f"{len(self.runs)} runs in {self.seconds:.1f} s, {self.violations} violations")
        return "\n".join(lines)


# ---------------------------------------------------------------------------------------------------- the storm

_GROWTH_MIB = 8.0
_SPENT = random.Random(0)


async def storm(seed: int, numbers: Sequence[int], size: int = 200) -> Report:
    """Makes the runs of these numbers, in rounds of some size that each have a server of their own."""
    began = time.monotonic()
    report = Report([], Counter(), [], 0)
    chance = random.Random(seed)
    with _watched_log() as records:
        for begin in range(0, len(numbers), size):
            runs = [plan(seed, number) for number in numbers[begin : begin + size]]
            await _round(runs, chance, report)
            report.runs += [(run, judge(run)) for run in runs]
            for run in runs:  # what was looked at is not kept: the memory that is measured is that of the server
                run.events, run.response, run.error, run.chance = [], None, None, _SPENT
            report.resources.append(Resources.now())
    report.wrong += records.wrong
    _flat(report)
    report.seconds = time.monotonic() - began
    return report


async def _round(runs: list[Run], chance: random.Random, report: Report) -> None:
    providers = Providers()
    providers.runs = {run.number: run for run in runs}
    async with serve(providers) as upstream:
        async with _serving(upstream) as (running, channel):
            stub = InterlinguaServiceStub(channel)
            health = health_pb2_grpc.HealthStub(channel)
            watch = health.Watch(health_pb2.HealthCheckRequest())
            await watch.read()
            waiting = list(runs)
            while waiting:
                size = chance.choice([1, 4, 8, 16, 40])
                now, waiting = waiting[:size], waiting[size:]
                calls = [asyncio.ensure_future(_call(run, stub)) for run in now]
                answer = await health.Check(health_pb2.HealthCheckRequest(), timeout=10)
                if answer.status != health_pb2.HealthCheckResponse.SERVING:
                    report.wrong["health did not answer"] += 1
                if not waiting:  # the last ones are cut off by the end of the server
                    for run in now:
                        run.draining = True
                    await running.stop(chance.uniform(0, 0.1))
                await asyncio.gather(*calls)
            if (await watch.read()).status != health_pb2.HealthCheckResponse.NOT_SERVING:
                report.wrong["a watcher was not told of the end"] += 1
        if running.calls.running:
            report.wrong["calls are counted that do not run"] += 1
    await asyncio.sleep(0.05)  # the sockets of the channel close on a thread of gRPC


def _flat(report: Report) -> None:
    """What the process holds after each round is what it held after the first."""
    first, *_, last = (*report.resources, *report.resources)
    for name in ("tasks", "threads", "descriptors"):
        if getattr(last, name) > getattr(first, name):
            report.wrong[f"more {name} at the end than after the first round"] += 1
    settled = report.resources[len(report.resources) // 3]
    if last.memory_mib - settled.memory_mib > _GROWTH_MIB:
        report.wrong["memory grows"] += 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table, and what is wrong. Gives 1 when anything is."""
    parser = argparse.ArgumentParser(
        prog="make chaos", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, action="append", help="the number of a run to make again")
    options = parser.parse_args(arguments)
    report = asyncio.run(storm(options.seed, options.only or range(options.runs)))
    print(report.table())
    for run, outcome in report.runs:
        for violation in run.violations:
            seen = ", ".join(f"{provider}: {fault.name}" for provider, fault in run.seen)
            print(
                f"run {run.number} ({outcome}; {'stream' if run.stream else 'unary'}; {','.join(run.chain)}; {seen}): {violation}"
            )
    for what, count in report.wrong.items():
        print(f"{count} times: {what}")
    return 1 if report.violations else 0
