"""Part (a): a conversation with everything that is hard to carry, from one wire to another."""

import base64
import json
from collections import Counter
from importlib.resources import files
from typing import Any

import grpc
from rich import box
from rich.columns import Columns
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from interlingua import show
from interlingua.demo import outline
from interlingua.v1 import service_pb2 as service
from interlingua.v1 import types_pb2 as types
from interlingua.v1.service_pb2_grpc import InterlinguaServiceStub

FATE_STYLES = {**show.SEVERITY_STYLES, "kept": "green"}
SOURCE = service.Side(adapter="anthropic_messages", provider="replay")
TARGET = service.Side(adapter="openai_chat", model="gpt-5.4")


def photo() -> str:
    """The photo of a gauge, as base64 text."""
    return base64.b64encode(files("interlingua.demo").joinpath("gauge.png").read_bytes()).decode()


def wire() -> dict[str, Any]:
    """The conversation as a client of Anthropic's wire sends it."""
    body = json.loads(files("interlingua.demo").joinpath("conversation.json").read_bytes())
    body["messages"][2]["content"][1]["content"][1]["source"]["data"] = photo()
    return body


def play(console: Console, stub: InterlinguaServiceStub) -> dict[str, Any]:
    """Adapts, prints both sides and what became of each piece; gives the canonical request."""
    body = wire()
    request = service.AdaptRequest(wire_json=json.dumps(body), source=SOURCE, json_output=True)
    canonical = json.loads(stub.Adapt(request).request_json)
    request.target.CopyFrom(TARGET)
    answer = stub.Adapt(request)
    there, loss = json.loads(answer.wire_json), json.loads(answer.loss_json)
    width = (console.width - 1) // 2
    left = outline.anthropic_messages(body, width - 4)
    right = outline.openai_chat(there["body"], width - 4)
    sides = [
        _side("anthropic_messages", "POST /v1/messages", left, width),
        _side("openai_chat", f"{there['method']} {there['path']}", right, width),
    ]
    console.print(Columns(sides, padding=(0, 1)))
    console.print(_fates(canonical, loss))
    console.print("The loss report, complete by law: read the wire back, and it is the request with this applied.")
    console.print(show.loss_table(loss))
    _there_and_back(console, stub, canonical, body)
    return canonical


def _side(name: str, address: str, lines: list[Text], width: int) -> Panel:
    return Panel(Group(*lines), title=name, subtitle=address, title_align="left", subtitle_align="left", width=width)


def _fates(canonical: dict[str, Any], loss: list[Any]) -> Group:
    table = Table(box=box.SIMPLE, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", style="dim")
    counts: Counter[str] = Counter()
    for pointer, name in outline.pieces(canonical):
        word, why = outline.fate(pointer, loss)
        counts[word] += 1
        table.add_row(Text(word, style=FATE_STYLES[word]), name, why)
    total = Text(", ").join(
        Text(f"{counts[word]} {word}", style=FATE_STYLES[word]) for word in FATE_STYLES if counts[word]
    )
    return Group(Text("What became of each piece: ").append_text(total), table)


def _there_and_back(
    console: Console, stub: InterlinguaServiceStub, canonical: dict[str, Any], body: dict[str, Any]
) -> None:
    request = service.AdaptRequest(request_json=json.dumps(canonical), target=SOURCE, json_output=True)
    again = json.loads(stub.Adapt(request).wire_json)["body"]
    same = "equal" if again == body else "NOT equal"
    console.print(f"And back to Anthropic's wire, signatures and ids included: {same} to what came in.", style="bold")
    request.target.CopyFrom(TARGET)
    request.loss_policy.strict = types.LOSS_SEVERITY_LOST
    try:
        stub.Adapt(request)
    except grpc.RpcError as problem:
        status: Any = problem
        console.print(f"With strict=lost it is refused: {status.code().name}: {status.details()}", style="bold")
