"""
A whole response as the events of a stream, as a provider would have streamed it (spec/4-streams.md#whole-for-stream).

The counterpart of `canonical.fold`: folding the events gives the response again.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from interlingua.canonical import json

Event = dict[str, Any]
Cut = Callable[[str], list[str]]

_DELTAS = {"text": "text_delta", "thinking": "thinking_delta"}


def at_once(text: str) -> list[str]:
    """A text as one delta; no delta when it is empty."""
    return [text] if text else []


def unfold(response: Mapping[str, Any], cut: Cut = at_once) -> list[Event]:
    """The events of a response. `cut` divides a text and the arguments of a call into pieces."""
    start: Event = {"type": "message_start"}
    if "model" in response:
        start["model"] = response["model"]
    if "id" in response:
        start["response_id"] = response["id"]
    events = [start]
    for index, block in enumerate(response["message"]["content"]):
        events += _block(index, block, cut)
    for choice, other in enumerate(response.get("alternatives") or (), start=1):
        events.append({**start, "choice": choice})
        for index, block in enumerate(other["message"]["content"]):
            events += [{**event, "choice": choice} for event in _block(index, block, cut)]
    if response.get("usage") is not None:
        events.append({"type": "usage_update", "usage": dict(response["usage"])})
    events.append({"type": "message_complete", "response": response})
    return events


def _block(index: int, block: Mapping[str, Any], cut: Cut) -> Iterator[Event]:
    at: Event = {"index": index}
    match block["type"]:
        case "tool_use":
            yield from _call(at, block, cut)
        case "text" | "thinking" as kind if isinstance(block.get("text"), str):
            opening: Event = {"type": kind, "text": ""}
            if block.get("refusal"):
                opening["refusal"] = True  # wires have a separate place for a refusal, from its first word on
            yield {"type": "block_start", **at, "block": opening}
            for piece in cut(block["text"]):
                yield {"type": _DELTAS[kind], **at, "text": piece}
        case _:
            yield {"type": "block_start", **at, "block": block}
    yield {"type": "block_stop", **at, "block": block}


def _call(at: Event, block: Mapping[str, Any], cut: Cut) -> Iterator[Event]:
    opening: Event = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
    raw: str | None = block.get("input_raw")
    if block.get("kind") == "custom":
        opening |= {"kind": "custom", "input_raw": ""}
    yield {"type": "block_start", **at, "block": opening}
    yield {"type": "tool_use_start", **at, "id": block["id"], "name": block["name"]}
    for piece in cut(_arguments(block) if raw is None else raw):
        yield {"type": "tool_use_input_delta", **at, "id": block["id"], "text": piece}
    end: Event = {"type": "tool_use_end", **at, "id": block["id"], "name": block["name"], "input": block["input"]}
    if raw is not None:
        end["input_raw"] = raw
    yield end


def _arguments(block: Mapping[str, Any]) -> str:
    """The text of the arguments: as the model wrote it, when that was kept."""
    text = ((block.get("provider_state") or {}).get("encoding") or {}).get("arguments")
    return text if isinstance(text, str) else json.dumps(block["input"]).decode()
