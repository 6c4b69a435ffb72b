"""Stored sessions: versions, export and import, forks, prices, lists, deletion, and the tables themselves."""

import hashlib
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from interlingua import content_hash
from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.client import Say
from interlingua.sessions import Conflict, SessionNotFound, StorageFailed, TurnInProgress, register, versions
from interlingua.sessions.rows import MessageRow, Rows

from .conftest import CLAUDE, Clock, assistant, call, result, user

pytestmark = pytest.mark.asyncio
Open = Callable[..., Any]
CALL = "tu_01HZ0000000000000000000100"


def put(chat: Any, row: dict[str, Any]) -> Callable[[Rows], None]:
    """Return work that inserts a message row into a session, as another program might."""
    base = MessageRow(chat._sessions.tenant, "", chat.id, "user", "[]", "{}", 1_778_241_600_000_000, 1)
    return lambda rows: rows.insert([base._replace(**row)])


# ---------------------------------------------------------------------------------------------------- versions


async def test_an_old_message_is_migrated_when_it_is_read(open_sessions: Open) -> None:
    """It is rewritten only by `save`: R-275, R-287."""
    sessions = await open_sessions()
    chat = await sessions.create()
    old = {
        "id": "01HZ0000000000000000000000",
        "role": "USER",
        "content_json": '"What is a ULID?"',
        "metadata_json": '{"input_tokens": 8, "later": 1}',
        "schema_version": 0,
    }
    await sessions.write(put(chat, old))
    raw = await sessions.read(lambda rows: rows.messages(chat.id))
    [message] = await chat.history()
    assert message["content"] == [{"type": "text", "text": "What is a ULID?"}]
    assert (message["role"], message["schema_version"], message["metadata"]["later"]) == ("user", 1, 1)
    assert message["metadata"]["usage"]["input_tokens"] == 8
    assert await sessions.read(lambda rows: rows.messages(chat.id)) == raw
    assert await chat.save() == 1
    [row] = await sessions.read(lambda rows: rows.messages(chat.id))
    assert (row.schema_version, row.role) == (1, "user")
    assert await chat.history() == [message]
    assert await chat.save() == 0


