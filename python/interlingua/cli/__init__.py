"""
The command line: each command is a plain function in a module of its own. The module is imported when its command is
called, and its dependencies when it runs: `tests/cli/test_start.py` lists which commands start without pydantic and
asyncio.

Exit status: 0 success; 1 the provider or the network failed, no model can answer, or the output cannot be written; 2
the input, the command or the configuration is invalid; 3 the loss policy refuses, or something critical cannot be
carried. An error is one line: what, where (JSON Pointer), and what to do. With `--json` it is a canonical error object
on standard output; where events are printed there, it is the last event.
"""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from interlingua.canonical.errors import InterlinguaError, InvalidRequest, too_deep
from interlingua.cli._command import Command, Group
from interlingua.cli._shared import COMPLETES, report_error, write

COMMANDS = (
    "adapt",
    "bulk",
    "route",
    "generate",
    "serve",
    "sessions",
    "launch",
    "key",
    "check",
    "plug",
    "models",
    "providers",
    "cost",
    "completion",
)
"""The commands in the order of the help. Each is the object of that name in the module of that name: a function, or a
Typer with commands of its own."""

_EPILOG = (
    "Keys and addresses are read from the environment (OPENAI_API_KEY, OPENAI_BASE_URL, …); `interlingua providers` "
    "lists the variables. LLM_<NAME>=scheme://key@host adds a provider. "
    "Exit status: 0 success, 1 a provider failed, 2 invalid input, usage or configuration, "
    "3 refused because of the loss."
)


def _version(asked: bool) -> None:
    if asked:
        from interlingua.version import version

        write(f"{version()}\n".encode())
        raise typer.Exit


def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Carry conversations with language models between providers, with a complete report of every loss."""


def make_app(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """Return the command line with these commands."""
    app = typer.Typer(
        name="interlingua",
        cls=Group,
        help="Carry conversations with language models between providers, with a complete report of every loss.",
        epilog=_EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(about)
    for name in names:
        command = getattr(import_module(f"interlingua.cli.{name}"), name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name, cls=Command)(command)
    return app


def _commands_for(arguments: Sequence[str]) -> Sequence[str]:
    """Return the commands that arguments may concern: the one that they name, else all, for the help and
    suggestions."""
    first = arguments[0] if arguments else ""
    return (first,) if first in COMMANDS else COMMANDS


def run(arguments: Sequence[str]) -> int:
    """Run a command and return the exit status."""
    if COMPLETES in os.environ:
        from typer._completion_classes import completion_init

        completion_init()  # a shell asks for completions (`interlingua completion`)
    try:
        app = make_app(_commands_for(arguments))
        status = app(args=list(arguments), standalone_mode=False, prog_name="interlingua", obj=tuple(arguments))
        sys.stdout.flush()
    except InterlinguaError as problem:
        return report_error(problem, as_json="--json" in arguments, raw="--raw" in arguments)
    except RecursionError:
        return report_error(too_deep(), as_json="--json" in arguments)
    except KeyboardInterrupt:
        return 130
    except OSError:
        raise  # the output cannot be written: `main` reports it
    except Exception as problem:
        # usage errors of the parser have `exit_code` and `show`; anything else is a defect
        if not hasattr(problem, "exit_code") or not hasattr(problem, "show"):
            if type(problem).__name__ == "Abort":
                return 130
            raise
        words = " ".join(problem.format_message().split())  # type: ignore[attr-defined]
        if words:  # without a message, the help was shown
            command = getattr(getattr(problem, "ctx", None), "command_path", "interlingua")
            error = InvalidRequest(f"{words.rstrip('.')}; see {command} --help")
            return report_error(error, as_json="--json" in arguments)
        return 2
    return status if isinstance(status, int) else 0
