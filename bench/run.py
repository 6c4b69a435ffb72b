"""
The benchmarks: `make bench`. Every figure is a ratio to a floor that is measured beside it in the same run.

The floor of a translation is orjson.loads + orjson.dumps of the same input bytes: what anybody pays who only looks.
What is measured is processor time, and rounds alternate between floor and subject, so a busy machine changes little; the median
of the rounds is printed.
Budgets and aims are those of the project; a ratio above its budget is marked and the exit status is 1.
"""

import argparse
import json as standard_json
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson
from workload import (
    ANSWER_FORMAT,
    agent_request,
    anthropic_answer,
    anthropic_stream,
    chat_request,
    chat_stream,
    conversation,
    gemini_stream,
    images,
)

from interlingua import adapters, registry
from interlingua.canonical import json
from interlingua.translate import StreamReader, load, project, read_request, read_response, write_stream

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    name: str
    floor: Work
    subject: Work
    budget: float
    aim: float


def measure(row: Row, rounds: int) -> tuple[float, float, float]:
    """Median floor in µs, median and best ratio of the subject to the floor of its round."""
    number = max(1, int(0.02 / max(timeit.timeit(row.subject, number=1, timer=time.thread_time), 1e-7)))
    floors: list[float] = []
    ratios: list[float] = []
    for _ in range(rounds):
        floor = min(timeit.repeat(row.floor, number=number, repeat=3, timer=time.thread_time)) / number
        subject = min(timeit.repeat(row.subject, number=number, repeat=3, timer=time.thread_time)) / number
        floors.append(floor * 1e6)
        ratios.append(subject / floor)
    return statistics.median(floors), statistics.median(ratios), min(ratios)


def passing(text: bytes) -> Work:
    """The floor: read and write the same bytes."""
    return lambda: orjson.dumps(orjson.loads(text))


def write(text: bytes, adapter: str) -> Work:
    """Canonical JSON → validated → wire bytes, with the loss report."""
    endpoint = registry.endpoint(adapter=adapter)
    return lambda: project(load(text), endpoint).body


def translate(text: bytes, source: str, target: str) -> Work:
    """Wire bytes → canonical → another wire's bytes, with the loss report."""
    endpoint = registry.endpoint(adapter=target)

    def work() -> bytes:
        request, _ = read_request(text, source)
        return project(request, endpoint).body

    return work


def answer(text: bytes, source: str, target: str) -> Work:
    """An answer's bytes → canonical → another wire's answer."""
    module, endpoint = adapters.get(target), registry.endpoint(adapter=target)

    def work() -> bytes:
        response, _ = read_response(text, source)
        body, _ = module.to_wire_response(response, endpoint)
        return json.dumps(body)

    return work


def stream_floor(chunks: list[bytes]) -> Work:
    """Reading and writing the JSON of each event, nothing else."""
    payloads = [data for chunk in chunks if (data := chunk.split(b"data: ", 1)[1].rstrip()) != b"[DONE]"]
    return lambda: [orjson.dumps(orjson.loads(payload)) for payload in payloads]


def packets(chunks: list[bytes], size: int = 4096) -> list[bytes]:
    """The same bytes as a busy socket gives them."""
    whole = b"".join(chunks)
    return [whole[at : at + size] for at in range(0, len(whole), size)]


def stream_read(chunks: list[bytes], source: str) -> Work:
    """Bytes → frames → canonical events."""
    endpoint = registry.endpoint(adapter=source)

    def work() -> int:
        reader = StreamReader(endpoint)
        return sum(len(reader.feed(chunk)) for chunk in chunks) + len(reader.end())

    return work


def stream_translate(chunks: list[bytes], source: str, target: str) -> Work:
    """Bytes of one wire → events → bytes of another, in one pass."""
    endpoint = registry.endpoint(adapter=source)

    def work() -> int:
        reader = StreamReader(endpoint)
        events = (
            event for chunk in [*chunks, None] for event in (reader.end() if chunk is None else reader.feed(chunk))
        )
        return sum(len(frame) for frame in write_stream(events, target))

    return work


def wire_of(messages: int, adapter: str) -> bytes:
    """The wire body of a conversation."""
    return project(conversation(messages), registry.endpoint(adapter=adapter)).body


