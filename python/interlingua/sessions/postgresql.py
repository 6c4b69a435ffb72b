"""PostgreSQL: several servers share one database. psycopg 3, one connection for each thread that is working."""

import queue
import select
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, cast

try:
    import psycopg
except ImportError as problem:  # pragma: no cover
    raise ImportError("PostgreSQL needs the extra: pip install 'interlingua[postgresql]'") from problem

from interlingua.sessions import tables
from interlingua.sessions.errors import StorageFailed
from interlingua.sessions.sqlite import up_to_date
from interlingua.sessions.storage import Row, Transaction

Connection = psycopg.Connection[Row]

_SETTING_UP = 0x1_17E_2_11_06A
"""The key of the lock under which one server makes the tables; any number that all servers share."""


@cache
def _placed(statement: str) -> str:
    return statement.replace("?", "%s")


_MANY = 8
"""From this number of rows on they are copied, and not inserted one by one."""


class _Statements:
    """The statements of a transaction. A statement that returns no rows waits for the next one that does, or for the
    end, and is sent with it in one message."""

    lock = " FOR UPDATE"

    def __init__(self, connection: Connection, begin: str = "") -> None:
        self._connection = connection
        self._waiting = [begin] if begin else []
        self._parameters: list[Any] = []

    def ask(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        self.run(statement, parameters)
        return self._send().fetchall()

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        self._waiting.append(_placed(statement))
        self._parameters += parameters

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        names = ", ".join(columns)
        if len(rows) < _MANY:
            for row in rows:
                self.run(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})", row)
            return
        cursor = self._send()
        with cursor.copy(cast("Any", f"COPY {table} ({names}) FROM STDIN")) as copy:
            for row in rows:
                copy.write_row(row)

    def end(self) -> None:
        """Send the waiting statements, and COMMIT."""
        self.run("COMMIT")
        self._send()

    def _send(self) -> psycopg.ClientCursor[Row]:
        """Send the waiting statements; the cursor is at the result of the last one."""
        cursor: psycopg.ClientCursor[Row] = psycopg.ClientCursor(self._connection)
        if self._waiting:
            cursor.execute(cast("Any", "; ".join(self._waiting)), self._parameters)
            for _ in self._waiting[1:]:
                cursor.nextset()
        self._waiting, self._parameters = [], []
        return cursor


class PostgresqlStorage:
    """A database on a PostgreSQL server, given by its URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: queue.SimpleQueue[Connection] = queue.SimpleQueue()
        self._closed = False
        with self._transaction("BEGIN") as statements:
            self._prepare(statements)

    @contextmanager
    def read(self) -> Generator[Transaction]:
        """Open a transaction that sees one state of the database and changes nothing."""
        with self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as statements:
            yield statements

    @contextmanager
    def write(self) -> Generator[Transaction]:
        """Open a transaction that may change the rows that it locks. It waits for rows that others have locked."""
        with self._transaction("BEGIN") as statements:
            yield statements

    def close(self) -> None:
        """Close all connections that are idle. May be called any number of times."""
        self._closed = True
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    @contextmanager
    def _transaction(self, begin: str) -> Generator[_Statements]:
        with _storage_failures(), self._connection() as connection:
            statements = _Statements(connection, begin)
            try:
                yield statements
                statements.end()
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connection(self) -> Generator[Connection]:
        connection = self._living() or psycopg.connect(self._url, autocommit=True)
        try:
            yield connection
        finally:
            if self._closed or connection.broken or connection.info.transaction_status != _IDLE:
                connection.close()
            else:
                self._idle.put(connection)

    def _living(self) -> Connection | None:
        """Return an idle connection that is alive. A server that closed it has sent something: there is data to
        read."""
        with suppress(queue.Empty):
            while True:
                connection = self._idle.get_nowait()
                if not select.select([connection.fileno()], [], [], 0)[0]:
                    return connection
                connection.close()
        return None

    def _prepare(self, statements: _Statements) -> None:
        statements.ask("SELECT pg_advisory_xact_lock(?)", (_SETTING_UP,))
        statements.run("CREATE TABLE IF NOT EXISTS storage_version (version INTEGER NOT NULL)")
        if up_to_date(statements.ask("SELECT version FROM storage_version")):
            return
        for statement in tables.SEED:
            statements.run(statement)
        for table, columns in tables.ADDED_COLUMNS.items():
            for column in columns:
                statements.run(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS {column}")
        for statement in tables.ADDED:
            statements.run(tables.for_postgresql(statement))
        statements.run("INSERT INTO storage_version VALUES (?)", (tables.VERSION,))


_IDLE = psycopg.pq.TransactionStatus.IDLE


@contextmanager
def _storage_failures() -> Generator[None]:
    """Turn failures of the engine into failures of the storage. Their text may quote a value or the URL, so only their
    type is reported."""
    try:
        yield
    except psycopg.IntegrityError as problem:
        raise StorageFailed(
            f"the database refuses a row ({type(problem).__name__}); nothing was written", retryable=False
        ) from None
    except psycopg.Error as problem:
        again = isinstance(problem, psycopg.OperationalError)
        raise StorageFailed(f"the database failed ({type(problem).__name__})", retryable=again) from None
