"""
Traffic that nobody recorded: requests, answers and streams of the types of the SDKs of OpenAI and of Mistral, which speaks
a dialect of Chat, through every wire.

What an adapter has to do with recorded traffic (`tools/corpus.py`), it has to do with all that the types allow.
`TYPED_ROUNDS=5000 make oracles ARGS="-k typed_openai"` runs it at length, `TYPED_SEED` elsewhere.
"""

import logging
import os
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typed_mistral
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
    ("invalid_request", re.compile("/messages")),  # nobody said anything that can be sent
    (
        "unsupported",
        re.compile(r"/messages/\d+"),
    ),  # a prefill, or a result behind a later turn, that the model does not take
)
"""What may be refused of a request that hangs together: categories, and the places of the errors."""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of blocks are dropped, and all of them are in the reports."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


Check = Callable[[], str | None]
Refusals = tuple[tuple[str, re.Pattern[str]], ...]


@dataclass(frozen=True)
class Wire:
    """Whose types they are, and what is made of them."""

    adapter: str
    provider: str
    request: Callable[..., Data]
    answer: Callable[[int], Data]
    stream: Callable[[Data, random.Random], str]

    def __str__(self) -> str:
        return f"{self.adapter}-{self.provider}"

    def here(self, model: str | None) -> Endpoint:
        """The provider."""
        return registry.endpoint(adapter=self.adapter, provider=self.provider, model=model)


CHAT = Wire("openai_chat", "openai", typed_openai.chat_request, typed_openai.chat_answer, typed_openai.chat_stream)
RESPONSES = Wire(
    "openai_responses",
    "openai",
    typed_openai.responses_request,
    typed_openai.responses_answer,
    typed_openai.responses_stream,
)
MISTRAL = Wire("openai_chat", "mistral", typed_mistral.request, typed_mistral.answer, typed_mistral.stream)
ALL = [pytest.param(wire, id=str(wire)) for wire in (CHAT, RESPONSES, MISTRAL)]


def there(wire: Wire, other: str, endpoint: Endpoint) -> Endpoint:
    """Whom the traffic is for."""
    return endpoint if other == wire.adapter else registry.endpoint(adapter=other, model=TARGETS.get(other, "a-model"))


def problems(checks: Iterator[tuple[str, Check]], refusals: Refusals | None = ()) -> Iterator[str]:
    """What does not hold; `refusals` are the typed errors that are as good as a result, None for any."""
    for name, check in checks:
        try:
            problem = check()
        except InterlinguaError as error:
            problem = f"{error.category}: {error.message} at {error.path}"
            if refusals is None or any(
                error.category == category and place.fullmatch(error.path or "") for category, place in refusals
            ):
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


def of_request(wire: Wire, body: Data) -> Iterator[tuple[str, Check]]:
    """There and back; and to every other wire by the law, as its provider takes it."""
    endpoint = wire.here(body.get("model") or None)
    entry = {"request": body}
    yield "same wire", lambda: corpus.check_request(wire.adapter, entry, endpoint)
    request, _ = adapters.get(wire.adapter).from_wire_request(corpus._wire(entry), endpoint, DERIVED_IDS)
    for other in adapters.names():
        yield other, lambda other=other: _carried(request, wire, other, endpoint)


def _carried(request: Data, wire: Wire, other: str, endpoint: Endpoint) -> str | None:
    problem, written = corpus.check_law(request, there(wire, other, endpoint))
    broken = corpus.oracles.violations(other, written) if other != wire.adapter and problem is None else []
    return f"invalid: {broken[0]}" if broken else problem


@pytest.mark.parametrize("wire", ALL)
def test_requests(wire: Wire) -> None:
    run(ROUNDS, lambda seed: problems(of_request(wire, wire.request(seed)), REFUSALS))


