"""The behaviour of engines: lost connections, processes that share a database, closing."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import pytest_asyncio

from interlingua.sessions import Conflict, Sessions, StorageFailed, open_storage

from .conftest import user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]

WRITER = """
import asyncio, sys
from interlingua.sessions import Sessions
async def main(url, session_id, name):
    async with Sessions(url) as sessions:
        for number in range(25):
            message = {"role": "user", "content": f"{name} {number}"}
            await sessions.chat(session_id).append(message)
asyncio.run(main(*sys.argv[1:]))
"""


async def test_processes_share_a_session(open_sessions: Open, url: str) -> None:
    """Three processes append at once: every message is stored once, in the order of its process, and ids increase."""
    chat = await (await open_sessions(now=None)).create()
    writers = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, url, chat.id, name)
        for name in ("a", "b", "c")
    ]
    assert [await writer.wait() for writer in writers] == [0, 0, 0]
    texts = [message["content"][0]["text"] for message in await chat.history()]
    for name in ("a", "b", "c"):
        assert [text for text in texts if text.startswith(name)] == [f"{name} {number}" for number in range(25)]
    assert await chat.check() == []
    assert (await chat.info()).revision == 76


async def test_a_connection_that_was_lost_is_replaced(open_sessions: Open, url: str) -> None:
    """The server ends all connections between two calls, as it does when it restarts."""
    if url.startswith("sqlite"):
        pytest.skip("SQLite has no server")
    import psycopg

    sessions = await open_sessions()
    chat = await sessions.create()
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    await asyncio.sleep(0.1)
    await chat.append(user())
    assert len(await chat.history()) == 1


async def test_a_failed_statement_leaves_nothing(open_sessions: Open) -> None:
    """A row that the database refuses is an error without its values, and the connection stays usable."""
    sessions = await open_sessions()
    chat = await sessions.create()
    row = await sessions.read(lambda rows: rows.session(chat.id))
    with pytest.raises(StorageFailed) as told:
        await sessions.write(lambda rows: rows.insert([row._replace(workspace_path="hidden")]))
    assert "hidden" not in str(told.value.to_dict())
    await chat.append(user())
    assert len(await chat.history()) == 1


async def test_many_rows_are_stored_as_they_are(open_sessions: Open) -> None:
    """One append stores many rows verbatim, with characters that are special in SQL, COPY and formats."""
    odd = [
        "a\tb",
        "c\\N",
        "\\.",
        "100 %s %% $1",
        "'; DROP TABLE messages; --",
        "\u0000\u2028é\U0001f600",
        '"',
        "{}",
        "",
    ]
    chat = await (await open_sessions()).create()
    await chat.append([user(text) for text in odd])
    await chat.append([user(text, extra={"x": text}) for text in odd[:3]])
    assert [message["content"][0]["text"] for message in await chat.history()] == [*odd, *odd[:3]]
    assert [message.get("extra") for message in await chat.history()][-3:] == [{"x": text} for text in odd[:3]]


async def test_what_is_closed_says_so(url: str) -> None:
    """A call after the end raises an error, and closing again does nothing."""
    sessions = Sessions(url)
    chat = await sessions.create()
    await sessions.aclose()
    await sessions.aclose()
    with pytest.raises(StorageFailed, match="closed"):
        await chat.history()


@pytest_asyncio.fixture
async def one_writer(open_sessions: Open, url: str) -> tuple[Any, Any, list[str]]:
    """Return sessions on an engine with one writer, a way to release it, and the list of its ended transactions."""
    if not url.startswith("sqlite"):
        pytest.skip("PostgreSQL has a writer for each connection")
    sessions = await open_sessions(now=None)
    chats = [await sessions.create() for _ in range(20)]
    ends: list[str] = []
    sessions._storage._writer.set_trace_callback(
        lambda statement: ends.append(statement) if statement in ("COMMIT", "ROLLBACK") else None
    )
    return sessions, chats, ends


async def kept_busy(sessions: Any) -> tuple[asyncio.Task[Any], threading.Event]:
    """Start a writer that works until it is released; other writers wait meanwhile."""
    at_work, go = threading.Event(), threading.Event()

    def wait(_: Any) -> None:
        at_work.set()
        go.wait(30)

    task = asyncio.create_task(sessions.write(wait))
    await asyncio.to_thread(at_work.wait, 30)
    return task, go


async def test_writers_who_wait_are_served_together(one_writer: tuple[Any, Any, list[str]]) -> None:
    """One transaction serves all of them, and one that fails does not affect the others."""
    sessions, chats, ends = one_writer
    busy, go = await kept_busy(sessions)
    row = await sessions.read(lambda rows: rows.session(chats[0].id))
    tasks = [asyncio.create_task(chat.append(user(), expected=1)) for chat in chats]
    late = asyncio.create_task(chats[3].append(user("late"), expected=1))
    refused = asyncio.create_task(sessions.write(lambda rows: rows.insert([row])))
    gone = asyncio.create_task(chats[4].append(user("gone")))
    last = asyncio.create_task(chats[0].append(user("last")))
    await asyncio.sleep(0.05)
    gone.cancel()
    await asyncio.sleep(0)
    go.set()
    await busy
    appended = await asyncio.gather(*tasks)
    with pytest.raises(Conflict):
        await late
    with pytest.raises(StorageFailed):
        await refused
    await last
    assert [one.revision for one in appended] == [2] * 20
    # one for the busy writer, and the others; a slow machine serves them in several transactions
    assert set(ends) == {"COMMIT"}
    assert len(ends) < 10
    assert [len(await chat.history()) for chat in chats] == [2, *[1] * 19]
    for chat in chats:
        assert await chat.check() == []


async def test_what_the_engine_undoes_is_told_to_all_of_them(one_writer: tuple[Any, Any, list[str]]) -> None:
    """A full disk ends the whole transaction: no caller gets a success, and all may retry."""
    sessions, chats, _ = one_writer

    def fail(rows: Any) -> None:
        rows._do.run("ROLLBACK")
        raise sqlite3.OperationalError("disk I/O error")

    busy, go = await kept_busy(sessions)
    before = asyncio.create_task(chats[0].append(user(), key="k"))
    await asyncio.sleep(0)
    failing = asyncio.create_task(sessions.write(fail))
    await asyncio.sleep(0)
    behind = asyncio.create_task(chats[1].append(user()))
    await asyncio.sleep(0.05)
    go.set()
    await busy
    told = await asyncio.gather(before, failing, behind, return_exceptions=True)
    assert [type(one) for one in told] == [StorageFailed] * 3
    assert await chats[0].history() == await chats[1].history() == []
    await chats[0].append(user(), key="k")
    assert len(await chats[0].history()) == 1


async def test_an_engine_may_be_shared(url: str) -> None:
    """An engine that is given instead of a URL is closed by its owner."""
    storage = open_storage(url)
    async with Sessions(storage) as first:
        chat = await first.create()
    async with Sessions(storage) as second:
        await second.chat(chat.id).append(user())
    storage.close()
    storage.close()


async def test_sessions_are_loaded_when_they_are_asked_for() -> None:
    """`import interlingua` and the names of the package load no driver of a database."""
    code = "import interlingua, interlingua.sessions, sys; print(*sys.modules)"
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert not {"sqlite3", "psycopg", "asyncio"} & set(loaded)
