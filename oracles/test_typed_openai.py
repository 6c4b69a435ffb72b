"""
Traffic that nobody recorded: requests, answers and streams of the types of OpenAI's SDK, through every wire.

What an adapter has to do with recorded traffic (`tools/corpus.py`), it has to do with all that the types allow.
`TYPED_ROUNDS=5000 make oracles ARGS="-k typed_openai"` runs it at length, `TYPED_SEED` elsewhere.
"""

import logging
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typed_openai

from interlingua import adapters, difference, fold, registry
from interlingua.canonical.endpoint import Endpoint
from interlingua.canonical.errors import InterlinguaError
from interlingua.canonical.ids import DERIVED_IDS

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import corpus

Data = dict[str, Any]

ROUNDS = int(os.environ.get("TYPED_ROUNDS", "400"))
FIRST = int(os.environ.get("TYPED_SEED", "0"))
SHOWN = 5
LONG = 12_000
"""Longer streams are not cut byte by byte."""

TARGETS = {
    "openai_chat": "gpt-5.5",
    "openai_responses": "gpt-5.5",
    "gemini_generate": "gemini-2.5-flash",
    "anthropic_messages": "a-model",
}
"""Models with rules of their own, where they have any."""

REFUSALS = (
    "a request needs at least one message",  # assistants that said nothing
    "a conversation needs a message with content",
    "a conversation needs at least one message",
    "a result came when the model had spoken again",
    "the model does not continue an answer that was begun",
)
"""What may be refused of a request that hangs together."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of blocks are dropped, and all of them are in the reports."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


Check = Callable[[], str | None]


def here(adapter: str, model: str | None) -> Endpoint:
    """The provider whose types they are."""
    return registry.endpoint(adapter=adapter, provider="openai", model=model)


def there(adapter: str, other: str, endpoint: Endpoint) -> Endpoint:
    """Whom the traffic is for."""
    return endpoint if other == adapter else registry.endpoint(adapter=other, model=TARGETS.get(other, "a-model"))


def problems(checks: Iterator[tuple[str, Check]], refusals: tuple[str, ...] | None = ()) -> Iterator[str]:
    """What does not hold; `refusals` are the typed errors that are as good as a result, None for any."""
    for name, check in checks:
        try:
            problem = check()
        except InterlinguaError as error:
            problem = f"{error.category}: {error.message} at {error.path}"
            if refusals is None or error.message.startswith(refusals):
                continue
        except Exception as error:  # noqa: BLE001 (a crash is a finding)
            problem = f"CRASH {type(error).__name__}: {error}"
        if problem is not None:
            yield f"{name}: {problem}"


def run(rounds: int, found: Callable[[int], Iterator[str]]) -> None:
    """Goes through the seeds, and tells the first problems with theirs."""
    told = [f"seed {seed}: {problem}" for seed in range(FIRST, FIRST + rounds) for problem in found(seed)]
    assert not told, "\n".join([f"{len(told)} problems", *told[:SHOWN]])


# --- requests -----------------------------------------------------------------------------------------------------------


REQUESTS = {"openai_chat": typed_openai.chat_request, "openai_responses": typed_openai.responses_request}


def of_request(adapter: str, body: Data) -> Iterator[tuple[str, Check]]:
    """There and back; and to every other wire by the law, as its provider takes it."""
    endpoint = here(adapter, body.get("model") or None)
    entry = {"request": body}
    yield "same wire", lambda: corpus.check_request(adapter, entry, endpoint)
    request, _ = adapters.get(adapter).from_wire_request(corpus._wire(entry), endpoint, DERIVED_IDS)
    for other in adapters.names():
        yield other, lambda other=other: _carried(request, adapter, other, endpoint)


def _carried(request: Data, adapter: str, other: str, endpoint: Endpoint) -> str | None:
    problem, wire = corpus.check_law(request, there(adapter, other, endpoint))
    broken = corpus.oracles.violations(other, wire) if other != adapter and problem is None else []
    return f"invalid: {broken[0]}" if broken else problem


@pytest.mark.parametrize("adapter", REQUESTS)
def test_requests(adapter: str) -> None:
    run(ROUNDS, lambda seed: problems(of_request(adapter, REQUESTS[adapter](seed)), REFUSALS))


@pytest.mark.parametrize("adapter", REQUESTS)
def test_requests_that_do_not_hang_together(adapter: str) -> None:
    """A result or a typed error."""

    def found(seed: int) -> Iterator[str]:
        try:
            checks = list(of_request(adapter, REQUESTS[adapter](seed, careful=False)))
        except InterlinguaError:
            return
        yield from problems(iter(checks), None)

    run(ROUNDS // 2, found)


# --- answers and streams ------------------------------------------------------------------------------------------------


ANSWERS = {"openai_chat": typed_openai.chat_answer, "openai_responses": typed_openai.responses_answer}
STREAMS = {"openai_chat": typed_openai.chat_stream, "openai_responses": typed_openai.responses_stream}


def of_answer(adapter: str, body: Data) -> Iterator[tuple[str, Check]]:
    """There and back; and to every wire by the law."""
    endpoint = here(adapter, body["model"])
    yield "same wire", lambda: corpus.check_response(adapter, {"response": body}, endpoint)
    response, _ = adapters.get(adapter).from_wire_response(body, endpoint, DERIVED_IDS)
    for other in adapters.names():
        yield other, lambda other=other: corpus.check_answer_law(response, there(adapter, other, endpoint))


def of_stream(adapter: str, body: Data, text: str) -> Iterator[tuple[str, Check]]:
    """The answer that it tells, whatever the cuts; and to every wire by the law."""
    endpoint = here(adapter, body["model"])
    entry = {"stream": text}
    if len(text) < LONG:
        yield "cuts", lambda: corpus.check_cuts(adapter, entry, endpoint)
    events = corpus._events([text.encode()], endpoint)
    if body.get("status") == "failed":
        yield "failure", lambda: _failed(events[-1])
        return
    yield "read", lambda: corpus.check_stream(adapter, entry, endpoint)
    yield "fold", lambda: _told(adapter, body, text, endpoint)
    for other in adapters.names():
        yield other, lambda other=other: corpus.check_stream_law(events, there(adapter, other, endpoint))


def _failed(last: Data) -> str | None:
    """Whether an answer that failed ends as an error of a known kind."""
    category = last["error"]["category"] if last["type"] == "error" else last["type"]
    return f"ends as {category}, {last['error'].get('code')}" if category in ("other", "message_complete") else None


def _told(adapter: str, body: Data, text: str, endpoint: Endpoint) -> str | None:
    """Whether a stream tells what the whole answer says."""
    whole, _ = adapters.get(adapter).from_wire_response(body, endpoint, DERIVED_IDS)
    return difference(_meant(whole), _meant(fold(corpus._events([text.encode()], endpoint))))


def _meant(response: Data) -> Any:
    """An answer without spellings, and without null, which no piece of a stream tells."""
    return {name: _bare(member) for name, member in response.items() if name != "provider_state"}


def _bare(value: Any) -> Any:
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {name: _bare(item) for name, item in value.items() if item is not None}
    made = {name: item for name, item in made.items() if item != {}}
    if made.keys() >= {"adapter", "provider"} and "type" not in made:  # a provider state
        made.pop("form", None)
        return made if len(made) > 2 else {}
    return made


@pytest.mark.parametrize("adapter", ANSWERS)
def test_answers(adapter: str) -> None:
    run(ROUNDS, lambda seed: problems(of_answer(adapter, ANSWERS[adapter](seed))))


@pytest.mark.parametrize("adapter", ANSWERS)
def test_streams(adapter: str) -> None:
    def found(seed: int) -> Iterator[str]:
        body = ANSWERS[adapter](seed)
        yield from problems(of_stream(adapter, body, STREAMS[adapter](body, random.Random(seed))))

    run(ROUNDS, found)
