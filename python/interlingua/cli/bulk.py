"""`interlingua bulk`: adapt many stored conversations, in several processes, and resume after an interruption."""

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
            help="Files of JSON lines or Parquet, folders of such files, or session databases such as sqlite:///chats.db."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Output folder; an interrupted run in it is resumed.")],
    target: Annotated[str, typer.Option("--to", help="Target: a wire, a provider or a model, or canonical.")],
    source: Annotated[
        str, typer.Option("--from", help="Format of a row: canonical, sessions (an export or a database), or a wire.")
    ] = CANONICAL,
    provider: Provider = None,
    from_provider: Annotated[
        str | None, typer.Option("--from-provider", help="Provider of the input, whose dialect of the wire it is in.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help="Name of the model at the target.")] = None,
    strict: Annotated[
        str | None,
        typer.Option(help="Refuse a row with a loss of this severity or above: representation, weakened or lost."),
    ] = None,
    unanswered: Annotated[
        str | None,
        typer.Option(
            help="What to do with tool calls that have no result: error, or placeholder (the default for sessions)."
        ),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(help="Output format: jsonl or parquet. Default: parquet if all inputs are.", show_default=False),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="Parquet column with the conversations.", show_default=False)
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id-column", help="Column whose value is copied to each output row.", show_default=False),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Number of worker processes. Default: one for each processor.", show_default=False),
    ] = None,
    shard_mb: Annotated[int, typer.Option("--shard-mb", min=1, help="Size of the input of one shard, in MiB.")] = 32,
    row_mb: Annotated[int, typer.Option("--row-mb", min=1, help="Largest size of a row, in MiB.")] = 64,
    tenant: Annotated[
        str, typer.Option(help="Tenant whose sessions are read from a database.", show_default=False)
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Adapt many stored conversations, each with its loss report, in several processes.

    Each input row becomes one output row: its wire and its loss, or its error. An interrupted run resumes when the same
    command is started again.

    Exit status: 0 all rows were adapted; 2 some cannot be read; 3 some were refused by --strict or hold a critical
    block that cannot be carried; 1 the run could not be finished.
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
        raise OSError(problem.errno, problem.strerror) from None  # reported in one line, without the place in our code
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
    """Show a progress bar on standard error, where that is a terminal."""
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
