"""Many rows: each once, as it would be alone, whatever is wrong with its neighbours and whenever the run is killed."""

import asyncio
import json
import multiprocessing
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.test_cli import run as command

from interlingua import adapt, translate
from interlingua.bulk import Adapter, AdaptTable, Job, Summary, run
from interlingua.bulk.inputs import Input
from interlingua.canonical.errors import InvalidRequest
from interlingua.sessions import Sessions

CASES = Path(__file__).resolve().parents[2] / "conformance/cases"
TARGET = "openai_chat"
Row = dict[str, Any]


def requests(count: int) -> list[Row]:
    """Canonical requests of the suite, which any wire takes."""
    found: list[Row] = []
    for file in sorted(CASES.glob("*/*/request.canonical.json")):
        request = json.loads(file.read_text())
        try:
            adapt(json.dumps(request), TARGET)
        except Exception:  # noqa: BLE001  cases of refusals are not looked for here
            continue
        found.append(request)
        if len(found) == count:
            break
    assert len(found) == count
    return found


def lines(path: Path, rows: list[Any]) -> Path:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def written(folder: Path) -> list[Row]:
    """All rows of the output, in order."""
    rows: list[Row] = []
    for file in sorted(folder.glob("part-*.jsonl")):
        rows += [json.loads(line) for line in file.read_text().splitlines()]
    for file in sorted(folder.glob("part-*.parquet")):
        for row in pq.read_table(file).to_pylist():
            texts = ("headers", "body", "loss", "error")
            rows.append({**row, **{name: json.loads(row[name]) if row[name] else None for name in texts}})
    return rows


