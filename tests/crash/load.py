"""
The process that is killed: many writers in few sessions, some of which append and some of which stream answers.

It prints a line for each write that was acknowledged, after it was. Run as a program: `python -m crash.load URL SEED NAME`.
"""

import asyncio
import os
import random
import sys
from typing import Any

from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Client, FakeTransport, Say
from interlingua.client.replay import open_registry
from interlingua.sessions import Conflict, Sessions

WRITERS = 6
SESSIONS = 4
LEASE_S = 0.4


class Endless(FakeTransport):
    """A provider that always has an answer: words, slowly, and now and then a call."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance

    async def send(self, *given: Any) -> Any:
        """Takes a step of its own making."""
        words = " ".join(f"word{number}" for number in range(self._chance.randint(2, 12)))
        calls = [("look", {"at": self._chance.random()})] if self._chance.random() < 0.4 else []
        self._steps = [Say(words, calls=calls, pause=self._chance.random() * 0.01)]
        return await super().send(*given)


async def write(sessions: Sessions, ids: list[str], chance: random.Random, name: str) -> None:
    """One writer: appends under keys of its own, answers calls, asks for answers; tells what was acknowledged."""
    for number in range(10_000):
        chat = sessions.chat(chance.choice(ids))
        key = f"{name}.{number}"
        message = {"role": "user", "content": [{"type": "text", "text": key}]}
        try:
            await act(chat, message, key, chance)
        except Conflict:
            await asyncio.sleep(chance.random() * 0.02)


async def act(chat: Any, message: dict[str, Any], key: str, chance: random.Random) -> None:
    """One write."""
    pending = await chat.calls("pending")
    if pending:
        call = chance.choice(pending).id
        block = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "seen"}]}
        given = {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": call}}
        try:
            done = await chat.append(given, expected=(await chat.info()).revision)
        except InvalidRequest:
            return  # another writer has answered it
        tell(chat.id, done.messages[0]["id"], "")
    elif chance.random() < 0.5:
        done = await chat.append([message, {**message, "role": "system"}], key=key)
        for stored in done.messages:
            tell(chat.id, stored["id"], key)
    else:
        # what another writer's answer has just called need not be answered yet
        async with chat.stream(message, key=key, loss_policy={"unanswered": "placeholder"}) as stream:
            async for _ in stream:
                pass
        tell(chat.id, stream.response["message"]["id"], "")


def tell(session_id: str, message_id: str, key: str) -> None:
    """Says that a write was acknowledged."""
    os.write(1, f"{session_id} {message_id} {key}\n".encode())


async def main(url: str, seed: int, name: str) -> None:
    """Writes until it is killed."""
    chance = random.Random(seed)
    client = Client(Endless(chance), registry=open_registry(), retry="none")
    options: dict[str, Any] = {"model": "anthropic:claude-sonnet-4-6", "lease": LEASE_S, "checkpoint": 0.01}
    async with Sessions(url, client=client, **options) as sessions:
        ids = [info.id for info in await sessions.latest(SESSIONS)]
        while len(ids) < SESSIONS:
            ids.append((await sessions.create()).id)
        os.write(1, b"ready\n")
        await asyncio.gather(*(write(sessions, ids, chance, f"{name}.{place}") for place in range(WRITERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
