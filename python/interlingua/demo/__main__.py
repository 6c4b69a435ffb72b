"""
The demonstration. It starts the server that ships as a process of its own, and talks to it as any client would.

What is called a model here is the provider `replay`, which answers from recorded exchanges; all else is the real thing:
gRPC, adapters, loss reports, routing, streams, usage and exact cost.
"""

import json
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

import grpc
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from interlingua import show
from interlingua.demo import adapting, generating, routing
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub


@contextmanager
def serving(console: Console) -> Generator[str]:
    """The address of a server that lives as long as the block."""
    command = [sys.executable, "-m", "interlingua", "serve", "--port", "0", "--log-level", "error", "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE)  # noqa: S603 our own command, no shell
    try:
        line = server.stdout.readline() if server.stdout is not None else b""
        if not line:
            raise SystemExit("the server did not start; its words are above")
        ready = json.loads(line)
        console.print(f"the server is process {server.pid}, gRPC on {ready['host']}:{ready['port']}", style="dim")
        yield f"{ready['host']}:{ready['port']}"
    finally:
        server.terminate()
        try:
            status = server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            raise
    console.print(f"the server drained and ended with status {status}", style="dim")


def act(console: Console, letter: str, title: str) -> None:
    """The heading of a part."""
    console.print()
    console.print(Rule(Text(f"({letter}) {title}", style="bold"), align="left", style="blue"))


def main() -> None:
    """Runs the three parts."""
    console = show.console()
    began = time.monotonic()
    console.print(Text("Interlingua", style="bold"), "no key, no network", sep=" · ")
    with serving(console) as address, grpc.insecure_channel(address) as channel:
        service = InterlinguaServiceStub(channel)
        act(console, "a", "Adapt: one conversation, from Anthropic's wire to OpenAI's")
        conversation = adapting.play(console, service)
        act(console, "b", "Route: which model takes the next turn, and why")
        routing.play(console, service, conversation)
        act(console, "c", "Generate: stream, run tools, swap the model in mid-conversation")
        generating.play(console, service)
    console.print(f"{time.monotonic() - began:.1f} s in all", style="dim")


if __name__ == "__main__":
    main()