def demand_as_alone(rows: list[Row], given: list[Row], target: str = TARGET) -> None:
    """Each row once, in order, with what `adapt` makes of it."""
    assert [row["row"] for row in rows] == list(range(1, len(given) + 1))
    for row, request in zip(rows, given, strict=True):
        projection = adapt(json.dumps(request), target)
        assert row["body"] == json.loads(projection.body)
        assert row["loss"] == json.loads(json.dumps(projection.loss))
        assert (row["path"], row["headers"]) == (projection.wire["path"], projection.wire["headers"])
        assert row.get("error") is None


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that there is not yet."""
    return tmp_path / "out"


# ---------------------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize("target", ["openai_chat", "gemini_generate"])
def test_each_row_is_adapted_as_it_would_be_alone(tmp_path: Path, out: Path, target: str) -> None:
    """In the order of the input, over several shards and processes; the summary counts its losses."""
    given = requests(60)
    summary = run(Job(target), [str(lines(tmp_path / "in.jsonl", given))], out, processes=2, shard_bytes=8000)
    rows = written(out)
    demand_as_alone(rows, given, target)
    assert (summary.rows, summary.adapted, summary.refused, summary.malformed) == (60, 60, 0, 0)
    assert summary.shards > 2
    entries = [entry for row in rows for entry in row["loss"]]
    assert sum(one["entries"] for one in summary.loss) == len(entries) > 0
    for one in summary.loss:
        kind = (one["severity"], one["code"])
        having = [row["row"] for row in rows if any((e["severity"], e["code"]) == kind for e in row["loss"])]
        assert (one["rows"], one["example"]["row"]) == (len(having), having[0])


WRONG: dict[str, bytes] = {
    "no JSON": b'{"messages": secret',
    "a number": b"17",
    "null": b"null",
    "of another form": b'{"messages": [{"role": "secret"}]}',
    "a body of a wire": b'{"model": "m", "messages": [{"role": "user", "content": "secret"}]}',
    "no UTF-8": b'{"messages": "\xff\xfe"}',
    "too long": b'{"messages": "' + b"secret" * 2000 + b'"}',
    "too deep": b"[" * 3000 + b"]" * 3000,
    "a call without its result": json.dumps(
        [
            {"role": "user", "content": [{"type": "text", "text": "secret"}]},
            {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "tu_1", "content": []}]},
        ]
    ).encode(),
}


def test_rows_that_cannot_be_read_are_told_with_their_place(tmp_path: Path, out: Path) -> None:
    """And cost nobody else anything; blank lines are no rows, and no error repeats what stands in a row."""
    good = requests(len(WRONG))
    file = tmp_path / "in.jsonl"
    with file.open("wb") as held:
        held.write(b"\xef\xbb\xbf")
        for request, wrong in zip(good, WRONG.values(), strict=True):
            held.write(json.dumps(request).encode() + b"\r\n\n" + wrong + b"\n")
        held.write(json.dumps(good[0]).encode())  # the last line has no end
    summary = run(Job(TARGET), [str(file)], out, processes=1, row_limit=10_000, shard_bytes=3000)
    assert (summary.rows, summary.adapted, summary.malformed) == (2 * len(WRONG) + 1, len(WRONG) + 1, len(WRONG))
    rows = written(out)
    assert [row["row"] for row in rows if "error" in row] == [3 * place for place in range(1, len(WRONG) + 1)]
    assert [(one["input"], one["row"]) for one in summary.errors] == [
        (str(file), 3 * place) for place in range(1, len(WRONG) + 1)
    ]
    assert all(row["error"]["category"] == "invalid_request" for row in rows if "error" in row)
    assert "secret" not in json.dumps([row for row in rows if "error" in row] + summary.errors)


def test_what_would_lose_too_much_is_refused_row_by_row(tmp_path: Path, out: Path) -> None:
    """With the report that is why."""
    given = requests(40)
    summary = run(Job(TARGET, strict="lost"), [str(lines(tmp_path / "in.jsonl", given))], out, processes=1)
    rows = written(out)
    refused = [row for row in rows if "error" in row]
    grave = [any(entry["severity"] == "lost" for entry in adapt(json.dumps(one), TARGET).loss) for one in given]
    assert ["error" in row for row in rows] == grave
    assert summary.refused == len(refused) == sum(grave) > 0
    assert summary.malformed == 0
    assert all(row["error"]["category"] == "loss_refused" and row["loss"] for row in refused)


def test_bodies_of_a_wire_and_lists_of_messages_are_rows_too(tmp_path: Path, out: Path) -> None:
    """To another wire, and to the canonical form."""
    body = {"model": "claude-sonnet-4-6", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
    file = str(lines(tmp_path / "wire.jsonl", [body, {"model": 5}]))
    summary = run(Job(TARGET, "anthropic_messages"), [file], out, processes=1)
    assert (summary.adapted, summary.malformed) == (1, 1)
    assert written(out)[0]["body"] == json.loads(adapt(json.dumps(body), TARGET, source="anthropic_messages").body)
    run(Job("canonical", "anthropic"), [file], tmp_path / "canonical", processes=1)
    canonical = written(tmp_path / "canonical")[0]
    assert canonical["body"] == translate.read_request(json.dumps(body), "anthropic_messages")[0]
    messages = [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]
    run(Job(TARGET), [str(lines(tmp_path / "lists.jsonl", [messages]))], tmp_path / "lists", processes=1)
    assert written(tmp_path / "lists")[0]["body"]["messages"] == [{"role": "user", "content": "Hi"}]


def test_a_defect_costs_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told by its kind, without its words."""

    def broken(*_: Any) -> Any:
        raise KeyError("secret")

    monkeypatch.setattr(translate, "project", broken)
    found = Adapter(Job(TARGET))(json.dumps(requests(0) or {"messages": []}))
    assert found.error == {
        "category": "internal",
        "message": "a defect of Interlingua (KeyError); please report it",
        "retryable": False,
    }


# ---------------------------------------------------------------------------------------------------- Parquet


def test_parquet_is_read_and_written(tmp_path: Path, out: Path) -> None:
    """A column of text, with ids beside it, in several row groups."""
    given = requests(30)
    file = tmp_path / "in.parquet"
    texts: list[str | None] = [json.dumps(one) for one in given]
    table = pa.table({"request": [*texts, None, "{"], "name": [f"n{place}" for place in range(32)]})
    pq.write_table(table, file, row_group_size=7)
    summary = run(Job(TARGET, id_column="name"), [str(file)], out, processes=2, shard_bytes=1)
    rows = written(out)
    assert [row["id"] for row in rows] == [f"n{place}" for place in range(32)]
    demand_as_alone(rows[:30], given)
    assert [row["row"] for row in rows if row["error"]] == [31, 32]
    assert (summary.shards, summary.adapted, summary.malformed) == (5, 30, 2)
    run(Job(TARGET), [str(file)], tmp_path / "lines", processes=1, format="jsonl")
    assert [row.get("body") for row in written(tmp_path / "lines")] == [row["body"] for row in rows]


