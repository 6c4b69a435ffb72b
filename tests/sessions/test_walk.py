"""Random walks: after any sequence of actions, every rule holds and the rows of calls equal their rebuild: R-086."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from interlingua.canonical.errors import InterlinguaError
from interlingua.client import Bytes, Fail, Refuse, Say

from .conftest import CLAUDE, GPT, assistant, call, result, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]
STEPS = 60


def script(chance: random.Random) -> list[Any]:
    """Return answers of every kind."""
    kinds = (
        lambda: Say("words of an answer"),
        lambda: Say("look", calls=[("look", {"n": 1})]),
        lambda: Say("", calls=[("look", {}), ("hear", {})]),
        Fail,
        lambda: Refuse(400),
        lambda: Bytes([b'data: {"choices":[{"index":0,"delta":{"content":"wor'], breaks="network"),
    )
    return [chance.choices(kinds, (6, 4, 3, 1, 1, 1))[0]() for _ in range(STEPS)]


async def step(chats: list[Any], chance: random.Random, number: int) -> None:
    """Run one random action."""
    chat = chance.choice(chats)
    pending = await chat.calls("pending")
    members = {"loss_policy": {"unanswered": "placeholder"}, "max_output_tokens": 9}
    match chance.randrange(12):
        case 0 | 1:
            await chat.append(user(f"{number}"), key=f"{chance.randrange(5)}")
        case 2:
            await chat.append([assistant(call(f"tu_{chance.randrange(9):026d}")), user()])
        case 3 | 4 | 5 if pending:
            await chat.append(result(chance.choice(pending).id, is_error=chance.random() < 0.3))
        case 3 | 4 | 5 | 6:
            await chat.say(f"{number}", **members)
        case 7 | 8:
            async with chat.stream(f"{number}", **members) as stream:
                async for _ in stream:
                    if chance.random() < 0.1:
                        break
        case 9:
            history = await chat.history()
            if history:
                await chat.append(user(f"instead {number}"), instead_of=chance.choice(history)["id"])
        case 10:
            history = await chat.history()
            chats.append(await chat.fork(chance.choice(history)["id"] if history else None))
        case _:
            await chat.swap(chance.choice([CLAUDE, GPT, "-"]))


@pytest.mark.timeout(240)
@pytest.mark.parametrize("seed", range(4))
async def test_every_rule_holds_after_every_step(open_sessions: Open, seed: int) -> None:
    """After each step, refused or executed, the session keeps all rules."""
    chance = random.Random(seed)
    sessions = await open_sessions(*script(chance), model=GPT)
    chats = [await sessions.create()]
    refused = 0
    for number in range(STEPS):
        sessions.client.health.succeeded(GPT)
        sessions.client.health.succeeded(CLAUDE)
        try:
            await step(chats, chance, number)
        except InterlinguaError:
            refused += 1
        for chat in chats[-2:]:
            assert await chat.check() == []
    assert refused < STEPS / 2
    for chat in chats:
        assert await chat.check() == []
        assert (await chat.info()).turn_until is None
        copied = await sessions.import_(await chat.export())
        assert await copied.check() == []
        assert [one.status for one in await copied.calls()] == [one.status for one in await chat.calls()]
