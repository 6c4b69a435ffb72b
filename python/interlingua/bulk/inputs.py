"""
The inputs of a run: files of JSON lines, Parquet files, databases of sessions. Each is cut into shards of consecutive
rows. A shard can be read again, and gives the same rows each time.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from interlingua.bulk.adapting import SESSIONS, Job
from interlingua.canonical import json
from interlingua.canonical.errors import InterlinguaError, InvalidRequest

LINES: Final = (".jsonl", ".ndjson")
PARQUET: Final = ".parquet"
_COLUMNS: Final = ("request", "conversation", "messages", "body")
"""The columns that are tried when the job names none."""
_BUFFER: Final = 1 << 20
_ROWS_AT_ONCE: Final = 256
_SESSIONS_IN_A_SHARD: Final = 500
_BOM: Final = b"\xef\xbb\xbf"


class Input(NamedTuple):
    """A file, or the URL of a database. Size and time of the last change show whether a file has changed."""

    name: str
    size: int = 0
    changed: int = 0

    @property
    def is_database(self) -> bool:
        """Whether the input is a database and not a file."""
        return "://" in self.name

    @property
    def public_name(self) -> str:
        """The name for plans and outputs: a URL without user, password and query."""
        scheme, separator, rest = self.name.partition("://")
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}" if separator else self.name


class Shard(NamedTuple):
    """Consecutive rows of an input. `start` and `end` are bytes of a file of lines or row groups of a Parquet file;
    `ids` are those of sessions in a database. `first` is the number of the first line or row, counted from 1."""

    input: int
    start: int
    end: int
    first: int
    rows: int
    ids: tuple[str, ...] = ()


class Row(NamedTuple):
    """A row: its number in its input, from 1, its id if it has one, and its value, or the error of reading it."""

    number: int
    id: str | None
    value: Any


def find_inputs(names: Iterable[str]) -> list[Input]:
    """Return the inputs for names of files, folders, and URLs of databases. Raises `InvalidRequest`."""
    inputs: list[Input] = []
    for name in names:
        if "://" in name:
            inputs.append(Input(name))
            continue
        path = Path(name)
        known = (*LINES, PARQUET)
        if path.is_dir():
            files = sorted(
                entry
                for entry in path.iterdir()
                if entry.suffix in known and entry.name[0] not in "._" and entry.is_file()
            )
            if not files:
                raise InvalidRequest(f"{name} holds no file that ends in {', '.join(known)}")
        elif path.is_file():
            if path.suffix not in known:
                raise InvalidRequest(
                    f"the name of {name} must end in one of {', '.join(known)}, so that its format is known"
                )
            files = [path]
        else:
            raise InvalidRequest(f"there is no file or folder {name}")
        for file in files:
            state = file.stat()
            inputs.append(Input(str(file), state.st_size, state.st_mtime_ns))
    if not inputs:
        raise InvalidRequest("name at least one input")
    return inputs


def shards(inputs: list[Input], job: Job, size: int, limit: int, tenant: str) -> list[Shard]:
    """Cut all inputs into shards; each but the last of an input has at least `size` bytes. Raises `InvalidRequest`."""
    cut: list[Shard] = []
    for place, source in enumerate(inputs):
        if source.is_database:
            if job.source != SESSIONS:
                raise InvalidRequest(f"a database holds sessions; name {SESSIONS} as the source")
            cut += _of_database(place, source.name, tenant)
        elif source.name.endswith(PARQUET):
            if job.source == SESSIONS:
                raise InvalidRequest(
                    "sessions are exported as JSON lines, not as Parquet; name another source, or the exported files"
                )
            cut += _of_parquet(place, source.name, job, size)
        else:
            cut += _of_lines(place, source.name, job, size, limit)
    return cut


def rows(shard: Shard, inputs: list[Input], job: Job, limit: int, tenant: str) -> Iterator[Row]:
    """Yield the rows of a shard, in order. A row that cannot be read is yielded with its error as its value."""
    name = inputs[shard.input].name
    if inputs[shard.input].is_database:
        return _sessions(name, shard, tenant)
    if name.endswith(PARQUET):
        return _parquet(name, shard, job)
    numbered = _numbered(name, shard, limit)
    return _exports(numbered) if job.source == SESSIONS else (Row(number, None, line) for number, line in numbered)


# ---------------------------------------------------------------------------------------------------- JSON lines


def _lines(file: Any, limit: int) -> Iterator[tuple[int, bytes | InvalidRequest]]:
    """Yield the lines of an open file, each with its length. A line longer than the limit is not kept in memory."""
    while line := file.readline(limit + 1):
        length = len(line)
        if length <= limit or line.endswith(b"\n"):
            yield length, line
            continue
        while (rest := file.readline(limit)) and not rest.endswith(b"\n"):
            length += len(rest)
        yield length + len(rest), InvalidRequest(f"the line is longer than {limit} bytes, which is the limit")


def _is_blank(line: bytes | InvalidRequest) -> bool:
    return isinstance(line, bytes) and (line.isspace() or not line.removeprefix(_BOM).rstrip())


def _of_lines(place: int, name: str, job: Job, size: int, limit: int) -> Iterator[Shard]:
    start = at = 0
    first = number = 1
    rows = 0
    with Path(name).open("rb", buffering=_BUFFER) as file:
        for length, line in _lines(file, limit):
            begins = job.source != SESSIONS or _begins_session(line)
            if at - start >= size and begins and rows:
                yield Shard(place, start, at, first, rows)
                start, first, rows = at, number, 0
            rows += begins and not _is_blank(line)
            at += length
            number += 1
    if at > start:
        yield Shard(place, start, at, first, rows)


def _begins_session(line: bytes | InvalidRequest) -> bool:
    if not isinstance(line, bytes) or b'"session"' not in line:
        return False
    try:
        value = json.loads(line.removeprefix(_BOM))
    except InvalidRequest:
        return False
    return isinstance(value, dict) and value.get("type") == "session"


def _numbered(name: str, shard: Shard, limit: int) -> Iterator[tuple[int, bytes | InvalidRequest]]:
    at, number = shard.start, shard.first
    with Path(name).open("rb", buffering=_BUFFER) as file:
        file.seek(at)
        for length, line in _lines(file, limit):
            if at >= shard.end:
                return
            if not _is_blank(line):
                yield number, line.removeprefix(_BOM) if isinstance(line, bytes) else line
            at += length
            number += 1


def _exports(lines: Iterator[tuple[int, bytes | InvalidRequest]]) -> Iterator[Row]:
    """Yield the sessions in the lines of exports. A session with a line that cannot be read is a row with an error."""
    from interlingua.sessions.transfer import conversation

    number, identity = 0, None
    held: list[Any] = []
    problem: InterlinguaError | None = None

    def row() -> Row:
        if problem is not None:
            return Row(number, identity, problem)
        try:
            return Row(number, identity, conversation(held))
        except InterlinguaError as wrong:
            return Row(number, identity, wrong)

    for place, line in lines:
        try:
            value = _object(line)
        except InterlinguaError as wrong:
            problem = problem or InvalidRequest(f"line {place}: {wrong}")
            number = number or place
            continue
        if value.get("type") == "session":
            if number:
                yield row()
            number, held, problem = place, [], None
            identity = value["id"] if isinstance(value.get("id"), str) else None
        elif not number:
            number, problem = place, InvalidRequest(f"line {place}: there is no line of a session before it")
        held.append(value)
    if number:
        yield row()


def _object(line: bytes | InvalidRequest) -> dict[str, Any]:
    if isinstance(line, InvalidRequest):
        raise line
    value = json.loads(line)
    if not isinstance(value, dict):
        raise InvalidRequest("each line of an export must be an object")
    return value


# ---------------------------------------------------------------------------------------------------- Parquet


def _opened(name: str) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(name)
    except (pa.ArrowException, OSError) as problem:
        raise InvalidRequest(f"{name} is no Parquet file ({type(problem).__name__})") from None


def _of_parquet(place: int, name: str, job: Job, size: int) -> Iterator[Shard]:
    with _opened(name) as file:
        column_of(file.schema_arrow, job, name)
        start, first, rows, group_bytes = 0, 1, 0, 0
        groups = file.metadata.num_row_groups
        for number in range(groups):
            group = file.metadata.row_group(number)
            rows += group.num_rows
            group_bytes += group.total_byte_size
            if group_bytes >= size or number + 1 == groups:
                yield Shard(place, start, number + 1, first, rows)
                start, first, rows, group_bytes = number + 1, first + rows, 0, 0


def column_of(schema: Any, job: Job, name: str) -> str:
    """Return the name of the column that holds the conversations."""
    import pyarrow.types as types

    names: list[str] = schema.names
    for wanted_column in filter(None, (job.column, job.id_column)):
        if wanted_column not in names:
            raise InvalidRequest(f"{name} has no column {wanted_column!r}; it has {', '.join(names)}")
    if job.column is not None:
        return job.column
    for candidate in _COLUMNS:
        if candidate in names:
            return candidate
    texts = [field.name for field in schema if types.is_string(field.type) or types.is_large_string(field.type)]
    if len(texts) == 1:
        return texts[0]
    raise InvalidRequest(f"{name} has the columns {', '.join(names)}; name the one that holds the conversations")


def _parquet(name: str, shard: Shard, job: Job) -> Iterator[Row]:
    import pyarrow as pa

    number = shard.first
    try:
        with _opened(name) as file:
            column = column_of(file.schema_arrow, job, name)
            columns = [column, *([job.id_column] if job.id_column else [])]
            groups = list(range(shard.start, shard.end))
            for batch in file.iter_batches(_ROWS_AT_ONCE, row_groups=groups, columns=columns):
                ids = batch.column(job.id_column).to_pylist() if job.id_column else [None] * batch.num_rows
                for value, identity in zip(values(batch.column(column)), ids, strict=True):
                    yield Row(number, None if identity is None else str(identity), value)
                    number += 1
    except (pa.ArrowException, OSError, InvalidRequest) as problem:
        # a page is damaged: the rest of the shard cannot be read, and each of its rows is reported
        for lost in range(number, shard.first + shard.rows):
            yield Row(lost, None, InvalidRequest(f"the file cannot be read here ({type(problem).__name__})"))


def values(column: Any) -> list[Any]:
    """Return the conversations in a column of Arrow: JSON text as bytes, or plain data. A value that cannot be read is
    replaced by its error."""
    import pyarrow as pa
    import pyarrow.types as types

    if types.is_string(column.type) or types.is_large_string(column.type):
        # as bytes, because the reader of the JSON reports text that is not UTF-8
        column = column.cast(pa.large_binary() if types.is_large_string(column.type) else pa.binary())
    try:
        conversations = column.to_pylist()
    except (ValueError, OverflowError):
        conversations = [_value(held) for held in column]
    return [
        value if isinstance(value, (bytes, InvalidRequest)) else _NULL if value is None else _without_nulls(value)
        for value in conversations
    ]


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return InvalidRequest("the value cannot be read; check that it is UTF-8")


_NULL: Final = InvalidRequest("the value is null")


def _without_nulls(value: Any) -> Any:
    """Return a nested value of Arrow without nulls: Arrow gives each row the members of all rows, as null if absent."""
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


# ---------------------------------------------------------------------------------------------------- databases


def _storage(url: str) -> Any:
    from interlingua.sessions.storage import demand_there, open_storage

    demand_there(url)
    return open_storage(url)


def _of_database(place: int, url: str, tenant: str) -> Iterator[Shard]:
    from interlingua.sessions.rows import Rows

    storage = _storage(url)
    ids: list[str] = []
    try:
        with storage.read() as transaction:
            rows = Rows(transaction, tenant)
            before = None
            while page := rows.sessions(_SESSIONS_IN_A_SHARD, before):
                ids += [row.id for row in page]
                before = (page[-1].created_at, page[-1].id)
    finally:
        storage.close()
    for start in range(0, len(ids), _SESSIONS_IN_A_SHARD):
        shard_ids = tuple(ids[start : start + _SESSIONS_IN_A_SHARD])
        yield Shard(place, start, start + len(shard_ids), start + 1, len(shard_ids), shard_ids)


def _sessions(url: str, shard: Shard, tenant: str) -> Iterator[Row]:
    from interlingua.canonical.model_response import status_of
    from interlingua.sessions.errors import SessionNotFound, StorageFailed
    from interlingua.sessions.messages import for_request, from_row
    from interlingua.sessions.rows import Rows

    storage = _storage(url)
    try:
        for number, identity in enumerate(shard.ids, start=shard.first):
            try:
                with storage.read() as transaction:
                    rows = Rows(transaction, tenant)
                    if rows.session(identity) is None:
                        raise SessionNotFound("the session was deleted after the run began")
                    messages = [from_row(row) for row in rows.messages(identity)]
            except InterlinguaError as problem:
                if isinstance(problem, StorageFailed) and problem.retryable:
                    raise  # the database is unavailable, which is not an error of this session
                yield Row(number, identity, problem)
                continue
            yield Row(
                number, identity, [for_request(message) for message in messages if status_of(message) != "partial"]
            )
    finally:
        storage.close()