async def test_a_missing_step_is_told(open_sessions: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-274: without a step it is an error; a registered step is run."""
    monkeypatch.setattr(versions, "_STEPS", {})
    sessions = await open_sessions()
    chat = await sessions.create()
    await sessions.write(put(chat, {"id": "01HZ0000000000000000000000", "schema_version": 0}))
    with pytest.raises(StorageFailed, match="from version 0"):
        await chat.history()
    register(0, lambda message: {**message, "content": [{"type": "text", "text": "stepped"}]})
    assert (await chat.history())[0]["content"][0]["text"] == "stepped"


async def test_a_message_of_a_later_version_is_kept(open_sessions: Open, caplog: pytest.LogCaptureFixture) -> None:
    """Unknown blocks, members and even a later number: read with a warning, kept, exported: R-276."""
    sessions = await open_sessions(Say("Well."))
    chat = await sessions.create()
    later = {
        "id": "01HZ0000000000000000000000",
        "content_json": '[{"type":"hologram","data":{"x":1}},{"type":"text","text":"see"}]',
        "metadata_json": '{"status":"complete","mood":"blue"}',
        "members_json": '{"gesture":"wave"}',
        "schema_version": 2,
    }
    await sessions.write(put(chat, later))
    [message] = await chat.history()
    assert message["content"][0] == {"type": "hologram", "data": {"x": 1}}
    assert (message["metadata"]["mood"], message["gesture"], message["schema_version"]) == ("blue", "wave", 2)
    assert "version 2" in caplog.text
    await chat.generate()
    other = await sessions.import_(await chat.export())
    copied = (await other.history())[0]
    assert {**copied, "id": message["id"], "session_id": chat.id} == message


async def test_reading_changes_nothing_on_the_disk(tmp_path: Path) -> None:
    """R-275: the bytes of the file are equal before and after."""
    from interlingua.sessions import Sessions

    path = tmp_path / "chats.db"
    async with Sessions(f"sqlite:///{path}") as sessions:
        chat = await sessions.create()
        await chat.append([user(), assistant()])
        await sessions.write(put(chat, {"id": "0" * 26, "content_json": '"old"', "schema_version": 0}))
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    async with Sessions(f"sqlite:///{path}") as sessions:
        chat = sessions.chat(chat.id)
        await chat.history()
        await chat.export()
        await chat.check()
        await sessions.latest()
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


# ---------------------------------------------------------------------------------------------------- the tables

SEED = {
    "sessions": [
        ("id", "TEXT", 0, 1),
        ("workspace_path", "TEXT", 1, 0),
        ("active_model", "TEXT", 0, 0),
        ("routing_policy_json", "TEXT", 0, 0),
        ("schema_version", "INTEGER", 1, 0),
        ("created_at", "INTEGER", 1, 0),
        ("updated_at", "INTEGER", 1, 0),
    ],
    "messages": [
        ("id", "TEXT", 0, 1),
        ("session_id", "TEXT", 1, 0),
        ("role", "TEXT", 1, 0),
        ("content_json", "TEXT", 1, 0),
        ("metadata_json", "TEXT", 1, 0),
        ("created_at", "INTEGER", 1, 0),
        ("schema_version", "INTEGER", 1, 0),
    ],
    "tool_calls": [
        ("id", "TEXT", 0, 1),
        ("session_id", "TEXT", 1, 0),
        ("message_id", "TEXT", 1, 0),
        ("result_message_id", "TEXT", 0, 0),
        ("name", "TEXT", 1, 0),
        ("status", "TEXT", 1, 0),
        ("provider_id", "TEXT", 0, 0),
        ("provider", "TEXT", 0, 0),
        ("created_at", "INTEGER", 1, 0),
        ("completed_at", "INTEGER", 0, 0),
    ],
}
SEED_KEYS = {
    "messages": {("session_id", "sessions")},
    "tool_calls": {("session_id", "sessions"), ("message_id", "messages"), ("result_message_id", "messages")},
}


async def test_the_tables_are_those_of_the_seed(tmp_path: Path) -> None:
    """Columns, types, keys and indexes of 004 §9.1; what is added has defaults, and no index is over text: R-263 to
    R-268."""
    from interlingua.sessions import open_storage

    open_storage(f"sqlite:///{tmp_path}/a.db").close()
    database = sqlite3.connect(tmp_path / "a.db")
    for table, columns in SEED.items():
        found = database.execute(f"PRAGMA table_info({table})").fetchall()
        assert [(row[1], row[2], row[3], row[5]) for row in found[: len(columns)]] == columns
        assert all(not row[3] or row[4] is not None for row in found[len(columns) :])
        keys = {(row[3], row[2]) for row in database.execute(f"PRAGMA foreign_key_list({table})")}
        assert keys == SEED_KEYS.get(table, set())
    indexes = {
        name: [row[2] for row in database.execute(f"PRAGMA index_info({name})")]
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'index'")
    }
    assert indexes["idx_messages_session_created"] == ["session_id", "created_at"]
    assert indexes["idx_tool_calls_session_status"] == ["session_id", "status"]
    assert not database.execute("SELECT 1 FROM sqlite_master WHERE sql LIKE '%fts%'").fetchall()
    plan = "EXPLAIN QUERY PLAN SELECT * FROM tool_calls WHERE tenant = '' AND session_id = 'x' AND status = 'pending'"
    assert "idx_tool_calls_session_status" in str(database.execute(plan).fetchall())


async def test_the_tables_are_alike_on_both_engines(open_sessions: Open) -> None:
    """Every column of every row can be queried, and calls of a status are found by their index."""
    from interlingua.sessions.rows import _TABLE_OF

    sessions = await open_sessions()

    def asked(rows: Rows) -> None:
        for kind, table in _TABLE_OF.items():
            rows._do.ask(f"SELECT {', '.join(kind._fields)} FROM {table}")
        if rows._do.lock:
            indexes = dict(
                rows._do.ask("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = current_schema()")
            )
            assert "(session_id, created_at)" in indexes["idx_messages_session_created"]
            assert "(session_id, status)" in indexes["idx_tool_calls_session_status"]

    await sessions.read(asked)


async def test_a_database_with_the_seeds_tables_alone_is_taken_over(tmp_path: Path) -> None:
    """Rows that the seed's own statements wrote are present, and the session continues."""
    from interlingua.sessions import Sessions
    from interlingua.sessions.tables import SEED as STATEMENTS

    path = tmp_path / "seed.db"
    database = sqlite3.connect(path)
    for statement in STATEMENTS:
        database.execute(statement.replace("BIGINT", "INTEGER"))
    database.execute("INSERT INTO sessions VALUES ('sess_42', '/work', NULL, NULL, 1, 1, 1)")
    content = '[{"type":"text","text":"What is a ULID?"}]'
    database.execute(
        "INSERT INTO messages VALUES ('01HZ0000000000000000000001', 'sess_42', 'user', ?, '{}', 1000000, 1)", (content,)
    )
    database.commit()
    database.close()
    async with Sessions(f"sqlite:///{path}") as sessions:
        chat = await sessions.open("sess_42")
        await chat.append(assistant())
        history = await chat.history()
        assert [message["role"] for message in history] == ["user", "assistant"]
        assert history[0]["created_at"] == "1970-01-01T00:00:01.000000Z"
        assert await chat.check() == []


async def test_a_database_of_a_later_version_is_not_opened(tmp_path: Path) -> None:
    """The error is clear, and the database is unchanged."""
    from interlingua.sessions import open_storage

    open_storage(f"sqlite:///{tmp_path}/a.db").close()
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("INSERT INTO storage_version VALUES (99)")
    with pytest.raises(StorageFailed, match="version 99"):
        open_storage(f"sqlite:///{tmp_path}/a.db")


# ---------------------------------------------------------------------------------------------------- in and out


async def filled(sessions: Any) -> Any:
    """Create a session with calls, superseded last messages and a price."""
    chat = await sessions.create(model=CLAUDE, workspace_path="/work", extra={"title": "gauges"})
    state = {"adapter": "openai_chat", "provider": "openai", "id": "call_1"}
    usage = {"input_tokens": 8, "output_tokens": 42, "cost_usd": None, "pricing_version": None}
    given = [
        user("a"),
        assistant(call(CALL, provider_state=state), model=CLAUDE, usage=usage),
        result(CALL),
        assistant(),
    ]
    appended = await chat.append([*given, user("b")])
    await chat.append(user("c"), instead_of=appended.messages[-1]["id"])
    await chat.reprice()
    return chat


def without_ids(messages: list[dict[str, Any]]) -> list[Any]:
    """Return messages without their ids."""
    return [(message["role"], message["created_at"], message["metadata"].get("usage")) for message in messages]


async def test_an_export_is_imported_whole(open_sessions: Open) -> None:
    """The copy gets new ids next to the original, or keeps the old ids where they are free."""
    sessions = await open_sessions()
    chat = await filled(sessions)
    lines = await chat.export()
    assert all(isinstance(json.loads(line), dict) and "\n" not in line for line in lines)
    copied = await sessions.import_(lines)
    assert copied.id != chat.id
    assert without_ids(await copied.history(superseded=True)) == without_ids(await chat.history(superseded=True))
    assert [one.status for one in await copied.calls()] == ["succeeded"]
    [one] = await copied.calls()
    assert one.id != CALL
    assert await copied.canonical_id("call_1", adapter="openai_chat", provider="openai") == one.id
    assert [price.cost_usd for price in await copied.prices()] == [price.cost_usd for price in await chat.prices()]
    assert await copied.check() == []
    info = await copied.info()
    assert (info.active_model, info.workspace_path, info.extra) == (CLAUDE, "/work", {"title": "gauges"})
    with pytest.raises(Conflict):
        await sessions.import_(lines, keep_ids=True)
    await chat.delete()
    kept = await sessions.import_([line.encode() for line in lines], keep_ids=True)
    assert (kept.id, (await kept.calls())[0].id) == (chat.id, CALL)
    assert (await kept.export())[1:] == lines[1:]
    await kept.append(user("d"))


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["{"],
        ["[]"],
        ['{"type":"message"}'],
        ['{"type":"session"}'],
        ['{"type":"session","created_at":"2026-05-08T12:00:00Z"}', '{"type":"message"}'],
        ['{"type":"session","created_at":"2026-05-08T12:00:00Z"}', '{"type":"message","message":{"role":"user"}}'],
        ['{"type":"session","created_at":"2026-05-08T12:00:00Z"}', '{"type":"price"}'],
        ['{"type":"session","created_at":"yesterday"}'],
    ],
    ids=str,
)
async def test_a_bad_import_stores_nothing(open_sessions: Open, lines: list[str]) -> None:
    """The error is that of an invalid input."""
    sessions = await open_sessions()
    with pytest.raises(InvalidRequest):
        await sessions.import_(lines)
    assert await sessions.latest() == []


