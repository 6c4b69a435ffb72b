"""
A run over all shards: several processes, each with one shard at a time, and the sum of their results.

The folder of a run holds its whole state: `_plan.json` has the settings and the shards, the output of a shard gets its
name when it is complete, and `_done/` has a record for each finished shard, written after its output. So a run that was
killed at any moment can be started again with the same arguments: it skips shards with a record, and begins all others
anew.
"""

import logging
import multiprocessing
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from interlingua.bulk import inputs as reading
from interlingua.bulk import outputs
from interlingua.bulk.adapting import Adapter, Job
from interlingua.bulk.inputs import PARQUET, Input, Shard
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest
from interlingua.canonical.loss import SEVERITIES

Data = dict[str, Any]
Observe = Callable[[int, int, int], None]
"""A function that gets the number of rows that are done, of those with an error, and of all rows."""

_PLAN, _DONE, _LOCK = "_plan.json", "_done", "_lock"
_VERSION: Final = 1
_REPORT_EVERY_S: Final = 0.2
_TRIES: Final = 3
"""How often a shard is tried when its process dies."""
_ERRORS_SHOWN: Final = 20


@dataclass
class Summary:
    """The result of a run. `adapted`, `refused` (by the loss policy) and `malformed` (all other errors) add up to
    `rows`. `errors` holds the first errors. `loss` holds, for each severity and code, the number of entries, the number
    of rows, and one row as an example. `failed` are the numbers of the shards whose process died repeatedly; their rows
    are not counted."""

    rows: int = 0
    adapted: int = 0
    refused: int = 0
    malformed: int = 0
    shards: int = 0
    errors: list[Data] = field(default_factory=list)
    loss: list[Data] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """The settings of a run, for every process."""

    job: Job
    inputs: list[Input]
    folder: Path
    format: str
    limit: int
    tenant: str

    def output(self, number: int) -> Path:
        return self.folder / f"part-{number:05d}.{self.format}"

    def record(self, number: int) -> Path:
        return self.folder / _DONE / f"{number:05d}.json"


def run(
    job: Job,
    names: Sequence[str],
    folder: Path,
    *,
    processes: int | None = None,
    format: str | None = None,
    shard_bytes: int = 32 << 20,
    row_limit: int = 64 << 20,
    tenant: str = "",
    observe: Observe | None = None,
) -> Summary:
    """Adapt all rows of some inputs into a folder, or continue an interrupted run with the same arguments.

    `names` are files, folders, and URLs of databases of sessions (of `tenant`). `processes` is the number of processors
    by default. The output is Parquet when all inputs are, unless `format` states another format. A shard has at least
    `shard_bytes`; a row of more than `row_limit` bytes is an error. Raises `InvalidRequest` for inputs that cannot be
    read, and for a folder that holds something else or is in use.
    """
    Adapter(job)  # so an error of the job is raised before anything is written
    inputs = reading.find_inputs(names)
    if format is None:
        format = "parquet" if all(source.name.endswith(PARQUET) for source in inputs) else "jsonl"
    if format not in outputs.FORMATS:
        raise InvalidRequest(f"the format must be {' or '.join(outputs.FORMATS)}; not {format!r}")
    if format == "parquet":
        import_module("pyarrow")  # so a missing package is reported here, and not by a worker process
    if shard_bytes < 1 or row_limit < 1 or (processes is not None and processes < 1):
        raise InvalidRequest("the number of processes and the sizes of shards and rows must be at least 1")
    this_run = Run(job, inputs, folder, format, row_limit, tenant)
    with _locked(folder):
        shards = _planned_shards(this_run, shard_bytes)
        remaining = [number for number in range(len(shards)) if not this_run.record(number).exists()]
        failed = _adapt_shards(this_run, shards, remaining, processes or os.cpu_count() or 1, observe)
        return _summed_up(this_run, len(shards), failed)


# ---------------------------------------------------------------------------------------------------- the folder


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """Create and lock the folder of a run. The lock ends with its process, also if that is killed."""
    if folder.exists() and not folder.is_dir():
        raise InvalidRequest(f"{folder} is not a folder")
    if folder.is_dir() and not (folder / _PLAN).exists() and any(entry.name != _LOCK for entry in folder.iterdir()):
        raise InvalidRequest(f"{folder} holds other files; name a new folder, or the folder of the run to continue")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        with suppress(ImportError):  # not on every platform
            import fcntl

            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InvalidRequest(
                    f"another run is using {folder}; wait for its end, or name another folder"
                ) from None
        yield


