"""
A campaign: start the load, kill it with SIGKILL at a seeded moment, start it again; in between look at what is stored.

After each kill every write that was acknowledged is there exactly once, every session passes `check`, the rows of its calls
equal those made from its messages, and its events have neither gap nor double. What was being streamed is a message of
status `error` when its lease has ended.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from crash.load import LEASE_S
from interlingua.sessions import Chat, Sessions

TESTS = Path(__file__).resolve().parents[1]


@dataclass
class Tally:
    """What a campaign has seen."""

    kills: int = 0
    acknowledged: int = 0
    sessions: int = 0
    broken_off: dict[str, int] = field(default_factory=dict)
    told: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    @property
    def closed(self) -> int:
        """How many answers were closed that a killed process had begun."""
        return sum(self.broken_off.values())


def campaign(url: str, kills: int, seed: int, *, every: int = 5) -> Tally:
    """Kills that often; looks after each kill at what was acknowledged since, and at all of it after every few."""
    chance = random.Random(seed)
    tally = Tally()
    for number in range(kills):
        new = _killed(url, chance.randrange(1 << 30), f"k{number}", chance.uniform(0.05, 1.5))
        for session_id, message_id, key in new:
            tally.told.setdefault(session_id, []).append((message_id, key))
        tally.kills += 1
        tally.acknowledged += len(new)
        if (number + 1) % every == 0 or number + 1 == kills:
            asyncio.run(_look(url, tally))
    tally.sessions = len(tally.told)
    return tally


def _killed(url: str, seed: int, name: str, after: float) -> list[tuple[str, str, str]]:
    """What one process told before it was killed, so many seconds after it was ready."""
    command = [sys.executable, "-m", "crash.load", url, str(seed), name]
    paths = [str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    first = process.stdout.readline()
    if first != b"ready\n":
        process.kill()
        raise AssertionError(f"the load did not begin: exit {process.wait()}")
    time.sleep(after)
    assert process.poll() is None, "the load ended by itself"
    process.send_signal(signal.SIGKILL)
    told = process.communicate()[0].decode()
    lines = [line.split(" ") for line in told.splitlines(keepends=True) if line.endswith("\n")]
    return [(session_id, message_id, key.strip()) for session_id, message_id, key in lines]


async def _look(url: str, tally: Tally) -> None:
    await asyncio.sleep(LEASE_S + 0.05)
    async with Sessions(url) as sessions:
        for session_id, told in tally.told.items():
            tally.broken_off[session_id] = await demand_sound(sessions.chat(session_id), told)


async def demand_sound(chat: Chat, told: list[tuple[str, str]]) -> int:
    """Demands that a session is sound and has what was told of: ids of messages, and the key that is the text of some.
    Gives how many of its answers broke off."""
    history = await chat.history(superseded=True)
    counts = Counter(message["id"] for message in history)
    assert set(counts.values()) <= {1}
    missing = [message_id for message_id, _ in told if message_id not in counts]
    assert not missing, f"{len(missing)} acknowledged messages are lost"
    texts = Counter((message["role"], message["content"][0].get("text")) for message in history)
    doubled = [key for _, key in told if key and (texts["user", key], texts["system", key]) != (1, 1)]
    assert not doubled, f"appended otherwise than once: {doubled}"
    assert await chat.check() == []
    statuses = Counter(message["metadata"]["status"] for message in history)
    assert not statuses["partial"], "a partial answer was left open"
    revision = (await chat.info()).revision
    seen = 0
    async for one in chat.watch():
        seen += 1
        assert one.revision == seen
        if seen == revision:
            break
    return statuses["error"]