async def test_a_fork_begins_as_the_other_was(open_sessions: Open) -> None:
    """It begins as the other one was at a message; after it the two are independent."""
    sessions = await open_sessions(Say("Here."))
    chat = await filled(sessions)
    history = await chat.history()
    fork = await chat.fork(history[1]["id"])
    forked = await fork.history()
    assert [content_hash(one) == content_hash(other) for one, other in zip(forked, history, strict=False)] == [
        True,
        False,
    ]
    assert [one.status for one in await fork.calls()] == ["pending"]
    info = await fork.info()
    assert (info.parent_session_id, info.parent_message_id) == (chat.id, history[1]["id"])
    [open_call] = await fork.calls()
    await fork.append(result(open_call.id))
    await fork.generate()
    assert await fork.check() == []
    assert await chat.history() == history
    whole = await chat.fork()
    assert len(await whole.history()) == len(history)
    await chat.delete()
    assert len(await whole.history()) == len(history)
    with pytest.raises(SessionNotFound):
        await fork.fork(history[1]["id"])


# ---------------------------------------------------------------------------------------------------- prices, lists,
# deletion


async def test_prices_are_told_beside_those_of_the_day(open_sessions: Open) -> None:
    """R-114, R-115: the original costs stay, and the new ones are stored in addition."""
    sessions = await open_sessions()
    chat = await sessions.create()
    usage = {"input_tokens": 8, "output_tokens": 42, "cost_usd": "0.000001", "pricing_version": "before"}
    await chat.append([user(), assistant(model=CLAUDE, usage=usage), user(), assistant(model="nobody:x", usage=usage)])
    [priced, unpriced] = await chat.reprice()
    assert (priced.cost_usd, unpriced.cost_usd) == ("0.000654", None)
    assert await chat.reprice() == await chat.prices()
    assert (await chat.history())[1]["metadata"]["usage"]["cost_usd"] == "0.000001"
    with pytest.raises(InvalidRequest):
        await chat.reprice("1999-01-01")


