"""
What each run is to be: whom to ask, how each of them fails, when the caller goes. All of it is drawn from the seed and the
number of the run. What the clock decides, which of two things comes first, is not, so each check holds whatever the order.
"""

import asyncio
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from client.six import every_wire
from client.upstream import Connection, Upstream

from chaos.faults import FAULTS, KEY, REFUSED, WHOLE_LIMIT, Fault, asked
from interlingua.client import Client
from interlingua.client.call import Limits
from interlingua.client.transport import Transport
from interlingua.events import Events
from interlingua.router import Health
from interlingua.router.health import Backoff

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

CANONICAL = "canonical"
"""The face over HTTP that speaks no provider's wire: Generate, as JSON."""
FACES = (
    "anthropic_messages",
    "openai_chat",
    "openai_responses",
    "gemini_generate",
    "ollama_chat",
    "bedrock_converse",
    "cohere_chat",
    CANONICAL,
)

MAX_CALLS = 12
IDLE_S = 1.0
CONNECT_S = 20.0
"""How long to wait for a connection. No provider lets one wait, so only a busy machine takes long over it."""


@dataclass(frozen=True)
class Failure:
    """A typed error that a caller was told: its category and code, all that it says, and what it says was paid.

    `told_as` has the categories that another one stands for, where the place of an error has no word for them.
    """

    category: str
    code: str = ""
    text: str = ""
    output_tokens: int | None = None
    told_as: Mapping[str, str] = field(default_factory=dict[str, str])


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
    face: str = ""
    encoding: str = ""
    dribbles: bool = False
    way_out: str = "close"
    seen: list[tuple[str, Fault]] = field(default_factory=list[tuple[str, Fault]])
    draining: bool = False
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    response: dict[str, Any] | None = None
    error: Any = None
    answer: Any = None
    left: bool = False
    violations: list[str] = field(default_factory=list[str])

    @property
    def first(self) -> str:
        """The fault that the first target of the chain begins with."""
        return self.faults[provider_of(self.chain[0])][0].name

    @property
    def said(self) -> str:
        """What the caller says, by which its provider knows the run; the second half must not stand in a log."""
        return f"run-{self.number}- confidential-{self.number}"


def provider_of(model: str) -> str:
    """The provider of a model."""
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
        faults[provider_of(model)] = [REFUSED] if provider_of(model) == NOBODY else kinds
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
        face=chance.choice(FACES),
        encoding=chance.choice(("", "", "gzip", "zstd", "br")),
        dribbles=chance.random() < 0.1,
        way_out=chance.choice(("close", "reset", "half")),
        chance=chance,
    )


class Providers:
    """All providers at one address: each call is answered as the plan of its run says."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = {run.number: run for run in runs}

    async def __call__(self, connection: Connection) -> None:
        """Answers one call."""
        provider = connection.head.split("/at-", 1)[1].split("/", 1)[0]
        found = re.search(rb"run-(\d+)-", connection.body)
        run = self.runs[int(found[1])] if found else None
        if run is None:
            raise AssertionError("a call of no run")
        if "ilk_" in connection.head:
            run.violations.append("a provider was sent the key of the caller")
        before = sum(1 for name, _ in run.seen if name == provider)
        faults = run.faults[provider]
        fault = faults[min(before, len(faults) - 1)]
        run.seen.append((provider, fault))
        await fault.play(connection, asked(connection, run.number, provider, fault, run.chance))


def client_of(upstream: Upstream, transport: Transport, events: Events) -> Client:
    """Who calls the providers."""
    names = sorted({provider_of(model) for model in (*TARGETS, RESPONSES)})
    return Client(
        transport,
        keys=dict.fromkeys(names, KEY),
        base_urls={name: f"{upstream.url}/at-{name}" for name in names} | {NOBODY: "http://127.0.0.1:9"},
        registry=every_wire(),
        limits=Limits(idle=IDLE_S, answer=WHOLE_LIMIT),
        retry="standard",
        health=Health(Backoff(threshold=4, base=0.02, cap=0.05)),
        sleep=_short_sleep,
        events=events,
    )


async def _short_sleep(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.005))
