"""
What is written for a shard: a row for each row that was read, in the same order, as JSON lines or as Parquet.

A file has its name only when it is whole and on the disk; until then it ends in `.part`.
"""

import os
from collections.abc import Generator
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
_COLUMNS: Final = ("input", "row", "id", "path", "headers", "body", "loss", "error")


class Writer(Protocol):
    """Where the rows of a shard go."""

    def write(self, source: str, number: int, identity: str | None, found: Adapted) -> None:
        """Adds a row: where it comes from, and what became of it."""
        ...


@contextmanager
def writing(file: Path, format: str) -> Generator[Writer]:
    """A file that is there, whole, when the block ends well, and not at all when it does not."""
    unfinished = file.with_name(file.name + UNFINISHED)
    with unfinished.open("wb", buffering=_BUFFER) as held:
        writer = _Lines(held) if format == "jsonl" else _Parquet(held)
        yield writer
        writer.end()
        held.flush()
        os.fsync(held.fileno())
    put_in_place(unfinished, file)


def put_in_place(unfinished: Path, file: Path) -> None:
    """Gives a file that is on the disk its name, on the disk as well."""
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

    def write(self, source: str, number: int, identity: str | None, found: Adapted) -> None:
        head = json.dumps({"input": source, "row": number, "id": identity})
        if found.error is not None:
            # the body is bytes already, and not read again
            line = b'%b,"error":%b,"loss":%b}\n' % (head[:-1], json.dumps(found.error), json.dumps(found.loss))
        else:
            where = json.dumps({"path": found.path, "headers": found.headers})
            body = found.body or b"null"
            line = b'%b,%b,"body":%b,"loss":%b}\n' % (head[:-1], where[1:-1], body, json.dumps(found.loss))
        self._file.write(line)

    def end(self) -> None:
        """Nothing is held back."""


class _Parquet:
    """Members that are JSON have it as text, for rows differ in their form."""

    def __init__(self, file: Any) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._arrow = pa
        kinds = {"row": pa.int64(), "body": pa.large_string()}
        self._schema = pa.schema([(name, kinds.get(name, pa.string())) for name in _COLUMNS])
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd")
        self._held: list[tuple[Any, ...]] = []
        self._bytes = 0

    def write(self, source: str, number: int, identity: str | None, found: Adapted) -> None:
        headers, loss, error = (
            None if value is None else json.dumps(value).decode() for value in (found.headers, found.loss, found.error)
        )
        body = None if found.body is None else found.body.decode()
        self._held.append((source, number, identity, found.path, headers, body, loss, error))
        self._bytes += len(body or "") + len(loss or "")
        if len(self._held) >= _ROWS_AT_ONCE or self._bytes >= _BYTES_AT_ONCE:
            self._give()

    def end(self) -> None:
        """Writes what is held back, and the foot of the file."""
        self._give()
        self._writer.close()

    def _give(self) -> None:
        columns = zip(*self._held, strict=True) if self._held else ((),) * len(_COLUMNS)
        arrays = [
            self._arrow.array(list(column), type=field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
        self._held, self._bytes = [], 0