def _planned_shards(this_run: Run, shard_bytes: int) -> list[Shard]:
    """Return the shards of the run that was begun in the folder; for a new run, make and store them."""
    settings: Data = {
        "version": _VERSION,
        "job": asdict(this_run.job),
        "format": this_run.format,
        "limit": this_run.limit,
        "tenant": this_run.tenant,
        "shard_bytes": shard_bytes,
        "inputs": [[item.public_name, item.size, item.changed] for item in this_run.inputs],
    }
    file = this_run.folder / _PLAN
    if file.exists():
        plan = json.loads(file.read_bytes())
        if {name: plan.get(name) for name in settings} != settings:
            raise InvalidRequest(
                f"{this_run.folder} holds a run with other arguments, or its inputs have changed; name a new folder"
            )
        for stale in this_run.folder.glob(f"*{outputs.UNFINISHED}"):
            stale.unlink()
        return [_shard(*item) for item in plan["shards"]]
    shards = reading.shards(this_run.inputs, this_run.job, shard_bytes, this_run.limit, this_run.tenant)
    (this_run.folder / _DONE).mkdir(exist_ok=True)
    _store(file, {**settings, "shards": shards})
    return shards


def _shard(place: int, start: int, end: int, first: int, rows: int, ids: list[str]) -> Shard:
    return Shard(place, start, end, first, rows, tuple(ids))


def _store(file: Path, value: Any) -> None:
    unfinished = file.with_name(file.name + outputs.UNFINISHED)
    with unfinished.open("wb") as stream:
        stream.write(json.dumps(value))
        stream.flush()
        os.fsync(stream.fileno())
    outputs.put_in_place(unfinished, file)


def _summed_up(this_run: Run, count: int, failed: list[int]) -> Summary:
    total = Summary(shards=count, failed=sorted(failed))
    losses: dict[tuple[str, str], Data] = {}
    for number in range(count):
        if not this_run.record(number).exists():
            continue
        record = json.loads(this_run.record(number).read_bytes())
        for name in ("rows", "adapted", "refused", "malformed"):
            setattr(total, name, getattr(total, name) + record[name])
        total.errors += record["errors"][: max(0, _ERRORS_SHOWN - len(total.errors))]
        for row in record["loss"]:
            merged = losses.setdefault((row["severity"], row["code"]), {**row, "entries": 0, "rows": 0})
            merged["entries"] += row["entries"]
            merged["rows"] += row["rows"]
    order = list(reversed(SEVERITIES))
    total.loss = sorted(losses.values(), key=lambda row: (order.index(row["severity"]), -row["rows"], row["code"]))
    return total


# ---------------------------------------------------------------------------------------------------- the processes


