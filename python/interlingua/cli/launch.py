"""`interlingua launch`: start a coding agent as a client of a gateway."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from interlingua.canonical import json
from interlingua.canonical.errors import InvalidRequest
from interlingua.cli._shared import Data, Replay, Retries, client_of, registry_of, say, write

_NO_KEY = "interlingua"  # only this machine can reach the gateway, and it needs no key
_ORDER = ("lost", "weakened", "representation")


def launch(
    agent: Annotated[str, typer.Argument(help="Agent: claude, codex, gemini, opencode or pi.", show_default=False)],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Arguments for the agent, after --.", show_default=False)
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Model that answers: provider:name, an alias or a chain.")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="Routing policy that chooses the model, instead of --model.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the gateway; 0 chooses a free one.")] = 0,
    print_env: Annotated[
        bool, typer.Option("--print-env", help="Print the shell commands that start the agent, and start nothing.")
    ] = False,
    retry: Retries = "standard",
    replay: Replay = False,
) -> None:
    """Start a coding agent on the models of any provider; at the end, report its tokens, cost and losses."""
    from interlingua.client.routing import Routing
    from interlingua.gateway.agents import PACKAGES, WIRES, settings

    if agent not in WIRES:
        raise InvalidRequest(f"unknown agent {agent!r}; known agents are {', '.join(WIRES)}")
    if (model is None) == (policy is None):
        raise InvalidRequest("choose the model that answers: --model provider:name, or --policy FILE")
    registry = registry_of(replay=replay)
    name = "auto"
    rules: Data | Path
    if policy is None:
        models = [str(one) for one in registry.expand(model)]
        for one in models:
            if lacking := registry.missing(one.partition(":")[0]):
                raise InvalidRequest(f"{one} cannot be called: {'; '.join(lacking)}")
        rules, name = {"version": 1, "serve": {"*": model}}, models[0].partition(":")[2]
    else:
        rules = policy
    if print_env:
        # one for each model: a gateway reads its policy again for each turn
        folder = _agent_folder() / re.sub(r"[^\w.-]+", "-", f"{agent}-{model or name}")
        folder.mkdir(exist_ok=True, mode=0o700)
        chosen = settings(agent, f"http://127.0.0.1:{port or 8080}", _NO_KEY, name, folder)
        lines = [f"export {variable}={shlex.quote(value)}" for variable, value in chosen.environment.items()]
        write("\n".join([*lines, shlex.join((agent, *chosen.arguments))]).encode() + b"\n")
        say(f"interlingua: start the gateway with: {_gateway(rules, folder, port, replay=replay)}")
        return
    if shutil.which(agent) is None:
        raise InvalidRequest(f"{agent} is not installed: npm install --global {PACKAGES[agent]}")
    routing = Routing(registry, rules)
    routing.check()
    client = client_of(replay=replay, retry=retry)
    status = asyncio.run(_run(agent, arguments or [], client, routing, port, name))
    raise typer.Exit(status)


def _agent_folder() -> Path:
    """Return the folder for files of agents. One agent reads them only from a folder to which no other user may
    write."""
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "interlingua"
    own.mkdir(parents=True, exist_ok=True, mode=0o700)
    return own


def _gateway(rules: Data | Path, folder: Path, port: int, *, replay: bool) -> str:
    """Return the command that starts a gateway as `launch` would. Writes the policy that it needs."""
    if not isinstance(rules, Path):
        file = folder / "policy.json"
        file.write_bytes(json.dumps(rules))
        rules = file
    options = ["--no-grpc", "--policy", str(rules)]
    if port:
        options += ["--http-port", str(port)]
    if replay:
        options.append("--replay")
    return shlex.join(["interlingua", "serve", *options])


async def _run(agent: str, arguments: list[str], client: Any, routing: Any, port: int, name: str) -> int:
    from interlingua.gateway import server
    from interlingua.gateway.agents import settings
    from interlingua.gateway.gateway import Gateway

    gateway = Gateway(client, routing)
    running = await server.start(gateway, port=port)
    # Ctrl-C is for the agent, which shares the terminal
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):
        loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        with tempfile.TemporaryDirectory(dir=_agent_folder()) as place:
            chosen = settings(agent, f"http://127.0.0.1:{running.port}", _NO_KEY, name, Path(place))
            process = await asyncio.create_subprocess_exec(
                agent, *chosen.arguments, *arguments, env={**os.environ, **chosen.environment}
            )
            _pass_on(process)
            status = await process.wait()
    finally:
        await running.stop(0)
        await client.aclose()
    sys.stdout.flush()
    for line in summary(gateway.calls.of("anybody")):
        say(line)
    return status if status >= 0 else 128 - status


def _pass_on(process: asyncio.subprocess.Process) -> None:
    """Pass the signals that end this command on to the agent: SIGTERM, and SIGHUP when the terminal is closed."""

    def ended(word: int) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(word)

    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        with suppress(NotImplementedError, AttributeError):  # not on every platform
            word = getattr(signal, name)
            loop.add_signal_handler(word, ended, word)


def summary(calls: list[Any]) -> list[str]:
    """Return the summary of a run: calls, tokens, cost, and losses."""
    from collections import Counter
    from decimal import Decimal

    from interlingua.access import tokens

    used = [call.usage for call in calls if call.usage is not None]
    costs = [usage.get("cost_usd") for usage in used]
    cost = sum((Decimal(one) for one in costs if one is not None), Decimal(0))
    unpriced = sum(1 for one in costs if one is None)
    models = ", ".join(sorted({call.model for call in calls if call.model is not None})) or "no model"
    failed = Counter(call.category for call in calls if call.category is not None)
    why = ", ".join(f"{category} {count}" for category, count in sorted(failed.items()))
    lines = [
        f"interlingua: {_calls(len(calls))} of {models}" + (f", {failed.total()} failed ({why})" if failed else ""),
        f"interlingua: {sum(map(tokens, used)):,} tokens, {cost:f} USD"
        + (f" and {_calls(unpriced)} without a known price" if unpriced else ""),
    ]
    losses: Counter[tuple[str, str, str]] = Counter()
    for call in calls:
        kinds = {(entry["severity"], entry["code"], entry["message"]) for entry in call.request_loss}
        losses.update(kinds)
    for severity in _ORDER:
        for (found, code, message), count in sorted(losses.items()):
            if found == severity != "representation":
                lines.append(f"interlingua: {severity}: {message} ({code}, in {_calls(count)})")
    return lines


def _calls(count: int) -> str:
    return f"{count} call" if count == 1 else f"{count} calls"
