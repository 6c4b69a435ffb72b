"""SQLite: one file, no server. Write-ahead log, so that readers and the writer do not wait for each other."""

import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, Final

from interlingua.sessions import tables
from interlingua.sessions.errors import StorageFailed
from interlingua.sessions.storage import Outcome, Row, Transaction

_BUSY_S = 30.0
"""How long a transaction waits for one of another process, in seconds."""
_TOGETHER_S: Final = 0.01
"""How long one transaction accepts further works before it is committed, in seconds."""
_ROWS_AT_ONCE: Final = 20
"""How many rows one INSERT adds: together they cost two thirds of what they cost one by one. All full INSERTs have the
same text, so that it is prepared once; SQLite takes 32,766 parameters, older versions 999."""


class _Statements:
    lock = ""  # the writer has locked the whole database

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def ask(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        return self._connection.execute(statement, parameters).fetchall()

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        self._connection.execute(statement, parameters)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        insert, values = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ", f"({', '.join('?' * len(columns))})"
        whole = len(rows) - len(rows) % _ROWS_AT_ONCE
        for start in range(0, whole, _ROWS_AT_ONCE):
            some = chain.from_iterable(rows[start : start + _ROWS_AT_ONCE])
            self._connection.execute(insert + ", ".join([values] * _ROWS_AT_ONCE), tuple(some))
        self._connection.executemany(insert + values, rows[whole:])


class SqliteStorage:
    """A database in a file, or in memory when there is no path. One thread writes at a time, any number read."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._writing = threading.Lock()
        self._idle: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._opened: list[sqlite3.Connection] = []
        with _storage_failures():
            self._writer = self._connect()
            self._prepare(self._writer)

    @contextmanager
    def read(self) -> Generator[Transaction]:
        """Open a transaction that sees one state of the database and changes nothing."""
        if self._path is None:  # a database in memory has one connection
            with self._writing, _storage_failures(), self._transaction(self._writer, "BEGIN") as statements:
                yield statements
            return
        with _storage_failures():
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                connection = self._connect()
            try:
                with self._transaction(connection, "BEGIN") as statements:
                    yield statements
            finally:
                self._idle.put(connection)

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """Open a transaction that may change anything. Others of this process wait in turn, those of other processes
        retry."""
        with self._writing, _storage_failures(), self._transaction(self._writer, "BEGIN IMMEDIATE") as statements:
            yield statements

    def write_all(self, works: Sequence[Callable[[Transaction], Any]]) -> list[Outcome]:
        """Run works in one transaction, each under a savepoint of its own that is rolled back when the work fails.
        Returns the outcomes of the works that were run: the first ones, at least one. The changes of works that
        succeeded are on the disk. Raises `StorageFailed` when nothing is."""
        found: list[Outcome] = []
        with self.write() as transaction:
            until = time.monotonic() + _TOGETHER_S
            for work in works:
                transaction.run("SAVEPOINT part")
                try:
                    found.append(Outcome(work(transaction), None))
                except BaseException as problem:  # the outcome reports it to the work's caller
                    if not self._writer.in_transaction:
                        raise  # the engine has rolled back the whole transaction
                    transaction.run("ROLLBACK TO part")
                    found.append(Outcome(None, _translated(problem)))
                transaction.run("RELEASE part")
                if time.monotonic() > until:
                    break
        return found

    def close(self) -> None:
        """Close all connections. May be called any number of times."""
        with self._writing:
            while self._opened:
                self._opened.pop().close()

    @contextmanager
    def _transaction(self, connection: sqlite3.Connection, begin: str) -> Generator[_Statements]:
        connection.execute(begin)
        try:
            yield _Statements(connection)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path or ":memory:", timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        self._opened.append(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # acknowledged changes survive a loss of power
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # no free page of the file contains deleted data
        connection.execute("PRAGMA temp_store = MEMORY")  # nor does a temporary file, from savepoints
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        with self._transaction(connection, "BEGIN IMMEDIATE") as statements:
            statements.run("CREATE TABLE IF NOT EXISTS storage_version (version INTEGER NOT NULL)")
            if not up_to_date(statements.ask("SELECT version FROM storage_version")):
                for statement in tables.SEED:
                    statements.run(tables.for_sqlite(statement))
                for table, columns in tables.ADDED_COLUMNS.items():
                    there = {row[1] for row in statements.ask(f"PRAGMA table_info({table})")}
                    for column in columns:
                        if column.split()[0] not in there:
                            statements.run(tables.for_sqlite(f"ALTER TABLE {table} ADD COLUMN {column}"))
                for statement in tables.ADDED:
                    statements.run(tables.for_sqlite(statement))
                statements.run("INSERT INTO storage_version VALUES (?)", (tables.VERSION,))


def up_to_date(rows: list[Row]) -> bool:
    """Whether the tables exist in the current version, by the rows of `storage_version`. Raises `StorageFailed` for a
    later version."""
    version = max((row[0] for row in rows), default=0)
    if version > tables.VERSION:
        raise StorageFailed(
            f"the tables of the database have version {version}, this program knows up to {tables.VERSION}: upgrade it",
            retryable=False,
        )
    return version == tables.VERSION


@contextmanager
def _storage_failures() -> Generator[None]:
    """Turn failures of the engine into failures of the storage. Their text may quote a value, so only their type is
    reported."""
    try:
        yield
    except sqlite3.Error as problem:
        raise _translated(problem) from None


def _translated(problem: BaseException) -> BaseException:
    if isinstance(problem, sqlite3.IntegrityError):
        text = f"the database refuses a row ({problem.sqlite_errorname}); nothing was written"
        return StorageFailed(text, retryable=False)
    if isinstance(problem, sqlite3.Error):
        name = getattr(problem, "sqlite_errorname", type(problem).__name__)
        why = next((f": {words}" for kind, words in _MEANINGS.items() if name.startswith(kind)), "")
        return StorageFailed(f"the database failed{why} ({name})", retryable=name.startswith("SQLITE_BUSY"))
    return problem


_MEANINGS = {
    "SQLITE_CANTOPEN": "its file cannot be opened; its folder must exist and be writable",
    "SQLITE_FULL": "the disk is full",
    "SQLITE_NOTADB": "its file is not a database",
    "SQLITE_READONLY": "its file cannot be written",
}
"""Explanations of the failures that an operator can remedy."""
