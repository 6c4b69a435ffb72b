"""
The protocol of a storage engine: transactions over the tables of `tables`, and nothing else.

The statements are the same for every engine and are in `rows`. An engine opens connections, begins and ends
transactions, and defines how a row is locked. All its methods block: `Sessions` calls them in threads of its own.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from interlingua.canonical.errors import InvalidRequest

Row = tuple[Any, ...]


class Transaction(Protocol):
    """The statements of one transaction. They have `?` for each parameter."""

    lock: str
    """The end of a SELECT that locks its rows until the transaction ends."""

    def ask(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query."""
        ...

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute a statement, at the latest when the transaction ends."""
        ...

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add rows to a table, at the latest when the transaction ends."""
        ...


class Outcome(NamedTuple):
    """The outcome of a piece of work: its result, or the exception with which it failed."""

    value: Any
    problem: BaseException | None


class Storage(Protocol):
    """A database of sessions. Any number of threads may use one; close it when done.

    The changes of a `write` transaction are on the disk when its block succeeds, and are discarded when it raises.
    `read` and `write` raise `StorageFailed` when the database fails.
    An engine that has one writer at a time may also have `write_all` (`SqliteStorage`).
    """

    def read(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that sees one state of the database and changes nothing."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that may change the rows that it locks."""
        ...

    def close(self) -> None:
        """Close all connections. May be called any number of times."""
        ...


def open_storage(url: str) -> Storage:
    """Open the database at a URL. Its tables are created if they do not exist.

    `sqlite:///chats.db` is a file in the working directory, `sqlite:////var/lib/chats.db` one with an absolute path,
    `sqlite://` a database in memory; `postgresql://user@host/database` needs the extra `postgresql`.
    Raises `StorageFailed` when it cannot be opened.
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme == "sqlite" and rest != "/":  # which would be a database in memory, and nobody means that
        from interlingua.sessions.sqlite import SqliteStorage

        return SqliteStorage(rest.removeprefix("/") or None)
    if separator and scheme in ("postgresql", "postgres"):
        from interlingua.sessions.postgresql import PostgresqlStorage

        return PostgresqlStorage(url)
    raise InvalidRequest("a storage URL must begin with sqlite:// or postgresql://, such as sqlite:///chats.db")


def demand_there(url: str) -> None:
    """Raise `InvalidRequest` for the URL of an SQLite database that does not exist; opening it would create it."""
    path = url.removeprefix("sqlite://").removeprefix("/")
    if url.startswith("sqlite://") and not (path and Path(path).is_file()):
        raise InvalidRequest("there is no such database file; sqlite:///chats.db names one in the working directory")