@pytest.mark.parametrize("wire", ALL[:2])
def test_requests_that_do_not_hang_together(wire: Wire) -> None:
    """A result or a typed error."""

    def found(seed: int) -> Iterator[str]:
        try:
            checks = list(of_request(wire, wire.request(seed, careful=False)))
        except InterlinguaError:
            return
        yield from problems(iter(checks), None)

    run(ROUNDS // 2, found)


# --- answers and streams ------------------------------------------------------------------------------------------------


def of_answer(wire: Wire, body: Data) -> Iterator[tuple[str, Check]]:
    """There and back; to every wire by the law; and into the next request."""
    endpoint = wire.here(body["model"])
    yield "same wire", lambda: corpus.check_response(wire.adapter, {"response": body}, endpoint)
    response, _ = adapters.get(wire.adapter).from_wire_response(body, endpoint, DERIVED_IDS)
    for other in adapters.names():
        yield other, lambda other=other: corpus.check_answer_law(response, there(wire, other, endpoint))
    if (request := _next_request(response)) is not None:
        for other in adapters.names():
            yield f"{other}, next", lambda other=other: corpus.check_law(request, there(wire, other, endpoint))[0]


def _next_request(response: Data) -> Data | None:
    """The request that goes on with an answer; None where its calls share an id, or it said nothing."""
    message = response["message"]
    calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    if len(set(calls)) < len(calls) or not message["content"]:
        return None
    said = [{"type": "text", "text": "ok"}]
    results = [{"type": "tool_result", "tool_use_id": call, "content": said} for call in calls]
    told = [{"role": "tool", "content": [block]} for block in results]
    question = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    return {"messages": [question, message, *told, question]}


def of_stream(wire: Wire, body: Data, text: str) -> Iterator[tuple[str, Check]]:
    """The answer that it tells, whatever the cuts; and to every wire by the law."""
    endpoint = wire.here(body["model"])
    entry = {"stream": text}
    if len(text) < LONG:
        yield "cuts", lambda: corpus.check_cuts(wire.adapter, entry, endpoint)
    events = corpus._events([text.encode()], endpoint)
    if body.get("status") == "failed":
        yield "failure", lambda: _failed(events[-1])
        return
    yield "read", lambda: corpus.check_stream(wire.adapter, entry, endpoint)
    yield "deltas", lambda: _added_up(events)
    if not any(_is_listed(choice) for choice in body.get("choices", ())):
        yield "fold", lambda: _told(wire, body, events, endpoint)
    for other in adapters.names():
        yield other, lambda other=other: corpus.check_stream_law(events, there(wire, other, endpoint))


def _added_up(events: list[Data]) -> str | None:
    """Whether the deltas of texts and of reasoning are their words."""
    told: dict[tuple[int, int], str] = {}
    for event in events:
        place = (event.get("choice", 0), event.get("index", 0))
        if event["type"] in ("text_delta", "thinking_delta"):
            told[place] = told.get(place, "") + event["text"]
        elif event["type"] == "block_stop" and event["block"]["type"] in ("text", "thinking"):
            if told.get(place, "") != event["block"]["text"]:
                return f"deltas of {place} are not the text of their block"
    return None


def _is_listed(choice: Data) -> bool:
    """Whether content is a list: of that, what comes in pieces adds up to one part."""
    return isinstance(choice["message"].get("content"), list)


def _told(wire: Wire, body: Data, events: list[Data], endpoint: Endpoint) -> str | None:
    """Whether a stream tells what the whole answer says."""
    whole, _ = adapters.get(wire.adapter).from_wire_response(body, endpoint, DERIVED_IDS)
    return difference(_meant(whole), _meant(fold(events)))


def _failed(last: Data) -> str | None:
    """Whether an answer that failed ends as an error of a known kind."""
    category = last["error"]["category"] if last["type"] == "error" else last["type"]
    return f"ends as {category}, {last['error'].get('code')}" if category in ("other", "message_complete") else None


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
        made.pop("encoding", None)
        return made if len(made) > 2 else {}
    return made


@pytest.mark.parametrize("wire", ALL)
def test_answers(wire: Wire) -> None:
    run(ROUNDS, lambda seed: problems(of_answer(wire, wire.answer(seed)), REFUSALS))


@pytest.mark.parametrize("wire", ALL)
def test_streams(wire: Wire) -> None:
    def found(seed: int) -> Iterator[str]:
        body = wire.answer(seed)
        yield from problems(of_stream(wire, body, wire.stream(body, random.Random(seed))))

    run(ROUNDS, found)
