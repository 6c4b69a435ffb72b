"""
Traffic that nobody recorded: requests, answers and streams of the types of the other providers' SDKs, through every wire.

What an adapter has to do with recorded traffic (`tools/corpus.py`), it has to do with all that the types allow; what is not
of them is read and comes back, or ends with a typed error.
`TYPED_ROUNDS=5000 make oracles ARGS="-k typed_wires"` runs it at length, `TYPED_SEED` elsewhere.
"""

import json
import logging
import os
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typed_anthropic
import typed_bedrock
import typed_gemini
import typed_ollama
from typed_checks import HOMES, answer_problems, edited_problems, request_problems, spoiled, stream_problems

from interlingua.canonical.endpoint import Endpoint
from interlingua.wire import eventstream

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "laws"))
edits: Any = import_module("edits")  # what the cases are changed by as well
CHANGES = edits.EDITS + edits.WISHES

Data = dict[str, Any]

ROUNDS = int(os.environ.get("TYPED_ROUNDS", "120"))
FIRST = int(os.environ.get("TYPED_SEED", "0"))
SHOWN = 5

WIRES: dict[str, ModuleType] = {
    "anthropic_messages": typed_anthropic,
    "bedrock_converse": typed_bedrock,
    "gemini_generate": typed_gemini,
    "ollama_chat": typed_ollama,
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of blocks are dropped, and all of them are in the reports."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def run(found: Callable[[int, random.Random], list[str]]) -> None:
    """Goes through the seeds, and tells the first problems with theirs."""
    told = [
        f"seed {seed}: {problem}"
        for seed in range(FIRST, FIRST + ROUNDS)
        for problem in found(seed, random.Random(seed))
    ]
    assert not told, "\n".join([f"{len(told)} problems", *told[:SHOWN]])


def here(adapter: str) -> Endpoint:
    """Whose wire it is."""
    return Endpoint(adapter, HOMES[adapter], "a-model")


@pytest.mark.parametrize("adapter", WIRES)
def test_requests(adapter: str) -> None:
    """There and back; to every other wire by the law, as its provider takes it, whatever the model."""
    made = WIRES[adapter].request
    run(lambda seed, source: request_problems(adapter, made(seed), here(adapter), source))


@pytest.mark.parametrize("adapter", WIRES)
def test_requests_that_are_not_of_their_type(adapter: str) -> None:
    """There and back, or a typed error."""

    def found(seed: int, source: random.Random) -> list[str]:
        body = spoiled(WIRES[adapter].request(seed), source)
        problems = request_problems(adapter, body, here(adapter), source, may_be_refused=True)
        # what is no JSON Schema is no provider's either
        return [problem for problem in problems if "invalid: " not in problem]

    run(found)


@pytest.mark.parametrize("adapter", WIRES)
def test_edited_requests(adapter: str) -> None:
    """What a caller does to a conversation is written by the law, where it came from and elsewhere."""

    def found(seed: int, source: random.Random) -> list[str]:
        body = WIRES[adapter].request(seed)
        return edited_problems(adapter, body, here(adapter), source, partial(edits.edited, edits=CHANGES))

    run(found)


@pytest.mark.parametrize("adapter", WIRES)
def test_answers(adapter: str) -> None:
    """There and back; to every wire by the law."""
    run(lambda seed, _: answer_problems(adapter, WIRES[adapter].answer(seed), here(adapter)))


@pytest.mark.parametrize("adapter", WIRES)
def test_answers_that_are_not_of_their_type(adapter: str) -> None:
    """There and back, or a typed error."""

    def found(seed: int, source: random.Random) -> list[str]:
        body = spoiled(WIRES[adapter].answer(seed), source)
        return answer_problems(adapter, body, here(adapter), may_be_refused=True)

    run(found)


@pytest.mark.parametrize("adapter", WIRES)
def test_streams(adapter: str) -> None:
    """The answer that the whole body says, whatever the cuts; to every wire by the law."""

    def found(seed: int, source: random.Random) -> list[str]:
        body = WIRES[adapter].streamed_answer(seed)
        return stream_problems(adapter, _bytes(WIRES[adapter].stream(body, source)), here(adapter), body)

    run(found)


@pytest.mark.parametrize("adapter", [name for name in WIRES if name != "gemini_generate"])
def test_streams_of_which_a_piece_is_odd(adapter: str) -> None:
    """An answer or an error, the same whatever the cuts; an answer goes to every wire by the law."""

    def found(seed: int, source: random.Random) -> list[str]:
        pieces = WIRES[adapter].stream(WIRES[adapter].streamed_answer(seed), source)
        return stream_problems(adapter, _bytes(_marred(pieces, source)), here(adapter), may_fail=True)

    run(found)


Pieces = str | list[tuple[str, Data]]


def _bytes(pieces: Pieces) -> bytes:
    """The stream as it travels."""
    if isinstance(pieces, str):
        return pieces.encode()
    return b"".join(eventstream.encode(eventstream.Frame(name, json.dumps(data))) for name, data in pieces)


def _marred(pieces: Pieces, source: random.Random) -> Pieces:
    """The stream, of which one piece is gone, there twice, or not of its type."""
    if isinstance(pieces, str):
        lines = pieces.split("\n")
        place = source.choice([at for at, line in enumerate(lines) if "{" in line])
        before, brace, rest = lines[place].partition("{")
        match source.randint(0, 9):
            case 0:
                lines[place] = ""
            case 1:
                lines[place:place] = [lines[place], ""]
            case _:
                lines[place] = before + json.dumps(spoiled(json.loads(brace + rest), source))
        return "\n".join(lines)
    place = source.randrange(len(pieces))
    name, data = pieces[place]
    match source.randint(0, 9):
        case 0:
            return pieces[:place] + pieces[place + 1 :]
        case 1:
            return pieces[: place + 1] + pieces[place:]
        case _:
            return [*pieces[:place], (name, spoiled(data, source)), *pieces[place + 1 :]]
