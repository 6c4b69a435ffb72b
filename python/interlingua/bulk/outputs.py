"""
The output of a shard: a row for each row that was read, in the same order, as JSON lines or as Parquet.

A file gets its name when it is complete and on the disk; until then its name ends in `.part`.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

from interlingua.bulk.adapting import Adapted
from interlingua.canonical import json

FORMATS: Final = ("jsonl", "parquet")
UNFINISHED: Final = ".part"
_BUFFER: Final = 1 << 20
_ROWS_AT_ONCE: Final = 1000
_BYTES_AT_ONCE: Final = 32 << 20
_ROW_BYTES: Final = 200
"""The approximate number of bytes of an entry of a loss report."""
RESULT: Final = ("id", "path", "headers", "body", "loss", "error")
"""The columns of the result for a row."""
_COLUMNS: Final = ("input", "row", *RESULT)


class Writer(Protocol):
    """The writer of the rows of a shard."""

    def write(self, source: str, number: int, identity: str | None, adapted: Adapted) -> None:
        """Add a row: its input, its number, its id and its result."""
        ...


@contextmanager
def writing(file: Path, format: str) -> Generator[Writer]:
    """Provide a writer for a file, which exists, complete, if the block succeeds, and does not exist if it fails."""
    unfinished = file.with_name(file.name + UNFINISHED)
    with unfinished.open("wb", buffering=_BUFFER) as stream:
        writer = _Lines(stream) if format == "jsonl" else _Parquet(stream)
        yield writer
        writer.end()
        stream.flush()
        os.fsync(stream.fileno())
    put_in_place(unfinished, file)


def put_in_place(unfinished: Path, file: Path) -> None:
    """Rename a file that is on the disk, and flush the new name to the disk as well."""
    unfinished.replace(file)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class _Lines:
    def __init__(self, file: Any) -> None:
        self._file = file

    def write(self, source: str, number: int, identity: str | None, adapted: Adapted) -> None:
        head = b'{"input":%b,"row":%d,"id":%b' % (json.dumps(source), number, json.dumps(identity))
        loss = json.dumps(adapted.loss) if adapted.loss else b"[]"
        if adapted.error is not None:
            self._file.write(b'%b,"error":%b,"loss":%b}\n' % (head, json.dumps(adapted.error), loss))
        else:
            # the body is JSON bytes already and need not be parsed again
            where = b'"path":%b,"headers":%b' % (json.dumps(adapted.path), json.dumps(adapted.headers))
            self._file.write(b'%b,%b,"body":%b,"loss":%b}\n' % (head, where, adapted.body or b"null", loss))

    def end(self) -> None:
        """Do nothing: no row is buffered here."""


class _Parquet:
    def __init__(self, file: Any) -> None:
        import pyarrow.parquet as pq

        self._schema = schema()
        # bodies are unique: a dictionary for them costs time and finds nothing
        repeated: Any = ["input", "path", "headers"]
        with_statistics: Any = [
            "input",
            "row",
            "id",
        ]  # minimum and maximum of other columns do not help a reader to select rows
        self._writer = pq.ParquetWriter(
            file, self._schema, compression="zstd", use_dictionary=repeated, write_statistics=with_statistics
        )
        self._rows: list[tuple[Any, ...]] = []
        self._bytes = 0

    def write(self, source: str, number: int, identity: str | None, adapted: Adapted) -> None:
        self._rows.append((source, number, *cells(identity, adapted)))
        self._bytes += len(adapted.body or b"") + _ROW_BYTES * len(adapted.loss)
        if len(self._rows) >= _ROWS_AT_ONCE or self._bytes >= _BYTES_AT_ONCE:
            self._flush()

    def end(self) -> None:
        """Write the buffered rows, and the footer of the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(table(self._rows, self._schema))
        self._rows, self._bytes = [], 0


def schema(names: Sequence[str] = _COLUMNS) -> Any:
    """Return the columns of the output as an Arrow schema. JSON values are text, because their members vary by row."""
    import pyarrow as pa

    kinds = {"row": pa.int64(), "body": pa.large_string()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in names])


def cells(identity: str | None, adapted: Adapted) -> tuple[Any, ...]:
    """Return the cells of a row: id, path, headers, body, loss, error. JSON is bytes, which Arrow accepts as text."""
    headers = None if adapted.headers is None else json.dumps(adapted.headers)
    error = None if adapted.error is None else json.dumps(adapted.error)
    loss = json.dumps(adapted.loss) if adapted.loss else b"[]"
    return identity, adapted.path, headers, adapted.body, loss, error


def table(rows: Sequence[tuple[Any, ...]], schema: Any) -> Any:
    """Return rows as a table of Arrow."""
    import pyarrow as pa

    columns = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(list(column), type=field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)