def test_a_table_is_adapted_as_its_rows_would_be(tmp_path: Path) -> None:
    """In one piece, by whoever holds one; also after it was sent to another process."""
    rows = requests(6)
    texts = [*[json.dumps(row) for row in rows], "nonsense", None]
    table = pa.table({"key": list(range(8)), "asked": texts})
    adapt = pickle.loads(pickle.dumps(AdaptTable(Job(TARGET, column="asked", id_column="key"))))
    found = adapt(table).to_pylist()
    assert [row["id"] for row in found] == [str(number) for number in range(8)]
    alone = Adapter(Job(TARGET))
    for row, given in zip(found, rows, strict=False):
        wanted = alone(given)
        assert wanted.body is not None
        assert (row["body"], row["error"]) == (wanted.body.decode(), None)
        assert (row["path"], json.loads(row["headers"])) == (wanted.path, wanted.headers)
        assert json.loads(row["loss"]) == json.loads(json.dumps(wanted.loss))
    assert [row["body"] for row in found[6:]] == [None, None]
    assert all(json.loads(row["error"])["category"] == "invalid_request" for row in found[6:])
    assert adapt(table.slice(0, 0)).num_rows == 0
    for wrong in (Job(TARGET, column="other"), Job(TARGET, source="sessions")):
        with pytest.raises(InvalidRequest):
            AdaptTable(wrong)(table)


def test_nested_columns_are_conversations(tmp_path: Path, out: Path) -> None:
    """Arrow gives every row the members of all rows: those that are null are not there."""
    given = [
        [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        [
            {"role": "user", "content": [{"type": "text", "text": "Look", "cache": {"ttl": "1h"}}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "tu_1", "name": "look"}]},
        ],
    ]
    table = pa.table({"other": [1, 2], "messages": given})
    pq.write_table(table, tmp_path / "in.parquet")
    run(Job(TARGET, unanswered="placeholder"), [str(tmp_path)], out, processes=1)
    first, second = written(out)
    assert first["body"]["messages"] == [{"role": "user", "content": "Hi"}]
    assert second["error"]["path"] == "/messages/1/content/0"  # `input` is missing, and nothing else is wrong


def test_a_damaged_page_costs_its_rows(tmp_path: Path, out: Path) -> None:
    """Each is told of; the rows of other shards are adapted."""
    given = requests(20)
    file = tmp_path / "in.parquet"
    pq.write_table(
        pa.table({"request": [json.dumps(one) for one in given]}), file, row_group_size=5, use_dictionary=False
    )
    held = bytearray(file.read_bytes())
    group = pq.ParquetFile(file).metadata.row_group(1).column(0)
    place = group.data_page_offset
    held[place : place + group.total_compressed_size] = b"\x7f" * group.total_compressed_size
    file.write_bytes(held)
    summary = run(Job(TARGET), [str(file)], out, processes=1, shard_bytes=1)
    rows = written(out)
    assert [row["row"] for row in rows] == list(range(1, 21))
    assert [row["row"] for row in rows if row["error"]] == [6, 7, 8, 9, 10]
    assert (summary.adapted, summary.malformed) == (15, 5)


# ---------------------------------------------------------------------------------------------------- sessions


async def _talks(url: str) -> tuple[list[str], list[str]]:
    """Two sessions in a database; their ids, and the lines of their exports."""

    def said(role: str, text: str) -> Row:
        return {"role": role, "content": [{"type": "text", "text": text}]}

    async with Sessions(url) as sessions:
        first = await sessions.create()
        stored = await first.append([said("user", "Hi"), said("assistant", "Hello"), said("user", "Wrong")])
        await first.append(said("user", "Right"), instead_of=stored.messages[2]["id"])
        second = await sessions.create()
        call = {"type": "tool_use", "id": "tu_1", "name": "look", "input": {}}
        await second.append([said("user", "Look"), {"role": "assistant", "content": [call]}])
        return [first.id, second.id], [*await first.export(), *await second.export()]


def test_sessions_are_read_from_a_database_and_from_exports(tmp_path: Path, out: Path) -> None:
    """As they are told a model: without what another message stands for, a call without a result closed."""
    url = f"sqlite:///{tmp_path}/chats.db"
    ids, exported = asyncio.run(_talks(url))
    summary = run(Job(TARGET, "sessions"), [url], out, processes=1)
    assert (summary.rows, summary.adapted) == (2, 2)
    by_id = {row["id"]: row for row in written(out)}
    assert set(by_id) == set(ids)
    texts = [message["content"] for message in by_id[ids[0]]["body"]["messages"]]
    assert texts == ["Hi", "Hello", "Right"]
    assert [message["role"] for message in by_id[ids[1]]["body"]["messages"]] == ["user", "assistant", "tool"]
    file = tmp_path / "exports.jsonl"
    file.write_text("\n".join(exported) + "\n")
    run(Job(TARGET, "sessions"), [str(file)], tmp_path / "exports", processes=1, shard_bytes=1)
    rows = written(tmp_path / "exports")
    assert [row["id"] for row in rows] == ids
    assert [row["body"] for row in rows] == [by_id[row["id"]]["body"] for row in rows]
    other = run(Job(TARGET, "sessions"), [url], tmp_path / "other", processes=1, tenant="other")
    assert other.rows == 0


