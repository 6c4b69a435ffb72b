"""Retention: deleted data is gone with everything that belongs to it, and data that must not be stored is not."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interlingua.cli.sessions import _age
from interlingua.sessions import Objects, Sessions, Stored
from interlingua.sessions.objects import CONVERSATION, PART, RESPONSE
from interlingua.sessions.rows import _TABLE_OF, Rows

from .conftest import Clock, assistant, call, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]
SECRET = "The combination of the safe is 4711."


def purge(url: str, *words: str) -> tuple[int, Any]:
    """Return the exit status and the output of the command."""
    command = [sys.executable, "-m", "interlingua", "sessions", "purge", url, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, json.loads(done.stdout.partition("\n{")[0])


def rows_left(rows: Rows) -> dict[str, int]:
    """Return the number of rows of each table that is not empty."""
    counts = {table: rows._do.ask(f"SELECT COUNT(*) FROM {table}")[0][0] for table in _TABLE_OF.values()}
    return {table: count for table, count in counts.items() if count}


def stands_in(folder: Path, text: str) -> bool:
    """Whether any file of a folder holds a text."""
    return any(text.encode() in file.read_bytes() for file in folder.iterdir())


async def fill(url: str, age: timedelta, tenant: str = "") -> tuple[str, str]:
    """Create a session and a stored response of a given age, of a tenant; return their ids."""
    async with Sessions(url, now=lambda: datetime.now(UTC) - age) as sessions:
        chat = await sessions.of(tenant).create()
        await chat.append([user(SECRET), assistant(call("tu_01HZ0000000000000000000100"))], key="k")
        await chat.reprice()
        name = f"resp_{tenant}{age.days}"
        await Objects(sessions).of(tenant).put(Stored(name, RESPONSE, {"output": [SECRET]}, [{"x": SECRET}]))
        return chat.id, name


async def test_the_command_deletes_by_age(url: str) -> None:
    """It deletes what has not changed for that time, of one tenant or of all; no row of it is left."""
    await fill(url, timedelta(days=40))
    young = await fill(url, timedelta(days=3))
    await fill(url, timedelta(days=50), "acme")
    assert purge(url, "--older-than", "6w") == (0, {"sessions": 0, "objects": 0})
    assert purge(url, "--older-than", "30d") == (0, {"sessions": 1, "objects": 1})
    assert purge(url, "--older-than", "30d", "--all-tenants") == (0, {"sessions": 1, "objects": 1})
    async with Sessions(url) as sessions:
        assert await sessions.tenants() == [""]
        assert [one.id for one in await sessions.latest()] == [young[0]]
        assert await Objects(sessions).find(RESPONSE, young[1]) is not None
    assert purge(url, "--older-than", "1h") == (0, {"sessions": 1, "objects": 1})
    async with Sessions(url) as sessions:
        assert await sessions.read(rows_left) == {}


async def test_the_command_deletes_by_id_and_tenant(url: str) -> None:
    """It deletes nothing of another tenant; an unknown id is reported after the others are deleted."""
    mine, theirs = await fill(url, timedelta(0)), await fill(url, timedelta(0), "acme")
    status, _ = purge(url, mine[0], mine[1], theirs[0], "nothing")
    assert status == 2
    async with Sessions(url) as sessions:
        assert await sessions.tenants() == ["acme"]
        assert [one.id for one in await sessions.of("acme").latest()] == [theirs[0]]
    assert purge(url, theirs[0], "--tenant", "acme") == (0, {"sessions": 1, "objects": 0})
    assert purge(url, "--everything", "--tenant", "acme") == (0, {"sessions": 0, "objects": 1})
    async with Sessions(url) as sessions:
        assert await sessions.read(rows_left) == {}


async def test_what_is_deleted_stands_in_no_page_of_the_file(tmp_path: Path) -> None:
    """SQLite overwrites deleted data; its log is removed when the last connection is closed."""
    file = tmp_path / "chats.db"
    await fill(f"sqlite:///{file}", timedelta(days=2))
    assert stands_in(tmp_path, SECRET)
    assert purge(f"sqlite:///{file}", "--older-than", "1d")[1] == {"sessions": 1, "objects": 1}
    assert not stands_in(tmp_path, SECRET)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["x", "--everything"],
        ["--older-than", "30"],
        ["--older-than", "-1d"],
        ["--all-tenants", "--everything"],
        ["--older-than", "1d", "--all-tenants", "--tenant", "acme"],
    ],
)
async def test_words_that_do_not_say_what_delete_nothing(tmp_path: Path, words: list[str]) -> None:
    """Arguments that do not select anything delete nothing, and a missing file is not created."""
    url = f"sqlite:///{tmp_path}/chats.db"
    await fill(url, timedelta(days=400))
    assert purge(url, *words)[0] == 2
    async with Sessions(url) as sessions:
        assert len(await sessions.latest()) == 1
    assert purge(f"sqlite:///{tmp_path}/other.db", "--everything")[0] == 2
    assert not (tmp_path / "other.db").exists()


def _seconds(text: str) -> float:
    return _age(text).total_seconds()


async def test_ages() -> None:
    """Minutes, hours, days, weeks."""
    assert [_seconds(one) for one in ("90m", "12h", "30d", "8w")] == [5400, 43200, 2592000, 4838400]


async def test_objects_are_deleted_by_age(open_sessions: Open, clock: Clock) -> None:
    """A conversation is as old as its last part; an object that a younger one continues stays, hidden, as long as
    that."""
    sessions = await open_sessions()
    objects, other = Objects(sessions), Objects(sessions).of("other")
    await objects.put(
        Stored("resp_1", RESPONSE, {}), Stored("conv_1", CONVERSATION, {}), Stored("conv_2", CONVERSATION, {})
    )
    await objects.put(part=Stored("", PART, {}, owner_id="conv_1"))
    await other.put(Stored("resp_1", RESPONSE, {}))
    clock.move(100)
    await objects.put(Stored("resp_2", RESPONSE, {}, previous_id="resp_1"))
    await objects.put(part=Stored("", PART, {}, owner_id="conv_2"))
    assert await objects.delete_unchanged(timedelta(seconds=60)) == 2
    assert await objects.delete_unchanged(timedelta(seconds=60)) == 0
    assert await objects.find(RESPONSE, "resp_1") is None
    assert await objects.find(CONVERSATION, "conv_1") is None
    assert await objects.find(CONVERSATION, "conv_2") is not None
    before = await objects.before(RESPONSE, "resp_2")
    assert before is not None
    assert [one.id for one in before] == ["resp_1", "resp_2"]
    assert await other.find(RESPONSE, "resp_1") is not None
    clock.move(100)
    assert await objects.delete_unchanged(timedelta(seconds=60)) == 2
    assert await sessions.read(rows_left) == {"objects": 1}
