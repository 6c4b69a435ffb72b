"""The common parts of the commands: options, input, output, the client, and how an error ends a command."""

import sys
from codecs import BOM_UTF8
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import (
    CannotAdapt,
    InterlinguaError,
    InvalidRequest,
    InvalidWire,
    LossRefused,
    NotConfigured,
    ProviderError,
)
from interlingua.canonical.loss import Entry

Data = dict[str, Any]

File = Annotated[str, typer.Argument(help="Input file; - or no argument reads standard input.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Model = Annotated[
    str | None, typer.Option("--model", "-m", help="Model: provider:name, an alias, or a chain of these.")
]
Provider = Annotated[
    str | None,
    typer.Option(
        help="Provider of the target, a row of the registry, e.g. groq. Default: the home provider of the wire."
    ),
]
Replay = Annotated[
    bool, typer.Option("--replay", help="Answer from recorded exchanges, without a key and without a network.")
]
Retries = Annotated[str, typer.Option("--retry", help="Retry policy: standard, strict, patient, once or none.")]

CANONICAL = "canonical"
COMPLETES = "_INTERLINGUA_COMPLETE"
"""The environment variable with which a shell asks for completions."""


def read(file: str) -> bytes:
    try:
        if file != "-":
            return Path(file).read_bytes().removeprefix(BOM_UTF8)
        if sys.stdin is None:
            raise InvalidRequest("standard input is closed; give a file")
        return sys.stdin.buffer.read().removeprefix(BOM_UTF8)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or "not a file name"
        raise InvalidRequest(f"cannot read {shown(file)}: {why}") from None


def shown(file: str) -> str:
    return "standard input" if file == "-" else file or "a file with an empty name"


def json_text(file: str) -> bytes:
    """Return the bytes of a file of JSON. Raises `InvalidRequest`, which names the file, when they are not JSON."""
    given = read(file)
    try:
        json.loads(given)
    except InvalidRequest as problem:
        raise InvalidRequest(f"{shown(file)}: {problem.message}", path=problem.path) from None
    return given


def write(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def print_json(value: Any) -> None:
    import orjson

    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2)
    except TypeError:
        text = json.dumps(value)  # numbers beyond 64 bits: exact, but not indented
    write(text + b"\n")


def say(text: str) -> None:
    print(text, file=sys.stderr)


def one_of(option: str, value: str | None, words: tuple[str | None, ...]) -> None:
    if value not in words:
        raise InvalidRequest(f"{option} takes {', '.join(word for word in words if word)}; not {value!r}")


def object_in(file: Path | None, what: str) -> Data:
    """Return the object in a file of JSON or YAML; an empty one where no file is given."""
    if file is None:
        return {}
    from interlingua.client.settings_file import read_settings

    try:
        found = read_settings(read(str(file)), file)
    except InvalidRequest as problem:
        raise InvalidRequest(f"{file}: {problem.message}", path=problem.path) from None
    if not isinstance(found, dict):
        raise InvalidRequest(f"{what} must be an object", path="")
    return found


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def registry_of(*, replay: bool) -> Any:
    from interlingua import registry

    if not replay:
        return registry.default()
    from interlingua.client.replay import open_registry

    return open_registry()


def client_of(
    *, replay: bool, pace: float = 1.0, retry: str = "standard", health: str = "backoff", **members: Any
) -> Any:
    from interlingua.client import Client
    from interlingua.client.cooldowns import log_cooldown
    from interlingua.client.retry import PRESETS
    from interlingua.router import Health

    one_of("--retry", retry, tuple(PRESETS))
    tracker = Health(health, observer=log_cooldown)
    if not replay:
        return Client(retry=retry, health=tracker, **members)
    from interlingua.client.replay import ReplayTransport, open_registry

    return Client(ReplayTransport(pace=pace), registry=open_registry(), retry=retry, health=tracker, **members)


def run_async(work: Coroutine[Any, Any, None], *, serves: bool = False) -> None:
    """Run a coroutine that uses the network; one that `serves` runs on uvloop, where that is installed. A cancelled run
    ends like an interrupted one."""
    import asyncio

    loop_factory = None
    if serves:
        with suppress(ImportError):  # it does not exist for Windows
            from uvloop import new_event_loop as loop_factory
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            runner.run(work)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def show_loss(report: list[Entry]) -> None:
    from interlingua import show

    show.console(stderr=True).print(show.loss_table(report))


def report_error(problem: InterlinguaError, *, as_json: bool, raw: bool = False) -> int:
    """Show an error, and return the exit status. The provider's message is shown as well: the user made the call and
    owns the terminal (spec/8-errors.md#provider-message). `raw`: also show the provider's whole body."""
    if as_json:
        print_json({"error": error_object(problem, raw=raw)})
    else:
        say(f"interlingua: {problem}")
        show_provider_words(problem.error if isinstance(problem, ProviderError) else {}, raw=raw)
        if isinstance(problem, LossRefused):
            show_loss(problem.loss)
        if isinstance(problem, InvalidRequest):
            for one in problem.violations[1:]:
                say(f"  also {one['path'] or 'the root'}: {one['message']}")
    return exit_status(problem)


def error_object(problem: InterlinguaError, *, raw: bool) -> Data:
    """Return the canonical error object; with `raw` it has the provider's whole body."""
    return problem.error if raw and isinstance(problem, ProviderError) else problem.to_dict()


def show_provider_words(error: Data, *, raw: bool = False) -> None:
    """Show the provider's message about a failure, in lines of its own."""
    who = error.get("provider") or error.get("adapter") or "the provider"
    if words := error.get("provider_message"):
        say("\n".join(f"  {line}" for line in f"{who}: {words}".splitlines()))
    if raw and "raw" in error:
        say(json.dumps(error["raw"]).decode())


def exit_status(problem: InterlinguaError) -> int:
    match problem:
        case CannotAdapt():
            return 3
        case InvalidRequest() | InvalidWire() | NotConfigured():
            return 2
        case _:
            return 1
