"""
A campaign: under load, kill one of two servers with SIGKILL at a seeded moment, start it again, and so on.

At the end every write that was acknowledged is stored once, no key is stored twice, every session passes `check` and is one
chain without a fork, and each watcher has got every event of its session once and in order.
"""

import asyncio
import random
import signal
from dataclasses import dataclass

from crash.killing import demand_sound

from interlingua.sessions import Chat, Sessions
from scale.load import Load, Seen
from scale.servers import LEASE_S, Stack


@dataclass
class Tally:
    """What a campaign has seen."""

    kills: int = 0
    acknowledged: int = 0
    repeated: int = 0
    resumed: int = 0
    conflicts: int = 0
    events: int = 0
    closed: int = 0
    served: tuple[int, ...] = ()


async def campaign(stack: Stack, kills: int, seed: int) -> Tally:
    """Kills that often, every fourth time gently; then looks at all that there is."""
    chance = random.Random(seed)
    load = Load(stack.address, seed)
    await load.start()
    for number in range(kills):
        await asyncio.sleep(chance.uniform(0.3, 2.0))
        load.demand_well()
        server = chance.choice(stack.servers)
        how = signal.SIGTERM if number % 4 == 3 else signal.SIGKILL
        await asyncio.to_thread(server.end, how)
        await asyncio.sleep(chance.uniform(0, 1))
        await asyncio.to_thread(server.start)
    tally = Tally(kills)
    async with Sessions(stack.url) as sessions:

        async def revisions() -> dict[str, int]:
            await asyncio.sleep(LEASE_S)  # turns that were killed are over by then
            await sessions.recover()
            return {one: (await sessions.info(one)).revision for one in load.seen}

        await load.stop(revisions)
        for session_id, seen in load.seen.items():
            tally.closed += await _demand_whole(sessions.chat(session_id), seen)
            tally.events += len(seen.events)
    tally.acknowledged, tally.repeated = load.acknowledged, load.repeated
    tally.resumed, tally.conflicts = load.resumed, load.conflicts
    tally.served = tuple(stack.served())
    return tally


async def _demand_whole(chat: Chat, seen: Seen) -> int:
    """Gives how many answers of a session broke off."""
    broken_off = await demand_sound(chat, seen.told)
    history = await chat.history(superseded=True)
    texts = [message["content"][0].get("text") for message in history if message["role"] == "user"]
    doubled = [key for key in seen.keys if texts.count(key) > 1]
    assert not doubled, f"stored twice: {doubled}"
    last = (await chat.info()).revision
    events: dict[int, dict[str, object]] = {}
    async for one in chat.watch():
        events[one.revision] = dict(one.event)
        if one.revision == last:
            break
    assert seen.events == [(revision, event["id"]) for revision, event in events.items()], "a watcher missed or doubled"
    # one chain: the events of appends name the messages in the order in which they stand, and each writer was told its place
    chain: list[str] = []
    for revision, event in events.items():
        if event["type"] == "message.appended":
            ids = event["payload"]["message_ids"]  # type: ignore[index]
            chain += ids
            assert seen.appended.get(revision, ids) == ids, "a revision was given to two appends"
    assert set(seen.appended) <= set(events)
    assert chain == [message["id"] for message in history], "the history is not the chain of its events"
    return broken_off