async def test_sessions_are_listed_and_found(open_sessions: Open, clock: Clock) -> None:
    """Sessions are listed the newest first, page by page, and found by the id of any part of them."""
    sessions = await open_sessions()
    chats = []
    for _ in range(7):
        chats.append(await sessions.create())
        clock.move(1)
    await chats[2].append([user(), assistant(call(CALL))])
    found: list[Any] = []
    while page := await sessions.latest(3, after=found[-1] if found else None):
        found += page
    assert [one.id for one in found] == [chat.id for chat in reversed(chats)]
    assert [one.id for one in await sessions.latest(prefix=chats[4].id[:12])] == [chats[4].id]
    message = (await chats[2].history())[0]["id"]
    assert [await sessions.find(one) for one in (chats[1].id, message, CALL, "x")] == [
        chats[1].id,
        *[chats[2].id] * 2,
        None,
    ]


async def test_a_session_is_deleted_with_all_that_belongs_to_it(open_sessions: Open) -> None:
    """No row of any table is left; those of another session stay."""
    from interlingua.sessions.rows import _TABLE_OF

    sessions = await open_sessions()
    chat, other = await filled(sessions), await sessions.create()
    await other.append(user(), key="k")
    await chat.append(user(), key="k")
    await chat.delete()

    def left(rows: Rows) -> list[int]:
        tables = [table for table in _TABLE_OF.values() if table not in ("sessions", "objects")]
        return [
            rows._do.ask(f"SELECT count(*) FROM {table} WHERE session_id = ?", (chat.id,))[0][0] for table in tables
        ]

    assert await sessions.read(left) == [0] * 6
    assert [one.id for one in await sessions.latest()] == [other.id]
    with pytest.raises(SessionNotFound):
        await chat.history()
    with pytest.raises(SessionNotFound):
        await chat.delete()