def test_an_export_with_a_bad_line_is_one_row_that_cannot_be_read(tmp_path: Path, out: Path) -> None:
    """The sessions before and behind it are adapted."""
    ids, exported = asyncio.run(_talks(f"sqlite:///{tmp_path}/chats.db"))
    place = next(number for number, line in enumerate(exported) if '"message"' in line)
    file = tmp_path / "exports.jsonl"
    file.write_text("\n".join(['{"type": "message"}', *exported[: place + 1], "{", *exported[place + 1 :]]))
    summary = run(Job(TARGET, "sessions"), [str(file)], out, processes=1)
    assert (summary.rows, summary.adapted, summary.malformed) == (3, 1, 2)
    assert [(row["id"], "error" in row) for row in written(out)] == [(None, True), (ids[0], True), (ids[1], False)]
    assert written(out)[1]["error"]["message"].startswith(f"line {place + 3}: ")


# ---------------------------------------------------------------------------------------------------- interruptions


_SMALL_SHARDS = """
import os, signal, sys
from pathlib import Path
from interlingua.bulk import Job, run
if __name__ == "__main__":
    file, out = sys.argv[1:]
    done = Path(out, "_done")
    before = len(list(done.glob("*.json")))
    def observe(rows, errors, total):
        if len(list(done.glob("*.json"))) >= before + 20:
            os.kill(os.getpid(), signal.SIGKILL)
    run(Job("openai_chat"), [file], Path(out), processes=2, shard_bytes=1500, observe=observe)
"""


