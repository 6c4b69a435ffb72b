"""
The session store beside its own drivers: `make bench` runs this after the service.

Every figure is a ratio to the floor of the same engine, driver, durability and bytes, rounds alternating in one run: INSERTs
of the very rows that an append stores and a COMMIT, made and encoded beforehand; or a SELECT and a JSON decoding of what it
gives. A rate is that of many callers at a time; what one caller waits for is told beside it and has no budget
(spec/decisions/0027). PostgreSQL is left out, and that is said, where its programs are not installed.
"""

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import orjson
from workload import conversation

from interlingua.sessions import Chat, Sessions, open_storage
from interlingua.sessions.rows import EventRow, MessageRow, Rows, SessionRow

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from sessions import cluster

CALLERS = 64
THREADS = 8
"""As many as sessions have by default, and so as many connections."""
SELECT = "SELECT content_json, metadata_json FROM messages WHERE session_id = ? ORDER BY id"


def insert_into(table: str, columns: tuple[str, ...]) -> str:
    """The statement that adds a row."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


MESSAGE = insert_into("messages", MessageRow._fields)
EVENT = insert_into("events", EventRow._fields)
SESSION = "UPDATE sessions SET updated_at = ?, revision = ?, last_message_id = ? WHERE id = ?"


class Stored(NamedTuple):
    """What one append stores: its messages, its event, what it changes in the session."""

    messages: list[MessageRow]
    event: EventRow
    session: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Engine:
    """A database to measure on, a second one for the bare driver, and that driver: it writes what appends store, each in a
    transaction, `at_once` of them at a time, and reads the JSON texts of a session of the first."""

    name: str
    url: str
    bare_url: str
    write: Callable[[Stored], None]
    select: Callable[[str], list[tuple[str, str]]]
    at_once: int


@contextmanager
def sqlite_engine() -> Iterator[Engine]:
    """SQLite in a file, written to the disk at each COMMIT."""
    with tempfile.TemporaryDirectory() as folder:
        url, bare_url = f"sqlite:///{folder}/chats.db", f"sqlite:///{folder}/bare.db"
        open_storage(url).close()
        open_storage(bare_url).close()
        bare = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
        bare.execute("PRAGMA synchronous = FULL")
        bare.execute("PRAGMA foreign_keys = ON")
        store = sqlite3.connect(f"{folder}/chats.db", isolation_level=None)

        def write(stored: Stored) -> None:
            bare.execute("BEGIN IMMEDIATE")
            bare.executemany(MESSAGE, stored.messages)
            bare.execute(EVENT, stored.event)
            bare.execute(SESSION, stored.session)
            bare.execute("COMMIT")

        def select(session: str) -> list[tuple[str, str]]:
            return store.execute(SELECT, (session,)).fetchall()

        yield Engine("SQLite", url, bare_url, write, select, 1)
        bare.close()
        store.close()


@contextmanager
def postgresql_engine() -> Iterator[Engine]:
    """PostgreSQL on a socket, written to the disk at each COMMIT."""
    import queue

    import psycopg

    message, event, session, asked = (one.replace("?", "%s") for one in (MESSAGE, EVENT, SESSION, SELECT))
    with cluster.running(durable=True) as url:
        store = psycopg.connect(url, autocommit=True)
        store.execute("CREATE SCHEMA bare")
        bare_url = f"{url}&options={quote('-csearch_path=bare')}"
        open_storage(url).close()
        open_storage(bare_url).close()
        idle: queue.SimpleQueue[psycopg.Connection[Any]] = queue.SimpleQueue()
        connections = [psycopg.connect(bare_url, autocommit=True) for _ in range(THREADS)]
        for one in connections:
            idle.put(one)

        def write(stored: Stored) -> None:
            connection = idle.get()
            with connection.transaction():
                if len(stored.messages) == 1:
                    connection.execute(message, stored.messages[0])
                else:
                    connection.cursor().executemany(message, stored.messages)
                connection.execute(event, stored.event)
                connection.execute(session, stored.session)
            idle.put(connection)

        def select(session: str) -> list[tuple[str, str]]:
            return store.execute(asked, (session,)).fetchall()

        yield Engine("PostgreSQL", url, bare_url, write, select, THREADS)
        for one in (*connections, store):
            one.close()


class Bare:
    """The floor: rows as appends have stored them in as many sessions as there are callers, under ids of their own, written
    by the driver alone."""

    def __init__(self, engine: Engine, stored: dict[int, list[Stored]]) -> None:
        self._engine = engine
        self._of = stored
        self._number = 0
        self._threads = ThreadPoolExecutor(engine.at_once)

    @classmethod
    async def of(cls, engine: Engine, sizes: dict[int, int]) -> "Bare":
        """Appends once of each size, in so many sessions, and takes what was stored."""
        found: dict[int, list[Stored]] = {}
        async with Sessions(engine.bare_url) as sessions:
            for size, callers in sizes.items():
                for _ in range(callers):
                    chat = await sessions.create()
                    await chat.append([plain(number) for number in range(size)])

                    def stored(rows: Rows, chat: Chat = chat) -> Stored:
                        row = rows.session(chat.id)
                        assert isinstance(row, SessionRow)
                        session = (row.updated_at, row.revision, row.last_message_id, row.id)
                        return Stored(rows.messages(chat.id), rows.events(chat.id, 0, 9)[-1], session)

                    found.setdefault(size, []).append(await sessions.read(stored))
        return cls(engine, found)

    def made(self, size: int, caller: int = 0) -> Stored:
        """The same again, with what must differ."""
        messages, event, (updated_at, revision, _, session_id) = self._of[size][caller]
        ids = [f"{self._number + number:026d}" for number in range(size)]
        self._number += size
        at = self._number
        return Stored(
            [row._replace(id=one, created_at=row.created_at + at) for row, one in zip(messages, ids, strict=True)],
            event._replace(revision=revision + at, id=ids[0]),
            (updated_at + at, revision + at, ids[-1], session_id),
        )

    def write(self, stored: Stored) -> None:
        """In a transaction."""
        self._engine.write(stored)

    def write_all(self, stored: list[Stored]) -> None:
        """Each in a transaction, as many at a time as the engine takes well."""
        if self._engine.at_once == 1:
            for one in stored:
                self._engine.write(one)
        else:
            list(self._threads.map(self._engine.write, stored))


def messages(count: int) -> list[dict[str, Any]]:
    """Turns of an agent, whose calls have ids of their own."""
    return [{**message, "metadata": message.get("metadata", {})} for message in conversation(count)["messages"]]


def plain(number: int) -> dict[str, Any]:
    """A message of half a kilobyte."""
    return {"role": "user", "content": [{"type": "text", "text": f"{number:06d} " + "What does the gauge say? " * 20}]}


async def timed(work: Awaitable[Any]) -> float:
    """How long some work takes, in seconds."""
    begun = time.perf_counter()
    await work
    return time.perf_counter() - begun


class Bench:
    """The measurements on one engine."""

    def __init__(self, engine: Engine, sessions: Sessions, bare: Bare, rounds: int) -> None:
        self._engine = engine
        self._sessions = sessions
        self._bare = bare
        self._rounds = rounds

    async def append(self, size: int) -> list[float]:
        """How long the appends of one caller take, in bare inserts of the same bytes: of `size` messages at a time."""
        chat = await self._sessions.create()
        count = 200 if size == 1 else 30
        ratios: list[float] = []
        for _ in range(self._rounds):
            floors: list[float] = []
            ours: list[float] = []
            for _ in range(count):
                batch = [plain(number) for number in range(size)]
                stored = self._bare.made(size)
                begun = time.perf_counter()
                self._bare.write(stored)
                floors.append(time.perf_counter() - begun)
                ours.append(await timed(chat.append(batch)))
            ratios.append(statistics.median(ours) / statistics.median(floors))
        return ratios

    async def rate(self, callers: int, size: int) -> list[float]:
        """How long the appends of callers take, each of `size` messages in a session of its own, in bare inserts of the same
        bytes."""
        chats = [await self._sessions.create() for _ in range(callers)]
        ratios: list[float] = []
        for _ in range(self._rounds):
            # the disk has moods of seconds: floor and subject take turns, and the middle one of each counts
            floors: list[float] = []
            ours: list[float] = []
            for number in range(20):
                drafts = [[plain(number) for _ in range(size)] for _ in chats]
                stored = [self._bare.made(size, caller) for caller in range(callers)]
                begun = time.perf_counter()
                self._bare.write_all(stored)
                floors.append(time.perf_counter() - begun)
                appends = [chat.append(draft) for chat, draft in zip(chats, drafts, strict=True)]
                ours.append(await timed(asyncio.gather(*appends)))
            ratios.append(statistics.median(ours) / statistics.median(floors))
        return ratios

    async def history(self, count: int) -> list[float]:
        """How much processor time reading and checking takes, in selects and JSON decodings of the same bytes."""
        chat = await self._sessions.create()
        await chat.append(messages(count))
        ratios: list[float] = []
        for _ in range(self._rounds):
            times: list[list[float]] = [[], []]
            for _ in range(20):
                begun = time.process_time()
                held = [(orjson.loads(one), orjson.loads(other)) for one, other in self._engine.select(chat.id)]
                between = time.process_time()
                history = await chat.history(validated=True)
                times[0].append(between - begun)
                times[1].append(time.process_time() - between)
                if len(held) != len(history):
                    raise AssertionError("other messages")
            ratios.append(statistics.median(times[1]) / statistics.median(times[0]))
        return ratios

    async def growth(self, small: int, large: int) -> list[float]:
        """How long an append takes in a long session, in appends to a short one."""
        chats = [await self._sessions.create() for _ in range(2)]
        for chat, size in zip(chats, (small, large), strict=True):
            for start in range(0, size, 1000):
                await chat.append([plain(number) for number in range(start, min(size, start + 1000))])
        ratios: list[float] = []
        for _ in range(self._rounds):
            times: list[list[float]] = [[], []]
            for number in range(100):
                for chat, found in zip(chats, times, strict=True):
                    found.append(await timed(chat.append(plain(number))))
            ratios.append(statistics.median(times[1]) / statistics.median(times[0]))
        return ratios


async def measured(engine: Engine, rounds: int) -> bool:
    """Prints the table of an engine; whether all of it is in its budget."""
    good = True
    bare = await Bare.of(engine, {1: CALLERS, 100: THREADS})
    async with Sessions(engine.url) as sessions:
        bench = Bench(engine, sessions, bare, rounds)
        for name, work, budget in (
            (f"appends of {CALLERS} callers, to bare inserts", bench.rate(CALLERS, 1), 1 / 0.7),
            (f"appends of 100 messages, {THREADS} callers, to bare inserts", bench.rate(THREADS, 100), 1 / 0.7),
            ("an append of one caller, to a bare insert", bench.append(1), None),
            ("an append of 100 messages, one caller, to a bare insert", bench.append(100), None),
            ("1,000 messages read and validated, to SELECT and decode", bench.history(1000), 8),
            ("an append at 100,000 messages, to one at 100", bench.growth(100, 100_000), 1.2),
        ):
            ratios = await work
            ratio = statistics.median(ratios)
            over = budget is not None and ratio > budget
            good = good and not over
            limit = "-" if budget is None else f"{budget:.2f}x"
            print(
                f"{engine.name + ': ' + name:72} {ratio:6.2f}x {min(ratios):6.2f}x {limit:>7}"
                f"{'  over budget' if over else ''}",
                flush=True,
            )
    return good


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Ratios of the session store to its bare drivers.")
    parser.add_argument("--rounds", type=int, default=9)
    options, _ = parser.parse_known_args()
    print(f"{'work':72} {'ratio':>7} {'best':>7} {'budget':>7}")
    good = True
    with sqlite_engine() as engine:
        good = asyncio.run(measured(engine, options.rounds)) and good
    if cluster.programs() is None:
        print(cluster.MISSING)
        return 0 if good else 1
    with postgresql_engine() as engine:
        good = asyncio.run(measured(engine, options.rounds)) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