async def test_sessions_are_deleted_by_age(open_sessions: Open, clock: Clock) -> None:
    """The sessions of this tenant that have not changed for that time are deleted."""
    sessions = await open_sessions(Say("x y z", pause=0.01))
    old = [await sessions.create() for _ in range(3)]
    foreign = await sessions.of("other").create()
    clock.move(100)
    young = await sessions.create()
    assert await sessions.delete_unchanged(timedelta(seconds=60)) == 3
    assert [one.id for one in await sessions.latest()] == [young.id]
    assert (await foreign.info()).id == foreign.id
    assert old
    async with young.stream("Hi") as stream:
        await anext(stream)
        with pytest.raises(TurnInProgress):
            await young.delete()


# ---------------------------------------------------------------------------------------------------- provider_raw


async def test_provider_raw_is_kept_and_never_read(open_sessions: Open) -> None:
    """Its content affects neither the rows, nor the hash, nor the sent request, nor the loss: R-121 to R-125."""
    poison = [None, {"type": "tool_use", "id": 5}, {"role": "system", "content": [{"type": 7}]}, {"n": 2**70}]
    sent: list[Any] = []
    for raw in poison:
        sessions = await open_sessions(Say("Well."), Say("Other."))
        chat = await sessions.create(model=CLAUDE)
        await chat.append([user(), assistant(provider_raw=raw, model=CLAUDE), user()])
        answer = (await chat.history())[1]
        assert answer["metadata"]["provider_raw"] == raw
        assert await chat.calls() == []
        await chat.generate()
        await chat.swap("openai:gpt-4.1")
        [row] = await chat.preview("openai:gpt-4.1")
        await chat.generate(model="openai:gpt-4.1")
        fork = await chat.fork()
        sent.append((content_hash(answer), [one.body for one in sessions.fake.sent], row["loss"], await fork.check()))
    assert all(one == sent[0] for one in sent)


async def test_provider_raw_may_have_a_limit(open_sessions: Open, caplog: pytest.LogCaptureFixture) -> None:
    """A longer value is dropped, with a warning; the message stays: R-126."""
    sessions = await open_sessions(raw_limit=100)
    chat = await sessions.create()
    await chat.append([user(), assistant(provider_raw={"x": "y" * 80}), assistant(provider_raw={"x": "secret" * 80})])
    kept, dropped = (await chat.history())[1:]
    assert "provider_raw" in kept["metadata"]
    assert "provider_raw" not in dropped["metadata"]
    assert dropped["content"] == kept["content"]
    [record] = [record for record in caplog.records if record.name == "interlingua.sessions"]
    assert (record.levelname, record.message_id, record.session_id) == ("WARNING", dropped["id"], chat.id)  # type: ignore[attr-defined]
    assert "secret" not in caplog.text


async def test_a_key_is_in_no_row(open_sessions: Open) -> None:
    """No row contains the key of a provider, even when the provider repeats it."""
    from interlingua.client import Client, FakeTransport, Refuse
    from interlingua.sessions import Sessions

    sessions = await open_sessions()
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "no sk-test-0123456789 here"}}
    client = Client(FakeTransport(Refuse(400, body), Say("Hi")), keys={"anthropic": "sk-test-0123456789"}, retry="none")
    keyed = Sessions(sessions._opened(), client=client, model=CLAUDE)
    chat = await keyed.create()
    with pytest.raises(Exception, match="anthropic"):
        await chat.say("Hello")
    await chat.generate()
    from interlingua.sessions.rows import _TABLE_OF

    def everything(rows: Rows) -> str:
        return str([rows._do.ask(f"SELECT * FROM {table}") for table in _TABLE_OF.values()])

    assert "sk-test" not in await keyed.read(everything)
    await client.aclose()