class _Worker:
    """A worker process, and its current shard."""

    def __init__(self, this_run: Run) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, this_run), daemon=True)
        self.process.start()
        other.close()
        self.number: int | None = None
        self.rows = self.errors = 0

    def give(self, number: int, shard: Shard) -> None:
        """Send the process a shard to adapt."""
        self.number, self.rows, self.errors = number, 0, 0
        with suppress(OSError):  # the process is dead, which `wait` will report
            self.connection.send((number, shard))

    def end(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def _adapt_shards(
    this_run: Run, shards: list[Shard], remaining: list[int], processes: int, observe: Observe | None
) -> list[int]:
    """Let worker processes adapt the remaining shards. Returns the shards that failed; raises the error of a worker."""
    total = sum(shard.rows for shard in shards)
    done = [json.loads(this_run.record(number).read_bytes()) for number in set(range(len(shards))) - set(remaining)]
    rows = sum(record["rows"] for record in done)
    errors = sum(record["refused"] + record["malformed"] for record in done)
    waiting = list(reversed(remaining))
    tries: Counter[int] = Counter()
    failed: list[int] = []
    workers: list[_Worker] = []
    try:
        workers += [_Worker(this_run) for _ in range(min(processes, len(remaining)))]
        for worker in workers:
            number = waiting.pop()
            worker.give(number, shards[number])
        while workers:
            if observe is not None:
                observe(
                    rows + sum(worker.rows for worker in workers),
                    errors + sum(worker.errors for worker in workers),
                    total,
                )
            ready = wait([worker.connection for worker in workers], timeout=1)
            for worker in [candidate for candidate in workers if candidate.connection in ready]:
                place, number = workers.index(worker), worker.number
                try:
                    kind, payload = worker.connection.recv()
                except (EOFError, OSError):
                    # the process was killed, or ran out of memory: another process tries the shard again
                    worker.end()
                    if number is None:
                        raise AssertionError("a process without a shard") from None
                    tries[number] += 1
                    if tries[number] < _TRIES:
                        waiting.append(number)
                    else:
                        failed.append(number)
                    if waiting:
                        workers[place] = worker = _Worker(this_run)
                else:
                    if kind == "problem":
                        raise payload
                    worker.rows, worker.errors = payload
                    if kind == "rows":
                        continue
                    rows, errors = rows + worker.rows, errors + worker.errors
                if waiting:
                    number = waiting.pop()
                    worker.give(number, shards[number])
                else:
                    worker.end()
                    workers.remove(worker)
        if observe is not None:
            observe(rows, errors, total)
    finally:
        for worker in workers:
            worker.end()
    return failed


def _serve(connection: Connection, this_run: Run) -> None:
    """Run a worker process: adapt the shards that arrive on the connection, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends it
    logging.getLogger("interlingua").setLevel(logging.ERROR)  # losses are in the output
    adapter = Adapter(this_run.job)

    def report(rows: int, errors: int) -> None:
        connection.send(("rows", (rows, errors)))

    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the parent process is gone
        while True:
            number, shard = connection.recv()
            try:
                counts = do_shard(this_run, adapter, number, shard, report)
            except (InterlinguaError, OSError) as problem:
                if isinstance(problem, (BrokenPipeError, ConnectionResetError)):
                    raise
                connection.send(("problem", problem))
                continue
            connection.send(("done", counts))


def do_shard(
    this_run: Run, adapter: Adapter, number: int, shard: Shard, report: Callable[[int, int], None]
) -> tuple[int, int]:
    """Adapt a shard. Returns the number of its rows and of rows with an error, and reports both to `tell`."""
    source = this_run.inputs[shard.input].public_name
    counts = _Counts(source)
    reported = time.monotonic()
    with outputs.writing(this_run.output(number), this_run.format) as output:
        for row in reading.rows(shard, this_run.inputs, this_run.job, this_run.limit, this_run.tenant):
            adapted = adapter(row.value)
            output.write(source, row.number, row.id, adapted)
            counts.note(row.number, adapted)
            if (now := time.monotonic()) - reported > _REPORT_EVERY_S:
                reported = now
                report(counts.rows, counts.refused + counts.malformed)
    _store(this_run.record(number), counts.record())
    return counts.rows, counts.refused + counts.malformed


class _Counts:
    """The counts of the results for a shard."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.rows = self.refused = self.malformed = 0
        self._errors: list[Data] = []
        self._entries: Counter[tuple[str, str]] = Counter()
        self._rows: Counter[tuple[str, str]] = Counter()
        self._examples: dict[tuple[str, str], int] = {}

    def note(self, number: int, adapted: Any) -> None:
        """Count a row."""
        self.rows += 1
        if adapted.error is not None:
            self.refused += adapted.refused
            self.malformed += not adapted.refused
            if len(self._errors) < _ERRORS_SHOWN:
                members = {
                    name: adapted.error[name] for name in ("category", "message", "path") if name in adapted.error
                }
                self._errors.append({"input": self._source, "row": number, **members})
            return
        seen: set[tuple[str, str]] = set()
        for entry in adapted.loss:
            kind = (entry["severity"], entry["code"])
            self._entries[kind] += 1
            if kind not in seen:
                seen.add(kind)
                self._rows[kind] += 1
                self._examples.setdefault(kind, number)

    def record(self) -> Data:
        """Return the counts as a record that can be stored and summed up."""
        loss = [
            {
                "severity": kind[0],
                "code": kind[1],
                "entries": count,
                "rows": self._rows[kind],
                "example": {"input": self._source, "row": self._examples[kind]},
            }
            for kind, count in self._entries.items()
        ]
        adapted = self.rows - self.refused - self.malformed
        counts = {"rows": self.rows, "adapted": adapted, "refused": self.refused, "malformed": self.malformed}
        return {**counts, "errors": self._errors, "loss": loss}
