"""Sessions at the command line: what `interlingua sessions` lists, writes and reads."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlingua.sessions import Sessions

from .conftest import assistant, call, result, user

pytestmark = pytest.mark.asyncio
CALLS = "tu_01HZ0000000000000000000100", "tu_01HZ0000000000000000000200"


def asked(*words: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
    """Return the exit status and the output of the command."""
    command = [sys.executable, "-m", "interlingua", "sessions", *words]
    done = subprocess.run(command, input=given, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


async def fill(url: str, tenant: str = "") -> list[str]:
    """Create two sessions; return their ids."""
    found: list[str] = []
    async with Sessions(url) as sessions:
        for identity in CALLS:
            chat = await sessions.of(tenant).create(extra={"title": identity})
            await chat.append([user('of the "session"'), assistant(call(identity)), result(identity)])
            found.append(chat.id)
    return found


async def content(url: str, identity: str, tenant: str = "") -> Any:
    """Return the content of a session without its ids."""
    async with Sessions(url) as sessions:
        chat = await sessions.of(tenant).open(identity)
        assert await chat.check() == []
        history, info = await chat.history(), await chat.info()
    return [(one["role"], one["content"][0].get("text")) for one in history], info.extra


async def test_sessions_move_to_another_database(tmp_path: Path) -> None:
    """Sessions move with their ids or with new ones; those of another tenant are not visible."""
    here, there = f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db"
    ids = await fill(here, "acme")
    status, lines, _ = asked("export", here, *ids, "--tenant", "acme")
    assert status == 0
    assert [one["id"] for one in map(json.loads, lines.splitlines()) if one["type"] == "session"] == ids
    assert asked("export", here, ids[0])[0] == 2

    status, found, _ = asked("import", there, "--keep-ids", given=b"\n" + lines)
    assert (status, found.decode().split()) == (0, ids)
    status, found, _ = asked("import", there, "--json", given=lines)
    copies = json.loads(found)["sessions"]
    assert status == 0
    assert len({*copies, *ids}) == 4
    for old, copy in zip(ids, copies, strict=True):
        assert await content(there, copy) == await content(there, old) == await content(here, old, "acme")
    status, found, _ = asked("list", there, "--prefix", copies[0], "--json")
    assert [one["id"] for one in json.loads(found)["sessions"]] == [copies[0]]
    assert asked("import", there, "--keep-ids", given=lines)[:2] == (1, b"")


async def test_a_session_that_cannot_be_stored_is_told_by_its_line(tmp_path: Path) -> None:
    """The sessions before it are stored, and their ids are printed; of a file that is not an export nothing is
    stored."""
    url = f"sqlite:///{tmp_path}/a.db"
    _, lines, _ = asked("export", url, *await fill(url))
    file = tmp_path / "lines.jsonl"
    file.write_bytes(lines + b'{"type": "session"}\n' + lines)
    status, found, told = asked("import", url, str(file))
    assert (status, len(found.split())) == (2, 2)
    assert f"line {len(lines.splitlines()) + 1}:".encode() in told
    for given in (b"", b'{"type": "message"}\n' + lines):
        status, found, told = asked("import", url, given=given)
        assert (status, found) == (2, b"")
        assert b"the first line must be the session" in told
        assert b"(at /0)" in told
    async with Sessions(url) as sessions:
        assert len(await sessions.latest()) == 4
