"""`doctor`: hand-made messages that show, in words, whether a plug is in order, before any verdict on what is behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .plug import (
    Answer,
    Plug,
    PlugCrashError,
    PlugError,
    PlugTimeoutError,
    ProcessPlug,
    ProtocolError,
    unknown_adapters,
)

GREETING = {"role": "user", "content": [{"type": "text", "text": "Grüße, Zoë! 日本 😀 \u2028 \\n"}]}


_SHOWN = 20
"""Lines of the standard error of a plug that did not start."""


@dataclass
class Advice:
    """What was found, as lines for a person."""

    lines: list[str] = field(default_factory=list)
    healthy: bool = True

    def good(self, text: str) -> None:
        self.lines.append(f"ok    {text}")

    def bad(self, text: str, cure: str) -> None:
        self.healthy = False
        self.lines += [f"wrong {text}", f"      {cure}"]


def examine(plug: Plug, wires: set[str]) -> Advice:
    """Ask the plug seven things. `wires` are the adapters that there are cases for."""
    advice = Advice()
    hello = _hello(plug, advice)
    if hello is None:
        return advice
    for problem in unknown_adapters(hello, wires):
        advice.bad(problem, "what is not known is never asked: a run would find nothing wrong, and nothing right")
    adapters = hello.get("adapters", {})
    writer = next((name for name, operations in adapters.items() if "to_wire" in operations), None)
    if not adapters and not hello.get("operations"):
        advice.bad(
            "hello claims nothing",
            "name what you offer in `adapters` and `operations`: what is not claimed is never asked",
        )
    _probe(
        plug,
        advice,
        "an operation that does not exist",
        lambda: plug.call("x_no_such_operation", None, {}),
        "unsupported or error",
    )
    for adapter, operations in adapters.items():
        found = Advice()
        for operation in operations:
            what = f"{operation} of {adapter} with an empty input"
            _probe(plug, found, what, lambda o=operation, a=adapter: plug.call(o, a, {}), "error")
        if found.healthy:
            advice.good(f"{adapter}, each of its {len(operations)} operations with an empty input: error")
        else:
            advice.healthy = False
            advice.lines += [line for line in found.lines if not line.startswith("ok")]
    _probe(
        plug,
        advice,
        "to_wire of an adapter that does not exist",
        lambda: plug.call("to_wire", "x_no_such_adapter", {"request": {"messages": []}}),
        "unsupported or error",
    )
    if writer is not None:
        _probe(
            plug,
            advice,
            "a request with umlauts, a picture sign and a line separator",
            lambda: _write(plug, writer, [GREETING]),
            "output",
        )
        long = [{"role": "user", "content": [{"type": "text", "text": "x" * 300_000}]}]
        _probe(plug, advice, "a request of 300 kB", lambda: _write(plug, writer, long), "output")
        _probe(
            plug,
            advice,
            "a request whose messages are not a list",
            lambda: plug.call("to_wire", writer, {"request": {"messages": 5}}),
            "error",
        )
    _goodbye(plug, advice)
    return advice


def _hello(plug: Plug, advice: Advice) -> dict[str, Any] | None:
    try:
        hello = plug.hello()
    except PlugCrashError as error:
        if isinstance(plug, ProcessPlug):
            cure = "run the command by hand, type the hello line of protocol.md and press return"
            advice.bad(str(error), cure)
            advice.lines += [f"      | {line}" for line in list(plug.log)[:_SHOWN]]
        else:
            cure = "start the server, see that the address is its own, and that reflection is on; see protocol.md#grpc"
            advice.bad(f"the server cannot be reached: {error}", cure)
        return None
    except PlugTimeoutError as error:
        advice.bad(
            str(error),
            "read one line, write one line, and flush standard output after each (print(..., flush=True))",
        )
        return None
    except ProtocolError as error:
        advice.bad(str(error), "see protocol.md#hello")
        return None
    implementation = hello["implementation"]
    count = sum(len(operations) for operations in hello.get("adapters", {}).values()) + len(hello.get("operations", []))
    advice.good(
        f"hello from {implementation['name']} {implementation['version']}: {count} operations of {len(hello.get('adapters', {}))} adapters"
    )
    return hello


def _write(plug: Plug, adapter: str, messages: list[Any]) -> Answer:
    return plug.call(
        "to_wire", adapter, {"request": {"model": "provider:model", "max_output_tokens": 100, "messages": messages}}
    )


def _probe(plug: Plug, advice: Advice, what: str, ask: Callable[[], Answer], wanted: str) -> None:
    try:
        answer = ask()
    except PlugCrashError as error:
        advice.bad(
            f"{what} ends the process: {error}",
            "catch what an input can cause and answer {id, error: {category, message}}",
        )
        plug.restart()
        return
    except PlugTimeoutError as error:
        advice.bad(
            f"{what}: {error}", "read and write without waiting for the end of input; do not buffer standard output"
        )
        plug.restart()
        return
    except PlugError as error:
        advice.bad(f"{what}: {error}", "see protocol.md#messages")
        plug.restart()
        return
    given = "unsupported" if answer.unsupported else "error" if answer.error is not None else "output"
    if given in wanted:
        advice.good(f"{what}: {given}")
    else:
        told = f" ({answer.error['message'][:200]})" if answer.error else ""
        advice.bad(
            f"{what}: {given}{told}, where {wanted} is due",
            "an input that cannot be used is refused, one that can be used is answered",
        )


def _goodbye(plug: Plug, advice: Advice) -> None:
    if not isinstance(plug, ProcessPlug):
        return
    ended = plug.say_goodbye()
    if ended:
        advice.good("bye: the process ends")
    else:
        advice.bad(
            "the process goes on after bye and the end of input", "leave the loop on bye, and when standard input ends"
        )
