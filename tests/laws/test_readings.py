"""What every reading promises, held against every answer and every stream of the suite: ids, invariants, the order of events."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from interlingua import buffered, check, strict_004
from interlingua.adapters import get
from interlingua.canonical import json
from interlingua.canonical.ids import DERIVED_IDS
from interlingua.registry import endpoint
from interlingua.translate import read_stream

CASES = Path(__file__).resolve().parents[2] / "conformance" / "cases"
TOOL_ID = re.compile(r"tu_[0-9A-HJKMNP-TV-Z]{26}")
EIGHT = {
    "text_delta",
    "tool_use_start",
    "tool_use_input_delta",
    "tool_use_end",
    "thinking_delta",
    "message_complete",
    "usage_update",
    "error",
}


def folders(name: str) -> list[Any]:
    found = [path.parent for path in sorted(CASES.glob(f"*/*/{name}"))]
    return [pytest.param(folder, id=f"{folder.parent.name}/{folder.name}") for folder in found]


def provider_of(folder: Path) -> str | None:
    return json.loads((folder / "case.json").read_bytes()).get("provider")


def stream_of(folder: Path) -> list[dict[str, Any]]:
    """The events of the case's stream, byte by byte: the hardest cut."""
    (path,) = folder.glob("stream.wire.*")
    data = path.read_bytes()
    chunks = (data[place : place + 1] for place in range(len(data)))
    return list(read_stream(chunks, folder.parent.name, provider=provider_of(folder)))


def calls_of(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block for block in content if block["type"] == "tool_use"]


@pytest.mark.parametrize("folder", folders("response.wire.json"))
def test_an_answer_has_our_ids_and_keeps_the_invariants(folder: Path) -> None:
    """R-086, R-092: a provider's id is never the canonical one; what is read is a valid message."""
    adapter = folder.parent.name
    body = json.loads((folder / "response.wire.json").read_bytes())
    response, _ = get(adapter).from_wire_response(
        body, endpoint(adapter=adapter, provider=provider_of(folder)), DERIVED_IDS
    )
    for answer in [response, *response.get("alternatives", [])]:
        content = answer["message"]["content"]
        assert all(TOOL_ID.fullmatch(block["id"]) for block in calls_of(content))
        broken = {violation["rule"] for violation in check(answer["message"])}
        # an answer may be empty, a model may write arguments that are no object, and no wire tells the format of its sound
        assert broken <= {"content_not_empty", "tool_input_invalid", "media_type"}


@pytest.mark.parametrize("folder", folders("stream.wire.*"))
def test_events_come_in_order(folder: Path) -> None:
    """R-157, R-159, R-162, R-164: start before any delta, one end for each start, signatures last, nothing behind the end."""
    events = stream_of(folder)
    assert [event["type"] for event in events].index(events[-1]["type"]) == len(events) - 1
    assert events[-1]["type"] in ("message_complete", "error")
    assert all(event["type"] == "message_start" for event in events[:1] if len(events) > 1)

    told: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if "index" in event:
            told[event.get("choice", 0), event["index"]].append(event)
    begun = [key for key in told if key[0] == 0]
    assert begun == [(0, index) for index in range(len(begun))], "blocks begin in the order of their index"
    for block in told.values():
        a_block_is_told_in_order(block, cut=events[-1]["type"] == "error")


def a_block_is_told_in_order(events: list[dict[str, Any]], *, cut: bool) -> None:
    kinds = [event["type"] for event in events]
    assert kinds[0] == "block_start" and kinds.count("block_start") == 1
    if kinds[-1] != "block_stop":
        assert cut, "a block without its end in a whole answer"
    inside = kinds[1:-1] if kinds[-1] == "block_stop" else kinds[1:]
    assert "block_stop" not in inside
    match events[0]["block"]["type"]:
        case "tool_use":
            assert inside[:1] == ["tool_use_start"] and inside.count("tool_use_start") == 1
            assert inside.count("tool_use_end") <= 1 and "tool_use_end" not in inside[:-1]
            text = "".join(event["text"] for event in events if event["type"] == "tool_use_input_delta")
            for event in events:
                if event["type"] == "tool_use_end" and "input_raw" not in event and events[-1]["type"] == "block_stop":
                    raw = events[-1]["block"].get("input_raw")
                    assert raw == text if raw is not None else event["input"] == (json.loads(text or "{}") or {})
        case "text":
            assert set(inside) <= {"text_delta"}
        case "thinking":
            assert set(inside) <= {"thinking_delta"}
            assert all("signature" not in event for event in events[1:-2] if event["type"] == "thinking_delta")
        case _:
            assert not set(inside) & {"text_delta", "tool_use_input_delta"}


@pytest.mark.parametrize("folder", folders("stream.wire.*"))
def test_the_narrower_views(folder: Path) -> None:
    """R-154, R-156: eight types and no other; whoever asks for whole calls never sees a fragment."""
    events = stream_of(folder)

    assert {event["type"] for event in strict_004(events)} <= EIGHT
    if events[-1]["type"] != "message_complete":
        return
    seen = list(buffered(events))
    assert not {"tool_use_input_delta", "tool_use_start"} & {event["type"] for event in seen}
    whole = [event["id"] for event in seen if event["type"] == "tool_use_end" and not event.get("choice")]
    assert sorted(whole) == sorted(block["id"] for block in calls_of(events[-1]["response"]["message"]["content"]))