def requests() -> dict[str, dict[str, Any]]:
    """Requests of two wires with the members that users send, by what they are about."""
    example = {
        "model": "gpt-5.4",
        "stop": ["END"],
        "messages": [
            {"role": "system", "content": "You are brief."},
            {"role": "user", "content": "Which rivers flow through Vienna?"},
        ],
    }
    return {
        "an agent": agent_request(),
        "one message": {
            "model": "gpt-5.4",
            "messages": [{"role": "user", "content": "Which rivers flow through Vienna?"}],
        },
        "an example with stops": example,
        "20 messages, plain": chat_request(),
        "20 messages, stops": chat_request(stop=["END", "STOP"]),
        "20 messages, an answer by a schema": chat_request(response_format=ANSWER_FORMAT),
        "20 messages, metadata and a tier": chat_request(metadata={"run": "7"}, service_tier="default", user="u-1"),
    }


def rows() -> list[Row]:
    """All translations: each wire beside the floor."""
    names = adapters.names()
    canonical = {
        count: standard_json.dumps(conversation(count), separators=(",", ":")).encode() for count in (1, 20, 200)
    }
    pictures = standard_json.dumps(images(), separators=(",", ":")).encode()
    table: list[Row] = []
    for name in names:
        for count in (1, 20, 200):
            table.append(
                Row(
                    f"canonical → {name}, {count} messages",
                    passing(canonical[count]),
                    write(canonical[count], name),
                    4,
                    2.5,
                )
            )
        table.append(Row(f"canonical → {name}, five images", passing(pictures), write(pictures, name), 1.8, 1.2))
    for source in names:
        for target in names:
            if source != target:
                text = wire_of(20, source)
                table.append(
                    Row(f"{source} → {target}, 20 messages", passing(text), translate(text, source, target), 5, 3)
                )
    for what, request in requests().items():
        text = orjson.dumps(request)
        source = "anthropic_messages" if "max_tokens" in request else "openai_chat"
        for target in ("openai_chat", "gemini_generate", "anthropic_messages"):
            if source != target:
                budget, aim = (3, 2.5) if what.startswith(("20", "an agent")) else (6, 4)
                name = f"{what}: {source} → {target}"
                table.append(Row(name, passing(text), translate(text, source, target), budget, aim))
    body = orjson.dumps(anthropic_answer())
    table.append(
        Row(
            "answer: anthropic_messages → openai_chat",
            passing(body),
            answer(body, "anthropic_messages", "openai_chat"),
            5,
            2.5,
        )
    )
    for source, target, events in (
        ("anthropic_messages", "openai_chat", anthropic_stream()),
        ("openai_chat", "anthropic_messages", chat_stream()),
        ("gemini_generate", "openai_chat", gemini_stream()),
    ):
        floor = stream_floor(events)
        for how, chunks in (("4 KiB at a time", packets(events)), ("an event at a time", events)):
            name = f"stream of 500 deltas, {how}: {source}"
            table.append(Row(f"{name} read", floor, stream_read(chunks, source), 2.5, 1.2))
            table.append(Row(f"{name} → {target}", floor, stream_translate(chunks, source, target), 2.5, 1.2))
    for name in names:
        table.append(
            Row(
                f"linear: 200 messages to 20, {name}",
                write(canonical[20], name),
                write(canonical[200], name),
                11,
                10,
            )
        )
    return table


def is_compiled() -> bool:
    """Whether the adapters that are measured are the compiled ones."""
    return not str(adapters.get("openai_chat").__file__).endswith(".py")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Ratios of our work to a floor measured in the same run.")
    parser.add_argument("-k", default="", help="only rows whose name holds this")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    over = 0
    # once large blocks have been freed, the C library stops giving memory back after every small one: before that, a
    # floor of many small encodings is three times as slow as in a process that lives
    large = [bytearray(3 << 20) for _ in range(3)]
    del large
    print(f"adapters: {'compiled' if is_compiled() else 'plain source'}")
    print(f"{'work':52} {'floor µs':>9} {'ratio':>7} {'best':>7} {'budget':>7} {'aim':>5}")
    for row in rows():
        if options.k not in row.name:
            continue
        floor, ratio, best = measure(row, options.rounds)
        verdict = "over budget" if ratio > row.budget else "" if ratio > row.aim else "aim met"
        over += ratio > row.budget
        print(f"{row.name:52} {floor:9.1f} {ratio:6.2f}x {best:6.2f}x {row.budget:6.1f}x {row.aim:4.1f}x  {verdict}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
