"""
What a storage engine is: transactions over the tables of `tables`, and nothing else.

The statements are the same for every engine and stand in `rows`. An engine opens connections, begins and ends
transactions, and says how a row is locked. All of it blocks: `Sessions` calls it in threads of its own.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from interlingua.canonical.errors import InvalidRequest

Row = tuple[Any, ...]


class Transaction(Protocol):
    """The statements of one transaction. They have `?` where a parameter goes."""

    lock: str
    """What a SELECT ends with so that its rows are this transaction's until its end."""

    def ask(self, statement: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """The rows that a query gives."""
        ...

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Carries a statement out, at the latest when the transaction ends."""
        ...

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Adds rows to a table, likewise."""
        ...


class Outcome(NamedTuple):
    """What became of a piece of work: what it gave, or what it failed with."""

    value: Any
    problem: BaseException | None


class Storage(Protocol):
    """A database of sessions. Any number of threads may use one; close it when done.

    What `write` gave is on the disk when its block ends well, and not at all when it ends with an error.
    Both raise `StorageFailed` when the database fails.
    An engine in which one writes at a time may have `write_all` besides (`SqliteStorage`).
    """

    def read(self) -> AbstractContextManager[Transaction]:
        """A transaction that sees one state of the database and changes nothing."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that may change what it locks."""
        ...

    def close(self) -> None:
        """Closes all connections. Any number of times."""
        ...


def open_storage(url: str) -> Storage:
    """The database at a URL, whose tables are made when they are not there.

    `sqlite:///chats.db` is a file beside the program, `sqlite:////var/lib/chats.db` one with an absolute path,
    `sqlite://` one in memory; `postgresql://user@host/database` needs the extra `postgresql`.
    Raises `StorageFailed` when it cannot be opened.
    """
    scheme, separator, rest = url.partition("://")
    if separator and scheme == "sqlite":
        from interlingua.sessions.sqlite import SqliteStorage

        return SqliteStorage(rest.removeprefix("/") or None)
    if separator and scheme in ("postgresql", "postgres"):
        from interlingua.sessions.postgresql import PostgresqlStorage

        return PostgresqlStorage(url)
    raise InvalidRequest("a storage URL begins with sqlite:// or postgresql://, such as sqlite:///chats.db")


def demand_there(url: str) -> None:
    """Raises `InvalidRequest` for the URL of an SQLite database that is not there, which opening it would make."""
    path = url.removeprefix("sqlite://").removeprefix("/")
    if url.startswith("sqlite://") and not (path and Path(path).is_file()):
        raise InvalidRequest("there is no such database file; sqlite:///chats.db is one beside you")
