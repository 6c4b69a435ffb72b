"""Part (c): a streamed conversation with tools, and a model that is swapped half-way."""

import json
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from interlingua import show
from interlingua.demo.adapting import photo
from interlingua.v1 import service_pb2 as service
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub

Data = dict[str, Any]

FIRST, SECOND = "replay:claude-opus-4-8", "replay:gpt-5.4"
_ROUNDS = 5


def read_gauge(pump: str) -> list[Data]:
    """A tool: pump A has a sensor, pump B a camera."""
    if pump == "A":
        return [{"type": "text", "text": "4.1 bar"}]
    picture = {"type": "image", "source": {"kind": "base64", "data": photo()}, "media_type": "image/png"}
    return [{"type": "text", "text": "photo of gauge B"}, picture]


def file_log_entry(pump: str, severity: str, entry: str) -> list[Data]:
    """A tool: files an entry in the log of the shift."""
    return [{"type": "text", "text": f"entry 2207 filed: {severity}, pump {pump}, {len(entry)} characters"}]


RUN: dict[str, Callable[..., list[Data]]] = {"read_gauge": read_gauge, "file_log_entry": file_log_entry}

TOOLS: list[Data] = [
    {
        "name": "read_gauge",
        "description": "Read the pressure of a pump. Pump B has a camera and answers with a photo of its gauge.",
        "input_schema": {"type": "object", "properties": {"pump": {"type": "string"}}, "required": ["pump"]},
        "side_effects": "read",
    },
    {
        "name": "file_log_entry",
        "description": "File an entry in the log of the shift.",
        "input_schema": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("pump", "severity", "entry")},
            "required": ["pump", "severity", "entry"],
        },
        "side_effects": "write",
    },
]


def text(role: str, words: str) -> Data:
    """A message of text."""
    return {"role": role, "content": [{"type": "text", "text": words}]}


def _cached(message: Data) -> Data:
    """The message with a mark behind it: what stands before the mark may be kept for the next call."""
    message["content"][-1]["cache"] = {}
    return message


def play(console: Console, stub: InterlinguaServiceStub) -> None:
    """Two turns, each until no more tools are called; the second by another model over another wire."""
    conversation: Data = {
        "messages": [_cached(text("system", "You watch the pumps of a water works. Be brief."))],
        "tools": TOOLS,
        "max_output_tokens": 1024,
    }
    spent: list[Data] = []
    _turn(console, stub, conversation, FIRST, "Are pumps A and B all right?", spent)
    _swap(console, stub, conversation)
    _turn(console, stub, conversation, SECOND, "Put that into the log of the shift.", spent)
    console.print(_bill(spent))


def _swap(console: Console, stub: InterlinguaServiceStub, conversation: Data) -> None:
    console.print(f"\n[bold]/model {SECOND}[/]  what the swap would cost, asked before it is made:")
    request = service.AdaptRequest(
        request_json=json.dumps(conversation),
        target=service.Side(provider="replay", model=SECOND.partition(":")[2]),
        json_output=True,
    )
    console.print(show.loss_table(json.loads(stub.Adapt(request).loss_json)))


def _turn(
    console: Console, stub: InterlinguaServiceStub, conversation: Data, model: str, words: str, spent: list[Data]
) -> None:
    console.print(f"\n[bold blue]user[/]  {words}")
    conversation["messages"].append(text("user", words))
    for _ in range(_ROUNDS):
        response = _ask(console, stub, conversation, model)
        spent.append(response)
        conversation["messages"].append(response["message"])
        calls = [block for block in response["message"]["content"] if block["type"] == "tool_use"]
        if not calls:
            return
        conversation["messages"] += [_run(console, call) for call in calls]


def _run(console: Console, call: Data) -> Data:
    found = RUN[call["name"]](**call["input"])
    told = ", ".join(block.get("text", block["type"]) for block in found)
    console.print(f"[bold magenta]tool[/]  {call['name']} → {told}")
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": found}
    return {"role": "tool", "content": [result], "metadata": {"parent_tool_use_id": call["id"]}}


def _ask(console: Console, stub: InterlinguaServiceStub, conversation: Data, model: str) -> Data:
    """One streamed answer, printed as it arrives; gives the response of the last event."""
    asked = service.EstimateRequest(request_json=json.dumps(conversation), model=model)
    expected = stub.Estimate(asked).tokens
    request = service.GenerateStreamRequest(request_json=json.dumps(conversation), target=model, json_output=True)
    began = time.monotonic()
    first: float | None = None
    printer = _Printer(console, model)
    for count, piece in enumerate(stub.GenerateStream(request, timeout=30), start=1):
        event = json.loads(piece.event_json)
        first = first or time.monotonic() - began
        printer.event(event)
        if event["type"] == "message_complete":
            response: Data = event["response"]
            console.print(
                f"      {show.usage_line(response['usage'])} · {count} events, first at {first:.2f} s",
                style="dim",
            )
            taken = show.prompt_tokens(response["usage"])
            console.print(f"      the prompt took {taken}; {expected.low}–{expected.high} were expected", style="dim")
            return response
    raise SystemExit("the stream ended without its end")


class _Printer:
    """Prints events as they arrive, broken into lines at words, so that a pipe shows the same as a terminal."""

    def __init__(self, console: Console, model: str) -> None:
        self._console = console
        self._model = model
        self._column = 0
        self._style = ""

    def event(self, event: Data) -> None:
        """Prints what an event adds."""
        match event["type"]:
            case "block_start" if event["block"]["type"] == "thinking":
                self._begin("thinks", "dim italic")
            case "block_start" if event["block"]["type"] == "text":
                self._begin("says", "")
            case "tool_use_start":
                self._begin("calls", "magenta")
                self._add(f"{event['name']} ")
            case "text_delta" | "thinking_delta" | "tool_use_input_delta":
                self._add(event["text"])
            case "block_stop":
                self._console.print()
            case _:
                pass

    def _begin(self, verb: str, style: str) -> None:
        head = f"{self._model} {verb}  "
        self._console.print(head, style="bold green", end="")
        self._column, self._style = len(head), style

    def _add(self, words: str) -> None:
        if self._column + len(words) > self._console.width - 2:
            self._console.print("\n      ", end="")
            self._column, words = 6, words.lstrip()
        self._column += len(words)
        self._console.print(words, style=self._style, end="", markup=False)
        self._console.file.flush()


def _bill(spent: list[Data]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="usage and cost, call by call", title_justify="left")
    for heading in ("model", "tokens", "why it ended", "cost in USD"):
        table.add_column(heading, justify="right" if "cost" in heading else "left")
    total = Decimal(0)
    for response in spent:
        usage = response["usage"]
        total += Decimal(usage["cost_usd"])
        table.add_row(response["model"], show.tokens(usage), response["finish_reason"], usage["cost_usd"])
    table.add_section()
    table.add_row("exactly", "", "", format(total, "f"))
    return table
