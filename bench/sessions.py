"""
The session store beside its own drivers: `make bench` runs this after the service.

Every figure is a ratio to the floor of the same engine, driver, durability and bytes, rounds alternating in one run: a bare
INSERT into the seed's table of messages and a COMMIT, or a SELECT and a JSON decoding of what it gives. PostgreSQL is left
out, and that is said, where its programs are not installed.
"""

import argparse
import asyncio
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from workload import conversation

from interlingua.sessions import Sessions, tables

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from sessions import cluster

Insert = Callable[[list[tuple[Any, ...]]], None]
COLUMNS = "id, session_id, role, content_json, metadata_json, created_at, schema_version"


@dataclass(frozen=True, slots=True)
class Engine:
    """A database to measure on: its URL, and the bare driver: rows in one transaction, and the JSON texts of a session."""

    name: str
    url: str
    insert: Insert
    select: Callable[[str], list[tuple[str, str]]]


@contextmanager
def sqlite_engine() -> Iterator[Engine]:
    """SQLite in a file, written to the disk at each COMMIT."""
    with tempfile.TemporaryDirectory() as folder:
        bare = sqlite3.connect(f"{folder}/bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode = WAL")
        bare.execute("PRAGMA synchronous = FULL")
        for statement in tables.SEED:
            bare.execute(statement)
        bare.execute("INSERT INTO sessions VALUES ('s', '', NULL, NULL, 1, 1, 1)")

        def insert(rows: list[tuple[Any, ...]]) -> None:
            bare.execute("BEGIN IMMEDIATE")
            bare.executemany(f"INSERT INTO messages ({COLUMNS}) VALUES (?, 's', ?, ?, ?, ?, 1)", rows)
            bare.execute("COMMIT")

        store = sqlite3.connect(f"{folder}/chats.db", isolation_level=None)

        def select(session: str) -> list[tuple[str, str]]:
            asked = "SELECT content_json, metadata_json FROM messages WHERE session_id = ? ORDER BY id"
            return store.execute(asked, (session,)).fetchall()

        yield Engine("SQLite", f"sqlite:///{folder}/chats.db", insert, select)
        bare.close()
        store.close()


@contextmanager
def postgresql_engine() -> Iterator[Engine]:
    """PostgreSQL on a socket, written to the disk at each COMMIT."""
    import psycopg

    with cluster.running(durable=True) as url:
        bare = psycopg.connect(url, autocommit=True)
        bare.execute("CREATE SCHEMA bare")
        bare.execute("SET search_path = bare")
        for statement in tables.SEED:
            bare.execute(statement)  # type: ignore[arg-type]
        bare.execute("INSERT INTO sessions VALUES ('s', '', NULL, NULL, 1, 1, 1)")
        asked = f"INSERT INTO messages ({COLUMNS}) VALUES (%s, 's', %s, %s, %s, %s, 1)"

        def insert(rows: list[tuple[Any, ...]]) -> None:
            with bare.transaction():
                if len(rows) == 1:
                    bare.execute(asked, rows[0])
                else:
                    bare.cursor().executemany(asked, rows)

        store = psycopg.connect(url, autocommit=True)

        def select(session: str) -> list[tuple[str, str]]:
            asked = "SELECT content_json, metadata_json FROM messages WHERE session_id = %s ORDER BY id"
            return store.execute(asked, (session,)).fetchall()

        yield Engine("PostgreSQL", url, insert, select)
        bare.close()
        store.close()


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

    def __init__(self, engine: Engine, sessions: Sessions, rounds: int) -> None:
        self._engine = engine
        self._sessions = sessions
        self._rounds = rounds
        self._bare = 0

    def _rows(self, given: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for message in given:
            self._bare += 1
            content = orjson.dumps(message["content"]).decode()
            rows.append((f"{self._bare:026d}", message["role"], content, '{"status":"complete"}', self._bare))
        return rows

    async def append(self, size: int) -> list[float]:
        """How long our appends take, in bare inserts of the same bytes: of `size` messages at a time."""
        chat = await self._sessions.create()
        count = 200 if size == 1 else 30
        ratios: list[float] = []
        for _ in range(self._rounds):
            # the disk has moods of seconds: floor and subject take turns, and the middle one of each counts
            floors: list[float] = []
            ours: list[float] = []
            for _ in range(count):
                batch = [plain(number) for number in range(size)]
                begun = time.perf_counter()
                self._engine.insert(self._rows(batch))
                floors.append(time.perf_counter() - begun)
                ours.append(await timed(chat.append(batch)))
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
    async with Sessions(engine.url) as sessions:
        bench = Bench(engine, sessions, rounds)
        for name, work, budget in (
            ("an append, to a bare insert", bench.append(1), 1 / 0.7),
            ("an append of 100, to a bare insert of 100", bench.append(100), 1 / 0.7),
            ("1,000 messages read and validated, to SELECT and decode", bench.history(1000), 8),
            ("an append at 100,000 messages, to one at 100", bench.growth(100, 100_000), 1.2),
        ):
            ratios = await work
            ratio = statistics.median(ratios)
            good = good and ratio <= budget
            verdict = "over budget" if ratio > budget else ""
            print(
                f"{engine.name + ': ' + name:72} {ratio:6.2f}x {min(ratios):6.2f}x {budget:6.2f}x  {verdict}",
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
