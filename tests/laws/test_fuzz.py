"""
Mutated cases: whatever is done to an input, the answer is a result or a typed error, and nothing else.

The seed is printed when the run begins, and with every failure. The gate always takes the same one; `make fuzz` takes a new one each time.
`FUZZ_SEED=n` runs the mutations of a seed again, `FUZZ_ROUNDS=n` runs more of them.
"""

import copy
import json as standard_json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from odd import ODD

from interlingua import StreamReader, adapters, plug, registry
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.translate import estimate_for, load, project

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
SEED = int(os.environ["FUZZ_SEED"])
ROUNDS = int(os.environ["FUZZ_ROUNDS"])


def documents(name: str) -> Iterator[tuple[str, Path]]:
    """The files of a name in all cases, with the adapter that they belong to."""
    for path in sorted(CASES.glob(f"*/*/{name}")):
        yield path.parts[-3], path


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container of a document with each of its keys or positions."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            found += [(value, key), *places(item)]
    elif isinstance(value, list):
        for position, item in enumerate(value):
            found += [(value, position), *places(item)]
    return found


def mutate(document: Any, rng: random.Random) -> Any:
    """The document with one to three things done to it."""
    mutated = copy.deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        where = places(mutated)
        if not where:
            return rng.choice(ODD)
        container, key = rng.choice(where)
        match rng.randrange(5):
            case 0:
                container[key] = copy.deepcopy(rng.choice(ODD))
            case 1:
                del container[key]
            case 2:
                container[key] = {"deep": container[key]}
            case 3 if isinstance(container, list):
                container.append(copy.deepcopy(container[key]))
            case 3:
                container["planted"] = copy.deepcopy(container[key])
            case _:
                container[key] = copy.deepcopy(rng.choice(where)[0])
    return mutated


def survive(work: Callable[[], Any], what: str) -> None:
    """Runs the work; any exception but a typed one fails with the seed."""
    try:
        work()
    except InterlinguaError as error:
        standard_json.dumps(error.to_dict())
    except BaseException as error:
        raise AssertionError(f"FUZZ_SEED={SEED} {what}: {type(error).__name__}: {error}") from error


def read_and_write(adapter: str, wire: Any) -> None:
    """Reads a request, and writes it at every wire."""
    endpoint = registry.endpoint(adapter=adapter)
    request, _ = adapters.get(adapter).from_wire_request(wire, endpoint, DERIVED_IDS)
    load(request)
    for name in adapters.names():
        json.dumps(project(request, registry.endpoint(adapter=name)).wire)


def write(request: Any) -> None:
    """Writes a canonical request at every wire, and estimates it there."""
    data = load(json.dumps(request))
    for name in adapters.names():
        estimate_for(data, registry.endpoint(adapter=name))
        json.dumps(project(data, registry.endpoint(adapter=name)).wire)


def answer(adapter: str, body: Any) -> None:
    """Reads an answer, and gives it at every wire."""
    endpoint = registry.endpoint(adapter=adapter)
    response, _ = adapters.get(adapter).from_wire_response(body, endpoint, DERIVED_IDS)
    load(response, "Response")
    for name in adapters.names():
        adapters.get(name).to_wire_response(response, registry.endpoint(adapter=name))


def stream(adapter: str, raw: bytes) -> None:
    """Reads a stream to its end, which is said once and is the last event."""
    reader = StreamReader(registry.endpoint(adapter=adapter))
    events = reader.feed(raw) + reader.end()
    last = [event["type"] in ("message_complete", "error") for event in events]

    assert [position for position, ends in enumerate(last) if ends] == [len(events) - 1]


def ask(message: Any) -> None:
    """Puts a message to the plug, which answers, and not with a bug of its own."""
    answer = plug.handle(message)
    json.dumps(answer)

    assert "internal" != answer.get("error", {}).get("category")


def random_of(path: Path, number: int) -> random.Random:
    """The source of randomness of one mutation: the same for the same seed."""
    return random.Random(f"{SEED}/{path.parent.name}/{path.name}/{number}")


@pytest.mark.parametrize("name", ["request.wire.json", "request.canonical.json", "response.wire.json"])
def test_mutated_documents(name: str) -> None:
    """Requests of both kinds, and answers."""
    for adapter, path in documents(name):
        document = standard_json.loads(path.read_bytes())
        for number in range(ROUNDS):
            mutated = mutate(document, random_of(path, number))
            what = f"{path.parent.name}/{name} round {number}"
            if name == "request.canonical.json":
                survive(lambda mutated=mutated: write(mutated), what)
            elif isinstance(mutated, dict) and adapter in adapters.names():
                work = read_and_write if name == "request.wire.json" else answer
                survive(lambda work=work, adapter=adapter, mutated=mutated: work(adapter, mutated), what)


def test_mutated_streams() -> None:
    """Bytes flipped, cut out, doubled; JSON of single frames mutated."""
    for adapter, path in documents("stream.wire.sse"):
        raw = path.read_bytes()
        for number in range(ROUNDS):
            rng = random_of(path, number)
            mutated = mutate_bytes(raw, rng)
            what = f"{path.parent.name} round {number}"
            survive(lambda adapter=adapter, mutated=mutated: stream(adapter, mutated), what)


def mutate_bytes(raw: bytes, rng: random.Random) -> bytes:
    """A stream with one frame's JSON mutated, or with bytes flipped, removed or doubled."""
    lines = raw.split(b"\n")
    data = [position for position, line in enumerate(lines) if line.startswith(b"data: {")]
    if data and rng.random() < 0.6:
        position = rng.choice(data)
        try:
            document = standard_json.loads(lines[position][6:])
        except ValueError:
            return raw
        lines[position] = b"data: " + standard_json.dumps(mutate(document, rng)).encode()
        return b"\n".join(lines)
    start = rng.randrange(len(raw))
    end = min(len(raw), start + rng.randint(1, 80))
    return rng.choice(
        (raw[:start] + raw[end:], raw[:end] + raw[start:], raw[:start] + bytes(rng.randbytes(3)) + raw[end:])
    )


def test_mutated_messages_to_the_plug() -> None:
    """The plug answers every message, whatever it holds."""
    rng = random.Random(SEED)
    message = {
        "id": 1,
        "op": "to_wire",
        "adapter": "openai_chat",
        "input": {"request": {"messages": []}, "provider": "openai"},
    }
    for number in range(200):
        mutated = mutate(
            message
            | {"op": rng.choice(["to_wire", "stream", "error", "to_wire_error", "cost", "validate", "estimate"])},
            rng,
        )
        if isinstance(mutated, dict):
            survive(lambda mutated=mutated: ask(mutated), f"plug round {number}")


@pytest.mark.parametrize("adapter", adapters.names())
@pytest.mark.parametrize("depth", [1_000, 50_000])
def test_nesting_is_a_result_or_a_typed_error(adapter: str, depth: int) -> None:
    """Arguments a thousand deep, on the way in and on the way out."""
    text = '{"a":' * depth + "1" + "}" * depth
    call = '{"type":"tool_use","id":"tu_1","name":"f","input":' + text + "}"
    canonical = '{"messages":[{"role":"assistant","content":[' + call + "]}]}"

    survive(lambda: write(json.loads(canonical)), "canonical")
    survive(lambda: read_and_write(adapter, {"method": "POST", "path": "", "body": json.loads(text)}), "wire")
