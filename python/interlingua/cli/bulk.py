"""`interlingua bulk`: adapt many stored conversations, in several processes, and go on after an interruption."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.cli._shared import CANONICAL, AsJson, Provider, print_json


def bulk(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Files of JSON lines or Parquet, folders of them, or databases of sessions, as sqlite:///chats.db."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the output; that of a run that was ended goes on.")
    ],
    target: Annotated[str, typer.Option("--to", help="Wire, provider or model of the output, or canonical.")],
    source: Annotated[
        str, typer.Option("--from", help="What a row is: canonical, sessions (exports, a database), or a wire's body.")
    ] = CANONICAL,
    provider: Provider = None,
    from_provider: Annotated[
        str | None, typer.Option("--from-provider", help="The same for the input: whose dialect of its wire it is.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="The target's own name of the model.")] = None,
    strict: Annotated[
        str | None, typer.Option(help="Refuse a row in which something is representation, weakened or lost.")
    ] = None,
    unanswered: Annotated[
        str | None,
        typer.Option(help="What to do with calls that have no result: error, or placeholder, as sessions have it."),
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="jsonl or parquet; by default Parquet where all inputs are.", show_default=False)
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="Column of Parquet that holds the conversations.", show_default=False)
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id-column", help="Column whose value goes with each row.", show_default=False)
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many work at a time; one for each processor.", show_default=False)
    ] = None,
    shard_mb: Annotated[int, typer.Option("--shard-mb", min=1, help="How much input makes a shard, in MiB.")] = 32,
    row_mb: Annotated[int, typer.Option("--row-mb", min=1, help="Limit of one line, in MiB.")] = 64,
    tenant: Annotated[str, typer.Option(help="Whose sessions of a database.", show_default=False)] = "",
    as_json: AsJson = False,
) -> None:
    """Adapt many stored conversations, each with its loss report, in several processes.

    Each row of the input is one row of the output: its wire and its loss, or its error. A run that was interrupted, by
    whatever means, goes on when it is started again with the same words.

    Exit status: 0 all rows are adapted; 2 some cannot be read; 3 some are refused by --strict or hold what is critical and
    cannot be carried; 1 the work could not be finished.
    """
    from interlingua.bulk import Job, run

    job = Job(target, source, provider, from_provider, model, strict, unanswered, column, id_column)
    sizes: dict[str, Any] = {"shard_bytes": shard_mb << 20, "row_limit": row_mb << 20}
    try:
        with _progress() as observe:
            summary = run(job, inputs, out, processes=processes, format=format, tenant=tenant, observe=observe, **sizes)
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            raise
        raise OSError(problem.errno, problem.strerror) from None  # told in a line, without the place in our code
    if as_json:
        print_json(asdict(summary))
    else:
        from interlingua import show

        show.console().print(show.bulk_summary(asdict(summary)))
    if summary.failed:
        raise typer.Exit(1)
    if summary.malformed:
        raise typer.Exit(2)
    if summary.refused:
        raise typer.Exit(3)


@contextmanager
def _progress() -> Generator[Callable[[int, int, int], None]]:
    """A bar on standard error, where that is a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from interlingua import show

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("rows"),
        TimeRemainingColumn(),
        TextColumn("[red]{task.fields[errors]}"),
    )
    console = show.console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None, errors="")

        def observe(rows: int, errors: int, total: int) -> None:
            bar.update(task, completed=rows, total=total, errors=f"{errors} with errors" if errors else "")

        yield observe