@pytest.mark.timeout(300)
def test_a_run_that_is_killed_goes_on(tmp_path: Path, out: Path) -> None:
    """With kill -9, again and again, whenever a few more shards are done: no row is lost, none is there twice."""
    given = requests(100) * 3
    file = lines(tmp_path / "in.jsonl", given)
    script = tmp_path / "small.py"
    script.write_text(_SMALL_SHARDS)
    kills = 0
    while (ended := subprocess.run([sys.executable, str(script), str(file), str(out)], check=False)).returncode:
        assert ended.returncode == -signal.SIGKILL
        kills += 1
    assert kills >= 3
    assert not list(out.glob("*.part"))
    demand_as_alone(written(out), given)
    done = run(Job(TARGET), [str(file)], out, shard_bytes=1500)  # nothing is left to do: it is added up again
    assert (done.rows, done.adapted) == (300, 300)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A file of a few shards."""
    return lines(tmp_path / "in.jsonl", requests(20))


def _killer(times: int) -> Callable[[int, int, int], None]:
    left = [times]

    def observe(rows: int, errors: int, total: int) -> None:
        for process in multiprocessing.active_children():
            if left[0]:
                left[0] -= 1
                process.kill()

    return observe


def test_a_process_that_dies_is_replaced(small: Path, out: Path) -> None:
    """Its shard is done again."""
    summary = run(Job(TARGET), [str(small)], out, processes=1, observe=_killer(2))
    assert (summary.adapted, summary.failed) == (20, [])
    demand_as_alone(written(out), requests(20))


def test_a_shard_at_which_processes_die_is_given_up(small: Path, out: Path) -> None:
    """The rest is done, and so is that one when the run is started again."""
    summary = run(Job(TARGET), [str(small)], out, processes=1, observe=_killer(3))
    assert (summary.rows, summary.failed) == (0, [0])
    assert run(Job(TARGET), [str(small)], out, processes=1).adapted == 20


# ---------------------------------------------------------------------------------------------------- what is refused


def test_a_folder_holds_one_run(small: Path, out: Path, tmp_path: Path) -> None:
    """Other arguments, another input and a folder of something else are refused, and nothing is touched."""
    run(Job(TARGET), [str(small)], out, processes=1)
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    with pytest.raises(InvalidRequest, match="other arguments"):
        run(Job("anthropic_messages"), [str(small)], out, processes=1)
    with small.open("a") as file:
        file.write("{}\n")
    with pytest.raises(InvalidRequest, match="inputs have changed"):
        run(Job(TARGET), [str(small)], out, processes=1)
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before
    with pytest.raises(InvalidRequest, match="other files"):
        run(Job(TARGET), [str(small)], tmp_path, processes=1)


def test_two_runs_in_one_folder_are_one_too_many(small: Path, out: Path) -> None:
    """The second is told so."""

    def observe(rows: int, errors: int, total: int) -> None:
        with pytest.raises(InvalidRequest, match="another run is using"):
            run(Job(TARGET), [str(small)], out, processes=1)

    assert run(Job(TARGET), [str(small)], out, processes=1, observe=observe).adapted == 20


@pytest.mark.parametrize(
    ("names", "job", "told"),
    [
        (["nowhere.jsonl"], Job(TARGET), "no file or folder"),
        ([], Job(TARGET), "at least one input"),
        (["{folder}/x.txt"], Job(TARGET), "must end in"),
        (["{folder}/bad.parquet"], Job(TARGET), "no Parquet file"),
        (["{folder}/two.parquet"], Job(TARGET), "name the one that holds"),
        (["{folder}/two.parquet"], Job(TARGET, column="c"), "has no column 'c'"),
        (["sqlite:///{folder}/none.db"], Job(TARGET, "sessions"), "no such database"),
        (["sqlite:///{folder}/none.db"], Job(TARGET), "name sessions as the source"),
        (["{folder}/two.parquet"], Job(TARGET, "sessions"), "exported as JSON lines"),
        (["x.jsonl"], Job("nothing"), "nothing"),
        (["x.jsonl"], Job(TARGET, strict="much"), "strict takes"),
        (["x.jsonl"], Job(TARGET, unanswered="much"), "unanswered takes"),
        (["x.jsonl"], Job("canonical", model="x"), "leave them out with canonical"),
        (["x.jsonl"], Job(TARGET, from_provider="groq"), "name this wire as the source"),
    ],
)
def test_what_cannot_be_begun_is_told_at_once(tmp_path: Path, out: Path, names: list[str], job: Job, told: str) -> None:
    """Before anything is written, and no database is made."""
    (tmp_path / "x.txt").write_text("")
    (tmp_path / "bad.parquet").write_text("PAR1")
    pq.write_table(pa.table({"a": ["{}"], "b": ["{}"]}), tmp_path / "two.parquet")
    with pytest.raises(InvalidRequest, match=told):
        run(job, [name.format(folder=tmp_path) for name in names], out, processes=1)
    assert not list(out.glob("part-*"))
    assert not (tmp_path / "none.db").exists()


def test_the_password_of_a_database_is_written_nowhere() -> None:
    """Neither in the plan nor in a row."""
    url = "postgresql://me:secret@host:5/chats?password=secret"
    assert Input(url).public_name == "postgresql://host:5/chats"


# ---------------------------------------------------------------------------------------------------- the command


def invoke(*arguments: str) -> tuple[int, str, str]:
    """Status, output and what is said of a command."""
    done = command(*arguments, COLUMNS="400")  # a long temporary path would be folded
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_the_command(tmp_path: Path, out: Path) -> None:
    """Tells what became of the rows; its status says what is worst."""
    file = lines(tmp_path / "in.jsonl", requests(20))
    status, shown, _ = invoke("bulk", str(file), "--to", TARGET, "--out", str(out), "--processes", "1")
    assert status == 0
    assert "20 of 20 rows adapted" in shown
    assert "for example" in shown
    status, shown, _ = invoke(
        "bulk", str(file), "--to", TARGET, "-o", str(tmp_path / "s"), "--strict", "lost", "--json"
    )
    assert status == 3
    summary = Summary(**json.loads(shown))
    assert summary.refused > 0
    assert summary.adapted + summary.refused == 20
    with file.open("a") as held:
        held.write("{\n")
    status, shown, _ = invoke("bulk", str(file), "--to", TARGET, "-o", str(tmp_path / "m"))
    assert status == 2
    assert "1 cannot be read" in shown
    assert "in.jsonl:21" in shown
    status, _, said = invoke("bulk", "nowhere", "--to", TARGET, "-o", str(tmp_path / "n"))
    assert (status, said.count("\n")) == (2, 1)


def test_an_output_that_cannot_be_written_is_told_in_a_line(tmp_path: Path) -> None:
    """Status 1."""
    file = lines(tmp_path / "in.jsonl", requests(1))
    out = tmp_path / "out"
    out.mkdir()
    (out / "_plan.json").mkdir()
    command = [sys.executable, "-m", "interlingua", "bulk", str(file), "--to", TARGET, "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert done.stderr.startswith("interlingua: cannot write the output: ")


@pytest.fixture(autouse=True)
def _no_children() -> Iterator[None]:
    """No test leaves a process behind."""
    yield
    assert not multiprocessing.active_children()
