"""The commands `interlingua` and `python -m interlingua`. `plug` and `--version` start without the rest of the command
line, because programs start them often."""

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
"""The extra that installs each module that the package alone does not install."""


_OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""The number of new objects, at some hundred bytes each, after which the next garbage collection begins. With Python's
default, the collections take a tenth of a short command, and a fifth of every call of a server."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS, 20, 20)
    if sys.stderr is None:  # closed by the parent process: its output must not be written to another file
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
            f"interlingua: this needs {problem.name}, which the extra {extra} installs: "
            f"pip install 'interlingua[{extra}]', or './python[{extra}]' in a checkout",
            file=sys.stderr,
        )
        status = 2
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        status = 0  # the reader of the output has closed it, which is no failure
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
    """Redirect the output, so that the end of the process does not try to write the buffer again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
