"""`interlingua` and `python -m interlingua`. The plug is started without loading the rest: it is started often.
So is `--version`, by whoever looks for what is installed."""

import gc
import os
import sys
from collections.abc import Sequence

_EXTRAS = {
    "typer": "cli",
    "rich": "cli",
    "httpx": "client",
    "grpc": "server",
    "grpc_health": "server",
    "grpc_reflection": "server",
    "grpc_status": "server",
    "google": "server",
    "h2": "server",
    "PIL": "images",
    "yaml": "cli",
    "psycopg": "postgresql",
    "pyarrow": "parquet",
}
"""The extra that brings each module which the package alone does not."""


_OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""How many more objects there are than after the last collection, at some hundred bytes each, before the next one: as Python
does it by default, the search takes a tenth of a short command, and a fifth of every call of a server."""


def main() -> None:
    """Runs the command line."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
    if sys.stderr is None:  # closed by whoever started us: what was meant for it must not go elsewhere
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 it stays open to the end
    if sys.stdout is None:
        sys.exit("interlingua: standard output is closed; send it to a file, or to /dev/null")
    try:
        status = _run(sys.argv[1:])
        sys.stdout.flush()
    except ModuleNotFoundError as problem:
        extra = _EXTRAS.get((problem.name or "").partition(".")[0])
        if extra is None:
            raise
        print(
            f"interlingua: this needs {problem.name}, which the extra {extra} brings: "
            f"pip install 'interlingua[{extra}]', or './python[{extra}]' in a checkout",
            file=sys.stderr,
        )
        status = 2
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        status = 0  # whoever read our output has seen enough
        _give_up_output()
    except OSError as problem:
        if problem.filename is not None:
            raise
        print(f"interlingua: cannot write the output: {problem.strerror or type(problem).__name__}", file=sys.stderr)
        status = 1
        _give_up_output()
    if status:
        sys.exit(status)


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["plug"]:
        if sys.stdin is None:
            print("interlingua: standard input is closed; the plug reads its messages there", file=sys.stderr)
            return 2
        from interlingua.plug import serve

        serve()
        return 0
    if list(arguments) == ["--version"]:
        from interlingua.version import version

        print(version())
        return 0
    from interlingua.cli import run

    return run(arguments)


def _give_up_output() -> None:
    """What is still in the buffer is not tried again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
