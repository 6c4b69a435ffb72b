"""
Callers of the servers: writers that repeat a call which broke off with the same key, and watchers that go on behind their
cursor. They know one address, and nothing of who is behind it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
import grpc.aio
from service.sessions_served import info

from interlingua.canonical import json
from interlingua.canonical.ids import encode_ulid
from interlingua.service import server
from interlingua.v1 import sessions_pb2 as messages
from interlingua.v1.sessions_pb2_grpc import SessionServiceStub

T = TypeVar("T")
SESSIONS, WRITERS = 12, 10
PATIENCE_S = 90.0
"""How long a caller goes on asking for one thing before that is a failure."""

MODELS = ("replay:claude-sonnet-4-6", "replay:gpt-5.4")
TOOLS = [{"name": "read_gauge", "input_schema": {"type": "object"}}]
_BROKE_OFF = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
)


@dataclass
class Seen:
    """What callers were told of one session. `appended` has the revision and the ids of each append, `told` the ids of
    messages with their keys, `keys` every key that was ever sent, `events` what the watcher got."""

    appended: dict[int, list[str]] = field(default_factory=dict)
    told: list[tuple[str, str]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    events: list[tuple[int, str]] = field(default_factory=list)


class Load:
    """All callers."""

    def __init__(self, address: str, seed: int) -> None:
        self._channel = grpc.aio.insecure_channel(address, options=list(server.CLIENT_OPTIONS))
        self._stub: Any = SessionServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._seed = seed
        self._stopped = asyncio.Event()
        self._writers: list[asyncio.Task[None]] = []
        self._watchers: dict[str, asyncio.Task[None]] = {}
        self.seen: dict[str, Seen] = {}
        self.repeated = self.resumed = self.conflicts = 0

    @property
    def acknowledged(self) -> int:
        """How many writes were acknowledged."""
        return sum(len(one.told) for one in self.seen.values())

    async def start(self) -> None:
        """Makes the sessions, and begins to write and to watch."""
        for number in range(SESSIONS):
            made = await self._stub.CreateSession(messages.CreateSessionRequest(model=MODELS[number % 2]), timeout=30)
            self.seen[made.session.id] = Seen()
        self._watchers = {one: asyncio.create_task(self._watch(one)) for one in self.seen}
        self._writers = [asyncio.create_task(self._write(number)) for number in range(WRITERS)]

    def demand_well(self) -> None:
        """Raises what a caller has failed with."""
        for task in [*self._writers, *self._watchers.values()]:
            if task.done():
                task.result()

    async def stop(self, revisions: Callable[[], Awaitable[dict[str, int]]]) -> None:
        """Lets what was begun come to its end, and each watcher see the last revision of its session."""
        self._stopped.set()
        await asyncio.gather(*self._writers)
        for task in self._watchers.values():
            task.cancel()
        ended = await asyncio.gather(*self._watchers.values(), return_exceptions=True)
        for one in ended:
            if isinstance(one, Exception):
                raise one
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(self._watch(one, last) for one, last in (await revisions()).items()))
        await self._channel.close()

    # ---------------------------------------------------------------------------------------------- watching

    async def _watch(self, session_id: str, last: int | None = None) -> None:
        """Watches from where it was, up to a last revision if one is named, over all interruptions."""
        events = self.seen[session_id].events
        while last is None or not events or events[-1][0] < last:
            after = events[-1][0] if events else 0
            try:
                async for one in self._stub.WatchSession(
                    messages.WatchSessionRequest(session_id=session_id, after_revision=after)
                ):
                    events.append((one.revision, one.event.id))
                    if one.revision == last:
                        break
            except grpc.aio.AioRpcError as problem:
                if problem.code() not in _BROKE_OFF:
                    raise
                self.resumed += 1
                await asyncio.sleep(0.05)

    # ---------------------------------------------------------------------------------------------- writing

    async def _write(self, place: int) -> None:
        chance = random.Random(f"{self._seed}.{place}")
        number = 0
        while not self._stopped.is_set():
            number += 1
            session_id = chance.choice(list(self.seen))
            await self._act(session_id, f"w{place}.{number}", chance)
            await asyncio.sleep(chance.random() * 0.05)

    async def _act(self, session_id: str, key: str, chance: random.Random) -> None:
        seen = self.seen[session_id]
        if chance.random() < 0.3 and (call := await self._pending(session_id)):
            block = {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": "seen"}]}
            given = [
                {"role": "tool", "content": [block], "metadata": {"parent_tool_use_id": call}},
                _text("user", "Go on."),
            ]
            await self._append(session_id, given, key, seen, pair=False)
        elif chance.random() < 0.6:
            seen.keys.append(key)
            expected = await self._revision(session_id) if chance.random() < 0.5 else None
            # the user's word comes last, for that is what the played provider answers
            given = [_text("system", key), *_call(chance), _text("user", key)]
            await self._append(session_id, given, key, seen, expected=expected)
        else:
            seen.keys.append(key)
            with suppress(_Conflict):  # its turn was taken for abandoned: what had arrived is stored as that
                seen.told.append((await self._asked(lambda: self._answer(session_id, key)), ""))

    async def _append(
        self,
        session_id: str,
        given: list[Any],
        key: str,
        seen: Seen,
        *,
        expected: int | None = None,
        pair: bool = True,
    ) -> None:
        while True:
            request = messages.AppendMessagesRequest(
                session_id=session_id, messages_json=json.dumps(given).decode(), client_key=key
            )
            if expected is not None:
                request.expected_revision = expected
            try:
                done = await self._asked(lambda request=request: self._stub.AppendMessages(request, timeout=30))
                break
            except _Conflict:  # another writer was first
                if not pair:
                    return
                expected = await self._revision(session_id)
            except _Refused:  # another writer has answered the call
                return
        ids = [message.id for message in done.messages]
        assert seen.appended.setdefault(done.revision, ids) == ids, "two appends have one revision"
        # a key is the text of the first message and of the last
        seen.told += [(one, key if pair and one in (ids[0], ids[-1]) else "") for one in ids]

    async def _answer(self, session_id: str, key: str) -> str:
        """The id of the answer to what is said."""
        request = {
            "messages": [_text("user", key)],
            "tools": TOOLS,
            "loss_policy": {"unanswered": "placeholder"},
        }
        asked = messages.GenerateInSessionRequest(
            session_id=session_id, request_json=json.dumps(request).decode(), client_key=key
        )
        last: Any = None
        async for one in self._stub.GenerateInSession(asked, timeout=30):
            last = one.event
        assert last is not None
        assert last.WhichOneof("event") == "message_complete", "an answer that ended without its end"
        answer: str = last.message_complete.response.message.id
        return answer

    async def _pending(self, session_id: str) -> str:
        asked = messages.ListToolCallsRequest(session_id=session_id, status="pending")
        found = await self._asked(lambda: self._stub.ListToolCalls(asked, timeout=30))
        return found.calls[0].id if found.calls else ""

    async def _revision(self, session_id: str) -> int:
        asked = messages.GetSessionRequest(session_id=session_id)
        found: int = (await self._asked(lambda: self._stub.GetSession(asked, timeout=30))).session.revision
        return found

    async def _asked(self, call: Callable[[], Awaitable[T]]) -> T:
        """What a call gives, which is made again as long as it breaks off or the session's turn goes on."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    return await call()
                except grpc.aio.AioRpcError as problem:
                    if problem.code() in _BROKE_OFF:
                        self.repeated += 1
                    elif problem.code() is grpc.StatusCode.ABORTED:
                        self.conflicts += 1
                        if info(problem).metadata["code"] == "conflict":
                            raise _Conflict from None
                    elif problem.code() is grpc.StatusCode.INVALID_ARGUMENT:
                        raise _Refused from problem
                    else:
                        raise
                await asyncio.sleep(0.05)


def _text(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}]}


def _call(chance: random.Random) -> list[dict[str, Any]]:
    """Now and then an answer with a call of a tool."""
    if chance.random() < 0.7:
        return []
    call = {"type": "tool_use", "id": f"tu_{encode_ulid(chance.getrandbits(127))}", "name": "read_gauge", "input": {}}
    return [{"role": "assistant", "content": [call]}]


class _Conflict(Exception):
    """The session has changed since."""


class _Refused(Exception):
    """The call is not valid (any more)."""
