"""Adapting tables of Arrow whose rows are conversations, for engines that partition tables: Ray Data, DuckDB, Spark."""

from typing import Any

from interlingua.bulk import outputs
from interlingua.bulk.adapting import SESSIONS, Adapter, Job
from interlingua.bulk.inputs import column_of, values
from interlingua.canonical.errors import InvalidRequest


class AdaptTable:
    """An adapter of the rows of a table, in order. It returns a table with the columns `id`, `path`, `headers`, `body`,
    `loss` and `error`, as `run` writes them to Parquet.

    `job.column` names the column that holds the conversations, `job.id_column` the column that becomes `id`. An
    instance may be pickled and sent to another process. Raises `InvalidRequest` when the job has a name or a value that
    does not exist; no row makes it raise.
    """

    def __init__(self, job: Job) -> None:
        if job.source == SESSIONS:
            raise InvalidRequest(
                "a row of a table must be a whole conversation, but a session has many rows; use `run` for sessions"
            )
        self._adapter = Adapter(job)
        self._schema = outputs.schema(outputs.RESULT)

    def __call__(self, table: Any) -> Any:
        """Return the table of Arrow with the results for a table."""
        job = self._adapter.job
        conversations = values(table.column(column_of(table.schema, job, "the table")))
        ids = table.column(job.id_column).to_pylist() if job.id_column else [None] * len(conversations)
        rows = [
            outputs.cells(None if identity is None else str(identity), self._adapter(value))
            for identity, value in zip(ids, conversations, strict=True)
        ]
        return outputs.table(rows, self._schema)
