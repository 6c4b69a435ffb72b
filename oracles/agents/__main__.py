"""
`make agents`: coding agents as clients of a gateway, each with each wire behind.

Each agent is led through a task of four calls, one of which fails and two of which come at once, by a scripted provider
that checks what it is sent. Installs the agents from npm into a folder of their own; a run needs no network then.

    python -m oracles.agents [--agents claude,pi] [--behind openai_chat] [--folder .cache/agents] [--timeout 180]
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from interlingua.client import Client
from interlingua.client.replay import open_registry
from interlingua.client.routing import Routing
from interlingua.gateway import server
from interlingua.gateway.agents import PACKAGES, WIRES
from interlingua.gateway.gateway import Gateway
from oracles.agents.agents import prepared
from oracles.agents.provider import DONE, STEPS, TaskProvider

BEHIND = {
    "anthropic_messages": "anthropic:claude-sonnet-4-6",
    "openai_chat": "groq:openai/gpt-oss-120b",
    "openai_responses": "openai:gpt-5.1-codex",
    "gemini_generate": "gemini:gemini-3.1-pro-preview",
    "ollama_chat": "ollama-cloud:qwen3",
    "bedrock_converse": "bedrock:us.amazon.nova-premier-v1:0",
    "cohere_chat": "cohere:command-a-plus-05-2026",
}


def install(folder: Path, agents: list[str]) -> None:
    """Installs what is not there."""
    wanted = [PACKAGES[agent] for agent in agents if not (folder / "node_modules" / ".bin" / agent).exists()]
    if wanted:
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder), *wanted]
        subprocess.run(command, check=True)  # noqa: S603


async def run(agent: str, behind: str, folder: Path, most_s: float) -> dict[str, Any]:
    """One agent with one wire behind: what it did, what was wrong, and what was lost."""
    registry = open_registry()
    provider = TaskProvider(same_wire=registry.speaks(BEHIND[behind], WIRES[agent]))
    policy = {"version": 1, "serve": {"*": BEHIND[behind]}}
    client = Client(provider, registry=registry, retry="none")
    gateway = Gateway(client, Routing(registry, policy))
    running = await server.start(gateway, port=0)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        home, work, own = (Path(place) / name for name in ("home", "work", "own"))
        for made in (home, work, own):
            made.mkdir()
        subprocess.run(["git", "init", "--quiet", str(work)], check=True)  # noqa: S603, S607, ASYNC221
        asked = prepared(agent, f"http://127.0.0.1:{running.port}", own)
        path = f"{folder / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"
        process = await asyncio.create_subprocess_exec(
            *asked.command, cwd=work, env={"PATH": path, "HOME": str(home), "TERM": "dumb", **asked.environment},
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        try:
            output, _ = await asyncio.wait_for(process.communicate(), most_s)
        except TimeoutError:
            process.kill()
            output, _ = await process.communicate()
            provider.problems.append(f"the agent did not end in {most_s:.0f} s")
    await running.stop(0)
    said = output.decode("utf-8", "replace")
    if provider.steps < len(STEPS) or DONE.rstrip(".") not in said:
        provider.problems.append(f"the task ended at step {provider.steps}: {' '.join(said.split())[-300:]}")
    records = gateway.calls.of("anybody")
    refused = [record for record in records if record.status != 200]
    provider.problems += [f"a call was answered {record.status} ({record.category})" for record in refused]
    lost = Counter(f"{entry['severity']} {entry['code']}" for record in records for entry in record.request_loss)
    return {"calls": provider.calls, "problems": provider.problems, "lost": lost}


async def main() -> int:
    """Runs all that was asked for and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("--agents", default=",".join(PACKAGES))
    parser.add_argument("--behind", default=",".join(BEHIND))
    parser.add_argument("--folder", type=Path, default=Path(".cache/agents"))
    parser.add_argument("--timeout", type=float, default=180)
    given = parser.parse_args()
    given.folder = given.folder.resolve()
    agents = given.agents.split(",")
    install(given.folder, agents)
    failed = 0
    for agent in agents:
        for behind in given.behind.split(","):
            found = await run(agent, behind, given.folder, given.timeout)
            failed += bool(found["problems"])
            lost = ", ".join(f"{word} {count}" for word, count in sorted(found["lost"].items())) or "nothing"
            verdict = "failed" if found["problems"] else "done"
            print(f"{agent:9} {behind:19} {verdict:7} {found['calls']:3} calls; lost: {lost}", flush=True)
            for problem in found["problems"][:6]:
                print(f"{'':30}{problem}", flush=True)
    print(f"{failed} failed" if failed else "all done")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
