"""What keys of a server have spent, in the database (spec/11-gateway.md#spending)."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from interlingua.access import Access, Key
from interlingua.refusals import Refused
from interlingua.sessions import Sessions
from interlingua.sessions.tables import VERSION
from interlingua.spending import SharedSpending

from .conftest import Clock

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]

DAY, NEXT = date(2026, 5, 8), date(2026, 5, 9)
CENT = Decimal("0.0000000000000000001234567")
TEAM = Key("team", "0" * 64, "acme", budget_usd_per_day=Decimal("0.03"))
FREE = Key("free", "1" * 64, "acme")


def access(clock: Clock) -> Access:
    return Access([TEAM, FREE], clock=lambda: 0.0, now=clock)


def costs(usd: str) -> dict[str, Any]:
    return {"input_tokens": 1, "output_tokens": 1, "cost_usd": usd}


async def until_refused(server: Access) -> None:
    """Wait until the budget of the team is used up."""
    for _ in range(500):
        try:
            server.admit(TEAM)
        except Refused:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the budget holds no longer")


async def test_servers_add_up_to_the_last_digit(open_sessions: Open) -> None:
    """Whichever adds first, and in whatever order; each day has its own sum."""
    servers: list[Sessions] = [await open_sessions() for _ in range(3)]
    amounts = [{("a", DAY): CENT, ("b", DAY): CENT}, {("b", DAY): CENT, ("a", DAY): CENT}, {("a", NEXT): CENT}]
    await asyncio.gather(*(servers[turn % 3].add_spending(amounts[turn % 3], DAY) for turn in range(90)))
    assert await servers[0].add_spending({}, DAY) == {"a": 60 * CENT, "b": 60 * CENT}
    assert await servers[1].add_spending({}, NEXT) == {"a": 30 * CENT}
    assert await servers[2].add_spending({("a", DAY): CENT}, DAY) == {"a": 61 * CENT, "b": 60 * CENT}


async def test_a_budget_survives_a_restart_and_is_one_for_all_servers(open_sessions: Open, clock: Clock) -> None:
    """A new day begins with nothing; a key without a budget is kept as well."""
    first, second = access(clock), access(clock)
    sessions, elsewhere = await open_sessions(), await open_sessions()
    async with SharedSpending(second, elsewhere, period=0.01):
        async with SharedSpending(first, sessions, period=0.01):
            first.record(TEAM, costs("0.01"))
            second.record(TEAM, costs("0.02"))
            first.record(FREE, costs("7"))
            for server in (first, second):
                await until_refused(server)
        third = access(clock)
        third.admit(TEAM)
        async with SharedSpending(third, sessions, period=60):
            with pytest.raises(Refused, match="budget"):
                third.admit(TEAM)
            clock.move(24 * 3600)
            third.admit(TEAM)
            second.admit(TEAM)
            third.record(TEAM, costs("0.005"))
        assert await sessions.of("").add_spending({}, DAY) == {"team": Decimal("0.03"), "free": Decimal(7)}
        assert await sessions.of("").add_spending({}, NEXT) == {"team": Decimal("0.005")}


async def test_while_the_database_fails_budgets_count_here(
    clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told once, and stored when the database works again."""
    file = tmp_path / "chats.db"
    here = access(clock)
    async with Sessions(f"sqlite:///{file}", now=clock) as sessions:
        async with SharedSpending(here, sessions, period=0.01):
            with closing(sqlite3.connect(file)) as other:
                other.execute("ALTER TABLE spending RENAME TO gone")
                other.commit()
                here.record(TEAM, costs("0.03"))
                await asyncio.sleep(0.1)
                with pytest.raises(Refused, match="budget"):
                    here.admit(TEAM)
                other.execute("ALTER TABLE gone RENAME TO spending")
                other.commit()
        assert await sessions.add_spending({}, DAY) == {"team": Decimal("0.03")}
    told = [record.levelname for record in caplog.records if record.name == "interlingua.spending"]
    assert told.count("WARNING") == 1


async def test_a_database_of_version_2_gets_the_table(tmp_path: Path) -> None:
    """What is in it stays."""
    file = tmp_path / "chats.db"
    async with Sessions(f"sqlite:///{file}") as sessions:
        chat = await sessions.create()
    with closing(sqlite3.connect(file)) as database:
        database.execute("DROP TABLE spending")
        database.execute("UPDATE storage_version SET version = 2")
        database.commit()
    async with Sessions(f"sqlite:///{file}") as sessions:
        assert await sessions.add_spending({("a", DAY): CENT}, DAY) == {"a": CENT}
        assert (await sessions.info(chat.id)).id == chat.id
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT max(version) FROM storage_version").fetchone() == (VERSION,)
